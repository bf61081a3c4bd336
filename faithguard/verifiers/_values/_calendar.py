"""Dates and days of the week.

In: a text. Out: values of the families "date" and "days". What a date leaves open (its year, its
day) is 0; a date in figures that can be read day first and month first has both readings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from faithguard.verifiers._values._names import (
    DAY_OF,
    DAY_SETS,
    DAYS,
    MONTH_OF,
    UNSPACED_SETS,
    UNSURE_MONTHS,
)
from faithguard.verifiers._values._value import Reading, Value
from faithguard.verifiers._values._words import ENGLISH

__all__ = ["dates", "days"]

_DAY = "|".join(sorted(map(re.escape, DAY_OF), key=len, reverse=True))
# "may" and "march" are verbs unless they are capitalised
_MONTH_NAMES = [n for name in MONTH_OF for n in (name.title(), name.upper())] + [
    name for name in MONTH_OF if name not in UNSURE_MONTHS
]
_MONTH = f"(?-i:{'|'.join(sorted(map(re.escape, _MONTH_NAMES), key=len, reverse=True))})"
_ANY_MONTH = "|".join(sorted(map(re.escape, MONTH_OF), key=len, reverse=True))
_LETTER_AFTER = "(?![\\w\u0900-\u0963])"
# behind a name in full a stop ends the sentence, and what follows is another number
_SHORT_STOP = r"(?:(?<!\w{5})\.)?"
_DATE = re.compile(
    rf"(?<!\d)(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:of\s+)?(?P<mo1>{_MONTH}){_LETTER_AFTER}"
    rf"(?:{_SHORT_STOP},?\s+(?:de\s+|del\s+)?(?P<y1>\d{{4}})\b)?"
    rf"|(?<!\d)(?P<d4>\d{{1,2}})(?:er|\.)?\s+(?:de\s+)?(?P<mo4>{_ANY_MONTH}){_LETTER_AFTER}"
    r"\s+(?:de\s+|del\s+)?(?P<y4>\d{4})\b"
    rf"|(?<!\d)(?P<d5>\d{{1,2}})\s+de\s+(?P<mo5>{_ANY_MONTH}){_LETTER_AFTER}"
    rf"|\b(?P<mo2>{_MONTH})\b{_SHORT_STOP}\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d)"
    r"(?:,?\s+(?P<y2>\d{4})\b)?"
    r"|(?<!\d)(?P<y3>\d{4})-(?P<mo3>\d{2})-(?P<d3>\d{2})(?!\d)"
    r"|(?:(?P<era>令和|平成|昭和)(?P<ye>\d{1,2}|元)\s?年\s?)(?P<mo8>\d{1,2})\s?月\s?(?P<d8>\d{1,2})\s?日"
    r"|(?<!\d)(?:(?P<y6>\d{4})\s?年\s?)?(?P<mo6>\d{1,2})\s?月(?!間)(?:\s?(?P<d6>\d{1,2})\s?[日号])?"
    rf"|\b(?P<mo7>{_MONTH}){_LETTER_AFTER},?\s+(?:of\s+|de\s+|del\s+)?(?P<y7>\d{{4}})\b",
    re.I,
)
_FIGURES = re.compile(
    r"(?<![\d./-])(?P<a>\d{1,2})(?P<s>[./-])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2}(?![\d./-]))(?!\d)"
)
# "by the 26th", and not "the 26th floor"
_DAY_OF_MONTH = re.compile(
    # "Tue 11th": the weekday is a value of its own
    r"(?:\b(?:the|on)\s+|(?<=day\s|Tue\s|Thu\s|urs\s|Mon\s|Wed\s|Fri\s|Sat\s|Sun\s|ues\s))"
    r"(\d{1,2})(?:st|nd|rd|th)\b(?!-)(?=\W*$|[.,;:)]|\s+(?:and|or|to|at|of|in|until|by)\b)",
    re.I,
)
_RANGE_OF_DAYS = re.compile(
    rf"\b({_DAY})\b\.?\s*(?:-|–|—|to|through|thru|until|till|bis|à|au|a|al|até|至|到|から)\s*"
    rf"(?:the\s+)?({_DAY})\b",
    re.I,
)
_DAY_SET = re.compile(
    r"(?:\b|(?<=\s))(?:"
    + "|".join(re.escape(s).replace(r"\ ", r"\s+") for s in sorted(DAY_SETS, key=len, reverse=True))
    + r")(?:\b|(?=\W)|(?<=[天日]))",
    re.I,
)
# "sun", "sat" and "wed" are words of their own: short names count where capitalised
_SHORT_DAY = re.compile(r"\b(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|(?<![Tt]he )Sun)\b\.?")
_LONG_DAYS = [name for name in DAY_OF if len(name) > 5 or not name.isascii() or name in DAYS]
_LONG_DAY = re.compile(
    rf"(?<!\w)(?:{'|'.join(sorted(map(re.escape, _LONG_DAYS), key=len, reverse=True))})"
    rf"(?:(?<=[日一二三四五六])|{_LETTER_AFTER})",
    re.I,
)
_COUNTED = re.compile(
    r"(?:\d|\b(?:" + "|".join(sorted(ENGLISH, key=len, reverse=True)) + r"))\s*(?:-\s*)?$"
)


_UNSPACED_SET = re.compile("|".join(sorted(UNSPACED_SETS, key=len, reverse=True)))
_HAN = "一二三四五六日"
_HAN_DAYS = re.compile("(?:周|星期|礼拜)([一二三四五六日天](?:[、和及][一二三四五六日天])+)")
"""Days of which only the first is named in full: 周一、三、五."""


def dates(text: str, months: Collection[str], *, figures: bool, ordinals: bool) -> Iterator[Value]:
    """Yield the dates of a text.

    Args:
        text: To read.
        months: The names of months that it may hold, in lower case.
        figures: Whether it may hold dates in figures alone.
        ordinals: Whether it may hold a day such as "the 26th".
    """
    for match in _written(text, months, figures=figures):
        part = match.groupdict()
        day, month, year = (
            next((part[f"{kind}{n}"] for n in range(1, 9) if part.get(f"{kind}{n}")), None)
            for kind in ("d", "mo", "y")
        )
        if month is None:
            continue
        number = int(month) if month.isdigit() else MONTH_OF[month.lower()]
        if part["era"]:
            year = str(_ERAS[part["era"]] + int(part["ye"].replace("元", "1")))
        if 0 <= int(day or 0) <= 31 and 1 <= number <= 12:
            yield _value("date", {(int(year or 0), number, int(day or 0))}, match, text)
    for match in _FIGURES.finditer(text) if figures else ():
        if readings := _readings(match):
            if len(readings) > 1 and (order := _ORDER.search(text)):
                day_first = order[0][0] in "dD"
                day, month = (int(match[n]) for n in ("ab" if day_first else "ba"))
                readings = {r for r in readings if r[1:] == (month, day)} or readings
            yield _value("date", readings, match, text)
    for match in _YEAR.finditer(text) if "年" in text else ():
        yield _value("date", {(int(match[1]), 0, 0)}, match, text)
    for match in _DAY_OF_MONTH.finditer(text) if ordinals else ():
        if 1 <= int(match[1]) <= 31:
            yield _value("date", {(0, 0, int(match[1]))}, match, text)


_ORDER = re.compile(
    r"\b(?:d{1,2}|day)\s?[/.-]\s?(?:m{1,2}|month)\b|\b(?:m{1,2}|month)\s?[/.-]\s?(?:d{1,2}|day)\b",
    re.I,
)
"""What says in which order the parts of a date are written: "dd/mm/yyyy"."""
_YEAR = re.compile(r"(?<!\d)([12]\d{3})\s?年(?![間间前后後以])")
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""The year before the first of each."""


def _written(text: str, months: Collection[str], *, figures: bool) -> Iterator[re.Match[str]]:
    """Yield what `_DATE.finditer` would; it is slow, and a date begins with a figure or a month."""
    lower = text.replace("İ", "I").lower()  # the only letter that lower case makes longer
    numbers = [match.span() for match in _DIGITS.finditer(text)]
    named: set[int] = set()
    for name in (*months, *_ERAS) if not text.isascii() else months:
        at = lower.find(name)
        while at >= 0:
            named.add(at)
            at = lower.find(name, at + 1)
    starts = {*named, *(start for start, _ in numbers)}
    if not figures:  # a month and a figure side by side, or there is no date
        starts = set(_beside(text, sorted(named), numbers))
    behind = 0
    for start in sorted(starts):
        match = _DATE.match(text, start) if start >= behind else None
        if match is not None:
            behind = match.end()
            yield match


_DIGITS = re.compile(r"\d+")
_MOST_BETWEEN = 3
"""Words between a day and its month, or a month and its year, the rest of the month's included."""


def _beside(text: str, named: Sequence[int], numbers: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yield where months with a number near behind them stand, and numbers with a month so."""
    for at in named:
        following = bisect_left(numbers, (at, 0))
        if following < len(numbers):
            gap = text[at : numbers[following][0]]
            if len(gap.split()) <= _MOST_BETWEEN:
                yield at
    for start, end in numbers:
        following = bisect_left(named, end)
        if following < len(named) and len(text[end : named[following]].split()) <= _MOST_BETWEEN:
            yield start


def _readings(match: re.Match[str]) -> set[tuple[int, int, int]]:
    """Read a date in figures day first and, unless points divide it, month first."""
    a, b, year = int(match["a"]), int(match["b"]), int(match["y"])
    if len(match["y"]) == 2:
        if match["s"] != "/":
            return set()  # 3.11.20 is a version as often, 40-12-76 a code
        year += 2000 if year < 70 else 1900
    orders = [(a, b)] if match["s"] == "." else [(a, b), (b, a)]
    return {(year, month, day) for day, month in orders if 1 <= month <= 12 and 1 <= day <= 31}


_FRIDAY_AND_SATURDAY = frozenset((4, 5))
"""The nights of a weekend."""


_NAMING = frozenset(part for name in DAY_OF for part in name.split("-"))
_SETTING = tuple(frozenset(re.findall(r"[^\W\d_]+", name)) for name in DAY_SETS)


def days(text: str, words: frozenset[str]) -> Iterator[Value]:
    """Yield the days of the week in a text, and sets of them.

    Args:
        text: To read.
        words: Its words in lower case: they say which patterns can match at all.
    """
    named = not words.isdisjoint(_NAMING) or not text.isascii()
    for match in _RANGE_OF_DAYS.finditer(text) if named else ():
        first, last = (DAY_OF[match[i].lower()] for i in (1, 2))
        span = range(first, last + 1 if first <= last else last + 8)
        yield _value("days", {frozenset(day % 7 for day in span)}, match, text)
    sets = "24/7" in text or any(name and name <= words for name in _SETTING)
    for match in _DAY_SET.finditer(text) if sets or not text.isascii() else ():
        name = " ".join(match[0].lower().split())
        # "5 business days" is a length of time, "on business days" a set of days
        counted = _COUNTED.search(text[max(0, match.start() - 16) : match.start()].lower())
        if not (name in ("business days", "working days") and counted):
            late = {_FRIDAY_AND_SATURDAY} if "weekend" in name else set[Reading]()
            yield _value("days", {DAY_SETS[name], *late}, match, text)
    if not text.isascii():
        for match in _UNSPACED_SET.finditer(text):
            yield _value("days", {UNSPACED_SETS[match[0]]}, match, text)
        for match in _HAN_DAYS.finditer(text):
            signs = match[1].replace("天", "日")
            found = frozenset(_HAN.index(sign) for sign in signs if sign in _HAN)
            yield _value("days", {found}, match, text)
    for pattern in (_LONG_DAY, _SHORT_DAY) if named else ():
        for match in pattern.finditer(text):
            name = match[0].lower().rstrip(".")
            yield _value("days", {frozenset({DAY_OF[name]})}, match, text)


def _value(family: str, readings: Collection[Reading], match: re.Match[str], text: str) -> Value:
    return Value(
        family="date" if family == "date" else "days",
        unit="",
        readings=frozenset(readings),
        start=match.start(),
        end=match.end(),
        text=text[match.start() : match.end()],
    )
