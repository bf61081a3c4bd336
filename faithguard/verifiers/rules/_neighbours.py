"""What the context says of one thing, given to the one that it names beside it.

In: a scene. Out: a veto where a sentence says the claim's predicate of another subject ("Wi-Fi is
free; parking costs 12 euros", and the claim "Parking is free"), and has a predicate of its own for
the claim's subject, in that sentence or the one beside it; else None. It is silent where any
sentence of the context has the claim's subject with its verb, or may mean both subjects. English.
"""

from __future__ import annotations

import re

from faithguard.types import Verdict
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._reading import Clause
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._told import known_deeds, told, values_of

__all__ = ["said_of_neighbour"]

_OF_BOTH = re.compile(
    r"\b(?:so|as|too|also|likewise|same|both|either|neither|nor|everything|everyone|anyone|similarly"
    r"|respectively|appl(?:y|ies)|than|like|unlike|others?|another|rest|including|together|whether"
    r"|what|which|who|whose|where|then|since|until|now|later|succe\w+|replac\w+)\b",
    re.I,
)
"""What may let a predicate hold of two subjects."""
_OF_ALL = frozenset("all every each any whatever whoever".split())
_POINTING = frozenset("the this that these those its their his her".split())
_LIGHT = frozenset(
    "be have do get make take go come mean say see use need want allow permit".split()
)
"""Verbs that tell nothing without what stands behind them."""
_SAID = 0.85
"""Share of what the claim says behind its verb that the other sentence must say."""


def said_of_neighbour(scene: Scene, name: str) -> Verdict | None:
    """Veto what is said of the subject beside the claim's own."""
    for mine in told(scene):
        if mine.pronoun or mine.conditional or mine.guessed or not mine.subject:
            continue
        if mine.verb in _LIGHT and not mine.sides - mine.subject:
            continue
        found = _of_another(scene, mine)
        if found is not None:
            reason = "the context says it of another: " + repr(found.sentence.text[:80])
            return contradiction(scene, name, reason, found)
    return None


def _of_another(scene: Scene, mine: Deed) -> Near | None:
    """Return the sentence that says it of a neighbour, if none says it of the subject itself."""
    against: Near | None = None
    for near in scene.near:
        deeds = known_deeds(scene, near)
        own = [deed for deed in deeds if deed.subject == mine.subject]
        said = any(
            _says(mine, deed, near, scene)
            # "Orla is a wiki for clubs, made by": of which of the two is not sure
            and not any(deed.subject & (one.sides - one.subject) for one in own)
            for deed in deeds
        )
        if mine.subject <= near.reading.keys:
            if not _goes_elsewhere(mine, near, deeds, scene):
                return None  # which of its parts is of whom is not sure
            against = against or (near if said else None)
        elif said and against is None:
            beside = (near.number - 1, near.number + 1)
            if any(_is_neighbour(scene, number, near, mine) for number in beside):
                against = near
    return against


def _says(mine: Deed, theirs: Deed, near: Near, scene: Scene) -> bool:
    """Whether a deed has the predicate of the claim and a subject of its own."""
    if theirs.verb != mine.verb or theirs.passive != mine.passive or theirs.pronoun:
        return False
    if theirs.denied != mine.denied:
        return False
    if theirs.conditional or not _apart(mine, theirs) or _OF_BOTH.search(near.reading.text):
        return False
    if _is_carried_far(theirs, near) or _may_be_the_same(mine, theirs, near, scene):
        return False
    before = near.reading.tokens[theirs.start : theirs.at]
    if any(token.lower in _OF_ALL for token in before) or not _covers(mine, theirs, scene):
        return False
    values = values_of(scene.reading, mine)
    others = values_of(near.reading, theirs)
    return all(any(value.agrees(other) for other in others) for value in values)


def _is_carried_far(deed: Deed, near: Near) -> bool:
    """Whether a subject is carried over a comma: "a man in a hat and vest stands, and speaks"."""
    before = [token.lower for token in near.reading.tokens[max(0, deed.start - 2) : deed.at]]
    return deed.guessed and "," in before


def _may_be_the_same(mine: Deed, theirs: Deed, near: Near, scene: Scene) -> bool:
    """Whether a noun with "the" may stand for the name that the claim gives."""
    before = near.reading.tokens[max(0, theirs.start - 1) : theirs.at]
    return (
        all(map(scene.pages.proper, mine.subject))
        and not any(map(scene.pages.proper, theirs.subject))
        and any(token.lower in _POINTING for token in before)
    )


def _covers(mine: Deed, theirs: Deed, scene: Scene) -> bool:
    """Whether a deed has what the claim says behind its verb."""
    wanted = mine.sides - mine.subject
    held = wanted & (theirs.sides - theirs.subject)
    return scene.weight(held) >= _SAID * scene.weight(wanted)


def _apart(mine: Deed, theirs: Deed) -> bool:
    """Whether each of two subjects has a word that nothing in the other deed holds.

    What a thing has, a part of it may have; not so two of a kind.
    """
    if mine.verb == "have" and not mine.subject & theirs.subject:
        return False
    return bool(mine.subject - theirs.sides) and bool(theirs.subject - mine.sides)


def _goes_elsewhere(mine: Deed, near: Near, deeds: tuple[Deed, ...], scene: Scene) -> bool:
    """Whether a sentence has another predicate for the claim's subject, and never its own."""
    own = [deed for deed in deeds if mine.subject <= deed.subject]
    if any(deed.verb == mine.verb and _covers(mine, deed, scene) for deed in own):
        return False
    return any(deed.subject == mine.subject and _tells(deed) for deed in own) or (
        not own and _is_cut(mine, near, deeds)
    )


def _tells(deed: Deed) -> bool:
    """Whether a deed is one of its own: not "Ms Rask has.", nor "tyres are part of it"."""
    if deed.verb in ("be", "part"):
        return False
    return deed.verb not in _LIGHT or bool(deed.sides - deed.subject)


def _is_cut(mine: Deed, near: Near, deeds: tuple[Deed, ...]) -> bool:
    """Whether a clause without a verb is of the subject: "checked bags only in Flex"."""
    heads = {deed.at for deed in deeds}
    return any(
        mine.subject <= clause.keys
        and not heads & set(range(clause.first, clause.last))
        and _first_key(near, clause) in mine.subject
        for clause in near.reading.clauses
    )


def _first_key(near: Near, clause: Clause) -> str | None:
    return next((token.key for token in near.reading.words(clause) if token.key), None)


def _is_neighbour(scene: Scene, number: int, near: Near, mine: Deed) -> bool:
    """Whether the sentence beside another, of the same passage, is of the claim's subject."""
    if not 0 <= number < len(scene.pages.sentences):
        return False
    if scene.pages.sentences[number].passage != near.sentence.passage:
        return False
    beside = scene.at(number)
    if _OF_BOTH.search(beside.reading.text):
        return False
    return _goes_elsewhere(mine, beside, known_deeds(scene, beside), scene)
