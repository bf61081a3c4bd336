"""An agent's answer, released claim by claim while its model writes.

In: the tokens of the model's run, from which nothing reaches the caller by itself. Out: sentences,
items and rows that hold, as the tokens of a run of their own, which the caller's streams alone are
told of; the message that the agent gets is what was released. Where nobody reads tokens, or it is
not sure that they are the answer's, the model's whole text takes the same way once it is there.
Where its reader goes, LangGraph takes the step to its end: state and record hold all that was
released, which may be more than was read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID, uuid4

from langchain_core.callbacks import (
    AsyncCallbackHandler,
    AsyncCallbackManager,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManager,
)
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    SystemMessage,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context
from langchain_core.runnables.utils import coro_with_context

# it makes a model stream that is not asked to; LangGraph takes it from there as well
from langchain_core.tracers._streaming import (
    _StreamingCallbackHandler,  # pyright: ignore[reportPrivateUsage]
)

from faithguard import CaptureError, Exchange, Record
from faithguard.guard import Settings
from faithguard.streaming import Move, StreamCourse, apushed, pushed
from faithguard_langchain._isolation import Stopped, carriers
from faithguard_langchain._outputs import spoken
from faithguard_langchain._values import text_of

__all__ = ["Flow", "Outlet", "asks", "listener"]

Telling = tuple[str, tuple[Any, ...], dict[str, Any]]
"""What a run's handlers are told: the name of the event, and what comes with it."""


class Outlet:
    """The run whose tokens are what is released; it begins with the first of them.

    Args:
        manager: Of the agent's node.
        prompt: What the model was asked.
    """

    def __init__(self, manager: BaseCallbackManager, prompt: Sequence[BaseMessage]) -> None:
        self._manager = carriers(manager)
        self._prompt = list(prompt)
        self._run: Any = None
        self._key = uuid4()
        self._text = ""
        self.id = f"lc_run--{self._key}"
        """Of the message; streams show a message of the state again if it has another one."""

    @property
    def carries(self) -> bool:
        """Whether a stream of the caller's is told of tokens."""
        return bool(self._manager.handlers)

    @property
    def open(self) -> bool:
        """Whether something was released to it."""
        return self._run is not None

    def tell(self, tellings: Iterator[Telling]) -> None:
        """Tell the caller's streams."""
        for name, given, fields in tellings:
            if self._run is None:
                (self._run,) = cast(CallbackManager, self._manager).on_chat_model_start(
                    {}, [self._prompt], run_id=self._key, name="faithguard"
                )
            getattr(self._run, name)(*given, **fields)

    async def atell(self, tellings: Iterator[Telling]) -> None:
        """Do the same, awaiting."""
        for name, given, fields in tellings:
            if self._run is None:
                manager = cast(AsyncCallbackManager, self._manager)
                (self._run,) = await manager.on_chat_model_start(
                    {}, [self._prompt], run_id=self._key, name="faithguard"
                )
            await getattr(self._run, name)(*given, **fields)

    def piece(self, text: str) -> Iterator[Telling]:
        """Yield what tells of a text that is released."""
        if not (text and self.carries):
            return
        if not self.open:
            yield _protocol("message-start", role="ai", id=self.id)
            yield _protocol("content-block-start", index=0, content={"type": "text", "text": ""})
        self._text += text
        yield self._token(AIMessageChunk(content=text, id=self.id))
        delta = {"type": "text-delta", "text": text}
        yield _protocol("content-block-delta", index=0, delta=delta)

    def end(self, message: AIMessage) -> Iterator[Telling]:
        """Yield what tells of the end of a message, and of what it has beside its text."""
        if not self.open:
            return
        calls = [
            tool_call_chunk(
                name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=place
            )
            for place, call in enumerate(message.tool_calls)
        ]
        last = AIMessageChunk(
            content="",
            id=self.id,
            tool_call_chunks=calls,
            usage_metadata=message.usage_metadata,
            response_metadata=message.response_metadata,
            chunk_position="last",
        )
        yield self._token(last)
        blocks = [{"type": "text", "text": self._text}, *message.tool_calls]
        for place, block in enumerate(blocks):
            if place:
                yield _protocol("content-block-start", index=place, content=block)
            yield _protocol("content-block-finish", index=place, content=block)
        fields: dict[str, Any] = {"metadata": message.response_metadata}
        if message.usage_metadata is not None:
            fields["usage"] = message.usage_metadata
        yield _protocol("message-finish", **fields)
        result = LLMResult(generations=[[ChatGeneration(message=message)]])
        yield "on_llm_end", (result,), {}

    def _token(self, chunk: AIMessageChunk) -> Telling:
        return "on_llm_new_token", (text_of(chunk),), {"chunk": ChatGenerationChunk(message=chunk)}


def _protocol(event: str, **fields: Any) -> Telling:
    """Make an event of version 3 of LangChain's; the older handlers pass it over."""
    return "on_stream_event", ({"event": event, **fields},), {}


class Flow:
    """The stream of one hop, in one attempt or more.

    Args:
        settings: Of the guard.
        exchange: Returns the exchange of a text with what was seen so far.
        outlet: Takes what is released.
        given: The config of the agent's node, in which texts are verified.
        tell: Takes the record of a stream that ends before its time.
    """

    def __init__(
        self,
        settings: Settings,
        exchange: Callable[[str], Exchange],
        outlet: Outlet,
        given: RunnableConfig,
        tell: Callable[[Record], None],
    ) -> None:
        self.course = StreamCourse(settings, exchange)
        self.outlet = outlet
        self._tell = tell
        self._given = given
        self.begin(lambda messages: False, calls=True)

    def begin(self, asked: Callable[[Sequence[BaseMessage]], bool], *, calls: bool) -> None:
        """Begin an attempt.

        Args:
            asked: Says whether who is sent these messages is the model that writes the answer.
            calls: Whether it may call tools.
        """
        self.move: Move | None = None
        """What ended the answer, once something did."""
        self._asked = asked
        self._calls = calls
        self._run: UUID | None = None
        """The run whose tokens are the answer's."""
        self._deaf = False
        self._fault: Exception | None = None

    # -- what the model's run tells -----------------------------------------------------------

    def starts(self, run: UUID, messages: Sequence[BaseMessage], metadata: Any) -> None:
        """Take the run of a model; a middleware may call one for its own ends."""
        own = {"lc_source", "lc_internal_call"} & set(cast("Mapping[str, Any]", metadata or {}))
        if self._run is None and not self._deaf and not own and self._asked(messages):
            self._run = run

    def fails(self, run: UUID) -> None:
        """Take the error of a run; a middleware may have the model write once more."""
        if run == self._run and self.move is None and not self.course.text:
            self.course.restart()
            self._run = None

    def turn_away(self) -> None:
        """Hear no more of the run: the whole text is verified where it ends."""
        self._deaf, self._run = True, None

    def hears(self, run: UUID, chunk: Any) -> str:
        """Return the text of a token that is the answer's."""
        message = getattr(chunk, "message", None)
        if run != self._run or self.move is not None or not isinstance(message, AIMessageChunk):
            return ""
        if message.tool_call_chunks or any(text.strip() for text in [*spoken(message)][1:]):
            self.turn_away()
            return ""
        return text_of(message)

    def push(self, piece: str | None) -> None:
        """Verify what a piece completes, and release it."""
        with set_config_context(self._given) as context:
            moves = pushed(self.course, piece)
            while (move := context.run(next, moves, None)) is not None:
                self.outlet.tell(self._moved(move))

    async def apush(self, piece: str | None) -> None:
        """Do the same, awaiting."""
        with set_config_context(self._given) as context:
            await coro_with_context(self._apush(piece), context)

    async def _apush(self, piece: str | None) -> None:
        async for move in apushed(self.course, piece):
            await self.outlet.atell(self._moved(move))

    def _moved(self, move: Move) -> Iterator[Telling]:
        if move.ends:
            self.move = move
            if self.course.blocked or not move.text:
                return iter(())  # what stands in the answer's place is told of when it is sure
        return self.outlet.piece(move.text)

    def broke(self, error: Exception) -> None:
        """Take an error of the guard's own, which is raised where no handler is told of it."""
        self._fault = error

    def goes_on(self) -> None:
        """Stop the model if nothing that it may write changes what comes of the answer."""
        if self._fault is not None or (self.move is not None and not self._calls):
            raise Stopped

    @contextmanager
    def running(self, wrote: Callable[[str], object]) -> Generator[None]:
        """Be there while the model runs; `wrote` is told of what it had written if it fails."""
        try:
            yield
        except Stopped:
            pass
        except BaseException as error:
            wrote(self.course.written)
            self._left(error)
            raise
        if self._fault is not None:
            raise self._fault

    # -- the end of an attempt ----------------------------------------------------------------

    def left(self, whole: str | None) -> str | None:
        """Return what of the model's text is still to be pushed; None if it goes another way.

        Args:
            whole: The text of the answer; None if there is more to verify than a text.

        Raises:
            CaptureError: If something else was released already.
        """
        if self.move is not None:
            return ""
        if whole is not None and whole.startswith(self.course.written):
            return whole[len(self.course.written) :]
        if self.course.text:
            error = CaptureError(
                "with stream='claims' a part of the answer was released, and then it became "
                "another one: let what changes answers, and other models that write, stand before "
                "the guard, or leave `stream` out, so that the whole answer is held"
            )
            self._left(error)
            raise error
        self.course.restart()
        return whole

    def _left(self, error: BaseException) -> None:
        if (record := self.course.left(error)) is not None:
            self._tell(record)

    def settle(self, rest: str) -> None:
        """Verify and release what is left."""
        for piece in (rest, None):
            if self.move is None:
                self.push(piece)

    async def asettle(self, rest: str) -> None:
        """Do the same, awaiting."""
        for piece in (rest, None):
            if self.move is None:
                await self.apush(piece)

    @property
    def feedback(self) -> str | None:
        """What to ask the model again with, if that is to be done."""
        return None if self.move is None else self.move.feedback

    def instead(self, fallback: BaseMessage) -> BaseMessage:
        """Return a fallback as it stands behind what was released."""
        if not self.course.text.strip():
            return self.known(fallback)
        return AIMessage(f"{self.course.text}\n\n{text_of(fallback)}", id=self.outlet.id)

    def message(self, said: BaseMessage) -> BaseMessage:
        """Return what was released as the message that ends the turn."""
        if text_of(said) != self.course.text:
            usage = said.usage_metadata if isinstance(said, AIMessage) else None
            said = AIMessage(self.course.text, usage_metadata=usage)
        return self.known(said)

    def known(self, said: BaseMessage) -> BaseMessage:
        """Return a message under the id that the caller's streams know it by."""
        return said.model_copy(update={"id": self.outlet.id}) if self.outlet.open else said

    def last(self, message: BaseMessage) -> Iterator[Telling]:
        """Yield what tells of the rest of a message, and of its end."""
        if self.outlet.open and isinstance(message, AIMessage):
            text = text_of(message)
            if text.startswith(self.course.text):
                yield from self.outlet.piece(text[len(self.course.text) :])
            yield from self.outlet.end(message)


def asks(prompt: Sequence[BaseMessage], messages: Sequence[BaseMessage]) -> bool:
    """Say whether messages are a prompt; a middleware may have added to its rules."""
    rules, rest = _parted(prompt)
    told, sent = _parted(messages)
    return sent == rest and rules in told and bool(rules) == bool(told)


def _parted(messages: Sequence[BaseMessage]) -> tuple[str, list[tuple[str, str]]]:
    """Return the rules and the rest of a prompt."""
    rules = "\n".join(text_of(m) for m in messages if isinstance(m, SystemMessage))
    return rules, [(m.type, text_of(m)) for m in messages if not isinstance(m, SystemMessage)]


def listener(flow: Flow, *, awaits: bool) -> BaseCallbackHandler:
    """Return the handler by which a flow is told of the model's run."""
    return _AsyncListener(flow) if awaits else _Listener(flow)


class _Taps:
    """What LangChain asks of a handler that makes models stream."""

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Leave the output of other runs as it is."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """Leave the output of other runs as it is."""
        return output


class _Listener(_Taps, BaseCallbackHandler, _StreamingCallbackHandler[Any]):
    """Verifies in the model's own thread, as soon as a unit is over."""

    raise_error = True

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        """Take the run of a model."""
        self._flow.starts(kwargs["run_id"], messages[0], kwargs.get("metadata"))

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Verify what a token completes."""
        try:
            if piece := self._flow.hears(kwargs["run_id"], kwargs.get("chunk")):
                self._flow.push(piece)
        except Exception as error:
            self._flow.broke(error)
        self._flow.goes_on()

    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """Take the error of a run."""
        self._flow.fails(kwargs["run_id"])


class _AsyncListener(_Taps, AsyncCallbackHandler, _StreamingCallbackHandler[Any]):
    """Does the same in the task that reads the model, awaiting."""

    raise_error = True

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._loop = asyncio.get_running_loop()

    async def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        """Take the run of a model; one that blocks tells of itself in another loop."""
        if asyncio.get_running_loop() is self._loop:
            self._flow.starts(kwargs["run_id"], messages[0], kwargs.get("metadata"))

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Verify what a token completes."""
        try:
            if piece := self._flow.hears(kwargs["run_id"], kwargs.get("chunk")):
                await self._flow.apush(piece)
        except Exception as error:
            self._flow.broke(error)
        self._flow.goes_on()

    async def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """Take the error of a run."""
        self._flow.fails(kwargs["run_id"])
