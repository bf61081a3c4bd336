"""Claims beside what a tool returns: JSON, a printed dict, lines of "key: value"."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from faithguard import check
from faithguard.types import Claim, Passage, Verdict
from faithguard.verifiers import Context
from faithguard.verifiers.rules import Fields
from faithguard.verifiers.rules._objects import things_of
from faithguard.verifiers.rules._states import excludes, still_to_come

TENT = {
    "sku": "T-40",
    "price": 310,
    "currency": "NOK",
    "in_stock": True,
    "waterproof": True,
    "refundable": False,
    "rating": 3.9,
    "reviews": 57,
}
PARCEL = {
    "parcel": {
        "parcel_id": "90417",
        "status": "shipped",
        "insured": True,
        "signature_required": False,
        "contents": [
            {"name": "Tea pot", "quantity": 3, "weight_kg": 1.4},
            {"name": "Soup bowl", "quantity": 8, "weight_kg": 0.6},
        ],
    }
}
ROUTES = [
    {"route": "Line 4", "night_service": True, "stops": 21},
    {"route": "Line 9", "night_service": False, "stops": 34},
]


def lines(record: Mapping[str, object]) -> str:
    """Write a record as lines."""
    return "\n".join(f"{key}: {value}" for key, value in record.items())


def found(text: str, context: str, *more: str) -> Verdict | None:
    """Return what the family says of a claim."""
    claim = Claim(id="1", text=text, span=(0, len(text)))
    passages = [Passage(text=one) for one in (context, *more)]
    return Fields().verify([claim], Context(passages))[0]


def label(text: str, context: str, *more: str) -> str | None:
    """Return how it labels a claim."""
    verdict = found(text, context, *more)
    return None if verdict is None else verdict.label


@pytest.mark.parametrize("written", [json.dumps(TENT), repr(TENT), lines(TENT)])
@pytest.mark.parametrize(
    "claim",
    [
        "It is out of stock.",
        "The tent is not waterproof.",
        "The T-40 is sold out.",
        "It is refundable.",
        "It has 310 reviews.",
        "It has a rating of 57.",
        "It is in stock, but it is not waterproof.",
    ],
)
def test_what_a_field_denies_is_contradicted(claim: str, written: str) -> None:
    """In each way of writing it."""
    assert label(claim, written) == "contradicted"


@pytest.mark.parametrize("written", [json.dumps(TENT), repr(TENT)])
def test_amounts_are_in_the_currency_of_their_object(written: str) -> None:
    """Which is said beside them."""
    assert label("It costs 310 dollars.", written) == "contradicted"
    assert label("It costs NOK 310.", written) is None


@pytest.mark.parametrize(
    "claim",
    [
        "It is in stock.",
        "The tent is waterproof.",
        "It costs 310 kroner.",
        "It is rated 3.9 based on 57 reviews.",
        "If it is out of stock, you can wait.",
        "It was out of stock before.",
        "It may not be waterproof.",
        "The bag of the tent is not waterproof at the seams.",
        "A refundable deposit is asked for.",
        "It has more than 50 reviews.",
    ],
)
def test_what_no_field_denies_is_let_be(claim: str) -> None:
    """A condition, another time, or more than the field says."""
    assert label(claim, json.dumps(TENT)) is None


@pytest.mark.parametrize(
    "claim",
    ["It is not refundable.", "The T-40 is non-refundable.", "It's waterproof but not refundable."],
)
def test_what_a_field_denies_can_be_denied(claim: str) -> None:
    """The whole check lets it pass."""
    assert label(claim, json.dumps(TENT)) == "supported"
    assert check(claim, [json.dumps(TENT)]).decide("support").passed


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Your parcel has been delivered.", "contradicted"),
        ("Your parcel is still being processed.", "contradicted"),
        ("The parcel was cancelled.", "contradicted"),
        ("The parcel has not been shipped yet.", "contradicted"),
        ("The parcel has been shipped.", None),
        ("The parcel has not been delivered yet.", None),
        ("The parcel will be delivered soon.", None),
        ("The letter was delivered.", None),
        ("It contains 8 tea pots.", "contradicted"),
        ("It contains 8 tea pots and 3 soup bowls.", "contradicted"),
        ("It contains 3 tea pots and 8 soup bowls.", None),
        ("A tea pot weighs 0.6 kg.", "contradicted"),
        ("A tea pot weighs 1.4 kg.", None),
        ("The parcel is not insured.", "contradicted"),
        ("A signature is required.", "contradicted"),
    ],
)
def test_objects_in_objects(claim: str, expected: str | None) -> None:
    """A number is of the object that has it; a state excludes others."""
    assert label(claim, json.dumps(PARCEL)) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Line 9 has a night service.", "contradicted"),
        ("Line 4 has no night service.", "contradicted"),
        ("Line 9 has no night service.", "supported"),
        ("Line 4 has a night service.", None),
        ("There is a night service.", None),
        ("Line 4 and Line 9 have a night service.", "contradicted"),
        ("Line 4 has 34 stops.", "contradicted"),
        ("Line 9 has 34 stops.", None),
    ],
)
def test_of_several_objects_the_named_one_is_meant(claim: str, expected: str | None) -> None:
    """Where none is named, it is not sure."""
    assert label(claim, json.dumps(ROUTES)) == expected


def test_a_passage_in_prose_can_say_more() -> None:
    """What it speaks of is no longer for the fields alone."""
    prose = (
        "Waterproof covers are sold apart; 310 reviews came from shops, and it costs 310 dollars."
    )
    for claim in ("The tent is not waterproof.", "It has 310 reviews.", "It costs 310 dollars."):
        assert label(claim, json.dumps(TENT)) == "contradicted"
        assert label(claim, json.dumps(TENT), prose) is None


def test_numbers_stay_with_the_object_that_is_named() -> None:
    """The number of an order is no count of what is in it."""
    claim = "Your parcel 90417 has been shipped."
    assert check(claim, [json.dumps(PARCEL)]).decide("support").passed


@pytest.mark.parametrize(
    "text",
    ["", "in_stock", "A tent that is in stock.", '{"a": 1', "{'a': '\\d'}", "[" * 5_000, "3"],
)
def test_other_texts_are_no_data(text: str) -> None:
    """Prose, broken JSON and bare values."""
    assert things_of([text]) == []


def test_states_exclude_each_other_one_way() -> None:
    """What is delivered was shipped; what is shipped is not yet delivered."""
    assert excludes("delivered", "shipped")
    assert not excludes("shipped", "delivered")
    assert excludes("in transit", "delivered")
    assert excludes("closed", "open")
    assert not excludes("open", "shipped")
    assert still_to_come("shipped", "delivered")
    assert not still_to_come("delivered", "shipped")
