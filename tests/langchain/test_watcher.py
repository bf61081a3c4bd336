"""The watcher: one report for each run, whatever the chain and the way it is run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pydoc
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel
from langchain_core.tools import create_retriever_tool, tool
from langgraph.graph import END, START, StateGraph

from faithguard import ConfigError, Policy, Record, Report, Scorer, VerifierError
from faithguard.claims import Extractor
from faithguard.testing import TableVerifier
from faithguard.types import Claim
from faithguard_langchain import FaithfulnessCallback
from faithguard_langchain.testing import ScriptedChatModel

from .scene import (
    BAD,
    HOURS,
    LIE,
    MIRROR,
    PRICE,
    PROMPT,
    QUESTION,
    SHAPES,
    TEXTS,
    TRUE,
    WAYS,
    Chain,
    State,
    Turns,
    call,
    claim,
    completion_chain,
    finds,
    message_chain,
    only,
    says,
    seen,
    text_chain,
    watched,
    watcher,
)

# -- one report, and the right one ------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_chain_in_every_way_gives_one_right_report(shape: str, way: str) -> None:
    """A run makes one report with its question, answer, passages and verdicts."""
    chain = SHAPES[shape].build(says(BAD))
    report = watched(chain, SHAPES[shape].ask(QUESTION), way)

    assert report.exchange.question == QUESTION
    assert report.exchange.answer.strip() == BAD
    assert sorted(seen(report)) == sorted(TEXTS)
    assert {p.origin for p in report.exchange.passages} == {"retriever"}
    assert report.exchange.context_source == "retrieval"
    assert (report.outcome, report.supported, report.total) == ("scored", 1, 2)
    assert claim(report, "Quillfeather").label == "not_mentioned"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["batch", "abatch"])
def test_each_item_of_a_batch_has_its_own_report(shape: str, way: str) -> None:
    """A batch of three questions makes three reports, each with its own question."""
    chain, ask = SHAPES[shape].build(says(TRUE)), SHAPES[shape].ask
    questions = [f"{QUESTION} For group {n}?" for n in range(3)]
    watching = watcher()
    config: Any = {"callbacks": [watching]}
    if way == "batch":
        chain.batch([ask(q) for q in questions], config)
    else:
        asyncio.run(chain.abatch([ask(q) for q in questions], config))
    assert watching.wait(30)
    assert sorted(str(r.exchange.question) for r in watching.reports) == questions
    assert watching.open_runs == 0


@pytest.mark.parametrize("build", [text_chain, message_chain, completion_chain])
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_watched_stream_yields_the_same_chunks(build: Any, way: str) -> None:
    """A watcher neither joins, drops, delays to the end, nor reorders tokens."""
    plain = [_text(chunk) for chunk in WAYS[way](build(says(BAD)), QUESTION, {})]
    chunks = WAYS[way](build(says(BAD)), QUESTION, {"callbacks": [watcher()]})
    assert [_text(chunk) for chunk in chunks] == plain
    assert len(plain) > 10
    assert "".join(plain).strip() == BAD


def test_a_token_reaches_the_caller_before_the_next_is_made() -> None:
    """A watched stream is not held back: the first token comes while the model still writes."""
    chain = text_chain(ScriptedChatModel(reply=lambda _: TRUE, pause=0.02))
    watching = watcher()
    stream = chain.stream(QUESTION, {"callbacks": [watching]})
    assert HOURS.startswith(next(stream))
    assert watching.reports == ()
    list(stream)
    assert only(watching).exchange.answer == TRUE


def _text(chunk: Any) -> str:
    return chunk if isinstance(chunk, str) else str(chunk.text)


def test_a_true_answer_is_supported_with_evidence_that_stands_in_its_passage() -> None:
    """Evidence of a supported claim is a verbatim piece of the right passage."""
    report = watched(text_chain(says(TRUE)), QUESTION)
    assert (report.outcome, report.score) == ("scored", 1.0)
    for fact in report.facts:
        assert fact.evidence
        assert all(e.stands_in(report.exchange) for e in fact.evidence)
    assert report.decide("medical").passed


def test_the_finish_reason_is_kept() -> None:
    """A cut answer can be known by its finish reason."""
    turn = AIMessage(content=TRUE, response_metadata={"finish_reason": "length"})
    assert watched(text_chain(Turns(turns=[turn], done=[])), QUESTION).exchange.finish_reason == (
        "length"
    )
    assert watched(text_chain(says(TRUE)), QUESTION).exchange.finish_reason == "stop"


def test_tags_and_start_are_kept() -> None:
    """The tags of the root run and the time of its start stand in the exchange."""
    watching = watcher()
    text_chain(says(TRUE)).invoke(QUESTION, {"callbacks": [watching], "tags": ["kiosk"]})
    exchange = only(watching).exchange
    assert "kiosk" in exchange.tags
    assert exchange.started_at is not None
    assert exchange.started_at.tzinfo is not None


def test_source_and_metadata_of_a_document_are_kept() -> None:
    """A passage knows where it came from."""
    report = watched(text_chain(says(TRUE)), QUESTION)
    assert all((p.source or "").startswith("page-") for p in report.exchange.passages)


# -- parts and wholes -------------------------------------------------------------------------


def test_a_root_around_the_chain_decides_what_the_answer_is() -> None:
    """Inside a larger chain, the answer is what the whole chain returns, once."""
    whole = RunnableLambda(lambda d: d["q"]) | text_chain(says(BAD)) | (lambda s: f"{s} {PRICE}")
    report = watched(whole, {"q": QUESTION})
    assert report.exchange.answer == f"{BAD} {PRICE}"
    assert (report.supported, report.total) == (2, 3)


@pytest.mark.parametrize("way", WAYS)
def test_attached_to_a_part_it_reports_on_the_part(way: str) -> None:
    """With `with_config` on a part, that part's input and output are question and answer."""
    watching = watcher()
    part = text_chain(says(BAD)).with_config(callbacks=[watching])
    whole = RunnableLambda(lambda d: d["q"]) | part | RunnableLambda(lambda s: "shortened")
    WAYS[way](whole, {"q": QUESTION}, {})
    report = only(watching)
    assert (report.exchange.question, report.exchange.answer) == (QUESTION, BAD)


@pytest.mark.parametrize("way", WAYS)
def test_attached_to_the_model_only_it_reports_on_the_model(way: str) -> None:
    """A watcher in the model's constructor sees a prompt and an answer, and no retrieval."""
    watching = watcher()
    model = ScriptedChatModel(reply=lambda _: BAD, callbacks=[watching])
    WAYS[way](text_chain(model), QUESTION, {})
    report = only(watching)
    assert report.exchange.context_source == "prompt"
    assert report.exchange.question == QUESTION
    assert report.exchange.answer == BAD
    assert (report.supported, report.total) == (1, 2)


@pytest.mark.parametrize("way", WAYS)
def test_attached_twice_it_reports_once(way: str) -> None:
    """The same watcher in `with_config`, in the constructor and in the call is one watcher."""
    watching = watcher()
    model = ScriptedChatModel(reply=lambda _: BAD, callbacks=[watching])
    chain = text_chain(model).with_config(callbacks=[watching])
    WAYS[way](chain, QUESTION, {"callbacks": [watching, watching]})
    report = only(watching)
    assert report.exchange.question == QUESTION
    assert sorted(seen(report)) == sorted(TEXTS)


def test_two_watchers_report_both() -> None:
    """Two watchers on one run do not disturb each other."""
    first, second = watcher(domain="medical"), watcher(domain="conversational")
    text_chain(says(TRUE)).invoke(QUESTION, {"callbacks": [first, second]})
    assert only(first).exchange.answer == only(second).exchange.answer == TRUE


def test_a_node_of_a_graph_can_hold_the_chain() -> None:
    """A chain in a LangGraph node is reported once, as the answer of the graph."""
    chain = text_chain(says(BAD))
    builder = StateGraph(State)
    builder.add_node("write", lambda state: {"answer": chain.invoke(state["question"])})
    builder.add_edge(START, "write")
    builder.add_edge("write", END)
    report = watched(builder.compile(), {"question": QUESTION})
    assert (report.exchange.question, report.exchange.answer) == (QUESTION, BAD)
    assert sorted(seen(report)) == sorted(TEXTS)


def test_answer_key_names_the_answer_among_several() -> None:
    """Where the answer stands in no usual place, `answer_key` names it."""
    chain = RunnableParallel(verdict=text_chain(says(BAD)), output=lambda _: "unrelated words")
    report = watched(chain, QUESTION, answer_key="verdict")
    assert report.exchange.answer == BAD


def test_documents_in_the_output_serve_where_no_retriever_ran() -> None:
    """Documents that a chain hands out beside its answer are its context."""
    documents = [Document(text) for text in TEXTS]

    def answer(question: str, model: Any = says(BAD)) -> dict[str, Any]:  # noqa: B008
        prompt = PROMPT.invoke({"context": "\n".join(TEXTS), "question": question})
        return {"answer": model.invoke(prompt).text, "source_documents": documents}

    report = watched(RunnableLambda(answer), QUESTION)
    assert report.exchange.context_source == "retrieval"
    assert seen(report) == list(TEXTS)
    assert (report.supported, report.total) == (1, 2)


# -- models called directly -------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_model_called_with_messages_is_reported(way: str) -> None:
    """The last human message is the question, the system's text the context."""
    messages = [
        SystemMessage(f"Answer from: {HOURS} {PRICE}"),
        HumanMessage("Hello."),
        AIMessage("How can I help?"),
        HumanMessage(QUESTION),
    ]
    report = watched(says(BAD), messages, way)
    assert (report.exchange.question, report.exchange.answer) == (QUESTION, BAD)
    assert report.exchange.context_source == "prompt"
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("given", [QUESTION, [("system", HOURS), ("human", QUESTION)]])
def test_a_model_called_with_text_or_pairs_knows_the_question(given: Any) -> None:
    """Strings and (role, text) pairs are messages like others."""
    report = watched(says(BAD), given)
    assert report.exchange.question == QUESTION
    assert not report.decide("conversational").passed


def test_generate_with_several_prompts_does_not_mix_them() -> None:
    """`model.generate` with two prompts makes a report for each, with its own context."""
    watching = watcher()
    model = ScriptedChatModel(reply=lambda messages: messages[0].text)
    model.generate(
        [[SystemMessage(HOURS), HumanMessage("Hours?")], [SystemMessage(PRICE), HumanMessage("?")]],
        callbacks=[watching],
    )
    assert watching.wait(30)
    assert sorted(r.exchange.answer for r in watching.reports) == sorted([HOURS, PRICE])


# -- tools and hops ---------------------------------------------------------------------------


@tool
def look_up(key: str) -> str:
    """Return the leaflet about a key."""
    return {"hours": HOURS, "price": PRICE}[key]


@tool(response_format="content_and_artifact")
def browse(key: str) -> tuple[str, list[Document]]:
    """Return a page: what the model reads, and the documents."""
    return f"Found:\n{PRICE}", [Document(PRICE, metadata={"source": "price.html"})]


def agent(model: Any, tools: Sequence[Any]) -> Chain:
    """A tool loop as people write it by hand."""
    known = {t.name: t for t in tools}

    def run(question: str) -> str:
        messages: list[Any] = [HumanMessage(question)]
        while True:
            said = model.invoke(messages)
            messages.append(said)
            if not said.tool_calls:
                return str(said.text)
            messages += [known[wish["name"]].invoke(wish) for wish in said.tool_calls]

    async def arun(question: str) -> str:
        messages: list[Any] = [HumanMessage(question)]
        while True:
            said = await model.ainvoke(messages)
            messages.append(said)
            if not said.tool_calls:
                return str(said.text)
            messages += [await known[w["name"]].ainvoke(w) for w in said.tool_calls]

    return RunnableLambda(run, arun)


@pytest.mark.parametrize("way", WAYS)
def test_hops_of_an_agent_are_numbered(way: str) -> None:
    """What the second round of tools returned has hop 2, and both are evidence."""
    turns = [
        call("look_up", "a", key="hours"),
        call("look_up", "b", key="price"),
        AIMessage(f"{TRUE} {LIE}"),
    ]
    report = watched(agent(Turns(turns=turns, done=[]), [look_up]), QUESTION, way)
    assert [(p.text, p.hop, p.origin) for p in report.exchange.passages] == [
        (HOURS, 1, "tool"),
        (PRICE, 2, "tool"),
    ]
    assert (report.supported, report.total) == (2, 3)
    assert report.exchange.question == QUESTION


@pytest.mark.parametrize("way", WAYS)
def test_a_retriever_inside_a_tool_is_evidence_once(way: str) -> None:
    """`create_retriever_tool` gives its documents, and the same text again as the result."""
    search = create_retriever_tool(finds(*TEXTS), "search", "Search the leaflets.")
    turns = [call("search", query=QUESTION), AIMessage(BAD)]
    report = watched(agent(Turns(turns=turns, done=[]), [search]), QUESTION, way)
    assert all(text in " ".join(seen(report)) for text in TEXTS)
    assert {p.hop for p in report.exchange.passages} == {1}
    assert (report.supported, report.total) == (1, 2)


def test_a_tool_message_with_artifact_gives_its_documents() -> None:
    """The documents of an artifact are passages with their source."""
    turns = [call("browse", key="price"), AIMessage(PRICE)]
    report = watched(agent(Turns(turns=turns, done=[]), [browse]), QUESTION)
    assert "price.html" in {p.source for p in report.exchange.passages}
    assert report.score == 1.0


def test_a_tool_called_with_a_dict_gives_its_text() -> None:
    """A tool that returns a plain string is evidence under its name."""

    def answer(question: str, model: Any = says(PRICE)) -> str:  # noqa: B008
        found = look_up.invoke({"key": "price"})
        return str(model.invoke(PROMPT.invoke({"context": found, "question": question})).text)

    report = watched(RunnableLambda(answer), QUESTION)
    assert [(p.text, p.source, p.origin) for p in report.exchange.passages] == [
        (PRICE, "look_up", "tool")
    ]
    assert report.score == 1.0


def test_a_tool_that_failed_leaves_no_evidence() -> None:
    """An error of a tool that the chain handles is not context, and the run is reported."""

    def answer(question: str, model: Any = says(BAD)) -> str:  # noqa: B008
        with contextlib.suppress(KeyError):
            look_up.invoke({"key": "no such key"})
        return str(model.invoke([SystemMessage("No context."), HumanMessage(question)]).text)

    report = watched(RunnableLambda(answer), QUESTION)
    assert report.supported == 0
    assert not report.decide("conversational").passed


def test_tool_messages_in_the_input_of_a_graph_are_seen() -> None:
    """A `ToolMessage` from an earlier run that reaches the prompt may serve as prompt text."""
    messages = [
        HumanMessage("What does a tour cost?"),
        call("look_up", "a", key="price"),
        ToolMessage(PRICE, tool_call_id="a"),
    ]
    report = watched(says(PRICE), messages)
    assert report.exchange.context_source == "prompt"
    assert report.score == 1.0


# -- it never disturbs ------------------------------------------------------------------------


class BrokenExtractor:
    """An extractor that does nothing but raise."""

    name = "broken@1"

    def extract(self, answer: str, question: str | None = None) -> Sequence[Claim]:
        """Raise."""
        raise RuntimeError(answer)

    async def aextract(self, answer: str, question: str | None = None) -> Sequence[Claim]:
        """Raise."""
        raise RuntimeError(answer)


class BrokenScorer(Scorer):
    """A scorer that raises, with the answer in its message."""

    def score(self, exchange: Any) -> Report:
        """Raise."""
        raise RuntimeError(exchange.answer)


def broken_sink(record: Record) -> None:
    """Raise with the answer in the message."""
    raise OSError(record.exchange.answer)


_extractor: Extractor = BrokenExtractor()
BROKEN: dict[str, dict[str, Any]] = {
    "verifier": {"scorer": Scorer(verifiers=[TableVerifier({"*": VerifierError("down")})])},
    "verifier's bug": {"scorer": Scorer(verifiers=[TableVerifier({"*": KeyError(LIE)})])},
    "extractor": {"scorer": Scorer(extractor=_extractor)},
    "scorer": {"scorer": BrokenScorer()},
    "sink": {"sinks": [broken_sink]},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", BROKEN)
def test_nothing_that_breaks_reaches_the_chain(
    what: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken part of the watcher changes no output, and no log line quotes the answer."""
    watching = watcher(**BROKEN[what])
    with caplog.at_level(logging.DEBUG):
        plain = WAYS[way](text_chain(says(BAD)), QUESTION, {})
        given = WAYS[way](text_chain(says(BAD)), QUESTION, {"callbacks": [watching]})
        assert watching.wait(30)
    if way == "astream_events":
        plain, given = ([(e["event"], e["data"]) for e in events] for events in (plain, given))
    assert str(given) == str(plain) or way == "astream_events"
    assert len(given) == len(plain)
    assert "Quillfeather" not in caplog.text
    assert "Vesper" not in caplog.text
    assert watching.open_runs == 0
    assert all(report.score is None for report in watching.reports) or what == "sink"


def test_a_failed_verifier_is_a_failed_report_not_a_pass() -> None:
    """Without a verdict the report says failed, and no policy passes it."""
    report = watched(text_chain(says(TRUE)), QUESTION, **BROKEN["verifier"])
    assert report.outcome == "failed"
    assert report.score is None
    assert not report.decide("conversational").passed


def test_a_broken_sink_does_not_keep_the_record_from_the_others() -> None:
    """Sinks are independent of each other."""
    kept: list[Record] = []
    report = watched(text_chain(says(TRUE)), QUESTION, sinks=[broken_sink, kept.append])
    assert [record.report for record in kept] == [report]


class Odd:
    """An input that cannot be compared, as arrays and data frames cannot."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value is ambiguous")


@pytest.mark.parametrize("wrap", [lambda odd: odd, lambda odd: {"input": odd}])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_an_input_that_cannot_be_compared_is_watched(wrap: Any, way: str) -> None:
    """A chain whose input is an array or a data frame is reported once, as a whole."""
    chain = RunnableLambda(lambda _: QUESTION) | text_chain(says(BAD)) | (lambda s: s + " " + PRICE)
    report = watched(chain, wrap(Odd()), way)
    assert report.exchange.answer == f"{BAD} {PRICE}"


def test_a_numpy_array_as_input_is_watched() -> None:
    """The same with a real array, as a chain over embeddings takes."""
    numpy = pytest.importorskip("numpy")
    chain = RunnableLambda(lambda _: QUESTION) | text_chain(says(BAD)) | (lambda s: s + " " + PRICE)
    report = watched(chain, {"input": numpy.zeros(3)})
    assert report.exchange.answer == f"{BAD} {PRICE}"


# -- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("wish", ["block", "regenerate", "repair", "raise"])
def test_it_refuses_to_hold_back_and_names_the_guard(wish: str) -> None:
    """A watcher that is asked to block is an error that says what to use instead."""
    with pytest.raises(ConfigError, match=r"guard\(") as caught:
        FaithfulnessCallback(on_fail=wish)
    assert wish in str(caught.value)


@pytest.mark.parametrize("sinks", ["answers.jsonl", ["answers.jsonl"]])
def test_a_file_name_as_sink_is_an_error_at_once(sinks: Any) -> None:
    """Not one warning for each answer: the message says what writes to a file."""
    with pytest.raises(ConfigError, match=r"of type str: .*JsonlSink\('answers.jsonl'\)"):
        FaithfulnessCallback(sinks=sinks)


def test_the_watcher_explains_itself() -> None:
    """`help(FaithfulnessCallback)` says how it is attached, and where its reports are."""
    said = pydoc.render_doc(FaithfulnessCallback, renderer=pydoc.plaintext)
    head = said.split("Method resolution order")[0]
    for word in ('config={"callbacks": [watcher]}', "watcher.wait()", "watcher.reports", "guard"):
        assert word in head


def test_an_unknown_domain_is_an_error_at_once() -> None:
    """A typo in the domain is told where it is written, with the known ones."""
    with pytest.raises(ConfigError, match="medical"):
        FaithfulnessCallback(domain="medcial")


def test_a_run_may_name_its_own_domain() -> None:
    """`metadata["faithguard_domain"]` decides for its run only."""
    records: list[Record] = []
    watching = watcher(domain="support", sinks=[records.append])
    chain = text_chain(says(TRUE))
    for metadata in ({"faithguard_domain": "medical"}, {}, {"faithguard_domain": "support"}):
        chain.invoke(QUESTION, {"callbacks": [watching], "metadata": metadata})
    assert watching.wait(30)
    assert [r.decision.domain for r in records] == [
        "medical",
        "customer_support",
        "customer_support",
    ]
    assert [r.decision.safe for r in records] == [0.98, 0.85, 0.85]


@pytest.mark.parametrize("way", WAYS)
def test_the_domain_of_a_run_is_known_in_every_way(way: str) -> None:
    """The domain from metadata stands in the exchange, however the chain is run."""
    watching = watcher()
    config = {"callbacks": [watching], "metadata": {"faithguard_domain": "legal"}}
    WAYS[way](text_chain(says(TRUE)), QUESTION, config)
    assert only(watching).exchange.domain == "legal"


def test_an_unknown_domain_in_metadata_is_said_and_loosens_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A typo in a run's domain does not reach the chain, is logged by name, and nothing passes."""
    records: list[Record] = []
    watching = watcher(domain="conversational", sinks=[records.append])
    config: Any = {"callbacks": [watching], "metadata": {"faithguard_domain": "medcial"}}
    assert text_chain(says(TRUE)).invoke(QUESTION, config) == TRUE
    assert watching.wait(30)
    assert not any(record.decision.passed for record in records)
    assert "medcial" in caplog.text


def test_a_policy_of_ones_own_decides() -> None:
    """A `Policy` is taken as it is."""
    records: list[Record] = []
    strict = Policy(domain="observatory", safe=1.0, warning=0.9)
    watched(text_chain(says(BAD)), QUESTION, domain=strict, sinks=[records.append])
    assert records[0].decision.domain == "observatory"
    assert not records[0].decision.passed


def test_only_the_last_reports_are_kept_in_order() -> None:
    """`keep` bounds what `reports` holds; the oldest leave first."""
    watching = watcher(keep=2)
    for n in range(4):
        text_chain(says(TRUE)).invoke(f"{QUESTION} {n}", {"callbacks": [watching]})
    assert watching.wait(30)
    assert [r.exchange.question for r in watching.reports] == [f"{QUESTION} 2", f"{QUESTION} 3"]


class Gate:
    """A sink that waits until it is let through."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.written = 0

    def write(self, record: Record) -> None:
        """Wait."""
        self.open.wait(30)
        self.written += 1


def test_what_does_not_fit_is_dropped_and_counted_and_the_chain_runs_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With a hanging sink: `wait` says no in time, answers come, drops are counted and said."""
    gate = Gate()
    watching = watcher(sinks=[gate], scorer=Scorer(verifiers=[TableVerifier({"*": 0.9})]))
    model = says("The dome is round.")
    runs = 1_010
    for _ in range(runs):
        assert model.invoke([HumanMessage("Round?")], {"callbacks": [watching]}).text
    assert not watching.wait(0.01)
    assert 0 < watching.dropped <= 10
    assert "dropped" in caplog.text
    gate.open.set()
    assert watching.wait(30)
    assert gate.written + watching.dropped == runs
    assert watching.open_runs == 0


def test_a_run_that_is_going_on_is_open() -> None:
    """`open_runs` is above 0 inside a run and 0 after it."""
    watching = watcher()
    inside: list[int] = []

    def look(documents: Sequence[Document]) -> str:
        inside.append(watching.open_runs)
        return "\n".join(d.page_content for d in documents)

    text_chain(says(TRUE), join=look).invoke(QUESTION, {"callbacks": [watching]})
    assert inside[0] > 0
    assert only(watching).score == 1.0


# -- what is not reported ---------------------------------------------------------------------


def _fails(_: Any) -> Any:
    raise RuntimeError("the line is down")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "chain",
    [
        text_chain(says(TRUE)) | RunnableLambda(_fails),
        text_chain(Turns(turns=[ConnectionError("no model")], done=[])),
        text_chain(says(TRUE), RunnableLambda(_fails)),
    ],
    ids=["after the answer", "model", "retriever"],
)
def test_a_run_that_fails_is_not_reported(chain: Runnable[Any, Any], way: str) -> None:
    """An answer that no caller got makes no report, and leaves nothing open."""
    watching = watcher()
    with pytest.raises((RuntimeError, ConnectionError)):
        WAYS[way](chain, QUESTION, {"callbacks": [watching]})
    assert watching.wait(30)
    assert watching.reports == ()
    assert watching.open_runs == 0


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "abatch"])
def test_a_lone_retriever_or_tool_is_not_an_answer(way: str) -> None:
    """Fetching alone makes no report."""
    watching = watcher()
    WAYS[way](finds(*TEXTS), QUESTION, {"callbacks": [watching]})
    WAYS[way](look_up, {"key": "hours"}, {"callbacks": [watching]})
    assert watching.wait(30)
    assert (watching.reports, watching.open_runs) == ((), 0)


def test_a_chain_without_model_and_retriever_is_not_an_answer() -> None:
    """A chain that only shapes text makes no report."""
    watching = watcher()
    (RunnableLambda(str.upper) | str.lower).invoke(MIRROR, {"callbacks": [watching]})
    assert watching.wait(30)
    assert (watching.reports, watching.open_runs) == ((), 0)


def test_a_turn_that_only_calls_a_tool_is_no_answer() -> None:
    """A model called directly that asks for a tool has not answered."""
    watching = watcher()
    Turns(turns=[call("look_up", key="hours")], done=[]).invoke(
        [HumanMessage(QUESTION)], {"callbacks": [watching]}
    )
    assert watching.wait(30)
    assert all(r.outcome == "no_claims" for r in watching.reports)
