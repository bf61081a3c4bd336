"""Plain functions under `guarded`, of all four kinds."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from faithguard import (
    CaptureError,
    ConfigError,
    Passage,
    Record,
    Report,
    Scorer,
    UnfaithfulAnswerError,
    guarded,
    saw,
)
from faithguard.guard import Reported
from faithguard.store import Store
from faithguard.testing import TableVerifier

DOC = "The ferry leaves Ulvo at 8:15 and carries 40 cars."
GOOD = "The ferry leaves Ulvo at 8:15."
BAD = "The ferry leaves Ulvo at 9:45."
FALLBACK = "Please ask at the quay."
guards: Callable[..., Any] = functools.partial(guarded, domain="support", sinks=[])


def returning(output: Any, **options: Any) -> Any:
    """Return what a guarded function gives out that returns this."""

    @guards(**options)
    def answer(question: str, context: Any = DOC) -> Any:
        return output

    return answer("When does it leave?")


def test_an_answer_is_delivered_in_the_form_it_came_in() -> None:
    """A string, a pair, a dict; passages and numbers stay."""
    answer = {"answer": GOOD, "context": [DOC], "hits": 3, "score": 0.5, "cached": None}

    assert returning(GOOD) == GOOD
    assert returning((GOOD, [DOC])) == (GOOD, [DOC])
    assert returning(answer) == answer


def test_a_blocked_answer_becomes_the_fallback_in_the_same_form() -> None:
    """What else a model may have written goes with it."""
    written = {"summary": BAD, "points": [{BAD: True}], "hits": 3}
    given = {"question": "When does it leave?"}

    assert returning(BAD, fallback=FALLBACK) == FALLBACK
    assert returning((BAD, [DOC]), fallback=FALLBACK) == (FALLBACK, [DOC])
    out = returning({"answer": GOOD, "context": [DOC], **written, **given}, fallback=FALLBACK)
    assert out == {"answer": FALLBACK, "context": [DOC], "hits": 3, **given}


def test_without_a_fallback_the_block_is_raised() -> None:
    """With the record; its message holds no text of the answer."""
    with pytest.raises(UnfaithfulAnswerError) as error:
        returning(BAD)

    assert error.value.record is not None
    assert "9:45" not in str(error.value)


def test_flag_delivers() -> None:
    """And the report says why not."""
    reports: list[Report] = []

    assert returning(BAD, on_fail="flag", on_report=reports.append) == BAD
    assert [report.supported for report in reports] == [0]


def test_what_the_function_saw_is_evidence() -> None:
    """All that it says so, each passage once; without it there is none."""

    @guards()
    def answer(question: str) -> str:
        saw(DOC)
        saw([Passage(text="Ulvo has a quay."), {"text": DOC}])
        return GOOD

    exchange = answer.with_report("When?").report.exchange
    assert [passage.text for passage in exchange.passages] == ["Ulvo has a quay.", DOC]
    assert exchange.context_source == "retrieval"
    assert exchange.started_at is not None
    assert exchange.question == "When?"
    with pytest.raises(UnfaithfulAnswerError, match="no context"):
        guards()(lambda: GOOD)()


def test_the_question_is_no_evidence() -> None:
    """Whoever asserts a thing does not make it so."""

    @guards(fallback=FALLBACK)
    def answer(question: str) -> str:
        saw(DOC)
        return BAD

    assert answer(BAD) == FALLBACK


def test_saw_outside_of_a_guarded_function_does_nothing() -> None:
    """A helper that is called elsewhere, too, goes on working; what has no text is an error."""
    saw([DOC])
    with pytest.raises(CaptureError, match="has no text"):
        saw([3])


def test_saw_is_told_to_the_innermost_function() -> None:
    """One that calls another is checked against what it has seen itself."""

    @guards()
    def inner() -> str:
        saw(DOC)
        return GOOD

    @guards(fallback=FALLBACK)
    def outer() -> str:
        saw("Ulvo has a quay.")
        return str(inner())

    assert inner() == GOOD
    assert outer() == FALLBACK


def test_saw_is_heard_from_tasks_and_worker_threads_not_from_bare_threads() -> None:
    """As context variables go."""

    @guards()
    async def tasks() -> str:
        async def look() -> None:
            saw(DOC)

        await asyncio.gather(look(), asyncio.to_thread(saw, "Ulvo has a quay."))
        return GOOD

    @guards(fallback=FALLBACK)
    def threads() -> str:
        thread = threading.Thread(target=saw, args=(DOC,))
        thread.start()
        thread.join()
        return GOOD

    assert asyncio.run(tasks()) == GOOD
    assert threads() == FALLBACK


def test_parameters_may_have_other_names() -> None:
    """Those of the function's own; an iterator of passages is read once for both."""
    seen: list[list[str]] = []

    @guards(context="docs", question="q", feedback="why", on_fail="regenerate")
    def answer(q: str, docs: Iterator[str], why: str | None = None) -> str:
        seen.append(list(docs))
        return GOOD if why else BAD

    reported = answer.with_report("When?", iter([DOC]))
    assert reported.output == GOOD
    assert seen == [[DOC], [DOC]]
    assert reported.report.exchange.question == "When?"
    assert reported.report.exchange.context_source == "caller"


@pytest.mark.parametrize(
    "options",
    [
        {"context": "docs"},
        {"question": "q"},
        {"feedback": "why"},
        {"on_fail": "regenerate"},
        {"on_fail": "regenerate", "feedback": "why"},
    ],
)
def test_a_parameter_that_is_not_there_is_an_error(options: dict[str, Any]) -> None:
    """It names those that are."""
    with pytest.raises(ConfigError, match=r"no parameter '\w+', .*question, context"):

        @guards(**options)
        def answer(question: str, context: str) -> str:
            return ""


def test_a_decorator_without_brackets_is_an_error() -> None:
    """It says how to write it."""
    with pytest.raises(ConfigError, match=r"write @faithguard\.guarded\(\) above the function"):
        guarded(cast(Any, lambda question: question))


def test_settings_are_checked_at_once() -> None:
    """Before the function is ever called."""
    with pytest.raises(ConfigError, match="`fallback` is of type bytes"):
        guards(fallback=b"x")
    with pytest.raises(ConfigError, match="would never be used"):
        guards(fallback="x", on_fail="flag")
    with pytest.raises(ConfigError, match="asks once"):
        guards(max_attempts=3)
    with pytest.raises(ConfigError, match="not an object of type str"):
        guards()("answer")


def test_regenerate_hands_over_what_was_wrong() -> None:
    """As often as it may; what the function was told before is not told again."""
    told: list[str | None] = []

    @guards(on_fail="regenerate", max_attempts=3)
    def answer(question: str, context: str = DOC, feedback: str | None = None) -> str:
        told.append(feedback)
        return GOOD if len(told) == 3 else BAD

    reported = answer.with_report("When?")
    assert reported.output == GOOD
    assert len(reported.record.attempts) == 3
    assert told[0] is None
    assert all(BAD in str(feedback) for feedback in told[1:])
    told.clear()
    answer("When?")
    assert told[0] is None


def test_all_four_kinds_stay_what_they_are() -> None:
    """For those who look: a web framework awaits what is a coroutine function."""

    @guards()
    def function() -> str:
        """Answer."""
        saw(DOC)
        return GOOD

    @guards()
    async def coroutine() -> str:
        saw(DOC)
        return GOOD

    @guards()
    def generator() -> Iterator[str]:
        saw(DOC)
        yield GOOD[:9]
        yield GOOD[9:]

    @guards()
    async def async_generator() -> AsyncIterator[str]:
        saw(DOC)
        yield GOOD[:9]
        yield GOOD[9:]

    async def collected() -> tuple[str, list[str], list[Any]]:
        pieces = [piece async for piece in async_generator()]
        reports = [await coroutine.with_report(), await async_generator.with_report()]
        return await coroutine(), pieces, reports

    whole, pieces, reports = asyncio.run(collected())
    assert (function(), whole, list(generator()), pieces) == (GOOD, GOOD, [GOOD], [GOOD])
    assert all(isinstance(r, Reported) and r.output == GOOD for r in reports)
    assert generator.with_report().record.decision.passed
    assert inspect.iscoroutinefunction(coroutine)
    assert inspect.isgeneratorfunction(generator)
    assert inspect.isasyncgenfunction(async_generator)
    assert (function.__name__, function.__doc__) == ("function", "Answer.")


def test_a_generator_is_held_whole() -> None:
    """Nothing is yielded before the verdict, and nothing is asked before it is read."""
    events: list[str] = []

    @guards(fallback=FALLBACK, on_report=lambda report: events.append("verdict"))
    def answer() -> Iterator[str]:
        events.append("started")
        saw(DOC)
        yield BAD
        events.append("ended")

    stream = answer()
    assert events == []
    assert list(stream) == [FALLBACK]
    assert events == ["started", "ended", "verdict"]


@pytest.mark.parametrize("pieces", [[(GOOD, [DOC])], [{"answer": GOOD, "context": DOC}]])
def test_a_generator_may_yield_one_answer_with_its_passages(pieces: list[Any]) -> None:
    """In one of the other forms."""

    @guards()
    def answer() -> Iterator[Any]:
        yield from pieces

    assert list(answer()) == pieces


def test_what_cannot_be_verified_is_withheld() -> None:
    """With what to return instead; nothing of it is in the error."""

    @guards()
    def mixed() -> Iterator[Any]:
        yield BAD
        yield (BAD, [])

    for output in (None, 3, [BAD], (BAD,), {"text": BAD}, {"answer": [BAD]}, iter([BAD])):
        with pytest.raises(CaptureError, match="return the answer as a str"):
            returning(output)
    with pytest.raises(CaptureError, match="object of type Scorer"):
        returning({"answer": GOOD, "more": Scorer()})
    with pytest.raises(CaptureError, match="object of type tuple"):
        list(mixed())


def test_an_error_that_quotes_what_was_yielded_is_withheld() -> None:
    """And so is one that quotes the answer before; any other is the function's own."""

    @guards()
    def stream() -> Iterator[str]:
        yield BAD
        raise ValueError(f"after: {BAD}")

    @guards(on_fail="regenerate")
    async def answer(context: str = DOC, feedback: str | None = None) -> str:
        if feedback:
            raise ValueError(f"again: {BAD}")
        return BAD

    @guards()
    def broken() -> str:
        raise KeyError("ours")

    for call in (lambda: list(stream()), lambda: asyncio.run(answer())):
        with pytest.raises(CaptureError, match="withheld") as error:
            call()
        assert "9:45" not in str(error.value)
        assert error.value.__context__ is None
    with pytest.raises(KeyError, match="ours"):
        broken()


def test_a_stream_that_is_left_is_closed() -> None:
    """Inside as well, also when the verdict is a block."""
    closed: list[str] = []

    @guards()
    async def answer() -> AsyncIterator[str]:
        try:
            yield BAD
            await asyncio.sleep(30)
        finally:
            closed.append("closed")

    async def read() -> list[str]:
        return [piece async for piece in answer()]

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(read(), 0.05))
    assert closed == ["closed"]


def test_many_at_once_keep_what_they_saw_apart() -> None:
    """In tasks of one loop, and in threads."""

    @guards(fallback=FALLBACK)
    async def answer(number: int, said: int) -> str:
        saw(f"The ferry carries {number} cars.")
        await asyncio.sleep(0)
        return f"The ferry carries {said} cars."

    async def all_() -> list[str]:
        return await asyncio.gather(*(answer(n, n + n % 2) for n in range(100, 200)))

    wanted = [FALLBACK if n % 2 else f"The ferry carries {n} cars." for n in range(100, 200)]
    assert asyncio.run(all_()) == wanted


def test_methods_and_other_callables() -> None:
    """A method gets its object; `with_report` is told which."""

    class Desk:
        @guards()
        def answer(self, question: str) -> str:
            saw(DOC)
            return GOOD

        @staticmethod
        @guards()
        def plain() -> str:
            saw(DOC)
            return GOOD

    desk = Desk()
    assert desk.answer("When?") == Desk.plain() == GOOD
    assert Desk.answer.with_report(desk, "When?").output == GOOD
    with pytest.raises(TypeError, match="question"):
        desk.answer()


def test_records_reach_the_sinks() -> None:
    """One for each call, with its attempts."""
    records: list[Record] = []
    scorer = Scorer(verifiers=[TableVerifier({"*": 0.9})])

    @guarded(domain="support", sinks=[records.append], scorer=scorer)
    def answer(context: str = DOC) -> str:
        return GOOD

    answer()
    assert answer.wait(10.0)
    assert [len(record.attempts) for record in records] == [1]


def asked_in(function: Callable[..., str], **options: str) -> str | None:
    """Return what the record of a guarded function has as its question."""
    found: str | None = guards(**options)(function).with_report("a text").record.exchange.question
    return found


def test_a_question_is_known_by_its_name() -> None:
    """No other text is taken for one: a document is none, and would make a bare "Yes." its own."""

    def query(query: str, context: str = DOC) -> str:
        return GOOD

    def user_input(user_input: str, context: str = DOC) -> str:
        return GOOD

    def both(query: str, question: str = "When?", context: str = DOC) -> str:
        return GOOD

    def document(document: str, context: str = DOC) -> str:
        return GOOD

    assert asked_in(query) == asked_in(user_input) == "a text"
    assert asked_in(both) == "When?"
    assert asked_in(document) is None
    assert asked_in(document, question="document") == "a text"
    assert asked_in(both, question="query") == "a text"


def test_the_store_that_is_named_gets_what_goes_to_sinks_in_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAITHGUARD_STORE keeps every answer, but where there are no sinks."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "records.db"))
    records: list[Record] = []

    @guarded(domain="support", sinks=[records.append])
    def answer(context: str = DOC) -> str:
        return GOOD

    answer()
    returning(GOOD)
    assert answer.wait(10.0)
    assert [one.exchange.id for one in Store().records()] == [r.exchange.id for r in records]
    assert len(records) == 1


BOTH = f"{GOOD} Dogs travel free of charge."


def test_repair_leaves_out_what_failed() -> None:
    """In each form; what stands beside the answer goes with what was left out."""
    answer = {"answer": BOTH, "context": DOC, "summary": "Dogs are welcome."}

    assert returning(BOTH, on_fail="repair") == GOOD
    assert returning((BOTH, [DOC]), on_fail="repair") == (GOOD, [DOC])
    assert returning(answer, on_fail="repair") == {"answer": GOOD, "context": DOC}

    @guards(on_fail="repair")
    def stream() -> Iterator[str]:
        saw(DOC)
        yield BOTH[:20]
        yield BOTH[20:]

    record = stream.with_report().record
    assert list(stream()) == [GOOD]
    assert [repair.after for repair in record.repairs] == [""]
    assert record.decision.action == "repair"


def test_more_context_is_evidence_and_is_handed_over() -> None:
    """For the claims that failed; a coroutine function is awaited."""
    asked: list[str] = []

    def more(claims: tuple[Any, ...]) -> list[str]:
        asked.extend(claim.text for claim in claims)
        return ["Dogs travel free of charge."]

    async def amore(claims: tuple[Any, ...]) -> list[str]:
        return more(claims)

    def say(feedback: str | None) -> str:
        return BOTH if feedback and "Dogs travel free" in feedback else f"{GOOD} Dogs pay double."

    @guards(on_fail="regenerate", more_context=more)
    def answer(context: str = DOC, feedback: str | None = None) -> str:
        return say(feedback)

    @guards(on_fail="regenerate", more_context=amore)
    async def aanswer(context: str = DOC, feedback: str | None = None) -> str:
        return say(feedback)

    assert answer() == asyncio.run(aanswer()) == BOTH
    assert asked == ["Dogs pay double."] * 2
