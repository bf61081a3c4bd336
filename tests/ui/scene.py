"""Records to look at: real reports of answers about a small museum, and as many as are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from faithguard import check
from faithguard.policy import decide
from faithguard.store import Store
from faithguard.types import (
    Attempt,
    Claim,
    Evidence,
    Exchange,
    Failure,
    Passage,
    Record,
    Repair,
    Report,
)

NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)

HOURS = Passage(
    text=(
        "The mill museum is open from Tuesday to Sunday, 10:00 to 17:00. On Mondays it is closed. "
        "Guided tours start at 11:00 and at 14:00 and last 45 minutes."
    ),
    source="visit/hours.md",
    origin="retriever",
    metadata={"score": 0.83, "chunk": 4},
)
TICKETS = Passage(
    text=(
        "A ticket costs 9 EUR, and 5 EUR for students. Children under six enter free of charge. "
        "Tickets are sold at the desk and are not refunded."
    ),
    source="visit/tickets.md",
    origin="retriever",
    metadata={"score": 0.79},
)
WHEEL = Passage(
    text="The great wheel was built in 1788 and has a diameter of 6.2 m. It still turns.",
    source="house/wheel.md",
    origin="tool",
    hop=1,
)
PARKING = Passage(
    text="The car park behind the mill has 40 places and is free for visitors.",
    source="visit/parking.md",
    origin="retriever",
    seen=False,
)

ANSWER = (
    "The museum is open from Tuesday to Sunday, 10:00 to 17:00. A ticket costs 9 EUR. "
    "Guided tours start at 11:00 and last 90 minutes. The great wheel was built in 1788. "
    "The café serves waffles. The car park behind the mill has 40 places. Another question?"
)


def exchange(answer: str, *passages: Passage, id: str = "x1", **rest: object) -> Exchange:
    """Return an exchange about the museum."""
    return replace(
        Exchange(
            id=id,
            answer=answer,
            passages=passages,
            question="When is the mill museum open, and what does it cost?",
            domain="support",
            context_source="retrieval",
            tags=("prompt-7",),
            started_at=NOW,
        ),
        **rest,  # type: ignore[arg-type]
    )


def record_of(exchange: Exchange, *, attempts: Sequence[Attempt] = ()) -> Record:
    """Return a guard's record of an exchange, checked by the local cascade."""
    attempts = attempts or (Attempt(exchange=exchange, report=reported(exchange)),)
    report = attempts[-1].report
    return Record(
        exchange=exchange,
        report=report,
        decision=decide(report, exchange.domain),
        attempts=tuple(attempts),
        versions=report.versions,
        timings={"retrieve": 0.042, "generate": 1.31, "verify": report.usage.seconds},
        cost=0.00042,
    )


def reported(exchange: Exchange) -> Report:
    """Return the real report of an exchange."""
    found = check(exchange.answer, exchange.passages, question=exchange.question)
    return replace(found, exchange=exchange)


def mixed(id: str = "mixed", **rest: object) -> Record:
    """Return a record with claims of several labels and causes, over two hops."""
    return record_of(exchange(ANSWER, HOURS, TICKETS, WHEEL, PARKING, id=id, **rest))


def faithful(id: str = "good", **rest: object) -> Record:
    """Return a record whose answer stands in its passages."""
    answer = "The museum is closed on Mondays. A ticket costs 9 EUR."
    return record_of(exchange(answer, HOURS, TICKETS, id=id, **rest))


def rewritten(id: str = "rewritten") -> Record:
    """Return a record of two attempts: the first does not pass, the second does."""
    first = exchange(
        "A ticket costs 12 EUR, and it is refunded. Guided tours last 45 minutes.",
        HOURS,
        TICKETS,
        id=id,
    )
    second = replace(first, answer="A ticket costs 9 EUR. Guided tours last 45 minutes.")
    return record_of(
        second, attempts=[Attempt(exchange=e, report=reported(e)) for e in (first, second)]
    )


def repaired(id: str = "repaired") -> Record:
    """Return a record of a repair: one sentence was put right, its attempts say from what."""
    before = "A ticket costs 12 EUR."
    first = exchange(f"{before} Children under six enter free of charge.", TICKETS, id=id)
    second = replace(first, answer=first.answer.replace("12 EUR", "9 EUR"))
    record = record_of(
        second, attempts=[Attempt(exchange=e, report=reported(e)) for e in (first, second)]
    )
    start = TICKETS.text.index("A ticket costs 9 EUR")
    quote = TICKETS.text[start : start + 20]
    fix = Repair(
        span=(0, len(before)),
        before=before,
        after="A ticket costs 9 EUR.",
        evidence=(Evidence(passage=0, start=start, end=start + 20, quote=quote),),
    )
    return replace(record, repairs=(fix,))


HOSTILE = (
    "<script>window.hurt = 1</script> <img src=x onerror='window.hurt = 1'> "
    "[a link](javascript:window.hurt=1) \x1b[31mred\x1b[0m \u202egnp.exe\u202c "
    "<style>body{display:none}</style> " + "W" * 5_000 + " </textarea></svg>"
)
"""What an answer, a passage or a question can hold."""


def hostile(id: str = "<b>id</b>") -> Record:
    """Return a record all of whose texts are hostile."""
    passage = Passage(
        text=HOSTILE, source="javascript:window.hurt=1", metadata={"<u>k": {"<i>": HOSTILE}}
    )
    given = exchange(HOSTILE, passage, id=id, question=HOSTILE, tags=("<b>tag</b>", "\x1b[2J"))
    start = HOSTILE.index("[a link]")
    claim = Claim(
        id="c1",
        text=HOSTILE,
        span=(start, start + 30),
        label="contradicted",
        p_supported=0.0312,
        evidence=(
            Evidence(passage=0, start=start, end=start + 30, quote=HOSTILE[start : start + 30]),
            Evidence(passage=7, start=0, end=4, quote="none"),
        ),
        reason=HOSTILE,
        cause="generation",
        verifier="<i>judge</i>@1",
    )
    record = record_of(given)
    report = replace(
        record.report, claims=(claim,), outcome="scored", score=0.0, total=1, supported=0
    )
    attempt = Attempt(exchange=given, report=report)
    return replace(record, report=report, decision=decide(report, "support"), attempts=(attempt,))


def scored(id: str = "scored") -> Record:
    """Return a record as `faithguard score` writes it: nobody was there to hold it back."""
    return replace(mixed(id), attempts=(), timings={})


def watched(id: str = "watched") -> Record:
    """Return a watcher's record: it can flag, and hold nothing back."""
    record = mixed(id)
    return replace(record, decision=replace(record.decision, action="flag"))


def wordy(id: str = "wordy") -> Record:
    """Return a record of two attempts with one endless word wherever there can be one."""
    word = "W" * 20_000
    passage = Passage(text=word, source=word, metadata={word: word})
    given = exchange(word, passage, id=id + word, question=word, tags=(word,))
    claim = Claim(
        id="c1",
        text=word,
        span=(0, len(word)),
        label="contradicted",
        p_supported=0.1,
        evidence=(Evidence(passage=0, start=0, end=len(word), quote=word),),
        reason=word,
        cause="generation",
        verifier=word,
    )
    report = replace(
        reported(given),
        claims=(claim,),
        outcome="scored",
        score=0.0,
        total=1,
        supported=0,
        failures=(Failure(kind="error", stage=word, message=word),),
    )
    first, last = (
        Attempt(exchange=one, report=replace(report, exchange=one))
        for one in (replace(given, answer=f"{word}."), given)
    )
    repair = Repair(span=(0, 9), before=word, after=f"{word}!", evidence=claim.evidence)
    return replace(
        record_of(given, attempts=(first, last)),
        decision=replace(decide(report, "support"), domain=word, reason=word),
        repairs=(repair,),
        timings={word: 1.0},
        versions={word: word},
    )


RTL = (
    "المتحف مفتوح من الثلاثاء إلى الأحد من الساعة 10:00 إلى 17:00. "
    "سعر التذكرة 9 EUR ويدخل الأطفال دون السادسة مجانا. "
    "بنيت العجلة الكبيرة عام 1788 وقطرها 6.2 متر. "
)


def right_to_left(size: int = 20_000, id: str = "rtl") -> Record:
    """Return a record of a long answer in Arabic, in paragraphs."""
    paragraph = RTL * 4 + "\n\n"
    answer = paragraph * (size // len(paragraph))
    return record_of(
        exchange(
            answer, Passage(text=RTL, source="ar/زيارة.md"), id=id, question="متى يفتح المتحف؟"
        )
    )


DOMAINS = ("support", "medical", "legal", "educational")


def many(count: int) -> Iterator[Record]:
    """Yield records of ten days, of four domains and two tags; each question is asked twice."""
    base = [mixed(), faithful(), rewritten(), record_of(exchange("I do not know.", HOURS))]
    for n in range(count):
        record = base[(n * n // 7 + n // 5) % len(base) if n % 3 else 1]
        asked = replace(
            record.exchange,
            id=f"r{n}",
            question=f"Question {n // 2} of many: when is the mill museum open?",
            tags=(f"prompt-{7 + n % 2}",),
            domain=DOMAINS[n % 4],
            started_at=NOW - timedelta(seconds=(count - n) * 864_000 / max(count, 1)),
        )
        report = replace(record.report, exchange=asked)
        yield replace(
            record,
            exchange=asked,
            report=report,
            decision=decide(report, asked.domain),
            attempts=(),
            timings={"verify": 0.02 + (n % 97) / 400},
        )


def store_of(path: Path, records: Iterator[Record] | Sequence[Record]) -> Path:
    """Write records to a store and return where it is."""
    with Store(path, read_only=False) as store:
        store.prune()  # makes the file, also where no record follows
        for record in records:
            store.add(record)
    return path
