"""A statement that the context makes with the opposite polarity.

In: a claim and its context. Out: `contradicted` where the sentence that says most of the claim
has its words under a negation and the claim has not, or the other way round; else silence.
Source: the scope of a negation up to the end of its clause, after NegEx, Chapman et al. (2001).
"""

from __future__ import annotations

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers._terms import VALUE, Terms, analyse
from faithguard.verifiers.rules._numbers_old import overlap

__all__ = ["Negation", "flipped"]

_SAME_STATEMENT = 0.75
"""Share of a claim's words that a sentence must hold before its polarity can contradict."""


class Negation(EachClaim):
    """Veto a claim that the context denies, or denial of what it says."""

    name = "negation@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where polarity agrees or is not clear."""
        terms = analyse(claim.text)
        near = [
            sentence
            for sentence in context.select(claim.text).sentences
            if overlap(terms, sentence.terms) >= _SAME_STATEMENT
        ]
        # what a clause ends in is what it asserts of the rest
        if not near or not all(terms.endings & flipped(terms, s.terms) for s in near):
            return None
        negative = bool(flipped(terms, near[0].terms) & near[0].terms.negated)
        reason = "the context denies it" if negative else "the context says it without the negation"
        return Verdict(
            claim=claim.id,
            label="contradicted",
            p_supported=0.03,
            verifier=self.name,
            reason=reason,
            evidence=(near[0].evidence(),),
        )


def flipped(claim: Terms, sentence: Terms) -> frozenset[str]:
    """Return the words that only one of the two denies; none if both deny something alike.

    `VALUE` is among them where it is a value that both state.
    """
    shared = set(claim.words) & set(sentence.words)
    if any(mine.agrees(other) for mine in claim.distinct for other in sentence.distinct):
        shared.add(VALUE)
    if claim.negated & sentence.negated:
        return frozenset()
    return frozenset((claim.negated ^ sentence.negated) & shared)
