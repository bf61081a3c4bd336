"""A stream that fails, falls silent, is left or breaks off: what is released, and on record."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard import (
    Policy,
    Record,
    Scorer,
    UnfaithfulAnswerError,
    saw,
)
from faithguard.errors import CaptureError
from faithguard.store._flaws import flaw
from faithguard.streaming import areleased, pushed, released
from faithguard.testing import Clock, TableVerifier
from faithguard.types import Claim
from faithguard.verifiers import Context, Finding
from tests.streaming_scene import (
    BETWEEN,
    CARS,
    COSTS,
    DOCS,
    DOGS,
    FALLBACK,
    LEAVES,
    QUESTION,
    SENTENCES,
    SUNK,
    astreaming,
    both,
    course_of,
    cut,
    guards,
    mended,
    streaming,
)

# Failures


def test_a_verifier_that_fails_closes_or_opens_as_the_policy_says() -> None:
    """Also with repair, which cannot tell what to mend."""
    broken = Scorer(verifiers=[TableVerifier({"*": RuntimeError("down")})])
    opens = Policy.for_domain("support", on_failure="open")

    for on_fail in ("block", "repair"):
        options = {"on_fail": on_fail, "scorer": broken, "fallback": FALLBACK}
        assert both(f"{LEAVES} {COSTS}", **options) == [FALLBACK]
        assert both(f"{LEAVES} {COSTS}", **{**options, "domain": opens}) == [LEAVES, f" {COSTS}"]


def test_a_verifier_that_fails_later_leaves_what_was_released() -> None:
    """And nothing more."""
    table = {LEAVES: 1.0, "*": RuntimeError("down")}
    scorer = Scorer(verifiers=[TableVerifier(table)])

    got = both(f"{LEAVES} {COSTS} {CARS}", scorer=scorer, fallback=FALLBACK)

    assert got == [LEAVES, f"\n\n{FALLBACK}"]


def test_without_context_nothing_is_released() -> None:
    """A courtesy is."""

    @guards(fallback=FALLBACK)
    def answer(context: None = None) -> Iterator[str]:
        yield from cut(f"Good question! {LEAVES}")

    assert list(answer()) == ["Good question!", f"\n\n{FALLBACK}"]


def test_evidence_is_what_was_seen_so_far() -> None:
    """What is found for a sentence counts for it, and not what is found after it."""

    @guards(fallback=FALLBACK)
    def answer(early: bool) -> Iterator[str]:
        if early:
            saw(DOCS)
        yield f"{LEAVES} And "
        saw(DOCS)
        yield "a ticket costs 12 EUR for adults."

    assert "".join(answer(True)) == f"{LEAVES} And a ticket costs 12 EUR for adults."
    assert list(answer(False)) == [FALLBACK]


ENDLESS = "the ferry leaves Ulvo at 8:15 and " * 9


def test_a_unit_without_end_is_a_failure() -> None:
    """The policy decides: blocked, or verified as far as it goes."""
    reason = "no sentence, item or row ended within 100 characters and 60 seconds"

    with pytest.raises(UnfaithfulAnswerError, match=reason):
        list(streaming(cut(ENDLESS), max_hold_chars=100)())
    opens = Policy.for_domain("support", on_failure="open")
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])
    pieces = both(ENDLESS, domain=opens, max_hold_chars=100, scorer=scorer)
    assert [len(piece) for piece in pieces] == [100, 100, 100, len(ENDLESS) - 300]
    assert "".join(pieces) == ENDLESS


def test_a_unit_that_takes_too_long_is_a_failure() -> None:
    """Seconds in which the reader kept the stream waiting do not count."""
    clock = Clock()
    course = course_of(clock, max_hold_seconds=5.0)

    def slow() -> Iterator[str]:
        yield f"{LEAVES} A ticket "
        clock.pass_(3.0)
        yield "costs 12 "
        clock.pass_(3.0)
        yield "EUR"

    stream = released(course, lambda again: slow())
    assert next(stream) == LEAVES
    clock.pass_(60.0)
    assert list(stream) == [f"\n\n{FALLBACK}"]

    patient = course_of(clock, max_hold_seconds=7.0)
    assert list(released(patient, lambda again: slow())) == [LEAVES, " A ticket costs 12 EUR"]


def test_a_model_that_falls_silent_is_not_waited_for() -> None:
    """In the middle of a sentence; its stream is closed."""
    closed: list[str] = []

    async def silent() -> AsyncIterator[str]:
        try:
            yield f"{LEAVES} A ticket costs"
            await asyncio.Event().wait()
        finally:
            closed.append("closed")

    async def read() -> list[str]:
        course = course_of(asyncio.get_running_loop().time, max_hold_seconds=0.05)
        return [text async for text in areleased(course, lambda again: silent())]

    assert asyncio.run(read()) == [LEAVES, f"\n\n{FALLBACK}"]
    assert closed == ["closed"]


ENDED = {
    "a sentence": LEAVES,
    "and its paragraph": f"{LEAVES}\n\n",
    "and a space": f"{LEAVES} ",
    "and the beginning of a word": f"{LEAVES} Do",
}


@pytest.mark.parametrize("text", ENDED.values(), ids=ENDED)
def test_what_has_ended_is_not_blocked_by_a_pause(text: str) -> None:
    """It is verified when its time is over, and the stream goes on."""
    rest = f"{text[len(LEAVES) :] or ' '}{'gs' if text.endswith('Do') else 'Dogs'} travel free."
    out = asyncio.Event()

    async def pausing() -> AsyncIterator[str]:
        yield text
        await out.wait()
        yield (LEAVES + rest).removeprefix(text)

    async def read() -> list[str]:
        got: list[str] = []
        course = course_of(asyncio.get_running_loop().time, max_hold_seconds=0.2)
        async for piece in areleased(course, lambda again: pausing()):
            got.append(piece)
            out.set()
        assert course.record.decision.passed
        return got

    assert asyncio.run(read()) == [LEAVES, rest]


def test_what_has_ended_in_a_pause_is_still_verified() -> None:
    """One that does not hold ends the stream; who reads himself sees it at the next piece."""
    clock = Clock()

    def pausing(*pieces: str) -> Iterator[str]:
        for piece in pieces:
            yield piece
            clock.pass_(9.0)

    for pieces, wanted in (
        ((LEAVES, " ", f" {CARS}"), [LEAVES, f"  {CARS}"]),
        ((LEAVES, " And", f" {COSTS}"), [LEAVES, f" And {COSTS}"]),
        ((SUNK, " ", f" {CARS}"), [FALLBACK]),
        ((f"{LEAVES} It", "", " carries 40 cars."), [LEAVES, f" {CARS}"]),
        ((f"{LEAVES} It", "", " carries 40", " cars."), [LEAVES, f"\n\n{FALLBACK}"]),
    ):
        course = course_of(clock, max_hold_seconds=5.0)
        assert list(released(course, lambda again, p=pieces: pausing(*p))) == wanted


@settings(deadline=None, max_examples=40)
@given(SENTENCES, BETWEEN, st.sets(st.integers(0, 6)), st.booleans())
def test_neither_bytes_nor_verdicts_depend_on_pauses(
    sentences: list[str], between: str, pauses: set[int], repairs: bool
) -> None:
    """Of a model that pauses where a sentence has ended."""
    on_fail = "repair" if repairs else "block"

    def played(pauses: set[int]) -> tuple[str, Record]:
        clock, got = Clock(), ""
        course = course_of(clock, on_fail=on_fail)
        pieces: list[str | None] = []
        for number, sentence in enumerate(sentences):
            pieces += [sentence, *([""] if number in pauses else []), between]
        for piece in [*pieces[:-1], None]:
            clock.pass_(100.0 if piece == "" else 0.0)
            for move in pushed(course, piece):
                got += move.text
                if move.ends:
                    return got, course.record
        raise AssertionError("it has not ended")

    (got, record), (wanted, other) = played(pauses), played(set())

    assert got == wanted
    assert record.decision == other.decision
    assert [(c.span, c.label) for c in record.report.claims] == [
        (c.span, c.label) for c in other.report.claims
    ]


def test_a_quiet_model_holds_nothing() -> None:
    """It may think as long as it likes before it writes."""
    thought: list[bool] = []

    async def thinking() -> AsyncIterator[str]:
        await asyncio.sleep(0.2)
        thought.append(True)
        yield LEAVES

    async def read() -> list[str]:
        course = course_of(asyncio.get_running_loop().time, max_hold_seconds=0.02)
        return [text async for text in areleased(course, lambda again: thinking())]

    assert asyncio.run(read()) == [LEAVES]
    assert thought == [True]


class Slip(Exception):
    """The model's own error."""


@pytest.mark.parametrize("error", [Slip("of the tongue"), asyncio.CancelledError("inside")])
def test_the_models_error_comes_after_what_was_released(error: BaseException) -> None:
    """As it is, and what was held is not delivered; one that looks like a cancellation, too."""

    async def breaking() -> AsyncIterator[str]:
        yield f"{LEAVES} A ticket costs "
        raise error

    async def read() -> list[Any]:
        got: list[Any] = []
        course = course_of(asyncio.get_running_loop().time)
        try:
            async for text in areleased(course, lambda again: breaking()):
                got.append(text)
        except BaseException as raised:
            got.append(type(raised))
        return got

    assert asyncio.run(read()) == [LEAVES, type(error)]


def test_an_error_that_quotes_what_was_held_is_withheld() -> None:
    """Whatever was written so far, word for word."""

    @guards()
    def answer(question: str, context: Any) -> Iterator[str]:
        yield from cut(f"{LEAVES} {SUNK}")
        raise ValueError(f"cannot parse {LEAVES} {SUNK}")

    @guards()
    async def aanswer(question: str, context: Any) -> AsyncIterator[str]:
        for piece in answer.__wrapped__(question, context):
            yield piece

    async def aread() -> None:
        async for _ in aanswer(QUESTION, DOCS):
            pass

    for read in (lambda: list(answer(QUESTION, DOCS)), lambda: asyncio.run(aread())):
        with pytest.raises((CaptureError, UnfaithfulAnswerError)) as error:
            read()
        assert "Halvard" not in f"{error.value}{error.value.__cause__}{error.value.__context__}"


def test_a_piece_that_is_no_text_is_refused() -> None:
    """By name."""
    with pytest.raises(CaptureError, match="object of type int"):
        list(streaming([LEAVES, 3])())  # type: ignore[list-item]


# Who reads, where, and for how long


def test_a_stream_may_be_read_in_any_thread() -> None:
    """As servers do; two of them in turns do not mix what they saw."""

    @guards(fallback=FALLBACK)
    def answer(knows: bool) -> Iterator[str]:
        saw(DOCS if knows else ["Nothing is known."])
        yield from cut(f"{LEAVES} {COSTS}")

    one, other = answer(True), answer(False)
    got: list[list[str]] = [[], []]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for stream, texts in zip((one, other), got, strict=True):
                texts += [text for text in [pool.submit(next, stream, "").result()] if text]
    saw(["outside of all guarded functions"])

    assert got == [[LEAVES, f" {COSTS}"], [FALLBACK]]


@pytest.mark.parametrize("after", range(4))
def test_a_reader_that_leaves_closes_the_model(after: int) -> None:
    """At any point, in the same context in which it ran; what was released is on record."""
    closed: list[str] = []
    told: list[Record] = []
    sentences = [LEAVES, COSTS, CARS, DOGS]

    @guards(sinks=[told.append])
    def answer(context: Any) -> Iterator[str]:
        try:
            yield from cut(" ".join(sentences))
        finally:
            closed.append("sync")

    @guards(sinks=[told.append])
    async def aanswer(context: Any) -> AsyncIterator[str]:
        try:
            for piece in cut(" ".join(sentences)):
                await asyncio.sleep(0)
                yield piece
        finally:
            try:
                await asyncio.sleep(0)
            finally:  # it may have ended, and be cancelled while it does
                closed.append("async")

    async def leave() -> None:
        stream = aanswer(DOCS)
        for _ in range(after):
            await anext(stream)
        await stream.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    stream = answer(DOCS)
    for _ in range(after):
        next(stream)
    stream.close()
    asyncio.run(leave())

    assert closed == (["sync", "async"] if after else [])
    assert answer.wait()
    assert aanswer.wait()
    assert len(told) == (2 if after else 0)
    for record in told:
        assert record.exchange.answer == " ".join(sentences[:after])
        assert record.exchange == record.attempts[-1].exchange
        assert [claim.text for claim in record.report.claims] == sentences[:after]
        assert (record.report.score, record.decision.passed) == (1.0, True)
        assert record.decision.reason.endswith("; its reader left before the end")
        assert (record.released, flaw(record)) == (None, None)


def test_a_stream_that_is_thrown_away_is_on_record() -> None:
    """As one that is closed by name."""
    told: list[Record] = []
    for stream in (streaming, astreaming):
        guarded = stream(cut(f"{LEAVES} {CARS} {COSTS}"), sinks=[told.append])

        async def begin(answer: Any) -> None:
            texts = answer()
            assert await anext(texts) == LEAVES
            del texts
            gc.collect()
            await asyncio.sleep(0)

        if stream is streaming:
            assert next(guarded()) == LEAVES
            gc.collect()
        else:
            asyncio.run(begin(guarded))
        assert guarded.wait()
    assert [record.exchange.answer for record in told] == [LEAVES, LEAVES]
    assert all("its reader left before the end" in record.decision.reason for record in told)


BROKEN = {
    "after a sentence": (f"{LEAVES} {CARS} A ticket", "block", f"{LEAVES} {CARS}", "deliver"),
    "after one that was left out": (f"{LEAVES} {SUNK} A ticket", "repair", LEAVES, "repair"),
    "after one that was all": (f"{SUNK} A ticket", "repair", "", "repair"),
    "before that": ("A ticket", "block", None, ""),
}


@pytest.mark.parametrize(("text", "on_fail", "wanted", "action"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("error", [OSError("gone"), asyncio.CancelledError("inside")])
def test_a_model_that_breaks_off_leaves_a_record_of_what_was_released(
    text: str, on_fail: str, wanted: str | None, action: str, error: BaseException
) -> None:
    """It says so; where nothing was checked there is none, as of a whole answer."""
    told: list[Record] = []

    @guards(sinks=[told.append], on_fail=on_fail)
    def answer(context: Any) -> Iterator[str]:
        yield text
        raise error

    @guards(sinks=[told.append], on_fail=on_fail)
    async def aanswer(context: Any) -> AsyncIterator[str]:
        yield text
        raise error

    async def aread() -> None:
        async for _ in aanswer(DOCS):
            pass

    for read in (lambda: list(answer(DOCS)), lambda: asyncio.run(aread())):
        with pytest.raises(type(error)):
            read()
    assert answer.wait()
    assert aanswer.wait()

    assert [record.exchange.answer for record in told] == [] if wanted is None else [wanted] * 2
    for record in told:
        assert record.decision.reason.endswith("; it broke off before the end")
        assert (record.decision.action, record.decision.passed) == (action, True)
        assert mended(record) == record.exchange.answer
        assert flaw(record) is None


def test_a_reader_that_leaves_amid_a_further_attempt_leaves_the_first_on_record() -> None:
    """Which did not pass, and of which nothing was released."""
    told: list[Record] = []

    @guards(sinks=[told.append], on_fail="regenerate")
    async def answer(context: Any, feedback: str = "") -> AsyncIterator[str]:
        if feedback:
            await asyncio.Event().wait()
        yield f"{SUNK} And so on"

    async def leave() -> None:
        async with asyncio.timeout(0.5):
            async for _ in answer(DOCS):
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    assert answer.wait()

    [record] = told
    assert (record.exchange.answer, record.released) == (SUNK, "")
    assert (record.decision.passed, record.report.score) == (False, 0.0)
    assert "its reader left before the end" in record.decision.reason


class Stuck(TableVerifier):
    """A verifier that says when it is asked, and never answers."""

    def __init__(self, asked: asyncio.Event) -> None:
        super().__init__({})
        self._event = asked

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Never return."""
        self._event.set()
        await asyncio.Event().wait()
        return []


@pytest.mark.parametrize("at", ["reading", "verifying"])
def test_a_reader_that_is_cancelled_closes_the_model(at: str) -> None:
    """Whether it waits for the model or for a verdict."""
    events: list[str] = []

    async def cancel() -> None:
        there = asyncio.Event()
        verifier = Stuck(there) if at == "verifying" else TableVerifier({"*": 1.0})

        @guards(scorer=Scorer(verifiers=[verifier]))
        async def answer(context: Any) -> AsyncIterator[str]:
            try:
                yield f"{LEAVES} And so on"
                await asyncio.Event().wait()
            finally:
                events.append("closed")

        async def read() -> None:
            async for text in answer(DOCS):
                events.append(text)
                there.set()

        reading = asyncio.create_task(read())
        await there.wait()
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancel())

    assert events == ([LEAVES, "closed"] if at == "reading" else ["closed"])


def test_a_slow_reader_slows_the_model() -> None:
    """It is read two units ahead at most, and without a thread not at all."""
    sentences = [f"Pier {number} has {number} lamps." for number in range(1, 30)]
    text = " ".join(sentences)
    written: list[str] = []
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])

    @guards(scorer=scorer)
    def answer(context: Any) -> Iterator[str]:
        for piece in cut(text):
            written.append(piece)
            yield piece

    @guards(scorer=scorer)
    async def aanswer(context: Any) -> AsyncIterator[str]:
        for piece in answer.__wrapped__(context):
            await asyncio.sleep(0)
            yield piece

    async def aread() -> None:
        count = 0
        async for _ in aanswer(DOCS):
            count += 1
            for _ in range(40):
                await asyncio.sleep(0)
            assert len("".join(written)) <= len(" ".join(sentences[: count + 4])) + 14

    for count, _ in enumerate(answer(DOCS), start=1):
        assert len("".join(written)) <= len(" ".join(sentences[: count + 1])) + 14
    assert "".join(written) == text
    written.clear()
    asyncio.run(aread())
    assert "".join(written) == text


def test_a_unit_is_verified_while_the_model_writes() -> None:
    """Of the async kind, in this process: the model goes on although a verdict takes its time."""
    verifier = TableVerifier({"*": 1.0}, seconds=0.2)
    written: list[int] = []

    @guards(scorer=Scorer(verifiers=[verifier]))
    async def answer(context: Any) -> AsyncIterator[str]:
        for number, piece in enumerate(cut(f"{LEAVES} {COSTS}")):
            await asyncio.sleep(0)
            written.append(number)
            yield piece

    async def read() -> list[int]:
        return [len(written) async for _ in answer(DOCS)]

    assert asyncio.run(read())[0] == len(cut(f"{LEAVES} {COSTS}"))
