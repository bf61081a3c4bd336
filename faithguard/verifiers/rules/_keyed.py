"""A key and its value: "Parking: 14 crowns" where the context says that of a ticket.

In: a scene. Out: a veto where the context speaks of the key and, elsewhere, has the value, and no
sentence of it, nor the one beside it, has both; else None. English.
"""

from __future__ import annotations

import re

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._measures import distinct, holding
from faithguard.verifiers.rules._reading import key_of, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["keyed_elsewhere"]

_KEYED = re.compile(
    r"(?:.*[.?!]\s)?(?P<key>[^\W\d_][\w'’-]*(?: [\w'’()/-]+){0,4}?)\s?(?::|=|\s[–—])\s"
    r"(?P<value>[^:;=]+)"
)
# What a value is called, whatever it is of.
_OF_VALUES = keys_of_all(
    (
        "price cost fee charge rate amount total sum number count value figure hour time date day "
        "period term duration length limit maximum minimum level size weight age dose dosage "
        "capacity distance speed percentage share answer result opening ticket adult standard "
        "normal regular usual general basic item of for the per daily weekly monthly yearly annual"
    ).split()
)
_BESIDE = 2
"""Sentences before and after the one that has a value."""
_LONGEST = 200
"""Characters of a key and its value."""


def keyed_elsewhere(scene: Scene, name: str) -> Verdict | None:
    """Veto a value that the context has, but never beside the key that the claim gives it to."""
    text = scene.reading.text
    match = _KEYED.fullmatch(text.rstrip(".")) if len(text) <= _LONGEST else None
    if match is None:
        return None
    words = {key for word in match["key"].split() if (key := key_of(word.strip("()")))}
    told = {key for key in words - _OF_VALUES if scene.pages.holders(key)}
    if not told or told != words - _OF_VALUES:
        return None  # of which the context knows nothing, or uses other words
    for value in distinct(scene.reading):
        if value.start < match.start("value") or not (value.unit or value.family == "clock"):
            continue
        holders = list(holding(scene, value))
        if not holders or any(_beside(scene, told, near) for near, _ in holders):
            continue
        return _elsewhere(scene, name, match["key"], *holders[0])
    return None


def _beside(scene: Scene, told: set[str], near: Near) -> bool:
    """Say whether a key stands in a sentence, or near it; in a table that is told by its cells."""
    if near.reading.row:
        return True
    numbers = range(near.number - _BESIDE, near.number + _BESIDE + 1)
    return any(number in scene.pages.holders(key) for key in told for number in numbers)


def _elsewhere(scene: Scene, name: str, key: str, near: Near, value: Value) -> Verdict:
    reason = f"the context says {value.text!r} of something else than {key!r}"
    return contradiction(scene, name, reason, near)
