"""Doubles for LangChain chains: a chat model with a script, and a retriever over given texts.

In: a function from messages to a text; passages. Out: real LangChain objects that stream, take
callbacks and run sync and async as others do, with no key, no server and no download.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForLLMRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from faithguard import Passage
from faithguard.verifiers import Context

__all__ = ["PassageRetriever", "ScriptedChatModel"]


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers what a function says; tokens are words.

    Args:
        reply: From the messages of a call to its answer: a text, or a message, such as one that
            asks for tools.
        pause: Seconds between tokens.
    """

    reply: Callable[[list[BaseMessage]], str | AIMessage]
    pause: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "faithguard-scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Be bound to tools; the script says which are asked for."""
        return self.bind(tools=tools, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self.reply(messages)
        message = AIMessage(reply) if isinstance(reply, str) else reply.model_copy()
        text = str(message.text)
        message.response_metadata = {"finish_reason": "stop", **message.response_metadata}
        message.usage_metadata = {
            "input_tokens": sum(len(str(m.content).split()) for m in messages),
            "output_tokens": len(text.split()),
            "total_tokens": sum(len(str(m.content).split()) for m in messages) + len(text.split()),
        }
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self.reply(messages)):
            time.sleep(self.pause)
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self.reply(messages)):
            await asyncio.sleep(self.pause)
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


def _chunks(reply: str | AIMessage) -> Iterator[ChatGenerationChunk]:
    text = reply if isinstance(reply, str) else str(reply.text)
    for token in _tokens(text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=token))
    if isinstance(reply, AIMessage) and reply.tool_calls:
        parts = [
            tool_call_chunk(
                name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=place
            )
            for place, call in enumerate(reply.tool_calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=parts))


def _tokens(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s*$|\s*\S+", text) or [""]


class PassageRetriever(BaseRetriever):
    """A retriever over a few passages, by the words that they share with the question.

    Args:
        passages: What there is to find.
        k: How many are returned at most.
    """

    passages: Sequence[Passage]
    k: int = 3
    _index: Context | None = PrivateAttr(default=None)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self._find(query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self._find(query)

    def _find(self, query: str) -> list[Document]:
        passages = tuple(self.passages)
        if self._index is None or self._index.passages != passages:
            self._index = Context(passages)
        ranked = self._index.rank(query)[: self.k]
        return [
            Document(page_content=p.text, metadata={**p.metadata, "source": p.source or ""})
            for p in (passages[number] for number in ranked)
        ]
