"""A server on loopback that takes whatever is posted to it, as collectors of telemetry do.

In: requests of the real SDKs. Out: what they held, and what the server was told to answer.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from faithguard._loopback import LoopbackServer

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


class Collector(LoopbackServer):
    """Take requests and keep them.

    Args:
        answer: What a request gets: a status and an object that is sent as JSON, or bytes.
        pause: Seconds before each answer.
    """

    methods = ("GET", "PATCH", "POST", "PUT")

    def __init__(
        self,
        answer: Callable[[Got], tuple[int, Any]] = lambda got: (200, {}),
        *,
        pause: float = 0.0,
    ) -> None:
        super().__init__()
        self.got: list[Got] = []
        self._told = answer
        self._pause = pause

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if handler.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        got = Got(handler.command, handler.path, body)
        self.got.append(got)
        time.sleep(self._pause)
        status, content = self._told(got)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def to(self, part: str) -> list[Got]:
        """Return the requests whose path holds a part."""
        return [got for got in self.got if part in got.path]
