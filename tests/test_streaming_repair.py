"""A stream that does not hold: it is mended while it comes, or written again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faithguard import (
    OpenAIJudge,
    Scorer,
    UnfaithfulAnswerError,
    guarded,
)
from faithguard.store._flaws import flaw
from faithguard.testing import ChatServer, JudgeServer, TableVerifier, honest
from faithguard.types import Claim, Verdict
from faithguard.verifiers import Finding
from tests.streaming_scene import (
    CARS,
    CHEAP,
    COSTS,
    DOCS,
    DOGS,
    FALLBACK,
    LEAVES,
    QUESTION,
    SUNK,
    both,
    cut,
    guards,
    mended,
    record_of,
    streaming,
)

# Repair


def test_repair_corrects_or_leaves_out_and_goes_on() -> None:
    """What the context says instead; else nothing, and the paragraph stays as it was."""
    text = f"{LEAVES} {CHEAP} {SUNK} Dogs travel free of charge."

    record = record_of(text, on_fail="repair")

    assert record.exchange.answer == f"{LEAVES} {COSTS} Dogs travel free of charge."
    assert mended(record) == record.exchange.answer
    assert (record.decision.action, record.report.score) == ("repair", 1.0)
    assert len(record.attempts[0].report.unsupported) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("apart", ["\n- ", "\n\n- ", "\n  - "])
def test_a_text_ends_as_it_was_written_whatever_goes_last(apart: str, end: str) -> None:
    """The end of the last line stays where the last item goes, as it does without streaming."""
    text = f"- {LEAVES}{apart}{SUNK}{end}"

    record = record_of(text, on_fail="repair")

    assert record.exchange.answer == f"- {LEAVES}{end}"
    assert mended(record) == record.exchange.answer
    assert flaw(record) is None
    assert "".join(both(text, on_fail="repair")) == record.exchange.answer


MARKS = [
    *(("**", "**"), ("*", "*"), ("<b>", "</b>"), ('"', '"'), ("'", "'"), ("“", "”"), ("„", "“")),
    *(("«", "»"), ("(", ")"), ("[", "](https://a.example/b)")),
]


@pytest.mark.parametrize(("opens", "closes"), MARKS)
def test_half_of_a_pair_of_marks_does_not_go_alone(opens: str, closes: str) -> None:
    """Where the rest of a quotation, a link or bold words stays, the next action is taken."""
    asks: dict[str, Any] = {"on_fail": "repair", "fallback": FALLBACK}
    last = record_of(f"{opens}{LEAVES} {SUNK}{closes} {COSTS}", **asks)
    first = record_of(f"{opens}{SUNK} {LEAVES}{closes} {COSTS}", **asks)

    assert [one.decision.action for one in (first, last)] == ["block", "block"]
    assert [one.released for one in (first, last)] == ["", f"{opens}{LEAVES}"]
    assert SUNK not in f"{first.released}{last.released}"


@pytest.mark.parametrize(("opens", "closes"), MARKS)
def test_what_goes_with_both_its_marks_is_left_out(opens: str, closes: str) -> None:
    """A sentence in the middle of a quotation, or one that is all of it."""
    middle = f"{opens}{LEAVES} {SUNK} {COSTS}{closes}"
    alone = f"{LEAVES} {opens}{SUNK}{closes} {COSTS}"

    for text in (middle, alone):
        record = record_of(text, on_fail="repair")
        kept = middle.replace(f" {SUNK}", "") if text == middle else f"{LEAVES} {COSTS}"
        assert (record.decision.action, record.exchange.answer) == ("repair", kept)
        assert flaw(record) is None


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
    "the first under the same title as before": (
        f"1. Fees:\n   1. {COSTS}\n2. Fees:\n   1. {SUNK}\n   2. {DOGS}",
        f"1. Fees:\n   1. {COSTS}\n2. Fees:\n   1. {DOGS}",
    ),
    "the first under the same words as before": (
        f"Fees:\n- {COSTS}\n\nFees:\n- {SUNK}\n- {DOGS}",
        f"Fees:\n- {COSTS}\n\nFees:\n- {DOGS}",
    ),
    "all under the same title as before": (
        f"- Fees:\n  - {COSTS}\n- Fees:\n  - {SUNK}\n- {DOGS}",
        f"- Fees:\n  - {COSTS}\n- {DOGS}",
    ),
    "an item whose number is bold": (
        f"**1. Hours:** {LEAVES}\n\n**2. Storms:** {SUNK}\n\n**3. Fees:** {COSTS}",
        f"**1. Hours:** {LEAVES}\n\n**2. Fees:** {COSTS}",
    ),
    "an item with a bold number": (
        f"**1.** {LEAVES}\n**2.** {SUNK}\n**3.** {COSTS}",
        f"**1.** {LEAVES}\n**2.** {COSTS}",
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


@pytest.mark.parametrize("opens", ["Steps: ", "", "We advise the following: ", "Steps:\n"])
@pytest.mark.parametrize("sign", ["{}. ", "({}) ", "{}) "])
@pytest.mark.parametrize("out", [(0,), (1,), (3,), (0, 2), (1, 2), ()])
def test_a_list_in_one_line_is_mended_as_a_whole_answer_is(
    opens: str, sign: str, out: tuple[int, ...]
) -> None:
    """Each item is one, whatever was written or left out before it; numbers close up."""
    good = [LEAVES, COSTS, DOGS, "The café is open on Sundays."]

    def listed(items: Sequence[str]) -> str:
        return opens + " ".join(sign.format(n) + item for n, item in enumerate(items, 1))

    text = listed([SUNK if place in out else item for place, item in enumerate(good)])
    whole = guarded(domain="support", sinks=[], on_fail="repair", fallback=FALLBACK)

    record = record_of(text, on_fail="repair", fallback=FALLBACK)

    wanted = listed([item for place, item in enumerate(good) if place not in out])
    assert record.exchange.answer == mended(record) == wanted
    assert whole(lambda context: text)(DOCS) == wanted


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


@settings(deadline=None, max_examples=50)
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
    there = f"{LEAVES} {SUNK} It carries 40 cars there."
    assert "".join(both(there, on_fail="repair")) == LEAVES


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
