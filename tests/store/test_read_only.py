"""A store that cannot be written: everything reads it, nothing is left beside it, no one writes.

The commands run in a process that gives up its rights if it is root's, since root may do all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faithguard import SqliteSink
from faithguard.store import Store
from tests.store.scene import record

pytestmark = pytest.mark.skipif(
    not hasattr(os, "getuid"), reason="Windows has no such modes of files"
)

ROOT = Path(__file__).parents[2]

COMMANDS = """
import json, os, sys
from typer.testing import CliRunner
from faithguard.cli import app
from faithguard.store import Store

def told(path):
    commands = (["show", "--store", path], ["report", path, "-o", "-"],
                ["store", "export", "--store", path], ["store", "import", sys.argv[3], "--store",
                path], ["store", "prune", "--days", "9000", "--store", path])
    for args in commands:
        done = CliRunner().invoke(app, args)
        yield args[0] if args[0] != "store" else args[1], done.exit_code, done.output
    with Store(path) as store:
        yield "count", store.count(), ""

list(told(sys.argv[1]))  # nothing is left to be imported
if os.getuid() == 0:
    os.setuid(65534)
print(json.dumps({name: (code, output) for name, code, output in told(sys.argv[2])}))
"""

FOLLOWED = """
import os, sys
from faithguard.store import Store

if os.getuid() == 0:
    os.setuid(65534)
with Store(sys.argv[1]) as store:
    while True:
        print(store.count(), flush=True)
        if not sys.stdin.readline():
            break
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may enter, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        path.chmod(0o755)


def _of_file(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o777)


def _of_folder(path: Path) -> None:
    path.chmod(0o644)
    path.parent.chmod(0o555)


def _of_both(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o555)


LOCKS: dict[str, Callable[[Path], None]] = {
    "file": _of_file,
    "folder": _of_folder,
    "both": _of_both,
}


def left_open(path: Path) -> None:
    """Write a record as a process does that is killed then: it stays in the log beside the file."""
    code = (
        "import os, sys; from faithguard import SqliteSink; from tests.store.scene import record; "
        "SqliteSink(sys.argv[1]).write(record('late')); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=True)


def told(path: Path, tmp_path: Path) -> dict[str, tuple[int, str]]:
    """Return the exit code and the output of the commands, by their names."""
    warm = tmp_path / "warm.db"
    SqliteSink(warm).write(record())
    lines = path.parent / "one.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, str(warm), str(path), str(lines)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[int, str]] = json.loads(done.stdout)
    return found


def filled(folder: Path) -> Path:
    """Return a store of one record, beside a file of one."""
    (folder / "one.jsonl").write_text(record("new").to_json())
    path = folder / "records.db"
    sink = SqliteSink(path)
    sink.write(record("before"))
    sink.close()
    return path


def beside(path: Path) -> list[str]:
    """Return what SQLite keeps beside a file."""
    return sorted(one.name for one in path.parent.glob(f"{path.name}-*"))


@pytest.mark.parametrize("lock", LOCKS)
def test_what_cannot_be_written_can_be_read(lock: str, folder: Path, tmp_path: Path) -> None:
    """By every command; those that write say so, and the next writer finds nothing in its way."""
    path = filled(folder)
    LOCKS[lock](path)
    found = told(path, tmp_path)

    assert {name: code for name, (code, _) in found.items()} == {
        "show": 0,
        "report": 0,
        "export": 0,
        "import": 2,
        "prune": 2,
        "count": 1,
    }
    assert all("before" in found[name][1] for name in ("show", "report", "export"))
    for name in ("import", "prune"):
        assert "cannot be written: the file or its folder is read-only" in found[name][1]
    assert beside(path) == []
    path.parent.chmod(0o755)
    path.chmod(0o600)
    SqliteSink(path).write(record("after"))
    assert [row.id for row in Store(path).page()] == ["after", "before"]


@pytest.mark.parametrize("lock", LOCKS)
def test_records_in_the_log_are_read_where_that_can_be(
    lock: str, folder: Path, tmp_path: Path
) -> None:
    """A process that was killed left them there, with all that it takes to read them."""
    path = filled(folder)
    left_open(path)
    names = beside(path)
    for name in names:
        (folder / name).chmod(0o444)
    LOCKS[lock](path)
    found = told(path, tmp_path)

    assert found["count"][0] == 2
    assert "late" in found["show"][1]
    assert beside(path) == names == ["records.db-shm", "records.db-wal"]


@pytest.mark.parametrize("lock", LOCKS)
def test_records_in_a_log_that_cannot_be_read_are_told(
    lock: str, folder: Path, tmp_path: Path
) -> None:
    """They are not passed over, and nothing is made beside the file."""
    path = filled(folder)
    left_open(path)
    (folder / "records.db-shm").unlink()
    (folder / "records.db-wal").chmod(0o444)
    LOCKS[lock](path)
    code = "import os, sys; from faithguard.store import Store; os.getuid() or os.setuid(65534)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; Store(sys.argv[1])", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "its last records are in 'records.db-wal' beside it" in done.stderr
    assert "copy both files to a folder of yours" in done.stderr
    assert beside(path) == ["records.db-wal"]


def test_what_somebody_else_writes_meanwhile_is_seen(folder: Path) -> None:
    """Also where no lock could be had when the reading began."""
    path = filled(folder)
    path.chmod(0o644)
    folder.chmod(0o555)
    reader = subprocess.Popen(
        [sys.executable, "-c", FOLLOWED, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdin is not None
    assert reader.stdout is not None
    seen = [reader.stdout.readline()]
    folder.chmod(0o755)
    sink = SqliteSink(path)
    for close in (False, True):
        sink.write(record("more"))
        if close:
            sink.close()
        print(file=reader.stdin, flush=True)
        seen.append(reader.stdout.readline())
    reader.stdin.close()
    reader.wait(20)

    assert [int(count) for count in seen] == [1, 2, 3]


def test_reading_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    """SQLite's own files would outlast whoever only looked."""
    path = filled(tmp_path)
    with Store(path) as store:
        assert store.count() == 1
    assert beside(path) == []
