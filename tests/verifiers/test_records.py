"""A statement beside one flat record of JSON, as a tool returns it."""

from __future__ import annotations

import json

import pytest

import faithguard
from faithguard.types import Passage
from faithguard.verifiers import Context
from faithguard.verifiers._records import in_record

TICKET = {
    "ticket_id": "K-77",
    "status": "printed",
    "total": 41.5,
    "discount": 6.0,
    "currency": "EUR",
    "refunded": False,
}
ASKED = "My ticket K-77 cost 41.50 EUR, right?"


def passes(answer: str, question: str | None, record: object = TICKET) -> bool:
    """Check an answer against a record by the rules and the words alone."""
    report = faithguard.check(answer=answer, context=[json.dumps(record)], question=question)
    return report.decide("support").passed


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("Yes.", ASKED),
        ("Yes.", "Did my ticket K-77 cost 41.50 EUR?"),
        ("Yes, your ticket K-77 cost 41.50 EUR.", ASKED),
        ("Your ticket K-77 cost €41.50.", None),
    ],
)
@pytest.mark.parametrize("record", [TICKET, [TICKET], {"ticket": TICKET}])
def test_what_a_record_says_under_its_keys_is_supported(
    answer: str, question: str | None, record: object
) -> None:
    """The total of a ticket is what it costs; "right?" asks nothing."""
    assert passes(answer, question, record)


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("No.", ASKED),
        ("Yes.", "My ticket K-77 cost 45.10 EUR, right?"),
        ("Yes.", "My ticket K-77 cost 41.50 USD, right?"),
        ("Yes.", "My ticket K-78 cost 41.50 EUR, right?"),
        ("Yes.", "My ticket K-77 cost 6 EUR, right?"),
        ("Yes.", "The printing of my ticket K-77 cost 41.50 EUR, right?"),
        ("Yes.", "My ticket K-77 was refunded, right?"),
        ("Your ticket K-78 cost 41.50 EUR.", None),
    ],
)
def test_what_a_record_does_not_say_is_not(answer: str, question: str | None) -> None:
    """Another value, currency, thing or key is another statement."""
    assert not passes(answer, question)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([TICKET, {**TICKET, "ticket_id": "K-78"}]),
        json.dumps({**TICKET, "fees": {"total": 41.5}}),
        json.dumps({**TICKET, "price": 41.5}),
        json.dumps({**TICKET, "status": "not printed"})[:-1],
        "[" * 2_000,
        "The ticket K-77 has a total of 41.50 EUR.",
    ],
)
def test_other_texts_are_no_record(text: str) -> None:
    """Of several things, or of parts of a thing, it is not sure which one is meant."""
    context = Context([Passage(text=text)])
    assert in_record("My ticket K-77 cost 41.50 EUR.", context) is None


def test_the_statement_takes_the_words_of_the_record() -> None:
    """So that it can be looked up there."""
    context = Context([Passage(text=json.dumps(TICKET))])
    said = in_record("My ticket K-77 cost 41.50 EUR.", context)
    assert said == "My ticket K-77 has the total 41.50 EUR."
    assert in_record("My ticket K-77 did not cost 41.50 EUR.", context) is None
