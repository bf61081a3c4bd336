"""Invented notices: the claim is true of the text as its target says."""

from __future__ import annotations

import random
import re
from collections import Counter

from faithguard.train._notices import Notice, notice
from faithguard.verifiers._values import Value, find_values

MADE = [notice(random.Random(seed)) for seed in range(3_000)]


def of(target: str) -> list[Notice]:
    """Return the notices whose claim has a target."""
    return [made for made in MADE if made.target == target]


def test_nothing_is_left_unfilled() -> None:
    """No slot and no bracket of a pattern."""
    assert not [made for made in MADE if re.search(r"[{}\[\]<>]", made.text + made.claim)]


def test_true_and_false_are_about_even() -> None:
    """And every kind is there."""
    share = Counter(made.target for made in MADE)

    assert set(share) == {"e", "c", "n", "nc"}
    assert 0.4 < share["e"] / len(MADE) < 0.6


def stands(value: Value, text: str) -> bool:
    """Say whether a text holds a value, however it is written."""
    return any(value.agrees(other) for other in find_values(text))


def test_an_entailed_claim_says_what_stands_there() -> None:
    """Each of its values stands in the text."""
    for made in of("e"):
        assert all(stands(value, made.text) for value in find_values(made.claim))


def test_a_contradicted_claim_is_not_what_stands_there() -> None:
    """Though its value mostly does, for something else."""
    false = of("c")

    assert not [m for m in false if re.search(re.escape(m.claim) + r"(?!\d)", m.text)]
    known = [m for m in false if all(stands(v, m.text) for v in find_values(m.claim))]
    assert 0.4 < len(known) / len(false) < 0.95


def test_a_claim_without_its_condition_is_not_entailed() -> None:
    """The text says more behind the same words."""
    for made in of("nc"):
        assert made.claim.rstrip(".") in made.text
        assert made.claim not in made.text


def test_tables_and_lists_are_among_them() -> None:
    """In markdown and in plain lines."""
    texts = [made.text for made in MADE]

    assert sum(text.startswith("|") for text in texts) > 300
    assert sum("\n- " in text for text in texts) > 50
