"""What the streams of a call's models go through, so that they can be closed from the other end.

In: the streams that models return. Out: the same, until they are stopped. Between a model and
whoever reads an engine's answer lie generators of LlamaIndex's, and for chats a thread or a task
that reads the model to its end, whatever becomes of the reader.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any

__all__ = ["Flow"]


class Flow:
    """The open streams of the models in one attempt of one call.

    Args:
        wrote: Told what was written in a stream that is closed: its model tells of no end.
    """

    def __init__(self, wrote: Callable[[str], None]) -> None:
        self.wrote = wrote
        self.stopped = False
        """Whether nobody reads any more."""
        self._open: dict[int, Any] = {}
        """The asynchronous ones, by id."""

    def through(self, stream: Iterator[Any]) -> Generator[Any, None, None]:
        """Hand on a model's stream, and close it where it is stopped or closed."""
        try:
            for chunk in stream:
                if self.stopped:  # a thread that waits for a model cannot be woken sooner
                    return
                yield chunk
        finally:
            if (close := getattr(stream, "close", None)) is not None:
                close()

    async def athrough(self, stream: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        """Do the same, awaiting."""
        self._open[id(stream)] = stream
        try:
            async for chunk in stream:
                if self.stopped:
                    return
                yield chunk
        finally:
            await self._aclose(id(stream))

    def stop(self) -> None:
        """Have all streams end at their next piece."""
        self.stopped = True

    async def astop(self) -> None:
        """Close the asynchronous streams; nobody may be waiting for a piece of theirs.

        What lies between would be closed too, but later, by the event loop.
        """
        self.stopped = True
        for known in list(self._open):
            await self._aclose(known)

    async def _aclose(self, known: int) -> None:
        stream = self._open.pop(known, None)  # only once: closing may await, and others come here
        if (aclose := getattr(stream, "aclose", None)) is not None:
            await aclose()
