"""A limit on calls in flight, for threads and event loops at once.

In: who wants to make a call. Out: a turn, in the order of asking. The primitives of asyncio
belong to one loop, so a turn is a `concurrent.futures.Future`, which threads and loops can both
wait for. Who gives up while waiting leaves no trace, and who is cancelled in the moment in which
the turn comes hands it on.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import asynccontextmanager, contextmanager

from faithguard._fork import reset_in_child

__all__ = ["Slots"]


class Slots:
    """Turns to make a call.

    Args:
        most: How many may have one at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.after_fork()
        reset_in_child(self)

    def after_fork(self) -> None:
        """Begin anew in a forked child: those who had a turn live in the parent."""
        self._lock = threading.Lock()  # protects the two below
        self._free = self._most
        self._queue: deque[Future[None]] = deque()

    @property
    def taken(self) -> int:
        """How many have a turn now."""
        return self._most - self._free

    @contextmanager
    def slot(self, seconds: float) -> Generator[None]:
        """Have a turn inside, blocking until it comes.

        Raises:
            TimeoutError: If it does not come in time.
        """
        turn = self._ask()
        try:
            try:
                turn.result(timeout=seconds)
            except FutureTimeout:
                raise TimeoutError from None
            yield
        finally:
            self._leave(turn)

    @asynccontextmanager
    async def aslot(self) -> AsyncGenerator[None]:
        """Have a turn inside, awaiting it."""
        turn = self._ask()
        try:
            await asyncio.wrap_future(turn)
            yield
        finally:
            self._leave(turn)

    def _ask(self) -> Future[None]:
        turn: Future[None] = Future()
        with self._lock:
            if self._free:
                self._free -= 1
                turn.set_result(None)
            else:
                self._queue.append(turn)
        return turn

    def _leave(self, turn: Future[None]) -> None:
        """Give a turn back, or the place in the queue."""
        if turn.cancel() or turn.cancelled():
            with self._lock:
                if turn in self._queue:
                    self._queue.remove(turn)
            return
        following = self._next()
        if following is not None:
            following.set_result(None)  # outside the lock: it runs callbacks

    def _next(self) -> Future[None] | None:
        with self._lock:
            while self._queue:
                turn = self._queue.popleft()
                if turn.set_running_or_notify_cancel():  # from here on nobody can cancel it
                    return turn
            self._free += 1
            return None
