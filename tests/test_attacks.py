"""Attacks on the core that a hostile tester found: hangs, slow inputs, odd metadata, torn files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from faithguard import Policy, Report, Scorer, acheck, check
from faithguard.guard import course_policy
from faithguard.policy import decide
from faithguard.sinks import JsonlSink
from faithguard.testing import example_record
from faithguard.types import Attempt, Claim, Exchange, Passage, Record, from_json, to_json
from faithguard.verifiers import Context, Finding
from faithguard.verifiers._lexical import Lexical

from .growth import LINEAR, growth

FACT = "The kiln of the pottery is fired for 14 hours on Thursdays."
FEE = "A workshop for beginners costs 48 euros."
CONTEXT = f"{FACT} {FEE}"


# -- hangs ------------------------------------------------------------------------------------


class Slow(Lexical):
    """A verifier that takes its time on an event loop, and none in a thread."""

    name = "slow@1"

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Verify after a while."""
        await asyncio.sleep(self._seconds)
        return self.verify(claims, context)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scorer]:
    """A scorer of which a check is under way on an event loop that has stopped."""
    monkeypatch.setattr("faithguard.scorer._PATIENCE", 0.2)
    scorer = Scorer(verifiers=[Slow(0.3)])
    loop = asyncio.new_event_loop()
    task = loop.create_task(acheck(FACT, [CONTEXT], scorer=scorer))
    loop.run_until_complete(asyncio.sleep(0.05))
    yield scorer
    assert loop.run_until_complete(task).supported == 1  # it may go on, and is none the worse
    loop.close()


def in_time(work: Callable[[], Report], seconds: float = 10.0) -> Report:
    """Do something in a thread that must not keep the tests from ending."""
    done: list[Report] = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert done, "still waiting"
    return done[0]


@pytest.mark.timeout(30)
def test_a_stopped_loop_does_not_hold_up_a_thread(stopped: Scorer) -> None:
    """Whoever waits for a loop that will not go on asks for itself, after a while."""
    assert in_time(lambda: check(FACT, [CONTEXT], scorer=stopped)).supported == 1


@pytest.mark.timeout(30)
def test_a_stopped_loop_does_not_hold_up_another_loop(stopped: Scorer) -> None:
    """The same for a check on a loop of its own."""
    report = in_time(lambda: asyncio.run(acheck(FACT, [CONTEXT], scorer=stopped)))
    assert report.supported == 1


@pytest.mark.timeout(30)
def test_a_stopped_loop_does_not_hold_up_many(stopped: Scorer) -> None:
    """Sixteen who wait are done together, and so is the next one."""
    done: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: done.append(check(FACT, [CONTEXT], scorer=stopped).supported),
            daemon=True,
        )
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert done == [1] * 16
    assert in_time(lambda: check(FACT, [CONTEXT], scorer=stopped)).supported == 1


# -- time -------------------------------------------------------------------------------------

Arguments = tuple[str, list[str], str | None]


def table(size: int) -> str:
    """Return a table of so many rows."""
    rows = [f"| glaze {n} | {n} EUR |" for n in range(size)]
    return "\n".join(["| name | price |", "|---|---|", *rows])


def lines(unit: str) -> Callable[[int], Arguments]:
    """A context that starts with so many characters of nothing."""
    return lambda size: (CONTEXT, [(unit * size)[:size] + FACT, FEE], None)


def asked(unit: str) -> Callable[[int], Arguments]:
    """A question of so many characters."""
    return lambda size: ("48 euros", [CONTEXT], (unit * size)[:size])


def answered(unit: str) -> Callable[[int], Arguments]:
    """An answer of so many characters."""
    return lambda size: ((unit * size)[:size], [CONTEXT], "What does it cost?")


def both(unit: str) -> Callable[[int], Arguments]:
    """An answer and a context of so many characters."""
    return lambda size: ((unit * size)[:size], [(unit * size)[:size], CONTEXT], None)


SLOW: Mapping[str, tuple[Callable[[int], Arguments], int]] = {
    "context of spaces": (lines(" "), 20_000),
    "context of tabs": (lines("\t"), 20_000),
    "context of dashes": (lines("-"), 20_000),
    "context of dashes and pipes": (lines("|-"), 20_000),
    "context of spaced dashes": (lines("- "), 20_000),
    "context of inner spaces": (
        lambda size: (FACT, [f"kiln{' ' * size}|{' ' * size}{FACT}"], None),
        10_000,
    ),
    "context of CJK stops": (lines("窑。"), 20_000),
    "answer of spaces": (lambda size: (FACT + " " * size + FEE, [CONTEXT], None), 20_000),
    "answer of tabs": (lambda size: (FACT + "\t" * size + FEE, [CONTEXT], None), 20_000),
    "answer of dashes": (lambda size: (f"{FACT} {'-' * size} {FEE}", [CONTEXT], None), 20_000),
    "answer of CJK stops": (answered("窑。"), 10_000),
    "both of CJK stops": (both("窑。"), 2_000),
    "answer is a table": (lambda size: (table(size), [CONTEXT], None), 800),
    "context is a table": (lambda size: (CONTEXT, [table(size), CONTEXT], None), 800),
    "both are a table": (lambda size: (table(size), [table(size)], None), 400),
    "question of quantities": (asked("5 kg "), 8_000),
    "question of ranges": (asked("5-7 "), 8_000),
    "question of minuses": (asked("-5"), 8_000),
    "question of digits": (asked("9 "), 8_000),
    "question of fractions": (asked("1/2 "), 8_000),
    "answer of powers": (answered("10^9 "), 8_000),
}


def checked(build: Callable[[int], Arguments]) -> Callable[[int], object]:
    """Check an input of a size of which nothing is known."""

    def work(size: int) -> Report:
        answer, context, question = build(size)
        return check(answer, context, question=question, scorer=Scorer(cache=False))

    return work


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", SLOW)
def test_time_grows_as_the_text_does(name: str) -> None:
    """Four times the text takes nowhere near sixteen times as long."""
    build, size = SLOW[name]
    assert growth(checked(build), size) < LINEAR


ODD = [
    "\u200d", "\u200c", "\u200b", "\u00ad", "\u2060", "\u0301", "\u20dd", "\ufe0f", "\u200f",
    "\u202e", "\U000e0041", "\0", "\x1b", "\u2028", "\r", "\n", "`", "|", "| ", "[", "](", "(",
    ")", '"', "'", "“", ".", ". ", "…", ",", ";", ":", "!", "?", "9", "1.", "1. ", "-", "- ", "—",
    "_", "*", "#", "<", "<a ", "</", "<!--", ">", "> ", "&", "@", "/", "\\", "~", "$", "a ", "a. ",
    "A ", "a\n\n", "😀", "👨\u200d", "🇩🇪", "中", "。", "、", "あ", "한", "ا", "अ्", "½", "§",
    "- a\n", "| a | 1 |\n", '{"a": ', "[^1]", "not ", "one ", "Ann ", "1 May ",
]  # fmt: skip
"""Characters, and short runs of them, of every kind."""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ODD, ids=ascii)
def test_odd_characters_take_the_time_of_others(unit: str) -> None:
    """Many of a kind in answer, context and question: four times as many, not sixteen times."""

    def build(size: int) -> Arguments:
        odd = (unit * size)[:size]
        return f"{FACT} {odd} {FEE}", [f"{FACT[:-1]}{odd}{FEE}", CONTEXT], odd

    assert growth(checked(build), 4_000) < LINEAR


# -- odd metadata -----------------------------------------------------------------------------


class Mute:
    """An object that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Hostile(Mapping[str, Any]):
    """A mapping that fails when it is read."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Leaf:
    """A document as frameworks have them."""

    def __init__(self, metadata: Any) -> None:
        self.page_content = CONTEXT
        self.metadata = metadata


def _cycle() -> dict[str, Any]:
    metadata: dict[str, Any] = {"page": 1}
    metadata["self"] = [metadata, {"again": metadata}]
    return metadata


def _wide_cycle() -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for name in "abcd":
        metadata[name] = metadata
    return metadata


def _deep() -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    inner = metadata
    for _ in range(3_000):
        inner["a"] = {}
        inner = inner["a"]
    return metadata


def _deep_list() -> list[Any]:
    items: list[Any] = []
    for _ in range(3_000):
        items = [items]
    return items


METADATA: Mapping[str, Callable[[], dict[Any, Any]]] = {
    "mute": lambda: {"object": Mute(), "objects": [Mute()]},
    "mute key": lambda: {Mute(): 1},
    "mute source": lambda: {"source": Mute()},
    "cycle": _cycle,
    "wide cycle": _wide_cycle,
    "cycle as source": lambda: {"source": _cycle()},
    "huge": lambda: {"n": 10**5_000, "negative": -(10**5_000)},
    "huge key": lambda: {10**5_000: 1},
    "huge source": lambda: {"source": 10**5_000},
    "deep": _deep,
    "deep list": lambda: {"list": _deep_list()},
    "deep source": lambda: {"source": _deep_list()},
    "surrogates": lambda: {"source": "leaf\ud800", "id": "\udfff", "\ud800": ["\ud800"]},
    "not a number": lambda: {"nan": float("nan"), "inf": float("-inf")},
    "bytes": lambda: {"raw": b"\xff\xfe"},
    "keys of kinds": lambda: {1: 2, "1": 3, None: 4, (1, 2): 5},
    "hostile": lambda: {"mapping": Hostile()},
}


def stored(report: Report) -> Record:
    """Return the record of a report."""
    return Record(
        exchange=report.exchange,
        report=report,
        decision=decide(report, "support"),
        attempts=(Attempt(exchange=report.exchange, report=report),),
    )


@pytest.mark.timeout(5)  # a dict that holds itself twice must not be unfolded
@pytest.mark.parametrize("how", ["passage", "document", "dict"])
@pytest.mark.parametrize("name", METADATA)
def test_any_metadata_goes_into_json_and_comes_back(name: str, how: str) -> None:
    """Nothing in a document's metadata breaks a check, or its record."""
    metadata: Any = METADATA[name]()
    context: Any = {
        "passage": lambda: Passage(text=CONTEXT, metadata=metadata),
        "document": lambda: Leaf(metadata),
        "dict": lambda: {"text": CONTEXT, "metadata": metadata},
    }[how]()
    report = check(FACT, [context])
    assert report.supported == 1
    assert Report.from_json(report.to_json()) == report
    record = stored(report)
    assert from_json(Record, to_json(record)) == record


@pytest.mark.parametrize("place", ["id", "question", "finish_reason", "tags", "source", "answer"])
def test_lone_surrogates_come_back(place: str) -> None:
    """What no UTF-8 can hold is replaced once and for all, wherever it stands."""
    odd = "q\ud800\udc00\udfff!"
    passage = Passage(text=CONTEXT, source=odd if place == "source" else None)
    fields: dict[str, Any] = {"id": "1", "answer": FACT, "passages": (passage,)}
    if place == "tags":
        fields["tags"] = ("a", odd)
    elif place != "source":
        fields[place] = odd
    report = Scorer().score(Exchange(**fields))
    assert Report.from_json(report.to_json()) == report
    assert from_json(Record, to_json(stored(report))) == stored(report)


# -- torn files -------------------------------------------------------------------------------


@pytest.mark.parametrize("torn", ['{"half":', "{", '{"exchange":{"id":"x"}}', "\x00\x00", "\\u00"])
def test_a_torn_line_spoils_nothing_after_it(tmp_path: Path, torn: str) -> None:
    """What a crash left at the end of a file is passed over, and the next records are whole."""
    path = tmp_path / "records.jsonl"
    first = example_record()
    JsonlSink(path).write(first)
    with path.open("a", encoding="utf-8") as file:
        file.write(torn)
    second, third = stored(check(FACT, [CONTEXT])), stored(check(FEE, [CONTEXT]))
    sink = JsonlSink(path)
    sink.write(second)
    sink.write(third)
    assert list(JsonlSink(path).read()) == [first, second, third]


def test_a_torn_record_without_its_end_spoils_nothing(tmp_path: Path) -> None:
    """Half of a record of ours, as a full disk leaves it."""
    path = tmp_path / "records.jsonl"
    sink = JsonlSink(path)
    record = stored(check(FACT, [CONTEXT]))
    sink.write(record)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    sink.write(record)
    assert list(sink.read()) == [record, record]
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert list(sink.read()) == [record]


# -- policies ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["medical", "Medical", "MEDICAL", "Legal", "FINANCIAL", "financial"]
)
def test_a_closed_domain_is_closed_however_it_is_written(name: str) -> None:
    """A policy that names a closed domain has its rules, in any case of letters."""
    policy = Policy(domain=name, safe=0.4, warning=0.3)
    assert (policy.on_contradiction, policy.on_conflict) == ("fail", "unsupported")
    answer = f"{FACT} A workshop for beginners costs 84 euros."
    report = check(answer, [CONTEXT])
    assert [claim.label for claim in report.claims] == ["supported", "contradicted"]
    assert not decide(report, policy).passed
    assert not decide(report, course_policy(policy, "block")).passed


def test_a_closed_domain_may_be_opened_by_name_only() -> None:
    """Rules that code names itself win, in any case of letters; other domains have none."""
    named = Policy(domain="Medical", safe=0.9, warning=0.8, on_contradiction="count")
    assert (named.on_contradiction, named.on_conflict) == ("count", "unsupported")
    other = Policy(domain="Medicine cabinet", safe=0.9, warning=0.8)
    assert (other.on_contradiction, other.on_conflict) == ("count", "supported")
