"""There is no path of a guarded client to an answer that was not verified."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from openai import OpenAI
from openai._resource import AsyncAPIResource, SyncAPIResource

from faithguard import ConfigError
from faithguard._protocols import whole
from faithguard.testing import ChatServer
from faithguard_openai import guard
from faithguard_openai._routes import kind_of

from .scene import BAD, FALLBACK, QUESTION, async_client, client, run, system

BODY: dict[str, Any] = {"model": "m", "messages": system()}
ITEMS: dict[str, Any] = {"model": "m", "input": QUESTION}


def resources(client: Any) -> Iterator[tuple[str, Any]]:
    """Yield what can be reached of a client, with its path; each object once."""
    seen: set[int] = set()
    open_: list[tuple[str, Any]] = [("client", client)]
    while open_:
        path, value = open_.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield path, value
        names = [name for name in dir(type(value)) if not name.startswith("_")]
        for name in [*names, "_client"]:
            static = inspect.getattr_static(type(value), name, None)
            if inspect.isfunction(static):
                continue
            found = getattr(value, name, None)
            kind = type(found).__name__
            known = isinstance(found, SyncAPIResource | AsyncAPIResource | type(client))
            if known or kind.endswith(("RawResponse", "StreamedResponse", "StreamingResponse")):
                open_.append((f"{path}.{name}", found))


def needed(function: Callable[..., Any]) -> dict[str, str]:
    """Return something for each argument that a function cannot do without."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: "x" for p in parameters if p.default is p.empty}


@pytest.mark.parametrize("is_async", [False, True])
def test_no_object_that_can_be_reached_is_the_client_inside(is_async: bool) -> None:
    """Every resource calls the guarded client's own methods; no socket can be opened."""
    with ChatServer(lambda messages: BAD) as server:
        inner: Any = async_client(server) if is_async else client(server)
        inner.chat.completions, inner.beta.chat.completions, inner.responses  # noqa: B018 - made
        pytest.importorskip("websockets", reason="pip install websockets: sockets are tried")
        safe: Any = guard(inner, domain="support", sinks=[])
        reached = dict(resources(safe))
        sockets = [value for value in reached.values() if hasattr(value, "connect")]
        for value in sockets:
            manager = value.connect(**needed(value.connect))
            with pytest.raises(ConfigError, match="opens no sockets"):
                run(manager.__aenter__()) if is_async else manager.__enter__()
        owners = {getattr(v, "_client", safe) for v in reached.values() if v is not safe}

    assert len(reached) > 60
    assert len(sockets) >= 3
    assert owners == {safe}


PATHS: dict[str, Callable[[Any], Any]] = {
    "create": lambda c: c.chat.completions.create(**BODY),
    "raw": lambda c: c.chat.completions.with_raw_response.create(**BODY).parse(),
    "raw of chat": lambda c: c.chat.with_raw_response.completions.create(**BODY).parse(),
    "raw of all": lambda c: c.with_raw_response.chat.completions.create(**BODY).parse(),
    "beta": lambda c: c.beta.chat.completions.parse(**BODY),
    "embeddings' client": lambda c: c.embeddings._client.chat.completions.create(**BODY),
    "post": lambda c: c.post("/chat/completions", cast_to=object, body=BODY),
    "post, no slash": lambda c: c.post("chat/completions", cast_to=object, body=BODY),
    "post, whole": lambda c: c.post(f"{c.base_url}chat/completions", cast_to=object, body=BODY),
    "post, odd": lambda c: c.post("/x/..//CHAT/completion%73/?a=b", cast_to=object, body=BODY),
    "post of models": lambda c: c.models._post("/chat/completions", cast_to=object, body=BODY),
    "responses": lambda c: c.responses.create(**ITEMS),
    "beta responses": lambda c: c.beta.responses.create(**ITEMS),
    "raw responses": lambda c: c.with_raw_response.responses.create(**ITEMS).parse(),
    "post responses": lambda c: c.post("/responses", cast_to=object, body=ITEMS),
    "copied": lambda c: c.copy().with_options(timeout=9).chat.completions.create(**BODY),
}


@pytest.mark.parametrize("path", PATHS)
def test_every_path_is_guarded(path: str) -> None:
    """The fallback comes, whichever way is taken."""
    with ChatServer(lambda messages: BAD) as server, client(server) as inner:
        reply = PATHS[path](guard(inner, domain="support", fallback=FALLBACK, sinks=[]))
    said = reply if isinstance(reply, dict) else reply.to_dict()

    assert FALLBACK in str(said)
    assert "9:45" not in str(said)


REFUSED: dict[str, Callable[[OpenAI], Any]] = {
    "legacy": lambda c: c.completions.create(model="m", prompt="x"),
    "legacy, posted": lambda c: c.post("/completions", cast_to=object, body={}),
    "stored ones": lambda c: c.chat.completions.list(),
    "stored messages": lambda c: c.chat.completions.messages.list("chat-1"),
    "input items": lambda c: c.responses.input_items.list("resp-1"),
    "compact": lambda c: c.responses.compact(model="m"),
    "threads": lambda c: c.get("/threads/t/messages", cast_to=object),
    "runs": lambda c: c.post("/threads/runs", cast_to=object, body={}),
    "realtime": lambda c: c.realtime.client_secrets.create(),
    "conversation": lambda c: c.conversations.items.list("conv-1"),
    "agents": lambda c: c.post("/agents/a/runs", cast_to=object, body={}),
    "unknown": lambda c: c.get("/whatever", cast_to=object),
    "batch": lambda c: c.batches.create(
        completion_window="24h", endpoint="/v1/chat/completions", input_file_id="f"
    ),
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_not_guarded_is_refused(path: str) -> None:
    """Before anything is sent; the message says what to do."""
    with ChatServer(lambda messages: BAD) as server, client(server) as inner:
        safe = guard(inner, domain="support", sinks=[])
        with pytest.raises(ConfigError, match=r"does not do (POST|GET) .*: .*(use|guard)"):
            list(REFUSED[path](safe))

        assert server.requests == []


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        ("post", "/embeddings", {"input": "x"}),
        ("get", "/models", None),
        ("get", "/files/f/content", None),
        ("delete", "/chat/completions/c", None),
        ("delete", "/responses/r", None),
        ("post", "/responses/input_tokens", {}),
        ("post", "/conversations", {}),
        ("delete", "/conversations/c/items/i", None),
        ("get", "/organization/usage/completions", None),
        ("post", "/batches", {"endpoint": "/v1/embeddings"}),
        ("get", "/batches/b", None),
    ],
)
def test_everything_else_passes_through(method: str, address: str, body: Any) -> None:
    """What holds no answer is none of a guard's business."""
    assert kind_of(method, address, body) is None
    assert kind_of(method, f"http://quay/v1{address}", body, base="/v1/") is None


class Store(BaseHTTPRequestHandler):
    """Has one answer of each API in store."""

    def do_GET(self) -> None:
        """Give it out."""
        body = BODY if "chat" in self.path else ITEMS
        data = json.dumps(whole(body, [{"content": BAD}])).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal clean."""


def test_a_stored_answer_is_checked_against_the_context_that_is_named() -> None:
    """Nobody can be asked for it again, so it is delivered or held back."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        with OpenAI(base_url=url, api_key="none", max_retries=0) as inner:
            safe = guard(inner, on_fail="regenerate", fallback=FALLBACK, sinks=[])
            told = safe.with_context(BAD)
            chat, response = safe.chat.completions.retrieve("c"), safe.responses.retrieve("r")
            assert chat.choices[0].message.content == response.output_text == FALLBACK
            assert told.chat.completions.retrieve("c").choices[0].message.content == BAD
            assert told.responses.retrieve("r").output_text == BAD
        server.shutdown()


def test_async_paths_are_guarded_alike() -> None:
    """By the same exit."""

    async def asked() -> list[Any]:
        with ChatServer(lambda messages: BAD) as server:
            inner = async_client(server)
            async with guard(inner, domain="support", fallback=FALLBACK, sinks=[]) as safe:
                with pytest.raises(ConfigError):
                    await safe.completions.create(model="m", prompt="x")
                with pytest.raises(ConfigError):
                    await safe.chat.completions.list()
                return [
                    await safe.chat.completions.create(**BODY),
                    await safe.post("/chat/completions", cast_to=object, body=BODY),
                    (await safe.responses.with_raw_response.create(**ITEMS)).parse(),
                ]

    assert all("9:45" not in str(reply) for reply in run(asked()))
