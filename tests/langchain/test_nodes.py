"""`verify_node`: what a node of a graph of one's own writes into the state."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, StreamWriter, interrupt
from pydantic import BaseModel

from faithguard import CaptureError, ConfigError, UnfaithfulAnswerError
from faithguard.guard import Stream
from faithguard_langchain import verify_node

from .agents import ASK, HOPS, MODES, TOOLS, WAYS
from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    PROMPT,
    QUESTION,
    TEXTS,
    TRUE,
    calls_of,
    finds,
    joined,
    says,
)

THREAD: Any = {"configurable": {"thread_id": "visit"}}


class State(TypedDict, total=False):
    """A question, its documents and its answer, as text and as a message."""

    question: str
    docs: Any
    answer: str
    hint: str
    messages: Annotated[list[BaseMessage], add_messages]


class Priced(State, total=False):
    """A state with numbers."""

    price: int
    found: int


def checked(node: Any, **settings: Any) -> Any:
    """Return a node that logs nothing."""
    return verify_node(node, **{"sinks": [], **settings})


def graph(node: Any, *, docs: Any = None, saver: Any = None, schema: Any = State) -> Any:
    """Return a graph of a node that finds documents and one that writes the answer."""
    found = [Document(text) for text in TEXTS] if docs is None else docs
    builder = StateGraph(schema)
    builder.add_node("find", lambda _: {"docs": found})
    builder.add_node("write", node)
    builder.add_edge(START, "find")
    builder.add_edge("find", "write")
    builder.add_edge("write", END)
    return builder.compile(checkpointer=saver)


def filled(state: Any) -> Any:
    """Return the prompt that holds the documents of a state."""
    docs = state["docs"]
    context = docs if isinstance(docs, str) else joined(docs)
    return PROMPT.invoke({"context": context, "question": state["question"]})


def plain(model: Any) -> Any:
    """A function from the state to the update; it passes no config on."""

    def write(state: State) -> State:
        message = model.invoke(filled(state))
        return {"answer": message.text, "messages": [message]}

    return write


def streamed(model: Any) -> Any:
    """A function that shows its tokens as they come, by every way that LangGraph has."""

    def write(
        state: State, config: RunnableConfig, writer: StreamWriter, runtime: Runtime
    ) -> State:
        text = ""
        for chunk in model.stream(filled(state), config):
            text += chunk.text
            writer({"token": text})
            runtime.stream_writer({"token": text})
            get_stream_writer()({"token": text})
        return {"answer": text}

    return write


def awaiting(model: Any) -> Any:
    """A coroutine function."""

    async def write(state: State) -> State:
        return {"answer": (await model.ainvoke(filled(state))).text}

    return write


def commanding(model: Any) -> Any:
    """A function that returns a command."""

    def write(state: State) -> Command[Literal["__end__"]]:
        message = model.invoke(filled(state))
        return Command(update={"messages": [message], "answer": message.text}, goto=END)

    return write


def chained(model: Any) -> Any:
    """A Runnable."""
    return RunnableLambda(filled) | model | StrOutputParser() | {"answer": RunnableLambda(str)}


NODES: Mapping[str, Callable[[Any], Any]] = {
    "function": plain,
    "streaming function": streamed,
    "coroutine function": awaiting,
    "command": commanding,
    "runnable": chained,
}
CASES = [
    (name, way)
    for name in NODES
    for way in WAYS
    if name != "coroutine function" or way.startswith("a")
]
GIVEN: Any = {"question": QUESTION}


@pytest.mark.parametrize(("name", "way"), CASES)
def test_a_true_update_reaches_the_state(name: str, way: str) -> None:
    """The documents of the state are the evidence."""
    assert TRUE in str(WAYS[way](graph(checked(NODES[name](says(TRUE)))), GIVEN, {}))


@pytest.mark.parametrize(("name", "way"), CASES)
def test_nothing_of_a_blocked_update_reaches_the_caller(name: str, way: str) -> None:
    """The fallback stands in the place of the answer, in every stream."""
    node = checked(NODES[name](says(BAD)), fallback=FALLBACK)
    shown = str(WAYS[way](graph(node), GIVEN, {}))
    assert FALLBACK in shown
    assert "Quillfeather" not in shown


@pytest.mark.parametrize(("name", "way"), CASES)
def test_the_model_is_asked_again(name: str, way: str) -> None:
    """Only the second update is seen."""
    model = says(BAD, TRUE)
    shown = str(WAYS[way](graph(checked(NODES[name](model), on_fail="regenerate")), GIVEN, {}))
    assert TRUE in shown
    assert "Quillfeather" not in shown
    assert LIE in calls_of(model)[-1][-1].text


@pytest.mark.parametrize(("name", "way"), CASES)
def test_an_update_is_mended(name: str, way: str) -> None:
    """What failed is left out of the answer, wherever the update holds it."""
    shown = str(WAYS[way](graph(checked(NODES[name](says(BAD)), on_fail="repair")), GIVEN, {}))
    assert HOURS in shown
    assert "Quillfeather" not in shown


def test_no_checkpoint_holds_it() -> None:
    """Neither the state's history nor what a raised block leaves."""
    saver = InMemorySaver()
    assert graph(checked(plain(says(BAD)), fallback=FALLBACK), saver=saver).invoke(GIVEN, THREAD)
    other: Any = {"configurable": {"thread_id": "other"}}
    with pytest.raises(UnfaithfulAnswerError):
        graph(checked(plain(says(BAD))), saver=saver).invoke(GIVEN, other)
    stored = str(list(saver.list(THREAD))) + str(list(saver.list(other)))
    assert FALLBACK in stored
    assert "Quillfeather" not in stored


def test_the_message_carries_the_decision() -> None:
    """Only the message that the node wrote does."""
    given = {**GIVEN, "messages": [HumanMessage(QUESTION), AIMessage("One moment.")]}
    result = graph(checked(plain(says(TRUE)))).invoke(given)
    notes = [m.response_metadata.get("faithguard") for m in result["messages"]]
    assert [note and note["passed"] for note in notes] == [None, None, True]


@pytest.mark.parametrize("docs", [joined([Document(t) for t in TEXTS]), [Document(TRUE)]])
def test_documents_may_be_text(docs: Any) -> None:
    """A state holds its context as documents or as text."""
    assert graph(checked(plain(says(TRUE))), docs=docs).invoke(GIVEN)["answer"] == TRUE


def test_documents_that_the_model_did_not_see_are_no_evidence() -> None:
    """What is in the state and in no prompt does not count."""

    def write(state: State) -> State:
        return {"answer": model.invoke([("human", state["question"])]).text}

    model = says(TRUE)
    assert graph(checked(write, fallback=FALLBACK)).invoke(GIVEN)["answer"] == FALLBACK


def test_a_node_may_retrieve_by_itself() -> None:
    """Retrieval inside the node is evidence."""
    model, retriever = says(TRUE), finds(*TEXTS)

    def write(state: State) -> State:
        docs = retriever.invoke(state["question"])
        return {"answer": model.invoke(filled({**state, "docs": docs})).text, "docs": docs}

    assert graph(checked(write), docs=[]).invoke(GIVEN)["answer"] == TRUE


def test_keys_of_ones_own() -> None:
    """Answer, context, question and feedback under other names."""

    class Own(TypedDict, total=False):
        asked: str
        docs: Any
        pages: Any
        reply: str
        hint: str

    model = says(BAD, TRUE)
    hints: list[str] = []

    def write(state: Own) -> Own:
        hints.append(state["hint"])
        return {"reply": model.invoke(filled({"question": state["asked"], **state})).text}

    keys = {"answer_key": "reply", "context_key": "pages", "question_key": "asked"}
    node = checked(write, on_fail="regenerate", feedback_key="hint", **keys)
    given = {"asked": QUESTION, "pages": [Document(t) for t in TEXTS]}
    assert graph(node, schema=Own).invoke(given)["reply"] == TRUE
    assert hints[0] == ""
    assert LIE in hints[1]
    with pytest.raises(CaptureError, match="pages"):
        graph(node, schema=Own).invoke({"asked": QUESTION})


def test_states_that_are_objects() -> None:
    """A pydantic state, and a dataclass that is returned."""

    class Own(BaseModel):
        question: str = ""
        docs: Any = None
        answer: str = ""
        hint: str = ""

    @dataclasses.dataclass
    class Update:
        answer: str | None = None
        docs: Any = None

    model = says(BAD, TRUE)

    def write(state: Own) -> Any:
        return Update(model.invoke(filled(dict(state))).text)

    node = checked(write, on_fail="regenerate", feedback_key="hint", answer_key="answer")
    assert graph(node, schema=Own).invoke(GIVEN)["answer"] == TRUE
    assert graph(checked(write, fallback=FALLBACK), schema=Own).invoke(GIVEN)["answer"] == TRUE


def test_a_loop_of_ones_own_with_tools() -> None:
    """A wish for tools goes on as it is; what they bring is evidence for the answer."""
    for line, wanted in ((TRUE, TRUE), (BAD, FALLBACK)):
        model = says(*HOPS, line)
        bound = model.bind_tools(TOOLS)

        def speak(state: State, bound: Any = bound) -> State:
            return {"messages": [bound.invoke(state["messages"])]}

        def on(state: State) -> str:
            return "tools" if state["messages"][-1].tool_calls else END

        builder = StateGraph(State)
        builder.add_node("speak", checked(speak, fallback=FALLBACK))
        builder.add_node("tools", ToolNode(list(TOOLS)))
        builder.add_edge(START, "speak")
        builder.add_conditional_edges("speak", on)
        builder.add_edge("tools", "speak")
        saver = InMemorySaver()
        loop = builder.compile(checkpointer=saver)
        shown = str(list(loop.stream(ASK, THREAD, stream_mode=MODES)))
        assert loop.get_state(THREAD).values["messages"][-1].text == wanted
        assert "Quillfeather" not in shown + str(list(saver.list(THREAD)))
        assert any(isinstance(m, ToolMessage) for m in loop.get_state(THREAD).values["messages"])


def test_an_update_without_a_word_passes() -> None:
    """A node may decide to write nothing."""
    assert graph(checked(lambda state: None)).invoke(GIVEN)["question"] == QUESTION
    with pytest.raises(CaptureError, match="answer_key"):
        graph(checked(lambda state: {"hint": LIE})).invoke(GIVEN)


@pytest.mark.parametrize("stream", ["answer", "claims"])
@pytest.mark.parametrize("answer", ["", "  "])
def test_an_answer_without_a_word_passes(answer: str, stream: Stream) -> None:
    """It states nothing, whether it is held as a whole or by claim."""
    node = verify_node(lambda state: {"answer": answer}, stream=stream, fallback=FALLBACK, sinks=[])

    assert graph(node, docs=[HOURS]).invoke({"question": QUESTION})["answer"] == answer


def test_a_send_hands_over_nothing_unverified() -> None:
    """A text that goes to another node past the state is held back."""

    def write(state: State) -> Any:
        text = model.invoke(filled(state)).text
        return Command(update={"answer": HOURS}, goto=[Send("find", {"question": text})])

    model = says(BAD)
    with pytest.raises(CaptureError, match="sends another one") as caught:
        graph(checked(write)).invoke(GIVEN)
    assert "Quillfeather" not in str(caught.value)


def test_a_node_may_ask_a_person() -> None:
    """`interrupt` works inside; what it shows must not be the unverified answer."""
    model = says(TRUE)

    def write(state: State) -> State:
        word = interrupt("May I?")
        return {"answer": model.invoke(filled(state)).text, "hint": word}

    asking = graph(checked(write), saver=InMemorySaver())
    assert asking.invoke(GIVEN, THREAD)["__interrupt__"][0].value == "May I?"
    result = asking.invoke(Command(resume="yes"), THREAD)
    assert (result["answer"], result["hint"]) == (TRUE, "yes")

    def show(state: State) -> State:
        text = model.invoke(filled(state)).text
        return {"answer": text, "hint": interrupt(text)}

    with pytest.raises(CaptureError, match="withheld"):
        graph(checked(show), saver=InMemorySaver()).invoke(GIVEN, THREAD)


def test_a_runnable_fallback_gets_the_state() -> None:
    """It returns the update."""
    fallback = RunnableLambda(lambda state: {"answer": f"{len(state['docs'])} pages, no answer."})
    result = graph(checked(plain(says(BAD)), fallback=fallback)).invoke(GIVEN)
    assert result["answer"] == "3 pages, no answer."


def test_the_name_and_the_ends_of_a_node_stay() -> None:
    """LangGraph reads them of the function."""
    node = checked(commanding(says(TRUE)))
    builder = StateGraph(State)
    builder.add_node(node)
    builder.add_edge(START, "write")
    assert "write" in builder.compile().nodes
    assert builder.nodes["write"].ends == ("__end__",)


def _parts(state: State) -> Any:
    yield {"answer": TRUE}


@pytest.mark.parametrize("node", [3, State, _parts])
def test_what_is_no_node(node: Any) -> None:
    """The error names what to pass."""
    with pytest.raises(ConfigError, match="`node`"):
        verify_node(node)


def test_many_runs_at_once() -> None:
    """One node in many runs: each is judged by its own documents."""
    node = checked(awaiting(says(TRUE)), fallback=FALLBACK)
    graphs = [graph(node, docs=[Document(t) for t in texts]) for texts in (TEXTS, [HOURS])] * 8

    async def together() -> list[str]:
        return [r["answer"] for r in await asyncio.gather(*(g.ainvoke(GIVEN) for g in graphs))]

    assert asyncio.run(together()) == [TRUE, FALLBACK] * 8


@pytest.mark.parametrize("awaits", [False, True])
def test_no_value_of_a_models_is_left_in_a_blocked_update(awaits: bool) -> None:
    """Texts and numbers go; what the node counted itself stays."""
    model = says(json.dumps({"answer": BAD, "hint": "Ask twice.", "price": 19}))

    def write(state: Priced) -> Any:
        return {**json.loads(model.invoke(filled(state)).text), "found": 3}

    async def awrite(state: Priced) -> Any:
        return {**json.loads((await model.ainvoke(filled(state))).text), "found": 3}

    running = graph(checked(awrite if awaits else write, fallback=FALLBACK), schema=Priced)
    given = {"question": QUESTION}
    state = asyncio.run(running.ainvoke(given)) if awaits else running.invoke(given)
    assert {name: state.get(name) for name in ("answer", "hint", "price", "found")} == {
        "answer": FALLBACK,
        "hint": None,
        "price": None,
        "found": 3,
    }


def test_a_number_beside_an_answer_that_passes_is_verified() -> None:
    """An invented one blocks it."""
    for price, delivered in ((12, TRUE), (19, FALLBACK)):
        model = says(json.dumps({"answer": TRUE, "price": price}))
        node = checked(
            lambda state, model=model: json.loads(model.invoke(filled(state)).text),
            fallback=FALLBACK,
        )
        state = graph(node, schema=Priced).invoke({"question": QUESTION})
        assert state["answer"] == delivered
        assert state.get("price") == (12 if price == 12 else None)
