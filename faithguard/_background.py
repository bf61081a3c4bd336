"""Work that must not hold up its host: a bounded queue and one thread.

In: jobs. Out: their effects, later; what does not fit is dropped, counted and said once.
submitted = done + dropped + waiting. At exit the queue is drained for a bounded time, so that a
short script still gets its results, and what was lost in all is said.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable

from faithguard._fork import reset_in_child
from faithguard.errors import describe

__all__ = ["Background", "Losses", "losses"]

log = logging.getLogger("faithguard")

_AT_EXIT = 5.0
"""Seconds that an exiting process waits for all queues together."""

_IDLE = 0.5
"""Seconds after which a thread without work ends; the next job starts another."""


class Losses:
    """What a process has lost so far, in words with counts: of queues that are gone, too."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._lock = threading.Lock()
        reset_in_child(self)

    def add(self, words: str, count: int = 1) -> None:
        """Count what was lost; less than none if it turns out to have been told already.

        Args:
            words: What was lost, and how: "records dropped".
            count: How many.
        """
        with self._lock:
            self._counts[words] += count

    def tell(self) -> None:
        """Log all of it, once."""
        with self._lock:
            counts, self._counts = self._counts, Counter[str]()
        for words, count in (+counts).items():
            log.warning("faithguard: %s: %d in all", words, count)

    def after_fork(self) -> None:
        """Count anew in a child: its parent tells of its own."""
        self._counts, self._lock = Counter[str](), threading.Lock()


losses = Losses()


class Background:
    """Run jobs in order in a thread of its own, started when there is work.

    Args:
        capacity: Jobs that may wait.
        what: What the jobs are, for the message that some were dropped.
    """

    def __init__(self, capacity: int = 1_000, *, what: str = "records") -> None:
        self._capacity = capacity
        self.what = what
        self._jobs: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()  # protects all that follows and `_jobs`
        self._thread: threading.Thread | None = None
        self._busy = False
        self.submitted = 0
        self.done = 0
        self.dropped = 0
        _alive.add(self)
        reset_in_child(self)

    def submit(self, job: Callable[[], None]) -> bool:
        """Queue a job; return whether there was room. Never blocks on a job, never raises."""
        with self._changed:
            self.submitted += 1
            if len(self._jobs) >= self._capacity:
                self._drop()
                if self.dropped == 1:
                    log.warning(
                        "faithguard: %d %s are waiting, further ones are dropped and counted",
                        self._capacity,
                        self.what,
                    )
                return False
            self._jobs.append(job)
            if self._thread is None and not self._start():
                self._jobs.pop()
                self._drop()
                return False
            self._changed.notify_all()
            return True

    def _drop(self) -> None:
        self.dropped += 1
        losses.add(f"{self.what} dropped")

    def _start(self) -> bool:
        thread = threading.Thread(target=self._run, name=f"faithguard-{self.what}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads
            log.warning("faithguard: no thread for %s, some are dropped and counted", self.what)
            return False
        self._thread = thread
        return True

    @property
    def waiting(self) -> int:
        """Jobs that are not done yet."""
        with self._changed:
            return len(self._jobs) + self._busy

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is queued or running; return whether that came about in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._jobs and not self._busy, timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._jobs, _IDLE):
                    self._thread = None
                    return
                job = self._jobs.popleft()
                self._busy = True
            try:
                job()
            except BaseException as error:  # a job that exits must not end the thread
                log.warning("faithguard: %s in work on %s", describe(error), self.what)
            finally:
                del job
                with self._changed:
                    self._busy = False
                    self.done += 1
                    self._changed.notify_all()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent has the thread, and the jobs' duty."""
        self._changed = threading.Condition()
        self._jobs.clear()
        self._thread = None
        self._busy = False
        self.submitted = self.done = self.dropped = 0


_alive: weakref.WeakSet[Background] = weakref.WeakSet()


@atexit.register
def _drain() -> None:
    until = time.monotonic() + _AT_EXIT
    for background in list(_alive):
        if not background.wait(max(0.0, until - time.monotonic())):
            log.warning("faithguard: exit before all %s were done", background.what)
            losses.add(f"{background.what} left undone", background.waiting)
    losses.tell()
