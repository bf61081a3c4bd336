"""Whatever a server or a model does, the report says what is known, and never more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from faithguard import Report
from faithguard.testing import MISBEHAVIOURS, JudgeServer, honest, lazy, obeys
from tests.judge.scene import (
    ALSO,
    MADE_UP,
    RIGHT,
    TRUE,
    WRONG,
    alone,
    exchange,
    kinds,
    labels,
)

READ = (
    "no json_schema|no json_schema, unnamed|no json_schema, 422|no json_schema, 500|"
    "no response_format|no max_tokens|no max_tokens at all|no temperature|"
    "no temperature, unnamed|fence|thoughts|thoughts without a beginning|words around|"
    "trailing commas|twice the same|a bare list|another frame|by id|other case|"
    "spaces in labels|parts|more verdicts|wrong passage|quotes in a list|quotes in objects|"
    "quote in other marks"
).split("|")
"""What is understood although it is not what was asked for."""

FAILS = {
    # a server that stays so: the kind of the failure, and the attempts
    "error 500": ("unavailable", 3),
    "error 503": ("unavailable", 3),
    "busy": ("unavailable", 3),
    "busy until a date": ("unavailable", 3),
    "busy for an hour": ("unavailable", 1),
    "no quota": ("unavailable", 1),
    "wrong key": ("error", 1),
    "no such model": ("error", 1),
    "too long": ("budget", 3),
    "filtered request": ("refused", 1),
    "page": ("unparsable", 3),
    "error with 200": ("unavailable", 3),
    "half a body": ("unparsable", 3),
    "no choices": ("unparsable", 3),
    "empty choices": ("unparsable", 3),
    "no message": ("unparsable", 3),
    "a list": ("unparsable", 3),
    "hangs up": ("unavailable", 3),
    "too late": ("timeout", 1),
    "drips": ("timeout", 1),
    "stalls": ("timeout", 1),
    # a model that stays so: asked once more
    "empty": ("unparsable", 2),
    "blank": ("unparsable", 2),
    "null": ("unparsable", 2),
    "only thoughts": ("unparsable", 2),
    "only reasoning": ("unparsable", 2),
    "only prose": ("unparsable", 2),
    "python": ("unparsable", 2),
    "refusal": ("refused", 1),
    "filter": ("refused", 1),
    "cut off": ("unparsable", 3),
    "cut off at once": ("unparsable", 3),
    "twice, differently": ("unparsable", 2),
    "other ids": ("unparsable", 2),
    "no ids": ("unparsable", 2),
    "no verdicts": ("unparsable", 2),
    "no controls": ("untrusted", 2),
    "numbers": ("unparsable", 2),
    "yes": ("unparsable", 2),
    "all supported": ("untrusted", 2),
    "nothing mentioned": ("untrusted", 2),
    "all contradicted": ("untrusted", 2),
    "all opposite": ("untrusted", 2),
}

ONE = {
    "one missing": "missing",
    "one twice": "missing",
    "one without a label": "missing",
    "one made up": "unparsable",
    "one without a quote": "unparsable",
    "one with a word": "unparsable",
}
"""What is wrong with the verdict on one claim."""

Score = Callable[..., Report]


@pytest.fixture(params=["score", "ascore"])
def score(request: pytest.FixtureRequest) -> Score:
    """Score with either driver."""

    def run(server: JudgeServer, **settings: object) -> Report:
        scorer = alone(server, **settings)
        if request.param == "score":
            return scorer.score(exchange())
        return asyncio.run(scorer.ascore(exchange()))

    return run


def test_every_misbehaviour_is_tested() -> None:
    """The tables here name each, once."""
    assert sorted([*READ, *FAILS, *ONE]) == sorted(MISBEHAVIOURS)
    assert len(MISBEHAVIOURS) >= 60


@pytest.mark.parametrize("fault", READ)
def test_what_can_be_read_is_read(score: Score, fault: str) -> None:
    """The verdicts are those that the model means, and the quotes stand in the passages."""
    with JudgeServer(honest(), fault) as server:
        report = score(server, parameters={"temperature": 0})
        asked = len(server.requests)

    assert labels(report) == RIGHT
    assert report.failures == ()
    assert report.usage.calls == asked
    for claim in report.claims:
        assert all(evidence.stands_in(report.exchange) for evidence in claim.evidence)


@pytest.mark.parametrize("fault", FAILS)
def test_what_stays_wrong_is_a_failure(score: Score, fault: str) -> None:
    """All claims fail, with the kind; nothing passes, and the denominator stays."""
    kind, calls = FAILS[fault]
    seconds = 0.5 if kind == "timeout" else 20.0
    with JudgeServer(honest(), fault) as server:
        report = score(server, timeout=seconds)
        asked = len(server.requests)

    assert report.outcome == "failed"
    assert (report.score, report.total) == (None, 4)
    assert kinds(report) == {kind}
    assert asked <= calls if kind == "timeout" else asked == report.usage.calls == calls
    assert not report.decide("support").passed
    for text in (TRUE, ALSO, WRONG, MADE_UP, "euros", "sauna"):
        assert not any(text in failure.message for failure in report.failures)


@pytest.mark.parametrize("fault", [f for f, (kind, calls) in FAILS.items() if calls > 1])
def test_what_was_wrong_once_is_made_up_for(score: Score, fault: str) -> None:
    """The next attempt, or the second ask, brings all verdicts."""
    with JudgeServer(honest(), [fault, None]) as server:
        report = score(server)

    assert labels(report) == RIGHT
    assert report.failures == ()


@pytest.mark.parametrize("fault", ONE)
def test_one_bad_verdict_costs_one_claim(score: Score, fault: str) -> None:
    """Only that claim is asked again; if it stays bad, it alone fails."""
    with JudgeServer(honest(), fault) as server:
        report = score(server)
        again = server.asked[1].statements
        asked = len(server.requests)

    (failed,) = (claim for claim in report.claims if claim.label == "failed")
    assert report.outcome == "incomplete"
    assert kinds(report) == {ONE[fault]}
    assert asked == 2
    assert {TRUE, ALSO, WRONG, MADE_UP} & set(again.values()) == {failed.text}
    with JudgeServer(honest(), [fault, None]) as server:
        assert labels(score(server)) == RIGHT


def test_what_a_server_refuses_is_learned_once(score: Score) -> None:
    """The second answer is asked for in the form that was found with the first."""
    with JudgeServer(honest(), "no response_format") as server:
        score(server)
        first = len(server.requests)
        score(server)
        forms = [(r.get("response_format") or {}).get("type") for r in server.requests]

    assert forms == ["json_schema", "json_object", None, None]
    assert first == 3


def test_no_parameter_is_sent_that_nobody_asked_for(score: Score) -> None:
    """In particular no temperature; the format is strict."""
    with JudgeServer(honest()) as server:
        score(server)

    (body,) = server.requests
    assert set(body) == {"model", "messages", "max_tokens", "response_format"}
    assert body["response_format"]["json_schema"]["strict"] is True


def test_a_lazy_judge_is_not_believed(score: Score) -> None:
    """One that supports everything, quotes and all, gets a control wrong."""
    with JudgeServer(lazy) as server:
        report = score(server)

    assert (report.supported, report.outcome) == (0, "failed")
    assert kinds(report) == {"untrusted"}


@pytest.mark.parametrize("label", ["supported", "contradicted", "not_mentioned"])
def test_an_order_about_all_claims_turns_none(score: Score, label: str) -> None:
    """A judge that obeys it gets a control wrong."""
    with JudgeServer(obeys("Children swim free", label)) as server:
        report = score(server)

    assert (report.supported, report.outcome) == (0, "failed")
