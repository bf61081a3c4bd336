"""Evaluators in the experiment runners of Langfuse and LangSmith, by their real SDKs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.documents import Document

from faithguard import CaptureError, ConfigError, Policy, Scorer
from faithguard.evaluators import langfuse_evaluator, langsmith_evaluator
from faithguard.testing import TableVerifier
from tests.sinks.collector import INGEST, Collector, Got

CONTEXT = "The mill grinds 3 tons of barley a day. Its wheel was built of oak."
ANSWER = "The mill grinds 3 tons of barley a day. Its wheel was built of marble."
ASKED = "What does the mill grind?"


# What an item holds: by LangSmith's evaluator, which is a plain function


def scored(inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, float]:
    """Return the scores by their key."""
    results = langsmith_evaluator("support")(inputs, outputs)["results"]
    return {one["key"]: one["score"] for one in results}


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"question": ASKED, "context": CONTEXT}, {"output": ANSWER}),
        ({"question": ASKED}, {"answer": ANSWER, "context": [Document(page_content=CONTEXT)]}),
        ({"input": ASKED, "contexts": [CONTEXT], "answer": "gold"}, {"response": ANSWER}),
        ({}, {"query": ASKED, "response": ANSWER, "source_nodes": [{"text": CONTEXT}]}),
        (
            {"context": "what should have been found"},
            {"actual_output": ANSWER, "retrieval_context": [CONTEXT]},
        ),
    ],
    ids=["text", "documents", "gold", "nodes", "deepeval"],
)
def test_answer_and_context_are_found_where_they_stand(
    inputs: dict[str, Any], outputs: dict[str, Any]
) -> None:
    """In the output, or beside it; a right answer of the item is none of the model's."""
    assert scored(inputs, outputs) == {"faithfulness_passed": 0.0, "faithfulness": 0.5}


def test_a_short_answer_is_checked_with_its_question() -> None:
    """The question is found, too."""
    assert scored({"question": "How many tons a day?", "context": CONTEXT}, {"output": "3"}) == {
        "faithfulness_passed": 1.0,
        "faithfulness": 1.0,
    }


def test_undefined_is_no_score_and_nothing_found_is_no_pass() -> None:
    """An abstention passes without one; an empty context lets no fact pass."""
    assert scored({"context": CONTEXT}, {"output": "I do not know."}) == {
        "faithfulness_passed": 1.0
    }
    assert scored({"context": []}, {"output": ANSWER}) == {"faithfulness_passed": 0.0}


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({"question": ASKED}, {"output": ANSWER}, "there is no context: return it from the task"),
        ({"context": CONTEXT}, {"result": 3}, "there is no answer: name it"),
        ({"context": CONTEXT}, {"output": None}, "`answer` is null"),
    ],
)
def test_an_item_that_cannot_be_checked_is_an_error(
    inputs: dict[str, Any], outputs: dict[str, Any], message: str
) -> None:
    """Neither a pass nor an unfaithful answer; the message holds none of the texts."""
    with pytest.raises(CaptureError, match=message) as failed:
        scored(inputs, outputs)
    assert "mill" not in str(failed.value)


def test_settings_decide() -> None:
    """Domain, policy and scorer; a typo is told when the evaluator is made."""
    item = {"context": CONTEXT}, {"output": ANSWER}
    lenient = Policy(domain="drafts", safe=0.5, warning=0.2)
    assert langsmith_evaluator(lenient)(*item)["results"][0]["score"] == 1.0
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])
    assert langsmith_evaluator("medical", scorer=scorer)(*item)["results"][1]["score"] == 1.0
    with pytest.raises(ConfigError, match="unknown domain 'medicine'"):
        langsmith_evaluator("medicine")


# LangSmith


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Start a server that stands for LangSmith's and Langfuse's."""
    project = {
        "id": str(uuid4()),
        "name": "mills",
        "tenant_id": str(uuid4()),
        "reference_dataset_id": None,
        "start_time": datetime.now(UTC).isoformat(),
    }

    def server(got: Got) -> tuple[int, Any]:
        if got.path.startswith("/info"):
            return 200, {"version": "0.9.0", "batch_ingest_config": INGEST}
        if got.path.startswith("/datasets/"):
            now = datetime.now(UTC).isoformat()
            return 200, {"id": got.path.split("/")[2].split("?")[0], "name": "d", "created_at": now}
        return 200, project

    with Collector(server) as running:
        yield running


def test_langsmith_evaluates_with_it(collector: Collector) -> None:
    """`evaluate` and `aevaluate` take it as it is, and send its results as feedback."""
    langsmith = pytest.importorskip("langsmith", reason="pip install 'faithguard[langsmith]'")
    client = langsmith.Client(api_url=collector.url, api_key="none")
    dataset = uuid4()
    data = [
        langsmith.schemas.Example(
            id=uuid4(),
            inputs={"question": ASKED, "said": said},
            outputs={"answer": "gold"},
            dataset_id=dataset,
            created_at=datetime.now(UTC),
        )
        for said in (ANSWER, CONTEXT)
    ]

    def task(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"answer": inputs["said"], "context": [CONTEXT]}

    async def atask(inputs: dict[str, Any]) -> dict[str, Any]:
        return task(inputs)

    settings: dict[str, Any] = {
        "data": data,
        "evaluators": [langsmith_evaluator("support")],
        "client": client,
        "max_concurrency": 0,
    }
    rows = list(langsmith.evaluate(task, **settings))

    async def evaluated() -> list[Any]:
        results = await langsmith.aevaluate(atask, **settings)
        return [row async for row in results]

    arows = asyncio.run(evaluated())
    client.flush()
    client.close()

    for found in (rows, arows):
        scores = {
            row["example"].inputs["said"]: {
                one.key: one.score for one in row["evaluation_results"]["results"]
            }
            for row in found
        }
        assert scores == {
            ANSWER: {"faithfulness_passed": 0.0, "faithfulness": 0.5},
            CONTEXT: {"faithfulness_passed": 1.0, "faithfulness": 1.0},
        }
    sent = [got.json for got in collector.to("/feedback")]
    assert sorted({one["key"] for one in sent}) == ["faithfulness", "faithfulness_passed"]
    assert len(sent) == 8


# Langfuse


def test_langfuse_runs_an_experiment_with_it(collector: Collector) -> None:
    """`run_experiment` takes it as it is, and sends its results as scores."""
    langfuse = pytest.importorskip("langfuse", reason="pip install 'faithguard[langfuse]'")
    from opentelemetry.sdk.trace import TracerProvider

    key = f"pk-{uuid4()}"
    client = langfuse.Langfuse(
        public_key=key, secret_key=key, base_url=collector.url, tracer_provider=TracerProvider()
    )

    def task(*, item: dict[str, Any], **kwargs: Any) -> Any:
        return {"answer": item["input"]["said"], "context": [Document(page_content=CONTEXT)]}

    result = client.run_experiment(
        name="mills",
        data=[
            {"input": {"question": ASKED, "said": said}, "expected_output": "gold"}
            for said in (ANSWER, CONTEXT)
        ],
        task=task,
        evaluators=[langfuse_evaluator("support")],
    )
    client.flush()
    client.shutdown()

    scores = {
        item.item["input"]["said"]: {one.name: one.value for one in item.evaluations}
        for item in result.item_results
    }
    assert scores == {
        ANSWER: {"faithfulness_passed": 0.0, "faithfulness": 0.5},
        CONTEXT: {"faithfulness_passed": 1.0, "faithfulness": 1.0},
    }
    comments = [one.comment for item in result.item_results for one in item.evaluations]
    assert all("claims supported" in comment for comment in comments)
    assert "marble" not in json.dumps(comments)
    assert collector.to("/scores")


def test_langfuse_gives_input_output_and_metadata() -> None:
    """Texts as they are, with the context in the metadata of the item."""
    pytest.importorskip("langfuse", reason="pip install 'faithguard[langfuse]'")
    evaluator = langfuse_evaluator("support")

    found = asyncio.run(
        _awaited(
            evaluator(
                input=ASKED, output=ANSWER, expected_output="gold", metadata={"context": CONTEXT}
            )
        )
    )

    assert [(one.name, one.value, one.data_type) for one in found] == [
        ("faithfulness_passed", 0.0, "BOOLEAN"),
        ("faithfulness", 0.5, "NUMERIC"),
    ]


async def _awaited(awaitable: Any) -> list[SimpleNamespace]:
    return list(await awaitable)
