"""What the context excepts, and what it demands.

In: a scene. Out: a veto where the claim says it of the very thing that is excepted, or waives what
is demanded; else None.
"""

from __future__ import annotations

import re
from functools import lru_cache

from faithguard.types import Verdict
from faithguard.verifiers.rules._antonyms import opposed, opposite
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._parts import ONLY, SAME_STATEMENT, denied_in, negates
from faithguard.verifiers.rules._reading import Clause, Reading, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = ["ELSE", "left_out", "FEW_NEAR", "SCOPE", "TOO", "excepted", "is_excepted", "waived"]

_EXCEPT = re.compile(
    r"\b(?:except(?:\s+for|ing|ed)?|other\s+than|apart\s+from|with\s+the\s+exception\s+of|excluding|save\s+for"
    r"|außer|ausgenommen|sauf|excepté|hormis|salvo|excepto|tranne|eccetto|exceto)\b",
    re.I,
)


@lru_cache(maxsize=1_024)
def _exception_in(text: str) -> re.Match[str] | None:
    return _EXCEPT.search(text)


_PHRASE_ENDS = re.compile(r"[,.;:!?()]|\s(?:and|but|und|aber|et|mais|y|pero|ma|mas)\s")


def _phrase_after(reading: Reading, at: int) -> tuple[frozenset[str], list[int]]:
    """Return the words and the numbers of the values from a place to the end of the phrase."""
    stop = _PHRASE_ENDS.search(reading.text, at)
    end = stop.start() if stop else len(reading.text)
    inside = [t for t in reading.tokens if at <= t.start < end]
    values = dict.fromkeys(t.value for t in inside if t.value >= 0)
    return frozenset(t.key for t in inside if t.key), list(values)


_FREED = re.compile(r"\b(?:without|exempt|need\s+not|no\s+need)\b", re.I)
_OWN_EXCEPTION = re.compile(
    r"\b(?:unless|outside|(?:but|though)\s+not|not\s+(?:on|in|at|for|from|during|counting|including))\b",
    re.I,
)
SCOPE = 8
"""Words within which one bears on another."""


def excepted(scene: Scene, name: str) -> Verdict | None:
    """Veto what is said of the very thing that the context excepts from it."""
    nears = [near for near in scene.near[:FEW_NEAR] if _exception_in(near.reading.text)]
    if not nears:
        return None
    if _EXCEPT.search(scene.reading.text) or ONLY.search(scene.reading.text):
        return None  # "not except in the yard" says "only in the yard"
    if _FREED.search(scene.reading.text) or _OWN_EXCEPTION.search(scene.reading.text):
        return None  # "children need no licence" and "unless you are a child" say so too
    for near in nears:
        match = _exception_in(near.reading.text)
        if match is None:
            continue
        keys, values = _phrase_after(near.reading, match.end())
        if not (keys or values) or not _holds_all(scene.reading, keys, near.reading, values):
            continue
        before = [
            c for c in near.reading.clauses if near.reading.tokens[c.first].start < match.start()
        ]
        rule = max(before, key=lambda c: len(c.keys & scene.reading.keys), default=None)
        if rule is None:
            continue
        said = rule.keys - keys
        if len(said) == _A_PAIR and _last(near.reading, rule, said) not in scene.reading.keys:
            continue  # "colours: fine, except green": that it is a colour is no rule
        own = next((c for c in scene.reading.clauses if c.keys & said), None)
        if own is None or 2 * len(said & scene.reading.keys) < len(said):
            continue
        same = bool(denied_in(scene.reading, own)) == bool(denied_in(near.reading, rule))
        if same and not _denying(scene.reading, rule):
            reason = f"the context excepts it: {near.reading.text[match.start() :][:60]!r}"
            return contradiction(scene, name, reason, near)
    return None


_A_PAIR = 2


def _last(reading: Reading, clause: Clause, keys: frozenset[str]) -> str:
    """Return the last of some words in a clause: what it says of the others."""
    found = [token.key for token in reading.words(clause) if token.key in keys]
    return found[-1] or "" if found else ""


def is_excepted(scene: Scene, near: Near) -> bool:
    """Whether a claim speaks of what a sentence excepts: "open daily except Tuesdays"."""
    match = _exception_in(near.reading.text)
    if match is None:
        return False
    keys, values = _phrase_after(near.reading, match.end())
    return bool(keys or values) and _holds_all(scene.reading, keys, near.reading, values)


FEW_NEAR = 4


def _denying(reading: Reading, clause: Clause) -> bool:
    """Whether a text says the opposite of a word of a clause."""
    return any(
        opposed(key, other) or other in _words_against(token.lower)
        for token in reading.tokens
        if (key := token.key)
        for other in clause.keys
    )


def _words_against(word: str) -> frozenset[str]:
    return keys_of_all(opposite(word))


def _holds_all(mine: Reading, keys: frozenset[str], theirs: Reading, values: list[int]) -> bool:
    agreed = all(any(v.agrees(theirs.values[n]) for v in mine.values) for n in values)
    return agreed and keys <= mine.keys


_WAIVER = re.compile(
    r"\b(?:without(?!\s+(?:exception|doubt))|whether\s+or\s+not|regardless\s+of(?:\s+whether)?|irrespective\s+of"
    r"|even\s+(?:if|when|without))\b",
    re.I,
)
_REQUIRED = re.compile(
    r"\b(?:only\s+(?:with|under|in|if|when|after|by|on|to|for)|provided(?:\s+that)?|as\s+long\s+as|must|requires?(?!\s+no\b)"
    r"|required|need(?:s|ed)?(?!\s+(?:no|not)\b)|necessary|mandatory|compulsory|on\s+condition|subject\s+to|(?:no|not|cannot|\w+n['’]t)\s[^.;,]{0,60}\bwithout|unless)\b",
    re.I,
)
_IS_REQUIRED = re.compile(
    r"\b(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:required|needed|necessary|mandatory|compulsory)$",
    re.I,
)


def waived(scene: Scene, name: str) -> Verdict | None:
    """Veto "without consent" where the context says "only with consent"."""
    waivers = list(_WAIVER.finditer(scene.reading.text))
    if waivers and (TOO.search(scene.reading.text) or _demands_it(scene.reading.text)):
        return None
    if not waivers or any(
        negates(t, scene.reading.text)
        for t in scene.reading.tokens
        if not any(match.start() <= t.start < match.end() for match in waivers)
    ):
        return None
    for match in waivers:
        verdict = _demanded(scene, name, _phrase_after(scene.reading, match.end())[0])
        if verdict is not None:
            return verdict
    return None


def _demands_it(text: str) -> bool:
    """Whether a claim demands it all the same: "must be present even if it is a baby"."""
    asked = _DUTY.search(text)
    return asked is not None and _EVEN_IF.search(text, asked.end()) is not None


_DUTY = re.compile(r"\b(?:must|ha(?:s|ve)\s+to|needs?\s+to|required)\b", re.I)
_EVEN_IF = re.compile(r"\beven\s+(?:if|when|though)\b", re.I)
ELSE = re.compile(r"\b(?:otherwise|else)\b", re.I)
"""What tells what holds without a condition."""
TOO = re.compile(r"\btoo\s+\w+(?:\s+\w+)?\s+to\b", re.I)
"""What is "too much to carry over" cannot be."""
_STATEMENT_ENDS = re.compile(r"[;.:!?]")


def _demanded(scene: Scene, name: str, keys: frozenset[str]) -> Verdict | None:
    """Veto the waiver of what the context demands."""
    rest = scene.reading.keys - keys
    for near in scene.near[:FEW_NEAR] if keys else ():
        asked = _REQUIRED.search(near.reading.text)
        if asked is None or _WAIVER.search(near.reading.text[: asked.start()]):
            continue
        before = [t for t in near.reading.tokens if t.start < asked.start()][-SCOPE:]
        if any(negates(t, near.reading.text) for t in before):
            continue  # "not required"
        if is_excepted(scene, near) or ELSE.search(near.reading.text, asked.end()):
            continue  # the second: it tells what holds otherwise
        if any(
            keys & _phrase_after(near.reading, match.end())[0]
            for match in _WAIVER.finditer(near.reading.text)
        ):
            continue
        at = 0 if _IS_REQUIRED.search(near.reading.text[: asked.end()]) else asked.start()
        stop = _STATEMENT_ENDS.search(near.reading.text, asked.end())
        end = stop.start() if stop else len(near.reading.text)
        wanted = frozenset(t.key for t in near.reading.tokens if t.key and at <= t.start < end)
        held = scene.weight(keys & wanted) >= SAME_STATEMENT * scene.weight(keys)
        known = rest & (near.reading.keys | scene.pages.inherited(near.number))
        if held and 3 * len(known) >= len(rest):
            return contradiction(scene, name, f"the context demands it: {asked[0]!r}", near)
    return None


def left_out(scene: Scene, name: str) -> Verdict | None:
    """Veto "gift cards can be returned" where these are excluded from what can."""
    for mine in told(scene):
        if mine.denied or mine.verb in _EXCLUDED or not mine.subject or mine.conditional:
            continue
        if not (mine.passive or mine.adjective or mine.modal == "can"):
            continue
        for near in scene.near:
            for theirs in known_deeds(scene, near):
                out = theirs.verb in _EXCLUDED and not theirs.denied and theirs.passive
                rule = out and _said_nearby(mine, near.number, scene)
                if rule and theirs.subject and theirs.subject <= mine.subject:
                    return contradiction(scene, name, "the context excludes it", near)
    return None


_EXCLUDED = keys_of_all("exclude exempt except".split())


def _said_nearby(mine: Deed, number: int, scene: Scene) -> bool:
    """Whether the rule stands in the sentence of an exclusion, or in the one before."""
    first = max(0, number - 1)
    same = scene.pages.sentences[number].passage
    return any(
        deed.verb == mine.verb and not deed.denied and not mine.subject <= deed.subject
        for place in range(first, number + 1)
        if scene.pages.sentences[place].passage == same
        for deed in known_deeds(scene, scene.at(place))
    )
