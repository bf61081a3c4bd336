"""The nouns: frozen, checked, and the same after a trip through JSON."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import traceback
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard import types
from faithguard.errors import CaptureError
from faithguard.policy import Policy
from faithguard.testing import example_record
from faithguard.types import (
    Action,
    Attempt,
    Cause,
    Claim,
    ContextSource,
    Decision,
    Evidence,
    Exchange,
    Failure,
    FailureKind,
    Kind,
    Label,
    Level,
    Origin,
    Outcome,
    Passage,
    Record,
    Repair,
    Report,
    Usage,
    Verdict,
    from_json,
    to_json,
)

LONE = "\ud83d half a pair \udc00"

HOSTILE = [
    "",
    "\x00\x1b[2J\r\n\t",
    '"}],"outcome":"scored","score":1.0',
    "\u2028\u2029\ufeff\u202e",
    "ünï 漢字 🧵 \U0010ffff e\u0301",
    "</script><!-- {{7*7}} ${x} %s",
    "\\ud800 written out, and \\u0000 too",
]

# Texts from outside may hold lone surrogates; names, ids and reasons are ours.
outside = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(HOSTILE)
inside = st.text(max_size=12) | st.sampled_from(HOSTILE)
parts = st.floats(0.0, 1.0)
spans = st.tuples(st.integers(0, 99), st.integers(0, 99))
seconds = st.dictionaries(inside, st.floats(0, 1e6), max_size=2)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | outside,
    lambda deeper: st.lists(deeper, max_size=2) | st.dictionaries(outside, deeper, max_size=2),
    max_leaves=4,
)
times = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])
) | st.just(datetime(2024, 2, 29, 12, 30))  # noqa: DTZ001 - a naive time must come back naive


def one_of(literal: Any) -> st.SearchStrategy[Any]:
    """Draw from the values of a Literal."""
    return st.sampled_from(get_args(literal))


passages = st.builds(
    Passage,
    text=outside,
    source=st.none() | inside,
    hop=st.integers(0, 9),
    origin=one_of(Origin),
    seen=st.booleans(),
    metadata=st.dictionaries(outside, plain, max_size=2),
)
exchanges = st.builds(
    Exchange,
    id=inside,
    answer=outside,
    passages=st.lists(passages, max_size=2).map(tuple),
    question=st.none() | outside,
    domain=st.none() | inside,
    context_source=one_of(ContextSource),
    finish_reason=st.none() | inside,
    tags=st.lists(inside, max_size=2).map(tuple),
    started_at=st.none() | times,
    timings=seconds,
)
evidence = st.builds(
    Evidence,
    passage=st.integers(0, 9),
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    quote=inside,
)
evidences = st.lists(evidence, max_size=2).map(tuple)
claims = st.builds(
    Claim,
    id=inside,
    text=inside,
    span=spans,
    kind=one_of(Kind),
    label=one_of(Label),
    p_supported=st.none() | parts,
    evidence=evidences,
    reason=inside,
    cause=st.none() | one_of(Cause),
    verifier=st.none() | inside,
)
failures = st.builds(
    Failure, kind=one_of(FailureKind), stage=inside, message=inside, claim=st.none() | inside
)
reports = st.builds(
    Report,
    outcome=one_of(Outcome),
    score=st.none() | parts,
    bounds=st.none() | st.tuples(parts, parts),
    supported=st.integers(0, 9),
    total=st.integers(0, 9),
    claims=st.lists(claims, max_size=2).map(tuple),
    failures=st.lists(failures, max_size=2).map(tuple),
    versions=st.dictionaries(inside, inside, max_size=2),
    usage=st.builds(Usage, calls=st.integers(0), cached=st.integers(0), seconds=parts),
    exchange=exchanges,
)
decisions = st.builds(
    Decision,
    passed=st.booleans(),
    action=one_of(Action),
    reason=inside,
    level=st.none() | one_of(Level),
    domain=inside,
    safe=parts,
    warning=parts,
)
records = st.builds(
    Record,
    exchange=exchanges,
    report=reports,
    decision=decisions,
    attempts=st.lists(st.builds(Attempt, exchange=exchanges, report=reports), max_size=1).map(
        tuple
    ),
    repairs=st.lists(
        st.builds(Repair, span=spans, before=inside, after=inside, evidence=evidences), max_size=1
    ).map(tuple),
    versions=st.dictionaries(inside, inside, max_size=2),
    timings=seconds,
    cost=st.none() | st.floats(0, 1e6),
)


@settings(max_examples=60, deadline=None)
@given(reports)
def test_a_report_comes_back_from_json_without_loss(report: Report) -> None:
    """Whatever texts it holds, a report equals what is read from its JSON, which is ASCII."""
    text = report.to_json()

    assert text.isascii()
    assert Report.from_json(text) == report
    assert Report.from_json(report.to_json(indent=2)) == report


@settings(max_examples=40, deadline=None)
@given(records)
def test_a_record_comes_back_from_json_without_loss(record: Record) -> None:
    """The same holds for all that a sink stores, on one line."""
    text = to_json(record)

    assert text.isascii()
    assert len(text.splitlines()) == 1
    assert from_json(Record, text) == record


@pytest.mark.parametrize(
    "value",
    [
        Passage(text="x", source=LONE),
        Passage(text=LONE, metadata={LONE: [LONE, {"deep": LONE}]}),
        Exchange(id="e", answer=LONE, question=LONE),
        Exchange(id=LONE, answer="x"),
        Exchange(id="e", answer="x", tags=(LONE,)),
        Evidence(passage=0, start=0, end=1, quote=LONE),
        Claim(id="c", text=LONE, span=(0, 1)),
        Claim(id="c", text="x", span=(0, 1), reason=LONE),
        Verdict(claim="c", label="supported", p_supported=1.0, verifier="v@1", reason=LONE),
        Failure(kind="error", stage="v@1", message=LONE),
        Repair(span=(0, 1), before=LONE, after=LONE),
    ],
    ids=[
        "source",
        "passage",
        "answer",
        "id",
        "tag",
        "quote",
        "claim",
        "claim-reason",
        "verdict-reason",
        "message",
        "repair",
    ],
)
def test_a_lone_surrogate_anywhere_does_not_break_json(value: Any) -> None:
    """Half a pair, as a broken decoder or an undecodable file name leaves it, can be stored."""
    assert from_json(type(value), to_json(value)) == value


def test_a_lone_surrogate_keeps_its_place() -> None:
    """It becomes one U+FFFD, so that spans counted on the original text stay true."""
    exchange = Exchange(id="e", answer="a\ud800b", passages=(Passage(text="\udfffend"),))

    assert exchange.answer == "a\ufffdb"
    assert exchange.passages[0].text == "\ufffdend"


def test_metadata_becomes_plain_data_and_is_a_copy() -> None:
    """What JSON has no form for becomes its text; later changes by the caller do not show."""
    mine: dict[Any, Any] = {
        "nan": float("nan"),
        "when": datetime(2024, 1, 2, tzinfo=UTC),
        3: {"set"},
        "pair": (1, 2),
        "huge": 10**30,
    }
    passage = Passage(text="x", metadata=mine)
    mine["late"] = True

    assert passage.metadata == {
        "nan": "nan",
        "when": "2024-01-02 00:00:00+00:00",
        "3": ["set"],
        "pair": [1, 2],
        "huge": 10**30,
    }
    assert from_json(Passage, to_json(passage)) == passage


def test_metadata_that_holds_itself_is_no_crash() -> None:
    """A document whose metadata points back at itself is still a passage."""
    loop: dict[str, Any] = {"page": 3}
    loop["self"] = loop

    assert Passage(text="x", metadata=loop).metadata["page"] == 3


@pytest.mark.parametrize("kind", [getattr(types, name) for name in types.__all__])
def test_every_noun_is_frozen_slotted_and_keyword_only(kind: Any) -> None:
    """Nothing that was found can be changed, misspelt or swapped afterwards."""
    if not dataclasses.is_dataclass(kind):
        return
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(kind)
    assert all(field.kw_only for field in dataclasses.fields(kind))


def test_a_report_cannot_be_changed() -> None:
    """Setting a field raises; a new one cannot be invented."""
    report = example_record().report

    with pytest.raises(dataclasses.FrozenInstanceError):
        report.score = 1.0  # type: ignore[misc]
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        report.grade = "A"  # type: ignore[attr-defined]


def test_reports_and_records_show_no_text() -> None:
    """Their `repr` may end up in a log, so it holds counts and ids only."""
    record = example_record()

    for shown in (repr(record), repr(record.report), str(record)):
        assert "hall" not in shown
        assert "door" not in shown
    assert repr(record.report).startswith("Report(outcome='scored', score=")
    assert "supported=1" in repr(record.report)
    assert repr(record) == (
        f"Record(id='example', action={record.decision.action!r}, "
        f"reason={record.decision.reason!r})"
    )


def test_nouns_can_be_copied_and_pickled() -> None:
    """Processes hand records to each other."""
    record = example_record()

    assert pickle.loads(pickle.dumps(record)) == record  # noqa: S301 - our own bytes
    assert copy.deepcopy(record) == record


@pytest.mark.parametrize("p", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_probability_lies_between_0_and_1(p: float) -> None:
    """Anything else is refused where the verdict is made, with the value in the message."""
    with pytest.raises(ValueError, match=r"`p_supported` must lie in \[0, 1\], got"):
        Verdict(claim="c", label="supported", p_supported=p, verifier="v@1")


@pytest.mark.parametrize(
    ("passage", "start", "end", "quote", "stands"),
    [
        (0, 4, 8, "loom", True),
        (0, 4, 8, "Loom", False),
        (0, 4, 7, "loom", False),
        (0, 0, 0, "", False),
        (1, 4, 8, "loom", False),
        (-1, 4, 8, "loom", False),
        (0, -9, 4, "The ", False),
        (0, 9, 99, "hums.", True),
    ],
)
def test_evidence_stands_only_where_its_words_are(
    passage: int, start: int, end: int, quote: str, stands: bool
) -> None:
    """Word for word, at its place, in a passage that exists, and not empty."""
    exchange = Exchange(id="e", answer="", passages=(Passage(text="The loom hums."),))

    assert (
        Evidence(passage=passage, start=start, end=end, quote=quote).stands_in(exchange) == stands
    )


def test_only_facts_count_and_failed_ones_are_unsupported() -> None:
    """`facts` leaves out courtesy; `unsupported` keeps claims without a verdict."""
    labels: list[Label] = ["supported", "conflicting", "contradicted", "not_mentioned", "failed"]
    found = [Claim(id=label, text="x", span=(0, 1), label=label) for label in labels]
    polite = Claim(id="polite", text="x", span=(0, 1), kind="courtesy")
    report = dataclasses.replace(example_record().report, claims=(*found, polite))

    assert [claim.id for claim in report.facts] == labels
    assert [claim.id for claim in report.unsupported] == labels[2:]
    assert [claim.id for claim in found if claim.supported] == labels[:2]


def test_json_of_another_kind_is_refused() -> None:
    """A passage is not a report, and half a line is neither: one short line says so."""
    half = example_record().report.to_json()[:-9]
    for text in ("{}", "", "[]", "null", "junk", "\ud800", to_json(Passage(text="x")), half):
        with pytest.raises(CaptureError, match=r"^not the JSON of a Report: \d+ prob") as caught:
            Report.from_json(text)
        assert len(str(caught.value)) < 200
        assert "\n" not in str(caught.value)
    with pytest.raises(CaptureError, match="of a Report: 10 problems, first at outcome: Field req"):
        Report.from_json("{}")
    with pytest.raises(CaptureError, match="of an Exchange"):
        from_json(Exchange, "{}")


def test_what_is_said_of_bad_json_holds_none_of_its_text() -> None:
    """A message ends up in logs: neither values nor keys of a broken report are shown."""
    stored = json.loads(example_record().report.to_json())
    secret = "SECRET"  # noqa: S105 - it stands for words of an answer
    for place in (
        {"outcome": secret},
        {secret: secret, "score": secret},
        {"versions": {secret: [secret]}},
        {"usage": {"calls": secret}},
        {"exchange": {**stored["exchange"], "timings": {secret: secret}}},
        {"claims": [{**stored["claims"][0], "p_supported": secret, secret: 1}]},
    ):
        with pytest.raises(CaptureError) as caught:
            Report.from_json(json.dumps({**stored, **place}))
        error = caught.value
        assert secret not in f"{error!r} {''.join(traceback.format_exception(error))}"
    with pytest.raises(CaptureError) as caught:
        Report.from_json(f'{{"answer": {secret}')
    assert secret not in str(caught.value)


def test_a_decision_is_true_only_if_the_answer_passed() -> None:
    """`if report.decide(...): deliver()` delivers what passed, flagged or not, and nothing else."""
    report = example_record().report
    passed = report.decide(Policy(domain="museum", safe=0.3, warning=0.1))

    assert passed
    assert not report.decide("medical")
    assert dataclasses.replace(passed, action="flag")
    assert not dataclasses.replace(passed, passed=False)


def test_json_uses_the_names_of_the_fields() -> None:
    """What is stored can be read without us."""
    stored = json.loads(to_json(example_record()))

    assert set(stored) == {field.name for field in dataclasses.fields(Record)}
    assert stored["report"]["claims"][0]["span"] == [0, 22]
    assert stored["report"]["claims"][0]["label"] == "supported"


def test_a_record_comes_back_from_a_line() -> None:
    """As sinks and `faithguard score` write it, with the number of its line before it."""
    record = example_record()

    assert Record.from_json(record.to_json()) == record
    assert Record.from_json(f'{{"line": 7, {record.to_json()[1:]}') == record
