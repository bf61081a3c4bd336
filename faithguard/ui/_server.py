"""A store -> a server on loopback that answers the page until it is closed."""

from __future__ import annotations

import os
import re
import secrets
import socket
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from faithguard.errors import ConfigError, FaithguardError, require
from faithguard.store import Store

if TYPE_CHECKING:
    from uvicorn import Server as Uvicorn

__all__ = ["Server"]

_HOST = "127.0.0.1"
_TOKEN = re.compile("[A-Za-z0-9_-]+")
_AT_ONCE = 16
"""Connections that are taken before any is looked at."""
_PATIENCE = 20.0
"""Seconds to wait for the server to begin and to end."""


class Server:
    """The page of a store, at `url` from entering to leaving.

    Args:
        path: The file; None takes what FAITHGUARD_STORE names, else the user's own.
        port: Where to listen on 127.0.0.1; 0 takes one that is free.
        label: Whether what a person says of verdicts is written to the store.
        token: What the address holds, in letters, digits, `-` and `_`; by default 256 random bits.

    Raises:
        ConfigError: If there is no such store, the port is taken, or the token holds what no
            address can.
        FaithguardError: If the store cannot be read or, with `label`, written.
        MissingExtraError: If the extra `ui` is not installed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        port: int = 0,
        label: bool = False,
        token: str | None = None,
    ) -> None:
        uvicorn = require("uvicorn", extra="ui")
        require("starlette", extra="ui")
        from faithguard.ui._app import application  # they import the extra
        from faithguard.ui._connection import Connection
        from faithguard.ui._gate import Gate

        self._token = secrets.token_urlsafe(32) if token is None else token
        if not _TOKEN.fullmatch(self._token):
            raise ConfigError("`token` may hold letters, digits, - and _, and no more")
        self.store = Store(path)
        """What is shown."""
        if label:
            self.store.close()
            self.store = Store(path, read_only=False)
            try:
                self.store.prepare()
            except FaithguardError as error:
                raise FaithguardError(f"{error}, or leave labelling (--label) out") from error
        self._socket = _listening(port)
        self._server: Uvicorn = uvicorn.Server(
            uvicorn.Config(
                Gate(application(self.store, label=label), self._token),
                http=Connection,
                backlog=_AT_ONCE,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,  # it would hold the token
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="faithguard-ui", daemon=True
        )

    @property
    def url(self) -> str:
        """The address of the page, with its token: who has it sees the texts of the store."""
        return f"http://{_HOST}:{self._socket.getsockname()[1]}/{self._token}/"

    def __enter__(self) -> Self:
        self._thread.start()
        end = time.monotonic() + _PATIENCE
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise FaithguardError("the page's server did not begin")
            time.sleep(0.005)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE)
        self._socket.close()
        self.store.close()

    def wait(self) -> None:
        """Return when the server has ended; until then Ctrl-C is heard."""
        # Not `join`: Python 3.11 takes a thread for ended if Ctrl-C comes while it is joined.
        while self._thread.is_alive():
            time.sleep(0.2)


def _listening(port: int) -> socket.socket:
    # The protocol by name: asyncio turns Nagle's delay off only for sockets that say it.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    if os.name == "posix":  # a port that was just left is free; elsewhere it means another thing
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"port {port} of {_HOST} cannot be used ({reason}): name another with --port"
        ) from None
    listener.listen(_AT_ONCE)
    return listener
