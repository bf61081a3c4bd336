"""A path -> connections to the database in it: opened late, anew after a fork or a new file.

In: the path. Out: a connection, to one thread at a time; and errors in our own words.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from faithguard._fork import reset_in_child
from faithguard.errors import ConfigError, FaithguardError, describe
from faithguard.store._schema import migrate, versions

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["VARIABLE", "Damaged", "Link", "StrPath", "store_path"]

log = logging.getLogger("faithguard")

StrPath: TypeAlias = str | os.PathLike[str]

_PATIENCE = 30.0
"""Seconds to wait for other processes that write."""

VARIABLE = "FAITHGUARD_STORE"
_FILE = "records.db"

_UNLOCKED = "immutable=1"
"""How SQLite opens a file without a lock, and beside which it makes no other."""

_OTHERS = 0o077
"""What the mode of a file lets other people than its owner do."""

_open_to_others: set[Path] = set()
"""Files of which that has been told."""


def store_path(path: StrPath | None = None, *, environ: Mapping[str, str] | None = None) -> Path:
    """Return where the store is: the path given, else FAITHGUARD_STORE, else the usual place.

    The usual place is `faithguard/records.db` in the folder of the user's data:
    `$XDG_DATA_HOME` or `~/.local/share`, on macOS `~/Library/Application Support`, on Windows
    `%LOCALAPPDATA%`.

    Args:
        path: A file; it need not be there.
        environ: Variables to read instead of `os.environ`.
    """
    variables = os.environ if environ is None else environ
    named = path or variables.get(VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    return _data_folder(variables) / "faithguard" / _FILE


def _data_folder(variables: Mapping[str, str]) -> Path:
    if sys.platform == "win32":
        return Path(variables.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(variables.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


class Damaged(Exception):
    """What stands in the file is not what was written; says where, and holds no text."""


class Link:
    """One connection, shared by the threads of a process.

    Args:
        path: The file.
        read_only: Whether it must be there, and stays as it is.
        make_folder: Whether its folder may be made.

    Raises:
        ConfigError: If the path cannot be a store.
    """

    def __init__(self, path: Path, *, read_only: bool, make_folder: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._file: tuple[int, ...] | None = None
        self._parameters = "mode=rw"
        self._inherited: list[sqlite3.Connection] = []
        if path.is_dir():
            raise ConfigError(f"the store {str(path)!r} is a folder: name a file in it")
        if path.exists() and not path.is_file():
            raise ConfigError(f"the store {str(path)!r} is no regular file: name another")
        if read_only and not path.exists():
            raise ConfigError(
                f"there is no store {str(path)!r}: set {VARIABLE} or pass "
                "sinks=[SqliteSink()] where your answers are made, or name another file"
            )
        if make_folder:
            _make_folder(path.parent)
        if not path.parent.is_dir():
            raise ConfigError(
                f"the store {str(path)!r} cannot be made: there is no folder "
                f"{str(path.parent)!r}; make it, or name another"
            )
        reset_in_child(self)

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Give a connection that sees one state of the store."""
        with self._lock, self._told("read"):
            db = self._connected()
            with _transaction(db):
                yield db

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """Give a connection whose changes are kept as a whole, or not at all."""
        with self._lock, self._told("written"):
            db = self._connected()
            with _transaction(db, "IMMEDIATE"):
                yield db

    @contextmanager
    def plain(self) -> Generator[sqlite3.Connection]:
        """Give a connection outside of any transaction."""
        with self._lock, self._told("written"):
            yield self._connected()

    @contextmanager
    def _told(self, what: str) -> Generator[None]:
        """Turn what SQLite raises, which holds no text, into an error that names the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            # "Could not decode to UTF-8 column 'x' with text '...'": the text is a record's
            told = str(error).partition(" with text ")[0]
            raise FaithguardError(
                f"the store {str(self.path)!r} cannot be {what}: {told}"
            ) from None
        except (sqlite3.Error, OSError, Damaged) as error:
            reason = getattr(error, "strerror", None) or error
            raise FaithguardError(
                f"the store {str(self.path)!r} cannot be {what}: {reason}"
            ) from error
        except (TypeError, ValueError, OverflowError, LookupError) as error:  # what was asked is
            # checked before, so a value of another kind stands in the file
            raise FaithguardError(
                f"the store {str(self.path)!r} cannot be {what}: it is damaged ({describe(error)})"
            ) from None

    def _connected(self) -> sqlite3.Connection:
        """Return the connection; another file in its place is opened anew."""
        if self._db is not None and self._identity() != self._file:
            self._db.close()
            self._db = None
        if self._db is None:
            with self._told("read" if self.read_only else "written"):
                if self.read_only:
                    self._parameters = _way_to_read(self.path)
                else:
                    _make(self.path)
                self._file = self._identity()
                self._db = self._opened()
        return self._db

    def _identity(self) -> tuple[int, ...] | None:
        """Return what tells the file from another, and where no lock is had also from itself."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        same = found.st_dev, found.st_ino
        if self._parameters != _UNLOCKED:
            return same
        return *same, found.st_size, found.st_mtime_ns, _size(_beside(self.path, "-wal"))

    def _opened(self) -> sqlite3.Connection:
        db = _connect(self.path, self._parameters)
        try:
            if self.read_only:
                db.execute("PRAGMA query_only = ON")
            with _transaction(db):
                version, latest = versions(db)
            if self.read_only and version < latest:
                self._bring_up()
            elif not self.read_only:
                _prepare(db, made=version == latest)
        except ConfigError as error:
            db.close()
            raise ConfigError(f"the store {str(self.path)!r} cannot be used: {error}") from None
        except BaseException:
            db.close()
            raise
        return db

    def _bring_up(self) -> None:
        """Bring the file to this version, or make its tables."""
        link = Link(self.path, read_only=False)
        try:
            with link.plain():
                pass
        except FaithguardError as error:
            raise FaithguardError(
                f"{error}; an earlier faithguard wrote it, and it is brought to this version when "
                "it is opened: copy it to a folder of yours and name the copy"
            ) from error
        finally:
            link.close()

    def close(self) -> None:
        """End the connection; the next use opens another."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def after_fork(self) -> None:
        """Open another connection in a child; the parent's is not the child's to close."""
        self._lock = threading.RLock()
        if self._db is not None:
            self._inherited.append(self._db)
            self._db = None


def _make_folder(folder: Path) -> None:
    with suppress(OSError):  # that it is not there is told
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _make(path: Path) -> None:
    """Make an empty file that only its owner may read; SQLite's own files follow its mode.

    Raises:
        FaithguardError: If this user may not write it.
    """
    if path.exists():
        if not _may_write(path):  # SQLite would leave files behind that its owner cannot write to
            raise FaithguardError(
                f"the store {str(path)!r} cannot be written: the file or its folder is read-only "
                "for this user; name another file"
            )
        _keep_private(path)
        return
    with _alone(path.parent):
        if not path.exists():
            for end in ("-wal", "-shm"):  # of a file that was deleted: SQLite would believe them
                Path(f"{path}{end}").unlink(missing_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _keep_private(path: Path) -> None:
    """Close an empty file to other people; of one with records say once that they may read it."""
    if os.name != "posix":
        return
    found = path.stat()
    if not found.st_mode & _OTHERS or path in _open_to_others:
        return
    if not found.st_size:
        with suppress(OSError):  # it is another user's
            path.chmod(found.st_mode & 0o700)
            return
    _open_to_others.add(path)
    log.warning(
        "faithguard: other users may open the store %r (mode %04o): chmod 600 makes it yours alone",
        str(path),
        found.st_mode & 0o777,
    )


def _may_write(path: Path) -> bool:
    """Say whether this user may write the file, and those that SQLite keeps beside it."""
    if not os.access(path, os.W_OK):
        return False
    wal, shm = _beside(path, "-wal"), _beside(path, "-shm")
    return all(os.access(one, os.W_OK) for one in (wal, shm)) or os.access(wal.parent, os.W_OK)


def _beside(path: Path, end: str) -> Path:
    """Return a file of SQLite's own."""
    return Path(f"{path.resolve()}{end}")


def _way_to_read(path: Path) -> str:
    """Return the parameters with which SQLite reads a file and leaves nothing behind.

    Raises:
        FaithguardError: If some of the records are where they cannot be read.
    """
    if _may_write(path):
        return "mode=rw"  # which clears its own files away, as "ro" does not
    wal, shm = _beside(path, "-wal"), _beside(path, "-shm")
    if not _size(wal):
        return _UNLOCKED
    if os.access(wal, os.R_OK) and os.access(shm, os.R_OK):
        return "mode=ro&readonly_shm=1"
    raise FaithguardError(
        f"the store {str(path)!r} cannot be read: its last records are in {wal.name!r} beside it, "
        f"which nobody can read without {shm.name!r} where the store or its folder is read-only; "
        "copy both files to a folder of yours and name the copy"
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Let one process at a time make files in a folder."""
    if fcntl is None:  # Windows deletes no file that is open
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)  # until it is closed
        yield
    finally:
        os.close(opened)


def _connect(path: Path, parameters: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{parameters}",
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )


def _prepare(db: sqlite3.Connection, *, made: bool) -> None:
    """Set a connection up for writing."""
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before there is a table, or not at all
    _patiently(db, "PRAGMA journal_mode = WAL")
    # A commit outlives the process, whatever ends it; a power cut may take the last seconds.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")  # what retention deletes is gone
    while not made:  # one version after another; several processes may try at once
        with _transaction(db, "IMMEDIATE"):
            made = migrate(db)


@contextmanager
def _transaction(db: sqlite3.Connection, kind: str = "") -> Generator[None]:
    """Keep all that is done, or nothing."""
    db.execute(f"BEGIN {kind}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # some faults end it themselves
            db.execute("ROLLBACK")
        raise


def _patiently(db: sqlite3.Connection, sql: str) -> None:
    """Run what SQLite does not wait for itself, while another process opens the file."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            db.execute(sql).fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
