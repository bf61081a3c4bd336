"""Dates and times: dates, days of the week, times of the day, lengths of time.

In: a claim and its context. Out: a veto where one of them stands nowhere or belongs to something
else, or where "before" became "after"; else silence. What can be read in two ways is never a sure
contradiction.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import Scene, contradiction, scene_of
from faithguard.verifiers.rules._stated import distinct, holding, stated

__all__ = ["DatesTimes"]

_SAME_STATEMENT = 0.35
_ORDER = re.compile(
    r"\s*(?:or\s+more\s+)?(before|after|ahead\s+of|prior\s+to|earlier\s+than|later\s+than|following)\b",
    re.I,
)
_LATER = ("after", "later than", "following")


class DatesTimes(Family):
    """Veto a date or time that the context does not hold, or holds of something else."""

    name = "dates_times@2"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every date and time is held."""
        scene = scene_of(claim, context)
        if not scene.reading.values:
            return None
        return (
            stated(scene, self.name, _timed)
            or _reversed(scene, self.name)
            or _no_such_day(scene, self.name)
        )


def _timed(value: Value) -> bool:
    return value.family != "number" or value.unit in ("second", "month", "business day")


def _no_such_day(scene: Scene, name: str) -> Verdict | None:
    """Veto "Friday 7 June 2025", which is a Saturday, unless the context says so too."""
    values = scene.reading.values
    for day, value in pairwise(values):
        gap = scene.reading.text[day.end : value.start]
        if day.family != "days" or value.family != "date" or gap.strip(" ,"):
            continue
        [(year, month, number), *others] = [r for r in value.readings if isinstance(r, tuple)]
        if others or not (year and month and number):
            continue
        try:
            weekday = frozenset({date(year, month, number).weekday()})
        except ValueError:
            continue
        beside = (pair for near in scene.near for pair in pairwise(near.reading.values))
        said = any(day.agrees(one) and value.agrees(other) for one, other in beside)
        if weekday not in day.readings and not said:
            reason = f"{value.text!r} is not the day that {day.text!r} says"
            return contradiction(scene, name, reason, None)
    return None


def _reversed(scene: Scene, name: str) -> Verdict | None:
    """Veto "two years after" where the context says "two years before"."""
    for value in distinct(scene.reading):
        mine = _order(scene.reading, value)
        if not mine:
            continue
        for near, other in holding(scene, value):
            theirs = _order(near.reading, other)
            if theirs and theirs != mine and near.share >= _SAME_STATEMENT:
                reason = f"the context says {other.text!r} {theirs}, the answer {mine}"
                return contradiction(scene, name, reason, near)
    return None


def _order(reading: Reading, value: Value) -> str:
    """Return whether what stands after a value comes before or after."""
    match = _ORDER.match(reading.text, value.end)
    if match is None:
        return ""
    return "after" if " ".join(match[1].lower().split()) in _LATER else "before"
