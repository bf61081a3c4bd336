"""Record -> one line of JSON in a file, and back."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from faithguard.errors import CaptureError, ConfigError
from faithguard.sinks._redact import Keep, checked_tags
from faithguard.types import Record, from_json, to_json

try:
    import fcntl
except ImportError:  # Windows: one process to a file
    fcntl = None  # type: ignore[assignment]

__all__ = ["JsonlSink"]

log = logging.getLogger("faithguard")


class JsonlSink:
    """Append each record to a file that only its owner may read.

    A line is written whole or not at all, also with several processes on one file.

    Args:
        path: The file; it is made when the first record comes, its folder must be there.
        redact: A text -> what may be kept of it; every text of a record passes through it.
        texts: Whether texts are kept; if not, then labels, counts, spans, sources and tags.
        tags: To be added to each record's own, such as the version of a prompt.

    Raises:
        ConfigError: If there is no such folder, the path is one itself, or another value cannot
            be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        redact: Callable[[str], str] | None = None,
        texts: bool = True,
        tags: Sequence[str] = (),
    ) -> None:
        self._keep = Keep(redact=redact, texts=texts, tags=checked_tags(tags))
        self._path = Path(path).absolute()  # the program may change its folder
        if self._path.is_dir():
            raise ConfigError(f"JsonlSink({str(path)!r}) is a folder: name a file in it")
        if not self._path.parent.is_dir():
            raise ConfigError(
                f"JsonlSink({str(path)!r}): there is no folder {str(self._path.parent)!r}; make "
                "it, or name another"
            )
        self._lock = threading.Lock()  # one line at a time

    def write(self, record: Record) -> None:
        """Append the record.

        Raises:
            OSError: If the file cannot be written.
            FaithguardError: If `redact` fails; nothing is written then.
        """
        line = (to_json(self._keep(record)) + "\n").encode("ascii")
        with self._lock:
            file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                _append(file, line)
            finally:
                os.close(file)

    def read(self) -> Iterator[Record]:
        """Yield the records of the file, in order; what a crash tore is passed over and told."""
        with self._path.open(encoding="ascii", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    record = from_json(Record, line)
                except CaptureError:
                    log.warning("faithguard: line %d of %s is no record", number, self._path)
                    continue
                yield record


def _append(file: int, line: bytes) -> None:
    """Append a line whole or not at all, while no other process does."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":
        line = b"\n" + line  # a line that was torn ends here
    written = 0
    try:
        while written < len(line):
            written += os.write(file, line[written:])
    except OSError:
        os.ftruncate(file, size)
        raise
