"""`check` and `acheck`, and the course of a guarded call."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from faithguard import CaptureError, ConfigError, Passage, Policy, Scorer, VerifierError
from faithguard import acheck as async_check
from faithguard import check as sync_check
from faithguard.config import VARIABLES
from faithguard.guard import Course, course_policy, feedback
from faithguard.testing import TableVerifier
from faithguard.types import Report

CONTEXT = "The ferry carries cars on weekdays. The fare for a car is 14 crowns."


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def both(answer: Any, context: Any, **more: Any) -> Report:
    """Check with both drivers and expect the same report but for id and time."""
    reports = [
        sync_check(answer, context, **more),
        asyncio.run(async_check(answer, context, **more)),
    ]
    one, two = (
        replace(r, exchange=replace(r.exchange, id=""), usage=replace(r.usage, seconds=0, cached=0))
        for r in reports
    )
    assert one == two
    return reports[0]


PARITY = [
    "The ferry carries cars on weekdays.",
    "The ferry carries cars on weekends.",
    "The fare for a car is 14 crowns. The fare for a bicycle is 3 crowns.",
    "- cars: yes\n- fare: 14 crowns\n- dogs: free",
    "| vehicle | fare |\n|---|---|\n| car | 14 crowns |\n| lorry | 40 crowns |",
    "I don't know.",
    "The context does not say.",
    "Happy to help! Shall I book a place?",
    "No.",
    "14 crowns",
    "Die Fähre nimmt werktags Autos mit.",
    "渡轮工作日运载汽车。",
    "",
    "\x00\u202e\ud800",
    "**The ferry** carries `cars` on weekdays [1].",
]


@pytest.mark.parametrize("answer", PARITY)
@pytest.mark.parametrize("context", [CONTEXT, []], ids=["context", "none"])
def test_acheck_does_what_check_does(answer: str, context: Any) -> None:
    """Every answer, with and without context, gets the same report from both."""
    report = both(answer, context, question="What does the ferry carry?", domain="legal")

    assert report.exchange.domain == "legal"
    assert report.exchange.context_source == ("caller" if context else "none")


@pytest.mark.parametrize(
    "table", [{"*": VerifierError("down")}, {"*": RuntimeError("x")}, {}, {"*": 0.5}]
)
def test_acheck_fails_as_check_does(table: dict[str, Any]) -> None:
    """Failures are the same values."""
    both(PARITY[0], CONTEXT, scorer=Scorer(verifiers=[TableVerifier(table)]))


@pytest.mark.parametrize(
    "context",
    [
        CONTEXT,
        [CONTEXT],
        {"text": CONTEXT},
        Passage(text=CONTEXT),
        (Passage(text=CONTEXT), "Other."),
    ],
    ids=["str", "list", "dict", "passage", "mixed"],
)
def test_every_form_of_context_supports(context: Any) -> None:
    """Whatever the context comes as, its words count."""
    assert both(PARITY[0], context).score == 1.0


def test_a_generator_is_read_once() -> None:
    """Context may come lazily."""
    assert sync_check(PARITY[0], (text for text in [CONTEXT])).score == 1.0


@pytest.mark.parametrize("context", [None, 4, b"bytes", [None], {"body": "x"}, object()])
def test_bad_context_is_an_error_that_names_its_type(context: Any) -> None:
    """Both say what was passed and what to pass, and nothing is checked against nothing."""
    piece = context[0] if isinstance(context, list) else context
    with pytest.raises(CaptureError, match=type(piece).__name__):
        sync_check("x", context)
    with pytest.raises(CaptureError, match=type(piece).__name__):
        asyncio.run(async_check("x", context))


def test_a_message_as_the_answer_is_refused_with_the_remedy() -> None:
    """What `model.invoke` returns holds its text under a name, and the error says which."""

    class Message:
        text = "The ferry is blue."

    for run in (sync_check, lambda *args: asyncio.run(async_check(*args))):
        with pytest.raises(CaptureError, match=r"of type Message: pass answer\.text") as caught:
            run(Message(), CONTEXT)
        assert "ferry" not in str(caught.value)


@pytest.mark.parametrize("answer", [None, 4, b"bytes", ["a"], {"answer": "a"}])
def test_an_answer_must_be_a_string(answer: Any) -> None:
    """A message object, or the whole result of a chain, is not silently turned into text."""
    with pytest.raises(CaptureError, match=rf"`answer` is of type {type(answer).__name__}"):
        sync_check(answer, CONTEXT)


def test_an_unknown_domain_is_an_error_at_once() -> None:
    """A typo must not wait for the decision, and lists what is known."""
    for run in (sync_check, lambda *args, **more: asyncio.run(async_check(*args, **more))):
        with pytest.raises(ConfigError, match=r"unknown domain 'medcal'.*medical"):
            run("x", CONTEXT, domain="medcal")


def test_check_works_inside_a_running_loop() -> None:
    """It starts no loop of its own."""

    async def run() -> Report:
        return sync_check(PARITY[0], CONTEXT)

    assert asyncio.run(run()).score == 1.0


def test_the_domain_decides() -> None:
    """`report.decide()` uses the domain that the check was given."""
    report = sync_check(PARITY[2], CONTEXT, domain="conversational")

    assert (report.supported, report.total) == (1, 2)
    assert report.decide().domain == "conversational"
    assert report.decide().level == "warning"
    assert report.decide("medical").level == "block"


# The course of a guarded call -----------------------------------------------------------------

GOOD = "The ferry carries cars on weekdays."
BAD = "The ferry serves oysters. The ferry carries cars on weekdays."


def report(answer: str) -> Report:
    """Report on an attempt."""
    return sync_check(answer, CONTEXT, scorer=Scorer(verifiers=[TableVerifier({GOOD: 1, "*": 0})]))


def course(on_fail: str, attempts: int = 3, **more: Any) -> Course:
    """Return the course of one call."""
    return Course(course_policy("support", on_fail), max_attempts=attempts, **more)


@pytest.mark.parametrize("on_fail", ["block", "flag", "regenerate"])
def test_an_answer_that_passes_is_delivered_at_once(on_fail: str) -> None:
    """Whatever would be done with another one."""
    call = course(on_fail)
    step = call.settle(report(GOOD))

    assert (step.action, step.feedback) == ("deliver", None)
    assert step.decision.passed
    assert step.decision.action == "deliver"
    assert len(call.record().attempts) == 1


def test_block_holds_back() -> None:
    """The first answer that does not pass is the last."""
    call = course("block")
    step = call.settle(report(BAD))

    assert (step.action, step.decision.action, step.decision.passed) == ("block", "block", False)
    assert "1 of 2 claims supported" in step.decision.reason
    assert call.record().decision == step.decision


def test_flag_delivers_with_the_decision() -> None:
    """The answer reaches the reader, and the decision says that it did not pass."""
    step = course("flag").settle(report(BAD))

    assert (step.action, step.decision.action, step.decision.passed) == ("deliver", "flag", False)


def test_regenerate_asks_again_with_feedback() -> None:
    """The feedback names the claim that failed, not the one that held; the second try passes."""
    call = course("regenerate")
    again = call.settle(report(BAD))
    done = call.settle(report(GOOD))

    assert again.action == "regenerate"
    assert again.feedback is not None
    assert "- The ferry serves oysters." in again.feedback
    assert GOOD not in again.feedback
    assert done.action == "deliver"
    assert [a.exchange.answer for a in call.record().attempts] == [BAD, GOOD]
    assert call.record().exchange.answer == GOOD


@pytest.mark.parametrize("most", [1, 2, 5])
def test_attempts_are_bounded_and_the_last_is_verified(most: int) -> None:
    """After the last attempt the answer is held back, and every attempt has its report."""
    call = course("regenerate", most)
    steps = [call.settle(report(BAD)) for _ in range(most)]

    assert [step.action for step in steps] == ["regenerate"] * (most - 1) + ["block"]
    record = call.record()
    assert [a.report.supported for a in record.attempts] == [1] * most
    assert record.decision.action == "block"
    assert not record.decision.passed
    assert (f"after {most} attempts" in record.decision.reason) == (most > 1)


def test_a_last_attempt_that_passes_is_delivered() -> None:
    """The bound is on answers that are written, not on those that are verified."""
    call = course("regenerate", 2)
    call.settle(report(BAD))

    assert call.settle(report(GOOD)).action == "deliver"


def test_a_guard_that_cannot_ask_blocks() -> None:
    """Where the model is out of reach, regenerating is blocking."""
    assert course("regenerate", 5, may_ask=False).settle(report(BAD)).action == "block"


def test_a_failed_check_does_not_pass() -> None:
    """A guard fails closed, and opens only where the policy says so."""
    failed = sync_check(
        GOOD, CONTEXT, scorer=Scorer(verifiers=[TableVerifier({"*": VerifierError("down")})])
    )
    opened = course_policy(Policy.for_domain("support", on_failure="open"), "block")

    assert course("block").settle(failed).action == "block"
    assert Course(opened, max_attempts=1).settle(failed).action == "deliver"


def test_facts_without_context_do_not_pass() -> None:
    """There is nothing to stand on."""
    assert course("block").settle(sync_check(GOOD, [])).action == "block"


@pytest.mark.parametrize("answer", ["I don't know.", "Happy to help!", ""])
def test_an_answer_without_facts_passes(answer: str) -> None:
    """Nothing is claimed, so nothing is wrong."""
    assert course("block").settle(report(answer)).action == "deliver"


def test_the_record_adds_up_what_the_attempts_took() -> None:
    """Verification over all attempts, beside what the guard measured."""
    call = course("regenerate", 2)
    reports = [report(BAD), report(BAD)]
    for one in reports:
        call.settle(one)
    record = call.record({"generate": 2.5})

    assert record.timings["generate"] == 2.5
    assert record.timings["verify"] == pytest.approx(sum(r.usage.seconds for r in reports))
    assert record.versions == reports[1].versions


def test_a_course_that_goes_on_has_no_record() -> None:
    """A record says what came of a call."""
    call = course("regenerate")
    call.settle(report(BAD))

    with pytest.raises(ConfigError, match="has not ended"):
        call.record()


def test_what_no_guard_can_do_is_refused() -> None:
    """By argument as by policy; the message lists what can be done."""
    with pytest.raises(ConfigError, match=r"'ignore'.*'block', 'flag' and 'regenerate'"):
        course_policy("support", "ignore")
    with pytest.raises(ConfigError, match="'repair'"):
        course_policy(Policy.for_domain("support", on_fail="repair"), None)
    with pytest.raises(ConfigError, match=r"'ignore'.*'regenerate' and 'repair'"):
        course_policy("support", "ignore", repairs=True)
    assert course_policy("support", "repair", repairs=True).on_fail == "repair"
    with pytest.raises(ConfigError, match="unknown domain"):
        course_policy("suport", None)


def test_code_wins_over_the_policy() -> None:
    """`on_fail` of the guard replaces the policy's; without it the policy's holds."""
    policy = Policy.for_domain("support", on_fail="flag")

    assert course_policy(policy, None).on_fail == "flag"
    assert course_policy(policy, "regenerate").on_fail == "regenerate"
    assert course_policy(None, None) == Policy.for_domain()


def test_feedback_is_bounded_and_on_one_line_a_claim() -> None:
    """A long answer does not fill the prompt, and a claim cannot add lines of its own."""
    long = " ".join(f"Cabin {number} has a piano." for number in range(60))
    bullets = feedback(report(long)).split("\n- ")[1:]

    assert len(bullets) == 20
    assert "\n\n" not in feedback(report("The ferry serves\n\n  oysters daily."))


def test_feedback_tells_a_contradiction_from_silence() -> None:
    """The model learns what kind of wrong it was."""
    said = feedback(sync_check("The fare for a car is 19 crowns. Dogs sing aboard.", CONTEXT))

    assert re.search(r"19 crowns\. \(the context says otherwise: [^\n]*14 crowns[^\n]*\)\n", said)
    assert "Dogs sing aboard. (the context does not say it)" in said


def test_feedback_names_no_claim_where_none_was_checked() -> None:
    """A check that failed as a whole says so."""

    class Broken:
        name = "broken@1"

        def extract(self, answer: str, question: str | None = None) -> Any:
            raise RuntimeError

        async def aextract(self, answer: str, question: str | None = None) -> Any:
            raise RuntimeError

    said = feedback(sync_check(BAD, CONTEXT, scorer=Scorer(Broken())))

    assert "could not be verified" in said
    assert "oysters" not in said
