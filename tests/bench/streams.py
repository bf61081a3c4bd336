"""Measure streams that are released claim by claim, beside those that are held whole.

    python -m tests.bench.streams

In: a model of 30 tokens a second that writes claims of about 20 tokens, in this process or behind
a socket; claims checked by the local cascade, or by a verifier that takes half a second. Out: a
markdown table with the time to the first text that is released, the time from the model's last
token to the last text, and the time in all. Nothing is asserted, and the load is printed first.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import platform
import random
import re
import socket
import statistics
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from faithguard import Scorer, guarded
from faithguard.capture import new_id, passages_of
from faithguard.testing import TableVerifier
from faithguard.types import Exchange
from tests.bench import _texts
from tests.bench._common import table

TOKENS_A_SECOND = 30
CLAIMS = 4
RUNS = 3
SLOW = 0.5
"""Seconds of a slow verifier, such as an LLM."""
CONTEXT = _texts.passages(5, 5)
QUESTION = "What does the harbour need?"


def answer() -> str:
    """Return sentences of the context; each has 17 words, about 20 tokens."""
    said = [part for text in CONTEXT for part in re.findall(r"In [^.]+\.", text)]
    return " ".join(random.Random(1).sample(said, CLAIMS))


TEXT = answer()
TOKENS = re.findall(r"\s?\w{1,6}|\s?[^\w\s]", TEXT)


@dataclass(slots=True)
class Times:
    """When things happened in one stream, in seconds."""

    started: float = 0.0
    first: float = 0.0
    last_token: float = 0.0
    last: float = 0.0


times = Times()


# -- models ---------------------------------------------------------------------------------------


def here() -> Iterator[str]:
    """Write in this process, where nothing is written while nobody reads."""
    for token in TOKENS:
        time.sleep(1 / TOKENS_A_SECOND)
        times.last_token = time.perf_counter()
        yield token


async def ahere() -> AsyncIterator[str]:
    """Do the same, awaiting."""
    for token in TOKENS:
        await asyncio.sleep(1 / TOKENS_A_SECOND)
        times.last_token = time.perf_counter()
        yield token


@contextmanager
def written() -> Iterator[int]:
    """Write to whoever connects to a port, at the model's own pace."""
    server = socket.create_server(("127.0.0.1", 0))

    def write() -> None:
        try:
            peer, _ = server.accept()
        except OSError:  # closed, with nobody there
            return
        with peer:
            for token in TOKENS:
                time.sleep(1 / TOKENS_A_SECOND)
                times.last_token = time.perf_counter()
                peer.sendall(token.encode())

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.close()
        thread.join()


def behind_socket() -> Iterator[str]:
    """Read what a model behind a socket writes."""
    with written() as port, socket.create_connection(("127.0.0.1", port)) as peer:
        while data := peer.recv(64):
            yield data.decode()


async def abehind_socket() -> AsyncIterator[str]:
    """Do the same, awaiting."""
    with written() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while data := await reader.read(64):
            yield data.decode()
        writer.close()


# -- measuring ------------------------------------------------------------------------------------


def measured(model: Callable[[], Any], settings: dict[str, Any]) -> Times:
    """Read one guarded stream to its end."""
    made = guarded(sinks=[], **settings)
    times.started, times.first = time.perf_counter(), 0.0

    def took(text: str) -> None:
        times.last = time.perf_counter()
        times.first = times.first or times.last

    if model in (ahere, abehind_socket):

        @made
        async def awriting(question: str, context: list[str]) -> AsyncIterator[str]:
            async for token in model():
                yield token

        async def read() -> None:
            async for text in awriting(QUESTION, CONTEXT):
                took(text)

        asyncio.run(read())
    else:

        @made
        def writing(question: str, context: list[str]) -> Iterator[str]:
            yield from model()

        for text in writing(QUESTION, CONTEXT):
            took(text)
    return Times(times.started, times.first, times.last_token, times.last)


def one_check() -> float:
    """Return the seconds that the local cascade takes for one claim, its context read anew."""
    scorer = Scorer(cache=None)
    sentence = TEXT.partition(". ")[0] + "."
    exchange = Exchange(
        id=new_id(), answer=sentence, passages=passages_of(CONTEXT), question=QUESTION
    )
    runs: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        scorer.score(exchange)
        runs.append(time.perf_counter() - started)
    return statistics.median(runs)


def main() -> None:
    """Print the table."""
    logging.getLogger("faithguard").setLevel(logging.ERROR)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, load {load}\n")
    seconds = len(TOKENS) / TOKENS_A_SECOND
    print(f"{len(TOKENS)} tokens in {seconds:.1f} s, {CLAIMS} claims; ", end="")
    print(f"one check by the local cascade: {1e3 * one_check():.0f} ms\n")
    local = functools.partial(Scorer, cache=None)
    slow = functools.partial(Scorer, verifiers=[TableVerifier({"*": 1.0}, seconds=SLOW)])
    plays = [
        ("local", "awaiting, here", ahere, local, RUNS),
        ("local", "blocking, here", here, local, RUNS),
        (f"{SLOW} s", "awaiting, here", ahere, slow, 1),
        (f"{SLOW} s", "blocking, here", here, slow, 1),
        (f"{SLOW} s", "awaiting, behind a socket", abehind_socket, slow, 1),
        (f"{SLOW} s", "blocking, behind a socket", behind_socket, slow, 1),
    ]
    rows: list[tuple[str, ...]] = []
    for check, where, model, scorer, runs in plays:
        for stream in ("answer", "claims"):
            got = [
                measured(model, {"stream": stream, "scorer": scorer()})
                for _ in range(runs if stream == "claims" else 1)
            ]
            first = statistics.median(run.first - run.started for run in got)
            after = statistics.median(run.last - run.last_token for run in got)
            whole = statistics.median(run.last - run.started for run in got)
            figures = f"{first:.2f} s", f"{1e3 * after:.0f} ms", f"{whole:.2f} s"
            rows.append((check, where, stream, *figures))
    table(
        ("a check takes", "the model", "held", "first text", "last token to last text", "in all"),
        rows,
    )


if __name__ == "__main__":
    main()
