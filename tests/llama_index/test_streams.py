"""Streams by claim for LlamaIndex beyond leaks: what comes when, what is kept, what is closed."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from pydantic import Field

from faithguard import ConfigError, Record, Report, UnfaithfulAnswerError
from faithguard_llama_index import guard, unwatch
from faithguard_llama_index.testing import ScriptedLLM

from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    HOURS,
    LIE,
    MIRROR,
    PRICE,
    QUERY_ENGINES,
    QUESTION,
    TRUE,
    Script,
    Shelf,
    asking,
    condense_chat,
    context_chat,
    in_mode,
    in_threads,
    only,
    prompts_of,
    questioning,
    says,
    simple_chat,
    watching,
)

FALLBACK = "Please ask at the ticket desk."
PATIENCE = 30.0
"""Seconds after which a model that waits for its reader has waited in vain."""

LONG = " ".join([TRUE] * 8)
"""More than a model may be ahead of its reader."""

GREETING = [ChatMessage("Good evening."), ChatMessage("Welcome.", role="assistant")]

ANSWERS = {
    "prose": TRUE,
    "one sentence": HOURS,
    "list": f"The observatory in short:\n\n- {HOURS}\n- {PRICE}\n\n  {MIRROR}\n",
    "bold, cited": f"**{HOURS}** [1]\n\n{PRICE} [2]",
    "nothing": "",
    "an abstention": "I could not find that.",
}


class Pen(ScriptedLLM):
    """A model that says how its streams ended, and waits with its last word if it is told to."""

    go: Any = Field(default=None, exclude=True)
    """An event that it waits for."""
    ends: list[str] = Field(default_factory=list, exclude=True)
    written: int = 0
    """Words so far."""

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages word by word."""
        return self._followed(super().stream_chat(messages, **kwargs))

    def _followed(self, chunks: Iterator[Any]) -> Iterator[Any]:
        end = "closed"
        try:
            for chunk in chunks:
                if chunk.raw is not None and self.go is not None:
                    assert self.go.wait(PATIENCE), "nobody has read what was written so far"
                self.written += 1
                yield chunk
            end = "whole"
        finally:
            self.ends.append(end)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages word by word, awaiting."""
        return self._afollowed(await super().astream_chat(messages, **kwargs))

    async def _afollowed(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        end = "closed"
        try:
            async for chunk in chunks:
                if chunk.raw is not None and self.go is not None:
                    await asyncio.wait_for(self.go.wait(), PATIENCE)
                self.written += 1
                yield chunk
            end = "whole"
        finally:
            self.ends.append(end)


def pen(*lines: str, go: Any = None) -> Pen:
    """Return a model that says these lines in turn."""
    return Pen(reply=Script(*lines), go=go)


def safe(engine: Any, **settings: Any) -> Any:
    """Return a guard by claim that logs nothing."""
    return guard(engine, **{"sinks": [], "stream": "claims", **settings})


def queried(llm: Any, **settings: Any) -> Any:
    """Return the guarded usual query engine, which streams."""
    return safe(asking(llm, streaming=True), **settings)


def read(texts: Iterator[str]) -> tuple[list[str], Exception | None]:
    """Return what a stream yields, and what it raises."""
    got: list[str] = []
    try:
        for text in texts:
            got.append(text)
    except UnfaithfulAnswerError as error:
        return got, error
    return got, None


async def aread(texts: AsyncIterator[str]) -> tuple[list[str], Exception | None]:
    """Do the same, awaiting."""
    got: list[str] = []
    try:
        async for text in texts:
            got.append(text)
    except UnfaithfulAnswerError as error:
        return got, error
    return got, None


class Came:
    """What came of one question: the response, its pieces, and what was raised."""

    def __init__(self, response: Any, got: tuple[list[str], Exception | None]) -> None:
        self.response = response
        self.pieces = [piece for piece in got[0] if piece]
        self.error = got[1]

    @property
    def text(self) -> str:
        """All that came."""
        return "".join(self.pieces)

    @property
    def note(self) -> Any:
        """What the response says of the decision."""
        return self.response.metadata.get("faithguard")


def _query(engine: Any, question: str) -> Came:
    response = engine.query(question)
    return Came(response, read(response.response_gen))


def _aquery(engine: Any, question: str) -> Came:
    async def played() -> Came:
        response = await engine.aquery(question)
        return Came(response, await aread(response.async_response_gen()))

    return asyncio.run(played())


def _chat(engine: Any, question: str) -> Came:
    response = engine.stream_chat(question)
    return Came(response, read(response.response_gen))


def _achat(engine: Any, question: str) -> Came:
    async def played() -> Came:
        response = await engine.astream_chat(question)
        return Came(response, await aread(response.async_response_gen()))

    return asyncio.run(played())


QUERYING = {"query": _query, "aquery": _aquery}
CHATTING = {"stream_chat": _chat, "astream_chat": _achat}
WAYS: dict[str, tuple[Any, Any]] = {
    **{
        name: (lambda llm, **o: asking(llm, streaming=True, **o), ask)
        for name, ask in QUERYING.items()
    },
    **{name: (context_chat, ask) for name, ask in CHATTING.items()},
}
"""From a name to an engine that streams and how it is asked."""
ways = pytest.mark.parametrize("way", WAYS)


def turns(engine: Any) -> list[str]:
    """Return what was said in a conversation."""
    return [str(message.content) for message in engine.chat_history]


# -- what comes -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", QUERYING)
@pytest.mark.parametrize("shape", [s for s in QUERY_ENGINES if s not in ("own", "sub-questions")])
def test_what_holds_comes_piece_by_piece(shape: str, way: str) -> None:
    """Every engine that streams: the same bytes, in pieces, and the note at the end."""
    came = QUERYING[way](safe(QUERY_ENGINES[shape](says(TRUE), True)), QUESTION)
    assert came.pieces == [HOURS, f" {PRICE}"]
    assert came.note["action"] == "deliver"


@pytest.mark.parametrize("way", CHATTING)
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_what_holds_comes_in_a_chat_and_is_remembered(shape: str, way: str) -> None:
    """Every chat engine: the same bytes, in pieces; then the turn is in the memory."""
    chat = safe(CHAT_ENGINES[shape](says(TRUE)))
    came = CHATTING[way](chat, QUESTION)
    assert came.pieces == [HOURS, f" {PRICE}"]
    assert came.note["passed"]
    assert came.response.response == TRUE
    assert turns(chat) == [QUESTION, TRUE]


@ways
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_not_a_byte_is_changed(answer: str, way: str) -> None:
    """Whatever the form of an answer, what passes comes as the model wrote it."""
    build, ask = WAYS[way]
    came = ask(safe(build(says(answer))), QUESTION)
    assert came.error is None
    assert came.text == answer


@ways
def test_a_sentence_is_out_before_the_model_has_ended(way: str) -> None:
    """The model waits with its last word until the first sentence is there."""
    build, _ = WAYS[way]
    chats = way in CHATTING
    if way.startswith("a"):

        async def played() -> list[str]:
            go = asyncio.Event()
            engine = safe(build(pen(f"{TRUE} {MIRROR}", go=go)))
            response = await (engine.astream_chat if chats else engine.aquery)(QUESTION)
            got = []
            async for text in response.async_response_gen():
                got.append(text)
                go.set()
            return got

        got = asyncio.run(played())
    else:
        go = threading.Event()
        engine = safe(build(pen(f"{TRUE} {MIRROR}", go=go)))
        got = []
        for text in (engine.stream_chat if chats else engine.query)(QUESTION).response_gen:
            got.append(text)
            go.set()
    assert [text for text in got if text] == [HOURS, f" {PRICE}", f" {MIRROR}"]


def test_responses_are_llama_indexs_own_and_name_their_sources_at_once() -> None:
    """Types, source nodes and metadata are there before anything is read; the note is not."""
    plain = asking(says(TRUE), streaming=True).query(QUESTION)
    response = queried(says(TRUE)).query(QUESTION)
    assert type(response) is StreamingResponse
    assert response.source_nodes == plain.source_nodes
    assert response.metadata == plain.metadata
    assert response.get_response().response == TRUE
    metadata: Any = response.metadata
    assert metadata.pop("faithguard")["total"] == 2
    assert metadata == plain.metadata
    aresponse = asyncio.run(queried(says(TRUE)).aquery(QUESTION))
    assert type(aresponse) is AsyncStreamingResponse
    assert aresponse.source_nodes == plain.source_nodes
    chat = safe(context_chat(says(TRUE))).stream_chat(QUESTION)
    assert isinstance(chat, StreamingAgentChatResponse)
    assert [node.text for node in chat.source_nodes] == [n.text for n in plain.source_nodes]
    assert chat.sources[0].tool_name == "retriever"


def test_what_a_model_wrote_is_no_source_that_goes_out_at_once() -> None:
    """An answer to a sub-question is not verified yet; what was retrieved for it may go."""
    response = safe(questioning(says(BAD, TRUE), True)).query(QUESTION)
    assert LIE not in repr(response.source_nodes)
    assert {HOURS, PRICE} <= {node.text for node in response.source_nodes}


@pytest.mark.parametrize("way", CHATTING)
def test_a_source_has_no_stream_of_its_own(way: str) -> None:
    """What the engine inside has streamed is not to be read beside the guard."""
    came = CHATTING[way](safe(condense_chat(says(BAD)), fallback=FALLBACK), QUESTION)
    raw = came.response.sources[0].raw_output
    assert str(raw) == "None"
    assert {HOURS, PRICE} <= {node.text for node in raw.source_nodes}
    assert came.response.source_nodes == raw.source_nodes
    assert came.response.sources[0].raw_input == {"query": QUESTION}


def test_a_chat_can_be_read_in_every_way() -> None:
    """As a string, printed, awaited, chunk by chunk, and once more."""
    assert str(safe(context_chat(says(TRUE))).stream_chat(QUESTION)) == TRUE
    response = safe(context_chat(says(TRUE))).stream_chat(QUESTION)
    chunks = list(response.chat_stream)
    assert [chunk.delta for chunk in chunks] == [HOURS, f" {PRICE}"]
    assert chunks[-1].message.content == TRUE
    response = safe(context_chat(says(TRUE))).stream_chat(QUESTION)
    assert ["".join(response.response_gen) for _ in range(2)] == [TRUE, TRUE]

    async def played() -> tuple[str, str]:
        response = await safe(context_chat(says(TRUE))).astream_chat(QUESTION)
        before = str(response)
        await response.awrite_response_to_history_task
        return before, str(response)

    assert asyncio.run(played()) == ("", TRUE)


@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE])
def test_with_report_reads_the_stream(mode: ResponseMode) -> None:
    """The record is there once the stream has ended; the response can be read after that."""
    engine = in_mode(mode)(says(TRUE), True)
    response, record = safe(engine).with_report().query(QUESTION)
    assert record.exchange.answer == "".join(response.response_gen) == TRUE
    assert response.metadata["faithguard"]["action"] == "deliver"
    chat = safe(context_chat(says(BAD)), fallback=FALLBACK).with_report()
    response, record = asyncio.run(chat.astream_chat(QUESTION))
    assert record.decision.action == "block"
    assert str(response) == f"{HOURS}\n\n{FALLBACK}"
    with pytest.raises(UnfaithfulAnswerError):
        asyncio.run(queried(says(LIE)).with_report().aquery(QUESTION))


def test_what_does_not_stream_is_held_whole() -> None:
    """Calls that return a whole answer are decided on as with any other guard."""
    engine = safe(asking(says(BAD, TRUE)), on_fail="regenerate")
    response: Any = engine.query(QUESTION)
    assert type(response) is Response
    assert response.response == TRUE
    assert response.metadata["faithguard"]["attempts"] == 2
    chat = safe(context_chat(says(BAD)))
    with pytest.raises(UnfaithfulAnswerError):
        chat.chat(QUESTION)
    assert turns(chat) == []
    answer = safe(context_chat(says(TRUE))).chat(QUESTION)
    assert type(answer) is AgentChatResponse
    assert answer.response == TRUE


# -- what does not hold -----------------------------------------------------------------------


@ways
def test_a_blocked_stream_ends_with_the_fallback(way: str) -> None:
    """What came before the sentence that failed stays; memory, note and record say the same."""
    records: list[Record] = []
    build, ask = WAYS[way]
    engine = safe(build(says(f"{BAD} {PRICE}")), fallback=FALLBACK, sinks=[records.append])
    came = ask(engine, QUESTION)
    assert came.pieces == [HOURS, f"\n\n{FALLBACK}"]
    assert came.note["action"] == "block"
    assert not came.note["passed"]
    if way in CHATTING:
        assert turns(engine) == [QUESTION, came.text]
    assert engine.wait(PATIENCE)
    [record] = records
    assert record.released == HOURS
    assert record.exchange.answer.startswith(BAD)
    assert record.report.unsupported[0].text == LIE


@ways
def test_a_blocked_stream_raises_without_a_fallback(way: str) -> None:
    """The error comes after what was released, which the memory keeps."""
    build, ask = WAYS[way]
    engine = safe(build(says(BAD)))
    came = ask(engine, QUESTION)
    assert came.pieces == [HOURS]
    assert isinstance(came.error, UnfaithfulAnswerError)
    assert LIE not in str(came.error)
    assert came.error.report.unsupported[0].text == LIE
    assert came.note["action"] == "block"
    if way in CHATTING:
        assert turns(engine) == [QUESTION, HOURS]
        assert came.response.response == HOURS
    engine = safe(build(says(LIE)))
    came = ask(engine, QUESTION)
    assert came.pieces == []
    if way in CHATTING:
        assert turns(engine) == []


@ways
def test_a_sentence_is_left_out_and_the_stream_goes_on(way: str) -> None:
    """The rest comes, and the memory holds what came."""
    build, ask = WAYS[way]
    engine = safe(build(says(f"{HOURS} {LIE} {PRICE}")), on_fail="repair")
    came = ask(engine, QUESTION)
    assert came.text == TRUE
    assert came.note["action"] == "repair"
    if way in CHATTING:
        assert turns(engine) == [QUESTION, TRUE]


@ways
def test_the_model_is_asked_again_before_anything_was_released(way: str) -> None:
    """It is told what failed, retrieval is not repeated, and its first stream is closed."""
    build, ask = WAYS[way]
    shelf = Counting(HOURS, PRICE)
    llm = pen(f"{LIE} {LONG}", TRUE)
    engine = safe(build(llm, retriever=shelf), on_fail="regenerate")
    came = ask(engine, QUESTION)
    assert came.text == TRUE
    assert came.note["attempts"] == 2
    assert shelf.asked == 1
    assert llm.ends == ["closed", "whole"]
    first, second = prompts_of(llm)
    assert "are not supported" in second
    assert LIE in second
    assert second.startswith(first)
    if way in CHATTING:
        assert turns(engine) == [QUESTION, TRUE]


@ways
def test_it_is_not_asked_again_after_that(way: str) -> None:
    """What was released stays, so the rest is blocked."""
    build, ask = WAYS[way]
    llm = says(BAD, TRUE)
    came = ask(safe(build(llm), on_fail="regenerate", fallback=FALLBACK), QUESTION)
    assert came.text == f"{HOURS}\n\n{FALLBACK}"
    assert len(prompts_of(llm)) == 1


def test_what_an_earlier_attempt_said_is_no_evidence() -> None:
    """A completion model finds its first answer in its second prompt, and repeats it."""
    llm = says(f"{LIE} {PRICE}").model_copy(update={"is_chat_model": False})
    came = _query(queried(llm, on_fail="regenerate"), QUESTION)
    assert came.pieces == []
    assert came.error is not None
    assert LIE in prompts_of(llm)[1]


def test_more_context_is_evidence_in_the_next_attempt() -> None:
    """What is found for the claims that failed is sent along."""
    llm = says(MIRROR)

    def more(claims: Any) -> list[str]:
        return [MIRROR] if [claim.text for claim in claims] == [MIRROR] else []

    engine = asking(llm, streaming=True, retriever=Shelf(HOURS))
    came = _query(safe(engine, on_fail="regenerate", more_context=more), QUESTION)
    assert came.text == MIRROR
    assert came.note["attempts"] == 2


@ways
@pytest.mark.parametrize("said", [f"{LIE} {PRICE}", BAD], ids=["at once", "after a sentence"])
def test_an_engine_as_fallback_is_asked_the_same(said: str, way: str) -> None:
    """Its answer comes in one piece, with its sources, and is remembered."""
    build, ask = WAYS[way]
    other = build(says("Ask Ms Orban."), retriever=Shelf("Ms Orban knows the observatory."))
    engine = safe(build(says(said)), fallback=other)
    came = ask(engine, QUESTION)
    seen = f"{HOURS}\n\n" if said == BAD else ""
    assert came.text == f"{seen}Ask Ms Orban."
    assert came.response.source_nodes[-1].text == "Ms Orban knows the observatory."
    assert (len(came.response.source_nodes) == 1) == (said != BAD)
    if way in CHATTING:
        assert turns(engine) == [QUESTION, came.text]


@pytest.mark.parametrize("way", CHATTING)
@pytest.mark.parametrize("said", [LIE, BAD], ids=["at once", "after a sentence"])
def test_a_fallback_that_shares_the_memory_is_remembered_once(said: str, way: str) -> None:
    """The turn stands in the memory as the user saw it."""
    llm = says(said, "Ask Ms Orban.")
    chat = context_chat(llm)
    other = simple_chat(llm)
    other._memory = chat._memory
    engine = safe(chat, fallback=other)
    came = CHATTING[way](engine, QUESTION)
    assert came.text.endswith("Ask Ms Orban.")
    assert turns(engine) == [QUESTION, came.text]


@ways
def test_a_fallback_that_fails_leaves_what_came(way: str) -> None:
    """The error of the engine that was asked instead is raised; the memory holds what was seen."""
    build, ask = WAYS[way]
    other = guard(build(says(LIE), retriever=Shelf(HOURS)), sinks=[])
    engine = safe(build(says(BAD)), fallback=other)
    came = ask(engine, QUESTION)
    assert came.pieces == [HOURS]
    assert came.error is not None
    if way in CHATTING:
        assert turns(engine) == [QUESTION, HOURS]


def test_on_report_is_told_once_of_each_stream() -> None:
    """Also where it ends early."""
    reports: list[Report] = []
    for said in (TRUE, BAD, LIE):
        _query(queried(says(said), fallback=FALLBACK, on_report=reports.append), QUESTION)
    assert [(r.supported, r.total) for r in reports] == [(2, 2), (1, 2), (0, 1)]


@ways
def test_what_does_not_end_is_too_much(way: str) -> None:
    """A sentence longer than what may be held is not waited for."""
    build, ask = WAYS[way]
    long = "The large telescope of the observatory has " + "a very large " * 40 + "mirror."
    llm = pen(f"{HOURS} {long} {PRICE}")
    came = ask(safe(build(llm), fallback=FALLBACK, max_hold_chars=200), QUESTION)
    assert came.text == f"{HOURS}\n\n{FALLBACK}"
    assert "within 200 characters" in came.note["reason"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "flag": ({"on_fail": "flag"}, "would hold nothing"),
    "another word": ({"stream": "tokens"}, "`stream` is 'tokens'"),
    "a bound for nothing": ({"stream": "answer", "max_hold_chars": 9}, "max_hold_chars"),
    "no bound": ({"max_hold_seconds": 0}, "above 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused(name: str) -> None:
    """The message names the setting and the remedy."""
    settings, said = REFUSED[name]
    with pytest.raises(ConfigError, match=said):
        queried(says(TRUE), **settings)


# -- what is closed ---------------------------------------------------------------------------


class Counting(Shelf):
    """A retriever that counts its calls."""

    def __init__(self, *nodes: Any) -> None:
        super().__init__(*nodes)
        self.asked = 0

    def _retrieve(self, query_bundle: Any) -> Any:
        self.asked += 1
        return super()._retrieve(query_bundle)


@pytest.mark.parametrize("shape", CHAT_ENGINES)
@pytest.mark.parametrize("given", [None, GREETING], ids=["", "with a history"])
def test_a_chat_that_is_not_read_on_is_forgotten(shape: str, given: Any) -> None:
    """Whoever breaks off leaves the memory as it was, and no thread; the model is closed."""
    go = threading.Event()
    llm = pen(TRUE, go=go)
    records: list[Record] = []
    chat = safe(CHAT_ENGINES[shape](llm), sinks=[records.append])
    before, threads = turns(chat), threading.active_count()
    for text in chat.stream_chat(QUESTION, given).response_gen:
        threading.Timer(0.05, go.set).start()  # the model cannot be woken sooner
        assert text == HOURS
        break
    gc.collect()
    assert turns(chat) == before
    assert threading.active_count() <= threads + 2
    assert llm.ends[-1] == "closed"
    assert chat.wait(PATIENCE)
    check_left(records)


def check_left(records: Sequence[Record]) -> None:
    """Check that a stream that was left after its first sentence is on record."""
    [record] = records
    assert (record.exchange.answer, record.report.score) == (HOURS, 1.0)
    assert "its reader left before the end" in record.decision.reason


def test_a_query_that_is_not_read_on_closes_the_model() -> None:
    """Also where nobody closes it by name."""
    llm = pen(f"{TRUE} {MIRROR}")
    records: list[Record] = []
    engine = queried(llm, sinks=[records.append])
    response = engine.query(QUESTION)
    assert next(response.response_gen) == HOURS
    del response
    gc.collect()
    assert llm.ends == ["closed"]
    assert engine.wait(PATIENCE)
    check_left(records)


@pytest.mark.parametrize("build", [context_chat, condense_chat, simple_chat])
def test_a_chat_that_nobody_reads_is_forgotten(build: Any) -> None:
    """A response that is thrown away unread is like one that was broken off."""
    go = threading.Event()
    llm = pen(TRUE, go=go)
    chat = safe(build(llm))
    chat.engine._memory.put(GREETING[0])
    response = chat.stream_chat(QUESTION, [*GREETING])
    writer = [thread for thread in threading.enumerate() if "write_response" in repr(thread)]
    del response
    gc.collect()
    go.set()
    for thread in [*writer, *_others()]:
        thread.join(PATIENCE)
    assert turns(chat) == ["Good evening."]
    assert llm.ends == ["closed"]


def _others() -> list[threading.Thread]:
    """Return the threads that LlamaIndex has begun."""
    return [
        thread
        for thread in threading.enumerate()
        if type(thread).__module__.startswith("llama_index")
    ]


@pytest.mark.parametrize("way", ["aquery", "astream_chat"])
@pytest.mark.parametrize("how", ["closed", "cancelled", "dropped", "unread"])
def test_an_asynchronous_stream_that_is_not_read_on(way: str, how: str) -> None:
    """However it ends before its end: no task is left, the model is closed, nothing is kept."""
    build, _ = WAYS[way]
    llm = pen(f"{TRUE} {MIRROR}")
    records: list[Record] = []
    engine = safe(build(llm), sinks=[records.append])

    async def begun(engine: Any, go: asyncio.Event) -> None:
        llm.go = go
        ask = engine.astream_chat if way in CHATTING else engine.aquery
        given = (QUESTION, [*GREETING]) if way in CHATTING else (QUESTION,)
        response = await ask(*given)
        if how == "unread":
            return
        texts = response.async_response_gen()
        assert await anext(texts) == HOURS
        if how == "closed":
            await texts.aclose()
        elif how == "cancelled":
            await anext(texts)
            await anext(texts)

    async def played() -> None:
        before = asyncio.all_tasks()
        go = asyncio.Event()
        task = asyncio.create_task(begun(engine, go))
        await asyncio.wait([task], timeout=0.5 if how == "cancelled" else PATIENCE)
        assert task.done() == (how != "cancelled")
        task.cancel()
        await asyncio.wait([task])
        if how != "cancelled":
            task.result()
        gc.collect()
        for _ in range(200):  # the event loop closes what is dropped, one after the other
            if llm.ends and asyncio.all_tasks() == before:
                break
            await asyncio.sleep(0.01)
        assert asyncio.all_tasks() == before
        assert llm.ends == ([] if (how, way) == ("unread", "aquery") else ["closed"])

    asyncio.run(played())
    if way in CHATTING:
        assert turns(engine) == []
    assert engine.wait(PATIENCE)
    if how in ("closed", "dropped"):
        check_left(records)
    elif how == "unread":
        assert records == []


class Torn(ScriptedLLM):
    """A model whose stream fails, and whose error quotes what it wrote."""

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages word by word."""
        written = ""
        for chunk in super().stream_chat(messages, **kwargs):
            written += chunk.delta or ""
            yield chunk
            if "marzipan" in written:
                raise RuntimeError(f"cannot go on after {written}")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("way", ["query", "stream_chat"])
def test_an_error_that_quotes_what_was_held_is_withheld(way: str) -> None:
    """What failed is said, but not what was written; the memory is as it was."""
    build, _ = WAYS[way]
    engine = safe(build(Torn(reply=Script(BAD))), fallback=FALLBACK)
    chats = way in CHATTING
    texts = (engine.stream_chat if chats else engine.query)(QUESTION).response_gen
    assert next(texts) == HOURS
    with pytest.raises(Exception, match="raised RuntimeError") as caught:
        list(texts)
    assert "marzipan" not in repr(caught.value)
    if chats:
        assert turns(engine) == []


@ways
def test_a_model_does_not_run_far_ahead_of_a_slow_reader(way: str) -> None:
    """Back-pressure reaches the model, also where a thread or a task of LlamaIndex's reads it."""
    build, _ = WAYS[way]
    llm = pen(" ".join([LONG] * 4))
    engine = safe(build(llm))
    chats = way in CHATTING
    if way.startswith("a"):

        async def played() -> None:
            response = await (engine.astream_chat if chats else engine.aquery)(QUESTION)
            texts = response.async_response_gen()
            for _ in range(3):
                await anext(texts)
                await asyncio.sleep(0.05)
            assert llm.ends == []
            assert len(prompts_of(llm)) == 1
            await texts.aclose()

        asyncio.run(played())
    else:
        response = (engine.stream_chat if chats else engine.query)(QUESTION)
        texts = response.response_gen
        for _ in range(3):
            next(texts)
            time.sleep(0.05)
        assert llm.ends == []
        texts.close()
    assert llm.written < 200


# -- many at once -----------------------------------------------------------------------------


def _house(number: int) -> str:
    return f"A night in house {number} costs {number + 40} euros."


def _lie(number: int) -> str:
    return f"Professor Quillfeather sleeps in house {number}."


def _answer(messages: list[ChatMessage]) -> str:
    asked = "\n".join(str(message.content) for message in messages)
    number = int(asked.rpartition("house ")[2].split()[0].rstrip("?.:"))
    return f"{_house(number)} {_lie(number)}" if number % 2 else _house(number)


class Houses(Shelf):
    """A retriever that knows the house that is asked about."""

    def _retrieve(self, query_bundle: Any) -> Any:
        number = int(query_bundle.query_str.rpartition("house ")[2].rstrip("?"))
        return Shelf(_house(number), _lie(number + 1))._retrieve(query_bundle)


def _asks(number: int) -> str:
    return f"What does a night cost in house {number}?"


def test_threads_and_tasks_do_not_meet() -> None:
    """Each stream is verified by what was found for its own question."""
    llm = ScriptedLLM(reply=_answer)
    engine = safe(asking(llm, streaming=True, retriever=Houses()), fallback=FALLBACK)

    def chat() -> Any:
        return safe(context_chat(llm, Houses()), fallback=FALLBACK)

    def due(number: int) -> str:
        return f"{_house(number)}\n\n{FALLBACK}" if number % 2 else _house(number)

    numbers = range(2, 10)
    came = in_threads([partial(_query, engine, _asks(number)) for number in numbers], 4)
    assert [one.text for one in came] == [due(number) for number in numbers]
    came = in_threads([partial(_chat, chat(), _asks(number)) for number in numbers], 4)
    assert [one.text for one in came] == [due(number) for number in numbers]

    async def one(number: int) -> str:
        response = await engine.aquery(_asks(number))
        return "".join([text async for text in response.async_response_gen()])

    async def played() -> list[str]:
        return await asyncio.gather(*map(one, numbers))

    assert asyncio.run(played()) == [due(number) for number in numbers]


# -- beside other parts -----------------------------------------------------------------------


class FromSync(CustomQueryEngine):
    """A user's own engine without an asynchronous half of its own."""

    inner: Any

    def custom_query(self, query_str: str) -> Any:
        """Ask an engine that streams."""
        return self.inner.query(query_str)


def test_an_engine_that_blocks_where_it_is_awaited_is_held_whole() -> None:
    """Its stream can be read, but not asked for again while it is."""
    engine = safe(FromSync(inner=asking(says(LIE, TRUE), streaming=True)), on_fail="regenerate")
    response = asyncio.run(engine.aquery(QUESTION))
    assert "".join(response.response_gen) == TRUE
    assert response.metadata["faithguard"]["attempts"] == 2


def test_a_guard_in_a_guard() -> None:
    """The outer one reads what the inner one releases."""
    inner = safe(asking(says(f"{HOURS} {LIE} {PRICE}"), streaming=True), on_fail="repair")
    assert _query(safe(inner), QUESTION).text == TRUE
    held = guard(inner, sinks=[])
    assert str(held.query(QUESTION)) == TRUE
    chat = safe(condense_chat(says(TRUE)))
    assert _chat(chat, QUESTION).text == TRUE


@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize("way", [*QUERYING, *CHATTING])
def test_a_watcher_reports_on_what_came(way: str) -> None:
    """It sees the guard as an engine, and leaves a fallback to it."""
    build, ask = WAYS[way]
    watcher = watching()
    engine = safe(build(says(f"{HOURS} {LIE} {PRICE}")), on_fail="repair")
    assert ask(engine, QUESTION).text == TRUE
    report = only(watcher)
    assert report.exchange.answer == TRUE
    assert report.score == 1.0
    unwatch()
    watcher = watching()
    assert ask(safe(build(says(BAD)), fallback=FALLBACK), QUESTION).text.endswith(FALLBACK)
    assert watcher.wait(PATIENCE)
    assert watcher.reports == ()
    assert watcher.open_runs == 0


def test_a_second_message_is_asked_with_what_the_user_saw() -> None:
    """The conversation goes on from what came out, not from what was written."""
    llm = says(BAD, TRUE)
    chat = safe(simple_chat(llm), fallback=FALLBACK)
    _chat(chat, QUESTION)
    assert _achat(chat, QUESTION).text == TRUE
    assert LIE not in prompts_of(llm)[1]
    assert FALLBACK in prompts_of(llm)[1]
    assert turns(chat) == [QUESTION, f"{HOURS}\n\n{FALLBACK}", QUESTION, TRUE]
