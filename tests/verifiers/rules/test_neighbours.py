"""What is said of one thing, claimed of the one beside it.

In: a context with claims. Out: what the rules alone veto.
"""

from __future__ import annotations

import pytest

from tests.verifiers.rules.cases import Case
from tests.verifiers.rules.test_cases import ruled, vetoed

WRONG = [
    ("Towels are free; lockers cost 2 euros.", "Lockers are free."),
    ("Towels are free. Lockers cost 2 euros.", "Lockers are free."),
    ("Towels are free of charge and lockers cost 2 euros.", "Lockers are free of charge."),
    ("Helmets and gloves are included; poles can be rented.", "Poles are included."),
    ("Helmets and gloves are included; poles can be rented for 9 euros.", "Gloves can be rented."),
    ("X-rays are covered; crowns and bridges are paid by the patient.", "Bridges are covered."),
    (
        "The red badge allows parking, the grey badge opens all gates.",
        "The red badge opens all gates.",
    ),
    (
        "The Lite plan costs 5 euros and includes chat support. The Pro plan costs 9 euros and "
        "includes phone support.",
        "The Lite plan includes phone support.",
    ),
    (
        "Standard guests may use the gym; club guests may use the gym and visit the spa.",
        "Standard guests may visit the spa.",
    ),
    (
        "The lower deck is wheelchair accessible; the upper deck can be reached by stairs only.",
        "The upper deck is wheelchair accessible.",
    ),
    (
        "Hand luggage is included in all fares; checked luggage only in Plus.",
        "Checked luggage is included in all fares.",
    ),
    ("Tourists pay 8 euros; residents pay nothing.", "Tourists pay nothing."),
]
RIGHT = [
    ("Towels are free; lockers cost 2 euros.", "Towels are free."),
    ("Towels are free; lockers cost 2 euros, and so are slippers.", "Slippers are free."),
    ("Towels are free; lockers cost 2 euros. On Mondays, lockers are free.", "Lockers are free."),
    ("All rooms have a fridge; suites have a terrace.", "Suites have a fridge."),
    ("The inn is by the lake; rooms have balconies.", "The inn has balconies."),
    ("Helmets and gloves are included; poles can be rented.", "Gloves are included."),
    ("Oil is included. Tyres are part of it.", "Tyres are included."),
    ("Until 2019 the red ferry ran daily; then the grey ferry came.", "The grey ferry ran daily."),
    ("Orla is a wiki for clubs, made by Ida Holm.", "Orla was made by Ida Holm."),
    ("The tower has a shop; the garden is open to visitors of the tower.", "The tower is open."),
    ("Towels are free. The same applies to lockers, which are new.", "Lockers are free."),
]


@pytest.mark.parametrize(("context", "claim"), WRONG)
def test_what_is_said_of_the_neighbour_is_vetoed(context: str, claim: str) -> None:
    """In one sentence or in two."""
    assert vetoed(ruled(Case("roles", (context,), claim, claim), claim))


@pytest.mark.parametrize(("context", "claim"), RIGHT)
def test_what_may_hold_of_both_is_left_alone(context: str, claim: str) -> None:
    """Where anything says so, or the neighbour is a part."""
    assert not vetoed(ruled(Case("roles", (context,), claim, claim), claim))
