"""Streams that are released claim by claim: what comes out, when, and what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from faithguard import (
    ConfigError,
    Passage,
    Policy,
    Record,
    Report,
    Scorer,
    UnfaithfulAnswerError,
    guarded,
)
from faithguard.claims import LocalClaims
from faithguard.scorer import Progress
from faithguard.store._flaws import flaw
from faithguard.streaming import released
from faithguard.testing import Clock, TableVerifier
from faithguard.types import Attempt, Claim, Exchange
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
    both,
    course_of,
    cut,
    guards,
    mended,
    record_of,
    streaming,
)

from .growth import LINEAR, growth

# What comes out


def test_each_unit_comes_on_its_own() -> None:
    """With the white space before it; joined they are the answer."""
    text = f"{LEAVES} {CARS}\n\n- {COSTS}\n- Dogs travel free of charge."

    assert both(text) == [
        LEAVES,
        f" {CARS}",
        f"\n\n- {COSTS}",
        "\n- Dogs travel free of charge.",
    ]


def test_a_claim_that_fails_ends_the_stream_with_the_fallback() -> None:
    """As a paragraph of its own; nothing that comes after it is read."""
    text = f"{LEAVES} {SUNK} {COSTS}"

    assert both(text, fallback=FALLBACK) == [LEAVES, f"\n\n{FALLBACK}"]
    assert both(f"{SUNK} {COSTS}", fallback=FALLBACK) == [FALLBACK]


def test_without_a_fallback_it_raises() -> None:
    """The error tells what was released, and why no more was."""
    stream = streaming(cut(f"{LEAVES} {SUNK}"))()

    assert next(stream) == LEAVES
    with pytest.raises(UnfaithfulAnswerError) as error:
        next(stream)

    record = error.value.record
    assert record is not None
    assert record.released == LEAVES
    assert record.exchange.answer == record.report.exchange.answer == f"{LEAVES} {SUNK}"
    assert error.value.report == record.report == record.attempts[-1].report
    assert [claim.text for claim in record.report.unsupported] == [SUNK]
    assert (record.decision.passed, record.decision.action) == (False, "block")
    assert "Halvard" not in str(error.value)


BLOCKED: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "in mid-stream": (f"{LEAVES} {CARS} {SUNK} {COSTS}", "block", (LEAVES, CARS), (SUNK,)),
    "at once": (f"{SUNK} {LEAVES}", "block", (), (SUNK,)),
    "all that was to be left out": (f"{SUNK} {SUNK}", "repair", (), (SUNK, SUNK)),
}


@pytest.mark.parametrize(("text", "on_fail", "good", "bad"), BLOCKED.values(), ids=BLOCKED)
def test_the_record_of_a_blocked_stream_is_of_all_that_was_checked(
    text: str, on_fail: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    """As that of a whole answer; the claim that stopped it, its verdict, and where it stands."""
    record = record_of(text, on_fail=on_fail, fallback=FALLBACK)

    checked = record.exchange.answer
    assert text.startswith(checked)
    assert [checked[slice(*claim.span)] for claim in record.report.claims] == [*good, *bad]
    assert [checked[slice(*claim.span)] for claim in record.report.unsupported] == list(bad)
    counts = (record.report.supported, record.report.total)
    assert counts == (len(good), len(good) + len(bad))
    assert record.report.score == len(good) / sum(map(len, (good, bad)))
    assert record.decision.reason.startswith(f"{counts[0]} of {counts[1]} claim")
    assert record.released == " ".join(good)
    assert record.attempts == (Attempt(exchange=record.exchange, report=record.report),)
    if on_fail == "block":
        whole = record_of_whole(checked)
        assert (whole.report.outcome, whole.report.score) == ("scored", record.report.score)
        assert [c.label for c in whole.report.claims] == [c.label for c in record.report.claims]
        assert (whole.exchange.answer, whole.decision.action) == (checked, "block")


def record_of_whole(text: str) -> Record:
    """Return the record of a text that is held back as a whole."""
    safe = guarded(domain=Policy(domain="own", safe=1.0, warning=1.0), sinks=[], fallback=FALLBACK)

    @safe
    def answer(context: Any) -> str:
        return text

    record: Record = answer.with_report(DOCS).record
    return record


def test_a_verdict_that_is_missing_counts_in_the_record() -> None:
    """Of a claim, or of all that a sentence says."""

    class Broken(LocalClaims):
        """Cannot split everything."""

        def extract(self, answer: str, question: str | None = None) -> list[Claim]:
            """Split an answer that says nothing of dogs."""
            if "Dogs" in answer:
                raise RuntimeError("dogs")
            return super().extract(answer, question)

    table = TableVerifier({SUNK: RuntimeError("down"), "*": 1.0})
    silent = record_of(f"{LEAVES} {SUNK}", scorer=Scorer(verifiers=[table]), fallback=FALLBACK)
    assert (silent.report.outcome, silent.report.bounds) == ("incomplete", (0.5, 1.0))

    broken = Scorer(Broken(), verifiers=[TableVerifier({"*": 1.0})])
    record = record_of(f"{LEAVES} {DOGS}", scorer=broken, fallback=FALLBACK)
    assert (record.report.outcome, record.report.score) == ("failed", None)
    assert "the check failed (error)" in record.decision.reason


def test_a_record_shows_why_its_stream_was_blocked() -> None:
    """All that was checked, and what was released of it."""
    console = Console(file=StringIO(), width=300)
    with console.capture() as shown:
        console.print(record_of(f"{LEAVES} {SUNK}", fallback=FALLBACK))

    assert "1 of 2 claims supported" in shown.get()
    assert f"released before: {LEAVES}" in shown.get()


def test_a_record_shows_first_that_its_reader_left() -> None:
    """Beside what was done, and not only at the end of the reason."""
    told: list[Record] = []
    answer = streaming(cut(f"{LEAVES} {CARS} {COSTS}"), sinks=[told.append])
    stream = answer()
    next(stream)
    stream.close()
    assert answer.wait()

    console = Console(file=StringIO(), width=300)
    with console.capture() as shown:
        console.print(told[0])

    heads = [line for line in shown.get().splitlines() if "passed" in line]
    assert "passed · its reader left before the end" in heads[0]


def test_one_bad_claim_of_many_is_enough() -> None:
    """The policy would let the whole answer through; a sentence is not made good by others."""
    text = " ".join([LEAVES, COSTS, DOGS] * 3 + [SUNK])
    plain = guarded(domain="support", sinks=[])(lambda context: text)

    assert plain(DOCS) == text
    assert both(text, fallback=FALLBACK)[-1] == f"\n\n{FALLBACK}"


def test_what_is_no_fact_passes() -> None:
    """Courtesy, titles, questions, an abstention."""
    text = f"Good question!\n\n## The ferry\n\n{LEAVES} Anything else?"

    assert "".join(both(text)) == text
    silent = "I could not find anything about that in the documents."
    assert both(silent) == [silent]
    assert both("") == []


def test_a_list_is_read_with_what_leads_to_it() -> None:
    """And a row with the head of its table, as in the whole answer."""
    rows = "| Who | Fee |\n|---|---|\n| adults | 12 EUR |\n| children | 6 EUR |"
    text = f"The fees of a ticket:\n\n{rows}"

    record = record_of(text)

    whole = [claim.text for claim in LocalClaims().extract(text, QUESTION)]
    assert [claim.text for claim in record.report.claims] == whole
    assert record.report.supported == 2


def test_a_long_answer_is_read_as_if_it_were_whole() -> None:
    """Only its end is read again, from where the list, table or paragraph begins."""
    numbers = range(1, 40)
    prose = " ".join(f"Pier {n} has {n + 3} lamps." for n in numbers)
    lines = "\n\n".join(f"Buoy {n} is {n + 2} metres high. It has a bell." for n in numbers)
    items = "\n".join(f"- berth {n} for {n + 5} EUR" for n in numbers)
    rows = "\n".join(f"| Quay {n} | {n + 7} EUR |" for n in numbers)
    code = "\n\n".join(f"berth({n})" for n in numbers)
    head = "| Quay | Fee |\n|---|---|"
    parts = [prose, lines, f"We let:\n\n{items}", f"{head}\n{rows}", f"```py\n{code}\n```", prose]
    text = "\n\n".join(parts)
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])

    report = streaming(cut(text, 40), scorer=scorer).with_report().record.report

    whole = LocalClaims().extract(text, QUESTION)
    assert [(c.text, c.span) for c in report.claims] == [(c.text, c.span) for c in whole]


MANY: dict[str, Callable[[Sequence[int]], str]] = {
    "sentences": lambda piers: " ".join(f"Pier {n} has {n + 3} lamps." for n in piers),
    "lines": lambda piers: "\n".join(f"Pier {n} has {n + 3} lamps." for n in piers),
    "paragraphs": lambda piers: "\n\n".join(f"Pier {n} has {n + 3} lamps." for n in piers),
    "items": lambda piers: "We let:\n\n" + "\n".join(f"- pier {n}, {n + 3} EUR" for n in piers),
    "numbers": lambda piers: "\n".join(f"{n}. It has {n + 3} lamps." for n in piers),
    "items of items": lambda piers: (
        "We let:\n\n" + "\n".join(f"- Pier {n}:\n  - {n + 3} lamps\n  - a bell" for n in piers)
    ),
    "rows": lambda piers: (
        "| Pier | Fee |\n|---|---|\n" + "\n".join(f"| {n} | {n + 3} EUR |" for n in piers)
    ),
}


@pytest.mark.parametrize("form", MANY.values(), ids=MANY)
def test_many_short_units_are_read_as_if_they_were_whole(
    form: Callable[[Sequence[int]], str],
) -> None:
    """Although only the end of them is read again."""
    text = form(range(1, 60))
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])

    report = streaming([text], scorer=scorer).with_report().record.report

    whole = LocalClaims().extract(text, QUESTION)
    assert [(c.text, c.span) for c in report.claims] == [(c.text, c.span) for c in whole]


@pytest.mark.parametrize("form", ["sentences", "lines", "items", "rows"])
def test_time_grows_as_the_answer_does(form: str) -> None:
    """Of many short sentences, lines, items or rows."""
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])

    def work(size: int) -> None:
        text = MANY[form](range(size, 2 * size))
        assert "".join(streaming(cut(text, 50), scorer=scorer)()) == text

    assert growth(work, 400) < LINEAR


def test_the_record_is_of_what_was_released() -> None:
    """One report of the whole answer, whose spans stand in it."""
    text = f"{LEAVES} {CARS} {COSTS}"
    reports: list[Report] = []

    record = record_of(text, on_report=reports.append)

    assert record.exchange.answer == record.attempts[0].exchange.answer == text
    assert [text[slice(*claim.span)] for claim in record.report.claims] == [LEAVES, CARS, COSTS]
    assert (record.report.score, record.decision.action) == (1.0, "deliver")
    assert [report.total for report in reports] == [3, 3]
    assert len({claim.id for claim in record.report.claims}) == 3


def test_on_report_is_told_why_a_stream_was_blocked() -> None:
    """Not only what was released of it."""
    reports: list[Report] = []

    both(f"{LEAVES} {SUNK}", fallback=FALLBACK, on_report=reports.append)

    assert [[c.text for c in report.unsupported] for report in reports] == [[SUNK], [SUNK]]


@settings(deadline=None, max_examples=40)
@given(SENTENCES, BETWEEN, st.lists(st.integers(0, 1000), max_size=12), st.booleans())
def test_neither_bytes_nor_verdicts_depend_on_the_cuts(
    sentences: list[str], between: str, places: list[int], repairs: bool
) -> None:
    """Any pieces of the same text: the same is released, with the same claims and verdicts."""
    text = between.join(sentences)
    cuts = sorted(place * len(text) // 1000 for place in places)
    pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    options = {"on_fail": "repair" if repairs else "block", "fallback": FALLBACK}

    outcomes = [streaming(some, **options).with_report() for some in (pieces, list(text))]

    first, second = (outcome.record for outcome in outcomes)
    assert outcomes[0].output == outcomes[1].output
    assert (first.decision, first.repairs) == (second.decision, second.repairs)
    assert first.report.claims == second.report.claims
    assert [a.report.claims for a in first.attempts] == [a.report.claims for a in second.attempts]
    assert flaw(first) is None
    if first.decision.passed:
        assert outcomes[0].output == first.exchange.answer == mended(first)
        assert repairs or first.exchange.answer == text


FIRST = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("Yes.", "8:15.", "About 12 EUR.", "Of course.", "Not at all.", "Maybe."),
                *("Yes, it does.", "Thanks!", LEAVES, DOGS, "No, it carries 40 cars."),
            ]
        ),
        st.sampled_from([" ", "\n", "\n\n", "\n- "]),
    ),
    min_size=1,
    max_size=4,
)


@settings(deadline=None, max_examples=60)
@given(FIRST, st.sampled_from([QUESTION, "Does the ferry carry cars?", ""]), st.integers(1, 9))
@example([("Of course.", " "), (LEAVES, " ")], "Does the ferry carry cars?", 3)
@example([("8:15.", " "), ("About 12 EUR.", " "), (DOGS, " ")], QUESTION, 3)
@example([("Yes.", " "), (LEAVES, " ")], "", 3)
def test_a_stream_is_read_as_its_whole_answer_is(
    parts: list[tuple[str, str]], question: str, size: int
) -> None:
    """Also where a few words that begin it are read with the question, or with what follows."""
    text = "".join(part + joint for part, joint in parts[:-1]) + parts[-1][0]
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})], cache=None)

    @guards(scorer=scorer)
    def answer(question: str, context: Any = DOCS) -> Iterator[str]:
        yield from cut(text, size)

    record = answer.with_report(question).record

    passages = tuple(Passage(text=doc) for doc in DOCS)
    whole = scorer.score(
        Exchange(id="whole", answer=text, question=question or None, passages=passages)
    )
    streamed = record.attempts[-1].report
    read = [[(c.text, c.span, c.label) for c in r.claims] for r in (streamed, whole)]
    assert read[0] == read[1]


# Settings


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "flag": ({"on_fail": "flag"}, "would hold nothing"),
    "another word": ({"stream": "sentences"}, "`stream` is 'sentences'"),
    "no characters": ({"max_hold_chars": 0}, "`max_hold_chars` is 0"),
    "half characters": ({"max_hold_chars": 9.5}, "whole number"),
    "endless seconds": ({"max_hold_seconds": float("inf")}, "`max_hold_seconds` is inf"),
    "seconds as text": ({"max_hold_seconds": "5"}, "`max_hold_seconds` is '5'"),
    "bounds of nothing": ({"stream": "answer", "max_hold_chars": 9}, "the whole answer is held"),
}


@pytest.mark.parametrize(("options", "told"), REFUSED.values(), ids=REFUSED)
def test_settings_that_cannot_be_used_are_refused(options: dict[str, Any], told: str) -> None:
    """With the remedy."""
    with pytest.raises(ConfigError, match=told):
        guards(**options)


def test_only_generators_stream() -> None:
    """A function that returns its answer is told so."""
    with pytest.raises(ConfigError, match="needs a generator"):
        guards()(lambda context: LEAVES)


def test_a_stream_has_no_record_before_its_end() -> None:
    """It says so."""
    with pytest.raises(ConfigError, match="has not ended"):
        _ = course_of(Clock()).record


def test_a_place_of_what_was_released_is_known_in_what_was_written() -> None:
    """Also behind what was left out: a framework's events stand between texts there."""
    course = course_of(Clock(), on_fail="repair")
    text = f"{LEAVES} {SUNK} {COSTS}"

    found = []
    for piece in released(course, lambda again: iter(cut(text))):
        begin = len(course.text) - len(piece)
        own = course.origin(begin)
        found.append((piece, text[own : course.settled]))

    assert found == [(LEAVES, LEAVES), (f" {COSTS}", f" {COSTS}")]


# What of an answer is known already


def test_only_what_is_new_is_verified() -> None:
    """The claims of before stand, with their verdicts; the report is of all of it."""
    verifier = TableVerifier({"*": 1.0})
    scorer = Scorer(verifiers=[verifier], cache=None)
    progress = Progress()
    passages = (Passage(text=DOCS[0]),)

    for text in (LEAVES, f"{LEAVES} {CARS}", f"{LEAVES} {CARS} Thanks!"):
        exchange = Exchange(id="x", answer=text, passages=passages)
        report = progress.report = scorer.score(exchange, after=progress)

    assert verifier.asked == [LEAVES, CARS]
    assert [claim.text for claim in report.claims] == [LEAVES, CARS, "Thanks!"]
    assert (report.supported, report.total) == (2, 2)
    whole = scorer.score(Exchange(id="x", answer=text, passages=passages))
    assert [claim.span for claim in report.claims] == [claim.span for claim in whole.claims]
