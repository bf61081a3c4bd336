"""A server that tells events one by one, and callers that read them. In: a script. Out: what came.

Callers are written once, as coroutines that never wait where the client is a sync one.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from importlib import import_module
from inspect import isawaitable
from typing import Any

from openai import DefaultAsyncHttpxClient, DefaultHttpxClient, Timeout

from faithguard._loopback import LoopbackServer
from faithguard._protocols import Spoken
from faithguard._protocols import events as events_of
from faithguard_openai import guard

from .scene import DOC, QUESTION, async_client, client, system

Told = tuple[str | None, dict[str, Any]]
"""An event: its name, if it has one, and its data."""

Script = Callable[[dict[str, Any]], Iterable[Told]]
"""From the body of a request to the events of the reply; it may wait, or never end."""


class EventServer(LoopbackServer):
    """Tell events as a script says, each at once; a context manager.

    Args:
        script: What to tell, and when.
    """

    root = "/v1"

    def __init__(self, script: Script) -> None:
        self.requests: list[dict[str, Any]] = []
        self.left = threading.Event()
        """Set when a client has closed a stream before its end."""
        self.told = 0
        """Events that were sent."""
        self._script = script
        super().__init__()

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        asked = json.loads(body)
        self.requests.append(asked)
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")  # the stream ends with it
        handler.end_headers()
        try:
            for name, data in self._script(asked):
                named = f"event: {name}\n" if name else ""
                handler.wfile.write(f"{named}data: {json.dumps(data)}\n\n".encode())
                self.told += 1
            if "messages" in asked:
                handler.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            self.left.set()


# -- scripts --------------------------------------------------------------------------------------


def saying(said: Spoken, size: int = 7) -> Script:
    """Make a script that says it in pieces of this size."""
    return lambda body: recut(events_of(body, said), size)


def recut(events: Iterable[Told], size: int) -> Iterator[Told]:
    """Cut the text of events anew."""
    waiting: list[Told] = []
    text = ""
    for name, data in [*events, (None, {})]:
        piece = text_in(data)
        if piece:
            waiting, text = [(name, data)], text + piece
            continue
        for start in range(0, len(text), size):
            yield waiting[0][0], with_text(waiting[0][1], text[start : start + size])
        text = ""
        if data:
            yield name, data


def text_in(data: Mapping[str, Any]) -> str:
    """Return the text that an event adds."""
    if data.get("type") == "response.output_text.delta":
        return str(data["delta"])
    choices = data.get("choices") or [{}]
    return choices[0].get("delta", {}).get("content") or ""


def with_text(data: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the event with another text."""
    if "choices" not in data:
        return {**data, "delta": text}
    return {**data, "choices": [{**data["choices"][0], "delta": {"content": text}}]}


def endless(text: str) -> Script:
    """Make a script that says a text, and then the same sentence for ever."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        told = list(events_of(body, text))
        last = max(place for place, (_, data) in enumerate(told) if text_in(data))
        yield from told[: last + 1]
        name, data = told[last]
        while True:
            threading.Event().wait(0.002)
            yield name, with_text(data, " It carries 40 cars.")

    return script


# -- callers --------------------------------------------------------------------------------------


async def settled(value: Any) -> Any:
    """Await what has to be awaited."""
    return await value if isawaitable(value) else value


async def each(stream: Any) -> AsyncIterator[Any]:
    """Iterate over a stream of either kind."""
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


@asynccontextmanager
async def entered(manager: Any) -> AsyncIterator[Any]:
    """Enter a context manager of either kind."""
    if hasattr(manager, "__aenter__"):
        async with manager as inside:
            yield inside
    else:
        with manager as inside:
            yield inside


Use = Callable[[Any], Any]
"""What a caller does with a guarded client: a coroutine function."""


def played(
    server: Any, use: Use, *, is_async: bool, connections: int | None = None, **options: Any
) -> Any:
    """Let a caller use a guarded client of a server; return what it returns; sinks have all.

    Args:
        server: To connect to.
        use: What the caller does.
        is_async: Whether the client awaits.
        connections: The client's at most; a request waits for one for 2 seconds.
        options: Of the guard.
    """

    async def using() -> Any:
        inner: Any = async_client(server) if is_async else client(server)
        if connections is not None:
            kind = DefaultAsyncHttpxClient if is_async else DefaultHttpxClient
            # the SDK speaks by httpx or by httpx2
            library = import_module(kind.__mro__[1].__module__.partition(".")[0])
            few = kind(limits=library.Limits(max_connections=connections))
            inner = inner.copy(http_client=few, timeout=Timeout(10, pool=2))
        settings = {"domain": "support", "sinks": [], "stream": "claims", **options}
        safe = guard(inner, **settings)
        try:
            return await use(safe)
        finally:
            await asyncio.to_thread(safe.wait)
            await settled(inner.close())

    return asyncio.run(using())


def asked(chats: bool, **more: Any) -> Use:
    """Make a caller that asks for a stream."""

    async def ask(safe: Any) -> Any:
        body: dict[str, Any] = {"model": "m", "stream": True, **more}
        if chats:
            made = safe.chat.completions.create(**{"messages": system(), **body})
        else:
            told = {"instructions": f"<document>{DOC}</document>", "input": QUESTION}
            made = safe.responses.create(**{**told, **body})
        return await settled(made)

    return ask


def reading(chats: bool, **more: Any) -> Use:
    """Make a caller that reads a stream to its end, or to where it breaks off."""

    async def read(safe: Any) -> tuple[list[Any], Exception | None]:
        items: list[Any] = []
        try:
            async for item in each(await asked(chats, **more)(safe)):
                items.append(item)
        except Exception as error:
            return items, error
        return items, None

    return read


def texts(items: Iterable[Any]) -> list[str]:
    """Return the texts that chunks or events add."""
    found = (text_in(item.to_dict(warnings=False)) for item in items)
    return [text for text in found if text]
