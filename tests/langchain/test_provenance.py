"""Where a claim comes from decides what it is worth: only what was fetched and seen is evidence."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    trim_messages,
)
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore

from faithguard import Record, Report, UnfaithfulAnswerError
from faithguard_langchain import Reported, guard
from faithguard_langchain.testing import ScriptedChatModel

from .scene import (
    BAD,
    HOURS,
    LIE,
    MIRROR,
    PRICE,
    QUESTION,
    TEXTS,
    TRUE,
    Chain,
    CompletionModel,
    Shelf,
    Turns,
    call,
    claim,
    finds,
    joined,
    says,
    seen,
    text_chain,
    watched,
)
from .test_watcher import agent

# -- words that are nobody's evidence ---------------------------------------------------------

SYSTEM_ONLY = "Context:\n{context}"
TEMPLATES = {
    "question after system": [("system", SYSTEM_ONLY), ("human", "{question}")],
    "one human message": [("human", f"{SYSTEM_ONLY}\n\nQuestion: {{question}}")],
    "question before context": [("human", f"Question: {{question}}\n\n{SYSTEM_ONLY}")],
    "all in system": [("system", f"{SYSTEM_ONLY}\n\nThe user asks: {{question}}")],
    "twice": [("system", f"{SYSTEM_ONLY}\nQ: {{question}}"), ("human", "{question}")],
}


def retrieved(template: Any, model: Any) -> Chain:
    """A chain with a retriever that hands the template question and context."""
    prompt = ChatPromptTemplate.from_messages(template)
    fields = {"context": finds(*TEXTS) | joined, "question": RunnablePassthrough()}
    return fields | prompt | model | StrOutputParser()


def given(template: Any, model: Any) -> Chain:
    """The same chain without a retriever: the texts stand in the prompt by a function."""
    prompt = ChatPromptTemplate.from_messages(template)
    fields = {"context": lambda _: "\n".join(TEXTS), "question": RunnablePassthrough()}
    return fields | prompt | model | StrOutputParser()


@pytest.mark.parametrize("build", [retrieved, given])
@pytest.mark.parametrize("template", TEMPLATES)
def test_what_only_the_question_asserts_is_not_supported(template: str, build: Any) -> None:
    """A user who asserts a thing does not make it so, wherever the question stands."""
    question = f"{LIE} When does the Vesper observatory admit visitors?"
    report = watched(build(TEMPLATES[template], says(BAD)), question)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("build", [retrieved, given])
def test_a_question_that_is_reworded_on_the_way_is_still_the_users(build: Any) -> None:
    """A question that a function strips, wraps or quotes before the prompt is no evidence."""
    question = f"  {LIE}\n\nWhen does the Vesper observatory admit visitors?  "
    tidy = RunnableLambda(lambda q: " ".join(q.split()))
    chain = tidy | build(TEMPLATES["one human message"], says(BAD))
    assert not claim(watched(chain, question), "Quillfeather").supported


def with_history(model: Any, *, retriever: bool, as_text: bool) -> Chain:
    """A chat chain over a dict with question and history."""
    place: Any = ("system", "Earlier:\n{history}") if as_text else MessagesPlaceholder("history")
    prompt = ChatPromptTemplate.from_messages(
        [("system", SYSTEM_ONLY), place, ("human", "{question}")]
    )
    fetch: Any = finds(*TEXTS) | joined if retriever else RunnableLambda(lambda _: "\n".join(TEXTS))
    context = RunnablePassthrough.assign(context=(lambda state: state["question"]) | fetch)
    return context | prompt | model | StrOutputParser()


@pytest.mark.parametrize("retriever", [True, False], ids=["retriever", "no retriever"])
@pytest.mark.parametrize("as_text", [False, True], ids=["messages", "text"])
@pytest.mark.parametrize("who", [AIMessage, HumanMessage])
def test_what_only_an_earlier_turn_asserts_is_not_supported(
    who: Any, as_text: bool, retriever: bool
) -> None:
    """An earlier answer, or an earlier message of the user's, is no evidence."""
    turns: list[BaseMessage] = [HumanMessage("Who is there?"), who(LIE)]
    history: Any = "\n".join(f"{m.type}: {m.text}" for m in turns) if as_text else turns
    chain = with_history(says(BAD), retriever=retriever, as_text=as_text)
    report = watched(chain, {"question": QUESTION, "history": history})
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_an_earlier_answer_given_to_a_model_directly_is_not_evidence() -> None:
    """Without a chain, an assistant's turn in the messages is not evidence either."""
    messages = [
        SystemMessage("\n".join(TEXTS)),
        HumanMessage("Who is there?"),
        AIMessage(LIE),
        HumanMessage(QUESTION),
    ]
    assert not claim(watched(says(BAD), messages), "Quillfeather").supported


# -- text that a model wrote on the way -------------------------------------------------------

SHAPERS: dict[str, Callable[[str], str]] = {
    "as it was": str,
    "stripped": str.strip,
    "as a list item": lambda text: f"- {text.strip()}",
    "indented": lambda text: textwrap.indent(text, "    "),
    "as JSON": json.dumps,
    "wrapped": lambda text: textwrap.fill(text, 30),
    "first sentence": lambda text: text.strip().split("\n")[0],
}
WRITTEN = f"{LIE}\nIt is asked when the Vesper observatory admits visitors.\n"


def rewriting(shape: Callable[[str], str], *, retriever: bool) -> Chain:
    """A chain whose first call rewrites the question and whose second one sees the rewriting."""
    model = says(WRITTEN, BAD)
    rewrite = PromptTemplate.from_template("Rewrite: {question}") | model | StrOutputParser()
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Context:\n{context}\n\nNotes:\n{notes}"), ("human", "{question}")]
    )
    shelf = Shelf(texts=list(TEXTS))
    fetch: Any = shelf | joined if retriever else RunnableLambda(lambda _: "\n".join(TEXTS))
    return (
        RunnablePassthrough.assign(notes=rewrite | shape)
        | RunnablePassthrough.assign(context=(lambda state: state["notes"]) | fetch)
        | prompt
        | model
        | StrOutputParser()
    )


@pytest.mark.parametrize("retriever", [True, False], ids=["retriever", "no retriever"])
@pytest.mark.parametrize("shape", SHAPERS)
def test_what_a_model_wrote_on_the_way_is_not_evidence(shape: str, retriever: bool) -> None:
    """A rewriting that adds a fact is no evidence, however the chain reshapes it for the prompt."""
    chain = rewriting(SHAPERS[shape], retriever=retriever)
    report = watched(chain, {"question": QUESTION})
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def map_reduce(model: Any, fetch: Any, shape: Callable[[str], str] = str) -> Chain:
    """A summary of each document, then an answer from the summaries."""
    summarise = PromptTemplate.from_template("Summarise:\n{text}") | model | StrOutputParser()

    def reduce(question: str) -> str:
        documents = fetch.invoke(question)
        summaries = [shape(summarise.invoke({"text": d.page_content})) for d in documents]
        prompt = ChatPromptTemplate.from_messages(
            [("system", "Summaries:\n{summaries}"), ("human", "{question}")]
        ).invoke({"summaries": "\n".join(summaries), "question": question})
        return str(model.invoke(prompt).text)

    return RunnableLambda(reduce)


@pytest.mark.parametrize("shape", ["as it was", "stripped", "as a list item"])
def test_a_fact_that_a_summary_invented_is_not_supported(shape: str) -> None:
    """Map-reduce: the documents are evidence, the summaries are not."""
    model = says(f"{HOURS} {LIE} ", f"{PRICE} ", f"{MIRROR} ", f"{TRUE} {LIE}")
    report = watched(map_reduce(model, finds(*TEXTS), SHAPERS[shape]), QUESTION)
    assert (report.supported, report.total) == (2, 3)
    assert not claim(report, "Quillfeather").supported
    assert sorted(seen(report)) == sorted(TEXTS)


def test_a_model_inside_a_tool_writes_no_evidence() -> None:
    """A tool that asks a model returns that model's words."""

    @tool
    def ask_colleague(topic: str) -> str:
        """Ask another model."""
        return str(says(LIE).invoke([HumanMessage(topic)]).text)

    turns = [call("ask_colleague", topic="comets"), AIMessage(f"{LIE} {PRICE}")]
    report = watched(agent(Turns(turns=turns, done=[]), [ask_colleague]), QUESTION)
    assert report.supported == 0
    assert not report.decide("conversational").passed


def test_a_tool_that_echoes_the_models_words_gives_no_evidence() -> None:
    """What a model passed to a tool does not become evidence by coming back."""

    @tool
    def take_note(text: str) -> str:
        """Store a note."""
        return f"Noted: {text}"

    turns = [call("take_note", text=LIE), AIMessage(f"{PRICE} {LIE}")]
    report = watched(agent(Turns(turns=turns, done=[]), [take_note]), QUESTION)
    assert not claim(report, "Quillfeather").supported


# -- what a guard adds ------------------------------------------------------------------------


@pytest.mark.parametrize("build", [retrieved, given])
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_feedback_is_not_evidence(template: str, build: Any) -> None:
    """A model that repeats what the feedback names is blocked again."""
    guarded = guard(build(TEMPLATES[template], says(BAD)), on_fail="regenerate", sinks=[])
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded.invoke(QUESTION)
    assert not claim(caught.value.report, "Quillfeather").supported
    assert claim(caught.value.report, "Vesper").supported


def test_the_feedback_to_a_completion_model_is_not_evidence() -> None:
    """The same where the feedback stands in one text with the context, and none is retrieved."""
    prompt = PromptTemplate.from_template("Context: {context}\n\nQuestion: {question}\nAnswer:")
    fields = {"context": lambda _: "\n".join(TEXTS), "question": RunnablePassthrough()}
    model = CompletionModel(text=BAD, prompts=[])
    guarded = guard(fields | prompt | model, on_fail="regenerate", sinks=[])
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded.invoke(QUESTION)
    assert len(model.prompts) == 2
    assert "not supported" in model.prompts[1]
    assert not claim(caught.value.report, "Quillfeather").supported


@pytest.mark.parametrize("retriever", [True, False], ids=["retriever", "no retriever"])
@pytest.mark.parametrize("shape", SHAPERS)
def test_feedback_through_a_key_is_not_evidence(shape: str, retriever: bool) -> None:
    """With `feedback_key` the chain may reshape the feedback; its claims stay unsupported."""
    model = says(BAD)

    def answer(state: dict[str, str]) -> str:
        texts = finds(*TEXTS).invoke(QUESTION) if retriever else [Document(t) for t in TEXTS]
        system = f"Context:\n{joined(texts)}\n\nRemarks:\n{SHAPERS[shape](state['feedback'])}"
        return str(model.invoke([SystemMessage(system), HumanMessage(state["question"])]).text)

    guarded = guard(RunnableLambda(answer), on_fail="regenerate", feedback_key="feedback", sinks=[])
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded.invoke({"question": QUESTION})
    assert not claim(caught.value.report, "Quillfeather").supported


def test_the_fallback_is_not_evidence_for_a_later_turn() -> None:
    """A fallback text that stands in the history as an earlier answer supports nothing."""
    chain = with_history(says(BAD), retriever=True, as_text=False)
    guarded: Any = guard(chain, fallback=LIE, sinks=[])
    first = guarded.invoke({"question": QUESTION, "history": []})
    history = [HumanMessage(QUESTION), AIMessage(first)]
    second: Reported = guarded.with_report().invoke({"question": QUESTION, "history": history})
    assert first == LIE
    assert not second.record.decision.passed
    assert not claim(second.report, "Quillfeather").supported


# -- whose fault it is ------------------------------------------------------------------------


def cause(report: Report, words: str) -> str | None:
    """Return the cause of the claim with these words."""
    return claim(report, words).cause


def _first(documents: Sequence[Document]) -> str:
    return documents[0].page_content


def test_documents_that_the_prompt_dropped_are_truncation() -> None:
    """A function keeps the first of three documents: the others are retrieved, but not seen."""
    report = watched(text_chain(says(f"{TRUE} {LIE}"), join=_first), QUESTION)
    assert len(seen(report)) == 1
    assert len(report.exchange.passages) == 3
    kept = seen(report)[0]
    for words, text in (("Vesper", HOURS), ("guided tour", PRICE)):
        assert claim(report, words).supported == (text == kept)
        assert cause(report, words) == (None if text == kept else "truncation")
    assert cause(report, "Quillfeather") == "retrieval"


LONG = (
    f"{HOURS} The path to the observatory is lit at night, and it is closed when there is ice. "
    f"Dogs wait outside the gate in a kennel that has twelve places. {PRICE} {MIRROR}"
)


@pytest.mark.parametrize("length", [len(HOURS) + 40, LONG.index(PRICE) + 25])
def test_a_passage_that_is_cut_in_the_middle_is_seen_up_to_the_cut(length: int) -> None:
    """What stands behind the cut is no evidence, and a claim that it alone makes is truncation."""
    answer = f"{TRUE} {MIRROR} {LIE}"
    chain = text_chain(says(answer), finds(LONG), join=lambda docs: joined(docs)[:length])
    report = watched(chain, QUESTION)
    assert claim(report, "Vesper").supported
    assert cause(report, "guided tour") == "truncation"
    assert cause(report, "telescope") == "truncation"
    assert cause(report, "Quillfeather") == "retrieval"
    assert HOURS in "".join(seen(report))
    assert "12 euros" not in "".join(seen(report))


def test_what_trim_messages_dropped_is_truncation() -> None:
    """Context in messages that `trim_messages` cut away did not reach the model."""
    trim = trim_messages(strategy="last", token_counter=len, max_tokens=2)

    def messages(state: dict[str, Any]) -> list[BaseMessage]:
        notes: list[BaseMessage] = [HumanMessage(f"Note: {d.page_content}") for d in state["docs"]]
        return [*notes, HumanMessage(state["question"])]

    fields = {"docs": finds(*TEXTS), "question": RunnablePassthrough()}
    answer = f"{HOURS} {PRICE} {MIRROR}"
    chain = fields | RunnableLambda(messages) | trim | says(answer) | StrOutputParser()
    report = watched(chain, QUESTION)
    assert len(seen(report)) == 1
    assert report.supported == 1
    assert {c.cause for c in report.unsupported} == {"truncation"}


def test_a_claim_beyond_what_was_seen_is_the_models_fault() -> None:
    """A claim that contradicts, or goes beyond, what was seen is generation."""
    wrong = PRICE.replace("12", "21")
    report = watched(text_chain(says(f"{HOURS} {wrong}")), QUESTION)
    assert claim(report, "21 euros").label == "contradicted"
    assert cause(report, "21 euros") == "generation"


def test_a_claim_that_nothing_mentions_is_the_retrievers_fault() -> None:
    """A claim about what was never fetched is retrieval."""
    report = watched(text_chain(says(f"{PRICE} {LIE}"), finds(PRICE)), QUESTION)
    assert cause(report, "Quillfeather") == "retrieval"


def test_a_passage_is_seen_if_any_prompt_of_the_run_held_it() -> None:
    """Over several calls, what reached any of them counts."""
    model = says("Noted.", "Noted.", "Noted.", TRUE)
    report = watched(map_reduce(model, finds(*TEXTS)), QUESTION)
    assert sorted(seen(report)) == sorted(TEXTS)
    assert report.score == 1.0


UMLAUTS = (
    "Die Sternwarte öffnet für Gäste um 18:30 Uhr, und der Eintritt für Schüler kostet 4 Euro."
)
FORMATS: dict[str, Callable[[Sequence[Document]], str]] = {
    "JSON": lambda docs: json.dumps([{"text": d.page_content} for d in docs]),
    "JSON as it reads": lambda docs: json.dumps([d.page_content for d in docs], ensure_ascii=False),
    "JSON, indented": lambda docs: json.dumps([d.page_content for d in docs], indent=2),
    "JSON in JSON": lambda docs: json.dumps({"c": json.dumps([d.page_content for d in docs])}),
    "repr of documents": str,
    "XML": lambda docs: "".join(f"<doc>{html.escape(d.page_content)}</doc>" for d in docs),
    "numbered": lambda docs: "\n".join(f"[{n}] {d.page_content}" for n, d in enumerate(docs)),
    "one line": lambda docs: " ".join(joined(docs).split()),
    "quoted": lambda docs: textwrap.indent(joined(docs), "> "),
    "filled": lambda docs: textwrap.fill(joined(docs), 40),
    "lower case": lambda docs: joined(docs).lower(),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "text",
    [TRUE, f'{HOURS}\n\nThe sign says "no entry" at 5 o\'clock.\n{PRICE}', UMLAUTS],
    ids=["plain", "lines and quotes", "umlauts"],
)
def test_context_in_any_form_counts_as_seen(text: str, form: str) -> None:
    """A template that dumps, numbers or quotes passages does not hide them."""
    answer = UMLAUTS if text is UMLAUTS else TRUE
    report = watched(text_chain(says(answer), Shelf(texts=[text]), join=FORMATS[form]), QUESTION)
    assert [p.text for p in report.exchange.passages if not p.seen] == []
    assert report.score == 1.0


# -- without a retriever run ------------------------------------------------------------------


class Letters(Embeddings):
    """Counts of letters: an embedding that needs no model."""

    def embed_query(self, text: str) -> list[float]:
        """Count."""
        return [1.0 + text.lower().count(chr(97 + n)) for n in range(26)]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Count in each."""
        return [self.embed_query(text) for text in texts]


def searching(model: Any) -> Chain:
    """A chain that asks a vector store in a function, which no callback sees."""
    store = InMemoryVectorStore(Letters())
    store.add_texts(list(TEXTS))
    return text_chain(model, RunnableLambda(lambda q: store.similarity_search(q, k=3)))


def test_a_vector_store_in_a_function_works_by_the_prompt() -> None:
    """`similarity_search` makes no retriever run: the prompt's text serves, and is named."""
    report = watched(searching(says(BAD)), QUESTION)
    assert report.exchange.context_source == "prompt"
    assert {p.origin for p in report.exchange.passages} == {"prompt"}
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_the_guard_works_by_the_prompt_too() -> None:
    """A guard around such a chain passes what the prompt says and blocks what it does not."""
    assert guard(searching(says(TRUE)), sinks=[]).invoke(QUESTION) == TRUE
    with pytest.raises(UnfaithfulAnswerError):
        guard(searching(says(BAD)), sinks=[]).invoke(QUESTION)


def test_a_retriever_of_the_same_store_is_retrieval() -> None:
    """`as_retriever` makes a run, so the passages are known as what they are."""
    store = InMemoryVectorStore(Letters())
    store.add_texts(list(TEXTS))
    report = watched(text_chain(says(TRUE), store.as_retriever()), QUESTION)
    assert report.exchange.context_source == "retrieval"
    assert report.score == 1.0


def test_instructions_in_the_prompt_do_not_support_facts() -> None:
    """Where the prompt serves, the template's own words make no invented fact true."""
    report = watched(searching(says(LIE)), QUESTION)
    assert report.supported == 0


def test_nothing_retrieved_is_no_context_and_does_not_pass() -> None:
    """A retriever that finds nothing leaves facts without context, and the guard holds them."""
    records: list[Record] = []
    chain = text_chain(says(TRUE), finds(*TEXTS, k=0))
    report = watched(chain, QUESTION)
    assert (report.outcome, report.score) == ("no_context", None)
    assert report.exchange.context_source == "none"
    assert not report.decide("conversational").passed
    with pytest.raises(UnfaithfulAnswerError):
        guard(chain, domain="conversational", sinks=[records.append]).invoke(QUESTION)


def test_an_abstention_with_nothing_retrieved_passes() -> None:
    """To say that one does not know needs no context."""
    words = "I could not find any information about that."
    chain = text_chain(says(words), finds(*TEXTS, k=0))
    assert watched(chain, QUESTION).outcome == "abstained"
    assert guard(chain, domain="medical", sinks=[]).invoke(QUESTION) == words


def test_no_context_at_all_does_not_pass() -> None:
    """A model that is only asked has no context: facts do not pass."""
    chain = PromptTemplate.from_template("{question}") | says(TRUE) | StrOutputParser()
    report = watched(chain, {"question": QUESTION})
    assert report.outcome == "no_context"
    with pytest.raises(UnfaithfulAnswerError):
        guard(chain, sinks=[]).invoke({"question": QUESTION})


def test_documents_that_the_caller_passes_are_context() -> None:
    """Documents in the input, stuffed by the prompt, are context by the prompt."""
    prompt = ChatPromptTemplate.from_messages([("system", SYSTEM_ONLY), ("human", "{question}")])
    chain = (
        RunnablePassthrough.assign(context=lambda s: joined(s["context"]))
        | prompt
        | says(BAD)
        | StrOutputParser()
    )
    fields = {"question": QUESTION, "context": [Document(text) for text in TEXTS]}
    report = watched(chain, fields)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_an_answer_that_speaks_of_itself_to_the_next_call_is_no_evidence() -> None:
    """A model that checks its own draft gives no evidence for it."""
    drafts = ScriptedChatModel(reply=lambda messages: BAD)

    def draft_then_check(question: str) -> str:
        context = joined(finds(*TEXTS).invoke(question))
        draft = drafts.invoke([SystemMessage(context), HumanMessage(question)]).text
        review = [SystemMessage(f"{context}\n\nDraft: {draft}"), HumanMessage("Is it right?")]
        return str(drafts.invoke(review).text)

    report = watched(RunnableLambda(draft_then_check), QUESTION)
    assert not claim(report, "Quillfeather").supported
