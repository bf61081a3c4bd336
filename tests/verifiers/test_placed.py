"""The place in a list that only an answer has is not looked up."""

from __future__ import annotations

import pytest

from faithguard import check

CONTEXT = "Pay 40 EUR at the desk. Keep the receipt. The gate opens at nine."


@pytest.mark.parametrize(
    "answer",
    [
        "Step 2: Pay 40 EUR at the desk.",
        "**Step 2 – Pay**: Pay 40 EUR at the desk.",
        "Step 1. Keep the receipt. Step 2. Pay 40 EUR at the desk.",
        "A1: The gate opens at nine.",
        "Keep the receipt. Pay approx. 40 EUR, i.e. at the desk.",
        "Q1. When does the gate open? A1. It opens at nine.",
        "**1. Gate:** The gate opens at nine.\n\n**2. Receipt:** Keep the receipt.",
    ],
)
def test_a_place_is_not_looked_up(answer: str) -> None:
    """What stands behind it is so."""
    assert check(answer=answer, context=[CONTEXT]).score == 1.0


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Step 2: Pay 40 EUR at the desk.", "Step 3: Pay 40 EUR at the desk."),
        ("A4: The sheet is 42 cm wide.", "A3: The sheet is 42 cm wide."),
        ("Step 2: Pay 50 EUR at the desk.", CONTEXT),
    ],
)
def test_a_place_that_the_context_has_is_part_of_what_is_said(answer: str, context: str) -> None:
    """So is all else that is said under it."""
    assert check(answer=answer, context=[context]).score == 0.0
