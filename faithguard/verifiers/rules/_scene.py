"""A claim beside the sentences of the context that speak of the same things.

In: a claim and its context. Out: a `Scene`: the reading of the claim, and those of the sentences
that share most with it, the best first. The context is read once for an exchange; a claim costs
what its words cost.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers.rules._reading import Reading, read, read_sentence

__all__ = ["Near", "Scene", "contradiction", "scene_of", "squeezed", "unmentioned"]

_MOST_NEAR = 12
"""Sentences that are compared with a claim."""
_COMMON = 512
"""Sentences; a word that more of them hold tells nothing."""
_MOST_SCENES = 64
"""Claims of one answer whose scenes are kept, for the families that ask one after the other."""


@dataclass(frozen=True, slots=True)
class Near:
    """A sentence of the context that shares something with the claim."""

    number: int
    sentence: Sentence
    reading: Reading
    share: float
    """Share in [0, 1] of the claim's content, rare words weighing more, that it holds."""


class _Pages:
    """All sentences of a context, read once."""

    def __init__(self, context: Context) -> None:
        self.sentences = context.sentences
        self.readings = tuple(read_sentence(sentence) for sentence in context.sentences)
        self.place = {number: place for place, number in enumerate(context.numbers, start=1)}
        """The number of a passage in the exchange -> its number for a reader."""
        self.index: dict[str, list[int]] = defaultdict(list)
        for number, reading in enumerate(self.readings):
            for key in reading.keys:
                self.index[key].append(number)
        self.inherited = tuple(_inherited(self.sentences, self.readings))
        self.identified = tuple(
            (number, one)
            for number, reading in enumerate(self.readings)
            for one in reading.identifiers
        )
        self.lowers = frozenset(
            token.lower for r in self.readings for token in r.tokens if not token.capital
        )
        self.proper = frozenset(
            token.key
            for reading in self.readings
            for first, last in reading.names
            if first or last > 1
            for token in reading.tokens[first:last]
            if token.key
        )
        self.partners: dict[str, set[str]] = defaultdict(set)
        for reading in self.readings:
            for first, last in reading.names:
                keys = [t.key for t in reading.tokens[first:last] if t.key]
                for key in keys:
                    self.partners[key].update(other for other in keys if other != key)
        self.squeezed = tuple(squeezed(passage.text) for passage in context.passages)
        self.scenes: dict[str, Scene] = {}
        self.notes: dict[tuple[str, int], Any] = {}
        """What a family has found out about a sentence, by its own name and the number."""


_PRONOUNS = frozenset("it they he she this these its their his her both there such that".split())

_POINTING = frozenset("that this these those which it then otherwise thereafter afterwards".split())
_OPENING = 3


def _inherited(
    sentences: Sequence[Sentence], readings: Sequence[Reading]
) -> Iterator[frozenset[str]]:
    """Yield what each sentence says of the subject of the one before: "It is fixed in 4.2"."""
    subject: frozenset[str] = frozenset()
    passage = -1
    for sentence, reading in zip(sentences, readings, strict=True):
        opening = [token.lower for token in reading.tokens[:_OPENING]]
        points = opening[:1] and opening[0] in _PRONOUNS
        goes_on = sentence.passage == passage and bool(points or not _POINTING.isdisjoint(opening))
        yield subject if goes_on else frozenset()
        if not goes_on:
            subject = reading.clauses[0].keys if reading.clauses else frozenset[str]()
        passage = sentence.passage


@dataclass(frozen=True, slots=True)
class Scene:
    """A claim, its context, and what of the context is near to it."""

    claim: Claim
    context: Context
    reading: Reading
    near: tuple[Near, ...]
    pages: _Pages
    stands: bool
    """Whether the context says it word for word, as a whole sentence or clause."""

    @property
    def all(self) -> Sequence[Reading]:
        """The readings of all sentences of the context."""
        return self.pages.readings

    def at(self, number: int) -> Near:
        """Return a sentence of the context by its number."""
        share = next((near.share for near in self.near if near.number == number), 0.0)
        return Near(number, self.pages.sentences[number], self.pages.readings[number], share)

    @property
    def proper(self) -> frozenset[str]:
        """The keys of the names inside the sentence of the claim."""
        return frozenset(
            token.key
            for first, last in self.reading.names
            if first
            for token in self.reading.tokens[first:last]
            if token.key
        )

    def known(self, key: str) -> bool:
        """Whether the context holds a word anywhere."""
        return key in self.pages.index

    def weight(self, keys: Collection[str]) -> float:
        """How much words tell: rare in the context is more."""
        total = len(self.pages.readings)
        return math.fsum(
            1.0 + math.log(1.0 + total / (1 + len(self.pages.index.get(key, ())))) for key in keys
        )


def squeezed(text: str) -> str:
    """Return a text without spaces, quotes and case: what does not part two identifiers."""
    return text.lower().translate(_SPACES)


_SPACES = str.maketrans("", "", " \u00a0`'\"")


def scene_of(claim: Claim, context: Context) -> Scene:
    """Return the scene of a claim; the same one to each family that asks."""
    pages: _Pages | None = context.memo.get("rules")
    if pages is None:
        pages = context.memo["rules"] = _Pages(context)
    scene = pages.scenes.get(claim.text)
    if scene is None or scene.claim != claim:
        reading = read(claim.text)
        stands = _stands(claim.text, context)
        scene = Scene(claim, context, reading, _near(reading, pages), pages, stands)
        if len(pages.scenes) >= _MOST_SCENES:
            pages.scenes.clear()
        pages.scenes[claim.text] = scene
    return scene


_ENDS = ".!?;:。！？；：\n|•"
_MARKS = str.maketrans("", "", "`*_\"'“”‘’")
_SHORTEST = 12
"""Characters; a shorter text stands in others by chance."""


def _stands(text: str, context: Context) -> bool:
    """Say whether a text is a sentence of the context, or what stands between two of its ends.

    "Dogs are allowed" does not stand in "No dogs are allowed", nor in "Dogs are allowed on a lead".
    """
    sought = _plain(text).rstrip(_ENDS + " ")
    if len(sought) < _SHORTEST:
        return False
    for passage in context.passages:
        held = _plain(passage.text)
        at = held.find(sought)
        while at >= 0:
            before, after = held[:at].rstrip(" "), held[at + len(sought) :].lstrip(" ")
            if (not before or before[-1] in _ENDS) and (not after or after[0] in _ENDS):
                return True
            at = held.find(sought, at + 1)
    return False


def _plain(text: str) -> str:
    """Return a text with single spaces, without markup and case; a blank line ends a sentence."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return "\n".join(parts).translate(_MARKS).casefold()


def _near(claim: Reading, pages: _Pages) -> tuple[Near, ...]:
    total = len(pages.readings)
    scores: dict[int, float] = defaultdict(float)
    whole = 0.0
    for key in sorted(claim.keys):
        holders = pages.index.get(key, ())
        weight = 1.0 + math.log(1.0 + total / (1 + len(holders)))
        whole += weight
        if len(holders) <= _COMMON:
            for number in holders:
                scores[number] += weight
    order = sorted(scores, key=lambda number: (-scores[number], number))[:_MOST_NEAR]
    return tuple(
        Near(number, pages.sentences[number], pages.readings[number], scores[number] / whole)
        for number in order
    )


def contradiction(scene: Scene, name: str, reason: str, near: Near | None) -> Verdict:
    """Return the verdict that the context says otherwise, and where."""
    return Verdict(
        claim=scene.claim.id,
        label="contradicted",
        p_supported=0.02,
        verifier=name,
        reason=reason,
        evidence=(near.sentence.evidence(),) if near else (),
    )


def unmentioned(scene: Scene, name: str, reason: str) -> Verdict:
    """Return the verdict that the context does not say so."""
    return Verdict(
        claim=scene.claim.id, label="not_mentioned", p_supported=0.04, verifier=name, reason=reason
    )
