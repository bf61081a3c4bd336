"""Values that stand nowhere in the context and are granted by it all the same.

In: a scene and a value of its claim. Out: whether it lies in a range or within a bound that the
context gives, only ends a name, is an example, or is written otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers.rules._derived import in_proportion, multiplied
from faithguard.verifiers.rules._measures import LONG, distinct, is_year, size_of
from faithguard.verifiers.rules._reading import Token
from faithguard.verifiers.rules._scene import Scene

__all__ = [
    "ends_a_name",
    "in_a_name",
    "in_century",
    "in_scale",
    "is_example",
    "is_in_range",
    "is_kept_by",
    "left_out",
    "under_negation",
    "within_a_bound",
    "within_bound",
    "written",
]


def is_example(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether a value is what a claim works out another by, or is worked out by another.

    "A load of 300 kg costs 60 euros", of "We charge 20 cents per kg".
    """
    others = [
        other
        for other in distinct(scene.reading)
        if not other.agrees(value) and not scene.context.holders(other)
    ]
    if others and _EXAMPLE.match(scene.reading.text):
        return True
    for other in others:
        for one, two in ((value, other), (other, value)):
            if one.family == "number" and multiplied(two, one, lines):
                return True
        if other.family == value.family == "number" and in_proportion(value, other, lines):
            return True
    singles = [
        single
        for match in _ONE_UNIT.finditer(scene.reading.text)
        for single in find_values(f"1 {match[1]}")
        if single.unit
    ]
    return value.family == "number" and any(in_proportion(value, s, lines) for s in singles)


_ONE_UNIT = re.compile(r"\b(?:an?|per|each|every)\s+([^\W\d_]+)", re.I)


def is_in_range(scene: Scene, value: Value) -> bool:
    """Whether a value lies in a range that the context gives: a child of ten, "from 6 to 12"."""
    text = scene.reading.text
    if value.family != "number" or value.ranged or _RANGE_ENDS.match(text, value.end):
        return False
    if _RANGE_BEGINS.search(text[max(0, value.start - 24) : value.start]):
        return False
    for near in scene.near:
        for low, high in pairwise(near.reading.values):
            ends = low.family == high.family == "number" and high.unit in (value.unit, "")
            if not ends or not _RANGE.fullmatch(near.reading.text, low.end, high.start):
                continue
            if _between(value, low, high):
                return True
    return False


def _between(value: Value, low: Value, high: Value) -> bool:
    if value.unit and not high.unit:  # a child of ten years: "from 6 to 12"
        sides = value.bare, low.bare, high.bare
    else:
        sides = value.readings, low.readings, high.readings
    return any(
        a < v < b
        for v, a, b in product(*sides)
        if isinstance(v, Fraction) and isinstance(a, Fraction) and isinstance(b, Fraction)
    )


_RANGE = re.compile(r"\s*(?:-|–|—|to|and|bis|und|à|a|et|y|e|~|〜|至|到)\s*", re.I)


_RANGE_ENDS = re.compile(r"\s*(?:-|–|—|to|bis)\s*\d", re.I)


_RANGE_BEGINS = re.compile(r"(?:\bfrom\s+|\bbetween\s+|\d\s*(?:-|–|—|to|and)\s*)$", re.I)


def within_a_bound(scene: Scene, value: Value) -> bool:
    """Whether a value is an example to which a bound applies: a child of ten, "under 15"."""
    text = scene.reading.text
    given = _EXAMPLE.match(text) or _OF_ONE.search(text[max(0, value.start - 40) : value.start])
    if not given or _BOUNDED.search(text[max(0, value.start - 24) : value.start]):
        return False
    for near in scene.near:
        for other in near.reading.values:
            if other.family != value.family or other.unit not in (value.unit, ""):
                continue
            if other.counts and value.unit:
                continue
            way = _bound_of(near.reading.text, other)
            readings = value.readings if other.unit == value.unit else value.bare
            if way and any(_meets(a, b, way) for a in readings for b in other.readings):
                return True
    return False


def _bound_of(text: str, value: Value) -> int:
    """Return 1 for "over 15", -1 for "under 15", 0 where there is no bound."""
    before, after = text[max(0, value.start - 24) : value.start], text[value.end : value.end + 20]
    if _AT_LEAST_AFTER.match(after):
        return 1
    match = _ANY_BOUND.search(before)
    return 0 if match is None else -1 if match["most"] else 1


def _meets(one: object, bound: object, way: int) -> bool:
    if isinstance(one, Fraction) and isinstance(bound, Fraction):
        return one >= bound if way > 0 else one <= bound
    if isinstance(one, int) and isinstance(bound, int):
        return one >= bound if way > 0 else one <= bound
    return False


_EXAMPLE = re.compile(
    r"\s*(?:(?:an?|one)\s+[a-z]|someone|somebody|anyone|anybody|whoever|if\b|for\s+an?\s|those\s+who|who\s)",
    re.I,
)


_OF_ONE = re.compile(
    r"\b(?:an?|any|each)\s+(?:[\w-]+\s+){1,3}(?:aged|worth|weighing)\s+(?:about\s+)?$", re.I
)


_ANY_BOUND = re.compile(
    r"\b(?:(?P<most>under|below|less\s+than|fewer\s+than|up\s+to|at\s+most|before|until|by|within)"
    r"|over|above|more\s+than|at\s+least|from|after|exceeding)\s+(?:the\s+age\s+of\s+)?\W?$",
    re.I,
)


_AT_LEAST_AFTER = re.compile(
    r"\s*(?:or\s+(?:more|over|older|above)|and\s+(?:over|above|older))\b", re.I
)


def left_out(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether a claim denies something of the days that the context leaves out."""
    if not _CLOSED.search(scene.reading.text):
        return False
    rest = (
        frozenset(range(7)) - days
        for line in lines
        for other in line
        for days in other.readings
        if isinstance(days, frozenset)
    )
    return any(isinstance(r, frozenset) and r <= days for days in rest for r in value.readings)


_CLOSED = re.compile(
    r"\b(?:closed|closes|shut|except|geschlossen|fermée?s?|cerrad[oa]s?|chius[oiae]|fechad[oa]s?)\b",
    re.I,
)


def under_negation(scene: Scene, value: Value) -> bool:
    """Whether a clause denies something of a value: "it does not run on Wednesdays"."""
    clause = scene.reading.clause_at(value.start)
    if clause is None or _NOT_MORE.search(scene.reading.text[: value.start]):
        return False
    words = scene.reading.words(clause)
    if not scene.reading.text.isascii() and _NEGATED_ELSEWHERE.search(
        scene.reading.text, words[0].start, words[-1].end + 3
    ):
        return True
    return any(token.lower in _NEGATORS or token.lower.endswith("n't") for token in words)


_NEGATED_ELSEWHERE = re.compile(
    r"不(?![超少多低高到足得]|同)|[没沒未]|ない|ません|(?<!\w)(?:لا|ليس|ليست|بدون|नहीं|बिना)(?!\w)"
)


_NOT_MORE = re.compile(
    r"\b(?:no|not|never|cannot|n['’]t)\s+(?:\w+\s+)?(?:exceed|surpass|(?:more|less|fewer|later|earlier|longer)\s+than)\s+\W?$",
    re.I,
)


_NEGATORS = frozenset("not never no nicht kein keine pas ne non não nunca".split())


def ends_a_name(scene: Scene, value: Value) -> bool:
    """Whether a number only ends a name that the context shortens: "Apollo 11"."""
    before = [token for token in scene.reading.tokens if token.end <= value.start][-1:]
    return (
        value.family == "number"
        and not value.unit
        and value.text.isdigit()
        and bool(before)
        and not _numbered_otherwise(scene, before[0])
        and before[0].capital
        and before[0].end + 1 == value.start
        and before[0].key is not None
        and scene.known(before[0].key)
        and not is_year(value)
    )


def _numbered_otherwise(scene: Scene, word: Token) -> bool:
    """Whether the context gives a word another number: "port 7443"."""
    return word.key is not None and any(
        a.key == word.key and b.value >= 0 and b.start == a.end + 1
        for number in scene.pages.holders(word.key)
        for a, b in pairwise(scene.all[number].tokens)
    )


def in_century(scene: Scene, value: Value) -> bool:
    """Whether "the 13th century" is that of a year in the context."""
    if not _CENTURY.match(scene.reading.text, value.end):
        return False
    years = {int(year) // 100 + 1 for text in scene.pages.squeezed for year in _YEAR.findall(text)}
    return any(reading in years for reading in value.readings)


_CENTURY = re.compile(r"(?:st|nd|rd|th)?[\s-]centur", re.I)


_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")


def in_scale(value: Value, scene: Scene) -> bool:
    """Whether a table in millions holds the figure that the answer writes out."""
    if value.scale == 1:
        return False
    plain = {r / value.scale for r in value.bare if isinstance(r, Fraction)}
    return any(
        not other.unit and plain & other.readings
        for reading in scene.all
        for other in reading.values
        if other.family == "number" and other.scale == 1
    )


def in_a_name(scene: Scene, value: Value) -> bool:
    """Whether a value in words is part of a title: "High Noon", "the Thirty Years' War"."""
    words = value.text.split()
    return (
        value.start > 0
        and all(word.isalpha() and word.istitle() for word in words)
        and (value.family in ("number", "clock"))
    )


def within_bound(value: Value, scene: Scene) -> bool:
    """Whether "more than 100,000" follows from what the context says: 258,000."""
    return any(
        is_kept_by(scene, value, other)
        for near in scene.near
        for other in near.reading.values
        if not is_year(other)
    )


def is_kept_by(scene: Scene, value: Value, other: Value) -> bool:
    """Whether a claim gives a value as a bound, and one of the context keeps it."""
    match = _BOUNDED.search(scene.reading.text[max(0, value.start - 24) : value.start])
    if match is None or not value.family == other.family == "number" or value.unit != other.unit:
        return False
    more = not match[1].lower().startswith(_AT_MOST)
    return any(
        (a >= b) == more for a in map(size_of, other.readings) for b in map(size_of, value.readings)
    )


_BOUNDED = re.compile(
    r"\b((?:exceed|surpass|topp?|pass|ultrapass|super|rebas|dépass|überst|überschr)\w*(?:\s+(?:as|os|die|les|los|las))?"
    r"|more\s+than|plus\s+de|más\s+de|mais\s+de|mehr\s+als|più\s+di|über|oltre|over|at\s+least|above|no\s+less\s+than|less\s+than|fewer\s+than|under|below"
    r"|at\s+most|up\s+to|no\s+more\s+than)\s+\W?$",
    re.I,
)


_AT_MOST = ("less", "fewer", "under", "below", "at most", "up to", "no more")


def written(value: Value, scene: Scene) -> bool:
    """Whether a number without a unit stands inside a word: "exports_2023", "48 Monatsraten"."""
    if value.family != "number":
        return False
    if value.unit == "month":
        return any(
            not other.unit and other.readings & value.readings
            for reading in scene.all
            for other in reading.values
        )
    digits = value.text if value.text.isdigit() else ""
    if len(digits) >= LONG and any(digits in text for text in scene.pages.figures):
        return True
    return bool(digits) and any(
        re.search(rf"(?<!\d){digits}(?!\d)", text) for text in scene.pages.squeezed
    )
