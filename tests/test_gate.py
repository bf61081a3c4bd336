"""Whether answers got worse by more than chance: the tests, the pairing, the command."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from faithguard import ConfigError, FaithguardError
from faithguard.cli import app
from faithguard.policy import decide
from faithguard.sinks import JsonlSink
from faithguard.stats import Comparison, compare, mcnemar, paired_change
from faithguard.types import Exchange, Outcome, Record, Report, Usage

# The tests --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (10, 0, 1 / 1024),
        (5, 0, 1 / 32),
        (0, 5, 1.0),
        (0, 0, 1.0),
        (1, 1, 0.75),
        (12, 3, 576 / 2**15),
    ],
)
def test_known_tosses(worse: int, better: int, p: float) -> None:
    """Tails of a fair coin: 10 of 10 is 1 in 1024."""
    assert mcnemar(worse, better) == pytest.approx(p, rel=1e-12)


def test_counts_are_counts() -> None:
    """The message names the values."""
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 2)


@given(st.integers(0, 60), st.integers(0, 60))
def test_either_side_is_a_tail_of_the_same_coin(worse: int, better: int) -> None:
    """Both tails together are everything, and what lies in both once more."""
    both = math.comb(worse + better, worse) / 2 ** (worse + better)

    assert mcnemar(worse, better) + mcnemar(better, worse) == pytest.approx(1 + both)


shares = st.integers(0, 6).map(lambda k: k / 6)


@settings(max_examples=60)
@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=9))
def test_the_p_value_counts_exchanges(pairs: list[tuple[float, float]]) -> None:
    """By its definition: in how many of all exchanges within pairs the total is as low."""
    steps = [round(60 * (b - a)) for a, b in pairs]
    lower = sum(
        sum(step * sign for step, sign in zip(steps, signs, strict=True)) <= sum(steps)
        for signs in product((1, -1), repeat=len(steps))
    )

    change = paired_change([a for a, _ in pairs], [b for _, b in pairs])

    assert change.p == pytest.approx(lower / 2 ** len(steps))


def test_a_sample_of_exchanges_is_near_all_of_them() -> None:
    """With more pairs than can be exchanged in all ways, and the same with the same seed."""
    draw = random.Random(2)
    before = [draw.choice([0.25, 0.5, 0.875]) for _ in range(16)]
    after = [max(0.0, b - draw.choice([0.0, 0.25, 0.25, 0.5])) for b in before]
    steps = [round(8 * (b - a)) for a, b in zip(before, after, strict=True)]
    exact = (
        sum(
            sum(step * sign for step, sign in zip(steps, signs, strict=True)) <= sum(steps)
            for signs in product((1, -1), repeat=16)
        )
        / 2**16
    )

    assert paired_change(before, after).p == pytest.approx(exact, abs=0.006)
    assert paired_change(before, after) == paired_change(before, after)


def test_the_interval_of_pass_and_fail_is_the_published_one() -> None:
    """Two discordant shares with one imagined pair each: Bonett and Price's formula."""
    before = [1.0] * 9 + [0.0] * 3 + [1.0] * 50 + [0.0] * 8
    after = [0.0] * 9 + [1.0] * 3 + [1.0] * 50 + [0.0] * 8
    p12, p21 = (9 + 1) / 72, (3 + 1) / 72
    half = 1.959964 * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / 72)

    change = paired_change(before, after)

    assert change.interval == pytest.approx((p21 - p12 - half, p21 - p12 + half), abs=1e-6)
    assert (change.pairs, change.worse, change.better) == (70, 9, 3)
    assert change.difference == pytest.approx(-6 / 70)
    assert change.p == mcnemar(9, 3)


def test_without_any_change_something_may_still_have_changed() -> None:
    """No interval from 0 to 0; more pairs say more."""
    few, many = (paired_change([1.0] * n, [1.0] * n).interval for n in (10, 1000))

    assert few[0] < -0.1 < many[0] < 0 < many[1] < 0.1 < few[1]


def resampled(draw: random.Random, n: int, fall: float) -> tuple[list[float], list[float]]:
    """Return scores of answers with a few claims each, whose support falls by a share."""
    rates = [draw.betavariate(9, 1) for _ in range(n)]
    claims = [draw.randint(1, 6) for _ in range(n)]

    def scores(less: float) -> list[float]:
        return [
            sum(draw.random() < rate * (1 - less) for _ in range(k)) / k
            for rate, k in zip(rates, claims, strict=True)
        ]

    return scores(0.0), scores(fall)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """On answers drawn at random, of scores and of pass and fail."""
    draw = random.Random(11)
    held = {"score": 0, "pass": 0}
    for _ in range(150):
        before, after = resampled(draw, 40, 0.1)
        low, high = paired_change(before, after).interval
        held["score"] += low <= -0.09 <= high
        before, after = ([float(draw.random() < rate) for _ in range(40)] for rate in (0.9, 0.8))
        low, high = paired_change(before, after).interval
        held["pass"] += low <= -0.1 <= high

    assert all(138 <= count <= 149 for count in held.values()), held


@pytest.mark.parametrize(
    ("before", "after", "confidence"),
    [([], [], 0.95), ([1.0], [], 0.95), ([1.0], [2.0], 0.95), ([1.0], [1.0], 1.0)],
)
def test_what_are_no_pairs_is_refused(
    before: list[float], after: list[float], confidence: float
) -> None:
    """Rather than a number that means nothing."""
    with pytest.raises(ValueError, match=r"pairs|lie"):
        paired_change(before, after, confidence=confidence)


# Runs -------------------------------------------------------------------------------------------


def record(
    question: str | None,
    supported: int = 4,
    total: int = 4,
    *,
    outcome: Outcome = "scored",
    id: str | None = None,
    domain: str = "support",
    verifiers: str = "table@1",
) -> Record:
    """Return a record of an answer with so many claims supported."""
    exchange = Exchange(id=id or f"{question}-{supported}", answer="", question=question)
    report = Report(
        outcome=outcome,
        score=supported / total if outcome == "scored" else None,
        bounds=(0.0, 1.0) if outcome == "incomplete" else None,
        supported=supported,
        total=0 if outcome in ("abstained", "no_claims") else total,
        claims=(),
        failures=(),
        versions={"faithguard": "0.1.0", "extractor": "local@1", "verifiers": verifiers},
        usage=Usage(),
        exchange=exchange,
    )
    return Record(exchange=exchange, report=report, decision=decide(report, domain))


def run(good: int, bad: int = 0, **more: object) -> list[Record]:
    """Return a run whose last answers are unsupported."""
    counts = [4] * good + [1] * bad
    return [record(f"Question {n}?", count, **more) for n, count in enumerate(counts)]  # type: ignore[arg-type]


def test_a_drop_that_is_more_than_chance_is_worse() -> None:
    """Six of twenty no longer pass: the figures, and which questions."""
    found = compare(run(20), run(14, 6))

    assert found.verdict == "worse"
    assert "answers that pass fell by 30.0 points over 20 questions (p = 0.016)" in found.reason
    assert "supported claims fell by 22.5 points" in found.reason
    assert (found.passed.before, found.passed.after) == (1.0, 0.7)
    assert found.score is not None
    assert found.score.difference == pytest.approx(-0.225)
    assert [drop.question for drop in found.drops] == [f"Question {n}?" for n in range(14, 20)]
    assert found.drops[0].passed == (1.0, 0.0)
    assert found.drops[0].score == (1.0, 0.25)
    assert found.drops[0].reason.startswith("1 of 4 claims supported")


def test_a_drop_that_chance_explains_is_held() -> None:
    """Five of twenty are a coin that fell on one side five times; what is not ruled out is told."""
    found = compare(run(20), run(15, 5))

    assert found.verdict == "held"
    assert "5 of 20 questions got worse, 0 better (p = 0.031)" in found.reason
    assert f"a drop of up to {-100 * found.passed.interval[0]:.1f} points" in found.reason


def test_a_drop_in_scores_alone_is_worse() -> None:
    """All answers fail before and now, and now they hold less that is supported."""
    found = compare([record(f"{n}", 3) for n in range(9)], [record(f"{n}", 1) for n in range(9)])

    assert (found.verdict, found.passed.p) == ("worse", 1.0)
    assert found.reason.startswith(
        "worse by more than chance: supported claims fell by 50.0 points"
    )


def test_a_gain_is_held() -> None:
    """Better is not worse."""
    found = compare(run(14, 6), run(20))

    assert (found.verdict, found.passed.better, found.drops) == ("held", 6, ())


def test_without_a_change_few_comparisons_are_worse() -> None:
    """At most the share that the confidence leaves, over runs drawn at random."""
    draw = random.Random(4)
    alarms = missed = 0
    for _ in range(60):
        before, same = resampled(draw, 40, 0.0)
        alarms += _verdict(before, same) == "worse"
        before, fallen = resampled(draw, 40, 0.3)
        missed += _verdict(before, fallen) != "worse"

    assert alarms <= 4
    assert missed <= 6


def _verdict(before: Sequence[float], after: Sequence[float]) -> str:
    sides = [[record(f"{n}", round(60 * s), 60) for n, s in enumerate(x)] for x in (before, after)]
    return compare(*sides).verdict


# Pairing


def test_ids_pair_what_is_asked_in_the_same_words() -> None:
    """The same question about many documents is many questions where ids tell them apart."""
    before = [record("What does it cost?", 4, id=f"doc{n}") for n in range(8)]
    after = [record("What does it  cost?", 1, id=f"doc{n}") for n in range(8)]

    assert (compare(before, after).by, compare(before, after).passed.pairs) == ("id", 8)


def test_questions_pair_what_has_other_ids() -> None:
    """As ids that are made anew at each run are; blanks make no other question."""
    before = [record(f"Question\n{n}?", 4, id=f"a{n}") for n in range(8)]
    after = [record(f" Question {n}?", 4, id=f"b{n}") for n in range(8)]

    assert (compare(before, after).by, compare(before, after).passed.pairs) == ("question", 8)


def test_ids_that_mean_other_questions_pair_nothing() -> None:
    """Line numbers of two lists of questions: by question if it is to be chosen, else an error."""
    before = [record(f"Question {n}?", id=f"{n}") for n in range(8)]
    after = [record(f"Question {n}?", id=f"{(n + 1) % 8}") for n in range(8)]

    assert compare(before, after).by == "question"
    with pytest.raises(FaithguardError, match=r"8 questions have the same id.*--by question"):
        compare(before, after, by="id")


def test_several_answers_to_one_question_count_once() -> None:
    """As their mean: ten samples of one bad question are one bad question."""
    before = [record(f"Question {n}?", id=f"{n}.{k}") for n in range(8) for k in range(10)]
    after = [
        record(f"Question {n}?", 1 if n == 0 and k < 5 else 4, id=f"b{n}.{k}")
        for n in range(8)
        for k in range(10)
    ]

    found = compare(before, after)

    assert (found.by, found.verdict, found.passed.pairs) == ("question", "held", 8)
    assert found.drops[0].passed == (1.0, 0.5)
    assert "8 questions answered several times: their mean counts once" in found.notes


def test_records_without_a_question_are_paired_by_id_or_not_at_all() -> None:
    """They are no answers to one and the same question."""
    before = [record(None, id=f"{n}") for n in range(7)]

    assert compare(before, before).by == "id"
    with pytest.raises(FaithguardError, match="share no questions by question"):
        compare(before, before, by="question")


def test_an_unknown_pairing_is_an_error() -> None:
    """The message names the two."""
    with pytest.raises(ConfigError, match="`by` is 'text': pair by 'id' or by 'question'"):
        compare(run(9), run(9), by="text")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="`confidence` must lie"):
        compare(run(9), run(9), confidence=95)


# What cannot be compared


@pytest.mark.parametrize(
    ("baseline", "current", "message"),
    [
        ([], run(9), "the baseline holds no records"),
        (run(9), [], "the current run holds no records"),
        (run(9), [record(f"Other {n}?") for n in range(9)], "neither their ids nor their words"),
        (run(5), run(5), r"5 questions can be compared, and with fewer than 6"),
        (
            run(9),
            run(9, domain="medical"),
            r"first by 'customer_support' with safe=0.85 .* then by 'medical'",
        ),
        (run(9), run(9, verifiers="table@2"), r"verifiers differ.*table@1 and then by table@2"),
        (run(9), [*run(8), record("Question 8?", verifiers="x@1")], "verifiers differ"),
    ],
)
def test_runs_that_cannot_be_compared_are_an_error(
    baseline: list[Record], current: list[Record], message: str
) -> None:
    """Never a silent pass, and the message says what to do."""
    with pytest.raises(FaithguardError, match=message):
        compare(baseline, current)


def test_another_version_of_ours_with_the_same_verifiers_is_told() -> None:
    """The verifiers have versions of their own."""
    report = record("Question 0?").report
    newer = [
        replace(one, report=replace(one.report, versions={**report.versions, "faithguard": "9.9"}))
        for one in run(9)
    ]

    assert compare(run(9), newer).notes == (
        "recorded by faithguard 0.1.0 and then by 9.9, with the same verifiers",
    )


def silent(count: int) -> list[Record]:
    """Return answers that abstain."""
    return [record(f"Question {n}?", 0, outcome="abstained") for n in range(count)]


def test_who_abstained_and_now_makes_things_up_is_worse() -> None:
    """Saying nothing was faithful; what is said now is not."""
    found = compare([*silent(8), *run(20)[8:]], [*run(0, 8), *run(20)[8:]])

    assert found.verdict == "worse"
    assert (found.passed.worse, found.stating.before, found.stating.after) == (8, 0.6, 1.0)


def test_who_abstains_more_is_neither_better_nor_let_through() -> None:
    """A retriever that is broken makes every answer abstain: that is told, and is no success."""
    found = compare(run(20), [*silent(8), *run(20)[8:]])
    assert (found.verdict, found.passed.worse, found.passed.p) == ("unknown", 0, 1.0)
    assert "answers that state something fell from 100.0% to 60.0%" in found.reason
    assert compare(run(20), silent(20)).verdict == "unknown"

    assert compare(run(20), [*silent(4), *run(20)[4:]]).verdict == "held"
    assert compare([*silent(8), *run(20)[8:]], run(20)).verdict == "held"


def test_where_nothing_is_stated_nothing_can_be_compared() -> None:
    """Nor by a few answers among many that say nothing."""
    with pytest.raises(FaithguardError, match=r"0 questions can.*40 of them without a statement"):
        compare(silent(40), silent(40))
    with pytest.raises(FaithguardError, match=r"5 questions can.*35 of them without a statement"):
        compare([*silent(40)[5:], *run(5)], [*silent(40)[5:], *run(5)])


def test_facts_without_any_context_do_not_pass() -> None:
    """A retriever that finds nothing makes answers worse, though there is no score."""
    found = compare(run(10), [record(f"Question {n}?", 0, outcome="no_context") for n in range(10)])

    assert (found.verdict, found.score) == ("worse", None)


@pytest.mark.parametrize("outcome", ["failed", "incomplete"])
def test_missing_verdicts_that_could_hide_a_drop_are_no_pass(outcome: Outcome) -> None:
    """Six of forty could all be worse; one could not."""
    lost = [record(f"Question {n}?", 0, outcome=outcome) for n in range(40)]

    many = compare(run(40), [*lost[:6], *run(40)[6:]])
    assert (many.verdict, many.unchecked, many.passed.pairs) == ("unknown", 6, 34)
    assert "6 without a verdict, of 40 questions, could hide a drop" in many.reason

    few = compare(run(40), [*lost[:1], *run(40)[1:]])
    assert (few.verdict, few.unchecked) == ("held", 1)
    # what passes now, or was wrong before, cannot have become worse
    failing = [record(f"Question {n}?", 0) for n in range(6)]
    assert compare([*lost[:6], *run(40)[6:]], [*failing, *run(40)[6:]]).verdict == "unknown"
    assert compare([*lost[:6], *run(40)[6:]], run(40)).verdict == "held"
    assert compare([*failing, *run(40)[6:]], [*lost[:6], *run(40)[6:]]).verdict == "held"


def test_a_question_is_not_checked_by_one_answer_of_many() -> None:
    """The answers to it without a verdict could all be worse."""
    before = [record(f"Question {n}?", id=f"{n}.{k}") for n in range(8) for k in range(3)]
    lost = [
        record(f"Question {n}?", outcome="scored" if k == 0 else "failed", id=f"now{n}.{k}")
        for n in range(8)
        for k in range(3)
    ]

    found = compare(before, lost)

    assert (found.verdict, found.unchecked, found.passed.difference) == ("unknown", 8, 0.0)


def test_questions_that_are_gone_could_hide_a_drop_and_new_ones_cannot() -> None:
    """Leaving out the hard questions is no way to pass."""
    found = compare(run(40), run(30))
    assert (found.verdict, found.gone, found.new) == ("unknown", 10, 0)
    assert "10 gone from the new run" in found.reason

    found = compare(run(30), run(40))
    assert (found.verdict, found.gone, found.new) == ("held", 0, 10)


def test_a_drop_that_shows_is_worse_whatever_is_missing() -> None:
    """Missing answers excuse nothing."""
    assert compare(run(40), run(20, 10)).verdict == "worse"


# The command ------------------------------------------------------------------------------------

Put = Callable[[str, list[Record]], str]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write records as a sink does, and return the path."""

    def write(name: str, records: list[Record]) -> str:
        path = tmp_path / name
        path.touch()
        sink = JsonlSink(path)
        for one in records:
            sink.write(one)
        return str(path)

    return write


def ran(*args: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["gate", *args], env={"COLUMNS": "120"})


def test_the_exit_code_is_the_verdict(put: Put) -> None:
    """0 held, 1 worse, 2 cannot be told."""
    base = put("base.jsonl", run(40))

    assert ran(base, put("held.jsonl", run(39, 1))).exit_code == 0
    assert ran(base, put("worse.jsonl", run(30, 10))).exit_code == 1
    assert ran(base, put("gone.jsonl", run(20))).exit_code == 2


def test_the_page_shows_figures_intervals_and_drops(put: Put) -> None:
    """What a person needs to see in the log of a build."""
    result = ran(put("base.jsonl", run(40)), put("now.jsonl", run(30, 10)))
    text = " ".join(result.stdout.split())

    assert "answers that pass, 40 questions 100.0% 75.0% -25.0 -38.3 to -9.3 0.00098" in text
    assert "95% interval" in text
    assert "paired by question: 40 questions, 10 pass less often, 0 more often" in text
    assert "worse is a p of 0.025 or less" in text
    assert "Question 30? 100% → 0% 1.00 → 0.25 1 of 4 claims supported: 0.25 < 0.85" in text
    assert "worse by more than chance: answers that pass fell by 25.0 points" in text
    assert result.stderr == ""


def test_json_is_the_comparison(put: Put) -> None:
    """All of it, for machines, with every drop."""
    result = ran(put("base.jsonl", run(40)), put("now.jsonl", run(20, 20)), "--json")
    found = json.loads(result.stdout)

    assert (result.exit_code, found["verdict"], len(found["drops"])) == (1, "worse", 20)
    assert found["passed"]["interval"] == pytest.approx(
        compare(run(40), run(20, 20)).passed.interval
    )
    assert set(found) == set(Comparison.__slots__)


def test_markdown_shows_the_same_and_nothing_in_it_acts(put: Put, tmp_path: Path) -> None:
    """Questions of anybody's are code: no tag, link, mention, table or picture of theirs."""
    evil = "a|b ``x`` <img src=x> @everyone [l](http://e) ![p](http://e)\n| c |\x1b[31m"
    before = [*run(20), record(evil, 4, id="evil")]
    after = [*run(14, 6), record(evil, 0, id="evil")]
    file = tmp_path / "gate.md"

    result = ran(put("base.jsonl", before), put("now.jsonl", after), "--markdown", str(file))

    assert result.exit_code == 1
    text = file.read_text("utf-8")
    assert text.startswith("### ❌ faithfulness: worse\n")
    assert "| answers that pass, 21 questions | 100.0% | 66.7% | \\-33.3 |" in text
    row = next(line for line in text.splitlines() if "everyone" in line)
    assert row.startswith("| ``` a\\|b ``x`` <img src=x> @everyone [l](http://e) ![p](http://e) ")
    assert "\\| c \\|\\x1b[31m ``` | 100% → 0% |" in row
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {5, 7}


def test_long_lists_are_cut_and_told(put: Put) -> None:
    """Ten drops, and how many more there are."""
    result = ran(put("base.jsonl", run(40)), put("now.jsonl", run(10, 30)))

    assert "… 20 more that got worse; --json has all" in result.stdout


def test_files_of_score_and_packed_ones_are_read(put: Put, tmp_path: Path) -> None:
    """With a line number before each record, and as a gzip archive."""
    base = tmp_path / "base.jsonl.gz"
    rows = [f'{{"line": {n}, {one.to_json()[1:]}\n' for n, one in enumerate(run(9))]
    base.write_bytes(gzip.compress("".join(rows).encode()))

    assert ran(str(base), put("now.jsonl", run(9))).exit_code == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"answer": "SECRET"}\n', r"line 1: not the JSON of a Record: .*`faithguard score`"),
        ("", "the current run holds no records"),
        (b'{"x": "\xff"}\n', "line 1: not UTF-8"),
    ],
)
def test_a_file_of_something_else_is_bad_input(
    put: Put, tmp_path: Path, lines: str | bytes, message: str
) -> None:
    """One line on stderr, exit 2, and no text of the file."""
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(lines.encode() if isinstance(lines, str) else lines)

    result = ran(put("base.jsonl", run(9)), str(bad))

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert re.search(message, result.stderr), result.stderr
    assert "SECRET" not in result.stderr


def test_a_torn_line_is_bad_input(put: Put, tmp_path: Path) -> None:
    """Half a record at the end is not passed over, as it might be the one that got worse."""
    whole = Path(put("now.jsonl", run(9)))
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole.read_bytes()[:-20])

    result = ran(put("base.jsonl", run(9)), str(torn))

    assert result.exit_code == 2
    assert "line 9: not the JSON of a Record" in result.stderr


def test_a_file_against_itself_is_refused(put: Put) -> None:
    """A gate that compares a file with itself would always pass."""
    base = put("base.jsonl", run(9))
    link = Path(base).with_name("link.jsonl")
    link.symlink_to(base)

    for other in (base, str(link)):
        result = ran(base, other)
        assert result.exit_code == 2
        assert "is both files" in result.stderr


def test_files_that_are_not_there_are_named(put: Put, tmp_path: Path) -> None:
    """To read, and to write."""
    base = put("base.jsonl", run(9))

    result = ran(base, "none.jsonl")
    assert result.exit_code == 2
    assert "'none.jsonl' does not exist" in result.stderr

    result = ran(base, put("now.jsonl", run(9)), "--markdown", str(tmp_path / "no" / "x.md"))
    assert result.exit_code == 2
    assert "cannot be written (No such file or directory)" in result.stderr


def test_markdown_says_why_nothing_was_compared(put: Put, tmp_path: Path) -> None:
    """A step that posts the file finds one, whatever the exit code; a file that is read stays."""
    base, note = put("base.jsonl", run(9)), tmp_path / "note.md"
    note.write_text("of the last run", "utf-8")

    for other, told in (("gone.jsonl", "does not exist"), (base, "is both files")):
        result = ran(base, other, "--markdown", str(note))
        assert result.exit_code == 2
        assert told in result.stderr
        text = note.read_text("utf-8")
        assert text.startswith("### ❓ faithfulness: not compared\n\n")
        assert told in text

    held = Path(base).read_bytes()
    result = ran(base, "gone.jsonl", "--markdown", base)
    assert result.exit_code == 2
    assert "'gone.jsonl' does not exist" in result.stderr
    assert Path(base).read_bytes() == held

    result = ran(base, "gone.jsonl", "--markdown", str(tmp_path / "no" / "x.md"))
    assert "'gone.jsonl' does not exist" in result.stderr
