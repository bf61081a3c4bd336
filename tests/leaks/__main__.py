"""Print the table of leaks; exit 1 if a cell or a check fails.

python -m tests.leaks              every cell, then every check
python -m tests.leaks --unguarded  only: can each way of calling show a leak at all?
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .cells import COLUMNS, LEFT_OUT, ROWS, blind, wrong
from .checks import CHECKS


def faults(examine: Callable[[], Iterator[str]]) -> list[str]:
    """Examine; an exception of the guard itself is a fault like any other."""
    try:
        return list(examine())
    except Exception as error:
        return [f"broke with {error!r}"]


def cells(console: Console) -> list[str]:
    """Print one line for each way and shape; return what is wrong."""
    table = Table("way", "shape", *(column.name for column in COLUMNS), title="Leaks")
    found: list[str] = []
    for row in ROWS:
        marks: list[str] = []
        for column in COLUMNS:
            here = faults(lambda row=row, column=column: wrong(row, column))
            found += [f"{row.name} | {column.name}: {fault}" for fault in here]
            marks.append("[red]LEAK[/]" if here else "[green]ok[/]")
        table.add_row(row.way.name, row.shape.name, *marks)
    console.print(table)
    for what, reason in LEFT_OUT.items():
        console.print(f"left out: {what}: {reason}", highlight=False)
    return found


def checks(console: Console) -> list[str]:
    """Print one line for each group of checks; return what is wrong."""
    groups: dict[str, list[bool]] = {}
    found: list[str] = []
    for name, examine in CHECKS.items():
        here = faults(examine)
        found += [f"{name}: {fault}" for fault in here]
        groups.setdefault(name.partition(":")[0], []).append(not here)
    table = Table("check", "passed", title="Beside the table")
    for group, passed in groups.items():
        colour = "green" if all(passed) else "red"
        table.add_row(group, f"[{colour}]{sum(passed)} of {len(passed)}[/]")
    console.print(table)
    return found


def main(arguments: list[str]) -> int:
    """Examine the guard, or only the exam; return the exit code."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    if arguments == ["--unguarded"]:
        found = [f"{row.name}: {f}" for row in ROWS for f in faults(lambda row=row: blind(row))]
        console.print(f"{len(ROWS)} ways and shapes, {len(found)} of them blind")
    else:
        found = [*cells(console), *checks(console)]
        console.print(f"{len(ROWS)} rows, {len(COLUMNS)} columns, {len(CHECKS)} checks")
    for fault in found:
        console.print(f"[red]✗[/] {escape(fault)}", highlight=False, soft_wrap=True)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
