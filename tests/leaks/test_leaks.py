"""Cells of the table and checks beside it, as tests.

In: the exams. Out: a test for `MOST_OF_A_KIND` checks, and for about `MOST` cells of each exam:
every way of calling, every shape and every column in turn. `python -m tests.leaks` examines all;
set FAITHGUARD_LEAKS=all for all of them here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from .cells import Column
from .exams import EXAMS, PENDING, Exam, first_pending, pending, ready

MOST = 16
"""Cells of an exam: the whole table takes longer than a test run should."""
MOST_OF_A_KIND = 4
"""Checks of an exam that differ only in how they call and what they block."""

ALL = os.environ.get("FAITHGUARD_LEAKS") == "all"


def _thinned(
    rows: Sequence[tuple[Any, Sequence[Column]]], most: int = MOST
) -> Iterator[tuple[Any, Column]]:
    """Yield some cells, spread evenly; each way, shape and column has one."""
    total = sum(len(columns) for _, columns in rows)
    step = 1 if ALL else max(1, -(-total // most))
    chosen: list[list[Column]] = []
    seen = set[str]()
    for place, (row, columns) in enumerate(rows):
        some = [column for n, column in enumerate(columns) if (n + place) % step == 0]
        names = {row.way.name, row.shape.name}
        if not some and not names <= seen:
            some = [columns[place % len(columns)]]
        if some:
            seen |= names | {column.name for column in some}
        chosen.append(some)
    for (row, columns), some in zip(rows, chosen, strict=True):
        some += [column for column in columns if column.name not in seen]
        seen |= {column.name for column in some}
        yield from ((row, column) for column in some)


def cells_of(framework: str) -> Iterator[tuple[Any, Column]]:
    """Yield some cells of an exam for which there is a guard."""
    rows = [(row, ready(framework, row)) for row in EXAMS[framework].rows]
    yield from _thinned([(row, columns) for row, columns in rows if columns])


def checks_of(framework: str) -> Iterator[str]:
    """Yield the checks of an exam, some of each kind, spread evenly."""
    kinds: dict[str, list[str]] = {}
    for name in EXAMS[framework].checks:
        kinds.setdefault(name.partition(":")[0], []).append(name)
    for names in kinds.values():
        yield from names[:: 1 if ALL else -(-len(names) // MOST_OF_A_KIND)]


def blind_of(framework: str) -> Iterator[Any]:
    """Yield some ways of an exam for which there is none."""
    exam = EXAMS[framework]
    rows = [(row, exam.columns_of(row)[:1]) for row in exam.rows if not ready(framework, row)]
    yield from (row for row, _ in _thinned(rows, MOST // 4))


CELLS = [
    pytest.param(exam, row, column, id=f"{framework} | {row.name}-{column.name}")
    for framework, exam in EXAMS.items()
    for row, column in cells_of(framework)
]
BLIND = [
    pytest.param(exam, row, id=f"{framework} | {row.name}")
    for framework, exam in EXAMS.items()
    for row in blind_of(framework)
]
CHECKS = [
    pytest.param(exam, name, id=f"{framework} | {name}")
    for framework, exam in EXAMS.items()
    for name in checks_of(framework)
    if not pending(framework, name)
]
ENTRIES = [
    pytest.param(framework, beginning, id=f"{framework} | {beginning or 'everything'}")
    for framework, beginnings in PENDING.items()
    for beginning in beginnings
]


@pytest.mark.parametrize("framework", EXAMS)
def test_every_way_shape_and_column_is_tried(framework: str) -> None:
    """However few cells are tried: a guard that leaks does so in a way, a shape or a column."""

    def names(cells: Iterable[tuple[Any, Column]]) -> set[str]:
        return {n for row, column in cells for n in (row.way.name, row.shape.name, column.name)}

    every = ((row, column) for row in EXAMS[framework].rows for column in ready(framework, row))
    assert names(cells_of(framework)) == names(every)


@pytest.mark.parametrize(("exam", "row", "column"), CELLS)
def test_cell(exam: Exam, row: Any, column: Column) -> None:
    """The lie shows without a guard and not with one; a faithful answer is untouched."""
    assert list(exam.wrong(row, column)) == []


@pytest.mark.parametrize(("exam", "row"), BLIND)
def test_not_blind(exam: Exam, row: Any) -> None:
    """A way that is still to be guarded shows the lie."""
    assert list(exam.blind(row)) == []


@pytest.mark.xfail(
    strict=True,
    reason="no guard yet; once it is there, this entry leaves PENDING in tests/leaks/exams.py",
)
@pytest.mark.parametrize(("framework", "beginning"), ENTRIES)
def test_pending(framework: str, beginning: str) -> None:
    """A cell that waits for its guard is not a good one; an entry that is done has to go."""
    row, column = first_pending(framework, beginning)
    assert list(EXAMS[framework].wrong(row, column)) == []


# LlamaIndex's agents warn of what they do themselves
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("exam", "name"), CHECKS)
def test_check(exam: Exam, name: str) -> None:
    """Observers see, refusals refuse, and every caller gets its own."""
    assert list(exam.checks[name]()) == []
