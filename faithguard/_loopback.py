"""A server on loopback, the frame of the doubles that speak HTTP.

In: what to do with a request. Out: a context manager that listens while it is entered.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

__all__ = ["LoopbackServer"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many clients may come at once

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that has left, as it may."""


class LoopbackServer(ABC):
    """A server on a free port of loopback; a subclass says what it answers."""

    root = ""
    """The path that `url` ends with."""
    methods: tuple[str, ...] = ("POST",)
    """What it answers; other methods get status 501."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def take(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                outer._answer(self, self.rfile.read(size))

            def log_message(self, format: str, *args: object) -> None:
                """Keep the terminal clean."""

        for method in self.methods:
            setattr(Handler, f"do_{method}", Handler.take)
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @abstractmethod
    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer a request."""

    @property
    def url(self) -> str:
        """Where it listens; of a model's server, what a client takes as `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self.root}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
