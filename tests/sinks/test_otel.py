"""OpenTelemetry: events with the names of the conventions, on the host's span, without texts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from llama_index.core.query_engine import RetrieverQueryEngine

import faithguard
from faithguard import Record, Scorer, VerifierError
from faithguard.policy import decide
from faithguard.sinks import OtelSink, Placed, Sink
from faithguard.testing import TableVerifier, check_sink, example_record
from faithguard.watch import Outbox, Watch
from faithguard_langchain import FaithfulnessCallback, guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel
from faithguard_llama_index import guard as guard_engine
from faithguard_llama_index import unwatch, watch
from faithguard_llama_index.testing import PassageRetriever as NodeRetriever
from faithguard_llama_index.testing import ScriptedLLM
from tests.sinks.collector import Collector

pytest.importorskip(
    "opentelemetry.exporter.otlp.proto.http",
    reason="pip install 'faithguard[langfuse]' brings the SDK of OpenTelemetry and its exporter",
)

from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import (
    BatchLogRecordProcessor,
    InMemoryLogRecordExporter,
    SimpleLogRecordProcessor,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE

CONTEXT = "The mill grinds 3 tons of barley a day. Its wheel was built of oak."
ANSWER = "The mill grinds 3 tons of barley a day. Its wheel was built of marble."
WORDS = ("mill", "barley", "oak", "marble")

TRACER = TracerProvider().get_tracer("host")


class Seen:
    """A logger provider of the real SDK and what went through it."""

    def __init__(self) -> None:
        self.exporter = InMemoryLogRecordExporter()
        self.provider = LoggerProvider()
        self.provider.add_log_record_processor(SimpleLogRecordProcessor(self.exporter))

    @property
    def events(self) -> list[Any]:
        """The log records."""
        return [data.log_record for data in self.exporter.get_finished_logs()]

    def named(self, name: str) -> list[Any]:
        """The log records of an evaluation."""
        return [e for e in self.events if e.attributes[conventions.GEN_AI_EVALUATION_NAME] == name]


@pytest.fixture
def seen() -> Seen:
    """Return a provider whose records are kept in memory."""
    return Seen()


def record(
    table: Mapping[str, float | Exception | None] | None = None, answer: str = ANSWER
) -> Record:
    """Return a record of an answer, by a table or by the local verifiers."""
    scorer = None if table is None else Scorer(verifiers=[TableVerifier(table)])
    report = faithguard.check(answer, CONTEXT, question="Is it a big mill?", scorer=scorer)
    return Record(exchange=report.exchange, report=report, decision=decide(report, "support"))


def without_verdicts() -> Record:
    """Return a record whose verifier was down."""
    return record({"*": VerifierError("down")})


# What is sent -----------------------------------------------------------------------------------


def test_an_answer_is_an_event_with_the_names_of_the_conventions(seen: Seen) -> None:
    """Name, value, label and explanation; ours beside them; a warning, since it did not pass."""
    one = record()
    OtelSink(logger_provider=seen.provider).write(one)

    (event,) = seen.named("Faithfulness")
    assert event.event_name == "gen_ai.evaluation.result"
    assert event.severity_text == "WARN"
    assert dict(event.attributes) == {
        conventions.GEN_AI_EVALUATION_NAME: "Faithfulness",
        conventions.GEN_AI_EVALUATION_SCORE_VALUE: 0.5,
        conventions.GEN_AI_EVALUATION_SCORE_LABEL: "fail",
        conventions.GEN_AI_EVALUATION_EXPLANATION: one.decision.reason,
        "faithguard.id": one.exchange.id,
        "faithguard.domain": "customer_support",
        "faithguard.outcome": "scored",
        "faithguard.level": "block",
        "faithguard.action": "block",
        "faithguard.supported": 1,
        "faithguard.total": 2,
        "faithguard.attempts": 1,
    }


def test_claims_are_events_of_their_own(seen: Seen) -> None:
    """With probability, label, place, cause and verifier; or not at all, if that is wished."""
    one = record()
    OtelSink(logger_provider=seen.provider).write(one)

    good, bad = seen.named("Faithfulness.claim")
    assert (good.severity_text, bad.severity_text) == ("INFO", "WARN")
    assert good.attributes[conventions.GEN_AI_EVALUATION_SCORE_LABEL] == "supported"
    assert bad.attributes[conventions.GEN_AI_EVALUATION_SCORE_VALUE] == pytest.approx(
        one.report.facts[1].p_supported
    )
    assert bad.attributes["faithguard.claim.cause"] == one.report.facts[1].cause
    assert bad.attributes["faithguard.claim.start"] == ANSWER.index("Its")

    before = len(seen.events)
    OtelSink(claims=False, logger_provider=seen.provider).write(one)
    assert len(seen.events) == before + 1


@pytest.mark.parametrize("make", [record, without_verdicts, example_record])
def test_no_text_leaves_unless_it_is_wished(seen: Seen, make: Any) -> None:
    """Neither words of the answer, nor of the context, nor of the question."""
    OtelSink(logger_provider=seen.provider).write(make())

    values = [str(value).lower() for event in seen.events for value in event.attributes.values()]
    assert not [
        value for value in values if any(word in value for word in (*WORDS, "doors", "script"))
    ]
    assert all(event.body is None for event in seen.events)


def test_with_texts_a_claim_says_what_and_why(seen: Seen) -> None:
    """Claim, reason and evidence."""
    OtelSink(texts=True, logger_provider=seen.provider).write(record())

    good, bad = seen.named("Faithfulness.claim")
    assert good.attributes["faithguard.claim.text"] == "The mill grinds 3 tons of barley a day."
    assert good.attributes["faithguard.claim.evidence"] == "The mill grinds 3 tons of barley a day."
    assert "marble" in bad.attributes["faithguard.claim.text"]
    assert bad.attributes[conventions.GEN_AI_EVALUATION_EXPLANATION]


def test_what_is_undefined_is_left_out_and_failures_are_errors(seen: Seen) -> None:
    """An abstention has no score; a verifier that was down is an `error.type`."""
    sink = OtelSink(logger_provider=seen.provider)
    sink.write(record(answer="I do not know."))
    (silent,) = seen.events
    assert conventions.GEN_AI_EVALUATION_SCORE_VALUE not in silent.attributes
    assert silent.attributes[conventions.GEN_AI_EVALUATION_SCORE_LABEL] == "pass"
    assert ERROR_TYPE not in silent.attributes

    sink.write(without_verdicts())
    failed, *claims = seen.events[1:]
    assert failed.attributes[ERROR_TYPE] == "error"
    assert conventions.GEN_AI_EVALUATION_SCORE_VALUE not in failed.attributes
    assert [claim.attributes[ERROR_TYPE] for claim in claims] == ["error", "error"]


# Where it is sent -------------------------------------------------------------------------------


def test_it_keeps_the_contract(seen: Seen) -> None:
    """One record, one event of an answer, also from threads."""
    sink = OtelSink(logger_provider=seen.provider)

    check_sink(sink, lambda: len(seen.named("Faithfulness")))
    assert isinstance(sink, Sink)
    assert isinstance(sink, Placed)


def spans_of(events: list[Any]) -> list[tuple[int, int]]:
    """Return trace and span of each event."""
    return [(event.trace_id, event.span_id) for event in events]


def test_events_belong_to_the_span_that_was_current_then(seen: Seen) -> None:
    """Though they are written later by another thread, when the span has ended."""
    watch = Watch(sinks=[OtelSink(logger_provider=seen.provider)])
    expected = []
    for answer in (ANSWER, CONTEXT):
        with TRACER.start_as_current_span("answer") as span:
            exchange = replace(record().exchange, answer=answer)
            watch.submit(lambda exchange=exchange: exchange)  # type: ignore[misc]
            expected.append((span.get_span_context().trace_id, span.get_span_context().span_id))
    assert watch.wait(10)

    assert spans_of(seen.named("Faithfulness")) == expected
    assert set(spans_of(seen.events)) == set(expected)


def test_without_a_span_events_are_sent_all_the_same(seen: Seen) -> None:
    """To no trace."""
    outbox = Outbox([OtelSink(logger_provider=seen.provider)])
    outbox.tell(record())
    assert outbox.queue.wait(10)

    assert spans_of(seen.named("Faithfulness")) == [(0, 0)]


def test_watchers_and_guards_of_chains_send_to_the_span_around_them(seen: Seen) -> None:
    """Blocking and awaiting; each answer to its own."""
    sink = OtelSink(claims=False, logger_provider=seen.provider)
    retriever = PassageRetriever(passages=[faithguard.Passage(text=CONTEXT)])
    chain = RunnableLambda(
        lambda q: f"{retriever.invoke(q)[0].page_content}\n{q}"
    ) | ScriptedChatModel(reply=lambda messages: ANSWER)
    watcher = FaithfulnessCallback(sinks=[sink])
    guarded = guard(chain, on_fail="flag", sinks=[sink])
    expected = []

    for call in (
        lambda: chain.invoke("What does the mill grind?", {"callbacks": [watcher]}),
        lambda: asyncio.run(chain.ainvoke("What does the mill grind?", {"callbacks": [watcher]})),
        lambda: guarded.invoke("What does the mill grind?"),
        lambda: asyncio.run(guarded.ainvoke("What does the mill grind?")),
    ):
        with TRACER.start_as_current_span("request") as span:
            call()
            expected.append((span.get_span_context().trace_id, span.get_span_context().span_id))
        assert watcher.wait(10)
        assert guarded.wait(10)

    assert spans_of(seen.events) == expected


def test_watchers_and_guards_of_engines_send_to_the_span_around_them(seen: Seen) -> None:
    """LlamaIndex as well, streams included: those end within the span, too."""
    sink = OtelSink(claims=False, logger_provider=seen.provider)
    engine = RetrieverQueryEngine.from_args(
        NodeRetriever(passages=[faithguard.Passage(text=CONTEXT)]),
        llm=ScriptedLLM(reply=lambda messages: ANSWER),
        streaming=True,
    )
    watcher = watch(sinks=[sink])
    expected = []
    try:
        with TRACER.start_as_current_span("request") as span:
            assert "marble" in str(engine.query("What does the mill grind?"))
            expected.append((span.get_span_context().trace_id, span.get_span_context().span_id))
        assert watcher.wait(10)
    finally:
        unwatch()
    guarded = guard_engine(engine, on_fail="flag", sinks=[sink])
    with TRACER.start_as_current_span("request") as span:
        guarded.query("What does the mill grind?")
        expected.append((span.get_span_context().trace_id, span.get_span_context().span_id))
    assert guarded.wait(10)

    assert spans_of(seen.events) == expected


def test_a_collector_gets_them_over_http() -> None:
    """By the real exporter: names, trace and attributes as a collector reads them."""
    with Collector() as collector:
        provider = LoggerProvider()
        exporter = OTLPLogExporter(endpoint=f"{collector.url}/v1/logs")
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        outbox = Outbox([OtelSink(logger_provider=provider)])
        with TRACER.start_as_current_span("answer") as span:
            outbox.tell(record())
        assert outbox.queue.wait(10)
        provider.shutdown()

        requests = [ExportLogsServiceRequest.FromString(g.body) for g in collector.to("/v1/logs")]

    scopes = [s for r in requests for resource in r.resource_logs for s in resource.scope_logs]
    assert {(s.scope.name, s.scope.version) for s in scopes} == {
        ("faithguard", faithguard.__version__)
    }
    logs = [log for scope in scopes for log in scope.log_records]
    assert [log.event_name for log in logs] == ["gen_ai.evaluation.result"] * 3
    trace = span.get_span_context().trace_id.to_bytes(16, "big")
    assert {log.trace_id for log in logs} == {trace}
    values = {a.key: a.value for log in logs[:1] for a in log.attributes}
    assert values["gen_ai.evaluation.score.value"].double_value == 0.5
    assert values["gen_ai.evaluation.score.label"].string_value == "fail"
    assert values["faithguard.total"].int_value == 2


# The host goes on -------------------------------------------------------------------------------


def test_without_a_provider_nothing_happens() -> None:
    """An application that has set up no logs of OpenTelemetry loses nothing but them."""
    OtelSink(logger_provider=NoOpLoggerProvider()).write(example_record())
    OtelSink().write(example_record())


def test_a_sink_that_cannot_look_around_breaks_nothing(
    seen: Seen, caplog: pytest.LogCaptureFixture
) -> None:
    """The record still reaches the others, and the log says who failed, without texts."""

    class Lost:
        def here(self, run: str | None) -> Any:
            raise RuntimeError(ANSWER)

        def write(self, record: Record) -> None:
            raise AssertionError("it has no place")

    kept: list[Record] = []
    outbox = Outbox([Lost(), kept.append, OtelSink(logger_provider=seen.provider)])
    with caplog.at_level(logging.WARNING):
        outbox.tell(record())
        assert outbox.queue.wait(10)

    assert len(kept) == len(seen.named("Faithfulness")) == 1
    assert "RuntimeError at test_otel.py" in caplog.text
    assert "sink Lost" in caplog.text
    assert "mill" not in caplog.text
