"""Measure the embedded default on natural answers that no part of it was fitted to.

    python -m tests.bench.held [short] [STEP]

In: `tests/data/answers_held.txt`, or with "short" `short_held.txt`; with STEP, every STEP-th claim
of it, each taken as it is. Out: a markdown table of balanced accuracy with a bootstrap interval,
AUROC, the supported claims kept and the unsupported ones detected: for the default, for its rules
with words instead of the model, and for the lexical floor, whose threshold is tuned on these very
rows.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from faithguard import Scorer
from faithguard.verifiers._lexical import Lexical
from faithguard.verifiers.rules import RULES
from tests.bench._common import GivenClaims, table
from tests.bench.answers import Row, figures, floored, judged
from tests.train.written import HELD, SHORT_HELD, rows


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    short = "short" in argv
    step = next((int(one) for one in argv if one.isdigit()), 1)
    path, what = (SHORT_HELD, "Short and half-kept claims") if short else (HELD, "Natural answers")
    chosen: list[Row] = [
        {**row, "id": f"held-{number}"} for number, row in enumerate(rows(path), start=1)
    ][::step]
    default = Scorer(extractor=GivenClaims())
    words = Scorer(extractor=GivenClaims(), verifiers=[*(rule() for rule in RULES), Lexical()])
    groups = {
        "the default": [judged(row, default) for row in chosen],
        "rules and words": [judged(row, words) for row in chosen],
        "lexical floor, threshold tuned here": floored(chosen),
    }
    print(f"## {what}: {len(chosen)} claims, {sum(r['label'] for r in chosen)} supported\n")
    head = ("what", "balanced accuracy", "95% (bootstrap)", "AUROC", "supported kept", "detected")
    table(head, [figures(name, group) for name, group in groups.items()])


if __name__ == "__main__":
    main(sys.argv[1:])
