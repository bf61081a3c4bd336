"""The scene: a swimming pool, what a visitor may be told, and a model that follows a script.

No answer here comes from a real model, and no passage from a real pool.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

QUESTION = "When is the Lindholm pool open and what does a swim cost?"

PASSAGES = (
    "The Lindholm pool is open from 7 am to 9 pm on weekdays and from 9 am to 6 pm on Sundays.",
    "A single swim costs 6 euros for adults and 3 euros for children.",
    "Swimmers must shower before they enter the water. Glass bottles are not allowed.",
    "A locker takes a deposit of 1 euro, which is returned with the key.",
)

TRUE = "The Lindholm pool is open from 7 am to 9 pm on weekdays."
GOOD = f"{TRUE} A single swim costs 6 euros for adults."
LIE = "The Quorvex lounge serves free champagne to members."
BAD = f"{TRUE} {LIE}"

MARKERS = ("Quorvex", "lounge", "champagne")
"""Words of `LIE` that stand nowhere else: one of them at the caller is a leak."""

FALLBACK = "Please ask the staff at the desk."

MODEL_NAME = "scripted-1"
TOKENS_PER_CALL = 30
PROMPT_MESSAGES = 2
"""Every chain here asks with one system and one human message; more of them are feedback."""


def leaks(text: str) -> tuple[str, ...]:
    """Return the marker words that stand in `text`."""
    return tuple(marker for marker in MARKERS if marker.lower() in text.lower())


def lane_question(lane: int) -> str:
    """Ask about one lane, so that no two callers have the same question."""
    return f"Which team trains in lane {lane}?"


def lane_fact(lane: int) -> str:
    """Say what is true of one lane; passage and good answer at once."""
    return f"The team Heron{lane} trains in lane {lane} on Monday evening."


def lane_note(lane: int) -> str:
    """Say what stands in the passages of an even lane, and in those of no other."""
    return f"Captain Mirador{lane} polishes bronze lanterns near the ferry."


def lane_in(question: str) -> int | None:
    """Return the lane a question is about."""
    found = re.search(r"lane (\d+)", question)
    return int(found[1]) if found else None


def documents_for(question: str) -> list[Document]:
    """Return the passages of the lane asked about, else the rules of the pool."""
    lane = lane_in(question)
    if lane is None:
        texts = PASSAGES
    else:
        texts = (lane_fact(lane),) if lane % 2 else (lane_fact(lane), lane_note(lane))
    return [Document(text, metadata={"source": f"pool-{n}"}) for n, text in enumerate(texts)]


class PoolRetriever(BaseRetriever):
    """A retriever over the passages of the scene; the base class supplies the async half."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return documents_for(query)


Script = Callable[[str, bool], str]
"""(question, whether the messages hold feedback) -> what the model says."""


def faithful(question: str, feedback: bool) -> str:
    """Say only what the passages say."""
    return GOOD


def unfaithful(question: str, feedback: bool) -> str:
    """Add the invented sentence, whatever the feedback."""
    return BAD


def improving(question: str, feedback: bool) -> str:
    """Invent at first, and be faithful once told so."""
    return GOOD if feedback else BAD


def half_borrowed(question: str, feedback: bool) -> str:
    """For odd lanes add what only the passages of the lane before say.

    So a guard that mixes up the contexts of two callers lets it through.
    """
    lane = lane_in(question) or 0
    return f"{lane_fact(lane)} {lane_note(lane - 1)}" if lane % 2 else lane_fact(lane)


def half_improving(question: str, feedback: bool) -> str:
    """Borrow for odd lanes, until told so."""
    return lane_fact(lane_in(question) or 0) if feedback else half_borrowed(question, feedback)


class ScriptedModel(BaseChatModel):
    """A chat model that says what its script says, whole or word by word.

    Shared by threads and tasks: it decides by the messages alone, and the only thing it
    writes is one append to `calls`.
    """

    script: Script
    streaming: bool = False
    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[list[BaseMessage]]:
        """The messages of every call, in order."""
        return self._calls

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _say(self, messages: Sequence[BaseMessage]) -> str:
        self._calls.append(list(messages))
        question = next(m.text for m in messages if isinstance(m, HumanMessage))
        return self.script(question, len(messages) > PROMPT_MESSAGES)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        message = AIMessage(
            self._say(messages),
            usage_metadata=_usage(),
            response_metadata={"model_name": MODEL_NAME},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        await asyncio.sleep(0)
        return self._generate(messages)

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for word in re.findall(r"\S+\s*", self._say(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(word))
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                "",
                usage_metadata=_usage(),
                response_metadata={"model_name": MODEL_NAME},
                chunk_position="last",
            )
        )

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages):
            await asyncio.sleep(0)
            yield chunk


def _usage() -> UsageMetadata:
    return UsageMetadata(input_tokens=20, output_tokens=10, total_tokens=TOKENS_PER_CALL)
