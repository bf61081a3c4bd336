"""Pairs of texts -> what a cross-encoder says of them.

In: (premise, hypothesis) pairs. Out: for each the probabilities of entailment, neutral and
contradiction. The model is what `served` describes: a tokenizer, and an ONNX file, or weights that
torch reads, with the inputs input_ids, attention_mask and mostly token_type_ids (int64; pairs x
pieces) and logits (pairs x labels).

Each pair is read alone, by a small pool of threads over one session: in a batch int8 scales and
padding would let what is said of a pair depend on its neighbours, and on a CPU one thread for
each pair is no slower.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, NamedTuple

from faithguard._fork import reset_in_child
from faithguard.errors import ConfigError, MissingExtraError, require
from faithguard.verifiers.nli._served import LABELS, Served

__all__ = ["Model", "Scores"]

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Scores(NamedTuple):
    """Probabilities in [0, 1] that sum to 1."""

    entailment: float
    neutral: float
    contradiction: float


class Model:
    """A cross-encoder; loaded when it is first asked, once, whoever asks first.

    Args:
        served: Where it is, and what its labels mean.
        threads: Pairs that are read at once; one for each core by default.

    Raises:
        ConfigError: If a file is damaged (on the first call).
        MissingExtraError: If what reads the weights is not installed (on the first call).
    """

    def __init__(self, served: Served, *, threads: int | None = None) -> None:
        self._served = served
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
        coded = loaded.encode(pairs)
        fitting = {n: pair for n, pair in enumerate(coded) if len(pair.ids) <= self._served.longest}
        # the longest first, so that no thread is left with one at the end
        order = sorted(fitting, key=lambda n: -len(fitting[n].ids))
        said = loaded.said([coded[n] for n in order])
        found = dict(zip(order, said, strict=True))
        return [found.get(n) for n in range(len(pairs))]

    def _ready(self) -> _Loaded:
        loaded = self._loaded
        if loaded is None:
            with self._lock:
                loaded = self._loaded or _Loaded(self._served, self._threads)
                self._loaded = loaded
        return loaded


class _Loaded:
    """Tokenizer, weights and threads."""

    def __init__(self, served: Served, threads: int) -> None:
        self._numpy: Any = import_module("numpy")
        tokenizers: Any = import_module("tokenizers")
        try:
            path = str(served.folder / "tokenizer.json")
            self.tokenizer: Any = tokenizers.Tokenizer.from_file(path)
            self.tokenizer.no_padding()
            self.tokenizer.no_truncation()
            self._logits = (_of_onnx if served.kind == "onnx" else _of_torch)(served)
        except MissingExtraError:
            raise
        except Exception as error:  # the libraries raise kinds of their own
            raise ConfigError(
                f"the model in {str(served.folder)!r} cannot be loaded ({type(error).__name__}): a "
                "file is damaged or missing; write it again"
            ) from error
        # a label that the model lacks reads the zero behind its own
        self._order = [
            served.labels.index(label) if label in served.labels else len(served.labels)
            for label in LABELS
        ]
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="faithguard-nli")

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        """Return the pieces of each pair."""
        coded: list[Any] = self.tokenizer.encode_batch(list(pairs))
        return coded

    def said(self, coded: Sequence[Any]) -> list[Scores]:
        """Return what is said of pairs, in order; several are read at once."""
        return list(self._pool.map(self._said, coded))

    def _said(self, pair: Any) -> Scores:
        np = self._numpy
        fields = zip(_INPUTS, (pair.ids, [1] * len(pair.ids), pair.type_ids), strict=True)
        given = {name: np.array([values], dtype=np.int64) for name, values in fields}
        logits = self._logits(given)[0].astype(np.float64)
        powers = np.exp(logits - logits.max())
        shares = [*(powers / powers.sum()).tolist(), 0.0]
        return Scores(*(shares[place] for place in self._order))


def _of_onnx(served: Served) -> Callable[[dict[str, Any]], Any]:
    """Return what computes logits by ONNX Runtime."""
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        str(served.file), options, providers=["CPUExecutionProvider"]
    )
    known = {field.name for field in session.get_inputs()}

    def logits(fields: dict[str, Any]) -> Any:
        return session.run(["logits"], {n: v for n, v in fields.items() if n in known})[0]

    return logits


def _of_torch(served: Served) -> Callable[[dict[str, Any]], Any]:
    """Return what computes logits by torch, from safetensors, with no code but that library's."""
    torch: Any = require("torch", extra="train")
    transformers: Any = require("transformers", extra="train")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        str(served.folder), use_safetensors=True, trust_remote_code=False, local_files_only=True
    ).eval()
    # those of several kinds of text only; the others refuse what they do not read
    kinds = int(getattr(model.config, "type_vocab_size", 0) or 0) > 1

    def logits(fields: dict[str, Any]) -> Any:
        given = {n: torch.from_numpy(v) for n, v in fields.items() if kinds or n[0] != "t"}
        with torch.inference_mode():
            return model(**given).logits.float().numpy()

    return logits
