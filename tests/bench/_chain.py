"""A small LCEL chain to measure on: retrieve, prompt, model, parse.

In: an answer and its context. Out: a runnable from question to text. A question that starts with
"fail" makes the model raise, one that starts with "slow" makes it sleep.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

SLOW = 0.05
"""Seconds that a slow model sleeps before each part of its answer."""


class GivenDocuments(BaseRetriever):
    """Return the same documents for any question."""

    documents: list[Document]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents


class Model(BaseChatModel):
    """Say one thing, fail, or be slow, as the question asks."""

    answer: str
    asked: ClassVar[int] = 0
    """How often any of them was asked."""

    @property
    def _llm_type(self) -> str:
        return "given"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        time.sleep(_pause(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answer))])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kw: Any) -> ChatResult:
        await asyncio.sleep(_pause(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answer))])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for part in self._parts():
            time.sleep(_pause(messages))
            yield part

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for part in self._parts():
            await asyncio.sleep(_pause(messages))
            yield part

    def _parts(self) -> Iterator[ChatGenerationChunk]:
        for at in range(0, len(self.answer), 20):
            yield ChatGenerationChunk(message=AIMessageChunk(self.answer[at : at + 20]))


def _pause(messages: Sequence[BaseMessage]) -> float:
    Model.asked += 1
    question = str(messages[-1].content)
    if question.startswith("fail"):
        raise RuntimeError("the model fails, as it was asked to")
    return SLOW if question.startswith("slow") else 0.0


def rag_chain(answer: str, context: Sequence[str]) -> Runnable[str, str]:
    """Return the chain."""
    documents = [Document(page_content=text) for text in context]
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from this context only:\n{context}"), ("human", "{question}")]
    )
    found = GivenDocuments(documents=documents) | _joined
    return (
        {"context": found, "question": RunnablePassthrough()}
        | prompt
        | Model(answer=answer)
        | StrOutputParser()
    )


def _joined(documents: Sequence[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)
