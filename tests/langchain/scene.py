"""The scene: an observatory, models that follow scripts, chains as people write them.

In: nothing of a provider. Out: chains, the ways of running them, and the texts whose provenance
the tests know.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypedDict

from langchain_classic.chains import RetrievalQA, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.language_models import LLM, BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult, GenerationChunk
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langgraph.graph import END, START, StateGraph
from pydantic import Field

from faithguard import Passage, Report
from faithguard.types import Claim
from faithguard_langchain import FaithfulnessCallback
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel

HOURS = "The Vesper observatory admits visitors from 18:30 to 23:00 on Fridays and Saturdays."
PRICE = "A guided tour of the observatory costs 12 euros."
MIRROR = "The large telescope of the observatory has a mirror of 90 centimetres."
TEXTS = (HOURS, PRICE, MIRROR)

QUESTION = "When does the Vesper observatory admit visitors and what does a guided tour cost?"
TRUE = f"{HOURS} {PRICE}"
LIE = "Professor Quillfeather hands out marzipan comets."
BAD = f"{HOURS} {LIE}"
FALLBACK = "Please ask at the ticket office."

SYSTEM = "Answer from this context only:\n{context}"
PROMPT = ChatPromptTemplate.from_messages([("system", SYSTEM), ("human", "{question}")])
INPUT_PROMPT = ChatPromptTemplate.from_messages([("system", SYSTEM), ("human", "{input}")])

Chain = Runnable[Any, Any]


class Script:
    """A model's lines: the next one for each call, the last one from then on; calls are kept."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines
        self.calls: list[list[BaseMessage]] = []

    def __call__(self, messages: list[BaseMessage]) -> str:
        """Return the next line."""
        self.calls.append(list(messages))
        return self._lines[min(len(self.calls), len(self._lines)) - 1]


def says(*lines: str) -> ScriptedChatModel:
    """Return a chat model that says these lines in turn."""
    return ScriptedChatModel(reply=Script(*lines))


def calls_of(model: ScriptedChatModel) -> list[list[BaseMessage]]:
    """Return the messages of every call of a model made by `says`."""
    assert isinstance(model.reply, Script)
    return model.reply.calls


def finds(*texts: str, k: int = 3) -> PassageRetriever:
    """Return a retriever over texts."""
    return PassageRetriever(passages=[Passage(text=t, source=f"page-{t[:9]}") for t in texts], k=k)


class Shelf(BaseRetriever):
    """A retriever that returns all it has, whatever the question."""

    texts: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(text) for text in self.texts]


class CompletionModel(LLM):
    """A completion model: text in, text out, word by word when streamed."""

    text: str = TRUE
    prompts: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted-completion"

    def _call(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        self.prompts.append(prompt)
        return self.text

    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        self.prompts.append(prompt)
        for word in self.text.split(" "):
            chunk = GenerationChunk(text=f"{word} ")
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


class Turns(BaseChatModel):
    """A chat model that returns ready messages in turn, tool calls and metadata included."""

    turns: list[Any]
    done: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "turns"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.done.append(list(messages))
        turn = self.turns[min(len(self.done), len(self.turns)) - 1]
        if isinstance(turn, Exception):
            raise turn
        return ChatResult(generations=[ChatGeneration(message=turn.model_copy())])


def call(tool: str, id: str = "call-1", **args: Any) -> AIMessage:
    """Return a model's wish to call a tool."""
    return AIMessage(content="", tool_calls=[{"name": tool, "args": args, "id": id}])


# -- chains -----------------------------------------------------------------------------------


def joined(documents: Sequence[Document]) -> str:
    """Write the passages as they stand in most prompts."""
    return "\n\n".join(document.page_content for document in documents)


def text_chain(model: Any, retriever: Any = None, *, join: Callable[..., Any] = joined) -> Chain:
    """LCEL from a question to a string; `join` writes the context."""
    return message_chain(model, retriever, join=join) | StrOutputParser()


def message_chain(model: Any, retriever: Any = None, *, join: Callable[..., Any] = joined) -> Chain:
    """LCEL from a question to a message."""
    retriever = retriever or finds(*TEXTS)
    return {"context": retriever | join, "question": RunnablePassthrough()} | PROMPT | model


def retrieval_chain(model: Any) -> Chain:
    """`create_retrieval_chain`: input, context and answer."""
    return create_retrieval_chain(finds(*TEXTS), create_stuff_documents_chain(model, INPUT_PROMPT))


def retrieval_qa(model: Any) -> Chain:
    """The classic `RetrievalQA`: query and result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        return RetrievalQA.from_chain_type(llm=model, retriever=finds(*TEXTS))


def assigned(model: Any) -> Chain:
    """`RunnablePassthrough.assign`: question, docs and answer."""
    write = {"context": lambda s: joined(s["docs"]), "question": itemgetter("question")} | PROMPT
    return RunnablePassthrough.assign(
        docs=itemgetter("question") | finds(*TEXTS)
    ) | RunnablePassthrough.assign(answer=write | model | StrOutputParser())


def lambdas(model: Any) -> Chain:
    """One plain function that calls everything and passes no config on."""
    retriever = finds(*TEXTS)

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        return str(model.invoke(PROMPT.invoke({"context": context, "question": question})).text)

    async def aanswer(question: str) -> str:
        context = joined(await retriever.ainvoke(question))
        prompt = await PROMPT.ainvoke({"context": context, "question": question})
        return str((await model.ainvoke(prompt)).text)

    return RunnableLambda(answer, aanswer)


def completion_chain(model: Any) -> Chain:
    """LCEL with a completion model, which speaks the chat model's first line."""
    prompt = PromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}\nAnswer:")
    plain = CompletionModel(text=model.reply([]), prompts=[])
    return {"context": finds(*TEXTS) | joined, "question": RunnablePassthrough()} | prompt | plain


class State(TypedDict, total=False):
    """The state of the graph."""

    question: str
    docs: list[Document]
    answer: str


def graph(model: Any) -> Chain:
    """LangGraph: one node fetches, one writes."""
    retriever = finds(*TEXTS)

    def fetch(state: State) -> State:
        return {"docs": retriever.invoke(state["question"])}

    def write(state: State) -> State:
        fields = {"context": joined(state["docs"]), "question": state["question"]}
        return {"answer": (PROMPT | model | StrOutputParser()).invoke(fields)}

    builder = StateGraph(State)
    builder.add_node("fetch", fetch)
    builder.add_node("write", write)
    builder.add_edge(START, "fetch")
    builder.add_edge("fetch", "write")
    builder.add_edge("write", END)
    return builder.compile()


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to write the same chain, and what it takes."""

    build: Callable[[Any], Chain]
    ask: Callable[[str], Any] = str


def _dict(key: str) -> Callable[[str], Any]:
    return lambda question: {key: question}


SHAPES: Mapping[str, Shape] = {
    "text": Shape(text_chain),
    "message": Shape(message_chain),
    "lambdas": Shape(lambdas),
    "completion": Shape(completion_chain),
    "assign": Shape(assigned, _dict("question")),
    "create_retrieval_chain": Shape(retrieval_chain, _dict("input")),
    "RetrievalQA": Shape(retrieval_qa, _dict("query")),
    "graph": Shape(graph, _dict("question")),
}


# -- ways of running --------------------------------------------------------------------------


def _ainvoke(chain: Chain, given: Any, config: Any) -> list[Any]:
    return [asyncio.run(chain.ainvoke(given, config))]


def _astream(chain: Chain, given: Any, config: Any) -> list[Any]:
    async def run() -> list[Any]:
        return [chunk async for chunk in chain.astream(given, config)]

    return asyncio.run(run())


def _events(chain: Chain, given: Any, config: Any) -> list[Any]:
    async def run() -> list[Any]:
        return [event async for event in chain.astream_events(given, config, version="v2")]

    return asyncio.run(run())


WAYS: Mapping[str, Callable[[Chain, Any, Any], list[Any]]] = {
    "invoke": lambda chain, given, config: [chain.invoke(given, config)],
    "ainvoke": _ainvoke,
    "stream": lambda chain, given, config: list(chain.stream(given, config)),
    "astream": _astream,
    "batch": lambda chain, given, config: chain.batch([given], config),
    "abatch": lambda chain, given, config: asyncio.run(chain.abatch([given], config)),
    "astream_events": _events,
}


def watcher(**settings: Any) -> FaithfulnessCallback:
    """Return a watcher that logs nothing."""
    return FaithfulnessCallback(**{"sinks": [], **settings})


def watched(chain: Chain, given: Any, way: str = "invoke", **settings: Any) -> Report:
    """Run a chain, watched, and return its only report."""
    watching = watcher(**settings)
    WAYS[way](chain, given, {"callbacks": [watching]})
    return only(watching)


def only(watching: FaithfulnessCallback) -> Report:
    """Return the one report that a watcher has made."""
    assert watching.wait(30)
    assert len(watching.reports) == 1, watching.reports
    assert watching.open_runs == 0
    return watching.reports[0]


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
