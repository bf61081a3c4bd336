"""Labelled pairs -> a local NLI model.

In: a file of claims with their contexts and labels, and an encoder. Out: a folder with a
three-class cross-encoder, its ONNX files and a card. Needs `pip install 'faithguard[train]'`;
importing this package alone loads nothing of it.

    faithguard train --data labelled.jsonl --out model_dir
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithguard.train._settings import Settings

if TYPE_CHECKING:
    from faithguard.train._trainer import Outcome

__all__ = ["Settings", "train"]


def train(settings: Settings) -> Outcome:
    """Train a model, or go on with one; blocking.

    Raises:
        MissingExtraError: If torch or another package of the extra `train` is missing.
        ConfigError: If data, encoder or folder cannot be used.
    """
    from faithguard.train._trainer import train as run

    return run(settings)
