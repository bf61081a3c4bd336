"""In a test: answer + context -> pass, or a failure that lists every claim with its verdict.

    def test_the_bot_keeps_to_the_leaflet(assert_faithful):
        answer, passages = ask("When does the sauna open?")
        assert_faithful(answer, passages, domain="support")

`assert_faithful` is a fixture, and a function of this module for code outside of tests. Counts
and score of each call are properties of the test, which `--junit-xml` writes. pytest loads this
module wherever faithguard is installed, so it imports nothing until a test asks.

PYTEST_DONT_REWRITE: there is no `assert` in here, and pytest would warn if it came too late.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from faithguard.policy import Policy
    from faithguard.scorer import Scorer
    from faithguard.types import Decision, Report
    from faithguard.verifiers.judge import Judge

__all__ = ["aassert_faithful", "assert_faithful", "faithguard_scorer"]

_running: list[pytest.Item] = []
"""The test that runs, last, and those around it if tests run inside of tests."""


def assert_faithful(
    answer: str,
    context: Any,
    *,
    domain: str | Policy | None = None,
    question: str | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> Report:
    """Fail unless the context supports what an answer says, by the thresholds of a domain.

    An answer that abstains, or states nothing, passes, as it does before a guard; the report
    that is returned tells (`report.outcome`, `report.total`), for a test that wants more.

    Args:
        answer: What a model wrote.
        context: What it was to write from: a string, strings, Documents, nodes or `Passage`s.
        domain: The domain, or a policy, whose thresholds decide.
        question: What was asked; an answer of one word is checked together with it.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.

    Raises:
        AssertionError: If the answer does not pass, also because verdicts are missing. It lists
            each claim in full.
        CaptureError: If the answer is no string or a piece of context has no text.
        ConfigError: If the domain is unknown, or both a scorer and a judge are given.
    """
    __tracebackhide__ = True
    from faithguard._check import check
    from faithguard.policy import resolve

    policy = resolve(domain)
    report = check(answer, context, question=question, scorer=scorer, judge=judge)
    return _settled(report, policy)


async def aassert_faithful(
    answer: str,
    context: Any,
    *,
    domain: str | Policy | None = None,
    question: str | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> Report:
    """Do what `assert_faithful` does without blocking the event loop."""
    __tracebackhide__ = True
    from faithguard._check import acheck
    from faithguard.policy import resolve

    policy = resolve(domain)
    report = await acheck(answer, context, question=question, scorer=scorer, judge=judge)
    return _settled(report, policy)


def _settled(report: Report, policy: Policy) -> Report:
    """Note what was found for JUnit, and return it or fail."""
    __tracebackhide__ = True
    report = replace(report, exchange=replace(report.exchange, domain=policy.domain))
    decision = report.decide(policy)
    if _running:
        _note(_running[-1], report, decision)
    if not decision.passed:
        from faithguard._render import listed

        raise AssertionError(listed(report, decision))
    return report


def _note(item: pytest.Item, report: Report, decision: Decision) -> None:
    """Add figures to a test; a second call in it counts: faithguard.2.score."""
    noted = item.user_properties
    calls = sum(name.startswith("faithguard.") and name.endswith(".passed") for name, _ in noted)
    prefix = f"faithguard.{calls + 1}" if calls else "faithguard"
    figures = {
        "passed": decision.passed,
        "outcome": report.outcome,
        "score": report.score,
        "supported": report.supported,
        "total": report.total,
        "level": decision.level,
        "domain": decision.domain,
    }
    # What is undefined is left out. Not by `record_property`, which warns of xunit2 at each call.
    noted.extend(
        (f"{prefix}.{name}", str(value)) for name, value in figures.items() if value is not None
    )


# Fixtures ---------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def faithguard_scorer() -> Scorer | None:
    """Return the scorer of the two fixtures below; None is the local one.

    Override it in a `conftest.py` to use a judge: `return Scorer(judge=OpenAIJudge(...))`. One
    scorer serves all tests of a session, so that the same claim is asked once.
    """
    return None


@pytest.fixture(name="assert_faithful")
def _assert_faithful(faithguard_scorer: Scorer | None) -> Callable[..., Report]:
    """Fail the test unless a context supports an answer: `assert_faithful(answer, context)`."""
    return partial(_with_default, assert_faithful, faithguard_scorer)


@pytest.fixture(name="aassert_faithful")
def _aassert_faithful(faithguard_scorer: Scorer | None) -> Callable[..., Awaitable[Report]]:
    """Do the same, awaiting."""
    return partial(_with_default, aassert_faithful, faithguard_scorer)


def _with_default(
    function: Callable[..., Any], scorer: Scorer | None, /, *args: Any, **settings: Any
) -> Any:
    """Call with the session's scorer, unless the caller names one, or a judge."""
    __tracebackhide__ = True
    if settings.get("judge") is None and settings.get("scorer") is None:
        settings["scorer"] = scorer
    return function(*args, **settings)


# Which test runs. Plain hooks: wrappers are declared in other ways by older versions of pytest.


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Know whose properties the figures are."""
    _running.append(item)


@pytest.hookimpl
def pytest_runtest_logfinish(nodeid: str) -> None:
    """Forget the test, however often it was set up."""
    _running[:] = [item for item in _running if item.nodeid != nodeid]
