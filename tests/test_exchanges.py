"""Exchanges from objects of JSON, whoever named the fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard import CaptureError, Exchange, Passage, check
from faithguard.exchanges import read_exchange
from faithguard.types import Record, to_json

HIDDEN = "The walrus sleeps at noon"


def texts(exchange: Exchange) -> list[str]:
    """Return the texts of the context."""
    return [passage.text for passage in exchange.passages]


@pytest.mark.parametrize(
    "names",
    [
        ("question", "answer", "context"),
        ("question", "answer", "contexts"),
        ("user_input", "response", "retrieved_contexts"),
        ("input", "actual_output", "retrieval_context"),
        ("query", "response", "contexts"),
        ("question", "answer", "documents"),
        ("question", "answer", "source_documents"),
    ],
)
def test_the_names_of_others_are_known(names: tuple[str, str, str]) -> None:
    """Ours, RAGAS' of both ages, DeepEval's, LlamaIndex', LangChain's."""
    values = ("When?", "At noon.", ["One.", "Two."])

    exchange = read_exchange(dict(zip(names, values, strict=True)), id="x")

    assert (exchange.question, exchange.answer, texts(exchange)) == values
    assert (exchange.id, exchange.domain, exchange.context_source) == ("x", None, "caller")


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("One.", ["One."]),
        (["One.", "Two."], ["One.", "Two."]),
        ({"text": "One."}, ["One."]),
        ([{"page_content": "One."}, {"content": "Two."}, "Three."], ["One.", "Two.", "Three."]),
        ([], []),
        (None, []),
    ],
)
def test_context_has_many_shapes(context: Any, expected: list[str]) -> None:
    """A text, texts, objects with a text, nothing."""
    exchange = read_exchange({"answer": "a", "context": context})

    assert texts(exchange) == expected
    assert exchange.context_source == ("caller" if expected else "none")


def test_no_context_is_no_context() -> None:
    """A missing field is an outcome of the check, not an error."""
    exchange = read_exchange({"answer": "The ferry is red."})

    assert exchange.passages == ()
    assert check(exchange.answer, exchange.passages).outcome == "no_context"


def test_a_piece_of_context_keeps_what_it_has() -> None:
    """Source, also from its metadata, and whether the model saw it."""
    exchange = read_exchange(
        {
            "answer": "a",
            "context": [
                {"text": "One.", "source": "a.md", "seen": False, "hop": 2},
                {"page_content": "Two.", "metadata": {"source": "b.md", "page": 3}},
            ],
        }
    )

    first, second = exchange.passages
    assert (first.source, first.seen, first.hop) == ("a.md", False, 2)
    assert (second.source, second.metadata["page"], second.seen) == ("b.md", 3, True)


def test_nodes_of_llama_index_are_read() -> None:
    """As its responses have them, with a score beside each."""
    node = {"text": "One.", "metadata": {"file_name": "a.md"}, "class_name": "TextNode"}

    exchange = read_exchange({"response": "a", "source_nodes": [{"node": node, "score": 0.5}]})

    assert [(p.text, p.source) for p in exchange.passages] == [("One.", "a.md")]


def test_what_the_model_should_have_seen_is_no_evidence() -> None:
    """DeepEval's `context` beside `retrieval_context`; alone it is the only one there is."""
    case: dict[str, Any] = {"input": "q", "actual_output": "a", "context": ["Ideal."]}

    assert texts(read_exchange({**case, "retrieval_context": ["Seen."]})) == ["Seen."]
    assert texts(read_exchange({**case, "retrieval_context": None})) == []
    assert texts(read_exchange(case)) == ["Ideal."]


def test_an_exchange_of_ours_comes_back_whole() -> None:
    """Also inside a report or a record, whose verdicts are not read."""
    exchange = Exchange(
        id="7",
        answer="The ferry is red.",
        question="What colour?",
        domain="medical",
        passages=(
            Passage(text="The ferry is red.", origin="retriever", source="a"),
            Passage(text="It is old.", origin="tool", seen=False, metadata={"n": 1}),
        ),
        context_source="retrieval",
        finish_reason="stop",
        tags=("beta",),
        timings={"chain": 0.5},
    )
    report = check(exchange.answer, exchange.passages)
    record = Record(exchange=exchange, report=report, decision=report.decide())

    assert read_exchange(json.loads(to_json(exchange))) == exchange
    assert read_exchange(json.loads(report.to_json())).answer == exchange.answer
    assert read_exchange(json.loads(to_json(record))) == exchange


def test_ids_tags_and_domain_are_read() -> None:
    """A number is an id; one that is missing or empty is made."""
    read = read_exchange({"id": 12, "answer": "", "domain": "legal", "tags": ["a", "b"]}, id="x")

    assert (read.id, read.answer, read.domain, read.tags) == ("12", "", "legal", ("a", "b"))
    assert read_exchange({"id": "", "answer": "a"}, id="x").id == "x"
    assert read_exchange({"answer": "a"}).id != read_exchange({"answer": "a"}).id


def test_other_fields_are_left_alone() -> None:
    """Data sets have columns of their own, also under names that our stored exchanges have."""
    row: dict[str, Any] = {
        "reference": 1,
        "faithfulness": None,
        "timings": "x",
        "started_at": [1],
        "score": {},
    }

    assert read_exchange({**row, "answer": "a", "contexts": ["b"]}).answer == "a"


def test_the_same_said_twice_is_no_conflict() -> None:
    """Joined tables have columns of both, with nulls or copies."""
    row = {"answer": None, "response": "a", "question": "q", "user_input": "q"}

    assert read_exchange(row).answer == "a"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({}, ["there is no answer", "`answer`", "`actual_output`", "`retrieved_contexts`"]),
        ({"anwser": HIDDEN, "context": HIDDEN}, ["there is no answer", "`response`"]),
        ({"answer": None, "context": HIDDEN}, ["`answer` is null"]),
        ({"answer": 4, "context": HIDDEN}, ["`answer` is a number, not a text"]),
        ({"response": [HIDDEN]}, ["`response` is a list"]),
        ({"answer": HIDDEN, "response": "b"}, ["`answer` and `response`", "differ"]),
        ({"answer": "a", "context": HIDDEN, "contexts": ["b"]}, ["`context` and `contexts`"]),
        ({"answer": "a", "question": [{"content": HIDDEN}]}, ["`question` is a list"]),
        ({"answer": "a", "contexts": 5}, ["`contexts` is a number"]),
        ({"answer": "a", "contexts": [HIDDEN, None]}, ["piece 2 of `contexts` is null"]),
        ({"answer": "a", "contexts": [[HIDDEN]]}, ["piece 1 of `contexts` is a list"]),
        ({"answer": "a", "context": {"body": HIDDEN}}, ["`context` has no text", "`page_content`"]),
        ({"answer": "a", "context": {"text": HIDDEN, "origin": HIDDEN}}, ["`passages.0.origin`"]),
        ({"answer": "a", "id": [HIDDEN]}, ["`id` is a list"]),
        ({"answer": "a", "id": True}, ["`id` is true or false"]),
        ({"answer": "a", "tags": [HIDDEN, 1]}, ["`tags`"]),
        ({"answer": "a", "tags": {HIDDEN: 1}}, ["`tags`"]),
        ({"answer": "a", "domain": 3}, ["`domain` is a number"]),
        ({"answer": "a", "passages": [], "timings": {HIDDEN: HIDDEN}}, ["`timings`"]),
        ({"answer": "a", "passages": [], "started_at": HIDDEN}, ["`started_at`"]),
        ({"exchange": {"question": HIDDEN}}, ["there is no answer"]),
    ],
)
def test_what_cannot_be_read_says_why_and_shows_nothing(
    row: dict[str, Any], words: list[str]
) -> None:
    """Fields are named, texts never."""
    with pytest.raises(CaptureError) as caught:
        read_exchange(row)

    assert HIDDEN not in str(caught.value)
    assert [word for word in words if word not in str(caught.value)] == []


def test_lone_surrogates_become_the_sign_for_them() -> None:
    """As in all our types."""
    row = {"answer": "a\ud800b", "context": [{"text": "\udfff", "metadata": {"\ud800": 1}}]}

    exchange = read_exchange(row)

    assert (exchange.answer, texts(exchange)) == ("a\ufffdb", ["\ufffd"])


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
inner = plain | st.lists(plain, max_size=3) | st.dictionaries(st.text(), plain, max_size=3)
values = inner | st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
NAMES = "id answer response question input context contexts passages domain tags timings".split()


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*NAMES, "started_at", "exchange"]), values))
def test_any_object_is_read_or_refused(row: dict[str, Any]) -> None:
    """Nothing else is raised."""
    try:
        exchange = read_exchange(row)
    except CaptureError:
        return
    assert isinstance(exchange, Exchange)
