"""Doubles for LlamaIndex: a model with a script, a retriever over texts, an embedding of words.

In: a function from messages to a text; passages; words. Out: real LlamaIndex objects that stream,
emit events and run sync and async as others do, with no key, no server and no download.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import Stemmer
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
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
from llama_index.core.callbacks import CallbackManager
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW, DEFAULT_NUM_OUTPUTS
from llama_index.core.llms import callbacks
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field

from faithguard import Passage
from faithguard.verifiers import Context

__all__ = ["PassageRetriever", "ScriptedLLM", "WordEmbedding"]

_Method = TypeVar("_Method", bound=Callable[..., Any])


_events: Any = callbacks  # its decorators have no types


def _chat(method: _Method) -> _Method:
    """Emit the events of a chat call around a method, which keeps its type."""
    return cast(_Method, _events.llm_chat_callback()(method))


def _completion(method: _Method) -> _Method:
    """Emit the events of a completion around a method, which keeps its type."""
    return cast(_Method, _events.llm_completion_callback()(method))


class ScriptedLLM(LLM):
    """A model that answers what a function says; tokens are words.

        llm = ScriptedLLM(reply=lambda messages: "It opens at 9:00.")

    Args:
        reply: From the messages of a call to the text of its answer. A completion's prompt comes
            as one message of the user.
        pause: Seconds before each token of a stream; a whole answer takes as long as its stream.
        is_chat_model: Whether LlamaIndex shall chat with it, or complete.
        context_window: Tokens that LlamaIndex may put into a call, the answer's included.
        num_output: Tokens that LlamaIndex leaves for the answer.
        model_name: What its metadata calls it.
    """

    reply: Callable[[list[ChatMessage]], str] = Field(exclude=True)
    pause: float = 0.0
    is_chat_model: bool = True
    context_window: int = DEFAULT_CONTEXT_WINDOW
    num_output: int = DEFAULT_NUM_OUTPUTS
    model_name: str = "faithguard-scripted"

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores it."""
        return "ScriptedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know of a model."""
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.num_output,
            is_chat_model=self.is_chat_model,
            model_name=self.model_name,
        )

    @_chat
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages."""
        said = _Said(messages, self.reply)
        time.sleep(self.pause * len(said.tokens))
        return said.chat()

    @_chat
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages."""
        said = _Said(messages, self.reply)
        await asyncio.sleep(self.pause * len(said.tokens))
        return said.chat()

    @_chat
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Answer messages word by word."""

        def stream() -> ChatResponseGen:
            for part in _Said(messages, self.reply).chats():
                time.sleep(self.pause)
                yield part

        return stream()

    @_chat
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Answer messages word by word."""

        async def stream() -> ChatResponseAsyncGen:
            for part in _Said(messages, self.reply).chats():
                await asyncio.sleep(self.pause)
                yield part

        return stream()

    @_completion
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer a prompt."""
        said = self._said(prompt, formatted)
        time.sleep(self.pause * len(said.tokens))
        return said.completion()

    @_completion
    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Answer a prompt."""
        said = self._said(prompt, formatted)
        await asyncio.sleep(self.pause * len(said.tokens))
        return said.completion()

    @_completion
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Answer a prompt word by word."""

        def stream() -> CompletionResponseGen:
            for part in self._said(prompt, formatted).completions():
                time.sleep(self.pause)
                yield part

        return stream()

    @_completion
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Answer a prompt word by word."""

        async def stream() -> CompletionResponseAsyncGen:
            for part in self._said(prompt, formatted).completions():
                await asyncio.sleep(self.pause)
                yield part

        return stream()

    def _said(self, prompt: str, formatted: bool) -> _Said:
        if not formatted and self.completion_to_prompt is not None:
            prompt = self.completion_to_prompt(prompt)
        return _Said([ChatMessage(role=MessageRole.USER, content=prompt)], self.reply)


class _Said:
    """One answer, in the shapes in which LlamaIndex wants it: whole or in parts, as chat or text.

    The last part tells why the model stopped and what it used, as providers do.
    """

    def __init__(
        self, messages: Sequence[ChatMessage], reply: Callable[[list[ChatMessage]], str]
    ) -> None:
        self.text = reply(list(messages))
        self.tokens = re.findall(r"\s*\S+|\s+$", self.text) or [""]
        asked = sum(len((message.content or "").split()) for message in messages)
        wrote = len(self.text.split())
        self._raw = {
            "choices": [{"finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": asked,
                "completion_tokens": wrote,
                "total_tokens": asked + wrote,
            },
        }

    def chat(self) -> ChatResponse:
        return ChatResponse(message=_spoken(self.text), raw=self._raw)

    def completion(self) -> CompletionResponse:
        return CompletionResponse(text=self.text, raw=self._raw)

    def chats(self) -> Iterator[ChatResponse]:
        for text, delta, raw in self._parts():
            yield ChatResponse(message=_spoken(text), delta=delta, raw=raw)

    def completions(self) -> Iterator[CompletionResponse]:
        for text, delta, raw in self._parts():
            yield CompletionResponse(text=text, delta=delta, raw=raw)

    def _parts(self) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
        """Yield what was said so far, what is new of it, and at the end the rest."""
        end = 0
        for number, token in enumerate(self.tokens, start=1):
            end += len(token)
            yield self.text[:end], token, self._raw if number == len(self.tokens) else None


def _spoken(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


class PassageRetriever(BaseRetriever):
    """A retriever over a few passages, by the words that they share with the question.

    A node has its passage's metadata and source, and the score 1, 1/2, 1/3, ... by its rank.

    Args:
        passages: What there is to find.
        k: How many are returned at most.
        callback_manager: As in every retriever of LlamaIndex.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        k: int = 3,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self.passages = passages
        self.k = k
        self._index: Context | None = None
        cast(Any, super()).__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        passages = tuple(self.passages)
        if self._index is None or self._index.passages != passages:
            self._index = Context(passages)
        ranked = self._index.rank(query_bundle.query_str)[: self.k]
        return [
            NodeWithScore(node=_node(number, passages[number]), score=1 / place)
            for place, number in enumerate(ranked, start=1)
        ]


def _node(number: int, passage: Passage) -> TextNode:
    source = {} if passage.source is None else {"source": passage.source}
    return TextNode(
        id_=f"passage-{number}", text=passage.text, metadata={**passage.metadata, **source}
    )


_TOO_COMMON = frozenset(
    "a an and are as at be by can do does for from has have how i in is it its may not of on or "
    "that the there this to was what when where which who why will with you your".split()
)


class WordEmbedding(BaseEmbedding):
    """An embedding of the words of a text, with no model behind it.

    Texts that share words are near each other, whatever the form of the words. The same text
    gets the same vector in every process.

    Args:
        dim: The length of the vectors; in short ones words collide.
    """

    model_name: str = "faithguard-words"
    dim: int = Field(default=512, ge=2)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores it."""
        return "WordEmbedding"

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * self.dim
        for stem, count in Counter(_stems(text)).items():
            digest = int.from_bytes(hashlib.blake2b(stem.encode(), digest_size=8).digest())
            sign = 1.0 if digest & 1 else -1.0  # so that collisions cancel out on average
            vector[(digest >> 1) % (self.dim - 1)] += sign * (1.0 + math.log(count))
        norm = math.hypot(*vector)
        if norm == 0.0:
            # no cosine is defined of a vector of zeros; this one is like that of no word
            return [*vector[:-1], 1.0]
        return [value / norm for value in vector]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def _stems(text: str) -> list[str]:
    stemmer = Stemmer.Stemmer("english", 0)  # it is not thread-safe, and quickly made
    words = re.findall(r"\w+", text.casefold())
    return [stemmer.stemWord(word) for word in words if word not in _TOO_COMMON]
