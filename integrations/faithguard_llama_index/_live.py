"""A response that streams -> one of the same type, whose text comes out claim by claim.

In: a guarded call, and what its engine returned, not read yet. Out: the response at once, with
its sources; its text as each sentence, item or row of it holds; and, once that has ended, the
note in its metadata, the record, and the turn in the memory. A stream that is closed before, or
thrown away, leaves the memory as it was and the model's stream closed.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.chat_engine.types import StreamingAgentChatResponse

from faithguard import CaptureError, Record
from faithguard.guard import note_of, withheld
from faithguard.streaming import Again, StreamCourse, areleased, released
from faithguard_llama_index._again import MemoryStandIn
from faithguard_llama_index._flow import Flow
from faithguard_llama_index._outputs import (
    Drained,
    adrain,
    astreams,
    drain,
    known_beside,
    streams,
)
from faithguard_llama_index._settings import Call
from faithguard_llama_index._tap import capturing
from faithguard_llama_index._values import copy_of

__all__ = ["alive", "live", "to_the_end"]


def live(call: Call, output: Any, ask: Callable[[Any], Any], records: list[Record]) -> Any:
    """Return a response like an engine's, to be read blocking.

    Args:
        call: What is known of the call.
        output: What the engine returned; a stream, not read yet.
        ask: Asks an engine: the guarded one again, or the fallback.
        records: Takes the record when the stream has ended.
    """
    stream = _Stream(call, output, records)
    texts = _texts(stream, ask, begun=stream.is_chat)
    if stream.is_chat:  # from here on it is told if it is thrown away
        next(texts)
    return stream.response(texts)


async def alive(
    call: Call, output: Any, ask: Callable[[Any], Awaitable[Any]], records: list[Record]
) -> Any:
    """Do the same, to be read awaiting."""
    stream = _Stream(call, output, records)
    texts = _atexts(stream, ask, begun=stream.is_chat)
    if stream.is_chat:
        await anext(texts)
    return stream.response(texts)


class _Stream:
    """One call whose answer is released claim by claim, without I/O."""

    def __init__(self, call: Call, output: Any, records: list[Record]) -> None:
        self.call = call
        self.output = output
        """What the engine returned in the last attempt."""
        self.is_chat = isinstance(output, StreamingAgentChatResponse)
        self.seen: str | None = None
        """What the user saw so far."""
        self._records = records
        call.flow.hand_over()
        call.note_sources(output)
        self._kept = known_beside(output, call.scope.trace)
        self._metadata: dict[str, Any] = {**(self._kept.pop("metadata", None) or {})}
        nodes = self._kept.get("source_nodes")
        self._nodes: list[Any] = cast("list[Any]", nodes) if isinstance(nodes, list) else []
        self.course = StreamCourse(call.settings, call.part)

    def response(self, texts: Any) -> Any:
        """Return what the caller gets."""
        twin: Any
        if self.is_chat:
            twin = ChatStream(**self._kept, is_writing_to_memory=False, is_function=False)
            twin.begin(texts)
        else:
            twin = copy_of(self.output)
            for name, value in self._kept.items():
                setattr(twin, name, value)
            twin.response_gen = texts
        twin.metadata = self._metadata
        return twin

    def shown(self, text: str) -> str:
        """Note a text that goes out, and return it."""
        self.seen = (self.seen or "") + text
        return text

    def again(self, again: Again) -> Any:
        """Return the engine to ask again."""
        report = self.course.report
        self.call.again(again.feedback, again.passages, report.exchange.answer, report)
        return self.call.engine()

    def withheld(self, error: BaseException) -> CaptureError | None:
        """Return what to raise instead of an error that carries what was not released."""
        self.call.scope.trace.wrote(self.course.written)
        return withheld(error, self.call.scope.trace)

    @property
    def falls_back(self) -> bool:
        """Whether a fallback engine is to answer now."""
        fallback = self.call.settings.fallback
        return self.course.blocked and fallback is not None and not isinstance(fallback, str)

    def fell_back(self, fallback: Drained) -> str:
        """Take what a fallback engine answered; return what goes out."""
        if self.seen is None:
            self._nodes.clear()
        else:  # the turn is not the fallback's alone
            self.call.forget()
        self._nodes += getattr(fallback.output, "source_nodes", None) or ()
        own: dict[str, Any] = getattr(fallback.output, "metadata", None) or {}
        if (note := own.get("faithguard")) is not None:
            # one that is guarded itself says of its own answer what is true of it
            self._metadata["faithguard"] = note
        apart = "\n\n" if (self.seen or "").strip() else ""
        return self.shown(apart + fallback.answer)

    @property
    def _as_written(self) -> bool:
        return not self.course.blocked and not self.course.record.repairs

    def ended(self) -> None:
        """Take the end of the model's stream, before a fallback engine is asked, or after it."""
        if not self.call.scope.closed:
            self.call.end(as_written=self._as_written)

    def turns(self) -> list[tuple[MemoryStandIn, list[ChatMessage]]]:
        """Return what each memory is to hold of the turn; at the end."""
        memories = self.call.memories
        if self._as_written:
            return [(memory, memory.put_since) for memory in memories]
        saw = None if self.seen is None else self.seen.strip()
        return [(memory, self.call.turn_with(saw, memory)) for memory in memories]

    def note(self) -> None:
        """Say what became of the stream; at the end."""
        record = self.course.record
        self._metadata.setdefault("faithguard", note_of(record))
        self._records.append(record)


# -- the text of a response -------------------------------------------------------------------


def _texts(
    stream: _Stream, ask: Callable[[Any], Any], *, begun: bool
) -> Generator[str, None, None]:
    """Yield what is released; to have begun, first of all nothing."""
    call = stream.call
    try:
        if begun:
            yield ""
        with closing(released(stream.course, partial(_pieces, stream, ask))) as texts:
            for text in texts:
                yield stream.shown(text)
        stream.ended()
        if stream.falls_back:
            yield stream.fell_back(drain(ask(call.fallback())))
    except Exception:
        if stream.course.blocked:  # and what came before was seen
            stream.ended()
            _remember(stream)
        else:
            _give_up(stream)
        raise
    except BaseException:
        _give_up(stream)
        raise
    _remember(stream)


def _remember(stream: _Stream) -> None:
    for memory, messages in stream.turns():
        memory.release(messages)
    stream.note()


def _give_up(stream: _Stream) -> None:
    stream.call.scope.closed = True
    stream.call.flow.stop()
    for memory in stream.call.memories:
        memory.undo()


def _pieces(
    stream: _Stream, ask: Callable[[Any], Any], again: Again | None
) -> Generator[str, None, None]:
    """Yield what an engine streams."""
    fault = None
    try:
        with capturing(stream.call.scope):
            if again is not None:
                stream.output = ask(stream.again(again))
            with _reading(stream.output, stream.call.flow) as tokens:
                for token in tokens:
                    if token is not None:  # as models of users' own say that there is no text
                        yield str(token)
    except BaseException as error:
        if (fault := stream.withheld(error)) is None:
            raise
    if fault is not None:  # raised here, where nothing of the error hangs on to it
        raise fault


@contextmanager
def _reading(output: Any, flow: Flow) -> Generator[Iterator[Any]]:
    whole = not streams(output)
    tokens: Iterator[Any] = iter([drain(output).answer] if whole else output.response_gen or ())
    flow.hand_over()
    try:
        yield flow.read(tokens)
    finally:
        flow.stop()  # before a chat's thread is waited for
        if (close := getattr(tokens, "close", None)) is not None:
            close()


async def _atexts(
    stream: _Stream, ask: Callable[[Any], Awaitable[Any]], *, begun: bool
) -> AsyncGenerator[str, None]:
    """Do the same, awaiting."""
    call = stream.call
    try:
        if begun:
            yield ""
        async with aclosing(areleased(stream.course, partial(_apieces, stream, ask))) as texts:
            async for text in texts:
                yield stream.shown(text)
        stream.ended()
        if stream.falls_back:
            yield stream.fell_back(await adrain(await ask(call.fallback())))
    except Exception:
        if stream.course.blocked:
            stream.ended()
            await to_the_end(_aremember(stream))
        else:
            await _agive_up(stream)
        raise
    except BaseException:
        await _agive_up(stream)
        raise
    await to_the_end(_aremember(stream))


async def _aremember(stream: _Stream) -> None:
    for memory, messages in stream.turns():
        await memory.arelease(messages)
    stream.note()


async def _agive_up(stream: _Stream) -> None:
    stream.call.scope.closed = True
    task = getattr(stream.output, "awrite_response_to_history_task", None)  # if nothing was read
    await _astop(task, stream.call.flow)
    for memory in stream.call.memories:
        await memory.aundo()


async def _apieces(
    stream: _Stream, ask: Callable[[Any], Awaitable[Any]], again: Again | None
) -> AsyncGenerator[str, None]:
    fault = None
    try:
        with capturing(stream.call.scope):
            if again is not None:
                stream.output = await ask(stream.again(again))
            async with _areading(stream.output, stream.call.flow) as tokens:
                async for token in tokens:
                    if token is not None:
                        yield str(token)
    except BaseException as error:
        if (fault := stream.withheld(error)) is None:
            raise
    if fault is not None:
        raise fault


@asynccontextmanager
async def _areading(output: Any, flow: Flow) -> AsyncGenerator[AsyncGenerator[Any, None]]:
    tokens: AsyncIterator[Any]
    task: asyncio.Task[Any] | None = None
    if isinstance(output, StreamingAgentChatResponse):
        # LlamaIndex's own, which reads the model; whoever stops reading would wait for its end
        task = cast(Any, output).awrite_response_to_history_task
        output.awrite_response_to_history_task = None
        tokens = output.async_response_gen()
    elif astreams(output):
        tokens = aiter(output.response_gen)
    else:
        tokens = _once((await adrain(output)).answer)
    flow.hand_over()
    try:
        async with aclosing(flow.aread(tokens)) as read:
            yield read
        if task is not None:
            await task
    finally:
        await _astop(task, flow)
        if (aclose := getattr(tokens, "aclose", None)) is not None:
            await aclose()


async def _once(text: str) -> AsyncGenerator[str, None]:
    yield text


async def _astop(task: asyncio.Task[Any] | None, flow: Flow) -> None:
    """Have nothing more written for an answer.

    Args:
        task: What reads the model for it, if anything does.
        flow: Of the model's stream.
    """
    flow.stop()
    if task is not None:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # its reader has got it
    await flow.astop()


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end, cancelled or not: half a turn in a memory is none."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


# -- the response of a chat -------------------------------------------------------------------


class ChatStream(StreamingAgentChatResponse):
    """A chat's response, read as LlamaIndex's own; whoever stops reading closes its stream.

    No thread and no task of its own reads it: what it says as a string is read then, and
    `awrite_response_to_history_task` is something to await that reads it to its end.
    """

    def begin(self, texts: Any) -> None:
        """Take what is to be read: a generator, or an asynchronous one."""
        if isinstance(texts, Generator):
            self.chat_stream = _chunks(cast("Generator[str, None, None]", texts))
        else:
            self.achat_stream = _achunks(texts)
            self.awrite_response_to_history_task = cast(Any, _Rest(weakref.ref(self)))

    @property
    def response_gen(self) -> Generator[str, None, None]:
        """The text, piece by piece."""
        try:
            yield from super().response_gen
        finally:
            if self.chat_stream is not None:
                self.chat_stream.close()
                self._end()

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        """Yield the text piece by piece, awaiting."""
        self.awrite_response_to_history_task = None
        try:
            async for text in super().async_response_gen():
                yield text
        finally:
            if self.achat_stream is not None:
                await self.achat_stream.aclose()
                self._end()

    def _end(self) -> None:
        self.response = self.response or self.unformatted_response.strip()
        self.is_done = True

    def __str__(self) -> str:
        if self.chat_stream is not None and not self.is_done:
            for _ in self.response_gen:
                pass
        return self.response


class _Rest(NamedTuple):
    """What reads a chat's response to its end when it is awaited."""

    response: weakref.ref[ChatStream]

    def __await__(self) -> Generator[Any, Any, None]:
        return self._read().__await__()

    async def _read(self) -> None:
        if (response := self.response()) is not None:
            async for _ in response.async_response_gen():
                pass


def _chunks(texts: Generator[str, None, None]) -> Generator[ChatResponse, None, None]:
    so_far = ""
    with closing(texts):
        for text in texts:
            so_far += text
            yield _chunk(so_far, text)


async def _achunks(texts: AsyncGenerator[str, None]) -> AsyncGenerator[ChatResponse, None]:
    so_far = ""
    async with aclosing(texts):
        async for text in texts:
            so_far += text
            yield _chunk(so_far, text)


def _chunk(so_far: str, text: str) -> ChatResponse:
    message = ChatMessage(role=MessageRole.ASSISTANT, content=so_far)
    return ChatResponse(message=message, delta=text)
