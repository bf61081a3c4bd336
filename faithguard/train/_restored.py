"""An ONNX file that `_export` wrote -> the weights of the model that it was made from.

In: the file, float32 or int8. Out: tensors by their names in torch. Of int8 they are what serving
computes with, so that a model that goes on from them begins where the served one stands.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from faithguard.errors import require

__all__ = ["SCALE", "STEPS", "restored"]

STEPS, SCALE = "_int8", "_scale"
"""What the names of int8 weights and of their scales end with."""

_WRAPPED = "model."
"""`_export` puts the model in a module of this name."""


def restored(path: Path) -> dict[str, Any]:
    """Return the tensors of a file.

    Those that a MatMul multiplies by stand there transposed and without their name; the node's
    own name tells which they are.
    """
    onnx: Any = require("onnx", extra="train")
    torch: Any = require("torch", extra="train")
    graph = onnx.load(str(path)).graph
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    whole = {name: values for name, values in stored.items() if not name.endswith((STEPS, SCALE))}
    for name, steps in stored.items():
        if name.endswith(STEPS):
            bare = name.removesuffix(STEPS)
            whole[bare] = steps.astype("float32") * stored[f"{bare}{SCALE}"]
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in whole:
            place = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".")
            whole[f"{place}.weight"] = whole.pop(node.input[1]).T
    return {
        name.removeprefix(_WRAPPED): torch.tensor(values)
        for name, values in whole.items()
        if name.startswith(_WRAPPED)
    }
