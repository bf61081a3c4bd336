"""Measure rules and the NLI model in the wheel, beside rules alone and a lexical floor.

    python -m tests.bench.nli [SHARED]
    python -m tests.bench.nli SHARED FLOAT32.onnx

In: the English rows of `SHARED/data/dev.jsonl`, read at run time, each claim taken as it is. Out:
markdown tables of balanced accuracy at 0.5, with a bootstrap interval, and AUROC: by data set and
as the mean over sets; for dev as it is, and with each context among the passages of other rows, 4
to 20 in all. The floor's threshold is tuned on these very rows. With the float32 file that the
shipped int8 one was made of, the second form says instead how often the two give the same label.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from faithguard import Passage, Scorer
from faithguard.verifiers import Context
from faithguard.verifiers.nli import SHIPPED, Model, Nli, served
from faithguard.verifiers.nli._premises import premises
from faithguard.verifiers.rules import RULES
from tests.bench._common import GivenClaims, percent, read_jsonl, shared_folder, table
from tests.bench.answers import Judged, Row, auroc, balanced, exchange_of, figures, floored, judged
from tests.bench.rules import VETOES

SEED = 11
PASSAGES = (4, 20)
"""Passages of a row of the distractor set."""


def main(argv: Sequence[str]) -> None:
    """Print the tables."""
    path = shared_folder(argv[:1], "data/dev.jsonl") / "data" / "dev.jsonl"
    rows = [row for row in read_jsonl(path) if row["lang"] == "en"]
    if len(argv) > 1:
        agreement(Path(argv[1]), rows)
        return
    rng = random.Random(SEED)
    report("dev", rows)
    report("dev among other passages", [among(row, rows, rng) for row in rows])


def among(row: Row, rows: Sequence[Row], rng: random.Random) -> Row:
    """Return a row whose context stands among passages of other rows."""
    others = [text for other in rng.sample(list(rows), 20) for text in other["context"]]
    others = [text for text in others if text not in row["context"]]
    total = rng.randint(*PASSAGES)
    passages = [*row["context"], *others[: max(0, total - len(row["context"]))]]
    rng.shuffle(passages)
    return {**row, "context": passages}


def report(title: str, rows: Sequence[Row]) -> None:
    """Print the tables of one set of rows."""
    whole = Scorer(extractor=GivenClaims(), verifiers=[*(rule() for rule in RULES), Nli()])
    rules = Scorer(extractor=GivenClaims(), verifiers=[rule() for rule in RULES])
    groups = {
        "rules and the model at 0.5": [judged(row, whole) for row in rows],
        "rules alone, silence taken for support": [silent(row, rules) for row in rows],
        "lexical floor, threshold tuned here": floored(rows),
    }
    print(f"## {title}: {len(rows)} rows\n")
    head = ("what", "balanced accuracy", "95% (bootstrap)", "AUROC", "supported kept", "detected")
    table(head, [figures(name, group) for name, group in groups.items()])
    names = sorted({row["dataset"] for row in rows})
    sets = [
        [[one for one in group if one.dataset == name] for group in groups.values()]
        for name in names
    ]
    lines: list[tuple[str, ...]] = [
        (name, str(len(of[0])), *(f"{100 * balanced(g):.1f}" for g in of), *areas(of))
        for name, of in zip(names, sets, strict=True)
    ]
    means = [100 * fmean(balanced(of[n]) for of in sets) for n in range(len(groups))]
    mean_areas = [fmean(auroc(of[n]) for of in sets) for n in (0, 2)]
    lines.append(("mean", "", *(f"{m:.1f}" for m in means), *(f"{a:.3f}" for a in mean_areas)))
    head = ("data set", "rows", "faithguard", "rules", "floor", "AUROC", "floor's AUROC")
    table(head, lines)


def areas(groups: Sequence[Sequence[Judged]]) -> tuple[str, str]:
    """Return the AUROC of the cascade and of the floor; rules alone give no order."""
    return f"{auroc(groups[0]):.2f}", f"{auroc(groups[2]):.2f}"


def silent(row: Row, rules: Scorer) -> Judged:
    """Return what rules say of a claim; one on which they are silent passes."""
    [claim] = rules.score(exchange_of(row)).claims
    return Judged(row["dataset"], row["label"] == 1, 0.0, claim.label not in VETOES)


def agreement(float32: Path, rows: Sequence[Row]) -> None:
    """Print how often the shipped file says what another file of the same model says."""
    pairs: list[tuple[str, str]] = []
    for row in rows:
        context = Context([Passage(text=text) for text in row["context"]])
        selection = context.select(row["claim"])
        pairs += [(p.text, row["claim"]) for p in premises(row["claim"], selection, context)]
    shipped = served(SHIPPED)
    small = Model(shipped).read(pairs)
    large = Model(replace(shipped, file=float32)).read(pairs)
    both = [(a, b) for a, b in zip(small, large, strict=True) if a is not None and b is not None]
    same = sum(a.index(max(a)) == b.index(max(b)) for a, b in both)
    share = percent(same, len(both))
    print(f"int8 and float32 give the same label to {same} of {len(both)} pairs: {share}")
    print("budget: at least 98.5%")


if __name__ == "__main__":
    main(sys.argv[1:])
