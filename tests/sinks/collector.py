"""A server on loopback that takes whatever is posted to it, as collectors of telemetry do.

In: requests of the real SDKs. Out: what they held, and what the server was told to answer.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

__all__ = ["INGEST", "Collector", "Got"]

INGEST = {
    "use_multipart_endpoint": False,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_qsize_trigger": 1_000,
    "scale_up_nthreads_limit": 2,
    "scale_down_nempty_trigger": 4,
}
"""What LangSmith's server says of how it wants to be sent to; its client needs all of it."""


@dataclass(frozen=True)
class Got:
    """One request."""

    method: str
    path: str
    body: bytes

    @property
    def json(self) -> Any:
        """The body, if it is JSON."""
        return json.loads(self.body)


class Collector:
    """Take requests and keep them.

    Args:
        answer: What a request gets: a status and an object that is sent as JSON, or bytes.
        pause: Seconds before each answer.
    """

    def __init__(
        self,
        answer: Callable[[Got], tuple[int, Any]] = lambda got: (200, {}),
        *,
        pause: float = 0.0,
    ) -> None:
        self.got: list[Got] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                got = Got(self.command, self.path, body)
                outer.got.append(got)
                time.sleep(pause)
                status, content = answer(got)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PATCH = do_PUT = do_POST

            def log_message(self, format: str, *args: object) -> None:
                """Keep the terminal clean."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """Say nothing of a client that has left, as it may."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def to(self, part: str) -> list[Got]:
        """Return the requests whose path holds a part."""
        return [got for got in self.got if part in got.path]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
