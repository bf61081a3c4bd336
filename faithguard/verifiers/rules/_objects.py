"""Passages that are data, as a tool returns it -> the objects in them, with their fields.

In: the texts of passages: JSON, the form in which Python prints a dict, or lines of "key: value".
Out: `Thing`s, each with its `Field`s; those in a list, or under a key of another, know where they
stand. Nothing for any other text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from faithguard._lazy import lazy
from faithguard.verifiers._terms import analyse, keys_in
from faithguard.verifiers._values import Value, find_values

__all__ = ["Field", "Thing", "things_of"]

_LONGEST = 20_000
"""Characters of a passage."""
_MOST_FIELDS = 400
_DEEPEST = 8
_OPENS = re.compile(r"(?:[\w ]{1,40}:\s*)?(?:```(?:json)?\s*)?(?=[\[{])")
_ESCAPE = re.compile(r"\\[^'\"\\nrtux]")
"""What Python warns of."""
_LINE = re.compile(r"(?P<key>[a-z]\w*(?:[_-]\w+)*):\s+(?P<value>\S.*)$")
_FEWEST_LINES = 2
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAMING = frozenset(
    "id sku code name title label number no nr ref reference key slug product item".split()
)
_STATE = frozenset({"status", "state", "stage", "phase"})
_CURRENCY = frozenset({"currency", "currency code", "currencycode"})
_PLAIN = {"true": True, "yes": True, "false": False, "no": False, "null": None, "~": None}


@dataclass(frozen=True, slots=True)
class Field:
    """A key and what stands under it, which is no object."""

    name: str
    """The words of the key, in lower case."""
    keys: frozenset[str]
    value: object
    """A boolean, a number, a text, or None; of a list each item is a field."""
    values: tuple[Value, ...]
    """What is measured, in the currency of its object."""
    words: frozenset[str]
    """Stems of a text."""

    @property
    def names(self) -> bool:
        """Whether it says which object it is."""
        known = isinstance(self.value, (str, int)) and not isinstance(self.value, bool)
        return known and not _NAMING.isdisjoint(self.name.split()[-1:])

    @property
    def is_state(self) -> bool:
        """Whether it says in which state its object is."""
        return isinstance(self.value, str) and not _STATE.isdisjoint(self.name.split()[-1:])


@dataclass(eq=False)
class Thing:
    """An object."""

    passage: int
    path: frozenset[str]
    """Stems of the keys under which it stands."""
    above: Thing | None
    fields: list[Field] = field(default_factory=list[Field])
    below: list[Thing] = field(default_factory=list["Thing"])
    beside: list[Thing] = field(default_factory=list["Thing"])
    """Those of its list, itself among them."""

    @lazy
    def titles(self) -> list[Field]:
        """What says which object it is: what is called so, or else its first text.

        Of several in a list that text has to be another in each.
        """
        found = [f for f in self.fields if f.names]
        first = next((f for f in self.fields if isinstance(f.value, str)), None)
        if found or first is None or first.is_state:
            return found
        texts = [f.value for t in self.beside for f in t.fields if f.name == first.name]
        return [first] if len(set(texts)) == len(texts) else found

    def whole(self) -> Iterator[Thing]:
        """Yield it and all that stands in it."""
        yield self
        for thing in self.below:
            yield from thing.whole()


def things_of(texts: Sequence[str]) -> list[Thing]:
    """Return the outermost objects of passages."""
    found: list[Thing] = []
    for number, text in enumerate(texts):
        held = _parsed(text) if len(text) <= _LONGEST else None
        found += _Reader(number).objects(held, None, frozenset(), "", 0)
    return [_bare(thing) for thing in found]


def _bare(thing: Thing) -> Thing:
    """Return what alone stands in an object: {"result": {...}}."""
    while not thing.fields and len(thing.below) == 1:
        thing = thing.below[0]
        thing.above = None
    return thing


def _parsed(text: str) -> object | None:
    bare = text.strip()
    opening = _OPENS.match(bare)
    if opening is None:
        return _lines(bare)
    bare = bare[opening.end() :].removesuffix("```").strip()
    try:
        return cast("object", json.loads(bare))
    except (ValueError, RecursionError):
        pass
    if _ESCAPE.search(bare):
        return None
    try:
        return cast("object", ast.literal_eval(bare))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _lines(text: str) -> dict[str, object] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_LINE.match(line) for line in lines]
    if len(lines) < _FEWEST_LINES or None in found:
        return None
    pairs = [(m["key"], m["value"].strip()) for m in found if m is not None]
    if len({key for key, _ in pairs}) < len(pairs):
        return None
    return {key: _scalar(value) for key, value in pairs}


def _scalar(text: str) -> object:
    if text.lower() in _PLAIN:
        return _PLAIN[text.lower()]
    bare = text.strip("\"'")
    if bare == text and re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        return float(text) if "." in text else int(text)
    return bare


class _Reader:
    """Reads one passage."""

    def __init__(self, passage: int) -> None:
        self._passage = passage
        self._left = _MOST_FIELDS

    def objects(
        self, held: object, above: Thing | None, path: frozenset[str], currency: str, depth: int
    ) -> list[Thing]:
        """Return the objects of what stands under a key; those of a list know of each other."""
        if depth > _DEEPEST or self._left <= 0:
            return []
        if isinstance(held, list):
            items = cast("list[object]", held)
            found = [
                t for one in items for t in self.objects(one, above, path, currency, depth + 1)
            ]
            for thing in found:
                thing.beside = found
            return found
        if not isinstance(held, dict):
            return []
        thing = Thing(self._passage, path, above)
        thing.beside = [thing]
        record = {_name(str(k)): v for k, v in cast("dict[object, object]", held).items()}
        currency = next(
            (v for k, v in record.items() if k in _CURRENCY and isinstance(v, str)), currency
        )
        for name, value in record.items():
            inner = path | keys_in(name)
            thing.below += self.objects(value, thing, inner, currency, depth + 1)
            for one in cast("list[object]", value) if isinstance(value, list) else [value]:
                if not isinstance(one, (dict, list)):
                    self._left -= 1
                    thing.fields.append(_field(name, one, currency))
        return [thing]


def _name(key: str) -> str:
    return " ".join(_PARTS.findall(key)).lower()


def _field(name: str, value: object, currency: str) -> Field:
    keys = frozenset(keys_in(name))
    if isinstance(value, bool) or value is None:
        return Field(name, keys, value, (), frozenset())
    text = str(value)
    if isinstance(value, (int, float)):
        values = (*find_values(text), *(find_values(f"{text} {currency}") if currency else ()))
        return Field(name, keys, value, tuple(values), frozenset())
    return Field(name, keys, text, tuple(find_values(text)), frozenset(analyse(text).words))
