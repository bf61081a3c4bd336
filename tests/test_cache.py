"""The verdict cache: asked once by all, kept within bounds, and nobody left waiting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from faithguard import Passage, Report, Scorer, VerdictCache, VerifierError, acheck, check
from faithguard.testing import TableVerifier
from faithguard.types import Claim, Failure
from faithguard.verifiers import Context, Finding

ANSWER = "The quarry yields slate. The crane lifts two tonnes."
CLAIMS = ["The quarry yields slate.", "The crane lifts two tonnes."]
CONTEXT = "The quarry yields slate and little else."
PATIENCE = 20.0
"""Seconds after which a test says that somebody hangs."""


def slow(seconds: float = 0.3) -> TableVerifier:
    """Return a verifier that takes its time."""
    return TableVerifier({CLAIMS[0]: 1.0, "*": 0.0}, seconds=seconds)


def ask(scorer: Scorer, context: str = CONTEXT) -> Report:
    """Check the quarry's answer."""
    return check(ANSWER, context, scorer=scorer)


def test_a_second_check_asks_nobody() -> None:
    """Known verdicts are used again, and the report counts them."""
    table = slow(0)
    scorer = Scorer(verifiers=[table])
    first, second = ask(scorer), ask(scorer)

    assert table.asked == CLAIMS
    assert (first.usage.cached, second.usage.cached) == (0, 2)
    assert first.claims == second.claims


def test_ten_threads_ask_once() -> None:
    """Ten checks of one answer at once cost one."""
    table = slow()
    scorer = Scorer(verifiers=[table])
    with ThreadPoolExecutor(10) as pool:
        reports = list(pool.map(lambda _: ask(scorer), range(10)))

    assert sorted(table.asked) == sorted(CLAIMS)
    assert {(report.supported, report.total) for report in reports} == {(1, 2)}


def test_ten_tasks_ask_once() -> None:
    """So do ten tasks of one event loop."""
    table = slow()
    scorer = Scorer(verifiers=[table])

    async def run() -> list[Report]:
        return await asyncio.gather(*(acheck(ANSWER, CONTEXT, scorer=scorer) for _ in range(10)))

    reports = asyncio.run(run())

    assert sorted(table.asked) == sorted(CLAIMS)
    assert {(report.supported, report.total) for report in reports} == {(1, 2)}


def test_threads_and_tasks_together_ask_once() -> None:
    """Threads, tasks, and tasks of a second event loop wait for each other."""
    table = slow(0.5)
    scorer = Scorer(verifiers=[table])

    async def run() -> list[Report]:
        tasks = [acheck(ANSWER, CONTEXT, scorer=scorer) for _ in range(4)]
        return await asyncio.gather(*tasks, *(asyncio.to_thread(ask, scorer) for _ in range(4)))

    with ThreadPoolExecutor(4) as pool:
        loops = [pool.submit(asyncio.run, run()) for _ in range(2)]
        threads = [pool.submit(ask, scorer) for _ in range(2)]
        reports = [r for loop in loops for r in loop.result(PATIENCE)]
        reports += [thread.result(PATIENCE) for thread in threads]

    assert sorted(table.asked) == sorted(CLAIMS)
    assert len(reports) == 18
    assert {(report.supported, report.total) for report in reports} == {(1, 2)}


def test_the_same_words_twice_in_one_answer_are_asked_once() -> None:
    """Both claims get the verdict, each under its own id."""
    table = slow(0)
    report = check(f"{CLAIMS[0]} {CLAIMS[0]}", CONTEXT, scorer=Scorer(verifiers=[table]))

    assert table.asked == [CLAIMS[0]]
    assert (report.supported, report.total) == (2, 2)
    assert len({claim.id for claim in report.claims}) == 2


def test_answers_that_share_a_claim_share_its_verdict() -> None:
    """A verdict belongs to a claim and a context, not to an answer; ids are each report's own."""
    table = slow(0)
    scorer = Scorer(verifiers=[table])
    check(CLAIMS[1], CONTEXT, scorer=scorer)
    report = ask(scorer)

    assert table.asked == [CLAIMS[1], CLAIMS[0]]
    assert [claim.label for claim in report.claims] == ["supported", "not_mentioned"]


def test_failures_are_not_kept() -> None:
    """What was down may be up again; the next check asks."""
    table = TableVerifier({"*": VerifierError("down")})
    scorer = Scorer(verifiers=[table])

    assert ask(scorer).outcome == ask(scorer).outcome == "failed"
    assert table.asked == CLAIMS * 2


def test_a_failure_is_told_to_those_who_wait() -> None:
    """Ten threads that wait for one broken server do not ask it ten times in a row."""
    table = TableVerifier({"*": VerifierError("down")}, seconds=0.3)
    scorer = Scorer(verifiers=[table])
    with ThreadPoolExecutor(10) as pool:
        reports = list(pool.map(lambda _: ask(scorer), range(10)))

    assert {report.outcome for report in reports} == {"failed"}
    assert len(table.asked) < 10


@pytest.mark.parametrize(
    "change", ["context", "question", "verifier", "scorer"], ids=lambda change: f"other-{change}"
)
def test_whatever_a_verdict_rests_on_is_in_the_key(change: str) -> None:
    """Another context, question or version of a verifier is asked anew."""
    cache = VerdictCache()
    first, second = slow(0), TableVerifier({"*": 0.0}, "table@2" if change == "verifier" else "x@1")
    one = Scorer(verifiers=[first], cache=cache)
    other = Scorer(verifiers=[second], cache=cache) if change in ("verifier", "scorer") else one
    check(ANSWER, CONTEXT, question="What?", scorer=one)
    report = check(
        ANSWER,
        CONTEXT + (" More." if change == "context" else ""),
        question="Why?" if change == "question" else "What?",
        scorer=other,
    )

    assert report.usage.cached == 0
    assert check(ANSWER, CONTEXT, question="What?", scorer=one).usage.cached == 2


def test_scorers_may_share_a_cache() -> None:
    """One verdict for all scorers that ask the same of the same verifier."""
    cache = VerdictCache()
    first, second = slow(0), slow(0)
    ask(Scorer(verifiers=[first], cache=cache))
    report = ask(Scorer(verifiers=[second], cache=cache))

    assert second.asked == []
    assert report.usage.cached == 2


@pytest.mark.parametrize("cache", [None, False])
def test_a_scorer_can_do_without(cache: bool | None) -> None:
    """None and False switch the cache off."""
    table = slow(0)
    scorer = Scorer(verifiers=[table], cache=cache)
    ask(scorer)
    report = asyncio.run(acheck(ANSWER, CONTEXT, scorer=scorer))

    assert table.asked == CLAIMS * 2
    assert report.usage.cached == 0


def test_the_cache_is_bounded_and_forgets_the_oldest() -> None:
    """It never holds more than its size; what was used last stays."""
    cache = VerdictCache(maxsize=10)
    table = TableVerifier({"*": 1.0})
    scorer = Scorer(verifiers=[table], cache=cache)
    for number in range(50):
        check("The quarry yields slate.", f"Ledger page {number}.", scorer=scorer)

    assert len(cache) == 10
    assert check(CLAIMS[0], "Ledger page 49.", scorer=scorer).usage.cached == 1
    assert check(CLAIMS[0], "Ledger page 3.", scorer=scorer).usage.cached == 0


def test_an_answer_longer_than_the_cache_is_checked() -> None:
    """A bound on memory is no bound on answers."""
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})], cache=VerdictCache(maxsize=2))
    report = check(" ".join(f"Cart {n} is full." for n in range(9)), CONTEXT, scorer=scorer)

    assert report.score == 1.0


def test_a_cache_can_be_cleared() -> None:
    """After that everything is asked anew."""
    cache = VerdictCache()
    scorer = Scorer(verifiers=[slow(0)], cache=cache)
    ask(scorer)
    cache.clear()

    assert len(cache) == 0
    assert ask(scorer).usage.cached == 0


def test_evidence_points_to_its_passage_in_any_order() -> None:
    """The same passages in another order get indices of their own, never cached ones."""
    texts = ["The quarry yields slate.", "The crane lifts two tonnes of stone.", "Lunch is at one."]
    scorer = Scorer()
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        report = check(ANSWER, [texts[n] for n in order], scorer=scorer)

        assert [claim.evidence[0].passage for claim in report.claims] == [
            order.index(0),
            order.index(1),
        ]
        assert all(e.stands_in(report.exchange) for c in report.claims for e in c.evidence)


def test_evidence_points_past_unseen_passages() -> None:
    """An index counts all passages of the exchange, also those that are no evidence."""
    scorer = Scorer()
    seen = Passage(text="The quarry yields slate.")
    unseen = Passage(text="Lunch is at one.", seen=False)
    for passages, place in (([seen, unseen], 0), ([unseen, seen], 1)):
        report = check(CLAIMS[0], passages, scorer=scorer)

        assert [e.passage for e in report.claims[0].evidence] == [place]


# Nobody hangs ---------------------------------------------------------------------------------


class Gate:
    """A verifier whose first call hangs until it is cancelled, or the gate opens."""

    name = "gate@1"

    def __init__(self) -> None:
        self.calls = 0
        self.entered = threading.Event()
        self.open = threading.Event()

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Answer at once, but for the first call."""
        self.calls += 1
        if self.calls == 1:
            self.entered.set()
            self.open.wait(PATIENCE)
        return TableVerifier({"*": 1.0}, self.name).verify(claims, context)

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Answer at once, but for the first call."""
        self.calls += 1
        if self.calls == 1:
            self.entered.set()
            while not self.open.is_set():  # noqa: ASYNC110 - of another thread
                await asyncio.sleep(0.01)
        return await TableVerifier({"*": 1.0}, self.name).averify(claims, context)


async def until(event: threading.Event) -> None:
    """Wait for an event of another thread."""
    while not event.is_set():  # noqa: ASYNC110 - of another thread
        await asyncio.sleep(0.01)


def test_a_cancelled_leader_leaves_nobody_behind() -> None:
    """The task that asked is cancelled; tasks and threads that wait ask themselves."""
    gate = Gate()
    scorer = Scorer(verifiers=[gate])

    async def run() -> list[Report]:
        leader = asyncio.create_task(acheck(ANSWER, CONTEXT, scorer=scorer))
        await until(gate.entered)
        followers = [asyncio.create_task(acheck(ANSWER, CONTEXT, scorer=scorer)) for _ in range(5)]
        threads = [asyncio.create_task(asyncio.to_thread(ask, scorer)) for _ in range(2)]
        await asyncio.sleep(0.2)
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(*followers, *threads)

    reports = asyncio.run(run())

    assert [report.score for report in reports] == [1.0] * 7
    assert gate.calls == 2
    assert ask(scorer).usage.cached == 2


def test_a_cancelled_follower_takes_nothing_from_the_others() -> None:
    """One who waits may be cancelled; the leader and the rest get their verdict."""
    gate = Gate()
    scorer = Scorer(verifiers=[gate])

    async def run() -> list[Report]:
        leader = asyncio.create_task(acheck(ANSWER, CONTEXT, scorer=scorer))
        await until(gate.entered)
        followers = [asyncio.create_task(acheck(ANSWER, CONTEXT, scorer=scorer)) for _ in range(3)]
        await asyncio.sleep(0.2)
        followers[0].cancel()
        await asyncio.sleep(0)
        gate.open.set()
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(leader, *followers[1:])

    assert [report.score for report in asyncio.run(run())] == [1.0] * 3
    assert gate.calls == 1


def test_a_loop_that_closes_leaves_nobody_behind() -> None:
    """A leader whose event loop ends, timed out, hands over to a thread that waits."""
    gate = Gate()
    scorer = Scorer(verifiers=[gate])

    async def run() -> None:
        await asyncio.wait_for(acheck(ANSWER, CONTEXT, scorer=scorer), 0.6)

    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(asyncio.run, run())
        assert gate.entered.wait(PATIENCE)
        follower = pool.submit(ask, scorer)

        assert follower.result(PATIENCE).score == 1.0
        with pytest.raises(TimeoutError):
            leader.result(PATIENCE)


def test_a_blocking_check_inside_a_loop_does_not_wait_for_its_own_loop() -> None:
    """A task of the loop is the leader; a sync check in the same loop asks for itself."""
    gate = Gate()
    scorer = Scorer(verifiers=[gate])

    async def run() -> tuple[Report, Report]:
        leader = asyncio.create_task(acheck(ANSWER, CONTEXT, scorer=scorer))
        await until(gate.entered)
        inside = ask(scorer)  # blocks the loop that the leader needs
        gate.open.set()
        return inside, await leader

    with ThreadPoolExecutor(1) as pool:
        inside, outside = pool.submit(asyncio.run, run()).result(PATIENCE)

    assert inside.score == outside.score == 1.0


HANGS = {
    "two-loops": """
        # Each loop has a task that leads, and blocks itself in a check that the other one leads.
        import asyncio
        slow = Scorer(verifiers=[TableVerifier({"*": 1.0}, seconds=1.5)])
        meet = threading.Barrier(2)

        def loop(mine, other):
            async def run():
                task = asyncio.create_task(acheck(mine, "Ledger.", scorer=slow))
                await asyncio.sleep(0.7)
                meet.wait()
                check(other, "Ledger.", scorer=slow)
                await task
            asyncio.run(run())

        pair = ("The quarry yields slate.", "The crane is old.")
        threads = [
            threading.Thread(target=loop, args=args, daemon=True) for args in (pair, pair[::-1])
        ]
        [thread.start() for thread in threads]
        [thread.join(3) for thread in threads]
        os._exit(any(thread.is_alive() for thread in threads))
    """,
    "fork": """
        # A child is forked while a thread of the parent asks; it must ask by itself.
        slow = Scorer(verifiers=[TableVerifier({"*": 1.0}, seconds=0.8)])
        ask = lambda: check("The quarry yields slate.", "Ledger.", scorer=slow)
        ask_too = threading.Thread(target=ask)
        ask_too.start()
        time.sleep(0.4)
        child = os.fork()
        if child == 0:
            signal.alarm(4)
            ask()
            os._exit(0)
        os._exit(os.waitpid(child, 0)[1] != 0)
    """,
}


@pytest.mark.parametrize("case", HANGS)
def test_nobody_waits_for_ever(case: str) -> None:
    """Neither two loops that wait for each other, nor a child of a process that was asking."""
    code = "import os, signal, threading, time\nfrom faithguard import Scorer, acheck, check\n"
    code += "from faithguard.testing import TableVerifier\n" + textwrap.dedent(HANGS[case])

    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)

    assert done.returncode == 0


def test_the_cache_keeps_no_failures() -> None:
    """Not even of one claim among others that were found."""
    cache = VerdictCache()
    found = {CLAIMS[0]: 1.0}

    class Half(TableVerifier):
        def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
            lost = Failure(kind="timeout", stage=self.name, message="late", claim=claims[-1].id)
            return [*super().verify(claims[:-1], context), lost]

    report = ask(Scorer(verifiers=[Half(found)], cache=cache))

    assert report.outcome == "incomplete"
    assert len(cache) == 1
