"""Whatever claim meets whatever context, no rule raises: a claim that breaks one has no verdict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard.claims import LocalClaims
from faithguard.types import Passage
from faithguard.verifiers import Context
from faithguard.verifiers.rules import RULES

SAID = [
    "a year", "each", "of the first scanner", "less than", "more than", "twice", "half of", "no",
    "not", "from", "to", "and", "or", "for", "per", "up to", "only", "the plan", "was", "is",
    "Rome", "serves", "cost", "except", "if", "all", "within", "before", "instead of", ".",
    ",", ";", ":",
]  # fmt: skip
VALUES = [
    "0 km", "0.00", "10,000 km", "7 cm", "1,900 km", "36 months", "0%", "100%", "-100%", "0:00",
    "24:00", "1/3", "0 mg", "5 mg/ml", "EUR 0", "3 May", "31.02.2024", "02/03/04", "Monday", "9",
    "3c-2a-f4-90-1b-7e", "3C:2A:F4:90:1B:7E", "KEL-2F", "KEL-MONO", "10.20.14.61", "v0.0", "[2]",
    "\u00bd", "no one", "first", "third of", "a dozen", "| 0 |", "- ", "A: 0", '{"a": 0}',
]  # fmt: skip
TEXTS = st.lists(st.sampled_from([*SAID, *VALUES]), min_size=1, max_size=14).map(" ".join)


def verified(claim: str, *context: str) -> None:
    """Put each fact of a text to every rule."""
    known = Context([Passage(text=text) for text in context])
    for one in LocalClaims().extract(claim):
        for rule in RULES:
            rule().verify([one], known)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_no_rule_breaks(claim: str, context: list[str]) -> None:
    """Made of what rules look for, in any order."""
    verified(claim, *context)
    verified(f"{claim} {context[0]}", *context)


@pytest.mark.parametrize(
    ("claim", "context"),
    [
        (
            "The van covered 1,900 km less than the plan allowed.",
            "24 months, 10,000 km a year; each further km 0.09, up to 2,500 km. Dents under 10 cm "
            "are normal. The van: 24 months, 18,100 km. Dent on a door, 7 cm.",
        ),
        (
            "The scanner with the address 3c-2a-f4-90-1b-7e is the one in the queue KEL-2F-COL.",
            "Scanner upstairs: queue name KEL-2F-COL. Scanner downstairs: queue KEL-GF-MONO. "
            "Address of the first scanner: 3C:2A:F4:90:1B:7E.",
        ),
    ],
    ids=["a rate of nothing", "a code of another shape"],
)
def test_what_once_broke_one_is_read(claim: str, context: str) -> None:
    """Each was found in a text that somebody wrote."""
    verified(claim, context)
