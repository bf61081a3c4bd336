"""Record -> feedback on the run that LangSmith has of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from faithguard.errors import require
from faithguard.sinks._results import answer_result, comment
from faithguard.types import Record

__all__ = ["LangSmithSink"]

_ATTEMPTS = 3
_PATIENCE = 5.0
"""Seconds that runs have to be sent."""


class LangSmithSink:
    """Give feedback on the run of each answer: `faithfulness` and `faithfulness_passed`.

        watcher = FaithfulnessCallback(sinks=[LangSmithSink()])

    `faithfulness` is the score in [0, 1], where there is one; `faithfulness_passed` is 1 or 0.
    Both have the decision's counts in words as their comment. The same answer written again
    replaces its feedback.

    The run is that of the chain which was watched or guarded, as LangChain and LangSmith give
    it the same id, or else the `@traceable` function that was running when the answer was there.

    Args:
        client: A `langsmith.Client`; one with the settings of the environment by default.
        project: The name of the project that runs are traced to; that of the environment by
            default.
        texts: Whether comments hold the claims that are not supported, and why. They are texts
            of the answer.

    Raises:
        MissingExtraError: If `langsmith` is not installed.
    """

    def __init__(
        self, client: Any = None, *, project: str | None = None, texts: bool = False
    ) -> None:
        langsmith = require("langsmith", extra="langsmith")
        self._utils: Any = require("langsmith.utils", extra="langsmith")
        self._running: Callable[[], Any] = require(
            "langsmith.run_helpers", extra="langsmith"
        ).get_current_run_tree
        self._client: Any = client if client is not None else langsmith.Client()
        self._project: str = project or self._utils.get_tracer_project()
        self._project_id: UUID | None = None
        self._texts = texts

    def here(self, run: str | None = None) -> Callable[[Record], None]:
        """Return a function that gives feedback on this run, or on the one of this place."""
        place = run or self._current()
        return lambda record: self._write(record, place)

    def write(self, record: Record) -> None:
        """Give feedback on the run that goes on here."""
        self._write(record, self._current())

    def _current(self) -> str | None:
        tree = self._running()
        return None if tree is None else str(tree.id)

    def _write(self, record: Record, run: str | None) -> None:
        if run is None:
            return  # nothing of it is traced
        result = answer_result(record)
        scores = {"faithfulness_passed": float(result.passed), "faithfulness": result.score}
        for key, score in scores.items():
            if score is not None:
                self._client.create_feedback(
                    run_id=run,
                    key=key,
                    score=score,
                    comment=comment(record, texts=self._texts),
                    feedback_source_type="model",
                    source_info=dict(result.details),
                    feedback_id=uuid5(NAMESPACE_URL, f"faithguard:{record.exchange.id}:{key}"),
                    session_id=self._session(),
                    stop_after_attempt=_ATTEMPTS,
                )

    def _session(self) -> UUID:
        """Return the id of the project, which is made when its first run arrives."""
        if self._project_id is not None:
            return self._project_id
        try:
            found = self._client.read_project(project_name=self._project)
        except self._utils.LangSmithNotFoundError:
            self._client.flush(timeout=_PATIENCE)
            found = self._client.read_project(project_name=self._project)
        made: UUID = found.id
        self._project_id = made
        return made
