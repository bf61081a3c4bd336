"""SqliteSink: no committed record is lost, whoever else writes and however a process ends."""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from faithguard import ConfigError, FaithguardError, SqliteSink
from faithguard.sinks import AnySink, JsonlSink
from faithguard.store import Filter, Store
from faithguard.testing import check_sink, example_record
from faithguard.watch import Outbox, Watch
from tests.store.scene import RIGHT, padded, record

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_store_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own setting has no say here."""
    monkeypatch.delenv("FAITHGUARD_STORE", raising=False)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings so far."""
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def rows(path: Path) -> int:
    """Count the records of a store that may not be there yet."""
    return Store(path).count() if path.exists() else 0


def test_it_keeps_the_contract_of_sinks(tmp_path: Path) -> None:
    """One record, one row, also from threads."""
    path = tmp_path / "records.db"

    check_sink(SqliteSink(path), lambda: rows(path))


def test_no_file_is_made_before_the_first_record(tmp_path: Path) -> None:
    """Naming a path leaves no trace."""
    SqliteSink(tmp_path / "records.db")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sink", [SqliteSink, JsonlSink])
def test_a_program_may_change_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sink: type[SqliteSink] | type[JsonlSink]
) -> None:
    """Records go where they were told to go."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    here = sink("records")
    here.write(record())
    monkeypatch.chdir(tmp_path / "elsewhere")
    here.write(record())

    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_age": timedelta(0)}, "`max_age` is .*: name a time, timedelta"),
        ({"max_age": 5}, "`max_age` is 5: name a time, timedelta"),
        ({"max_age": timedelta.max}, "`max_age` is .*: name a time, timedelta"),
        ({"max_bytes": 1_000}, "`max_bytes` is 1000: name at least"),
        ({"max_bytes": "1 GB"}, "`max_bytes` is '1 GB': name at least"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_told(
    tmp_path: Path, options: dict[str, timedelta | int], message: str
) -> None:
    """At once."""
    with pytest.raises(ConfigError, match=message):
        SqliteSink(tmp_path / "records.db", **options)  # type: ignore[arg-type]


def test_the_variable_adds_a_store_to_the_usual_sinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log line stays."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "records.db"))
    one = record()
    with caplog.at_level(logging.INFO, logger="faithguard"):
        watch = Watch("support")
        watch.submit(lambda: one.exchange)
        assert watch.wait(10)

    assert [row.id for row in Store().page()] == ["r1"]
    assert "faithguard id=r1" in caplog.text


_SINKS: dict[str, tuple[Callable[[Path], list[AnySink]], list[str]]] = {
    "a function": (lambda _: [lambda record: None], ["r1"]),
    "another kind": (lambda path: [JsonlSink(path / "records.jsonl")], ["r1"]),
    "another store": (lambda path: [SqliteSink(path / "other.db")], ["r1"]),
    "the same store": (lambda path: [SqliteSink(path / "records.db")], ["r1"]),
    "by another name": (lambda path: [SqliteSink(path / "link.db", tags=["own"])], ["r1"]),
    "by no name": (lambda _: [SqliteSink()], ["r1"]),
    "its method": (lambda _: [SqliteSink().write], ["r1"]),
    "none": (lambda _: [], []),
}


@pytest.mark.parametrize("named", _SINKS)
def test_the_store_of_the_variable_is_added_to_sinks_in_code(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and with the settings of a sink of that file, if there is one."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "records.db"))
    (tmp_path / "link.db").symlink_to(tmp_path / "records.db")
    make, kept = _SINKS[named]
    outbox = Outbox(make(tmp_path))
    outbox.tell(record())
    assert outbox.queue.wait(10)

    rows = Store().page() if kept else ()
    assert [row.id for row in rows] == kept
    assert [row.tags for row in rows if "own" in row.tags] == (
        [("own",)] if named == "by another name" else []
    )
    assert (tmp_path / "records.db").exists() == bool(kept)


def test_a_variable_that_names_no_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is watched."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "none" / "x.db"))

    with pytest.raises(ConfigError, match=r"there is no folder '.*none'; make it"):
        Watch("support")


# Other people ---------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes of files")


@posix
@pytest.mark.parametrize("mode", [0o666, 0o644, 0o660])
def test_a_file_that_others_may_open_is_told_once(
    mode: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It may be shared on purpose, so its mode stays; whoever did not mean it learns of it."""
    path = tmp_path / "records.db"
    SqliteSink(path).write(record("before"))
    path.chmod(mode)
    for _ in range(2):
        sink = SqliteSink(path)
        sink.write(record("after"))
        sink.close()

    (said,) = warnings(caplog)
    assert f"other users may open the store {str(path)!r} (mode 0{mode:o}): chmod 600" in said
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_an_empty_file_becomes_its_owners_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As one that the sink makes: nobody shares what holds nothing."""
    path = tmp_path / "records.db"
    path.touch()
    path.chmod(0o666)
    sink = SqliteSink(path)
    sink.write(record())

    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert modes == {0o600}
    assert warnings(caplog) == []


# Retention ------------------------------------------------------------------------------------


def test_old_records_go_when_another_comes(tmp_path: Path) -> None:
    """Those that were made longer ago than is allowed."""
    path = tmp_path / "records.db"
    now = datetime.now(UTC)
    filled = SqliteSink(path)
    for n, age in enumerate((40, 31, 29, 1)):
        one = record(f"r{n}")
        began = now - timedelta(days=age)
        filled.write(replace(one, exchange=replace(one.exchange, started_at=began)))
    SqliteSink(path, max_age=timedelta(days=30)).write(example_record())

    assert [row.id for row in Store(path).page()] == ["example", "r3", "r2"]


def test_a_store_grows_no_larger_than_it_may(tmp_path: Path) -> None:
    """Looked at every 100 records; the newest stay."""
    path = tmp_path / "records.db"
    sink = SqliteSink(path, max_bytes=2**20)
    for n in range(301):
        sink.write(padded(record(f"r{n}"), 10_000))
    sink.close()
    ids = {row.id for row in Store(path).page(limit=1_000)}

    assert sink.stored == 301
    assert 20 < len(ids) < 301
    assert ids == {f"r{n}" for n in range(301 - len(ids), 301)}
    assert path.stat().st_size <= 2**20


# Losses ---------------------------------------------------------------------------------------


def test_a_loss_is_counted_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With the reason and no text; and once more when it is over, with the count."""
    folder = tmp_path / "gone"
    folder.mkdir()
    sink = SqliteSink(folder / "records.db")
    outbox = Outbox([sink])
    folder.rmdir()
    for n in range(20):
        outbox.submit(lambda n=n: record(f"lost{n}"))  # type: ignore[misc]
    assert outbox.queue.wait(10)
    folder.mkdir()
    for n in range(5):
        outbox.submit(lambda n=n: record(f"kept{n}"))  # type: ignore[misc]
    assert outbox.queue.wait(10)

    assert (sink.stored, sink.lost, outbox.lost) == (5, 20, 20)
    assert outbox.queue.submitted == sink.stored + sink.lost + outbox.queue.dropped
    assert Store(folder / "records.db").count() == 5
    first, second = warnings(caplog)
    assert "No such file or directory in sink SqliteSink; what else it loses is counted" in first
    assert "sink SqliteSink works again, 20 records lost" in second
    assert RIGHT not in caplog.text


def test_one_sink_that_fails_takes_nothing_from_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each has its own count."""
    (tmp_path / "folder.db").mkdir()
    kept: list[str] = []

    def fail(_: object) -> None:
        raise OSError

    outbox = Outbox([fail, lambda one: kept.append(one.exchange.id)])
    for n in range(3):
        outbox.submit(lambda n=n: record(f"r{n}"))  # type: ignore[misc]
    assert outbox.queue.wait(10)

    assert kept == ["r0", "r1", "r2"]
    assert outbox.lost == 3
    assert len(warnings(caplog)) == 1


def test_a_store_that_is_held_holds_up_nobody(tmp_path: Path) -> None:
    """Another program that writes for long makes the queue wait, and not its host."""
    path = tmp_path / "records.db"
    sink = SqliteSink(path)
    sink.write(record("before"))
    outbox = Outbox([sink], capacity=3)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    room = [outbox.submit(lambda n=n: record(f"r{n}")) for n in range(6)]  # type: ignore[misc]
    assert not outbox.queue.wait(0.2)
    other.execute("COMMIT")
    other.close()
    assert outbox.queue.wait(60)

    assert room.count(False) == outbox.queue.dropped > 0
    assert Store(path).count() == 1 + room.count(True)


FULL = """
import logging, resource, sys
from pathlib import Path
from faithguard import SqliteSink
from faithguard.watch import Outbox
from tests.store.scene import padded, record
logging.basicConfig(stream=sys.stdout, format="%(message)s")
sink = SqliteSink(sys.argv[1])
outbox = Outbox([sink])
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
for n in range(300):
    outbox.submit(lambda n=n: padded(record(f"r{n}"), 5_000))
assert outbox.queue.wait(60)
print(sink.stored, sink.lost, outbox.queue.dropped, outbox.queue.submitted)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit to the size of a file")
def test_a_full_disk_stops_nothing(tmp_path: Path) -> None:
    """The host goes on; what is in the store stays whole; the loss is said once, and counted."""
    path = tmp_path / "records.db"
    out = python(FULL, str(path)).splitlines()
    stored, lost, dropped, submitted = map(int, out[1].split())

    assert len(out) == 3
    assert "cannot be written: " in out[0]
    assert out[2] == f"faithguard: records lost in sink SqliteSink: {lost} in all"
    assert lost > 100
    assert stored > 10
    assert stored + lost + dropped == submitted == 300
    assert intact(path)
    assert {row.id for row in Store(path).page(limit=500)} == {f"r{n}" for n in range(stored)}


READ_ONLY = """
import logging, os, sys, tempfile
from faithguard import SqliteSink
from faithguard.watch import Outbox
from tests.store.scene import record
logging.basicConfig(stream=sys.stdout, format="%(message)s")
one = record()
with tempfile.TemporaryDirectory() as elsewhere:
    SqliteSink(os.path.join(elsewhere, "a.db")).write(one)  # nothing is left to be imported
if os.getuid() == 0:
    os.setuid(65534)  # no file is closed to root
outbox = Outbox([SqliteSink(sys.argv[1])])
for _ in range(10):
    outbox.submit(lambda: one)
assert outbox.queue.wait(60)
print(outbox.lost)
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such modes of files")
def test_a_file_that_may_not_be_written_stops_nothing(tmp_path: Path) -> None:
    """The host goes on, and the loss is said once."""
    # others may enter it, unlike tmp_path
    folder = Path(tempfile.gettempdir()) / f"faithguard-{os.getpid()}"
    folder.mkdir()
    path = folder / "records.db"
    try:
        SqliteSink(path).write(record("before"))
        path.chmod(0o444)
        folder.chmod(0o555)
        out = python(READ_ONLY, str(path)).splitlines()
        folder.chmod(0o755)

        assert "cannot be written" in out[0]
        assert out[1:] == ["10", "faithguard: records lost in sink SqliteSink: 10 in all"]
        assert Store(path).count() == 1
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def python(code: str, *arguments: str) -> str:
    """Run code in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def intact(path: Path) -> bool:
    """Say whether SQLite finds the file whole."""
    with sqlite3.connect(path) as db:
        (word,) = db.execute("PRAGMA integrity_check").fetchone()
    db.close()
    return word == "ok"


# Processes ------------------------------------------------------------------------------------


def writer(path: Path, name: str, *options: str) -> subprocess.Popen[str]:
    """Start a process of threads that write."""
    command = [sys.executable, "-m", "tests.store.writing", str(path), name, *options]
    told = subprocess.DEVNULL if "--told" in options else subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdout=told, stderr=subprocess.DEVNULL, text=True)


def test_processes_of_threads_write_to_one_file(tmp_path: Path) -> None:
    """Also the first ones, which make it: stored + dropped = submitted, and each is there once."""
    path = tmp_path / "records.db"
    writers = [writer(path, f"w{n}", "--records", "25") for n in range(4)]
    results = [json.loads(process.communicate(timeout=100)[0]) for process in writers]

    for result in results:
        assert result == {"submitted": 100, "stored": 100, "dropped": 0, "lost": 0}
    ids = [one.exchange.id for one in Store(path).records()]
    assert sorted(ids) == sorted(
        f"w{w}.{thread}.{n}" for w in range(4) for thread in range(4) for n in range(25)
    )


@pytest.fixture
def killed() -> Iterator[list[subprocess.Popen[str]]]:
    """Return a list for processes that must not outlive the test."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")
def test_no_written_record_is_lost_by_a_kill(
    tmp_path: Path, killed: list[subprocess.Popen[str]]
) -> None:
    """At random moments, of two processes at once: the file is whole, and what was said is there.

    `tests.bench.store kills` does so 50 times.
    """
    path, told = tmp_path / "records.db", tmp_path / "told"
    rng = random.Random(4)
    for turn in range(2):
        before = told.stat().st_size if told.exists() else 0
        killed[:] = [
            writer(path, f"t{turn}w{n}", "--records", "5000", "--told", str(told)) for n in "ab"
        ]
        while not told.exists() or told.stat().st_size == before:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.3))
        for process in killed:
            process.kill()
            process.wait()

        assert intact(path)
        # the last line may be of an id that is written and not yet told as a whole
        said = {line for line in told.read_text().splitlines(keepends=True) if line[-1] == "\n"}
        kept = {f"{row.id}\n" for row in Store(path).page(limit=100_000)}
        assert len(said) > turn
        assert said <= kept
    assert Store(path).count(Filter(text="day ticket")) == Store(path).count()


def test_an_error_names_the_file_and_no_text(tmp_path: Path) -> None:
    """Whatever SQLite says is told in our words."""
    path = tmp_path / "records.db"
    path.write_bytes(b"\x00" * 10_000)

    with pytest.raises(FaithguardError, match=r"records.db' cannot be written: file is not a"):
        SqliteSink(path).write(record())
