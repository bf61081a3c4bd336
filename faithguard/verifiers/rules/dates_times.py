"""Dates and times: dates, days of the week, times of the day, lengths of time.

In: a claim and its context. Out: a veto where one of them stands nowhere or belongs to something
else, or where "before" became "after"; else silence. What can be read in two ways is never a sure
contradiction.
"""

from __future__ import annotations

import re

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

    name = "dates_times@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every date and time is held."""
        scene = scene_of(claim, context)
        if not scene.reading.values:
            return None
        return stated(scene, self.name, _timed) or _reversed(scene, self.name)


def _timed(value: Value) -> bool:
    return value.family != "number" or value.unit in ("second", "month", "business day")


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
