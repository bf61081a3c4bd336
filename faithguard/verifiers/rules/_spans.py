"""Stretches of time that a claim and its context write in different ways.

In: a scene and a value of its claim. Out: whether the context gives that stretch: "from nine to
four" where it has "9-16", "built until 1929" where it has "1926-29", "around the clock" where it
has "day and night"; and whether a time of an instance lies in a stretch of the context, or outside
where the claim denies: "at 10 pm" of "20:00-6:00". English, but for figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from faithguard.verifiers._values import Value
from faithguard.verifiers._values._words import ONES
from faithguard.verifiers.rules._measures import is_year
from faithguard.verifiers.rules._scene import Scene

__all__ = ["is_moment_within", "is_same_stretch"]

_HOUR = (
    r"(?:(?P<h{0}>\d{{1,2}})(?:[:.](?P<m{0}>[0-5]\d))?|(?P<w{0}>"
    + "|".join(word for word, number in ONES.items() if 1 <= number <= 12)
    + r"))(?:\s?(?:(?P<ap{0}>[ap])\.?m\b\.?|h\b|o['’]clock))?"
)
_STRETCH = re.compile(
    rf"(?<![\w.,:/£$€+-]){_HOUR.format(1)}\s?(?:-|–|—|to|until|till|and)\s?{_HOUR.format(2)}(?!\w|%|[.,:]\d)",
    re.I,
)
_NOON, _DAY = 720, 1440
_AT = re.compile(r"\bat\s+(?:about\s+|around\s+)?$", re.I)
_EDGE = re.compile(
    r"\b(?:beg[aiu]n\w*|start\w*|end(?:s|ed)?|finish\w*|open\w*|clos\w+|first|last|until|till|from|since|before"
    r"|after|leaves?|departs?|arriv\w+)\b",
    re.I,
)
"""What makes a time one at which something begins or ends."""
_DENIES = re.compile(r"\b(?:no|not|nobody|none|never|cannot|\w+n['’]t)\b", re.I)
_ALL_DAY = re.compile(
    r"\b(?:around\s+the\s+clock|day\s+and\s+night|night\s+and\s+day|24/7|24\s?h(?:ours)?(?:\s+a\s+day)?|at\s+(?:any|all)\s+(?:time|hour)s?"
    r"(?:\s+of\s+(?:the\s+)?day)?)\b",
    re.I,
)
_YEARS = re.compile(r"(?<!\d)(?P<from>[12]\d{3})\s?[-–—/]\s?(?P<to>\d{2})(?!\d|[-–/]\d)")

_Stretch = tuple[frozenset[int], frozenset[int]]
"""In minutes of a day, when it begins and ends: each as it may be meant."""


def is_same_stretch(scene: Scene, value: Value) -> bool:
    """Whether a value ends a stretch that the context gives in another way."""
    text = scene.reading.text
    if is_year(value):
        return any(value.text in _ends_of_years(r.text) for r in scene.all)
    if "clock" in value.text.lower() and value.unit:
        held = scene.context.holders(value)
        return not held and any(_ALL_DAY.search(reading.text) for reading in scene.all)
    if value.unit or value.family not in ("number", "clock"):
        return False
    for (start, end), mine in _stretches(text):
        if start <= value.start < end:
            return not _is_of_hours(mine) and any(
                _is_of_hours(theirs) and all(a & b for a, b in zip(mine, theirs, strict=True))
                for reading in scene.all
                for _, theirs in _stretches(reading.text)
            )
    return False


def is_moment_within(scene: Scene, value: Value) -> bool:
    """Whether a time is that of an instance, and lies where the claim says in a stretch."""
    text = scene.reading.text
    if value.family != "clock" or not _AT.search(text[: value.start]) or _EDGE.search(text):
        return False
    denied = _DENIES.search(text) is not None
    times = [minutes for minutes in value.readings if isinstance(minutes, int)]
    stretches = [s for near in scene.near for _, s in _stretches(near.reading.text)]
    held = any(_lies_in(at, s) for at in times for s in stretches if _is_of_hours(s))
    return bool(stretches) and held != denied


def _lies_in(at: int, stretch: _Stretch) -> bool:
    low, high = (min(ends) for ends in stretch)
    return low <= at <= high if low <= high else at >= low or at <= high


def _is_of_hours(stretch: _Stretch) -> bool:
    """Whether a stretch is surely one of hours, on the clock of a whole day."""
    return all(len(ends) == 1 for ends in stretch)


@lru_cache(maxsize=1_024)
def _stretches(text: str) -> tuple[tuple[tuple[int, int], _Stretch], ...]:
    """Return where stretches of hours stand, and what they may be."""
    return tuple(_found(text))


def _found(text: str) -> Iterator[tuple[tuple[int, int], _Stretch]]:
    for match in _STRETCH.finditer(text):
        hours = [int(match[f"h{n}"] or ONES.get((match[f"w{n}"] or "").lower(), 0)) for n in (1, 2)]
        if max(hours) > _DAY // 60:
            continue
        whole = max(hours) > _NOON // 60 or any((match[f"h{n}"] or "")[:1] == "0" for n in (1, 2))
        low, high = (
            _minutes(hour, int(match[f"m{n}"] or 0), (match[f"ap{n}"] or "").lower(), whole=whole)
            for n, hour in zip((1, 2), hours, strict=True)
        )
        yield match.span(), (low, high)


def _minutes(hour: int, minute: int, half: str, *, whole: bool) -> frozenset[int]:
    """Return what an hour may be; on a clock of the whole day it is what it says."""
    if half:
        return frozenset((hour % 12 * 60 + minute + _NOON * (half == "p"),))
    at = hour * 60 + minute
    return frozenset((at % _DAY,)) if whole else frozenset((at % _DAY, (at + _NOON) % _DAY))


@lru_cache(maxsize=1_024)
def _ends_of_years(text: str) -> frozenset[str]:
    """Return the years that end "1926-29"."""
    return frozenset(
        match["from"][:2] + match["to"]
        for match in _YEARS.finditer(text)
        if match["from"][2:] < match["to"]
    )
