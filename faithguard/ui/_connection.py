"""Connections from whoever can reach the port -> few of them, each with little time to ask.

Before its headers are there a connection has shown no token: it may be any user of the machine,
and many half-sent requests would take all files that this process may open.
"""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["WAITING", "Connection"]

MOST = 64
"""Connections at a time; a browser opens six."""

WAITING = 5.0
"""Seconds from a connection, or the first byte of its next request, to the end of the headers."""


class Connection(H11Protocol):
    """HTTP with a time for headers; where there are too many, those that wait longest go."""

    _timer: asyncio.TimerHandle | None = None

    @property
    def _asks(self) -> bool:
        """Whether headers are to come: no request is being answered."""
        cycle = cast("object", self.cycle)  # None before the first
        return cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; make room if there is none."""
        waiting = [
            (other._timer.when(), other)
            for other in cast("set[Connection]", self.connections)
            if other._timer is not None
        ]
        if len(self.connections) >= MOST:
            if not waiting:
                transport.abort()
            else:
                _, oldest = min(waiting, key=lambda pair: pair[0])
                oldest._stop()
                oldest.transport.abort()
        super().connection_made(transport)
        self._timer = self.loop.call_later(WAITING, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if not self._asks:
            self._stop()
        elif self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(WAITING, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
