"""Errors, interrupts and commands that carry a model's text past the guard."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
)
from langchain_core.output_parsers import (
    JsonOutputParser,
    PydanticOutputParser,
)
from langchain_core.runnables import (
    RunnableConfig,
    RunnableLambda,
)
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from faithguard import CaptureError, UnfaithfulAnswerError

from .attack_scene import (
    SHORT,
    Visit,
    guarded,
    leaks,
    one_node,
    writes,
)
from .scene import (
    BAD,
    HOURS,
    LIE,
    QUESTION,
    WAYS,
    Chain,
    Turns,
    call,
    message_chain,
    says,
    text_chain,
)
from .test_watcher import agent

# -- errors -----------------------------------------------------------------------------------


class Parted(Exception):
    """An error that keeps what it could not read, and does not say it."""

    def __init__(self, kept: Any) -> None:
        super().__init__("the answer could not be read")
        self.llm_output = kept


class Unsayable(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Rude(BaseException):
    """No `Exception`."""


def _cause(text: str) -> None:
    raise RuntimeError("the parser failed") from ValueError(text)


def _context(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        raise RuntimeError("the parser failed")  # noqa: B904


def _suppressed(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        raise RuntimeError("the parser failed") from None


def _noted(text: str) -> None:
    error = RuntimeError("the parser failed")
    error.add_note(f"It was given: {text}")
    raise error


def _grouped(text: str) -> None:
    inner = ExceptionGroup("some", [KeyError("x"), ExceptionGroup("more", [ValueError(text)])])
    raise ExceptionGroup("several", [OSError(5, "disk"), inner])


def _raising(make: Callable[[str], BaseException]) -> Callable[[str], None]:
    def fail(text: str) -> None:
        raise make(text)

    return fail


RAISERS: dict[str, Callable[[str], None]] = {
    "plain": _raising(ValueError),
    "key": _raising(KeyError),
    "upper case": _raising(lambda text: ValueError(text.upper())),
    "part": _raising(lambda text: ValueError(f"not understood: {text[:33]}...")),
    "split": _raising(lambda text: ValueError(*text.split())),
    "list": _raising(lambda text: ValueError(text.split())),
    "escaped": _raising(lambda text: ValueError(json.dumps(json.dumps({"text": text})))),
    "wrapped": _raising(lambda text: ValueError(text.replace(" ", "\n"))),
    "attribute": _raising(Parted),
    "attribute in a dict": _raising(lambda text: Parted({"raw": [text]})),
    "attribute of an attribute": _raising(lambda text: Parted(SimpleNamespace(text=text))),
    "message": _raising(lambda text: Parted(AIMessage(text))),
    "bytes": _raising(lambda text: ValueError(text.encode())),
    "note": _noted,
    "cause": _cause,
    "context": _context,
    "context, suppressed": _suppressed,
    "unsayable": _raising(Unsayable),
    "base": _raising(Rude),
    "exit": _raising(SystemExit),
    "group": _grouped,
}


def tells(error: BaseException, word: str) -> bool:
    """Say whether anything that hangs on an error holds a word."""
    told = "".join(traceback.format_exception(error))
    open_: list[BaseException | None] = [error]
    while open_:
        if (current := open_.pop()) is not None:
            told += f"{current!s}{current.args!r}{vars(current)!r}"
            open_ += [current.__cause__, current.__context__]
            if isinstance(current, BaseExceptionGroup):
                open_ += current.exceptions
    return word in told.casefold()


def failing(text: str, fail: Callable[[str], None]) -> Chain:
    """A chain whose last step fails over what the model said."""

    def step(message: AIMessage) -> str:
        fail(message.text)
        return message.text

    return writes(text, step)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "astream"])
@pytest.mark.parametrize("name", RAISERS)
def test_an_error_that_carries_a_models_text_is_withheld(name: str, way: str) -> None:
    """In its place comes an error of ours; nothing that hangs on it holds the text."""
    if name == "exit" and way != "invoke":
        pytest.skip("asyncio itself ends the loop with a SystemExit of any task")
    with pytest.raises(CaptureError) as caught:
        WAYS[way](guarded(failing(LIE, RAISERS[name])), QUESTION, {})
    assert not tells(caught.value, "quillfeather")
    assert not tells(caught.value, "marzipan")


@pytest.mark.parametrize("name", sorted({*RAISERS} - {"part"}))
def test_a_short_text_in_an_error_is_withheld(name: str) -> None:
    """Two words may be a whole answer."""
    with pytest.raises(CaptureError) as caught:
        guarded(failing(SHORT, RAISERS[name])).invoke(QUESTION)
    assert not tells(caught.value, "02:30")


class Days(BaseModel):
    """What a parser expects."""

    days: int


PARSED = {
    "prose as JSON": (LIE, JsonOutputParser()),
    "short prose as JSON": (SHORT, JsonOutputParser()),
    "wrong field": (json.dumps({"days": LIE}), PydanticOutputParser(pydantic_object=Days)),
    "wrong short field": ('{"days":\n"02:30"\n}', PydanticOutputParser(pydantic_object=Days)),
}


@pytest.mark.parametrize("name", PARSED)
def test_what_parsers_quote_is_withheld(name: str) -> None:
    """LangChain's parsers put the whole text into message, attributes and cause."""
    text, parser = PARSED[name]
    with pytest.raises(CaptureError) as caught:
        guarded(text_chain(says(text)) | parser).invoke(QUESTION)
    assert not tells(caught.value, "quillfeather")
    assert not tells(caught.value, "02:30")


def test_a_tool_that_fails_over_its_arguments_is_withheld() -> None:
    """What a model puts into a tool's arguments is its text, too."""

    def refuse(text: str) -> str:
        """Keep a note."""
        raise ValueError(f"not accepted: {text}")

    note = StructuredTool.from_function(refuse, name="note")
    with pytest.raises(CaptureError) as caught:
        guarded(agent(Turns(turns=[call("note", text=LIE)], done=[]), [note])).invoke(QUESTION)
    assert not tells(caught.value, "quillfeather")


def test_an_error_in_a_batch_is_withheld() -> None:
    """A batch that returns its exceptions returns ours."""
    chain = guarded(failing(LIE, _cause))
    for error in chain.batch([QUESTION, QUESTION], return_exceptions=True):
        assert isinstance(error, CaptureError)
        assert not tells(error, "quillfeather")


INNOCENT: list[BaseException] = [
    RuntimeError("the database is closed"),
    KeyError("tariff"),
    OSError(28, "No space left on device"),
    Parted({"code": 17}),
    ExceptionGroup("several", [TimeoutError("after 30 s")]),
    SystemExit(3),
]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("error", INNOCENT, ids=lambda error: type(error).__name__)
def test_an_error_without_a_models_text_passes_unchanged(error: BaseException, way: str) -> None:
    """A fault of the chain is the caller's to see."""
    chain = failing(LIE, _raising(lambda _: error))
    with pytest.raises(type(error)) as caught:
        WAYS[way](guarded(chain), QUESTION, {})
    assert caught.value is error


def test_an_error_before_any_model_wrote_passes_unchanged() -> None:
    """What the caller said may stand in an error."""
    error = ValueError(f"the question is too long: {QUESTION}")

    def refuse(_: Any) -> Any:
        raise error

    with pytest.raises(ValueError, match="too long") as caught:
        guarded(RunnableLambda(refuse) | text_chain(says(LIE))).invoke(QUESTION)
    assert caught.value is error


def test_an_interrupt_by_keyboard_passes() -> None:
    """Whoever stops the program stops it."""
    with pytest.raises(KeyboardInterrupt):
        guarded(failing(LIE, _raising(lambda _: KeyboardInterrupt()))).invoke(QUESTION)


def test_a_cancelled_call_is_cancelled() -> None:
    """A task that is cancelled while the chain works ends as cancelled."""

    async def wait(message: AIMessage) -> str:
        await asyncio.sleep(30)
        return message.text

    async def run() -> None:
        chain = message_chain(says(LIE)) | RunnableLambda(lambda m: m.text, wait)
        task = asyncio.create_task(guarded(chain).ainvoke(QUESTION))
        await asyncio.sleep(0.2)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


@pytest.mark.parametrize("text", [BAD, SHORT])
@pytest.mark.parametrize("goto", [(), "node"])
def test_a_command_to_the_parent_graph_is_withheld(text: str, goto: Any) -> None:
    """An update that goes round the guard by an exception reaches neither caller nor state."""

    def hand_over(state: Visit) -> Any:
        said = text_chain(says(text)).invoke(state["question"])
        return Command(graph=Command.PARENT, update={"answer": said}, goto=goto)

    outer = one_node(guarded(one_node(hand_over)), checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    with pytest.raises(CaptureError) as caught:
        outer.invoke({"question": QUESTION}, thread)
    assert not tells(caught.value, "quillfeather")
    assert "answer" not in outer.get_state(thread).values


@pytest.mark.parametrize("text", [BAD, SHORT])
def test_an_interrupt_does_not_show_a_draft(text: str) -> None:
    """A graph that stops to show its draft to a person shows nothing unverified."""

    def draft(state: Visit) -> Any:
        said = text_chain(says(text)).invoke(state["question"])
        return {"answer": interrupt({"draft": said})}

    outer = one_node(guarded(one_node(draft)), checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    shown: list[Any] = []
    with suppress(CaptureError, UnfaithfulAnswerError):
        shown += outer.stream({"question": QUESTION, "answer": HOURS}, thread)
    assert not leaks(shown)
    assert not leaks(shown, "02:30")
