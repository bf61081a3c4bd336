"""Numbers and truth values that a model put into fields -> statements.

In: a field's name and value. Out: a text such as "dose mg: 500" or "refundable: no", which is read
like any other claim; or that the field speaks of the answer itself, and states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeGuard, cast
from uuid import UUID

from pydantic import TypeAdapter

from faithguard.contents import text_in
from faithguard_langchain._values import fields_of

__all__ = [
    "Scalar",
    "as_said",
    "is_id",
    "is_meta",
    "is_scalar",
    "listed_in",
    "numbers_in",
    "scalars_in",
    "stated",
]

Scalar = bool | int | float | str
"""A string only if it is a number, a time or the like, in one word."""

_IN_ONE_WORD = re.compile(r"[$€£<>~+-]?\d[\d.,:/-]*(?:%|[a-z]{1,3})?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])")

_MARKS = frozenset("confidence certainty probability likelihood score rating relevance".split())
_WHOSE = frozenset("answer response reply model self overall level value".split())
"""With which words a name is still of a mark that a model gives its own answer."""
_MOST_MARKS = 100

_OF_ANSWERS = frozenset(
    "answered answerable found sufficient grounded abstained refused complete relevant".split()
)
"""What a truth value says of an answer, or of the context: whether there is one."""
_SUBJECTS = frozenset("is has was can be the answer response context information question".split())

_PLACES = frozenset(
    "index indices page pages line lines citation citations reference references ref refs source "
    "sources chunk chunks passage passages document documents doc docs rank".split()
)
"""Numbers that say where something stands in the context."""


_WRITTEN = Decimal | Fraction | date | time | timedelta | UUID
"""Values that a model's output is read as, and that say what their text says."""


def as_said(value: Any) -> Any:
    """Return a text for bytes, and for what a parser makes of a number, a date or the like."""
    if isinstance(value, Enum):
        return as_said(value.value)
    if isinstance(value, _WRITTEN):
        return str(value)
    return value if (text := text_in(value)) is None else text


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Say whether a value is a number or a truth value, written out or not."""
    if isinstance(value, str):
        return _IN_ONE_WORD.fullmatch(value.strip()) is not None
    return isinstance(value, bool | int | float)


def scalars_in(value: Any, name: str = "", depth: int = 6) -> Iterator[tuple[str, Scalar]]:
    """Yield the numbers and truth values in a value, each with the name of its field."""
    if is_scalar(value):
        if name:
            yield name, value
    elif depth and isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from scalars_in(item, name, depth - 1)
    elif depth and (fields := fields_of(value)) is not None:
        for own, item in fields.items():
            yield from scalars_in(item, str(own), depth - 1)


def stated(name: str, value: Scalar) -> str:
    """Return what a field states."""
    if isinstance(value, bool):
        told = "yes" if value else "no"
    elif isinstance(value, float) and value.is_integer():
        told = str(int(value))
    else:
        told = str(value).strip()
    return f"{' '.join(_words(name))}: {told}"


def is_meta(name: str, value: Scalar) -> bool:
    """Say whether a field is of the answer itself, or says where something stands.

    Of the answer: a mark from 0 to 100 (`confidence`, `answer_score`), or whether there is an
    answer (`answer_found`, `is_relevant`). Where: `page`, `citations`, `source_index`.
    """
    words = set(_lower(name))
    if isinstance(value, bool):
        return bool(words & _OF_ANSWERS) and words <= _OF_ANSWERS | _SUBJECTS
    if words & _MARKS and words <= _MARKS | _WHOSE:
        return isinstance(value, int | float) and 0 <= value <= _MOST_MARKS
    return bool(words) and _lower(name)[-1] in _PLACES


def is_id(name: str) -> bool:
    """Say whether a field names something by a number, which states nothing if it is known."""
    return _lower(name)[-1:] in (["id"], ["ids"])


def listed_in(schema: Any) -> Iterator[Any]:
    """Yield the words and numbers that a schema lists for a model to choose from.

    Args:
        schema: A class, a JSON schema, what holds one, or the parameters of a model's call.
    """
    schema = schema if isinstance(schema, type) else getattr(schema, "schema", schema)
    open_: list[Any] = [schema if isinstance(schema, dict) else TypeAdapter(schema).json_schema()]
    while open_:
        value = open_.pop()
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            yield from (fields.get("enum") or ()) if isinstance(fields.get("enum"), list) else ()
            yield fields.get("const")
            open_ += fields.values()
        elif isinstance(value, list):
            open_ += cast("list[Any]", value)


def numbers_in(text: str) -> set[str]:
    """Return the numbers in a text, as they are written there."""
    return set(_NUMBER.findall(text))


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[\s_.-]+", _HUMP.sub(" ", name)) if word]


def _lower(name: str) -> list[str]:
    return [word.casefold() for word in _words(name)]
