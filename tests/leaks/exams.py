"""The exams of all frameworks under one name each. In: nothing. Out: rows, checks and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import cells, checks, llama_cells, llama_checks
from .cells import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """What one framework's guard is asked."""

    rows: Sequence[Any]
    wrong: Callable[[Any, Column], Iterator[str]]
    blind: Callable[[Any], Iterator[str]]
    left_out: Mapping[str, str]
    checks: Mapping[str, Callable[[], Iterator[str]]]


EXAMS: Mapping[str, Exam] = {
    "langchain": Exam(
        rows=cells.ROWS,
        wrong=cells.wrong,
        blind=cells.blind,
        left_out=cells.LEFT_OUT,
        checks=checks.CHECKS,
    ),
    "llama-index": Exam(
        rows=llama_cells.ROWS,
        wrong=llama_cells.wrong,
        blind=llama_cells.blind,
        left_out=llama_cells.LEFT_OUT,
        checks=llama_checks.CHECKS,
    ),
}
