"""One cell of the table. In: a row (way and shape) and a column. Out: what is wrong, or nothing.

Each cell is three runs. Without the guard the false sentence reaches the caller: a cell that
cannot show a leak proves nothing. With the guard it does not, and what is due comes instead.
And a faithful answer arrives unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from faithguard import UnfaithfulAnswerError
from faithguard_langchain import guard

from . import graphs, ways
from .chains import HISTORY, LAMBDAS, MESSAGE, SHAPES, STREAMING, TEXT, Shape
from .scene import (
    BAD,
    FALLBACK,
    GOOD,
    LIE,
    QUESTION,
    Script,
    faithful,
    improving,
    leaks,
    unfaithful,
)
from .ways import Received, Way


@dataclass(frozen=True, slots=True)
class Row:
    """A way of calling a chain of one shape."""

    way: Way
    shape: Shape

    @property
    def name(self) -> str:
        """Name way and shape."""
        return f"{self.way.name} | {self.shape.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What the guard is asked to do, and what is due to the caller then."""

    name: str
    options: Mapping[str, Any]
    script: Script = field(default=unfaithful)
    due: str | None
    """The text due instead of the bad answer; `None` is the exception."""
    attempts: int
    """How often the model is asked for one question."""


BLOCK = Column(name="block", options={"on_fail": "block"}, due=None, attempts=1)
BLOCK_WITH_FALLBACK = Column(
    name="block, fallback",
    options={"on_fail": "block", "fallback": FALLBACK},
    due=FALLBACK,
    attempts=1,
)
REGENERATE = Column(
    name="regenerate",
    options={"on_fail": "regenerate", "max_attempts": 2},
    script=improving,
    due=GOOD,
    attempts=2,
)
REGENERATE_IN_VAIN = Column(
    name="regenerate in vain",
    options={"on_fail": "regenerate", "max_attempts": 2},
    due=None,
    attempts=2,
)
COLUMNS = (BLOCK, BLOCK_WITH_FALLBACK, REGENERATE, REGENERATE_IN_VAIN)

ROWS = (
    *(Row(way, shape) for shape in SHAPES for way in ways.CORE),
    *(Row(way, TEXT) for way in (*ways.OTHER, *ways.LARGER)),
    *(Row(way, MESSAGE) for way in graphs.ALL),
    *(Row(way, shape) for way in graphs.WHOLE for shape in (TEXT, LAMBDAS, STREAMING)),
    *(Row(way, HISTORY) for way in ways.REMEMBERING),
)

LEFT_OUT: Mapping[str, str] = {
    "stream_events, astream_events v3 of a chain": (
        "langchain-core has them for models and graphs only; the graphs are in the table"
    ),
    "transform, atransform of chains with a dict as input": (
        "a dict does not come in pieces; `stream` calls `transform` with the whole"
    ),
    "handlers given to the model's constructor or bound inside the chain": (
        "the host's own wiring; only handlers in the config of the call are asked for"
    ),
}
"""What the table has no cell for, and why; printed under it."""


@cache
def unguarded(row: Row, script: Script) -> Received:
    """Run a row without a guard; the same for every column."""
    shape = row.shape
    return row.way.receive(shape.build(shape.model(script)), shape.ask(QUESTION))


def wrong(row: Row, column: Column) -> Iterator[str]:
    """Say what is wrong with a cell, run by run; a good cell yields nothing."""
    yield from (f"unguarded: {fault}" for fault in blind(row))
    yield from (f"bad answer: {fault}" for fault in leaked(row, column))
    yield from (f"faithful answer: {fault}" for fault in changed(row, column))


def blind(row: Row) -> Iterator[str]:
    """Check that this way of calling shows the false sentence when nobody guards it."""
    received = unguarded(row, unfaithful)
    if received.errors:
        yield f"raised {received.errors[0]!r}"
    if not leaks(received.text):
        yield "the marker is in nothing the caller received"
    if not all(LIE in answer for answer in received.answers) or not received.answers:
        yield f"the false sentence is not in the answers {received.answers!r}"
    if not all(leaks(kept) for kept in received.kept):
        yield "the marker is not in what stays behind"


def leaked(row: Row, column: Column) -> Iterator[str]:
    """Check that no part of the false sentence gets out, and that what is due comes."""
    shape = row.shape
    model = shape.model(column.script)
    guarded = guard(shape.build(model), **column.options, **shape.keys)
    received = row.way.receive(guarded, shape.ask(QUESTION))

    if markers := leaks(received.text):
        yield f"{', '.join(markers)} reached the caller in {_places(received)}"
    yield from _not_due(row, column, received)
    questions, most = row.way.questions, row.way.questions * column.attempts
    least = most if questions == 1 or column.due else column.attempts
    if not least <= len(model.calls) <= most:
        yield f"the model was asked {len(model.calls)} times, not {most}"


def _places(received: Received) -> str:
    pieces = (type(p).__name__ for p in received.pieces if leaks(ways.written(p)))
    return ", ".join(dict.fromkeys(pieces))


def _not_due(row: Row, column: Column, received: Received) -> Iterator[str]:
    if column.due is None:
        if not received.errors:
            yield "no exception reached the caller"
        for error in received.errors:
            if not isinstance(error, UnfaithfulAnswerError):
                yield f"{error!r} instead of UnfaithfulAnswerError"
        if any(received.answers):
            yield f"an answer besides the exception: {received.answers!r}"
        return
    if received.errors:
        yield f"raised {received.errors[0]!r}"
    wanted = (column.due,) * len(unguarded(row, faithful).answers)
    if received.answers != wanted:
        yield f"due were {wanted!r}, not {received.answers!r}"


def changed(row: Row, column: Column) -> Iterator[str]:
    """Check that a faithful answer arrives byte for byte, after one call of the model."""
    shape = row.shape
    model = shape.model(faithful)
    guarded = guard(shape.build(model), **column.options, **shape.keys)
    received = row.way.receive(guarded, shape.ask(QUESTION))

    if received.errors:
        yield f"raised {received.errors[0]!r}"
    if received.answers != (plain := unguarded(row, faithful).answers):
        yield f"{received.answers!r} instead of {plain!r}"
    if set(plain) != {GOOD}:
        yield f"the chain without a guard says {plain!r}"
    if len(model.calls) != row.way.questions:
        yield f"the model was asked {len(model.calls)} times, not {row.way.questions}"


assert not leaks(GOOD + FALLBACK)
assert leaks(BAD)
