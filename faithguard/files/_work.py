"""Lines -> lines of both outputs, and what to count. Without state, so that any process can."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from faithguard._version import __version__
from faithguard.config import Layer, layers
from faithguard.errors import CaptureError, describe
from faithguard.exchanges import read_exchange
from faithguard.files._lines import LONGEST, Line, StrPath
from faithguard.policy import ALIASES, DOMAINS, Policy, decide
from faithguard.scorer import Scorer, named_scorer
from faithguard.stats import Tally
from faithguard.types import Exchange, Record, to_json

__all__ = ["Scored", "Work", "joined", "rejected"]

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of a batch."""

    records: bytes = b""
    rejects: bytes = b""
    tally: Tally = field(default_factory=Tally)


@dataclass(slots=True, kw_only=True)
class Work:
    """What is done to each line.

    Raises:
        ConfigError: If the domain is unknown, or the policy file or the judge cannot be used.
    """

    domain: str | None
    policy: StrPath | None
    judge: str | None = None
    """The name of a model."""
    judge_url: str | None = None
    _policies: dict[str | None, Policy] = field(init=False, default_factory=dict[Any, Policy])
    _known: frozenset[str] = field(init=False)
    _rules: str = field(init=False)

    def __post_init__(self) -> None:
        found = layers(self.policy, os.environ)
        self._known = frozenset({*DOMAINS, *ALIASES}.union(*(layer.domains for layer in found)))
        self._rules = _digest([_values(layer) for layer in found])
        self._policy(self.domain)
        self._scorer()

    def _scorer(self) -> Scorer:
        return named_scorer(self.judge, self.judge_url)

    def settings(self) -> dict[str, str]:
        """Return whatever the outputs depend on besides the input."""
        scorer = self._scorer()
        stages = [scorer.extractor.name, *(verifier.name for verifier in scorer.verifiers)]
        return {
            "domain": self.domain or "",
            "policy": self._rules,
            "version": " ".join([f"faithguard@{__version__}", *stages]),
        }

    def __call__(self, lines: Sequence[Line]) -> Scored:
        """Score lines."""
        return joined([self._one(line) for line in lines])

    def _one(self, line: Line) -> Scored:
        try:
            return self._scored(line)
        except CaptureError as error:
            return rejected(line, str(error))
        except Exception as error:  # one line, whatever is in it, must not end a long run
            return rejected(line, f"could not be scored: {describe(error)}")

    def _scored(self, line: Line) -> Scored:
        exchange = read_exchange(_object(line), id=_id_of(line))
        policy = self._policy_of(exchange)
        exchange = replace(exchange, domain=policy.domain)
        report = self._scorer().score(exchange)
        decision = decide(report, policy)
        lasting = replace(report, usage=replace(report.usage, seconds=0.0, cached=0))
        record = Record(
            exchange=exchange, report=lasting, decision=decision, versions=report.versions
        )
        text = f'{{"line": {line.number}, {to_json(record)[1:]}\n'
        tally = Tally()
        tally.add(report, decision)
        return Scored(records=text.encode("ascii"), tally=tally)

    def _policy_of(self, exchange: Exchange) -> Policy:
        if self.domain is not None or exchange.domain is None:
            return self._policy(self.domain)
        if exchange.domain not in self._known:
            raise CaptureError(
                f"`domain` is none of {', '.join(sorted(self._known))}; --domain names one for "
                "all lines"
            )
        return self._policy(exchange.domain)

    def _policy(self, domain: str | None) -> Policy:
        if domain not in self._policies:
            self._policies[domain] = Policy.for_domain(domain, file=self.policy)
        return self._policies[domain]


def _values(layer: Layer) -> list[Any]:
    """Return what a layer sets, without where it was found."""
    return [
        layer.may_loosen,
        layer.default_domain and layer.default_domain.value,
        {
            domain: {name: setting.value for name, setting in table.items()}
            for domain, table in layer.domains.items()
        },
        {name: setting.value for name, setting in layer.everywhere.items()},
    ]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _id_of(line: Line) -> str:
    """Return an id that is always the same for this line, and no other line's."""
    return hashlib.sha256(b"%d\n%s" % (line.number, line.data or b"")).hexdigest()[:32]


def _object(line: Line) -> Mapping[str, Any]:
    """Parse a line.

    Raises:
        CaptureError: If it is not the JSON of an object; shows none of it.
    """
    if line.data is None:
        raise CaptureError(f"{line.size:,} bytes are more than the {LONGEST:,} of the longest line")
    skipped = len(_BOM) if line.data.startswith(_BOM) else 0
    try:
        text = line.data[skipped:].decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start + skipped
        raise CaptureError(f"not UTF-8: byte {place} is 0x{line.data[place]:02x}") from None
    try:
        # NaN is how some tools write a cell that is empty
        value: object = json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        raise CaptureError(f"not JSON: {error.msg} at character {error.pos}") from None
    except (ValueError, RecursionError):
        raise CaptureError("not JSON: a number is too long, or lists are too deep") from None
    if not isinstance(value, dict):
        raise CaptureError("not a JSON object: each line is one exchange in { }")
    return cast("dict[str, Any]", value)


def joined(parts: Sequence[Scored]) -> Scored:
    """Return what became of all of them, in this order."""
    tally = Tally()
    for part in parts:
        tally.merge(part.tally)
    return Scored(
        b"".join(part.records for part in parts), b"".join(part.rejects for part in parts), tally
    )


def rejected(line: Line, reason: str) -> Scored:
    """Return what becomes of a bad line: a line of rejects, in base64 if it is no text."""
    row: dict[str, Any] = {"line": line.number, "reason": reason}
    if line.data is not None:
        try:
            row["text"] = line.data.decode("utf-8")
        except UnicodeDecodeError:
            row["base64"] = base64.b64encode(line.data).decode("ascii")
    return Scored(rejects=(json.dumps(row) + "\n").encode("ascii"), tally=Tally(bad=1))
