"""Lengths by what they measure: "25 metres long" and "25 metres deep".

In: a scene and a value of its claim. Out: whether the context gives that value of the same
dimension, and a veto where it gives it of other dimensions alone; else None. English.
"""

from __future__ import annotations

import re
from functools import partial

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._measures import all_against, distinct, every_holding
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["has_that_dimension", "other_dimension"]

_SAME_THING = 0.3
"""Share of the claim that a sentence must hold; the words for a dimension seldom agree."""

_BETWEEN = "distance"
"""No dimension of a thing: there is one to everything."""

_NAMED = {
    "length": "long|length",
    "width": "wide|broad|width|breadth|diameter",
    "height": "deep|depth|high|tall|height|thick|thickness",
    _BETWEEN: "away|apart|distance",
}
"""What a bowl has across is its width or its diameter, and snow is as deep as it is high."""
_WORDS = "|".join(_NAMED.values())
_DIMENSION = {word: name for name, words in _NAMED.items() for word in words.split("|")}
_BEHIND = re.compile(rf"[\s-]{{0,2}}(?:in\s+)?({_WORDS})\b", re.I)
_BEFORE = re.compile(
    rf"\b({_WORDS})\b\s*(?::|\(|of|is|was|are|were|about|around|some|nearly|almost|max\.?|min\.?|\s){{0,5}}$",
    re.I,
)


def other_dimension(scene: Scene, name: str) -> Verdict | None:
    """Veto a length that the context gives of other dimensions alone."""
    for value in distinct(scene.reading):
        mine = _dimension(scene.reading, value)
        if not mine:
            continue
        against = all_against(scene, value, partial(_has_other_dimension, mine))
        if against is not None:
            near, other = against
            theirs = _dimension(near.reading, other)
            reason = f"the context gives {value.text!r} as a {theirs}, the answer as a {mine}"
            return contradiction(scene, name, reason, near)
    return None


def _has_other_dimension(mine: str, near: Near, other: Value) -> bool:
    """Whether a sentence of the same gives a length of another dimension than the claim's."""
    return _dimension(near.reading, other) not in ("", mine) and near.share >= _SAME_THING


def has_that_dimension(scene: Scene, value: Value) -> bool:
    """Say whether the context gives the value of the dimension that the claim names."""
    mine = _dimension(scene.reading, value)
    return mine not in ("", _BETWEEN) and any(
        _dimension(near.reading, other) == mine for near, other in every_holding(scene, value)
    )


def _dimension(reading: Reading, value: Value) -> str:
    """Return what a length measures, if words beside it say so."""
    if value.unit not in ("metre", "inch"):
        return ""
    match = _BEHIND.match(reading.text, value.end) or _BEFORE.search(
        reading.text[: value.start].rstrip()
    )
    return _DIMENSION[match[1].lower()] if match else ""
