"""The scene for LlamaIndex. In: a script of `scene`. Out: a model, and a retriever beside it.

The models decide by the text of the prompt alone, and keep every prompt; the retriever keeps
every query. No answer here comes from a real model.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from tests.tokens import remember_tokens

from .scene import BAD, FALLBACK, GOOD, LIE, MODEL_NAME, PASSAGES, QUESTION, Script, documents_for

remember_tokens()

NEXT_QUESTION = "Are glass bottles allowed at the Lindholm pool?"
NEXT_GOOD = "Glass bottles are not allowed."
SUB_QUESTION = "When does the Lindholm pool open its doors?"
ABSTENTION = "I could not find that."
EMPTY = "Empty Response"
"""What LlamaIndex answers when it has nothing to answer from."""

FILLER = tuple(
    f"House note {n}: towels belong on hook {n} beside bench {n}, never on the wet floor."
    for n in range(1, 25)
)
"""Sentences that fill a passage, so that the passages do not fit into one prompt."""

SMALL_WINDOW = 1700
WIDE_WINDOW = 16_000
OUTPUT_TOKENS = 128

_QUESTIONS = re.compile(
    "|".join((*map(re.escape, (QUESTION, NEXT_QUESTION, SUB_QUESTION)), r"Which team .*? \d+\?"))
)


def words(text: str) -> list[str]:
    """Split into words, without case and punctuation."""
    return re.findall(r"[a-z0-9]+", text.lower())


_SAID = (QUESTION, NEXT_QUESTION, SUB_QUESTION, GOOD, BAD, NEXT_GOOD, ABSTENTION, FALLBACK)

_OF_THE_SCENE = frozenset(
    words(" ".join((*PASSAGES, *FILLER, *_SAID, "source pool-0 pool-1 pool-2 pool-3 pool-4")))
)
"""Words that may stand in a prompt for another reason than being part of a feedback."""

Write = Callable[[str], str]
"""From what the script says to how the model words it."""


def as_it_is(text: str) -> str:
    """Change nothing."""
    return text


class Talk:
    """What a model says, and every prompt it got.

    Shared by threads and tasks, also for different questions: all it writes are appends.
    """

    def __init__(self, script: Script, write: Write = as_it_is) -> None:
        self.prompts: list[str] = []
        self._script = script
        self._write = write
        self._frames: dict[str, list[Counter[str]]] = {}

    def say(self, prompt: str) -> str:
        """Answer a prompt; an earlier answer that stands in it and is good is repeated."""
        self.prompts.append(prompt)
        question = asked(prompt)
        if "standalone question" in prompt.lower():
            return question
        told = self._told(question, prompt) or self._write(GOOD) in prompt
        if question == NEXT_QUESTION:
            return self._write(NEXT_GOOD)
        return self._write(self._script(question, told))

    def _told(self, question: str, prompt: str) -> bool:
        """Say whether the prompt is an earlier one for this question and some words more.

        The words of the scene do not count: chunks may be cut differently in a longer prompt.
        """
        frame = Counter(word for word in words(prompt) if word not in _OF_THE_SCENE)
        frames = self._frames.setdefault(question, [])
        told = any(earlier < frame for earlier in list(frames))
        if frame not in frames:
            frames.append(frame)
        return told


def asks(text: str) -> bool:
    """Say whether a question of the scene stands in a text."""
    return bool(_QUESTIONS.search(text))


def asked(prompt: str) -> str:
    """Return the question of the scene that stands last in a prompt."""
    found = _QUESTIONS.findall(prompt)
    return found[-1] if found else QUESTION


class Repeating(Talk):
    """What a model says that only sums up what other engines have answered."""

    def __init__(self) -> None:
        super().__init__(lambda question, feedback: EMPTY)

    def say(self, prompt: str) -> str:
        """Repeat the answer that stands in the prompt."""
        self.prompts.append(prompt)
        return next((text for text in (BAD, GOOD, FALLBACK) if text in prompt), EMPTY)


class CompletingModel(CustomLLM):
    """A completion model that says what its talk says, whole or word by word."""

    talk: Talk
    window: int = WIDE_WINDOW
    chats: bool = False

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(
            context_window=self.window,
            num_output=OUTPUT_TOKENS,
            is_chat_model=self.chats,
            model_name=MODEL_NAME,
        )

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Complete a prompt."""
        return CompletionResponse(text=self.talk.say(prompt))

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Complete a prompt word by word."""

        def tokens() -> CompletionResponseGen:
            for whole, delta in _growing(self.talk.say(prompt)):
                yield CompletionResponse(text=whole, delta=delta)

        return tokens()


class ChattingModel(CompletingModel):
    """A chat model without tools; `complete` is there for engines that condense a question."""

    chats: bool = True

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages."""
        return _reply(self.talk.say(written(messages)))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer messages, awaiting."""
        await asyncio.sleep(0)
        return _reply(self.talk.say(written(messages)))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Answer messages word by word."""

        def tokens() -> ChatResponseGen:
            for whole, delta in _growing(self.talk.say(written(messages))):
                yield _reply(whole, delta)

        return tokens()

    @llm_chat_callback()
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Answer messages word by word, awaiting."""

        async def tokens() -> ChatResponseAsyncGen:
            for whole, delta in _growing(self.talk.say(written(messages))):
                await asyncio.sleep(0)
                yield _reply(whole, delta)

        return tokens()


def written(messages: Sequence[ChatMessage]) -> str:
    """Write messages as one prompt."""
    return "\n".join(f"{message.role.value}: {message.content}" for message in messages)


def _reply(text: str, delta: str | None = None) -> ChatResponse:
    return ChatResponse(message=ChatMessage(text, role=MessageRole.ASSISTANT), delta=delta)


def _growing(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text so far, and the word that came last."""
    for word in re.finditer(r"\S+\s*", text):
        yield text[: word.end()], word[0]


Nodes = Callable[[str], list[NodeWithScore]]
"""From a query to the nodes found."""


def passages(query: str) -> list[NodeWithScore]:
    """Find the passages of the lane asked about, else the rules of the pool."""
    return [_node(n, document.page_content) for n, document in enumerate(documents_for(query))]


def long_passages(query: str) -> list[NodeWithScore]:
    """Find the rules of the pool, each before more house notes than fit into one prompt."""
    return [
        _node(n, " ".join((text, *FILLER[6 * n : 6 * n + 6], *FILLER)))
        for n, text in enumerate(PASSAGES)
    ]


def with_rumour(query: str) -> list[NodeWithScore]:
    """Find the passages, and among them one that says what no answer may say."""
    return [*passages(query), _node(len(PASSAGES), LIE)]


def _node(n: int, text: str) -> NodeWithScore:
    node = TextNode(id_=f"pool-{n}", text=text, metadata={"source": f"pool-{n}"})
    return NodeWithScore(node=node, score=1 - n / 10)


class PoolRetriever(BaseRetriever):
    """A retriever over the nodes of the scene; the base class supplies the async half."""

    def __init__(self, nodes: Nodes = passages) -> None:
        super().__init__()
        self.queries: list[str] = []
        self._find = nodes

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.queries.append(query_bundle.query_str)
        return self._find(query_bundle.query_str)
