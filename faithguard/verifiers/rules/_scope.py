"""What holds only of some or under a condition, and is said of all.

In: a scene. Out: a veto; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.types import Verdict
from faithguard.verifiers.rules._parts import CLOSE, parts_of, text_of
from faithguard.verifiers.rules._reading import Reading, read
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["unbound"]

_UNIVERSAL = re.compile(
    r"\b(?:in\s+(?:every|any|all)\s+cases?|(?:on|at)\s+(?:any|every)\s+(?:day|time|hour)|every\s+day"
    r"|(?:to|for|by)\s+all(?=\W|$)|of\s+(?:all|any)\s+kinds?|at\s+all\s+times|in\s+all\s+circumstances|always|regardless|anyone|everyone"
    r"|everybody|alike|whoever|without\s+(?:exception|restriction|condition)s?|unconditionally"
    r"|at\s+any\s+time|for\s+any\s+\w+|the\s+(?:general\s+)?public|in\s+general|no\s+matter)\b",
    re.I,
)
_OF_ALL = re.compile(rf"{_UNIVERSAL.pattern}|\b(?:anybody|daily|all\s\w+)\b", re.I)
_STATEMENTS = re.compile(r"[;.]\s|,\s(?:but|otherwise)\b", re.I)
_RESTRICTED = re.compile(
    r"\b(?:only|except|unless|excluded|provided\s+that|not\s+all|limited\s+to|restricted\s+to|reserved\s+for|(?<!without\s)exceptions?|exclusively|solely"
    r"|for\s+(?:\w+\s+){1,3}(?:over|above|under|below|with|who|from)|permitting)\b",
    re.I,
)


_BOUNDED = re.compile(
    r"\b(?:(?:more|less|fewer)\s+than|over|above|under|below|up\s+to|at\s+least|at\s+most)\b", re.I
)
_WHO_MUST = re.compile(
    r"\b(?:any(?:one|body)|every(?:one|body)|whoever)\b[^.;]*\b(?:must|needs?(?!\s+no)|ha(?:s|ve)\s+to)\b",
    re.I,
)


def unbound(scene: Scene, name: str) -> Verdict | None:
    """Veto what is said of every case where the context ties it to one."""
    if _WHO_MUST.search(scene.reading.text):
        return None  # "anyone who wants one must ask the clerk": only the clerk gives it
    mine = scene.reading.text
    if not _UNIVERSAL.search(mine) or _RESTRICTED.search(mine) or _BOUNDED.search(mine):
        return _modifier_dropped(scene, name)
    for near in _about(scene, _UNIVERSAL):
        restricted = _RESTRICTED.search(near.reading.text)
        universal = _UNIVERSAL.search(near.reading.text)
        if _limits_another(scene.reading, near.reading.text):
            continue
        if restricted and not universal:
            reason = f"the context limits it: {restricted[0]!r}"
            return contradiction(scene, name, reason, near)
    return None


def _limits_another(mine: Reading, text: str) -> bool:
    """Whether one statement says it of all, and what is limited is nearer to the claim nowhere."""
    free, limited = frozenset[str](), frozenset[str]()
    for said in _STATEMENTS.split(text):
        keys = read(said).keys & mine.keys
        if _RESTRICTED.search(said):
            limited |= keys
        elif _OF_ALL.search(said):
            free |= keys
    return bool(free) and limited <= free


def _about(scene: Scene, pattern: re.Pattern[str]) -> Iterator[Near]:
    """Yield the sentence that says most of each clause in which a pattern stands."""
    for part in parts_of(scene.reading, None):
        if pattern.search(text_of(part)) and scene.near:
            near = max(scene.near, key=lambda near: len(part.keys & near.reading.keys))
            if 5 * len(part.keys & near.reading.keys) >= 2 * len(part.keys):
                yield near


def _modifier_dropped(scene: Scene, name: str) -> Verdict | None:
    """Veto "customers get it" where premium customers do and "other customers" do not."""
    tokens = scene.reading.tokens
    if not tokens or not tokens[0].key or not tokens[0].lower.endswith("s"):
        return None
    noun = tokens[0].key
    if len(tokens) > 1 and tokens[1].lower in _OWN:
        return None  # it says itself which ones
    holders = [near for near in scene.near if noun in near.reading.keys]
    if not holders or holders[0].share < CLOSE:
        return None
    first = holders[0]
    kinds = {near.number: _kind_of(near.reading, noun) for near in holders}
    kind = kinds.pop(first.number)
    if not kind or kind in scene.reading.keys:
        return None
    if any(other and other != kind for other in kinds.values()):
        reason = f"the context says it only of some: {kind!r}"
        return contradiction(scene, name, reason, first)
    return None


_OWN = frozenset("with of that which who whose from in for without".split())


def _kind_of(reading: Reading, noun: str) -> str | None:
    """Return the word right before a noun that opens a sentence: "premium customers"."""
    if len(reading.tokens) < 2 or reading.tokens[1].key != noun:
        return None
    word = reading.tokens[0]
    return word.key or (word.lower if word.lower in ("other", "most", "some") else None)
