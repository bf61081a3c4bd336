"""What the OpenAI client's table cannot hold: types, notes, errors, early release, a crowd.

Every check yields what is wrong, and nothing where all is well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openai import InternalServerError
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ParsedChatCompletion
from openai.types.responses import ParsedResponse, Response

from faithguard import Report, UnfaithfulAnswerError

from . import openai_rows as rows
from .cells import BLOCK, BLOCK_WITH_FALLBACK, COLUMNS, REGENERATE, Column
from .checks import CROWD, THREADS, not_their_own
from .llama_scene import NEXT_QUESTION, Talk
from .openai_rows import Call, Placing, Talker, client_for, each, finished, guarded, settled
from .openai_server import EMBEDDING, TOOL, Gate, Refusal, Server
from .outcomes import NOTE, TRUE
from .scene import (
    BAD,
    FALLBACK,
    GOOD,
    LIE,
    MODEL_NAME,
    PASSAGES,
    QUESTION,
    Script,
    documents_for,
    faithful,
    half_borrowed,
    half_improving,
    improving,
    lane_question,
    unfaithful,
)

Use = Callable[[Any], Coroutine[Any, Any, Any]]
"""What a caller does with a guarded client."""

FLAG = {"on_fail": "flag"}


def used(server: Server, options: Mapping[str, Any], use: Use, *, is_async: bool) -> Any:
    """Let a caller use a guarded client; return what comes of it, the exception included."""

    async def using() -> Any:
        client = client_for(server, is_async=is_async)
        try:
            return await use(guarded(client, options))
        except Exception as error:
            return error
        finally:
            await settled(client.close())

    return asyncio.run(using()) if is_async else finished(using())


def calling(call: Call, placing: Placing = rows.GIVEN, *, chats: bool = True) -> Use:
    """Make a caller that asks once, with the passages given, and keeps all that comes."""

    async def use(safe: Any) -> list[Any]:
        known = safe.with_context(list(PASSAGES)) if placing.given else safe
        pieces, _ = await Talker(known, call, placing, chats).turn(placing.question)
        return pieces

    return use


def one(call: Call, script: Script, options: Mapping[str, Any], **how: Any) -> list[Any]:
    """Ask once; return all that came, the exception included."""
    is_async = how.pop("is_async", False)
    with Server(Talk(script)) as server:
        return list(used(server, options, calling(call, **how), is_async=is_async))


# What is delivered is the SDK's own, with a note


def own_type(call: Call, kind: type, chats: bool, is_async: bool) -> Iterator[str]:
    """Check that a delivered object has the SDK's type and holds the note of the decision."""
    for script, options, passed in (
        (faithful, BLOCK.options, True),
        (unfaithful, BLOCK_WITH_FALLBACK.options, False),
        (unfaithful, FLAG, False),
    ):
        last = one(call, script, options, chats=chats, is_async=is_async)[-1]
        if not isinstance(last, kind):
            yield f"{last!r} instead of a {kind.__name__}"
            continue
        note = getattr(last, "faithguard", None)
        if not isinstance(note, Mapping) or not set(note) >= NOTE:
            yield f"the note is {note!r}"
        elif note["passed"] is not passed:
            yield f"the note says passed={note['passed']!r}"


def own_chunks(is_async: bool) -> Iterator[str]:
    """Check that chunks are the SDK's own, and that they end with a reason."""
    for script, reason in ((faithful, "stop"), (unfaithful, "content_filter")):
        pieces = one(rows.stream, script, BLOCK_WITH_FALLBACK.options, is_async=is_async)
        chunks = [piece for piece in pieces if not isinstance(piece, rows.Shown)]
        if strange := [piece for piece in chunks if not isinstance(piece, ChatCompletionChunk)]:
            yield f"{strange!r} among the chunks"
            continue
        reasons = [c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason]
        if reasons != [reason]:
            yield f"the stream ended with {reasons!r}, not {reason!r}"


def reasons_of(is_async: bool) -> Iterator[str]:
    """Check that a blocked choice says so, and that the choice beside it does not."""
    options = BLOCK_WITH_FALLBACK.options
    completion = one(rows.create, unfaithful, options, placing=rows.TWO, is_async=is_async)[-1]
    if not isinstance(completion, ChatCompletion):
        yield f"{completion!r} instead of a completion"
        return
    got = [(choice.finish_reason, choice.message.content) for choice in completion.choices]
    if got != [("stop", GOOD), ("content_filter", FALLBACK)]:
        yield f"the choices are {got!r}"


def flagged(call: Call, chats: bool, is_async: bool) -> Iterator[str]:
    """Check that `flag` delivers the answer and hands over the report."""
    reports: list[Report] = []
    options = {**FLAG, "on_report": reports.append}
    last = one(call, unfaithful, options, chats=chats, is_async=is_async)[-1]
    texts = (rows.completed if chats else rows.responded)(last).texts
    if texts != [BAD]:
        yield f"{texts!r} was delivered"
    if len(reports) != 1 or not isinstance(reports[0], Report):
        yield f"the reports are {reports!r}"


def reported(column: Column, is_async: bool) -> Iterator[str]:
    """Check that `on_report` gets the last report, whether or not the answer is delivered."""
    reports: list[Report] = []
    options = {**column.options, "on_report": reports.append}
    one(rows.create, column.script, options, is_async=is_async)
    if len(reports) != 1 or not isinstance(reports[0], Report):
        yield f"the reports are {reports!r}"


def bounded_attempts(is_async: bool) -> Iterator[str]:
    """Check that `max_attempts` counts all attempts, the first one too."""
    for most in (1, 3):
        options = {"on_fail": "regenerate", "max_attempts": most}
        with Server(Talk(unfaithful)) as server:
            used(server, options, calling(rows.create), is_async=is_async)
            if len(server.requests) != most:
                yield f"{len(server.requests)} requests with max_attempts={most}"


# What is evidence, and what is not


async def told_by_user(safe: Any) -> Any:
    """Claim the lie as a user, with the documents in the system message."""
    messages = [
        {"role": "system", "content": rows.IN_SYSTEM.head},
        {"role": "user", "content": f"I have heard: {LIE}"},
        {"role": "assistant", "content": LIE},
        {"role": "user", "content": f"{LIE} So tell me: {QUESTION}"},
    ]
    return await settled(safe.chat.completions.create(model=MODEL_NAME, messages=messages))


async def told_in_input(safe: Any) -> Any:
    """Claim the lie as a user, with the documents in the instructions."""
    return await settled(
        safe.responses.create(
            model=MODEL_NAME,
            instructions=rows.IN_SYSTEM.head,
            input=[
                {"role": "user", "content": f"I have heard: {LIE}"},
                {"role": "assistant", "content": LIE},
                {"role": "user", "content": f"{LIE} So tell me: {QUESTION}"},
            ],
        )
    )


async def without_context(safe: Any) -> Any:
    """Ask with no passage anywhere."""
    messages = [{"role": "user", "content": QUESTION}]
    return await settled(safe.chat.completions.create(model=MODEL_NAME, messages=messages))


async def without_context_in_input(safe: Any) -> Any:
    """Ask with no passage anywhere."""
    return await settled(safe.responses.create(model=MODEL_NAME, input=QUESTION))


async def context_of_another(safe: Any) -> Any:
    """Give passages to one client, and ask the one that it was made of."""
    safe.with_context(list(PASSAGES))
    return await without_context(safe)


def held_back(use: Use, script: Script, is_async: bool) -> Iterator[str]:
    """Check that an answer without evidence does not pass."""
    with Server(Talk(script)) as server:
        got = used(server, BLOCK.options, use, is_async=is_async)
    if not isinstance(got, UnfaithfulAnswerError):
        yield f"{got!r} instead of UnfaithfulAnswerError"


# What passes


async def first_hop(safe: Any) -> Any:
    """Ask a model that calls a tool first."""
    messages = [{"role": "user", "content": QUESTION}]
    return await settled(
        safe.chat.completions.create(model=MODEL_NAME, messages=messages, tools=[rows.CHAT_TOOL])
    )


def tool_calls_pass(is_async: bool) -> Iterator[str]:
    """Check that a tool call is neither verified nor changed."""
    with Server(Talk(unfaithful)) as server:
        got = used(server, BLOCK.options, first_hop, is_async=is_async)
    calls = got.choices[0].message.tool_calls if isinstance(got, ChatCompletion) else None
    if not calls or [call.function.name for call in calls] != [TOOL]:
        yield f"{got!r} instead of a tool call"


async def others(safe: Any) -> Any:
    """Use what a guard has no business with."""
    models = await settled(safe.models.list())
    embedded = await settled(
        safe.embeddings.create(model=MODEL_NAME, input=BAD, encoding_format="float")
    )
    return models.data[0].id, embedded.data[0].embedding, str(safe.base_url).rstrip("/")


def others_pass(is_async: bool) -> Iterator[str]:
    """Check that everything else of a client works as without a guard."""
    with Server(Talk(faithful)) as server:
        got = used(server, BLOCK.options, others, is_async=is_async)
        if got != (MODEL_NAME, EMBEDDING, server.url):
            yield f"{got!r}"


def errors_pass(call: Call, chats: bool, is_async: bool) -> Iterator[str]:
    """Check that the API's own error arrives as it is, and no fallback in its place."""
    with Server(Talk(faithful), refusal=Refusal(status=500)) as server:
        use = calling(call, chats=chats)
        pieces = used(server, BLOCK_WITH_FALLBACK.options, use, is_async=is_async)
    if not isinstance(pieces[-1], InternalServerError):
        yield f"{pieces!r} instead of the server's error"


def never_named(is_async: bool) -> Iterator[str]:
    """Check that no request goes on from a response that was held back."""

    async def use(safe: Any) -> Any:
        talker = Talker(safe.with_context(list(PASSAGES)), rows.respond, rows.BY_ID, chats=False)
        return [await talker.turn(question) for question in (QUESTION, NEXT_QUESTION)]

    with Server(Talk(improving)) as server:
        used(server, REGENERATE.options, use, is_async=is_async)
        named = [request.body.get("previous_response_id") for request in server.requests]
    # the responses are numbered in the order of the requests
    if named != [None, None, "resp_2"]:
        yield f"the requests go on from {named!r}"


# Streams by claim


def early(chats: bool, is_async: bool) -> Iterator[str]:
    """Check that the first claim is released while the model still writes."""
    gate = Gate()

    async def use(safe: Any) -> str:
        known, text = safe.with_context(list(PASSAGES)), ""
        messages = [{"role": "user", "content": QUESTION}]
        if chats:
            made = known.chat.completions.create(model=MODEL_NAME, messages=messages, stream=True)
        else:
            made = known.responses.create(model=MODEL_NAME, input=messages, stream=True)
        async for piece in each(await settled(made)):
            if chats:
                text += "".join(choice.delta.content or "" for choice in piece.choices)
            elif piece.type == "response.output_text.delta":
                text += piece.delta
            if text.strip():
                if not gate.seen.is_set() and text.strip() != TRUE:
                    return f"first came {text!r}"
                gate.seen.set()
        return text

    with Server(Talk(faithful), gate=gate) as server:
        text = used(server, {"stream": "claims"}, use, is_async=is_async)
    if text != GOOD:
        yield f"{text!r} instead of the answer"
    if gate.passed != [True]:
        yield "nothing was released before the model had ended"


# Many callers


def crowd(column: Column) -> Iterator[str]:
    """Check that each of many callers of one client gets the outcome of its question."""
    script = half_improving if column.script is improving else half_borrowed
    with Server(Talk(script)) as server:
        yield from not_their_own(asyncio.run(_tasks(server, column)), column.due)
        yield from not_their_own(_threads(server, column), column.due)


def _lane(safe: Any, lane: int) -> Any:
    question = lane_question(lane)
    known = safe.with_context([document.page_content for document in documents_for(question)])
    messages = [{"role": "user", "content": question}]
    return known.chat.completions.create(model=MODEL_NAME, messages=messages)


def _said(got: Any) -> Any:
    return got if isinstance(got, BaseException) else got.choices[0].message.content


async def _tasks(server: Server, column: Column) -> Sequence[Any]:
    client = client_for(server, is_async=True)
    safe = guarded(client, column.options)
    calls = (_lane(safe, lane) for lane in range(CROWD))
    got = await asyncio.gather(*calls, return_exceptions=True)
    await client.close()
    return [_said(one) for one in got]


def _threads(server: Server, column: Column) -> Sequence[Any]:
    client = client_for(server, is_async=False)
    safe = guarded(client, column.options)

    def call(lane: int) -> Any:
        try:
            return _said(_lane(safe, lane))
        except UnfaithfulAnswerError as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        got = list(pool.map(call, range(CROWD)))
    client.close()
    return got


KINDS: Mapping[str, tuple[Call, type, bool]] = {
    "chat create": (rows.create, ChatCompletion, True),
    "chat parse": (rows.parse, ParsedChatCompletion, True),
    "responses create": (rows.respond, Response, False),
    "responses parse": (rows.respond_parse, ParsedResponse, False),
}
PLAIN: Mapping[str, tuple[Call, bool]] = {
    "chat create": (rows.create, True),
    "responses create": (rows.respond, False),
}
STREAMED: Mapping[str, tuple[Call, bool]] = {
    **PLAIN,
    "chat stream": (rows.stream, True),
    "responses stream": (rows.respond_streaming, False),
}
UNPROVEN: Mapping[str, tuple[Use, Script]] = {
    "a user's own words": (told_by_user, unfaithful),
    "a user's own words, responses": (told_in_input, unfaithful),
    "no context": (without_context, faithful),
    "no context, responses": (without_context_in_input, faithful),
    "the context of another client": (context_of_another, faithful),
}


def _twice(name: str, check: Callable[..., Iterator[str]], *given: Any) -> Mapping[str, Any]:
    return {
        f"{name}, {'async' if is_async else 'sync'}": (
            lambda is_async=is_async: check(*given, is_async=is_async)
        )
        for is_async in (False, True)
    }


CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        name: check
        for kind, (call, made, chats) in KINDS.items()
        for name, check in _twice(f"type and note: {kind}", own_type, call, made, chats).items()
    },
    **_twice("chunks", own_chunks),
    **_twice("reasons of two choices", reasons_of),
    **{
        name: check
        for kind, (call, chats) in PLAIN.items()
        for name, check in _twice(f"flag delivers: {kind}", flagged, call, chats).items()
    },
    **{
        name: check
        for column in COLUMNS
        for name, check in _twice(f"reports: {column.name}", reported, column).items()
    },
    **_twice("max_attempts", bounded_attempts),
    **{
        name: check
        for what, (use, script) in UNPROVEN.items()
        for name, check in _twice(f"no evidence: {what}", held_back, use, script).items()
    },
    **_twice("tool calls pass", tool_calls_pass),
    **_twice("other calls pass", others_pass),
    **{
        name: check
        for kind, (call, chats) in STREAMED.items()
        for name, check in _twice(f"errors pass: {kind}", errors_pass, call, chats).items()
    },
    **_twice("held-back responses are never named", never_named),
    **{
        name: check
        for kind, chats in (("chat", True), ("responses", False))
        for name, check in _twice(f"claims: early release: {kind}", early, chats).items()
    },
    **{f"crowd: {column.name}": (lambda column=column: crowd(column)) for column in COLUMNS},
}
