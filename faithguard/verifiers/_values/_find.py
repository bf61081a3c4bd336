"""All values of a text, the most specific writing of each.

In: a sentence. Out: its values in order, without overlaps; linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.verifiers._values._calendar import dates, days
from faithguard.verifiers._values._clock import clocks
from faithguard.verifiers._values._names import DAY_OF, MONTH_OF
from faithguard.verifiers._values._numbers import VULGAR, joined, numbers
from faithguard.verifiers._values._value import Value
from faithguard.verifiers._values._words import ENGLISH, ORDINALS, PARTS, SCALES, language

__all__ = ["find_values"]

# A cheap look at its words says which patterns a text can hold at all.
_LETTERS = re.compile(r"[a-z]+")
_DIGIT = re.compile(rf"[\d{VULGAR}]")
_DAY_WORDS = frozenset(
    [
        *DAY_OF,
        *"weekdays weekday business working weekends weekend every each daily all week".split(),
    ]
)
_CLOCK_WORDS = frozenset(
    "noon midday midnight clock morning afternoon evening night am pm m h uhr past to".split()
)
_TELLING = (
    _DAY_WORDS
    | (_CLOCK_WORDS - {"to", "past"})
    | {*ENGLISH, *SCALES, *ORDINALS, *PARTS, "once", "twice", "thrice", "clock"}
)


def find_values(text: str) -> list[Value]:
    """Return the values of a text, in its order, without overlaps; linear in its length."""
    words = frozenset(_LETTERS.findall(text.lower()))
    digits = _DIGIT.search(text) is not None
    plain = text.isascii()
    if not digits and plain and not words & _TELLING and not _foreign(text):
        return []
    found: list[Value] = []
    taken = bytearray(len(text))
    for value in _candidates(text, words, digits=digits, plain=plain):
        if not any(taken[value.start : value.end]):
            found.append(value)
            taken[value.start : value.end] = b"\1" * (value.end - value.start)
    return joined(sorted(found, key=lambda value: value.start), text)


def _foreign(text: str) -> bool:
    return language(text) != "en"


def _candidates(text: str, words: frozenset[str], *, digits: bool, plain: bool) -> Iterator[Value]:
    """Yield values, the most specific writings first."""
    if digits and (
        not plain or words & MONTH_OF.keys() or "-" in text or "/" in text or "." in text
    ):
        yield from dates(text)
    if not plain or words & _DAY_WORDS or "24/7" in text:
        yield from days(text)
    if not plain or ":" in text or words & _CLOCK_WORDS:
        yield from clocks(text)
    yield from numbers(text, words, digits=digits)
