"""A file or stream -> batches of numbered lines, each with a mark of how far it was read."""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from faithguard.errors import ConfigError

__all__ = ["LONGEST", "Batch", "Line", "Lines", "Mark", "StrPath", "opened"]

StrPath: TypeAlias = str | os.PathLike[str]

LONGEST = 16 * 2**20
"""Bytes of a line that is read; a longer one is a file without line ends, and memory is finite."""

_LINES, _BYTES = 16, 2**18
"""A batch ends with whichever comes first: what a kill loses, and what a worker is sent."""

_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank."""

    number: int
    """From 1."""
    data: bytes | None
    """Without its end; None where it is too long."""
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far the input was read, after unpacking."""

    bytes: int = 0
    sha256: str = hashlib.sha256().hexdigest()
    """Of all these bytes."""
    lines: int = 0
    blank: int = 0
    whole: bool = True
    """Whether the last line had an end."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines to work on together."""

    lines: tuple[Line, ...]
    mark: Mark
    """After them."""
    done: int
    """Bytes of the file read by then."""


class Lines:
    """The lines of a stream.

    Args:
        stream: What is read, unpacked.
        name: What messages call it.
        path: Where it lies, if it is a file.
        file: What is stored, if that is packed.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        *,
        path: Path | None = None,
        file: BinaryIO | None = None,
    ) -> None:
        self._stream = stream
        self._name = name
        self._file = file
        self._digest = hashlib.sha256()
        self.path = path
        self.total = None if path is None else path.stat().st_size
        self.mark = Mark()

    @property
    def done(self) -> int:
        """Bytes of the file read so far, as it is stored."""
        return self.mark.bytes if self._file is None else self._file.tell()

    def resume(self, mark: Mark) -> None:
        """Read up to where an earlier run was.

        Raises:
            ConfigError: If that is not what the earlier run read.
        """
        left = mark.bytes
        while left and (data := self._read(min(left, _CHUNK), whole=False)):
            left -= len(data)
        same = self._digest.hexdigest() == mark.sha256 and not left
        if same and not mark.whole:  # the last line had no end: either it still has none
            rest = self._read(2)
            same = rest in (b"", b"\n", b"\r\n")
            mark = self._marked(mark.bytes + len(rest), mark.lines, mark.blank, whole=bool(rest))
        if not same:
            raise ConfigError(
                f"{self._name} is not what it was: its first {mark.lines:,} lines are not those "
                "that the output was made from; --restart makes the output anew, another "
                "-o keeps it"
            )
        self.mark = mark

    def batches(self) -> Iterator[Batch]:
        """Yield the rest; the stream is read no further than the batch that is asked for."""
        last = self.mark
        while True:
            lines = tuple(self._some())
            if self.mark == last:
                return
            last = self.mark
            yield Batch(lines, self.mark, self.done)

    def _some(self) -> Iterator[Line]:
        """Yield the lines of one batch, and mark what was read."""
        size, count, start = 0, 0, self.mark.bytes
        number, blank, whole = self.mark.lines, self.mark.blank, self.mark.whole
        while count < _LINES and size < _BYTES and (data := self._read(LONGEST + 1)):
            number += 1
            count += 1
            whole = data.endswith(b"\n")
            length = len(data)
            if length > LONGEST and not whole:
                while not whole and (more := self._read(_CHUNK)):
                    length += len(more)
                    whole = more.endswith(b"\n")
                yield Line(number, None, length)
            elif data.isspace():
                blank += 1
            else:
                yield Line(number, data.rstrip(b"\r\n"), length)
            size += length
        self.mark = self._marked(start + size, number, blank, whole=whole)

    def _marked(self, bytes: int, lines: int, blank: int, *, whole: bool) -> Mark:
        digest = self._digest.hexdigest()
        return Mark(bytes=bytes, sha256=digest, lines=lines, blank=blank, whole=whole)

    def _read(self, most: int, *, whole: bool = True) -> bytes:
        """Read a line, or part of one; or, if it need not be one, anything."""
        try:
            data = self._stream.readline(most) if whole else self._stream.read(most)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or "it is damaged"
            raise ConfigError(
                f"{self._name} cannot be read on after line {self.mark.lines:,} ({reason}); what "
                "was done is kept, and the same command goes on from there"
            ) from error
        self._digest.update(data)
        return data


@contextmanager
def opened(source: StrPath | BinaryIO) -> Generator[Lines]:
    """Open a file, unpacked if it is a `.gz`, or read a stream that is left open.

    Raises:
        ConfigError: If there is no such file or it cannot be read.
    """
    if not isinstance(source, str | os.PathLike):
        yield Lines(source, "the input")
        return
    path = Path(source)
    name = f"input file {os.fspath(source)!r}"
    try:
        file = path.open("rb")
    except IsADirectoryError:
        raise ConfigError(f"{name} is a directory; name a file in it") from None
    except FileNotFoundError:
        raise ConfigError(f"{name} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{name} cannot be read ({reason}); name a file that can") from error
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a pipe has no size
            yield Lines(file, name)
        elif path.suffix == ".gz":
            with gzip.open(file) as stream:
                yield Lines(cast("BinaryIO", stream), name, path=path, file=file)
        else:
            yield Lines(file, name, path=path)
