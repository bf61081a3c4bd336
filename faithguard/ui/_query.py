"""The parameters of an address -> a filter of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, get_args

from faithguard.errors import ConfigError
from faithguard.store import Filter
from faithguard.types import Action, Cause, Label, Level, Outcome

__all__ = ["CHOICES", "filter_of"]

CHOICES: dict[str, tuple[str, ...]] = {
    "level": get_args(Level),
    "outcome": get_args(Outcome),
    "action": get_args(Action),
    "label": get_args(Label),
    "cause": get_args(Cause),
}
"""What a filter can be set to, where that is a closed set."""

_PASSED = {"yes": True, "no": False}
_TIMES = ("since", "until")
_NAMES = {part.name for part in fields(Filter)}


def filter_of(parameters: Mapping[str, str], prefix: str = "") -> Filter:
    """Return the filter that parameters describe; those of other names are left alone.

    Args:
        parameters: `domain=medical`, `passed=no`, `since=2026-01-31T10:00:00Z`, ...; an empty
            value sets nothing.
        prefix: What the names begin with, such as `a.`.

    Raises:
        ConfigError: If a value is none of those that it can be.
    """
    found = {
        name: parameters[prefix + name] for name in _NAMES if parameters.get(prefix + name, "")
    }
    return Filter(**{name: _value(name, text) for name, text in found.items()})


def _value(name: str, text: str) -> Any:
    if name in _TIMES:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise ConfigError(f"{name!r} is {text!r}: write it as 2026-01-31T10:00:00Z") from None
    known = tuple(_PASSED) if name == "passed" else CHOICES.get(name)
    if known is not None and text not in known:
        raise ConfigError(f"{name!r} is {text!r}: it can be {', '.join(known)}")
    return _PASSED[text] if name == "passed" else text
