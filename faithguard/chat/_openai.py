"""A chat model behind OpenAI's protocol: OpenAI, Azure, Groq, vLLM, Ollama, llama.cpp, ...

In: messages. Out: a completion. `openai` brings connections, authentication and errors; attempts,
formats and replies are read by `_attempts`, since servers differ more than the SDK forgives. Its
own retries are off. Its timeout is for each step of a request; ours is for all of them, so a
blocking call is made in a thread that is left alone, and loses its connections, when time is up.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import os
import random
import sys
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeAlias

from faithguard._fork import reset_in_child
from faithguard.chat._attempts import Attempts, Refused, Retries, Unreachable, body_of
from faithguard.chat._body import Body
from faithguard.chat._meter import spend
from faithguard.chat._server import server_of
from faithguard.chat._slots import Slots
from faithguard.chat._threads import in_thread
from faithguard.chat._types import Completion, Message
from faithguard.errors import ConfigError, JudgeError, require

__all__ = ["OpenAIChat"]

_Clients: TypeAlias = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, Any]]


_USED = "openai.resources.chat.completions"
"""What the SDK loads when its first client is used."""


class OpenAIChat:
    """A model of an OpenAI-compatible server.

    One serves any number of threads, tasks and event loops.

    Args:
        model: Its name on the server.
        base_url: The server, if it is not OpenAI's; usually ends in `/v1`.
        api_key: The key; `OPENAI_API_KEY` if it is not given. A server of your own (`base_url`)
            that wants none needs none.
        client: An `openai.OpenAI` or `AzureOpenAI` of yours in the place of the two above.
            Awaiting calls then run in threads, unless there is an `async_client`.
        async_client: An `AsyncOpenAI` or `AsyncAzureOpenAI` of yours; it belongs to one event
            loop.
        max_in_flight: Calls at once; the others wait in order.
        retries: How often a server that is down or busy is asked again.
        parameters: Of each request, such as `temperature` or `reasoning_effort`; those that the
            server refuses are left out from then on. None are sent by default.
        random: Numbers in [0, 1), for the waits.
        clock: Seconds; deadlines are told on it.

    Raises:
        MissingExtraError: If `openai` is not installed.
        ConfigError: If a setting cannot be used, or there is no key.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        client: Any = None,
        async_client: Any = None,
        max_in_flight: int = 8,
        retries: int = 3,
        parameters: Mapping[str, Any] | None = None,
        random: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sdk = require("openai", extra="openai")
        _check(model, max_in_flight, retries, parameters)
        if (client or async_client) is not None and (base_url or api_key) is not None:
            raise ConfigError(
                "`client` has a server and a key of its own: leave out `base_url` and `api_key`"
            )
        self.model = model
        self._parameters = dict(parameters or {})
        self._retries = Retries(most=retries, random=random, clock=clock)
        self._slots = Slots(max_in_flight)
        self._given, self._agiven = client, async_client
        self._settings: dict[str, Any] = {}
        if (client or async_client) is None:
            self._settings = {"base_url": base_url, "api_key": _key(api_key, base_url)}
        self.after_fork()
        url = base_url or str(getattr(client or async_client or self._sync(), "base_url", ""))
        self._server = server_of(url, model, self._parameters)
        self._name = _named(model, url, self._parameters)
        reset_in_child(self)

    def after_fork(self) -> None:
        """Open connections anew in a forked child: two processes on one would mix replies."""
        self._client: Any = None
        self._idle: list[Any] = []
        self._lock = threading.Lock()  # protects the list above
        self._clients: _Clients = weakref.WeakKeyDictionary()

    @property
    def name(self) -> str:
        """The model, and a digest of the server and the parameters."""
        return self._name

    @property
    def in_flight(self) -> int:
        """Calls that are being made now."""
        return self._slots.taken

    # -- the two drivers of `Attempts` --------------------------------------------------------

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Completion:
        """Return what the model says, blocking; see `ChatModel`."""
        attempts = self._attempts(messages, schema, max_tokens, deadline)
        while True:
            try:
                with self._slots.slot(attempts.left()):
                    data = self._in_time(attempts)
                outcome = _taken(attempts, data)
            except (Refused, Unreachable) as error:
                spend(None)
                outcome = attempts.failed(error)
            except TimeoutError:
                raise JudgeError(
                    "no call could be made in time: too many wait", "timeout"
                ) from None
            if isinstance(outcome, Completion):
                return outcome
            time.sleep(outcome)

    async def acomplete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Completion:
        """Do the same without blocking the event loop."""
        attempts = self._attempts(messages, schema, max_tokens, deadline)
        while True:
            try:
                async with asyncio.timeout(attempts.left()), self._slots.aslot():
                    data = await self._asent(attempts)
                outcome = _taken(attempts, data)
            except (Refused, Unreachable) as error:
                spend(None)
                outcome = attempts.failed(error)
            except TimeoutError:
                raise JudgeError("no reply in time: raise `timeout`", "timeout") from None
            if isinstance(outcome, Completion):
                return outcome
            await asyncio.sleep(outcome)

    def _attempts(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Attempts:
        body = body_of(self.model, messages, max_tokens, self._parameters)
        return Attempts(self._server, body, schema=schema, retries=self._retries, deadline=deadline)

    # -- one attempt --------------------------------------------------------------------------

    def _in_time(self, attempts: Attempts) -> bytes:
        """Send a request; return the body of the answer.

        Raises:
            Refused: If the status is no success.
            Unreachable: If there is no answer.
            JudgeError: If time is up.
        """
        seconds, client = attempts.left(), self._lent()
        call = in_thread(copy_context(), self._sent, client, attempts)
        try:
            wait([call], timeout=seconds)
        finally:
            self._leave(client, free=call.done())
        if not call.done():
            raise JudgeError("no reply in time: raise `timeout`", "timeout")
        return call.result()

    def _sent(self, client: Any, attempts: Attempts) -> bytes:
        """Send a request by a client; see `_in_time`."""
        seconds, request = attempts.left(), attempts.request()
        create = client.chat.completions.with_streaming_response.create
        try:
            with create(**_arguments(request), timeout=seconds) as response:
                # by pieces: a timeout of the SDK's is for each piece, ours for all
                body = Body(response.http_response.headers.get("content-encoding"))
                for piece in response.http_response.iter_raw():
                    attempts.left()
                    body.add(piece)
        except Exception as error:
            raise self._fault(error) from None
        return body.data

    async def _asent(self, attempts: Attempts) -> bytes:
        """Do the same, awaiting; `acomplete` watches the time."""
        if self._given is not None and self._agiven is None:
            call = in_thread(copy_context(), self._sent, self._sync(), attempts)
            return await asyncio.wrap_future(call)
        seconds, request = attempts.left(), attempts.request()
        client = self._agiven or await self._async()
        create = client.with_options(max_retries=0).chat.completions.with_streaming_response.create
        try:
            async with create(**_arguments(request), timeout=seconds) as response:
                body = Body(response.http_response.headers.get("content-encoding"))
                async for piece in response.http_response.aiter_raw():
                    attempts.left()
                    body.add(piece)
        except Exception as error:
            raise self._fault(error) from None
        return body.data

    def _fault(self, error: Exception) -> Exception:
        """Return what an exception of the SDK or below it means; its text may hold anything."""
        if isinstance(error, JudgeError | TimeoutError):
            return error
        if isinstance(error, self._sdk.APIStatusError):
            status: Any = error
            headers = dict(status.response.headers)
            return Refused(status.status_code, status.body, headers)
        name = type(error).__name__
        return Unreachable(name, timed_out="Timeout" in name)

    # -- clients ------------------------------------------------------------------------------

    def _sync(self) -> Any:
        if self._client is None:
            if self._given is not None:
                self._client = self._given.with_options(max_retries=0)
            elif self._agiven is not None:
                raise ConfigError(
                    "this judge has an `async_client` only, which blocking code cannot use: pass "
                    "a `client`, or await `acheck`, `ascore`, `ainvoke`"
                )
            else:
                self._client = self._sdk.OpenAI(**self._settings, max_retries=0)
        return self._client

    def _lent(self) -> Any:
        """Return a client for one call: whoever ends it must end no other."""
        if self._given is not None or self._agiven is not None:
            return self._sync()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._sdk.OpenAI(**self._settings, max_retries=0)

    def _leave(self, client: Any, *, free: bool) -> None:
        """Keep the client of a call for the next one, or end what it is still at."""
        if client is self._client:
            return  # the user's, who may have other calls in it
        if not free:
            client.close()
            return
        with self._lock:
            self._idle.append(client)

    async def _async(self) -> Any:
        """Return the client of the running event loop: connections belong to one."""
        loop = asyncio.get_running_loop()
        if _USED not in sys.modules:  # takes long the first time
            await asyncio.wrap_future(in_thread(copy_context(), importlib.import_module, _USED))
        for ended in [other for other in self._clients if other.is_closed()]:
            # nobody told its generators of its end; a client refers to its loop, so it would stay
            self._clients.pop(ended, None)
        if (held := self._clients.get(loop)) is not None:
            return held[0]
        client = self._sdk.AsyncOpenAI(**self._settings, max_retries=0)
        keeper = _kept(client, self._clients, weakref.ref(loop))
        self._clients[loop] = client, keeper
        await anext(keeper)
        return client

    def close(self) -> None:
        """Close the connections of blocking calls; those of an event loop close with it."""
        if self._client is not None and self._given is None:
            self._client.close()
        self._client = None
        with self._lock:
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()


async def _kept(
    client: Any, clients: _Clients, loop: weakref.ref[asyncio.AbstractEventLoop]
) -> AsyncGenerator[None]:
    """Hold a client until its event loop ends.

    A loop that is shut down closes the generators that were begun in it (`asyncio.run` does so,
    and every server): the one moment in which connections of that loop can still be closed.
    """
    try:
        yield
    finally:
        if (ended := loop()) is not None:
            clients.pop(ended, None)
        with suppress(Exception):
            await client.close()


def _arguments(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request for `create`, which takes only the parameters that it knows by name."""
    rest = {name: value for name, value in request.items() if name not in ("model", "messages")}
    return {
        "model": request["model"],
        "messages": request["messages"],
        "extra_body": rest,
        "extra_headers": {"accept-encoding": "gzip"},
    }


def _taken(attempts: Attempts, data: bytes) -> Completion | float:
    """Hand the body of an answer over, and count the call whatever it was."""
    try:
        outcome = attempts.answered(data)
    except JudgeError:
        spend(None)
        raise
    spend(outcome if isinstance(outcome, Completion) else None)
    return outcome


def _key(api_key: str | None, base_url: str | None) -> str:
    """Return the key; a server of one's own may want none, but the SDK wants a text."""
    if api_key:
        return api_key
    if key := os.environ.get("OPENAI_API_KEY"):
        return key
    if base_url or os.environ.get("OPENAI_BASE_URL"):
        return "none"
    raise ConfigError(
        "there is no key for OpenAI: set OPENAI_API_KEY, pass `api_key`, or name a server of "
        "yours with `base_url`"
    )


def _named(model: str, url: str, parameters: Mapping[str, Any]) -> str:
    """Return the model's name, told apart from its like on other servers or otherwise asked."""
    what = json.dumps([url, parameters], sort_keys=True, default=str)
    return f"{'-'.join(model.split())}#{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _check(
    model: object, max_in_flight: object, retries: object, parameters: Mapping[str, Any] | None
) -> None:
    if not isinstance(model, str) or not model.strip():
        raise ConfigError(f"`model` is {model!r}: name the model as its server does")
    for name, value, least in (("max_in_flight", max_in_flight, 1), ("retries", retries, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ConfigError(f"`{name}` is {value!r}: it must be a whole number, {least} or more")
    if taken := sorted({"model", "messages", "response_format", "stream"} & set(parameters or ())):
        raise ConfigError(f"`parameters` holds {taken[0]!r}, which the judge sets itself")
