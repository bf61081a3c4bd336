"""What LlamaIndex's table cannot hold: second turns, readers that stop, many callers at once.

Every check yields what is wrong, and nothing where all is well.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import BaseChatEngine

from faithguard import Report, UnfaithfulAnswerError

from . import llama_engines as engines
from . import llama_ways as ways
from .cells import BLOCK, BLOCK_WITH_FALLBACK, COLUMNS, REGENERATE, Column
from .checks import CROWD, THREADS, not_their_own
from .llama_cells import SAID, Row, due, guarding
from .llama_engines import Bench, Shape
from .llama_scene import NEXT_QUESTION, ChattingModel, Talk, as_it_is, words
from .llama_ways import Way
from .observers import Lines
from .refusals import refused
from .scene import (
    BAD,
    FALLBACK,
    QUESTION,
    faithful,
    half_borrowed,
    half_improving,
    improving,
    lane_question,
    leaks,
    unfaithful,
)

COMPLETION, COMPACT = engines.COMPACT
STREAMED = engines.STREAMED[1]
CONTEXT_CHAT = engines.CHATS[1]


def guarded(shape: Shape, column: Column, **options: Any) -> Bench:
    """Build a guarded engine for one column."""
    return shape.bench(column.script, guarding({**column.options, **options}))


# What a chat engine remembers


def second_turn(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that the next turn's prompts are those of a chat in which all went well.

    That is a chat without the question, or one with the answer that was due and no feedback.
    """
    plain = shape.bench(unfaithful)
    if not any(map(leaks, _next_prompts(plain, way))):
        yield "the marker is in no prompt of the next turn without a guard"

    text = due(Row(way, shape), column)
    control = replace(shape, write=as_it_is).bench(lambda question, feedback: text or "")
    wanted = _next_prompts(control, way, first=text is not None)
    bench = guarded(shape, column)
    prompts = _next_prompts(bench, way)
    if any(map(leaks, prompts)):
        yield "a marker is in a prompt of the next turn"
    if prompts != wanted:
        texts = (" ".join(words(prompt)) for prompt in prompts if prompt not in wanted)
        yield f"{len(prompts)} prompts in the next turn, not {len(wanted)}; wrong: {list(texts)!r}"
    received = [content for role, content in ways.turns(bench.engine.chat_history)]
    if len(received) != (2 if text is None else 4):
        yield f"the history is {received!r}"


def _next_prompts(bench: Bench, way: Way, first: bool = True) -> list[str]:
    if first:
        way.receive(bench.engine, QUESTION)
    before = len(bench.talk.prompts)
    way.receive(bench.engine, NEXT_QUESTION)
    return bench.talk.prompts[before:]


def earlier_turn(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that a bad answer leaves the turns before it as they were."""
    bench = guarded(shape, column)
    first = way.receive(bench.engine, NEXT_QUESTION)
    if first.errors or len(first.history or ()) != 2:
        yield f"the first turn failed: {first.errors!r} {first.history!r}"
        return
    received = way.receive(bench.engine, QUESTION)
    text = due(Row(way, shape), column)
    turn = [] if text is None else [("user", QUESTION), ("assistant", text)]
    if received.history != [*(first.history or ()), *turn]:
        yield f"the history is {received.history!r}"


def given_history(shape: Shape) -> Iterator[str]:
    """Check that a history handed over with the question holds no bad turn afterwards."""
    bench = guarded(shape, BLOCK)
    hello = [ChatMessage("Good day!", role="user"), ChatMessage("Good day.", role="assistant")]
    try:
        bench.engine.chat(QUESTION, chat_history=hello)
        yield "no exception"
    except UnfaithfulAnswerError:
        pass
    texts = [text for _, text in ways.turns([*bench.engine.chat_history, *hello])]
    if any(map(leaks, texts)) or QUESTION in texts:
        yield f"the history is {texts!r}"


def reset(shape: Shape) -> Iterator[str]:
    """Check that a guarded chat can be reset, and goes on."""
    bench = shape.bench(faithful, guarding(BLOCK.options))
    for turn in ("first", "second"):
        received = ways.CHAT.receive(bench.engine, QUESTION)
        if received.errors or len(received.history or ()) != 2:
            yield f"{turn} chat: {received.errors!r} {received.history!r}"
        bench.engine.reset()
        if bench.engine.chat_history:
            yield f"{bench.engine.chat_history!r} after a reset"


# Streams

EARLY: tuple[tuple[Shape, Way], ...] = (
    *(
        (shape, Way(name="query", call=ways.streamed("query", ways.first_token)))
        for shape in engines.STREAMED
    ),
    *(
        (shape, Way(name="aquery", call=ways.astreamed("aquery", ways.afirst_token)))
        for shape in engines.STREAMED
    ),
    *(
        (shape, Way(name="stream_chat", call=ways.streamed("stream_chat", ways.first_token)))
        for shape in engines.CHATS
    ),
    *(
        (shape, Way(name="astream_chat", call=ways.astreamed("astream_chat", ways.afirst_token)))
        for shape in engines.CHATS
    ),
)
"""Readers that take one word and stop."""


def stopped_early(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that a reader who stops early gets no lie, and leaves the memory as it should be."""
    bench = guarded(shape, column)
    received = way.receive(bench.engine, QUESTION)
    if markers := leaks(received.text):
        yield f"{', '.join(markers)} reached the caller"
    reading_on = ways.CHAT if shape in engines.CHATS else ways.QUERY_STREAM
    text = due(Row(reading_on, shape), column)
    if text is None:
        if not received.errors or received.late:
            yield f"no exception by the call itself: {received.errors!r}"
    elif received.errors or not all(map(text.startswith, received.answers)):
        yield f"{received.answers!r} {received.errors!r}"
    turn = [] if text is None else [("user", QUESTION), ("assistant", text)]
    if received.history not in (None, turn):
        yield f"the history is {received.history!r}"


def raw_stream(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that the stream under a chat's stream holds no lie either.

    Without a guard the host's thread reads it, and a second reader gets nothing for sure.
    """
    received = way.receive(guarded(shape, column).engine, QUESTION)
    if markers := leaks(received.text):
        yield f"{', '.join(markers)} reached the caller"


def _raw(response: Any) -> Iterator[str]:
    for piece in response.chat_stream or ():
        yield repr(ways.Held(piece))


async def _araw(response: Any) -> AsyncIterator[str]:
    if response.achat_stream is not None:
        async for piece in response.achat_stream:
            yield repr(ways.Held(piece))


RAW = (
    Way(name="chat_stream", call=ways.streamed("stream_chat", _raw)),
    Way(name="achat_stream", call=ways.astreamed("astream_chat", _araw)),
)


# What else the guard is asked for

PLACES: tuple[tuple[Shape, Way], ...] = (
    *((shape, way) for shape in engines.COMPACT for way in ways.QUERIES),
    *((shape, way) for shape in engines.STREAMED for way in ways.QUERY_STREAMS),
    *((shape, way) for shape in engines.CHATS for way in ways.CHAT_WAYS),
)
"""The usual engines, in the usual ways."""

DECISION = ("passed", "level", "score", "supported", "total", "reason")


def flagged(shape: Shape, way: Way) -> Iterator[str]:
    """Check that `flag` delivers the answer, hands over the report and says so in the metadata."""
    reports: list[Report] = []
    bench = shape.bench(unfaithful, guarding({"on_fail": "flag", "on_report": reports.append}))
    received = way.receive(bench.engine, QUESTION)
    if received.errors:
        yield f"raised {received.errors[0]!r}"
    if not all(SAID in answer for answer in received.answers) or not received.answers:
        yield f"{received.answers!r} was delivered"
    if received.history not in (None, [("user", QUESTION), ("assistant", BAD)]):
        yield f"the history is {received.history!r}"
    if not reports or not all(isinstance(report, Report) for report in reports):
        yield f"the reports are {reports!r}"
    for response in received.responses:
        decision = (getattr(response, "metadata", None) or {}).get("faithguard")
        if not isinstance(decision, dict) or not set(DECISION) <= set(decision):
            yield f"the decision in the metadata is {decision!r}"
        elif decision["passed"]:
            yield "the decision says that the answer has passed"


def reported(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that `on_report` gets reports whether or not the answer is delivered."""
    reports: list[Report] = []
    bench = guarded(shape, column, on_report=reports.append)
    way.receive(bench.engine, QUESTION)
    if not reports or not all(isinstance(report, Report) for report in reports):
        yield f"the reports are {reports!r}"


def fallen_back(shape: Shape, way: Way) -> Iterator[str]:
    """Check that an engine given as fallback answers in place of the guarded one."""
    other = replace(shape, write=as_it_is).bench(lambda question, feedback: FALLBACK).engine
    bench = guarded(shape, BLOCK, fallback=other)
    received = way.receive(bench.engine, QUESTION)
    if markers := leaks(received.text):
        yield f"{', '.join(markers)} reached the caller"
    if received.answers != (FALLBACK,):
        yield f"{received.answers!r} {received.errors!r} instead of the fallback"
    if received.history not in (None, [("user", QUESTION), ("assistant", FALLBACK)]):
        yield f"the history is {received.history!r}"


def fallen_back_after_attempts(shape: Shape, way: Way) -> Iterator[str]:
    """Check that the fallback answers when regenerating was in vain."""
    options = {"on_fail": "regenerate", "fallback": FALLBACK}
    received = way.receive(shape.bench(unfaithful, guarding(options)).engine, QUESTION)
    if received.answers != (FALLBACK,):
        yield f"{received.answers!r} {received.errors!r} instead of the fallback"


def bounded_attempts(shape: Shape, way: Way) -> Iterator[str]:
    """Check that `max_attempts` counts all attempts, the first one too; two are the default."""
    for most in (1, 3, None):
        options = {"on_fail": "regenerate", "max_attempts": most}
        bench = shape.bench(unfaithful, guarding(options))
        received = way.receive(bench.engine, QUESTION)
        if len(bench.talk.prompts) != (most or 2):
            yield f"{len(bench.talk.prompts)} prompts with max_attempts={most}"
        if not received.errors:
            yield f"{received.answers!r} was delivered"


def prompt_grows(shape: Shape, way: Way) -> Iterator[str]:
    """Check that the second attempt sees the first one's prompt and the feedback.

    And that the retriever never sees the feedback.
    """
    plain = shape.bench(improving)
    way.receive(plain.engine, QUESTION)
    bench = guarded(shape, REGENERATE)
    way.receive(bench.engine, QUESTION)
    if len(bench.talk.prompts) != 2:
        yield f"{len(bench.talk.prompts)} prompts"
        return
    first, second = (Counter(words(prompt)) for prompt in bench.talk.prompts)
    if missing := first - second:
        yield f"the second prompt has lost {missing!r}"
    if not second - first:
        yield "the second prompt holds no feedback"
    if bench.talk.prompts[0] != plain.talk.prompts[0]:
        yield f"the first prompt is {bench.talk.prompts[0]!r}, not {plain.talk.prompts[0]!r}"
    if strange := set(bench.retriever.queries) - set(plain.retriever.queries):
        yield f"the retriever was asked for {strange!r}"


def again(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that a guarded engine does the same each time it is asked, in any event loop."""
    bench = guarded(shape, column)
    text = due(Row(way, shape), column)
    for turn in ("first", "second", "third"):
        received = way.receive(bench.engine, QUESTION)
        wanted = () if text is None else (text,)
        if received.answers != wanted or bool(received.errors) != (text is None):
            yield f"{turn} call: {received.answers!r} {received.errors!r}"
        if markers := leaks(received.text):
            yield f"{turn} call: {', '.join(markers)} reached the caller"


def exception(shape: Shape, way: Way) -> Iterator[str]:
    """Check what the exception carries; `Refine` would swallow a ValueError or a TypeError."""
    for error in way.receive(guarded(shape, BLOCK).engine, QUESTION).errors:
        if isinstance(error, ValueError | TypeError):
            yield f"{type(error).__name__} is a ValueError or a TypeError"
        for name in ("report", "decision", "record"):
            if getattr(error, name, None) is None:
                yield f"no {name}"
        return
    yield "no exception"


def same_kind(shape: Shape) -> Iterator[str]:
    """Check that a guarded engine passes for what it guards."""
    kind = BaseChatEngine if "Chat" in shape.name else BaseQueryEngine
    engine = guarded(shape, BLOCK).engine
    if not isinstance(engine, kind):
        yield f"{type(engine).__name__} is no {kind.__name__}"


def logged(shape: Shape, way: Way) -> Iterator[str]:
    """Check that no log line of any logger carries the lie.

    From INFO on: below it the host itself logs histories and prompts.
    """
    root, lines = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.INFO)
    try:
        for column in COLUMNS:
            way.receive(guarded(shape, column).engine, QUESTION)
    finally:
        root.setLevel(level)
        root.removeHandler(lines)
    yield from (f"{', '.join(leaks(line))} in a log line" for line in lines.lines if leaks(line))


# As a tool of an agent


class AgentTalk(Talk):
    """What a reasoning model says: it calls the tool once, and repeats what it observed."""

    def __init__(self) -> None:
        super().__init__(faithful)

    def say(self, prompt: str) -> str:
        """Call the tool, or answer."""
        self.prompts.append(prompt)
        *_, last = prompt.split(_THOUGHT)
        if last != prompt and "Observation: " in last:
            return f"Thought: I can answer.\nAnswer: {last.partition('Observation: ')[2]}"
        return f"Thought: {_THOUGHT}\nAction: pool\nAction Input: {_ASKED}"


_THOUGHT = "The visitor wants to know about the pool."
_ASKED = json.dumps({"input": QUESTION})


def agent(column: Column) -> Iterator[str]:
    """Check that neither an agent's model nor its caller gets the lie of a tool."""
    said, prompts = _agent(COMPACT.bench(unfaithful))
    if not leaks(said) or not any(map(leaks, prompts)):
        yield f"no marker without a guard: {said!r}"
    said, prompts = _agent(guarded(COMPACT, column))
    if markers := leaks(said):
        yield f"{', '.join(markers)} reached the caller"
    if any(map(leaks, prompts)):
        yield "a marker is in a prompt of the agent"
    if column.due is not None and column.due not in said:
        yield f"due was {column.due!r}, not {said!r}"


def _agent(bench: Bench) -> tuple[str, list[str]]:
    talk = AgentTalk()

    async def run() -> str:
        worker = ReActAgent(
            tools=[engines.tool(bench.engine)], llm=ChattingModel(talk=talk), streaming=False
        )
        return str(await worker.run(user_msg=QUESTION))

    return asyncio.run(run()), talk.prompts


# Many callers


def crowd(shape: Shape, column: Column) -> Iterator[str]:
    """Check that each of many callers of one guarded engine gets the outcome of its question."""
    script = half_improving if column.script is improving else half_borrowed
    for call in (_tasks, _threads, _in_turn):
        engine = shape.bench(script, guarding(column.options)).engine
        faults = not_their_own(call(engine), column.due)
        yield from (f"{call.__name__.strip('_')}: {fault}" for fault in faults)


def _tasks(engine: Any) -> Sequence[Any]:
    async def one(lane: int) -> str:
        response = await engine.aquery(lane_question(lane))
        if hasattr(response, "async_response_gen"):
            return "".join([token async for token in response.async_response_gen()])
        return str(response)

    async def all_of_them() -> Sequence[Any]:
        calls = (one(lane) for lane in range(CROWD))
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(all_of_them())


def _ask(engine: Any, lane: int) -> Any:
    try:
        return str(engine.query(lane_question(lane)))
    except UnfaithfulAnswerError as error:
        return error


def _threads(engine: Any) -> Sequence[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(lambda lane: _ask(engine, lane), range(CROWD)))


def _in_turn(engine: Any) -> Sequence[Any]:
    return [_ask(engine, lane) for lane in range(6)]


def crowd_of_chats(shape: Shape, way: Way, column: Column) -> Iterator[str]:
    """Check that chats of different people at the same time stay apart."""
    script = half_improving if column.script is improving else half_borrowed

    def chat(lane: int) -> Any:
        engine = shape.bench(script, guarding(column.options)).engine
        received = way.receive(engine, lane_question(lane))
        return received.errors[0] if received.errors else received.answers[0]

    with ThreadPoolExecutor(THREADS) as pool:
        yield from not_their_own(list(pool.map(chat, range(THREADS))), column.due)


def of_places(
    name: str, check: Callable[[Shape, Way], Iterator[str]], places: Sequence[tuple[Shape, Way]]
) -> dict[str, Callable[[], Iterator[str]]]:
    """Make one check for each place."""
    return {
        f"{name}: {way.name}, {shape.name}": (lambda shape=shape, way=way: check(shape, way))
        for shape, way in places
    }


def of_columns(
    name: str,
    check: Callable[[Shape, Way, Column], Iterator[str]],
    places: Sequence[tuple[Shape, Way]],
    columns: Sequence[Column] = COLUMNS,
) -> dict[str, Callable[[], Iterator[str]]]:
    """Make one check for each place and column."""
    return {
        f"{name}: {way.name}, {shape.name}, {column.name}": (
            lambda shape=shape, way=way, column=column: check(shape, way, column)
        )
        for shape, way in places
        for column in columns
    }


CHAT_PLACES = tuple((shape, way) for shape in engines.CHATS for way in ways.CHAT_WAYS)
MEMORY_PLACES = tuple(
    (shape, way) for shape in engines.CHATS_IN_MEMORY for way in (ways.CHAT, ways.ASTREAM_CHAT)
)
ONE_PROMPT = tuple(
    (shape, way)
    for shape in (engines.CITATION, *engines.PYDANTIC, *engines.OTHER[3:9])
    for way in ways.QUERIES
)
"""Engines that ask the model once for a question, beside the usual ones."""
SUB_PLACES = tuple((engines.SUB_QUESTIONS, way) for way in ways.QUERIES)

CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **of_columns("second turn", second_turn, (*CHAT_PLACES, *MEMORY_PLACES)),
    **of_columns("earlier turn", earlier_turn, (*CHAT_PLACES, *MEMORY_PLACES)),
    **{
        f"given history: {shape.name}": (lambda shape=shape: given_history(shape))
        for shape in (*engines.CHATS, *engines.CHATS_IN_MEMORY)
    },
    **{
        f"reset: {shape.name}": (lambda shape=shape: reset(shape))
        for shape in (*engines.CHATS, *engines.CHATS_IN_MEMORY)
    },
    **of_columns("reader stops early", stopped_early, EARLY),
    **of_columns(
        "stream under the stream",
        raw_stream,
        [(shape, way) for shape in engines.CHATS for way in RAW],
        (BLOCK_WITH_FALLBACK, REGENERATE),
    ),
    **of_places("flag delivers", flagged, PLACES),
    **of_columns("reports", reported, PLACES),
    **of_places("engine as fallback", fallen_back, PLACES),
    **of_places("fallback after regenerating in vain", fallen_back_after_attempts, PLACES),
    **of_places("max_attempts", bounded_attempts, PLACES),
    **of_places("prompt grows", prompt_grows, (*PLACES, *ONE_PROMPT)),
    **of_columns(
        "again and again",
        again,
        [(shape, way) for shape, way in PLACES if shape not in engines.CHATS],
    ),
    **of_places("exception", exception, PLACES),
    **{f"same kind: {shape.name}": (lambda shape=shape: same_kind(shape)) for shape, _ in PLACES},
    **of_places("no lie in the logs", logged, (*PLACES, *SUB_PLACES)),
    **{
        f"tool of an agent: {column.name}": (lambda column=column: agent(column))
        for column in COLUMNS
    },
    "refused: an unknown on_fail": lambda: refused(
        lambda: COMPACT.bench(faithful, guarding({"on_fail": "shrug"})), "regenerate"
    ),
    "refused: an unknown domain": lambda: refused(
        lambda: COMPACT.bench(faithful, guarding({"domain": "medcial"})), "medical"
    ),
    **{
        f"crowd: {shape.name}, {column.name}": (
            lambda shape=shape, column=column: crowd(shape, column)
        )
        for shape in (COMPLETION, COMPACT, STREAMED)
        for column in COLUMNS
    },
    **of_columns(
        "crowd of chats",
        crowd_of_chats,
        [(CONTEXT_CHAT, way) for way in (ways.CHAT, ways.STREAM_CHAT, ways.ASTREAM_CHAT)],
    ),
}
