"""Ways through LangGraph: the runnable works in a node, the caller holds the graph.

The node writes its answer twice into the state, as a string and as a message, for the two
habits of LangGraph users; `messages` streams only what is a message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from operator import itemgetter
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph

from .ways import Call, Kept, Way, answer_in, root_events

ALL_MODES = ("values", "updates", "messages", "custom", "tasks", "debug")
STORED_MODES = (*ALL_MODES, "checkpoints")
"""With a checkpointer there is one more."""


class Visit(TypedDict, total=False):
    """The state: a question and its answer, as text and as a message."""

    question: Any
    answer: str
    messages: Annotated[list[BaseMessage], add_messages]


Node = Callable[[Runnable[Any, Any]], Any]
Graph = CompiledStateGraph[Any, Any, Any, Any]


def update(output: Any) -> Visit:
    """Write an output of any shape into the state."""
    message = output if isinstance(output, BaseMessage) else AIMessage(answer_in(output))
    return {"answer": answer_in(output), "messages": [message]}


def function(runnable: Runnable[Any, Any]) -> Any:
    """Make a node of a plain function that passes no config on."""

    def answer(state: Visit) -> Visit:
        return update(runnable.invoke(state["question"]))

    return answer


def afunction(runnable: Runnable[Any, Any]) -> Any:
    """Make a node of a coroutine function."""

    async def answer(state: Visit) -> Visit:
        return update(await runnable.ainvoke(state["question"]))

    return answer


def configured(runnable: Runnable[Any, Any]) -> Any:
    """Make a node of a function that hands its config on."""

    def answer(state: Visit, config: RunnableConfig) -> Visit:
        return update(runnable.invoke(state["question"], config))

    return answer


def streaming(runnable: Runnable[Any, Any]) -> Any:
    """Make a node of a function that streams the runnable and adds the chunks up."""

    def answer(state: Visit) -> Visit:
        chunks = list(runnable.stream(state["question"]))
        return update(sum(chunks[1:], start=chunks[0]))

    return answer


def direct(runnable: Runnable[Any, Any]) -> Any:
    """Make a node of a chain in which the runnable is a part."""
    return itemgetter("question") | runnable | RunnableLambda(update)


def graph(
    node: Node, runnable: Runnable[Any, Any], checkpointer: InMemorySaver | None = None
) -> Graph:
    """Compile a graph of one node."""
    builder = StateGraph(Visit)
    builder.add_node("answer", node(runnable))
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=checkpointer)


def nested(node: Node, runnable: Runnable[Any, Any]) -> Graph:
    """Compile a graph whose only node is such a graph."""
    builder = StateGraph(Visit)
    builder.add_node("desk", graph(node, runnable))
    builder.add_edge(START, "desk")
    builder.add_edge("desk", END)
    return builder.compile()


def final_state(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the answer from the last state, else from the updates, else from the messages."""
    seen: dict[str, list[Any]] = {}
    for piece in pieces:
        if isinstance(piece, tuple):
            *_, mode, value = piece
            seen.setdefault(mode, []).append(value)
    if "values" in seen:
        return (answer_in(seen["values"][-1]),)
    if "updates" in seen:
        return ("".join(answer_in(u) for value in seen["updates"] for u in value.values()),)
    return ("".join(message.text for message, _ in seen.get("messages", ())),)


def graph_events(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the output of the outermost run; a graph's own chunks are updates by node."""
    return root_events([p for p in pieces if not _is_stream(p)])


def _is_stream(piece: Any) -> bool:
    return isinstance(piece, dict) and piece["event"] == "on_chain_stream"


def streamed(node: Node, modes: Sequence[str]) -> Call:
    """Stream a graph in some modes at once."""

    def call(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
        yield from graph(node, runnable).stream({"question": value}, stream_mode=list(modes))

    return call


def astreamed(node: Node, modes: Sequence[str]) -> Call:
    """Stream a graph in some modes at once, awaiting."""

    async def call(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
        flow = graph(node, runnable).astream({"question": value}, stream_mode=list(modes))
        async for piece in flow:
            yield piece

    return call


def subgraph(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Stream a graph and the graph inside it, in every mode."""
    yield from nested(function, runnable).stream(
        {"question": value}, stream_mode=list(ALL_MODES), subgraphs=True
    )


async def asubgraph(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Stream a graph and the graph inside it, in every mode, awaiting."""
    flow = nested(afunction, runnable).astream(
        {"question": value}, stream_mode=list(ALL_MODES), subgraphs=True
    )
    async for piece in flow:
        yield piece


THREAD: RunnableConfig = {"configurable": {"thread_id": "visit"}}


def stored(saver: InMemorySaver) -> Kept:
    """Take all a checkpointer holds: read through its interface, and the raw bytes."""
    return Kept((list(saver.list(None)), saver.storage, saver.writes, saver.blobs))


def checkpointed(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Stream a graph that stores its state; hand over the store."""
    saver = InMemorySaver()
    try:
        yield from graph(function, runnable, saver).stream(
            {"question": value}, THREAD, stream_mode=list(STORED_MODES)
        )
    finally:
        yield stored(saver)


async def acheckpointed(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Stream a graph that stores its state, awaiting; hand over the store."""
    saver = InMemorySaver()
    flow = graph(afunction, runnable, saver).astream(
        {"question": value}, THREAD, stream_mode=list(STORED_MODES)
    )
    try:
        async for piece in flow:
            yield piece
    finally:
        yield stored(saver)


def events(node: Node) -> Call:
    """Watch every event of a graph."""

    async def call(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
        flow = graph(node, runnable).astream_events({"question": value}, version="v2")
        async for event in flow:
            yield event

    return call


def protocol_events(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Follow a graph in version 3 of the event protocol, which only graphs and models speak."""
    yield from graph(function, runnable).stream_events({"question": value}, version="v3")


async def aprotocol_events(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Follow a graph in version 3 of the event protocol, awaiting."""
    flow = graph(afunction, runnable).astream_events({"question": value}, version="v3")
    async for event in await flow:
        yield event


def protocol_values(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the answer from the last state that the protocol tells of."""
    told = [p["params"]["data"] for p in pieces if isinstance(p, dict) and p["method"] == "values"]
    return (answer_in(told[-1]),)


MODES = {
    "values": ("values",),
    "updates": ("updates",),
    "messages": ("messages",),
    "all modes": ALL_MODES,
}

BY_MODE = tuple(
    Way(name=f"graph, {make.__name__}: {label}", call=make(node, modes), read=final_state)
    for make, node in ((streamed, function), (astreamed, afunction))
    for label, modes in MODES.items()
)

BY_NODE = (
    *(
        Way(
            name=f"graph, {node.__name__} node: all modes",
            call=streamed(node, ALL_MODES),
            read=final_state,
        )
        for node in (configured, streaming, direct)
    ),
    Way(
        name="graph, direct node: all modes, async",
        call=astreamed(direct, ALL_MODES),
        read=final_state,
    ),
)

WHOLE = (
    Way(name="graph in a graph: all modes, subgraphs", call=subgraph, read=final_state),
    Way(name="graph in a graph: all modes, subgraphs, async", call=asubgraph, read=final_state),
    Way(name="graph with checkpoints: all modes", call=checkpointed, read=final_state),
    Way(name="graph with checkpoints: all modes, async", call=acheckpointed, read=final_state),
    Way(name="graph, function node: astream_events", call=events(afunction), read=graph_events),
    Way(name="graph, direct node: astream_events", call=events(direct), read=graph_events),
    Way(name="graph: stream_events v3", call=protocol_events, read=protocol_values),
    Way(name="graph: astream_events v3", call=aprotocol_events, read=protocol_values),
)

ALL = (*BY_MODE, *BY_NODE, *WHOLE)
