"""What an OpenAI-compatible server sends for what a model says, of its two APIs.

In: the body of a request and what is said: a text, or whole messages or items. Out: the reply in
one piece, or its events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

__all__ = ["Spoken", "events", "messages_in", "whole"]

Spoken: TypeAlias = "str | Sequence[Mapping[str, Any]]"
"""A text; or, for a chat completion, the message of each choice, and for a response, its items."""

Body: TypeAlias = Mapping[str, Any]
Event: TypeAlias = tuple[str | None, dict[str, Any]]
"""Its name, if the API names its events, and its data."""


def messages_in(body: Body) -> list[dict[str, Any]]:
    """Return the messages of a request, those of a response's instructions and input alike."""
    if "messages" in body:
        return list(body["messages"])
    given: Any = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    told = body.get("instructions")
    return [*([{"role": "system", "content": told}] if told else []), *items]


def whole(body: Body, said: Spoken) -> dict[str, Any]:
    """Return the reply in one piece."""
    if "messages" not in body:
        return _response(body, _items(said))
    choices = [
        {"index": index, "finish_reason": _end(message), "message": message, "logprobs": None}
        for index, message in enumerate(_choices(said))
    ]
    return {**_head(body, "chat.completion"), "choices": choices, "usage": _usage(body, said)}


def events(body: Body, said: Spoken) -> Iterator[Event]:
    """Yield the events of the reply."""
    if "messages" not in body:
        yield from _numbered(_response_events(body, _items(said)))
        return
    head = _head(body, "chat.completion.chunk")
    for index, message in enumerate(_choices(said)):
        for delta in _deltas(message):
            choice = {"index": index, "delta": delta, "finish_reason": None}
            yield None, {**head, "choices": [choice]}
        last: dict[str, Any] = {"index": index, "delta": {}, "finish_reason": _end(message)}
        yield None, {**head, "choices": [last]}
    options: Mapping[str, Any] = body.get("stream_options") or {}
    if options.get("include_usage"):
        yield None, {**head, "choices": [], "usage": _usage(body, said)}


def _pieces(text: str) -> list[str]:
    """Return a text in pieces as tokens come, whose sum is the text."""
    return [text[i : i + 7] for i in range(0, len(text), 7)]


def _head(body: Body, kind: str) -> dict[str, Any]:
    return {"id": "chat-1", "object": kind, "created": 0, "model": body.get("model", "any")}


def _usage(body: Body, said: Spoken) -> dict[str, int]:
    asked = sum(len(str(message.get("content", "")).split()) for message in messages_in(body))
    texts = [said] if isinstance(said, str) else [str(m.get("content") or "") for m in said]
    wrote = sum(len(text.split()) for text in texts)
    return {"prompt_tokens": asked, "completion_tokens": wrote, "total_tokens": asked + wrote}


# -- chat completions -----------------------------------------------------------------------------


def _choices(said: Spoken) -> list[dict[str, Any]]:
    messages: Sequence[Mapping[str, Any]] = [{"content": said}] if isinstance(said, str) else said
    return [{"role": "assistant", "content": None, "refusal": None, **m} for m in messages]


def _end(message: Mapping[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for name, value in message.items():
        if name == "tool_calls":
            calls = cast("list[dict[str, Any]]", value or [])
            yield from ({name: [{"index": i, **call}]} for i, call in enumerate(calls))
        elif isinstance(value, str) and name != "role":
            yield from ({name: piece} for piece in _pieces(value))


# -- responses ------------------------------------------------------------------------------------


def _items(said: Spoken) -> list[dict[str, Any]]:
    items: Sequence[Mapping[str, Any]] = [{"content": said}] if isinstance(said, str) else said
    made: list[dict[str, Any]] = []
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        whole: dict[str, Any] = {"id": f"{kind}-{number}", "type": kind, **item}
        if kind == "message":
            content: Any = item["content"]
            parts = [_part(content)] if isinstance(content, str) else content
            whole |= {"role": "assistant", "status": "completed", "content": parts}
        made.append(whole)
    return made


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _response(body: Body, items: list[dict[str, Any]], *, done: bool = True) -> dict[str, Any]:
    said = " ".join(str(item.get("content", "")) for item in items)
    counted = _usage(body, said)
    usage = {
        "input_tokens": counted["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": counted["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": counted["total_tokens"],
    }
    return {
        "id": "response-1",
        "object": "response",
        "created_at": 0,
        "status": "completed" if done else "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body.get("model", "any"),
        "output": items,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "usage": usage if done else None,
    }


def _numbered(data: Iterator[dict[str, Any]]) -> Iterator[Event]:
    for number, event in enumerate(data):
        yield event["type"], {**event, "sequence_number": number}


def _response_events(body: Body, items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": _response(body, [], done=False)}
    for place, item in enumerate(items):
        at = {"output_index": place}
        begun = {**item, "status": "in_progress"}
        if item["type"] == "message":
            begun["content"] = []
        if item["type"] == "function_call":
            begun["arguments"] = ""
        yield {"type": "response.output_item.added", **at, "item": begun}
        if item["type"] == "message":
            yield from _message_events({**at, "item_id": item["id"]}, item)
        if item["type"] == "function_call":
            stem = {"item_id": item["id"], **at}
            kind = "response.function_call_arguments"
            yield {"type": f"{kind}.delta", **stem, "delta": item["arguments"]}
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield {"type": f"{kind}.done", **stem, **done}
        yield {"type": "response.output_item.done", **at, "item": item}
    yield {"type": "response.completed", "response": _response(body, items)}


def _message_events(at: Body, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(item["content"]):
        here = {**at, "content_index": index}
        name = "refusal" if part["type"] == "refusal" else "text"
        stem = "response.refusal" if name == "refusal" else "response.output_text"
        more: dict[str, Any] = {} if name == "refusal" else {"logprobs": []}
        yield {"type": "response.content_part.added", **here, "part": {**part, name: ""}}
        for piece in _pieces(part[name]):
            yield {"type": f"{stem}.delta", **here, "delta": piece, **more}
        yield {"type": f"{stem}.done", **here, name: part[name], **more}
        yield {"type": "response.content_part.done", **here, "part": part}
