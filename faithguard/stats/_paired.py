"""Two measurements of the same things -> how much changed, and whether chance alone does that."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from operator import getitem
from statistics import NormalDist, fmean

__all__ = ["Change", "least_pairs", "mcnemar", "paired_change"]

_UNIT = 10**12
"""Differences are summed as whole numbers of this fraction: floats would lose ties."""

_ALL_OF = 13
"""Up to so many changed pairs all subsets are taken, beyond that a sample of as many or more."""

_SUBSETS = 9_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a measure of the same things changed."""

    pairs: int
    before: float
    """Mean over the pairs, in [0, 1]."""
    after: float
    difference: float
    """`after` - `before`."""
    interval: tuple[float, float]
    """Of the difference; approximate where pairs are fewer than some 30."""
    p: float
    """How often chance alone lowers the mean so far or further: one-sided, in (0, 1]."""
    better: int
    """Pairs that went up."""
    worse: int
    """Pairs that went down."""


def mcnemar(worse: int, better: int) -> float:
    """Return how often as many or more of the pairs that changed get worse by chance alone.

    One-sided and exact: each pair that changed is a toss of a fair coin.

    Args:
        worse: Pairs that passed and no longer do.
        better: Pairs that did not pass and now do.

    Raises:
        ValueError: If a count is negative.

    Source: Q. McNemar (1947), Note on the sampling error of the difference between correlated
    proportions or percentages, Psychometrika 12, 153-157; in its exact, binomial form.
    """
    if worse < 0 or better < 0:
        raise ValueError(f"counts must not be negative, got {worse!r} and {better!r}")
    changed = worse + better
    tail = sum(math.comb(changed, k) for k in range(worse, changed + 1))
    return tail / (1 << changed)


def least_pairs(confidence: float = 0.95) -> int:
    """Return with how many pairs a drop in all of them would first be more than chance.

    Raises:
        ValueError: If the confidence is not between 0 and 1.
    """
    _check(confidence)
    return math.ceil(-math.log2((1.0 - confidence) / 2.0))


def paired_change(
    before: Sequence[float], after: Sequence[float], *, confidence: float = 0.95, seed: int = 0
) -> Change:
    """Compare two measurements of the same things.

    The p-value asks how often the total is as low when the two of each pair change places at
    random; where each pair that changed did so by the same, as with pass and fail, that is
    `mcnemar`. The interval is the usual one around the mean, with two imagined pairs beside the
    real ones that changed as far as the farthest did, one each way: it stays honest where few
    pairs changed, or none.

    Args:
        before: A number in [0, 1] for each thing.
        after: Its later number, in the same order.
        confidence: How often such intervals hold the true change, between 0 and 1.
        seed: Of the random exchanges, where there are too many to try all.

    Raises:
        ValueError: If there are no pairs, one has no other, or a number is out of its range.

    Sources: R. A. Fisher (1935), The Design of Experiments, section 21, for the test. D. G. Bonett
    and R. M. Price (2012), Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data, Journal of Educational and Behavioral Statistics 37, 479-488,
    for the interval of pass and fail, of which ours is the same with other steps than 1.
    """
    _check(confidence)
    if not before or len(before) != len(after):
        raise ValueError(f"pairs must be there and whole, got {len(before)} and {len(after)}")
    if not all(0.0 <= number <= 1.0 for number in (*before, *after)):
        raise ValueError("what is compared must lie in [0, 1]")
    n = len(before)
    moved = [step for b, a in zip(before, after, strict=True) if (step := round((a - b) * _UNIT))]
    return Change(
        pairs=n,
        before=math.fsum(before) / n,
        after=math.fsum(after) / n,
        difference=sum(moved) / _UNIT / n,
        interval=_interval([step / _UNIT for step in moved], n, confidence),
        p=_chance(moved, seed),
        better=sum(step > 0 for step in moved),
        worse=sum(step < 0 for step in moved),
    )


def _interval(moved: Sequence[float], n: int, confidence: float) -> tuple[float, float]:
    farthest = max(map(abs, moved), default=1.0)
    mean = sum(moved) / (n + 2)
    squares = (sum(step * step for step in moved) + 2 * farthest**2) / (n + 2)
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
    half = z * math.sqrt((squares - mean * mean) / (n + 2))
    return max(-1.0, mean - half), min(1.0, mean + half)


def _chance(moved: Sequence[int], seed: int) -> float:
    """Return how often exchanging the two of some pairs leaves the total as low or lower.

    That is when the steps of those pairs do not sum to less than nothing.
    """
    if len({abs(step) for step in moved}) <= 1:
        worse = sum(step < 0 for step in moved)
        return mcnemar(worse, len(moved) - worse)
    tie = -len(moved)  # what rounding may have taken from a sum of 0
    if len(moved) <= _ALL_OF:
        return fmean(total >= tie for total in _sums(moved))
    # the sums of eight steps at a time are looked up by a random byte
    parts = [_sums(moved[i : i + 8]) for i in range(0, len(moved), 8)]
    parts[-1] *= 256 // len(parts[-1])
    draw = random.Random(seed)  # noqa: S311 - no secret
    low = sum(sum(map(getitem, parts, draw.randbytes(len(parts)))) >= tie for _ in range(_SUBSETS))
    return (1 + low) / (1 + _SUBSETS)


def _sums(steps: Sequence[int]) -> list[int]:
    """Return the sums of all subsets."""
    sums = [0]
    for step in steps:
        sums += [total + step for total in sums]
    return sums


def _check(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"`confidence` must lie between 0 and 1, got {confidence!r}")
