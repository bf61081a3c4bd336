"""The middleware: an agent of `langchain.agents.create_agent` whose answers are verified.

In: the calls that an agent makes to its model. Out: the same, but for the one that ends a turn:
it reaches the state, the checkpointer and the streams only once its claims are verified. The
model is called in a run of the middleware's, from which nothing reaches the caller.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, NotRequired, TypedDict, cast, get_type_hints

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    OmitFromInput,
    PrivateStateAttr,
    ToolCallRequest,
)
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    set_config_context,
)
from langchain_core.runnables.utils import coro_with_context
from langgraph.channels import UntrackedValue
from langgraph.runtime import Runtime

from faithguard import (
    CaptureError,
    ConfigError,
    Judge,
    Policy,
    Record,
    Report,
    Scorer,
    UnfaithfulAnswerError,
)
from faithguard.capture import new_id
from faithguard.guard import (
    MoreContext,
    OnFail,
    Settings,
    Step,
    Stream,
    amore_passages,
    asettled,
    more_passages,
    note_of,
    settled,
)
from faithguard.sampling import takes
from faithguard.sinks import AnySink
from faithguard.watch import Outbox
from faithguard_langchain._agent_streams import Flow, Outlet, listener
from faithguard_langchain._call import is_marked, marked
from faithguard_langchain._hops import Hop, Request, Response, Texts, mendable
from faithguard_langchain._isolation import detached, heard
from faithguard_langchain._tools import ToolRun, messages_of
from faithguard_langchain._turn import Handle, Turn, turn_id
from faithguard_langchain._values import answer_of, fields_of, text_of

__all__ = ["FaithfulnessMiddleware"]

Messages = Sequence[BaseMessage]
Judged = tuple[Record | None, str | None]
_Update = dict[str, Any] | None


class _State(AgentState[Any]):
    """What the middleware adds to the state of an agent."""

    faithguard: NotRequired[Annotated[Any, OmitFromInput]]


class FaithfulnessMiddleware(AgentMiddleware[Any, Any, Any]):
    """Let an agent's answer through only once its claims are verified.

        agent = create_agent(
            model, tools, middleware=[FaithfulnessMiddleware(domain="support", fallback="...")]
        )

    Evidence is what tools and retrievers brought and the model is shown, in this turn or from an
    earlier one, where the agent keeps its messages. Only answers
    are verified; a model's wish to call tools goes on as it is. An answer that does not pass
    never reaches the state, a checkpoint, a stream or the next turn; no more does the feedback
    that a model gets. Of a structured response every field is verified: texts, and numbers and
    truth values with their names ("dose mg: 500"), but for marks from 0 to 100 that a model gives
    its own answer (`confidence`, `score`, `probability`, `rating`), whether there is one
    (`answer_found`), where it stands (`page`, `citations`), ids that it was given, and what the
    schema lists. The decision is in the state, under `faithguard`, and in the
    `response_metadata["faithguard"]` of the message.

    What a model writes beside a wish to call tools, and what is written inside a tool that does
    not end the turn, is shown as LangGraph shows it; neither is an answer.

    It works before and after other middleware; listed first, it sees what the others make of
    the model's answers. One instance serves any number of runs, threads and tasks at once.

    Args:
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": ask the model again with
            the claims that failed, then block; "repair": correct or leave out the sentences,
            items or rows that failed, verify again, else block (so is a structured response);
            "flag": deliver, with the decision. The policy's, which is "block" unless it says
            otherwise, if it is not given.
        fallback: What a blocked caller gets: a text, or a Runnable that is called with the
            messages of the turn and returns a text or a message; its output is not verified.
            There is no structured response then. Not with "flag".
        max_attempts: Answers to have written at most in a turn, 2 by default; only with
            "regenerate".
        more_context: Called with the claims that failed before the model is asked again; what it
            returns (strings, Documents, Passages; a coroutine function for asynchronous calls)
            is sent along and is evidence. Only with "regenerate".
        on_report: Called with the report of each answer's last attempt.
        sinks: Where records go; one log line for each answer by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of turns that are checked, from 0 to 1, chosen by a hash of the turn's id;
            the others pass as they are. Only with "flag"; all of them by default.
        stream: What the caller's streams of messages hold of an answer: the whole "answer", or,
            with "claims", each sentence, item or row until all of its claims are supported. One
            that is not ends the answer with the fallback, or is repaired or left out with
            "repair"; "regenerate" works until something was released; not with "flag". However
            the agent is called, its state gets what is released. A structured response is held
            whole. A model with tools is stopped by no block: it may want to call one.
        max_hold_chars: With "claims": characters without the end of a sentence, item or row
            that are held; more block the answer unless the policy fails open. 4000 by default.
        max_hold_seconds: With "claims": seconds to wait for that end, 60 by default; looked at
            when the model writes on.
        name: Tells two in one agent apart; made of domain and `on_fail` by default.

    Raises:
        ConfigError: If a setting cannot be used; in a call, if the model brings a handler along
            that gets tokens before they are verified.
    """

    def __init__(
        self,
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
        stream: Stream = "answer",
        max_hold_chars: int | None = None,
        max_hold_seconds: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._settings = Settings.of(
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
        # what is said beside a wish to call tools is streamed as well, and is nothing to record
        self._unrecorded = replace(self._settings, outbox=Outbox([]))
        self.policy = self._settings.policy
        self.max_attempts = self._settings.max_attempts
        self.fallback: str | Runnable[Any, Any] | None = fallback
        self.tools = []
        self._name = _checked_name(name, self.policy)
        self._key = f"{self._name}.turn"
        # held by the run, and gone with it: never checkpointed, never in its output
        handle = Annotated[str, UntrackedValue, PrivateStateAttr]
        self.state_schema = _with_key(self._key, handle)

    @property
    def name(self) -> str:
        """What tells it apart in an agent; LangGraph's nodes are named after it."""
        return self._name

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until all records are in the sinks; return whether it was in time (seconds)."""
        return self._settings.outbox.queue.wait(timeout)

    # -- the drivers of a `Turn` --------------------------------------------------------------

    def wrap_model_call(
        self, request: Request, handler: Callable[[Request], Response]
    ) -> Response | ExtendedModelResponse[Any]:
        """Call the model; verify what it says if that is an answer."""
        if not self._checks(request.state):
            return handler(request)
        given = ensure_config()
        manager = get_callback_manager_for_config(given)
        hop = Hop(self, request)
        apart = hop.apart(manager, given)
        if (flow := self._flow(hop, manager, given)) is not None and flow.outlet.carries:
            heard(apart, listener(flow, awaits=False))
        while True:
            with hop.caught as caught, hop.running(flow), set_config_context(apart) as context:
                hop.response = context.run(handler, hop.request)
            caught.check()
            if hop.unreadable():
                continue
            texts = hop.texts()
            if flow is not None and (rest := hop.left(flow, texts)) is not None:
                flow.settle(rest)
                if flow.feedback is not None:
                    report = flow.course.report
                    more = more_passages(self._settings.more_context, report.unsupported)
                    hop.again([report.exchange.answer], hop.turn.again(flow.feedback, more))
                    hop.begin(flow)
                    continue
                instead = self._instead(flow.course.blocked, request.messages)
                message = hop.released(flow, instead)
                flow.outlet.tell(flow.last(message))
                return hop.passed()
            if texts is None:
                if flow is not None:
                    flow.outlet.tell(flow.last(hop.shown(flow)))
                return hop.passed()
            course, exchange = hop.turn.course(), hop.turn.exchange(texts)
            step = settled(course, self._settings.scorer, exchange, answer=hop.mendable(texts))
            if step.feedback is None:
                return hop.close(step, self._instead(step.action == "block", request.messages))
            more = more_passages(self._settings.more_context, course.report.unsupported)
            hop.again(texts, hop.turn.again(step.feedback, more))

    async def awrap_model_call(
        self, request: Request, handler: Callable[[Request], Awaitable[Response]]
    ) -> Response | ExtendedModelResponse[Any]:
        """Do the same, awaiting."""
        if not self._checks(request.state):
            return await handler(request)
        given = ensure_config()
        manager = get_async_callback_manager_for_config(given)
        hop = Hop(self, request)
        apart = hop.apart(manager, given)
        if (flow := self._flow(hop, manager, given)) is not None and flow.outlet.carries:
            heard(apart, listener(flow, awaits=True))
        while True:
            with hop.caught as caught, hop.running(flow), set_config_context(apart) as context:
                hop.response = await coro_with_context(_awaited(handler, hop.request), context)
            caught.check()
            if hop.unreadable():
                continue
            texts = hop.texts()
            if flow is not None and (rest := hop.left(flow, texts)) is not None:
                await flow.asettle(rest)
                if flow.feedback is not None:
                    report = flow.course.report
                    more = await amore_passages(self._settings.more_context, report.unsupported)
                    hop.again([report.exchange.answer], hop.turn.again(flow.feedback, more))
                    hop.begin(flow)
                    continue
                instead = await self._ainstead(flow.course.blocked, request.messages)
                message = hop.released(flow, instead)
                await flow.outlet.atell(flow.last(message))
                return hop.passed()
            if texts is None:
                if flow is not None:
                    await flow.outlet.atell(flow.last(hop.shown(flow)))
                return hop.passed()
            course, exchange = hop.turn.course(), hop.turn.exchange(texts)
            step = await asettled(
                course, self._settings.scorer, exchange, answer=hop.mendable(texts)
            )
            if step.feedback is None:
                return hop.close(
                    step, await self._ainstead(step.action == "block", request.messages)
                )
            more = await amore_passages(self._settings.more_context, course.report.unsupported)
            hop.again(texts, hop.turn.again(step.feedback, more))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        """Run a tool; verify what a model wrote in it if that ends the turn."""
        if not self._checks(request.state):
            return handler(request)
        run = ToolRun(self.turn_of(request.state).turn, request)
        with run.caught as caught:
            run.result = handler(run.request)
        caught.check()
        return run.close(*self._judged(run.turn, run.texts(), run.text, messages_of(request.state)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Do the same, awaiting."""
        if not self._checks(request.state):
            return await handler(request)
        run = ToolRun(self.turn_of(request.state).turn, request)
        with run.caught as caught:
            run.result = await handler(run.request)
        caught.check()
        return run.close(
            *await self._ajudged(run.turn, run.texts(), run.text, messages_of(request.state))
        )

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> _Update:
        """Verify a last message that a model wrote and nothing has verified; note the decision."""
        if not self._checks(state):
            return None
        turn, messages = self.turn_of(state).turn, messages_of(state)
        texts, whole = _open_in(turn, messages[-1]), text_of(messages[-1])
        return _noted(messages[-1], *self._judged(turn, texts, whole, messages))

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> _Update:
        """Do the same, awaiting."""
        if not self._checks(state):
            return None
        turn, messages = self.turn_of(state).turn, messages_of(state)
        texts, whole = _open_in(turn, messages[-1]), text_of(messages[-1])
        return _noted(messages[-1], *await self._ajudged(turn, texts, whole, messages))

    def _checks(self, state: Any) -> bool:
        return takes(self._settings.share, turn_id(messages_of(state)))

    def _judged(self, turn: Turn, texts: Texts, whole: str, messages: Messages) -> Judged:
        """Return the record of texts that end a turn, and what stands in their place, if any."""
        if not texts:
            return None, None
        course, exchange = turn.course(may_ask=False), turn.exchange(texts)
        step = settled(course, self._settings.scorer, exchange, answer=mendable(texts, whole))
        return self._ended(turn, step, texts, self._instead(step.action == "block", messages))

    async def _ajudged(self, turn: Turn, texts: Texts, whole: str, messages: Messages) -> Judged:
        """Do the same, awaiting."""
        if not texts:
            return None, None
        course, exchange = turn.course(may_ask=False), turn.exchange(texts)
        step = await asettled(
            course, self._settings.scorer, exchange, answer=mendable(texts, whole)
        )
        return self._ended(
            turn, step, texts, await self._ainstead(step.action == "block", messages)
        )

    def _ended(self, turn: Turn, step: Step, texts: Texts, instead: BaseMessage | None) -> Judged:
        text = step.answer if instead is None else text_of(instead)
        return self.close(turn, step, "\n\n".join(texts) if text is None else text), text

    def _instead(self, blocked: bool, messages: Messages) -> BaseMessage | None:
        """Return what stands in the place of an answer that is held back, if anything does."""
        said: Any = self.fallback if blocked else None
        if isinstance(said, Runnable):
            given = ensure_config()
            plain = detached(get_callback_manager_for_config(given), given)
            with set_config_context(plain) as context:
                said = context.run(cast(Any, said).invoke, messages, plain)
        return _message(said)

    async def _ainstead(self, blocked: bool, messages: Messages) -> BaseMessage | None:
        """Do the same, awaiting."""
        said: Any = self.fallback if blocked else None
        if isinstance(said, Runnable):
            given = ensure_config()
            plain = detached(get_async_callback_manager_for_config(given), given)
            with set_config_context(plain) as context:
                said = await coro_with_context(cast(Any, said).ainvoke(messages, plain), context)
        return _message(said)

    # -- what a hop shares with the middleware ------------------------------------------------

    def _flow(self, hop: Hop, manager: BaseCallbackManager, given: RunnableConfig) -> Flow | None:
        """Return the stream of a hop whose answer is released claim by claim."""
        if self._settings.hold is None or hop.request.response_format is not None:
            return None
        outlet = Outlet(manager, hop.request.messages)
        flow = Flow(
            self._unrecorded, lambda text: hop.turn.exchange([text]), outlet, given, self.tell
        )
        hop.begin(flow)
        return flow

    def turn_of(self, state: Any) -> Handle:
        """Return the turn that a state's run is in, or a new one."""
        found = (fields_of(state) or {}).get(self._key)
        if isinstance(found, Handle):
            return found
        handle = Handle(new_id())
        handle.turn = Turn(self.policy, max_attempts=self.max_attempts)
        return handle

    def update(self, handle: Handle) -> dict[str, Any]:
        """Return what to write into the state, so that the next hop finds its turn."""
        return {self._key: handle}

    def close(self, turn: Turn, step: Step, delivered: str) -> Record:
        """Return the record of an answer, and tell of it.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        record = turn.close(delivered)
        self.tell(record)
        if step.action == "block" and self.fallback is None:
            raise UnfaithfulAnswerError(record.decision, record.report, record)
        return record

    def tell(self, record: Record) -> None:
        """Tell of an answer."""
        run = getattr(ensure_config().get("callbacks"), "parent_run_id", None)
        self._settings.outbox.tell(record, None if run is None else str(run))


def _open_in(turn: Turn, last: BaseMessage) -> Texts:
    """Return what is to be verified of a last message that no guard has marked."""
    return [] if is_marked(last) else turn.open_in(last)


def _noted(last: BaseMessage, record: Record | None, text: str | None) -> _Update:
    """Return what to write into the state at the end of a turn, if anything.

    Args:
        last: The turn's last message.
        record: Of its verification, if it had to be verified here.
        text: What stands in its place.
    """
    if record is None:
        return {"faithguard": last.response_metadata["faithguard"]} if is_marked(last) else None
    update: dict[str, Any] = {"faithguard": note_of(record)}
    if text is not None:
        gone = RemoveMessage(id=str(last.id))
        update["messages"] = [gone, marked(AIMessage(text), record)]
    return update


async def _awaited(handler: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    return await handler(request)


def _message(fallback: Any) -> BaseMessage | None:
    """Return a fallback as the message that ends the turn."""
    if fallback is None:
        return None
    if is_marked(fallback):
        return cast(BaseMessage, fallback)  # it is guarded itself, and says what is true of it
    text = answer_of(fallback)
    if text is None:
        raise CaptureError(
            f"the fallback returned a {type(fallback).__name__} without an answer: let it return "
            "a string or a message"
        )
    return AIMessage(text)


def _checked_name(given: str | None, policy: Policy) -> str:
    if given is None:
        return re.sub(r"[^\w-]+", "_", f"faithguard-{policy.domain}-{policy.on_fail}")
    if not given or set(given) & set("|:"):
        raise ConfigError(f"`name` is {given!r}: LangGraph names nodes so; use letters and dashes")
    return given


def _with_key(key: str, held: Any) -> Any:
    """Return a schema of the state with one more key."""
    hints = get_type_hints(_State, include_extras=True)
    return cast(Any, TypedDict)("FaithfulnessState", {**hints, key: held})
