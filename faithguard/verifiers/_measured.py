"""A statement that bounds a value -> the same with the value that the context has.

In: "The pack holds more than 5 tablets." and a context. Out: "The pack holds 8 tablets.", and
whether that makes the first true.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from faithguard.verifiers._context import Context
from faithguard.verifiers._facts import facts_of, nearest
from faithguard.verifiers._terms import analyse
from faithguard.verifiers._values import Value

__all__ = ["Measured", "measured"]

_Compare = Callable[[Any, Any], bool]

_MORE = r"(?:more|longer|larger|greater|higher|later|older|heavier) than|over|above|after|past"
_LESS = r"(?:less|fewer|shorter|smaller|lower|earlier|younger|lighter) than|under|below|before"
_BOUNDS: tuple[tuple[str, _Compare], ...] = (
    (r"no(?:t more| (?:more|later|longer)) than|at (?:the )?most|up to|a maximum of", operator.le),
    (r"no(?:t less| (?:less|fewer|earlier)) than|at (?:the )?least|a minimum of", operator.ge),
    (_MORE, operator.gt),
    (_LESS, operator.lt),
)
_BOUND = re.compile(
    rf"\b(?:{'|'.join(f'({words})' for words, _ in _BOUNDS)})\s+(?:an?\s+|the\s+)?\W?$",
    re.IGNORECASE,
)
_BOUNDED = re.compile(
    r"\b(?:than|most|least|up to|maximum|minimum|over|above|under|below|from|between|about|around|"
    r"nearly|almost|roughly|approximately|until|before|after|within)\s+(?:an?\s+|the\s+)?\W?$",
    re.IGNORECASE,
)
_NOT_ORDERED = re.compile(r"midnight", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Measured:
    """A statement with the value that the context has."""

    text: str
    true: bool | None
    """Whether that makes the first statement true; None if it cannot be told."""


def measured(statement: str, context: Context) -> Measured | None:
    """Return a statement with the value of the context; None if it bounds none that is there."""
    for value in analyse(statement).values:
        bound = _BOUND.search(statement[: value.start])
        if bound is None:
            continue
        compare = next(c for group, (_, c) in zip(bound.groups(), _BOUNDS, strict=True) if group)
        bare = f"{statement[: bound.start()]}{statement[value.end :]}"
        found = _found(value, _next(statement, value), bare, context)
        if found is None:
            return None
        other, before = found
        said = re.search(rf"{re.escape(bound[0].strip())}\s+\W?$", before, re.IGNORECASE)
        if said is not None and value.agrees(other):
            return None
        link = {"clock": "at ", "date": "on "}.get(other.family, "")
        text = f"{statement[: bound.start()]}{link}{other.text.strip(' .')}{statement[value.end :]}"
        loose = other.approximate or other.ranged or _BOUNDED.search(before) is not None
        ordered = not (_NOT_ORDERED.search(other.text) or _NOT_ORDERED.search(value.text))
        true = None if loose or not ordered else _holds(compare, other, value)
        return Measured(text, true)
    return None


def _next(text: str, value: Value) -> tuple[str, ...]:
    """Return the key of the word that stands after a value: of what it is a number."""
    return analyse(" ".join(text[value.end :].split()[:1])).words


def _found(
    value: Value, counted: tuple[str, ...], bare: str, context: Context
) -> tuple[Value, str] | None:
    """Return the one value that the context has in the place of another, and what is before it."""
    terms = analyse(bare)
    facts = [f for s in context.select(bare).sentences for f in facts_of(s, context)]
    for fact in nearest(frozenset(terms.words), terms.distinct, facts):
        rivals = [o for o in analyse(fact.text).values if value.comparable(o)]
        alike = [o for o in rivals if _next(fact.text, o) == counted]
        rivals = alike if len(rivals) > 1 else rivals
        if len(rivals) == 1:
            return rivals[0], fact.text[: rivals[0].start]
    return None


def _holds(compare: Callable[[object, object], bool], mine: Value, bound: Value) -> bool | None:
    if mine.unit != bound.unit or mine.family not in ("number", "clock"):
        return None
    found = {compare(a, b) for a in _ordered(mine) for b in _ordered(bound)}
    return found.pop() if len(found) == 1 else None


def _ordered(value: Value) -> Sequence[object]:
    return [reading for reading in value.readings if not isinstance(reading, frozenset | tuple)]
