"""Intervals and counts over many answers."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from faithguard import Report, check
from faithguard._render._summary import summary_table
from faithguard.stats import Summary, Tally, wilson
from faithguard.types import Usage, from_json, to_json

CONTEXT = "The Tarn ferry leaves at 09:15 and carries 60 passengers."
counts = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
confidences = st.floats(0.5, 0.999)


# wilson


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        # R: prop.test(..., correct = FALSE)$conf.int
        (83, 100, 0.7445, 0.8911),
        (1, 10, 0.0179, 0.4042),
        (5, 10, 0.2366, 0.7634),
        (0, 10, 0.0, 0.2775),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_known_intervals(passed: int, n: int, low: float, high: float) -> None:
    """As other programs give them."""
    assert wilson(passed, n) == pytest.approx((low, high), abs=1e-4)


def test_of_nothing_nothing_is_known() -> None:
    """No interval, not one from 0 to 1."""
    assert wilson(0, 0) is None


@pytest.mark.parametrize(
    ("passed", "n", "confidence"),
    [(-1, 5, 0.95), (6, 5, 0.95), (1, -1, 0.95), (1, 2, 0.0), (1, 2, 1.0), (1, 2, float("nan"))],
)
def test_what_are_no_counts_is_refused(passed: int, n: int, confidence: float) -> None:
    """The message names the value."""
    with pytest.raises(ValueError, match="must lie"):
        wilson(passed, n, confidence)


@given(counts, confidences)
def test_an_interval_holds_the_share(count: tuple[int, int], confidence: float) -> None:
    """It lies in [0, 1], and reaches an end only if all or none passed."""
    passed, n = count
    interval = wilson(passed, n, confidence)
    assert interval is not None
    low, high = interval

    assert 0.0 <= low <= passed / n <= high <= 1.0
    assert (low == 0.0) == (passed == 0)
    assert (high == 1.0) == (passed == n)


@given(counts, confidences)
def test_an_interval_is_symmetric(count: tuple[int, int], confidence: float) -> None:
    """What passed and what did not have mirrored intervals."""
    passed, n = count
    one, other = wilson(passed, n, confidence), wilson(n - passed, n, confidence)
    assert one is not None
    assert other is not None

    assert one == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-9)


@given(counts)
def test_an_interval_is_where_the_score_test_ends(count: tuple[int, int]) -> None:
    """Its definition: at its ends the share is 1.96 standard errors of that end away."""
    passed, n = count
    interval = wilson(passed, n)
    assert interval is not None

    for end in interval:
        if 0.0 < end < 1.0:
            errors = (passed / n - end) / (end * (1 - end) / n) ** 0.5
            assert abs(errors) == pytest.approx(1.959964, rel=1e-4)


@given(counts, st.integers(2, 50))
def test_more_trials_say_more(count: tuple[int, int], times: int) -> None:
    """The same share of more trials has a narrower interval."""
    passed, n = count
    few, many = wilson(passed, n), wilson(passed * times, n * times)
    assert few is not None
    assert many is not None

    assert many[1] - many[0] < few[1] - few[0]


# Tally


def answered(answer: str, context: str = CONTEXT) -> Report:
    """Return the report of an answer."""
    return check(answer, context)


REPORTS = [
    answered("The Tarn ferry carries 60 passengers."),
    answered("The Tarn ferry carries 95 passengers."),
    answered("The Tarn ferry carries 60 passengers. It was painted in Ghent. It leaves at 09:15."),
    answered("I do not know."),
    answered(""),
    answered("The Tarn ferry carries 60 passengers.", ""),
]


def tallied(reports: list[Report]) -> Tally:
    """Count reports."""
    tally = Tally()
    for report in reports:
        tally.add(report, report.decide("support"))
    return tally


def test_a_summary_counts_answers_and_claims() -> None:
    """Each number of a summary, from answers of every kind."""
    summary = tallied(REPORTS).summary()

    assert summary.answers == 6
    assert summary.outcomes == {"abstained": 1, "no_claims": 1, "no_context": 1, "scored": 3}
    assert (summary.scorable, summary.stating, summary.passed) == (3, 4, 1)
    assert summary.interval == wilson(1, 4)
    assert summary.mean_score == pytest.approx((1.0 + 0.0 + 2 / 3) / 3)
    assert summary.claims["supported"] == 3
    assert summary.claims["contradicted"] == 1
    assert sum(summary.claims.values()) == sum(report.total for report in REPORTS)
    assert sum(summary.causes.values()) == sum(
        claim.cause is not None for report in REPORTS for claim in report.unsupported
    )
    assert summary.milliseconds == pytest.approx(
        1000 * sum(report.usage.seconds for report in REPORTS) / 6
    )


def test_answers_that_say_nothing_lift_no_share() -> None:
    """They pass, and are counted, but not among those that could have failed."""
    silent = tallied([REPORTS[3], REPORTS[4]]).summary()

    assert (silent.answers, silent.stating, silent.passed) == (2, 0, 0)
    assert silent.interval is None
    assert silent.mean_score is None


def test_a_summary_of_nothing_is_undefined() -> None:
    """None, where there is nothing to divide by."""
    empty = Tally().summary()

    assert (empty.answers, empty.interval, empty.mean_score, empty.milliseconds) == (
        *(0, None),
        *(None, None),
    )


def test_missing_verdicts_stay_in_the_denominator() -> None:
    """An answer that could not be checked is one that did not pass."""
    failed = replace(REPORTS[0], outcome="failed", score=None)
    summary = tallied([failed, REPORTS[0]]).summary()

    assert (summary.scorable, summary.stating, summary.passed) == (1, 2, 1)


@given(st.lists(st.sampled_from(REPORTS), max_size=12), st.integers(0, 12))
def test_the_order_does_not_show(reports: list[Report], cut: int) -> None:
    """Counted in whatever parts and order, and through JSON, the figures are the same."""
    parts = [tallied(reports[cut:]), tallied(reports[:cut])]
    whole = Tally()
    for part in parts:
        whole.merge(from_json(Tally, to_json(part)))

    def figures(summary: Summary) -> Summary:
        return replace(summary, milliseconds=None)  # a sum of floats

    assert figures(whole.summary()) == figures(tallied(reports).summary())


def test_the_mean_of_ones_is_one() -> None:
    """No rounding makes a perfect file imperfect."""
    assert tallied([REPORTS[0]] * 7).summary().mean_score == 1.0


def test_a_summary_says_what_judges_cost_and_were_spared() -> None:
    """Sums over the answers, merged or not."""
    usage = Usage(calls=2, input_tokens=1_500, output_tokens=400, spared=3)
    report = replace(REPORTS[0], usage=usage)
    both = tallied([report, report])
    both.merge(tallied([report]))
    summary = both.summary()
    stream = io.StringIO()
    Console(file=stream, width=100).print(summary_table(summary))

    assert (summary.calls, summary.tokens, summary.spared) == (6, 5_700, 9)
    assert "5,700 tokens" in stream.getvalue()
    assert "claims settled before the judge" in stream.getvalue()
