"""The values of a context from which an answer may work one out.

In: a scene. Out: the values of the sentences about the same things, line by line, with what words
such as "doubles", "an hour later" and "a month" add to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._scene import Scene

__all__ = ["is_compared", "lines_of"]


def lines_of(scene: Scene, *, timed: bool) -> Iterator[tuple[Value, ...]]:
    """Yield the values of the sentences about the same things, and of those beside the best."""
    numbers = [near.number for near in scene.near]
    beside = [n + step for n in numbers[:_BEST] for step in (-1, 1)]
    holding = [n for value in scene.reading.values for n in sorted(scene.context.holders(value))]
    whole = timed or language(scene.reading.text) == "en"
    every = range(len(scene.all)) if whole and len(scene.all) <= _SHORT else ()
    periods = [(short, times) for long, short, times in _IN_ONE if long.search(scene.reading.text)]
    for number in dict.fromkeys([*numbers, *beside, *holding[:_BEST], *every]):
        if 0 <= number < len(scene.all):
            reading = scene.all[number]
            yield (*_in(scene, number), *_periods(periods, reading.text))
            if timed:
                yield from _times(reading.text)
            yield from (values for _, values in reading.columns if values)


def _in(scene: Scene, number: int) -> tuple[Value, ...]:
    """Return the values of a sentence, and what its words add to them, whatever is claimed."""
    found: tuple[Value, ...] | None = scene.pages.notes.get(("given", number))
    if found is None:
        reading = scene.all[number]
        found = (*reading.values, *_each(reading.text), *_factors(reading.text))
        scene.pages.notes["given", number] = found
    return found


def _each(text: str) -> Iterator[Value]:
    """Yield the one litre of "750 g for each litre"."""
    for match in _PER_ONE.finditer(text):
        yield from (one for one in find_values(f"1 {match[1]}") if one.unit not in _TIMES)


_TIMES = ("", "second", "month", "business day")
_PER_ONE = re.compile(r"\b(?:per|each|every)\s+([^\W\d_]+)", re.I)


def _factors(text: str) -> Iterator[Value]:
    """Yield what words such as "doubles" multiply by."""
    for match in _FACTOR.finditer(text):
        yield from find_values(f"{_FACTORS[match[1].lower()]} times")


def _periods(periods: Sequence[tuple[re.Pattern[str], int]], text: str) -> Iterator[Value]:
    """Yield how many of the periods of a sentence the period of the claim holds."""
    for short, times in periods:
        if short.search(text):
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


_FACTORS = {
    "half as": 2, "doubl": 2, "tripl": 3, "trebl": 3, "quadrupl": 4,
    "doppel": 2, "doppi": 2, "raddoppi": 2, "verdoppel": 2, "dreifach": 3, "verdreifach": 3,
    "dobl": 2, "duplic": 2, "dobr": 2, "duplo": 2, "tripli": 3, "twice": 2, "ضعف": 2, "दोगुन": 2,
}  # fmt: skip


_FACTOR = re.compile(rf"(?<!\w)({'|'.join(sorted(_FACTORS, key=len, reverse=True))})\w*", re.I)


def _times(text: str) -> Iterator[tuple[Value, ...]]:
    """Yield the lengths of time that "an hour later" and "at nineteen" tell."""
    for match in _A_TIME.finditer(text):
        yield tuple(find_values(f"1 {match[1]}"))
    for match in _AT_AGE.finditer(text):
        yield tuple(find_values(f"{match[1]} years"))
    for match in _NUMBERED.finditer(text):  # weeks 14 to 16 are three
        yield tuple(find_values(f"{int(match[3]) - int(match[2]) + 1} {match[1]}"))


_A_TIME = re.compile(
    r"\b(?:an?|one|the(?:\s+(?:following|next|previous))?)\s+(hour|day|week|month|year)"
    r"(?=\s+(?:before|after|earlier|later|ahead)\b|$|\W)",
    re.I,
)


_AT_AGE = re.compile(
    r"\b(?:at(?:\s+the\s+age\s+of)?|aged)\s+(\d{1,2}|[a-z]{3,9}(?:-[a-z]{3,5})?)\b(?!\s*(?:[:%°]|[ap]\.?m))",
    re.I,
)


_NUMBERED = re.compile(
    r"\b(days|weeks|months)\s+(\d{1,2})\s*(?:-|–|—|to|and|until)\s*(\d{1,2})\b(?![:.]\d)", re.I
)
_BEST = 3
_SHORT = 24
"""Sentences; of so few any may hold the date that another counts from."""
_COMPARED = re.compile(
    r"\b(?:gained?|lost|rose|fell|grew|dropped|increased|decreased|less|more|fewer|later|earlier|longer|shorter|higher|lower|faster|slower|cheaper|ahead"
    r"|clear|apart|together|altogether|in\s+all|in\s+total|difference|each|remaining|other|left"
    r"|before|after|ago)\b",
    re.I,
)


def is_compared(scene: Scene, value: Value) -> bool:
    """Whether a value says by how much two things differ, or what they make together."""
    text = scene.reading.text
    near = text[max(0, value.start - 30) : value.start], text[value.end : value.end + 40]
    return near[0].endswith(" by ") or any(_COMPARED.search(part) for part in near)
