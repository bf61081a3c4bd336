"""A folder or a hub id -> what must be known to serve a cross-encoder.

In: what `faithguard train` wrote, or any NLI model with three or two labels: a folder, or the id
of a model on a hub with the commit that it is pinned to. Out: `Served`: where the weights are,
what the labels mean, how much it reads. Weights are ONNX or safetensors; nothing is unpickled
and no code of a model is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from faithguard.errors import ConfigError

__all__ = ["LABELS", "Served", "served"]

LABELS = ("entailment", "neutral", "contradiction")

_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_FILES = ("model.onnx", "onnx/model.onnx", "model.safetensors")
"""Where other models keep their weights, in the order of preference."""

_MEANS = {
    "entail": "entailment",
    "contradict": "contradiction",
    "neutral": "neutral",
    "notentail": "neutral",
}
_MOST_PIECES = 100_000
"""A tokenizer without a limit states a far larger one."""


@dataclass(frozen=True, slots=True)
class Served:
    """What serves.

    Attributes:
        folder: With `tokenizer.json`.
        file: The weights.
        labels: What each logit means, in the order of the model.
        longest: Word pieces of a pair that the model has places for.
        languages: Codes that it was trained on; None for whatever comes.
        digest: What tells its verdicts from another's, eight hex digits.
    """

    folder: Path
    file: Path
    labels: tuple[str, ...]
    longest: int
    languages: tuple[str, ...] | None
    digest: str

    @property
    def kind(self) -> Literal["onnx", "safetensors"]:
        """Which library reads the weights."""
        return "onnx" if self.file.suffix == ".onnx" else "safetensors"


def served(
    model: str | os.PathLike[str],
    *,
    revision: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Served:
    """Describe a model, and bring it here if it is on a hub; blocking.

    Args:
        model: A folder, or the id of a model on a hub ("owner/name").
        revision: The commit that a hub's model is pinned to, 40 hex digits.
        labels: The model's own labels -> "entailment", "neutral", "contradiction"; needed only
            where its config does not name them so.

    Raises:
        ConfigError: If there is no such model, it is not pinned, or its labels are not known.
    """
    folder = _folder(model, revision)
    if labels is not None and not isinstance(cast(object, labels), Mapping):
        raise ConfigError(
            f"`labels` is of type {type(labels).__name__}: pass a dict of the model's own labels "
            "and what they mean"
        )
    if not (folder / "model.json").is_file():
        return _another(folder, labels)
    if labels is not None:
        raise ConfigError(
            f"{os.fspath(model)!r} says itself what its labels mean, so labels={labels!r} says "
            "nothing: leave it out"
        )
    return _ours(folder)


def _folder(model: str | os.PathLike[str], revision: str | None) -> Path:
    path = Path(model)
    if path.is_dir():
        if revision is not None:
            raise ConfigError(
                f"{str(model)!r} is a folder here, so revision={revision!r} says nothing: leave "
                "it out"
            )
        return path.resolve()
    name = os.fspath(model)
    if not _HUB_ID.fullmatch(name):
        raise ConfigError(f"there is no folder {name!r}, and it is no hub's 'owner/name' either")
    if revision is None or not _COMMIT.fullmatch(revision):
        raise ConfigError(
            f"{name!r} is no folder here; to have it from a hub pin it: revision= the 40 hex "
            f"digits of a commit, got {revision!r}"
        )
    hub: Any = import_module("huggingface_hub")
    try:
        return Path(
            hub.snapshot_download(
                name, revision=revision, allow_patterns=["config.json", "tokenizer*", *_FILES]
            )
        )
    except Exception as error:  # the hub's library raises kinds of several others
        raise ConfigError(
            f"{name!r} at {revision[:8]} cannot be had from the hub ({type(error).__name__}): "
            "check name, revision and network, or name a folder"
        ) from error


def _ours(folder: Path) -> Served:
    """Describe what `faithguard train` wrote."""
    try:
        held: dict[str, Any] = json.loads((folder / "model.json").read_text("utf-8"))
        file = folder / held["file"]
        if sorted(held["labels"]) != sorted(LABELS):
            raise ValueError
        if not file.is_file():
            raise FileNotFoundError
        return Served(
            folder=folder,
            file=file,
            labels=tuple(held["labels"]),
            longest=512,  # of the encoder; what it was trained on is shorter
            languages=tuple(held.get("languages") or ()) or None,
            digest=_digest(folder / "model.json", folder / "fusion.json"),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{str(folder)!r} holds no model: name the `onnx` folder that `faithguard train` "
            "wrote, with model.json and the file that it names"
        ) from error


def _another(folder: Path, labels: Mapping[str, str] | None) -> Served:
    """Describe a model in the form that hubs keep them in."""
    file = next((folder / name for name in _FILES if (folder / name).is_file()), None)
    if file is None or not (folder / "tokenizer.json").is_file():
        raise ConfigError(
            f"{str(folder)!r} holds no model: name the `onnx` folder that `faithguard train` "
            f"wrote, or one with config.json, tokenizer.json and {' or '.join(_FILES)} (other "
            "formats are not read: they can hold code)"
        )
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
        written = cast("dict[str, str]", config["id2label"])
        names = [str(written[key]) for key in sorted(written, key=int)]
        longest = int(config.get("max_position_embeddings", _MOST_PIECES))
        if "roberta" in str(config.get("model_type", "")):
            longest -= 2  # its places begin behind the one of the pad
        return Served(
            folder=folder,
            file=file,
            labels=_meant(folder, names, labels or {}),
            longest=min(longest, _limit(folder)),
            languages=None,
            digest=_digest(folder / "config.json", file),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"the config.json in {str(folder)!r} cannot be read, or names no labels (id2label): "
            "name the folder of a sequence classifier"
        ) from error


def _meant(folder: Path, names: list[str], given: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the labels of a model mean, in its order."""
    strange = next((name for name in given if name not in names), None)
    if strange is not None:
        raise ConfigError(
            f"`labels` names {strange!r}, but the model in {str(folder)!r} has {names!r}: name "
            "these"
        )
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z]", "", name.lower()).removesuffix("ment").removesuffix("ion")
        found.append(given.get(name) or _MEANS.get(plain, ""))
    if "entailment" not in found or not set(found) <= set(LABELS) or len(set(found)) < len(found):
        raise ConfigError(
            f"the model in {str(folder)!r} has the labels {names!r}: say what they mean, such as "
            f"labels={{{names[0]!r}: 'entailment', ...}}; each means another of "
            f"{', '.join(LABELS)}"
        )
    return tuple(found)


def _limit(folder: Path) -> int:
    """Return how many pieces the tokenizer says that its model reads."""
    path = folder / "tokenizer_config.json"
    if not path.is_file():
        return _MOST_PIECES
    return min(int(json.loads(path.read_text("utf-8")).get("model_max_length", 10**9)), 10**9)


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        if path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]
