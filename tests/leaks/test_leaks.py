"""Every cell of the table, and every check beside it, as one test."""

from __future__ import annotations

import pytest

from .cells import COLUMNS, ROWS, Column, Row, wrong
from .checks import CHECKS


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_cell(row: Row, column: Column) -> None:
    """The lie shows without a guard and not with one; a faithful answer is untouched."""
    assert list(wrong(row, column)) == []


@pytest.mark.parametrize("name", CHECKS)
def test_check(name: str) -> None:
    """Observers see, refusals refuse, and every caller gets its own."""
    assert list(CHECKS[name]()) == []
