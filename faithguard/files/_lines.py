"""A file or stream -> batches of numbered lines, each with a mark of how far it was read."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from faithguard.errors import ConfigError

__all__ = ["LONGEST", "Batch", "Line", "Lines", "Mark", "StrPath", "opened"]

StrPath: TypeAlias = str | os.PathLike[str]

LONGEST = 16 * 2**20
"""Bytes of a line that is read; a longer one is a file without line ends, and memory is finite."""

_LINES, _BYTES = 16, 2**18
"""A batch ends with whichever comes first: what a kill loses, and what a worker is sent."""

_CHUNK = 2**20

_CSV = (
    "python -c 'import csv, json, sys; "
    "[print(json.dumps(row)) for row in csv.DictReader(sys.stdin)]' < IN > OUT.jsonl"
)
_GZIP = b"\x1f\x8b"
_BLANK = b"\xef\xbb\xbf \t\r\n"
"""What may stand before a line: a byte order mark, too."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Lines to work on together."""

    lines: tuple[Line, ...]
    blank: int
    """Lines between them that are."""
    mark: Mark
    """After them."""
    whole: bool
    """Whether the last line has an end; if not, it may not be there yet."""
    done: int
    """Bytes of the file read by then."""


class Lines:
    """The lines of a stream.

    Args:
        stream: What is read, unpacked.
        name: What messages call it.
        path: Where it lies, if it is a file.
        file: What lies there, if that is packed.
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
        self._again = io.BytesIO()  # what is read a second time
        self.path = path
        self.total = None if path is None else path.stat().st_size
        self.mark = Mark()

    @property
    def done(self) -> int:
        """Bytes of the file read so far, as it is stored."""
        return self.mark.bytes if self._file is None else self._file.tell()

    def resume(self, mark: Mark, end: Mark | None = None) -> None:
        """Read up to where an earlier run is to go on.

        Args:
            mark: That place.
            end: Where the run was, if it was further.

        Raises:
            ConfigError: If what lies before is not what the earlier run read.
        """
        for _ in self._upto(mark):
            pass
        self.mark = mark
        if end is not None:
            digest = self._digest.copy()
            self._again = io.BytesIO(b"".join(self._upto(end)))
            self._digest = digest

    def _upto(self, mark: Mark) -> Iterator[bytes]:
        left = mark.bytes - self.mark.bytes
        while left and (data := self._read(min(left, _CHUNK), whole=False)):
            left -= len(data)
            yield data
        if left or self._digest.hexdigest() != mark.sha256:
            raise ConfigError(
                f"{self._name} is not what it was: its first {mark.lines:,} lines are not those "
                "that the output was made from; --restart makes the output anew, another "
                "-o keeps it"
            )

    def batches(self) -> Iterator[Batch]:
        """Yield the rest; the stream is read no further than the batch that is asked for."""
        whole = True
        while whole and (batch := self._batch()) is not None:
            yield batch
            whole = batch.whole  # what is written behind it meanwhile is no line of its own

    def _batch(self) -> Batch | None:
        """Read the lines of one batch, and mark what was read."""
        lines: list[Line] = []
        size, number, blank, whole = 0, self.mark.lines, 0, True
        most = number + _LINES
        while number < most and size < _BYTES and (data := self._read(LONGEST + 1)):
            number += 1
            whole = data.endswith(b"\n")
            length = len(data)
            if length > LONGEST and not whole:
                while not whole and (more := self._read(_CHUNK)):
                    length += len(more)
                    whole = more.endswith(b"\n")
                lines.append(Line(number, None, length))
            elif data.isspace():
                blank += 1
            else:
                lines.append(Line(number, data.rstrip(b"\r\n"), length))
            size += length
        if not size:
            return None
        read = self.mark.bytes + size
        self.mark = Mark(bytes=read, sha256=self._digest.hexdigest(), lines=number)
        return Batch(lines=tuple(lines), blank=blank, mark=self.mark, whole=whole, done=self.done)

    def _read(self, most: int, *, whole: bool = True) -> bytes:
        """Read a line, or part of one; or, if it need not be one, anything."""
        try:
            data = self._again.readline(most) if whole else b""
            if not data.endswith(b"\n"):
                read = self._stream.readline if whole else self._stream.read
                data += read(most - len(data))
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
    """Open a file, or read a stream that is left open; unpacked if it is a gzip archive.

    Raises:
        ConfigError: If there is no such file, it cannot be read, or it is of another kind.
    """
    if not isinstance(source, str | os.PathLike):
        yield _lines(source, "the input")
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
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)  # a pipe has no size
        yield _lines(file, name, path if regular else None)


def _lines(stream: BinaryIO, name: str, path: Path | None = None) -> Lines:
    packed = None
    if _head(stream).startswith(_GZIP):
        packed, stream = stream, cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))
    if (problem := _other_kind(_head(stream))) is not None:
        raise ConfigError(f"{name} is {problem}")
    return Lines(stream, name, path=path, file=packed if path is not None else None)


def _head(stream: BinaryIO) -> bytes:
    """Look at the first bytes without reading them; at none, where that is not possible."""
    try:
        return cast("Any", stream).peek(1) if hasattr(stream, "peek") else b""
    except (OSError, EOFError, zlib.error):
        return b""  # whoever reads them is told


def _other_kind(head: bytes) -> str | None:
    """Say what a file is that holds no JSON lines, and how to make them of it.

    Only what the file as a whole must be tells: its first line may be a bad one.
    """
    first, *others = head.lstrip(_BLANK).split(b"\n")
    rest = b"\n".join(others)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16; convert it: iconv -f UTF-16 -t UTF-8 IN > OUT.jsonl"
    if first.startswith(b"[") and not (first.rstrip().endswith(b"]") and rest.strip()):
        return "one JSON array; make JSON lines of it: jq -c '.[]' IN > OUT.jsonl"
    if first.rstrip() == b"{" and rest.lstrip().startswith(b'"'):
        return "JSON over several lines; put each object on one: jq -c . IN > OUT.jsonl"
    if len(others) > 1 and not any(line.lstrip().startswith(b"{") for line in (first, *others)):
        return f"no JSON lines, each an object in {{ }}; make them of CSV: {_CSV}"
    return None
