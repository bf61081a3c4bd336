"""Text with HTML tables -> their rows.

In: an answer or a passage. Out: where each row stands, its cells and the heads of its columns; and
the text with the rows blanked, so that places in it are places in the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Row", "html_rows", "without_rows"]

_TABLE = re.compile(r"<table\b[^<>]{0,500}>(?=(?:[^<]|<(?!/?table\b))*?<tr\b)", re.IGNORECASE)
_END = re.compile(r"</table\s*>", re.IGNORECASE)
_ROW = re.compile(
    r"<tr\b[^<>]{0,500}>(?P<cells>(?:[^<]|<(?!/?(?:tr|tbody|thead|tfoot|table)\b))*)"
    r"(?P<end></tr\s*>|(?=</?(?:tr|tbody|thead|tfoot|table)\b))",
    re.IGNORECASE,
)
_CELL = re.compile(r"<(?P<kind>t[dh])\b(?P<has>[^<>]{0,500})>", re.IGNORECASE)
_CLOSED = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
_FRAME = re.compile(
    r"</?(?:table|thead|tbody|tfoot|colgroup|col|caption)\b[^<>]{0,500}>", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_SPANS = re.compile(r"(?:col|row)span\s*=\s*[\"']?\s*(?!1\b)\d", re.IGNORECASE)
_VISIBLE = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    start: int
    end: int
    cells: tuple[str, ...]
    """With the markup inside them."""
    header: tuple[str, ...] = ()
    """The heads of its columns; none where the cells do not stand under them one by one."""
    named: bool = False
    """Whether its first cell is a head of its own: "<th>Price</th><td>5 euros</td>"."""
    head: bool = False
    """Whether it is the heads of the rows that follow."""

    @property
    def said(self) -> str:
        """What it says, with the markup inside its cells: "Plan: Basic; Fee: 5 EUR"."""
        if self.named:
            return f"{self.cells[0].rstrip(':')}: {', '.join(filter(None, self.cells[1:]))}"
        names = self.header or ("",) * len(self.cells)
        pairs = zip(names, self.cells, strict=True)
        return "; ".join(
            f"{name.rstrip(':')}: {held}" if name else held for name, held in pairs if held
        )

    @property
    def plain(self) -> str:
        """What it says, without markup."""
        return " ".join(html.unescape(_TAG.sub(" ", self.said)).split())


def html_rows(text: str) -> list[Row]:
    """Return the rows of the tables of a text in their order; a table may lack its end."""
    return [row for start, end in _tables(text) for row in _rows(text, start, end)]


def without_rows(text: str) -> str:
    """Return a text of the same length with blanks for the rows and the frames of its tables."""
    parts: list[str] = []
    at = 0
    for start, end in _tables(text):
        body = _ROW.sub(_blank, text[start:end])
        parts += [text[at:start], _FRAME.sub(_blank, body)]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def _blank(match: re.Match[str]) -> str:
    return _VISIBLE.sub(" ", match[0])


def _tables(text: str) -> Iterator[tuple[int, int]]:
    if "<" not in text:
        return
    at = 0
    while (opened := _TABLE.search(text, at)) is not None:
        closed = _END.search(text, opened.end())
        at = len(text) if closed is None else closed.end()
        yield opened.start(), at


def _rows(text: str, start: int, end: int) -> Iterator[Row]:
    header: tuple[str, ...] = ()
    found = list(_ROW.finditer(text, start, end))
    spans = _SPANS.search(text, start, end) is not None
    for number, match in enumerate(found):
        kinds, cells = _cells(match["cells"])
        head = bool(kinds) and kinds == {"th"} and len(cells) > 1 and number + 1 < len(found)
        if head:
            header = () if spans else cells
        under = header if len(header) == len(cells) and not head else ()
        named = not under and len(cells) > 1 and "th" in kinds and not head
        yield Row(match.start(), match.end(), cells, under, named, head)


def _cells(source: str) -> tuple[set[str], tuple[str, ...]]:
    """Return the kinds of the cells of a row, and what stands in them."""
    marks = list(_CELL.finditer(source))
    stray = source[: marks[0].start()] if marks else source
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    cells = [
        _CLOSED.sub(" ", source[mark.end() : end]).strip()
        for mark, end in zip(marks, ends, strict=False)
    ]
    cells = [stray.strip(), *cells] if stray.strip() else cells
    return {mark["kind"].lower() for mark in marks}, tuple(cells)
