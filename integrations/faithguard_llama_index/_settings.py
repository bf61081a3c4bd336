"""What a guard of LlamaIndex's engines was told, and one call of it, without I/O.

In: settings; the question, then the response and the report of each attempt. Out: the engine to
ask, what to verify, what to do next, and what the caller gets. `_drive` makes the calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.base.response.schema import PydanticResponse
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore

from faithguard import (
    CaptureError,
    ConfigError,
    Exchange,
    Passage,
    Report,
    UnfaithfulAnswerError,
)
from faithguard.capture import Trace, time_now
from faithguard.guard import (
    Course,
    Reported,
    Step,
    note_of,
    with_passages,
    withheld,
    wrong_in,
)
from faithguard.guard import Settings as GuardSettings
from faithguard.replay import Replay
from faithguard_llama_index._again import MemoryStandIn, holds, replaced, replaying
from faithguard_llama_index._flow import Flow
from faithguard_llama_index._outputs import Drained, delivered, texts_of, what_stays, with_answer
from faithguard_llama_index._tap import Scope
from faithguard_llama_index._values import message_of, passages_of, snapshots

__all__ = ["Call", "Reported", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings(GuardSettings):
    """What a guard of an engine was told; made by `guard`."""

    def __deepcopy__(self, memo: object) -> Settings:
        # nothing here changes; copies of an engine share its scorer and its sinks
        return self

    @property
    def again(self) -> bool:
        """Whether models are asked again."""
        return self.policy.on_fail == "regenerate"

    def check(self, engine: Any) -> None:
        """Refuse an engine whose model cannot be asked again, or whose parts nothing can replace.

        Raises:
            ConfigError: If it is one.
        """
        Call(self, engine, "").engine()
        if self.again and not holds(engine, BaseLLM):
            raise ConfigError(
                f"on_fail='regenerate' finds no model to ask again in the {type(engine).__name__}: "
                "make the model an attribute of the engine (one that is read from LlamaIndex's "
                "`Settings` during the call cannot be reached), or use on_fail='block'"
            )


class Call:
    """One guarded call, without I/O: the engine of each attempt, and what becomes of its answer."""

    def __init__(self, settings: Settings, engine: Any, question: str) -> None:
        self.scope = Scope(Trace(inputs=question, started_at=time_now()))
        self.settings = settings
        self._engine = engine
        self._question = question
        self._replay = Replay() if settings.again or settings.hold is not None else None
        self.flow = Flow(self.scope.trace.wrote)
        """Of the streams of the models in the last attempt."""
        self.course = Course(settings.policy, max_attempts=settings.max_attempts)
        self._drained = Drained(None, "")
        self._stand_ins: dict[int, MemoryStandIn] = {}
        self._written: list[MemoryStandIn] = []
        """Those that the answer would be in that is blocked, or mended."""

    @property
    def memories(self) -> list[MemoryStandIn]:
        """What stands in for the engine's memories; most have one."""
        return list(self._stand_ins.values())

    def engine(self) -> Any:
        """Return the engine for the next attempt."""
        self.flow = Flow(self.scope.trace.wrote)
        again = None if self._replay is None else replaying(self._replay, self.flow)
        self.forget()

        def swap(part: Any) -> Any:
            if isinstance(part, BaseMemory):
                # the same in all attempts: it knows what was there before the first
                return self._stand_ins.setdefault(id(part), MemoryStandIn(part, self._recalled))
            return None if again is None else again(part)

        return replaced(self._engine, swap)

    def fallback(self) -> Any:
        """Return the fallback engine; what it shares of the engine's memory is held back, too."""
        return replaced(self.settings.fallback, lambda part: self._stand_ins.get(id(part)))

    def forget(self) -> None:
        """Drop what memories were given in this call so far."""
        for memory in self.memories:
            memory.forget()

    def _recalled(self, messages: Iterable[ChatMessage]) -> None:
        self.scope.trace.recalled([message_of(message) for message in messages])

    def exchange(self, drained: Drained) -> Exchange:
        """Return what to verify: every text of the response that a model wrote."""
        self._drained = drained
        self.note_sources(drained.output)
        return self.part("\n\n".join(texts_of(drained, self.scope.trace)))

    def note_sources(self, output: Any) -> None:
        """Take what a response names as its sources, where nothing else is known of them."""
        trace = self.scope.trace
        if not trace.fetched:
            # fetched without a retriever's events, but handed out
            nodes = getattr(output, "source_nodes", None) or ()
            if found := snapshots(nodes):
                trace.handed_out(passages_of(found))

    def part(self, text: str) -> Exchange:
        """Return the exchange that a text makes with what was seen so far."""
        return self.scope.trace.exchange(text, question=self._question)

    def brought(self, nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
        """Return the nodes that no model wrote anything into."""
        stay: list[NodeWithScore] = what_stays(list(nodes), self.scope.trace)
        return stay

    @property
    def by_claim(self) -> bool:
        """Whether what streams is to come out claim by claim; not once an answer was held whole."""
        return self.settings.hold is not None and self._drained.output is None

    @property
    def answer(self) -> str:
        """The answer of the last attempt."""
        return self._drained.answer

    @property
    def mends(self) -> str:
        """What a mended answer can stand in the place of: no object can be made of a text."""
        return "" if isinstance(self._drained.output, PydanticResponse) else self.answer

    def again(
        self, feedback: str, passages: Sequence[Passage], answer: str, report: Report
    ) -> None:
        """Prepare the next attempt.

        Args:
            feedback: What to tell the models.
            passages: What was found since for the claims that failed.
            answer: What did not pass.
            report: On it.
        """
        self.scope.trace.added(feedback)
        self.scope.trace.found_since(passages)
        if self._replay is not None:
            told = with_passages(feedback, passages)
            self._replay.ask_again(answer, wrong_in(report), told)

    def end(self, *, as_written: bool) -> None:
        """Take the end: what memories hold of an answer that is not delivered is dropped.

        Args:
            as_written: Whether the answer goes out as the model wrote it.
        """
        self.scope.closed = True
        if not as_written:
            self._written = [memory for memory in self.memories if memory.put_since]
            self.forget()

    def falls_back(self, step: Step) -> bool:
        """Say whether a fallback engine is to answer now."""
        fallback = self.settings.fallback
        return step.action == "block" and fallback is not None and not isinstance(fallback, str)

    def turn(
        self, step: Step, fallback: Drained | None, memory: MemoryStandIn
    ) -> list[ChatMessage]:
        """Return what a memory is to hold of this turn: what the user sees of it."""
        if step.answer is not None:
            text: Any = step.answer
        elif step.action != "block":
            return memory.put_since
        else:
            text = self.settings.fallback if fallback is None else fallback.answer
        return self.turn_with(text, memory)

    def turn_with(self, text: str | None, memory: MemoryStandIn) -> list[ChatMessage]:
        """Return what a memory is to hold of a turn whose answer is not what the model wrote.

        A memory that the engine put nothing into gets nothing. What the fallback engine has put
        into one that it shares stays as it put it.

        Args:
            text: What the user sees of an answer; None if nothing.
            memory: What stands in for the memory.
        """
        if text is None or memory not in self._written:
            return []
        return memory.put_since or [
            ChatMessage(role=MessageRole.USER, content=self._question),
            ChatMessage(role=MessageRole.ASSISTANT, content=text),
        ]

    def close(self, step: Step, fallback: Drained | None) -> Reported:
        """Return what the caller gets, and the record of it.

        Args:
            step: The last one.
            fallback: What a fallback engine answered, if it was asked.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        record = self.course.record()
        note = note_of(record)
        self.settings.outbox.tell(record)
        if step.answer is not None:
            output = with_answer(self._drained, step.answer, self.scope.trace, note)
            return Reported(output, record)
        if step.action != "block":
            return Reported(delivered(self._drained, note), record)
        if fallback is not None:
            # one that is guarded itself says of its own answer what is true of it
            own: dict[str, Any] = getattr(fallback.output, "metadata", None) or {}
            return Reported(delivered(fallback, own.get("faithguard", note)), record)
        if self.settings.fallback is None:
            raise UnfaithfulAnswerError(record.decision, record.report, record)
        output = with_answer(self._drained, self.settings.fallback, self.scope.trace, note)
        return Reported(output, record)

    def fault(self, error: BaseException) -> CaptureError | None:
        """Return what to raise instead of an error that carries what a model wrote."""
        self.scope.closed = True
        return withheld(error, self.scope.trace)
