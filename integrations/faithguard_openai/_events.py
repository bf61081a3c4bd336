"""Server-sent events: bytes -> the values of their data, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from faithguard import CaptureError

__all__ = ["END", "Event", "EventReader", "as_bytes", "encoded", "events_in", "json_in"]

_END = "[DONE]"
END = f"data: {_END}\n\n".encode()
"""What comes after the last event."""

# a carriage return that is the last byte may be the half of an end
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class Event(NamedTuple):
    """One event: its name, if it has one, and its data."""

    name: str | None
    data: dict[str, Any]


class EventReader:
    """Reads events as their bytes come."""

    def __init__(self) -> None:
        self._rest = b""
        """The line that is not over."""
        self._name: str | None = None
        self._data: list[str] = []
        self.ended = False
        """Whether it was told that no event follows."""

    def read(self, piece: bytes) -> Iterator[Event]:
        """Yield the events that are over with this piece.

        Raises:
            CaptureError: If one is no JSON object; nothing of it is delivered.
        """
        # only these end a line; others may stand inside JSON
        *lines, self._rest = _LINE_END.split(self._rest + piece)
        for line in lines:
            yield from self._line(line)

    def rest(self) -> Iterator[Event]:
        """Yield the event that is over with the stream, if there is one."""
        for line in (self._rest.removesuffix(b"\r"), b""):
            yield from self._line(line)

    def _line(self, line: bytes) -> Iterator[Event]:
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif not line:
            name, text = self._name, "\n".join(self._data)
            self._name, self._data = None, []
            self.ended = self.ended or text.startswith(_END)
            if text and not self.ended:
                yield Event(name, json_in(text))


def events_in(body: bytes) -> list[Event]:
    """Return the events of a stream that ended, or that broke off.

    Raises:
        CaptureError: If one is no JSON object; nothing of it is delivered.
    """
    reader = EventReader()
    return [*reader.read(body), *reader.rest()]


def encoded(events: Iterable[Event]) -> bytes:
    """Return a stream of these events."""
    return as_bytes(events) + END


def as_bytes(events: Iterable[Event]) -> bytes:
    """Return a part of a stream: these events."""
    lines: list[str] = []
    for name, data in events:
        if name is not None:
            lines.append(f"event: {name}\n")
        lines.append(f"data: {json.dumps(data)}\n\n")
    return "".join(lines).encode()


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
