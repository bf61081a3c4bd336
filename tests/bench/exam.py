"""Run the two exams of `tests/data` with the embedded default, and print what it gets right.

    python -m tests.bench.exam [--rows]

In: `exam_verdicts.jsonl`, `exam_claims.jsonl`. Out: by family, how many of the unsupported
claims are detected and how many of the supported ones are kept; and how often the splitter
agrees with the exam. `--rows` lists what went wrong. A labelled claim is found by its anchor: the
facts of the report that overlap with it. One of them unsupported means unsupported. The last
column: how many of the detected claims are contradicted, or not mentioned, as the exam says.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from faithguard import Claim, Scorer, check
from faithguard.claims import LocalClaims
from tests.bench._common import ROOT, percent, read_jsonl, table

DATA = ROOT / "tests" / "data"


def main(argv: Sequence[str]) -> None:
    """Print the tables of both exams."""
    wrong = verdicts() + claims()
    if "--rows" in argv:
        print("\n".join(wrong))
    else:
        heads = sum(not line.startswith(" ") for line in wrong)
        print(f"{heads} differences; --rows lists them")


# -- verdicts ---------------------------------------------------------------------------------


def verdicts() -> list[str]:
    """Print detection and keeping by family; return what went wrong."""
    tally: dict[str, list[list[bool]]] = defaultdict(lambda: [[], [], []])
    wrong = []
    scorer = Scorer()
    for row in read_jsonl(DATA / "exam_verdicts.jsonl"):
        report = check(row["answer"], row["context"], question=row["question"], scorer=scorer)
        for want in row["claims"]:
            found = at_anchor(report.claims, row["answer"], want["anchor"])
            got = said(found)
            right = got == want["label"]
            tally[row["family"]][want["label"] == "supported"].append(right)
            if want.get("kind") and right:
                named = any(claim.label == want["kind"] for claim in found)
                tally[row["family"]][2].append(named)
            if not right:
                wrong.append(f"{row['id']}: {want['anchor']!r} is {want['label']}, got {got}")
                wrong += [f"    {explain(claim)}" for claim in found]
    print("## Verdicts: claims of the exam\n")
    head = ("family", "unsupported detected", "supported kept", "named as in the exam")
    table(head, [family_row(name, tally[name]) for name in sorted(tally)] + [total(tally)])
    return wrong


def at_anchor(claims: Sequence[Claim], answer: str, anchor: str) -> list[Claim]:
    """Return the facts at an anchor: half of the claim, or of the anchor, lies in the other."""
    start = answer.index(anchor)
    end = start + len(anchor)
    found = []
    for claim in claims:
        shared = min(end, claim.span[1]) - max(start, claim.span[0])
        shorter = min(end - start, claim.span[1] - claim.span[0])
        if claim.kind == "fact" and 2 * shared >= shorter:
            found.append(claim)
    return found


def said(found: Sequence[Claim]) -> str:
    """Return what the report says of an anchor."""
    if not found:
        return "no fact"
    return "supported" if all(claim.supported for claim in found) else "unsupported"


def explain(claim: Claim) -> str:
    """Return a claim and what decided, in one line."""
    p = "-" if claim.p_supported is None else f"{claim.p_supported:.2f}"
    return f"{claim.kind} {claim.label} p={p} {claim.verifier}: {claim.text!r} ({claim.reason})"


def family_row(name: str, groups: Sequence[Sequence[bool]]) -> list[str]:
    """Return counts and shares."""
    return [name, *(f"{sum(g)}/{len(g)} {percent(sum(g), len(g))}" for g in groups)]


def total(tally: dict[str, list[list[bool]]]) -> list[str]:
    """Return the row of all families together."""
    groups = [[held for family in tally.values() for held in family[n]] for n in range(3)]
    return family_row("**all**", groups)


# -- claims -----------------------------------------------------------------------------------


def claims() -> list[str]:
    """Print how often the splitter agrees, by family; return where it does not."""
    tally: dict[str, list[list[bool]]] = defaultdict(lambda: [[], [], []])
    wrong = []
    for row in read_jsonl(DATA / "exam_claims.jsonl"):
        got = LocalClaims().extract(row["answer"], row["question"])
        covered = [is_covered(got, row["answer"], want) for want in row["claims"]]
        facts = sum(claim.kind == "fact" for claim in got)
        counted = in_range(facts, row["n_facts"])
        for group, held in zip(tally[row["family"]], (counted, all(covered)), strict=False):
            group.append(held)
        tally[row["family"]][2].append(counted and all(covered))
        if not (counted and all(covered)):
            missed = [w for w, held in zip(row["claims"], covered, strict=True) if not held]
            wrong.append(f"{row['id']}: {facts} facts, {row['n_facts']} expected; missed {missed}")
            wrong += [f"    {claim.kind} {claim.text!r}" for claim in got]
    print("## Claims: answers of the exam\n")
    head = ("family", "number of facts", "each claim, right kind", "both")
    table(head, [family_row(name, tally[name]) for name in sorted(tally)] + [total(tally)])
    return wrong


def is_covered(got: Sequence[Claim], answer: str, want: dict[str, Any]) -> bool:
    """Say whether a claim of that kind spans the text."""
    start = answer.index(want["contains"])
    end = start + len(want["contains"])
    return any(
        claim.kind == want["kind"] and claim.span[0] <= start and end <= claim.span[1]
        for claim in got
    )


def in_range(facts: int, expected: int | list[int]) -> bool:
    """Say whether the number of facts is as expected."""
    low, high = (expected, expected) if isinstance(expected, int) else expected
    return low <= facts <= high


if __name__ == "__main__":
    main(sys.argv[1:])
