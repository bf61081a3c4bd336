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
    UnfaithfulAnswerError,
)
from faithguard.capture import Trace
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
        self.scope = Scope(Trace(inputs=question))
        self.settings = settings
        self._engine = engine
        self._question = question
        self._replay = Replay() if settings.again else None
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
        again = None if self._replay is None else replaying(self._replay)
        self._forget()

        def swap(part: Any) -> Any:
            if isinstance(part, BaseMemory):
                # the same in all attempts: it knows what was there before the first
                return self._stand_ins.setdefault(id(part), MemoryStandIn(part, self._recalled))
            return None if again is None else again(part)

        return replaced(self._engine, swap)

    def fallback(self) -> Any:
        """Return the fallback engine; what it shares of the engine's memory is held back, too."""
        return replaced(self.settings.fallback, lambda part: self._stand_ins.get(id(part)))

    def _forget(self) -> None:
        for memory in self.memories:
            memory.forget()

    def _recalled(self, messages: Iterable[ChatMessage]) -> None:
        self.scope.trace.recalled([message_of(message) for message in messages])

    def exchange(self, drained: Drained) -> Exchange:
        """Return what to verify: every text of the response that a model wrote."""
        trace = self.scope.trace
        self._drained = drained
        if not trace.fetched:
            # fetched without a retriever's events, but handed out
            nodes = getattr(drained.output, "source_nodes", None) or ()
            if found := snapshots(nodes):
                trace.handed_out(passages_of(found))
        texts = texts_of(drained, trace)
        return trace.exchange("\n\n".join(texts), question=self._question)

    def brought(self, nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
        """Return the nodes that no model wrote anything into."""
        stay: list[NodeWithScore] = what_stays(list(nodes), self.scope.trace)
        return stay

    @property
    def answer(self) -> str:
        """The answer of the last attempt."""
        return self._drained.answer

    @property
    def mends(self) -> str:
        """What a mended answer can stand in the place of: no object can be made of a text."""
        return "" if isinstance(self._drained.output, PydanticResponse) else self.answer

    def again(self, feedback: str, passages: Sequence[Passage]) -> None:
        """Prepare the next attempt.

        Args:
            feedback: What to tell the models.
            passages: What was found since for the claims that failed.
        """
        self.scope.trace.added(feedback)
        self.scope.trace.found_since(passages)
        if self._replay is not None:
            told = with_passages(feedback, passages)
            self._replay.ask_again(self.answer, wrong_in(self.course.report), told)

    def end(self, step: Step) -> None:
        """Take the last step: what memories hold of an answer that is not delivered is dropped."""
        self.scope.closed = True
        if step.action == "block" or step.answer is not None:
            self._written = [memory for memory in self.memories if memory.put_since]
            self._forget()

    def falls_back(self, step: Step) -> bool:
        """Say whether a fallback engine is to answer now."""
        fallback = self.settings.fallback
        return step.action == "block" and fallback is not None and not isinstance(fallback, str)

    def turn(
        self, step: Step, fallback: Drained | None, memory: MemoryStandIn
    ) -> list[ChatMessage]:
        """Return what a memory is to hold of this turn: what the user sees of it.

        A memory that the engine put nothing into gets nothing. What the fallback engine has put
        into one that it shares stays as it put it.
        """
        if step.answer is not None:
            text: Any = step.answer
        elif step.action != "block":
            return memory.put_since
        else:
            text = self.settings.fallback if fallback is None else fallback.answer
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
