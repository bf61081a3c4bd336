"""A process of threads that writes records to a store, to be watched or killed.

    python -m tests.store.writing PATH NAME --threads 4 --records 1000 [--rate N | --told FILE]

In: a store, and a name that its ids begin with. Out: with `--told` the threads write to the sink
themselves, and the id of a record is appended to that file once it is written: what is in it
must be in the store, however this process ended. Else they submit to a bounded queue, at `--rate`
records a second all together, and a line of JSON says what became of them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from faithguard import Record, check
from faithguard.policy import decide
from faithguard.sinks import SqliteSink
from faithguard.types import Attempt
from faithguard.watch import Outbox

CONTEXT = (
    "The tram of Eskholm runs every 12 minutes. A day ticket costs 7 euros and is valid until "
    "3 in the morning. Bicycles travel free of charge after 7 in the evening. ",
    "Lost property is kept for 60 days in the depot at Farrow Road. ",
)
ANSWER = "A day ticket costs 7 euros. Lost property is kept for 90 days. Dogs ride for free."


def template(words: int = 1_000) -> Record:
    """Return a record with a context of about so many words, as a watcher would write it."""
    times = max(1, words // 45)
    exchange = check(ANSWER, [text * times for text in CONTEXT], question="What is it like?")
    report = replace(exchange, exchange=replace(exchange.exchange, id="template"))
    return Record(
        exchange=report.exchange,
        report=report,
        decision=decide(report, "support"),
        attempts=(Attempt(exchange=report.exchange, report=report),),
        versions=report.versions,
        timings={"verify": report.usage.seconds},
    )


def named(record: Record, id: str) -> Record:
    """Return a record under another id, everywhere in it."""
    exchange = replace(record.exchange, id=id)
    report = replace(record.report, exchange=exchange)
    attempts = tuple(Attempt(exchange=exchange, report=report) for _ in record.attempts)
    return replace(record, exchange=exchange, report=report, attempts=attempts)


def in_threads(threads: int, work: Callable[[int], None]) -> None:
    """Do it in each of some threads, and wait for them."""
    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def write_and_tell(
    path: str, name: str, threads: int, records: int, told: str, made: Record | None = None
) -> None:
    """Write, and say of each record that it is written."""
    sink, made = SqliteSink(path), made or template()
    file = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def work(thread: int) -> None:
        for number in range(records):
            one = named(made, f"{name}.{thread}.{number}")
            sink.write(one)
            os.write(file, f"{one.exchange.id}\n".encode())

    in_threads(threads, work)


def submit(
    path: str,
    name: str,
    threads: int,
    records: int,
    *,
    rate: float | None = None,
    capacity: int = 1_000,
    made: Record | None = None,
) -> dict[str, int]:
    """Submit to a queue, and return what became of it."""
    sink, one = SqliteSink(path), made or template()
    outbox = Outbox([sink], capacity=capacity)
    start = time.monotonic()

    def work(thread: int) -> None:
        for number in range(records):
            if rate is not None:
                due = start + (number * threads + thread) / rate
                time.sleep(max(0.0, due - time.monotonic()))
            outbox.submit(partial(named, one, f"{name}.{thread}.{number}"))

    in_threads(threads, work)
    outbox.queue.wait()
    return {
        "submitted": outbox.queue.submitted,
        "stored": sink.stored,
        "dropped": outbox.queue.dropped,
        "lost": outbox.lost,
    }


def main(argv: Sequence[str]) -> None:
    """Write as the arguments say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("name")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--told")
    args = parser.parse_args(argv)
    if args.told:
        write_and_tell(args.path, args.name, args.threads, args.records, args.told)
    else:
        print(json.dumps(submit(args.path, args.name, args.threads, args.records, rate=args.rate)))


if __name__ == "__main__":
    main(sys.argv[1:])
