"""Streams that are released claim by claim: what comes out, when, and what is left behind."""

from __future__ import annotations

import asyncio
import functools
import gc
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from faithguard import (
    ConfigError,
    OpenAIJudge,
    Passage,
    Policy,
    Record,
    Report,
    Scorer,
    UnfaithfulAnswerError,
    guarded,
    saw,
)
from faithguard.claims import LocalClaims
from faithguard.errors import CaptureError
from faithguard.guard import Settings
from faithguard.scorer import Progress
from faithguard.store._flaws import flaw
from faithguard.streaming import StreamCourse, areleased, pushed, released
from faithguard.testing import ChatServer, Clock, JudgeServer, TableVerifier, honest
from faithguard.types import Attempt, Claim, Exchange, Verdict
from faithguard.verifiers import Context, Finding

from .growth import LINEAR, growth

DOCS = [
    "The ferry leaves Ulvo at 8:15 and carries 40 cars. Dogs travel free of charge.",
    "A ticket costs 12 EUR for adults and 6 EUR for children. The café is open on Sundays.",
]
QUESTION = "When does the ferry leave, and what does it cost?"
LEAVES = "The ferry leaves Ulvo at 8:15."
CARS = "It carries 40 cars."
COSTS = "A ticket costs 12 EUR for adults."
CHEAP = "A ticket costs 3 EUR for adults."
DOGS = "Dogs travel free of charge."
SUNK = "The steamer Halvard sank in the autumn storm."
FALLBACK = "Please ask at the quay."
guards: Callable[..., Any] = functools.partial(guarded, domain="support", sinks=[], stream="claims")


def cut(text: str, size: int = 7) -> list[str]:
    """Cut a text into pieces."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def streaming(pieces: Sequence[str], **options: Any) -> Any:
    """Return a guarded generator of these pieces."""

    @guards(**options)
    def answer(question: str = QUESTION, context: Any = DOCS) -> Iterator[str]:
        yield from pieces

    return answer


def astreaming(pieces: Sequence[str], **options: Any) -> Any:
    """Return a guarded async generator of these pieces."""

    @guards(**options)
    async def answer(question: str = QUESTION, context: Any = DOCS) -> AsyncIterator[str]:
        for piece in pieces:
            await asyncio.sleep(0)
            yield piece

    return answer


def both(text: str, **options: Any) -> list[str]:
    """Return what is released, which is the same for both kinds of generators."""

    async def aread() -> list[str]:
        return [piece async for piece in astreaming(cut(text), **options)()]

    got = list(streaming(cut(text), **options)())
    assert asyncio.run(aread()) == got
    return got


def record_of(text: str, **options: Any) -> Record:
    """Return the record of a stream, which is the same for both kinds of generators."""
    record: Record = streaming(cut(text), **options).with_report().record
    twin = asyncio.run(astreaming(cut(text), **options).with_report()).record
    assert (twin.exchange.answer, twin.decision) == (record.exchange.answer, record.decision)
    assert twin.repairs == record.repairs
    assert flaw(record) is None
    return record


def mended(record: Record) -> str:
    """Make the repairs of a record in what was written; no two of them meet."""
    text = record.attempts[-1].exchange.answer
    spans = sorted(repair.span for repair in record.repairs)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for repair in sorted(record.repairs, key=lambda repair: repair.span, reverse=True):
        start, end = repair.span
        assert text[start:end] == repair.before
        text = text[:start] + repair.after + text[end:]
    return text


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
    numbers = range(1, 90)
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
    text = form(range(1, 150))
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


SENTENCES = st.lists(st.sampled_from([LEAVES, CARS, COSTS, CHEAP, SUNK, "Thanks!"]), max_size=6)
BETWEEN = st.sampled_from([" ", "\n\n", "\n- ", "  "])


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


# Repair


def test_repair_corrects_or_leaves_out_and_goes_on() -> None:
    """What the context says instead; else nothing, and the paragraph stays as it was."""
    text = f"{LEAVES} {CHEAP} {SUNK} Dogs travel free of charge."

    record = record_of(text, on_fail="repair")

    assert record.exchange.answer == f"{LEAVES} {COSTS} Dogs travel free of charge."
    assert mended(record) == record.exchange.answer
    assert (record.decision.action, record.report.score) == ("repair", 1.0)
    assert len(record.attempts[0].report.unsupported) == 2


MENDED = {
    "the first of a list": (
        f"We say:\n\n- {SUNK}\n- {LEAVES}\n- {COSTS}",
        f"We say:\n\n- {LEAVES}\n- {COSTS}",
    ),
    "the only one under a heading": (
        f"# Storms\n\n{SUNK}\n\n# Hours\n\n{LEAVES}",
        f"# Hours\n\n{LEAVES}",
    ),
    "the first under a heading": (f"# Hours\n\n{SUNK} {LEAVES}", f"# Hours\n\n{LEAVES}"),
    "the first row": (
        "| Who | Fee |\n|---|---|\n| pirates | 70 EUR |\n| adults | 12 EUR |",
        "| Who | Fee |\n|---|---|\n| adults | 12 EUR |",
    ),
    "all of a list": (
        f"We say:\n\n- {SUNK}\n\nThanks! {LEAVES}",
        f"Thanks! {LEAVES}",
    ),
    "the last": (f"{LEAVES}\n\n# Storms\n\n{SUNK}", LEAVES),
    "the first": (f"{SUNK} {LEAVES}", LEAVES),
    "what leans on it": (f"{LEAVES} {SUNK} It was rusty. {COSTS}", f"{LEAVES} {COSTS}"),
    "the first row without edges": (
        "Who | Fee\n---|---\npirates | 70 EUR\nadults | 12 EUR",
        "Who | Fee\n---|---\nadults | 12 EUR",
    ),
    "the first under a title in bold": (
        f"**Hours**\n\n{SUNK}\n\n{LEAVES}",
        f"**Hours**\n\n{LEAVES}",
    ),
    "the only one of some items": (
        f"We say:\n- Storms\n  - {SUNK}\n- {LEAVES}\n- {COSTS}",
        f"We say:\n- {LEAVES}\n- {COSTS}",
    ),
    "the first sentence of an item": (
        f"- {LEAVES}\n- {SUNK} {COSTS}",
        f"- {LEAVES}\n- {COSTS}",
    ),
    "what lies under an item": (
        f"- {LEAVES}\n- {SUNK}\n  - {CARS}\n- {COSTS}",
        f"- {LEAVES}\n- {COSTS}",
    ),
    "between two lists": (
        f"We say:\n- {LEAVES}\n\n{SUNK}\n\n- dogs free of charge",
        f"We say:\n- {LEAVES}",
    ),
    "an item with a number": (
        f"1. {LEAVES}\n2. {SUNK}\n3. {COSTS}\n4. {DOGS}",
        f"1. {LEAVES}\n2. {COSTS}\n3. {DOGS}",
    ),
    "the first, with numbers": (f"1) {SUNK}\n2) {LEAVES}", f"1) {LEAVES}"),
    "the first sentence, with numbers": (
        f"1. {SUNK}\n2. {SUNK} {LEAVES}\n3. {COSTS}",
        f"1. {LEAVES}\n2. {COSTS}",
    ),
    "one of two lists": (
        f"1. {LEAVES}\n   1. {SUNK}\n   2. {COSTS}\n2. {DOGS}",
        f"1. {LEAVES}\n   1. {COSTS}\n2. {DOGS}",
    ),
    "an item before a paragraph that lies in it": (
        f"1. {LEAVES}\n\n   {SUNK}\n2. {DOGS}\n3. {COSTS}",
        f"1. {LEAVES}\n\n2. {DOGS}\n3. {COSTS}",
    ),
    "the second of a list with items in them": (
        f"1. {LEAVES}\n2. {SUNK}\n\n   {SUNK}\n3. Storms:\n   1. {SUNK}\n4. {COSTS}",
        f"1. {LEAVES}\n\n2. {COSTS}",
    ),
    "all but the last, whose margins grow": (
        f"{LEAVES}\n\n1. {SUNK}\n  2. {SUNK}\n    3. {COSTS}\n4. {DOGS}",
        f"{LEAVES}\n\n    1. {COSTS}\n2. {DOGS}",
    ),
    "all but the last, whose signs differ": (
        f"1. {SUNK}\n2) {SUNK}\n3. {COSTS}",
        f"1. {COSTS}",
    ),
    "of a list that jumps": (f"1. {SUNK}\n3. {COSTS}\n4. {DOGS}", f"1. {COSTS}\n2. {DOGS}"),
    "of a list that jumped before": (
        f"1. {COSTS}\n3. {LEAVES}\n4. {SUNK}\n5. {DOGS}",
        f"1. {COSTS}\n3. {LEAVES}\n4. {DOGS}",
    ),
    "of another list": (
        f"1. {SUNK}\n2. {COSTS}\n\nLater:\n\n5. {LEAVES}\n6. {DOGS}",
        f"1. {COSTS}\n\nLater:\n\n5. {LEAVES}\n6. {DOGS}",
    ),
    "the first of a list with a margin": (
        f" 1. {SUNK}\n 2. {LEAVES}\n 3. {SUNK}\n 4. {DOGS}",
        f" 1. {LEAVES}\n 2. {DOGS}",
    ),
    "with numbers that are code": (
        f"{SUNK}\n\n```\n2. x()\n3. y()\n```\n\n{LEAVES}",
        f"```\n2. x()\n3. y()\n```\n\n{LEAVES}",
    ),
    "before one that means a number": (
        f"1. {LEAVES}\n2. {SUNK}\n3. {COSTS}\n\nCan we begin with step 3? {DOGS}",
        f"1. {LEAVES}\n2. {COSTS}\n\n{DOGS}",
    ),
    "after one that means a number": (
        f"Shall we begin with step 3?\n\n1. {LEAVES}\n2. {SUNK}\n3. {COSTS}",
        f"Shall we begin with step 3?\n\n1. {LEAVES}\n3. {COSTS}",
    ),
}


@pytest.mark.parametrize(("text", "wanted"), MENDED.values(), ids=MENDED)
def test_what_leads_to_a_unit_outlives_it_only_where_it_still_leads(text: str, wanted: str) -> None:
    """The record tells each change, so that the one text gives the other."""
    record = record_of(text, on_fail="repair")

    assert record.exchange.answer == mended(record) == wanted


def test_an_item_is_read_with_its_lead_in_although_another_one_was_left_out() -> None:
    """Also where a sign is all that marks it; without the lead-in it would mean the opposite."""
    texts = [
        "Free of charge:\n\n✅ cars\n✅ dogs\n✅ adults",
        "Free of charge:\n\n- cars\n- dogs\n- adults",
    ]
    for text in texts:
        verifier = TableVerifier(
            {"Free of charge: dogs": 1.0, "adults": 1.0, "cars": 1.0, "*": 0.0}
        )
        scorer = Scorer(verifiers=[verifier], cache=None)

        record = record_of(text, on_fail="repair", scorer=scorer, fallback=FALLBACK)

        assert [claim.text for claim in record.report.claims] == ["Free of charge: dogs"]
        assert "adults" not in record.exchange.answer
        assert record.exchange.answer.startswith("Free of charge:\n\n")


PIERS = st.lists(st.sampled_from(["Halvard", "ferry", "café"]), min_size=1, max_size=12)


@settings(deadline=None, max_examples=40)
@given(PIERS, st.integers(0, 12), st.sampled_from(["\n", "\n\n"]), st.sampled_from(["", "> "]))
def test_the_numbers_of_a_list_close_up(
    names: list[str], first: int, between: str, quote: str
) -> None:
    """Nothing else of what stays changes; the repairs say so."""
    items = [f"Pier {place} is that of the {name}." for place, name in enumerate(names)]

    def listed(items: Sequence[str]) -> str:
        lines = enumerate(items, first)
        return between.join(f"{quote}{number}. {item}" for number, item in lines)

    class Sunk(TableVerifier):
        """Does not find the steamer."""

        def _finding(self, claim: Claim) -> Finding:
            found = super()._finding(claim)
            if "Halvard" not in claim.text or not isinstance(found, Verdict):
                return found
            return replace(found, label="not_mentioned", p_supported=0.0)

    scorer = Scorer(verifiers=[Sunk({"*": 1.0})], cache=None)
    record = record_of(listed(items), on_fail="repair", scorer=scorer, fallback=FALLBACK)

    stays = [item for item in items if "Halvard" not in item]
    released = record.exchange.answer if record.released is None else record.released
    assert released == mended(record) == listed(stays)
    if record.repairs and record.decision.passed:
        counted = len(record.repairs)
        told = f"mended by {counted} change{'' if counted == 1 else 's'}"
        assert record.decision.reason.endswith(told)


PARTS = st.sampled_from(
    [
        *(LEAVES, CARS, COSTS, CHEAP, DOGS, SUNK, "It was rusty.", "Thanks!"),
        "The ferry leaves Ulvo at 9:45, and the steamer sank.",
        "A ticket costs 3 EUR for adults and 5 EUR for children.",
        *("Fees:", "The fees are:", "# Hours", "## Storms", "**Fees**"),
        "| Who | Fee |\n|---|---|\n| adults | 12 EUR |\n| children | 9 EUR |\n| pirates | 7 EUR |",
    ]
)
JOINTS = st.sampled_from(
    [" ", "  ", "\n", "\n\n", "\n\n\n", "\n- ", "\n\n- ", "\n  - ", "\n1. ", "\n2. "]
)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(["", "\n", "  ", "- "]), st.lists(st.tuples(PARTS, JOINTS), max_size=8))
@example("", [("The fees are:", "\n"), (SUNK, " "), (COSTS, "\n  - "), (CHEAP, "\n- ")])
@example("\n", [("Fees:", "\n\n- "), (SUNK, " "), (CHEAP, "\n  - "), ("**Fees**", "\n  - ")])
def test_repairs_give_what_was_released(begin: str, parts: list[tuple[str, str]]) -> None:
    """Made in what was written; no two of them touch the same text."""
    text = begin + "".join(part + joint for part, joint in parts)

    record = streaming([text], on_fail="repair", fallback=FALLBACK).with_report().record

    released = record.exchange.answer if record.released is None else record.released
    assert mended(record) == released
    assert flaw(record) is None


def test_if_nothing_is_left_the_stream_is_blocked() -> None:
    """An empty answer is none, also where what failed was leant on."""
    leaning = f"{SUNK} {CARS}"
    assert both(leaning, on_fail="repair", fallback=FALLBACK) == [FALLBACK]
    assert both(f"# Storms\n\n{SUNK}", on_fail="repair", fallback=FALLBACK) == [FALLBACK]


@pytest.mark.parametrize("text", [f"What sank?\n\n- {SUNK}", f"Thanks for asking! {SUNK} Bye!"])
def test_if_no_fact_is_left_the_stream_is_blocked(text: str) -> None:
    """As a whole answer is; a question, or thanks, is no answer."""
    record = record_of(text, on_fail="repair", fallback=FALLBACK)
    whole = guarded(domain="support", sinks=[], on_fail="repair", fallback=FALLBACK)

    assert both(text, on_fail="repair", fallback=FALLBACK)[-1] == f"\n\n{FALLBACK}"
    assert (record.decision.action, record.decision.passed) == ("block", False)
    assert "no fact is left of it; what came before it was released" in record.decision.reason
    assert mended(record) == record.released
    assert whole(lambda context: text)(DOCS) == FALLBACK


def test_a_sentence_that_leans_on_one_left_out_goes_with_it() -> None:
    """Unless it rests on the passage of the one before: then it means what that is about."""
    steamer = f"{COSTS} {SUNK} It carries 40 cars."
    ferry = f"{LEAVES} {SUNK} It carries 40 cars."

    assert "".join(both(steamer, on_fail="repair")) == COSTS
    vague = f"{COSTS} {SUNK} Is it still there? {LEAVES}"
    assert "".join(both(vague, on_fail="repair")) == f"{COSTS} Is it still there? {LEAVES}"
    hedged = f"{COSTS} {SUNK} This may interest you. {LEAVES}"
    assert "".join(both(hedged, on_fail="repair")) == f"{COSTS} {LEAVES}"
    assert "".join(both(ferry, on_fail="repair")) == f"{LEAVES} It carries 40 cars."


class Denying(TableVerifier):
    """Contradicts what its table does not support."""

    def _finding(self, claim: Claim) -> Finding:
        found = super()._finding(claim)
        wrong = isinstance(found, Verdict) and found.p_supported < 0.5
        return replace(found, label="contradicted") if wrong else found  # type: ignore[type-var]


@pytest.mark.parametrize("reply", [COSTS, SUNK, ""])
def test_a_judges_model_may_write_a_unit_again(reply: str) -> None:
    """What it writes is verified; else the unit is left out, and what was released stays."""
    parts = json.dumps({"parts": [{"id": "u1", "text": reply}]})
    with ChatServer(lambda _: parts) as server:
        judge = OpenAIJudge("any", base_url=server.url, api_key="none", retries=0)
        verifiers = [Denying({SUNK: 0.0, CHEAP: 0.0, "*": 1.0}), judge]
        scorer = Scorer(verifiers=verifiers)
        got = both(f"{LEAVES} {SUNK} {DOGS}", on_fail="repair", scorer=scorer)

    assert got == [LEAVES, *([f" {COSTS}"] if reply == COSTS else []), f" {DOGS}"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("mode", ["local", "extracted", "together"])
def test_a_judge_reads_a_unit_with_what_was_released(mode: Any) -> None:
    """However it comes to its claims; what is known is not judged again."""
    with JudgeServer(honest()) as server:
        judge = OpenAIJudge("any", base_url=server.url, api_key="none", claims=mode)
        scorer = Scorer(verifiers=[judge])
        record = record_of(f"{LEAVES} {COSTS} {SUNK}", scorer=scorer, fallback=FALLBACK)

    assert record.released == f"{LEAVES} {COSTS}"
    assert [claim.span for claim in record.report.facts][:2] == [(0, 30), (31, 64)]
    assert not record.decision.passed
    assert len(record.attempts[0].report.unsupported) == 1
    if mode == "local":
        statements = [list(asked.statements.values()) for asked in server.asked]
        assert all(LEAVES not in texts for texts in statements[1:])


# Regenerate


class Writer:
    """A generator function whose model writes one text after the other."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.hints: list[str] = []

    def __call__(self, question: str, context: Any, feedback: str = "") -> Iterator[str]:
        """Write the next one."""
        self.hints.append(feedback)
        yield from cut(self.texts[len(self.hints) - 1])

    async def awaiting(self, question: str, context: Any, feedback: str = "") -> AsyncIterator[str]:
        """Do the same, awaiting."""
        for piece in self(question, context, feedback):
            await asyncio.sleep(0)
            yield piece

    def read(self, **options: Any) -> list[str]:
        """Read the guarded stream, blocking and awaiting."""

        @guards(on_fail="regenerate", **options)
        def answer(question: str, context: Any, feedback: str = "") -> Iterator[str]:
            yield from self(question, context, feedback)

        @guards(on_fail="regenerate", **options)
        async def aanswer(question: str, context: Any, feedback: str = "") -> AsyncIterator[str]:
            async for piece in self.awaiting(question, context, feedback):
                yield piece

        async def aread() -> list[str]:
            return [piece async for piece in aanswer(QUESTION, DOCS)]

        got = list(answer(QUESTION, DOCS))
        hints, self.hints = self.hints, []
        assert (asyncio.run(aread()), self.hints) == (got, hints)
        return got


def test_regenerate_before_anything_was_released() -> None:
    """The feedback names what failed; the second attempt is streamed, too."""
    writer = Writer(f"{SUNK} {LEAVES}", f"{LEAVES} {COSTS}")

    assert writer.read() == [LEAVES, f" {COSTS}"]
    assert writer.hints[0] == ""
    assert SUNK in writer.hints[1]


def test_regenerate_blocks_once_something_was_released() -> None:
    """What the reader has cannot be taken back."""
    writer = Writer(f"{LEAVES} {SUNK}", LEAVES)

    assert writer.read(fallback=FALLBACK) == [LEAVES, f"\n\n{FALLBACK}"]
    assert len(writer.hints) == 1


def test_more_context_is_evidence_for_the_next_attempt() -> None:
    """And it is sent along."""
    writer = Writer("The lighthouse has 99 steps.", "The lighthouse has 99 steps.")

    got = writer.read(more_context=lambda claims: ["The lighthouse has 99 steps."])

    assert got == ["The lighthouse has 99 steps."]
    assert "99 steps." in writer.hints[1].rpartition("More context:")[2]


def test_attempts_are_bounded() -> None:
    """Each is in the record."""
    writer = Writer(SUNK, SUNK, SUNK)

    with pytest.raises(UnfaithfulAnswerError, match="after 3 attempts") as error:
        writer.read(max_attempts=3)

    assert error.value.record is not None
    assert len(error.value.record.attempts) == 3


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


def course_of(clock: Callable[[], float], **options: Any) -> StreamCourse:
    """Return the course of a stream whose seconds are told by a clock."""
    chosen = Settings.of(
        domain=options.pop("domain", "support"),
        on_fail=options.pop("on_fail", None),
        fallback=FALLBACK,
        max_attempts=None,
        more_context=None,
        on_report=None,
        sinks=[],
        scorer=None,
        judge=None,
        stream="claims",
        **options,
    )
    passages = tuple(Passage(text=text) for text in DOCS)
    return StreamCourse(
        chosen, lambda text: Exchange(id="x", answer=text, passages=passages), clock=clock
    )


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
