"""Values that an answer may work out from what the context says.

In: a value that stands nowhere, and the values of the sentences about the same things. Out:
whether it is a sum, a difference, a product, a share, a length of time between two of them, or a
date or time that one of them leads to. What chance alone often yields (a share of any two counts)
is told apart from what it seldom does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers.rules._derived_times import (
    FIRST_YEAR,
    LARGE,
    Lines,
    dates_from,
    is_equal,
    is_that_date,
    lengths_of_time,
    numbers_of,
    reached,
    times_of_day,
    weekdays,
    within_dates,
)

__all__ = ["derivable", "in_proportion", "multiplied", "proportionate"]


_MOST = 48
"""Values of a passage that are tried against each other."""
_MANY = 20
_FEW = 8


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
    if value.family != "number" or value.unit in ("second", "month"):
        return _in_time(value, known, lines, inside=inside)
    if value.unit == "cent" and any(
        derivable(_whole_of(value, one.unit), lines, compared=compared, sums=sums)
        for one in known
        if one.unit in CURRENCIES - {"cent"}
    ):
        return True
    if _is_year(value) and any(year in value.readings for year in _years(known)):
        return True
    if not value.unit or value.unit in ("person", "times"):
        near = (
            amount for line in lines for amount in _counts(list(line), compared=compared, sums=sums)
        )
        return any(is_equal(value, amount) for amount in near) or (sums and _large(value, known))
    if any(is_equal(value, amount) for amount in _priced(value.unit, known)):
        return True
    if any(is_equal(value, amount) for line in lines for amount in _elided(value.unit, line)):
        return True
    if not sums:
        return False
    unit = "%" if value.unit == "percentage point" else value.unit
    alike = [one for one in known if one.unit == unit]
    elided = {amount for line in lines for amount in _elided(unit, line)}
    amounts = {*elided, *(a for one in alike for a in numbers_of(one))}
    added = (abs(a + s * b) for a in amounts for b in elided for s in (1, -1))
    three = map(sum, combinations(amounts, 3)) if len(amounts) <= _FEW else ()
    return any(is_equal(value, Fraction(amount)) for amount in (*_sums(alike), *added, *three))


def _in_time(value: Value, known: Sequence[Value], lines: Lines, *, inside: bool) -> bool:
    """Say whether a date, a time, days or a length of time follow from others."""
    if value.family == "date":
        return any(is_that_date(value, day) for day in dates_from(known)) or (
            inside and within_dates(value, lines)
        )
    if value.family == "clock":
        return any(minute in value.readings for minute in times_of_day(known))
    if value.family == "days":
        if any(days in value.readings for days in weekdays(known)):
            return True
        unions = (
            frozenset[int]().union(
                *(r for v in line for r in v.readings if isinstance(r, frozenset))
            )
            for line in lines
        )
        return any(r <= days for days in unions for r in value.readings if isinstance(r, frozenset))
    elided = {amount for line in lines for amount in _elided(value.unit, line)}
    amounts = {a for one in known if one.unit == value.unit for a in numbers_of(one)}
    added = (abs(a + sign * b) for a in amounts for b in elided for sign in (1, -1))
    if any(is_equal(value, amount) for amount in (*elided, *added)):
        return True
    return any(reached(value, unit, amount) for unit, amount in lengths_of_time(known))


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
    wanted = {*numbers_of(product), *(r for r in product.bare if isinstance(r, Fraction))}
    for one in known:
        if not product.unit or one.unit not in (product.unit, ""):
            continue
        for amount in numbers_of(one):
            for by in (r for r in factor.bare if isinstance(r, Fraction)):
                if by and amount and {amount * by, amount / by} & wanted:
                    return True
    return not product.unit and any(
        {a * b, a / b} & wanted
        for one in known
        if not one.unit
        for a in numbers_of(one)
        for b in factor.bare
        if isinstance(b, Fraction) and b and a > 1
    )


def in_proportion(one: Value, two: Value, lines: Lines) -> bool:
    """Say whether two values are as two of one sentence are: 200 kg to 130 l, as 100 kg to 65 l.

    Args:
        one: What the answer states.
        two: What the answer states beside it, in another unit or of something else.
        lines: The values of the sentences that speak of the same things, line by line.
    """
    for line in lines:
        numbers = [v for v in line if v.family == "number" and v.unit]
        for a in (v for v in numbers if v.unit == one.unit):
            for b in (v for v in numbers if v.unit == two.unit and v is not a):
                if any(
                    x * q == y * p
                    for x in numbers_of(one)
                    for y in numbers_of(two)
                    for p in numbers_of(a)
                    for q in numbers_of(b)
                ):
                    return True
    return False


def _size_of(value: Value) -> Fraction:
    """Return how large the unit is in which a value is written."""
    bare = max((r for r in value.bare if isinstance(r, Fraction)), default=Fraction(0))
    return max(numbers_of(value), default=Fraction(0)) / bare if bare else Fraction(0)


def _differences(known: Sequence[Value], unit: str) -> Iterator[Fraction]:
    """Yield by how much amounts of one kind differ, in the unit in which they are written."""
    amounts = [one for one in known if one.family == "number" and not _is_year(one)]
    for one, two in combinations(amounts, 2):
        if _kind(one.unit) != _kind(two.unit) or (
            unit and _kind(one.unit) not in ("", _kind(unit))
        ):
            continue
        for a in one.bare:
            for b in two.bare:
                if isinstance(a, Fraction) and isinstance(b, Fraction):
                    yield abs(a - b)


def _kind(unit: str) -> str:
    if unit in ("degree", "kelvin difference", "fahrenheit"):
        return "degree"
    return "" if unit in ("person", "times") else unit


def _equal_bare(value: Value, amount: Fraction) -> bool:
    near = Fraction(1, 20) if value.approximate else Fraction(0)
    return value.family == "number" and any(
        abs(number - amount) <= near * abs(amount)
        for number in value.bare
        if isinstance(number, Fraction) and number
    )


def _whole_of(cents: Value, unit: str) -> Value:
    readings = frozenset(r / 100 for r in numbers_of(cents))
    return replace(cents, unit=unit, readings=readings, bare=readings)


def _years(known: Sequence[Value]) -> Iterator[Fraction]:
    """Yield the years to which a number of years leads from another year."""
    lengths = {r / 12 for one in known if one.unit == "month" for r in numbers_of(one)}
    starts = {r for one in known if _is_year(one) for r in numbers_of(one)}
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
    wanted = [r / 100 if value.unit == "%" else r for r in numbers_of(value)]
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
        for a in numbers_of(one):
            for b in numbers_of(two):
                if a > 0 and b > 0:
                    yield from (a / b, b / a)
                    yield from (abs(a - b) / a, abs(a - b) / b)


def _sums(values: Sequence[Value]) -> Iterator[Fraction]:
    for a, b in combinations(values, 2):
        for x, y in ((x, y) for x in numbers_of(a) for y in numbers_of(b)):
            yield x + y
            yield abs(x - y)
    for one in values:
        if one.unit == "%":
            yield from (100 - x for x in numbers_of(one))


def _priced(unit: str, known: Sequence[Value]) -> Iterator[Fraction]:
    """Yield what a count or a share makes of an amount: "3 months at 20 euros each"."""
    shares = {r / 100 for one in known if one.unit == "%" for r in numbers_of(one)}
    shares |= {r for one in known for r in numbers_of(one) if not one.unit and 0 < r < 1}
    counts = {
        r
        for one in known
        for r in (one.bare if one.family == "number" else ())
        if one.unit != unit and isinstance(r, Fraction) and 1 < r < FIRST_YEAR
    }
    if unit == "square metre":
        lengths = [r for one in known if one.unit == "metre" for r in numbers_of(one)]
        yield from (a * b for a, b in combinations(lengths, 2))
    for amount in (r for one in known if one.unit == unit for r in numbers_of(one)):
        for share in shares:
            yield from (amount * share, amount * (1 - share), amount * (1 + share))
        yield amount / 2
        for count in counts:
            yield from (amount * count, amount / count)


def _elided(unit: str, line: Sequence[Value]) -> Iterator[Fraction]:
    """Yield numbers without a unit in the unit of another: "one takes 48 minutes, the other 80"."""
    factors = {
        max(numbers_of(one)) / bare
        for one in line
        if one.unit == unit
        for bare in one.bare
        if isinstance(bare, Fraction) and bare
    }
    for one in line:
        if one.family == "number" and not one.unit:
            yield from (number * factor for number in numbers_of(one) for factor in factors)


def _counts(values: list[Value], *, compared: bool, sums: bool) -> Iterator[Fraction]:
    """Yield what the counts of one sentence make: sums, differences, products, shares."""
    plain = [one for one in values if one.family == "number" and not _is_year(one)]
    counted = [one for one in plain if one.unit in ("", "person", "times")]
    if sums:
        yield from _added(values, counted, compared=compared)
    for one, two in combinations(counted, 2):
        for x, y in ((x, y) for x in numbers_of(one) for y in numbers_of(two)):
            yield x * y
            if "times" in (one.unit, two.unit) and x and y:  # "three times as many as in May"
                yield from (x / y, y / x)
            if sums and x + y >= _MANY:
                yield x + y
            if compared and min(x, y) > 1:
                yield abs(x - y)
    for share, whole in ((a, b) for a in plain for b in plain if a is not b):
        for part in numbers_of(share):
            if 0 < part < 1 or share.unit == "%":
                for number in numbers_of(whole):
                    yield number * part / (100 if share.unit == "%" else 1)


def _added(values: list[Value], counted: list[Value], *, compared: bool) -> Iterator[Fraction]:
    """Yield the sums of counts that stand side by side, and of any where the answer adds up."""
    for first in range(len(values)):
        for size in (2, 3, 4):
            run = values[first : first + size]
            close = all(b.start - a.end < 40 for a, b in pairwise(run))
            alike = all(v.family == "number" and not v.unit and (v.counts or compared) for v in run)
            if len(run) == size and close and alike:
                yield sum((next(numbers_of(v)) for v in run), Fraction(0))
    for size in (3, 4) if compared and len(counted) <= _FEW else ():
        for some in combinations(counted, size):
            yield sum((next(numbers_of(v)) for v in some), Fraction(0))


def _large(value: Value, known: Sequence[Value]) -> bool:
    """Whether a large count is the sum or difference of two in different sentences."""
    if min(numbers_of(value), default=Fraction(0)) < LARGE:
        return False
    counts = [o for o in known if o.family == "number" and o.unit in ("", "person")]
    counts = [o for o in counts if not _is_year(o)]
    shares = [r for o in known for r in numbers_of(o) if not o.unit and 0 < r < 1]
    amounts = [r for o in known if o.family == "number" for r in o.bare if isinstance(r, Fraction)]
    if any(is_equal(value, share * amount) for share in shares for amount in amounts):
        return True
    return any(is_equal(value, amount) for amount in _sums(counts) if amount >= LARGE)


def _is_year(value: Value) -> bool:
    return value.text.isdigit() and len(value.text) == 4 and "1000" <= value.text < "2200"
