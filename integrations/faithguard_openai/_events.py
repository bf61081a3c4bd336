"""Server-sent events: bytes -> the values of their data, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from faithguard import CaptureError

__all__ = ["Event", "encoded", "events_in", "json_in"]

_END = "[DONE]"


class Event(NamedTuple):
    """One event: its name, if it has one, and its data."""

    name: str | None
    data: dict[str, Any]


def events_in(body: bytes) -> list[Event]:
    """Return the events of a stream that ended, or that broke off.

    Raises:
        CaptureError: If one is no JSON object; nothing of it is delivered.
    """
    events: list[Event] = []
    name, data = None, list[str]()
    # only these two end a line; others may stand inside JSON
    for line in [*body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), b""]:
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            if data:
                text = "\n".join(data)
                if text.startswith(_END):
                    break
                events.append(Event(name, json_in(text)))
            name, data = None, []
    return events


def encoded(events: Iterable[Event]) -> bytes:
    """Return a stream of these events."""
    lines: list[str] = []
    for name, data in events:
        if name is not None:
            lines.append(f"event: {name}\n")
        lines.append(f"data: {json.dumps(data)}\n\n")
    return "".join([*lines, f"data: {_END}\n\n"]).encode()


def json_in(text: str | bytes) -> dict[str, Any]:
    """Return the object that a text is.

    Raises:
        CaptureError: If it is none.
    """
    try:
        value: Any = json.loads(text)
    except ValueError:
        value = None  # the error would carry the text
    if not isinstance(value, dict):
        raise CaptureError(
            "the server's reply cannot be read as a model's answer, and is withheld; ask it "
            "without the guard to see it"
        )
    return cast("dict[str, Any]", value)
