"""The command line: check an answer, score files, compare two, show what was recorded, train.

In: files and options. Out: a report on stdout, errors on stderr, and an exit code that a
script can act on: 0 the answer passed, 1 it did not, 2 bad input or a failure.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from faithguard.cli._check import check
from faithguard.cli._console import INTERRUPTED, orderly
from faithguard.cli._demo import demo
from faithguard.cli._gate import gate
from faithguard.cli._score import score
from faithguard.cli._show import report, show
from faithguard.cli._store import store_app, ui
from faithguard.train._command import train_command

__all__ = ["app", "main"]

app = typer.Typer(
    name="faithguard",
    help="Check that an answer says only what its context says.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app(prog_name="faithguard")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _version(asked: bool) -> None:
    if asked:
        from faithguard import __version__

        typer.echo(f"faithguard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Check that an answer says only what its context says."""


app.command()(orderly(check))
app.command()(orderly(score))
app.command()(orderly(gate))
app.command()(orderly(show))
app.command()(orderly(report))
app.add_typer(store_app, name="store")
app.command()(orderly(demo))
app.command()(orderly(ui))
app.command("train")(orderly(train_command))
