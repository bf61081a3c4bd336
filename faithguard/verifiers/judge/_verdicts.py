"""A judge's reply -> what it says of each id, if it can be believed.

In: the JSON values of a reply, and the ids that were asked. Out: for each id the label and the
quotes, or nothing where the reply has none, has two that differ, or has one that is no label. The
ids hold a reply together: where its frame is another than the one asked for, they still tell what
belongs to what, and what has none of them (an example, a verdict that stood in a passage) is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

__all__ = ["Label", "Quote", "Said", "label_of", "quotes_of", "said_of"]

Label: TypeAlias = Literal["supported", "contradicted", "not_mentioned"]

_LABELS: Mapping[str, Label] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_mentioned": "not_mentioned",
    # what says that support is lacking may be taken for that in any words
    "unsupported": "not_mentioned",
    "not_supported": "not_mentioned",
    "unmentioned": "not_mentioned",
    "neither": "not_mentioned",
    "neutral": "not_mentioned",
}
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch that a judge says it copied."""

    passage: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge says of one claim."""

    label: Label
    quotes: tuple[Quote, ...]


def said_of(values: Sequence[Any], ids: Collection[str]) -> dict[str, Said]:
    """Return what a reply says of each id.

    Of two objects that differ on a claim none is taken: which of them a model means cannot be
    told, and asking again is cheaper than a verdict that it has taken back.
    """
    found: dict[str, Said] = {}
    void: set[str] = set()
    for key, entry in _entries(values, {name.casefold(): name for name in ids}):
        label = label_of(entry.get("label", entry.get("verdict")))
        if label is None:
            void.add(key)
            continue
        said = Said(label, quotes_of(entry))
        if key in found and found[key].label != label:
            void.add(key)
        found.setdefault(key, said)
    return {key: said for key, said in found.items() if key not in void}


def _entries(
    value: object, ids: Mapping[str, str], depth: int = 0
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects that carry an id, wherever in a reply they stand."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _entries(item, ids, depth + 1)
    if not isinstance(value, dict):
        return
    held = cast("dict[str, Any]", value)
    key = held.get("id")
    if isinstance(key, str) and key.strip().casefold() in ids:
        yield ids[key.strip().casefold()], held
        return
    for name, item in held.items():
        if name.strip().casefold() in ids:  # {"id": {"label": ...}} or {"id": "label"}
            entry = cast("dict[str, Any]", item) if isinstance(item, dict) else {"label": item}
            yield ids[name.strip().casefold()], entry
        else:
            yield from _entries(item, ids, depth + 1)


def label_of(value: object) -> Label | None:
    """Return a label, however it is written."""
    if not isinstance(value, str):
        return None
    return _LABELS.get(re.sub(r"[\s_-]+", "_", value.strip(" .\"'*").casefold()))


def quotes_of(entry: Mapping[str, Any]) -> tuple[Quote, ...]:
    """Return the quotes of a verdict, in a list or alone."""
    held = entry.get("quote", entry.get("quotes", entry.get("evidence")))
    items: list[object] = cast("list[object]", held) if isinstance(held, list) else [held]
    found: list[Quote] = []
    for item in items:
        inner = cast("dict[str, Any]", item) if isinstance(item, dict) else {"quote": item}
        text = inner.get("quote", inner.get("text"))
        if isinstance(text, str) and text.strip():
            found.append(Quote(_number(inner.get("passage", entry.get("passage"))), text))
    return tuple(found)


def _number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = re.search(r"\d{1,6}", value) if isinstance(value, str) else None
    return int(digits.group()) if digits else None
