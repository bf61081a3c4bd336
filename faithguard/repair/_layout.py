"""Answer -> the units that can be mended one by one.

In: an answer, markdown or plain text. Out: its sentences, list items, titles and table rows with
their places, how deep they lie, and the lines that they stand on.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from faithguard.claims._blocks import Block, blocks
from faithguard.claims._json import leaves
from faithguard.claims._plain import has_words
from faithguard.claims._sentences import Sentence, sentences
from faithguard.types import Span

__all__ = ["PREFIX", "Layout", "Unit", "layout_of"]

_NEWLINE = re.compile(r"\r\n?|\n")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] |\d{1,3}[.)] )?[ \t]*(`{3,}|~{3,})[ \t]*([\w-]*)")
_PROSE_FENCES = frozenset({"markdown", "md"})

PREFIX = re.compile(
    r"(?P<quote>(?:[ \t]*>[ \t]?)*)(?P<indent>[ \t]*)"
    r"(?:(?P<bullet>[*+•▪●◦‣·–—-])|(?P<open>(?:\*\*|__)?\(?)(?P<number>\d{1,3})(?P<close>[.)]))?"
    r"(?=\s|$|(?:\*\*|__)\s)"
)
"""What stands on a line before its words: marks of a quotation, and the marker of an item.

Its number may be bold.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence, an item's sentence, a title, a row, or code that is no claim."""

    index: int
    kind: str
    """"prose", "heading", "row" or "code"."""
    start: int
    end: int
    block: int
    """Which block of the answer it is part of."""
    level: int
    """How deep it lies in lists, tables and quotations."""
    item: bool
    """Whether it stands first in an item of a list."""
    header: tuple[str, ...] = ()
    fenced: bool = False
    title: int = 0
    """The rank of a heading, 1 the highest; 0 for what is none."""


@dataclass(frozen=True, slots=True)
class Layout:
    """An answer's units and lines."""

    answer: str
    units: tuple[Unit, ...]
    lines: tuple[Span, ...]
    """Where each line stands, its end of line left out."""
    starts: tuple[int, ...] = field(repr=False)
    is_json: bool = False
    """Whether the answer is JSON: texts in it can be corrected, nothing can go."""

    def line_of(self, place: int) -> int:
        """Return the number of the line that holds a place."""
        return bisect_right(self.starts, place) - 1

    def text(self, unit: Unit) -> str:
        """Return the source of a unit."""
        return self.answer[unit.start : unit.end]

    def touched(self, span: Span) -> list[Unit]:
        """Return the units that hold any of the words of a span."""
        first = bisect_left(self.units, span[0], key=lambda unit: unit.end)
        found: list[Unit] = []
        for unit in self.units[first:]:
            if unit.start >= span[1]:
                break
            if has_words(self.answer[max(unit.start, span[0]) : min(unit.end, span[1])]):
                found.append(unit)
        return found

    def of_block(self, block: int) -> list[Unit]:
        """Return the units of a block in their order."""
        return [unit for unit in self.units if unit.block == block]


def layout_of(answer: str) -> Layout:
    """Return the layout of an answer."""
    starts = (0, *(match.end() for match in _NEWLINE.finditer(answer)))
    ends = (*(match.start() for match in _NEWLINE.finditer(answer)), len(answer))
    lines = tuple(zip(starts, ends, strict=True))
    bare = Layout(answer, (), lines, starts)
    fences = list(_fences(answer, lines))
    found: list[Unit] = []
    for number, block in enumerate(blocks(answer)):
        fenced = any(start <= block.start < end for start, end in fences)
        line = answer[slice(*lines[bare.line_of(block.start)])]
        quoted = line[: block.start - lines[bare.line_of(block.start)][0]].count(">")
        for place, sentence in enumerate(_sentences(block)):
            inline = sentence.item and not block.item
            deeper = block.kind in ("row", "code") or inline
            found.append(
                Unit(
                    index=len(found),
                    kind=block.kind,
                    start=block.start + sentence.start,
                    end=block.start + sentence.end,
                    block=number,
                    level=block.depth + quoted + deeper,
                    item=sentence.item or (block.item and place == 0),
                    header=block.header,
                    fenced=fenced or block.kind == "code",
                    title=_rank(line) if block.kind == "heading" else 0,
                )
            )
    return Layout(answer, tuple(found), lines, starts, is_json=leaves(answer) is not None)


def _sentences(block: Block) -> list[Sentence]:
    if block.kind in ("row", "code"):
        return [Sentence(0, len(block.text), False)]
    return sentences(block.text)


def _rank(line: str) -> int:
    marks = line.lstrip(" \t>")
    return min(len(marks) - len(marks.lstrip("#")), 6) or 1


def _fences(answer: str, lines: tuple[Span, ...]) -> Iterator[Span]:
    """Yield where code stands; an answer in a fence of markdown is an answer."""
    mark, prose, begin = "", False, 0
    for start, end in lines:
        match = _FENCE.match(answer, start, end)
        if match is None:
            continue
        if not mark:
            mark, prose, begin = match[1], match[2].lower() in _PROSE_FENCES, start
        elif match[1].startswith(mark) and not match[2]:
            if not prose:
                yield begin, end
            mark = ""
    if mark and not prose:
        yield begin, len(answer)
