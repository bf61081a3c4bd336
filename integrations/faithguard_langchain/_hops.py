"""One call of a guarded agent to its model, without I/O.

In: the agent's request, then the model's responses. Out: what to call the model with, what of a
response is to be verified, and what the agent gets. `_agents` makes the calls.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from faithguard import CaptureError, Record
from faithguard.guard import Step
from faithguard_langchain._agent_streams import Flow, asks
from faithguard_langchain._call import is_marked, marked
from faithguard_langchain._isolation import Caught, GuardCapture, detached, heard, silenced
from faithguard_langchain._refuse import refuse_handlers
from faithguard_langchain._turn import Handle, Turn, answer_texts, answered_in
from faithguard_langchain._values import fields_of, text_of

__all__ = ["Hop", "Request", "Response", "Texts", "is_fallback", "mendable"]

Request = ModelRequest[Any]
Response = ModelResponse[Any]
Texts = Sequence[str]

_MOST_UNREAD = 10
"""Structured responses in one hop that may not fit their schema; the agent's loop has no end."""


class _Guard(Protocol):
    """What a hop needs of its guard."""

    def turn_of(self, state: Any) -> Handle: ...
    def update(self, handle: Handle) -> dict[str, Any]: ...
    def close(self, turn: Turn, step: Step, delivered: str) -> Record: ...
    def tell(self, record: Record) -> None: ...


class Hop:
    """One call of the agent to its model, without I/O.

    Attributes:
        turn: What it belongs to.
        request: What to call the model with; it grows when the model is asked again.
        response: The model's last response.
    """

    response: Response

    def __init__(self, guard: _Guard, request: Request) -> None:
        refuse_handlers(request.model)
        self._guard = guard
        self._handle = guard.turn_of(request.state)
        self.turn = self._handle.turn
        self.turn.note(fields_of(request.state) or {}, request.messages)
        # what a middleware writes to LangGraph's custom stream is not verified either
        self.request = replace(request, runtime=silenced(request.runtime))
        self._unread = 0

    def apart(self, manager: BaseCallbackManager, config: RunnableConfig) -> RunnableConfig:
        """Return the config of the model's run, from which nothing reaches the caller."""
        return heard(detached(manager, config), GuardCapture(self.turn.trace))

    @property
    def caught(self) -> Caught:
        """A context for the model's run."""
        return Caught(self.turn.trace)

    def unreadable(self) -> bool:
        """Say whether a structured response could not be read, and have it written again.

        The agent would do so, too, but keep it in its state, where nothing has verified it.
        """
        held = self.response.result
        calls = {c["id"] for m in held if isinstance(m, AIMessage) for c in m.tool_calls}
        answered = answered_in(held)
        if self.response.structured_response is not None or not answered or calls != answered:
            return False
        self._unread += 1
        if self._unread > _MOST_UNREAD:
            raise CaptureError(
                f"the model's structured response does not fit its schema, {_MOST_UNREAD} times"
            )
        messages: list[Any] = [*self.request.messages, *held]
        self.request = self.request.override(messages=messages)
        return True

    def texts(self) -> list[str] | None:
        """Return what of the response is to be verified; None if nothing is."""
        result = self.response.result
        if any(is_fallback(message) for message in result):
            return None  # another guard's, which no model wrote
        structured = self.response.structured_response
        request = self.request
        return answer_texts(result, structured, request.response_format, request.messages)

    def mendable(self, texts: Texts) -> str:
        """Return the text that another one can stand in for; none of a structured response's."""
        said = self.response.result[-1]
        return mendable(texts, text_of(said)) if self.response.structured_response is None else ""

    def again(self, texts: Texts, told: str) -> None:
        """Prepare the next call: with what the model said, and what it is told of that."""
        said, back = AIMessage("\n\n".join(texts)), HumanMessage(told)
        self.request = self.request.override(messages=[*self.request.messages, said, back])

    def close(self, step: Step, instead: BaseMessage | None) -> ExtendedModelResponse[Any]:
        """Return what the agent gets: the response, or what stands in its place."""
        if step.answer is not None:
            instead = AIMessage(step.answer)
        if instead is not None:
            self.response = ModelResponse([instead])
        result = self.response.result
        record = self._guard.close(self.turn, step, "".join(text_of(m) for m in result))
        result = [m if is_fallback(m) else marked(m, record) for m in result]
        self.response = replace(self.response, result=result)
        return self.passed()

    # -- an answer that is released claim by claim ----------------------------------------------

    def begin(self, flow: Flow) -> None:
        """Begin an attempt of a stream."""
        rules = [] if self.request.system_message is None else [self.request.system_message]
        prompt = [*rules, *self.request.messages]
        flow.begin(partial(asks, prompt), calls=bool(self.request.tools))

    @contextmanager
    def running(self, flow: Flow | None) -> Generator[None]:
        """Be there while the model runs, which may be stopped without a response."""
        self.response = ModelResponse([])
        with nullcontext() if flow is None else flow.running(self.turn.trace.wrote):
            yield

    def left(self, flow: Flow, texts: Texts | None) -> str | None:
        """Return what of the answer is still to be pushed; None if it does not go by claim."""
        if texts is None and self.response.result:
            return None
        return flow.left((self.mendable(texts) if texts else "") or None)

    def released(self, flow: Flow, instead: BaseMessage | None) -> BaseMessage:
        """Take what was released, and what stands in the place of the rest, as the response.

        Raises:
            UnfaithfulAnswerError: If the answer is blocked and there is no fallback.
        """
        course, result = flow.course, self.response.result
        if not course.blocked:
            result = [*result[:-1], flow.message(result[-1])]
        elif instead is not None:
            result = [flow.instead(instead)]
        self.turn.delivered = "".join(text_of(m) for m in result)
        self._guard.tell(course.record)
        course.raise_if_blocked()
        result = [m if is_fallback(m) else marked(m, course.record) for m in result]
        self.response = ModelResponse(result)
        return result[-1]

    def shown(self, flow: Flow) -> BaseMessage:
        """Return the message that is no answer, as the caller's streams know it."""
        *before, last = self.response.result
        self.response = replace(self.response, result=[*before, flow.known(last)])
        return self.response.result[-1]

    def passed(self) -> ExtendedModelResponse[Any]:
        """Return the response, with the turn that it belongs to."""
        return ExtendedModelResponse(
            self.response, Command(update=self._guard.update(self._handle))
        )


def mendable(texts: Texts, whole: str) -> str:
    """Return a text that is all there is to verify; nothing if there is more to it."""
    return whole if list(texts) == [whole] else ""


def is_fallback(message: BaseMessage) -> bool:
    """Whether a guard nearer to the model has put a message in the place of an answer."""
    return is_marked(message) and message.response_metadata["faithguard"]["action"] == "block"
