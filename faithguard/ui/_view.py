"""What the store holds -> what the page draws: words, numbers, and texts cut into pieces.

In: rows, records, figures. Out: plain data for JSON. Every text is made visible here, once:
terminal sequences, control characters and such as turn the direction of a text become escapes.
The page sets each as text, never as markup. A place in a text is where a piece begins, so that
the page needs no offsets: those of Python count code points, a browser's do not.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from faithguard._render._sheet import CAUSES, LOOKS, OUTCOMES, became, cut, visible
from faithguard.stats import paired_change, wilson
from faithguard.store import Bucket, Figures, Opinion, Pair, Row, Scores
from faithguard.types import (
    Attempt,
    Claim,
    Decision,
    Evidence,
    Exchange,
    Failure,
    Passage,
    Record,
    Report,
    Usage,
)

__all__ = [
    "compared_view",
    "difference",
    "figures_view",
    "opinions_view",
    "pieces",
    "record_view",
    "row_view",
    "words_view",
]

View: TypeAlias = dict[str, Any]

_WORST = tuple(LOOKS)
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_DIFF = 60_000
"""Characters of two texts; what is longer is shown as two texts."""
_NAME, _REASON, _QUOTE = 160, 600, 600
"""Characters of what is no text of its own, so that no word of it makes a page of its own."""
_STEPS = 200
"""Thresholds at which the share of passing answers is told, but for the first."""


def words_view() -> View:
    """Return the words and signs of all labels, outcomes and causes."""
    return {
        "labels": {name: {"sign": look.sign, "word": look.word} for name, look in LOOKS.items()},
        "outcomes": dict(OUTCOMES),
        "causes": dict(CAUSES),
    }


# A row of the list


def row_view(row: Row) -> View:
    """Return what the list shows of a record."""
    return {
        "number": row.number,
        "cursor": row.cursor,
        "time": row.time.isoformat(),
        "domain": visible(row.domain),
        "outcome": row.outcome,
        "level": row.level,
        "passed": row.passed,
        "became": became(row, row.attempts),
        "score": row.score,
        "bounds": row.bounds,
        "supported": row.supported,
        "total": row.total,
        "question": _line(row.question),
        "answer": _line(row.answer),
        "labels": {label: row.labels[label] for label in _WORST if label in row.labels},
        "causes": dict(row.causes),
        "tags": [visible(tag) for tag in row.tags],
        "attempts": row.attempts,
        "repairs": row.repairs,
        "opinions": row.opinions,
    }


def _name(text: str) -> str:
    return visible(cut(text, _NAME))


def _line(text: str) -> str:
    return " ".join(visible(text).split())


# A record


def record_view(number: int, record: Record, opinions: Iterable[Opinion]) -> View:
    """Return all that the page shows of a record.

    Args:
        number: Its place in the store.
        record: With or without attempts.
        opinions: What people said of the claims of its report.
    """
    attempts = list(record.attempts)
    last = Attempt(exchange=record.exchange, report=record.report)
    if not attempts or attempts[-1].report != record.report:
        attempts.append(last)  # what a repair made of the last attempt, or the only one
    answers = [attempt.exchange.answer for attempt in attempts]
    exchange = record.exchange
    started = exchange.started_at
    return {
        "number": number,
        "id": _name(exchange.id),
        "time": started.isoformat() if started else None,
        "question": visible(exchange.question or ""),
        "tags": [_name(tag) for tag in exchange.tags],
        "decision": _decision(record.decision),
        "became": became(record.decision, len(record.attempts)),
        "attempts": [_attempt(attempt) for attempt in attempts],
        "changes": [difference(before, after) for before, after in pairwise(answers)],
        "repairs": [
            {
                "change": difference(repair.before, repair.after),
                "evidence": [_evidence(piece, exchange) for piece in repair.evidence],
            }
            for repair in record.repairs
        ],
        "released": None if record.released is None else visible(cut(record.released, _REASON)),
        "steps": _steps(exchange.passages),
        "timings": _named(record.timings or exchange.timings),
        "cost": record.cost,
        "usage": _usage([attempt.report.usage for attempt in attempts]),
        "versions": _named(record.versions or record.report.versions),
        "context_source": exchange.context_source,
        "finish_reason": _name(exchange.finish_reason or ""),
        "opinions": opinions_view(opinions),
    }


def opinions_view(opinions: Iterable[Opinion]) -> View:
    """Return what was said, by the index of the claim; `others` is what others said."""
    said: View = {}
    for opinion in opinions:
        claim = said.setdefault(str(opinion.claim), {"others": []})
        one = {"agree": opinion.agree, "note": visible(opinion.note)}
        if opinion.author:
            claim["others"].append({"author": _name(opinion.author), **one})
        else:
            claim.update(one)
    return said


def _decision(decision: Decision) -> View:
    return {
        "passed": decision.passed,
        "reason": visible(cut(decision.reason, _REASON)),
        "level": decision.level,
        "domain": _name(decision.domain),
        "safe": decision.safe,
        "warning": decision.warning,
    }


def _attempt(attempt: Attempt) -> View:
    exchange, report = attempt.exchange, attempt.report
    return {
        "outcome": report.outcome,
        "score": report.score,
        "bounds": report.bounds,
        "supported": report.supported,
        "total": report.total,
        "answer": _answer(exchange.answer, report),
        "claims": [_claim(claim, exchange) for claim in report.claims],
        "passages": [
            _passage(index, passage, report.claims)
            for index, passage in enumerate(exchange.passages)
        ],
        "failures": [_failure(failure) for failure in report.failures],
    }


def _answer(answer: str, report: Report) -> list[View]:
    """Return the answer in pieces, each with the claims that cover it, the worst one first."""

    def badness(index: int) -> int:
        return _WORST.index(report.claims[index].label)

    return [
        {"text": visible(text), "claims": sorted(covering, key=badness)}
        for text, covering in pieces(answer, [claim.span for claim in report.claims])
    ]


def _claim(claim: Claim, exchange: Exchange) -> View:
    return {
        "text": visible(claim.text),
        "kind": claim.kind,
        "label": claim.label,
        "p_supported": claim.p_supported,
        "reason": visible(claim.reason),
        "cause": claim.cause,
        "verifier": _name(claim.verifier or ""),
        "evidence": [_evidence(piece, exchange) for piece in claim.evidence],
    }


def _evidence(evidence: Evidence, exchange: Exchange) -> View:
    return {
        "passage": evidence.passage,
        "quote": visible(cut(evidence.quote, _QUOTE)),
        "stands": evidence.stands_in(exchange),
    }


def _passage(index: int, passage: Passage, claims: Sequence[Claim]) -> View:
    lit = [
        (number, (evidence.start, evidence.end))
        for number, claim in enumerate(claims)
        for evidence in claim.evidence
        if evidence.passage == index
    ]
    return {
        "source": _name(passage.source or ""),
        "origin": passage.origin,
        "hop": passage.hop,
        "seen": passage.seen,
        "metadata": {
            _name(str(key)): visible(value if isinstance(value, str) else json.dumps(value))
            for key, value in passage.metadata.items()
        },
        "text": [
            {"text": visible(text), "claims": sorted({lit[place][0] for place in covering})}
            for text, covering in pieces(passage.text, [span for _, span in lit])
        ],
    }


def _failure(failure: Failure) -> View:
    return {
        "kind": failure.kind,
        "stage": _name(failure.stage),
        "message": visible(cut(failure.message, _REASON)),
    }


def _steps(passages: Sequence[Passage]) -> list[View]:
    """Return what happened in order: what was fetched, and the model calls in between."""
    steps: list[View] = []
    calls = 0
    for hop in sorted({passage.hop for passage in passages}):
        if hop > calls:
            steps.append({"kind": "model", "calls": hop - calls})
            calls = hop
        for origin in dict.fromkeys(p.origin for p in passages if p.hop == hop):
            here = [index for index, p in enumerate(passages) if (p.hop, p.origin) == (hop, origin)]
            steps.append({"kind": origin, "passages": here})
    return steps


def _named(values: Mapping[str, Any]) -> View:
    return {
        _name(name): _name(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def _usage(usages: Sequence[Usage]) -> View:
    names = ("calls", "input_tokens", "output_tokens", "cached", "seconds")
    return {name: sum(getattr(usage, name) for usage in usages) for name in names}


def pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, tuple[int, ...]]]:
    """Cut a text where spans begin and end; they may overlap, and lie outside.

    Args:
        text: Any.
        spans: `(start, end)` in code points.

    Returns:
        Pieces whose sum is the text, each with the indices of the spans that cover it.
    """
    changes: dict[int, list[int]] = {0: [], len(text): []}
    for index, (start, end) in enumerate(spans):
        begin, stop = max(start, 0), min(end, len(text))
        if begin < stop:
            changes.setdefault(begin, []).append(index)
            changes.setdefault(stop, []).append(index)
    open_: set[int] = set()
    parts: list[tuple[str, tuple[int, ...]]] = []
    for start, stop in pairwise(sorted(changes)):
        open_ ^= set(changes[start])
        parts.append((text[start:stop], tuple(sorted(open_))))
    return parts


def difference(before: str, after: str) -> list[View]:
    """Return what became of a text, word by word: pieces that were kept, taken out, or added."""
    if len(before) + len(after) > _LONGEST_DIFF:
        steps = [("replace", [before], [after])]
    else:
        old, new = _TOKENS.findall(before), _TOKENS.findall(after)
        matcher = difflib.SequenceMatcher(None, old, new)
        steps = [(kind, old[a:b], new[c:d]) for kind, a, b, c, d in matcher.get_opcodes()]
    found: list[View] = []
    for kind, old, new in steps:
        if kind == "equal":
            found.append({"kind": "kept", "text": visible("".join(old))})
            continue
        if old:
            found.append({"kind": "out", "text": visible("".join(old))})
        if new:
            found.append({"kind": "in", "text": visible("".join(new))})
    return found


# Figures


def figures_view(figures: Figures, series: Sequence[Bucket], scores: Scores) -> View:
    """Return the numbers of all charts."""
    return {
        "answers": figures.answers,
        "stating": figures.stating,
        "passed": figures.passed,
        "interval": figures.interval,
        "outcomes": dict(figures.outcomes),
        "claims": {label: figures.claims[label] for label in _WORST if label in figures.claims},
        "causes": dict(figures.causes),
        "levels": [
            {"domain": visible(domain), "levels": dict(levels)}
            for domain, levels in figures.levels.items()
        ],
        "latency": dict(figures.latency),
        "calls": figures.calls,
        "cost": figures.cost,
        "series": [
            {
                "start": bucket.start.isoformat(),
                "answers": bucket.answers,
                "stating": bucket.stating,
                "passed": bucket.passed,
                "share": bucket.share,
                "interval": bucket.interval,
            }
            for bucket in series
        ],
        "what_if": {
            "stating": scores.stating,
            "passed": scores.passed,
            "steps": _STEPS,
            "passing": [scores.passing(step / _STEPS) for step in range(_STEPS + 1)],
        },
    }


def compared_view(pairs: Sequence[Pair], most: int) -> View:
    """Return two sides of the same questions.

    Args:
        pairs: One for each question.
        most: How many were asked for; as many means that there may be more.
    """
    both = [pair for pair in pairs if _states(pair.a) and _states(pair.b)]
    sides = {"a": [pair.a for pair in both], "b": [pair.b for pair in both]}
    passed = {name: [float(row.passed) for row in rows] for name, rows in sides.items()}
    change = paired_change(passed["a"], passed["b"]) if both else None
    return {
        "questions": len(pairs),
        "more": len(pairs) == most,
        "better": change.better if change else 0,
        "worse": change.worse if change else 0,
        "difference": change and {"value": change.difference, "interval": change.interval},
        "sides": {name: _share(rows) for name, rows in sides.items()},
        "pairs": [
            {"question": _line(pair.question), "a": row_view(pair.a), "b": row_view(pair.b)}
            for pair in pairs
        ],
    }


def _states(row: Row) -> bool:
    return row.outcome not in ("abstained", "no_claims")


def _share(rows: Sequence[Row]) -> View:
    passed = sum(row.passed for row in rows)
    return {"passed": passed, "stating": len(rows), "interval": wilson(passed, len(rows))}
