"""Sinks and evaluators whose package is missing name the extra that brings it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from faithguard import MissingExtraError
from faithguard.evaluators import langfuse_evaluator
from faithguard.sinks import LangfuseSink, LangSmithSink, OtelSink


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (OtelSink, "opentelemetry", "otel"),
        (LangfuseSink, "langfuse", "langfuse"),
        (langfuse_evaluator, "langfuse", "langfuse"),
        (LangSmithSink, "langsmith", "langsmith"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], object], module: str, extra: str
) -> None:
    """The message is the command that installs it."""
    for name in [*sys.modules]:
        if name == module or name.startswith(f"{module}."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingExtraError, match=rf"pip install 'faithguard\[{extra}\]'"):
        make()
