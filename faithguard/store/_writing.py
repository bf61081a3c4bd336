"""Record -> rows of the tables, and rows that go."""

from __future__ import annotations

import hashlib
import math
import sqlite3
import unicodedata
import zlib
from collections.abc import Sequence

from faithguard.errors import CaptureError
from faithguard.store._link import Damaged
from faithguard.types import Record

__all__ = ["delete", "excess_share", "folded", "insert", "oldest", "packed", "unpacked"]

_TABLES = ("records", "texts", "claims", "tags", "bodies", "opinions")

_SNIPPET = 240

_ROOM = 0.9
"""What is left of the allowed bytes after some had to go, or each new record would cost one."""


def _asked(question: str) -> bytes | None:
    """Return what two records of the same question share; None without one."""
    words = " ".join(folded(question).split())
    return hashlib.sha256(words.encode()).digest()[:16] if words else None


def folded(text: str) -> str:
    """Return a text as it is compared: in one case, and in one form of each character."""
    return unicodedata.normalize("NFKC", text.replace("\0", "")).casefold()


def packed(record: Record) -> bytes:
    """Return a record as its table holds it: it repeats its exchange, so it packs well."""
    return zlib.compress(record.to_json().encode("ascii"), 1)


def unpacked(body: bytes, number: int) -> Record:
    """Return the record of a number.

    Raises:
        Damaged: If it is none any more.
    """
    try:
        return Record.from_json(zlib.decompress(body).decode("ascii"))
    except (zlib.error, ValueError, TypeError, CaptureError):
        raise Damaged(f"record {number} is damaged") from None


def insert(db: sqlite3.Connection, record: Record, body: bytes, time: float) -> int:
    """Write a record's rows and return its number.

    Args:
        db: In a transaction.
        record: As it is to be kept.
        body: The record, `packed`.
        time: When it is to count as made, in seconds since 1970.
    """
    exchange, report, decision = record.exchange, record.report, record.decision
    question = exchange.question or ""
    low, high = report.bounds or (report.score, report.score)
    cursor = db.execute(
        "INSERT INTO records (id, time, domain, outcome, level, passed, action, score, low, high, "
        "supported, total, attempts, repairs, calls, latency, cost, asked, question, answer) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            exchange.id,
            time,
            decision.domain,
            report.outcome,
            decision.level,
            decision.passed,
            decision.action,
            report.score,
            low,
            high,
            report.supported,
            report.total,
            len(record.attempts),
            len(record.repairs),
            sum(attempt.report.usage.calls for attempt in record.attempts) or report.usage.calls,
            sum(record.timings.values()) if record.timings else None,
            record.cost,
            _asked(question),
            question[:_SNIPPET],
            exchange.answer[:_SNIPPET],
        ),
    )
    number = cursor.lastrowid or 0
    text = folded(f"{question}\n{exchange.answer}")
    db.execute("INSERT INTO texts VALUES (?, ?)", (number, text))
    db.executemany(
        "INSERT INTO claims VALUES (?, ?, ?)",
        [(number, claim.label, claim.cause) for claim in report.facts],
    )
    db.executemany(
        "INSERT INTO tags VALUES (?, ?)", [(number, tag) for tag in dict.fromkeys(exchange.tags)]
    )
    db.execute("INSERT INTO bodies VALUES (?, ?)", (number, body))
    return number


def delete(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Delete records, in a transaction."""
    rows = [(number,) for number in numbers]
    for table in _TABLES:
        db.executemany(f"DELETE FROM {table} WHERE number = ?", rows)


def oldest(db: sqlite3.Connection, most: int, before: float = math.inf) -> list[int]:
    """Return the numbers of the oldest records, made before a moment (seconds since 1970)."""
    found = db.execute(
        "SELECT number FROM records WHERE time < ? ORDER BY time, number LIMIT ?", (before, most)
    )
    return [number for (number,) in found]


def excess_share(db: sqlite3.Connection, max_bytes: int) -> float:
    """Return which share of a store has to go if it takes more bytes than it may, else 0."""
    (pages,), (free,), (size,) = (
        db.execute(f"PRAGMA {name}").fetchone()
        for name in ("page_count", "freelist_count", "page_size")
    )
    used = (pages - free) * size
    return 0.0 if used <= max_bytes else 1.0 - _ROOM * max_bytes / used
