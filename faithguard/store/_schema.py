"""An SQLite file -> the same file with the tables of this version.

    records    what a list shows and a filter asks for; `number` is the order of arrival
    texts      question and answer in one case, for searching
    claims     fact claims: label, cause
    tags       tags of a record
    bodies     the whole record, as compressed JSON
    opinions   what people say of a verdict: one each, the author "" being whoever uses the store

There is no index of texts: one of trigrams made a write 16 times as slow and the texts 4 times as
large, kept what was deleted, and found a word in 5,000 answers no sooner than looking through
them all did (15 ms).

Migrations are applied in order, in one transaction each; `PRAGMA user_version` counts them.
"""

from __future__ import annotations

import sqlite3

from faithguard.errors import ConfigError

__all__ = ["APPLICATION", "migrate", "versions"]

APPLICATION = 0x46474453
"""Says in the header of the file whose it is."""

_MIGRATIONS = (
    """
    CREATE TABLE records (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        time REAL NOT NULL,
        domain TEXT NOT NULL,
        outcome TEXT NOT NULL,
        level TEXT,
        passed INTEGER NOT NULL,
        action TEXT NOT NULL,
        score REAL,
        low REAL,
        high REAL,
        supported INTEGER NOT NULL,
        total INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        repairs INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        latency REAL,
        cost REAL,
        asked BLOB,
        question TEXT NOT NULL,
        answer TEXT NOT NULL
    );
    CREATE INDEX records_time ON records (time, number);
    CREATE INDEX records_id ON records (id);
    CREATE INDEX records_asked ON records (asked, time);
    CREATE TABLE texts (number INTEGER PRIMARY KEY, folded TEXT NOT NULL);
    CREATE TABLE claims (number INTEGER NOT NULL, label TEXT NOT NULL, cause TEXT);
    CREATE INDEX claims_number ON claims (number, label, cause);
    CREATE TABLE tags (number INTEGER NOT NULL, tag TEXT NOT NULL);
    CREATE INDEX tags_number ON tags (number, tag);
    CREATE TABLE bodies (number INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE opinions (
        number INTEGER NOT NULL,
        claim INTEGER NOT NULL,
        agree INTEGER NOT NULL,
        note TEXT NOT NULL,
        time REAL NOT NULL,
        PRIMARY KEY (number, claim)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE said (
        number INTEGER NOT NULL,
        claim INTEGER NOT NULL,
        author TEXT NOT NULL,
        agree INTEGER NOT NULL,
        note TEXT NOT NULL,
        time REAL NOT NULL,
        PRIMARY KEY (number, claim, author)
    ) WITHOUT ROWID;
    INSERT INTO said SELECT number, claim, '', agree, note, time FROM opinions;
    DROP TABLE opinions;
    ALTER TABLE said RENAME TO opinions;
    """,
)


def versions(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the version of the file, 0 for an empty one, and the one of this program.

    Args:
        db: In a transaction: another process may be making the tables.

    Raises:
        ConfigError: If the file is another program's, or of a later version.
    """
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION and (application or version or tables):
        raise ConfigError("it is another program's database: name another file")
    if version > len(_MIGRATIONS):
        raise ConfigError(
            f"a later faithguard wrote it (version {version}, this one knows "
            f"{len(_MIGRATIONS)}): upgrade with pip install -U faithguard"
        )
    return version, len(_MIGRATIONS)


def migrate(db: sqlite3.Connection) -> bool:
    """Bring the tables to the next version, in a transaction; return whether it is the last."""
    version, latest = versions(db)
    if version < latest:
        for statement in _MIGRATIONS[version].split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {version + 1}")
    return version + 1 >= latest
