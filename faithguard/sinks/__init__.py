"""Record -> wherever people look.

In: one `Record` for each exchange. Out: a log line, a line of a file, or what a sink of yours
does. Sinks run in a thread of their own behind a bounded queue: stored + dropped = submitted,
and a sink that hangs or raises never reaches the host.

To add one, write a class with the one method of `Sink`, or pass a plain function;
`faithguard.testing.check_sink` is its contract suite. One that has to know where in its own
tracing the host is has the method of `Placed` as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from faithguard.sinks._jsonl import JsonlSink
from faithguard.sinks._log import LogSink
from faithguard.sinks._otel import OtelSink
from faithguard.types import Record

__all__ = ["AnySink", "JsonlSink", "LogSink", "OtelSink", "Placed", "Sink"]


@runtime_checkable
class Sink(Protocol):
    """Store or show records."""

    def write(self, record: Record) -> None:
        """Take one record; blocking is allowed, raising is logged."""
        ...


@runtime_checkable
class Placed(Protocol):
    """A sink that must look around while the host is still where the answer was written."""

    def here(self) -> Callable[[Record], object]:
        """Return what takes the record of this place; called on the host's path, so be quick."""
        ...


AnySink: TypeAlias = "Sink | Callable[[Record], object]"
