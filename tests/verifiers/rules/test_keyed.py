"""Claims of the form "key: value" beside prose that gives the value, of this key or of another."""

from __future__ import annotations

import pytest

from faithguard import check

CONTEXT = (
    "A seat on the ferry costs 14 crowns, and children pay 7 crowns. The ferry office opens at 9 "
    "and closes at 17. The dose of the syrup for adults is 250 mg. Anglers borrow rods for 28 "
    "days. The harbour master is Ana Ruiz. The inn has 42 rooms. Check-in is possible from 15:00. "
    "The car park is free of charge."
)
QUESTION = "Tell me about the ferry."


@pytest.mark.parametrize(
    "claim",
    [
        "Seat price: 14",
        "Seat price: 14 crowns",
        "- **Price of a seat:** 14 crowns",
        "Dose: 250 mg",
        "Dose – 250 mg",
        "Opening hours – 9 to 5",
        "Opening hours: 9–17",
        "Opening hours: 9:00 to 17:00",
        "Number of rooms: 42",
        "Rooms: 42",
        "Check-in: from 15:00",
        "Harbour master: Ana Ruiz",
        "Children: 7 crowns",
        "| Key | Value |\n|---|---|\n| Seat price | 14 crowns |\n| Dose | 250 mg |",
    ],
)
def test_what_the_context_says_in_prose_passes(claim: str) -> None:
    """The question, which asks for nothing in particular, is no part of the claim."""
    assert check(claim, [CONTEXT], question=QUESTION).decide("medical").passed


@pytest.mark.parametrize(
    "claim",
    [
        "Seat price: 7 crowns",
        "Seat price: 28 crowns",
        "Seat price: 14 euros",
        "Dose: 500 mg",
        "Child dose: 250 mg",
        "Opening hours – 9 to 6",
        "Opening hours: 15 to 17",
        "Opening hours: 17 to 9",
        "Rooms: 28",
        "Check-in: from 17:00",
        "Harbour master: Ana Lopez",
        "Children: 14 crowns",
        "Car park: 14 crowns",
    ],
)
def test_the_value_of_another_key_does_not(claim: str) -> None:
    """Nor one that the context nowhere has."""
    assert not check(claim, [CONTEXT], question=QUESTION).decide("medical").passed


def test_times_of_several_days_are_left_to_others() -> None:
    """Where the context gives more than one pair of times, no rule says which is meant."""
    context = "The pool opens at 9 and closes at 17. The sauna opens at 10 and closes at 21."
    (claim,) = check("Opening hours: 9 to 21", [context]).facts
    assert not (claim.label == "supported" and (claim.verifier or "").startswith("quantities"))
