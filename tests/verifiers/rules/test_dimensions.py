"""Lengths by what they measure: long, wide, high, apart.

In: a sentence of a context with claims of it. Out: what the rules alone veto.
"""

from __future__ import annotations

import pytest

from tests.verifiers.rules.cases import Case
from tests.verifiers.rules.test_cases import ruled, vetoed

BASIN = "The basin is 40 metres long, 12 metres wide and 3 metres deep."
TRAY = "The tray measures 45 cm in length and 25 cm in width."
MAST = "The mast, 18 m high, was put up in May."
HOLES = "The posts are 1.5 m high and stand 4 m apart."
SILL = "The sill has a width of 20 cm and a depth of 20 cm."


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        (BASIN, "The basin is 40 metres wide."),
        (BASIN, "The basin has a depth of 12 metres."),
        (TRAY, "The tray is 45 cm wide."),
        (MAST, "The mast is 18 m wide."),
        (HOLES, "The posts are 4 m high."),
    ],
)
def test_a_length_of_another_dimension_is_vetoed(context: str, claim: str) -> None:
    """Whether an adjective or a noun names it."""
    assert vetoed(ruled(Case("units_currency", (context,), claim, claim), claim))


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        (BASIN, "The basin has a length of 40 metres."),
        (BASIN, "The basin is 3 metres deep."),
        (BASIN, "The basin is 12 m broad."),
        (TRAY, "The tray is 25 cm wide."),
        (MAST, "The mast has a height of 18 m."),
        (HOLES, "The posts are 1.5 m in height."),
        (SILL, "The sill is 20 cm deep."),
    ],
)
def test_the_same_dimension_in_other_words_is_left_alone(context: str, claim: str) -> None:
    """What is said of another length beside it does not matter."""
    assert not vetoed(ruled(Case("units_currency", (context,), claim, claim), claim))
