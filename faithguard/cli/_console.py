"""What a command says, and the code it ends with.

In: text for a person, and what a command returns or raises. Out: stdout for what was asked,
one line of stderr for anything else, and an exit code: 0 passed, 1 did not, 2 bad input or a
failure.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TextIO

import typer

from faithguard.errors import ConfigError, FaithguardError, UnfaithfulAnswerError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "NOT_PASSED",
    "complain",
    "note",
    "orderly",
    "print_text",
    "rendered",
]

_P = ParamSpec("_P")

NOT_PASSED = 1
FAILED = 2
INTERRUPTED = 130

_LONGEST = 600  # characters of a message


def orderly(command: Callable[_P, int]) -> Callable[_P, None]:
    """Exit with what `command` returns, and turn what it raises into one line and a code."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except UnfaithfulAnswerError as held:
            complain(str(held))
            code = NOT_PASSED
        except FaithguardError as error:
            complain(str(error))
            code = FAILED
        except Exception as error:
            complain(
                f"unexpected {type(error).__name__}: {error}",
                " (FAITHGUARD_DEBUG=1 shows the traceback)",
            )
            code = FAILED
        raise typer.Exit(code)

    return run


def complain(message: str, hint: str = "") -> None:
    """Say on one line of stderr what is wrong; with FAITHGUARD_DEBUG=1 also where."""
    from faithguard._render import visible

    if os.environ.get("FAITHGUARD_DEBUG", "") not in ("", "0"):
        import traceback

        traceback.print_exc()
    line = " ".join(visible(message).split())
    if len(line) > _LONGEST:
        line = f"{line[:_LONGEST]}... {len(line) - _LONGEST:,} more characters"
    note(f"{line}{hint}")


def note(line: str) -> None:
    """Say a line on stderr."""
    if sys.stderr is None:
        return
    with _pipe(sys.stderr):
        print(f"faithguard: {line}", file=sys.stderr, flush=True)


@contextmanager
def _pipe(stream: TextIO) -> Generator[None]:
    """Let a reader that went away, as `head` does, neither be heard nor change the exit code."""
    try:
        yield
    except OSError as error:
        # Python flushes the stream once more at exit; what is left in it must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise ConfigError(f"the output cannot be written: {error.strerror}") from error


def print_text(text: str) -> None:
    """Write to stdout what was asked for."""
    if sys.stdout is None:  # closed by the caller, who wants the exit code only
        return
    with _pipe(sys.stdout):
        sys.stdout.write(text)
        sys.stdout.flush()


def rendered(parts: Iterable[RenderableType]) -> str:
    """Lay out what rich can show, as wide as the terminal, coloured where stdout is one."""
    from rich.console import Console

    # In memory, since rich would end the process with a code of its own when a reader goes away.
    stdout = sys.stdout
    encoding = "utf-8" if stdout is None else stdout.encoding
    page = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    console = Console(file=page, force_terminal=(stdout is not None and stdout.isatty()) or None)
    for part in parts:
        console.print(part)
    page.seek(0)
    return page.read()
