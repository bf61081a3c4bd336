"""Claims by a model: better than the local splitter's, and never fewer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from faithguard import ConfigError, Report, Scorer
from faithguard.claims import LocalClaims, ModelClaims
from faithguard.testing import Asked, JudgeServer, honest
from faithguard.types import Claim
from faithguard.verifiers.rules import RULES
from tests.judge.scene import (
    ANSWER,
    MADE_UP,
    RIGHT,
    TRUE,
    WRONG,
    alone,
    exchange,
    judge,
    kinds,
    labels,
)

Split = Callable[..., list[Claim]]


@pytest.fixture(params=["extract", "aextract"])
def split(request: pytest.FixtureRequest) -> Split:
    """Split an answer by a model that says what it is told to, with either driver."""

    def run(answer: str, said: list[tuple[str, str, str]], question: str | None = None) -> Any:

        def script(asked: Asked) -> dict[str, Any]:
            return {
                "claims": [
                    {"part": _part(anchor, asked.parts), "text": text, "kind": kind}
                    for anchor, text, kind in said
                ]
            }

        with JudgeServer(script) as server:
            extractor = ModelClaims(judge(server).chat)
            if request.param == "extract":
                return extractor.extract(answer, question)
            return asyncio.run(extractor.aextract(answer, question))

    return run


def _part(anchor: str, parts: Mapping[int, str]) -> int:
    return next((number for number, text in parts.items() if anchor in text), 99)


def shape(claims: list[Claim], answer: str) -> list[tuple[str, str, str]]:
    """Return what claims say, where they stand, and their kinds."""
    return [(answer[slice(*claim.span)], claim.text, claim.kind) for claim in claims]


def test_claims_are_atomic_and_anchored(split: Split) -> None:
    """A part may hold several facts; names stand for pronouns."""
    answer = "The sauna, open from 14:00, has 12 places. It closes at 21:00."
    first, second = "The sauna, open from 14:00, has 12 places.", "It closes at 21:00."
    said = [
        (first, "The sauna is open from 14:00.", "fact"),
        (first, "The sauna has 12 places.", "fact"),
        (second, "The sauna closes at 21:00.", "fact"),
    ]
    claims = split(answer, said)

    assert shape(claims, answer) == said
    assert [claim.id for claim in claims] == ["c1", "c2", "c3"]


def test_a_part_that_stands_for_itself_is_not_written_again(split: Split) -> None:
    """It is the local splitter's claim, with what leads in to it."""
    answer = "Opening times:\n- Sauna: 14:00\n- Bar: 18:00"
    said = [("Sauna: 14:00", "", "fact"), ("Bar: 18:00", "", "fact")]

    assert split(answer, said) == LocalClaims().extract(answer)


def test_the_parts_are_the_whole_answer() -> None:
    """What is no claim leads in to the next one; nothing is shown twice."""
    answer = "# Prices\n\nThe towels:\n- small: 3 euros\n- large, 5 euros\n\n```\nx = 1\n```\n"
    with JudgeServer(honest()) as server:
        ModelClaims(judge(server).chat).extract(answer)
        parts = server.asked[0].parts

    assert "".join(parts.values()) == answer
    assert list(parts) == list(range(1, len(LocalClaims().extract(answer)) + 1))


@pytest.mark.parametrize(
    "said",
    [
        [],
        [("The sauna opens at 14:00.", "The sauna opens at 14:00.", "fact")],
        [("It is free on Mondays.", "It is free on Mondays.", "fact")],
        [("The sauna opens", "The sauna exists.", "fact")],
        [("Towels cost 5 euros.", "Towels cost money.", "fact")],
        [("Towels cost 5 euros.", "Towels cost 3 euros.", "fact")],
        [("The lake is not heated.", "The lake is heated.", "fact")],
        [("Towels cost 5 euros.", "Towels cost 5 euros.", "opinion")],
        [("Towels cost 5 euros.", "Towels cost 5 euros.", "courtesy")],
        [("Towels cost 5 euros.", "Towels cost 5 euros.", "meta")],
    ],
    ids=[
        "nothing",
        "one-of-three",
        "not-there",
        "vaguer",
        "without-its-number",
        "another-number",
        "without-its-negation",
        "opinion",
        "courtesy",
        "meta",
    ],
)
def test_nothing_of_the_answer_goes_uncovered(
    split: Split, said: list[tuple[str, str, str]]
) -> None:
    """Whatever a model leaves out, changes or belittles is still a fact to be checked."""
    answer = "The sauna opens at 14:00. Towels cost 5 euros. The lake is not heated."
    facts = {claim.text for claim in split(answer, said) if claim.kind == "fact"}

    assert {claim.text for claim in LocalClaims().extract(answer)} <= facts


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The syrup causes headaches and fever and cancer.", ["The syrup causes fever."]),
        ("Heparin is safer than warfarin.", ["Warfarin is safer than heparin."]),
        (
            "Children may swim, adults must not swim.",
            ["Adults may swim.", "Children must not swim."],
        ),
        ("Do not take the syrup with food.", ["Take the syrup not with food."]),
        ("The syrup does not cause fever but causes rashes.", ["The syrup causes fever."]),
        ("It is not safe, cheap or fast.", ["It is not safe.", "It is cheap.", "It is fast."]),
        (
            "Take 5 mg in the morning and 10 mg in the evening.",
            ["Take 10 mg in the morning.", "Take 5 mg in the evening."],
        ),
        ("Some dogs are allowed.", ["All dogs are allowed."]),
        ("Only members may swim.", ["Members may swim."]),
        ("Take the syrup before meals.", ["Take the syrup after meals."]),
        ("Dogs are no\u200bt allowed.", ["Dogs are allowed."]),
        ("Das Medikament wirkt nicht.", ["Das Medikament wirkt."]),
        ("この薬は安全ではない。", ["この薬は安全である。"]),
    ],
    ids=[
        "dropped",
        "swapped",
        "subjects swapped",
        "negation moved",
        "negation lost",
        "negation of one only",
        "numbers swapped",
        "quantity",
        "limit lost",
        "time",
        "negation hidden",
        "German",
        "Japanese",
    ],
)
def test_what_claims_something_else_is_not_taken(
    split: Split, answer: str, said: list[str]
) -> None:
    """The sentence then stands for itself, as the local splitter has it."""
    assert split(answer, [(answer, text, "fact") for text in said]) == LocalClaims().extract(answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "The syrup causes headaches and fever.",
            ["The syrup causes headaches.", "The syrup causes fever."],
        ),
        (
            "Children may swim, adults must not swim.",
            ["Children may swim.", "Adults must not swim."],
        ),
        (
            "Do not take the syrup with food or milk.",
            ["Do not take the syrup with food.", "Do not take the syrup with milk."],
        ),
        ("The car is not fast but red.", ["The car is not fast.", "The car is red."]),
        (
            "Heparin is an anticoagulant, and it is safer than warfarin.",
            ["Heparin is an anticoagulant.", "Heparin is safer than warfarin."],
        ),
        (
            "The pool is not heated, and towels cost 5 euros.",
            ["The pool is not heated.", "Towels cost 5 euros."],
        ),
    ],
    ids=["list", "denied second", "denied list", "but", "pronoun", "denied first"],
)
def test_what_claims_the_same_in_parts_is_taken(split: Split, answer: str, said: list[str]) -> None:
    """Lists are split, names stand for pronouns, and negations stay where they were."""
    assert [claim.text for claim in split(answer, [(answer, t, "fact") for t in said])] == said


def test_padding_does_not_dilute_a_score(split: Split) -> None:
    """One lie among many trifles of one sentence stays one claim of the answer's own."""
    answer = "The sauna of the old bath house opens at 14:00. Towels cost 5 euros."
    words = "sauna bath house old opens 14:00 of at the".split()
    trifles = [(answer[:47], f"The {a} is the {b}.", "fact") for a in words for b in words]

    assert len(split(answer, trifles)) == 2


def test_what_is_not_the_answers_is_no_claim(split: Split) -> None:
    """A statement in other words, or about what the answer does not speak of."""
    answer = "The sauna opens at 14:00."
    said = [(answer, "Wild mushrooms grow beneath birch trees.", "fact")]

    assert shape(split(answer, said), answer) == [(answer, answer, "fact")]


@pytest.mark.parametrize(
    ("answer", "said", "expected"),
    [
        ("I don't know.", ("I don't know.", "The answer is unknown.", "fact"), "abstention"),
        ("Thank you for asking!", ("Thank you", "Thank you for asking.", "fact"), "courtesy"),
        (
            "The documents do not mention prices.",
            ("The documents do not mention prices.", "Prices are not mentioned.", "fact"),
            "meta",
        ),
    ],
)
def test_what_has_the_form_of_no_fact_is_none(
    split: Split, answer: str, said: tuple[str, str, str], expected: str
) -> None:
    """A model that makes a fact of an "I don't know" does not turn it into a false one."""
    assert {claim.kind for claim in split(answer, [said])} == {expected}


def test_a_short_answer_takes_its_question(split: Split) -> None:
    """Its words may come from there."""
    said = [("Berlin.", "The capital of Germany is Berlin.", "fact")]
    claims = split("Berlin.", said, "What is the capital of Germany?")

    assert shape(claims, "Berlin.") == said


def test_other_scripts(split: Split) -> None:
    """Words without spaces are compared by their characters."""
    answer = "東京は日本の首都です。サウナは14時に開きます。"
    said = [("東京は日本の首都です。", "東京は日本の首都です。", "fact")]

    assert len(split(answer, said)) == 2


@pytest.mark.parametrize(("mode", "calls"), [("local", 1), ("extracted", 2), ("together", 1)])
@pytest.mark.parametrize("driver", ["score", "ascore"])
def test_the_three_ways_to_get_claims(mode: str, calls: int, driver: str) -> None:
    """They find the same in a plain answer, at their price."""
    with JudgeServer(honest()) as server:
        scorer = Scorer(verifiers=[judge(server, claims=mode)])
        report = scored(scorer, driver)

    assert labels(report) == RIGHT
    assert report.usage.calls == len(server.requests) == calls
    assert report.failures == ()


def scored(scorer: Scorer, driver: str) -> Report:
    """Score by either driver."""
    if driver == "score":
        return scorer.score(exchange())
    return asyncio.run(scorer.ascore(exchange()))


@pytest.mark.parametrize("fault", ["empty", "only prose", "cut off at once", "refusal", "python"])
def test_an_extractor_that_says_nothing_leaves_it_to_the_local_one(fault: str) -> None:
    """Every claim is still judged."""
    with JudgeServer(honest(), [fault, fault, None]) as server:
        report = Scorer(verifiers=[judge(server, claims="extracted")]).score(exchange())

    assert labels(report) == RIGHT


@pytest.mark.parametrize("mode", ["extracted", "together"])
@pytest.mark.parametrize("fault", ["no quota", "too late", "page"])
def test_an_extractor_that_cannot_be_asked_fails_the_check(mode: str, fault: str) -> None:
    """A server that is down is told of, and nothing passes."""
    with JudgeServer(honest(), fault) as server:
        report = Scorer(verifiers=[judge(server, claims=mode, timeout=0.4)]).score(exchange())

    assert report.outcome == "failed"
    assert not report.decide("support").passed
    assert kinds(report) <= {"unavailable", "timeout", "unparsable"}


def drops(asked: Asked) -> dict[str, Any]:
    """Judge honestly, but leave out the second claim of an answer and quote nothing true."""
    said = honest()(asked)
    if asked.form == "together":
        towels = _part("Towels", asked.parts)
        said["claims"] = [entry for entry in said["claims"] if entry["part"] != towels]
    return said


def test_what_is_left_out_together_is_asked_about() -> None:
    """The claim is the local splitter's, and one more call judges it."""
    with JudgeServer(drops) as server:
        report = Scorer(verifiers=[judge(server, claims="together")]).score(exchange())

    assert labels(report) == RIGHT
    assert [asked.form for asked in server.asked] == ["together", "verdicts"]
    assert WRONG in server.asked[1].statements.values()


@pytest.mark.parametrize(
    "fault", ["all supported", "empty", "refusal", "filter", "cut off", "twice, differently"]
)
def test_together_a_judge_that_cannot_be_trusted_is_asked_claim_by_claim(fault: str) -> None:
    """A wrong or missing control leaves all claims open."""
    with JudgeServer(honest(), [fault, None]) as server:
        report = Scorer(verifiers=[judge(server, claims="together")]).score(exchange())

    assert labels(report) == RIGHT
    assert [asked.form for asked in server.asked] == ["together", "verdicts"]


def test_controls_stand_in_the_answer() -> None:
    """As parts of their own; the report knows nothing of them."""
    with JudgeServer(honest()) as server:
        report = Scorer(verifiers=[judge(server, claims="together")]).score(exchange())
        shown = server.asked[0].parts.values()
    own = [part for part in shown if " named after " not in part and " keeps " not in part]

    assert len(own) == len(shown) - 3
    assert "".join(own) == ANSWER
    assert not any("named after" in claim.text for claim in report.claims)


def test_a_judge_stands_behind_the_local_verifiers() -> None:
    """What they settle is not asked; what they leave open is."""
    with JudgeServer(honest()) as server:
        report = Scorer(verifiers=[rule() for rule in RULES], judge=judge(server)).score(exchange())
        asked = set(server.asked[0].statements.values())

    assert labels(report) == RIGHT
    assert WRONG not in asked
    assert {TRUE, MADE_UP} <= asked
    assert [c.verifier for c in report.claims if c.text == WRONG] == ["units_currency@7"]
    assert report.usage.spared == len({c.text for c in report.facts} - asked)
    assert f"{report.usage.spared} of 4 claims settled before the judge" in " ".join(
        str(report).split()
    )


@pytest.mark.parametrize("mode", ["local", "extracted", "together"])
def test_a_judge_of_every_claim_spares_none(mode: str) -> None:
    """What it cost is told; and the second time the cache has it, which is no saving of rules."""
    with JudgeServer(honest()) as server:
        scorer = Scorer(verifiers=[judge(server, claims=mode)])
        first, second = scorer.score(exchange()), scorer.score(exchange())

    assert (first.usage.spared, second.usage.spared) == (0, 0)
    tokens = first.usage.input_tokens + first.usage.output_tokens
    assert f"{tokens:,} tokens" in " ".join(str(first).split())
    assert second.usage.cached == (0 if mode == "together" else 4)


def test_without_a_judge_nothing_is_spared() -> None:
    """There is nobody who could have been asked."""
    assert Scorer().score(exchange()).usage.spared == 0


def test_settings_that_cannot_be_used() -> None:
    """Each message names the value and the remedy."""
    with JudgeServer() as server:
        made = judge(server, claims="together")
        with pytest.raises(ConfigError, match="leave one out"):
            Scorer(LocalClaims(), judge=made)
        endless: dict[str, Any] = {"timeout": float("inf")}  # no socket waits so long
        for settings in (
            {"claims": "all"},
            {"timeout": 0},
            endless,
            {"votes": 0},
            {"max_tokens": 0.5},
        ):
            with pytest.raises(ConfigError, match=next(iter(settings))):
                judge(server, **settings)
        with pytest.raises(ConfigError, match="votes"):
            judge(server, claims="together", votes=3)
        with pytest.raises(ConfigError, match="OpenAIJudge"):
            Scorer(judge="gpt")  # type: ignore[arg-type]


def counting(*counts: int) -> Callable[[Asked], dict[str, Any]]:
    """Return a script that splits the first part into more claims, a number for each call."""
    left = list(counts)

    def script(asked: Asked) -> dict[str, Any]:
        said = honest()(asked)
        if asked.form == "claims":
            words = ["The sauna opens", "The sauna", "It opens"][: left.pop(0)]
            texts = [f"{word} at 14:00." for word in words]
            first = [{"part": 1, "text": text, "kind": "fact"} for text in texts]
            said["claims"] = [*first, *said["claims"][1:]]
        return said

    return script


@pytest.mark.parametrize("driver", ["score", "ascore"])
def test_an_answer_that_is_split_several_times_tells_the_spread(driver: str) -> None:
    """The claims are those of the median; the rest of the report is about them."""
    with JudgeServer(counting(3, 1, 2)) as server:
        made = judge(server, claims="extracted", splits=3)
        report = scored(Scorer(verifiers=[made]), driver)

    assert sorted(report.splits) == [4, 5, 6]
    assert report.total == 5
    assert "+samples=3" in report.versions["extractor"]
    assert "the answer was split 3 times, into" in str(report)
    assert Report.from_json(report.to_json()) == report


def test_an_answer_that_is_split_once_has_no_spread() -> None:
    """Nor one that no model splits; and a judge that splits nothing takes no number of splits."""
    with JudgeServer(honest()) as server:
        assert alone(server, claims="extracted").score(exchange()).splits == ()
        assert alone(server).score(exchange()).splits == ()
        bad: list[dict[str, Any]] = [
            {"splits": 3},
            {"splits": 0},
            {"splits": 2, "claims": "together"},
        ]
        for settings in bad:
            with pytest.raises(ConfigError, match="splits"):
                judge(server, **settings)
        with pytest.raises(ConfigError, match="samples"):
            ModelClaims(judge(server).chat, samples=0)
