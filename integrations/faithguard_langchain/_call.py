"""One guarded call.

In: the input, then the output and the report of each attempt. Out: what to verify, what to run
next, and what the caller gets. `_guard` and `_node` drive it, blocking or awaiting; a run of what
is guarded, or of the fallback, is made here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Protocol, cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import set_config_context
from langchain_core.runnables.utils import coro_with_context
from pydantic import BaseModel

from faithguard import (
    CaptureError,
    Exchange,
    Passage,
    Policy,
    Record,
    Report,
    UnfaithfulAnswerError,
)
from faithguard.capture import Trace, new_id, time_now
from faithguard.guard import (
    Course,
    Reported,
    Step,
    note_of,
    with_passages,
    withheld,
    wrong_in,
)
from faithguard.replay import Replay
from faithguard_langchain._again import Remembers
from faithguard_langchain._isolation import GuardCapture, detached
from faithguard_langchain._outputs import Output
from faithguard_langchain._values import CONTEXT_KEYS, context_of, plain_input

__all__ = ["Call", "Keys", "is_marked", "marked", "run_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class Keys:
    """Where things stand in dicts, where they are not in usual places."""

    answer: str | None = None
    context: str | None = None
    question: str | None = None
    feedback: str | None = None


_NOTHING = nullcontext()


class _Settings(Protocol):
    """What a call needs of its guard."""

    @property
    def policy(self) -> Policy: ...
    @property
    def fallback(self) -> str | Runnable[Any, Any] | None: ...
    @property
    def max_attempts(self) -> int: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def remembers(self) -> bool: ...
    @property
    def reporting(self) -> bool: ...
    def tell(self, record: Record, run: str | None = None) -> None: ...


class Call:
    """One guarded call: what its runs are given, and what becomes of their outputs."""

    def __init__(
        self,
        guarded: _Settings,
        input: Any,
        child: BaseCallbackManager,
        config: RunnableConfig,
    ) -> None:
        self._guarded = guarded
        self._keys = guarded.keys
        self._given = self._known = input
        self._trace = Trace(inputs=plain_input(input), started_at=time_now())
        self._replay = Replay() if guarded.remembers else None
        self.course = Course(guarded.policy, max_attempts=guarded.max_attempts)
        self.answer = ""
        self.mends: str | None = None
        """The part of what was verified that a mended answer can stand in the place of."""
        self.input = self._with_feedback("")
        self._child = child
        self._config = config
        self.config = self.plain_config()
        callbacks = cast(BaseCallbackManager, self.config.get("callbacks"))
        self._capture = GuardCapture(self._trace)
        callbacks.add_handler(self._capture, inherit=True)
        callbacks.add_handler(Remembers(self._replay), inherit=True)

    def plain_config(self) -> RunnableConfig:
        """Return the config of a run that is isolated, and not captured: the fallback's."""
        return detached(self._child, self._config)

    def outcome(
        self,
        inner: Runnable[Any, Any],
        kwargs: Mapping[str, Any],
        around: AbstractContextManager[object] = _NOTHING,
    ) -> Any:
        """Run what is guarded, blocking, within `around`; an error is the one to raise instead."""
        output = fault = None
        try:
            with around, set_config_context(self.config) as context:
                output = context.run(inner.invoke, self.input, self.config, **kwargs)
        except BaseException as error:
            if (fault := self.fault(error)) is None:
                raise
        if fault is not None:  # raised here, where nothing of the error hangs on to it
            raise fault
        return output

    async def aoutcome(
        self,
        inner: Runnable[Any, Any],
        kwargs: Mapping[str, Any],
        around: AbstractContextManager[object] = _NOTHING,
    ) -> Any:
        """Do the same, awaiting."""
        output = fault = None
        try:
            with around, set_config_context(self.config) as context:
                answering = inner.ainvoke(self.input, self.config, **kwargs)
                output = await coro_with_context(answering, context)
        except BaseException as error:
            if (fault := self.fault(error)) is None:
                raise
        if fault is not None:  # raised here, where nothing of the error hangs on to it
            raise fault
        return output

    def instead(self, fallback: Runnable[Any, Any], input: Any) -> Any:
        """Run the fallback, blocking."""
        apart = self.plain_config()
        with set_config_context(apart) as context:
            return context.run(fallback.invoke, input, apart)

    async def ainstead(self, fallback: Runnable[Any, Any], input: Any) -> Any:
        """Do the same, awaiting."""
        apart = self.plain_config()
        with set_config_context(apart) as context:
            return await coro_with_context(fallback.ainvoke(input, apart), context)

    def exchange(self, output: Any) -> Exchange | None:
        """Return what to verify: every text of the output that a model wrote; None if nothing.

        Raises:
            CaptureError: If there is no answer to be found; it is never delivered unverified.
        """
        if self._keys.context is not None or not self._trace.fetched:
            self._trace.retrieved("", context_of(output, self._keys.context))
        return self._exchange(output)

    def _exchange(self, output: Any) -> Exchange:
        view = self._view(output)
        texts = view.texts()
        if texts is None:
            key = self._keys.answer
            where = "the usual places" if key is None else f"`answer_key` {key!r}"
            raise CaptureError(
                f"no answer in {where} of the chain's output, a {type(output).__name__}: name its "
                "key with answer_key=..., or end the chain in a string, a message or a dict"
            )
        self.answer = texts[0]
        self.mends = texts[0] if view.keeps_form() else ""
        return self._trace.exchange("\n\n".join(texts), question=self._question())

    def _view(self, output: Any) -> Output:
        trace = self._trace
        writing = cache(trace.writing)  # only made for outputs that hold more than the answer
        return Output(
            output,
            key=self._keys.answer,
            given=self._known,
            fetched=frozenset(passage.text for passage in trace.fetched_passages()),
            quotes=trace.quoted_in if trace.models else bool,
            writing=writing if trace.models else None,
            listed=self._capture.listed,
            context_keys=(*CONTEXT_KEYS, self._keys.context or ""),
        )

    def again(self, feedback: str, passages: tuple[Passage, ...]) -> None:
        """Prepare the next attempt.

        Args:
            feedback: What to tell the model.
            passages: What was found since for the claims that failed.
        """
        self._ask_again(feedback, passages, self.course.report)

    def _ask_again(self, feedback: str, passages: tuple[Passage, ...], report: Report) -> None:
        self._trace.added(feedback)
        self._trace.found_since(passages)
        told = with_passages(feedback, passages)
        self.input = self._with_feedback(told)
        if self._replay is not None:
            self._replay.ask_again(self.answer, wrong_in(report), told)

    # -- a stream by claim --------------------------------------------------------------------

    @property
    def run(self) -> str | None:
        """The run that the guard's own is, in the callbacks."""
        above = self._child.parent_run_id
        return None if above is None else str(above)

    def again_stream(self, feedback: str, passages: tuple[Passage, ...], report: Report) -> None:
        """Prepare the next attempt of a stream.

        Args:
            feedback: What to tell the model.
            passages: What was found since for the claims that failed.
            report: Of what was written.
        """
        self.answer = report.exchange.answer
        self._ask_again(feedback, passages, report)

    def exchange_so_far(self, text: str) -> Exchange:
        """Return the exchange that a part of a stream makes with what was seen so far."""
        return self._trace.exchange(text, question=self._question())

    def hands_out(self, fields: Mapping[str, Any]) -> None:
        """Take what a stream hands out beside its answer; it may be the context."""
        key = self._keys.context
        if key in fields if key is not None else not self._trace.fetched:
            self._trace.retrieved("", context_of(fields, key))

    def view(self, output: Any) -> Output:
        """Return what of an output a model wrote."""
        return self._view(output)

    def stream_fault(self, error: BaseException, written: str) -> CaptureError | None:
        """Return what `fault` does, of a stream of which this much was written."""
        self._trace.wrote(written, self._trace.finish_reason)
        return self.fault(error)

    def close(self, step: Step, output: Any) -> Any:
        """Return what the caller gets.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        record = self.course.record()
        self._guarded.tell(record, self.run)
        fallback = self._guarded.fallback
        if step.action == "block":
            if fallback is None:
                raise UnfaithfulAnswerError(record.decision, record.report, record)
            if isinstance(fallback, str):
                output = self._replaced(output, fallback)
        elif step.answer is not None:
            output = self._replaced(output, step.answer)
        # a fallback that is guarded itself says of its own answer what is true of it
        if step.action != "block" or not is_marked(output):
            output = self._marked(output, record)
        return Reported(output, record) if self._guarded.reporting else output

    def _replaced(self, output: Any, text: str) -> Any:
        return self._view(output).with_answer(text)

    def _marked(self, output: Any, record: Record) -> Any:
        return marked(output, record)

    def fault(self, error: BaseException) -> CaptureError | None:
        """Return what to raise instead of an error that carries what a model wrote.

        A parser that fails puts the whole text into its message; causes, notes and attributes
        carry it as well. A LangGraph command to the parent graph is an exception that hands
        over an update which nothing has verified.
        """
        if type(error).__name__ == "ParentCommand":
            return CaptureError(
                "the guarded graph hands over to its parent by a Command, which cannot be "
                "verified: return the answer from the guarded graph, and route in the parent"
            )
        return withheld(error, self._trace)

    def _question(self) -> str | None:
        key, given = self._keys.question, self._known
        if key is None:
            return None
        if not isinstance(given, Mapping) or key not in given:
            raise CaptureError(f"`question_key` is {key!r}, which the input does not have")
        return str(cast(Mapping[str, Any], given)[key])

    def _with_feedback(self, text: str) -> Any:
        key, given = self._keys.feedback, self._given
        if key is None:
            return given
        if isinstance(given, BaseModel):
            return given.model_copy(update={key: text})
        if dataclasses.is_dataclass(given) and not isinstance(given, type):
            return dataclasses.replace(given, **{key: text})
        if not isinstance(given, Mapping):
            raise CaptureError(
                f"`feedback_key` is {key!r}, but the input is of type "
                f"{type(given).__name__}: it must be a dict to take the feedback"
            )
        return {**cast(Mapping[str, Any], given), key: text}


_ENDS = AIMessage | ToolMessage
"""What may end a turn: a tool's message does after a structured response."""


def run_of(config: RunnableConfig | None) -> str:
    """Return the run that a call belongs to; where there is none, it is one of its own."""
    whole = ensure_config(config)
    above = getattr(whole.get("callbacks"), "parent_run_id", None)
    return str(above or whole.get("run_id") or new_id())


def is_marked(output: Any) -> bool:
    """Say whether a message carries the decision of a guard."""
    return isinstance(output, _ENDS) and "faithguard" in output.response_metadata


def marked(output: Any, record: Record) -> Any:
    """Put the decision where the holder of a message finds it; no text of the answer."""
    if not isinstance(output, _ENDS):
        return output
    metadata = {**output.response_metadata, "faithguard": note_of(record)}
    return output.model_copy(update={"response_metadata": metadata})
