"""A value that stands nowhere in the context: whether that is wrong.

In: a scene and a value of its claim. Out: a verdict where a sentence that says the same has another
value in its place, or where the value follows from nothing; else None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._derived import derivable, proportionate
from faithguard.verifiers.rules._given import is_compared, lines_of
from faithguard.verifiers.rules._granted import (
    ends_a_name,
    in_a_name,
    in_century,
    in_scale,
    is_example,
    is_in_range,
    left_out,
    under_negation,
    within_a_bound,
    within_bound,
    written,
)
from faithguard.verifiers.rules._instances import is_instance, out_of_bounds
from faithguard.verifiers.rules._measures import (
    SAME_STATEMENT,
    alike,
    alike_in_size,
    distinct,
    is_timed,
    is_year,
    share_beside,
)
from faithguard.verifiers.rules._parts import denies
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, unmentioned
from faithguard.verifiers.rules._slots import counted, is_listed
from faithguard.verifiers.rules._worked import is_the_rest, says_worked_out, shown, workable

__all__ = ["absent", "is_cut_short"]


_COUNTABLE = 12
"""A writer may count up to a dozen things that the context only lists."""


def absent(scene: Scene, name: str, value: Value) -> Verdict | None:
    """Return a verdict on a value of the claim that the context nowhere holds, or None."""
    if under_negation(scene, value) or ends_a_name(scene, value) or in_century(scene, value):
        return None
    value = _aged(scene, value)
    if _is_a_moment(scene, value) or _is_all_of_them(scene, value) or is_cut_short(scene, value):
        return None
    lines = list(lines_of(scene, timed=is_timed(value) or is_year(value) or bool(value.unit)))
    swapped = _in_other_unit(scene, value)
    if not swapped and (
        _worked_out(scene, value, lines)
        or is_example(scene, value, lines)
        or is_in_range(scene, value)
        or within_a_bound(scene, value)
        or in_scale(value, scene)
        or written(value, scene)
        or within_bound(value, scene)
    ):
        return None
    if not swapped and is_instance(scene, value):
        return out_of_bounds(scene, name, value)
    if value.family == "days" and (
        left_out(scene, value, lines)
        or (_WHOLE_WEEK in value.readings and len(_days_in(scene.reading)) > 1)
    ):
        return None  # the second: "daily but closed on Sundays"
    for near in scene.near:
        if share_beside(scene, value, near) < SAME_STATEMENT:
            continue
        rival = _rival(value, scene.reading, near.reading)
        if rival is not None and _is_let_by(value, scene.reading, rival, near.reading):
            return None
        if rival is not None:
            reason = f"the context says {rival.text!r}, the answer {value.text!r}"
            return contradiction(scene, name, reason, near)
    if _left_open(scene, value, lines):
        return None
    return unmentioned(scene, name, f"the context nowhere says {value.text!r}")


def is_cut_short(scene: Scene, value: Value) -> bool:
    """Whether the context writes a value in a shorter way.

    "By the 9th" is a date once the month is known, "Mon 9" the ninth, "04/06" the fourth of June,
    and "(−8%)" a fall.
    """
    if value.family == "date":
        days = [(r[1], r[2]) for r in value.readings if isinstance(r, tuple) and r[2]]
        return any(_writes_day(reading, *day) for day in days for reading in scene.all)
    if value.unit != "%" or _FALLS.search(scene.reading.text) is None:
        return False
    fallen = {-number for number in _numbers(value)}
    return any(fallen & set(v.readings) for near in scene.near for v in near.reading.values)


def _writes_day(reading: Reading, month: int, day: int) -> bool:
    if not month:
        return re.search(rf"{_WEEKDAY}\s+{day}(?![\d.:]*\d)", reading.text) is not None
    if re.search(rf"(?<![\d/.])0?{day}[/.]0?{month}(?![\d/])\.?(?!\d)", reading.text):
        return True
    months = {r[1] for v in reading.values for r in v.readings if isinstance(r, tuple)}
    ordinal = re.search(rf"\b(?:the|by)\s+{day}(?:st|nd|rd|th)\b(?!\s+of\b)", reading.text)
    return ordinal is not None and (month in months or (not months and "month" in reading.keys))


_WEEKDAY = r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?"
_FALLS = re.compile(
    r"\b(?:fell|fall(?:s|en)?|drop(?:s|ped)?|declin\w+|decreas\w+|down|less|lower|fewer|shr[aiu]nk|lost|reduc\w+)\b",
    re.I,
)


def _is_let_by(value: Value, claim: Reading, rival: Value, sentence: Reading) -> bool:
    """Whether a claim only says that one may, or has, what a bound of the context lets be.

    "Version 7 works" of "version 5 and later"; "you may bring two guests" of "up to three guests".
    """
    before = claim.text[: value.start]
    if _BOUNDED.search(before):
        return False
    more = max(_numbers(value), default=Fraction(0)) > max(_numbers(rival), default=Fraction(0))
    if _AND_LATER.match(sentence.text, rival.end):
        return more
    most = _UP_TO.search(sentence.text[: rival.start])
    return bool(most) and not more and _MAY.search(before) is not None


_BOUNDED = re.compile(
    r"\b(?:most|least|than|up\s+to|over|under|above|below|only|limit\w*|max\w*|min\w*|exactly|within)\W+(?:\w+\W+)?$",
    re.I,
)
_AND_LATER = re.compile(
    r"\s*(?:\+|(?:and|or)\s+(?:later|newer|higher|above|up|upwards|more|over|older)\b)", re.I
)
_UP_TO = re.compile(r"\b(?:up\s+to|at\s+most|no\s+more\s+than|max(?:imum|\.)?(?:\s+of)?)\s+$", re.I)
_MAY = re.compile(r"\b(?:may|can|allowed|permitted)\b", re.I)


def _aged(scene: Scene, value: Value) -> Value:
    """Return a value; a number that is an age as a length of time."""
    text = scene.reading.text
    if value.unit or not (_AGE.search(text[: value.start]) or _AGE_AFTER.match(text, value.end)):
        return value
    years = frozenset(12 * r for r in value.readings if isinstance(r, Fraction))
    return replace(value, unit="month", readings=years)


def _is_all_of_them(scene: Scene, value: Value) -> bool:
    """Whether a number only says of how many something is told: "the smallest of the three"."""
    return (
        _counts(value)
        and _THOSE.search(scene.reading.text[: value.start]) is not None
        and not list(counted(scene.reading, value.start, value.end))
    )


def _worked_out(scene: Scene, value: Value, lines: list[tuple[Value, ...]]) -> bool:
    """Whether a value follows from others; more ways are tried where the claim says that it does.

    Not where the same words stand around another value, unless the claim says so.
    """
    if shown(value, scene.reading):
        return True
    if is_the_rest(value, lines, [scene.all[n].text for n in _numbers_near(scene)]):
        return True
    if _is_other_part(scene, value) and not _framed(scene, value):
        return True
    same = [n.reading for n in scene.near if share_beside(scene, value, n) >= SAME_STATEMENT]
    told = says_worked_out(scene.reading, value, same)
    compared = is_compared(scene, value)
    if (
        not is_listed(scene.reading)
        and derivable(value, lines, compared=compared, inside=not _EDGE.search(scene.reading.text))
        and (compared or not _restated(scene, value, lines))
        and (told or _of_two(scene, value) or not _framed(scene, value, closely=True))
    ):
        return True
    if not told or (_framed(scene, value) and not _several_absent(scene)):
        return False
    lines += [_cells(near.reading, value) for near in scene.near if near.reading.row]
    return workable(value, lines, scene.reading) or _is_input(scene, value, lines)


def _is_other_part(scene: Scene, value: Value) -> bool:
    """Whether a count is what a part leaves of a whole: nine, "of the twelve only three"."""
    if not _is_count(value):
        return False
    for near in scene.near[:3]:
        counts = [one for one in near.reading.values if _is_count(one)]
        for whole in counts:
            of_it = _OF_THE.search(near.reading.text[: whole.start]) is not None
            left = {
                a - b
                for part in counts
                if of_it or _is_part_of(near.reading, part, whole)
                if not _says_of_part(scene.reading, near.reading, part)
                for a in _numbers(whole)
                for b in _numbers(part)
            }
            if not left.isdisjoint(_numbers(value)):
                return True
    return False


def _is_part_of(sentence: Reading, part: Value, whole: Value) -> bool:
    """Whether a count is of the things that another counts: "eleven came, four from abroad"."""
    return whole.end < part.start and not list(counted(sentence, part.start, part.end))


def _says_of_part(claim: Reading, sentence: Reading, part: Value) -> bool:
    """Whether a claim says, and does not deny, what a sentence says of a part."""
    clause = sentence.clause_at(part.start)
    after = [t for t in sentence.words(clause) if t.start >= part.end] if clause else []
    keys = {t.key for t in after if t.key}
    return keys <= claim.keys and not denies(claim)


def _is_count(value: Value) -> bool:
    return value.family == "number" and value.unit in ("", "person", "times") and not is_year(value)


def _numbers(value: Value) -> list[Fraction]:
    return [r for r in value.readings if isinstance(r, Fraction)]


_OF_THE = re.compile(r"\bof\s+(?:(?:the|its|their|our|these|those|all)\s+)*$", re.I)


def _of_two(scene: Scene, value: Value) -> bool:
    """Whether a number counts two things at once: "16 mares and foals"."""
    return _BOTH.match(scene.reading.text, value.end) is not None


_BOTH = re.compile(r"\s+[^\W\d]+(?:\s[^\W\d]+)?\s+(?:and|und|et|y|e|plus)\s+[^\W\d]", re.I)


def _numbers_near(scene: Scene) -> list[int]:
    """Return the numbers of the sentences most alike, and of those behind them."""
    numbers = [near.number for near in scene.near[:3]]
    return [n for n in dict.fromkeys([*numbers, *(n + 1 for n in numbers)]) if n < len(scene.all)]


def _days_in(reading: Reading) -> list[Value]:
    return [one for one in distinct(reading) if one.family == "days"]


def _several_absent(scene: Scene) -> bool:
    return sum(not scene.context.holders(one) for one in distinct(scene.reading)) > 1


def _cells(row: Reading, value: Value) -> tuple[Value, ...]:
    """Return the numbers of a row that have no unit in that of a value."""
    return tuple(
        replace(one, unit=value.unit, readings=one.bare)
        for one in row.values
        if one.family == "number" and not one.unit and one.bare
    )


def _is_input(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether another value of the claim is worked out by one: 30 kg, "7 kg too much, 175 yuan"."""
    text = scene.reading
    without = replace(text, values=tuple(v for v in text.values if not v.agrees(value)))
    return any(
        workable(other, lines, text) and not workable(other, lines, without)
        for other in distinct(text)
        if not other.agrees(value) and not scene.context.holders(other)
    )


def _is_a_moment(scene: Scene, value: Value) -> bool:
    """Whether a time is one of an example and not when something begins: "parked at 7 pm"."""
    text = scene.reading.text
    if not _AT.search(text[: value.start]) or _EDGE.search(text):
        return False
    if value.family == "number":  # "at 11 on Monday"
        return not value.unit and any(
            v.family == "clock" for r in scene.all[:_FEW] for v in r.values
        )
    if value.family != "clock":
        return False
    times = [[v for v in near.reading.values if v.family == "clock"] for near in scene.near[:3]]
    return any(len(found) > 1 for found in times) and not any(
        v.agrees(value) for found in times for v in found
    )


_AT = re.compile(
    r"(?:(?:^|[,;:]\s)(?:at|um|à|a\s+las?|alle|às)|^(?:an?|any|some)\s.*\w(?:ed|en|ade|ent|ught)\s+at)\s+"
    r"(?:about\s+|around\s+)?$",
    re.I,
)
_FEW = 24


def _framed(scene: Scene, value: Value, *, closely: bool = False) -> bool:
    """Whether a sentence has another value between the very words that stand around one.

    Args:
        scene: The claim and its context.
        value: Of the claim.
        closely: Whether the other's clause must have most words of the claim's.
    """
    return any(
        value.comparable(other)
        and not _RELATIVE.match(near.reading.text, other.end)
        and _alike_around(scene.reading, value, near.reading, other)
        and (not closely or _same_clause(scene, value, near.reading, other))
        for near in scene.near
        if share_beside(scene, value, near) >= SAME_STATEMENT
        for other in near.reading.values
        if not any(mine.agrees(other) for mine in scene.reading.values)
    )


def _same_clause(scene: Scene, value: Value, sentence: Reading, other: Value) -> bool:
    mine, theirs = scene.reading.clause_at(value.start), sentence.clause_at(other.start)
    if mine is None or theirs is None or not mine.keys:
        return False
    return scene.weight(mine.keys & theirs.keys) >= _MOST_WORDS * scene.weight(mine.keys)


_MOST_WORDS = 0.6
_RELATIVE = re.compile(
    r"\s*(?:[^\W\d]+\s+)?(?:more|fewer|less|later|earlier|higher|lower|longer|shorter)\b", re.I
)
"""What makes a value a difference: "48 more"."""


def _alike_around(claim: Reading, value: Value, sentence: Reading, other: Value) -> bool:
    """Whether the words on both sides of two values, or two on one side, are the same."""
    mine, theirs = _sides(claim, value), _sides(sentence, other)
    same = [a is not None and a == b for a, b in zip(mine, theirs, strict=True)]
    two_before, before, after, two_after = same
    return (before and after) or (before and two_before) or (after and two_after)


def _sides(reading: Reading, value: Value) -> tuple[str | None, ...]:
    """Return the keys of two words before a value and of two behind it; None where one links."""
    before = [t for t in reading.tokens if t.end <= value.start][-_REACH:]
    after = [t for t in reading.tokens if t.start >= value.end][:_REACH]
    keys = list(_up_to_a_stop(before[::-1])), list(_up_to_a_stop(after))
    missing: list[str | None] = [None, None]
    return (*([*keys[0], *missing][:2])[::-1], *[*keys[1], *missing][:2])


_REACH = 4
"""Words on each side of a value that are its frame."""


def _up_to_a_stop(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.lower in _STOPS or token.value >= 0:
            break
        if token.key:
            yield token.key


_STOPS = frozenset(".;:!?()|。；")


def _left_open(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether a value that nothing stands in the place of may be right for all that is known."""
    if in_a_name(scene, value) or _OPEN_TIME.search(scene.reading.text[: value.start]):
        return True
    if value.text.lower().startswith(("a ", "an ")):
        return True  # "in an hour", "a year on"
    if (value.family == "clock" or is_year(value)) and _ROUGHLY.search(
        scene.reading.text[: value.start]
    ):
        return True  # "by about half past three", "by the summer of 1922"
    if _counts(value) or _WHOLE_WEEK in value.readings or proportionate(value, lines):
        return True
    if is_year(value):
        return False
    if value.family == "number" and language(scene.reading.text) == "en":
        return workable(value, lines, scene.reading)
    return _much_to_work_with(value, lines)


def _much_to_work_with(value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether several values of a context can lead to one in more steps than are tried.

    Lengths of time lie between times and dates, amounts come of amounts and counts.
    """
    if value.unit in CURRENCIES or value.unit in ("second", "month", "%", "percentage point", ""):
        kin = [v for line in lines for v in line if _leads_to(v, value)]
        return len({v.meaning for v in kin}) >= _SEVERAL
    return False


def _leads_to(one: Value, value: Value) -> bool:
    if value.unit in ("second", "month"):
        return one.unit in ("second", "month") or one.family in ("clock", "date")
    if value.family != "number":
        return one.family == value.family or one.unit in ("second", "month")
    return one.family == "number" and one.unit == value.unit


_SEVERAL = 3


_ROUGHLY = re.compile(
    r"\b(?:about|around|roughly|approximately|some|shortly\s+(?:before|after)|(?:the\s+)?(?:spring|summer|autumn|fall|winter"
    r"|end|middle|beginning|start|early|late)(?:\s+of)?)\s+$",
    re.I,
)


def _in_other_unit(scene: Scene, value: Value) -> bool:
    """Whether the sentence that says the same has the very figure in another unit."""
    return bool(value.unit) and any(
        value.comparable(other)
        and value.bare & other.bare
        and not value.agrees(other)
        and not _of_other_things(scene, value, near, other)
        for near in scene.near
        if share_beside(scene, value, near) >= SAME_STATEMENT
        for other in near.reading.values
        if other.unit != value.unit or other.readings != value.readings
    )


def _of_other_things(scene: Scene, value: Value, near: Near, other: Value) -> bool:
    """Whether two amounts are of different things: 2 litres of jelly, 2 kg of quinces."""
    mine = set(counted(scene.reading, value.start, value.end))
    theirs = set(counted(near.reading, other.start, other.end))
    return bool(mine) and bool(theirs) and mine.isdisjoint(theirs)


_EDGE = re.compile(
    r"\b(?:beg[aiu]n\w*|start\w*|end(?:s|ed)?|finish\w*|open\w*|clos\w+|first|last\w*|until|from|since|abre|abrió|cierra|empieza|del|desde|ouvre|ferme|commence|du|dès|öffnet|beginnt|endet|ab|vom"
    r"|seit|apre|chiude|inizia|dal|começa|fecha|desde)\b",
    re.I,
)


_AGE = re.compile(
    r"\b(?:aged|age\s+of|âge\s+de|alter\s+von|edad\s+de|età\s+di|idade\s+de)\s+(?:[\w-]+\s+or\s+)?$",
    re.I,
)


_THOSE = re.compile(r"\b(?:the|these|those|all|both)\s+$", re.I)
_AGE_AFTER = re.compile(r"\s*(?:or\s+so\s+)?(?:when\s+(?:he|she|they)|at\s+the\s+time)\b", re.I)


def _restated(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether a claim gives a sum for what a sentence gives other values for.

    "A swim costs 9 euros", of "A swim costs 6 euros for adults and 3 euros for children", adds up
    what nobody adds: who works a value out says so, or of what.
    """
    first = scene.near[0] if scene.near else None
    if first is None or first.share < _ALL_OF_IT or value.unit in ("second", "month"):
        return False
    if _JOINS.search(scene.reading.text) or _rival(value, scene.reading, first.reading) is None:
        return False
    alone = (
        len(distinct(scene.reading)) == 1
        and len(scene.reading.tokens) <= len(first.reading.tokens)
        and value.family == "number"
        and not _SHARES.search(first.reading.text)
        and not value.approximate
        and not is_year(value)
    )
    return alone or not derivable(value, lines, sums=False)


_SHARES = re.compile(
    r"\b(?:half|halves|quarters?|thirds?|doubles?|twice|times|discount\w*|reduc\w+|off|each|per"
    r"|doppel\w*|doppi\w+|doble\w*|dobro|double\w*|moitié|mitad|metà|metade|hälfte|halb\w*)\b|[%倍半]",
    re.I,
)


_ALL_OF_IT = 0.9
_JOINS = re.compile(
    r"\b(?:and|plus|with|both|together|altogether|total\w*|in\s+all|sum|combined|including|more|less|"
    r"fewer|than|between|difference|saves?|saved|extra|additional|cheaper|dearer|higher|lower|"
    r"und|zusammen|insgesamt|mehr|weniger|et|ensemble|plus|moins|y|junto\w*|más|menos|e|insieme|"
    r"più|meno|mais)\b|[&+،、和与と]",
    re.IGNORECASE,
)


_OPEN_TIME = re.compile(
    r"\b(?:before|after|prior\s+to|as\s+of|vor\s+dem|nach\s+dem|avant\s+le|après\s+le|antes\s+del?|depois\s+de"
    r"|después\s+del?|prima\s+del|dopo\s+il)\s+(?:the\s+)?$",
    re.I,
)


_WHOLE_WEEK = frozenset(range(7))


def _rival(value: Value, claim: Reading, sentence: Reading) -> Value | None:
    """Return the value that a sentence has in the place of one of the claim."""
    if any(value.agrees(other) for other in sentence.values):
        return None
    rivals = [
        other
        for other in distinct(sentence)
        if _competes(value, other, claim, sentence)
        # a value that the claim states too is not in the place of this one
        and not any(mine.agrees(other) for mine in claim.values)
    ]
    if not rivals:
        return None
    words = _beside(claim, value)
    return max(
        rivals, key=lambda rival: (len(words & _beside(sentence, rival)), alike(value, rival))
    )


def _competes(value: Value, other: Value, claim: Reading, sentence: Reading) -> bool:
    """Whether two values can be meant for one slot."""
    if value.ranged and other.family == "clock":
        return True  # "open 8 to 17" beside "open 9:00 to 17:00"
    if not value.comparable(other):
        return False
    if value.family != "number" or value.unit:
        return True
    if is_year(value) or is_year(other):
        return is_year(value) and is_year(other)
    if not alike_in_size(value, other):
        return False  # "a third" and "the third"
    mine = set(counted(claim, value.start, value.end))
    theirs = set(counted(sentence, other.start, other.end))
    if mine and not theirs:  # "12 trucks, of which three are"
        return any(mine & set(counted(sentence, v.start, v.end)) for v in sentence.values)
    return bool(mine & theirs) or not (mine or theirs)


def _beside(reading: Reading, value: Value) -> set[str]:
    """Return the words of a value's clause, and the two before it."""
    clause = reading.clause_at(value.start)
    before = [token.key for token in reading.tokens if token.key and token.end <= value.start]
    return {*(clause.keys if clause else ()), *before[-2:]}


def _counts(value: Value) -> bool:
    return (
        value.family == "number"
        and value.unit in ("", "person", "times")
        and (value.text.split()[0].isalpha() or not value.text.isascii())
        and all(isinstance(r, Fraction) and r <= _COUNTABLE for r in value.readings)
    )
