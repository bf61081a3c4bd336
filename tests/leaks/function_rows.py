"""Plain functions under `@faithguard.guarded`. In: a script. Out: kinds of function x outputs.

A pool's own code asks its model, with the passages given or found on the way, and returns or
yields the answer. No framework is in sight.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any

import faithguard

from . import ways
from .outcomes import ANSWERS, CLAIMS, Named, Outcome, Row
from .scene import PASSAGES, QUESTION, Script

Wrap = Callable[[Any], Any]


def wrapping(options: Mapping[str, Any] | None) -> Wrap:
    """Return the decorator; it is looked up only here, so that tests are found without it."""
    if options is None:
        return lambda function: function
    return faithguard.guarded(**options)


def saw(passages: list[str]) -> None:
    """Tell the guard what was found."""
    faithguard.saw(passages)


@dataclass(slots=True)
class Model:
    """A model that follows a script and counts its calls."""

    script: Script
    told: bool
    """Whether it hears the guard; the same code runs without one, where `saw` has no sense."""
    asked: list[str | None] = field(default_factory=list)
    """The feedback of each call."""

    def say(self, question: str, feedback: str | None) -> str:
        """Answer a question."""
        self.asked.append(feedback)
        return self.script(question, bool(feedback))

    def tokens(self, question: str, feedback: str | None) -> Iterator[str]:
        """Answer a question piece by piece."""
        text = self.say(question, feedback)
        yield from (text[start : start + 5] for start in range(0, len(text), 5))

    def found(self, passages: list[str]) -> None:
        """Tell the guard, if there is one, what was found."""
        if self.told:
            saw(passages)


Output = Callable[[str, list[str]], Any]
OUTPUTS: Mapping[str, Output] = {
    "str": lambda answer, passages: answer,
    "(answer, passages)": lambda answer, passages: (answer, passages),
    "dict": lambda answer, passages: {"answer": answer, "context": passages},
}

Make = Callable[[Model, Wrap], Callable[..., Any]]


# Passages in a parameter, answers in all three forms


def function(output: Output) -> Callable[[Model, Wrap], Callable[..., Any]]:
    """Make a function."""

    def make(model: Model, wrap: Wrap) -> Callable[..., Any]:
        @wrap
        def answer(question: str, context: list[str], feedback: str | None = None) -> Any:
            return output(model.say(question, feedback), context)

        return answer

    return make


def coroutine(output: Output) -> Make:
    """Make a coroutine function."""

    def make(model: Model, wrap: Wrap) -> Callable[..., Any]:
        @wrap
        async def answer(question: str, context: list[str], feedback: str | None = None) -> Any:
            await asyncio.sleep(0)
            return output(model.say(question, feedback), context)

        return answer

    return make


def method(output: Output) -> Make:
    """Make a method, called on its object."""

    def make(model: Model, wrap: Wrap) -> Callable[..., Any]:
        class Desk:
            @wrap
            def answer(self, question: str, context: list[str], feedback: str | None = None) -> Any:
                return output(model.say(question, feedback), context)

        return Desk().answer

    return make


def async_method(output: Output) -> Make:
    """Make a method that is a coroutine function."""

    def make(model: Model, wrap: Wrap) -> Callable[..., Any]:
        class Desk:
            @wrap
            async def answer(
                self, question: str, context: list[str], feedback: str | None = None
            ) -> Any:
                return output(model.say(question, feedback), context)

        return Desk().answer

    return make


def generator(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make a generator of pieces of text."""

    @wrap
    def answer(question: str, context: list[str], feedback: str | None = None) -> Iterator[str]:
        yield from model.tokens(question, feedback)

    return answer


def async_generator(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make an async generator of pieces of text."""

    @wrap
    async def answer(
        question: str, context: list[str], feedback: str | None = None
    ) -> AsyncIterator[str]:
        for token in model.tokens(question, feedback):
            await asyncio.sleep(0)
            yield token

    return answer


# Passages that the function finds on the way


def finding(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make a function that finds its passages itself, in two goes."""

    @wrap
    def answer(question: str, context: None = None, feedback: str | None = None) -> str:
        model.found(list(PASSAGES[:1]))
        model.found(list(PASSAGES[1:]))
        return model.say(question, feedback)

    return answer


def finding_in_threads(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make a function that finds its passages in threads, which get its context variables."""

    @wrap
    def answer(question: str, context: None = None, feedback: str | None = None) -> str:
        with ThreadPoolExecutor(2) as pool:
            for passage in PASSAGES:
                pool.submit(contextvars.copy_context().run, model.found, [passage]).result()
        return model.say(question, feedback)

    return answer


def finding_in_tasks(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make a coroutine function that finds its passages in tasks."""

    async def search(passage: str) -> None:
        await asyncio.sleep(0)
        model.found([passage])

    @wrap
    async def answer(question: str, context: None = None, feedback: str | None = None) -> str:
        await asyncio.gather(*map(search, PASSAGES))
        return model.say(question, feedback)

    return answer


def finding_in_worker(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make a coroutine function that finds its passages by `asyncio.to_thread`."""

    @wrap
    async def answer(question: str, context: None = None, feedback: str | None = None) -> str:
        await asyncio.to_thread(model.found, list(PASSAGES))
        return model.say(question, feedback)

    return answer


def finding_generator(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make a generator that finds its passages itself."""

    @wrap
    def answer(question: str, context: None = None, feedback: str | None = None) -> Iterator[str]:
        model.found(list(PASSAGES))
        yield from model.tokens(question, feedback)

    return answer


def finding_async_generator(model: Model, wrap: Wrap) -> Callable[..., Any]:
    """Make an async generator that finds its passages itself."""

    @wrap
    async def answer(
        question: str, context: None = None, feedback: str | None = None
    ) -> AsyncIterator[str]:
        await asyncio.sleep(0)
        model.found(list(PASSAGES))
        for token in model.tokens(question, feedback):
            yield token

    return answer


# Calling


def call(function: Callable[..., Any], *given: Any) -> list[Any]:
    """Call, and return all that comes, the exception that ends it included."""

    async def acall() -> AsyncIterator[Any]:
        handed = function(*given)
        if hasattr(handed, "__aiter__"):
            async for piece in handed:
                yield piece
        else:
            yield await handed

    def plain() -> Iterator[Any]:
        handed = function(*given)
        if isinstance(handed, Iterator):
            yield from handed
        else:
            yield handed

    return asyncio.run(ways.adrain(acall())) if waits(function) else ways.drain(plain())


def waits(function: Callable[..., Any]) -> bool:
    """Say whether a function is a coroutine function or an async generator function."""
    return iscoroutinefunction(function) or isasyncgenfunction(function)


def answer_in(piece: Any) -> str:
    """Return the answer in an output; "" where there is none."""
    return ways.answer_in(piece[0] if isinstance(piece, tuple) else piece)


def row(way: str, shape: str, make: Make, **fields: Any) -> Row:
    """Make a row; the passages are given where the function does not find them."""
    given = () if shape.startswith("saw") else (list(PASSAGES),)

    def play(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        model = Model(script, told=options is not None)
        pieces = call(make(model, wrapping(options)), QUESTION, *given)
        text = "".join(map(answer_in, pieces))
        return Outcome(
            pieces=tuple(pieces), answers=(text,) if text else (), asked=len(model.asked)
        )

    return Row(way=Named(way), shape=Named(shape), play=play, talks_on=False, **fields)


STREAMING = (*ANSWERS, *CLAIMS)
ROWS = (
    *(
        row(make.__name__.replace("_", " "), shape, make(output))
        for make in (function, coroutine, method, async_method)
        for shape, output in OUTPUTS.items()
    ),
    row("generator", "str", generator, columns=STREAMING),
    row("async generator", "str", async_generator, columns=STREAMING),
    row("function", "saw", finding),
    row("function", "saw in threads", finding_in_threads),
    row("coroutine", "saw in tasks", finding_in_tasks),
    row("coroutine", "saw in to_thread", finding_in_worker),
    row("generator", "saw", finding_generator, columns=STREAMING),
    row("async generator", "saw", finding_async_generator, columns=STREAMING),
)

LEFT_OUT: Mapping[str, str] = {
    "saw in a bare threading.Thread": (
        "it does not get the context variables of its maker; `copy_context().run` does"
    ),
    "generators that yield tuples or dicts": "a stream is of text; its passages come by `saw`",
}
"""What the table has no cell for, and why; printed under it."""
