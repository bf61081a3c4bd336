"""Record -> wherever people look.

In: one `Record` for each exchange. Out: a log line, a line of a file, a row of a database, or
what a sink of yours does. Sinks run in a thread of their own behind a bounded queue: stored +
dropped = submitted, and a sink that hangs or raises never reaches the host.

To add one, write a class with the one method of `Sink`, or pass a plain function;
`faithguard.testing.check_sink` is its contract suite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from faithguard.sinks._jsonl import JsonlSink
from faithguard.sinks._log import LogSink
from faithguard.sinks._sqlite import SqliteSink
from faithguard.types import Record

__all__ = ["AnySink", "JsonlSink", "LogSink", "Sink", "SqliteSink"]


@runtime_checkable
class Sink(Protocol):
    """Store or show records."""

    def write(self, record: Record) -> None:
        """Take one record; blocking is allowed, raising is logged."""
        ...


AnySink: TypeAlias = "Sink | Callable[[Record], object]"
