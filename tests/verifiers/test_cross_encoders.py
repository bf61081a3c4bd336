"""Other people's NLI models: tiny ones made here, in both formats, from a folder and from a hub."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import pytest

from faithguard import Claim, ConfigError, Passage, Verdict
from faithguard.testing import check_verifier
from faithguard.verifiers import Context
from faithguard.verifiers.nli import Model, Nli, served

for _name in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(_name, reason="pip install 'faithguard[train]' brings what makes models")

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]

TEXTS = (
    "The gate of the mill opens at nine.",
    "Bread is baked on Mondays and sold until noon.",
    "Dogs stay outside.",
)
PAIRS = [(TEXTS[0], "The gate opens at nine."), (TEXTS[1], "Dogs are sold."), (TEXTS[2], "Bread.")]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def made(folder: Path, kind: str, labels: list[str]) -> Any:
    """Write a tiny model of a kind with random weights, and return it."""
    import tokenizers
    import torch
    import transformers

    words: Any = tokenizers.BertWordPieceTokenizer()
    words.train_from_iterator(TEXTS, vocab_size=200, min_frequency=1, show_progress=False)
    folder.mkdir(parents=True)
    words.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 40}))
    torch.manual_seed(3)
    shape: dict[str, Any] = {
        "vocab_size": words.get_vocab_size(),
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 66,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: n for n, label in enumerate(labels)},
        "initializer_range": 1.0,
    }
    kinds: dict[str, tuple[Any, Any]] = {
        "bert": (transformers.BertConfig, transformers.BertForSequenceClassification),
        "roberta": (transformers.RobertaConfig, transformers.RobertaForSequenceClassification),
    }
    config, model = kinds[kind]
    extra = {"type_vocab_size": 1, "pad_token_id": 1} if kind == "roberta" else {}
    network = model(config(**shape, **extra)).eval()
    network.save_pretrained(folder)
    return network


def said(folder: Path, network: Any) -> list[list[float]]:
    """Return what the network itself says of each pair alone, in the order of its labels."""
    import tokenizers
    import torch

    words: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    found: list[list[float]] = []
    for pair in PAIRS:
        coded = words.encode(*pair)
        given = {"input_ids": torch.tensor([coded.ids])}
        if network.config.type_vocab_size > 1:
            given["token_type_ids"] = torch.tensor([coded.type_ids])
        with torch.inference_mode():
            found.append(torch.softmax(network(**given).logits[0], 0).tolist())
    return found


def exported(folder: Path, network: Any) -> None:
    """Put an ONNX file in the place of the safetensors; without the input that RoBERTa lacks."""
    import torch

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, ids: Any, mask: Any) -> Any:
            return self.network(input_ids=ids, attention_mask=mask).logits

    network.set_attn_implementation("eager")
    (folder / "onnx").mkdir()
    torch.onnx.export(
        Logits(),
        (torch.tensor([[1, 2, 3], [2, 3, 4]]), torch.ones(2, 3, dtype=torch.int64)),
        str(folder / "onnx" / "model.onnx"),
        input_names=["input_ids", "attention_mask"],
        output_names=["logits"],
        dynamic_axes={n: {0: "pairs", 1: "pieces"} for n in ("input_ids", "attention_mask")},
        opset_version=17,
        dynamo=False,
    )
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    ("kind", "form"), [("bert", "safetensors"), ("roberta", "safetensors"), ("roberta", "onnx")]
)
def test_it_says_what_the_model_says(tmp_path: Path, kind: str, form: str) -> None:
    """In whatever order its labels stand, and together as alone."""
    folder = tmp_path / "model"
    network = made(folder, kind, ["CONTRADICTION", "Entailment", "neutral"])
    expected = said(folder, network)
    if form == "onnx":
        exported(folder, network)
    about = served(folder)
    scores = Model(about).read(PAIRS)

    assert about.kind == form
    for score, (contradiction, entailment, neutral) in zip(scores, expected, strict=True):
        assert score is not None
        assert score == pytest.approx((entailment, neutral, contradiction), abs=1e-4)


def test_a_model_with_two_labels(tmp_path: Path) -> None:
    """What is not entailed may be neutral or contradicted: nothing is said of the latter."""
    folder = tmp_path / "model"
    expected = said(folder, made(folder, "bert", ["not_entailment", "entailment"]))
    scores = Model(served(folder)).read(PAIRS)

    for score, (rest, entailment) in zip(scores, expected, strict=True):
        assert score == pytest.approx((entailment, rest, 0.0), abs=1e-4)


def test_it_is_a_verifier(tmp_path: Path) -> None:
    """It keeps the contract, and is told from others by its name."""
    made(tmp_path / "a", "bert", ["entailment", "neutral", "contradiction"])
    made(tmp_path / "b", "bert", ["neutral", "entailment", "contradiction"])
    one, other = Nli(tmp_path / "a"), Nli(tmp_path / "b")
    check_verifier(one)

    assert one.name != other.name
    claim = Claim(id="c1", text="Dogs stay outside.", span=(0, 18), kind="fact")
    (found,) = one.verify([claim], Context([Passage(text=TEXTS[2])]))
    assert isinstance(found, Verdict)


def test_a_pair_that_is_too_long_is_not_cut(tmp_path: Path) -> None:
    """The tokenizer's limit counts where it is below the places of the model."""
    folder = tmp_path / "model"
    made(folder, "bert", ["entailment", "neutral", "contradiction"])

    assert Model(served(folder)).read([(TEXTS[0], "Bread. " * 30), PAIRS[0]])[0] is None


def test_labels_that_say_nothing_must_be_explained(tmp_path: Path) -> None:
    """The message names them; a map that explains them is taken."""
    folder = tmp_path / "model"
    made(folder, "bert", ["LABEL_0", "LABEL_1", "LABEL_2"])
    meant = {"LABEL_0": "neutral", "LABEL_1": "contradiction", "LABEL_2": "entailment"}

    with pytest.raises(ConfigError, match=r"\['LABEL_0', 'LABEL_1', 'LABEL_2'\]: say what"):
        Nli(folder)
    with pytest.raises(ConfigError, match="say what they mean"):
        Nli(folder, labels={**meant, "LABEL_1": "neutral"})
    assert served(folder, labels=meant).labels == ("neutral", "contradiction", "entailment")
    with pytest.raises(ConfigError, match="`labels` names 'LABEL_7'"):
        Nli(folder, labels={**meant, "LABEL_7": "neutral"})
    with pytest.raises(ConfigError, match="`labels` is of type list"):
        Nli(folder, labels=cast(Any, ["entailment"]))


def test_weights_that_can_hold_code_are_not_read(tmp_path: Path) -> None:
    """A pickle beside the config is as good as no weights."""
    folder = tmp_path / "model"
    made(folder, "bert", ["entailment", "neutral", "contradiction"])
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")

    with pytest.raises(ConfigError, match="they can hold code"):
        Nli(folder)


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    """With the folder's name."""
    folder = tmp_path / "model"
    made(folder, "bert", ["entailment", "neutral", "contradiction"])
    (folder / "model.safetensors").write_bytes(b"\x00" * 64)

    with pytest.raises(ConfigError, match="cannot be loaded"):
        Model(served(folder)).read(PAIRS)


@pytest.mark.parametrize("revision", [None, "main", "v1.0", COMMIT[:12]])
def test_a_hub_is_asked_for_a_commit_only(revision: str | None) -> None:
    """A branch or a tag may hold something else tomorrow."""
    with pytest.raises(ConfigError, match="pin it: revision= the 40 hex digits"):
        Nli("somebody/some-nli", revision=revision)


def test_a_name_that_is_neither(tmp_path: Path) -> None:
    """No folder, and nothing that a hub could know."""
    with pytest.raises(ConfigError, match="no hub's 'owner/name'"):
        Nli(tmp_path / "absent")
    with pytest.raises(ConfigError, match="is a folder here"):
        Nli(tmp_path, revision=COMMIT)


class _Hub(http.server.BaseHTTPRequestHandler):
    """Serve one folder in the way that hubs do."""

    folder: Path
    asked: list[str]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = unquote(self.path.partition("?")[0])
        self.asked.append(path)
        names = sorted(file.name for file in self.folder.iterdir())
        if path == f"/api/models/somebody/some-nli/revision/{COMMIT}":
            files = [{"rfilename": name} for name in names]
            about = {"id": "somebody/some-nli", "sha": COMMIT, "siblings": files}
            self._send(json.dumps(about).encode(), "application/json", body=body)
        elif path.startswith(f"/api/models/somebody/some-nli/tree/{COMMIT}"):
            tree = [
                {
                    "type": "file",
                    "path": name,
                    "size": (self.folder / name).stat().st_size,
                    "oid": "0" * 40,
                }
                for name in names
            ]
            self._send(json.dumps(tree).encode(), "application/json", body=body)
        elif path.rpartition("/")[2] in names and f"/resolve/{COMMIT}/" in path:
            data = (self.folder / path.rpartition("/")[2]).read_bytes()
            self._send(data, "application/octet-stream", body=body)
        else:
            self.send_error(404)

    def _send(self, data: bytes, kind: str, *, body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{len(data)}-{hash(data) & 0xFFFFFF:x}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    """Serve a model, beside weights that nobody should fetch; yield the address."""
    _Hub.folder, _Hub.asked = tmp_path / "there", []
    made(_Hub.folder, "bert", ["entailment", "neutral", "contradiction"])
    (_Hub.folder / "pytorch_model.bin").write_bytes(b"not asked for")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_model_from_a_hub(hub: str, tmp_path: Path) -> None:
    """Pinned, and without what holds code; the hub's address is read at import."""
    script = (
        "from faithguard.verifiers.nli import Model, served\n"
        f"about = served('somebody/some-nli', revision={COMMIT!r})\n"
        f"print(Model(about).read({PAIRS!r}))"
    )
    env = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "home")}
    env |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith(str(Model(served(_Hub.folder)).read(PAIRS)))
    assert not any("pytorch_model.bin" in path for path in _Hub.asked)
