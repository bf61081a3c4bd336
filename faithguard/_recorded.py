"""A store, or a file of JSON lines -> the records in it; and one into the other.

In: a path, None for the user's own store. Out: records, in the order in which they arrived. A
line of an export is the JSON of a `Record` with one more key, which other readers pass over:

    {"stored": {"time": "2026-03-04T12:00:00Z", "opinions": [...]}, "exchange": {...}, ...}
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TypeAlias

from faithguard.errors import CaptureError, ConfigError
from faithguard.store import Opinion, Store
from faithguard.store._flaws import flaw
from faithguard.types import Record, from_json, to_json

__all__ = ["Import", "Judged", "exported", "imported", "one_of", "records_in"]

_SQLITE = b"SQLite format 3\0"
_LAST = "last"
_NAMED = 5
"""Ids that an error names."""

Judged: TypeAlias = tuple[Record, tuple[Opinion, ...]]
"""A record, and what people say of its claims."""


def records_in(path: str | None, keep: Callable[[Record], bool]) -> Iterator[Judged]:
    """Yield the records of a store or a file that `keep` says yes to.

    Raises:
        ConfigError: If there is no such file, or a line of it is no record.
    """
    if _is_store(path):
        with Store(path) as store:
            for entry in store.entries():
                if keep(entry.record):
                    yield entry.record, entry.opinions
    else:
        yield from (one for one in _lines(Path(str(path))) if keep(one[0]))


def one_of(path: str | None, name: str) -> Judged:
    """Return one record, and what people said of it.

    Args:
        path: A store or a file; None for the user's own store.
        name: The id, its beginning if no other id begins so, or "last". Of several records with
            one id the last is meant.

    Raises:
        ConfigError: If there is no such record, or more than one.
    """
    if _is_store(path):
        with Store(path) as store:
            newest = store.page(limit=1)
            if not newest:
                raise ConfigError(_empty(str(store.path)))
            found = newest[0].number if name == _LAST else _only(store.ids(name), name, store.path)
            record = store.get(found)
            if record is None:  # it was just deleted
                raise ConfigError(f"record {name!r} is gone")
            return record, store.labels(found)
    file = Path(str(path))
    begun: dict[str, Judged] = {}
    last = None
    for last in _lines(file):
        if last[0].exchange.id.startswith(name):
            begun[last[0].exchange.id] = last
    if last is None:
        raise ConfigError(_empty(str(file)))
    return last if name == _LAST else begun[_only(list(begun), name, file)]


def _empty(where: str) -> str:
    return f"there is no record in {where!r} yet"


def _only(ids: Sequence[str], name: str, where: Path) -> str:
    if name in ids:
        return name
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise ConfigError(f"no id in {str(where)!r} begins with {name!r}")
    named = ", ".join(map(repr, ids[:_NAMED])) + (", ..." if len(ids) > _NAMED else "")
    raise ConfigError(f"{len(ids)} ids begin with {name!r}: {named}; give more of it")


def _is_store(path: str | None) -> bool:
    if path is None:
        return True
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        regular = True  # opening it says why
    if not regular and not os.path.isdir(path):  # a pipe may never be written to, nor ever end
        raise ConfigError(f"{path!r} is no regular file: name a store or a file of records")
    with _opened(Path(path)) as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{str(path)!r} cannot be read ({reason}); name a store or a file of records"
        ) from None


def _lines(path: Path) -> Iterator[Judged]:
    for number, line in _numbered(path):
        try:
            record, stored = _read(line)
        except CaptureError as error:
            raise ConfigError(
                f"line {number:,} of {str(path)!r}: {error}; `faithguard score` makes records of "
                "exchanges"
            ) from None
        yield record, stored.opinions


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers."""
    with _opened(path) as lines:
        yield from ((n, line) for n, line in enumerate(lines, start=1) if line.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What a store knows of a record beside it."""

    time: datetime | None = None
    opinions: tuple[Opinion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What a line has beside a record."""

    stored: _Stored = _Stored()


def _read(line: bytes) -> tuple[Record, _Stored]:
    """Return what a line holds.

    Raises:
        CaptureError: If that is no record, or one that no check can have made; it shows no text.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise CaptureError("not UTF-8") from None
    record, stored = from_json(Record, text), from_json(_Line, text).stored
    wrong = flaw(record, stored)
    claims = len(record.report.claims)
    if wrong is None and any(said.claim >= claims for said in stored.opinions):
        wrong = f"an opinion is of a claim that is not there: it has {claims}"
    if wrong is not None:
        raise CaptureError(f"no record of a check: {wrong}")
    return record, stored


def exported(store: Store) -> Iterator[str]:
    """Yield a line of JSON for each record of a store, with its time and what was said of it."""
    for entry in store.entries():
        stored = _Line(stored=_Stored(time=entry.time, opinions=entry.opinions))
        both = json.loads(to_json(stored)) | json.loads(entry.record.to_json())
        yield json.dumps(both) + "\n"


@dataclass(slots=True)
class Import:
    """What became of the lines of a file."""

    added: int = 0
    there: int = 0
    """Records that the store had already."""
    labels: int = 0
    """Labels that records which were there got."""
    refused: int = 0


def imported(
    path: str, store: Store, refuse: Callable[[int, str], None], *, author: str | None = None
) -> Import:
    """Add the records of a file to a store, and labels to those that are there already.

    Labels of several people stand side by side. Of two by one person the later one counts.

    Args:
        path: Lines of JSON.
        store: Open to be written.
        author: Who gave the labels that name nobody; by default the file's name, without its
            ending. Empty for whoever uses the store.
        refuse: Called with the number of each line that is left out, and why.

    Raises:
        FaithguardError: If the store cannot be written.
    """
    done = Import()
    someone = Path(path).stem if author is None else author
    for line_number, line in _numbered(Path(path)):
        try:
            record, stored = _read(line)
        except CaptureError as error:
            done.refused += 1
            refuse(line_number, str(error))
            continue
        number = store.find(record)
        if number is None:
            number = store.add(record, now=stored.time)
            done.added += 1
            _label(store, number, stored.opinions, someone)
        else:
            done.there += 1
            done.labels += _label(store, number, stored.opinions, someone)
    return done


def _label(store: Store, number: int, said: Iterable[Opinion], someone: str) -> int:
    """Keep those labels that nobody gave yet, or their authors earlier; return how many."""
    there = store.labels(number)
    latest = {(one.claim, one.author): _aware(one.time) for one in there}
    same = {_what(one) for one in there}  # a label that comes back is not another person's
    new = 0
    for one in said:
        author = one.author or someone
        before = latest.get((one.claim, author))
        if _what(one) in same or (before is not None and _aware(one.time) <= before):
            continue
        store.label(number, one.claim, one.agree, one.note, author=author, now=one.time)
        latest[one.claim, author] = _aware(one.time)
        new += 1
    return new


def _what(said: Opinion) -> tuple[int, bool, str, datetime]:
    return said.claim, said.agree, said.note, _aware(said.time)


def _aware(moment: datetime) -> datetime:
    """Return a moment with its time zone; without one it is the machine's own."""
    return moment.astimezone(UTC)
