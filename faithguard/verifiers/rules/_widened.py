"""What the context says of some, of one way, or mostly, and the claim of all, of another, always.

In: a scene. Out: a veto where "all passengers" stands for "passengers in the sleeping car", where
the claim names another way than the only one, adds an "only" of its own, or says "always" of what
is so in most cases; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from faithguard._verbs import base_of, is_participle
from faithguard.types import Verdict
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._measures import keys_between
from faithguard.verifiers.rules._parts import denies
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, unmentioned
from faithguard.verifiers.rules._small_words import BE, DO, EACH, HAVE, MODALS

__all__ = ["widened"]

_RESTRICTS = frozenset(
    "who whose which that with without in on at from of under over above below between aged marked"
    " for holding during after before".split()
)
_FINITE = BE | HAVE | DO | MODALS.keys()
_STOPS = frozenset(",.;:!?()–—") | frozenset("but while whereas although though and or".split())
_SAME = 0.5
"""Share of a claim, its subject apart, that a sentence must hold."""


def widened(scene: Scene, name: str) -> Verdict | None:
    """Veto what is said of all, of another way, or always."""
    if language(scene.reading.text) != "en":
        return None
    return (
        _of_all(scene, name)
        or _other_way(scene, name)
        or _only_added(scene, name)
        or _always(scene, name)
    )


# -- all --------------------------------------------------------------------------------------


def _of_all(scene: Scene, name: str) -> Verdict | None:
    """Veto "all passengers" where "passengers in the sleeping car" is said."""
    tokens = scene.reading.tokens
    for number, token in enumerate(tokens[:-1]):
        if token.lower not in EACH or (number and tokens[number - 1].lower in ("at", "not", "of")):
            continue
        noun = _noun(tokens, number + 1)
        if noun is None or _is_rate(tokens, number, noun):
            continue
        found: Near | None = None
        for near in scene.near:
            if near.reading.row or not noun.key or noun.key not in near.reading.keys:
                continue
            if not _says_rest(scene, noun.key, near):
                continue
            if _all_of(near.reading, noun.key):
                found = None
                break
            kind = _restricted(near.reading, noun.key, scene)
            if not kind:
                found = None
                break
            found = found or near
        if found is not None:
            reason = f"the context says it only of some {noun.lower!r}"
            return contradiction(scene, name, reason, found)
    return None


def _is_rate(tokens: Sequence[Token], number: int, noun: Token) -> bool:
    """Whether a word says how often, or joins two things: "each month", "both A and B"."""
    if tokens[number].lower == "both":
        return any(t.lower == "and" for t in tokens[number + 1 : number + _LONGEST])
    return noun.lower in _TIMES


_TIMES = frozenset("second minute hour day night week weekend month quarter year time".split())


def _all_of(reading: Reading, noun: str) -> bool:
    """Whether a sentence says "all" before a noun itself."""
    tokens = reading.tokens
    return any(
        token.lower in EACH | {"per"}
        and noun in {t.key for t in tokens[number + 1 : number + _LONGEST]}
        for number, token in enumerate(tokens)
    )


def _noun(tokens: Sequence[Token], start: int) -> Token | None:
    """Return the noun that "all" stands before: the last of a run of words."""
    last: Token | None = None
    for token in tokens[start : start + _LONGEST]:
        if token.key is None and token.lower in ("the", "of", "our", "their", "its"):
            continue
        if token.key is None or token.value >= 0 or token.lower in _FINITE | _RESTRICTS:
            break
        if last is not None and base_of(token.lower) and last.lower.endswith("s"):
            break
        last = token
    return last


_LONGEST = 5


def _says_rest(scene: Scene, noun: str, near: Near) -> bool:
    rest = scene.reading.keys - {noun}
    said = alike(rest, near.reading.keys)
    return bool(said) and scene.weight(said) >= _SAME * scene.weight(rest)


def _restricted(reading: Reading, noun: str, scene: Scene) -> bool:
    """Whether what stands behind a noun tells which ones are meant, and the claim does not."""
    tokens = reading.tokens
    for number, token in enumerate(tokens[:-1]):
        if token.key != noun:
            continue
        after = tokens[number + 1]
        joined = number > 0 and tokens[number - 1].key is not None and tokens[number - 1].value < 0
        before = joined and tokens[number - 1].lower not in _FINITE
        keys: set[str] = set()
        if after.lower in _RESTRICTS or (
            is_participle(after.lower) and _finite(tokens, number + 2)
        ):
            for other in tokens[number + 1 :]:
                if other.lower in _STOPS or (other.lower in _FINITE and keys):
                    break
                if other.key and other.lower not in _RESTRICTS:
                    keys.add(other.key)
                elif other.value >= 0:
                    value = reading.values[other.value]
                    if not any(value.agrees(v) for v in scene.reading.values):
                        keys.add(other.lower)
        elif before and number == 1:
            keys.add(tokens[0].key or "")
        keys.discard("")
        if keys and keys.isdisjoint(scene.reading.keys):
            return True
    return False


def _finite(tokens: Sequence[Token], start: int) -> bool:
    """Whether an auxiliary follows in the same clause."""
    for token in tokens[start : start + _FAR]:
        if token.lower in _FINITE:
            return True
        if token.lower in ".;:":
            return False
    return False


_FAR = 10

# -- only -------------------------------------------------------------------------------------

_WAYS = "by|via|through|on|in|at|from"
_ONLY_WAY = re.compile(
    rf"\b(?:(?:only|solely|exclusively)\s+(?P<way>{_WAYS})\s(?P<what>[^,.;:()]{{2,50}})"
    rf"|(?P<way2>{_WAYS})\s(?P<what2>[^,.;:()]{{2,50}}?)\s(?:only|alone)(?=[,.;:()]|$))",
    re.I,
)
_WAY = re.compile(
    rf"\b(?P<way>{_WAYS})\s(?P<what>[^,.;:()]{{2,50}}?)(?=[,.;:()]|$|\s(?:{_WAYS})\s)"
)
_LIMITED = re.compile(
    r"\b(?:only|solely|exclusively|if|unless|must|needs?|requir\w+|without|no|not|none|nobody|never|except\w*"
    r"|just|alone|provided|until|before|restricted|limited|reserved|sole|nothing|other|rather|instead|apart"
    r"|single|one|two|three|confined|merely|nur|remain\w*|minimum|maximum|least|most|\w+n['’]t|cannot|all|every\w*|few|little|last|whole|purely)\b",
    re.I,
)
_ADDED = re.compile(
    r"\b(?:only|solely|exclusively)\s+(?:if|when|with|for|to|on|in|by|from|after|during|through|as)\b"
    r"|^only\s+(?:the\s+)?\w+",
    re.I,
)


def _other_way(scene: Scene, name: str) -> Verdict | None:
    """Veto "by e-mail" where the context says "only by phone"."""
    mine = scene.reading
    nears = [near for near in scene.near if _only_ways(near.reading.text)]
    if not nears or _LIMITED.search(mine.text):
        return None
    for near in nears:
        for only in _only_ways(near.reading.text):
            way = (only["way"] or only["way2"]).lower()
            what = keys_between(near.reading, *only.span("what" if only["way"] else "what2"))
            head = _clause(near.reading, only.start()) - what
            if not what or not head or alike(what, mine.keys):
                continue
            own = [m for m in _WAY.finditer(mine.text) if m["way"].lower() == way]
            other = [k for m in own if (k := keys_between(mine, *m.span("what"))) and not k & head]
            said = alike(head, mine.keys)
            if other and scene.weight(said) >= _SAME * scene.weight(head):
                reason = f"the context says {only[0][:50]!r}"
                return contradiction(scene, name, reason, near)
    return None


@lru_cache(maxsize=1_024)
def _only_ways(text: str) -> tuple[re.Match[str], ...]:
    return tuple(_ONLY_WAY.finditer(text))


def _only_added(scene: Scene, name: str) -> Verdict | None:
    """Veto an "only" of the answer's own."""
    mine = scene.reading
    if not _ADDED.search(mine.text) or _ONLY_SOME.search(mine.text):
        return None
    if not scene.near or scene.near[0].share < _SAME:
        return None
    if any(near.reading.row or near.reading.is_field for near in scene.near):
        return None
    nears = [near for near in scene.near if near.share >= _SAME]
    if any(_LIMITED.search(near.reading.text) for near in nears):
        return None
    return unmentioned(scene, name, "the context does not say 'only'")


_ONLY_SOME = re.compile(r"\bonly\s+(?:a\s+)?(?:part|some|few|little|half|portion|fraction)\b", re.I)
"""How much it is, which a text may tell by what remains."""


def _clause(reading: Reading, at: int) -> frozenset[str]:
    """Return the words of the part of a sentence around an offset."""
    cuts = [0, *(m.end() for m in _CUT.finditer(reading.text)), len(reading.text)]
    after = next(n for n, end in enumerate(cuts) if end > at)
    return keys_between(reading, cuts[after - 1], cuts[after])


_CUT = re.compile(r"[;.:]|,\s(?:and|but|while|whereas|so|or)\s")

# -- always -----------------------------------------------------------------------------------

_ALWAYS = re.compile(
    r"\b(?:always|invariably|in\s+(?:all|every|each)\s+cases?|without\s+exception|every\s+time|at\s+all\s+times"
    r"|without\s+fail|guaranteed|(?<!the\s)guarantee(?=\s+(?:that|to)\b))\b",
    re.I,
)
_MOSTLY = re.compile(
    r"\b(?:usually|normally|generally|typically|often|mostly|mainly|largely|sometimes|occasionally|rarely"
    r"|in\s+(?:most|many|some)\s+cases|as\s+a\s+rule|exceptions?\s+(?:is|are|may|can)|tends?\s+to|frequently"
    r"|hardly|seldom|may|might|not\s+always|not\s+guaranteed|up\s+to)\b",
    re.I,
)


def _always(scene: Scene, name: str) -> Verdict | None:
    """Veto "always" where the context says "in most cases"."""
    mine = scene.reading
    if not _ALWAYS.search(mine.text) or _MOSTLY.search(mine.text):
        return None
    if denies(mine):
        return None
    for near in scene.near:
        said = alike(mine.keys, near.reading.keys)
        if scene.weight(said) < _SAME * scene.weight(mine.keys):
            continue
        if _ALWAYS.search(near.reading.text) and not _NOT_ALWAYS.search(near.reading.text):
            return None
        mostly = _MOSTLY.search(near.reading.text)
        if mostly:
            reason = f"the context says {mostly[0]!r}"
            return contradiction(scene, name, reason, near)
    return None


_NOT_ALWAYS = re.compile(r"\bnot\s+(?:always|guaranteed)\b", re.I)
