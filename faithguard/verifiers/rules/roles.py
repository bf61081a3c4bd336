"""Roles: who did what to whom, whose attribute it is, and who was never named.

In: a claim and its context. Out: a veto where the context says it with agent and patient the other
way round, where it says it of another name and of this one something else, or where a person or
firm stands in a slot and nowhere in the context; else silence. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._terms import stem
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._reading import Clause, Reading, Token, key_of
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of, unmentioned
from faithguard.verifiers.rules._titles import another_title
from faithguard.verifiers.rules._told import known_deeds, told
from faithguard.verifiers.rules._verbs import base_of

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


class Roles(Family):
    """Veto a claim that swaps who did what, or names somebody that the context does not."""

    name = "roles@2"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where roles agree or are not clear."""
        scene = scene_of(claim, context)
        if not scene.near:
            return None
        deed = (
            _swapped_deeds(scene, self.name)
            or _done_by_another(scene, self.name)
            or _done_to_another(scene, self.name)
            or another_title(scene, self.name)
        )
        if deed is not None or not scene.reading.names or _NEGATED & _lowers(scene.reading):
            return deed
        another = None if _capitals(scene) else _of_another(scene, self.name)
        return another or _never_named(scene, self.name)


def _capitals(scene: Scene) -> bool:
    """Whether nouns have capitals too, so that a capital tells no name."""
    return language(scene.reading.text) == "de"


_NEGATED = frozenset("not no never n't cannot neither nor".split())
_LONGEST = 60
"""Words; what is longer is no sentence, and its parts have no roles in each other."""


def _lowers(reading: Reading) -> frozenset[str]:
    return frozenset(token.lower for token in reading.tokens)


def _plain(scene: Scene) -> Iterator[Near]:
    return (near for near in scene.near if len(near.reading.tokens) <= _LONGEST)


# -- agent and patient ------------------------------------------------------------------------


def _swapped_deeds(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed whose doer is in the context the one to whom it is done."""
    for mine in told(scene):
        if not mine.agents or not mine.patients or mine.verb in _NO_DEEDS:
            continue
        against: Near | None = None
        held = False
        for near in _plain(scene):
            for theirs in known_deeds(scene, near):
                verb, other = _turned(mine, theirs)
                if verb is None:
                    continue
                if other.agents & verb.agents:
                    both = scene.weight(other.patients & verb.patients)
                    enough = both >= _MOST_OF_IT * scene.weight(verb.patients)
                    held = held or enough or not other.patients
                elif _crossed(verb, other, scene):
                    against = against or near
        if against is not None and not held:
            reason = "the context says it with the roles the other way round"
            return contradiction(scene, name, reason, against)
    return None


_PAIRED = frozenset(map(stem, ("marry", "meet", "merge")))
_MOST_OF_IT = 0.6
_NO_DEEDS = _SYMMETRIC | {"be", "do", "cost", "store", "measur", "weigh", "equal", "last"}


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
    if not theirs.patients and not theirs.passive and mine.verb not in _SYMMETRIC:
        # "Tamm testified against him": whoever is meant, it is not Tamm
        known = all(map(scene.known, agents)) and bool(_named(agents, scene))
        return known and patients == theirs.agents - theirs.patients and _to_pronoun(theirs, scene)
    if not agents & (theirs.patients - theirs.agents):
        return False
    if patients & (theirs.agents - theirs.patients):
        return True
    if not _named(agents & theirs.patients, scene):
        return False
    return theirs.passive and not theirs.agents and not patients & theirs.patients


def _to_pronoun(deed: Deed, scene: Scene) -> bool:
    """Whether a deed is done to "him", "her" or "them"."""
    return any(
        token.lower in _OBJECTS
        for near in _plain(scene)
        if deed in known_deeds(scene, near)
        for token in near.reading.tokens[deed.at : deed.end]
    )


_OBJECTS = frozenset("him her them".split())


def _done_by_another(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context tells of another, whom it tells apart from the claim's."""
    for mine in told(scene):
        if not mine.agents or mine.denied or mine.verb in _NO_DEEDS - _PAIRED or not mine.patients:
            continue
        if not all(map(scene.known, mine.agents)):
            continue
        against: Near | None = None
        said = False
        for near in _plain(scene):
            for theirs in known_deeds(scene, near):
                if theirs.verb != mine.verb or theirs.denied:
                    continue
                held = mine.patients & theirs.patients
                enough = scene.weight(held) >= _HELD * scene.weight(mine.patients)
                if mine.verb in _SYMMETRIC and theirs.sides & mine.agents:
                    said = True
                if theirs.agents & mine.agents:
                    said = said or bool(held)
                elif theirs.agents and enough and _other(mine, theirs, scene):
                    against = against or near
        if against is not None and not said:
            written = against.sentence.text[:80]
            return contradiction(
                scene, name, f"the context says it of another: {written!r}", against
            )
    return None


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
    return acts and named[0] == named[1]


def _done_to_another(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context tells of the same doer, but done to another name."""
    for mine in told(scene):
        if mine.denied or mine.verb in _NO_DEEDS or not mine.sides:
            continue
        against: Near | None = None
        said = False
        for near in _plain(scene):
            for theirs in known_deeds(scene, near):
                if base_of(theirs.word) != base_of(mine.word) or theirs.denied:
                    continue
                wanted = _named(mine.patients, scene)
                said = said or bool(wanted & near.reading.keys)
                others = _named(theirs.patients, scene) - scene.reading.keys
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


_BESIDE = frozenset("the a an , ( of 's is was called named known as".split())


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


# -- said of another --------------------------------------------------------------------------


def _of_another(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says of another name, and not of the one that the claim gives."""
    for clause in scene.reading.clauses:
        for subject in _subjects(scene, clause):
            rest = _rest(scene.reading, clause) - subject
            if len(rest) + len(clause.values) < _FEWEST or clause.ids:
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
        if subject & near.reading.keys:  # which of its clauses is of whom is not sure
            own, named = (
                max(own, _share(scene, clause, rest, near.reading, near.reading.keys)),
                True,
            )
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
    """Veto a person, firm or place that stands nowhere in what says the rest."""
    asked = set(re.findall(r"\w+", (scene.context.question or "").lower()))
    known = [r for r in scene.reading.names if all(map(scene.known, _keys(scene.reading, r)))]
    if not scene.near or scene.near[0].share < _HELD - 0.25:
        return None
    opens = bool(known) and known[0] == scene.reading.names[0]
    for first, last in scene.reading.names:
        tokens = [t for t in scene.reading.tokens[first:last] if t.lower not in _TITLES]
        if not tokens or first == 0 or scene.reading.tokens[first - 1].lower in _OPENERS:
            continue
        if any(t.lower in asked or _in_context(t.lower, scene) for t in tokens):
            continue
        if len(tokens) < 2 and not _lone_name(tokens[0], scene):
            continue
        if len(tokens) > 1 and not opens:
            continue
        written = scene.reading.text[tokens[0].start : tokens[-1].end]
        return unmentioned(scene, name, f"the context nowhere names {written!r}")
    return None


_OPENERS = frozenset(".!?:;|\"'“‘«(")
_SHORTEST_NAME = 5
_STEM = 4
"""Letters that a name shares with what is made of it: "France", "French"."""


def _in_context(word: str, scene: Scene) -> bool:
    return any(word in text for text in scene.pages.squeezed)


def _lone_name(token: Token, scene: Scene) -> bool:
    """Whether a single word is a name that nothing in the context can stand for."""
    word = token.lower
    if len(word) < _SHORTEST_NAME or not word.isalpha() or token.value >= 0 or _capitals(scene):
        return False
    if token.key is None or scene.reading.text[token.start : token.end].isupper():
        return False
    if word.endswith(_OF_PEOPLES) or scene.near[0].share < _HELD - 0.15:
        return False
    return not any(word[:_STEM] in text for text in scene.pages.squeezed)


_OF_PEOPLES = ("ish", "ese", "ian", "ean", "can", "ench", "utch", "ans")
