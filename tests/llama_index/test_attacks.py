"""Ways round the LlamaIndex guard that a hostile tester found: each stays closed."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from llama_index.core import SQLDatabase
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage, ChatResponseAsyncGen, ChatResponseGen
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.memory import (
    BaseMemory,
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    SimpleComposableMemory,
    VectorMemory,
)
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.query_engine import (
    CustomQueryEngine,
    MultiStepQueryEngine,
    NLSQLTableQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import (
    IndexNode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import ToolOutput
from pydantic import BaseModel, Field
from sqlalchemy import create_engine, text
from sqlalchemy.pool import StaticPool

from faithguard import CaptureError, Report, Scorer, UnfaithfulAnswerError
from faithguard.testing import TableVerifier
from faithguard_llama_index.testing import ScriptedLLM, WordEmbedding

from .test_guard import FALLBACK, Down, guarded, history, in_memory
from .watch_scene import (
    BAD,
    CHAT_ENGINES,
    CHAT_WAYS,
    HOURS,
    LIE,
    PRICE,
    QUESTION,
    RULES,
    TRUE,
    Shelf,
    asking,
    condense_chat,
    context_chat,
    finds,
    memory,
    prompts_of,
    says,
    seen,
    simple_chat,
    tool,
)


def leaks(value: Any) -> bool:
    """Say whether what someone holds shows the lie."""
    return "quillfeather" in f"{value}{value!r}".casefold()


def held(engine: Any, ask: str = QUESTION) -> Report:
    """Check that an answer is held back, and return the report."""
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded(engine).query(ask)
    return caught.value.report


class Shaped(CustomQueryEngine):
    """An engine that retrieves, asks, and gives the answer a form."""

    llm: Any
    shape: Callable[[str], Any]
    retriever: Any

    def custom_query(self, query_str: str) -> Any:
        """Answer."""
        notes = "\n".join(node.get_content() for node in self.retriever.retrieve(query_str))
        return self.shape(self.llm.complete(f"Notes: {notes}\nQuestion: {query_str}").text)


def shaped(said: str, shape: Callable[[str], Any]) -> Shaped:
    """Return an engine whose model says something, and which gives it a form."""
    return Shaped(llm=says(said), shape=shape, retriever=finds())


# -- where a model's words can stand ----------------------------------------------------------


class Note(BaseModel):
    """An object in metadata."""

    reason: str


class Longer(Response):
    """A response of a user's own, made in a user's own way."""

    def __init__(self, answer: str, remarks: Any) -> None:
        super().__init__(answer)
        self.remarks = remarks


def node(said: str, **fields: Any) -> NodeWithScore:
    """Return a node."""
    return NodeWithScore(node=TextNode(**{"text": said, **fields}))


def kin(said: str) -> dict[Any, Any]:
    """Return a relationship whose metadata hold a text."""
    return {NodeRelationship.PARENT: RelatedNodeInfo(node_id="1", metadata={"summary": said})}


BESIDE: dict[str, Callable[[str, str], Any]] = {
    "metadata": lambda a, x: Response(a, metadata={"m": x}),
    "key": lambda a, x: Response(a, metadata={x: 1}),
    "set": lambda a, x: Response(a, metadata={"m": {x}}),
    "deep": lambda a, x: Response(a, metadata={"m": [({"n": (x,)},)]}),
    "object": lambda a, x: Response(a, metadata={"m": Note(reason=x)}),
    "message": lambda a, x: Response(a, metadata={"m": ChatMessage(x)}),
    "bytes": lambda a, x: Response(a, metadata={"m": x.encode()}),
    "error": lambda a, x: Response(a, metadata={"m": ValueError(x)}),
    "node": lambda a, x: Response(a, [node(x)]),
    "metadata of a node": lambda a, x: Response(a, [node("", metadata={"m": {"n": x}})]),
    "id of a node": lambda a, x: Response(a, [node("", id_=x)]),
    "kin of a node": lambda a, x: Response(a, [node("", relationships=kin(x))]),
    "field of a subclass": Longer,
    "object in a subclass": lambda a, x: Longer(a, Note(reason=x)),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_a_model_wrote_beside_a_good_answer_is_verified(name: str) -> None:
    """Wherever in a response it stands; and a blocked one keeps nothing of it."""
    beside = BESIDE[name]
    report = held(shaped(BAD, lambda said: beside(HOURS, said)))
    assert any(not claim.supported for claim in report.claims)
    engine = shaped(BAD, lambda said: beside(said, said))
    response = guarded(engine, fallback=FALLBACK).query(QUESTION)
    assert not leaks(vars(response))
    assert response.response == FALLBACK
    response = guarded(shaped(HOURS, lambda said: beside(said, said))).query(QUESTION)
    assert type(response) is type(beside("", ""))


def test_a_response_without_nodes_can_be_blocked() -> None:
    """Some engines leave `source_nodes` None."""
    nothing: Any = None
    engine = shaped(BAD, lambda said: Response(said, source_nodes=nothing))
    assert str(guarded(engine, fallback=FALLBACK).query(QUESTION)) == FALLBACK


class Formed(BaseChatEngine):
    """A chat engine of a user's own, which gives its answer a form."""

    def __init__(self, llm: Any, shape: Callable[[str], Any], **parts: Any) -> None:
        self.llm = llm
        self.shape = shape
        self.memory = memory()
        vars(self).update(parts)

    def chat(self, message: str, chat_history: Any = None) -> Any:
        """Answer."""
        self.memory.put(ChatMessage(message))
        prompt = [ChatMessage(RULES, role="system"), *self.memory.get()]
        said = self.llm.chat(prompt).message
        self.memory.put(said)
        return self.shape(said.content)

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
        self.memory.reset()

    @property
    def chat_history(self) -> list[ChatMessage]:
        """The turns."""
        return self.memory.get_all()


def used(content: str = "", raw: Any = None, error: Exception | None = None) -> list[ToolOutput]:
    """Return the record of a tool."""
    return [
        ToolOutput(tool_name="t", content=content, raw_input={}, raw_output=raw, exception=error)
    ]


BESIDE_A_CHAT: dict[str, Callable[[str, str], AgentChatResponse]] = {
    "metadata": lambda a, x: AgentChatResponse(a, metadata={"m": x}),
    "content of a source": lambda a, x: AgentChatResponse(a, used(x)),
    "message of a source": lambda a, x: AgentChatResponse(a, used(raw=ChatMessage(x))),
    "response of a source": lambda a, x: AgentChatResponse(a, used(raw=Response(x))),
    "object of a source": lambda a, x: AgentChatResponse(a, used(raw=Note(reason=x))),
    "error of a source": lambda a, x: AgentChatResponse(a, used(error=ValueError(x))),
    "node": lambda a, x: AgentChatResponse(a, source_nodes=[node(x)]),
}


@pytest.mark.parametrize("name", BESIDE_A_CHAT)
def test_what_a_model_wrote_beside_a_chats_answer_is_verified(name: str) -> None:
    """The same for what a chat engine hands out of its tools."""
    beside = BESIDE_A_CHAT[name]
    with pytest.raises(UnfaithfulAnswerError):
        guarded(Formed(says(BAD), lambda said: beside(HOURS, said))).chat(QUESTION)
    chat = guarded(Formed(says(BAD), lambda said: beside(said, said)), fallback=FALLBACK)
    response = chat.chat(QUESTION)
    assert not leaks(vars(response))
    assert not any(leaks(vars(source)) for source in response.sources)
    assert str(response) == FALLBACK


@pytest.mark.parametrize("read", [False, True])
def test_a_stream_beside_an_answer_is_refused_until_it_is_read(read: bool) -> None:
    """Of one that is at its end nobody can read anything, and what it said is verified."""

    def beside(said: str) -> AgentChatResponse:
        raw = StreamingResponse(word for word in [said])
        return AgentChatResponse(HOURS, used(str(raw) if read else "", raw))

    error = UnfaithfulAnswerError if read else CaptureError
    with pytest.raises(error):
        guarded(Formed(says(BAD), beside)).chat(QUESTION)
    if read:
        assert str(guarded(Formed(says(HOURS), beside)).chat(QUESTION)) == HOURS


# -- what is no part of an answer -------------------------------------------------------------


def script(*cues: tuple[str, str], default: str) -> ScriptedLLM:
    """Return a model that answers by what stands in the prompt."""

    def reply(messages: list[ChatMessage]) -> str:
        prompt = "\n".join(str(message.content) for message in messages)
        return next((said for cue, said in cues if cue in prompt), default)

    return ScriptedLLM(reply=reply)


WHY = "The visitor wants something that only the first choice can tell."


def routed(said: str) -> Any:
    """A router whose model says why it chose."""
    llm = script(
        ("Some choices are given", json.dumps([{"choice": 1, "reason": f"{WHY} {LIE}"}])),
        default=said,
    )
    return RouterQueryEngine(LLMSingleSelector.from_defaults(llm), [tool(asking(llm))], llm=llm)


def stepwise(said: str) -> Any:
    """An engine that takes a question apart."""
    llm = script(("previous reasoning", "When does the observatory open its doors?"), default=said)
    return MultiStepQueryEngine(
        asking(llm),
        StepDecomposeQueryTransform(llm=llm),
        get_response_synthesizer(llm=llm),
        num_steps=2,
        index_summary="The observatory.",
    )


def questioned(said: str) -> Any:
    """A sub-question engine whose model writes the questions."""
    asked = [
        {"sub_question": "Which evenings does the observatory open?", "tool_name": "observatory"},
        {"sub_question": "What does a tour cost?", "tool_name": "observatory"},
    ]
    llm = script(("sub_question", json.dumps({"items": asked})), default=said)
    return SubQuestionQueryEngine(
        LLMQuestionGenerator.from_defaults(llm=llm),
        get_response_synthesizer(llm=llm),
        [tool(asking(llm))],
        verbose=False,
        use_async=False,
    )


@pytest.mark.parametrize("build", [routed, stepwise, questioned])
def test_what_a_model_asks_on_the_way_does_not_fail_a_faithful_answer(build: Any) -> None:
    """Why it chose, and what it asked retrievers, are in the response, and are no claims."""
    assert str(guarded(build(TRUE)).query(QUESTION)) == TRUE
    held(build(BAD))


@pytest.mark.parametrize("build", [routed, stepwise, questioned])
def test_nothing_that_a_model_asked_is_left_in_a_blocked_response(build: Any) -> None:
    """A selector's reason, and the nodes made of sub-answers."""
    response = guarded(build(BAD), fallback=FALLBACK).query(QUESTION)
    assert not leaks(vars(response))
    assert "selector_result" not in response.metadata


def test_a_query_for_a_database_is_not_verified_and_its_result_is_evidence() -> None:
    """`sql_query` in the metadata is what was asked; a short row in the prompt was seen."""
    database = create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    with database.begin() as connection:
        connection.execute(text("create table towers (city text, height int)"))
        connection.execute(text("insert into towers values ('Lindholm tower height', 120)"))
    query = "SELECT city, height FROM towers WHERE height > 100"
    llm = script(("Only use tables listed", query), default="Lindholm tower height: 120.")
    engine = NLSQLTableQueryEngine(
        SQLDatabase(database), llm=llm, tables=["towers"], embed_model=WordEmbedding()
    )
    reported = guarded(engine, on_fail="flag").with_report().query("How high is it?")
    assert reported.output.metadata["sql_query"] == query
    assert not any("SELECT" in claim.text for claim in reported.report.claims)
    assert seen(reported.report) == ["[('Lindholm tower height', 120)]"]
    database.dispose()


# -- what is evidence -------------------------------------------------------------------------


def nested(said: str, mode: str) -> Any:
    """An engine whose retriever asks another engine."""
    parts = {"root": Shelf(IndexNode(text="The whole leaflet.", index_id="all"), PRICE)}
    inner = {"all": asking(says(said), response_mode=mode)}
    retriever = RecursiveRetriever("root", parts, query_engine_dict=inner)
    return asking(says(said), retriever=retriever)


@pytest.mark.parametrize("mode", ["compact", "accumulate", "tree_summarize"])
def test_an_engine_inside_a_retriever_writes_no_evidence(mode: str) -> None:
    """Its answer is a node, and is not what another answer can rest on."""
    assert str(guarded(nested(TRUE, mode)).query(QUESTION)) == TRUE
    held(nested(BAD, mode))


def test_nodes_that_a_model_wrote_do_not_leave_through_retrieve() -> None:
    """`retrieve` of a guard hands out what was brought, and not what an engine inside said."""
    query = QueryBundle(QUESTION)
    engine = nested(BAD, "compact")
    assert leaks(engine.retrieve(query))
    assert [n.text for n in guarded(engine).retrieve(query)] == [PRICE]


MEMORIES: dict[str, Callable[[], BaseMemory]] = {
    "buffer": memory,
    "composed": lambda: SimpleComposableMemory.from_defaults(
        primary_memory=memory(),
        secondary_memory_sources=[VectorMemory.from_defaults(embed_model=WordEmbedding())],
    ),
}


@pytest.mark.parametrize("chats", [True, False])
@pytest.mark.parametrize("name", MEMORIES)
def test_what_a_user_said_earlier_is_no_evidence(name: str, chats: bool) -> None:
    """Neither as a message of the history nor written out in a completion's or system prompt."""
    llm = says("I see.", LIE)
    llm.is_chat_model = chats
    kept = MEMORIES[name]()
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=kept, system_prompt=RULES)
    chat = guarded(engine, on_fail="flag").with_report()
    chat.chat(f"I was told that this is so: {LIE}")
    report = chat.chat("So who hands out marzipan comets?").report
    assert leaks(prompts_of(llm)[-1])
    assert [claim.supported for claim in report.claims] == [False]


@pytest.mark.parametrize("chats", [True, False])
def test_an_earlier_answer_takes_nothing_from_the_evidence(chats: bool) -> None:
    """What was answered from the system prompt can be answered from it again."""
    llm = says(HOURS)
    llm.is_chat_model = chats
    chat = guarded(simple_chat(llm))
    for _ in range(3):
        assert str(chat.chat(QUESTION)) == HOURS


def test_a_summary_that_a_memory_had_written_is_no_evidence() -> None:
    """It stands in the history as a system message, also in the turns after it was written."""
    kept = ChatSummaryMemoryBuffer.from_defaults(
        llm=says(f"They agreed on this: {LIE}"), token_limit=40, tokenizer_fn=str.split
    )
    llm = says(HOURS, HOURS, HOURS, LIE)
    chat = guarded(SimpleChatEngine.from_defaults(llm=llm, memory=kept, system_prompt=RULES))
    for _ in range(3):
        chat.chat(QUESTION)
    assert leaks(prompts_of(llm)[-1])
    with pytest.raises(UnfaithfulAnswerError):
        chat.chat("Who hands out what?")


# -- memory -----------------------------------------------------------------------------------


def by_lambda(chat: Any) -> Any:
    """Close over the memory."""
    remembered = chat.memory
    return lambda message: remembered.put(message)


class Helper:
    """Something inside an engine that refers back to it."""

    def __init__(self, chat: Any) -> None:
        self.chat = chat

    def __call__(self, message: ChatMessage) -> None:
        """Keep a message."""
        self.chat.memory.put(message)


KEEPS: dict[str, Callable[[Any], Any]] = {
    "a function over the memory": by_lambda,
    "a function over the engine": lambda chat: lambda message: chat.memory.put(message),
    "a partial": lambda chat: partial(lambda kept, message: kept.put(message), chat.memory),
    "a method of the memory": lambda chat: chat.memory.put,
    "an object that refers back": Helper,
    "a list": lambda chat: [chat.memory.put],
}


class Keeping(Formed):
    """A chat engine that comes to its memory in a way of its own."""

    def __init__(self, llm: Any, keep: Callable[[Any], Any]) -> None:
        super().__init__(llm, AgentChatResponse, lock=threading.Lock())
        self.keep = keep(self)

    def chat(self, message: str, chat_history: Any = None) -> Any:
        """Answer."""
        put = self.keep[0] if isinstance(self.keep, list) else self.keep
        put(ChatMessage(message))
        with self.__dict__["lock"]:
            said = self.llm.chat([ChatMessage(RULES, role="system"), *self.memory.get()]).message
        put(said)
        return AgentChatResponse(said.content)


@pytest.mark.parametrize("name", KEEPS)
def test_no_way_to_the_memory_is_open_before_the_verdict(name: str) -> None:
    """However an engine's parts come to it; and the engine is left as it is."""
    engine = Keeping(says(BAD), KEEPS[name])
    before = dict(vars(engine))
    chat = guarded(engine)
    with pytest.raises(UnfaithfulAnswerError):
        chat.chat(QUESTION)
    assert history(chat) == []
    assert vars(engine) == before
    chat = guarded(Keeping(says(TRUE), KEEPS[name]))
    chat.chat(QUESTION)
    assert history(chat) == in_memory(QUESTION, TRUE)


class TwoMemories(Formed):
    """A chat engine that writes to two memories."""

    def chat(self, message: str, chat_history: Any = None) -> Any:
        """Answer."""
        self.__dict__["other"].put(ChatMessage(f"On the side: {message}"))
        return super().chat(message)


def test_each_memory_gets_its_own_turn() -> None:
    """Messages of one do not end up in another; one that took nothing gets nothing."""
    other, unused = memory(), memory()
    engine = TwoMemories(says(TRUE, BAD), AgentChatResponse, other=other, unused=unused)
    chat = guarded(engine, fallback=FALLBACK)
    chat.chat(QUESTION)
    assert history(chat) == in_memory(QUESTION, TRUE)
    assert [m.content for m in other.get()] == [f"On the side: {QUESTION}"]
    chat.chat(QUESTION)
    assert history(chat)[2:] == in_memory(QUESTION, FALLBACK)
    assert unused.get() == []


GIVEN = [ChatMessage("Hi.", role="user"), ChatMessage("Hello.", role="assistant")]


@pytest.mark.parametrize("way", CHAT_WAYS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("fails", ["retriever", "fallback", "model"])
def test_an_error_leaves_the_memory_as_it_was(fails: str, way: str) -> None:
    """Also where a history was handed over with the message, which is set at once."""
    down = context_chat(says(TRUE), retriever=Down())
    chat = {
        "retriever": lambda: guarded(down),
        "fallback": lambda: guarded(context_chat(says(BAD)), fallback=down),
        "model": lambda: guarded(context_chat(ScriptedLLM(reply=_fail))),
    }[fails]()
    chat.engine._memory.put(ChatMessage("Before."))

    async def ask() -> None:
        kind = getattr(chat, way)
        given = kind(QUESTION, chat_history=GIVEN)
        await (given if way.startswith("a") else asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="down"):
        asyncio.run(ask())
    assert history(chat) == [("user", "Before.")]


def _fail(messages: Any) -> str:
    raise RuntimeError("down")


@pytest.mark.parametrize("said", [TRUE, BAD])
@pytest.mark.parametrize("way", ["achat", "astream_chat"])
@pytest.mark.parametrize("build", [context_chat, condense_chat])
def test_a_cancelled_call_leaves_a_whole_turn_or_none(build: Any, way: str, said: str) -> None:
    """Whenever it comes; nothing is left running."""
    moments = random.Random(7)

    async def cancelled() -> None:
        for _ in range(8):
            chat = guarded(build(says(said, pause=0.001)), fallback=FALLBACK)
            task = asyncio.create_task(getattr(chat, way)(QUESTION))
            await asyncio.sleep(moments.random() * 0.06)
            task.cancel()
            ended = (await asyncio.gather(task, return_exceptions=True))[0]
            whole = in_memory(QUESTION, FALLBACK if said == BAD else said)
            assert history(chat) in ([], whole)
            if not isinstance(ended, asyncio.CancelledError):
                assert history(chat) == whole
        await asyncio.sleep(0.01)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelled())


def test_a_check_that_is_given_up_leaves_nothing() -> None:
    """A verifier that hangs: the caller's timeout ends it, and nothing was delivered."""
    slow = Scorer(verifiers=[TableVerifier({"*": 1.0}, seconds=0.5)])
    chat = guarded(context_chat(says(TRUE)), scorer=slow)
    chat.engine._memory.put(ChatMessage("Before."))

    async def ask() -> None:
        await asyncio.wait_for(chat.achat(QUESTION, GIVEN), 0.2)

    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    assert history(chat) == [("user", "Before.")]


def test_a_check_that_fails_holds_back() -> None:
    """A verifier that raises: not verified is not passed."""
    broken = Scorer(verifiers=[TableVerifier({"*": RuntimeError(LIE)})])
    with pytest.raises(UnfaithfulAnswerError, match="the check failed") as caught:
        guarded(asking(says(TRUE)), scorer=broken).query(QUESTION)
    assert not leaks(caught.value)


# -- streams ----------------------------------------------------------------------------------


class Cut(ScriptedLLM):
    """A model whose stream breaks off after a few words."""

    def stream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseGen:
        """Break off."""
        for place, part in enumerate(super().stream_chat(messages, **kwargs)):
            if place == 14:
                raise RuntimeError("cut off")
            yield part

    async def astream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseAsyncGen:
        """Break off."""
        parts = await super().astream_chat(messages, **kwargs)

        async def some() -> ChatResponseAsyncGen:
            place = 0
            async for part in parts:
                if (place := place + 1) == 14:
                    raise RuntimeError("cut off")
                yield part

        return some()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
@pytest.mark.parametrize("shape", CHAT_ENGINES)
def test_a_stream_that_breaks_off_delivers_nothing(shape: str, way: str) -> None:
    """The error comes from the call itself, without hanging; half an answer is none."""
    chat = guarded(CHAT_ENGINES[shape](Cut(reply=lambda _: BAD)))
    with pytest.raises(RuntimeError, match="cut off"):
        CHAT_WAYS[way](chat, QUESTION)
    assert history(chat) == []


@pytest.mark.parametrize("tokens", [[HOURS, None], iter([None, HOURS]), None])
def test_a_stream_of_anything_is_read(tokens: Any) -> None:
    """A list, None between the words, no stream at all: what is delivered is the text."""
    engine = shaped("", lambda _: StreamingResponse(tokens))
    response: Any = guarded(engine).query(QUESTION)
    assert "".join(response.response_gen) == (HOURS if tokens else "")


# -- errors -----------------------------------------------------------------------------------


def quoting(said: str) -> Any:
    """Fail as a parser does."""
    try:
        raise KeyError(said)
    except KeyError as error:
        raise RuntimeError("unreadable") from error


@pytest.mark.parametrize("on_fail", ["block", "regenerate"])
def test_an_error_that_quotes_an_answer_is_withheld(on_fail: Any) -> None:
    """With its causes; what is raised instead hangs on to nothing of it."""
    with pytest.raises(CaptureError, match="withheld") as caught:
        guarded(shaped(BAD, quoting), on_fail=on_fail).query(QUESTION)
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert not leaks(_logged(caught.value))


BLOCKED: dict[str, Callable[[], Any]] = {
    "query": lambda: guarded(asking(says(BAD))).query(QUESTION),
    "aquery": lambda: asyncio.run(guarded(asking(says(BAD))).aquery(QUESTION)),
    "regenerate": lambda: guarded(asking(says(BAD)), on_fail="regenerate").query(QUESTION),
    "chat": lambda: guarded(context_chat(says(BAD))).chat(QUESTION),
    "achat": lambda: asyncio.run(guarded(context_chat(says(BAD))).achat(QUESTION)),
    "stream_chat": lambda: guarded(context_chat(says(BAD))).stream_chat(QUESTION),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_a_traceback_with_its_variables_shows_no_answer(name: str) -> None:
    """Error trackers write down what the variables of each frame look like."""
    with pytest.raises(UnfaithfulAnswerError) as caught:
        BLOCKED[name]()
    assert not leaks(_logged(caught.value))


def _logged(error: BaseException) -> str:
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(shown.format())


# -- engines of all kinds ---------------------------------------------------------------------


class Around(BaseQueryEngine):
    """An engine that has whatever the engine inside has."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        super().__init__(None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def _query(self, query_bundle: QueryBundle) -> Any:
        return self.inner.query(query_bundle)

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        return await self.inner.aquery(query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def test_an_engine_that_delegates_can_be_asked_again() -> None:
    """Copying one must not ask the copy for what it does not have yet."""
    assert str(guarded(Around(asking(says(BAD, TRUE))), on_fail="regenerate").query(QUESTION)) == (
        TRUE
    )


def over(llm: Any) -> Callable[[str], str]:
    """Return a function that closes over a model."""
    return lambda prompt: llm.complete(prompt).text


class ByFunction(CustomQueryEngine):
    """An engine whose model is inside a function."""

    ask: Any
    retriever: Any

    def custom_query(self, query_str: str) -> str:
        """Answer."""
        notes = "\n".join(node.get_content() for node in self.retriever.retrieve(query_str))
        said = self.ask(f"{notes}\nQuestion: {query_str}")
        return said if isinstance(said, str) else said.text


REACHES: dict[str, Callable[[Any], Any]] = {
    "closure": over,
    "partial": lambda llm: partial(lambda model, prompt: model.complete(prompt).text, llm),
    "method": lambda llm: llm.complete,
}


@pytest.mark.parametrize("name", REACHES)
def test_a_model_inside_a_function_is_told_what_did_not_hold(name: str) -> None:
    """It is found by what the function closes over."""
    llm = says(BAD, TRUE)
    engine = ByFunction(ask=REACHES[name](llm), retriever=finds())
    assert str(guarded(engine, on_fail="regenerate").query(QUESTION)) == TRUE
    assert LIE in prompts_of(llm)[1]


class Told(BaseEventHandler):
    """An observer that keeps what engines answered."""

    answers: list[str] = Field(default_factory=list)

    def handle(self, event: Any, **kwargs: Any) -> None:
        """Keep an answer."""
        if type(event).__name__ == "QueryEndEvent":
            self.answers.append(str(event.response))


def test_the_event_of_a_guarded_query_holds_what_was_delivered() -> None:
    """The engine inside tells of its own answer, the guard of what became of it."""
    root, told = get_dispatcher(), Told()
    root.add_event_handler(told)
    try:
        guarded(asking(says(BAD)), fallback=FALLBACK).query(QUESTION)
    finally:
        root.event_handlers.remove(told)
    assert told.answers == [BAD, FALLBACK]


class Bare(ChatMemoryBuffer):
    """A memory that is read without any arguments."""

    def get(self) -> list[ChatMessage]:  # type: ignore[override]
        """Return all."""
        return self.get_all()


def test_a_memory_is_called_as_the_engine_calls_it() -> None:
    """Nothing is added to the arguments."""
    engine = Formed(says(TRUE), AgentChatResponse, memory=Bare.from_defaults(token_limit=999))
    assert str(guarded(engine).chat(QUESTION)) == TRUE


def test_an_app_that_replaces_the_dispatchers_handlers_changes_nothing() -> None:
    """Before a call they are put back; in the middle of one, what is not told is not passed."""
    root = get_dispatcher()
    before = [*root.event_handlers], [*root.span_handlers]
    try:
        safe = guarded(asking(says(TRUE, BAD)))
        root.event_handlers = []
        root.span_handlers = []
        assert str(safe.query(QUESTION)) == TRUE

        def quietly(said: str) -> str:
            root.event_handlers = []
            return said

        with pytest.raises(UnfaithfulAnswerError):
            guarded(shaped(BAD, quietly)).query(QUESTION)
    finally:
        root.event_handlers, root.span_handlers = before


# -- many at once -----------------------------------------------------------------------------


def test_guards_in_many_threads_hold_back_alike() -> None:
    """One guard, fifty threads, two kinds of questions."""

    def reply(messages: list[ChatMessage]) -> str:
        return BAD if "For Kim:" in str(messages[-1].content) else TRUE

    safe = guarded(asking(ScriptedLLM(reply=reply)), fallback=FALLBACK)

    def ask(place: int) -> str:
        return str(safe.query(f"For Kim: {QUESTION}" if place % 2 else QUESTION))

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, range(100))) == [TRUE, FALLBACK] * 50


def test_one_guard_serves_one_event_loop_after_another() -> None:
    """Three `asyncio.run` in a row, and blocking calls inside a running loop."""
    chat = guarded(context_chat(says(TRUE)))
    for _ in range(3):
        assert str(asyncio.run(chat.achat(QUESTION))) == TRUE

    async def blocking() -> str:
        return str(guarded(asking(says(TRUE))).query(QUESTION)) + str(chat.chat(QUESTION))

    assert asyncio.run(blocking()) == TRUE + TRUE
    assert len(history(chat)) == 8
