"""Options of the command line -> a run of training.

In: options. Out: progress on stderr, the place of the model on stdout, and an exit code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faithguard.train import Settings, train

__all__ = ["train_command"]

_INTERRUPTED = 130


def train_command(
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Labelled pairs, one JSON object a line.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the run.")],
    init: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="What to start from: an encoder, a model, or `shipped`, the one in this package.",
        ),
    ] = None,
    keep: Annotated[
        float, typer.Option(help="Share of the model in --init in the result; less is forgotten.")
    ] = 0.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same steps: same model.")] = 0,
    epochs: Annotated[float, typer.Option(help="How often the data is seen at most.")] = 2.0,
    steps: Annotated[int | None, typer.Option(help="Steps at most.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes of training at most.")] = None,
    lang: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Languages of the rows; en.")
    ] = None,
    rate: Annotated[float, typer.Option(help="The highest learning rate.")] = 2e-4,
    budget: Annotated[int, typer.Option(help="Word pieces of a batch.")] = 2_048,
    precision: Annotated[str, typer.Option(help="auto, float32 or bfloat16.")] = "auto",
    threads: Annotated[int, typer.Option(help="Of a CPU; 0 is one for each core.")] = 0,
    save_seconds: Annotated[float, typer.Option(help="Between two checkpoints.")] = 300.0,
    looks: Annotated[int, typer.Option(help="At the rows held apart, over the run.")] = 8,
    licences: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON with the licence of each data set, for the card."),
    ] = None,
) -> int:
    """Train a local model on your own labels. Interrupted, it goes on with --resume."""
    outcome = train(
        Settings(
            data=data,
            out=out,
            init=init,
            keep=keep,
            resume=resume,
            seed=seed,
            epochs=epochs,
            steps=steps,
            minutes=minutes,
            languages=tuple(lang or ("en",)),
            rate=rate,
            budget=budget,
            precision=precision,  # type: ignore[arg-type]  # checked by Settings
            threads=threads,
            save_seconds=save_seconds,
            looks=looks,
            licences=licences,
        )
    )
    if not outcome.finished:
        typer.echo(f"interrupted; go on with --resume --out {out}", err=True)
        return _INTERRUPTED
    typer.echo(str(outcome.folder))
    return 0
