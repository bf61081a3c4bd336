"""What a context gives to what: whether a claim puts a thing in the place of another.

In: a scene and a thing that the claim names, with the places where the context holds it and those
where it holds another of its kind. Out: the other, if every holder of the thing stands beside
words that the claim does not use of it, and the other beside those that it does.

    "Basic costs $9 and has 5 projects. Plus costs $19 and has 25." - "Basic has 25 projects."
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from faithguard.verifiers.rules._reading import Clause, Reading
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = ["Slot", "anchors", "counted", "displaced"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the context where a thing stands."""

    near: Near
    clause: Clause
    text: str
    """The thing, as it is written there."""


Anchor = str | int
"""A word, or the number of a value of the claim, beside the thing."""


def displaced(
    scene: Scene,
    start: int,
    own: Sequence[Slot],
    rivals: Sequence[Slot],
    *,
    ignored: Collection[str] = (),
) -> Slot | None:
    """Return the rival whose place the claim gives to a thing; None if its own place fits.

    Args:
        scene: The claim and its context.
        start: Where the thing stands in the claim.
        own: Where the context holds it.
        rivals: Where the context holds others of its kind.
        ignored: Words that tell nothing here, such as what the thing counts.
    """
    clause = scene.reading.clause_at(start)
    if clause is None or not own or not rivals:
        return None
    near, wide = anchors(scene, clause, start, ignored)
    best: Slot | None = None
    for holder in own:
        found = [
            (gain, rival)
            for rival in rivals
            if (gain := _gain(scene, near, wide, holder, rival)) is not None
        ]
        if not found:
            return None
        best = best or max(found, key=lambda pair: pair[0])[1]
    return best


def anchors(
    scene: Scene, clause: Clause, start: int, ignored: Collection[str]
) -> tuple[frozenset[Anchor], frozenset[Anchor]]:
    """Return what stands beside a thing in its clause, and with the subject of the sentence."""
    reading = scene.reading
    subject = reading.clauses[0]
    near: set[Anchor] = {key for key in clause.keys if key not in ignored}
    near.update(n for n in clause.values if not reading.values[n].start <= start < reading.values[n].end)
    wide = near | {key for key in subject.keys if key not in ignored}
    return frozenset(near), frozenset(wide)


def _gain(
    scene: Scene,
    near: frozenset[Anchor],
    wide: frozenset[Anchor],
    own: Slot,
    rival: Slot,
) -> float | None:
    """Return how much better the rival's place fits; None unless it does in everything."""
    if own.near.number == rival.near.number:
        if own.clause == rival.clause:
            return None
        mine = _held(scene, near, own.near.reading, own.clause)
        theirs = _held(scene, near, own.near.reading, rival.clause)
        gained, lost = theirs - mine, mine - theirs
        first = own.near.reading.clauses[0]
        # what stands before the first of two is common to both, and proves nothing of either
        if rival.clause == first and len(gained) < 2 and not rival.near.reading.row:
            return None
    else:
        mine = _held(scene, wide, own.near.reading, None)
        theirs = _held(scene, wide, rival.near.reading, None)
        gained, lost = theirs - mine, mine - theirs
        if own.near.reading.row and rival.near.reading.row:
            mine = _held(scene, near | wide, own.near.reading, own.clause)
            theirs = _held(scene, near | wide, rival.near.reading, rival.clause)
            lost = lost | (mine - theirs)
        elif len(near & theirs) * 2 < len(near) or len(theirs) < 2:
            return None
    if not gained or lost:
        return None
    words = [anchor for anchor in gained if isinstance(anchor, str)]
    return scene.weight(words) + 2.0 * (len(gained) - len(words))


def _held(
    scene: Scene, wanted: frozenset[Anchor], reading: Reading, clause: Clause | None
) -> frozenset[Anchor]:
    """Return which anchors a sentence, or one clause of it, holds."""
    keys = clause.keys if clause else reading.keys
    numbers = clause.values if clause else range(len(reading.values))
    if reading.row and clause:  # the values of the first cell name the row
        numbers = (*reading.clauses[0].values, *numbers)
    values = [reading.values[n] for n in numbers]
    return frozenset(
        anchor
        for anchor in wanted
        if (
            anchor in keys
            if isinstance(anchor, str)
            else any(scene.reading.values[anchor].agrees(value) for value in values)
        )
    )


def counted(reading: Reading, start: int, end: int) -> Iterator[str]:
    """Yield what a number counts: the word after it, and what follows "per"."""
    tokens = reading.tokens
    at = next((n for n, token in enumerate(tokens) if token.start >= end), len(tokens))
    for token in tokens[at : at + 2]:
        if token.key:
            yield token.key
            break
        if not token.lower.isalpha() or token.lower not in ("more", "of", "or", "different"):
            break
    for number in range(at, min(at + 4, len(tokens) - 1)):
        if tokens[number].lower in ("per", "/") and (key := tokens[number + 1].key):
            yield key
