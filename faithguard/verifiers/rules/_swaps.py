"""Deeds whose doer and object the claim exchanges, or gives to others.

In: a scene. Out: a veto where the context says it with the roles the other way round, of another
doer or of another object; else None. English.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from faithguard._verbs import base_of
from faithguard.types import Verdict
from faithguard.verifiers._terms import stem
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._reading import Reading, key_of, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._small_words import EACH, PREPOSITIONS, RELATIVE
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = [
    "HELD",
    "SYMMETRIC",
    "converse",
    "done_by_another",
    "done_to_another",
    "short_sentences",
    "swapped_deeds",
]


HELD = 0.75
"""Share of a clause's words that a sentence must hold to be what the claim says of another."""


# Verbs of which either side may be named first.
SYMMETRIC = frozenset(
    stem(word)
    for word in "meet marry merge border join match equal resemble face partner agree talk speak"
    " differ play share be have include cooperate collaborate fight see".split()
)


# verb -> (its family, whether its subject is the one to whom it is done)
_CONVERSE = {
    key: (family, turned)
    for family, words, others in (
        ("beat", "beat defeat", "lose"),
        ("sell", "sell", "buy acquire purchase"),
        ("lend", "lend lease rent let", "borrow"),
        ("give", "give hand send pay donate", "receive get obtain"),
        ("teach", "teach tutor", "learn study"),
        ("precede", "precede", "follow succeed replace"),
        ("lead", "lead manage supervise", "report"),
        ("own", "own control", "belong"),
        ("cause", "cause", "result"),
    )
    for turned, side in ((False, words), (True, others))
    for word in side.split()
    if (key := key_of(word))
}


def converse(one: str, other: str) -> bool:
    """Whether two verbs tell one deed from its two sides: "buy", "sell"."""
    first, second = _CONVERSE.get(one), _CONVERSE.get(other)
    return first is not None and second is not None and first[0] == second[0]


_LONGEST = 60
"""Words; what is longer is no sentence, and its parts have no roles in each other."""


def short_sentences(scene: Scene) -> Iterator[Near]:
    return (near for near in scene.near if len(near.reading.tokens) <= _LONGEST)


def swapped_deeds(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed whose doer is in the context the one to whom it is done."""
    for mine in told(scene):
        if not mine.agents or not mine.patients or mine.verb in _NO_DEEDS | _OF_ITSELF:
            continue
        if _is_no_doer(mine, scene.reading):
            continue
        against: Near | None = None
        held = False
        for near in short_sentences(scene):
            for theirs in known_deeds(scene, near):
                verb, other = _turned(mine, theirs)
                if verb is None or _untold(theirs, near) or (mine.passive and _alone(theirs, near)):
                    continue
                if other.agents & verb.agents:
                    both = scene.weight(other.patients & verb.patients)
                    enough = both >= _MOST_OF_IT * scene.weight(verb.patients)
                    held = held or enough or not other.patients
                elif _crossed(verb, other, scene) and not _is_no_doer(theirs, near.reading):
                    against = against or near
        if against is not None and not held:
            reason = "the context says it with the roles the other way round"
            return contradiction(scene, name, reason, against)
    return None


def _untold(deed: Deed, near: Near) -> bool:
    """Whether a sentence does not tell a deed of a doer before it.

    It asks, or supposes, or names the doer behind: "skin check by the coach".
    """
    if near.sentence.text.rstrip().endswith("?") or _supposed(deed, near):
        return True
    behind = near.reading.tokens[deed.at + 1 : deed.at + 2]
    return not deed.passive and bool(behind) and behind[0].lower == "by"


def _supposed(deed: Deed, near: Near) -> bool:
    """Whether a deed is one that may never happen: "if SSO is made a duty"."""
    before = near.reading.tokens[max(0, deed.start - 1) : deed.start]
    return deed.conditional and bool(before) and before[0].lower in ("if", "unless", "whether")


def _alone(deed: Deed, near: Near) -> bool:
    """Whether a preposition follows a verb, so that it is done to nothing: "bends on a stone"."""
    behind = near.reading.tokens[deed.at + 1 : deed.at + 2]
    return not deed.passive and bool(behind) and behind[0].lower in PREPOSITIONS - {"of"}


_PAIRED = frozenset(map(stem, ("marry", "meet", "merge")))


_MOST_OF_IT = 0.6
_NO_DEEDS = SYMMETRIC | {"be", "do", "cost", "store", "measur", "weigh", "equal", "last", "stay"}


_OF_ITSELF = keys_of_all(("increase", "decrease"))
"""Of what is said to "drop" by something, another may be said to cut it."""


def _turned(mine: Deed, theirs: Deed) -> tuple[Deed | None, Deed]:
    """Return two deeds with one verb, the sides of a converse one exchanged; None if not."""
    if theirs.denied != mine.denied:
        return None, theirs
    if mine.verb == theirs.verb:
        return mine, theirs
    one, two = _CONVERSE.get(mine.verb), _CONVERSE.get(theirs.verb)
    if one is None or two is None or one[0] != two[0] or one[1] == two[1]:
        return None, theirs
    return replace(mine, agents=mine.patients, patients=mine.agents), theirs


def _crossed(mine: Deed, theirs: Deed, scene: Scene) -> bool:
    agents, patients = mine.agents - mine.patients, mine.patients - mine.agents
    if not theirs.patients and not theirs.passive and mine.verb not in SYMMETRIC:
        # "Tamm testified against him": whoever is meant, it is not Tamm
        known = all(map(scene.known, agents)) and bool(_named(agents, scene))
        return known and patients == theirs.agents - theirs.patients and _to_pronoun(theirs, scene)
    if not agents & (theirs.patients - theirs.agents):
        return False
    if patients & (theirs.agents - theirs.patients):
        return True
    if not _named(agents & theirs.patients, scene):
        return False
    if _with_it(agents, theirs, scene):
        return False
    return theirs.passive and not theirs.agents and not patients & theirs.patients


def _with_it(keys: frozenset[str], deed: Deed, scene: Scene) -> bool:
    """Whether something is that with which a deed is done: "is cut with the tool Vex"."""
    return any(
        _led_by(keys, near.reading, _MEANS)
        for near in short_sentences(scene)
        if deed in known_deeds(scene, near)
    )


def _led_by(
    keys: frozenset[str], reading: Reading, words: frozenset[str], end: int | None = None
) -> bool:
    """Whether words that stand together before a place follow a small word.

    Not in "to the museum, which lent it", nor in "who in turn lent it".
    """
    tokens = reading.tokens[:end]
    last = max((n for n, token in enumerate(tokens) if token.key in keys), default=0)
    first = last
    while first and tokens[first - 1].key in keys:
        first -= 1
    if not keys <= {token.key for token in tokens[first : last + 1]}:
        return False
    if any(token.lower in RELATIVE for token in tokens[last:]) and end is not None:
        return False
    first -= bool(first and tokens[first - 1].lower in _ARTICLES)
    before = [token.lower for token in tokens[max(0, first - 2) : first]]
    return before[-1:] != [] and before[-1] in words and before[0] not in RELATIVE


def _is_no_doer(deed: Deed, reading: Reading) -> bool:
    """Whether what is read as who does it only tells how, when or where.

    "By phone" and "by May" of a passive, "the volunteers on the bus waited", "the others".
    """
    if not deed.agents:
        return False
    if deed.agents <= _STANDING_IN:
        return True
    if not deed.passive and _is_titled(deed, reading):
        return True
    if not deed.passive:
        return _led_by(deed.agents, reading, _PLACING, deed.at)
    words = [t for t in reading.tokens[deed.at :] if t.lower not in _ARTICLES]
    behind = [two for one, two in pairwise(words) if one.lower == "by"]
    if not behind:
        return False
    value = reading.values[behind[0].value] if behind[0].value >= 0 else None
    return behind[0].key in _WAYS or (value is not None and value.family in _TIMES)


_TIMES = frozenset(("date", "days", "clock"))


def _is_titled(deed: Deed, reading: Reading) -> bool:
    """Whether who does it stands before a colon: "Seat sensor: The cushion works with"."""
    last = max(
        (n for n, t in enumerate(reading.tokens[: deed.at]) if t.key in deed.agents), default=0
    )
    return any(token.lower == ":" for token in reading.tokens[last : deed.at])


_ARTICLES = frozenset("a an the its their his her our your this that".split())
_MEANS = frozenset("with using via through".split())
_PLACING = frozenset("on in at to from into onto".split())
_STANDING_IN = keys_of_all(
    "other others ourselves themselves itself yourself himself herself rest both each another"
    " late anyone anybody everyone everybody whoever those".split()
)
"""Words that stand for somebody, or for nobody, but name none."""
_CALENDAR = keys_of_all(
    (
        "january february march april may june july august september october november december"
        " monday tuesday wednesday thursday friday saturday sunday"
    ).split()
)
"""Days and months, which the rules of dates compare."""
_WAYS = _CALENDAR | keys_of_all(
    (
        "phone telephone post mail email e-mail letter card cash transfer bus train car boat hand"
        " appointment text message fax app request default law chance mistake accident nature"
        " design end beginning start middle tomorrow noon midnight"
    ).split()
)


def _to_pronoun(deed: Deed, scene: Scene) -> bool:
    """Whether a deed is done to "him", "her" or "them"."""
    return any(
        token.lower in _OBJECTS
        for near in short_sentences(scene)
        if deed in known_deeds(scene, near)
        for token in near.reading.tokens[deed.at : deed.end]
    )


_OBJECTS = frozenset("him her them".split())


def done_by_another(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context tells of another, whom it tells apart from the claim's."""
    for mine in told(scene):
        if not mine.agents or mine.denied or mine.verb in _NO_DEEDS - _PAIRED or not mine.patients:
            continue
        if _is_no_doer(mine, scene.reading):
            continue
        if not all(map(scene.known, mine.agents)):
            continue
        against: Near | None = None
        said = False
        for near in short_sentences(scene):
            for theirs in known_deeds(scene, near):
                if theirs.verb != mine.verb or theirs.denied or _untold(theirs, near):
                    continue
                held = mine.patients & theirs.patients
                enough = scene.weight(held) >= HELD * scene.weight(mine.patients)
                if mine.verb in SYMMETRIC and theirs.sides & mine.agents:
                    said = True
                if theirs.agents & mine.agents:
                    said = said or bool(held) or not theirs.patients
                elif (
                    theirs.agents
                    and enough
                    and _other(mine, theirs, scene)
                    and not _behind_report(theirs, near.reading)
                    and not _is_any(theirs, near.reading)
                    and not _may_be_meant(mine, theirs, near.reading)
                    and not _is_no_doer(theirs, near.reading)
                ):
                    against = against or near
        if against is not None and not said:
            written = against.sentence.text[:80]
            return contradiction(
                scene, name, f"the context says it of another: {written!r}", against
            )
    return None


def _is_any(deed: Deed, reading: Reading) -> bool:
    """Whether all of a kind do it, of which the claim's may be one: "both teams"."""
    inside = range(deed.start, deed.end)
    first = min((n for n in inside if reading.tokens[n].key in deed.agents), default=0)
    return any(token.lower in EACH for token in reading.tokens[max(0, first - 2) : first])


def _may_be_meant(mine: Deed, theirs: Deed, reading: Reading) -> bool:
    """Whether "which" may as well mean the claim's doer: "works between A and B, which end"."""
    before = reading.tokens[: theirs.at]
    relative = max((n for n, token in enumerate(before) if token.lower in RELATIVE), default=0)
    if not mine.agents <= {token.key for token in before[:relative]}:
        return False
    last = max(n for n, token in enumerate(before[:relative]) if token.key in mine.agents)
    return before[last + 1].lower in PREPOSITIONS


def _behind_report(deed: Deed, reading: Reading) -> bool:
    """Whether who does it may stand before "that": "it held that he had agreed, and refused"."""
    words = [token.lower for token in reading.tokens[: deed.at]]
    return words[-2:] == [",", "and"] and "that" in words


def _other(mine: Deed, theirs: Deed, scene: Scene) -> bool:
    """Whether two deeds are done by two whom the context tells apart."""
    if theirs.only:
        return True
    if mine.guessed or theirs.guessed or max(len(mine.agents), len(theirs.agents)) > _LONGEST_NAME:
        return False
    return _apart(mine.agents, theirs.agents, scene)


_LONGEST_NAME = 4


def _apart(one: frozenset[str], other: frozenset[str], scene: Scene) -> bool:
    """Whether the context tells two apart.

    It names both in one sentence and not as one, or lets each do something in another.
    """
    acts = False
    for near in scene.near:
        reading = near.reading
        # "Senator Vale, and Senator Ostrow"
        words = [t.key for t in reading.tokens]
        other = frozenset(k for k in other if words.count(k) < 2) or other
        if one <= reading.keys and other <= reading.keys:
            return not _same_noun(one, other, reading)
        acts = acts or any(one <= deed.agents for deed in known_deeds(scene, near))
    named = [any(map(scene.pages.proper, side)) for side in (one, other)]
    return acts and named[0] == named[1] and not _kin(one, other)


def _kin(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two share the beginning of a word: "walkers", "people walking"."""
    return any(a[:_STEM] == b[:_STEM] for a in one for b in other if len(a) >= _STEM)


_STEM = 4


def done_to_another(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context tells of the same doer, but done to another name."""
    for mine in told(scene):
        if mine.denied or mine.verb in _NO_DEEDS or not mine.sides:
            continue
        against: Near | None = None
        said = False
        for near in short_sentences(scene):
            for theirs in known_deeds(scene, near):
                if base_of(theirs.word) != base_of(mine.word) or theirs.denied:
                    continue
                if _untold(theirs, near):
                    continue
                wanted = _named(mine.patients, scene) - _CALENDAR
                said = said or bool(wanted & near.reading.keys)
                others = _named(theirs.patients, scene) - scene.reading.keys - _CALENDAR
                if theirs.patients <= _STANDING_IN:
                    continue
                if not wanted and _instead(mine, theirs, scene):
                    against = against or near
                    continue
                rest = (mine.sides - wanted) & theirs.sides
                alike = rest and (not mine.agents or mine.agents & theirs.sides)
                if theirs.pronoun or not (wanted and others and alike):
                    continue
                if all(map(scene.known, wanted)):
                    against = against or near
        if against is not None and not said:
            written = against.sentence.text[:80]
            return contradiction(scene, name, f"the context names another: {written!r}", against)
    return None


def _instead(mine: Deed, theirs: Deed, scene: Scene) -> bool:
    """Whether one doer does it to another thing than the claim says, told apart from it."""
    one, other = mine.patients - theirs.patients, theirs.patients - mine.patients
    alike = mine.agents and mine.agents == theirs.agents and mine.modal == theirs.modal
    few = max(len(mine.patients), len(theirs.patients)) <= _FEW_WORDS
    if not (one and other and alike and few) or mine.passive or theirs.passive:
        return False
    if mine.guessed or theirs.guessed or not all(map(scene.known, one)):
        return False
    return any(one <= n.reading.keys and other <= n.reading.keys for n in scene.near) and not any(
        deed.verb == mine.verb and one & deed.sides
        for near in scene.near
        for deed in known_deeds(scene, near)
        if mine.agents & deed.sides
    )


_FEW_WORDS = 3


def _named(keys: frozenset[str], scene: Scene) -> frozenset[str]:
    return frozenset(key for key in keys if " " not in key and scene.pages.proper(key))


def _same_noun(one: frozenset[str], other: frozenset[str], reading: Reading) -> bool:
    """Whether two stand side by side, as a name and what it is: "the dietician, Petra Lamm"."""
    last = ""
    for token in reading.tokens:
        side = "1" if token.key in one else "2" if token.key in other else ""
        if side and last and side != last:
            return True
        if token.key or token.value >= 0 or token.lower not in _BESIDE or side:
            last = side
    return False


_BESIDE = frozenset("the a an , ( of 's is was called named known as like such including".split())
