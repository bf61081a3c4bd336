"""What a value holds, one level down: the one way in which guards look for texts beside an answer.

In: anything that an app puts beside an answer. Out: what it is made of, each with its name: keys
and items of mappings, items of collections, fields of objects (slots, private and extra fields
included), arguments of exceptions. What can be read only once is refused, unless it is at its
end.
"""

from __future__ import annotations

import types
from collections import UserString
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Collection,
    Container,
    Iterator,
    Mapping,
)
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, NamedTuple, cast

from pydantic import BaseModel

from faithguard.errors import CaptureError

__all__ = ["Part", "parts_of", "text_in", "texts_in"]

_NAMES_ONLY = "__pydantic_fields_set__"
"""A slot of pydantic's that holds the names of fields."""


class Part(NamedTuple):
    """Something that a value holds."""

    name: object
    """Its key, or the field's name; None if it has none."""
    value: Any


def text_in(value: object) -> str | None:
    """Return the text that a value is: a string of any kind, or bytes; None if it is none."""
    if isinstance(value, str | UserString):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(cast("Any", value)).decode(errors="replace")
    return None


def parts_of(value: Any) -> list[Part]:
    """Return what a value holds, one level down; nothing if it holds nothing that can be read.

    Raises:
        CaptureError: If it can be read only once, as a generator can: nobody could verify it and
            leave it whole.
    """
    if _has_ended(value):
        return []
    kind = type(value).__name__
    if isinstance(value, Iterator | AsyncIterator | Awaitable):
        raise CaptureError(
            f"an object of type {kind} stands beside the answer, and can be read "
            "only once, so that it cannot be verified: put a list there, or a text"
        )
    if isinstance(value, type | range | types.ModuleType) or text_in(value) is not None:
        return []
    if isinstance(value, Enum):
        return [Part(None, value.value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[object, Any]", value).items()
        return [Part(name, item) for name, item in items]
    found = list(_fields(value))
    if isinstance(value, BaseException):
        found += (Part(None, argument) for argument in value.args)
    if isinstance(value, Collection):
        found += (Part(None, item) for item in cast("Collection[Any]", value))
    return found


def _has_ended(value: object) -> bool:
    """Say whether it is a generator that is at its end: nobody can read anything from it."""
    if isinstance(value, types.GeneratorType):
        return cast("types.GeneratorType[Any, Any, Any]", value).gi_frame is None
    if isinstance(value, types.AsyncGeneratorType):
        # the frame goes away as the generator ends, though its type says that it is always there
        return cast("Any", value).ag_frame is None
    return False


def _fields(value: object) -> Iterator[Part]:
    """Yield the fields of an object: its attributes, and slots of whatever class."""
    kind = cast("type[Any]", type(value))
    if isinstance(value, BaseException) or kind.__module__ != "builtins":
        held = getattr(value, "__dict__", None)
        if isinstance(held, dict):
            yield from (Part(*item) for item in cast("dict[str, Any]", held).items())
    for base in kind.__mro__:
        if base.__module__ == "builtins":
            continue
        for name, slot in vars(base).items():
            if isinstance(slot, types.MemberDescriptorType) and name != _NAMES_ONLY:
                item = getattr(value, slot.__name__, None) if name == slot.__name__ else None
                if item is not None:
                    yield Part(name, item)


def texts_in(
    value: object, but: Container[object] = (), depth: int = 8, *, strict: bool = False
) -> Iterator[str]:
    """Yield the texts in a value, in order: also keys that are more than a name.

    Args:
        value: Whatever stands beside an answer.
        but: Keys and fields that are left out.
        depth: How far to look.
        strict: Refuse objects that are neither texts, numbers and collections nor made of fields
            that their class declares, such as clients and functions.

    Raises:
        CaptureError: If something in it can be read only once, or is refused.
    """
    seen: set[int] = set()
    open_: list[tuple[Any, int]] = [(value, depth)]
    while open_:
        item, depth = open_.pop()
        if (text := text_in(item)) is not None:
            yield text
        elif depth and item is not None and id(item) not in seen:
            seen.add(id(item))
            parts = parts_of(item)
            if strict and not _is_data(item):
                raise CaptureError(
                    f"an object of type {type(item).__name__} stands beside the answer, and cannot "
                    "be verified: put texts, numbers, lists and dicts there"
                )
            below: list[Any] = []
            for name, part in parts:
                if not isinstance(name, str):
                    below += (name, part)
                elif name not in but:
                    below += (name, part) if " " in name.strip() else (part,)
            open_ += ((part, depth - 1) for part in reversed(below))


def _is_data(value: object) -> bool:
    known = isinstance(value, bool | int | float | Collection | Enum | BaseException | BaseModel)
    return known or is_dataclass(value)
