"""The scene of the watcher's tests: an observatory, and engines as people build them.

In: what a model says. Out: engines of every kind, and the ways of calling and reading them. All
are real LlamaIndex objects; each way returns the whole text that a caller gets.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.base_selector import (
    BaseSelector,
    MultiSelection,
    SelectorResult,
    SingleSelection,
)
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.memory import ChatMemoryBuffer
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
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool, ToolMetadata

from faithguard import Passage, Report
from faithguard.types import Claim
from faithguard_llama_index import Watcher, watch
from faithguard_llama_index.testing import PassageRetriever, ScriptedLLM

HOURS = "The Vesper observatory admits visitors from 18:30 to 23:00 on Fridays and Saturdays."
PRICE = "A guided tour of the observatory costs 12 euros."
MIRROR = "The large telescope of the observatory has a mirror of 90 centimetres."
TEXTS = (HOURS, PRICE, MIRROR)

QUESTION = "When does the Vesper observatory admit visitors and what does a guided tour cost?"
TRUE = f"{HOURS} {PRICE}"
LIE = "Professor Quillfeather hands out marzipan comets."
BAD = f"{HOURS} {LIE}"
RULES = f"Answer from these notes only. {HOURS} {PRICE}"
"""A system prompt, for the chat engine that has no other context."""


class Script:
    """A model's lines: the next one for each call, the last one from then on; prompts are kept."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines
        self.prompts: list[str] = []

    def __call__(self, messages: list[ChatMessage]) -> str:
        """Return the next line."""
        self.prompts.append("\n".join(str(message.content) for message in messages))
        return self._lines[min(len(self.prompts), len(self._lines)) - 1]


def says(*lines: str, **settings: Any) -> ScriptedLLM:
    """Return a model that says these lines in turn."""
    return ScriptedLLM(reply=Script(*lines), **settings)


def prompts_of(llm: ScriptedLLM) -> list[str]:
    """Return the prompts that a model made by `says` got."""
    assert isinstance(llm.reply, Script)
    return llm.reply.prompts


def finds(*texts: str, k: int = 3) -> PassageRetriever:
    """Return a retriever over texts."""
    return PassageRetriever([Passage(text=t, source=source_of(t)) for t in texts or TEXTS], k=k)


def source_of(text: str) -> str:
    """Return the source of the passage with a text."""
    return f"page-{len(text)}"


class Shelf(BaseRetriever):
    """A retriever that returns all its nodes, whatever the question."""

    def __init__(self, *nodes: Any) -> None:
        super().__init__()
        self.nodes = [TextNode(text=node) if isinstance(node, str) else node for node in nodes]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=1.0) for node in self.nodes]


# -- query engines ----------------------------------------------------------------------------


class OneSubQuestion(BaseQuestionGenerator):
    """Asks the same of every engine."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Ask."""
        return [SubQuestion(sub_question=QUESTION, tool_name=tool.get_name()) for tool in tools]

    async def agenerate(
        self, tools: Sequence[ToolMetadata], query: QueryBundle
    ) -> list[SubQuestion]:
        """Ask, awaiting."""
        return self.generate(tools, query)


class Everything(BaseSelector):
    """Takes every engine that it is offered."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        picks = [SingleSelection(index=n, reason="all") for n in range(len(choices))]
        return MultiSelection(selections=picks)

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)


def tool(engine: Any, name: str = "observatory") -> QueryEngineTool:
    """Make a tool of an engine."""
    return QueryEngineTool.from_defaults(engine, name=name, description="The observatory.")


def asking(llm: Any, streaming: bool = False, retriever: Any = None, **options: Any) -> Any:
    """The usual query engine, by default in mode compact."""
    return RetrieverQueryEngine.from_args(
        retriever or finds(), llm=llm, streaming=streaming, **options
    )


def in_mode(mode: ResponseMode) -> Callable[..., Any]:
    """The usual query engine in a mode."""

    def build(llm: Any, streaming: bool = False, **options: Any) -> Any:
        return asking(llm, streaming, response_mode=mode, **options)

    return build


def completing(llm: Any, streaming: bool = False) -> Any:
    """The usual query engine with a completion model."""
    return asking(llm.model_copy(update={"is_chat_model": False}), streaming)


def citing(llm: Any, streaming: bool = False) -> Any:
    """An engine that numbers its sources."""
    without_index: Any = None
    return CitationQueryEngine.from_args(
        without_index, llm=llm, retriever=finds(), streaming=streaming
    )


def transformed(llm: Any, streaming: bool = False) -> Any:
    """An engine behind HyDE, whose hypothetical document is no evidence."""
    return TransformQueryEngine(asking(llm, streaming), HyDEQueryTransform(llm=says(LIE)))


def questioning(llm: Any, streaming: bool = False, **options: Any) -> Any:
    """An engine that asks another one, and answers from what that says."""
    synthesizer = get_response_synthesizer(llm=llm, streaming=streaming)
    options = {"verbose": False, **options}
    return SubQuestionQueryEngine(OneSubQuestion(), synthesizer, [tool(asking(llm))], **options)


def routing(llm: Any, streaming: bool = False) -> Any:
    """A router to one engine."""
    return RouterQueryEngine(Everything(), [tool(asking(llm, streaming))], llm=llm)


class Own(CustomQueryEngine):
    """A user's own engine, which returns a string."""

    retriever: Any
    llm: Any

    def custom_query(self, query_str: str) -> Any:
        """Retrieve and ask."""
        return self.llm.complete(self._prompt(query_str)).text

    async def acustom_query(self, query_str: str) -> Any:
        """Retrieve and ask, awaiting."""
        return (await self.llm.acomplete(self._prompt(query_str))).text

    def _prompt(self, query_str: str) -> str:
        nodes = self.retriever.retrieve(query_str)
        context = "\n\n".join(node.get_content() for node in nodes)
        return f"Context:\n{context}\n\nQuery: {query_str}\nAnswer: "


def own(llm: Any, streaming: bool = False) -> Any:
    """A user's own engine; it streams no answer."""
    return Own(retriever=finds(), llm=llm)


QUERY_ENGINES: Mapping[str, Callable[..., Any]] = {
    "compact": asking,
    "refine": in_mode(ResponseMode.REFINE),
    "tree_summarize": in_mode(ResponseMode.TREE_SUMMARIZE),
    "simple_summarize": in_mode(ResponseMode.SIMPLE_SUMMARIZE),
    "completion model": completing,
    "citations": citing,
    "HyDE": transformed,
    "sub-questions": questioning,
    "router": routing,
    "own": own,
}

# -- chat engines -----------------------------------------------------------------------------


def simple_chat(llm: Any, **options: Any) -> Any:
    """Chat without a retriever; the rules of the house stand in the system prompt."""
    return SimpleChatEngine.from_defaults(
        llm=llm, memory=memory(), **{"system_prompt": RULES, **options}
    )


def context_chat(llm: Any, retriever: Any = None, **options: Any) -> Any:
    """Chat over passages in the system prompt."""
    return ContextChatEngine.from_defaults(
        retriever or finds(), llm=llm, memory=memory(), **options
    )


def condense_chat(llm: Any, retriever: Any = None, **options: Any) -> Any:
    """Chat over a query engine."""
    return CondenseQuestionChatEngine.from_defaults(
        asking(llm, retriever=retriever), llm=llm, memory=memory(), **options
    )


def condense_plus_chat(llm: Any, retriever: Any = None, **options: Any) -> Any:
    """Chat over passages that are found by a condensed question."""
    return CondensePlusContextChatEngine.from_defaults(
        retriever or finds(), llm=llm, memory=memory(), **options
    )


def memory() -> ChatMemoryBuffer:
    """A conversation that has not begun."""
    return ChatMemoryBuffer.from_defaults(token_limit=8_000)


CHAT_ENGINES: Mapping[str, Callable[..., Any]] = {
    "simple": simple_chat,
    "context": context_chat,
    "condense question": condense_chat,
    "condense plus context": condense_plus_chat,
}

# -- ways of calling and reading --------------------------------------------------------------


def _async(way: Callable[[Any, str], Any]) -> Callable[[Any, str], str]:
    return lambda engine, question: str(asyncio.run(way(engine, question)))


async def joined(tokens: AsyncIterator[str]) -> str:
    """Return what a stream yields, as one text."""
    return "".join([token async for token in tokens])


async def _aquery(engine: Any, question: str) -> str:
    return str((await engine.aquery(question)).response)


async def _aquery_stream(engine: Any, question: str) -> str:
    return await joined((await engine.aquery(question)).async_response_gen())


async def _achat(engine: Any, question: str) -> str:
    return str((await engine.achat(question)).response)


async def _astream_chat(engine: Any, question: str) -> str:
    return await joined((await engine.astream_chat(question)).async_response_gen())


QUERY_WAYS: Mapping[str, tuple[bool, Callable[[Any, str], str]]] = {
    "query": (False, lambda engine, question: str(engine.query(question))),
    "aquery": (False, _async(_aquery)),
    "query, streamed": (True, lambda e, question: "".join(e.query(question).response_gen)),
    "aquery, streamed": (True, _async(_aquery_stream)),
}
"""From a name to whether the engine streams, and how it is called."""

CHAT_WAYS: Mapping[str, Callable[[Any, str], str]] = {
    "chat": lambda engine, question: str(engine.chat(question)),
    "achat": _async(_achat),
    "stream_chat": lambda e, question: "".join(e.stream_chat(question).response_gen),
    "astream_chat": _async(_astream_chat),
}


def watching(**settings: Any) -> Watcher:
    """Watch without a log line for each answer."""
    return watch(**{"sinks": [], **settings})


def only(watcher: Watcher) -> Report:
    """Return the one report that a watcher has made."""
    assert watcher.wait(30)
    assert len(watcher.reports) == 1, [r.exchange.answer for r in watcher.reports]
    assert watcher.open_runs == 0
    return watcher.reports[0]


def queried(engine: Any, question: str = QUESTION) -> Report:
    """Return the report on one query."""
    watcher = watching()
    engine.query(question)
    return only(watcher)


def assert_empty(watcher: Watcher) -> None:
    """Check that a watcher holds nothing of any call."""
    assert watcher.wait(30)
    gc.collect()
    assert watcher.open_runs == 0


def claim(report: Report, words: str) -> Claim:
    """Return the claim of a report that holds some words."""
    found = [claim for claim in report.claims if words in claim.text]
    assert len(found) == 1, [claim.text for claim in report.claims]
    return found[0]


def seen(report: Report) -> list[str]:
    """Return the texts that reached a prompt."""
    return [passage.text for passage in report.exchange.passages if passage.seen]


def in_threads(work: Sequence[Callable[[], Any]], threads: int = 16) -> list[Any]:
    """Run functions at once and return what they return, in order."""
    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(job) for job in work]]
