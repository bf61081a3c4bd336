"""Agents whose answers are released claim by claim.

In: agents of the observatory, whose model can be made to wait between sentences. Out: what the
readers of their streams get and when, and what their states keep.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, ModelRetryMiddleware
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver

from faithguard import CaptureError, ConfigError, Record, UnfaithfulAnswerError
from faithguard_langchain.testing import ScriptedChatModel

from .agents import ASK, HOPS, MODES, TOOLS, agent, keeper
from .scene import BAD, FALLBACK, HOURS, LIE, PRICE, TRUE, call, calls_of, says

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
    """A model that goes on after each of its answer's first sentences only when it is let."""

    gate: Any = None
    written: list[str] = []

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for chunk in super()._stream(*args, **kwargs):
            if chunk.text.startswith(" A guided") or chunk.text.startswith(" Professor"):
                assert self.gate.wait(60)
            self.written.append(chunk.text)
            yield chunk

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for chunk in super()._stream(*args[:1]):
            if chunk.text.startswith(" A"):
                await asyncio.wait_for(self.gate.wait(), 60)
            self.written.append(chunk.text)
            yield chunk


def gated(gate: Any, *lines: str) -> Gated:
    """Return such a model, which says these lines after the hops."""
    return Gated(reply=says(*HOPS, *lines).reply, gate=gate, written=[])


def around(model: Any, tools: Sequence[Any] = TOOLS, **settings: Any) -> Any:
    """Return an agent of a model."""
    from langchain.agents import create_agent

    return create_agent(model, list(tools), middleware=[keeper(**{**CLAIMS, **settings})])


def test_a_sentence_comes_while_the_model_still_writes() -> None:
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
    assert read(agent(TRUE, **CLAIMS)) == [HOURS, f" {PRICE}"]


@READ
def test_a_block_ends_with_the_fallback(read: Any) -> None:
    assert read(agent(BAD, **CLAIMS, fallback=FALLBACK)) == [HOURS, f"\n\n{FALLBACK}"]


@READ
def test_a_first_sentence_that_fails_leaves_the_fallback_alone(read: Any) -> None:
    assert read(agent(f"{LIE} {HOURS}", **CLAIMS, fallback=FALLBACK)) == [FALLBACK]


@READ
def test_a_fallback_that_is_called_stands_behind_what_was_released(read: Any) -> None:
    fallback = RunnableLambda(lambda messages: FALLBACK)
    assert read(agent(BAD, **CLAIMS, fallback=fallback)) == [HOURS, f"\n\n{FALLBACK}"]


@READ
def test_a_repair_leaves_a_sentence_out(read: Any) -> None:
    safe = agent(f"{HOURS} {LIE} {PRICE}", stream="claims", on_fail="repair")
    assert read(safe) == [HOURS, f" {PRICE}"]


@READ
def test_a_model_is_asked_again_before_anything_is_released(read: Any) -> None:
    safe = agent(f"{LIE} {HOURS}", TRUE, stream="claims", on_fail="regenerate")
    assert read(safe) == [HOURS, f" {PRICE}"]
    feedback = calls_of(safe.model)[-1][-1].text
    assert "marzipan" in feedback and len(calls_of(safe.model)) == 4


@READ
def test_a_model_is_not_asked_again_after_that(read: Any) -> None:
    safe = agent(BAD, TRUE, stream="claims", on_fail="regenerate", fallback=FALLBACK)
    assert read(safe) == [HOURS, f"\n\n{FALLBACK}"]
    assert len(calls_of(safe.model)) == 3


def test_a_block_without_a_fallback_raises() -> None:
    seen: list[Any] = []
    with pytest.raises(UnfaithfulAnswerError) as caught:
        for message, _ in agent(BAD, **CLAIMS).stream(ASK, stream_mode="messages"):
            seen.append(message)
    assert texts_of(seen) == [HOURS]
    assert caught.value.record.exchange.answer == HOURS
    assert caught.value.report.unsupported


def test_the_chunks_make_the_message_of_the_state() -> None:
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
    safe = agent(BAD, **CLAIMS, fallback=FALLBACK)

    async def read() -> list[Any]:
        return [event async for event in safe.astream_events(ASK, version="v2")]

    events = asyncio.run(read())
    chunks = [e["data"]["chunk"] for e in events if e["event"] == "on_chat_model_stream"]
    assert texts_of(chunks) == [HOURS, f"\n\n{FALLBACK}"]
    assert "marzipan" not in repr(events)


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
def test_the_event_protocol_carries_the_pieces() -> None:
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
    beside = AIMessage(f"{HOURS} {LIE}", tool_calls=HOPS[1].tool_calls)
    records: list[Record] = []
    safe = agent(PRICE, hops=[HOPS[0], beside], **CLAIMS, sinks=[records.append])
    chunks, states = [], []
    for mode, value in safe.stream(ASK, stream_mode=["messages", "values"]):
        if mode == "values":
            states.append(value)
        elif isinstance(value[0], AIMessageChunk):
            chunks.append(value[0])
    hop = [m for m in states[-1]["messages"] if m.text == beside.text][0]
    mine = [c for c in chunks if c.id == hop.id]
    whole = sum(mine[1:], mine[0])
    assert (whole.text, whole.tool_calls[0]["name"]) == (beside.text, "look_up_price")
    assert states[-1]["messages"][-1].text == PRICE
    safe_records = records if records else []
    assert len(safe_records) <= 1


def test_one_answer_has_one_record() -> None:
    reports: list[Any] = []
    beside = AIMessage(HOURS, tool_calls=HOPS[1].tool_calls)
    pieces(agent(PRICE, hops=[HOPS[0], beside], **CLAIMS, on_report=reports.append))
    assert [report.exchange.answer for report in reports] == [PRICE]


def test_usage_is_counted_once() -> None:
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
        {"before": [keeper(domain="educational", on_fail="block", stream="claims", name="two")]},
        {"after": [keeper(domain="educational", on_fail="block", stream="claims", name="two")]},
        {"after": [keeper(domain="educational", on_fail="block", name="two")]},
    ],
    ids=["before", "after", "own model", "retry", "guard before", "guard after", "guard whole"],
)
def test_it_works_with_other_middleware(settings: Any) -> None:
    assert "".join(pieces(agent(TRUE, **CLAIMS, **settings))) == TRUE
    got = "".join(pieces(agent(BAD, **CLAIMS, fallback=FALLBACK, **settings)))
    assert "marzipan" not in got


def test_an_answer_that_is_changed_after_its_release_is_an_error() -> None:
    with pytest.raises(CaptureError, match="became another one"):
        pieces(agent(TRUE, **CLAIMS, after=[Signing()]))


def test_a_model_without_tools_is_stopped_by_a_block() -> None:
    gate = threading.Event()
    gate.set()
    model = Gated(reply=lambda messages: f"{LIE} {TRUE}", gate=gate, written=[])
    assert pieces(around(model, [], fallback=FALLBACK)) == [FALLBACK]
    assert "".join(model.written).strip() == LIE or len("".join(model.written)) < len(TRUE)


def test_a_structured_response_is_held_whole() -> None:
    from pydantic import BaseModel

    class Reply(BaseModel):
        answer: str

    structured = call("Reply", "end", answer=BAD)
    got = agent(structured, **CLAIMS, response_format=Reply)
    with pytest.raises(UnfaithfulAnswerError):
        got.invoke(ASK)


def test_the_next_turn_sees_what_was_released() -> None:
    safe = agent(BAD, TRUE, **CLAIMS, fallback=FALLBACK, saver=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    assert pieces(safe, config=config) == [HOURS, f"\n\n{FALLBACK}"]
    pieces(safe, config=config)
    shown = [m.text for m in calls_of(safe.model)[-1]]
    assert BEFORE in shown and not any("marzipan" in text for text in shown)


def test_a_stream_that_is_left_leaves_nothing_running() -> None:
    async def leave() -> set[Any]:
        gate = asyncio.Event()
        model = gated(gate, TRUE)
        stream = around(model).astream(ASK, stream_mode="messages")
        async for message, _ in stream:
            if isinstance(message, AIMessageChunk) and message.text:
                break
        await stream.aclose()
        del stream
        gc.collect()
        await asyncio.sleep(0)
        assert not any("guided" in text for text in model.written)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert not asyncio.run(leave())


def test_a_cancelled_call_is_cancelled() -> None:
    async def cancel() -> None:
        model = gated(asyncio.Event(), TRUE)
        got = asyncio.Event()

        async def read() -> None:
            async for message, _ in around(model).astream(ASK, stream_mode="messages"):
                if isinstance(message, AIMessageChunk) and message.text:
                    got.set()

        task = asyncio.create_task(read())
        await got.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(ConfigError, match="flag"):
        keeper(stream="claims", on_fail="flag")
    with pytest.raises(ConfigError, match="max_hold_chars"):
        keeper(max_hold_chars=100)


def test_a_text_without_an_end_is_not_held_for_ever() -> None:
    safe = agent("on and on " * 50, **CLAIMS, fallback=FALLBACK, max_hold_chars=100)
    assert pieces(safe) == [FALLBACK]


def test_tool_messages_stand_in_the_stream_as_ever() -> None:
    got = [m for m, _ in agent(TRUE, **CLAIMS).stream(ASK, stream_mode="messages")]
    assert [m.text for m in got if isinstance(m, ToolMessage)] == [HOURS, PRICE]
