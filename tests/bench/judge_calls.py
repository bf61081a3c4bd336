"""What a judge costs: calls, tokens and seconds for one answer, ours beside the peers.

    pip install ".[dev,peers]" && python -m tests.bench.judge_calls

In: answers of 12 claims over 6 passages of 500 tokens, and a server on loopback that takes 300 ms
and 10 ms for each token that it writes, as a hosted model does. It says to everybody what an
honest model would, in the form that each asks for. Out: a markdown table: means over the answers,
each asked once, after one that is not counted. Tokens are those of messages, schemas and replies,
by one rule for all. Exit 1 if ours does not keep to its calls, or a peer that checks as much needs
no more tokens or no more time, or a request came that the server could not make anything of; exit
2 if a peer is missing. Those that write claims of their own are measured by all of our modes;
TruLens, which checks the sentences of an answer as they stand, by those that do so as well.
"""

from __future__ import annotations

import json
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from faithguard import OpenAIJudge, Scorer
from faithguard.testing import ChatServer, honest, spoken
from faithguard.types import Exchange, Passage
from tests.bench._common import table
from tests.bench._peers import PEERS, Peer, Reading
from tests.bench._texts import KINDS, MONTHS, OBJECTS, PLACES, THINGS, UNITS

SEED = 3
ANSWERS = 2
CLAIMS = 12
SILENT = 3
"""Claims of an answer that no passage says."""
PASSAGES = 6
PASSAGE_TOKENS = 500

FIRST = 0.3
EACH = 0.01
"""Seconds before a reply, and for each token of it."""

_TOKEN = re.compile(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]{1,3}|_")

Run = Callable[[str, Exchange], None]
Case = tuple[Exchange, Reading]


def tokens(text: str) -> int:
    """Return about how many tokens a text has: eight letters, three digits or marks in a row."""
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True, slots=True)
class Spent:
    """What one way to check cost."""

    calls: int = 0
    asked: int = 0
    """Tokens of messages and schemas."""
    wrote: int = 0
    """Tokens of replies."""
    seconds: float = 0.0

    def row(self) -> list[str]:
        """Return the cells of the table, as means."""
        return [
            f"{self.calls / ANSWERS:g}",
            f"{self.asked / ANSWERS:,.0f}",
            f"{self.wrote / ANSWERS:,.0f}",
            f"{(self.asked + self.wrote) / ANSWERS:,.0f}",
            f"{self.seconds / ANSWERS:.1f} s",
        ]

    def beaten_by(self, other: Spent) -> bool:
        """Say whether another needs no more tokens or no more time."""
        ours, theirs = self.asked + self.wrote, other.asked + other.wrote
        return theirs <= ours or other.seconds <= self.seconds


@dataclass(slots=True)
class Model:
    """The scripted model behind the server: says what is true, as slowly as a model."""

    reading: Reading
    slow: bool
    wrote: int = 0
    unknown: list[str] = field(default_factory=list[str])
    """Beginnings of requests that it could not make anything of."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        """Answer a request."""
        reply = self._reply(messages)
        with self._lock:
            self.wrote += tokens(reply)
        if self.slow:
            time.sleep(FIRST + EACH * tokens(reply))
        return reply

    def _reply(self, messages: list[dict[str, Any]]) -> str:
        messages = [{**message, "content": _text(message["content"])} for message in messages]
        user = messages[-1]["content"]
        if user.startswith("DATA "):
            return spoken(honest(_as_table(self.reading.known)), user)
        for peer in PEERS:
            if (reply := peer.say(messages, self.reading)) is not None:
                return reply
        self.unknown.append(user[:200])
        return "{}"


def _text(content: object) -> str:
    """Return a message's text, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content)
    return str(content)


def _as_table(known: Mapping[str, str]) -> dict[str, tuple[str, list[str]]]:
    """Return what is known in the form of the scripted judge."""
    return {
        claim: ("supported", [stretch]) if stretch else ("not_mentioned", [])
        for claim, stretch in known.items()
    }


def cases(count: int) -> Iterator[Case]:
    """Yield exchanges, each with what is true of its claims."""
    rng = random.Random(SEED)
    for number in range(count):
        passages, said = [], []
        for _ in range(PASSAGES):
            text = ""
            while tokens(text) < PASSAGE_TOKENS:
                said.append(_fact(rng))
                head = f"As the {rng.choice(KINDS)} record of {rng.choice(MONTHS)} has it"
                text += f"{head}, {said[-1]}. "
            passages.append(Passage(text=text.strip()))
        facts = [(fact, fact) for fact in rng.sample(said, CLAIMS - SILENT)]
        facts += [(_fact(rng), "") for _ in range(SILENT)]
        rng.shuffle(facts)
        known = {f"{fact[0].upper()}{fact[1:]}.": stretch for fact, stretch in facts}
        exchange = Exchange(
            id=f"x{number}",
            question="What do the records say?",
            answer=" ".join(known),
            passages=tuple(passages),
        )
        yield exchange, Reading(known)


def _fact(rng: random.Random) -> str:
    return (
        f"the {rng.choice(KINDS)} {rng.choice(THINGS)} of {rng.choice(PLACES)} keeps "
        f"{rng.randint(11, 990)} {rng.choice(UNITS)} of {rng.choice(OBJECTS)}"
    )


def _ours(url: str, exchange: Exchange, *, claims: str, alone: bool) -> None:
    """Score by a judge behind a server; it must find what is true."""
    judge = OpenAIJudge("any", url, "none", claims=claims)
    report = (Scorer(verifiers=[judge]) if alone else Scorer(judge=judge)).score(exchange)
    if (report.supported, report.total) != (CLAIMS - SILENT, CLAIMS):
        raise SystemExit(f"{claims}: {report!r}, {report.failures}")


OURS: Mapping[str, tuple[int, Run]] = {
    "after the local verifiers": (1, partial(_ours, claims="local", alone=False)),
    "local claims": (1, partial(_ours, claims="local", alone=True)),
    "extracted and judged together": (1, partial(_ours, claims="together", alone=True)),
    "extracted claims": (2, partial(_ours, claims="extracted", alone=True)),
}
"""The most calls for an answer, and how it is scored."""


AS_MUCH: Mapping[str, tuple[str, ...]] = {
    "after the local verifiers": ("claims", "sentences"),
    "local claims": ("claims", "sentences"),
    "extracted and judged together": ("claims",),
    "extracted claims": ("claims",),
}
"""What a peer must check to be compared."""


def measured(run: Run, some: Sequence[Case]) -> tuple[Spent, list[str]]:
    """Return what one way to check costs, and what the server did not understand."""
    spent, unknown = Spent(), list[str]()
    for number, (exchange, reading) in enumerate(some):
        model = Model(reading, slow=number > 0)
        with ChatServer(model) as server:
            started = time.perf_counter()
            run(server.url, exchange)
            seconds = time.perf_counter() - started
        unknown += model.unknown
        if number:  # the first one brings modules and templates in
            spent = Spent(
                calls=spent.calls + len(server.requests),
                asked=spent.asked + sum(map(_asked, server.requests)),
                wrote=spent.wrote + model.wrote,
                seconds=spent.seconds + seconds,
            )
    return spent, unknown


def _asked(body: Mapping[str, Any]) -> int:
    """Return the tokens of a request; schemas and tools are read by a model as well."""
    messages = sum(tokens(_text(message["content"])) for message in body["messages"])
    forms = [body[name] for name in ("response_format", "tools", "functions") if body.get(name)]
    return messages + sum(tokens(json.dumps(form)) for form in forms)


def main() -> None:
    """Print the table."""
    some = list(cases(ANSWERS + 1))
    rows: list[list[str]] = []
    faults: list[str] = []
    ours: dict[str, Spent] = {}
    for name, (most, run) in OURS.items():
        ours[name], unknown = measured(run, some)
        rows.append([f"faithguard, {name}", "claims", *ours[name].row()])
        faults += [f"{name}: not understood: {text!r}" for text in unknown]
        if ours[name].calls > most * ANSWERS:
            faults.append(f"{name}: more than {most} calls for an answer")
    missing = []
    for peer in PEERS:
        if (release := _release(peer)) is None:
            missing.append(peer.package)
            continue
        spent, unknown = measured(peer.run, some)
        rows.append([f"{peer.name} {release}", peer.checks, *spent.row()])
        faults += [f"{peer.name}: not understood: {text!r}" for text in unknown]
        faults += [
            f"{name}: no better than {peer.name}"
            for name, own in ours.items()
            if peer.checks in AS_MUCH[name] and own.beaten_by(spent)
        ]
    head = ["", "checks", "calls", "tokens asked", "tokens written", "tokens", "time"]
    print(f"One answer of {CLAIMS} claims over {PASSAGES} passages of {PASSAGE_TOKENS} tokens\n")
    table(head, rows)
    print("\n".join(faults))
    if missing:
        print(f"not installed: {', '.join(missing)}; pip install '.[peers]'", file=sys.stderr)
    raise SystemExit(1 if faults else 2 if missing else 0)


def _release(peer: Peer) -> str | None:
    try:
        return version(peer.package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
