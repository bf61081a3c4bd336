"""A model is asked again, and nothing that it or the user said becomes evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    get_buffer_string,
)
from langchain_core.output_parsers import (
    StrOutputParser,
)
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    RunnableLambda,
)
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, Field

from faithguard import ConfigError, UnfaithfulAnswerError
from faithguard_langchain.testing import ScriptedChatModel

from .attack_scene import (
    ASKED,
    Visit,
    guarded,
    held,
    look_up,
    one_node,
    tool_graph,
)
from .scene import (
    BAD,
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
    says,
    seen,
)
from .test_watcher import agent

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
