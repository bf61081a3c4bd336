"""The evaluator where LlamaIndex's own stands: same calls, other verdicts.

The defects of the one it replaces are tests here: verdicts read out of a judge's prose, scores
for nothing, arguments that are ignored unsaid, contexts that the model did not see that way.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra: pip install '.[llama-index]'")

from llama_index.core import Document, PromptTemplate, Settings, VectorStoreIndex
from llama_index.core import evaluation as theirs
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.evaluation import BaseEvaluator, BatchEvalRunner, EvaluationResult
from llama_index.core.query_engine import (
    RetrieverQueryEngine,
    RetryGuidelineQueryEngine,
    RetryQueryEngine,
    RetrySourceQueryEngine,
)
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import ToolMetadata
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool
from pydantic import BaseModel

from faithguard import CaptureError, ConfigError, Policy, Scorer, UnfaithfulAnswerError
from faithguard.testing import TableVerifier
from faithguard_llama_index._evaluator import FaithfulnessEvaluator, FaithfulnessResult
from faithguard_llama_index.testing import PassageRetriever, ScriptedLLM, WordEmbedding

# `BatchEvalRunner` asks for something of LlamaIndex's own that LlamaIndex has deprecated
pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

OPENS = "The mill museum opens at 10:00 on Tuesdays."
PRICE = "A ticket for the museum costs 7 euros."
WHEEL = "The water wheel was built in 1834."
TEXTS = [OPENS, PRICE, WHEEL]
QUESTION = "When does the mill museum open, and what does a ticket cost?"
GOOD = f"{OPENS} {PRICE}"
LIE = "Professor Grimshaw paints marzipan badgers there."
BAD = f"{OPENS} {LIE}"
WRONG = "A ticket for the museum costs 9 euros."


NOTHING: Any = None  # what a stream of LlamaIndex's may be, against its type


class Script:
    """A model's lines: the next one for each call, the last one from then on; prompts are kept."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines
        self.prompts: list[str] = []

    def __call__(self, messages: list[ChatMessage]) -> str:
        """Return the next line."""
        self.prompts.append("\n".join(str(message.content) for message in messages))
        return self._lines[min(len(self.prompts), len(self._lines)) - 1]


def engine(
    *lines: str, streaming: bool = False, pause: float = 0.0, **metadata: str
) -> tuple[Any, Script]:
    """Return a real query engine over the museum's texts, and what its model is asked."""
    script = Script(*lines)
    index: Any = VectorStoreIndex.from_documents(
        [Document(text=text, metadata=metadata) for text in TEXTS], embed_model=WordEmbedding()
    )
    llm = ScriptedLLM(reply=script, pause=pause)
    return index.as_query_engine(llm=llm, similarity_top_k=3, streaming=streaming), script


def nodes(*texts: str, **metadata: str) -> list[NodeWithScore]:
    """Return nodes as a retriever does."""
    return [NodeWithScore(node=TextNode(text=text, metadata=metadata)) for text in texts]


def never(messages: list[ChatMessage]) -> str:
    """Stand for a model that must not be asked."""
    raise AssertionError("the evaluator asked a model")


@pytest.fixture
def default_model(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Set the model that LlamaIndex takes where none is named: retry engines always do."""
    script = Script(GOOD)
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM(reply=script))
    monkeypatch.setattr(Settings, "_embed_model", WordEmbedding())
    return script


# -- what a result says ------------------------------------------------------------------------


def test_a_faithful_answer_passes_with_its_count() -> None:
    """The fields of LlamaIndex's result are there, and so is what they were made from."""
    result = FaithfulnessEvaluator().evaluate(QUESTION, GOOD, TEXTS)
    assert isinstance(result, EvaluationResult)
    assert (result.query, result.response, result.contexts) == (QUESTION, GOOD, TEXTS)
    assert (result.passing, result.score) == (True, 1.0)
    assert (result.invalid_result, result.invalid_reason) == (False, None)
    assert result.feedback == "2 of 2 claims supported: 1.00 >= 0.85"
    assert (result.report.supported, result.report.total) == (2, 2)
    assert result.decision.domain == "customer_support"


def test_feedback_names_the_claims_and_says_why() -> None:
    """A reader, or the model's next attempt, learns which claims fail and what is said instead."""
    result = FaithfulnessEvaluator().evaluate(QUESTION, f"{OPENS} {WRONG} {LIE}", TEXTS)
    assert not result.passing
    assert result.score == pytest.approx(1 / 3)
    assert result.feedback is not None
    first, *claims = result.feedback.splitlines()
    assert first.startswith("1 of 3 claims supported: 0.33 < 0.85")
    assert claims[0].startswith(f"- contradicted: {WRONG} (the context says '7 euros'")
    assert claims[1].startswith(f"- not mentioned: {LIE}")
    assert len(claims) == 2


def test_feedback_names_no_more_than_anybody_reads() -> None:
    """Of many claims, some are named and the others counted."""
    answer = "\n".join(f"- Badger number {n} wears a purple hat." for n in range(30))
    feedback = FaithfulnessEvaluator().evaluate(QUESTION, answer, TEXTS).feedback
    assert feedback is not None
    assert feedback.count("not mentioned") == 20
    assert feedback.endswith("- and 10 more")


def test_feedback_names_a_claim_about_which_passages_disagree() -> None:
    """A closed domain counts it as unsupported, so it must be said which one it is."""
    contexts = [PRICE, WRONG]
    result = FaithfulnessEvaluator(domain="medical").evaluate(QUESTION, PRICE, contexts)
    assert not result.passing
    assert f"- passages conflict: {PRICE}" in str(result.feedback)


def test_the_domain_decides_and_a_policy_is_one() -> None:
    """The same score passes in one domain and not in another."""
    answer = f"{GOOD} {WHEEL} {LIE}"
    verdicts = {
        domain: FaithfulnessEvaluator(domain=domain).evaluate(QUESTION, answer, TEXTS).passing
        for domain in ("conversational", "support", "medical", None)
    }
    assert verdicts == {"conversational": True, "support": False, "medical": False, None: False}
    own = Policy(domain="wiki", safe=0.7, warning=0.6)
    result = FaithfulnessEvaluator(domain=own).evaluate(QUESTION, answer, TEXTS)
    assert (result.passing, result.decision.domain, result.score) == (True, "wiki", 0.75)


def test_what_is_not_for_json_stays_out_of_it() -> None:
    """Dumps are LlamaIndex's own shape and can be read as that."""
    result = FaithfulnessEvaluator().evaluate(QUESTION, BAD, TEXTS)
    dumped = result.model_dump()
    assert set(dumped) == set(EvaluationResult.model_fields)
    assert EvaluationResult.model_validate_json(result.model_dump_json()).score == 0.5
    assert "report=" not in repr(result)


@pytest.mark.parametrize(
    ("answer", "contexts"), [(GOOD, TEXTS), (BAD, TEXTS), (BAD, []), ("", TEXTS), ("No idea.", [])]
)
def test_both_ways_say_the_same(answer: str, contexts: list[str]) -> None:
    """`aevaluate` is `evaluate`, and the sync one works inside a running loop."""
    evaluator = FaithfulnessEvaluator(domain="medical")

    async def both() -> tuple[EvaluationResult, EvaluationResult]:
        there = await evaluator.aevaluate(QUESTION, answer, contexts)
        return evaluator.evaluate(QUESTION, answer, contexts), there

    here, there = asyncio.run(both())
    assert here.model_dump() == there.model_dump()


def test_it_sleeps_first_if_told_to() -> None:
    """As LlamaIndex's own does, for calls that are rationed."""
    evaluator, started = FaithfulnessEvaluator(), time.monotonic()
    evaluator.evaluate(QUESTION, GOOD, TEXTS, sleep_time_in_seconds=0.02)
    asyncio.run(evaluator.aevaluate(QUESTION, GOOD, TEXTS, sleep_time_in_seconds=0.02))
    response = Response(GOOD, nodes(*TEXTS))
    evaluator.evaluate_response(QUESTION, response, sleep_time_in_seconds=0.02)
    assert time.monotonic() - started >= 0.06


def test_evaluations_do_not_wait_for_each_other() -> None:
    """A slow verifier leaves the event loop to others."""
    scorer = Scorer(verifiers=[TableVerifier({"*": 0.9}, seconds=0.1)], cache=None)
    evaluator = FaithfulnessEvaluator(scorer=scorer)

    async def many() -> list[FaithfulnessResult]:
        async with asyncio.timeout(1.0):
            return await asyncio.gather(
                *(evaluator.aevaluate(QUESTION, GOOD, TEXTS) for _ in range(20))
            )

    assert all(result.passing for result in asyncio.run(many()))


# -- where there is no score -------------------------------------------------------------------


def test_facts_without_context_do_not_pass_and_have_no_score() -> None:
    """Nothing was retrieved: that is a result, and not one of the evaluator's failing."""
    result = FaithfulnessEvaluator().evaluate(QUESTION, GOOD, [])
    assert (result.passing, result.score, result.invalid_result) == (False, None, False)
    assert result.feedback is not None
    assert "no context" in result.feedback.splitlines()[0]
    assert OPENS in result.feedback


@pytest.mark.parametrize("answer", ["", "  \n", "I don't know.", "Empty Response"])
@pytest.mark.parametrize("contexts", [[], ["Parking is behind the bakery."]])
def test_saying_nothing_is_no_perfect_score(answer: str, contexts: list[str]) -> None:
    """An empty answer, an abstention and LlamaIndex's own text for none pass unscored."""
    result = FaithfulnessEvaluator().evaluate(QUESTION, answer, contexts)
    assert (result.passing, result.score, result.invalid_result) == (True, None, False)
    assert result.feedback is not None
    assert "nothing to check" in result.feedback


def test_an_engine_that_finds_nothing_abstains() -> None:
    """The response of a real engine without sources is no claim."""
    empty = RetrieverQueryEngine.from_args(PassageRetriever([]), llm=ScriptedLLM(reply=never))
    response = empty.query(QUESTION)
    result = FaithfulnessEvaluator().evaluate_response(QUESTION, response)
    assert result.response == "Empty Response"
    assert (result.report.outcome, result.passing, result.score) == ("abstained", True, None)


@pytest.mark.parametrize(("sure_of", "outcome"), [({}, "failed"), ({OPENS: 0.99}, "incomplete")])
def test_missing_verdicts_make_an_invalid_result(sure_of: dict[str, float], outcome: str) -> None:
    """A verifier that failed is said to have, by name and without anybody's words."""
    broken = TableVerifier({"*": RuntimeError(f"it said {LIE}")}, "judge@2")
    scorer = Scorer(verifiers=[TableVerifier(sure_of), broken])
    result = FaithfulnessEvaluator(scorer=scorer).evaluate(QUESTION, GOOD, TEXTS)
    assert result.report.outcome == outcome
    assert (result.passing, result.score, result.invalid_result) == (False, None, True)
    assert result.invalid_reason == "judge@2: RuntimeError in judge@2"
    assert result.feedback is not None
    assert f"- no verdict: {PRICE}" in result.feedback


def test_a_policy_may_let_failures_pass_but_they_stay_invalid() -> None:
    """`on_failure="open"` is the user's word; the result still says that nothing was checked."""
    scorer = Scorer(verifiers=[TableVerifier({"*": RuntimeError()})])
    policy = Policy.for_domain("support", on_failure="open")
    result = FaithfulnessEvaluator(scorer=scorer, domain=policy).evaluate(QUESTION, GOOD, TEXTS)
    assert (result.passing, result.score, result.invalid_result) == (True, None, True)


@pytest.mark.parametrize("given", [{}, {"response": GOOD}, {"contexts": TEXTS}])
def test_missing_arguments_are_a_value_error(given: dict[str, Any]) -> None:
    """As in LlamaIndex; the message names what is missing."""
    missing = {"response", "contexts"} - set(given)
    evaluator = FaithfulnessEvaluator()
    with pytest.raises(ValueError, match="must be provided") as raised:
        evaluator.evaluate(QUESTION, **given)
    assert all(f"`{name}`" in str(raised.value) for name in missing)
    with pytest.raises(ValueError, match="must be provided"):
        asyncio.run(evaluator.aevaluate(QUESTION, **given))
    with pytest.raises(ValueError, match="must be provided"):
        evaluator.evaluate_response(QUESTION)
    with pytest.raises(ValueError, match="must be provided"):
        asyncio.run(evaluator.aevaluate_response(QUESTION))


def test_raise_error_raises_what_llama_index_raises_and_why() -> None:
    """A ValueError that holds no text of the answer; its cause has the report."""
    evaluator = FaithfulnessEvaluator(raise_error=True)
    assert evaluator.evaluate(QUESTION, GOOD, TEXTS).passing
    with pytest.raises(ValueError, match="The response is invalid: 1 of 2 claims") as raised:
        evaluator.evaluate(QUESTION, BAD, TEXTS)
    assert "Grimshaw" not in str(raised.value)
    assert isinstance(raised.value.__cause__, UnfaithfulAnswerError)
    assert raised.value.__cause__.report.unsupported[0].text == LIE


# -- the defects of the one it replaces --------------------------------------------------------


@pytest.mark.parametrize(
    "verdict", ["NO, I would not say yes to that.", "no (with my eyes closed)", "Nein.", "YES"]
)
def test_no_prose_of_a_judge_decides(verdict: str) -> None:
    """Where LlamaIndex's looks for three letters in what a model says, ours asks no model."""
    judge = Script(verdict)
    with pytest.warns(UserWarning, match="`llm`"):
        ours = FaithfulnessEvaluator(ScriptedLLM(reply=judge))
    assert not ours.evaluate(QUESTION, LIE, TEXTS).passing
    assert ours.evaluate(QUESTION, GOOD, TEXTS).passing
    assert judge.prompts == []
    own = theirs.FaithfulnessEvaluator(ScriptedLLM(reply=judge))
    assert own.evaluate(QUESTION, LIE, TEXTS).passing is (verdict != "Nein.")


@pytest.mark.parametrize("name", ["gpt-4o", "llama3:8b"])
def test_no_name_of_a_model_changes_a_verdict(name: str) -> None:
    """No prompt is chosen by it, so none can lack the answer."""
    with pytest.warns(UserWarning, match="no model is called"):
        evaluator = FaithfulnessEvaluator(llm=ScriptedLLM(reply=never, model_name=name))
    assert evaluator.evaluate(QUESTION, BAD, TEXTS).score == 0.5


@pytest.mark.parametrize("name", ["eval_template", "refine_template"])
@pytest.mark.parametrize("template", ["Is {query_str} in {context_str}?", PromptTemplate("?")])
def test_a_template_that_has_no_effect_is_not_taken_in_silence(name: str, template: Any) -> None:
    """One warning names it; without one there is none."""
    with pytest.warns(UserWarning, match=f"`{name}`") as caught:
        FaithfulnessEvaluator(**{name: template})
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=f"`{name}`"):
        FaithfulnessEvaluator().update_prompts({name: template})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FaithfulnessEvaluator(None, False).get_prompts() == {}
        FaithfulnessEvaluator().update_prompts({})


@pytest.mark.parametrize("domain", ["medical", Policy(domain="wiki", safe=1.0, warning=1.0)])
def test_a_domain_in_the_place_of_the_model_is_refused(domain: Any) -> None:
    """It would be ignored, and a laxer one would decide."""
    with pytest.raises(ConfigError, match=r"FaithfulnessEvaluator\(domain="):
        FaithfulnessEvaluator(domain)


def test_an_unknown_domain_is_an_error_at_once() -> None:
    """A typo does not wait for the first answer."""
    with pytest.raises(ConfigError, match="medcal"):
        FaithfulnessEvaluator(domain="medcal")


def test_the_order_of_long_contexts_does_not_matter() -> None:
    """No context is too long to be looked at, and none is looked at through the last verdict."""
    filler = "The bakery behind the car park sells rye bread and rolls. " * 800
    contexts = [filler + OPENS, filler, PRICE + filler]
    evaluator = FaithfulnessEvaluator()
    for order in (contexts, contexts[::-1]):
        assert evaluator.evaluate(QUESTION, GOOD, order).score == 1.0
        assert evaluator.evaluate(QUESTION, BAD, order).score == 0.5


def test_metadata_that_the_model_saw_is_evidence() -> None:
    """An engine puts metadata into its prompts; an answer from it is supported."""
    answer = "The opening hours are in the file leaflet-2031.txt."
    real, script = engine(answer, file_name="leaflet-2031.txt", topic="opening hours")
    response = real.query("In which file are the opening hours?")
    assert "leaflet-2031.txt" in script.prompts[0]
    result = FaithfulnessEvaluator().evaluate_response(QUESTION, response)
    assert result.passing, result.feedback
    assert result.contexts is not None
    assert all(context in script.prompts[0] for context in result.contexts)
    assert {p.source for p in result.report.exchange.passages} == {"leaflet-2031.txt"}


def test_metadata_that_the_model_did_not_see_is_none() -> None:
    """What a node keeps from the model is no evidence either."""
    node = TextNode(text=OPENS, metadata={"price": "9 euros"}, excluded_llm_metadata_keys=["price"])
    response = Response("A ticket costs 9 euros.", [NodeWithScore(node=node)])
    result = FaithfulnessEvaluator().evaluate_response(QUESTION, response)
    assert (result.score, result.contexts) == (0.0, [OPENS])


# -- responses ---------------------------------------------------------------------------------


def test_a_response_of_an_engine_is_evaluated() -> None:
    """Sync and async, faithful and not."""
    evaluator = FaithfulnessEvaluator()
    real, _ = engine(GOOD, BAD)
    good, bad = real.query(QUESTION), real.query(QUESTION)
    assert evaluator.evaluate_response(QUESTION, good).score == 1.0
    assert evaluator.evaluate_response(query=QUESTION, response=bad).score == 0.5
    assert asyncio.run(evaluator.aevaluate_response(QUESTION, bad)).score == 0.5


@pytest.mark.parametrize("in_async", [False, True])
def test_a_stream_can_still_be_read_after_it_was_evaluated(in_async: bool) -> None:
    """The reader gets every token, once and in order; so do those who ask for the whole."""
    evaluator = FaithfulnessEvaluator()
    response = engine(BAD, streaming=True)[0].query(QUESTION)
    assert isinstance(response, StreamingResponse)
    for _ in range(2):
        if in_async:
            result = asyncio.run(evaluator.aevaluate_response(QUESTION, response))
        else:
            result = evaluator.evaluate_response(QUESTION, response)
        assert (result.response, result.score) == (BAD, 0.5)
    tokens = list(response.response_gen)
    assert len(tokens) == len(BAD.split())
    assert "".join(tokens) == BAD == str(response)
    assert response.get_response().response == BAD


def test_an_async_stream_can_still_be_read_after_it_was_evaluated() -> None:
    """The same, for what `aquery` returns."""
    evaluator = FaithfulnessEvaluator()

    async def run() -> None:
        response = await engine(BAD, streaming=True)[0].aquery(QUESTION)
        assert isinstance(response, AsyncStreamingResponse)
        with pytest.raises(CaptureError, match="aevaluate_response"):
            evaluator.evaluate_response(QUESTION, response)
        results = await asyncio.gather(
            *(evaluator.aevaluate_response(QUESTION, response) for _ in range(3))
        )
        assert [result.response for result in results] == [BAD] * 3
        tokens = [token async for token in response.response_gen]
        assert len(tokens) == len(BAD.split())
        assert "".join(tokens) == BAD
        assert "".join([token async for token in response.async_response_gen()]) == BAD
        assert (await response.get_response()).response == BAD

    asyncio.run(run())


def test_a_stream_is_evaluated_by_several_at_once() -> None:
    """In threads, too, everybody sees the whole text, and the event loop is free meanwhile."""
    response = engine(BAD, streaming=True, pause=0.02)[0].query(QUESTION)
    evaluator = FaithfulnessEvaluator()

    async def run() -> tuple[list[FaithfulnessResult], int]:
        three = asyncio.gather(
            *(evaluator.aevaluate_response(QUESTION, response) for _ in range(3))
        )
        turns = 0
        while not three.done():
            await asyncio.sleep(0.01)
            turns += 1
        return await three, turns

    results, turns = asyncio.run(run())
    assert turns > 5
    assert [result.response for result in results] == [BAD] * 3
    assert "".join(response.response_gen) == BAD


def _read_one(response: StreamingResponse) -> None:
    next(response.response_gen)


def _read_all(response: StreamingResponse) -> None:
    assert "".join(response.response_gen) == BAD


@pytest.mark.parametrize("read", [_read_one, _read_all])
def test_what_is_left_of_a_stream_is_not_taken_for_the_answer(
    read: Callable[[StreamingResponse], None],
) -> None:
    """An answer whose text is gone is not an empty one that passes."""
    response = engine(BAD, streaming=True)[0].query(QUESTION)
    read(response)
    with pytest.raises(CaptureError, match="read from"):
        FaithfulnessEvaluator().evaluate_response(QUESTION, response)

    async def run() -> None:
        gone = await engine(BAD, streaming=True)[0].aquery(QUESTION)
        assert [token async for token in gone.response_gen]
        await FaithfulnessEvaluator().aevaluate_response(QUESTION, gone)

    with pytest.raises(CaptureError, match="read from"):
        asyncio.run(run())


def test_a_stream_that_llama_index_has_read_keeps_its_text() -> None:
    """After `str(response)` or `print_response_stream()` the text is there."""
    response = engine(BAD, streaming=True)[0].query(QUESTION)
    assert str(response) == BAD
    assert FaithfulnessEvaluator().evaluate_response(QUESTION, response).score == 0.5


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    """Neither at once nor when it is evaluated again, as `BatchEvalRunner` does."""
    evaluator = FaithfulnessEvaluator()

    def broken() -> Iterator[str]:
        yield OPENS
        raise ConnectionError

    async def abroken() -> AsyncIterator[str]:
        yield OPENS
        raise ConnectionError

    response: Any = StreamingResponse(broken(), nodes(*TEXTS))  # type: ignore[arg-type]
    with pytest.raises(ConnectionError):
        evaluator.evaluate_response(QUESTION, response)
    with pytest.raises(CaptureError):
        evaluator.evaluate_response(QUESTION, response)

    async def run() -> None:
        there: Any = AsyncStreamingResponse(abroken(), nodes(*TEXTS))  # type: ignore[arg-type]
        with pytest.raises(ConnectionError):
            await evaluator.aevaluate_response(QUESTION, there)
        with pytest.raises(CaptureError):
            await evaluator.aevaluate_response(QUESTION, there)

    asyncio.run(run())


def test_a_reading_that_is_cancelled_leaves_no_half_answer() -> None:
    """Who waits for the same stream is told, too."""
    evaluator = FaithfulnessEvaluator()

    async def slow() -> AsyncIterator[str]:
        yield OPENS
        await asyncio.sleep(10)
        yield LIE

    async def run() -> None:
        response: Any = AsyncStreamingResponse(slow(), nodes(*TEXTS))  # type: ignore[arg-type]
        waiting = asyncio.create_task(evaluator.aevaluate_response(QUESTION, response))
        await asyncio.sleep(0.02)
        other = asyncio.create_task(evaluator.aevaluate_response(QUESTION, response))
        await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(CaptureError):
            await other

    asyncio.run(run())


class Ticket(BaseModel):
    """What a model fills in."""

    price: str
    opens: str


@pytest.mark.parametrize(("price", "score"), [("7 euros", 1.0), ("9 euros", 0.5)])
def test_a_structured_response_is_evaluated_by_its_fields(price: str, score: float) -> None:
    """The fields of a pydantic object are the claims."""
    response = PydanticResponse(Ticket(price=price, opens="10:00"), nodes(*TEXTS))
    assert FaithfulnessEvaluator().evaluate_response(QUESTION, response).score == score


@pytest.mark.parametrize(
    "response", [Response(None), Response(""), PydanticResponse(None), StreamingResponse(NOTHING)]
)
def test_a_response_without_text_states_nothing(response: Any) -> None:
    """Nor does LlamaIndex's word for it, "None", become a claim."""
    for result in (
        FaithfulnessEvaluator().evaluate_response(QUESTION, response),
        asyncio.run(FaithfulnessEvaluator().aevaluate_response(QUESTION, response)),
    ):
        assert result.report.outcome == "no_claims"
        assert (result.response, result.passing, result.score) == ("", True, None)


@pytest.mark.parametrize("response", [GOOD, 7, {"response": GOOD}])
def test_what_is_no_response_is_refused_without_its_text(response: Any) -> None:
    """The message says what to pass."""
    with pytest.raises(CaptureError, match="what a query engine returned") as raised:
        FaithfulnessEvaluator().evaluate_response(QUESTION, response)
    assert "museum" not in str(raised.value)


def test_answers_of_chat_engines_are_responses_too() -> None:
    """Whole ones, and streams once they are read; before that there is no text to judge."""
    index: Any = VectorStoreIndex.from_documents(
        [Document(text=text) for text in TEXTS], embed_model=WordEmbedding()
    )
    chat = index.as_chat_engine(chat_mode="context", llm=ScriptedLLM(reply=Script(BAD), pause=0.01))
    evaluator = FaithfulnessEvaluator()
    assert evaluator.evaluate_response(QUESTION, chat.chat(QUESTION)).score == 0.5
    chat.reset()
    stream = chat.stream_chat(QUESTION)
    with pytest.raises(CaptureError, match="still being written"):
        evaluator.evaluate_response(QUESTION, stream)
    assert "".join(stream.response_gen) == BAD
    assert evaluator.evaluate_response(QUESTION, stream).score == 0.5


# -- LlamaIndex's users of evaluators ----------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
def test_a_batch_of_queries_is_evaluated(streaming: bool) -> None:
    """Engines that stream, too; every result is there, in order."""
    real, script = engine(BAD, streaming=streaming)
    evaluators: dict[str, BaseEvaluator] = {
        name: FaithfulnessEvaluator(domain=name) for name in ("medical", "support")
    }
    runner = BatchEvalRunner(evaluators, workers=4)
    questions = [QUESTION, "What does a ticket cost?", "When was the wheel built?"]
    results = asyncio.run(runner.aevaluate_queries(real, queries=questions))
    assert len(script.prompts) == 3
    for name in evaluators:
        assert [result.query for result in results[name]] == questions
        assert [result.score for result in results[name]] == [0.5] * 3
        assert [result.passing for result in results[name]] == [False] * 3


def test_a_batch_of_texts_is_evaluated_beside_other_evaluators() -> None:
    """What only the others need is passed to all; what has no score stays without one."""
    runner = BatchEvalRunner(
        {
            "faithful": FaithfulnessEvaluator(),
            "similar": theirs.SemanticSimilarityEvaluator(embed_model=WordEmbedding()),
        }
    )
    results = asyncio.run(
        runner.aevaluate_response_strs(
            queries=[QUESTION] * 3,
            response_strs=[GOOD, BAD, "I don't know."],
            contexts_list=[TEXTS] * 3,
            reference=[GOOD] * 3,  # type: ignore[arg-type]
        )
    )
    assert [result.score for result in results["faithful"]] == [1.0, 0.5, None]
    assert [result.passing for result in results["faithful"]] == [True, False, True]
    assert len(results["similar"]) == 3


def test_a_retry_engine_asks_again_and_says_why(default_model: Script) -> None:
    """The second question carries the claim that failed and the reason."""
    real, script = engine(BAD, GOOD)
    response = RetryQueryEngine(real, FaithfulnessEvaluator(domain="medical")).query(QUESTION)
    assert str(response) == GOOD
    assert len(script.prompts) == 2
    assert f"- not mentioned: {LIE}" in script.prompts[1]
    assert QUESTION in script.prompts[1]


def test_a_retry_engine_leaves_a_good_answer_alone(default_model: Script) -> None:
    """One call; an abstention is not asked again either."""
    for answer in (GOOD, "I don't know."):
        real, script = engine(answer)
        retrying = RetryQueryEngine(real, FaithfulnessEvaluator())
        assert str(asyncio.run(retrying.aquery(QUESTION))) == answer
        assert len(script.prompts) == 1


def test_a_guideline_retry_engine_works_with_it(default_model: Script) -> None:
    """Its feedback is words, as that engine wants it."""
    real, script = engine(BAD, GOOD)
    evaluator: Any = FaithfulnessEvaluator()
    assert str(RetryGuidelineQueryEngine(real, evaluator).query(QUESTION)) == GOOD
    assert f"- not mentioned: {LIE}" in script.prompts[1]


def test_a_source_retry_engine_works_with_it(default_model: Script) -> None:
    """It evaluates each source, and asks the default model about them."""
    real, script = engine(BAD)
    response = RetrySourceQueryEngine(real, FaithfulnessEvaluator()).query(QUESTION)
    assert str(response) == GOOD
    assert (len(script.prompts), len(default_model.prompts)) == (1, 1)


def _tool(real: BaseQueryEngine) -> EvalQueryEngineTool:
    return EvalQueryEngineTool(
        evaluator=FaithfulnessEvaluator(),
        query_engine=real,
        metadata=ToolMetadata(name="museum", description="Knows the museum."),
    )


@pytest.mark.parametrize("way", ["call", "acall"])
def test_an_evaluating_tool_replaces_what_does_not_pass(way: str) -> None:
    """The agent is told why instead of the answer, or gets the answer as it is."""
    for answer, passes in ((GOOD, True), (BAD, False)):
        tool = _tool(engine(answer)[0])
        output: Any = tool.call(QUESTION) if way == "call" else asyncio.run(tool.acall(QUESTION))
        assert (output.content == answer) is passes
        if not passes:
            assert output.content.startswith("Could not use tool museum")
            assert "1 of 2 claims supported" in output.content
