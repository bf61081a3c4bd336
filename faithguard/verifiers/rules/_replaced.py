"""One word in the place of another: "woven glass fibre" where the context has "basalt fibre".

In: a scene. Out: a veto where the claim has, between the very words of a sentence of the context,
another word of the same kind, which that sentence does not have; else None. English.
"""

from __future__ import annotations

from faithguard._verbs import base_of
from faithguard.types import Verdict
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._lexicon import alike, sisters
from faithguard.verifiers.rules._parts import denies
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["replaced"]

_FEW = 3
"""Sentences that are looked at."""
_SHARE = 0.5


def replaced(scene: Scene, name: str) -> Verdict | None:
    """Veto a word in the place of another of its kind."""
    if language(scene.reading.text) != "en":
        return None
    mine = _content(scene.reading)
    for near in scene.near[:_FEW]:
        if near.share < _SHARE or near.reading.row or denies(near.reading) != denies(scene.reading):
            continue
        pair = _pair(mine, _content(near.reading), scene, near)
        if pair is not None:
            reason = f"the context says {pair[1]!r} there, the answer {pair[0]!r}"
            return contradiction(scene, name, reason, near)
    return None


def _content(reading: Reading) -> list[Token]:
    return [token for token in reading.tokens if token.key or token.value >= 0]


def _pair(
    mine: list[Token], theirs: list[Token], scene: Scene, near: Near
) -> tuple[str, str] | None:
    places: dict[str, list[int]] = {}
    for place, token in enumerate(theirs):
        places.setdefault(_name(token), []).append(place)
    for number, token in enumerate(mine):
        key = token.key
        if not key or token.value >= 0 or alike((key,), near.reading.keys):
            continue
        left = _name(mine[number - 1]) if number else ""
        right = _name(mine[number + 1]) if number + 1 < len(mine) else ""
        spots = {p + 1 for p in places.get(left, ())} | {p - 1 for p in places.get(right, ())}
        for place in sorted(spots & set(range(len(theirs)))):
            other = theirs[place]
            before = _name(theirs[place - 1]) if place else ""
            after = _name(theirs[place + 1]) if place + 1 < len(theirs) else ""
            if not other.key or other.key in scene.reading.keys or alike((key,), (other.key,)):
                continue
            both = before == left and after == right
            if both and _of_one_kind(token, other) and not _said(scene, key, {left, right} - {""}):
                return token.lower, other.lower
    return None


def _name(token: Token) -> str:
    return token.key or token.lower


def _of_one_kind(one: Token, other: Token) -> bool:
    """Whether two nouns stand for two of a kind."""
    if base_of(one.lower) or base_of(other.lower) or not one.key or not other.key:
        return False
    return sisters(one.key, other.key)


def _said(scene: Scene, key: str, beside: set[str]) -> bool:
    """Whether another sentence says it with the claim's word."""
    return any(key in near.reading.keys and beside & near.reading.keys for near in scene.near)
