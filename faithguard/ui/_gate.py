"""A request -> the application behind it, or an empty refusal.

In: ASGI requests from whoever can reach the port: other users of the machine, and every page that
is open in a browser here. Out: those that carry the token (the first part of the path), name this
machine as their host and come from no other origin. All others are told nothing.

The token stands in the path, not in a cookie: cookies of 127.0.0.1 go to every port of it.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Gate"]

_HERE = re.compile(rb"(127\.0\.0\.1|localhost)(:\d{1,5})?")
"""A host as it is to be named. Any port: it may be forwarded from another machine."""

_HEADERS = (
    # No inline script or style, no other host, no form, no frame; and no text is ever parsed as
    # markup, since there is no policy that makes trusted types.
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        b"require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Gate:
    """Let through what has the token, the right host and the right origin.

    Args:
        app: What answers.
        token: The first part of every path, in ASCII.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        rest = self._rest(scope) if scope["type"] == "http" else None
        if rest is None:
            await _refuse(send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app({**scope, "path": rest, "root_path": ""}, receive, guarded)

    def _rest(self, scope: Scope) -> str | None:
        """Return the path behind the token; None for a request that is not to be answered."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        host = headers.get(b"host", [])
        # A page elsewhere whose name was made to point here (DNS rebinding) says its own name.
        if len(host) != 1 or not _HERE.fullmatch(host[0]):
            return None
        if any(origin != b"http://" + host[0] for origin in headers.get(b"origin", [])):
            return None
        if _is_elsewhere(scope["method"], headers):
            return None
        first, slash, rest = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(first.encode(), self._token) or not slash:
            return None
        return f"/{rest}"


def _is_elsewhere(method: str, headers: dict[bytes, list[bytes]]) -> bool:
    """Say whether a page elsewhere asks, as browsers tell; following a link to the page may."""
    if set(headers.get(b"sec-fetch-site", [])) <= {b"same-origin", b"none"}:
        return False
    purpose = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
    return method != "GET" or purpose != ([b"navigate"], [b"document"])


async def _refuse(send: Send) -> None:
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
