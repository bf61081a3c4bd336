"""One cell of the agents' table. In: a row (way and shape) and a column. Out: what is wrong.

The same three runs as in `cells`. Beside what the caller received each cell looks into the
store: all checkpoints, all writes, and the prompts of a second turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from faithguard import UnfaithfulAnswerError

from . import agent_ways as ways
from . import agents
from .agent_scene import only_lie
from .agent_ways import Way
from .agents import Desk, Options, Shape
from .cells import BLOCK, BLOCK_WITH_FALLBACK, REGENERATE, REGENERATE_IN_VAIN, Column
from .scene import BAD, GOOD, LIE, TRUE, Script, faithful, leaks, unfaithful
from .ways import Received, written

FLAG = Column(name="flag", options={"on_fail": "flag"}, due=BAD, attempts=1)
REPAIR = Column(name="repair", options={"on_fail": "repair"}, due=TRUE, attempts=1)
REPAIR_IN_VAIN = Column(
    name="repair in vain",
    options={"on_fail": "repair"},
    script=only_lie,
    due=None,
    attempts=1,
)
"""Nothing is left to deliver, so the next action is to block."""

WHOLE = (BLOCK, BLOCK_WITH_FALLBACK, REGENERATE, REGENERATE_IN_VAIN, FLAG)
COLUMNS = (*WHOLE, REPAIR, REPAIR_IN_VAIN)


@dataclass(frozen=True, slots=True)
class Row:
    """A way of calling an agent or a graph of one shape."""

    way: Way
    shape: Shape

    @property
    def name(self) -> str:
        """Name way and shape."""
        return f"{self.way.name} | {self.shape.name}"


def columns_of(row: Row) -> Sequence[Column]:
    """Return the columns that apply to a row."""
    return COLUMNS if row.shape.form == "text" else WHOLE


CORE_AND_V3 = (*ways.CORE, *ways.NUMBERED[-2:])

ROWS = (
    *(Row(way, agents.ONE_TOOL) for way in ways.ALL),
    *(Row(way, shape) for shape in agents.AGENTS if shape != agents.ONE_TOOL for way in ways.CORE),
    *(Row(way, shape) for shape in agents.STRUCTURED for way in CORE_AND_V3),
    *(Row(way, agents.NARRATED) for way in (*ways.CUSTOM, *ways.CORE, *ways.TOGETHER)),
    *(Row(way, shape) for shape in agents.PLACED for way in CORE_AND_V3),
    *(Row(way, shape) for shape in agents.DOUBLED for way in CORE_AND_V3),
    *(Row(way, agents.DOUBLED[0]) for way in (*ways.ONE_MODE, *ways.TURNS)),
    *(Row(way, agents.TWO_HOPS) for way in (*ways.ONE_MODE, *ways.NESTED, *ways.TURNS)),
    *(Row(way, agents.MESSAGES_NODE) for way in ways.ALL),
    *(Row(way, shape) for shape in agents.NODES[1:] for way in (*CORE_AND_V3, *ways.NESTED)),
    *(Row(way, agents.CHAIN_NODE) for way in (*ways.ONE_MODE, *ways.OTHER)),
    *(Row(way, shape) for shape in agents.ASYNC_NODES for way in ways.ASYNC_CORE),
    *(Row(way, agents.ASYNC_NODE) for way in ways.ASYNC_MORE),
    *(Row(way, agents.TOOL_NODE) for way in ways.TURNS),
)

LEFT_OUT: Mapping[str, str] = {
    "repair of structured answers": (
        "text in the fields of a form; the guard may repair it or take the next action"
    ),
    "text that a model writes beside a tool call": "only final answers are promised",
    "custom mode where nobody writes to it": (
        "nothing could leak there; the agent with a narrator before the guard is in the table"
    ),
    "a middleware behind the guard that itself writes the model's text elsewhere": (
        "the host's own wiring, inside what is guarded; those before the guard are in the table"
    ),
    "invoke and stream of a graph with a coroutine node": "LangGraph refuses it",
    "messages mode of structured answers by itself": (
        "the deltas of a JSON text are no answer to read; it is among all modes"
    ),
}
"""What the table has no cell for, and why; printed under it."""


def received(row: Row, script: Script, options: Options | None) -> tuple[Received, Desk]:
    """Run a row."""
    desk = Desk(shape=row.shape, model=row.shape.model(script), options=options)
    return row.way.receive(desk), desk


@cache
def unguarded(row: Row, script: Script) -> Received:
    """Run a row without a guard; the same for every column."""
    return received(row, script, None)[0]


def wrong(row: Row, column: Column) -> Iterator[str]:
    """Say what is wrong with a cell, run by run; a good cell yields nothing."""
    yield from (f"unguarded: {fault}" for fault in blind(row))
    yield from (f"bad answer: {fault}" for fault in leaked(row, column))
    yield from (f"faithful answer: {fault}" for fault in changed(row, column))


def blind(row: Row) -> Iterator[str]:
    """Check that this way of calling shows the false sentence when nobody guards it."""
    bare = unguarded(row, unfaithful)
    if bare.errors:
        yield f"raised {bare.errors[0]!r}"
    if not any(leaks(written(p)) for p in bare.pieces if not isinstance(p, ways.Kept)):
        yield "the marker is in nothing the caller received"
    first = bare.answers[: row.way.questions]
    if not all(LIE in answer for answer in first) or len(first) != row.way.questions:
        yield f"the false sentence is not in the answers {bare.answers!r}"
    if not all(leaks(kept) for kept in bare.kept):
        yield "the marker is not in what stays behind"
    honest = unguarded(row, faithful).answers
    if honest != (GOOD,) * row.way.questions + row.way.then:
        yield f"the true answers are {honest!r}"


def leaked(row: Row, column: Column) -> Iterator[str]:
    """Check that no part of the false sentence gets out, and that what is due comes."""
    got, desk = received(row, column.script, column.options)
    if not leaks(column.due or ""):
        for piece in got.pieces:
            if markers := leaks(written(piece)):
                yield f"{', '.join(markers)} in a {type(piece).__name__}"
    yield from _not_due(row, column, got)
    yield from _asked(row, column.attempts, column.due is None, desk)


def _not_due(row: Row, column: Column, got: Received) -> Iterator[str]:
    if column.due is None:
        if not got.errors:
            yield "no exception reached the caller"
        for error in got.errors:
            if not isinstance(error, UnfaithfulAnswerError):
                yield f"{error!r} instead of UnfaithfulAnswerError"
        if tuple(answer for answer in got.answers if answer) != row.way.then:
            yield f"an answer besides the exception: {got.answers!r}"
        return
    if got.errors:
        yield f"raised {got.errors[0]!r}"
    # what stands before a sentence that was dropped may stay
    answers = tuple(answer.rstrip() for answer in got.answers)
    wanted = (column.due,) * row.way.questions + row.way.then
    if answers != wanted:
        yield f"due were {wanted!r}, not {answers!r}"


def _asked(row: Row, attempts: int, raises: bool, desk: Desk) -> Iterator[str]:
    hops = len(row.shape.plan)
    most = row.way.questions * (hops + attempts) + len(row.way.then) * (hops + 1)
    # in a batch the first exception may end the other question
    least = hops + attempts if raises and row.way.questions > 1 else most
    if not least <= (count := len(desk.model.calls)) <= most:
        yield f"the model was asked {count} times, not {most}"


def changed(row: Row, column: Column) -> Iterator[str]:
    """Check that a faithful answer arrives byte for byte, after one call of the model a hop."""
    got, desk = received(row, faithful, column.options)
    if got.errors:
        yield f"raised {got.errors[0]!r}"
    if got.answers != (plain := unguarded(row, faithful).answers):
        yield f"{got.answers!r} instead of {plain!r}"
    yield from _asked(row, 1, False, desk)
