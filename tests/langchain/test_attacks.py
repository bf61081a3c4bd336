"""Ways round a guard that a hostile tester found: each stays closed."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal, TypedDict

import pytest
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    BaseCallbackHandler,
    CallbackManager,
    UsageMetadataCallbackHandler,
    adispatch_custom_event,
    dispatch_custom_event,
    get_usage_metadata_callback,
)
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    get_buffer_string,
)
from langchain_core.output_parsers import (
    JsonOutputParser,
    PydanticOutputParser,
    StrOutputParser,
)
from langchain_core.outputs import ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableConfig,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.tracers.base import BaseTracer
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field

from faithguard import CaptureError, ConfigError, Record, Report, UnfaithfulAnswerError
from faithguard.types import from_json, to_json
from faithguard_langchain import guard
from faithguard_langchain.testing import ScriptedChatModel

from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    PRICE,
    PROMPT,
    QUESTION,
    TEXTS,
    TRUE,
    WAYS,
    Chain,
    Script,
    Shelf,
    Turns,
    call,
    claim,
    finds,
    joined,
    message_chain,
    only,
    says,
    seen,
    text_chain,
    watcher,
)
from .test_watcher import agent

SHORT = "At 02:30."
"""A whole answer of two words, which is not true."""


def guarded(chain: Runnable[Any, Any], **settings: Any) -> Any:
    """Return a guard that logs nothing."""
    return guard(chain, **{"sinks": [], **settings})


def writes(said: str | AIMessage, shape: Callable[[AIMessage], Any] | None = None) -> Chain:
    """A chain that retrieves, whose model says something, and whose last step gives it a form."""
    model = says(said) if isinstance(said, str) else Turns(turns=[said], done=[])
    chain = message_chain(model)
    return chain if shape is None else chain | RunnableLambda(shape)


def held(chain: Chain, given: Any = QUESTION, **settings: Any) -> Report:
    """Check that an answer is held back for what it says, and return the report."""
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded(chain, **settings).invoke(given)
    return caught.value.report


def leaks(value: Any, word: str = "quillfeather") -> bool:
    """Say whether what someone holds shows the lie, in whatever case."""
    return word in repr(value).casefold()


# -- what is an answer ------------------------------------------------------------------------


@dataclass
class Slip:
    """An output as a dataclass."""

    answer: str
    more: Any = None


class Form(BaseModel):
    """An output as a pydantic model."""

    answer: str
    more: Any = None


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch"])
def test_every_branch_of_a_parallel_step_is_verified(way: str) -> None:
    """An answer that holds does not carry a follow-up that does not."""
    chain = RunnableParallel(answer=text_chain(says(TRUE)), followup=text_chain(says(LIE)))
    with pytest.raises(UnfaithfulAnswerError):
        WAYS[way](guarded(chain), QUESTION, {})


HIDING_KEYS: dict[str, Callable[[AIMessage], Any]] = {
    "empty": lambda m: {"answer": "", "output": m.text},
    "blank": lambda m: {"response": m.text, "output": " \n"},
    "none": lambda m: {"answer": None, "result": m.text},
    "empty and messages": lambda m: {"answer": "", "messages": [m]},
    "empty message": lambda m: {"answer": AIMessage(""), "text": m.text},
    "empty list": lambda m: {"messages": [], "generation": m.text},
    "unusual name": lambda m: {"answer": "", "remarks": {"first": [m.text]}},
    "as a key": lambda m: {"answer": "", m.text: True},
}


@pytest.mark.parametrize("name", HIDING_KEYS)
def test_an_empty_answer_does_not_hide_another(name: str) -> None:
    """Where one key is empty, what stands under the others is verified."""
    report = held(writes(BAD, HIDING_KEYS[name]))
    assert not claim(report, "Quillfeather").supported


BESIDE: dict[str, Callable[[str], Any]] = {
    "text": str,
    "list": lambda text: [text],
    "tuple": lambda text: (1, text),
    "set": lambda text: {text},
    "deep": lambda text: {"a": [{"b": ({"c": text},)}]},
    "key": lambda text: {text: 1},
    "message": AIMessage,
    "message from no one": lambda text: HumanMessage(text, name="researcher"),
    "document": Document,
    "list of documents": lambda text: [Document(HOURS), Document(text)],
    "mixed list": lambda text: [Document(HOURS), text],
    "metadata": lambda text: [Document(HOURS, metadata={"summary": text})],
    "dataclass": lambda text: Slip("", text),
    "pydantic": lambda text: Form(answer="", more=text),
    "named context": lambda text: {"context": text},
}


@pytest.mark.parametrize("key", ["notes", "context", "docs"])
@pytest.mark.parametrize("name", BESIDE)
def test_what_a_model_wrote_beside_a_good_answer_is_verified(name: str, key: str) -> None:
    """Under any key and in any form: text of a model's is held back if it does not hold."""

    def shape(message: AIMessage) -> dict[str, Any]:
        return {"answer": HOURS, key: BESIDE[name](message.text)}

    held(writes(LIE, shape))


TOOL_CALLS: dict[str, Callable[[str], AIMessage]] = {
    "argument": lambda text: call("Answer", answer=text),
    "nested": lambda text: call("Answer", parts=[{"body": {"text": text}}]),
    "argument name": lambda text: call("Answer", **{text: "yes"}),
    "beside text": lambda text: call("Answer", answer=text).model_copy(update={"content": HOURS}),
    "invalid": lambda text: AIMessage(
        "", invalid_tool_calls=[{"name": "Answer", "args": text, "id": "1", "error": None}]
    ),
}
CARRIED: dict[str, Callable[[AIMessage], Any]] = {
    "message": lambda m: m,
    "list": lambda m: [HumanMessage(QUESTION), m],
    "state": lambda m: {"messages": [HumanMessage(QUESTION), m]},
    "key": lambda m: {"answer": m},
}


@pytest.mark.parametrize("carried", CARRIED)
@pytest.mark.parametrize("name", TOOL_CALLS)
def test_tool_calls_that_nothing_answered_are_the_answer(name: str, carried: str) -> None:
    """A message without text whose tool calls say it all is verified by these."""
    held(writes(TOOL_CALLS[name](LIE), CARRIED[carried]))


def test_arguments_of_a_tool_call_that_became_a_dict_are_a_models_words() -> None:
    """Structured output: each field that a model filled in is verified."""
    said = call("Answer", answer=TRUE, followup=LIE)
    held(writes(said, lambda m: m.tool_calls[0]["args"]))
    faithful = call("Answer", answer=HOURS, followup=PRICE)
    output = guarded(writes(faithful, lambda m: m.tool_calls[0]["args"])).invoke(QUESTION)
    assert output == {"answer": HOURS, "followup": PRICE}


def test_fields_of_json_that_a_model_wrote_are_verified() -> None:
    """A parser that reads a model's JSON does not make its fields somebody else's."""
    chain = text_chain(says(json.dumps({"answer": TRUE, "remarks": [LIE]})))
    held(chain | JsonOutputParser())


BLOCKS: dict[str, Callable[[str], Any]] = {
    "output_text": lambda text: {"type": "output_text", "content": text},
    "text as parts": lambda text: {"type": "text", "content": [{"value": text}]},
    "json": lambda text: {"type": "json", "json": {"a": {"b": [text]}}},
    "refusal": lambda text: {"type": "refusal", "refusal": text},
    "non_standard": lambda text: {"type": "non_standard", "value": {"said": text}},
    "no type": lambda text: {"words": text},
    "plain": str,
}


@pytest.mark.parametrize("beside", [[], [{"type": "text", "text": f"{HOURS} "}]])
@pytest.mark.parametrize("name", BLOCKS)
def test_content_blocks_of_any_kind_hold_text(name: str, beside: list[Any]) -> None:
    """A block of a kind that is not known is verified by whatever text is in it."""
    held(writes(AIMessage(content=[*beside, BLOCKS[name](LIE)])))
    assert guarded(writes(AIMessage(content=[*beside, BLOCKS[name](PRICE)]))).invoke(QUESTION)


def test_empty_text_beside_a_block_does_not_hide_it() -> None:
    """A text block without text says nothing of the others."""
    content: Any = [{"type": "text", "text": ""}, {"type": "json", "json": {"said": LIE}}]
    held(writes(AIMessage(content=content)))


RUNS: dict[str, Callable[[str], list[BaseMessage]]] = {
    "earlier words": lambda text: [AIMessage(text), AIMessage(TRUE)],
    "words beside a tool call": lambda text: [
        call("look_up", topic="price").model_copy(update={"content": text}),
        ToolMessage(PRICE, tool_call_id="call-1"),
        AIMessage(TRUE),
    ],
    "tool result as the last word": lambda text: [
        call("ask", topic="comets"),
        ToolMessage(text, tool_call_id="call-1"),
    ],
    "a colleague's words at the end": lambda text: [
        AIMessage("Hello!"),
        HumanMessage(text, name="researcher"),
    ],
    "a colleague's words on the way": lambda text: [
        HumanMessage(text, name="researcher"),
        AIMessage(TRUE),
    ],
    "only a colleague's words": lambda text: [HumanMessage(text, name="researcher")],
    "system": lambda text: [SystemMessage(text), AIMessage(TRUE)],
}


@pytest.mark.parametrize("form", ["list", "state", "nested"])
@pytest.mark.parametrize("name", RUNS)
def test_each_message_that_a_chain_made_is_verified(name: str, form: str) -> None:
    """In a run of messages, the last one does not vouch for the others."""

    def shape(message: AIMessage) -> Any:
        messages = [HumanMessage(QUESTION), *RUNS[name](message.text)]
        if form == "nested":
            return {"answer": HOURS, "steps": {"inner": messages}}
        return messages if form == "list" else {"messages": messages}

    with pytest.raises((UnfaithfulAnswerError, CaptureError)):
        guarded(writes(LIE, shape)).invoke(QUESTION)


@pytest.mark.parametrize("form", ["dataclass", "pydantic"])
@pytest.mark.parametrize("key", ["answer", None])
def test_fields_of_an_object_are_verified(form: str, key: str | None) -> None:
    """An output that is an object is not delivered with a field that does not hold."""
    kind: Any = Slip if form == "dataclass" else Form
    for bad in (kind(answer=HOURS, more=LIE), kind(answer=LIE), kind(answer="", more=[LIE])):
        chain = writes(LIE, lambda _, bad=bad: bad)
        with pytest.raises((UnfaithfulAnswerError, CaptureError)):
            guarded(chain, answer_key=key).invoke(QUESTION)
    good = kind(answer=TRUE, more=[PRICE])
    assert guarded(writes(TRUE, lambda _: good), answer_key="answer").invoke(QUESTION) == good


def test_an_object_inside_a_dict_is_verified() -> None:
    """A good answer beside an object whose field does not hold is held back."""
    held(writes(LIE, lambda m: {"answer": HOURS, "form": Form(answer=m.text)}))
    held(writes(LIE, lambda m: {"answer": HOURS, "slips": [Slip(m.text)]}))


# -- what is no answer ------------------------------------------------------------------------

RUN_ID = "7f9c24e8-3b12-4a8e-9f7d-0c5d1a2b3c4d"
HARMLESS: dict[str, Any] = {
    "sources": ["page-The Vespe", "https://vesper.example/opening-hours.html", "tariff.pdf"],
    "one source": "https://vesper.example/opening-hours.html",
    "id": RUN_ID,
    "score": 0.8731,
    "counts": {"tokens": 512, "cached": False, "cost": None},
    "dates": ["2031-04-05T10:00:00Z"],
    "question": QUESTION,
    "context": "\n".join(f"[{n}] {text}" for n, text in enumerate(TEXTS, 1)),
    "documents": [Document(text, metadata={"page": n}) for n, text in enumerate(TEXTS)],
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_a_chain_tells_beside_a_faithful_answer_does_not_fail_it(name: str) -> None:
    """Sources, ids, scores and the context itself are no claims of a model's."""
    key = "context" if name == "documents" else name
    output = guarded(writes(TRUE, lambda m: {"answer": m.text, key: HARMLESS[name]}))
    assert output.invoke(QUESTION) == {"answer": TRUE, key: HARMLESS[name]}


@pytest.mark.parametrize("key", ["context", "prompt", "shown"])
def test_a_formatted_context_does_not_fail_a_faithful_answer(key: str) -> None:
    """A context that a template has wrapped up is context, whatever its key is called."""
    wrapped = "Excerpts from our pages\n" + "\n".join(f"<p>{text}</p>" for text in TEXTS)
    chain = writes(TRUE, lambda m: {"answer": m.text, key: wrapped})
    assert guarded(chain).invoke(QUESTION)["answer"] == TRUE


@pytest.mark.parametrize("fields", ["sources", "id", "score"])
def test_sources_that_a_model_names_do_not_fail_a_faithful_answer(fields: str) -> None:
    """Structured output with citations: names of files are no statements."""
    beside = {"sources": ["hours.pdf", "https://vesper.example/tour"], "id": "q-17", "score": 0.9}
    said = {"answer": TRUE, fields: beside[fields]}
    chain = text_chain(says(json.dumps(said))) | JsonOutputParser()
    assert guarded(chain).invoke(QUESTION) == said


FIELDS: dict[str, dict[str, Any]] = {
    "a short sentence": {"note": "A tour costs 19 euros."},
    "fewer words": {"note": "Comets hand out marzipan"},
    "a list": {"notes": ["Tours are free.", "Comets sing."]},
    "deeper": {"more": {"about": [{"price": "Tours are free."}]}},
    "a word": {"guide": "Quillfeather"},
    "a word in a list": {"guests": ["Vesper", "Quillfeather"]},
    "a word in what lies in it": {"tour": {"guide": "Quillfeather"}},
    "a number": {"tour_price": 19},
    "a number in a list": {"prices": [12, 19]},
    "a number as a string": {"price": "19"},
    "a truth value": {"tour_is_free": True},
    "a name": {"Comets hand out marzipan": None},
}


def parsed(**fields: Any) -> Chain:
    """A chain whose model writes JSON, and whose last step reads it."""
    return text_chain(says(json.dumps(fields))) | JsonOutputParser()


def filled_in(**fields: Any) -> Chain:
    """A chain whose model fills in the arguments of a tool."""
    return writes(call("Answer", **fields), lambda m: m.tool_calls[0]["args"])


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("build", [parsed, filled_in])
@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_a_few_words_is_verified(name: str, build: Any, way: str) -> None:
    """Each stands for itself; where one is not supported, none goes out."""
    safe = guarded(build(answer=HOURS, **FIELDS[name]), fallback=FALLBACK)
    assert WAYS[way](safe, QUESTION, {}) == [{"answer": FALLBACK}]
    mended = guarded(build(answer=HOURS, **FIELDS[name]), on_fail="repair")
    assert WAYS[way](mended, QUESTION, {}) == [{"answer": HOURS}]


@pytest.mark.parametrize("build", [parsed, filled_in])
@pytest.mark.parametrize(
    "beside",
    [
        {"note": "A tour costs 12 euros."},
        {"price": 12, "mirror_cm": 90.0},
        {"price": "12 euros"},
        {"confidence": 0.93, "answerScore": 87, "answer_found": True, "citations": [1, 3]},
        {"who": "visitors", "page": 4, "sources": ["hours.md"]},
    ],
    ids=["a sentence", "numbers", "an amount", "of the answer", "labels"],
)
def test_a_field_that_is_supported_or_states_nothing_passes(build: Any, beside: Any) -> None:
    """Numbers of the context do, and what a model says of its own answer."""
    said = {"answer": HOURS, **beside}
    assert guarded(build(**said)).invoke(QUESTION) == said


class Slot(BaseModel):
    """A structured answer."""

    answer: str
    kind: Literal["visit", "lease"]
    day: str = ""


@pytest.mark.parametrize("day", ["Fridays", "Mondays"])
def test_a_word_that_a_schema_lists_states_nothing(day: str) -> None:
    """It is the author's own; a word of the model's beside it is verified."""
    said = Slot(answer=HOURS, kind="lease", day=day)
    outputs = [
        (filled_in(**said.model_dump()) | Slot.model_validate, "answer"),
        (text_chain(says(said.model_dump_json()).bind(tools=[_schema_of(Slot)])) | read_slot, None),
    ]
    for chain, key in outputs:
        safe = guarded(chain, answer_key=key)
        if day == "Fridays":
            assert safe.invoke(QUESTION)
            continue
        with pytest.raises(UnfaithfulAnswerError):
            safe.invoke(QUESTION)


def test_a_word_that_code_puts_beside_an_answer_is_nobodys() -> None:
    """A model may have used the same in its prose."""
    chain = writes(TRUE, lambda m: {"answer": m.text, "place": "Vesper", "unit": "euros"})
    assert guarded(chain).invoke(QUESTION) == {"answer": TRUE, "place": "Vesper", "unit": "euros"}


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": "slot", "parameters": model.model_json_schema()},
    }


def read_slot(text: str) -> dict[str, Any]:
    """Read JSON into a dict, of which nobody sees what its schema was."""
    return dict(json.loads(text))


def test_an_id_that_was_handed_in_passes() -> None:
    """One that was not is an invention."""
    said = {"answer": HOURS, "booking_id": 4711}
    chain = RunnableLambda(lambda given: given["question"]) | parsed(**said)
    given = {"question": f"{QUESTION} My booking is 4711."}
    assert guarded(chain).invoke(given) == said
    held(chain, {"question": QUESTION})


def test_numbers_of_the_chains_own_are_no_claims() -> None:
    """What code counts beside a model's answer is not the model's; it stays when that goes."""
    for answer, delivered in ((TRUE, TRUE), (BAD, FALLBACK)):
        chain = writes(answer, lambda m: {"answer": m.text, "found": 3, "cached": False})
        output = guarded(chain, fallback=FALLBACK).invoke(QUESTION)
        assert output == {"answer": delivered, "found": 3, "cached": False}


def test_a_short_part_of_a_models_prose_is_verified() -> None:
    """A step of the chain may take it out of what is no answer."""
    prose = f"Answer: {HOURS} And note that comets hand out marzipan, 19 each."
    held(writes(prose, lambda m: {"answer": HOURS, "note": "Comets hand out marzipan"}))
    held(writes(prose, lambda m: {"answer": HOURS, "marzipan": 19}))


@pytest.mark.parametrize("build", [parsed, filled_in])
def test_no_number_of_a_models_is_left_in_a_blocked_output(build: Any) -> None:
    """Neither a truth value, however deep; what came in stays."""
    said = {"answer": BAD, "price": 19, "free": True, "n": 3, "more": {"deep": [7]}, "list": [8]}
    chain = RunnableLambda(lambda given: given["question"]) | build(**said)
    given = {"question": QUESTION, "n": 3}
    assert guarded(chain, fallback=FALLBACK).invoke(given) == {"answer": FALLBACK, "n": 3}


def test_what_was_handed_in_and_is_handed_on_does_not_fail_a_faithful_answer() -> None:
    """Input that an output repeats is the caller's: question, history, notes."""
    history = [HumanMessage("Who is there?"), AIMessage(LIE)]
    given = {"question": QUESTION, "history": history, "notes": f"I heard: {LIE}", "n": 3}
    write = RunnableLambda(lambda state: state["question"]) | text_chain(says(TRUE))
    output = guarded(RunnablePassthrough.assign(answer=write)).invoke(given)
    assert output == {**given, "answer": TRUE}


def test_a_conversation_that_goes_on_is_not_held_to_its_earlier_turns() -> None:
    """Messages that came in, ids added or not, are not verified again."""
    history = [HumanMessage("Who is there?"), AIMessage(LIE), HumanMessage(QUESTION)]

    def answer(state: Any) -> Any:
        said = text_chain(says(TRUE)).invoke(QUESTION)
        renamed = [m.model_copy(update={"id": f"m{n}"}) for n, m in enumerate(state["messages"])]
        return {"messages": [*renamed, AIMessage(said)]}

    output = guarded(RunnableLambda(answer)).invoke({"messages": history})
    assert output["messages"][-1].content == TRUE


@tool
def look_up(topic: str) -> str:
    """Look something up in the tariff."""
    return PRICE


@tool
def think(thought: str) -> str:
    """Keep a thought."""
    return f"Noted: {thought}"


@tool
def ask_expert(topic: str) -> str:
    """Ask another model."""
    return text_chain(says(LIE)).invoke(topic)


def tool_graph(
    turns: Sequence[AIMessage], tools: Sequence[BaseTool], *, direct: bool = False
) -> Any:
    """A LangGraph tool loop; `direct` ends it after the tools, as `return_direct` does."""
    model = Turns(turns=list(turns), done=[])

    def write(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def onward(state: MessagesState) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    builder = StateGraph(MessagesState)
    builder.add_node("write", write)
    builder.add_node("tools", ToolNode(list(tools)))
    builder.add_edge(START, "write")
    builder.add_conditional_edges("write", onward)
    builder.add_edge("tools", END if direct else "write")
    return builder.compile()


ASKED = {"messages": [("user", QUESTION)]}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_faithful_agent_run_passes(way: str) -> None:
    """Tool calls that were answered, and small talk on the way, do not fail an answer."""
    turns = [
        call("look_up", topic="price").model_copy(update={"content": "Let me look that up."}),
        call("look_up", id="call-2", topic="tour"),
        AIMessage(PRICE),
    ]
    (output,) = WAYS[way](guarded(tool_graph(turns, [look_up])), ASKED, {})
    assert [m.text for m in output["messages"]][-1] == PRICE


def test_a_tools_own_words_as_the_last_word_pass() -> None:
    """A tool that no model ran in may answer directly."""
    graph = tool_graph([call("look_up", topic="price")], [look_up], direct=True)
    assert guarded(graph).invoke(ASKED)["messages"][-1].content == PRICE


def test_a_model_in_a_tool_that_answers_directly_is_verified() -> None:
    """A tool whose model wrote the last word gives no evidence for it."""
    held(tool_graph([call("ask_expert", topic="comets")], [ask_expert], direct=True), ASKED)


def test_a_tool_that_repeats_the_model_and_answers_directly_is_verified() -> None:
    """What an argument said does not become true by being the last word."""
    held(tool_graph([call("think", thought=LIE)], [think], direct=True), ASKED)


def test_an_agents_words_on_the_way_are_verified() -> None:
    """A lie beside a tool call is in the output as well as the courtesy after it."""
    said = call("look_up", topic="price").model_copy(update={"content": LIE})
    held(tool_graph([said, AIMessage(PRICE)], [look_up]), ASKED)


# -- what is left of a blocked output ---------------------------------------------------------


def unfaithful_with(beside: Callable[[str], Any], key: str = "notes") -> Chain:
    """A chain whose blocked output holds the lie in the answer, and once more."""
    return writes(BAD, lambda m: {"answer": m.text, key: beside(LIE), "question": QUESTION})


@pytest.mark.parametrize("key", ["notes", "context", "docs"])
@pytest.mark.parametrize("name", BESIDE)
def test_nothing_of_a_models_is_left_in_a_blocked_output(name: str, key: str) -> None:
    """The fallback stands there, what was handed in stays, and the lie is nowhere."""
    output = guarded(unfaithful_with(BESIDE[name], key), fallback=FALLBACK).invoke(QUESTION)
    assert output["answer"] == FALLBACK
    assert output["question"] == QUESTION
    assert not leaks(output)


def test_a_key_that_a_model_wrote_is_not_left() -> None:
    """A model that answers in JSON writes its keys, too."""
    chain = text_chain(says(json.dumps({"answer": BAD, LIE: True}))) | JsonOutputParser()
    assert not leaks(guarded(chain, fallback=FALLBACK).invoke(QUESTION))


@pytest.mark.parametrize("name", RUNS)
def test_no_message_of_a_blocked_run_is_left(name: str) -> None:
    """Of a run of messages, those that came in stay, and the fallback is the last."""
    given = [HumanMessage("Hello"), AIMessage("Good evening!"), HumanMessage(QUESTION)]

    def answer(state: Any) -> Any:
        text_chain(says(LIE)).invoke(QUESTION)
        return {"messages": [*state["messages"], *RUNS[name](LIE), AIMessage(LIE)]}

    output = guarded(RunnableLambda(answer), fallback=FALLBACK).invoke({"messages": given})
    assert [m.text for m in output["messages"]] == [*(m.text for m in given), FALLBACK]


@pytest.mark.parametrize("shape", [lambda m: m, lambda m: [m], lambda m: (m, [m.text])])
def test_a_blocked_message_keeps_no_metadata_of_the_models(shape: Any) -> None:
    """Tool calls, extra arguments, names and response metadata go with the text."""
    said = AIMessage(
        BAD,
        name="quillfeather",
        additional_kwargs={"refusal": LIE},
        response_metadata={"logprobs": [LIE]},
        tool_calls=[{"name": "note", "args": {"text": LIE}, "id": "1"}],
    )
    guarding = guarded(writes(said, shape), fallback=FALLBACK)
    with suppress(CaptureError):  # a form in which no answer is found is not delivered either
        output = guarding.invoke(QUESTION)
        assert FALLBACK in repr(output)
        assert not leaks(output)


def test_retrieved_documents_and_input_stay_in_a_blocked_output() -> None:
    """What was fetched and what came in is no model's."""

    def answer(state: Any) -> Any:
        documents = finds(*TEXTS).invoke(state["question"])
        said = message_chain(says(BAD)).invoke(state["question"])
        return {**state, "context": documents, "answer": said.text}

    given = {"question": QUESTION, "history": [AIMessage("Good evening!")], "user": "kim", "n": 3}
    output = guarded(RunnableLambda(answer), fallback=FALLBACK).invoke(given)
    assert {key: output[key] for key in given} == given
    assert output["answer"] == FALLBACK
    assert sorted(d.page_content for d in output["context"]) == sorted(TEXTS)


# -- errors -----------------------------------------------------------------------------------


class Parted(Exception):
    """An error that keeps what it could not read, and does not say it."""

    def __init__(self, kept: Any) -> None:
        super().__init__("the answer could not be read")
        self.llm_output = kept


class Unsayable(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Rude(BaseException):
    """No `Exception`."""


def _cause(text: str) -> None:
    raise RuntimeError("the parser failed") from ValueError(text)


def _context(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        raise RuntimeError("the parser failed")  # noqa: B904


def _suppressed(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        raise RuntimeError("the parser failed") from None


def _noted(text: str) -> None:
    error = RuntimeError("the parser failed")
    error.add_note(f"It was given: {text}")
    raise error


def _grouped(text: str) -> None:
    inner = ExceptionGroup("some", [KeyError("x"), ExceptionGroup("more", [ValueError(text)])])
    raise ExceptionGroup("several", [OSError(5, "disk"), inner])


def _raising(make: Callable[[str], BaseException]) -> Callable[[str], None]:
    def fail(text: str) -> None:
        raise make(text)

    return fail


RAISERS: dict[str, Callable[[str], None]] = {
    "plain": _raising(ValueError),
    "key": _raising(KeyError),
    "upper case": _raising(lambda text: ValueError(text.upper())),
    "part": _raising(lambda text: ValueError(f"not understood: {text[:33]}...")),
    "split": _raising(lambda text: ValueError(*text.split())),
    "list": _raising(lambda text: ValueError(text.split())),
    "escaped": _raising(lambda text: ValueError(json.dumps(json.dumps({"text": text})))),
    "wrapped": _raising(lambda text: ValueError(text.replace(" ", "\n"))),
    "attribute": _raising(Parted),
    "attribute in a dict": _raising(lambda text: Parted({"raw": [text]})),
    "attribute of an attribute": _raising(lambda text: Parted(SimpleNamespace(text=text))),
    "message": _raising(lambda text: Parted(AIMessage(text))),
    "bytes": _raising(lambda text: ValueError(text.encode())),
    "note": _noted,
    "cause": _cause,
    "context": _context,
    "context, suppressed": _suppressed,
    "unsayable": _raising(Unsayable),
    "base": _raising(Rude),
    "exit": _raising(SystemExit),
    "group": _grouped,
}


def tells(error: BaseException, word: str) -> bool:
    """Say whether anything that hangs on an error holds a word."""
    told = "".join(traceback.format_exception(error))
    open_: list[BaseException | None] = [error]
    while open_:
        if (current := open_.pop()) is not None:
            told += f"{current!s}{current.args!r}{vars(current)!r}"
            open_ += [current.__cause__, current.__context__]
            if isinstance(current, BaseExceptionGroup):
                open_ += current.exceptions
    return word in told.casefold()


def failing(text: str, fail: Callable[[str], None]) -> Chain:
    """A chain whose last step fails over what the model said."""

    def step(message: AIMessage) -> str:
        fail(message.text)
        return message.text

    return writes(text, step)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "astream"])
@pytest.mark.parametrize("name", RAISERS)
def test_an_error_that_carries_a_models_text_is_withheld(name: str, way: str) -> None:
    """In its place comes an error of ours; nothing that hangs on it holds the text."""
    if name == "exit" and way != "invoke":
        pytest.skip("asyncio itself ends the loop with a SystemExit of any task")
    with pytest.raises(CaptureError) as caught:
        WAYS[way](guarded(failing(LIE, RAISERS[name])), QUESTION, {})
    assert not tells(caught.value, "quillfeather")
    assert not tells(caught.value, "marzipan")


@pytest.mark.parametrize("name", sorted({*RAISERS} - {"part"}))
def test_a_short_text_in_an_error_is_withheld(name: str) -> None:
    """Two words may be a whole answer."""
    with pytest.raises(CaptureError) as caught:
        guarded(failing(SHORT, RAISERS[name])).invoke(QUESTION)
    assert not tells(caught.value, "02:30")


class Days(BaseModel):
    """What a parser expects."""

    days: int


PARSED = {
    "prose as JSON": (LIE, JsonOutputParser()),
    "short prose as JSON": (SHORT, JsonOutputParser()),
    "wrong field": (json.dumps({"days": LIE}), PydanticOutputParser(pydantic_object=Days)),
    "wrong short field": ('{"days":\n"02:30"\n}', PydanticOutputParser(pydantic_object=Days)),
}


@pytest.mark.parametrize("name", PARSED)
def test_what_parsers_quote_is_withheld(name: str) -> None:
    """LangChain's parsers put the whole text into message, attributes and cause."""
    text, parser = PARSED[name]
    with pytest.raises(CaptureError) as caught:
        guarded(text_chain(says(text)) | parser).invoke(QUESTION)
    assert not tells(caught.value, "quillfeather")
    assert not tells(caught.value, "02:30")


def test_a_tool_that_fails_over_its_arguments_is_withheld() -> None:
    """What a model puts into a tool's arguments is its text, too."""

    def refuse(text: str) -> str:
        """Keep a note."""
        raise ValueError(f"not accepted: {text}")

    note = StructuredTool.from_function(refuse, name="note")
    with pytest.raises(CaptureError) as caught:
        guarded(agent(Turns(turns=[call("note", text=LIE)], done=[]), [note])).invoke(QUESTION)
    assert not tells(caught.value, "quillfeather")


def test_an_error_in_a_batch_is_withheld() -> None:
    """A batch that returns its exceptions returns ours."""
    chain = guarded(failing(LIE, _cause))
    for error in chain.batch([QUESTION, QUESTION], return_exceptions=True):
        assert isinstance(error, CaptureError)
        assert not tells(error, "quillfeather")


INNOCENT: list[BaseException] = [
    RuntimeError("the database is closed"),
    KeyError("tariff"),
    OSError(28, "No space left on device"),
    Parted({"code": 17}),
    ExceptionGroup("several", [TimeoutError("after 30 s")]),
    SystemExit(3),
]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("error", INNOCENT, ids=lambda error: type(error).__name__)
def test_an_error_without_a_models_text_passes_unchanged(error: BaseException, way: str) -> None:
    """A fault of the chain is the caller's to see."""
    chain = failing(LIE, _raising(lambda _: error))
    with pytest.raises(type(error)) as caught:
        WAYS[way](guarded(chain), QUESTION, {})
    assert caught.value is error


def test_an_error_before_any_model_wrote_passes_unchanged() -> None:
    """What the caller said may stand in an error."""
    error = ValueError(f"the question is too long: {QUESTION}")

    def refuse(_: Any) -> Any:
        raise error

    with pytest.raises(ValueError, match="too long") as caught:
        guarded(RunnableLambda(refuse) | text_chain(says(LIE))).invoke(QUESTION)
    assert caught.value is error


def test_an_interrupt_by_keyboard_passes() -> None:
    """Whoever stops the program stops it."""
    with pytest.raises(KeyboardInterrupt):
        guarded(failing(LIE, _raising(lambda _: KeyboardInterrupt()))).invoke(QUESTION)


def test_a_cancelled_call_is_cancelled() -> None:
    """A task that is cancelled while the chain works ends as cancelled."""

    async def wait(message: AIMessage) -> str:
        await asyncio.sleep(30)
        return message.text

    async def run() -> None:
        chain = message_chain(says(LIE)) | RunnableLambda(lambda m: m.text, wait)
        task = asyncio.create_task(guarded(chain).ainvoke(QUESTION))
        await asyncio.sleep(0.2)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


class Visit(TypedDict, total=False):
    """The state of the graphs below."""

    question: str
    answer: str


def one_node(node: Any, **settings: Any) -> Any:
    """A graph of one node."""
    builder = StateGraph(Visit)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile(**settings)


@pytest.mark.parametrize("text", [BAD, SHORT])
@pytest.mark.parametrize("goto", [(), "node"])
def test_a_command_to_the_parent_graph_is_withheld(text: str, goto: Any) -> None:
    """An update that goes round the guard by an exception reaches neither caller nor state."""

    def hand_over(state: Visit) -> Any:
        said = text_chain(says(text)).invoke(state["question"])
        return Command(graph=Command.PARENT, update={"answer": said}, goto=goto)

    outer = one_node(guarded(one_node(hand_over)), checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    with pytest.raises(CaptureError) as caught:
        outer.invoke({"question": QUESTION}, thread)
    assert not tells(caught.value, "quillfeather")
    assert "answer" not in outer.get_state(thread).values


@pytest.mark.parametrize("text", [BAD, SHORT])
def test_an_interrupt_does_not_show_a_draft(text: str) -> None:
    """A graph that stops to show its draft to a person shows nothing unverified."""

    def draft(state: Visit) -> Any:
        said = text_chain(says(text)).invoke(state["question"])
        return {"answer": interrupt({"draft": said})}

    outer = one_node(guarded(one_node(draft)), checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    shown: list[Any] = []
    with suppress(CaptureError, UnfaithfulAnswerError):
        shown += outer.stream({"question": QUESTION, "answer": HOURS}, thread)
    assert not leaks(shown)
    assert not leaks(shown, "02:30")


# -- what is refused --------------------------------------------------------------------------


class Tokens(BaseCallbackHandler):
    """A handler as a page has one: it takes tokens."""

    def __init__(self) -> None:
        self.got: list[Any] = []

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.got.append(token)


def remembered() -> Any:
    """A chain with a memory of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        history = InMemoryChatMessageHistory()
        return RunnableWithMessageHistory(says(BAD), lambda _: history)


def checkpointed() -> Any:
    """A graph that stores each step."""
    return one_node(lambda state: {"answer": BAD}, checkpointer=InMemorySaver())


def overheard() -> Any:
    """A model that tells a page each token."""
    return ScriptedChatModel(reply=Script(BAD), callbacks=[Tokens()])


def ordinary() -> Any:
    """A chain that nothing speaks against."""
    return text_chain(says(TRUE))


FORBIDDEN = [remembered, checkpointed, overheard]


class Desk:
    """An application's object that holds a chain."""

    def __init__(self, chain: Any) -> None:
        self.chain = chain

    def ask(self, question: str) -> Any:
        """Ask the chain."""
        return self.chain.invoke(question)

    async def aask(self, question: str) -> Any:
        """Ask the chain, awaiting."""
        return await self.chain.ainvoke(question)

    def __call__(self, question: str) -> Any:
        """Ask the chain."""
        return self.chain.invoke(question)


IN_MODULE: Any = None
"""What `ask_module` and the others find in their module."""


def ask_module(question: str) -> Any:
    """Ask what the module holds."""
    return IN_MODULE.invoke(question)


def ask_module_nested(question: str) -> Any:
    """Ask it in a function inside."""

    def ask() -> Any:
        return IN_MODULE.invoke(question)

    return ask()


def ask_by_another(question: str) -> Any:
    """Ask it by another function of the module."""
    return ask_module(question)


def ask_given(question: str, chain: Any) -> Any:
    """Ask what is given."""
    return chain.invoke(question)


def _closure(chain: Any) -> Any:
    return RunnableLambda(lambda question: chain.invoke(question))


def _closed_in_dict(chain: Any) -> Any:
    held_ = {"desk": {"main": chain}}
    return RunnableLambda(lambda question: held_["desk"]["main"].invoke(question))


def _closed_in_list(chain: Any) -> Any:
    held_ = [1, (chain,)]
    return RunnableLambda(lambda question: held_[1][0].invoke(question))


def _closed_in_object(chain: Any) -> Any:
    desk = Desk(chain)
    return RunnableLambda(lambda question: desk.chain.invoke(question))


def _closed_deep(chain: Any) -> Any:
    def outer(question: str) -> Any:
        def inner() -> Any:
            return (RunnablePassthrough() | chain).invoke(question)

        return inner()

    def outermost(question: str) -> Any:
        return outer(question)

    return RunnableLambda(outermost)


def _default(chain: Any) -> Any:
    def ask(question: str, chain: Any = chain) -> Any:
        return chain.invoke(question)

    return RunnableLambda(ask)


def _keyword_default(chain: Any) -> Any:
    def ask(question: str, *, chain: Any = chain) -> Any:
        return chain.invoke(question)

    return RunnableLambda(ask)


def _generator(chain: Any) -> Any:
    def write(questions: Iterator[str]) -> Iterator[Any]:
        for question in questions:
            yield chain.invoke(question)

    return RunnableGenerator(write)


def _in_module(function: Any) -> Callable[[Any], Any]:
    def place(chain: Any) -> Any:
        setattr(sys.modules[__name__], "IN_MODULE", chain)  # noqa: B010
        return RunnableLambda(function)

    return place


def _tool_function(chain: Any) -> Any:
    def ask(question: str) -> str:
        """Ask the desk."""
        return str(chain.invoke(question))

    return StructuredTool.from_function(ask) | RunnableLambda(str)


def _tool_in_agent(chain: Any) -> Any:
    return agent(Turns(turns=[AIMessage(TRUE)], done=[]), [_tool_function(chain).first])


def _node_function(chain: Any) -> Any:
    return one_node(lambda state: {"answer": chain.invoke(state["question"])})


def _node(chain: Any) -> Any:
    return one_node(RunnableLambda(lambda state: state["question"]) | chain)


def _node_method(chain: Any) -> Any:
    return one_node(Desk(chain).ask)


def _tool_node(chain: Any) -> Any:
    return tool_graph([AIMessage(TRUE)], [_tool_function(chain).first])


def _alternative(chain: Any) -> Any:
    return ordinary().configurable_alternatives(
        ConfigurableField(id="desk"), default_key="day", night=chain
    )


def _alternative_made(chain: Any) -> Any:
    return ordinary().configurable_alternatives(
        ConfigurableField(id="desk"), default_key="day", night=lambda: chain
    )


PLACES: Mapping[str, Callable[[Any], Any]] = {
    "bound method": lambda chain: RunnableLambda(Desk(chain).ask),
    "bound method, awaiting": lambda chain: RunnableLambda(Desk(chain).aask),
    "callable object": lambda chain: RunnableLambda(Desk(chain)),
    "partial": lambda chain: RunnableLambda(partial(ask_given, chain=chain)),
    "partial of a method": lambda chain: RunnableLambda(partial(Desk(chain).ask)),
    "closure": _closure,
    "closure, dict": _closed_in_dict,
    "closure, list": _closed_in_list,
    "closure, object": _closed_in_object,
    "closure, deep": _closed_deep,
    "default": _default,
    "keyword default": _keyword_default,
    "module": _in_module(ask_module),
    "module, function inside": _in_module(ask_module_nested),
    "module, by another": _in_module(ask_by_another),
    "generator": _generator,
    "tool function": _tool_function,
    "agent's tool": _tool_in_agent,
    "node's function": _node_function,
    "node": _node,
    "node's method": _node_method,
    "tool node": _tool_node,
    "alternative": _alternative,
    "alternative, made": _alternative_made,
    "fallback": lambda chain: ordinary().with_fallbacks([chain]),
}


@pytest.fixture
def _module() -> Iterator[None]:
    """Clear what a place has put into the module."""
    yield
    setattr(sys.modules[__name__], "IN_MODULE", None)  # noqa: B010


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize("hidden", FORBIDDEN)
@pytest.mark.parametrize("place", PLACES)
def test_what_a_guard_cannot_protect_is_found_wherever_it_is(place: str, hidden: Any) -> None:
    """A memory, a checkpointer or a token handler is refused at construction."""
    with pytest.raises(ConfigError):
        guarded(PLACES[place](hidden()))


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize("place", PLACES)
def test_an_ordinary_chain_is_refused_nowhere(place: str) -> None:
    """The same constructions around a chain that nothing speaks against are accepted."""
    guarded(PLACES[place](ordinary()))


# -- handlers ---------------------------------------------------------------------------------


class Chatty(ScriptedChatModel):
    """A model that tells its tokens whenever it is called."""

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        result = super()._generate(messages, stop, None, **kwargs)
        for word in result.generations[0].text.split():
            if run_manager:
                run_manager.on_llm_new_token(word)
        return result


@dataclass
class Heard:
    """What a handler was told."""

    text: list[Any] = field(default_factory=list[Any])
    events: list[str] = field(default_factory=list[str])

    def token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.text.append(token)


class Page(BaseCallbackHandler):
    """A handler that notes which runs start and end."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain start")

    def on_chain_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain end")

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm start")

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm end")


class TokenPage(Page):
    """One whose class takes tokens."""

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.heard.text.append(token)


class InlinePage(TokenPage):
    """One that runs inline."""

    run_inline = True


class EventPage(Page):
    """One that takes events of the chain's own."""

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Take an event."""
        self.heard.text.append(data)


class AsyncPage(AsyncCallbackHandler):
    """One that awaits."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    async def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain start")

    async def on_chain_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain end")

    async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm start")

    async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm end")

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.heard.text.append(token)

    async def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Take an event."""
        self.heard.text.append(data)


class TracerPage(BaseTracer):
    """A user's own tracer that passes tokens on."""

    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self.heard = heard

    def _persist_run(self, run: Any) -> None:
        """Keep nothing."""

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> Any:
        """Take a token."""
        self.heard.text.append(token)
        return super().on_llm_new_token(token, **kwargs)

    def _on_chain_start(self, run: Any) -> None:
        self.heard.events.append("chain start")

    def _on_chain_end(self, run: Any) -> None:
        self.heard.events.append("chain end")

    def _on_llm_start(self, run: Any) -> None:
        self.heard.events.append("llm start")

    def _on_llm_end(self, run: Any) -> None:
        self.heard.events.append("llm end")


def _on_instance(heard: Heard) -> Any:
    page: Any = Page(heard)
    page.on_llm_new_token = heard.token
    return page


def _event_on_instance(heard: Heard) -> Any:
    page: Any = Page(heard)
    page.on_custom_event = lambda name, data, **kwargs: heard.text.append(data)
    return page


PAGES: Mapping[str, Callable[[Heard], Any]] = {
    "class": TokenPage,
    "instance": _on_instance,
    "inline": InlinePage,
    "tracer": TracerPage,
    "event": EventPage,
    "event on the instance": _event_on_instance,
    "async": AsyncPage,
}


def talkative(text: str) -> Chain:
    """A chain that tells its answer by tokens and by an event before it is verified."""

    def tell(said: str) -> str:
        dispatch_custom_event("draft", {"text": said})
        return said

    async def atell(said: str) -> str:
        await adispatch_custom_event("draft", {"text": said})
        return said

    return text_chain(Chatty(reply=Script(text))) | RunnableLambda(tell, atell)


@pytest.mark.parametrize("passed", ["list", "manager", "with_config"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PAGES)
def test_handlers_get_no_text_before_it_is_verified(name: str, way: str, passed: str) -> None:
    """Tokens and the chain's own events are held back; starts and ends are told."""
    heard = Heard()
    page = PAGES[name](heard)
    chain: Any = guarded(talkative(BAD), fallback=FALLBACK)
    config: Any = {"callbacks": [page]}
    if passed == "manager":
        config = {"callbacks": CallbackManager([page], inheritable_handlers=[page])}
    if passed == "with_config":
        chain, config = chain.with_config(callbacks=[page]), {}
    WAYS[way](chain, QUESTION, config)
    assert heard.text == []
    assert {"chain start", "chain end", "llm start", "llm end"} <= {*heard.events}
    assert heard.events.count("llm end") == 1


@pytest.mark.parametrize("name", ["class", "tracer", "event"])
def test_the_talkative_chain_does_talk(name: str) -> None:
    """Without a guard these handlers get the text: the test above is not empty."""
    heard = Heard()
    talkative(BAD).invoke(QUESTION, {"callbacks": [PAGES[name](heard)]})
    assert leaks(heard.text)


@pytest.mark.parametrize("name", PAGES)
def test_a_guard_inside_a_chain_holds_back_as_well(name: str) -> None:
    """A handler on the chain around gets nothing either."""
    heard = Heard()
    chain = RunnablePassthrough() | guarded(talkative(BAD), fallback=FALLBACK) | StrOutputParser()
    assert chain.invoke(QUESTION, {"callbacks": [PAGES[name](heard)]}) == FALLBACK
    assert heard.text == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
def test_usage_is_counted_once(way: str) -> None:
    """Counters see the model call of a guarded chain as they do without a guard."""

    def chain() -> Chain:
        message = AIMessage(TRUE, response_metadata={"model_name": "vesper-1"})
        message.usage_metadata = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
        return message_chain(Turns(turns=[message], done=[]))

    def counted(chain: Chain) -> list[int]:
        own = UsageMetadataCallbackHandler()
        page = TokenPage(Heard())
        with get_usage_metadata_callback() as around:
            WAYS[way](chain, QUESTION, {"callbacks": [own, page]})
        assert page.heard.events.count("llm end") == 1
        return [u.usage_metadata["vesper-1"]["total_tokens"] for u in (own, around)]

    assert counted(guarded(chain())) == counted(chain()) == [12, 12]


# -- asking again -----------------------------------------------------------------------------


class Toolish(ScriptedChatModel):
    """A chat model that takes tools."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Bind their names."""
        return self.bind(tools=[getattr(t, "name", str(t)) for t in tools])


def _prompt(question: str) -> list[BaseMessage]:
    return PROMPT.invoke(
        {"context": joined(finds(*TEXTS).invoke(question)), "question": question}
    ).to_messages()


def _function(ask: Callable[[Any, str], Any]) -> Callable[[Any], Chain]:
    def build(model: Any) -> Chain:
        return RunnableLambda(lambda question: str(ask(model, question)))

    return build


def ask_model(question: str, model: Any) -> str:
    """Ask a model that is given."""
    return str(model.invoke(_prompt(question)).text)


def _from_dict(model: Any) -> Chain:
    models = {"small": {"model": model}}
    return RunnableLambda(lambda question: models["small"]["model"].invoke(_prompt(question)).text)


def _from_object(model: Any) -> Chain:
    desk = SimpleNamespace(model=model)
    return RunnableLambda(lambda question: desk.model.invoke(_prompt(question)).text)


def _by_method(model: Any) -> Chain:
    class Clerk:
        def __init__(self) -> None:
            self.model = model

        def ask(self, question: str) -> str:
            return str(self.model.invoke(_prompt(question)).text)

    return RunnableLambda(Clerk().ask)


def _by_node(model: Any) -> Chain:
    def node(state: Visit) -> Any:
        return {"answer": model.bind_tools([look_up]).invoke(_prompt(state["question"])).text}

    pick = RunnableLambda(lambda question: {"question": question})
    return pick | one_node(node) | RunnableLambda(lambda state: state["answer"])


WRITERS: Mapping[str, Callable[[Any], Chain]] = {
    "invoke": _function(lambda m, q: m.invoke(_prompt(q)).text),
    "dict": _from_dict,
    "object": _from_object,
    "method": _by_method,
    "partial": lambda m: RunnableLambda(
        partial(lambda q, model: model.invoke(_prompt(q)).text, model=m)
    ),
    "bind_tools": _function(lambda m, q: m.bind_tools([look_up]).invoke(_prompt(q)).text),
    "bind": _function(lambda m, q: m.bind(stop=["#"]).invoke(_prompt(q)).text),
    "piped": _function(
        lambda m, q: (PROMPT | m | StrOutputParser()).invoke(
            {"context": joined(finds(*TEXTS).invoke(q)), "question": q}
        )
    ),
    "with_config": _function(lambda m, q: m.with_config(tags=["x"]).invoke(_prompt(q)).text),
    "generate": _function(lambda m, q: m.generate([_prompt(q)]).generations[0][0].text),
    "generate_prompt": _function(
        lambda m, q: (
            m.generate_prompt(
                [PROMPT.invoke({"context": joined(finds(*TEXTS).invoke(q)), "question": q})]
            )
            .generations[0][0]
            .text
        )
    ),
    "batch": _function(lambda m, q: m.batch([_prompt(q)])[0].text),
    "stream": _function(lambda m, q: "".join(c.text for c in m.stream(_prompt(q)))),
    "attribute": _function(lambda m, q: m.invoke(_prompt(q)).text + " " * int(m.pause)),
    "node": _by_node,
}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_model_inside_a_function_is_asked_again_or_refused(name: str, way: str) -> None:
    """However a function calls its model: the better answer comes, or a `ConfigError` at once."""
    model = Toolish(reply=Script(BAD, TRUE))
    try:
        safe = guarded(WRITERS[name](model), on_fail="regenerate")
    except ConfigError:
        return
    assert WAYS[way](safe, QUESTION, {}) == [TRUE]


@pytest.mark.parametrize("name", WRITERS)
def test_a_model_inside_a_function_that_does_not_mend_is_blocked(name: str) -> None:
    """A model that says the same again is blocked, and nothing else is raised."""
    try:
        safe = guarded(WRITERS[name](Toolish(reply=Script(BAD))), on_fail="regenerate")
    except ConfigError:
        return
    with pytest.raises(UnfaithfulAnswerError):
        safe.invoke(QUESTION)


# -- what is evidence -------------------------------------------------------------------------

RULES = "You are the desk of the observatory. Be kind."
LIES = f"{LIE} The dome is painted with beetroot juice. Entry is free for left-handed plumbers."

RESHAPED: Mapping[str, Callable[[str], str]] = {
    "as it was": str,
    "one line": lambda text: " ".join(text.split()),
    "json": json.dumps,
    "json in json": lambda text: json.dumps({"note": json.dumps(text)}),
    "other bullets": lambda text: text.replace("- ", "* "),
    "numbers": lambda text: text.replace("- ", "1) "),
    "no bullets": lambda text: text.replace("- ", ""),
    "lines stripped": lambda text: "\n".join(s.strip() for s in text.splitlines() if s.strip()),
    "lower case": str.lower,
    "upper case": str.upper,
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.splitlines()),
    "only the claims": lambda text: "; ".join(
        line.strip("- ") for line in text.splitlines() if line.startswith("-")
    ),
    "without reasons": lambda text: text.replace(" (the context does not say it)", "."),
}


@pytest.mark.parametrize("retriever", [True, False], ids=["retriever", "no retriever"])
@pytest.mark.parametrize("where", ["system", "human"])
@pytest.mark.parametrize("name", RESHAPED)
def test_feedback_that_a_chain_reshapes_is_no_evidence(
    name: str, where: str, retriever: bool
) -> None:
    """A model that repeats what the feedback names is blocked, attempt after attempt."""
    model = says(f"{HOURS} {LIES}")
    fetch: Any = finds(*TEXTS) | joined if retriever else RunnableLambda(lambda _: joined_texts())

    def answer(state: Any) -> str:
        told = RESHAPED[name](state["hint"])
        context = fetch.invoke(state["question"])
        system, human = f"{RULES}\n{context}", str(state["question"])
        if where == "system":
            system += f"\n{told}"
        else:
            human += f" {told}"
        return str(model.invoke([SystemMessage(system), HumanMessage(human)]).text)

    report = held(
        RunnableLambda(answer),
        {"question": QUESTION},
        on_fail="regenerate",
        feedback_key="hint",
        max_attempts=3,
    )
    assert claim(report, "Vesper").supported
    for word in ("Quillfeather", "beetroot", "plumbers"):
        assert not claim(report, word).supported


def joined_texts() -> str:
    """Return the context as it stands in a prompt."""
    return "\n".join(TEXTS)


class Ask(BaseModel):
    """An input as a pydantic model."""

    text: str
    tags: list[str] = Field(default_factory=list)


@dataclass
class Note:
    """An input as a dataclass."""

    text: str


ASSERTING = f"  {LIE}\n  When does the Vesper\tobservatory admit visitors?  \n"
INPUTS: Mapping[str, tuple[Any, Callable[[Any], str]]] = {
    "as it is": (ASSERTING, str),
    "stripped": (ASSERTING, str.strip),
    "joined": (ASSERTING, lambda given: " ".join(given.split())),
    "lower case": (ASSERTING, str.lower),
    "upper case": (ASSERTING, str.upper),
    "json": (ASSERTING, json.dumps),
    "first line": (ASSERTING, lambda given: given.splitlines()[0]),
    "pydantic": (Ask(text=ASSERTING), lambda given: given.text),
    "pydantic, joined": (Ask(text=ASSERTING), lambda given: " ".join(given.text.split())),
    "pydantic, dumped": (Ask(text=ASSERTING), lambda given: given.model_dump_json()),
    "pydantic, in a list": (Ask(text="x", tags=[ASSERTING]), lambda given: given.tags[0]),
    "pydantic in a dict": ({"ask": Ask(text=ASSERTING)}, lambda given: given["ask"].text),
    "dataclass": (Note(ASSERTING), lambda given: given.text.strip()),
    "dataclass in a dict": ({"note": Note(ASSERTING)}, lambda given: given["note"].text),
    "object": (SimpleNamespace(text=ASSERTING), lambda given: given.text),
    "bytes": ({"raw": ASSERTING.encode()}, lambda given: given["raw"].decode()),
    "parts": ({"parts": [LIE.split()]}, lambda given: " ".join(given["parts"][0])),
}
PLACED = {
    "human": [("system", f"{RULES}\n{{context}}"), ("human", "{words}")],
    "one message": [("human", f"{RULES}\n{{context}}\nVisitor: {{words}}")],
    "system": [
        ("system", f"{RULES}\nThe visitor said: {{words}}\n{{context}}"),
        ("human", "Well?"),
    ],
}


@pytest.mark.parametrize("placed", PLACED)
@pytest.mark.parametrize("name", INPUTS)
def test_a_users_words_are_no_evidence_however_they_come_in(name: str, placed: str) -> None:
    """Where no retrieval is seen, the prompt is context, less what the user said."""
    given, words = INPUTS[name]
    prompt = ChatPromptTemplate.from_messages(PLACED[placed])
    fill = RunnableLambda(lambda given: {"words": words(given), "context": joined_texts()})
    report = held(fill | prompt | says(BAD) | StrOutputParser(), given)
    assert not claim(report, "Quillfeather").supported
    if placed != "one message":  # where the words are not found again, all of it may be theirs
        assert claim(report, "Vesper").supported


TURNS: list[BaseMessage] = [HumanMessage("Who is there?"), AIMessage(f'I say "yes": {LIE}')]
HISTORIES: Mapping[str, tuple[Any, Callable[[Any], str]]] = {
    "buffer": (TURNS, get_buffer_string),
    "lines": (TURNS, lambda turns: "\n".join(f"{t.type}: {t.text}" for t in turns)),
    "json": (TURNS, lambda turns: json.dumps([t.text for t in turns])),
    "only the answers": (TURNS, lambda turns: " ".join(t.text for t in turns[1:])),
    "dicts": (
        [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": LIE}],
        json.dumps,
    ),
    "pairs": ([("human", "Who?"), ("ai", LIE)], lambda turns: "\n".join(map(": ".join, turns))),
    "classic pairs": (
        [("Who?", LIE)],
        lambda turns: "\n".join(f"H: {q}\nA: {a}" for q, a in turns),
    ),
    "tags": (TURNS, lambda turns: "".join(f"<{t.type}>{t.text}</{t.type}>" for t in turns)),
}


@pytest.mark.parametrize("retriever", [True, False], ids=["retriever", "no retriever"])
@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_that_a_chain_writes_out_is_no_evidence(name: str, retriever: bool) -> None:
    """An earlier answer that comes in as data and goes out as text supports nothing."""
    history, render = HISTORIES[name]
    fetch: Any = finds(*TEXTS) | joined if retriever else RunnableLambda(lambda _: joined_texts())

    def fill(state: Any) -> Any:
        return {
            "context": fetch.invoke(state["question"]),
            "history": render(state["history"]),
            "question": state["question"],
        }

    prompt = ChatPromptTemplate.from_messages(
        [("system", f"{RULES}\n{{context}}\nEarlier:\n{{history}}"), ("human", "{question}")]
    )
    chain = RunnableLambda(fill) | prompt | says(BAD) | StrOutputParser()
    report = held(chain, {"question": QUESTION, "history": history})
    assert not claim(report, "Quillfeather").supported
    assert claim(report, "Vesper").supported


def test_a_history_that_a_chain_holds_itself_is_no_evidence() -> None:
    """An earlier turn that the chain fetches from its own store supports nothing.

    Without a retriever run there is nothing by which to tell it from context.
    """
    store = list(TURNS)
    fetch: Any = finds(*TEXTS) | joined

    def fill(question: str) -> Any:
        earlier = get_buffer_string(store)
        return {"context": fetch.invoke(question), "history": earlier, "question": question}

    prompt = ChatPromptTemplate.from_messages(
        [("system", f"{RULES}\n{{context}}\nEarlier:\n{{history}}"), ("human", "{question}")]
    )
    report = held(RunnableLambda(fill) | prompt | says(BAD) | StrOutputParser())
    assert not claim(report, "Quillfeather").supported


ECHOES: Mapping[str, Callable[[str], str]] = {
    "after a word": lambda text: f"Noted: {text}",
    "json": lambda text: json.dumps({"saved": text, "ok": True}),
    "upper case": str.upper,
    "one line": lambda text: " ".join(text.split()),
    "bullets": lambda text: "\n".join(f"* {part}" for part in text.split(". ")),
    "twice": lambda text: f"{text}\n{text}",
    "in a sentence": lambda text: f"Thank you for telling us that {text}",
}


@pytest.mark.parametrize("loop", ["function", "graph"])
@pytest.mark.parametrize("text", [LIE, "Tours are free.", LIES], ids=["one", "short", "many"])
@pytest.mark.parametrize("name", ECHOES)
def test_a_tool_that_repeats_its_arguments_gives_no_evidence(
    name: str, text: str, loop: str
) -> None:
    """What a model tells a tool does not come back as a finding."""

    def note(text: str) -> str:
        """Keep a note."""
        return ECHOES[name](text)

    turns = [
        call("note", text=text),
        call("look_up", id="call-2", topic="price"),
        AIMessage(f"{PRICE} {text}"),
    ]
    tools = [StructuredTool.from_function(note), look_up]
    if loop == "function":
        report = held(agent(Turns(turns=turns, done=[]), tools))
    else:
        report = held(tool_graph(turns, tools), ASKED)
    assert claim(report, "12 euros").supported
    assert report.supported == 1


FULL_DAY = (
    "For members of the society of friends the reading room below the dome stays open for {} "
    "minutes after the end of the last guided tour of the evening."
)


@pytest.mark.parametrize("domain", ["support", "medical"])
@pytest.mark.parametrize("order", [(30, 90), (90, 30)])
def test_a_dropped_passage_that_differs_by_a_number_is_not_seen(
    order: tuple[int, int], domain: str
) -> None:
    """Two pages alike but for a number: only the one that reached the prompt is evidence."""
    shown, dropped = order
    shelf = Shelf(texts=[FULL_DAY.format(n) for n in order])

    def answer(question: str) -> str:
        first = shelf.invoke(question)[:1]
        said = says(FULL_DAY.format(dropped)).invoke(
            [SystemMessage(f"{RULES}\n{joined(first)}"), HumanMessage(question)]
        )
        return str(said.text)

    report = held(RunnableLambda(answer), "How long is the reading room open?", domain=domain)
    assert report.supported == 0
    told = " ".join(seen(report))
    assert str(shown) in told
    assert str(dropped) not in told.replace(FULL_DAY.format(shown), "")


def test_a_passage_whose_number_a_template_changed_is_not_seen_as_it_was() -> None:
    """A number that the prompt does not hold supports no answer that does."""
    shelf = Shelf(texts=[FULL_DAY.format(90)])

    def answer(question: str) -> str:
        context = joined(shelf.invoke(question)).replace("90", "30")
        said = says(FULL_DAY.format(90)).invoke([SystemMessage(context), HumanMessage(question)])
        return str(said.text)

    assert held(RunnableLambda(answer)).supported == 0


# -- odd metadata -----------------------------------------------------------------------------


class Mute:
    """An object that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


def _cycle() -> dict[str, Any]:
    metadata: dict[str, Any] = {"page": 1}
    metadata["self"] = metadata
    metadata["list"] = [metadata]
    return metadata


def _deep() -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    inner = metadata
    for _ in range(3_000):
        inner["a"] = {}
        inner = inner["a"]
    return metadata


METADATA: Mapping[str, Callable[[], dict[str, Any]]] = {
    "mute": lambda: {"object": Mute()},
    "mute source": lambda: {"source": Mute()},
    "mute key": lambda: {Mute(): 1},
    "cycle": _cycle,
    "cycle as source": lambda: {"source": _cycle()},
    "huge": lambda: {"n": 10**5_000, "ns": [-(10**5_000)]},
    "huge source": lambda: {"source": 10**5_000},
    "deep": _deep,
    "surrogates": lambda: {"source": "page\ud800", "id": "\udfff", "\ud800": "\ud800"},
}


class Catalogue(BaseRetriever):
    """A retriever whose documents have given metadata."""

    metadata: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        found = []
        for text in TEXTS:
            document = Document(text)
            document.metadata = self.metadata
            found.append(document)
        return found


@pytest.mark.timeout(5)
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
@pytest.mark.parametrize("name", METADATA)
def test_a_guard_bears_any_metadata(name: str, way: str) -> None:
    """A faithful answer is delivered, an unfaithful one held back, and the record is kept."""
    records: list[Record] = []
    retriever = Catalogue(metadata=METADATA[name]())
    safe = guard(text_chain(says(TRUE), retriever), sinks=[records.append])
    assert "".join(WAYS[way](safe, QUESTION, {})) == TRUE
    with pytest.raises(UnfaithfulAnswerError):
        WAYS[way](guarded(text_chain(says(BAD), retriever)), QUESTION, {})
    assert safe.wait(10)
    assert from_json(Record, to_json(records[0])) == records[0]


@pytest.mark.timeout(5)
@pytest.mark.parametrize("name", METADATA)
def test_a_blocked_output_bears_any_metadata(name: str) -> None:
    """Documents in the output are looked through without a crash."""

    def answer(question: str) -> Any:
        documents = Catalogue(metadata=METADATA[name]()).invoke(question)
        return {"context": documents, "answer": message_chain(says(BAD)).invoke(question).text}

    output = guarded(RunnableLambda(answer), fallback=FALLBACK).invoke(QUESTION)
    assert output["answer"] == FALLBACK


@pytest.mark.timeout(5)
@pytest.mark.parametrize("name", METADATA)
def test_a_watcher_bears_any_metadata(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """A report is made, and nothing is complained of in the log."""
    watching = watcher()
    config: Any = {"callbacks": [watching], "tags": ["tag\ud800"]}
    with caplog.at_level(logging.WARNING, logger="faithguard"):
        text_chain(says(TRUE), Catalogue(metadata=METADATA[name]())).invoke(QUESTION, config)
        report = only(watching)
    assert report.supported == 2
    assert Report.from_json(report.to_json()) == report
    assert not caplog.records


# -- threads ----------------------------------------------------------------------------------


def test_guards_in_many_threads_hold_back_alike() -> None:
    """What is found in one thread is found in all of them."""
    chain = guarded(unfaithful_with(str), fallback=FALLBACK)
    outputs: list[Any] = []
    threads = [
        threading.Thread(target=lambda: outputs.append(chain.invoke(QUESTION))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(outputs) == 8
    assert not leaks(outputs)
