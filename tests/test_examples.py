"""Every example runs as it stands, and shows what its first line asks."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWN = {
    "check_an_answer": "not_mentioned: Breakfast is served in every compartment.",
    "watch_a_chain": "not_mentioned: Towels are free for members.",
    "guard_a_chain": "Take 500 mg twice a day. (2 attempts)",
    "guard_an_agent": "A day ticket costs 8 euros. (2 attempts)",
    "watch_an_engine": "not_mentioned: Towels are free for members.",
    "guard_a_chat_engine": "Take 500 mg twice a day. (2 attempts)",
    "guard_an_openai_client": "Take 500 mg twice a day. (2 attempts)",
    "guard_a_function": "Please ask your pharmacist. (0 of 1 claim supported",
    "evaluate_with_llama_index": "- not mentioned: Towels are free for members.",
    "compare_with_ragas": "contradicted: The night train reaches Zagreb at",
}
NEEDS = {"compare_with_ragas": "ragas"}


@cache
def run(name: str) -> subprocess.CompletedProcess[str]:
    """Run an example, once for all that is asked of it."""
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=False
    )


def test_every_example_is_run() -> None:
    """No example is left out."""
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SHOWN)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.peers, pytest.mark.timeout(300)] if name in NEEDS else []
        )
        for name in sorted(SHOWN)
    ],
)
def test_example(name: str) -> None:
    """The example ends well and prints its point."""
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip("pip install 'faithguard[peers]' brings what it compares with")
    done = run(name)

    assert done.returncode == 0, done.stderr
    assert SHOWN[name] in done.stdout


@pytest.mark.parametrize("name", ["guard_a_chain", "guard_a_chat_engine"])
def test_the_dose_in_grams_never_reaches_the_reader(name: str) -> None:
    """A guard's example tells why the answer was held back, and not the answer."""
    done = run(name)

    assert done.returncode == 0, done.stderr
    assert "the context says '500 mg', the answer '500 g'" in done.stdout
    assert "Take 500 g" not in done.stdout + done.stderr
