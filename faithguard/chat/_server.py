"""What is known of a server and a model: which format it keeps to, which parameters it refuses.

In: refusals. Out: what the next request leaves out or names otherwise. Learned once for a server
and a model, and shared by all who talk to it in this process.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from faithguard._fork import reset_in_child

__all__ = ["Server", "server_of"]

Format: TypeAlias = Literal["json_schema", "json_object", "prompt"]

_LADDER: tuple[Format, ...] = ("json_schema", "json_object", "prompt")
_FORMAT_WORDS = re.compile(
    r"response_?format|json_?\s?schema|json_?\s?object|structured.?output|grammar|guided_json|"
    r"\bstrict\b|\bjson mode\b|\bschema\b|generate json|requested parameters",
    re.IGNORECASE,
)
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_KEPT = frozenset({"model", "messages", "response_format"})


class Server:
    """One model on one server."""

    def __init__(self) -> None:
        self._step = 0
        self._dropped: set[str] = set()
        self._renamed: dict[str, str] = {}
        self.after_fork()
        reset_in_child(self)

    def after_fork(self) -> None:
        """Let no lock be held that a thread of the parent held."""
        self._lock = threading.Lock()  # protects what is known

    @property
    def format(self) -> Format:
        """How the form of the reply is asked for."""
        return _LADDER[self._step]

    def fitted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request as this server takes it."""
        with self._lock:
            named = {self._renamed.get(name, name): value for name, value in body.items()}
            return {name: value for name, value in named.items() if name not in self._dropped}

    def learn(self, status: int, told: str, param: str | None, sent: Mapping[str, Any]) -> bool:
        """Take a refusal; return whether the same request can be sent in another form.

        Args:
            status: Of HTTP.
            told: What the server said of the fault.
            param: The parameter that it named, if it named one.
            sent: The request that it refused.
        """
        if status not in (400, 404, 422, 500, 501):
            return False
        with self._lock:
            format_ = sent.get("response_format")
            about_format = (param or "").startswith("response_format") or (
                param in (None, "messages") and _FORMAT_WORDS.search(told)
            )
            if format_ is not None and about_format:
                # another call may have learned it since
                here = _LADDER.index(format_["type"])
                self._step = max(self._step, here + 1)
                return True
            return status != 500 and self._drop(told, param, sent)

    def _drop(self, told: str, param: str | None, sent: Mapping[str, Any]) -> bool:
        name = param if param in sent else _named_in(told, sent)
        if name is None or name in _KEPT:
            return False
        twin = _RENAMED.get(name)
        if twin is not None and name not in self._renamed.values():
            self._renamed[name] = twin
        else:
            self._dropped.add(name)
        return True


def _named_in(told: str, sent: Mapping[str, Any]) -> str | None:
    """Return the parameter of a request that a message speaks of, the longest name first."""
    for name in sorted(sent, key=len, reverse=True):
        if name not in _KEPT and re.search(rf"\b{re.escape(name)}\b", told):
            return name
    return None


_servers: dict[str, Server] = {}
_lock = threading.Lock()  # protects the dict
_MOST = 256


def server_of(base_url: str, model: str, extra: Mapping[str, Any]) -> Server:
    """Return what is known of a model on a server, asked with certain parameters."""
    key = json.dumps([base_url, model, sorted(extra)])
    with _lock:
        if len(_servers) >= _MOST:
            _servers.clear()
        return _servers.setdefault(key, Server())
