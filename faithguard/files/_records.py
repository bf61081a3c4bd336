"""A file of records -> records, or which line is none."""

from __future__ import annotations

import os
from collections.abc import Iterator

from faithguard.errors import CaptureError
from faithguard.files._lines import StrPath, opened
from faithguard.store._flaws import bad_number
from faithguard.types import Record, from_json

__all__ = ["read_records"]


def read_records(source: StrPath) -> Iterator[Record]:
    """Yield the records of a file that `faithguard score` or a `JsonlSink` wrote; gzip too.

    Unlike a sink's own `read`, which passes over what a crash tore, it ends at a bad line.

    Raises:
        ConfigError: If there is no such file, or it cannot be read.
        CaptureError: If a line is no record, or holds a number that is none; names the line, and
            shows none of it.
    """
    with opened(source) as lines:
        for batch in lines.batches():
            for line in batch.lines:
                try:
                    record = from_json(Record, (line.data or b"").decode("utf-8-sig"))
                    if (wrong := bad_number(record)) is not None:
                        raise CaptureError(f"no record of a check: {wrong}")
                except (CaptureError, UnicodeDecodeError) as error:
                    why = str(error) if isinstance(error, CaptureError) else "not UTF-8"
                    raise CaptureError(
                        f"{os.fspath(source)!r} line {line.number:,}: {why}; records are what "
                        "`faithguard score` writes of exchanges"
                    ) from None
                yield record
