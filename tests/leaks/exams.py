"""The exams of all frameworks under one name each. In: nothing. Out: rows, checks and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from . import (
    agent_cells,
    agent_checks,
    agent_streams,
    cells,
    chain_rows,
    checks,
    function_checks,
    function_rows,
    llama_agent_checks,
    llama_agents,
    llama_cells,
    llama_checks,
    llama_streams,
    openai_checks,
    openai_rows,
    outcomes,
)
from .cells import COLUMNS, Column

REPAIRS = "repair"
STREAMS = "claims"

PENDING: Mapping[str, Sequence[str]] = {
    # one text of many lines: no guard can hold back what the verifiers let pass
    "langchain-agents-streams": (STREAMS,),
}
"""What no guard can do yet: for an exam, how the names of the columns and checks begin.

Who writes such a guard takes its entry away, or leaves only `REPAIRS` and `STREAMS` of it; a
test fails as long as an entry stands here that is no longer true.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """What one framework's guard is asked."""

    rows: Sequence[Any]
    wrong: Callable[[Any, Column], Iterator[str]]
    blind: Callable[[Any], Iterator[str]]
    left_out: Mapping[str, str]
    checks: Mapping[str, Callable[[], Iterator[str]]]
    columns_of: Callable[[Any], Sequence[Column]] = lambda row: COLUMNS
    """The columns that a row has cells in."""


def _of_outcomes(
    rows: Sequence[Any],
    left_out: Mapping[str, str],
    checks: Mapping[str, Callable[[], Iterator[str]]] = MappingProxyType({}),
) -> Exam:
    """Make an exam of rows that can be played."""
    return Exam(
        rows=rows,
        wrong=outcomes.wrong,
        blind=outcomes.blind,
        left_out=left_out,
        checks=checks,
        columns_of=outcomes.columns_of,
    )


EXAMS: Mapping[str, Exam] = {
    "langchain": Exam(
        rows=cells.ROWS,
        wrong=cells.wrong,
        blind=cells.blind,
        left_out=cells.LEFT_OUT,
        checks=checks.CHECKS,
    ),
    "langchain-agents": Exam(
        rows=agent_cells.ROWS,
        wrong=agent_cells.wrong,
        blind=agent_cells.blind,
        left_out=agent_cells.LEFT_OUT,
        checks=agent_checks.CHECKS,
        columns_of=agent_cells.columns_of,
    ),
    "llama-index": Exam(
        rows=llama_cells.ROWS,
        wrong=llama_cells.wrong,
        blind=llama_cells.blind,
        left_out=llama_cells.LEFT_OUT,
        checks=llama_checks.CHECKS,
    ),
    "openai": _of_outcomes(openai_rows.ROWS, openai_rows.LEFT_OUT, openai_checks.CHECKS),
    "functions": _of_outcomes(function_rows.ROWS, function_rows.LEFT_OUT, function_checks.CHECKS),
    "langchain-agents-streams": _of_outcomes(agent_streams.ROWS, agent_streams.LEFT_OUT),
    "langchain-repairs-and-streams": _of_outcomes(chain_rows.ROWS, chain_rows.LEFT_OUT),
    "llama-index-agents": _of_outcomes(
        llama_agents.ROWS, llama_agents.LEFT_OUT, llama_agent_checks.CHECKS
    ),
    "llama-index-repairs-and-streams": _of_outcomes(llama_streams.ROWS, llama_streams.LEFT_OUT),
}


def pending(framework: str, name: str) -> bool:
    """Say whether a column or a check of an exam waits for its guard."""
    return name.startswith(tuple(PENDING.get(framework, ())))


def ready(framework: str, row: Any) -> list[Column]:
    """Return the columns of a row that a guard exists for."""
    columns = EXAMS[framework].columns_of(row)
    return [column for column in columns if not pending(framework, column.name)]


def first_pending(framework: str, beginning: str) -> tuple[Any, Column]:
    """Return the first cell of an exam that waits under an entry of `PENDING`."""
    exam = EXAMS[framework]
    return next(
        (row, column)
        for row in exam.rows
        for column in exam.columns_of(row)
        if column.name.startswith(beginning)
    )
