"""Figures and calibration, against what they mean."""

from __future__ import annotations

import math
import random

import pytest

from faithguard.train._calibration import fit, log_odds, reliability
from faithguard.train._figures import Judged, area, balanced, mean_over_sets


def judged(count: int, seed: int, sets: int = 1) -> list[Judged]:
    """Return pairs whose probabilities tell a little, with ties."""
    rng = random.Random(seed)
    return [
        Judged(f"set {n % sets}", ok := rng.random() < 0.4, round(rng.random() * 0.5 + 0.3 * ok, 1))
        for n in range(count)
    ]


def test_the_area_is_the_share_of_couples_in_the_right_order() -> None:
    """Ties count half."""
    pairs = judged(200, 1)
    good = [one.p for one in pairs if one.supported]
    bad = [one.p for one in pairs if not one.supported]
    wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)

    assert area(pairs) == pytest.approx(wins / len(good) / len(bad))


def test_balanced_accuracy_is_the_mean_of_two_shares() -> None:
    """0.5 itself says supported."""
    pairs = [Judged("a", True, 0.5), Judged("a", True, 0.1), Judged("a", False, 0.2)]

    assert balanced(pairs) == pytest.approx(0.75)


def test_what_is_undefined_is_none() -> None:
    """One label alone, or sets that are too small."""
    alone = [Judged("a", True, 0.9)]

    assert balanced(alone) is None
    assert area(alone) is None
    assert mean_over_sets(alone) == (None, None)


def test_sets_weigh_the_same() -> None:
    """However many pairs they have."""
    large = [Judged("large", n % 2 == 0, 0.9 if n % 2 == 0 else 0.1) for n in range(200)]
    small = [Judged("small", n % 2 == 0, 0.5) for n in range(20)]

    assert mean_over_sets([*large, *small]) == (0.75, 0.75)


def test_calibration_finds_the_weights_that_made_the_labels() -> None:
    """Of several features, and the intercept."""
    rng = random.Random(2)
    pairs = []
    for _ in range(4_000):
        x = {"a": rng.gauss(0, 1), "b": rng.gauss(0, 1)}
        p = 1 / (1 + math.exp(-(2.0 * x["a"] - 1.0 * x["b"])))
        pairs.append((x, rng.random() < p))
    model = fit(pairs)

    assert model.weights["a"] == pytest.approx(2.0, abs=0.2)
    assert model.weights["b"] == pytest.approx(-1.0, abs=0.2)
    assert model.intercept == pytest.approx(0.0, abs=0.15)


def test_calibration_is_finite_where_a_feature_decides_alone() -> None:
    """And says so with a probability below 1."""
    pairs = [({"x": float(n)}, n > 50) for n in range(100)]
    model = fit(pairs)

    assert all(map(math.isfinite, [model.intercept, *model.weights.values()]))
    assert model.p({"x": 99.0}) > 0.99
    assert model.p({"x": 0.0}) < 0.01


def test_calibration_needs_both_labels() -> None:
    """One alone says nothing."""
    with pytest.raises(ValueError, match="supported and unsupported"):
        fit([({"x": 1.0}, True)])


def test_log_odds_are_bounded() -> None:
    """Certainty is what float32 can tell."""
    assert log_odds(0.5) == 0.0
    assert log_odds(0.0) == pytest.approx(-log_odds(1.0))
    assert math.isfinite(log_odds(1.0))


def test_reliability_counts_every_pair_once() -> None:
    """Also 0 and 1."""
    pairs = [(n / 10, n > 4) for n in range(11)]
    table = reliability(pairs)

    assert sum(one.pairs for one in table) == 11
    assert table[-1].pairs == 2
    assert [one.found for one in table][:5] == [0.0] * 5
