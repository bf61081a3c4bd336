"""Measure `faithguard score` on a large file, and kill it again and again.

    python -m tests.bench.files [SECTION ...] [--lines N] [--kills N] [--seed N]

In: a file of exchanges made from word lists, 3 claims and 3 passages of 100 words each, some
lines bad. Out: markdown tables, one for each of `throughput` (with 1 and 2 jobs; their outputs
must be equal), `memory` (resident, of the process and its workers, over time) and `kills`
(`kill -9` at random moments until the file is done; both files must be equal to those of an
uninterrupted run). Exit 1 if they are not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import _texts
from tests.bench._common import table

BAD_EVERY = 997
NAMES = (
    ("question", "answer", "context"),
    ("user_input", "response", "retrieved_contexts"),
    ("input", "actual_output", "retrieval_context"),
)


def main(argv: Sequence[str]) -> int:
    """Print the sections that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    known = {"throughput", "memory", "kills"}
    wanted = set(args.sections) or known
    if not wanted <= known:
        parser.error(f"sections are {', '.join(sorted(known))}")
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{args.lines:,} lines, seed {args.seed}, {os.cpu_count()} CPUs, load {load}\n")
    with tempfile.TemporaryDirectory() as folder:
        source = exchanges(Path(folder) / "exchanges.jsonl", args.lines, args.seed)
        runs = [run(source, Path(folder) / f"whole{jobs}.jsonl", jobs) for jobs in (1, 2)]
        if "throughput" in wanted:
            throughput(runs, args.lines)
        if "memory" in wanted:
            memory(runs)
        same = runs[0].digest == runs[1].digest
        if "kills" in wanted:
            same &= kills(source, runs[0], args.kills, args.seed)
    return 0 if same else 1


def exchanges(path: Path, lines: int, seed: int) -> Path:
    """Write a file of exchanges; one line of many is bad."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(1, lines + 1):
            context = [_texts.passage(rng, 100) for _ in range(3)]
            values = ("What does the harbour need?", _texts.answer(number, context, 3), context)
            row = json.dumps(dict(zip(rng.choice(NAMES), values, strict=True)))
            file.write((row[:-9] if number % BAD_EVERY == 0 else row) + "\n")
    return path


@dataclass
class Run:
    """A run to the end."""

    jobs: int
    seconds: float = 0.0
    digest: str = ""
    resident: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the start, and MB."""


def command(source: Path, out: Path, jobs: int) -> list[str]:
    """Return the command that scores the file."""
    named = ["score", str(source), "-o", str(out), "--jobs", str(jobs), "--json"]
    return [sys.executable, "-m", "faithguard.cli", *named]


def run(source: Path, out: Path, jobs: int) -> Run:
    """Score the file, looking at the memory twice a second."""
    result = Run(jobs)
    started = time.perf_counter()
    process = subprocess.Popen(
        command(source, out, jobs), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None:
        result.resident.append((time.perf_counter() - started, resident(process.pid)))
        time.sleep(0.5)
    result.seconds = time.perf_counter() - started
    result.digest = digest(out)
    return result


def resident(pid: int) -> float:
    """Return the MB that a process and its children hold."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has just ended
        return 0.0
    own = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return sum(map(int, own)) / 1024 + sum(resident(int(child)) for child in children)


def digest(out: Path) -> str:
    """Return one hash of both files."""
    both = hashlib.sha256()
    for path in (out, out.with_name(out.stem + ".rejects.jsonl")):
        both.update(path.read_bytes() if path.exists() else b"")
        both.update(b"\0")
    return both.hexdigest()


def throughput(runs: Sequence[Run], lines: int) -> None:
    """Print how fast the runs were."""
    rows = [(r.jobs, f"{r.seconds:.1f} s", f"{lines / r.seconds:.0f}", r.digest[:12]) for r in runs]
    print("## Throughput: the whole command, start included; equal outputs have equal hashes\n")
    table(("jobs", "time", "lines a second", "hash of both files"), rows)


def memory(runs: Sequence[Run]) -> None:
    """Print the resident memory at tenths of a run."""
    rows = []
    for r in runs:
        at = [r.resident[len(r.resident) * tenth // 10][1] for tenth in (1, 3, 5, 7, 9)]
        peak = max(mb for _, mb in r.resident)
        rows.append((r.jobs, *(f"{mb:.0f} MB" for mb in at), f"{peak:.0f} MB"))
    print("## Memory: resident, all processes together; flat where the columns are alike\n")
    table(("jobs", "10%", "30%", "50%", "70%", "90%", "peak"), rows)


def lines_done(state: Path) -> int:
    """Return how many lines a run has done."""
    if not state.exists():
        return 0
    count: int = json.loads(state.read_text())["place"]["mark"]["lines"]
    return count


def kills(source: Path, whole: Run, times: int, seed: int) -> bool:
    """Kill a run at random moments, go on each time, and compare what comes out."""
    rng = random.Random(seed)
    out = source.with_name("killed.jsonl")
    state = Path(f"{out}.state")
    done, started = 0, time.perf_counter()
    for number in range(times):
        before = lines_done(state)
        process = subprocess.Popen(
            command(source, out, rng.choice((1, 2))),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # All kills fit into one run; each fourth may hit the start, the others hit the work.
        while number % 4 and process.poll() is None and lines_done(state) == before:
            time.sleep(0.01)
        try:
            process.wait(rng.uniform(0.0, whole.seconds / times))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
    read = lines_done(state)
    last = run(source, out, 2)
    same = last.digest == whole.digest
    print("## Kills: `kill -9` at random moments, with 1 or 2 jobs, then one run to the end\n")
    head = ("kills", "lines done by then", "time in all", "output and rejects")
    words = "equal to an uninterrupted run" if same else "DIFFERENT"
    table(head, [(done, f"{read:,}", f"{time.perf_counter() - started:.0f} s", words)])
    return same


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
