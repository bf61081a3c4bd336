"""Lexical support: how much of a claim the context says, word by word.

In: claims and context. Out: a verdict for each claim. A logistic regression over a few
readable features; its coefficients are fitted by `tests/bench/fit_lexical.py`. It stands last
among the local verifiers, where a trained model will stand before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from faithguard.types import Claim, Evidence, Verdict
from faithguard.verifiers._asked import ELSEWHERE, NOT_OF_THIS, elsewhere
from faithguard.verifiers._context import Context, Selection, Sentence
from faithguard.verifiers._difference import disagreements, flipped, overlap
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers._terms import Terms, analyse

__all__ = ["COEFFICIENTS", "INTERCEPT", "Lexical", "features", "lack", "rival_in"]

COEFFICIENTS = {
    "coverage": 1.28,
    "best": 1.43,
    "slot": -2.59,
    "name_missing": -0.81,
    "substituted": -0.68,
    "strong_missing": -1.07,
    "polarity": -1.35,
}
INTERCEPT = -1.33

_SAME_STATEMENT = 0.5
"""Share of a claim's words that a sentence must hold before they can differ in one place."""

# Words that make a claim stronger than its evidence where the evidence lacks them.
_STRONG = frozenset(
    analyse(
        "most best worst first last only all every always never any entire fully completely"
        " exclusively solely guaranteed must largest biggest smallest highest lowest fastest"
        " slowest oldest youngest newest cheapest longest shortest greatest leading unique"
        " everyone everything nobody nothing sole top"
    ).words
)


class Lexical(EachClaim):
    """Support by words: stems, values in their places, names, strength and polarity."""

    name = "lexical@3"

    def probability(self, terms: Terms, selection: Selection) -> float:
        """Return how likely the context says a claim; see `features`."""
        return _probability(features(terms, selection))

    def verdict(self, claim: Claim, context: Context) -> Verdict:
        """Return a verdict."""
        terms = analyse(claim.text)
        selection = context.select(claim.text)
        p = self.probability(terms, selection)
        evidence = tuple(sentence.evidence() for sentence in selection.sentences)
        other = p >= 0.5 and elsewhere(claim.text, context)
        if other:
            p = min(p, ELSEWHERE)
        if p < 0.5:
            return Verdict(
                claim=claim.id,
                label="not_mentioned",
                p_supported=p,
                verifier=self.name,
                reason=NOT_OF_THIS if other else lack(claim.text, terms, selection),
                evidence=evidence[:1],
            )
        rival = rival_in(terms, selection, context)
        return Verdict(
            claim=claim.id,
            label="conflicting" if rival else "supported",
            p_supported=p,
            verifier=self.name,
            reason="passages disagree on it" if rival else "the context says it",
            evidence=evidence + ((rival,) if rival else ()),
        )


def features(terms: Terms, selection: Selection) -> dict[str, float]:
    """Return what the probability of support rests on; every feature lies in [0, 1].

    Args:
        terms: Of the claim.
        selection: The sentences of the context that bear on it.
    """
    missing = set(selection.missing)
    strong = _STRONG & set(terms.words)
    polarity = any(
        overlap(terms, sentence.terms) >= 0.6 and flipped(terms, sentence.terms)
        for sentence in selection.sentences[:1]
    )
    return {
        "coverage": selection.coverage,
        "best": selection.best,
        "slot": float(_wrong_slot(terms, selection)),
        "name_missing": float(bool(terms.names & missing)),
        "substituted": float(any(_substituted(terms, s.terms) for s in selection.sentences)),
        "strong_missing": float(bool(strong & missing)),
        "polarity": float(polarity),
    }


def _wrong_slot(terms: Terms, selection: Selection) -> bool:
    """Whether a value stands only where less of the claim stands than beside another value."""
    sentences = [sentence.terms for sentence in selection.sentences]
    home = max(sentences, key=lambda other: overlap(terms, other), default=None)
    if home is None:
        return False
    near = overlap(terms, home)
    return any(
        all(overlap(terms, s) < near for s in sentences if any(mine.agrees(v) for v in s.distinct))
        for mine, _ in disagreements(terms, home)
    )


def _substituted(claim: Terms, sentence: Terms) -> bool:
    """Whether the sentence says the claim with other words in one place.

    A run of one or two words that only the claim has stands between the same neighbours as a
    run of one or two that only the sentence has: "for migraine in adults", "for epilepsy in
    adults". A synonym does, too; the weight of this was learnt from both.
    """
    if overlap(claim, sentence) < _SAME_STATEMENT:
        return False
    mine, theirs = ("^", *claim.sequence, "$"), ("^", *sentence.sequence, "$")
    common = {*mine} & {*theirs}
    return not set(_gaps(mine, common)).isdisjoint(_gaps(theirs, common))


def _gaps(sequence: Sequence[str], common: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the neighbours of each run of one or two words that are not common to both."""
    for i, left in enumerate(sequence):
        for size in (1, 2):
            end = i + size + 1
            if (
                left in common
                and end < len(sequence)
                and sequence[end] in common
                and not any(word in common for word in sequence[i + 1 : end])
            ):
                yield left, sequence[end]


def _probability(values: dict[str, float]) -> float:
    logit = INTERCEPT + sum(COEFFICIENTS[name] * value for name, value in values.items())
    return 1.0 / (1.0 + math.exp(-logit))


def lack(text: str, terms: Terms, selection: Selection) -> str:
    """Say which words of the claim the context lacks, as the claim writes them."""
    if not selection.sentences:
        return "the context holds none of its words"
    places = dict(zip(terms.words, terms.starts, strict=True))
    words = [_written(key, text[places[key] :]) for key in selection.missing]
    if not words:
        return "the context holds its words, but not what it makes of them"
    return "the context lacks " + ", ".join(repr(word) for word in words[:4])


def _written(key: str, rest: str) -> str:
    """Return a word as the claim writes it; in a script without spaces, its key."""
    word = rest.split(maxsplit=1)[0].strip(".,;:!?")
    return word if len(word) <= 2 * len(key) + 4 else key


def rival_in(terms: Terms, selection: Selection, context: Context) -> Evidence | None:
    """Find a sentence of another passage that says the same with another value or polarity."""
    home: Sentence = selection.sentences[0]
    known = set(terms.words) | set(home.terms.words)
    for sentence in context.alike(terms):
        other = sentence.terms
        if sentence.passage == home.passage or not set(other.words) <= known:
            continue
        if overlap(terms, other) >= 0.8 and (
            flipped(terms, other) or next(disagreements(terms, other), None)
        ):
            return sentence.evidence()
    return None
