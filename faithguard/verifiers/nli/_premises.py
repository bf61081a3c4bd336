"""A claim and what bears on it -> a few premises.

In: the sentences that evidence selection found, the best first. Out: `Premise`s: short texts
of one to three sentences. Several short ones serve better than a long one, and their number
does not grow with the context. Of a sentence without end the stretch is taken that shares most
words with the claim. What is equal to a value of the claim, or another name of what it names,
stands in them as the claim writes it: a small model does not know that 24 months are two years.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from faithguard.verifiers._asked import refers_back
from faithguard.verifiers._context import Context, Selection, Sentence
from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers.nli._naming import named_as

__all__ = ["Premise", "premises"]

_ROOM = 110
"""Words of a premise."""

_STEP = 20
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Premise:
    """What the model reads as one text, and the sentences that it was made of."""

    text: str
    sentences: tuple[Sentence, ...]
    late: bool = False
    """Whether it seldom tells more than the others: needed only where they leave doubt."""


def premises(claim: str, selection: Selection, context: Context) -> list[Premise]:
    """Return the premises for a claim, at most three, the best sentence's first.

    The best sentence alone; after the one before it, which may say what it speaks of (late, unless
    it begins with a word for that); and all that were selected, for a claim that needs several.
    None where nothing bears on the claim.
    """
    if not selection.sentences:
        return []
    best = selection.sentences[0]
    groups: list[tuple[Sentence, ...]] = [(best,)]
    before = context.before(best)
    if before is not None and _size((before, best)) <= _ROOM:
        groups.append((before, best))
    joint = _within(selection.sentences)
    if len(joint) > 1 and joint != groups[-1]:
        groups.append(joint)
    values = find_values(claim)
    late = () if refers_back(best) or joint == (before, best) else (before, best)
    return [Premise(_text(group, claim, values), group, group == late) for group in groups]


def _text(group: Sequence[Sentence], claim: str, values: Sequence[Value]) -> str:
    words = [named_as(claim, _as_claimed(sentence.words, values)) for sentence in group]
    return _short(words[0], claim) if len(words) == 1 else " ".join(words)


def _as_claimed(text: str, values: Sequence[Value]) -> str:
    """Return a text with the values that it shares with a claim as the claim writes them."""
    if not values:
        return text
    for held in reversed(find_values(text)):
        said = next((value.text for value in values if _same(value, held)), held.text)
        text = text[: held.start] + said + text[held.end :]
    return text


def _same(one: Value, other: Value) -> bool:
    """Say whether two values are equal, not only near, and of the same kind."""
    return (
        (one.family, one.unit, one.approximate) == (other.family, other.unit, other.approximate)
        and one.readings == other.readings
        and one.text.casefold() != other.text.casefold()
    )


def _within(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the first sentences that fit, in the order of their passages."""
    kept: list[Sentence] = []
    for sentence in sentences:
        if not kept or _size((*kept, sentence)) <= _ROOM:
            kept.append(sentence)
    return tuple(sorted(kept, key=lambda sentence: (sentence.passage, sentence.start)))


def _size(sentences: Sequence[Sentence]) -> int:
    return sum(len(sentence.words.split()) for sentence in sentences)


def _short(text: str, claim: str) -> str:
    """Return a text, or the stretch of it that shares most words with the claim."""
    words = text.split()
    if len(words) <= _ROOM:
        return text
    sought = set(_WORD.findall(claim.casefold()))
    hits = [not sought.isdisjoint(_WORD.findall(word.casefold())) for word in words]
    starts = range(0, len(words) - _ROOM + _STEP, _STEP)
    start = max(starts, key=lambda at: sum(hits[at : at + _ROOM]))
    return " ".join(words[start : start + _ROOM])
