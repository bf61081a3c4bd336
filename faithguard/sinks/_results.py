"""Record -> results of an evaluation, as tracing systems take them: one of the answer, then claims.

Without texts a result holds names, numbers and the decision's counts in words; with them also
what a claim says, why it failed and the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from faithguard.types import Claim, Record

__all__ = ["Result", "answer_result", "claim_results", "comment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One judgement in the form that others expect."""

    passed: bool
    score: float | None
    """In [0, 1]; None where it is undefined."""
    label: str
    """One of few: `pass` or `fail` of an answer, a claim's label."""
    explanation: str | None = None
    error: str | None = None
    """The kind of failure by which a verdict is missing."""
    details: Mapping[str, str | int | float | bool] = field(
        default_factory=dict[str, "str | int | float | bool"]
    )


def answer_result(record: Record) -> Result:
    """Return what is said of the answer; without texts, since a reason only counts."""
    report, decision = record.report, record.decision
    missing = report.outcome in ("failed", "incomplete")
    return Result(
        passed=decision.passed,
        score=report.score,
        label="pass" if decision.passed else "fail",
        explanation=decision.reason,
        error=(report.failures[0].kind if report.failures else "error") if missing else None,
        details=_known(
            id=record.exchange.id,
            domain=decision.domain,
            outcome=report.outcome,
            level=decision.level,
            action=decision.action,
            supported=report.supported,
            total=report.total,
            attempts=max(1, len(record.attempts)),
        ),
    )


def claim_results(record: Record, *, texts: bool) -> Iterator[Result]:
    """Yield what is said of each fact claim."""
    errors = {failure.claim: failure.kind for failure in record.report.failures}
    for claim in record.report.facts:
        failed = claim.label == "failed"
        yield Result(
            passed=claim.supported,
            score=claim.p_supported,
            label=claim.label,
            explanation=claim.reason or None if texts else None,
            error=errors.get(claim.id, "error") if failed else None,
            details=_known(
                id=claim.id,
                start=claim.span[0],
                end=claim.span[1],
                cause=claim.cause,
                verifier=claim.verifier,
                text=claim.text if texts else None,
                evidence=_quotes(claim) if texts else None,
            ),
        )


def comment(record: Record, *, texts: bool) -> str:
    """Return the decision in words and, with texts, the claims that are not supported."""
    lines = [record.decision.reason]
    if texts:
        lines += [
            f"{claim.label}: {claim.text} ({claim.reason})" for claim in record.report.unsupported
        ]
    return "\n".join(lines)


def _quotes(claim: Claim) -> str | None:
    return " … ".join(piece.quote for piece in claim.evidence) or None


def _known(**values: str | int | float | bool | None) -> dict[str, str | int | float | bool]:
    return {name: value for name, value in values.items() if value is not None}
