"""Opening hours as a key and its value, beside a sentence that tells when a place opens and closes.

In: a scene. Out: that "Opening hours: 9 to 17" is supported where the context says "opens at 9 and
closes at 17", and a veto where it says other times; None where it tells of several places or days.
"""

from __future__ import annotations

import re
from fractions import Fraction

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._reading import Reading, key_of
from faithguard.verifiers.rules._scene import Scene, contradiction, grant

__all__ = ["hours_given"]

_HOURS = re.compile(
    r"(?i)(?:.*[.?!]\s)?(?:the )?(?:opening|business|working|visiting|office)? ?(?:hours|times)"
    r"\s?(?::|=|\s[–—-])\s(?P<value>[^:;=]{1,12}(?::\d\d)?[^:;=]{1,12}(?::\d\d)?[^:;=]{0,6})"
)
_OPEN, _CLOSE = key_of("opens"), key_of("closes")
_HALF_DAY = 12


def hours_given(scene: Scene, name: str) -> Verdict | None:
    """Say whether the one pair of times that the context gives is the claim's."""
    if _HOURS.fullmatch(scene.reading.text.rstrip(".")) is None:
        return None
    mine = _times(scene.reading)
    found = [
        (near, times)
        for near in (scene.at(number) for number in scene.pages.holders(_OPEN or ""))
        if (times := _times(near.reading)) is not None
    ]
    if mine is None or len(found) != 1:
        return None
    near, times = found[0]
    if any(value.family == "days" for value in near.reading.values) or near.reading.row:
        return None
    if not all(one & other for one, other in zip(mine, times, strict=True)):
        reason = f"the context gives other times: {near.reading.text[:60]!r}"
        return contradiction(scene, name, reason, near)
    return grant(scene, name, "the context gives these times", [near])


def _times(reading: Reading) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return when it opens and closes, in minutes of a day, if a text gives two times."""
    times = [_minutes(value, closes=bool(n)) for n, value in enumerate(reading.values[:2])]
    if len(reading.values) != len(times) or len(times) < len(("opens", "closes")):
        return None
    opens, closes = times
    if not opens or not closes:
        return None
    first = min((t.start for t in reading.tokens if t.key == _OPEN), default=-1)
    last = min((t.start for t in reading.tokens if t.key == _CLOSE), default=first + 1)
    return (opens, closes) if first <= last else (closes, opens)


def _minutes(value: Value, *, closes: bool) -> frozenset[int]:
    if value.family == "clock":
        return frozenset(reading for reading in value.readings if isinstance(reading, int))
    if value.family != "number" or value.unit:
        return frozenset()
    hours = [r for r in value.readings if isinstance(r, Fraction) and 0 <= r <= 2 * _HALF_DAY]
    late = [hour + _HALF_DAY for hour in hours if closes and hour < _HALF_DAY]
    return frozenset(int(hour * 60) for hour in (*hours, *late))
