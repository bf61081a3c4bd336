"""A reply of a server whose body is another one.

In: the reply, and what stands in the place of its body: bytes, or a reader that makes them when
they are asked for. Out: a reply that the SDK reads like any other. The SDK speaks by `httpx` or
by `httpx2`; what is made here is of the kind that came in.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import cache
from typing import Any

__all__ = ["alater", "later", "now"]

_OF_THE_BODY = ("content-length", "content-encoding", "transfer-encoding")


def now(reply: Any, body: bytes) -> Any:
    """Return a reply with this body."""
    made = _made(reply, content=body)
    made.elapsed = reply.elapsed
    return made


def later(reply: Any, read: Callable[[], bytes]) -> Any:
    """Return a reply whose body is made when it is read."""
    return _made(reply, stream=_body(_library(reply))(reply, read))


def alater(reply: Any, read: Callable[[], Awaitable[bytes]]) -> Any:
    """Do the same for an awaiting client."""
    return _made(reply, stream=_abody(_library(reply))(reply, read))


@cache
def _body(library: Any) -> type:
    class Body(library.SyncByteStream):  # type: ignore[misc]
        def __init__(self, reply: Any, read: Callable[[], bytes]) -> None:
            self._reply = reply
            self._read = read

        def __iter__(self) -> Iterator[bytes]:
            yield self._read()

        def close(self) -> None:
            self._reply.close()

    return Body


@cache
def _abody(library: Any) -> type:
    class Body(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, reply: Any, read: Callable[[], Awaitable[bytes]]) -> None:
            self._reply = reply
            self._read = read

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield await self._read()

        async def aclose(self) -> None:
            await self._reply.aclose()

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
