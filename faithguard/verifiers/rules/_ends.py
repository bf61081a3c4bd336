"""The two ends of a stretch of time: what begins where the context has it end, and the reverse.

In: a scene. Out: a veto where the claim has something begin at the moment at which every sentence
of the context that names the moment has it end ("opens at 9 pm", of what is open from 2 pm to 9
pm), or end where it begins; else None. It is silent where either denies something, and where the
claim is of something that the sentence does not name. English.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Literal, TypeAlias

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._measures import all_against, distinct, is_year
from faithguard.verifiers.rules._parts import denies
from faithguard.verifiers.rules._reading import Reading, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["other_end"]

_End: TypeAlias = Literal["begins", "ends"]

_FROM = re.compile(
    r"\b(?:from|since|between|as\s+of|as\s+from|not\s+before|starting(?:\s+(?:at|on|from|in))?"
    r"|beginning(?:\s+(?:at|on|from|in))?|with\s+effect\s+from|effective(?:\s+from)?)\s+(?:the\s+)?$",
    re.I,
)
_UNTIL = re.compile(
    r"(?:\b(?:until|till?|through|thru|up\s+to|no\s+later\s+than|ending(?:\s+(?:at|on|in))?"
    r"|expiring(?:\s+(?:at|on|in))?)|(?<=[\s\d])['’]til)\s+(?:the\s+)?$",
    re.I,
)
_TO = re.compile(r"\s*(?:to|until|till?|through|thru|and|[-–—])\s*", re.I)
"""What stands between the two ends of a stretch."""
_AT = re.compile(r"\b(?:at|on|in|around|about|exactly|sharp)\s+(?:the\s+)?$", re.I)

_BEGINNING = re.compile(
    r"\b(?:(?:re-?)?open(?:s|ed|ing)?|(?:re)?starts?|started|starting|begins?|began|beginning|commence[sd]?"
    r"|kick(?:s|ed)?\s+off|(?:comes?|came)\s+into\s+(?:force|effect)|(?:takes?|took)\s+(?:effect|over|office|up)"
    r"|launche[sd]|joined|joins|became|becomes?|founded|moved\s+in|enter(?:s|ed)\s+into\s+force)\b",
    re.I,
)
_ENDING = re.compile(
    r"\b(?:close[sd]?|closing|shuts?|ends?|ended|ending|finish(?:es|ed)?|expire[sd]?|conclude[sd]?|stop(?:s|ped)?"
    r"|runs?\s+out|ran\s+out|leaves?|left|resign(?:s|ed)?|retire[sd]?|step(?:s|ped)\s+down|quits?|is\s+over"
    r"|moved\s+out|laps(?:es|ed)|ceased?|ceases)\b",
    re.I,
)
_LEANING = keys_of_all(
    (
        "open opens reopen start restart begin commence kick come force effect take office"
        " launch join become found move enter close shut end finish expire conclude stop run"
        " leave resign retire step quit over lapse cease available hour time opening last valid"
        " hold held serve period term be have do will daily day date year month"
    ).split()
)
"""Words that tell where an end is, or that something lasts, and not of what."""
_SHUT = re.compile(r"\b(?:closed|closure|shut|unavailable|out\s+of|except\w*|unless|break)\b", re.I)
_SAME_THING = 0.75
"""Share of what the claim is about that a sentence must name."""


def other_end(scene: Scene, name: str) -> Verdict | None:
    """Veto what begins where the context has it end, or ends where the context has it begin."""
    mine = scene.reading
    if language(mine.text) != "en" or denies(mine):
        return None
    for value in distinct(mine):
        if not _is_moment(value):
            continue
        said = _told_of(mine, value)
        if said is None:
            continue
        against = all_against(scene, value, partial(_has_other_end, scene, value, said))
        if against is not None:
            near, other = against
            verb = {"begins": "ends", "ends": "begins"}[said]
            reason = f"by the context it {verb} at {other.text!r}, by the answer it {said} then"
            return contradiction(scene, name, reason, near)
    return None


def _has_other_end(scene: Scene, value: Value, said: _End, near: Near, other: Value) -> bool:
    """Whether a sentence has the other end of it at a value than the claim says."""
    if near.reading.row or denies(near.reading) or _SHUT.search(near.reading.text):
        return False
    told = _end_of_stretch(near.reading, other)
    return told not in (None, said) and _is_of_it(scene, value, near)


def _is_moment(value: Value) -> bool:
    """Whether a value is a point in time: a time of the day, a date, a year."""
    return value.family in ("clock", "date") or is_year(value) or value.ranged


def _told_of(reading: Reading, value: Value) -> _End | None:
    """Return which end a claim has at a value; None if it names both ends, or neither."""
    if _end_of_stretch(reading, value, alone=False) is not None:
        return None
    before = reading.text[: value.start]
    if _FROM.search(before):
        return "begins"
    if _UNTIL.search(before):
        return "ends"
    if not _AT.search(before):
        return None
    clause = reading.clause_at(value.start)
    start = reading.tokens[clause.first].start if clause else 0
    found = [
        (match.start(), end)
        for end, words in (("begins", _BEGINNING), ("ends", _ENDING))
        for match in words.finditer(before, start)
    ]
    if len({end for _, end in found}) != 1:
        return None
    return "begins" if found[0][1] == "begins" else "ends"


def _end_of_stretch(reading: Reading, value: Value, *, alone: bool = True) -> _End | None:
    """Return which end of a stretch a value is: "2 pm" of "from 2 pm to 9 pm".

    Args:
        reading: A sentence.
        value: One of it.
        alone: Whether "from 2 pm", and "until 9 pm", are ends without the other one.
    """
    text = reading.text
    at = reading.values.index(value)
    following = reading.values[at + 1 : at + 2]
    if following and _TO.fullmatch(text, value.end, following[0].start):
        return "begins" if _spans(text, value, following[0]) else None
    if at and _TO.fullmatch(text, reading.values[at - 1].end, value.start):
        return "ends" if _spans(text, reading.values[at - 1], value) else None
    if not alone:
        return None
    if _FROM.search(text, 0, value.start):
        return "begins"
    return "ends" if _UNTIL.search(text, 0, value.start) else None


def _spans(text: str, first: Value, last: Value) -> bool:
    """Whether two neighbours are the ends of one stretch: "and" alone joins two moments."""
    joint = text[first.end : last.start].strip().lower()
    kinds = {one.family for one in (first, last)}
    return len(kinds) == 1 and (
        joint != "and"
        or re.search(r"\bbetween\s+(?:the\s+)?$", text[: first.start], re.I) is not None
    )


def _is_of_it(scene: Scene, value: Value, near: Near) -> bool:
    """Whether a sentence names what the claim says it of."""
    clause = scene.reading.clause_at(value.start)
    keys = (clause.keys if clause else scene.reading.keys) - _LEANING
    if not keys:
        return False
    held = keys & (near.reading.keys | scene.pages.inherited(near.number))
    return scene.weight(held) >= _SAME_THING * scene.weight(keys)
