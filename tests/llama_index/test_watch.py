"""The watcher: one report for each answer, whatever the engine and the way it is called."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra: pip install '.[llama-index]'")

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import (
    ImageNode,
    IndexNode,
    MediaResource,
    Node,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import active_instrument_tags, instrument_tags

from faithguard import ConfigError, Passage, Policy, Record, Report, Scorer, VerifierError
from faithguard.testing import TableVerifier
from faithguard_llama_index import _tap, guard, unwatch, watch
from faithguard_llama_index.testing import PassageRetriever, ScriptedLLM

from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    CHAT_WAYS,
    HOURS,
    LIE,
    PRICE,
    QUERY_ENGINES,
    QUERY_WAYS,
    QUESTION,
    TEXTS,
    TRUE,
    Everything,
    Shelf,
    asking,
    assert_empty,
    claim,
    context_chat,
    finds,
    joined,
    only,
    prompts_of,
    queried,
    questioning,
    says,
    seen,
    simple_chat,
    source_of,
    tool,
    watching,
)

pytestmark = pytest.mark.usefixtures("unwatched")

STREAMLESS = {"own"}
"""Engines that stream no answer."""
QUERIES = [
    (shape, way)
    for shape in QUERY_ENGINES
    for way in QUERY_WAYS
    if not ("streamed" in way and shape in STREAMLESS)
]
CHATS = [(shape, way) for shape in CHAT_ENGINES for way in CHAT_WAYS]

# -- one report, and the right one ------------------------------------------------------------


@pytest.mark.parametrize(("shape", "way"), QUERIES)
def test_every_query_engine_in_every_way_gives_one_right_report(shape: str, way: str) -> None:
    """A query makes one report with its question, answer, passages and verdicts."""
    streaming, ask = QUERY_WAYS[way]
    engine = QUERY_ENGINES[shape](says(BAD), streaming)
    watcher = watching()
    assert ask(engine, QUESTION) == BAD

    report = only(watcher)
    assert report.exchange.question == QUESTION
    assert report.exchange.answer == BAD
    for text in TEXTS:
        assert text in " ".join(seen(report))
    assert {p.origin for p in report.exchange.passages} == {"retriever"}
    assert report.exchange.context_source == "retrieval"
    assert report.exchange.finish_reason == "stop"
    assert (report.outcome, report.supported, report.total) == ("scored", 1, 2)
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize(("shape", "way"), CHATS)
def test_every_chat_engine_in_every_way_gives_one_right_report(shape: str, way: str) -> None:
    """A message makes one report; where nothing is retrieved the system prompt is the context."""
    engine = CHAT_ENGINES[shape](says(BAD))
    watcher = watching()
    assert CHAT_WAYS[way](engine, QUESTION) == BAD

    report = only(watcher)
    assert report.exchange.question == QUESTION
    assert report.exchange.answer == BAD
    assert report.exchange.context_source == ("prompt" if shape == "simple" else "retrieval")
    assert (report.outcome, report.supported, report.total) == ("scored", 1, 2)
    assert not claim(report, "Quillfeather").supported
    assert [message.content for message in engine.chat_history] == [QUESTION, BAD]


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_the_second_message_has_a_report_of_its_own(shape: str, way: str) -> None:
    """Where a question is condensed, a chat asks its model twice: still one report a message."""
    again = "And what does a guided tour cost?"
    lines = [TRUE, QUESTION, PRICE] if "condense" in shape else [TRUE, PRICE]
    engine = CHAT_ENGINES[shape](says(*lines))
    watcher = watching()
    CHAT_WAYS[way](engine, QUESTION)
    CHAT_WAYS[way](engine, again)
    assert watcher.wait(30)
    made = [(r.exchange.question, r.exchange.answer, r.score) for r in watcher.reports]
    assert made == [(QUESTION, TRUE, 1.0), (again, PRICE, 1.0)]
    assert watcher.open_runs == 0


@pytest.mark.parametrize("way", ["synthesize", "asynthesize"])
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    "mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE, ResponseMode.SIMPLE_SUMMARIZE]
)
def test_a_synthesizer_that_is_called_directly_is_reported(
    mode: ResponseMode, streaming: bool, way: str
) -> None:
    """The nodes that it is handed are the context."""
    synthesizer = get_response_synthesizer(llm=says(BAD), response_mode=mode, streaming=streaming)
    nodes = finds().retrieve(QUESTION)
    watcher = watching()

    async def run() -> str:
        response: Any = await synthesizer.asynthesize(QUESTION, nodes)
        return await joined(response.async_response_gen()) if streaming else str(response)

    assert asyncio.run(run()) if way[0] == "a" else str(synthesizer.synthesize(QUESTION, nodes))
    report = only(watcher)
    assert (report.exchange.question, report.exchange.answer) == (QUESTION, BAD)
    assert sorted(seen(report)) == sorted(f"source: {source_of(t)}\n\n{t}" for t in TEXTS)
    assert (report.supported, report.total) == (1, 2)


def test_the_prompt_is_the_exact_one() -> None:
    """What was retrieved is marked as seen by the text of the prompt that was sent."""
    llm = says(BAD)
    report = queried(asking(llm))
    [prompt] = prompts_of(llm)
    assert [p.seen for p in report.exchange.passages] == [True] * 3
    assert all(p.text in prompt for p in report.exchange.passages)


def test_a_true_answer_is_supported_with_evidence_that_stands_in_its_passage() -> None:
    """Evidence of a supported claim is a verbatim piece of the right passage."""
    report = queried(asking(says(TRUE)))
    assert (report.outcome, report.score) == ("scored", 1.0)
    for fact in report.facts:
        assert fact.evidence
        assert all(e.stands_in(report.exchange) for e in fact.evidence)
    assert report.decide("medical").passed


def test_source_and_metadata_of_a_node_are_kept() -> None:
    """A passage knows where it came from: by its metadata, else by the id of its node."""
    report = queried(asking(says(TRUE)))
    assert all((p.source or "").startswith("page-") for p in report.exchange.passages)
    assert all(p.metadata["source"] == p.source for p in report.exchange.passages)
    unwatch()
    nameless = queried(asking(says(TRUE), retriever=Shelf(TextNode(id_="n-1", text=TRUE))))
    assert {p.source for p in nameless.exchange.passages} == {"n-1"}


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("way", QUERY_WAYS)
def test_engines_inside_an_engine_make_no_report_of_their_own(way: str, use_async: bool) -> None:
    """Sub-questions, also in tasks of their own, belong to the call that the user made."""
    streaming, ask = QUERY_WAYS[way]
    engine = questioning(says(TRUE, BAD), streaming, use_async=use_async)
    watcher = watching()
    assert ask(engine, QUESTION) == BAD
    report = only(watcher)
    assert report.exchange.answer == BAD
    assert (report.supported, report.total) == (1, 2)


def test_a_sync_call_inside_a_running_loop_is_one_report() -> None:
    """LlamaIndex then asks the sub-questions in another thread."""
    engine = questioning(says(TRUE, BAD), use_async=True)
    watcher = watching()

    async def run() -> str:
        return str(engine.query(QUESTION))

    assert asyncio.run(run()) == BAD
    assert only(watcher).exchange.answer == BAD


@pytest.mark.parametrize("way", ["query", "aquery"])
def test_a_router_to_several_engines_is_one_report(way: str) -> None:
    """Two engines answer and a model sums up: one report on what it says."""
    from llama_index.core.query_engine import RouterQueryEngine

    tools = [tool(asking(says(TRUE)), "first"), tool(asking(says(PRICE)), "second")]
    engine = RouterQueryEngine(Everything(), tools, llm=says(BAD))
    watcher = watching()
    assert QUERY_WAYS[way][1](engine, QUESTION) == BAD
    report = only(watcher)
    assert report.exchange.question == QUESTION
    assert (report.supported, report.total) == (1, 2)


def test_calls_one_after_another_are_reports_one_after_another() -> None:
    """A call leaves nothing that the next one would be taken for a part of."""
    watcher, engine = watching(), asking(says(TRUE))
    for n in range(3):
        engine.query(f"{QUESTION} {n}")
    assert watcher.wait(30)
    assert [r.exchange.question for r in watcher.reports] == [f"{QUESTION} {n}" for n in range(3)]


def test_a_query_bundle_is_asked_by_its_words() -> None:
    """The question is the bundle's text, not its repr."""
    watcher = watching()
    asking(says(TRUE)).query(QueryBundle(QUESTION, custom_embedding_strs=["other words"]))
    assert only(watcher).exchange.question == QUESTION


def test_a_lone_retriever_or_model_is_not_an_answer() -> None:
    """Fetching alone, or a model alone, makes no report: only engines answer."""
    watcher = watching()
    finds().retrieve(QUESTION)
    says(TRUE).complete(QUESTION)
    says(TRUE).chat([ChatMessage(QUESTION)])
    assert_empty(watcher)
    assert watcher.reports == ()


def test_an_engine_that_found_nothing_abstains() -> None:
    """What LlamaIndex says where no node was found is no claim, and there is no context."""
    report = queried(asking(says(TRUE), retriever=finds(k=0)))
    assert report.exchange.answer == "Empty Response"
    assert report.outcome == "abstained"
    assert report.exchange.context_source == "none"


def test_nodes_that_were_fetched_elsewhere_serve_where_no_retriever_ran() -> None:
    """Sources of a response are its context, if no retriever of LlamaIndex told of any."""

    class Elsewhere(CustomQueryEngine):
        """Asks a search of its own."""

        llm: Any

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            text = self.llm.complete(f"{TEXTS}\n{query_str}").text
            return Response(text, [NodeWithScore(node=TextNode(text=t)) for t in TEXTS])

    report = queried(Elsewhere(llm=says(BAD)))
    assert report.exchange.context_source == "retrieval"
    assert sorted(seen(report)) == sorted(TEXTS)
    assert (report.supported, report.total) == (1, 2)


def test_a_structured_answer_is_reported_as_its_json() -> None:
    """With an `output_cls` the object's JSON is the answer."""
    from pydantic import BaseModel

    class Leaflet(BaseModel):
        """What to say."""

        text: str

    llm = says(Leaflet(text=BAD).model_dump_json()).as_structured_llm(Leaflet)
    watcher = watching()
    response: Any = asking(llm).query(QUESTION)
    assert response.response.text == BAD
    report = only(watcher)
    assert Leaflet.model_validate_json(report.exchange.answer).text == BAD
    assert not report.decide("conversational").passed


def test_a_guarded_engine_is_reported_once_with_what_the_caller_got(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A watcher around a guard sees the answer that was delivered, once."""
    watcher = watching()
    monkeypatch.setattr(_tap, "_guarded", False)  # a guard never detaches: undone after the test
    safe = guard(asking(says(BAD)), on_fail="flag", sinks=[])
    assert str(safe.query(QUESTION)) == BAD
    report = only(watcher)
    assert report.exchange.answer == BAD


# -- streams are the caller's -----------------------------------------------------------------


class Written(BaseEventHandler):
    """Counts the tokens that a model has written, as another handler in the same process."""

    counts: list[int] = [0]  # noqa: RUF012 - pydantic copies it

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        """Count."""
        self.counts[0] += "InProgress" in event.class_name()


@pytest.fixture
def written() -> Iterator[list[int]]:
    """How many tokens models have written, in a list of one."""
    handler, handlers = Written(), get_dispatcher().event_handlers
    handlers.append(handler)
    yield handler.counts
    handlers.remove(handler)


def arrivals(tokens: Iterator[str], written: list[int]) -> list[tuple[str, int]]:
    """Return each token, with how many had been written when it came."""
    begun = written[0]
    return [(token, written[0] - begun) for token in tokens]


async def aarrivals(tokens: AsyncIterator[str], written: list[int]) -> list[tuple[str, int]]:
    """Do the same, awaiting."""
    begun = written[0]
    return [(token, written[0] - begun) async for token in tokens]


def pulled(way: str, written: list[int]) -> list[tuple[str, int]]:
    """Stream one query."""
    engine = asking(says(BAD), streaming=True)
    if way == "query":
        return arrivals(engine.query(QUESTION).response_gen, written)

    async def run() -> list[tuple[str, int]]:
        return await aarrivals((await engine.aquery(QUESTION)).async_response_gen(), written)

    return asyncio.run(run())


@pytest.mark.parametrize("way", ["query", "aquery"])
def test_tokens_of_a_query_come_when_they_would_have_come(way: str, written: list[int]) -> None:
    """Watched and unwatched, each token arrives after as many were written."""
    plain = pulled(way, written)
    watcher = watching()
    assert pulled(way, written) == plain
    assert len(plain) == len(BAD.split())
    assert [count for _, count in plain] == list(range(1, len(plain) + 1))
    assert only(watcher).exchange.answer == BAD


def pushed(build: Any, way: str, written: list[int]) -> list[tuple[str, int]]:
    """Stream one message, from a model that takes its time."""
    engine = build(says(BAD, pause=0.004))
    if way == "stream_chat":
        begun = written[0]
        stream = engine.stream_chat(QUESTION).response_gen
        return [(token, written[0] - begun) for token in stream]

    async def run() -> list[tuple[str, int]]:
        begun = written[0]
        stream = (await engine.astream_chat(QUESTION)).async_response_gen()
        return [(token, written[0] - begun) async for token in stream]

    return asyncio.run(run())


@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_the_first_token_of_a_chat_comes_before_the_last_is_written(
    shape: str, way: str, written: list[int]
) -> None:
    """A watched chat's tokens are those of an unwatched one, and come while the model writes."""
    plain = [token for token, _ in pushed(CHAT_ENGINES[shape], way, written)]
    watcher = watching()
    got = pushed(CHAT_ENGINES[shape], way, written)
    assert [token for token, _ in got] == plain
    assert "".join(plain) == BAD
    assert got[0][1] < len(BAD.split()) / 2
    assert only(watcher).exchange.answer == BAD


def test_a_report_comes_after_the_end_of_the_stream() -> None:
    """While the caller still reads there is no report, and the call is open."""
    watcher = watching()
    stream = asking(says(BAD), streaming=True).query(QUESTION).response_gen
    assert next(stream) == BAD.split()[0]
    assert watcher.wait(5)
    assert watcher.reports == ()
    assert watcher.open_runs > 0
    assert "".join(stream) == BAD[len(BAD.split()[0]) :]
    assert only(watcher).exchange.answer == BAD


def _printed(print_stream: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    print_stream()
    return capsys.readouterr().out.strip()


READERS: dict[str, Callable[[Any, Any], str]] = {
    "response_gen": lambda response, _: "".join(response.response_gen),
    "str": lambda response, _: str(response),
    "get_response": lambda response, _: str(response.get_response()),
    "print": lambda response, capsys: _printed(response.print_response_stream, capsys),
    "for and str": lambda response, _: (list(response.response_gen), str(response))[0][0] + BAD[3:],
}


@pytest.mark.parametrize("reader", READERS)
def test_every_way_of_reading_a_streamed_query_is_reported_once(
    reader: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loop, `str`, `get_response` and `print_response_stream` give the text, and one report."""
    watcher = watching()
    response = asking(says(BAD), streaming=True).query(QUESTION)
    assert READERS[reader](response, capsys) == BAD
    assert only(watcher).exchange.answer == BAD
    assert len(response.source_nodes) == 3


@pytest.mark.parametrize("reader", ["async_response_gen", "response_gen", "get_response", "print"])
def test_every_way_of_reading_an_async_streamed_query_is_reported_once(
    reader: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same of an `AsyncStreamingResponse`, which stays what it is."""

    async def run() -> str:
        response: Any = await asking(says(BAD), streaming=True).aquery(QUESTION)
        assert isinstance(response, AsyncStreamingResponse)
        if reader == "get_response":
            return str(await response.get_response())
        if reader == "print":
            capsys.readouterr()
            await response.print_response_stream()
            return capsys.readouterr().out.strip()
        made = response.response_gen
        return await joined(made if reader == "response_gen" else response.async_response_gen())

    watcher = watching()
    assert asyncio.run(run()) == BAD
    assert only(watcher).exchange.answer == BAD


def test_an_async_stream_can_be_read_in_another_loop() -> None:
    """`str()` of an async stream, outside of the loop in which it was made."""
    watcher = watching()
    response = asyncio.run(asking(says(BAD), streaming=True).aquery(QUESTION))
    assert str(response) == BAD
    assert only(watcher).exchange.answer == BAD


@pytest.mark.parametrize("reader", ["response_gen", "print", "str", "nobody"])
def test_every_way_of_reading_a_streamed_chat_is_reported_once(
    reader: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chat engines write on by themselves: also an answer that nobody reads is one."""
    watcher = watching()
    response = context_chat(says(BAD)).stream_chat(QUESTION)
    if reader == "response_gen":
        assert "".join(response.response_gen) == BAD
    elif reader == "print":
        assert _printed(response.print_response_stream, capsys) == BAD
    else:
        response.write_response_to_history_thread.join()
        assert reader == "nobody" or str(response) == BAD
    response.write_response_to_history_thread and response.write_response_to_history_thread.join()
    assert only(watcher).exchange.answer == BAD


def test_an_async_chat_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """`aprint_response_stream` prints all, and there is one report."""
    watcher = watching()

    async def run() -> None:
        response = await context_chat(says(BAD)).astream_chat(QUESTION)
        capsys.readouterr()
        await response.aprint_response_stream()

    asyncio.run(run())
    assert capsys.readouterr().out == BAD
    assert only(watcher).exchange.answer == BAD


def test_each_part_of_an_async_stream_may_be_read_in_a_task_of_its_own() -> None:
    """As servers do that wait for each token with a timeout."""
    watcher = watching()

    async def run() -> str:
        response: Any = await asking(says(BAD), streaming=True).aquery(QUESTION)
        parts, stream = [], response.async_response_gen()
        while (part := await asyncio.wait_for(anext(stream, None), 5)) is not None:
            parts.append(part)
        return "".join(parts)

    assert asyncio.run(run()) == BAD
    assert only(watcher).exchange.answer == BAD


def test_a_stream_may_be_read_in_another_thread() -> None:
    """As servers do that answer from a pool: the prompt is seen there, too."""
    watcher = watching()
    response = asking(says(BAD), streaming=True).query(QUESTION)
    got: list[str] = []
    thread = threading.Thread(target=lambda: got.extend(response.response_gen))
    thread.start()
    thread.join(10)
    assert "".join(got) == BAD
    report = only(watcher)
    assert sorted(seen(report)) == sorted(f"source: {source_of(t)}\n\n{t}" for t in TEXTS)
    assert (report.supported, report.total) == (1, 2)


# -- once for a process -----------------------------------------------------------------------


def ours() -> int:
    """Return how many of our handlers the dispatcher has."""
    root = get_dispatcher()
    names = [type(h).__module__ for h in (*root.event_handlers, *root.span_handlers)]
    return sum(name.startswith("faithguard") for name in names)


def test_watching_twice_is_watching_once() -> None:
    """With the same settings there is one watcher, one pair of handlers, one report."""
    before = ours()
    watcher = watch("medical", sinks=[])
    assert watch("medical", sinks=[]) is watcher
    assert ours() == max(before, 2)
    asking(says(TRUE)).query(QUESTION)
    assert only(watcher).exchange.answer == TRUE


def test_watching_with_other_settings_takes_the_place() -> None:
    """The first watcher reports no more; what it has can still be read."""
    first = watch("medical", sinks=[])
    asking(says(TRUE)).query(QUESTION)
    second = watch("support", sinks=[])
    assert second is not first
    asking(says(BAD)).query(QUESTION)
    assert only(first).exchange.answer == TRUE
    assert only(second).exchange.answer == BAD


def test_a_watcher_that_is_refused_leaves_the_old_one() -> None:
    """A typo in the new settings is an error, and the old watcher goes on."""
    watcher = watching()
    with pytest.raises(ConfigError, match="medical"):
        watch("medcial")
    asking(says(TRUE)).query(QUESTION)
    assert only(watcher).exchange.answer == TRUE


def test_unwatching_ends_it_and_may_be_done_twice() -> None:
    """Nothing of ours stays in the dispatcher, and nothing more is reported."""
    before = ours()
    watcher = watching()
    asking(says(TRUE)).query(QUESTION)
    unwatch()
    unwatch()
    assert ours() == before
    asking(says(BAD)).query(QUESTION)
    assert only(watcher).exchange.answer == TRUE
    again = watching()
    assert again is not watcher
    asking(says(PRICE)).query(QUESTION)
    assert only(again).exchange.answer == PRICE


def test_handlers_of_others_stay() -> None:
    """Unwatching takes out what is ours and keeps the rest in its order."""
    handlers = get_dispatcher().event_handlers
    theirs = [Written(), Written()]
    handlers.append(theirs[0])
    watching()
    handlers.append(theirs[1])
    unwatch()
    assert [h for h in handlers if isinstance(h, Written)] == theirs
    for handler in theirs:
        handlers.remove(handler)


def test_a_watcher_comes_back_where_an_app_has_set_the_handlers_anew() -> None:
    """Calling `watch` again attaches what someone else has thrown out."""
    root: Any = get_dispatcher()
    kept = [*root.event_handlers], [*root.span_handlers]
    watcher = watching()
    root.event_handlers[:], root.span_handlers[:] = kept
    assert watching() is watcher
    asking(says(TRUE)).query(QUESTION)
    assert only(watcher).exchange.answer == TRUE


@pytest.mark.parametrize("again", [False, True])
def test_a_call_in_which_the_watching_ends_is_let_go(again: bool) -> None:
    """Unwatching inside a call leaves no trace that later calls in that thread would fill."""
    first = watching()

    class Ending(CustomQueryEngine):
        """Ends the watching."""

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            watch("legal", sinks=[]) if again else unwatch()
            return "Ended."

    Ending().query(QUESTION)
    second = watch("legal", sinks=[])
    asking(says(TRUE)).query(QUESTION)
    assert only(second).exchange.answer == TRUE
    assert first.open_runs == 0
    assert_nothing_open()


def assert_nothing_open() -> None:
    """Check that no scope is left open in this context."""
    assert _tap.open_scopes() == ()


def test_a_call_may_name_its_own_domain() -> None:
    """The tag `faithguard_domain` decides for its call only, and is no tag of the report."""
    records: list[Record] = []
    watcher = watch("support", sinks=[records.append])
    engine = asking(says(TRUE))
    for tags in ({"faithguard_domain": "medical", "tenant": "kiosk"}, {}):
        with instrument_tags(tags):
            engine.query(QUESTION)
    assert watcher.wait(30)
    assert [r.decision.domain for r in records] == ["medical", "customer_support"]
    assert [r.decision.safe for r in records] == [0.98, 0.85]
    assert [r.exchange.tags for r in records] == [("tenant=kiosk",), ()]
    assert active_instrument_tags.get() == {}


@pytest.mark.parametrize("way", CHAT_WAYS)
def test_the_domain_of_a_call_is_known_in_every_way(way: str) -> None:
    """Also where the answer is written in a thread or a task that outlives the call."""
    watcher = watching()
    with instrument_tags({"faithguard_domain": "legal"}):
        CHAT_WAYS[way](context_chat(says(TRUE)), QUESTION)
    assert only(watcher).exchange.domain == "legal"


def test_an_unknown_domain_in_tags_is_said_and_loosens_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A typo in a call's domain is logged by name, and nothing passes."""
    records: list[Record] = []
    watcher = watch("conversational", sinks=[records.append])
    with instrument_tags({"faithguard_domain": "medcial"}):
        assert str(asking(says(TRUE)).query(QUESTION)) == TRUE
    assert watcher.wait(30)
    assert not any(record.decision.passed for record in records)
    assert "medcial" in caplog.text


def test_a_policy_of_ones_own_decides() -> None:
    """A `Policy` is taken as it is."""
    records: list[Record] = []
    watcher = watch(Policy(domain="stars", safe=1.0, warning=0.9), sinks=[records.append])
    asking(says(BAD)).query(QUESTION)
    assert watcher.wait(30)
    assert [(r.decision.domain, r.decision.passed) for r in records] == [("stars", False)]


@pytest.mark.parametrize("wish", ["block", "regenerate", "raise"])
def test_it_refuses_to_hold_back_and_names_the_guard(wish: str) -> None:
    """A watcher that is asked to block is an error that says what to use instead."""
    before = ours()
    with pytest.raises(ConfigError, match=r"guard\(") as caught:
        watch(on_fail=wish)
    assert wish in str(caught.value)
    assert ours() == before


def test_a_file_name_as_sink_is_an_error_at_once() -> None:
    """Not one warning for each answer: the message says what writes to a file."""
    sinks: Any = ["answers.jsonl"]
    with pytest.raises(ConfigError, match=r"of type str: .*JsonlSink\('answers.jsonl'\)"):
        watch(sinks=sinks)


def test_only_the_last_reports_are_kept_in_order() -> None:
    """`keep` bounds what `reports` holds; the oldest leave first."""
    watcher = watching(keep=2)
    for n in range(4):
        asking(says(TRUE)).query(f"{QUESTION} {n}")
    assert watcher.wait(30)
    assert [r.exchange.question for r in watcher.reports] == [f"{QUESTION} 2", f"{QUESTION} 3"]


LIGHT = """
import sys
from faithguard_llama_index import unwatch, watch
watch()
print([name for name in sys.modules if name.startswith("llama_index.core")])
unwatch()
"""


def test_watching_does_not_import_llama_index() -> None:
    """LlamaIndex takes seconds to import; a process that watches may never need it."""
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# -- it never disturbs ------------------------------------------------------------------------


class BrokenScorer(Scorer):
    """A scorer that raises, with the answer in its message."""

    def score(self, exchange: Any) -> Report:
        """Raise."""
        raise RuntimeError(exchange.answer)


def broken_sink(record: Record) -> None:
    """Raise with the answer in the message."""
    raise OSError(record.exchange.answer)


BROKEN: dict[str, dict[str, Any]] = {
    "verifier": {"scorer": Scorer(verifiers=[TableVerifier({"*": VerifierError("down")})])},
    "scorer": {"scorer": BrokenScorer()},
    "sink": {"sinks": [broken_sink]},
}


@pytest.mark.parametrize("way", [*QUERY_WAYS, *CHAT_WAYS])
@pytest.mark.parametrize("what", BROKEN)
def test_nothing_that_breaks_reaches_the_engine(
    what: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken part of the watcher changes no answer, and no log line quotes it."""
    watcher = watching(**BROKEN[what])
    with caplog.at_level(logging.WARNING):
        if way in CHAT_WAYS:
            assert CHAT_WAYS[way](context_chat(says(BAD)), QUESTION) == BAD
        else:
            streaming, ask = QUERY_WAYS[way]
            assert ask(asking(says(BAD), streaming), QUESTION) == BAD
        assert watcher.wait(30)
    assert "Quillfeather" not in caplog.text
    assert watcher.open_runs == 0
    assert all(report.score is None for report in watcher.reports) or what == "sink"


class Rude(BaseEventHandler):
    """Another handler, which raises and changes what it is told of."""

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        """Disturb."""
        nodes = getattr(event, "nodes", None)
        if isinstance(nodes, list) and len(nodes) > 1:
            nodes.reverse()
        raise KeyError("rude")


class RudeSpans(BaseSpanHandler[Any]):
    """Another span handler, which raises."""

    def span_enter(self, *args: Any, **kwargs: Any) -> None:
        """Raise."""
        raise KeyError("rude")

    span_exit = span_drop = new_span = span_enter
    prepare_to_exit_span = prepare_to_drop_span = span_enter


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("way", [*QUERY_WAYS, *CHAT_WAYS])
def test_what_other_handlers_do_changes_nothing(way: str, before: bool) -> None:
    """Handlers of others that raise, before ours or after, keep no report away."""
    root: Any = get_dispatcher()
    rude = Rude(), RudeSpans()
    watcher = None if before else watching()
    root.event_handlers.append(rude[0])
    root.span_handlers.append(rude[1])
    watcher = watcher or watching()
    try:
        if way in CHAT_WAYS:
            assert CHAT_WAYS[way](context_chat(says(BAD)), QUESTION) == BAD
        else:
            assert QUERY_WAYS[way][1](asking(says(BAD), QUERY_WAYS[way][0]), QUESTION) == BAD
    finally:
        root.event_handlers.remove(rude[0])
        root.span_handlers.remove(rude[1])
    report = only(watcher)
    assert (report.supported, report.total) == (1, 2)


def _raise(_: Any) -> Any:
    raise RuntimeError("the line is down")


class Down(Shelf):
    """A retriever that fails."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise RuntimeError("the line is down")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("way", [*QUERY_WAYS, *CHAT_WAYS])
@pytest.mark.parametrize("what", ["retriever", "model"])
def test_a_call_that_fails_is_not_reported(what: str, way: str) -> None:
    """An answer that no caller got makes no report, and the caller gets the error."""
    watcher = watching()
    llm = ScriptedLLM(reply=_raise) if what == "model" else says(TRUE)
    retriever = Down() if what == "retriever" else finds()
    streaming = way in QUERY_WAYS and QUERY_WAYS[way][0]
    chats = way in CHAT_WAYS
    engine = context_chat(llm, retriever) if chats else asking(llm, streaming, retriever)
    ask = CHAT_WAYS[way] if chats else QUERY_WAYS[way][1]
    with pytest.raises(RuntimeError, match="the line is down"):
        ask(engine, QUESTION)
    assert_empty(watcher)
    assert watcher.reports == ()


HOSTILE_NODES: dict[str, Any] = {
    "empty": TextNode(text=""),
    "spaces": TextNode(text=" \n\t"),
    "surrogates": TextNode(text=f"{HOURS} \ud83d \udc00"),
    "nul": TextNode(text=f"{HOURS}\x00\x07"),
    "image": ImageNode(image="aGk=", text=""),
    "image and text": ImageNode(image="aGk=", text=HOURS),
    "index": IndexNode(text=HOURS, index_id="elsewhere"),
    "media": Node(text_resource=MediaResource(text=HOURS)),
    "media without text": Node(image_resource=MediaResource(data=b"aGk=")),
    "odd metadata": TextNode(text=HOURS, metadata={"source": 7, "tags": ["a", None], "x": 1.5}),
    "no template": TextNode(text=HOURS, metadata={"a": "b"}, text_template="{content}"),
    "braces": TextNode(text="{context_str} {0} %s " + HOURS),
}


@pytest.mark.parametrize("way", ["query", "aquery, streamed", "stream_chat"])
@pytest.mark.parametrize("name", HOSTILE_NODES)
def test_hostile_nodes_are_read(name: str, way: str) -> None:
    """Nodes of every kind neither break the watcher nor support what they do not say."""
    shelf = Shelf(HOSTILE_NODES[name], TextNode(text=PRICE))
    answer = f"{PRICE} {LIE}"
    watcher = watching()
    if way in CHAT_WAYS:
        assert CHAT_WAYS[way](context_chat(says(answer), shelf), QUESTION) == answer
    else:
        streaming, ask = QUERY_WAYS[way]
        assert ask(asking(says(answer), streaming, shelf), QUESTION) == answer
    report = only(watcher)
    assert (report.outcome, report.supported, report.total) == ("scored", 1, 2)
    assert Report.from_json(report.to_json()).claims == report.claims


class Raw:
    """What a provider's client may hang on to a response: reading it raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the connection is closed")


class Turn(ScriptedLLM):
    """A model that returns one ready message, whatever is asked."""

    turn: Any
    raw: Any = None

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer."""
        return ChatResponse(message=self.turn, raw=self.raw)


def turn(*blocks: Any, **fields: Any) -> ChatMessage:
    """A message of a model."""
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[*blocks], **fields)


CALL = ToolCallBlock(tool_call_id="c", tool_name="look_up", tool_kwargs={"key": ["hours"]})
TURNS = {
    "nothing": turn(),
    "None": ChatMessage(role=MessageRole.ASSISTANT, content=None),
    "text": turn(TextBlock(text=BAD)),
    "image": turn(ImageBlock(image=b"aGk="), TextBlock(text=BAD)),
    "tool call": turn(CALL),
    "tool call and text": turn(CALL, TextBlock(text=BAD)),
    "OpenAI's calls": turn(TextBlock(text=BAD), additional_kwargs={"tool_calls": [{"id": 1}]}),
    "odd calls": turn(TextBlock(text=BAD), additional_kwargs={"tool_calls": [None]}),
}


@pytest.mark.parametrize("broken", [False, True], ids=["", "broken raw"])
@pytest.mark.parametrize("name", TURNS)
def test_messages_of_every_kind_are_read(name: str, broken: bool) -> None:
    """Images, tool calls, no content at all: the host gets its answer, and there is one report."""
    llm = Turn(reply=str, turn=TURNS[name], raw=Raw() if broken else None)
    plain = simple_chat(llm).chat(QUESTION)
    watcher = watching()
    given = simple_chat(llm).chat(
        QUESTION,
        chat_history=[
            ChatMessage(role=MessageRole.USER, blocks=[ImageBlock(image=b"aGk=")]),
            ChatMessage(role=MessageRole.ASSISTANT, content=None),
            ChatMessage(role=MessageRole.TOOL, content=None, additional_kwargs={"name": None}),
            turn(CALL),
        ],
    )
    assert str(given) == str(plain)
    report = only(watcher)
    assert report.exchange.answer == str(plain)
    assert report.exchange.question == QUESTION


def test_what_a_model_wrote_is_known_even_if_its_raw_response_cannot_be_read() -> None:
    """Where the reason of the end cannot be read, the words are still known as the model's."""
    llm = Turn(reply=str, turn=turn(TextBlock(text=LIE)), raw=Raw())

    class TwoCalls(CustomQueryEngine):
        """Asks, and shows the answer to the next call."""

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            notes = llm.chat([ChatMessage(query_str)]).message.content
            system = ChatMessage(role=MessageRole.SYSTEM, content=f"{HOURS} {notes}")
            return says(BAD).chat([system, ChatMessage(query_str)]).message.content

    report = queried(TwoCalls())
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def returning(response: Any) -> Any:
    """An engine that returns something ready."""

    class Ready(CustomQueryEngine):
        """Returns it."""

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            return response() if callable(response) else response

    return Ready()


class Tokens:
    """Tokens that are neither a list nor a generator."""

    def __iter__(self) -> Iterator[str]:
        return iter(BAD.split(" "))


RESPONSES: dict[str, Callable[[], Any]] = {
    "a list of tokens": lambda: StreamingResponse(response_gen=BAD.split(" ")),  # type: ignore[arg-type]
    "an iterator": lambda: StreamingResponse(response_gen=iter(BAD.split(" "))),  # type: ignore[arg-type]
    "an iterable": lambda: StreamingResponse(response_gen=Tokens()),  # type: ignore[arg-type]
    "a generator": lambda: StreamingResponse(response_gen=(t for t in BAD.split(" "))),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_streams_of_every_kind_reach_the_caller(name: str) -> None:
    """Whatever an engine of the user's puts into a streaming response can be read as before."""
    watcher = watching()
    response = returning(RESPONSES[name]).query(QUESTION)
    assert list(response.response_gen) == BAD.split(" ")
    assert only(watcher).exchange.answer == BAD.replace(" ", "")


def test_an_empty_streaming_response_reads_as_before() -> None:
    """A response without a stream says None, as it does unwatched."""
    empty: Any = lambda: StreamingResponse(response_gen=None)  # type: ignore[arg-type]  # noqa: E731
    plain = str(returning(empty).query(QUESTION))
    watcher = watching()
    assert str(returning(empty).query(QUESTION)) == plain
    assert_empty(watcher)


def test_a_stream_of_something_else_is_handed_through() -> None:
    """Parts that are no text reach the caller as they are."""
    odd = [None, 1, BAD]
    watcher = watching()
    response = returning(lambda: StreamingResponse(response_gen=iter(odd))).query(QUESTION)  # type: ignore[arg-type, return-value]
    assert list(response.response_gen) == odd
    assert_empty(watcher)


def test_an_async_stream_that_is_no_generator_is_handed_through() -> None:
    """The same of an async iterable."""

    class Later:
        """Async tokens."""

        async def __aiter__(self) -> AsyncIterator[str]:
            for token in BAD.split(" "):
                yield token

    watcher = watching()

    async def run() -> list[str]:
        engine = returning(lambda: AsyncStreamingResponse(response_gen=Later()))  # type: ignore[arg-type]
        return [token async for token in (await engine.aquery(QUESTION)).async_response_gen()]

    assert asyncio.run(run()) == BAD.split(" ")
    assert only(watcher).exchange.answer == BAD.replace(" ", "")


@pytest.mark.parametrize("make", [lambda: None, lambda: 7, object, lambda: {"a": BAD}, Raw])
def test_an_engine_may_return_anything(make: Callable[[], Any]) -> None:
    """What an engine returns is returned, whatever it is."""
    odd = make()
    watcher = watching()
    assert returning(odd).query(QUESTION) is odd
    assert_empty(watcher)


class Unspeakable:
    """A tag, or a question, that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError("unspeakable")


@pytest.mark.parametrize("where", ["tag", "question"])
def test_what_cannot_be_written_leaves_nothing(where: str) -> None:
    """A tag or a question whose text raises keeps no answer away, and no state."""
    watcher = watching()
    engine = returning(BAD)
    tags: dict[str, Any] = {"tenant": Unspeakable()} if where == "tag" else {}
    question: Any = Unspeakable() if where == "question" else QUESTION
    with instrument_tags(tags):
        assert str(engine.query(question)) == BAD
    assert_empty(watcher)


def test_an_engine_that_calls_itself_is_one_report() -> None:
    """A subclass that calls the method of its base is one call."""
    from llama_index.core.chat_engine import ContextChatEngine

    class Polite(ContextChatEngine):
        """Says please."""

        def chat(self, message: str, *args: Any, **kwargs: Any) -> Any:
            """Ask politely."""
            return super().chat(f"Please: {message}", *args, **kwargs)

    built = context_chat(says(BAD))
    built.__class__ = Polite
    watcher = watching()
    assert str(built.chat(QUESTION)) == BAD
    assert only(watcher).exchange.question == QUESTION


@pytest.mark.parametrize("streaming", [False, True])
def test_a_guards_fallback_is_no_answer_of_a_model(
    streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was held back is reported by the guard; the watcher sees no answer there."""
    watcher = watching()
    monkeypatch.setattr(_tap, "_guarded", False)  # a guard never detaches: undone after the test
    llm = ScriptedLLM(reply=lambda messages: "Members drink champagne for free.")
    retriever = PassageRetriever([Passage(text="The pool opens at 7 am.")])
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm, streaming=streaming)
    safe = guard(engine, fallback="Please ask.", sinks=[])
    assert str(safe.query("When does the pool open?")) == "Please ask."
    assert watcher.wait(10)
    assert watcher.reports == ()
    assert watcher.open_runs == 0
