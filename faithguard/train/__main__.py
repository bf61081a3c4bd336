"""Run the training as `python -m faithguard.train`.

In: the options of `faithguard train`. Out: the same, and an exit code.
"""

from __future__ import annotations

import sys

import typer

from faithguard.errors import FaithguardError
from faithguard.train._command import train_command

__all__: list[str] = []

if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(train_command)
    try:
        sys.exit(app(standalone_mode=False))
    except FaithguardError as error:
        print(f"faithguard: {error}", file=sys.stderr)
        sys.exit(2)
