"""Values that an answer may work out from what the context says.

In: a value that stands nowhere, and the values of the passage. Out: whether it is a sum, a
difference, a share or a length of time between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from itertools import combinations, pairwise

from faithguard.verifiers._values import Value

__all__ = ["derivable"]

_MOST = 40
"""Values of a passage that are tried against each other."""
_DAY = Fraction(86_400)
_NEARLY_A_MONTH = 26
_FIRST_YEAR, _LAST_YEAR = 1000, 3000


def derivable(value: Value, lines: Sequence[Sequence[Value]], *, sums: bool = True) -> bool:
    """Say whether a value follows from two values.

    Args:
        value: What the answer states.
        lines: The values of the sentences that speak of the same things, line by line.
        sums: Whether sums and differences of two of them count; halves and shares always do.
    """
    if value.family != "number":
        return False
    known = [one for line in lines for one in line][:_MOST]
    if value.unit in ("second", "month"):
        return any(_reached(value, unit, amount) for unit, amount in _between(known))
    if not value.unit or value.unit in ("person", "times"):
        return any(
            _equal(value, amount) for line in lines for amount in _counts(list(line), sums=sums)
        )
    if any(_equal(value, amount) for amount in _priced(value.unit, known)):
        return True
    if not sums:
        return False
    unit = "%" if value.unit == "percentage point" else value.unit
    alike = [one for one in known if one.unit == unit]
    return any(_equal(value, amount) for amount in _sums(alike))


def _sums(values: Sequence[Value]) -> Iterator[Fraction]:
    for a, b in combinations(values, 2):
        for x, y in ((x, y) for x in _numbers(a) for y in _numbers(b)):
            yield x + y
            yield abs(x - y)


def _priced(unit: str, known: Sequence[Value]) -> Iterator[Fraction]:
    """Yield half of an amount, and what a percentage makes of it."""
    shares = {r / 100 for one in known if one.unit == "%" for r in _numbers(one)}
    shares |= {r for one in known for r in _numbers(one) if not one.unit and 0 < r < 1}
    for amount in (r for one in known if one.unit == unit for r in _numbers(one)):
        yield amount / 2
        for share in shares:
            yield from (amount * share, amount * (1 - share), amount * (1 + share))


def _counts(values: list[Value], *, sums: bool) -> Iterator[Fraction]:
    """Yield the sums of two or three counts in one sentence that stand beside each other."""
    for first in range(len(values) if sums else 0):
        for size in (2, 3):
            run = values[first : first + size]
            close = all(b.start - a.end < 24 for a, b in pairwise(run))
            if len(run) == size and close and all(not v.unit and v.counts for v in run):
                yield sum((next(_numbers(v)) for v in run), Fraction(0))
    for one, two in combinations(values, 2):
        if "times" in (one.unit, two.unit):  # two capsules three times a day
            yield from (x * y for x in _numbers(one) for y in _numbers(two))
    for share, whole in ((a, b) for a in values for b in values if a is not b):
        for part in _numbers(share):
            if 0 < part < 1 or share.unit == "%":
                for number in _numbers(whole):
                    yield number * part / (100 if share.unit == "%" else 1)


def _between(values: Sequence[Value]) -> Iterator[tuple[str, Fraction]]:
    """Yield the lengths of time between two dates, years or times of the day."""
    for a, b in combinations(values, 2):
        for x in a.readings:
            for y in b.readings:
                if isinstance(x, tuple) and isinstance(y, tuple):
                    yield from _apart(x, y)
                elif isinstance(x, tuple) and isinstance(y, Fraction) and not b.unit:
                    if x[2] and 1 <= y <= 31:  # "from 5 March to the 20th"
                        yield "second", abs(x[2] - y) * _DAY
                elif isinstance(x, int) and isinstance(y, int):
                    yield "second", Fraction(60 * abs(x - y))
                elif isinstance(x, Fraction) and isinstance(y, Fraction) and a.family == b.family:
                    if (
                        not a.unit
                        and not b.unit
                        and min(x, y) >= _FIRST_YEAR
                        and max(x, y) < _LAST_YEAR
                    ):
                        yield "month", 12 * abs(x - y)
                    elif a.unit == b.unit and a.unit in ("second", "month"):
                        yield a.unit, x + y
                        yield a.unit, abs(x - y)


def _apart(a: tuple[int, int, int], b: tuple[int, int, int]) -> Iterator[tuple[str, Fraction]]:
    year = a[0] or b[0] or 2001
    months = 12 * ((b[0] or year) - (a[0] or year)) + b[1] - a[1]
    yield "month", Fraction(abs(months))
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


def _reached(value: Value, unit: str, amount: Fraction) -> bool:
    return value.unit == unit and _equal(value, amount)


def _equal(value: Value, amount: Fraction) -> bool:
    near = Fraction(1, 20) if value.approximate else Fraction(0)
    return any(abs(number - amount) <= amount * near for number in _numbers(value) if number)


def _numbers(value: Value) -> Iterator[Fraction]:
    yield from (reading for reading in value.readings if isinstance(reading, Fraction))
