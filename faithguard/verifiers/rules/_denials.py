"""Whether two deeds say the same, or one denies what the other says.

In: a deed of a claim and one of the context. Out: 1 where both say it, -1 where one of them denies
it (by a negation, an opposite verb or a denying syllable), 0 where they do not speak of one thing;
and whether what stands around them is near enough that both cannot hold.

What is denied of all is denied of each, and what is said of each need not be said of all: "express
parcels are never free" contradicts "express parcels are free for members", and "final sale items
cannot be returned" does not contradict "items can be returned".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from faithguard._verbs import base_of, is_participle
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._antonyms import affirmative, opposed
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._reading import Reading, Token, key_of, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene
from faithguard.verifiers.rules._small_words import CONDITIONS, DETERMINERS, RELATIVE

__all__ = ["collide", "other_values", "presupposed", "relation", "said_by", "two_of_a_kind"]

_MOST_SIDES = 0.6
_HALF = 0.45
_SOME_SIDES = 0.3
_LINKING = frozenset(("be", "have", "do"))
_REPORTING = frozenset("say tell think believ claim mean show".split())
_PARTICLES = ({"up", "down"}, {"in", "out"}, {"on", "off"})


def relation(mine: Deed, theirs: Deed) -> int:
    """Return 1 if two deeds say the same, -1 if one denies the other, else 0."""
    same = mine.denied == theirs.denied
    if mine.verb in _REPORTING:
        return 0
    if mine.verb == theirs.verb:
        if "need" in (mine.modal, theirs.modal) and not same:
            plain = theirs if mine.modal == "need" else mine
            return -1 if plain.modal == "must" else 0
        if {mine.particle, theirs.particle} in _PARTICLES:
            return -1 if same else 0
        return 1 if same else -1
    if mine.passive != theirs.passive and {mine.verb, theirs.verb} == {"win", "lose"}:
        return 1 if same else -1
    words = _of_words(mine.verb, mine.word, theirs.verb, theirs.word)
    if words == _OPPOSED:
        crossed = mine.subject & (theirs.sides - theirs.subject)
        if crossed or (mine.denied and theirs.denied):
            return 0  # one lost to the other who won
        return -1 if same else 1
    if words == _HARMLESS:
        return -1 if same else 1
    if mine.verb in _AFTER_START and theirs.verb == _START and theirs.denied and not mine.denied:
        return -1
    if words == _AFFIRMED:
        return -1 if same else 1
    return 0


_OPPOSED, _HARMLESS, _AFFIRMED = "opposed", "harmless", "affirmed"


@lru_cache(maxsize=8_192)
def _of_words(verb: str, word: str, their_verb: str, their_word: str) -> str:
    """Return how two verbs, and the words that stand for them, deny each other; else nothing."""
    if opposed(verb, their_verb):
        return _OPPOSED
    if _harmless(word, their_word):
        return _HARMLESS
    for said, key in ((word, their_verb), (their_word, verb)):
        plain = affirmative(said)
        if plain is not None and key in (key_of(plain), key_of(base_of(plain) or plain)):
            return _AFFIRMED
    return ""


def _harmless(one: str, two: str) -> bool:
    """Whether one word ends in "less" where the other ends in "ful"."""
    pair = {one.removesuffix("less"), two.removesuffix("ful")}, {one.removesuffix("ful"),
            two.removesuffix("less")}  # fmt: skip
    return one != two and any(len(stems) == 1 for stems in pair)


_START = key_of("begin")
_AFTER_START = keys_of_all("finish complete end".split())


def said_by(mine: Deed, theirs: Deed, scene: Scene) -> float:
    """Return how much of what a deed of the claim says stands around one of the context."""
    loose = mine.pronoun or theirs.pronoun
    sides = mine.sides - mine.subject if loose else mine.sides
    if mine.pronoun and not sides:
        return 1.0  # "it is refunded": all that it says is the deed
    whole = scene.weight(sides or mine.sides)
    return scene.weight((sides or mine.sides) & theirs.sides) / whole if whole else 0.0


def collide(mine: Deed, theirs: Deed, scene: Scene, near: Near) -> bool:
    """Whether two deeds of which one denies the other speak of one thing."""
    if presupposed(mine, scene.reading) or presupposed(theirs, near.reading):
        return False
    if mine.pronoun and not mine.sides:
        first = not any(t.lower in _INNER for t in scene.reading.tokens[: mine.at])
        return first and not (mine.conditional or theirs.conditional)
    shared = mine.sides & theirs.sides
    if not shared or mine.conditional or theirs.conditional:
        return False
    if mine.denied == theirs.denied and two_of_a_kind(mine.subject, theirs.subject, scene):
        return False
    if mine.patients & theirs.agents and not mine.agents & theirs.agents and mine.agents:
        return False
    own, other = mine.sides - mine.subject, theirs.sides - theirs.subject
    if own and not other and _unsaid_object(mine, theirs, near):
        return False
    inherited = scene.pages.inherited(near.number)
    before = scene.all[near.number - 1].keys if theirs.pronoun and near.number else frozenset[str]()
    beside = near.reading.keys if own & other else frozenset[str]()
    if mine.subject and not mine.subject & (theirs.sides | inherited | before | beside):
        return False
    if own and other and not own & theirs.sides and not other & mine.sides:
        return False
    if mine.verb in _LINKING and scene.weight(own & other) < _MOST_SIDES * scene.weight(
        own | other
    ):
        return False
    if any(key in scene.proper for key in mine.sides - near.reading.keys - inherited):
        return False
    if mine.denied and _lacks_values(mine, theirs, scene, near):
        return False  # "does not work on Fridays" beside "works 30 hours"
    return _covers(mine, theirs, scene, near.reading.keys) and not other_values(
        mine, theirs, scene, near
    )


def _unsaid_object(mine: Deed, theirs: Deed, near: Near) -> bool:
    """Whether a verb needs its object: "not taken" and "taken to a yard", "won it" and "lost"."""
    behind = near.reading.tokens[theirs.at + 1 : theirs.at + 2]
    pointed = bool(behind) and behind[0].lower in _OBJECTS
    return mine.verb in _MOVING or (mine.verb != theirs.verb and pointed)


_MOVING = keys_of_all("take bring put go come get".split())
"""Verbs that say another thing with each place."""
_OBJECTS = frozenset("it them this that".split())
_INNER = RELATIVE | CONDITIONS | frozenset("before after that until when because".split())
"""Words that open a clause inside another."""


def presupposed(deed: Deed, reading: Reading) -> bool:
    """Whether a deed only tells what, when or which is meant: "goods that were not opened"."""
    if _ENDED.search(reading.text[: reading.tokens[deed.start].start]):
        return True  # "Removed: support for old clients"
    words = [token.lower for token in reading.tokens[max(0, deed.start - 2) : deed.at]]
    at = min(deed.start, 2)
    opening = {*words[max(0, at - 1) : at], *words[at : at + 1]}
    if opening & _WHEN or any(w in _WHATEVER for w in words):
        return True
    if words[at : at + 1] and words[at] in _WHICH and words[at - 1 : at] != [","]:
        return True
    bare = not deed.subject and not deed.pronoun and not deed.modal
    return bare and is_participle(deed.word) and any(w in DETERMINERS for w in words[at:])


_ENDED = re.compile(
    r"\b(?:removed|dropped|discontinued|deprecated|excluded|cancelled|forbidden|prohibited):\s*$",
    re.I,
)
_WHEN = frozenset("once before after when whenever until unless if".split())
_WHATEVER = frozenset("what whatever whoever whichever".split())
_WHICH = frozenset("who which that whose".split())


def two_of_a_kind(one: frozenset[str], other: frozenset[str], scene: Scene) -> bool:
    """Whether two subjects share a word and each has one of its own that the context knows."""
    own = one - other
    return bool(one & other and own and other - one) and all(map(scene.known, own))


def _covers(mine: Deed, theirs: Deed, scene: Scene, keys: frozenset[str]) -> bool:
    held, holds = said_by(mine, theirs, scene), said_by(theirs, mine, scene)
    if (mine.sides - mine.subject) & (theirs.sides - theirs.subject):
        # the rest may stand elsewhere in the sentence
        held = max(held, scene.weight(mine.sides & keys) / scene.weight(mine.sides))
        holds = max(holds, _HALF if theirs.denied else 0.0)
    if theirs.denied or opposed(mine.verb, theirs.verb):
        general = holds >= 1.0 and held >= _SOME_SIDES
        return general or (holds >= _MOST_SIDES and held >= _HALF)
    return held >= _MOST_SIDES and holds >= _SOME_SIDES


def _lacks_values(mine: Deed, theirs: Deed, scene: Scene, near: Near) -> bool:
    """Whether a deed is tied to values, and the other to none of them."""
    own, other = _values(scene.reading.tokens, mine), _values(near.reading.tokens, theirs)
    return bool(own) and not any(
        scene.reading.values[n].agrees(near.reading.values[m]) for n in own for m in other
    )


def other_values(
    mine: Deed,
    theirs: Deed,
    scene: Scene,
    near: Near,
    *,
    but: Callable[[Value], bool] = lambda _: False,
) -> bool:
    """Whether the two are tied to different values: open on Mondays, closed on Sundays."""
    own = _values(scene.reading.tokens, mine)
    other = _values(near.reading.tokens, theirs)
    own = {n for n in own if not but(scene.reading.values[n])}
    return any(
        not any(scene.reading.values[n].agrees(near.reading.values[m]) for m in other)
        for n in own
        if any(scene.reading.values[n].comparable(near.reading.values[m]) for m in other)
    )


def _values(tokens: tuple[Token, ...], deed: Deed) -> set[int]:
    return {token.value for token in tokens[deed.start : deed.end] if token.value >= 0}
