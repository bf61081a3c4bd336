"""A share of the calls is checked: watcher, engines and agents."""

from __future__ import annotations

from typing import Any

import pytest

from faithguard import ConfigError, Record
from faithguard_llama_index import guard

from ..leaks.scene import faithful
from .test_agents import KINDS, ask
from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    CHAT_WAYS,
    QUERY_ENGINES,
    QUERY_WAYS,
    QUESTION,
    says,
    watching,
)

# workflows look at pydantic's deprecated attributes, and leave a memory out of a state
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.usefixtures("unwatched")
def test_a_watcher_reports_on_a_share() -> None:
    """Some calls, not all; what is not checked is forgotten."""
    watcher = watching(sample=0.5)
    for _ in range(40):
        QUERY_WAYS["query"][1](QUERY_ENGINES["compact"](says(BAD), False), QUESTION)
    assert watcher.wait()
    assert 5 < len(watcher.reports) < 35
    assert watcher.open_runs == 0


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("way", QUERY_WAYS)
def test_a_query_is_checked_or_not(way: str, share: float) -> None:
    """An engine that is not checked answers as it is; who asks for the report has it."""
    records: list[Record] = []
    streaming, query = QUERY_WAYS[way]
    engine = QUERY_ENGINES["compact"](says(BAD), streaming)
    safe = guard(engine, on_fail="flag", sample=share, sinks=[records.append])
    assert query(safe, QUESTION) == BAD
    assert safe.wait()
    assert len(records) == share
    assert not safe.with_report().query(QUESTION).report.decide().passed


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("way", CHAT_WAYS)
def test_a_chat_is_checked_or_not(way: str, share: float) -> None:
    """The engine's own memory holds the turn either way."""
    records: list[Record] = []
    engine = CHAT_ENGINES["context"](says(BAD))
    safe: Any = guard(engine, on_fail="flag", sample=share, sinks=[records.append])
    assert CHAT_WAYS[way](safe, QUESTION) == BAD
    assert safe.wait()
    assert len(records) == share
    assert [m.content for m in safe.chat_history] == [QUESTION, BAD]


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_an_agent_is_checked_or_not(kind: str, share: float) -> None:
    """All steps of a run share its fate."""
    records: list[Record] = []
    safe = guard(KINDS[kind](faithful), on_fail="flag", sample=share, sinks=[records.append])
    output = ask(safe)
    assert safe.wait()
    assert len(records) == share
    assert ("faithguard" in output) is bool(share)


def test_sampling_is_for_those_who_only_flag() -> None:
    """An engine that holds back is refused."""
    with pytest.raises(ConfigError, match=r"`sample` is 0\.1, but on_fail='block'"):
        guard(QUERY_ENGINES["compact"](says(BAD), False), sample=0.1)
