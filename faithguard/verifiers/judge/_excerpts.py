"""Context + claims -> the stretches of the passages that a judge reads.

In: the context of an exchange and the claims that are open. Out: for each passage that has any,
its stretches in order. A short context is read as a whole; of a long one, the sentences that bear
on the claims, with their neighbours, so that the cost does not grow with the passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from faithguard.chat import visible
from faithguard.types import Claim
from faithguard.verifiers._context import Context, Sentence

__all__ = ["Excerpt", "excerpts", "passages_as_read", "read_texts"]

_WHOLE = 6_000
"""Characters up to which a context is read as a whole."""

_MOST = 6
"""Sentences for one claim, before their neighbours."""

_ENOUGH = 0.5
"""Share of a claim's content that its sentences must hold; below, passages are read from their
beginning as well, since the claim may say it in other words or another language."""

_FALLBACK = 3_000
"""Characters of passages for a claim whose words are not found."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is read of a passage."""

    passage: int
    """Index in the exchange."""
    spans: tuple[tuple[int, int], ...]


def excerpts(context: Context, claims: Sequence[Claim]) -> list[Excerpt]:
    """Return what to read for some claims, in the order of the passages."""
    texts = dict(zip(context.numbers, (p.text for p in context.passages), strict=True))
    if sum(map(len, texts.values())) <= _WHOLE:
        return [Excerpt(n, ((0, len(text)),)) for n, text in texts.items() if text.strip()]
    spans: dict[int, list[tuple[int, int]]] = {}
    for claim in claims:
        for passage, start, end in _read_for(claim, context, texts):
            spans.setdefault(passage, []).append((start, end))
    return [Excerpt(n, _merged(spans[n], texts[n])) for n in context.numbers if n in spans]


def read_texts(context: Context, found: Sequence[Excerpt]) -> Iterator[str]:
    """Yield what is read, and the question."""
    texts = dict(zip(context.numbers, context.passages, strict=True))
    yield context.question or ""
    for excerpt in found:
        for start, end in excerpt.spans:
            yield texts[excerpt.passage].text[start:end]


def passages_as_read(
    context: Context, found: Sequence[Excerpt], control: str, random: Random
) -> tuple[list[dict[str, Any]], dict[int, Excerpt]]:
    """Return passages as a judge reads them, a control's among them at a random place.

    Returns:
        What to show; and the excerpts by the number that they are shown under.
    """
    texts = dict(zip(context.numbers, context.passages, strict=True))
    place = random.randrange(len(found) + 1)
    shown = {number + (number > place): excerpt for number, excerpt in enumerate(found, 1)}
    passages: list[dict[str, Any]] = [
        {"number": number, "pieces": [visible(texts[x.passage].text[a:b]) for a, b in x.spans]}
        for number, x in shown.items()
    ]
    passages.insert(place, {"number": place + 1, "pieces": [control]})
    return passages, shown


def _read_for(
    claim: Claim, context: Context, texts: dict[int, str]
) -> Iterator[tuple[int, int, int]]:
    selection = context.select(claim.text, most=_MOST, denied=True)
    places = {id(sentence): place for place, sentence in enumerate(context.sentences)}
    for sentence in selection.sentences:
        place = places[id(sentence)]
        for near in context.sentences[max(0, place - 1) : place + 2]:
            if near.passage == sentence.passage:
                yield near.passage, near.start, near.end
        yield from _header(sentence, texts)
    if selection.coverage < _ENOUGH:
        left = _FALLBACK
        for passage in [*context.rank(claim.text), *context.numbers]:
            if left <= 0:
                return
            yield passage, 0, min(len(texts[passage]), left)
            left -= len(texts[passage])


def _header(sentence: Sentence, texts: dict[int, str]) -> Iterator[tuple[int, int, int]]:
    """Yield the header of a table's row, without which a cell says little."""
    if not sentence.header:
        return
    at = texts[sentence.passage].rfind(sentence.header, 0, sentence.start)
    if at >= 0:
        yield sentence.passage, at, at + len(sentence.header)


def _merged(spans: list[tuple[int, int]], text: str) -> tuple[tuple[int, int], ...]:
    """Return stretches in order; those between which nothing is left out are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)
