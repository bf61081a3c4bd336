"""A claim beside the sentences of the context that speak of the same things.

In: a claim and its context. Out: a `Scene`: the reading of the claim, and those of the sentences
that share most with it, the best first. The context is indexed once for an exchange and read where
claims look; a claim costs what its words cost.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, overload

from faithguard._lazy import lazy
from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers.rules._deeds import Deed, deeds_of
from faithguard.verifiers.rules._identifiers_in import Identifier
from faithguard.verifiers.rules._reading import (
    UNSURE,
    Reading,
    Token,
    capital_keys,
    identifiers_of,
    keys_of,
    read,
    read_sentence,
)
from faithguard.verifiers.rules._tables import Group, Table, groups_of, tables_of

__all__ = ["Near", "Scene", "contradiction", "grant", "scene_of", "squeezed", "unmentioned"]

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


class _Readings(Sequence[Reading]):
    """The readings of sentences, each made when it is first asked for."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self._sentences = sentences
        self._read: list[Reading | None] = [None] * len(sentences)

    def __len__(self) -> int:
        return len(self._sentences)

    @overload
    def __getitem__(self, number: int) -> Reading: ...
    @overload
    def __getitem__(self, number: slice) -> list[Reading]: ...
    def __getitem__(self, number: int | slice) -> Reading | list[Reading]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        reading = self._read[number]
        if reading is None:
            reading = self._read[number] = read_sentence(self._sentences[number])
        return reading


class _Pages:
    """All sentences of a context: indexed by their words at once, read one by one when needed."""

    def __init__(self, context: Context) -> None:
        self.sentences = context.sentences
        self.readings = _Readings(context.sentences)
        self.place = {number: place for place, number in enumerate(context.numbers, start=1)}
        """The number of a passage in the exchange -> its number for a reader."""
        self._index: dict[str, list[int]] = defaultdict(list)
        for number, sentence in enumerate(context.sentences):
            if sentence.denied:
                continue  # it says none of this; see `denied`
            for key in keys_of(sentence, context.values[number]):
                self._index[key].append(number)
        self._texts = tuple(passage.text for passage in context.passages)
        self.scenes: dict[str, Scene] = {}
        self.near: dict[str, tuple[Near, ...]] = {}
        """The sentences near to a claim, by its text."""
        self.notes: dict[tuple[str, int], Any] = {}
        """What a family has found out about a sentence, by its own name and the number."""
        self._subjects: dict[int, frozenset[str]] = {}
        self._following: dict[int, bool] = {}
        self._proper: dict[str, bool] = {}
        self._partners: dict[str, frozenset[str]] = {}
        self._capitals: dict[int, set[str]] = {}
        self._small: dict[str, bool] = {}
        self._weights: dict[str, float] = {}
        self._named: dict[str, bool] = {}

    def holders(self, key: str) -> Sequence[int]:
        """Return the numbers of the sentences that hold a word or, after a "#", an identifier."""
        return (self._codes if key.startswith("#") else self._index).get(key, ())

    def weight(self, key: str) -> float:
        """How much a word tells: rare in the context is more."""
        found = self._weights.get(key)
        if found is None:
            share = len(self.readings) / (1 + len(self.holders(key)))
            found = self._weights[key] = 1.0 + math.log(1.0 + share)
        return found

    @lazy
    def squeezed(self) -> tuple[str, ...]:
        """Each passage without spaces, quotes and case."""
        return tuple(map(squeezed, self._texts))

    @lazy
    def figures(self) -> tuple[str, ...]:
        """The digits of each passage, without what is written between two of them."""
        return tuple(map(_figures, self._texts))

    @lazy
    def tables(self) -> list[Table]:
        """The tables of the context."""
        return tables_of(self.sentences)

    @lazy
    def groups(self) -> list[Group]:
        """The lists of the context."""
        return groups_of(self._texts)

    @lazy
    def identified(self) -> tuple[tuple[int, Identifier], ...]:
        """The identifiers of all sentences, with the numbers of these."""
        return tuple(
            (number, one)
            for number, sentence in enumerate(self.sentences)
            if not sentence.denied
            for one in identifiers_of(sentence)
        )

    @lazy
    def _codes(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = defaultdict(list)
        for number, one in self.identified:
            codes[f"#{one.plain}"].append(number)
        return dict(codes)

    def proper(self, key: str) -> bool:
        """Whether a word is a name, or part of one, anywhere but as the first word alone."""
        if key not in self._proper:
            self._proper[key] = any(
                (first or last > 1) and any(t.key == key for t in reading.tokens[first:last])
                for reading in map(self.readings.__getitem__, self._with_capital(key))
                for first, last in reading.names
            )
        return self._proper[key]

    def _with_capital(self, key: str) -> Iterator[int]:
        """Yield the sentences that may write a word with a capital: the others are not read."""
        for number in self.holders(key):
            found = self._capitals.get(number)
            if found is None:
                found = self._capitals[number] = capital_keys(self.sentences[number])
            if key in found or UNSURE in found:
                yield number

    def named(self, key: str) -> bool:
        """Whether a word is a name wherever it stands, or a letter that tells two of a kind."""
        if key not in self._named:
            self._named[key] = key.isupper() or (
                self.proper(key)
                and not any(
                    token.key == key and not token.capital
                    for number in self.holders(key)
                    for token in self.readings[number].tokens
                )
            )
        return self._named[key]

    def in_lower_case(self, token: Token) -> bool:
        """Whether a word stands anywhere without a capital; words that only link do."""
        if token.key is None:
            return True
        if token.lower not in self._small:
            self._small[token.lower] = any(
                other.lower == token.lower and not other.capital
                for number in self.holders(token.key)
                for other in self.readings[number].tokens
            )
        return self._small[token.lower]

    def partners(self, key: str) -> frozenset[str]:
        """Return the words that stand in one name with a word: "Alba" with "Hotel"."""
        if (known := self._partners.get(key)) is not None:
            return known
        runs = (
            {token.key for token in reading.tokens[first:last] if token.key}
            for reading in map(self.readings.__getitem__, self.holders(key))
            for first, last in reading.names
        )
        found = {other for run in runs if key in run for other in run if other != key}
        self._partners[key] = frozenset(found)
        return self._partners[key]

    def inherited(self, number: int) -> frozenset[str]:
        """Return what a sentence says of the subject of the one before: "It is fixed in 4.2"."""
        return self._subject(number) if self._goes_on(number) else frozenset()

    def _subject(self, number: int) -> frozenset[str]:
        start = number
        while start not in self._subjects and self._goes_on(start):
            start -= 1
        if start not in self._subjects:
            first = self.readings[number].tokens[:1]
            it = bool(first) and first[0].lower == "it"
            self._subjects[start] = _opening(self.readings[start], it=it)
        for place in range(start + 1, number + 1):
            self._subjects[place] = self._subjects[start]
        return self._subjects[start]

    def _goes_on(self, number: int) -> bool:
        found = self._following.get(number)
        if found is None:
            found = self._following[number] = self._follows(number)
        return found

    def _follows(self, number: int) -> bool:
        if not number or self.sentences[number].passage != self.sentences[number - 1].passage:
            return False
        opening = [token.lower for token in self.readings[number].tokens[:_OPENING]]
        return bool(opening) and (opening[0] in _PRONOUNS or not _POINTING.isdisjoint(opening))


def _is_plural(reading: Reading, deed: Deed) -> bool:
    """Whether the noun before a verb is a plural, which no "it" means."""
    words = [t.lower for t in reading.tokens[deed.start : deed.at] if t.key]
    return bool(words) and words[0].endswith("s") and not words[0].endswith("ss")


def _opening(reading: Reading, *, it: bool) -> frozenset[str]:
    """Return what a sentence is about: what stands before its first verb, or its first clause."""
    deeds = deeds_of(reading)
    if deeds and it and _is_plural(reading, deeds[0]) and deeds[0].patients - deeds[0].subject:
        return deeds[0].patients - deeds[0].subject
    if deeds and deeds[0].subject and not deeds[0].pronoun:
        return deeds[0].subject
    return reading.clauses[0].keys if reading.clauses else frozenset()


_PRONOUNS = frozenset("it they he she this these its their his her both there such that".split())

_POINTING = frozenset("that this these those which it then otherwise thereafter afterwards".split())
_OPENING = 3


@dataclass(frozen=True, slots=True)
class Scene:
    """A claim, its context, and what of the context is near to it."""

    claim: Claim
    context: Context
    reading: Reading
    pages: _Pages
    stands: bool
    """Whether the context says it word for word, as a whole sentence or clause."""

    @property
    def near(self) -> tuple[Near, ...]:
        """The sentences that share most with it, the best first; found when first asked for."""
        found = self.pages.near.get(self.reading.text)
        if found is None:
            found = self.pages.near[self.reading.text] = _near(self.reading, self.pages)
        return found

    @property
    def all(self) -> Sequence[Reading]:
        """The readings of all sentences of the context; each that is asked for is read."""
        return self.pages.readings

    def at(self, number: int) -> Near:
        """Return a sentence of the context by its number."""
        for near in self.near:
            if near.number == number:
                return near
        return Near(number, self.pages.sentences[number], self.pages.readings[number], 0.0)

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
        return bool(self.pages.holders(key))

    def weight(self, keys: Collection[str]) -> float:
        """How much words tell: rare in the context is more."""
        return math.fsum(map(self.pages.weight, keys))


def squeezed(text: str) -> str:
    """Return a text without spaces, quotes and case: what does not part two identifiers."""
    return text.lower().translate(_SPACES)


_SPACES = str.maketrans("", "", " \u00a0`'\"")


def _figures(text: str) -> str:
    return _BETWEEN_DIGITS.sub("", text)


_BETWEEN_DIGITS = re.compile(r"(?<=\d)[ ()/.-]{1,2}(?=\d)")


def scene_of(claim: Claim, context: Context) -> Scene:
    """Return the scene of a claim; the same one to each family that asks."""
    pages: _Pages | None = context.memo.get("rules")
    if pages is None:
        pages = context.memo["rules"] = _Pages(context)
    scene = pages.scenes.get(claim.text)
    if scene is None or (scene.claim is not claim and scene.claim != claim):
        reading = read(claim.text)
        scene = Scene(claim, context, reading, pages, context.stands(claim.text))
        if len(pages.scenes) >= _MOST_SCENES:
            pages.scenes.clear()
            pages.near.clear()
        pages.scenes[claim.text] = scene
    return scene


def _near(claim: Reading, pages: _Pages) -> tuple[Near, ...]:
    scores: dict[int, float] = defaultdict(float)
    whole = 0.0
    for key in sorted(claim.keys):
        holders = pages.holders(key)
        weight = pages.weight(key)
        whole += weight
        if len(holders) <= _COMMON:
            for number in holders:
                scores[number] += weight
    order = nsmallest(_MOST_NEAR, ((-score, number) for number, score in scores.items()))
    return tuple(
        Near(number, pages.sentences[number], pages.readings[number], scores[number] / whole)
        for _, number in order
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


def grant(scene: Scene, name: str, reason: str, nears: Iterable[Near]) -> Verdict:
    """Return the verdict that the context says so, and where."""
    return Verdict(
        claim=scene.claim.id,
        label="supported",
        p_supported=0.95,
        verifier=name,
        reason=reason,
        evidence=tuple(near.sentence.evidence() for near in nears),
    )


def unmentioned(scene: Scene, name: str, reason: str) -> Verdict:
    """Return the verdict that the context does not say so."""
    return Verdict(
        claim=scene.claim.id, label="not_mentioned", p_supported=0.04, verifier=name, reason=reason
    )
