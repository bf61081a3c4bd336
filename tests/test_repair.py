"""Repair: what is changed, what is left as it was, and what is not delivered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import faithguard
from faithguard import ConfigError, OpenAIJudge, Passage, Policy, Record, Scorer
from faithguard.claims import LocalClaims
from faithguard.guard import Course, Reported, Step, settled
from faithguard.repair._antecedents import leans
from faithguard.testing import ChatServer, JudgeServer, honest
from faithguard.types import Claim, Exchange, Repair, Verdict
from faithguard.verifiers import Context, Finding
from tests.growth import LINEAR, growth
from tests.repairs import POLICY, Outcome, Truth, amend, mend, rows

ROWS = {row.id: row for row in rows()}
IDS = list(ROWS)


# -- the exam ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_a_row_is_mended_where_the_verdicts_are_right(name: str) -> None:
    """Nothing false is left, nothing true is lost, and the rest is byte for byte as it was."""
    row = ROWS[name]
    outcome = mend(row, Scorer(verifiers=[Truth(row)]))
    assert outcome.faults() == []
    assert _applied(outcome.record) == (outcome.delivered or row.answer)


@pytest.mark.parametrize("name", IDS)
def test_awaiting_mends_as_blocking_does(name: str) -> None:
    """One logic: both drivers deliver the same, changed in the same places."""
    row = ROWS[name]
    one = mend(row, Scorer(verifiers=[Truth(row)]))
    two = asyncio.run(amend(row, Scorer(verifiers=[Truth(row)])))
    assert one.delivered == two.delivered
    assert one.record.repairs == two.record.repairs
    assert one.record.decision == two.record.decision


@pytest.mark.parametrize("name", IDS)
def test_nothing_is_delivered_that_the_local_cascade_calls_unsupported(name: str) -> None:
    """Whatever the verifier: each fact of what is delivered is one that it supports."""
    row = ROWS[name]
    outcome = mend(row, Scorer())
    if outcome.delivered is not None:
        report = Scorer().score(replace(row.exchange, answer=outcome.delivered))
        assert report.unsupported == ()
        assert report.total > 0
        assert outcome.delivered == outcome.record.exchange.answer


def test_the_exam_is_passed_with_the_local_cascade_as_well() -> None:
    """At least nine rows of ten come out as they should; the others for what it misjudges."""
    right = [row.id for row in rows() if not mend(row, Scorer()).faults()]
    assert len(right) >= 0.9 * len(ROWS)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("prose-01", ("9:00", "9:00"), "says"),
        ("prose-01", ("9:00", "7:00"), "says"),
        ("prose-02", (" Up to 12 items can be borrowed at once.", ""), "lost"),
        ("list-01", ("- a pair of gloves\n", ""), "lost"),
        ("list-04", ("Applicants must bring:\n", "Applicants must bring:\n\n"), "lost"),
        ("table-05", ("\r\n", "\n"), "lost"),
        ("mixed-01", ("## Good", "# Good"), "lost"),
        ("list-12", ("these courses", "such courses"), "says"),
        ("list-05", ("\n\nPrices", "\nPrices"), "something else"),
        ("prose-16", ("hours. Payment", "hours.  Payment"), "something else"),
    ],
)
def test_the_examiner_sees_what_is_wrong(name: str, change: tuple[str, str], fault: str) -> None:
    """A result that keeps what is false, loses what is true or changes the layout has a fault."""
    row = ROWS[name]
    good = row.accept[0]
    outcome = mend(row, Scorer(verifiers=[Truth(row)]))
    spoilt = (good if change[0] in good else row.answer).replace(*change)
    if spoilt in row.accept:
        pytest.fail("the change changes nothing")
    step = replace(outcome.step, answer=spoilt)
    assert any(fault in told for told in Outcome(row, step, outcome.record).faults())


# -- cases of our own -------------------------------------------------------------------------


def _applied(record: Record) -> str:
    """Return the first attempt's answer with the repairs made."""
    text = record.attempts[0].exchange.answer if record.attempts else ""
    for repair in reversed(record.repairs):
        start, end = repair.span
        assert text[start:end] == repair.before
        text = text[:start] + repair.after + text[end:]
    return text


class Marked:
    """Calls each claim unsupported that holds one of some words, all others supported.

    Args:
        words: Word -> label. Evidence is what the context holds of the claim.
    """

    name = "marked@1"

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return the verdicts."""
        return [self._verdict(claim, context) for claim in claims]

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return the verdicts."""
        return self.verify(claims, context)

    def _verdict(self, claim: Claim, context: Context) -> Verdict:
        found = tuple(s.evidence() for s in context.select(claim.text).sentences)
        label: Any = next((told for w, told in self._words.items() if w in claim.text), "supported")
        return Verdict(
            claim=claim.id,
            label=label,
            p_supported=0.99 if label in ("supported", "conflicting") else 0.01,
            verifier=self.name,
            evidence=found if label != "not_mentioned" else (),
        )


def repaired(
    answer: str,
    context: str | Sequence[str] = (),
    *,
    wrong: Mapping[str, str] | Sequence[str] = (),
    question: str | None = None,
    policy: Policy = POLICY,
    judge: OpenAIJudge | None = None,
) -> Reported:
    """Return what a guard would deliver, None for a block, and the record.

    Args:
        answer: To be mended.
        context: Passages; a text that is about anything at all by default.
        wrong: The words of unsupported claims, with their labels; not mentioned by default.
        question: What was asked.
        policy: Of the guard.
        judge: Of the scorer.
    """
    texts = [context] if isinstance(context, str) else list(context)
    words = wrong if isinstance(wrong, Mapping) else dict.fromkeys(wrong, "not_mentioned")
    exchange = Exchange(
        id="x",
        answer=answer,
        passages=tuple(Passage(text=text) for text in texts or ["The desk knows more."]),
        question=question,
    )
    scorer = Scorer(verifiers=[Marked(words)], judge=judge)
    course = Course(policy, max_attempts=1)
    step: Step = settled(course, scorer, exchange)
    record = course.record()
    if step.action == "block":
        assert record.repairs == ()
        assert record.exchange.answer == answer
        return Reported(None, record)
    delivered = answer if step.answer is None else step.answer
    assert _applied(record) == delivered
    return Reported(delivered, record)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_called_unsupported_nothing_of_it_is_delivered(seed: int) -> None:
    """Any claims of any answer: what is called wrong is gone, and what is not is still there."""
    random = Random(seed)
    delivered = 0
    for row in rows():
        extract = LocalClaims().extract
        facts = [c.text for c in extract(row.answer, row.question) if c.kind == "fact"]
        some = random.sample(facts, min(len(facts), random.randint(1, 3)))
        wrong = {text: random.choice(("contradicted", "not_mentioned")) for text in some}
        reported = repaired(row.answer, row.context, wrong=wrong, question=row.question)
        if reported.output is None:
            continue
        delivered += 1
        left = [c.text for c in extract(reported.output, row.question) if c.kind == "fact"]
        assert not [text for text in left if any(word in text for word in wrong)]
        assert len(left) >= len(facts) - len(some)
        assert "\r" in reported.output or "\r" not in row.answer
    assert delivered > len(ROWS) / 2


CUTS = {
    "the first sentence": (
        "Owls sing here. The mill grinds rye. The mill has two stones.",
        "The mill grinds rye. The mill has two stones.",
    ),
    "a paragraph": (
        "The mill grinds rye.\n\nOwls sing here.\n\nThe mill has two stones.\n",
        "The mill grinds rye.\n\nThe mill has two stones.\n",
    ),
    "the last paragraph": (
        "The mill grinds rye.\n\nOwls sing here.\n",
        "The mill grinds rye.\n",
    ),
    "the first paragraph, with blank lines before it": (
        "\n\nOwls sing here.\n\nThe mill grinds rye.",
        "\n\nThe mill grinds rye.",
    ),
    "two paragraphs in a row": (
        "The mill grinds rye.\n\nOwls sing here.\n\nOwls dance here.\n\nThe mill is old.",
        "The mill grinds rye.\n\nThe mill is old.",
    ),
    "an item of a loose list": (
        "- The mill grinds rye.\n\n- Owls sing here.\n\n- The mill is old.\n",
        "- The mill grinds rye.\n\n- The mill is old.\n",
    ),
    "an item with a continuation": (
        "1. The mill grinds rye.\n2. Owls sing here.\n   Owls dance here.\n3. The mill is old.",
        "1. The mill grinds rye.\n2. The mill is old.",
    ),
    "the first sentence of an item": (
        "1. Owls sing here.\n   The mill grinds rye.\n2. The mill is old.",
        "1. The mill grinds rye.\n2. The mill is old.",
    ),
    "an item and its own items": (
        "* The mill is old.\n* Owls sing here.\n  * Owls dance here.\n* The mill grinds rye.",
        "* The mill is old.\n* The mill grinds rye.",
    ),
    "a lead-in with all its items": (
        "The mill is old.\n\nThe birds:\n- Owls sing here.\n- Owls dance here.\n\n"
        "The mill grinds rye.",
        "The mill is old.\n\nThe mill grinds rye.",
    ),
    "a label with all its items": (
        "- The mill\n  - The mill grinds rye.\n- The birds\n  - Owls sing here.\n",
        "- The mill\n  - The mill grinds rye.\n",
    ),
    "a section": (
        "# Mill\n\nThe mill grinds rye.\n\n## Birds\n\nOwls sing here.\n\n"
        "## Age\n\nThe mill is old.\n",
        "# Mill\n\nThe mill grinds rye.\n\n## Age\n\nThe mill is old.\n",
    ),
    "the rows of a table, and with them its head": (
        "The mill is old.\n\n| Bird | Does |\n|---|---|\n| Owls | sing |\n\nThe mill grinds rye.",
        "The mill is old.\n\nThe mill grinds rye.",
    ),
    "bullets that are no markdown": (
        "The mill:\n• The mill grinds rye.\n• Owls sing here.\n• The mill is old.",
        "The mill:\n• The mill grinds rye.\n• The mill is old.",
    ),
    "a number in brackets": (
        "(1) The mill grinds rye.\n(2) Owls sing here.\n(3) The mill is old.\n"
        "(4) It has two stones.",
        "(1) The mill grinds rye.\n(2) The mill is old.\n(3) It has two stones.",
    ),
    "the numbers of the same list only": (
        "1. The mill grinds rye.\n2. Owls sing here.\n3. The mill is old.\n\nThen:\n\n"
        "1. The mill rests.\n2. The mill sleeps.",
        "1. The mill grinds rye.\n2. The mill is old.\n\nThen:\n\n"
        "1. The mill rests.\n2. The mill sleeps.",
    ),
    "in a list, the numbers of the outer one": (
        "1. The mill is old.\n2. Owls sing here.\n3. The mill works:\n"
        "   1. The mill grinds rye.\n   2. The mill rests.\n4. The mill sleeps.",
        "1. The mill is old.\n2. The mill works:\n"
        "   1. The mill grinds rye.\n   2. The mill rests.\n3. The mill sleeps.",
    ),
    "the first of a list that jumps": (
        "1. Owls sing here.\n3. The mill grinds rye.\n4. The mill is old.",
        "1. The mill grinds rye.\n2. The mill is old.",
    ),
    "after a list jumped": (
        "1. The mill rests.\n3. The mill grinds rye.\n4. Owls sing here.\n5. The mill is old.",
        "1. The mill rests.\n3. The mill grinds rye.\n4. The mill is old.",
    ),
    "the first of a list whose margins and signs differ": (
        "1. Owls sing here.\n  2) The mill grinds rye.\n   3. The mill is old.",
        "  1) The mill grinds rye.\n   2. The mill is old.",
    ),
    "what a number stands behind that begins another list": (
        "1. Owls sing here.\n2. The mill is old.\n\nThen:\n\n5. The mill grinds rye.",
        "1. The mill is old.\n\nThen:\n\n5. The mill grinds rye.",
    ),
    "a list that counts all items as one": (
        "1. The mill grinds rye.\n1. Owls sing here.\n1. The mill is old.",
        "1. The mill grinds rye.\n1. The mill is old.",
    ),
    "a line of a quotation": (
        "> The mill grinds rye.\n>\n> Owls sing here.\n>\n> The mill is old.\n",
        "> The mill grinds rye.\n>\n> The mill is old.\n",
    ),
    "a sentence with a citation behind it": (
        "The mill grinds rye. [1] Owls sing here. [2] The mill is old. [1]",
        "The mill grinds rye. [1] The mill is old. [1]",
    ),
    "a sentence of a language without spaces": (
        "水車は粉をひきます。Owlsは歌います。水車は古いです。",
        "水車は粉をひきます。水車は古いです。",
    ),
    "the first clause of two, but for its subject": (
        "The mill is loved by Owls and has two stones. The mill is old.",
        "The mill has two stones. The mill is old.",
    ),
    "the last clause of two": (
        "The mill has two stones and is home to Owls. The mill is old.",
        "The mill has two stones. The mill is old.",
    ),
    "the last clause of three": (
        "The mill has two stones, is loved by all and is home to Owls. The mill is old.",
        "The mill has two stones and is loved by all. The mill is old.",
    ),
    "the middle clause of three": (
        "The mill has two stones, is loved by Owls and is closed on Sundays [1]. The mill is old.",
        "The mill has two stones and is closed on Sundays [1]. The mill is old.",
    ),
    "a task": (
        "- [x] The mill grinds rye.\n- [ ] Owls sing here.\n- [x] The mill is old.\n",
        "- [x] The mill grinds rye.\n- [x] The mill is old.\n",
    ),
}


@pytest.mark.parametrize("case", CUTS)
def test_what_goes_takes_its_place_along(case: str) -> None:
    """No marker, title, lead-in or number is left behind; the rest stays as it was."""
    answer, expected = CUTS[case]
    assert repaired(answer, wrong=["Owls"]).output == expected


@pytest.mark.parametrize("case", CUTS)
def test_line_ends_stay_what_they_are(case: str) -> None:
    """The same with CRLF at the ends of lines."""
    answer, expected = (text.replace("\n", "\r\n") for text in CUTS[case])
    assert repaired(answer, wrong=["Owls"]).output == expected


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Owls sing here.", id="nothing is left"),
        pytest.param("# Owls\n\nOwls sing here.\n\nBye!", id="no claim is left"),
        pytest.param("- Owls sing here.\n- Owls dance here.\n", id="no item is left"),
        pytest.param("Owls sing here. This makes the mill famous.", id="this of what goes"),
        pytest.param("The mill is old. Owls sing here. Their song is loud.", id="their"),
        pytest.param(
            "The mill is old. Owls sing here. Therefore the mill is famous.", id="therefore"
        ),
        pytest.param("Owls sing here. They eat mice.", id="they, of whom nothing is said"),
        pytest.param(
            "1. The mill is old.\n2. Owls sing here.\n3. The mill rests.\n\nRepeat step 3.",
            id="a number that is meant elsewhere",
        ),
        pytest.param('{"answer": "Owls sing here.", "more": "The mill is old."}', id="JSON"),
        pytest.param("The mill is old.\n\n```\nOwls sing here.\n```\n", id="code"),
        pytest.param(
            "The mill has two wheels:\n- Owls sing here.", id="a lead-in that states something"
        ),
        pytest.param(
            "- Owls sing here.\n  - The mill is old.\n- The mill rests.", id="an item over items"
        ),
        pytest.param("**The mill is old. Owls sing here**. The mill rests.", id="open mark-up"),
        pytest.param("**The mill is old. Owls sing here.** The mill rests.", id="open bold"),
        pytest.param("*The mill is old. Owls sing here.* The mill rests.", id="open emphasis"),
        pytest.param("<b>The mill is old. Owls sing here.</b> The mill rests.", id="open tag"),
        pytest.param('"The mill is old. Owls sing here." The mill rests.', id="open quotation"),
        pytest.param('"Owls sing here. The mill is old." The mill rests.', id="closed only"),
        pytest.param("'The mill is old. Owls sing here.' The mill rests.", id="single quotes"),
        pytest.param("„The mill is old. Owls sing here.“ The mill rests.", id="low quotes"),
        pytest.param("«The mill is old. Owls sing here.» The mill rests.", id="angles"),
        pytest.param("(The mill is old. Owls sing here.) The mill rests.", id="open bracket"),
        pytest.param("[The mill is old. Owls sing here.](https://a.b) It rests.", id="open link"),
        pytest.param("The mill is loved by Owls; it has two stones.", id="a half with it"),
    ],
)
def test_what_could_not_stand_alone_is_not_delivered(answer: str) -> None:
    """Where a cut would break layout or meaning, the next action is taken."""
    reported = repaired(answer, wrong=["Owls"])
    assert reported.output is None
    assert reported.record.decision.action == "block"
    assert not reported.record.decision.passed


PRONOUNS = "The mill of Orley grinds rye on Mondays. The mill of Orley has two stones."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "The mill of Orley grinds rye on Mondays. Owls sing here. It has two stones.",
            "The mill of Orley grinds rye on Mondays. It has two stones.",
        ),
        (
            "Owls sing here. It has two stones.",
            "The mill of Orley has two stones.",
        ),
        (
            "Owls sing here. **It** also has two stones.",
            "**The mill of Orley** also has two stones.",
        ),
        (
            "The desk knows more. Owls sing here. It has two stones.",
            "The desk knows more. The mill of Orley has two stones.",
        ),
        ("Owls sing here. It is possible to visit.", "It is possible to visit."),
    ],
)
def test_a_kept_pronoun_keeps_its_meaning(answer: str, expected: str) -> None:
    """It means the subject of its own evidence: one that is named before, or put in its place."""
    passages = [PRONOUNS, "The desk knows more. It is possible to visit."]
    assert repaired(answer, passages, wrong=["Owls"]).output == expected


CORRECTIONS = {
    "a number": ("The bell weighs 90 kg.", "The bell weighs 70 kg.", "90", "contradicted"),
    "a unit": ("The bell weighs 70 g.", "The bell weighs 70 kg.", "70 g", "contradicted"),
    "a date": (
        "The bell was cast on 3 May 1902.",
        "The bell was cast on 3 May 1920.",
        "1902",
        "contradicted",
    ),
    "a currency": ("A tour costs 5 EUR.", "A tour costs 5 CHF.", "EUR", "contradicted"),
    "a name": (
        "The bell was cast by Ida Lund.",
        "The bell was cast by Olaf Strand.",
        "Ida",
        "contradicted",
    ),
    "a place": (
        "The bell hangs in the north tower.",
        "The bell hangs in the south tower.",
        "north",
        "contradicted",
    ),
    "a time with a stop, at the end": (
        "The bell rings until 8 p.m.",
        "The bell rings until 18:00.",
        "8 p.m.",
        "contradicted",
    ),
    "a code": ("The part is BX-204.", "The part is BX-402.", "BX-204", "contradicted"),
    "what is not mentioned": (
        "The bell weighs 90 kg.",
        "The bell weighs 70 kg.",
        "90",
        "not_mentioned",
    ),
}


@pytest.mark.parametrize("case", CORRECTIONS)
def test_what_the_context_says_otherwise_is_put_right(case: str) -> None:
    """The change is as small as what differs, and names the sentence that says so."""
    answer, said, word, label = CORRECTIONS[case]
    rest = " Visitors ring the bell at noon."
    reported = repaired(answer + rest, said + rest, wrong={word: label})
    assert reported.output == said + rest
    (repair,) = reported.record.repairs
    assert repair.before in answer
    assert repair.after in said
    assert [evidence.quote for evidence in repair.evidence] == [said]


@pytest.mark.parametrize(
    ("answer", "said", "fixed"),
    [
        (
            "There are 50 bells in Orley.",
            "Fifteen bells are in Orley.",
            "There are fifteen bells in Orley.",
        ),
        (
            "Nine bells are in Orley.",
            "In Orley there are fifteen bells.",
            "Fifteen bells are in Orley.",
        ),
    ],
)
def test_a_value_is_written_as_its_place_asks_for(answer: str, said: str, fixed: str) -> None:
    """The case of its first letter follows the sentence that it is put into."""
    wrong = {"50": "contradicted", "Nine": "contradicted"}
    assert repaired(answer, said, wrong=wrong).output == fixed


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("The bell weighs 90 kg. It is old.", id="of two values, one cannot tell"),
        pytest.param("The bell is 90 cm high. It is old.", id="a value of another measure"),
        pytest.param("The bell weighs the most of all bells. It is old.", id="it says more"),
    ],
)
def test_what_cannot_be_told_apart_is_not_guessed(answer: str) -> None:
    """A guess could be supported by a careless verifier: the sentence goes, or the answer."""
    context = "One bell weighs 40 kg, another bell weighs 60 kg. The bell of Orley is old."
    wrong = {"90": "contradicted", "most": "contradicted"}
    delivered = repaired(answer, context, wrong=wrong).output
    assert delivered in (None, "The bell of Orley is old.")


def test_the_value_of_the_row_is_taken_not_of_its_neighbour() -> None:
    """Of several values in one sentence the one that belongs to the row's own words."""
    context = "Rye costs 4 francs, oats cost 3 francs, spelt costs 7 francs and wheat 6 francs."
    answer = (
        "| Grain | Price |\n|---|---|\n| Rye | 4 francs |\n| Oats | 3 francs |\n"
        "| Spelt | 9 francs |\n"
    )
    fixed = repaired(answer, context, wrong={"9 francs": "contradicted"}).output
    assert fixed == answer.replace("9 francs", "7 francs")


def test_a_json_answer_is_corrected_but_never_shortened() -> None:
    """A value in a text of JSON can be put right; the JSON around it stays."""
    answer = '{"answer": "The bell weighs 90 kg. It rings at noon."}'
    context = "The bell weighs 70 kg. It rings at noon."
    fixed = repaired(answer, context, wrong={"90": "contradicted"}).output
    assert fixed is not None
    assert json.loads(fixed) == {"answer": context}


def test_a_correction_that_says_what_stands_there_already_is_none() -> None:
    """The sentence goes instead: the answer would say the same twice."""
    answer = "The bell weighs 70 kg. The bell weighs 90 kg. It rings at noon."
    context = "The bell weighs 70 kg. It rings at noon."
    fixed = repaired(answer, context, wrong={"90": "contradicted"}).output
    assert fixed == "The bell weighs 70 kg. It rings at noon."


def test_what_passages_disagree_on_goes_where_it_counts_as_unsupported() -> None:
    """In a closed domain a conflicting claim is left out; elsewhere it stays."""
    answer = "The bell weighs 70 kg. The bell rings at noon. Owls sing here."
    wrong = {"70": "conflicting", "Owls": "not_mentioned"}
    assert repaired(answer, wrong=wrong).output == "The bell rings at noon."
    support = Policy.for_domain("support", environ={}, on_fail="repair")
    kept = repaired(answer, wrong=wrong, policy=support).output
    assert kept == "The bell weighs 70 kg. The bell rings at noon."


def test_an_answer_that_passes_is_not_touched() -> None:
    """Repair is for what does not pass; a policy that lets a share through does so."""
    lenient = Policy(domain="desk", safe=0.5, warning=0.4, on_fail="repair")
    answer = "The bell rings at noon. Owls sing here."
    reported = repaired(answer, wrong=["Owls"], policy=lenient)
    assert reported.output == answer
    assert reported.record.decision.action == "deliver"


def test_once_mending_all_that_is_unsupported_goes() -> None:
    """Not only as much as the threshold asks for."""
    half = Policy(domain="desk", safe=0.5, warning=0.4, on_fail="repair")
    answer = "The bell rings at noon. Owls sing. Owls dance. Owls read."
    assert repaired(answer, wrong=["Owls"], policy=half).output == "The bell rings at noon."


def test_what_could_not_be_checked_is_not_mended() -> None:
    """A missing verdict is a failure, not a claim to leave out."""

    class Failing(Marked):
        def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
            """Return verdicts, but none for one claim."""
            return [
                None if "Owls" in claim.text else self._verdict(claim, context) for claim in claims
            ]

    exchange = Exchange(
        id="x",
        answer="The bell rings at noon. Owls sing here.",
        passages=(Passage(text="The bell rings at noon."),),
    )
    course = Course(POLICY, max_attempts=1)
    step = settled(course, Scorer(verifiers=[Failing({})]), exchange)
    assert step.action == "block"
    assert course.record().repairs == ()


def test_a_mended_answer_that_loses_a_claims_support_is_not_delivered() -> None:
    """What is kept must still be supported in the text as it then reads."""

    class Moody(Marked):
        """Supports a sentence only while the owls are there."""

        seen = 0

        def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
            self.seen += 1
            words = {"Owls": "not_mentioned"} if self.seen == 1 else {"rings": "not_mentioned"}
            return [Marked(words)._verdict(claim, context) for claim in claims]

    exchange = Exchange(
        id="x",
        answer="The bell rings at noon. Owls sing here. The bell is old.",
        passages=(Passage(text="The bell rings at noon."),),
    )
    course = Course(POLICY, max_attempts=1)
    step = settled(course, Scorer(verifiers=[Moody({})], cache=None), exchange)
    assert step.action == "block"


# -- the judge --------------------------------------------------------------------------------

HALF = "The bell weighs nearly as much as ten Owls and rings at noon. The tower is closed."
BELL = "The bell rings at noon. The bell has two clappers. The tower is closed."


def judged(reply: Any, answer: str = HALF, **more: Any) -> tuple[Reported, int]:
    """Return the outcome with a judge whose model gives a reply, and how often it was asked."""
    with ChatServer(lambda _: reply if isinstance(reply, (str, tuple)) else json.dumps(reply)) as s:
        judge = OpenAIJudge("any", base_url=s.url, api_key="none", retries=0)
        given = {"wrong": {"Owls": "contradicted"}, **more}
        return repaired(answer, BELL, judge=judge, **given), len(s.requests)


def test_a_judge_writes_again_what_no_evidence_puts_right() -> None:
    """One call; its text is verified, and the change rests on what supports it."""
    text = "The bell rings at noon."
    reported, calls = judged({"parts": [{"id": "u1", "text": text}]}, HALF.replace("and", "which"))
    assert calls == 1
    assert reported.output == f"{text} The tower is closed."
    (repair,) = reported.record.repairs
    assert repair.after == text
    assert repair.evidence[0].quote == "The bell rings at noon."


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"parts": [{"id": "u1", "text": "Owls sleep."}]}, id="false again"),
        pytest.param({"parts": [{"id": "u1", "text": "A\n\nB"}]}, id="another layout"),
        pytest.param({"parts": [{"id": "u1", "text": "# The bell rings."}]}, id="a title"),
        pytest.param({"parts": [{"id": "u1", "text": "x" * 5000}]}, id="much too long"),
        pytest.param({"parts": [{"id": "u9", "text": "The bell rings."}]}, id="another id"),
        pytest.param({"parts": [{"id": "u1", "text": 7}]}, id="no text"),
        pytest.param({"parts": "all"}, id="no list"),
        pytest.param("I cannot help with that.", id="no JSON"),
        pytest.param(("error", ""), id="a server that fails"),
        pytest.param(("empty", ""), id="nothing"),
    ],
)
def test_whatever_a_judge_writes_nothing_false_comes_of_it(reply: Any) -> None:
    """A text that is of no use leaves what could be done without a judge."""
    reported, calls = judged(reply, "Owls sing here. The tower is closed.")
    assert reported.output == "The tower is closed."
    assert calls == 1


def test_a_judge_must_keep_what_was_supported() -> None:
    """A text without the other facts of its sentence is not taken."""
    answer = "The bell is loved by Owls; it has two clappers. The tower is closed."
    for text, expected in (
        ("The tower is open.", None),
        ("The bell has two clappers.", "The bell has two clappers. The tower is closed."),
    ):
        reply = {"parts": [{"id": "u1", "text": text}]}
        reported, calls = judged(reply, answer, wrong={"Owls": "not_mentioned"})
        assert (reported.output, calls) == (expected, 1)


def test_a_scripted_judge_mends_by_the_passages() -> None:
    """An honest judge of `faithguard.testing` corrects numbers by the sentence it has them from."""
    with JudgeServer(honest()) as server:
        judge = OpenAIJudge("any", base_url=server.url, api_key="none")
        answer = "The bell, as Owls know, has 9 clappers. The tower is closed."
        context = "The bell, as owls know, has 2 clappers. The tower is closed."
        reported = repaired(answer, context, wrong={"9": "contradicted"}, judge=judge)
    assert reported.output == answer.replace("9", "2")


# -- records ----------------------------------------------------------------------------------


def test_the_record_holds_what_was_changed_and_survives_json() -> None:
    """From what to what, on what evidence; and the attempt as it was."""
    answer = "The bell weighs 90 kg. Owls sing here. It rings at noon."
    context = "The bell weighs 70 kg. It rings at noon."
    reported = repaired(answer, context, wrong={"90": "contradicted", "Owls": "not_mentioned"})
    record = reported.record
    assert record.decision.action == "repair"
    assert record.decision.passed
    assert "2 of 2 claims supported" in record.decision.reason
    assert "mended by 2 changes" in record.decision.reason
    assert [(r.before, r.after) for r in record.repairs] == [
        ("90 kg", "70 kg"),
        ("Owls sing here. ", ""),
    ]
    assert all(isinstance(repair, Repair) for repair in record.repairs)
    assert Record.from_json(record.to_json()) == record
    assert [a.report.supported for a in record.attempts] == [1]


def test_a_course_that_mends_nothing_takes_no_text_of_a_judge() -> None:
    """`rewritten` without a repair under way is an error, not a delivery."""
    course = Course(POLICY, max_attempts=1)
    with pytest.raises(ConfigError, match="nothing is being mended"):
        course.rewritten(None, None)  # type: ignore[arg-type]


CARD = "A day card costs 90 crowns. Children under 7 ride free. Adults take 2 bags."


@pytest.mark.parametrize(
    "bad",
    [
        "Children under 7 ride for 20 crowns.",
        "A monthly card costs 140 crowns.",
        "Two day cards cost 200 crowns.",
    ],
)
def test_a_value_of_something_else_corrects_nothing(bad: str) -> None:
    """What the context says of one thing is put into no claim about another."""

    @faithguard.guarded(on_fail="repair", domain="medical", fallback="Ask us.", sinks=[])
    def answer(question: str) -> tuple[str, list[str]]:
        return f"Adults take 2 bags. {bad}", [CARD]

    said = answer("What does it cost?")[0]
    for line in said.split(". "):
        assert line.strip(" .") in CARD or said == "Ask us."


DOSES = "The dose for grown goats is 40 ml. The dose for lambs is 15 ml. Kids must not drink whey."


@pytest.mark.parametrize("more", ["", "| Grown goats | 40 ml |\n"])
@pytest.mark.parametrize(
    "context",
    [
        DOSES,
        f"{DOSES} Kids drink no more than 9 ml of cold whey.",
        f"{DOSES} The dose for old kids of wild goats is not known.",
    ],
)
def test_a_cell_takes_no_value_of_another_row_or_column(context: str, more: str) -> None:
    """Its sentence names all of what the row is about, and speaks of the column."""
    table = f"| Who | Dose |\n|---|---|\n| Lambs | 15 ml |\n{more}"
    fixed = repaired(f"{table}| Kids | 25 ml |\n", context, wrong={"25 ml": "contradicted"})
    assert fixed.output == table
    told = f"{context} The dose for kids is 5 ml."
    fixed = repaired(f"{table}| Kids | 25 ml |\n", told, wrong={"25 ml": "contradicted"})
    assert fixed.output == f"{table}| Kids | 5 ml |\n"


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Oars and sails cost 9 francs.", "Oars cost 2 francs, sails cost 5 francs."),
        ("Oars & sails cost 9 francs.", "Oars cost 2 francs, sails cost 5 francs."),
        ("Oars or sails cost 9 francs.", "Oars cost 2 francs, sails cost 5 francs."),
        ("Oars, sails and hulls cost 9 francs.", "Sails and hulls cost 5 francs, oars 2 francs."),
        ("Sails and hulls cost 9 francs.", "Oars cost 2 francs for hulls, 5 francs for sails."),
        (
            "The ferry leaves at 9:30 on Fridays and Sundays.",
            "The ferry leaves at 8:15 on weekdays and at 10:00 on Fridays.",
        ),
    ],
)
def test_a_value_of_one_is_not_said_of_both(answer: str, context: str) -> None:
    """What is said of several is corrected only where the context gives all of them that value."""
    rest = "The pier is long."
    wrong = dict.fromkeys(["9 francs", "9:30"], "contradicted")
    assert repaired(f"{answer} {rest}", f"{context} {rest}", wrong=wrong).output == rest


@pytest.mark.parametrize(
    "context",
    [
        "Oars and sails cost 5 francs.",
        "Hulls cost 2 francs, oars and sails cost 5 francs.",
        "Sails cost 5 francs. Oars cost 5 francs.",
    ],
)
def test_a_value_of_both_is_said_of_both(context: str) -> None:
    """In one sentence or in two."""
    fixed = repaired("Oars and sails cost 9 francs.", context, wrong={"9": "contradicted"})
    assert fixed.output == "Oars and sails cost 5 francs."


# -- a sentence that is true in part ----------------------------------------------------------

MUSEUM = (
    "The mill was built in 1890. Tickets are not valid on ferries. "
    "The mill shows looms, wheels and maps."
)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            "Tickets are not valid on ferries and come with a free umbrella from Lapland.",
            "Tickets are not valid on ferries.",
        ),
        ("The mill, founded by Otto Brandt, was built in 1890.", "The mill was built in 1890."),
        (
            "The mill was built in 1890 (and painted purple by giants).",
            "The mill was built in 1890.",
        ),
        (
            "The mill shows looms, wheels, kites and maps.",
            "The mill shows looms, wheels and maps.",
        ),
    ],
)
def test_the_true_part_of_a_sentence_stays(answer: str, left: str) -> None:
    """What the context does not hold goes; what is left is verified like any answer."""
    assert mended(answer) == left


@pytest.mark.parametrize(
    "answer",
    [
        "Tickets are not valid on ferries, unless a marshal waives it. The mill was built in 1890.",
        "Tickets are valid, but never on gondolas or zeppelins. The mill was built in 1890.",
        "Tickets are not valid on ferries and looms and maps cost 9 pesos. "
        "The mill was built in 1890.",
    ],
)
def test_what_binds_the_rest_never_goes_alone(answer: str) -> None:
    """Without its condition a sentence would say more."""
    assert mended(answer) == "The mill was built in 1890."


@pytest.mark.parametrize(
    "bad",
    [
        "Kindly paint us by phone or by email at mill@lumo.example.",
        "Never astonish us by phone or by email at mill@lumo.example.",
    ],
)
def test_no_repair_leaves_a_sentence_without_its_subject(bad: str) -> None:
    """The end of another sentence's subject and verb is no beginning: "Can reach us by phone"."""
    passage = (
        "The mill was built in 1890. Guests can reach us by phone or by email at mill@lumo.example."
    )
    assert mended(f"The mill was built in 1890. {bad}", passage) == "The mill was built in 1890."


def mended(answer: str, passage: str = MUSEUM) -> str | None:
    """Return what a guard delivers in the place of an answer."""
    exchange = Exchange(id="e", answer=answer, passages=(Passage(text=passage),))
    return settled(Course(POLICY, max_attempts=1), Scorer(), exchange).answer


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("The mill was built in 1980, and it cures gout.", "The mill was built in 1890."),
        ("The mill was built in 1980 and giants fear it.", None),
        ("The mill was built in 1980, which cures gout.", None),
        ("The mill was built in 1980 because giants fear it.", None),
        ("The mill was built in 1980 - giants fear it.", None),
        ("Giants fear it, and the mill was built in 1980.", None),
        ("The mill was built in 1980, the mill shows looms, wheels and maps.", ""),
    ],
)
@pytest.mark.parametrize("form", ["{}", '{{"answer": "{}"}}'])
def test_a_corrected_sentence_holds_nothing_else_that_is_unsupported(
    answer: str, left: str | None, form: str
) -> None:
    """Each clause is looked for on its own: a verifier may call the whole of it supported."""
    fixed = repaired(form.format(answer), MUSEUM, wrong={"1980": "contradicted"}).output
    if left == "":
        assert fixed == form.format(answer.replace("1980", "1890"))
    else:
        assert fixed == (left if form == "{}" else None)


def test_a_part_that_is_kept_stands_on_its_own() -> None:
    """What is left of a sentence must not hold a clause that no passage holds."""
    half = "The mill shows looms{}; the mill is full of Owls. The mill is old."
    kept = "The mill shows looms. The mill is old."
    assert repaired(half.format(""), MUSEUM, wrong=["Owls"]).output == kept
    assert repaired(half.format(", which giants fear"), MUSEUM, wrong=["Owls"]).output is None


def test_a_comma_of_a_passage_takes_no_space_along() -> None:
    """What is put in the place of "and" may begin with a comma."""
    answer = "Sails cost 2 francs and oars cost 5 francs."
    said = "Oars cost 2 francs, sails cost 5 francs."
    assert repaired(answer, said, wrong={"Sails cost 2": "contradicted"}).output == said


def test_a_clause_that_hangs_on_another_is_not_left_alone() -> None:
    """Of "Although it shows maps, giants fear it." the first half is no sentence."""
    answer = "Although the mill shows maps, giants row it to Owls. The mill is old."
    assert repaired(answer, MUSEUM, wrong=["Owls"]).output == "The mill is old."


@pytest.mark.parametrize("clause", ["The dose is 500 mg and ", "the dose is 500 mg, "])
def test_a_sentence_without_end_is_mended_in_linear_time(clause: str) -> None:
    """Beyond some number of clauses it is left out, and not weighed value by value."""

    def work(size: int) -> None:
        answer = f"{clause * size}so on. The mill is old."
        context = "The dose for goats is 200 mg. The dose is 500 g."
        assert repaired(answer, context, wrong={"500": "contradicted"}).output == "The mill is old."

    assert growth(work, 600) < LINEAR


# -- an item under an item, an hour, a price, two clauses ----------------------------------------

LODGE = (
    "Boats leave from 8:30. Guests leave no later than 11:00 on the last day. "
    "Canoes are lent for 15 euros a day. Storage in the shed costs 9 euros a day."
)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            "- The mill is old\n  - Owls sing here\n- It rests.\n",
            "- The mill is old\n- It rests.\n",
        ),
        ("- The mill is old:\n  - Owls sing\n- It rests.\n", None),
    ],
)
def test_an_item_that_states_something_outlives_what_is_under_it(
    answer: str, left: str | None
) -> None:
    """Only a colon makes it the lead-in of what goes."""
    assert repaired(answer, wrong=["Owls"]).output == left


@pytest.mark.parametrize("hour", ["12 noon", "noon", "12:00", "12 midnight"])
def test_an_hour_is_put_right_however_it_is_named(hour: str) -> None:
    """The number before "noon" is part of it, and goes with it."""
    answer = f"Boats leave from 8:30. Guests leave no later than {hour}."
    assert mended(answer, LODGE) == "Boats leave from 8:30. Guests leave no later than 11:00."


@pytest.mark.parametrize(
    ("wrong", "said", "fixed"),
    [
        ("€149", "129 euros", "€129"),
        ("149 €", "129 euros", "129 €"),
        ("EUR 149", "129 euros", "EUR 129"),
        ("149 euros", "€129.50", "129.50 euros"),
        ("€149", "EUR 1,129", "€1,129"),
        ("1 euro", "€129", "€129"),
        ("€149", "129 francs", "129 francs"),
    ],
)
def test_a_price_keeps_the_sign_of_its_place(wrong: str, said: str, fixed: str) -> None:
    """Of one currency; another is written as the context writes it."""
    answer = "The large loom costs {} a month. The small loom is free."
    held = repaired(answer.format(wrong), answer.format(said), wrong={wrong: "contradicted"})
    assert held.output == answer.format(fixed)


@pytest.mark.parametrize(
    ("half", "left"),
    [
        (
            "Storage costs 12 euros a day, and canoes are lent for 25 euros a day.",
            "Storage costs 9 euros a day, and canoes are lent for 15 euros a day.",
        ),
        (
            "Sauna towels cost 12 euros a day, and canoes are lent for 25 euros a day.",
            "Canoes are lent for 15 euros a day.",
        ),
        (
            "Sauna towels cost 12 euros a day, and canoes are lent for 15 euros a day.",
            "Canoes are lent for 15 euros a day.",
        ),
        ("If giants agree, canoes are lent for 15 euros a day.", ""),
        ("Sauna towels cost 12 euros a day, and they are lent for 15 euros a day.", ""),
    ],
)
def test_of_two_clauses_the_one_that_can_be_mended_stays(half: str, left: str) -> None:
    """The second begins the sentence where it has a subject, and means nothing of the first."""
    kept = "Boats leave from 8:30."
    assert mended(f"{kept} {half}", LODGE) == f"{kept} {left}".strip()


HOTEL = (
    "Pets up to 10 kg are welcome for $25 per stay. Parking is $18 per night. Annual plans "
    "cancelled within 14 days are refunded. Access ends with the billing period. Towels cost 3 "
    "euros. The sauna opened in 1987."
)


@pytest.mark.parametrize(
    ("kept", "bad"),
    [
        ("Pets up to 10 kg are welcome.", "The fee is $25 per night."),
        ("Pets up to 10 kg are welcome.", "Bikes are $18 per night."),
        ("Access ends with the billing period.", "If you cancel within 14 days, you win a car."),
        (
            "Access ends with the billing period.",
            "If you are on an annual plan and cancel within 14 days, you get a car.",
        ),
        ("The sauna opened in 1987.", "Towels cost 5 euros in 1987."),
        ("The sauna opened in 1987.", "Towels cost 5 euros in 1964."),
    ],
)
def test_what_can_be_mended_only_into_something_else_goes_as_a_whole(kept: str, bad: str) -> None:
    """No other subject, no condition without its clause, no right value beside a wrong one."""
    assert mended(f"{kept} {bad}", HOTEL) == kept


@pytest.mark.parametrize(
    "pointing",
    [
        "Flowers are not allowed there.",
        "There you must not bring flowers.",
        "You can then bring flowers.",
        "Then you can bring flowers.",
        "We welcome such flowers.",
        "Flowers stand in both.",
        "Flowers are not allowed in the latter.",
        "It is not allowed there.",
        "Guests of this ward bring flowers.",
        "Guests do so.",
    ],
)
def test_what_points_to_a_sentence_that_goes_is_not_kept_alone(pointing: str) -> None:
    """No "there" is left that nobody can tell."""
    assert leans(pointing)
    kept = "The mill is old."
    assert repaired(f"{kept} Owls sing here. {pointing}", wrong=["Owls"]).output is None
    assert repaired(f"Owls sing here. {kept} {pointing}", wrong=["Owls"]).output is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "There is a pool.",
        "Is there a pool?",
        "Today there are two pools.",
        "We welcome pets such as cats.",
        "We charge both adults and children.",
        "If you stay, you can swim there.",
        "Robes and towels are both free.",
        "Rinse and then dry the bowl.",
        "The pool opens this summer.",
        "Soap is for those who stay.",
    ],
)
def test_what_points_to_nothing_before_it_stays(sentence: str) -> None:
    """The word itself does not tell: what it means may stand in its own sentence."""
    assert not leans(sentence)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            "<ul><li>The mill is old.</li><li>Owls sing.</li></ul>\n\nThe mill rests.",
            "<ul><li>The mill is old.</li></ul>\n\nThe mill rests.",
        ),
        (
            "<ul><li>Owls sing.</li><li>The mill is old.</li></ul>",
            "<ul><li>The mill is old.</li></ul>",
        ),
        (
            "<ul><li>Owls sing.</li><li>The mill is old.</li><li>Owls eat.</li></ul>",
            "<ul><li>The mill is old.</li></ul>",
        ),
        (
            "<details><summary>More</summary>The mill is old. Owls sing.</details>",
            "<details><summary>More</summary>The mill is old.</details>",
        ),
        ("The mill is old.\n\n<ul>\n<li>Owls sing.</li>\n</ul>", "The mill is old."),
        ("<p>The mill is old.</p><p><b>Owls sing.</b></p>", "<p>The mill is old.</p>"),
        (
            "<div>The mill is old.<br>Owls sing.<br>The mill rests.</div>",
            "<div>The mill is old.<br>The mill rests.</div>",
        ),
    ],
)
def test_tags_stay_or_go_in_pairs(answer: str, left: str) -> None:
    """An element that still holds words keeps both of its tags; one that holds none has none."""
    said = repaired(answer, wrong=["Owls"]).output
    assert said is not None
    assert said.rstrip() == left


@pytest.mark.parametrize(
    ("said", "known", "fixed"),
    [
        ("9 am to 3 pm", "9:00 to 13:00", "9 am to 1 pm"),
        ("9AM to 3PM", "9:00 to 13:30", "9AM to 1:30PM"),
        ("9:00 to 15:00", "9 am to 1 pm", "9:00 to 13:00"),
        ("09:00 to 11:00", "9 am to 12 pm", "09:00 to 12:00"),
    ],
)
def test_an_hour_is_put_right_as_the_answer_writes_hours(said: str, known: str, fixed: str) -> None:
    """Of hours with "am" none becomes one of twenty-four, and the other way round."""
    told = f"The clinic is open from {known}. Bring your card."
    answer = f"The clinic is open from {said}. Bring your card."
    assert mended(answer, told) == f"The clinic is open from {fixed}. Bring your card."
