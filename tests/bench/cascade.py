"""How sure the local verifiers must be to leave a judge out: accuracy against claims asked.

    python -m tests.bench.cascade DATA [DATA ...]

In: JSON lines with `context` (a text or a list), `claim`, `label` (1 or 0), and maybe `question`;
a simulated judge that is right about a stated share of the claims, drawn once for each claim, so
that every band meets the same judge. Out: a markdown table: by band, the share of claims that it
is asked about, how many of the others are settled right, and with each judge the balanced
accuracy at 0.5 of the whole, and its mean over the judges. The default of `Scorer(band=...)` is
to be read from it again when the default verifiers change: here they are those of `Scorer()`, the
rules and the model, each asked once for a claim, which takes some minutes on two quiet cores.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from faithguard import Scorer, VerdictCache
from faithguard.types import Claim, Exchange, Passage, Verdict
from faithguard.verifiers import Context, Finding, Verifier
from tests.bench._common import GivenClaims, percent, read_jsonl, table

SEED = 5
JUDGES = (0.75, 0.85, 0.95)
"""Shares of claims that a judge is right about: from small models to large ones."""

BANDS = (
    (0.5, 0.5),
    (0.3, 0.7),
    (0.2, 0.8),
    (0.1, 0.9),
    (0.05, 0.95),
    (0.03, 0.97),
    (0.1, 1.0),
    (0.05, 1.0),
    (0.03, 1.0),
    (0.0, 0.95),
)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Simulated:
    """A judge that says one label."""

    supports: bool
    name: str

    def verify(self, claims: Sequence[Claim], context: Context) -> list[Finding]:
        """Say it of each claim."""
        return [
            Verdict(
                claim=claim.id,
                label="supported" if self.supports else "not_mentioned",
                p_supported=float(self.supports),
                verifier=self.name,
            )
            for claim in claims
        ]

    async def averify(self, claims: Sequence[Claim], context: Context) -> list[Finding]:
        """Do the same."""
        return self.verify(claims, context)


@dataclass(frozen=True, slots=True)
class Met:
    """What came of one claim."""

    label: bool
    supported: bool
    asked: bool


def met(
    row: Row, number: int, judge: float, band: tuple[float, float] | None, cache: VerdictCache
) -> Met:
    """Score one claim by a cascade that ends with a judge; without a band by the judge alone."""
    label = bool(int(row["label"]))
    right = Random(f"{SEED} {number}").random() < judge
    simulated = Simulated(label == right, f"simulated@{judge}")
    local: tuple[Verifier, ...] = () if band is None else LOCAL
    scorer = Scorer(
        GivenClaims(), [*local, simulated], band=band or (0.0, 1.0), cache=cache if local else None
    )
    texts = [row["context"]] if isinstance(row["context"], str) else row["context"]
    [claim] = scorer.score(
        Exchange(
            id=str(number),
            question=row.get("question"),
            answer=row["claim"],
            passages=tuple(Passage(text=text) for text in texts),
        )
    ).claims
    return Met(label, claim.supported, claim.verifier == simulated.name)


LOCAL = Scorer().verifiers
"""One set for all, so that they are asked once for each claim and the cache knows the rest."""


def balanced(found: Sequence[Met]) -> float:
    """Return the mean of both classes' shares that are right."""
    sides = [[m.supported == side for m in found if m.label == side] for side in (True, False)]
    return sum(sum(side) / len(side) for side in sides) / 2


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    if not argv:
        print("name one file of labelled claims, or several", file=sys.stderr)
        raise SystemExit(2)
    rows = [row for path in argv for row in read_jsonl(Path(path)) if row["claim"].strip()]
    cache = VerdictCache(maxsize=64 * len(rows))
    lines: list[list[str]] = []
    for band in (*BANDS, None):
        by_judge = [[met(r, n, j, band, cache) for n, r in enumerate(rows)] for j in JUDGES]
        first, shares = by_judge[0], [balanced(found) for found in by_judge]
        settled = [m.supported == m.label for m in first if not m.asked]
        lines.append(
            [
                f"{band[0]:g} to {band[1]:g}" if band else "every claim",
                percent(sum(m.asked for m in first), len(first)),
                percent(sum(settled), len(settled)),
                *(f"{share:.1%}" for share in shares),
                f"{sum(shares) / len(shares):.1%}",
            ]
        )
    print(f"{len(rows):,} claims\n")
    head = ["band", "asked", "the others settled right", *(f"judge of {j:.0%}" for j in JUDGES)]
    head.append("mean")
    table(head, lines)


if __name__ == "__main__":
    main(sys.argv[1:])
