"""A trained model -> ONNX files that need no torch.

In: a folder as `_model.save` writes it, and examples. Out: float32 and int8 ONNX files with the
inputs input_ids, attention_mask and token_type_ids (int64; pairs x word pieces) and the output
logits (float32; pairs x 3), and how far int8 agrees with float32 on the examples.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Collection, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithguard.errors import require
from faithguard.train import _model
from faithguard.train._batches import Batch

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = [
    "Agreement",
    "FLOAT32",
    "INT8",
    "agreement",
    "export",
    "narrowing",
    "probabilities",
    "quantise",
]

FLOAT32, INT8 = "model.float32.onnx", "model.int8.onnx"

_OPSET = 17
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How alike two files judge the same pairs.

    Attributes:
        pairs: How many were judged.
        labels: The share that both give the same of the three labels.
        decisions: The share that both put on the same side of 0.5 for entailment.
        mean, largest: Differences of the probability of entailment.
    """

    pairs: int
    labels: float
    decisions: float
    mean: float
    largest: float


def export(folder: Path, path: Path) -> None:
    """Write the model of a folder as float32 ONNX, for any number and length of pairs."""
    torch: Any = require("torch", extra="train")
    require("onnx", extra="train")
    model = _model.load(folder, seed=0, device="cpu").eval()
    model.set_attn_implementation("eager")  # what the tracer can follow, in every version
    example = torch.tensor([[1, 2, 3, 2, 4, 2], [1, 2, 3, 4, 5, 2]]) % model.config.vocab_size
    mask = torch.tensor([[1] * 5 + [0], [1] * 6])
    kinds = torch.tensor([[0, 0, 0, 0, 1, 1]] * 2)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _silence():
        torch.onnx.export(
            _logits_of(model),
            (example, mask, kinds),
            str(path),
            input_names=list(_INPUTS),
            output_names=["logits"],
            dynamic_axes={
                **{name: {0: "pairs", 1: "pieces"} for name in _INPUTS},
                "logits": {0: "pairs"},
            },
            opset_version=_OPSET,
            dynamo=False,
        )


def _logits_of(model: Any) -> Any:
    """Return a module with plain inputs and one plain output."""
    torch: Any = require("torch", extra="train")

    def forward(_self: object, ids: Any, mask: Any, kinds: Any) -> Any:
        return model(input_ids=ids, attention_mask=mask, token_type_ids=kinds).logits

    wrapped = type("Logits", (torch.nn.Module,), {"forward": forward})()
    wrapped.model = model
    return wrapped.eval()


def quantise(source: Path, path: Path, *, keep: Collection[str] = ()) -> None:
    """Write an int8 version of an ONNX file: weights in 7 bits, a scale for each column.

    The eighth bit is left out: processors without VNNI add products of 8 bits in 16, and what
    overflows there would make the same file judge differently on different machines.

    Args:
        source: The float32 file.
        path: The int8 file.
        keep: Nodes that stay in float32.
    """
    quantization: Any = require("onnxruntime.quantization", extra="train")
    with _silence():
        quantization.quantize_dynamic(
            str(source),
            str(path),
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
            nodes_to_exclude=list(keep),
        )


def narrowing(path: Path) -> list[str]:
    """Return the products of an ONNX file whose result is narrower than what goes in.

    In a transformer these are the second halves of its feed-forward layers: a few of their
    inputs are far larger than all others, so one scale for all leaves the rest few steps.
    Source: Bondarenko et al., Understanding and overcoming the challenges of efficient
    transformer quantization (2021).
    """
    onnx: Any = require("onnx", extra="train")
    graph = onnx.load(str(path)).graph
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    found: list[str] = []
    for node in graph.node:
        shape = shapes.get(node.input[1], []) if node.op_type == "MatMul" else []
        if len(shape) == 2 and shape[0] > shape[1]:
            found.append(str(node.name))
    return found


def probabilities(path: Path, batches: Iterable[Batch], *, pad: int) -> list[tuple[float, ...]]:
    """Return for each pair the probabilities of the three labels that an ONNX file gives."""
    ort: Any = require("onnxruntime", extra="train")
    numpy: Any = require("numpy", extra="train")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    found: list[tuple[float, ...]] = []
    for batch in batches:
        fields = _model.padded(batch, pad)
        given = {name: numpy.array(fields[name], dtype=numpy.int64) for name in _INPUTS}
        found += [_softmax(row) for row in session.run(["logits"], given)[0].tolist()]
    return found


def agreement(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]
) -> Agreement | None:
    """Compare the probabilities that two files give the same pairs; None without pairs."""
    if not ours:
        return None
    both = list(zip(ours, theirs, strict=True))
    off = [abs(a[0] - b[0]) for a, b in both]
    return Agreement(
        pairs=len(both),
        labels=sum(_best(a) == _best(b) for a, b in both) / len(both),
        decisions=sum((a[0] >= 0.5) == (b[0] >= 0.5) for a, b in both) / len(both),
        mean=sum(off) / len(off),
        largest=max(off),
    )


def _best(p: Sequence[float]) -> int:
    return max(range(len(p)), key=lambda n: p[n])


def _softmax(logits: Sequence[float]) -> tuple[float, ...]:
    top = max(logits)
    powers = [math.exp(value - top) for value in logits]
    return tuple(power / sum(powers) for power in powers)


@contextmanager
def _silence() -> Generator[None]:
    """Keep the notes of exporters, which tell nothing that a user could act on, off stderr."""
    disabled = logging.root.manager.disable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(disabled)
