"""What the families of values have in common: a value that stands nowhere, or in another place.

In: a scene, and which of its values a family looks after. Out: a verdict where a sentence says the
same with another value, where it gives this one to something else, or where it stands nowhere;
else silence. Equal values in other wordings agree: see `_values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

from faithguard.types import Verdict
from faithguard.verifiers._terms import analyse, stem
from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers._values._words import ORDINALS
from faithguard.verifiers.rules._derived import derivable, multiplied, proportionate
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, unmentioned
from faithguard.verifiers.rules._slots import Slot, counted, displaced, is_listed, misbound

__all__ = ["distinct", "holding", "is_year", "stated"]

_SAME_STATEMENT = 0.5
"""Share of a claim's content that a sentence must hold before its value can contradict."""
_MOST_VALUES = 100
"""Values of one claim that are looked for one by one; what has more is no statement."""
_COMMON = 200
"""Sentences; a value that more of them hold tells nothing."""
_COUNTED_THERE = 0.3
"""The same where it counts the very thing that the claim does."""
_COUNTABLE = 12
"""A writer may count up to a dozen things that the context only lists."""
_FIRST_YEAR, _LAST_YEAR = 1000, 2200


def stated(scene: Scene, name: str, mine: Callable[[Value], bool]) -> Verdict | None:
    """Return what the context says of the values of one family."""
    asked = {value.text for value in analyse(scene.context.question or "").values}
    for value in distinct(scene.reading):
        if not mine(value):
            continue
        if scene.context.holders(value):
            verdict = _misplaced(scene, name, value)
        elif scene.claim.text != scene.context.question and value.text in asked:
            verdict = None  # what the question brought in is not what the answer asserts
        else:
            verdict = _absent(scene, name, value)
        if verdict is not None:
            return verdict
    return None


def distinct(reading: Reading) -> tuple[Value, ...]:
    """Return the first values of a reading that differ in meaning, in order."""
    return _differing(reading.values)


def _differing(values: Sequence[Value]) -> tuple[Value, ...]:
    found = tuple({value.meaning: value for value in reversed(values)}.values())[::-1]
    return found[:_MOST_VALUES]


def is_year(value: Value) -> bool:
    """Whether a number is likely a year."""
    return (
        value.family == "number"
        and not value.unit
        and value.text.isdigit()
        and any(_FIRST_YEAR <= _size(reading) < _LAST_YEAR for reading in value.readings)
    )


# -- it stands nowhere ------------------------------------------------------------------------


def _absent(scene: Scene, name: str, value: Value) -> Verdict | None:
    if _under_negation(scene, value) or _named(scene, value) or _in_century(scene, value):
        return None
    if not value.unit and (
        _AGE.search(scene.reading.text[: value.start])
        or _AGE_AFTER.match(scene.reading.text, value.end)
    ):
        years = frozenset(12 * r for r in value.readings if isinstance(r, Fraction))
        value = replace(value, unit="month", readings=years)
    lines = list(_lines(scene, timed=_is_timed(value) or is_year(value)))
    compared = _compared(scene, value)
    worked_out = (
        not is_listed(scene.reading)
        and derivable(value, lines, compared=compared, inside=not _EDGE.search(scene.reading.text))
        and (compared or not _restated(scene, value, lines))
    )
    swapped = _in_other_unit(scene, value)
    if not swapped and (
        worked_out
        or _example(scene, value, lines)
        or _in_range(scene, value)
        or _within_a_bound(scene, value)
        or _in_scale(value, scene)
        or _written(value, scene)
        or _within_bound(value, scene)
    ):
        return None
    if value.family == "days" and _left_out(scene, value, lines):
        return None
    for near in scene.near:
        if near.share < _SAME_STATEMENT:
            break
        rival = _rival(value, scene.reading, near.reading)
        if rival is not None:
            reason = f"the context says {rival.text!r}, the answer {value.text!r}"
            return contradiction(scene, name, reason, near)
    if _in_a_name(scene, value) or _OPEN_TIME.search(scene.reading.text[: value.start]):
        return None
    if value.text.lower().startswith(("a ", "an ")):
        return None  # "in an hour", "a year on"
    if _counts(value) or _WHOLE_WEEK in value.readings or proportionate(value, lines):
        return None
    return unmentioned(scene, name, f"the context nowhere says {value.text!r}")


def _in_other_unit(scene: Scene, value: Value) -> bool:
    """Whether the sentence that says the same has the very figure in another unit."""
    return bool(value.unit) and any(
        value.comparable(other) and value.bare & other.bare and not value.agrees(other)
        for near in scene.near
        if near.share >= _SAME_STATEMENT
        for other in near.reading.values
        if other.unit != value.unit or other.readings != value.readings
    )


def _example(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether a value is what a claim works out another by, or is worked out by another.

    "A load of 300 kg costs 60 euros", of "We charge 20 cents per kg".
    """
    others = [
        other
        for other in distinct(scene.reading)
        if not other.agrees(value) and not scene.context.holders(other)
    ]
    for other in others:
        for one, two in ((value, other), (other, value)):
            if one.family == "number" and multiplied(two, one, lines):
                return True
    return False


def _in_range(scene: Scene, value: Value) -> bool:
    """Whether a value lies in a range that the context gives: a child of ten, "from 6 to 12"."""
    text = scene.reading.text
    if value.family != "number" or value.ranged or _RANGE_ENDS.match(text, value.end):
        return False
    if _RANGE_BEGINS.search(text[max(0, value.start - 24) : value.start]):
        return False
    for near in scene.near:
        for low, high in pairwise(near.reading.values):
            ends = low.family == high.family == "number" and high.unit in (value.unit, "")
            if not ends or not _RANGE.fullmatch(near.reading.text, low.end, high.start):
                continue
            if _between(value, low, high):
                return True
    return False


def _between(value: Value, low: Value, high: Value) -> bool:
    if value.unit and not high.unit:  # a child of ten years: "from 6 to 12"
        sides = value.bare, low.bare, high.bare
    else:
        sides = value.readings, low.readings, high.readings
    return any(
        a < v < b
        for v, a, b in product(*sides)
        if isinstance(v, Fraction) and isinstance(a, Fraction) and isinstance(b, Fraction)
    )


_RANGE = re.compile(r"\s*(?:-|–|—|to|and|bis|und|à|a|et|y|e|~|〜|至|到)\s*", re.I)
_RANGE_ENDS = re.compile(r"\s*(?:-|–|—|to|bis)\s*\d", re.I)
_RANGE_BEGINS = re.compile(r"(?:\bfrom\s+|\bbetween\s+|\d\s*(?:-|–|—|to|and)\s*)$", re.I)


def _within_a_bound(scene: Scene, value: Value) -> bool:
    """Whether a value is an example to which a bound applies: a child of ten, "under 15"."""
    text = scene.reading.text
    given = _EXAMPLE.match(text) or _OF_ONE.search(text[max(0, value.start - 40) : value.start])
    if not given or _BOUNDED.search(text[max(0, value.start - 24) : value.start]):
        return False
    for near in scene.near:
        for other in near.reading.values:
            if other.family != value.family or other.unit not in (value.unit, ""):
                continue
            if other.counts and value.unit:
                continue
            way = _bound_of(near.reading.text, other)
            readings = value.readings if other.unit == value.unit else value.bare
            if way and any(_meets(a, b, way) for a in readings for b in other.readings):
                return True
    return False


def _bound_of(text: str, value: Value) -> int:
    """Return 1 for "over 15", -1 for "under 15", 0 where there is no bound."""
    before, after = text[max(0, value.start - 24) : value.start], text[value.end : value.end + 20]
    if _AT_LEAST_AFTER.match(after):
        return 1
    match = _ANY_BOUND.search(before)
    return 0 if match is None else -1 if match["most"] else 1


def _meets(one: object, bound: object, way: int) -> bool:
    if isinstance(one, Fraction) and isinstance(bound, Fraction):
        return one >= bound if way > 0 else one <= bound
    if isinstance(one, int) and isinstance(bound, int):
        return one >= bound if way > 0 else one <= bound
    return False


_EXAMPLE = re.compile(
    r"\s*(?:(?:an?|one)\s+[a-z]|someone|somebody|anyone|anybody|whoever|if\b|for\s+an?\s|those\s+who|who\s)",
    re.I,
)
_OF_ONE = re.compile(
    r"\b(?:an?|any|each)\s+(?:[\w-]+\s+){1,3}(?:aged|worth|weighing)\s+(?:about\s+)?$", re.I
)
_ANY_BOUND = re.compile(
    r"\b(?:(?P<most>under|below|less\s+than|fewer\s+than|up\s+to|at\s+most|before|until|by|within)"
    r"|over|above|more\s+than|at\s+least|from|after|exceeding)\s+(?:the\s+age\s+of\s+)?\W?$",
    re.I,
)
_AT_LEAST_AFTER = re.compile(
    r"\s*(?:or\s+(?:more|over|older|above)|and\s+(?:over|above|older))\b", re.I
)
_EDGE = re.compile(
    r"\b(?:beg[aiu]n\w*|start\w*|end(?:s|ed)?|finish\w*|open\w*|clos\w+|first|last\w*|until|from|since|abre|abrió|cierra|empieza|del|desde|ouvre|ferme|commence|du|dès|öffnet|beginnt|endet|ab|vom"
    r"|seit|apre|chiude|inizia|dal|começa|fecha|desde)\b",
    re.I,
)


def _left_out(scene: Scene, value: Value, lines: Sequence[Sequence[Value]]) -> bool:
    """Whether a claim denies something of the days that the context leaves out."""
    if not _CLOSED.search(scene.reading.text):
        return False
    rest = (
        frozenset(range(7)) - days
        for line in lines
        for other in line
        for days in other.readings
        if isinstance(days, frozenset)
    )
    return any(isinstance(r, frozenset) and r <= days for days in rest for r in value.readings)


_CLOSED = re.compile(
    r"\b(?:closed|closes|shut|except|geschlossen|fermée?s?|cerrad[oa]s?|chius[oiae]|fechad[oa]s?)\b",
    re.I,
)


def _lines(scene: Scene, *, timed: bool) -> Iterator[tuple[Value, ...]]:
    """Yield the values of the sentences about the same things, and of those beside the best."""
    numbers = [near.number for near in scene.near]
    beside = [n + step for n in numbers[:_BEST] for step in (-1, 1)]
    holding = [n for value in scene.reading.values for n in sorted(scene.context.holders(value))]
    short = range(len(scene.all)) if timed and len(scene.all) <= _SHORT else ()
    for number in dict.fromkeys([*numbers, *beside, *holding[:_BEST], *short]):
        if 0 <= number < len(scene.all):
            reading = scene.all[number]
            yield (*reading.values, *_factors(reading.text), *_periods(scene, reading.text))
            if timed:
                yield from _times(reading.text)
            yield from (values for _, values in reading.columns if values)


def _factors(text: str) -> Iterator[Value]:
    """Yield what words such as "doubles" multiply by."""
    for match in _FACTOR.finditer(text):
        yield from find_values(f"{_FACTORS[match[1].lower()]} times")


def _periods(scene: Scene, text: str) -> Iterator[Value]:
    """Yield how many of the periods of a sentence the period of the claim holds."""
    for long, short, times in _IN_ONE:
        if long.search(scene.reading.text) and short.search(text):
            yield from find_values(f"{times} times")


_IN_ONE = tuple(
    (re.compile(rf"\b(?:{long})", re.I), re.compile(rf"\b(?:{short})", re.I), times)
    for long, short, times in (
        ("year|annual", "month", 12),
        ("year|annual", "quarter", 4),
        ("year|annual", "week", 52),
        ("fortnight", "week", 2),
        ("week", "dai|day|night", 7),
        ("day|dai", "hour", 24),
        ("hour", "minute", 60),
    )
)
"""How often a short period goes into a long one."""
_FACTORS = {"doubl": 2, "tripl": 3, "trebl": 3, "quadrupl": 4}
_FACTOR = re.compile(rf"\b({'|'.join(_FACTORS)})\w*", re.I)


def _times(text: str) -> Iterator[tuple[Value, ...]]:
    """Yield the lengths of time that "an hour later" and "at nineteen" tell."""
    for match in _A_TIME.finditer(text):
        yield tuple(find_values(f"1 {match[1]}"))
    for match in _AT_AGE.finditer(text):
        yield tuple(find_values(f"{match[1]} years"))


def _is_timed(value: Value) -> bool:
    return value.family != "number" or value.unit in ("second", "month")


_A_TIME = re.compile(
    r"\b(?:an?|one|the(?:\s+(?:following|next|previous))?)\s+(hour|day|week|month|year)"
    r"(?=\s+(?:before|after|earlier|later|ahead)\b|$|\W)",
    re.I,
)
_AT_AGE = re.compile(
    r"\b(?:at(?:\s+the\s+age\s+of)?|aged)\s+(\d{1,2}|[a-z]{3,9}(?:-[a-z]{3,5})?)\b(?!\s*(?:[:%°]|[ap]\.?m))",
    re.I,
)
_BEST = 3
_SHORT = 24
"""Sentences; of so few any may hold the date that another counts from."""
_LONG = 7
"""Digits; who writes more without a mark writes a number of a phone, a book, an account."""
_AGE = re.compile(
    r"\b(?:aged|age\s+of|âge\s+de|alter\s+von|edad\s+de|età\s+di|idade\s+de)\s+$", re.I
)


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
    r"\b(?:half|halves|quarters?|thirds?|doubles?|twice|times|discount\w*|reduc\w+|off|each|per)\b|%",
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


def _under_negation(scene: Scene, value: Value) -> bool:
    """Whether a clause denies something of a value: "it does not run on Wednesdays"."""
    clause = scene.reading.clause_at(value.start)
    if clause is None or _NOT_MORE.search(scene.reading.text[: value.start]):
        return False
    return any(
        token.lower in _NEGATORS or token.lower.endswith("n't")
        for token in scene.reading.words(clause)
    )


_NOT_MORE = re.compile(
    r"\b(?:no|not|never|cannot|n['’]t)\s+(?:\w+\s+)?(?:exceed|surpass|(?:more|less|fewer|later|earlier|longer)\s+than)\s+\W?$",
    re.I,
)


_NEGATORS = frozenset("not never no nicht kein keine pas ne non não nunca".split())


def _named(scene: Scene, value: Value) -> bool:
    """Whether a number only ends a name that the context shortens: "Apollo 11"."""
    before = [token for token in scene.reading.tokens if token.end <= value.start][-1:]
    return (
        value.family == "number"
        and not value.unit
        and value.text.isdigit()
        and bool(before)
        and not _numbered_otherwise(scene, before[0])
        and before[0].capital
        and before[0].end + 1 == value.start
        and before[0].key is not None
        and scene.known(before[0].key)
        and not is_year(value)
    )


def _numbered_otherwise(scene: Scene, word: Token) -> bool:
    """Whether the context gives a word another number: "port 7443"."""
    return word.key is not None and any(
        a.key == word.key and b.value >= 0 and b.start == a.end + 1
        for number in scene.pages.holders(word.key)
        for a, b in pairwise(scene.all[number].tokens)
    )


def _in_century(scene: Scene, value: Value) -> bool:
    """Whether "the 13th century" is that of a year in the context."""
    if not _CENTURY.match(scene.reading.text, value.end):
        return False
    years = {int(year) // 100 + 1 for text in scene.pages.squeezed for year in _YEAR.findall(text)}
    return any(reading in years for reading in value.readings)


_CENTURY = re.compile(r"(?:st|nd|rd|th)?[\s-]centur", re.I)
_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")


def _in_scale(value: Value, scene: Scene) -> bool:
    """Whether a table in millions holds the figure that the answer writes out."""
    if value.scale == 1:
        return False
    plain = {r / value.scale for r in value.bare if isinstance(r, Fraction)}
    return any(
        not other.unit and plain & other.readings
        for reading in scene.all
        for other in reading.values
        if other.family == "number" and other.scale == 1
    )


_OPEN_TIME = re.compile(
    r"\b(?:before|after|prior\s+to|as\s+of|vor\s+dem|nach\s+dem|avant\s+le|après\s+le|antes\s+del?|depois\s+de"
    r"|después\s+del?|prima\s+del|dopo\s+il)\s+(?:the\s+)?$",
    re.I,
)


def _in_a_name(scene: Scene, value: Value) -> bool:
    """Whether a value in words is part of a title: "High Noon", "the Thirty Years' War"."""
    words = value.text.split()
    return (
        value.start > 0
        and all(word.isalpha() and word.istitle() for word in words)
        and (value.family in ("number", "clock"))
    )


def _within_bound(value: Value, scene: Scene) -> bool:
    """Whether "more than 100,000" follows from what the context says: 258,000."""
    before = scene.reading.text[max(0, value.start - 24) : value.start]
    match = _BOUNDED.search(before)
    if match is None or value.family != "number":
        return False
    more = not match[1].lower().startswith(_AT_MOST)
    return any(
        (a >= b) == more
        for near in scene.near
        for other in near.reading.values
        if other.family == "number" and other.unit == value.unit and not is_year(other)
        for a in map(_size, other.readings)
        for b in map(_size, value.readings)
    )


_BOUNDED = re.compile(
    r"\b((?:exceed|surpass|topp?|pass|ultrapass|super|rebas|dépass|überst|überschr)\w*(?:\s+(?:as|os|die|les|los|las))?"
    r"|more\s+than|plus\s+de|más\s+de|mais\s+de|mehr\s+als|più\s+di|über|oltre|over|at\s+least|above|no\s+less\s+than|less\s+than|fewer\s+than|under|below"
    r"|at\s+most|up\s+to|no\s+more\s+than)\s+\W?$",
    re.I,
)
_AT_MOST = ("less", "fewer", "under", "below", "at most", "up to", "no more")
_WHOLE_WEEK = frozenset(range(7))


def _written(value: Value, scene: Scene) -> bool:
    """Whether a number without a unit stands inside a word: "exports_2023", "48 Monatsraten"."""
    if value.family != "number":
        return False
    if value.unit == "month":
        return any(
            not other.unit and other.readings & value.readings
            for reading in scene.all
            for other in reading.values
        )
    digits = value.text if value.text.isdigit() else ""
    if len(digits) >= _LONG and any(digits in text for text in scene.pages.figures):
        return True
    return bool(digits) and any(
        re.search(rf"(?<!\d){digits}(?!\d)", text) for text in scene.pages.squeezed
    )


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
        rivals, key=lambda rival: (len(words & _beside(sentence, rival)), _alike(value, rival))
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
    if not _alike_in_size(value, other):
        return False  # "a third" and "the third"
    mine = set(counted(claim, value.start, value.end))
    theirs = set(counted(sentence, other.start, other.end))
    if mine and not theirs:  # "12 trucks, of which three are"
        return any(mine & set(counted(sentence, v.start, v.end)) for v in sentence.values)
    return bool(mine & theirs) or not (mine or theirs)


def _alike_in_size(one: Value, two: Value) -> bool:
    """Whether both are shares of one, or neither is."""
    return (min(map(_size, one.readings)) < 1) == (min(map(_size, two.readings)) < 1)


def _size(reading: object) -> Fraction:
    return reading if isinstance(reading, Fraction) else Fraction(0)


def _alike(value: Value, rival: Value) -> bool:
    return value.unit == rival.unit or bool(value.bare & rival.bare)


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


# -- it stands elsewhere ----------------------------------------------------------------------


def holding(scene: Scene, value: Value) -> Iterator[tuple[Near, Value]]:
    """Yield the sentences that hold a value, and as what; none if it is too common to tell."""
    numbers = scene.context.holders(value)
    for number in sorted(numbers) if len(numbers) <= _COMMON else ():
        near = scene.at(number)
        for other in near.reading.values:
            if value.agrees(other):
                yield near, other
                break


def _misplaced(scene: Scene, name: str, value: Value) -> Verdict | None:
    """Veto a value that every sentence which holds it gives to something else."""
    if is_year(value) or value.text.lower() in ORDINALS or _whole(scene, value):
        return None  # said of too much at once
    if _under_negation(scene, value):
        return None  # "not open on Mondays" where it is closed on Mondays
    if value.family == "date" and all(other.family != "date" for _, other in holding(scene, value)):
        return None  # of which only the year is said
    if _compared(scene, value) and derivable(
        value, list(_lines(scene, timed=_is_timed(value))), compared=True
    ):
        return None  # "15 minutes less than the other"
    kind = set(counted(scene.reading, value.start, value.end))
    ignored = (kind if value.family == "number" else set[str]()) | _PERIODS

    own, rivals = _slots(scene, value, kind)
    units = {v.unit for slot in own for v in _at(slot)} | {value.unit, ""}

    def kin(near: Near) -> list[int]:
        return [
            v.start
            for v in near.reading.values
            if v.family == value.family and v.unit in units and not is_year(v)
        ] or [slot.at for slot in (*own, *rivals) if slot.near.number == near.number]

    if all(slot.near.reading.row for slot in own):
        return None  # what stands in a table is compared cell by cell
    others = [
        slot
        for slot in rivals
        if not any(v.agrees(w) for v in scene.reading.values for w in _at(slot))
    ]
    like = [
        other.start
        for other in scene.reading.values
        if other is not value and (other.family, other.unit) == (value.family, value.unit)
    ]
    rival = (
        _of_that_kind(scene, value, kind, own, rivals)
        or displaced(scene, value.start, own, rivals, ignored=ignored)
        or misbound(scene, value.start, like, own, others, ignored=ignored, kin=kin, enough=0.5)
    )
    if rival is None:
        return None
    reason = f"the context says {rival.text!r} of this, and {value.text!r} of something else"
    return contradiction(scene, name, reason, rival.near)


def _slots(scene: Scene, value: Value, kind: set[str]) -> tuple[list[Slot], list[Slot]]:
    """Return where the context holds a value, and where it holds others of its kind."""
    own: list[Slot] = []
    rivals: list[Slot] = []
    beside = scene.reading.clause_at(value.start)
    units = {value.unit}
    stated = _differing([scene.reading.values[n] for n in (beside.values if beside else ())])
    for near, other in holding(scene, value):
        clause = near.reading.clause_at(other.start)
        if clause is None:
            continue
        units.add(other.unit)
        own.append(Slot(near, clause, other.start, other.text))
    for near in {near.number: near for near in [*scene.near, *(s.near for s in own)]}.values():
        for other in near.reading.values:
            clause = near.reading.clause_at(other.start)
            if clause is None or other.text.lower() in ORDINALS:
                continue
            if any(v.agrees(other) for v in (value, *stated)):
                continue
            if _OF_ALL.search(near.reading.text, 0, other.start):
                continue  # "Of 178 leavers, 18 ...": the whole
            elided = any(near.number == slot.near.number for slot in own)
            if _same_kind(value, other, kind, near.reading, units, elided=elided):
                rivals.append(Slot(near, clause, other.start, other.text))
    return own, rivals


def _whole(scene: Scene, value: Value) -> bool:
    """Whether a value is the whole of which a claim names a part: "two of the nine"."""
    return _PART_OF.search(scene.reading.text[max(0, value.start - 48) : value.start]) is not None


_PART_OF = re.compile(
    r"\b(?:half|quarters?|thirds?|most|majority|minority|all|none|each|some|part|share|\w+ths?|\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"\s+(?:out\s+)?of\s+(?:[\w'’-]+\s+){0,3}$",
    re.I,
)
_OF_ALL = re.compile(r"(?:^|[.;:]\s+)[Oo]f\s+(?:[\w'’]+\s+){0,4}$")
_PERIODS = frozenset(map(stem, "hour day week month year night daily".split()))
"""Words that tell nothing beside a value: much is said "a day"."""
_COMPARED = re.compile(
    r"\b(?:less|more|fewer|later|earlier|longer|shorter|higher|lower|faster|slower|cheaper|ahead"
    r"|clear|apart|together|altogether|in\s+all|in\s+total|difference|each|remaining|other|left"
    r"|before|after|ago)\b",
    re.I,
)


def _compared(scene: Scene, value: Value) -> bool:
    """Whether a value says by how much two things differ, or what they make together."""
    text = scene.reading.text
    near = text[max(0, value.start - 30) : value.start], text[value.end : value.end + 40]
    return near[0].endswith(" by ") or any(_COMPARED.search(part) for part in near)


def _at(slot: Slot) -> Iterator[Value]:
    """Yield the value that stands at a place of the context."""
    yield from (value for value in slot.near.reading.values if value.start == slot.at)


def _of_that_kind(
    scene: Scene, value: Value, kind: set[str], own: list[Slot], rivals: list[Slot]
) -> Slot | None:
    """Return the number of what the claim counts, if the claim's own counts other things."""
    if not kind or value.unit:
        return None

    def counts(slot: Slot) -> set[str]:
        end = slot.at + len(slot.text)
        return set(counted(slot.near.reading, slot.at, end))

    if any(not (found := counts(slot)) or found & kind for slot in own):
        return None
    return next(
        (
            slot
            for slot in rivals
            if kind & counts(slot)
            and slot.near.share >= _COUNTED_THERE
            and any(slot.near.number == other.near.number for other in own)
        ),
        None,
    )


def _same_kind(
    value: Value, other: Value, kind: set[str], reading: Reading, units: set[str], *, elided: bool
) -> bool:
    """Whether a value of the context is of the kind that the claim's is.

    Args:
        value: Of the claim.
        other: Of the context.
        kind: What the claim's value counts.
        reading: The sentence of the other.
        units: In which the context writes the claim's value; a table may leave its unit out.
        elided: Whether the sentence holds the claim's value too, so that it need not say again
            what is counted.
    """
    if (
        value.family == other.family == "number"
        and not value.unit
        and not _alike_in_size(value, other)
    ):
        return False  # a share and a count
    if value.family == other.family == "number" and not other.unit and value.unit:
        before = [v for v in reading.values if v.end <= other.start and v.unit]
        same = bool(before) and before[-1].unit == value.unit
        if other.text.isdigit() and (len(other.text) >= _LONG or other.text[0] == "0"):
            return False  # a number of an article
        plain = value.unit in ("person", "times") and elided
        return plain or (elided and same and not other.counts and not is_year(other))
    if value.family != other.family or other.unit not in units:
        return value.unit in CURRENCIES and other.unit in CURRENCIES
    if value.family != "number" or other.unit:
        return True
    if is_year(other):
        return reading.row
    counts = set(counted(reading, other.start, other.end))
    return reading.row or bool(kind & counts) or (elided and not counts)
