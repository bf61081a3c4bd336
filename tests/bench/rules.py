"""Measure the rules: what they detect and what they veto wrongly, alone and in the cascade.

    python -m tests.bench.rules [SHARED] [--half open|closed|later|both] [--rows]

In: `tests/data/near_misses.jsonl`, of which half was left unopened while the rules were written,
and more was written later, unopened as well (`both` is the first two);
`SHARED/data/dev.jsonl` and `SHARED/data/peer_cases.jsonl`, read at run time. Out: markdown tables:
detection and false alarms by family, the supported rows of dev that the rules flip (each listed),
and balanced accuracy on the cases of other checkers, by source. `--rows` lists what went wrong in
the opened half. A claim counts as detected if one fact of it is contradicted or not mentioned.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from faithguard import Claim, Passage, Scorer
from faithguard.claims import Extractor
from faithguard.types import Exchange, Report
from faithguard.verifiers.rules import RULES
from tests.bench._common import ROOT, GivenClaims, percent, read_jsonl, shared_folder, table

HALVES = ("open", "closed", "later", "both")
VETOES = ("contradicted", "not_mentioned")

Row = dict[str, Any]
Checker = Callable[[Row], list[Claim]]
"""Returns the claims of a row that are vetoed."""


def main(argv: Sequence[str]) -> None:
    """Print the tables."""
    half = argv[argv.index("--half") + 1] if "--half" in argv else "open"
    if half not in HALVES:
        print(f"--half takes one of {', '.join(HALVES)}", file=sys.stderr)
        raise SystemExit(2)
    named = [a for a in argv if not a.startswith("--") and a not in HALVES]
    near_misses(half, listed="--rows" in argv and half == "open")
    folder = shared_folder(named, "data/dev.jsonl") / "data"
    flips(read_jsonl(folder / "dev.jsonl"))
    peers(read_jsonl(folder / "peer_cases.jsonl"))


# -- near misses ------------------------------------------------------------------------------


def near_misses(half: str, *, listed: bool) -> None:
    """Print detection and false alarms by family."""
    rows = [
        row
        for row in read_jsonl(ROOT / "tests" / "data" / "near_misses.jsonl")
        if half == row["half"] or (half == "both" and row["half"] != "later")
    ]
    tally: dict[str, list[list[bool]]] = defaultdict(lambda: [[], [], [], []])
    alone, cascade = vetoed_by_rules(), unsupported_by(Scorer())
    for row in rows:
        found = alone(row)
        place = 1 if row["label"] == "supported" else 0
        tally[row["family"]][place].append(bool(found))
        tally[row["family"]][2 + place].append(bool(cascade(row)))
        if listed and bool(found) == bool(place):
            print(f"{row['id']} {row['label']}: {row['what']}")
            for claim in found:
                print(f"    {claim.verifier}: {claim.text!r}: {claim.reason}")
    print(f"## Near misses, {half} half: {len(rows)} rows\n")
    head = ("family", "detected", "false alarms", "cascade: detected", "cascade: false alarms")
    lines = [family_line(name, groups) for name, groups in tally.items()]
    whole = [[one for groups in tally.values() for one in groups[n]] for n in range(4)]
    table(head, [*lines, family_line("**all**", whole)])


def family_line(name: str, groups: Sequence[Sequence[bool]]) -> list[str]:
    """Return counts and shares."""
    return [name, *(f"{sum(g)}/{len(g)} {percent(sum(g), len(g))}" for g in groups)]


def vetoed_by_rules(extractor: Extractor | None = None) -> Checker:
    """Return a checker that knows the rules alone."""
    scorer = Scorer(extractor, verifiers=[rule() for rule in RULES])

    def check(row: Row) -> list[Claim]:
        report = scored(scorer, row)
        return [claim for claim in report.facts if claim.label in VETOES]

    return check


def unsupported_by(scorer: Scorer) -> Checker:
    """Return a checker that knows a whole cascade."""

    def check(row: Row) -> list[Claim]:
        return list(scored(scorer, row).unsupported)

    return check


def scored(scorer: Scorer, row: Row) -> Report:
    """Return the report of a row, whichever file it comes from."""
    return scorer.score(
        Exchange(
            id="row",
            question=row["question"],
            answer=row["claim"] if "claim" in row else row["answer"],
            passages=tuple(Passage(text=text) for text in row["context"]),
        )
    )


# -- supported rows that are flipped ----------------------------------------------------------


def flips(rows: Sequence[Row]) -> None:
    """Print which supported rows the rules alone veto."""
    check = vetoed_by_rules(GivenClaims())
    good = [row for row in rows if row["label"] == 1]
    found = [(row, claims) for row in good if (claims := check(row))]
    bad = [row for row in rows if row["label"] == 0]
    caught = sum(bool(check(row)) for row in bad)
    print(
        f"## dev.jsonl: {len(found)} of {len(good)} supported rows flipped "
        f"({percent(len(found), len(good))}), {caught} of {len(bad)} others vetoed "
        f"({percent(caught, len(bad))})\n"
    )
    for row, claims in found:
        for claim in claims:
            print(f"- {row['id']} ({row['lang']}) {claim.verifier}: {claim.reason}")
    print()


# -- cases of other checkers ------------------------------------------------------------------


def peers(rows: Sequence[Row]) -> None:
    """Print balanced accuracy by source."""
    rows = [row for row in rows if row["expected"] in ("faithful", "unfaithful")]
    alone, cascade = vetoed_by_rules(), unsupported_by(Scorer())
    by_source: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    for row in rows:
        told = (row["expected"] == "unfaithful", bool(alone(row)), bool(cascade(row)))
        by_source[row["source_repo"]].append(told)
        by_source["**all**"].append(told)
    print(f"## peer_cases.jsonl: {len(rows)} cases, balanced accuracy\n")
    lines = [
        (name, len(group), *(balanced(group, n) for n in (1, 2)))
        for name, group in sorted(by_source.items())
    ]
    table(("source", "cases", "rules alone", "rules and local verifier"), lines)


def balanced(group: Sequence[tuple[bool, bool, bool]], which: int) -> str:
    """Return the mean of both shares that are told right; of one where there is but one kind."""
    shares = [
        sum(told[which] == kind for told in group if told[0] == kind) / count
        for kind in (True, False)
        if (count := sum(told[0] == kind for told in group))
    ]
    return f"{100 * sum(shares) / len(shares):.1f}"


if __name__ == "__main__":
    main(sys.argv[1:])
