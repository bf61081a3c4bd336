"""The OpenAI client's rows. In: a server with a script. Out: ways x placings of the context.

Each way is written once, as a coroutine that never waits where the client is a sync one; such a
coroutine is run to its end without any event loop.
"""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI
from pydantic import BaseModel

from .llama_scene import NEXT_QUESTION, Talk
from .openai_server import TOOL, Server
from .outcomes import ANSWERS, CLAIMS, WHOLE, Named, Outcome, Play, Row
from .scene import MODEL_NAME, PASSAGES, QUESTION, Script

_TLS = ssl.create_default_context()
"""Made once: it takes a client longer than its calls do."""

RULES = "You answer visitors of a swimming pool."


class Answer(BaseModel):
    """A structured answer."""

    answer: str


# A coroutine for sync and async clients alike


async def settled(value: Any) -> Any:
    """Await what has to be awaited."""
    return await value if inspect.isawaitable(value) else value


async def each(stream: Any) -> AsyncIterator[Any]:
    """Iterate over a sync or an async stream."""
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


@asynccontextmanager
async def entered(manager: Any) -> AsyncIterator[Any]:
    """Enter a sync or an async context manager."""
    if hasattr(manager, "__aenter__"):
        async with manager as inside:
            yield inside
    else:
        with manager as inside:
            yield inside


def finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise AssertionError("a sync client made its caller wait")


# Clients


def client_for(server: Server, *, is_async: bool) -> Any:
    """Make a client of the SDK's own."""
    options: dict[str, Any] = {"base_url": server.url, "api_key": "none", "max_retries": 0}
    if is_async:
        return AsyncOpenAI(http_client=DefaultAsyncHttpxClient(verify=_TLS), **options)
    return OpenAI(http_client=DefaultHttpxClient(verify=_TLS), **options)


def guarded(client: Any, options: Mapping[str, Any]) -> Any:
    """Guard a client; the package is imported only here, so that tests are found without it."""
    from faithguard_openai import guard

    return guard(client, **options)


# What one call gives


@dataclass(slots=True)
class Reply:
    """What the caller reads out of one answer, and hands back on the next turn."""

    texts: list[str] = field(default_factory=list)
    turn: list[Any] = field(default_factory=list)
    """Messages or items, as the caller appends them."""
    calls: list[str] = field(default_factory=list)
    """Ids of tool calls."""
    id: str = ""


Call = Callable[[Any, dict[str, Any], list[Any]], Awaitable[Reply]]
"""(client, arguments, list for all that comes) -> the reply."""


def completed(completion: Any) -> Reply:
    """Read a chat completion; a structured one where it was parsed."""
    reply = Reply(id=completion.id)
    for choice in completion.choices:
        parsed = getattr(choice.message, "parsed", None)
        reply.texts.append(parsed.answer if parsed else choice.message.content or "")
        reply.calls += [call.id for call in choice.message.tool_calls or ()]
    reply.turn = [completion.choices[-1].message.to_dict(warnings=False)]
    reply.turn[0].pop("parsed", None)
    return reply


def responded(response: Any) -> Reply:
    """Read a response; a structured one where it was parsed."""
    parsed = getattr(response, "output_parsed", None)
    reply = Reply(texts=[parsed.answer if parsed else response.output_text], id=response.id)
    for item in response.output:
        reply.turn.append(item.to_dict(warnings=False))
        if item.type == "function_call":
            reply.calls.append(item.call_id)
        for part in reply.turn[-1].get("content") or ():
            part.pop("parsed", None)
        reply.turn[-1].pop("parsed_arguments", None)
    return reply


# Chat completions


async def create(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Ask for the whole completion."""
    completion = await settled(client.chat.completions.create(**arguments))
    pieces.append(completion)
    return completed(completion)


async def stream(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Iterate over the chunks, and put them together."""
    reply = Reply()
    texts: dict[int, str] = {}
    called: list[dict[str, Any]] = []
    try:
        async for chunk in each(
            await settled(client.chat.completions.create(stream=True, **arguments))
        ):
            pieces.append(chunk)
            reply.id = chunk.id
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
                called += [call.to_dict() for call in choice.delta.tool_calls or ()]
    finally:
        # what a caller has shown by then, also where the stream broke off
        pieces.append(Shown(tuple(texts.values())))
    reply.texts = list(texts.values())
    reply.calls = [call["id"] for call in called]
    message: dict[str, Any] = {"role": "assistant", "content": reply.texts[-1] or None}
    reply.turn = [message | ({"tool_calls": called} if called else {})]
    return reply


@dataclass(frozen=True, slots=True)
class Shown:
    """The texts that a caller has joined from a stream, to its end or to where it broke off."""

    texts: tuple[str, ...]


async def helper(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Use the SDK's stream helper: its events, its snapshots and its final completion."""
    shown = ""
    try:
        async with entered(client.chat.completions.stream(**arguments)) as events:
            async for event in each(events):
                pieces.append(event)
                shown += event.delta if event.type == "content.delta" else ""
            final = await settled(events.get_final_completion())
            pieces.append(final)
    finally:
        pieces.append(Shown((shown,)))
    reply = completed(final)
    return reply if reply.calls else _same_as(reply, shown)


def _same_as(reply: Reply, shown: str) -> Reply:
    """Keep both texts where the events gave another than the final object."""
    reply.texts += [shown] if shown not in reply.texts else []
    return reply


async def parse(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Ask for a structured completion."""
    call = client.chat.completions.parse(response_format=Answer, **arguments)
    completion = await settled(call)
    pieces.append(completion)
    return completed(completion)


async def raw(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Ask for the raw response, and read its body, its HTTP response and what it parses to."""
    response = await settled(client.chat.completions.with_raw_response.create(**arguments))
    completion = _read_raw(response, pieces)
    return completed(completion)


def _read_raw(response: Any, pieces: list[Any]) -> Any:
    parsed = response.parse()
    pieces += [response.text, response.http_response.text, parsed]
    return parsed


async def streamed_response(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Read the body and the parsed completion of a streamed HTTP response."""
    manager = client.chat.completions.with_streaming_response.create(**arguments)
    async with entered(manager) as response:
        pieces.append(await settled(response.text()))
        completion = await settled(response.parse())
        pieces.append(completion)
    return completed(completion)


# Responses


async def respond(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Ask for the whole response."""
    response = await settled(client.responses.create(**arguments))
    pieces.append(response)
    return responded(response)


async def _events_of(events: Any, pieces: list[Any]) -> Reply:
    """Read the events of a response, its deltas apart from its final object."""
    shown, reply = "", Reply()
    try:
        async for event in each(events):
            pieces.append(event)
            shown += event.delta if event.type == "response.output_text.delta" else ""
            if event.type == "response.completed":
                reply = responded(event.response)
    finally:
        pieces.append(Shown((shown,)))
    return reply if reply.calls else _same_as(reply, shown)


async def respond_streaming(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Iterate over the events of a response."""
    return await _events_of(
        await settled(client.responses.create(stream=True, **arguments)), pieces
    )


async def respond_helper(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Use the SDK's stream helper: its events and its final response."""
    async with entered(client.responses.stream(**arguments)) as events:
        reply = await _events_of(events, pieces)
        pieces.append(await settled(events.get_final_response()))
    return reply


async def respond_parse(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Ask for a structured response."""
    response = await settled(client.responses.parse(text_format=Answer, **arguments))
    pieces.append(response)
    return responded(response)


async def respond_raw(client: Any, arguments: dict[str, Any], pieces: list[Any]) -> Reply:
    """Ask for the raw response, and read all it holds."""
    response = await settled(client.responses.with_raw_response.create(**arguments))
    return responded(_read_raw(response, pieces))


# Where the context stands

DOCUMENTS = "\n".join(f"<document>{passage}</document>" for passage in PASSAGES)
CONTEXT = "\n".join(("<context>", *PASSAGES, "</context>"))
FENCED = "\n".join(("```context", *PASSAGES, "```"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """Where the passages stand in a call."""

    name: str
    role: str = "system"
    head: str = RULES
    """The first message, or the instructions of a response."""
    question: str = QUESTION
    next_question: str = NEXT_QUESTION
    given: bool = False
    """Whether the caller hands the passages to the guard."""
    called: bool = False
    """Whether a tool brings them."""
    by_id: bool = False
    """Whether the next turn names the response before it by its id."""
    several: int = 1
    """How many choices are asked for."""
    derived: bool = False
    """Whether the guarded client is made over by `with_options` before it is used."""


GIVEN = Placing(name="given", given=True)
IN_SYSTEM = Placing(name="documents in system", head=f"{RULES}\n{DOCUMENTS}")
IN_USER = Placing(
    name="context in user",
    question=f"{CONTEXT}\n\n{QUESTION}",
    # a turn that failed has left no message, and no context, behind
    next_question=f"{CONTEXT}\n\n{NEXT_QUESTION}",
)
IN_FENCE = Placing(name="fence in developer", role="developer", head=f"{RULES}\n\n{FENCED}")
IN_LIST = Placing(name="documents around", head=f"{RULES}\n<documents>\n{DOCUMENTS}\n</documents>")
BY_TOOL = Placing(name="tool", called=True)
BY_ID = Placing(name="given, previous id", given=True, by_id=True)
TWO = Placing(name="given, n=2", given=True, several=2)
DERIVED = Placing(name="given, with_options", given=True, derived=True)

CHAT_TOOL = {
    "type": "function",
    "function": {
        "name": TOOL,
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
RESPONSE_TOOL = {"type": "function", **CHAT_TOOL["function"]}


@dataclass(slots=True)
class Talker:
    """A caller that talks through a client, and keeps all it gets."""

    client: Any
    call: Call
    placing: Placing
    chats: bool
    history: list[Any] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.arguments = {"model": MODEL_NAME}
        if self.chats:
            self.history.append({"role": self.placing.role, "content": self.placing.head})
        else:
            self.arguments["instructions"] = self.placing.head
        if self.placing.called:
            self.arguments["tools"] = [CHAT_TOOL if self.chats else RESPONSE_TOOL]
        if self.placing.several > 1:
            self.arguments["n"] = self.placing.several

    async def turn(self, question: str) -> tuple[list[Any], tuple[str, ...]]:
        """Ask, bring what tools are called for, and return what came and the answers.

        A turn that fails leaves no trace in the talk.
        """
        pieces: list[Any] = []
        before = list(self.history)
        self.history.append({"role": "user", "content": question})
        try:
            reply = await self._call(pieces)
            while reply.calls:
                self.history += [self._output(call) for call in reply.calls]
                reply = await self._call(pieces)
        except Exception as error:
            self.history = before
            shown = [piece.texts for piece in pieces if isinstance(piece, Shown)]
            return [*pieces, error], tuple(filter(None, shown[-1])) if shown else ()
        if self.placing.by_id:
            self.history = []
            self.arguments["previous_response_id"] = reply.id
        return pieces, tuple(reply.texts)

    async def _call(self, pieces: list[Any]) -> Reply:
        talk = {"messages" if self.chats else "input": list(self.history)}
        reply = await self.call(self.client, {**self.arguments, **talk}, pieces)
        self.history += reply.turn
        return reply

    def _output(self, call: str) -> dict[str, Any]:
        text = "\n".join(PASSAGES)
        if self.chats:
            return {"role": "tool", "tool_call_id": call, "content": text}
        return {"type": "function_call_output", "call_id": call, "output": text}


def play(call: Call, placing: Placing, *, chats: bool, is_async: bool) -> Play:
    """Play two turns of a talk through a client."""

    def played(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        with Server(Talk(script)) as server:
            coroutine = two_turns(server, options)
            return asyncio.run(coroutine) if is_async else finished(coroutine)

    def two_turns(server: Server, options: Mapping[str, Any] | None) -> Any:
        client = client_for(server, is_async=is_async)
        safe = client if options is None else guarded(client, options)
        if placing.derived:
            safe = safe.with_options(timeout=30)
        if options is not None and placing.given:
            safe = safe.with_context(list(PASSAGES))
        return _talk(Talker(safe, call, placing, chats), client, server)

    return played


async def _talk(talker: Talker, client: Any, server: Server) -> Outcome:
    try:
        pieces, answers = await talker.turn(talker.placing.question)
        asked = len(server.requests)
        _, next_answers = await talker.turn(talker.placing.next_question)
    finally:
        await settled(client.close())
    return Outcome(
        pieces=tuple(pieces),
        answers=answers,
        asked=asked,
        later=tuple(request.text for request in server.requests[asked:]),
        next_answers=next_answers,
    )


def rows(
    name: str, call: Call, *placings: Placing, chats: bool = True, **fields: Any
) -> tuple[Row, ...]:
    """Make the rows of one way, sync and async."""
    return tuple(
        Row(
            way=Named(f"{'async ' if is_async else ''}{name}"),
            shape=Named(placing.name),
            play=play(call, placing, chats=chats, is_async=is_async),
            talks_on=not placing.by_id,
            **fields,
        )
        for placing in placings
        for is_async in (False, True)
    )


STREAMING = (*ANSWERS, *CLAIMS)
ROWS = (
    *rows("chat: create", create, GIVEN, IN_SYSTEM, IN_USER, IN_FENCE, IN_LIST, BY_TOOL, DERIVED),
    *rows("chat: create", create, TWO, columns=WHOLE),
    *rows("chat: create(stream)", stream, GIVEN, IN_SYSTEM, BY_TOOL, columns=STREAMING),
    *rows("chat: create(stream)", stream, TWO, columns=WHOLE),
    *rows("chat: stream", helper, GIVEN, BY_TOOL, columns=STREAMING),
    *rows("chat: parse", parse, GIVEN, BY_TOOL, columns=WHOLE),
    *rows("chat: with_raw_response", raw, GIVEN, BY_TOOL),
    *rows("chat: with_streaming_response", streamed_response, GIVEN),
    *rows("responses: create", respond, GIVEN, IN_SYSTEM, IN_USER, BY_TOOL, BY_ID, chats=False),
    *rows(
        "responses: create(stream)",
        respond_streaming,
        GIVEN,
        IN_SYSTEM,
        BY_TOOL,
        BY_ID,
        chats=False,
        columns=STREAMING,
    ),
    *rows("responses: stream", respond_helper, GIVEN, BY_TOOL, chats=False, columns=STREAMING),
    *rows("responses: parse", respond_parse, GIVEN, BY_TOOL, chats=False, columns=WHOLE),
    *rows("responses: with_raw_response", respond_raw, GIVEN, chats=False),
)

LEFT_OUT: Mapping[str, str] = {
    "what the server itself stores under the id of a response": (
        "it is not in the client's hands; that a retry names no held-back response is among "
        "the checks"
    ),
    "repair of structured answers": "text in JSON; the guard may repair it or take the next action",
    'stream="claims" with n > 1 and with structured answers': (
        "no text to release; the whole answer is held"
    ),
}
"""What the table has no cell for, and why; printed under it."""
