"""`faithguard demo`: a real LangChain RAG chain over a small library's leaflets.

In: a folder of texts, the bundled one by default. Out, on the terminal: the chain watched, then
guarded with block and with regenerate (`faithguard.demo`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from faithguard.demo import FALLBACK, QUESTIONS, leaflets, reply, show
from faithguard_langchain import FaithfulnessCallback, guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel

__all__ = ["main"]

_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the context and from nothing else.\n\nContext:\n{context}"),
        ("human", "{question}"),
    ]
)


def main(corpus: Path | None = None) -> None:
    """Run the demo.

    Args:
        corpus: A folder of `.md` or `.txt` files to retrieve from; the bundled one by default.

    Raises:
        ConfigError: If the folder holds no such files.
    """
    chain = _chain(corpus)
    watcher = FaithfulnessCallback(domain="support", sinks=[])
    for question in QUESTIONS:
        chain.invoke(question, config={"callbacks": [watcher]})
    watcher.wait()
    blocking = guard(chain, domain="support", fallback=FALLBACK, sinks=[])
    asking = guard(chain, domain="support", on_fail="regenerate", fallback=FALLBACK, sinks=[])
    show(
        ("chain.invoke(question, config={'callbacks': [watcher]})", watcher.reports),
        {
            "guard(chain, fallback=...)": blocking.with_report().invoke,
            "guard(chain, on_fail='regenerate')": asking.with_report().invoke,
        },
    )


def _chain(corpus: Path | None) -> Runnable[Any, Any]:
    """A chain as in any tutorial: retriever, prompt, model, parser."""
    retriever = PassageRetriever(passages=leaflets(corpus), k=2)
    model = ScriptedChatModel(reply=_reply)
    return (
        {"context": retriever | _join, "question": RunnablePassthrough()}
        | _PROMPT
        | model
        | StrOutputParser()
    )


def _join(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


def _reply(messages: list[BaseMessage]) -> str:
    return reply([message.text for message in messages if message.type == "human"])
