"""Print the table of leaks; exit 1 if a cell or a check fails.

python -m tests.leaks                     every cell, then every check
python -m tests.leaks --unguarded         only: can each way of calling show a leak at all?
python -m tests.leaks --only llama-index  one framework, of `langchain`, `openai`, ...
python -m tests.leaks --pending           also what waits for its guard in `exams.PENDING`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .exams import EXAMS, PENDING, pending

Due = Callable[[str, str], bool]
"""Whether a column or a check of a framework is to be examined."""


def faults(examine: Callable[[], Iterator[str]]) -> list[str]:
    """Examine; an exception of the guard itself is a fault like any other."""
    try:
        return list(examine())
    except Exception as error:
        return [f"broke with {error!r}"]


def cells(console: Console, frameworks: Sequence[str], due: Due) -> list[str]:
    """Print one line for each way and shape; return what is wrong."""
    found: list[str] = []
    for framework in frameworks:
        exam = EXAMS[framework]
        columns = [exam.columns_of(row) for row in exam.rows]
        names = list(dict.fromkeys(column.name for some in columns for column in some))
        names = [name for name in names if due(framework, name)]
        table = Table("way", "shape", *names, title=f"Leaks: {framework}")
        for row in exam.rows if names else ():
            marks = dict.fromkeys(names, "-")
            for column in exam.columns_of(row):
                if column.name not in marks:
                    continue
                here = faults(lambda exam=exam, row=row, column=column: exam.wrong(row, column))
                found += [f"{framework} | {row.name} | {column.name}: {fault}" for fault in here]
                marks[column.name] = "[red]LEAK[/]" if here else "[green]ok[/]"
            table.add_row(row.way.name, row.shape.name, *marks.values())
        if names:
            console.print(table)
    for framework in frameworks:
        for what, reason in EXAMS[framework].left_out.items():
            console.print(f"left out of {framework}: {what}: {reason}", highlight=False)
    return found


def count_cells(frameworks: Sequence[str], due: Due) -> int:
    """Count the cells of the tables."""
    return sum(
        due(framework, column.name)
        for framework in frameworks
        for row in EXAMS[framework].rows
        for column in EXAMS[framework].columns_of(row)
    )


def checks(console: Console, frameworks: Sequence[str], due: Due) -> list[str]:
    """Print one line for each group of checks; return what is wrong."""
    groups: dict[tuple[str, str], list[bool]] = {}
    found: list[str] = []
    for framework in frameworks:
        for name, examine in EXAMS[framework].checks.items():
            if not due(framework, name):
                continue
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
    parser.add_argument("--pending", action="store_true", help="also what waits for its guard")
    chosen = parser.parse_args(arguments)
    frameworks = [chosen.only] if chosen.only else list(EXAMS)

    def due(framework: str, name: str) -> bool:
        return chosen.pending or not pending(framework, name)

    console = Console(width=None if sys.stdout.isatty() else 240)
    if chosen.unguarded:
        found = blind(frameworks)
        rows = sum(len(EXAMS[framework].rows) for framework in frameworks)
        console.print(f"{rows} ways and shapes, {len(found)} of them blind")
    else:
        found = [*cells(console, frameworks, due), *checks(console, frameworks, due)]
        count = sum(due(name, check) for name in frameworks for check in EXAMS[name].checks)
        console.print(f"{count_cells(frameworks, due)} cells, {count} checks")
        for framework in () if chosen.pending else frameworks:
            for beginning in PENDING.get(framework, ()):
                console.print(f"waits for its guard: {framework}: {beginning or 'everything'}")
    for fault in found:
        console.print(f"[red]✗[/] {escape(fault)}", highlight=False, soft_wrap=True)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
