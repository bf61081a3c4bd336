"""Record -> what is shown of it beside its report: the question, the passages, what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import pairwise
from typing import TYPE_CHECKING

from faithguard._render._sheet import Sheet, became, line, sheet_of, visible
from faithguard.policy import early_end

if TYPE_CHECKING:
    from faithguard.store import Opinion
    from faithguard.types import Passage, Record

__all__ = ["SAID", "RecordSheet", "Shown", "record_sheet"]

SAID = "what people say of the verdicts"

# Characters shown of one text.
_QUESTION = 600
_RELEASED = 200
_PASSAGE = 4_000
_WORD = 80
_NOTE = 300

_PASSAGES = 50
_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage."""

    title: str
    """Its number, its source, and what became of it."""
    pieces: tuple[tuple[str, bool], ...]
    """Its text, and which of it is evidence."""
    rest: str
    """What was cut off, in words."""


@dataclass(frozen=True, slots=True)
class RecordSheet:
    """A record in the words that a person reads; every text is safe and of bounded length."""

    question: str
    about: tuple[str, ...]
    """Id, time, domain, what was done, tags, times and cost."""
    report: Sheet
    """Of the last attempt, with the decision and what was changed."""
    earlier: tuple[Sheet, ...]
    """Of the attempts before it."""
    said: tuple[str, ...]
    """What people said of the claims."""
    passages: tuple[Shown, ...]
    left_out: str
    """How many passages are not shown, in words."""


def record_sheet(record: Record, opinions: Sequence[Opinion] = ()) -> RecordSheet:
    passages = record.exchange.passages
    hidden = len(passages) - _PASSAGES
    return RecordSheet(
        question=line(record.exchange.question or "", _QUESTION),
        about=tuple(_about(record)),
        report=sheet_of(record.report, record.decision, record.repairs),
        earlier=tuple(
            # by what policy it was graded is not known
            replace(sheet_of(attempt.report), level="", notes=())
            for attempt in record.attempts[:-1][:_ATTEMPTS]
        ),
        said=tuple(map(_said, opinions)),
        passages=tuple(
            _shown(number, passage, record) for number, passage in enumerate(passages[:_PASSAGES])
        ),
        left_out=f"… {hidden:,} more passages" if hidden > 0 else "",
    )


def _about(record: Record) -> Iterator[str]:
    exchange, decision = record.exchange, record.decision
    yield line(exchange.id, _WORD)
    if exchange.started_at is not None:
        yield f"{exchange.started_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    yield line(decision.domain, _WORD)
    yield became(decision, len(record.attempts))
    if early := early_end(decision.reason):
        yield early
    if record.released is not None:
        yield f"released before: {line(record.released, _RELEASED) or 'nothing'}"
    if exchange.tags:
        yield "tags " + ", ".join(line(tag, _WORD) for tag in exchange.tags[:10])
    attempts = len(record.attempts)
    if attempts > 1:
        yield f"{attempts:,} attempts"
    for stage, seconds in list(record.timings.items())[:10]:
        yield f"{line(stage, _WORD)} {seconds:.2f} s"
    if record.cost is not None:
        yield f"${record.cost:.4f}"


def _said(opinion: Opinion) -> str:
    verdict = f"{opinion.claim + 1}. {'right' if opinion.agree else 'wrong'}"
    if opinion.author:
        verdict += f" ({line(opinion.author, _WORD)})"
    return f"{verdict}: {line(opinion.note, _NOTE)}" if opinion.note else verdict


def _shown(number: int, passage: Passage, record: Record) -> Shown:
    spans = [
        (max(0, piece.start), min(len(passage.text), piece.end))
        for claim in record.report.claims
        for piece in claim.evidence
        if piece.passage == number and piece.stands_in(record.exchange)
    ]
    end = len(passage.text) if len(passage.text) <= _PASSAGE else _PASSAGE
    places = sorted({0, end, *(min(place, end) for span in spans for place in span)})
    pieces = tuple(
        (visible(passage.text[start:stop]), any(s <= start < e for s, e in spans))
        for start, stop in pairwise(places)
    )
    words = [f"passage {number + 1}", passage.origin]
    if passage.source:
        words.append(line(passage.source, _WORD))
    if not passage.seen:
        words.append("never reached the prompt")
    if spans:
        words.append("has evidence")
    return Shown(
        title=" · ".join(words),
        pieces=pieces,
        rest=f"… {len(passage.text) - end:,} more characters" if end < len(passage.text) else "",
    )
