"""Whether what a judge quotes is evidence.

In: quotes, and the passages that it read. Out: `Evidence` at its exact place, or None where a
quote does not stand in what was read, is about something else, or gives orders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from faithguard.chat import find_quote
from faithguard.types import Claim, Evidence
from faithguard.verifiers._context import Context
from faithguard.verifiers._terms import keys_in
from faithguard.verifiers.judge._excerpts import Excerpt
from faithguard.verifiers.judge._verdicts import Quote

__all__ = ["Evidences"]

_AROUND = 250
"""Characters beside a quote in which something of its claim must be said."""

_LEFT_OUT = re.compile(r"\s*(?:\[?(?:\.\.\.|…)\]?)\s*")
_SENTENCE_ENDS = re.compile(r"[.!?](?:\s|$)|[。！？\n]")

# Orders to a checker, and what a reply of one looks like; a plain "claims must be supported by
# receipts" is neither.
_ORDER = re.compile(
    r"not_mentioned|[\"'](?:label|verdicts?|evidence)[\"']\s*:|"
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|rule|prompt|passage|context|"
    r"above|previous)|"
    r"\b(?:mark|label|rate|judge|treat|consider|count|accept|report|classify|return|answer|"
    r"respond|reply|output|say)\b.{0,60}\b(?:statement|claim|answer|verdict|everything|all|"
    r"it|them|this)s?\b.{0,40}\b(?:supported|contradicted|true|correct|faithful|grounded|verified)",
    re.IGNORECASE | re.DOTALL,
)


class Evidences:
    """The evidence of one call.

    Args:
        context: Of the exchange.
        shown: What the judge read, by the number that it read it under.
    """

    def __init__(self, context: Context, shown: Mapping[int, Excerpt]) -> None:
        self._texts = dict(zip(context.numbers, (p.text for p in context.passages), strict=True))
        self._shown = shown
        self._question = keys_in(context.question or "")
        self._context = context

    def of(self, claim: Claim, quotes: Sequence[Quote]) -> tuple[Evidence, ...] | None:
        """Return the evidence of a claim; None if a quote is none, or if there is no quote."""
        held: list[Evidence] = []
        for quote in quotes:
            whole = self._found(quote)
            pieces = [whole] if whole is not None else self._pieces(quote)
            if not pieces:
                return None
            held += pieces
        if not any(keys_in(evidence.quote) for evidence in held):
            return None  # "the" stands in every passage
        if any(_ORDER.search(evidence.quote) for evidence in held):
            return None
        return tuple(dict.fromkeys(held)) if self._bears(claim, held) else None

    def _found(self, quote: Quote) -> Evidence | None:
        """Find a quote, first in the passage that was named: numbers are mixed up, words stand."""
        named = [self._shown[n] for n in (quote.passage,) if n is not None and n in self._shown]
        others = [excerpt for excerpt in self._shown.values() if excerpt not in named]
        for excerpt in [*named, *others]:
            text = self._texts[excerpt.passage]
            for start, end in excerpt.spans:
                place = find_quote(quote.text, text[start:end])
                if place is not None:
                    begin, stop = start + place[0], start + place[1]
                    return Evidence(
                        passage=excerpt.passage, start=begin, end=stop, quote=text[begin:stop]
                    )
        return None

    def _pieces(self, quote: Quote) -> list[Evidence]:
        """Find a quote that leaves something out: between sentences, for in one it may be "not"."""
        parts = [part for part in _LEFT_OUT.split(quote.text) if part.strip()]
        found = [self._found(Quote(quote.passage, part)) for part in parts]
        held = [evidence for evidence in found if evidence is not None]
        if len(parts) < 2 or len(held) < len(parts):
            return []
        for one, two in pairwise(held):
            between = self._texts[one.passage][one.end - 1 : two.start]
            if one.passage != two.passage or not _SENTENCE_ENDS.search(between):
                return []
        return held

    def _bears(self, claim: Claim, held: Sequence[Evidence]) -> bool:
        """Say whether the quotes, or what stands around one, share a word with the claim.

        A claim of which the whole context has no word may be in another language; then words
        tell nothing.
        """
        keys = keys_in(claim.text) | self._question
        for evidence in held:
            text = self._texts[evidence.passage]
            around = text[max(0, evidence.start - _AROUND) : evidence.end + _AROUND]
            if keys & keys_in(around):
                return True
        return not any(keys & keys_in(text) for text in self._texts.values())
