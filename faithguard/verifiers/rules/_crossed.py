"""Two values of one claim, each in the place of the other.

In: a scene. Out: a veto where a claim gives "12% to the one and 8% to the other" what the context
gives the other way round, or turns "from 12 to 8" into "from 8 to 12"; else None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._measures import holding, is_year, keys_between
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Scene, contradiction

__all__ = ["crossed", "turned_round"]

_MOST_PAIRS = 8


def crossed(scene: Scene, name: str, mine: Callable[[Value], bool]) -> Verdict | None:
    """Veto two values that stand in each other's places.

    Args:
        scene: The claim and its context.
        name: The rule's.
        mine: Whether the rule looks after a value.
    """
    values = [
        v for v in scene.reading.values if mine(v) and not is_year(v) and _alone(scene.reading, v)
    ]
    for one, two in list(pairwise(values))[:_MOST_PAIRS]:
        if not one.comparable(two) or one.agrees(two) or two.agrees(one):
            continue
        found = False
        for near, a in holding(scene, one):
            others = [v for v in near.reading.values if two.agrees(v) and v.start != a.start]
            for b in others:
                told = _relation(scene.reading, one, two, near.reading, a, b)
                if told > 0:
                    found = False
                    break
                found = found or told < 0
            else:
                if found:
                    reason = f"the context says {one.text!r} and {two.text!r} the other way round"
                    return contradiction(scene, name, reason, near)
                continue
            break
    return None


def _alone(reading: Reading, value: Value) -> bool:
    """Whether a value is no part of "1.2 by 0.8" or of "4 to 6"."""
    before, after = reading.text[max(0, value.start - 8) : value.start], reading.text[value.end :]
    return not (_JOINED_BEFORE.search(before) or _JOINED_AFTER.match(after))


_JOINED_BEFORE = re.compile(r"\d\s?[^\W\d]{0,2}\s?(?:x|×|by|to|-|–|bis)\s?$", re.I)
_JOINED_AFTER = re.compile(r"\s?(?:x|×|by|-|–|bis)\s?\d", re.I)


def _relation(claim: Reading, one: Value, two: Value, held: Reading, a: Value, b: Value) -> int:
    """Return 1 if each of two values stands beside its own words, -1 if beside the other's."""
    crossed = False
    for mine in _manners(claim, one, two):
        for theirs in _manners(held, a, b):
            both = mine[0] & mine[1] | theirs[0] & theirs[1]
            (x, y), (p, q) = (tuple(words - both for words in pair) for pair in (mine, theirs))
            straight = bool(x & p) + bool(y & q)
            across = bool(x & q) + bool(y & p)
            if straight and straight >= across:
                return 1
            crossed = crossed or (across == 2 and not straight)
    return -1 if crossed else 0


def _manners(reading: Reading, one: Value, two: Value) -> Iterator[tuple[frozenset[str], ...]]:
    """Yield the words that stand before two values, and those behind them."""
    first, last = (one, two) if one.start < two.start else (two, one)
    begin, end = _walls(reading, first.start, last.end)
    between = keys_between(reading, first.end, last.start)
    split = _comma(reading, first.end, last.start)
    behind = keys_between(reading, first.end, split), keys_between(reading, last.end, end)
    before = keys_between(reading, begin, first.start), keys_between(reading, split, last.start)
    if reading.row:
        clauses = reading.clause_at(one.start), reading.clause_at(two.start)
        if clauses[0] is not None and clauses[1] is not None:
            yield clauses[0].keys, clauses[1].keys
        return
    for pair in (behind, before, (behind[0] | before[0], behind[1] | before[1])):
        if pair[0] and pair[1]:
            yield pair if one is first else pair[::-1]
    if between and behind[1] and not before[0]:
        yield (between, behind[1]) if one is first else (behind[1], between)


def _walls(reading: Reading, start: int, end: int) -> tuple[int, int]:
    """Return where the stretch around two values begins and ends: at a stop or another value."""
    tokens = reading.tokens
    before = [t.end for t in tokens if t.end <= start and _is_wall(t)]
    after = [t.start for t in tokens if t.start >= end and _is_wall(t)]
    return before[-1] if before else 0, after[0] if after else len(reading.text)


def _is_wall(token: Token) -> bool:
    return token.lower in _WALLS or token.value >= 0


_WALLS = frozenset(".;:!?,、。；，")


def _comma(reading: Reading, start: int, end: int) -> int:
    """Return where the words of the second of two values begin."""
    joints = [t for t in reading.tokens if start <= t.start < end and t.lower in _JOINTS]
    return joints[-1].end if joints else end


_JOINTS = frozenset(
    ", ; and but while against versus whereas und gegen et contre y frente e contro ma mas 、 ， و"
    " compared than".split()
)

# -- from one to the other ----------------------------------------------------------------------

_FROM = r"(?:from|von|de|du|des|desde|da|dal|do|dos|从|由|من|の)"
_TO = r"(?:to|auf|à|a|au|al|para|até|hasta|fino\s+a|到|至|إلى)"
_BACK = re.compile(
    r"[\s,(]*(?:(?:up|down|compared|instead|against|after|rather)\s+)?(?:from|with|against|contre|gegenüber|frente\s+a|contro)\s+"
    r"(?:about\s+|around\s+|just\s+)?$",
    re.I,
)
_ON = re.compile(rf"\s*(?:[^\W\d]+\s+){{0,2}}?{_TO}\s*$", re.I)
_OUT = re.compile(rf"(?:\b{_FROM}\s+|[从由])$", re.I)


def turned_round(scene: Scene, name: str) -> Verdict | None:
    """Veto "from 8 to 12" where the context says "from 12 to 8"."""
    for old, new in _changes(scene.reading):
        if not old.comparable(new) or old.agrees(new):
            continue
        for near in scene.near:
            for was, now in _changes(near.reading):
                if old.agrees(was) and new.agrees(now):
                    return None
                if old.agrees(now) and new.agrees(was):
                    reason = f"the context says from {was.text!r} to {now.text!r}"
                    return contradiction(scene, name, reason, near)
    return None


def _changes(reading: Reading) -> Iterator[tuple[Value, Value]]:
    """Yield what a value was, and what it became."""
    for one, two in pairwise(reading.values):
        if one.family != "number" or two.family != "number":
            continue
        gap = reading.text[one.end : two.start]
        before = reading.text[max(0, one.start - 12) : one.start]
        if _ON.fullmatch(gap) and _OUT.search(before):
            yield one, two
        elif _BACK.fullmatch(gap):
            yield two, one
