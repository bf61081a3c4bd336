"""`faithguard score`: a file of exchanges -> a file of records, and a summary."""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from faithguard.cli._console import FAILED, NOT_PASSED, complain, note, print_text, rendered
from faithguard.cli._files import stdin_bytes
from faithguard.cli._options import JudgeModel, JudgeUrl, PolicyFile
from faithguard.errors import ConfigError

__all__ = ["score"]

_BAD_TOLD = 5  # bad lines of a file that stderr names, where another file names all


def score(
    exchanges: Annotated[
        str,
        typer.Argument(metavar="FILE", help="JSON lines, gzip too; - reads stdin."),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="Takes a record for each line.")
    ],
    domain: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose thresholds decide, whatever the lines name."),
    ] = None,
    policy: PolicyFile = None,
    judge: JudgeModel = None,
    judge_url: JudgeUrl = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=0, help="Worker processes; 0: one for each core.")
    ] = 1,
    rejects: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Takes bad lines, each with its number and the reason."),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew and replace what OUT holds.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> int:
    """Score a file of exchanges. The same command goes on where a run was interrupted.

    Each line is an object with an answer, a question and its context, named as RAGAS, DeepEval
    or faithguard do. Exit 0: every answer passed; 1: one did not; 2: a bad line, or a
    check that failed, as where the judge cannot be reached.
    """
    from rich.console import Console

    from faithguard._render._summary import Bar, summary_table
    from faithguard.exchanges import CONTEXT
    from faithguard.files import rejects_path, score_file
    from faithguard.types import to_json

    if out == "-":
        raise ConfigError("-o - is no file: a run that can go on needs one; name it")
    source = stdin_bytes() if exchanges == "-" else exchanges
    with Bar(Console(stderr=True)) as bar:
        try:
            summary = score_file(
                source,
                out,
                domain=domain,
                policy=policy,
                judge=judge,
                judge_url=judge_url,
                jobs=jobs or _cores(),
                rejects=rejects,
                restart=restart,
                watch=bar,
            )
        except KeyboardInterrupt:
            bar.close()
            complain(f"interrupted after line {bar.lines:,}; the same command goes on from there")
            raise
    note(bar.told())
    if summary.stating and summary.outcomes.get("no_context") == summary.stating:
        note(f"no line has a context, which is looked for in {', '.join(CONTEXT)}")
    if summary.bad:
        _tell_bad(summary.bad, Path(rejects) if rejects else rejects_path(out))
    print_text(to_json(summary) + "\n" if as_json else rendered([summary_table(summary)]))
    unchecked = sum(summary.outcomes.get(outcome, 0) for outcome in ("failed", "incomplete"))
    if unchecked:
        complain(
            f"{unchecked:,} {'answer lacks' if unchecked == 1 else 'answers lack'} verdicts, since "
            "a check failed; the same command keeps them as they are, --restart asks again"
        )
    if summary.bad or unchecked:
        return FAILED
    return 0 if summary.passed == summary.stating else NOT_PASSED


def _cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _tell_bad(count: int, file: Path) -> None:
    """Say which lines were bad, and why: the first ones, and where the others are."""
    with file.open(encoding="ascii") as rows:
        for row in islice(rows, _BAD_TOLD):
            bad = json.loads(row)
            complain(f"line {bad['line']:,}: {bad['reason']}")
    more = f"{count - _BAD_TOLD:,} more bad lines are" if count > _BAD_TOLD else "bad lines are"
    complain(f"{more} in {str(file)!r}, with the reasons")
