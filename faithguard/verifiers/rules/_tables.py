"""Tables and lists of a passage as what they are: rows under a header, items under a label.

In: the sentences and passages of a context. Out: `Table`s with their cells, empty ones included,
and `Group`s: the items of "Label: a, b, c", or of the lines under "Label:".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faithguard.verifiers._context import Sentence
from faithguard.verifiers.rules._reading import Reading, read

__all__ = ["Cell", "Group", "Table", "groups_of", "tables_of"]

_MOST_ROWS = 400
_YES = frozenset("yes y x ✓ ✔ ✅ ☑ 👍 true ja oui sí si sim included 有 是".split())
_NO = frozenset(
    (
        "no",
        "n",
        "–",
        "-",
        "—",
        "✗",
        "✘",
        "❌",
        "✖",
        "👎",
        "🚫",
        "false",
        "nein",
        "non",
        "não",
        "",
        "none",
        "无",
        "否",
    )
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one cell."""

    text: str
    reading: Reading

    @property
    def truth(self) -> bool | None:
        """Whether it says yes or no; None if it says something else."""
        plain = self.text.lower().rstrip("\ufe0f")
        return True if plain in _YES else False if plain in _NO else None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under one header."""

    header: tuple[Reading, ...]
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]
    """The number of the sentence of each row, with its cells."""

    def column(self, number: int) -> list[Cell]:
        """Return the cells of a column."""
        return [cells[number] for _, cells in self.rows if number < len(cells)]

    def asks(self, number: int) -> bool:
        """Whether a column only says yes or no."""
        cells = self.column(number)
        known = [cell.truth for cell in cells]
        return len(cells) > 1 and None not in known and any(cell.text for cell in cells)


def tables_of(sentences: Sequence[Sentence]) -> list[Table]:
    """Return the tables of a context."""
    rows: dict[tuple[int, str], list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        if sentence.header:
            rows[sentence.passage, sentence.header].append(number)
    found: list[Table] = []
    for (_, header), numbers in rows.items():
        mark = sentences[numbers[0]].mark
        head = tuple(read(text.replace("_", " ")) for text in _split(header, mark))
        cells = [
            (n, tuple(Cell(text, read(text)) for text in _split(sentences[n].text, mark)))
            for n in numbers[:_MOST_ROWS]
        ]
        found.append(Table(head, tuple(cells)))
    return found + list(_records(sentences))


_FIELD_OF = re.compile(
    r"[\s*•-]{0,6}(?P<label>[^\W\d][^:.!?|]{0,60}):(?!\d|//)\s*(?P<held>\S.{0,200})$"
)
_FEWEST_FIELDS = 2


def _records(sentences: Sequence[Sentence]) -> Iterator[Table]:
    """Yield as tables the blocks of "key: value" lines that have the same keys."""
    blocks: list[list[tuple[int, str, str]]] = []
    for number, sentence in enumerate(sentences):
        field = None if sentence.header else _FIELD_OF.match(sentence.text)
        if field is None:
            blocks.append([])
            continue
        label, held = field["label"].strip(), field["held"].strip()
        if not blocks or label in {other for _, other, _ in blocks[-1]}:
            blocks.append([])
        blocks[-1].append((number, label, held))
    by_first: dict[str, list[list[tuple[int, str, str]]]] = defaultdict(list)
    for block in blocks:
        if len(block) >= _FEWEST_FIELDS:
            by_first[block[0][1]].append(block)
    for alike in by_first.values():
        labels = [label for _, label, _ in alike[0]]
        rows = tuple(
            (block[0][0], tuple(Cell(text, read(text)) for text in _in_order(block, labels)))
            for block in alike[:_MOST_ROWS]
        )
        if len(rows) > 1:
            yield Table(tuple(map(read, labels)), rows)


def _in_order(block: list[tuple[int, str, str]], labels: list[str]) -> list[str]:
    held = {label: text for _, label, text in block}
    return [held.get(label, "") for label in labels]


def _split(line: str, mark: str) -> list[str]:
    line = line.strip()
    if mark == "|":
        line = line.removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in line.split(mark)]


@dataclass(frozen=True, slots=True)
class Group:
    """Items under one label."""

    label: Reading
    items: tuple[Reading, ...]
    place: int
    """Where its text begins in the passage."""
    passage: int


_LABEL = re.compile(
    r"(?P<bullet>[\s*•–-]{0,6})(?P<label>[^\W\d_][^:.!?|\n]{0,80}?)\s?:(?!//|\d)\s*(?P<rest>.*)$"
)
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)]|\[[ xX]\])\s+(?P<item>\S.*)$")
_DIVIDES = re.compile(
    r"\s*(?:,(?!\d{3}\b)|[;、，])\s*(?:and\s+|or\s+|und\s+|et\s+|y\s+|e\s+)?|\s+(?:and|und|et)\s+"
)
_ASIDE = re.compile(r"\([^()]{0,200}\)")
_FEWEST, _LONGEST_LINE, _LONGEST_ITEM = 2, 1_000, 90


def groups_of(texts: Sequence[str]) -> list[Group]:
    """Return the lists of passages, those of a line and those of several lines."""
    return [group for n, text in enumerate(texts) for group in _groups(n, text)]


def _groups(passage: int, text: str) -> Iterator[Group]:
    above, begin, at = "", 0, 0
    items: list[str] = []
    for line in text.split("\n"):
        if "|" in line or len(line) > _LONGEST_LINE:
            at += len(line) + 1
            continue
        bullet = _BULLET.match(line)
        if bullet is None:
            if len(items) >= _FEWEST:
                yield _group(above, items, begin, passage)
            if line.strip():
                above, items, begin = re.split(r"[.!?]\s", line.strip().rstrip(":"))[-1], [], at
        else:
            item = bullet["item"]
            labelled = _LABEL.match(item)
            items += _items(labelled["rest"]) if labelled else [item.rstrip(".;,")]
        for part in re.split(r"(?<=[.!?])\s+", line):
            labelled = _LABEL.match(_BULLET.sub(r"\g<item>", part))
            if labelled and len(inline := _items(labelled["rest"])) >= 1:
                yield _group(labelled["label"], inline, at, passage)
        at += len(line) + 1
    if len(items) >= _FEWEST:
        yield _group(above, items, begin, passage)


def _items(text: str) -> list[str]:
    parts = _DIVIDES.split(_ASIDE.sub("", text).strip().rstrip("."))
    return [part for part in parts if part.strip() and len(part) <= _LONGEST_ITEM]


def _group(label: str, items: list[str], place: int, passage: int) -> Group:
    plain = [_ASIDE.sub("", item).strip() for item in items]
    return Group(read(_ASIDE.sub("", label).strip()), tuple(map(read, plain)), place, passage)
