"""Doubles and contract suites, for our tests and for yours.

In: nothing of a model, a network or a clock. Out: verifiers that say what a table says, time
and ids that can be repeated, a server on loopback that speaks the OpenAI protocols and can be
told to misbehave, a server of scripted judges that misbehave in all known ways, and the
checks that every verifier and sink must pass.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal, cast

from faithguard._judges import (
    MISBEHAVIOURS,
    Asked,
    JudgeServer,
    Raw,
    Script,
    honest,
    lazy,
    obeys,
    spoken,
)
from faithguard._loopback import LoopbackServer
from faithguard._protocols import Spoken, events, messages_in, whole
from faithguard.policy import decide
from faithguard.scorer import Scorer
from faithguard.sinks import AnySink, Sink
from faithguard.types import Claim, Exchange, Failure, Passage, Record, Verdict
from faithguard.verifiers import Context, Finding, Verifier

__all__ = [
    "MISBEHAVIOURS",
    "Asked",
    "ChatServer",
    "Clock",
    "Fault",
    "JudgeServer",
    "Raw",
    "Script",
    "TableVerifier",
    "check_sink",
    "check_verifier",
    "example_record",
    "honest",
    "ids",
    "lazy",
    "obeys",
    "spoken",
]


class Clock:
    """Seconds that pass only when told to, or by a step at each look."""

    def __init__(self, start: float = 0.0, *, step: float = 0.0) -> None:
        self._now = start
        self._step = step

    def __call__(self) -> float:
        """Return the seconds."""
        self._now += self._step
        return self._now

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds


def ids(prefix: str = "x") -> Callable[[], str]:
    """Return a source of ids that counts: x1, x2, ..."""
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers)}"


class TableVerifier:
    """Say of each claim what a table says.

    Args:
        table: Claim text -> probability in [0, 1], None for silence, or an exception to raise.
            "*" stands for every other claim; without it they get silence.
        name: `name@version`.
        seconds: How long each call takes.
    """

    def __init__(
        self,
        table: Mapping[str, float | Exception | None],
        name: str = "table@1",
        *,
        seconds: float = 0.0,
    ) -> None:
        self._table = table
        self._name = name
        self._seconds = seconds
        self.asked: list[str] = []
        """The claims that were asked, in order."""

    @property
    def name(self) -> str:
        """`name@version`."""
        return self._name

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what the table says."""
        self.asked += [claim.text for claim in claims]
        if self._seconds:
            time.sleep(self._seconds)
        return [self._finding(claim) for claim in claims]

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return what the table says."""
        self.asked += [claim.text for claim in claims]
        await asyncio.sleep(self._seconds)
        return [self._finding(claim) for claim in claims]

    def _finding(self, claim: Claim) -> Finding:
        said = self._table.get(claim.text, self._table.get("*"))
        if isinstance(said, Exception):
            raise said
        if said is None:
            return None
        label: Literal["supported", "not_mentioned"] = (
            "supported" if said >= 0.5 else "not_mentioned"
        )
        return Verdict(claim=claim.id, label=label, p_supported=said, verifier=self._name)


def check_verifier(verifier: Verifier) -> None:
    """Check what every verifier must do; raises AssertionError with what it does not.

    One finding for each claim and under its id, in order; probabilities in [0, 1]; quotes that
    stand in the passages; the same from `verify` and `averify`; no change by repetition, by the
    order of the claims or by other claims beside; no crash on empty and hostile text.
    """
    name, _, version = verifier.name.partition("@")
    _require(bool(name and version), f"`name` is {verifier.name!r}, not `name@version`")
    passages = [
        Passage(text="The reading room opens at 9:00 and closes at 17:30. It has 48 seats."),
        Passage(
            text="Bags larger than 40 cm are not allowed.\x00 \u202eegral oot\u202c \U0001f4da"
        ),
    ]
    texts = [
        "The reading room has 48 seats.",
        "The reading room has 84 seats.",
        "Bags larger than 40 cm are allowed.",
        "Coffee is served on the roof.",
        "\U0001f4da",
        "x" * 5_000,
        "",
    ]
    claims = [Claim(id=f"c{n}", text=text, span=(0, 0)) for n, text in enumerate(texts)]
    exchange = Exchange(id="contract", answer="", passages=tuple(passages))
    first = list(verifier.verify(claims, Context(passages)))
    _require(len(first) == len(claims), f"{len(first)} findings for {len(claims)} claims")
    for claim, finding in zip(claims, first, strict=True):
        if finding is None:
            continue
        _require(finding.claim == claim.id, f"a finding for {claim.id} names {finding.claim!r}")
        if isinstance(finding, Verdict):
            _require(finding.verifier == verifier.name, f"a verdict names {finding.verifier!r}")
            quoted = all(evidence.stands_in(exchange) for evidence in finding.evidence)
            _require(quoted, f"the evidence of {claim.id} does not stand in its passage")
    _require(list(verifier.verify(claims, Context(passages))) == first, "a second call differs")
    alone = [f for claim in claims for f in verifier.verify([claim], Context(passages))]
    _require(alone == first, "claims asked one by one get other verdicts")
    backwards = list(verifier.verify(claims[::-1], Context(passages)))
    _require(backwards[::-1] == first, "claims in another order get other verdicts")
    _require(list(verifier.verify([], Context(passages))) == [], "no claims must give no findings")
    twin = _await(verifier.averify(claims, Context(passages)))
    _require(list(twin) == first, "`averify` differs from `verify`")
    verifier.verify(claims, Context([]))


def check_sink(sink: AnySink, stored: Callable[[], int]) -> None:
    """Check what every sink must do; raises AssertionError with what it does not.

    Args:
        sink: To be written to, also from several threads at once.
        stored: How many records it holds now.
    """
    write = sink.write if isinstance(sink, Sink) else sink
    before = stored()
    write(example_record())
    _require(stored() == before + 1, "one record written is not one record stored")
    threads = [threading.Thread(target=write, args=(example_record(),)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _require(stored() == before + 17, "records written at once from threads are lost")


def example_record() -> Record:
    """Return a record with one claim of each verdict, hostile characters included."""
    answer = "The hall has 12 doors. It is \x1b[31mred\x1b[0m. <script>alert(1)</script> Ask us?"
    exchange = Exchange(
        id="example",
        answer=answer,
        passages=(Passage(text="The hall has 12 doors.", source="hall.md"),),
        question="How many doors?",
    )
    report = Scorer(verifiers=[TableVerifier({"The hall has 12 doors.": 0.9, "*": 0.1})]).score(
        exchange
    )
    return Record(exchange=exchange, report=report, decision=decide(report, "support"))


def _require(held: bool, message: str) -> None:
    if not held:
        raise AssertionError(message)


def _await(awaitable: Any) -> Sequence[Finding | Failure]:
    async def run() -> Any:
        return await awaitable if inspect.isawaitable(awaitable) else awaitable

    return cast("Sequence[Finding | Failure]", asyncio.run(run()))


Fault = Literal["error", "busy", "html", "cut", "garbage", "empty", "slow"]
"""How a `ChatServer` can misbehave: status 500; 429 with Retry-After; a page with status 200;
a stream that ends in the middle; JSON that is none; an answer without text; a late answer."""


class ChatServer(LoopbackServer):
    """An OpenAI-compatible server on loopback of chat completions and responses, streaming or not.

        with ChatServer(lambda messages: "It opens at 9:00.") as server:
            model = ChatOpenAI(base_url=server.url, api_key="none", model="any")

    Args:
        reply: What to answer to messages (dicts with `role` and `content`; the items of a
            response's input, after its instructions): a text, a fault with one, or a list of
            dicts: the message of each choice, or the items of a response's output.
        pause: Seconds between the pieces of a stream, and before a late answer.
    """

    root = "/v1"

    def __init__(
        self,
        reply: Callable[[list[dict[str, Any]]], Spoken | tuple[Fault, str]],
        *,
        pause: float = 0,
    ) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests."""
        self._reply = reply
        self._pause = pause

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        asked = json.loads(body)
        self.requests.append(asked)
        said = self._reply(messages_in(asked))
        fault, text = cast(
            "tuple[Fault | None, Spoken]", said if isinstance(said, tuple) else (None, said)
        )
        self._respond(handler, asked, fault, text)

    def _respond(
        self,
        handler: BaseHTTPRequestHandler,
        body: dict[str, Any],
        fault: Fault | None,
        text: Spoken,
    ) -> None:
        if fault == "error":
            _send(handler, 500, {"error": {"message": "the model is not well"}})
        elif fault == "busy":
            _send(handler, 429, {"error": {"message": "slow down"}}, {"retry-after": "0"})
        elif fault == "html":
            _send(handler, 200, "<html><body>a gateway's page</body></html>", kind="text/html")
        elif fault == "garbage":
            _send(handler, 200, '{"choices": [{"mess', kind="application/json")
        else:
            if fault == "slow":
                time.sleep(self._pause)
            said = "" if fault == "empty" else text
            if body.get("stream"):
                _stream(handler, body, said, cut=fault == "cut", pause=self._pause)
            else:
                _send(handler, 200, whole(body, said))


def _stream(
    handler: BaseHTTPRequestHandler, body: dict[str, Any], said: Spoken, *, cut: bool, pause: float
) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()
    handler.close_connection = True
    sent = list(events(body, said))
    try:
        for name, data in sent[: len(sent) // 2] if cut else sent:
            named = f"event: {name}\n" if name else ""
            handler.wfile.write(f"{named}data: {json.dumps(data)}\n\n".encode())
            handler.wfile.flush()
            time.sleep(pause)
        if not cut and "messages" in body:
            handler.wfile.write(b"data: [DONE]\n\n")
    except (BrokenPipeError, ConnectionResetError):
        pass  # the client has left, as it may


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    content: object,
    headers: Mapping[str, str] | None = None,
    *,
    kind: str = "application/json",
) -> None:
    data = (content if isinstance(content, str) else json.dumps(content)).encode()
    handler.send_response(status)
    for name, value in {**(headers or {}), "content-type": kind}.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
