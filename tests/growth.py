"""How much longer work takes when there is four times as much of it.

In: a function of a size. Out: a ratio of the processor's time, about 4 for what grows as its input
does and 16 for what grows with its square.
"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["LINEAR", "growth"]

LINEAR = 9.0
"""What grows as its input does stays below this, also on a busy machine."""

_LEAST = 0.01
"""Seconds; less than that is not told from noise."""


def growth(work: Callable[[int], object], size: int) -> float:
    """Return the least ratio of three tries; one that is low enough is the last.

    Args:
        work: To be done for a size. No size comes twice, for what is read is kept.
        size: The larger size; the other one is a quarter of it.
    """

    def seconds(of: int) -> float:
        started = time.thread_time()
        work(of)
        return max(time.thread_time() - started, _LEAST)

    least = float("inf")
    for attempt in range(3):
        few = seconds(size // 4 + attempt)
        least = min(least, seconds(size + attempt) / few)
        if least < LINEAR:
            break
    return least
