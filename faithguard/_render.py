"""Show a report to a person.

In: a Report. Out: rich renderables for a terminal, or an HTML fragment for a notebook.

Answers, passages and what judges say are hostile text. They are shown, never interpreted:
no markup, no tag, no terminal sequence and no invisible character in them has an effect, and
none of them, however long, takes more than its place.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING

from faithguard.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

    from faithguard.types import Cause, Claim, Decision, Evidence, Exchange, Label, Outcome, Report

__all__ = ["html", "terminal", "text", "visible"]

# Characters shown of one text.
_ANSWER = 6_000
_CLAIM = 400
_REASON = 300
_QUOTE = 300
_SOURCE = 80
_SLACK = 40  # a cut that saves less than its own notice is none

# Entries shown of one list.
_CLAIMS = 500
_EVIDENCE = 3
_FAILURES = 5

_WIDE = 72  # columns from which a table can be read
_WIDEST = 120


@dataclass(frozen=True, slots=True)
class _Look:
    sign: str
    ascii: str
    word: str
    style: str
    """For rich; colour and weight, since there may be no colour."""
    rgb: str
    """For CSS: a tint under inherited text, so that it reads on light and on dark."""


# Worst first: where claims overlap, the first of these gives the colour.
_LOOKS: dict[Label, _Look] = {
    "contradicted": _Look("✗", "x", "contradicted", "bold red", "229,72,77"),
    "not_mentioned": _Look("?", "?", "not mentioned", "yellow", "214,140,0"),
    "failed": _Look("∅", "e", "failed", "bold magenta", "171,74,186"),
    "conflicting": _Look("!", "!", "conflicting", "bold cyan", "0,138,175"),
    "supported": _Look("✓", "+", "supported", "green", "48,164,108"),
    "not_checked": _Look("–", "-", "not checked", "dim", "139,141,152"),
}

_OUTCOMES: dict[Outcome, str] = {
    "scored": "scored",
    "abstained": "abstained: the answer says that it does not know",
    "no_claims": "no claims: the answer states nothing that can be checked",
    "no_context": "no context: there is nothing to check the claims against",
    "incomplete": "incomplete: verdicts are missing",
    "failed": "failed: no verdict could be had",
}

_CAUSES: dict[Cause, str] = {
    "generation": "generation (the model went against or beyond what it saw)",
    "truncation": "truncation (a passage that says so never reached the prompt)",
    "retrieval": "retrieval (nothing that was retrieved is about it)",
}

_LEVELS = {
    "safe": ("bold green", "48,164,108"),
    "warning": ("bold yellow", "214,140,0"),
    "block": ("bold red", "229,72,77"),
}
_NO_LEVEL = ("bold", "139,141,152")

# Control characters, and what is invisible or turns the direction of text. The joiners U+200C
# and U+200D stay: Persian, Indic scripts and emoji are written with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe"
    "\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NEWLINE = re.compile("\r\n?")

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


def visible(text: str) -> str:
    """Return `text` with control, invisible and direction-turning characters as escapes."""
    lines = _NEWLINE.sub("\n", text).replace("\t", "    ")
    return _HIDDEN.sub(lambda match: _escaped(match[0]), lines)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit + _SLACK:
        return text
    return f"{text[:limit]}… {len(text) - limit:,} more characters"


def _line(text: str, limit: int) -> str:
    """Return `text` on one line, cut and safe to show."""
    return " ".join(visible(_cut(text, limit)).split())


# What both views show.


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the answer under the same claims."""

    text: str
    label: Label | None
    """The worst of the claims that cover it."""
    begins: tuple[tuple[int, Label], ...]
    """Number and label of the claims that begin with it."""


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    label: Label
    verdict: str
    claim: str
    notes: tuple[str, ...]
    """The reason, and the cause."""
    evidence: tuple[tuple[str, str], ...]
    """A quote, and where it stands."""


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A report in the words that a person reads; every text is safe and of bounded length."""

    outcome: str
    counts: str
    level: str
    """What the domain makes of it; empty where that cannot be said."""
    look: tuple[str, str]
    """Style and colour of the headline."""
    notes: tuple[str, ...]
    pieces: tuple[_Piece, ...]
    rest: str
    """What was cut off from the answer, in words."""
    rows: tuple[_Row, ...]
    left_out: str
    """What was cut off from the rows, in words."""
    made_by: str
    verdict: str
    """The words of a decision that was handed in."""


def _sheet(report: Report, given: Decision | None = None) -> _Sheet:
    decision, trouble = (given, "") if given else _decision(report)
    level = decision.level if decision else None
    claims = _shown(report)
    hidden = len(report.claims) - len(claims)
    answer = report.exchange.answer
    end = len(answer) if len(answer) <= _ANSWER + _SLACK else _ANSWER
    return _Sheet(
        outcome=_OUTCOMES[report.outcome],
        counts=_counts(report, decision),
        level=_level(decision) if decision else "",
        look=_LEVELS[level] if level else _NO_LEVEL,
        notes=tuple(_notes(report, trouble)),
        pieces=tuple(_pieces(answer[:end], claims)),
        rest=f"… {len(answer) - end:,} more characters" if end < len(answer) else "",
        rows=tuple(_row(number, claim, report.exchange) for number, claim in claims),
        left_out=f"… {hidden:,} more claims" if hidden else "",
        made_by=_made_by(report),
        verdict=_verdict(given) if given else "",
    )


def _decision(report: Report) -> tuple[Decision | None, str]:
    """Return the decision for the report's own domain, or why there is none.

    A view is no place to fail: whatever goes wrong here only leaves the level out.
    """
    try:
        return report.decide(), ""
    except ConfigError as error:
        return None, f"no decision: {_line(str(error), _REASON)}"
    except Exception:
        return None, ""


def _counts(report: Report, decision: Decision | None) -> str:
    if not report.total:
        return ""
    marks = (0.0, 1.0) if decision is None else (0.0, decision.warning, decision.safe, 1.0)
    claims = "claim" if report.total == 1 else "claims"
    counts = f"{report.supported:,} of {report.total:,} {claims} supported"
    if report.score is not None:
        return f"{counts}: {_number(report.score, marks)}"
    if report.bounds is not None:
        low, high = report.bounds
        return f"{counts}: between {_number(low, marks)} and {_number(high, marks)}"
    return counts


def _number(score: float, marks: tuple[float, ...]) -> str:
    """Return a score with as many decimals as it takes to stay on its side of every mark."""

    def honest(digits: int) -> bool:
        shown = round(score, digits)
        return all((shown >= mark, shown > mark) == (score >= mark, score > mark) for mark in marks)

    return f"{score:.{next(filter(honest, range(2, 6)), 6)}f}"


def _level(decision: Decision) -> str:
    domain = _line(decision.domain, _SOURCE)
    if decision.level is None:
        return f"{'passes' if decision.passed else 'does not pass'} for {domain}"
    return f"{decision.level} for {domain} (safe from {decision.safe:g})"


def _verdict(decision: Decision) -> str:
    return f"{'passed' if decision.passed else 'not passed'}: {_line(decision.reason, _ANSWER)}"


def _notes(report: Report, trouble: str) -> Iterator[str]:
    if trouble:
        yield trouble
    if report.exchange.context_source == "prompt":
        yield "no retrieval was seen: the text of the prompt served as context"
    for failure in report.failures[:_FAILURES]:
        whole = failure.claim is None
        yield (
            f"{'stage' if whole else 'verdict'} missing ({failure.kind}, "
            f"{_line(failure.stage, _SOURCE)}): {_line(failure.message, _REASON)}"
        )
    if len(report.failures) > _FAILURES:
        yield f"… {len(report.failures) - _FAILURES:,} more failures"


def _shown(report: Report) -> list[tuple[int, Claim]]:
    """Number the claims and choose which to show: if not all, then first those that failed."""
    numbered = list(enumerate(report.claims, start=1))
    if len(numbered) <= _CLAIMS:
        return numbered
    numbered.sort(key=lambda pair: (pair[1].supported, pair[1].kind != "fact"))
    return sorted(numbered[:_CLAIMS], key=lambda pair: pair[0])


def _pieces(answer: str, claims: list[tuple[int, Claim]]) -> Iterator[_Piece]:
    """Part the answer where claims begin and end; their spans may overlap or lie outside."""
    begins: dict[int, list[tuple[int, Label]]] = {}
    change: dict[int, Counter[Label]] = {0: Counter(), len(answer): Counter()}
    for number, claim in claims:
        start, stop = max(claim.span[0], 0), min(claim.span[1], len(answer))
        if start >= stop:
            continue
        begins.setdefault(start, []).append((number, claim.label))
        change.setdefault(start, Counter())[claim.label] += 1
        change.setdefault(stop, Counter())[claim.label] -= 1
    cover: Counter[Label] = Counter()
    places = sorted(change)
    for start, stop in pairwise(places):
        cover.update(change[start])
        worst: Label | None = next((label for label in _LOOKS if cover[label] > 0), None)
        yield _Piece(visible(answer[start:stop]), worst, tuple(begins.get(start, ())))


def _row(number: int, claim: Claim, exchange: Exchange) -> _Row:
    kind = "" if claim.kind == "fact" else f" ({claim.kind})"
    notes = [_line(claim.reason, _REASON)] if claim.reason else []
    if claim.cause is not None:
        notes.append(f"cause: {_CAUSES[claim.cause]}")
    evidence = [
        (_line(piece.quote, _QUOTE), _where(piece, exchange))
        for piece in claim.evidence[:_EVIDENCE]
    ]
    if len(claim.evidence) > _EVIDENCE:
        evidence.append(("", f"… {len(claim.evidence) - _EVIDENCE:,} more"))
    return _Row(
        number=number,
        label=claim.label,
        verdict=_LOOKS[claim.label].word + kind,
        claim=_line(claim.text, _CLAIM),
        notes=tuple(notes),
        evidence=tuple(evidence),
    )


def _where(evidence: Evidence, exchange: Exchange) -> str:
    place = f"passage {evidence.passage + 1}"
    if not 0 <= evidence.passage < len(exchange.passages):
        return f"{place}, which is not in the context"
    passage = exchange.passages[evidence.passage]
    if passage.source:
        place += f", {_line(passage.source, _SOURCE)}"
    if not evidence.stands_in(exchange):
        place += "; the quote does not stand there"
    return place if passage.seen else f"{place}; never reached the prompt"


def _made_by(report: Report) -> str:
    usage = report.usage
    parts = [
        f"{_line(stage, 40)} {_line(name, _SOURCE)}" for stage, name in report.versions.items()
    ]
    parts.append(f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}")
    if usage.cached:
        parts.append(f"{usage.cached:,} verdicts from the cache")
    parts.append(f"{usage.seconds:.2f} s")
    return " · ".join(parts[-12:])


# Terminal.


def terminal(report: Report, decision: Decision | None = None) -> Iterator[RenderableType]:
    """Yield what rich prints: a headline, the answer with its claims marked, the claims.

    A `decision` that is handed in, by a policy of the caller's, is graded by and comes last in
    words; without one the domain of the exchange grades.
    """
    yield _Page(_sheet(report, decision))


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
            return _PLAIN.get(character) or _escaped(character)
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

    def __init__(self, sheet: _Sheet) -> None:
        self.sheet = sheet

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        fit = _fitted(options.encoding)
        signs: dict[Label, str] = {
            label: look.sign if fit(look.sign) == look.sign else look.ascii
            for label, look in _LOOKS.items()
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
                text.append(f"[{signs[label]}{number}] ", style=_LOOKS[label].style)
            text.append(fit(piece.text), style=_LOOKS[piece.label].style if piece.label else "")
        text.append(fit(self.sheet.rest), style="bold")
        return text if text.plain else Text("(empty answer)", style="dim")

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
            style = _LOOKS[row.label].style
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

        for row in self.sheet.rows:
            head = f"[{signs[row.label]}{row.number}] {row.verdict}"
            yield Text(head, style=_LOOKS[row.label].style, overflow="fold")
            indent = (0, 0, 0, min(4, width // 4))
            yield Padding(Text(fit(row.claim), overflow="fold"), indent)
            for note in row.notes:
                yield Padding(Text(fit(note), overflow="fold"), indent)
            for quote, place in row.evidence:
                yield Padding(_cited(quote, place, fit), indent)


def _cited(quote: str, place: str, fit: Callable[[str], str]) -> Text:
    from rich.text import Text

    text = Text(overflow="fold")
    if quote:
        text.append(fit(f"“{quote}” "))
    return text.append(fit(f"({place})" if quote else place), style="dim")


# Notebook.

# The two classes keep MathJax from reading "$5 to $6" as a formula.
_FRAME = (
    '<div class="tex2jax_ignore mathjax_ignore" style="font-family:system-ui,sans-serif;'
    "font-size:14px;line-height:1.5;max-width:72em;color:inherit;overflow-wrap:anywhere;"
    'text-align:left;overflow:hidden">'
)
_MUTED = "opacity:.75;font-size:12px"
_CELL = (
    "padding:6px 10px 6px 0;vertical-align:top;text-align:left;white-space:normal;"
    "overflow:hidden;border-bottom:1px solid rgba(128,128,128,.3)"
)


def html(report: Report) -> str:
    """Return a fragment that shows the report: no script, no style sheet, no request."""
    sheet = _sheet(report)
    parts = [_FRAME, _html_headline(sheet)]
    parts += [f'<div style="{_MUTED}" dir="auto">{escape(note)}</div>' for note in sheet.notes]
    parts.append(_html_answer(sheet))
    if sheet.rows:
        parts.append(_html_table(sheet))
    if sheet.left_out:
        parts.append(f"<div><b>{escape(sheet.left_out)}</b></div>")
    parts.append(f'<div style="{_MUTED}">{escape(sheet.made_by)}</div></div>')
    return "".join(parts)


def _html_headline(sheet: _Sheet) -> str:
    line = f"<b>{escape(sheet.outcome)}</b>"
    if sheet.counts:
        line += f" · {escape(sheet.counts)}"
    if sheet.level:
        line += f' · <span style="{_tint(sheet.look[1])}">{escape(sheet.level)}</span>'
    return f'<div style="font-size:16px;margin:4px 0">{line}</div>'


def _tint(rgb: str) -> str:
    return (
        f"background:rgba({rgb},.2);border-bottom:2px solid rgb({rgb});color:inherit;padding:0 2px"
    )


def _html_answer(sheet: _Sheet) -> str:
    parts = [
        '<div dir="auto" style="white-space:pre-wrap;overflow:hidden;margin:8px 0;'
        'padding:8px 12px;border-left:3px solid rgba(128,128,128,.4)">'
    ]
    for piece in sheet.pieces:
        for number, label in piece.begins:
            look = _LOOKS[label]
            parts.append(
                f'<sup style="font-weight:600;padding:0 2px" title="{look.word}">'
                f"{look.sign}{number}</sup>"
            )
        text = f"<bdi>{escape(piece.text)}</bdi>"
        style = f' style="{_tint(_LOOKS[piece.label].rgb)}"' if piece.label else ""
        parts.append(f"<span{style}>{text}</span>")
    if sheet.rest:
        parts.append(f"<b>{escape(sheet.rest)}</b>")
    if not sheet.pieces:
        parts.append(f'<span style="{_MUTED}">(empty answer)</span>')
    return "".join(parts) + "</div>"


def _html_table(sheet: _Sheet) -> str:
    heads = (("#", "4%"), ("verdict", "14%"), ("claim", "28%"), ("why", "25%"), ("evidence", "29%"))
    parts = [
        '<table style="border-collapse:collapse;table-layout:fixed;width:100%;color:inherit;'
        'background:transparent;font-size:13px"><thead><tr style="background:transparent">'
    ]
    parts += [f'<th style="{_CELL};width:{width}">{title}</th>' for title, width in heads]
    parts.append("</tr></thead><tbody>")
    for row in sheet.rows:
        look = _LOOKS[row.label]
        verdict = f'<span style="{_tint(look.rgb)}">{look.sign} {escape(row.verdict)}</span>'
        why = "<br>".join(f"<bdi>{escape(note)}</bdi>" for note in row.notes)
        evidence = "".join(_html_cited(quote, place) for quote, place in row.evidence)
        cells = (str(row.number), verdict, f"<bdi>{escape(row.claim)}</bdi>", why, evidence)
        parts.append('<tr style="background:transparent">')
        parts += [f'<td style="{_CELL}">{cell}</td>' for cell in cells]
        parts.append("</tr>")
    return "".join(parts) + "</tbody></table>"


def _html_cited(quote: str, place: str) -> str:
    shown = f"<bdi>“{escape(quote)}”</bdi> " if quote else ""
    return f'<div>{shown}<span style="{_MUTED}"><bdi>{escape(place)}</bdi></span></div>'
