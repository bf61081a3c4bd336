"""Measure the store: how fast it takes records, what a kill or a full disk costs, how it reads.

    python -m tests.bench.store [SECTION ...] [--records N] [--kills N] [--seed N]

In: records made from word lists and scored by the local cascade, 5 claims and 5 passages of 200
words each. Out: markdown tables, one for each of `write` (one thread), `writers` (8 processes of
4 threads, each thread `--records`, all at once and then at rates; stored + dropped = submitted),
`kills` (`kill -9` of 4 processes at random moments), `disk` (a full one, where a small file
system can be mounted) and `read` (10,000 records). Exit 1 if a record is lost that must not be.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from faithguard import Record, SqliteSink, check
from faithguard.errors import FaithguardError
from faithguard.policy import decide
from faithguard.store import Filter, Store
from faithguard.types import Attempt
from faithguard.watch import Outbox
from tests.bench import _texts
from tests.bench._common import quantile, table
from tests.store.writing import named, submit, template, write_and_tell

PROCESSES, THREADS = 8, 4
SHARES = (0.5, 0.75, 1.5)
"""Of what the store took of records that came at once: the rates that are tried then."""


def main(argv: Sequence[str]) -> int:
    """Print the sections that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    sections: dict[str, Callable[[Path], bool]] = {
        "write": lambda folder: write(folder, args.seed),
        "writers": lambda folder: writers(folder, args.records),
        "kills": lambda folder: kills(folder, args.kills, args.seed),
        "disk": disk,
        "read": lambda folder: read(folder, args.seed),
    }
    wanted = args.sections or list(sections)
    if not set(wanted) <= set(sections):
        parser.error(f"sections are {', '.join(sections)}")
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"SQLite {sqlite3.sqlite_version}, {os.cpu_count()} CPUs, load {load}\n")
    held = True
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            held &= sections[name](Path(folder))
    return 0 if held else 1


def made(count: int, seed: int) -> Iterator[Record]:
    """Yield records of the last weeks; their texts are of 50 kinds, as scoring takes its time."""
    rng = random.Random(seed)
    kinds = [scored(rng, number) for number in range(min(count, 50))]
    now = datetime(2026, 6, 1, tzinfo=UTC)
    for number in range(count):
        one = named(rng.choice(kinds), f"{number:032x}")
        began = now - timedelta(minutes=2 * (count - number))
        tag = "prompt-v1" if number < count / 2 else "prompt-v2"
        exchange = replace(one.exchange, started_at=began, tags=(tag,))
        report = replace(one.report, exchange=exchange)
        attempt = Attempt(exchange=exchange, report=report)
        yield replace(one, exchange=exchange, report=report, attempts=(attempt,))


def scored(rng: random.Random, number: int) -> Record:
    """Return a record as a watcher makes it."""
    context = [_texts.passage(rng, 200) for _ in range(5)]
    question = f"What does the {rng.choice(_texts.THINGS)} of {rng.choice(_texts.PLACES)} need?"
    report = check(_texts.answer(number, context, 5), context, question=question)
    return Record(
        exchange=report.exchange,
        report=report,
        decision=decide(report, rng.choice(["support", "medical", "legal"])),
        attempts=(Attempt(exchange=report.exchange, report=report),),
        versions=report.versions,
        timings={"generate": rng.lognormvariate(0.0, 0.5), "verify": report.usage.seconds},
    )


def ms(seconds: float) -> str:
    """Return seconds as milliseconds."""
    return f"{1e3 * seconds:.2f} ms"


def write(folder: Path, seed: int) -> bool:
    """Print what a record costs: the host, the queue's thread, the disk."""
    records = list(made(1_000, seed))
    sink = SqliteSink(folder / "records.db")
    sink.write(records[0])
    took = []
    for record in records:
        start = time.perf_counter()
        sink.write(record)
        took.append(time.perf_counter() - start)
    sink.close()
    size = (folder / "records.db").stat().st_size / len(records)
    outbox = Outbox([SqliteSink(folder / "queued.db")], capacity=len(records))
    submitted = []
    for record in records:
        start = time.perf_counter()
        outbox.submit(lambda record=record: record)  # type: ignore[misc]
        submitted.append(time.perf_counter() - start)
    outbox.queue.wait()
    length = statistics.mean(len(record.to_json()) for record in records[:50])
    print(f"## One thread: records of {length / 1e3:.0f} kB JSON, {size / 1e3:.1f} kB on disk\n")
    rows = [
        (what, ms(statistics.median(times)), ms(quantile(times, 0.95)), ms(quantile(times, 0.99)))
        for what, times in (("written", took), ("put into the queue", submitted))
    ]
    table(("", "p50", "p95", "p99"), rows)
    return outbox.lost == outbox.queue.dropped == 0


def forked(work: Callable[[int], object], processes: int) -> Sequence[BaseProcess]:
    """Start processes, each with a number; they share nothing but the file."""
    context = get_context("fork")  # without the seconds that an import takes
    started = [context.Process(target=work, args=(number,)) for number in range(processes)]
    for process in started:
        process.start()
    return started


def writers(folder: Path, records: int) -> bool:
    """Print what becomes of records that processes submit at once, and at several rates."""
    rows, held, fastest = [], True, 0.0
    made = template()
    for share in (None, *SHARES):
        path = folder / f"{share}.db"
        rate = None if share is None else share * fastest
        total, took = submitted_by_all(path, records, rate, made)
        with Store(path) as store:
            there = store.count()
        fastest = fastest or there / took
        held &= there == total["stored"]
        held &= total["stored"] + total["dropped"] + total["lost"] == total["submitted"]
        speed = "at once" if rate is None else f"{rate:.0f}"
        rows.append((speed, *total.values(), there, f"{took:.1f} s", whole(path)))
    print(
        f"## {PROCESSES} processes of {THREADS} threads, each process with a queue of "
        f"{records:,}; the store took {fastest:.0f} a second\n"
    )
    head = ("a second", "submitted", "stored", "dropped", "lost", "in the file", "time", "check")
    table(head, rows)
    return held


def submitted_by_all(
    path: Path, records: int, rate: float | None, made: Record
) -> tuple[dict[str, int], float]:
    """Have all processes submit records, and return what became of them, and the seconds."""
    results = get_context("fork").SimpleQueue()
    paced = None if rate is None else rate / PROCESSES

    def work(number: int) -> None:
        name = f"w{number}"
        queue = {"rate": paced, "capacity": records, "made": made}
        results.put(submit(str(path), name, THREADS, records, **queue))  # type: ignore[arg-type]

    began = time.perf_counter()
    processes = forked(work, PROCESSES)
    told = [results.get() for _ in processes]
    took = time.perf_counter() - began
    for process in processes:
        process.join()
    return {name: sum(result[name] for result in told) for name in told[0]}, took


def whole(path: Path) -> str:
    """Return what SQLite says of the file."""
    with sqlite3.connect(path) as db:
        (word,) = db.execute("PRAGMA integrity_check").fetchone()
    db.close()
    return str(word)


def kills(folder: Path, times: int, seed: int) -> bool:
    """Kill processes that write at random moments, and look for what they said was written."""
    rng = random.Random(seed)
    path, told = folder / "records.db", folder / "told"
    made = template()
    looked = good = missing = said = 0
    began = time.perf_counter()
    for turn in range(times):
        killed(path, told, turn, made, rng)
        if path.exists():
            looked += 1
            good += whole(path) == "ok"
        lines = told.read_text().splitlines(keepends=True) if told.exists() else []
        ids = {line.strip() for line in lines if line.endswith("\n")}
        kept = {row.id for row in Store(path).page(limit=10**9)} if path.exists() else set()
        said, missing = len(ids), missing + len(ids - kept)
    print("## Kills: `kill -9` of 4 processes of 4 threads at random moments\n")
    head = ("kills", "integrity checks", "ok", "records said to be written", "missing", "time")
    took = f"{time.perf_counter() - began:.0f} s"
    table(head, [(times, looked, good, f"{said:,}", missing, took)])
    return not missing and good == looked


def killed(path: Path, told: Path, turn: int, made: Record, rng: random.Random) -> None:
    """Have processes write, and kill them; each fourth time it may hit their start."""

    def work(number: int) -> None:
        write_and_tell(str(path), f"t{turn}w{number}", THREADS, 10**6, str(told), made)

    before = told.stat().st_size if told.exists() else 0
    processes = forked(work, 4)
    while turn % 4 and (not told.exists() or told.stat().st_size == before):
        time.sleep(0.005)
    time.sleep(rng.uniform(0.0, 0.4 if turn % 4 else 0.05))
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


def disk(folder: Path) -> bool:
    """Fill a small file system, and go on; then make room."""
    mounted = folder / "small"
    mounted.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(mounted)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        print("## A full disk: no file system can be mounted here; see tests/store/test_sink.py\n")
        return True
    try:
        ballast = mounted / "ballast"
        ballast.write_bytes(bytes(4 * 2**20))
        sink = SqliteSink(mounted / "records.db")
        outbox = Outbox([sink], capacity=5_000)
        records = list(made(2_000, 1))
        for record in records:
            outbox.submit(lambda record=record: record)  # type: ignore[misc]
        outbox.queue.wait()
        full = sink.stored, sink.lost
        check_full = whole(mounted / "records.db")
        ballast.unlink()
        for record in records[:100]:
            outbox.submit(lambda record=record: record)  # type: ignore[misc]
        outbox.queue.wait()
        with Store(mounted / "records.db") as store:
            there = store.count()
        sink.close()
        print("## A full disk of 8 MB, half of it taken; then that half is given back\n")
        rows = [
            ("until it was full, and on", 2_000, *full, check_full),
            (
                "with room again",
                100,
                sink.stored - full[0],
                sink.lost - full[1],
                whole(mounted / "records.db"),
            ),
        ]
        table(("", "submitted", "stored", "lost", "check"), rows)
        return there == sink.stored and sink.stored + sink.lost == 2_100
    except FaithguardError as error:
        print(error, file=sys.stderr)
        return False
    finally:
        subprocess.run(["umount", str(mounted)], check=False)


def read(folder: Path, seed: int, count: int = 10_000) -> bool:
    """Print how long each question takes with many records, in a process of its own."""
    path = folder / "records.db"
    with Store(path, read_only=False) as store:
        for record in made(count, seed):
            store.add(record)
    print(f"## {count:,} records, {path.stat().st_size / 1e6:.0f} MB: a fresh process\n")
    code = "import sys; from tests.bench.store import asked; asked(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    return True


def asked(path: str) -> None:
    """Ask a store all that a page asks."""
    began = time.perf_counter()
    store = Store(path)
    opened = time.perf_counter() - began
    page = store.page()
    last = page[-1]
    since = last.time - timedelta(days=3)
    questions: dict[str, Callable[[], object]] = {
        "the first page": store.page,
        "a later page": lambda: store.page(before=last.cursor),
        "newer than the newest": lambda: store.newer_than(store.newest()),
        "by domain and outcome": lambda: store.page(Filter(domain="medical", passed=False)),
        "by label": lambda: store.page(Filter(label="contradicted")),
        "by cause": lambda: store.page(Filter(cause="retrieval")),
        "by tag and time": lambda: store.page(Filter(tag="prompt-v2", since=since)),
        "by text that is there": lambda: store.page(Filter(text="harbour")),
        "by text that is nowhere": lambda: store.page(Filter(text="xylophone")),
        "count by text": lambda: store.count(Filter(text="harbour")),
        "one record": lambda: store.get(last.id),
        "series by hour": lambda: store.series(by="hour"),
        "tally": store.tally,
        "tally by text": lambda: store.tally(Filter(text="harbour")),
        "scores": store.scores,
        "pairs of two tags": lambda: store.pairs(Filter(tag="prompt-v1"), Filter(tag="prompt-v2")),
    }
    rows: list[Sequence[object]] = [("opened", ms(opened), "", "")]
    for name, ask in questions.items():
        times = []
        for _ in range(7):
            start = time.perf_counter()
            ask()
            times.append(time.perf_counter() - start)
        rows.append((name, ms(times[0]), ms(statistics.median(times)), ms(max(times))))
    table(("", "first", "p50", "max"), rows)
    status = Path("/proc/self/status")
    if status.exists():
        (resident,) = [r.split()[1] for r in status.read_text().splitlines() if "VmHWM" in r]
        print(f"resident at most {int(resident) / 1024:.0f} MB\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
