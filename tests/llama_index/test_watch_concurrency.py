"""Many callers at once, and calls that end badly: nothing is mixed up, nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra: pip install '.[llama-index]'")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from faithguard import Report
from faithguard.capture import Trace
from faithguard_llama_index import Watcher, unwatch
from faithguard_llama_index.testing import ScriptedLLM

from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    LIE,
    QUESTION,
    TRUE,
    Shelf,
    asking,
    assert_empty,
    condense_chat,
    condense_plus_chat,
    context_chat,
    finds,
    in_threads,
    joined,
    only,
    questioning,
    says,
    watching,
)

RUNS = 100
CHATS = [(context_chat, RUNS), (condense_chat, 25), (condense_plus_chat, 25)]


pytestmark = pytest.mark.usefixtures("unwatched")


def fact(n: int) -> str:
    """What is true of one dome, and stands in its passage only."""
    return f"Dome {n} is cleaned by the team Kestrel{n} with {n + 20} brushes."


def ask(n: int) -> str:
    """The question about one dome."""
    return f"Who cleans dome {n}?"


def number(text: str) -> int:
    """The dome that a question asks about."""
    return int("".join(c for c in text if c.isdigit()))


class Domes(Shelf):
    """Finds the passage of the dome that is asked about, after a moment."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        time.sleep(0.001)
        return self._found(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0.001)
        return self._found(query_bundle)

    def _found(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=fact(number(query_bundle.query_str))))]


def borrowing(messages: list[ChatMessage]) -> str:
    """For odd domes add what only the passage of the dome before says."""
    asked = str(messages[-1].content).split("Who cleans")[-1].split("?")[0]
    n = number(asked)
    return f"{fact(n)} {fact(n - 1)}" if n % 2 else fact(n)


def answer(n: int) -> str:
    """What the model says about a dome."""
    return borrowing([ChatMessage(ask(n))])


def model(pause: float = 0.0) -> ScriptedLLM:
    """The model that all callers share."""
    return ScriptedLLM(reply=borrowing, pause=pause)


def check_own(watcher: Watcher, runs: int) -> None:
    """Check that each report holds its own context and no other's, and that nothing is left."""
    assert watcher.wait(60)
    assert len(watcher.reports) == runs
    by_question = {report.exchange.question: report for report in watcher.reports}
    for n in range(runs):
        check_one(n, by_question[ask(n)])
    assert_empty(watcher)


def check_one(n: int, report: Report) -> None:
    """Check one report."""
    assert [p.text for p in report.exchange.passages] == [fact(n)]
    assert report.exchange.answer == answer(n)
    assert report.exchange.context_source == "retrieval"
    assert (report.supported, report.total) == ((1, 2) if n % 2 else (1, 1))


@pytest.mark.parametrize("streaming", [False, True])
def test_a_hundred_queries_in_tasks_are_kept_apart(streaming: bool) -> None:
    """Every report has its own query's parts, whole and streamed."""
    watcher, engine = watching(keep=RUNS), asking(model(), streaming, Domes())

    async def one(n: int) -> str:
        response: Any = await engine.aquery(ask(n))
        return await joined(response.async_response_gen()) if streaming else str(response)

    async def run() -> list[str]:
        return await asyncio.gather(*(one(n) for n in range(RUNS)))

    assert asyncio.run(run()) == [answer(n) for n in range(RUNS)]
    check_own(watcher, RUNS)


@pytest.mark.parametrize("streaming", [False, True])
def test_queries_in_threads_are_kept_apart(streaming: bool) -> None:
    """The same in threads."""
    runs = 50
    watcher, engine = watching(keep=runs), asking(model(), streaming, Domes())
    got = in_threads([lambda n=n: str(engine.query(ask(n))) for n in range(runs)])
    assert got == [answer(n) for n in range(runs)]
    check_own(watcher, runs)


@pytest.mark.parametrize(("build", "runs"), CHATS)
def test_streamed_chats_in_threads_are_kept_apart(build: Any, runs: int) -> None:
    """Each chat's answer is written in a thread of LlamaIndex's own."""
    watcher, llm = watching(keep=RUNS), model()

    def one(n: int) -> str:
        return "".join(build(llm, Domes()).stream_chat(ask(n)).response_gen)

    assert in_threads([lambda n=n: one(n) for n in range(runs)]) == [answer(n) for n in range(runs)]
    check_own(watcher, runs)


@pytest.mark.parametrize(("build", "runs"), CHATS)
def test_streamed_chats_in_tasks_are_kept_apart(build: Any, runs: int) -> None:
    """Each chat's answer is written in a task of LlamaIndex's own."""
    watcher, llm = watching(keep=RUNS), model()

    async def one(n: int) -> str:
        response = await build(llm, Domes()).astream_chat(ask(n))
        await response.awrite_response_to_history_task  # its reader would wait 0.1 s at the end
        return str(response.response)

    async def run() -> list[str]:
        return await asyncio.gather(*(one(n) for n in range(runs)))

    assert asyncio.run(run()) == [answer(n) for n in range(runs)]
    check_own(watcher, runs)


def test_sub_questions_of_many_callers_are_kept_apart() -> None:
    """Engines in engines, in tasks of their own: one report for each caller."""
    watcher = watching(keep=RUNS)
    engine = questioning(says(TRUE), use_async=True)

    async def run() -> None:
        await asyncio.gather(*(engine.aquery(f"{QUESTION} {n}") for n in range(20)))

    asyncio.run(run())
    assert watcher.wait(30)
    asked = sorted(str(r.exchange.question) for r in watcher.reports)
    assert asked == sorted(f"{QUESTION} {n}" for n in range(20))
    assert_empty(watcher)


def test_the_lie_of_one_caller_does_not_reach_the_report_of_another() -> None:
    """Two engines with one watcher: the bad answer is reported once, with its own question."""
    watcher = watching(keep=RUNS)
    good, bad = asking(says(TRUE)), asking(says(BAD))
    in_threads([lambda n=n: (bad if n == 7 else good).query(f"{QUESTION} {n}") for n in range(40)])
    assert watcher.wait(30)
    lying = [r.exchange.question for r in watcher.reports if LIE in r.exchange.answer]
    assert lying == [f"{QUESTION} 7"]


# -- calls that end badly ---------------------------------------------------------------------


def alive(kind: type) -> int:
    """Return how many objects of a type exist."""
    gc.collect()
    return sum(type(o) is kind for o in gc.get_objects())


def _raise(_: Any) -> Any:
    raise ConnectionError("down")


class Down(Shelf):
    """A retriever that fails."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise ConnectionError("down")


class Late(Domes):
    """A retriever that is late."""

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(5)
        return []


def failing_in(what: str) -> tuple[Any, Any]:
    """A model and a retriever, of which one fails."""
    return (ScriptedLLM(reply=_raise), finds()) if what == "model" else (says(TRUE), Down())


@pytest.mark.parametrize("what", ["model", "retriever"])
def test_failed_calls_leave_nothing(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After calls that raise, in every way, no state of them is alive."""
    # pytest keeps the errors of threads, and with them all that their frames hold
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    watcher, before = watching(keep=1), alive(Trace)
    llm, retriever = failing_in(what)

    def fails(run: Callable[[], Any]) -> None:
        with pytest.raises(ConnectionError):
            run()

    async def streamed() -> None:
        await joined((await asking(llm, True, retriever).aquery(QUESTION)).async_response_gen())

    async def chatted() -> None:
        response = await context_chat(llm, retriever).astream_chat(QUESTION)
        await joined(response.async_response_gen())

    for _ in range(2):
        fails(lambda: asking(llm, False, retriever).query(QUESTION))
        fails(lambda: str(asking(llm, True, retriever).query(QUESTION)))
        fails(lambda: asyncio.run(asking(llm, False, retriever).aquery(QUESTION)))
        fails(lambda: asyncio.run(streamed()))
        for build in CHAT_ENGINES.values():
            if build is not CHAT_ENGINES["simple"]:
                fails(lambda build=build: build(llm, retriever).chat(QUESTION))
                fails(lambda build=build: list(_stream(build(llm, retriever))))
        fails(lambda: asyncio.run(chatted()))
    assert_empty(watcher)
    assert watcher.reports == ()
    assert alive(Trace) <= before


def _stream(engine: Any) -> Iterator[str]:
    return engine.stream_chat(QUESTION).response_gen  # type: ignore[no-any-return]


def slow(pause: float = 0.02) -> ScriptedLLM:
    """A model that takes its time between tokens."""
    return says(TRUE, pause=pause)


CALLS: dict[str, Callable[..., Any]] = {
    "aquery": lambda llm, retriever: _aquery(asking(llm, False, retriever)),
    "aquery, streamed": lambda llm, retriever: _aquery(asking(llm, True, retriever)),
    "achat": lambda llm, retriever: context_chat(llm, retriever).achat(QUESTION),
    "astream_chat": lambda llm, retriever: _astream(context_chat(llm, retriever)),
    "sub-questions": lambda llm, retriever: questioning(llm).aquery(QUESTION),
}


async def _aquery(engine: Any) -> str:
    response = await engine.aquery(QUESTION)
    gen = getattr(response, "async_response_gen", None)
    return await joined(gen()) if gen else str(response)


async def _astream(engine: Any) -> str:
    return await joined((await engine.astream_chat(QUESTION)).async_response_gen())


@pytest.mark.parametrize("how", ["timeout", "cancel"])
@pytest.mark.parametrize("where", ["retriever", "model"])
@pytest.mark.parametrize("call", CALLS)
def test_interrupted_calls_leave_nothing(call: str, where: str, how: str) -> None:
    """After timeouts and cancelled tasks nothing is held and nothing is reported.

    But for a chat whose answer is being written: LlamaIndex writes it to its end all the same.
    """
    watcher, before = watching(keep=1), alive(Trace)
    goes_on = call == "astream_chat" and where == "model"

    async def interrupted() -> None:
        retriever = Late() if where == "retriever" else finds()
        work = CALLS[call](slow(0.01 if goes_on else 5.0), retriever)
        if how == "timeout":
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(work, 0.02)
            return
        task = asyncio.create_task(work)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def run() -> None:
        await asyncio.gather(*(interrupted() for _ in range(3)))

    asyncio.run(run())
    assert_empty(watcher)
    assert len(watcher.reports) == (1 if goes_on else 0)
    assert alive(Trace) <= before


@pytest.mark.parametrize("call", CALLS)
def test_calls_cancelled_at_any_moment_leave_nothing(call: str) -> None:
    """Fifteen tasks, each cancelled at a moment of its own; what was answered may be reported."""
    watcher, before, rng = watching(keep=1), alive(Trace), random.Random(call)

    async def one() -> None:
        task = asyncio.create_task(CALLS[call](slow(0.0005), finds()))
        await asyncio.sleep(rng.uniform(0.0, 0.06))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def run() -> None:
        await asyncio.gather(*(one() for _ in range(15)))

    asyncio.run(run())
    assert_empty(watcher)
    del watcher
    unwatch()
    assert alive(Trace) <= before


LEAVING = ["closed", "dropped", "never read", "read, but not to the end"]


@pytest.mark.parametrize("how", LEAVING)
def test_streamed_queries_that_are_left_leave_nothing(how: str) -> None:
    """A stream that is closed early, forgotten or never read makes no report."""
    # the framework holds on to the first stream of a process, whoever watches
    assert list(asking(says(TRUE), True).query(QUESTION).response_gen)
    watcher, engine = watching(keep=1), asking(says(TRUE), True)
    for _ in range(5):
        stream: Any = engine.query(QUESTION).response_gen
        if how != "never read":
            next(stream)
        if how == "closed":
            stream.close()
        if how == "read, but not to the end":
            for _ in range(len(TRUE.split()) - 1):
                next(stream)
        del stream
    assert_empty(watcher)
    assert watcher.reports == ()


@pytest.mark.parametrize("how", LEAVING)
def test_async_streamed_queries_that_are_left_leave_nothing(how: str) -> None:
    """The same of async streams, whose loop shuts them down."""
    watcher, engine = watching(keep=1), asking(says(TRUE), True)

    async def leave() -> None:
        for _ in range(5):
            stream: Any = (await engine.aquery(QUESTION)).response_gen
            if how != "never read":
                await anext(stream)
            if how == "closed":
                await stream.aclose()
            if how == "read, but not to the end":
                for _ in range(len(TRUE.split()) - 1):
                    await anext(stream)

    asyncio.run(leave())
    assert_empty(watcher)
    assert watcher.reports == ()


def test_closing_a_stream_closes_the_models_stream() -> None:
    """A caller who stops reading stops the model, as without the watcher."""
    log: list[str] = []

    class Tokens(ScriptedLLM):
        """A model that tells when its stream is closed."""

        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            """Stream."""

            def tokens() -> Iterator[Any]:
                try:
                    yield from super(Tokens, self).stream_chat(messages)
                finally:
                    log.append("closed")

            return tokens()

    watcher = watching()
    stream: Any = asking(Tokens(reply=lambda _: TRUE), True).query(QUESTION).response_gen
    next(stream)
    stream.close()
    assert log == ["closed"]
    assert_empty(watcher)


def test_chats_whose_caller_has_gone_leave_nothing() -> None:
    """LlamaIndex writes their answers on, and each is reported: it stands in the memory."""
    watcher = watching(keep=10)
    threads = []
    for _ in range(5):
        response = context_chat(says(TRUE)).stream_chat(QUESTION)
        threads.append(response.write_response_to_history_thread)
        next(response.response_gen)
        del response
    for thread in threads:
        thread.join(10)
    assert_empty(watcher)
    assert len(watcher.reports) == 5


def test_async_chats_whose_loop_ends_leave_nothing() -> None:
    """A loop that ends cancels the task that writes the answer: no report, and no state."""
    watcher, before = watching(keep=1), alive(Trace)

    async def leave() -> None:
        for _ in range(5):
            await context_chat(slow(1.0)).astream_chat(QUESTION)

    asyncio.run(leave())
    assert_empty(watcher)
    assert watcher.reports == ()
    assert alive(Trace) <= before


def test_a_stream_in_a_loop_that_was_never_shut_down_leaves_nothing() -> None:
    """A loop that is stopped in the middle of a token, and thrown away with its tasks."""
    watcher = watching(keep=1)
    loop = asyncio.new_event_loop()
    task = loop.create_task(CALLS["aquery, streamed"](slow(0.01), finds()))
    loop.call_later(0.05, loop.stop)
    loop.run_forever()
    loop.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    del task, loop
    assert_empty(watcher)
    assert watcher.reports == ()


def test_hundreds_of_calls_of_all_kinds_leave_nothing() -> None:
    """Good, failed, cancelled and abandoned calls on one watcher: 0 entries, no trace alive."""
    watcher, before = watching(keep=1), alive(Trace)
    good, bad = asking(says("Yes.")), asking(ScriptedLLM(reply=_raise))
    streaming, late = asking(says("Yes, it is."), True), asking(slow(5.0))

    async def one(n: int) -> None:
        if n % 4 == 0:
            await good.aquery(QUESTION)
        elif n % 4 == 1:
            with pytest.raises(ConnectionError):
                await bad.aquery(QUESTION)
        elif n % 4 == 2:
            stream = (await streaming.aquery(QUESTION)).response_gen
            await anext(stream)
        else:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(late.aquery(QUESTION), 0.01)

    async def run() -> None:
        for start in range(0, 200, 100):
            await asyncio.gather(*(one(n) for n in range(start, start + 100)))

    asyncio.run(run())
    assert_empty(watcher)
    assert alive(Trace) <= before + 1  # the last report's may still be in the worker's hands


FORK = """
import os, sys
from faithguard_llama_index import watch
from tests.llama_index.watch_scene import QUESTION, TRUE, BAD, asking, context_chat, says

watcher = watch(sinks=[])
asking(says(TRUE)).query(QUESTION)
assert watcher.wait(30)
open_stream = asking(says(BAD), True).query(QUESTION).response_gen
next(open_stream)
child = os.fork()
answer = BAD if child == 0 else TRUE
asking(says(answer)).query(QUESTION)
"".join(context_chat(says(answer)).stream_chat(QUESTION).response_gen)
assert watcher.wait(30)
made = [r.exchange.answer for r in watcher.reports][1:]
assert made == [answer, answer], made
assert watcher.open_runs == (0 if child == 0 else 2), watcher.open_runs
if child == 0:
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_watches_on_its_own() -> None:
    """As under a server that forks its workers: each reports on its own calls."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == ("done", 0), done.stderr


def test_a_watcher_that_is_replaced_while_others_ask_loses_no_answer_of_later_calls() -> None:
    """Watching anew in the middle of many calls breaks none of them, and leaves nothing."""
    first = watching(keep=RUNS)
    engine = asking(slow(0.0005))
    watchers = [first]

    def one(n: int) -> str:
        if n == 20:
            watchers.append(watching(keep=RUNS, domain="legal"))
        return str(engine.query(f"{QUESTION} {n}"))

    assert in_threads([lambda n=n: one(n) for n in range(40)], 8) == [TRUE] * 40
    for watcher in watchers:
        assert_empty(watcher)
    assert 20 <= sum(len(w.reports) for w in watchers) <= 40
    engine.query(QUESTION)
    assert watchers[1].wait(30)
    assert watchers[1].reports[-1].exchange.question == QUESTION


def test_a_report_that_waits_holds_no_call_open() -> None:
    """A call is over when its answer is there, not when it is judged."""
    watcher = watching(sinks=[lambda record: time.sleep(0.2)])
    asking(says(TRUE)).query(QUESTION)
    assert watcher.open_runs == 0
    assert only(watcher).exchange.answer == TRUE
