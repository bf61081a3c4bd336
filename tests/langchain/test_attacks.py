"""Ways round a guard that a hostile tester found: each stays closed."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.output_parsers import (
    JsonOutputParser,
)
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tools import tool
from pydantic import BaseModel

from faithguard import CaptureError, Record, Report, UnfaithfulAnswerError
from faithguard.types import from_json, to_json
from faithguard_langchain import guard

from .attack_scene import (
    ASKED,
    guarded,
    held,
    leaks,
    look_up,
    tool_graph,
    writes,
)
from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    PRICE,
    QUESTION,
    TEXTS,
    TRUE,
    WAYS,
    Chain,
    call,
    claim,
    finds,
    message_chain,
    only,
    says,
    text_chain,
    watcher,
)

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
def think(thought: str) -> str:
    """Keep a thought."""
    return f"Noted: {thought}"


@tool
def ask_expert(topic: str) -> str:
    """Ask another model."""
    return text_chain(says(LIE)).invoke(topic)


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
