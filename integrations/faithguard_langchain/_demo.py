"""`faithguard demo`: a real LangChain RAG chain over a small library's leaflets.

In: a folder of texts, the bundled one by default. Out, on the terminal: the chain watched, then
guarded with block and with regenerate. The model is scripted: it is faithful on the first
question, adds a detail of its own on the second, contradicts on the third and abstains on the
fourth. What is printed about its answers comes from the reports of this very run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from faithguard import ConfigError, Passage
from faithguard_langchain import FaithfulnessCallback, Reported, guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel

__all__ = ["main"]

_FALLBACK = "I cannot answer that reliably. Please ask at the desk."

_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the context and from nothing else.\n\nContext:\n{context}"),
        ("human", "{question}"),
    ]
)

# question, first answer, answer after feedback
_SCRIPT = (
    (
        "When is the library open?",
        "The library is open from Tuesday to Saturday, 10am to 7pm. It is closed on Sundays and "
        "Mondays.",
        None,
    ),
    (
        "How many books can I borrow?",
        "You may borrow up to 8 books at a time. Books are lent for 28 days. Members of the "
        "Friends Circle also get a free tote bag.",
        "You may borrow up to 8 books at a time. Books are lent for 28 days.",
    ),
    (
        "What does a late book cost?",
        "A late book costs 0.50 euros per day. The fee for one book is never more than 6 euros.",
        "A late book costs 0.20 euros per day. The fee for one book is never more than 6 euros.",
    ),
    (
        "Is there a car park?",
        "I could not find any information about a car park.",
        None,
    ),
)


def main(corpus: Path | None = None) -> None:
    """Run the demo.

    Args:
        corpus: A folder of `.md` or `.txt` files to retrieve from; the bundled one by default.

    Raises:
        ConfigError: If the folder holds no such files.
    """
    console = Console()
    passages = _read(corpus or Path(__file__).parent / "demo_corpus")
    questions = [question for question, _, _ in _SCRIPT]
    chain = _chain(passages)
    _watch(console, chain, questions)
    _guard(console, chain, questions)


def _read(folder: Path) -> list[Passage]:
    files = sorted(f for f in folder.glob("*") if f.suffix in (".md", ".txt"))
    if not files:
        raise ConfigError(f"no .md or .txt files in {str(folder)!r}: name a folder that has some")
    return [Passage(text=f.read_text("utf-8").strip(), source=f.name) for f in files]


def _chain(passages: Sequence[Passage]) -> Runnable[Any, Any]:
    """A chain as in any tutorial: retriever, prompt, model, parser."""
    retriever = PassageRetriever(passages=passages, k=2)
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
    """What the model writes: the second answer once it has been given feedback."""
    asked = [message.text for message in messages if message.type == "human"]
    first, better = next((a, b) for question, a, b in _SCRIPT if question == asked[0])
    return better if better is not None and len(asked) > 1 else first


def _watch(console: Console, chain: Runnable[Any, Any], questions: Sequence[str]) -> None:
    watcher = FaithfulnessCallback(domain="support", sinks=[])
    title = "watched: chain.invoke(question, config={'callbacks': [watcher]})"
    console.print(Rule(Text(title)))
    for question in questions:
        chain.invoke(question, config={"callbacks": [watcher]})
    watcher.wait()
    for report in watcher.reports:
        console.print(Text(f"\nQ: {report.exchange.question}", style="bold"))
        console.print(report)
        console.print(Text(f"decision: {report.decide().reason}", style="italic"))


def _guard(console: Console, chain: Runnable[Any, Any], questions: Sequence[str]) -> None:
    console.print()
    console.print(Rule("guarded: what the reader gets"))
    guards = {
        "guard(chain, fallback=...)": guard(chain, domain="support", fallback=_FALLBACK, sinks=[]),
        "guard(chain, on_fail='regenerate')": guard(
            chain, domain="support", on_fail="regenerate", fallback=_FALLBACK, sinks=[]
        ),
    }
    table = Table("question", *guards, show_lines=True)
    for question in questions:
        told = [_told(guarded.with_report().invoke(question)) for guarded in guards.values()]
        table.add_row(Text(question), *told)
    console.print(table)


def _told(reported: Reported) -> Text:
    record = reported.record
    note = f"\n[{record.decision.action}, {len(record.attempts)} attempt"
    note += "s" if len(record.attempts) > 1 else ""
    return Text.assemble(str(reported.output), (f"{note}: {record.decision.reason}]", "dim"))
