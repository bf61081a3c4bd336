"""Counts -> an interval for the share that lies behind them."""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["wilson"]


def wilson(passed: int, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the score interval for the share of trials that pass; None where there is none.

    It holds its confidence for few trials and for shares near 0 and 1, where the usual
    "share ± 1.96 standard errors" does not: 20 of 20 gives 0.84 to 1, not 1 to 1.

    Args:
        passed: Trials that passed, from 0 to `n`.
        n: Independent trials; with 0 of them nothing is known, and the interval is None.
        confidence: How often such intervals hold the true share, between 0 and 1.

    Raises:
        ValueError: If the numbers are not such counts or no such confidence.

    Source: E. B. Wilson (1927), Probable inference, the law of succession, and statistical
    inference, Journal of the American Statistical Association 22, 209-212.
    """
    if not 0 <= passed <= n:
        raise ValueError(f"`passed` must lie in [0, n], got {passed!r} of {n!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"`confidence` must lie between 0 and 1, got {confidence!r}")
    if n == 0:
        return None
    z2 = NormalDist().inv_cdf((1.0 + confidence) / 2.0) ** 2
    share = passed / n
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * n)) / n) / (1 + z2 / n)
    # Exact at the ends, where rounding would leave 0.0 and 1.0 by a hair.
    low = 0.0 if passed == 0 else max(0.0, middle - half)
    high = 1.0 if passed == n else min(1.0, middle + half)
    return low, high
