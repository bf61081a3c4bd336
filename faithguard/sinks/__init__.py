"""Record -> wherever people look.

In: one `Record` for each exchange. Out: a log line, a line of a file, a row of a database, or
what a sink of yours does. Sinks run in a thread of their own behind a bounded queue: stored +
dropped = submitted, and a sink that hangs or raises never reaches the host.

To add one, write a class with the one method of `Sink`, or pass a plain function;
`faithguard.testing.check_sink` is its contract suite. One that has to know where in its own
tracing the host is has the method of `Placed` as well, or that of `Follower`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from faithguard.sinks._jsonl import JsonlSink
from faithguard.sinks._langfuse import LangfuseSink
from faithguard.sinks._langsmith import LangSmithSink
from faithguard.sinks._log import LogSink
from faithguard.sinks._otel import OtelSink
from faithguard.sinks._sqlite import SqliteSink
from faithguard.types import Record

__all__ = [
    "AnySink",
    "Follower",
    "JsonlSink",
    "LangSmithSink",
    "LangfuseSink",
    "LogSink",
    "OtelSink",
    "Placed",
    "Sink",
    "SqliteSink",
]


@runtime_checkable
class Sink(Protocol):
    """Store or show records."""

    def write(self, record: Record) -> None:
        """Take one record; blocking is allowed, raising is logged."""
        ...


@runtime_checkable
class Placed(Protocol):
    """A sink that must look around while the host is still where the answer was written."""

    def here(self, run: str | None) -> Callable[[Record], object]:
        """Return what takes the record of this place; called on the host's path, so be quick.

        Args:
            run: The id by which the framework's own callbacks know what wrote the answer, where
                there is one.
        """
        ...


@runtime_checkable
class Follower(Protocol):
    """A sink that must look around while a run goes on, since later it cannot."""

    def follow(self, run: str) -> None:
        """Take note of a run that goes on, at each of its steps; on the host's path."""
        ...


AnySink: TypeAlias = "Sink | Callable[[Record], object]"
