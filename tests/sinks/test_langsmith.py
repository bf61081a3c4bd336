"""LangSmith: feedback on the very run that its own tracer sent, by the real client over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tracers import LangChainTracer

import faithguard
from faithguard import Passage, Record
from faithguard.policy import decide
from faithguard.sinks import LangSmithSink, Placed, Sink
from faithguard.watch import Outbox
from faithguard_langchain import FaithfulnessCallback, guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel
from tests.sinks.collector import INGEST, Collector, Got

langsmith = pytest.importorskip("langsmith", reason="pip install 'faithguard[langsmith]'")

PROJECT = str(uuid4())
CONTEXT = "The mill grinds 3 tons of barley a day. Its wheel was built of oak."
ANSWER = "The mill grinds 3 tons of barley a day. Its wheel was built of marble."
ASKED = "What does the mill grind?"


def server(got: Got) -> tuple[int, Any]:
    """Answer as LangSmith does."""
    if got.path.startswith("/info"):
        return 200, {"version": "0.9.0", "batch_ingest_config": INGEST}
    if got.path.startswith("/sessions"):
        found = {"id": PROJECT, "name": "mills", "tenant_id": PROJECT, "reference_dataset_id": None}
        return 200, [found | {"start_time": datetime.now(UTC).isoformat()}]
    return 202, {}


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Start a server that stands for LangSmith's."""
    with Collector(server) as running:
        yield running


@pytest.fixture
def client(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return the real client, with tracing to our server."""
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    made = langsmith.Client(api_url=collector.url, api_key="none")
    yield made
    made.close()


def chain() -> Runnable[str, Any]:
    """Return a chain whose answer is half wrong."""
    retriever = PassageRetriever(passages=[Passage(text=CONTEXT)])
    return RunnableLambda(
        lambda q: f"{retriever.invoke(q)[0].page_content}\n{q}"
    ) | ScriptedChatModel(reply=lambda messages: ANSWER)


def record() -> Record:
    """Return a record of that answer."""
    report = faithguard.check(ANSWER, CONTEXT)
    return Record(exchange=report.exchange, report=report, decision=decide(report, "support"))


def feedback(collector: Collector) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what was sent, by run and key."""
    sent = [got.json for got in collector.to("/feedback")]
    return {(one["run_id"], one["key"]): one for one in sent}


def root_runs(collector: Collector) -> list[str]:
    """Return the root runs that the tracer sent, in their order."""
    posted = [run for got in collector.to("/runs/batch") for run in got.json.get("post", [])]
    roots = [run for run in posted if run.get("parent_run_id") is None]
    return [run["id"] for run in sorted(roots, key=lambda run: str(run["start_time"]))]


def test_feedback_is_on_the_run_that_the_tracer_sent(collector: Collector, client: Any) -> None:
    """Watched and guarded, blocking and awaiting; score, pass or fail, counts and the project."""
    sink = LangSmithSink(client, project="mills")
    tracer = LangChainTracer(project_name="mills", client=client)
    watcher = FaithfulnessCallback(sinks=[sink])
    guarded = guard(chain(), on_fail="flag", sinks=[sink])
    both = {"callbacks": [tracer, watcher]}

    chain().invoke(ASKED, both)  # type: ignore[arg-type]
    asyncio.run(chain().ainvoke(ASKED, both))  # type: ignore[arg-type]
    guarded.invoke(ASKED, {"callbacks": [tracer]})
    asyncio.run(guarded.ainvoke(ASKED, {"callbacks": [tracer]}))
    assert watcher.wait(20)
    assert guarded.wait(20)
    client.flush()

    runs, sent = root_runs(collector), feedback(collector)
    assert len(runs) == len(set(runs)) == 4
    assert set(sent) == {
        (run, key) for run in runs for key in ("faithfulness", "faithfulness_passed")
    }
    one = sent[runs[0], "faithfulness"]
    assert (one["score"], one["session_id"]) == (0.5, PROJECT)
    assert one["comment"].startswith("1 of 2 claims supported: 0.50 < 0.85")
    assert one["feedback_source"]["type"] == "model"
    assert one["feedback_source"]["metadata"]["outcome"] == "scored"
    assert sent[runs[0], "faithfulness_passed"]["score"] == 0.0
    assert len(collector.to("/sessions")) <= 2  # once by the thread of each


def test_no_text_leaves_unless_it_is_wished(collector: Collector, client: Any) -> None:
    """Then the comment says which claims are not supported."""
    run = str(uuid4())
    LangSmithSink(client, project="mills").here(run)(record())
    assert "barley" not in json.dumps([got.json for got in collector.to("/feedback")])

    collector.got.clear()
    LangSmithSink(client, project="mills", texts=True).here(run)(record())
    assert "Its wheel was built of marble. (" in feedback(collector)[run, "faithfulness"]["comment"]


def test_an_answer_without_a_score_has_no_score(collector: Collector, client: Any) -> None:
    """Undefined is not 0."""
    report = faithguard.check("I do not know.", CONTEXT)
    silent = Record(exchange=report.exchange, report=report, decision=decide(report, "support"))
    run = str(uuid4())
    LangSmithSink(client, project="mills").here(run)(silent)

    (one,) = feedback(collector).values()
    assert (one["key"], one["score"]) == ("faithfulness_passed", 1.0)


def test_the_same_record_has_the_same_feedback(collector: Collector, client: Any) -> None:
    """So that writing again replaces."""
    sink, one, run = LangSmithSink(client, project="mills"), record(), str(uuid4())
    sink.here(run)(one)
    sink.here(run)(one)

    ids = [got.json["id"] for got in collector.to("/feedback")]
    assert (len(ids), len(set(ids))) == (4, 2)


def test_a_traceable_function_is_the_run_of_what_is_checked_in_it(
    collector: Collector, client: Any
) -> None:
    """Without a framework: the run that goes on where the answer is told."""
    outbox = Outbox([LangSmithSink(client, project="mills")])
    ids: list[str] = []

    def answer() -> str:
        outbox.tell(record())
        ids.append(str(langsmith.get_current_run_tree().id))
        return ANSWER

    traced: Callable[[], str] = langsmith.traceable(answer, client=client)
    with langsmith.tracing_context(enabled=True):
        traced()
    assert outbox.queue.wait(20)

    assert {run for run, _ in feedback(collector)} == set(ids)


def test_what_is_not_traced_gets_none(collector: Collector, client: Any) -> None:
    """There is no run to give it to."""
    sink = LangSmithSink(client, project="mills")
    sink.write(record())

    assert collector.to("/feedback") == []
    assert isinstance(sink, Sink)
    assert isinstance(sink, Placed)


def test_a_project_that_its_first_run_makes_is_waited_for() -> None:
    """The first feedback may come before the first run was sent."""

    def late(got: Got) -> tuple[int, Any]:
        first = got.path.startswith("/sessions") and len(slow.to("/sessions")) == 1
        return (200, []) if first else server(got)

    with Collector(late) as slow:
        made = langsmith.Client(api_url=slow.url, api_key="none")
        LangSmithSink(made, project="mills").here(str(uuid4()))(record())
        made.close()

        assert len(slow.to("/sessions")) == 2
        assert {one["session_id"] for one in feedback(slow).values()} == {PROJECT}


def test_a_server_that_hangs_holds_up_nobody() -> None:
    """The chain has its answer while the server still keeps the sink waiting."""
    release = threading.Event()

    def slow(got: Got) -> tuple[int, Any]:
        release.wait(30)
        return server(got)

    with Collector(slow) as hanging:
        made = langsmith.Client(api_url=hanging.url, api_key="none", auto_batch_tracing=False)
        watcher = FaithfulnessCallback(sinks=[LangSmithSink(made, project="mills")])
        for _ in range(3):
            assert chain().invoke(ASKED, {"callbacks": [watcher]}).content == ANSWER
        assert not watcher.wait(0)  # the first is being sent, the others wait
        release.set()
        assert watcher.wait(30)

        assert len(feedback(hanging)) == 6


@pytest.mark.parametrize("status", [400, 403])
def test_a_server_that_refuses_breaks_nothing(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The chain answers, the other sinks get their records, the log holds no text."""
    kept: list[Record] = []
    with Collector(lambda got: (status, {"detail": "no"})) as refusing:
        made = langsmith.Client(api_url=refusing.url, api_key="none", auto_batch_tracing=False)
        watcher = FaithfulnessCallback(sinks=[LangSmithSink(made, project="mills"), kept.append])
        with caplog.at_level(logging.WARNING, logger="faithguard"):
            output = chain().invoke(ASKED, {"callbacks": [watcher]})
            assert watcher.wait(30)

    assert output.content == ANSWER
    assert len(kept) == 1
    assert "in sink LangSmithSink" in caplog.text
    assert "marble" not in caplog.text
