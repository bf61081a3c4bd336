"""In: environment variables and a TOML file. Out: plain settings, each with its origin.

    default_domain = "clinic"

    [domains.legal]          # a built-in domain is changed
    safe = 0.97

    [domains.clinic]         # a new one needs `safe` and `warning`, or a domain that it extends
    extends = "medical"
    on_fail = "regenerate"

A file that code names may loosen. What comes from outside the code may only tighten what it
changes: the variables below, and the file that FAITHGUARD_POLICY names. Ranges and strictness
are checked in `faithguard.policy`, which knows what the settings mean.

Nothing is cached, so that a running process sees a changed file or variable.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias, cast

from faithguard.errors import ConfigError

__all__ = ["FIELDS", "VARIABLES", "Layer", "Setting", "layers", "nearest"]

FIELDS = (
    "safe",
    "warning",
    "on_contradiction",
    "on_conflict",
    "on_failure",
    "on_warning",
    "on_fail",
)
"""What a domain's table may set, next to `extends`."""

VARIABLES = {
    f"FAITHGUARD_{name.upper()}": name
    for name in (
        "policy",
        "domain",
        "safe",
        "warning",
        "on_failure",
        "on_warning",
        "on_contradiction",
        "on_conflict",
    )
}
"""The variables that are read here, and what each one sets."""

_PREFIX = "FAITHGUARD_"

_OF_OTHERS = ("FAITHGUARD_STORE",)
"""Variables that are read elsewhere, and whose names can be misspelt as well."""

StrPath: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value and where it was found."""

    value: Any
    origin: str
    """For messages: "FAITHGUARD_SAFE", "[domains.medical] of 'policy.toml'"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The settings of one source; a later layer changes what the earlier ones say."""

    may_loosen: bool
    default_domain: Setting | None = None
    domains: Mapping[str, Mapping[str, Setting]] = field(
        default_factory=dict[str, Mapping[str, Setting]]
    )
    """By domain, then by the name of the setting (`FIELDS` or `extends`)."""
    tables: Mapping[str, str] = field(default_factory=dict[str, str])
    """The origin of each domain's table."""
    everywhere: Mapping[str, Setting] = field(default_factory=dict[str, Setting])
    """Settings of whichever domain is used."""


def layers(file: StrPath | None, environ: Mapping[str, str]) -> tuple[Layer, ...]:
    """Return what the file that code names, then the environment, have to say.

    Raises:
        ConfigError: If a file cannot be read or understood, a variable's name is misspelt or
            its value is no number where one must be.
    """
    _refuse_misspelt(environ)
    found = [] if file is None else [_file(file, None)]
    policy = "FAITHGUARD_POLICY"
    if path := environ.get(policy, "").strip():
        found.append(_file(path, policy))
    variables = _variables(environ)
    if variables.everywhere or variables.default_domain:
        found.append(variables)
    return tuple(found)


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that `name` was probably meant to be."""
    by_case = {option.casefold(): option for option in known}
    found = get_close_matches(name.casefold(), by_case, n=1, cutoff=cutoff)
    return by_case[found[0]] if found else None


def _hint(name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f"did you mean {close!r}? " if close else ""


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """Other parts of faithguard have variables too, so only a near miss is refused."""
    for name, value in environ.items():
        upper = name.upper()
        known = name in VARIABLES or name in _OF_OTHERS
        if not upper.startswith(_PREFIX) or known or not value.strip():
            continue
        if upper == "FAITHGUARD_ON_FAIL":
            raise ConfigError(
                f"{name}={value!r} sets nothing: `on_fail` is set in code or in a policy file "
                "(FAITHGUARD_POLICY names one); unset the variable"
            )
        # Names are compared without what they share, or all would look alike.
        ends = {known.removeprefix(_PREFIX): known for known in (*VARIABLES, *_OF_OTHERS)}
        close = nearest(upper.removeprefix(_PREFIX), ends, cutoff=0.75)
        if close is not None:
            raise ConfigError(
                f"{name}={value!r} sets nothing; did you mean {ends[close]}? Rename or unset it"
            )


def _variables(environ: Mapping[str, str]) -> Layer:
    settings: dict[str, Setting] = {}
    for variable, name in VARIABLES.items():
        text = environ.get(variable, "").strip()
        if text and name != "policy":
            value = _number(variable, text) if name in ("safe", "warning") else text
            settings[name] = Setting(value=value, origin=variable)
    domain = settings.pop("domain", None)
    return Layer(may_loosen=False, default_domain=domain, everywhere=settings)


def _number(variable: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            f"{variable}={text!r} is not a number; use one from 0 to 1, with a point, such as 0.9"
        ) from None


def _file(path: StrPath, variable: str | None) -> Layer:
    """Read a policy file; one that a variable names may not loosen."""
    source = f"policy file {os.fspath(path)!r}"
    if variable is not None:
        source += f" (named by {variable})"
    return _layer(_parse(_read(path, source), source), source, may_loosen=variable is None)


def _read(path: StrPath, source: str) -> str:
    remedy = "name a TOML file that this process can read"
    try:
        with open(os.path.expanduser(path), "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise ConfigError(f"cannot read {source}: {error.strerror or error}; {remedy}") from error
    except ValueError as error:  # a NUL in the path
        raise ConfigError(f"cannot read {source}: {error}; {remedy}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{source} is not UTF-8 at line {line}; save it as UTF-8") from error


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers too long, arrays too deep
        raise ConfigError(f"{source} is not valid TOML: {error}") from error


def _layer(content: Mapping[str, Any], source: str, *, may_loosen: bool) -> Layer:
    known = ("default_domain", "domains")
    for key in content:
        if key not in known:
            raise ConfigError(
                f"{source}: unknown key {key!r}; {_hint(key, known)}"
                "Use `default_domain` and tables [domains.NAME]"
            )
    default = None
    if "default_domain" in content:
        name = content["default_domain"]
        if not isinstance(name, str):
            raise ConfigError(f"{source}: `default_domain` = {name!r} is not a name; quote one")
        default = Setting(value=name, origin=f"`default_domain` of {source}")
    domains = _table(content.get("domains", {}), f"`domains` of {source}")
    tables = {name: f"[domains.{name}] of {source}" for name in domains}
    return Layer(
        may_loosen=may_loosen,
        default_domain=default,
        domains={name: _domain(table, tables[name]) for name, table in domains.items()},
        tables=tables,
    )


def _domain(value: Any, origin: str) -> dict[str, Setting]:
    table = _table(value, origin)
    known = (*FIELDS, "extends")
    for key in table:
        if key not in known:
            raise ConfigError(
                f"{origin}: unknown key {key!r}; {_hint(key, known)}Use {', '.join(known)}"
            )
    if not isinstance(table.get("extends", ""), str):
        raise ConfigError(f"{origin}: `extends` = {table['extends']!r} is not a name; quote one")
    return {key: Setting(value=item, origin=origin) for key, item in table.items()}


def _table(value: Any, origin: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(
            f"{origin} = {value!r} is not a table; write [domains.NAME] above its keys"
        )
    return cast("dict[str, Any]", value)
