"""One exchange's way through the cascade, without I/O.

In: an exchange, an extractor and verifiers. Out: calls to make (`todo`), and, once their
outcomes are settled, a `Report`. Who makes the calls, blocking or awaiting, is not known here.

    claims -> verifier 1 -> what it leaves open -> verifier 2 -> ... -> causes -> Report
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from faithguard._cache import Key
from faithguard._reasoning import without_reasoning, without_thoughts
from faithguard._sources import is_known
from faithguard._together import Judged, Together
from faithguard._version import __version__
from faithguard.chat import Meter
from faithguard.claims import Extractor, Splits
from faithguard.claims._growing import TABLE_RULE
from faithguard.types import (
    Cause,
    Claim,
    Evidence,
    Exchange,
    Failure,
    Outcome,
    Passage,
    Report,
    Usage,
    Verdict,
)
from faithguard.verifiers import Context, Finding, Verifier
from faithguard.verifiers.judge import Judge
from faithguard.verifiers.nli import Nli

__all__ = [
    "Both",
    "Extract",
    "Plan",
    "Progress",
    "Verify",
    "matched",
    "part_to_read",
    "standing",
    "tallied",
]

_AROUND = 1_000
"""Characters of an answer that is still being written which are read again, at least, before what
is new in it."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=[^\s\d*+|>•▪●◦‣–—-])")
"""What begins behind it is part of no list, table or quotation."""

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)

_ROW = re.compile(r"[ \t>]*\|.*")
"""What stands under the head of a table."""
_PLAIN = re.compile(r"\n[ \t]*\n|[|]|^[ \t>]*[#>]|^[=-]{3}", re.MULTILINE)
"""What a paragraph of lines does not hold."""
_ITEM = re.compile(r"^([ \t>]*)(?:[*+•▪●◦‣–—-]|\d{1,3}[.)])[ \t]+(?=\S)", re.MULTILINE)
_OF_ITEM = re.compile(rf"[ \t]*$|[ \t]+\S|{_ITEM.pattern}", re.MULTILINE)
"""A line of a list."""

_ANSWERS = 0.75
"""Share of a question's content from which the context seems to answer it."""


@dataclass(frozen=True, slots=True)
class Extract:
    """A call: split the answer."""

    extractor: Extractor
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Both:
    """A call: split the answer and judge its claims at once."""

    together: Together
    exchange: Exchange
    context: Context


@dataclass(frozen=True, slots=True)
class Verify:
    """A call: verify claims against a context."""

    verifier: Verifier
    claims: tuple[Claim, ...]
    context: Context

    def key(self, claim: Claim) -> Key:
        """Return all that the verdict depends on."""
        cited = [str(claim.cites)] if claim.cites else []
        coded = [f"`{one}`" for one in claim.code]
        return (self.verifier.name, self.context.version, claim.text, *cited, *coded)


class Progress:
    """What is known of an answer that is still being written; one for each answer.

    Attributes:
        report: Of the part that has been checked and stays as it is; None at the beginning.
    """

    def __init__(self) -> None:
        self.report: Report | None = None
        self._contexts: tuple[Exchange, Context, Context] | None = None

    def contexts(self, exchange: Exchange) -> tuple[Context, Context]:
        """Return what the model saw, and what it did not; the same as long as they are."""
        known = self._contexts
        if (
            known is None
            or known[0].passages != exchange.passages
            or known[0].question != exchange.question
        ):
            known = exchange, _context(exchange, seen=True), _context(exchange, seen=False)
            self._contexts = known
        return known[1:]


class Plan:
    """The state of one check.

    Args:
        exchange: What to check.
        extractor: Splits the answer.
        verifiers: The cascade, cheap to dear.
        band: The open interval of probabilities in which the next verifier is asked.
        together: Splits and judges at once, in the place of the extractor.
        after: What is known of the beginning of the answer: its claims stand, and only those
            that reach beyond it are checked.
    """

    def __init__(
        self,
        exchange: Exchange,
        extractor: Extractor,
        verifiers: Sequence[Verifier],
        *,
        band: tuple[float, float],
        together: Together | None = None,
        after: Progress | None = None,
    ) -> None:
        self._together = together
        self._before = after.report if after is not None else None
        answer = without_reasoning(exchange.answer)
        self._part = Part(0, 0, 0)
        """Which part of the answer is split."""
        if (before := self._before) is not None:
            known = len(before.exchange.answer)
            self._part = part_to_read(answer, known, before.claims)
        self._exchange = exchange
        self._answer = answer
        """What is said, without the reasoning before it."""
        self._extractor = extractor
        self._verifiers = tuple(verifiers)
        self._band = band
        self._claims: tuple[Claim, ...] = ()
        self._splits: tuple[int, ...] = ()
        self._states: dict[str, Verdict | Failure] = {}
        self._unseen: dict[str, Verdict | Failure] = {}
        self._unsplit = False
        self._failures: list[Failure] = []
        """Of whatever stage, also where a later one found a verdict: who was down is told."""
        self._unasked: dict[str, Failure] = {}
        """Why a verifier that might have spoken against a claim could not be asked about it."""
        self._cached = 0
        self._put: set[str] = set()
        """Claims that were put to a judge, whatever it or the cache said."""
        self._seen, self._dropped = (after or Progress()).contexts(exchange)
        self._steps = self._walk()
        self._found: Mapping[str, Finding] = {}

    def todo(self) -> Extract | Both | Verify | None:
        """Return the call to make next; None when the report is ready."""
        return next(self._steps, None)

    def extracted(self, outcome: Sequence[Claim] | Failure) -> None:
        """Take what an `Extract` returned, or why it failed."""
        if not isinstance(outcome, Failure) and not self._hold_together(outcome):
            message = "claims with the same id, or with a span outside the answer"
            outcome = Failure(kind="unparsable", stage=self._extractor.name, message=message)
        if isinstance(outcome, Failure):
            self._unsplit = True
            self._failures.append(outcome)
        else:
            self._claims = self._new(outcome)
            self._splits = outcome.counts if isinstance(outcome, Splits) else ()

    def _new(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """Return the claims that are to be checked."""
        claims = [self._sourced(claim) for claim in claims]
        if self._before is None:
            return tuple(claims)
        known, place = len(self._before.exchange.answer), self._part.place
        return tuple(
            # the others' ids count from 1 as well
            replace(claim, id=f"{known}:{claim.id}", span=(place(claim.span[0]), end))
            for claim in claims
            if (end := place(claim.span[1])) > known
        )

    def _sourced(self, claim: Claim) -> Claim:
        """Return a claim; one that names a source as a fact if no passage is that source."""
        if claim.kind == "meta":
            numbers = [number for _, number in claim.cites]
            if not is_known(claim.text, numbers, self._seen.passages):
                return replace(claim, kind="fact")
        return claim

    def judged(self, outcome: Judged | Failure) -> None:
        """Take what a `Both` returned, or why it failed."""
        if isinstance(outcome, Failure):
            self.extracted(outcome)
            return
        self.extracted(outcome.claims)
        for claim in self._claims:
            own = claim.id if self._before is None else claim.id.partition(":")[2]
            if own in outcome.findings:
                self._put.add(claim.id)
                if (finding := outcome.findings[own]) is not None:
                    finding = replace(finding, claim=claim.id)
                    self._states[claim.id] = self._checked(finding, self._seen)

    def _hold_together(self, claims: Sequence[Claim]) -> bool:
        size = len(self._part.of(self._answer))
        spans = all(0 <= claim.span[0] <= claim.span[1] <= size for claim in claims)
        return spans and len({claim.id for claim in claims}) == len(claims)

    def verified(self, found: Mapping[str, Finding], cached: int = 0) -> None:
        """Take what a `Verify` found, by claim; what is not in it was not answered."""
        self._cached += cached
        self._found = found

    def report(self, seconds: float, spent: Meter) -> Report:
        """Return the report; only after `todo` returned nothing."""
        claims = tuple(self._settled(claim) for claim in self._claims)
        report = Report(
            outcome="failed",
            score=None,
            bounds=None,
            supported=0,
            total=0,
            claims=claims,
            failures=tuple(self._failures),
            versions=self._versions(),
            usage=Usage(
                calls=spent.calls,
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
                cached=self._cached,
                spared=self._spared([claim for claim in claims if claim.kind == "fact"]),
                seconds=seconds,
            ),
            exchange=self._exchange,
            splits=self._splits,
        )
        if (before := self._before) is not None:
            known = before.claims
            if before.exchange.passages != self._exchange.passages:
                known = tuple(map(self._still, known))
            report = replace(
                report,
                claims=(*known, *claims),
                failures=(*before.failures, *report.failures),
                usage=_sum(before.usage, report.usage),
            )
        report = tallied(report)
        unsplit = self._unsplit
        return replace(report, outcome="failed", score=None, bounds=None) if unsplit else report

    def _still(self, claim: Claim) -> Claim:
        """Return a claim of before; passages may have moved since."""
        return replace(claim, evidence=standing(claim.evidence, self._exchange))

    # -- the way ------------------------------------------------------------------------------

    def _walk(self) -> Iterator[Extract | Both | Verify]:
        """Yield calls; what came of each is in `_claims` and `_found`."""
        if self._answer.strip():
            part = replace(self._exchange, answer=self._part.of(self._answer))
            if self._together is not None and self._seen.passages:
                yield Both(self._together, part, self._seen)
            else:
                yield Extract(self._extractor, part)
        if self._seen.passages:
            for verifier in self._verifiers:
                yield from self._round(verifier, self._open(), self._seen, self._states)
        if self._dropped.passages:
            lost = [claim for claim in self._facts() if not self._is_supported(claim)]
            # to know the cause, the first verifier that has something to say is enough
            for verifier in self._verifiers:
                silent = [claim for claim in lost if claim.id not in self._unseen]
                yield from self._round(verifier, silent, self._dropped, self._unseen)

    def _round(
        self,
        verifier: Verifier,
        claims: list[Claim],
        context: Context,
        states: dict[str, Verdict | Failure],
    ) -> Iterator[Extract | Verify]:
        """Ask a verifier about claims, and once more about those that it left out."""
        for last in (False, True):
            if not claims:
                return
            if isinstance(verifier, Judge) and states is self._states:
                self._put |= {claim.id for claim in claims}
            yield Verify(verifier, tuple(claims), context)
            found, claims = self._found, [c for c in claims if c.id not in self._found]
            news = {c: self._checked(f, context) for c, f in found.items() if f is not None}
            if last:
                news |= {claim.id: _missing(verifier.name, claim) for claim in claims}
            states.update(news)
            if states is self._states:
                failed = {c: f for c, f in news.items() if isinstance(f, Failure)}
                self._failures += failed.values()
                # a model or a judge is asked for a verdict, which a later one can give as well;
                # any other may be silent unless it has something against a claim
                if not isinstance(verifier, Nli | Judge):
                    self._unasked = {**failed, **self._unasked}

    def _facts(self) -> list[Claim]:
        return [claim for claim in self._claims if claim.kind == "fact"]

    def _open(self) -> list[Claim]:
        low, high = self._band
        return [
            claim
            for claim in self._facts()
            if not isinstance(state := self._states.get(claim.id), Verdict)
            or low < state.p_supported < high
        ]

    def _is_supported(self, claim: Claim) -> bool:
        state = self._states.get(claim.id)
        return isinstance(state, Verdict) and state.label in ("supported", "conflicting")

    # -- what came back -----------------------------------------------------------------------

    def _checked(self, finding: Verdict | Failure, context: Context) -> Verdict | Failure:
        """Void a verdict whose quote does not stand in a passage that it was asked about."""
        if isinstance(finding, Verdict) and not all(
            evidence.passage in context.numbers and evidence.stands_in(self._exchange)
            for evidence in finding.evidence
        ):
            return Failure(
                kind="unparsable",
                stage=finding.verifier,
                message="the quoted evidence does not stand in a passage of the context",
                claim=finding.claim,
            )
        return finding

    # -- the report ---------------------------------------------------------------------------

    def _settled(self, claim: Claim) -> Claim:
        if claim.kind == "abstention":
            return self._answerable(claim)
        if claim.kind != "fact":
            return claim
        state = self._states.get(claim.id)
        if self._is_supported(claim):
            state = self._unasked.get(claim.id, state)
        if state is not None:
            claim = claim.settled(state)
        elif self._seen.passages:
            # every verifier was silent
            self._failures.append(_missing("cascade", claim))
            claim = claim.settled(self._failures[-1])
        else:
            claim = replace(claim, reason="there is no context to check it against")
        if claim.supported or claim.label == "failed":
            return claim
        cause = self._cause(claim)
        if cause == "truncation":
            found = self._unseen[claim.id]
            where = found.evidence if isinstance(found, Verdict) else ()
            reason = f"{claim.reason}; a passage that never reached the prompt says it"
            return replace(claim, cause=cause, evidence=claim.evidence + where, reason=reason)
        return replace(claim, cause=cause)

    def _cause(self, claim: Claim) -> Cause:
        unseen = self._unseen.get(claim.id)
        if isinstance(unseen, Verdict) and unseen.label in ("supported", "conflicting"):
            return "truncation"
        if claim.label == "contradicted":
            return "generation"
        known = self._seen.mentions(claim.text) or self._dropped.mentions(claim.text)
        return "generation" if known else "retrieval"

    def _answerable(self, claim: Claim) -> Claim:
        """Attach what seems to answer the question that the answer declines."""
        question = self._exchange.question
        if not question or not self._seen.passages:
            return claim
        selection = self._seen.select(question, most=1)
        if selection.best < _ANSWERS:
            return claim
        evidence = tuple(sentence.evidence() for sentence in selection.sentences)
        reason = "abstained although the context seems to answer the question"
        return replace(claim, evidence=evidence, reason=reason)

    def _spared(self, facts: Sequence[Claim]) -> int:
        """Count what a judge, if there is one, was not asked about."""
        if not any(isinstance(verifier, Judge) for verifier in self._verifiers):
            return 0
        settled = (f.id for f in facts if isinstance(self._states.get(f.id), Verdict))
        return sum(claim not in self._put for claim in settled)

    def _versions(self) -> Mapping[str, str]:
        return {
            "faithguard": __version__,
            "extractor": (self._together or self._extractor).name,
            "verifiers": " ".join(verifier.name for verifier in self._verifiers),
        }


class Part(NamedTuple):
    """What of an answer is read again: all from a place on, but for the middle of a list."""

    begin: int
    head: int
    """Where the middle begins that is left out."""
    resume: int
    """Where it ends."""

    def of(self, answer: str) -> str:
        """Return the part."""
        return answer[self.begin : self.head] + answer[self.resume :]

    def place(self, at: int) -> int:
        """Return where in the answer a place of the part is."""
        own = self.begin + at
        return own if own < self.head else own + self.resume - self.head

    def at(self, place: int) -> int:
        """Return where in the part a place of the answer is, behind what is left out."""
        return place - self.begin - (self.resume - self.head)


def part_to_read(answer: str, known: int, claims: Sequence[Claim]) -> Part:
    """Return which part of an answer to split, of whose beginning the claims are known.

    It begins at a paragraph, so that a list or table is read from its beginning; of a long one the
    middle is left out, so that all of it takes no longer than twice its half. A paragraph that is
    long itself begins at a claim.

    Args:
        answer: As far as it is written.
        known: Where its beginning ends.
        claims: Of that.
    """
    latest = known - _AROUND
    begin = 0
    for found in _PARAGRAPH.finditer(answer, 0, max(latest, 0)):
        if len(_FENCE.findall(answer, begin, found.start())) % 2 == 0:
            begin = found.end()
    if latest - begin <= _AROUND:
        return Part(begin, begin, begin)
    if "\n" not in answer[begin:].rstrip():
        begin = max((c.span[0] for c in claims if c.span[0] <= latest), default=begin)
        return Part(begin, begin, begin)
    return _without_middle(answer, begin, latest)


def _widest(text: str) -> int:
    return max(len(line.strip()) for line in text.split("\n"))


def _without_middle(answer: str, begin: int, latest: int) -> Part:
    """Leave out the middle of the list or table, or the first lines, of a part of an answer.

    Args:
        answer: Up to what is to be read.
        begin: Where the part begins.
        latest: Where the middle ends at the latest.
    """
    whole = Part(begin, begin, begin)
    rule = TABLE_RULE.search(answer, begin, latest)
    item = _ITEM.search(answer, begin, latest)
    if _FENCE.search(answer, begin):
        return whole
    if rule is not None and (item is None or rule.start() < item.start()):
        head, resume = rule.end(), answer.rfind("\n", begin, latest)
        fits = _ROW.fullmatch
    elif item is not None:
        head = item.start()
        own = (one.start() for one in _ITEM.finditer(answer, head, latest) if one[1] == item[1])
        resume, fits = max(own), _OF_ITEM.match
    else:
        after = answer.rfind("\n", begin, latest) + 1
        dropped, kept = (_widest(answer[slice(*own)]) for own in ((begin, after), (after, None)))
        plain = _PLAIN.search(answer, begin) is None
        # by the widest line it is told whether their breaks are meant
        return Part(after, after, after) if begin < after and plain and dropped <= kept else whole
    if head < resume and all(map(fits, answer[head:resume].strip("\n").split("\n"))):
        return Part(begin, head, resume)
    return whole


def standing(pieces: Sequence[Evidence], exchange: Exchange) -> tuple[Evidence, ...]:
    """Return what of evidence stands in an exchange's passages."""
    return tuple(piece for piece in pieces if piece.stands_in(exchange))


def tallied(report: Report) -> Report:
    """Return a report whose outcome and counts are those of its claims."""
    facts = report.facts
    supported = sum(claim.supported for claim in facts)
    failed = sum(claim.label == "failed" for claim in facts)
    total = len(facts)
    outcome = _outcome(report, total, failed)
    return replace(
        report,
        outcome=outcome,
        score=supported / total if outcome == "scored" else None,
        bounds=(supported / total, (supported + failed) / total)
        if outcome == "incomplete"
        else None,
        supported=supported,
        total=total,
    )


def _outcome(report: Report, facts: int, failed: int) -> Outcome:
    if not facts:
        abstained = any(claim.kind == "abstention" for claim in report.claims)
        return "abstained" if abstained else "no_claims"
    if not any(p.seen and p.text.strip() for p in report.exchange.passages):
        return "no_context"
    if failed:
        return "failed" if failed == facts else "incomplete"
    return "scored"


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(**{f.name: getattr(one, f.name) + getattr(other, f.name) for f in fields(Usage)})


def _context(exchange: Exchange, *, seen: bool) -> Context:
    numbered = [
        (number, stated)
        for number, passage in enumerate(exchange.passages)
        if passage.seen == seen and (stated := _stated(passage)).text.strip()
    ]
    return Context(
        [passage for _, passage in numbered],
        exchange.question,
        numbers=[number for number, _ in numbered],
    )


def _stated(passage: Passage) -> Passage:
    text = without_thoughts(passage.text)
    return passage if text == passage.text else replace(passage, text=text)


def _missing(stage: str, claim: Claim) -> Failure:
    return Failure(kind="missing", stage=stage, message="no verdict came back", claim=claim.id)


def matched(asked: Sequence[Claim], outcome: Failure | Sequence[Finding]) -> dict[str, Finding]:
    """Match what came back to claims, by id; a claim that is not in it was not answered."""
    if isinstance(outcome, Failure):
        return {claim.id: replace(outcome, claim=claim.id) for claim in asked}
    strange: list[object] = list(outcome)
    if not all(finding is None or isinstance(finding, Verdict | Failure) for finding in strange):
        raise TypeError("a verifier returns verdicts, failures and None")
    ids = {claim.id for claim in asked}
    found: dict[str, Finding] = {f.claim: f for f in outcome if f is not None and f.claim in ids}
    if len(outcome) == len(asked):
        silent = (claim.id for claim, f in zip(asked, outcome, strict=True) if f is None)
        found |= {claim: None for claim in silent if claim not in found}
    return found
