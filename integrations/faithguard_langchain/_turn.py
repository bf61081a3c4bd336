"""One turn of a guarded agent, without I/O.

In: the messages of the state, and what models answer, hop by hop. Out: what to verify (only
what ends the turn; a wish to call tools goes on as it is), what to tell the model, and what
becomes of the answer. `_agents` makes the calls, blocking or awaiting.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from faithguard import Exchange, Passage, Policy, Record, contents
from faithguard.capture import Trace, time_now
from faithguard.guard import Course, with_passages
from faithguard_langchain._capture import tool_passages
from faithguard_langchain._outputs import spoken
from faithguard_langchain._scalars import (
    is_id,
    is_meta,
    listed_in,
    numbers_in,
    scalars_in,
    stated,
)
from faithguard_langchain._values import (
    calls_in,
    context_of,
    given_in,
    is_error,
    message_of,
    plain_input,
    text_of,
    texts_in,
)

__all__ = [
    "WRITTEN",
    "Handle",
    "Notes",
    "Turn",
    "answer_texts",
    "answered_in",
    "turn_id",
    "turn_start",
]


WRITTEN = "faithguard_written"
"""Marks a tool's message whose text a model wrote, inside the tool: it is no evidence."""


class Notes:
    """What a trace is told of the messages of a state, each of them once.

    Evidence is what tools brought, in this turn or in an earlier one that the model is shown; what
    anybody said in an earlier one is memory. A tool's message counts only behind the call of a
    model that it answers, and none that tells of an error.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._noted: set[str] | None = None
        self._errors: list[str] = []

    def failed(self, told: str) -> None:
        """Take what a tool that failed said of that."""
        self._errors += [flat] if (flat := _flat(told)) else []

    def tells_of_error(self, message: BaseMessage) -> bool:
        """Say whether a tool's message tells of an error, though a middleware made it a result."""
        flat = _flat(text_of(message))
        return is_error(message) or (
            isinstance(message, ToolMessage) and any(told in flat for told in self._errors)
        )

    def take(self, messages: Any, given: Sequence[BaseMessage] = ()) -> None:
        """Take messages as they are now; what was told before stays told.

        Args:
            messages: The state's; anything but messages in it is passed over.
            given: What a model is called with; a middleware may have added to it.
        """
        listed = cast("list[Any]", messages if isinstance(messages, list) else [messages])
        held = [m for m in listed if isinstance(m, BaseMessage)]
        if self._noted is None:
            start = turn_start(held)
            earlier = [m for m in held[:start] if not isinstance(m, SystemMessage)]
            told = [m for m in earlier[:-1] if not isinstance(m, ToolMessage)]
            self._trace.recalled(message_of(m) for m in told)
            for message in told:
                if isinstance(message, AIMessage):
                    self._trace.passed(_handed(message))
            shown = {_key(m) for m in given or held}
            self._noted = {
                _key(m) for m in earlier if not isinstance(m, ToolMessage) or _key(m) not in shown
            }
        asked: dict[str | None, list[str]] = {}
        for message in [*held, *given]:
            if isinstance(message, AIMessage):
                asked |= dict(calls_in(message))
                self._trace.gave(given_in(message))
            if (key := _key(message)) not in self._noted:
                self._noted.add(key)
                self._tell(key, message, asked)

    def _tell(self, key: str, message: BaseMessage, asked: Mapping[str | None, list[str]]) -> None:
        if isinstance(message, AIMessage):
            self._trace.wrote(text_of(message))
            self._trace.gave(said=text_of(message))
            self._trace.passed(_handed(message))
        elif self.tells_of_error(message) and not is_error(message):
            self._trace.added(text_of(message))
        elif isinstance(message, ToolMessage) and message.response_metadata.get(WRITTEN):
            self._trace.added(text_of(message))
            self._trace.gave([text_of(message)])
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            self._trace.asked(key, asked[message.tool_call_id])
            self._trace.retrieved(key, tool_passages(message, message.name or "tool"))


class Turn:
    """What is known of one turn of an agent: its evidence and the attempts at its answer.

    Args:
        policy: Decides on each attempt.
        max_attempts: Answers to have written at most in the turn.
    """

    def __init__(self, policy: Policy, *, max_attempts: int) -> None:
        self.trace = Trace(started_at=time_now())
        self.delivered = ""
        """The text of the answer that was let through last."""
        self._policy = policy
        self._most = max_attempts
        self._course: Course | None = None
        self._notes = Notes(self.trace)

    def note(self, state: Mapping[str, Any], given: Sequence[BaseMessage]) -> None:
        """Take what the state holds before a model call, and what the model is called with."""
        messages = cast("list[BaseMessage]", state.get("messages") or [])
        if self.trace.inputs is None:
            self.trace.inputs = plain_input({"messages": messages[: turn_start(messages)]})
        self._notes.take(messages, given)
        # documents that a middleware found and wrote into the state
        if not self.trace.fetched and (found := context_of(state, None)):
            self.trace.retrieved("", found)

    def failed(self, told: str) -> None:
        """Take what a tool that failed said of that."""
        self._notes.failed(told)

    def open_in(self, message: BaseMessage) -> list[str]:
        """Return the parts of a message that nothing has verified, and that must be.

        They are what a model of this turn wrote; of a message that tells of an error, all.
        """
        text = text_of(message)
        if self._notes.tells_of_error(message):
            return [text] if text.strip() else []
        return self.trace.writing(beside=[self.delivered]).parts(text)

    def exchange(self, texts: Sequence[str]) -> Exchange:
        """Return what to verify of an answer."""
        return self.trace.exchange("\n\n".join(texts))

    def course(self, *, may_ask: bool = True) -> Course:
        """Return the course of the answer; attempts are counted over the whole turn.

        Args:
            may_ask: Whether the model can be asked again; if not, this is another answer.
        """
        if self._course is None or not may_ask:
            self._course = Course(self._policy, max_attempts=self._most, may_ask=may_ask)
        return self._course

    def again(self, feedback: str, passages: tuple[Passage, ...]) -> str:
        """Return what to tell the model that is asked again.

        Args:
            feedback: What failed.
            passages: What was found since for the claims that failed.
        """
        self.trace.added(feedback)
        self.trace.found_since(passages)
        return with_passages(feedback, passages)

    def close(self, delivered: str) -> Record:
        """Return the record of the attempts; a further answer in this turn is another one."""
        course = cast(Course, self._course)
        self._course, self.delivered = None, delivered
        return course.record()


class Handle(str):
    """The name of a turn, as the state of a run holds it; the turn itself stays in the process.

    A plain string to whoever copies, stores or prints the state.
    """

    turn: Turn

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Be a string without a turn wherever it is taken."""
        return str, (str(self),)


def turn_start(messages: Sequence[BaseMessage]) -> int:
    """Return where the turn begins: behind the user's last message.

    A summary that a middleware wrote has the form of a user's message, and is none.
    """
    users = (
        place
        for place, message in enumerate(messages, 1)
        if isinstance(message, HumanMessage)
        and message.additional_kwargs.get("lc_source") != "summarization"
    )
    return max(users, default=0)


def turn_id(messages: Sequence[BaseMessage]) -> str:
    """Return what is the same in all hops of a turn: what the user's message is known by."""
    start = turn_start(messages)
    return _key(messages[start - 1]) if start else ""


def answer_texts(
    messages: Iterable[BaseMessage],
    structured: Any = None,
    schema: Any = None,
    prompt: Iterable[BaseMessage] = (),
) -> list[str] | None:
    """Return what a model's output says to the user; None if it only asks for tools.

    A number or a truth value in a structured response is said with its name, "dose mg: 500",
    but for marks that a model gives its answer, places in the context, and ids that it was given.

    Args:
        messages: The output; a structured response is a tool call that is answered in it.
        structured: The structured response.
        schema: What it must be like; words that a schema lists are its author's, not a model's.
        prompt: What the model was given.
    """
    held = list(messages)
    said = [m for m in held if isinstance(m, AIMessage)]
    calls = [call for message in said for call in message.tool_calls]
    answered = answered_in(held)
    if not said or (structured is None and calls and not answered):
        return None
    beside = [
        whole for message in said for whole in spoken(message, {call["id"] for call in calls})
    ]
    fields = [call["args"] for call in calls if call["id"] in answered]
    texts: list[str] = []
    for whole in beside:
        written = None if structured is None else _read(whole)
        fields += [] if written is None else [written]
        texts += [whole] if written is None else texts_in(written)
    texts += contents.texts_in([*fields, structured])
    listed: list[Any] = [] if structured is None else list(listed_in(schema))
    # what a schema fills in by itself, no model wrote
    texts += _stated_in(fields or structured, listed, prompt) if structured is not None else ()
    return [t for t in dict.fromkeys(texts) if t.strip() and t not in listed] or [""]


def _stated_in(fields: Any, listed: Sequence[Any], prompt: Iterable[BaseMessage]) -> Iterator[str]:
    """Yield what the numbers and truth values of a structured response say."""
    given: set[str] | None = None
    for name, value in scalars_in(fields):
        if isinstance(value, str) or is_meta(name, value):
            continue  # a string is verified as it is
        if value in listed and not isinstance(value, bool):
            continue
        if is_id(name):
            given = {n for m in prompt for n in numbers_in(text_of(m))} if given is None else given
            if str(value) in given:
                continue
        yield stated(name, value)


def answered_in(messages: Iterable[BaseMessage]) -> set[str]:
    """Return the ids of the tool calls that messages answer."""
    return {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}


def _read(text: str) -> Any:
    """Return what a structured response holds that is written out; None if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _handed(message: AIMessage) -> Iterator[str]:
    """Yield what a model hands to tools."""
    return (text for call in message.tool_calls for text in texts_in(call["args"]))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _key(message: BaseMessage) -> str:
    return message.id or repr((message.type, message.content))
