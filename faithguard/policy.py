"""In: a Report, and a policy or a domain's name. Out: a Decision.

| domain | safe | warning | a contradicted claim | a conflicting claim |
|---|---|---|---|---|
| medical | 0.98 | 0.90 | always fails | counts unsupported |
| legal, financial | 0.95 | 0.85 | always fails | counts unsupported |
| customer_support (alias support), the default | 0.85 | 0.70 | counts as one | supported, flagged |
| educational | 0.80 | 0.65 | counts as one | supported, flagged |
| conversational | 0.70 | 0.50 | counts as one | supported, flagged |

A failure becomes a consequence here and nowhere earlier. Settings: code over environment over
file, and what comes from outside the code may only tighten (`faithguard.config`).
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from faithguard.config import FIELDS, Layer, Setting, layers, nearest
from faithguard.errors import ConfigError
from faithguard.types import Decision

if TYPE_CHECKING:
    from faithguard.config import StrPath
    from faithguard.types import Action, Level, Report

__all__ = [
    "ALIASES",
    "BROKE_OFF",
    "CLOSED",
    "CUT",
    "DEFAULT_DOMAIN",
    "DOMAINS",
    "LEFT",
    "Policy",
    "decide",
    "early_end",
    "resolve",
]

DEFAULT_DOMAIN = "customer_support"
"""The domain that is used when none is named."""

ALIASES: Mapping[str, str] = MappingProxyType({"support": "customer_support"})

CLOSED = frozenset({"medical", "legal", "financial"})
"""Domains in which one wrong claim is too many."""
_CLOSED_RULES = {"on_contradiction": "fail", "on_conflict": "unsupported"}

# Strictest last; what is not listed for a setting has no order of its own.
_STRICTER: dict[str, tuple[tuple[str, ...], ...]] = {
    "on_contradiction": (("count",), ("fail",)),
    "on_conflict": (("supported",), ("unsupported",)),
    "on_failure": (("open",), ("closed",)),
    "on_warning": (("flag",), ("fail",)),
    "on_fail": (("flag",), ("repair", "regenerate"), ("block",)),
}

# Scores are ratios of small counts: nearer than this, two numbers are meant to be the same
# (0.98 and 49/50, or a threshold that was computed as 3 * 0.3).
_EPSILON = 1e-12

_Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Policy(BaseModel, frozen=True, extra="forbid", strict=True):
    """What a domain asks of an answer, and what happens to one that falls short.

    A `Policy(...)` is exactly what its arguments say; `Policy.for_domain` starts from a
    built-in domain and looks at files and the environment.

    Raises:
        ConfigError: If a value cannot be used; the message names it and the remedy.
    """

    domain: Annotated[str, Field(min_length=1)]
    """The name that decisions, statistics and messages carry."""

    safe: _Fraction
    """The score in [0, 1] that an answer must reach to pass."""

    warning: _Fraction
    """The score in [0, `safe`] from which a person should look; below it is `block`."""

    on_contradiction: Literal["fail", "count"] = "count"
    """What one contradicted claim means. `fail`: the answer does not pass, whatever its score.
    `count`: it counts as one unsupported claim. Default: `fail` in the closed domains medical,
    legal and financial, else `count`."""

    on_conflict: Literal["supported", "unsupported"] = "supported"
    """What a claim counts as that one passage supports and another contradicts; it is flagged
    either way. Default: `unsupported` in the closed domains, else `supported`."""

    on_failure: Literal["closed", "open"] = "closed"
    """What missing verdicts mean. `closed`: they count as unsupported, and an answer without
    any verdict does not pass. `open`: they count as supported, and it passes, flagged."""

    on_warning: Literal["fail", "flag"] = "fail"
    """What the band from `warning` up to `safe` means: it does not pass, or passes flagged."""

    on_fail: Literal["flag", "block", "repair", "regenerate"] = "block"
    """What a guard does with an answer that does not pass: deliver it flagged, hold it back,
    mend the failing claims, or ask the model again."""

    @classmethod
    def for_domain(
        cls,
        name: str | None = None,
        *,
        file: StrPath | None = None,
        environ: Mapping[str, str] | None = None,
        **overrides: Any,
    ) -> Self:
        """Return the policy of a domain: built-in, changed by file, environment and code.

        Args:
            name: A built-in domain or one that a file defines; None takes the default one.
            file: A TOML file (`faithguard.config`). Code names it, so it may loosen.
            environ: Variables to read instead of `os.environ`; `{}` reads none.
            overrides: Fields of the policy; they win over all else.

        Raises:
            ConfigError: If the domain is unknown, a setting cannot be used, or the environment
                would loosen what it changes.
        """
        if "domain" in overrides:
            raise ConfigError(
                f"`domain` cannot be overridden, got {overrides['domain']!r}; name a domain by "
                "the first argument, Policy.for_domain('medical')"
            )
        found = _settle(name, layers(file, os.environ if environ is None else environ))
        origins = dict.fromkeys(overrides, "code")
        return cls.model_validate({**found.model_dump(), **overrides}, context=origins)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed, validated like any other policy."""
        return type(self).model_validate({**self.model_dump(), **(update or {})})

    @model_validator(mode="wrap")
    @classmethod
    def _check(
        cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        if isinstance(data, Mapping):
            data = _with_rules(cast("Mapping[str, Any]", data))
        origins = cast("Mapping[str, str]", info.context or {})
        try:
            policy = handler(data)
        except ValidationError as error:
            raise ConfigError(_explain(error, data, origins)) from error
        if policy.warning > policy.safe:
            raise ConfigError(
                f"policy {policy.domain!r}: `warning` {policy.warning!r}{_from('warning', origins)}"
                f" is above `safe` {policy.safe!r}{_from('safe', origins)}; set both, with "
                "`warning` at most `safe`"
            )
        return policy


def _with_rules(data: Mapping[str, Any]) -> dict[str, Any]:
    """Give a closed domain its rules unless others are named, so that none is lost unsaid."""
    domain = data.get("domain")
    if not isinstance(domain, str):
        return dict(data)
    domain = ALIASES.get(domain, domain)
    # "Medical" is a domain of another name, but not a less closed one
    closed = domain.strip().casefold() in CLOSED
    return {**(_CLOSED_RULES if closed else {}), **data, "domain": domain}


def _from(name: str, origins: Mapping[str, str]) -> str:
    return f" (from {origins[name]})" if name in origins else ""


def _explain(error: ValidationError, data: Any, origins: Mapping[str, str]) -> str:
    domain = cast("Mapping[str, Any]", data).get("domain") if isinstance(data, Mapping) else None
    head = "policy" if domain is None else f"policy {domain!r}{_from('domain', origins)}"
    parts: list[str] = []
    for item in error.errors(include_url=False):
        name = str(item["loc"][0]) if item["loc"] else ""
        value = f"`{name}` = {reprlib.repr(item['input'])}{_from(name, origins)}"
        match item["type"]:
            case "missing":
                remedy = ": a new domain needs `safe` and `warning`" if name != "domain" else ""
                parts.append(f"`{name}` is missing{remedy}")
            case "extra_forbidden":
                close = nearest(name, Policy.model_fields)
                hint = f"did you mean `{close}`? " if close else ""
                parts.append(
                    f"{value} is not a setting; {hint}Settings are {', '.join(Policy.model_fields)}"
                )
            case "literal_error":
                parts.append(f"{value}; use {item.get('ctx', {}).get('expected')}")
            case _ if name in ("safe", "warning"):
                parts.append(f"{value}; use a number from 0 to 1")
            case _:
                parts.append(f"{value}: {item['msg']}" if name else item["msg"])
    return f"{head}: {'; '.join(parts)}"


DOMAINS: Mapping[str, Policy] = MappingProxyType(
    {
        name: Policy(domain=name, safe=safe, warning=warning)
        for name, safe, warning in (
            ("medical", 0.98, 0.90),
            ("legal", 0.95, 0.85),
            ("financial", 0.95, 0.85),
            ("customer_support", 0.85, 0.70),
            ("educational", 0.80, 0.65),
            ("conversational", 0.70, 0.50),
        )
    }
)
"""The built-in domains."""


def resolve(
    policy: Policy | str | None,
    *,
    file: StrPath | None = None,
    environ: Mapping[str, str] | None = None,
) -> Policy:
    """Return a policy as it is, and a domain's name (None: the default) as its policy.

    Raises:
        ConfigError: As `Policy.for_domain` does, and for a file beside a ready policy.
    """
    if not isinstance(policy, Policy):
        return Policy.for_domain(policy, file=file, environ=environ)
    if file is not None:
        raise ConfigError(
            f"a file, {os.fspath(file)!r}, changes nothing in a ready Policy; "
            f"name its domain, {policy.domain!r}, instead"
        )
    return policy


LEFT = "; its reader left before the end"
BROKE_OFF = "; it broke off before the end"
CUT = "; the model did not say that this is the end"
"""What is added to the reason of a decision on a stream that did not come to its end."""


def early_end(reason: str) -> str:
    """Return what the reason of a decision says of a stream's early end; nothing of others."""
    return next((told[2:] for told in (LEFT, BROKE_OFF, CUT) if reason.endswith(told)), "")


def decide(report: Report, policy: Policy | str | None = None) -> Decision:
    """Decide on one report; the same report and policy always give the same decision.

    Args:
        report: What the scorer found.
        policy: A policy or a domain's name; None takes the domain of the exchange.

    Raises:
        ConfigError: If the domain is unknown or its settings cannot be used.
    """
    rules = resolve(report.exchange.domain if policy is None else policy)
    match report.outcome:
        case "scored" | "incomplete" if report.total > 0:
            return _graded(report, rules)
        case "abstained" | "no_claims":
            return _nothing_said(report, rules)
        case "no_context":
            return _decision(
                rules,
                passed=False,
                reason=f"{_claims(report.total)} and no context to check them against",
            )
        case _:
            return _failed(report, rules)


# Decisions ------------------------------------------------------------------------------------


def _decision(
    rules: Policy, *, passed: bool, reason: str, level: Level | None = None, flagged: bool = False
) -> Decision:
    action: Action = ("flag" if flagged else "deliver") if passed else rules.on_fail
    return Decision(
        passed=passed,
        action=action,
        reason=reason,
        level=level,
        domain=rules.domain,
        safe=rules.safe,
        warning=rules.warning,
    )


def _nothing_said(report: Report, rules: Policy) -> Decision:
    answerable = any(claim.kind == "abstention" and claim.evidence for claim in report.claims)
    if answerable:
        reason = "the answer abstains although the context seems to answer the question"
    elif report.outcome == "abstained":
        reason = "the answer abstains: nothing to check"
    else:
        reason = "no factual claims: nothing to check"
    return _decision(rules, passed=True, reason=reason, flagged=answerable)


def _failed(report: Report, rules: Policy) -> Decision:
    kinds = ", ".join(sorted({failure.kind for failure in report.failures}))
    reason = f"the check failed ({kinds})" if kinds else "the check failed"
    if report.total:
        reason += f" for {_claims(report.total)}"
    contradicted = _labelled(report, "contradicted")
    if contradicted and rules.on_contradiction == "fail":
        return _decision(
            rules, passed=False, reason=f"{reason}; {_always_fails(contradicted, rules)}"
        )
    if rules.on_failure == "open":
        reason += '; passes unchecked by on_failure="open"'
    return _decision(rules, passed=rules.on_failure == "open", reason=reason, flagged=True)


def _graded(report: Report, rules: Policy) -> Decision:
    contradicted = _labelled(report, "contradicted")
    conflicting = _labelled(report, "conflicting")
    forbidden = contradicted > 0 and rules.on_contradiction == "fail"
    lost = conflicting if rules.on_conflict == "unsupported" else 0
    supported = max(0, report.supported - lost)

    if report.outcome == "scored":
        low = high = supported / report.total
    else:
        bounds = report.bounds or (0.0, 1.0)
        low, high = (max(0.0, round(bound - lost / report.total, 12)) for bound in bounds)
    score = high if rules.on_failure == "open" else low
    level = _level(score, rules)
    passed = not forbidden and (
        level == "safe" or (level == "warning" and rules.on_warning == "flag")
    )

    # Delivered without a flag only if no missing verdict could have changed the decision.
    doubtful = report.outcome == "incomplete" and (
        rules.on_contradiction == "fail" or _level(low, rules) != level
    )

    digits = _digits((low, high), rules)
    marks = f"{score:.{digits}f} {'>=' if level == 'safe' else '<'} {_mark(rules.safe)}"
    parts = [f"{supported} of {_claims(report.total)} supported: {marks}"]
    if report.outcome == "incomplete":
        bound = "upper" if rules.on_failure == "open" else "lower"
        parts = [
            f"{supported} of {_claims(report.total)} supported, {_missing(report)} without a "
            f"verdict: between {low:.{digits}f} and {high:.{digits}f}",
            f"the {bound} bound decides: {marks}",
        ]
    if level == "warning" and not forbidden:
        parts.append(f"at or above {_mark(rules.warning)}, so a person should look")
    if supported < report.total and not _reaches((report.total - 1) / report.total, rules.safe):
        parts.append(
            f"with {_claims(report.total)}, {_mark(rules.safe)} means no unsupported claim at all"
        )
    if forbidden:
        parts.append(_always_fails(contradicted, rules))
    elif contradicted:
        parts.append(f"{contradicted} contradicted")
    if conflicting:
        counted = f", counted as unsupported in {rules.domain}" if lost else ""
        parts.append(f"{conflicting} where passages conflict{counted}")
    if passed and doubtful:
        parts.append("passes with claims unchecked")
    return _decision(
        rules,
        passed=passed,
        reason="; ".join(parts),
        level="block" if forbidden else level,
        flagged=level == "warning" or conflicting > 0 or doubtful,
    )


def _labelled(report: Report, label: str) -> int:
    return sum(claim.label == label for claim in report.facts)


def _missing(report: Report) -> int:
    return _labelled(report, "failed") + _labelled(report, "not_checked")


def _level(score: float, rules: Policy) -> Level:
    if _reaches(score, rules.safe):
        return "safe"
    return "warning" if _reaches(score, rules.warning) else "block"


def _reaches(score: float, threshold: float) -> bool:
    return score >= threshold - _EPSILON


# Words ----------------------------------------------------------------------------------------


def _claims(count: int) -> str:
    return f"{count} claim" if count == 1 else f"{count} claims"


def _always_fails(contradicted: int, rules: Policy) -> str:
    return f"{contradicted} contradicted, which always fails in {rules.domain}"


def _mark(threshold: float) -> str:
    """Return a threshold in full, with two decimals at least."""
    whole, _, decimals = f"{threshold:.12f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def _digits(scores: Iterable[float], rules: Policy) -> int:
    """Return how many decimals the scores need, so that no rounding tells a lie.

    0.8499 is not shown as 0.85 next to a threshold of 0.85, nor 499 of 500 as 1.00.
    """
    values = tuple(scores)
    marks = [(mark, Decimal(_mark(mark))) for mark in (rules.safe, rules.warning, 1.0)]

    def honest(value: float, digits: int) -> bool:
        shown = Decimal(f"{value:.{digits}f}")
        return (shown > 0) == (value > 0) and all(
            (shown >= text) == _reaches(value, mark) for mark, text in marks
        )

    fits = (digits for digits in range(2, 17) if all(honest(value, digits) for value in values))
    return next(fits, 17)


# Settings -------------------------------------------------------------------------------------


def _settle(name: str | None, sources: Sequence[Layer]) -> Policy:
    """Apply the layers in turn and return the policy of `name`, or of the default domain."""
    known = dict(DOMAINS)
    default = DEFAULT_DOMAIN
    for layer in sources:
        known = _extended(known, layer)
        default = _default(default, known, layer, used=name is None)
    policy = _find(default if name is None else name, known)
    for layer in sources:
        if layer.everywhere:
            if not layer.may_loosen:
                _refuse_loosening(policy, policy, layer.everywhere)
            policy = _changed(policy, policy.domain, layer.everywhere)
    return policy


def _default(current: str, known: Mapping[str, Policy], layer: Layer, *, used: bool) -> str:
    setting = layer.default_domain
    if setting is None or not (used or layer.may_loosen):
        return current
    replaced, policy = known[current], _find(setting.value, known, setting.origin)
    field = _looser(replaced, policy.model_dump())
    if field is not None and not layer.may_loosen:
        raise ConfigError(
            f"{setting.origin} = {setting.value!r} would loosen `{field}` of the default domain "
            f"{replaced.domain!r} from {getattr(replaced, field)!r} to {getattr(policy, field)!r}; "
            "the environment may only tighten: unset it, name a stricter domain, or name this "
            f"one in code, Policy.for_domain({policy.domain!r})"
        )
    return policy.domain


def _find(name: Any, known: Mapping[str, Policy], origin: str | None = None) -> Policy:
    if not isinstance(name, str):
        raise ConfigError(f"a policy is a Policy, a domain's name or None, got {name!r}")
    policy = known.get(ALIASES.get(name, name))
    if policy is None:
        close = nearest(name, (*known, *ALIASES))
        hint = f" did you mean {close!r}?" if close else ""
        source = f" (from {origin})" if origin else ""
        names = sorted({*known, *ALIASES})
        raise ConfigError(
            f"unknown domain {name!r}{source};{hint} Known: {', '.join(names)}. A policy "
            "file can define another, or code by Policy(domain=..., safe=..., warning=...)"
        )
    return policy


def _extended(known: Mapping[str, Policy], layer: Layer) -> dict[str, Policy]:
    """Return the domains as a file leaves them."""
    tables: dict[str, str] = {}
    for name in layer.domains:
        canonical = ALIASES.get(name, name)
        if canonical in tables:
            raise ConfigError(
                f"{layer.tables[name]} and [domains.{tables[canonical]}] are the same domain; "
                "keep one"
            )
        tables[canonical] = name

    result: dict[str, Policy] = {}

    def build(name: str, trail: tuple[str, ...]) -> Policy:
        name = ALIASES.get(name, name)
        if name in result or name not in tables:
            return _find(name, {**known, **result}, trail[-1] if trail else None)
        settings, origin = layer.domains[tables[name]], layer.tables[tables[name]]
        if origin in trail:
            raise ConfigError(f"{origin}: `extends` leads back to itself; extend another domain")
        own = {key: setting for key, setting in settings.items() if key != "extends"}
        before = known.get(name)
        base = (
            build(settings["extends"].value, (*trail, origin)) if "extends" in settings else before
        )
        if before is not None and base is not None and not layer.may_loosen:
            _refuse_loosening(before, base, own, origin)
        result[name] = _changed(base, name, own, origin)
        return result[name]

    for name in tables:
        build(name, ())
    return {**known, **result}


def _changed(
    base: Policy | None, name: str, settings: Mapping[str, Setting], origin: str | None = None
) -> Policy:
    values: dict[str, Any] = {} if base is None else base.model_dump()
    values |= {key: setting.value for key, setting in settings.items()}
    values["domain"] = name
    origins = {key: setting.origin for key, setting in settings.items()}
    if origin is not None:
        origins["domain"] = origin
    return Policy.model_validate(values, context=origins)


def _looser(before: Policy, after: Mapping[str, Any]) -> str | None:
    """Return a setting in which `after` asks for less than `before`."""
    return next(
        (n for n in FIELDS if _rank(n, after[n]) < _rank(n, getattr(before, n))),
        None,
    )


def _rank(name: str, value: Any) -> float:
    """Return how strict a value is; one that cannot be used loosens nothing."""
    order = _STRICTER.get(name)
    if order is None:
        usable = isinstance(value, int | float) and 0 <= value <= 1
        return float(value) if usable else math.inf
    return next((rank for rank, values in enumerate(order) if value in values), math.inf)


def _refuse_loosening(
    before: Policy, base: Policy, settings: Mapping[str, Setting], origin: str | None = None
) -> None:
    """Refuse settings that would make `base` looser than `before`.

    Told before they are validated: who is told to lower `warning` first would be refused then.
    """
    after = base.model_dump() | {name: setting.value for name, setting in settings.items()}
    field = _looser(before, after)
    if field is None:
        return
    old, new = getattr(before, field), after[field]
    source = settings[field].origin if field in settings else origin
    least = f"at least {old!r}" if field not in _STRICTER else repr(old)
    both = f", warning={new!r}" if field == "safe" and new < before.warning else ""
    raise ConfigError(
        f"`{field}` = {new!r} from {source} would loosen {before.domain!r}, which has {old!r}; "
        f"the environment may only tighten: unset it, use {least}, or loosen in code, "
        f"Policy.for_domain({before.domain!r}, {field}={new!r}{both})"
    )
