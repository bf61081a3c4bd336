"""Comparison -> tables and lines for a terminal, and Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from faithguard._render._sheet import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from faithguard.stats import Comparison, Drop

__all__ = ["comparison_markdown", "comparison_page", "failed_markdown"]

_DROPS = 10
_QUESTION = 160

_SIGNS = {"held": "✅", "worse": "❌", "unknown": "❓"}


def comparison_page(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield what rich prints of a comparison: the figures, what was left out, the drops."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in _head(comparison):
        table.add_column(name, justify="right" if name else "left", overflow="fold")
    for row in _figures(comparison):
        table.add_row(*(Text(cell) for cell in row))
    yield table
    for note in _notes(comparison):
        yield Text(note, overflow="fold")
    if comparison.drops:
        yield Text()
        drops = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for name in ("got worse", "passed", "score", "now"):
            drops.add_column(name, overflow="fold")
        for drop in comparison.drops[:_DROPS]:
            drops.add_row(*(Text(cell) for cell in _drop(drop)))
        yield drops
    if more := _more(comparison):
        yield Text(more)
    yield Text(_verdict(comparison), style="bold", overflow="fold")


def comparison_markdown(comparison: Comparison) -> str:
    """Return the same as Markdown for a pull request, in which no text of anybody's acts."""
    lines = [f"### {_SIGNS[comparison.verdict]} faithfulness: {comparison.verdict}", ""]
    lines += [_plain(comparison.reason), ""]
    lines += _rows(_head(comparison), [[*map(_plain, row)] for row in _figures(comparison)])
    lines += ["", *(f"- {_plain(note)}" for note in _notes(comparison))]
    if comparison.drops:
        rows = [
            [_code(question), passed, score, _code(reason)]
            for question, passed, score, reason in map(_drop, comparison.drops[:_DROPS])
        ]
        lines += ["", *_rows(["got worse", "passed", "score", "now"], rows)]
    if more := _more(comparison):
        lines += ["", more]
    return "\n".join([*lines, ""])


def failed_markdown(reason: str) -> str:
    """Return Markdown for a pull request that says why nothing could be compared."""
    told = _plain(" ".join(reason.split()))
    return f"### {_SIGNS['unknown']} faithfulness: not compared\n\n{told}\n"


def _rows(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"


# Words ------------------------------------------------------------------------------------------


def _head(comparison: Comparison) -> list[str]:
    return ["", "before", "now", "change", f"{100 * comparison.confidence:g}% interval", "p"]


def _figures(comparison: Comparison) -> Iterator[list[str]]:
    changes = (
        ("answers that pass", comparison.passed),
        ("supported claims", comparison.score),
        ("answers that state something", comparison.stating),
    )
    for name, change in changes:
        if change is not None:
            low, high = change.interval
            yield [
                f"{name}, {change.pairs:,} questions",
                f"{change.before:.1%}",
                f"{change.after:.1%}",
                _points(change.difference),
                f"{_points(low)} to {_points(high)}",
                f"{change.p:.2g}",
            ]


def _points(share: float) -> str:
    """Return a change in percentage points; one that is little is not shown as none."""
    points = 100 * share
    return f"{points:+.1f}" if not points or abs(points) >= 0.05 else f"{points:+.2g}"


def _notes(comparison: Comparison) -> Iterator[str]:
    passed = comparison.passed
    yield (
        f"paired by {comparison.by}: {passed.pairs:,} questions, {passed.worse:,} pass less "
        f"often, {passed.better:,} more often; changes are in percentage points"
    )
    limit = (1 - comparison.confidence) / 2
    yield f"worse is a p of {limit:.3g} or less, how often chance alone falls so far or further"
    for count, what in (
        (comparison.unchecked, "of which an answer has no verdict"),
        (comparison.gone, "which the new run has not"),
        (comparison.new, "which the earlier run has not"),
    ):
        if count:
            yield f"not compared in whole: {count:,} question{'' if count == 1 else 's'} {what}"
    yield from comparison.notes


def _drop(drop: Drop) -> list[str]:
    question = " ".join(visible(drop.question or drop.id).split())
    if len(question) > _QUESTION:
        question = f"{question[:_QUESTION]}…"
    return [
        question,
        " → ".join(f"{share:.0%}" for share in drop.passed),
        "" if drop.score is None else " → ".join(f"{score:.2f}" for score in drop.score),
        visible(drop.reason.partition(";")[0]),
    ]


def _more(comparison: Comparison) -> str:
    hidden = len(comparison.drops) - _DROPS
    return f"… {hidden:,} more that got worse; --json has all" if hidden > 0 else ""


def _verdict(comparison: Comparison) -> str:
    return visible(comparison.reason)


# Markdown ---------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Return our own words without any markup."""
    return re.sub(r"([\\`*_{}\[\]()#+!|<>&~@-])", r"\\\1", visible(text))


def _code(text: str) -> str:
    """Return a text as it is, in code: neither markup nor a mention in it has an effect."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    # a table's cells end at a pipe, also within code
    return f"{fence} {text} {fence}".replace("|", "\\|")
