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
from faithguard.verifiers.rules._crossed import crossed
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._denials import other_values
from faithguard.verifiers.rules._ends import other_end
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._measures import distinct, holding, is_year, keys_between
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of
from faithguard.verifiers.rules._stated import stated
from faithguard.verifiers.rules._told import known_deeds, told, values_of

__all__ = ["DatesTimes"]

_SAME_STATEMENT = 0.35
_ORDER = re.compile(
    r"\s*(?:or\s+more\s+)?(before|after|ahead\s+of|prior\s+to|earlier\s+than|later\s+than|following)\b",
    re.I,
)
_LATER = ("after", "later than", "following")


class DatesTimes(Family):
    """Veto a date or time that the context does not hold, or holds of something else."""

    name = "dates_times@7"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every date and time is held."""
        scene = scene_of(claim, context)
        if not scene.reading.values:
            return _other_day(scene, self.name)
        return (
            stated(scene, self.name, _timed)
            or crossed(scene, self.name, _timed)
            or _reversed(scene, self.name)
            or other_end(scene, self.name)
            or _other_day(scene, self.name)
            or _only_planned(scene, self.name)
            or _of_the_deed(scene, self.name)
            or _no_such_day(scene, self.name)
        )


_DAYS_APART = tuple(
    re.compile(rf"(?<!\w)(?:{words})(?!\w)|{unspaced}", re.I)
    for words, unspaced in (
        (
            r"(?:the\s+)?same\s+day|am\s+(?:selben|gleichen)\s+tag|le\s+jour\s+même|el\s+mismo\s+día|lo\s+stesso\s+giorno"
            r"|no\s+mesmo\s+dia|उसी\s+दिन|في\s+نفس\s+اليوم|في\s+اليوم\s+نفسه",
            "当天|当日|同日",
        ),
        (
            r"(?:the\s+)?(?:next|following)\s+day|the\s+day\s+after|am\s+(?:nächsten|folgenden)\s+tag|am\s+tag\s+danach|le\s+lendemain"
            r"|al\s+día\s+siguiente|il\s+giorno\s+(?:dopo|seguente|successivo)|no\s+dia\s+seguinte|अगले\s+दिन|في\s+اليوم\s+التالي",
            "第二天|次日|翌日",
        ),
        (
            r"(?:the\s+)?(?:previous|preceding)\s+day|the\s+day\s+before|am\s+vortag|am\s+tag\s+(?:davor|zuvor)|la\s+veille"
            r"|el\s+día\s+anterior|il\s+giorno\s+(?:prima|precedente)|na\s+véspera|no\s+dia\s+anterior|एक\s+दिन\s+पहले|في\s+اليوم\s+السابق",
            "前一天|前日",
        ),
    )
)
"""What says that it is the same day, the one after it, the one before it."""


def _other_day(scene: Scene, name: str) -> Verdict | None:
    """Veto "the same day" where the sentence that says the rest has the next one."""
    mine = [n for n, words in enumerate(_DAYS_APART) if words.search(scene.reading.text)]
    for near in scene.near if len(mine) == 1 else ():
        if near.share < _SAME_STATEMENT:
            break
        theirs = [n for n, words in enumerate(_DAYS_APART) if words.search(near.reading.text)]
        if mine[0] in theirs:
            break
        if len(theirs) == 1:
            match = _DAYS_APART[theirs[0]].search(near.reading.text)
            said = match[0] if match else ""
            return contradiction(scene, name, f"the context says {said!r} of this", near)
    return None


def _timed(value: Value) -> bool:
    return value.family != "number" or value.unit in ("second", "month", "business day")


def _no_such_day(scene: Scene, name: str) -> Verdict | None:
    """Veto "Friday 7 June 2025", which is a Saturday, unless the context says so too."""
    values = scene.reading.values
    for day, value in pairwise(values):
        gap = scene.reading.text[day.end : value.start]
        if day.family != "days" or value.family != "date" or gap.strip(" ,"):
            continue
        beside = (pair for near in scene.near for pair in pairwise(near.reading.values))
        pairs = list(beside)
        said = any(day.agrees(one) and value.agrees(other) for one, other in pairs)
        other_day = next((o for o, v in pairs if o.family == "days" and value.agrees(v)), None)
        if other_day is not None and not said:
            reason = f"the context says {other_day.text!r} of {value.text!r}, not {day.text!r}"
            return contradiction(scene, name, reason, None)
        [(year, month, number), *others] = [r for r in value.readings if isinstance(r, tuple)]
        if others or not (year and month and number):
            continue
        try:
            weekday = frozenset({date(year, month, number).weekday()})
        except ValueError:
            continue
        if weekday not in day.readings and not said:
            reason = f"{value.text!r} is not the day that {day.text!r} says"
            return contradiction(scene, name, reason, None)
    return None


_PLANNED = re.compile(
    r"\b(?:was|were|had\s+been)\s+(?:originally\s+|first\s+)?(?:to\s+|due|planned|meant|supposed|scheduled|expected|intended|set\s+for)"
    r"|\boriginally\b|\binitially\s+planned",
    re.I,
)
_HOPED = re.compile(
    r"\b(?:to|due|planned?|meant|supposed|scheduled?|expected|intended|originally|set\s+for|will|would|should|not)\b|n['’]t\b",
    re.I,
)


def _only_planned(scene: Scene, name: str) -> Verdict | None:
    """Veto "it opened in May" where it was to open in May and did so in June."""
    dated = list(filter(_is_dated, distinct(scene.reading)))
    if not dated or _HOPED.search(scene.reading.text):
        return None
    for value in dated:
        against: Near | None = None
        for near, other in holding(scene, value):
            text = near.reading.text
            planned = list(_PLANNED.finditer(text, 0, other.start))
            later = [v for v in near.reading.values if v.start > other.end and value.comparable(v)]
            between = text[planned[-1].end() : other.start] if planned else ""
            if not planned or not later or re.search(r"[;:.]|\bbut\b|\band\b", between):
                against = None
                break
            against = near
        if against is not None and against.share >= _SAME_STATEMENT:
            reason = f"the context says {value.text!r} of what was planned only"
            return contradiction(scene, name, reason, against)
    return None


def _of_the_deed(scene: Scene, name: str) -> Verdict | None:
    """Veto a year or date of a deed that the context tells of another year or date."""
    for mine in told(scene) if any(map(_is_dated, scene.reading.values)) else ():
        for value in _when(scene.reading, mine):
            against: tuple[Near, Value] | None = None
            for near in scene.near:
                for theirs in known_deeds(scene, near):
                    if theirs.verb != mine.verb or not _one_deed(mine, theirs, scene):
                        continue
                    when = _when(near.reading, theirs)
                    if other_values(mine, theirs, scene, near, but=_is_dated):
                        continue
                    if not when or _is_beside(scene, value, near, when):
                        against = None
                        break
                    against = against or (near, when[0])
                else:
                    continue
                break
            if against is not None:
                near, other = against
                elsewhere = (one for one, _ in holding(scene, value) if one.number != near.number)
                if any(mine.verb in one.reading.keys for one in elsewhere):
                    continue
                reason = f"the context says {other.text!r} of this, the answer {value.text!r}"
                return contradiction(scene, name, reason, near)
    return None


def _is_beside(scene: Scene, value: Value, near: Near, when: list[Value]) -> bool:
    """Whether a sentence gives a date to a deed too.

    It does so itself, as an end of a stretch, or in a part between semicolons that says more of
    the claim than that of the other date.
    """
    if any(value.agrees(other) for other in when):
        return True
    reading = near.reading
    held = [other for other in reading.values if value.agrees(other)]
    if any(_STRETCH.fullmatch(reading.text, when[-1].end, other.start) for other in held):
        return True
    parts = [(m.start(), m.end()) for m in _PART.finditer(reading.text)]
    mine, theirs = (
        max(
            (
                len(keys_between(reading, *part) & scene.reading.keys)
                for part in parts
                if any(part[0] <= one.start < part[1] for one in values)
            ),
            default=0,
        )
        for values in (held, when)
    )
    return mine > theirs


_STRETCH = re.compile(r"\s?(?:-|–|—|to|and)\s?", re.I)
_PART = re.compile(r"[^;]+")


def _one_deed(mine: Deed, theirs: Deed, scene: Scene) -> bool:
    """Whether two deeds of one verb can be one: neither is denied, and their sides meet."""
    if mine.denied or theirs.denied or mine.verb in _COMMON_VERBS:
        return False
    own, other = mine.sides, theirs.sides
    if mine.pronoun or theirs.pronoun:
        own, other = own - mine.subject, other - theirs.subject
    if not own and not other:
        return True
    if not other and own:
        return False
    return scene.weight(own & other) >= _SAME_DEED * scene.weight(own)


_COMMON_VERBS = frozenset(("be", "have", "do"))
_SAME_DEED = 0.6


def _when(reading: Reading, deed: Deed) -> list[Value]:
    """Return the dates and years among the words of a deed."""
    return list(filter(_is_dated, values_of(reading, deed)))


def _is_dated(value: Value) -> bool:
    """Whether a value says when."""
    return value.family == "date" or is_year(value)


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
