"""Measure repair over its exam: what is delivered, and what became of it.

    python -m tests.bench.repair [--rows]

In: `tests/data/repairs.jsonl`. Out: a markdown table by form, once with verdicts that are right
(the mechanism alone) and once with the local cascade: rows that came out as they should (nothing
false left, nothing true lost, the rest byte for byte the same; or held back where nothing is
left), rows that were held back, false claims delivered, and of these what the verifier had
flagged; and the time that mending adds. `--rows` lists what did not come out right.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from faithguard import Scorer
from tests.bench._common import percent, table
from tests.repairs import Outcome, Row, Truth, mend, rows

Scoring = Callable[[Row], Scorer]

VERIFIERS: dict[str, Scoring] = {
    "right verdicts": lambda row: Scorer(verifiers=[Truth(row)]),
    "local cascade": lambda row: Scorer(),
}


def main(argv: Sequence[str]) -> None:
    """Print the tables."""
    for name, scoring in VERIFIERS.items():
        outcomes = [mend(row, scoring(row)) for row in rows()]
        print(f"\n{name}\n")
        forms = list(dict.fromkeys(row.form for row in rows()))
        body = [_line(form, [o for o in outcomes if o.row.form == form]) for form in forms]
        heads = ("form", "rows", "as they should", "held back", "false delivered", "flagged")
        table(heads, [*body, _line("all", outcomes)])
        print(f"\nmending adds {1000 * _added(scoring):.1f} ms to a row that needs it (median)")
        if "--rows" in argv:
            for outcome in outcomes:
                for fault in outcome.faults():
                    print(f"- {outcome.row.id}: {fault}")


def _line(name: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    right = sum(not outcome.faults() for outcome in outcomes)
    sent = [(outcome, outcome.delivered) for outcome in outcomes if outcome.delivered is not None]
    return (
        name,
        str(len(outcomes)),
        f"{right} ({percent(right, len(outcomes))})",
        str(len(outcomes) - len(sent)),
        str(sum(bool(outcome.left(text)) for outcome, text in sent)),
        str(sum(bool(outcome.record.report.unsupported) for outcome, _ in sent)),
    )


def _added(scoring: Scoring) -> float:
    """Return the seconds between the first report and what is delivered: their median."""
    spent: list[float] = []
    for row in rows():
        scorer = scoring(row)
        if scorer.score(row.exchange).unsupported:
            started = time.perf_counter()
            mend(row, scorer)  # the verdicts of its first report come from the cache
            spent.append(time.perf_counter() - started)
    return sorted(spent)[len(spent) // 2]


if __name__ == "__main__":
    main(sys.argv[1:])
