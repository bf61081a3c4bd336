"""A record from anywhere -> why it cannot be one that a check made, or None.

What a store does with a record rests on its numbers being numbers (`bad_number`). Of one that
somebody else made, places must be in the texts that they speak of, evidence in passages that are
there, and nothing in it may say otherwise than the rest, too. Reasons hold no text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, cast

from faithguard.types import Evidence, Exchange, Record, Report

__all__ = ["bad_number", "flaw"]

_MOST = 2**53
"""What JSON carries exactly to whoever reads it."""

_LONG = 10**100
"""Numbers that are not shown: some have thousands of digits."""

_LAST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_SHARES = {"score", "bounds", "p_supported", "safe", "warning"}
_CLOSE = 1e-9
_OPEN = {"metadata"}
"""Fields in which anything may stand."""


def flaw(record: Record, *beside: object) -> str | None:
    """Return the first thing that is wrong with a record, in words.

    Args:
        record: Of the right types.
        beside: What came with it, of which the numbers and times are looked at.
    """
    number = bad_number(record, *beside)
    return number or next(filter(None, chain(_places(record), _contradictions(record))), None)


def bad_number(*values: object) -> str | None:
    """Return the first number or time that cannot be, in words."""
    parts = chain.from_iterable(map(_parts, values))
    return next(filter(None, (_number(value, place) for place, value in parts)), None)


def _parts(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the numbers and times in a value, each with where it stands."""
    if is_dataclass(value):
        for part in fields(value):
            if part.name not in _OPEN:
                yield from _parts(getattr(value, part.name), (*place, part.name))
    elif isinstance(value, Mapping):  # its keys are anybody's words
        for item in cast("Mapping[Any, Any]", value).values():
            yield from _parts(item, place)
    elif isinstance(value, tuple):
        for index, item in enumerate(cast("tuple[Any, ...]", value)):
            yield from _parts(item, (*place, str(index)))
    elif isinstance(value, int | float | datetime) and not isinstance(value, bool):
        yield place, value


def _number(value: float | datetime, place: tuple[str, ...]) -> str | None:
    where = ".".join(place)
    if isinstance(value, datetime):
        return None if 0 <= _seconds(value) < _LAST else f"{where} is no time of this age"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where} is no number: {value}"
    most = 1 if _SHARES.intersection(place) else _MOST
    if 0 <= value <= most:
        return None
    shown = f"{value:g}" if abs(value) < _LONG else "longer than any"
    return f"{where} is {shown}, and not between 0 and {most}"


def _seconds(moment: datetime) -> float:
    try:
        return moment.timestamp()
    except (OverflowError, ValueError, OSError):  # before year 1, by the clock of this machine
        return -1.0


def _places(record: Record) -> Iterator[str | None]:
    """Yield what is wrong with places in texts."""
    yield from _of_report(record.report, record.exchange, "report")
    for number, attempt in enumerate(record.attempts):
        yield from _of_report(attempt.report, attempt.exchange, f"attempts.{number}.report")
    before = record.attempts[-1].exchange.answer if record.attempts else ""
    for number, repair in enumerate(record.repairs):
        where = f"repairs.{number}"
        yield _span(repair.span, before, f"{where}.span")
        yield from _evidence(repair.evidence, record.exchange, where)


def _contradictions(record: Record) -> Iterator[str | None]:
    """Yield where a record says two things that cannot both be so."""
    reports = [("report", record.report)]
    reports += [(f"attempts.{n}.report", a.report) for n, a in enumerate(record.attempts)]
    for where, report in reports:
        facts = report.facts
        supported = sum(claim.supported for claim in facts)
        if report.total != len(facts):
            yield f"{where}.total is {report.total}, and the facts of its claims are {len(facts)}"
        if report.supported != supported:
            yield f"{where}.supported is {report.supported}, and of its claims {supported} are"
        share = supported / len(facts) if facts else None
        scored = report.outcome == "scored"
        if (report.score is not None) != scored or (
            scored and (share is None or abs((report.score or 0.0) - share) > _CLOSE)
        ):
            yield f"{where}.score is not what its outcome and counts make"
    decision, outcome = record.decision, record.report.outcome
    if decision.passed and (
        decision.action in ("block", "regenerate")
        or decision.level == "block"
        or outcome == "no_context"
        or (outcome == "failed" and decision.action != "flag")
    ):
        yield f"decision.passed is true of an answer that was {outcome}, to {decision.action}"


def _of_report(report: Report, exchange: Exchange, where: str) -> Iterator[str | None]:
    if report.supported > report.total:
        yield f"{where}.supported is more than {where}.total"
    for number, claim in enumerate(report.claims):
        inside = f"{where}.claims.{number}"
        for shown in (exchange, report.exchange):
            yield _span(claim.span, shown.answer, f"{inside}.span")
            yield from _evidence(claim.evidence, shown, inside)


def _evidence(pieces: Sequence[Evidence], exchange: Exchange, where: str) -> Iterator[str | None]:
    many = len(exchange.passages)
    for number, piece in enumerate(pieces):
        inside = f"{where}.evidence.{number}"
        if piece.passage >= many:
            yield f"{inside}.passage is {piece.passage}, and there are {many}, counted from 0"
        else:
            text = exchange.passages[piece.passage].text
            yield _span((piece.start, piece.end), text, inside)
            if text[piece.start : piece.end] != piece.quote:
                yield f"{inside}.quote is not what stands there"


def _span(span: tuple[int, int], text: str, where: str) -> str | None:
    start, end = span
    if start > end:
        return f"{where} ends at {end}, before it starts at {start}"
    if text and end > len(text):  # of a text that was not kept, spans remain
        return f"{where} ends at {end}, and the text at {len(text)}"
    return None
