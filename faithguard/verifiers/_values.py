"""Text -> the numbers, times, days and dates in it, in one form each.

In: a sentence. Out: `Value`s with spans, comparable whatever the wording: "9am", "9:00" and
"nine in the morning" are one value, so are "24 months" and "2 years", and "weekdays" and
"Monday to Friday". Where a writing can be read in two ways ("1.234"), both readings are kept
and one that agrees is enough. English words; digits of every script.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from faithguard.verifiers._function_words import FUNCTION_WORDS

__all__ = ["Value", "find_values"]

Family = Literal["number", "clock", "days", "date"]

Reading: TypeAlias = Fraction | int | frozenset[int] | tuple[int, int, int]
"""One way to read a value, by its family: number | clock | days | date."""

_FULL_WEEK = frozenset(range(7))


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

    @property
    def meaning(self) -> object:
        """What it says, wherever it stands: equal for values that no check can tell apart."""
        kind = self.family, self.unit, self.approximate, self.counts, self.ranged
        return kind, self.readings, self.bare

    @property
    def marks(self) -> frozenset[object]:
        """What it is found by among others: two values that agree share one of these."""
        if self.family == "number":
            near = {"about"} if self.approximate else {"number"}
            return frozenset({*self._plain, *self._share, *near})
        if self.family == "clock":
            return frozenset(_hour(minutes) for minutes in self.readings)
        return frozenset({self.family})

    @property
    def sought(self) -> frozenset[object]:
        """The marks under which those that may agree with it are found."""
        if self.family == "number":
            others = {"number", "about"} if self.approximate else {"about"}
            return frozenset({*self._plain, *self._share, *others})
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
            if {self.unit, other.unit} == {"", "%"} and self._share == other._share:
                return True
            if (self.counts and other.unit) or (other.counts and self.unit):
                return False  # twelve places are no 12 euros
            if not self.unit or not other.unit:
                return bool(self._plain & other._plain) or self._near(other)
            if self.unit != other.unit:
                return False
            return bool(self.readings & other.readings) or self._near(other)
        clock, number = (self, other) if self.family == "clock" else (other, self)
        if clock.family == "clock" and number.family == "number" and not number.unit:
            # "9 to 18" says what "9:00 to 18:00" says
            return any(_hour(minutes) in number.readings for minutes in clock.readings)
        return False

    def comparable(self, other: Value) -> bool:
        """Say whether the two measure the same thing, so that they can disagree."""
        if self.ranged and other.family == "clock":
            return True
        return self.family == other.family and (
            self.unit == other.unit or (self.family == "number" and _kin(self.unit, other.unit))
        )

    @property
    def _share(self) -> frozenset[Reading]:
        """The number as a share of a whole: a quarter is 25%."""
        whole = 100 if self.unit == "%" else 1
        return frozenset(r / whole for r in self.readings if isinstance(r, Fraction))

    @property
    def _plain(self) -> frozenset[Reading]:
        return self.bare or self.readings

    def _near(self, other: Value) -> bool:
        """Within the twentieth that "about" grants."""
        return (self.approximate or other.approximate) and any(
            isinstance(a, Fraction) and isinstance(b, Fraction) and abs(a - b) * 20 <= abs(b)
            for a in self.readings
            for b in other.readings
        )


def _within(days: Reading, others: Reading) -> bool:
    return isinstance(days, frozenset) and isinstance(others, frozenset) and days <= others


def _same_date(a: Reading, b: Reading) -> bool:
    """What one of the two leaves open does not disagree."""
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return False
    return all(x == y or not x or not y for x, y in zip(a, b, strict=True))


def _hour(minutes: Reading) -> Fraction | None:
    return Fraction(minutes, 60) if isinstance(minutes, int) else None


def _kin(a: str, b: str) -> bool:
    """Units that measure different things still compete for one slot: 500 mg, 500 ml."""
    return bool(a) and bool(b) and (a in _CURRENCIES) == (b in _CURRENCIES) and "%" not in (a, b)


_SCALES = {
    "hundred": 100, "thousand": 10**3, "k": 10**3, "million": 10**6, "mn": 10**6,
    "billion": 10**9, "bn": 10**9, "trillion": 10**12, "lakh": 10**5, "crore": 10**7,
}  # fmt: skip
_ONES = {
    word: number
    for number, word in enumerate(
        """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen
    """.split()
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        """
    twenty thirty forty fifty sixty seventy eighty ninety
    """.split(),
        start=2,
    )
}
_WORDS = _ONES | _TENS | {"dozen": 12}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        """
    third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    """.split(),
        start=3,
    )
}
_PARTS = {
    "half": Fraction(1, 2), "quarter": Fraction(1, 4),
    "third": Fraction(1, 3), "thirds": Fraction(1, 3), "quarters": Fraction(1, 4),
}  # fmt: skip
_LONGEST = 40
"""Characters; a longer row of digits is a code, not an amount."""

_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_VULGAR_OF = {
    character: Fraction(unicodedata.numeric(character)).limit_denominator(10)
    for character in _VULGAR
}

# base unit -> its unit words, each group with its factor
_UNIT_TABLE = {
    "second": "second|seconds|sec|secs|s 1; minute|minutes|min|mins 60; hour|hours|hr|hrs|h 3600;"
    " day|days 86400; week|weeks 604800; fortnight|fortnights 1209600",
    # a month has no fixed length: months and years agree with each other only
    "month": "month|months 1; year|years|yr|yrs 12; decade|decades 120; century|centuries 1200",
    "business day": "businessday 1",
    "gram": "mcg|µg|μg|ug|microgram|micrograms 1/1000000; mg|milligram|milligrams 1/1000;"
    " g|gram|grams 1; kg|kilogram|kilograms|kilo|kilos 1000; tonne|tonnes 1000000",
    "ounce": "oz|ounce|ounces 1; lb|lbs|pound-weight 16",
    "metre": "mm|millimetre|millimetres|millimeter|millimeters 1/1000;"
    " cm|centimetre|centimetres|centimeter|centimeters 1/100;"
    " m|metre|metres|meter|meters 1; km|kilometre|kilometres|kilometer|kilometers 1000",
    "inch": "inch|inches 1; ft|foot|feet 12; yd|yard|yards 36; mile|miles 63360",
    "litre": "ml|millilitre|millilitres|milliliter|milliliters 1/1000; cl 1/100; dl 1/10;"
    " l|litre|litres|liter|liters 1",
    "byte": "byte|bytes 1; kb 1000; mb 1000000; gb 1000000000; tb 1000000000000",
    "kelvin difference": "°c|celsius 1",
    "fahrenheit": "°f|fahrenheit 1",
    "watt": "w|watt|watts 1; kw|kilowatt|kilowatts 1000; mw|megawatt|megawatts 1000000",
    "watt hour": "wh 1; kwh 1000; mwh 1000000",
    "volt": "v|volt|volts 1",
    "calorie": "cal|kcal|calories 1",
    "%": "%|percent|pct|per-cent 1",
    "percentage point": "pp|percentage-point 1",
    "person": "people|persons|person 1",
    "times": "times 1",
}
_CURRENCY_NAMES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP",
    "₹": "INR", "inr": "INR", "rs": "INR", "rupee": "INR", "rupees": "INR",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "円": "JPY", "元": "CNY", "cny": "CNY", "yuan": "CNY",
    "chf": "CHF", "franc": "CHF", "francs": "CHF", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
    "cad": "CAD", "aud": "AUD", "cents": "cent", "cent": "cent",
}  # fmt: skip
_CURRENCIES = frozenset(_CURRENCY_NAMES.values())
# unit word -> (base unit, factor)
_UNITS = {
    name: (base, Fraction(factor))
    for base, table in _UNIT_TABLE.items()
    for names, factor in (entry.split() for entry in table.split(";"))
    for name in names.split("|")
} | {name: (code, Fraction(1)) for name, code in _CURRENCY_NAMES.items()}

_DAYS = """
    monday tuesday wednesday thursday friday saturday sunday
    """.split()
_DAY_OF = {
    **{name[:size]: day for day, name in enumerate(_DAYS) for size in (3, len(name))},
    "tues": 1,
    "thur": 3,
    "thurs": 3,
    **{f"{name}s": day for day, name in enumerate(_DAYS)},
}
_DAY_SETS = {
    "weekdays": frozenset(range(5)), "weekday": frozenset(range(5)),
    "every weekday": frozenset(range(5)), "every weekend": frozenset({5, 6}),
    "business days": frozenset(range(5)), "working days": frozenset(range(5)),
    "weekends": frozenset({5, 6}), "weekend": frozenset({5, 6}),
    "every day": _FULL_WEEK, "daily": _FULL_WEEK, "each day": _FULL_WEEK,
    "seven days a week": _FULL_WEEK, "7 days a week": _FULL_WEEK,
    "all week": _FULL_WEEK, "24/7": _FULL_WEEK,
}  # fmt: skip
_MONTHS = """
    january february march april may june july august september october november december
    """.split()
_MONTH_OF = {
    **{name[:size]: n for n, name in enumerate(_MONTHS, 1) for size in (3, len(name))},
    "sept": 9,
}

_DAY = "|".join(sorted(map(re.escape, _DAY_OF), key=len, reverse=True))
# "may" and "march" are verbs unless they are capitalised
_MONTH_NAMES = [n for name in _MONTH_OF for n in (name.title(), name.upper())] + [
    name for name in _MONTH_OF if name not in ("may", "mar", "march")
]
_MONTH = f"(?-i:{'|'.join(sorted(_MONTH_NAMES, key=len, reverse=True))})"
_NUMBER_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_HOUR_WORD = "|".join(word for word, n in _ONES.items() if 1 <= n <= 12)
_PART_OF_DAY = r"in\s+the\s+(?:morning|afternoon|evening)|at\s+night"

_RANGE_OF_DAYS = re.compile(
    rf"\b({_DAY})\b\.?\s*(?:-|–|—|to|through|thru|until|till)\s*\b({_DAY})\b", re.I
)
_DAY_SET = re.compile(
    r"\b(?:" + "|".join(re.escape(s).replace(r"\ ", r"\s+") for s in _DAY_SETS) + r")\b", re.I
)
# "sun", "sat" and "wed" are words of their own: short names count where capitalised
_ONE_DAY = re.compile(
    rf"\b(?:{'|'.join(_DAYS)})s?\b|\b(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b\.?"
)
_LONG_DAY = re.compile(rf"\b(?:{'|'.join(_DAYS)})s?\b", re.I)
_CLOCK = re.compile(
    r"(?<![\d.,:])(?P<h>\d{1,2})(?:[:.h](?P<m>[0-5]\d))?\s*(?P<ap>[ap])\.?\s?m\b\.?"
    r"|(?<![\d.,:])(?P<h24>[01]?\d|2[0-4])[:](?P<m24>[0-5]\d)(?::[0-5]\d)?(?!\d)"
    rf"|\b(?P<hw>{_HOUR_WORD}|\d{{1,2}})(?:\s+o['’]?clock)?\s+(?P<part>{_PART_OF_DAY})\b"
    rf"|\b(?P<ho>{_HOUR_WORD}|\d{{1,2}})\s+o['’]?clock\b"
    r"|(?<![\d.,:])(?P<hu>[01]?\d|2[0-4])(?::(?P<mu>[0-5]\d))?\s*Uhr\b"
    r"|\b(?P<named>noon|midday|midnight)\b",
    re.I,
)
_CLOCK_RANGE = re.compile(
    r"(?<![\d.,:])(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))?\s*(?:to|-|–|—|and|until|till)\s*"
    r"(?=\d{1,2}(?:[:.][0-5]\d)?\s*[ap]\.?\s?m\b)",
    re.I,
)
_DATE = re.compile(
    rf"(?<!\d)(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mo1>{_MONTH})\b(?:\.?,?\s+(?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<mo2>{_MONTH})\b\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y2>\d{{4}})\b)?"
    r"|(?<!\d)(?P<y3>\d{4})-(?P<mo3>\d{2})-(?P<d3>\d{2})(?!\d)",
    re.I,
)
_DIGITS = re.compile(
    r"(?P<sign>(?<![\w)])[-−+])?"
    r"(?P<num>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?![\d])|\d[\d.,'’]*\d|\d)"
    rf"(?P<frac>[{_VULGAR}])?"
    rf"|(?P<onlyfrac>[{_VULGAR}])"
)
_SPELLED = re.compile(
    rf"\b(?:(?:{_NUMBER_WORD}|a(?=\s+(?:dozen|hundred|thousand|million|billion)\b))"
    rf"(?:[\s-]+(?:and\s+)?(?:{_NUMBER_WORD}|hundred|thousand|million|billion)\b)*"
    rf"|hundred|thousand|million|billion)\b",
    re.I,
)
_PART = re.compile(
    r"\b(?:(?P<n>one|two|three|a)[\s-]+)?(?P<p>half|third|thirds|quarter|quarters)\b"
    r"[\s-]+(?:of\b|(?:of\s+)?(?P<article>an?|the)\b)",
    re.I,
)
_A_UNIT = re.compile(
    r"\b(?P<a>an?|one)\s+(?:minute|hour|day|week|month|year)"
    r"\s+and\s+a\s+(?:half|quarter)\b",
    re.I,
)
_TIMES_OF = {"once": 1, "twice": 2, "thrice": 3}
# "once" is a count only before a period; "once you register" is a condition
_TIMES = re.compile(
    r"\b(twice|thrice|once(?=\s+(?:an?|per|every|each|daily|weekly|monthly|yearly|more|only)\b))\b",
    re.I,
)
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.I)
_AND_PART = re.compile(r"\s+and\s+(?:a\s+|one\s+)?(half|quarter)\b", re.I)
_SCALE = re.compile(r"[\s-]*(hundred|thousand|million|billion|trillion|lakh|crore|mn|bn|k)\b", re.I)
_PER_CENT_WORDS = re.compile(r"per\s+cent\b|percentage\s+points?\b", re.I)
_BUSINESS = re.compile(r"(?:business|working)\s+days?\b", re.I)
_UNIT = re.compile(r"[\s-]*(%|°\s?[CF]\b|[€$£₹¥円元]|[^\W\d_]{1,16})", re.I)
_BEFORE = re.compile(r"(US\$|[€$£₹¥]|\b(?:EUR|USD|GBP|INR|CHF|JPY|Rs)\b\.?)\s*$", re.I)
_FOLLOWING = re.compile(r"\s+([^\W\d_]{3,24})")
_ENDS = re.compile(r"(?<![\d.,:])\d{1,2}\s*(?:to|-|–|until|till)\s*\d{1,2}(?![\d.,:]*\d)", re.I)
_ABOUT = re.compile(
    r"\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|more\s+than)\s+"
    r"(?:US\$|[€$£₹¥])?$",
    re.I,
)
_VERSION = re.compile(r"(?!\d{1,3}(?:\.\d{3})+$)\d+(?:\.\d+){2,}")


def find_values(text: str) -> list[Value]:
    """Return the values of a text, in its order, without overlaps; linear in its length."""
    words = frozenset(_LETTERS.findall(text.lower()))
    digits = _DIGIT.search(text) is not None
    if not digits and not words & _TELLING_WORDS:
        return []
    found: list[Value] = []
    taken = bytearray(len(text))
    for value in _candidates(text, words, digits):
        if not any(taken[value.start : value.end]):
            found.append(value)
            taken[value.start : value.end] = b"\1" * (value.end - value.start)
    return sorted(found, key=lambda value: value.start)


# A cheap look at its words says which patterns a text can hold at all.
_LETTERS = re.compile(r"[a-z]+")
_DIGIT = re.compile(rf"[\d{_VULGAR}]")
_DAY_WORDS = frozenset(
    [
        *_DAY_OF,
        *(f"{name}s" for name in _DAYS),
        *"weekdays weekday business working weekends weekend every each daily all week".split(),
    ]
)
_CLOCK_WORDS = frozenset(
    "noon midday midnight clock morning afternoon evening night am pm m h uhr".split()
)
_NUMBER_WORDS = frozenset([*_WORDS, *_SCALES, *_ORDINALS, *_PARTS, *_TIMES_OF, "a", "an", "one"])
_TELLING_WORDS = _DAY_WORDS | _CLOCK_WORDS | (_NUMBER_WORDS - {"a", "an", "one"})


def _candidates(text: str, words: frozenset[str], digits: bool) -> Iterator[Value]:
    """Yield values, the most specific writings first."""
    if digits and ("-" in text or words & _MONTH_OF.keys()):
        yield from _dates(text)
    if words & _DAY_WORDS or "24/7" in text:
        yield from _days(text)
    if ":" in text or words & _CLOCK_WORDS:
        yield from _clocks(text)
    if digits:
        yield from _digits(text)
    if words & _NUMBER_WORDS:
        yield from _spelled(text)


def _dates(text: str) -> Iterator[Value]:
    for match in _DATE.finditer(text):
        part = match.groupdict()
        day = int(part["d1"] or part["d2"] or part["d3"])
        name = part["mo1"] or part["mo2"]
        month = _MONTH_OF[name.lower()] if name else int(part["mo3"])
        year = int(part["y1"] or part["y2"] or part["y3"] or 0)
        if 1 <= day <= 31 and 1 <= month <= 12:
            yield _value("date", "", {(year, month, day)}, match, text)


def _days(text: str) -> Iterator[Value]:
    for match in _RANGE_OF_DAYS.finditer(text):
        first, last = (_DAY_OF[match[i].lower()] for i in (1, 2))
        span = range(first, last + 1 if first <= last else last + 8)
        yield _value("days", "", {frozenset(day % 7 for day in span)}, match, text)
    for match in _DAY_SET.finditer(text):
        words = " ".join(match[0].lower().split())
        # "5 business days" is a length of time, "on business days" a set of days
        counted = re.search(
            r"(?:\d|\b(?:" + _NUMBER_WORD + r"))\s*(?:-\s*)?$",
            text[max(0, match.start() - 16) : match.start()],
        )
        if not (words in ("business days", "working days") and counted):
            yield _value("days", "", {_DAY_SETS[words]}, match, text)
    for pattern in (_LONG_DAY, _ONE_DAY):
        for match in pattern.finditer(text):
            name = match[0].lower().rstrip(".")
            yield _value("days", "", {frozenset({_DAY_OF[name]})}, match, text)


def _clocks(text: str) -> Iterator[Value]:
    for match in _CLOCK_RANGE.finditer(text):
        hour, minute = int(match["h"]), int(match["m"] or 0)
        if 1 <= hour <= 12:  # "5 to 7 pm", "9 to 5 pm": which half of the day is not said
            morning = hour % 12 * 60 + minute
            span = match.start("h"), match.end("m" if match["m"] else "h")
            yield Value("clock", "", frozenset({morning, morning + 720}), *span, text[slice(*span)])
    for match in _CLOCK.finditer(text):
        readings = _minutes(match)
        if readings:
            yield _value("clock", "", readings, match, text)


def _minutes(match: re.Match[str]) -> set[int]:
    part = match.groupdict()
    if part["named"]:
        return {0} if part["named"].lower() == "midnight" else {720}
    if part["h"]:
        hour, minute = int(part["h"]), int(part["m"] or 0)
        if not 1 <= hour <= 12:
            return set()
        return {(hour % 12 + (12 if part["ap"].lower() == "p" else 0)) * 60 + minute}
    if part["part"]:
        hour = _hour_of(part["hw"])
        later = "morning" not in part["part"].lower()
        return {(hour % 12 + 12 if later and hour < 12 else hour) * 60}
    if part["ho"]:
        hour = _hour_of(part["ho"])
        return {hour * 60, (hour + 12) % 24 * 60}
    hour = int(part["h24"] or part["hu"])
    return {(hour * 60 + int(part["m24"] or part["mu"] or 0)) % 1440}


def _hour_of(word: str) -> int:
    return int(word) if word.isdigit() else _ONES[word.lower()]


def _digits(text: str) -> Iterator[Value]:
    for match in _DIGITS.finditer(text):
        if not _part_of_a_word(text, match.start(), match.end()) and len(match[0]) <= _LONGEST:
            yield _number(_read_digits(match), match.start(), match.end(), text)


def _spelled(text: str) -> Iterator[Value]:
    for match in _PART.finditer(text):
        count = _ONES.get((match["n"] or "one").lower(), 1)
        # "half an hour": the article stands between the number and its unit
        end = match.end("article") if match["article"] and match["article"] != "the" else None
        part = count * _PARTS[match["p"].lower()]
        yield _number({part}, match.start(), end or match.end("p"), text)
    for match in _SPELLED.finditer(text):
        words = re.findall(r"[a-z]+", match[0].lower())
        if words != ["one"]:  # more often a pronoun than a count
            yield _number({Fraction(_read_words(words))}, match.start(), match.end(), text)
    for match in _A_UNIT.finditer(text):
        yield _number({Fraction(1)}, match.start(), match.start() + len(match["a"]), text)
    for match in _TIMES.finditer(text):
        readings = frozenset({Fraction(_TIMES_OF[match[1].lower()])})
        yield Value("number", "times", readings, *match.span(1), match[1], bare=readings)
    for match in _ORDINAL.finditer(text):
        yield _number({Fraction(_ORDINALS[match[0].lower()])}, match.start(), match.end(), text)


def _part_of_a_word(text: str, start: int, end: int) -> bool:
    """B12, v2, covid19 and 3.11.2 are names, not amounts."""
    before = text[start - 1] if start else " "
    if before == "_" or (before.isalpha() and ord(before) < 0x2E80 and before not in "€$"):
        return True
    return _VERSION.fullmatch(text[start:end]) is not None


def _read_digits(match: re.Match[str]) -> set[Fraction]:
    part = match.groupdict()
    extra = Fraction(0)
    if fraction := part["frac"] or part["onlyfrac"]:
        extra = _VULGAR_OF[fraction]
    if not part["num"]:
        return {extra}
    digits = re.sub(r"['’ \u00a0\u202f]", "", part["num"])
    sign = -1 if part["sign"] in ("-", "−") else 1
    return {sign * (reading + extra) for reading in _readings(digits)}


def _readings(digits: str) -> set[Fraction]:
    """Read digits with separators; a lone separator before three digits has two readings."""
    points, commas = digits.count("."), digits.count(",")
    if points and commas:
        decimal = max(digits.rfind("."), digits.rfind(","))
        return {_fraction(digits[:decimal], digits[decimal + 1 :])}
    if not points and not commas:
        return {_fraction(digits, "")}
    separator = "." if points else ","
    head, *rest = digits.split(separator)
    grouped = _fraction("".join([head, *rest]), "")
    if len(rest) > 1:
        return {grouped}
    if len(rest[0]) != 3 or head in ("", "0"):
        return {_fraction(head, rest[0])}
    return {grouped, _fraction(head, rest[0])}


def _fraction(whole: str, decimals: str) -> Fraction:
    whole = re.sub(r"[.,]", "", whole) or "0"
    decimals = re.sub(r"[.,]", "", decimals)
    return Fraction(int(whole + decimals), 10 ** len(decimals))


def _read_words(words: list[str]) -> int:
    total = current = 0
    for word in words:
        if word in ("a", "and"):
            current += word == "a"
        elif word == "dozen":
            current = max(current, 1) * 12
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
        else:
            current += _WORDS[word]
    return total + current


def _number(readings: set[Fraction], start: int, end: int, text: str) -> Value:
    """Add the scale and the unit that stand around a number."""
    stop = end
    if part := _AND_PART.match(text, stop):  # two and a half
        readings = {reading + _PARTS[part[1].lower()] for reading in readings}
        stop = part.end()
    factor = scale_of = Fraction(1)
    if scale := _SCALE.match(text, stop):
        factor = scale_of = Fraction(_SCALES[scale[1].lower()])
        stop = scale.end()
    before = text[max(0, start - 24) : start]
    unit = ""
    if currency := _BEFORE.search(before):
        unit = _CURRENCY_NAMES[currency[1].lower().rstrip(".")]
        start -= len(currency[0])
    elif words := re.compile(r"[\s-]*").match(text, stop):
        unit, step, stop = _unit_at(text, stop, words.end())
        factor *= step
    if unit and (part := _AND_PART.match(text, stop)):  # an hour and a half
        readings = {reading + _PARTS[part[1].lower()] for reading in readings}
        stop = part.end()
    return Value(
        family="number",
        unit=unit,
        readings=frozenset(reading * factor for reading in readings),
        bare=frozenset(reading * scale_of for reading in readings),
        start=start,
        end=stop,
        text=text[start:stop],
        counts=not unit and _counted(text, stop),
        ranged=not unit and _is_end_of_range(text, start),
        approximate=_ABOUT.search(text[max(0, start - 24) : start]) is not None,
    )


def _counted(text: str, at: int) -> bool:
    following = _FOLLOWING.match(text, at)
    return following is not None and following[1].lower() not in FUNCTION_WORDS


def _is_end_of_range(text: str, at: int) -> bool:
    begin = max(0, at - 16)
    near = _ENDS.finditer(text[begin : at + 16])
    return any(match.start() <= at - begin < match.end() for match in near)


def _unit_at(text: str, stop: int, at: int) -> tuple[str, Fraction, int]:
    if match := _PER_CENT_WORDS.match(text, at):
        points = "point" in match[0].lower()
        return ("percentage point" if points else "%"), Fraction(1), match.end()
    if match := _BUSINESS.match(text, at):
        return "business day", Fraction(1), match.end()
    if match := _UNIT.match(text, stop):
        name = match[1].replace(" ", "")
        base = _unit_of(name)
        if base is not None:
            return base[0], base[1], match.end()
    return "", Fraction(1), stop


def _unit_of(name: str) -> tuple[str, Fraction] | None:
    """Look a unit up; the case of short symbols matters (MB is no mb, but many write it so)."""
    if name in ("M", "L", "G", "S", "H", "V", "W", "C", "F"):
        name = name if name in ("V", "W", "L") else ""
    return _UNITS.get(name.lower())


def _value(
    family: Family, unit: str, readings: Collection[Reading], match: re.Match[str], text: str
) -> Value:
    return Value(
        family=family,
        unit=unit,
        readings=frozenset(readings),
        start=match.start(),
        end=match.end(),
        text=text[match.start() : match.end()],
    )
