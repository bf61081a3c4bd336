"""What the streams of a call's models go through on their way to who reads the engine's answer.

In: the streams that models return, and the reader's. Out: the same; models write on only so far
ahead of the reader, and end where it does. Between the two lie generators of LlamaIndex's, and
for chats a thread or a task, which would read a model to its end whatever becomes of the reader.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any

__all__ = ["Flow"]

_AHEAD = 64
"""Pieces, most of them words, that a model may have written and nobody has asked for."""

_LOOK = 1.0
"""Seconds after which a thread that waits for a reader sees whether the process ends."""

_END = object()


class Flow:
    """The streams of the models in one attempt of one call, and the reader of its answer.

    Args:
        wrote: Told what was written in a stream that is closed: its model tells of no end.
    """

    def __init__(self, wrote: Callable[[str], None]) -> None:
        self.wrote = wrote
        self.stopped = False
        """Whether nobody reads any more."""
        self._handed_over = False
        """Whether the engine has returned; before, it reads its models itself."""
        self._waits = False
        """Whether the reader waits for the next piece."""
        self._ahead = 0
        self._changed = threading.Condition()  # protects these four
        self._woken = asyncio.Event()
        """Set when a model may write on; the reader and the model run in one event loop."""
        self._open: dict[int, Any] = {}
        """The asynchronous streams, by id."""

    # -- the models' side -------------------------------------------------------------------------

    def through(self, stream: Iterator[Any]) -> Generator[Any, None, None]:
        """Hand on a model's stream, and close it where it is stopped or closed."""
        try:
            for chunk in stream:
                # a thread that waits for its model cannot be stopped sooner
                if not self._go_on():
                    return
                yield chunk
        finally:
            if (close := getattr(stream, "close", None)) is not None:
                close()

    def _go_on(self) -> bool:
        """Wait until the reader is near enough; return False if there is none any more."""
        with self._changed:
            while not self._free() and not _in_event_loop():
                self._changed.wait(_LOOK)
                if not threading.main_thread().is_alive():  # which waits for all threads to end
                    return False
            self._ahead += self._handed_over
            return not self.stopped

    async def athrough(self, stream: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        """Do the same, awaiting."""
        self._open[id(stream)] = stream
        try:
            async for chunk in stream:
                while not self._free():
                    self._woken.clear()
                    await self._woken.wait()
                if self.stopped:
                    return
                self._ahead += self._handed_over
                yield chunk
        finally:
            await self._aclose(id(stream))

    def _free(self) -> bool:
        near = self._waits or self._ahead < _AHEAD
        return self.stopped or not self._handed_over or near

    # -- the reader's side ------------------------------------------------------------------------

    def hand_over(self) -> None:
        """Take that the engine has returned; from now on it is waited for who reads."""
        self._handed_over = True

    def read(self, tokens: Iterator[Any]) -> Generator[Any, None, None]:
        """Read an answer."""
        while True:
            self._wait(True)
            try:
                token = next(tokens, _END)
            finally:
                self._wait(False)
            if token is _END:
                return
            yield token

    async def aread(self, tokens: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        """Do the same, awaiting."""
        while True:
            self._wait(True)
            try:
                token = await anext(tokens, _END)
            finally:
                self._wait(False)
            if token is _END:
                return
            yield token

    def _wait(self, waits: bool) -> None:
        with self._changed:
            self._waits = waits
            if not waits:
                self._ahead = max(self._ahead - 1, 0)
            self._changed.notify_all()
        self._woken.set()

    def stop(self) -> None:
        """Have all streams end at their next piece."""
        with self._changed:
            self.stopped = True
            self._changed.notify_all()
        self._woken.set()

    async def astop(self) -> None:
        """Close the asynchronous streams; nobody may be waiting for a piece of theirs.

        What lies between would be closed too, but later, by the event loop.
        """
        self.stop()
        for known in list(self._open):
            await self._aclose(known)

    async def _aclose(self, known: int) -> None:
        stream = self._open.pop(known, None)  # only once: closing may await, and others come here
        if (aclose := getattr(stream, "aclose", None)) is not None:
            await aclose()


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
