"""A reply of a server whose body is another one.

In: the reply, and what stands in the place of its body: bytes, or a generator that makes them
when they are asked for. Out: a reply that the SDK reads like any other. The SDK speaks by
`httpx` or by `httpx2`; what is made here is of the kind that came in.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import suppress
from functools import cache
from inspect import isasyncgen, isgenerator
from typing import Any

__all__ = ["alater", "later", "now"]

_OF_THE_BODY = ("content-length", "content-encoding", "transfer-encoding")


def now(reply: Any, body: bytes) -> Any:
    """Return a reply with this body."""
    made = _made(reply, content=body)
    with suppress(RuntimeError):  # a transport that returns a body already read sets no time
        made.elapsed = reply.elapsed
    return made


def later(reply: Any, pieces: Generator[bytes], close: Callable[[], None]) -> Any:
    """Return a reply whose body is made while it is read.

    Args:
        reply: Of the server.
        pieces: Make the body; closed with it.
        close: Closes what they read.
    """
    return _made(reply, stream=_body(_library(reply))(pieces, close))


def alater(reply: Any, pieces: AsyncGenerator[bytes], close: Callable[[], Awaitable[None]]) -> Any:
    """Do the same for an awaiting client."""
    return _made(reply, stream=_abody(_library(reply))(pieces, close))


@cache
def _body(library: Any) -> type:
    class Body(library.SyncByteStream):  # type: ignore[misc]
        def __init__(self, pieces: Generator[bytes], close: Callable[[], None]) -> None:
            self._pieces = pieces
            self._close = close

        def __iter__(self) -> Iterator[bytes]:
            yield from self._pieces

        def close(self) -> None:
            # else another thread reads, and finds it closed
            if not (isgenerator(self._pieces) and self._pieces.gi_running):
                self._pieces.close()
            self._close()

    return Body


@cache
def _abody(library: Any) -> type:
    class Body(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(
            self, pieces: AsyncGenerator[bytes], close: Callable[[], Awaitable[None]]
        ) -> None:
            self._pieces = pieces
            self._close = close

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in self._pieces:
                yield piece

        async def aclose(self) -> None:
            # else another task reads, and finds it closed
            if not (isasyncgen(self._pieces) and self._pieces.ag_running):
                await self._pieces.aclose()
            await self._close()

    return Body


def _made(reply: Any, **body: Any) -> Any:
    headers = [(k, v) for k, v in reply.headers.multi_items() if k.lower() not in _OF_THE_BODY]
    return _library(reply).Response(
        reply.status_code,
        headers=headers,
        request=reply.request,
        extensions={
            name: value
            for name, value in reply.extensions.items()
            if name in ("http_version", "reason_phrase")
        },
        **body,
    )


def _library(reply: Any) -> Any:
    """Return `httpx` or `httpx2`, whichever the client uses; its reply may be of a subclass."""
    homes = (base.__module__.partition(".")[0] for base in type(reply).__mro__)
    return sys.modules[next(home for home in homes if home in ("httpx", "httpx2"))]
