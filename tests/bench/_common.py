"""What the benches share: where the shared folder is, tables, claims given by hand, intervals.

In: plain rows. Out: markdown tables that a README can quote; nothing here measures or judges.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithguard.types import Claim

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
"""The folder of seeds and labelled data, beside the repository; it is no part of it."""


def shared_folder(argv: Sequence[str], part: str) -> Path:
    """Return the shared folder named in `argv`, or the usual one; exit 2 if it has no `part`."""
    folder = Path(argv[0]) if argv else SHARED
    if not (folder / part).exists():
        print(
            f"{folder / part} is not there: this bench reads it at run time and the repository "
            "holds no copy. Pass the shared folder as the first argument.",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return folder


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a markdown table, padded so that it reads well in a terminal too."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in [head, *rows]]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    rule = ["-" * width for width in widths]
    for row in [cells[0], rule, *cells[1:]]:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")
    print()


def percent(part: int, whole: int) -> str:
    """Return a share in per cent, or a dash where there is nothing to share."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson 1927)."""
    if not whole:
        return (0.0, 1.0)
    z, p = 1.96, part / whole
    middle = p + z * z / (2 * whole)
    half = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return (max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


@dataclass(frozen=True, slots=True)
class GivenClaims:
    """An extractor whose claims are given: one for each line, or for the whole answer."""

    lines: bool = False
    name: str = "given@1"

    def extract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims as facts."""
        texts = answer.split("\n") if self.lines else [answer]
        claims, at = [], 0
        for number, text in enumerate(texts, start=1):
            claims.append(Claim(id=f"c{number}", text=text, span=(at, at + len(text))))
            at += len(text) + 1
        return claims

    async def aextract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims as facts."""
        return self.extract(answer, question)
