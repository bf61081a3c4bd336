"""The guard beyond leaks: what it delivers, tells, hands on and asks again."""

from __future__ import annotations

import asyncio
import pickle
import pydoc
import re
import threading
import time
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableConfig,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tools import tool
from pydantic import Field

from faithguard import CaptureError, ConfigError, Policy, Record, Report, UnfaithfulAnswerError
from faithguard.store import Store
from faithguard.types import Claim
from faithguard_langchain import FaithfulnessCallback, Reported, guard
from faithguard_langchain.testing import ScriptedChatModel

from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    MIRROR,
    PRICE,
    PROMPT,
    QUESTION,
    SHAPES,
    TEXTS,
    TRUE,
    WAYS,
    Chain,
    CompletionModel,
    Script,
    Turns,
    assigned,
    call,
    calls_of,
    finds,
    joined,
    lambdas,
    message_chain,
    only,
    retrieval_chain,
    says,
    text_chain,
    watcher,
)

FLAGGING = Policy(domain="desk", safe=0.9, warning=0.5, on_fail="flag")


def guarded(chain: Runnable[Any, Any], **settings: Any) -> Any:
    """Return a guard that logs nothing."""
    return guard(chain, **{"sinks": [], **settings})


# -- what is delivered ------------------------------------------------------------------------


def test_flag_delivers_a_message_with_the_decision() -> None:
    """With `flag`, the message is the model's own, and its metadata says why it did not pass."""
    message = guarded(message_chain(says(BAD)), on_fail="flag").invoke(QUESTION)
    note = message.response_metadata["faithguard"]
    assert message.content == BAD
    assert message.response_metadata["finish_reason"] == "stop"
    assert (note["passed"], note["level"], note["score"]) == (False, "block", 0.5)
    assert (note["supported"], note["total"]) == (1, 2)
    assert "1 of 2 claims supported" in note["reason"]
    assert "Quillfeather" not in str(note)


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_streamed_message_is_a_chunk_with_the_decision(way: str) -> None:
    """Streams of messages yield chunks, which add up, and keep the metadata and the usage."""
    chunks = WAYS[way](guarded(message_chain(says(TRUE))), QUESTION, {})
    whole = sum(chunks[1:], start=chunks[0])
    assert isinstance(whole, AIMessageChunk)
    assert whole.content == TRUE
    assert whole.response_metadata["faithguard"]["passed"] is True
    assert whole.usage_metadata


def test_flag_delivers_a_string_as_it_is() -> None:
    """A string has no metadata: the report is reached by other ways."""
    reports: list[Report] = []
    chain = guarded(text_chain(says(BAD)), on_fail="flag", on_report=reports.append)
    assert chain.invoke(QUESTION) == BAD
    assert reports[0].supported == 1


def test_block_without_fallback_raises_with_report_and_decision() -> None:
    """The error carries report and decision; its words hold no text of the answer."""
    with pytest.raises(UnfaithfulAnswerError, match="1 of 2 claims") as caught:
        guarded(text_chain(says(BAD))).invoke(QUESTION)
    assert caught.value.report.exchange.answer == BAD
    assert not caught.value.decision.passed
    assert "Quillfeather" not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize("way", WAYS)
def test_the_error_carries_the_record_of_all_attempts(way: str) -> None:
    """Who catches a block finds each answer that was tried, and why it did not pass."""
    chain = guarded(text_chain(says(BAD)), on_fail="regenerate")
    with pytest.raises(UnfaithfulAnswerError) as caught:
        WAYS[way](chain, QUESTION, {})
    error = caught.value
    assert error.record is not None
    assert (error.record.decision, error.record.report) == (error.decision, error.report)
    assert [attempt.exchange.answer for attempt in error.record.attempts] == [BAD, BAD]
    assert all(attempt.exchange.started_at for attempt in error.record.attempts)
    assert "Quillfeather" not in f"{error} {error!r} {error.record!r}"


def test_the_error_can_be_pickled() -> None:
    """An error from a worker process arrives with its decision and report."""
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded(text_chain(says(BAD))).invoke(QUESTION)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert again.decision == caught.value.decision
    assert again.report == caught.value.report
    assert again.record == caught.value.record
    assert str(again) == str(caught.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_as_fallback_stands_in_the_place_of_the_answer(shape: str, way: str) -> None:
    """Strings, messages and dicts keep their form; the answer in them is the fallback."""
    chain = guarded(SHAPES[shape].build(says(BAD)), fallback=FALLBACK)
    got = WAYS[way](chain, SHAPES[shape].ask(QUESTION), {})
    assert FALLBACK in str(got[-1])
    assert "Quillfeather" not in str(got)


def test_a_dict_keeps_its_input_and_its_context() -> None:
    """Blocked: what was handed in and the documents stay, the answer is replaced."""
    chain = guarded(retrieval_chain(says(BAD)), fallback=FALLBACK)
    output = chain.invoke({"input": QUESTION, "user": "kim"})
    assert output["input"] == QUESTION
    assert output["user"] == "kim"
    assert output["answer"] == FALLBACK
    assert sorted(d.page_content for d in output["context"]) == sorted(TEXTS)


def test_a_faithful_dict_is_untouched() -> None:
    """Passed: the output is the chain's own, key by key."""
    given = {"question": QUESTION}
    assert guarded(assigned(says(TRUE))).invoke(given) == assigned(says(TRUE)).invoke(given)


@pytest.mark.parametrize("way", WAYS)
def test_a_runnable_as_fallback_gets_the_input(way: str) -> None:
    """A fallback that is a chain is called with the chain's input, and delivered unverified."""
    asked: list[Any] = []

    def help_desk(question: str) -> str:
        asked.append(question)
        return FALLBACK

    chain = guarded(text_chain(says(BAD)), fallback=RunnableLambda(help_desk))
    got = WAYS[way](chain, QUESTION, {})
    assert FALLBACK in str(got[-1])
    assert asked == [QUESTION]


@pytest.mark.parametrize("fallback", [FALLBACK, RunnableLambda(lambda _: AIMessage(FALLBACK))])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_a_fallback_message_says_that_the_answer_did_not_pass(way: str, fallback: Any) -> None:
    """What is delivered in the place of an answer carries the decision, and none of its text."""
    (message,) = WAYS[way](guarded(message_chain(says(BAD)), fallback=fallback), QUESTION, {})
    note = message.response_metadata["faithguard"]
    assert message.content == FALLBACK
    assert (note["passed"], note["level"], note["score"]) == (False, "block", 0.5)
    assert "1 of 2 claims supported" in note["reason"]
    assert "Quillfeather" not in str(message)


def test_a_guarded_fallback_speaks_for_itself() -> None:
    """A fallback whose own answer was verified keeps its own decision."""
    other = guarded(message_chain(says(TRUE)))
    message = guarded(message_chain(says(BAD)), fallback=other).invoke(QUESTION)
    assert message.content == TRUE
    assert message.response_metadata["faithguard"]["passed"] is True


def test_an_empty_text_is_a_fallback_too() -> None:
    """`fallback=""` delivers nothing rather than raising."""
    assert guarded(text_chain(says(BAD)), fallback="").invoke(QUESTION) == ""


def test_the_warning_band_passes_flagged_if_the_policy_says_so() -> None:
    """`on_warning="flag"` lets a score between the thresholds pass."""
    lenient = Policy(domain="desk", safe=0.9, warning=0.4, on_warning="flag")
    chain = guarded(text_chain(says(BAD)), domain=lenient).with_report()
    reported: Reported = chain.invoke(QUESTION)
    assert reported.output == BAD
    assert (reported.record.decision.passed, reported.record.decision.action) == (True, "flag")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_mended_answer_stands_in_the_place_of_the_answer(shape: str, way: str) -> None:
    """Strings, messages and dicts keep their form; the sentence that failed is nowhere in them."""
    chain = guarded(SHAPES[shape].build(says(BAD)), on_fail="repair", fallback=FALLBACK)
    got = WAYS[way](chain, SHAPES[shape].ask(QUESTION), {})
    assert HOURS in str(got[-1])
    assert "Quillfeather" not in str(got)
    assert FALLBACK not in str(got)


def test_what_cannot_be_mended_gets_the_fallback_or_raises() -> None:
    """An answer of which nothing would be left is blocked, and the record says why."""
    chain = guarded(text_chain(says(LIE)), on_fail="repair", fallback=FALLBACK).with_report()
    reported = chain.invoke(QUESTION)
    assert reported.output == FALLBACK
    assert reported.record.decision.action == "block"
    assert reported.record.repairs == ()
    with pytest.raises(UnfaithfulAnswerError, match="could not be mended"):
        guarded(text_chain(says(LIE)), on_fail="repair").invoke(QUESTION)


def test_the_note_of_a_mended_message_says_so() -> None:
    """Its metadata tells the decision on what is delivered, and that it was mended."""
    false = PRICE.replace("12", "21")
    chain = guarded(message_chain(says(f"{HOURS} {false}")), on_fail="repair").with_report()
    message, record = chain.invoke(QUESTION)
    note = message.response_metadata["faithguard"]
    assert message.content == TRUE
    assert (note["passed"], note["action"], note["attempts"]) == (True, "repair", 1)
    assert [(r.before, r.after) for r in record.repairs] == [("21 euros", "12 euros")]
    assert record.repairs[0].evidence[0].quote == PRICE
    assert record.attempts[0].exchange.answer == f"{HOURS} {false}"
    assert record.exchange.answer == TRUE


def test_an_object_is_not_mended() -> None:
    """A text in the place of an object would be another type: it is held back."""

    class Slip:
        def __init__(self, words: str) -> None:
            self.words = words

    chain = guarded(text_chain(says(BAD)) | Slip, answer_key="words", on_fail="repair")
    with pytest.raises(UnfaithfulAnswerError, match="could not be mended"):
        chain.invoke(QUESTION)


def test_what_a_model_wrote_beside_a_mended_answer_is_not_delivered() -> None:
    """Only the answer is mended; another text of a model's goes as it does with a fallback."""
    chain = RunnableParallel(answer=text_chain(says(BAD)), aside=text_chain(says(LIE)))
    assert guarded(chain, on_fail="repair").invoke(QUESTION) == {"answer": HOURS}


# -- what is told -----------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_with_report_returns_output_and_record(way: str) -> None:
    """`with_report()` gives what the caller gets, and every attempt with its own report."""
    model = says(BAD, TRUE)
    chain = guarded(text_chain(model), on_fail="regenerate").with_report()
    got = WAYS[way](chain, QUESTION, {})[-1]
    reported = got["data"]["output"] if way == "astream_events" else got
    assert isinstance(reported, Reported)
    assert reported.output == TRUE
    assert reported.report is reported.record.report
    assert [a.exchange.answer for a in reported.record.attempts] == [BAD, TRUE]
    assert [a.report.supported for a in reported.record.attempts] == [1, 2]
    assert reported.record.decision.passed


def test_with_report_tells_of_a_block_too() -> None:
    """With a fallback, output is the fallback and the record the blocked answer's."""
    reported = guarded(text_chain(says(BAD)), fallback=FALLBACK).with_report().invoke(QUESTION)
    assert reported.output == FALLBACK
    assert reported.record.exchange.answer == BAD
    assert reported.record.decision.action == "block"


@pytest.mark.parametrize("on_fail", ["flag", "block", "regenerate", "repair"])
def test_sinks_get_one_record_for_each_call(on_fail: Any) -> None:
    """Passed, blocked and repeated calls each make one record, and one call of `on_report`."""
    records: list[Record] = []
    reports: list[Report] = []
    chain = guard(
        text_chain(says(BAD)),
        on_fail=on_fail,
        fallback=None if on_fail == "flag" else FALLBACK,
        sinks=[records.append],
        on_report=reports.append,
    )
    for _ in range(3):
        chain.invoke(QUESTION)
    assert chain.wait(30)
    assert [record.report for record in records] == reports
    assert len(records) == 3
    assert {len(r.attempts) for r in records} == {2 if on_fail == "regenerate" else 1}


def test_the_store_that_is_named_gets_what_goes_to_sinks_in_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAITHGUARD_STORE keeps every answer of guards and watchers, but where there are no sinks."""
    monkeypatch.setenv("FAITHGUARD_STORE", str(tmp_path / "records.db"))
    records: list[Record] = []
    chain = guard(text_chain(says(TRUE)), sinks=[records.append])
    watching = FaithfulnessCallback(sinks=[records.append])
    chain.invoke(QUESTION)
    text_chain(says(TRUE)).invoke(QUESTION, {"callbacks": [watching]})
    guard(text_chain(says(TRUE)), sinks=[]).invoke(QUESTION)
    assert chain.wait(30)
    assert watching.wait(30)

    assert len(records) == 2
    assert {one.exchange.id for one in Store().records()} == {one.exchange.id for one in records}


def _raise(_: Any) -> None:
    raise RuntimeError(LIE)


def test_a_broken_on_report_or_sink_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """What listens to reports cannot break the call, nor let text into the log."""
    chain = guard(text_chain(says(TRUE)), on_report=_raise, sinks=[_raise])
    assert chain.invoke(QUESTION) == TRUE
    assert chain.wait(30)
    assert re.search(r"RuntimeError at test_guard\.py:\d+ in on_report", caplog.text)
    assert re.search(r"RuntimeError at test_guard\.py:\d+ in sink _raise", caplog.text)
    assert "Quillfeather" not in caplog.text


def test_a_watcher_around_sees_what_the_caller_got() -> None:
    """A watcher on a guarded call reports on the delivered answer, not on the held one."""
    watching = watcher()
    chain = guarded(text_chain(says(BAD, TRUE)), on_fail="regenerate")
    assert chain.invoke(QUESTION, {"callbacks": [watching]}) == TRUE
    report = only(watching)
    assert report.exchange.answer == TRUE
    assert report.score == 1.0


# -- keys -------------------------------------------------------------------------------------


def test_answer_key_names_the_answer() -> None:
    """The fallback goes to the named key; what a model wrote beside it is verified, too."""
    chain = RunnableParallel(verdict=text_chain(says(BAD)), answer=lambda _: HOURS)
    with pytest.raises(UnfaithfulAnswerError):
        guarded(chain, answer_key="answer").invoke(QUESTION)
    output = guarded(chain, answer_key="verdict", fallback=FALLBACK).invoke(QUESTION)
    assert output["verdict"] == FALLBACK


def test_answer_key_names_an_attribute() -> None:
    """A structured output, too, holds an answer under a name."""

    class Slip:
        def __init__(self, words: str) -> None:
            self.words = words

    chain = text_chain(says(TRUE)) | Slip
    assert guarded(chain, answer_key="words").invoke(QUESTION).words == TRUE
    with pytest.raises(UnfaithfulAnswerError):
        guarded(text_chain(says(BAD)) | Slip, answer_key="words").invoke(QUESTION)


@pytest.mark.parametrize("key", [None, "missing"])
def test_an_output_without_an_answer_is_an_error_not_a_pass(key: str | None) -> None:
    """Where no answer is found, nothing is delivered, and the message names the remedy."""
    chain = text_chain(says(TRUE)) | (lambda text: {"words": text})
    with pytest.raises(CaptureError, match="answer_key") as caught:
        guarded(chain, answer_key=key, fallback=FALLBACK).invoke(QUESTION)
    assert "Vesper" not in str(caught.value)


def test_context_key_names_the_context() -> None:
    """Documents in the output serve where no retriever run can be observed."""

    def answer(question: str) -> dict[str, Any]:
        return {"answer": BAD, "pages": [HOURS, LIE]}

    chain = RunnableLambda(answer)
    assert guarded(chain, context_key="pages").invoke(QUESTION)["answer"] == BAD
    with pytest.raises(UnfaithfulAnswerError, match="no context"):
        guarded(chain).invoke(QUESTION)
    with pytest.raises(CaptureError, match="'sheets'"):
        guarded(chain, context_key="sheets").invoke(QUESTION)


def test_question_key_names_the_question() -> None:
    """The question of the exchange is the named field of the input."""
    reports: list[Report] = []
    chain = itemgetter("ask") | text_chain(says(TRUE))
    asking = guarded(chain, question_key="ask", on_report=reports.append)
    asking.invoke({"ask": QUESTION, "input": "something else"})
    assert reports[0].exchange.question == QUESTION
    with pytest.raises(CaptureError, match="question_key"):
        guarded(RunnableLambda(lambda _: TRUE), question_key="ask").invoke("text")


def test_feedback_key_needs_a_dict() -> None:
    """Feedback can be put into a dict only."""
    chain = guarded(RunnableLambda(lambda _: TRUE), on_fail="regenerate", feedback_key="feedback")
    with pytest.raises(CaptureError, match="feedback_key"):
        chain.invoke("text")


def test_feedback_key_hands_the_feedback_to_the_chain() -> None:
    """The first run gets an empty text, the next one the claims that failed."""
    seen: list[str] = []

    def answer(state: dict[str, str]) -> dict[str, Any]:
        seen.append(state["feedback"])
        text = TRUE if state["feedback"] else BAD
        return {"answer": text, "context": [Document(t) for t in TEXTS]}

    chain = guarded(RunnableLambda(answer), on_fail="regenerate", feedback_key="feedback")
    assert chain.invoke({"question": QUESTION})["answer"] == TRUE
    assert seen[0] == ""
    assert "Quillfeather" in seen[1]
    assert "Vesper" not in seen[1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"on_fail": "explode"}, "explode"),
        ({"on_fail": "mend"}, "'mend'.*'repair'"),
        ({"more_context": len}, "`more_context` would never be called"),
        ({"more_context": [TRUE], "on_fail": "regenerate"}, "`more_context` is of type list"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": True}, "max_attempts"),
        ({"max_attempts": "3", "on_fail": "regenerate"}, "'3'.*whole number"),
        ({"max_attempts": 2}, "`max_attempts` is 2, but on_fail='block' asks once"),
        ({"max_attempts": 3, "on_fail": "flag"}, "`max_attempts` is 3, but on_fail='flag'"),
        ({"fallback": FALLBACK, "on_fail": "flag"}, "`fallback` would never be used"),
        ({"fallback": "", "domain": FLAGGING}, "`fallback` would never be used.*'flag'"),
        ({"sinks": "answers.jsonl"}, r"`sinks` is of type str.*JsonlSink\('answers.jsonl'\)"),
        ({"sinks": [None]}, r"`sinks\[0\]` is of type NoneType"),
        ({"fallback": 3}, "fallback"),
        ({"domain": "medcial"}, "medical"),
    ],
)
def test_settings_that_cannot_be_used_are_errors_at_once(
    settings: dict[str, Any], words: str
) -> None:
    """A wrong setting is told when the guard is made, with its value."""
    with pytest.raises(ConfigError, match=words):
        guarded(text_chain(says(TRUE)), **settings)


def test_a_guard_shows_what_it_does() -> None:
    """In a notebook or a log, `repr` tells domain, `on_fail` and what is guarded, and no text."""
    own = guarded(text_chain(says(TRUE)), domain="medical", on_fail="regenerate", fallback=FALLBACK)
    shown = "guard(RunnableSequence(...), domain='medical', on_fail='regenerate')"
    assert repr(own) == shown
    assert repr(own.with_report()) == f"{shown}.with_report()"


def test_the_guarded_chain_explains_itself() -> None:
    """`help(guard(chain))` says how it is called, what it raises and where the report is."""
    said = pydoc.render_doc(guarded(text_chain(says(TRUE))), renderer=pydoc.plaintext)
    head = said.split("Method resolution order")[0]
    for word in ("invoke", "with_report()", "UnfaithfulAnswerError", "response_metadata", "wait"):
        assert word in head


def test_a_function_is_not_a_chain() -> None:
    """A plain function is refused with the way to make it a Runnable."""
    with pytest.raises(ConfigError, match="RunnableLambda"):
        guard(lambda question: TRUE)  # type: ignore[arg-type]


def test_regenerate_without_a_model_names_feedback_key() -> None:
    """Where there is no model to ask again, the message says what to do."""
    with pytest.raises(ConfigError, match="feedback_key"):
        guarded(RunnableLambda(lambda _: TRUE), on_fail="regenerate")


# -- asking again -----------------------------------------------------------------------------


class Counting(BaseRetriever):
    """A retriever that counts how often it is asked."""

    asked: list[str] = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(query)
        return [Document(text) for text in TEXTS]


@pytest.mark.parametrize("way", WAYS)
def test_asking_again_fetches_once(way: str) -> None:
    """The model is called twice, the retriever once, and the feedback ends the prompt."""
    model, retriever = says(BAD, TRUE), Counting(asked=[])
    got = WAYS[way](guarded(text_chain(model, retriever), on_fail="regenerate"), QUESTION, {})
    assert TRUE in str(got[-1])
    assert retriever.asked == [QUESTION]
    first, second = calls_of(model)
    assert second[: len(first)] == first
    bad, said = second[len(first) :]
    assert isinstance(bad, AIMessage)
    assert bad.content == BAD
    assert isinstance(said, HumanMessage)
    assert "Quillfeather" in said.text
    assert "Vesper" not in said.text


def test_each_failed_attempt_stands_in_the_next_prompt() -> None:
    """With three attempts, the third prompt holds both bad answers and both feedbacks."""
    other = f"{HOURS} The observatory sells 400 umbrellas."
    model = says(BAD, other, TRUE)
    chain = guarded(text_chain(model), on_fail="regenerate", max_attempts=3).with_report()
    reported = chain.invoke(QUESTION)
    assert [m.text for m in calls_of(model)[2] if m.type == "ai"] == [BAD, other]
    assert reported.output == TRUE
    assert len(reported.record.attempts) == 3


@pytest.mark.parametrize("most", [1, 2, 4])
def test_attempts_are_bounded_and_the_last_one_is_verified(most: int) -> None:
    """A model that never improves is asked `max_attempts` times, then held back."""
    model = says(BAD)
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded(text_chain(model), on_fail="regenerate", max_attempts=most).invoke(QUESTION)
    assert len(calls_of(model)) == most
    assert ("attempts" in str(caught.value)) == (most > 1)


@pytest.mark.parametrize("way", WAYS)
def test_more_context_reaches_the_model_and_is_evidence(way: str) -> None:
    """The hook gets the claims that failed; what it returns is sent along and supports."""
    asked: list[tuple[str, ...]] = []

    def find(claims: tuple[Claim, ...]) -> list[str]:
        asked.append(tuple(claim.text for claim in claims))
        return [MIRROR]

    model = says(BAD, f"{HOURS} {MIRROR}")
    chain = guarded(
        text_chain(model, finds(HOURS, PRICE)), on_fail="regenerate", more_context=find
    ).with_report()
    got = WAYS[way](chain, QUESTION, {})[-1]
    reported = got["data"]["output"] if way == "astream_events" else got
    assert reported.output == f"{HOURS} {MIRROR}"
    assert asked == [(LIE,)]
    assert MIRROR in str(calls_of(model)[1][-1].content)
    assert [p.text for p in reported.record.exchange.passages if p.seen] == [HOURS, PRICE, MIRROR]


def test_more_context_may_be_awaited_where_the_call_is() -> None:
    """A coroutine function serves asynchronous calls; a blocking one says what to do."""

    async def find(claims: tuple[Claim, ...]) -> list[str]:
        return [MIRROR]

    def chain() -> Any:
        told = says(BAD, f"{HOURS} {MIRROR}")
        return guarded(text_chain(told, finds(HOURS)), on_fail="regenerate", more_context=find)

    assert asyncio.run(chain().ainvoke(QUESTION)) == f"{HOURS} {MIRROR}"
    with pytest.raises(ConfigError, match="`more_context` returns an awaitable"):
        chain().invoke(QUESTION)


def test_more_context_of_nothing_changes_nothing() -> None:
    """A hook that finds nothing: the model is told what failed, as without it."""
    model, other = says(BAD, TRUE), says(BAD, TRUE)
    hooked = guarded(text_chain(model), on_fail="regenerate", more_context=lambda _: None)
    assert hooked.invoke(QUESTION) == TRUE
    assert guarded(text_chain(other), on_fail="regenerate").invoke(QUESTION) == TRUE
    assert calls_of(model) == calls_of(other)


def test_a_completion_model_is_asked_again_at_the_end_of_its_text() -> None:
    """The prompt of a completion model ends in the bad answer and the feedback."""
    model = CompletionModel(text=BAD, prompts=[])
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    fields = {"context": finds(*TEXTS) | joined, "question": RunnablePassthrough()}
    with pytest.raises(UnfaithfulAnswerError):
        guarded(fields | prompt | model, on_fail="regenerate").invoke(QUESTION)
    first, second = model.prompts
    assert second.startswith(first)
    assert BAD in second[len(first) :]
    assert second.rstrip().endswith("Do not mention this request.")


def test_tools_do_not_act_twice() -> None:
    """A tool with an effect runs once, though the model that used it is asked again."""
    effects: list[str] = []

    @tool
    def book(day: str) -> str:
        """Book a tour and return the confirmation."""
        effects.append(day)
        return PRICE

    model = says(f"{PRICE} {LIE}", PRICE)
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
    chain = (
        {"context": RunnableLambda(lambda _: {"day": "Friday"}) | book}
        | RunnablePassthrough.assign(question=lambda _: "What does a guided tour cost?")
        | prompt
        | model
        | StrOutputParser()
    )
    assert guarded(chain, on_fail="regenerate").invoke(QUESTION) == PRICE
    assert effects == ["Friday"]
    assert len(calls_of(model)) == 2


def test_an_agent_loop_in_a_function_asks_only_the_last_model_call_again() -> None:
    """Of a loop that closes over model and tool, tools run once, and so do the earlier turns."""
    effects: list[str] = []

    @tool
    def book(day: str) -> str:
        """Book a tour and return the confirmation."""
        effects.append(day)
        return PRICE

    turns = [call("book", day="Friday"), AIMessage(f"{PRICE} {LIE}"), AIMessage(PRICE)]
    model = Turns(turns=turns, done=[])

    def run(question: str) -> str:
        messages: list[Any] = [SystemMessage("Use the tool."), HumanMessage(question)]
        while True:
            said = model.invoke(messages)
            messages.append(said)
            if not said.tool_calls:
                return str(said.text)
            messages.extend(book.invoke(wish) for wish in said.tool_calls)

    chain = guarded(RunnableLambda(run), on_fail="regenerate")
    assert chain.invoke("What does a guided tour cost?") == PRICE
    assert effects == ["Friday"]
    assert len(model.done) == 3


def test_a_rewriting_before_the_answer_is_not_written_again() -> None:
    """Of two model calls only the one that wrote the answer is made again."""
    rewriter, writer = says("observatory tour cost"), says(BAD, TRUE)
    rewrite = ChatPromptTemplate.from_template("Rewrite: {q}") | rewriter | StrOutputParser()
    chain = (
        {"context": {"q": RunnablePassthrough()} | rewrite | finds(*TEXTS) | joined}
        | RunnablePassthrough.assign(question=lambda _: QUESTION)
        | PROMPT
        | writer
    )
    assert guarded(chain, on_fail="regenerate").invoke(QUESTION).content == TRUE
    assert (len(calls_of(rewriter)), len(calls_of(writer))) == (1, 2)


@pytest.fixture
def cache() -> Iterator[InMemoryCache]:
    """LangChain's own cache for models, for one test."""
    store = InMemoryCache()
    set_llm_cache(store)
    yield store
    set_llm_cache(None)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
def test_a_cache_does_not_return_the_same_bad_answer(cache: InMemoryCache, way: str) -> None:
    """With LangChain's cache, the second attempt is a new answer, for the second caller too."""
    model = ScriptedChatModel(reply=lambda messages: TRUE if len(messages) > 2 else BAD)
    chain = guarded(text_chain(model), on_fail="regenerate")
    for _ in range(2):
        assert WAYS[way](chain, QUESTION, {}) == [TRUE]


def test_an_improved_answer_is_judged_by_the_same_context() -> None:
    """Both attempts of a call have the same passages."""
    chain = guarded(text_chain(says(BAD, TRUE)), on_fail="regenerate").with_report()
    first, second = chain.invoke(QUESTION).record.attempts
    assert first.exchange.passages == second.exchange.passages


# -- errors -----------------------------------------------------------------------------------


def test_a_parsers_error_does_not_carry_the_text() -> None:
    """A parser quotes what it could not read: the caller gets a `CaptureError` without it."""
    chain = message_chain(says(BAD)) | JsonOutputParser()
    with pytest.raises(CaptureError, match="withheld") as caught:
        guarded(chain).invoke(QUESTION)
    error: BaseException | None = caught.value
    while error is not None:
        assert "Quillfeather" not in f"{error} {error!r}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"])
def test_an_error_of_the_chain_without_text_is_its_own(way: str) -> None:
    """Other errors of the chain reach the caller as they are, and no fallback hides them."""

    def fails(_: Any) -> Any:
        raise TimeoutError("the index is down")

    chain = guarded(text_chain(says(TRUE), RunnableLambda(fails)), fallback=FALLBACK)
    with pytest.raises(TimeoutError, match="the index is down"):
        WAYS[way](chain, QUESTION, {})


def test_an_error_of_the_fallback_is_its_own() -> None:
    """A fallback that fails is not swallowed, and nothing unverified comes in its place."""

    def fails(_: Any) -> Any:
        raise ConnectionError("no desk")

    with pytest.raises(ConnectionError, match="no desk"):
        guarded(text_chain(says(BAD)), fallback=RunnableLambda(fails)).invoke(QUESTION)


def test_with_retry_tries_again() -> None:
    """`with_retry` around the guard knows a block by its type."""
    model = says(BAD, TRUE)
    chain = guarded(text_chain(model)).with_retry(
        retry_if_exception_type=(UnfaithfulAnswerError,),
        wait_exponential_jitter=False,
        stop_after_attempt=2,
    )
    assert chain.invoke(QUESTION) == TRUE
    assert len(calls_of(model)) == 2


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"])
def test_with_fallbacks_takes_the_next_chain(way: str) -> None:
    """`with_fallbacks` works in every way, streams too: nothing came before the error."""
    chain = guarded(text_chain(says(BAD))).with_fallbacks(
        [RunnableLambda(lambda _: FALLBACK)], exceptions_to_handle=(UnfaithfulAnswerError,)
    )
    assert WAYS[way](chain, QUESTION, {}) == [FALLBACK]


def test_a_batch_can_return_its_exceptions() -> None:
    """With `return_exceptions`, one blocked item does not take the others along."""
    model = ScriptedChatModel(reply=lambda messages: BAD if "7" in messages[-1].text else TRUE)
    got = guarded(text_chain(model)).batch(
        [f"{QUESTION} {n}" for n in (6, 7, 8)], return_exceptions=True
    )
    assert [isinstance(item, UnfaithfulAnswerError) for item in got] == [False, True, False]
    assert got[0] == got[2] == TRUE


# -- inside other chains ----------------------------------------------------------------------


@pytest.mark.parametrize("outer", ["block", "regenerate"])
def test_a_guard_may_stand_in_a_guard(outer: Any) -> None:
    """An inner block reaches the caller as the inner guard's, whatever the outer one does."""
    inner = guarded(text_chain(says(BAD)))
    with pytest.raises(UnfaithfulAnswerError):
        guarded(inner | StrOutputParser(), on_fail="block").invoke(QUESTION)
    passing = guarded(guarded(text_chain(says(BAD, TRUE)), on_fail="regenerate"), on_fail="block")
    assert passing.invoke(QUESTION) == TRUE
    with_fallback = guarded(guarded(text_chain(says(BAD)), fallback=FALLBACK), fallback="outer")
    assert with_fallback.invoke(QUESTION) in (FALLBACK, "outer")


def test_a_guard_in_parallel_holds_only_its_own_branch() -> None:
    """Beside other branches, the guard replaces its own answer only."""
    both = RunnableParallel(
        safe=guarded(text_chain(says(BAD)), fallback=FALLBACK), other=lambda q: q.upper()
    )
    assert both.invoke(QUESTION) == {"safe": FALLBACK, "other": QUESTION.upper()}
    assert asyncio.run(both.ainvoke(QUESTION))["safe"] == FALLBACK


def test_a_guard_composes() -> None:
    """`|` before and after a guard works as with any Runnable, streams included."""
    chain = RunnableLambda(itemgetter("q")) | guarded(text_chain(says(TRUE))) | str.upper
    assert chain.invoke({"q": QUESTION}) == TRUE.upper()
    assert "".join(chain.stream({"q": QUESTION})) == TRUE.upper()


# -- config -----------------------------------------------------------------------------------


class Starts(BaseCallbackHandler):
    """Notes what every run was started with."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, list[str], dict[str, Any]]] = []

    def _note(self, kind: str, kwargs: dict[str, Any]) -> None:
        tags, metadata = list(kwargs.get("tags") or []), dict(kwargs.get("metadata") or {})
        self.runs.append((str(kwargs.get("name") or kind), tags, metadata))

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        """Note."""
        self._note("chain", kwargs)

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        """Note."""
        self._note("model", kwargs)

    def on_retriever_start(self, serialized: Any, query: Any, **kwargs: Any) -> None:
        """Note."""
        self._note("retriever", kwargs)


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"])
def test_tags_metadata_and_name_reach_the_runs(way: str, on_fail: Any) -> None:
    """Tags and metadata reach every inner run, the name the guard's own; all are traced."""
    starts = Starts()
    config = {
        "callbacks": [starts],
        "tags": ["kiosk"],
        "metadata": {"tenant": "north"},
        "run_name": "answering",
    }
    WAYS[way](guarded(text_chain(says(TRUE)), on_fail=on_fail), QUESTION, config)
    names = [name for name, _, _ in starts.runs]
    assert names[0] == "answering"
    assert {"PassageRetriever", "model"} <= set(names)
    assert all("kiosk" in tags for _, tags, _ in starts.runs)
    assert all(metadata.get("tenant") == "north" for _, _, metadata in starts.runs)


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_configurable_fields_reach_the_chain(on_fail: Any) -> None:
    """A field of a part and a value that a function reads from its config arrive."""
    seen: list[Any] = []
    retriever = finds(*TEXTS).configurable_fields(k=ConfigurableField(id="k"))

    def look(question: str, config: RunnableConfig) -> str:
        seen.append(config["configurable"].get("tenant"))
        return question

    chain = RunnableLambda(look) | text_chain(says(TRUE), retriever)
    own = guarded(chain, on_fail=on_fail, fallback=FALLBACK).with_report()
    reported = own.invoke(QUESTION, {"configurable": {"k": 1, "tenant": "north"}})
    assert len(reported.record.exchange.passages) == 1
    assert set(seen) == {"north"}
    assert "k" in {spec.id for spec in own.config_specs}


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_alternatives_of_a_model_can_be_chosen(on_fail: Any) -> None:
    """`configurable_alternatives` of the model inside a guard work."""
    model = says(TRUE).configurable_alternatives(
        ConfigurableField(id="model"), default_key="good", bad=says(BAD)
    )
    chain = guarded(text_chain(model), on_fail=on_fail, fallback=FALLBACK)
    assert chain.invoke(QUESTION) == TRUE
    assert chain.with_config(configurable={"model": "bad"}).invoke(QUESTION) == FALLBACK


def test_bound_arguments_reach_the_model() -> None:
    """`model.bind(stop=...)` inside a guard is still called with its arguments."""
    got: list[Any] = []

    class Noting(ScriptedChatModel):
        def _generate(self, messages: Any, stop: Any = None, *args: Any, **kwargs: Any) -> Any:
            got.append(stop)
            return super()._generate(messages, stop, *args, **kwargs)

    model = Noting(reply=Script(BAD, TRUE)).bind(stop=["END"])
    assert guarded(text_chain(model), on_fail="regenerate").invoke(QUESTION) == TRUE
    assert got == [["END"], ["END"]]


def test_batch_respects_max_concurrency() -> None:
    """No more calls run at once than the config allows."""
    lock, running, most = threading.Lock(), [0], [0]

    def reply(messages: Any) -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1
        return TRUE

    chain = guarded(text_chain(ScriptedChatModel(reply=reply)))
    got = chain.batch([f"{QUESTION} {n}" for n in range(12)], {"max_concurrency": 2})
    assert got == [TRUE] * 12
    assert most[0] <= 2


def test_schemas_and_graph_are_the_chains() -> None:
    """What tools and pages ask of a Runnable is answered as the chain would."""
    chain = text_chain(says(TRUE))
    own = guarded(chain)
    assert own.get_input_schema().model_json_schema() == (
        chain.get_input_schema().model_json_schema()
    )
    assert own.get_graph().nodes
    assert own.get_name()


def test_guards_do_not_change_the_chain_they_are_given() -> None:
    """The same chain, guarded twice and used plain, works in all three ways."""
    model = says(BAD)
    chain = text_chain(model)
    first, second = guarded(chain, on_fail="regenerate", fallback="one"), guarded(chain)
    assert first.invoke(QUESTION) == "one"
    assert chain.invoke(QUESTION) == BAD
    with pytest.raises(UnfaithfulAnswerError):
        second.invoke(QUESTION)
    assert calls_of(model)[2] == calls_of(model)[0]


def test_two_models_in_a_list_are_asked_in_turn() -> None:
    """LangChain's own fake model with a list of responses works under a guard."""
    model = FakeListChatModel(responses=[BAD, TRUE])
    assert guarded(text_chain(model), on_fail="regenerate").invoke(QUESTION) == TRUE


def _answers(chain: Chain) -> Callable[[], Any]:
    return lambda: chain.invoke(QUESTION)


def test_a_function_that_closes_over_the_model_is_asked_again() -> None:
    """`regenerate` reaches models that a function closes over."""
    model = says(BAD, TRUE)
    assert _answers(guarded(lambdas(model), on_fail="regenerate"))() == TRUE
    assert len(calls_of(model)) == 2
