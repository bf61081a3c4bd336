"""Values that an answer may work out from what the context says.

In: a value that stands nowhere, and the values of the sentences about the same things. Out:
whether it is a sum, a difference, a product, a share, a length of time between two of them, or a
date or time that one of them leads to. What chance alone often yields (a share of any two counts)
is told apart from what it seldom does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations, pairwise

from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers._values._value import Reading

__all__ = ["derivable", "multiplied", "proportionate"]

_MOST = 48
"""Values of a passage that are tried against each other."""
_DAY = Fraction(86_400)
_MINUTES = 1440
_NEARLY_A_MONTH = 26
_FIRST_YEAR, _LAST_YEAR = 1000, 3000
_MANY = 20
_FEW = 8
_LARGE = 100
"""A count from which a chance hit is rare."""

Lines = Sequence[Sequence[Value]]


def derivable(
    value: Value,
    lines: Lines,
    *,
    compared: bool = False,
    sums: bool = True,
    inside: bool = True,
) -> bool:
    """Say whether a value follows from two values.

    Args:
        value: What the answer states.
        lines: The values of the sentences that speak of the same things, line by line.
        compared: Whether the answer says by how much two things differ: "12 more than".
        inside: Whether a date between two others is one of a period that they bound.
        sums: Whether sums and differences of two of them count; halves and shares always do.
    """
    known = [one for line in lines for one in line][:_MOST]
    if compared and any(_equal_bare(value, n) for n in _differences(known, value.unit)):
        return True
    if value.unit == "cent" and any(
        derivable(_whole_of(value, one.unit), lines, compared=compared, sums=sums)
        for one in known
        if one.unit in CURRENCIES - {"cent"}
    ):
        return True
    if value.family == "date":
        return any(_is_date(value, day) for day in _dates(known)) or (
            inside and _within_dates(value, lines)
        )
    if value.family == "clock":
        return any(minute in value.readings for minute in _times_of_day(known))
    if value.family == "days":
        if any(days in value.readings for days in _weekdays(known)):
            return True
        unions = (
            frozenset().union(*(r for v in line for r in v.readings if isinstance(r, frozenset)))
            for line in lines
        )
        return any(r <= days for days in unions for r in value.readings if isinstance(r, frozenset))
    if value.unit in ("second", "month"):
        if any(_equal(value, amount) for line in lines for amount in _elided(value.unit, line)):
            return True
        return any(_reached(value, unit, amount) for unit, amount in _lengths(known))
    if _is_year(value) and any(year in value.readings for year in _years(known)):
        return True
    if not value.unit or value.unit in ("person", "times"):
        near = (
            amount for line in lines for amount in _counts(list(line), compared=compared, sums=sums)
        )
        return any(_equal(value, amount) for amount in near) or (sums and _large(value, known))
    if any(_equal(value, amount) for amount in _priced(value.unit, known)):
        return True
    if any(_equal(value, amount) for line in lines for amount in _elided(value.unit, line)):
        return True
    if not sums:
        return False
    unit = "%" if value.unit == "percentage point" else value.unit
    alike = [one for one in known if one.unit == unit]
    return any(_equal(value, amount) for amount in _sums(alike))


def multiplied(product: Value, factor: Value, lines: Lines) -> bool:
    """Say whether a value is what another one makes of an amount: 70 kg at 4 mg per kg.

    Args:
        product: What the answer works out.
        factor: What it works it out by.
        lines: The values of the sentences that speak of the same things, line by line.
    """
    if product.family != "number" or factor.family != "number":
        return False
    if product.unit and product.unit == factor.unit and _size_of(product) == _size_of(factor):
        return False
    known = [one for line in lines for one in line if one.family == "number"][:_MOST]
    wanted = {*_numbers(product), *(r for r in product.bare if isinstance(r, Fraction))}
    for one in known:
        if not product.unit or one.unit not in (product.unit, ""):
            continue
        for amount in _numbers(one):
            for by in (r for r in factor.bare if isinstance(r, Fraction)):
                if by and amount and {amount * by, amount / by} & wanted:
                    return True
    return (
        not product.unit
        and not factor.unit
        and any(
            {a * b, a / b} & wanted
            for one in known
            if not one.unit
            for a in _numbers(one)
            for b in _numbers(factor)
            if b and a > 1
        )
    )


def _size_of(value: Value) -> Fraction:
    """Return how large the unit is in which a value is written."""
    bare = max((r for r in value.bare if isinstance(r, Fraction)), default=Fraction(0))
    return max(_numbers(value), default=Fraction(0)) / bare if bare else Fraction(0)


def _differences(known: Sequence[Value], unit: str) -> Iterator[Fraction]:
    """Yield by how much amounts of one kind differ, in the unit in which they are written."""
    amounts = [one for one in known if one.family == "number" and not _is_year(one)]
    for one, two in combinations(amounts, 2):
        if _kind(one.unit) != _kind(two.unit) or (unit and _kind(one.unit) not in ("", unit)):
            continue
        for a in one.bare:
            for b in two.bare:
                if isinstance(a, Fraction) and isinstance(b, Fraction):
                    yield abs(a - b)


def _kind(unit: str) -> str:
    return "" if unit in ("person", "times") else unit


def _equal_bare(value: Value, amount: Fraction) -> bool:
    return value.family == "number" and any(
        number == amount for number in value.bare if isinstance(number, Fraction) and number
    )


def _whole_of(cents: Value, unit: str) -> Value:
    readings = frozenset(r / 100 for r in _numbers(cents))
    return replace(cents, unit=unit, readings=readings, bare=readings)


def _years(known: Sequence[Value]) -> Iterator[Fraction]:
    """Yield the years to which a number of years leads from another year."""
    lengths = {r / 12 for one in known if one.unit == "month" for r in _numbers(one)}
    starts = {r for one in known if _is_year(one) for r in _numbers(one)}
    starts |= {Fraction(r[0]) for one in known for r in one.readings if isinstance(r, tuple)}
    for year in starts - {0}:
        for length in lengths:
            if length.denominator == 1:
                yield from (year + length, year - length)


def proportionate(value: Value, lines: Lines) -> bool:
    """Say whether a share, or a number of times, is what two amounts make of each other.

    Args:
        value: What the answer states.
        lines: The values of the sentences that speak of the same things, line by line.
    """
    if value.family != "number" or value.unit not in ("", "%", "times"):
        return False
    known = [one for line in lines for one in line if one.family == "number"][:_MOST]
    wanted = [r / 100 if value.unit == "%" else r for r in _numbers(value)]
    loose = Fraction(1, 20) if value.approximate or value.unit != "%" else Fraction(1, 50)
    return any(
        abs(share - ratio) <= loose * share
        for ratio in _ratios(known)
        for share in wanted
        if share and (share < 1 or value.unit or value.scale == 1)
    )


def _ratios(known: Sequence[Value]) -> Iterator[Fraction]:
    for one, two in combinations(known, 2):
        if one.unit != two.unit and not (one.counts or two.counts):
            continue
        for a in _numbers(one):
            for b in _numbers(two):
                if a > 0 and b > 0:
                    yield from (a / b, b / a)
                    yield from (abs(a - b) / a, abs(a - b) / b)


def _sums(values: Sequence[Value]) -> Iterator[Fraction]:
    for a, b in combinations(values, 2):
        for x, y in ((x, y) for x in _numbers(a) for y in _numbers(b)):
            yield x + y
            yield abs(x - y)
    for one in values:
        if one.unit == "%":
            yield from (100 - x for x in _numbers(one))


def _priced(unit: str, known: Sequence[Value]) -> Iterator[Fraction]:
    """Yield what a count or a share makes of an amount: "3 months at 20 euros each"."""
    shares = {r / 100 for one in known if one.unit == "%" for r in _numbers(one)}
    shares |= {r for one in known for r in _numbers(one) if not one.unit and 0 < r < 1}
    counts = {
        r
        for one in known
        for r in (one.bare if one.family == "number" else ())
        if one.unit != unit and isinstance(r, Fraction) and 1 < r < _FIRST_YEAR
    }
    for amount in (r for one in known if one.unit == unit for r in _numbers(one)):
        for share in shares:
            yield from (amount * share, amount * (1 - share), amount * (1 + share))
        yield amount / 2
        for count in counts:
            yield from (amount * count, amount / count)


def _elided(unit: str, line: Sequence[Value]) -> Iterator[Fraction]:
    """Yield numbers without a unit in the unit of another: "one takes 48 minutes, the other 80"."""
    factors = {
        max(_numbers(one)) / bare
        for one in line
        if one.unit == unit
        for bare in one.bare
        if isinstance(bare, Fraction) and bare
    }
    for one in line:
        if one.family == "number" and not one.unit:
            yield from (number * factor for number in _numbers(one) for factor in factors)


def _counts(values: list[Value], *, compared: bool, sums: bool) -> Iterator[Fraction]:
    """Yield what the counts of one sentence make: sums, differences, products, shares."""
    plain = [one for one in values if one.family == "number" and not _is_year(one)]
    for first in range(len(values) if sums else 0):
        for size in (2, 3, 4):
            run = values[first : first + size]
            close = all(b.start - a.end < 40 for a, b in pairwise(run))
            alike = all(not v.unit and (v.counts or compared) for v in run)
            if len(run) == size and close and alike:
                yield sum((next(_numbers(v)) for v in run), Fraction(0))
    counted = [one for one in plain if one.unit in ("", "person", "times")]
    for size in (3, 4) if compared and sums and len(counted) <= _FEW else ():
        for some in combinations(counted, size):
            yield sum((next(_numbers(v)) for v in some), Fraction(0))
    for one, two in combinations(counted, 2):
        for x, y in ((x, y) for x in _numbers(one) for y in _numbers(two)):
            yield x * y
            if "times" in (one.unit, two.unit) and y:  # "three times as many as in May"
                yield from (x / y, y / x)
            if sums and x + y >= _MANY:
                yield x + y
            if compared and min(x, y) > 1:
                yield abs(x - y)
    for share, whole in ((a, b) for a in plain for b in plain if a is not b):
        for part in _numbers(share):
            if 0 < part < 1 or share.unit == "%":
                for number in _numbers(whole):
                    yield number * part / (100 if share.unit == "%" else 1)


def _large(value: Value, known: Sequence[Value]) -> bool:
    """Whether a large count is the sum or difference of two in different sentences."""
    if min(_numbers(value), default=Fraction(0)) < _LARGE:
        return False
    counts = [o for o in known if o.family == "number" and o.unit in ("", "person")]
    counts = [o for o in counts if not _is_year(o)]
    shares = [r for o in known for r in _numbers(o) if not o.unit and 0 < r < 1]
    amounts = [r for o in known if o.family == "number" for r in o.bare if isinstance(r, Fraction)]
    if any(_equal(value, share * amount) for share in shares for amount in amounts):
        return True
    return any(_equal(value, amount) for amount in _sums(counts) if amount >= _LARGE)


def _is_year(value: Value) -> bool:
    return value.text.isdigit() and len(value.text) == 4 and "1000" <= value.text < "2200"


# -- time -------------------------------------------------------------------------------------


def _lengths(values: Sequence[Value]) -> Iterator[tuple[str, Fraction]]:
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
        if x[0] and y.denominator == 1 and _FIRST_YEAR <= y < _LAST_YEAR:
            years = abs(x[0] - y)
            yield from (("month", 12 * years), ("month", 12 * max(years - 1, Fraction(0))))
    elif isinstance(x, int) and isinstance(y, int):
        yield from (("second", Fraction(60 * (z % _MINUTES))) for z in (x - y, y - x))
    elif isinstance(x, Fraction) and isinstance(y, Fraction):
        yield from _summed(a, x, b, y)


def _summed(a: Value, x: Fraction, b: Value, y: Fraction) -> Iterator[tuple[str, Fraction]]:
    if not a.unit and not b.unit:
        if min(x, y) >= _FIRST_YEAR and max(x, y) < _LAST_YEAR:
            yield "month", 12 * abs(x - y)
        elif a.ranged and b.ranged:  # from 9 to 17
            yield "second", 3600 * abs(x - y)
    elif a.unit == b.unit and a.unit in ("second", "month"):
        yield a.unit, x + y
        yield a.unit, abs(x - y)
    for one, length, times in ((a, x, y), (b, y, x)):
        other = b if one is a else a
        if one.unit not in ("second", "month") or not 1 < times < _LARGE:
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


def _dates(known: Sequence[Value]) -> Iterator[date]:
    """Yield the dates to which a length of time leads from another date."""
    lengths = [one for one in known if one.unit in ("second", "month", "business day")]
    for start in _full(known):
        for one in lengths:
            for amount in _numbers(one):
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


def _is_date(value: Value, day: date) -> bool:
    return any(
        isinstance(r, tuple)
        and r[2] in (0, day.day)
        and r[1] in (0, day.month)
        and r[0] in (0, day.year)
        for r in value.readings
    )


def _within_dates(value: Value, lines: Lines) -> bool:
    """Whether a day lies between two that one sentence names: its period."""
    own = list(_full([value]))
    for line in lines:
        days = list(_full(line))
        if own and len(days) == 2 and len([v for v in line if v.family == "date"]) == 2:
            low, high = sorted(days)
            if any(low < day.replace(year=low.year) < high for day in own if day.day < 29):
                return True
    return False


def _times_of_day(known: Sequence[Value]) -> Iterator[int]:
    """Yield the times to which a length of time leads from another time."""
    lengths = [r for one in known if one.unit == "second" for r in _numbers(one) if r < _DAY]
    for one in known:
        for start in one.readings if one.family == "clock" else ():
            for amount in lengths:
                if isinstance(start, int) and (amount / 60).denominator == 1:
                    yield from ((start + sign * int(amount / 60)) % _MINUTES for sign in (1, -1))


def _weekdays(known: Sequence[Value]) -> Iterator[frozenset[int]]:
    """Yield the days of the week of dates, and those that are left when some are taken away."""
    for day in _full(known):
        yield from (frozenset({(day.weekday() + n) % 7}) for n in (0, 1, -1))
    for one in known:
        for days in one.readings:
            if isinstance(days, frozenset):
                yield frozenset(range(7)) - days


# -- comparing --------------------------------------------------------------------------------


def _reached(value: Value, unit: str, amount: Fraction) -> bool:
    if value.unit == unit:
        return _equal(value, amount)
    if unit == "month":  # weeks and days of months
        return value.approximate and _equal(value, amount * 30 * _DAY)
    return any(
        28 * _DAY * months <= amount <= 31 * _DAY * months for months in _numbers(value) if months
    )


def _equal(value: Value, amount: Fraction) -> bool:
    near = Fraction(1, 20) if value.approximate or value.step else Fraction(0)
    near = max(near, _rounded(value))
    return any(abs(number - amount) <= abs(amount) * near for number in _numbers(value) if number)


def _rounded(value: Value) -> Fraction:
    """Return how far a number with decimals, or a share in words, may lie off."""
    if any(character.isdigit() for character in value.text):
        return Fraction(1, 100) if value.text.count(".") + value.text.count(",") else Fraction(0)
    return Fraction(1, 20) if any(0 < n < 1 for n in _numbers(value)) else Fraction(0)


def _numbers(value: Value) -> Iterator[Fraction]:
    yield from (reading for reading in value.readings if isinstance(reading, Fraction))
