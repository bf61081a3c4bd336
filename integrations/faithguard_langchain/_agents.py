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
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    PrivateStateAttr,
    ToolCallRequest,
)
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    patch_config,
    set_config_context,
)
from langchain_core.runnables.utils import coro_with_context
from langchain_core.tools import BaseTool
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
from faithguard.guard import OnFail, Step, attempts, course_policy, note_of, withheld
from faithguard.scorer import chosen_scorer
from faithguard.sinks import AnySink
from faithguard.watch import Outbox
from faithguard_langchain._call import check_fallback, is_marked, marked
from faithguard_langchain._isolation import GuardCapture, detached, silenced
from faithguard_langchain._turn import WRITTEN, Handle, Turn, answer_texts, answered_in
from faithguard_langchain._values import answer_of, fields_of, text_of

__all__ = ["FaithfulnessMiddleware"]

Request = ModelRequest[Any]
Response = ModelResponse[Any]
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

    Evidence is what tools and retrievers brought in this turn and the model saw. Only answers
    are verified; a model's wish to call tools goes on as it is. An answer that does not pass
    never reaches the state, a checkpoint, a stream or the next turn; no more does the feedback
    that a model gets. The decision is in the state, under `faithguard`, and in the
    `response_metadata["faithguard"]` of the message.

    It works before and after other middleware; listed first, it sees what the others make of
    the model's answers. One instance serves any number of runs, threads and tasks at once.

    Args:
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": ask the model again with
            the claims that failed, then block; "flag": deliver, with the decision. The
            policy's, which is "block" unless it says otherwise, if it is not given.
        fallback: What a blocked caller gets: a text, or a Runnable that is called with the
            messages of the turn and returns a text or a message; its output is not verified.
            There is no structured response then. Not with "flag".
        max_attempts: Answers to have written at most in a turn, 2 by default; only with
            "regenerate".
        on_report: Called with the report of each answer's last attempt.
        sinks: Where records go; one log line for each answer by default.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        name: Tells two in one agent apart; made of domain and `on_fail` by default.

    Raises:
        ConfigError: If a setting cannot be used.
    """

    def __init__(
        self,
        *,
        domain: str | Policy | None = None,
        on_fail: OnFail | None = None,
        fallback: str | Runnable[Any, Any] | None = None,
        max_attempts: int | None = None,
        on_report: Callable[[Report], object] | None = None,
        sinks: Sequence[AnySink] | None = None,
        scorer: Scorer | None = None,
        judge: Judge | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.policy = course_policy(domain, on_fail)
        self.max_attempts = attempts(max_attempts, self.policy)
        check_fallback(fallback, self.policy)
        self.fallback = fallback
        self.tools = []
        self._name = _checked_name(name, self.policy)
        self._outbox = Outbox(sinks, on_report=on_report)
        self._scorer = chosen_scorer(scorer, judge)
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
        return self._outbox.queue.wait(timeout)

    # -- the model's calls: the drivers of a `Turn` -------------------------------------------

    def wrap_model_call(
        self, request: Request, handler: Callable[[Request], Response]
    ) -> ExtendedModelResponse[Any]:
        """Call the model; verify what it says if that is an answer."""
        given = ensure_config()
        call = _Call(self, request)
        apart = call.apart(get_callback_manager_for_config(given), given)
        while True:
            response = fault = None
            try:
                with set_config_context(apart) as context:
                    response = context.run(handler, call.request)
            except BaseException as error:
                if (fault := call.fault(error)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            response = cast(Response, response)
            if call.unreadable(response):
                continue
            if (texts := call.texts(response)) is None:
                return call.passed(response)
            step = call.settle(texts, self._scorer.score(call.turn.exchange(texts)))
            if step.action == "regenerate":
                continue
            said: Any = None
            if step.action == "block" and isinstance(self.fallback, Runnable):
                with set_config_context(call.plain) as context:
                    said = context.run(self.fallback.invoke, request.messages, call.plain)
            return call.close(step, response, said)

    async def awrap_model_call(
        self, request: Request, handler: Callable[[Request], Awaitable[Response]]
    ) -> ExtendedModelResponse[Any]:
        """Do the same, awaiting."""
        given = ensure_config()
        call = _Call(self, request)
        apart = call.apart(get_async_callback_manager_for_config(given), given)
        while True:
            response = fault = None
            try:
                with set_config_context(apart) as context:
                    response = await coro_with_context(_awaited(handler, call.request), context)
            except BaseException as error:
                if (fault := call.fault(error)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            response = cast(Response, response)
            if call.unreadable(response):
                continue
            if (texts := call.texts(response)) is None:
                return call.passed(response)
            step = call.settle(texts, await self._scorer.ascore(call.turn.exchange(texts)))
            if step.action == "regenerate":
                continue
            said: Any = None
            if step.action == "block" and isinstance(self.fallback, Runnable):
                with set_config_context(call.plain) as context:
                    answering = self.fallback.ainvoke(request.messages, call.plain)
                    said = await coro_with_context(answering, context)
            return call.close(step, response, said)

    # -- the tools' calls ----------------------------------------------------------------------

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        """Run a tool; verify what a model wrote in it if that ends the turn."""
        run = _ToolRun(self, request)
        fault: Exception | None = None
        result: Any = None
        try:
            result = handler(run.request)
        except BaseException as error:
            if (fault := run.fault(error)) is None:
                raise
        if fault is not None:
            raise fault
        if not (texts := run.texts(result)):
            return run.close(result)
        record, text = self._judged(run.turn, texts, run.state)
        return run.close(result, record, text)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Do the same, awaiting."""
        run = _ToolRun(self, request)
        fault: Exception | None = None
        result: Any = None
        try:
            result = await handler(run.request)
        except BaseException as error:
            if (fault := run.fault(error)) is None:
                raise
        if fault is not None:
            raise fault
        if not (texts := run.texts(result)):
            return run.close(result)
        record, text = await self._ajudged(run.turn, texts, run.state)
        return run.close(result, record, text)

    # -- the end of the turn: what did not come by the model's node -----------------------------

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> _Update:
        """Verify a last message that a model wrote and nothing has verified."""
        end = _End(self, state)
        if not end.texts:
            return end.update()
        return end.update(*self._judged(end.turn, end.texts, state))

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> _Update:
        """Do the same, awaiting."""
        end = _End(self, state)
        if not end.texts:
            return end.update()
        return end.update(*await self._ajudged(end.turn, end.texts, state))

    def _judged(self, turn: Turn, texts: Sequence[str], state: Any) -> tuple[Record, str | None]:
        """Return the record of a text that ends a turn, and what stands in its place, if any."""
        step = turn.settle(self._scorer.score(turn.exchange(texts)), may_ask=False)
        said: Any = self.fallback
        if step.action == "block" and isinstance(self.fallback, Runnable):
            given = ensure_config()
            plain = detached(get_callback_manager_for_config(given), given)
            with set_config_context(plain) as context:
                said = context.run(self.fallback.invoke, _messages_of(state), plain)
        return self._ended(turn, step, texts, said)

    async def _ajudged(
        self, turn: Turn, texts: Sequence[str], state: Any
    ) -> tuple[Record, str | None]:
        """Do the same, awaiting."""
        step = turn.settle(await self._scorer.ascore(turn.exchange(texts)), may_ask=False)
        said: Any = self.fallback
        if step.action == "block" and isinstance(self.fallback, Runnable):
            given = ensure_config()
            plain = detached(get_async_callback_manager_for_config(given), given)
            with set_config_context(plain) as context:
                answering = self.fallback.ainvoke(_messages_of(state), plain)
                said = await coro_with_context(answering, context)
        return self._ended(turn, step, texts, said)

    def _ended(
        self, turn: Turn, step: Step, texts: Sequence[str], said: Any
    ) -> tuple[Record, str | None]:
        blocked = step.action == "block"
        text = _message(said).text if blocked and said is not None else None
        record = turn.close("\n\n".join(texts) if text is None else str(text))
        self.tell(record)
        if blocked and text is None:
            raise UnfaithfulAnswerError(record.decision, record.report, record)
        return record, text

    # -- what the call shares with the middleware ---------------------------------------------

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

    def tell(self, record: Record) -> None:
        """Hand a record to the sinks and its report to `on_report`."""
        self._outbox.tell(record)


class _Call:
    """One hop of a turn, without I/O."""

    def __init__(self, guard: FaithfulnessMiddleware, request: Request) -> None:
        self._guard = guard
        self._handle = guard.turn_of(request.state)
        self.turn = self._handle.turn
        self.turn.note(fields_of(request.state) or {}, request.messages)
        # what a middleware writes to LangGraph's custom stream is not verified either
        self.request = replace(request, runtime=silenced(request.runtime))
        self.plain: RunnableConfig = {}
        self._unread = 0

    def apart(self, manager: Any, config: RunnableConfig) -> RunnableConfig:
        """Return the config of the model's run, from which nothing reaches the caller."""
        self.plain = detached(manager, config)
        inner = detached(manager, config)
        cast(Any, inner["callbacks"]).add_handler(GuardCapture(self.turn.trace), inherit=True)
        return inner

    def fault(self, error: BaseException) -> Exception | None:
        """Return what to raise instead of an error that carries what a model wrote."""
        return withheld(error, self.turn.trace)

    def unreadable(self, response: Response) -> bool:
        """Say whether a structured response could not be read, and have it written again.

        The agent would do so, too, but keep it in its state, where nothing has verified it.
        """
        held = response.result
        calls = {c["id"] for m in held if isinstance(m, AIMessage) for c in m.tool_calls}
        answered = answered_in(held)
        if response.structured_response is not None or not answered or calls != answered:
            return False
        self._unread += 1
        if self._unread > _MOST_UNREAD:
            raise CaptureError(
                f"the model's structured response does not fit its schema, {_MOST_UNREAD} times"
            )
        self.request = self.request.override(
            messages=[*self.request.messages, *cast("list[Any]", held)]
        )
        return True

    def texts(self, response: Response) -> list[str] | None:
        """Return what of a response is to be verified; None if nothing is."""
        if any(_is_fallback(message) for message in response.result):
            return None  # another guard's fallback, which no model wrote
        return answer_texts(
            response.result, response.structured_response, self.request.response_format
        )

    def passed(self, response: Response) -> ExtendedModelResponse[Any]:
        """Return a response that may go on, with the turn that it belongs to."""
        update = self._guard.update(self._handle)
        return ExtendedModelResponse(response, Command(update=update))

    def settle(self, texts: Sequence[str], report: Report) -> Step:
        """Take the report of an answer; prepare the next call if there is to be one."""
        step = self.turn.settle(report)
        if step.feedback is not None:
            said, told = AIMessage("\n\n".join(texts)), HumanMessage(step.feedback)
            self.request = self.request.override(messages=[*self.request.messages, said, told])
        return step

    def close(self, step: Step, response: Response, said: Any) -> ExtendedModelResponse[Any]:
        """Return what the agent gets.

        Args:
            step: What was decided.
            response: The model's.
            said: What a Runnable fallback returned.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        fallback = self._guard.fallback
        if step.action == "block" and fallback is not None:
            response = ModelResponse([_message(fallback if said is None else said)])
        record = self.turn.close("".join(m.text for m in response.result))
        self._guard.tell(record)
        if step.action == "block" and fallback is None:
            raise UnfaithfulAnswerError(record.decision, record.report, record)
        result = [
            message if _is_fallback(message) else marked(message, record)
            for message in response.result
        ]
        response = replace(response, result=result)
        return self.passed(response)


class _ToolRun:
    """One call of a tool, without I/O."""

    def __init__(self, guard: FaithfulnessMiddleware, request: ToolCallRequest) -> None:
        self.state = request.state
        self.turn = guard.turn_of(request.state).turn
        self._capture = GuardCapture(self.turn.trace)
        self._ends = request.tool is not None and request.tool.return_direct
        if request.tool is not None:
            tool = _Observed.of(request.tool, self._config)
            request = request.override(tool=tool)
        if self._ends:
            request = replace(request, runtime=silenced(request.runtime))
        self.request = request

    def _config(self, manager: BaseCallbackManager, config: RunnableConfig) -> RunnableConfig:
        """Return the config of the tool's run; nothing of one that ends the turn is shown."""
        inner = (
            detached(manager, config)
            if self._ends
            else patch_config(config, callbacks=manager.copy())
        )
        cast(Any, inner["callbacks"]).add_handler(self._capture, inherit=True)
        return inner

    def fault(self, error: BaseException) -> Exception | None:
        """Return what to raise instead of an error that carries what a model wrote."""
        return withheld(error, self.turn.trace) if self._ends else None

    def texts(self, result: Any) -> list[str]:
        """Return what of a result that ends the turn a model wrote."""
        if not self._ends:
            return []
        texts = [text_of(message) for message in _tool_messages(result)]
        if self._capture.models:
            return [text for text in texts if text.strip()]
        return [part for text in texts for part in self.turn.unverified(text)]

    def close(self, result: Any, record: Record | None = None, text: str | None = None) -> Any:
        """Return a result with what is known of it, and with another text if there is one."""
        if record is None and not self._capture.models:
            return result
        new = [self._known(message, record, text) for message in _tool_messages(result)]
        if isinstance(result, ToolMessage):
            return new[0]
        others = [m for m in _messages_of(result.update) if not isinstance(m, ToolMessage)]
        return replace(result, update={**result.update, "messages": [*others, *new]})

    def _known(self, message: ToolMessage, record: Record | None, text: str | None) -> ToolMessage:
        update: dict[str, Any] = {} if text is None else {"content": text, "artifact": None}
        if self._capture.models:
            update["response_metadata"] = {**message.response_metadata, WRITTEN: True}
        message = message.model_copy(update=update)
        return message if record is None else cast(ToolMessage, marked(message, record))


class _Observed(BaseTool):
    """A tool that runs with another config."""

    inner: BaseTool
    change: Callable[[BaseCallbackManager, RunnableConfig], RunnableConfig]

    @classmethod
    def of(cls, tool: BaseTool, change: Any) -> _Observed:
        """Return a tool that is called like another one."""
        same = ("name", "description", "args_schema", "return_direct", "response_format")
        return cls(inner=tool, change=change, **{name: getattr(tool, name) for name in same})

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the tool."""
        given = ensure_config(config)
        changed = self.change(get_callback_manager_for_config(given), given)
        return self.inner.invoke(input, changed, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do the same, awaiting."""
        given = ensure_config(config)
        changed = self.change(get_async_callback_manager_for_config(given), given)
        return await self.inner.ainvoke(input, changed, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner._run(*args, **kwargs)  # pyright: ignore[reportPrivateUsage]


class _End:
    """The end of a turn, without I/O."""

    def __init__(self, guard: FaithfulnessMiddleware, state: Any) -> None:
        self.turn = guard.turn_of(state).turn
        self._last = _messages_of(state)[-1]
        self._note = self._last.response_metadata.get("faithguard")
        self.texts = [] if self._note else self.turn.unverified(text_of(self._last))

    def update(self, record: Record | None = None, text: str | None = None) -> _Update:
        """Return what to write into the state, if anything."""
        if record is None:
            return {"faithguard": self._note} if self._note else None
        update: dict[str, Any] = {"faithguard": note_of(record)}
        if text is not None:
            gone = RemoveMessage(id=str(self._last.id))
            update["messages"] = [gone, marked(AIMessage(text), record)]
        return update


def _messages_of(state: Any) -> list[BaseMessage]:
    messages: Any = (fields_of(state) or {}).get("messages")
    return [m for m in cast("list[Any]", messages or []) if isinstance(m, BaseMessage)]


def _tool_messages(result: Any) -> list[ToolMessage]:
    """Return the messages of a tool's result, which may be a command."""
    if isinstance(result, ToolMessage):
        return [result]
    return [m for m in _messages_of(getattr(result, "update", None)) if isinstance(m, ToolMessage)]


async def _awaited(handler: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    return await handler(request)


def _message(fallback: Any) -> BaseMessage:
    """Return a fallback as the message that ends the turn."""
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
