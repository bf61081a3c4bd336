"""Summary -> a table; and how far a long run is -> a bar."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from faithguard._render._sheet import LOOKS

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, TaskID

    from faithguard.stats import Summary
    from faithguard.types import Label

__all__ = ["Bar", "summary_rows", "summary_table"]


def summary_table(summary: Summary) -> RenderableType:
    """Return what rich prints of a summary: each figure with the counts that it comes from."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_header=False, padding=(0, 1, 0, 0))
    table.add_column("what", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("of", overflow="fold")
    for row in summary_rows(summary):
        table.add_row(*(Text(cell) for cell in row))
    return table


def summary_rows(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Yield each figure: what it is, the count, and of what."""
    yield "answers", _count(summary.answers), _outcomes(summary)
    yield "scorable", _count(summary.scorable), f"of {summary.answers:,} answers given"
    yield "passed", _count(summary.passed), _passed(summary)
    mean = summary.mean_score
    yield "mean score", "-" if mean is None else f"{mean:.3f}", "over the scorable answers"
    claims = sum(summary.claims.values())
    yield "claims", _count(claims), "to be checked"
    looks: list[Label] = [label for label in reversed(LOOKS) if label in summary.claims]
    for label in looks:
        share = f"{summary.claims[label] / claims:.1%}"
        yield f"  {LOOKS[label].word}", _count(summary.claims[label]), share
    for cause, count in summary.causes.items():
        yield f"  cause: {cause}", _count(count), "of unsupported claims"
    if summary.milliseconds is not None:
        yield "checking", f"{summary.milliseconds:.1f} ms", "an answer, on average"
    tokens = f"{summary.tokens:,} tokens" if summary.tokens else ""
    yield "model calls", _count(summary.calls), tokens
    if summary.spared:
        yield "  spared", _count(summary.spared), "claims settled before the judge"
    if summary.bad:
        yield "bad lines", _count(summary.bad), "left out of all figures"
    if summary.blank:
        yield "blank lines", _count(summary.blank), "left out of all figures"


def _count(number: int) -> str:
    return f"{number:,}"


def _outcomes(summary: Summary) -> str:
    return ", ".join(
        f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in summary.outcomes.items()
    )


def _passed(summary: Summary) -> str:
    if summary.interval is None:
        return "no answer states anything to check"
    low, high = summary.interval
    share = summary.passed / summary.stating
    return (
        f"of {summary.stating:,} that state something: {share:.1%} "
        f"(95% interval {low:.1%} to {high:.1%})"
    )


class Bar:
    """A bar with a rate on a terminal; elsewhere nothing, and one line about the whole at the end.

    Args:
        console: Where a person looks, usually stderr.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._started = time.perf_counter()
        self._before: int | None = None
        self.lines = 0
        """Lines done, also by earlier runs."""

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, done: int, total: int | None, lines: int) -> None:
        """Take bytes read, bytes in all where known, and lines done."""
        self.lines = lines
        if self._before is None:
            self._before = lines
            self._started = time.perf_counter()
            if self._console.file.isatty():  # FORCE_COLOR makes a log no terminal
                self._begin(total)
        if self._progress is not None and self._task is not None:
            told = f"{lines:,} lines, {self._rate():,.0f}/s"
            self._progress.update(self._task, completed=done, total=total, told=told)

    def told(self) -> str:
        """Return in words how much was done, and how fast."""
        before = self._before or 0
        new, seconds = self.lines - before, time.perf_counter() - self._started
        earlier = f", {before:,} of them by an earlier run" if before else ""
        rate = f"; {new:,} in {seconds:.1f} s, {self._rate():,.0f} a second" if new else ""
        return f"{self.lines:,} line{'' if self.lines == 1 else 's'}{earlier}{rate}"

    def _rate(self) -> float:
        seconds = time.perf_counter() - self._started
        return (self.lines - (self._before or 0)) / seconds if seconds > 0 else 0.0

    def _begin(self, total: int | None) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=total, told="")
        self._progress.start()
