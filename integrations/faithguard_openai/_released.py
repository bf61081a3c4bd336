"""A reply in events -> its bytes, of which each sentence, item or row comes once it is verified.

In: a guarded call, and the reply of the server, whose body was not read. Out: a generator of the
body that the caller gets, blocking or awaiting. What comes before the first text is told at once,
unless the model may be asked again: then nothing of an attempt is told before it is released.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from contextlib import aclosing, closing
from typing import Any

from faithguard import Exchange, Passage, UnfaithfulAnswerError
from faithguard.guard import note_of, with_passages
from faithguard.streaming import Again, StreamCourse, areleased, released
from faithguard_openai._call import Call, asked_again
from faithguard_openai._events import END, Event, EventReader, as_bytes
from faithguard_openai._retold import FaultError

__all__ = ["AsyncReleased", "Released"]

Body = Mapping[str, Any]


class SilentError(Exception):
    """A further attempt has called tools of the caller's and said nothing."""


class _Tale:
    """One call that is told on, without I/O."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.course = StreamCourse(call.settings, self._exchange)
        self.retold = call.retold()
        self.lead = ""
        """The text that was read before the course began."""
        self._fallback = ""
        self._turns: list[dict[str, Any]] = []
        self._found: tuple[Passage, ...] = ()

    def _exchange(self, text: str) -> Exchange:
        retold = self.retold
        return self._call.exchange(text, retold.finish_reason, retold.passages, self._found)

    def first(self, event: Event) -> bytes:
        """Read an event that may come before the first text; return what is told."""
        self.lead += self.retold.take(event)
        asks = self._call.settings.policy.on_fail == "regenerate"
        return b"" if asks else as_bytes(self.retold.passed())

    @property
    def speaks(self) -> bool:
        """Whether text has come, or none will."""
        return bool(self.lead.strip()) or self.retold.over

    @property
    def silent(self) -> bool:
        """Whether there is nothing to verify, once all was read."""
        retold = self.retold
        return not retold.begun or (retold.calls and not retold.written.strip())

    @property
    def keeps(self) -> bool:
        """Whether the server's stream is read on after the text was dealt with."""
        calls = self.retold.calls or self._call.may_be_called
        return self.retold.over or (self.course.blocked and calls)

    def again(self, again: Again) -> Body:
        """Return what to send to have another answer written."""
        self._turns += asked_again(self.retold.written, with_passages(*again))
        self._found += again.passages
        self.retold, self.lead = self._call.retold(), ""
        return self._call.asking_again(self._turns)

    def read(self) -> None:
        """Take that all of an attempt was read.

        Raises:
            SilentError: If there is nothing to verify.
        """
        self.course.cut = not self.retold.over
        if self.silent:
            raise SilentError

    def told(self, text: str) -> bytes:
        """Return what tells a text that was released."""
        if self.course.blocked:  # it is told once it is known what stands beside it
            self._fallback = text
            return b""
        return as_bytes(self.retold.told(text, self.course))

    def end(self, error: UnfaithfulAnswerError | None = None) -> bytes:
        """Return what is told last.

        Raises:
            UnfaithfulAnswerError: If the answer was held back, and nothing stands in its place.
        """
        note = None if self.silent else note_of(self.course.record)
        if not self.course.blocked or self.retold.calls:
            return as_bytes(self.retold.ended(note)) + END
        if error is not None:
            raise error
        return as_bytes(self.retold.blocked(self._fallback, note)) + END


class Released:
    """A reply of a server, told on.

    Args:
        call: The guarded request.
        reply: The first reply to it.
        send: Sends another body; returns the reply.
    """

    def __init__(self, call: Call, reply: Any, send: Callable[[Body], Any]) -> None:
        self._tale = _Tale(call)
        self._reply = reply
        self._events = _events_of(reply)
        self._send = send

    def close(self) -> None:
        """Close the server's stream."""
        self._reply.close()

    def pieces(self) -> Generator[bytes]:
        """Yield the body that the caller gets.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        tale, error = self._tale, None
        try:
            while not tale.speaks and (event := next(self._events, None)) is not None:
                if piece := tale.first(event):
                    yield piece
            try:
                if not tale.silent:
                    with closing(released(tale.course, self._texts)) as texts:
                        for text in texts:
                            if piece := tale.told(text):
                                yield piece
            except UnfaithfulAnswerError as blocked:
                error = blocked
            except SilentError:
                pass
            while tale.keeps and (event := next(self._events, None)) is not None:
                tale.retold.take(event)
            yield tale.end(error)
        except FaultError as fault:
            yield as_bytes([fault.event]) + END
        finally:
            self.close()

    def _texts(self, again: Again | None) -> Iterator[str]:
        tale = self._tale
        if again is not None:
            self.close()
            self._reply = self._send(tale.again(again))
            self._events = _events_of(self._reply)
        try:
            if tale.lead:
                yield tale.lead
            while not tale.retold.over and (event := next(self._events, None)) is not None:
                if text := tale.retold.take(event):
                    yield text
            tale.read()
        finally:
            if not tale.keeps:
                self.close()


class AsyncReleased:
    """The same for an awaiting client."""

    def __init__(self, call: Call, reply: Any, send: Callable[[Body], Awaitable[Any]]) -> None:
        self._tale = _Tale(call)
        self._source = _AsyncSource(reply)
        self._send = send

    async def close(self) -> None:
        """Close the server's stream."""
        await self._source.close()

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Yield the body that the caller gets.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        tale, error = self._tale, None
        try:
            while not tale.speaks and (event := await self._source.next()) is not None:
                if piece := tale.first(event):
                    yield piece
            try:
                if not tale.silent:
                    async with aclosing(areleased(tale.course, self._texts)) as texts:
                        async for text in texts:
                            if piece := tale.told(text):
                                yield piece
            except UnfaithfulAnswerError as blocked:
                error = blocked
            except SilentError:
                pass
            while tale.keeps and (event := await self._source.next()) is not None:
                tale.retold.take(event)
            yield tale.end(error)
        except FaultError as fault:
            yield as_bytes([fault.event]) + END
        finally:
            await self.close()

    async def _texts(self, again: Again | None) -> AsyncIterator[str]:
        tale = self._tale
        if again is not None:
            await self.close()
            self._source = _AsyncSource(await self._send(tale.again(again)))
        try:
            if tale.lead:
                yield tale.lead
            while not tale.retold.over and (event := await self._source.next()) is not None:
                if text := tale.retold.take(event):
                    yield text
            tale.read()
        finally:
            if not tale.keeps:
                await self.close()


class _AsyncSource:
    """The events of a reply; where who waits for one is cancelled, another may go on."""

    def __init__(self, reply: Any) -> None:
        self._reply = reply
        self._events = _aevents_of(reply)
        self._waiting: asyncio.Task[Event | None] | None = None

    async def next(self) -> Event | None:
        """Return the next event; None at the end."""
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._next())
        waiting = self._waiting
        try:
            event = await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if not waiting.cancelled():
                raise
            event = None  # closed by another task
        self._waiting = None
        return event

    async def _next(self) -> Event | None:
        return await anext(self._events, None)

    async def close(self) -> None:
        """Close the reply."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)
        await self._reply.aclose()


def _events_of(reply: Any) -> Iterator[Event]:
    reader = EventReader()
    for piece in reply.iter_bytes():
        yield from reader.read(piece)
        if reader.ended:
            return
    yield from reader.rest()


async def _aevents_of(reply: Any) -> AsyncIterator[Event]:
    reader = EventReader()
    async for piece in reply.aiter_bytes():
        for event in reader.read(piece):
            yield event
        if reader.ended:
            return
    for event in reader.rest():
        yield event
