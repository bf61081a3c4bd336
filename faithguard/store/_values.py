"""What is asked of a store, and what it answers: plain values, no database in sight."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from faithguard.stats import wilson
from faithguard.types import Action, Cause, Label, Level, Outcome, Record

__all__ = ["Bucket", "Entry", "Figures", "Filter", "Opinion", "Pair", "Row", "Scores"]

_EPSILON = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which records: those for which all that is set holds."""

    domain: str | None = None
    level: Level | None = None
    passed: bool | None = None
    outcome: Outcome | None = None
    action: Action | None = None
    label: Label | None = None
    """One of the fact claims has it."""
    cause: Cause | None = None
    """One of the unsupported claims has it."""
    text: str | None = None
    """Stands in the question or the answer as it is, in whatever case."""
    since: datetime | None = None
    """The first moment; without a time zone it is the machine's own."""
    until: datetime | None = None
    """The moment after the last."""
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a list shows of a record."""

    number: int
    """In order of arrival, from 1; each record has its own, while ids may come again."""
    id: str
    time: datetime
    """When the exchange began, where that is known, else when it was stored; in UTC."""
    domain: str
    outcome: Outcome
    level: Level | None
    passed: bool
    action: Action
    score: float | None
    bounds: tuple[float, float] | None
    supported: int
    total: int
    question: str
    """Its beginning: at most 240 characters; empty where there is none."""
    answer: str
    """Its beginning: at most 240 characters."""
    labels: Mapping[Label, int]
    """Fact claims by label."""
    causes: Mapping[Cause, int]
    tags: tuple[str, ...]
    attempts: int
    repairs: int
    calls: int
    """Calls to models that checked."""
    latency: float | None
    """Seconds, over all stages; None where none was measured."""
    cost: float | None
    """US dollars, where prices are known."""
    opinions: int
    """Claims of which a person has said something."""

    @property
    def cursor(self) -> str:
        """The place of this row, for `Store.page(before=)` and `Store.newer_than`."""
        return f"{self.time.timestamp()!r}:{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a person says of a verdict."""

    claim: int
    """Index into `Report.claims`."""
    agree: bool
    note: str
    time: datetime
    author: str = ""
    """Who says it; empty for whoever uses this store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """All that a store has of one record."""

    number: int
    time: datetime
    record: Record
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """The answers of one day or hour."""

    start: datetime
    """Its beginning by the machine's own clock, with its time zone."""
    answers: int
    stating: int
    """Answers that are to be checked: all but those that abstain or state nothing."""
    passed: int
    """Those of `stating` that passed."""

    @property
    def share(self) -> float | None:
        """Those of `stating` that passed, in [0, 1]; None without any."""
        return self.passed / self.stating if self.stating else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% Wilson interval of the share; None without any."""
        return wilson(self.passed, self.stating)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Counts over many records."""

    answers: int
    stating: int
    """Answers that are to be checked: all but those that abstain or state nothing."""
    passed: int
    """Those of `stating` that passed."""
    outcomes: Mapping[Outcome, int]
    actions: Mapping[Action, int]
    claims: Mapping[Label, int]
    """Fact claims by label."""
    causes: Mapping[Cause, int]
    """Unsupported claims by cause, where one is known."""
    levels: Mapping[str, Mapping[str, int]]
    """Answers by domain, then by level; those without one under `none`."""
    tags: Mapping[str, int]
    """Answers by tag, the most frequent first."""
    latency: Mapping[str, float]
    """Seconds: `p50`, `p90`, `p95`, `p99` and `max`; empty where none was measured."""
    calls: int
    """Calls to models that checked."""
    cost: float | None
    """US dollars; None where no price is known."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% Wilson interval of `passed` / `stating`; None without any."""
        return wilson(self.passed, self.stating)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What other thresholds would have made of the answers that state something."""

    values: tuple[float, ...]
    """In ascending order: the score that decides of each answer that could pass."""
    never: int
    """Answers that pass at no threshold: no context, no verdict, or a contradicted claim where
    one always fails."""
    always: int
    """Answers that pass at any: unchecked, by `on_failure="open"`."""
    passed: int
    """Answers that passed by the policy of their time."""

    @property
    def stating(self) -> int:
        """Answers in all."""
        return len(self.values) + self.never + self.always

    def passing(self, threshold: float) -> int:
        """Return how many answers pass where `threshold`, in [0, 1], is the score to reach."""
        below = bisect_right(self.values, math.nextafter(threshold - _EPSILON, -1.0))
        return len(self.values) - below + self.always


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The last record of one question under either of two filters."""

    question: str
    a: Row
    b: Row
