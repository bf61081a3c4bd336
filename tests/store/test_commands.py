"""`faithguard show`, `report` and `store`: recorded answers for people, and out and back."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from faithguard import Passage, Record, SqliteSink, check
from faithguard.cli import app
from faithguard.policy import decide
from faithguard.sinks import JsonlSink
from faithguard.store import Store
from faithguard.testing import example_record
from faithguard.types import Attempt, Repair
from tests.store.scene import NOON, RIGHT, WRONG, record

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)> javascript:alert(3) "
    "\x1b[31mred\x1b[0m \x1b]8;;http://x.example\x07link [bold]loud[/bold] \u202egnp.exe "
    "--></style></main></html> &lt;b&gt; \"quoted\" 'single' " + "x" * 3_000
)
NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    for name in [*os.environ]:
        if name.startswith("FAITHGUARD_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "140")


def ran(*args: object, code: int = 0) -> Result:
    """Run the app in this process."""
    result = CliRunner().invoke(app, list(map(str, args)), prog_name="faithguard")
    assert result.exit_code == code, result.output
    return result


def complaint(*args: object) -> str:
    """Return the one line that a run says which fails."""
    result = ran(*args, code=2)
    assert result.stderr.count("\n") == 1
    return result.stderr


def rich_record() -> Record:
    """Return a record of a guard: two attempts, a repair, a passage that was not seen."""
    first = check(
        f"{WRONG} {RIGHT}",
        [
            Passage(text=RIGHT, source="ferry.md", origin="retriever"),
            Passage(text="On Sundays there is none.", source="sunday.md", seen=False),
        ],
        question="When does it leave?",
    )
    exchange = replace(first.exchange, id="guarded", started_at=NOON, tags=("v7",), answer=RIGHT)
    last = replace(check(RIGHT, exchange.passages), exchange=exchange)
    return Record(
        exchange=exchange,
        report=last,
        decision=decide(last, "support"),
        attempts=(
            Attempt(exchange=first.exchange, report=first),
            Attempt(exchange=exchange, report=last),
        ),
        repairs=(Repair(span=(0, len(WRONG)), before=WRONG, after="Nothing."),),
        timings={"generate": 1.25},
        cost=0.0123,
    )


def hostile_record() -> Record:
    """Return a record with hostile text wherever a text can stand."""
    passage = Passage(text=HOSTILE, source=HOSTILE, metadata={HOSTILE: HOSTILE})
    report = check(HOSTILE, [passage], question=HOSTILE)
    exchange = replace(report.exchange, id=HOSTILE, tags=(HOSTILE,), started_at=NOON)
    claims = tuple(replace(claim, reason=HOSTILE) for claim in report.claims)
    report = replace(report, exchange=exchange, claims=claims)
    return Record(
        exchange=exchange,
        report=report,
        decision=replace(decide(report, "support"), domain=HOSTILE, reason=HOSTILE),
        attempts=(Attempt(exchange=exchange, report=report),) * 2,
        repairs=(Repair(span=(0, 9), before=HOSTILE, after=HOSTILE),),
        timings={HOSTILE: 1.0},
    )


@pytest.fixture(params=["store", "lines"])
def put(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Write records to a store or a file of lines, and return the path."""

    def write(*records: Record) -> str:
        path = tmp_path / f"records.{request.param}"
        sink = SqliteSink(path) if request.param == "store" else JsonlSink(path)
        for one in records:
            sink.write(one)
        return str(path)

    return write


# show -----------------------------------------------------------------------------------------


def test_show_shows_all_of_a_record(put: Callable[..., str]) -> None:
    """Question, answer, claims, decision, attempts, repairs, context."""
    shown = ran("show", "guarded", "--store", put(rich_record())).stdout

    for words in [
        "When does it leave?",
        "guarded · 2026-03-04 12:00:00 UTC · customer_support · passed · tags v7 · 2 attempts",
        "generate 1.25 s · $0.0123",
        f"[✓1] {RIGHT}",
        "passed: 1 of 1 claim supported",
        "earlier attempt 1",
        "scored · 1 of 2 claims supported",
        f"[?1] {WRONG} [✓2] {RIGHT}",
        f"“{WRONG}” became “Nothing.”",
        "passage 1 · retriever · ferry.md · has evidence",
        "passage 2 · caller · sunday.md · never reached the prompt",
    ]:
        assert words in shown


def test_show_takes_the_beginning_of_an_id(put: Callable[..., str]) -> None:
    """Where it is one record's; the last one by default."""
    path = put(record("abcd"), record("abxy", WRONG, minutes=1), record("ab", RIGHT, minutes=2))

    assert "abcd · " in ran("show", "abc", "--store", path).stdout
    assert "ab · " in ran("show", "ab", "--store", path).stdout
    assert "ab · " in ran("show", "--store", path).stdout
    assert "abxy · " in ran("show", "abx", "--store", path).stdout
    assert "3 ids begin with 'a': " in complaint("show", "a", "--store", path)
    assert "no id in " in complaint("show", "zz", "--store", path)


def test_show_prints_the_record_as_json(put: Callable[..., str]) -> None:
    """Without loss."""
    one = rich_record()

    assert Record.from_json(ran("show", "--json", "--store", put(one)).stdout) == one


def test_what_a_person_said_is_told(tmp_path: Path) -> None:
    """By the number of the claim, in the terminal and in the report, of a store and of a file."""
    with Store(tmp_path / "records.db", read_only=False) as store:
        store.add(record())
        store.label("r1", 1, False, "the leaflet says so")

    path = tmp_path / "records.db"
    lines = tmp_path / "records.jsonl"
    lines.write_text(ran("store", "export", "--store", path).stdout)
    for source in (path, lines):
        assert "2. wrong: the leaflet says so" in ran("show", "--store", source).stdout
        report = ran("report", source, "-o", "-").stdout
        assert "<b>what people say of the verdicts</b>" in report
        assert "<bdi>2. wrong: the leaflet says so</bdi>" in report
        assert report.count("the leaflet says so") == 1


def test_the_store_is_found_by_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the sink finds it."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "records.db"))
    assert "there is no store" in complaint("show")
    SqliteSink().write(record())

    assert "r1 · " in ran("show").stdout


def test_what_is_no_file_of_records_is_told(tmp_path: Path) -> None:
    """By line, and without its text."""
    (tmp_path / "x.jsonl").write_text(record().to_json() + '\n\n{"answer": "SECRET"}\n')

    message = complaint("show", "--store", tmp_path / "x.jsonl")
    assert "line 3 of " in message
    assert "`faithguard score` makes records" in message
    assert "SECRET" not in message
    assert "No such file" in complaint("show", "--store", tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    "args",
    [
        ("show", "--store"),
        ("report", "-o", "-"),
        ("store", "export", "--store"),
        ("store", "prune", "--days", "3", "--store"),
    ],
    ids=lambda args: args[-2],
)
def test_what_is_no_regular_file_is_refused(args: tuple[str, ...], tmp_path: Path) -> None:
    """A pipe that nobody writes to is not waited for; a link to nothing or to itself is told."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")

    assert "pipe' is no regular file: name " in complaint(*args, tmp_path / "pipe")
    for name, why in (("dangling", "No such file"), ("loop", "Too many levels")):
        message = complaint(*args, tmp_path / name)
        assert f"{name}' cannot be read ({why}" in message or "there is no store" in message


@pytest.mark.parametrize("width", [12, 60, 140])
def test_hostile_text_has_no_effect_on_a_terminal(width: int) -> None:
    """Every sequence, control and invisible character is shown as what it is."""
    console = Console(width=width, force_terminal=True, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(hostile_record())

    assert not NOT_SHOWN.search(capture.get())
    if width == 140:
        assert r"\x1b[31mred" in capture.get()
        assert "[bold]loud[/bold]" in capture.get()


# report ---------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Read a page as a browser does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost tag is closed."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect what is shown."""
        self.text += data


TAGS = set(
    "html head meta title style body main h1 h2 table thead tbody tr th td article p a div b span "
    "sup bdi br details summary mark del ins".split()
)


def test_a_report_shows_a_whole_file(tmp_path: Path, put: Callable[..., str]) -> None:
    """Figures over all, a list, and each record; for its owner only."""
    path = put(rich_record(), record("r1"), record("r2", RIGHT))
    ran("report", path, "-o", tmp_path / "report.html")
    page = Reader((tmp_path / "report.html").read_text("utf-8"))

    assert stat.S_IMODE((tmp_path / "report.html").stat().st_mode) == 0o600
    assert page.open == []
    assert "of 3 that state something: 66.7%" in page.text
    for words in ["✗ not passed", "✓ passed", WRONG, "sunday.md · never reached the prompt"]:
        assert words in page.text
    links = {value for name, value in page.attributes if name == "href"}
    targets = {f"#{value}" for name, value in page.attributes if name == "id"}
    assert links == {"#r1", "#r2", "#r3", "#records"}
    assert links <= targets


def test_a_report_can_be_of_a_part(put: Callable[..., str]) -> None:
    """One exchange, those that failed, those with a tag."""
    path = put(record("r1", tags=["a"]), record("r2", RIGHT, tags=["a"]), record("r3", RIGHT))

    def ids(*options: str) -> set[str]:
        text = ran("report", path, "-o", "-", *options).stdout
        return set(re.findall(r"<bdi>(r\d) · ", text))

    assert ids() == {"r1", "r2", "r3"}
    assert ids("--id", "r2") == {"r2"}
    assert ids("--failed") == {"r1"}
    assert ids("--tag", "a") == {"r1", "r2"}


def test_a_report_of_many_shows_what_failed_first(put: Callable[..., str]) -> None:
    """Later ones before earlier ones, in their order; and says what it leaves out."""
    records = [record(f"r{n}", RIGHT if n % 2 else WRONG) for n in range(10)]
    text = ran("report", put(*records), "-o", "-", "--limit", "6").stdout

    assert re.findall(r"<bdi>(r\d) · ", text) == ["r0", "r2", "r4", "r6", "r8", "r9"]
    assert "4 more records are counted above and not shown" in text
    assert "of 10 that state something: 50.0%" in text


def test_a_report_runs_nothing_and_fetches_nothing(put: Callable[..., str]) -> None:
    """Whatever the texts hold: only our own tags, no script, no address, and a policy."""
    text = ran("report", put(hostile_record(), rich_record()), "-o", "-").stdout
    page = Reader(text)

    assert page.tags <= TAGS
    assert page.open == []
    assert {name for name, _ in page.attributes} <= set(
        "lang charset http-equiv content name style class dir title id href scope "
        "aria-labelledby".split()
    )
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert not re.search(r"url\(|@import|src=[^x]", text)
    assert "<script>alert(1)</script>" in page.text
    assert not NOT_SHOWN.search(text)
    assert len(text) < 200_000


def test_an_empty_file_gives_an_empty_report(tmp_path: Path) -> None:
    """With no figure that divides by nothing."""
    (tmp_path / "none.jsonl").touch()
    page = Reader(ran("report", tmp_path / "none.jsonl", "-o", "-").stdout)

    assert page.open == []
    assert "answers0" in page.text


def test_a_report_that_cannot_be_written_is_told(put: Callable[..., str], tmp_path: Path) -> None:
    """By the name of the file."""
    message = complaint("report", put(record()), "-o", tmp_path / "none" / "x.html")

    assert "x.html' cannot be written (No such file or directory)" in message


def test_a_record_shows_itself_in_a_notebook() -> None:
    """The same coloured answer as in a report, with what was done."""
    fragment = rich_record()._repr_html_()
    page = Reader(fragment)

    assert page.open == []
    assert f"✓1{RIGHT}" in page.text
    assert "attempt 1: scored, 1 of 2 claims supported: 0.50" in page.text
    assert not re.search(r"(?i)https?:|url\(|@import|<script|<link|<style|src=|href=", fragment)


# store ----------------------------------------------------------------------------------------


def stored(path: Path) -> list[Any]:
    """Return all that a store has, but for the numbers."""
    with Store(path) as store:
        return [(e.time, e.record, e.opinions) for e in store.entries()]


def test_records_go_out_and_back(tmp_path: Path) -> None:
    """With their times and what a person said; and a second time changes nothing."""
    one, other = tmp_path / "one.db", tmp_path / "other.db"
    bare = record("bare")
    bare = replace(bare, exchange=replace(bare.exchange, started_at=None))
    with Store(one, read_only=False) as store:
        for each in (rich_record(), bare, hostile_record()):
            store.add(each, now=NOON - timedelta(days=3))
        store.label("bare", 1, False, "no")
    ran("store", "export", "--store", one, "-o", tmp_path / "out.jsonl")
    back = ("store", "import", tmp_path / "out.jsonl", "--by", "", "--store", other)
    said, again = ran(*back).stderr, ran(*back).stderr

    assert "3 records added to " in said
    assert "0 records added to " in again
    assert stored(other) == stored(one)
    assert list(JsonlSink(tmp_path / "out.jsonl").read()) == list(Store(one).records())
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600


def test_an_export_is_printed_line_by_line(tmp_path: Path) -> None:
    """For a pipe."""
    SqliteSink(tmp_path / "records.db").write(record())
    lines = ran("store", "export", "--store", tmp_path / "records.db").stdout.splitlines()

    assert [json.loads(line)["exchange"]["id"] for line in lines] == ["r1"]


def test_what_score_wrote_can_be_imported(tmp_path: Path) -> None:
    """The two kinds of lines are one."""
    row = {"id": "s1", "answer": RIGHT, "context": [RIGHT], "question": "When?"}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n")
    ran("score", tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl")
    ran("store", "import", tmp_path / "out.jsonl", "--store", tmp_path / "records.db")

    assert [row.id for row in Store(tmp_path / "records.db").page()] == ["s1"]


def lines_of(*rows: object) -> str:
    """Return rows as lines of JSON."""
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


@pytest.mark.parametrize(
    "line",
    [
        '{"answer": "SECRET"}',
        '{"stored": {"opinions": [{"claim": "SECRET"}]}, RECORD',
        "SECRET",
        '"\\ud800 SECRET"',
    ],
)
def test_a_line_that_is_no_record_is_left_out(tmp_path: Path, line: str) -> None:
    """Those around it are added, and the exit code says that one is missing."""
    one, other = (record(id).to_json() for id in ("one", "other"))
    (tmp_path / "in.jsonl").write_text(lines_of(one, line.replace("RECORD", one[1:]), other))
    path = tmp_path / "records.db"
    said = ran("store", "import", tmp_path / "in.jsonl", "--store", path, code=2).stderr

    assert said.startswith("faithguard: line 2: not the JSON of ")
    assert "2 records added to " in said
    assert "1 line was left out of " in said
    assert "SECRET" not in said
    assert [one.exchange.id for one in Store(path).records()] == ["one", "other"]


_END = len(f"{RIGHT} {WRONG}")
_PIECE = {"passage": 0, "start": 0, "end": 5, "quote": "The f"}
_SAID = {"claim": 0, "agree": True, "note": "", "time": "2026-03-04T12:00:00Z"}

FLAWS: dict[str, tuple[str, object, str]] = {
    "nan": ("report.score", float("nan"), "report.score is no number: nan"),
    "infinity": ("cost", float("inf"), "cost is no number: inf"),
    "nan by name": ("timings", {"SECRET": float("nan")}, "timings is no number: nan"),
    "a share beyond 1": ("decision.safe", 1.5, "decision.safe is 1.5, and not between 0 and 1"),
    "a negative count": ("report.total", -1, "report.total is -1, and not between 0 and"),
    "a count beyond all": ("report.usage.calls", 2**70, "report.usage.calls is 1.18"),
    "a number of thousands of digits": (
        "report.usage.input_tokens",
        10**4000,
        "report.usage.input_tokens is longer than any, and not between 0 and",
    ),
    "passed without a verdict": (
        "report",
        {"outcome": "failed", "score": None},
        "decision.passed is true of an answer that was failed, to deliver",
    ),
    "passed without context": (
        "report",
        {"outcome": "no_context", "score": None},
        "decision.passed is true of an answer that was no_context, to deliver",
    ),
    "passed and blocked": (
        "decision",
        {"action": "block"},
        "decision.passed is true of an answer that was scored, to block",
    ),
    "support of no claim": (
        "report",
        {"claims": [], "outcome": "scored"},
        "report.total is 2, and the facts of its claims are 0",
    ),
    "too many counted": ("report.total", 3, "report.total is 3, and the facts of its claims are 2"),
    "too little counted": (
        "attempts.0.report.supported",
        1,
        "attempts.0.report.supported is 1, and of its claims 2 are",
    ),
    "another score": ("report.score", 0.5, "report.score is not what its outcome and counts make"),
    "no score": ("report.score", None, "report.score is not what its outcome and counts make"),
    "a quote of something else": (
        "report.claims.0.evidence",
        [{**_PIECE, "quote": "SECRET"}],
        "report.claims.0.evidence.0.quote is not what stands there",
    ),
    "a quote that is cut": (
        "report.claims.0.evidence",
        [{**_PIECE, "quote": "The"}],
        "report.claims.0.evidence.0.quote is not what stands there",
    ),
    "more than all": ("report.supported", 9, "report.supported is more than report.total"),
    "a text for a number": ("report.score", "0.5", "first at report.score: Input should be"),
    "a text for a flag": ("decision.passed", "no", "first at decision.passed: Input should be"),
    "a number for a text": ("exchange.answer", 7, "first at exchange.answer: Input should be"),
    "no such label": ("report.claims.0.label", "SECRET", "first at report.claims.0.label: Input"),
    "no such passage": (
        "report.claims.0.evidence",
        [{**_PIECE, "passage": 2}],
        "report.claims.0.evidence.0.passage is 2, and there are 2, counted from 0",
    ),
    "a passage before the first": (
        "report.claims.0.evidence",
        [{**_PIECE, "passage": -1}],
        "report.claims.0.evidence.0.passage is -1, and not between 0 and",
    ),
    "evidence beyond its text": (
        "report.claims.0.evidence",
        [{**_PIECE, "end": 500}],
        "report.claims.0.evidence.0 ends at 500, and the text at 34",
    ),
    "a negative span": ("report.claims.1.span", [-3, 2], "report.claims.1.span.0 is -3, and not"),
    "a reversed span": (
        "report.claims.1.span",
        [9, 4],
        "report.claims.1.span ends at 4, before it starts at 9",
    ),
    "a span beyond the text": (
        "report.claims.1.span",
        [0, _END + 1],
        f"report.claims.1.span ends at {_END + 1}, and the text at {_END}",
    ),
    "in an attempt": (
        "attempts.0.report.claims.0.span",
        [0, 999],
        f"attempts.0.report.claims.0.span ends at 999, and the text at {_END}",
    ),
    "a repair beyond the text": (
        "repairs",
        [{"span": [0, 999], "before": "", "after": ""}],
        f"repairs.0.span ends at 999, and the text at {_END}",
    ),
    "a repair by no passage": (
        "repairs",
        [{"span": [0, 1], "before": "", "after": "", "evidence": [{**_PIECE, "passage": 7}]}],
        "repairs.0.evidence.0.passage is 7, and there are 2",
    ),
    "before all time": ("exchange.started_at", "0001-01-01T00:00:00+05:00", "is no time of"),
    "after all time": ("exchange.started_at", "9999-12-31T23:59:59Z", "is no time of"),
    "a label of no claim": (
        "stored.opinions",
        [{**_SAID, "claim": 2}],
        "an opinion is of a claim that is not there: it has 2",
    ),
    "a label before all time": (
        "stored.opinions",
        [{**_SAID, "time": "0001-01-01T00:00:00"}],
        "opinions.0.time is no time of this age",
    ),
}


@pytest.mark.parametrize("name", FLAWS)
def test_a_record_that_no_check_made_is_left_out(name: str, tmp_path: Path) -> None:
    """It would be an error on its page later; the reason says where it is wrong, and no text."""
    place, value, reason = FLAWS[name]
    bad = record("bad", said={WRONG: "supported"})
    assert bad.decision.passed
    row: Any = {"stored": {}, **json.loads(bad.to_json())}
    inside: Any = row
    *folders, last = place.split(".")
    for folder in folders:
        inside = inside[int(folder) if folder.isdigit() else folder]
    if isinstance(value, dict) and isinstance(inside[last], dict):
        inside[last] |= value
    else:
        inside[last] = value
    file, path = tmp_path / "in.jsonl", tmp_path / "records.db"
    file.write_text(lines_of(record("one").to_json(), row, record("other").to_json()))
    said = ran("store", "import", file, "--store", path, code=2).stderr

    first = said.splitlines()[0]
    assert first.startswith("faithguard: line 2: ")
    assert reason in first
    assert "SECRET" not in said
    assert [one.exchange.id for one in Store(path).records()] == ["one", "other"]
    assert f"line 2 of {str(file)!r}: " in complaint("show", "--store", file)
    numbers = any(words in reason for words in (" is no ", " between "))
    if numbers and not place.startswith("stored"):
        other = tmp_path / "other.jsonl"
        other.write_text(lines_of(record("one").to_json()))
        assert f"{str(file)!r} line 2: no record of a check: " in complaint("gate", other, file)


def test_all_that_was_left_out_is_counted(tmp_path: Path) -> None:
    """A file of something else does not fill the terminal."""
    (tmp_path / "in.jsonl").write_text(lines_of(*({"answer": "yes"} for _ in range(250))))
    said = ran(
        "store", "import", tmp_path / "in.jsonl", "--store", tmp_path / "records.db", code=2
    ).stderr.splitlines()

    assert len(said) == 100 + 2
    assert "250 lines were left out of " in said[-1]
    assert said[-1].endswith("`faithguard score` makes records of exchanges")


@pytest.mark.parametrize("how", ["redacted", "without texts"])
def test_what_was_not_kept_can_be_imported(how: str, tmp_path: Path) -> None:
    """Spans stay where their texts went."""
    sink = (
        SqliteSink(tmp_path / "one.db", texts=False)
        if how == "without texts"
        else SqliteSink(tmp_path / "one.db", redact=lambda text: text.replace("ferry", "*" * 40))
    )
    for each in (record(), rich_record(), hostile_record()):
        sink.write(each)
    ran("store", "export", "--store", tmp_path / "one.db", "-o", tmp_path / "out.jsonl")
    ran("store", "import", tmp_path / "out.jsonl", "--store", tmp_path / "other.db")

    assert stored(tmp_path / "other.db") == stored(tmp_path / "one.db")


def test_labels_of_two_people_come_together(tmp_path: Path) -> None:
    """Each labels a copy; both are kept, whoever was later, and go round without end."""
    paths = [tmp_path / "ann.db", tmp_path / "bob.db"]
    one, two, three = (NOON + timedelta(hours=n) for n in (1, 2, 3))
    first, second = (Store(path, read_only=False) for path in paths)
    same = record()
    for store in (first, second):
        store.add(same)
    first.label("r1", 0, True, now=two)
    second.label("r1", 0, False, "it does not", now=three)
    second.label("r1", 1, False, "it is said", now=one)
    for source, target in (paths, paths[::-1]):
        out = source.with_suffix(".jsonl")
        ran("store", "export", "--store", source, "-o", out)
        said = ran("store", "import", out, "--store", target).stderr
        assert "0 records added to " in said
        again = ran("store", "import", out, "--store", target).stderr
        assert again.endswith("1 was there already\n")

    def said_in(store: Store) -> list[tuple[object, ...]]:
        return [(o.author, o.claim, o.agree, o.note, o.time) for o in store.labels("r1")]

    ann = (0, True, "", two)
    bob = [(0, False, "it does not", three), (1, False, "it is said", one)]
    assert said_in(first) == [("", *ann), ("bob", *bob[0]), ("bob", *bob[1])]
    assert said_in(second) == [("", *bob[0]), ("ann", *ann), ("", *bob[1])]
    assert [row.opinions for row in first.page()] == [2]
    for words in ("1. right\n", "1. wrong (bob): it does not", "2. wrong (bob): it is said"):
        assert words in ran("show", "--store", paths[0]).stdout
        assert words.strip() in ran("report", paths[0], "-o", "-").stdout


def test_of_two_labels_by_one_person_the_later_counts(tmp_path: Path) -> None:
    """In whatever order they are imported; what I say myself is not touched."""
    path, mine, same = tmp_path / "mine.db", NOON + timedelta(days=9), record()
    with Store(path, read_only=False) as store:
        store.add(same)
        store.label("r1", 0, True, now=mine)
    for hours, agree in ((2, False), (1, True), (3, True)):
        when = (NOON + timedelta(hours=hours)).isoformat()
        said = {**_SAID, "agree": agree, "note": f"at {hours}", "time": when}
        row = {"stored": {"opinions": [said]}, **json.loads(same.to_json())}
        (tmp_path / "in.jsonl").write_text(lines_of(row))
        ran("store", "import", tmp_path / "in.jsonl", "--by", "Bob", "--store", path)

    found = [(o.author, o.agree, o.note) for o in Store(path).labels("r1")]
    assert found == [("", True, ""), ("Bob", True, "at 3")]


def test_new_labels_of_an_import_are_counted(tmp_path: Path) -> None:
    """Apart from the records."""
    one = record()
    row = {"stored": {"opinions": [_SAID]}, **json.loads(one.to_json())}
    (tmp_path / "in.jsonl").write_text(lines_of(row))
    SqliteSink(tmp_path / "records.db").write(one)
    said = ran("store", "import", tmp_path / "in.jsonl", "--store", tmp_path / "records.db").stderr

    assert said.endswith("1 was there already; 1 label is new\n")


@pytest.mark.parametrize("which", [("show",), ("show", "r1"), ("show", "--json")])
def test_a_store_without_records_says_so(which: tuple[str, ...], tmp_path: Path) -> None:
    """And not that an id is wrong."""
    path, file = tmp_path / "records.db", tmp_path / "records.jsonl"
    Store(path, read_only=False).prepare()
    file.touch()
    for source in (path, file):
        message = complaint(*which, "--store", source)
        assert message == f"faithguard: there is no record in {str(source)!r} yet\n"


def test_old_records_are_pruned_by_a_command(tmp_path: Path) -> None:
    """By age and by size; a typo in the path makes no store."""
    path = tmp_path / "records.db"
    with Store(path, read_only=False) as store:
        for n, days in enumerate((40, 20, 1)):
            one = record(f"r{n}")
            began = datetime.now(UTC) - timedelta(days=days)
            store.add(replace(one, exchange=replace(one.exchange, started_at=began)))

    assert "1 record deleted" in ran("store", "prune", "--store", path, "--days", "30").stderr
    assert "0 records deleted" in ran("store", "prune", "--store", path, "--megabytes", 5).stderr
    assert [row.id for row in Store(path).page()] == ["r2", "r1"]
    assert "name --days, --megabytes or both" in complaint("store", "prune", "--store", path)
    assert "there is no store" in complaint(
        "store", "prune", "--days", "1", "--store", tmp_path / "typo.db"
    )
    assert not (tmp_path / "typo.db").exists()


def test_a_record_without_texts_is_shown_for_what_it_is(tmp_path: Path) -> None:
    """Verdicts and counts; nothing is said of an answer or a quote that is not there."""
    SqliteSink(tmp_path / "records.db", texts=False).write(rich_record())
    shown = ran("show", "--store", tmp_path / "records.db").stdout
    page = Reader(ran("report", tmp_path / "records.db", "-o", "-").stdout)

    for text in (shown, page.text):
        assert "(the answer was not kept)" in text
        assert "1 of 1 claim supported" in text
        assert "ferry.md" in text
        assert "does not stand there" not in text
        assert RIGHT not in text


# files are not lost ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ("report", "{from}", "-o", "{from}"),
        ("store", "export", "--store", "{from}", "-o", "{link}"),
        ("gate", "{from}", "{other}", "--markdown", "{from}"),
    ],
    ids=lambda args: args[0],
)
def test_what_is_read_is_not_written_over(args: tuple[str, ...], tmp_path: Path) -> None:
    """Nor by another name; the command says so."""
    form = "lines" if args[0] == "gate" else "store"
    source, other, link = tmp_path / f"a.{form}", tmp_path / f"b.{form}", tmp_path / "link"
    for path in (source, other):
        sink = SqliteSink(path) if form == "store" else JsonlSink(path)
        for number in range(8):
            record = example_record()
            named = replace(record.exchange, id=f"r{number}", question=f"Question {number}?")
            sink.write(replace(record, exchange=named))
    link.symlink_to(source)
    names = {"from": str(source), "other": str(other), "link": str(link)}
    done = CliRunner().invoke(app, [part.format(**names) for part in args])

    assert done.exit_code == 2
    assert "is what is read" in done.stderr
    assert source.stat().st_size > 1_000
    if form == "store":
        assert CliRunner().invoke(app, ["show", "r3", "--store", str(source)]).exit_code == 0


def test_a_report_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    """What it would have been made of is not there."""
    page = tmp_path / "page.html"
    page.write_text("before", "utf-8")
    done = CliRunner().invoke(app, ["report", str(tmp_path / "absent.db"), "-o", str(page)])

    assert done.exit_code == 2
    assert page.read_text("utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
