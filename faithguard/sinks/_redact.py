"""Record -> the same record with other words, or none: what a sink may keep of it.

In: a record and what the user says of it. Out: a record in which `redact` has seen every text
that a person or a model wrote, with spans and quotes that stand where they say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from faithguard.errors import ConfigError, FaithguardError, describe
from faithguard.types import (
    Attempt,
    Claim,
    Evidence,
    Exchange,
    Failure,
    Passage,
    Record,
    Repair,
    Report,
)

__all__ = ["Keep", "Redact", "checked_tags"]

Redact: TypeAlias = Callable[[str], str]

_ALIKE = 16
"""Characters after which two texts are held to go on alike."""

_FARTHEST = 600
"""Characters of one change; what is not found alike by then is taken as one change to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """What a sink keeps of a record.

    Raises:
        ConfigError: If `redact` is no function.
    """

    redact: Redact | None = None
    """A text -> what may be kept of it, of any length. It sees every text: question, answer,
    passages with their source and metadata, claims, reasons, the application's tags. Ids, names
    of domains and versions, labels and numbers stay; spans follow their words, and a quote is cut
    anew from the text that it stands in."""
    texts: bool = True
    """Whether texts are kept at all; if not, then labels, counts, spans, sources and tags."""
    tags: tuple[str, ...] = ()
    """To be added to each record's own."""

    def __post_init__(self) -> None:
        redact: object = self.redact
        if redact is not None and not callable(redact):
            kind = type(redact).__name__
            raise ConfigError(f"`redact` is of type {kind}: pass a function from text to text")

    def __call__(self, record: Record) -> Record:
        """Return what is kept.

        Raises:
            FaithguardError: If `redact` raises or returns no text; the message shows no text.
        """
        if self.redact is not None:
            record = _Rewriter(_checked(self.redact)).record(record)
        if not self.texts:
            record = _Rewriter(lambda _: "", keep_spans=True).record(record)
        if not self.tags:
            return record
        tags = tuple(dict.fromkeys((*record.exchange.tags, *self.tags)))
        exchange = replace(record.exchange, tags=tags)
        return replace(record, exchange=exchange, report=replace(record.report, exchange=exchange))


def checked_tags(tags: object) -> tuple[str, ...]:
    """Return tags as a tuple.

    Raises:
        ConfigError: If they are no list of texts.
    """
    listed = cast("Sequence[object]", tags) if isinstance(tags, list | tuple) else (tags, None)
    if not all(isinstance(tag, str) for tag in listed):
        raise ConfigError(f"`tags` is {tags!r}: pass a list of texts, such as ['prompt-v2']")
    return tuple(cast("Sequence[str]", listed))


def _checked(redact: Redact) -> Redact:
    def run(text: str) -> str:
        try:
            new: Any = redact(text)
        except Exception as error:
            raise FaithguardError(f"`redact` raised {describe(error)}: nothing is kept") from None
        if not isinstance(new, str):
            kind = type(new).__name__
            raise FaithguardError(f"`redact` returned {kind}, not a text: nothing is kept")
        return new

    return run


@dataclass(frozen=True, slots=True)
class _Moved:
    """A text before and after, and where its places went."""

    text: str
    blocks: tuple[tuple[int, int, int, int], ...]
    """(start, end, new start, new end) of what changed; between them nothing did."""

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        start, end = self._at(span[0], 2), self._at(span[1], 3)
        return start, max(start, end)

    def _at(self, place: int, side: int) -> int:
        """Return where a place went; one inside a change goes to the start or end of it."""
        shift = 0
        for block in self.blocks:
            if place <= block[0]:
                break
            if place < block[1]:
                return block[side]
            shift = block[3] - block[1]
        return place + shift


@dataclass(slots=True)
class _Rewriter:
    """One record's texts; each different one is rewritten once."""

    redact: Redact
    keep_spans: bool = False
    _known: dict[str, _Moved] = field(default_factory=dict[str, _Moved])

    def moved(self, text: str) -> _Moved:
        if text not in self._known:
            new = self.redact(text) if text else ""
            blocks = () if self.keep_spans else _changes(text, new)
            self._known[text] = _Moved(new, blocks)
        return self._known[text]

    def text(self, text: str) -> str:
        return self.moved(text).text

    def record(self, record: Record) -> Record:
        before = [record.report.exchange, *(a.exchange for a in record.attempts)]
        return replace(
            record,
            exchange=self.exchange(record.exchange),
            report=self.report(record.report),
            attempts=tuple(
                Attempt(exchange=self.exchange(a.exchange), report=self.report(a.report))
                for a in record.attempts
            ),
            repairs=tuple(self.repair(r, before) for r in record.repairs),
            released=None if record.released is None else self.text(record.released),
        )

    def exchange(self, exchange: Exchange) -> Exchange:
        question = exchange.question
        return replace(
            exchange,
            answer=self.text(exchange.answer),
            question=None if question is None else self.text(question),
            passages=tuple(self.passage(passage) for passage in exchange.passages),
            tags=tuple(map(self.tag, exchange.tags)),
        )

    def tag(self, tag: str) -> str:
        return tag if self.keep_spans else self.text(tag)

    def passage(self, passage: Passage) -> Passage:
        source = passage.source
        return replace(
            passage,
            text=self.text(passage.text),
            source=source if source is None else self.tag(source),
            metadata={} if self.keep_spans else self.plain(passage.metadata),
        )

    def plain(self, value: Any) -> Any:
        """Rewrite the texts of metadata, its keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            items = cast("Mapping[Any, Any]", value).items()
            return {self.text(str(key)): self.plain(item) for key, item in items}
        if isinstance(value, list | tuple):
            return [self.plain(item) for item in cast("list[Any]", value)]
        return value

    def report(self, report: Report) -> Report:
        exchange = report.exchange
        return replace(
            report,
            exchange=self.exchange(exchange),
            claims=tuple(self.claim(claim, exchange) for claim in report.claims),
            failures=tuple(self.failure(failure) for failure in report.failures),
        )

    def failure(self, failure: Failure) -> Failure:
        return replace(failure, message=self.tag(failure.message))

    def claim(self, claim: Claim, exchange: Exchange) -> Claim:
        return replace(
            claim,
            text=self.text(claim.text),
            span=self.moved(exchange.answer).span(claim.span),
            code=tuple(map(self.text, claim.code)),
            cites=tuple((self.text(words), number) for words, number in claim.cites),
            evidence=tuple(self.evidence(piece, exchange) for piece in claim.evidence),
            reason=self.text(claim.reason),
        )

    def evidence(self, piece: Evidence, exchange: Exchange) -> Evidence:
        if self.keep_spans or not piece.stands_in(exchange):
            return replace(piece, quote=self.text(piece.quote))
        moved = self.moved(exchange.passages[piece.passage].text)
        start, end = moved.span((piece.start, piece.end))
        return replace(piece, start=start, end=end, quote=moved.text[start:end])

    def repair(self, repair: Repair, before: list[Exchange]) -> Repair:
        start, end = repair.span
        span = repair.span
        for exchange in before:
            if exchange.answer[start:end] == repair.before:
                span = self.moved(exchange.answer).span(span)
                break
        return replace(
            repair,
            span=span,
            before=self.text(repair.before),
            after=self.text(repair.after),
            evidence=tuple(self.evidence(piece, before[0]) for piece in repair.evidence),
        )


def _changes(old: str, new: str) -> tuple[tuple[int, int, int, int], ...]:
    """Return where two texts differ: (start, end, new start, new end), in order.

    Linear in the texts, since passages are long: after a difference the nearest place is sought
    at which both go on alike for a while.
    """
    changes: list[tuple[int, int, int, int]] = []
    i = j = _common(old, new)
    tail = _common(old[i:][::-1], new[j:][::-1])
    end, new_end = len(old) - tail, len(new) - tail
    while i < end or j < new_end:
        start, new_start = i, j
        i, j = _resumed(old, i, end, new, j, new_end)
        changes.append((start, i, new_start, j))
        same = _common(old, new, i, j, min(end - i, new_end - j))
        i, j = i + same, j + same
    return tuple(changes)


def _resumed(old: str, i: int, end: int, new: str, j: int, new_end: int) -> tuple[int, int]:
    """Return from where on two texts go on alike, with as little left out of both as can be.

    Their ends, if that is nowhere near.
    """
    best, least = (end, new_end), 2 * _FARTHEST
    for place in range(i, min(i + _FARTHEST, end - _ALIKE + 1)):
        skipped = place - i
        if skipped >= least:
            break
        until = min(j + least - skipped + _ALIKE, j + _FARTHEST, new_end)
        found = new.find(old[place : place + _ALIKE], j, until)
        if found >= 0:
            best, least = (place, found), skipped + found - j
    return best


def _common(one: str, other: str, i: int = 0, j: int = 0, most: int | None = None) -> int:
    """Return how many characters of two texts are alike, from a place in each, at most so many."""
    most = min(len(one), len(other)) if most is None else most
    same, step = 0, 64
    while same < most:
        step = min(step, most - same)
        if one[i + same : i + same + step] == other[j + same : j + same + step]:
            same += step
            step *= 2
        elif step == 1:
            break
        else:
            step //= 2
    return same
