"""The guard: a Runnable around any Runnable that answers.

In: a chain. Out: a Runnable that takes and returns what the chain does, and lets an answer
through only once its claims are verified. Everything that the chain does happens in a run of
the guard's; handlers that would carry its text to the caller are detached from it, tracers and
usage counters are not.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
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
    amore_passages,
    asettled,
    attempts,
    checked_fallback,
    checked_more,
    course_policy,
    more_passages,
    settled,
)
from faithguard.scorer import chosen_scorer
from faithguard.sinks import AnySink
from faithguard.watch import Outbox
from faithguard_langchain._again import has_model, remembering
from faithguard_langchain._call import Call, Keys
from faithguard_langchain._refuse import refuse

__all__ = ["Guarded", "Reported", "guard"]

AnyRunnable = Runnable[Any, Any]
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
    answer_key: str | None = None,
    context_key: str | None = None,
    question_key: str | None = None,
    feedback_key: str | None = None,
) -> Guarded[In, Out]:
    """Return a Runnable that lets an answer of the chain through only once it is verified.

        safe_chain = guard(chain, domain="medical", fallback="I cannot answer that reliably.")

    Streams hold the answer back and deliver it in one chunk.

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
        answer_key: Where the answer stands in a dict (or as an attribute), if not in a usual
            place ("answer", "result", "output", "messages", ...).
        context_key: Where the documents stand in a dict that the chain returns, if no retriever
            run can be observed.
        question_key: Where the question stands in the input, if not in a usual place.
        feedback_key: The input key that takes the feedback, for a chain whose model is called
            inside a function, where the guard cannot ask it again by itself.

    Raises:
        ConfigError: If a setting cannot be used, or the chain is one that a guard cannot
            protect; the message names what to use instead.
    """
    return Guarded(
        chain,
        policy=course_policy(domain, on_fail, repairs=True),
        fallback=fallback,
        max_attempts=max_attempts,
        more_context=more_context,
        outbox=Outbox(sinks, on_report=on_report),
        scorer=chosen_scorer(scorer, judge),
        keys=Keys(answer_key, context_key, question_key, feedback_key),
    )


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
        *,
        policy: Policy,
        fallback: str | AnyRunnable | None,
        max_attempts: int | None,
        more_context: MoreContext | None,
        outbox: Outbox,
        scorer: Scorer,
        keys: Keys,
        kind: type[Call] = Call,
    ) -> None:
        if not isinstance(cast(object, chain), Runnable):
            raise ConfigError(
                f"`chain` is of type {type(chain).__name__}: pass a Runnable; a function becomes "
                "one by RunnableLambda(function)"
            )
        most = attempts(max_attempts, policy)
        checked_fallback(fallback, policy, {"a Runnable": Runnable})
        checked_more(more_context, policy)
        refuse(chain)
        again = policy.on_fail == "regenerate"
        if again and keys.feedback is None and not has_model(chain):
            raise ConfigError(
                "on_fail='regenerate' finds no model to ask again among the chain's steps (one "
                "that a function finds in its module cannot be reached): name the input key that "
                "takes the feedback with feedback_key=..., make the model a step, or use "
                "on_fail='block'"
            )
        self.chain = chain
        self.policy = policy
        self.fallback = fallback
        self.max_attempts = most
        self._more_context = more_context
        self.keys = keys
        self.remembers = again and keys.feedback is None
        self.reporting = False
        self._inner: Runnable[Any, Any] = remembering(chain) if self.remembers else chain
        self._outbox = outbox
        self._scorer = scorer
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
        return self._outbox.queue.wait(timeout)

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
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(self, input: In, config: RunnableConfig | None = None, **kwargs: Any) -> Out:
        """Do the same, awaiting."""
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    def stream(
        self, input: In, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Out]:
        """Yield the verified answer, in one chunk."""
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(
        self, input: In, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Out]:
        """Do the same, awaiting."""

        async def inputs() -> AsyncIterator[In]:
            yield input

        async for chunk in self.atransform(inputs(), config, **kwargs):
            yield chunk

    def transform(
        self, input: Iterator[In], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Out]:
        """Collect the input, then do what `stream` does."""

        def run(
            inputs: Iterator[In], run_manager: CallbackManagerForChainRun, config: RunnableConfig
        ) -> Iterator[Out]:
            whole = _Sum[In]()
            for chunk in inputs:
                whole.add(chunk)
            if not whole.empty:
                yield _as_chunk(self._run(whole.value, run_manager, config, **kwargs))

        yield from self._transform_stream_with_config(input, run, config)

    async def atransform(
        self, input: AsyncIterator[In], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Out]:
        """Do the same, awaiting."""

        async def run(
            inputs: AsyncIterator[In],
            run_manager: AsyncCallbackManagerForChainRun,
            config: RunnableConfig,
        ) -> AsyncIterator[Out]:
            whole = _Sum[In]()
            async for chunk in inputs:
                whole.add(chunk)
            if not whole.empty:
                yield _as_chunk(await self._arun(whole.value, run_manager, config, **kwargs))

        async for chunk in self._atransform_stream_with_config(input, run, config):
            yield chunk

    def tell(self, record: Record, run: str | None = None) -> None:
        """Hand a record, and the run that it is of, to the sinks, and its report to `on_report`."""
        self._outbox.tell(record, run)

    # -- one call: the drivers of a `Call` ---------------------------------------------------

    def _run(
        self,
        input: In,
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        call = self._kind(self, input, run_manager.get_child(), config)
        while True:
            output = fault = None
            try:
                with set_config_context(call.config) as context:
                    output = context.run(self._inner.invoke, call.input, call.config, **kwargs)
            except BaseException as error:
                if (fault := call.fault(error)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            if (exchange := call.exchange(output)) is None:
                return output
            step = settled(call.course, self._scorer, exchange, answer=call.mends)
            if step.feedback is not None:
                more = more_passages(self._more_context, call.course.report.unsupported)
                call.again(step.feedback, more)
                continue
            if step.action == "block" and isinstance(self.fallback, Runnable):
                apart = call.plain_config()
                with set_config_context(apart) as context:
                    output = context.run(self.fallback.invoke, input, apart)
            return call.close(step, output)

    async def _arun(
        self,
        input: In,
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        call = self._kind(self, input, run_manager.get_child(), config)
        while True:
            output = fault = None
            try:
                with set_config_context(call.config) as context:
                    answering = self._inner.ainvoke(call.input, call.config, **kwargs)
                    output = await coro_with_context(answering, context)
            except BaseException as error:
                if (fault := call.fault(error)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            if (exchange := call.exchange(output)) is None:
                return output
            step = await asettled(call.course, self._scorer, exchange, answer=call.mends)
            if step.feedback is not None:
                more = await amore_passages(self._more_context, call.course.report.unsupported)
                call.again(step.feedback, more)
                continue
            if step.action == "block" and isinstance(self.fallback, Runnable):
                apart = call.plain_config()
                with set_config_context(apart) as context:
                    answering = self.fallback.ainvoke(input, apart)
                    output = await coro_with_context(answering, context)
            return call.close(step, output)


def _as_chunk(output: Any) -> Any:
    """Return a message as a chunk, which is what streams of messages yield."""
    if isinstance(output, AIMessage) and not isinstance(output, AIMessageChunk):
        if output.tool_calls:
            return output
        fields = {name: getattr(output, name) for name in AIMessage.model_fields if name != "type"}
        return AIMessageChunk(**fields)
    return output


class _Sum(Generic[In]):
    """What the chunks of an input add up to; the last one where they cannot be added."""

    def __init__(self) -> None:
        self.empty = True
        self.value: In = cast(In, None)

    def add(self, chunk: In) -> None:
        if self.empty:
            self.value, self.empty = chunk, False
            return
        try:
            self.value = cast(Any, self.value) + chunk
        except TypeError:
            self.value = chunk
