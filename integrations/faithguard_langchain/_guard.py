"""The guard: a Runnable around any Runnable that answers.

In: a chain. Out: a Runnable that takes and returns what the chain does, and lets an answer
through only once its claims are verified. Everything that the chain does happens in a run of
the guard's; handlers that would carry its text to the caller are detached from it, tracers and
usage counters are not.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from itertools import chain as chained
from typing import Any, Generic, TypeVar, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context
from langchain_core.runnables.utils import ConfigurableFieldSpec, coro_with_context

from faithguard import (
    ConfigError,
    Judge,
    Policy,
    Record,
    Report,
    Scorer,
)
from faithguard.guard import (
    MoreContext,
    OnFail,
    Reported,
    Settings,
    Stream,
    amore_passages,
    asettled,
    more_passages,
    settled,
)
from faithguard.sinks import AnySink
from faithguard.streaming import Again, StreamCourse, areleased, released
from faithguard_langchain._again import has_model, remembering
from faithguard_langchain._call import Call, Keys, run_of
from faithguard_langchain._chunks import Chunks, HeldError
from faithguard_langchain._isolation import Stops, heard
from faithguard_langchain._refuse import refuse, refuse_stream
from faithguard_langchain._values import Whole

__all__ = ["Guarded", "Reported", "guard"]

AnyRunnable = Runnable[Any, Any]
_END: Any = object()
In = TypeVar("In")
Out = TypeVar("Out")


def guard(
    chain: Runnable[In, Out],
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | Runnable[Any, Any] | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    answer_key: str | None = None,
    context_key: str | None = None,
    question_key: str | None = None,
    feedback_key: str | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> Guarded[In, Out]:
    """Return a Runnable that lets an answer of the chain through only once it is verified.

        safe_chain = guard(chain, domain="medical", fallback="I cannot answer that reliably.")

    Every text of the output that a model wrote is verified, and so are the numbers and truth values
    in its fields, as in a structured response of `FaithfulnessMiddleware`; a blocked output keeps
    what came in with the call or from a retriever, and what a model did not write.

    Streams hold the answer back and deliver it in one chunk, or, with `stream="claims"`, deliver
    each sentence, item or row once it is verified.

    Args:
        chain: Any Runnable that returns a string, a message, or a dict with an answer.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": ask the model again with
            the claims that failed, then block; "repair": correct or leave out the sentences,
            items or rows that failed, verify again, else block; "flag": deliver, with the
            report. The policy's, which is "block" unless it says otherwise, if it is not given.
        fallback: What a blocked caller gets: a text in the place of the answer, or a Runnable
            that is called with the chain's input; its output is not verified. Not with "flag".
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: Called with the claims that failed before the model is asked again; what it
            returns (strings, Documents, Passages; a coroutine function for asynchronous calls)
            is sent along and is evidence. Only with "regenerate".
        on_report: Called with the report of each call's last attempt.
        sinks: Where records go; one log line for each call by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of runs that are checked, from 0 to 1, chosen by a hash of the run's id;
            the others pass as they are, but for those of `with_report`. Only with "flag"; all
            of them by default.
        answer_key: Where the answer stands in a dict (or as an attribute), if not in a usual
            place ("answer", "result", "output", "messages", ...).
        context_key: Where the documents stand in a dict that the chain returns, if no retriever
            run can be observed.
        question_key: Where the question stands in the input, if not in a usual place.
        feedback_key: The input key that takes the feedback, for a chain whose model is called
            inside a function, where the guard cannot ask it again by itself.
        stream: What `stream`, `astream` and events of them hold: the whole "answer", or, with
            "claims", each sentence, item or row until all of its claims are supported. One that
            is not ends the stream with the fallback, or is repaired or left out with "repair";
            "regenerate" works until something was delivered; not with "flag". Other calls hold
            the whole answer, as `with_report` does.
        max_hold_chars: With "claims": characters without the end of a sentence, item or row
            that are held; more block the stream unless the policy fails open. 4000 by default.
        max_hold_seconds: With "claims": seconds to wait for that end, 60 by default.

    Raises:
        ConfigError: If a setting cannot be used, or the chain is one that a guard cannot
            protect; the message names what to use instead.
    """
    settings = Settings.of(
        domain=domain,
        on_fail=on_fail,
        fallback=fallback,
        max_attempts=max_attempts,
        more_context=more_context,
        on_report=on_report,
        sinks=sinks,
        scorer=scorer,
        judge=judge,
        sample=sample,
        fallbacks={"a Runnable": Runnable},
        stream=stream,
        max_hold_chars=max_hold_chars,
        max_hold_seconds=max_hold_seconds,
    )
    return Guarded(chain, settings, Keys(answer_key, context_key, question_key, feedback_key))


class Guarded(Runnable[In, Out], Generic[In, Out]):
    """A guarded chain; made by `guard`.

        safe_chain = guard(chain, domain="medical")
        answer = safe_chain.invoke(question)
        answer, record = safe_chain.with_report().invoke(question)

    A Runnable that takes and returns what the chain does, by `invoke`, `stream`, `batch`, their
    async twins and `astream_events`; a step of a larger chain like any other. An answer that does
    not pass becomes what `on_fail` says: the fallback, an `UnfaithfulAnswerError` (a block; it
    carries `decision`, `report` and `record`), or the answer, flagged. A message carries the
    decision in `response_metadata["faithguard"]`. Records reach the sinks a little later: `wait`.

    Attributes:
        chain: What is guarded.
        policy: What decides: its domain, thresholds and `on_fail`.
        fallback: What a blocked caller gets.
        max_attempts: Answers to have written at most, with "regenerate".
    """

    def __init__(
        self,
        chain: Runnable[In, Out],
        settings: Settings,
        keys: Keys,
        kind: type[Call] = Call,
    ) -> None:
        if not isinstance(cast(object, chain), Runnable):
            raise ConfigError(
                f"`chain` is of type {type(chain).__name__}: pass a Runnable; a function becomes "
                "one by RunnableLambda(function)"
            )
        refuse(chain)
        if settings.hold is not None:
            refuse_stream(chain)
        again = settings.policy.on_fail == "regenerate"
        if again and keys.feedback is None and not has_model(chain):
            raise ConfigError(
                "on_fail='regenerate' finds no model to ask again among the chain's steps (one "
                "that a function finds in its module cannot be reached): name the input key that "
                "takes the feedback with feedback_key=..., make the model a step, or use "
                "on_fail='block'"
            )
        self.chain = chain
        self.policy = settings.policy
        self.fallback: str | AnyRunnable | None = settings.fallback
        self.max_attempts = settings.max_attempts
        self.keys = keys
        self.remembers = again and keys.feedback is None
        self.reporting = False
        self._inner: Runnable[Any, Any] = remembering(chain) if self.remembers else chain
        self._settings = settings
        self._kind = kind
        self.name = "faithguard"

    def with_report(self) -> Guarded[In, Any]:
        """Return the same guard, whose output is a `Reported`: what the caller gets, and why."""
        twin: Guarded[In, Any] = copy.copy(self)
        twin.reporting = True
        return twin

    def __repr__(self) -> str:
        shown = f"guard({type(self.chain).__name__}(...), domain={self.policy.domain!r}, "
        report = ".with_report()" if self.reporting else ""
        return f"{shown}on_fail={self.policy.on_fail!r}){report}"

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until all records are in the sinks; return whether it was in time (seconds)."""
        return self._settings.outbox.queue.wait(timeout)

    @property
    def InputType(self) -> Any:
        """What the chain takes."""
        return self.chain.InputType

    @property
    def OutputType(self) -> Any:
        """What the chain returns."""
        return Reported if self.reporting else self.chain.OutputType

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What of the chain can be configured."""
        return self.chain.config_specs

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the chain's."""
        return self.chain.get_input_schema(config)

    # -- the ways of calling ------------------------------------------------------------------

    def invoke(self, input: In, config: RunnableConfig | None = None, **kwargs: Any) -> Out:
        """Return the verified answer, or do what `on_fail` says."""
        if not self._checks(config):
            return self.chain.invoke(input, config, **kwargs)
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(self, input: In, config: RunnableConfig | None = None, **kwargs: Any) -> Out:
        """Do the same, awaiting."""
        if not self._checks(config):
            return await self.chain.ainvoke(input, config, **kwargs)
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    def stream(
        self, input: In, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Out]:
        """Yield the verified answer, in one chunk; with stream="claims" as it is verified."""
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(
        self, input: In, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Out]:
        """Do the same, awaiting."""

        async def inputs() -> AsyncIterator[In]:
            yield input

        async with aclosing(cast(Any, self.atransform(inputs(), config, **kwargs))) as chunks:
            async for chunk in chunks:
                yield chunk

    def transform(
        self, input: Iterator[In], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Out]:
        """Collect the input, then do what `stream` does."""
        if not self._checks(config):
            yield from self.chain.transform(input, config, **kwargs)
            return

        def run(
            inputs: Iterator[In], run_manager: CallbackManagerForChainRun, config: RunnableConfig
        ) -> Iterator[Out]:
            whole = Whole[In]()
            for chunk in inputs:
                whole.add(chunk)
            if whole.empty:
                return
            if self._by_claim:
                yield from self._stream(whole.value, run_manager, config, **kwargs)
            else:
                yield _as_chunk(self._run(whole.value, run_manager, config, **kwargs))

        yield from self._transform_stream_with_config(input, run, config)

    async def atransform(
        self, input: AsyncIterator[In], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Out]:
        """Do the same, awaiting."""
        if not self._checks(config):
            async with aclosing(cast(Any, self.chain.atransform(input, config, **kwargs))) as made:
                async for chunk in made:
                    yield chunk
            return

        async def run(
            inputs: AsyncIterator[In],
            run_manager: AsyncCallbackManagerForChainRun,
            config: RunnableConfig,
        ) -> AsyncIterator[Out]:
            whole = Whole[In]()
            async for chunk in inputs:
                whole.add(chunk)
            if whole.empty:
                return
            if self._by_claim:
                made = self._astream(whole.value, run_manager, config, **kwargs)
                async with aclosing(made) as chunks:
                    async for chunk in chunks:
                        yield chunk
            else:
                yield _as_chunk(await self._arun(whole.value, run_manager, config, **kwargs))

        made = self._atransform_stream_with_config(input, run, config)
        async with aclosing(cast(Any, made)) as chunks:
            async for chunk in chunks:
                yield chunk

    def tell(self, record: Record, run: str | None = None) -> None:
        """Hand a record, and the run that it is of, to the sinks, and its report to `on_report`."""
        self._settings.outbox.tell(record, run)

    def _checks(self, config: RunnableConfig | None) -> bool:
        return self.reporting or self._settings.checks(run_of(config))

    @property
    def _by_claim(self) -> bool:
        return self._settings.hold is not None and not self.reporting

    # -- one call: the drivers of a `Call` ---------------------------------------------------

    def _run(
        self,
        input: In,
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        call = self._kind(self, input, run_manager.get_child(), config)
        return self._finished(call, input, call.outcome(self._inner, kwargs), kwargs)

    def _finished(self, call: Call, input: In, output: Any, kwargs: Mapping[str, Any]) -> Any:
        """Verify an output as a whole, and return what the caller gets."""
        while (exchange := call.exchange(output)) is not None:
            step = settled(call.course, self._settings.scorer, exchange, answer=call.mends)
            if step.feedback is not None:
                more = more_passages(self._settings.more_context, call.course.report.unsupported)
                call.again(step.feedback, more)
                output = call.outcome(self._inner, kwargs)
                continue
            if step.action == "block" and isinstance(self.fallback, Runnable):
                output = call.instead(self.fallback, input)
            return call.close(step, output)
        return output

    async def _arun(
        self,
        input: In,
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        call = self._kind(self, input, run_manager.get_child(), config)
        return await self._afinished(call, input, await call.aoutcome(self._inner, kwargs), kwargs)

    async def _afinished(
        self, call: Call, input: In, output: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        """Verify an output as a whole, and return what the caller gets."""
        while (exchange := call.exchange(output)) is not None:
            step = await asettled(call.course, self._settings.scorer, exchange, answer=call.mends)
            if step.feedback is not None:
                more = await amore_passages(
                    self._settings.more_context, call.course.report.unsupported
                )
                call.again(step.feedback, more)
                output = await call.aoutcome(self._inner, kwargs)
                continue
            if step.action == "block" and isinstance(self.fallback, Runnable):
                output = await call.ainstead(self.fallback, input)
            return call.close(step, output)
        return output

    # -- one stream by claim ------------------------------------------------------------------

    def _stream(
        self,
        input: In,
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Iterator[Any]:
        call = self._kind(self, input, run_manager.get_child(), config)
        chunks = Chunks(call, self.keys.answer)
        course = StreamCourse(self._settings, chunks.exchange, run=call.run)
        stops = Stops()
        heard(call.config, stops)

        def ask(again: Again | None) -> Iterator[str]:
            chunks.begin(course, again)
            fault = None
            try:
                with set_config_context(call.config) as context:
                    made = context.run(self._inner.stream, call.input, call.config, **kwargs)
                    try:
                        while (chunk := context.run(next, made, _END)) is not _END:
                            yield chunks.take(chunk)
                    finally:
                        context.run(stops.close, made)
                chunks.check()
            except BaseException as error:
                if (fault := chunks.fault(error, course)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            chunks.raise_if_held()

        with suppress(HeldError), closing(released(course, ask)) as texts:
            for text in texts:
                yield from chunks.released(text, blocked=course.blocked)
        if chunks.is_held:
            yield _as_chunk(self._finished(call, input, chunks.output, kwargs))
            return
        if course.blocked and isinstance(self.fallback, Runnable):
            output = call.instead(self.fallback, input)
            yield from chunks.fallback(output, course.text)
        yield from chunks.end(course.record)

    async def _astream(
        self,
        input: In,
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> AsyncGenerator[Any, None]:
        call = self._kind(self, input, run_manager.get_child(), config)
        chunks = Chunks(call, self.keys.answer)
        course = StreamCourse(self._settings, chunks.exchange, run=call.run)

        async def ask(again: Again | None) -> AsyncIterator[str]:
            chunks.begin(course, again)
            fault = None
            try:
                with set_config_context(call.config) as context:
                    made = context.run(self._inner.astream, call.input, call.config, **kwargs)
                    try:
                        while True:
                            chunk = await coro_with_context(anext(made, _END), context)
                            if chunk is _END:
                                break
                            yield chunks.take(chunk)
                    finally:
                        await coro_with_context(cast(Any, made).aclose(), context)
                chunks.check()
            except BaseException as error:
                if (fault := chunks.fault(error, course)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            chunks.raise_if_held()

        with suppress(HeldError):
            async with aclosing(areleased(course, ask)) as texts:
                async for text in texts:
                    for chunk in chunks.released(text, blocked=course.blocked):
                        yield chunk
        if chunks.is_held:
            yield _as_chunk(await self._afinished(call, input, chunks.output, kwargs))
            return
        last = chunks.end(course.record)
        if course.blocked and isinstance(self.fallback, Runnable):
            output = await call.ainstead(self.fallback, input)
            last = chained(chunks.fallback(output, course.text), last)
        for chunk in last:
            yield chunk


def _as_chunk(output: Any) -> Any:
    """Return a message as a chunk, which is what streams of messages yield."""
    if isinstance(output, AIMessage) and not isinstance(output, AIMessageChunk):
        if output.tool_calls:
            return output
        fields = {name: getattr(output, name) for name in AIMessage.model_fields if name != "type"}
        return AIMessageChunk(**fields)
    return output
