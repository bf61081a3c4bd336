"""Files of exchanges: every line once, in order, whatever is in it and whatever happens."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import itertools
import json
import multiprocessing
import os
import random
import re
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from faithguard import ConfigError, FaithguardError, Report
from faithguard._render._summary import Bar
from faithguard.cli import app
from faithguard.files import rejects_path, score_file
from faithguard.files._lines import LONGEST, Batch, Line, Lines
from faithguard.files._work import Scored, joined
from faithguard.files._workers import Workers
from faithguard.sinks import JsonlSink
from faithguard.testing import JudgeServer, honest
from faithguard.types import Record, from_json, to_json

CONTEXT = "The Tarn ferry leaves at 09:15 and carries 60 passengers."
TRUE = "The Tarn ferry carries 60 passengers."
FALSE = "The Tarn ferry carries 95 passengers."

Rows = Callable[..., Path]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    for name in [*os.environ]:
        if name.startswith("FAITHGUARD_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where records go."""
    return tmp_path / "reports.jsonl"


@pytest.fixture
def put(tmp_path: Path) -> Rows:
    """Write rows as lines, bytes as they are."""

    def write(*rows: Any, end: bytes = b"\n") -> Path:
        path = tmp_path / "exchanges.jsonl"
        path.write_bytes(b"".join(as_line(row) + end for row in rows))
        return path

    return write


def as_line(row: Any) -> bytes:
    """Return a row as JSON, unless it is one already."""
    return row if isinstance(row, bytes) else json.dumps(row).encode()


def row(answer: str = TRUE, **more: Any) -> dict[str, Any]:
    """Return a good line."""
    return {"question": "How many?", "answer": answer, "context": CONTEXT, **more}


def many(count: int) -> list[dict[str, Any]]:
    """Return good lines, all different."""
    return [row(f"The Tarn ferry carries {50 + n} passengers.") for n in range(count)]


def loaded(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines; none if there is no file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def bytes_of(out: Path) -> list[bytes]:
    """Return what both outputs hold."""
    return [p.read_bytes() if p.exists() else b"" for p in (out, rejects_path(out))]


def ran(*args: str | Path, stdin: bytes | None = None) -> Result:
    """Run the command in this process."""
    named = [str(arg) for arg in args]
    return CliRunner().invoke(app, ["score", *named], input=stdin, prog_name="faithguard")


def command(*args: str | Path) -> list[str]:
    """Return the command as a process of its own."""
    return [sys.executable, "-m", "faithguard.cli", "score", *(str(arg) for arg in args)]


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy this process instead of starting another, which takes a hundred times as long."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs processes that can be copied")
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr("faithguard.files._workers.get_context", lambda _: fork)


FORKS = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


class Once(io.RawIOBase):
    """What can be read once, as a pipe."""

    def __init__(self, data: bytes) -> None:
        self._left = io.BytesIO(data)

    def readable(self) -> bool:
        """As the name says."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on."""
        return self._left.readinto(buffer)


class Stop(Exception):
    """What ends a run in the middle."""


def stopping(after: int) -> Callable[[int, int | None, int], None]:
    """Return a watch that ends the run once so many lines are done."""

    def watch(done: int, total: int | None, lines: int) -> None:
        if lines >= after:
            raise Stop

    return watch


# What comes out


def test_each_line_becomes_a_record_in_order(put: Rows, out: Path) -> None:
    """With the number of its line; sinks, reports and the shell can read it."""
    source = put(row(id="a", tags=["x"]), b"", row(FALSE), {**row(TRUE), "context": None})

    summary = score_file(source, out)

    records = list(JsonlSink(out).read())
    assert [r["line"] for r in loaded(out)] == [1, 3, 4]
    assert [record.report.outcome for record in records] == ["scored", "scored", "no_context"]
    assert [record.decision.passed for record in records] == [True, False, False]
    assert (records[0].exchange.id, records[0].exchange.tags) == ("a", ("x",))
    assert records[0].exchange == records[0].report.exchange
    assert records[0].exchange.domain == "customer_support"
    assert (summary.answers, summary.passed, summary.blank, summary.bad) == (3, 1, 1, 0)
    assert Report.from_json(json.dumps(loaded(out)[0]["report"])).supported == 1
    assert not rejects_path(out).exists()


def test_outputs_are_for_their_owner_only(put: Rows, out: Path) -> None:
    """They hold texts."""
    score_file(put(row(), b"{"), out)

    for path in (out, rejects_path(out), Path(f"{out}.state")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@FORKS
def test_the_same_bytes_come_out_of_any_number_of_processes(
    put: Rows, out: Path, forked: None
) -> None:
    """Ids, scores and order depend on the lines alone; bad lines are where they were."""
    rows: list[Any] = many(70)
    rows.insert(41, b"{")
    source = put(*rows)
    score_file(source, out)
    other = out.with_name("other.jsonl")

    summary = score_file(source, other, jobs=2)

    assert bytes_of(other) == bytes_of(out)
    assert (summary.answers, summary.bad) == (70, 1)


def test_lines_without_an_id_get_one_of_their_own(put: Rows, out: Path) -> None:
    """Always the same, and different for equal lines; ids that are given are kept."""
    score_file(put(row(), row(), row(id="a"), row(id="a")), out)

    first, second, *given = [r["exchange"]["id"] for r in loaded(out)]
    assert first != second
    assert given == ["a", "a"]


def test_what_was_scored_can_be_scored_again(put: Rows, out: Path) -> None:
    """The output is an input: the exchanges are scored anew, by other thresholds too."""
    score_file(put(row(), row(FALSE)), out)
    again = out.with_name("again.jsonl")

    score_file(out, again, domain="medical")

    before, after = (list(JsonlSink(path).read()) for path in (out, again))
    assert [r.exchange.id for r in before] == [r.exchange.id for r in after]
    assert [r.report.score for r in before] == [r.report.score for r in after]
    assert {r.decision.domain for r in after} == {"medical"}


def test_seconds_are_in_the_summary_and_not_in_the_file(put: Rows, out: Path) -> None:
    """What differs from run to run would make no two outputs equal."""
    summary = score_file(put(row()), out)

    assert loaded(out)[0]["report"]["usage"]["seconds"] == 0.0
    assert summary.milliseconds


# Domains


def test_a_line_names_its_domain_unless_the_call_does(put: Rows, out: Path, tmp_path: Path) -> None:
    """Domain of the call over that of the line over the default one; files define more."""
    source = put(row(), row(domain="legal"), row(domain="support"), row(domain="harbour"))
    policy = tmp_path / "p.toml"
    policy.write_text("[domains.harbour]\nsafe = 0.6\nwarning = 0.4\n")

    score_file(source, out, policy=policy)
    assert [r["decision"]["domain"] for r in loaded(out)] == [
        *("customer_support", "legal", "customer_support", "harbour")
    ]

    score_file(source, out, domain="medical", restart=True)
    assert {r["decision"]["domain"] for r in loaded(out)} == {"medical"}
    assert len(loaded(out)) == 4


def test_an_unknown_domain_is_a_bad_line(put: Rows, out: Path) -> None:
    """A typo must not loosen a threshold; the reason lists what there is."""
    score_file(put(row(domain="medcal")), out)

    (bad,) = loaded(rejects_path(out))
    assert "`domain` is none of conversational, " in bad["reason"]
    assert "medical" in bad["reason"]


def test_an_unknown_domain_of_the_call_is_an_error(put: Rows, out: Path) -> None:
    """Before anything is written."""
    with pytest.raises(ConfigError, match="medcal"):
        score_file(put(row()), out, domain="medcal")

    assert not out.exists()


# Bad lines

BAD: list[tuple[bytes, str]] = [
    (b"{", "not JSON"),
    (b"walrus", "not JSON"),
    (b"[1, 2]", "not a JSON object"),
    (b'"walrus"', "not a JSON object"),
    (b"null", "not a JSON object"),
    (b"NaN", "not a JSON object"),
    (b'{"answer": "walrus"} {}', "not JSON"),
    (b'{"answer": NaN}', "`answer` is null"),
    (b'{"answer": "walrus\xff"}', "not UTF-8: byte 18 is 0xff"),
    ('{"answer": "walrus"}'.encode("utf-16"), "not UTF-8"),
    (b'{"answer": "a", "n": ' + b"9" * 5000 + b"}", "a number is too long"),
    (b'{"answer": "a", "n": ' + b"[" * 100_000 + b"}", "lists are too deep"),
    (b'{"question": "walrus"}', "there is no answer"),
    (b'{"answer": 7}', "`answer` is a number"),
    (b'{"answer": "a", "response": "walrus"}', "differ"),
    (b'{"answer": "a", "contexts": [null]}', "piece 1 of `contexts` is null"),
]


@pytest.mark.parametrize(("line", "reason"), BAD, ids=range(len(BAD)))
def test_a_bad_line_is_kept_with_its_number_and_reason(
    put: Rows, out: Path, line: bytes, reason: str
) -> None:
    """The others are scored; the reason shows none of the text, the row all of it."""
    summary = score_file(put(row(), line.replace(b"\n", b""), row()), out)

    (bad,) = loaded(rejects_path(out))
    kept = bad["text"].encode() if "text" in bad else base64.b64decode(bad["base64"])
    assert (bad["line"], kept) == (2, line.replace(b"\n", b""))
    assert reason in bad["reason"]
    assert "walrus" not in bad["reason"]
    assert [r["line"] for r in loaded(out)] == [1, 3]
    assert (summary.answers, summary.bad) == (2, 1)


def test_a_line_that_fits_no_memory_is_passed_over(out: Path, tmp_path: Path) -> None:
    """50 MB without a line end are told and not kept; the next line is read."""
    source = tmp_path / "huge.jsonl"
    with source.open("wb") as file:
        file.write(as_line(row()) + b'\n{"answer": "')
        for _ in range(50):
            file.write(b"walrus. " * 125_000)
        file.write(b'"}\n' + as_line(row()) + b"\n")

    score_file(source, out)

    assert [r["line"] for r in loaded(out)] == [1, 3]
    (bad,) = loaded(rejects_path(out))
    assert bad == {"line": 2, "reason": bad["reason"]}
    assert f"50,000,015 bytes are more than the {LONGEST:,}" in bad["reason"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_line_ends_and_marks_are_no_text(put: Rows, out: Path, end: bytes) -> None:
    """CRLF, a byte order mark, a last line without an end, blank lines."""
    source = put(b"\xef\xbb\xbf" + as_line(row()), b" \t", as_line(row(FALSE)), end=end)
    with source.open("ab") as file:
        file.write(as_line(row(id="last")))

    summary = score_file(source, out)

    assert [r["line"] for r in loaded(out)] == [1, 3, 4]
    assert loaded(out)[-1]["exchange"]["id"] == "last"
    assert (summary.answers, summary.blank, summary.bad) == (3, 1, 0)


def test_odd_texts_are_scored(put: Rows, out: Path) -> None:
    """Lone surrogates, separators that are line ends to some, nulls in other columns."""
    odd = row("The Tarn ferry carries 60 passengers.\u2028\x85\x0b", score=float("nan"))
    source = put(odd, b'{"answer": "\\ud800 \\u0000", "context": "\\udfff"}', row(""))

    score_file(source, out)

    assert [r["line"] for r in loaded(out)] == [1, 2, 3]
    assert out.read_bytes().isascii()
    assert loaded(out)[1]["exchange"]["answer"] == "\ufffd \x00"
    assert loaded(out)[2]["report"]["outcome"] == "no_claims"


def test_an_empty_file_is_no_fault(put: Rows, out: Path) -> None:
    """Nothing was asked and nothing is wrong."""
    summary = score_file(put(), out)

    assert (summary.answers, summary.interval, out.read_bytes()) == (0, None, b"")


GOOD = as_line(row())
PRETTY = json.dumps([row()], indent=1).encode()
CSV = b"question,answer,context\nWhen?,walrus,walrus\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" + GOOD + b"]", "is one JSON array; make JSON lines of it: jq -c '.[]' IN"),
        (b"[\n" + GOOD + b",\n" + GOOD + b"\n]\n", "is one JSON array"),
        (b"\xef\xbb\xbf\n " + PRETTY, "is one JSON array"),
        (PRETTY[2:-1], "put each object on one: jq -c . IN"),
        (CSV, "csv.DictReader"),
        (GOOD.decode().encode("utf-16"), "is UTF-16; convert it: iconv -f UTF-16"),
        (gzip.compress(CSV, mtime=0), "csv.DictReader"),
    ],
)
def test_a_file_of_another_kind_is_refused(put: Rows, out: Path, data: bytes, words: str) -> None:
    """With the remedy, and before each of its lines is rejected; as a stream, too."""
    source = put(data, end=b"")

    for make in (lambda: source, lambda: io.BufferedReader(Once(data))):
        with pytest.raises(ConfigError) as caught:
            score_file(make(), out)
        assert words in str(caught.value)
        assert "walrus" not in str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize("first", [b"[1, 2]", b"{", b"walrus", b'contexts": ["a"]}'])
def test_a_bad_first_line_is_only_a_bad_line(put: Rows, out: Path, first: bytes) -> None:
    """What a log begins with after its first part was cut off."""
    summary = score_file(put(first, row(), row()), out)

    assert (summary.answers, summary.bad) == (2, 1)


# Going on


@FORKS
def test_a_run_goes_on_where_it_was_interrupted(put: Rows, out: Path, forked: None) -> None:
    """Stopped after any batch, with torn lines behind it, by other numbers of processes."""
    rows: list[Any] = many(70)
    rows[5] = rows[40] = rows[69] = b"{bad"
    source = put(*rows)
    whole = out.with_name("whole.jsonl")
    expected = score_file(source, whole)
    for after, jobs in ((0, 1), (16, 2), (48, 1)):
        with pytest.raises(Stop):
            score_file(source, out, jobs=jobs, watch=stopping(after))
        for path in (out, rejects_path(out)):
            with path.open("ab") as file:
                file.write(b'{"line": 49, "exch')

    summary = score_file(source, out)

    assert bytes_of(out) == bytes_of(whole)
    assert (summary.answers, summary.bad) == (67, 3)
    assert summary.mean_score == expected.mean_score
    assert summary.claims == expected.claims


def test_a_kill_between_two_writes_loses_nothing(put: Rows, out: Path) -> None:
    """Whatever part of a batch reached the files before its state, the result is the same."""
    rows: list[Any] = many(30)
    rows[20] = b"{bad"
    source = put(*rows)
    state = Path(f"{out}.state")
    with pytest.raises(Stop):
        score_file(source, out, watch=stopping(16))
    before, first = state.read_bytes(), bytes_of(out)
    score_file(source, out)
    whole = bytes_of(out)
    rng = random.Random(3)

    for _ in range(6):
        for path, start, end in zip((out, rejects_path(out)), first, whole, strict=True):
            path.write_bytes(end[: rng.randint(len(start), len(end))])
        state.write_bytes(before)
        score_file(source, out)
        assert bytes_of(out) == whole


def test_a_complete_run_is_only_counted_again(put: Rows, out: Path) -> None:
    """The same summary, milliseconds included, and no line is worked on."""
    source = put(*many(5))
    first = score_file(source, out)
    written = out.read_bytes()

    assert score_file(source, out, jobs=2) == first
    assert out.read_bytes() == written


def test_lines_that_were_added_are_appended(put: Rows, out: Path) -> None:
    """A log that grows; its last line, still written, may be bad now and good then."""
    source = put(*many(20))
    data = source.read_bytes()

    for size in (9, len(data) // 2, len(data) - 9, len(data) - 1, len(data)):
        source.write_bytes(data[:size])
        summary = score_file(source, out)
        whole = out.with_name(f"{size}.jsonl")
        assert replace(summary, milliseconds=None) == replace(
            score_file(source, whole), milliseconds=None
        )
        assert bytes_of(out) == bytes_of(whole)

    assert (summary.answers, summary.bad) == (20, 0)


def test_what_is_written_while_it_is_read_is_no_line_of_its_own(put: Rows, out: Path) -> None:
    """The rest of a line that was cut belongs to it, in the next run."""
    source = put(*many(3))
    data = source.read_bytes()
    source.write_bytes(data[:-9])

    def grow(done: int, total: int | None, lines: int) -> None:
        if lines:
            source.write_bytes(data)

    first, second = score_file(source, out, watch=grow), score_file(source, out)

    assert (first.answers, first.bad) == (2, 1)
    assert (second.answers, second.bad) == (3, 0)


def test_another_input_is_refused_and_nothing_is_lost(put: Rows, out: Path) -> None:
    """Changed or shortened: the message names both ways out."""
    source = put(row(), row(FALSE))
    data = source.read_bytes()[:-1]
    source.write_bytes(data)
    score_file(source, out)
    before = bytes_of(out)

    for changed in (data.replace(b"many", b"more"), data[:-9], b""):
        source.write_bytes(changed)
        with pytest.raises(ConfigError, match=r"is not what it was.*--restart.*another -o"):
            score_file(source, out)
        assert bytes_of(out) == before

    assert score_file(source, out, restart=True).answers == 0
    assert bytes_of(out) == [b"", b""]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"domain": "medical"}, "domain"),
        ({"policy": "p.toml"}, "policy"),
        ({"rejects": "elsewhere.jsonl"}, "rejects"),
    ],
)
def test_other_settings_are_refused(
    put: Rows, out: Path, tmp_path: Path, options: dict[str, str], what: str
) -> None:
    """Half a file by other thresholds would be no result at all."""
    (tmp_path / "p.toml").write_text("[domains.medical]\nsafe = 0.99\n")
    source = put(row())
    score_file(source, out)
    paths = {k: v if k == "domain" else tmp_path / v for k, v in options.items()}

    with pytest.raises(ConfigError, match=f"was made with another {what}: --restart"):
        score_file(source, out, **paths)  # type: ignore[arg-type]


def test_files_of_others_are_not_overwritten(put: Rows, out: Path) -> None:
    """An output, or a rejects file, that no run explains."""
    source = put(row())
    for path in (out, rejects_path(out)):
        path.write_text("precious\n")
        with pytest.raises(ConfigError, match=r"not by an unfinished run: --restart"):
            score_file(source, out)
        assert path.read_text() == "precious\n"
        path.unlink()

    out.touch()  # as `mktemp` makes it
    assert score_file(source, out).answers == 1


@pytest.mark.parametrize("change", [b"", b"x", b"a line\n"])
def test_an_output_that_was_changed_is_refused(put: Rows, out: Path, change: bytes) -> None:
    """Lines that were taken away or added by somebody else."""
    source = put(row(), row(FALSE))
    score_file(source, out)
    changed = out.read_bytes() + change if change else out.read_bytes()[:-5]
    out.write_bytes(changed)

    with pytest.raises(ConfigError, match="was changed since the run that made it"):
        score_file(source, out)

    assert out.read_bytes() == changed


def test_a_state_that_is_none_is_refused(put: Rows, out: Path) -> None:
    """It is not guessed how far a run was."""
    source = put(row())
    score_file(source, out)
    state = Path(f"{out}.state")
    state.write_text("{}")

    with pytest.raises(ConfigError, match="is no state of a run"):
        score_file(source, out)

    state.unlink()
    state.mkdir()
    with pytest.raises(ConfigError, match="is no state of a run"):
        score_file(source, out)
    with pytest.raises(FaithguardError, match="cannot be written on"):
        score_file(source, out, restart=True)


def test_the_input_is_not_overwritten_by_another_name(put: Rows, out: Path) -> None:
    """A hard link of the input is the input."""
    source = put(row())
    os.link(source, out)

    with pytest.raises(ConfigError, match="is the input, too"):
        score_file(source, out, restart=True)

    assert loaded(source) == [row()]


def test_two_runs_do_not_write_one_file(put: Rows, out: Path) -> None:
    """The second is told while the first works."""
    source = put(row())

    def second(done: int, total: int | None, lines: int) -> None:
        with pytest.raises(ConfigError, match="another run is writing"):
            score_file(source, out)

    assert score_file(source, out, watch=second).answers == 1


# Streams


def test_packed_files_and_streams_are_read(put: Rows, out: Path, tmp_path: Path) -> None:
    """An archive and a stream give the bytes that the file gives, and go on like it."""
    source = put(*many(40))
    score_file(source, out)
    packed = tmp_path / "exchanges.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes(), mtime=0))

    for name, make in (
        ("packed.jsonl", lambda: packed),
        ("stream.jsonl", lambda: io.BytesIO(source.read_bytes())),
        ("pipe.jsonl", lambda: io.BufferedReader(Once(packed.read_bytes()))),
    ):
        other = out.with_name(name)
        with pytest.raises(Stop):
            score_file(make(), other, watch=stopping(16))
        score_file(make(), other)
        assert other.read_bytes() == out.read_bytes()


def test_a_damaged_archive_is_an_error_that_keeps_what_was_done(put: Rows, out: Path) -> None:
    """Once it is whole again, the run goes on."""
    rng = random.Random(1)
    source = put(*(row(note=rng.randbytes(4000).hex()) for _ in range(40)))
    packed = source.with_suffix(".gz")
    whole = gzip.compress(source.read_bytes(), mtime=0)
    packed.write_bytes(whole[: len(whole) * 3 // 4])

    with pytest.raises(ConfigError, match=r"cannot be read on after line 16 \(it is damaged\)"):
        score_file(packed, out)

    packed.write_bytes(whole)
    assert score_file(packed, out).answers == 40


def test_the_watch_sees_bytes_and_lines(put: Rows, out: Path) -> None:
    """From where a run begins to the end of the file."""
    source = put(*many(20))
    seen: list[tuple[int, int | None, int]] = []

    score_file(source, out, watch=lambda *told: seen.append(told))

    size = source.stat().st_size
    assert [lines for _, _, lines in seen] == [0, 16, 20]
    assert (seen[0][0], seen[-1][0]) == (0, size)
    assert {total for _, total, _ in seen} == {size}


# Worker processes


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a run, without Python's own tracker of resources."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    children = path.read_text().split() if path.exists() else []
    command_of = {int(c): Path(f"/proc/{c}/cmdline").read_bytes() for c in children}
    return [child for child, line in command_of.items() if b"spawn_main" in line]


@contextlib.contextmanager
def working(
    out: Path, lines: Iterator[bytes]
) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """Start a run with two workers on a stream that does not end, until it has written lines."""
    if not Path("/proc/self/task").exists():
        pytest.skip("needs /proc to find the workers")
    process = subprocess.Popen(
        command("-", "-o", out, "--jobs", "2"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # what starts the tests may ignore it, and a process inherits that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert fed(process, lines, lambda: out.exists() and out.stat().st_size > 0)
        workers = workers_of(process.pid)
        assert len(workers) == 2
        yield process, workers
    finally:
        process.kill()
        process.communicate()


def fed(process: subprocess.Popen[bytes], lines: Iterator[bytes], true: Callable[[], bool]) -> bool:
    """Give a run more lines, batch by batch, until something is true; say whether it is."""
    assert process.stdin is not None
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        process.stdin.write(b"".join(line + b"\n" for line in itertools.islice(lines, 16)))
        process.stdin.flush()
        time.sleep(0.03)
    return true()


def gone(pids: list[int]) -> bool:
    """Say whether processes end within seconds."""
    deadline = time.monotonic() + 20
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(alive(pid) for pid in pids)


def alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has waited for does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_killed_run_goes_on_and_leaves_no_worker_behind(put: Rows, out: Path) -> None:
    """`kill -9` while it works; the next run makes the files whole."""
    rows: list[Any] = many(300)
    rows[10] = b"{bad"
    with working(out, map(as_line, rows)) as (process, workers):
        process.kill()

        assert gone(workers)
        assert process.wait() == -signal.SIGKILL
    source = put(*rows)
    summary = score_file(source, out)

    whole = out.with_name("whole.jsonl")
    score_file(source, whole)
    assert bytes_of(out) == bytes_of(whole)
    assert (summary.answers, summary.bad) == (299, 1)


def test_a_killed_worker_is_replaced_and_ctrl_c_ends_all(out: Path) -> None:
    """Exit 130, one line that says how to go on, no traceback of any process."""
    lines = map(as_line, itertools.cycle(many(16)))

    def done() -> int:
        count: int = json.loads(Path(f"{out}.state").read_text())["place"]["mark"]["lines"]
        return count

    with working(out, lines) as (process, (first, second)):
        before = done()
        os.kill(first, signal.SIGKILL)
        assert fed(process, lines, lambda: done() > before + 160)  # more than are under way
        workers = workers_of(process.pid)
        assert (first in workers, second in workers, len(workers)) == (False, True, 2)

        os.killpg(process.pid, signal.SIGINT)
        printed, said = process.communicate(timeout=20)

        assert process.returncode == 130
        assert printed == b""
        assert said.startswith(b"faithguard: interrupted after line ")
        assert said.count(b"\n") == 1
        assert gone(workers)
    assert not rejects_path(out).exists()


def deadly(lines: Sequence[Line]) -> Scored:
    """Copy lines to the output; some end the process."""
    for line in lines:
        if line.data == b"kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if line.data == b"exit":
            os._exit(3)
    return Scored(records=b"".join(b"%d\n" % line.number for line in lines))


def deadly_lines(*texts: bytes) -> Iterator[Batch]:
    """Return the batches of lines."""
    return Lines(io.BytesIO(b"\n".join(texts) + b"\n"), "lines").batches()


@FORKS
def test_a_line_that_ends_its_process_is_rejected(forked: None) -> None:
    """A crash, or all memory taken: the lines around it are scored, in order."""
    texts = [b"x"] * 40
    texts[3], texts[39] = b"kill", b"exit"

    with Workers(deadly, 2) as workers:
        scored = joined([s for _, s in workers.map(deadly_lines(*texts))])

    bad = [json.loads(line) for line in scored.rejects.splitlines()]
    numbers = [int(line) for line in scored.records.split()]
    assert numbers == [n for n in range(1, 41) if n not in (4, 40)]
    assert [(b["line"], b["text"]) for b in bad] == [(4, "kill"), (40, "exit")]
    assert bad[0]["reason"] == "could not be scored: its process was ended by signal 9"
    assert bad[1]["reason"] == "could not be scored: its process ended with code 3"
    assert scored.tally.bad == 2


@FORKS
@pytest.mark.parametrize("cannot_start", [False, True])
def test_processes_that_always_end_are_no_fault_of_the_lines(
    forked: None, cannot_start: bool
) -> None:
    """The run ends, and no file is rejected from its first line to its last."""
    work = os.abort if cannot_start else deadly

    with (
        pytest.raises(FaithguardError, match=r"one worker process after another ends.*goes on"),
        Workers(work, 2) as workers,  # type: ignore[arg-type]
    ):
        list(workers.map(deadly_lines(*[b"exit"] * 40)))


# The command


def test_the_command_prints_a_summary(put: Rows, out: Path) -> None:
    """Every figure with its counts on stdout; one line about the work on stderr."""
    result = ran(put(row(), row(FALSE), row("I do not know.")), "-o", out)

    words = " ".join(result.stdout.split())
    assert result.exit_code == 1, result.output
    assert "answers 3 1 abstained, 2 scored" in words
    assert "scorable 2 of 3 answers given" in words
    assert "passed 1 of 2 that state something: 50.0% (95% interval 9.5% to 90.5%)" in words
    assert "mean score 0.500" in words
    assert "contradicted 1 50.0%" in words
    assert "cause: generation 1" in words
    assert "model calls 0" in words
    assert result.stderr.startswith("faithguard: 3 lines; 3 in ")
    assert result.stderr.count("\n") == 1


def test_the_summary_is_json_for_machines(put: Rows, out: Path) -> None:
    """And nothing else on stdout."""
    result = ran(put(row(), row()), "-o", out, "--json")

    summary = json.loads(result.stdout)
    assert result.exit_code == 0, result.output
    assert (summary["answers"], summary["passed"], summary["mean_score"]) == (2, 2, 1.0)
    assert summary["claims"] == {"supported": 2}
    assert summary["interval"] == pytest.approx([0.3424, 1.0], abs=1e-4)


def test_bad_lines_exit_2_after_all_others_are_scored(put: Rows, out: Path) -> None:
    """The first ones are named with their numbers, and the file that has them all."""
    result = ran(put(row(), *[b"{walrus"] * 8, row()), "-o", out)

    said = result.stderr.splitlines()
    assert result.exit_code == 2
    assert len(loaded(out)) == 2
    assert said[1].startswith("faithguard: line 2: not JSON")
    assert len(said) == 7
    assert "3 more bad lines are in" in said[-1]
    assert str(rejects_path(out)) in said[-1]
    assert "walrus" not in result.output
    assert "bad lines" in result.stdout


def test_a_file_without_any_context_is_told(put: Rows, out: Path) -> None:
    """A misspelt name would look like answers that do not pass."""
    misspelt = {"contxt" if name == "context" else name: value for name, value in row().items()}

    told, once = ran(put(misspelt, misspelt), "-o", out), ran(put(row(), misspelt), "-o", f"{out}2")

    assert "no line has a context, which is looked for in context, contexts, " in told.stderr
    assert "no line has a context" not in once.stderr


def test_a_second_call_says_what_was_there(put: Rows, out: Path) -> None:
    """And comes to the same result."""
    source = put(row(), row(FALSE))
    first, second = ran(source, "-o", out), ran(source, "-o", out)

    assert (first.exit_code, first.stdout) == (second.exit_code, second.stdout)
    assert second.stderr == "faithguard: 2 lines, 2 of them by an earlier run\n"


def test_the_command_takes_files_of_policies_and_rejects(
    put: Rows, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options reach the work; 0 jobs are as many as there are cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    policy, rejects = tmp_path / "p.toml", tmp_path / "bad.jsonl"
    policy.write_text("[domains.harbour]\nsafe = 0.6\nwarning = 0.4\n")
    options = ("--policy", policy, "--domain", "harbour", "--rejects", rejects, "--jobs", "0")

    result = ran(put(row(), b"{"), "-o", out, *options)

    assert result.exit_code == 2, result.output
    assert loaded(out)[0]["decision"]["domain"] == "harbour"
    assert [bad["line"] for bad in loaded(rejects)] == [2]


def test_stdin_is_read(out: Path) -> None:
    """`-` is a pipe; it goes on when the same is piped in again."""
    lines = b"".join(as_line(r) + b"\n" for r in many(3))

    first, second = (ran("-", "-o", out, "--json", stdin=lines) for _ in range(2))

    assert first.exit_code == 1, first.output
    assert first.stdout == second.stdout
    assert "by an earlier run" in second.stderr


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: (p / "none.jsonl", "-o", p / "o"), "does not exist; check the path"),
        (lambda p: (p, "-o", p / "o"), "is a directory; name a file in it"),
        (lambda p: (p / "in", "-o", p), "is a directory; name a file in it"),
        (lambda p: (p / "in", "-o", p / "no" / "o"), "/no' is no folder"),
        (lambda p: (p / "in", "-o", "/dev/null"), "no regular file"),
        (lambda p: (p / "in", "-o", "-"), "-o - is no file"),
        (lambda p: (p / "in", "-o", ""), "'' is a directory; name a file in it"),
        (lambda p: (p / "in", "-o", p / "o", "--rejects", p / "no" / "o"), "/no' is no folder"),
        (lambda p: (p / "in", "-o", p / "in"), "is the input, too: name different files"),
        (lambda p: (p / "in", "-o", p / "o", "--rejects", p / "o"), "is -o, too"),
        (lambda p: (p / "in", "-o", p / "o", "--domain", "medcal"), "unknown domain 'medcal'"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_2(
    tmp_path: Path, make: Callable[[Path], tuple[str | Path, ...]], words: str
) -> None:
    """With the remedy, and before anything is written."""
    (tmp_path / "in").write_bytes(as_line(row()) + b"\n")

    result = ran(*make(tmp_path))

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_terminal_shows_a_bar_with_a_rate(
    put: Rows, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in the end it is gone."""
    monkeypatch.setenv("TERM", "xterm")  # where the tests run there may be none
    monkeypatch.setenv("COLUMNS", "100")
    pty = pytest.importorskip("pty", reason="needs a terminal")
    ours, theirs = pty.openpty()
    with open(theirs, "w") as terminal, Bar(Console(file=terminal)) as bar:
        score_file(put(*many(20)), out, watch=bar)
        bar.close()
        shown = b""
        while select.select([ours], [], [], 0.1)[0]:  # a terminal hands over a part at a time
            shown += os.read(ours, 65_536)
    os.close(ours)

    assert re.search(rb"100% .*20 lines, [\d,]+/s", shown)
    assert shown.endswith(b"\x1b[2K")  # the line is cleared
    assert bar.told().startswith("20 lines; 20 in ")


def test_no_jobs_are_refused(put: Rows, out: Path) -> None:
    """By the call, and by the command's own parser."""
    with pytest.raises(ConfigError, match="`jobs` is 0"):
        score_file(put(row()), out, jobs=0)
    assert ran(put(row()), "-o", out, "--jobs", "-1").exit_code == 2


def test_a_full_disk_is_an_error_and_not_a_loss(put: Rows, out: Path) -> None:
    """What could not be written is written by the next run."""
    resource = pytest.importorskip("resource", reason="needs a limit for the size of files")
    source = put(*many(40))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limit[1]))
    try:
        with pytest.raises(FaithguardError, match=r"cannot be written on \(File too large\)"):
            score_file(source, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)

    score_file(source, out)

    whole = out.with_name("whole.jsonl")
    score_file(source, whole)
    assert bytes_of(out) == bytes_of(whole)


def test_a_record_of_the_file_is_a_record(put: Rows, out: Path) -> None:
    """The number before it does not keep anybody from reading it, and nothing is lost."""
    score_file(put(row()), out)
    (line,) = out.read_text("ascii").splitlines()

    record = from_json(Record, line)

    assert json.loads(to_json(record)) == {k: v for k, v in json.loads(line).items() if k != "line"}


def test_a_judge_that_fails_is_no_verdict_on_the_answers(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit code is that of a failure, and each run says how to ask again."""
    pytest.importorskip("openai", reason="pip install 'faithguard[openai]' brings the client")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    row = {
        "question": "When does it sail?",
        "context": ["The ferry leaves at 9 from the old harbour."],
        "answer": "The boat sails in the morning hours from the port.",
    }
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(row) + "\n")
    with JudgeServer(honest(), "wrong key") as server:
        for _ in range(2):
            result = ran(source, "-o", out, "--judge", "m", "--judge-url", server.url)
            assert result.exit_code == 2
            assert "1 answer lacks verdicts, since a check failed" in result.stderr
            assert "--restart asks again" in result.stderr
    with JudgeServer(honest()) as server:
        args = (source, "-o", out, "--judge", "m", "--judge-url", server.url, "--restart")
        result = ran(*args)

    assert result.exit_code in (0, 1)
    assert "lacks verdicts" not in result.stderr
