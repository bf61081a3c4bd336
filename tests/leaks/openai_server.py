"""A loopback server of chat completions and responses. In: a talk. Out: what OpenAI would send.

It calls the tool `look_up` once where a request offers it and holds no output of it for the last
question, and else says what its talk says to the text of the request; whole or as events. It
keeps the path and the body of every request.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import TracebackType
from typing import Any, Self

from .llama_scene import Talk, asks
from .scene import GOOD, MODEL_NAME

TOOL = "look_up"
ARGUMENTS = json.dumps({"query": "pool"})
USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
RESPONSE_USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 30,
}
EMBEDDING = [0.25, -0.5, 0.75]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    path: str
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Write the request as JSON, letters as they are."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error that the server answers with instead."""

    status: int
    message: str = "the desk is closed"


@dataclass(frozen=True, slots=True)
class Gate:
    """Where a stream waits until its reader has got something of it."""

    seen: threading.Event = field(default_factory=threading.Event)
    passed: list[bool] = field(default_factory=list)
    """Whether the reader had got something, for each wait."""

    def wait(self) -> None:
        """Wait for the reader, but not for ever."""
        self.passed.append(self.seen.wait(5))


BEFORE_THE_END = 6
"""So many events before its end a stream waits: amid the text, whatever the protocol."""


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@dataclass(slots=True)
class Server:
    """Answer as OpenAI's server does; a context manager.

    Args:
        talk: What the model says to a prompt.
        refusal: What every request for an answer gets instead.
        gate: Where each stream waits, shortly before its end.
    """

    talk: Talk
    refusal: Refusal | None = None
    gate: Gate | None = None
    requests: list[Asked] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=lambda: count(1))
    _http: _Http = field(init=False)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.requests.append(Asked(path=self.path, body={}))
                model = {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "pool"}
                _whole(self, {"object": "list", "data": [model]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(Asked(path=self.path, body=body))
                outer._answer(self, body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the terminal clean."""

        self._http = _Http(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """What a client takes as `base_url`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if self.refusal:
            error = {"message": self.refusal.message, "type": "scripted", "code": None}
            _whole(handler, {"error": error}, self.refusal.status)
        elif handler.path.endswith("/embeddings"):
            data = [{"object": "embedding", "index": 0, "embedding": EMBEDDING}]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            _whole(handler, {"object": "list", "data": data, "model": MODEL_NAME, "usage": usage})
        elif handler.path.endswith("/responses"):
            self._respond(handler, body)
        else:
            self._complete(handler, body)

    # Chat completions

    def _complete(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = next(self._ids)
        messages = _choices(self.talk, body)
        if body.get("stream"):
            _events(handler, _chunks(messages, number, body), self.gate, named=False)
            return
        choices = [
            {
                "index": index,
                "finish_reason": _reason(message),
                "logprobs": None,
                "message": {"role": "assistant", "refusal": None, **message},
            }
            for index, message in enumerate(messages)
        ]
        _whole(handler, {**_head(number, "chat.completion"), "choices": choices, "usage": USAGE})

    # Responses

    def _respond(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = next(self._ids)
        item = self._item(body, number)
        if body.get("stream"):
            _events(handler, _response_events(item, number, body), self.gate, named=True)
        else:
            _whole(handler, _response([item], number, body))

    def _item(self, body: dict[str, Any], number: int) -> dict[str, Any]:
        items = _items(body)
        outputs = [i for i, item in enumerate(items) if item.get("type") == "function_call_output"]
        if body.get("tools") and max(outputs, default=-1) < _question_in(items):
            return {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
                "name": TOOL,
                "arguments": ARGUMENTS,
                "status": "completed",
            }
        said = self.talk.say("\n".join([str(body.get("instructions") or ""), *map(_text, items)]))
        text = _worded(said, (body.get("text") or {}).get("format"))
        return {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [_part(text)],
        }


def _choices(talk: Talk, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Say it; of several choices all but the last are faithful."""
    messages = body["messages"]
    outputs = [place for place, message in enumerate(messages) if message["role"] == "tool"]
    if body.get("tools") and max(outputs, default=-1) < _question_in(messages):
        function = {"name": TOOL, "arguments": ARGUMENTS}
        call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
        return [{"content": None, "tool_calls": [call]}]
    said = talk.say("\n".join(map(_text, messages)))
    said = _worded(said, body.get("response_format"))
    return [{"content": text} for text in (*[GOOD] * ((body.get("n") or 1) - 1), said)]


def _question_in(messages: list[dict[str, Any]]) -> int:
    """Return the place of the last question; a feedback after it is none."""
    users = [i for i, message in enumerate(messages) if message.get("role") == "user"]
    return max((i for i in users if asks(_text(messages[i]))), default=0)


def _worded(text: str, form: Mapping[str, Any] | None) -> str:
    """Write a text in the form asked for."""
    return json.dumps({"answer": text}) if form and form["type"] == "json_schema" else text


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or message.get("output") or message.get("arguments") or ""
    if isinstance(content, list):
        content = " ".join(str(part.get("text", "")) for part in content)
    return f"{message.get('role', message.get('type'))}: {content}"


def _items(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = body.get("input") or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _reason(message: Mapping[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _head(number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": MODEL_NAME}


def _tokens(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def _chunks(
    messages: list[dict[str, Any]], number: int, body: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    head = _head(number, "chat.completion.chunk")
    for index, message in enumerate(messages):
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        for place, call in enumerate(message.get("tool_calls", ())):
            deltas.append({"tool_calls": [{"index": place, **call}]})
        deltas += [{"content": token} for token in _tokens(message["content"] or "")]
        for delta in deltas:
            choice = {"index": index, "delta": delta, "finish_reason": None}
            yield {**head, "choices": [choice]}
        yield {
            **head,
            "choices": [{"index": index, "delta": {}, "finish_reason": _reason(message)}],
        }
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": USAGE}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _response(
    output: list[dict[str, Any]], number: int, body: Mapping[str, Any], status: str = "completed"
) -> dict[str, Any]:
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": MODEL_NAME,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "usage": RESPONSE_USAGE if status == "completed" else None,
    }


def _response_events(
    item: dict[str, Any], number: int, body: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    place: dict[str, Any] = {"output_index": 0, "item_id": item["id"]}
    opened = {**item, "status": "in_progress"}
    yield {
        "type": "response.created",
        "response": _response([], number, body, status="in_progress"),
    }
    if item["type"] == "function_call":
        opened["arguments"] = ""
        yield {"type": "response.output_item.added", "output_index": 0, "item": opened}
        call = {**place, "type": "response.function_call_arguments.delta", "delta": ARGUMENTS}
        yield call
        yield {
            **place,
            "type": "response.function_call_arguments.done",
            "arguments": ARGUMENTS,
            "name": TOOL,
        }
    else:
        place["content_index"] = 0
        text = item["content"][0]["text"]
        opened["content"] = []
        yield {"type": "response.output_item.added", "output_index": 0, "item": opened}
        yield {**place, "type": "response.content_part.added", "part": _part("")}
        for token in _tokens(text):
            delta = {**place, "type": "response.output_text.delta", "delta": token, "logprobs": []}
            yield delta
        yield {**place, "type": "response.output_text.done", "text": text, "logprobs": []}
        yield {**place, "type": "response.content_part.done", "part": _part(text)}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": _response([item], number, body)}


def _whole(handler: BaseHTTPRequestHandler, content: object, status: int = 200) -> None:
    data = json.dumps(content).encode()
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def _events(
    handler: BaseHTTPRequestHandler,
    events: Iterator[dict[str, Any]],
    gate: Gate | None,
    *,
    named: bool,
) -> None:
    """Send server-sent events; those of responses have names and numbers."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()
    handler.close_connection = True
    try:
        waiting = list(events)
        for number, event in enumerate(waiting):
            if gate and number == len(waiting) - BEFORE_THE_END:
                gate.wait()
            head = f"event: {event['type']}\n" if named else ""
            body = {**event, "sequence_number": number} if named else event
            handler.wfile.write(f"{head}data: {json.dumps(body)}\n\n".encode())
        if not named:
            handler.wfile.write(b"data: [DONE]\n\n")
    except (BrokenPipeError, ConnectionResetError):
        pass  # the client has left, as it may
