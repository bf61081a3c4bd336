"""A run that is done -> the folder to serve from.

In: the best model and the parts held apart. Out: `onnx/` with the model in float32 and int8, its
tokenizer, calibration, fusion, and card, and the config that a further run begins with.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from faithguard.train import _model
from faithguard.train._batches import Batch, Encoder, batches_of
from faithguard.train._calibration import Logistic, fit, log_odds, reliability
from faithguard.train._card import Card, licences, sets_of, versions
from faithguard.train._examples import Example
from faithguard.train._export import (
    FLOAT32,
    INT8,
    agreement,
    export,
    probabilities,
    quantise,
)
from faithguard.train._fusion import fuse
from faithguard.train._rows import Parts
from faithguard.train._settings import Settings

__all__ = ["LEAST_AGREEMENT", "MEAN", "finish"]

MEAN = "mean"
"""The folder, in that of the run, of the mean with the model that the run began from."""

LEAST_AGREEMENT = 0.985
"""Share of pairs on which int8 must give the label that float32 gives, to be served instead."""


def finish(
    settings: Settings,
    parts: Parts,
    choosing: Sequence[Example],
    calibration: Sequence[Example],
    *,
    figures: Mapping[str, float | None],
    trained: Mapping[str, float],
) -> Path:
    """Write all that serving needs and return its folder."""
    source, folder = settings.out / (MEAN if settings.keep else "model"), settings.out / "onnx"
    folder.mkdir(parents=True, exist_ok=True)
    export(source, folder / FLOAT32)
    tokenizer = folder / "tokenizer.json"
    shutil.copyfile(source / "tokenizer.json", tokenizer)
    shutil.copyfile(source / "config.json", folder / "config.json")

    encoder, pad = Encoder(tokenizer, longest=settings.longest), _model.pad_of(source)
    held = list(batches_of(choosing, encoder, budget=settings.budget))
    full = probabilities(folder / FLOAT32, held, pad=pad)
    quantise(folder / FLOAT32, folder / INT8)
    small = probabilities(folder / INT8, held, pad=pad)
    alike = agreement(full, small)
    served = INT8 if alike is not None and alike.labels >= LEAST_AGREEMENT else FLOAT32

    apart = list(batches_of(calibration, encoder, budget=settings.budget))
    model = _calibrated(apart, probabilities(folder / served, apart, pad=pad))
    measured = small if served == INT8 else full
    pairs = [
        (p if model is None else model.p({"log_odds": log_odds(p)}), supported)
        for p, supported in zip([row[0] for row in measured], _supported(held), strict=True)
    ]
    sets = sets_of(parts.training)
    Card(
        labels=_model.LABELS,
        base=_named(_model.base(settings.init)),
        file=served,
        digest=_digest(folder / served),
        settings=settings,
        sets=sets,
        licences=licences(settings.licences, list(sets)),
        choosing=figures,
        agreement=alike,
        calibration=model,
        reliability=reliability(pairs),
        trained=trained,
        versions=versions(),
    ).write(folder)
    fuse(folder, parts.calibration, seed=settings.seed)
    return folder


def _calibrated(batches: Sequence[Batch], p: Sequence[Sequence[float]]) -> Logistic | None:
    """Return what turns the model's probability into one that can be read, if it can be had."""
    labels = _supported(batches)
    if not 0 < sum(labels) < len(labels):
        return None
    return fit(
        [
            ({"log_odds": log_odds(row[0])}, supported)
            for row, supported in zip(p, labels, strict=True)
        ]
    )


def _supported(batches: Sequence[Batch]) -> list[bool]:
    return [target == "e" for batch in batches for target in batch.targets]


def _named(folder: Path) -> str:
    """Return what tells an encoder from others: no path, which says nothing elsewhere."""
    names = (folder.parent.name, folder.name)
    name = names[0] if names[1] == "model" else names[1]
    return f"{name} (weights {_digest(_model.weights(folder))[:12]})"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
