"""A share of the runs is checked: watcher, guard, middleware and node."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda, RunnableSequence
from langgraph.graph import END, START, StateGraph

from faithguard import ConfigError, Record
from faithguard.sampling import takes
from faithguard_langchain import FaithfulnessCallback, FaithfulnessMiddleware, guard, verify_node

from .agents import ASK, agent, said
from .scene import BAD, QUESTION, WAYS, Chain, says, text_chain

HALF: dict[str, Any] = {"on_fail": "flag", "sample": 0.5}
RUNS = [uuid.UUID(int=n) for n in range(12)]
TAKEN = [run for run in RUNS if takes(0.5, str(run))]


def test_a_watcher_reports_on_the_runs_that_the_hash_chooses() -> None:
    """The root's id decides, whatever runs inside."""
    watcher = FaithfulnessCallback(sample=0.5, sinks=[])
    chain = text_chain(says(BAD))
    for run in RUNS:
        chain.invoke(QUESTION, {"callbacks": [watcher], "run_id": run})
    assert watcher.wait()
    assert 0 < len(TAKEN) < len(RUNS)
    assert len(watcher.reports) == len(TAKEN)
    assert watcher.open_runs == 0


def inside(safe: Chain) -> Chain:
    """Return a chain whose run is above the guard's."""
    return RunnableSequence(RunnableLambda(str), safe)


@pytest.mark.parametrize("above", [lambda safe: safe, inside], ids=["alone", "inside"])
def test_a_guard_checks_the_runs_that_the_hash_chooses(above: Callable[[Any], Any]) -> None:
    """By the run that it is called in, or its own."""
    records: list[Record] = []
    safe = guard(text_chain(says(BAD)), sinks=[records.append], **HALF)
    for run in RUNS:
        assert above(safe).invoke(QUESTION, {"run_id": run}) == BAD
    assert safe.wait()
    assert len(records) == len(TAKEN)


def test_two_guards_in_a_run_share_its_fate() -> None:
    """Both check, or neither does."""
    counts: list[int] = []
    for _ in range(20):
        records: list[Record] = []
        first = guard(text_chain(says(BAD)), sinks=[records.append], **HALF)
        second = guard(text_chain(says(BAD)), sinks=[records.append], **HALF)
        (first | RunnableLambda(str) | second).invoke(QUESTION)
        assert first.wait()
        assert second.wait()
        counts.append(len(records))
    assert set(counts) == {0, 2}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_not_checked_is_the_chains_own(way: str) -> None:
    """In every way of calling; a stream comes token by token."""
    records: list[Record] = []
    chain = text_chain(says(BAD))
    safe = guard(chain, on_fail="flag", sample=0, sinks=[records.append])
    got, plain = WAYS[way](safe, QUESTION, {}), WAYS[way](chain, QUESTION, {})
    assert str(got) == str(plain) if way != "astream_events" else len(got) >= len(plain)
    assert safe.wait()
    assert records == []
    assert not safe.with_report().invoke(QUESTION).report.decide().passed


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_turn_of_an_agent_is_checked_or_not(way: str, share: float) -> None:
    """All hops of a turn share its fate; the message says nothing if nobody looked."""
    records: list[Record] = []
    safe = agent(BAD, on_fail="flag", sample=share, sinks=[records.append])
    result = safe.invoke(ASK) if way == "invoke" else asyncio.run(safe.ainvoke(ASK))
    assert said(result) == BAD
    assert ("faithguard" in result["messages"][-1].response_metadata) is bool(share)


def test_turns_are_chosen_by_the_users_message() -> None:
    """Its id is the same in all hops, processes and retries."""
    some = FaithfulnessMiddleware(sinks=[], **HALF)
    checked = []
    for run in RUNS:
        result = agent(BAD, guarding=some).invoke(
            {"messages": [{"role": "user", "content": QUESTION, "id": str(run)}]}
        )
        if "faithguard" in result["messages"][-1].response_metadata:
            checked.append(run)
    assert checked == TAKEN


@pytest.mark.parametrize("runnable", [False, True])
def test_a_node_is_checked_or_not(runnable: bool) -> None:
    """A function and a Runnable; the graph's run decides."""
    records: list[Record] = []

    def answer(state: dict[str, Any]) -> dict[str, Any]:
        return {"answer": BAD}

    node: Any = RunnableLambda(answer) if runnable else answer
    graph = StateGraph(dict)
    graph.add_node("answer", verify_node(node, sinks=[records.append], **HALF))
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    compiled = graph.compile()
    for _ in range(40):
        assert compiled.invoke({"question": QUESTION, "docs": [BAD]})["answer"] == BAD
    assert 5 < len(records) < 35


def test_sampling_is_for_those_who_only_flag() -> None:
    """A guard that holds back is refused, by name."""
    for make in (guard, verify_node):
        with pytest.raises(ConfigError, match=r"`sample` is 0\.1, but on_fail='block'"):
            make(text_chain(says(BAD)), sample=0.1)
    with pytest.raises(ConfigError, match="on_fail='repair'"):
        FaithfulnessMiddleware(on_fail="repair", sample=0.1)
