"""The nouns of the flow, from the exchange that was captured to the record that is kept.

    Exchange (Passages) -> Claim -> Verdict | Failure -> Report -> Decision -> Record

All are frozen and hold plain data: JSON goes out and comes back without loss (`to_json`,
`from_json`). Spans are `(start, end)` in code points. Lone surrogates, which no UTF-8 can
hold, are stored as U+FFFD: the length stays, so spans stay true.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from faithguard.errors import CaptureError

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from faithguard.policy import Policy

__all__ = [
    "Action",
    "Attempt",
    "Cause",
    "Claim",
    "ContextSource",
    "Decision",
    "Evidence",
    "Exchange",
    "Failure",
    "FailureKind",
    "Kind",
    "Label",
    "Level",
    "Origin",
    "Outcome",
    "Passage",
    "Record",
    "Repair",
    "Report",
    "Usage",
    "Verdict",
    "from_json",
    "to_json",
]

Span: TypeAlias = tuple[int, int]

Origin = Literal["retriever", "tool", "prompt", "caller"]
"""Where a passage came from: a retriever run, a tool's result, the text of the prompt where no
retrieval was seen, or the caller of `check`."""

ContextSource = Literal["retrieval", "prompt", "caller", "none"]
"""What the passages of an exchange rest on: retriever and tool runs, the prompt's own text
because no retrieval was seen, the caller's word, or nothing at all."""

Kind = Literal["fact", "abstention", "question", "courtesy", "opinion", "hedge", "action", "meta"]
"""What a claim is: only a `fact` is checked and counted. `action` is what an agent says it did;
`meta` speaks about the documents."""

Label = Literal[
    "supported", "contradicted", "not_mentioned", "conflicting", "not_checked", "failed"
]
"""What became of a claim: the context says it; says otherwise; is silent; says both; it was not
checked (not a fact, or no context); no verdict could be had."""

Cause = Literal["generation", "truncation", "retrieval"]
"""Whose fault an unsupported claim is: the model went against or beyond what it saw; a retrieved
passage that says so never reached the prompt; nothing that was retrieved is about it."""

Outcome = Literal["scored", "abstained", "no_claims", "no_context", "incomplete", "failed"]
"""How a check ended; `score` is a number only for `scored`."""

Level = Literal["safe", "warning", "block"]
Action = Literal["deliver", "flag", "block", "repair", "regenerate"]

FailureKind = Literal[
    "error",
    "timeout",
    "unavailable",
    "unparsable",
    "missing",
    "refused",
    "untrusted",
    "budget",
    "language",
]
"""Why there is no verdict: a fault; too late; a server that is down, busy or out of quota; words
that cannot be used; nothing came back; a model that declined; a judge that got a control claim
wrong; it would have cost more than allowed; a language that the verifier does not know."""

_DEEPEST = 32
_LONGEST_INT = 10_000
_SURROGATES = re.compile("[\ud800-\udfff]")
_T = TypeVar("_T")


def _clean(text: str) -> str:
    return _SURROGATES.sub("\ufffd", text)


def _plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return `value` as JSON can hold it; what JSON has no form for becomes its `str`.

    Args:
        value: Metadata of anybody's.
        above: The ids of what holds it, since it may hold itself.
    """
    if isinstance(value, str):
        return _clean(str(value))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # Python itself reads no longer ones
        return int(value) if value.bit_length() < _LONGEST_INT else hex(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    subject: object = value
    inside = (*above, id(subject))
    if id(subject) in above or len(above) == _DEEPEST:
        return f"<{type(subject).__name__}>"
    if isinstance(value, Mapping):
        try:
            items: list[tuple[Any, Any]] = list(cast(Mapping[Any, Any], value).items())
        except Exception:  # a mapping of anybody's, too
            return f"<{type(subject).__name__}>"
        return {_told(key): _plain(item, inside) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, inside) for item in cast(Collection[Any], value)]
    return _told(value)


def _told(value: object) -> str:
    """Return what an object says of itself; metadata of anybody's must not break a check."""
    try:
        return _clean(str(value))
    except Exception:
        return f"<{type(value).__name__}>"


def _scrub(subject: Any) -> None:
    """Clean the texts of a frozen value as it is made."""
    for part in fields(subject):
        value = getattr(subject, part.name)
        if isinstance(value, str) and not value.isascii():
            object.__setattr__(subject, part.name, _clean(value))
        elif isinstance(value, tuple):
            items = cast("tuple[Any, ...]", value)
            if any(isinstance(item, str) for item in items):
                clean = tuple(_clean(i) if isinstance(i, str) else i for i in items)
                object.__setattr__(subject, part.name, clean)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One piece of context."""

    text: str
    source: str | None = None
    """Where the text lives for a reader: a file, a URL, a document id."""
    hop: int = 0
    """How many model calls of this run had started before the passage was fetched."""
    origin: Origin = "caller"
    seen: bool = True
    """Whether the text reached a prompt of this run; only then is it evidence."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        _scrub(self)
        object.__setattr__(self, "metadata", _plain(self.metadata))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question, the context that the model saw, and the answer that it wrote."""

    id: str
    answer: str
    passages: tuple[Passage, ...] = ()
    question: str | None = None
    domain: str | None = None
    context_source: ContextSource = "caller"
    finish_reason: str | None = None
    tags: tuple[str, ...] = ()
    started_at: datetime | None = None
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds by stage."""

    def __post_init__(self) -> None:
        _scrub(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A verbatim piece of a passage of the exchange."""

    passage: int
    """Index into `Exchange.passages`."""
    start: int
    end: int
    quote: str

    def __post_init__(self) -> None:
        _scrub(self)

    def stands_in(self, exchange: Exchange) -> bool:
        """Say whether the quote is, word for word, where it says it is."""
        if not 0 <= self.passage < len(exchange.passages):
            return False
        return exchange.passages[self.passage].text[self.start : self.end] == self.quote != ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one verifier says of one claim."""

    claim: str
    """The id of the claim."""
    label: Literal["supported", "contradicted", "not_mentioned", "conflicting"]
    p_supported: float
    """Probability in [0, 1] that the context supports the claim."""
    verifier: str
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_supported <= 1.0:
            raise ValueError(f"`p_supported` must lie in [0, 1], got {self.p_supported!r}")
        _scrub(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a verdict is missing: a value, until a policy says what it means."""

    kind: FailureKind
    stage: str
    """The extractor or verifier, as `name@version`."""
    message: str
    """For a developer; holds no text of an answer or a passage."""
    claim: str | None = None
    """The id of the claim, or None where the whole stage failed."""

    def __post_init__(self) -> None:
        _scrub(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of the answer and, in a report, what became of it."""

    id: str
    text: str
    """The statement so that it stands alone (with its lead-in, header or question)."""
    span: Span
    """Where it stands in the answer."""
    kind: Kind = "fact"
    cites: tuple[tuple[str, int], ...] = ()
    """Which passage, counted from 1, is cited for which of its words: "[2]" behind them."""
    code: tuple[str, ...] = ()
    """What stands in it between backticks, without these."""
    label: Label = "not_checked"
    p_supported: float | None = None
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    cause: Cause | None = None
    verifier: str | None = None

    def __post_init__(self) -> None:
        _scrub(self)

    @property
    def supported(self) -> bool:
        """Whether the claim counts for the score; `conflicting` does and is flagged."""
        return self.label in ("supported", "conflicting")

    def settled(self, outcome: Verdict | Failure) -> Claim:
        """Return the claim with a verdict, or with the reason why there is none."""
        if isinstance(outcome, Failure):
            return replace(self, label="failed", reason=outcome.message, verifier=outcome.stage)
        return replace(
            self,
            label=outcome.label,
            p_supported=outcome.p_supported,
            evidence=outcome.evidence,
            reason=outcome.reason,
            verifier=outcome.verifier,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a check cost."""

    calls: int = 0
    """Calls to a judge or an extracting model."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0
    """Verdicts that came from the cache."""
    spared: int = 0
    """Fact claims that were settled before the judge that would have been asked about them."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a policy makes of a report; true where the answer passed.

    if report.decide("medical"):
        deliver(answer)
    """

    passed: bool
    action: Action
    """`deliver` or `flag` for an answer that passed, `repair` for one that does since a guard has
    mended it, else what is to be done with it."""
    reason: str
    """In words and with both counts: "6 of 7 claims supported: 0.86 < 0.98"."""
    level: Level | None
    """None where there is no score to grade."""
    domain: str
    safe: float
    """The threshold that an answer must reach to pass."""
    warning: float

    def __bool__(self) -> bool:
        """Say whether the answer passed: an `if` on a decision lets nothing else through."""
        return self.passed


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Every claim of one answer with its verdict, and the score that follows from them."""

    outcome: Outcome
    score: float | None
    """supported / total, in [0, 1]; None unless the outcome is `scored`."""
    bounds: tuple[float, float] | None
    """The lowest and highest possible score; a pair only where the outcome is `incomplete`."""
    supported: int
    """Fact claims that the context supports."""
    total: int
    """All fact claims; a claim whose verdict is missing still counts here."""
    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...]
    versions: Mapping[str, str]
    """`name@version` of whatever made a number of this report, by stage."""
    usage: Usage
    exchange: Exchange
    splits: tuple[int, ...] = ()
    """Where the answer was split into claims several times: the fact claims of each split. Those
    above are of the one with the median number."""

    @property
    def facts(self) -> tuple[Claim, ...]:
        """The claims that count."""
        return tuple(claim for claim in self.claims if claim.kind == "fact")

    @property
    def unsupported(self) -> tuple[Claim, ...]:
        """The fact claims that the context does not support, failed ones included."""
        return tuple(claim for claim in self.facts if not claim.supported)

    def decide(self, policy: Policy | str | None = None) -> Decision:
        """Decide by a policy or a domain's name; by the exchange's domain if none is given.

        Raises:
            ConfigError: If the domain is unknown or its settings cannot be used.
        """
        from faithguard.policy import decide

        return decide(self, self.exchange.domain if policy is None else policy)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the report as ASCII JSON, without loss."""
        return to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read what `to_json` wrote.

        Raises:
            CaptureError: If the text is not the JSON of a report.
        """
        return from_json(cls, text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from faithguard._render import terminal

        yield from terminal(self)

    def _repr_html_(self) -> str:
        from faithguard._render import html

        return html(self)

    def __str__(self) -> str:
        from faithguard._render import text

        return text(self)

    def __repr__(self) -> str:
        return (
            f"Report(outcome={self.outcome!r}, score={self.score!r}, "
            f"supported={self.supported}, total={self.total})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One answer that a guard had written, and its report."""

    exchange: Exchange
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One change that a guard made to an answer.

    All of a record's together, made in the answer of its last attempt, give its exchange's, or
    what was `released`.
    """

    span: Span
    """In the answer before the repair."""
    before: str
    """What stood there."""
    after: str
    """What stands there now; empty where it was left out."""
    evidence: tuple[Evidence, ...] = ()
    """What the change rests on: what the context says, or says instead."""

    def __post_init__(self) -> None:
        _scrub(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All that is kept of one exchange: what sinks, statistics and the page read."""

    exchange: Exchange
    """The last attempt's; its answer as it was delivered, where `repairs` changed it, or as it was
    checked, where it was held back."""
    report: Report
    """Of that exchange."""
    decision: Decision
    attempts: tuple[Attempt, ...] = ()
    repairs: tuple[Repair, ...] = ()
    released: str | None = None
    """What had gone out of an answer that was held back: the beginning of a stream that is
    released claim by claim. None for all others: it went out, or was held back, as a whole. It was
    handed to the framework; its reader may have taken less of it and be gone (LangGraph then takes
    its step to the end, and its state holds what was released)."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds by stage, over all attempts."""
    cost: float | None = None
    """In US dollars, where prices are known."""

    def __post_init__(self) -> None:
        _scrub(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the record as ASCII JSON, without loss."""
        return to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read what `to_json`, a `JsonlSink` or `faithguard score` wrote.

        Raises:
            CaptureError: If the text is not the JSON of a record.
        """
        return from_json(cls, text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from faithguard._render import record_terminal

        yield from record_terminal(self)

    def _repr_html_(self) -> str:
        from faithguard._render import record_html

        return record_html(self)

    def __repr__(self) -> str:
        return (
            f"Record(id={self.exchange.id!r}, action={self.decision.action!r}, "
            f"reason={self.decision.reason!r})"
        )


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter[Any](kind)


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return a value of this module as ASCII JSON, under the names of its fields."""
    kind: Any = type(value)
    return json.dumps(_adapter(kind).dump_python(value, mode="json"), indent=indent)


def from_json(kind: type[_T], text: str) -> _T:
    """Read what `to_json` wrote of a `kind`.

    Raises:
        CaptureError: If the text is not JSON of that kind; says where, and shows none of it.
    """
    from pydantic import ValidationError

    hashable: Any = kind
    try:
        value: _T = _adapter(hashable).validate_json(text, strict=True)  # "no" is no False
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        count = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
        first = problems[0]
        raise CaptureError(
            f"not the JSON of {'an' if kind.__name__[0] in 'AE' else 'a'} {kind.__name__}: "
            f"{count}, first at {_place(first['loc'])}: {first['msg']}"
        ) from None  # it quotes the text
    return value


def _place(path: tuple[int | str, ...]) -> str:
    """Return a path of our own names; the keys of a mapping may be anybody's words."""
    known = itertools.takewhile(lambda part: isinstance(part, int) or part in _names(), path)
    return ".".join(map(str, known)) or "the top"


@cache
def _names() -> frozenset[str]:
    nouns = (Passage, Exchange, Evidence, Verdict, Failure, Claim, Usage, Decision, Report)
    return frozenset(
        part.name for noun in (*nouns, Attempt, Repair, Record) for part in fields(noun)
    )
