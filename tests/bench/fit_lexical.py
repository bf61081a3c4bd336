"""Fit the coefficients of the lexical verifier; prints them and what they reach.

    python -m tests.bench.fit_lexical SHARED_DATA_DIR

In: `train.jsonl.gz` and `dev.jsonl` of labelled pairs (`context`, `claim`, `label`, `dataset`,
`lang`). Out: the two constants for `faithguard/verifiers/_lexical.py`. Half of the rows get
passages of other rows as distractors, as a retriever would bring them. Needs scikit-learn.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from faithguard.types import Passage
from faithguard.verifiers import Context
from faithguard.verifiers._lexical import features
from faithguard.verifiers._terms import analyse
from faithguard.verifiers._values import find_values

CAP = 1_200
"""Rows of one dataset: no single kind of text decides."""

PUZZLES = {"med", "folio", "conjnli", "cad_nli", "negnli", "sharc", "pubmedqa", "xquad_en", "snli"}
"""Sets made so that words do not help, or whose claims are one word: nothing to fit here."""

AGAINST = {"slot", "substituted", "name_missing", "strong_missing", "polarity"}
"""Features that speak against support."""


def main(folder: Path) -> None:
    """Fit on train, measure on dev."""
    rng = random.Random(7)
    with gzip.open(folder / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        train = [json.loads(line) for line in lines]
    with (folder / "dev.jsonl").open(encoding="utf-8") as lines:
        dev = [json.loads(line) for line in lines]
    rows = sample(train, rng)
    x, y, _ = table(rows + made(rows, rng), rng, distract=0.5)
    names = list(features(analyse("x"), Context([Passage(text="x")]).select("x")))
    weights, intercept = fit(x, y, [-1 if n in AGAINST else 1 for n in names])
    for name, value in zip(names, weights, strict=True):
        print(f'    "{name}": {value:.2f},')
    print(f"INTERCEPT = {intercept:.2f}")
    for label, share in (("as they are", 0.0), ("among distractors", 1.0)):
        dx, dy, sets = table([r for r in dev if r["lang"] == "en"], rng, distract=share)
        p = 1 / (1 + np.exp(-(dx @ weights + intercept)))
        print(label, "AUROC", f"{roc_auc_score(dy, p):.3f}", "balanced", f"{balanced(dy, p):.3f}")
        for name in sorted(set(sets)):
            here = np.array([s == name for s in sets])
            if 0 < dy[here].mean() < 1:
                print(f"  {name:18s} {here.sum():4d} {balanced(dy[here], p[here]):.3f}")


def fit(x: np.ndarray, y: np.ndarray, signs: list[int]) -> tuple[np.ndarray, float]:
    """Return weights and intercept of a balanced logistic regression.

    The sign of each weight is given, so that it can be read: more coverage never harms.
    """
    balance = np.where(y == 1, 0.5 / (y == 1).mean(), 0.5 / (y == 0).mean())

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w[:-1] + w[-1]
        p = 1 / (1 + np.exp(-z))
        slope = balance * (p - y) / len(y)
        value = (balance * (np.logaddexp(0, z) - y * z)).mean() + 1e-4 * (w[:-1] ** 2).sum()
        return value, np.append(x.T @ slope + 2e-4 * w[:-1], slope.sum())

    bounds = [(0, None) if sign > 0 else (None, 0) for sign in signs] + [(None, None)]
    w = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return w[:-1], float(w[-1])


def sample(rows: list[dict], rng: random.Random) -> list[dict]:
    """Return English rows, at most `CAP` of a dataset."""
    rng.shuffle(rows)
    seen: Counter[str] = Counter()
    kept = []
    for row in rows:
        if row["dataset"] in PUZZLES:
            continue
        if row["lang"] == "en" and seen[row["dataset"]] < CAP and len(row["claim"].split()) > 2:
            seen[row["dataset"]] += 1
            kept.append(row)
    return kept


def made(rows: list[dict], rng: random.Random) -> list[dict]:
    """Return the rows that such sets lack: what a model that reads its context writes.

    A sentence of the context with a few words left out is supported. It is not when it comes
    from another context, has a clause from there added, a few of its words or a name replaced
    by foreign ones, or is made stronger than it was.
    """
    texts = [r["context"] for r in rows if sum(map(len, r["context"])) > 300]
    out = []
    for _ in range(9_000):
        context, other = rng.sample(texts, 2)
        true, foreign = (rng.choice(split(" ".join(c))) for c in (context, other))
        words = true.split()
        kept = " ".join(w for w in words if rng.random() > rng.choice((0.0, 0.1, 0.25)))
        label = rng.random() < 0.5
        claim = kept if label else rng.choice(WRONGS)(kept.split(), foreign.split(), rng)
        if not label and (swapped := exchanged(true, " ".join(context), rng)):
            claim = swapped
        if len(claim.split()) > 2:
            out.append({"context": context, "claim": claim, "label": int(label), "dataset": "made"})
    return out


def other(kept: list[str], foreign: list[str], rng: random.Random) -> str:
    """Return the foreign sentence."""
    return " ".join(foreign)


def added(kept: list[str], foreign: list[str], rng: random.Random) -> str:
    """Return the true sentence with a foreign clause."""
    return " ".join([*kept, "and", *foreign[: rng.randint(4, 10)]])


def replaced(kept: list[str], foreign: list[str], rng: random.Random) -> str:
    """Return the true sentence with one to three words from elsewhere in place of its own."""
    words = list(kept)
    places = [i for i, word in enumerate(words) if len(word) > 3]
    strange = [word for word in foreign if len(word) > 3] or foreign
    for i in rng.sample(places, min(len(places), rng.randint(1, 3))):
        words[i] = rng.choice(strange)
    return " ".join(words)


def renamed(kept: list[str], foreign: list[str], rng: random.Random) -> str:
    """Return the true sentence with one of its names replaced by a foreign one."""
    places = [i for i, word in enumerate(kept) if i and word[:1].isupper()]
    names = [word for word in foreign[1:] if word[:1].isupper() and word not in kept]
    if not places or not names:
        return replaced(kept, foreign, rng)
    at = rng.choice(places)
    return " ".join([*kept[:at], rng.choice(names), *kept[at + 1 :]])


def stronger(kept: list[str], foreign: list[str], rng: random.Random) -> str:
    """Return the true sentence with a word that claims more."""
    at = rng.randrange(len(kept) + 1)
    return " ".join([*kept[:at], *rng.choice(STRONGER).split(), *kept[at:]])


def exchanged(true: str, context: str, rng: random.Random) -> str | None:
    """Return the true sentence with one of its values replaced by another of the context."""
    for mine in find_values(true):
        others = [v for v in find_values(context) if mine.comparable(v) and not mine.agrees(v)]
        if others:
            return true[: mine.start] + rng.choice(others).text + true[mine.end :]
    return None


WRONGS = (other, added, replaced, renamed, stronger)
STRONGER = (
    "the most",
    "the only",
    "the first",
    "always",
    "all",
    "the best",
    "never",
    "the largest",
)


def split(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [s.text for s in Context([Passage(text=text)]).sentences] or [text]


def table(rows: list[dict], rng: random.Random, *, distract: float) -> tuple:
    """Return features, labels and dataset names."""
    by_set = defaultdict(list)
    for row in rows:
        by_set[row["dataset"]].append(row)
    x, y = [], []
    for row in rows:
        passages = list(row["context"])
        if rng.random() < distract:
            others = [*rng.sample(rows, min(4, len(rows))), rng.choice(by_set[row["dataset"]])]
            passages += [o["context"][0] for o in others if o["context"] != row["context"]]
            rng.shuffle(passages)
        context = Context([Passage(text=text) for text in passages])
        terms = analyse(row["claim"])
        x.append(list(features(terms, context.select(row["claim"])).values()))
        y.append(row["label"])
    return np.array(x), np.array(y), [row["dataset"] for row in rows]


def balanced(y: np.ndarray, p: np.ndarray) -> float:
    """Return balanced accuracy at 0.5."""
    return float(((p[y == 1] >= 0.5).mean() + (p[y == 0] < 0.5).mean()) / 2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
