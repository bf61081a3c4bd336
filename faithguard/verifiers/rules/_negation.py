"""What the context denies and the answer says, and the other way round.

In: a scene. Out: a veto where one of two statements of one thing is denied; else None.
"""

from __future__ import annotations

import re
from dataclasses import replace

from faithguard.types import Verdict
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._denials import collide, relation, said_by
from faithguard.verifiers.rules._parts import (
    CJK,
    DENYING,
    MANY,
    MISSING,
    NEGATORS,
    NO_NEGATION,
    ONLY,
    SAME_STATEMENT,
    Part,
    known_parts,
    negates,
    parts_of,
    text_of,
)
from faithguard.verifiers.rules._reading import keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = ["UNLIKE", "denied_or_not", "gainsaid", "hedged", "none_such", "of_others"]


def gainsaid(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context denies, and says nowhere."""
    for mine in told(scene):
        against: Near | None = None
        best = for_it = 0.0
        for near in scene.near:
            for theirs in known_deeds(scene, near):
                kind = relation(mine, theirs)
                said = said_by(mine, theirs, scene) if kind else 0.0
                if kind > 0:
                    for_it = max(for_it, said)
                elif (
                    kind < 0
                    and said > best
                    and collide(mine, theirs, scene, near)
                    and not of_others(mine, theirs, scene, near)
                    and not hedged(scene, near)
                ):
                    against, best = near, said
        if against is not None and best > for_it:
            return contradiction(
                scene, name, "the context denies it, or says the opposite", against
            )
    return None


def of_others(mine: Deed, theirs: Deed, scene: Scene, near: Near) -> bool:
    """Whether a plain deed is told of some only, or of others than the denied one is."""
    if not mine.denied and not theirs.denied and mine.verb != theirs.verb:
        # "free for 5 hours, then 19 cents": that it costs 19 cents is no denial
        return any(v.agrees(o) for v in scene.reading.values for o in near.reading.values)
    denied, plain = (mine, theirs) if mine.denied else (theirs, mine)
    reading = scene.reading if plain is mine else near.reading
    other = near.reading if plain is mine else scene.reading
    words = {t.lower for t in reading.tokens[plain.start : plain.at]}
    if words & _SOME and not _NONE & {t.lower for t in other.tokens[denied.start : denied.at]}:
        return True
    contrast = UNLIKE.search(reading.text)
    if contrast is None or not denied.subject:
        return False
    inside = {t.key for t in reading.tokens if contrast.start() <= t.start < contrast.end()}
    return denied.subject <= inside


_SOME = frozenset("some most many few several certain".split())
_NONE = frozenset("no none nobody neither any".split())
UNLIKE = re.compile(r"\b(?:unlike|in\s+contrast\s+to|as\s+opposed\s+to)\s[^,.;]{1,60}", re.I)


def hedged(scene: Scene, near: Near) -> bool:
    """Whether both sentences tie what they say to something: "unless it is full", "if not full"."""
    if _OR_NOT.search(near.reading.text):
        return True
    if _ONLY_THEN.search(scene.reading.text) and _NOT_BEFORE.search(near.reading.text):
        return True
    return bool(_TIED.search(scene.reading.text) and _TIED.search(near.reading.text))


_ONLY_THEN = re.compile(r"\bonly\s+(?:once|after|when|if|with|from)\b", re.I)
_NOT_BEFORE = re.compile(r"\b(?:before|until|unless|without)\b", re.I)
_OR_NOT = re.compile(r"\bor\s+(?:\w+\s+)?not\b", re.I)


_TIED = re.compile(
    r"\b(?:if|unless|only|except|provided|when|until|as\s+long\s+as|apart\s+from|or\s+\w+\s+not)\b",
    re.I,
)


def denied_or_not(scene: Scene, name: str) -> Verdict | None:
    """Veto where one of two clauses that say the same is under a negation."""
    if told(scene):
        return None
    claim = list(parts_of(scene.reading, None))
    for near in scene.near:
        context = known_parts(near, scene)
        for mine in claim:
            for theirs in context:
                if _flipped(mine, theirs, scene, near) and not _said(mine, theirs, scene):
                    denies = "the context denies it" if theirs.denied else _WITHOUT
                    return contradiction(scene, name, denies, near)
    return None


_WITHOUT = "the context says it without the negation"
_NEGATOR_KEYS = keys_of_all(NEGATORS)


def _flipped(mine: Part, theirs: Part, scene: Scene, near: Near) -> bool:
    """Whether exactly one of two clauses denies what both say."""
    if bool(mine.denied) == bool(theirs.denied) or mine.keys.isdisjoint(theirs.keys):
        return False
    denied, plain = (mine, theirs) if mine.denied else (theirs, mine)
    if not denied.denied or plain.denied:
        return False
    denied = replace(denied, clause=replace(denied.clause, keys=denied.keys - _NEGATOR_KEYS))
    shared = denied.keys & plain.keys
    unspaced = CJK.search(text_of(denied)) is not None
    subjects = plain.reading.keys if unspaced else plain.keys
    if len(shared) < 2 and not (len(denied.keys) == 1 and shared):
        return False
    if not denied.denied & shared or ONLY.search(text_of(plain)):
        return False
    if (
        _alternative(plain) != _alternative(denied)
        or _elliptic(denied)
        or _opposite_instead(plain, denied)
    ):
        return False
    if (
        next(
            (
                t.key
                for t in denied.reading.words(denied.clause)
                if t.key and t.key not in _NEGATOR_KEYS
            ),
            "",
        )
        not in subjects
    ):
        return False  # of another subject
    rest = denied.keys - plain.keys
    other = near.reading if mine.denied else scene.reading
    if len(rest - other.keys) * 100 > MISSING * len(denied.keys):
        return False
    # what the negation governs must be what the other says
    if len(denied.denied & plain.keys) * 100 < (50 if unspaced else 66) * len(
        denied.denied - _NEGATOR_KEYS
    ):
        return False
    held = plain.keys & denied.reading.keys
    return len(held) >= SAME_STATEMENT * len(plain.keys) or len(shared) >= MANY


# "may go without giving a reason" and "need not give a reason" are one rule
_ALTERNATIVE = re.compile(r"\b(?:without|ohne|sans|sin|senza|sem)\b", re.I)


def _alternative(part: Part) -> bool:
    return _ALTERNATIVE.search(text_of(part)) is not None


def _elliptic(part: Part) -> bool:
    """Whether a clause opens with its negation: "but not at the Alba" leaves out what is denied."""
    first = part.reading.words(part.clause)[0]
    return language(part.reading.text) == "en" and first.lower == "not"


def _opposite_instead(plain: Part, denied: Part) -> bool:
    """Whether "closed" says without a negation what "cannot be used" says with one."""
    return any(
        opposite(token.lower)
        for token in plain.reading.words(plain.clause)
        if token.key and token.key not in denied.reading.keys
    )


def _said(mine: Part, against: Part, scene: Scene) -> bool:
    """Whether another clause says it the way the claim does."""
    if DENYING & (mine.keys ^ against.keys):
        return True
    for near in scene.near:
        for part in known_parts(near, scene):
            if part.clause is against.clause:
                continue
            shared = len(part.keys & mine.keys)
            if bool(part.denied) == bool(mine.denied) and shared >= len(against.keys & mine.keys):
                return True
    return False


_WITHOUT_IT = frozenset("free without lack lacks lacking absent absence zero".split())


_NO = re.compile(r"\bno\b", re.I)


def none_such(scene: Scene, name: str) -> Verdict | None:
    """Veto "it gets new features" where the context says that there are no new features."""
    own = {token.lower for token in scene.reading.tokens}
    if own & _WITHOUT_IT or any(negates(t, scene.reading.text) for t in scene.reading.tokens):
        return None
    for near in scene.near:
        tokens = near.reading.tokens if _NO.search(near.reading.text) else ()
        for number, token in enumerate(tokens[:-2]):
            noun = [t for t in tokens[number + 1 : number + 3] if t.key]
            if (
                token.lower != "no"
                or len(noun) < 2
                or NO_NEGATION.match(near.reading.text, token.start)
            ):
                continue
            keys = frozenset(t.key for t in noun if t.key)
            said = frozenset(key for deed in known_deeds(scene, near) for key in (deed.verb,))
            rest = near.reading.keys - keys - said
            others = (o for o in scene.near if o is not near and keys <= o.reading.keys)
            if keys <= scene.reading.keys and rest <= scene.reading.keys and not any(others):
                written = near.reading.text[token.start : noun[-1].end]
                return contradiction(scene, name, f"the context says {written!r}", near)
    return None
