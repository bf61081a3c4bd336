"""Record -> scores on the trace that Langfuse has of the answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from cachetools import TTLCache

from faithguard._fork import reset_in_child
from faithguard.errors import ConfigError, require
from faithguard.sinks._results import answer_result, comment
from faithguard.types import Record

__all__ = ["LangfuseSink"]

log = logging.getLogger("faithguard")

_RUNS, _AGE = 10_000, 900.0
"""How many runs, and for how many seconds, are remembered with their traces."""


class LangfuseSink:
    """Score the trace of each answer: `faithfulness` and `faithfulness_passed`.

        handler = CallbackHandler()                   # of langfuse.langchain
        watcher = FaithfulnessCallback(sinks=[LangfuseSink(handler=handler)])
        chain.invoke(question, config={"callbacks": [handler, watcher]})

    `faithfulness` is the score in [0, 1], where there is one; `faithfulness_passed` is 1 or 0.
    Both have the decision's counts in words as their comment. The same answer written again
    replaces its scores.

    The trace is the one that the handler made of the run, or else that of the span that was
    current when the answer was there (`langfuse.start_as_current_observation`, `@observe`).

    Args:
        client: A `langfuse.Langfuse`; the process's own by default.
        handler: The callback handler of Langfuse that the chain is called with.
        texts: Whether comments hold the claims that are not supported, and why. They are texts
            of the answer.

    Raises:
        MissingExtraError: If `langfuse` is not installed.
        ConfigError: If the handler is none of a version that is known.
    """

    def __init__(self, client: Any = None, *, handler: Any = None, texts: bool = False) -> None:
        langfuse = require("langfuse", extra="langfuse")
        self._trace: Any = require("opentelemetry.trace", extra="langfuse")
        if handler is not None and not hasattr(handler, "_runs"):
            raise ConfigError(
                f"`handler` is of type {type(handler).__name__}, and its runs cannot be seen: "
                "pass the langfuse.langchain.CallbackHandler of langfuse 5"
            )
        self._client: Any = client if client is not None else langfuse.get_client()
        self._handler = handler
        self._texts = texts
        self._told = False
        self._traces: TTLCache[str, str] = TTLCache(_RUNS, _AGE, time.monotonic)
        self._lock = threading.Lock()  # protects the traces
        reset_in_child(self)

    def after_fork(self) -> None:
        """Forget in a forked child what its parent followed."""
        self._lock = threading.Lock()
        self._traces = TTLCache(_RUNS, _AGE, time.monotonic)

    def follow(self, run: str) -> None:
        """Remember the trace of a run while the handler knows it."""
        if self._handler is None:
            return
        with self._lock:
            if run in self._traces:
                return
            if (observation := self._handler._runs.get(UUID(run))) is not None:
                self._traces[run] = observation.trace_id

    def here(self, run: str | None = None) -> Callable[[Record], None]:
        """Return a function that scores the trace of this run, or of this place."""
        trace = self._trace_of(run) or self._current()
        return lambda record: self._write(record, trace)

    def write(self, record: Record) -> None:
        """Score the trace of the span that is current now."""
        self._write(record, self._current())

    def _trace_of(self, run: str | None) -> str | None:
        if run is None:
            return None
        self.follow(run)
        with self._lock:
            return self._traces.pop(run, None)

    def _current(self) -> str | None:
        context = self._trace.get_current_span().get_span_context()
        return format(context.trace_id, "032x") if context.is_valid else None

    def _write(self, record: Record, trace: str | None) -> None:
        if trace is None:
            self._tell()
            return
        result = answer_result(record)
        scores = [("faithfulness_passed", float(result.passed), "BOOLEAN")]
        if result.score is not None:
            scores.append(("faithfulness", result.score, "NUMERIC"))
        for name, value, kind in scores:
            self._client.create_score(
                name=name,
                value=value,
                data_type=kind,
                trace_id=trace,
                score_id=f"{record.exchange.id}-{name}",
                comment=comment(record, texts=self._texts),
                metadata=dict(result.details),
            )

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            log.warning(
                "faithguard: an answer has no trace of Langfuse and is not scored there: pass "
                "LangfuseSink(handler=...) and call the chain with that handler, or call it "
                "within a span; told once"
            )
