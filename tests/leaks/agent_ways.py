"""The ways to call a compiled graph. In: a desk. Out: all that the caller received, and the store.

Every graph here stores its state; each way hands the whole store over as the last piece. Two
turns on one thread are a way too: what the model is shown in the second stays behind as well.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core._api import LangChainBetaWarning
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from .agent_scene import NEXT_GOOD, NEXT_QUESTION, Reply
from .agents import Desk
from .graphs import STORED_MODES, THREAD, stored
from .scene import QUESTION
from .ways import Kept, Read, Received, adrain, drain

Call = Callable[[Desk], Iterator[Any] | AsyncIterator[Any]]


@dataclass(frozen=True, slots=True)
class Turn:
    """The state that a turn ended in."""

    state: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of calling."""

    name: str
    call: Call
    read: Read
    questions: int = 1
    """How many times the question is asked in one call."""
    then: tuple[str, ...] = ()
    """The answers of the turns after the question, which are faithful ones."""

    def receive(self, desk: Desk) -> Received:
        """Call, and return what came out, the exception included."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangChainBetaWarning)
            handed = self.call(desk)
            pieces = asyncio.run(adrain(handed)) if inspect.isasyncgen(handed) else drain(handed)
        return Received(pieces=tuple(pieces), answers=self.read(pieces))


# What the caller reads out of the pieces


def said(state: Any) -> str:
    """Return the answer in a state or an update of one; "" where there is none yet."""
    if not isinstance(state, dict):
        return ""
    if reply := state.get("structured_response"):
        return str(reply.answer)
    if isinstance(state.get("answer"), str):
        return str(state["answer"])
    return said_last(state.get("messages") or [])


def said_last(messages: Any) -> str:
    """Return the text of the last message, if the model ended a turn with it."""
    last = messages[-1] if isinstance(messages, list) and messages else messages
    return last.text if isinstance(last, AIMessage) and not last.tool_calls else ""


def whole(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the answer of each state that a call returned."""
    return tuple(said(piece) for piece in pieces if isinstance(piece, dict))


def turns(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the answer of each turn."""
    return tuple(said(piece.state) for piece in pieces if isinstance(piece, Turn))


def listed(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read a list of states."""
    return tuple(said(state) for piece in pieces if isinstance(piece, list) for state in piece)


def in_modes(pieces: Sequence[Any], only: str | None = None) -> tuple[str, ...]:
    """Read the last state; without states the last update, else the messages, else the texts."""
    seen: dict[str, list[Any]] = {}
    for piece in pieces:
        if isinstance(piece, Kept | Exception):
            continue
        mode, value = (only, piece) if only else _mode_of(piece)
        seen.setdefault(str(mode), []).append(value)
    if "values" in seen:
        return (said(seen["values"][-1]),)
    if "updates" in seen:
        updates = [u for value in seen["updates"] for u in value.values()]
        return (next((text for text in map(said, reversed(updates)) if text), ""),)
    if "messages" in seen:
        messages = [m for m, _ in seen["messages"] if isinstance(m, AIMessage)]
        return ("".join(m.text for m in messages if not m.tool_calls),)
    if "debug" in seen:
        points = [event["payload"] for event in seen["debug"] if event["type"] == "checkpoint"]
        return (said(points[-1]["values"]),)
    return ("".join(map(str, seen.get("custom", ()))),)


def _mode_of(piece: Any) -> tuple[str, Any]:
    if isinstance(piece, dict):  # version 2 of `stream`
        return piece["type"], piece["data"]
    return piece[-2], piece[-1]


def events_root(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the output of the outermost run."""
    events = [piece for piece in pieces if isinstance(piece, dict)]
    root = events[0]["run_id"] if events else None
    ends = [e for e in events if e["run_id"] == root and e["event"] == "on_chain_end"]
    return tuple(said(event["data"]["output"]) for event in ends) or ("",)


def protocol_root(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the last state that version 3 of the event protocol tells of."""
    told = [p["params"]["data"] for p in pieces if isinstance(p, dict) and p["method"] == "values"]
    return (said(told[-1]) if told else "",)


# Calling


def store() -> InMemorySaver:
    """Make a checkpointer that knows the structured answer."""
    known = [(Reply.__module__, Reply.__name__)]
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=known))


def invoke(desk: Desk) -> Iterator[Any]:
    """Call for the final state."""
    saver = store()
    try:
        yield desk.graph(saver).invoke(desk.shape.ask(QUESTION), THREAD)
    finally:
        yield stored(saver)


async def ainvoke(desk: Desk) -> AsyncIterator[Any]:
    """Await the final state."""
    saver = store()
    try:
        yield await desk.graph(saver).ainvoke(desk.shape.ask(QUESTION), THREAD)
    finally:
        yield stored(saver)


def unstored(desk: Desk) -> Iterator[Any]:
    """Call a graph that stores nothing."""
    yield desk.graph().invoke(desk.shape.ask(QUESTION))


def visitors(count: int) -> list[RunnableConfig]:
    """Make a thread for each visitor."""
    return [{"configurable": {"thread_id": f"visitor-{number}"}} for number in range(count)]


def batch(desk: Desk, returning: bool = False) -> Iterator[Any]:
    """Ask twice, on two threads."""
    saver = store()
    inputs = [desk.shape.ask(QUESTION)] * 2
    try:
        yield desk.graph(saver).batch(inputs, visitors(2), return_exceptions=returning)
    finally:
        yield stored(saver)


async def abatch(desk: Desk, returning: bool = False) -> AsyncIterator[Any]:
    """Ask twice, on two threads, awaiting."""
    saver = store()
    inputs = [desk.shape.ask(QUESTION)] * 2
    try:
        yield await desk.graph(saver).abatch(inputs, visitors(2), return_exceptions=returning)
    finally:
        yield stored(saver)


def batch_returning(desk: Desk) -> Iterator[Any]:
    """Ask twice; exceptions are returned in the list."""
    yield from batch(desk, returning=True)


async def abatch_returning(desk: Desk) -> AsyncIterator[Any]:
    """Ask twice, awaiting; exceptions are returned in the list."""
    async for piece in abatch(desk, returning=True):
        yield piece


def streamed(modes: str | Sequence[str], nested: bool = False, **settings: Any) -> Call:
    """Stream in one mode or in several at once."""

    def call(desk: Desk) -> Iterator[Any]:
        saver = store()
        graph = desk.nested(saver) if nested else desk.graph(saver)
        try:
            yield from graph.stream(desk.shape.ask(QUESTION), THREAD, stream_mode=modes, **settings)
        finally:
            yield stored(saver)

    return call


def astreamed(modes: str | Sequence[str], nested: bool = False, **settings: Any) -> Call:
    """Stream in one mode or in several at once, awaiting."""

    async def call(desk: Desk) -> AsyncIterator[Any]:
        saver = store()
        graph = desk.nested(saver) if nested else desk.graph(saver)
        flow = graph.astream(desk.shape.ask(QUESTION), THREAD, stream_mode=modes, **settings)
        try:
            async for piece in flow:
                yield piece
        finally:
            yield stored(saver)

    return call


async def astream_events(desk: Desk) -> AsyncIterator[Any]:
    """Watch every event of the run, inner runs included."""
    saver = store()
    flow = desk.graph(saver).astream_events(desk.shape.ask(QUESTION), THREAD, version="v2")
    try:
        async for event in flow:
            yield event
    finally:
        yield stored(saver)


def protocol_events(desk: Desk) -> Iterator[Any]:
    """Follow the run in version 3 of the event protocol."""
    saver = store()
    try:
        yield from desk.graph(saver).stream_events(desk.shape.ask(QUESTION), THREAD, version="v3")
    finally:
        yield stored(saver)


async def aprotocol_events(desk: Desk) -> AsyncIterator[Any]:
    """Follow the run in version 3 of the event protocol, awaiting."""
    saver = store()
    try:
        flow = desk.graph(saver).astream_events(desk.shape.ask(QUESTION), THREAD, version="v3")
        async for event in await flow:
            yield event
    finally:
        yield stored(saver)


# Two turns on one thread


def shown_next(desk: Desk) -> Kept:
    """Take the prompts of the second turn."""
    shown = [c for c in desk.model.calls if any(NEXT_QUESTION in m.text for m in c)]
    return Kept(shown)


def two_turns(desk: Desk) -> Iterator[Any]:
    """Ask, and ask on; an exception of the first turn does not end the visit."""
    saver = store()
    graph = desk.graph(saver)
    for question in (QUESTION, NEXT_QUESTION):
        try:
            yield Turn(graph.invoke(desk.shape.ask(question), THREAD))
        except Exception as error:
            yield error
    yield from (shown_next(desk), list(graph.get_state_history(THREAD)), stored(saver))


async def atwo_turns(desk: Desk) -> AsyncIterator[Any]:
    """Ask, and ask on, awaiting."""
    saver = store()
    graph = desk.graph(saver)
    for question in (QUESTION, NEXT_QUESTION):
        try:
            yield Turn(await graph.ainvoke(desk.shape.ask(question), THREAD))
        except Exception as error:
            yield error
    for piece in (shown_next(desk), graph.get_state(THREAD), stored(saver)):
        yield piece


def two_streams(desk: Desk) -> Iterator[Any]:
    """Ask, and ask on, streaming in all modes."""
    saver = store()
    graph = desk.graph(saver)
    for question in (QUESTION, NEXT_QUESTION):
        flow = graph.stream(desk.shape.ask(question), THREAD, stream_mode=list(STORED_MODES))
        try:
            yield from flow
        except Exception as error:
            yield error
        else:
            yield Turn(graph.get_state(THREAD).values)
    yield from (shown_next(desk), list(graph.get_state_history(THREAD)), stored(saver))


def _read_as(mode: str) -> Read:
    return lambda pieces: in_modes(pieces, mode)


BOTH = ((streamed, "stream"), (astreamed, "astream"))

INVOKE = Way(name="invoke", call=invoke, read=whole)
AINVOKE = Way(name="ainvoke", call=ainvoke, read=whole)
STREAM = Way(name="stream: all modes", call=streamed(list(STORED_MODES)), read=in_modes)
ASTREAM = Way(name="astream: all modes", call=astreamed(list(STORED_MODES)), read=in_modes)
ASTREAM_EVENTS = Way(name="astream_events v2", call=astream_events, read=events_root)

CORE = (INVOKE, AINVOKE, STREAM, ASTREAM, ASTREAM_EVENTS)

MODES = ("values", "updates", "messages", "debug")

ONE_MODE = tuple(
    Way(name=f"{name}: {mode}", call=make(mode), read=_read_as(mode))
    for make, name in BOTH
    for mode in MODES
)

CUSTOM = tuple(
    Way(name=f"{name}: custom", call=make("custom"), read=_read_as("custom")) for make, name in BOTH
)
"""Only where somebody writes to the custom stream."""

TOGETHER = tuple(
    Way(name=f"{name}: {' and '.join(modes)}", call=make(modes), read=in_modes)
    for make, name in BOTH
    for modes in (["messages", "custom"], ["updates", "messages"])
)

NESTED = tuple(
    Way(
        name=f"{name}: all modes, subgraphs",
        call=make(list(STORED_MODES), nested=True, subgraphs=True),
        read=in_modes,
    )
    for make, name in BOTH
)

NUMBERED = (
    *(
        Way(
            name=f"{name} v2: all modes",
            call=make(list(STORED_MODES), version="v2"),
            read=in_modes,
        )
        for make, name in BOTH
    ),
    *(
        Way(name=f"{name} v2: messages", call=make("messages", version="v2"), read=in_modes)
        for make, name in BOTH
    ),
    Way(name="stream_events v3", call=protocol_events, read=protocol_root),
    Way(name="astream_events v3", call=aprotocol_events, read=protocol_root),
)

OTHER = (
    Way(name="invoke, no checkpointer", call=unstored, read=whole),
    Way(name="batch", call=batch, read=listed, questions=2),
    Way(name="abatch", call=abatch, read=listed, questions=2),
    Way(name="batch(return_exceptions)", call=batch_returning, read=listed, questions=2),
    Way(name="abatch(return_exceptions)", call=abatch_returning, read=listed, questions=2),
)

TURNS = (
    Way(name="two turns: invoke", call=two_turns, read=turns, then=(NEXT_GOOD,)),
    Way(name="two turns: ainvoke", call=atwo_turns, read=turns, then=(NEXT_GOOD,)),
    Way(name="two turns: stream", call=two_streams, read=turns, then=(NEXT_GOOD,)),
)

ALL = (*CORE, *ONE_MODE, *TOGETHER, *NESTED, *NUMBERED, *OTHER, *TURNS)
ASYNC_CORE = (AINVOKE, ASTREAM, ASTREAM_EVENTS)
ASYNC_MORE = (
    *(way for way in (*ONE_MODE, *TOGETHER, *NESTED) if way.name.startswith("astream")),
    *(way for way in (*NUMBERED, *OTHER) if way.name.startswith(("astream", "abatch"))),
    TURNS[1],
)
"""Those of `ALL` that await, for graphs whose nodes are coroutines."""
