"""What somebody asks a store with -> values that SQLite can take, or a `ConfigError`."""

from __future__ import annotations

import math
import re
from typing import Any

from faithguard.errors import ConfigError

__all__ = ["NUMBERS", "cursor_of", "limit_of", "seconds_of", "text_of"]

NUMBERS = 2**63
"""What SQLite can count to."""

_CURSOR = re.compile(r"([0-9.e+-]{1,40}):([0-9]{1,19})")


def limit_of(limit: Any) -> int:
    """Return how many rows are asked for."""
    if not isinstance(limit, int) or not 1 <= limit < NUMBERS:
        raise ConfigError(f"`limit` is {limit!r}: name at least 1")
    return limit


def seconds_of(moment: Any, name: str) -> float:
    """Return a moment in seconds since 1970; without a time zone it is the machine's own."""
    try:
        seconds = float(moment.timestamp())
    except (AttributeError, OverflowError, ValueError, OSError):
        raise ConfigError(f"`{name}` is {moment!r}: name a datetime of years that count") from None
    return seconds


def text_of(text: Any, name: str) -> str:
    """Return a text."""
    try:
        text.encode("utf-8")
    except (AttributeError, UnicodeEncodeError):
        raise ConfigError(f"`{name}` is {text!r}: it is no text that UTF-8 can hold") from None
    return str(text)


def cursor_of(cursor: Any) -> tuple[float, int]:
    """Return the seconds since 1970 and the number of the row that a cursor came from."""
    found = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    try:
        when, number = (float(found[1]), int(found[2])) if found else (math.nan, 0)
    except ValueError:
        when, number = math.nan, 0
    if not math.isfinite(when) or number >= NUMBERS:
        shown = cursor[:80] if isinstance(cursor, str) else cursor
        raise ConfigError(f"{shown!r} is no cursor: take it from a row")
    return when, number
