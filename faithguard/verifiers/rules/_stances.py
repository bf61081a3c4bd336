"""What a statement allows, demands or says to be so, and another takes back.

In: a scene. Out: a veto where the claim says that something may be, must be or is so, and the
sentence that speaks of the same says that it may not, need not or is not, in whatever words
("prohibited", "need not", "optional", "turned down"); else None. English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from faithguard.types import Verdict
from faithguard.verifiers.rules._antonyms import affirmative, opposed
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._denials import other_values, presupposed
from faithguard.verifiers.rules._lexicon import alike, lexical_opposites
from faithguard.verifiers.rules._negation import UNLIKE, apart, hedged, of_others, only_planned
from faithguard.verifiers.rules._reading import Reading, key_of, keys_of_all, read
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._swaps import converse
from faithguard.verifiers.rules._told import joined, known_deeds, told

__all__ = ["taken_back"]


_MAY = keys_of_all(
    "allow permit accept admit welcome entitle eligible able possible legal lawful".split()
)
_MAY_NOT = keys_of_all(
    "forbid prohibit ban bar disallow ineligible illegal unlawful impossible unable".split()
)
_MUST = keys_of_all(
    "need require oblige mandatory compulsory obligatory necessary essential".split()
)
_NEED_NOT = keys_of_all("optional voluntary unnecessary waive exempt".split())
_COST = key_of("cost")
_BARE = keys_of_all("be have do get make take use go come give keep".split())
"""Verbs that add nothing to what is said of."""


_SPOKEN = keys_of_all(("say",))
"""Of what is said it matters what."""
_ANYBODY = keys_of_all(
    "anybody anyone everybody everyone nobody somebody someone anything everything nothing".split()
)


@dataclass(frozen=True, slots=True)
class _Stance:
    """What a deed says of its topic."""

    kind: str
    """"may", "must" or "is"."""
    yes: bool
    topic: frozenset[str]
    verb: str
    deed: Deed


def _stance(deed: Deed) -> _Stance:
    sides, yes = deed.sides - _ANYBODY, not deed.denied
    if deed.verb in _MAY:
        return _Stance("may", yes, sides, "", deed)
    if deed.verb in _MAY_NOT:
        return _Stance("may", not yes, sides, "", deed)
    if deed.verb in _MUST:
        return _Stance("must", yes, sides, "", deed)
    if deed.verb in _NEED_NOT:
        return _Stance("must", not yes, sides, "", deed)
    topic = sides if deed.verb in _BARE else sides | {deed.verb}
    if deed.modal == "can":
        return _Stance("may", yes, topic, deed.verb, deed)
    if deed.modal == "must":
        return _Stance("must" if yes else "may", yes, topic, deed.verb, deed)
    if deed.modal == "need":
        return _Stance("must", yes, topic, deed.verb, deed)
    return _Stance("is", yes, topic, deed.verb, deed)


def _known(scene: Scene, near: Near) -> tuple[_Stance, ...]:
    key = "stances", near.number
    found: tuple[_Stance, ...] | None = scene.pages.notes.get(key)
    if found is None:
        deeds = known_deeds(scene, near)
        found = scene.pages.notes[key] = tuple(map(_stance, deeds))
    return found


_MOST_OF_IT = 0.7
_ENOUGH = 0.5


def taken_back(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context takes back, and says nowhere."""
    for deed in told(scene):
        mine = _stance(deed)
        if not mine.topic or deed.conditional or deed.verb in _SPOKEN:
            continue
        weaker = _weaker(scene, mine)
        if weaker is not None:
            return contradiction(scene, name, "the context only allows it", weaker)
        against = _against(scene, mine)
        if against is not None:
            near, theirs = against
            others = deed.denied != theirs.deed.denied and of_others(deed, theirs.deed, scene, near)
            if hedged(scene, near) or others or apart(deed, theirs.deed, scene, near):
                continue
            reason = f"the context says {'the opposite' if theirs.yes else 'no'} of it"
            return contradiction(scene, name, reason, near)
    return None


def _weaker(scene: Scene, mine: _Stance) -> Near | None:
    """Return the sentence that only allows what the claim demands."""
    if mine.kind != "must" or not mine.yes or not mine.verb:
        return None
    found: Near | None = None
    for near in scene.near:
        for theirs in _known(scene, near):
            if not theirs.yes or _verbs(mine, theirs) <= 0:
                continue
            if theirs.kind != "may":
                return None
            if not theirs.deed.only and _collide(mine, theirs, scene, near):
                found = found or near
    return found


def _against(scene: Scene, mine: _Stance) -> tuple[Near, _Stance] | None:
    best: tuple[Near, _Stance, frozenset[str]] | None = None
    most = 0.0
    said: list[frozenset[str]] = []
    for near in scene.near:
        for theirs in _known(scene, near):
            kind = _relation(mine, theirs)
            if not kind:
                continue
            shared = alike(mine.topic, theirs.topic | scene.pages.inherited(near.number))
            if kind > 0:
                said.append(shared)
            elif _collide(mine, theirs, scene, near) and not only_planned(
                theirs.deed, near.reading
            ):
                weight = scene.weight(shared)
                if weight > most:
                    best, most = (near, theirs, shared), weight
    if best is None or any(best[2] <= other for other in said):
        return None
    return best[:2]


def _relation(mine: _Stance, theirs: _Stance) -> int:
    """Return 1 if two stances agree, -1 if one takes the other back, else 0."""
    same = mine.yes == theirs.yes
    verbs = _verbs(mine, theirs)
    if verbs < 0:
        same = not same
    if not verbs and mine.verb and theirs.verb:
        return 0
    kinds = {mine.kind, theirs.kind}
    if kinds == {"is"} and not verbs:
        return 0
    if kinds == {"may", "must"} and verbs < 0:
        return 1 if mine.yes != theirs.yes else 0  # "must stay" and "may not leave"
    if kinds == {"may", "must"}:
        if mine.kind == "may" and not mine.yes and theirs.yes:
            return -1
        if theirs.kind == "may" and not theirs.yes and mine.yes:
            return -1
        return 1 if mine.yes and theirs.yes else 0
    if kinds == {"is", "must"}:
        return 1 if same else 0
    if kinds == {"is", "may"}:
        return 1 if same else -1 if verbs else 0
    return 1 if same else -1


def _verbs(mine: _Stance, theirs: _Stance) -> int:
    """Return 1 if two verbs say the same, -1 if one says the opposite, else 0."""
    one, other = mine.verb, theirs.verb
    if _COST in (one, other) and one != other:
        return 0  # "free for 5 hours, then 19 cents": what it costs is no denial
    if not one or not other:
        return 1 if one != other and not (one or other) else 0
    # "unpaid bills can be sent": a word that only describes is no verb
    words = (d.word if d.passive or d.adjective else "" for d in (mine.deed, theirs.deed))
    found = _of_words(one, other, *words)
    if found == _OPPOSITE:
        return -1 if _one_subject(mine, theirs) else 0
    return found


_OPPOSITE = -2


@lru_cache(maxsize=8_192)
def _of_words(one: str, other: str, word: str, their_word: str) -> int:
    """Return what two verbs, and the words that stand for them, are to each other."""
    if (opposed(one, other) or other in lexical_opposites(one)) and not converse(one, other):
        return _OPPOSITE
    for said, key in ((word, other), (their_word, one)):
        plain = affirmative(said)
        if plain is not None and key_of(plain) == key:
            return -1
    return 1 if alike((one,), (other,)) else 0


def _one_subject(mine: _Stance, theirs: _Stance) -> bool:
    """Whether two deeds are of one subject, as far as they tell."""
    own, other = mine.deed.subject, theirs.deed.subject
    return not own or not other or theirs.deed.pronoun or bool(alike(own, other))


def _collide(mine: _Stance, theirs: _Stance, scene: Scene, near: Near) -> bool:
    """Whether two stances of which one takes back the other are of one thing."""
    one, other = mine.deed, theirs.deed
    if _of_some_case(mine, theirs, scene, near) or not (theirs.topic or theirs.verb):
        return False
    contrast = UNLIKE.search(near.reading.text)
    if contrast and alike(one.subject, read(contrast[0]).keys):
        return False
    inherited = scene.pages.inherited(near.number)
    turned = _verbs(mine, theirs) < 0
    own = mine.topic - {mine.verb} if turned else mine.topic
    topic = theirs.topic - {theirs.verb} if turned else theirs.topic
    held = alike(topic, mine.topic | scene.proper)
    shared = alike(own, topic | inherited)
    if not held and not (shared and not topic):
        return False
    nobody = bool(one.subject) and one.subject <= _ANYBODY
    if not (other.pronoun or nobody) and other.subject - held - _siblings(other, near):
        return False
    agent = not one.passive and not one.adjective and not other.agents
    if one.subject and not (agent or nobody) and not alike(one.subject, topic | inherited):
        return False
    rest = topic - held - _siblings(other, near) - (other.subject if nobody else _NONE)
    holds = 1.0 - scene.weight(rest) / max(scene.weight(topic), 1.0)
    says = scene.weight(shared) / max(scene.weight(own), 1.0)
    if _EVER & {t.lower for t in scene.reading.tokens[one.start : one.end]} and not theirs.yes:
        return _verbs(mine, theirs) > 0  # "in any weather", and not in strong wind
    if holds < (_ALL_OF_IT if _BE in (mine.verb, theirs.verb) else _MOST_OF_IT):
        return False
    if not mine.yes and theirs.yes and says < _MOST_OF_IT:
        return False
    bare = not theirs.verb and not theirs.yes and not rest
    known = bare and all(map(scene.known, own - shared))
    if says < _ENOUGH and not known and not (not rest and not theirs.yes and says >= _SOME):
        return False
    return not other_values(one, other, scene, near)


def _of_some_case(mine: _Stance, theirs: _Stance, scene: Scene, near: Near) -> bool:
    """Whether one of two stances is not taken of the thing as such."""
    one, other = mine.deed, theirs.deed
    if other.conditional or other.without or one.without:
        return True
    if presupposed(one, scene.reading) or presupposed(other, near.reading):
        return True
    if (other.only and not one.denied) or one.only:
        return True
    if other.modal and "only" in {t.lower for t in near.reading.tokens[other.at - 2 : other.at]}:
        return True  # "may only be taken when told so"
    return _partly(mine, scene.reading) or _partly(theirs, near.reading)


def _partly(stance: _Stance, reading: Reading) -> bool:
    """Whether a deed is of some only, of all but some, or not before something else is so."""
    words = {t.lower for t in reading.tokens[stance.deed.start : stance.deed.end]}
    if not words.isdisjoint(_OF_SOME):
        return True
    rest = reading.text[reading.tokens[stance.deed.start].start :]
    return not stance.yes and _UNTIL.search(rest) is not None


_EVER = frozenset("any whatever whichever always anytime every".split())
_OF_SOME = frozenset("some most many few several certain other than".split())
_UNTIL = re.compile(r"\b(?:unless|until|except|without|before)\b", re.I)
_BE = "be"
_ALL_OF_IT = 0.9


def _siblings(deed: Deed, near: Near) -> frozenset[str]:
    """Return the words of things that a sentence joins: each of them is meant by itself."""
    parts = joined(near.reading.tokens[deed.at + 1 : deed.end])
    return frozenset(t.key for part in parts for t in part if t.key) if len(parts) > 1 else _NONE


_NONE = frozenset[str]()
_SOME = 0.3
