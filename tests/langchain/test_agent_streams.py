"""Agents whose answers are released claim by claim.

In: agents of the observatory, whose model can be made to wait between sentences. Out: what the
readers of their streams get and when, and what their states keep.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRetryMiddleware
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field

from faithguard import CaptureError, ConfigError, Record, UnfaithfulAnswerError
from faithguard_langchain import verify_node
from faithguard_langchain.testing import ScriptedChatModel

from .agents import ASK, HOPS, MODES, TOOLS, agent, keeper
from .scene import BAD, FALLBACK, HOURS, LIE, PRICE, TRUE, call, calls_of, finds, says

BEFORE = f"{HOURS}\n\n{FALLBACK}"
CLAIMS: Mapping[str, Any] = {"stream": "claims", "on_fail": "block"}


def pieces(safe: Any, given: Any = ASK, config: Any = None) -> list[str]:
    """Return the texts of the answer's chunks, in the stream of messages."""
    return texts_of([message for message, _ in safe.stream(given, config, stream_mode="messages")])


def texts_of(messages: Sequence[Any]) -> list[str]:
    """Return the texts in messages of the model's."""
    return [m.text for m in messages if isinstance(m, AIMessage) and m.text]


def apieces(safe: Any) -> list[str]:
    """Do what `pieces` does, awaiting."""

    async def read() -> list[Any]:
        return [message async for message, _ in safe.astream(ASK, stream_mode="messages")]

    return texts_of(asyncio.run(read()))


READ = pytest.mark.parametrize("read", [pieces, apieces], ids=["stream", "astream"])


class Gated(ScriptedChatModel):
    """A model that writes its answer's second sentence to the end only when it is let."""

    gate: Any = None
    written: list[str] = Field(default_factory=list)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for chunk in super()._stream(*args, **kwargs):
            if chunk.text.strip() == "tour":
                assert self.gate.wait(60)
            self.written.append(chunk.text)
            yield chunk

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for chunk in super()._stream(*args[:1]):
            if chunk.text.strip() == "tour":
                await asyncio.wait_for(self.gate.wait(), 60)
            self.written.append(chunk.text)
            yield chunk


def gated(gate: Any, *lines: str) -> Gated:
    """Return such a model, which says these lines after the hops."""
    script: list[Any] = [*HOPS, *lines]
    return Gated(reply=says(*script).reply, gate=gate)


def around(model: Any, tools: Sequence[Any] = TOOLS, **settings: Any) -> Any:
    """Return an agent of a model."""
    return create_agent(model, list(tools), middleware=[keeper(**{**CLAIMS, **settings})])


def test_a_sentence_comes_while_the_model_still_writes() -> None:
    """A sentence comes while the model still writes."""
    gate = threading.Event()
    got = []
    for message, _ in around(gated(gate, TRUE)).stream(ASK, stream_mode="messages"):
        if isinstance(message, AIMessageChunk) and message.text:
            got.append(message.text)
            if not gate.is_set():
                assert got == [HOURS]
                gate.set()
    assert got == [HOURS, f" {PRICE}"]


def test_a_sentence_comes_while_an_awaited_model_still_writes() -> None:
    """A sentence comes while an awaited model still writes."""

    async def read() -> list[str]:
        gate = asyncio.Event()
        got: list[str] = []
        async for message, _ in around(gated(gate, TRUE)).astream(ASK, stream_mode="messages"):
            if isinstance(message, AIMessageChunk) and message.text:
                got.append(message.text)
                gate.set()
        return got

    assert asyncio.run(read()) == [HOURS, f" {PRICE}"]


@READ
def test_an_answer_that_holds_comes_in_sentences(read: Any) -> None:
    """An answer that holds comes in sentences."""
    assert read(agent(TRUE, **CLAIMS)) == [HOURS, f" {PRICE}"]


@READ
def test_a_block_ends_with_the_fallback(read: Any) -> None:
    """A block ends with the fallback."""
    assert read(agent(BAD, **CLAIMS, fallback=FALLBACK)) == [HOURS, f"\n\n{FALLBACK}"]


@READ
def test_a_first_sentence_that_fails_leaves_the_fallback_alone(read: Any) -> None:
    """A first sentence that fails leaves the fallback alone."""
    assert read(agent(f"{LIE} {HOURS}", **CLAIMS, fallback=FALLBACK)) == [FALLBACK]


@READ
def test_a_fallback_that_is_called_stands_behind_what_was_released(read: Any) -> None:
    """A fallback that is called stands behind what was released."""
    fallback: Any = RunnableLambda(lambda messages: FALLBACK)
    assert read(agent(BAD, **CLAIMS, fallback=fallback)) == [HOURS, f"\n\n{FALLBACK}"]


@READ
def test_a_repair_leaves_a_sentence_out(read: Any) -> None:
    """A repair leaves a sentence out."""
    safe = agent(f"{HOURS} {LIE} {PRICE}", stream="claims", on_fail="repair")
    assert read(safe) == [HOURS, f" {PRICE}"]


@READ
def test_a_model_is_asked_again_before_anything_is_released(read: Any) -> None:
    """A model is asked again before anything is released."""
    safe = agent(f"{LIE} {HOURS}", TRUE, stream="claims", on_fail="regenerate")
    assert read(safe) == [HOURS, f" {PRICE}"]
    feedback = calls_of(safe.model)[-1][-1].text
    assert "marzipan" in feedback
    assert len(calls_of(safe.model)) == 4


@READ
def test_a_model_is_not_asked_again_after_that(read: Any) -> None:
    """A model is not asked again after that."""
    safe = agent(BAD, TRUE, stream="claims", on_fail="regenerate", fallback=FALLBACK)
    assert read(safe) == [HOURS, f"\n\n{FALLBACK}"]
    assert len(calls_of(safe.model)) == 3


def test_a_block_without_a_fallback_raises() -> None:
    """A block without a fallback raises."""
    seen: list[Any] = []
    stream = agent(BAD, **CLAIMS).stream(ASK, stream_mode="messages")
    with pytest.raises(UnfaithfulAnswerError) as caught:
        seen.extend(message for message, _ in stream)
    assert texts_of(seen) == [HOURS]
    assert caught.value.record is not None
    assert caught.value.record.released == HOURS
    assert caught.value.record.report == caught.value.report
    assert caught.value.report.unsupported


def test_the_chunks_make_the_message_of_the_state() -> None:
    """The chunks make the message of the state."""
    safe = agent(BAD, **CLAIMS, fallback=FALLBACK)
    chunks, states = [], []
    for mode, value in safe.stream(ASK, stream_mode=["messages", "values"]):
        if mode == "values":
            states.append(value)
        elif isinstance(value[0], AIMessageChunk):
            chunks.append(value[0])
    whole, kept = sum(chunks[1:], chunks[0]), states[-1]["messages"][-1]
    assert whole.text == kept.text == BEFORE
    assert {c.id for c in chunks} == {kept.id}
    note = kept.response_metadata["faithguard"]
    assert note == whole.response_metadata["faithguard"] == states[-1]["faithguard"]
    assert note["action"] == "block"


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "values", "updates", "all", "v2"])
def test_the_state_is_the_same_however_the_agent_is_called(way: str) -> None:
    """The state is the same however the agent is called."""
    safe = agent(BAD, **CLAIMS, fallback=FALLBACK, saver=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    if way == "invoke":
        got: Any = safe.invoke(ASK, config)
    elif way == "ainvoke":
        got = asyncio.run(safe.ainvoke(ASK, config))
    elif way == "v2":
        got = list(safe.stream(ASK, config, stream_mode=MODES, version="v2"))
    else:
        got = list(safe.stream(ASK, config, stream_mode=MODES if way == "all" else way))
    assert "marzipan" not in repr(got)
    assert safe.get_state(config).values["messages"][-1].text == BEFORE


def test_events_carry_the_pieces() -> None:
    """Events carry the pieces."""
    safe = agent(BAD, **CLAIMS, fallback=FALLBACK)

    async def read() -> list[Any]:
        return [event async for event in safe.astream_events(ASK, version="v2")]

    events = asyncio.run(read())
    chunks = [e["data"]["chunk"] for e in events if e["event"] == "on_chat_model_stream"]
    assert texts_of(chunks) == [HOURS, f"\n\n{FALLBACK}"]
    assert "marzipan" not in repr(events)


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
def test_the_event_protocol_carries_the_pieces() -> None:
    """The event protocol carries the pieces."""
    safe = agent(BAD, **CLAIMS, fallback=FALLBACK)
    events = list(safe.stream_events(ASK, version="v3"))
    told = [e["params"]["data"] for e in events if e["method"] == "messages"]
    deltas = [
        piece["delta"]["text"]
        for piece, _ in told
        if isinstance(piece, dict) and piece["event"] == "content-block-delta"
    ]
    assert deltas == [HOURS, f"\n\n{FALLBACK}"]
    assert "marzipan" not in repr(events)


def test_what_is_said_beside_a_call_goes_on_with_the_call() -> None:
    """What is said beside a call goes on with the call."""
    beside = AIMessage(f"{HOURS} {LIE}", tool_calls=HOPS[1].tool_calls)
    safe = agent(PRICE, hops=[HOPS[0], beside], **CLAIMS)
    chunks, states = [], []
    for mode, value in safe.stream(ASK, stream_mode=["messages", "values"]):
        if mode == "values":
            states.append(value)
        elif isinstance(value[0], AIMessageChunk):
            chunks.append(value[0])
    hop = next(m for m in states[-1]["messages"] if m.text == beside.text)
    mine = [c for c in chunks if c.id == hop.id]
    whole = sum(mine[1:], mine[0])
    assert (whole.text, whole.tool_calls[0]["name"]) == (beside.text, "look_up_price")
    assert states[-1]["messages"][-1].text == PRICE


def test_one_answer_has_one_record() -> None:
    """One answer has one record."""
    reports: list[Any] = []
    beside = AIMessage(HOURS, tool_calls=HOPS[1].tool_calls)
    pieces(agent(PRICE, hops=[HOPS[0], beside], **CLAIMS, on_report=reports.append))
    assert [report.exchange.answer for report in reports] == [PRICE]


def test_usage_is_counted_once() -> None:
    """Usage is counted once."""
    counts = []
    for settings in ({}, CLAIMS):
        safe, usage = agent(TRUE, **settings), UsageMetadataCallbackHandler()
        got = list(safe.stream(ASK, {"callbacks": [usage]}, stream_mode="messages"))
        counts.append(usage.usage_metadata)
        assert got
    assert counts[0] == counts[1]


class Passing(AgentMiddleware[Any, Any, Any]):
    """Adds to the rules, as a middleware that retrieves does."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Call."""
        return handler(request.override(system_message=SystemMessage("Be brief.")))


class Choosing(AgentMiddleware[Any, Any, Any]):
    """Asks a model of its own with the same messages first."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Ask, and call."""
        says("Both tools.").invoke([SystemMessage("Which tools?"), *request.messages])
        return handler(request)


class Signing(AgentMiddleware[Any, Any, Any]):
    """Changes the answer behind the guard's back."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Call, and change."""
        response = handler(request)
        for message in response.result:
            if not message.tool_calls:
                message.content = "Hello. " + message.text
        return response


class Failing(AgentMiddleware[Any, Any, Any]):
    """Breaks each model call's first try."""

    def __init__(self) -> None:
        self._tries = 0

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Break, or call."""
        self._tries += 1
        if self._tries % 2:
            raise TimeoutError("no answer")
        return handler(request)


@pytest.mark.parametrize(
    "settings",
    [
        {"before": [Passing()]},
        {"after": [Passing()]},
        {"after": [Choosing()]},
        {"after": [ModelRetryMiddleware(max_retries=2, initial_delay=0.0), Failing()]},
        {
            "before": [
                keeper(
                    domain="educational",
                    on_fail="block",
                    stream="claims",
                    name="two",
                    fallback=FALLBACK,
                )
            ]
        },
        {
            "after": [
                keeper(
                    domain="educational",
                    on_fail="block",
                    stream="claims",
                    name="two",
                    fallback=FALLBACK,
                )
            ]
        },
        {"after": [keeper(domain="educational", on_fail="block", name="two", fallback=FALLBACK)]},
    ],
    ids=["before", "after", "own model", "retry", "guard before", "guard after", "guard whole"],
)
def test_it_works_with_other_middleware(settings: Any, request: Any) -> None:
    """It works with other middleware."""
    assert "".join(pieces(agent(TRUE, **CLAIMS, **settings))) == TRUE
    safe = agent(BAD, **CLAIMS, fallback=FALLBACK, saver=InMemorySaver(), **settings)
    config = {"configurable": {"thread_id": "1"}}
    due = FALLBACK if request.node.callspec.id == "guard whole" else BEFORE
    assert "".join(pieces(safe, config=config)) == due
    assert safe.get_state(config).values["messages"][-1].text == due


def test_an_answer_that_is_changed_after_its_release_is_an_error() -> None:
    """An answer that is changed after its release is an error."""
    with pytest.raises(CaptureError, match="became another one"):
        pieces(agent(TRUE, **CLAIMS, after=[Signing()]))


def test_a_model_without_tools_is_stopped_by_a_block() -> None:
    """A model without tools is stopped by a block."""
    gate = threading.Event()
    gate.set()
    model = Gated(reply=lambda messages: f"{LIE} {TRUE}", gate=gate)
    assert pieces(around(model, [], fallback=FALLBACK)) == [FALLBACK]
    assert "tour" not in "".join(model.written)


def test_a_structured_response_is_held_whole() -> None:
    """A structured response is held whole."""

    class Reply(BaseModel):
        answer: str

    structured = call("Reply", "end", answer=BAD)
    got = agent(structured, **CLAIMS, response_format=Reply)
    with pytest.raises(UnfaithfulAnswerError):
        got.invoke(ASK)


def test_the_next_turn_sees_what_was_released() -> None:
    """The next turn sees what was released."""
    safe = agent(BAD, TRUE, **CLAIMS, fallback=FALLBACK, saver=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    assert pieces(safe, config=config) == [HOURS, f"\n\n{FALLBACK}"]
    pieces(safe, config=config)
    shown = [m.text for m in calls_of(safe.model)[-1]]
    assert BEFORE in shown
    assert not any("marzipan" in text for text in shown)


def test_a_stream_that_is_left_leaves_nothing_running() -> None:
    """A stream that is left leaves nothing running, and what was released of it on record."""
    records: list[Record] = []

    async def leave() -> set[Any]:
        gate = asyncio.Event()
        model = gated(gate, TRUE)
        safe = around(model, sinks=[records.append])
        stream = safe.astream(ASK, stream_mode="messages")
        async for message, _ in stream:
            if isinstance(message, AIMessageChunk) and message.text:
                break
        await stream.aclose()
        del stream
        gc.collect()
        await asyncio.sleep(0)
        assert not any("tour" in text for text in model.written)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert not asyncio.run(leave())
    check_left(records)


def check_left(records: Sequence[Record]) -> None:
    """Check that a stream that was left after its first sentence is on record, soon."""
    until = time.monotonic() + 10
    while not records and time.monotonic() < until:
        time.sleep(0.01)
    [record] = records
    assert (record.exchange.answer, record.report.score) == (HOURS, 1.0)
    assert "its reader left before the end" in record.decision.reason


def test_a_cancelled_call_is_cancelled() -> None:
    """A cancelled call is cancelled; what was released is on record."""
    records: list[Record] = []

    async def cancel() -> None:
        model = gated(asyncio.Event(), TRUE)
        got = asyncio.Event()
        safe = around(model, sinks=[records.append])

        async def read() -> None:
            async for message, _ in safe.astream(ASK, stream_mode="messages"):
                if isinstance(message, AIMessageChunk) and message.text:
                    got.set()

        task = asyncio.create_task(read())
        await got.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    check_left(records)


def test_settings_that_cannot_be_used_are_refused() -> None:
    """Settings that cannot be used are refused."""
    with pytest.raises(ConfigError, match="flag"):
        keeper(stream="claims", on_fail="flag")
    with pytest.raises(ConfigError, match="max_hold_chars"):
        keeper(max_hold_chars=100)


def test_a_text_without_an_end_is_not_held_for_ever() -> None:
    """A text without an end is not held for ever."""
    safe = agent("on and on " * 50, **CLAIMS, fallback=FALLBACK, max_hold_chars=100)
    assert pieces(safe) == [FALLBACK]


def test_tool_messages_stand_in_the_stream_as_ever() -> None:
    """Tool messages stand in the stream as ever."""
    got = [m for m, _ in agent(TRUE, **CLAIMS).stream(ASK, stream_mode="messages")]
    assert [m.text for m in got if isinstance(m, ToolMessage)] == [HOURS, PRICE]


class Words(TypedDict, total=False):
    """A state: messages, and what was found."""

    messages: Annotated[list[BaseMessage], add_messages]
    docs: list[Document]


def node_graph(
    *lines: str,
    model: Any = None,
    awaits: bool = False,
    queries: bool = False,
    saver: Any = None,
    **settings: Any,
) -> Any:
    """Return a graph of one verified node, which may have a query written first."""
    model, retriever = model or says(*lines), finds(HOURS, PRICE)

    def answer(state: Words) -> Words:
        if queries:
            model.invoke("Write a query.")
        found = retriever.invoke(state["messages"][-1].text)
        return {"messages": [model.invoke([SystemMessage(str(found)), *state["messages"]])]}

    async def aanswer(state: Words) -> Words:
        found = await retriever.ainvoke(state["messages"][-1].text)
        said = await model.ainvoke([SystemMessage(str(found)), *state["messages"]])
        return {"messages": [said]}

    builder = StateGraph(Words)
    node = verify_node(aanswer if awaits else answer, **{**CLAIMS, "sinks": [], **settings})
    builder.add_node("answer", node)
    builder.add_edge(START, "answer")
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("awaits", [False, True])
def test_a_node_releases_its_answer_in_sentences(awaits: bool) -> None:
    """A node releases its answer in sentences."""
    read = apieces if awaits else pieces
    assert read(node_graph(TRUE, awaits=awaits)) == [HOURS, f" {PRICE}"]
    blocked = read(node_graph(BAD, awaits=awaits, fallback=FALLBACK))
    assert blocked == [HOURS, f"\n\n{FALLBACK}"]
    mended = node_graph(f"{HOURS} {LIE} {PRICE}", awaits=awaits, on_fail="repair")
    assert read(mended) == [HOURS, f" {PRICE}"]
    again = node_graph(f"{LIE} {HOURS}", TRUE, awaits=awaits, on_fail="regenerate")
    assert read(again) == [HOURS, f" {PRICE}"]


def test_a_sentence_of_a_node_comes_while_its_model_still_writes() -> None:
    """A sentence of a node comes while its model still writes."""
    gate = threading.Event()
    got = []
    graph = node_graph(model=Gated(reply=says(TRUE).reply, gate=gate))
    for message, _ in graph.stream(ASK, stream_mode="messages"):
        if isinstance(message, AIMessageChunk) and message.text:
            got.append(message.text)
            if not gate.is_set():
                assert got == [HOURS]
                gate.set()
    assert got == [HOURS, f" {PRICE}"]


def test_a_node_that_is_blocked_writes_what_was_released() -> None:
    """A node that is blocked writes what was released."""
    said: Any = RunnableLambda(lambda state: {"messages": [AIMessage(FALLBACK)]})
    for fallback in (FALLBACK, said):
        got = node_graph(BAD, fallback=fallback).invoke(ASK)["messages"][-1]
        assert got.text == BEFORE
        assert got.response_metadata["faithguard"]["action"] == "block"
    assert pieces(node_graph(f"{LIE} {HOURS}", fallback=said)) == [FALLBACK]
    with pytest.raises(UnfaithfulAnswerError):
        node_graph(BAD).invoke(ASK)


class Ended(Gated):
    """A model of which it is known how its stream ended."""

    ends: list[str] = Field(default_factory=list)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from super()._stream(*args, **kwargs)
        finally:
            self.ends.append("closed")

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        try:
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
        finally:
            self.ends.append("closed")


@pytest.mark.parametrize("way", ["closed", "cancelled"])
def test_a_node_whose_reader_leaves_stops_its_model(way: str) -> None:
    """No task is left, no more is released, and the record says that the reader left."""
    records: list[Record] = []

    async def leave() -> set[Any]:
        model = Ended(reply=says(TRUE).reply, gate=asyncio.Event())
        graph = node_graph(model=model, awaits=True, sinks=[records.append])
        got: list[str] = []
        first = asyncio.Event()

        async def read() -> None:
            async with aclosing(graph.astream(ASK, stream_mode="messages")) as stream:
                async for message, _ in stream:
                    if isinstance(message, AIMessageChunk) and message.text:
                        got.append(message.text)
                        first.set()
                        if way == "closed":
                            return

        task = asyncio.create_task(read())
        await first.wait()
        if way == "cancelled":
            task.cancel()
        await asyncio.wait([task])
        del task
        gc.collect()
        await asyncio.sleep(0)
        assert got == [HOURS]
        assert model.ends == ["closed"]
        assert not any("tour" in text for text in model.written)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert not asyncio.run(leave())
    check_left(records)


@pytest.mark.parametrize("kind", ["agent", "node"])
def test_a_reader_in_a_thread_that_leaves_gets_no_more(kind: str) -> None:
    """LangGraph takes the step to its end and tells nobody: what is on record is in the state."""
    records: list[Record] = []
    gate = threading.Event()
    script = says(*HOPS, BAD) if kind == "agent" else says(f"{HOURS} {PRICE} {LIE}")
    model = Ended(reply=script.reply, gate=gate)
    settings: Any = {"sinks": [records.append], "fallback": FALLBACK}
    saver = InMemorySaver()
    if kind == "agent":
        guarding = keeper(**{**CLAIMS, **settings})
        safe = create_agent(model, list(TOOLS), middleware=[guarding], checkpointer=saver)
        gate.set()
    else:
        safe = node_graph(model=model, saver=saver, **settings)
    config: Any = {"configurable": {"thread_id": "visit"}}
    stream = safe.stream(ASK, config, stream_mode="messages")
    got = [next(m.text for m, _ in stream if isinstance(m, AIMessageChunk) and m.text)]
    gate.set()
    stream.close()
    got += [m.text for m, _ in stream]
    assert got == [HOURS]
    assert "closed" in model.ends
    released = HOURS if kind == "agent" else f"{HOURS} {PRICE}"
    said = safe.get_state(config).values["messages"]
    assert said[-1].text == f"{released}\n\n{FALLBACK}"
    until = time.monotonic() + 10
    while not records and time.monotonic() < until:
        time.sleep(0.01)
    assert [record.released for record in records] == [released]
    assert "marzipan" not in str(said)


def test_a_query_that_a_node_has_written_first_is_no_answer() -> None:
    """A query that a node has written first is no answer."""
    assert pieces(node_graph("What are the hours?", TRUE, queries=True)) == [HOURS, f" {PRICE}"]
