"""Values of a claim: which differ, which are years, and which sentences hold them.

In: a reading or a scene. Out: values, and the sentences of the context that hold one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = [
    "LONG",
    "SAME_STATEMENT",
    "alike",
    "alike_in_size",
    "all_against",
    "differing",
    "distinct",
    "every_holding",
    "holding",
    "share_beside",
    "is_timed",
    "is_year",
    "keys_between",
    "size_of",
]


SAME_STATEMENT = 0.5
"""Share of a claim's content that a sentence must hold before its value can contradict."""
_MOST_VALUES = 100
"""Values of one claim that are looked for one by one; what has more is no statement."""
_COMMON = 200
"""Sentences; a value that more of them hold tells nothing."""


_FIRST_YEAR, _LAST_YEAR = 1000, 2200


def distinct(reading: Reading) -> tuple[Value, ...]:
    """Return the first values of a reading that differ in meaning, in order; found once."""
    found: tuple[Value, ...] | None = reading.notes.get("distinct")
    if found is None:
        found = reading.notes["distinct"] = differing(reading.values)
    return found


def differing(values: Sequence[Value]) -> tuple[Value, ...]:
    if len(values) < 2:
        return tuple(values)
    found = tuple({value.meaning: value for value in reversed(values)}.values())[::-1]
    return found[:_MOST_VALUES]


def is_year(value: Value) -> bool:
    """Whether a number is likely a year."""
    return (
        value.family == "number"
        and not value.unit
        and value.text.isdigit()
        and any(_FIRST_YEAR <= size_of(reading) < _LAST_YEAR for reading in value.readings)
    )


def keys_between(reading: Reading, start: int, end: int) -> frozenset[str]:
    """Return the keys of the words that begin in a stretch of a text."""
    return frozenset(t.key for t in reading.tokens if t.key and start <= t.start < end)


def share_beside(scene: Scene, value: Value, near: Near) -> float:
    """Return the share in [0, 1] that a sentence holds of a claim, or of the clause of a value."""
    clause = scene.reading.clause_at(value.start)
    if clause is None or len(clause.keys) < _FEWEST:
        return near.share
    whole = scene.weight(clause.keys)
    return max(near.share, scene.weight(clause.keys & near.reading.keys) / whole)


_FEWEST = 3
"""Words of a clause from which it says enough to be compared alone."""


def is_timed(value: Value) -> bool:
    return value.family != "number" or value.unit in ("second", "month")


LONG = 7
"""Digits; who writes more without a mark writes a number of a phone, a book, an account."""


def alike_in_size(one: Value, two: Value) -> bool:
    """Whether both are shares of one, or neither is."""
    return (min(map(size_of, one.readings)) < 1) == (min(map(size_of, two.readings)) < 1)


def size_of(reading: object) -> Fraction:
    return reading if isinstance(reading, Fraction) else Fraction(0)


def alike(value: Value, rival: Value) -> bool:
    return value.unit == rival.unit or bool(value.bare & rival.bare)


def holding(scene: Scene, value: Value) -> Iterator[tuple[Near, Value]]:
    """Yield the sentences that hold a value, and as what; none if it is too common to tell."""
    seen = -1
    for near, other in every_holding(scene, value):
        if near.number != seen:
            seen = near.number
            yield near, other


def every_holding(scene: Scene, value: Value) -> Iterator[tuple[Near, Value]]:
    """Yield the same, with each place of a sentence that holds it in several."""
    numbers = scene.context.holders(value)
    for number in sorted(numbers) if len(numbers) <= _COMMON else ():
        near = scene.at(number)
        for other in near.reading.values:
            if value.agrees(other):
                yield near, other


def all_against(
    scene: Scene, value: Value, tells_against: Callable[[Near, Value], bool]
) -> tuple[Near, Value] | None:
    """Return the last place that holds a value, if each of them tells against the claim.

    Args:
        scene: The claim and its context.
        value: Of the claim.
        tells_against: Whether a place of a sentence does.
    """
    last = None
    for near, other in every_holding(scene, value):
        if not tells_against(near, other):
            return None
        last = near, other
    return last
