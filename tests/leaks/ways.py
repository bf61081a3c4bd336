"""The ways to call a runnable. In: a runnable and its input. Out: all that the caller received.

A way is a plain generator that yields whatever the call hands over, in order; `receive` drains
it and keeps the exception that ends it. Ways through LangGraph stand in `graphs`.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core._api import LangChainBetaWarning, LangChainDeprecationWarning
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

Call = Callable[[Runnable[Any, Any], Any], Iterator[Any] | AsyncIterator[Any]]
Read = Callable[[Sequence[Any]], tuple[str, ...]]
"""From what was handed over to the answer of each question asked."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays behind after the call: a stored history, the checkpoints of a graph."""

    content: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """All that one way of calling handed to the caller."""

    pieces: tuple[Any, ...]
    answers: tuple[str, ...]

    @property
    def errors(self) -> tuple[Exception, ...]:
        """The exceptions among the pieces, raised or returned."""
        return tuple(_errors(self.pieces))

    @property
    def text(self) -> str:
        """Everything in the caller's hands, written out."""
        return "\n".join(written(piece) for piece in self.pieces)

    @property
    def kept(self) -> tuple[str, ...]:
        """What stays behind after the call, written out."""
        return tuple(written(piece) for piece in self.pieces if isinstance(piece, Kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of calling."""

    name: str
    call: Call
    read: Read
    questions: int = 1
    """How many times the question is asked in one call."""

    def receive(self, runnable: Runnable[Any, Any], value: Any) -> Received:
        """Call, and return what came out, the exception included."""
        with warnings.catch_warnings():
            for category in (LangChainDeprecationWarning, LangChainBetaWarning):
                warnings.simplefilter("ignore", category)
            handed = self.call(runnable, value)
            pieces = asyncio.run(adrain(handed)) if inspect.isasyncgen(handed) else drain(handed)
        return Received(pieces=tuple(pieces), answers=self.read(pieces))


def drain(handed: Iterator[Any]) -> list[Any]:
    """Return all pieces, the exception that ends them included."""
    pieces: list[Any] = []
    try:
        for piece in handed:
            pieces.append(piece)
    except Exception as error:
        pieces.append(error)
    return pieces


async def adrain(handed: AsyncIterator[Any]) -> list[Any]:
    """Return all pieces, awaiting."""
    # `abatch_as_completed` abandons its other tasks when one raises; asyncio would print them.
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    pieces: list[Any] = []
    try:
        async for piece in handed:
            pieces.append(piece)
    except Exception as error:
        pieces.append(error)
    return pieces


def written(piece: Any) -> str:
    """Write one piece out; an exception with its arguments, causes and traceback."""
    errors = "".join(
        f"{error} {error!r} {error.args!r} {''.join(traceback.format_exception(error))}"
        for error in _errors([piece])
    )
    return f"{piece!r} {errors}"


def _errors(value: Any) -> Iterator[Exception]:
    """Find exceptions in a value made of lists, tuples and dicts."""
    if isinstance(value, Exception):
        yield value
    elif isinstance(value, dict):
        yield from _errors(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _errors(item)


# What the caller reads out of the pieces


def answer_in(output: Any) -> str:
    """Return the answer in an output or a chunk of one; "" where there is none."""
    if isinstance(output, str):
        return output
    if isinstance(output, BaseMessage):
        return output.text
    if isinstance(output, dict):
        return answer_in(output.get("answer", output.get("result")))
    return ""


def one(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read one answer, joining its chunks."""
    return ("".join(answer_in(piece) for piece in pieces),)


def many(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read a list of answers, one for each question."""
    return tuple(answer_in(item) for piece in pieces if isinstance(piece, list) for item in piece)


def numbered(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read (index, answer) pairs that come in any order."""
    pairs = sorted(
        (piece for piece in pieces if isinstance(piece, tuple)), key=lambda pair: pair[0]
    )
    return tuple(answer_in(output) for _, output in pairs)


def root_events(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the chunks of the outermost run; its output where it streams none."""
    events = [piece for piece in pieces if isinstance(piece, dict)]
    root = events[0]["run_id"] if events else None
    data = [(event["event"], event["data"]) for event in events if event["run_id"] == root]
    chunks = [fields["chunk"] for name, fields in data if name == "on_chain_stream"]
    return one(chunks or [fields["output"] for name, fields in data if name == "on_chain_end"])


def logged(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the streamed output of a run log."""
    operations = [operation for piece in pieces if isinstance(piece, list) for operation in piece]
    return one([op["value"] for op in operations if op["path"] == "/streamed_output/-"])


def with_history(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the answer, and after it what the history holds as the answer."""
    stored = [
        message.text
        for piece in pieces
        if isinstance(piece, Kept)
        for message in piece.content
        if isinstance(message, AIMessage)
    ]
    return (*one(pieces), "".join(stored))


# Calling the runnable itself


def invoke(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Call for the whole output."""
    yield runnable.invoke(value)


async def ainvoke(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Await the whole output."""
    yield await runnable.ainvoke(value)


def stream(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Iterate over chunks."""
    yield from runnable.stream(value)


async def astream(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Iterate over chunks, awaiting."""
    async for chunk in runnable.astream(value):
        yield chunk


async def astream_events(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Watch every event of the run, inner runs included."""
    async for event in runnable.astream_events(value, version="v2"):
        yield event


async def astream_events_v1(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Watch the events in their deprecated first version."""
    async for event in runnable.astream_events(value, version="v1"):
        yield event


async def astream_log(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Follow the deprecated run log, patch by patch."""
    async for patch in runnable.astream_log(value):
        yield patch.ops


def transform(runnable: Runnable[Any, Any], value: str) -> Iterator[Any]:
    """Feed the input in two pieces and iterate over chunks."""
    yield from runnable.transform(iter([value[:9], value[9:]]))


async def atransform(runnable: Runnable[Any, Any], value: str) -> AsyncIterator[Any]:
    """Feed the input in two pieces and iterate over chunks, awaiting."""

    async def halves() -> AsyncIterator[str]:
        yield value[:9]
        yield value[9:]

    async for chunk in runnable.atransform(halves()):
        yield chunk


# Asking twice in one call


def batch(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Ask twice; the first exception ends the call."""
    yield runnable.batch([value, value])


async def abatch(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Ask twice, awaiting; the first exception ends the call."""
    yield await runnable.abatch([value, value])


def batch_returning(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Ask twice; exceptions are returned in the list."""
    yield runnable.batch([value, value], return_exceptions=True)


async def abatch_returning(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Ask twice, awaiting; exceptions are returned in the list."""
    yield await runnable.abatch([value, value], return_exceptions=True)


def batch_as_completed(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Ask twice, answers as they come; the first exception ends the call."""
    yield from runnable.batch_as_completed([value, value])


def batch_as_completed_returning(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
    """Ask twice, answers and exceptions as they come."""
    yield from runnable.batch_as_completed([value, value], return_exceptions=True)


async def abatch_as_completed(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
    """Ask twice, awaiting answers as they come; the first exception ends the call."""
    async for pair in runnable.abatch_as_completed([value, value]):
        yield pair


async def abatch_as_completed_returning(
    runnable: Runnable[Any, Any], value: Any
) -> AsyncIterator[Any]:
    """Ask twice, awaiting answers and exceptions as they come."""
    async for pair in runnable.abatch_as_completed([value, value], return_exceptions=True):
        yield pair


# Inside a larger chain


def piped(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Put a step behind the runnable that passes chunks on as they come."""
    return runnable | RunnablePassthrough()


def into_function(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Put a plain function behind the runnable, which needs the whole output."""
    return runnable | RunnableLambda(lambda output: output)


def parallel(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Run the runnable beside another step."""
    return RunnableParallel(answer=runnable, question=RunnablePassthrough())


def from_function(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Call the runnable in a plain function that passes no config on."""

    async def acall(value: Any) -> Any:
        return await runnable.ainvoke(value)

    return RunnableLambda(lambda value: runnable.invoke(value), acall)


def within(larger: Callable[[Runnable[Any, Any]], Runnable[Any, Any]], call: Call) -> Call:
    """Call the larger chain in which the runnable is a part."""
    return lambda runnable, value: call(larger(runnable), value)


# Under a message history


def remembering(call: Call) -> Call:
    """Call with a message history around the runnable; hand over what it stored."""

    def remember(
        runnable: Runnable[Any, Any],
    ) -> tuple[RunnableWithMessageHistory, InMemoryChatMessageHistory]:
        history = InMemoryChatMessageHistory()
        around = RunnableWithMessageHistory(
            runnable,
            lambda: history,
            input_messages_key="input",
            history_messages_key="history",
            history_factory_config=[],
        )
        return around, history

    def called(runnable: Runnable[Any, Any], value: Any) -> Iterator[Any]:
        around, history = remember(runnable)
        try:
            yield from call(around, value)  # type: ignore[misc]
        finally:
            yield Kept(history.messages)

    async def acalled(runnable: Runnable[Any, Any], value: Any) -> AsyncIterator[Any]:
        around, history = remember(runnable)
        try:
            async for piece in call(around, value):  # type: ignore[union-attr]
                yield piece
        finally:
            yield Kept(history.messages)

    return acalled if inspect.isasyncgenfunction(call) else called


INVOKE = Way(name="invoke", call=invoke, read=one)
AINVOKE = Way(name="ainvoke", call=ainvoke, read=one)
STREAM = Way(name="stream", call=stream, read=one)
ASTREAM = Way(name="astream", call=astream, read=one)
ASTREAM_EVENTS = Way(name="astream_events v2", call=astream_events, read=root_events)

CORE = (INVOKE, AINVOKE, STREAM, ASTREAM, ASTREAM_EVENTS)

OTHER = (
    Way(name="batch", call=batch, read=many, questions=2),
    Way(name="abatch", call=abatch, read=many, questions=2),
    Way(name="batch(return_exceptions)", call=batch_returning, read=many, questions=2),
    Way(name="abatch(return_exceptions)", call=abatch_returning, read=many, questions=2),
    Way(name="batch_as_completed", call=batch_as_completed, read=numbered, questions=2),
    Way(
        name="batch_as_completed(return_exceptions)",
        call=batch_as_completed_returning,
        read=numbered,
        questions=2,
    ),
    Way(name="abatch_as_completed", call=abatch_as_completed, read=numbered, questions=2),
    Way(
        name="abatch_as_completed(return_exceptions)",
        call=abatch_as_completed_returning,
        read=numbered,
        questions=2,
    ),
    Way(name="transform", call=transform, read=one),
    Way(name="atransform", call=atransform, read=one),
    Way(name="astream_events v1", call=astream_events_v1, read=root_events),
    Way(name="astream_log", call=astream_log, read=logged),
)

LARGER = tuple(
    Way(name=f"{place}: {name}", call=within(larger, call), read=read)
    for place, larger in (
        ("before a passthrough", piped),
        ("before a function", into_function),
        ("in a parallel", parallel),
        ("in a function", from_function),
    )
    for name, call, read in (
        ("invoke", invoke, one),
        ("stream", stream, one),
        ("astream", astream, one),
        ("astream_events", astream_events, root_events),
    )
)

REMEMBERING = tuple(
    Way(name=f"under a message history: {call.__name__}", call=remembering(call), read=with_history)
    for call in (invoke, ainvoke, stream, astream)
)
