"""A response as a server sends it, whole or in events, and what a guard makes of it.

In: the body of a reply. Out: the one answer in it, all its messages together; the results of
file searches that it carries; and the body that goes out, in which the answer may be another
attempt's, or held back.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from faithguard import Passage
from faithguard.contents import texts_in
from faithguard_openai._events import Event, encoded, events_in, json_in
from faithguard_openai._evidence import found_in_files
from faithguard_openai._reply import Answer, Manner, added, known, mapping, shown, untitled

__all__ = ["ResponseEvents", "ResponseReply", "bare", "is_call", "is_said", "items_of", "marked"]

_SERVERS_OWN = (
    "file_search_call",
    "web_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
)
_OF_ITEMS = frozenset("id type role status phase content".split())
_OF_PARTS = frozenset("type text refusal annotations logprobs".split())
"""Where a message, or a part of one, holds strings that are read here, or that say nothing."""
_UNSAID = ("reasoning", "compaction", "item_reference", "mcp_list_tools", "mcp_approval_request")
_OF_CALLS = re.compile(r"\w+_call(_output)?")
"""The items that are not for a reader."""
_CALLERS = ("mcp_approval_request",)
_STAY = ("file_search_call",)
"""What stays beside a text that is put in the place of a model's: it holds documents."""


class ResponseReply:
    """A response in one piece."""

    def __init__(self, body: bytes, manner: Manner) -> None:
        self._body = bare(json_in(body))
        self._refuses = manner.refuses

    @property
    def passages(self) -> Sequence[Passage]:
        """What file searches of the response found, where it carries that."""
        return _files(self._body)

    @property
    def answers(self) -> list[Answer]:
        """All that the response says, as one; none while it is still being made."""
        said = _said(self._body)
        if not said and self._body.get("status") in ("queued", "in_progress"):
            return []
        return [_answer(self._body, said)]

    def replace(self, key: int, other: ResponseReply) -> None:
        """Take another attempt in the place of this one."""
        before = self._body
        self._body = other._body
        self._body["usage"] = added(before.get("usage"), other._body.get("usage"))

    def block(self, key: int, text: str) -> None:
        """Put a text in the place of the answer; nothing else of it stays."""
        self._body = _blocked(self._body, text, refuses=self._refuses)

    def mend(self, key: int, text: str) -> None:
        """Put a mended text in the place of the answer; the calls beside it stay."""
        self._body = _mended(self._body, text)

    def hush(self, key: int) -> None:
        """Leave only the calls of the caller's tools, and what belongs to them."""
        self._body = _hushed(self._body)

    def rendered(self, notes: Mapping[int, Any], note: Any) -> bytes:
        """Return the body that goes out, with what was decided."""
        return json.dumps(marked(self._body, note)).encode()


class ResponseEvents:
    """A response in events, all of them."""

    def __init__(self, body: bytes, manner: Manner) -> None:
        self._refuses = manner.refuses
        events = [Event(name, bare(data)) for name, data in events_in(body)]
        faults = [e for e in events if e.data.get("type") == "error" or e.data.get("error")]
        self._events = faults or events
        self._failed = bool(faults)

    @property
    def _final(self) -> dict[str, Any]:
        """The response as the last event that holds one has it."""
        held = (event.data.get("response") for event in reversed(self._events))
        found = (cast("dict[str, Any]", r) for r in held if isinstance(r, dict))
        return next(found, dict[str, Any]())

    @property
    def passages(self) -> Sequence[Passage]:
        """What file searches of the response found, where it carries that."""
        return _files(self._final)

    @property
    def answers(self) -> list[Answer]:
        """All that the response says, as one: in the end, or, if it differs, on the way."""
        versions = [_said(self._final), *_on_the_way(self._events)]
        said = "\n\n".join(dict.fromkeys(text for text in versions if text))
        return [] if self._failed or not self._events else [_answer(self._final, said)]

    def replace(self, key: int, other: ResponseEvents) -> None:
        """Take another attempt in the place of this one."""
        usage = self._final.get("usage")
        self._events, self._failed = other._events, other._failed
        if self._final:
            self._final["usage"] = added(usage, self._final.get("usage"))

    def block(self, key: int, text: str) -> None:
        """Put a text in the place of the answer; nothing else of it stays."""
        final = _blocked(self._final, text, refuses=self._refuses)
        self._events = list(_told(final))

    def mend(self, key: int, text: str) -> None:
        """Put a mended text in the place of the answer; the calls beside it stay."""
        self._events = list(_told(_mended(self._final, text)))

    def hush(self, key: int) -> None:
        """Leave only the calls of the caller's tools, and what belongs to them."""
        self._events = list(_told(_hushed(self._final)))

    def rendered(self, notes: Mapping[int, Any], note: Any) -> bytes:
        """Return the body that goes out, with what was decided."""
        return encoded(
            Event(name, {**data, "response": marked(data["response"], note)})
            if isinstance(data.get("response"), dict)
            else Event(name, data)
            for name, data in self._events
        )


def marked(body: Mapping[str, Any], note: Any) -> dict[str, Any]:
    """Return a response with the note of what was decided; None if nothing was verified."""
    return {**body, **({} if note is None else {"faithguard": note})}


def items_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the items of a response's output."""
    output: Any = body.get("output")
    return [mapping(item) for item in cast("list[Any]", output)] if isinstance(output, list) else []


def is_said(item: Mapping[str, Any]) -> bool:
    """Say whether what an item says is for a reader: a message's, or that of a kind not known."""
    kind = str(item.get("type", "message"))
    return kind == "message" or not (kind in _UNSAID or _OF_CALLS.fullmatch(kind))


def bare(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response, or an event, without words of messages in places that are not read."""
    plain: dict[str, Any] = untitled(data)
    if isinstance(plain.get("item"), Mapping):
        plain["item"] = _bare_item(plain["item"])
    if isinstance(plain.get("part"), Mapping):
        plain["part"] = _bare_part(plain["part"])
    if isinstance(plain.get("response"), Mapping):
        plain["response"] = bare(plain["response"])
    if isinstance(output := plain.get("output"), list):
        plain["output"] = [_bare_item(item) for item in cast("list[Any]", output)]
    return plain


def _bare_item(item: Any) -> Any:
    held = mapping(item)
    if not held or held.get("type", "message") != "message":
        return item
    kept = known(held, _OF_ITEMS)
    if isinstance(content := kept.get("content"), list):
        kept["content"] = [_bare_part(part) for part in cast("list[Any]", content)]
    return kept


def _bare_part(part: Any) -> Any:
    held = mapping(part)
    return known(held, _OF_PARTS) if held.get("type") in ("output_text", "refusal") else part


def _said(body: Mapping[str, Any]) -> str:
    """Return all that a response says to its reader."""
    texts = [text for item in items_of(body) for text in _message(item)]
    # servers of other makes put it here as well; the SDK makes its own
    return "\n\n".join(dict.fromkeys(text for text in [*texts, *shown(body.get("output_text"))]))


def _message(item: Mapping[str, Any]) -> list[str]:
    if not is_said(item):
        return []
    if item.get("type", "message") == "message":
        return shown(item.get("content"))
    return list(texts_in(item, but=("id", "type", "role", "status")))


def _answer(body: Mapping[str, Any], said: str) -> Answer:
    reason = mapping(body.get("incomplete_details")).get("reason") or body.get("status")
    calls = any(is_call(item) for item in items_of(body))
    return Answer(0, said, finish_reason=str(reason or "") or None, beside_calls=calls)


def is_call(item: Mapping[str, Any]) -> bool:
    """Say whether an item of a response asks its caller to do something."""
    kind = str(item.get("type") or "")
    return (kind.endswith("_call") and kind not in _SERVERS_OWN) or kind in _CALLERS


def _files(body: Mapping[str, Any]) -> list[Passage]:
    searches = (item for item in items_of(body) if item.get("type") == "file_search_call")
    return [passage for item in searches for passage in found_in_files(item)]


def _on_the_way(events: Sequence[Event]) -> Iterator[str]:
    """Yield what the events say before the last one, as far as each kind of them tells it."""
    said: dict[str, dict[tuple[int, int], str]] = defaultdict(lambda: defaultdict(str))
    for _, data in events:
        kind = str(data.get("type"))
        place = int(data.get("output_index") or 0), int(data.get("content_index") or 0)
        for name in ("delta", "text", "refusal", "transcript"):
            if kind.endswith((".delta", ".done")) and _speaks(kind) and name in data:
                said[kind][place] += "".join(shown(data[name]))
        if kind.startswith("response.content_part.") and mapping(data.get("part")).get("type") in (
            "output_text",
            "refusal",
        ):
            said[kind][place] += "".join(shown([data["part"]]))
        if kind.startswith("response.output_item."):
            said[kind][place] += "\n\n".join(_message(mapping(data.get("item"))))
    for texts in said.values():
        yield "\n\n".join(dict.fromkeys(text for _, text in sorted(texts.items()) if text))
    for _, data in events[:-1]:
        yield _said(mapping(data.get("response")))


def _speaks(kind: str) -> bool:
    names = ("output_text.", "refusal.", "audio.transcript.", "text.")
    return kind.removeprefix("response.").startswith(names)


def _hushed(body: Mapping[str, Any]) -> dict[str, Any]:
    kept = [item for item in items_of(body) if not is_said(item)]
    return {**body, "output": kept, "output_text": ""}


def _mended(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    whole = _blocked(body, text, refuses=False)
    if _answer(body, "").beside_calls:
        whole["output"] = [whole["output"][-1], *_hushed(body)["output"]]
    return whole


def _blocked(body: Mapping[str, Any], text: str, *, refuses: bool) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if refuses:  # the client would parse any other text as JSON
        part = {"type": "refusal", "refusal": text}
    kept = [item for item in items_of(body) if item.get("type") in _STAY]
    ids = [item.get("id") for item in items_of(body) if item.get("type") == "message"]
    message = {
        "id": next((i for i in ids if i), "msg_faithguard"),
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    rest = {name: value for name, value in body.items() if name != "output_text"}
    done = {"status": "completed", "incomplete_details": None, "error": None}
    return {**rest, **done, "output": [*kept, message]}


def _told(final: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events that tell a response, each item in one piece."""
    number = 0

    def event(kind: str, **data: Any) -> Event:
        nonlocal number
        number += 1
        return Event(kind, {"type": kind, "sequence_number": number - 1, **data})

    begun: dict[str, Any] = {**final, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for place, item in enumerate(items_of(final)):
        at = {"output_index": place, "item_id": item.get("id")}
        kind = item.get("type")
        empty = {**item, "status": "in_progress"}
        if kind == "message":
            empty["content"] = []
        if kind == "function_call":
            empty["arguments"] = ""
        yield event("response.output_item.added", output_index=place, item=empty)
        if kind == "message":
            for index, part in enumerate(item["content"]):
                name = "refusal" if part["type"] == "refusal" else "text"
                here = {**at, "content_index": index}
                stem = "response.refusal" if name == "refusal" else "response.output_text"
                more: dict[str, Any] = {} if name == "refusal" else {"logprobs": []}
                yield event("response.content_part.added", **here, part={**part, name: ""})
                yield event(f"{stem}.delta", **here, delta=part[name], **more)
                yield event(f"{stem}.done", **here, **{name: part[name]}, **more)
                yield event("response.content_part.done", **here, part=part)
        if kind == "function_call":
            stem, given = "response.function_call_arguments", item.get("arguments")
            yield event(f"{stem}.delta", **at, delta=given)
            yield event(f"{stem}.done", **at, arguments=given, name=item.get("name"))
        yield event("response.output_item.done", output_index=place, item=item)
    yield event("response.completed", response=final)
