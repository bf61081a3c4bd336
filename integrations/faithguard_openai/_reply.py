"""What the replies of both APIs have in common: answers, and what a guard may do to them."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from faithguard import Passage
from faithguard.contents import texts_in

__all__ = ["Answer", "Manner", "Reply", "added", "known", "mapping", "shown", "untitled"]


_OF_PLACES = ("type", "url", "file_id", "filename", "container_id")
"""What strings of an annotation say where something stands."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one choice of a reply says."""

    key: int
    text: str
    finish_reason: str | None = None
    beside_calls: bool = False
    """Whether the model calls tools of the caller's beside it."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to tell the SDK that a text stands in the place of an answer."""

    refuses: bool
    """As a refusal: it would parse any other text as JSON."""
    finish_reason: Literal["content_filter", "stop"]
    """The reason that a choice ended: its stream helper takes the first for a fault."""


class Reply(Protocol):
    """A reply of a server, read."""

    @property
    def answers(self) -> list[Answer]:
        """What is said, choice by choice."""
        ...

    @property
    def passages(self) -> Sequence[Passage]:
        """What the reply itself carries of its context."""
        ...

    def replace(self, key: int, other: Any) -> None:
        """Put the one answer of another attempt in the place of one."""
        ...

    def block(self, key: int, text: str) -> None:
        """Put a text in the place of an answer; nothing else that was written stays."""
        ...

    def mend(self, key: int, text: str) -> None:
        """Put a mended text in the place of an answer; the calls of tools beside it stay."""
        ...

    def hush(self, key: int) -> None:
        """Leave of an answer only the calls of the caller's tools."""
        ...

    def rendered(self, notes: Mapping[int, Any], note: Any) -> bytes:
        """Return the body that goes out.

        Args:
            notes: What was decided on each answer, where there are several.
            note: What was decided on the whole; None if nothing was verified.
        """
        ...


def added(first: Any, second: Any) -> Any:
    """Return the sum of two usages: of each number that stands in them."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        one, two = cast("Mapping[str, Any]", first), cast("Mapping[str, Any]", second)
        return {name: added(one.get(name), two.get(name)) for name in {**one, **two}}
    if isinstance(first, int | float) and isinstance(second, int | float):
        return first + second
    return second if first is None else cast("Any", first)


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping, empty if the value is none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def shown(content: object) -> list[str]:
    """Return the texts of what a model wrote; what cannot be read is taken as it stands."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [text for part in cast("list[object]", content) for text in _part(part)]
    return [json.dumps(content)]


def _part(part: object) -> list[str]:
    held = mapping(part)
    texts = [held[name] for name in ("text", "refusal", "transcript") if name in held]
    return [text if isinstance(text, str) else json.dumps(text) for text in texts or [part]]


def known(value: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Return a mapping without what may be words under a name that is not known.

    Nothing has verified them, and nobody could say whose they are.
    """
    return {n: item for n, item in value.items() if n in names or not any(texts_in(item))}


def untitled(value: Any) -> Any:
    """Return a value of a reply's in which annotations keep their places and lose their words.

    A title or a quote is text that goes to the reader, and nothing has verified it.
    """
    if isinstance(value, list):
        return [untitled(item) for item in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    return {
        name: _wordless(item) if name in ("annotations", "annotation") else untitled(item)
        for name, item in cast("Mapping[str, Any]", value).items()
    }


def _wordless(value: Any) -> Any:
    if isinstance(value, list):
        return [_wordless(item) for item in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    return {
        name: item if name in _OF_PLACES or not isinstance(item, str) else ""
        for name, item in ((n, _wordless(i)) for n, i in cast("Mapping[str, Any]", value).items())
    }
