"""The list of sources at the end of an answer names them, and hides no fact."""

from __future__ import annotations

import pytest

from faithguard import Passage, Scorer
from faithguard.types import Claim, Exchange, Report

PASSAGES = (
    Passage(text="The boat leaves at 8 and carries 40 guests.", metadata={"title": "Timetable"}),
    Passage(text="A ticket is 12 euros.", source="fares.md", metadata={"title": "Fares by boat"}),
)


def scored(answer: str, passages: tuple[Passage, ...] = PASSAGES) -> Report:
    """Return the report of an answer."""
    exchange = Exchange(id="e", question="How much is it?", answer=answer, passages=passages)
    return Scorer().score(exchange)


def entries(answer: str) -> tuple[Claim, ...]:
    """Return the claims behind the first one that are facts."""
    return scored(answer).facts[1:]


@pytest.mark.parametrize(
    "tail",
    [
        "Sources:\n[2] Fares by boat\n[1] Timetable",
        "## References\n\n1. Fares by boat (2024)\n2. Timetable, p. 3",
        "Sources:\n- https://boats.example/fares\n- fares.md",
        "**Sources:** [1] Timetable, [2] Fares",
        "Source: Fares by boat, page 3",
        "(Source: fares.md)",
        "Quellen:\n[1] Timetable",
    ],
)
def test_names_of_sources_are_no_facts(tail: str) -> None:
    """What names a passage, or where in it something stands, is nothing to check."""
    report = scored(f"A ticket is 12 euros [2].\n\n{tail}")
    assert (report.supported, report.total) == (1, 1)


@pytest.mark.parametrize(
    "tail",
    [
        "Sources:\n[2] Fares: a ticket is 9 euros",
        "Sources:\n[2] Ticket price 9 euros",
        "Sources:\n[2] Boats are safe",
        "Sources:\n[2] Free return for all guests",
        "Sources:\n[2] Iodine cures colds",
        "Source: The Harbour Gazette",
    ],
)
def test_fact_among_sources_is_checked(tail: str) -> None:
    """Nor does a source that no passage is pass for one."""
    (found,) = entries(f"A ticket is 12 euros.\n\n{tail}")
    assert not found.supported


def test_address_of_no_passage_is_found() -> None:
    """Where passages have addresses, another one is none of them."""
    placed = tuple(
        Passage(text=passage.text, source=f"https://boats.example/{number}")
        for number, passage in enumerate(PASSAGES)
    )
    for address, total in (("https://boats.example/1", 1), ("https://ferries.example/fares", 2)):
        report = scored(f"A ticket is 12 euros.\n\nSources:\n- {address}", placed)
        assert (report.supported, report.total) == (1, total)


def test_number_of_no_passage_is_found() -> None:
    """An entry for a passage that does not exist is the finding of the citations."""
    (found,) = entries("A ticket is 12 euros.\n\nSources:\n[7] Fares by boat")
    assert (found.label, found.verifier) == ("not_mentioned", "citations@3")


def test_source_alone_is_the_answer() -> None:
    """Asked for a document, an answer that names one is a fact."""
    assert [claim.kind for claim in scored("Source: Fares by boat").claims] == ["fact"]


def test_sources_of_unnamed_passages() -> None:
    """Where nothing is known of the passages but their words, a name cannot be looked up."""
    bare = tuple(Passage(text=passage.text) for passage in PASSAGES)
    report = scored("A ticket is 12 euros.\n\nSource: Harbour Gazette", bare)
    assert report.total == 1
