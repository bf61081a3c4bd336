"""Report or record -> an HTML fragment for a notebook or a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from faithguard._render._record import SAID, Shown, record_sheet
from faithguard._render._sheet import LOOKS, Sheet, sheet_of

if TYPE_CHECKING:
    from faithguard.store import Opinion
    from faithguard.types import Decision, Record, Report

__all__ = ["html", "record_html"]

# The two classes keep MathJax from reading "$5 to $6" as a formula.
_FRAME = (
    '<div class="tex2jax_ignore mathjax_ignore" style="font-family:system-ui,sans-serif;'
    "font-size:14px;line-height:1.5;max-width:72em;color:inherit;overflow-wrap:anywhere;"
    'text-align:left;overflow:hidden">'
)
_TEXT = (
    '<div dir="auto" style="white-space:pre-wrap;overflow:hidden;margin:8px 0;'
    'padding:8px 12px;border-left:3px solid rgba(128,128,128,.4)">'
)
_LIT = "48,164,108"
_MUTED = "opacity:.75;font-size:12px"
_CELL = (
    "padding:6px 10px 6px 0;vertical-align:top;text-align:left;white-space:normal;"
    "overflow:hidden;border-bottom:1px solid rgba(128,128,128,.3)"
)


def html(report: Report, decision: Decision | None = None) -> str:
    """Return a fragment that shows the report: no script, no style sheet, no request.

    A `decision` that is handed in is graded by, and told in words.
    """
    return f"{_FRAME}{_body(sheet_of(report, decision))}</div>"


def record_html(record: Record, opinions: Sequence[Opinion] = ()) -> str:
    """Return a fragment that shows a record: what was asked, found, answered, done and said."""
    sheet = record_sheet(record, opinions)
    parts = [_FRAME]
    if sheet.question:
        parts.append(f'<div dir="auto"><b><bdi>{escape(sheet.question)}</bdi></b></div>')
    parts.append(f'<div style="{_MUTED}"><bdi>{escape(" · ".join(sheet.about))}</bdi></div>')
    parts.append(_body(sheet.report))
    if sheet.said:
        parts.append(f"<div><b>{SAID}</b></div>")
    parts += [f'<div dir="auto"><bdi>{escape(said)}</bdi></div>' for said in sheet.said]
    for number, attempt in enumerate(sheet.earlier, start=1):
        parts.append(
            _fold(f"attempt {number}: {attempt.outcome}, {attempt.counts}", _body(attempt))
        )
    parts += [_fold(passage.title, _passage(passage)) for passage in sheet.passages]
    if sheet.left_out:
        parts.append(f"<div><b>{escape(sheet.left_out)}</b></div>")
    return "".join(parts) + "</div>"


def _fold(title: str, body: str) -> str:
    return f"<details><summary><bdi>{escape(title)}</bdi></summary>{body}</details>"


def _passage(passage: Shown) -> str:
    parts = [_TEXT]
    for text, lit in passage.pieces:
        marked = f'<mark style="{_tint(_LIT)}">{escape(text)}</mark>' if lit else escape(text)
        parts.append(marked)
    if passage.rest:
        parts.append(f"<b>{escape(passage.rest)}</b>")
    return "".join(parts) + "</div>"


def _body(sheet: Sheet) -> str:
    parts = [_headline(sheet)]
    if sheet.verdict:
        parts.append(f"<div>{escape(sheet.verdict)}</div>")
    parts += [f'<div style="{_MUTED}" dir="auto">{escape(note)}</div>' for note in sheet.notes]
    parts.append(_answer(sheet))
    if sheet.rows:
        parts.append(_table(sheet))
    if sheet.left_out:
        parts.append(f"<div><b>{escape(sheet.left_out)}</b></div>")
    if sheet.changes:
        parts.append("<div><b>changed by the guard</b></div>")
    for change in sheet.changes:
        cited = "".join(_cited(quote, place) for quote, place in change.evidence)
        parts.append(f"<div><bdi>{escape(change.words)}</bdi>{cited}</div>")
    parts.append(f'<div style="{_MUTED}">{escape(sheet.made_by)}</div>')
    return "".join(parts)


def _headline(sheet: Sheet) -> str:
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


def _answer(sheet: Sheet) -> str:
    parts = [_TEXT]
    for piece in sheet.pieces:
        for number, label in piece.begins:
            look = LOOKS[label]
            parts.append(
                f'<sup style="font-weight:600;padding:0 2px" title="{look.word}">'
                f"{look.sign}{number}</sup>"
            )
        text = f"<bdi>{escape(piece.text)}</bdi>"
        style = f' style="{_tint(LOOKS[piece.label].rgb)}"' if piece.label else ""
        parts.append(f"<span{style}>{text}</span>")
    if sheet.rest:
        parts.append(f"<b>{escape(sheet.rest)}</b>")
    return "".join(parts) + "</div>"


def _table(sheet: Sheet) -> str:
    heads = (("#", "4%"), ("verdict", "14%"), ("claim", "28%"), ("why", "25%"), ("evidence", "29%"))
    parts = [
        '<table style="border-collapse:collapse;table-layout:fixed;width:100%;color:inherit;'
        'background:transparent;font-size:13px"><thead><tr style="background:transparent">'
    ]
    parts += [f'<th style="{_CELL};width:{width}">{title}</th>' for title, width in heads]
    parts.append("</tr></thead><tbody>")
    for row in sheet.rows:
        look = LOOKS[row.label]
        verdict = f'<span style="{_tint(look.rgb)}">{look.sign} {escape(row.verdict)}</span>'
        why = "<br>".join(f"<bdi>{escape(note)}</bdi>" for note in row.notes)
        evidence = "".join(_cited(quote, place) for quote, place in row.evidence)
        cells = (str(row.number), verdict, f"<bdi>{escape(row.claim)}</bdi>", why, evidence)
        parts.append('<tr style="background:transparent">')
        parts += [f'<td style="{_CELL}">{cell}</td>' for cell in cells]
        parts.append("</tr>")
    return "".join(parts) + "</tbody></table>"


def _cited(quote: str, place: str) -> str:
    shown = f"<bdi>“{escape(quote)}”</bdi> " if quote else ""
    return f'<div>{shown}<span style="{_MUTED}"><bdi>{escape(place)}</bdi></span></div>'
