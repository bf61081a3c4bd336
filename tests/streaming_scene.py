"""Streams that are checked while they come: a ferry, what may be said of it, and who is asked.

In: pieces of a text. Out: what a reader gets of them, and the record that is left.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from faithguard import (
    Passage,
    Record,
    guarded,
)
from faithguard.guard import Settings
from faithguard.store._flaws import flaw
from faithguard.streaming import StreamCourse
from faithguard.types import Exchange

DOCS = [
    "The ferry leaves Ulvo at 8:15 and carries 40 cars. Dogs travel free of charge.",
    "A ticket costs 12 EUR for adults and 6 EUR for children. The café is open on Sundays.",
]
QUESTION = "When does the ferry leave, and what does it cost?"
LEAVES = "The ferry leaves Ulvo at 8:15."
CARS = "It carries 40 cars."
COSTS = "A ticket costs 12 EUR for adults."
CHEAP = "A ticket costs 3 EUR for adults."
DOGS = "Dogs travel free of charge."
SUNK = "The steamer Halvard sank in the autumn storm."
FALLBACK = "Please ask at the quay."
guards: Callable[..., Any] = functools.partial(guarded, domain="support", sinks=[], stream="claims")


def cut(text: str, size: int = 7) -> list[str]:
    """Cut a text into pieces."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def streaming(pieces: Sequence[str], **options: Any) -> Any:
    """Return a guarded generator of these pieces."""

    @guards(**options)
    def answer(question: str = QUESTION, context: Any = DOCS) -> Iterator[str]:
        yield from pieces

    return answer


def astreaming(pieces: Sequence[str], **options: Any) -> Any:
    """Return a guarded async generator of these pieces."""

    @guards(**options)
    async def answer(question: str = QUESTION, context: Any = DOCS) -> AsyncIterator[str]:
        for piece in pieces:
            await asyncio.sleep(0)
            yield piece

    return answer


def both(text: str, **options: Any) -> list[str]:
    """Return what is released, which is the same for both kinds of generators."""

    async def aread() -> list[str]:
        return [piece async for piece in astreaming(cut(text), **options)()]

    got = list(streaming(cut(text), **options)())
    assert asyncio.run(aread()) == got
    return got


def record_of(text: str, **options: Any) -> Record:
    """Return the record of a stream, which is the same for both kinds of generators."""
    record: Record = streaming(cut(text), **options).with_report().record
    twin = asyncio.run(astreaming(cut(text), **options).with_report()).record
    assert (twin.exchange.answer, twin.decision) == (record.exchange.answer, record.decision)
    assert twin.repairs == record.repairs
    assert flaw(record) is None
    return record


def mended(record: Record) -> str:
    """Make the repairs of a record in what was written; no two of them meet."""
    text = record.attempts[-1].exchange.answer
    spans = sorted(repair.span for repair in record.repairs)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for repair in sorted(record.repairs, key=lambda repair: repair.span, reverse=True):
        start, end = repair.span
        assert text[start:end] == repair.before
        text = text[:start] + repair.after + text[end:]
    return text


def course_of(clock: Callable[[], float], **options: Any) -> StreamCourse:
    """Return the course of a stream whose seconds are told by a clock."""
    chosen = Settings.of(
        domain=options.pop("domain", "support"),
        on_fail=options.pop("on_fail", None),
        fallback=FALLBACK,
        max_attempts=None,
        more_context=None,
        on_report=None,
        sinks=[],
        scorer=None,
        judge=None,
        stream="claims",
        **options,
    )
    passages = tuple(Passage(text=text) for text in DOCS)
    return StreamCourse(
        chosen, lambda text: Exchange(id="x", answer=text, passages=passages), clock=clock
    )


SENTENCES = st.lists(st.sampled_from([LEAVES, CARS, COSTS, CHEAP, SUNK, "Thanks!"]), max_size=6)
BETWEEN = st.sampled_from([" ", "\n\n", "\n- ", "  "])
