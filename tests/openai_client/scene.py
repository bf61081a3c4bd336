"""A ferry office, its server and its clients. In: what the model says. Out: guarded clients."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI

from faithguard.testing import ChatServer
from faithguard_openai import GuardedOpenAI, guard

DOC = "The ferry leaves Ulvo at 8:15 and carries 40 cars. A ticket for a car costs 14 crowns."
GOOD = "The ferry leaves Ulvo at 8:15."
BAD = "The ferry leaves Ulvo at 9:45."
FALLBACK = "Please ask at the quay."
QUESTION = "When does the ferry leave Ulvo?"

_TLS = ssl.create_default_context()
"""Made once: it takes a client longer than its calls do."""

Reply = Callable[[list[dict[str, Any]]], Any]


def system(text: str = f"<document>{DOC}</document>") -> list[dict[str, Any]]:
    """Return messages whose system message holds a text."""
    return [{"role": "system", "content": text}, {"role": "user", "content": QUESTION}]


def better(messages: list[dict[str, Any]]) -> str:
    """Say it right only when told that it was wrong."""
    return GOOD if "not supported" in str(messages[-1]["content"]) else BAD


def client(server: ChatServer, **options: Any) -> OpenAI:
    """Return a client without a guard."""
    settings = {"base_url": server.url, "api_key": "none", "max_retries": 0, **options}
    return OpenAI(http_client=DefaultHttpxClient(verify=_TLS), **settings)


def async_client(server: ChatServer, **options: Any) -> AsyncOpenAI:
    """Return an awaiting client without a guard."""
    settings = {"base_url": server.url, "api_key": "none", "max_retries": 0, **options}
    return AsyncOpenAI(http_client=DefaultAsyncHttpxClient(verify=_TLS), **settings)


@contextmanager
def guarded(reply: Reply | str, **options: Any) -> Iterator[GuardedOpenAI]:
    """Open a server, and yield a guarded client of it."""
    say = reply if callable(reply) else lambda messages: reply
    with ChatServer(say) as server, client(server) as inner:
        yield guard(inner, **{"domain": "support", "sinks": [], **options})


def run(coroutine: Any) -> Any:
    """Run a coroutine to its end."""
    return asyncio.run(coroutine)
