"""500 guarded streams at once, over threads and tasks, with everything that can go wrong.

Readers leave or are cancelled at any point, or are slow; verifiers fail; models break off. Set
FAITHGUARD_SEED to a number to play other streams.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import random
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from faithguard import Scorer, guarded
from faithguard.streaming import StreamCourse
from faithguard.testing import TableVerifier
from faithguard.types import Claim
from faithguard.verifiers import Context, Finding

STREAMS = 500
THREADS = 12
SEED = int(os.environ.get("FAITHGUARD_SEED", "7"))
DOC = "Every pier has its lamps, and every lamp its keeper."
FALLBACK = "Please ask at the quay."
TRACED = 50
"""Streams whose memory is traced, twice; that takes its time."""
GROWTH = 5_000 * TRACED
"""Bytes that the last of them may leave behind, in what they are checked by."""


class Broken(Exception):
    """What a model raises that breaks off."""


class Verifiers(TableVerifier):
    """Says yes; fails for claims of piers that are closed."""

    def __init__(self) -> None:
        super().__init__({"*": 1.0})

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what the table says."""
        self._fail(claims)
        time.sleep(0.0005)
        return super().verify(claims, context)

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what the table says."""
        self._fail(claims)
        await asyncio.sleep(0.0005)
        return await super().averify(claims, context)

    def _fail(self, claims: Sequence[Claim]) -> None:
        self.asked.clear()
        if any("closed" in claim.text for claim in claims):
            raise RuntimeError("no verdict")


@dataclass(slots=True)
class Play:
    """One stream, and what is to happen to it."""

    number: int
    sentences: list[str]
    size: int
    """Of the pieces that its model writes."""
    breaks: bool
    leaves: int | None
    """After how many releases its reader leaves."""
    cancelled: float | None
    """After how many seconds its reader is cancelled."""
    slow: float
    """Seconds that its reader takes for each release."""
    got: list[str] = field(default_factory=list)
    closed: int = 0
    """How often the model's stream was closed."""
    opened: int = 0
    ended: str = ""

    @classmethod
    def of(cls, number: int) -> Play:
        """Return the play of a number."""
        rng = random.Random(f"{SEED}:{number}")
        count = rng.randint(1, 6)
        sentences = [f"Pier {number} has {place} lamps." for place in range(1, count + 1)]
        if rng.random() < 0.25:
            sentences.insert(rng.randint(0, count), f"Pier {number} is closed.")
        return cls(
            number=number,
            sentences=sentences,
            size=rng.choice([1, 3, 8, 500]),
            breaks=rng.random() < 0.15,
            leaves=rng.randint(0, count) if rng.random() < 0.25 else None,
            cancelled=rng.random() * 0.5 if rng.random() < 0.3 else None,
            slow=rng.choice([0.0, 0.0, 0.002]),
        )

    @property
    def text(self) -> str:
        """What the model writes."""
        return " ".join(self.sentences)

    @property
    def passes(self) -> str:
        """What of it passes."""
        good = itertools.takewhile(lambda sentence: "closed" not in sentence, self.sentences)
        return " ".join(good)

    def pieces(self) -> Iterator[str]:
        """Yield what the model writes."""
        yield from (
            self.text[start : start + self.size] for start in range(0, len(self.text), self.size)
        )
        if self.breaks:
            raise Broken(self.number)

    def check(self) -> None:
        """Check that what was received is what passes, or its beginning, and nothing twice."""
        got = "".join(self.got)
        blocked = self.passes != self.text
        told = f"{self} got {got!r}"
        if self.ended == "end":
            apart = "\n\n" if self.passes else ""
            assert got == self.passes + (apart + FALLBACK if blocked else ""), told
            assert blocked or not self.breaks, told
        elif self.ended == "broken":
            assert self.breaks, told
            # of the last sentence nobody knows whether it had ended
            assert got == " ".join(self.sentences[:-1]) == self.passes[: len(got)], told
        else:
            assert self.ended in ("left", "cancelled"), told
            full = self.passes + (("\n\n" if self.passes else "") + FALLBACK if blocked else "")
            assert full.startswith(got), told
        assert self.closed == self.opened <= 1, told


GUARD = guarded(
    sinks=[], stream="claims", fallback=FALLBACK, scorer=Scorer(verifiers=[Verifiers()])
)


@GUARD
def answer(play: Play, context: str) -> Iterator[str]:
    """Write, blocking."""
    play.opened += 1
    try:
        yield from play.pieces()
    finally:
        play.closed += 1


@GUARD
async def aanswer(play: Play, context: str) -> AsyncIterator[str]:
    """Write, awaiting."""
    play.opened += 1
    try:
        for piece in play.pieces():
            await asyncio.sleep(0)
            yield piece
    finally:
        try:
            await asyncio.sleep(0)
        finally:  # the reader may be cancelled while this goes on
            play.closed += 1


def read(play: Play) -> None:
    """Read in a thread."""
    stream = answer(play, DOC)
    try:
        for text in stream:
            play.got.append(text)
            time.sleep(play.slow)
            if len(play.got) == play.leaves:
                break
        else:
            play.ended = "end"
    except Broken:
        play.ended = "broken"
    finally:
        play.ended = play.ended or "left"
        stream.close()  # type: ignore[attr-defined]


async def aread(play: Play) -> None:
    """Read in a task, which may be cancelled."""
    stream = aanswer(play, DOC)
    try:
        async with asyncio.timeout(play.cancelled):
            async for text in stream:
                play.got.append(text)
                await asyncio.sleep(play.slow)
                if len(play.got) == play.leaves:
                    break
            else:
                play.ended = "end"
    except TimeoutError:
        play.ended = "cancelled"
    except Broken:
        play.ended = "broken"
    finally:
        play.ended = play.ended or "left"
        await stream.aclose()  # type: ignore[attr-defined]


async def all_tasks(plays: Sequence[Play]) -> None:
    """Read all in tasks, and check that none is left."""
    async with asyncio.timeout(120):
        await asyncio.gather(*map(aread, plays))
    assert asyncio.all_tasks() == {asyncio.current_task()}


def run(numbers: range) -> list[Play]:
    """Play streams, every second one in a task, while the others are read in threads."""
    plays = [Play.of(number) for number in numbers]
    with ThreadPoolExecutor(THREADS, thread_name_prefix="readers") as pool:
        reading = [pool.submit(read, play) for play in plays[::2]]
        asyncio.run(all_tasks(plays[1::2]))
        for future in reading:
            future.result(120)
    return plays


def held() -> int:
    """Return the bytes that are held."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def courses() -> set[int]:
    """Return the streams that are still held."""
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if type(thing) is StreamCourse}


def test_many_streams_at_once() -> None:
    """No deadlock, no byte lost or doubled, nothing left: task, thread, stream or memory."""
    known = courses()  # of other tests
    run(range(20))  # imports, pools and caches are there now
    threads = set(threading.enumerate())
    plays = run(range(STREAMS - 2 * TRACED))
    tracemalloc.start()
    try:
        plays += run(range(STREAMS - 2 * TRACED, STREAMS - TRACED))
        before = held()
        plays += run(range(STREAMS - TRACED, STREAMS))
        grown = held() - before
    finally:
        tracemalloc.stop()

    for play in plays:
        play.check()
    assert {"end", "left", "cancelled", "broken"} <= {play.ended for play in plays}
    left = {t for t in threading.enumerate() if not t.name.startswith("faithguard-")} - threads
    assert left == set()
    assert courses() <= known
    assert grown < GROWTH
