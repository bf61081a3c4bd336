"""Training is an extra: nothing of it is loaded or needed until it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.facts import fact_rows, write_rows


def python(program: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh process."""
    return subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, timeout=60
    )


def test_importing_it_loads_nothing_heavy() -> None:
    """Neither the package nor the command line that offers it."""
    heavy = ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "numpy")
    done = python(
        "import sys, faithguard.cli, faithguard.train\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("missing", ["torch", "transformers", "onnxruntime"])
def test_a_missing_package_names_the_extra(tmp_path: Path, missing: str) -> None:
    """On one line, with exit code 2."""
    if missing != "torch":
        pytest.importorskip("torch", reason="pip install 'faithguard[train]' brings what trains")
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (encoder / name).write_text("{}", "utf-8")
    done = python(
        f"import sys; sys.modules[{missing!r}] = None\nfrom faithguard.cli import main; main()",
        *("train", "--data", str(write_rows(tmp_path / "rows.jsonl", fact_rows()))),
        *("--out", str(tmp_path / "out"), "--init", str(encoder)),
    )

    assert done.returncode == 2
    assert done.stderr == "faithguard: this needs an extra: pip install 'faithguard[train]'\n"
