"""Report -> lines for a failed test: every claim, its evidence and reason, none of them cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from faithguard._render._sheet import CAUSES, LOOKS, visible, where

if TYPE_CHECKING:
    from faithguard.types import Claim, Decision, Report

__all__ = ["listed"]


def listed(report: Report, decision: Decision) -> str:
    """Return what a test says of an answer that did not pass; what failed comes first.

    The first line alone says why, since summaries of test runs show no other.
    """
    return "\n".join(_lines(report, decision))


def _lines(report: Report, decision: Decision) -> Iterator[str]:
    yield f"not faithful ({_line(decision.domain)}): {_line(decision.reason)}"
    exchange = report.exchange
    if exchange.question:
        yield f"question: {_line(exchange.question)}"
    yield "answer:" if exchange.answer.strip() else "answer: (empty)"
    yield from (f"  {line}" for line in visible(exchange.answer).splitlines() if line.strip())
    numbered = sorted(
        enumerate(report.claims, start=1),
        key=lambda pair: (pair[1].kind != "fact", pair[1].supported),
    )
    for number, claim in numbered:
        yield from _claim(number, claim, report)
    for failure in report.failures:
        if failure.claim is None:  # the others are the reasons of their claims
            yield f"missing ({failure.kind}, {_line(failure.stage)}): {_line(failure.message)}"


def _claim(number: int, claim: Claim, report: Report) -> Iterator[str]:
    look = LOOKS[claim.label]
    kind = "" if claim.kind == "fact" else f" ({claim.kind})"
    yield f"{look.sign} {number}. {look.word}{kind}: {_line(claim.text)}"
    if claim.reason:
        yield f"    why: {_line(claim.reason)}"
    if claim.cause:
        yield f"    cause: {CAUSES[claim.cause]}"
    for piece in claim.evidence:
        yield f"    evidence: “{_line(piece.quote)}” ({where(piece, report.exchange)})"


def _line(text: str) -> str:
    return " ".join(visible(text).split())
