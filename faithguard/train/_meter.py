"""Steps of a run -> a progress bar, or lines in a log.

In: losses, tokens and figures. Out: a bar on a terminal, else a line each half a minute, both on
stderr; and `log.jsonl`, one object for each line that was said.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

__all__ = ["Meter"]

_EVERY = 30.0
"""Seconds between two lines."""

_WINDOW = 200
"""Steps whose mean loss and rate are shown."""


class Meter:
    """Show how a run goes.

    Args:
        log: A file that gets one JSON object a line; appended to.
    """

    def __init__(self, log: Path) -> None:
        self._log = log.open("a", encoding="utf-8")
        self._losses: deque[float] = deque(maxlen=_WINDOW)
        self._steps: deque[tuple[float, int]] = deque(maxlen=_WINDOW)
        self._said = time.monotonic()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        console = Console(stderr=True)
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("training"),
                BarColumn(),
                TextColumn("{task.percentage:>5.1f}%  {task.description}"),
                TimeRemainingColumn(),
                console=console,
            )
            self._task = self._bar.add_task("", total=1.0)
            self._bar.start()

    def step(self, loss: float, tokens: int, *, done: float, step: int, epoch: float) -> None:
        """Take a step into account; `done` is the share of the run in [0, 1]."""
        now = time.monotonic()
        self._losses.append(loss)
        self._steps.append((now, tokens))
        mean = sum(self._losses) / len(self._losses)
        rate = self._rate(now)
        text = f"loss {mean:.3f}  {rate:,.0f} tokens/s  step {step:,}  epoch {epoch:.2f}"
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=text)
        if now - self._said >= _EVERY or len(self._losses) == 1:
            self._said = now
            if self._bar is None:
                print(f"{100 * done:5.1f}%  {text}", file=sys.stderr, flush=True)
            self._write(step=step, epoch=epoch, done=done, loss=mean, tokens_a_second=rate)

    def look(self, figures: Mapping[str, float | None], *, step: int, best: bool) -> None:
        """Say what the rows held apart show."""
        shown = "  ".join(f"{n} {v:.3f}" for n, v in figures.items() if v is not None)
        self._print(f"held apart: {shown}{'  (best so far)' if best else ''}")
        self._write(step=step, best=best, held_apart=dict(figures))

    def say(self, text: str) -> None:
        """Say something once."""
        self._print(text)
        self._write(said=text)

    def close(self) -> None:
        """Take the bar away and close the log."""
        if self._bar is not None:
            self._bar.stop()
        self._log.close()

    def _rate(self, now: float) -> float:
        """Tokens a second over the last steps, pauses for looks and checkpoints included."""
        first = self._steps[0][0]
        tokens = sum(tokens for _, tokens in self._steps) - self._steps[0][1]
        return tokens / (now - first) if now > first else 0.0

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def _write(self, **fields: object) -> None:
        self._log.write(json.dumps(fields) + "\n")
        self._log.flush()
