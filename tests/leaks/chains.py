"""The shapes of a RAG chain. In: a model. Out: a runnable, what to hand it, how to guard it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from langchain_classic.chains import RetrievalQA, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from .scene import PoolRetriever, Script, ScriptedModel

RULES = "Answer from this context only:\n{context}"
PROMPT = ChatPromptTemplate.from_messages([("system", RULES), ("human", "{question}")])
INPUT_PROMPT = ChatPromptTemplate.from_messages([("system", RULES), ("human", "{input}")])
HISTORY_PROMPT = ChatPromptTemplate.from_messages(
    [("system", RULES), MessagesPlaceholder("history"), ("human", "{input}")]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way to write the same RAG chain."""

    name: str
    build: Callable[[ScriptedModel], Runnable[Any, Any]]
    ask: Callable[[str], Any] = str
    """From a question to the input of the chain."""
    keys: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a user of `guard` has to say about this shape."""
    streaming: bool = False

    def model(self, script: Script) -> ScriptedModel:
        """Make the model; `streaming` counts as set only where it is."""
        return ScriptedModel(script=script, **({"streaming": True} if self.streaming else {}))


def joined(documents: Sequence[Document]) -> str:
    """Write the passages as they stand in the prompt."""
    return "\n\n".join(document.page_content for document in documents)


def ends_in_message(model: ScriptedModel) -> Runnable[Any, Any]:
    """LCEL that ends in the model."""
    return {"context": PoolRetriever() | joined, "question": RunnablePassthrough()} | PROMPT | model


def ends_in_text(model: ScriptedModel) -> Runnable[Any, Any]:
    """LCEL that ends in a string parser."""
    return ends_in_message(model) | StrOutputParser()


def retrieval_chain(model: ScriptedModel) -> Runnable[Any, Any]:
    """`create_retrieval_chain`: a dict with input, context and answer."""
    return create_retrieval_chain(
        PoolRetriever(), create_stuff_documents_chain(model, INPUT_PROMPT)
    )


def assigned(model: ScriptedModel) -> Runnable[Any, Any]:
    """`RunnablePassthrough.assign`: a dict with question, context and answer."""
    answer = (
        RunnablePassthrough.assign(context=lambda state: joined(state["context"]))
        | PROMPT
        | model
        | StrOutputParser()
    )
    return RunnablePassthrough.assign(
        context=itemgetter("question") | PoolRetriever()
    ) | RunnablePassthrough.assign(answer=answer)


def retrieval_qa(model: ScriptedModel) -> Runnable[Any, Any]:
    """The classic `RetrievalQA`: a dict with query and result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        return RetrievalQA.from_chain_type(llm=model, retriever=PoolRetriever())


def lambdas(model: ScriptedModel) -> Runnable[Any, Any]:
    """Plain functions that call retriever and model and pass no config on."""
    retriever = PoolRetriever()

    def fetch(question: str) -> dict[str, str]:
        return {"question": question, "context": joined(retriever.invoke(question))}

    async def afetch(question: str) -> dict[str, str]:
        return {"question": question, "context": joined(await retriever.ainvoke(question))}

    def write(fields: dict[str, str]) -> str:
        return model.invoke(PROMPT.invoke(fields)).text

    async def awrite(fields: dict[str, str]) -> str:
        return (await model.ainvoke(await PROMPT.ainvoke(fields))).text

    return RunnableLambda(fetch, afetch) | RunnableLambda(write, awrite)


def with_history(model: ScriptedModel) -> Runnable[Any, Any]:
    """LCEL over a dict with input and history, for a message history around it."""
    context = RunnablePassthrough.assign(context=itemgetter("input") | PoolRetriever() | joined)
    return context | HISTORY_PROMPT | model | StrOutputParser()


TEXT = Shape(name="text", build=ends_in_text)
MESSAGE = Shape(name="message", build=ends_in_message)
RETRIEVAL_CHAIN = Shape(
    name="create_retrieval_chain", build=retrieval_chain, ask=lambda question: {"input": question}
)
ASSIGN = Shape(
    name="assign(context, answer)", build=assigned, ask=lambda question: {"question": question}
)
RETRIEVAL_QA = Shape(
    name="RetrievalQA",
    build=retrieval_qa,
    ask=lambda question: {"query": question},
    keys={"question_key": "query", "answer_key": "result"},
)
LAMBDAS = Shape(name="lambdas without config", build=lambdas)
STREAMING = Shape(name="model with streaming=True", build=ends_in_text, streaming=True)
HISTORY = Shape(
    name="text, dict input", build=with_history, ask=lambda question: {"input": question}
)

SHAPES = (TEXT, MESSAGE, RETRIEVAL_CHAIN, ASSIGN, RETRIEVAL_QA, LAMBDAS, STREAMING)
