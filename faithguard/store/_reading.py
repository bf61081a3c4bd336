"""A filter -> rows and counts, by SQL."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from faithguard.errors import ConfigError
from faithguard.policy import Policy
from faithguard.store._checked import seconds_of, text_of
from faithguard.store._values import Bucket, Figures, Filter, Pair, Row, Scores
from faithguard.store._writing import folded
from faithguard.types import Action, Cause, Label, Outcome

__all__ = ["Where", "count", "figures", "moment_of", "pairs", "rows", "scores", "series", "where"]

_COLUMNS = (
    "number, id, time, domain, outcome, level, passed, action, score, low, high, supported, total, "
    "attempts, repairs, calls, latency, cost, question, answer"
)
_SAME = "c.number = records.number"  # looked up one by one: a page ends the search
_SAY_NOTHING = ("abstained", "no_claims")
_STATING = f"outcome NOT IN {_SAY_NOTHING}"
_QUANTILES = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "max": 1.0}

_LAST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
"""Of the times that are; a damaged one is in no day."""

_T = TypeVar("_T")

Where = tuple[str, tuple[Any, ...]]
"""A condition on `records`, and what stands for its question marks."""


def where(filter: Filter | None) -> Where:
    """Return the condition of a filter, None for all records."""
    parts: list[str] = []
    values: list[Any] = []

    def add(condition: str, *arguments: Any) -> None:
        parts.append(condition)
        values.extend(arguments)

    filter = filter or Filter()
    for name in ("domain", "level", "outcome", "action"):
        if (value := getattr(filter, name)) is not None:
            add(f"records.{name} = ?", text_of(value, name))
    if filter.passed is not None:
        add("records.passed = ?", bool(filter.passed))
    if filter.since is not None:
        add("records.time >= ?", seconds_of(filter.since, "since"))
    if filter.until is not None:
        add("records.time < ?", seconds_of(filter.until, "until"))
    for name, column in (("label", "label"), ("cause", "cause")):
        if (value := getattr(filter, name)) is not None:
            add(
                f"EXISTS (SELECT 1 FROM claims c WHERE {_SAME} AND {column} = ?)",
                text_of(value, name),
            )
    if filter.tag is not None:
        add(f"EXISTS (SELECT 1 FROM tags c WHERE {_SAME} AND tag = ?)", text_of(filter.tag, "tag"))
    if filter.text:
        found = f"SELECT 1 FROM texts c WHERE {_SAME} AND instr(folded, ?)"
        add(f"EXISTS ({found})", folded(text_of(filter.text, "text")))
    return " AND ".join(parts) or "1", tuple(values)


def count(db: sqlite3.Connection, condition: Where) -> int:
    """Return how many records there are."""
    sql, values = condition
    (found,) = db.execute(f"SELECT count(*) FROM records WHERE {sql}", values).fetchone()
    return int(found)


def rows(db: sqlite3.Connection, condition: Where, *, order: str, limit: int) -> tuple[Row, ...]:
    """Return the rows of a condition in an order, such as "time DESC, number DESC"."""
    sql, values = condition
    found = db.execute(
        f"SELECT {_COLUMNS} FROM records WHERE {sql} ORDER BY {order} LIMIT ?", (*values, limit)
    ).fetchall()
    numbers = [row[0] for row in found]
    labels, causes = _claims_of(db, numbers)
    tags = _tags_of(db, numbers)
    said = dict(_by_number(db, "opinions", "count(DISTINCT claim)", numbers, "GROUP BY number"))
    return tuple(
        _row(row, labels[row[0]], causes[row[0]], tags[row[0]], said.get(row[0], 0))
        for row in found
    )


def _by_number(
    db: sqlite3.Connection, table: str, columns: str, numbers: Sequence[int], rest: str = ""
) -> list[Any]:
    marks = ", ".join("?" * len(numbers))
    return db.execute(
        f"SELECT number, {columns} FROM {table} WHERE number IN ({marks}) {rest}",
        numbers,
    ).fetchall()


def _claims_of(
    db: sqlite3.Connection, numbers: Sequence[int]
) -> tuple[dict[int, Counter[Any]], dict[int, Counter[Any]]]:
    labels: dict[int, Counter[Any]] = {number: Counter() for number in numbers}
    causes: dict[int, Counter[Any]] = {number: Counter() for number in numbers}
    for number, label, cause in _by_number(db, "claims", "label, cause", numbers):
        labels[number][label] += 1
        if cause is not None:
            causes[number][cause] += 1
    return labels, causes


def _tags_of(db: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    tags: dict[int, list[str]] = {number: [] for number in numbers}
    for number, tag in _by_number(db, "tags", "tag", numbers, "ORDER BY rowid"):
        tags[number].append(tag)
    return tags


def moment_of(seconds: Any) -> datetime:
    """Return a moment of a file; 1970 where that is damaged, so that the rest can be read."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _row(
    values: Sequence[Any],
    labels: Counter[Any],
    causes: Counter[Any],
    tags: Sequence[str],
    opinions: int,
) -> Row:
    (number, id_, time, domain, outcome, level, passed, action, score, low, high) = values[:11]
    (supported, total, attempts, repairs, calls, latency, cost, question, answer) = values[11:]
    return Row(
        number=number,
        id=_text(id_),
        time=moment_of(time),
        domain=_text(domain),
        outcome=outcome,
        level=level,
        passed=bool(passed),
        action=action,
        score=score,
        bounds=None if score is not None or low is None else (low, high),
        supported=supported,
        total=total,
        question=_text(question),
        answer=_text(answer),
        labels=dict(labels),
        causes=dict(causes),
        tags=tuple(tags),
        attempts=attempts,
        repairs=repairs,
        calls=calls,
        latency=latency,
        cost=cost,
        opinions=opinions,
    )


def series(
    db: sqlite3.Connection, condition: Where, by: Literal["day", "hour"]
) -> tuple[Bucket, ...]:
    """Return the days or hours in which there are answers, the oldest first."""
    sql, values = condition
    form = {"day": "%Y-%m-%d", "hour": "%Y-%m-%dT%H:00"}[by]
    found = db.execute(
        f"SELECT strftime('{form}', time, 'unixepoch', 'localtime') AS start, count(*), "
        f"sum({_STATING}), sum(passed AND {_STATING}) "
        f"FROM records WHERE ({sql}) AND time BETWEEN 0 AND ? GROUP BY start ORDER BY start",
        (*values, _LAST),
    )
    return tuple(
        Bucket(
            start=datetime.fromisoformat(start).astimezone(),
            answers=answers,
            stating=stating,
            passed=passed,
        )
        for start, answers, stating, passed in found
    )


def figures(db: sqlite3.Connection, condition: Where) -> Figures:
    """Return the counts over the records of a condition."""
    sql, values = condition

    def ask(select: str, rest: str = "", join: str = "") -> list[Any]:
        return db.execute(
            f"SELECT {select} FROM records {join} WHERE {sql} {rest}", values
        ).fetchall()

    groups = ask(
        "domain, ifnull(level, 'none'), outcome, action, count(*), sum(passed), sum(calls), "
        "sum(CASE WHEN cost BETWEEN 0 AND 1e300 THEN cost END)",
        "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2",
    )
    levels: dict[str, Counter[str]] = {}
    outcomes, actions = Counter[Outcome](), Counter[Action]()
    stating = passed = calls = 0
    costs: list[float] = []
    for domain, level, outcome, action, answers, passing, called, cost in groups:
        levels.setdefault(domain, Counter())[level] += answers
        outcomes[outcome] += answers
        actions[action] += answers
        calls += called
        if outcome not in _SAY_NOTHING:
            stating += answers
            passed += passing
        if cost is not None:
            costs.append(cost)
    claims, causes = Counter[Label](), Counter[Cause]()
    of_claims = "label, cause, count(*)", "GROUP BY 1, 2", "JOIN claims USING (number)"
    for label, cause, number in ask(*of_claims):
        claims[label] += number
        if cause is not None:
            causes[cause] += number
    tags = ask("tag, count(*)", "GROUP BY 1 ORDER BY 2 DESC, 1", "JOIN tags USING (number)")
    latencies = [found for (found,) in ask("latency", "AND latency BETWEEN 0 AND 1e300 ORDER BY 1")]
    return Figures(
        answers=outcomes.total(),
        stating=stating,
        passed=passed,
        outcomes=_counted(outcomes),
        actions=_counted(actions),
        claims=_counted(claims),
        causes=_counted(causes),
        levels={domain: dict(counts) for domain, counts in levels.items()},
        tags=dict(tags),
        latency={name: _quantile(latencies, share) for name, share in _QUANTILES.items()}
        if latencies
        else {},
        calls=calls,
        cost=sum(costs) if costs else None,
    )


def _counted(counts: Counter[_T]) -> dict[_T, int]:
    """Return counts, the highest first."""
    return dict(counts.most_common())


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value below or at which `share` of the values lie (nearest rank)."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def scores(db: sqlite3.Connection, condition: Where) -> Scores:
    """Return what other thresholds would have made of the answers."""
    sql, arguments = condition
    found = db.execute(
        "SELECT number, domain, outcome, passed, low, high, total "
        f"FROM records WHERE {_STATING} AND {sql}",
        arguments,
    ).fetchall()
    labelled: dict[str, Counter[int]] = {"contradicted": Counter(), "conflicting": Counter()}
    for number, label in db.execute(
        f"SELECT number, label FROM records JOIN claims USING (number) WHERE {sql} "
        "AND label IN ('contradicted', 'conflicting')",
        arguments,
    ):
        labelled[label][number] += 1
    rules: dict[str, Policy] = {}
    values: list[float] = []
    never = always = passing = 0
    for number, domain, outcome, passed, low, high, total in found:
        passing += passed
        if domain not in rules:
            rules[domain] = _rules(domain)
        policy = rules[domain]
        if outcome not in ("scored", "incomplete") or not total:
            always += passed
            never += not passed
        elif labelled["contradicted"][number] and policy.on_contradiction == "fail":
            never += 1
        else:
            score = high if policy.on_failure == "open" else low
            lost = labelled["conflicting"][number] if policy.on_conflict == "unsupported" else 0
            values.append(max(0.0, round(score - lost / total, 12)))
    return Scores(values=tuple(sorted(values)), never=never, always=always, passed=passing)


def _rules(domain: str) -> Policy:
    """Return the policy of a domain; one that is not known here is taken to be an open one."""
    try:
        return Policy.for_domain(domain)
    except ConfigError:
        return Policy(domain=domain, safe=1.0, warning=0.0)


def pairs(db: sqlite3.Connection, a: Where, b: Where, *, limit: int) -> tuple[Pair, ...]:
    """Return the questions that both conditions have, the last asked first."""
    last = (
        "SELECT asked, number, max(time) AS time FROM records "
        "WHERE asked IS NOT NULL AND {} GROUP BY asked"
    )
    found = db.execute(
        f"SELECT x.number, y.number FROM ({last.format(a[0])}) x "
        f"JOIN ({last.format(b[0])}) y USING (asked) ORDER BY max(x.time, y.time) DESC LIMIT ?",
        (*a[1], *b[1], limit),
    ).fetchall()
    numbers = sorted({number for pair in found for number in pair})
    condition = f"number IN ({', '.join(map(str, numbers))})", ()
    known = {row.number: row for row in rows(db, condition, order="number", limit=len(numbers))}
    return tuple(Pair(question=known[x].question, a=known[x], b=known[y]) for x, y in found)
