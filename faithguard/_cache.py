"""Verdicts that are known, and verdicts that somebody is already asking for.

In: keys of (verifier, claim, context). Out: a `Ticket`: what is known, what the holder must find
out for all, and what to wait for. The same claim asked by ten threads or tasks at once is
verified once. Failures are shared with those who wait, and not kept.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cachetools import LRUCache

from faithguard._fork import reset_in_child
from faithguard.types import Failure
from faithguard.verifiers import Finding

__all__ = ["Ticket", "VerdictCache"]

Key: TypeAlias = tuple[str, ...]
Again: TypeAlias = Literal["again"]
"""What those who wait get when the one who asked was cancelled: they ask themselves."""


@dataclass(slots=True)
class _Flight:
    """A verdict that is being found out."""

    loop: asyncio.AbstractEventLoop | None
    """The event loop that the finder needs, which must not be blocked by waiting."""
    landed: Future[Finding | Again] = field(default_factory=Future[Finding | Again])


class VerdictCache:
    """Keep the verdicts that were used last; safe for threads and tasks.

    Args:
        maxsize: How many verdicts are kept, at about 1 kB each.
    """

    def __init__(self, maxsize: int = 8_192) -> None:
        self._kept: LRUCache[Key, Finding] = LRUCache(maxsize)
        self._flights: dict[Key, _Flight] = {}
        self._lock = threading.Lock()  # protects both
        reset_in_child(self)

    def after_fork(self) -> None:
        """Wait for nobody in a forked child: those who find out live in the parent."""
        self._lock = threading.Lock()
        self._flights = {}

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forget the verdicts that are kept."""
        with self._lock:
            self._kept.clear()

    def take(self, keys: Sequence[Key], *, blocking: bool) -> Ticket:
        """Say for each key whether it is known, somebody's, or the caller's to find out.

        Args:
            keys: Different ones.
            blocking: Whether the caller would wait by blocking its thread. One that would hold
                up an event loop finds out by itself what a task is finding out: the task's loop
                may be waiting for this one. And so does everyone where that loop has stopped.
        """
        here = _running_loop()
        ticket = Ticket(self)
        with self._lock:
            for key in keys:
                if key in self._kept:
                    ticket.known[key] = self._kept[key]
                elif (flight := self._flights.get(key)) is None:
                    self._flights[key] = _Flight(loop=None if blocking else here)
                    ticket.mine.append(key)
                elif flight.loop is not None and (
                    not flight.loop.is_running() or (blocking and here is not None)
                ):
                    ticket.alone.append(key)
                else:
                    ticket.others[key] = flight.landed
        return ticket

    def land(self, key: Key, finding: Finding | Again) -> None:
        """Hand a finding to those who wait and keep it, unless it is a failure."""
        with self._lock:
            flight = self._flights.pop(key, None)
            if finding != "again" and not isinstance(finding, Failure):
                self._kept[key] = finding
        if flight is not None:
            flight.landed.set_result(finding)


@dataclass(slots=True)
class Ticket:
    """What `VerdictCache.take` says; a context manager that leaves nobody waiting."""

    cache: VerdictCache
    known: dict[Key, Finding] = field(default_factory=dict[Key, Finding])
    mine: list[Key] = field(default_factory=list[Key])
    alone: list[Key] = field(default_factory=list[Key])
    """Keys that the caller finds out for itself, beside the one whom it must not wait for."""
    others: dict[Key, Future[Finding | Again]] = field(
        default_factory=dict[Key, "Future[Finding | Again]"]
    )

    def land(self, key: Key, finding: Finding) -> None:
        """Settle a key that was the caller's to find out."""
        if key in self.mine:
            self.mine.remove(key)
            self.cache.land(key, finding)

    def __enter__(self) -> Ticket:
        return self

    def __exit__(self, *_: object) -> None:
        while self.mine:
            self.cache.land(self.mine.pop(), "again")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
