"""Record -> `gen_ai.evaluation.result` events of OpenTelemetry, on the span of the host.

Names are those of the semantic conventions for generative AI; ours begin with `faithguard.`.
Events are log records with a name and the span that they belong to, which may have ended by
then: events inside of a span are on their way out, and could not be added to it any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from faithguard._version import __version__
from faithguard.errors import require
from faithguard.sinks._results import Result, answer_result, claim_results
from faithguard.types import Record

__all__ = ["OtelSink"]

_EVENT = "gen_ai.evaluation.result"
_INFO, _WARN = 9, 13


class OtelSink:
    """Send an event for each answer, and one for each of its fact claims.

    The event of an answer has `gen_ai.evaluation.name` "Faithfulness", the score as
    `gen_ai.evaluation.score.value`, "pass" or "fail" as `gen_ai.evaluation.score.label`, the
    decision's counts in words as `gen_ai.evaluation.explanation`, and, where verdicts are
    missing, the kind of failure as `error.type`. That of a claim has the name
    "Faithfulness.claim", the probability that the context supports it, and its label. Both have
    more under `faithguard.`.

    They belong to the span that was current when the answer was there, and go to the
    application's logger provider: `opentelemetry._logs.set_logger_provider(...)`.

    Args:
        claims: Whether claims have events of their own.
        texts: Whether these hold what the claims say, the reasons and the evidence. They are
            texts of answers and passages.
        logger_provider: Another one than the application's.

    Raises:
        MissingExtraError: If `opentelemetry-api` is not installed.
    """

    def __init__(
        self, *, claims: bool = True, texts: bool = False, logger_provider: Any = None
    ) -> None:
        logs = require("opentelemetry._logs", extra="otel")
        self._now: Callable[[], Any] = require("opentelemetry.context", extra="otel").get_current
        self._severity: Any = logs.SeverityNumber
        self._logger: Any = logs.get_logger("faithguard", __version__, logger_provider)
        self._claims = claims
        self._texts = texts

    def here(self, run: str | None = None) -> Callable[[Record], None]:
        """Return a function that writes to the span that is current now."""
        context = self._now()
        return lambda record: self._write(record, context)

    def write(self, record: Record) -> None:
        """Send the events of a record, to the span that is current now."""
        self._write(record, self._now())

    def _write(self, record: Record, context: Any) -> None:
        self._emit("Faithfulness", "faithguard", answer_result(record), context)
        if self._claims:
            for result in claim_results(record, texts=self._texts):
                self._emit("Faithfulness.claim", "faithguard.claim", result, context)

    def _emit(self, name: str, prefix: str, result: Result, context: Any) -> None:
        known = {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": result.score,
            "gen_ai.evaluation.score.label": result.label,
            "gen_ai.evaluation.explanation": result.explanation,
            "error.type": result.error,
        }
        attributes: dict[str, Any] = {k: value for k, value in known.items() if value is not None}
        attributes |= {f"{prefix}.{key}": value for key, value in result.details.items()}
        self._logger.emit(
            context=context,
            severity_number=self._severity(_INFO if result.passed else _WARN),
            severity_text="INFO" if result.passed else "WARN",
            attributes=attributes,
            event_name=_EVENT,
        )
