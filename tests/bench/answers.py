"""Measure what the thresholds mean: false blocks and misses of whole answers, by domain.

    python -m tests.bench.answers [SHARED] [--write]

In: the English claims and sentences of `SHARED/data/dev.jsonl`, read at run time. Out: markdown
tables. An answer of k claims is k rows' claims over all their contexts; a faithful one is made of
supported rows, an unfaithful one has one unsupported row among them. A false block is a faithful
answer that does not pass, a miss an unfaithful one that does; `--write` keeps those of the default
in `faithguard/rates.json`, for the guards of closed domains to quote. Then the single claims:
balanced accuracy at 0.5 and AUROC, beside the lexical floor of the data's description, whose
threshold is tuned on these very rows.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from faithguard import Passage, Report, Scorer, check
from faithguard.types import Exchange
from faithguard.verifiers._lexical import Lexical
from faithguard.verifiers.nli import Nli
from faithguard.verifiers.rules import RULES
from tests.bench._common import (
    ROOT,
    GivenClaims,
    percent,
    quantile,
    read_jsonl,
    shared_folder,
    table,
    wilson,
)

SEED = 11
LENGTHS = (1, 3, 5, 10)
"""Claims of an answer."""

EACH = 300
"""Answers of each length, faithful and unfaithful."""

RESAMPLES = 1_000
DOMAINS = "medical legal financial customer_support educational conversational".split()

Row = dict[str, Any]
Shares: TypeAlias = dict[str, dict[str, dict[str, float]]]
"""False blocks and misses, by domain and number of claims."""


def main(argv: Sequence[str]) -> None:
    """Print the tables."""
    places = [arg for arg in argv if arg != "--write"]
    path = shared_folder(places, "data/dev.jsonl") / "data" / "dev.jsonl"
    rows = [
        row
        for row in read_jsonl(path)
        if row["lang"] == "en" and row["granularity"] in ("claim", "sentence")
    ]
    default = Scorer()
    shares = answers("the default", rows, default)
    if "--write" in argv:
        write(default, shares)
    members = {"words": Lexical(), "the NLI model": Nli(words=True)}
    for title, member in members.items():
        if member.name != default.verifiers[-1].name:
            answers(f"with {title}", rows, Scorer(verifiers=[*(rule() for rule in RULES), member]))
    single_claims(rows)


def write(scorer: Scorer, shares: Shares) -> None:
    """Keep the shares for guards to quote."""
    held = {
        "verifiers": [verifier.name for verifier in scorer.verifiers],
        "answers": EACH,
        "domains": shares,
    }
    path = ROOT / "faithguard" / "rates.json"
    path.write_text(json.dumps(held, indent=2) + "\n", "utf-8")


# -- answers ----------------------------------------------------------------------------------


def answers(title: str, rows: Sequence[Row], scorer: Scorer) -> Shares:
    """Print false blocks and misses by domain and length, and return them."""
    rng = random.Random(SEED)
    reports = {
        (length, faithful): [scored(made(rows, length, faithful, rng), scorer) for _ in range(EACH)]
        for length in LENGTHS
        for faithful in (True, False)
    }
    shares = {
        domain: {
            str(length): {
                "false_blocks": sum(not passes(r, domain) for r in reports[length, True]) / EACH,
                "misses": sum(passes(r, domain) for r in reports[length, False]) / EACH,
            }
            for length in LENGTHS
        }
        for domain in DOMAINS
    }
    lines = [
        [
            domain,
            *(f"{100 * share:.1f}%" for of in shares[domain].values() for share in of.values()),
        ]
        for domain in DOMAINS
    ]
    low, high = wilson(EACH // 2, EACH)
    width = 50 * (high - low)
    print(f"## Answers, {title}: {EACH} of each kind (95%: at most {width:.1f} points)\n")
    head = ["domain"]
    for length in LENGTHS:
        unit = "claim" if length == 1 else "claims"
        head += [f"{length} {unit}: false blocks", "misses"]
    table(head, lines)
    outcomes(reports)
    return shares


def outcomes(reports: dict[tuple[int, bool], list[Report]]) -> None:
    """Print what became of the answers, whatever the domain."""
    lines = []
    for (length, faithful), group in reports.items():
        scores = [report.score for report in group if report.score is not None]
        facts = sum(report.total for report in group) / len(group)
        kind = "faithful" if faithful else "unfaithful"
        supported = sum(report.supported for report in group)
        lines.append(
            (
                f"{length}, {kind}",
                f"{facts:.2f}",
                percent(supported, sum(report.total for report in group)),
                f"{sum(scores) / len(scores):.2f}" if scores else "-",
                len(group) - len(scores),
            )
        )
    head = ("claims, kind", "facts found", "of them supported", "mean score", "without a score")
    table(head, lines)


def made(rows: Sequence[Row], length: int, faithful: bool, rng: random.Random) -> list[Row]:
    """Choose the rows of one answer, no two of them with the same context."""
    good = [row for row in rows if row["label"] == 1]
    bad = [row for row in rows if row["label"] == 0]
    chosen = [] if faithful else [rng.choice(bad)]
    while len(chosen) < length:
        row = rng.choice(good)
        if all(row["context"] != other["context"] for other in chosen):
            chosen.append(row)
    rng.shuffle(chosen)
    return chosen


def scored(chosen: Sequence[Row], scorer: Scorer) -> Report:
    """Return the report of an answer made of these rows."""
    context = list(dict.fromkeys(text for row in chosen for text in row["context"]))
    return check(" ".join(stopped(row["claim"]) for row in chosen), context, scorer=scorer)


def stopped(claim: str) -> str:
    """Return a claim that ends like a sentence."""
    claim = claim.strip()
    return claim if claim.endswith((".", "!", "?", '."', ".'")) else claim + "."


def passes(report: Report, domain: str) -> bool:
    """Say whether a guard lets the answer through."""
    return report.decide(domain).passed


# -- claims -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """One row and what was said of it."""

    dataset: str
    label: bool
    p: float
    supported: bool


def single_claims(rows: Sequence[Row]) -> None:
    """Print balanced accuracy and AUROC of the embedded default and of the floor."""
    scorer = Scorer(extractor=GivenClaims())
    ours = [judged(row, scorer) for row in rows]
    floor = floored(rows)
    groups = {
        "faithguard at 0.5": ours,
        "faithguard, threshold tuned here": tuned(ours),
        "lexical floor, threshold tuned here": floor,
    }
    lines = [figures(name, group) for name, group in groups.items()]
    print(f"## Claims: {len(rows)} rows, {sum(one.label for one in ours)} supported\n")
    head = ("what", "balanced accuracy", "95% (bootstrap)", "AUROC", "supported kept", "detected")
    table(head, lines)
    names = sorted({one.dataset for one in ours})
    lines = []
    for name in names:
        pair = [[one for one in group if one.dataset == name] for group in (ours, floor)]
        accuracy = [f"{100 * balanced(group):.1f}" for group in pair]
        lines.append((name, len(pair[0]), *accuracy, *(f"{auroc(group):.2f}" for group in pair)))
    head = ("data set", "rows", "balanced accuracy", "floor", "AUROC", "floor's AUROC")
    table(head, lines)


def judged(row: Row, scorer: Scorer) -> Judged:
    """Return what the local cascade says of a claim taken as it is."""
    [claim] = scorer.score(exchange_of(row)).claims
    return Judged(row["dataset"], row["label"] == 1, claim.p_supported or 0.0, claim.supported)


def exchange_of(row: Row) -> Exchange:
    """Return the exchange whose answer is the claim of a row."""
    passages = tuple(Passage(text=text) for text in row["context"])
    return Exchange(id=row["id"], answer=row["claim"], passages=passages)


def floored(rows: Sequence[Row]) -> list[Judged]:
    """Return what the floor says, at its best threshold on these rows."""
    return tuned(
        [
            Judged(
                row["dataset"],
                row["label"] == 1,
                overlap(row["claim"], " ".join(row["context"])),
                False,
            )
            for row in rows
        ]
    )


def tuned(group: Sequence[Judged]) -> list[Judged]:
    """Return the same with the threshold that is best on these very rows."""

    def at(threshold: float) -> list[Judged]:
        return [replace(one, supported=one.p >= threshold) for one in group]

    return max((at(threshold) for threshold in sorted({one.p for one in group})), key=balanced)


STOP = frozenset(
    "a an the of in on at to for from by with and or but is are was were be been being it its this "
    "that these those as he she they his her their there has have had do does did not no".split()
)


def overlap(claim: str, context: str) -> float:
    """Return words found + 0.5 x bigrams found - 0.3 x numbers not found, at most three."""
    words, source = tokens(claim), tokens(context)
    known = set(source)
    content = [word for word in words if word not in STOP] or words
    pairs = list(pairwise(words))
    held = set(pairwise(source))
    numbers = sum(word[0].isdigit() and word not in known for word in words)
    found = sum(word in known for word in content) / max(1, len(content))
    paired = sum(pair in held for pair in pairs) / max(1, len(pairs))
    return found + 0.5 * paired - 0.3 * min(3, numbers)


def tokens(text: str) -> list[str]:
    """Return words and numbers in lower case."""
    return re.findall(r"\d+(?:[.,]\d+)*|\w+", text.lower())


# -- figures ----------------------------------------------------------------------------------


def figures(name: str, group: Sequence[Judged]) -> tuple[str, ...]:
    """Return a row: balanced accuracy with its interval, AUROC, and both shares."""
    low, high = interval(group)
    kept, detected = shares(group)
    return (
        name,
        f"{100 * balanced(group):.1f}",
        f"{100 * low:.1f} to {100 * high:.1f}",
        f"{auroc(group):.3f}",
        f"{100 * kept:.1f}%",
        f"{100 * detected:.1f}%",
    )


def shares(group: Sequence[Judged]) -> tuple[float, float]:
    """Return the share of supported claims that are kept, and of unsupported that are detected."""
    kept = [one.supported for one in group if one.label]
    detected = [not one.supported for one in group if not one.label]
    return sum(kept) / max(1, len(kept)), sum(detected) / max(1, len(detected))


def balanced(group: Sequence[Judged]) -> float:
    """Return the mean of both shares."""
    return sum(shares(group)) / 2


def interval(group: Sequence[Judged]) -> tuple[float, float]:
    """Return the 95% percentile interval of balanced accuracy, resampled within data sets."""
    rng = random.Random(SEED)
    strata: dict[str, list[Judged]] = defaultdict(list)
    for one in group:
        strata[one.dataset].append(one)
    values = [
        balanced([one for part in strata.values() for one in rng.choices(part, k=len(part))])
        for _ in range(RESAMPLES)
    ]
    return quantile(values, 0.025), quantile(values, 0.975)


def auroc(group: Sequence[Judged]) -> float:
    """Return the chance that a supported claim has the higher probability; ties count half."""
    good = [one.p for one in group if one.label]
    bad = [one.p for one in group if not one.label]
    if not good or not bad:
        return float("nan")
    wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    return wins / (len(good) * len(bad))


if __name__ == "__main__":
    main(sys.argv[1:])
