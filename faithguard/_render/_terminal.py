"""Report or record -> rich renderables, laid out for the width and the encoding of the terminal."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from faithguard._render._record import SAID, RecordSheet, record_sheet
from faithguard._render._sheet import LOOKS, Sheet, escaped, sheet_of

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

    from faithguard.store import Opinion
    from faithguard.types import Decision, Label, Record, Report

__all__ = ["record_terminal", "terminal", "text"]

_WIDE = 96  # columns from which a table can be read
_WIDEST = 120

# For a terminal that cannot show them; anything else becomes an escape such as \u4e2d.
_PLAIN = {
    "…": "...",
    "·": "|",
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "\u00a0": " ",
    "\u202f": " ",
}


def terminal(report: Report, decision: Decision | None = None) -> Iterator[RenderableType]:
    """Yield what rich prints: a headline, the answer with its claims marked, the claims.

    A `decision` that is handed in, by a policy of the caller's, is graded by and comes last in
    words; without one the domain of the exchange grades.
    """
    yield _Page(sheet_of(report, decision))


def record_terminal(record: Record, opinions: Sequence[Opinion] = ()) -> Iterator[RenderableType]:
    """Yield what rich prints of a record: what was asked, answered, done and found.

    Args:
        record: To be shown.
        opinions: What people said of its claims.
    """
    yield _RecordPage(record_sheet(record, opinions))


def text(report: Report, *, width: int = 100) -> str:
    """Return what a terminal shows of a report, without colours."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(report)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _fitted(encoding: str) -> Callable[[str], str]:
    """Return a function that turns text into what a terminal of that encoding can show."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        encoding = "ascii"

    def shown(character: str) -> str:
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            return _PLAIN.get(character) or escaped(character)
        return character

    def fit(text: str) -> str:
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            return "".join(map(shown, text))
        return text

    return fit


class _Page:
    """A sheet that is laid out when the width and the encoding of the terminal are known."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        fit = _fitted(options.encoding)
        signs: dict[Label, str] = {
            label: look.sign if fit(look.sign) == look.sign else look.ascii
            for label, look in LOOKS.items()
        }
        sheet = self.sheet
        yield self._headline(fit)
        for note in sheet.notes:
            yield Text(fit(note), style="dim", overflow="fold")
        yield Text()
        yield self._answer(fit, signs)
        if sheet.rows:
            yield Text()
            wide = options.max_width >= _WIDE
            yield from (self._table if wide else self._list)(fit, signs, options.max_width)
        if sheet.left_out:
            yield Text(fit(sheet.left_out), style="bold")
        yield from self._changes(fit)
        yield Text(fit(sheet.made_by), style="dim", overflow="fold")
        if sheet.verdict:
            yield Text()
            yield Text(fit(sheet.verdict), style=sheet.look[0], overflow="fold")

    def _headline(self, fit: Callable[[str], str]) -> RenderableType:
        from rich.text import Text

        sheet = self.sheet
        line = Text(overflow="fold")
        line.append(fit(sheet.outcome), style="bold")
        if sheet.counts:
            line.append(fit(f" · {sheet.counts}"))
        if sheet.level:
            line.append(fit(" · ")).append(fit(sheet.level), style=sheet.look[0])
        return line

    def _answer(self, fit: Callable[[str], str], signs: dict[Label, str]) -> RenderableType:
        from rich.text import Text

        text = Text(overflow="fold")
        for piece in self.sheet.pieces:
            for number, label in piece.begins:
                text.append(f"[{signs[label]}{number}] ", style=LOOKS[label].style)
            text.append(fit(piece.text), style=LOOKS[piece.label].style if piece.label else "")
        return text.append(fit(self.sheet.rest), style="bold")

    def _changes(self, fit: Callable[[str], str]) -> Iterator[RenderableType]:
        from rich.text import Text

        if not self.sheet.changes:
            return
        yield Text("changed by the guard", style="bold")
        for change in self.sheet.changes:
            cited = [_cited(quote, place, fit) for quote, place in change.evidence]
            yield Text(" ").join([Text(fit(change.words), overflow="fold"), *cited])
        yield Text()

    def _table(
        self, fit: Callable[[str], str], signs: dict[Label, str], width: int
    ) -> Iterator[RenderableType]:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=box.SIMPLE_HEAD, width=min(width, _WIDEST), padding=(0, 1, 0, 0), leading=1
        )
        table.add_column("#", justify="right", no_wrap=True)
        table.add_column("verdict", max_width=16)
        for title in ("claim", "why", "evidence"):
            table.add_column(title, ratio=1, overflow="fold")
        for row in self.sheet.rows:
            style = LOOKS[row.label].style
            table.add_row(
                Text(str(row.number)),
                Text(f"{signs[row.label]} {row.verdict}", style=style),
                Text(fit(row.claim)),
                Text(fit("\n".join(row.notes))),
                Text("\n").join(_cited(quote, place, fit) for quote, place in row.evidence),
            )
        yield table

    def _list(
        self, fit: Callable[[str], str], signs: dict[Label, str], width: int
    ) -> Iterator[RenderableType]:
        from rich.padding import Padding
        from rich.text import Text

        indent = (0, 0, 0, min(5, width // 4))
        for row in self.sheet.rows:
            style = LOOKS[row.label].style
            claim = Text(overflow="fold")
            claim.append(f"[{signs[row.label]}{row.number}]", style=style)
            yield claim.append(fit(f" {row.claim}"))
            why = Text(overflow="fold")
            why.append(row.verdict, style=style)
            if row.reason:
                why.append(fit(f": {row.reason}"))
            lines = [why]
            if row.cause:
                lines.append(Text(fit(row.cause), overflow="fold"))
            lines += [_cited(quote, place, fit) for quote, place in row.evidence]
            yield from (Padding(line, indent, expand=False) for line in lines)
        yield Text()


def _cited(quote: str, place: str, fit: Callable[[str], str]) -> Text:
    from rich.text import Text

    text = Text(overflow="fold")
    if quote:
        text.append(fit(f"“{quote}” "))
    return text.append(fit(f"({place})" if quote else place), style="dim")


class _RecordPage:
    """A record, laid out as its report is."""

    def __init__(self, sheet: RecordSheet) -> None:
        self.sheet = sheet

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        fit = _fitted(options.encoding)
        sheet = self.sheet
        if sheet.question:
            yield Text(fit(sheet.question), style="bold", overflow="fold")
        yield Text(fit(" · ".join(sheet.about)), style="dim", overflow="fold")
        yield Text()
        yield _Page(sheet.report)
        for number, attempt in enumerate(sheet.earlier, start=1):
            yield Text()
            yield Text(f"earlier attempt {number}", style="bold")
            yield _Page(attempt)
        for title, lines in self._lists():
            yield Text()
            yield Text(title, style="bold")
            for entry in lines:
                yield Text(fit(f"  {entry}"), overflow="fold")

    def _lists(self) -> Iterator[tuple[str, list[str]]]:
        sheet = self.sheet
        if sheet.said:
            yield SAID, list(sheet.said)
        if sheet.passages:
            lines = [passage.title for passage in sheet.passages]
            yield "context", [*lines, sheet.left_out] if sheet.left_out else lines
