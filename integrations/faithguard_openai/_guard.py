"""The guard: a client around a client.

In: an `OpenAI` or `AsyncOpenAI` (or `AzureOpenAI`, or one of a class of your own), and settings.
Out: a client of the same class. All methods of the SDK end in `request`: there, a reply that
holds what a model wrote is read, verified and made anew, and the SDK makes of it what it makes
of any other. So there is no path around it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Container, Generator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast, overload

from openai import AsyncOpenAI, OpenAI
from openai.types.responses import ParsedResponseOutputMessage

from faithguard import ConfigError, Judge, Passage, Policy, Report, Scorer
from faithguard.capture import passages_of
from faithguard.guard import MoreContext, OnFail, Settings, Stream, adrive, drive
from faithguard.sinks import AnySink
from faithguard_openai._call import Call
from faithguard_openai._http import alater, later, now
from faithguard_openai._released import AsyncReleased, Released
from faithguard_openai._reply import mapping
from faithguard_openai._routes import kind_of

__all__ = ["AsyncGuardedOpenAI", "GuardedOpenAI", "guard"]

_RAW = "X-Stainless-Raw-Response"
"""The header by which the SDK tells itself that the caller wants the HTTP reply, and how."""

_HELPER = "X-Stainless-Helper-Method"


class NoSocketError(ConfigError, AttributeError):
    """A socket was to be opened; to those who look at a client's attributes, there is none."""


class _Guarded:
    """What both clients share; it stands before the SDK's class."""

    _guarding: Settings
    _context: tuple[Passage, ...] | None

    def with_context(self, context: Any) -> Self:
        """Return a client like this one whose answers are checked against this context alone.

        Args:
            context: Whatever `faithguard.check` takes: strings, Documents, nodes, Passages; [] for
                none.

        Raises:
            CaptureError: If a piece of it has no text.
        """
        twin: Self = _twin(self, type(self))
        twin._context = passages_of(context, origin="caller")
        return twin

    def copy(self, *args: Any, **kwargs: Any) -> Self:
        """Return a client with other options, guarded alike."""
        # the SDK hands its own on, which cannot be read here
        kwargs["websocket_base_url"] = kwargs.get("websocket_base_url") or "wss://unused"
        twin = cast("Self", cast(Any, super()).copy(*args, **kwargs))
        twin._guarding, twin._context = self._guarding, self._context
        return twin

    with_options = copy

    @property
    def policy(self) -> Policy:
        """What decides: its domain, thresholds and `on_fail`."""
        return self._guarding.policy

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until all records are in the sinks; return whether it was in time (seconds)."""
        return self._guarding.outbox.queue.wait(timeout)

    if not TYPE_CHECKING:  # the type is the SDK's

        @property
        def websocket_base_url(self) -> Any:
            """Refused: every socket of the SDK's reads it to connect, and comes past the guard."""
            raise NoSocketError(
                "the guarded client opens no sockets (realtime, live, responses.connect): use "
                "responses.create, or a client without the guard"
            )

        @websocket_base_url.setter
        def websocket_base_url(self, value: object) -> None:
            """Take what the SDK's constructor sets."""

    def _call(self, options: Any, streams: bool) -> Call | None:
        """Return the call that guards a request; None if there is nothing to guard."""
        body: Any = options.json_data
        if options.extra_json is not None:
            body = {**mapping(body), **options.extra_json}
        base: Any = cast(Any, self).base_url
        kind = kind_of(options.method, options.url, body, base=base.path)
        if kind is None:
            return None
        if not hasattr(self, "_guarding"):
            raise ConfigError(
                f"this {type(self).__name__} was made by its constructor and has no policy: make "
                "it by guard(OpenAI(...), domain=...)"
            )
        if not self._guarding.checks():
            return None
        return Call(
            self._guarding,
            kind,
            mapping(body) if body is not None and options.method.lower() == "post" else None,
            context=self._context,
            streams=streams,
            helper=_headers(options).get(_HELPER),
        )


class GuardedOpenAI(_Guarded, OpenAI):
    """A guarded client; made by `guard`.

        safe = guard(OpenAI(), domain="support")
        completion = safe.with_context(docs).chat.completions.create(...)

    An `OpenAI` in all else. What it gives out says in its field `faithguard` how it was decided
    on. An answer that does not pass becomes what `on_fail` says: the fallback, an
    `UnfaithfulAnswerError` (a block; it carries `decision`, `report` and `record`), or the
    answer, flagged. A stream is held back until its end and then delivered, chunk by chunk; with
    `stream="claims"` each sentence, item or row is delivered once it is verified.
    """

    if not TYPE_CHECKING:  # the type is the SDK's

        def request(
            self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None
        ) -> Any:
            """Send a request, and return what of its reply may go out."""
            call = self._call(options, stream)
            if call is None:
                return super().request(cast_to, options, stream=stream, stream_cls=stream_cls)
            wanted = _headers(options).get(_RAW)
            held = stream or wanted == "stream"

            def send(options: Any) -> Any:
                return super(GuardedOpenAI, self).request(
                    cast_to, options, stream=held, stream_cls=stream_cls
                )

            first = send(_raw(options))

            def again(body: Any) -> Any:
                return send(_raw(options, body)).http_response

            def ask(body: Any) -> bytes:
                return (reply if body is None else again(body)).read()

            def made() -> bytes:
                return drive(call.steps(), self._guarding, ask)

            def whole() -> Generator[bytes]:
                yield made()

            reply = first.http_response
            if call.is_released:
                told = Released(call, reply, again)
                answer = later(reply, told.pieces(), told.close)
            else:
                answer = later(reply, whole(), reply.close) if held else now(reply, made())
            _restore(answer.request, wanted)
            return self._process_response(
                cast_to=self._maybe_override_cast_to(cast_to, options),
                options=_parsing(options, call),
                response=answer,
                stream=stream,
                stream_cls=stream_cls,
                retries_taken=first.retries_taken,
            )


class AsyncGuardedOpenAI(_Guarded, AsyncOpenAI):
    """A guarded client; made by `guard`. See `GuardedOpenAI`."""

    if not TYPE_CHECKING:  # the type is the SDK's

        async def request(
            self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None
        ) -> Any:
            """Send a request, and return what of its reply may go out."""
            call = self._call(options, stream)
            if call is None:
                return await super().request(cast_to, options, stream=stream, stream_cls=stream_cls)
            wanted = _headers(options).get(_RAW)
            held = stream or wanted == "stream"

            async def send(options: Any) -> Any:
                return await super(AsyncGuardedOpenAI, self).request(
                    cast_to, options, stream=held, stream_cls=stream_cls
                )

            first = await send(_raw(options))

            async def again(body: Any) -> Any:
                return (await send(_raw(options, body))).http_response

            async def ask(body: Any) -> bytes:
                return await (reply if body is None else await again(body)).aread()

            async def made() -> bytes:
                return await adrive(call.steps(), self._guarding, ask)

            async def whole() -> AsyncGenerator[bytes]:
                yield await made()

            reply = first.http_response
            if call.is_released:
                told = AsyncReleased(call, reply, again)
                answer = alater(reply, told.pieces(), told.close)
            else:
                answer = alater(reply, whole(), reply.aclose) if held else now(reply, await made())
            _restore(answer.request, wanted)
            return await self._process_response(
                cast_to=self._maybe_override_cast_to(cast_to, options),
                options=_parsing(options, call),
                response=answer,
                stream=stream,
                stream_cls=stream_cls,
                retries_taken=first.retries_taken,
            )


@overload
def guard(
    client: OpenAI,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> GuardedOpenAI: ...
@overload
def guard(
    client: AsyncOpenAI,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> AsyncGuardedOpenAI: ...
def guard(
    client: OpenAI | AsyncOpenAI,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> GuardedOpenAI | AsyncGuardedOpenAI:
    """Return a client that lets an answer through only once it is verified.

        safe = guard(OpenAI(), domain="support", fallback="Please ask at the desk.")
        safe.with_context(docs).chat.completions.create(model=..., messages=...)

    Guarded are chat completions and responses: `create`, `parse`, `stream`, stored ones, raw and
    streaming replies. What holds no answers (embeddings, files, models, images, ...) passes
    through. All else is refused: legacy completions, assistants' threads, sockets, lists of
    stored answers, batches of questions, addresses that are not known. Tool calls pass as they
    are; a text beside them that does not pass is left out. Reasoning is not verified, and not
    delivered with a held-back answer.

    Evidence is what `with_context` was given; else what the messages hold of tool results
    and of documents between `<document>`, `<documents>` or `<context>` tags or fenced as
    ```context, and the results of file searches that a response carries. Delimited documents of
    a user's message count only where nothing else is found, and only if it is plain which they
    are. Nothing else that a user or an assistant said is evidence.

    With `stream="claims"` a stream comes while the model writes, in chunks and events of whole
    sentences, items or rows; raw ones too. What is no text (calls of tools, usage, ids) comes in
    the server's order; reasoning does not come. A blocked stream is closed to the server at once,
    so its usage is not known, unless the model may call tools: then it is read on, calls pass,
    and what was not released is left out. The note is on the last chunks, and on the response at
    the end. Held whole as ever: calls that do not stream, `n` above 1, structured answers, log
    probabilities, audio, and stored replies.

    Args:
        client: `OpenAI` or `AsyncOpenAI`, or a client of a class derived from one. It is not
            changed; the guarded one shares its connections.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": ask the model again with
            the claims that failed, then block; "repair": correct or leave out the sentences,
            items or rows that failed, verify again, else block (structured answers are blocked
            at once); "flag": deliver, with the note. The policy's, which is "block" unless it
            says otherwise, if it is not given.
        fallback: The text that a blocked caller gets in the place of the answer, with finish
            reason "content_filter"; where the SDK parses JSON, nothing is parsed. Not with "flag".
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: Called with the claims that failed before the model is asked again; what it
            returns (strings, Documents, Passages; a coroutine function for an awaiting client)
            is sent along and is evidence. Only with "regenerate".
        on_report: Called with the report of each answer's last attempt.
        sinks: Where records go; one log line for each answer by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of requests whose answers are checked, from 0 to 1; the others pass as
            they are, and their streams are not held back. Only with "flag"; all by default.
        stream: "answer": hold the whole answer; "claims": hold each sentence, item or row of a
            stream until all of its claims are supported. One that is not ends the stream with
            the fallback, or is repaired or left out with "repair"; "regenerate" works until
            something was delivered; not with "flag".
        max_hold_chars: With "claims": characters without the end of a sentence, item or row
            that are held; more block the stream unless the policy fails open. 4000 by default.
        max_hold_seconds: With "claims": seconds to wait for that end, 60 by default.

    Raises:
        ConfigError: If a setting cannot be used, or `client` is no client of the SDK's.
    """
    settings = Settings.of(
        domain=domain,
        on_fail=on_fail,
        fallback=fallback,
        max_attempts=max_attempts,
        more_context=more_context,
        on_report=on_report,
        sinks=sinks,
        scorer=scorer,
        judge=judge,
        sample=sample,
        stream=stream,
        max_hold_chars=max_hold_chars,
        max_hold_seconds=max_hold_seconds,
    )
    given: Any = client
    if isinstance(given, _Guarded):
        raise ConfigError("`client` is guarded already: guard the client inside, with one policy")
    base = next((b for k, b in _CLIENTS.items() if isinstance(given, k)), None)
    if base is None:
        raise ConfigError(
            f"`client` is of type {type(given).__name__}: pass an openai.OpenAI() or an "
            "openai.AsyncOpenAI()"
        )
    own: type[object] = type(client)
    made: Any = base if own in _CLIENTS else type(f"Guarded{own.__name__}", (base, own), {})
    twin = _twin(given, made)
    twin._guarding, twin._context = settings, None
    return cast("GuardedOpenAI | AsyncGuardedOpenAI", twin)


_CLIENTS: Mapping[type, type] = {OpenAI: GuardedOpenAI, AsyncOpenAI: AsyncGuardedOpenAI}


def _twin(client: object, kind: type[Any]) -> Any:
    """Return a client of a class with the settings and connections of another one."""
    twin = object.__new__(kind)
    for name, value in vars(client).items():
        # what was made of the client when it was first asked for calls that client
        if not isinstance(getattr(type(client), name, None), cached_property | property):
            vars(twin)[name] = value
    return twin


def _headers(options: Any) -> Mapping[str, Any]:
    return mapping(options.headers)


def _raw(options: Any, body: Mapping[str, Any] | None = None) -> Any:
    """Return the options of a request for the HTTP reply itself, perhaps with another body."""
    changes: dict[str, Any] = {"headers": {**_headers(options), _RAW: "true"}}
    if body is not None:
        changes |= {"json_data": body, "extra_json": None, "idempotency_key": None}
    return options.model_copy(update=changes)


def _restore(request: Any, wanted: str | None) -> None:
    """Let the SDK see what the caller wanted."""
    if wanted is None:
        del request.headers[_RAW]
    else:
        request.headers[_RAW] = wanted


def _parsing(options: Any, call: Call) -> Any:
    """Return the options with a parser that leaves alone what stands in an answer's place."""
    parser: Any = options.post_parser
    if not callable(parser):
        return options
    parse = _completion_parser if call.is_chat else _response_parser

    def parse_rest(reply: Any) -> Any:
        return parse(reply, parser, call.blocked) if call.blocked else parser(reply)

    return options.model_copy(update={"post_parser": parse_rest})


def _completion_parser(completion: Any, parser: Any, blocked: Container[int]) -> Any:
    texts: dict[int, str] = {}
    for choice in completion.choices:
        if choice.index in blocked:  # the SDK's parser takes a filtered choice for a fault
            texts[choice.index] = choice.message.content
            choice.finish_reason, choice.message.content = "stop", None
    parsed: Any = parser(completion)
    for choice in parsed.choices:
        if choice.index in texts:
            choice.finish_reason, choice.message.content = "content_filter", texts[choice.index]
    return parsed


def _response_parser(response: Any, parser: Any, blocked: object) -> Any:
    kept: list[Any] = [item for item in response.output if item.type != "message"]
    held: list[Any] = [item for item in response.output if item.type == "message"]
    response.output = kept
    parsed: Any = parser(response)
    for message in held:
        data = message.to_dict()
        parts = [{**part, "parsed": None} for part in data["content"]]
        make: Any = ParsedResponseOutputMessage[Any]
        parsed.output.append(make.construct(**{**data, "content": parts}))
    return parsed
