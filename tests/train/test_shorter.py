"""What an answer may leave out of a sentence, and what it may not."""

from __future__ import annotations

import random

import pytest

from faithguard.train._shorter import shorter


def left(sentence: str, *, true: bool) -> set[str]:
    """Return all that is made of a sentence."""
    found = (shorter(sentence, random.Random(seed), true=true) for seed in range(60))
    return {made[0] for made in found if made is not None}


@pytest.mark.parametrize(
    ("sentence", "shorter_one"),
    [
        (
            "The mill (built in 1712) was sold to Ada Lunn.",
            "The mill was sold to Ada Lunn.",
        ),
        (
            "Per Holt, a painter from the north, was buried near the mill.",
            "Per Holt was buried near the mill.",
        ),
        ("In 1904, the old bridge was closed.", "The old bridge was closed."),
        (
            "The ferry is run by the town, which bought it from a brewer.",
            "The ferry is run by the town.",
        ),
        ("Ada Lunn opened a bakery in the harbour.", "Ada Lunn opened a bakery."),
        (
            "The prize was won by Ada Lunn, Per Holt and Brenna Vale.",
            "The prize was won by Ada Lunn and Brenna Vale.",
        ),
        (
            "The tower was built in 1712, and the mayor sold it to a brewer.",
            "The tower was built in 1712.",
        ),
    ],
)
def test_what_is_free_may_go(sentence: str, shorter_one: str) -> None:
    """Asides, appositions, times and places, added clauses, members of lists, other facts."""
    assert shorter_one in left(sentence, true=True)


@pytest.mark.parametrize(
    ("sentence", "shorter_one"),
    [
        ("The fee is paid back if you cancel in May.", "The fee is paid back."),
        ("If it rains, the market is closed.", "The market is closed."),
        ("The road is open except on market days.", "The road is open."),
        ("The bridge may be closed next year.", "The bridge is closed next year."),
        ("The bridge was never closed in winter.", "The bridge was closed in winter."),
        ("Some guests have a garden view.", "All guests have a garden view."),
        ("The owners claim that the well is safe.", "The well is safe."),
    ],
)
def test_what_a_truth_hangs_on_makes_a_false_one(sentence: str, shorter_one: str) -> None:
    """And never a true one."""
    assert shorter_one in left(sentence, true=False)
    assert shorter_one not in left(sentence, true=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "No bridge was closed in the winter of that year.",
        "Only members were let in during the summer.",
        "All shops are closed on Sundays.",
        "Ada Lunn was taller than Per Holt in that year.",
        "“The bridge was closed,” she said in the harbour.",
        "Ada Lunn opened a bakery",
    ],
)
def test_where_it_cannot_be_told_nothing_is_made(sentence: str) -> None:
    """Negations, quantifiers, comparisons, quotations, and what is no sentence."""
    assert not left(sentence, true=True)


def test_targets_and_form() -> None:
    """Each is a sentence, and the target says which it is."""
    whole = "Ada Lunn, a baker, opened a shop in the harbour in 1904, if the papers are right."
    true = shorter(whole, random.Random(1), true=True)
    false = shorter(whole, random.Random(1), true=False)

    assert true == ("Ada Lunn opened a shop in the harbour in 1904, if the papers are right.", "e")
    assert false == ("Ada Lunn, a baker, opened a shop in the harbour in 1904.", "nc")
