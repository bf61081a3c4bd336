"""The table of short answers, each judged: right and wrong answers to one question are twins.

In: `tests/data/asked.jsonl`. Out: how many wrong answers pass, and how many right ones do not.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import faithguard

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "asked.jsonl").read_text("utf-8").splitlines()
]
CASES = [(row, said, want) for row in ROWS for said, want in row["answers"].items()]


def fault(row: dict[str, str], said: str, want: str) -> str | None:
    """Return what is wrong with what is made of an answer; None if nothing is."""
    report = faithguard.check(said, row["context"], question=row["question"], domain="medical")
    passed = report.decide("medical").passed
    if want != "supported":
        return "wrong pass" if passed else None
    if passed:
        return None
    against = any(claim.label == "contradicted" for claim in report.facts)
    return "wrong contradiction" if against else "wrong alarm"


@pytest.mark.parametrize(
    ("half", "most"),
    [
        ("open", {"wrong pass": 0, "wrong contradiction": 0, "wrong alarm": 10}),
        ("real", {"wrong pass": 0, "wrong contradiction": 0, "wrong alarm": 2}),
        ("more", {"wrong pass": 1, "wrong contradiction": 0, "wrong alarm": 0}),
        ("blind", {"wrong pass": 0, "wrong contradiction": 1, "wrong alarm": 0}),
        ("later", {"wrong pass": 0, "wrong contradiction": 0, "wrong alarm": 6}),
    ],
)
def test_no_more_faults_than_there_were(half: str, most: dict[str, int]) -> None:
    """The figures only fall."""
    found = Counter(fault(*case) for case in CASES if case[0]["half"] == half)
    assert {kind: found[kind] for kind in most if found[kind] > most[kind]} == {}


def test_the_table_has_twins() -> None:
    """Most questions have an answer that is right and one that is wrong."""
    assert len(CASES) >= 400
    twins = [row for row in ROWS if len({w == "supported" for w in row["answers"].values()}) == 2]
    assert len(twins) > len(ROWS) / 2
