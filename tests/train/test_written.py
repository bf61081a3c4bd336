"""The claims written for training: whole, of both kinds, and apart from every exam.

In: `tests/data`. Out: assertions on its texts; nothing is trained.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.bench._common import ROOT, read_jsonl
from tests.train.written import ANSWERS, HELD, SHORT, SHORT_HELD, TRAINED, WRITTEN, rows

EXAMS = ("near_misses.jsonl", "exam_verdicts.jsonl")


@pytest.mark.parametrize(
    ("path", "supported"),
    [
        (WRITTEN, (0.45, 0.55)),
        (ANSWERS, (0.7, 0.75)),
        (SHORT, (0.4, 0.5)),
        (HELD, (0.7, 0.75)),
        (SHORT_HELD, (0.45, 0.55)),
    ],
    ids=["written", "answers", "short", "held", "short_held"],
)
def test_each_context_has_claims_of_both_kinds(path: Path, supported: tuple[float, float]) -> None:
    """Else the context alone would tell the label."""
    labels: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in rows(path):
        labels[tuple(row["context"])].append(row["label"])
    found = [label for group in labels.values() for label in group]

    assert all({*group} == {0, 1} for group in labels.values())
    assert supported[0] < sum(found) / len(found) < supported[1]


def test_what_is_held_is_not_trained_on() -> None:
    """Not a passage of it."""
    trained = {text for path in TRAINED for row in rows(path) for text in row["context"]}
    held = {text for path in (HELD, SHORT_HELD) for row in rows(path) for text in row["context"]}

    assert not trained & held


def test_no_exam_is_trained_on() -> None:
    """Neither a passage nor a claim of one stands among them."""
    written = {
        text for path in TRAINED for row in rows(path) for text in (*row["context"], row["claim"])
    }
    examined = {
        text
        for name in EXAMS
        for row in read_jsonl(ROOT / "tests" / "data" / name)
        for text in (*row["context"], row.get("claim") or row["answer"])
    }

    assert not written & examined


@pytest.mark.parametrize("text", ["a line without a sign", "+ a claim before any passage"])
def test_a_line_that_is_neither_is_told(tmp_path: Path, text: str) -> None:
    """By its number."""
    file = tmp_path / "written.txt"
    file.write_text(f"\n{text}\n", "utf-8")

    with pytest.raises(ValueError, match="line 2 of written"):
        list(rows(file))
