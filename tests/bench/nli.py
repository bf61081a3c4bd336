"""Measure a trained model: how its evidence reaches it, alone and mixed with words and values.

    python -m tests.bench.nli MODEL [SHARED] [ROWS]

In: a folder that `faithguard train` wrote (`onnx/`), and `SHARED/data/dev.jsonl` and
`train.jsonl.gz`, read at run time. Out: markdown tables of balanced accuracy at 0.5 and AUROC:
by data set, as means over sets, for dev as it is and with each context among 4 to 20 passages of
other rows. The mix is a logistic regression that is fitted on the part of train that is held
apart for calibration; dev is only measured. Needs the extra `train`.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from faithguard.train._batches import Batch, Encoder
from faithguard.train._calibration import Logistic, fit, log_odds
from faithguard.train._examples import Example
from faithguard.train._export import FLOAT32, INT8, agreement, probabilities
from faithguard.train._figures import Judged, area, balanced, mean_over_sets
from faithguard.train._rows import Row, read_rows, split
from faithguard.types import Passage
from faithguard.verifiers import Context
from faithguard.verifiers._lexical import features
from faithguard.verifiers._terms import analyse
from tests.bench._common import shared_folder, table
from tests.bench.answers import overlap

PUZZLES = frozenset(
    "snli cad_nli med mnli negnli conjnli folio entbank fever_sym sharc pubmedqa".split()
)
"""Sets made so that words do not help: the mix would learn that words speak against a claim."""

SEED = 11
MOST_FITTED = 1_500
"""Rows that the mix is fitted on."""

ROOM = 85
"""Words of a premise and a claim, as in training."""


@dataclass(frozen=True, slots=True)
class Case:
    """A row as it is asked: one premise of several sentences, and short ones."""

    row: Row
    joint: str
    windows: tuple[str, ...]
    words: dict[str, float]
    floor: float


def main(argv: Sequence[str]) -> None:
    """Print the tables."""
    folder = Path(argv[0])
    shared = shared_folder(argv[1:2], "data/dev.jsonl") / "data"
    most = int(argv[2]) if len(argv) > 2 else None
    judge = Judge(folder)
    dev = taken(read_rows(shared / "dev.jsonl"), most)
    apart = split(read_rows(shared / "train.jsonl.gz")).calibration
    held = taken([row for row in apart if row.dataset not in PUZZLES], most or MOST_FITTED)
    rng = random.Random(SEED)
    fitted = [case(among(row, held, rng) if rng.random() < 0.4 else row) for row in held]
    mix = fit(
        [
            (mixed, one.row.target == "e")
            for one, mixed in zip(fitted, judge.features(fitted), strict=True)
        ]
    )
    print("The mix:", ", ".join(f"{n} {w:+.2f}" for n, w in mix.weights.items()), "\n")
    report("dev", judge, mix, [case(row) for row in dev])
    report("dev among other passages", judge, mix, [case(among(r, dev, rng)) for r in dev])
    judge.compare([case(row) for row in dev])


def taken(rows: Sequence[Row], most: int | None) -> list[Row]:
    """Return some of the rows, at random."""
    order = list(rows)
    random.Random(SEED).shuffle(order)
    return order[:most]


def among(row: Row, rows: Sequence[Row], rng: random.Random) -> Row:
    """Return a row whose context stands among passages of other rows."""
    others = [text for other in rng.sample(rows, min(len(rows), 20)) for text in other.context]
    others = [text for text in others if text not in row.context]
    total = rng.randint(4, 20)
    passages = [*row.context, *others[: max(0, total - len(row.context))]]
    rng.shuffle(passages)
    return Row(context=tuple(passages), claim=row.claim, target=row.target, dataset=row.dataset)


def case(row: Row) -> Case:
    """Choose the premises of a row: the best sentences, each alone, with its left neighbour."""
    context = Context([Passage(text=text) for text in row.context])
    selection = context.select(row.claim, most=4)
    found = list(selection.sentences) or list(context.sentences[:1])
    place = {sentence: n for n, sentence in enumerate(context.sentences)}
    windows = [sentence.text for sentence in found]
    for sentence in found:
        n = place[sentence]
        if n and context.sentences[n - 1].passage == sentence.passage:
            windows.append(f"{context.sentences[n - 1].text} {sentence.text}")
    best = sorted(found[:3], key=lambda sentence: place[sentence])
    joint = " ".join(sentence.text for sentence in best)
    whole = " ".join(row.context)
    if len(whole.split()) + len(row.claim.split()) <= ROOM:
        joint = whole
    return Case(
        row=row,
        joint=joint,
        windows=tuple(dict.fromkeys(w for w in windows if w != joint)),
        words=features(analyse(row.claim), context.select(row.claim)),
        floor=overlap(row.claim, whole),
    )


class Judge:
    """A model of a folder."""

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "model.json").read_text("utf-8"))
        self._folder, self._file = folder, folder / about["file"]
        self._encoder = Encoder(folder / "tokenizer.json", longest=about["longest"])

    def asked(self, pairs: Sequence[tuple[str, str]], file: Path) -> list[tuple[float, ...]]:
        """Return the three probabilities of each pair of premise and claim, in order."""
        examples = [Example(premise=p, claim=c, target="nc", dataset="") for p, c in pairs]
        pieces = self._encoder.encode(examples)
        order = sorted(range(len(pairs)), key=lambda n: len(pieces[n][0]))
        batches = [
            Batch(
                pieces=tuple(pieces[n] for n in order[at : at + 4]),
                targets=("nc",) * len(order[at : at + 4]),
                datasets=("",) * len(order[at : at + 4]),
            )
            for at in range(0, len(order), 4)
        ]
        start = time.perf_counter()
        found = probabilities(file, batches, pad=0)
        seconds = time.perf_counter() - start
        print(f"{len(pairs):,} pairs: {1e3 * seconds / max(1, len(pairs)):.1f} ms each", flush=True)
        by_pair = dict(zip(order, found, strict=True))
        return [by_pair[n] for n in range(len(pairs))]

    def features(self, cases: Sequence[Case]) -> list[dict[str, float]]:
        """Return what the mix rests on."""
        pairs = [(p, one.row.claim) for one in cases for p in (one.joint, *one.windows)]
        answers = iter(self.asked(pairs, self._file))
        rows = []
        for one in cases:
            group = [next(answers) for _ in range(1 + len(one.windows))]
            rows.append(
                {
                    "joint": log_odds(group[0][0]),
                    "best": log_odds(max(p[0] for p in group)),
                    "against": log_odds(max(p[2] for p in group)),
                    **{f"words.{name}": value for name, value in one.words.items()},
                    "floor": one.floor,
                }
            )
        return rows

    def compare(self, cases: Sequence[Case]) -> None:
        """Print how alike int8 and float32 are."""
        pairs = [(one.joint, one.row.claim) for one in cases]
        alike = agreement(
            self.asked(pairs, self._folder / FLOAT32), self.asked(pairs, self._folder / INT8)
        )
        print(f"\nint8 against float32: {alike}\n")


def report(title: str, judge: Judge, mix: Logistic, cases: Sequence[Case]) -> None:
    """Print the figures of each way to ask, by data set."""
    found = judge.features(cases)
    threshold = sorted(one.floor for one in cases)[len(cases) // 2]
    ways = {
        "floor at its median": [0.5 + 0.25 * (one.floor - threshold) for one in cases],
        "joint": [sigmoid(f["joint"]) for f in found],
        "best window": [sigmoid(f["best"]) for f in found],
        "mix": [mix.p(f) for f in found],
    }
    judged = {
        name: [
            Judged(one.row.dataset, one.row.target == "e", p)
            for one, p in zip(cases, values, strict=True)
        ]
        for name, values in ways.items()
    }
    print(f"\n## {title}: {len(cases):,} rows\n")
    lines = []
    for name in sorted({one.row.dataset for one in cases}):
        groups = [[one for one in group if one.dataset == name] for group in judged.values()]
        lines.append((name, len(groups[0]), *map(both, groups)))
    lines.append(("all rows", len(cases), *map(both, judged.values())))
    means = [mean_over_sets(group) for group in judged.values()]
    lines.append(("mean over sets", "", *(shown(*pair) for pair in means)))
    table(("data set", "rows", *judged), lines)


def both(group: Sequence[Judged]) -> str:
    """Return balanced accuracy and AUROC."""
    return shown(balanced(group), area(group))


def shown(accuracy: float | None, auroc: float | None) -> str:
    """Return two figures as one cell."""
    return " / ".join("-" if value is None else f"{100 * value:.1f}" for value in (accuracy, auroc))


def sigmoid(z: float) -> float:
    """Return the probability of log odds."""
    return Logistic(weights={"z": 1.0}, intercept=0.0).p({"z": z})


if __name__ == "__main__":
    main(sys.argv[1:])
