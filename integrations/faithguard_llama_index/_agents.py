"""Agents and workflows of agents that let an answer through only once it is verified.

In: an agent, and settings. Out: one of the same kind. Only what ends a run is verified; calls of
tools go on. A step of the agent runs with a context that holds back what it writes, so that
memory, scratchpad, store and stream get an answer once it has passed, or what stands in its
place.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ResponseReasoningStep
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.agent.workflow.workflow_events import AgentOutput
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, TextBlock
from llama_index.core.tools import ToolOutput

from faithguard import ConfigError, Policy, Record, UnfaithfulAnswerError
from faithguard.guard import Course, Settings, Step, amore_passages, asettled, note_of, withheld
from faithguard_llama_index._again import TellingModel, told
from faithguard_llama_index._steps import Form, StreamedStep, thought_holds
from faithguard_llama_index._tap import attach, capturing
from faithguard_llama_index._turn import Handle, Held, Records, ToolRun, Turn

__all__ = ["guarded_agent", "is_agent"]

T = TypeVar("T")

_RECORDS: ContextVar[Records] = ContextVar("faithguard_llama_index_records")
"""Of the run in whose context the host takes its steps."""

_KEY = "faithguard"
"""Where the store of a run holds the handle of its turn, and an output the note of its decision."""

_HANDOFF = "handoff"
"""LlamaIndex's own tool; its text says why a model hands on, and is no evidence."""

_THOUGHT = "I can answer without using any more tools."
"""What a reasoning agent is to have thought before an answer that its model did not write."""


def is_agent(given: Any) -> bool:
    """Say whether something is an agent, or a workflow of agents, that can be guarded."""
    return isinstance(given, FunctionAgent | ReActAgent | AgentWorkflow)


def guarded_agent(agent: Any, settings: Settings) -> Any:
    """Return an agent of the same kind whose answers are verified.

    Raises:
        ConfigError: If it is guarded already, or makes something that is not held back.
    """
    if isinstance(agent, _GuardedRun):
        raise ConfigError(f"the {type(agent).__name__} is guarded already")
    if not is_agent(agent):
        raise ConfigError(
            f"a {type(agent).__name__} cannot be guarded: its answers are no text of a model's; "
            "guard a FunctionAgent, a ReActAgent or an AgentWorkflow of these"
        )
    if agent.output_cls is not None or agent.structured_output_fn is not None:
        raise ConfigError(
            f"the {type(agent).__name__} makes structured output of its memory in a call that no "
            "guard can hold: leave out `output_cls` and `structured_output_fn`, and make it of "
            "the verified answer"
        )
    attach()
    twin = copy.copy(agent)
    kind = cast(Any, type(agent))
    if isinstance(agent, AgentWorkflow):
        agents = agent.agents.items()
        twin.agents = {
            name: inner if isinstance(inner, _GuardedRun) else guarded_agent(inner, settings)
            for name, inner in agents
        }
        kind = _kind(kind, _GuardedRun)
    else:
        kind = _kind(kind, _GuardedAgent)
    object.__setattr__(twin, "__class__", kind)
    object.__setattr__(twin, "_faithguard", settings)
    twin.runtime.track_workflow(twin)
    return twin


@cache
def _kind(kind: Any, guarded: type) -> type:
    """Return the guarded kind of a kind of agent."""
    metaclass = cast("Callable[..., type]", type(kind))
    return metaclass(f"Guarded{kind.__name__}", (guarded, kind), {"__module__": __name__})


class _Settled(NamedTuple):
    """How one step of an agent ended."""

    output: Any
    held: Held
    record: Record | None = None
    """None if the step has no answer."""
    instead: str | None = None
    """What stands in the place of its answer."""


class _GuardedRun:
    """What guarded agents and guarded workflows of agents share: they run tools, and stop early."""

    _faithguard: Settings

    @property
    def policy(self) -> Policy:
        """What decides: its domain, thresholds and `on_fail`."""
        return self._faithguard.policy

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until all records are in the sinks; return whether it was in time (seconds)."""
        return self._faithguard.outbox.queue.wait(timeout)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Begin a run; what it decided is on record once its memory has the answer, or it is over.

        One that is cancelled in between is a stream whose reader left.
        """
        told = Records()
        context = copy_context()
        context.run(_RECORDS.set, told)
        handler = context.run(cast(Any, super()).run, *args, **kwargs)
        getattr(handler, "_result_task", handler).add_done_callback(told.over)
        return handler

    async def _init_context(self, ctx: Any, ev: Any) -> None:
        """Begin a run: its answer is judged by its own tools, and by what its models are shown."""
        await cast(Any, super())._init_context(ctx, ev)
        await ctx.store.set(_KEY, None)

    async def _call_tool(self, ctx: Any, tool: Any, tool_input: dict[str, Any]) -> Any:
        """Run a tool; verify what a model wrote in it if that is the answer of the run."""
        call = cast(Any, super())._call_tool
        if tool.metadata.name == _HANDOFF:
            return await call(ctx, tool, tool_input)
        turn = await _turn_of(ctx)
        if not self._faithguard.checks(turn.run):
            return await call(ctx, tool, tool_input)
        run = ToolRun(turn, tool, tool_input)
        with capturing(run.scope):
            result = await call(ctx, tool, tool_input)
        texts = run.texts(result) if tool.metadata.return_direct and not result.is_error else []
        run.note(result, await ctx.store.get("memory"))
        if not texts:
            return result
        settings = self._faithguard
        course = settings.course(may_ask=False)
        mendable = result.content if texts == [result.content] else ""
        exchange = turn.exchange("\n\n".join(texts))
        step = await asettled(course, settings.scorer, exchange, answer=mendable)
        _, text = await self._closed(ctx, turn, course, step)
        if text is None:
            return result
        return ToolOutput(
            blocks=[TextBlock(text=text)],
            tool_name=result.tool_name,
            raw_input=result.raw_input,
            raw_output=None,
        )

    async def _get_llm_response(self, ctx: Any, llm_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Have the model answer at the last, where the host stops a run early."""
        ask = cast(Any, super())._get_llm_response
        turn = await _turn_of(ctx)
        if not self._faithguard.checks(turn.run):
            return await ask(ctx, llm_input, *args, **kwargs)
        turn.recall(llm_input, await ctx.store.get("memory"))
        agent: Any = args[0] if isinstance(self, AgentWorkflow) else self
        settled = await self._settled(
            ctx,
            lambda held, turns: ask(held, told(llm_input, turns), *args, **kwargs),
            lambda response: response.message.content or "",
            _LAST,
            agent,
        )
        response = settled.output
        if settled.instead is not None:
            settled.held.instead(settled.instead, "")
            message = ChatMessage(role=MessageRole.ASSISTANT, content=settled.instead)
            response = ChatResponse(message=message)
        await settled.held.release()
        return response

    async def _generate_early_stopping_response(self, ctx: Any, *args: Any, **kwargs: Any) -> Any:
        stop = await cast(Any, super())._generate_early_stopping_response(ctx, *args, **kwargs)
        self._records.stored()
        _mark(stop.result, (await _turn_of(ctx)).note)
        return stop

    async def _settled(
        self,
        ctx: Any,
        ask: Callable[[Held, Sequence[tuple[str, str]]], Awaitable[Any]],
        read: Callable[[Any], str | None],
        form: Form,
        agent: Any,
    ) -> _Settled:
        """Ask the model until its answer passes, or no other attempt is left.

        Args:
            ctx: Of the run.
            ask: Asks, with what was written before and what is said of that.
            read: Returns the answer in an output; None if there is none.
            form: Of what its model writes.
            agent: The agent.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        settings, turn = self._faithguard, await _turn_of(ctx)
        if settings.hold is not None and agent.streaming:
            tell = self._records.take
            streamed = StreamedStep(settings, turn, ctx, agent.name, form, ask, read, tell)
            return await self._streamed(ctx, turn, streamed)
        turns: list[tuple[str, str]] = []
        while True:
            held = Held(ctx, again=bool(turns))
            output = fault = None
            try:
                output = await ask(held, turns)
            except BaseException as error:
                turn.trace.wrote(held.streamed)
                if (fault := withheld(error, turn.trace)) is None:
                    raise
            if output is None:  # raised here, where nothing of the error hangs on to it
                raise fault or AssertionError
            said = turn.wrote(output)
            if unread := getattr(output, "retry_messages", None):
                # the host would show it, and send the question twice
                turns.append((said, turn.unread(unread[-1].content or "")))
                continue
            if (text := read(output)) is None:
                return _Settled(output, held)
            course = turn.course(settings)
            step = await asettled(course, settings.scorer, turn.exchange(text), answer=text)
            if step.feedback is None:
                record, instead = await self._closed(ctx, turn, course, step)
                if instead is None and form.lead and settings.policy.on_fail != "flag":
                    stated = form.stated(said.rstrip().removesuffix(text.rstrip()))
                    instead = None if await thought_holds(settings, turn, stated) else text
                return _Settled(output, held, record, instead)
            more = await amore_passages(settings.more_context, course.report.unsupported)
            turns.append((said, turn.again(step.feedback, more)))

    async def _streamed(self, ctx: Any, turn: Turn, step: StreamedStep) -> _Settled:
        """Take a step whose answer comes out claim by claim.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        record = await step.settle()
        if record is None:
            return _Settled(step.output, step.held)
        turn.note = note_of(record)
        if record.decision.action == "block" and self._faithguard.fallback is None:
            self._records.stored()
            await self._forget(ctx)
            if seen := step.seen.strip():
                memory = await ctx.store.get("memory")
                await memory.aput(ChatMessage(role=MessageRole.ASSISTANT, content=seen))
            step.raise_if_blocked()
        return _Settled(step.output, step.held, record, step.instead)

    @property
    def _records(self) -> Records:
        """What is told of the records of this run."""
        return _RECORDS.get(None) or Records(at_once=True)

    async def _forget(self, ctx: Any) -> None:
        """Drop what the host keeps of a run that fails: it would go into the next one."""
        for path in _kept_by(getattr(self, "agents", {"": self}).values()):
            await ctx.store.set(path, [])

    async def _closed(
        self, ctx: Any, turn: Turn, course: Course, step: Step
    ) -> tuple[Record, str | None]:
        """Return the record of an answer, and what stands in its place, if anything does.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        record = turn.close(course)
        turn.note = note_of(record)
        self._records.take(record, self._faithguard.outbox)
        if step.action != "block":
            return record, step.answer
        if self._faithguard.fallback is None:
            self._records.stored()
            await self._forget(ctx)
            raise UnfaithfulAnswerError(record.decision, record.report, record)
        return record, self._faithguard.fallback


class _GuardedAgent(_GuardedRun):
    """A guarded agent, alone or in a workflow."""

    async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> Any:
        """Take a step; if it is the last one, have its answer verified."""
        turn = await _turn_of(ctx)
        if not self._faithguard.checks(turn.run):
            return await cast(Any, super()).take_step(ctx, llm_input, tools, memory)
        turn.recall(llm_input, memory)

        def ask(held: Held, turns: Sequence[tuple[str, str]]) -> Awaitable[Any]:
            agent = _telling(self, turns) if turns else self
            step: Any = super(_GuardedAgent, agent)
            return cast("Awaitable[Any]", step.take_step(held, llm_input, tools, memory))

        agent: Any = self
        settled = await self._settled(
            ctx, ask, lambda output: _answer_in(self, output), _form_of(agent), agent
        )
        output, held = settled.output, settled.held
        if settled.instead is not None:
            output = await _instead(self, ctx, held, agent.name, settled.instead)
            delivers = settled.record is not None and settled.record.decision.action == "deliver"
            if delivers and agent.streaming:  # else all that the model wrote stands there
                output.raw = settled.output.raw
        await held.release()
        if settled.record is not None:
            _mark(output, note_of(settled.record))
        return output

    async def finalize(self, ctx: Any, output: Any, memory: Any) -> Any:
        """End a run; note the decision where the answer is a tool's."""
        output = await cast(Any, super()).finalize(ctx, output, memory)
        self._records.stored()
        _mark(output, (await _turn_of(ctx)).note)
        return output


def _mark(output: Any, note: dict[str, Any] | None) -> None:
    """Note a decision in an output."""
    if note is not None:
        output[_KEY] = dict(note)


async def _turn_of(ctx: Any) -> Turn:
    """Return the turn that a run is in, or a new one."""
    found = await ctx.store.get(_KEY, default=None)
    if isinstance(found, Handle):
        return found.turn
    turn = Turn(await ctx.store.get("user_msg_str", default=""))
    await ctx.store.set(_KEY, Handle.of(turn))
    return turn


def _kept_by(agents: Iterable[Any]) -> set[str]:
    """Return where agents keep in the store what they have done so far in a run."""
    return {"current_tool_calls", *(_pad_of(agent) for agent in agents)}


def _pad_of(agent: Any) -> str:
    key: str = agent.reasoning_key if isinstance(agent, ReActAgent) else agent.scratchpad_key
    return key


def _telling(agent: T, turns: Sequence[tuple[str, str]]) -> T:
    """Return an agent whose model is told what was written before, and what is said of that."""
    twin = copy.copy(agent)
    twin.__dict__["llm"] = TellingModel(cast(Any, agent).llm, turns)
    return twin


def _answer_in(agent: Any, output: AgentOutput) -> str | None:
    """Return the answer in the output of a step, as the agent will deliver it."""
    if output.tool_calls:
        return None
    texts = [block.text for block in output.response.blocks if isinstance(block, TextBlock)]
    if isinstance(agent, ReActAgent) and texts and "Answer:" in texts[0]:
        texts[0] = texts[0].partition("Answer:")[2].strip()
    return "\n".join(texts)


def _whole(text: str) -> str | None:
    return text


def _unknown(text: str) -> str | None:
    """What a parser of the user's own makes of a text is known at its end."""
    return None


def _thought(text: str) -> str:
    return text.replace("Thought:", " ").replace("Answer:", " ")


_PLAIN = Form(_whole)
_LAST = _PLAIN._replace(certain=True)
"""Of what a model answers to the request to come to an end."""


def _form_of(agent: Any) -> Form:
    """Return how an agent puts its answer into what its model writes."""
    if not isinstance(agent, ReActAgent):
        return _PLAIN
    known = type(agent.output_parser) is ReActOutputParser
    return Form(
        _reasoned_answer if known else _unknown,
        certain=True,
        lead=_last_step("").get_content(),
        stated=_thought,
    )


def _reasoned_answer(text: str) -> str | None:
    """Return the answer so far where a reasoning agent will take it for one, whatever follows."""
    before, found, answer = text.partition("Answer:")
    if not found or "Thought:" not in before or "Action:" in before:
        return None
    return answer.lstrip()


def _last_step(text: str) -> ResponseReasoningStep:
    """Return what a reasoning agent is to have thought and answered."""
    return ResponseReasoningStep(thought=_THOUGHT, response=text)


async def _instead(agent: Any, ctx: Any, held: Held, name: str, text: str) -> AgentOutput:
    """Let a text be what the agent said, to its store and to the stream; return the output."""
    said: Any
    if isinstance(agent, ReActAgent):
        said = _last_step(text)
        message = ChatMessage(role=MessageRole.ASSISTANT, content=said.get_content())
    else:
        said = message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    path = _pad_of(agent)
    await held.store.set(path, [*await ctx.store.get(path, default=[]), said])
    held.instead(message.content or "", name)
    return AgentOutput(response=message, current_agent_name=name)
