"""Threads, tasks, event loops, limits and deadlines."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar, cast

import pytest

from faithguard import Exchange, Judge, JudgeError, Passage, Report, Scorer, VerdictCache, check
from faithguard._judges import completion
from faithguard._loopback import LoopbackServer
from faithguard.chat import BorrowedChat, Completion, Message, OpenAIChat
from faithguard.chat._slots import Slots
from faithguard.testing import JudgeServer, check_verifier, honest
from tests.judge.scene import ANSWER, MADE_UP, PASSAGES, RIGHT, alone, exchange, judge, labels


def answers(count: int) -> list[str]:
    """Return answers that differ, each with a claim of its own."""
    return [f"{MADE_UP} Room {n} has {n + 2} chairs." for n in range(count)]


def texts(report: Report) -> str:
    """Return the answer that a report is about."""
    return report.exchange.answer


def in_tasks(scorer: Scorer, count: int) -> list[Report]:
    """Score at once, in tasks of one loop."""

    async def run() -> list[Report]:
        return await asyncio.gather(*(scorer.ascore(exchange(a)) for a in answers(count)))

    return asyncio.run(run())


def in_threads(scorer: Scorer, count: int) -> list[Report]:
    """Score at once, in threads."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(scorer.score, map(exchange, answers(count))))


@pytest.mark.parametrize(("ways", "count"), [(in_tasks, 100), (in_threads, 40)])
def test_many_answers_at_once_keep_their_order_and_the_limit(
    ways: Callable[[Scorer, int], list[Report]], count: int
) -> None:
    """Never more than eight calls are in flight, and each answer gets its own report."""
    with JudgeServer(honest(), seconds=0.01) as server:
        reports = ways(alone(server), count)

    assert [texts(report) for report in reports] == answers(count)
    assert {report.outcome for report in reports} == {"scored"}
    assert 2 <= server.at_once <= 8


def test_three_loops_in_a_row() -> None:
    """Each has its own connections, closed before it ends; nothing is left behind."""
    clients: list[Any] = []
    with JudgeServer(honest()) as server:
        made = judge(server)
        chat: Any = made.chat
        scorer = Scorer(verifiers=[made], cache=None)

        async def run() -> Report:
            report = await scorer.ascore(exchange())
            clients.append(await chat._async())
            return report

        reports = [asyncio.run(run()) for _ in range(3)]

    assert [labels(report) for report in reports] == [RIGHT] * 3
    assert len({id(client) for client in clients}) == 3
    assert all(client.is_closed() for client in clients)
    assert len(chat._clients) == 0
    assert chat.in_flight == 0


def test_a_blocking_call_inside_a_running_loop() -> None:
    """No loop is started, so none is in the way."""
    with JudgeServer(honest()) as server:
        scorer = Scorer(verifiers=[judge(server)])

        async def run() -> Report:
            return check(ANSWER, PASSAGES, scorer=scorer)

        report = asyncio.run(run())

    assert (report.supported, report.usage.calls) == (2, 1)


def test_loops_in_threads_share_the_limit() -> None:
    """Three loops and a blocking thread at once, through one judge."""
    with JudgeServer(honest(), seconds=0.02) as server:
        scorer = Scorer(verifiers=[judge(server, max_in_flight=3)], cache=None)

        async def some() -> list[Report]:
            return await asyncio.gather(*(scorer.ascore(exchange()) for _ in range(6)))

        with ThreadPoolExecutor(4) as pool:
            loops = [pool.submit(asyncio.run, some()) for _ in range(3)]
            blocking = pool.submit(scorer.score, exchange())
            found = [report for loop in loops for report in loop.result()] + [blocking.result()]

    assert [labels(report) for report in found] == [RIGHT] * 19
    assert server.at_once <= 3


def test_a_cancelled_check_leaves_nothing() -> None:
    """Neither a turn that is held nor a place in the queue."""
    with JudgeServer(honest(), seconds=0.3) as server:
        made = judge(server, max_in_flight=2)
        scorer = Scorer(verifiers=[made], cache=None)
        chat: Any = made.chat

        async def run() -> Report:
            tasks = [asyncio.create_task(scorer.ascore(exchange())) for _ in range(6)]
            await asyncio.sleep(0.1)
            for task in tasks:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(one, asyncio.CancelledError) for one in done)
            assert chat.in_flight == 0
            return await scorer.ascore(exchange())

        report = asyncio.run(run())

    assert labels(report) == RIGHT
    assert chat.in_flight == 0


@pytest.mark.parametrize("fault", ["error 503", "busy", "too late"])
def test_the_deadline_is_for_all_attempts(fault: str) -> None:
    """However often a server may be asked again, and however late it answers."""
    with JudgeServer(honest(), fault) as server:
        made = judge(server, timeout=0.4, retries=10_000)
        for run in (alone_score, alone_ascore):
            asked = len(server.requests)
            report = run(made)
            assert report.outcome == "failed"
            assert len(server.requests) - asked < 10_000


class Stubborn(LoopbackServer):
    """A server that keeps a client busy without ever answering.

    Args:
        piece: What it sends again and again; b"" to send the client to itself.
    """

    root = "/v1"

    def __init__(self, piece: bytes) -> None:
        super().__init__()
        self._piece = piece
        self.left = threading.Event()
        """Whether a client has gone away."""

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if not self._piece:
            time.sleep(0.05)
            handler.send_response(307)
            handler.send_header("location", handler.path)
            handler.send_header("content-length", "0")
            handler.end_headers()
            return
        try:
            if b"102" not in self._piece:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                handler.wfile.write(self._piece)
                time.sleep(0.02)
        except OSError:
            self.left.set()
            handler.close_connection = True


@pytest.mark.parametrize(
    "piece",
    [b"x-more: 1\r\n", b"HTTP/1.1 102 Processing\r\n\r\n", b""],
    ids=["headers", "102", "redirects"],
)
def test_a_server_that_never_begins_to_answer_is_left(piece: bytes) -> None:
    """In time, by blocking callers and tasks alike; neither a turn nor a connection is kept."""
    with Stubborn(piece) as server:
        chat = OpenAIChat("any", server.url, "none", retries=0)
        for run in (alone_score, alone_ascore):
            report = run(Judge(chat, timeout=0.4))
            assert {failure.kind for failure in report.failures} == {"timeout"}
            assert chat.in_flight == 0
            assert not piece or server.left.wait(10.0)
            server.left.clear()


@pytest.mark.parametrize("run", [0, 1])
def test_a_few_packed_bytes_are_not_unpacked_to_gigabytes(run: int) -> None:
    """What is too much is noticed as it is unpacked; a packed reply of a usual size is read."""

    def packed(size: int) -> Callable[[Any], Any]:
        def send(call: Any) -> Any:
            raw = completion(call.text)
            body = json.dumps(raw.body).encode() + b" " * size
            return replace(raw, body=gzip.compress(body), headers={"content-encoding": "gzip"})

        return send

    score = (alone_score, alone_ascore)[run]
    with JudgeServer(honest(), [packed(50_000_000), packed(1_000)]) as server:
        made = judge(server, retries=0)
        large, usual = score(made), score(made)

    assert {failure.kind for failure in large.failures} == {"unparsable"}
    assert any("8,000,000" in failure.message for failure in large.failures)
    assert labels(usual) == RIGHT


def alone_score(made: Judge) -> Report:
    """Score by a judge alone, blocking."""
    return Scorer(verifiers=[made], cache=None).score(exchange())


def alone_ascore(made: Judge) -> Report:
    """Score by a judge alone, awaiting."""
    return asyncio.run(Scorer(verifiers=[made], cache=None).ascore(exchange()))


class Noted(Completion):
    """A reply that notes in which thread it is read."""

    threads: ClassVar[set[int]] = set()

    @property
    def declined(self) -> bool:
        """Whether the model declined, as in any reply."""
        self.threads.add(threading.get_ident())
        return super().declined


class Says:
    """A model that says one thing, or raises it."""

    name = "says"

    def __init__(self, said: Any) -> None:
        self.said = said

    def complete(self, messages: Sequence[Message], **_: Any) -> Any:
        """Say it."""
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    async def acomplete(self, messages: Sequence[Message], **_: Any) -> Any:
        """Say it."""
        return self.complete(messages)


class Waits(Says):
    """A model of which the first call breaks, and the others never end."""

    def __init__(self, said: BaseException) -> None:
        super().__init__(said)
        self.calls = 0

    async def acomplete(self, messages: Sequence[Message], **_: Any) -> Any:
        """Break once, wait otherwise."""
        self.calls += 1
        if self.calls == 1:
            await asyncio.sleep(0)
            raise self.said
        await asyncio.sleep(3_600)


@pytest.mark.parametrize(
    "settings", [{"votes": 3}, {"claims": "extracted", "splits": 3}], ids=["votes", "splits"]
)
@pytest.mark.parametrize("said", [RuntimeError("no"), asyncio.CancelledError()])
def test_what_is_asked_at_once_ends_at_once(settings: dict[str, Any], said: BaseException) -> None:
    """A call that breaks leaves no other behind; a model's own cancellation is a failure."""

    async def run() -> tuple[Report, int]:
        scorer = Scorer(verifiers=[Judge(Waits(said), **settings)], cache=None)
        return await scorer.ascore(exchange()), len(asyncio.all_tasks())

    report, tasks = asyncio.run(run())

    assert report.outcome == "failed"
    assert {failure.kind for failure in report.failures} == {"error"}
    assert tasks == 1


@pytest.mark.parametrize("score", [0, 1])
def test_a_borrowed_model_that_cancels_itself_has_failed(score: int) -> None:
    """Nobody else cancelled, so nobody else ends."""

    def ask(messages: Sequence[Message]) -> Completion:
        raise asyncio.CancelledError

    async def aask(messages: Sequence[Message]) -> Completion:
        raise asyncio.CancelledError

    report = (alone_score, alone_ascore)[score](Judge(BorrowedChat("own", ask, aask)))

    assert {failure.kind for failure in report.failures} == {"error"}


def test_loops_that_end_without_telling_leave_one_client_at_most() -> None:
    """Those of closed loops go when another loop comes."""
    with JudgeServer(honest()) as server:
        made = judge(server)
        chat: Any = made.chat
        scorer = Scorer(verifiers=[made], cache=None)
        for _ in range(3):
            loop = asyncio.new_event_loop()
            assert labels(loop.run_until_complete(scorer.ascore(exchange()))) == RIGHT
            loop.close()
            assert len(chat._clients) == 1
        asyncio.run(scorer.ascore(exchange()))

    assert len(chat._clients) == 0


def test_nobody_waits_for_a_loop_that_has_stopped() -> None:
    """What a task in it was finding out is found out anew."""
    cache = VerdictCache()
    loop = asyncio.new_event_loop()

    async def take() -> Any:
        return cache.take([("key",)], blocking=False)

    try:
        first = loop.run_until_complete(take())
        second = cache.take([("key",)], blocking=True)
    finally:
        loop.close()

    assert (first.mine, second.alone, second.others) == ([("key",)], [("key",)], {})


def test_a_reply_is_read_beside_the_event_loop() -> None:
    """It may be long, and so may what its quotes are looked for in."""
    alone_ascore(Judge(Says(Noted(text="{}"))))

    assert Noted.threads
    assert threading.get_ident() not in Noted.threads


@pytest.mark.parametrize(
    "said", [None, "supported", Completion(text=cast(Any, None)), RuntimeError("The sauna opens")]
)
def test_a_model_of_ones_own_may_break(said: object) -> None:
    """Every claim is a failure that says so, and nothing of what it was about."""
    for run in (alone_score, alone_ascore):
        report = run(Judge(Says(said)))
        assert report.outcome == "failed"
        assert {failure.kind for failure in report.failures} == {"error"}
        assert not any("sauna" in failure.message for failure in report.failures)


@pytest.mark.parametrize("mode", ["local", "extracted", "together"])
@pytest.mark.parametrize("answer", ["", " \n ", "...", "Thank you!"])
def test_what_says_nothing_is_not_asked_about(mode: str, answer: str) -> None:
    """There is no claim, so there is no call for a verdict, and no score."""
    with JudgeServer(honest()) as server:
        report = alone(server, claims=mode).score(exchange(answer))

    assert report.outcome == "no_claims"
    assert all(asked.form != "verdicts" for asked in server.asked)


def test_no_context_is_not_asked_about() -> None:
    """Nor one of blanks; a fact then has nothing that could say it."""
    with JudgeServer(honest()) as server:
        for passages in ((), (Passage(text=" \n"),)):
            report = alone(server).score(Exchange(id="e", answer=ANSWER, passages=passages))
            assert report.supported == 0
            assert not report.decide("support").passed


def test_both_drivers_say_the_same() -> None:
    """`score` and `ascore` return equal reports, but for the time."""
    with JudgeServer(honest()) as server:
        made = judge(server)
        one, other = alone_score(made), alone_ascore(made)

    assert one.claims == other.claims
    assert one.usage.calls == other.usage.calls == 1


def test_the_judge_is_a_verifier() -> None:
    """It passes the suite of every verifier, hostile text included."""
    with JudgeServer(honest()) as server:
        check_verifier(judge(server))


def test_what_a_cache_knows_is_not_asked() -> None:
    """The same claims in the same context cost nothing; another judge is asked."""
    with JudgeServer(honest()) as server:
        scorer = alone(server)
        first, second = scorer.score(exchange()), scorer.score(exchange())
        other = judge(server, rubric="Times within five minutes are supported.")

    assert (first.usage.calls, second.usage.calls) == (1, 0)
    assert second.usage.cached == 4
    assert first.usage.input_tokens > 0
    assert first.usage.output_tokens > 0
    assert other.name != scorer.verifiers[0].name


# Turns ----------------------------------------------------------------------------------------


def test_turns_come_in_order() -> None:
    """Who asked first goes first, threads and tasks alike."""
    slots, order = Slots(1), list[str]()

    def thread(name: str) -> None:
        with slots.slot(5.0):
            order.append(name)

    async def run() -> None:
        async def task(name: str) -> None:
            async with slots.aslot():
                order.append(name)

        waiting: list[Any] = []
        with slots.slot(1.0):
            for n in range(3):
                begun = threading.Thread(target=thread, args=(f"thread {n}",))
                begun.start()
                waiting.append(begun)
                await asyncio.sleep(0.03)
                waiting.append(asyncio.create_task(task(f"task {n}")))
                await asyncio.sleep(0.01)
        await asyncio.gather(*waiting[1::2])
        await asyncio.to_thread(lambda: [one.join() for one in waiting[::2]])

    asyncio.run(run())

    assert order == ["thread 0", "task 0", "thread 1", "task 1", "thread 2", "task 2"]
    assert slots.taken == 0


def test_a_turn_that_does_not_come_in_time() -> None:
    """The place in the queue is given up."""
    slots = Slots(1)
    with slots.slot(1.0), pytest.raises(TimeoutError), slots.slot(0.02):
        pass
    with slots.slot(0.02):
        assert slots.taken == 1
    assert slots.taken == 0


def test_a_turn_that_comes_as_its_task_is_cancelled_is_handed_on() -> None:
    """Cancelling between the granting and the waking loses nothing."""

    async def run() -> None:
        slots = Slots(1)

        async def hold() -> None:
            async with slots.aslot():
                await asyncio.sleep(5)

        with slots.slot(1.0):
            task = asyncio.create_task(hold())
            await asyncio.sleep(0.01)
        task.cancel()  # the turn has come, the task does not know it yet
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slots.taken == 0

    asyncio.run(run())


# Waits ----------------------------------------------------------------------------------------


def test_a_busy_server_is_left_alone_as_long_as_it_asks() -> None:
    """Retry-After is kept to; without one the wait is a random share of what it could be."""
    from faithguard.chat._attempts import Attempts, Refused, Retries
    from faithguard.chat._server import Server

    def wait(headers: dict[str, str], status: int = 429, tries: int = 1) -> float:
        retries = Retries(most=9, random=lambda: 0.5, clock=lambda: 0.0, now=lambda: 784111777.0)
        attempts = Attempts(Server(), {}, schema=None, retries=retries, deadline=100.0)
        return [attempts.failed(Refused(status, {}, headers)) for _ in range(tries)][-1]

    assert wait({"Retry-After": "7"}) == 7.25
    assert wait({"retry-after": "Sun, 06 Nov 1994 08:49:47 GMT"}) == 10.25
    assert wait({"retry-after-ms": "1500", "retry-after": "9"}) == 1.75
    assert wait({"retry-after": "soon"}) == 0.25
    assert [wait({}, 503, tries) for tries in (1, 2, 3, 8)] == [0.25, 0.5, 1.0, 10.0]
    with pytest.raises(JudgeError) as held:
        wait({"retry-after": "101"})
    assert held.value.kind == "unavailable"


def test_a_client_of_the_users() -> None:
    """Its server and key are used, blocking and awaiting; the SDK's retries are off."""
    import openai

    with JudgeServer(honest(), ["error 500", None]) as server:
        chat = OpenAIChat("any", client=openai.OpenAI(base_url=server.url, api_key="k"), retries=1)
        report = alone_score(Judge(chat))
        again = alone_ascore(Judge(chat))

        async def own() -> Report:
            async with openai.AsyncOpenAI(base_url=server.url, api_key="k") as client:
                made = Judge(OpenAIChat("any", async_client=client))
                return await Scorer(verifiers=[made]).ascore(exchange())

        third = asyncio.run(own())

    assert [labels(one) for one in (report, again, third)] == [RIGHT] * 3
    assert len(server.requests) == 4


def test_azure() -> None:
    """Its client goes by deployments and versions; the judge need not know."""
    import openai

    with JudgeServer(honest()) as server:
        client = openai.AzureOpenAI(
            azure_endpoint=server.url.removesuffix("/v1"), api_key="k", api_version="2024-10-21"
        )
        report = alone_score(Judge(OpenAIChat("deployed", client=client)))

    assert labels(report) == RIGHT


def test_messages_are_plain() -> None:
    """A model can be asked directly."""
    with JudgeServer(honest(), [lambda call: _said("Hello.")]) as server:
        chat = OpenAIChat("any", server.url)
        data = 'DATA x\n{"statements": []}\nEND x'
        said = chat.complete(
            [Message("user", data)], schema=None, max_tokens=5, deadline=time.monotonic() + 5
        )

    assert said.text == "Hello."


def _said(text: str) -> Any:
    return completion(text)
