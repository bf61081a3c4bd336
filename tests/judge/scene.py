"""The scene: a bath house, its leaflets, and answers about it."""

from __future__ import annotations

from typing import Any

from faithguard import Exchange, Judge, Passage, Report, Scorer
from faithguard.chat import OpenAIChat
from faithguard.testing import JudgeServer

PASSAGES = (
    Passage(text="The sauna opens at 14:00 and closes at 21:00. Towels cost 3 euros."),
    Passage(text="The lake is heated by the Fernhill spring. Children swim free on Sundays."),
)
TRUE = "The sauna opens at 14:00."
ALSO = "The lake is heated by the Fernhill spring."
WRONG = "Towels cost 5 euros."
MADE_UP = "A pianist plays on Sundays."
ANSWER = f"{TRUE} {WRONG} {MADE_UP} {ALSO}"
RIGHT = ["supported", "contradicted", "not_mentioned", "supported"]


def exchange(answer: str = ANSWER, question: str | None = None) -> Exchange:
    """Return an exchange about the bath house."""
    return Exchange(id="e", answer=answer, passages=PASSAGES, question=question)


def judge(
    server: JudgeServer,
    *,
    retries: int = 2,
    max_in_flight: int = 8,
    parameters: dict[str, Any] | None = None,
    **settings: Any,
) -> Judge:
    """Return a judge that asks a server, and comes back at once to one that is down."""
    chat = OpenAIChat(
        "any",
        server.url,
        "none",
        retries=retries,
        max_in_flight=max_in_flight,
        parameters=parameters,
        random=lambda: 0.0,
    )
    return Judge(chat, **settings)


def alone(server: JudgeServer, **settings: Any) -> Scorer:
    """Return a scorer whose only verifier is a judge: what it says is what the report says."""
    return Scorer(verifiers=[judge(server, **settings)])


def labels(report: Report) -> list[str]:
    """Return the labels of the claims, in order."""
    return [claim.label for claim in report.claims]


def kinds(report: Report) -> set[str]:
    """Return the kinds of the failures."""
    return {failure.kind for failure in report.failures}
