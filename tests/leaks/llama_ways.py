"""The ways to call an engine of LlamaIndex. In: an engine and a question. Out: all that came back.

As in `ways`, a way is a generator that yields whatever the call hands over. `RETURNED` stands
among the pieces where the call itself returned, before the caller read any stream.
"""

from __future__ import annotations

import asyncio
import inspect
import io
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from queue import Queue
from typing import Any

from llama_index.core.base.response.schema import PydanticResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.tools import ToolOutput
from llama_index.core.tools.calling import acall_tool, call_tool

from .llama_engines import tool
from .ways import Kept, Received, adrain, drain

Call = Callable[[Any, str], Iterator[Any] | AsyncIterator[Any]]
Read = Callable[[Any], Iterator[str]]
"""From a response to the pieces of its text."""
ReadAsync = Callable[[Any], AsyncIterator[str]]


class _Returned:
    """The call has returned."""


RETURNED = _Returned()


@dataclass(frozen=True, slots=True)
class Held:
    """A response in the caller's hands."""

    value: Any

    def __repr__(self) -> str:
        return " ".join(texts_in(self.value))


def texts_in(value: Any, depth: int = 8) -> Iterator[str]:
    """Find every text a caller can read in a response, without running its streams."""
    if isinstance(value, BaseException):
        yield confession(value)
    elif depth == 0 or isinstance(value, str | int | float | None):
        yield str(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item, depth - 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from texts_in(item, depth - 1)
    elif isinstance(value, Queue):
        yield from texts_in(list(value.queue), depth - 1)
    elif isinstance(value, asyncio.Queue):
        yield from texts_in(list(value._queue), depth - 1)  # type: ignore[attr-defined]
    elif is_dataclass(value) or isinstance(value, BaseModel):
        yield from texts_in(_public(value), depth - 1)
    else:
        yield repr(value)


def _public(value: Any) -> dict[str, Any]:
    names = {name: None for name in vars(value)} if hasattr(value, "__dict__") else {}
    if is_dataclass(value):
        names |= dict.fromkeys(field.name for field in fields(value))
    return {name: getattr(value, name, None) for name in names if not name.startswith("_")}


def confession(error: BaseException) -> str:
    """Write an exception out, with all it came from, shown or suppressed."""
    chain: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in chain:
            chain.append(one)
            waiting += [one.__cause__, one.__context__]
    trail = "".join(traceback.format_exception(error))
    return " ".join((*(f"{one} {one!r} {one.args!r}" for one in chain), trail))


def written(piece: Any) -> str:
    """Write one piece out."""
    return confession(piece) if isinstance(piece, BaseException) else repr(piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed(Received):
    """All that one way of calling handed to the caller."""

    @property
    def text(self) -> str:
        """Everything in the caller's hands, written out."""
        return "\n".join(written(piece) for piece in self.pieces)

    @property
    def responses(self) -> tuple[Any, ...]:
        """The responses the caller holds."""
        return tuple(piece.value for piece in self.pieces if isinstance(piece, Held))

    @property
    def history(self) -> list[tuple[str, str]] | None:
        """What the engine remembers after the call; `None` if it is not made to remember."""
        for piece in self.pieces:
            if isinstance(piece, Kept):
                return turns(piece.content)
        return None

    @property
    def late(self) -> bool:
        """Whether an exception came only when the stream was read."""
        return bool(self.errors) and RETURNED in self.pieces


def turns(history: Sequence[Any]) -> list[tuple[str, str]]:
    """Write a chat history as pairs of role and text."""
    return [(message.role.value, str(message.content)) for message in history]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of calling."""

    name: str
    call: Call
    repeats: int = 1
    """How often the host asks the engine again when it raises."""

    def receive(self, engine: Any, question: str) -> Handed:
        """Call, and return what came out, the exception and the memory included."""
        handed = self.call(engine, question)
        pieces = asyncio.run(adrain(handed)) if inspect.isasyncgen(handed) else drain(handed)
        if isinstance(engine, BaseChatEngine):
            # A copy: `ChatMemoryBuffer` hands out the very list that the next turn appends to.
            pieces.append(Kept(list(engine.chat_history)))
        return Handed(pieces=tuple(pieces), answers=answers_in(pieces))


# What the caller reads out of the pieces


def answers_in(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the one answer: the pieces of the stream, else the text of the response."""
    if parts := [piece for piece in pieces if isinstance(piece, str)]:
        return ("".join(parts),)
    return tuple(answer_in(piece.value) for piece in pieces if isinstance(piece, Held))


def answer_in(response: Any) -> str:
    """Return the text of a response; "" where it is a stream."""
    if isinstance(response, ToolOutput):
        return response.content
    if isinstance(response, PydanticResponse):
        return str(getattr(response.response, "answer", response.response))
    return str(getattr(response, "response", ""))


# Calling


def whole(name: str) -> Call:
    """Call a method for a whole response."""

    def called(engine: Any, question: str) -> Iterator[Any]:
        response = getattr(engine, name)(question)
        yield RETURNED
        yield Held(response)

    return called


def awaited(name: str) -> Call:
    """Await a whole response."""

    async def called(engine: Any, question: str) -> AsyncIterator[Any]:
        response = await getattr(engine, name)(question)
        yield RETURNED
        yield Held(response)

    return called


def in_loop(name: str) -> Call:
    """Call a method for a whole response while an event loop is running."""

    async def called(engine: Any, question: str) -> AsyncIterator[Any]:
        response = getattr(engine, name)(question)
        yield RETURNED
        yield Held(response)

    return called


def streamed(name: str, read: Read) -> Call:
    """Call a method for a stream, and read it."""

    def called(engine: Any, question: str) -> Iterator[Any]:
        response = getattr(engine, name)(question)
        yield RETURNED
        try:
            yield from read(response)
        finally:
            yield Held(response)

    return called


def astreamed(name: str, read: ReadAsync) -> Call:
    """Await a stream, and read it, awaiting."""

    async def called(engine: Any, question: str) -> AsyncIterator[Any]:
        response = await getattr(engine, name)(question)
        yield RETURNED
        try:
            async for piece in read(response):
                yield piece
        finally:
            yield Held(response)

    return called


def read_outside(engine: Any, question: str) -> Iterator[Any]:
    """Await a stream in one event loop, and read it with `str` when that loop is closed."""
    response = asyncio.run(engine.aquery(question))
    yield RETURNED
    yield str(response)
    yield Held(response)


# Reading streams


def tokens(response: Any) -> Iterator[str]:
    """Iterate over the tokens."""
    yield from response.response_gen


def first_token(response: Any) -> Iterator[str]:
    """Read one token and stop."""
    stream = iter(response.response_gen)
    yield next(stream)


def text(response: Any) -> Iterator[str]:
    """Turn into a string."""
    yield str(response)


def plain(response: Any) -> Iterator[str]:
    """Turn into a response without a stream."""
    yield str(response.get_response().response)


def printed(response: Any) -> Iterator[str]:
    """Print."""
    with redirect_stdout(io.StringIO()) as screen:
        response.print_response_stream()
    yield screen.getvalue()


def text_at_the_end(response: Any) -> Iterator[str]:
    """Turn into a string when the answer is in the memory."""
    if thread := response.write_response_to_history_thread:
        thread.join()
    yield str(response)


async def atokens(response: Any) -> AsyncIterator[str]:
    """Iterate over the tokens, awaiting."""
    async for token in response.async_response_gen():
        yield token


async def afirst_token(response: Any) -> AsyncIterator[str]:
    """Read one token and stop, awaiting."""
    stream = response.async_response_gen()
    yield await anext(stream)
    await stream.aclose()


async def raw_tokens(response: Any) -> AsyncIterator[str]:
    """Iterate over the attribute that holds the stream."""
    async for token in response.response_gen:
        yield token


async def aplain(response: Any) -> AsyncIterator[str]:
    """Turn into a response without a stream, awaiting."""
    yield str((await response.get_response()).response)


async def aprinted(response: Any) -> AsyncIterator[str]:
    """Print, awaiting."""
    with redirect_stdout(io.StringIO()) as screen:
        await response.print_response_stream()
    yield screen.getvalue().removesuffix("\n")


async def aprinted_chat(response: Any) -> AsyncIterator[str]:
    """Print the stream of a chat, awaiting."""
    with redirect_stdout(io.StringIO()) as screen:
        await response.aprint_response_stream()
    yield screen.getvalue()


async def atext_at_the_end(response: Any) -> AsyncIterator[str]:
    """Turn into a string when the answer is in the memory, awaiting."""
    if task := response.awrite_response_to_history_task:
        await task
    yield str(response)


# As a tool


def tool_call(engine: Any, question: str) -> Iterator[Any]:
    """Call a tool made of the engine."""
    output = tool(engine).call(question)
    yield RETURNED
    yield Held(output)


async def tool_acall(engine: Any, question: str) -> AsyncIterator[Any]:
    """Await a tool made of the engine."""
    output = await tool(engine).acall(input=question)
    yield RETURNED
    yield Held(output)


def tool_called(engine: Any, question: str) -> Iterator[Any]:
    """Call a tool the way an agent does, which turns an exception into an output."""
    output = call_tool(tool(engine), {"input": question})
    yield RETURNED
    yield Held(output)


async def tool_acalled(engine: Any, question: str) -> AsyncIterator[Any]:
    """Await a tool the way an agent does."""
    output = await acall_tool(tool(engine), {"input": question})
    yield RETURNED
    yield Held(output)


QUERY = Way(name="query", call=whole("query"))
AQUERY = Way(name="aquery", call=awaited("aquery"))
QUERY_STREAM = Way(name="query: response_gen", call=streamed("query", tokens))
AQUERY_STREAM = Way(name="aquery: async_response_gen", call=astreamed("aquery", atokens))

QUERIES = (QUERY, AQUERY)
QUERY_IN_LOOP = Way(name="query in a running loop", call=in_loop("query"))
QUERY_STREAMS = (QUERY_STREAM, AQUERY_STREAM)
OTHER_QUERY_STREAMS = (
    Way(name="query: str", call=streamed("query", text)),
    Way(name="query: get_response", call=streamed("query", plain)),
    Way(name="query: print_response_stream", call=streamed("query", printed)),
    Way(name="aquery: response_gen", call=astreamed("aquery", raw_tokens)),
    Way(name="aquery: get_response", call=astreamed("aquery", aplain)),
    Way(name="aquery: print_response_stream", call=astreamed("aquery", aprinted)),
    Way(name="aquery: str outside the loop", call=read_outside),
)

TOOLS = (
    Way(name="tool.call", call=tool_call),
    Way(name="tool.acall", call=tool_acall),
)
TOOLS_OF_AGENTS = (
    Way(name="call_tool", call=tool_called, repeats=2),
    Way(name="acall_tool", call=tool_acalled, repeats=2),
)

CHAT = Way(name="chat", call=whole("chat"))
ACHAT = Way(name="achat", call=awaited("achat"))
STREAM_CHAT = Way(name="stream_chat: response_gen", call=streamed("stream_chat", tokens))
ASTREAM_CHAT = Way(name="astream_chat: async_response_gen", call=astreamed("astream_chat", atokens))

CHATTING = (CHAT, ACHAT)
CHAT_STREAMS = (STREAM_CHAT, ASTREAM_CHAT)
CHAT_WAYS = (*CHATTING, *CHAT_STREAMS)
OTHER_CHAT_WAYS = (
    Way(name="chat in a running loop", call=in_loop("chat")),
    Way(name="stream_chat: str", call=streamed("stream_chat", text_at_the_end)),
    Way(name="stream_chat: print_response_stream", call=streamed("stream_chat", printed)),
    Way(name="astream_chat: str", call=astreamed("astream_chat", atext_at_the_end)),
    Way(
        name="astream_chat: aprint_response_stream",
        call=astreamed("astream_chat", aprinted_chat),
    ),
)
