"""Agents of LlamaIndex whose answers come out claim by claim: what comes when, what is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from pydantic import Field
from workflows.errors import WorkflowCancelledByUser

from faithguard import ConfigError, Record, UnfaithfulAnswerError
from faithguard_llama_index import guard

from ..leaks.llama_agents import (
    POOL,
    CallingModel,
    ReasoningModel,
    ReasoningTalk,
    plain_tool,
    two_agents,
)
from ..leaks.llama_engines import memory
from ..leaks.llama_scene import Talk, written
from ..leaks.outcomes import LIE_BETWEEN, lying_between, lying_first
from ..leaks.scene import (
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

PRICE = GOOD.removeprefix(TRUE)
THOUGHT = "Thought: I can answer.\nAnswer: "
"""What the reasoning model of the scene writes before its answer."""
PLAIN = "Thought: I can answer without using any more tools.\nAnswer: "
"""What stands in the place of a thought that does not hold."""
PATIENCE = 30.0


def calling(script: Script, **settings: Any) -> FunctionAgent:
    """Return a function-calling agent with one tool."""
    return FunctionAgent(tools=[plain_tool()], llm=CallingModel(talk=Talk(script)), **settings)


def reasoning(script: Script, **settings: Any) -> ReActAgent:
    """Return an agent that reasons in text, with one tool."""
    model = ReasoningModel(talk=ReasoningTalk(script))
    return ReActAgent(tools=[plain_tool()], llm=model, **settings)


def handing_on(script: Script) -> AgentWorkflow:
    """Return a workflow of two agents."""
    workflow: AgentWorkflow = two_agents(script, True)[0]
    return workflow


KINDS: dict[str, Callable[[Script], Any]] = {
    "FunctionAgent": calling,
    "ReActAgent": reasoning,
    "AgentWorkflow": handing_on,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def safe(agent: Any, **settings: Any) -> Any:
    """Return a guard by claim that logs nothing."""
    return guard(agent, **{"sinks": [], "stream": "claims", **settings})


class Run:
    """What came of one run: events, the output or the error, and what the memory holds."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.output: AgentOutput | None = None
        self.error: Exception | None = None
        self.memory: list[ChatMessage] = []
        self.state = ""

    @property
    def streams(self) -> list[AgentStream]:
        """What the model streamed, as the caller sees it."""
        return [event for event in self.events if isinstance(event, AgentStream)]

    @property
    def answer(self) -> list[str]:
        """The pieces of the answer: what came after the last call of a tool."""
        texts = [event.delta for event in self.streams]
        calls = [n for n, event in enumerate(self.streams) if event.tool_calls]
        texts = texts[calls[-1] + 1 :] if calls else texts
        begin = next((n for n, text in enumerate(texts) if "Answer: " in text), 0)
        return [text.rpartition("Answer: ")[2] for text in texts[begin:]]

    @property
    def streamed(self) -> str:
        """All of the text."""
        return "".join(event.delta for event in self.streams)

    @property
    def said(self) -> str:
        """What the memory holds as the last word."""
        last = str(self.memory[-1].content)
        return last.rpartition("Answer: ")[2]


async def running(agent: Any, question: str = QUESTION, **given: Any) -> Run:
    """Run an agent to its end."""
    run = Run()
    kept = given.setdefault("memory", memory())
    handler = agent.run(user_msg=question, **given)
    try:
        async for event in handler.stream_events():
            run.events.append(event)
        run.output = await handler
    except UnfaithfulAnswerError as error:
        run.error = error
    if hasattr(agent, "wait"):
        assert await asyncio.to_thread(agent.wait, PATIENCE)
    run.memory = await kept.aget_all()
    run.state = repr(handler.ctx.to_dict())
    return run


def play(agent: Any, **given: Any) -> Run:
    """Do the same, blocking."""
    return asyncio.run(running(agent, **given))


# -- what comes -------------------------------------------------------------------------------


@kinds
def test_what_holds_comes_piece_by_piece(kind: str) -> None:
    """Events, result and memory hold the answer; the result carries the note."""
    run = play(safe(KINDS[kind](faithful)))
    assert run.answer == [TRUE, PRICE]
    assert str(run.output) == run.said == GOOD
    assert run.output is not None
    assert run.output["faithguard"]["action"] == "deliver"
    assert run.streams[-1].response == (THOUGHT if kind == "ReActAgent" else "") + GOOD
    plain = play(KINDS[kind](faithful))
    assert run.streamed == plain.streamed
    assert [m.content for m in run.memory] == [m.content for m in plain.memory]


class Waiting(CallingModel):
    """A model that waits with the last piece of its answer."""

    go: Any = Field(default=None, exclude=True)
    ends: list[str] = Field(default_factory=list, exclude=True)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages in pieces, awaiting."""
        pieces = list(self.stream_chat(messages))

        async def stream() -> AsyncIterator[ChatResponse]:
            end = "closed"
            try:
                for number, piece in enumerate(pieces, start=1):
                    if number == len(pieces) > 1:
                        await asyncio.wait_for(self.go.wait(), PATIENCE)
                    yield piece
                end = "whole"
            finally:
                self.ends.append(end)

        return stream()


class WaitingToReason(ReasoningModel):
    """A reasoning model that waits with the last piece of its answer."""

    go: Any = Field(default=None, exclude=True)
    ends: list[str] = Field(default_factory=list, exclude=True)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages in pieces, awaiting."""
        text = self.talk.answer(messages)

        async def stream() -> AsyncIterator[ChatResponse]:
            end = "closed"
            try:
                for at in range(0, len(text), 7):
                    if at + 7 >= len(text) and "Answer:" in text:
                        await asyncio.wait_for(self.go.wait(), PATIENCE)
                    message = ChatMessage(text[: at + 7], role=MessageRole.ASSISTANT)
                    yield ChatResponse(message=message, delta=text[at : at + 7])
                end = "whole"
            finally:
                self.ends.append(end)

        return stream()


def waiting(kind: str, script: Script, go: asyncio.Event) -> tuple[Any, list[str]]:
    """Return an agent whose model waits, and how its streams ended."""
    model: Any
    if kind == "ReActAgent":
        model = WaitingToReason(talk=ReasoningTalk(script), go=go)
        return ReActAgent(tools=[plain_tool()], llm=model), model.ends
    model = Waiting(talk=Talk(script), go=go)
    agent = FunctionAgent(tools=[plain_tool()], llm=model)
    return AgentWorkflow(agents=[agent]) if kind == "AgentWorkflow" else agent, model.ends


@kinds
def test_a_sentence_is_out_before_the_model_has_ended(kind: str) -> None:
    """The model waits with the last piece until the first sentence is there."""

    async def played() -> tuple[list[str], str]:
        go = asyncio.Event()
        agent, _ = waiting(kind, faithful, go)
        handler = safe(agent).run(user_msg=QUESTION)
        got = []
        async for event in handler.stream_events():
            if isinstance(event, AgentStream) and TRUE in event.delta:
                go.set()
            if isinstance(event, AgentStream):
                got.append(event.delta)
        return got, str(await handler)

    got, answer = asyncio.run(played())
    assert got[-1] == PRICE
    assert answer == GOOD


@kinds
def test_runs_at_once_do_not_meet(kind: str) -> None:
    """Each run has its own evidence and its own answer."""
    good, bad = safe(KINDS[kind](faithful)), safe(KINDS[kind](unfaithful), fallback=FALLBACK)

    async def played() -> list[Run]:
        return await asyncio.gather(*(running(agent) for agent in (good, bad) * 3))

    runs = asyncio.run(played())
    assert [str(run.output) for run in runs] == [GOOD, f"{TRUE}\n\n{FALLBACK}"] * 3


def test_what_a_model_tells_beside_its_answer_comes_at_the_end() -> None:
    """What it thought, and what it used, once all of the answer has passed."""

    class Thinking(CallingModel):
        """A model that thinks before each piece."""

        def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
            for piece in super().stream_chat(messages, **kwargs):
                piece.additional_kwargs["thinking_delta"] = "Hm. "
                piece.raw = {"usage": len(messages)}
                yield piece

    def thinking(script: Script) -> FunctionAgent:
        return FunctionAgent(tools=[plain_tool()], llm=Thinking(talk=Talk(script)))

    run = play(safe(thinking(faithful)))
    assert run.answer == [TRUE, PRICE, ""]
    assert run.streams[-1].raw == {"usage": 3}
    assert set((run.streams[-1].thinking_delta or "").split()) == {"Hm."}
    run = play(safe(thinking(unfaithful), fallback=FALLBACK))
    assert run.answer == [TRUE, f"\n\n{FALLBACK}"]


def test_an_agent_that_does_not_stream_is_held_whole() -> None:
    """Its answer is decided on as with any other guard."""
    run = play(safe(calling(improving, streaming=False), on_fail="regenerate"))
    assert str(run.output) == GOOD
    assert run.streams == []
    with pytest.raises(ConfigError, match="would hold nothing"):
        safe(calling(faithful), on_fail="flag")


# -- what does not hold -----------------------------------------------------------------------


@kinds
def test_a_blocked_answer_ends_with_the_fallback(kind: str) -> None:
    """Stream, result, memory and record agree; the state holds nothing of what was held back."""
    records: list[Record] = []
    agent = safe(KINDS[kind](unfaithful), fallback=FALLBACK, sinks=[records.append])
    run = play(agent)
    assert run.answer == [TRUE, f"\n\n{FALLBACK}"]
    assert str(run.output) == run.said == f"{TRUE}\n\n{FALLBACK}"
    assert run.output is not None
    assert run.output["faithguard"]["action"] == "block"
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state}"
    assert agent.wait(PATIENCE)
    [record] = records
    assert (record.released, record.exchange.question) == (TRUE, QUESTION)
    assert record.exchange.answer.startswith(TRUE)
    assert record.report.unsupported[0].text == LIE


@kinds
def test_a_blocked_answer_raises_without_a_fallback(kind: str) -> None:
    """What was shown is in the memory, and nothing else of the run."""
    run = play(safe(KINDS[kind](unfaithful)))
    assert run.answer[0] == TRUE
    assert run.error is not None
    assert run.said == TRUE
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state} {run.error!r}"
    run = play(safe(KINDS[kind](lying_first)))
    assert run.error is not None
    assert TRUE not in repr(run.memory[1:][-1:])


@kinds
def test_a_sentence_is_left_out_and_the_answer_goes_on(kind: str) -> None:
    """Stream, result and memory hold the rest."""
    run = play(safe(KINDS[kind](lying_between), on_fail="repair"))
    assert run.answer == [TRUE, PRICE]
    assert str(run.output) == run.said == GOOD
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state}"


@kinds
def test_the_model_is_asked_again_before_anything_was_shown(kind: str) -> None:
    """Its second answer comes as if there had been no other."""
    run = play(safe(KINDS[kind](lying_first), on_fail="regenerate"))
    assert run.answer == [TRUE, PRICE]
    assert str(run.output) == run.said == GOOD
    assert run.output is not None
    assert run.output["faithguard"]["attempts"] == 2
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state}"
    run = play(safe(KINDS[kind](improving), on_fail="regenerate", fallback=FALLBACK))
    assert str(run.output) == f"{TRUE}\n\n{FALLBACK}"


@pytest.mark.parametrize("workflow", [False, True])
def test_an_early_stop_comes_out_claim_by_claim(workflow: bool) -> None:
    """The answer that the host asks for at the last is an answer like others."""

    class Hasty(CallingModel):
        """A model that answers once the host asks for the last time."""

        def _say(self, messages: Any) -> Any:
            if any(message.role == MessageRole.SYSTEM for message in messages):
                return ChatMessage(self.talk.say(written(messages)), role=MessageRole.ASSISTANT)
            return super()._say(messages)

    def stopping(script: Script) -> Any:
        agent = FunctionAgent(tools=[plain_tool()], llm=Hasty(talk=Talk(script)))
        return AgentWorkflow(agents=[agent]) if workflow else agent

    def found(claims: Any) -> Sequence[str]:
        return PASSAGES

    given: dict[str, Any] = {"max_iterations": 1, "early_stopping_method": "generate"}
    settings: dict[str, Any] = {"on_fail": "regenerate", "more_context": found}
    run = play(safe(stopping(faithful), **settings), **given)
    assert run.answer[-2:] == [TRUE, PRICE]
    assert str(run.output) == run.said == GOOD
    run = play(safe(stopping(lying_between), fallback=FALLBACK, **settings), **given)
    assert str(run.output) == run.said == f"{TRUE}\n\n{FALLBACK}"
    assert LIE not in f"{run.events!r} {run.memory!r}"


# -- steps that are no answers ----------------------------------------------------------------


class Chatty(CallingModel):
    """A model that says something before it calls its tool."""

    before: str
    calls: int = 1

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages in pieces."""
        called = sum(message.role == MessageRole.TOOL for message in messages)
        if called >= self.calls:
            # what was said on the way is not asked about
            yield from super().stream_chat(messages)
            return
        call = {"tool_id": str(called), "tool_name": POOL, "tool_kwargs": {"input": "the pool"}}
        for end in range(0, len(self.before), 7):
            message = ChatMessage(self.before[: end + 7], role=MessageRole.ASSISTANT)
            yield ChatResponse(message=message, delta=self.before[end : end + 7])
        whole = ChatMessage(
            self.before, role=MessageRole.ASSISTANT, additional_kwargs={"calls": [call]}
        )
        yield ChatResponse(message=whole, delta="")


@pytest.mark.parametrize("on_fail", ["block", "regenerate", "repair"])
@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize(
    "before",
    ["Let me look that up.", f"{LIE} I will look it up.", f"{TRUE} {LIE} And the price?", "Hm"],
)
def test_what_is_said_before_a_call_does_not_end_the_run(
    before: str, calls: int, on_fail: Any
) -> None:
    """It is no answer, as long as it does not turn out to be one; one record is made."""
    records: list[Record] = []
    model = Chatty(talk=Talk(faithful), before=before, calls=calls)
    agent = FunctionAgent(tools=[plain_tool()], llm=model)
    run = play(safe(agent, on_fail=on_fail, sinks=[records.append]))
    assert str(run.output) == GOOD
    assert run.answer == [TRUE, PRICE]
    assert run.streamed.count(before[:2]) >= calls
    if on_fail != "repair" or LIE not in before:
        assert run.streamed == before * calls + GOOD
    assert sum(bool(event.tool_calls) for event in run.streams) == calls
    [record] = records
    assert record.exchange.answer == GOOD
    assert [m.role.value for m in run.memory] == [
        "user",
        *["assistant", "tool"] * calls,
        "assistant",
    ]


def test_attempts_are_counted_over_the_whole_run() -> None:
    """A model that is asked again and calls a tool has used an attempt."""

    class Doubting(CallingModel):
        """A model that lies, is told so, calls its tool once more and lies again."""

        def _say(self, messages: Any) -> Any:
            told = "are not supported" in str(messages[-1].content)
            if told:
                messages = [ChatMessage(QUESTION, role=MessageRole.USER)]
            return super()._say(messages)

    talk = Talk(lambda question, feedback: f"{LIE} {TRUE}")
    agent = FunctionAgent(tools=[plain_tool()], llm=Doubting(talk=talk))
    run = play(safe(agent, on_fail="regenerate", max_attempts=2, fallback=FALLBACK))
    assert str(run.output) == FALLBACK
    # a call, a lie, a call again, and the last lie
    assert len(talk.prompts) == 4
    assert LIE not in f"{run.events!r} {run.memory!r}"


def test_what_the_host_cannot_read_is_asked_for_again_and_not_shown() -> None:
    """The host's own retry would show the text and send the question twice."""

    class Mumbling(ReasoningTalk):
        """A model whose first answer has no thought before it."""

        def answer(self, messages: Any) -> str:
            if not self.prompts:
                self.prompts.append(written(messages))
                return f"Answer: {LIE}"
            return super().answer(messages)

    talk = Mumbling(faithful)
    agent = ReActAgent(tools=[plain_tool()], llm=ReasoningModel(talk=talk))
    run = play(safe(agent))
    assert str(run.output) == run.said == GOOD
    assert LIE not in repr(run.events)
    assert talk.prompts[1].count(QUESTION) == talk.prompts[0].count(QUESTION)


# -- reasoning --------------------------------------------------------------------------------


class Musing(ReasoningTalk):
    """A reasoning model that thinks a lie before its answer, or answers without any form."""

    def __init__(self, script: Script, form: str) -> None:
        super().__init__(script)
        self._form = form

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Call the tool, or answer."""
        text = super().answer(messages)
        before, found, answer = text.partition("Answer: ")
        return self._form.format(answer) if found else before


MUSING = {
    "a lie before": (f"Thought: {LIE}\nAnswer:  {{}}\n", PLAIN),
    "what holds before": (f"Thought: {TRUE}\nAnswer:  {{}}\n", f"Thought: {TRUE}\nAnswer:  "),
    "no form": ("{}", ""),
    "an action behind": (f"Thought: {LIE} Answer: {{}} Action: none", PLAIN),
}


@pytest.mark.parametrize(("form", "lead"), MUSING.values(), ids=MUSING.keys())
def test_of_reasoning_only_what_holds_is_shown(form: str, lead: str) -> None:
    """What the model thought before its answer is shown and kept if it holds, too."""
    model = ReasoningModel(talk=Musing(faithful, form))
    agent = ReActAgent(tools=[plain_tool()], llm=model)
    run = play(safe(agent, on_fail="repair"))
    assert run.streams[-1].response.startswith(f"{lead}{GOOD}")
    assert run.streams[-1].response.removeprefix(lead).strip() == str(run.output) == run.said
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state}"
    model = ReasoningModel(talk=Musing(unfaithful, form))
    run = play(safe(ReActAgent(tools=[plain_tool()], llm=model), fallback=FALLBACK))
    assert str(run.output) == run.said == f"{TRUE}\n\n{FALLBACK}"
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state}"
    model = ReasoningModel(talk=Musing(lying_first, form))
    run = play(safe(ReActAgent(tools=[plain_tool()], llm=model), fallback=FALLBACK))
    assert run.streams[-1].response == f"{PLAIN}{FALLBACK}"
    assert LIE not in f"{run.events!r} {run.memory!r} {run.state}"


class Counting(ReasoningModel):
    """A reasoning model that tells at its end what it used."""

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        """Answer messages in pieces, awaiting."""
        pieces = await super().astream_chat(messages, **kwargs)

        async def counted() -> AsyncIterator[ChatResponse]:
            async for piece in pieces:
                piece.raw = {"usage": len(messages)}
                yield piece

        return counted()


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("stream", ["claims", "answer"])
def test_a_thought_that_does_not_hold_is_left_out(stream: str, streaming: bool) -> None:
    """However the guard holds; what stands in its place comes once, before the answer."""
    for thought, lead in ((LIE, PLAIN), (TRUE, f"Thought: {TRUE}\nAnswer: ")):
        model = Counting(talk=Musing(faithful, f"Thought: {thought}\nAnswer: {{}}"))
        agent = ReActAgent(tools=[plain_tool()], llm=model, streaming=streaming)
        run = play(safe(agent, stream=stream))
        assert LIE not in f"{run.events!r} {run.memory!r} {run.state} {run.output!r}"
        assert str(run.output) == run.said == GOOD
        if streaming:
            assert run.streamed.count(GOOD) == 1
            assert run.streamed.endswith(f"{lead}{GOOD}")
            assert run.streams[-1].response == f"{lead}{GOOD}"


def test_a_guard_that_only_flags_leaves_thoughts() -> None:
    """It changes nothing of what is delivered."""
    model = Counting(talk=Musing(faithful, f"Thought: {LIE}\nAnswer: {{}}"))
    agent = ReActAgent(tools=[plain_tool()], llm=model)
    run = play(safe(agent, stream="answer", on_fail="flag"))
    assert run.streamed.endswith(f"Thought: {LIE}\nAnswer: {GOOD}")


def test_what_a_parser_of_ones_own_reads_is_known_at_its_end() -> None:
    """Its answer is verified before anything is shown of it."""

    class Own(ReActOutputParser):
        """A parser with another word for an answer."""

        def parse(self, output: str, is_streaming: bool = False) -> Any:
            return super().parse(output.replace("Solution:", "Answer:"), is_streaming)

    model = ReasoningModel(talk=Musing(unfaithful, "Thought: yes. Solution: {}"))
    agent = ReActAgent(tools=[plain_tool()], llm=model, output_parser=Own())
    run = play(safe(agent, fallback=FALLBACK))
    assert LIE not in f"{run.events!r} {run.memory!r}"
    assert str(run.output).endswith(FALLBACK)


# -- what is closed ---------------------------------------------------------------------------


@kinds
def test_a_run_that_is_cancelled_leaves_nothing_running(kind: str) -> None:
    """The model's stream is closed, the memory holds no answer; what was shown is on record."""
    records: list[Record] = []

    async def played() -> tuple[list[str], list[ChatMessage]]:
        before = asyncio.all_tasks()
        agent, ends = waiting(kind, faithful, asyncio.Event())
        kept = memory()
        guarded = safe(agent, sinks=[records.append])
        handler = guarded.run(user_msg=QUESTION, memory=kept)
        async for event in handler.stream_events():
            if isinstance(event, AgentStream) and TRUE in event.delta:
                await handler.cancel_run()
                break
        with pytest.raises(WorkflowCancelledByUser):
            await handler
        for _ in range(500):
            if len(ends) == 2 and asyncio.all_tasks() <= before:
                break
            await asyncio.sleep(0.01)
        assert asyncio.all_tasks() <= before
        assert guarded.wait(PATIENCE)
        return ends, await kept.aget_all()

    ends, kept = asyncio.run(played())
    assert ends == ["whole", "closed"]
    assert [message.content for message in kept] == [QUESTION]
    [record] = records
    assert (record.exchange.answer, record.report.score) == (TRUE, 1.0)
    assert "its reader left before the end" in record.decision.reason


@pytest.mark.parametrize("stream", ["claims", "answer"])
@pytest.mark.parametrize("cancels", ["run", "handler"])
def test_an_answer_that_does_not_reach_the_memory_is_on_record_as_left(
    stream: str, cancels: str
) -> None:
    """Although all of it was written and holds: the run was cancelled before its end."""
    records: list[Record] = []

    class Late(ChatMemoryBuffer):
        """A memory that never gets done with an answer."""

        async def aput_messages(self, messages: list[ChatMessage]) -> None:
            await asyncio.Event().wait()

    async def played() -> None:
        guarded = safe(KINDS["FunctionAgent"](faithful), stream=stream, sinks=[records.append])
        handler = guarded.run(user_msg=QUESTION, memory=Late.from_defaults(token_limit=8_000))
        async for event in handler.stream_events():
            if isinstance(event, AgentOutput) and event.response.content == GOOD:
                break
        await asyncio.sleep(0)
        assert records == []
        if cancels == "run":
            await handler.cancel_run()
        else:
            handler.cancel()
        with pytest.raises((WorkflowCancelledByUser, asyncio.CancelledError)):
            await handler
        assert await asyncio.to_thread(guarded.wait, PATIENCE)

    asyncio.run(played())
    [record] = records
    assert (record.exchange.answer, record.report.score, record.decision.passed) == (GOOD, 1, True)
    assert record.decision.reason.endswith("; its reader left before the end")


def test_the_model_of_a_blocked_answer_is_closed_where_it_is_one_for_certain() -> None:
    """After "Answer:" no tool can be called any more; before, one could."""

    async def played(kind: str) -> list[str]:
        go = asyncio.Event()
        if kind != "ReActAgent":
            go.set()
        agent, ends = waiting(kind, lambda question, feedback: f"{LIE_BETWEEN} {TRUE}", go)
        handler = safe(agent, fallback=FALLBACK).run(user_msg=QUESTION)
        assert str(await handler) == f"{TRUE}\n\n{FALLBACK}"
        return ends

    assert asyncio.run(played("ReActAgent")) == ["whole", "closed"]
    assert asyncio.run(played("FunctionAgent")) == ["whole", "whole"]


def test_an_error_that_quotes_what_was_held_is_withheld() -> None:
    """What failed is said, but not what was written."""

    class Torn(CallingModel):
        """A model whose stream fails, and whose error quotes what it wrote."""

        def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
            for piece in super().stream_chat(messages, **kwargs):
                yield piece
                if "champagne" in str(piece.message.content):
                    raise RuntimeError(f"cannot go on after {piece.message.content}")

    agent = FunctionAgent(tools=[plain_tool()], llm=Torn(talk=Talk(unfaithful)))
    with pytest.raises(Exception, match="raised RuntimeError") as caught:
        play(safe(agent, fallback=FALLBACK))
    assert "champagne" not in repr(caught.value)


def test_a_second_run_goes_on_from_what_was_shown() -> None:
    """With one context and one memory the next prompt holds the fallback, and no lie."""
    model = CallingModel(talk=Talk(unfaithful))
    agent = safe(FunctionAgent(tools=[plain_tool()], llm=model), fallback=FALLBACK)

    async def played() -> None:
        ctx, kept = Context(agent), memory()
        await running(agent, ctx=ctx, memory=kept)
        await running(
            agent, "Are glass bottles allowed at the Lindholm pool?", ctx=ctx, memory=kept
        )

    asyncio.run(played())
    assert FALLBACK in model.talk.prompts[-1]
    assert not any(LIE in prompt for prompt in model.talk.prompts)


def test_a_tool_that_ends_the_run_is_held_whole() -> None:
    """Its text is there at once."""

    def price(input: str) -> str:
        """Find the rules of the pool."""
        return "6 euros"

    tool = FunctionTool.from_defaults(price, name=POOL, return_direct=True)
    agent = FunctionAgent(tools=[tool], llm=CallingModel(talk=Talk(faithful)))
    assert str(play(safe(agent)).output) == "6 euros"
