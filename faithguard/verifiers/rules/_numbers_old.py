"""Numbers, times, days and dates that the context does not hold, or holds of something else.

In: a claim and its context. Out: `contradicted` where a sentence says the same with another
value, or gives this one to something else; `not_mentioned` where it stands nowhere; else
silence. Equal values in other wordings agree: see `_values`.
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
            return self._misplaced(claim, terms, context)
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

    def _misplaced(self, claim: Claim, terms: Terms, context: Context) -> Verdict | None:
        """Veto a value that every sentence which holds it gives to something else."""
        for value in terms.distinct:
            if value.family == "number" and not value.unit:
                continue  # a year and a count beside it are of no one kind
            holding = [
                (sentence, _other_slot(terms, value, sentence.terms))
                for sentence in context.select(claim.text).sentences
                if any(value.agrees(other) for other in sentence.terms.distinct)
            ]
            if holding and all(other is not None for _, other in holding):
                sentence, theirs = holding[0]
                if theirs is not None:
                    return _contradiction(claim, value, theirs, sentence, self.name)
        return None


def _slots(terms: Terms, value: Value) -> list[tuple[frozenset[str], Value]] | None:
    """Return the parts of a sentence that each hold one value of this kind; None if unclear."""
    slots: list[tuple[frozenset[str], Value]] = []
    for words, values in terms.parts:
        alike = [other for other in values if value.comparable(other)]
        if len(alike) > 1:
            return None
        slots += [(words, other) for other in alike]
    return slots if len(slots) > 1 else None


def _other_slot(claim: Terms, value: Value, sentence: Terms) -> Value | None:
    """Return the value that the sentence gives to what the claim gives this one to.

    "200 mg for children and 400 mg for adults": the words of the claim about its value stand
    beside another value, and none of them beside this one. The first part of a sentence holds
    what is common to all, so that one word of it proves nothing.
    """
    slots = _slots(sentence, value)
    words = next((words for words, values in claim.parts if value in values), frozenset[str]())
    if claim.labels:  # a table row speaks of one thing throughout
        words = frozenset(claim.words) - claim.labels
    own = [(part, other) for part, other in slots or () if value.agrees(other)]
    if not slots or len(own) != 1:
        return None
    mine = own[0][0]
    for number, (part, other) in enumerate(slots):
        theirs = (words & part) - mine
        if not value.agrees(other) and not (words & mine) - part and len(theirs) > (number == 0):
            return other
    return None


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
