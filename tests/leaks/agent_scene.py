"""The scene of an agent. In: a plan of tool calls and a script. Out: a model that follows both.

The pool, its passages and the invented sentence are those of `scene`. The model counts the hops
of the turn by the messages it is shown, so one model serves many turns and callers at once.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, create_retriever_tool, tool
from pydantic import BaseModel, PrivateAttr

from .chains import RULES as CHAIN_RULES
from .chains import joined
from .scene import (
    LIE,
    PASSAGES,
    QUESTION,
    TRUE,
    PoolRetriever,
    Script,
    documents_for,
    lane_in,
    lane_question,
)

RULES = "You answer the visitors of a swimming pool. Say only what the tools say."
POOL = joined([Document(text) for text in PASSAGES])
KNOWN_RULES = (RULES, f"{RULES}\n\n{POOL}", CHAIN_RULES.format(context=POOL))
"""The system prompts that a model is shown while nobody gives feedback."""

NEXT_QUESTION = "And until when is it open on weekdays?"
NEXT_GOOD = TRUE
"""The second turn, which is always answered faithfully."""

WRONG_PRICE = f"{TRUE} A single swim costs 14 euros for adults."
PRICE = "14 euros"

Plan = tuple[tuple[str, ...], ...]
"""The tools called in each hop, by name."""


class Reply(BaseModel):
    """The answer to a visitor."""

    answer: str


def only_lie(question: str, feedback: bool) -> str:
    """Say nothing but the invented sentence: there is nothing to keep."""
    return LIE


def wrong_price(question: str, feedback: bool) -> str:
    """Name a price that the passages contradict."""
    return WRONG_PRICE


class AgentModel(BaseChatModel):
    """A chat model that calls the tools of its plan, hop by hop, and then says its script.

    Shared by threads and tasks: it decides by the messages alone, and the only thing it
    writes is one append to `calls`.
    """

    script: Script
    plan: Plan = ()
    form: Literal["text", "tool", "json"] = "text"
    """How the answer is written: plainly, as the call of a tool `Reply`, as its JSON."""
    beside: str = ""
    """What it says beside its tool calls."""
    questions: tuple[str, ...] = (QUESTION, NEXT_QUESTION)
    streaming: bool = False
    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[list[BaseMessage]]:
        """The messages of every call, in order."""
        return self._calls

    @property
    def _llm_type(self) -> str:
        return "scripted-agent"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """Bind the tools as a provider does; the plan alone says which are called."""
        return self.bind(tools=list(tools), **kwargs)

    def _asked(self, message: BaseMessage) -> str | None:
        if not isinstance(message, HumanMessage):
            return None
        lane = lane_in(message.text)
        known = (*self.questions, *(() if lane is None else (lane_question(lane),)))
        return next((text for text in known if message.text.startswith(text)), None)

    def _say(self, messages: Sequence[BaseMessage]) -> AIMessage:
        self._calls.append(list(messages))
        start = max(n for n, message in enumerate(messages) if self._asked(message))
        question, turn = self._asked(messages[start]) or "", messages[start:]
        hops = sum(self._is_hop(message) for message in turn)
        if hops < len(self.plan):
            calls = [
                {"name": name, "args": {"query": question}, "id": f"call-{start}-{hops}-{number}"}
                for number, name in enumerate(self.plan[hops])
            ]
            return AIMessage(self.beside, tool_calls=calls)
        if question == NEXT_QUESTION:
            return self._formed(NEXT_GOOD, start)
        return self._formed(self.script(question, self._told(messages, turn, question)), start)

    def _formed(self, text: str, number: int) -> AIMessage:
        fields = Reply(answer=text).model_dump()
        if self.form == "tool":
            call = {"name": Reply.__name__, "args": fields, "id": f"reply-{number}"}
            return AIMessage("", tool_calls=[call])
        return AIMessage(json.dumps(fields) if self.form == "json" else text)

    def _is_hop(self, message: BaseMessage) -> bool:
        planned = {name for names in self.plan for name in names}
        return isinstance(message, AIMessage) and any(
            call["name"] in planned for call in message.tool_calls
        )

    def _told(self, messages: Sequence[BaseMessage], turn: Any, question: str) -> bool:
        """Say whether the messages hold anything that only a guard can have added."""
        rules = [m.text for m in messages if isinstance(m, SystemMessage)]
        planned = {name for names in self.plan for name in names}
        others = [
            message
            for message in turn[1:]
            if not self._is_hop(message)
            and not (isinstance(message, ToolMessage) and message.name in planned)
        ]
        strange = [text for text in rules if text not in KNOWN_RULES and lane_in(question) is None]
        return bool(others or strange or turn[0].text != question)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._say(messages))])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        said = self._say(messages)
        pieces = [AIMessageChunk(word) for word in re.findall(r"\S+\s*", said.text)]
        for number, call in enumerate(said.tool_calls):
            parts = [
                {"name": call["name"], "args": "", "id": call["id"], "index": number},
                *(
                    {"name": None, "args": word, "id": None, "index": number}
                    for word in re.findall(r"\S+\s*", json.dumps(call["args"]))
                ),
            ]
            pieces += [AIMessageChunk("", tool_call_chunks=[part]) for part in parts]
        for piece in (*pieces, AIMessageChunk("", chunk_position="last")):
            chunk = ChatGenerationChunk(message=piece)
            if run_manager:
                run_manager.on_llm_new_token(piece.text, chunk=chunk)
            yield chunk

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        await asyncio.sleep(0)
        return self._generate(messages)

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages):
            await asyncio.sleep(0)
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


# The tools


def hours(query: str) -> str:
    """Say when the pool is open."""
    return PASSAGES[0]


def prices(query: str) -> str:
    """Say what a swim costs."""
    return PASSAGES[1]


def lanes(query: str) -> str:
    """Say who trains in a lane."""
    return joined(documents_for(query))


def announce(query: str) -> str:
    """Read out what somebody in the house has written."""
    return LIE


def _retrieving(name: str, form: Literal["content", "content_and_artifact"]) -> BaseTool:
    return create_retriever_tool(
        PoolRetriever(), name, "Find the rules of the pool.", response_format=form
    )


def tools_of(names: Sequence[str], make: Mapping[str, Callable[[], BaseTool]]) -> list[BaseTool]:
    """Make each tool named once."""
    return [make[name]() for name in dict.fromkeys(names)]


TOOLS: Mapping[str, Callable[[], BaseTool]] = {
    "look_up": lambda: _retrieving("look_up", "content"),
    "look_up_documents": lambda: _retrieving("look_up_documents", "content_and_artifact"),
    "hours": lambda: tool(hours),
    "prices": lambda: tool(prices),
    "lanes": lambda: tool(lanes),
    "announce": lambda: tool(announce, return_direct=True),
}
