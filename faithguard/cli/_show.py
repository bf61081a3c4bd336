"""`faithguard show` and `faithguard report`: what was recorded -> a page to read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from faithguard.cli._console import note, print_text, rendered
from faithguard.cli._files import write_private

if TYPE_CHECKING:
    from faithguard.types import Record

__all__ = ["report", "show"]


_FROM = typer.Option(
    "--store",
    metavar="FILE",
    help="A store or a file of records; FAITHGUARD_STORE or your own store if not given.",
)


def show(
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Of the exchange, its beginning will do; or last."),
    ] = "last",
    store: Annotated[str | None, _FROM] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> int:
    """Show a recorded answer with its claims, attempts and context."""
    from faithguard._recorded import one_of
    from faithguard._render import record_terminal

    record, opinions = one_of(store, id)
    print_text(record.to_json() + "\n" if as_json else rendered(record_terminal(record, opinions)))
    return 0


def report(
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page; - prints it.")],
    records: Annotated[
        str | None,
        typer.Argument(metavar="RECORDS", help="A store or a file of records; else your store."),
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this exchange; as show takes it.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only answers that did not pass.")
    ] = False,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Only records with it.")] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Records that are shown; figures are of all.")
    ] = 200,
) -> int:
    """Write recorded answers as one HTML file, which needs nothing else to be read."""
    from faithguard._recorded import one_of, records_in
    from faithguard._render import page

    def wanted(record: Record) -> bool:
        left_out = failed and record.decision.passed
        return not left_out and (tag is None or tag in record.exchange.tags)

    chosen = records_in(records, wanted) if id is None else [one_of(records, id)]
    title = f"faithguard: {os.path.basename(records) if records else 'recorded answers'}"
    parts = page(chosen, title=title, limit=limit)
    if out == "-":
        print_text("".join(parts))
    else:
        write_private(out, parts, read=(records,) if records else ())
        note(f"written to {out!r}")
    return 0
