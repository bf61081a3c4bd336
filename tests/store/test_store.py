"""The store: what was written is read, found, counted and gone when it should be."""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from faithguard import ConfigError, FaithguardError, Policy, Record, SqliteSink, check
from faithguard.policy import decide
from faithguard.store import Filter, Store, store_path
from faithguard.testing import example_record
from tests.store.scene import NOON, RIGHT, WRONG, padded, record

NASTY = (
    "line\nbreak \u2028 \"quote\" 'single' \x00\x1b[2J <script>alert(1)</script> % _ \\ \ud800 🧵"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return an empty store that can be written."""
    with Store(tmp_path / "records.db", read_only=False) as made:
        yield made


def filled(store: Store, *records: Record) -> Store:
    """Write records, and return the store as its readers see it."""
    for one in records:
        store.add(one)
    return Store(store.path)


# One record -----------------------------------------------------------------------------------


def test_what_is_written_is_read_back(store: Store) -> None:
    """Without loss, whatever the texts hold."""
    nasty = check(NASTY, [NASTY], question=NASTY)
    records = [
        record("plain"),
        Record(exchange=nasty.exchange, report=nasty, decision=nasty.decide("support")),
        replace(record("dear"), cost=0.25),
    ]
    read = filled(store, *records)

    assert [read.get(one.exchange.id) for one in records] == records
    assert list(read.records()) == records
    assert read.get("none such") is None


def test_of_records_with_one_id_the_last_is_meant(store: Store) -> None:
    """Each of them can be had by its number."""
    first, last = record("same", RIGHT), record("same", WRONG)
    read = filled(store, first, last)

    assert read.get("same") == last
    assert [read.get(row.number) for row in read.page()] == [last, first]


def test_a_row_says_what_a_list_shows(store: Store) -> None:
    """Counts, labels, causes, tags, times."""
    one = replace(record(tags=["beta", "beta", "v2"], seconds=1.5), cost=0.5)
    (row,) = filled(store, one).page()

    assert (row.id, row.time, row.domain) == ("r1", NOON, "customer_support")
    assert (row.outcome, row.level, row.passed, row.action) == ("scored", "block", False, "block")
    assert (row.score, row.bounds, row.supported, row.total) == (0.5, None, 1, 2)
    assert (row.labels, row.causes) == ({"supported": 1, "not_mentioned": 1}, {"retrieval": 1})
    assert (row.question, row.answer) == ("When does the ferry leave?", f"{RIGHT} {WRONG}")
    assert (row.tags, row.latency, row.cost) == (("beta", "v2"), 1.5, 0.5)
    assert (row.attempts, row.repairs, row.calls, row.opinions) == (1, 0, 0, 0)


def test_a_row_holds_the_beginning_of_a_long_text(store: Store) -> None:
    """A list of long answers stays small, and the record is whole."""
    one = record(answer="x" * 5_000)
    read = filled(store, one)

    assert read.page()[0].answer == "x" * 240
    assert read.get("r1") == one


def test_bounds_stand_where_verdicts_are_missing(store: Store) -> None:
    """And no score."""
    (row,) = filled(store, record(said={WRONG: None})).page()

    assert (row.outcome, row.score, row.bounds) == ("incomplete", None, (0.5, 1.0))


def test_a_record_without_a_time_has_the_one_of_writing(store: Store) -> None:
    """And stays as it was."""
    one = record()
    one = replace(one, exchange=replace(one.exchange, started_at=None))
    store.add(one, now=NOON + timedelta(days=1))

    assert store.page()[0].time == NOON + timedelta(days=1)
    assert store.get("r1") == one


# Lists ----------------------------------------------------------------------------------------


def test_pages_follow_one_another(store: Store) -> None:
    """The newest first, each record once, also where times are the same."""
    read = filled(store, *(record(f"r{n}", minutes=n // 3) for n in range(10)))
    seen, cursor = [], None
    while rows := read.page(limit=3, before=cursor):
        seen += [row.id for row in rows]
        cursor = rows[-1].cursor

    assert seen == [f"r{n}" for n in reversed(range(10))]


def test_newer_ones_come_in_the_order_of_arrival(store: Store) -> None:
    """Also those that began earlier and took longer."""
    read = filled(store, record("a", minutes=5))
    newest = read.newest()
    filled(store, record("late", minutes=1), record("b", minutes=6), record("c", RIGHT, minutes=2))

    assert [row.id for row in read.newer_than(newest)] == ["late", "b", "c"]
    assert [row.id for row in read.newer_than(newest, limit=2)] == ["late", "b"]
    assert [row.id for row in read.newer_than(newest, Filter(passed=True))] == ["c"]
    assert [row.id for row in read.newer_than(None)] == ["a", "late", "b", "c"]
    assert read.newer_than(read.newest()) == ()


def test_an_empty_store_answers(store: Store) -> None:
    """With nothing, everywhere."""
    assert store.count() == 0
    read = filled(store)

    assert (read.page(), read.newest(), read.count(), read.series()) == ((), None, 0, ())
    assert read.tally().answers == read.scores().stating == 0
    assert read.tally().interval is None
    assert read.pairs(Filter(), Filter()) == ()


CASES = {
    "supported": record("supported", RIGHT, domain="medical", minutes=0, tags=["v1"]),
    "made up": record("made up", WRONG, minutes=10, tags=["v1", "v2"]),
    "against": record("against", said={WRONG: "contradicted"}, minutes=20),
    "silent": record("silent", "I do not know.", minutes=30),
    "bare": record("bare", context=(), question="Und am Sonntag?", minutes=40),
}


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        (Filter(), [*CASES]),
        (Filter(domain="medical"), ["supported"]),
        (Filter(level="block"), ["made up", "against"]),
        (Filter(passed=True), ["supported", "silent"]),
        (Filter(passed=False), ["made up", "against", "bare"]),
        (Filter(outcome="abstained"), ["silent"]),
        (Filter(action="deliver"), ["supported"]),
        (Filter(label="contradicted"), ["against"]),
        (Filter(label="supported"), ["supported", "against"]),
        (Filter(cause="generation"), ["against"]),
        (Filter(tag="v1"), ["supported", "made up"]),
        (Filter(tag="v2", passed=True), []),
        (Filter(since=NOON + timedelta(minutes=20)), ["against", "silent", "bare"]),
        (Filter(until=NOON + timedelta(minutes=20)), ["supported", "made up"]),
        (Filter(text="FERRY TO"), ["supported", "against", "bare"]),
        (Filter(text="sonntag"), ["bare"]),
        (Filter(text="know", passed=True), ["silent"]),
    ],
    ids=str,
)
def test_a_filter_finds(store: Store, filter: Filter, found: list[str]) -> None:
    """What it names, and the same in page, count and records."""
    read = filled(store, *CASES.values())

    assert {row.id for row in read.page(filter)} == set(found)
    assert read.count(filter) == len(found) == read.tally(filter).answers
    assert {one.exchange.id for one in read.records(filter)} == set(found)


TEXTS = [
    ("fer", "Ferry", True),
    ("f", "Ferry", True),
    ("ry to sk", "The ferry to Skarsund", True),
    ("ferry skarsund", "The ferry to Skarsund", False),
    ("100%", "100% of it", True),
    ("100%", "1000 of it", False),
    ("a_b", "see a_b", True),
    ("a_b", "see axb", False),
    ('say "hi" OR x', 'they say "hi" OR x', True),
    ("back\\slash", "a back\\slash", True),
    ("東京", "会議は東京で開かれる", True),
    ("京で開か", "会議は東京で開かれる", True),
    ("отчёт за", "Отчёт за год", True),
    ("STRASSE", "Die Straße", True),
    ("ﬁle", "the file", True),
    ("\x00", "anything", True),
]


@pytest.mark.parametrize(("text", "answer", "found"), TEXTS)
def test_a_text_is_found(store: Store, text: str, answer: str, found: bool) -> None:
    """As it stands, in whatever case and script."""
    read = filled(store, record(answer=answer, question=None))

    assert (read.count(Filter(text=text)) == 1) is found


# Figures --------------------------------------------------------------------------------------


def test_a_series_counts_by_day_and_hour(store: Store) -> None:
    """By the machine's own clock; answers that state nothing are in no share."""
    read = filled(store, *CASES.values(), record("later", RIGHT, minutes=60 * 24))
    days, hours = read.series(), read.series(by="hour")

    assert [(b.answers, b.stating, b.passed) for b in days] == [(5, 4, 1), (1, 1, 1)]
    assert [b.share for b in days] == [0.25, 1.0]
    assert days[0].start == NOON.astimezone().replace(hour=0)
    assert hours[0].start == NOON
    low, high = days[0].interval or (0, 0)
    assert 0.0 < low < 0.25 < high < 1.0
    assert [b.answers for b in read.series(Filter(passed=True))] == [2, 1]


def test_a_tally_counts(store: Store) -> None:
    """Claims by label and cause, levels by domain, tags, latency."""
    slow = [record(f"s{n}", RIGHT, seconds=n) for n in range(1, 101)]
    read = filled(store, *CASES.values(), *slow)
    found = read.tally(Filter(until=NOON + timedelta(hours=1)))

    assert (found.answers, found.stating, found.passed) == (105, 104, 101)
    assert found.outcomes == {"scored": 103, "abstained": 1, "no_context": 1}
    assert found.claims["contradicted"] == 1
    assert found.claims["supported"] == 102
    assert found.causes == {"generation": 1, "retrieval": 3}
    assert found.levels["medical"] == {"safe": 1}
    assert found.levels["customer_support"] == {"block": 2, "none": 2, "safe": 100}
    assert found.tags == {"v1": 2, "v2": 1}
    assert found.latency == {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 2 / 3, 0.7, 0.98, 1.0])
def test_scores_say_what_another_threshold_would_do(store: Store, threshold: float) -> None:
    """The same as deciding anew with a policy of that threshold."""
    third = "Dogs ride for free."
    records = [
        record(f"{domain}{n}", answer, domain=domain, said=said)
        for domain in ("support", "medical")
        for n, (answer, said) in enumerate(
            [
                (RIGHT, {}),
                (WRONG, {}),
                (f"{RIGHT} {WRONG}", {}),
                (f"{RIGHT} {WRONG}", {WRONG: "contradicted"}),
                (f"{RIGHT} {WRONG}", {WRONG: "conflicting"}),
                (f"{RIGHT} {WRONG} {third}", {third: "supported"}),
                (f"{RIGHT} {WRONG}", {WRONG: None}),
                ("I do not know.", {}),
            ]
        )
    ]
    records.append(record("bare", context=()))
    found = filled(store, *records).scores()

    def passes(one: Record) -> bool:
        policy = Policy.for_domain(one.decision.domain)
        other = policy.model_copy(update={"safe": threshold, "warning": 0.0})
        return decide(one.report, other).passed and one.report.outcome != "abstained"

    assert found.passing(threshold) == sum(map(passes, records))
    assert found.stating == 15
    assert found.passed == sum(one.decision.passed for one in records) - 2


def test_pairs_are_the_same_question_twice(store: Store) -> None:
    """Of two filters, the last record of each."""
    read = filled(
        store,
        record("a1", WRONG, question="When?", tags=["v1"], minutes=0),
        record("a2", RIGHT, question="When?", tags=["v1"], minutes=1),
        record("b1", RIGHT, question="  when? ", tags=["v2"], minutes=2),
        record("b2", RIGHT, question="Where?", tags=["v2"], minutes=3),
        record("a3", RIGHT, question=None, tags=["v1"], minutes=4),
        record("b3", RIGHT, question=None, tags=["v2"], minutes=5),
    )
    pairs = read.pairs(Filter(tag="v1"), Filter(tag="v2"))

    assert [(pair.question, pair.a.id, pair.b.id) for pair in pairs] == [("When?", "a2", "b1")]


# What a person says ---------------------------------------------------------------------------


def test_a_person_may_say_that_a_verdict_is_wrong(store: Store) -> None:
    """Once for each claim, and the last word counts; other records keep their own."""
    read = filled(store, record("a"), record("b"))
    store.label("a", 1, True)
    store.label("a", 1, False, "the leaflet says so")
    store.label("a", 0, True)

    assert [(said.claim, said.agree, said.note) for said in read.labels("a")] == [
        (0, True, ""),
        (1, False, "the leaflet says so"),
    ]
    assert [(row.id, row.opinions) for row in read.page()] == [("b", 0), ("a", 2)]
    assert read.labels("b") == ()


def test_a_label_needs_a_claim(store: Store) -> None:
    """A typo is told."""
    read = filled(store, record("a"))

    with pytest.raises(ConfigError, match=r"^there is no record 'b'"):
        store.label("b", 0, True)
    with pytest.raises(ConfigError, match=r"^record 'a' has 2 claims, and none at 2"):
        store.label("a", 2, True)
    with pytest.raises(ConfigError, match="was opened to be read"):
        read.label("a", 0, True)


# What goes ------------------------------------------------------------------------------------


def test_old_records_go(store: Store) -> None:
    """With their texts and what was said of them."""
    read = filled(store, *(record(f"r{n}", f"word{n} stays", minutes=n) for n in range(10)))
    store.label("r3", 0, True)
    gone = store.prune(before=NOON + timedelta(minutes=4))

    assert gone == 4
    assert [row.id for row in read.page()] == [f"r{n}" for n in reversed(range(4, 10))]
    assert read.count(Filter(text="word3")) == 0
    assert read.count(Filter(text="word4")) == 1
    assert read.labels("r3") == ()


def test_a_store_keeps_to_its_size(store: Store) -> None:
    """The oldest go until there is room, and the file becomes smaller."""
    for n in range(100):
        store.add(padded(record(f"r{n}"), 20_000))
    store.close()
    before = store.path.stat().st_size
    gone = store.prune(max_bytes=before // 2)
    left = [row.id for row in store.page(limit=100)]
    store.close()

    assert left == [f"r{n}" for n in reversed(range(gone, 100))]
    assert 0.35 * before < store.path.stat().st_size <= 0.5 * before
    assert store.prune(max_bytes=before // 2) == 0


def test_what_is_deleted_is_gone(store: Store) -> None:
    """Not only from the tables: no byte of it stays in the file."""
    store.add(record(answer="The word is Xylophonica.", question=None))
    store.prune(before=NOON + timedelta(days=1))
    store.close()

    assert b"ylophonic" not in store.path.read_bytes()


# The file -------------------------------------------------------------------------------------


def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    """Whatever the umask says, and SQLite's own files too."""
    before = os.umask(0)
    try:
        store = Store(tmp_path / "records.db", read_only=False)
        store.add(record())
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)

    assert modes == dict.fromkeys(("records.db", "records.db-wal", "records.db-shm"), 0o600)


def test_where_the_store_is(tmp_path: Path) -> None:
    """The path given, the variable, the usual place."""
    home = {"XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}

    assert store_path("a.db", environ={"FAITHGUARD_STORE": "b.db"}) == Path("a.db")
    assert store_path(environ={"FAITHGUARD_STORE": "~/b.db", **home}) == Path.home() / "b.db"
    if sys.platform != "darwin":
        assert store_path(environ=home) == tmp_path / "faithguard" / "records.db"
    assert store_path(environ={}).parent.name == "faithguard"


def test_the_usual_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For its owner only; a folder that a user names must be there."""
    if sys.platform == "darwin":
        pytest.skip("its usual place is in the home folder")
    monkeypatch.delenv("FAITHGUARD_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    Store(read_only=False).add(record())

    assert Store().count() == 1
    assert stat.S_IMODE((tmp_path / "data" / "faithguard").stat().st_mode) == 0o700
    with pytest.raises(ConfigError, match=r"there is no folder '.*none'; make it"):
        Store(tmp_path / "none" / "x.db", read_only=False)


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    """And left as it is."""
    (tmp_path / "text.db").write_text("not a database " * 100)
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE records (mine)")
    db.close()
    contents = {path: path.read_bytes() for path in tmp_path.iterdir()}

    for name, message in [
        ("", "is a folder: name a file"),
        ("none.db", "there is no store .*: set FAITHGUARD_STORE or pass sinks="),
        ("text.db", "text.db' cannot be read: file is not a database"),
        ("other.db", "other.db' cannot be used: it is another program's database"),
    ]:
        with pytest.raises(FaithguardError, match=message):
            Store(tmp_path / name)
    for name in ("text.db", "other.db"):
        with pytest.raises(FaithguardError, match=f"{name}' cannot be "):
            Store(tmp_path / name, read_only=False).add(record())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == contents


def test_a_later_version_is_not_touched(store: Store) -> None:
    """An older program says what to do."""
    filled(store, record())
    store.close()
    with sqlite3.connect(store.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()

    with pytest.raises(ConfigError, match=r"a later faithguard wrote it \(version 99"):
        Store(store.path)
    with pytest.raises(ConfigError, match="a later faithguard wrote it"):
        store.add(record())


def test_an_earlier_version_is_brought_to_this_one(store: Store) -> None:
    """Also by who only reads; what was said stays, under no name."""
    filled(store, record("a"))
    store.label("a", 1, False, "no", now=NOON)
    store.close()
    with sqlite3.connect(store.path) as db:  # as version 1 had it
        db.executescript(
            "CREATE TABLE old (number INTEGER NOT NULL, claim INTEGER NOT NULL, agree INTEGER "
            "NOT NULL, note TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (number, claim)) "
            "WITHOUT ROWID; INSERT INTO old SELECT number, claim, agree, note, time FROM opinions; "
            "DROP TABLE opinions; ALTER TABLE old RENAME TO opinions; PRAGMA user_version = 1"
        )
    db.close()

    with Store(store.path) as read:
        said = [(o.claim, o.agree, o.note, o.time, o.author) for o in read.labels("a")]
        assert said == [(1, False, "no", NOON, "")]
    store.label("a", 1, True, author="Ann")
    assert [o.author for o in store.labels("a")] == ["", "Ann"]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """As `touch` and a process that was killed at once leave it."""
    (tmp_path / "new.db").touch(0o600)

    assert Store(tmp_path / "new.db").count() == 0


class Elsewhere:
    """A store that another process writes to."""

    def __init__(self, path: Path) -> None:
        code = (
            "import sys; from faithguard.store import Store; from tests.store.scene import record\n"
            "store = Store(sys.argv[1], read_only=False)\n"
            "for line in sys.stdin: store.add(record(line.strip())); print('done', flush=True)"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def add(self, id: str) -> None:
        """Add a record there, and wait until it is."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{id}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        assert self._process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
@pytest.mark.parametrize("all_files", [True, False], ids=["all files", "the main file"])
def test_whoever_deletes_the_file_begins_anew(store: Store, all_files: bool) -> None:
    """Without ending what writes and reads, and what is written then is not lost either."""
    read = filled(store, record("a"))
    other = Elsewhere(store.path)
    other.add("b")
    for path in list(store.path.parent.iterdir()):
        if all_files or path == store.path:
            path.unlink()
    store.add(record("c"))
    other.add("d")
    store.add(record("e"))
    other.close()

    for each in (store, read, Store(store.path)):
        assert [row.id for row in each.newer_than(None)] == ["c", "d", "e"]
    for each in (store, read):
        each.close()
    assert Store(store.path).count() == 3
    with sqlite3.connect(store.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_a_writer_that_notices_late_takes_nothing_from_the_new_file(store: Store) -> None:
    """What it lets go of is not the journal of those who began anew before it."""
    store.add(record("gone"))
    for path in list(store.path.parent.iterdir()):
        path.unlink()
    new = Store(store.path, read_only=False)
    new.add(record("a"))
    store.add(record("b"))
    new.add(record("c"))
    store.close()
    new.close()

    assert [row.id for row in Store(store.path).newer_than(None)] == ["a", "b", "c"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_writes_with_a_connection_of_its_own(store: Store) -> None:
    """And the parent's stays good."""
    store.add(record("before"))
    child = os.fork()
    if child == 0:
        try:
            store.add(record("child"))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    store.add(record("after"))

    assert [one.exchange.id for one in store.records()] == ["before", "child", "after"]


def test_threads_may_share_a_store(store: Store) -> None:
    """Writers and readers at once."""
    counts: list[int] = []

    def work(thread: int) -> None:
        for number in range(20):
            store.add(record(f"{thread}.{number}"))
            counts.append(store.count())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.count() == 80
    assert len(counts) == 80


def test_many_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    """Whoever comes while another makes the tables waits, and loses nothing."""
    one = record()
    for turn in range(25):
        path = tmp_path / f"{turn}.db"
        stores = [Store(path, read_only=False) for _ in range(6)]
        together = threading.Barrier(6)

        def add(store: Store, together: threading.Barrier = together) -> None:
            together.wait()
            store.add(one)

        threads = [threading.Thread(target=add, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert Store(path).count() == 6


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.page(limit=0),
        lambda store: store.page(before="yesterday"),
        lambda store: store.newer_than("1"),
        lambda store: store.pairs(Filter(), Filter(), limit=-1),
    ],
    ids=["limit", "before", "newer_than", "pairs"],
)
def test_a_value_that_cannot_be_used_is_told(store: Store, ask: object) -> None:
    """By its name."""
    assert callable(ask)
    with pytest.raises(ConfigError, match=r"`limit` is|is no cursor: take it from a row"):
        ask(store)


def test_a_number_that_no_record_can_have(tmp_path: Path) -> None:
    """However large, it is a record that is not there."""
    SqliteSink(tmp_path / "a.db").write(example_record())
    with Store(tmp_path / "a.db") as store:
        assert store.get(10**30) is None
        assert store.get(-1) is None


# What cannot be ------------------------------------------------------------------------------

YEAR_1, YEAR_9999 = datetime(1, 1, 1), datetime(9999, 12, 31, 23, tzinfo=UTC)  # noqa: DTZ001

ASKED: dict[str, Callable[[Store], object]] = {
    "an endless time": lambda store: store.page(before="inf:1"),
    "a number too high": lambda store: store.page(before="1.0:" + "9" * 19),
    "a number of many digits": lambda store: store.page(before="1.0:" + "9" * 5_000),
    "a cursor of another kind": lambda store: store.newer_than(cast("str", 7)),
    "newer than too high a number": lambda store: store.newer_than(f"1:{10**20}"),
    "newer than no time": lambda store: store.newer_than("nan:1"),
    "a limit too high": lambda store: store.page(limit=2**70),
    "a limit of another kind": lambda store: store.newer_than(None, limit=cast("int", "5")),
    "pairs without end": lambda store: store.pairs(Filter(), Filter(), limit=2**70),
    "ids without end": lambda store: store.ids("a", limit=2**70),
    "since year 1": lambda store: store.page(Filter(since=YEAR_1)),
    "since a text": lambda store: store.count(Filter(since=cast("datetime", "now"))),
    "a surrogate": lambda store: store.count(Filter(text="\ud800")),
    "a surrogate as a tag": lambda store: store.count(Filter(tag="\ud800")),
    "a surrogate as an id": lambda store: store.get("\ud800"),
    "a text of another kind": lambda store: store.count(Filter(domain=cast("str", b"x"))),
    "no such step": lambda store: store.series(by=cast("Any", "week")),
    "a note of surrogates": lambda store: store.label("a", 0, True, "\ud800"),
    "a label of year 1": lambda store: store.label("a", 0, True, now=YEAR_1),
    "prune before year 1": lambda store: store.prune(before=YEAR_1),
    "added in year 1": lambda store: store.add(timeless(), now=YEAR_1),
}


def timeless() -> Record:
    """Return a record that does not say when it began."""
    one = record("timeless")
    return replace(one, exchange=replace(one.exchange, started_at=None))


@pytest.mark.parametrize("name", ASKED)
def test_what_cannot_be_asked_is_told(store: Store, name: str) -> None:
    """In our words, and the store goes on."""
    filled(store, record("a"))
    with pytest.raises(ConfigError, match=r"`\w+` is |is no cursor: take it from a row"):
        ASKED[name](store)
    assert [row.id for row in store.page()] == ["a"]


def at(moment: datetime) -> Callable[[Record], Record]:
    """Return what sets the time of a record."""
    return lambda one: replace(one, exchange=replace(one.exchange, started_at=moment))


NOT_KEPT: dict[str, tuple[Callable[[Record], Record], str]] = {
    "year 1": (at(YEAR_1), "exchange.started_at is no time of this age"),
    "year 9999": (at(YEAR_9999), "exchange.started_at is no time of this age"),
    "an endless time": (lambda one: replace(one, timings={"x": math.inf}), "timings is no number"),
    "an endless cost": (lambda one: replace(one, cost=math.inf), "cost is no number: inf"),
    "a cost beyond all": (lambda one: replace(one, cost=2**70), r"cost is 1.18059e\+21, and not"),
    "no cost": (lambda one: replace(one, cost=math.nan), "cost is no number: nan"),
}


@pytest.mark.parametrize("name", NOT_KEPT)
def test_what_no_check_can_have_made_is_not_kept(store: Store, name: str) -> None:
    """By either way in; figures and pages of the others are as they were."""
    make, why = NOT_KEPT[name]
    filled(store, record("a"))
    with pytest.raises(ConfigError, match=f"^the record cannot be kept: {why}"):
        store.add(make(record("b")))
    sink = SqliteSink(store.path)
    with pytest.raises(ConfigError, match=why):
        sink.write(make(record("b")))

    assert sink.lost == 1
    assert [bucket.answers for bucket in store.series()] == [1]
    assert [row.id for row in store.page()] == ["a"]


DAMAGE = {
    "no archive": "UPDATE bodies SET body = x'00ff' WHERE number = 2",
    "another kind": "UPDATE bodies SET body = 7 WHERE number = 2",
    "no body": "DELETE FROM bodies WHERE number = 2",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_record_is_told(store: Store, name: str) -> None:
    """By file and number; lists, figures and other records can still be had."""
    whole = record("a")
    filled(store, whole, record("b"))
    damaged(store, DAMAGE[name])
    told = r"records\.db' cannot be read: record 2 is damaged$"
    for ask in (lambda: store.get("b"), lambda: list(store.entries())):
        with pytest.raises(FaithguardError, match=told):
            ask()

    assert [row.id for row in store.page()] == ["b", "a"]
    assert store.get("a") == whole


def damaged(store: Store, sql: str, *values: object) -> None:
    """Change a file as a bad disk or another program does."""
    store.close()
    with sqlite3.connect(store.path) as db:
        db.execute(sql, values)
    db.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE records SET question = CAST(x'ff5345435245' AS TEXT) WHERE number = 2",
        "UPDATE records SET answer = x'00' WHERE number = 2",
        "UPDATE records SET id = x'00' WHERE number = 2",
    ],
)
def test_a_damaged_list_is_told(store: Store, sql: str) -> None:
    """By file, and without its text."""
    filled(store, record("a"), record("b"))
    damaged(store, sql)

    with pytest.raises(FaithguardError, match=r"records\.db' cannot be read: ") as caught:
        store.page()
    assert "SECRE" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("time", [1e300, math.inf, -1e18, "soon", b"soon"])
def test_one_bad_time_spoils_no_page(store: Store, time: object) -> None:
    """The record counts, and is found; it is in no day."""
    filled(store, *(record(f"r{n}", minutes=n) for n in range(5)))
    store.label("r2", 0, True)
    damaged(store, "UPDATE records SET time = ? WHERE number = 3", time)
    damaged(store, "UPDATE opinions SET time = ?", time)

    seen: list[str] = []
    cursor = None
    while rows := store.page(limit=1, before=cursor):
        seen += [row.id for row in rows]
        cursor = rows[-1].cursor
        assert len(seen) <= 5
    assert sorted(seen) == ["r0", "r1", "r2", "r3", "r4"]
    assert [one.record.exchange.id for one in store.entries()] == [f"r{n}" for n in range(5)]
    assert [bucket.answers for bucket in store.series()] == [4]
    assert store.tally().answers == 5
    assert [said.time.year for said in store.labels("r2")] == [1970]


def test_endless_figures_of_an_earlier_version_are_left_out(store: Store) -> None:
    """The others are as they were."""
    filled(store, record("a", seconds=2.0), record("b", seconds=3.0))
    damaged(store, "UPDATE records SET latency = 9e999, cost = 9e999 WHERE number = 2")

    figures = store.tally()
    assert (figures.latency["max"], figures.cost) == (2.0, None)
