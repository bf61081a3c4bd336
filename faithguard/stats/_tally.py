"""Reports and decisions -> counts that can be added -> a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from faithguard.stats._intervals import wilson
from faithguard.types import Decision, Report

__all__ = ["Summary", "Tally"]

_UNIT = 10**15
"""Scores are summed as whole numbers of this fraction: the order of a sum of floats would show."""

_SAY_NOTHING = frozenset({"abstained", "no_claims"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What became of many answers.

    `passed` counts only answers that state something: one that abstains, or states nothing,
    passes without a check, and would lift the share of whoever asks a model that says nothing.
    An answer whose verdicts are missing stays in the denominator.
    """

    answers: int
    """Answers given: everything that could be read."""
    scorable: int
    """Answers that got a score."""
    stating: int
    """Answers that are to be checked: all but `abstained` and `no_claims`."""
    passed: int
    """Those of `stating` that passed their domain's policy."""
    interval: tuple[float, float] | None
    """The 95% Wilson interval of `passed` / `stating`; None without any."""
    mean_score: float | None
    """Over the scorable answers, each with the same weight; None without any."""
    outcomes: Mapping[str, int]
    """Answers by outcome."""
    claims: Mapping[str, int]
    """Fact claims by label."""
    causes: Mapping[str, int]
    """Unsupported claims by cause, where one is known."""
    calls: int
    """Calls to models."""
    tokens: int
    """Of those calls, requests and replies together."""
    spared: int
    """Fact claims that were settled before a judge was asked."""
    milliseconds: float | None
    """Of checking, for one answer on average; None without any."""
    bad: int = 0
    """Entries that could not be read, which no other number counts."""
    blank: int = 0
    """Empty lines, where the entries are lines."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts over answers; plain data that JSON can hold, and the same in whatever order added."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    claims: Counter[str] = field(default_factory=Counter[str])
    causes: Counter[str] = field(default_factory=Counter[str])
    passed: int = 0
    score_sum: int = 0
    """In units of 1e-15."""
    calls: int = 0
    tokens: int = 0
    spared: int = 0
    seconds: float = 0.0
    bad: int = 0
    blank: int = 0

    def add(self, report: Report, decision: Decision) -> None:
        """Count one answer."""
        self.outcomes[report.outcome] += 1
        self.claims.update(claim.label for claim in report.facts)
        self.causes.update(claim.cause for claim in report.unsupported if claim.cause)
        if report.score is not None:
            self.score_sum += round(report.score * _UNIT)
        self.passed += decision.passed and report.outcome not in _SAY_NOTHING
        self.calls += report.usage.calls
        self.tokens += report.usage.input_tokens + report.usage.output_tokens
        self.spared += report.usage.spared
        self.seconds += report.usage.seconds

    def merge(self, other: Tally) -> None:
        """Take the counts of another."""
        self.outcomes.update(other.outcomes)
        self.claims.update(other.claims)
        self.causes.update(other.causes)
        self.passed += other.passed
        self.score_sum += other.score_sum
        self.calls += other.calls
        self.tokens += other.tokens
        self.spared += other.spared
        self.seconds += other.seconds
        self.bad += other.bad
        self.blank += other.blank

    def summary(self) -> Summary:
        """Return the figures so far."""
        answers = self.outcomes.total()
        scorable = self.outcomes["scored"]
        stating = answers - sum(self.outcomes[outcome] for outcome in _SAY_NOTHING)
        return Summary(
            answers=answers,
            scorable=scorable,
            stating=stating,
            passed=self.passed,
            interval=wilson(self.passed, stating),
            mean_score=self.score_sum / _UNIT / scorable if scorable else None,
            outcomes=dict(sorted(self.outcomes.items())),
            claims=dict(sorted(self.claims.items())),
            causes=dict(sorted(self.causes.items())),
            calls=self.calls,
            tokens=self.tokens,
            spared=self.spared,
            milliseconds=1000 * self.seconds / answers if answers else None,
            bad=self.bad,
            blank=self.blank,
        )
