"""A guard of a closed domain says once what local verifiers alone let through."""

from __future__ import annotations

import logging
from itertools import count
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableLambda

from faithguard import Claim, Scorer, Verdict, _rates
from faithguard.functions import guarded
from faithguard.testing import JudgeServer
from faithguard.verifiers import Context
from faithguard.verifiers.judge import OpenAIJudge
from faithguard_langchain import FaithfulnessMiddleware, guard, verify_node


def answer(question: str, context: list[str]) -> str:
    """Answer nothing."""
    return f"{question} {context}"


@pytest.fixture(autouse=True)
def said(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test be a process in which nothing was said."""
    monkeypatch.setattr(_rates, "_times", count())
    caplog.set_level(logging.INFO, "faithguard")


@pytest.mark.parametrize("domain", ["medical", "legal", "financial"])
def test_it_says_the_figures_that_were_measured(
    caplog: pytest.LogCaptureFixture, domain: str
) -> None:
    """Of answers of one, three, five and ten claims."""
    guarded(domain=domain)(answer)

    [record] = caplog.records
    told = record.getMessage()
    assert record.levelno == logging.WARNING
    assert domain in told
    shares = _rates.rates().domains[domain]
    assert list(shares) == ["1", "3", "5", "10"]
    for of in shares.values():
        assert f"{100 * of['false_blocks']:.0f}%" in told
        assert f"{100 * of['misses']:.0f}%" in told


def test_it_says_it_once(caplog: pytest.LogCaptureFixture) -> None:
    """However many guards there are, and of whatever kind."""
    chain = RunnableLambda(str)
    guard(chain, domain="medical")
    guard(chain, domain="legal")
    verify_node(chain, domain="financial")
    FaithfulnessMiddleware(domain="medical")

    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "made",
    [
        lambda: guard(RunnableLambda(str), domain="medical"),
        lambda: verify_node(RunnableLambda(str), domain="medical"),
        lambda: FaithfulnessMiddleware(domain="medical"),
        lambda: guarded(domain="medical")(answer),
    ],
    ids=["guard", "node", "middleware", "function"],
)
def test_every_guard_says_it(caplog: pytest.LogCaptureFixture, made: object) -> None:
    """Whatever it guards."""
    made()  # type: ignore[operator]

    assert len(caplog.records) == 1


def test_a_judge_or_an_open_domain_needs_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Nor does a domain in which one claim may be wrong."""
    with JudgeServer() as server:
        judge = OpenAIJudge("any", server.url, api_key="none")
        guarded(domain="medical", judge=judge)(answer)
    guarded(domain="support")(answer)
    guarded()(answer)

    assert not caplog.records


class Yes:
    """Supports everything."""

    name = "yes@1"

    def verify(self, claims: list[Claim], context: Context) -> list[Verdict]:
        """Return verdicts."""
        return [
            Verdict(claim=c.id, label="supported", p_supported=1.0, verifier="yes") for c in claims
        ]

    async def averify(self, claims: list[Claim], context: Context) -> list[Verdict]:
        """Return verdicts."""
        return self.verify(claims, context)


def test_of_other_verifiers_there_are_no_figures(caplog: pytest.LogCaptureFixture) -> None:
    """They were not measured."""
    guarded(domain="medical", scorer=Scorer(verifiers=[Yes()]))(answer)

    assert "%" not in caplog.records[0].getMessage()


def test_the_figures_are_of_the_default_verifiers() -> None:
    """Else `python -m tests.bench.answers DATA --write` makes new ones."""
    names = [verifier.name for verifier in Scorer().verifiers]
    other = [*names[:-1], "other@1"]

    assert _rates.rates().are_of(names)
    assert not _rates.rates().are_of(other)
    assert not _rates.rates().are_of(names[1:])
    for by_length in _rates.rates().domains.values():
        assert all(0 <= share <= 1 for of in by_length.values() for share in of.values())


def test_the_readme_says_the_same() -> None:
    """Its table has a row for each domain, or for several with the same figures."""
    readme = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in readme.splitlines()]
    told = {name: row[1:] for row in rows if row for name in row[0].split(", ")}

    for domain, by_length in _rates.rates().domains.items():
        measured = [
            f"{100 * of['false_blocks']:.0f} / {100 * of['misses']:.0f}"
            for of in by_length.values()
        ]
        assert told[domain][: len(measured)] == measured, domain
