"""The guard for LlamaIndex's agents beyond leaks: what counts as evidence, what is handed on."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentStream,
    AgentWorkflow,
    CodeActAgent,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from pydantic import BaseModel

from faithguard import ConfigError, Record, UnfaithfulAnswerError
from faithguard_llama_index import guard
from faithguard_llama_index._turn import _FOUND
from faithguard_llama_index.testing import ScriptedLLM

from ..leaks.llama_agents import (
    POOL,
    CallingModel,
    ReasoningModel,
    ReasoningTalk,
    engine_tool,
    plain_tool,
    two_agents,
)
from ..leaks.llama_scene import Talk, written
from ..leaks.scene import (
    BAD,
    FALLBACK,
    GOOD,
    LIE,
    PASSAGES,
    QUESTION,
    TRUE,
    Script,
    faithful,
    improving,
    unfaithful,
)

# workflows look at pydantic's deprecated attributes, and leave a memory out of a state
pytestmark = pytest.mark.filterwarnings("ignore")

NOTE = {*"passed action level domain attempts score supported total reason".split()}


def calling(script: Script, tool: Any = None, **settings: Any) -> FunctionAgent:
    """Return a function-calling agent with one tool."""
    model = CallingModel(talk=Talk(script))
    return FunctionAgent(tools=[tool or plain_tool()], llm=model, **settings)


def reasoning(script: Script, tool: Any = None, **settings: Any) -> ReActAgent:
    """Return an agent that reasons in text, with one tool."""
    model = ReasoningModel(talk=ReasoningTalk(script))
    return ReActAgent(tools=[tool or plain_tool()], llm=model, **settings)


def handing_on(script: Script) -> AgentWorkflow:
    """Return a workflow of two agents."""
    workflow: AgentWorkflow = two_agents(script, True)[0]
    return workflow


KINDS: dict[str, Callable[[Script], Any]] = {
    "FunctionAgent": calling,
    "ReActAgent": reasoning,
    "AgentWorkflow": handing_on,
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


def guarded(agent: Any, **settings: Any) -> Any:
    """Return a guard that logs nothing."""
    return guard(agent, **{"sinks": [], **settings})


async def asking(agent: Any, events: list[Any] | None = None, **given: Any) -> AgentOutput:
    """Ask the question of the scene; collect the events."""
    handler = agent.run(user_msg=QUESTION, **given)
    async for event in handler.stream_events():
        if events is not None:
            events.append(event)
    output: AgentOutput = await handler
    return output


def ask(agent: Any, events: list[Any] | None = None, **given: Any) -> AgentOutput:
    """Do the same, blocking."""
    return asyncio.run(asking(agent, events, **given))


@kinds
def test_the_output_carries_the_note_of_the_decision(make: Callable[[Script], Any]) -> None:
    """An output says how it was decided on, delivered or not."""
    output = ask(guarded(make(faithful)))
    assert str(output) == GOOD
    assert output["faithguard"].keys() == NOTE
    assert output["faithguard"]["passed"]
    assert output["faithguard"]["action"] == "deliver"
    output = ask(guarded(make(unfaithful), fallback=FALLBACK))
    assert str(output) == FALLBACK
    assert output["faithguard"]["action"] == "block"
    assert output.raw is None


@kinds
def test_records_reach_the_sinks(make: Callable[[Script], Any]) -> None:
    """One record tells of all attempts, with the question and the evidence."""
    records: list[Record] = []
    safe = guarded(make(improving), on_fail="regenerate", sinks=[records.append])
    assert str(ask(safe)) == GOOD
    assert safe.wait()
    assert safe.policy.on_fail == "regenerate"
    assert len(records) == 1
    assert len(records[0].attempts) == 2
    assert records[0].exchange.started_at is not None
    assert records[0].exchange.question == QUESTION
    assert records[0].exchange.context_source == "retrieval"


@kinds
def test_the_stream_is_that_of_the_answer_that_passed(make: Callable[[Script], Any]) -> None:
    """Events come as without a guard; of an answer that failed there are none."""
    plain: list[Any] = []
    ask(make(faithful), plain)
    events: list[Any] = []
    ask(guarded(make(faithful)), events)
    assert list(map(type, events)) == list(map(type, plain))
    again: list[Any] = []
    ask(guarded(make(improving), on_fail="regenerate"), again)
    for some in (events, again):
        deltas = [event.delta for event in some if isinstance(event, AgentStream)]
        assert deltas == [event.delta for event in plain if isinstance(event, AgentStream)]


def test_a_run_that_is_blocked_leaves_nothing_for_the_next_one() -> None:
    """What the host keeps of a run that fails is cleared; the question stays."""

    async def played(safe: Any, ctx: Context) -> str:
        with pytest.raises(UnfaithfulAnswerError):
            await asking(safe, ctx=ctx)
        left = [await ctx.store.get(path) for path in ("scratchpad", "current_tool_calls")]
        assert left == [[], []]
        return written(await (await ctx.store.get("memory")).aget_all())

    safe = guarded(calling(unfaithful))
    kept = asyncio.run(played(safe, Context(safe)))
    assert QUESTION in kept
    assert LIE not in kept


@pytest.mark.parametrize("shown", [True, False])
def test_what_an_earlier_run_found_is_evidence_while_the_model_is_shown_it(shown: bool) -> None:
    """A follow-up may rest on it; what no message shows is forgotten, and so is a memory's."""

    class Once:
        """A tool that finds something only the first time."""

        def __init__(self) -> None:
            self.asked = 0

        def __call__(self, input: str) -> str:
            """Find the rules of the pool."""
            self.asked += 1
            return "\n".join(PASSAGES) if self.asked == 1 else "Nothing found."

    async def played(safe: Any) -> None:
        memory = ChatMemoryBuffer.from_defaults(token_limit=10_000)
        assert str(await asking(safe, memory=memory)) == GOOD
        if not shown:
            memory.set([m for m in memory.get_all() if m.role != MessageRole.TOOL])
            with pytest.raises(UnfaithfulAnswerError):
                await asking(safe, memory=memory)
        else:
            assert str(await asking(safe, memory=memory)) == GOOD

    tool = FunctionTool.from_defaults(Once().__call__, name=POOL, description="Rules.")
    kept = len(_FOUND)
    asyncio.run(played(guarded(calling(faithful, tool))))
    gc.collect()
    assert len(_FOUND) <= kept


def test_a_tool_that_gives_back_what_it_was_handed_is_no_evidence() -> None:
    """A model cannot make evidence by handing its answer to a tool."""

    class Leading(CallingModel):
        """A model that hands its own statement to the tool."""

        def _say(self, messages: Any) -> Any:
            message = super()._say(messages)
            for call in message.additional_kwargs.get("calls", ()):
                call["tool_kwargs"] = {"input": BAD}
            return message

    def repeat(input: str) -> str:
        """Find the rules of the pool."""
        return input

    agent = FunctionAgent(
        tools=[FunctionTool.from_defaults(repeat, name=POOL)], llm=Leading(talk=Talk(unfaithful))
    )
    with pytest.raises(UnfaithfulAnswerError):
        ask(guarded(agent))


NOTES: dict[str, str] = {}


def write_note(text: str) -> str:
    """Write a note."""
    NOTES["note"] = text
    return "written"


def read_note() -> str:
    """Read the note."""
    return NOTES["note"]


def find(query: str, limit: int = 3) -> str:
    """Find pages."""
    return "\n".join(PASSAGES)


def fails(query: str) -> str:
    """Find nothing."""
    raise ValueError(f"no page: {PASSAGES[0]}")


Calls = list[tuple[str, dict[str, Any]]]


class Planned(CallingModel):
    """A model that makes calls one by one, and then talks."""

    plan: Calls

    def _say(self, messages: Any) -> Any:
        place = sum(message.role == MessageRole.TOOL for message in messages)
        if place == len(self.plan):
            return super()._say(messages)
        name, given = self.plan[place]
        one = {"tool_id": f"call-{place}", "tool_name": name, "tool_kwargs": given}
        return ChatMessage("", role=MessageRole.ASSISTANT, additional_kwargs={"calls": [one]})


def planned(kind: str, script: Script, calls: Calls) -> Any:
    """Return an agent that makes some calls, and then follows a script."""
    tools = [FunctionTool.from_defaults(one) for one in (write_note, read_note, find, fails)]
    if kind == "FunctionAgent":
        return FunctionAgent(tools=tools, llm=Planned(talk=Talk(script), plan=calls))
    steps = iter(
        f"Thought: I need a tool.\nAction: {name}\nAction Input: {json.dumps(given)}"
        for name, given in calls
    )
    said = f"Thought: I can answer.\nAnswer: {script('', False)}"
    return ReActAgent(tools=tools, llm=ScriptedLLM(reply=lambda _: next(steps, said)))


ECHOES: dict[str, Calls] = {
    "name": [(LIE, {"query": "x"})],
    "argument": [("find", {LIE: "x"})],
    "argument beside": [("find", {"query": "x", LIE: "x"})],
    "another tool": [("write_note", {"text": LIE}), ("read_note", {})],
    "another tool later": [
        ("write_note", {"text": f"Note. {LIE}"}),
        ("find", {"query": "x"}),
        ("read_note", {}),
    ],
}


@pytest.mark.parametrize("kind", ["FunctionAgent", "ReActAgent"])
@pytest.mark.parametrize("calls", ECHOES.values(), ids=ECHOES.keys())
def test_what_a_call_hands_over_is_no_evidence(kind: str, calls: Calls) -> None:
    """By whatever part of a call, and by whichever tool it comes back."""
    safe = guarded(planned(kind, lambda *_: LIE, calls), fallback=FALLBACK)
    assert str(ask(safe)) == FALLBACK


@pytest.mark.parametrize("kind", ["FunctionAgent", "ReActAgent"])
@pytest.mark.parametrize("query", ["single swim price adults", "6 euros", QUESTION])
def test_what_was_looked_for_and_found_is_evidence(kind: str, query: str) -> None:
    """A query shares words with what it finds; and a note of a page may be read again."""
    calls: Calls = [
        ("find", {"query": query, "limit": 6}),
        ("write_note", {"text": PASSAGES[1]}),
        ("read_note", {}),
    ]
    assert str(ask(guarded(planned(kind, lambda *_: GOOD, calls)))) == GOOD


@pytest.mark.parametrize("kind", ["FunctionAgent", "ReActAgent"])
def test_an_error_of_a_tool_is_no_evidence(kind: str) -> None:
    """Whatever it tells."""
    safe = guarded(planned(kind, lambda *_: TRUE, [("fails", {"query": "x"})]), fallback=FALLBACK)
    assert str(ask(safe)) == FALLBACK


def test_what_a_model_writes_inside_a_tool_is_no_evidence() -> None:
    """Of a tool with a model inside, only what was retrieved counts."""
    model = ScriptedLLM(reply=lambda messages: BAD)

    async def sum_up(input: str) -> str:
        """Find the rules of the pool."""
        return str(await model.acomplete(input))

    with pytest.raises(UnfaithfulAnswerError):
        ask(guarded(calling(unfaithful, FunctionTool.from_defaults(async_fn=sum_up, name=POOL))))
    # what the engine retrieved is, and what its model made of that is not
    tool = engine_tool(Talk(unfaithful))
    with pytest.raises(UnfaithfulAnswerError):
        ask(guarded(calling(unfaithful, tool)))
    records: list[Record] = []
    safe = guarded(calling(faithful, tool), sinks=[records.append])
    assert str(ask(safe)) == GOOD
    assert safe.wait()
    assert {passage.origin for passage in records[0].exchange.passages} == {"retriever"}


def test_a_tool_that_ends_the_run_and_holds_no_model_is_handed_on() -> None:
    """No model wrote it, so there is nothing to verify."""

    def price(input: str) -> str:
        """Find the rules of the pool."""
        return "A swim costs 6 euros."

    tool = FunctionTool.from_defaults(price, name=POOL, return_direct=True)
    output = ask(guarded(calling(unfaithful, tool)))
    assert str(output) == "A swim costs 6 euros."
    assert "faithguard" not in output


def test_what_the_host_cannot_read_is_asked_for_again_and_not_shown() -> None:
    """The host's own retry would show the text and send the question twice."""

    class Mumbling(ReasoningTalk):
        """A model whose first answer has no form."""

        def answer(self, messages: Any) -> str:
            if not self.prompts:
                self.prompts.append(written(messages))
                return f"Thought: {LIE}\nAction: \nAction Input: {{"
            return super().answer(messages)

    talk = Mumbling(faithful)
    agent = ReActAgent(tools=[plain_tool()], llm=ReasoningModel(talk=talk))
    events: list[Any] = []
    output = ask(guarded(agent), events)
    assert str(output) == GOOD
    assert not any(LIE in repr(event) for event in events)
    assert talk.prompts[1].count(QUESTION) == talk.prompts[0].count(QUESTION)


class Hasty(CallingModel):
    """A model that answers once the host asks for the last time."""

    def _say(self, messages: Any) -> Any:
        if messages[-1].role == MessageRole.SYSTEM:
            return ChatMessage(self.talk.say(written(messages)), role=MessageRole.ASSISTANT)
        return super()._say(messages)


@pytest.mark.parametrize("workflow", [False, True])
def test_an_early_stop_is_verified(workflow: bool) -> None:
    """The answer that the host asks for at the last is an answer like others."""

    def stopping(script: Script) -> Any:
        agent = FunctionAgent(tools=[plain_tool()], llm=Hasty(talk=Talk(script)))
        return AgentWorkflow(agents=[agent]) if workflow else agent

    given = {"max_iterations": 1, "early_stopping_method": "generate"}
    assert str(ask(stopping(unfaithful), **given)) == BAD
    with pytest.raises(UnfaithfulAnswerError):
        ask(guarded(stopping(unfaithful)), **given)
    events: list[Any] = []
    output = ask(guarded(stopping(unfaithful), fallback=FALLBACK), events, **given)
    assert str(output) == FALLBACK
    assert output["faithguard"]["action"] == "block"
    assert not any(LIE in repr(event) for event in events)


def test_more_context_is_evidence() -> None:
    """What is found for claims that failed counts from then on."""

    def found(claims: tuple[Any, ...]) -> list[str]:
        return list(PASSAGES)

    def nothing(input: str) -> str:
        """Find the rules of the pool."""
        return "Nothing found."

    tool = FunctionTool.from_defaults(nothing, name=POOL)
    safe = guarded(calling(faithful, tool), on_fail="regenerate", more_context=found)
    assert str(ask(safe)) == GOOD


def test_repair_keeps_what_passed_in_the_memory() -> None:
    """The memory of a reasoning agent holds the mended answer, in its form."""

    async def played(safe: Any) -> str:
        ctx = Context(safe)
        assert str(await asking(safe, ctx=ctx)) == TRUE
        return written(await (await ctx.store.get("memory")).aget_all())

    kept = asyncio.run(played(guarded(reasoning(unfaithful), on_fail="repair")))
    assert f"Answer: {TRUE}" in kept
    assert LIE not in kept


def test_what_cannot_be_guarded_is_refused() -> None:
    """The message names what is wrong."""

    class Times(BaseModel):
        """Something to make of an answer."""

        opens: str

    with pytest.raises(ConfigError, match="output_cls"):
        guarded(calling(faithful, output_cls=Times))
    with pytest.raises(ConfigError, match="guarded already"):
        guarded(guarded(calling(faithful)))
    with pytest.raises(ConfigError, match="CodeActAgent"):
        guarded(CodeActAgent(code_execute_fn=print, llm=ScriptedLLM(reply=lambda messages: GOOD)))
    with pytest.raises(ConfigError, match="fallback"):
        guarded(calling(faithful), fallback=calling(faithful))
    with pytest.raises(ConfigError, match="max_attempts"):
        guarded(calling(faithful), max_attempts=3)
