"""Report -> what is shown of it: words that are safe to show and of bounded length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from faithguard.errors import ConfigError

if TYPE_CHECKING:
    from faithguard.types import (
        Action,
        Cause,
        Claim,
        Decision,
        Evidence,
        Exchange,
        Label,
        Outcome,
        Repair,
        Report,
    )

__all__ = [
    "CAUSES",
    "LOOKS",
    "OUTCOMES",
    "Change",
    "Look",
    "Piece",
    "Row",
    "Sheet",
    "became",
    "cut",
    "escaped",
    "line",
    "sheet_of",
    "visible",
    "where",
]

# Characters shown of one text.
_ANSWER = 6_000
_CLAIM = 400
_REASON = 300
_QUOTE = 300
_SOURCE = 80
_SLACK = 40  # a cut that saves less than its own notice is none

# Entries shown of one list.
_CLAIMS = 500
_EVIDENCE = 3
_FAILURES = 5
_CHANGES = 100
_SPLITS = 9


class Decided(Protocol):
    """A decision, or a row of a store, which holds the same of it."""

    @property
    def passed(self) -> bool:
        """Whether the answer passed."""
        ...

    @property
    def action(self) -> Action:
        """What was to be done with it."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """How a label is shown."""

    sign: str
    ascii: str
    word: str
    style: str
    """For rich; colour and weight, since there may be no colour."""
    rgb: str
    """For CSS: a tint under inherited text, so that it reads on light and on dark."""


# Worst first: where claims overlap, the first of these gives the colour.
LOOKS: dict[Label, Look] = {
    "contradicted": Look("✗", "x", "contradicted", "bold red", "229,72,77"),
    "not_mentioned": Look("?", "?", "not mentioned", "yellow", "214,140,0"),
    "failed": Look("∅", "e", "failed", "bold magenta", "171,74,186"),
    "conflicting": Look("!", "!", "conflicting", "bold cyan", "0,138,175"),
    "supported": Look("✓", "+", "supported", "green", "48,164,108"),
    "not_checked": Look("–", "-", "not checked", "dim", "139,141,152"),
}

OUTCOMES: dict[Outcome, str] = {
    "scored": "scored",
    "abstained": "abstained: the answer says that it does not know",
    "no_claims": "no claims: the answer states nothing that can be checked",
    "no_context": "no context: there is nothing to check the claims against",
    "incomplete": "incomplete: verdicts are missing",
    "failed": "failed: no verdict could be had",
}

CAUSES: dict[Cause, str] = {
    "generation": "generation (the model went against or beyond what it saw)",
    "truncation": "truncation (a passage that says so never reached the prompt)",
    "retrieval": "retrieval (nothing that was retrieved is about it)",
}

_LEVELS = {
    "safe": ("bold green", "48,164,108"),
    "warning": ("bold yellow", "214,140,0"),
    "block": ("bold red", "229,72,77"),
}
_NO_LEVEL = ("bold", "139,141,152")

# Control characters, and what is invisible or turns the direction of text. The joiners U+200C
# and U+200D stay: Persian, Indic scripts and emoji are written with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe"
    "\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NEWLINE = re.compile("\r\n?")


def visible(text: str) -> str:
    """Return `text` with control, invisible and direction-turning characters as escapes."""
    lines = _NEWLINE.sub("\n", text).replace("\t", "    ")
    return _HIDDEN.sub(lambda match: escaped(match[0]), lines)


def escaped(character: str) -> str:
    """Return a character as a backslash escape."""
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`, and how many there are more."""
    if len(text) <= limit + _SLACK:
        return text
    return f"{text[:limit]}… {len(text) - limit:,} more characters"


def line(text: str, limit: int) -> str:
    """Return `text` on one line, cut and safe to show."""
    return " ".join(visible(cut(text, limit)).split())


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the answer under the same claims."""

    text: str
    label: Label | None
    """The worst of the claims that cover it."""
    begins: tuple[tuple[int, Label], ...]
    """Number and label of the claims that begin with it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A claim and what became of it."""

    number: int
    label: Label
    verdict: str
    claim: str
    reason: str
    cause: str
    evidence: tuple[tuple[str, str], ...]
    """A quote, and where it stands."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The reason and the cause, where there are any."""
        return tuple(note for note in (self.reason, self.cause) if note)


@dataclass(frozen=True, slots=True)
class Change:
    """What a guard changed in the answer before it was delivered."""

    words: str
    evidence: tuple[tuple[str, str], ...]
    """A quote, and where it stands."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A report in the words that a person reads; every text is safe and of bounded length."""

    outcome: str
    counts: str
    level: str
    """What the domain makes of it; empty where that cannot be said."""
    look: tuple[str, str]
    """Style and colour of the headline."""
    notes: tuple[str, ...]
    pieces: tuple[Piece, ...]
    rest: str
    """What was cut off from the answer, or why there is none, in words."""
    rows: tuple[Row, ...]
    left_out: str
    """What was cut off from the rows, in words."""
    made_by: str
    verdict: str
    """The words of a decision that was handed in."""
    changes: tuple[Change, ...]


def sheet_of(
    report: Report, given: Decision | None = None, repairs: Sequence[Repair] = ()
) -> Sheet:
    decision, trouble = _decision(report) if given is None else (given, "")
    level = None if decision is None else decision.level
    claims = _shown(report)
    hidden = len(report.claims) - len(claims)
    answer = report.exchange.answer
    end = len(answer) if len(answer) <= _ANSWER + _SLACK else _ANSWER
    return Sheet(
        outcome=OUTCOMES[report.outcome],
        counts=_counts(report, decision),
        level="" if decision is None else _level(decision),
        look=_LEVELS[level] if level else _NO_LEVEL,
        notes=tuple(_notes(report, trouble)),
        pieces=tuple(_pieces(answer[:end], claims)),
        rest=_rest(report, end),
        rows=tuple(_row(number, claim, report.exchange) for number, claim in claims),
        left_out=f"… {hidden:,} more claims" if hidden else "",
        made_by=_made_by(report),
        verdict="" if given is None else _verdict(given),
        changes=tuple(_changes(repairs, report.exchange)),
    )


def _rest(report: Report, shown: int) -> str:
    """Return what to say behind the part of the answer that is shown."""
    answer = report.exchange.answer
    if not answer:
        return "(the answer was not kept)" if report.claims else "(empty answer)"
    return f"… {len(answer) - shown:,} more characters" if shown < len(answer) else ""


def _changes(repairs: Sequence[Repair], exchange: Exchange) -> Iterator[Change]:
    for repair in repairs[:_CHANGES]:
        before, after = line(repair.before, _CLAIM), line(repair.after, _CLAIM)
        words = f"“{before}” became “{after}”" if after else f"“{before}” was left out"
        if not before:
            words = f"“{after}” was put in"
        yield Change(words, _cited(repair.evidence, exchange))
    if len(repairs) > _CHANGES:
        yield Change(f"… {len(repairs) - _CHANGES:,} more changes", ())


def _decision(report: Report) -> tuple[Decision | None, str]:
    """Return the decision for the report's own domain, or why there is none.

    A view is no place to fail: whatever goes wrong here only leaves the level out.
    """
    try:
        return report.decide(), ""
    except ConfigError as error:
        return None, f"no decision: {line(str(error), _REASON)}"
    except Exception:
        return None, ""


def _counts(report: Report, decision: Decision | None) -> str:
    if not report.total:
        return ""
    marks = (0.0, 1.0) if decision is None else (0.0, decision.warning, decision.safe, 1.0)
    claims = "claim" if report.total == 1 else "claims"
    counts = f"{report.supported:,} of {report.total:,} {claims} supported"
    if report.score is not None:
        return f"{counts}: {_number(report.score, marks)}"
    if report.bounds is not None:
        low, high = report.bounds
        return f"{counts}: between {_number(low, marks)} and {_number(high, marks)}"
    return counts


def _number(score: float, marks: tuple[float, ...]) -> str:
    """Return a score with as many decimals as it takes to stay on its side of every mark."""

    def honest(digits: int) -> bool:
        shown = round(score, digits)
        return all((shown >= mark, shown > mark) == (score >= mark, score > mark) for mark in marks)

    return f"{score:.{next(filter(honest, range(2, 6)), 6)}f}"


def _level(decision: Decision) -> str:
    domain = line(decision.domain, _SOURCE)
    if decision.level is None:
        return f"{'passes' if decision.passed else 'does not pass'} for {domain}"
    return f"{decision.level} for {domain} (safe from {decision.safe:g})"


def became(decision: Decided, attempts: int) -> str:
    """Return in words what became of an answer.

    Args:
        decision: What a policy made of it.
        attempts: How many answers a guard or watcher saw; without any, nobody was there to act
            on the decision: the answer was only scored.
    """
    passed = "passed" if decision.passed else "not passed"
    if not attempts:
        return passed
    if decision.action == "flag":  # watchers do no more, nor do guards that are told to flag
        return f"{passed}, {'flagged' if decision.passed else 'not held back'}"
    return {"block": "held back", "repair": "repaired"}.get(decision.action, passed)


def _verdict(decision: Decision) -> str:
    return f"{'passed' if decision.passed else 'not passed'}: {line(decision.reason, _ANSWER)}"


def _notes(report: Report, trouble: str) -> Iterator[str]:
    if trouble:
        yield trouble
    if report.exchange.context_source == "prompt":
        yield "no retrieval was seen: the text of the prompt served as context"
    if report.splits:
        counts = ", ".join(f"{count:,}" for count in report.splits[:_SPLITS])
        yield f"the answer was split {len(report.splits)} times, into {counts} facts"
    for failure in report.failures[:_FAILURES]:
        whole = failure.claim is None
        yield (
            f"{'stage' if whole else 'verdict'} missing ({failure.kind}, "
            f"{line(failure.stage, _SOURCE)}): {line(failure.message, _REASON)}"
        )
    if len(report.failures) > _FAILURES:
        yield f"… {len(report.failures) - _FAILURES:,} more failures"


def _shown(report: Report) -> list[tuple[int, Claim]]:
    """Number the claims and choose which to show: if not all, then first those that failed."""
    numbered = list(enumerate(report.claims, start=1))
    if len(numbered) <= _CLAIMS:
        return numbered
    numbered.sort(key=lambda pair: (pair[1].supported, pair[1].kind != "fact"))
    return sorted(numbered[:_CLAIMS], key=lambda pair: pair[0])


def _pieces(answer: str, claims: list[tuple[int, Claim]]) -> Iterator[Piece]:
    """Part the answer where claims begin and end; their spans may overlap or lie outside."""
    begins: dict[int, list[tuple[int, Label]]] = {}
    change: dict[int, Counter[Label]] = {0: Counter(), len(answer): Counter()}
    for number, claim in claims:
        start, stop = max(claim.span[0], 0), min(claim.span[1], len(answer))
        if start >= stop:
            continue
        begins.setdefault(start, []).append((number, claim.label))
        change.setdefault(start, Counter())[claim.label] += 1
        change.setdefault(stop, Counter())[claim.label] -= 1
    cover: Counter[Label] = Counter()
    places = sorted(change)
    for start, stop in pairwise(places):
        cover.update(change[start])
        worst: Label | None = next((label for label in LOOKS if cover[label] > 0), None)
        yield Piece(visible(answer[start:stop]), worst, tuple(begins.get(start, ())))


def _row(number: int, claim: Claim, exchange: Exchange) -> Row:
    kind = "" if claim.kind == "fact" else f" ({claim.kind})"
    return Row(
        number=number,
        label=claim.label,
        verdict=LOOKS[claim.label].word + kind,
        claim=line(claim.text, _CLAIM),
        reason=line(claim.reason, _REASON),
        cause="" if claim.cause is None else f"cause: {CAUSES[claim.cause]}",
        evidence=_cited(claim.evidence, exchange),
    )


def _cited(found: Sequence[Evidence], exchange: Exchange) -> tuple[tuple[str, str], ...]:
    evidence = [(line(piece.quote, _QUOTE), where(piece, exchange)) for piece in found[:_EVIDENCE]]
    if len(found) > _EVIDENCE:
        evidence.append(("", f"… {len(found) - _EVIDENCE:,} more"))
    return tuple(evidence)


def where(evidence: Evidence, exchange: Exchange) -> str:
    """Return in words where a quote stands."""
    place = f"passage {evidence.passage + 1}"
    if not 0 <= evidence.passage < len(exchange.passages):
        return f"{place}, which is not in the context"
    passage = exchange.passages[evidence.passage]
    if passage.source:
        place += f", {line(passage.source, _SOURCE)}"
    if evidence.quote and not evidence.stands_in(exchange):  # without it, texts were not kept
        place += "; the quote does not stand there"
    return place if passage.seen else f"{place}; never reached the prompt"


def _made_by(report: Report) -> str:
    usage = report.usage
    parts = [f"{line(stage, 40)} {line(name, _SOURCE)}" for stage, name in report.versions.items()]
    calls = f"{usage.calls:,} model call{'' if usage.calls == 1 else 's'}"
    tokens = usage.input_tokens + usage.output_tokens
    parts.append(f"{calls}, {tokens:,} tokens" if tokens else calls)
    if usage.spared:
        parts.append(
            f"{usage.spared:,} of {report.total:,} claim{'' if report.total == 1 else 's'} settled "
            "before the judge"
        )
    if usage.cached:
        verdicts = "1 verdict" if usage.cached == 1 else f"{usage.cached:,} verdicts"
        parts.append(f"{verdicts} from the cache")
    parts.append(f"{usage.seconds:.2f} s")
    return " · ".join(parts[-12:])
