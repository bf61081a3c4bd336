"""What the context keeps to one of a kind, and the claim gives to another, or to all.

In: a scene. Out: a veto where the context says "only on the Business plan" and the claim says it
of the Team plan, of all plans, or in the row of another plan; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faithguard._denied import is_negative
from faithguard.types import Verdict
from faithguard.verifiers.rules._parts import ONLY
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._small_words import BOUNDS, JOINS, PREPOSITIONS

__all__ = ["kept_to"]

_ONLY = frozenset(("only", "exclusively", "solely"))
_ALL = frozenset("all every any each".split())
_BEFORE_PLACE = frozenset("on in with for to at under from by of".split())
_LINKS = frozenset(
    "available offered included provided possible is are was were be been can has have comes come"
    " supported allowed permitted accepted sold valid".split()
)
_VERBS = _LINKS | frozenset(
    "includes include gets get covers cover offers offer gives give".split()
)
_FREED = re.compile(
    r"\b(?:except|unless|other\s+than|apart\s+from|not|never|without|if|when)\b", re.I
)
_NO = re.compile(r"[:;]\s*(?:no|none|false|[❌✗✘✖🚫👎–—-])\W*(?:;|$)", re.I)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept to one of a kind."""

    near: Near
    given: tuple[frozenset[str], ...]
    """The words for what is given, by each of its names."""
    kind: str
    """The key of what the one is: "plan"."""
    which: frozenset[str]
    """The words that tell the ones to whom it is given from others of the kind."""


def kept_to(scene: Scene, name: str) -> Verdict | None:
    """Veto what is given to another, or to all, where the context keeps it to one of a kind."""
    text = scene.reading.text
    found = list(_all_kept(scene))
    if not found:
        return None
    if ONLY.search(text) or _FREED.search(text) or is_negative(text) or _NO.search(text):
        return None
    for kept in found:
        if not any(given <= scene.reading.keys for given in kept.given):
            continue
        others = _others(scene, kept)
        if others:
            where = kept.near.reading.text
            at = next(t for t in kept.near.reading.tokens if t.lower in _ONLY)
            reason = f"the context keeps it to one: {where[at.start :][:60]!r}"
            return contradiction(scene, name, reason, kept.near)
    return None


def _all_kept(scene: Scene) -> Iterator[_Kept]:
    for near in scene.near:
        key = "kept", near.number
        if key not in scene.pages.notes:
            scene.pages.notes[key] = tuple(_kept_in(near))
        yield from scene.pages.notes[key]


def _kept_in(near: Near) -> Iterator[_Kept]:
    tokens = near.reading.tokens
    for number, token in enumerate(tokens):
        if token.lower in _ONLY and not near.reading.row:
            kept = _kept(near, tokens, number)
            if kept is not None:
                yield kept


def _kept(near: Near, tokens: Sequence[Token], at: int) -> _Kept | None:
    """Read "SSO is only available on the Business plan", "Only the Business plan has SSO"."""
    low = at
    while low and tokens[low - 1].lower not in _STOPS and at - low < _NEAR:
        low -= 1
    high = at + 1
    while high < len(tokens) and tokens[high].lower not in _STOPS and high - at < _NEAR:
        high += 1
    if _negative(tokens[low:high]):
        return None
    place = at + 1
    while place < high and tokens[place].lower in _LINKS:
        place += 1
    verb = next((n for n in range(at + 1, high) if tokens[n].lower in _VERBS), None)
    if low == at and verb is not None:
        one, given = tokens[at + 1 : verb], [_set(tokens[verb:high])]
    elif place < high and tokens[place].lower in _BEFORE_PLACE:
        end = _end(tokens, place + 1, high)
        one, given = tokens[place + 1 : end], list(_names(tokens[low:at]))
    elif place == high:  # "on the Business plan only"
        begin = next((n for n in range(at - 1, low, -1) if tokens[n].lower in _BEFORE_PLACE), None)
        if begin is None:
            return None
        one, given = tokens[begin + 1 : at], list(_names(tokens[low:begin]))
    else:
        return None
    keys = [t.key for t in one if t.key]
    given = [names for names in given if names]
    if len(keys) < _FEWEST or not given or any(t.value >= 0 for t in one):
        return None
    return _Kept(near, tuple(given), keys[-1], frozenset(keys[:-1]) - {keys[-1]})


_STOPS = frozenset(".;!?:") | (
    BOUNDS & frozenset("but while whereas although though because".split())
)
_NEAR = 40
"""Words around "only" that are read."""
_FEWEST = 2
"""Words of one of a kind: which, and of what kind."""


def _negative(tokens: Sequence[Token]) -> bool:
    return any(t.lower in ("not", "no", "never") or t.lower.endswith("n't") for t in tokens)


def _end(tokens: Sequence[Token], start: int, high: int) -> int:
    """Return where a phrase ends: at the next preposition or bracket."""
    for number in range(start, high):
        if tokens[number].lower in PREPOSITIONS - {"of"} or tokens[number].lower in "(),–—":
            return number
    return high


def _names(tokens: Sequence[Token]) -> Iterator[frozenset[str]]:
    """Yield the names of what is given: "Single sign-on (SSO) is" has two."""
    part: list[Token] = []
    for token in tokens:
        if token.lower in "()":
            yield _set(part)
            part = []
        else:
            part.append(token)
    yield _set(part)


def _set(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(t.key for t in tokens if t.key and t.lower not in _LINKS)


_NEEDS = re.compile(r"\b(?:must|needs?|requires?|ha(?:s|ve)\s+to)\b", re.I)
"""What is needed is what it is kept to, in words of its own."""


def _others(scene: Scene, kept: _Kept) -> bool:
    """Whether a claim names another of the kind, or all of it, and not the one alone."""
    found = list(_of_kind(scene.reading, kept.kind))
    if not found:
        return _named_alone(scene, kept)
    if not any(every for _, every in found) and _NEEDS.search(scene.reading.text):
        return False
    return any(
        every or (which and not which <= kept.which | kept.given[0]) for which, every in found
    ) and (not any(which and which <= kept.which for which, _ in found))


def _of_kind(reading: Reading, kind: str) -> Iterator[tuple[frozenset[str], bool]]:
    """Yield which ones of a kind a text names, each time, and whether it is all of them."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        if token.key != kind:
            continue
        low = number
        while low and (
            tokens[low - 1].key or tokens[low - 1].lower in JOINS | {",", "the", "both"}
        ):
            if tokens[low - 1].lower in _LINKS:
                break
            low -= 1
        before = tokens[low:number]
        every = low > 0 and tokens[low - 1].lower in _ALL
        every = every or any(t.lower in _ALL for t in before)
        which = _set(before)
        field = number + 1 < len(tokens) and tokens[number + 1].lower == ":"
        if field:
            end = next(
                (n for n in range(number + 2, len(tokens)) if tokens[n].lower in ";.:"),
                len(tokens),
            )
            which |= _set(tokens[number + 2 : end])
        yield which, every


def _named_alone(scene: Scene, kept: _Kept) -> bool:
    """Whether a claim gives it to another that the context names as one of the kind: a row."""
    for table in scene.pages.tables:
        if not table.header or kept.kind not in table.header[0].keys:
            continue
        rows = [cells[0].reading.keys for _, cells in table.rows if cells]
        named = [keys for keys in rows if keys and keys <= scene.reading.keys]
        if named and not any(keys & kept.which for keys in named):
            return True
    return False
