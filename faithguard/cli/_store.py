"""`faithguard store` and `faithguard ui`: a store's records carried, deleted or looked at.

In: a store's file. Out: JSON lines, a store with more or fewer records, or a page on loopback.
"""

from __future__ import annotations

from typing import Annotated

import typer

from faithguard.cli._console import FAILED, complain, note, orderly, print_text
from faithguard.cli._files import write_private
from faithguard.errors import ConfigError

__all__ = ["store_app", "ui"]

_REFUSED_TOLD = 100  # lines of a file that are no records, which stderr names


store_app = typer.Typer(
    help="Carry records out of a store, into one, or away.", no_args_is_help=True
)
_STORE = typer.Option(
    "--store", metavar="FILE", help="The store; FAITHGUARD_STORE or your own if not given."
)


@store_app.command("export")
@orderly
def export_command(
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="JSON lines; - prints them.")
    ] = "-",
    store: Annotated[str | None, _STORE] = None,
) -> int:
    """Write all records as JSON lines, with what was said of them."""
    from faithguard._recorded import exported
    from faithguard.store import Store

    with Store(store) as opened:
        if out == "-":
            for line in exported(opened):
                print_text(line)
        else:
            write_private(out, exported(opened), read=(str(opened.path),))
    return 0


@store_app.command("import")
@orderly
def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines of records.")],
    store: Annotated[str | None, _STORE] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who gave its labels, if they do not say; else the file's name."
        ),
    ] = None,
) -> int:
    """Add the records of a file to a store, and labels to those that are there already.

    A line that is no record of a check is named and left out. Exit 0: there is none; 2: there is.
    """
    from faithguard._recorded import imported
    from faithguard.store import Store

    told = 0

    def refuse(number: int, reason: str) -> None:
        nonlocal told
        told += 1
        if told <= _REFUSED_TOLD:
            complain(f"line {number:,}: {reason}")

    with Store(store, read_only=False) as opened:
        done = imported(file, opened, refuse, author=by)
        labels = f"; {_are(done.labels, 'label')} new"
        note(
            f"{_records(done.added)} added to {str(opened.path)!r}, "
            f"{done.there:,} {'was' if done.there == 1 else 'were'} there already"
            f"{labels if done.labels else ''}"
        )
    if not done.refused:
        return 0
    lines = "1 line was" if done.refused == 1 else f"{done.refused:,} lines were"
    complain(f"{lines} left out of {file!r}; `faithguard score` makes records of exchanges")
    return FAILED


@store_app.command("prune")
@orderly
def prune_command(
    days: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Records older than this go.")
    ] = None,
    megabytes: Annotated[
        float | None, typer.Option(metavar="N", min=1, help="The oldest go until all take less.")
    ] = None,
    store: Annotated[str | None, _STORE] = None,
) -> int:
    """Delete old records, and what was said of them, for good."""
    from datetime import UTC, datetime, timedelta

    from faithguard.store import Store

    if days is None and megabytes is None:
        raise ConfigError("nothing says what is old: name --days, --megabytes or both")
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    most = None if megabytes is None else int(megabytes * 2**20)
    with Store(store) as there:  # a typo makes no new one
        path = there.path
    gone = 0
    with Store(path, read_only=False) as opened:
        while step := opened.prune(before=before, max_bytes=most):
            gone += step
    note(f"{_records(gone)} deleted from {str(path)!r}")
    return 0


def _are(count: int, what: str) -> str:
    return f"{count:,} {what} is" if count == 1 else f"{count:,} {what}s are"


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


def ui(
    store: Annotated[str | None, _STORE] = None,
    port: Annotated[
        int, typer.Option(metavar="N", help="Where to listen on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    label: Annotated[
        bool, typer.Option("--label", help="Let the page write what you say of verdicts.")
    ] = False,
) -> int:
    """Show recorded answers on a page of this machine, until Ctrl-C."""
    from faithguard.ui import Server

    with Server(store, port=port, label=label) as server:
        note(f"showing {str(server.store.path)!r} until Ctrl-C; the address is a key to it:")
        print_text(f"{server.url}\n")
        try:
            server.wait()
        except KeyboardInterrupt:
            note("the page is closed")
    return 0
