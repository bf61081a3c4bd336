"""Record -> one log line, without text of the answer or the passages."""

from __future__ import annotations

import logging
import re

from faithguard.types import Record

__all__ = ["LogSink"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters with which an id could forge another line."""


class LogSink:
    """Log each record as one line: INFO for what passed, WARNING for what did not.

    Args:
        logger: The name of the logger.
    """

    def __init__(self, logger: str = "faithguard") -> None:
        self._log = logging.getLogger(logger)

    def write(self, record: Record) -> None:
        """Log the record's id, domain, level, counts and causes."""
        decision, report = record.decision, record.report
        causes = sorted({claim.cause for claim in report.unsupported if claim.cause})
        self._log.log(
            logging.INFO if decision.passed else logging.WARNING,
            "faithguard id=%s domain=%s outcome=%s level=%s action=%s attempts=%d: %s%s",
            _CONTROL.sub(" ", record.exchange.id),
            _CONTROL.sub(" ", decision.domain),
            report.outcome,
            decision.level or "none",
            decision.action,
            max(1, len(record.attempts)),
            _CONTROL.sub(" ", decision.reason),
            f" (cause: {', '.join(causes)})" if causes else "",
        )
