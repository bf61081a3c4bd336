"""Where a claim comes from decides what it is worth: only what was fetched and seen is evidence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra: pip install '.[llama-index]'")

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.postprocessor import (
    LLMRerank,
    MetadataReplacementPostProcessor,
    SimilarityPostprocessor,
)
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.retrievers import QueryFusionRetriever, RecursiveRetriever
from llama_index.core.schema import IndexNode, TextNode

from faithguard import Report
from faithguard_llama_index.testing import ScriptedLLM

from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    CHAT_WAYS,
    HOURS,
    LIE,
    MIRROR,
    PRICE,
    QUERY_ENGINES,
    QUERY_WAYS,
    QUESTION,
    TEXTS,
    TRUE,
    Shelf,
    asking,
    claim,
    condense_chat,
    condense_plus_chat,
    finds,
    in_mode,
    only,
    prompts_of,
    queried,
    questioning,
    says,
    seen,
    transformed,
    watching,
)

pytestmark = pytest.mark.usefixtures("unwatched")


def cause(report: Report, words: str) -> str | None:
    """Return the cause of the claim with these words."""
    return claim(report, words).cause


# -- words that are nobody's evidence ---------------------------------------------------------

ASSERTING = f"{LIE} When does the Vesper observatory admit visitors?"


@pytest.mark.parametrize("shape", QUERY_ENGINES)
def test_what_only_the_question_asserts_is_not_supported(shape: str) -> None:
    """A user who asserts a thing does not make it so, whatever the engine."""
    report = queried(QUERY_ENGINES[shape](says(BAD)), ASSERTING)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_what_only_the_users_message_asserts_is_not_supported(shape: str, way: str) -> None:
    """The same of a message, also where nothing is retrieved."""
    watcher = watching()
    CHAT_WAYS[way](CHAT_ENGINES[shape](says(BAD)), ASSERTING)
    report = only(watcher)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("who", [MessageRole.ASSISTANT, MessageRole.USER])
@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_what_only_an_earlier_turn_asserts_is_not_supported(
    shape: str, way: str, who: MessageRole
) -> None:
    """An earlier answer, or an earlier message of the user's, is no evidence."""
    lines = [QUESTION, BAD] if "condense" in shape else [BAD]
    engine = CHAT_ENGINES[shape](says(*lines))
    engine._memory.put(ChatMessage(role=MessageRole.USER, content="Who is there?"))
    engine._memory.put(ChatMessage(role=who, content=LIE))
    watcher = watching()
    CHAT_WAYS[way](engine, QUESTION)
    report = only(watcher)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("build", [condense_chat, condense_plus_chat])
def test_a_condensed_question_is_not_evidence(build: Any, way: str) -> None:
    """What the model adds while it condenses the question is the model's."""
    engine = build(says(f"{LIE} {QUESTION}", BAD))
    engine._memory.put(ChatMessage(role=MessageRole.USER, content="Hello."))
    watcher = watching()
    CHAT_WAYS[way](engine, "When?")
    report = only(watcher)
    assert report.exchange.question == "When?"
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_a_hypothetical_document_is_not_evidence(way: str) -> None:
    """HyDE: what the model imagines finds passages, and supports nothing."""
    streaming, ask = QUERY_WAYS[way]
    watcher = watching()
    ask(transformed(says(BAD), streaming), QUESTION)
    report = only(watcher)
    assert LIE not in " ".join(p.text for p in report.exchange.passages)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_a_passage_that_says_what_was_imagined_is_evidence() -> None:
    """Where HyDE guessed right, the passage that was retrieved says so itself."""
    engine = transformed(says(f"{HOURS} {LIE}"))
    engine._query_engine = asking(says(BAD), retriever=Shelf(f"{LIE} So they say.", HOURS))
    assert queried(engine).score == 1.0


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_summaries_on_the_way_are_not_evidence(way: str) -> None:
    """tree_summarize: what a summary of a part invents does not support the answer."""
    streaming, ask = QUERY_WAYS[way]
    llm = says(f"{HOURS} {LIE}", f"{PRICE} {LIE}", f"{TRUE} {LIE}", **SMALL)
    engine = in_mode(ResponseMode.TREE_SUMMARIZE)(llm, streaming, retriever=Shelf(LONG, OTHER))
    watcher = watching()
    ask(engine, QUESTION)
    report = only(watcher)
    assert len(prompts_of(llm)) > 2
    assert (report.supported, report.total) == (2, 3)
    assert not claim(report, "Quillfeather").supported


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_an_answer_that_is_refined_is_not_evidence(way: str) -> None:
    """refine: the existing answer stands in the next prompt, and is the model's."""
    streaming, ask = QUERY_WAYS[way]
    llm = says(f"{HOURS} {LIE}", f"{HOURS} {LIE}", f"{TRUE} {LIE}")
    watcher = watching()
    ask(in_mode(ResponseMode.REFINE)(llm, streaming), QUESTION)
    report = only(watcher)
    assert len(prompts_of(llm)) == 3
    assert (report.supported, report.total) == (2, 3)
    assert not claim(report, "Quillfeather").supported


SUB_ANSWERS = [LIE, "Marzipan comets", "It costs 7 euros", f"Visitors come on Fridays. {LIE}"]


@pytest.mark.parametrize("answer", SUB_ANSWERS)
@pytest.mark.parametrize("way", QUERY_WAYS)
def test_answers_of_engines_inside_are_not_evidence(way: str, answer: str) -> None:
    """A sub-answer that invents, however short, does not support the whole answer."""
    streaming, ask = QUERY_WAYS[way]
    watcher = watching()
    ask(questioning(says(answer, f"{HOURS} {answer}"), streaming), QUESTION)
    report = only(watcher)
    assert claim(report, "Vesper").supported
    assert report.supported < report.total


@pytest.mark.parametrize("answer", SUB_ANSWERS)
@pytest.mark.parametrize("way", QUERY_WAYS)
def test_an_engine_inside_a_retriever_writes_no_evidence(way: str, answer: str) -> None:
    """A recursive retriever makes a node of what the engine behind an index node answers."""
    streaming, ask = QUERY_WAYS[way]
    root = Shelf(IndexNode(text="About comets", index_id="inner"), TextNode(text=PRICE))
    inner = asking(says(answer))
    recursive = RecursiveRetriever(
        "root", retriever_dict={"root": root}, query_engine_dict={"inner": inner}
    )
    watcher = watching()
    ask(asking(says(f"{PRICE} {answer}"), streaming, recursive), QUESTION)
    report = only(watcher)
    assert claim(report, "12 euros").supported
    assert report.supported < report.total


@pytest.mark.parametrize("asserting", [ASSERTING, f"Is it so? {LIE}"])
def test_a_question_that_stands_beside_such_an_answer_is_not_evidence(asserting: str) -> None:
    """The nodes that engines make of an answer hold the question, too."""
    root = Shelf(IndexNode(text="About comets", index_id="inner"), TextNode(text=HOURS))
    recursive = RecursiveRetriever(
        "root",
        retriever_dict={"root": root},
        query_engine_dict={"inner": asking(says("I do not know."))},
    )
    report = queried(asking(says(BAD), retriever=recursive), asserting)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_queries_that_a_retriever_has_a_model_write_are_not_evidence() -> None:
    """A fusion retriever asks a model for more queries; the passages stay evidence."""
    fusion = QueryFusionRetriever(
        [finds()], llm=says(f"{LIE}\n{QUESTION}"), num_queries=3, use_async=False
    )
    report = queried(asking(says(BAD), retriever=fusion))
    assert sorted(p.text.split("\n")[-1] for p in report.exchange.passages) == sorted(TEXTS)
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_a_rerankers_words_are_not_evidence() -> None:
    """A model that ranks passages writes no evidence, whatever it says beside the ranks."""
    judge = ScriptedLLM(reply=lambda _: f"Doc: 1, Relevance: 9\n{LIE}")
    rerank = LLMRerank(llm=judge, top_n=1)
    shelf = Shelf(HOURS, PRICE)
    report = queried(asking(says(BAD), retriever=shelf, node_postprocessors=[rerank]))
    assert sorted(p.text for p in report.exchange.passages) == sorted([HOURS, PRICE])
    assert claim(report, "Vesper").supported
    assert not claim(report, "Quillfeather").supported


def test_what_a_model_draws_up_for_the_next_call_is_not_evidence() -> None:
    """A user's own engine that shows a draft to its model gives no evidence for it."""

    class Drafting(CustomQueryEngine):
        """Drafts, and checks the draft."""

        llm: Any

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            nodes = finds().retrieve(query_str)
            context = "\n".join(node.get_content() for node in nodes)
            draft = self.llm.complete(f"{context}\n{query_str}").text
            return self.llm.complete(f"{context}\nDraft: {draft}\nIs {query_str} answered?").text

    assert not claim(queried(Drafting(llm=says(BAD))), "Quillfeather").supported


# -- retrieved is not seen --------------------------------------------------------------------

FILLER = " ".join(
    f"The path to terrace {n} is lit at night, and it is closed when there is ice on step {n}."
    for n in range(60)
)
LONG = f"{HOURS} {FILLER} {PRICE}"
OTHER = f"{PRICE} {FILLER} {MIRROR}"
SMALL: dict[str, Any] = {"context_window": 800, "num_output": 100}


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_what_simple_summarize_cuts_off_is_truncation(way: str) -> None:
    """It fits the context into one prompt silently: what stands behind the cut was not seen."""
    streaming, ask = QUERY_WAYS[way]
    llm = says(f"{HOURS} {PRICE} {LIE}", **SMALL)
    engine = in_mode(ResponseMode.SIMPLE_SUMMARIZE)(llm, streaming, retriever=Shelf(LONG))
    watcher = watching()
    ask(engine, QUESTION)
    report = only(watcher)
    [prompt] = prompts_of(llm)
    assert HOURS in prompt
    assert PRICE not in prompt
    assert claim(report, "Vesper").supported
    assert cause(report, "12 euros") == "truncation"
    assert cause(report, "Quillfeather") in ("retrieval", "generation")
    assert PRICE not in " ".join(seen(report))


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_what_compact_spreads_over_several_prompts_was_seen(way: str) -> None:
    """It cuts the context into pieces, and every piece reaches a prompt."""
    streaming, ask = QUERY_WAYS[way]
    llm = says(f"{HOURS} {PRICE} {MIRROR} {LIE}", **SMALL)
    watcher = watching()
    ask(asking(llm, streaming, Shelf(LONG, OTHER)), QUESTION)
    report = only(watcher)
    assert len(prompts_of(llm)) > 1
    assert (report.supported, report.total) == (3, 4)
    assert not claim(report, "Quillfeather").supported


def test_nodes_that_a_postprocessor_drops_are_truncation() -> None:
    """A cutoff keeps passages from the model: what only they say is not supported."""
    cutoff = SimilarityPostprocessor(similarity_cutoff=0.9)  # scores are 1, 1/2, 1/3
    answer = f"{HOURS} {PRICE} {MIRROR} {LIE}"
    report = queried(asking(says(answer), node_postprocessors=[cutoff]))
    assert len(seen(report)) == 1
    assert report.supported == 1
    assert [c.cause for c in report.unsupported].count("truncation") == 2


def test_an_engine_that_asks_for_the_nodes_and_keeps_one_is_judged_by_that() -> None:
    """The same in a user's own engine."""

    class First(CustomQueryEngine):
        """Uses the first node only."""

        llm: Any

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            node = Shelf(HOURS, PRICE).retrieve(query_str)[0]
            return self.llm.complete(f"Context: {node.get_content()}\nQuery: {query_str}").text

    report = queried(First(llm=says(TRUE)))
    assert claim(report, "Vesper").supported
    assert cause(report, "12 euros") == "truncation"


def test_a_claim_beyond_what_was_seen_is_the_models_fault() -> None:
    """A claim that contradicts what was seen is generation, one about nothing is retrieval."""
    report = queried(asking(says(f"{HOURS} {PRICE.replace('12', '21')} {LIE}")))
    assert claim(report, "21 euros").label == "contradicted"
    assert cause(report, "21 euros") == "generation"
    assert cause(report, "Quillfeather") == "retrieval"


# -- what the synthesizer shows ---------------------------------------------------------------


def windowed() -> TextNode:
    """A sentence with its window, as `SentenceWindowNodeParser` makes it."""
    return TextNode(
        text=HOURS,
        metadata={"window": f"{HOURS} {PRICE}", "original_text": HOURS},
        excluded_llm_metadata_keys=["window", "original_text"],
        excluded_embed_metadata_keys=["window", "original_text"],
    )


@pytest.mark.parametrize("way", [*QUERY_WAYS, *CHAT_WAYS])
def test_the_window_that_the_model_saw_is_evidence(way: str) -> None:
    """A postprocessor puts the window in the sentence's place."""
    shelf, replace = Shelf(windowed()), MetadataReplacementPostProcessor("window")
    watcher = watching()
    answer = f"{TRUE} {LIE}"
    if way in CHAT_WAYS:
        engine = CHAT_ENGINES["context"](says(answer), shelf, node_postprocessors=[replace])
        CHAT_WAYS[way](engine, QUESTION)
    else:
        streaming, ask = QUERY_WAYS[way]
        ask(asking(says(answer), streaming, shelf, node_postprocessors=[replace]), QUESTION)
    report = only(watcher)
    assert claim(report, "Vesper").supported
    assert claim(report, "12 euros").supported
    assert not claim(report, "Quillfeather").supported


def test_the_window_that_the_model_did_not_see_is_not_evidence() -> None:
    """Without the postprocessor the window stays in the metadata, out of the prompt."""
    report = queried(asking(says(TRUE), retriever=Shelf(windowed())))
    assert claim(report, "Vesper").supported
    assert not claim(report, "12 euros").supported


@pytest.mark.parametrize("way", [*QUERY_WAYS, *CHAT_WAYS])
def test_metadata_that_was_shown_is_evidence(way: str) -> None:
    """The synthesizer writes metadata above the text, and the model may answer from it."""
    node = TextNode(text=HOURS, metadata={"keeper": "Ottoline Brask"})
    said = f"{HOURS} The keeper is Ottoline Brask. {LIE}"
    watcher = watching()
    if way in CHAT_WAYS:
        CHAT_WAYS[way](CHAT_ENGINES["context"](says(said), Shelf(node)), QUESTION)
    else:
        QUERY_WAYS[way][1](asking(says(said), QUERY_WAYS[way][0], Shelf(node)), QUESTION)
    report = only(watcher)
    assert claim(report, "Brask").supported
    assert not claim(report, "Quillfeather").supported


def test_metadata_that_was_not_shown_is_not_evidence() -> None:
    """What is excluded from the prompt is not seen."""
    node = TextNode(
        text=HOURS,
        metadata={"keeper": "Ottoline Brask"},
        excluded_llm_metadata_keys=["keeper"],
    )
    report = queried(asking(says("The keeper is Ottoline Brask."), retriever=Shelf(node)))
    assert report.supported == 0


def test_a_node_that_is_changed_after_it_was_retrieved_is_kept_as_it_was() -> None:
    """An app that works on with the nodes of a response changes no report."""
    node = TextNode(text=HOURS)
    watcher = watching()
    response = asking(says(TRUE), retriever=Shelf(node)).query(QUESTION)
    response.source_nodes[0].node.set_content(LIE)
    report = only(watcher)
    assert [p.text for p in report.exchange.passages] == [HOURS]


def test_nothing_retrieved_is_no_context_and_does_not_pass() -> None:
    """An engine of the user's that answers without any node has no context."""

    class Guessing(CustomQueryEngine):
        """Answers from nothing."""

        llm: Any

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            finds(k=0).retrieve(query_str)
            return self.llm.complete(f"Context:\n\nQuery: {query_str}").text

    report = queried(Guessing(llm=says(TRUE)))
    assert (report.outcome, report.score) == ("no_context", None)
    assert report.exchange.context_source == "none"
    assert not report.decide("conversational").passed


def test_hops_are_numbered_by_the_models_asked_before() -> None:
    """What is retrieved after a model was asked has a later hop."""

    class TwoHops(CustomQueryEngine):
        """Retrieves, asks, retrieves again."""

        llm: Any

        async def acustom_query(self, query_str: str) -> Any:
            """Answer."""
            first = Shelf(HOURS).retrieve(query_str)[0].get_content()
            await self.llm.acomplete(f"{first}\n{query_str}")
            second = Shelf(PRICE).retrieve(query_str)[0].get_content()
            return (await self.llm.acomplete(f"{first}\n{second}\n{query_str}")).text

        def custom_query(self, query_str: str) -> Any:
            """Answer."""
            return asyncio.run(self.acustom_query(query_str))

    report = queried(TwoHops(llm=says("Noted.", TRUE)))
    assert [(p.text, p.hop) for p in report.exchange.passages] == [(HOURS, 0), (PRICE, 1)]
    assert report.score == 1.0
