"""What is over by the claim, and goes on by the context.

In: a context with claims. Out: what the rules alone veto.
"""

from __future__ import annotations

import pytest

from tests.verifiers.rules.cases import Case
from tests.verifiers.rules.test_cases import ruled, vetoed


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ("A locker costs 3 euros.", "A locker used to cost 3 euros."),
        ("The ferry carries bicycles.", "The ferry formerly carried bicycles."),
        ("The ferry carries bicycles.", "The ferry no longer carries bicycles."),
        ("The library lends films for a week.", "The library used to lend films."),
    ],
)
def test_what_goes_on_is_not_over(context: str, claim: str) -> None:
    """In the words of the context, but for those that say it is over."""
    assert vetoed(ruled(Case("polarity", (context,), claim, claim), claim))


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ("A locker is 4 euros, until May it was 3 euros.", "A locker used to cost 3 euros."),
        ("The ferry stopped carrying bicycles in 2019.", "The ferry no longer carries bicycles."),
        ("A T6 key opens the case.", "The key used to open the case is a T6."),
        ("The tank stores rain water.", "The tank is used to store rain water."),
    ],
)
def test_what_changed_or_serves_a_purpose_is_left_alone(context: str, claim: str) -> None:
    """Also where "used to" names a purpose."""
    assert not vetoed(ruled(Case("polarity", (context,), claim, claim), claim))
