"""Roles: who did what to whom, whose attribute it is, and who was never named.

In: a claim and its context. Out: a veto where the context says it with agent and patient the other
way round, where it says it of another name and of this one something else, or where a person or
firm stands in a slot and nowhere in the context; else silence. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._bound import bound_to_another
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._neighbours import said_of_neighbour
from faithguard.verifiers.rules._reading import Clause, Reading, Token
from faithguard.verifiers.rules._replaced import replaced
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of, unmentioned
from faithguard.verifiers.rules._swaps import (
    HELD,
    done_by_another,
    done_to_another,
    short_sentences,
    swapped_deeds,
)
from faithguard.verifiers.rules._titles import another_title

__all__ = ["Roles"]


_FEWEST = 2
"""Words and values that a clause must say of a name."""
_NOT_HELD = 0.55
"""Share from which the sentences of the name itself say enough of it."""


class Roles(Family):
    """Veto a claim that swaps who did what, or names somebody that the context does not."""

    name = "roles@6"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where roles agree or are not clear."""
        scene = scene_of(claim, context)
        if not scene.near:
            return None
        deed = (
            swapped_deeds(scene, self.name)
            or done_by_another(scene, self.name)
            or done_to_another(scene, self.name)
            or bound_to_another(scene, self.name)
            or said_of_neighbour(scene, self.name)
            or replaced(scene, self.name)
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


def _lowers(reading: Reading) -> frozenset[str]:
    return frozenset(token.lower for token in reading.tokens)


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


def _of_another(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says of another name, and not of the one that the claim gives."""
    for clause in scene.reading.clauses:
        for subject in _subjects(scene, clause):
            rest = _rest(scene.reading, clause) - subject
            if (
                len(rest) + len(clause.values) < _FEWEST
                or clause.ids
                or _in_brackets(scene, clause)
            ):
                continue
            found = _holder(scene, clause, rest, subject)
            if found is not None:
                reason = "the context says it of another: " + repr(found.sentence.text[:80])
                return contradiction(scene, name, reason, found)
    return None


def _in_brackets(scene: Scene, clause: Clause) -> bool:
    """Whether a clause stands in brackets: it tells of the word before it."""
    before = scene.reading.tokens[max(0, clause.first - 1) : clause.first + 1]
    return any(token.lower == "(" for token in before)


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
    if not runs and all(token.lower not in ";:" for token in reading.tokens[: clause.first]):
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
    for near in short_sentences(scene):
        if _is_spoken(near.reading) or not _I.isdisjoint(_lowers(near.reading)):
            continue
        if subject & near.reading.keys:  # which of its clauses is of whom is not sure
            keys = near.reading.keys | _meant_by_it(scene, near)
            own, named = max(own, _share(scene, clause, rest, near.reading, keys)), True
        for keys, owner in _owned(near, scene):
            share = _share(scene, clause, rest, near.reading, keys)
            if subject & (keys | owner):
                own, named = max(own, share), True
            elif share >= HELD and best is None and _other_name(near.reading, scene, passive):
                best = near
    return best if best is not None and named and own < _NOT_HELD else None


_I = frozenset(("i", "my", "me"))
"""Whoever says it: "I bought it from you"."""


def _is_spoken(reading: Reading) -> bool:
    """Whether a name and a colon open a sentence: who says it is not who does it."""
    first, last = reading.names[0] if reading.names else (-1, 0)
    return first == 0 and [t.lower for t in reading.tokens[last : last + 1]] == [":"]


def _meant_by_it(scene: Scene, near: Near) -> frozenset[str]:
    """Return the words of the sentence before, where one ends in "it": "Lind has chaired it"."""
    words = [t.lower for t in near.reading.tokens[-_LAST:] if t.lower.isalnum()]
    before = near.number - 1
    if before < 0 or scene.pages.sentences[before].passage != near.sentence.passage:
        return frozenset()
    return scene.all[before].keys if words[-1:] and words[-1] in _STAND_INS else frozenset()


_LAST = 2
_STAND_INS = frozenset("it them him her".split())


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


_TITLES = frozenset("mr mrs ms dr prof sir dame the".split())


def _never_named(scene: Scene, name: str) -> Verdict | None:
    """Veto a person, firm or place that stands nowhere in what says the rest."""
    asked = set(re.findall(r"\w+", (scene.context.question or "").lower()))
    known = [r for r in scene.reading.names if all(map(scene.known, _keys(scene.reading, r)))]
    if not scene.near or scene.near[0].share < HELD - 0.25:
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
    if word.endswith(_OF_PEOPLES) or scene.near[0].share < HELD - 0.15:
        return False
    return not any(word[:_STEM] in text for text in scene.pages.squeezed)


_OF_PEOPLES = ("ish", "ese", "ian", "ean", "can", "ench", "utch", "ans")
