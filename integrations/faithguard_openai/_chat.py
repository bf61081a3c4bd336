"""A chat completion as a server sends it, whole or in chunks, and what a guard makes of it.

In: the body of a reply. Out: the answers in it, one for each choice; and the body that goes out,
in which an answer may be another attempt's, or held back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from faithguard import CaptureError, Passage
from faithguard_openai._events import Event, encoded, events_in, json_in
from faithguard_openai._reply import Answer, Manner, added, known, mapping, shown, untitled

__all__ = ["CALLS", "ChatChunks", "ChatReply", "chunk_of", "index_of"]

CALLS = ("tool_calls", "function_call")
"""Where a message, or its delta, calls tools."""


class ChatReply:
    """A chat completion in one piece."""

    def __init__(self, body: bytes, manner: Manner) -> None:
        self._body = known(json_in(body), _OF_REPLIES)
        choices: Any = self._body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise CaptureError("the server's reply holds no choices: it is no chat completion")
        self._choices = {
            index_of(choice, place): _spoken_by(choice, "message")
            for place, choice in enumerate(cast("list[Any]", choices))
        }
        self._manner = manner

    @property
    def passages(self) -> Sequence[Passage]:
        """What the reply carries of its context: nothing."""
        return ()

    @property
    def answers(self) -> list[Answer]:
        """What is said, choice by choice."""
        return [
            Answer(
                key,
                _said(message := choice.get("message")),
                finish_reason=choice.get("finish_reason"),
                beside_calls=any(mapping(message).get(name) for name in CALLS),
            )
            for key, choice in self._choices.items()
        ]

    def replace(self, key: int, other: ChatReply) -> None:
        """Put the choice of another attempt in the place of one."""
        self._choices[key] = {**next(iter(other._choices.values())), "index": key}
        self._count(other)

    def _count(self, other: ChatReply) -> None:
        """Add the tokens that another attempt took."""
        self._body["usage"] = added(self._body.get("usage"), other._body.get("usage"))

    def block(self, key: int, text: str) -> None:
        """Put a text in the place of a choice; nothing else of it stays."""
        self._choices[key] = {
            "index": key,
            "finish_reason": self._manner.finish_reason,
            "logprobs": None,
            "message": {"role": "assistant", "content": text, "refusal": None},
        }

    def mend(self, key: int, text: str) -> None:
        """Put a mended text in the place of a choice's; its tool calls stay."""
        self.hush(key)
        self._choices[key]["message"]["content"] = text

    def hush(self, key: int) -> None:
        """Leave only the tool calls of a choice."""
        choice = self._choices[key]
        message = mapping(choice.get("message"))
        calls = {name: message[name] for name in CALLS if message.get(name)}
        kept = {"role": "assistant", "content": None, "refusal": None, **calls}
        self._choices[key] = {**choice, "logprobs": None, "message": kept}

    def rendered(self, notes: Mapping[int, Any], note: Any) -> bytes:
        """Return the body that goes out, with what was decided."""
        choices = [
            choice if key not in notes else {**choice, "faithguard": notes[key]}
            for key, choice in self._choices.items()
        ]
        marked = {} if note is None else {"faithguard": note}
        return json.dumps({**self._body, "choices": choices, **marked}).encode()


class ChatChunks:
    """A chat completion in chunks, all of them."""

    def __init__(self, body: bytes, manner: Manner) -> None:
        self._manner = manner
        self._chunks: list[tuple[int | None, dict[str, Any]]] = []
        """Each with the choice it is a part of; that of several is taken apart."""
        self._fault: Event | None = None
        for event in events_in(body):
            choices: Any = event.data.get("choices")
            if event.data.get("error"):
                self._fault = event
            elif not isinstance(choices, list) or not choices:
                self._chunks.append((None, known(event.data, _OF_REPLIES)))
            else:
                for place, choice in enumerate(cast("list[Any]", choices)):
                    key = index_of(choice, place)
                    spoken = [_spoken_by(choice, "delta")]
                    alone = {**known(event.data, _OF_REPLIES), "choices": spoken}
                    self._chunks.append((key, alone))

    @property
    def passages(self) -> Sequence[Passage]:
        """What the reply carries of its context: nothing."""
        return ()

    @property
    def answers(self) -> list[Answer]:
        """What is said, choice by choice."""
        if self._fault is not None:
            return []  # the client raises it, and delivers nothing
        keys = dict.fromkeys(key for key, _ in self._chunks if key is not None)
        return [self._answer(key) for key in keys]

    def _answer(self, key: int) -> Answer:
        choices = [chunk["choices"][0] for own, chunk in self._chunks if own == key]
        deltas = [mapping(choice.get("delta")) for choice in choices]
        whole: dict[str, Any] = {
            name: "".join(texts)
            for name in ("content", "refusal")
            if (texts := [text for delta in deltas for text in shown(delta.get(name))])
        }
        spoken = [mapping(delta.get("audio")).get("transcript") for delta in deltas]
        whole["audio"] = {"transcript": "".join(text for part in spoken for text in shown(part))}
        reasons = [choice.get("finish_reason") for choice in choices]
        return Answer(
            key,
            _said(whole),
            finish_reason=next((reason for reason in reversed(reasons) if reason), None),
            beside_calls=any(delta.get(name) for delta in deltas for name in CALLS),
        )

    def replace(self, key: int, other: ChatChunks) -> None:
        """Put the choice of another attempt in the place of one."""
        own = [chunk for number, chunk in other._chunks if number is not None]
        self._fault = other._fault
        self._put(key, [_renumbered(chunk, key) for chunk in own])
        self._count(other)

    def _count(self, other: ChatChunks) -> None:
        """Add the tokens that another attempt took."""
        more = [chunk["usage"] for _, chunk in other._chunks if chunk.get("usage")]
        for _, chunk in reversed(self._chunks):
            if chunk.get("usage") and more:
                chunk["usage"] = added(chunk["usage"], more[-1])
                return

    def block(self, key: int, text: str) -> None:
        """Put a text in the place of a choice; nothing else of it stays."""
        said = {"role": "assistant", "refusal" if self._manner.refuses else "content": text}
        end = self._chunk(key, {}, self._manner.finish_reason)
        self._put(key, [self._chunk(key, said, None), end])

    def mend(self, key: int, text: str) -> None:
        """Put a mended text in the place of a choice's; its tool calls stay."""
        said = self._chunk(key, {"role": "assistant", "content": text}, None)
        self._put(key, [said, *self._calls(key)])

    def hush(self, key: int) -> None:
        """Leave only the tool calls of a choice."""
        self._put(key, self._calls(key))

    def _calls(self, key: int) -> list[dict[str, Any]]:
        kept: list[dict[str, Any]] = []
        for own, chunk in self._chunks:
            if own == key:
                choice = chunk["choices"][0]
                delta = mapping(choice.get("delta"))
                calls = {name: delta[name] for name in CALLS if delta.get(name)}
                if calls or choice.get("finish_reason"):
                    bare = {**choice, "delta": calls, "logprobs": None}
                    kept.append({**chunk, "choices": [bare]})
        return kept

    def _chunk(self, key: int, delta: Mapping[str, Any], end: str | None) -> dict[str, Any]:
        choice = {"index": key, "delta": delta, "finish_reason": end}
        return chunk_of(self._chunks[0][1], choice)

    def _put(self, key: int, chunks: Sequence[dict[str, Any]]) -> None:
        places = [place for place, (own, _) in enumerate(self._chunks) if own == key]
        rest = [pair for pair in self._chunks[: places[-1]] if pair[0] != key]
        after = self._chunks[places[-1] + 1 :]
        self._chunks = [*rest, *((key, chunk) for chunk in chunks), *after]

    def rendered(self, notes: Mapping[int, Any], note: Any) -> bytes:
        """Return the body that goes out, with what was decided."""
        if self._fault is not None:
            return encoded([self._fault])
        marked = {} if note is None else {"faithguard": note}
        out: list[Event] = []
        for key, chunk in self._chunks:
            noted = {"faithguard": notes[key]} if key is not None and key in notes else {}
            own: list[Any] = chunk.get("choices") or []
            choices = [{**choice, **noted} for choice in own]
            out.append(Event(None, {**chunk, "choices": choices, **marked}))
        return encoded(out)


def chunk_of(head: Mapping[str, Any], choice: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a chunk like another one, with this choice or none."""
    names = ("id", "object", "created", "model", "system_fingerprint", "service_tier")
    choices = [] if choice is None else [{**choice, "logprobs": None}]
    return {**{name: head[name] for name in names if name in head}, "choices": choices}


def index_of(choice: Any, place: int) -> int:
    """Return which choice it is, of those in one reply or chunk; its place if it does not say.

    Raises:
        CaptureError: If it is none.
    """
    if not isinstance(choice, Mapping):
        raise CaptureError("the server's reply holds a choice that is none: it is withheld")
    index = cast("Mapping[str, Any]", choice).get("index")
    return index if isinstance(index, int) else place


_OF_REPLIES = frozenset(
    "id object created model system_fingerprint service_tier provider choices usage obfuscation "
    "citations prompt_filter_results moderation".split()
)
_OF_CHOICES = frozenset(
    "index finish_reason native_finish_reason stop_reason matched_stop logprobs "
    "content_filter_results content_filter_offsets".split()
)
_OF_MESSAGES = frozenset(
    "role name content refusal audio annotations tool_calls function_call reasoning "
    "reasoning_content reasoning_details thinking".split()
)
"""Where a reply of a server's holds strings that are read here, or are none of the answer's."""


def _spoken_by(choice: Any, place: str) -> dict[str, Any]:
    """Return a choice that says something in this place only, which is verified."""
    kept = known(choice, {*_OF_CHOICES, place})
    if isinstance(message := kept.get(place), Mapping):
        kept[place] = known(cast("Mapping[str, Any]", message), _OF_MESSAGES)
    return cast("dict[str, Any]", untitled(kept))


def _renumbered(chunk: dict[str, Any], key: int) -> dict[str, Any]:
    return {**chunk, "choices": [{**choice, "index": key} for choice in chunk["choices"]]}


def _said(message: Any) -> str:
    """Return all that a message says to its reader."""
    held = mapping(message)
    spoken = mapping(held.get("audio")).get("transcript")
    texts = [*shown(held.get("content")), *shown(held.get("refusal")), *shown(spoken)]
    return "\n\n".join(text for text in texts if text)
