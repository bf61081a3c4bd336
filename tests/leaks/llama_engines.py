"""The shapes of a RAG engine of LlamaIndex. In: a script and a guard. Out: a bench with the engine.

The guard is put where the shape wants it: around the engine, or around a part of it.
"""

from __future__ import annotations

import atexit
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_selector import (
    BaseSelector,
    MultiSelection,
    SelectorResult,
    SingleSelection,
)
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import QueryEngineTool, ToolMetadata
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from .llama_scene import (
    ABSTENTION,
    SMALL_WINDOW,
    SUB_QUESTION,
    WIDE_WINDOW,
    ChattingModel,
    CompletingModel,
    Nodes,
    PoolRetriever,
    Repeating,
    Talk,
    Write,
    as_it_is,
    long_passages,
    passages,
    with_rumour,
)
from .scene import LIE, Script

Engine = BaseQueryEngine | BaseChatEngine
Wrap = Callable[[Any], Any]
"""The guard, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an engine is built of."""

    model: CompletingModel
    retriever: PoolRetriever


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """An engine under examination, and what saw its prompts and its queries."""

    engine: Any
    talk: Talk
    retriever: PoolRetriever


Build = Callable[[Parts, Wrap], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way to write the same RAG engine."""

    name: str
    build: Build
    model: type[CompletingModel] = ChattingModel
    write: Write = as_it_is
    nodes: Nodes = passages
    window: int = WIDE_WINDOW
    several: bool = False
    """Whether the passages are asked about in several prompts, more where these are longer."""
    around: bool = True
    """Whether the guard is around the whole; else around a part, which the host may call less."""

    def bench(self, script: Script, wrap: Wrap = as_it_is) -> Bench:
        """Build the engine, with the guard in its place."""
        talk = Talk(script, self.write)
        parts = Parts(
            model=self.model(talk=talk, window=self.window), retriever=PoolRetriever(self.nodes)
        )
        return Bench(engine=self.build(parts, wrap), talk=talk, retriever=parts.retriever)


# Query engines over a retriever


def retrieving(parts: Parts, wrap: Wrap, **options: Any) -> Any:
    """The usual query engine, by default in mode compact."""
    return wrap(RetrieverQueryEngine.from_args(parts.retriever, llm=parts.model, **options))


def citing(parts: Parts, wrap: Wrap, streaming: bool = False) -> Any:
    """An engine that numbers its sources."""
    # Without an index: `from_args` needs none where a retriever is given.
    engine = CitationQueryEngine.from_args(
        None,  # type: ignore[arg-type]
        llm=parts.model,
        retriever=parts.retriever,
        streaming=streaming,
    )
    return wrap(engine)


class Backwards(BaseNodePostprocessor):
    """A reranker that turns the order round."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[::-1]


class NoRumours(BaseNodePostprocessor):
    """A filter that keeps a passage from the model; no answer may rest on it."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [node for node in nodes if node.node.get_content() != LIE]


class Briefly(BaseQueryTransform):
    """A transform that adds a request to the query."""

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        pass

    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        return QueryBundle(f"{query_bundle.query_str} Be brief.")


def transformed(parts: Parts, wrap: Wrap) -> Any:
    """An engine behind a query transform, the guard around both."""
    inner = retrieving(parts, as_it_is)
    return wrap(TransformQueryEngine(inner, query_transform=Briefly()))


class TextFromFunction(CustomQueryEngine):
    """A user's own engine that returns a string, and no sources."""

    retriever: PoolRetriever
    llm: CompletingModel

    def custom_query(self, query_str: str) -> str:
        """Retrieve and ask."""
        return self.llm.complete(_own_prompt(self.retriever, query_str)).text

    async def acustom_query(self, query_str: str) -> str:
        """Retrieve and ask, awaiting."""
        return (await self.llm.acomplete(_own_prompt(self.retriever, query_str))).text


class SyncTextFromFunction(CustomQueryEngine):
    """The same without an async half."""

    retriever: PoolRetriever
    llm: CompletingModel

    def custom_query(self, query_str: str) -> str:
        """Retrieve and ask."""
        return self.llm.complete(_own_prompt(self.retriever, query_str)).text


class ResponseFromFunction(CustomQueryEngine):
    """A user's own engine that returns a response with its sources."""

    retriever: PoolRetriever
    llm: CompletingModel

    def custom_query(self, query_str: str) -> Response:
        """Retrieve and ask."""
        nodes = self.retriever.retrieve(query_str)
        context = "\n\n".join(node.get_content() for node in nodes)
        answer = self.llm.complete(f"Context:\n{context}\n\nQuery: {query_str}\nAnswer: ").text
        return Response(answer, source_nodes=nodes, metadata={"engine": "own"})


def _own_prompt(retriever: PoolRetriever, query: str) -> str:
    context = "\n\n".join(node.get_content() for node in retriever.retrieve(query))
    return f"Context:\n{context}\n\nQuery: {query}\nAnswer: "


def own(parts: Parts, wrap: Wrap, kind: Callable[..., CustomQueryEngine]) -> Any:
    """A user's own engine."""
    return wrap(kind(retriever=parts.retriever, llm=parts.model))


class Notice(BaseModel):
    """The object a pydantic response holds."""

    answer: str


def as_notice(text: str) -> str:
    """Word an answer as the JSON of a notice."""
    return json.dumps({"answer": text})


def cited(text: str) -> str:
    """Word an answer with a number of a source behind each sentence."""
    numbers = count(1)
    return re.sub(r"\.(?=\s|$)", lambda stop: f" [{next(numbers)}].", text)


# Query engines over query engines


class OneSubQuestion(BaseQuestionGenerator):
    """A question generator that asks one sub-question of the first tool."""

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        pass

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Ask."""
        return [SubQuestion(sub_question=SUB_QUESTION, tool_name=tools[0].get_name())]

    async def agenerate(
        self, tools: Sequence[ToolMetadata], query: QueryBundle
    ) -> list[SubQuestion]:
        """Ask, awaiting."""
        return self.generate(tools, query)


class Everything(BaseSelector):
    """A selector that takes every engine it is offered."""

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        pass

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        picks = [SingleSelection(index=n, reason="all") for n in range(len(choices))]
        return MultiSelection(selections=picks)

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)


def tool(engine: Any, name: str = "pool") -> QueryEngineTool:
    """Make a tool of an engine."""
    return QueryEngineTool.from_defaults(engine, name=name, description="The rules of the pool.")


def repeating() -> ChattingModel:
    """Make a model that sums up what other engines have answered."""
    return ChattingModel(talk=Repeating())


def questioning(engine: Any, model: CompletingModel) -> Any:
    """An engine that asks a sub-question of another one and sums up with a model."""
    return SubQuestionQueryEngine(
        OneSubQuestion(), get_response_synthesizer(llm=model), [tool(engine)], verbose=False
    )


def questioning_guarded(parts: Parts, wrap: Wrap) -> Any:
    """A sub-question engine over a guarded engine."""
    return questioning(retrieving(parts, wrap), repeating())


def guarded_questioning(parts: Parts, wrap: Wrap) -> Any:
    """A guarded sub-question engine over an unguarded one."""
    return wrap(questioning(retrieving(parts, as_it_is), parts.model))


def routing(parts: Parts, wrap: Wrap, engines: int = 1, **options: Any) -> Any:
    """A router to guarded engines; several answers are summed up."""
    tools = [tool(retrieving(parts, wrap, **options), f"pool-{n}") for n in range(engines)]
    return RouterQueryEngine(Everything(), tools, llm=repeating())


def guarded_routing(parts: Parts, wrap: Wrap) -> Any:
    """A guarded router to an unguarded engine."""
    return wrap(routing(parts, as_it_is))


# Chat engines

Remember = Callable[[], BaseMemory]


def buffer() -> BaseMemory:
    """Remember in a list."""
    return ChatMemoryBuffer.from_defaults(token_limit=8000)


def memory() -> BaseMemory:
    """Remember in the newer memory, a table of a database."""
    return Memory.from_defaults(token_limit=8000, async_engine=_database())


@cache
def _database() -> AsyncEngine:
    # A database in memory keeps its connection open beyond the event loop that made it, and the
    # thread of that connection then fails when the garbage is collected. A file needs no such.
    folder = mkdtemp()
    atexit.register(rmtree, folder, ignore_errors=True)
    return create_async_engine(f"sqlite+aiosqlite:///{folder}/memory.db", poolclass=NullPool)


def simple_chat(parts: Parts, wrap: Wrap, remember: Remember = buffer) -> Any:
    """Chat without any context."""
    return wrap(SimpleChatEngine.from_defaults(llm=parts.model, memory=remember()))


def context_chat(parts: Parts, wrap: Wrap, remember: Remember = buffer) -> Any:
    """Chat over passages in the system prompt."""
    engine = ContextChatEngine.from_defaults(
        parts.retriever, llm=parts.model, memory=remember(), system_prompt="Talk politely."
    )
    return wrap(engine)


def condense_chat(parts: Parts, wrap: Wrap, remember: Remember = buffer) -> Any:
    """Chat over a query engine."""
    engine = CondenseQuestionChatEngine.from_defaults(
        retrieving(parts, as_it_is), llm=parts.model, memory=remember()
    )
    return wrap(engine)


def condense_plus_chat(parts: Parts, wrap: Wrap, remember: Remember = buffer) -> Any:
    """Chat over passages found by a condensed question."""
    engine = CondensePlusContextChatEngine.from_defaults(
        parts.retriever, llm=parts.model, memory=remember()
    )
    return wrap(engine)


def chat_over_guarded(parts: Parts, wrap: Wrap, **options: Any) -> Any:
    """An unguarded chat engine over a guarded query engine."""
    return CondenseQuestionChatEngine.from_defaults(
        retrieving(parts, wrap, **options), llm=parts.model, memory=buffer()
    )


def abstaining(text: str) -> str:
    """Say that nothing was found where the script would say something true."""
    return text if LIE in text else ABSTENTION


# The shapes

_SEVERAL: dict[str, Any] = {"nodes": long_passages, "window": SMALL_WINDOW, "several": True}
_MODELS: dict[str, type[CompletingModel]] = {
    "completion": CompletingModel,
    "chat": ChattingModel,
}


def _mode(mode: ResponseMode, several: bool = False, streaming: bool = False) -> tuple[Shape, ...]:
    """Write the engine in one mode, once for each kind of model."""
    name = " ".join([mode.value, *["several chunks"] * several, *["streaming"] * streaming])
    return tuple(
        Shape(
            name=f"{name}, {kind} model",
            build=partial(retrieving, response_mode=mode, streaming=streaming),
            model=model,
            **(_SEVERAL if several else {}),
        )
        for kind, model in _MODELS.items()
    )


COMPACT = _mode(ResponseMode.COMPACT)
MODES = (
    *COMPACT,
    *_mode(ResponseMode.COMPACT, several=True),
    *_mode(ResponseMode.REFINE),
    *_mode(ResponseMode.TREE_SUMMARIZE),
    *_mode(ResponseMode.TREE_SUMMARIZE, several=True),
    *_mode(ResponseMode.SIMPLE_SUMMARIZE),
    *_mode(ResponseMode.ACCUMULATE),
    *_mode(ResponseMode.COMPACT_ACCUMULATE, several=True),
)
STREAMED = _mode(ResponseMode.COMPACT, streaming=True)
STREAMING_MODES = (
    *STREAMED,
    *_mode(ResponseMode.COMPACT, several=True, streaming=True),
    *_mode(ResponseMode.REFINE, streaming=True),
    *_mode(ResponseMode.TREE_SUMMARIZE, several=True, streaming=True),
    *_mode(ResponseMode.SIMPLE_SUMMARIZE, streaming=True),
)

CITATION = Shape(name="CitationQueryEngine", build=citing, write=cited)
CITATION_STREAMED = Shape(
    name="CitationQueryEngine streaming", build=partial(citing, streaming=True), write=cited
)
PYDANTIC = tuple(
    Shape(
        name=f"output_cls, {kind} model",
        build=partial(retrieving, output_cls=Notice),
        model=model,
        write=as_notice,
    )
    for kind, model in _MODELS.items()
)
OTHER = (
    CITATION,
    *PYDANTIC,
    Shape(name="CustomQueryEngine, text", build=partial(own, kind=TextFromFunction)),
    Shape(name="CustomQueryEngine, text, sync", build=partial(own, kind=SyncTextFromFunction)),
    Shape(name="CustomQueryEngine, response", build=partial(own, kind=ResponseFromFunction)),
    Shape(
        name="CustomQueryEngine, completion model",
        build=partial(own, kind=TextFromFunction),
        model=CompletingModel,
    ),
    Shape(name="TransformQueryEngine", build=transformed),
    Shape(name="reranker", build=partial(retrieving, node_postprocessors=[Backwards()])),
    Shape(
        name="postprocessor drops what would support the lie",
        build=partial(retrieving, node_postprocessors=[NoRumours()]),
        nodes=with_rumour,
    ),
    Shape(name="guarded SubQuestionQueryEngine", build=guarded_questioning),
    Shape(name="guarded RouterQueryEngine", build=guarded_routing),
    Shape(name="RouterQueryEngine over a guarded", build=routing, around=False),
    Shape(
        name="RouterQueryEngine over two guarded", build=partial(routing, engines=2), around=False
    ),
)
SUB_QUESTIONS = Shape(
    name="SubQuestionQueryEngine over a guarded", build=questioning_guarded, around=False
)
ROUTED_STREAM = Shape(
    name="RouterQueryEngine over a guarded streaming",
    build=partial(routing, streaming=True),
    around=False,
)

_CHATS: dict[str, tuple[Callable[..., Any], Write]] = {
    "SimpleChatEngine": (simple_chat, abstaining),
    "ContextChatEngine": (context_chat, as_it_is),
    "CondenseQuestionChatEngine": (condense_chat, as_it_is),
    "CondensePlusContextChatEngine": (condense_plus_chat, as_it_is),
}


def _chats(
    note: str, model: type[CompletingModel] = ChattingModel, remember: Remember = buffer
) -> tuple[Shape, ...]:
    return tuple(
        Shape(
            name=f"{name}, {note}",
            build=partial(build, remember=remember),
            model=model,
            write=write,
        )
        for name, (build, write) in _CHATS.items()
    )


CHATS = _chats("ChatMemoryBuffer")
CHATS_IN_MEMORY = _chats("Memory", remember=memory)
CHATS_COMPLETING = _chats("completion model", model=CompletingModel)
CHAT_OVER_GUARDED = Shape(
    name="CondenseQuestionChatEngine over a guarded", build=chat_over_guarded, around=False
)
CHAT_OVER_GUARDED_STREAM = Shape(
    name="CondenseQuestionChatEngine over a guarded streaming",
    build=partial(chat_over_guarded, streaming=True),
    around=False,
)
