"""A share of the traffic is checked: which runs, and what becomes of the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, strategies

import faithguard
from faithguard import ConfigError, Record
from faithguard.sampling import checked_share, takes
from faithguard.watch import Watch

SOUP = "The soup of the day is leek."
WRONG = "The soup of the day is pumpkin."


@given(strategies.text(), strategies.floats(0, 1), strategies.floats(0, 1))
def test_a_run_of_a_small_share_is_in_a_larger_one(run: str, one: float, other: float) -> None:
    """Whoever raises the share loses no run, and the same run has the same fate each time."""
    small, large = sorted((one, other))
    assert takes(small, run) <= takes(large, run)
    assert takes(1.0, run)
    assert not takes(0.0, run)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_about_the_share_is_checked(share: float) -> None:
    """Of 10,000 runs, to five standard deviations."""
    hits = sum(takes(share, f"run-{n}") for n in range(10_000))
    assert abs(hits - 10_000 * share) < 5 * (10_000 * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("wrong", [-0.1, 1.1, 5, True, "0.1", float("nan")])
def test_what_is_no_share_is_refused(wrong: Any) -> None:
    """The message names the value."""
    with pytest.raises(ConfigError, match=r"`sample` is .*from 0 to 1"):
        checked_share(wrong)
    with pytest.raises(ConfigError, match="`sample` is"):
        Watch(sample=wrong)


@pytest.mark.parametrize("on_fail", ["block", "regenerate", "repair"])
def test_a_guard_that_holds_back_checks_all(on_fail: Any) -> None:
    """What nobody checks would be let through."""
    with pytest.raises(ConfigError, match=r"`sample` is 0\.5, but on_fail="):
        faithguard.guarded(on_fail=on_fail, sample=0.5)
    with pytest.raises(ConfigError, match="on_fail='block'"):
        faithguard.guarded(sample=1.0)


def plain(context: str) -> str:
    """Answer."""
    return WRONG


def pieces(context: str) -> Iterator[str]:
    """Answer in pieces."""
    yield from (WRONG[:8], WRONG[8:])


async def awaited(context: str) -> str:
    """Answer, awaiting."""
    return WRONG


async def streamed(context: str) -> AsyncIterator[str]:
    """Answer in pieces, awaiting."""
    for piece in (WRONG[:8], WRONG[8:]):
        yield piece


def asked(function: Any) -> list[str]:
    """Call a function of any kind, and return what it gives out."""

    async def collected(made: Any) -> list[str]:
        if hasattr(made, "__aiter__"):
            return [piece async for piece in made]
        return [await made]

    made = function(SOUP)
    if isinstance(made, str):
        return [made]
    return list(made) if hasattr(made, "__iter__") else asyncio.run(collected(made))


@pytest.mark.parametrize("function", [plain, pieces, awaited, streamed])
def test_a_function_that_is_not_checked_runs_as_it_is(function: Any) -> None:
    """No record, and a stream is not held back; who asks for the report has it."""
    records: list[Record] = []
    settings: dict[str, Any] = {"on_fail": "flag", "sinks": [records.append]}
    never = faithguard.guarded(sample=0, **settings)(function)
    assert asked(never) == asked(function)
    assert never.wait()
    assert records == []

    always = faithguard.guarded(sample=1, **settings)(function)
    assert asked(always) == [WRONG]
    assert always.wait()
    assert [record.decision.passed for record in records] == [False]

    reported = never.with_report(SOUP)
    if not isinstance(reported, faithguard.guard.Reported):
        reported = asyncio.run(reported)
    assert not reported.report.decide().passed


def test_calls_have_fates_of_their_own() -> None:
    """Each call of a function is a run: some are checked, some are not."""
    records: list[Record] = []
    some = faithguard.guarded(on_fail="flag", sinks=[records.append], sample=0.5)(plain)
    for _ in range(100):
        some(SOUP)
    assert some.wait()
    assert 20 < len(records) < 80


def test_a_share_of_none_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """No log line for what nobody checked."""
    with caplog.at_level(logging.INFO, "faithguard"):
        never = faithguard.guarded(on_fail="flag", sample=0)(plain)
        assert never(SOUP) == WRONG
        assert never.wait()
    assert caplog.records == []
