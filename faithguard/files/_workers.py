"""Batches -> what became of each, in their order, by this process or by several.

Workers are fresh processes (a fork would copy locks that other threads hold), each with a pipe
of its own. None has more than one batch, so that neither side ever writes to one that writes; and
batches are taken from the input only while few wait for their turn, so that memory stays flat
however slow one of them is. A worker whose parent is gone sees its pipe end, and ends.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, cast

from faithguard.errors import ConfigError, FaithguardError
from faithguard.files._lines import Batch, Line
from faithguard.files._work import Scored, Work

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

__all__ = ["Workers"]

_AHEAD = 4
"""Batches for each worker that are begun or wait to be written."""

_PATIENCE = 5.0
"""Seconds that a worker has to end."""


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    pipe: Connection[Any, Any]


class Workers:
    """A context manager around the processes.

    Args:
        work: What is done to the lines of a batch.
        jobs: How many processes; with 1 it is this one.

    Raises:
        ConfigError: If there is to be none.
    """

    def __init__(self, work: Work, jobs: int) -> None:
        if jobs < 1:
            raise ConfigError(f"`jobs` is {jobs!r}: name at least 1")
        self._work = work
        self._jobs = jobs
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_PATIENCE)

    def map(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Scored]]:
        """Yield each batch with what became of it.

        Raises:
            FaithguardError: If a worker ended before it was done.
        """
        if self._jobs == 1:
            return ((batch, self._work(batch.lines)) for batch in batches)
        return self._shared(batches)

    def _shared(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Scored]]:
        idle: list[_Worker] = []
        busy: dict[Connection[Any, Any], tuple[_Worker, int]] = {}
        waiting: dict[int, Batch] = {}
        ready: dict[int, Scored] = {}
        sent = written = 0
        while True:
            while (
                sent - written < _AHEAD * self._jobs
                and (idle or len(self._workers) < self._jobs)
                and (batch := next(batches, None)) is not None
            ):
                worker = idle.pop() if idle else self._another()
                waiting[sent] = batch
                busy[worker.pipe] = worker, sent
                _exchanged(worker, batch, worker.pipe.send, batch.lines)
                sent += 1
            if written in ready:
                yield waiting.pop(written), ready.pop(written)
                written += 1
            elif busy:
                for pipe in cast("list[Connection[Any, Any]]", wait(list(busy))):
                    worker, number = busy.pop(pipe)
                    ready[number] = _exchanged(worker, waiting[number], pipe.recv)
                    idle.append(worker)
            else:
                return

    def _another(self) -> _Worker:
        worker = _started(self._work)
        self._workers.append(worker)
        return worker


def _started(work: Work) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=_serve, args=(theirs, work), name="faithguard-worker", daemon=True
    )
    # Ctrl-C reaches the whole group of processes; only this one is to act on it. A process
    # starts with the signals blocked that its parent blocks, and one that comes now still comes.
    mask = getattr(signal, "pthread_sigmask", None)  # not on Windows
    if mask:
        resource_tracker.ensure_running()  # when `start` starts it, it unblocks the signal
    before = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
    try:
        process.start()
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
    theirs.close()
    return _Worker(process, ours)


def _exchanged(
    worker: _Worker, batch: Batch, call: Callable[..., Any], *args: Sequence[Line]
) -> Any:
    try:
        return call(*args)
    except (EOFError, OSError):
        worker.process.join(_PATIENCE)
        code = worker.process.exitcode
    end = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended ({code})"
    memory = "; there may be too little memory for so many" if code == -9 else ""
    first, last = (batch.lines[0].number, batch.lines[-1].number) if batch.lines else (0, 0)
    raise FaithguardError(
        f"a worker process {end} at lines {first:,} to {last:,}{memory}. What was done is kept: "
        "the same command goes on from there, also with fewer --jobs"
    )


def _serve(pipe: Connection[Any, Any], work: Work) -> None:
    """Work until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be blocked
    with suppress(EOFError, OSError):
        while True:
            pipe.send(work(cast("Sequence[Line]", pipe.recv())))
