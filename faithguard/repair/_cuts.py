"""What goes with a unit that goes: its line and marker, a title or lead-in with nothing left.

In: a layout, the units to leave out, and those that must stay. Out: edits that leave the rest
byte for byte as it was, with numbered items closed up; or nothing, where the rest could not
stand alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from faithguard.repair._edits import Edit
from faithguard.repair._layout import PREFIX, Layout, Unit
from faithguard.repair._numbers import MEANT, Numbered, Numbers
from faithguard.types import Span

__all__ = ["balanced", "cuts"]

_COLON = re.compile(r"[:：][\s*_`]*$")
_RULE = re.compile(r"[\s>|:-]*-[\s|:-]*")
_MARKERS = re.compile(
    r"(?m)(?:^[\s>]*|(?<=[.!?:;])\s+(?=\(?\d))(?:\(?\w{1,3}[.)]|[*_+-])(?=\s)|"
    r"(?<!\S)(?:\(?\w{1,3}[.)]|[*+-])\s*$"
)
_PLACE_BEFORE = re.compile(r"\(?\d{1,2}[.)]\s+\Z")
_PAIRS = ("**", "__", "`", "~~")
_QUOTES = re.compile(r"(?<!\d)\"|(?<=[.!?])\"|[„“”‟]")
"""Of which a text holds an even number; what stands behind a number may be inches."""
_EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)"
)
_SINGLE = re.compile(r"(?<!\w)['‘‚](?=[A-Z\d])|(?<=[.!?])['’‘]")
_BRACKETS = ("()", "[]", "{}", "«»", "‹›", "「」", "『』", "（）")
_TAG = re.compile(r"<(?P<closes>/?)(?P<name>a|b|i|u|s|q|em|strong|mark|del|ins|span|code)\b[^<>]*>")


def cuts(layout: Layout, gone: Collection[int], stay: Collection[int]) -> list[Edit] | None:
    """Return the edits that leave units out.

    Args:
        layout: Of the answer.
        gone: The indices of the units to leave out.
        stay: Those of units that must be kept.

    Returns:
        Edits; None if what must stay would go, or lose its marker, its mark-up or its meaning.
    """
    if not gone:
        return []
    every = _with_leaders(layout, set(gone), stay)
    if every & set(stay) or layout.is_json or any(layout.units[n].fenced for n in every):
        return None
    edits: list[Edit] = []
    lines: set[int] = set()
    for block in {layout.units[number].block for number in every}:
        units = layout.of_block(block)
        if all(unit.index in every for unit in units):
            if not _may_go(layout, units, every):
                return None
            lines |= set(range(layout.line_of(units[0].start), layout.line_of(units[-1].end) + 1))
        else:
            edits += _within(layout, units, every)
    lines |= _empty_tables(layout, lines)
    edits += _line_cuts(layout, lines)
    if not all(balanced(layout.answer[edit.start : edit.end]) for edit in edits):
        return None
    return _closed_up(layout, edits)


def _with_leaders(layout: Layout, gone: set[int], stay: Collection[int]) -> set[int]:
    """Add titles, lead-ins and labels under which nothing is left; an item that states one stays.

    "- Open from 9" is no label of what stands under it, unless a colon says so.
    """
    while True:
        added = {
            unit.index
            for unit in layout.units
            if unit.index not in gone
            and not (unit.item and unit.index in stay and not _COLON.search(layout.text(unit)))
            and (led := list(_led(layout, unit)))
            and all(other.index in gone for other in led)
        }
        if not added:
            return gone
        gone |= added


def _led(layout: Layout, unit: Unit) -> Iterator[Unit]:
    """Yield what stands under a title, a lead-in, or an item that has items of its own."""
    after = layout.units[unit.index + 1 :]
    if unit.title:
        for other in after:
            if other.title and other.title <= unit.title:
                return
            yield other
        return
    if unit.kind != "prose":
        return
    deeper = list(_deeper(unit, after))
    if not _COLON.search(layout.text(unit)):
        # "- Covered", and under it what is
        yield from deeper if unit.item and not _ends(layout.text(unit)) else ()
    elif deeper:
        yield from deeper
    elif after:
        yield from layout.of_block(after[0].block) if after[0].block != unit.block else after[:1]


def _deeper(unit: Unit, after: Collection[Unit]) -> Iterator[Unit]:
    for other in after:
        if other.level <= unit.level or other.title:
            return
        yield other


def _ends(text: str) -> bool:
    return text.rstrip("*_` ").endswith((".", "!", "?", "。"))


def _may_go(layout: Layout, units: list[Unit], gone: Collection[int]) -> bool:
    """Say whether a block can go; not if what stands under its marker stays."""
    first, last = units[0], units[-1]
    if not first.item:
        return True
    following = layout.units[last.index + 1 :]
    own = [u for u in following[:1] if u.block != last.block and not u.item and u.level]
    under = [*own, *_deeper(first, following)]
    return all(
        unit.index in gone or unit.title for unit in under if _same_item(layout, first, unit)
    )


def _same_item(layout: Layout, item: Unit, other: Unit) -> bool:
    """Say whether a unit is indented as what belongs to an item is."""
    margins: list[int] = []
    for unit in (item, other):
        start, end = layout.lines[layout.line_of(unit.start)]
        match = PREFIX.match(layout.answer, start, end)
        margins.append(len(match["indent"]) if match else 0)
    return other.level > item.level or margins[1] > margins[0]


def _within(layout: Layout, units: list[Unit], gone: Collection[int]) -> Iterator[Edit]:
    """Yield the stretches of a block to take out, with the space on one side of each."""
    place = 0
    while place < len(units):
        if units[place].index not in gone:
            place += 1
            continue
        stop = place
        while stop < len(units) and units[stop].index in gone:
            stop += 1
        if stop < len(units):
            end = units[stop].start
            if units[stop].item and not units[place].item:
                own = _PLACE_BEFORE.search(layout.answer, units[place].end, end)
                end = own.start() if own else end
            yield Edit(units[place].start, end, "")
        else:
            yield Edit(units[place - 1].end, units[-1].end, "")
        place = stop


def _empty_tables(layout: Layout, lines: Collection[int]) -> set[int]:
    """Return the lines of the headers of tables that have no row left."""
    empty: set[int] = set()
    texts = [layout.answer[slice(*line)] for line in layout.lines]
    for number in range(1, len(texts)):
        if "|" not in texts[number] and "|" not in texts[number - 1]:
            continue
        if not _RULE.fullmatch(texts[number]):
            continue
        below = number + 1
        while below < len(texts) and below in lines and texts[below].strip(" \t>"):
            below += 1
        rows = range(number + 1, below)
        done = below == len(texts) or "|" not in texts[below]
        if len(rows) and done:
            empty |= {number - 1, number}
    return empty


def _line_cuts(layout: Layout, lines: Collection[int]) -> Iterator[Edit]:
    """Yield runs of whole lines to take out; of the empty lines around one, those after it go."""
    texts = [layout.answer[slice(*line)] for line in layout.lines]

    def empty(number: int) -> bool:
        return not texts[number].strip(" \t>")

    order = sorted(lines)
    place = 0
    while place < len(order):
        first = last = order[place]
        # what is empty between two that go goes too
        while place + 1 < len(order) and all(map(empty, range(last + 1, order[place + 1]))):
            place += 1
            last = order[place]
        place += 1
        above, below = first - 1, last + 1
        rest = [number for number in range(below, len(texts)) if not empty(number)]
        if not rest:
            # the end of the answer stays as it is
            while above >= 0 and empty(above):
                above -= 1
            start = layout.lines[above][1] if above >= 0 else 0
            yield Edit(start, layout.lines[last][1], "")
        elif above < 0 or empty(above):
            yield Edit(layout.lines[first][0], layout.lines[rest[0]][0], "")
        else:
            yield Edit(layout.lines[first][0], layout.lines[below][0], "")


def balanced(piece: str) -> bool:
    """Say whether taking a piece out leaves no mark-up, quotation or bracket open."""
    piece = _MARKERS.sub("", piece)
    tags = Counter(tag["name"] for tag in _TAG.finditer(piece) if not tag["closes"])
    tags.subtract(tag["name"] for tag in _TAG.finditer(piece) if tag["closes"])
    return (
        all(piece.count(mark) % 2 == 0 for mark in _PAIRS)
        and all(len(marks.findall(piece)) % 2 == 0 for marks in (_QUOTES, _SINGLE, _EMPHASIS))
        and all(piece.count(pair[0]) == piece.count(pair[1]) for pair in _BRACKETS)
        and not any(tags.values())
    )


def _closed_up(layout: Layout, edits: list[Edit]) -> list[Edit] | None:
    """Add what closes the numbers of lists up; None if a text means one of them."""
    gone = [(edit.start, edit.end) for edit in edits]
    renumbered: list[Edit] = []
    for markers in _numbered(layout):
        last = int(markers[0][1]) - 1
        fewer = False
        for at, number in markers:
            if any(start <= at < end for start, end in gone):
                fewer = True
                continue
            last = last + 1 if fewer else int(number)
            if last != int(number):
                renumbered.append(Edit(at, at + len(number), str(last)))
        if fewer:
            first = int(markers[0][1])
            kept = [m for m in MEANT.finditer(layout.answer) if not _inside(m.start(), gone)]
            if any(int(m[1]) >= first for m in kept):
                return None
    return edits + renumbered


def _inside(at: int, spans: list[Span]) -> bool:
    return any(start <= at < end for start, end in spans)


def _numbered(layout: Layout) -> Iterator[list[tuple[int, str]]]:
    """Yield the markers of each numbered list: where the number stands, and the number."""
    numbers = Numbers()
    lists: dict[Numbered, list[tuple[int, str]]] = defaultdict(list)
    fenced = {layout.line_of(unit.start) for unit in layout.units if unit.fenced}
    for number, line in enumerate(layout.lines):
        if number in fenced:
            continue
        for own, match in numbers.line(layout.answer, *line):
            lists[own].append((match.start("number"), match["number"]))
    yield from lists.values()
