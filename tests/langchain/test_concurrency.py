"""Many callers at once, and runs that end badly: nothing is mixed up, nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from faithguard import Report, UnfaithfulAnswerError
from faithguard.capture import Assembler, Trace
from faithguard.replay import Replay
from faithguard.testing import Clock
from faithguard_langchain import FaithfulnessCallback, guard
from faithguard_langchain._call import Call
from faithguard_langchain._capture import Capture
from faithguard_langchain.testing import ScriptedChatModel

from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    PROMPT,
    QUESTION,
    TEXTS,
    TRUE,
    Chain,
    finds,
    in_threads,
    joined,
    says,
    text_chain,
    watcher,
)

RUNS = 200


def fact(n: int) -> str:
    """What is true of one dome, and stands in its passage only."""
    return f"Dome {n} is cleaned by the team Kestrel{n} with {n + 20} brushes."


def ask(n: int) -> str:
    """The question about one dome."""
    return f"Who cleans dome {n}?"


def number(messages: list[BaseMessage]) -> int:
    """The dome that a prompt asks about."""
    text = next(m.text for m in messages if m.type == "human")
    return int("".join(c for c in text if c.isdigit()))


class Domes(BaseRetriever):
    """Finds the passage of the dome that is asked about, after a moment."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        time.sleep(0.001)
        return [Document(fact(int("".join(c for c in query if c.isdigit()))))]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(0.001)
        return [Document(fact(int("".join(c for c in query if c.isdigit()))))]


def borrowing(messages: list[BaseMessage]) -> str:
    """For odd domes add what only the passage of the dome before says."""
    n = number(messages)
    return f"{fact(n)} {fact(n - 1)}" if n % 2 else fact(n)


def domes(model: Any = None) -> Chain:
    """The chain that all callers share."""
    fields = {"context": Domes() | joined, "question": RunnablePassthrough()}
    return fields | PROMPT | (model or ScriptedChatModel(reply=borrowing)) | StrOutputParser()


def in_tasks(work: list[Callable[[], Any]]) -> list[Any]:
    """Await coroutines at once."""

    async def run() -> list[Any]:
        return await asyncio.gather(*(job() for job in work), return_exceptions=True)

    return asyncio.run(run())


def check_own(n: int, report: Report) -> None:
    """Check that a report holds its own context and no other's."""
    exchange = report.exchange
    assert exchange.question == ask(n)
    assert [p.text for p in exchange.passages] == [fact(n)]
    assert exchange.answer.startswith(fact(n))
    assert (report.supported, report.total) == ((1, 2) if n % 2 else (1, 1))


async def drained(stream: AsyncIterator[Any]) -> str:
    """Return what a stream yields, as one text."""
    return "".join([chunk async for chunk in stream])


def test_one_watcher_keeps_two_hundred_runs_apart() -> None:
    """Threads and tasks, whole and streamed, at once: every report has its own run's parts."""
    watching, chain = watcher(keep=RUNS), domes()
    config: Any = {"callbacks": [watching]}
    threads = [lambda n=n: chain.invoke(ask(n), config) for n in range(50)]
    threads += [lambda n=n: list(chain.stream(ask(n), config)) for n in range(50, 100)]
    tasks = [lambda n=n: chain.ainvoke(ask(n), config) for n in range(100, 150)]
    tasks += [lambda n=n: drained(chain.astream(ask(n), config)) for n in range(150, 200)]
    both = in_threads([lambda: in_threads(threads), lambda: in_tasks(tasks)])
    assert all(isinstance(output, str | list) for outputs in both for output in outputs)
    assert watching.wait(60)
    assert len(watching.reports) == RUNS
    by_question = {report.exchange.question: report for report in watching.reports}
    for n in range(RUNS):
        check_own(n, by_question[ask(n)])
    assert_empty(watching)


@pytest.mark.parametrize("way", ["batch", "abatch"])
def test_one_watcher_keeps_the_items_of_a_batch_apart(way: str) -> None:
    """The same for the items of one batch."""
    watching, chain = watcher(keep=RUNS), domes()
    config: Any = {"callbacks": [watching]}
    questions = [ask(n) for n in range(40)]
    if way == "batch":
        chain.batch(questions, config)
    else:
        asyncio.run(chain.abatch(questions, config))
    assert watching.wait(60)
    by_question = {report.exchange.question: report for report in watching.reports}
    for n in range(40):
        check_own(n, by_question[ask(n)])
    assert_empty(watching)


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_one_guard_keeps_two_hundred_calls_apart(on_fail: Any) -> None:
    """A guard judges each answer by its own context: odd domes are held back, even ones pass."""
    guarded = guard(domes(), on_fail=on_fail, fallback=FALLBACK, sinks=[]).with_report()
    threads = [lambda n=n: guarded.invoke(ask(n)) for n in range(100)]
    tasks = [lambda n=n: guarded.ainvoke(ask(n)) for n in range(100, RUNS)]
    first, second = in_threads([lambda: in_threads(threads), lambda: in_tasks(tasks)])
    for n, reported in enumerate(first + second):
        assert reported.output == (FALLBACK if n % 2 else fact(n))
        attempts = reported.record.attempts
        assert len(attempts) == (2 if n % 2 and on_fail == "regenerate" else 1)
        for attempt in attempts:
            check_own(n, attempt.report)


def test_a_guard_and_a_watcher_in_one_chain_at_once() -> None:
    """A watcher around a guard sees what the caller got, for each of many callers."""
    watching = watcher(keep=RUNS)
    guarded = guard(domes(), fallback=FALLBACK, sinks=[])
    config: Any = {"callbacks": [watching]}
    in_threads([lambda n=n: guarded.invoke(ask(n), config) for n in range(60)])
    assert watching.wait(60)
    answers = {r.exchange.question: r.exchange.answer for r in watching.reports}
    assert answers == {ask(n): FALLBACK if n % 2 else fact(n) for n in range(60)}
    assert_empty(watching)


# -- runs that end badly ----------------------------------------------------------------------


def assert_empty(watching: FaithfulnessCallback) -> None:
    """Check that a watcher holds nothing of any run."""
    assert watching.wait(30)
    gc.collect()
    assert watching.open_runs == 0
    assembler = watching._assembler
    assert not assembler._roots
    assert not assembler._root_of
    assert not watching._watch._outbox.queue._jobs


def alive(kind: type) -> int:
    """Return how many objects of a type exist."""
    gc.collect()
    return sum(type(o) is kind for o in gc.get_objects())


def _raise(_: Any) -> Any:
    raise RuntimeError("down")


def _model_raises(messages: list[BaseMessage]) -> str:
    raise ConnectionError("no model")


def slow() -> ScriptedChatModel:
    """A model that takes its time between tokens."""
    return ScriptedChatModel(reply=lambda _: TRUE, pause=0.02)


class Late(BaseRetriever):
    """A retriever that is late."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        time.sleep(0.02)
        return [Document(text) for text in TEXTS]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(5)
        return []


FAILING: dict[str, Callable[[], Chain]] = {
    "retriever": lambda: text_chain(says(TRUE), RunnableLambda(_raise)),
    "model": lambda: text_chain(ScriptedChatModel(reply=_model_raises)),
    "parser": lambda: text_chain(says(TRUE)) | RunnableLambda(_raise),
}


@pytest.mark.parametrize("what", FAILING)
def test_failed_runs_leave_nothing(what: str) -> None:
    """After runs that raise, in every way, the watcher's containers are empty."""
    watching, chain = watcher(keep=1), FAILING[what]()
    config: Any = {"callbacks": [watching]}
    before = alive(Trace)

    def fails(run: Callable[[], Any]) -> None:
        with pytest.raises((RuntimeError, ConnectionError)):
            run()

    for _ in range(5):
        fails(lambda: chain.invoke(QUESTION, config))
        fails(lambda: list(chain.stream(QUESTION, config)))
        fails(lambda: chain.batch([QUESTION, QUESTION], config))
        fails(lambda: asyncio.run(chain.ainvoke(QUESTION, config)))
        fails(lambda: asyncio.run(drained(chain.astream(QUESTION, config))))
    assert watching.reports == ()
    assert_empty(watching)
    assert alive(Trace) <= before


def pausing(begun: asyncio.Event) -> Chain:
    """A step that tells that the run has come to it, and then takes long."""

    async def pause(value: Any) -> Any:
        begun.set()
        await asyncio.sleep(5)
        return value

    return RunnableLambda(lambda value: value, pause)


def breaking_off(where: str, begun: asyncio.Event) -> Chain:
    """A chain that takes long before the retriever, before the model, or between tokens."""
    if where == "tokens":
        model = ScriptedChatModel(reply=lambda _: begun.set() or TRUE, pause=5)  # type: ignore[func-returns-value]
        return text_chain(model)
    fetch: Any = finds(*TEXTS)
    if where == "retriever":
        return text_chain(says(TRUE), pausing(begun) | fetch)
    return text_chain(says(TRUE)) | pausing(begun)


async def _timed_out(work: Any, begun: asyncio.Event) -> None:
    """Await with a timeout that starts once the work is under way."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        waiter = asyncio.create_task(begun.wait())
        waiter.add_done_callback(lambda _: limit.reschedule(loop.time() + 0.01))
        await work


async def interrupted(where: str, how: str, config: Any) -> None:
    """Run a chain, and break it off once it is where it takes long."""
    begun = asyncio.Event()
    chain = breaking_off(where, begun)
    stream = how.startswith("stream") or where == "tokens"
    work = drained(chain.astream(QUESTION, config)) if stream else chain.ainvoke(QUESTION, config)
    if how.endswith("timeout"):
        with pytest.raises(TimeoutError):
            await _timed_out(work, begun)
        return
    task = asyncio.create_task(work)
    await begun.wait()
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("how", ["timeout", "cancel", "stream, timeout", "stream, cancel"])
@pytest.mark.parametrize("where", ["retriever", "tokens", "parser"])
def test_interrupted_runs_leave_nothing(how: str, where: str) -> None:
    """After timeouts and cancelled tasks, before and after the model, the containers are empty."""
    watching = watcher(keep=1)

    async def all_of_them() -> None:
        config = {"callbacks": [watching]}
        await asyncio.gather(*(interrupted(where, how, config) for _ in range(5)))

    asyncio.run(all_of_them())
    assert_empty(watching)
    assert watching.reports == ()


def test_abandoned_async_streams_leave_nothing() -> None:
    """A stream that is closed in the middle makes no report and leaves nothing."""
    watching, chain = watcher(keep=1), text_chain(slow())

    async def leave() -> None:
        for _ in range(5):
            stream = chain.astream(QUESTION, {"callbacks": [watching]})
            await anext(stream)
            await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(leave())
    assert_empty(watching)
    assert watching.reports == ()


def test_a_start_that_comes_after_the_end_of_its_root_leaves_nothing() -> None:
    """A start may be told late: handlers run in threads, and a cancelled task does not wait."""
    assembler = Assembler()
    assembler.start("root", None, "chain")
    assembler.start("child", "root", "chain")
    assembler.end("root")
    assembler.start("late", "child", "retriever")
    assembler.start("later", "root", "model")
    assert len(assembler) == 0


class Slow(BaseCallbackHandler):
    """Another handler of the user's, which takes its time."""

    def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        """Wait."""
        time.sleep(0.1)


def test_a_run_that_is_cancelled_while_it_starts_leaves_by_age() -> None:
    """LangChain tells of no end where a task is cancelled inside `on_chain_start`."""
    clock = Clock()
    watching = watcher()
    watching._assembler = Assembler(max_age=60, clock=clock)

    async def run() -> None:
        config: Any = {"callbacks": [watching, Slow()]}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(text_chain(says(TRUE)).ainvoke(QUESTION, config), 0.03)

    asyncio.run(run())
    clock.pass_(61)
    text_chain(says(TRUE)).invoke(QUESTION, {"callbacks": [watching]})
    assert_empty(watching)


def test_async_streams_that_nobody_closes_leave_nothing() -> None:
    """A stream left behind without `aclose` is gone once the loop has shut down."""
    watching, chain = watcher(keep=1), text_chain(slow())

    async def leave() -> None:
        for _ in range(5):
            stream = chain.astream(QUESTION, {"callbacks": [watching]})
            await anext(stream)

    asyncio.run(leave())
    assert_empty(watching)


@pytest.mark.parametrize("close", [True, False])
def test_sync_streams_that_are_left_leave_nothing(close: bool) -> None:
    """A sync stream that is closed early, or only forgotten, leaves nothing."""
    watching, chain = watcher(keep=1), text_chain(says(TRUE))
    for _ in range(5):
        stream: Iterator[Any] = chain.stream(QUESTION, {"callbacks": [watching]})
        next(stream)
        if close:
            stream.close()  # type: ignore[attr-defined]
        del stream
    assert_empty(watching)


def test_a_cancelled_model_that_is_called_directly_leaves_by_age() -> None:
    """LangChain does not tell of its end, so the next run after `max_age` sweeps it away."""
    clock = Clock()
    capture = Capture(Assembler(max_age=60, clock=clock))
    model = slow()

    async def cancelled() -> None:
        for _ in range(5):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(
                    model.ainvoke([HumanMessage(QUESTION)], {"callbacks": [capture]}), 0.005
                )

    before = alive(Trace)
    slow_generate = ScriptedChatModel(reply=lambda _: time.sleep(0.05) or TRUE)  # type: ignore[func-returns-value]
    model = slow_generate
    asyncio.run(cancelled())
    clock.pass_(61)
    says(TRUE).invoke([HumanMessage(QUESTION)], {"callbacks": [capture]})
    assert len(capture._assembler) == 0
    assert alive(Trace) <= before


def test_too_many_open_runs_push_out_the_oldest() -> None:
    """State is bounded in number too, and a run that was pushed out ends without an error."""
    assembler = Assembler(max_runs=10)
    for n in range(1_000):
        assembler.start(f"root{n}", None, "chain")
        assembler.start(f"child{n}", f"root{n}", "model")
    assert len(assembler) <= 30
    assert assembler.end("root0") is None


@pytest.mark.parametrize("roots", [1, 3])
def test_as_many_runs_as_are_allowed_do_not_push_each_other_out(roots: int) -> None:
    """With `max_runs` runs at once, the start of a child drops no root, least of all its own."""
    assembler = Assembler(max_runs=roots)
    for n in range(roots):
        assembler.start(f"root{n}", None, "chain")
    for n in range(roots):
        assembler.start(f"child{n}", f"root{n}", "model")
    assert all(assembler.is_root(f"root{n}") for n in range(roots))
    assert not any(assembler.is_root(f"child{n}") for n in range(roots))


def test_as_many_chains_as_the_watcher_holds_are_all_reported() -> None:
    """Ten chains at once, and room for ten: ten reports, each with its question and context."""
    watching = watcher(keep=RUNS)
    watching._assembler = Assembler(max_runs=10)
    barrier = threading.Barrier(10)

    def together(documents: list[Document]) -> str:
        barrier.wait(20)
        return joined(documents)

    chain = text_chain(says(TRUE), join=together)
    config: Any = {"callbacks": [watching]}
    in_threads([lambda n=n: chain.invoke(f"{QUESTION} {n}", config) for n in range(10)])
    assert watching.wait(30)
    asked = sorted(str(r.exchange.question) for r in watching.reports)
    assert asked == [f"{QUESTION} {n}" for n in range(10)]
    assert {r.exchange.context_source for r in watching.reports} == {"retrieval"}


def test_a_thousand_runs_of_all_kinds_leave_nothing() -> None:
    """Good, failed and cancelled runs on one watcher: 0 entries, no trace alive."""
    watching = watcher(keep=1)
    config: Any = {"callbacks": [watching]}
    before = alive(Trace)
    good, bad = says(TRUE), FAILING["model"]()

    async def one(n: int) -> None:
        if n % 4 == 0:
            await good.ainvoke([HumanMessage(QUESTION)], config)
        elif n % 4 == 1:
            with pytest.raises(ConnectionError):
                await bad.ainvoke(QUESTION, config)
        else:
            await interrupted("parser" if n % 4 == 2 else "tokens", "stream, cancel", config)

    async def run() -> None:
        for start in range(0, 1_000, 50):
            await asyncio.gather(*(one(n) for n in range(start, start + 50)))

    asyncio.run(run())
    assert_empty(watching)
    assert alive(Trace) <= before


# -- the guard's own state --------------------------------------------------------------------


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_a_guard_keeps_nothing_of_its_calls(on_fail: Any) -> None:
    """After passed, blocked, failed, timed-out and abandoned calls no state of a call is alive."""
    gc.collect()
    before = [alive(kind) for kind in (Trace, Replay, Call)]
    passing = guard(text_chain(says(TRUE)), on_fail=on_fail, sinks=[])
    blocking = guard(text_chain(says(BAD)), on_fail=on_fail, sinks=[])
    failing = guard(FAILING["model"](), on_fail=on_fail, sinks=[])
    waiting = guard(
        text_chain(ScriptedChatModel(reply=lambda _: TRUE), Late()), on_fail=on_fail, sinks=[]
    )

    async def interrupt() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(waiting.ainvoke(QUESTION), 0.02)
        stream = passing.astream(QUESTION)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    for _ in range(5):
        assert passing.invoke(QUESTION) == TRUE
        with pytest.raises(UnfaithfulAnswerError):
            blocking.invoke(QUESTION)
        with pytest.raises(ConnectionError):
            failing.invoke(QUESTION)
        asyncio.run(interrupt())
    assert [alive(kind) for kind in (Trace, Replay, Call)] == before


def test_cancelling_a_guarded_call_cancels_the_chain() -> None:
    """A cancelled guard stops the chain inside, and does not run on in the background."""
    log: list[str] = []

    async def wait(question: str) -> str:
        log.append("started")
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        log.append("ended")
        return HOURS

    async def plain(question: str) -> str:
        return await wait(question)

    guarded = guard(RunnableLambda(lambda q: HOURS, plain), sinks=[])

    async def run() -> None:
        task = asyncio.create_task(guarded.ainvoke(QUESTION))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert log == ["started", "cancelled"]


def test_the_lie_of_one_caller_does_not_reach_the_report_of_another() -> None:
    """Two chains with one watcher: the bad answer is reported once, with its own question."""
    watching = watcher(keep=RUNS)
    config: Any = {"callbacks": [watching]}
    good, bad = text_chain(says(TRUE)), text_chain(says(BAD))
    in_threads(
        [lambda n=n: (bad if n == 7 else good).invoke(f"{QUESTION} {n}", config) for n in range(40)]
    )
    assert watching.wait(30)
    lying = [r.exchange.question for r in watching.reports if LIE in r.exchange.answer]
    assert lying == [f"{QUESTION} 7"]
