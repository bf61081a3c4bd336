"""A verified node of a LangGraph graph of the user's own.

In: a node, as `add_node` takes it. Out: a node of the same kind. What it writes reaches the
state, and with it the checkpointer and every stream, only once it is verified.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    BaseCallbackManager,
    CallbackManagerForChainRun,
)
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.utils import is_async_callable

from faithguard import (
    CaptureError,
    ConfigError,
    Exchange,
    Judge,
    Passage,
    Policy,
    Record,
    Report,
    Scorer,
)
from faithguard.capture import passages_of
from faithguard.contents import texts_in
from faithguard.guard import (
    MoreContext,
    OnFail,
    Settings,
    Stream,
    amore_passages,
    more_passages,
    note_of,
)
from faithguard.sampling import takes
from faithguard.sinks import AnySink
from faithguard.watch import Outbox
from faithguard_langchain._agent_streams import Flow, Outlet, listener
from faithguard_langchain._call import Call, Keys, is_marked, marked, run_of
from faithguard_langchain._guard import Guarded, In, Out
from faithguard_langchain._isolation import heard, nowhere, silenced
from faithguard_langchain._turn import Notes, answer_texts
from faithguard_langchain._values import (
    CONTEXT_KEYS,
    answer_of,
    context_of,
    fields_of,
)

__all__ = ["verify_node"]


def verify_node(
    node: Callable[..., Any] | Runnable[Any, Any],
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
) -> Any:
    """Return a node of a LangGraph graph whose update is verified before it reaches the state.

        builder.add_node("answer", verify_node(answer, domain="support", fallback="Please call."))

    Evidence is what retrievers and tools bring inside the node, the documents in the state, and
    the tool messages in it. A message that only asks for tools goes on as it is.

    Args:
        node: A function from the state to an update, or a coroutine function, or a Runnable.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: As in `guard`.
        fallback: What a blocked graph gets: a text in the place of the answer, or a Runnable
            that is called with the state and returns the update, which is not verified.
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: As in `guard`.
        on_report: Called with the report of each call's last attempt.
        sinks: Where records go; one log line for each call by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of runs that are checked, from 0 to 1, chosen by a hash of the run's id;
            the others pass as they are. Only with "flag"; all of them by default.
        answer_key: The key of the update that holds the answer, if it is not a usual one.
        context_key: The key of the state that holds the documents, if it is not a usual one
            ("context", "source_documents", "documents", "docs").
        question_key: The key of the state that holds the question, if it is not a usual one.
        feedback_key: The key under which the node finds the feedback in its state, for a model
            that the guard cannot ask again by itself.
        stream: What the graph's streams of messages hold of an answer: the whole "answer", or,
            with "claims", each sentence, item or row until all of its claims are supported, as
            in `FaithfulnessMiddleware`. The first model that the node asks once there is
            evidence must be the one that writes the answer, and the answer its whole text.
        max_hold_chars: As in `guard`.
        max_hold_seconds: As in `FaithfulnessMiddleware`.

    Returns:
        What `add_node` takes: a function for a function, a Runnable for a Runnable.

    Raises:
        ConfigError: If a setting cannot be used, or the node is one that cannot be verified.
    """
    runs = isinstance(node, Runnable)
    chain = cast(Any, node) if runs else RunnableLambda(_checked(node))
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
    kind = cast(Any, Guarded if settings.hold is None else _ByClaim)
    safe: Guarded[Any, Any] = kind(
        chain,
        settings if runs else dataclasses.replace(settings, share=1.0),
        Keys(answer_key, context_key, question_key, feedback_key),
        _NodeCall,
    )
    return safe if isinstance(node, Runnable) else _as_function(node, safe, settings.share)


def _checked(node: object) -> Any:
    if not callable(node) or isinstance(node, type):
        raise ConfigError(
            f"`node` is of type {type(node).__name__}: pass a function from the state to an "
            "update, or a Runnable"
        )
    if inspect.isgeneratorfunction(node) or inspect.isasyncgenfunction(node):
        raise ConfigError("`node` is a generator: return the update as a whole")
    return node


def _as_function(
    node: Callable[..., Any], safe: Guarded[Any, Any], share: float
) -> Callable[..., Any]:
    """Return a function with the signature of the node's: LangGraph passes what that asks for."""

    def given(kwargs: dict[str, Any]) -> dict[str, Any]:
        # what is written to LangGraph's custom stream is not verified
        held = {"writer": nowhere, "runtime": silenced(kwargs.get("runtime"))}
        return {name: held.get(name, value) for name, value in kwargs.items()}

    @functools.wraps(node)
    def verified(state: Any, **kwargs: Any) -> Any:
        config = kwargs.pop("config", None)
        if not takes(share, run_of(config)):
            return safe.chain.invoke(state, config, **kwargs)
        return safe.invoke(state, config, **given(kwargs))

    @functools.wraps(node)
    async def averified(state: Any, **kwargs: Any) -> Any:
        config = kwargs.pop("config", None)
        if not takes(share, run_of(config)):
            return await safe.chain.ainvoke(state, config, **kwargs)
        return await safe.ainvoke(state, config, **given(kwargs))

    return averified if is_async_callable(node) else verified


class _ByClaim(Guarded[In, Out]):
    """A node whose answer is released claim by claim; its output is what was released."""

    def _run(
        self,
        input: In,
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        call = _NodeCall(self, input, run_manager.get_child(), config)
        flow = call.flow(self._settings, run_manager.get_child(), config, awaits=False)

        def run() -> Any:
            return call.outcome(self._inner, kwargs, flow.running(call.wrote))

        def say(fallback: Runnable[Any, Any]) -> Any:
            return call.instead(fallback, input)

        steps = self._steps(
            call, flow, _Acts(run, flow.settle, more_passages, say, flow.outlet.tell)
        )
        reply: Any = None
        while True:
            try:
                reply = steps.send(reply)
            except StopIteration as end:
                return end.value

    async def _arun(
        self,
        input: In,
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        call = _NodeCall(self, input, run_manager.get_child(), config)
        flow = call.flow(self._settings, run_manager.get_child(), config, awaits=True)

        async def run() -> Any:
            return await call.aoutcome(self._inner, kwargs, flow.running(call.wrote))

        async def say(fallback: Runnable[Any, Any]) -> Any:
            return await call.ainstead(fallback, input)

        acts = _Acts(run, flow.asettle, amore_passages, say, flow.outlet.atell)
        steps = self._steps(call, flow, acts)
        reply: Any = None
        while True:
            try:
                wanted = steps.send(reply)
            except StopIteration as end:
                return end.value
            reply = await wanted

    def _steps(self, call: _NodeCall, flow: Flow, acts: _Acts) -> Generator[Any, Any, Any]:
        """Yield what the acts return, and be sent it again, awaited if it is to be."""
        while True:
            output = yield acts.run()
            rest = call.left(flow, output)
            if rest is None:
                return output
            yield acts.settle(rest)
            if flow.feedback is not None:
                unsupported = flow.course.report.unsupported
                more = yield acts.more(self._settings.more_context, unsupported)
                call.again_by_claim(flow, flow.feedback, more)
                continue
            said: Any = self.fallback if flow.course.blocked else None
            if isinstance(said, Runnable):
                said = yield acts.say(cast(Any, said))
            output, last = call.released(flow, output, said)
            yield acts.tell(flow.last(last))
            return output


class _Acts(NamedTuple):
    """What a node does beside thinking, blocking or awaiting."""

    run: Callable[[], Any]
    """Runs the node."""
    settle: Callable[[str], Any]
    """Verifies and releases what is left of its answer."""
    more: Callable[..., Any]
    """Asks for more context."""
    say: Callable[[Runnable[Any, Any]], Any]
    """Calls a fallback."""
    tell: Callable[[Any], Any]
    """Tells the caller's streams."""


class _NodeCall(Call):
    """One call of a node: evidence stands in the state, too, and the output is an update."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._state = self._known = fields_of(self._given) or {}
        Notes(self._trace).take(self._state.get("messages"))
        self._trace.retrieved("", self._documents(self._state))

    def _documents(self, held: Mapping[Any, Any]) -> tuple[Passage, ...]:
        key = self._keys.context
        values = (held.get(name) for name in (CONTEXT_KEYS if key is None else (key,)))
        return tuple(p for value in values if value for p in passages_of(value))

    def exchange(self, output: Any) -> Exchange | None:
        """Return what to verify of an update; None if it holds no answer and needs none."""
        update = _update(output)
        if not update or self._only_asks(update):
            return None
        key = self._keys.context
        if key is not None and key not in self._state and key not in update:
            raise CaptureError(
                f"`context_key` is {key!r}, which neither the state nor the update has"
            )
        if not self._trace.fetched or (key is not None and key in update):
            self._trace.retrieved("", context_of(update, key))
        self._check_sends(output)
        return self._exchange(update)

    # -- an answer that is released claim by claim ----------------------------------------------

    def flow(
        self,
        settings: Settings,
        manager: BaseCallbackManager,
        config: RunnableConfig,
        *,
        awaits: bool,
    ) -> Flow:
        """Return the stream of the node's answer, which hears of the models in it."""
        unrecorded = dataclasses.replace(settings, outbox=Outbox([]))
        tell = functools.partial(self._guarded.tell, run=self.run)
        flow = Flow(unrecorded, self.exchange_so_far, Outlet(manager, []), config, tell)
        self._begin(flow)
        if flow.outlet.carries:
            heard(self.config, listener(flow, awaits=awaits))
        return flow

    def _begin(self, flow: Flow) -> None:
        # what is written before there is evidence is a query, or another tool's
        flow.begin(lambda messages: bool(self._trace.exchange("").passages), calls=True)

    def wrote(self, text: str) -> None:
        """Take what was written in a run that failed."""
        self._trace.wrote(text)

    def left(self, flow: Flow, output: Any) -> str | None:
        """Return what of the answer is still to be pushed; None if a node has none.

        Raises:
            CaptureError: If it has more than an answer.
        """
        exchange = self.exchange(output)
        if exchange is None:
            return None
        if exchange.answer != self.mends:
            raise CaptureError(
                "with stream='claims' only the answer is released, and a model of the node wrote "
                "something beside it (another text, or a call of a tool): leave `stream` out, so "
                "that all of it is held and verified"
            )
        return flow.left(self.mends)

    def again_by_claim(self, flow: Flow, feedback: str, passages: tuple[Passage, ...]) -> None:
        """Prepare the next attempt."""
        self.again_stream(feedback, passages, flow.course.report)
        self._begin(flow)

    def released(self, flow: Flow, output: Any, said: Any) -> tuple[Any, BaseMessage]:
        """Return the update with what was released, and the message that ends the stream.

        Args:
            flow: The stream.
            output: What the node returned.
            said: The fallback, if the answer is blocked and there is one.

        Raises:
            UnfaithfulAnswerError: If the answer is blocked and there is no fallback.
        """
        course = flow.course
        self._guarded.tell(course.record, self.run)
        course.raise_if_blocked()
        text = course.text
        if course.blocked:
            told = said if isinstance(said, str) else answer_of(_update(said), self._keys.answer)
            text = f"{text}\n\n{told or ''}" if text.strip() else told or ""
        if course.blocked and not isinstance(said, str) and not course.text.strip():
            output = said
        elif text != self.answer:
            output = self._replaced(output, text)
        output = self._marked(output, course.record)
        update = _update(output)
        messages = update.get("messages")
        if not (new := _messages(update)) or not isinstance(new[-1], AIMessage):
            note = {"faithguard": note_of(course.record)}
            return output, AIMessage(text, id=flow.outlet.id, response_metadata=note)
        last = flow.known(new[-1])
        if last is not new[-1]:
            held = cast("list[Any]", messages if isinstance(messages, list) else [])
            shown = [last if m is new[-1] else m for m in held] or last
            output = _with_update(output, {**update, "messages": shown})
        return output, last

    def _only_asks(self, update: Mapping[str, Any]) -> bool:
        """Whether an update is a model's wish to call tools, and says nothing beside it."""
        new = _messages(update)
        rest = {name: value for name, value in update.items() if name != "messages"}
        return (
            any(isinstance(m, AIMessage) for m in new)
            and answer_texts(new) is None
            and answer_of(rest, self._keys.answer) is None
            and not self._trace.quoted_in(" ".join(texts_in(rest)))
        )

    def _check_sends(self, output: Any) -> None:
        """Raise if a command hands another node something that nothing verifies."""
        goto = getattr(output, "goto", ())
        for target in cast("Sequence[Any]", goto if isinstance(goto, list | tuple) else [goto]):
            told = " ".join(texts_in(getattr(target, "arg", None)))
            if self._trace.quoted_in(told):
                raise CaptureError(
                    "the node sends another one a text that a model wrote and nothing has "
                    "verified: write it into the state, and send from the next node"
                )

    def _replaced(self, output: Any, text: str) -> Any:
        return _with_update(output, super()._replaced(_update(output), text))

    def _marked(self, output: Any, record: Record) -> Any:
        update = _update(output)
        messages = update.get("messages")
        if isinstance(messages, list):
            given = cast("list[Any]", self._state.get("messages") or [])
            new = [
                m if is_marked(m) or any(m is old for old in given) else marked(m, record)
                for m in cast("list[Any]", messages)
            ]
        else:
            new = messages if is_marked(messages) else marked(messages, record)
        return output if new is None else _with_update(output, {**update, "messages": new})


def _messages(update: Mapping[str, Any]) -> list[BaseMessage]:
    value = update.get("messages")
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    return [m for m in items if isinstance(m, BaseMessage)]


def _update(output: Any) -> Any:
    """Return what an output writes into the state."""
    if type(output).__name__ == "Command":
        output = output.update
    if output is None or isinstance(output, Mapping):
        return cast("Mapping[str, Any]", output or {})
    if (fields := fields_of(output)) is not None and not isinstance(output, BaseMessage):
        return {name: value for name, value in fields.items() if value is not None}
    raise CaptureError(
        f"a node that returns a {type(output).__name__} cannot be verified: return a dict, or a "
        "Command whose update is one"
    )


def _with_update(output: Any, update: Mapping[str, Any]) -> Any:
    if type(output).__name__ == "Command":
        return dataclasses.replace(output, update=update)
    return update
