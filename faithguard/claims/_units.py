"""Answer -> units.

In: an answer, its fancy letters plain. Out: its sentences, titles and rows with their words and
places, whether a sign or a stroke crosses them out, and whether they only name a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from faithguard._denied import Boxes, boxes_of, signed_no, struck, unstruck
from faithguard.claims._blocks import Block, blocks
from faithguard.claims._kinds import kind_of
from faithguard.claims._plain import has_words, words_of
from faithguard.claims._references import (
    announces_pages,
    announces_sources,
    name_of_pointer,
    name_of_source,
    names_source,
    with_links,
)
from faithguard.claims._sentences import Sentence, sentences

__all__ = ["SIGNS", "Unit", "depth_of", "units_of", "with_sources"]

# An answer of signs alone, to a question.
SIGNS = re.compile("[❌✗✘✖❎👎🚫⛔🙅☒☐]\ufe0f?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence, title or row on its way to claims."""

    start: int
    end: int
    source: str
    words: str
    block: Block
    index: int
    """Of the block."""
    first: bool
    """Whether it starts a block or an item."""
    item: bool
    """Whether it is, or is part of, an item of a list."""
    lead: tuple[str, ...] = ()
    title: bool = False
    """Whether it is a title that says something without a verb."""
    denied: bool = False
    """Whether it is crossed out, by a sign or by a stroke."""
    names: str = ""
    """The source that it names, and of which it says nothing."""
    leading: bool = False
    """Whether it is what a lead-in states itself; the whole of it also leads to the next one."""
    points: bool = False
    """Whether it names it for further reading, not as what was said comes from."""


def units_of(answer: str) -> Iterator[Unit]:
    """Yield what can be a claim, and titles and lead-ins."""
    strokes, signs = struck(answer), boxes_of(answer)
    for index, block in enumerate(blocks(answer)):
        found = (
            [Sentence(0, len(block.text), False)] if block.kind == "row" else sentences(block.text)
        )
        item = block.item
        signed = _signed_no(block, found, signs)
        at = block.start
        own = [(start - at, end - at) for start, end in strokes]
        for number, sentence in enumerate(found):
            source, crossed = unstruck(block.text, sentence.start, sentence.end, own)
            words = words_of(SIGNS.sub("", source) if signed[number] else source)
            if not has_words(words):
                continue
            item = item or sentence.item
            yield Unit(
                start=block.start + sentence.start,
                end=block.start + sentence.end,
                source=source,
                words=words,
                block=block,
                index=index,
                first=number == 0 or sentence.item,
                item=item,
                denied=crossed != signed[number],
            )
        if block.kind == "code":
            yield Unit(
                start=block.start,
                end=block.start,
                source="",
                words="",
                block=block,
                index=index,
                first=True,
                item=False,
            )


def with_sources(units: Iterable[Unit]) -> Iterator[Unit]:
    """Yield units, those that only name a source of what is said before them as such."""
    told = listed = pointing = False
    for unit in units:
        pointed = name_of_pointer(unit.words) or (unit.words if pointing and unit.item else "")
        entry = name_of_source(unit.words) or (unit.words if listed else "")
        if announces_pages(unit.words):
            pointing, listed = True, False
        elif pointed and names_source(pointed):
            unit = replace(unit, names=with_links(pointed, unit.source), points=True)
        elif announces_sources(unit.words):
            listed, pointing = told, False
        elif told and entry and names_source(entry):
            unit = replace(unit, names=with_links(entry, unit.source))
        elif unit.block.kind == "heading":
            listed = pointing = False
        else:
            pointing = False
            told = told or (unit.block.kind == "row" or kind_of(unit.words) == "fact")
        yield unit


def _signed_no(block: Block, found: list[Sentence], signs: Boxes) -> list[bool]:
    """Say of each sentence of a block whether a sign says no to it."""
    no = [False] * len(found)
    if block.kind == "row":
        return no
    begin = 0
    for number in range(1, len(found) + 1):
        # each line, or item, has its own signs
        if number < len(found) and "\n" not in _between(block, found, number):
            continue
        group = found[begin:number]
        start = block.text.rfind("\n", 0, group[0].start) + 1
        end = block.text.find("\n", group[-1].end)
        line = block.text[start : end if end >= 0 else len(block.text)]
        spans = [(one.start - start, one.end - start) for one in group]
        no[begin:number] = signed_no(line, spans, signs)
        begin = number
    return no


def _between(block: Block, found: list[Sentence], number: int) -> str:
    return block.text[found[number - 1].end : found[number].start]


def depth_of(unit: Unit) -> int:
    """Return how deep in lists a unit lies; a row or an item in a paragraph lies in one."""
    return unit.block.depth + (
        1 if unit.block.kind == "row" or (unit.item and not unit.block.item) else 0
    )
