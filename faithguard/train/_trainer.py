"""Settings -> a trained model in a folder.

In: labelled rows and an encoder. Out: `model/` with the best weights, `checkpoint.safetensors`
from which a run goes on as if it had never stopped, and `log.jsonl`.

The learning rate follows how much of the run is done, by steps, epochs or minutes of training,
whichever is furthest, so that it has always fallen to nothing at the end, however busy the
machine was. A run that is bounded by steps or epochs gives the same model for the same seed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from faithguard.errors import ConfigError, require
from faithguard.train import _model
from faithguard.train._batches import Batch, Encoder, Position, batches_of, stream
from faithguard.train._examples import Composer, Example
from faithguard.train._figures import area, balanced, mean_over_sets
from faithguard.train._finish import MEAN, finish
from faithguard.train._meter import Meter
from faithguard.train._rows import Parts, Row, digest, read_rows, split
from faithguard.train._settings import Settings

__all__ = ["Outcome", "examples_of", "train"]

torch: Any = require("torch", extra="train")

_NEEDED = ("transformers", "tokenizers", "safetensors", "numpy", "onnx", "onnxruntime")
"""Imported before anything is done: what only the end needs must not be missing then."""

_CHECKPOINT = "checkpoint.safetensors"
_MOST_CHOOSING = 1_500
"""Examples held apart that choose the best model; more would tell little and cost minutes."""

_MOST_CALIBRATION = 3_000
"""Examples of the part held apart for calibration; two numbers are fitted on them."""

_PARTS = 4
"""Pieces of a batch, each of its own length."""

_CLIP = 1.0
_DECAY = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended.

    Attributes:
        folder: What to serve from, or the best model so far if the run is not finished.
        finished: False if it was interrupted and can be resumed.
        figures: Of the best model on the rows held apart for choosing.
    """

    folder: Path
    finished: bool
    figures: Mapping[str, float | None]


@dataclass(slots=True, kw_only=True)
class _State:
    """Where a run stands, all of it."""

    position: Position = field(default_factory=Position)
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    progress: float = 0.0
    """Epochs done."""
    looked: float = 0.0
    """The share of the run that was done at the last look at the rows held apart."""
    best: float | None = None
    since: int = 0
    """Looks since the best one."""
    figures: dict[str, float | None]
    precision: str = "float32"


def train(settings: Settings) -> Outcome:
    """Train a model, or go on with one; blocking.

    Interrupted (Ctrl-C, SIGTERM) it writes a checkpoint and returns.
    """
    for package in _NEEDED:
        require(package, extra="train")
    rows = read_rows(settings.data, settings.languages)
    _claim(settings, digest(rows))
    parts = split(rows)
    if not parts.training or not parts.choosing:
        raise ConfigError(
            f"{str(settings.data)!r} has {len(rows)} rows with too few different contexts to "
            "hold any apart; give more"
        )
    return _Run(settings, parts).run()


def examples_of(rows: tuple[Row, ...], *, seed: int, most: int | None = None) -> list[Example]:
    """Return the examples of a part that is held apart, the same ones each time."""
    chosen = list(rows)
    random.Random(seed).shuffle(chosen)  # noqa: S311
    composer = Composer(rows, seed=seed)
    made = [
        example
        for place, row in enumerate(chosen[:most])
        for example in composer.compose(row, epoch=-1, place=place)
    ]
    return made[:most]


class _Run:
    """One run: what `train` has at hand between two steps."""

    def __init__(self, settings: Settings, parts: Parts) -> None:
        self._settings = settings
        self._parts = parts
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._threads = settings.threads or os.cpu_count() or 1
        # parts of a batch run side by side, one thread each: on a machine that is shared, threads
        # that wait for each other in every operation are all as slow as the slowest
        torch.set_num_threads(1 if self._device == "cpu" else self._threads)
        torch.set_flush_denormal(True)
        folder = _model.base(settings.init)
        if settings.keep and not _model.judges(folder):
            raise ConfigError(
                f"keep is {settings.keep!r}, and {str(folder)!r} is an encoder that judges nothing "
                "yet; name a trained model with --init, or leave --keep out"
            )
        self._tokenizer = folder / "tokenizer.json"
        self._encoder = Encoder(self._tokenizer, longest=settings.longest)
        self._model = _model.load(folder, seed=settings.seed, device=self._device)
        self._trained = [p for p in self._model.parameters() if p.requires_grad]
        self._pad = int(self._model.config.pad_token_id or 0)
        self._optimiser = _optimiser(self._model, settings.rate)
        self._state = _State(figures={})
        self._stop = False
        self._rounding = False
        self._held: list[Batch] = []

    def run(self) -> Outcome:
        """Train until the end of the schedule, a lack of progress, or a signal."""
        settings, out = self._settings, self._settings.out
        if settings.resume and (out / _CHECKPOINT).is_file():
            self._state = _restore(out / _CHECKPOINT, self._model, self._optimiser)
            # a run that was done and now has a longer schedule must be looked at again
            self._state.looked = min(self._state.looked, self._done())
        else:
            self._state.precision = _model.precision_here(settings.precision, self._device)
        examples = examples_of(self._parts.choosing, seed=0, most=_MOST_CHOOSING)
        self._held = list(batches_of(examples, self._encoder, budget=settings.budget))
        meter = Meter(out / "log.jsonl")
        meter.say(
            f"{len(self._parts.training):,} rows on {self._device} in {self._state.precision}, "
            f"{len(examples):,} examples held apart"
        )
        finished = False
        with self._interruptible(), ThreadPoolExecutor(self._lanes()) as self._pool:
            finished = self._train(meter)
        if finished and self._state.looked < 1.0 and self._state.since < settings.patience:
            self._look(meter)
        self._save()
        if finished and settings.keep:
            self._keep()
        folder = self._finish(examples, meter) if finished else out / "model"
        meter.close()
        return Outcome(folder=folder, finished=finished, figures=self._state.figures)

    def _keep(self) -> None:
        """Write and measure the mean of the best model and of the one that the run began from."""
        settings = self._settings
        best, first = (
            _model.load(folder, seed=settings.seed, device=self._device).state_dict()
            for folder in (settings.out / "model", _model.base(settings.init))
        )
        self._model.load_state_dict(_model.mean(best, first, settings.keep))
        _model.save(self._model, settings.out / MEAN, self._tokenizer)
        _, self._state.figures = self._measured()

    def _finish(self, choosing: Sequence[Example], meter: Meter) -> Path:
        """Write the files to serve from."""
        state = self._state
        meter.say("exporting to ONNX, quantising, calibrating")
        return finish(
            self._settings,
            self._parts,
            choosing,
            examples_of(self._parts.calibration, seed=0, most=_MOST_CALIBRATION),
            figures=state.figures,
            trained={
                "steps": state.step,
                "epochs": state.progress,
                "tokens": state.tokens,
                "seconds": state.seconds,
            },
        )

    def _train(self, meter: Meter) -> bool:
        """Take steps; say whether the run is done."""
        settings, state = self._settings, self._state
        saved = time.monotonic()
        batches = stream(
            self._parts.training,
            Composer(self._parts.training, seed=settings.seed),
            self._encoder,
            budget=max(settings.budget // _PARTS, settings.longest),
            seed=settings.seed,
            start=state.position,
        )
        self._model.train()
        while (done := self._done()) < 1.0 and not self._stop:
            start = time.monotonic()
            if done >= 1.0 - settings.rounding and not self._rounding:
                self._rounding = True
                _model.round_inputs(self._model)
            parts = list(islice(batches, _PARTS))
            loss = self._step(parts, done)
            tokens = sum(part.tokens for part in parts)
            state.position, state.progress = parts[-1].after, parts[-1].progress
            state.step += 1
            state.tokens += tokens
            state.seconds += time.monotonic() - start
            shown = min(1.0, self._done())
            meter.step(loss, tokens, done=shown, step=state.step, epoch=state.progress)
            if self._done() - state.looked >= 1.0 / settings.looks and self._done() < 1.0:
                self._look(meter)
                if state.since >= settings.patience:
                    meter.say(f"no better model in {state.since} looks: stopped early")
                    return True
            if time.monotonic() - saved >= settings.save_seconds:
                self._save()
                saved = time.monotonic()
        return self._done() >= 1.0

    def _lanes(self) -> int:
        """Return how many parts of a batch run side by side."""
        return min(self._threads, _PARTS) if self._device == "cpu" else 1

    def _done(self) -> float:
        """Return the share of the run that is done."""
        settings, state = self._settings, self._state
        shares = [state.progress / settings.epochs]
        if settings.steps is not None:
            shares.append(state.step / settings.steps)
        if settings.minutes is not None:
            shares.append(state.seconds / 60.0 / settings.minutes)
        return max(shares)

    def _step(self, parts: Sequence[Batch], done: float) -> float:
        """Take one step on the parts of a batch and return their mean loss."""
        rate = self._settings.rate * _slope(done, self._settings.warmup)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        pairs = sum(len(part.pieces) for part in parts)
        total = 0.0
        # added in the order of the parts, whichever is done first: same seed, same model
        for loss, slopes in self._pool.map(self._slopes, parts, [pairs] * len(parts)):
            total += loss
            for parameter, slope in zip(self._trained, slopes, strict=True):
                if parameter.grad is None:
                    parameter.grad = slope
                elif slope is not None:
                    parameter.grad += slope
        torch.nn.utils.clip_grad_norm_(self._trained, _CLIP)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return total

    def _slopes(self, part: Batch, pairs: int) -> tuple[float, Sequence[Any]]:
        """Return what a part adds to the mean loss of a batch of `pairs`, and its gradients."""
        half = self._state.precision == "bfloat16"
        with torch.autocast(self._device, torch.bfloat16, enabled=half):
            logits = self._model(**_model.inputs(part, self._pad, self._device)).logits
        loss = _model.losses(logits, part.targets).sum() / pairs
        return float(loss.detach()), torch.autograd.grad(loss, self._trained, allow_unused=True)

    def _look(self, meter: Meter) -> None:
        """Measure on the rows held apart, and keep the model if it is the best so far."""
        state = self._state
        loss, figures = self._measured()
        state.looked = min(1.0, self._done())
        better = state.best is None or loss < state.best
        if better:
            state.best, state.since, state.figures = loss, 0, figures
            _model.save(self._model, self._settings.out / "model", self._tokenizer)
        else:
            state.since += 1
        meter.look(figures, step=state.step, best=better)
        self._save()

    def _measured(self) -> tuple[float, dict[str, float | None]]:
        """Return the loss of the model as it stands on the rows held apart, and all figures."""
        loss, pairs = _model.judged(
            self._model,
            iter(self._held),
            pad=self._pad,
            device=self._device,
            half=self._state.precision == "bfloat16",
        )
        mean_balanced, mean_area = mean_over_sets(pairs)
        return loss, {
            "loss": loss,
            "balanced": balanced(pairs),
            "auroc": area(pairs),
            "balanced_mean_over_sets": mean_balanced,
            "auroc_mean_over_sets": mean_area,
        }

    def _save(self) -> None:
        """Write all that the next step depends on."""
        tensors = {f"model.{name}": value for name, value in self._model.state_dict().items()}
        for name, parameter in self._model.named_parameters():
            for kind, value in self._optimiser.state.get(parameter, {}).items():
                tensors[f"{kind}.{name}"] = value.reshape(-1) if kind == "step" else value
        tensors["rng"] = torch.get_rng_state()
        about = {"state": json.dumps(asdict(self._state))}
        _model.write_tensors(self._settings.out / _CHECKPOINT, tensors, about)

    @contextmanager
    def _interruptible(self) -> Generator[None]:
        """Let Ctrl-C and SIGTERM end the run behind the step that is being taken."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(_number: int, _frame: object) -> None:
            self._stop = True

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _claim(settings: Settings, data: str) -> None:
    """Take a folder for a run, and refuse one that holds another.

    Raises:
        ConfigError: If the folder holds a run that was not asked for, or one on other data.
    """
    out, about = settings.out, settings.out / "run.json"
    mine = {"data": data, "seed": settings.seed, "languages": list(settings.languages)}
    if about.is_file() and (out / _CHECKPOINT).is_file():
        if not settings.resume:
            raise ConfigError(
                f"{str(out)!r} holds a run already; --resume goes on with it, or name another --out"
            )
        known = json.loads(about.read_text("utf-8"))
        for name, value in mine.items():
            if known.get(name) != value:
                raise ConfigError(
                    f"the run in {str(out)!r} has {name} {known.get(name)!r} and not {value!r}; "
                    "resume it with the same, or name another --out"
                )
    try:
        out.mkdir(parents=True, exist_ok=True)
        about.write_text(json.dumps(mine) + "\n", "utf-8")
    except OSError as error:
        raise ConfigError(
            f"--out {str(out)!r} cannot be written ({error.strerror}); name another folder"
        ) from error


def _optimiser(model: Any, rate: float) -> Any:
    """Return AdamW over what is trained; biases and norms are not decayed."""
    trained = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.AdamW(
        [
            {"params": [p for p in trained if p.ndim > 1], "weight_decay": _DECAY},
            {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=rate,
        foreach=True,
    )


def _slope(done: float, warmup: float) -> float:
    """Return the learning rate as a share of the highest: up in a line, then down in a line."""
    if done < warmup:
        return max(done / warmup, 0.01)
    return max(0.0, (1.0 - done) / (1.0 - warmup))


def _restore(path: Path, model: Any, optimiser: Any) -> _State:
    """Put model and optimiser back and return where the run stood.

    Raises:
        ConfigError: If the file is damaged or of another model.
    """
    safetensors: Any = require("safetensors", extra="train")
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            state = json.loads(file.metadata()["state"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        model.load_state_dict(
            {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")}
        )
        _restore_optimiser(optimiser, model, tensors)
        torch.set_rng_state(tensors["rng"])
        state["position"] = Position(**state["position"])
        return replace(_State(figures={}), **state)
    except (safetensors.SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"the checkpoint {str(path)!r} cannot be used ({type(error).__name__}); resume with "
            "the --init that it was started from, or begin anew in another --out"
        ) from error


def _restore_optimiser(optimiser: Any, model: Any, tensors: Mapping[str, Any]) -> None:
    for name, parameter in model.named_parameters():
        if f"step.{name}" not in tensors:
            continue
        optimiser.state[parameter] = {
            "step": tensors[f"step.{name}"].reshape(()),
            "exp_avg": tensors[f"exp_avg.{name}"].to(parameter.device),
            "exp_avg_sq": tensors[f"exp_avg_sq.{name}"].to(parameter.device),
        }
