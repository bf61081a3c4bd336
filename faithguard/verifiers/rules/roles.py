"""Roles: who did what to whom, whose attribute it is, and who was never named.

In: a claim and its context. Out: a veto where the context says it with agent and patient the other
way round, where it says it of another name and of this one something else, or where a person or
firm stands in a slot and nowhere in the context; else silence. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._terms import stem
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._reading import Clause, Reading
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of, unmentioned

__all__ = ["Roles"]

_HELD = 0.75
"""Share of a clause's words that a sentence must hold to be what the claim says of another."""
_FEWEST = 2
"""Words and values that a clause must say of a name."""
_NOT_HELD = 0.55
"""Share from which the sentences of the name itself say enough of it."""

# Verbs of which either side may be named first.
_SYMMETRIC = frozenset(
    stem(word)
    for word in "meet marry merge border join match equal resemble face partner agree talk speak"
    " differ play share be have include cooperate collaborate".split()
)
# verb -> (its family, whether its subject is the one to whom it is done)
_CONVERSE = {
    stem(word): (family, turned)
    for family, words, others in (
        ("beat", "beat beats defeat defeats defeated", "lose loses lost"),
        ("sell", "sell sells sold", "buy buys bought acquire acquires acquired purchase purchased"),
        ("lend", "lend lends lent", "borrow borrows borrowed"),
        ("give", "give gives gave hand hands handed", "receive receives received"),
        ("employ", "employ employs employed", "work works worked"),
        ("teach", "teach teaches taught", "learn learns learned"),
        ("precede", "precede precedes preceded", "follow follows followed succeed succeeded"),
    )
    for turned, side in ((False, words), (True, others))
    for word in side.split()
}
_BE = frozenset("is are was were been being be gets got".split())


class Roles(Family):
    """Veto a claim that swaps who did what, or names somebody that the context does not."""

    name = "roles@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where roles agree or are not clear."""
        scene = scene_of(claim, context)
        if not scene.reading.names or not scene.near or _NEGATED & _lowers(scene.reading):
            return None
        return (
            _reversed(scene, self.name)
            or _of_another(scene, self.name)
            or _never_named(scene, self.name)
        )


_NEGATED = frozenset("not no never n't cannot neither nor".split())
_LONGEST = 60
"""Words; what is longer is no sentence, and its parts have no roles in each other."""


def _lowers(reading: Reading) -> frozenset[str]:
    return frozenset(token.lower for token in reading.tokens)


def _plain(scene: Scene) -> Iterator[Near]:
    return (near for near in scene.near if len(near.reading.tokens) <= _LONGEST)


# -- agent and patient ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Deed:
    """A verb with what stands on its two sides, agent first."""

    verb: str
    agents: frozenset[str]
    patients: frozenset[str]


def _deeds(reading: Reading, scene: Scene) -> Iterator[_Deed]:
    """Yield the first content word after a name, as its deed, with the name that comes next."""
    names = list(_proper(reading, scene))
    for place, run in enumerate(names):
        number = next(
            (n for n in range(run[1], min(run[1] + _NEAR_BEFORE, len(reading.tokens)))
             if reading.tokens[n].key), None,
        )  # fmt: skip
        token = reading.tokens[number] if number is not None else None
        if number is None or token is None or token.key is None or token.key in _SYMMETRIC:
            continue
        if (
            token.capital
            or token.value >= 0
            or not _is_verb(token.lower, reading.tokens[number - 1].lower)
        ):
            continue
        following = names[place + 1] if place + 1 < len(names) else None
        if following is None or following[0] > number + _NEAR_AFTER:
            following = None
        between = reading.tokens[run[1] : following[0] if following else number]
        if any(t.lower in _BREAKS for t in between):
            continue
        family, turned = _CONVERSE.get(stem(token.lower), (token.key, False))
        passive = any(t.lower in _BE for t in between) and any(t.lower == "by" for t in between)
        sides = _keys(reading, run), _keys(reading, following) if following else frozenset[str]()
        agents, patients = sides if passive == turned else sides[::-1]
        if not agents & patients:
            yield _Deed(family, agents, patients)


_NEAR_BEFORE, _NEAR_AFTER = 3, 5
"""Words between a name and its verb."""
_BREAKS = frozenset(",;:.|()") | frozenset("and but or while whereas that which who".split())


def _keys(reading: Reading, run: tuple[int, int]) -> frozenset[str]:
    return frozenset(t.key for t in reading.tokens[run[0] : run[1]] if t.key)


def _proper(reading: Reading, scene: Scene) -> Iterator[tuple[int, int]]:
    """Yield names; the capital of a first word tells nothing unless it is a name elsewhere."""
    for first, last in reading.names:
        opens = first == 0 or reading.tokens[first - 1].lower in ".!?:|"
        word = reading.tokens[first]
        if (
            not opens
            or last - first > 1
            or (word.key is not None and scene.pages.proper(word.key))
            or word.key in scene.proper
            or (
                not scene.pages.in_lower_case(word)
                and not word.lower.endswith(("s", "ed", "ing", "ly", "er", "or"))
                and len(word.lower) > _SHORTEST
            )
        ):
            yield first, last


_SHORTEST = 3


def _reversed(scene: Scene, name: str) -> Verdict | None:
    mine = list(_deeds(scene.reading, scene))
    for near in _plain(scene) if mine else ():
        theirs = list(_deeds(near.reading, scene))
        for deed in mine:
            same = [other for other in theirs if other.verb == deed.verb]
            fits = any(
                deed.agents & other.agents and deed.patients & other.patients for other in same
            )
            swapped = any(_swapped(deed, other) for other in same)
            if swapped and not fits:
                reason = "the context says it with the roles the other way round"
                return contradiction(scene, name, reason, near)
    return None


_PAST = frozenset(
    "beat won lost sold bought built wrote led sent gave took taught lent met found left drew made"
    " held paid ran saw sang threw told won knew drove cut hit bore chose hired sue".split()
)


def _is_verb(word: str, before: str) -> bool:
    """Whether a word has the form of a finite verb, a participle or an infinitive."""
    return word.endswith(("ed", "s")) or word in _PAST or before in ("to", "will", "must", "may")


def _swapped(mine: _Deed, theirs: _Deed) -> bool:
    """Whether the agent of one is the patient of the other, as far as both are named."""
    if mine.agents & theirs.agents or mine.patients & theirs.patients:
        return False
    if theirs.agents and theirs.patients:
        return bool(mine.agents & theirs.patients and mine.patients & theirs.agents)
    return bool(mine.patients & theirs.agents or mine.agents & theirs.patients)


# -- said of another --------------------------------------------------------------------------


def _of_another(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says of another name, and not of the one that the claim gives."""
    for clause in scene.reading.clauses:
        for subject in _subjects(scene, clause):
            rest = _rest(scene.reading, clause) - subject
            if len(rest) + len(clause.values) < _FEWEST:
                continue
            found = _holder(scene, clause, rest, subject)
            if found is not None:
                reason = "the context says it of another: " + repr(found.sentence.text[:80])
                return contradiction(scene, name, reason, found)
    return None


def _rest(reading: Reading, clause: Clause) -> frozenset[str]:
    """Return what a clause says of its name: in the passive, what stands before "by"."""
    words = reading.words(clause)
    by = next((n for n, token in enumerate(words) if token.lower == "by"), len(words))
    return frozenset(token.key for token in words[:by] if token.key)


def _subjects(scene: Scene, clause: Clause) -> Iterator[frozenset[str]]:
    """Yield the name that opens a clause, or else the sentence, if the context knows it."""
    reading = scene.reading
    runs = [run for run in _proper(reading, scene) if clause.first <= run[0] < clause.last]
    opening = [run for run in runs if run[0] - clause.first <= _OPENING]
    opening += [
        run
        for run in runs
        if any(t.lower == "by" for t in reading.tokens[max(0, run[0] - 2) : run[0]])
    ]
    if not runs:
        opening = [run for run in _proper(reading, scene) if run[0] <= _OPENING][:1]
    for run in opening[:1]:
        keys = _keys(reading, run)
        if keys and all(scene.known(key) for key in keys):
            # "Hotel" of "Hotel Alba" and "Hotel Miro" tells neither
            yield frozenset(k for k in keys if len(scene.pages.partners(k)) < 2) or keys


_OPENING = 2
"""Words before a name that still opens a sentence."""


def _holder(
    scene: Scene, clause: Clause, rest: frozenset[str], subject: frozenset[str]
) -> Near | None:
    """Return the sentence that says the rest of another name."""
    own, best, named = 0.0, None, False
    passive = any(token.lower == "by" for token in scene.reading.words(clause))
    for near in _plain(scene):
        for keys, owner in _owned(near, scene):
            share = _share(scene, clause, rest, near.reading, keys)
            if subject & (keys | owner):
                own, named = max(own, share), True
            elif share >= _HELD and best is None and _other_name(near.reading, scene, passive):
                best = near
    return best if best is not None and named and own < _NOT_HELD else None


def _owned(near: Near, scene: Scene) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the clauses of a sentence, and the sentence, with the name that they speak of.

    A clause without a name of its own speaks of the one before.
    """
    reading = near.reading
    names = list(_proper(reading, scene))
    inherited = scene.pages.inherited(near.number)
    owners: set[frozenset[str]] = set()
    owner = inherited
    for clause in reading.clauses:
        opening = [run for run in names if _opens(reading, clause, run)]
        owner = _keys(reading, opening[0]) if opening else owner
        owners.add(owner)
        yield clause.keys | owner, owner
    if len(owners) < 2:
        yield reading.keys | inherited, owner


def _opens(reading: Reading, clause: Clause, run: tuple[int, int]) -> bool:
    """Whether a clause begins with a name, or with an article or preposition before it."""
    before = reading.tokens[clause.first : run[0]]
    return (
        clause.first <= run[0] < clause.last
        and len(before) <= _OPENING
        and all(token.lower in _BEFORE_NAMES for token in before)
    )


_BEFORE_NAMES = frozenset("the a an at in on for of by from with to and but".split())


def _share(
    scene: Scene, clause: Clause, rest: frozenset[str], reading: Reading, keys: frozenset[str]
) -> float:
    values = [scene.reading.values[n] for n in clause.values]
    held = sum(any(v.agrees(other) for other in reading.values) for v in values)
    return (len(rest & keys) + held) / (len(rest) + len(values))


def _other_name(reading: Reading, scene: Scene, anywhere: bool) -> bool:
    """Whether a sentence opens with, or has anywhere, a name that the claim has not."""
    return any(
        (anywhere or first <= _OPENING) and not _keys(reading, (first, last)) <= scene.reading.keys
        for first, last in _proper(reading, scene)
    )


# -- never named ------------------------------------------------------------------------------

_TITLES = frozenset("mr mrs ms dr prof sir dame the".split())


def _never_named(scene: Scene, name: str) -> Verdict | None:
    """Veto a person or firm of two words or more that stands nowhere."""
    asked = set(re.findall(r"\w+", (scene.context.question or "").lower()))
    passages = scene.pages.squeezed
    known = [r for r in scene.reading.names if all(map(scene.known, _keys(scene.reading, r)))]
    if not known or known[0] != scene.reading.names[0] or scene.near[0].share < _HELD - 0.25:
        return None
    for first, last in scene.reading.names:
        tokens = [t for t in scene.reading.tokens[first:last] if t.lower not in _TITLES]
        if len(tokens) < 2 or first == 0:
            continue
        if any(t.lower in asked or any(t.lower in text for text in passages) for t in tokens):
            continue
        written = scene.reading.text[tokens[0].start : tokens[-1].end]
        return unmentioned(scene, name, f"the context nowhere names {written!r}")
    return None
