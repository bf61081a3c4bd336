"""The real thing: an index over hundreds of real passages, a real client, a failing server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import openai
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.schema import TextNode
from llama_index.llms.openai_like import OpenAILike

from faithguard import UnfaithfulAnswerError
from faithguard.testing import ChatServer
from faithguard_llama_index import FaithfulnessEvaluator, Watcher, guard, unwatch, watch
from faithguard_llama_index.testing import WordEmbedding
from tests.library import ASKED, asked_about, library, question, sentence

LIE = "The committee of marzipan bakers approved it in a secret ballot."
FALLBACK = "Please read the documentation."


@cache
def index() -> VectorStoreIndex:
    """Return a real vector index over what the standard library says of itself."""
    nodes = [TextNode(text=p.text, metadata={"source": p.source}) for p in library()]
    return VectorStoreIndex(nodes, embed_model=WordEmbedding())


def faithful(messages: list[dict[str, Any]]) -> Any:
    """Quote the passage."""
    return sentence(asked_about(messages))


def inventing(messages: list[dict[str, Any]]) -> Any:
    """Quote the passage and invent; once told so, only quote."""
    said = sentence(asked_about(messages))
    return said if LIE in str(messages) else f"{said} {LIE}"


class Mind:
    """What the server of all tests answers; a test sets `reply`."""

    def __init__(self) -> None:
        self.reply: Callable[[list[dict[str, Any]]], Any] = faithful

    def __call__(self, messages: list[dict[str, Any]]) -> Any:
        """Answer."""
        return self.reply(messages)


MIND = Mind()


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    """Start one server for all."""
    with ChatServer(MIND) as server:
        yield server


@pytest.fixture(autouse=True)
def _fresh(server: ChatServer) -> Iterator[None]:
    """Each test has a faithful server without requests, and leaves no watcher."""
    MIND.reply = faithful
    server.requests.clear()
    yield
    unwatch()


def llm(server: ChatServer) -> OpenAILike:
    """Return the real client for a server."""
    return OpenAILike(
        model="any",
        api_base=server.url,
        api_key="none",
        is_chat_model=True,
        context_window=16_000,
        max_retries=0,
        timeout=5.0,
    )


def query_engine(server: ChatServer, **settings: Any) -> Any:
    """Return a query engine as in any tutorial."""
    engine: Any = index().as_query_engine(llm=llm(server), similarity_top_k=4, **settings)
    return engine


def chat_engine(server: ChatServer, kind: Any = ContextChatEngine) -> Any:
    """Return a chat engine over the same index."""
    return kind.from_defaults(retriever=index().as_retriever(similarity_top_k=4), llm=llm(server))


async def _aread(stream: Any) -> str:
    return "".join([token async for token in stream.async_response_gen()])


async def _aquery_stream(server: ChatServer, wrap: Any, asked: str) -> str:
    return await _aread(await wrap(query_engine(server, streaming=True)).aquery(asked))


async def _achat_stream(server: ChatServer, wrap: Any, asked: str) -> str:
    return await _aread(await wrap(chat_engine(server)).astream_chat(asked))


async def _awaited(awaitable: Any) -> str:
    return str(await awaitable)


RUNS: dict[str, Callable[[ChatServer, Any, str], str]] = {
    "query": lambda s, wrap, q: str(wrap(query_engine(s)).query(q)),
    "aquery": lambda s, wrap, q: asyncio.run(_awaited(wrap(query_engine(s)).aquery(q))),
    "query, streaming": lambda s, wrap, q: "".join(
        wrap(query_engine(s, streaming=True)).query(q).response_gen
    ),
    "aquery, streaming": lambda s, wrap, q: asyncio.run(_aquery_stream(s, wrap, q)),
    "chat": lambda s, wrap, q: str(wrap(chat_engine(s)).chat(q)),
    "stream_chat": lambda s, wrap, q: "".join(wrap(chat_engine(s)).stream_chat(q).response_gen),
    "astream_chat": lambda s, wrap, q: asyncio.run(_achat_stream(s, wrap, q)),
    "condense plus context": lambda s, wrap, q: str(
        wrap(chat_engine(s, CondensePlusContextChatEngine)).chat(q)
    ),
}


def itself(engine: Any) -> Any:
    """Return the engine."""
    return engine


def watcher() -> Watcher:
    """Watch without a log line."""
    return watch(domain="support", sinks=[])


@pytest.mark.parametrize("run", RUNS)
def test_faithful_answers_are_supported(run: str, server: ChatServer) -> None:
    """Quotes of real documentation through the real client are supported, and pass the guard."""
    watching = watcher()
    for name in ASKED if run == "query" else ASKED[:2]:
        assert RUNS[run](server, itself, question(name)) == sentence(name)
    assert watching.wait(30)
    for report in watching.reports:
        assert report.decide("support").passed, (report.claims, report.exchange.question)
        assert report.exchange.context_source == "retrieval"
        assert report.exchange.finish_reason == "stop"
        assert sum(passage.seen for passage in report.exchange.passages) >= 4
    assert len(watching.reports) == (len(ASKED) if run == "query" else 2)
    assert watching.open_runs == 0
    unwatch()

    def wrap(engine: Any) -> Any:
        return guard(engine, sinks=[])

    assert RUNS[run](server, wrap, question(ASKED[0])) == sentence(ASKED[0])


@pytest.mark.parametrize("run", RUNS)
def test_invented_sentences_are_found(run: str, server: ChatServer) -> None:
    """An invented sentence is reported, blocked, and gone after one more attempt."""
    MIND.reply = inventing
    name = ASKED[2]
    watching = watcher()
    assert RUNS[run](server, itself, question(name)) == f"{sentence(name)} {LIE}"
    assert watching.wait(30)
    [report] = watching.reports
    assert [c.text for c in report.unsupported if "marzipan" in c.text]
    unwatch()

    with pytest.raises(UnfaithfulAnswerError):
        RUNS[run](server, lambda engine: guard(engine, sinks=[]), question(name))

    def falling_back(engine: Any) -> Any:
        return guard(engine, fallback=FALLBACK, sinks=[])

    def asking_again(engine: Any) -> Any:
        return guard(engine, on_fail="regenerate", sinks=[])

    assert RUNS[run](server, falling_back, question(name)) == FALLBACK
    before = len(server.requests)
    assert RUNS[run](server, asking_again, question(name)) == sentence(name)
    assert len(server.requests) == before + 2
    assert "marzipan" in str(server.requests[-1]["messages"][-1]["content"])


def test_many_callers_of_the_real_client_get_their_own_reports(server: ChatServer) -> None:
    """Concurrent calls over HTTP: every report holds its own question and answer."""
    watching = watcher()
    engine = query_engine(server)

    async def all_at_once() -> None:
        await asyncio.gather(*(engine.aquery(question(name)) for name in ASKED * 2))

    asyncio.run(all_at_once())
    assert watching.wait(30)
    assert len(watching.reports) == 2 * len(ASKED)
    for report in watching.reports:
        name = next(n for n in ASKED if f"does {n} do" in str(report.exchange.question))
        assert report.exchange.answer == sentence(name)
    assert watching.open_runs == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("fault", ["error", "busy"])
def test_a_fault_of_the_server_reaches_the_caller_as_it_is(
    fault: Any, run: str, server: ChatServer
) -> None:
    """Plain, watched and guarded engines fail with the same error; nothing stays open.

    LlamaIndex's own thread behind a chat's stream dies of the error, and hands it on.
    """
    MIND.reply = lambda messages: (fault, inventing(messages))
    watching = watcher()

    def wrap(engine: Any) -> Any:
        return guard(engine, sinks=[])

    kinds: list[type[BaseException]] = []
    for how in (itself, wrap):
        with pytest.raises(openai.APIStatusError) as raised:
            RUNS[run](server, how, question(ASKED[2]))
        kinds.append(raised.type)
    assert kinds[0] is kinds[1]
    assert watching.wait(30)
    assert watching.reports == ()
    assert watching.open_runs == 0


def test_a_cut_stream_is_judged_by_what_came(server: ChatServer) -> None:
    """Where the client takes a stream that broke off as an answer, the guard judges that."""
    MIND.reply = lambda messages: ("cut", inventing(messages))
    engine = query_engine(server, streaming=True)
    plain = "".join(engine.query(question(ASKED[2])).response_gen)
    held = guard(engine, domain="medical", fallback=FALLBACK, sinks=[])
    guarded = "".join(held.query(question(ASKED[2])).response_gen)
    assert plain
    assert guarded in (FALLBACK, plain)
    assert "marzipan" not in guarded


def test_a_fault_in_the_second_attempt_is_the_callers(server: ChatServer) -> None:
    """If the server fails when it is asked again, its error comes, and not the bad answer."""

    def reply(messages: list[dict[str, Any]]) -> Any:
        return ("error", "") if LIE in str(messages) else inventing(messages)

    MIND.reply = reply
    engine = chat_engine(server)
    held = guard(engine, on_fail="regenerate", fallback=FALLBACK, sinks=[])
    with pytest.raises(openai.InternalServerError):
        held.chat(question(ASKED[2]))
    assert engine.chat_history == []


def test_the_evaluator_judges_real_responses(server: ChatServer) -> None:
    """One import changes; what the real engine returned is judged by what its model saw."""
    evaluator = FaithfulnessEvaluator(domain="support")
    good = query_engine(server).query(question(ASKED[2]))
    MIND.reply = inventing
    bad = query_engine(server).query(question(ASKED[2]))

    assert evaluator.evaluate_response(response=good).passing
    result = evaluator.evaluate_response(response=bad)
    assert result.passing is False
    assert "marzipan" in str(result.feedback)
