"""Answer -> blocks.

In: an answer, markdown or plain text. Out: blocks of prose, headings and table rows in the
order of the answer, with the place where each starts; a block's text has the length of its
source, markers between its lines blanked, so that offsets in it are offsets in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from faithguard._html_tables import Row, html_rows, without_rows
from faithguard.claims._fences import hidden_in, is_prose, read_lines
from faithguard.claims._fences import states as states_something
from faithguard.claims._kinds import states
from faithguard.claims._plain import has_words, words_of
from faithguard.claims._sentences import sentences
from faithguard.claims._shell import typed_in
from faithguard.claims._values import read_values
from faithguard.claims._verbs import has_verb
from faithguard.types import Span

_NEWLINE = re.compile(r"\r\n?|\n")
_MARKS = re.compile(r"[\s>*+-]*")
_CELL = re.compile(r"(?<!\\)\|")
# A number this large before a stop is a year or an amount, not the place in a list.
_LARGEST_PLACE = 99
_SHORT_LINE = 60
_MOST_NESTED = 3
"""Fences in fences."""
_SHORTEST_RULE = 3
"""Marks under a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One paragraph, heading, table row or code fence."""

    kind: Literal["prose", "heading", "row", "code"]
    start: int
    """Where the text starts in the answer."""
    text: str
    depth: int = 0
    """How many lists it lies in."""
    item: bool = False
    """Whether it is the first block of a list item."""
    header: tuple[str, ...] = ()
    """The headers of a row's table."""
    said: str = ""
    """What a row says, where its cells do not tell it."""
    command: str = ""
    """What a row of a fence tells to type."""


def _markdown() -> MarkdownIt:
    """Return a parser of blocks only; what would hide text of an answer is off.

    Four leading spaces are no code, `[a]: b` is no invisible definition, and HTML is prose.
    """
    parser = MarkdownIt("commonmark").enable("table").disable(["code", "reference", "html_block"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


_PARSER = _markdown()


def blocks(answer: str) -> list[Block]:
    """Return the blocks of an answer; no line with a letter or digit is left out."""
    return _blocks(answer, depth=0)


def _blocks(answer: str, *, depth: int) -> list[Block]:
    rows = html_rows(answer)
    plain = without_rows(answer) if rows else answer
    reader = _Reader(plain, nesting=depth)
    reader.read(_PARSER.parse(plain))
    found = [*reader.found, *(block for row in rows for block in _html_blocks(row, answer))]
    return sorted(found, key=lambda block: block.start)


def _html_blocks(row: Row, answer: str) -> Iterator[Block]:
    """Yield a row of an HTML table; of a head only the cells that state something."""
    if row.head:
        for cell in filter(states, map(words_of, row.cells)):
            at = max(answer.find(cell, row.start, row.end), row.start)
            yield Block(kind="row", start=at, text=answer[at : row.end], said=cell)
        return
    said = words_of(row.said)
    if has_words(said):
        text = answer[row.start : row.end]
        yield Block(kind="row", start=row.start, text=text, header=row.header, said=said)


def cells(row: str) -> list[str]:
    """Return the cells of a table row."""
    found = [cell.strip() for cell in _CELL.split(row.strip())]
    if found and not found[0]:
        found = found[1:]
    if found and not found[-1]:
        found = found[:-1]
    return found


class _Reader:
    """Walk over block tokens, and keep the blocks found and the lines that they cover."""

    def __init__(self, answer: str, *, nesting: int) -> None:
        self.answer = answer
        self.nesting = nesting
        self.found: list[Block] = []
        self.covered: set[int] = set()
        self.depth, self.item, self.heading, self.number = 0, False, False, ""
        starts, ends = [0], list[int]()
        for match in _NEWLINE.finditer(answer):
            ends.append(match.start())
            starts.append(match.end())
        self.lines: list[Span] = list(zip(starts, [*ends, len(answer)], strict=True))

    def read(self, tokens: Sequence[Token]) -> None:
        """Take in all tokens, then the lines that none of them covers."""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                at = self._table(tokens, at)
            elif token.type.endswith("list_open"):
                self.depth += 1
            elif token.type.endswith("list_close"):
                self.depth -= 1
            elif token.type == "list_item_open":
                self.item, self.number = True, self._kept_number(tokens, at)
            elif token.type == "list_item_close":
                self.item, self.number = False, ""
            elif token.type in ("heading_open", "heading_close"):
                self.heading = token.type == "heading_open" and not self._stray(token)
            elif token.type == "fence":
                self._fence(token)
            elif token.type == "inline":
                self._inline(token)
            at += 1
        self._rest()

    def _stray(self, token: Token) -> bool:
        """Say whether the line under a "title" is only a stray dash: an empty item of a list."""
        if token.markup not in ("-", "=") or token.map is None:
            return False
        start, end = self.lines[token.map[1] - 1]
        return self.answer[start:end].count(token.markup) < _SHORTEST_RULE

    def _kept_number(self, tokens: Sequence[Token], at: int) -> str:
        """Return the number of an item if it is a word of the answer: "1989. It fell."."""
        number, place = tokens[at].info, tokens[at - 1]
        if not number.isdecimal():
            return ""
        opens = place.type == "ordered_list_open" and place.map == tokens[at].map
        alone = opens and not self.found and number not in ("0", "1")
        return number if alone or int(number) > _LARGEST_PLACE else ""

    def _inline(self, token: Token) -> None:
        first, last = token.map or [0, 0]
        if self.heading:
            spans = [self._within(first, token.content)]
            if last - first > 1:
                spans = self._paragraph(first, last, token.content)
        else:
            spans = self._paragraph(first, last, token.content)
        if self.number:
            start = self.answer.find(self.number, self.lines[first][0], spans[0][1])
            spans[0] = (start if start >= 0 else spans[0][0], spans[0][1])
        self.covered.update(range(first, last))
        own = self._own_lines(first, spans)
        self._add("heading" if self.heading else "prose", spans[:own])
        self.item, self.number = False, ""
        if spans[own:]:
            depth, self.depth = self.depth, 0
            self._add("prose", spans[own:])
            self.depth = depth

    def _own_lines(self, first: int, spans: Sequence[Span]) -> int:
        """Count the lines of a paragraph that belong to its list item.

        Markdown takes a line right under an item as part of it; where that line is not indented
        and starts anew, its writer meant a new paragraph.
        """
        for index in range(1, len(spans) if self.depth else 0):
            before = self.answer[slice(*spans[index - 1])].rstrip()
            after = self.answer[slice(*spans[index])].lstrip()[:1]
            ended = before.endswith((".", "!", "?", ":")) or len(before) < _SHORT_LINE
            anew = not after.islower() or self.answer[slice(*spans[index])].rstrip().endswith(":")
            if spans[index][0] == self.lines[first + index][0] and ended and anew:
                return index
        return len(spans)

    def _add(self, kind: Literal["prose", "heading"], spans: Sequence[Span]) -> None:
        start, text = spans[0][0], self._text(spans)
        self.found.append(
            Block(kind=kind, start=start, text=text, depth=self.depth, item=self.item)
        )

    def _text(self, spans: Sequence[Span]) -> str:
        """Return the text at some places of lines, blanks for what lies between."""
        parts: list[str] = []
        for index, (start, end) in enumerate(spans):
            if index:
                parts.append("\n" + " " * (start - spans[index - 1][1] - 1))
            parts.append(self.answer[start:end])
        return "".join(parts)

    def _within(self, line: int, content: str) -> Span:
        """Return where the content of a heading's line stands."""
        start, end = self.lines[line]
        at = self.answer.find(content, start, end)
        return (at, at + len(content)) if content and at >= 0 else (start, end)

    def _paragraph(self, first: int, last: int, content: str) -> list[Span]:
        """Return where the content of each line stands: at the end of its source line."""
        pieces = content.split("\n")
        spans: list[Span] = []
        for line in range(first, last):
            start, end = self.lines[line]
            source = self.answer[start:end]
            if len(pieces) == last - first:
                kept = len(source.rstrip()) - len(pieces[line - first].strip())
            else:  # the parser stripped lines of exotic white space
                kept = len(source) - len(source.lstrip(" \t>"))
            spans.append((start + max(kept, 0), end))
        return spans

    def _fence(self, token: Token) -> None:
        first, last = token.map or [0, 0]
        start, end = self.lines[last - 1]
        closed = last - first > 1 and set(self.answer[start:end].strip(" \t>")) == set(
            token.markup[:1]
        )
        if not closed and " " in token.info.strip():
            return  # prose that happens to start with three marks must not hide the rest
        self.covered.update(range(first, last))
        before = len(self.found)
        if is_prose(token.info):
            at = self.answer.find(token.info.strip(), self.lines[first][0])
            self._nest(at, at + len(token.info.strip()))
        inner = range(first + 1, last - 1 if closed else last)
        if inner and self.nesting < _MOST_NESTED:
            self._fenced(inner, token.info.strip().lower(), closed=closed)
        if len(self.found) == before:
            start = self.lines[first][0]
            self.found.append(Block(kind="code", start=start, text="", depth=self.depth))

    def _fenced(self, inner: range, info: str, *, closed: bool) -> None:
        """Take in what lines between fences say."""
        if info in ("markdown", "md"):  # some models wrap their answer so
            self._nest(self.lines[inner[0]][0], self.lines[inner[-1]][1])
            return
        lines = [self.answer[slice(*self.lines[line])] for line in inner]
        values = read_values(lines, info)
        for value in values:
            start = self.lines[inner[value.line]][0]
            start, end = start + value.start, start + value.end
            text = self.answer[start:end]
            self.found.append(
                Block(kind="row", start=start, text=text, depth=self.depth, said=value.said)
            )
        if values:
            return
        for typed in typed_in(lines, info):
            start = self.lines[inner[typed.line]][0] + typed.start
            end = self.lines[inner[typed.last]][0] + typed.end
            text = self.answer[start:end]
            self.found.append(
                Block(kind="row", start=start, text=text, depth=self.depth, command=typed.text)
            )
        runs = read_lines(lines, info, closed=closed)
        for low, high in runs:
            lists = not any(map(has_verb, lines[low:high]))
            self._nest(self.lines[inner[low]][0], self.lines[inner[high - 1]][1], deeper=int(lists))
        for places in hidden_in(lines):
            if not any(first <= line < last for line, _, _ in places for first, last in runs):
                starts = [self.lines[inner[line]][0] for line, _, _ in places]
                self._remark(
                    [
                        (start + low, start + high)
                        for start, (_, low, high) in zip(starts, places, strict=True)
                    ]
                )

    def _remark(self, spans: Sequence[Span]) -> None:
        """Take in the statements of a comment."""
        start, text = spans[0][0], self._text(spans)
        for one in sentences(text):
            said = text[one.start : one.end]
            if states_something(said):
                self.found.append(
                    Block(kind="prose", start=start + one.start, text=said, depth=self.depth)
                )

    def _nest(self, start: int, end: int, *, deeper: int = 0) -> None:
        """Take in the blocks of a part of the answer that is read on its own."""
        self.found.extend(
            replace(block, start=block.start + start, depth=block.depth + deeper)
            for block in _blocks(self.answer[start:end], depth=self.nesting + 1)
        )

    def _table(self, tokens: Sequence[Token], at: int) -> int:
        """Take in a table's rows; return the index of its last token."""
        first, last = tokens[at].map or [0, 0]
        self.covered.update(range(first, last))
        start, end = self.lines[first]
        header = tuple(cells(self.answer[start:end].lstrip(" \t>")))
        rows: list[int] = []
        while tokens[at].type != "table_close":
            if tokens[at].type == "tr_open":
                rows.append((tokens[at].map or [0])[0])
            at += 1
        # Without a body, its headers are what a table says.
        body = [line for line in rows[1:] if self._told(line)]
        if body:
            self._header(self.lines[first])
        for line in body or rows[:1]:
            self._row(line, header if body else ())
        return at

    def _told(self, line: int) -> bool:
        return any(map(str.isalnum, self.answer[slice(*self.lines[line])]))

    def _header(self, line: Span) -> None:
        """Take in headers that state something: "The fee is 90 EUR"."""
        at, end = line
        for cell in cells(self.answer[at:end].lstrip(" \t>")):
            at = self.answer.find(cell, at, end)
            if at < 0:
                return
            if states(cell):
                self.found.append(Block(kind="row", start=at, text=cell, depth=self.depth))
            at += len(cell)

    def _row(self, line: int, header: tuple[str, ...]) -> None:
        start, end = self.lines[line]
        source = self.answer[start:end]
        start += len(source) - len(source.lstrip(" \t>"))
        text = self.answer[start:end].rstrip()
        self.found.append(
            Block(kind="row", start=start, text=text, depth=self.depth, header=header)
        )

    def _rest(self) -> None:
        """Take in lines in which the parser saw only markers, or that lie too deep for it."""
        self.depth, self.item = 0, False
        for line, (start, end) in enumerate(self.lines):
            source = self.answer[start:end]
            if line in self.covered or not any(map(str.isalnum, source)):
                continue
            marks = _MARKS.match(source)
            self._add("prose", [(start + (marks.end() if marks else 0), end)])
