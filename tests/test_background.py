"""Work off the host's path: in order, counted, bounded, and not lost at exit."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from faithguard._background import Background

PATIENCE = 10.0


def run(code: str, timeout: float = 30.0) -> subprocess.CompletedProcess[str]:
    """Run a script of its own, since exits and forks cannot be had in here."""
    head = "import logging, os, signal, sys, threading, time\n"
    head += "from faithguard._background import Background\n"
    return subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_jobs_run_in_order_in_one_thread() -> None:
    """The order of submission is the order of the effects."""
    queue, found = Background(), []
    for number in range(200):
        assert queue.submit(lambda n=number: found.append((n, threading.get_ident())))  # type: ignore[misc]

    assert queue.wait(PATIENCE)
    assert [number for number, _ in found] == list(range(200))
    assert len({thread for _, thread in found}) == 1
    assert threading.get_ident() not in {thread for _, thread in found}


def test_nothing_is_started_without_work() -> None:
    """A queue that is never used has no thread, and waiting for it takes no time."""
    before = threading.active_count()
    queue = Background()

    assert queue.wait(0.0)
    assert threading.active_count() == before


def test_submitting_does_not_wait_for_jobs() -> None:
    """The host goes on while a job hangs."""
    queue, gate = Background(), threading.Event()
    started = time.perf_counter()
    for _ in range(100):
        queue.submit(lambda: gate.wait(PATIENCE) and None)
    took = time.perf_counter() - started

    assert took < 1.0
    assert not queue.wait(0.05)
    gate.set()
    assert queue.wait(PATIENCE)


def test_what_does_not_fit_is_dropped_counted_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """At every moment submitted = done + dropped + waiting."""
    queue, gate, begun = Background(3, what="letters"), threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        gate.wait(PATIENCE)

    queue.submit(hang)
    begun.wait(PATIENCE)
    with caplog.at_level(logging.WARNING):
        taken = [queue.submit(lambda: None) for _ in range(10)]

    assert taken == [True] * 3 + [False] * 7
    assert (queue.submitted, queue.done, queue.dropped) == (11, 0, 7)
    assert [r.getMessage() for r in caplog.records] == [
        "faithguard: 3 letters are waiting, further ones are dropped and counted"
    ]
    gate.set()
    assert queue.wait(PATIENCE)
    assert (queue.submitted, queue.done, queue.dropped) == (11, 4, 7)
    assert queue.submit(lambda: None)


def test_counts_add_up_with_many_hosts() -> None:
    """Eight threads submit to a small queue; nothing is lost without being counted."""
    queue, ran = Background(20), []

    def host() -> None:
        for _ in range(250):
            queue.submit(lambda: ran.append(1))

    threads = [threading.Thread(target=host) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert queue.wait(PATIENCE)
    assert queue.submitted == 2_000 == queue.done + queue.dropped
    assert len(ran) == queue.done


def test_a_job_that_raises_is_logged_and_the_next_one_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Only the kind of the error is logged: its text may hold an answer."""
    queue, ran = Background(), []

    def fail() -> None:
        raise ValueError("the secret answer")

    with caplog.at_level(logging.WARNING):
        queue.submit(fail)
        queue.submit(lambda: ran.append(1))
        assert queue.wait(PATIENCE)

    assert ran == [1]
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


def test_a_job_that_exits_does_not_stop_the_queue() -> None:
    """`sys.exit` in a job, a sink say, ends neither the process nor the jobs after it."""
    done = run(
        """
        queue = Background()
        queue.submit(lambda: sys.exit(3))
        queue.wait(2)
        queue.submit(lambda: print("the next job ran", flush=True))
        print(queue.wait(2), queue.submitted, queue.done, flush=True)
        os._exit(0)
        """
    )

    assert done.stdout.splitlines() == ["the next job ran", "True 2 2"]


def test_an_idle_thread_ends_and_another_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that logs once a day does not keep a thread for it."""
    monkeypatch.setattr("faithguard._background._IDLE", 0.05)
    queue, threads = Background(what="idle tests"), []
    for _ in range(2):
        queue.submit(lambda: threads.append(threading.current_thread()))
        assert queue.wait(PATIENCE)
        threads[-1].join(PATIENCE)
        assert not threads[-1].is_alive()

    assert threads[0] is not threads[1]


def test_a_short_script_still_gets_its_results() -> None:
    """What is waiting when a script ends is done before it exits."""
    done = run(
        """
        queue = Background()
        for number in range(3):
            queue.submit(lambda n=number: (time.sleep(0.2), print("job", n, flush=True)))
        print("end of the script", flush=True)
        """
    )

    assert done.stdout.splitlines() == ["end of the script", "job 0", "job 1", "job 2"]
    assert (done.returncode, done.stderr) == (0, "")


def test_an_exit_is_bounded() -> None:
    """A job that hangs holds an exit up for a while, says so, and no longer."""
    started = time.perf_counter()
    done = run(
        """
        import faithguard._background as background
        background._AT_EXIT = 0.3
        queues = [Background(what="letters") for _ in range(3)]
        for queue in queues:
            queue.submit(lambda: time.sleep(60))
        """
    )

    assert time.perf_counter() - started < 10.0
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "faithguard: exit before all letters were done",
        "faithguard: exit before all letters were done",
        "faithguard: exit before all letters were done",
        "faithguard: letters left undone: 3 in all",
    ]


def test_what_was_lost_is_counted_once_at_exit() -> None:
    """Of all queues, also of those that are gone; a child of a fork tells of its own."""
    done = run(
        """
        def full(dropped):
            gate, begun = threading.Event(), threading.Event()
            queue = Background(1, what="letters")
            queue.submit(lambda: (begun.set(), gate.wait(10)))
            begun.wait(10)
            for _ in range(1 + dropped):
                queue.submit(lambda: None)
            gate.set()
            queue.wait(10)
        full(4)
        child = os.fork()
        if child == 0:
            full(2)
            sys.exit(0)
        os.waitpid(child, 0)
        full(3)
        """
    )
    told = "faithguard: 1 letters are waiting, further ones are dropped and counted"

    assert done.stderr.splitlines() == [
        told,
        told,
        "faithguard: letters dropped: 2 in all",
        told,
        "faithguard: letters dropped: 7 in all",
    ]


def test_what_a_sink_lost_is_counted_at_exit_unless_it_was_told() -> None:
    """One that works again has said so; what fails to the end is told then."""
    done = run(
        """
        from faithguard.testing import example_record
        from faithguard.watch import Outbox
        failing = [True]
        def some(record):
            if failing[0]:
                raise OSError
        def never(record):
            raise OSError
        outbox = Outbox([some, never])
        for n in range(6):
            failing[0] = n < 2
            outbox.tell(example_record())
            outbox.queue.wait(10)
        """
    )

    assert [line.partition(" sink ")[2] for line in done.stderr.splitlines()] == [
        "some; what else it loses is counted",
        "never; what else it loses is counted",
        "some works again, 2 records lost",
        "never: 6 in all",
    ]


def test_a_watched_script_prints_its_report() -> None:
    """A script that ends right after its chain still logs what was found."""
    done = run(
        """
        from faithguard.types import Exchange, Passage
        from faithguard.watch import Watch
        logging.basicConfig(level=logging.INFO)
        text = "The barge carries gravel."
        Watch().submit(lambda: Exchange(id="barge", answer=text, passages=(Passage(text=text),)))
        """
    )

    assert "id=barge" in done.stderr
    assert "1 of 1 claim supported" in done.stderr
    assert "gravel" not in done.stderr


def test_a_forked_child_has_a_queue_of_its_own() -> None:
    """Neither the parent's thread, nor its jobs, nor its counts are the child's."""
    done = run(
        """
        queue = Background()
        gate = threading.Event()
        queue.submit(lambda: gate.wait(10))
        queue.submit(lambda: print("parent's job in", "child" if parent != os.getpid() else
            "parent", flush=True))
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            queue.submit(lambda: print("child's job", flush=True))
            print(queue.wait(3), queue.submitted, queue.done, queue.dropped, flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        gate.set()
        print(queue.wait(3), queue.submitted, queue.done, queue.dropped, status, flush=True)
        """
    )

    assert done.stdout.splitlines() == [
        "child's job",
        "True 1 1 0",
        "parent's job in parent",
        "True 2 2 0 0",
    ]


def test_a_forked_child_does_not_wait_for_its_parents_jobs() -> None:
    """A child that submits nothing has nothing to wait for, nor to drain at its exit."""
    done = run(
        """
        queue = Background()
        queue.submit(lambda: time.sleep(1.0))
        queue.submit(lambda: None)
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            print(queue.wait(0.5), flush=True)
            sys.exit(0)
        started = time.perf_counter()
        os.waitpid(child, 0)
        print(time.perf_counter() - started < 3, flush=True)
        """
    )

    assert done.stdout.splitlines() == ["True", "True"]
    assert "exit before" not in done.stderr


def test_a_fork_in_the_middle_of_a_submit_locks_nobody_out() -> None:
    """Other threads are submitting while a worker is forked; the worker can submit."""
    done = run(
        """
        queue = Background(50_000)
        stop = False
        def host():
            while not stop:
                queue.submit(lambda: None)
        threads = [threading.Thread(target=host, daemon=True) for _ in range(2)]
        [thread.start() for thread in threads]
        logging.disable()
        hung = 0
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(2)
                queue.submit(lambda: None)
                os._exit(0)
            hung += os.waitpid(child, 0)[1] != 0
        print(hung, flush=True)
        os._exit(0)
        """
    )

    assert done.stdout.strip() == "0"
