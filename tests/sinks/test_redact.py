"""Redaction: every text goes through it, spans and quotes stay true, and no fault keeps a text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithguard import Claim, ConfigError, FaithguardError, Passage, Record, check
from faithguard.policy import decide
from faithguard.sinks import JsonlSink, SqliteSink
from faithguard.sinks._redact import Keep
from faithguard.store import Store
from faithguard.types import Attempt, Repair

MAIL = re.compile(r"[\w.]+@[\w.]+\w")
CONTEXT = "For refunds write to anna.berg@shop.example by Friday. Refunds take 14 days to arrive."
ANSWER = (
    "Write to anna.berg@shop.example by Friday. Refunds take 14 days to arrive, ask bo@x.example."
)


def masked(text: str) -> str:
    """Return a text with its e-mail addresses masked, longer or shorter than before."""
    return MAIL.sub("<MAIL>", text)


def record() -> Record:
    """Return a record that holds addresses wherever a text can stand."""
    passage = Passage(
        text=CONTEXT,
        source="mail/anna.berg@shop.example.txt",
        metadata={"by anna.berg@shop.example": ["anna.berg@shop.example", {"n": 1}]},
    )
    report = check(ANSWER, [passage], question="Is it anna.berg@shop.example?")
    exchange = replace(report.exchange, tags=("user anna.berg@shop.example",))
    report = replace(report, exchange=exchange)
    start = ANSWER.index("bo@")
    piece = report.claims[0].evidence[0]
    return Record(
        exchange=exchange,
        report=report,
        decision=decide(report, "support"),
        attempts=(Attempt(exchange=exchange, report=report),),
        repairs=(
            Repair(
                span=(start, start + 12),
                before="bo@x.example",
                after="anna.berg@shop.example",
                evidence=(piece,),
            ),
        ),
        released=ANSWER,
    )


def kept(tmp_path: Path, one: Record, **options: Any) -> Record:
    """Return what both sinks keep of a record, which is the same."""
    JsonlSink(tmp_path / "kept.jsonl", **options).write(one)
    SqliteSink(tmp_path / "kept.db", **options).write(one)
    (line,) = JsonlSink(tmp_path / "kept.jsonl").read()
    (row,) = Store(tmp_path / "kept.db").records()

    assert line == row
    return row


def test_every_text_is_redacted(tmp_path: Path) -> None:
    """No address is left, in whatever field; not even in the bytes of the files."""
    before = record()
    after = kept(tmp_path, before, redact=masked)

    assert "anna.berg" in before.to_json()
    assert "anna.berg" not in after.to_json()
    assert "bo@x" not in after.to_json()
    assert after.exchange.answer == masked(ANSWER)
    assert after.exchange.passages[0].text == masked(CONTEXT)
    assert after.exchange.passages[0].metadata == {"by <MAIL>": ["<MAIL>", {"n": 1}]}
    assert after.exchange.tags == ("user <MAIL>",)
    for path in tmp_path.iterdir():
        assert b"anna.berg" not in path.read_bytes()


def test_what_is_no_text_stays(tmp_path: Path) -> None:
    """Ids, labels, counts, the decision, versions."""
    before = record()
    after = kept(tmp_path, before, redact=masked)

    assert after.exchange.id == before.exchange.id
    assert after.decision == before.decision
    assert [c.label for c in after.report.claims] == [c.label for c in before.report.claims]
    assert after.report.score == before.report.score
    assert after.versions == before.versions


def test_spans_and_quotes_follow_their_words(tmp_path: Path) -> None:
    """A claim's span holds its redacted sentence; a quote stands in its passage."""
    before = record()
    after = kept(tmp_path, before, redact=masked)

    assert len(before.report.claims) > 1
    for old, new in zip(before.report.claims, after.report.claims, strict=True):
        sentence = ANSWER[slice(*old.span)]
        assert after.exchange.answer[slice(*new.span)] == masked(sentence)
        assert [piece.quote for piece in new.evidence] == [masked(p.quote) for p in old.evidence]
        assert all(piece.stands_in(after.exchange) for piece in new.evidence)
    (repair,) = after.repairs
    assert after.exchange.answer[slice(*repair.span)] == repair.before == "<MAIL>"
    assert repair.evidence[0].stands_in(after.exchange)


WORDS = ["word", "a.b@c.de", "x@yy.zz", ".", "日本", "\n", "the same", "w" * 40]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=60),
    st.sampled_from(["", "*", "[a much longer thing than what it stands for]"]),
)
def test_a_span_holds_its_word_after_redaction(words: list[str], mask: str) -> None:
    """Whatever is masked around it, by whatever, however often the same words come."""
    answer = " ".join(words)
    ends = list(itertools.accumulate(len(word) + 1 for word in words))
    claims = tuple(
        Claim(id=f"c{n}", text=word, span=(end - len(word) - 1, end - 1))
        for n, (word, end) in enumerate(zip(words, ends, strict=True))
    )
    report = replace(check(answer, answer), claims=claims)
    one = Record(exchange=report.exchange, report=report, decision=decide(report, "support"))
    after = Keep(redact=lambda text: MAIL.sub(mask, text))(one)

    assert after.exchange.answer == MAIL.sub(mask, answer)
    for word, claim in zip(words, after.report.claims, strict=True):
        start, end = claim.span
        assert 0 <= start <= end <= len(after.exchange.answer)
        assert MAIL.sub(mask, word) in after.exchange.answer[start:end]


def test_a_large_record_is_redacted_to_its_end() -> None:
    """300 kB with a mask in each line: spans after the last one are still true."""
    lines = [f"Line {n} was written by p{n}@x.example in the year {n}." for n in range(6_000)]
    text = "\n".join([*lines, "The end is here."])
    claim = Claim(id="c", text="The end is here.", span=(len(text) - 16, len(text)))
    report = replace(check("x", "y"), claims=(claim,))
    report = replace(report, exchange=replace(report.exchange, answer=text))
    one = Record(exchange=report.exchange, report=report, decision=decide(report, "support"))
    after = Keep(redact=masked)(one)

    start, end = after.report.claims[0].span
    assert after.exchange.answer[start:end] == "The end is here."


def test_texts_may_be_left_out(tmp_path: Path) -> None:
    """Labels, counts, spans, sources and tags stay; words do not, in no file."""
    before = record()
    after = kept(tmp_path, before, texts=False, tags=["prompt-v2"])

    assert (after.exchange.answer, after.exchange.question) == ("", "")
    assert [p.text for p in after.exchange.passages] == [""]
    assert after.exchange.passages[0].source == before.exchange.passages[0].source
    assert [(c.label, c.span, c.text) for c in after.report.claims] == [
        (c.label, c.span, "") for c in before.report.claims
    ]
    assert after.decision == before.decision
    assert after.exchange.tags == ("user anna.berg@shop.example", "prompt-v2")
    for path in tmp_path.iterdir():
        assert not {b"refunds", b"Refunds", b"Friday"} & set(path.read_bytes().split())


def test_both_may_be_asked_for(tmp_path: Path) -> None:
    """What is left then is redacted."""
    after = kept(tmp_path, record(), texts=False, redact=masked)

    assert after.exchange.passages[0].source == "mail/<MAIL>"
    assert after.exchange.answer == ""


def test_tags_are_added(tmp_path: Path) -> None:
    """To the record's own, each once, and not redacted: the user of the sink wrote them."""
    after = kept(tmp_path, record(), tags=("v2", "v2", "by a@b.example"), redact=masked)

    assert after.exchange.tags == ("user <MAIL>", "v2", "by a@b.example")
    assert after.report.exchange.tags == after.exchange.tags


def explode(text: str) -> str:
    """Fail as a redactor may, with the text in its words."""
    raise ValueError(f"cannot read {text}")


@pytest.mark.parametrize("redact", [explode, lambda text: None, lambda text: text.encode()])
@pytest.mark.parametrize("sink", [JsonlSink, SqliteSink])
def test_a_redactor_that_fails_keeps_nothing(
    tmp_path: Path, sink: Any, redact: Callable[[str], Any]
) -> None:
    """Better no record than one that was not redacted; and its words show no text."""
    with pytest.raises(FaithguardError, match=r"`redact` (raised|returned)") as caught:
        sink(tmp_path / "kept", redact=redact).write(record())

    assert "anna" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"redact": "mask"}, "`redact` is of type str: pass a function"),
        ({"tags": "v2"}, r"`tags` is 'v2': pass a list of texts, such as \['prompt-v2'\]"),
        ({"tags": [1]}, r"`tags` is \[1\]"),
    ],
)
@pytest.mark.parametrize("sink", [JsonlSink, SqliteSink])
def test_a_setting_that_cannot_be_used_is_told(
    tmp_path: Path, sink: Any, options: dict[str, Any], message: str
) -> None:
    """At once."""
    with pytest.raises(ConfigError, match=message):
        sink(tmp_path / "kept", **options)
