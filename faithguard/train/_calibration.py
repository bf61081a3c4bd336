"""Features of pairs and their labels -> a logistic model that can be read.

In: for each pair named features, and whether it is supported. Out: `Logistic`: a weight for each
feature and an intercept, so that its probability says how often such pairs are supported. What a
feature is decides the caller: here the log odds of entailment; fusion adds words and values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Bin", "Logistic", "fit", "log_odds", "reliability"]

_RIDGE = 1e-3
"""Keeps weights finite where a feature decides alone; in units of one pair."""

_ROUNDS = 50
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """A logistic model.

    Attributes:
        weights: For each feature by name.
        intercept: Added to the weighted sum.
    """

    weights: Mapping[str, float]
    intercept: float

    def p(self, features: Mapping[str, float]) -> float:
        """Return the probability in [0, 1] that a pair with these features is supported."""
        return _sigmoid(
            self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Pairs with similar probabilities.

    Attributes:
        low, high: The probabilities that fall in it.
        pairs: How many do.
        said: Their mean probability.
        found: The share of them that is supported.
    """

    low: float
    high: float
    pairs: int
    said: float
    found: float


def log_odds(p: float) -> float:
    """Return the log odds of a probability, kept within what float32 can tell from certainty."""
    p = min(max(p, 1e-6), 1.0 - 1e-6)
    return math.log(p / (1.0 - p))


def fit(pairs: Sequence[tuple[Mapping[str, float], bool]]) -> Logistic:
    """Return the most likely logistic model, both labels weighing the same.

    Balanced, so that 0.5 is where the two kinds of error cost the same, whatever share of the
    pairs was supported. Source: Platt (1999); iteratively reweighted least squares.

    Args:
        pairs: At least one of either label; all with the same features.
    """
    good = sum(supported for _, supported in pairs)
    if not 0 < good < len(pairs):
        raise ValueError("calibration needs supported and unsupported pairs")
    names = list(pairs[0][0])
    rows = [
        ([*(features[name] for name in names), 1.0], supported) for features, supported in pairs
    ]
    share = {True: 0.5 * len(pairs) / good, False: 0.5 * len(pairs) / (len(pairs) - good)}
    weights = [0.0] * (len(names) + 1)
    for _ in range(_ROUNDS):
        change = _newton(rows, weights, share)
        weights = [weight + step for weight, step in zip(weights, change, strict=True)]
        if max(map(abs, change)) < _CLOSE:
            break
    return Logistic(weights=dict(zip(names, weights[:-1], strict=True)), intercept=weights[-1])


def _newton(
    rows: Sequence[tuple[list[float], bool]], weights: Sequence[float], share: Mapping[bool, float]
) -> list[float]:
    """Return one step towards the best weights."""
    size = len(weights)
    slope = [-_RIDGE * weight for weight in weights]
    bend = [[_RIDGE if i == j else 0.0 for j in range(size)] for i in range(size)]
    for x, supported in rows:
        p = _sigmoid(sum(weight * value for weight, value in zip(weights, x, strict=True)))
        off, curve = share[supported] * (supported - p), share[supported] * p * (1.0 - p)
        for i in range(size):
            slope[i] += off * x[i]
            for j in range(i + 1):
                bend[i][j] += curve * x[i] * x[j]
    for i in range(size):
        for j in range(i):
            bend[j][i] = bend[i][j]
    step = _solved(bend, slope)
    longest = max(map(abs, step))
    return [part * min(1.0, 5.0 / longest) for part in step] if longest else step


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return x of matrix x = right, by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda n: abs(rows[n][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for n in range(i + 1, size):
            factor = rows[n][i] / rows[i][i]
            rows[n] = [a - factor * b for a, b in zip(rows[n], rows[i], strict=True)]
    x = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][j] * x[j] for j in range(i + 1, size))
        x[i] = (rows[i][size] - known) / rows[i][i]
    return x


def reliability(pairs: Sequence[tuple[float, bool]], *, bins: int = 10) -> list[Bin]:
    """Return what probabilities mean: how often pairs with such a one are supported."""
    table: list[Bin] = []
    for n in range(bins):
        low, high = n / bins, (n + 1) / bins
        here = [(p, ok) for p, ok in pairs if low <= p < high or (high == 1.0 and p == 1.0)]
        if here:
            said = sum(p for p, _ in here) / len(here)
            found = sum(ok for _, ok in here) / len(here)
            table.append(Bin(low=low, high=high, pairs=len(here), said=said, found=found))
    return table


def _sigmoid(z: float) -> float:
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    return math.exp(z) / (1.0 + math.exp(z))
