"""Record -> a row of an SQLite file, which `faithguard.store` reads, also meanwhile."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from faithguard._fork import reset_in_child
from faithguard.errors import ConfigError, FaithguardError
from faithguard.sinks._redact import Keep, checked_tags
from faithguard.store import Store
from faithguard.types import Record

__all__ = ["SqliteSink"]

log = logging.getLogger("faithguard")

_PRUNE_EVERY = 100
"""Records after which old ones are looked for."""

_AT_ONCE = 500
"""Old records that go in one step, so that other writers need not wait long."""


def _is_age(value: object) -> bool:
    """Say whether records can be of that age: a time, and back in the calendar."""
    if not isinstance(value, timedelta) or value <= timedelta(0):
        return False
    try:
        return datetime.now(UTC) - value < datetime.max.replace(tzinfo=UTC)
    except OverflowError:
        return False


class SqliteSink:
    """Keep records in an SQLite file that only its owner may read.

    Several processes may write to one file, each with sinks of its own. A record is there, whole,
    once `write` has returned, however the process ends.

    Args:
        path: The file; None takes what FAITHGUARD_STORE names, else the user's own
            (`faithguard.store.store_path`). It is made when the first record comes.
        redact: A text -> what may be kept of it; every text of a record passes through it.
        texts: Whether texts are kept; if not, then labels, counts, spans, sources and tags.
        tags: To be added to each record's own, such as the version of a prompt.
        max_age: Records that were made longer ago go, whenever this sink writes its first record
            and after each hundred; where little is written, by `faithguard store prune` as well.
            None keeps them.
        max_bytes: If all records take more, the oldest go, at the same times; None lets them grow.

    Attributes:
        path: The file.
        stored: Records written.
        lost: Records that could not be.

    Raises:
        ConfigError: If the path cannot be a store, or another value cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        redact: Callable[[str], str] | None = None,
        texts: bool = True,
        tags: Sequence[str] = (),
        max_age: timedelta | None = None,
        max_bytes: int | None = 2**30,
    ) -> None:
        if max_age is not None and not _is_age(max_age):
            raise ConfigError(f"`max_age` is {max_age!r}: name a time, timedelta(days=30)")
        if max_bytes is not None and not (
            isinstance(cast("object", max_bytes), int) and max_bytes >= 2**20
        ):
            raise ConfigError(f"`max_bytes` is {max_bytes!r}: name at least 2**20, or None")
        self._keep = Keep(redact=redact, texts=texts, tags=checked_tags(tags))
        self._max_age, self._max_bytes = max_age, max_bytes
        self._store = Store(path, read_only=False)
        self.path = self._store.path
        self._counting = threading.Lock()
        self.stored = 0
        self.lost = 0
        reset_in_child(self)

    def write(self, record: Record) -> None:
        """Write the record.

        Raises:
            FaithguardError: If the file cannot be written, or `redact` fails; nothing is written
                then, and the message holds no text.
        """
        try:
            self._store.add(self._keep(record))
        except BaseException:
            with self._counting:
                self.lost += 1
            raise
        with self._counting:
            self.stored += 1
            due = self.stored % _PRUNE_EVERY == 1
        if due:
            self._prune()

    def _prune(self) -> None:
        before = None if self._max_age is None else datetime.now(UTC) - self._max_age
        gone = _AT_ONCE
        try:
            while gone == _AT_ONCE:
                gone = self._store.prune(before=before, max_bytes=self._max_bytes, most=_AT_ONCE)
        except FaithguardError as error:  # the record is written
            log.warning("faithguard: old records stay for now: %s", error)

    def close(self) -> None:
        """Let go of the file; another record opens it again."""
        self._store.close()

    def after_fork(self) -> None:
        """Count anew in a child: what the parent wrote is the parent's."""
        self._counting = threading.Lock()
        self.stored = self.lost = 0
