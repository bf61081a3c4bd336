"""Probabilities of entailment and labels -> figures.

In: for each pair its data set, whether it is supported, and a probability in [0, 1]. Out:
balanced accuracy at 0.5 and the area under the ROC curve, of all pairs and as means over sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Judged", "area", "balanced", "mean_over_sets"]

_FEWEST = 8
"""Pairs of either label that a data set must have to count."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and what a model says of it."""

    dataset: str
    supported: bool
    p: float


def balanced(pairs: Sequence[Judged]) -> float | None:
    """Return the mean of the shares of supported and of other pairs that 0.5 decides rightly."""
    good = [one.p >= 0.5 for one in pairs if one.supported]
    bad = [one.p < 0.5 for one in pairs if not one.supported]
    if not good or not bad:
        return None
    return (sum(good) / len(good) + sum(bad) / len(bad)) / 2


def area(pairs: Sequence[Judged]) -> float | None:
    """Return the chance that a supported pair has the higher probability; ties count half.

    Source: Mann and Whitney (1947), by ranks.
    """
    good = sum(one.supported for one in pairs)
    bad = len(pairs) - good
    if not good or not bad:
        return None
    places: dict[float, list[int]] = defaultdict(list)
    for place, one in enumerate(sorted(pairs, key=lambda one: one.p), start=1):
        places[one.p].append(place)
    mean = {p: sum(group) / len(group) for p, group in places.items()}
    ranks = sum(mean[one.p] for one in pairs if one.supported)
    return (ranks - good * (good + 1) / 2) / (good * bad)


def mean_over_sets(pairs: Iterable[Judged]) -> tuple[float | None, float | None]:
    """Return balanced accuracy and area as means over the sets that have enough pairs."""
    by_set: dict[str, list[Judged]] = defaultdict(list)
    for one in pairs:
        by_set[one.dataset].append(one)
    groups = [
        group
        for group in by_set.values()
        if _FEWEST <= sum(one.supported for one in group) <= len(group) - _FEWEST
    ]
    return (
        _mean([value for group in groups if (value := balanced(group)) is not None]),
        _mean([value for group in groups if (value := area(group)) is not None]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
