"""A chat engine that lets an answer through only once it is verified.

In: a message. Out: the response of the guarded engine, of the same type, or what `on_fail` says;
and a memory that holds what the user saw.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import (
    AGENT_CHAT_RESPONSE_TYPE,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from llama_index.core.memory import BaseMemory

from faithguard import ConfigError, Policy
from faithguard_llama_index._again import holds
from faithguard_llama_index._drive import areported, arun, receipt, reported, reporting, run
from faithguard_llama_index._settings import Call, Reported, Settings

__all__ = ["GuardedChatEngine", "ReportingChatEngine"]

History = list[ChatMessage] | None


class GuardedChatEngine(BaseChatEngine):
    """A guarded chat engine; made by `guard`.

        safe_engine = guard(index.as_chat_engine(), domain="support", fallback="Ask at the desk.")
        response = safe_engine.chat(message)

    A chat engine like the one inside: `chat`, `stream_chat` and their async twins. Nothing is
    put into the memory before it is verified: after a block it is as it was before the call,
    with a fallback it holds that, after a regeneration the answer that passed. A stream is held
    back and comes in one piece. With `stream="claims"` it comes sentence by sentence while the
    model writes on, and what came is put into the memory at its end; whoever stops reading
    before leaves the memory as it was, and the model's stream closed.

    Attributes:
        engine: What is guarded.
    """

    def __init__(self, engine: BaseChatEngine, settings: Settings) -> None:
        if not holds(engine, BaseMemory):
            raise ConfigError(
                f"{type(engine).__name__} has no BaseMemory among its attributes, so an answer "
                "that it stores cannot be kept out until it is verified: keep the history in "
                "one, or guard the query engine inside"
            )
        settings.check(engine)
        self.engine = engine
        self._settings = settings

    @property
    def policy(self) -> Policy:
        """What decides: its domain, thresholds and `on_fail`."""
        return self._settings.policy

    def with_report(self) -> ReportingChatEngine:
        """Return the same guard, which returns a `Reported`: what the caller gets, and why."""
        return ReportingChatEngine(self)

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until all records are in the sinks; return whether it was in time (seconds)."""
        return self._settings.outbox.queue.wait(timeout)

    def __repr__(self) -> str:
        return (
            f"guard({type(self.engine).__name__}(...), domain={self.policy.domain!r}, "
            f"on_fail={self.policy.on_fail!r})"
        )

    def reset(self) -> None:
        """Forget the conversation."""
        self.engine.reset()

    @property
    def chat_history(self) -> list[ChatMessage]:
        """What the user saw so far."""
        return self.engine.chat_history

    def chat(
        self, message: str, chat_history: History = None, **kwargs: Any
    ) -> AGENT_CHAT_RESPONSE_TYPE:
        """Return the verified answer, or do what `on_fail` says."""
        if not self._checks():
            return self.engine.chat(message, chat_history, **kwargs)

        def ask(engine: BaseChatEngine) -> AGENT_CHAT_RESPONSE_TYPE:
            return engine.chat(message, chat_history, **kwargs)

        return run(self._call(message), ask)

    async def achat(
        self, message: str, chat_history: History = None, **kwargs: Any
    ) -> AGENT_CHAT_RESPONSE_TYPE:
        """Do the same, awaiting."""
        if not self._checks():
            return await self.engine.achat(message, chat_history, **kwargs)
        return await arun(
            self._call(message), lambda engine: engine.achat(message, chat_history, **kwargs)
        )

    def stream_chat(
        self, message: str, chat_history: History = None, **kwargs: Any
    ) -> StreamingAgentChatResponse:
        """Return the verified answer as a stream, or do what `on_fail` says.

        It is of one piece unless the guard has `stream="claims"`.
        """
        if not self._checks():
            return self.engine.stream_chat(message, chat_history, **kwargs)

        def ask(engine: BaseChatEngine) -> StreamingAgentChatResponse:
            return engine.stream_chat(message, chat_history, **kwargs)

        return run(self._call(message), ask)

    async def astream_chat(
        self, message: str, chat_history: History = None, **kwargs: Any
    ) -> StreamingAgentChatResponse:
        """Do the same, awaiting."""
        if not self._checks():
            return await self.engine.astream_chat(message, chat_history, **kwargs)
        return await arun(
            self._call(message), lambda engine: engine.astream_chat(message, chat_history, **kwargs)
        )

    def _checks(self) -> bool:
        return reporting() or self._settings.checks()

    def _call(self, message: str) -> Call:
        return Call(self._settings, self.engine, str(message))


class ReportingChatEngine:
    """A guarded chat engine that returns, with each response, the record of how it came about."""

    def __init__(self, guarded: GuardedChatEngine) -> None:
        self._guarded = guarded

    def chat(self, message: str, chat_history: History = None, **kwargs: Any) -> Reported:
        """Return the response and its record."""
        with receipt() as records:
            return reported(self._guarded.chat(message, chat_history, **kwargs), records)

    async def achat(self, message: str, chat_history: History = None, **kwargs: Any) -> Reported:
        """Do the same, awaiting."""
        with receipt() as records:
            return await areported(
                await self._guarded.achat(message, chat_history, **kwargs), records
            )

    def stream_chat(self, message: str, chat_history: History = None, **kwargs: Any) -> Reported:
        """Return the stream and its record."""
        with receipt() as records:
            return reported(self._guarded.stream_chat(message, chat_history, **kwargs), records)

    async def astream_chat(
        self, message: str, chat_history: History = None, **kwargs: Any
    ) -> Reported:
        """Do the same, awaiting."""
        with receipt() as records:
            return await areported(
                await self._guarded.astream_chat(message, chat_history, **kwargs), records
            )
