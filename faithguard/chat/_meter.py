"""What the calls of one check cost, counted wherever they are made.

In: completions. Out: their sum, for the check whose code they were made for: it travels in a
context variable, through threads and tasks, so that no verifier has to hand it on.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from faithguard.chat._types import Completion

__all__ = ["Meter", "metered", "spend"]


@dataclass(slots=True)
class Meter:
    """Calls and tokens so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


_current: ContextVar[Meter | None] = ContextVar("faithguard_meter", default=None)
_lock = Lock()  # protects the sums of all meters: batches may run in several threads


@contextmanager
def metered() -> Generator[Meter]:
    """Count what is spent inside."""
    meter = Meter()
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


def spend(completion: Completion | None) -> None:
    """Count a call that was made; without a completion if nothing came of it."""
    meter = _current.get()
    if meter is None:
        return
    with _lock:
        meter.calls += 1
        if completion is not None:
            meter.input_tokens += completion.input_tokens
            meter.output_tokens += completion.output_tokens
