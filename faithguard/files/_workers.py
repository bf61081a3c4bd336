"""Batches -> what became of each, in their order, by this process or by several.

Workers are fresh processes (a fork would copy locks that other threads hold), each with a pipe
of its own. None has more than one batch, so that neither side ever writes to one that writes; and
batches are taken from the input only while few wait for their turn, so that memory stays flat
however slow one of them is. A worker whose parent is gone sees its pipe end, and ends.

A line may end its worker, by a crash or because it takes all memory. The lines of its batch are
then given to a new one, one by one, and a line that ends this one, too, is rejected.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from faithguard.errors import ConfigError, FaithguardError
from faithguard.files._lines import Batch, Line
from faithguard.files._work import Scored, joined, rejected

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

__all__ = ["Workers"]

_Work: TypeAlias = Callable[[Sequence[Line]], Scored]

_AHEAD = 4
"""Batches for each worker that are begun or wait to be written."""

_PATIENCE = 5.0
"""Seconds that a worker has to end."""

_MOST_FATAL = 5
"""Workers in a row that may end; if so many do, the fault is not in the lines."""


class _Ended(Exception):
    """A worker has; says how."""


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    pipe: Connection[Any, Any]

    def send(self, lines: Sequence[Line]) -> None:
        with suppress(OSError):  # `receive` tells
            self.pipe.send(lines)

    def receive(self) -> Scored:
        try:
            return cast("Scored", self.pipe.recv())
        except (EOFError, OSError):
            self.process.join(_PATIENCE)
        code = self.process.exitcode or 0
        raise _Ended(f"was ended by signal {-code}" if code < 0 else f"ended with code {code}")

    def close(self) -> None:
        self.pipe.close()
        self.process.terminate()


class Workers:
    """A context manager around the processes.

    Args:
        work: What is done to the lines of a batch. It is sent to each process.
        jobs: How many processes; with 1 it is this one.

    Raises:
        ConfigError: If there is to be none.
    """

    def __init__(self, work: _Work, jobs: int) -> None:
        if jobs < 1:
            raise ConfigError(f"`jobs` is {jobs!r}: name at least 1")
        self._work = work
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._fatal = 0  # workers that ended, since lines were scored

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.process.join(_PATIENCE)

    def map(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Scored]]:
        """Yield each batch with what became of it.

        Raises:
            FaithguardError: If workers end whatever they are given.
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
            while written in ready:  # before the input is asked for more, which may keep it waiting
                yield waiting.pop(written), ready.pop(written)
                written += 1
            while (
                sent - written < _AHEAD * self._jobs
                and (idle or len(self._workers) < self._jobs)
                and (batch := next(batches, None)) is not None
            ):
                worker = idle.pop() if idle else self._another()
                waiting[sent] = batch
                busy[worker.pipe] = worker, sent
                worker.send(batch.lines)
                sent += 1
            if not busy:
                return
            for pipe in cast("list[Connection[Any, Any]]", wait(list(busy))):
                worker, number = busy.pop(pipe)
                try:
                    ready[number] = worker.receive()
                    self._fatal = 0
                except _Ended:
                    worker, ready[number] = self._singly(worker, waiting[number].lines)
                idle.append(worker)

    def _singly(self, worker: _Worker, lines: Sequence[Line]) -> tuple[_Worker, Scored]:
        """Give lines that ended a worker to another one by one; reject what ends that one, too.

        Returns:
            A worker that lives, and what became of the lines.
        """
        parts: list[Scored] = []
        worker = self._instead_of(worker)
        for line in lines:
            worker.send([line])
            try:
                parts.append(worker.receive())
                self._fatal = 0
            except _Ended as end:
                parts.append(rejected(line, f"could not be scored: its process {end}"))
                self._count(end)
                worker = self._instead_of(worker)
        return worker, joined(parts)

    def _instead_of(self, ended: _Worker) -> _Worker:
        while True:
            self._workers.remove(ended)
            ended.close()
            worker = self._another()
            worker.send([])  # it is no line's fault if it cannot even start
            try:
                worker.receive()
            except _Ended as end:
                self._count(end)
                ended = worker
            else:
                return worker

    def _count(self, end: _Ended) -> None:
        self._fatal += 1
        if self._fatal == _MOST_FATAL:
            raise FaithguardError(
                f"one worker process after another ends, whatever it is given (the last {end}). "
                "What was done is kept: the same command goes on from there, also with fewer --jobs"
            )

    def _another(self) -> _Worker:
        worker = _started(self._work)
        self._workers.append(worker)
        return worker


def _started(work: _Work) -> _Worker:
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


def _serve(pipe: Connection[Any, Any], work: _Work) -> None:
    """Work until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be blocked
    with suppress(EOFError, OSError):
        while True:
            pipe.send(work(cast("Sequence[Line]", pipe.recv())))
