"""A store, or a file of JSON lines -> the records in it; and one into the other.

In: a path, None for the user's own store. Out: records, in the order in which they arrived. A
line of an export is the JSON of a `Record` with one more key, which other readers pass over:

    {"stored": {"time": "2026-03-04T12:00:00Z", "opinions": [...]}, "exchange": {...}, ...}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from faithguard.errors import CaptureError, ConfigError
from faithguard.store import Opinion, Store
from faithguard.types import Record, from_json, to_json

__all__ = ["exported", "imported", "one_of", "records_in"]

_SQLITE = b"SQLite format 3\0"
_LAST = "last"
_NAMED = 5
"""Ids that an error names."""


def records_in(path: str | None, keep: Callable[[Record], bool]) -> Iterator[Record]:
    """Yield the records of a store or a file that `keep` says yes to.

    Raises:
        ConfigError: If there is no such file, or a line of it is no record.
    """
    if _is_store(path):
        with Store(path) as store:
            yield from filter(keep, store.records())
    else:
        yield from filter(keep, _lines(Path(str(path))))


def one_of(path: str | None, name: str) -> tuple[Record, tuple[Opinion, ...]]:
    """Return one record, and what a person said of it.

    Args:
        path: A store or a file; None for the user's own store.
        name: The id, its beginning if no other id begins so, or "last". Of several records with
            one id the last is meant.

    Raises:
        ConfigError: If there is no such record, or more than one.
    """
    if _is_store(path):
        with Store(path) as store:
            newest = store.page(limit=1) if name == _LAST else ()
            found: str | int = (
                newest[0].number if newest else _only(store.ids(name), name, str(store.path))
            )
            record = store.get(found)
            if record is None:  # it was just deleted
                raise ConfigError(f"record {name!r} is gone")
            return record, store.labels(found)
    records: dict[str, Record] = {}
    last = None
    for record in _lines(Path(str(path))):
        last = record
        if record.exchange.id.startswith(name):
            records[record.exchange.id] = record
    if name == _LAST and last is not None:
        return last, ()
    return records[_only(list(records), name, str(path))], ()


def _only(ids: Sequence[str], name: str, where: str) -> str:
    if name in ids:
        return name
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise ConfigError(f"no id in {where!r} begins with {name!r}")
    named = ", ".join(map(repr, ids[:_NAMED])) + (", ..." if len(ids) > _NAMED else "")
    raise ConfigError(f"{len(ids)} ids begin with {name!r}: {named}; give more of it")


def _is_store(path: str | None) -> bool:
    if path is None:
        return True
    with _opened(Path(path)) as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigError(
            f"{str(path)!r} cannot be read ({error.strerror}); name a store or a file of records"
        ) from None


def _lines(path: Path) -> Iterator[Record]:
    return (record for (record,) in _read(path, Record))


def _read(path: Path, *kinds: type[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield each line as a value of each kind."""
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8")
                values = tuple(from_json(kind, text) for kind in kinds)
            except (CaptureError, UnicodeDecodeError) as error:
                reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error
                raise ConfigError(
                    f"line {number:,} of {str(path)!r}: {reason}; `faithguard score` makes "
                    "records of exchanges"
                ) from None
            yield values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What a store knows of a record beside it."""

    time: datetime | None = None
    opinions: tuple[Opinion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What a line has beside a record."""

    stored: _Stored = _Stored()


def exported(store: Store) -> Iterator[str]:
    """Yield a line of JSON for each record of a store, with its time and what was said of it."""
    for entry in store.entries():
        stored = _Line(stored=_Stored(time=entry.time, opinions=entry.opinions))
        both = json.loads(to_json(stored)) | json.loads(entry.record.to_json())
        yield json.dumps(both) + "\n"


def imported(path: str, store: Store) -> tuple[int, int]:
    """Add the records of a file to a store; what is there already is left alone.

    Returns:
        How many were added, and how many were there.

    Raises:
        ConfigError: If a line is no record; those before it are added.
    """
    added = there = 0
    for record, line in _read(Path(path), Record, _Line):
        if store.holds(record):
            there += 1
            continue
        number = store.add(record, now=line.stored.time)
        added += 1
        for said in line.stored.opinions:
            store.label(number, said.claim, said.agree, said.note, now=said.time)
    return added, there
