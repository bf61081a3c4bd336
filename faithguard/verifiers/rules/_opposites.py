"""Opposite words in one place: open and closed.

In: a scene. Out: a veto where the context has the opposite of a word of the claim; else None.
"""

from __future__ import annotations

from collections.abc import Set

from faithguard.types import Verdict
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._comparatives import compared_alike, than_after
from faithguard.verifiers.rules._exceptions import is_excepted
from faithguard.verifiers.rules._parts import CLOSE, Part, known_parts, parts_of
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["opposite_said"]


def opposite_said(scene: Scene, name: str) -> Verdict | None:
    """Veto where the opposite of a word stands in its place."""
    against = {other for token in scene.reading.tokens for other in opposite(token.lower)}
    left = [
        near
        for near in scene.near
        if not against.isdisjoint(_places(near, scene))
        and not (is_excepted(scene, near) or compared_alike(scene, near))
    ]
    own = {token.lower for token in scene.reading.tokens} if left else set[str]()
    for mine in parts_of(scene.reading, None) if left else ():
        for near in left:
            for theirs in known_parts(near, scene):
                pair = _opposites(mine, theirs, scene, near, own)
                if pair is not None:
                    reason = f"the context says {pair[1]!r}, the answer {pair[0]!r}"
                    return contradiction(scene, name, reason, near)
    return None


def _opposites(
    mine: Part, theirs: Part, scene: Scene, near: Near, own: Set[str]
) -> tuple[str, str] | None:
    if bool(mine.denied) != bool(theirs.denied):
        return None
    shared = mine.keys & theirs.keys
    if not shared or len(shared) < CLOSE * (len(mine.keys) - 1):
        return None
    said = _places(near, scene)
    known = near.reading.keys
    for number in range(mine.clause.first, mine.clause.last):
        token = scene.reading.tokens[number]
        word = token.lower
        if word in ("more", "less", "fewer") and than_after(scene.reading.tokens, number):
            continue  # see above
        if word in _BESIDES and _no_opposite(scene.reading, number, near.reading):
            continue
        if word in _ENDS_OF_TIME and mine.clause.values:
            continue  # "it closes at 4" is "it is open until 4"
        for other in opposite(word) & said.keys() - own if token.key not in known else ():
            if _degree(word) != _degree(other):
                continue  # "late January" and "earlier in the year"
            if not theirs.clause.first <= said[other] < theirs.clause.last:
                continue
            own_sides = _beside(scene.reading, number)
            beside = own_sides & _beside(near.reading, said[other])
            if word in _ORDER and beside != own_sides:
                continue  # what comes first of three need not be said of all
            if beside and not _elsewhere(token, other, beside, scene):
                return word, other
    return None


_ORDER = ("before", "after")
_BESIDES = ("with", "without")


def _no_opposite(claim: Reading, number: int, sentence: Reading) -> bool:
    """Whether "with no signs" is "without", or what is "with" is another case."""
    after = claim.tokens[number + 1 : number + 2]
    if claim.tokens[number].lower == "with" and after and after[0].lower in ("no", "out"):
        return True
    return _of_another_case(claim, number, sentence)


def _of_another_case(claim: Reading, number: int, sentence: Reading) -> bool:
    """Whether what a claim says of one case has values, and that of the other has others."""
    if number and claim.tokens[number - 1].lower not in _PARTINGS:
        return False
    words = [n for n, token in enumerate(sentence.tokens) if token.lower in _BESIDES]
    opens = [n for n in words if not n or sentence.tokens[n - 1].lower in _PARTINGS]
    there = [v for n in opens for v in sentence.values if v.start > sentence.tokens[n].start]
    alike = [v for v in claim.values if any(v.comparable(other) for other in there)]
    return bool(there) and not any(v.agrees(other) for v in alike for other in there)


_PARTINGS = frozenset(";,.:")
_ENDS_OF_TIME = frozenset(
    "closes close closing opens opening shuts starts started ends ended begins began finished"
    " completed".split()
)


_IRREGULAR = {"worse": "er", "worst": "est", "more": "er", "less": "er", "most": "est",
              "least": "est"}  # fmt: skip


def _degree(word: str) -> str:
    if word in ("after", "lower", "over", "under", "upper", "outer", "inner"):
        return ""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return word[-3:] if word.endswith("est") else word[-2:] if word.endswith("er") else ""


def _places(near: Near, scene: Scene) -> dict[str, int]:
    """Return the words of a sentence of the context with their places."""
    key = "places", near.number
    found: dict[str, int] | None = scene.pages.notes.get(key)
    if found is None:
        words = enumerate(near.reading.tokens)
        found = scene.pages.notes[key] = {token.lower: number for number, token in words}
    return found


def _beside(reading: Reading, number: int) -> set[str]:
    """Return the nearest content words on both sides of a word."""
    before = [t.key for t in reading.tokens[max(0, number - 5) : number] if t.key]
    after = [t.key for t in reading.tokens[number + 1 : number + 6] if t.key]
    following = reading.tokens[number + 1 : number + 2]
    ends = not following or not following[0].lower.isalnum()
    return {*before[-2 if ends else -1 :], *after[:1]}


def _elsewhere(word: Token, other: str, beside: set[str], scene: Scene) -> bool:
    """Whether the context says it somewhere with the claim's word, or one that says the same."""
    return any(
        (
            word.key in near.reading.keys
            or any(t.lower == word.lower or other in opposite(t.lower) for t in near.reading.tokens)
        )
        and beside & (near.reading.keys | scene.pages.inherited(near.number))
        for near in scene.near
    )
