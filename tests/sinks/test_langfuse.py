"""Langfuse: scores on the very trace that its own handler made, by the real client over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.runnables import Runnable, RunnableLambda

import faithguard
from faithguard import ConfigError, Passage, Record
from faithguard.policy import decide
from faithguard.sinks import Follower, LangfuseSink, Placed, Sink
from faithguard.watch import Outbox
from faithguard_langchain import FaithfulnessCallback, guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel
from tests.sinks.collector import Collector, Got

pytest.importorskip("langfuse", reason="pip install 'faithguard[langfuse]'")

from langfuse import Langfuse
from langfuse.langchain import CallbackHandler
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider

CONTEXT = "The mill grinds 3 tons of barley a day. Its wheel was built of oak."
ANSWER = "The mill grinds 3 tons of barley a day. Its wheel was built of marble."
ASKED = "What does the mill grind?"

pytestmark = pytest.mark.filterwarnings("default")  # the SDK's own


def server(got: Got) -> tuple[int, Any]:
    """Answer as Langfuse does."""
    if got.path.endswith("/scores"):
        items = got.json if isinstance(got.json, list) else [got.json]
        results = [{"id": one["id"], "status": 201} for one in items]
        return 207, {"successes": results, "errors": [], "scores": results}
    return (200, b"") if "otel" in got.path else (200, {})


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Start a server that stands for Langfuse's."""
    with Collector(server) as running:
        yield running


def real_client(url: str) -> Any:
    """Return the real client, with a tracer provider of its own, so that tests share nothing."""
    key = f"pk-{uuid4()}"
    made: Any = Langfuse(
        public_key=key, secret_key=key, base_url=url, tracer_provider=TracerProvider()
    )
    made.key = key
    return made


@pytest.fixture
def client(collector: Collector) -> Iterator[Any]:
    """Return a client of the collector."""
    made = real_client(collector.url)
    yield made
    made.shutdown()


def handler_of(client: Any) -> Any:
    """Return Langfuse's callback handler for a client."""
    return CallbackHandler(public_key=client.key)


def chain() -> Runnable[str, Any]:
    """Return a chain whose answer is half wrong."""
    retriever = PassageRetriever(passages=[Passage(text=CONTEXT)])
    return RunnableLambda(
        lambda q: f"{retriever.invoke(q)[0].page_content}\n{q}"
    ) | ScriptedChatModel(reply=lambda messages: ANSWER)


def record(answer: str = ANSWER) -> Record:
    """Return a record of an answer."""
    report = faithguard.check(answer, CONTEXT)
    return Record(exchange=report.exchange, report=report, decision=decide(report, "support"))


def scores(collector: Collector, client: Any) -> list[dict[str, Any]]:
    """Return the scores that were sent."""
    client.flush()
    sent = [got.json for got in collector.to("/scores")]
    return [one for batch in sent for one in (batch if isinstance(batch, list) else [batch])]


def roots(collector: Collector, client: Any) -> list[str]:
    """Return the traces that were sent, by the time of their root spans."""
    client.flush()
    requests = [ExportTraceServiceRequest.FromString(g.body) for g in collector.to("/otel/")]
    spans = [
        span
        for request in requests
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
        if not span.parent_span_id
    ]
    return [s.trace_id.hex() for s in sorted(spans, key=lambda s: s.start_time_unix_nano)]


@pytest.mark.parametrize("first", ["handler", "watcher"])
def test_scores_are_on_the_trace_that_the_handler_made(
    collector: Collector, client: Any, first: str
) -> None:
    """Blocking and awaiting, whichever of both handlers comes first."""
    handler = handler_of(client)
    watcher = FaithfulnessCallback(sinks=[LangfuseSink(client, handler=handler)])
    callbacks = [handler, watcher] if first == "handler" else [watcher, handler]

    chain().invoke(ASKED, {"callbacks": callbacks})
    asyncio.run(chain().ainvoke(ASKED, {"callbacks": callbacks}))
    list(chain().stream(ASKED, {"callbacks": callbacks}))
    assert watcher.wait(20)

    traces, sent = roots(collector, client), scores(collector, client)
    assert len(set(traces)) == 3
    assert [(one["traceId"], one["name"]) for one in sent] == [
        (trace, name) for trace in traces for name in ("faithfulness_passed", "faithfulness")
    ]
    passed, score = sent[:2]
    assert (passed["value"], passed["dataType"]) == (0.0, "BOOLEAN")
    assert (score["value"], score["dataType"]) == (0.5, "NUMERIC")
    assert score["comment"].startswith("1 of 2 claims supported: 0.50 < 0.85")
    assert score["metadata"]["domain"] == "customer_support"


def test_many_runs_at_once_keep_their_own_traces(collector: Collector, client: Any) -> None:
    """One handler and one watcher: each answer is scored where its question was traced."""
    handler = handler_of(client)
    kept: list[Record] = []
    watcher = FaithfulnessCallback(
        sinks=[LangfuseSink(client, handler=handler, texts=True), kept.append]
    )
    draw = random.Random(1)
    right = [draw.random() < 0.5 for _ in range(24)]
    model = ScriptedChatModel(
        reply=lambda messages: CONTEXT if "right" in messages[-1].text else ANSWER
    )
    retriever = PassageRetriever(passages=[Passage(text=CONTEXT)])
    both = RunnableLambda(lambda q: f"{retriever.invoke(q)[0].page_content}\n{q}") | model

    def ask(number: int) -> None:
        said = "right" if right[number] else "left"
        both.invoke(
            f"{ASKED} {said}", {"callbacks": [handler, watcher], "run_name": f"{said}-{number}"}
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(24)))
    assert watcher.wait(30)

    client.flush()
    requests = [ExportTraceServiceRequest.FromString(g.body) for g in collector.to("/otel/")]
    names = {
        span.trace_id.hex(): span.name
        for request in requests
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
        if not span.parent_span_id
    }
    passed = [one for one in scores(collector, client) if one["name"] == "faithfulness_passed"]
    assert len(passed) == len(kept) == len(names) == 24
    for one in passed:
        assert names[one["traceId"]].startswith("right" if one["value"] else "left")


def test_a_guard_scores_its_own_trace(collector: Collector, client: Any) -> None:
    """Blocking and awaiting; without a watcher."""
    handler = handler_of(client)
    guarded = guard(chain(), on_fail="flag", sinks=[LangfuseSink(client, handler=handler)])

    guarded.invoke(ASKED, {"callbacks": [handler]})
    asyncio.run(guarded.ainvoke(ASKED, {"callbacks": [handler]}))
    assert guarded.wait(20)

    sent = scores(collector, client)
    assert [one["traceId"] for one in sent[::2]] == roots(collector, client)


def test_the_span_around_a_call_is_scored_without_a_handler(
    collector: Collector, client: Any
) -> None:
    """For LlamaIndex, `@observe` and plain functions."""
    outbox = Outbox([LangfuseSink(client)])
    with client.start_as_current_observation(name="request"):
        outbox.tell(record())
    assert outbox.queue.wait(20)

    assert [one["traceId"] for one in scores(collector, client)] == roots(collector, client) * 2


def test_what_has_no_trace_is_told_once(
    collector: Collector, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """And not sent to a trace of somebody else's."""
    sink = LangfuseSink(client)
    with caplog.at_level(logging.WARNING, logger="faithguard"):
        sink.write(record())
        sink.here(str(uuid4()))(record())

    assert scores(collector, client) == []
    assert caplog.text.count("has no trace of Langfuse") == 1


def test_no_text_leaves_unless_it_is_wished(collector: Collector, client: Any) -> None:
    """Then the comment says which claims are not supported."""
    with client.start_as_current_observation(name="request"):
        LangfuseSink(client).write(record())
    assert "barley" not in json.dumps(scores(collector, client))

    collector.got.clear()
    with client.start_as_current_observation(name="request"):
        LangfuseSink(client, texts=True).write(record())
    assert "Its wheel was built of marble. (" in scores(collector, client)[0]["comment"]


def test_an_answer_without_a_score_has_no_score(collector: Collector, client: Any) -> None:
    """Undefined is not 0; writing again replaces."""
    silent = record("I do not know.")
    sink = LangfuseSink(client)
    with client.start_as_current_observation(name="request"):
        sink.write(silent)
        sink.write(silent)

    sent = scores(collector, client)
    assert [(one["name"], one["value"]) for one in sent] == [("faithfulness_passed", 1.0)] * 2
    assert len({one["id"] for one in sent}) == 1


def test_nothing_is_kept_of_runs_that_ended(client: Any) -> None:
    """And a handler whose runs cannot be seen is refused."""
    handler = handler_of(client)
    sink = LangfuseSink(client, handler=handler)
    watcher = FaithfulnessCallback(sinks=[sink])
    for _ in range(5):
        chain().invoke(ASKED, {"callbacks": [handler, watcher]})
    assert watcher.wait(20)

    assert len(sink._traces) == 0
    assert all(isinstance(sink, kind) for kind in (Sink, Placed, Follower))
    with pytest.raises(ConfigError, match="`handler` is of type object"):
        LangfuseSink(client, handler=object())


def test_a_server_that_is_down_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The chain answers, and the other sinks get their records."""
    kept: list[Record] = []
    with Collector(lambda got: (500, {"message": "no"})) as down:
        made = real_client(down.url)
        handler = handler_of(made)
        watcher = FaithfulnessCallback(sinks=[LangfuseSink(made, handler=handler), kept.append])
        with caplog.at_level(logging.WARNING, logger="faithguard"):
            output = chain().invoke(ASKED, {"callbacks": [handler, watcher]})
            assert watcher.wait(30)
            made.shutdown()

    assert output.content == ANSWER
    assert len(kept) == 1
    assert "marble" not in "".join(r.getMessage() for r in caplog.records if r.name == "faithguard")
