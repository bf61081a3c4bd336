"""Records of the same questions, earlier and now -> whether faithfulness got worse.

In: two runs of records. Out: a `Comparison`. The question is the unit: answers are paired by it,
and several answers to one count as their mean. Nothing is passed over in silence: what has no
pair or no verdict is counted, and where it could hide a drop the verdict is `unknown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal, TypeAlias

from faithguard.errors import ConfigError, FaithguardError
from faithguard.stats._paired import Change, least_pairs, paired_change
from faithguard.types import Outcome, Record

__all__ = ["Comparison", "Drop", "PairBy", "compare"]

PairBy = Literal["id", "question"]
"""By what answers belong together: the id of the exchange, or the words of the question."""

_SILENT = frozenset({"abstained", "no_claims"})
_MISSING = frozenset({"failed", "incomplete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A question whose answers got worse."""

    id: str
    question: str | None
    passed: tuple[float, float]
    """Share of its answers that pass, before and after."""
    score: tuple[float, float] | None
    """Mean score before and after; None where one of them is undefined."""
    reason: str
    """Of the decision on its last answer: counts in words, no text of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the answers to the same questions changed."""

    verdict: Literal["held", "worse", "unknown"]
    """`held`: no drop that is more than chance; `worse`: one; `unknown`: what is missing, or no
    longer said, could hide one."""
    reason: str
    by: PairBy
    confidence: float
    passed: Change
    """Share of answers that pass; one that abstains or states nothing does, as before a guard."""
    score: Change | None
    """Mean share of supported claims, of those pairs in which both have a score; None without."""
    stating: Change
    """Share of answers that state something that can be checked."""
    unchecked: int
    """Questions of both runs of which an answer has no verdict, before or now."""
    gone: int
    """Questions of the earlier run that the later one has not."""
    new: int
    """Questions of the later run that the earlier one has not."""
    drops: tuple[Drop, ...]
    """Farthest first."""
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Answers:
    """All that one run has for one question."""

    id: str
    question: str | None
    passed: list[float] = field(default_factory=list[float])
    """1 for each answer that passed, 0 for others, but for those without a verdict."""
    stating: list[float] = field(default_factory=list[float])
    """1 for each of these answers that states something."""
    scores: list[float] = field(default_factory=list[float])
    missing: int = 0
    """Answers without a verdict."""
    graded: set[tuple[str, float, float]] = field(default_factory=set[tuple[str, float, float]])
    """Domains and thresholds."""
    reason: str = ""

    def add(self, answer: _Answer) -> None:
        self.graded.add(answer.graded)
        self.reason = answer.reason
        if answer.outcome in _MISSING:
            self.missing += 1
            return
        self.passed.append(float(answer.passed))
        self.stating.append(float(answer.outcome not in _SILENT))
        if answer.score is not None:
            self.scores.append(answer.score)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is kept of a record: a run may be long."""

    id: str
    question: str | None
    outcome: Outcome
    passed: bool
    score: float | None
    graded: tuple[str, float, float]
    reason: str


_GONE = _Answers("", None, missing=1)
"""What one run has for a question that it has not."""

_Run: TypeAlias = dict[str, _Answers]
_Pair: TypeAlias = tuple[_Answers, _Answers]


def compare(
    baseline: Iterable[Record],
    current: Iterable[Record],
    *,
    by: PairBy | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Say whether the later answers are less faithful by more than chance.

    Two drops are looked for, each with half of the allowed error: of the share of answers that
    pass, and of the mean share of supported claims. So in `confidence` of all comparisons without
    a change nothing is said to be worse. Where many answers say nothing any more, which is never
    unfaithful, that is told instead of a success.

    Args:
        baseline: Records of the earlier answers.
        current: Records of the later ones.
        by: What pairs them; by default ids if they pair no fewer questions than the words of the
            question do.
        confidence: Between 0 and 1.
        seed: See `paired_change`.

    Raises:
        FaithguardError: If the runs cannot be compared: one is empty, they share no questions or
            too few for any drop to show, or they were checked or decided in different ways. The
            message says what to do.
        ConfigError: If `by` or `confidence` cannot be used.
    """
    if by not in (None, "id", "question"):
        raise ConfigError(f"`by` is {by!r}: pair by 'id' or by 'question'")
    try:
        least = least_pairs(confidence)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    versions: list[dict[str, set[str]]] = [{}, {}]
    before = _read(baseline, "the baseline", versions[0])
    after = _read(current, "the current run", versions[1])
    notes = _same_checks(*versions)
    by, old, new = _paired_by(before, after, by)
    both = [(old[key], new[key]) for key in old if key in new]
    _same_thresholds(both)
    pairs = [pair for pair in both if pair[0].passed and pair[1].passed]
    gone = [(answers, _GONE) for key, answers in old.items() if key not in new]
    unchecked = sum(bool(a.missing or b.missing) for a, b in both)
    telling = sum(any(a.stating) or any(b.stating) for a, b in pairs)
    if telling < least:
        raise FaithguardError(
            f"{_questions(telling)} can be compared, and with fewer than {least} no drop is more "
            f"than chance ({len(both)} in both runs by {by}, {len(pairs) - telling} of them "
            f"without a statement to check, {unchecked} without a verdict)"
        )
    repeated = sum(max(len(a.passed), len(b.passed)) > 1 for a, b in pairs)
    if repeated:
        notes.append(f"{_questions(repeated)} answered several times: their mean counts once")
    passed, score = found = _changes(pairs, confidence, seed)
    worst = found
    if unchecked or gone:  # what is missing taken as right before, and wrong now
        filled = [(_filled(a, 1.0), _filled(b, 0.0)) for a, b in [*both, *gone]]
        worst = _changes(filled, confidence, seed)
    limit = (1.0 - confidence) / 2.0
    stating = _change([(a.stating, b.stating) for a, b in pairs], confidence, seed)
    verdict, reason = _verdict(found, worst, stating, limit, unchecked, len(gone))
    return Comparison(
        verdict=verdict,
        reason=reason,
        by=by,
        confidence=confidence,
        passed=passed,
        score=score,
        stating=stating,
        unchecked=unchecked,
        gone=len(gone),
        new=sum(key not in old for key in new),
        drops=_drops(pairs),
        notes=tuple(notes),
    )


# Reading ----------------------------------------------------------------------------------------


def _read(records: Iterable[Record], name: str, versions: dict[str, set[str]]) -> list[_Answer]:
    answers: list[_Answer] = []
    for record in records:
        exchange, report, decision = record.exchange, record.report, record.decision
        for stage, made_by in report.versions.items():
            versions.setdefault(stage, set()).add(made_by)
        answers.append(
            _Answer(
                id=exchange.id,
                question=" ".join(exchange.question.split()) if exchange.question else None,
                outcome=report.outcome,
                passed=decision.passed,
                score=report.score,
                graded=(decision.domain, decision.safe, decision.warning),
                reason=decision.reason,
            )
        )
    if not answers:
        raise FaithguardError(f"{name} holds no records: there is nothing to compare")
    return answers


def _same_checks(before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> list[str]:
    """Refuse numbers of different checkers; return what may be said of the rest."""
    notes: list[str] = []
    for stage in sorted({*before, *after}):
        old, new = before.get(stage, set()), after.get(stage, set())
        if old == new and len(old) == 1:
            continue
        told = f"{_names(old)} and then by {_names(new)}"
        if stage != "faithguard":  # whose stages have versions of their own
            raise FaithguardError(
                f"the {stage} differ: the answers were checked by {told}; check both anew in the "
                "same way, faithguard score OLD.jsonl -o NEW.jsonl"
            )
        notes.append(f"recorded by faithguard {told}, with the same verifiers")
    return notes


def _names(versions: set[str]) -> str:
    return ", ".join(sorted(versions)) or "nothing"


def _same_thresholds(pairs: Sequence[_Pair]) -> None:
    changed = [(a, b) for a, b in pairs if a.graded != b.graded]
    if changed:
        old, new = (", ".join(map(_grading, sorted(side.graded))) for side in changed[0])
        raise FaithguardError(
            f"{_questions(len(changed))} decided by other thresholds than before (first by {old}, "
            f"then by {new}): check both anew with the same --domain and --policy, faithguard "
            "score OLD.jsonl -o NEW.jsonl"
        )


def _grading(graded: tuple[str, float, float]) -> str:
    domain, safe, warning = graded
    return f"{domain!r} with safe={safe:g} and warning={warning:g}"


# Pairing ----------------------------------------------------------------------------------------


def _paired_by(
    before: Sequence[_Answer], after: Sequence[_Answer], by: PairBy | None
) -> tuple[PairBy, _Run, _Run]:
    keys: dict[PairBy, Callable[[_Answer], str | None]] = {
        "id": lambda answer: answer.id,
        "question": lambda answer: answer.question,
    }
    runs: dict[PairBy, tuple[_Run, _Run]] = {
        name: (_grouped(before, key, "before"), _grouped(after, key, "now"))
        for name, key in keys.items()
        if by in (None, name)
    }
    # the first of equals is the id, which tells apart what is asked in the same words
    best = max(runs, key=lambda name: _shared(*runs[name], strict=by is None))
    old, new = runs[best]
    if strange := [key for key in old if key in new and old[key].question != new[key].question]:
        raise FaithguardError(
            f"{_questions(len(strange))} have the same id in both runs and other words: pair them "
            "by question (--by question)"
        )
    if not _shared(old, new, strict=False):
        raise FaithguardError(
            "the two runs share no questions: neither their ids nor their words are the same"
            if by is None
            else f"the two runs share no questions by {by}"
        )
    return best, old, new


def _shared(before: _Run, after: _Run, *, strict: bool) -> int:
    """Count what both hold; where it is to be chosen, none if ids mean other questions."""
    common = [key for key in before if key in after]
    if strict and any(before[key].question != after[key].question for key in common):
        return 0
    return len(common)


def _grouped(answers: Sequence[_Answer], key: Callable[[_Answer], str | None], side: str) -> _Run:
    run: _Run = {}
    for number, answer in enumerate(answers):
        # without a question there is nothing to pair by: each stands for itself
        name = key(answer) or f"\0{side}{number}"
        run.setdefault(name, _Answers(answer.id, answer.question)).add(answer)
    return run


# Changes ----------------------------------------------------------------------------------------


def _changes(pairs: Sequence[_Pair], confidence: float, seed: int) -> tuple[Change, Change | None]:
    """Return how passing and scores changed, of pairs in which both have a verdict."""
    scored = [(a.scores, b.scores) for a, b in pairs if a.scores and b.scores]
    return (
        _change([(a.passed, b.passed) for a, b in pairs], confidence, seed),
        _change(scored, confidence, seed) if scored else None,
    )


def _change(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], confidence: float, seed: int
) -> Change:
    before, after = ([fmean(side) for side in run] for run in zip(*pairs, strict=True))
    return paired_change(before, after, confidence=confidence, seed=seed)


def _filled(answers: _Answers, value: float) -> _Answers:
    missing = [value] * answers.missing
    return replace(answers, passed=[*answers.passed, *missing], scores=[*answers.scores, *missing])


def _verdict(
    found: tuple[Change, Change | None],
    worst: tuple[Change, Change | None],
    stating: Change,
    limit: float,
    unchecked: int,
    gone: int,
) -> tuple[Literal["held", "worse", "unknown"], str]:
    passed = found[0]
    fell = [
        f"{what} fell by {-100 * change.difference:.1f} points over {_questions(change.pairs)} "
        f"(p = {change.p:.2g})"
        for what, change in zip(("answers that pass", "supported claims"), found, strict=True)
        if change is not None and change.p <= limit
    ]
    if fell:
        return "worse", f"worse by more than chance: {'; '.join(fell)}"
    if any(change is not None and change.p <= limit for change in worst):
        what = [
            f"{count} {said}"
            for count, said in ((unchecked, "without a verdict"), (gone, "gone from the new run"))
            if count
        ]
        return "unknown", (
            f"cannot be told: {' and '.join(what)}, of {passed.pairs + unchecked + gone} "
            "questions, could hide a drop; check them, or take them out of both runs"
        )
    if stating.p <= limit:
        return "unknown", (
            f"cannot be told: answers that state something fell from {stating.before:.1%} to "
            f"{stating.after:.1%} (p = {stating.p:.2g}); what is not said cannot be unfaithful. If "
            "that is meant, make this run the new baseline"
        )
    return "held", (
        f"no drop that is more than chance: {passed.worse} of {_questions(passed.pairs)} got "
        f"worse, {passed.better} better (p = {passed.p:.2g}); a drop of up to "
        f"{max(0.0, -100 * passed.interval[0]):.1f} points is not ruled out"
    )


def _drops(pairs: Sequence[_Pair]) -> tuple[Drop, ...]:
    found: list[tuple[float, float, Drop]] = []
    for before, after in pairs:
        passed = fmean(before.passed), fmean(after.passed)
        scored = before.scores and after.scores
        score = (fmean(before.scores), fmean(after.scores)) if scored else None
        fell = passed[1] - passed[0]
        lost = score[1] - score[0] if score else 0.0
        if fell < 0 or lost < 0:
            drop = Drop(
                id=after.id,
                question=after.question,
                passed=passed,
                score=score,
                reason=after.reason,
            )
            found.append((fell, lost, drop))
    return tuple(drop for *_, drop in sorted(found, key=lambda entry: entry[:2]))


def _questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}"
