"""One reply from an OpenAI-compatible server, over as many attempts as it takes, without I/O.

In: what came of each attempt: a body or an error. Out: what to send, how long to wait before, and
in the end a `Completion` or a `JudgeError`. Whoever sends, blocking or awaiting, is not known
here; time and chance are arguments.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, cast

from faithguard.chat._server import Server
from faithguard.chat._types import Completion, Message
from faithguard.errors import JudgeError
from faithguard.types import FailureKind

__all__ = ["Attempts", "Refused", "Retries", "Unreachable", "body_of"]

_MOST_CHANGES = 8
"""Forms of one request that are tried; there are three formats, and few parameters."""

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_QUOTA = ("insufficient_quota", "billing", "credit", "exceeded your current quota")
_TOO_LONG = re.compile(
    r"context_length|context_size|(?:maximum|available) context|(?:prompt|input) is too long",
    re.IGNORECASE,
)
_LONGEST_TOLD = 2_000


class Refused(Exception):
    """A server answered with a status that is no success.

    Attributes:
        status: Of HTTP.
        body: What it said, parsed where it was JSON.
        headers: Of the answer.
    """

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


class Unreachable(Exception):
    """No answer came.

    Attributes:
        timed_out: Whether it took too long.
        name: The name of what was raised; its text may hold anything.
    """

    def __init__(self, name: str, *, timed_out: bool) -> None:
        super().__init__(name)
        self.name, self.timed_out = name, timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how soon a server that is down or busy is asked again."""

    most: int = 3
    first: float = 0.5
    """Seconds; the longest wait before the second attempt. It doubles each time."""
    longest: float = 20.0
    random: Callable[[], float]
    """In [0, 1): each wait is a random share of what it could be, so that clients that failed
    together do not come back together."""
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    """Seconds since 1970, for servers that name a date to come back at."""


class Attempts:
    """The attempts for one reply.

    Args:
        server: What is known of the server.
        body: The request, without its format.
        schema: The JSON schema of the reply.
        retries: How often to try.
        deadline: In seconds of `retries.clock`.
    """

    def __init__(
        self,
        server: Server,
        body: Mapping[str, Any],
        *,
        schema: Mapping[str, Any] | None,
        retries: Retries,
        deadline: float,
    ) -> None:
        self._server = server
        self._body = body
        self._schema = schema
        self._retries = retries
        self._deadline = deadline
        self._failed = 0
        self._changes = 0
        self._sent: dict[str, Any] = {}

    def left(self) -> float:
        """Return the seconds until the deadline.

        Raises:
            JudgeError: If it has passed.
        """
        seconds = self._deadline - self._retries.clock()
        if seconds <= 0.0:
            raise JudgeError("no reply in time: raise `timeout`", "timeout")
        return seconds

    def request(self) -> dict[str, Any]:
        """Return what to send next."""
        body = dict(self._body)
        if self._schema is not None and (format_ := self._format()) is not None:
            body["response_format"] = format_
        self._sent = self._server.fitted(body)
        return dict(self._sent)

    def _format(self) -> dict[str, Any] | None:
        if self._server.format == "json_object":
            return {"type": "json_object"}
        if self._server.format == "prompt":
            return None
        schema = {"name": "reply", "strict": True, "schema": dict(self._schema or {})}
        return {"type": "json_schema", "json_schema": schema}

    def answered(self, data: bytes) -> Completion | float:
        """Take the body of a success; return the completion, or the seconds until the next try.

        Raises:
            JudgeError: If it is none, and there is no further try.
        """
        body = _body(data)
        if (fault := _fault_in(body)) is not None:
            return self.failed(fault)
        completion = _completion(body)
        if completion is not None:
            return completion
        return self._again(
            JudgeError("the server answered with what is no chat completion", "unparsable"), None
        )

    def failed(self, error: Refused | Unreachable) -> float:
        """Take a failure; return the seconds until the next try.

        Raises:
            JudgeError: If there is none.
        """
        if isinstance(error, Unreachable):
            if error.timed_out:
                self.left()  # if nothing is left, this says so
            what = "did not answer in time" if error.timed_out else "cannot be reached"
            told = JudgeError(
                f"the server {what} ({error.name})",
                "timeout" if error.timed_out else "unavailable",
            )
            return self._again(told, None)
        told_by, code, param = _told(error.body)
        if self._changes < _MOST_CHANGES and self._server.learn(
            error.status, told_by, param, self._sent
        ):
            self._changes += 1
            return 0.0
        return self._refused(error, told_by, code)

    def _refused(self, error: Refused, told: str, code: str) -> float:
        status = error.status
        said = f"the server answered {status}" + (f" ({code})" if code else "")
        quota = any(word in code or word in told.casefold() for word in _QUOTA)
        if status == 402 or (status == 429 and quota):
            raise JudgeError(f"{said}: the quota is used up", "unavailable")
        if "content_filter" in code or "content_policy" in code:
            raise JudgeError(f"{said}: a filter declined the request", "refused")
        if status in _BUSY:
            kind: FailureKind = "timeout" if status == 408 else "unavailable"
            return self._again(JudgeError(said, kind), _asked_to_wait(error, self._retries))
        if status == 413 or (status in (400, 422) and _TOO_LONG.search(f"{code} {told}")):
            raise JudgeError(f"{said}: the request is too long", "budget")
        remedy = {
            401: ": check `api_key`",
            403: ": check `api_key`",
            404: ": check `model` and `base_url`",
        }.get(status, "")
        raise JudgeError(said + remedy, "error")

    def _again(self, error: JudgeError, wait: float | None) -> float:
        """Return how long to wait before the next try.

        Raises:
            JudgeError: The given one, if there is no try or no time left.
        """
        retries = self._retries
        most = min(retries.longest, retries.first * 2.0**self._failed)
        self._failed += 1
        if self._failed > retries.most:
            raise error
        # who was told when to come back comes a little later, not at once with all others
        pause = (wait or 0.0) + retries.random() * (retries.first if wait is not None else most)
        if retries.clock() + pause >= self._deadline:
            raise error
        return pause


def body_of(
    model: str, messages: Sequence[Message], max_tokens: int, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a request without its format."""
    said = [{"role": message.role, "content": message.content} for message in messages]
    limit = {} if "max_completion_tokens" in extra else {"max_tokens": max_tokens}
    return {"model": model, "messages": said, **limit, **extra}


def _told(body: object) -> tuple[str, str, str | None]:
    """Return what a server said of a fault, its code, and the parameter that it named."""
    held = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    inner = held.get("error", held)
    fault = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    code, param = fault.get("code") or fault.get("type"), fault.get("param")
    text = body if isinstance(body, str) else json.dumps(body, default=str)
    return (
        text[:_LONGEST_TOLD],
        _plain_code(code),
        param if isinstance(param, str) and param else None,
    )


def _plain_code(code: object) -> str:
    """Return a code that may stand in a message: a word, not a text of the server's."""
    text = str(code) if isinstance(code, str | int) and not isinstance(code, bool) else ""
    return text if text.replace("_", "").replace("-", "").isalnum() and len(text) < 60 else ""


def _asked_to_wait(error: Refused, retries: Retries) -> float | None:
    """Return the seconds that a server asks to wait: in milliseconds, seconds, or until a date."""
    headers = {name.casefold(): value for name, value in error.headers.items()}
    text = headers.get("retry-after", "").strip()
    try:
        if exact := headers.get("retry-after-ms"):
            return max(0.0, float(exact) / 1_000.0)
        if not text:
            return None
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - retries.now())
    except (ValueError, OverflowError):
        return None


# What came back -------------------------------------------------------------------------------


def _body(data: bytes) -> object:
    """Read a body by itself: servers send pages, errors and half of it with status 200."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _fault_in(body: object) -> Refused | None:
    """Return the error that a success holds: gateways pass on those of who is behind them."""
    error = _part(body, "error")
    if not error:
        return None
    code = _part(error, "code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 503
    return Refused(status, body, {})


def _completion(body: object) -> Completion | None:
    """Return the completion that a body is, if it is one."""
    choices = _part(body, "choices")
    if not isinstance(choices, list) or not choices:
        return None
    first: object = cast("list[object]", choices)[0]
    message = _part(first, "message")
    if not _is_object(message):
        return None
    finish, refusal, usage = (
        _part(first, "finish_reason"),
        _part(message, "refusal"),
        _part(body, "usage"),
    )
    return Completion(
        text=_text(_part(message, "content")),
        finish_reason=finish if isinstance(finish, str) else None,
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        input_tokens=_count(_part(usage, "prompt_tokens")),
        output_tokens=_count(_part(usage, "completion_tokens")),
    )


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _part(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def _text(content: object) -> str:
    """Return the text of a message; what a model reasoned is in another field, and is none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [_part(part, "text") for part in cast("list[object]", content)]
    return "".join(part for part in parts if isinstance(part, str))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
