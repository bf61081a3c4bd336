"""The guard for LlamaIndex beyond leaks: what it delivers, tells, asks again and remembers."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.query_engine import (
    CustomQueryEngine,
    RetrieverQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import BaseModel

from faithguard import ConfigError, Policy, Record, Report, Scorer, UnfaithfulAnswerError
from faithguard.store import Store
from faithguard.testing import TableVerifier
from faithguard.types import Claim
from faithguard_llama_index import (
    GuardedChatEngine,
    GuardedQueryEngine,
    Reported,
    guard,
    unwatch,
    watch,
)
from faithguard_llama_index.testing import ScriptedLLM

from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    CHAT_WAYS,
    HOURS,
    LIE,
    PRICE,
    QUERY_ENGINES,
    QUERY_WAYS,
    QUESTION,
    TRUE,
    OneSubQuestion,
    Shelf,
    asking,
    condense_chat,
    context_chat,
    finds,
    memory,
    prompts_of,
    questioning,
    says,
    simple_chat,
    tool,
)

FALLBACK = "Please ask at the ticket desk."
NOTE = {*"passed action level domain attempts score supported total reason".split()}


def guarded(engine: Any, **settings: Any) -> Any:
    """Return a guard that logs nothing."""
    return guard(engine, **{"sinks": [], **settings})


def history(engine: Any) -> list[tuple[str, str]]:
    """Return who said what in a conversation."""
    return [(m.role.value, str(m.content)) for m in engine.chat_history]


def in_memory(*turns: str) -> list[tuple[str, str]]:
    """Return a conversation in which a user and an assistant speak in turn."""
    return [(("user", "assistant")[n % 2], text) for n, text in enumerate(turns)]


# -- what is delivered ------------------------------------------------------------------------


@pytest.mark.parametrize("way", QUERY_WAYS)
@pytest.mark.parametrize("shape", [s for s in QUERY_ENGINES if s not in ("own", "sub-questions")])
def test_a_faithful_answer_is_delivered_and_another_is_held_back(shape: str, way: str) -> None:
    """Every engine in every way of calling: what holds comes as it is, what does not raises."""
    streaming, ask = QUERY_WAYS[way]
    assert ask(guarded(QUERY_ENGINES[shape](says(TRUE), streaming)), QUESTION) == TRUE
    with pytest.raises(UnfaithfulAnswerError, match="1 of 2 claims"):
        ask(guarded(QUERY_ENGINES[shape](says(BAD), streaming)), QUESTION)


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_a_chat_remembers_what_the_user_saw(shape: str, way: str) -> None:
    """A block leaves the memory as it was; a fallback stands in it; a true answer does."""
    build, ask = CHAT_ENGINES[shape], CHAT_WAYS[way]
    chat = guarded(build(says(BAD)))
    with pytest.raises(UnfaithfulAnswerError):
        ask(chat, QUESTION)
    assert history(chat) == []
    chat = guarded(build(says(BAD)), fallback=FALLBACK)
    assert ask(chat, QUESTION) == FALLBACK
    assert history(chat) == in_memory(QUESTION, FALLBACK)
    chat = guarded(build(says(TRUE)))
    assert ask(chat, QUESTION) == TRUE
    assert history(chat) == in_memory(QUESTION, TRUE)


@pytest.mark.parametrize("way", QUERY_WAYS)
@pytest.mark.parametrize("shape", [s for s in QUERY_ENGINES if s not in ("own", "sub-questions")])
def test_a_mended_answer_is_delivered(shape: str, way: str) -> None:
    """Every engine in every way of calling: the sentence that failed is left out."""
    streaming, ask = QUERY_WAYS[way]
    safe = guarded(QUERY_ENGINES[shape](says(BAD), streaming), on_fail="repair")
    assert ask(safe, QUESTION) == HOURS
    with pytest.raises(UnfaithfulAnswerError, match="could not be mended"):
        ask(guarded(QUERY_ENGINES[shape](says(LIE), streaming), on_fail="repair"), QUESTION)


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_a_chat_remembers_what_was_mended(shape: str, way: str) -> None:
    """The memory holds the mended answer, and nothing of what was left out."""
    build, ask = CHAT_ENGINES[shape], CHAT_WAYS[way]
    chat = guarded(build(says(BAD)), on_fail="repair")
    assert ask(chat, QUESTION) == HOURS
    assert history(chat) == in_memory(QUESTION, HOURS)


def test_a_mended_response_says_so() -> None:
    """The note tells it; the record says what was changed, and on what evidence."""
    false = PRICE.replace("12", "21")
    safe = guarded(asking(says(f"{HOURS} {false}")), on_fail="repair").with_report()
    response, record = safe.query(QUESTION)
    note = response.metadata["faithguard"]
    assert str(response) == f"{HOURS} {PRICE}"
    assert (note["passed"], note["action"]) == (True, "repair")
    assert [(r.before, r.after) for r in record.repairs] == [("21 euros", "12 euros")]
    assert record.repairs[0].evidence[0].quote == PRICE


def test_more_context_reaches_the_model_and_is_evidence() -> None:
    """Blocking with a function, awaiting with a coroutine function."""
    wanted = "The observatory lends blankets."
    asked: list[str] = []

    def find(claims: tuple[Claim, ...]) -> list[str]:
        asked.extend(claim.text for claim in claims)
        return [wanted]

    async def afind(claims: tuple[Claim, ...]) -> list[str]:
        return find(claims)

    def engine(hook: Any) -> tuple[Any, ScriptedLLM]:
        llm = says(BAD, f"{HOURS} {wanted}")
        return guarded(asking(llm), on_fail="regenerate", more_context=hook), llm

    safe, llm = engine(find)
    assert str(safe.query(QUESTION)) == f"{HOURS} {wanted}"
    assert wanted in prompts_of(llm)[-1]
    safe, _ = engine(afind)
    assert str(asyncio.run(safe.aquery(QUESTION))) == f"{HOURS} {wanted}"
    assert asked == [LIE, LIE]
    with pytest.raises(ConfigError, match="would never be called"):
        guarded(asking(says(TRUE)), more_context=find)


def test_flag_delivers_the_answer_with_the_decision() -> None:
    """With `flag`, the response says why the answer did not pass, and holds all of it."""
    response = guarded(asking(says(BAD)), on_fail="flag").query(QUESTION)
    note = response.metadata["faithguard"]
    assert str(response) == BAD
    assert set(note) == NOTE
    assert (note["passed"], note["level"], note["score"]) == (False, "block", 0.5)
    assert "Quillfeather" not in str(note)


def test_the_rest_of_a_response_is_the_engines() -> None:
    """Nodes, their order and scores, and metadata are those of the engine itself."""
    plain = asking(says(TRUE)).query(QUESTION)
    response = guarded(asking(says(TRUE))).query(QUESTION)
    assert type(response) is type(plain) is Response
    assert response.source_nodes == plain.source_nodes
    assert {k: v for k, v in response.metadata.items() if k != "faithguard"} == plain.metadata


def test_streams_keep_their_types() -> None:
    """A streaming engine's response is one that streams, in one piece."""
    response = guarded(asking(says(TRUE), streaming=True)).query(QUESTION)
    assert isinstance(response, StreamingResponse)
    assert list(response.response_gen) == [TRUE]

    async def ask() -> Any:
        return await guarded(asking(says(TRUE), streaming=True)).aquery(QUESTION)

    assert isinstance(asyncio.run(ask()), AsyncStreamingResponse)


class Notice(BaseModel):
    """What a structured answer is made of."""

    answer: str


def test_an_object_is_delivered_as_an_object() -> None:
    """`output_cls`: the pydantic response passes with its object, or is held back."""
    said = json.dumps({"answer": TRUE})
    response = guarded(asking(says(said), output_cls=Notice)).query(QUESTION)
    assert isinstance(response, PydanticResponse)
    assert response.response == Notice(answer=TRUE)
    said = json.dumps({"answer": BAD})
    for on_fail in ("block", "repair"):
        safe = guarded(asking(says(said), output_cls=Notice), on_fail=on_fail, fallback=FALLBACK)
        response = safe.query(QUESTION)
        assert type(response) is Response
        assert str(response) == FALLBACK


@pytest.mark.parametrize("said", [None, "", " \n"])
def test_an_answer_of_nothing_passes_as_it_is(said: Any) -> None:
    """No claim is made: score None, and nothing is raised."""

    class Silent(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return Response(said)

    response = guarded(Silent()).query(QUESTION)
    assert response.response == said
    assert response.metadata["faithguard"]["score"] is None


def test_the_prompts_are_the_engines() -> None:
    """Prompts are read and updated through the guard under the names that they had before."""
    llm = says(TRUE)
    engine = asking(llm)
    name = "response_synthesizer:text_qa_template"
    safe = guarded(engine)
    assert safe.get_prompts() == engine.get_prompts()
    safe.update_prompts({name: PromptTemplate("NOTES {context_str} ASKED {query_str}")})
    assert str(safe.query(QUESTION)) == TRUE
    assert "NOTES" in prompts_of(llm)[-1]


def test_what_is_retrieved_through_a_guard_is_what_the_engine_retrieves() -> None:
    """`retrieve` and `synthesize`, which engines around a guarded one call."""
    engine = asking(says(BAD))
    safe = guarded(engine)
    query = QueryBundle(QUESTION)
    nodes = safe.retrieve(query)
    assert nodes == engine.retrieve(query)
    with pytest.raises(UnfaithfulAnswerError):
        safe.synthesize(query, nodes)
    with pytest.raises(UnfaithfulAnswerError):
        asyncio.run(safe.asynthesize(query, nodes))


# -- what is told -----------------------------------------------------------------------------


def test_with_report_returns_response_and_record() -> None:
    """All ways of calling, with the record of all attempts; also of a block with a fallback."""
    safe = guarded(asking(says(BAD, TRUE)), on_fail="regenerate").with_report()
    reported = safe.query(QUESTION)
    assert isinstance(reported, Reported)
    assert str(reported.output) == TRUE
    assert [attempt.exchange.answer for attempt in reported.record.attempts] == [BAD, TRUE]
    reported = asyncio.run(
        guarded(asking(says(BAD)), fallback=FALLBACK).with_report().aquery(QUESTION)
    )
    assert str(reported.output) == FALLBACK
    assert reported.record.decision.action == "block"
    assert reported.report.exchange.answer == BAD


def test_chats_with_report() -> None:
    """The four ways of a chat engine return a `Reported`, and the inner guard's is not it."""

    async def all_of_them() -> list[Reported]:
        chat = guarded(condense_chat(says(TRUE))).with_report()
        return [
            chat.chat(QUESTION),
            await chat.achat(QUESTION),
            chat.stream_chat(QUESTION),
            await chat.astream_chat(QUESTION),
        ]

    for reported in asyncio.run(all_of_them()):
        assert reported.record.exchange.answer == TRUE
    inner = guarded(asking(says(HOURS)))
    outer = guarded(inner).with_report().query(QUESTION)
    assert outer.record.exchange.question == QUESTION


@pytest.mark.parametrize("on_fail", ["flag", "block", "regenerate", "repair"])
def test_sinks_get_one_record_for_each_call(on_fail: Any) -> None:
    """One record and one report for a call, however many attempts it took."""
    records: list[Record] = []
    reports: list[Report] = []
    safe = guard(
        asking(says(BAD)),
        on_fail=on_fail,
        fallback=None if on_fail == "flag" else FALLBACK,
        sinks=[records.append],
        on_report=reports.append,
    )
    for _ in range(3):
        safe.query(QUESTION)
    assert safe.wait(30)
    assert len(records) == len(reports) == 3
    assert {len(r.attempts) for r in records} == {2 if on_fail == "regenerate" else 1}


def test_the_store_that_is_named_gets_what_goes_to_sinks_in_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAITHGUARD_STORE keeps every answer of guards and watchers, but where there are no sinks."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "records.db"))
    records: list[Record] = []
    watcher = watch("support", sinks=[records.append])
    asking(says(TRUE)).query(QUESTION)
    assert watcher.wait(30)
    unwatch()
    safe = guard(asking(says(TRUE)), sinks=[records.append])
    safe.query(QUESTION)
    guard(asking(says(TRUE)), sinks=[]).query(QUESTION)
    assert safe.wait(30)

    assert len(records) == 2
    assert {one.exchange.id for one in Store().records()} == {one.exchange.id for one in records}


def test_what_an_app_does_with_reports_cannot_change_the_outcome() -> None:
    """`on_report` and sinks that raise: answers are delivered and held back all the same."""

    def fail(_: Any) -> None:
        raise RuntimeError("full")

    safe = guard(asking(says(TRUE, BAD)), on_report=fail, sinks=[fail])
    assert str(safe.query(QUESTION)) == TRUE
    with pytest.raises(UnfaithfulAnswerError):
        safe.query(QUESTION)


def test_the_error_carries_all_attempts_and_no_text() -> None:
    """Report and record are there; its words are clean; it can be pickled."""
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded(asking(says(BAD)), on_fail="regenerate").query(QUESTION)
    error = caught.value
    assert error.record is not None
    assert [attempt.exchange.answer for attempt in error.record.attempts] == [BAD, BAD]
    assert all(attempt.exchange.started_at for attempt in error.record.attempts)
    assert "Quillfeather" not in f"{error} {error!r} {error.record!r}"
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert again.record == error.record


# -- settings ---------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no engine": (lambda: says(TRUE), "pass a query engine or a chat engine"),
    "a retriever": (finds, "pass a query engine or a chat engine"),
    "unknown domain": (lambda: guard(asking(says(TRUE)), domain="medcial"), "medical"),
    "unknown on_fail": (lambda: guard(asking(says(TRUE)), on_fail="shrug"), "regenerate"),  # type: ignore[call-overload]
    "fallback of flag": (
        lambda: guard(asking(says(TRUE)), on_fail="flag", fallback=FALLBACK),
        "never be used",
    ),
    "a number as fallback": (lambda: guard(asking(says(TRUE)), fallback=3), "a str or a query"),  # type: ignore[call-overload]
    "a chat as fallback of a query engine": (
        lambda: guard(asking(says(TRUE)), fallback=context_chat(says(TRUE))),
        "a str or a query engine",
    ),
    "a query engine as fallback of a chat": (
        lambda: guard(context_chat(says(TRUE)), fallback=asking(says(TRUE))),  # type: ignore[call-overload]
        "a str or a chat engine",
    ),
    "attempts of block": (lambda: guard(asking(says(TRUE)), max_attempts=3), "regenerate"),
    "no attempts": (
        lambda: guard(asking(says(TRUE)), on_fail="regenerate", max_attempts=0),
        "1 or more",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused(name: str) -> None:
    """A wrong setting is an error where it is made, and the message says what to use."""
    make, remedy = REFUSED[name]

    def made() -> Any:
        engine = make()
        return guard(engine) if not isinstance(engine, GuardedQueryEngine) else engine

    with pytest.raises(ConfigError, match=remedy):
        made()


class FromSettings(CustomQueryEngine):
    """An engine whose model is nowhere in it."""

    ask: Callable[[str], str]

    def custom_query(self, query_str: str) -> str:
        """Ask."""
        return self.ask(query_str)


def test_a_model_that_cannot_be_reached_is_refused() -> None:
    """`regenerate` needs a model to ask; `block` does not."""
    engine = FromSettings(ask=str.upper)
    with pytest.raises(ConfigError, match="make the model an attribute"):
        guarded(engine, on_fail="regenerate")
    assert guarded(engine).query("") is not None


class ListChat(BaseChatEngine):
    """A chat engine that keeps its history in a list."""

    def __init__(self, llm: Any, **parts: Any) -> None:
        self.llm = llm
        self.turns: list[Any] = []
        vars(self).update(parts)

    def chat(self, message: str, chat_history: Any = None) -> Any:
        """Answer."""
        return AgentChatResponse(self.llm.complete(message).text)

    async def achat(self, message: str, chat_history: Any = None) -> Any:
        """Answer."""
        return self.chat(message)

    def stream_chat(self, message: str, chat_history: Any = None) -> Any:
        """Do not."""
        raise NotImplementedError

    async def astream_chat(self, message: str, chat_history: Any = None) -> Any:
        """Do not."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget."""
        self.turns.clear()

    @property
    def chat_history(self) -> Any:
        """The turns."""
        return self.turns


def test_a_chat_without_a_memory_that_can_wait_is_refused() -> None:
    """A list in an engine takes an answer before it is verified."""
    with pytest.raises(ConfigError, match="keep the history in one"):
        guarded(ListChat(says(TRUE)))


class Single:
    """Something that cannot be copied, and holds a memory."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __copy__(self) -> Single:
        return self


def test_a_part_that_cannot_be_copied_is_refused() -> None:
    """To put a stand-in into it would change the engine itself."""
    with pytest.raises(ConfigError, match="a Single inside the engine cannot be copied"):
        guarded(ListChat(says(TRUE), part=Single(memory())))
    with pytest.raises(ConfigError, match="a Single inside"):
        guarded(ListChat(says(TRUE), memory=memory(), part=Single(says(""))), on_fail="regenerate")


def test_guards_are_engines_of_their_kind() -> None:
    """What is guarded passes for what it was, and says how it is guarded."""
    query, chat = guarded(asking(says(TRUE)), domain="medical"), guarded(context_chat(says(TRUE)))
    assert isinstance(query, GuardedQueryEngine)
    assert isinstance(chat, GuardedChatEngine)
    assert "medical" in repr(query)
    assert "block" in repr(chat)
    assert query.policy.domain == "medical"


def test_a_policy_decides() -> None:
    """A policy of one's own, with its own thresholds and `on_fail`."""
    lenient = Policy(domain="desk", safe=0.5, warning=0.4)
    assert str(guarded(asking(says(BAD)), domain=lenient).query(QUESTION)) == BAD
    flags = Policy(domain="desk", safe=0.9, warning=0.5, on_fail="flag")
    response = guarded(asking(says(BAD)), domain=flags).query(QUESTION)
    assert response.metadata["faithguard"]["passed"] is False


def test_a_scorer_of_ones_own_is_asked() -> None:
    """What it says is what counts."""
    scorer = Scorer(verifiers=[TableVerifier({"*": 1.0})])
    assert str(guarded(asking(says(BAD)), scorer=scorer).query(QUESTION)) == BAD


@pytest.mark.parametrize("build", [asking, context_chat])
def test_a_guard_can_be_copied_with_its_engine(build: Any) -> None:
    """A deep copy is a guard as well; the scorer and the sinks are shared."""
    other = copy.deepcopy(guarded(build(ScriptedLLM(reply=_lie))))
    with pytest.raises(UnfaithfulAnswerError):
        (other.query if build is asking else other.chat)(QUESTION)


def _lie(messages: Any) -> str:
    return BAD


# -- fallbacks --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", QUERY_WAYS)
def test_a_query_engine_as_fallback_is_asked_the_same(way: str) -> None:
    """It answers unverified, and its response says that the guarded answer did not pass."""
    streaming, ask = QUERY_WAYS[way]
    other = says(LIE)
    safe = guarded(asking(says(BAD), streaming), fallback=asking(other, streaming))
    assert ask(safe, QUESTION) == LIE
    assert QUESTION in prompts_of(other)[0]


def test_a_fallback_says_what_is_true_of_it() -> None:
    """An unguarded one carries the blocked answer's decision, a guarded one its own."""
    response = guarded(asking(says(BAD)), fallback=asking(says(TRUE))).query(QUESTION)
    assert response.metadata["faithguard"]["passed"] is False
    response = guarded(asking(says(BAD)), fallback=guarded(asking(says(TRUE)))).query(QUESTION)
    assert response.metadata["faithguard"]["passed"] is True
    with pytest.raises(UnfaithfulAnswerError):
        guarded(asking(says(BAD)), fallback=guarded(asking(says(BAD)))).query(QUESTION)


class Down(Shelf):
    """A retriever whose database is down."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise RuntimeError("down")


def test_a_fallback_that_fails_lets_nothing_out() -> None:
    """Its error is the caller's, and the memory is what it was."""
    with pytest.raises(RuntimeError, match="down") as caught:
        guarded(asking(says(BAD)), fallback=asking(says(TRUE), retriever=Down())).query(QUESTION)
    assert caught.value.__context__ is caught.value.__cause__ is None
    chat = guarded(context_chat(says(BAD)), fallback=context_chat(says(TRUE), retriever=Down()))
    with pytest.raises(RuntimeError, match="down"):
        chat.chat(QUESTION)
    assert history(chat) == []


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.parametrize("wrap", [lambda engine: engine, guarded])
def test_a_fallback_that_shares_the_memory_is_remembered_once(wrap: Any, way: str) -> None:
    """Two chat engines over one conversation: one turn of it, as the user saw it."""
    first, second = context_chat(says(BAD)), context_chat(says(TRUE))
    second._memory = first._memory
    chat = guarded(first, fallback=wrap(second))
    assert CHAT_WAYS[way](chat, QUESTION) == TRUE
    assert history(chat) == in_memory(QUESTION, TRUE)


def test_a_fallback_with_its_own_memory_keeps_it() -> None:
    """Both conversations hold the turn."""
    other = context_chat(says(TRUE))
    chat = guarded(context_chat(says(BAD)), fallback=other)
    chat.chat(QUESTION)
    assert history(chat) == history(other) == in_memory(QUESTION, TRUE)


def test_an_empty_text_is_a_fallback_too() -> None:
    """`fallback=""` delivers nothing rather than raising."""
    assert guarded(asking(says(BAD)), fallback="").query(QUESTION).response == ""


# -- asking again -----------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 5])
def test_max_attempts_counts_all_of_them(most: int) -> None:
    """The model is asked as often as that, and is told each time what did not hold."""
    llm = says(BAD)
    safe = guarded(asking(llm), on_fail="regenerate", max_attempts=most, fallback=FALLBACK)
    assert str(safe.query(QUESTION)) == FALLBACK
    assert [prompt.count("Do not mention this request") for prompt in prompts_of(llm)] == list(
        range(most)
    )


class Counting(Shelf):
    """A retriever that keeps what it was asked."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.__dict__.setdefault("queries", []).append(query_bundle.query_str)
        return super()._retrieve(query_bundle)


def test_retrieval_is_not_repeated_and_never_sees_feedback() -> None:
    """One query of the retriever for two attempts."""
    retriever = Counting(HOURS, PRICE)
    safe = guarded(asking(says(BAD, TRUE), retriever=retriever), on_fail="regenerate")
    assert str(safe.query(QUESTION)) == TRUE
    assert vars(retriever)["queries"] == [QUESTION]


@pytest.mark.parametrize("use_async", [False, True])
def test_only_who_wrote_what_failed_is_asked_again(use_async: bool) -> None:
    """Of two sub-answers the false one is written anew, and what rests on it."""
    right, wrong, sums_up = says(HOURS), says(LIE, PRICE), says(BAD, TRUE)
    engine = SubQuestionQueryEngine(
        OneSubQuestion(),
        get_response_synthesizer(llm=sums_up),
        [tool(asking(right), "hours"), tool(asking(wrong), "price")],
        verbose=False,
        use_async=use_async,
    )
    assert str(guarded(engine, on_fail="regenerate").query(QUESTION)) == TRUE
    assert [len(prompts_of(llm)) for llm in (right, wrong, sums_up)] == [1, 2, 2]
    assert LIE in prompts_of(wrong)[1]


def test_a_condensed_question_is_not_written_again() -> None:
    """Of a chat's two calls only the second is repeated; the retriever sees one question."""
    retriever = Counting(HOURS, PRICE)
    llm = says(HOURS, "When is it open, and what is the price?", BAD, TRUE)
    chat = guarded(condense_chat(llm, retriever=retriever), on_fail="regenerate")
    chat.chat("Hello, when is the observatory open?")
    assert str(chat.chat(QUESTION)) == TRUE
    assert len(vars(retriever)["queries"]) == 2
    assert history(chat)[2:] == in_memory(QUESTION, TRUE)


def test_a_model_that_numbers_its_answers_is_told_of_the_one_that_failed() -> None:
    """No two of its texts are alike; each attempt is verified, and the last one is blocked."""
    count = iter(range(1, 9))
    llm = ScriptedLLM(reply=lambda _: f"Answer number {next(count)}. {BAD}")
    safe = guarded(asking(llm), on_fail="regenerate", max_attempts=3, fallback=FALLBACK)
    reported = safe.with_report().query(QUESTION)
    assert [a.exchange.answer[:16] for a in reported.record.attempts] == [
        f"Answer number {n}." for n in (1, 2, 3)
    ]


def test_the_engine_is_left_as_it_is() -> None:
    """Attributes of engine and parts are the very objects that they were."""
    engine = context_chat(says(BAD, TRUE))
    parts = (engine, engine._memory, engine._retriever)
    engine._retriever.retrieve(QUESTION)  # what it has read, it keeps
    before = [dict(vars(part)) for part in parts]
    guarded(engine, on_fail="regenerate").chat(QUESTION)
    for part, was in zip(parts, before, strict=True):
        assert vars(part).keys() == was.keys()
        assert all(vars(part)[name] is value for name, value in was.items())


def test_two_guards_around_one_engine_do_not_meet() -> None:
    """One blocks and one asks again, at the same engine."""
    engine = asking(says(BAD, BAD, TRUE))
    with pytest.raises(UnfaithfulAnswerError):
        guarded(engine).query(QUESTION)
    assert str(guarded(engine, on_fail="regenerate").query(QUESTION)) == TRUE


def test_a_guard_in_a_guard() -> None:
    """Both verify; the inner one's block is the outer one's, and memory takes a turn once."""
    with pytest.raises(UnfaithfulAnswerError):
        guarded(guarded(asking(says(BAD))), fallback=FALLBACK).query(QUESTION)
    chat = guarded(guarded(context_chat(says(BAD, TRUE)), on_fail="regenerate"))
    assert str(chat.chat(QUESTION)) == TRUE
    assert history(chat) == in_memory(QUESTION, TRUE)


# -- what others count ------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda engine: engine, guarded])
def test_tokens_are_counted_as_without_a_guard(wrap: Any) -> None:
    """A legacy handler sees each call once."""
    counter = TokenCountingHandler(tokenizer=str.split)
    manager = CallbackManager([counter])
    llm = says(TRUE)
    engine = RetrieverQueryEngine.from_args(finds(), llm=llm, callback_manager=manager)
    llm.callback_manager = manager
    assert str(wrap(engine).query(QUESTION)) == TRUE
    assert len(counter.llm_token_counts) == len(prompts_of(llm)) == 1


def test_a_sub_question_engine_over_guards_goes_on_without_a_blocked_answer() -> None:
    """LlamaIndex logs and skips what an engine inside raises; the lie reaches no prompt."""
    llm = says(BAD)
    outer = questioning(llm)
    outer._query_engines = {"observatory": guarded(asking(says(BAD)))}
    outer.query(QUESTION)
    assert not any("Quillfeather" in prompt for prompt in prompts_of(llm))


def test_a_second_message_is_asked_with_what_the_user_saw() -> None:
    """After a block and after a regeneration, the next prompt holds no lie and no feedback."""
    llm = says(BAD, BAD, BAD, HOURS, HOURS)
    chat = guarded(SimpleChatEngine.from_defaults(llm=llm, memory=memory(), system_prompt=HOURS))
    with pytest.raises(UnfaithfulAnswerError):
        chat.chat(QUESTION)
    chat = guarded(chat.engine, on_fail="regenerate", max_attempts=3)
    chat.chat("When is it open?")
    chat.chat("And when on Fridays?")
    last = prompts_of(llm)[-1]
    assert "Quillfeather" not in last
    assert "Do not mention" not in last
    assert last.count(HOURS) == 2


@pytest.mark.parametrize("build", [simple_chat, context_chat])
def test_a_chat_can_be_reset(build: Any) -> None:
    """The conversation is forgotten, and goes on."""
    chat = guarded(build(says(TRUE)))
    chat.chat(QUESTION)
    chat.reset()
    assert history(chat) == []
    chat.chat(QUESTION)
    assert len(history(chat)) == 2
