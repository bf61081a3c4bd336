"""Pairs of texts -> what a cross-encoder says of them.

In: (premise, hypothesis) pairs. Out: for each the probabilities of entailment, neutral and
contradiction. The model is a folder that `faithguard train` wrote: `tokenizer.json`, `model.json`,
and an ONNX file with the inputs input_ids, attention_mask and token_type_ids (int64; pairs x
pieces) and the output logits (pairs x 3).

On a CPU a batch of pairs of unlike lengths is slower than one pair after the other, and one
thread for each pair faster than many threads for one: pairs are sorted by length, put into
small batches, and these go to a small pool of threads over one session.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from faithguard._fork import reset_in_child
from faithguard.errors import ConfigError, require

__all__ = ["LABELS", "Model", "Scores", "settings_of"]

LABELS = ("entailment", "neutral", "contradiction")

_LONGEST = 512
"""Word pieces of a pair that the encoder has places for."""

_BATCH = 4
_PADDING = 1.25
"""A batch may be this much longer than its shortest pair."""

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Scores(NamedTuple):
    """Probabilities in [0, 1] that sum to 1."""

    entailment: float
    neutral: float
    contradiction: float


class Model:
    """A cross-encoder in a folder; loaded when it is first asked, once, whoever asks first.

    Args:
        folder: What `faithguard train` wrote.
        threads: Pairs that are read at once; one for each core by default.

    Raises:
        ConfigError: If the folder lacks a file, or a file is damaged (on the first call).
    """

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        self._folder = folder
        self._threads = threads or os.cpu_count() or 1
        self._lock = threading.Lock()  # one loads, the others wait
        self._loaded: _Loaded | None = None
        reset_in_child(self)

    def after_fork(self) -> None:
        """Load anew in a forked child: threads and what they hold do not come along."""
        self._lock = threading.Lock()
        self._loaded = None

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Scores | None]:
        """Return what is said of each pair, in order; blocking.

        None for a pair that is longer than the model can read: nothing is cut.
        """
        if not pairs:
            return []
        loaded = self._ready()
        coded = loaded.tokenizer.encode_batch(list(pairs))
        found: dict[int, Scores] = {}
        batches = list(_batches({n: len(pair.ids) for n, pair in enumerate(coded)}))
        read = loaded.pool.map(loaded.run, ([coded[n] for n in batch] for batch in batches))
        for batch, scores in zip(batches, read, strict=True):
            found.update(zip(batch, scores, strict=True))
        return [found.get(n) for n in range(len(pairs))]

    def _ready(self) -> _Loaded:
        loaded = self._loaded
        if loaded is None:
            with self._lock:
                loaded = self._loaded or _Loaded(self._folder, self._threads)
                self._loaded = loaded
        return loaded


def _batches(lengths: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield the numbers of pairs that are read together, the longest first."""
    fitting = (n for n, length in lengths.items() if length <= _LONGEST)
    order = sorted(fitting, key=lambda n: -lengths[n])
    batch: list[int] = []
    for n in order:
        if batch and (len(batch) == _BATCH or lengths[batch[0]] > _PADDING * lengths[n]):
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


class _Loaded:
    """Tokenizer, session and threads."""

    def __init__(self, folder: Path, threads: int) -> None:
        onnxruntime: Any = require("onnxruntime", extra="nli")
        tokenizers: Any = require("tokenizers", extra="nli")
        self._numpy: Any = require("numpy", extra="nli")
        settings = settings_of(folder)
        try:
            self.tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            self.tokenizer.no_padding()
            self.tokenizer.no_truncation()
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(
                str(folder / settings["file"]), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise kinds of their own
            raise ConfigError(
                f"the model in {str(folder)!r} cannot be loaded ({type(error).__name__}): a file "
                "is damaged or missing; have `faithguard train` write it again"
            ) from error
        self._order = [settings["labels"].index(label) for label in LABELS]
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="faithguard-nli")

    def run(self, pairs: Sequence[Any]) -> list[Scores]:
        """Return what is said of the pairs of one batch."""
        np = self._numpy
        longest = max(len(pair.ids) for pair in pairs)
        fields = {name: np.zeros((len(pairs), longest), dtype=np.int64) for name in _INPUTS}
        for row, pair in enumerate(pairs):
            size = len(pair.ids)
            fields["input_ids"][row, :size] = pair.ids
            fields["attention_mask"][row, :size] = 1
            fields["token_type_ids"][row, :size] = pair.type_ids
        logits = self._session.run(["logits"], fields)[0].astype(np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = (powers / powers.sum(axis=1, keepdims=True))[:, self._order]
        return [Scores(*row) for row in shares.tolist()]


def settings_of(folder: Path) -> dict[str, Any]:
    """Return what `model.json` says of a model.

    Raises:
        ConfigError: If the folder holds no model.
    """
    try:
        settings: dict[str, Any] = json.loads((folder / "model.json").read_text("utf-8"))
        if sorted(settings["labels"]) != sorted(LABELS):
            raise ValueError
        if not (folder / settings["file"]).is_file():
            raise FileNotFoundError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{str(folder)!r} holds no model: name the `onnx` folder that `faithguard train` "
            "wrote, with model.json and the file that it names"
        ) from error
    return settings
