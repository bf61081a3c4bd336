"""What the families of values have in common: a value that stands nowhere, or in another place.

In: a scene, and which of its values a family looks after. Out: a verdict where a sentence says the
same with another value, where it gives this one to something else, or where it stands nowhere;
else silence. Equal values in other wordings agree: see `_values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from faithguard.types import Verdict
from faithguard.verifiers._terms import analyse, stem
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers._values._words import ORDINALS
from faithguard.verifiers.rules._absent import absent, is_cut_short
from faithguard.verifiers.rules._barred import is_closed
from faithguard.verifiers.rules._derived import derivable
from faithguard.verifiers.rules._dimensions import has_that_dimension
from faithguard.verifiers.rules._given import is_compared, lines_of
from faithguard.verifiers.rules._granted import is_kept_by, under_negation
from faithguard.verifiers.rules._instances import is_bounded, is_instance
from faithguard.verifiers.rules._measures import (
    LONG,
    alike_in_size,
    differing,
    distinct,
    every_holding,
    holding,
    is_timed,
    is_year,
)
from faithguard.verifiers.rules._open_days import fits_open_days
from faithguard.verifiers.rules._places import is_at_home
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._slots import (
    Slot,
    counted,
    displaced,
    misbound,
    says_same,
    segment,
)
from faithguard.verifiers.rules._spans import is_moment_within, is_same_stretch
from faithguard.verifiers.rules.fields import is_of_field

__all__ = ["stated"]


_COUNTED_THERE = 0.3
"""The same where it counts the very thing that the claim does."""


def stated(scene: Scene, name: str, mine: Callable[[Value], bool]) -> Verdict | None:
    """Return what the context says of the values of one family."""
    asked = {value.text for value in analyse(scene.context.question or "").values}
    for value in distinct(scene.reading):
        if not mine(value) or is_same_stretch(scene, value) or is_moment_within(scene, value):
            continue
        if scene.context.holders(value):
            verdict = _misplaced(scene, name, value)
        elif scene.claim.text != scene.context.question and value.text in asked:
            verdict = None  # what the question brought in is not what the answer asserts
        else:
            verdict = absent(scene, name, value)
        if verdict is not None:
            return verdict
    return None


def _misplaced(scene: Scene, name: str, value: Value) -> Verdict | None:
    """Veto a value that every sentence which holds it gives to something else."""
    if _says_little(scene, value) or _said_otherwise(scene, value):
        return None
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
    if (replaced := _replaced(scene, value, own, rivals)) is not None:
        reason = f"the context says {replaced.text!r} instead of {value.text!r}"
        return contradiction(scene, name, reason, replaced.near)
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
    if rival is None or any(_fits(scene, value, slot, rival) for slot in own):
        return None
    if _at_own_words(scene, value, rival, own, rivals):
        return None
    if _tells_apart(scene, value, rival) or _numbers_a_name(scene, value, rival):
        return None
    if _keeps_its_bound(scene, value, rival):
        return None
    reason = f"the context says {rival.text!r} of this, and {value.text!r} of something else"
    return contradiction(scene, name, reason, rival.near)


def _at_own_words(
    scene: Scene, value: Value, rival: Slot, own: list[Slot], rivals: list[Slot]
) -> bool:
    """Whether a claim says what the context has right around a value, and gives no other there."""
    if value.family == "days" or any(v.agrees(w) for v in scene.reading.values for w in _at(rival)):
        return False
    places = [slot.at for slot in (*own, *rivals)]
    return any(is_at_home(scene, slot, rival, places) for slot in own)


def _says_little(scene: Scene, value: Value) -> bool:
    """Whether a value is said of too much at once, or only points back or compares."""
    return (
        is_year(value)
        or value.text.lower() in ORDINALS
        or _whole(scene, value)
        or _points(scene, value)
        or _AS_MUCH.match(scene.reading.text, value.end) is not None
    )


def _said_otherwise(scene: Scene, value: Value) -> bool:
    """Whether the context says in other words what a claim does of a value."""
    if is_of_field(value, scene) or has_that_dimension(scene, value):
        return True  # the context says what it is of
    if under_negation(scene, value):
        return True  # "not open on Mondays" where it is closed on Mondays
    if value.family == "days" and (is_closed(scene, value) or fits_open_days(scene)):
        return True  # "Support is closed on Mondays", of "We are closed on Mondays"
    if value.family == "days" and _is_exception(scene, value):
        return True
    if _OLD.match(scene.reading.text, value.end) and any(
        _APPOSED.fullmatch(near.reading.text, other.start - 2, other.end + 1)
        for near, other in holding(scene, value)
    ):
        return True  # "Dana Roth, 61, ..."
    if value.family == "date" and is_cut_short(scene, value):
        return True  # "another one on the 17th"
    if value.family == "date" and all(other.family != "date" for _, other in holding(scene, value)):
        return True  # of which only the year is said
    return is_compared(scene, value) and derivable(
        value, list(lines_of(scene, timed=is_timed(value))), compared=True
    )  # "15 minutes less than the other"


def _is_exception(scene: Scene, value: Value) -> bool:
    """Whether a claim and the context both except a case: "closed on Mondays, except in May"."""
    if _EXCEPTING.search(scene.reading.text, value.end) is None:
        return False
    return any(
        _EXCEPTING.search(near.reading.text, other.end) for near, other in holding(scene, value)
    )


_EXCEPTING = re.compile(r"\b(?:if|when|unless|except\w*|only|but)\b", re.I)
_OLD = re.compile(r"[-\s]olds?\b", re.I)
_APPOSED = re.compile(r",\s\d{1,3}(?=,)[,]")


def _keeps_its_bound(scene: Scene, value: Value, rival: Slot) -> bool:
    """Whether the rival of an instance is its bound, or keeps a value that is one itself."""
    if any(is_bounded(rival.near.reading.text, other) for other in _at(rival)):
        return is_instance(scene, value)
    return any(is_kept_by(scene, value, other) for other in _at(rival))  # "under 2 h", of 74 min


def _points(scene: Scene, value: Value) -> bool:
    """Whether a number only points back: "neither of the two"."""
    before = scene.reading.text[max(0, value.start - _POINTING) : value.start]
    return (
        value.family == "number"
        and not value.unit
        and value.text.isalpha()
        and _THE.search(before) is not None
        and not list(counted(scene.reading, value.start, value.end))
    )


_POINTING = 12
_THE = re.compile(r"\b(?:the|these|those|both|all)\s+$", re.I)


_AS_MUCH = re.compile(r"\s+as\s+(?:many|much|\w+\s+as)\b", re.I)


def _numbers_a_name(scene: Scene, value: Value, rival: Slot) -> bool:
    """Whether a number ends a name that the context numbers so too: "round seven", "Round 7"."""
    word = _before(scene.reading, value.start)
    theirs = _before(rival.near.reading, rival.at)
    if value.family != "number" or value.unit or word is None:
        return False
    if theirs is not None and theirs.key == word.key:
        return False  # "bus 12" and "bus 21"
    return any(
        other.key == word.key and (word.capital or other.capital)
        for near, one in holding(scene, value)
        if (other := _before(near.reading, one.start)) is not None
    )


def _before(reading: Reading, at: int) -> Token | None:
    """Return the word right before a place, if it says something."""
    tokens = [t for t in reading.tokens if at - 2 <= t.end <= at]
    return tokens[-1] if tokens and tokens[-1].key else None


def _replaced(scene: Scene, value: Value, own: list[Slot], rivals: list[Slot]) -> Slot | None:
    """Return what the context says instead of a value, where the claim says that value."""
    if not own or _INSTEAD.search(scene.reading.text):
        return None
    if not all(_INSTEAD_OF.search(slot.near.reading.text[: slot.at]) for slot in own):
        # said of it elsewhere, unless that is of something else
        shares = {slot.near.number: slot.near.share for slot in own}
        first = max(own, key=lambda slot: shares[slot.near.number])
        others = [slot for slot in own if slot is not first]
        if not _INSTEAD_OF.search(first.near.reading.text[: first.at]) or any(
            2 * slot.near.share > first.near.share for slot in others
        ):
            return None
        own = [first]
    numbers = {slot.near.number for slot in own if slot.near.share >= _SAME_STATEMENT}
    return next((slot for slot in rivals if slot.near.number in numbers), None)


_SAME_STATEMENT = 0.5
_INSTEAD_OF = re.compile(
    r"\b(?:instead\s+of|rather\s+than|no\s+longer|statt|anstatt|anstelle\s+von|au\s+lieu\s+de|en\s+lugar\s+de|en\s+vez\s+de"
    r"|invece\s+di|anziché|em\s+vez\s+de|not)\s+(?:[^\W\d]+\s+){0,2}$",
    re.I,
)
_INSTEAD = re.compile(
    r"\b(?:instead|rather|no\s+longer|not|never|n['’]t|was|were|statt|anstatt|nicht|lieu|lugar|vez|invece|anziché|originally|formerly"
    r"|previously|before|used\s+to|planned)\b",
    re.I,
)


def _fits(scene: Scene, value: Value, own: Slot, rival: Slot) -> bool:
    """Whether the own place of a value is the claim's: another value of it stands there too.

    Not where a name of the claim stands beside the rival only.
    """
    if says_same(own):
        return True
    here, there = _within(own), _within(rival)
    if here == there:
        return False
    both = own.near.reading, rival.near.reading
    mine, theirs = (
        {n for n, one in enumerate(scene.reading.values) if any(one.agrees(v) for v in part)}
        for part in (here, there)
    )
    at = {n for n, one in enumerate(scene.reading.values) if one.agrees(value)}
    if not mine - theirs - at or theirs - mine - at:
        return False
    keys = [
        {t.key for t in reading.tokens if begin <= t.start < end}
        for reading, (begin, end) in zip(both, (segment(own), segment(rival)), strict=True)
    ]
    return not scene.reading.hard & (keys[1] - keys[0])


def _tells_apart(scene: Scene, value: Value, rival: Slot) -> bool:
    """Whether a claim says by how much two values differ: "3 points above the target of 90"."""
    if _BY_HOW_MUCH.search(scene.reading.text) is None:
        return False
    here = {
        abs(a - b)
        for other in _at(rival)
        if value.family == other.family == "number"
        for x, y in ((value.readings, other.readings), (value.bare, other.bare))
        for a in x
        for b in y
        if isinstance(a, Fraction) and isinstance(b, Fraction)
    }
    return any(
        one is not value and not here.isdisjoint(one.readings | one.bare)
        for one in scene.reading.values
    )


_BY_HOW_MUCH = re.compile(
    r"\b(?:sav(?:es?|ed|ing)|exceed\w*|above|below|beyond|short\s+of|more|less|fewer|miss(?:es|ed)|beat|cheaper|dearer"
    r"|off|discount|reduc\w+|higher|lower|longer|shorter|ahead|behind|over|under|then|another|further)\b",
    re.I,
)


def _within(slot: Slot) -> list[Value]:
    begin, end = segment(slot)
    return [v for v in slot.near.reading.values if begin <= v.start < end]


def _slots(scene: Scene, value: Value, kind: set[str]) -> tuple[list[Slot], list[Slot]]:
    """Return where the context holds a value, and where it holds others of its kind."""
    own: list[Slot] = []
    rivals: list[Slot] = []
    beside = scene.reading.clause_at(value.start)
    units = {value.unit}
    # "on Wednesdays, Fridays and Sundays": none of them is in the place of another
    around = range(len(scene.reading.values)) if value.family == "days" else ()
    stated = differing(
        [scene.reading.values[n] for n in around or (beside.values if beside else ())]
    )
    for near, other in every_holding(scene, value):
        clause = near.reading.clause_at(other.start)
        if clause is None:
            continue
        units.add(other.unit)
        own.append(Slot(near, clause, other.start, other.text))
    ranged = _ends_a_range(scene.reading, value) or any(
        _ends_a_range(slot.near.reading, one) for slot in own for one in _at(slot)
    )
    for near in {near.number: near for near in [*scene.near, *(s.near for s in own)]}.values():
        alike = [other for other in near.reading.values if other.family == value.family]
        of_all = bool(alike) and _OPENS_WITH_OF.search(near.reading.text) is not None
        for other in alike:
            clause = near.reading.clause_at(other.start)
            if clause is None or other.text.lower() in ORDINALS:
                continue
            if _ITEM.match(near.reading.text, max(0, other.start - 1)) and other.start <= 1:
                continue  # "1) Send the form"
            if any(v.agrees(other) for v in (value, *stated)):
                continue
            if of_all and _OF_ALL.search(near.reading.text, 0, other.start):
                continue  # "Of 178 leavers, 18 ...": the whole
            if not ranged and _ends_a_range(near.reading, other):
                continue  # "100 litres", of "40 to 120 litres"
            elided = any(near.number == slot.near.number for slot in own)
            if _same_kind(value, other, kind, near.reading, units, elided=elided):
                rivals.append(Slot(near, clause, other.start, other.text))
    return own, rivals


def _ends_a_range(reading: Reading, value: Value) -> bool:
    """Whether a number is one of the two ends of "40 to 120"."""
    if value.family != "number":
        return False
    ends: frozenset[int] | None = reading.notes.get("ends")
    if ends is None:
        ends = reading.notes["ends"] = frozenset(
            end.start
            for pair in pairwise(reading.values)
            if pair[0].family == pair[1].family == "number"
            and _RANGE.fullmatch(reading.text, pair[0].end, pair[1].start)
            for end in pair
        )
    return value.start in ends


_ITEM = re.compile(r"\(?\d{1,2}\)")
_RANGE = re.compile(r"\s*(?:-|–|—|to|bis|à|a|al|até|~|〜|至|到)\s*", re.I)


def _whole(scene: Scene, value: Value) -> bool:
    """Whether a value is the whole of which a claim names a part: "two of the nine"."""
    return _PART_OF.search(scene.reading.text[max(0, value.start - 48) : value.start]) is not None


_PART_OF = re.compile(
    r"\b(?:half|quarters?|thirds?|most|majority|minority|all|none|each|some|part|share|\w+ths?|\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"\s+(?:out\s+)?of\s+(?:[\w'’-]+\s+){0,3}$",
    re.I,
)


_OPENS_WITH_OF = re.compile(r"(?:^|[.;:]\s+)[Oo]f\s")
_OF_ALL = re.compile(r"(?:^|[.;:]\s+)[Oo]f\s+(?:[\w'’]+\s+){0,4}$")


_PERIODS = frozenset(map(stem, "hour day week month year night daily".split()))
"""Words that tell nothing beside a value: much is said "a day"."""


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

    if any(not (found := counts(slot)) or (found | _behind(slot)) & kind for slot in own):
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


def _behind(slot: Slot) -> set[str]:
    """Return the words behind a number up to the end of its clause: "40 more electric vans"."""
    words = slot.near.reading.words(slot.clause)
    return {t.key for t in [t for t in words if t.start > slot.at][:_PHRASE] if t.key}


_PHRASE = 4


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
        and not alike_in_size(value, other)
    ):
        return False  # a share and a count
    if other.text.isdigit() and (len(other.text) >= LONG or other.text[0] == "0"):
        return False  # a number of an article
    if value.family == other.family == "number" and not other.unit and value.unit:
        before = [v for v in reading.values if v.end <= other.start and v.unit]
        same = bool(before) and before[-1].unit == value.unit
        plain = elided and value.unit in ("person", "times")
        if value.unit == "times" and other.counts:
            return False  # "once a week", and three of a thing
        return plain or (elided and same and not other.counts and not is_year(other))
    if value.family != other.family or other.unit not in units:
        return value.unit in CURRENCIES and other.unit in CURRENCIES
    if value.family != "number" or other.unit:
        return True
    if is_year(other):
        return reading.row
    counts = set(counted(reading, other.start, other.end))
    return reading.row or bool(kind & counts) or (elided and not counts)
