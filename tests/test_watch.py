"""Watching: reports come later, and nothing that happens there reaches the host."""

from __future__ import annotations

import logging
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from faithguard import ConfigError, Policy, Record, Scorer, VerifierError
from faithguard.config import VARIABLES
from faithguard.sinks import LogSink
from faithguard.testing import TableVerifier
from faithguard.types import Exchange, Passage
from faithguard.watch import Outbox, Watch, never_raise

PATIENCE = 10.0
TRUE, FALSE = "The lock has two gates.", "The lock is haunted."


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def exchange(answer: str = TRUE, id: str = "e", domain: str | None = None) -> Exchange:
    """Return an exchange about a canal lock."""
    passage = Passage(text="The lock has two gates.")
    return Exchange(id=id, answer=answer, passages=(passage,), domain=domain)


def scorer(**more: Any) -> Scorer:
    """Return a scorer that knows one truth."""
    return Scorer(verifiers=[TableVerifier({TRUE: 1.0, "*": 0.0}, **more)], cache=None)


class Kept(list[Record]):
    """A sink that keeps its records."""

    def write(self, record: Record) -> None:
        """Keep the record."""
        self.append(record)


def test_reports_and_records_come_after_a_wait() -> None:
    """In order, with decision, attempt, versions and timings."""
    kept = Kept()
    watch = Watch("support", sinks=[kept], scorer=scorer())
    for number, answer in enumerate([TRUE, FALSE]):
        watch.submit(lambda n=number, a=answer: exchange(a, id=f"e{n}"))  # type: ignore[misc]

    assert watch.wait(PATIENCE)
    assert [report.score for report in watch.reports] == [1.0, 0.0]
    assert [record.exchange.id for record in kept] == ["e0", "e1"]
    assert [record.decision.passed for record in kept] == [True, False]
    assert kept[0].attempts[0].report is kept[0].report is watch.reports[0]
    assert kept[0].versions == kept[0].report.versions
    assert kept[0].timings["verify"] == kept[0].report.usage.seconds
    assert watch.dropped == 0


def test_only_the_last_reports_are_kept() -> None:
    """A watcher that runs for months does not grow."""
    watch = Watch(sinks=[], scorer=scorer(), keep=3)
    for number in range(10):
        watch.submit(lambda n=number: exchange(id=f"e{n}"))  # type: ignore[misc]

    assert watch.wait(PATIENCE)
    assert [report.exchange.id for report in watch.reports] == ["e7", "e8", "e9"]


def test_an_unknown_domain_is_an_error_at_once() -> None:
    """A typo is told where the watcher is made, not in its thread."""
    with pytest.raises(ConfigError, match="unknown domain 'medcal'"):
        Watch("medcal")


def test_submitting_does_not_wait_for_scoring() -> None:
    """Capturing and scoring happen in the watcher's thread, not in the host's."""
    seen: list[int] = []
    watch = Watch(sinks=[], scorer=scorer(seconds=0.3))

    def capture() -> Exchange:
        seen.append(threading.get_ident())
        return exchange()

    started = time.perf_counter()
    watch.submit(capture)
    took = time.perf_counter() - started

    assert took < 0.2
    assert watch.reports == ()
    assert not watch.wait(0.01)
    assert watch.wait(PATIENCE)
    assert seen
    assert seen[0] != threading.get_ident()
    assert len(watch.reports) == 1


def test_a_run_may_name_its_own_domain() -> None:
    """The decision is by the run's thresholds; other runs keep the watcher's."""
    kept: list[Record] = []
    watch = Watch("conversational", sinks=[kept.append], scorer=scorer())
    for domain in (None, "medical", "support", "conversational"):
        watch.submit(lambda d=domain: exchange(f"{TRUE} {FALSE}", domain=d))  # type: ignore[misc]

    assert watch.wait(PATIENCE)
    assert [record.decision.domain for record in kept] == [
        "conversational",
        "medical",
        "customer_support",
        "conversational",
    ]
    assert [record.decision.level for record in kept] == ["warning", "block", "block", "warning"]


def test_a_policy_of_ones_own_holds_for_runs_of_its_domain() -> None:
    """A run that names the domain of the watcher's policy is decided by that policy."""
    kept: list[Record] = []
    mine = Policy(domain="locks", safe=0.4, warning=0.2)
    watch = Watch(mine, sinks=[kept.append], scorer=scorer())
    watch.submit(lambda: exchange(f"{TRUE} {FALSE}", domain="locks"))

    assert watch.wait(PATIENCE)
    assert kept[0].decision.passed


def test_a_run_with_an_unknown_domain_does_not_stop_the_watch() -> None:
    """Its report is there; what comes after it is watched as before."""
    kept: list[Record] = []
    watch = Watch(sinks=[kept.append], scorer=scorer())
    watch.submit(lambda: exchange(id="typo", domain="medcal"))
    watch.submit(lambda: exchange(id="next"))

    assert watch.wait(PATIENCE)
    assert kept[-1].exchange.id == "next"


def test_a_watcher_flags_and_never_claims_to_have_blocked() -> None:
    """The answer was delivered, so a record that says `block` would be a lie."""
    kept: list[Record] = []
    watch = Watch("medical", sinks=[kept.append], scorer=scorer())
    watch.submit(lambda: exchange(FALSE))

    assert watch.wait(PATIENCE)
    assert not kept[0].decision.passed
    assert kept[0].decision.action == "flag"


def test_a_sink_that_raises_reaches_neither_host_nor_other_sinks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The kind of the error, its place and the sink are logged, no text of the answer."""

    class Broken:
        def write(self, record: Record) -> None:
            raise ValueError(record.exchange.answer)

    def broken(record: Record) -> None:
        raise OSError(record.exchange.answer)

    kept = Kept()
    watch = Watch(sinks=[Broken(), broken, kept], scorer=scorer())
    with caplog.at_level(logging.WARNING):
        watch.submit(exchange)
        assert watch.wait(PATIENCE)

    assert len(kept) == 1
    assert re.search(r"ValueError at test_watch\.py:\d+ in sink Broken", caplog.text)
    assert re.search(r"OSError at test_watch\.py:\d+ in sink", caplog.text)
    assert "broken" in caplog.text
    assert "gates" not in caplog.text


@pytest.mark.parametrize(
    ("sinks", "words"),
    [
        ("answers.jsonl", ["`sinks` is of type str", "JsonlSink('answers.jsonl')"]),
        (Path("answers.jsonl"), ["Path", "JsonlSink('answers.jsonl')"]),
        (["answers.jsonl"], ["`sinks[0]` is of type str", "JsonlSink('answers.jsonl')"]),
        ([print, 5], ["`sinks[1]` is of type int", "`write`"]),
        ([None], ["`sinks[0]` is of type NoneType", "functions of a record"]),
        (5, ["`sinks` is of type int", "list"]),
        (b"x", ["`sinks` is of type bytes", "list"]),
        ({"a": print}, ["`sinks` is of type dict", "list"]),
        (print, ["builtin_function_or_method, one sink", "sinks=[...]"]),
        (LogSink(), ["LogSink, one sink", "sinks=[...]"]),
        (Kept(), ["Kept, one sink"]),
        ([LogSink], ["`sinks[0]` is a class", "an instance"]),
    ],
)
@pytest.mark.parametrize(
    "make", [Outbox, lambda sinks: Watch(sinks=sinks)], ids=["outbox", "watch"]
)
def test_sinks_that_cannot_be_used_are_an_error_at_once(
    make: Any, sinks: Any, words: list[str]
) -> None:
    """Not at each record, in the log: the message names the type and what to pass instead."""
    with pytest.raises(ConfigError) as caught:
        make(sinks)
    for word in words:
        assert word in str(caught.value)


def test_a_sink_that_hangs_does_not_hold_the_host() -> None:
    """Submitting stays quick, what does not fit is counted, and nothing is lost unsaid."""
    gate = threading.Event()
    begun = threading.Event()

    def hang(record: Record) -> None:
        begun.set()
        gate.wait(PATIENCE)

    watch = Watch(sinks=[hang], scorer=scorer(), capacity=5)
    watch.submit(exchange)
    assert begun.wait(PATIENCE)
    started = time.perf_counter()
    for _ in range(50):
        watch.submit(exchange)

    assert time.perf_counter() - started < 1.0
    assert watch.dropped == 45
    assert not watch.wait(0.05)
    gate.set()
    assert watch.wait(PATIENCE)
    assert len(watch.reports) == 6


def test_a_capture_that_raises_does_not_stop_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    """One odd run costs one report."""

    def odd() -> Exchange:
        raise KeyError("The lock has two gates.")

    watch = Watch(sinks=[], scorer=scorer())
    with caplog.at_level(logging.WARNING):
        watch.submit(odd)
        watch.submit(exchange)
        assert watch.wait(PATIENCE)

    assert len(watch.reports) == 1
    assert "KeyError" in caplog.text
    assert "gates" not in caplog.text


def test_a_verifier_that_fails_is_recorded() -> None:
    """A watcher records a failure as what it is."""
    kept: list[Record] = []
    broken = Scorer(verifiers=[TableVerifier({"*": VerifierError("down")})])
    watch = Watch(sinks=[kept.append], scorer=broken)
    watch.submit(exchange)

    assert watch.wait(PATIENCE)
    assert kept[0].report.outcome == "failed"
    assert not kept[0].decision.passed


def test_the_default_sink_writes_one_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """Without sinks a developer still sees what was found."""
    with caplog.at_level(logging.INFO, logger="faithguard"):
        watch = Watch(scorer=scorer())
        watch.submit(exchange)
        assert watch.wait(PATIENCE)

    (line,) = (r.getMessage() for r in caplog.records if "id=e" in r.getMessage())
    assert "1 of 1 claim supported" in line
    assert "gates" not in line


def test_an_outbox_says_whether_there_was_room() -> None:
    """A guard that keeps its own count can tell."""
    gate, begun = threading.Event(), threading.Event()
    box = Outbox([lambda record: None], capacity=1)

    def make() -> Record:
        begun.set()
        gate.wait(PATIENCE)
        raise RuntimeError

    assert box.submit(make)
    assert begun.wait(PATIENCE)
    assert box.submit(make)
    assert not box.submit(make)
    gate.set()
    assert box.queue.wait(PATIENCE)
    assert (box.queue.submitted, box.queue.done, box.queue.dropped) == (3, 2, 1)


def test_never_raise_logs_kind_and_place_only(caplog: pytest.LogCaptureFixture) -> None:
    """A handler's fault does not reach the host, its text not the log; exits pass through."""

    class Handler:
        @never_raise
        def on_end(self, error: BaseException) -> None:
            """Fail."""
            raise error

    with caplog.at_level(logging.WARNING):
        Handler().on_end(ValueError("The lock has two gates."))

    assert re.search(r"ValueError at test_watch\.py:\d+ in \S+on_end", caplog.text)
    assert "gates" not in caplog.text
    with pytest.raises(KeyboardInterrupt):
        Handler().on_end(KeyboardInterrupt())


def test_a_run_that_names_a_domain_that_is_none_keeps_its_record(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A typo is told, in the log and in the record, and lets nothing pass."""
    kept = Kept()
    watch = Watch("support", sinks=[kept], scorer=scorer())
    watch.submit(lambda: exchange(domain="medicall"))

    assert watch.wait(PATIENCE)
    assert [record.decision.passed for record in kept] == [False]
    assert "medicall" in kept[0].decision.reason
    assert "medicall" in caplog.text


@pytest.mark.parametrize("keep", [-1, "10", 1.5, True])
def test_what_cannot_be_kept_is_said(keep: Any) -> None:
    """By name and with what it must be."""
    with pytest.raises(ConfigError, match="`keep`"):
        Watch(keep=keep)


def test_what_is_no_scorer_and_no_function_is_said_at_once() -> None:
    """Not at the first answer."""
    wrong: Any = "x"
    with pytest.raises(ConfigError, match="`scorer` is of type str"):
        Watch(scorer=wrong)
    with pytest.raises(ConfigError, match="`on_report` is of type str"):
        Outbox(on_report=wrong)
