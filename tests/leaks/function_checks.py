"""What the functions' table cannot hold: signatures, records, generators held and released.

Every check yields what is wrong, and nothing where all is well.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import faithguard
from faithguard import Record, Report, UnfaithfulAnswerError

from . import function_rows as rows
from .cells import BLOCK, COLUMNS, REGENERATE, Column
from .checks import CROWD, THREADS, not_their_own
from .function_rows import Make, Model, call, wrapping
from .outcomes import TRUE
from .refusals import refused
from .scene import (
    BAD,
    GOOD,
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

TEXT = rows.OUTPUTS["str"]
KINDS: Mapping[str, Make] = {
    "function": rows.function(TEXT),
    "coroutine": rows.coroutine(TEXT),
    "method": rows.method(TEXT),
    "async method": rows.async_method(TEXT),
    "generator": rows.generator,
    "async generator": rows.async_generator,
}


def make(kind: str, script: Script, options: Mapping[str, Any] | None) -> Callable[..., Any]:
    """Make a function of a kind, guarded where there are settings."""
    return KINDS[kind](Model(script, told=options is not None), wrapping(options))


def held_back(pieces: Sequence[Any]) -> bool:
    """Say whether the exception came and nothing else."""
    return len(pieces) == 1 and isinstance(pieces[0], UnfaithfulAnswerError)


def same_kind(kind: str) -> Iterator[str]:
    """Check that a guarded function is of the kind it was, with its name and signature."""
    plain, safe = make(kind, faithful, None), make(kind, faithful, {})
    for test in (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.signature,
    ):
        if test(plain) != test(safe):
            yield f"{test.__name__}: {test(safe)!r} instead of {test(plain)!r}"
    for what in ("__name__", "__doc__", "__module__"):
        if getattr(plain, what) != getattr(safe, what):
            yield f"{what} is {getattr(safe, what)!r}"


def recorded(kind: str) -> Iterator[str]:
    """Check that `with_report` returns the output and the record."""
    safe = make(kind, faithful, {})
    output = safe.with_report(QUESTION, list(PASSAGES))
    got = asyncio.run(_awaited(output)) if inspect.isawaitable(output) else output
    if got.output != GOOD or not isinstance(got.record, Record):
        yield f"{got!r}"
    elif [passage.text for passage in got.record.exchange.passages] != list(PASSAGES):
        yield f"the passages are {got.record.exchange.passages!r}"


async def _awaited(output: Any) -> Any:
    return await output


def flagged(kind: str) -> Iterator[str]:
    """Check that `flag` delivers the answer and hands over the report."""
    reports: list[Report] = []
    safe = make(kind, unfaithful, {"on_fail": "flag", "on_report": reports.append})
    got = call(safe, QUESTION, list(PASSAGES))
    if "".join(map(str, got)) != BAD:
        yield f"{got!r} was delivered"
    if len(reports) != 1 or not isinstance(reports[0], Report):
        yield f"the reports are {reports!r}"


def bounded_attempts(kind: str) -> Iterator[str]:
    """Check that `max_attempts` counts all attempts, the first one too."""
    for most in (1, 3):
        model = Model(unfaithful, told=True)
        options = {"on_fail": "regenerate", "max_attempts": most}
        call(KINDS[kind](model, wrapping(options)), QUESTION, list(PASSAGES))
        if len(model.asked) != most:
            yield f"{len(model.asked)} calls with max_attempts={most}"
        if model.asked[0] is not None or not all(model.asked[1:]):
            yield f"the feedback was {model.asked!r}"


def held(kind: str) -> Iterator[str]:
    """Check that a generator is held whole, where nothing else is said."""
    got = call(make(kind, faithful, {}), QUESTION, list(PASSAGES))
    if got != [GOOD]:
        yield f"{got!r} instead of one piece"


class Slip(Exception):
    """The function's own error."""


def own_errors(kind: str) -> Iterator[str]:
    """Check that the function's own error arrives as it is."""

    def slipping(question: str, feedback: bool) -> str:
        raise Slip(question)

    got = call(make(kind, slipping, {"fallback": "Sorry."}), QUESTION, list(PASSAGES))
    if [type(piece) for piece in got] != [Slip]:
        yield f"{got!r} instead of the function's error"


def without_context(kind: str) -> Iterator[str]:
    """Check that an answer without any passage is held back."""
    got = call(make(kind, faithful, {}), QUESTION, [])
    if not held_back(got):
        yield f"{got!r} instead of UnfaithfulAnswerError"


def other_names() -> Iterator[str]:
    """Check that parameters may have other names."""
    names = {"context": "pages", "question": "query", "feedback": "hint"}
    hints: list[str] = []

    @wrapping({**REGENERATE.options, **names})
    def answer(query: str, *, pages: Sequence[str], hint: str = "") -> str:
        hints.append(hint)
        return improving(query, bool(hint))

    if (got := answer(QUESTION, pages=list(PASSAGES))) != GOOD:
        yield f"{got!r}"
    if len(hints) != 2 or hints[0] or not hints[1]:
        yield f"the feedback was {hints!r}"


def without_feedback() -> Any:
    """Ask for another attempt of a function that cannot be told why."""

    @wrapping(REGENERATE.options)
    def answer(question: str, context: list[str]) -> str:
        return BAD

    return answer


def of_each_call() -> Iterator[str]:
    """Check that what one call saw is no evidence of the next."""
    model = Model(faithful, told=True)

    @wrapping({})
    def answer(question: str, *, looks: bool) -> str:
        if looks:
            model.found(list(PASSAGES))
        return model.say(question, None)

    if (got := answer(QUESTION, looks=True)) != GOOD:
        yield f"{got!r}"
    with suppress(UnfaithfulAnswerError):
        yield f"{answer(QUESTION, looks=False)!r} was delivered"


def outside() -> Iterator[str]:
    """Check that `saw` outside a guarded call does no harm to the next one."""
    # it may say that nobody listens
    with suppress(faithguard.FaithguardError):
        rows.saw([BAD])
    got = call(make("function", unfaithful, BLOCK.options), QUESTION, list(PASSAGES))
    if not held_back(got):
        yield f"{got!r} instead of UnfaithfulAnswerError"


# Streams by claim

TOKENS = [GOOD[start : start + 5] for start in range(0, len(GOOD), 5)]


def early() -> Iterator[str]:
    """Check that a claim is released while the function goes on, and whole."""
    read: list[str] = []

    @wrapping({"stream": "claims"})
    def answer(question: str, context: list[str]) -> Iterator[str]:
        for token in TOKENS:
            read.append(token)
            yield token

    stream = answer(QUESTION, list(PASSAGES))
    first = next(stream)
    if first.strip() != TRUE:
        yield f"first came {first!r}"
    if len(read) == len(TOKENS):
        yield "nothing was released before the function had ended"
    if (whole := first + "".join(stream)) != GOOD:
        yield f"{whole!r} instead of the answer"


def aearly() -> Iterator[str]:
    """Check that a claim is released while the async function waits for its next token."""
    seen = asyncio.Event()
    waited: list[bool] = []

    @wrapping({"stream": "claims"})
    async def answer(question: str, context: list[str]) -> AsyncIterator[str]:
        for token in TOKENS[:-2]:
            yield token
        await asyncio.wait_for(seen.wait(), 5)
        waited.append(True)
        for token in TOKENS[-2:]:
            yield token

    async def reading() -> str:
        text = ""
        async for piece in answer(QUESTION, list(PASSAGES)):
            text += piece
            seen.set()
        return text

    if (text := asyncio.run(reading())) != GOOD:
        yield f"{text!r} instead of the answer"
    if not waited:
        yield "nothing was released before the function had ended"


def closed(options: Mapping[str, Any]) -> Iterator[str]:
    """Check that a reader who leaves after the first piece closes the function's generator."""
    ended: list[str] = []

    @wrapping(options)
    def answer(question: str, context: list[str]) -> Iterator[str]:
        try:
            yield from TOKENS
        finally:
            ended.append("sync")

    @wrapping(options)
    async def aanswer(question: str, context: list[str]) -> AsyncIterator[str]:
        try:
            for token in TOKENS:
                yield token
        finally:
            ended.append("async")

    stream = answer(QUESTION, list(PASSAGES))
    next(stream)
    stream.close()

    async def leaving() -> None:
        astream = aanswer(QUESTION, list(PASSAGES))
        await anext(astream)
        await astream.aclose()
        # before the loop ends, which would close it
        ended.append("left")

    asyncio.run(leaving())
    if ended != ["sync", "async", "left"]:
        yield f"ended were {ended!r}"


# Many callers


def crowd(column: Column) -> Iterator[str]:
    """Check that each of many callers of one function gets the outcome of its question."""
    script = half_improving if column.script is improving else half_borrowed

    @wrapping(column.options)
    def answer(question: str, context: None = None, feedback: str | None = None) -> str:
        rows.saw([document.page_content for document in documents_for(question)])
        return script(question, bool(feedback))

    @wrapping(column.options)
    async def aanswer(question: str, context: None = None, feedback: str | None = None) -> str:
        rows.saw([document.page_content for document in documents_for(question)])
        await asyncio.sleep(0)
        return script(question, bool(feedback))

    def calling(lane: int) -> Any:
        try:
            return answer(lane_question(lane))
        except UnfaithfulAnswerError as error:
            return error

    async def tasks() -> Sequence[Any]:
        calls = (aanswer(lane_question(lane)) for lane in range(CROWD))
        return await asyncio.gather(*calls, return_exceptions=True)

    yield from not_their_own(asyncio.run(tasks()), column.due)
    with ThreadPoolExecutor(THREADS) as pool:
        yield from not_their_own(list(pool.map(calling, range(CROWD))), column.due)


GENERATORS = ("generator", "async generator")

CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        f"{name}: {kind}": (lambda check=check, kind=kind: check(kind))
        for name, check in {
            "same kind": same_kind,
            "flag delivers": flagged,
            "max_attempts": bounded_attempts,
            "own errors": own_errors,
            "no evidence": without_context,
        }.items()
        for kind in KINDS
    },
    **{
        f"record: {kind}": (lambda kind=kind: recorded(kind))
        for kind in ("function", "coroutine", *GENERATORS)
    },
    **{f"held whole: {kind}": (lambda kind=kind: held(kind)) for kind in GENERATORS},
    "other names of parameters": other_names,
    "refused: regenerate without feedback": lambda: refused(without_feedback, "feedback"),
    "claims: refused: flag": lambda: refused(
        lambda: make("generator", faithful, {"on_fail": "flag", "stream": "claims"}), "flag"
    ),
    "what one call saw": of_each_call,
    "saw outside a call": outside,
    "claims: early release: generator": early,
    "claims: early release: async generator": aearly,
    "closed: held": lambda: closed({}),
    "claims: closed": lambda: closed({"stream": "claims"}),
    **{f"crowd: {column.name}": (lambda column=column: crowd(column)) for column in COLUMNS},
}
