"""Whether what a judge quotes is evidence.

In: quotes, and the passages that it read. Out: `Evidence` at its exact place, or None where a
quote does not stand in what was read, is about something else, or gives orders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import attrgetter

from faithguard.chat import plain
from faithguard.chat._data import Quotable, forms_of
from faithguard.types import Claim, Evidence
from faithguard.verifiers._context import Context
from faithguard.verifiers._orders import gives_order
from faithguard.verifiers._terms import keys_in
from faithguard.verifiers.judge._excerpts import Excerpt
from faithguard.verifiers.judge._verdicts import Quote

__all__ = ["Evidences"]

_AROUND = 250
"""Characters beside a quote in which something of its claim must be said."""

_MOST = 8
"""Quotes, or pieces of one, for a claim: who needs more has not decided what says it."""

_LONGEST = 8_000
"""Characters of a quote."""

_LEFT_OUT = re.compile(r"\s*(?:\[?(?:\.\.\.|…)\]?)\s*")
_SENTENCE_ENDS = re.compile(r"[.!?](?:\s|$)|[。！？\n]")

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")


class Evidences:
    """The evidence of one call.

    Args:
        context: Of the exchange.
        shown: What the judge read, by the number that it read it under.
    """

    def __init__(self, context: Context, shown: Mapping[int, Excerpt]) -> None:
        self._texts = dict(zip(context.numbers, (p.text for p in context.passages), strict=True))
        self._shown = shown
        self._read: dict[int, list[tuple[int, Quotable]]] = {}
        self._question = keys_in(plain(context.question or ""))
        self._context = context

    def of(self, claim: Claim, quotes: Sequence[Quote]) -> tuple[Evidence, ...] | None:
        """Return the evidence of a claim; None if a quote is none, or if there is no quote."""
        held: list[Evidence] = []
        if len(quotes) > _MOST or any(len(quote.text) > _LONGEST for quote in quotes):
            return None
        for quote in quotes:
            whole = self._found(quote)
            pieces = [whole] if whole is not None else self._pieces(quote)
            if not pieces:
                return None
            held += pieces
        if not any(self._tells(evidence) for evidence in held):
            return None  # "the" or "3" stands in every passage
        if any(gives_order(self._texts[e.passage], e.start, e.end) for e in held):
            return None
        return tuple(dict.fromkeys(held)) if self._bears(claim, held) else None

    def _tells(self, evidence: Evidence) -> bool:
        """Say whether a quote is more than one word that means something, or all of its line."""
        seen = plain(evidence.quote)
        telling = [word for word in _WORD.findall(seen) if keys_in(word)]
        if not telling or len(telling) > 1 or len(keys_in(seen)) > 1:
            return bool(telling)
        text = self._texts[evidence.passage]
        left, right = text[: evidence.start], text[evidence.end :]
        alone = not left.rpartition("\n")[2].strip() and not right.partition("\n")[0].strip(" .!")
        return alone and not telling[0][0].isdigit()

    def _found(self, quote: Quote) -> Evidence | None:
        """Find a quote, first in the passage that was named: numbers are mixed up, words stand."""
        forms = forms_of(quote.text)
        found = (self._found_in(excerpt, forms) for excerpt in self._read_first(quote.passage))
        return next((evidence for evidence in found if evidence is not None), None)

    def _read_first(self, number: int | None) -> list[Excerpt]:
        """Return what was read, a passage that was named before the others."""
        return sorted(self._shown.values(), key=lambda x: self._shown.get(number or 0) is not x)

    def _found_in(self, excerpt: Excerpt, forms: Sequence[str]) -> Evidence | None:
        text = self._texts[excerpt.passage]
        if excerpt.passage not in self._read:
            spans = [(start, Quotable(text[start:end])) for start, end in excerpt.spans]
            self._read[excerpt.passage] = spans
        for start, span in self._read[excerpt.passage]:
            if (place := span.find(forms)) is not None:
                begin, stop = start + place[0], start + place[1]
                return Evidence(
                    passage=excerpt.passage, start=begin, end=stop, quote=text[begin:stop]
                )
        return None

    def _pieces(self, quote: Quote) -> list[Evidence]:
        """Find a quote that leaves something out: between sentences, for in one it may be "not".

        A passage that has all of it is the one that is meant.
        """
        parts = [part for part in _LEFT_OUT.split(quote.text) if part.strip()]
        if not 2 <= len(parts) <= _MOST:
            return []
        whole: list[list[Evidence]] = []
        forms = [forms_of(part) for part in parts]
        for excerpt in self._read_first(quote.passage):
            found = [self._found_in(excerpt, form) for form in forms]
            held = [evidence for evidence in found if evidence is not None]
            if len(held) == len(parts):
                whole.append(held)
        if not whole:
            found = [self._found(Quote(quote.passage, part)) for part in parts]
            held = [evidence for evidence in found if evidence is not None]
            whole = [held] if len(held) == len(parts) else []
        return next((held for held in whole if self._apart(held)), list[Evidence]())

    def _apart(self, held: Sequence[Evidence]) -> bool:
        """Say whether what is left out within a passage is left out between sentences."""
        for one, two in pairwise(sorted(held, key=attrgetter("passage", "start"))):
            between = self._texts[one.passage][one.end - 1 : two.start]
            cut = one.passage == two.passage and one.end <= two.start
            if cut and not _SENTENCE_ENDS.search(between):
                return False
        return True

    def _bears(self, claim: Claim, held: Sequence[Evidence]) -> bool:
        """Say whether the quotes, or what stands around one, share a word with the claim.

        A claim of which the whole context has no word may be in another language; then words
        tell nothing.
        """
        keys = keys_in(plain(claim.text)) | self._question
        for evidence in held:
            text = self._texts[evidence.passage]
            around = text[max(0, evidence.start - _AROUND) : evidence.end + _AROUND]
            if keys & keys_in(plain(around)):
                return True
        return not keys & self._words

    @cached_property
    def _words(self) -> set[str]:
        """All words of the context."""
        return {key for text in self._texts.values() for key in keys_in(plain(text))}
