"""`faithguard train` from rows to a model that can be served, with a tiny encoder made here."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from faithguard import Claim, Failure, Passage, Verdict
from faithguard.cli import app
from faithguard.errors import ConfigError
from faithguard.train import Settings, train
from faithguard.verifiers import Context
from faithguard.verifiers.nli import Nli
from tests.train.facts import fact_rows, write_rows

NEEDED = ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors", "numpy")
for _name in NEEDED:
    pytest.importorskip(_name, reason="pip install 'faithguard[train]' brings what trains")

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]

STEPS = 60
SAID = ("The Tarn ferry opens at 9:00 on weekdays.", "A ticket costs 30 euros.")


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 200 rows."""
    return write_rows(tmp_path_factory.mktemp("rows") / "labelled.jsonl", fact_rows())


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an encoder of two small layers, with word pieces of the rows."""
    import tokenizers
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("encoder")
    texts = [text for row in fact_rows() for text in (*row["context"], row["claim"])]
    made: Any = tokenizers.BertWordPieceTokenizer()
    made.train_from_iterator(texts, vocab_size=400, min_frequency=1, show_progress=False)
    made.save(str(folder / "tokenizer.json"))
    torch.manual_seed(1)
    shape = transformers.BertConfig(
        vocab_size=made.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=256,
    )
    transformers.BertModel(shape).save_pretrained(folder)
    return folder


def settings(rows: Path, encoder: Path, out: Path, **changed: Any) -> Settings:
    """Return settings of a short run."""
    given = {
        "data": rows,
        "out": out,
        "init": encoder,
        "steps": STEPS,
        "epochs": 100.0,
        "rate": 3e-3,
        "budget": 768,
        "longest": 192,
        "precision": "float32",
        "save_seconds": 0.0,
        "looks": 3,
    }
    return Settings(**{**given, **changed})


def command(rows: Path, encoder: Path, out: Path, *more: str) -> list[str]:
    """Return a command line that runs the same."""
    options = f"--steps {STEPS} --epochs 100 --rate 3e-3 --budget 768 --precision float32"
    return [
        *("train", "--data", str(rows), "--out", str(out), "--init", str(encoder)),
        *(*options.split(), "--save-seconds", "0", "--looks", "3", *more),
    ]


def digest(path: Path) -> str:
    """Return what tells a file from others."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="session")
def done(rows: Path, encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run once without interruption."""
    out = tmp_path_factory.mktemp("run") / "out"
    outcome = train(settings(rows, encoder, out))
    assert outcome.finished
    assert outcome.folder == out / "onnx"
    return out


def steps_done(out: Path) -> int:
    """Return how many steps the checkpoint of a run holds."""
    import safetensors

    try:
        with safetensors.safe_open(str(out / "checkpoint.safetensors"), framework="np") as file:
            return int(json.loads(file.metadata()["state"])["step"])
    except FileNotFoundError:
        return 0


@pytest.fixture
def running(rows: Path, encoder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a run as its own process and wait until it has taken some steps."""
    args = command(rows, encoder, tmp_path / "out")
    with subprocess.Popen(
        [sys.executable, "-m", "faithguard.cli", *args],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as process:
        end = time.monotonic() + 90
        while steps_done(tmp_path / "out") < 5 and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.01)
        yield process
        process.kill()


def test_a_run_learns(done: Path) -> None:
    """The loss falls, and the log says so."""
    lines = [json.loads(line) for line in (done / "log.jsonl").read_text("utf-8").splitlines()]
    looks = [line["held_apart"]["loss"] for line in lines if "held_apart" in line]

    assert len(looks) == 3
    assert looks[-1] < looks[0] < 1.2


def test_same_seed_same_model(rows: Path, encoder: Path, done: Path, tmp_path: Path) -> None:
    """And another seed another one."""
    same, other = tmp_path / "same", tmp_path / "other"
    train(settings(rows, encoder, same))
    train(settings(rows, encoder, other, seed=1))

    assert digest(same / "model" / "model.safetensors") == digest(
        done / "model" / "model.safetensors"
    )
    assert digest(same / "onnx" / "model.int8.onnx") == digest(done / "onnx" / "model.int8.onnx")
    assert digest(other / "model" / "model.safetensors") != digest(
        done / "model" / "model.safetensors"
    )


def test_a_killed_run_goes_on_as_if_it_had_not_been(
    running: subprocess.Popen[bytes], rows: Path, encoder: Path, done: Path, tmp_path: Path
) -> None:
    """Killed without a chance to tidy up; the model is the same to the last bit."""
    running.send_signal(signal.SIGKILL)
    running.wait(10)
    stopped = steps_done(tmp_path / "out")
    assert 0 < stopped < STEPS
    train(settings(rows, encoder, tmp_path / "out", resume=True))

    assert steps_done(tmp_path / "out") == STEPS
    assert digest(tmp_path / "out" / "model" / "model.safetensors") == digest(
        done / "model" / "model.safetensors"
    )


def test_a_run_that_was_done_goes_on_with_a_longer_schedule(
    rows: Path, encoder: Path, done: Path, tmp_path: Path
) -> None:
    """What it learns then is looked at, too, at the end as well."""
    out = shutil.copytree(done, tmp_path / "out")
    train(settings(rows, encoder, out, steps=3 * STEPS, resume=True))
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text("utf-8").splitlines()]
    looks = [line["step"] for line in lines if "held_apart" in line]

    assert len(looks) == 5
    assert looks[2:] == [STEPS, 2 * STEPS, 3 * STEPS]


def test_a_run_that_is_asked_to_stop_says_how_to_go_on(
    running: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """SIGTERM ends it behind its step, with a checkpoint and its own exit code."""
    running.send_signal(signal.SIGTERM)

    assert running.wait(60) == 130
    assert steps_done(tmp_path / "out") >= 5


def test_a_folder_that_holds_a_run_is_not_overwritten(
    rows: Path, encoder: Path, done: Path, tmp_path: Path
) -> None:
    """Nor continued with other data or another seed."""
    before = digest(done / "checkpoint.safetensors")
    other = write_rows(tmp_path / "other.jsonl", fact_rows(seed=6))
    with pytest.raises(ConfigError, match=r"--resume goes on with it, or name another --out"):
        train(settings(rows, encoder, done))
    with pytest.raises(ConfigError, match="has data '"):
        train(settings(other, encoder, done, resume=True))
    with pytest.raises(ConfigError, match="has seed 0 and not 7"):
        train(settings(rows, encoder, done, resume=True, seed=7))

    assert digest(done / "checkpoint.safetensors") == before


def test_a_damaged_checkpoint_is_told(
    rows: Path, encoder: Path, done: Path, tmp_path: Path
) -> None:
    """With what to do about it."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_bytes((done / "run.json").read_bytes())
    (out / "checkpoint.safetensors").write_bytes(
        (done / "checkpoint.safetensors").read_bytes()[:5_000]
    )
    with pytest.raises(ConfigError, match="cannot be used"):
        train(settings(rows, encoder, out, resume=True))


def test_the_files_say_what_the_model_says(done: Path) -> None:
    """int8 and float32 ONNX against torch, for pairs of several lengths in one batch."""
    import torch

    from faithguard.train import _model
    from faithguard.train._batches import Encoder, batches_of
    from faithguard.train._examples import Example
    from faithguard.train._export import FLOAT32, INT8, agreement, probabilities

    folder = done / "onnx"
    pairs = [
        Example(premise=" ".join(row["context"][:n]), claim=row["claim"], target="e", dataset="a")
        for row in fact_rows(40)
        for n in (1, 2)
    ]
    encoder = Encoder(folder / "tokenizer.json", longest=192)
    batches = list(batches_of(pairs, encoder, budget=2_048))
    assert max(len(batch.pieces) for batch in batches) > 8
    model = _model.load(done / "model", seed=0, device="cpu").eval()
    theirs = []
    with torch.inference_mode():
        for batch in batches:
            logits = model(**_model.inputs(batch, 0, "cpu")).logits
            theirs += [tuple(row) for row in torch.softmax(logits, -1).tolist()]
    full = agreement(probabilities(folder / FLOAT32, batches, pad=0), theirs)
    small = agreement(probabilities(folder / INT8, batches, pad=0), theirs)

    assert full is not None
    assert full.pairs == len(pairs)
    assert full.largest < 1e-4
    assert small is not None
    assert small.mean < 0.05


def test_the_card_says_what_made_the_model(done: Path) -> None:
    """Data, recipe, figures, versions; the file that serves is named with its digest."""
    page = (done / "onnx" / "CARD.md").read_text("utf-8")
    fields = json.loads((done / "onnx" / "model.json").read_text("utf-8"))

    for part in ("## Data", "## Recipe", "## Figures", "## Limits", "## Versions", "int8 against"):
        assert part in page
    assert f"| steps | {STEPS} |" in page
    assert fields["labels"] == ["entailment", "neutral", "contradiction"]
    assert fields["sha256"] == digest(done / "onnx" / fields["file"])
    assert set(fields["calibration"]) == {"weights", "intercept"}
    assert str(done) not in page + json.dumps(fields)


def test_licences_are_told(rows: Path, encoder: Path, tmp_path: Path) -> None:
    """Of each set, or of the kind that it is one of."""
    from faithguard.train._card import licences

    path = tmp_path / "licences.json"
    path.write_text(json.dumps({"tarn": {"licence": "CC BY 4.0", "class": "P"}}), "utf-8")

    assert licences(path, ["tarn_news", "ulvo"]) == {"tarn_news": "CC BY 4.0 (P)"}
    path.write_text("[]", "utf-8")
    with pytest.raises(ConfigError, match="no JSON object"):
        licences(path, ["tarn"])


def test_the_command_trains_and_prints_the_folder(
    rows: Path, encoder: Path, tmp_path: Path
) -> None:
    """Progress goes to stderr, so that a script can read stdout."""
    args = command(rows, encoder, tmp_path / "out", "--minutes", "60")
    result = CliRunner().invoke(app, args)

    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{tmp_path / 'out' / 'onnx'}\n"
    assert "held apart" in result.stderr


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"minutes": -1.0}, "minutes is -1.0"),
        ({"longest": 8}, "longest is 8"),
        ({"precision": "int4"}, "precision is 'int4'"),
        ({"keep": 1.0}, "keep is 1.0"),
        ({"keep": 0.5}, "is an encoder that judges nothing yet"),
        ({"init": Path("nowhere")}, "'nowhere' lacks config.json"),
        ({"data": Path("nowhere.jsonl")}, "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_told(
    rows: Path, encoder: Path, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    """Before anything is trained."""
    with pytest.raises(ConfigError, match=message):
        train(settings(rows, encoder, tmp_path / "out", **changed))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_broken_encoder_is_told(rows: Path, encoder: Path, tmp_path: Path, name: str) -> None:
    """Whichever file of it is broken."""
    broken = tmp_path / "encoder"
    shutil.copytree(encoder, broken)
    (broken / name).write_text("{", "utf-8")
    with pytest.raises(ConfigError, match=r"cannot be read|can be loaded"):
        train(settings(rows, broken, tmp_path / "out"))


def test_a_served_model_is_trained_further_from_where_it_stands(
    rows: Path, done: Path, tmp_path: Path
) -> None:
    """Its int8 weights become those that serving computes with, and a run goes on from them."""
    from faithguard.train import _model
    from faithguard.train._batches import Encoder, batches_of
    from faithguard.train._examples import Example
    from faithguard.train._export import probabilities

    folder = _model.base(done / "onnx")
    assert not (folder / "model.safetensors").exists()
    encoder = Encoder(folder / "tokenizer.json", longest=64)
    pairs = [Example(premise=SAID[0], claim=said, target="e", dataset="a") for said in SAID]
    model = _model.load(folder, seed=0, device="cpu")
    batches = list(batches_of(pairs, encoder, budget=768))
    said = _model.judged(model, iter(batches), pad=0, device="cpu", half=False)[1]
    serves = probabilities(_model.weights(folder), batches, pad=0)

    assert [one.p for one in said] == pytest.approx([row[0] for row in serves], abs=1e-4)

    further = train(settings(rows, folder, tmp_path / "further", steps=2))
    assert further.finished


def test_a_mean_with_what_a_run_began_from_is_served(
    rows: Path, done: Path, tmp_path: Path
) -> None:
    """Weight by weight; the best model of the run stays what it was."""
    from safetensors.torch import load_file

    out = tmp_path / "further"
    outcome = train(settings(rows, done / "model", out, steps=6, looks=1, keep=0.25))
    first, best, mean = (
        load_file(folder / "model.safetensors")
        for folder in (done / "model", out / "model", out / "mean")
    )

    assert any(not first[name].equal(best[name]) for name in best)
    for name, value in mean.items():
        wanted = 0.75 * best[name].double() + 0.25 * first[name].double()
        assert value.double().sub(wanted).abs().max() < 1e-5
    assert "| share of the model that it began from | 0.25 |" in (
        (outcome.folder / "CARD.md").read_text("utf-8")
    )
    assert outcome.figures["loss"] is not None


def test_the_model_in_the_package_can_be_trained_further() -> None:
    """By its name, wherever the package is."""
    from faithguard.train import _model

    model = _model.load(_model.base("shipped"), seed=0, device="cpu")

    assert model.config.num_labels == 3


def test_only_the_premise_is_cut(encoder: Path) -> None:
    """Down to the last word piece of the room; the claim stays whole."""
    from faithguard.train._batches import Encoder
    from faithguard.train._examples import Example

    def encoded(longest: int) -> tuple[list[int], list[int]]:
        [pair] = Encoder(encoder / "tokenizer.json", longest=longest).encode(
            [Example(premise="ticket costs " * 60, claim="euros free", target="e", dataset="a")]
        )
        return pair

    ids, kinds = encoded(400)
    short, short_kinds = encoded(40)

    assert len(short) == len(short_kinds) == 40
    assert kinds.count(1) == short_kinds.count(1)
    assert short[-kinds.count(1) :] == ids[-kinds.count(1) :]
    assert short[0] == ids[0]
    assert short[short_kinds.index(1) - 1] == ids[kinds.index(1) - 1]


def test_what_a_run_leaves_serves(done: Path) -> None:
    """A verifier loads the folder: once, whoever asks first, and says the same in every way."""
    claims = [Claim(id=str(n), text=text, span=(0, 1)) for n, text in enumerate(SAID)]
    context = Context([Passage(text=text) for text in SAID])
    verifier = Nli(done / "onnx")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: verifier.verify(claims, context), range(8)))

    assert all(one == found[0] for one in found)
    assert asyncio.run(verifier.averify(claims, context)) == found[0]
    assert [finding.claim for finding in found[0]] == [claim.id for claim in claims]
    for finding in found[0]:
        assert isinstance(finding, Verdict)
        assert all(e.quote in SAID[e.passage] for e in finding.evidence)
    german = Claim(id="g", text="Die Mühle ist nicht rot und steht am Fluss.", span=(0, 1))
    [told] = verifier.verify([german], context)
    assert isinstance(told, Failure)
    assert told.kind == "language"


def test_a_model_that_is_damaged_is_told(done: Path, tmp_path: Path) -> None:
    """When it is first asked, by its folder, with what to do."""
    shutil.copytree(done / "onnx", tmp_path / "onnx")
    for file in (tmp_path / "onnx").glob("*.onnx"):
        file.write_bytes(file.read_bytes()[:1_000])
    verifier = Nli(tmp_path / "onnx")
    # said in other words: what stands there word for word is not read by a model
    claim = Claim(id="1", text="On weekdays the ferry leaves from 9:00.", span=(0, 1))

    with pytest.raises(ConfigError, match="damaged or missing"):
        verifier.verify([claim], Context([Passage(text=SAID[0])]))
