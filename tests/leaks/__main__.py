"""Print the table of leaks; exit 1 if a cell or a check fails.

python -m tests.leaks                     every cell, then every check
python -m tests.leaks --unguarded         only: can each way of calling show a leak at all?
python -m tests.leaks --only llama-index  one framework, of `langchain` and `llama-index`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .cells import COLUMNS
from .exams import EXAMS


def faults(examine: Callable[[], Iterator[str]]) -> list[str]:
    """Examine; an exception of the guard itself is a fault like any other."""
    try:
        return list(examine())
    except Exception as error:
        return [f"broke with {error!r}"]


def cells(console: Console, frameworks: Sequence[str]) -> list[str]:
    """Print one line for each way and shape; return what is wrong."""
    names = (column.name for column in COLUMNS)
    table = Table("framework", "way", "shape", *names, title="Leaks")
    found: list[str] = []
    for framework in frameworks:
        exam = EXAMS[framework]
        for row in exam.rows:
            marks: list[str] = []
            for column in COLUMNS:
                here = faults(lambda exam=exam, row=row, column=column: exam.wrong(row, column))
                found += [f"{framework} | {row.name} | {column.name}: {fault}" for fault in here]
                marks.append("[red]LEAK[/]" if here else "[green]ok[/]")
            table.add_row(framework, row.way.name, row.shape.name, *marks)
    console.print(table)
    for framework in frameworks:
        for what, reason in EXAMS[framework].left_out.items():
            console.print(f"left out of {framework}: {what}: {reason}", highlight=False)
    return found


def checks(console: Console, frameworks: Sequence[str]) -> list[str]:
    """Print one line for each group of checks; return what is wrong."""
    groups: dict[tuple[str, str], list[bool]] = {}
    found: list[str] = []
    for framework in frameworks:
        for name, examine in EXAMS[framework].checks.items():
            here = faults(examine)
            found += [f"{framework} | {name}: {fault}" for fault in here]
            groups.setdefault((framework, name.partition(":")[0]), []).append(not here)
    table = Table("framework", "check", "passed", title="Beside the table")
    for (framework, group), passed in groups.items():
        colour = "green" if all(passed) else "red"
        table.add_row(framework, group, f"[{colour}]{sum(passed)} of {len(passed)}[/]")
    console.print(table)
    return found


def blind(frameworks: Sequence[str]) -> list[str]:
    """Return the rows that show no leak without a guard, with the reason."""
    return [
        f"{framework} | {row.name}: {fault}"
        for framework in frameworks
        for row in EXAMS[framework].rows
        for fault in faults(lambda framework=framework, row=row: EXAMS[framework].blind(row))
    ]


def main(arguments: list[str]) -> int:
    """Examine the guard, or only the exam; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.leaks")
    parser.add_argument("--unguarded", action="store_true", help="examine the exam")
    parser.add_argument("--only", choices=EXAMS, help="one framework")
    chosen = parser.parse_args(arguments)
    frameworks = [chosen.only] if chosen.only else list(EXAMS)
    rows = sum(len(EXAMS[framework].rows) for framework in frameworks)

    console = Console(width=None if sys.stdout.isatty() else 160)
    if chosen.unguarded:
        found = blind(frameworks)
        console.print(f"{rows} ways and shapes, {len(found)} of them blind")
    else:
        found = [*cells(console, frameworks), *checks(console, frameworks)]
        count = sum(len(EXAMS[framework].checks) for framework in frameworks)
        console.print(f"{rows} rows, {len(COLUMNS)} columns, {count} checks")
    for fault in found:
        console.print(f"[red]✗[/] {escape(fault)}", highlight=False, soft_wrap=True)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
