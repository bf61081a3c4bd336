"""Numbers, times, days and dates that the context does not hold.

In: a claim and its context. Out: `contradicted` where a sentence says the same with another
value; `not_mentioned` where the value stands nowhere; else silence. Equal values in other
wordings agree: see `_values`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers._terms import VALUE, Terms, analyse
from faithguard.verifiers._values import Value

__all__ = ["Numbers", "disagreements", "overlap"]

_SAME_SUBJECT = 0.5
"""Share of a claim's words that a sentence must hold before its value can contradict."""

_COUNTABLE = 12
"""A writer may count up to a dozen things that the context only lists."""


class Numbers(EachClaim):
    """Veto a claim whose value stands nowhere in the context."""

    name = "numbers@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every value is held."""
        terms = analyse(claim.text)
        asked = {value.text for value in analyse(context.question or "").values}
        absent = [
            value
            for value in terms.distinct
            if not context.holders(value)
            # what the question brought in is not what the answer asserts
            and not (claim.text != context.question and value.text in asked)
        ]
        if not absent:
            return None
        for sentence in context.select(claim.text).sentences:
            for mine, theirs in disagreements(terms, sentence.terms):
                if mine in absent and overlap(terms, sentence.terms) >= _SAME_SUBJECT:
                    return _contradiction(claim, mine, theirs, sentence, self.name)
        if all(_counts(value) for value in absent):
            return None
        first = next(value for value in absent if not _counts(value))
        return Verdict(
            claim=claim.id,
            label="not_mentioned",
            p_supported=0.04,
            verifier=self.name,
            reason=f"the context nowhere says {first.text!r}",
        )


def _contradiction(
    claim: Claim, mine: Value, theirs: Value, sentence: Sentence, name: str
) -> Verdict:
    return Verdict(
        claim=claim.id,
        label="contradicted",
        p_supported=0.02,
        verifier=name,
        reason=f"the context says {theirs.text!r}, the answer {mine.text!r}",
        evidence=(sentence.evidence(),),
    )


def disagreements(claim: Terms, sentence: Terms) -> Iterator[tuple[Value, Value]]:
    """Yield values of a claim with the value that a sentence has in their place."""
    for mine in claim.distinct:
        if any(mine.agrees(other) for other in sentence.distinct):
            continue
        # a value that the claim states too is not in the place of this one
        rivals = [
            theirs
            for theirs in sentence.distinct
            if mine.comparable(theirs) and not any(v.agrees(theirs) for v in claim.distinct)
        ]
        if rivals:
            yield mine, _in_place(mine, claim, rivals, sentence)


def _in_place(mine: Value, claim: Terms, rivals: Sequence[Value], sentence: Terms) -> Value:
    """Return the rival that stands after the same words, or at the same place among its like."""
    own = [value for value in claim.distinct if value.comparable(mine)]
    others = [value for value in sentence.distinct if mine.comparable(value)]
    twin = others[own.index(mine)] if len(own) == len(others) else None
    words = _before(claim, mine)
    return max(rivals, key=lambda rival: (len(words & _before(sentence, rival)), rival is twin))


def _before(terms: Terms, value: Value) -> set[str]:
    """Return the two words before a value."""
    places = [place for place, key in enumerate(terms.sequence) if key == VALUE]
    number = next((n for n, other in enumerate(terms.values) if other is value), len(places))
    place = places[number] if number < len(places) else 0
    return set(terms.sequence[max(0, place - 2) : place])


def overlap(claim: Terms, sentence: Terms) -> float:
    """Return the share in [0, 1] of a claim's content words that a sentence holds."""
    words = set(claim.words)
    return len(words & set(sentence.words)) / len(words) if words else 0.0


def _counts(value: Value) -> bool:
    return (
        value.family == "number"
        and not value.unit
        and value.text.isalpha()
        and all(isinstance(r, Fraction) and r <= _COUNTABLE for r in value.readings)
    )
