"""Sinks: every record once, whole, for its owner only, and no text in a log."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda

from faithguard import ConfigError, Scorer, VerifierError, check
from faithguard.policy import Policy, decide
from faithguard.sinks import Follower, JsonlSink, LogSink, Placed, Sink
from faithguard.testing import TableVerifier, check_sink, example_record
from faithguard.types import Passage, Record, Report
from faithguard_langchain import FaithfulnessCallback, guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel
from tests.sinks.writing import write_many


def lines(path: Path) -> int:
    """Count the lines of a file that may not be there yet."""
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def record(report: Report, policy: Policy | str = "support") -> Record:
    """Return a record of a report."""
    return Record(exchange=report.exchange, report=report, decision=decide(report, policy))


# The contract ---------------------------------------------------------------------------------


def test_a_file_keeps_the_contract(tmp_path: Path) -> None:
    """One record, one line, also from threads."""
    path = tmp_path / "records.jsonl"

    check_sink(JsonlSink(path), lambda: lines(path))


def test_a_log_keeps_the_contract(caplog: pytest.LogCaptureFixture) -> None:
    """One record, one log record, also from threads."""
    with caplog.at_level(logging.INFO, logger="audit"):
        check_sink(LogSink("audit"), lambda: len(caplog.records))


def test_a_plain_function_keeps_the_contract() -> None:
    """A list's `append` is a sink."""
    kept: list[Record] = []

    check_sink(kept.append, lambda: len(kept))
    assert not isinstance(kept.append, Sink)


def test_ours_are_sinks(tmp_path: Path) -> None:
    """The protocol can be asked for."""
    assert isinstance(JsonlSink(tmp_path / "x"), Sink)
    assert isinstance(LogSink(), Sink)


# The file -------------------------------------------------------------------------------------


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """In order and without loss, hostile text included."""
    sink = JsonlSink(tmp_path / "records.jsonl")
    nasty = 'line\nbreak\r\u2028 "quote" \x00\x1b \ud800 \U0001f9f5 ' * 3
    records = [
        example_record(),
        record(check(nasty, [nasty], question=nasty)),
        replace(example_record(), cost=0.25),
    ]
    for one in records:
        sink.write(one)

    assert list(sink.read()) == records
    assert lines(tmp_path / "records.jsonl") == 3


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    """Whatever the umask says."""
    before = os.umask(0)
    try:
        sink = JsonlSink(tmp_path / "records.jsonl")
        sink.write(example_record())
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "records.jsonl").stat().st_mode) == 0o600


def test_no_file_is_made_before_the_first_record(tmp_path: Path) -> None:
    """Naming a path leaves no trace."""
    JsonlSink(tmp_path / "records.jsonl")

    assert list(tmp_path.iterdir()) == []


def test_two_sinks_append_to_one_file(tmp_path: Path) -> None:
    """An earlier file is gone on with, never written over."""
    path = tmp_path / "records.jsonl"
    JsonlSink(path).write(example_record())
    JsonlSink(str(path)).write(example_record())

    assert list(JsonlSink(path).read()) == [example_record_like(r) for r in JsonlSink(path).read()]
    assert lines(path) == 2


def example_record_like(record: Record) -> Record:
    """Return the example with the times of a record, which differ from run to run."""
    fresh = example_record()
    usage = record.report.usage
    return replace(fresh, report=replace(fresh.report, usage=usage))


def test_a_path_that_cannot_be_written_raises(tmp_path: Path) -> None:
    """The queue before the sink logs it; a caller of its own sees it."""
    folder = tmp_path / "gone later"
    folder.mkdir()
    sink = JsonlSink(folder / "records.jsonl")
    folder.rmdir()

    with pytest.raises(OSError, match="gone later"):
        sink.write(example_record())


def test_a_path_that_can_never_be_written_is_an_error_at_once(tmp_path: Path) -> None:
    """A missing folder, or a folder in the place of the file, does not wait for a record."""
    (tmp_path / "file").touch()

    for folder in ("no/such", "file"):
        with pytest.raises(ConfigError, match=f"there is no folder '.*{folder}'; make it"):
            JsonlSink(tmp_path / folder / "records.jsonl")
    with pytest.raises(ConfigError, match="is a folder: name a file in it"):
        JsonlSink(tmp_path)
    JsonlSink("records.jsonl")  # in the working directory


def test_a_line_that_is_no_record_is_passed_over_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What a crash tore is told by its number, without its text."""
    (tmp_path / "records.jsonl").write_text('{"exchange": "SECRET"}\n')

    assert list(JsonlSink(tmp_path / "records.jsonl").read()) == []
    assert "line 1 of" in caplog.text
    assert "SECRET" not in caplog.text


def test_four_processes_of_threads_tear_no_line(tmp_path: Path) -> None:
    """Long records from processes and threads on one file: each is there, whole, once."""
    path = tmp_path / "records.jsonl"
    spawn = multiprocessing.get_context("spawn")
    workers = [
        spawn.Process(target=write_many, args=(str(path), writer, 8, 2)) for writer in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)

    assert [worker.exitcode for worker in workers] == [0] * 4
    assert sorted(r.exchange.id for r in JsonlSink(path).read()) == sorted(
        f"{writer}.{number}" for writer in range(4) for number in range(8)
    )


# Where the host is ----------------------------------------------------------------------------


class Surveyor:
    """A sink that looks around: which runs it was told of, and for which it got records."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.followed: list[str] = []
        self.got: list[tuple[str | None, str, Record]] = []

    def follow(self, run: str) -> None:
        """Take note of a run."""
        if self.fault is not None:
            raise self.fault
        self.followed.append(run)

    def here(self, run: str | None) -> Callable[[Record], None]:
        """Remember who asks, and where."""
        thread = threading.current_thread().name
        return lambda record: self.got.append((run, thread, record))

    def write(self, record: Record) -> None:
        """Take a record whose place nobody asked for."""
        raise AssertionError("it must be placed")


class Runs(BaseCallbackHandler):
    """Keeps the root runs of a chain."""

    def __init__(self) -> None:
        self.roots: list[str] = []

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: Any = None,
        **kwargs: Any,
    ) -> None:
        """Take a run without a parent."""
        if parent_run_id is None:
            self.roots.append(str(run_id))


def mill(question: str) -> str:
    """Answer as a chain does."""
    documents = PassageRetriever(passages=[Passage(text="The kiln is lit at dusk.")])
    model = ScriptedChatModel(reply=lambda messages: "The kiln is lit at dawn.")
    return str(model.invoke(documents.invoke(question)[0].page_content).content)


def test_a_sink_may_look_around_on_the_hosts_path() -> None:
    """It is told the run while it goes on, and then which run a record is of."""
    surveyor, runs, kept = Surveyor(), Runs(), list[Record]()
    watcher = FaithfulnessCallback(sinks=[surveyor, kept.append])
    chain = RunnableLambda(mill)

    chain.invoke("When is the kiln lit?", {"callbacks": [runs, watcher]})
    asyncio.run(chain.ainvoke("When is the kiln lit?", {"callbacks": [runs, watcher]}))
    assert watcher.wait(10)

    assert isinstance(surveyor, Placed)
    assert isinstance(surveyor, Follower)
    assert [run for run, _, _ in surveyor.got] == runs.roots
    assert list(dict.fromkeys(surveyor.followed)) == runs.roots
    assert surveyor.followed.count(runs.roots[0]) == 3  # chain, retriever, model
    assert [record for _, _, record in surveyor.got] == kept
    assert not any("faithguard" in thread for _, thread, _ in surveyor.got)


def test_a_guard_tells_which_run_its_record_is_of() -> None:
    """Its own."""
    surveyor, runs = Surveyor(), Runs()
    guarded = guard(RunnableLambda(mill), on_fail="flag", sinks=[surveyor])

    guarded.invoke("When is the kiln lit?", {"callbacks": [runs]})
    assert guarded.wait(10)

    assert [run for run, _, _ in surveyor.got] == runs.roots


def test_a_sink_that_cannot_follow_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The chain answers, the record arrives, the log holds no text."""
    surveyor = Surveyor(RuntimeError(ANSWER))
    watcher = FaithfulnessCallback(sinks=[surveyor])
    with caplog.at_level(logging.WARNING):
        answer = RunnableLambda(mill).invoke("When is the kiln lit?", {"callbacks": [watcher]})
        assert watcher.wait(10)

    assert answer == "The kiln is lit at dawn."
    assert len(surveyor.got) == 1
    assert "RuntimeError at test_sinks.py" in caplog.text
    assert "in sink Surveyor" in caplog.text
    assert not any(word in caplog.text for word in WORDS)


# The log line ---------------------------------------------------------------------------------

WORDS = ("kiln", "glaze", "cobalt")
ANSWER = "The kiln is lit at dawn. The glaze holds cobalt."
CONTEXT = ["The kiln is lit at dusk.", "Cobalt is dear."]


@pytest.mark.parametrize(
    "table",
    [{"*": 1.0}, {"*": 0.0}, {"*": VerifierError("down")}, {"*": RuntimeError(ANSWER)}, {}, None],
    ids=["supported", "unsupported", "failed", "raised", "silent", "local"],
)
@pytest.mark.parametrize("policy", ["medical", "support", "conversational"])
def test_a_log_line_holds_no_text(
    caplog: pytest.LogCaptureFixture, table: dict[str, float | Exception] | None, policy: str
) -> None:
    """Whatever happened: counts, causes and names, and none of the words."""
    scorer = Scorer(verifiers=None if table is None else [TableVerifier(table)])
    report = check(ANSWER, CONTEXT, question="When is the kiln lit?", scorer=scorer)
    with caplog.at_level(logging.INFO):
        LogSink().write(record(report, policy))

    (line,) = caplog.records
    assert not any(word in line.getMessage().lower() for word in WORDS)
    assert "\n" not in line.getMessage()
    assert f"id={report.exchange.id}" in line.getMessage()
    assert f"domain={decide(report, policy).domain}" in line.getMessage()


def test_what_passed_is_info_and_what_did_not_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A dashboard can count them by level."""
    good = check(ANSWER, CONTEXT, scorer=Scorer(verifiers=[TableVerifier({"*": 1.0})]))
    bad = check(ANSWER, CONTEXT, scorer=Scorer(verifiers=[TableVerifier({"*": 0.0})]))
    with caplog.at_level(logging.INFO):
        LogSink().write(record(good))
        LogSink().write(record(bad))

    assert [line.levelname for line in caplog.records] == ["INFO", "WARNING"]
    assert "2 of 2 claims supported" in caplog.messages[0]
    assert "level=safe action=deliver" in caplog.messages[0]
    assert "(cause: " in caplog.messages[1]


def test_an_outcome_without_a_score_has_a_line_too(caplog: pytest.LogCaptureFixture) -> None:
    """An abstention has no level."""
    with caplog.at_level(logging.INFO):
        LogSink().write(record(check("I don't know.", CONTEXT)))

    assert "outcome=abstained level=none" in caplog.messages[0]


def test_an_id_adds_no_line_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """An id that comes from outside cannot forge a second log line."""
    forged = replace(example_record().exchange, id="x\nERROR forged")
    with caplog.at_level(logging.INFO):
        LogSink().write(replace(example_record(), exchange=forged))

    assert "\n" not in caplog.messages[0]
