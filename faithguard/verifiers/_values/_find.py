"""All values of a text, the most specific writing of each.

In: a sentence. Out: its values in order, without overlaps; linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from faithguard.verifiers._values._calendar import dates, days
from faithguard.verifiers._values._clock import clocks
from faithguard.verifiers._values._names import DAY_OF, MONTH_OF
from faithguard.verifiers._values._numbers import VULGAR, joined, numbers
from faithguard.verifiers._values._value import Value
from faithguard.verifiers._values._words import (
    ENGLISH,
    FIRST_TWO,
    ORDINALS,
    PARTS,
    SCALES,
    language_of,
)

__all__ = ["find_values"]

# A cheap look at its words says which patterns a text can hold at all.
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(rf"[\d{VULGAR}]")
_DAY_WORDS = frozenset(
    [
        *(part for name in DAY_OF for part in name.split("-")),
        *"weekdays weekday business working weekends weekend every each daily all week".split(),
        *"wochenende wochentags werktags täglich tous todos ogni tutti diario diariamente".split(),
        *"laborables feriali úteis week semaine woche semana settimana".split(),
    ]
)
_CLOCK_WORDS = frozenset(
    "noon midday midnight clock morning afternoon evening night am pm m h uhr past quarter"
    " mittags mitternacht mezzogiorno mezzanotte minuit medianoche".split()
)
_SAYING = frozenset("past quarter noon midday midnight five ten twenty".split())
_MONTHS = frozenset(MONTH_OF)
_ORDINAL_ENDINGS = frozenset(("th", "st", "nd", "rd"))
_FIGURES = re.compile(r"\d[./-]\d|\d\s?[月年]")
_CJK_DAY = re.compile("[曜期周週天日拜]")
_HOUR = re.compile("[時时点點]|बजे|صباح|مساء|ظهر")
_DEVANAGARI_OR_ARABIC = re.compile("[\u0600-\u06ff\u0900-\u097f]")
_TELLING = (
    _DAY_WORDS
    | (_CLOCK_WORDS - {"past"})
    | {*ENGLISH, *SCALES, *ORDINALS, *FIRST_TWO, *PARTS, "once", "twice", "thrice", "full", "whole"}
)


@lru_cache(maxsize=2_048)
def find_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text, in its order, without overlaps; linear in its length."""
    words = frozenset(_LETTERS.findall(text.lower()))
    digits = _DIGIT.search(text) is not None
    tongue = language_of(words, text)
    if not digits and text.isascii() and tongue == "en" and words.isdisjoint(_TELLING):
        return ()
    found: list[Value] = []
    taken = bytearray(len(text))
    for value in _candidates(text, words, tongue, digits=digits):
        if not any(taken[value.start : value.end]):
            found.append(value)
            taken[value.start : value.end] = b"\1" * (value.end - value.start)
    return tuple(joined(sorted(found, key=lambda value: value.start), text))


def _candidates(text: str, words: frozenset[str], tongue: str, *, digits: bool) -> Iterator[Value]:
    """Yield values, the most specific writings first."""
    plain = text.isascii()
    script = not plain and _DEVANAGARI_OR_ARABIC.search(text) is not None
    if digits:
        months = MONTH_OF if script else words & _MONTHS
        figures = _FIGURES.search(text) is not None
        ordinals = not words.isdisjoint(_ORDINAL_ENDINGS)
        if months or figures or ordinals:
            yield from dates(text, months, figures=figures, ordinals=ordinals)
    of_days = not words.isdisjoint(_DAY_WORDS) or "24/7" in text or script
    if of_days or (not plain and _CJK_DAY.search(text)):
        yield from days(text, words)
    if ":" in text or not words.isdisjoint(_CLOCK_WORDS) or (not plain and _HOUR.search(text)):
        said = not words.isdisjoint(_SAYING) and ("past" in words or "to" in words)
        yield from clocks(text, words, said=said)
    yield from numbers(text, words, tongue, digits=digits)
