"""A reply in events, told on as far as its text is released.

In: the events of a server, one by one, and what is released of the text in them. Out: the events
that the caller gets. An event without text is told once all text before it has been released or
left out, so the order is the server's. Each API has its own in `_chat_retold` and
`_responses_retold`; this has no I/O.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from faithguard import Passage
from faithguard.streaming import StreamCourse
from faithguard_openai._events import Event

__all__ = ["FaultError", "Retold"]

P = TypeVar("P")

_APART = "\n\n"
"""What the guard reads between texts that stand in different places of a reply."""


class FaultError(Exception):
    """The server has sent an error in its stream."""

    def __init__(self, event: Event) -> None:
        super().__init__("the server has sent an error")
        self.event = event


class Retold(ABC, Generic[P]):
    """One reply; `P` is a place of it in which a text can stand."""

    def __init__(self) -> None:
        self.written = ""
        """What the model wrote."""
        self.begun = False
        """Whether the server has sent anything."""
        self.over = False
        """Whether all text is there; what follows tells how it ended."""
        self.calls = False
        """Whether the model calls tools of the caller's."""
        self.finish_reason: str | None = None
        self.place: P | None = None
        """Where what is released stands."""
        self._writing: P | None = None
        """Where the model writes."""
        self._aside: deque[tuple[int, Event | P]] = deque()
        """After so many characters of what was written: an event; or the place of what follows."""
        self._apart = False
        """Whether what is told next begins with `_APART`."""
        self._at = 0
        """Up to where in what was written all is released or left out."""

    # -- what the server sends --------------------------------------------------------------------

    def take(self, event: Event) -> str:
        """Read an event; return the text in it, which is told only by `told`.

        Raises:
            FaultError: If it tells of an error.
            CaptureError: If it cannot be read.
        """
        self.begun = True
        before = len(self.written)
        self._read(event)
        return self.written[before:]

    @property
    @abstractmethod
    def passages(self) -> Sequence[Passage]:
        """What the reply itself has carried of its context so far."""

    @abstractmethod
    def _read(self, event: Event) -> None:
        """Read an event: call `_write` with its texts and `_put` with what is no text."""

    def _write(self, place: P, text: str) -> None:
        if not text:
            return
        if place != self._writing:
            self._aside.append((len(self.written), place))
            self._writing = place
            self.written += _APART if self.written else ""
        self.written += text

    def _put(self, event: Event) -> None:
        self._aside.append((len(self.written), event))

    # -- what the caller gets ---------------------------------------------------------------------

    def passed(self) -> Iterator[Event]:
        """Yield what comes before the text that is not released."""
        while self._aside and self._aside[0][0] <= self._at:
            yield from self._next()

    def told(self, text: str, course: StreamCourse) -> Iterator[Event]:
        """Yield what tells a text that was just released, and what belongs before and after it."""
        begin, done = len(course.text) - len(text), 0
        self._at = course.settled
        while self._aside and (at := self._aside[0][0]) <= self._at:
            cut = len(text)
            if at < self._at:
                cut = bisect_left(range(cut), at, done, key=lambda k: course.origin(begin + k))
            yield from self._said(text[done:cut])
            done = cut
            yield from self._next()
        yield from self._said(text[done:])

    def rest(self) -> Iterator[Event]:
        """Yield all that was not told."""
        while self._aside:
            yield from self._next()

    def _next(self) -> Iterator[Event]:
        at, what = self._aside.popleft()
        if isinstance(what, Event):
            yield from self._tell(what)
        else:
            self.place, self._apart = what, at > 0

    def _said(self, text: str) -> Iterator[Event]:
        if text and self._apart:
            self._apart, text = False, text.removeprefix(_APART)
        if text:
            yield from self._say(text)

    @abstractmethod
    def _say(self, text: str) -> Iterator[Event]:
        """Yield what tells a text in the present place."""

    @abstractmethod
    def _tell(self, event: Event) -> Iterator[Event]:
        """Yield what tells an event of the server's, with what was released as its text."""

    @abstractmethod
    def ended(self, note: Any) -> Iterator[Event]:
        """Yield all that was not told, and how the reply ended.

        Args:
            note: What was decided; None if nothing was verified.
        """

    @abstractmethod
    def blocked(self, text: str, note: Any) -> Iterator[Event]:
        """Yield a text in the place of all that was not told, and the end of the reply."""
