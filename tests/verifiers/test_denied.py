"""Denials of an answer and of a passage, through the local cascade."""

from __future__ import annotations

import pytest

from faithguard import Passage, Scorer
from faithguard.types import Exchange

OPEN, SHUT = "The east lift is open at night.", "The east lift is not open at night."
DENIALS = [
    "The east lift is open at night. ❌",
    "❌ The east lift is open at night.",
    "~~The east lift is open at night.~~",
    "<del>The east lift is open at night.</del>",
    "It is a myth that the east lift is open at night.",
    "It is simply not true that the east lift is open at night.",
    "It's false that the east lift is open at night.",
    "Nobody should believe that the east lift is open at night.",
    "The idea that the east lift is open at night is a misconception.",
    "Myth: The east lift is open at night.",
    "The east lift is open at night – this is wrong.",
    "The east lift is open at night. This is false.",
    "Is the east lift open at night? No.",
    "## Common myths\n\n- The east lift is open at night.\n- The ramp is wet.",
]
LISTS = [
    "What the policy does not cover:\n- Hail damage\n- Rust",
    "## Not covered\n\n- Hail damage\n- Rust",
    "Exclusions: hail damage, rust",
    "Hail damage is not covered. Rust is not covered either.",
]


def labels(context: str, answer: str) -> list[str]:
    """Return the labels of the facts of an answer."""
    exchange = Exchange(id="e", question=None, answer=answer, passages=(Passage(text=context),))
    return [claim.label for claim in Scorer().score(exchange).facts]


@pytest.mark.parametrize("answer", DENIALS)
def test_answer_that_denies(answer: str) -> None:
    """It is judged as denying: wrong where the context says it, right where it denies it."""
    assert labels(OPEN, answer)[0] == "contradicted"
    assert labels(SHUT, answer)[0] == "supported"


@pytest.mark.parametrize("context", DENIALS)
def test_passage_that_denies(context: str) -> None:
    """It supports nothing that it denies, and it supports who denies it too."""
    assert labels(context, OPEN) == ["contradicted"]
    assert labels(context, SHUT) == ["supported"]
    assert labels(context, "The east lift is open at night. ✗") == ["supported"]


@pytest.mark.parametrize("context", LISTS)
@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Hail damage is covered.", "contradicted"),
        ("Hail damage is not covered.", "supported"),
        ("## Not covered\n\n- Hail damage", "supported"),
        ("Not covered: hail damage, theft", "supported"),
    ],
)
def test_items_under_a_denial(context: str, answer: str, label: str) -> None:
    """What a title excludes is not included, on either side."""
    assert labels(context, answer)[0] == label


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("Wash the coat warm.", "Don'ts:\n- Wash the coat warm"),
        ("The policy covers hail damage.", "What it does not cover:\n- Hail damage"),
        ("The policy covers hail damage.", "## Not covered\n\n- Hail damage"),
        ("Do not:\n- Wash the coat warm\n- Iron it", "Wash the coat warm."),
    ],
)
def test_denied_by_one_side_only(context: str, answer: str) -> None:
    """One says what the other denies."""
    assert labels(context, answer) == ["contradicted"]


@pytest.mark.parametrize(
    ("context", "answer", "label"),
    [
        ("It is a myth that all lifts are open.", "No lifts are open.", "not_mentioned"),
        ("It is a myth that the lift is open on 3 May.", "The lift is open.", "not_mentioned"),
        ("Cons:\n❌ The east lift is slow", "The east lift is slow.", "supported"),
        ("Myth: The lift is unsafe.", "The lift is safe.", "supported"),
        ("The fee is ~~9~~ 12 euros.", "The fee is 12 euros.", "supported"),
        ("The fee is ~~9~~ 12 euros.", "The fee is 9 euros.", "contradicted"),
        (
            "It is not true that the fee rose; it fell to 9 euros.",
            "It fell to 9 euros.",
            "supported",
        ),
    ],
)
def test_how_far_a_denial_goes(context: str, answer: str, label: str) -> None:
    """No further than what it denies."""
    assert labels(context, answer) == [label]


TABLE = "| Plan | Sauna | Pool |\n|--|--|--|\n| Day | no | ✓ |\n| Year | yes | ✗ |"
PROSE = "The Day pass has a pool but no sauna. The Year pass has a sauna, but not a pool."


@pytest.mark.parametrize("context", [TABLE, PROSE])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("| Day | no | yes |\n| Year | ✓ | – |", ["supported", "supported"]),
        ("| Day | yes | yes |\n| Year | ✗ | ✗ |", ["contradicted", "contradicted"]),
        ("| Day | – | ✓ |\n| Year | yes | ✓ |", ["supported", "contradicted"]),
    ],
)
def test_cells_that_say_yes_or_no(context: str, rows: str, expected: list[str]) -> None:
    """A tick or a cross is compared with what the context says of that row and column."""
    assert labels(context, f"| Pass | Sauna | Pool |\n|--|--|--|\n{rows}") == expected


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("| Pass | Towels |\n|--|--|\n| Day | yes |", "not_mentioned"),
        ("| Offer | Day |\n|--|--|\n| Sauna | ✗ |", "supported"),
        ("| Offer | Day |\n|--|--|\n| Sauna | ✓ |", "contradicted"),
        ("Day: Sauna: yes", "contradicted"),
    ],
)
def test_cells_turned_and_unknown(answer: str, label: str) -> None:
    """A table may be turned round; of what nothing is told no cell is supported."""
    assert labels(TABLE, answer) == [label]
