"""Check one answer: answer + context -> Report.

In: an answer, what it was to be written from, and who checks it. Out: the report. What checks is
loaded by the first check, not with this module: a program that only may check starts without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faithguard.capture import new_id, passages_of
from faithguard.errors import CaptureError
from faithguard.types import Exchange, Report

if TYPE_CHECKING:
    from faithguard.scorer import Scorer
    from faithguard.verifiers.judge import Judge

__all__ = ["acheck", "check"]


def check(
    answer: str,
    context: Any,
    *,
    question: str | None = None,
    domain: str | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> Report:
    """Say which claims of an answer its context supports.

    Args:
        answer: What a model wrote.
        context: What it was to write from: a string, strings, Documents (also with their scores),
            nodes or `Passage`s.
        question: What was asked; an answer of one word is checked together with it.
        domain: The domain whose thresholds `report.decide()` uses.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.

    Raises:
        CaptureError: If the answer is no string or a piece of context has no text.
        ConfigError: If the domain is unknown, or both a scorer and a judge are given.
    """
    from faithguard.scorer import chosen_scorer

    return chosen_scorer(scorer, judge).score(_exchange(answer, context, question, domain))


async def acheck(
    answer: str,
    context: Any,
    *,
    question: str | None = None,
    domain: str | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> Report:
    """Do what `check` does without blocking the event loop."""
    from faithguard.scorer import chosen_scorer

    return await chosen_scorer(scorer, judge).ascore(_exchange(answer, context, question, domain))


def _exchange(answer: Any, context: Any, question: str | None, domain: str | None) -> Exchange:
    if not isinstance(answer, str):
        remedy = "answer.text" if isinstance(getattr(answer, "text", None), str) else "its text"
        raise CaptureError(f"`answer` is of type {type(answer).__name__}: pass {remedy}, a str")
    if domain is not None:
        from faithguard.policy import resolve

        resolve(domain)  # a typo must not wait for the decision
    passages = passages_of(context)
    return Exchange(
        id=new_id(),
        answer=answer,
        passages=passages,
        question=question,
        domain=domain,
        context_source="caller" if passages else "none",
    )
