"""A file of records -> pages of rows, single records, and figures: what a page or a command asks.

    with Store("records.db") as store:
        for row in store.page(Filter(passed=False), limit=20):
            print(row.time, row.question, row.labels)
        record = store.get(row.id)

In: an SQLite file that `faithguard.sinks.SqliteSink` fills, from however many processes, also
while it is read. Out: frozen values. Newest first is by `Row.time`; `Row.number` is the order of
arrival. All of it is blocking and may be called from any thread.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal

from faithguard.errors import ConfigError
from faithguard.store import _reading
from faithguard.store._checked import NUMBERS, cursor_of, limit_of, seconds_of, text_of
from faithguard.store._flaws import bad_number
from faithguard.store._link import VARIABLE, Link, StrPath, store_path
from faithguard.store._values import Bucket, Entry, Figures, Filter, Opinion, Pair, Row, Scores
from faithguard.store._writing import delete, excess_share, insert, oldest, packed, unpacked
from faithguard.types import Record

__all__ = [
    "Bucket",
    "Entry",
    "Figures",
    "Filter",
    "Opinion",
    "Pair",
    "Row",
    "Scores",
    "Store",
    "store_path",
]

_BATCH = 100
_NEWEST = "time DESC, number DESC"


class Store:
    """Records in an SQLite file.

    Args:
        path: The file; None takes what FAITHGUARD_STORE names, else the user's own
            (`store_path`), whose folder is made where it is to be written.
        read_only: Whether it must be there and stays as it is, for which no right to write is
            needed; else it is made when it is first
            used, for its owner only.

    Raises:
        ConfigError: If there is no such file, or it cannot be a store. Whatever else goes wrong
            with the file, here or in a method, is a `FaithguardError` that names it.
    """

    def __init__(self, path: StrPath | None = None, *, read_only: bool = True) -> None:
        self.path: Path = store_path(path).absolute()  # the program may change its folder
        self.read_only = read_only
        usual = path is None and not os.environ.get(VARIABLE, "").strip()
        self._link = Link(self.path, read_only=read_only, make_folder=usual and not read_only)
        if read_only:
            with self._link.reading():  # what cannot be read is told at once
                pass

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the next use opens another."""
        self._link.close()

    # Reading ----------------------------------------------------------------------------------

    def page(
        self, filter: Filter | None = None, *, limit: int = 50, before: str | None = None
    ) -> tuple[Row, ...]:
        """Return rows, the newest first.

        Args:
            filter: Which; None for all.
            limit: How many at most, from 1.
            before: The `Row.cursor` of the last row of the page before.

        Raises:
            ConfigError: If a value cannot be used.
        """
        sql, values = _reading.where(filter)
        if before is not None:
            when, number = cursor_of(before)
            # The row itself says where it stands, if it is there: a damaged one has no time.
            place = "coalesce((SELECT time FROM records r WHERE r.number = ?), ?)"
            sql = f"({sql}) AND (time, number) < ({place}, ?)"
            values = (*values, number, when, number)
        limit = limit_of(limit)
        with self._link.reading() as db:
            return _reading.rows(db, (sql, values), order=_NEWEST, limit=limit)

    def newer_than(
        self, cursor: str | None, filter: Filter | None = None, *, limit: int = 200
    ) -> tuple[Row, ...]:
        """Return the rows that arrived after a row did, in the order in which they arrived.

        Args:
            cursor: The `Row.cursor` of the row with the highest number so far, or what `newest`
                returned; None for the beginning.
            filter: Which; None for all.
            limit: How many at most, from 1.

        Raises:
            ConfigError: If a value cannot be used.
        """
        sql, values = _reading.where(filter)
        number = 0 if cursor is None else cursor_of(cursor)[1]
        limit = limit_of(limit)
        with self._link.reading() as db:
            condition = f"({sql}) AND records.number > ?", (*values, number)
            return _reading.rows(db, condition, order="number", limit=limit)

    def newest(self) -> str | None:
        """Return the cursor of the row that arrived last; None in an empty store."""
        with self._link.reading() as db:
            found = _reading.rows(db, ("1", ()), order="number DESC", limit=1)
        return found[0].cursor if found else None

    def count(self, filter: Filter | None = None) -> int:
        """Return how many records there are."""
        condition = _reading.where(filter)
        with self._link.reading() as db:
            return _reading.count(db, condition)

    def get(self, id: str | int) -> Record | None:
        """Return a record as it was written, or None.

        Args:
            id: The exchange's id, of several records the last; or a `Row.number`.
        """
        with self._link.reading() as db:
            number = _number(db, id)
            return None if number is None else _body(db, number)

    def ids(self, beginning: str, *, limit: int = 10) -> tuple[str, ...]:
        """Return the ids that begin so, each once, the last that arrived first."""
        beginning, limit = text_of(beginning, "beginning"), limit_of(limit)
        with self._link.reading() as db:
            found = db.execute(
                "SELECT id FROM records WHERE substr(id, 1, ?) = ? "
                "GROUP BY id ORDER BY max(number) DESC LIMIT ?",
                (len(beginning), beginning, limit),
            ).fetchall()
        return tuple(id_ for (id_,) in found)

    def records(self, filter: Filter | None = None) -> Iterator[Record]:
        """Yield the records, in the order in which they arrived, those that come meanwhile too."""
        return (entry.record for entry in self.entries(filter))

    def entries(self, filter: Filter | None = None) -> Iterator[Entry]:
        """Yield the records with all that is stored of them, in the order of `records`."""
        number = 0
        sql, values = _reading.where(filter)
        while True:
            with self._link.reading() as db:
                found = db.execute(
                    f"SELECT number, time FROM records WHERE ({sql}) AND number > ? "
                    "ORDER BY number LIMIT ?",
                    (*values, number, _BATCH),
                ).fetchall()
                batch = [
                    Entry(
                        number=number,
                        time=_reading.moment_of(when),
                        record=_body(db, number),
                        opinions=_opinions(db, number),
                    )
                    for number, when in found
                ]
            if not batch:
                return
            number = batch[-1].number
            yield from batch

    def find(self, record: Record) -> int | None:
        """Return the number of the very same record, of several the last; None without one."""
        with self._link.reading() as db:
            found = db.execute(
                "SELECT number, body FROM records JOIN bodies USING (number) WHERE id = ? "
                "ORDER BY number DESC",
                (record.exchange.id,),
            ).fetchall()
            return next((n for n, body in found if unpacked(body, n) == record), None)

    def series(
        self, filter: Filter | None = None, by: Literal["day", "hour"] = "day"
    ) -> tuple[Bucket, ...]:
        """Return the share of passing answers over time, the oldest bucket first.

        Args:
            filter: Which; None for all.
            by: How long a bucket is. Days and hours without an answer are left out.
        """
        if by not in ("day", "hour"):
            raise ConfigError(f"`by` is {by!r}: it can be 'day' or 'hour'")
        condition = _reading.where(filter)
        with self._link.reading() as db:
            return _reading.series(db, condition, by)

    def tally(self, filter: Filter | None = None) -> Figures:
        """Return counts over the records: claims, causes, levels by domain, latency."""
        condition = _reading.where(filter)
        with self._link.reading() as db:
            return _reading.figures(db, condition)

    def scores(self, filter: Filter | None = None) -> Scores:
        """Return what it takes to say how many answers would pass at another threshold.

        What else a domain asks, such as that no claim is contradicted, is taken from the policy
        that its name has here and now.
        """
        condition = _reading.where(filter)
        with self._link.reading() as db:
            return _reading.scores(db, condition)

    def pairs(self, a: Filter, b: Filter, *, limit: int = 200) -> tuple[Pair, ...]:
        """Return the questions that were asked under both filters, the last asked first.

        Args:
            a: One side, such as a tag or a range of time.
            b: The other side. Of several records of a question the last one counts; questions
                are the same if they differ in case and spaces only.
            limit: How many at most, from 1.
        """
        one, other, limit = _reading.where(a), _reading.where(b), limit_of(limit)
        with self._link.reading() as db:
            return _reading.pairs(db, one, other, limit=limit)

    def labels(self, id: str | int) -> tuple[Opinion, ...]:
        """Return what people said of a record's claims, in their order, then by author."""
        with self._link.reading() as db:
            return _opinions(db, _number(db, id))

    # Writing ----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the file if it is not there, and find out whether it can be written.

        Raises:
            FaithguardError: If it cannot.
        """
        with self._writing():
            pass

    def add(self, record: Record, *, now: datetime | None = None) -> int:
        """Write a record and return its number; it is there, whole, when this returns.

        Args:
            record: As it is to be kept.
            now: When it counts as made if its exchange does not say when it began.

        Raises:
            ConfigError: If a number in it is none, or beyond what can be counted, or a time is of
                no age.
        """
        if (wrong := bad_number(record)) is not None:
            raise ConfigError(f"the record cannot be kept: {wrong}")
        when = _seconds(record.exchange.started_at or now)
        body = packed(record)  # before others have to wait
        with self._writing() as db:
            return insert(db, record, body, when)

    def prune(
        self,
        *,
        before: datetime | None = None,
        max_bytes: int | None = None,
        most: int = 1_000,
    ) -> int:
        """Delete the oldest records, with what was said of them, and give their space back.

        Args:
            before: Records that were made before this moment go.
            max_bytes: If the records take more, the oldest go until they take a tenth less.
            most: How many at most, so that other writers need not wait long.

        Returns:
            How many were deleted.
        """
        when = 0.0 if before is None else seconds_of(before, "before")
        with self._writing() as db:
            numbers: list[int] = []
            if before is not None:
                numbers = oldest(db, most, when)
            if max_bytes is not None and (excess := excess_share(db, max_bytes)):
                many = math.ceil(excess * _reading.count(db, ("1", ())))
                numbers = list({*numbers, *oldest(db, min(most, many))})
            delete(db, numbers)
        if numbers:
            with self._link.plain() as db:
                db.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page
        return len(numbers)

    def label(
        self,
        id: str | int,
        claim: int,
        agree: bool,
        note: str = "",
        *,
        author: str = "",
        now: datetime | None = None,
    ) -> None:
        """Keep what a person says of a verdict; what the same person said of it is replaced.

        Args:
            id: As `get` takes it.
            claim: Index into `Report.claims`.
            agree: Whether the verdict is right.
            note: Why, in the person's words.
            author: Who says it; empty for whoever uses this store.
            now: When it was said; the present if None.

        Raises:
            ConfigError: If there is no such record or claim.
        """
        author, note, when = text_of(author, "author"), text_of(note, "note"), _seconds(now)
        with self._writing() as db:
            number = _number(db, id)
            if number is None:
                raise ConfigError(f"there is no record {id!r}")
            claims = len(_body(db, number).report.claims)
            if not 0 <= claim < claims:
                raise ConfigError(f"record {id!r} has {claims} claims, and none at {claim}")
            db.execute(
                "INSERT OR REPLACE INTO opinions VALUES (?, ?, ?, ?, ?, ?)",
                (number, claim, author, agree, note, when),
            )

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        if self.read_only:
            raise ConfigError(
                f"the store {str(self.path)!r} was opened to be read: open it to write, "
                "Store(path, read_only=False)"
            )
        return self._link.writing()


def _seconds(moment: datetime | None) -> float:
    return time.time() if moment is None else seconds_of(moment, "now")


def _number(db: sqlite3.Connection, id: str | int) -> int | None:
    column = "number" if isinstance(id, int) else "id"
    if isinstance(id, int) and not 0 <= id < NUMBERS:
        return None
    id = id if isinstance(id, int) else text_of(id, "id")
    found = db.execute(
        f"SELECT max(number) FROM records WHERE {column} = ?",
        (id,),
    ).fetchone()
    return None if found[0] is None else int(found[0])


def _opinions(db: sqlite3.Connection, number: int | None) -> tuple[Opinion, ...]:
    found = db.execute(
        "SELECT claim, agree, note, time, author FROM opinions WHERE number = ? "
        "ORDER BY claim, author",
        (number,),
    )
    return tuple(
        Opinion(
            claim=claim,
            agree=bool(agree),
            note=note,
            time=_reading.moment_of(when),
            author=author,
        )
        for claim, agree, note, when, author in found
    )


def _body(db: sqlite3.Connection, number: int) -> Record:
    found = db.execute("SELECT body FROM bodies WHERE number = ?", (number,)).fetchone()
    return unpacked(found[0] if found else b"", number)
