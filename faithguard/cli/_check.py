"""`faithguard check`: an answer and its context, in files -> a report and whether it passed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithguard.cli._console import NOT_PASSED, print_text, rendered
from faithguard.cli._files import decoded, read_text, stdin_bytes
from faithguard.cli._options import JudgeModel, JudgeUrl, PolicyFile
from faithguard.errors import ConfigError

if TYPE_CHECKING:
    from faithguard.types import Decision, Passage, Report

__all__ = ["check"]


def check(
    context: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="A passage of context; may be given several times."),
    ],
    answer: Annotated[str, typer.Option(metavar="FILE", help="The answer; - reads stdin.")],
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The question that was answered.")
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose thresholds decide: medical, legal, support, ..."),
    ] = None,
    policy: PolicyFile = None,
    judge: JudgeModel = None,
    judge_url: JudgeUrl = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report and the decision as JSON.")
    ] = False,
) -> int:
    """Check an answer against its context. Exit 0: it passed; 1: it did not; 2: bad input."""
    from faithguard.policy import Policy

    rules = Policy.for_domain(domain, file=Path(policy) if policy is not None else None)
    passages = [_passage(file) for file in context]
    text = _stdin() if answer == "-" else read_text(answer, "answer")
    from faithguard._check import check as check_answer  # late: bad input is told at once
    from faithguard.scorer import named_scorer

    scorer = named_scorer(judge, judge_url)
    report = check_answer(text, passages, question=question, scorer=scorer)
    # Not given to `check`, which does not know the domains of the policy file.
    report = replace(report, exchange=replace(report.exchange, domain=rules.domain))
    decision = report.decide(rules)
    print_text(_as_json(report, decision) if as_json else _as_text(report, decision))
    return 0 if decision.passed else NOT_PASSED


def _passage(file: str) -> Passage:
    from faithguard.types import Passage

    if file == "-":
        raise ConfigError("'-' reads stdin for --answer only; name a file for --context")
    return Passage(
        text=read_text(file, "context"), source=os.fsencode(file).decode(errors="replace")
    )


def _stdin() -> str:
    return decoded(stdin_bytes("the answer", " for --answer").read(), "the answer on stdin")


def _as_json(report: Report, decision: Decision) -> str:
    from faithguard.types import to_json

    both = json.loads(report.to_json()) | {"decision": json.loads(to_json(decision))}
    return json.dumps(both) + "\n"


def _as_text(report: Report, decision: Decision) -> str:
    from faithguard._render import terminal

    return rendered(terminal(report, decision))
