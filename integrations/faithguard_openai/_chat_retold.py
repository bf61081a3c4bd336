"""The chunks of a chat completion, told on as far as its text is released.

In: chunks of the server. Out: chunks with the released text, and those with the role, the calls
of tools, the reason of the end and the usage. Reasoning, log probabilities and further choices
are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from faithguard import Passage
from faithguard_openai._chat import CALLS, chunk_of, index_of
from faithguard_openai._events import Event
from faithguard_openai._reply import Manner, mapping, shown
from faithguard_openai._retold import FaultError, Retold

__all__ = ["ChatRetold"]

_TEXTS = ("content", "refusal")


class ChatRetold(Retold[str]):
    """One chat completion of one choice; a place is the name of a delta's field."""

    def __init__(self, manner: Manner) -> None:
        super().__init__()
        self._manner = manner
        self._head: Mapping[str, Any] = {}
        self._index: int | None = None
        """Of the choice that is told, as the server has it."""
        self._opens = True
        """Whether the server has not said whose message it is."""
        self._opened = False
        """Whether the caller was told."""
        self._last: list[dict[str, Any]] = []
        """The chunks that tell how it ended."""

    @property
    def passages(self) -> Sequence[Passage]:
        """What the reply carries of its context: nothing."""
        return ()

    def _read(self, event: Event) -> None:
        data = event.data
        if data.get("error"):
            raise FaultError(event)
        choices: Any = data.get("choices")
        held = cast("list[Any]", choices) if isinstance(choices, list) else []
        if self._index is None and held:  # one was asked for, whatever its number
            self._index = index_of(held[0], 0)
        own = [c for place, c in enumerate(held) if index_of(c, place) == self._index]
        choice = mapping(own[0] if own else None)
        if own or not self._head:  # what comes before the first choice may have no name
            self._head = data
        delta = mapping(choice.get("delta"))
        if self._opens and delta.get("role"):
            self._opens = False
            empty = {name: delta[name] for name in _TEXTS if not delta.get(name, True)}
            self._put_chunk({"role": delta["role"], **empty})
        for name in _TEXTS:
            self._write(name, "".join(shown(delta.get(name))))
        calls = {name: delta[name] for name in CALLS if delta.get(name)}
        reason, usage = choice.get("finish_reason"), data.get("usage")
        self.calls = self.calls or bool(calls)
        if reason:
            self.over, self.finish_reason = True, str(reason)
        if calls or reason or (usage and own):
            self._put_chunk(calls, reason, usage)
        elif usage:
            self._last.append({**chunk_of(self._head, None), "usage": usage})

    def _put_chunk(
        self, delta: Mapping[str, Any], reason: str | None = None, usage: Any = None
    ) -> None:
        chunk = chunk_of(self._head, {"index": 0, "delta": delta, "finish_reason": reason})
        chunk |= {"usage": usage} if usage else {}
        if reason:
            self._last.append(chunk)
        else:
            self._put(Event(None, chunk))

    def _say(self, text: str) -> Iterator[Event]:
        opening = {} if self._opened else {"role": "assistant"}
        self._opened = True
        delta = {**opening, self.place or "content": text}
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        yield Event(None, chunk_of(self._head, choice))

    def _tell(self, event: Event) -> Iterator[Event]:
        self._opened = self._opened or "role" in event.data["choices"][0]["delta"]
        yield event

    def ended(self, note: Any) -> Iterator[Event]:
        """Yield all that was not told, and how the reply ended."""
        yield from self.rest()
        yield from self._marked(self._last, note)

    def blocked(self, text: str, note: Any) -> Iterator[Event]:
        """Yield a text in the place of all that was not told, and the end of the reply."""
        yield from self.passed()
        self.place = "content"
        yield from self._said(text)
        reason = self._manner.finish_reason
        end = chunk_of(self._head, {"index": 0, "delta": {}, "finish_reason": reason})
        counts = [chunk for chunk in self._last if not chunk["choices"]]
        for chunk in self._last:
            end |= {"usage": chunk["usage"]} if chunk["choices"] and "usage" in chunk else {}
        yield from self._marked([end, *counts], note)

    def _marked(self, chunks: Sequence[Mapping[str, Any]], note: Any) -> Iterator[Event]:
        marked = {} if note is None else {"faithguard": note}
        yield from (Event(None, {**chunk, **marked}) for chunk in chunks)
