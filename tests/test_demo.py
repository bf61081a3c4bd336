"""`faithguard demo` prints what this run found out, and nothing that was written beforehand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from faithguard import demo as shared
from faithguard.cli import app

CORPUS = Path(shared.__file__).parent / "demo_corpus"
FRAMEWORKS = ("langchain", "llama-index")


def shown_here(*options: str) -> Result:
    """Run the demo in this process, for what does not hang on how one starts."""
    return CliRunner(env={"COLUMNS": "500"}).invoke(app, ["demo", *options])


def demo(*options: str) -> str:
    """Return what the demo prints, its lines joined."""
    done = subprocess.run(
        [sys.executable, "-m", "faithguard.cli", "demo", *options],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONIOENCODING": "utf-8", "COLUMNS": "500", "PATH": ""},
    )
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_four_answers(framework: str) -> None:
    """Faithful, an invented detail, a contradiction, an abstention: each is told apart."""
    shown = demo("--framework", framework)

    assert "2 of 2 claims supported: 1.00" in shown
    assert "2 of 3 claims supported: 0.67" in shown
    assert "the answer '0.50 euros'" in shown
    assert "abstained" in shown
    assert shown.count("I cannot answer that reliably.") == 2
    assert "2 attempts" in shown


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_edited_corpus_shows(tmp_path: Path, framework: str) -> None:
    """With other leaflets the same answers get other verdicts: no value is canned."""
    shutil.copytree(CORPUS, tmp_path / "corpus")
    fees = tmp_path / "corpus" / "fees.md"
    fees.write_text(fees.read_text("utf-8").replace("0.20", "0.50"), "utf-8")
    borrowing = tmp_path / "corpus" / "borrowing.md"
    borrowing.write_text(borrowing.read_text("utf-8").replace("28 days", "21 days"), "utf-8")

    done = shown_here("--corpus", str(tmp_path / "corpus"), "--framework", framework)

    assert done.exit_code == 0, done.output
    shown = " ".join(done.stdout.split())
    assert "the answer '0.50 euros'" not in shown
    assert "the context says '21 days'," in shown


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    """A folder without texts is named, with what it should hold."""
    done = shown_here("--corpus", str(tmp_path))

    assert done.exit_code == 2
    assert str(tmp_path) in done.stderr
    assert ".md" in done.stderr
