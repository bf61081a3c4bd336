"""Exchange -> report, decision and record, off the host's path: the core of every watcher.

In: what was captured of a run, and where to send it. Out: records in sinks, and the last
reports. Nothing here blocks on a verification, and nothing raises into the host. A guard uses
the same queue for its records.
"""

from __future__ import annotations

import functools
import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeAlias, cast

from faithguard._background import Background, losses
from faithguard.capture import new_id
from faithguard.errors import ConfigError, describe
from faithguard.policy import Policy, decide, resolve
from faithguard.sampling import checked_share, takes
from faithguard.scorer import Scorer, chosen_scorer
from faithguard.sinks import AnySink, Follower, LogSink, Placed, Sink, SqliteSink
from faithguard.store._link import VARIABLE
from faithguard.types import Attempt, Decision, Exchange, Record, Report
from faithguard.verifiers.judge import Judge

__all__ = ["Outbox", "Watch", "never_raise"]

log = logging.getLogger("faithguard")
_FILE = (
    "to write records to a file, pass sinks=[JsonlSink('answers.jsonl')] (from faithguard.sinks)"
)
_SINKS = "pass a list of objects with a `write` method or of functions of a record"
P = ParamSpec("P")
_Write: TypeAlias = Callable[[Record], object]


class Outbox:
    """Sinks behind a bounded queue.

    Args:
        sinks: Objects with a `write` method, or functions of a record; one log line for each
            record by default. The store that FAITHGUARD_STORE names, if it does, is added to
            them, unless one of them is a `SqliteSink` of that file; an empty list keeps nothing,
            not even there.
        capacity: Records that may wait.

    Raises:
        ConfigError: If `sinks` is no list of sinks, or `on_report` no function.
    """

    def __init__(
        self,
        sinks: Sequence[AnySink] | None = None,
        *,
        on_report: Callable[[Report], object] | None = None,
        capacity: int = 1_000,
    ) -> None:
        self._sinks = _with_store((LogSink(),) if sinks is None else _checked(sinks))
        self._failing: Counter[int] = Counter()  # records that a sink lost since it last worked
        self.lost = 0
        if on_report is not None and not callable(on_report):
            kind = type(on_report).__name__
            raise ConfigError(f"`on_report` is of type {kind}: pass a function of a report")
        everyone = cast("tuple[object, ...]", self._sinks)
        self._placed = [sink for sink in everyone if isinstance(sink, Placed)]
        self._followers = [sink for sink in everyone if isinstance(sink, Follower)]
        self._on_report = on_report
        self.queue = Background(capacity)

    def tell(self, record: Record, run: str | None = None) -> None:
        """Queue a record that is there already, and hand its report on; never raises.

        Args:
            record: What became of a call.
            run: The call's run in the callbacks of its framework, if it is one.
        """
        if self._sinks:  # else there is nobody to queue it for
            self.submit(lambda: record, run)
        if self._on_report is not None:
            try:
                self._on_report(record.report)
            except Exception as error:
                log.warning("faithguard: %s in on_report", describe(error))

    def follow(self, run: str) -> None:
        """Tell the sinks that follow runs of one that goes on; never raises."""
        for sink in self._followers:
            try:
                sink.follow(run)
            except Exception as error:
                log.warning("faithguard: %s in sink %s", describe(error), _name(sink))

    def submit(self, make: Callable[[], Record], run: str | None = None) -> bool:
        """Queue the making and the writing of a record; return whether there was room."""
        places = [_here(sink, run) for sink in self._placed]
        return self.queue.submit(lambda: self._write(make(), places))

    def _write(self, record: Record, places: Sequence[_Write]) -> None:
        placed = iter(places)
        for number, sink in enumerate(self._sinks):
            try:
                if isinstance(cast(object, sink), Placed):
                    next(placed)(record)
                elif isinstance(sink, Sink):
                    sink.write(record)
                else:
                    sink(record)
            except Exception as error:
                self._count(number, sink, error)
            else:
                self._works(number, sink)

    def _count(self, number: int, sink: AnySink, error: Exception) -> None:
        """Say once that a sink loses records: a full disk is no reason to fill a log as well."""
        self.lost += 1
        losses.add(_lost_in(sink))
        self._failing[number] += 1
        if self._failing[number] == 1:
            log.warning(
                "faithguard: %s in sink %s; what else it loses is counted",
                describe(error),
                _name(sink),
            )

    def _works(self, number: int, sink: AnySink) -> None:
        if lost := self._failing.pop(number, 0):
            losses.add(_lost_in(sink), -lost)
            log.warning("faithguard: sink %s works again, %d records lost", _name(sink), lost)


def _lost_in(sink: AnySink) -> str:
    return f"records lost in sink {_name(sink)}"


def _with_store(sinks: tuple[AnySink, ...]) -> tuple[AnySink, ...]:
    """Add the store of whoever started the process to the sinks of whoever wrote it."""
    if not sinks or not os.environ.get(VARIABLE, "").strip():
        return sinks
    store = SqliteSink()
    owners = (getattr(sink, "__self__", sink) for sink in sinks)  # `sink.write` is a sink, too
    files = {os.path.realpath(one.path) for one in owners if isinstance(one, SqliteSink)}
    return sinks if os.path.realpath(store.path) in files else (*sinks, store)


def _here(sink: Placed, run: str | None) -> _Write:
    """Ask a sink for the place; nothing may raise on the host's path."""
    try:
        return sink.here(run)
    except Exception as error:
        log.warning("faithguard: %s in sink %s", describe(error), _name(sink))
        return _nowhere


def _nowhere(record: Record) -> None:
    """Take a record whose place is not known."""


def _checked(sinks: object) -> tuple[AnySink, ...]:
    """Refuse at once what would only fail, in the log, at each record."""
    kind = type(sinks).__name__
    if isinstance(sinks, str | os.PathLike):
        raise ConfigError(f"`sinks` is of type {kind}: {_FILE}")
    if isinstance(sinks, Sink) or callable(sinks):
        raise ConfigError(f"`sinks` is of type {kind}, one sink: put it into a list, sinks=[...]")
    if not isinstance(sinks, Sequence) or isinstance(sinks, bytes):
        raise ConfigError(f"`sinks` is of type {kind}: {_SINKS}, or [] for none")
    for number, sink in enumerate(cast("Sequence[object]", sinks)):
        kind = type(sink).__name__
        if isinstance(sink, str | os.PathLike):
            raise ConfigError(f"`sinks[{number}]` is of type {kind}: {_FILE}")
        if not isinstance(sink, Sink) and not callable(sink):
            raise ConfigError(f"`sinks[{number}]` is of type {kind}: {_SINKS}")
        if isinstance(sink, type) and hasattr(cast(Any, sink), "write"):
            raise ConfigError(f"`sinks[{number}]` is a class: pass an instance of it")
    return tuple(cast("Sequence[AnySink]", sinks))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _name(sink: AnySink | Placed | Follower) -> str:
    return getattr(sink, "__qualname__", None) or type(sink).__name__


class Watch:
    """Score what is captured, and keep the last reports.

    Args:
        domain: A domain's name or a policy.
        sinks: See `Outbox`.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        keep: Reports that are kept.
        capacity: Exchanges that may wait.
        sample: The share of runs whose answers are checked, from 0 to 1; all by default.

    Raises:
        ConfigError: If the domain is unknown, `sinks` is no list of sinks, or a number is none.
    """

    def __init__(
        self,
        domain: str | Policy | None = None,
        *,
        sinks: Sequence[AnySink] | None = None,
        scorer: Scorer | None = None,
        judge: Judge | None = None,
        keep: int = 100,
        capacity: int = 1_000,
        sample: float | None = None,
    ) -> None:
        if not _is_count(keep):
            raise ConfigError(f"`keep` is {keep!r}: it must be a whole number, 0 or more")
        self.policy = resolve(domain)
        self._scorer = chosen_scorer(scorer, judge)
        self._outbox = Outbox(sinks, capacity=capacity)
        self._reports: deque[Report] = deque(maxlen=keep)
        self._share = checked_share(sample)

    @property
    def reports(self) -> tuple[Report, ...]:
        """The last reports, oldest first; `wait` for those that are still being made."""
        return tuple(self._reports)

    @property
    def dropped(self) -> int:
        """Exchanges that were not scored because too many were waiting."""
        return self._outbox.queue.dropped

    @property
    def lost(self) -> int:
        """Records that a sink could not take, each sink counted."""
        return self._outbox.lost

    def follow(self, run: str) -> None:
        """Tell the sinks that follow runs of one that goes on; never raises."""
        self._outbox.follow(run)

    def checks(self, run: str | None) -> bool:
        """Say whether a run is checked; all hops of a run have the id of its root."""
        return takes(self._share, run or new_id())

    def submit(self, capture: Callable[[], Exchange], run: str | None = None) -> None:
        """Queue an exchange; `capture` is called in the watcher's thread.

        Args:
            capture: Returns the exchange.
            run: Its run in the callbacks of its framework, if it is one.
        """
        self._outbox.submit(lambda: self._record(capture()), run)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all that was submitted is scored; return whether it was in time."""
        return self._outbox.queue.wait(timeout)

    def _record(self, exchange: Exchange) -> Record:
        report = self._scorer.score(exchange)
        self._reports.append(report)
        return Record(
            exchange=exchange,
            report=report,
            decision=self._decided(report),
            attempts=(Attempt(exchange=exchange, report=report),),
            versions=report.versions,
            timings={"verify": report.usage.seconds},
        )

    def _decided(self, report: Report) -> Decision:
        """Decide by the run's own domain if it names one; a watcher can only flag."""
        domain, policy = report.exchange.domain, self.policy
        if domain not in (None, policy.domain):
            try:
                policy = resolve(domain)
            except ConfigError as error:  # the record is kept, and a typo lets nothing pass
                log.warning("faithguard: %s", describe(error))
                return replace(
                    decide(report, policy), passed=False, action="flag", reason=str(error)
                )
        decision = decide(report, policy)
        return decision if decision.passed else replace(decision, action="flag")


def never_raise(method: Callable[P, None]) -> Callable[P, None]:
    """Log what `method` raises; watching a chain must not be able to break it."""

    @functools.wraps(method)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception as error:
            log.warning("faithguard: %s in %s", describe(error), method.__qualname__)

    return wrapped
