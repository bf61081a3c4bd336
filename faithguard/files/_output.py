"""What became of batches -> the two output files, and the state by which a run goes on."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from faithguard.errors import CaptureError, ConfigError, FaithguardError
from faithguard.files._lines import Batch, Mark, StrPath
from faithguard.files._work import Scored
from faithguard.stats import Tally
from faithguard.types import from_json, to_json

try:
    import fcntl
except ImportError:  # Windows: nobody keeps two runs apart
    fcntl = None  # type: ignore[assignment]

__all__ = ["Output", "State", "rejects_path"]

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a run was."""

    mark: Mark = field(default_factory=Mark)
    records: int = 0
    """Bytes of the output that belong to the mark."""
    rejects: int = 0
    """Bytes of the rejects file that do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a later run must know; no text of anybody's is in it."""

    format: int = _FORMAT
    settings: Mapping[str, str]
    place: Place = field(default_factory=Place)
    """From where on it works."""
    end: Place | None = None
    """Where the input had ended: further, if its last line had no end and may have grown."""
    tally: Tally = field(default_factory=Tally)
    """Of what lies before `place`."""


def rejects_path(out: StrPath) -> Path:
    """Return where bad lines go by default: `reports.rejects.jsonl` beside `reports.jsonl`."""
    path = Path(out)
    return path.with_name(path.name.removesuffix(".jsonl") + ".rejects.jsonl")


class Output:
    """The files of one run.

    Args:
        out: Takes the records.
        rejects: Takes the bad lines.
        settings: What the outputs depend on besides the input.
        restart: Whether to replace what is there.
        source: The input, which must be none of them.

    Raises:
        ConfigError: If a file cannot be used or holds something else, or another run writes it.
    """

    def __init__(
        self,
        out: StrPath,
        rejects: StrPath | None,
        *,
        settings: Mapping[str, str],
        restart: bool,
        source: Path | None,
    ) -> None:
        self._out = Path(out)
        if not self._out.name:
            raise ConfigError(f"{os.fspath(out)!r} is a directory; name a file in it")
        self._rejects = rejects_path(out) if rejects is None else Path(rejects)
        self._state = Path(f"{os.fspath(out)}.state")
        self._distinct(source)
        if not self._rejects.parent.is_dir():  # or it would be told at the first bad line
            raise ConfigError(f"{str(self._rejects.parent)!r} is no folder; name a file in one")
        self._records_file = _opened(self._out)
        self._rejects_file: int | None = None
        try:
            self._lock()
            name = os.path.relpath(self._rejects, self._out.parent)
            fresh = State(settings={**settings, "rejects": name})
            self.state = fresh if restart else self._found(fresh)
            self._end = self.state.place
            self._tally = self.state.tally
        except BaseException:
            self.close()
            raise

    def trim(self) -> None:
        """Take away what an earlier run wrote after its last state."""
        # First the state, which explains whatever a kill leaves from here on.
        self.state = replace(self.state, end=None)
        self._save()
        _cut(self._records_file, self.state.place.records)
        if self._rejects.exists():
            _cut(self._open_rejects(), self.state.place.rejects)
            if not self.state.place.rejects:
                self._drop_rejects()

    def commit(self, batch: Batch, scored: Scored) -> None:
        """Write what became of a batch; all of it counts, or after a kill nothing.

        One whose last line has no end is written, and counted, but not noted as done: the next
        run reads it anew, since the line may have grown by then.
        """
        if scored.records:
            _write(self._records_file, scored.records, self._out)
        if scored.rejects:
            _write(self._open_rejects(), scored.rejects, self._rejects)
        before = self.state.place
        if not batch.whole:  # what is saved leaves it out
            self._tally = deepcopy(self._tally)
        self._tally.merge(scored.tally)
        self._tally.blank += batch.blank
        self._end = Place(
            mark=batch.mark,
            records=before.records + len(scored.records),
            rejects=before.rejects + len(scored.rejects),
        )
        if batch.whole:
            self.state = replace(self.state, place=self._end)
            self._save()

    def finish(self) -> Tally:
        """Note that the input has ended; return the counts."""
        self.state = replace(self.state, end=self._end)
        self._save()
        return self._tally

    def close(self) -> None:
        """Close the files."""
        os.close(self._records_file)
        if self._rejects_file is not None:
            os.close(self._rejects_file)
            self._rejects_file = None

    # -- what is there ------------------------------------------------------------------------

    def _distinct(self, source: Path | None) -> None:
        files = {"-o": self._out, "--rejects": self._rejects, "the state file": self._state}
        if source is not None:
            files = {"the input": source, **files}
        seen: dict[object, str] = {}
        for role, path in files.items():
            # a hard link has another path
            same = (s.st_dev, s.st_ino) if (s := _stat(path)) else os.path.realpath(path)
            if (other := seen.setdefault(same, role)) != role:
                raise ConfigError(f"{role} {str(path)!r} is {other}, too: name different files")

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._records_file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until it is closed
        except BlockingIOError:
            raise ConfigError(
                f"another run is writing {str(self._out)!r}: wait for it, or name another -o"
            ) from None
        except OSError:
            pass  # a file system without locks

    def _found(self, fresh: State) -> State:
        """Return the state of an earlier run, if both files hold what it says."""
        if not self._state.exists():
            for path in (self._out, self._rejects):
                if path.exists() and path.stat().st_size:
                    raise _taken(path, "is there, and not by an unfinished run")
            return fresh
        try:
            state = from_json(State, self._state.read_text("ascii"))
        except (CaptureError, OSError, UnicodeDecodeError):
            raise _taken(self._state, "is no state of a run") from None
        changed = sorted(
            name
            for name in {*fresh.settings, *state.settings}
            if fresh.settings.get(name) != state.settings.get(name)
        )
        if changed or state.format != fresh.format:
            what = ", ".join(changed) or "format"
            raise _taken(self._out, f"was made with another {what}")
        end = state.end
        _check(self._out, state.place.records, None if end is None else end.records)
        _check(self._rejects, state.place.rejects, None if end is None else end.rejects)
        return state

    # -- files --------------------------------------------------------------------------------

    def _open_rejects(self) -> int:
        if self._rejects_file is None:
            self._rejects_file = _opened(self._rejects)
        return self._rejects_file

    def _drop_rejects(self) -> None:
        """Leave no empty file behind, so that there is one only where there are bad lines."""
        if self._rejects_file is not None:
            os.close(self._rejects_file)
            self._rejects_file = None
        self._rejects.unlink(missing_ok=True)

    def _save(self) -> None:
        """Replace the state in one step."""
        new = Path(f"{self._state}.new")
        file = _opened(new)
        try:
            os.ftruncate(file, 0)
            _write(file, to_json(self.state).encode("ascii"), new)
        finally:
            os.close(file)
        try:
            new.replace(self._state)
        except OSError as error:
            raise _stopped(self._state, error) from error


def _check(path: Path, least: int, exact: int | None) -> None:
    """Refuse a file that somebody else wrote to."""
    size = path.stat().st_size if path.exists() else 0
    torn = False
    if 0 < least <= size:
        with path.open("rb") as file:
            file.seek(least - 1)
            torn = file.read(1) != b"\n"
    if size < least or exact not in (None, size) or torn:
        raise _taken(path, "was changed since the run that made it")


def _taken(path: Path, what: str) -> ConfigError:
    return ConfigError(f"{str(path)!r} {what}: --restart replaces the output, another -o keeps it")


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None  # opening it says why


def _opened(path: Path) -> int:
    """Open a file that only its owner may read."""
    name = repr(str(path))
    try:
        # not to wait for whoever reads a named pipe
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        file = os.open(path, flags, 0o600)
    except IsADirectoryError:
        raise ConfigError(f"{name} is a directory; name a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{name} cannot be written ({reason}); name a file that can") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ConfigError(f"{name} is no regular file: a run that goes on needs one")
    return file


def _cut(file: int, size: int) -> None:
    os.ftruncate(file, size)
    os.lseek(file, size, os.SEEK_SET)


def _write(file: int, data: bytes, path: Path) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(file, view) :]
    except OSError as error:
        raise _stopped(path, error) from error


def _stopped(path: Path, error: OSError) -> FaithguardError:
    return FaithguardError(
        f"{str(path)!r} cannot be written on ({error.strerror}); what was done is kept, and the "
        "same command goes on from there"
    )
