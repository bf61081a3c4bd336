"""A value, and when two of them agree.

In: what was read. Out: whether a text that holds one may say the other, and whether the two
measure the same thing, so that they can disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from faithguard.verifiers._values._units import AMBIGUOUS, CURRENCIES, IMPERIAL

__all__ = ["Family", "Reading", "Value"]

Family = Literal["number", "clock", "days", "date"]

Reading: TypeAlias = Fraction | int | frozenset[int] | tuple[int, int, int]
"""One way to read a value, by its family: number | clock | days | date."""

_NEAR = Fraction(1, 20)
"""What "about" grants."""
_ROUNDED = Fraction(2, 25)
"""What it grants a number that is written with few digits: three miles for 5.1 km."""
_FEW = 20
_CONVERTED = Fraction(1, 50)
"""How far a rounded conversion between systems of units may lie off."""
_OTHER_SYSTEM = {
    **{imperial: (metric,) for imperial, (metric, _, _) in IMPERIAL.items()},
    **{metric: (imperial,) for imperial, (metric, _, _) in IMPERIAL.items()},
    "month": ("second",),
    "second": ("month",),
    "degree": AMBIGUOUS["degree"],
    "kelvin difference": ("fahrenheit", "degree"),
    "fahrenheit": ("kelvin difference", "degree"),
    **{
        code: ("cent", *AMBIGUOUS.get(code, ()), *(a for a in AMBIGUOUS if code in AMBIGUOUS[a]))
        for code in CURRENCIES
    },
    "cent": tuple(sorted(CURRENCIES)),
}
"""Units whose values may agree although their numbers differ."""
_TIMES = frozenset(("second", "month", "business day"))
_NOON = 12
_COUNTERS = frozenset({"times", "person"})
"""Units that only count: three times is three doses."""
_DAYS_OF_MONTH = (Fraction(28 * 86_400), Fraction(31 * 86_400))


@dataclass(frozen=True, slots=True)
class Value:
    """One value in a text.

    Attributes:
        family: What it measures; only values of one family and one unit can disagree.
        unit: Base unit of a number ("second", "gram", "%", "EUR", ""), else "".
        readings: What it may be: numbers in base units, minutes of the day, weekdays (Monday
            is 0), or (year, month, day) with 0 for what is not said.
        approximate: Whether the wording allows a rounded value ("about", "nearly").
        start, end: Where it stands, in code points.
    """

    family: Family
    unit: str
    readings: frozenset[Reading]
    start: int
    end: int
    text: str
    approximate: bool = False
    bare: frozenset[Reading] = frozenset()
    """A number's readings without its unit."""
    counts: bool = False
    """Whether a number without a unit counts what stands after it: "twelve places"."""
    ranged: bool = False
    """Whether a number is one end of "9 to 18", which may be clock times."""
    step: Fraction = Fraction(0)
    """The last place that is written, where a scale word says that the rest is left out."""

    scale: Fraction = Fraction(1)
    """The product of its scale words: "million"."""

    def __hash__(self) -> int:
        # of few fields: fractions are slow to hash, and a place with its text tells most apart
        return hash((self.start, self.end, self.unit, self.text))

    @property
    def meaning(self) -> object:
        """What it says, wherever it stands: equal for values that no check can tell apart."""
        kind = self.family, self.unit, self.approximate, self.counts, self.ranged, self.step
        return kind, self.readings, self.bare

    @property
    def marks(self) -> frozenset[object]:
        """What it is found by among others: two values that agree share one of these."""
        if self.family == "number":
            near = {"about"} if self._loose else {"number"}
            return frozenset({*self._plain, *self._share, *near, f"in {self.unit}"})
        if self.family == "clock":
            return frozenset(hour for minutes in self.readings for hour in _hours(minutes))
        years = {Fraction(r[0]) for r in self.readings if isinstance(r, tuple) and r[0]}
        return frozenset({self.family, *years})

    @property
    def sought(self) -> frozenset[object]:
        """The marks under which those that may agree with it are found."""
        if self.family == "number":
            others = {"number", "about"} if self._loose else {"about"}
            systems = {f"in {unit}" for unit in _OTHER_SYSTEM.get(self.unit, ())}
            return frozenset({*self._plain, *self._share, *others, *systems})
        return self.marks

    def agrees(self, other: Value) -> bool:
        """Say whether a text that holds `other` may say this value.

        Not symmetric for days: what holds from Monday to Friday holds on Tuesday.
        """
        if self.family == other.family:
            if self.family == "date":
                return any(_same_date(a, b) for a in self.readings for b in other.readings)
            if self.family == "days":
                return any(_within(a, b) for a in self.readings for b in other.readings)
            return self._same_number(other) if self.family == "number" else self._same_time(other)
        families = {self.family, other.family}
        number = self if self.family == "number" else other
        special = other if number is self else self
        if number.family != "number" or number.unit:
            return False
        if "clock" in families:  # "9 to 18" says what "9:00 to 18:00" says
            return any(
                hour in number.readings
                for minutes in special.readings
                for hour in _hours(minutes)
                if number.ranged or hour == _hour(minutes) or hour.denominator > 1
            )
        # the year of a date
        return "date" in families and any(
            isinstance(r, tuple) and r[0] > 99 and Fraction(r[0]) in number.readings
            for r in special.readings
        )

    def comparable(self, other: Value) -> bool:
        """Say whether the two measure the same thing, so that they can disagree."""
        if self.ranged and other.family == "clock":
            return True
        return self.family == other.family and (
            self.unit == other.unit or (self.family == "number" and _kin(self.unit, other.unit))
        )

    def rounds(self, reading: Fraction, exact: Fraction) -> bool:
        """Say whether a reading is what another number is when rounded to the digits of this one.

        Args:
            reading: One of this value.
            exact: A number in its base unit.
        """
        apart = abs(reading - exact)
        if not reading or apart > abs(exact) * _ROUNDED:
            return False
        return any(
            2 * apart <= _place(abs(bare)) * abs(reading / bare)
            for bare in self._plain
            if isinstance(bare, Fraction) and 0 < abs(bare) < _FEW
        )

    def _same_time(self, other: Value) -> bool:
        return bool(self.readings & other.readings)

    def _same_number(self, other: Value) -> bool:
        if self.unit == other.unit:
            return (
                bool(self.readings & other.readings)
                or (not self.unit and bool(self._plain & other._plain))
                or self._near(other)
            )
        if {self.unit, other.unit} == {"", "%"} and self._same_share(other):
            return True
        soft = {self.unit, other.unit} & _COUNTERS and "" in (self.unit, other.unit)
        if not soft and ((self.counts and other.unit) or (other.counts and self.unit)):
            return False  # twelve places are no 12 euros
        if not self.unit or not other.unit:
            return bool(self._plain & other._plain) or self._near(other)
        if self.unit != other.unit:
            return self._converted(other)
        return bool(self.readings & other.readings) or self._near(other)

    def _same_share(self, other: Value) -> bool:
        if self._share == other._share:
            return True
        return (self.approximate or other.approximate) and any(
            0 < a < 1 and abs(a - b) <= b * _NEAR
            for a in self._share
            for b in other._share
            if isinstance(a, Fraction) and isinstance(b, Fraction)
        )

    def _converted(self, other: Value) -> bool:
        """Miles and kilometres, 30 days and a month, cents: equal if near enough."""
        if "cent" in (self.unit, other.unit) and {self.unit, other.unit} <= CURRENCIES:
            cents, whole = (self, other) if self.unit == "cent" else (other, self)
            return any(a == 100 * b for a, b in _pairs(cents, whole))
        if self.unit in AMBIGUOUS.get(other.unit, ()) or other.unit in AMBIGUOUS.get(self.unit, ()):
            return self.readings == other.readings or self._near(other)
        if {self.unit, other.unit} == {"month", "second"}:
            months, seconds = (self, other) if self.unit == "month" else (other, self)
            low, high = _DAYS_OF_MONTH
            return any(m * low <= s <= m * high for m, s in _pairs(months, seconds))
        for one, two in ((self, other), (other, self)):
            if one.unit in IMPERIAL and IMPERIAL[one.unit][0] == two.unit:
                _, factor, offset = IMPERIAL[one.unit]
                return any(
                    abs((a - offset) * factor - b) <= abs(b) * _CONVERTED + (offset and 1)
                    or (one.approximate and one.rounds(a, b / factor + offset))
                    or (two.approximate and two.rounds(b, (a - offset) * factor))
                    for a, b in _pairs(one, two)
                )
        return False

    @property
    def _share(self) -> frozenset[Reading]:
        """The number as a share of a whole: a quarter is 25%."""
        if self.unit != "%":
            return self.readings
        return frozenset(r / 100 for r in self.readings if isinstance(r, Fraction))

    @property
    def _plain(self) -> frozenset[Reading]:
        return self.bare or self.readings

    @property
    def _loose(self) -> bool:
        return self.approximate or bool(self.step)

    def _near(self, other: Value) -> bool:
        """Within the twentieth that "about" grants, or equal once one of them is rounded."""
        if not (self.approximate or other.approximate or self.step or other.step):
            return False
        for a, b in _pairs(self, other):
            if (self.approximate or other.approximate) and abs(a - b) <= abs(b) * _NEAR:
                return True
            if (self.approximate and self.rounds(a, b)) or (
                other.approximate and other.rounds(b, a)
            ):
                return True
            for step in (self.step, other.step):
                if step and 2 * abs(a - b) <= step:
                    return True
        return False


def _place(number: Fraction) -> Fraction:
    """Return what one of the last digit of a number that is not 0 is worth: 100 of 2,300."""
    place = Fraction(1)
    while (number / place).denominator > 1 and place > _SMALLEST:
        place /= 10
    while number and place < number and (number / (10 * place)).denominator == 1:
        place *= 10
    return place


_SMALLEST = Fraction(1, 1000)


def _pairs(one: Value, two: Value) -> list[tuple[Fraction, Fraction]]:
    return [
        (a, b)
        for a in one.readings
        for b in two.readings
        if isinstance(a, Fraction) and isinstance(b, Fraction)
    ]


def _within(days: Reading, others: Reading) -> bool:
    return isinstance(days, frozenset) and isinstance(others, frozenset) and days <= others


def _same_date(a: Reading, b: Reading) -> bool:
    """What one of the two leaves open does not disagree."""
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return False
    return all(x == y or not x or not y for x, y in zip(a, b, strict=True))


def _hours(minutes: Reading) -> Iterator[Fraction]:
    """Yield the numbers that may stand for a time: 16:00 is 16, or 4 of "8 to 4"."""
    if isinstance(minutes, int):
        hour, rest = divmod(minutes, 60)
        yield Fraction(minutes, 60)
        if rest:
            yield hour + Fraction(rest, 100)  # "8.30"
        if hour > _NOON:
            yield Fraction(minutes - 60 * _NOON, 60)


def _hour(minutes: Reading) -> Fraction | None:
    return Fraction(minutes, 60) if isinstance(minutes, int) else None


def _kin(a: str, b: str) -> bool:
    """Units that measure different things still compete for one slot: 500 mg, 500 ml."""
    return (
        bool(a)
        and bool(b)
        and (a in CURRENCIES) == (b in CURRENCIES)
        and not {a, b} & {"%", *_COUNTERS}
        and (a in _TIMES) == (b in _TIMES)
    )
