"""Many calls of one guarded client at once, cancelled ones among them."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from faithguard import Report, Scorer, UnfaithfulAnswerError
from faithguard.testing import ChatServer, TableVerifier
from faithguard_openai import AsyncGuardedOpenAI, GuardedOpenAI, guard

from .scene import BAD, DOC, FALLBACK, GOOD, async_client, client, run, system


def echo(messages: list[dict[str, Any]]) -> str:
    """Say what is asked for: each caller another thing."""
    return f"The ferry carries {messages[-1]['content']} cars."


def asking(number: int) -> list[dict[str, Any]]:
    """Return messages whose context knows one number, and ask for it or for another."""
    wanted = number if number % 3 else number + 1_000
    told = f"<document>The ferry carries {number} cars.</document>"
    return [{"role": "system", "content": told}, {"role": "user", "content": str(wanted)}]


def due(number: int) -> str:
    """Return what the caller is to get."""
    return f"The ferry carries {number} cars." if number % 3 else FALLBACK


def test_a_hundred_tasks_get_their_own_answers() -> None:
    """Whole ones and streams, on one client."""

    async def one(safe: AsyncGuardedOpenAI, number: int) -> str:
        body: dict[str, Any] = {"model": "m", "messages": asking(number)}
        if number % 2:
            completion = await safe.chat.completions.create(**body)
            return completion.choices[0].message.content or ""
        stream = await safe.chat.completions.create(stream=True, **body)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def all_() -> list[str]:
        with ChatServer(echo) as server:
            async with async_client(server) as inner:
                safe = guard(inner, domain="support", fallback=FALLBACK, sinks=[])
                return await asyncio.gather(*(one(safe, number) for number in range(100, 200)))

    assert run(all_()) == [due(number) for number in range(100, 200)]


def test_threads_get_their_own_answers() -> None:
    """Each with a context of its own, on clients that share one guard."""

    def one(number: int) -> str:
        twin = safe.with_context(f"The ferry carries {number} cars.")
        completion = twin.chat.completions.create(model="m", messages=asking(number))  # type: ignore[arg-type]
        return completion.choices[0].message.content or ""

    with ChatServer(echo) as server, client(server) as inner:
        safe = guard(inner, domain="support", fallback=FALLBACK, sinks=[])
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(one, range(100, 140)))

    assert answers == [due(number) for number in range(100, 140)]


@pytest.mark.parametrize("stream", [False, True])
def test_a_cancelled_call_leaves_nothing(stream: bool) -> None:
    """Neither a verdict nor a task; the next call is served."""
    reports: list[Report] = []
    started = threading.Event()

    def slow(messages: list[dict[str, Any]]) -> Any:
        started.set()
        return ("slow", BAD) if "wait" in str(messages) else GOOD

    async def cancelled() -> str | None:
        with ChatServer(slow, pause=0.2) as server:
            async with async_client(server) as inner:
                safe = guard(inner, domain="support", on_report=reports.append, sinks=[])

                async def ask(more: list[Any]) -> Any:
                    body: dict[str, Any] = {"model": "m", "messages": [*system(), *more]}
                    if not stream:
                        return (await safe.chat.completions.create(**body)).choices[0].message
                    chunks = await safe.chat.completions.create(stream=True, **body)
                    return [chunk.choices[0].delta async for chunk in chunks]

                task = asyncio.create_task(ask([{"role": "user", "content": "wait"}]))
                await asyncio.to_thread(started.wait, 10)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert reports == []
                assert len(asyncio.all_tasks()) == 1
                await ask([])
                return reports[0].exchange.answer

    assert run(cancelled()) == GOOD


def test_a_call_that_is_cancelled_while_it_is_verified_delivers_nothing() -> None:
    """The verdict may still come; the answer does not."""
    slow = Scorer(verifiers=[TableVerifier({"*": 0.9}, seconds=5)])

    async def cancelled() -> None:
        with ChatServer(lambda messages: BAD) as server:
            async with async_client(server) as inner:
                safe = guard(inner, domain="support", scorer=slow, sinks=[])
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await safe.chat.completions.create(model="m", messages=system())  # type: ignore[arg-type]

    run(cancelled())


def test_a_failing_verifier_blocks() -> None:
    """It fails closed, in whole answers and in streams."""
    broken = Scorer(verifiers=[TableVerifier({"*": RuntimeError("down")})])
    with ChatServer(lambda messages: GOOD) as server, client(server) as inner:
        safe = guard(inner, domain="support", scorer=broken, sinks=[])
        for options in ({}, {"stream": True}):
            with pytest.raises(UnfaithfulAnswerError):
                list(
                    safe.with_context(DOC).chat.completions.create(  # type: ignore[call-overload]
                        model="m", messages=system(), **options
                    )
                )


def test_an_answer_that_breaks_off_raises_as_without_a_guard() -> None:
    """The connection's fault is the SDK's to tell."""

    async def asked(guarded: bool) -> str:
        with ChatServer(lambda messages: GOOD, pause=0.3) as server:
            async with async_client(server, timeout=0.1) as inner:
                safe = guard(inner, sinks=[]) if guarded else inner
                try:
                    stream = await safe.chat.completions.create(  # type: ignore[call-overload]
                        model="m", messages=system(), stream=True
                    )
                    async for _ in stream:
                        pass
                except (openai.APITimeoutError, Exception) as error:
                    return type(error).__name__
        return "nothing"

    plain = run(asked(False))
    assert plain in ("ReadTimeout", "APITimeoutError")
    assert run(asked(True)) == plain


def test_clients_are_let_go() -> None:
    """A client for each context is no more than garbage afterwards."""
    with ChatServer(lambda messages: GOOD) as server, client(server) as inner:
        safe = guard(inner, domain="support", sinks=[])

        def ask() -> None:
            twin = safe.with_context(DOC)
            twin.chat.completions.create(model="m", messages=system())  # type: ignore[arg-type]

        ask()
        gc.collect()
        before = sum(type(o) is GuardedOpenAI for o in gc.get_objects())
        for _ in range(5):
            ask()
        gc.collect()
        assert sum(type(o) is GuardedOpenAI for o in gc.get_objects()) == before
