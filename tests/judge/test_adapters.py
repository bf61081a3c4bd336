"""The models that an app has, as judges that the app does not notice; and the command line."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from faithguard import ConfigError, Judge, Passage, Report, Scorer, UnfaithfulAnswerError
from faithguard.cli import app
from faithguard.testing import JudgeServer, check_verifier, honest, spoken
from tests.judge.scene import PASSAGES, RIGHT, exchange, labels

pytest.importorskip("langchain_core", reason="needs the extra: pip install '.[langchain]'")
pytest.importorskip("llama_index.core", reason="needs the extra: pip install '.[llama-index]'")

from langchain_core.callbacks import BaseCallbackHandler, get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import ConfigurableField, RunnableLambda
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer

from faithguard_langchain import FaithfulnessCallback, LangChainJudge, guard
from faithguard_langchain.testing import ScriptedChatModel
from faithguard_llama_index import FaithfulnessEvaluator, LlamaIndexJudge, unwatch, watch
from faithguard_llama_index import guard as guard_engine
from faithguard_llama_index.testing import PassageRetriever, ScriptedLLM
from tests.langchain.scene import QUESTION, TRUE, message_chain, says, text_chain

SHELF = "Ein Handtuch kostet 3 Euro und ist sauber, Seife ist gratis."
OPEN = "Ein Handtuch kostet 3 Euro."
NOWHERE = "Ein Pianist spielt und singt dabei."
"""What the local verifiers leave open, whatever model is shipped: it reads English only."""


def chat_judge(**settings: Any) -> LangChainJudge:
    """Return a judge over a model of LangChain's that judges honestly."""
    model = ScriptedChatModel(reply=lambda messages: spoken(honest(), str(messages[-1].content)))
    return LangChainJudge(model, **settings)


def llm(**settings: Any) -> ScriptedLLM:
    """Return a model of LlamaIndex's that judges honestly."""
    return ScriptedLLM(
        reply=lambda messages: spoken(honest(), str(messages[-1].content)), **settings
    )


def llm_judge(**settings: Any) -> LlamaIndexJudge:
    """Return a judge over it."""
    return LlamaIndexJudge(llm(), **settings)


JUDGES = pytest.mark.parametrize("make", [chat_judge, llm_judge], ids=["langchain", "llama-index"])


@JUDGES
@pytest.mark.parametrize("driver", ["score", "ascore"])
def test_a_frameworks_model_judges(make: Any, driver: str) -> None:
    """Its verdicts, quotes and costs are in the report."""
    scorer = Scorer(verifiers=[make()])
    if driver == "score":
        report = scorer.score(exchange())
    else:
        report = asyncio.run(scorer.ascore(exchange()))

    assert labels(report) == RIGHT
    assert report.usage.calls == 1


@JUDGES
def test_it_is_a_verifier(make: Any) -> None:
    """As the suite of every verifier says."""
    check_verifier(make())


class Heard(BaseCallbackHandler):
    """Notes the prompts of all model calls and every token."""

    def __init__(self) -> None:
        self.starts: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        """Note them."""
        self.starts.append(str(messages))


def test_a_guards_judge_is_not_heard_in_langchain() -> None:
    """Not by handlers of the call or of the model, nor by counters around it."""
    heard, own = Heard(), Heard()
    model = ScriptedChatModel(
        reply=lambda messages: spoken(honest(), str(messages[-1].content)), callbacks=[own]
    )
    safe = guard(message_chain(says(TRUE)), judge=LangChainJudge(model))
    with get_usage_metadata_callback():
        output = safe.invoke(QUESTION, {"callbacks": [heard]})

    async def events() -> list[Any]:
        return [event async for event in safe.astream_events(QUESTION, version="v2")]

    streamed = str(asyncio.run(events()))
    assert output.text == TRUE
    assert output.response_metadata["faithguard"]["passed"]
    assert len(heard.starts) == 1
    assert own.starts == []
    assert model.callbacks == [own]
    assert "statements" not in streamed
    assert "named after" not in streamed


def tells(model: ScriptedChatModel) -> Any:
    """Return the model as a function calls it, which no copy of the Runnable reaches."""
    return RunnableLambda(lambda messages: model.invoke(cast(Any, messages)))


def alone_score(made: Judge) -> Report:
    """Score by a judge alone, blocking."""
    return Scorer(verifiers=[made], cache=None).score(exchange())


def alone_ascore(made: Judge) -> Report:
    """Score by a judge alone, awaiting."""
    return asyncio.run(Scorer(verifiers=[made], cache=None).ascore(exchange()))


DRESSES: dict[str, Callable[[ScriptedChatModel, BaseCallbackHandler], Any]] = {
    "config": lambda model, h: model.with_config(callbacks=[h]),
    "config of a binding": lambda model, h: model.bind(stop=["x"]).with_config(callbacks=[h]),
    "its own": lambda model, h: model.model_copy(update={"callbacks": [h]}),
    "fallbacks": lambda model, h: model.with_fallbacks(
        [model.model_copy(update={"callbacks": [h]})]
    ).with_config(callbacks=[h]),
    "sequence": lambda model, h: (
        model.model_copy(update={"callbacks": [h]}) | RunnableLambda(lambda message: message)
    ),
    "alternatives": lambda model, h: model.model_copy(
        update={"callbacks": [h]}
    ).configurable_alternatives(
        ConfigurableField(id="model"),
        other=lambda: model.model_copy(update={"callbacks": [h]}),
    ),
    "another alternative": lambda model, h: model.configurable_alternatives(
        ConfigurableField(id="model"),
        other=lambda: model.model_copy(update={"callbacks": [h]}),
    ).with_config(configurable={"model": "other"}),
    "retry": lambda model, h: model.model_copy(update={"callbacks": [h]}).with_retry(),
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("score", [alone_score, alone_ascore])
def test_handlers_hear_nothing_of_a_judge_in_any_dress(dress: str, score: Any) -> None:
    """Wherever they hang; a watcher there does not watch its own judge."""
    model = ScriptedChatModel(reply=lambda messages: spoken(honest(), str(messages[-1].content)))
    heard, watcher = Heard(), FaithfulnessCallback()
    for handler in (heard, watcher):
        dressed = DRESSES[dress](model, handler)
        assert labels(score(LangChainJudge(dressed))) == RIGHT

    assert heard.starts == []
    assert watcher.wait(10)
    assert watcher.reports == ()


@pytest.mark.parametrize("score", [alone_score, alone_ascore])
def test_a_watcher_of_an_inner_model_does_not_watch_its_judge(score: Any) -> None:
    """Nor where a function calls the model."""

    def both(messages: Any) -> str:
        text = str(messages[-1].content)
        return spoken(honest(), text) if text.startswith("DATA ") else TRUE

    watcher = FaithfulnessCallback()
    model = ScriptedChatModel(reply=both, callbacks=[watcher])

    assert labels(score(LangChainJudge(tells(model)))) == RIGHT
    assert watcher.wait(10)
    assert watcher.reports == ()
    model.invoke(QUESTION)
    assert watcher.wait(10)
    assert len(watcher.reports) == 1


def test_a_guards_judge_decides() -> None:
    """What it does not find is held back; a watcher's judge tells of it."""
    safe = guard(text_chain(says(NOWHERE)), judge=chat_judge())
    with pytest.raises(UnfaithfulAnswerError) as held:
        safe.invoke(QUESTION)
    watcher = FaithfulnessCallback(judge=chat_judge())
    text_chain(says(NOWHERE)).invoke(QUESTION, {"callbacks": [watcher]})

    assert watcher.wait(10)
    assert len(watcher.reports) == 1
    for report in (held.value.report, watcher.reports[0]):
        assert "judge@" in report.versions["verifiers"]
        assert report.usage.calls == 1
        assert not report.decide("support").passed


def test_one_model_may_answer_and_judge() -> None:
    """The watcher sees one answer, and not the judge's."""

    def both(messages: Any) -> str:
        text = str(messages[-1].content)
        return spoken(honest(), text) if text.startswith("DATA ") else TRUE

    model = ScriptedChatModel(reply=both)
    watcher = FaithfulnessCallback(judge=LangChainJudge(model))
    text_chain(model).invoke(QUESTION, {"callbacks": [watcher]})

    assert watcher.wait(10)
    assert [report.exchange.answer for report in watcher.reports] == [TRUE]
    assert watcher.reports[0].score == 1.0


HOST: ContextVar[str] = ContextVar("host", default="")


@pytest.mark.parametrize("driver", ["score", "ascore"])
@pytest.mark.parametrize("framework", ["langchain", "llama-index"])
def test_a_judge_runs_outside_of_its_hosts_context(framework: str, driver: str) -> None:
    """Callbacks, spans and counters that travel in context variables are not there."""
    seen: list[str] = []

    def reply(messages: Any) -> str:
        seen.append(HOST.get())
        return spoken(honest(), str(messages[-1].content))

    judge: Judge = (
        LangChainJudge(ScriptedChatModel(reply=reply))
        if framework == "langchain"
        else LlamaIndexJudge(ScriptedLLM(reply=reply))
    )
    token = HOST.set("a host")
    scorer = Scorer(verifiers=[judge])
    report = (
        scorer.score(exchange()) if driver == "score" else asyncio.run(scorer.ascore(exchange()))
    )
    HOST.reset(token)

    assert labels(report) == RIGHT
    assert seen == [""]


class Breaks(BaseChatModel):
    """A model that raises, or says what no judge says."""

    message: Any

    @property
    def _llm_type(self) -> str:
        return "breaks"

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        if isinstance(self.message, float):
            time.sleep(self.message)
        if isinstance(self.message, Exception):
            raise self.message
        said = self.message if isinstance(self.message, AIMessage) else AIMessage("")
        return ChatResult(generations=[ChatGeneration(message=said)])


class RateLimitError(Exception):
    """As SDKs name it."""


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (RateLimitError("The sauna"), "unavailable"),
        (ValueError("The sauna"), "error"),
        (TimeoutError("The sauna"), "timeout"),
        (1.0, "timeout"),
        (AIMessage("", additional_kwargs={"refusal": "no"}), "refused"),
        (AIMessage("{", response_metadata={"finish_reason": "length"}), "unparsable"),
        (AIMessage("{", response_metadata={"stop_reason": "max_tokens"}), "unparsable"),
        (AIMessage([{"type": "thinking", "thinking": "supported"}]), "unparsable"),
    ],
)
def test_what_a_frameworks_model_may_do(message: Any, kind: str) -> None:
    """Its faults have a kind, and none of their text; its thoughts are no verdicts."""
    timeout = 0.4 if isinstance(message, float) else 30.0
    judge = LangChainJudge(Breaks(message=message), timeout=timeout)
    reports = [Scorer(verifiers=[judge], cache=None).score(exchange())]
    reports.append(asyncio.run(Scorer(verifiers=[judge], cache=None).ascore(exchange())))

    for report in reports:
        assert report.outcome == "failed"
        assert {failure.kind for failure in report.failures} == {kind}
        assert not any("sauna" in failure.message for failure in report.failures)


def test_a_bound_model_and_a_function() -> None:
    """What takes messages and returns one is a model; what is none is refused by name."""
    model = ScriptedChatModel(reply=lambda messages: spoken(honest(), str(messages[-1].content)))
    bound = LangChainJudge(model.bind(stop=["never"]))
    function = LangChainJudge(RunnableLambda(lambda messages: model.invoke(messages)))

    for judge in (bound, function):
        assert labels(Scorer(verifiers=[judge]).score(exchange())) == RIGHT
    assert LangChainJudge(model).name == LangChainJudge(model).name != bound.name
    for make in (LangChainJudge, LlamaIndexJudge):
        with pytest.raises(ConfigError, match="OpenAIJudge"):
            make("gpt")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="LangChainJudge"):
        Judge(model)  # type: ignore[arg-type]


# LlamaIndex ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _unwatched() -> Iterator[None]:
    yield
    unwatch()


def engine(answer: str) -> RetrieverQueryEngine:
    """Return a query engine about the bath house."""
    return RetrieverQueryEngine(
        PassageRetriever(passages=[*PASSAGES, Passage(text=SHELF)]),
        get_response_synthesizer(llm=ScriptedLLM(reply=lambda messages: answer)),
    )


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (RateLimitError("The sauna"), "unavailable"),
        (ValueError("The sauna"), "error"),
        (TimeoutError("The sauna"), "timeout"),
        (1.0, "timeout"),
        ("", "unparsable"),
        ("The sauna is supported.", "unparsable"),
        ("<think>supported", "unparsable"),
    ],
)
def test_what_a_model_of_llama_index_may_do(said: Any, kind: str) -> None:
    """Its faults have a kind, and none of their text."""

    def reply(_: Any) -> str:
        if isinstance(said, Exception):
            raise said
        if isinstance(said, float):
            time.sleep(said)
        return said if isinstance(said, str) else ""

    judge = LlamaIndexJudge(
        ScriptedLLM(reply=reply), timeout=0.4 if isinstance(said, float) else 30.0
    )
    reports = [Scorer(verifiers=[judge], cache=None).score(exchange())]
    reports.append(asyncio.run(Scorer(verifiers=[judge], cache=None).ascore(exchange())))

    for report in reports:
        assert report.outcome == "failed"
        assert {failure.kind for failure in report.failures} == {kind}
        assert not any("sauna" in failure.message for failure in report.failures)


@JUDGES
@pytest.mark.parametrize("mode", ["extracted", "together"])
def test_a_frameworks_model_splits_as_well(make: Any, mode: str) -> None:
    """In the forms of their own that this takes."""
    assert labels(Scorer(verifiers=[make(claims=mode)]).score(exchange())) == RIGHT


def test_a_judge_is_not_heard_in_llama_index() -> None:
    """Not by the callback manager of its model, and not by our own watcher."""
    counter = TokenCountingHandler()
    model = llm(callback_manager=CallbackManager([counter]))
    watcher = watch(judge=LlamaIndexJudge(model))
    safe = guard_engine(engine(OPEN), judge=LlamaIndexJudge(model))
    response = safe.query("Was kostet ein Handtuch?")

    assert str(response) == OPEN
    assert watcher.wait(10)
    assert len(watcher.reports) == 1
    assert watcher.reports[0].usage.calls == 1
    assert watcher.reports[0].score == 1.0
    assert counter.llm_token_counts == []
    assert watcher.open_runs == 0


def test_a_judge_decides_in_llama_index() -> None:
    """For guards, also awaiting, and for the evaluator."""
    safe = guard_engine(engine(NOWHERE), judge=llm_judge(), fallback="Ask.")
    result = FaithfulnessEvaluator(judge=llm_judge()).evaluate(response=OPEN, contexts=[SHELF])

    assert str(safe.query("Who plays on Sundays by the lake?")) == "Ask."
    assert str(asyncio.run(safe.aquery("Who plays on Sundays by the lake?"))) == "Ask."
    assert result.passing
    assert result.report.usage.calls == 1


# The command line ------------------------------------------------------------------------------


def test_the_command_line_takes_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For one answer and for a file of them; its server and its key are told."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    context, answer = tmp_path / "context.txt", tmp_path / "answer.txt"
    context.write_text(SHELF)
    answer.write_text(OPEN)
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({"answer": OPEN, "context": [SHELF], "question": ""}) + "\n")
    out = tmp_path / "out.jsonl"
    with JudgeServer(honest()) as server:
        judge = ["--judge", "any", "--judge-url", server.url]
        files = ["--context", str(context), "--answer", str(answer), "--json"]
        checked = CliRunner().invoke(app, ["check", *files, *judge])
        scored = CliRunner().invoke(app, ["score", str(lines), "-o", str(out), *judge])

    assert (checked.exit_code, scored.exit_code) == (0, 0), checked.output + scored.output
    assert json.loads(checked.stdout)["usage"]["calls"] == 1
    assert "judge@" in json.loads(out.read_text())["report"]["versions"]["verifiers"]


def test_the_command_line_says_what_a_judge_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key, or a model for its server."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    text = tmp_path / "text.txt"
    text.write_text(TRUE)
    files = ["check", "--context", str(text), "--answer", str(text)]
    no_key = CliRunner().invoke(app, [*files, "--judge", "any"])
    no_model = CliRunner().invoke(app, [*files, "--judge-url", "http://127.0.0.1:9/v1"])

    assert (no_key.exit_code, no_model.exit_code) == (2, 2)
    assert "OPENAI_API_KEY" in no_key.stderr
    assert "no model" in no_model.stderr
