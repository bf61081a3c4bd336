"""What a table of ways cannot hold: delivery beyond the answer's text, and many callers at once.

Every check yields what is wrong, and nothing where all is well. `CHECKS` has those of
`observers` and `refusals` too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.caches import InMemoryCache
from langchain_core.runnables import Runnable, RunnableLambda

from faithguard import Report, UnfaithfulAnswerError
from faithguard_langchain import guard

from . import observers, refusals, ways
from .cells import COLUMNS, Column
from .chains import MESSAGE, RETRIEVAL_CHAIN, SHAPES, TEXT, Shape
from .scene import (
    BAD,
    FALLBACK,
    GOOD,
    QUESTION,
    ScriptedModel,
    faithful,
    half_borrowed,
    half_improving,
    improving,
    lane_fact,
    lane_question,
    leaks,
    unfaithful,
)


def same_output(shape: Shape) -> Iterator[str]:
    """Check that a faithful output keeps its type and its keys."""
    chain = shape.build(shape.model(faithful))
    plain = chain.invoke(shape.ask(QUESTION))
    output = guard(chain, **shape.keys).invoke(shape.ask(QUESTION))
    kind = str if isinstance(plain, str) else type(plain)
    if not isinstance(output, kind):
        yield f"{type(output).__name__} instead of {kind.__name__}"
    elif isinstance(plain, dict) and output != plain:
        yield f"{output!r} instead of {plain!r}"


def one_chunk(shape: Shape, way: ways.Way) -> Iterator[str]:
    """Check that a stream yields one chunk, after the verdict."""
    chain = shape.build(shape.model(faithful))
    received = way.receive(guard(chain, **shape.keys), shape.ask(QUESTION))
    if len(received.pieces) != 1:
        yield f"{len(received.pieces)} chunks"


def flagged(way: ways.Way) -> Iterator[str]:
    """Check that `flag` delivers the answer and hands over the report."""
    reports: list[Report] = []
    chain = TEXT.build(TEXT.model(unfaithful))
    received = way.receive(guard(chain, on_fail="flag", on_report=reports.append), QUESTION)
    if received.answers != (BAD,):
        yield f"{received.answers!r} was delivered"
    if not reports or not all(isinstance(report, Report) for report in reports):
        yield f"the reports are {reports!r}"


def reported(column: Column, way: ways.Way) -> Iterator[str]:
    """Check that `on_report` gets reports whether or not the answer is delivered."""
    reports: list[Report] = []
    chain = TEXT.build(TEXT.model(column.script))
    way.receive(guard(chain, **column.options, on_report=reports.append), QUESTION)
    if not reports or not all(isinstance(report, Report) for report in reports):
        yield f"the reports are {reports!r}"


def fallen_back(way: ways.Way, shape: Shape) -> Iterator[str]:
    """Check that a runnable given as fallback answers in place of the chain."""
    fallback = RunnableLambda(lambda value: FALLBACK)
    chain = shape.build(shape.model(unfaithful))
    guarded = guard(chain, on_fail="block", fallback=fallback, **shape.keys)
    received = way.receive(guarded, shape.ask(QUESTION))
    if markers := leaks(received.text):
        yield f"{', '.join(markers)} reached the caller"
    if received.answers != (FALLBACK,):
        yield f"{received.answers!r} instead of the fallback"


def fallen_back_after_attempts() -> Iterator[str]:
    """Check that the fallback answers when regenerating was in vain."""
    model = TEXT.model(unfaithful)
    output = guard(TEXT.build(model), on_fail="regenerate", fallback=FALLBACK).invoke(QUESTION)
    if output != FALLBACK:
        yield f"{output!r} instead of the fallback"


def bounded_attempts(way: ways.Way) -> Iterator[str]:
    """Check that `max_attempts` counts all attempts, the first one too."""
    for most in (1, 3):
        model = TEXT.model(unfaithful)
        way.receive(guard(TEXT.build(model), on_fail="regenerate", max_attempts=most), QUESTION)
        if len(model.calls) != most:
            yield f"{len(model.calls)} calls with max_attempts={most}"


def prompt_grows(shape: Shape) -> Iterator[str]:
    """Check that the second attempt sees the first one's messages and the feedback."""
    model = shape.model(improving)
    guarded = guard(shape.build(model), on_fail="regenerate", **shape.keys)
    guarded.invoke(shape.ask(QUESTION))
    if len(model.calls) != 2:
        yield f"{len(model.calls)} calls"
        return
    first, second = ([(message.type, message.text) for message in call] for call in model.calls)
    if missing := [kind for kind, text in first if (kind, text) not in second]:
        yield f"the second prompt has lost {missing!r}"
    if len(second) <= len(first):
        yield "the second prompt holds no feedback"


def past_the_cache(way: ways.Way) -> Iterator[str]:
    """Check that a model cache does not give the bad answer again."""
    model = ScriptedModel(script=improving, cache=InMemoryCache())
    guarded = guard(TEXT.build(model), on_fail="regenerate")
    for turn in ("first", "second"):
        received = way.receive(guarded, QUESTION)
        if received.answers != (GOOD,):
            yield f"{turn} call: {received.answers!r} {received.errors!r}"


def mixed_batch(returning: bool) -> Iterator[str]:
    """Check that in one batch every question gets its own outcome."""
    chain = TEXT.build(TEXT.model(half_borrowed))
    questions = [lane_question(lane) for lane in range(6)]
    guarded = guard(chain) if returning else guard(chain, fallback=FALLBACK)
    outputs = guarded.batch(questions, return_exceptions=returning)
    yield from not_their_own(outputs, None if returning else FALLBACK)


CROWD = 20
"""Callers at once, half of whom get what is not theirs if two are mixed up."""
THREADS = 10


def crowd(column: Column) -> Iterator[str]:
    """Check that each of many callers of one guarded chain gets the outcome of its question."""
    script = half_improving if column.script is improving else half_borrowed
    guarded = guard(TEXT.build(TEXT.model(script)), **column.options)
    yield from not_their_own(asyncio.run(_tasks(guarded)), column.due)
    yield from not_their_own(_threads(guarded), column.due)


async def _tasks(guarded: Runnable[Any, Any]) -> Sequence[Any]:
    calls = (guarded.ainvoke(lane_question(lane)) for lane in range(CROWD))
    return await asyncio.gather(*calls, return_exceptions=True)


def _threads(guarded: Runnable[Any, Any]) -> Sequence[Any]:
    def call(lane: int) -> Any:
        try:
            return guarded.invoke(lane_question(lane))
        except UnfaithfulAnswerError as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(call, range(CROWD)))


def not_their_own(outputs: Sequence[Any], due: str | None) -> Iterator[str]:
    """Compare with what is due: the answers for odd lanes were bad at first."""
    for lane, output in enumerate(outputs):
        if lane % 2 and due is None:
            if not isinstance(output, UnfaithfulAnswerError):
                yield f"lane {lane} got {output!r}"
        elif output != (FALLBACK if lane % 2 and due == FALLBACK else lane_fact(lane)):
            yield f"lane {lane} got {output!r}"


CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **observers.CHECKS,
    **refusals.CHECKS,
    **{f"same output: {shape.name}": (lambda shape=shape: same_output(shape)) for shape in SHAPES},
    **{
        f"one chunk: {way.name}, {shape.name}": (lambda shape=shape, way=way: one_chunk(shape, way))
        for way in (ways.STREAM, ways.ASTREAM)
        for shape in (TEXT, MESSAGE, RETRIEVAL_CHAIN)
    },
    **{f"flag delivers: {way.name}": (lambda way=way: flagged(way)) for way in ways.CORE},
    **{
        f"reports: {way.name}, {column.name}": (
            lambda column=column, way=way: reported(column, way)
        )
        for way in ways.CORE
        for column in COLUMNS
    },
    **{
        f"runnable as fallback: {way.name}, {shape.name}": (
            lambda way=way, shape=shape: fallen_back(way, shape)
        )
        for way in ways.CORE
        for shape in (TEXT, MESSAGE)
    },
    "fallback after regenerating in vain": fallen_back_after_attempts,
    **{f"max_attempts: {way.name}": (lambda way=way: bounded_attempts(way)) for way in ways.CORE},
    **{
        f"prompt grows: {shape.name}": (lambda shape=shape: prompt_grows(shape)) for shape in SHAPES
    },
    **{
        f"past the model's cache: {way.name}": (lambda way=way: past_the_cache(way))
        for way in ways.CORE
    },
    "mixed batch, exceptions returned": lambda: mixed_batch(returning=True),
    "mixed batch, fallback": lambda: mixed_batch(returning=False),
    **{f"crowd: {column.name}": (lambda column=column: crowd(column)) for column in COLUMNS},
}
