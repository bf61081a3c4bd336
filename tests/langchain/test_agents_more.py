"""The agent middleware beside others, with models in tools, structured responses, and more."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NotRequired

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolRetryMiddleware,
    dynamic_prompt,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from langchain_core.tools.retriever import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from pydantic import BaseModel

from faithguard import CaptureError, ConfigError, UnfaithfulAnswerError
from faithguard_langchain import guard
from faithguard_langchain._turn import Turn
from faithguard_langchain.testing import ScriptedChatModel

from .agents import ASK, HOPS, MODES, TOOLS, WAYS, agent, keeper, said
from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    PRICE,
    QUESTION,
    TEXTS,
    TRUE,
    call,
    calls_of,
    claim,
    finds,
    joined,
    says,
    watched,
)

THREAD: Any = {"configurable": {"thread_id": "visit"}}
OUTCOMES = [(TRUE, TRUE), (BAD, FALLBACK)]


# -- other middleware --------------------------------------------------------------------------

OTHERS: Mapping[str, Callable[[], Any]] = {
    "summarisation": lambda: SummarizationMiddleware(
        says("They spoke about a visit."), trigger=("messages", 4), keep=("messages", 2)
    ),
    "model retry": lambda: ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False),
    "another model": lambda: ModelFallbackMiddleware(says(TRUE)),
    "call limit": lambda: ModelCallLimitMiddleware(run_limit=10),
    "to-dos": TodoListMiddleware,
    "context editing": lambda: ContextEditingMiddleware(
        edits=[ClearToolUsesEdit(trigger=1, keep=1)]
    ),
    "tool retry": lambda: ToolRetryMiddleware(max_retries=1, initial_delay=0),
}


@pytest.mark.parametrize("place", ["before", "after", "both"])
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_beside_other_middleware(name: str, place: str, on_fail: Any) -> None:
    """In front of the guard, behind it, and on both sides of it, sync and async.

    What is true takes one way only: in the other nothing but the guard is different, and what it
    holds back there is asked of what is false.
    """
    others = {"before": ["before"], "after": ["after"], "both": ["before", "after"]}[place]
    for line, wanted in OUTCOMES:
        lines = [line] if on_fail == "block" else [BAD, line]
        made = {side: [OTHERS[name]()] for side in others}
        if place == "both":
            made["after"] = [OTHERS["model retry" if name != "model retry" else "call limit"]()]
        for way in ("stream", "astream") if line == BAD else ("astream",):
            settings = {"on_fail": on_fail, "fallback": FALLBACK, **made}
            safe = agent(*lines, saver=InMemorySaver(), **settings)
            shown = str(WAYS[way](safe, ASK, THREAD))
            state = safe.get_state(THREAD)
            assert said(state.values) == wanted
            assert "Quillfeather" not in shown + str(list(safe.get_state_history(THREAD)))


def test_a_retry_in_front_takes_a_block_for_an_error() -> None:
    """It asks again; its own words about the failure hold nothing of the answer."""
    retry = ModelRetryMiddleware(
        max_retries=1, initial_delay=0, jitter=False, on_failure="continue"
    )
    assert said(agent(BAD, TRUE, before=[retry]).invoke(ASK)) == TRUE
    result = agent(BAD, before=[retry]).invoke(ASK)
    assert "UnfaithfulAnswerError" in said(result)
    assert "Quillfeather" not in str(result)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize(("line", "wanted"), OUTCOMES)
def test_a_person_in_the_loop(line: str, wanted: str, place: str) -> None:
    """The turn goes on in another run: what tools brought before and after is evidence."""
    asking = HumanInTheLoopMiddleware(interrupt_on={"look_up_price": True})
    safe = agent(line, fallback=FALLBACK, saver=InMemorySaver(), **{place: [asking]})
    assert "__interrupt__" in safe.invoke(ASK, THREAD)
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    assert said(safe.invoke(approve, THREAD)) == wanted


class Streams(AgentMiddleware[Any, Any, Any]):
    """Writes what the model says to the custom stream, by both ways."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Tell everything."""
        response = handler(request)
        request.runtime.stream_writer({"said": response.result[-1].text})
        get_stream_writer()({"said": response.result[-1].text})
        return response


def test_a_middleware_behind_the_guard_shows_nothing() -> None:
    """The custom stream is silent while an answer is not verified."""
    safe = agent(BAD, fallback=FALLBACK, after=[Streams()])
    assert "Quillfeather" not in str(list(safe.stream(ASK, stream_mode=MODES)))


# -- where evidence comes from -----------------------------------------------------------------


@tool(response_format="content_and_artifact")
def with_artifact(query: str) -> Any:
    """Return a number of pages, and the pages."""
    return "\n".join(TEXTS), [Document(text, metadata={"source": "p"}) for text in TEXTS]


@tool
def commanding(query: str, runtime: ToolRuntime) -> Command[Any]:
    """Return the pages by a command."""
    text = "\n".join(TEXTS)
    return Command(update={"messages": [ToolMessage(text, tool_call_id=runtime.tool_call_id)]})


RETRIEVING = create_retriever_tool(finds(*TEXTS), "pages", "Return pages.")


@pytest.mark.parametrize("found", [with_artifact, commanding, RETRIEVING], ids=lambda t: t.name)
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize(("line", "wanted"), OUTCOMES)
def test_tools_of_all_kinds_bring_evidence(found: Any, way: str, line: str, wanted: str) -> None:
    """Content, artifacts, commands, retrievers."""
    hops = [call(found.name, query=QUESTION)]
    safe = agent(line, hops=hops, tools=[found], fallback=FALLBACK)
    (result,) = WAYS[way](safe, ASK, {})
    assert said(result) == wanted
    assert result["faithguard"]["total"] == 2


@dynamic_prompt
def from_pages(request: Any) -> str:
    """Retrieve, and write a system prompt of it."""
    return joined(finds(*TEXTS).invoke(request.messages[-1].text))


class Finding(AgentMiddleware[Any, Any, Any]):
    """Finds documents before the model is called, and writes them into question and state."""

    class state_schema(AgentState[Any]):
        """With the documents."""

        context: NotRequired[list[Document]]

    def before_model(self, state: Any, runtime: Any) -> Any:
        """Find."""
        last = state["messages"][-1]
        text = f"{last.text}\n\nUse this context:\n" + "\n".join(TEXTS)
        message = last.model_copy(update={"content": text})
        return {"messages": [message], "context": [Document(t) for t in TEXTS]}


@pytest.mark.parametrize("other", [from_pages, Finding()], ids=["dynamic prompt", "state"])
@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize(("line", "wanted"), OUTCOMES)
def test_retrieval_without_a_tool(other: Any, place: str, line: str, wanted: str) -> None:
    """A middleware that retrieves brings evidence, in front of the guard and behind it."""
    safe = agent(line, hops=(), tools=[], fallback=FALLBACK, **{place: [other]})
    assert said(safe.invoke(ASK)) == wanted


# -- models inside tools -----------------------------------------------------------------------


def helper(*lines: str, finding: bool = False, direct: bool = False, shows: bool = False) -> Any:
    """Return a tool in which another model writes.

    Args:
        lines: What it says.
        finding: Whether it retrieves first.
        direct: Whether its result ends the turn.
        shows: Whether it writes to the custom stream.
    """
    model, retriever = says(*lines), finds(*TEXTS)

    @tool(return_direct=direct)
    def ask_helper(query: str) -> str:
        """Ask somebody else."""
        context = joined(retriever.invoke(QUESTION)) if finding else ""
        text = ""
        for chunk in model.stream([("system", context), ("human", query)]):
            text += chunk.text
            if shows:
                get_stream_writer()({"token": text})
        return text

    return ask_helper


ASKS = [call("ask_helper", query="the hours and the price of a tour")]


@pytest.mark.parametrize(("line", "wanted"), OUTCOMES)
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_what_a_model_wrote_in_a_tool_is_no_evidence(line: str, wanted: str, way: str) -> None:
    """What it retrieved is."""
    tools = [helper(BAD if line == BAD else TRUE, finding=True)]
    (result,) = WAYS[way](agent(line, hops=ASKS, tools=tools, fallback=FALLBACK), ASK, {})
    assert said(result) == wanted


def test_nor_when_the_run_was_interrupted_before() -> None:
    """The tool runs in another run than the one that the model asked for it in."""
    asking = HumanInTheLoopMiddleware(interrupt_on={"ask_helper": True})
    safe = agent(
        LIE,
        hops=ASKS,
        tools=[helper(LIE)],
        fallback=FALLBACK,
        before=[asking],
        saver=InMemorySaver(),
    )
    safe.invoke(ASK, THREAD)
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    assert said(safe.invoke(approve, THREAD)) == FALLBACK


@tool
def keep(note: str) -> str:
    """Keep a note."""
    return f"Kept: {note}"


@tool
def echo(note: str) -> str:
    """Give a note back."""
    return note


@pytest.mark.parametrize("parrot", [keep, echo], ids=lambda t: t.name)
def test_an_echo_is_no_evidence(parrot: Any) -> None:
    """What a model handed to a tool and got back supports nothing; in a guarded chain, too."""
    hops = [call(parrot.name, note=LIE)]
    assert said(agent(LIE, hops=hops, tools=[parrot], fallback=FALLBACK).invoke(ASK)) == FALLBACK
    bare = create_agent(says(*hops, LIE), [parrot])
    assert said(guard(bare, fallback=FALLBACK, sinks=[]).invoke(ASK)) == FALLBACK


NOTES: dict[str, str] = {}


@tool
def write_note(text: str) -> str:
    """Write a note."""
    NOTES["note"] = text
    return "written"


@tool
def read_note() -> str:
    """Read the note."""
    return NOTES["note"]


@tool
def find(query: str, limit: int = 3) -> str:
    """Find pages."""
    return "\n".join(TEXTS)


@tool
def count(query: int) -> str:
    """Count pages."""
    return str(query)


CALLS = {
    "the name of a tool": [call(LIE)],
    "after another tool": [call("find", "hop-1", query="hours"), call(LIE, "hop-2")],
    "the name of an argument": [call("find", **{LIE: "x"})],
    "one beside others": [call("find", query="hours", **{LIE: "x"})],
    "a value of the wrong type": [call("count", query=LIE)],
    "kept by one tool": [call("write_note", "hop-1", text=LIE), call("read_note", "hop-2")],
    "kept by one of two": [
        call("find", "hop-0", query="hours"),
        call("write_note", "hop-1", text=f"Note. {LIE}"),
        call("read_note", "hop-2"),
    ],
    "said before": [
        call("write_note", "hop-1", text="x").model_copy(update={"content": LIE}),
        call("repeat_talk", "hop-2"),
    ],
}


@tool
def repeat_talk(runtime: ToolRuntime) -> str:
    """Say what was said."""
    return "\n".join(m.text for m in runtime.state["messages"] if isinstance(m, AIMessage))


NOTING = [find, count, write_note, read_note, repeat_talk]


@pytest.mark.parametrize("hops", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_what_a_call_hands_over_is_no_evidence(hops: list[AIMessage], way: str) -> None:
    """By whatever part of a call, and by whichever tool it comes back; watchers know it, too."""
    safe = agent(LIE, hops=hops, tools=NOTING, fallback=FALLBACK)
    (result,) = WAYS[way](safe, ASK, {})
    assert said(result) == FALLBACK
    bare = create_agent(says(*hops, LIE), NOTING)
    assert not claim(watched(bare, ASK), "Quillfeather").supported


@pytest.mark.parametrize("query", [QUESTION, "guided tour observatory price", "12 euros"])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_what_was_looked_for_and_found_is_evidence(query: str, way: str) -> None:
    """A query shares words with what it finds; and a note of a page may be read again."""
    hops = [
        call("find", "hop-1", query=query, limit=12),
        call("write_note", "hop-2", text=PRICE),
        call("read_note", "hop-3"),
    ]
    (result,) = WAYS[way](agent(TRUE, hops=hops, tools=NOTING, fallback=FALLBACK), ASK, {})
    assert said(result) == TRUE
    assert claim(watched(create_agent(says(*hops, TRUE), NOTING), ASK), "guided").supported


def test_what_an_earlier_turn_had_kept_is_no_evidence() -> None:
    """Where the messages show that a model handed it over."""
    NOTES["note"] = LIE
    earlier = [
        HumanMessage("Note it."),
        call("write_note", "hop-0", text=LIE),
        ToolMessage("written", tool_call_id="hop-0"),
        AIMessage("Done."),
        HumanMessage("What is it?"),
    ]
    safe = agent(LIE, hops=[call("read_note")], tools=NOTING, fallback=FALLBACK)
    assert said(safe.invoke({"messages": earlier})) == FALLBACK


@pytest.mark.parametrize("status", ["success", "error"])
@pytest.mark.parametrize("asked", [True, False])
def test_only_what_a_tool_was_asked_for_and_found_is_evidence(status: Any, asked: bool) -> None:
    """A tool's message without its call is nobody's; one of an error says nothing."""
    found = ToolMessage(HOURS, tool_call_id="hop-0", status=status)
    wish = [call("find", "hop-0", query="hours")] if asked else []
    messages = [HumanMessage("Hello."), *wish, found, HumanMessage(QUESTION)]
    safe = agent(HOURS, hops=(), tools=[], fallback=FALLBACK)
    good = asked and status == "success"
    assert said(safe.invoke({"messages": messages})) == (HOURS if good else FALLBACK)
    assert claim(watched(says(HOURS), messages), "Vesper").supported is good


# -- tools that end the turn -------------------------------------------------------------------


@tool(return_direct=True)
def opening(day: str) -> str:
    """Return the hours, to the user."""
    return HOURS


@tool(return_direct=True)
def tell(text: str) -> str:
    """Tell the user something."""
    return f"The desk says: {text}"


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_may_answer_by_itself(way: str) -> None:
    """Its text is its own: it is delivered as it is."""
    safe = agent(hops=[call("opening", day="Friday")], tools=[opening], fallback=FALLBACK)
    shown = str(WAYS[way](safe, ASK, {}))
    assert HOURS in shown
    assert FALLBACK not in shown


@pytest.mark.parametrize("way", WAYS)
def test_what_a_model_has_a_tool_tell_is_verified(way: str) -> None:
    """An echo of the model's words to the user is the model's answer."""
    hops = [*HOPS, call("tell", "hop-3", text=TRUE)]
    safe = agent(hops=hops, tools=[*TOOLS, tell], fallback=FALLBACK)
    assert f"The desk says: {TRUE}" in str(WAYS[way](safe, ASK, {}))


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
@pytest.mark.parametrize("way", WAYS)
def test_a_lie_that_a_tool_tells(way: str, on_fail: Any) -> None:
    """The tool's message is the fallback; the wish to call it stays as the model's."""
    hops = [*HOPS, call("tell", "hop-3", text=BAD)]
    settings: Any = {"fallback": FALLBACK, "on_fail": on_fail}
    safe = agent(hops=hops, tools=[*TOOLS, tell], saver=InMemorySaver(), **settings)
    shown = str(WAYS[way](safe, ASK, THREAD))
    assert "desk says" not in shown
    state = safe.get_state(THREAD).values
    assert said(state) == FALLBACK
    assert state["faithguard"]["action"] == "block"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("line", "wanted"), OUTCOMES)
def test_a_model_in_a_tool_that_ends_the_turn(way: str, line: str, wanted: str) -> None:
    """Its tokens are withheld, and its text is verified."""
    tools = [helper(line, finding=True, direct=True, shows=True)]
    shown = str(WAYS[way](agent(hops=ASKS, tools=tools, fallback=FALLBACK), ASK, {}))
    assert wanted in shown
    assert "Quillfeather" not in shown


def test_a_tool_that_ends_the_turn_raises_without_a_fallback() -> None:
    """Like any block."""
    with pytest.raises(UnfaithfulAnswerError):
        agent(hops=ASKS, tools=[helper(LIE, direct=True)]).invoke(ASK)


class Softening(AgentMiddleware[Any, Any, Any]):
    """Makes a tool's message of what a tool raises."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Run the tool."""
        try:
            return handler(request)
        except ValueError as error:
            return ToolMessage(f"Sorry: {error}", tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Do the same, awaiting."""
        try:
            return await handler(request)
        except ValueError as error:
            return ToolMessage(f"Sorry: {error}", tool_call_id=request.tool_call["id"])


def failing(error: Exception, *, direct: bool = True, handled: bool = False) -> Any:
    """Return a tool that raises, or gives back what it would raise."""

    def broken(query: int = 0) -> str:
        raise error

    return StructuredTool.from_function(
        broken,
        name="broken",
        description="Fail.",
        return_direct=direct,
        handle_tool_error=handled,
    )


FAILS: Mapping[str, Callable[[], tuple[Any, Sequence[Any]]]] = {
    "handled by the tool": lambda: (failing(ToolException(LIE), handled=True), ()),
    "handled by a middleware": lambda: (failing(ValueError(LIE)), (Softening(),)),
}


@pytest.mark.parametrize("case", FAILS)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_tool_says_of_its_error_is_held_where_that_would_be_the_answer(
    way: str, case: str
) -> None:
    """Nothing supports it; it is in no stream, state or checkpoint."""
    broken, after = FAILS[case]()
    hops = [*HOPS, call("broken", "hop-3", query=1)]
    settings: Any = {"fallback": FALLBACK, "after": after, "saver": InMemorySaver()}
    safe = agent(hops=hops, tools=[*TOOLS, broken], **settings)
    shown = str(WAYS[way](safe, ASK, THREAD))
    assert "Quillfeather" not in shown
    assert "Quillfeather" not in str(safe.get_state(THREAD).values)
    assert said(safe.get_state(THREAD).values) == FALLBACK


def test_a_middleware_in_front_of_the_guard_ends_with_an_error_that_is_held() -> None:
    """The state of the turn's end has the fallback."""
    hops = [call("broken", "hop-3", query=1)]
    tools = [failing(ValueError(LIE))]
    safe = agent(hops=hops, tools=tools, before=[Softening()], fallback=FALLBACK)
    result = safe.invoke(ASK)
    assert said(result) == FALLBACK
    assert result["faithguard"]["action"] == "block"
    assert "Quillfeather" not in str(result)


def test_an_error_of_which_the_context_says_the_same_is_delivered() -> None:
    """It is verified, and not refused."""
    tools = [*TOOLS, failing(ToolException(HOURS), handled=True)]
    safe = agent(hops=[*HOPS, call("broken", "hop-3", query=1)], tools=tools, fallback=FALLBACK)
    assert said(safe.invoke(ASK)) == HOURS


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("direct", [True, False])
def test_an_error_that_a_tool_raises_is_the_users_own(way: str, direct: bool) -> None:
    """It goes through the agent as it is, and is no answer."""
    error = KeyError("the dome is locked")
    safe = agent(hops=[call("broken", query=1)], tools=[failing(error, direct=direct)])
    with pytest.raises(KeyError) as caught:
        WAYS[way](safe, ASK, {})
    assert caught.value is error


@pytest.mark.parametrize("place", ["before", "after"])
def test_what_a_tool_says_of_its_error_is_no_evidence(place: str) -> None:
    """Also where a middleware makes a result of it."""
    hops = [call("broken", query=1)]
    tools = [failing(ValueError(HOURS), direct=False)]
    safe = agent(HOURS, hops=hops, tools=tools, fallback=FALLBACK, **{place: [Softening()]})
    assert said(safe.invoke(ASK)) == FALLBACK


class Cutting(AgentMiddleware[Any, Any, Any]):
    """Ends the turn with what stood beside a wish for tools."""

    def after_model(self, state: Any, runtime: Any) -> Any:
        """Drop the wish."""
        last = state["messages"][-1]
        return {"messages": [last.model_copy(update={"tool_calls": []})]}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_wish_that_becomes_the_answer_is_verified_at_the_end(way: str) -> None:
    """The last message is verified if a model wrote it and it did not come as an answer."""
    wish = call("look_up_hours", day="Friday").model_copy(update={"content": LIE})
    safe = agent(
        "Hello.", wish, hops=(), fallback=FALLBACK, after=[Cutting()], saver=InMemorySaver()
    )
    assert said(safe.invoke(ASK, THREAD)) == "Hello."
    result = asyncio.run(safe.ainvoke(ASK, THREAD)) if way[0] == "a" else safe.invoke(ASK, THREAD)
    assert said(result) == FALLBACK
    assert LIE not in str(safe.get_state(THREAD).values)


# -- structured responses ----------------------------------------------------------------------


class Card(BaseModel):
    """A card for the visitor."""

    answer: str
    price: int = 12
    kind: Literal["visit", "event"] = "visit"


def as_tool_call(line: str) -> AIMessage:
    """Write a card as a tool call."""
    return call("Card", "card", answer=line, price=12, kind="visit")


def as_json(line: str) -> str:
    """Write a card as text."""
    return Card(answer=line).model_dump_json()


CARDS = [(ToolStrategy(Card), as_tool_call), (ProviderStrategy(Card), as_json)]


@pytest.mark.parametrize(("how", "write"), CARDS, ids=["tool", "provider"])
@pytest.mark.parametrize("tools", [TOOLS, ()], ids=["tools", "no tools"])
@pytest.mark.parametrize("way", WAYS)
def test_structured_responses_are_verified(how: Any, write: Any, tools: Any, way: str) -> None:
    """Their texts are; a blocked one is not there, and no stream shows it."""
    given = ASK if tools else {"messages": [("system", "\n".join(TEXTS)), ("user", QUESTION)]}
    for lines, good in (([TRUE], True), ([BAD], False), ([BAD, TRUE], True)):
        safe = agent(
            *map(write, lines),
            hops=HOPS if tools else (),
            tools=tools,
            response_format=how,
            fallback=FALLBACK,
            on_fail="regenerate" if len(lines) > 1 else "block",
            saver=InMemorySaver(),
        )
        shown = str(WAYS[way](safe, given, THREAD))
        state = safe.get_state(THREAD).values
        assert state.get("structured_response") == (Card(answer=TRUE) if good else None)
        assert (FALLBACK in said(state)) is not good
        assert "Quillfeather" not in shown


class Leaflet(BaseModel):
    """A card with more to it."""

    answer: str
    price: int = 12
    free: bool = False
    groups: Literal[5, 10] = 5
    confidence: float = 0.5
    visit_id: int = 0


LEAFLETS: dict[str, tuple[dict[str, Any], bool]] = {
    "a number of the context": ({"price": 12}, True),
    "an invented number": ({"price": 13}, False),
    "a truth value": ({"free": True}, False),
    "a number that the schema lists": ({"groups": 10}, True),
    "a mark of the answer": ({"confidence": 0.9}, True),
    "an id that the user named": ({"visit_id": 4711}, True),
    "an id that nobody named": ({"visit_id": 4712}, False),
}


@pytest.mark.parametrize("how", [ToolStrategy(Leaflet), ProviderStrategy(Leaflet)])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", LEAFLETS)
def test_numbers_and_truth_values_of_a_structured_response(name: str, way: str, how: Any) -> None:
    """They are claims under their names; what a schema fills in is no model's."""
    fields, good = LEAFLETS[name]
    filled: dict[str, Any] = {"answer": TRUE, **fields}
    as_call = call("Leaflet", "leaflet", **filled)
    line = as_call if isinstance(how, ToolStrategy) else json.dumps(filled)
    safe = agent(line, response_format=how, fallback=FALLBACK)
    given = {"messages": [("user", f"{QUESTION} My visit is number 4711.")]}
    (state,) = WAYS[way](safe, given, THREAD)
    if good:
        assert state["structured_response"] == Leaflet(**filled)
    else:
        assert state["structured_response"] is None
        assert said(state) == FALLBACK


def test_a_card_that_does_not_fit_is_written_again_unseen() -> None:
    """The agent would keep what does not fit its schema in the state, unverified."""
    wrong = call("Card", "wrong", answer=BAD, price="many")
    settings: Any = {"response_format": ToolStrategy(Card), "fallback": FALLBACK}
    safe = agent(wrong, as_tool_call(TRUE), **settings)
    result = safe.invoke(ASK)
    assert result["structured_response"] == Card(answer=TRUE)
    assert "Quillfeather" not in str(result)
    assert "fix your mistakes" in calls_of(safe.model)[-1][-1].text
    with pytest.raises(CaptureError, match="fit its schema"):
        agent(wrong, **settings).invoke(ASK)


def test_an_error_that_quotes_the_answer_is_withheld() -> None:
    """The agent's own error about a card carries the card."""
    strict = ToolStrategy(Card, handle_errors=False)
    with pytest.raises(CaptureError, match="StructuredOutputValidationError") as caught:
        agent(call("Card", answer=BAD, price="many"), response_format=strict).invoke(ASK)
    assert caught.value.__cause__ is None
    assert "Quillfeather" not in f"{caught.value!r} {caught.value.__context__!r}"


# -- repair, and more context ------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_is_mended(way: str) -> None:
    """What failed is left out, in every stream and in the state."""
    safe = agent(BAD, on_fail="repair", saver=InMemorySaver())
    shown = str(WAYS[way](safe, ASK, THREAD))
    state = safe.get_state(THREAD).values
    assert said(state) == HOURS
    assert state["faithguard"]["action"] == "repair"
    assert "Quillfeather" not in shown + str(list(safe.get_state_history(THREAD)))


@pytest.mark.parametrize(("how", "write"), CARDS, ids=["tool", "provider"])
def test_a_structured_response_is_not_mended_but_held_back(how: Any, write: Any) -> None:
    """A text cannot take the place of its fields."""
    safe = agent(write(BAD), response_format=how, on_fail="repair", fallback=FALLBACK)
    result = safe.invoke(ASK)
    assert said(result) == FALLBACK
    assert result["structured_response"] is None


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_what_a_tool_tells_is_mended_if_it_is_all_a_models(way: str) -> None:
    """A model's text, as a whole; one that a tool wrote around is held back."""
    tools = [helper(BAD, finding=True, direct=True)]
    (result,) = WAYS[way](agent(hops=ASKS, tools=tools, on_fail="repair"), ASK, {})
    assert said(result) == HOURS
    hops = [*HOPS, call("tell", "hop-3", text=BAD)]
    settings: Any = {"on_fail": "repair", "fallback": FALLBACK}
    (result,) = WAYS[way](agent(hops=hops, tools=[*TOOLS, tell], **settings), ASK, {})
    assert said(result) == FALLBACK


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_more_context_is_fetched_for_what_failed(way: str) -> None:
    """The model gets it with the feedback, and it is evidence."""
    asked: list[str] = []

    def more(claims: Any) -> list[str]:
        asked.extend(claim.text for claim in claims)
        return [PRICE]

    safe = agent(TRUE, TRUE, hops=HOPS[:1], on_fail="regenerate", more_context=more)
    (result,) = WAYS[way](safe, ASK, {})
    assert said(result) == TRUE
    assert asked == [PRICE]
    assert PRICE in calls_of(safe.model)[-1][-1].text
    assert PRICE not in str(result["messages"][:-1])


# -- handlers of the model's own ---------------------------------------------------------------


class Tokens(BaseCallbackHandler):
    """Takes tokens."""

    def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
        """Show one."""


def test_a_model_that_brings_a_handler_of_tokens() -> None:
    """It cannot be held back from there: the error says where to put it."""
    model = ScriptedChatModel(reply=lambda messages: BAD, callbacks=[Tokens()])
    safe = create_agent(model, list(TOOLS), middleware=[keeper()])
    with pytest.raises(ConfigError, match="pass it with the call"):
        safe.invoke(ASK)


# -- runs that end otherwise -------------------------------------------------------------------


class Slow(ScriptedChatModel):
    """A model that takes a second for each message."""

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(1)
        return self._generate(messages)


def test_cancelled_runs_leave_nothing() -> None:
    """A cancelled run leaves no task; its turn is gone with it, and the next run works."""
    guarding = keeper(fallback=FALLBACK)
    asked: list[Any] = []
    slow = create_agent(
        Slow(reply=lambda messages: asked.append(messages) or TRUE),  # type: ignore[func-returns-value]
        list(TOOLS),
        middleware=[guarding],
    )

    async def run() -> tuple[int, str]:
        for ask in (slow.ainvoke, _drain(slow)):
            task = asyncio.ensure_future(ask(ASK))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        left = len(asyncio.all_tasks()) - 1
        return left, said(await agent(TRUE, guarding=guarding).ainvoke(ASK))

    assert asyncio.run(run()) == (0, TRUE)
    assert not asked
    gc.collect()
    assert not [held for held in gc.get_objects() if isinstance(held, Turn)]


def _drain(safe: Any) -> Callable[[Any], Any]:
    async def drain(given: Any) -> list[Any]:
        return [chunk async for chunk in safe.astream(given, stream_mode=MODES)]

    return drain


def test_sqlite_holds_nothing_of_it(tmp_path: Any) -> None:
    """Not a byte of the database."""
    sqlite = pytest.importorskip(
        "langgraph.checkpoint.sqlite",
        reason="pip install langgraph-checkpoint-sqlite brings the checkpointer",
    )
    path = tmp_path / "threads.sqlite"
    with sqlite.SqliteSaver.from_conn_string(str(path)) as saver:
        lines: Sequence[Any] = (BAD, *HOPS, TRUE)
        safe = agent(*lines, fallback=FALLBACK, saver=saver)
        assert said(safe.invoke(ASK, THREAD)) == FALLBACK
        assert said(safe.invoke(ASK, THREAD)) == TRUE
    stored = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert FALLBACK.encode() in stored
    assert b"Quillfeather" not in stored


def test_an_agent_as_a_node_and_as_a_tool_of_another() -> None:
    """Guards nest: the outer agent gets what the inner one let through."""
    inner = agent(BAD, fallback=FALLBACK)

    @tool
    def desk(query: str) -> str:
        """Ask the desk."""
        return said(inner.invoke({"messages": [HumanMessage(QUESTION)]}))

    outer = create_agent(says(call("desk", query="hours"), FALLBACK), [desk])
    assert "Quillfeather" not in str(list(outer.stream(ASK, stream_mode=MODES, subgraphs=True)))
    assert said(inner.invoke(ASK)) in (FALLBACK, PRICE)
