"""The rows of the exam of repairs, who knows what is wrong in them, and what a result is worth.

In: `tests/data/repairs.jsonl`. Out: rows; a verifier that says of each claim of a row, or of a
mended row, what is true; and what is wrong with a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from faithguard import Policy, Record, Scorer
from faithguard.claims import LocalClaims
from faithguard.guard import Course, Step, asettled, settled
from faithguard.types import Claim, Exchange, Passage, Verdict
from faithguard.verifiers import Context, Finding

__all__ = ["Outcome", "Row", "Truth", "amend", "mend", "rows"]

_ROWS = Path(__file__).parent / "data" / "repairs.jsonl"
_AROUND = r" \t\r\n>*+#-"
_MARKER = re.compile(r"(?m)^((?:>\s*)*[ \t]*)\d{1,3}([.)])")
POLICY = Policy.for_domain("medical", environ={}, on_fail="repair")
"""Lets nothing unsupported through."""


@dataclass(frozen=True)
class Bad:
    """One thing that is wrong in a row."""

    unit: str
    kind: str
    wrong: str
    right: str | None


@dataclass(frozen=True)
class Row:
    """One answer to be mended."""

    id: str
    form: str
    question: str
    context: tuple[str, ...]
    answer: str
    bad: tuple[Bad, ...]
    good: tuple[str, ...]
    accept: tuple[str, ...]

    @property
    def exchange(self) -> Exchange:
        """What a guard would verify."""
        passages = tuple(Passage(text=text) for text in self.context)
        return Exchange(id=self.id, answer=self.answer, passages=passages, question=self.question)

    def places(self) -> list[tuple[int, int, Bad]]:
        """Return where each wrong stretch stands."""
        found: list[tuple[int, int, Bad]] = []
        for bad in self.bad:
            at = self.answer.index(bad.unit) + bad.unit.index(bad.wrong)
            found.append((at, at + len(bad.wrong), bad))
        return found


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows."""
    lines = _ROWS.read_text(encoding="utf-8").splitlines()
    return tuple(_row(json.loads(line)) for line in lines)


def _row(data: dict[str, Any]) -> Row:
    bad = tuple(Bad(b["unit"], b["unit_kind"], b["wrong"], b["right"]) for b in data["bad"])
    return Row(
        data["id"],
        data["form"],
        data["question"],
        tuple(data["context"]),
        data["answer"],
        bad,
        tuple(data["good"]),
        tuple(data.get("accept", ())),
    )


class Truth:
    """Says of each claim of a row what is true; its evidence is what the product selects.

    A claim is supported if it is one of the answer's that touch nothing wrong, or one of the
    answer with all that is wrong put right. Every other claim is not.
    """

    name = "truth@1"

    def __init__(self, row: Row) -> None:
        self._question = row.question
        extract = LocalClaims().extract
        places = row.places()
        self._contradicted: set[str] = set()
        right: set[str] = set()
        wrong: set[str] = set()
        for claim in extract(row.answer, row.question):
            touched = [bad for a, b, bad in places if a < claim.span[1] and claim.span[0] < b]
            (wrong if touched else right).add(claim.text)
            if any(bad.right is not None for bad in touched):
                self._contradicted.add(claim.text)
        put_right = row.answer
        for start, end, bad in sorted(places, key=lambda place: place[0], reverse=True):
            if bad.right is not None:
                put_right = put_right[:start] + bad.right + put_right[end:]
        unmended = {bad.unit for bad in row.bad if bad.right is None}
        for claim in extract(put_right, row.question):
            source = put_right[slice(*claim.span)]
            if not any(source in unit or unit in source for unit in unmended):
                right.add(claim.text)
        for text in row.accept:
            right |= {claim.text for claim in extract(text, row.question)}
        self._right = right - wrong

    def wrong_in(self, text: str) -> list[str]:
        """Return the facts of a text that are not true."""
        claims = LocalClaims().extract(text, self._question)
        return [c.text for c in claims if c.kind == "fact" and c.text not in self._right]

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what is true."""
        return [self._verdict(claim, context) for claim in claims]

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what is true."""
        return self.verify(claims, context)

    def _verdict(self, claim: Claim, context: Context) -> Verdict:
        evidence = tuple(s.evidence() for s in context.select(claim.text).sentences)
        if claim.text in self._right:
            return Verdict(
                claim=claim.id,
                label="supported",
                p_supported=0.99,
                verifier=self.name,
                evidence=evidence,
            )
        known = claim.text in self._contradicted
        return Verdict(
            claim=claim.id,
            label="contradicted" if known else "not_mentioned",
            p_supported=0.01,
            verifier=self.name,
            evidence=evidence[:1] if known else (),
        )


@dataclass(frozen=True)
class Outcome:
    """What became of a row."""

    row: Row
    step: Step
    record: Record

    @property
    def delivered(self) -> str | None:
        """What the caller gets; None for what is held back."""
        if self.step.action == "block":
            return None
        return self.row.answer if self.step.answer is None else self.step.answer

    def faults(self) -> list[str]:
        """Return what is wrong with the result; a row held back has the fault of being so.

        A row of which nothing is left is right when it is held back.
        """
        text = self.delivered
        if text is None:
            return ["held back"] if self.row.good else []
        if not self.row.good:
            return ["delivered though nothing is left"]
        faults = [f"says {claim!r}" for claim in self.left(text)]
        faults += [f"lost {good!r}" for good in self.row.good if good not in text]
        if not (faults or text in self.row.accept or self._same_beside(text)):
            faults.append("something else is changed")
        return faults

    def left(self, text: str) -> list[str]:
        """Return the claims of a text that are not true, whoever has verified them."""
        return Truth(self.row).wrong_in(text)

    def _same_beside(self, text: str) -> bool:
        """Say whether all outside the units is as it was, but for the numbers of lists.

        What stands around a unit that goes may go with it: its line, or the space beside it.
        """
        pattern = ""
        at = 0
        for bad in sorted(self.row.bad, key=lambda bad: self.row.answer.index(bad.unit)):
            start = self.row.answer.index(bad.unit)
            goes = bad.right is None or bad.unit.replace(bad.wrong, bad.right) not in text
            part = _plain(self.row.answer[at:start])
            pattern += re.escape(part.rstrip(_AROUND) if goes else part)
            pattern += rf"[{_AROUND}]*" if goes else r"\S(?:[\s\S]*?\S)?"
            at = start + len(bad.unit)
            if goes:
                at += len(self.row.answer[at:]) - len(self.row.answer[at:].lstrip())
        return (
            re.fullmatch(pattern + re.escape(_plain(self.row.answer[at:])), _plain(text))
            is not None
        )


def _plain(text: str) -> str:
    return _MARKER.sub(r"\1#\2", text)


def mend(row: Row, scorer: Scorer) -> Outcome:
    """Take a row through a guard's course, blocking."""
    course = Course(POLICY, max_attempts=1)
    return _outcome(row, course, settled(course, scorer, row.exchange))


async def amend(row: Row, scorer: Scorer) -> Outcome:
    """Do the same, awaiting."""
    course = Course(POLICY, max_attempts=1)
    return _outcome(row, course, await asettled(course, scorer, row.exchange))


def _outcome(row: Row, course: Course, step: Step) -> Outcome:
    return Outcome(row, step, course.record())
