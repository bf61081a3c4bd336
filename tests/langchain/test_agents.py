"""The agent middleware: what reaches the caller, the state, a checkpoint and the next turn."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from faithguard import ConfigError, Policy, Record, UnfaithfulAnswerError
from faithguard_langchain import FaithfulnessMiddleware

from .agents import ASK, HOPS, WAYS, agent, keeper, said
from .scene import BAD, FALLBACK, HOURS, LIE, TRUE, call, calls_of, in_threads

THREAD: Any = {"configurable": {"thread_id": "visit"}}


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_from_two_hops_is_delivered(way: str) -> None:
    """Evidence of every hop counts; the message and the state hold the decision."""
    assert TRUE in str(WAYS[way](agent(TRUE), ASK, {}))
    result = agent(TRUE).invoke(ASK)
    assert result["faithguard"] == result["messages"][-1].response_metadata["faithguard"]
    assert (result["faithguard"]["passed"], result["faithguard"]["total"]) == (True, 2)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_blocked_answer_reaches_the_caller(way: str) -> None:
    """With a fallback, the caller gets it; no stream carries the answer."""
    shown = str(WAYS[way](agent(BAD, fallback=FALLBACK), ASK, {}))
    assert FALLBACK in shown
    assert "Quillfeather" not in shown


@pytest.mark.parametrize("way", WAYS)
def test_without_a_fallback_a_block_raises(way: str) -> None:
    """The error carries decision, report and record; its words hold no text of the answer."""
    with pytest.raises(UnfaithfulAnswerError, match="1 of 2 claims") as caught:
        WAYS[way](agent(BAD), ASK, {})
    assert caught.value.report.exchange.answer == BAD
    assert caught.value.record is not None
    assert "Quillfeather" not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize("way", WAYS)
def test_the_model_is_asked_again(way: str) -> None:
    """The second answer is delivered; state and streams know neither the first nor feedback."""
    safe = agent(BAD, TRUE, on_fail="regenerate")
    shown = str(WAYS[way](safe, ASK, {}))
    assert TRUE in shown
    assert "Quillfeather" not in shown
    assert "not supported" not in shown
    again = calls_of(safe.model)[-1]
    assert again[-2].text == BAD
    assert LIE in again[-1].text


def test_attempts_are_counted_over_the_turn() -> None:
    """A model that looks things up again between bad answers gets no more attempts for it."""
    safe = agent(BAD, HOPS[0], BAD, TRUE, on_fail="regenerate", fallback=FALLBACK)
    result = safe.invoke(ASK)
    assert said(result) == FALLBACK
    assert result["faithguard"]["attempts"] == 2


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_flag_delivers_with_the_decision(way: str) -> None:
    """The answer is delivered, and the state says why it did not pass."""
    (result,) = WAYS[way](agent(BAD, on_fail="flag"), ASK, {})
    assert said(result) == BAD
    assert result["faithguard"]["passed"] is False


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_runnable_fallback_gets_the_messages(way: str) -> None:
    """It is called with the messages of the turn, and returns a text or a message."""
    fallback = RunnableLambda(lambda messages: f"After {len(messages)} messages: ask at the desk.")
    (result,) = WAYS[way](agent(BAD, fallback=fallback), ASK, {})
    assert said(result) == "After 5 messages: ask at the desk."


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_checkpoints_and_the_next_turn_are_free_of_it(on_fail: Any) -> None:
    """No checkpoint of the thread holds the answer, and the next prompt does not either."""
    saver = InMemorySaver()
    safe = agent(
        *(BAD, BAD)[: 1 + (on_fail == "regenerate")],
        *HOPS,
        TRUE,
        on_fail=on_fail,
        fallback=FALLBACK,
        saver=saver,
    )
    assert said(safe.invoke(ASK, THREAD)) == FALLBACK
    stored = str(list(safe.get_state_history(THREAD))) + str(list(saver.list(THREAD)))
    assert FALLBACK in stored
    assert "Quillfeather" not in stored
    result = safe.invoke(ASK, THREAD)
    assert said(result) == TRUE
    assert "Quillfeather" not in str(calls_of(safe.model)[-1])
    assert result["faithguard"]["passed"] is True


def test_a_raised_block_leaves_the_thread_usable() -> None:
    """The checkpoint ends before the answer; going on asks the model again."""
    safe = agent(BAD, TRUE, saver=InMemorySaver())
    with pytest.raises(UnfaithfulAnswerError):
        safe.invoke(ASK, THREAD)
    assert "Quillfeather" not in str(list(safe.get_state_history(THREAD)))
    assert said(safe.invoke(None, THREAD)) == TRUE


@pytest.mark.parametrize("way", WAYS)
def test_what_an_earlier_turn_found_is_evidence_while_the_model_is_shown_it(way: str) -> None:
    """A follow-up may rest on it; what it does not say is held back all the same."""
    safe = agent(TRUE, HOURS, LIE, fallback=FALLBACK, saver=InMemorySaver())
    again = {"messages": [("user", "When again?")]}
    safe.invoke(ASK, THREAD)
    assert HOURS in str(WAYS[way](safe, again, THREAD))
    assert safe.get_state(THREAD).values["faithguard"]["passed"] is True
    WAYS[way](safe, again, THREAD)
    assert said(safe.get_state(THREAD).values) == FALLBACK


def test_what_the_model_is_no_longer_shown_is_no_evidence() -> None:
    """Where a middleware in front cuts the history, nor is what somebody said in it."""

    class Short(AgentMiddleware[Any, Any]):
        """Shows the model the user's last message."""

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            """Cut off what was before."""
            asked = [n for n, m in enumerate(request.messages) if isinstance(m, HumanMessage)]
            return handler(request.override(messages=request.messages[asked[-1] :]))

    safe = agent(TRUE, HOURS, before=[Short()], fallback=FALLBACK, saver=InMemorySaver())
    assert said(safe.invoke(ASK, THREAD)) == TRUE
    assert said(safe.invoke({"messages": [("user", "When again?")]}, THREAD)) == FALLBACK


def test_what_somebody_said_in_an_earlier_turn_is_no_evidence() -> None:
    """Neither the user, nor the model, nor a tool that gives back what it was handed."""

    @tool
    def note_down(text: str) -> str:
        """Keep a note."""
        return f"Noted: {text}"

    for earlier in (
        [HumanMessage(LIE), AIMessage("I see.")],
        [HumanMessage("Hello."), AIMessage(LIE)],
        [
            HumanMessage("Note it."),
            call("note_down", "hop-0", text=LIE),
            ToolMessage(f"Noted: {LIE}", tool_call_id="hop-0", name="note_down"),
            AIMessage("Done."),
        ],
    ):
        safe = agent(LIE, hops=(), tools=[note_down], fallback=FALLBACK)
        asked = [*earlier, HumanMessage("What did I say?")]
        assert said(safe.invoke({"messages": asked})) == FALLBACK


def test_one_middleware_serves_many_runs() -> None:
    """Threads and tasks at once: each run is judged by what its own tools brought."""
    guarding = keeper(fallback=FALLBACK)
    jobs = [(TRUE, TRUE), (BAD, FALLBACK)] * 8
    safe = [(agent(line, guarding=guarding), wanted) for line, wanted in jobs]
    in_threaded = in_threads([lambda a=a: said(a.invoke(ASK)) for a, _ in safe])
    assert in_threaded == [wanted for _, wanted in jobs]

    async def together() -> list[str]:
        agents = [agent(line, guarding=guarding) for line, _ in jobs]
        return [said(r) for r in await asyncio.gather(*(a.ainvoke(ASK) for a in agents))]

    assert asyncio.run(together()) == [wanted for _, wanted in jobs]


def test_records_reach_sinks_and_on_report() -> None:
    """One record for each answer, none for a hop."""
    records: list[Record] = []
    reports: list[Any] = []
    guarding = keeper(fallback=FALLBACK, sinks=[records.append], on_report=reports.append)
    agent(BAD, guarding=guarding).invoke(ASK)
    assert guarding.wait(30)
    assert [r.exchange.answer for r in records] == [BAD]
    assert reports == [records[0].report]
    assert records[0].exchange.started_at is not None


def test_two_policies_in_one_agent() -> None:
    """Names tell them apart; the outer one lets the inner one's fallback through."""
    lax = Policy(domain="desk", safe=0.4, warning=0.2)
    result = agent(BAD, before=[keeper(domain=lax)], fallback=FALLBACK).invoke(ASK)
    assert said(result) == FALLBACK
    assert result["faithguard"]["action"] == "block"
    result = agent(TRUE, before=[keeper(domain=lax)]).invoke(ASK)
    assert result["faithguard"]["domain"] == "desk"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"fallback": "x", "on_fail": "flag"}, "fallback"),
        ({"max_attempts": 3}, "max_attempts"),
        ({"on_fail": "mend"}, "mend"),
        ({"name": "a:b"}, "a:b"),
        ({"fallback": 3}, "fallback"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], told: str) -> None:
    """The error says which setting."""
    with pytest.raises(ConfigError, match=told):
        FaithfulnessMiddleware(**settings)
