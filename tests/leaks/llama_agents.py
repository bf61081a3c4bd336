"""LlamaIndex's agents. In: a script for the model. Out: kinds of agent x ways to run one.

Every model calls one tool for each question and then answers. The last question decides, so that
a feedback after it asks for an answer and not for another tool call.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.workflow import Context

from .llama_engines import memory
from .llama_scene import (
    NEXT_QUESTION,
    WIDE_WINDOW,
    ChattingModel,
    PoolRetriever,
    Talk,
    asked,
    asks,
    written,
)
from .outcomes import ANSWERS, BLOCKING, Named, Outcome, Play, Row
from .scene import MODEL_NAME, PASSAGES, QUESTION, Script, faithful

POOL = "pool"
HANDOFF = "handoff"


def since_question(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages from the last question of a user on."""
    places = [
        place
        for place, message in enumerate(messages)
        if message.role == MessageRole.USER and asks(message.content or "")
    ]
    return list(messages[places[-1] :]) if places else list(messages)


def hands_on(message: ChatMessage) -> bool:
    """Say whether a tool's message is that of the host's own tool, which finds nothing."""
    return "is now handling the request" in (message.content or "")


class CallingModel(FunctionCallingLLM):
    """A model that calls tools: its one tool for each question, and then its talk."""

    talk: Talk
    tool: str = POOL
    """The tool it calls for a question."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(
            context_window=WIDE_WINDOW,
            is_chat_model=True,
            is_function_calling_model=True,
            model_name=MODEL_NAME,
        )

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[Any],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return {"messages": list(chat_history or ())}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """Read the tool calls of a response."""
        return [
            ToolSelection(**call) for call in response.message.additional_kwargs.get("calls", ())
        ]

    def _say(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        turn = since_question(messages)
        if any(message.role == MessageRole.TOOL and not hands_on(message) for message in turn):
            return ChatMessage(self.talk.say(written(messages)), role=MessageRole.ASSISTANT)
        self.talk.prompts.append(written(messages))
        call = {
            "tool_id": f"call-{len(messages)}",
            "tool_name": self.tool,
            "tool_kwargs": arguments(self.tool, asked(turn[0].content or "")),
        }
        return ChatMessage("", role=MessageRole.ASSISTANT, additional_kwargs={"calls": [call]})

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages."""
        return ChatResponse(message=self._say(messages))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages, awaiting."""
        await asyncio.sleep(0)
        return self.chat(messages)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Answer messages in pieces."""
        whole = self._say(messages)
        text = whole.content or ""
        for end in range(0, len(text), 7):
            message = ChatMessage(text[: end + 7], role=MessageRole.ASSISTANT)
            yield ChatResponse(message=message, delta=text[end : end + 7])
        if not text:
            yield ChatResponse(message=whole, delta="")

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Answer messages in pieces, awaiting."""

        async def pieces() -> AsyncIterator[ChatResponse]:
            for piece in self.stream_chat(messages):
                await asyncio.sleep(0)
                yield piece

        return pieces()  # type: ignore[return-value]

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Complete a prompt."""
        return CompletionResponse(text=self.talk.say(prompt))

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Complete a prompt, awaiting."""
        return self.complete(prompt)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Complete a prompt in one piece."""
        text = self.talk.say(prompt)
        yield CompletionResponse(text=text, delta=text)

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Complete a prompt in one piece, awaiting."""

        async def pieces() -> AsyncIterator[CompletionResponse]:
            for piece in self.stream_complete(prompt):
                yield piece

        return pieces()  # type: ignore[return-value]


def arguments(tool: str, question: str) -> dict[str, str]:
    """Return what a model hands to a tool."""
    if tool == HANDOFF:
        return {"to_agent": "desk", "reason": "The desk knows the rules."}
    return {"input": question}


class ReasoningTalk(Talk):
    """What a reasoning model says: thought and action, and after an observation its answer."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.acting = "Thought: The tool knows.\nAction: pool\nAction Input: {}"

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        """Call the tool, or answer."""
        turn = since_question(messages)
        if any((message.content or "").startswith("Observation: ") for message in turn[1:]):
            # the host strips spaces around the answer
            return f"Thought: I can answer.\nAnswer: {self.say(written(messages))}"
        self.prompts.append(written(messages))
        given = json.dumps(arguments(POOL, asked(turn[0].content or "")))
        return self.acting.format(given)


class ReasoningModel(ChattingModel):
    """A chat model that reasons in text."""

    talk: ReasoningTalk

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages, awaiting."""
        await asyncio.sleep(0)
        text = self.talk.answer(messages)
        return ChatResponse(message=ChatMessage(text, role=MessageRole.ASSISTANT))

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Answer messages in pieces, awaiting."""

        async def pieces() -> AsyncIterator[ChatResponse]:
            text = self.talk.answer(messages)
            for end in range(0, len(text), 7):
                await asyncio.sleep(0)
                message = ChatMessage(text[: end + 7], role=MessageRole.ASSISTANT)
                yield ChatResponse(message=message, delta=text[end : end + 7])

        return pieces()  # type: ignore[return-value]


# Tools


def look_up(input: str) -> str:
    """Find the rules of the pool."""
    return "\n".join(PASSAGES)


def plain_tool() -> FunctionTool:
    """A tool that returns the passages as a text."""
    return FunctionTool.from_defaults(look_up, name=POOL)


def engine_tool(talk: Talk, *, return_direct: bool = False) -> QueryEngineTool:
    """A tool made of a query engine whose model is the talk's."""
    engine = RetrieverQueryEngine.from_args(PoolRetriever(), llm=ChattingModel(talk=talk))
    return QueryEngineTool.from_defaults(
        engine, name=POOL, description="The rules of the pool.", return_direct=return_direct
    )


def quiet_engine_tool() -> QueryEngineTool:
    """A tool made of a query engine whose model repeats the passages.

    Not the good answer: a model that finds that in its prompt takes it for its own.
    """
    return engine_tool(Talk(lambda question, feedback: " ".join(PASSAGES)))


# Agents

Build = Callable[[Script, bool], tuple[Any, list[list[str]]]]
"""From a script, and whether the model streams, to an agent and the prompts of its models."""


def function_agent(tool: Callable[[], Any]) -> Build:
    """Build a function-calling agent."""

    def build(script: Script, streaming: bool) -> tuple[Any, list[list[str]]]:
        talk = Talk(script)
        agent = FunctionAgent(tools=[tool()], llm=CallingModel(talk=talk), streaming=streaming)
        return agent, [talk.prompts]

    return build


def react_agent(tool: Callable[[], Any]) -> Build:
    """Build an agent that reasons in text."""

    def build(script: Script, streaming: bool) -> tuple[Any, list[list[str]]]:
        talk = ReasoningTalk(script)
        agent = ReActAgent(tools=[tool()], llm=ReasoningModel(talk=talk), streaming=streaming)
        return agent, [talk.prompts]

    return build


def two_agents(script: Script, streaming: bool) -> tuple[Any, list[list[str]]]:
    """Build a workflow of an agent that hands everything to another, who answers."""
    front, desk = Talk(script), Talk(script)
    agents = [
        FunctionAgent(
            name="front",
            description="Greets.",
            llm=CallingModel(talk=front, tool=HANDOFF),
            can_handoff_to=["desk"],
            streaming=streaming,
        ),
        FunctionAgent(
            name="desk",
            description="Knows the rules.",
            tools=[plain_tool()],
            llm=CallingModel(talk=desk),
            can_handoff_to=[],
            streaming=streaming,
        ),
    ]
    return AgentWorkflow(agents=agents, root_agent="front"), [front.prompts, desk.prompts]


def direct_agent(kind: type[FunctionAgent] | type[ReActAgent]) -> Build:
    """Build an agent whose tool's answer is its own; a model behind the tool wrote it."""

    def build(script: Script, streaming: bool) -> tuple[Any, list[list[str]]]:
        written_by = Talk(script)
        tool = engine_tool(written_by, return_direct=True)
        if kind is ReActAgent:
            talk: Any = ReasoningTalk(faithful)
            model: Any = ReasoningModel(talk=talk)
        else:
            talk = Talk(faithful)
            model = CallingModel(talk=talk)
        agent = kind(tools=[tool], llm=model, streaming=streaming)
        return agent, [talk.prompts, written_by.prompts]

    return build


# Ways to run one


@dataclass(slots=True)
class Table:
    """Where one caller sits: an agent, and what the caller keeps between two turns."""

    agent: Any
    context: Any = None
    memory: Any = None
    history: list[ChatMessage] | None = None
    handlers: list[Any] = field(default_factory=list)

    def given(self) -> dict[str, Any]:
        """Return what the caller hands over with a question."""
        named = {"ctx": self.context, "memory": self.memory, "chat_history": self.history}
        return {
            name: list(value) if name == "chat_history" else value
            for name, value in named.items()
            if value is not None
        }

    async def kept(self) -> tuple[Any, ...]:
        """Return what stays behind: the state of the last run, and every memory."""
        context = self.handlers[-1].ctx
        memory = await context.store.get("memory", default=None)
        messages = [] if memory is None else await memory.aget_all()
        # the memory is apart, since the state leaves it out where it is written
        state = {"state": context.to_dict(), "memory": written(messages)}
        own = () if self.memory is None else (written(await self.memory.aget_all()),)
        return (state, *own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to run an agent."""

    name: str
    sit: Callable[[Any], Table] = Table
    events: bool = True
    """Whether the caller reads the events before it awaits the result."""
    streaming: bool = True
    talks_on: bool = True
    """Whether a second question follows."""
    remembers: bool = True
    """Whether the host itself tells the model of the first turn then."""


def with_context(agent: Any) -> Table:
    """Keep a context."""
    return Table(agent, context=Context(agent))


def with_both(agent: Any) -> Table:
    """Keep a context and a memory."""
    return Table(agent, context=Context(agent), memory=memory())


def with_memory(agent: Any) -> Table:
    """Keep a memory."""
    return Table(agent, memory=memory())


def with_buffer(agent: Any) -> Table:
    """Keep a memory of the older kind."""
    return Table(agent, memory=ChatMemoryBuffer.from_defaults(token_limit=WIDE_WINDOW))


def with_history(agent: Any) -> Table:
    """Keep the messages of the talk."""
    return Table(agent, history=[])


WAYS = (
    Way(name="await", events=False, talks_on=False),
    Way(name="stream_events", talks_on=False),
    Way(name="await, streaming=False", events=False, streaming=False, talks_on=False),
    # this version of LlamaIndex drops the memory of a context that is used again
    Way(name="Context for two turns", sit=with_context, remembers=False),
    Way(name="Context and Memory for two turns", sit=with_both),
    Way(name="Memory for two turns", sit=with_memory),
    Way(name="ChatMemoryBuffer for two turns", sit=with_buffer),
    Way(name="chat_history by hand", sit=with_history),
    Way(name="Context and Memory, streaming=False", sit=with_both, streaming=False),
)


async def turn(table: Table, question: str, *, events: bool) -> list[Any]:
    """Ask; return the events, the result or the exception."""
    pieces: list[Any] = []
    handler = table.agent.run(user_msg=question, **table.given())
    table.handlers.append(handler)
    try:
        if events:
            async for event in handler.stream_events():
                pieces.append(event)
        result = await handler
        pieces.append(result)
        if table.history is not None:
            table.history += [ChatMessage(question, role=MessageRole.USER), result.response]
    except Exception as error:
        pieces.append(error)
    return pieces


def answers(pieces: Sequence[Any]) -> tuple[str, ...]:
    """Read the answer; none where an exception came."""
    last = pieces[-1] if pieces else None
    return (str(last),) if isinstance(last, AgentOutput) else ()


def deltas(pieces: Sequence[Any]) -> str:
    """Join what the events streamed."""
    return "".join(piece.delta for piece in pieces if isinstance(piece, AgentStream))


def guarding(agent: Any, options: Mapping[str, Any] | None) -> Any:
    """Guard an agent; the package is imported only here, so that tests are found without it."""
    if options is None:
        return agent
    from faithguard_llama_index import guard

    return guard(agent, **options)


def play(build: Build, way: Way) -> Play:
    """Play two turns with one agent."""

    async def played(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        agent, prompts = build(script, way.streaming)
        table = way.sit(guarding(agent, options))
        pieces = await turn(table, QUESTION, events=way.events)
        before = [len(of_one) for of_one in prompts]
        kept = await table.kept()
        said: tuple[str, ...] = ()
        if way.talks_on:
            said = answers(await turn(table, NEXT_QUESTION, events=way.events))
        return Outcome(
            pieces=tuple(pieces),
            answers=answers(pieces),
            kept=kept,
            asked=sum(before),
            later=tuple(
                prompt
                for of_one, number in zip(prompts, before, strict=True)
                for prompt in of_one[number:]
            ),
            next_answers=said,
            streamed=deltas(pieces),
        )

    def quietly(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        with warnings.catch_warnings():
            # LlamaIndex warns of its own overloads, and of the memory it leaves out of a state
            warnings.simplefilter("ignore")
            return asyncio.run(played(script, options))

    return quietly


AGENTS: Mapping[str, tuple[Build, Sequence[Any]]] = {
    "FunctionAgent": (function_agent(plain_tool), ANSWERS),
    "FunctionAgent, engine as tool": (function_agent(quiet_engine_tool), ANSWERS),
    "ReActAgent": (react_agent(plain_tool), ANSWERS),
    "ReActAgent, engine as tool": (react_agent(quiet_engine_tool), ANSWERS),
    "AgentWorkflow, handoff": (two_agents, ANSWERS),
    "FunctionAgent, return_direct": (direct_agent(FunctionAgent), BLOCKING),
    "ReActAgent, return_direct": (direct_agent(ReActAgent), BLOCKING),
}

ROWS = tuple(
    Row(
        way=Named(way.name),
        shape=Named(name),
        play=play(build, way),
        columns=columns,
        talks_on=way.talks_on and way.remembers,
    )
    for name, (build, columns) in AGENTS.items()
    for way in WAYS
)

LEFT_OUT: Mapping[str, str] = {
    "return_direct with regenerate and repair": (
        "the agent's own model has written nothing that could be written again"
    ),
    "structured output of agents": "LlamaIndex makes it of the memory, in a call of its own",
    "CodeActAgent": "its answers are the output of code",
}
"""What the table has no cell for, and why; printed under it."""
