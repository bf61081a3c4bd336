"""Records to fill a store with: whatever verdicts and outcomes, made by the real scorer."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from faithguard import Claim, Exchange, Passage, Policy, Record, Scorer, Verdict
from faithguard.policy import decide
from faithguard.types import Attempt
from faithguard.verifiers import Context, Finding

Said: TypeAlias = Literal["supported", "contradicted", "not_mentioned", "conflicting"] | None

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
CONTEXT = ("The ferry to Skarsund leaves at 9.", "Tickets are sold on board.")
RIGHT = "The ferry to Skarsund leaves at 9."
WRONG = "Cars need a permit."


@dataclass(frozen=True)
class Sayer:
    """Say of each claim what a table says; nothing of a claim that has None."""

    table: Mapping[str, Said] = field(default_factory=dict[str, Said])
    name: str = "sayer@1"

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what the table says."""
        return [self._finding(claim) for claim in claims]

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what the table says."""
        return self.verify(claims, context)

    def _finding(self, claim: Claim) -> Finding:
        usual: Said = "supported" if claim.text == RIGHT else "not_mentioned"
        label = self.table.get(claim.text, usual)
        if label is None:
            return None
        p = 0.9 if label in ("supported", "conflicting") else 0.1
        return Verdict(claim=claim.id, label=label, p_supported=p, verifier=self.name)


def record(
    id: str = "r1",
    answer: str = f"{RIGHT} {WRONG}",
    *,
    question: str | None = "When does the ferry leave?",
    domain: str | Policy = "support",
    context: Sequence[str] = CONTEXT,
    minutes: float = 0.0,
    tags: Sequence[str] = (),
    said: Mapping[str, Said] | None = None,
    seconds: float | None = None,
) -> Record:
    """Return a record of an answer, `RIGHT` supported and all else not, made after noon.

    Args:
        id: The exchange's.
        answer: Of sentences.
        question: Asked.
        domain: Whose thresholds decide.
        context: That was retrieved.
        minutes: After noon.
        tags: The exchange's.
        said: Claims of other verdicts.
        seconds: That it took.
    """
    exchange = Exchange(
        id=id,
        answer=answer,
        question=question,
        passages=tuple(Passage(text=text, source="ferry.md") for text in context),
        context_source="caller" if context else "none",
        domain=domain if isinstance(domain, str) else domain.domain,
        tags=tuple(tags),
        started_at=NOON + timedelta(minutes=minutes),
    )
    report = Scorer(verifiers=[Sayer(said or {})]).score(exchange)
    return Record(
        exchange=exchange,
        report=report,
        decision=decide(report, domain),
        attempts=(Attempt(exchange=exchange, report=report),),
        versions=report.versions,
        timings={} if seconds is None else {"generate": seconds},
    )


def padded(one: Record, size: int) -> Record:
    """Return a record of about `size` bytes more, which nothing makes smaller."""
    noise = Passage(text=base64.b85encode(os.urandom(size * 4 // 5)).decode("ascii"))
    return replace(one, exchange=replace(one.exchange, passages=(noise,)))
