"""One cell of LlamaIndex's table. In: a row (way and shape) and a column. Out: what is wrong.

The same three runs as in `cells`, and the same columns. Beside the answer each cell looks at
the memory of a chat engine, at the source nodes and at the queries of the retriever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from faithguard import UnfaithfulAnswerError

from . import llama_engines as engines
from . import llama_ways as ways
from .cells import COLUMNS, Column
from .llama_engines import Bench, Shape, Wrap
from .llama_scene import EMPTY
from .llama_ways import Handed, Way
from .scene import LIE, QUESTION, Script, faithful, improving, leaks, unfaithful

SAID = LIE.rstrip(".")
"""The false sentence as any model here words it; a number of a source may follow."""


@dataclass(frozen=True, slots=True)
class Row:
    """A way of calling an engine of one shape."""

    way: Way
    shape: Shape
    blocked: Callable[[Handed], Iterator[str]] | None = None
    """What is due where the host itself swallows the exception; `None` is the exception."""

    @property
    def name(self) -> str:
        """Name way and shape."""
        return f"{self.way.name} | {self.shape.name}"


def guarding(options: Mapping[str, Any]) -> Wrap:
    """Guard an engine; the package is imported only here, so that tests are found without it."""

    def wrap(engine: Any) -> Any:
        from faithguard_llama_index import guard

        return guard(engine, **options)

    return wrap


def nothing_found(received: Handed) -> Iterator[str]:
    """Check that the host went on without the blocked answer and had nothing to say."""
    if received.errors:
        yield f"raised {received.errors[0]!r}"
    if received.answers != (EMPTY,):
        yield f"due was {EMPTY!r}, not {received.answers!r}"


def tool_failed(received: Handed) -> Iterator[str]:
    """Check that the agent is told of an error."""
    if received.errors:
        yield f"raised {received.errors[0]!r}"
    if not all(output.is_error for output in received.responses):
        yield f"no error of the tool: {received.answers!r}"
    for output in received.responses:
        if not isinstance(output.exception, UnfaithfulAnswerError):
            yield f"{output.exception!r} instead of UnfaithfulAnswerError"


ROWS = (
    *(Row(way, shape) for shape in engines.MODES for way in ways.QUERIES),
    *(Row(way, shape) for shape in engines.STREAMING_MODES for way in ways.QUERY_STREAMS),
    *(Row(way, shape) for shape in engines.STREAMED for way in ways.OTHER_QUERY_STREAMS),
    *(Row(way, shape) for shape in engines.OTHER for way in ways.QUERIES),
    *(Row(way, engines.CITATION_STREAMED) for way in ways.QUERY_STREAMS),
    *(Row(way, engines.ROUTED_STREAM) for way in ways.QUERY_STREAMS),
    *(Row(way, engines.SUB_QUESTIONS, nothing_found) for way in ways.QUERIES),
    *(Row(ways.QUERY_IN_LOOP, shape) for shape in engines.COMPACT),
    *(Row(way, engines.COMPACT[1]) for way in ways.TOOLS),
    *(Row(way, engines.COMPACT[1], tool_failed) for way in ways.TOOLS_OF_AGENTS),
    Row(ways.TOOLS[0], engines.STREAMED[1]),
    *(
        Row(way, shape)
        for shape in engines.CHATS
        for way in (*ways.CHAT_WAYS, *ways.OTHER_CHAT_WAYS)
    ),
    *(
        Row(way, shape)
        for shape in (*engines.CHATS_IN_MEMORY, *engines.CHATS_COMPLETING)
        for way in ways.CHAT_WAYS
    ),
    *(Row(way, engines.CHAT_OVER_GUARDED) for way in ways.CHATTING),
    *(Row(way, engines.CHAT_OVER_GUARDED_STREAM) for way in ways.CHAT_STREAMS),
)

LEFT_OUT: Mapping[str, str] = {
    "response modes generation, no_text, context_only": (
        "generation answers without any context, the others ask no model; none of them is RAG"
    ),
    "streaming in modes accumulate, compact_accumulate": "LlamaIndex refuses it",
    "streaming with output_cls": (
        "the host streams the field `answer` of an object of its own as plain text"
    ),
    "str of a StreamingAgentChatResponse before its stream has ended": (
        "the host returns the part that has come so far; the table reads it at the end"
    ),
    "chat_stream of a StreamingAgentChatResponse": (
        "the host's own thread reads it; a second reader gets nothing. Among the checks"
    ),
    "a stream whose reader stops early": "one word shows no lie; among the checks",
    "SimpleChatEngine with a true answer": (
        "there is no context to support it; its faithful answer is an abstention"
    ),
    "handlers of instrumentation and of the callback manager": (
        "the host's own observers, which see every attempt as they should"
    ),
    "agents and workflows": "the guard is for query and chat engines; agents call them as tools",
    "multi-modal, knowledge graph and SQL engines": "they need a database or a model of images",
}
"""What the table has no cell for, and why; printed under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one call, and what the model and the retriever saw of it."""

    received: Handed
    prompts: int
    queries: tuple[str, ...]


def run(row: Row, script: Script, wrap: Wrap) -> Run:
    """Build the engine, ask once."""
    bench: Bench = row.shape.bench(script, wrap)
    return Run(
        received=row.way.receive(bench.engine, QUESTION),
        prompts=len(bench.talk.prompts),
        queries=tuple(bench.retriever.queries),
    )


@cache
def unguarded(row: Row, script: Script) -> Run:
    """Run a row without a guard; the same for every column."""
    return run(row, script, lambda engine: engine)


def wrong(row: Row, column: Column) -> Iterator[str]:
    """Say what is wrong with a cell, run by run; a good cell yields nothing."""
    yield from (f"unguarded: {fault}" for fault in blind(row))
    yield from (f"bad answer: {fault}" for fault in leaked(row, column))
    yield from (f"faithful answer: {fault}" for fault in changed(row, column))


def blind(row: Row) -> Iterator[str]:
    """Check that this way of calling shows the false sentence when nobody guards it.

    With the improving script too: else the model would take the host's own prompts for feedback.
    """
    for script in (unfaithful, improving):
        received = unguarded(row, script).received
        if received.errors:
            yield f"raised {received.errors[0]!r}"
        if not leaks(received.text):
            yield "the marker is in nothing the caller received"
        if not all(SAID in answer for answer in received.answers) or not received.answers:
            yield f"the false sentence is not in the answers {received.answers!r}"
        if not all(leaks(kept) for kept in received.kept):
            yield "the marker is not in what stays behind"
    plain = unguarded(row, faithful).received
    if plain.errors or not plain.answers or not all(plain.answers) or leaks(plain.text):
        yield f"no faithful answer without a guard: {plain.answers!r} {plain.errors!r}"


def leaked(row: Row, column: Column) -> Iterator[str]:
    """Check that no part of the false sentence gets out, and that what is due comes."""
    guarded = run(row, column.script, guarding(column.options))
    received = guarded.received
    if markers := leaks(received.text):
        yield f"{', '.join(markers)} reached the caller in {_places(received)}"
    yield from _not_due(row, column, received)
    yield from _not_remembered(row, column, received)
    yield from _overdone(row, column, guarded)


def _places(received: Handed) -> str:
    pieces = (type(p).__name__ for p in received.pieces if leaks(ways.written(p)))
    return ", ".join(dict.fromkeys(pieces))


def due(row: Row, column: Column) -> str | None:
    """Return the text due instead of the bad answer; a good one in this shape's wording."""
    if column.script is improving:
        return unguarded(row, faithful).received.answers[0]
    return column.due


def _not_due(row: Row, column: Column, received: Handed) -> Iterator[str]:
    text = due(row, column)
    if text is None and row.blocked:
        yield from row.blocked(received)
    elif text is None:
        yield from _not_raised(received)
    else:
        if received.errors:
            yield f"raised {received.errors[0]!r}"
        if received.answers != (text,):
            yield f"due was {text!r}, not {received.answers!r}"


def _not_raised(received: Handed) -> Iterator[str]:
    if not received.errors:
        yield "no exception reached the caller"
    if received.late:
        yield "the exception came only after a stream was returned"
    for error in received.errors:
        if not isinstance(error, UnfaithfulAnswerError):
            yield f"{error!r} instead of UnfaithfulAnswerError"
    if any(received.answers):
        yield f"an answer besides the exception: {received.answers!r}"


def _not_remembered(row: Row, column: Column, received: Handed) -> Iterator[str]:
    """Check that the memory holds what the user saw."""
    if received.history is None:
        return
    text = due(row, column)
    wanted = [] if text is None else [("user", QUESTION), ("assistant", text)]
    if received.history != wanted:
        yield f"the history is {received.history!r}, not {wanted!r}"


def _overdone(row: Row, column: Column, guarded: Run) -> Iterator[str]:
    """Check how often the model was asked, and what the retriever was asked for."""
    plain = unguarded(row, column.script)
    most = plain.prompts * column.attempts * row.way.repeats * (1 + row.shape.several)
    least = plain.prompts + (column.attempts > 1) if row.shape.around else 1
    if not least <= guarded.prompts <= most:
        yield f"the model was asked {guarded.prompts} times, not {least} to {most}"
    if strange := set(guarded.queries) - set(plain.queries):
        yield f"the retriever was asked for {strange!r}"


def changed(row: Row, column: Column) -> Iterator[str]:
    """Check that a faithful answer arrives as it would without a guard, at the same cost."""
    guarded, plain = run(row, faithful, guarding(column.options)), unguarded(row, faithful)
    got, wanted = guarded.received, plain.received

    if got.errors:
        yield f"raised {got.errors[0]!r}"
    if got.answers != wanted.answers:
        yield f"{got.answers!r} instead of {wanted.answers!r}"
    if got.history != wanted.history:
        yield f"the history is {got.history!r}, not {wanted.history!r}"
    if guarded.prompts != plain.prompts:
        yield f"the model was asked {guarded.prompts} times, not {plain.prompts}"
    if guarded.queries != plain.queries:
        yield f"the retriever was asked for {guarded.queries!r}, not {plain.queries!r}"
    for one, other in zip(got.responses, wanted.responses, strict=True):
        yield from unlike(one, other)


def unlike(got: Any, wanted: Any) -> Iterator[str]:
    """Check that a response has the type, the sources and the metadata it has without a guard."""
    if not isinstance(got, type(wanted)):
        yield f"{type(got).__name__} instead of {type(wanted).__name__}"
    for what, look in _LOOKS.items():
        if look(got) != look(wanted):
            yield f"{what}: {look(got)!r} instead of {look(wanted)!r}"


def _nodes(response: Any) -> list[tuple[str, float | None, Any]]:
    return [
        (node.node.get_content(), node.score, node.node.metadata)
        for node in getattr(response, "source_nodes", None) or ()
    ]


def _metadata(response: Any) -> list[Any]:
    # Only values: nodes made for one answer have ids made for it, and these are the keys.
    metadata = getattr(response, "metadata", None) or {}
    return [value for key, value in metadata.items() if key != "faithguard"]


def _sources(response: Any) -> list[tuple[str, str, type]]:
    return [
        (source.tool_name, source.content, type(source.raw_output))
        for source in getattr(response, "sources", None) or ()
    ]


_LOOKS: Mapping[str, Callable[[Any], Any]] = {
    "source nodes": _nodes,
    "metadata": _metadata,
    "sources": _sources,
}

__all__ = ["COLUMNS", "LEFT_OUT", "ROWS", "Row", "blind", "wrong"]
