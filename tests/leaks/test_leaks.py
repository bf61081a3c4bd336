"""Every cell of the table, and every check beside it, as one test."""

from __future__ import annotations

from typing import Any

import pytest

from .cells import COLUMNS, Column
from .exams import EXAMS, Exam

CELLS = [
    pytest.param(exam, row, id=f"{framework} | {row.name}")
    for framework, exam in EXAMS.items()
    for row in exam.rows
]
CHECKS = [
    pytest.param(exam, name, id=f"{framework} | {name}")
    for framework, exam in EXAMS.items()
    for name in exam.checks
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
@pytest.mark.parametrize(("exam", "row"), CELLS)
def test_cell(exam: Exam, row: Any, column: Column) -> None:
    """The lie shows without a guard and not with one; a faithful answer is untouched."""
    assert list(exam.wrong(row, column)) == []


# LlamaIndex's agents warn of what they do themselves
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("exam", "name"), CHECKS)
def test_check(exam: Exam, name: str) -> None:
    """Observers see, refusals refuse, and every caller gets its own."""
    assert list(exam.checks[name]()) == []
