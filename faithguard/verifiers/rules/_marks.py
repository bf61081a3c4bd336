"""Signs around a value that make it another: "200 mg/kg", "≥ 200 mg", "200² mg", "200 × 10 mg".

In: a scene. Out: a veto where the claim writes such a sign at a value and no sentence of the
context that holds the value does, or says it in words; else None.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import unit_of
from faithguard.verifiers.rules._measures import distinct, holding
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["marked_otherwise"]

Measure = tuple[str, Fraction]
"""The kind of a unit, and its size."""

_BEFORE = re.compile(
    r"(?P<least>(?:[≥⩾]|>=?)\s?$)|(?P<most>(?:[≤⩽]|<=?)\s?$)|(?P<about>(?:±|\+/-|\+-)\s?$)|"
    r"(?:^|[^\d\s–—%°€$£])\s(?P<minus>[–−]$)|(?P<times>\d\s?[×x*·]\s?$)"
)
_AFTER = re.compile(
    r"(?P<least>\s?\+(?![\w+]))|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀-₉]+|\^-?\d+)|"
    r"(?P<times>\s?[×x*·]\s?\d)|(?P<size>[A-Z](?=\s[^\W\d]))|(?P<share>\s[%‰])"
)
_PER = re.compile(
    r"\s?[/·]\s?(?P<sign>[^\W\d_]{1,12}[²³]?)|[\s-]?\(?(?:per|for (?:each|every))[\s-]"
    r"(?:(?:each|every|1)\s)?(?P<word>(?:square|cubic) [^\W\d_]{3,12}|[^\W\d_]{1,8}[\s-]hours?"
    r"|[^\W\d_]{1,12}[²³]?)"
)
_LEAST = re.compile(
    r"(?i)\b(?:at least|minimum|min\b|no less|not less|from|or more|more than|over|above|upwards|"
    r"exceed\w*|mindestens|über)\b|[≥⩾>]|\d\s?\+|\b(?:and|or) (?:over|above|up|older|later)\b"
)
_MOST = re.compile(
    r"(?i)\b(?:at most|maximum|max\b|no more|not more|up to|under|below|less than|fewer than|"
    r"within|not exceed\w*|höchstens|bis zu|unter)\b|[≤⩽<]"
)
_ABOUT = re.compile(r"(?i)±|\+/-|\bplus or minus\b|\btolerance\b|\bmargin\b|\bgive or take\b")
_ADVERBS = {
    ("second", Fraction(3_600)): frozenset(("hourly",)),
    ("second", Fraction(86_400)): frozenset(("daily", "nightly", "night")),
    ("second", Fraction(604_800)): frozenset(("weekly",)),
    ("month", Fraction(1)): frozenset(("monthly",)),
    ("month", Fraction(12)): frozenset(("yearly", "annual", "annually", "annum")),
}
_PEOPLE = ("person", "times")
_WORD = re.compile(r"[^\W\d_]+[²³]?")
_NEAR = 24
"""Characters around a value that are read."""


def marked_otherwise(scene: Scene, name: str) -> Verdict | None:
    """Veto a value of which the claim writes more than the context does."""
    for value in distinct(scene.reading):
        if value.family != "number":
            continue
        text = scene.reading.text
        marks = _marks(text, value)
        measure = _measure(text, value)
        if not marks and measure is None:
            continue
        holders = list(holding(scene, value))
        if not holders or (measure is not None and _is_measured(scene, measure, holders)):
            measure = None
        missing = marks if holders else frozenset[str]()
        for near, other in holders:
            theirs = _said(near.reading.text, other)
            missing = missing & (marks - theirs)
        if missing or measure is not None:
            near, other = holders[0]
            mine = text[max(0, value.start - 3) : value.end + 8].strip()
            reason = f"the context says {other.text!r} without more, the answer {mine!r}"
            return contradiction(scene, name, reason, near)
    return None


def _marks(text: str, value: Value) -> frozenset[str]:
    """Return the kinds of signs at a value."""
    found: set[str] = set()
    before = _BEFORE.search(text[max(0, value.start - _NEAR) : value.start])
    if before is not None and before.lastgroup:
        found.add(before.lastgroup)
    if after := _AFTER.match(text, value.end):
        found.add(after.lastgroup or "")
    return frozenset(found - {""})


def _said(text: str, value: Value) -> frozenset[str]:
    """Return the kinds of signs at a value of the context, also those that it has in words."""
    around = text[max(0, value.start - 2 * _NEAR) : value.end + _NEAR]
    words = {"least": _LEAST, "most": _MOST, "about": _ABOUT}
    return _marks(text, value) | {kind for kind, form in words.items() if form.search(around)}


def _measure(text: str, value: Value) -> Measure | None:
    """Return by what a value is measured: a kilo of "200 mg/kg"; None for people and the like."""
    if not value.unit:
        return None
    match = _PER.match(text, value.end)
    if match is None:
        return None
    unit = unit_of(match["sign"] or match["word"])
    return None if unit is None or unit[0] in _PEOPLE else unit


def _is_measured(scene: Scene, measure: Measure, holders: list[tuple[Near, Value]]) -> bool:
    """Say whether the question, or a sentence at a holder of a value, measures by a unit."""
    sentences = scene.context.sentences
    near = {
        number
        for holder, _ in holders
        for number in range(holder.number - 1, holder.number + 2)
        if 0 <= number < len(sentences)
    }
    texts = [*(sentences[number].text for number in near), scene.context.question or ""]
    return any(measure in _units_in(text) or _by_adverb(measure, text) for text in texts)


def _by_adverb(measure: Measure, text: str) -> bool:
    adverbs = _ADVERBS.get(measure, frozenset[str]())
    if measure == _YEAR and _PER_ANNUM.search(text):
        return True
    return not adverbs.isdisjoint(word.casefold() for word in _WORD.findall(text))


_YEAR = ("month", Fraction(12))
_PER_ANNUM = re.compile(r"\bp\.\s?a\.", re.I)


@lru_cache(maxsize=512)
def _units_in(text: str) -> frozenset[Measure]:
    return frozenset(unit for word in _WORD.findall(text) if (unit := unit_of(word)) is not None)
