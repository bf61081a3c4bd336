"""On which days the context says that something is open, by a rule with its exceptions.

In: a scene. Out: of "open daily except Mondays", "every day but Monday" or "Tuesday to Sunday": a
veto where the claim says that it is open on a day that is left out, or closed on one that is not;
the verdict that it is supported where it says so the right way round; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._measures import holding
from faithguard.verifiers.rules._reading import Reading, key_of, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, grant

__all__ = ["by_open_days", "fits_open_days"]

_ALL = frozenset(range(7))
_OPEN = re.compile(r"\b(?:open|opens|opened|opening)\b", re.I)
_CLOSED = re.compile(r"\b(?:closed|closes|shut)\b", re.I)
_NOT_OPEN = re.compile(r"(?:\bnot|n['’]t|\bnever)(?:\s+be)?\s+open\b", re.I)
_BUT = re.compile(
    r"[\s,(]*\b(?:except(?:ing)?(?:\s+for)?|excluding|but(?:\s+not)?|(?:other|apart)\s+(?:than|from)|save"
    r"(?:\s+for)?|with\s+the\s+exception\s+of)\s+(?:on\s+)?",
    re.I,
)
_BUT_BEHIND = re.compile(r"\s*(?:are\s+)?(?:excepted|excluded)\b", re.I)
_JOINS = re.compile(r"[\s,]*(?:(?:and|or|&)\s*)?(?:on\s+)?", re.I)
_APART = re.compile(r"\s*[,(]\s*", re.I)
_LIMITED = re.compile(
    r"\b(?:if|unless|when|until|from\s+\w*(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|in|during|before|after|by|for|holidays?|first|last|second|third|only|some"
    r"|sometimes|may|might|every\s+other|alternate|previously|formerly|used)\b",
    re.I,
)
"""What makes a rule hold of some weeks, or of some who ask."""
_WORDS = keys_of_all(
    "open opens opened opening closed closes shut except excepted excepting excluding"
    " excluded exception apart other save".split()
)
_IT = frozenset("it we they".split())


@dataclass(frozen=True, slots=True)
class _Rule:
    """The days on which a sentence says that something is open."""

    near: Near
    days: frozenset[int]


def by_open_days(scene: Scene, name: str) -> Verdict | None:
    """Grant or veto what a claim says of being open or closed on some days."""
    said = _said(scene.reading)
    if said is None:
        return None
    days, opens = said
    rules = list(_rules(scene))
    if len(rules) != 1:
        return None  # of two rules, one may be of another season
    rule = rules[0]
    if _told_apart(scene, rule):
        return None
    if days <= rule.days:
        if not opens:
            return contradiction(scene, name, "the context says that it is open then", rule.near)
        held = not _others(scene.reading, "clock")
    elif days.isdisjoint(rule.days):
        if opens:
            return contradiction(scene, name, "the context leaves this day out", rule.near)
        held = True
    else:
        return None
    if not held or not _is_plain(scene, rule):
        return None
    reason = "it follows from the days on which the context says that it is open"
    return grant(scene, name, reason, [rule.near])


def fits_open_days(scene: Scene) -> bool:
    """Whether a claim says that something is closed on the days on which it is not open."""
    said = _said(scene.reading)
    rules = list(_rules(scene)) if said is not None and not said[1] else []
    return len(rules) == 1 and said is not None and said[0].isdisjoint(rules[0].days)


def _said(reading: Reading) -> tuple[frozenset[int], bool] | None:
    """Return the days that a claim is about, and whether it is said to be open then."""
    text = reading.text
    days = [value for value in reading.values if value.family == "days"]
    if not days:
        return None
    opens, shuts = _OPEN.search(text), _CLOSED.search(text) or _NOT_OPEN.search(text)
    if not (opens or shuts) or _LIMITED.search(text) or _BUT.search(text):
        return None
    if re.search(r"\b(?:not|no|never)\b|n['’]t", text, re.I) and not _NOT_OPEN.search(text):
        return None
    if _CLOSED.search(text) and (opens or _others(reading, "clock")):
        return None  # "open until it closes at 5", "closed from noon"
    if any(value.family not in ("days", "clock") for value in reading.values):
        return None
    sets = [_days(value) for value in days]
    if any(one is None for one in sets):
        return None
    return frozenset[int]().union(*(one for one in sets if one is not None)), not shuts


def _others(reading: Reading, family: str) -> list[Value]:
    return [value for value in reading.values if value.family == family]


def _days(value: Value) -> frozenset[int] | None:
    """Return the days of a value that can be read in one way."""
    sets = [one for one in value.readings if isinstance(one, frozenset)]
    return frozenset(sets[0]) if len(sets) == 1 else None


def _rules(scene: Scene) -> Iterator[_Rule]:
    """Yield what the sentences that speak of the claim's subject say of their open days."""
    for number in sorted(scene.pages.holders(_OPEN_KEY)):
        reading = scene.all[number]
        if reading.row or not _is_of(scene, number):
            continue
        if _CLOSED.search(reading.text) or _NOT_OPEN.search(reading.text):
            continue  # other rules read what is said outright
        found = _open_days(reading)
        if found is not None:
            yield _Rule(scene.at(number), found)


_OPEN_KEY = key_of("open") or ""


def _open_days(reading: Reading) -> frozenset[int] | None:
    """Return the days of a rule less those that it excepts; None where it says more of days."""
    days = [value for value in reading.values if value.family == "days"]
    sets = [_days(value) for value in days]
    if not days or any(one is None for one in sets):
        return None
    text = reading.text
    start, stop = days[0].end, days[1].start if len(days) > 1 else len(text)
    own, rest = sets[0] or frozenset[int](), frozenset[int]().union(*(s or () for s in sets[1:]))
    if len(days) == 1:
        return own if 1 < len(own) < len(_ALL) and not _BUT.search(text) else None
    gaps = [text[a.end : b.start] for a, b in pairwise(days[1:])]
    if not all(map(_JOINS.fullmatch, gaps)):
        return None
    before = _BUT.fullmatch(text, start, stop)
    behind = _APART.fullmatch(text, start, stop) and _BUT_BEHIND.match(text, days[-1].end)
    after = re.match(r"\s*[,)]*\s*(?:and|or|&)\s+(?!closes)[a-z]", text[days[-1].end :])
    if not (before or behind) or not rest < own or after:
        return None
    return own - rest


def _is_plain(scene: Scene, rule: _Rule) -> bool:
    """Whether a rule holds without more: of no season, and of none who come alone."""
    reading = rule.near.reading
    places = [n for n, token in enumerate(reading.tokens) if token.key == _OPEN_KEY]
    tokens = list(takewhile(lambda token: token.lower != ";", reading.tokens[places[-1] :]))
    behind = {t.key for t in tokens if t.key} - _WORDS
    own = reading.text[: tokens[-1].end]
    if behind - scene.reading.keys or _LIMITED.search(own):
        return False
    return all(value.family in ("days", "clock") for value in reading.values)


def _is_of(scene: Scene, number: int) -> bool:
    """Whether a sentence names what the claim is about, or goes on about it."""
    subject = scene.reading.keys - _WORDS
    if not subject:
        return scene.reading.tokens[0].lower in _IT
    return subject <= scene.all[number].keys | scene.pages.inherited(number)


def _told_apart(scene: Scene, rule: _Rule) -> bool:
    """Whether another sentence says something of the claim's days: "On Mondays groups may come"."""
    return any(
        near.number != rule.near.number
        and not _CLOSED.search(near.reading.text)
        and (_is_of(scene, near.number) or not _OPEN.search(near.reading.text))
        for value in scene.reading.values
        if value.family == "days"
        for near, _ in holding(scene, value)
    )
