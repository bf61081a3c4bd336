"""Lengths of time, dates and times of the day that follow from others.

In: values. Out: what lies between two of them, and where a length of time leads from one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations

from faithguard.verifiers._values import Value
from faithguard.verifiers._values._value import Reading

__all__ = [
    "FIRST_YEAR",
    "LARGE",
    "dates_from",
    "is_equal",
    "is_that_date",
    "lengths_of_time",
    "numbers_of",
    "reached",
    "times_of_day",
    "weekdays",
    "within_dates",
]


_DAY = Fraction(86_400)


_MINUTES = 1440
_NEARLY_A_MONTH = 26


FIRST_YEAR, _LAST_YEAR = 1000, 3000


LARGE = 100
"""A count from which a chance hit is rare."""


Lines = Sequence[Sequence[Value]]


def lengths_of_time(values: Sequence[Value]) -> Iterator[tuple[str, Fraction]]:
    """Yield lengths of time: between two dates, years or times of the day, and their sums."""
    for a, b in combinations(values, 2):
        for x in a.readings:
            for y in b.readings:
                yield from _between(a, x, b, y)
    for one in values:
        for days in one.readings:
            if isinstance(days, frozenset):  # daily but on Mondays: six days a week
                yield from (("second", n * _DAY) for n in (len(days), 7 - len(days)))


def _between(a: Value, x: Reading, b: Value, y: Reading) -> Iterator[tuple[str, Fraction]]:
    """Yield the lengths of time that lie between two readings of values."""
    if isinstance(y, tuple) and not isinstance(x, tuple):
        a, x, b, y = b, y, a, x
    if isinstance(x, tuple) and isinstance(y, tuple):
        yield from _apart(x, y)
    elif isinstance(x, tuple) and isinstance(y, Fraction) and not b.unit:
        if x[2] and 1 <= y <= 31:  # "from 5 March to the 20th"
            yield "second", abs(x[2] - y) * _DAY
        if x[0] and y.denominator == 1 and FIRST_YEAR <= y < _LAST_YEAR:
            years = abs(x[0] - y)
            yield from (("month", 12 * years), ("month", 12 * max(years - 1, Fraction(0))))
    elif isinstance(x, int) and isinstance(y, int):
        yield from (("second", Fraction(60 * (z % _MINUTES))) for z in (x - y, y - x))
    elif isinstance(x, Fraction) and isinstance(y, Fraction):
        yield from _summed(a, x, b, y)


def _summed(a: Value, x: Fraction, b: Value, y: Fraction) -> Iterator[tuple[str, Fraction]]:
    if not a.unit and not b.unit:
        if min(x, y) >= FIRST_YEAR and max(x, y) < _LAST_YEAR:
            yield "month", 12 * abs(x - y)
        elif a.ranged and b.ranged:  # from 9 to 17
            yield "second", 3600 * abs(x - y)
    elif a.unit == b.unit and a.unit in ("second", "month"):
        yield a.unit, x + y
        yield a.unit, abs(x - y)
    for one, length, times in ((a, x, y), (b, y, x)):
        other = b if one is a else a
        if one.unit not in ("second", "month") or not 1 < times < LARGE:
            continue
        if other.unit == "times":  # renewed twice: three times as long
            yield one.unit, length * (times + 1)
        elif not other.unit:
            yield one.unit, length * times
            yield one.unit, length / times


def _apart(a: tuple[int, int, int], b: tuple[int, int, int]) -> Iterator[tuple[str, Fraction]]:
    if not a[1] or not b[1]:
        return
    year = a[0] or b[0] or 2001
    months = 12 * ((b[0] or year) - (a[0] or year)) + b[1] - a[1]
    yield "month", Fraction(abs(months))
    if abs(months) > 12:  # full years
        yield "month", Fraction(abs(months) // 12 * 12)
    if a[2] and b[2] and abs(b[2] - a[2]) > 1:
        yield "month", Fraction(abs(months) - 1 if months else 0)
    if a[2] and b[2] and abs(b[2] - a[2]) >= _NEARLY_A_MONTH:  # 1 March to 31 May
        yield "month", Fraction(abs(months) + 1)
    try:
        days = (date(b[0] or year, b[1], b[2] or 1) - date(a[0] or year, a[1], a[2] or 1)).days
    except ValueError:
        return
    for counted in (abs(days), abs(days) + 1):  # the first day may count
        yield "second", counted * _DAY


def dates_from(known: Sequence[Value]) -> Iterator[date]:
    """Yield the dates to which a length of time leads from another date."""
    lengths = [one for one in known if one.unit in ("second", "month", "business day")]
    for start in _full(known):
        for one in lengths:
            for amount in numbers_of(one):
                yield from _moved(start, one.unit, amount)


def _moved(start: date, unit: str, amount: Fraction) -> Iterator[date]:
    for sign in (1, -1):
        try:
            if unit == "month" and amount.denominator == 1:
                months = start.year * 12 + start.month - 1 + sign * int(amount)
                end = date(months // 12, months % 12 + 1, start.day)
            elif unit == "second" and (amount / _DAY).denominator == 1:
                end = start + timedelta(days=sign * int(amount / _DAY))
            else:
                continue
        except (ValueError, OverflowError):
            continue
        yield from (end, end - timedelta(days=1))  # the last day of a period


def _full(known: Sequence[Value]) -> Iterator[date]:
    """Yield the dates whose day is known, in the year that is named beside them."""
    named = sorted({r[0] for one in known for r in one.readings if isinstance(r, tuple) and r[0]})
    for one in known:
        for reading in one.readings:
            if isinstance(reading, tuple) and reading[1] and reading[2]:
                for year in [reading[0]] if reading[0] else named[:2] or [2001]:
                    try:
                        yield date(year, reading[1], reading[2])
                    except ValueError:
                        continue


def is_that_date(value: Value, day: date) -> bool:
    return any(
        isinstance(r, tuple)
        and r[2] in (0, day.day)
        and r[1] in (0, day.month)
        and r[0] in (0, day.year)
        for r in value.readings
    )


def within_dates(value: Value, lines: Lines) -> bool:
    """Whether a day lies between two that one sentence names: its period."""
    own = list(_full([value]))
    for line in lines:
        days = list(_full(line))
        if own and len(days) == 2 and len([v for v in line if v.family == "date"]) == 2:
            low, high = sorted(days)
            if any(low < day.replace(year=low.year) < high for day in own if day.day < 29):
                return True
    return False


def times_of_day(known: Sequence[Value]) -> Iterator[int]:
    """Yield the times to which a length of time leads from another time."""
    lengths = [r for one in known if one.unit == "second" for r in numbers_of(one) if r < _DAY]
    for one in known:
        for start in one.readings if one.family == "clock" else ():
            for amount in lengths:
                if isinstance(start, int) and (amount / 60).denominator == 1:
                    yield from ((start + sign * int(amount / 60)) % _MINUTES for sign in (1, -1))


def weekdays(known: Sequence[Value]) -> Iterator[frozenset[int]]:
    """Yield the days of the week of dates, and those that are left when some are taken away."""
    for day in _full(known):
        yield from (frozenset({(day.weekday() + n) % 7}) for n in (0, 1, -1))
    for one in known:
        for days in one.readings:
            if isinstance(days, frozenset):
                yield frozenset(range(7)) - days


def reached(value: Value, unit: str, amount: Fraction) -> bool:
    if value.unit == unit:
        return is_equal(value, amount)
    if unit == "month":  # weeks and days of months
        return value.approximate and is_equal(value, amount * 30 * _DAY)
    return any(
        28 * _DAY * months <= amount <= 31 * _DAY * months for months in numbers_of(value) if months
    )


def is_equal(value: Value, amount: Fraction) -> bool:
    numbers = [number for number in numbers_of(value) if number]
    if amount in numbers:  # asked of a great many amounts
        return True
    near = _rounded(value)
    if value.approximate or value.step:
        near = max(near, Fraction(1, 20))
    return bool(near) and any(abs(number - amount) <= abs(amount) * near for number in numbers)


def _rounded(value: Value) -> Fraction:
    """Return how far a number with decimals, or a share in words, may lie off."""
    if any(character.isdigit() for character in value.text):
        return Fraction(1, 100) if value.text.count(".") + value.text.count(",") else Fraction(0)
    return Fraction(1, 20) if any(0 < n < 1 for n in numbers_of(value)) else Fraction(0)


def numbers_of(value: Value) -> Iterator[Fraction]:
    yield from (reading for reading in value.readings if isinstance(reading, Fraction))
