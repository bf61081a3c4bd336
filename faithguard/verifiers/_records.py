"""A statement beside the record that a tool returned: one flat object of JSON.

In: a statement and its context. Out: the statement in the words of the record, where all that it
says stands there: each value under a key that the statement names, each word in such a key or in
what stands under it. What an order has as its total is what it costs. Nothing where it is not sure.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import cast

from faithguard.verifiers._context import Context
from faithguard.verifiers._statement import NEGATIVE
from faithguard.verifiers._terms import analyse, keys_in
from faithguard.verifiers._values import find_values

__all__ = ["in_record"]

_LONGEST = 4_000
"""Characters of a record."""
_COST = re.compile(r"\b(?:costs?|amount(?:s|ed)? to|comes? to|came to)\b", re.IGNORECASE)
_COSTS = keys_in("cost price total amount")
_AMOUNT = keys_in("cost price total amount sum grand order value")
"""Words of a key under which the price of the whole stands."""
_NAMING = keys_in("id number no nr code ref reference status state date type name currency key")
"""Words of keys that a statement need not say."""
_CURRENCIES = frozenset({"currency", "currency_code", "currencycode"})
_WORD = re.compile(r"\w+")
_MEMO = "records"


@dataclass(frozen=True, slots=True)
class _Leaf:
    name: str
    key: frozenset[str]
    text: str
    words: frozenset[str]
    """Stems, of what is no number."""

    @property
    def written(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text.casefold()))


def in_record(text: str, context: Context) -> str | None:
    """Return a statement in the words of a record that says all of it; None if none does."""
    if _MEMO not in context.memo:
        context.memo[_MEMO] = [r for p in context.passages if (r := _record(p.text)) is not None]
    held: list[list[_Leaf]] = context.memo[_MEMO]
    if not held or NEGATIVE.search(text):
        return None
    return next((said for leaves in held if (said := _said(text, leaves)) is not None), None)


def _said(text: str, leaves: list[_Leaf]) -> str | None:
    terms = analyse(text)
    own, cost = set(terms.words), _COST.search(text)
    amounts = [leaf for leaf in leaves if leaf.key & _COSTS and leaf.key <= _AMOUNT]
    if cost is not None:
        if len(amounts) != 1:
            return None
        own = (own - keys_in(cost[0])) | amounts[0].key
    used: list[_Leaf] = []
    for value in terms.distinct:
        found = [
            leaf
            for leaf in leaves
            if leaf.key & own
            and any(value.agrees(v) and v.unit == value.unit for v in find_values(leaf.text))
        ]
        if len(found) != 1:
            return None
        used += found
    # word by word: "shipping" is not "shipped"
    written = set(_WORD.findall(text.casefold()))
    used += [leaf for leaf in leaves if leaf.words and leaf.written <= written]
    # a key of which the statement says less is of something else: "previous order"
    used = [leaf for leaf in used if leaf.key - _NAMING <= own and not NEGATIVE.search(leaf.text)]
    if cost is not None and amounts[0] not in used:
        return None
    known = {word for leaf in used for word in (*leaf.key, *leaf.words)}
    if not used or not own <= known or len(used) < 2:
        return None
    return text if cost is None else _COST.sub(f"has the {amounts[0].name}", text, count=1)


def _record(text: str) -> list[_Leaf] | None:
    """Return the leaves of a text that is one flat object, or one in a list or under a name."""
    bare = text.strip()
    if not bare.startswith(("{", "[")) or len(bare) > _LONGEST:
        return None
    try:
        held: object = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    while isinstance(held, (dict, list)) and len(held) == 1:  # pyright: ignore[reportUnknownArgumentType]
        inner = cast("list[object]", list(held.values() if isinstance(held, dict) else held))[0]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
        if not isinstance(inner, (dict, list)):
            break
        held = cast("object", inner)
    if not isinstance(held, dict):
        return None
    record = cast("dict[str, object]", held)
    if any(isinstance(value, (dict, list)) for value in record.values()):
        return None
    currency = next((str(v) for k, v in record.items() if k.lower() in _CURRENCIES), "")
    return [_leaf(key, value, currency) for key, value in record.items()]


def _leaf(key: str, value: object, currency: str) -> _Leaf:
    name = " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", key)).lower()
    keys = frozenset(keys_in(name))
    if isinstance(value, bool) or value is None:
        return _Leaf(name, keys, "", frozenset())
    text = str(value)
    if isinstance(value, (int, float)) and keys & _COSTS:
        text = f"{text} {currency}".strip()
    words = () if isinstance(value, (int, float)) else analyse(text).words
    return _Leaf(name, keys, text, frozenset(words))
