"""A file of exchanges -> a file of records, a file of what could not be read, and a summary.

In: JSON lines of any number, as `faithguard.exchanges` reads them. Out: for each good line, in
the order of the input, one line with the JSON of a `Record` (exchange, report, decision) and the
number of the input's line before it; for each bad line one in the rejects file, with its number,
the reason and the line as it was.

    {"line": 12, "exchange": {...}, "report": {...}, "decision": {...}, ...}

Records, because they are what sinks write: `JsonlSink(path).read()`, and whatever shows or counts
records, reads this file, too. The same input and settings give the same bytes, with any number
of processes and after any number of interruptions: an exchange without an id gets one that
follows from its line, and what differs from run to run, the seconds and what a cache knew, is
0 in the file and counted in the summary.

How a run goes on after it was killed: it works in batches of lines, and only one process writes.
After each batch a small state file (`OUT.state`) is replaced in one step; it says how much of the
input has been read (bytes, and their hash), how long both files are, and the counts so far. The
next run cuts both files to these lengths, reads the input up to that place, and works on. What is
complete is only counted again, and lines added to the input since are appended; a last line that
has no end yet is scored, and read anew by the next run.
"""

from __future__ import annotations

from contextlib import closing
from typing import BinaryIO, Protocol

from faithguard.files._lines import StrPath, opened
from faithguard.files._output import Output, rejects_path
from faithguard.files._records import read_records
from faithguard.files._work import Work
from faithguard.files._workers import Workers
from faithguard.stats import Summary

__all__ = ["Watch", "read_records", "rejects_path", "score_file"]


class Watch(Protocol):
    """Is told at the start, and after each batch, how far the work is."""

    def __call__(self, done: int, total: int | None, lines: int, /) -> object:
        """Take bytes of the input read, bytes in all where known, and lines done."""
        ...


def score_file(
    source: StrPath | BinaryIO,
    out: StrPath,
    *,
    domain: str | None = None,
    policy: StrPath | None = None,
    judge: str | None = None,
    judge_url: str | None = None,
    jobs: int = 1,
    rejects: StrPath | None = None,
    restart: bool = False,
    watch: Watch | None = None,
) -> Summary:
    """Score a file of exchanges; go on where an earlier run for the same `out` ended.

    A program that calls it with several jobs needs `if __name__ == "__main__":` around its own
    work, since each job is a process that imports the program.

    Args:
        source: JSON lines, a file or a binary stream; a gzip archive is unpacked.
        out: Takes the records.
        domain: Whose thresholds decide; by default each line's own, else the default domain.
        policy: A TOML file with thresholds of your own.
        judge: The name of a model that decides what the local cascade leaves open.
        judge_url: Its server, if it is not OpenAI's.
        jobs: Processes to work in; with 1 it is this one.
        rejects: Takes the bad lines; `rejects_path(out)` by default. Made only if there are any.
        restart: Begin anew, and replace what is there.
        watch: Is told how far the work is.

    Raises:
        ConfigError: If a file or a setting cannot be used, or `out` holds something else than
            the beginning of this very work. Nothing is overwritten then.
        FaithguardError: If the output cannot be written on, or no worker process lives; what
            was done is kept.
    """
    work = Work(domain=domain, policy=policy, judge=judge, judge_url=judge_url)
    with (
        opened(source) as lines,
        closing(
            Output(
                out,
                rejects,
                settings=work.settings(),
                restart=restart,
                source=lines.path,
            )
        ) as output,
        Workers(work, jobs) as workers,
    ):
        before = output.state
        lines.resume(before.place.mark, None if before.end is None else before.end.mark)
        output.trim()
        if watch is not None:
            watch(lines.done, lines.total, lines.mark.lines)
        for batch, scored in workers.map(lines.batches()):
            output.commit(batch, scored)
            if watch is not None:
                watch(batch.done, lines.total, batch.mark.lines)
        return output.finish().summary()
