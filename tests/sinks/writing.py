"""What a process does that writes long records to a file which others write to as well.

In: a path, and who writes how many. Out: lines in that file. Kept apart from the tests, so that a
process that starts does not load them and the frameworks that they try.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from faithguard.sinks import JsonlSink
from faithguard.testing import example_record
from faithguard.types import Passage, Record


def long_record(writer: int, number: int) -> Record:
    """Return a record of some 50 kB that can be told apart."""
    one = example_record()
    text = f"{writer}.{number} " * 12_000
    exchange = replace(one.exchange, id=f"{writer}.{number}", passages=(Passage(text=text),))
    return replace(one, exchange=exchange)


def write_many(path: str, writer: int, count: int, threads: int) -> None:
    """Write records from several threads of this process, each with a sink of its own."""

    def write(part: int) -> None:
        sink = JsonlSink(path)
        for number in range(part, count, threads):
            sink.write(long_record(writer, number))

    workers = [threading.Thread(target=write, args=(part,)) for part in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
