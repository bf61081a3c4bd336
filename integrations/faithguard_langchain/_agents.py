"""The middleware: an agent of `langchain.agents.create_agent` whose answers are verified.

In: the calls that an agent makes to its model. Out: the same, but for the one that ends a turn:
it reaches the state, the checkpointer and the streams only once its claims are verified. The
model is called in a run of the middleware's, from which nothing reaches the caller.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NotRequired, TypedDict, cast, get_type_hints

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    PrivateStateAttr,
    ToolCallRequest,
)
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    set_config_context,
)
from langchain_core.runnables.utils import coro_with_context
from langgraph.channels import UntrackedValue
from langgraph.runtime import Runtime
from langgraph.types import Command

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
from faithguard_langchain._agent_streams import Flow, Outlet, asks, listener
from faithguard_langchain._call import is_marked, marked
from faithguard_langchain._isolation import Caught, GuardCapture, detached, heard, silenced
from faithguard_langchain._refuse import refuse_handlers
from faithguard_langchain._tools import ToolRun, messages_of
from faithguard_langchain._turn import Handle, Turn, answer_texts, answered_in, turn_id
from faithguard_langchain._values import answer_of, fields_of, text_of

__all__ = ["FaithfulnessMiddleware"]

Request = ModelRequest[Any]
Response = ModelResponse[Any]
Texts = Sequence[str]
Messages = Sequence[BaseMessage]
Judged = tuple[Record | None, str | None]
_Update = dict[str, Any] | None


_MOST_UNREAD = 10
"""Structured responses in one hop that may not fit their schema; the agent's loop has no end."""


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
        hop = _Hop(self, request)
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
        hop = _Hop(self, request)
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
        step = settled(course, self._settings.scorer, exchange, answer=_mendable(texts, whole))
        return self._ended(turn, step, texts, self._instead(step.action == "block", messages))

    async def _ajudged(self, turn: Turn, texts: Texts, whole: str, messages: Messages) -> Judged:
        """Do the same, awaiting."""
        if not texts:
            return None, None
        course, exchange = turn.course(may_ask=False), turn.exchange(texts)
        step = await asettled(
            course, self._settings.scorer, exchange, answer=_mendable(texts, whole)
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

    def _flow(self, hop: _Hop, manager: BaseCallbackManager, given: RunnableConfig) -> Flow | None:
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


class _Hop:
    """One call of the agent to its model, without I/O.

    Attributes:
        turn: What it belongs to.
        request: What to call the model with; it grows when the model is asked again.
        response: The model's last response.
    """

    response: Response

    def __init__(self, guard: FaithfulnessMiddleware, request: Request) -> None:
        refuse_handlers(request.model)
        self._guard = guard
        self._handle = guard.turn_of(request.state)
        self.turn = self._handle.turn
        self.turn.note(fields_of(request.state) or {}, request.messages)
        # what a middleware writes to LangGraph's custom stream is not verified either
        self.request = replace(request, runtime=silenced(request.runtime))
        self._unread = 0

    def apart(self, manager: BaseCallbackManager, config: RunnableConfig) -> RunnableConfig:
        """Return the config of the model's run, from which nothing reaches the caller."""
        return heard(detached(manager, config), GuardCapture(self.turn.trace))

    @property
    def caught(self) -> Caught:
        """A context for the model's run."""
        return Caught(self.turn.trace)

    def unreadable(self) -> bool:
        """Say whether a structured response could not be read, and have it written again.

        The agent would do so, too, but keep it in its state, where nothing has verified it.
        """
        held = self.response.result
        calls = {c["id"] for m in held if isinstance(m, AIMessage) for c in m.tool_calls}
        answered = answered_in(held)
        if self.response.structured_response is not None or not answered or calls != answered:
            return False
        self._unread += 1
        if self._unread > _MOST_UNREAD:
            raise CaptureError(
                f"the model's structured response does not fit its schema, {_MOST_UNREAD} times"
            )
        messages: list[Any] = [*self.request.messages, *held]
        self.request = self.request.override(messages=messages)
        return True

    def texts(self) -> list[str] | None:
        """Return what of the response is to be verified; None if nothing is."""
        result = self.response.result
        if any(_is_fallback(message) for message in result):
            return None  # another guard's, which no model wrote
        structured = self.response.structured_response
        request = self.request
        return answer_texts(result, structured, request.response_format, request.messages)

    def mendable(self, texts: Texts) -> str:
        """Return the text that another one can stand in for; none of a structured response's."""
        said = self.response.result[-1]
        return _mendable(texts, text_of(said)) if self.response.structured_response is None else ""

    def again(self, texts: Texts, told: str) -> None:
        """Prepare the next call: with what the model said, and what it is told of that."""
        said, back = AIMessage("\n\n".join(texts)), HumanMessage(told)
        self.request = self.request.override(messages=[*self.request.messages, said, back])

    def close(self, step: Step, instead: BaseMessage | None) -> ExtendedModelResponse[Any]:
        """Return what the agent gets: the response, or what stands in its place."""
        if step.answer is not None:
            instead = AIMessage(step.answer)
        if instead is not None:
            self.response = ModelResponse([instead])
        result = self.response.result
        record = self._guard.close(self.turn, step, "".join(text_of(m) for m in result))
        result = [m if _is_fallback(m) else marked(m, record) for m in result]
        self.response = replace(self.response, result=result)
        return self.passed()

    # -- an answer that is released claim by claim ----------------------------------------------

    def begin(self, flow: Flow) -> None:
        """Begin an attempt of a stream."""
        rules = [] if self.request.system_message is None else [self.request.system_message]
        prompt = [*rules, *self.request.messages]
        flow.begin(partial(asks, prompt), calls=bool(self.request.tools))

    @contextmanager
    def running(self, flow: Flow | None) -> Generator[None]:
        """Be there while the model runs, which may be stopped without a response."""
        self.response = ModelResponse([])
        with nullcontext() if flow is None else flow.running(self.turn.trace.wrote):
            yield

    def left(self, flow: Flow, texts: Texts | None) -> str | None:
        """Return what of the answer is still to be pushed; None if it does not go by claim."""
        if texts is None and self.response.result:
            return None
        return flow.left((self.mendable(texts) if texts else "") or None)

    def released(self, flow: Flow, instead: BaseMessage | None) -> BaseMessage:
        """Take what was released, and what stands in the place of the rest, as the response.

        Raises:
            UnfaithfulAnswerError: If the answer is blocked and there is no fallback.
        """
        course, result = flow.course, self.response.result
        if not course.blocked:
            result = [*result[:-1], flow.message(result[-1])]
        elif instead is not None:
            result = [flow.instead(instead)]
        self.turn.delivered = "".join(text_of(m) for m in result)
        self._guard.tell(course.record)
        course.raise_if_blocked()
        result = [m if _is_fallback(m) else marked(m, course.record) for m in result]
        self.response = ModelResponse(result)
        return result[-1]

    def shown(self, flow: Flow) -> BaseMessage:
        """Return the message that is no answer, as the caller's streams know it."""
        *before, last = self.response.result
        self.response = replace(self.response, result=[*before, flow.known(last)])
        return self.response.result[-1]

    def passed(self) -> ExtendedModelResponse[Any]:
        """Return the response, with the turn that it belongs to."""
        return ExtendedModelResponse(
            self.response, Command(update=self._guard.update(self._handle))
        )


def _mendable(texts: Texts, whole: str) -> str:
    """Return a text that is all there is to verify; nothing if there is more to it."""
    return whole if list(texts) == [whole] else ""


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


def _is_fallback(message: BaseMessage) -> bool:
    """Whether a guard nearer to the model has put a message in the place of an answer."""
    return is_marked(message) and message.response_metadata["faithguard"]["action"] == "block"


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
