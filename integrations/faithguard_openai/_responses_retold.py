"""The events of a response, told on as far as its text is released.

In: events of the server. Out: the same events with the released text in the place of the model's:
in deltas, in what is done, and in the response at the end. A reasoning item keeps its place, and
what is encrypted in it, but not its words. Events of kinds that are not known are left out.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from faithguard import Passage
from faithguard_openai._events import Event
from faithguard_openai._evidence import found_in_files
from faithguard_openai._reply import known, mapping, shown
from faithguard_openai._responses import bare, is_call, is_said, items_of, marked
from faithguard_openai._retold import FaultError, Retold

__all__ = ["ResponseRetold"]

_BEGINS = ("response.created", "response.queued", "response.in_progress")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_ITEM = "response.output_item."
_PART = "response.content_part."
_TEXTS = ("response.output_text.", "response.refusal.")
_ANNOTATES = "response.output_text.annotation."
_PASSES = re.compile(r"response\.(\w+_call(_\w+)?|mcp_\w+)\.")
"""What tells of calls; it holds no text of an answer."""


class Part(NamedTuple):
    """A part of a message, which holds a text."""

    item: int
    content: int
    refuses: bool

    @property
    def name(self) -> str:
        """What its text is called."""
        return "refusal" if self.refuses else "text"

    @property
    def stem(self) -> str:
        """How the kinds of its events begin."""
        return "response.refusal" if self.refuses else "response.output_text"

    @property
    def beside(self) -> dict[str, Any]:
        """What stands beside its text in an event."""
        return {} if self.refuses else {"logprobs": []}

    def whole(self, text: str, annotations: Any) -> dict[str, Any]:
        """Return it as a message holds it."""
        if self.refuses:
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


class ResponseRetold(Retold[Part]):
    """One response; a place is a part of a message."""

    def __init__(self) -> None:
        super().__init__()
        self._response: Mapping[str, Any] = {}
        """As the server has told it last."""
        self._end = "response.completed"
        self._number = 0
        self._found: list[Passage] = []
        self._places: dict[str, int] = {}
        """Of items, by their ids."""
        self._wrote: dict[Part, str] = {}
        self._annotations: dict[Part, Any] = {}
        self._cited: deque[str] = deque()
        """What was written of its part before each annotation that was not told."""
        self._items: dict[int, dict[str, Any]] = {}
        """What the caller was told of, by its place in the output."""
        self._open: set[int] = set()
        """The items of which more is to come."""
        self._texts: dict[Part, str] = {}
        """The text of each part that the caller was told of."""
        self._speaks: set[Part] = set()
        """The parts of which more is to come."""

    @property
    def passages(self) -> Sequence[Passage]:
        """What file searches of the response have found so far, where it carries that."""
        return self._found

    # -- what the server sends --------------------------------------------------------------------

    def _read(self, event: Event) -> None:
        event = Event(event.name, bare(event.data))
        data = event.data
        kind = str(data.get("type"))
        if kind == "error" or data.get("error"):
            raise FaultError(event)
        if kind in _BEGINS:
            self._response = mapping(data.get("response"))
        elif kind in _ENDS:
            self._response = mapping(data.get("response"))
            self._finish(kind)
            return
        elif kind.startswith(_ITEM):
            place, item = _number(data, "output_index"), mapping(data.get("item"))
            if named := item.get("id"):
                self._places[str(named)] = place
            self._read_item(place, item)
        elif kind.startswith((_PART, *_TEXTS)):
            part = _part(data)
            if part is None:
                return
            if kind.endswith(".delta"):
                self._note(part, "".join(shown(data.get("delta"))))
                return
            if kind.startswith(_ANNOTATES):
                self._cited.append(self._wrote.get(part, ""))
            else:
                self._complete(part, mapping(data.get("part", data)))
        elif not _PASSES.match(kind):
            return
        self._put(event)

    def _note(self, part: Part, text: str) -> None:
        self._wrote[part] = self._wrote.get(part, "") + text
        self._write(part, text)

    def _complete(self, part: Part, whole: Mapping[str, Any]) -> None:
        """Take what of a part has come in no delta."""
        text, known = whole.get(part.name), self._wrote.get(part, "")
        if isinstance(text, str) and text.startswith(known):
            self._note(part, text[len(known) :])
        if "annotations" in whole:
            self._annotations[part] = whole["annotations"]

    def _read_item(self, place: int, item: Mapping[str, Any]) -> None:
        if item.get("type", "message") == "message":
            content: Any = item.get("content") or []
            for index, whole in enumerate(cast("list[Any]", content)):
                part = _part({"output_index": place, "content_index": index, "part": whole})
                if part is not None:
                    self._complete(part, whole)
        self.calls = self.calls or is_call(item)
        for passage in found_in_files(item) if item.get("type") == "file_search_call" else ():
            if passage not in self._found:
                self._found.append(passage)

    def _finish(self, kind: str) -> None:
        self.over, self._end = True, kind
        reason = mapping(self._response.get("incomplete_details")).get("reason")
        self.finish_reason = str(reason or self._response.get("status") or "") or None
        for place, item in self._output():
            self._read_item(place, item)

    def _output(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the items of the response, with the places that events have given them."""
        for place, item in enumerate(items_of(self._response)):
            yield self._places.get(str(item.get("id")), place), item

    # -- what the caller gets ---------------------------------------------------------------------

    def _event(self, kind: str, /, **data: Any) -> Event:
        self._number += 1
        return Event(kind, {**data, "type": kind, "sequence_number": self._number - 1})

    def _say(self, text: str) -> Iterator[Event]:
        part = self.place
        if part is None or part not in self._speaks:
            part = self.place = self._free() if part is None or part in self._texts else part
            yield from self._begin(part)
        self._texts[part] += text
        yield self._event(f"{part.stem}.delta", **self._at_part(part), delta=text, **part.beside)

    def _free(self) -> Part:
        """Return a part of a message that is not there yet."""
        return Part(max(self._items, default=-1) + 1, 0, refuses=False)

    def _begin(self, part: Part) -> Iterator[Event]:
        if part.item not in self._items:
            message = {"id": "msg_faithguard", "type": "message", "role": "assistant"}
            yield from self._begin_item(part.item, {**message, "status": "in_progress"})
        self._texts[part] = ""
        self._speaks.add(part)
        at = self._at_part(part)
        yield self._event(f"{_PART}added", **at, part=part.whole("", []))

    def _begin_item(self, place: int, item: Mapping[str, Any]) -> Iterator[Event]:
        self._items[place] = self._bare(place, item)
        self._open.add(place)
        yield self._event(f"{_ITEM}added", output_index=place, item=self._items[place])

    def _end_text(self, part: Part) -> Iterator[Event]:
        told = {part.name: self._texts[part], **part.beside}
        yield self._event(f"{part.stem}.done", **self._at_part(part), **told)

    def _end_part(self, part: Part) -> Iterator[Event]:
        self._speaks.discard(part)
        yield self._event(f"{_PART}done", **self._at_part(part), part=self._whole(part))

    def _end_item(self, place: int, item: Mapping[str, Any]) -> Iterator[Event]:
        self._items[place] = self._bare(place, item)
        self._open.discard(place)
        yield self._event(f"{_ITEM}done", output_index=place, item=self._items[place])

    def _end_all(self) -> Iterator[Event]:
        """End what the server has not."""
        for part in sorted(self._speaks):
            yield from self._end_text(part)
            yield from self._end_part(part)
        for place in sorted(self._open):
            if self._items[place].get("type", "message") == "message":
                yield from self._end_item(place, {**self._items[place], "status": "completed"})

    def _tell(self, event: Event) -> Iterator[Event]:
        kind, data = event.data["type"], event.data
        part = _part(data)
        if kind in _BEGINS:
            bare: dict[str, Any] = {
                **self._without_text(mapping(data.get("response"))),
                "output": [],
            }
            yield self._event(kind, **{**data, "response": bare})
        elif kind.startswith(_ITEM):
            step = self._begin_item if kind.endswith(".added") else self._end_item
            yield from step(_number(data, "output_index"), mapping(data.get("item")))
        elif part is None:
            yield self._event(kind, **data)
        elif kind.startswith(_ANNOTATES):
            if self._cited.popleft() == self._texts.get(part):
                yield self._event(kind, **data)
        elif kind == f"{_PART}added":
            if part not in self._texts:
                yield from self._begin(part)
        elif part in self._speaks:
            yield from self._end_part(part) if kind.startswith(_PART) else self._end_text(part)

    def _at_part(self, part: Part) -> dict[str, Any]:
        id_ = self._items[part.item].get("id")
        return {"output_index": part.item, "item_id": id_, "content_index": part.content}

    def _whole(self, part: Part) -> dict[str, Any]:
        text = self._texts[part]
        # they stand at places of the text that the model wrote
        kept: Any = self._annotations.get(part) if text == self._wrote.get(part) else None
        return part.whole(text, kept or [])

    def _bare(self, place: int, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return an item with what was told as its text, and without reasoning."""
        if item.get("type", "message") == "message":
            parts = [self._whole(part) for part in sorted(self._texts) if part.item == place]
            return {**item, "content": parts}
        if item.get("type") == "reasoning":
            kept = ("id", "type", "status", "encrypted_content")
            return {**{name: item[name] for name in kept if name in item}, "summary": []}
        return known(item, ("id", "type", "status")) if is_said(item) else dict(item)

    def ended(self, note: Any) -> Iterator[Event]:
        """Yield all that was not told, and how the reply ended."""
        yield from self.rest()
        if not self.over:
            return
        yield from self._end_all()
        output = [self._bare(place, item) for place, item in self._output()]
        yield self._last(self._end, {**self._response, "output": output}, note)

    def blocked(self, text: str, note: Any) -> Iterator[Event]:
        """Yield a text in the place of all that was not told, and the end of the reply."""
        yield from self.passed()
        if self.place is not None and self.place.refuses:
            self.place = None
        yield from self._said(text)
        yield from self._end_all()
        output = [item for place, item in sorted(self._items.items()) if place not in self._open]
        done = {"status": "completed", "incomplete_details": None, "error": None}
        yield self._last(_ENDS[0], {**self._response, **done, "output": output}, note)

    def _last(self, kind: str, response: Mapping[str, Any], note: Any) -> Event:
        return self._event(kind, response=marked(self._without_text(response), note))

    def _without_text(self, response: Mapping[str, Any]) -> dict[str, Any]:
        # servers of other makes put it here as well; the SDK makes its own
        return {name: value for name, value in response.items() if name != "output_text"}


def _number(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) else 0


def _part(data: Mapping[str, Any]) -> Part | None:
    """Return the part of a message that an event is about."""
    kind = mapping(data.get("part")).get("type") or str(data.get("type"))
    for refuses, names in ((False, ("output_text", _TEXTS[0])), (True, ("refusal", _TEXTS[1]))):
        if kind.startswith(names):
            at = _number(data, "output_index"), _number(data, "content_index")
            return Part(*at, refuses=refuses)
    return None
