"""The real thing: a few hundred real passages, a real client, a server that may misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any

import openai
import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI

from faithguard import UnfaithfulAnswerError
from faithguard.testing import ChatServer
from faithguard_langchain import guard
from faithguard_langchain.testing import PassageRetriever
from tests.library import ASKED, asked_about, library, question, sentence

from .scene import FALLBACK, LIE, only, seen, text_chain, watcher


def faithful(messages: list[dict[str, Any]]) -> str:
    """Quote the passage."""
    return sentence(asked_about(messages))


def inventing(messages: list[dict[str, Any]]) -> str:
    """Quote the passage and invent; once told so, only quote."""
    said = sentence(asked_about(messages))
    return said if len(messages) > 2 else f"{said} {LIE}"


def client(server: ChatServer, **settings: Any) -> ChatOpenAI:
    """Return the real client for a server."""
    fields = {"base_url": server.url, "api_key": "none", "model": "any", "max_retries": 0}
    return ChatOpenAI(**(fields | {"timeout": 5.0} | settings))


@cache
def shelf() -> PassageRetriever:
    """Return the retriever over the library, which is read once."""
    return PassageRetriever(passages=library(), k=4)


def chain(server: ChatServer, **settings: Any) -> Runnable[Any, Any]:
    """Return the chain over the library."""
    return text_chain(client(server, **settings), shelf())


_RUNNER = asyncio.Runner()
"""One loop for all: the real client keeps its connections, and they belong to a loop."""


async def _joined(stream: AsyncIterator[str]) -> str:
    return "".join([chunk async for chunk in stream])


RUNS: dict[str, Callable[[Runnable[Any, Any], str, Any], str]] = {
    "invoke": lambda c, q, config: c.invoke(q, config),
    "ainvoke": lambda c, q, config: _RUNNER.run(c.ainvoke(q, config)),
    "stream": lambda c, q, config: "".join(c.stream(q, config)),
    "astream": lambda c, q, config: _RUNNER.run(_joined(c.astream(q, config))),
}


class Mind:
    """What the server of all tests answers; a test sets `reply`."""

    def __init__(self) -> None:
        self.reply: Callable[[list[dict[str, Any]]], Any] = faithful

    def __call__(self, messages: list[dict[str, Any]]) -> Any:
        """Answer."""
        return self.reply(messages)


_MIND = Mind()


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[ChatServer, ChatServer]]:
    """Start a quick server and one that takes its time, once: to stop one takes a while."""
    with ChatServer(_MIND) as quick, ChatServer(_MIND, pause=0.1) as late:
        yield quick, late
        _RUNNER.close()


@pytest.fixture
def server(servers: tuple[ChatServer, ChatServer]) -> ChatServer:
    """The quick server."""
    servers[0].requests.clear()
    return servers[0]


@pytest.fixture
def late(servers: tuple[ChatServer, ChatServer]) -> ChatServer:
    """The server that takes its time."""
    return servers[1]


def test_there_are_hundreds_of_real_passages() -> None:
    """The corpus is what Python ships, not what a test made up."""
    assert len(library()) > 300
    assert {p.source for p in library()} >= set(ASKED)


def test_a_retriever_reads_what_it_is_given_later() -> None:
    """It keeps what it has read, and only as long as its passages stay the same."""
    first, second = library()[:2]
    retriever = PassageRetriever(passages=[first], k=1)
    assert [d.page_content for d in retriever.invoke(first.text)] == [first.text]
    retriever.passages = [first, second]
    assert [d.page_content for d in retriever.invoke(second.text)] == [second.text]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("run", RUNS)
def test_faithful_answers_are_supported(run: str, streaming: bool, server: ChatServer) -> None:
    """Quotes of real documentation through the real client are supported, and pass the guard."""
    watching = watcher()
    _MIND.reply = faithful
    real = chain(server, streaming=streaming)
    names = ASKED if run == "invoke" else ASKED[:2]
    for name in names:
        assert RUNS[run](real, question(name), {"callbacks": [watching]}) == sentence(name)
    assert RUNS[run](guard(real, sinks=[]), question(ASKED[0]), {}) == sentence(ASKED[0])
    bodies = [str(body["messages"]) for body in server.requests]
    assert watching.wait(30)
    assert [r.exchange.question for r in watching.reports] == [question(n) for n in names]
    for report, body in zip(watching.reports, bodies, strict=False):
        assert report.exchange.context_source == "retrieval"
        assert report.exchange.finish_reason == "stop"
        assert len(seen(report)) >= 4
        assert str(report.exchange.passages[0].source) in body
        assert report.decide("support").passed, (report.claims, report.exchange.question)
    assert watching.open_runs == 0


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("run", RUNS)
def test_invented_sentences_are_found(run: str, streaming: bool, server: ChatServer) -> None:
    """An invented sentence is reported, blocked, and gone after one more attempt."""
    watching, name = watcher(), ASKED[2]
    _MIND.reply = inventing
    real = chain(server, streaming=streaming)
    got = RUNS[run](real, question(name), {"callbacks": [watching]})
    assert got == f"{sentence(name)} {LIE}"
    with pytest.raises(UnfaithfulAnswerError):
        RUNS[run](guard(real, sinks=[]), question(name), {})
    blocked = guard(real, fallback=FALLBACK, sinks=[])
    assert RUNS[run](blocked, question(name), {}) == FALLBACK
    before = len(server.requests)
    again = guard(real, on_fail="regenerate", sinks=[])
    assert RUNS[run](again, question(name), {}) == sentence(name)
    assert len(server.requests) == before + 2
    assert "marzipan" in str(server.requests[-1]["messages"][-1]["content"])
    report = only(watching)
    assert [c.label for c in report.claims if "marzipan" in c.text] == ["not_mentioned"]
    assert report.supported == report.total - 1


def test_the_cause_of_an_invented_sentence_is_that_nothing_mentions_it(server: ChatServer) -> None:
    """The words of the question do not make an invented subject one that was retrieved."""
    watching = watcher()
    _MIND.reply = inventing
    chain(server).invoke(question(ASKED[2]), {"callbacks": [watching]})
    invented = next(c for c in only(watching).claims if "marzipan" in c.text)
    assert invented.cause == "retrieval", invented.text


def test_many_callers_of_the_real_client_get_their_own_reports(server: ChatServer) -> None:
    """Concurrent calls over HTTP: every report holds its own question and answer."""
    watching = watcher()
    _MIND.reply = faithful
    real = chain(server)
    questions = [question(name) for name in ASKED] * 2
    _RUNNER.run(real.abatch(questions, {"callbacks": [watching], "max_concurrency": 8}))
    assert watching.wait(30)
    assert len(watching.reports) == len(questions)
    for report in watching.reports:
        name = next(n for n in ASKED if f"does {n} do" in str(report.exchange.question))
        assert report.exchange.answer == sentence(name)
    assert watching.open_runs == 0


# -- a server that misbehaves -----------------------------------------------------------------

ERRORS: dict[str, type[Exception]] = {
    "error": openai.InternalServerError,
    "busy": openai.RateLimitError,
    "slow": openai.APITimeoutError,
}


def _outcome(run: Callable[[], str]) -> str | Exception:
    try:
        return run()
    except Exception as error:
        return error


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("fault", ["error", "busy", "html", "cut", "garbage", "slow"])
def test_a_fault_of_the_server_reaches_the_caller_as_it_is(
    fault: Any, run: str, streaming: bool, server: ChatServer, late: ChatServer
) -> None:
    """Plain, watched and guarded chains fail with the same kind of error; nothing stays open.

    Where the client takes what came as an answer (a cut stream), the guard judges that answer.
    """
    watching, name = watcher(), ASKED[2]
    _MIND.reply = lambda messages: (fault, inventing(messages))
    real = chain(server, streaming=streaming or fault == "cut")
    if fault == "slow":
        real = chain(late, streaming=streaming, timeout=0.05)
    plain = _outcome(lambda: RUNS[run](real, question(name), {}))
    watched = _outcome(lambda: RUNS[run](real, question(name), {"callbacks": [watching]}))
    own = guard(real, domain="medical", sinks=[])
    guarded = _outcome(lambda: RUNS[run](own, question(name), {}))
    assert watching.wait(30)
    assert watching.open_runs == 0
    assert type(watched) is type(plain)
    if isinstance(plain, Exception):
        assert isinstance(plain, ERRORS.get(fault, Exception))
        assert type(guarded) is type(plain)
        assert watching.reports == ()
    else:
        assert watched == plain
        report = only(watching)
        assert report.exchange.answer == plain
        passed = report.decide("medical").passed
        assert guarded == plain if passed else isinstance(guarded, UnfaithfulAnswerError)


@pytest.mark.parametrize("run", RUNS)
def test_an_answer_without_text_has_a_sensible_outcome(run: str, server: ChatServer) -> None:
    """An empty answer is reported as no claims, and is no score."""
    watching = watcher()
    _MIND.reply = lambda _: ("empty", "")
    got = RUNS[run](chain(server), question(ASKED[0]), {"callbacks": [watching]})
    own = RUNS[run](guard(chain(server), sinks=[]), question(ASKED[0]), {})
    report = only(watching)
    assert got == own == ""
    assert (report.outcome, report.score, report.total) == ("no_claims", None, 0)


def test_a_fault_in_the_second_attempt_is_the_callers(server: ChatServer) -> None:
    """If the server fails when it is asked again, its error comes, and not the bad answer."""

    def reply(messages: list[dict[str, Any]]) -> Any:
        return ("error", "") if len(messages) > 2 else inventing(messages)

    _MIND.reply = reply
    own = guard(chain(server), on_fail="regenerate", fallback=FALLBACK, sinks=[])
    with pytest.raises(openai.InternalServerError):
        own.invoke(question(ASKED[2]))


def test_a_call_that_is_cancelled_over_http_leaves_nothing(late: ChatServer) -> None:
    """A timeout around a real streamed call ends it; the watcher holds nothing."""
    watching = watcher()

    async def run(real: Runnable[Any, Any]) -> None:
        config: Any = {"callbacks": [watching]}
        stream = real.astream(question(ASKED[2]), config)
        await anext(stream)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_joined(stream), 0.15)

    _MIND.reply = faithful
    _RUNNER.run(run(chain(late, streaming=True)))
    assert watching.wait(30)
    assert watching.open_runs == 0
    assert watching.reports == ()


def test_the_real_clients_messages_are_understood(server: ChatServer) -> None:
    """A chain that ends in the real client's message keeps usage and gets the decision."""
    _MIND.reply = faithful
    real = text_chain(client(server), shelf())
    ends_in_message: Any = real.steps[0] | real.steps[1] | real.steps[2]  # type: ignore[attr-defined]
    message = guard(ends_in_message, sinks=[]).invoke(question(ASKED[2]))
    assert isinstance(message, BaseMessage)
    assert message.response_metadata["faithguard"]["passed"]
    assert message.usage_metadata  # type: ignore[attr-defined]
