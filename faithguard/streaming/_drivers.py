"""A `StreamCourse` and a model's stream -> what is released, blocking or awaiting.

Blocking, a unit is verified in the reader's own thread as soon as it is there, before the model
is read on: a model behind a socket writes on into that meanwhile, and a context, a thread or a
close never has to be shared (`tests/bench/streams.py` shows that no time is lost). Awaiting, one
task reads the model, at most two units ahead of the reader, and the reader's own verifies.
`pushed` and `apushed` are for who does not read the model but is told of what it writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, asynccontextmanager
from contextvars import Context, copy_context
from typing import Any, cast

from faithguard._offload import offload
from faithguard.claims._growing import Unit
from faithguard.guard import amore_passages, more_passages
from faithguard.repair import Rewrite
from faithguard.streaming._course import Again, Move, StreamCourse
from faithguard.types import Exchange

__all__ = ["apushed", "areleased", "pushed", "released"]


def released(
    course: StreamCourse, ask: Callable[[Again | None], Iterator[str]]
) -> Generator[str, None, None]:
    """Yield what is released of a stream, blocking.

    Args:
        course: Of the stream.
        ask: Returns the pieces of text of the model's stream. It and they run in a context of
            their own, the same throughout.

    Raises:
        UnfaithfulAnswerError: If the stream is blocked and there is no fallback.
    """
    again = None
    try:
        while True:
            move = yield from _attempt(course, copy_context(), ask, again)
            if move.feedback is None:
                break
            hook = course.settings.more_context
            again = Again(move.feedback, more_passages(hook, course.report.unsupported))
        if move.text:
            yield move.text
    except BaseException as error:
        course.left(error)
        raise
    course.raise_if_blocked()


def _attempt(
    course: StreamCourse,
    context: Context,
    ask: Callable[[Again | None], Iterator[str]],
    again: Again | None,
) -> Generator[str, None, Move]:
    pieces = context.run(lambda: iter(ask(again)))
    try:
        for unit in _units(course, context, pieces):
            move = _settled(course, unit)
            if move.ends:
                return move
            if move.text:
                yield move.text
            course.waits()
        return course.finish()
    finally:
        if (close := getattr(pieces, "close", None)) is not None:
            context.run(close)


def _units(course: StreamCourse, context: Context, pieces: Iterator[str]) -> Iterator[Unit]:
    end = object()
    while (piece := context.run(next, pieces, end)) is not end:
        yield from _told(course, cast(str, piece))
    yield from _told(course, None)


def pushed(course: StreamCourse, piece: str | None) -> Iterator[Move]:
    """Yield what is to be done about a piece of text that a model wrote, blocking.

    The last move is the first that `ends`; nothing may be pushed after it, but what a model that
    is asked again writes.

    Args:
        course: Of the stream.
        piece: What the model wrote; None where it has ended.
    """
    for unit in _told(course, piece):
        yield (move := _settled(course, unit))
        if move.ends:
            return
        course.waits()
    if piece is None:
        yield course.finish()


async def apushed(course: StreamCourse, piece: str | None) -> AsyncGenerator[Move, None]:
    """Do the same, awaiting."""
    for unit in _told(course, piece):
        yield (move := await _asettled(course, unit))
        if move.ends:
            return
        course.waits()
    if piece is None:
        yield course.finish()


def _told(course: StreamCourse, piece: str | None) -> Iterator[Unit]:
    if piece is None:
        yield from course.rest()
        return
    yield from course.add(piece)
    if (unit := course.overdue()) is not None:
        yield unit


def _settled(course: StreamCourse, unit: Unit) -> Move:
    steps = course.check(unit)
    call, move = _step(steps, None)
    while call is not None:
        if isinstance(call, Rewrite):
            reply: Any = call.ask()
        else:
            reply = course.settings.scorer.score(call, after=course.progress)
        call, move = _step(steps, reply)
    course.moved()
    return move


def _step(
    steps: Generator[Exchange | Rewrite, Any, Move], reply: Any
) -> tuple[Exchange | Rewrite | None, Move]:
    """Return the next call, or None and what is to be done."""
    try:
        return steps.send(reply), Move()
    except StopIteration as end:
        return None, end.value


async def areleased(
    course: StreamCourse, ask: Callable[[Again | None], AsyncIterator[str]]
) -> AsyncGenerator[str, None]:
    """Do the same, awaiting; the model is read while a unit is verified.

    Args:
        course: Of the stream.
        ask: Returns the pieces of text of the model's stream. One task iterates over it and
            closes it.

    Raises:
        UnfaithfulAnswerError: If the stream is blocked and there is no fallback.
    """
    again = None
    try:
        while True:
            move = Move()
            async with aclosing(_moves(course, ask, again)) as moves:
                async for move in moves:
                    if move.ends:
                        break
                    if move.text:
                        yield move.text
            if move.feedback is None:
                break
            hook = course.settings.more_context
            again = Again(move.feedback, await amore_passages(hook, course.report.unsupported))
        if move.text:
            yield move.text
    except BaseException as error:
        course.left(error)
        raise
    course.raise_if_blocked()


async def _moves(
    course: StreamCourse, ask: Callable[[Again | None], AsyncIterator[str]], again: Again | None
) -> AsyncGenerator[Move, None]:
    reader = _Reader(course, ask, again)
    try:
        while (unit := await reader.unit()) is not None:
            yield await _asettled(course, unit)
        yield course.finish()
    finally:
        await reader.close()


class _Reader:
    """The task that reads a model's stream."""

    def __init__(
        self,
        course: StreamCourse,
        ask: Callable[[Again | None], AsyncIterator[str]],
        again: Again | None,
    ) -> None:
        self._course = course
        self._units: asyncio.Queue[Unit | BaseException | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(1)
        """Of units; the end has its place, so that a task that nobody reads can end, too."""
        self._handing = False
        """Whether a unit waits for its place in the queue."""
        self._closing = False
        self._task = asyncio.create_task(self._read(ask, again))

    async def _read(
        self, ask: Callable[[Again | None], AsyncIterator[str]], again: Again | None
    ) -> None:
        end: BaseException | None = None
        try:
            async with _closed(ask(again)) as pieces:
                async for piece in pieces:
                    if self._closing:  # some streams catch a cancellation, `asyncio.wait_for` did
                        raise asyncio.CancelledError
                    for unit in self._course.add(piece):
                        await self._hand(unit)
            for unit in self._course.rest():
                await self._hand(unit)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise  # the event loop's own
        except BaseException as error:
            if self._closing:
                return  # a task that keeps an error keeps all that the error's frames hold
            end = error
        self._units.put_nowait(end)

    async def _hand(self, unit: Unit) -> None:
        self._handing = True
        await self._room.acquire()
        self._units.put_nowait(unit)
        self._handing = False

    async def unit(self) -> Unit | None:
        """Return the next unit; None at the end.

        Raises:
            BaseException: What the model's stream raises.
        """
        self._course.waits()
        while True:
            try:
                async with asyncio.timeout(self._course.patience()):
                    item = await self._units.get()
                if isinstance(item, Unit):
                    self._room.release()
            except TimeoutError:
                quiet = self._units.empty() and not self._handing
                item = self._course.overdue() if quiet else None
                if item is None:
                    continue
            if isinstance(item, BaseException):
                raise item
            return item

    async def close(self) -> None:
        """Cancel the task and wait until the model's stream is closed."""
        self._closing = True
        self._task.cancel()
        await asyncio.wait([self._task])


@asynccontextmanager
async def _closed(pieces: AsyncIterator[str]) -> AsyncGenerator[AsyncIterator[str]]:
    """Close what can be closed."""
    try:
        yield pieces
    finally:
        if (aclose := getattr(pieces, "aclose", None)) is not None:
            await aclose()


async def _asettled(course: StreamCourse, unit: Unit) -> Move:
    steps = course.check(unit)
    call, move = _step(steps, None)
    while call is not None:
        if isinstance(call, Rewrite):
            reply: Any = await call.aask()
        else:
            reply = await course.settings.scorer.ascore(call, after=course.progress)
        if course.mends:  # what to change keeps a core busy
            call, move = await offload(_step, steps, reply)
        else:
            call, move = _step(steps, reply)
    course.moved()
    return move
