"""What two sentences say differently, word by word; the features of lexical support rest on it.

In: the terms of a claim and of a sentence. Out: the share of words that they have in common, the
values that one has in the place of the other's, and the words that only one of them denies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from faithguard.verifiers._terms import VALUE, Terms
from faithguard.verifiers._values import Value

__all__ = ["disagreements", "flipped", "overlap"]


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
