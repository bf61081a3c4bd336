"""The README's blocks run as they stand, and its table of a report is a report's."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.query_engine import RetrieverQueryEngine
from openai import OpenAI

from faithguard import Passage, Report
from faithguard.sinks import JsonlSink, SqliteSink
from faithguard.testing import ChatServer, JudgeServer, example_record
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel
from faithguard_llama_index import unwatch
from faithguard_llama_index.testing import PassageRetriever as NodeRetriever
from faithguard_llama_index.testing import ScriptedLLM

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
LEAFLET = "The sauna is open from 14:00 to 21:00. Towels cost 3 euros."


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def a_chain() -> Any:
    """Return what the README calls `chain`: any chain with a retriever."""
    retriever = PassageRetriever(passages=[Passage(text=LEAFLET)])
    model = ScriptedChatModel(reply=lambda messages: "The sauna opens at 2pm.")
    return (
        {
            "context": retriever | (lambda docs: "\n".join(d.page_content for d in docs)),
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("Context: {context}\n\nQuestion: {question}")
        | model
        | StrOutputParser()
    )


def an_engine() -> Any:
    """Return what the README calls `engine`: any query engine of LlamaIndex."""
    retriever = NodeRetriever(passages=[Passage(text=LEAFLET)])
    llm = ScriptedLLM(reply=lambda messages: "The sauna opens at 2pm.")
    return RetrieverQueryEngine.from_args(retriever, llm=llm)


def an_app(url: str) -> dict[str, Any]:
    """Return what else the README takes for granted: a model with tools, a client, functions."""

    def towels(size: str) -> str:
        """Say what a towel costs."""
        return f"A {size} towel costs 3 euros."

    return {
        "model": ScriptedChatModel(reply=lambda messages: "The sauna opens at 2pm."),
        "tools": [towels],
        "client": OpenAI(base_url=url, api_key="none"),
        "passages": [LEAFLET],
        "messages": [{"role": "user", "content": "When does the sauna open?"}],
        "search": lambda question: [LEAFLET],
        "write": lambda question, found: "The sauna opens at 2pm.",
    }


@pytest.fixture
def _unwatched() -> Iterator[None]:
    """Leave no watcher of the README's behind."""
    yield
    unwatch()


@pytest.mark.usefixtures("_unwatched")
def test_python_blocks_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python blocks run one after the other, given a chain and an engine, as the text says."""
    monkeypatch.chdir(tmp_path)
    watchers = []

    with JudgeServer() as server, ChatServer(lambda messages: "The sauna opens at 2pm.") as models:
        names: dict[str, Any] = {"chain": a_chain(), "engine": an_engine(), **an_app(models.url)}
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for block in blocks("python"):
            exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - it is our own README
            watchers.append(names["watcher"])

    assert names["answer"] == names["safe_answer"] == "The sauna opens at 2pm."
    assert str(names["response"]) == str(names["safe_response"]) == names["answer"]
    assert names["safe_response"].metadata["faithguard"]["passed"]
    assert names["result"].passing
    turn = names["agent"].invoke({"messages": [("user", "When does the sauna open?")]})
    assert turn["messages"][-1].text == "Please ask at the desk."
    assert not turn["faithguard"]["passed"]
    assert names["completion"].choices[0].message.content == names["answer"]
    assert names["completion"].faithguard["passed"]
    assert names["answered"]("When does the sauna open?") == names["answer"]
    assert (names["judged"].supported, names["judged"].usage.calls) == (0, 1)
    assert watchers[0].wait(10)
    assert [report.supported for report in watchers[0].reports] == [1]
    assert names["watcher"].wait(10)
    assert [report.supported for report in names["watcher"].reports] == [1, 1]
    assert names["record"].decision.passed
    assert "1 of 3 claims supported" in capsys.readouterr().out
    assert names["own"].domain == "wiki"


def test_table_of_a_report_is_the_reports() -> None:
    """Claims, verdicts and reasons of the README's table are those of the report beside it."""
    names: dict[str, Any] = {}
    exec(  # noqa: S102 - our own README
        compile(next(b for b in blocks("python") if "faithguard.check(" in b), "README.md", "exec"),
        names,
    )
    report: Report = names["report"]
    table = README.partition("| claim | verdict |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]

    told = [[claim.text, claim.label.replace("_", " "), claim.reason] for claim in report.facts]

    assert [[text, verdict[2:], why] for text, verdict, why, _ in rows] == told
    assert [cell.strip("“”") for *_, cell in rows] == [
        claim.evidence[0].quote if claim.evidence else "" for claim in report.facts
    ]


@pytest.mark.parametrize(
    "command",
    [
        part
        for block in blocks("bash")
        for line in block.splitlines()
        for part in line.split(" && ")
        if part.startswith("faithguard ")
    ],
)
def test_commands_run(command: str, tmp_path: Path) -> None:
    """The README's commands run; a check of an unfaithful answer exits 1."""
    (tmp_path / "leaflet.txt").write_text(LEAFLET, "utf-8")
    (tmp_path / "answer.txt").write_text("Towels cost 5 euros.", "utf-8")

    exchange = {"question": "When?", "answer": "Towels cost 3 euros.", "contexts": [LEAFLET]}
    (tmp_path / "exchanges.jsonl").write_text(json.dumps(exchange), "utf-8")
    record = example_record()
    SqliteSink(tmp_path / "answers.db").write(record)
    for name in ("main", "branch"):
        sink = JsonlSink(tmp_path / f"{name}.jsonl")
        for number in range(8):
            sink.write(
                replace(
                    record,
                    exchange=replace(
                        record.exchange, id=f"{name}-{number}", question=f"Question {number}?"
                    ),
                )
            )

    done = subprocess.run(
        [sys.executable, "-m", "faithguard.cli", *shlex.split(command)[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == (1 if " check " in command else 0), done.stderr
    assert done.stdout or done.stderr


def test_the_two_commands_stand_there() -> None:
    """A newcomer finds the two commands that set up and run everything."""
    assert 'pip install ".[langchain]" && faithguard demo' in README
    assert 'pip install ".[dev]" && pytest' in README
    assert 'pip install --quiet --disable-pip-version-check ".[dev]"' in (
        ROOT / ".ci" / "run"
    ).read_text("utf-8")
