"""A trained model -> ONNX files that need no torch.

In: a folder as `_model.save` writes it, and examples. Out: float32 and int8 ONNX files with the
inputs input_ids, attention_mask and token_type_ids (int64; pairs x word pieces) and the output
logits (float32; pairs x 3), and how far int8 agrees with float32 on the examples.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithguard.errors import require
from faithguard.train import _model
from faithguard.train._batches import Batch
from faithguard.train._restored import SCALE, STEPS

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = [
    "Agreement",
    "FLOAT32",
    "INT8",
    "agreement",
    "export",
    "probabilities",
    "quantise",
]

FLOAT32, INT8 = "model.float32.onnx", "model.int8.onnx"

_OPSET = 17
_SMALL = 4_096
"""Weights of a tensor that is left as it is: nothing would be saved."""

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


def quantise(source: Path, path: Path) -> None:
    """Write an ONNX file whose large weights are int8, with a scale for each column or table row.

    Computing stays in float32: products are widened once, when the file is loaded, and rows of
    tables when they are looked up. Integer arithmetic would save a third of the time here, and
    give other labels on 2% of the pairs, which ones by the processor: one scale for all activations
    of a layer leaves few steps to all but the largest. Source: Bondarenko et al., Understanding and
    overcoming the challenges of efficient transformer quantization (2021).

    Args:
        source: The float32 file.
        path: The int8 file.
    """
    onnx: Any = require("onnx", extra="train")
    model = onnx.load(str(source))
    graph = model.graph
    large = {
        tensor.name: onnx.numpy_helper.to_array(tensor)
        for tensor in graph.initializer
        if len(tensor.dims) == 2
        and tensor.data_type == onnx.TensorProto.FLOAT
        and math.prod(tensor.dims) > _SMALL
    }
    tables = {node.input[0] for node in graph.node if node.op_type == "Gather"} & large.keys()
    stored = [tensor for tensor in graph.initializer if tensor.name not in large]
    for name, weights in large.items():
        stored += _narrow(weights, name, by_row=name in tables)
    multiplied = {name for node in graph.node for name in node.input if node.op_type != "Gather"}
    widened = [made for name in large if name in multiplied for made in _widened(name, name)]
    nodes: list[Any] = []
    for node in graph.node:
        looks_up = node.op_type == "Gather" and node.input[0] in tables
        nodes += _looked_up(node, node.input[0]) if looks_up else [_copied(node)]
    for field, values in ((graph.initializer, stored), (graph.node, [*widened, *nodes])):
        del field[:]
        field.extend(values)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _narrow(weights: Any, name: str, *, by_row: bool) -> list[Any]:
    """Return weights as int8, and their scales."""
    onnx: Any = require("onnx", extra="train")
    numpy: Any = require("numpy", extra="train")
    scale = numpy.abs(weights).max(axis=1 if by_row else 0, keepdims=True) / 127.0
    scale = numpy.where(scale > 0.0, scale, 1.0).astype(numpy.float32)
    steps = numpy.clip(numpy.round(weights / scale), -127, 127).astype(numpy.int8)
    made = ((steps, f"{name}{STEPS}"), (scale, f"{name}{SCALE}"))
    return [onnx.numpy_helper.from_array(*one) for one in made]


def _widened(name: str, result: str) -> list[Any]:
    """Return what makes float32 of int8 weights."""
    make: Any = require("onnx", extra="train").helper.make_node
    return [
        make("Cast", [f"{name}{STEPS}"], [f"{name}_wide"], to=1),
        make("Mul", [f"{name}_wide", f"{name}{SCALE}"], [result]),
    ]


def _looked_up(node: Any, table: str) -> list[Any]:
    """Return what takes rows of an int8 table and makes float32 of them."""
    make: Any = require("onnx", extra="train").helper.make_node
    result = node.output[0]
    rows = [
        make("Gather", [f"{table}{end}", node.input[1]], [f"{result}{end}"], axis=0)
        for end in (STEPS, SCALE)
    ]
    return [*rows, *_widened(result, result)]


def _copied(node: Any) -> Any:
    """Return a node that outlives the list that it stands in."""
    copy = type(node)()
    copy.CopyFrom(node)
    return copy


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
