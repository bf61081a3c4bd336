"""The guard: an engine around an engine.

In: a query engine or a chat engine, and settings. Out: an engine of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine

from faithguard import ConfigError, Judge, Policy, Report, Scorer
from faithguard.guard import MoreContext, OnFail, course_policy
from faithguard.sinks import AnySink
from faithguard_llama_index._chat import GuardedChatEngine
from faithguard_llama_index._query import GuardedQueryEngine
from faithguard_llama_index._settings import Settings

__all__ = ["guard"]


@overload
def guard(
    engine: BaseQueryEngine,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | BaseQueryEngine | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> GuardedQueryEngine: ...
@overload
def guard(
    engine: BaseChatEngine,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | BaseChatEngine | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> GuardedChatEngine: ...
def guard(
    engine: BaseQueryEngine | BaseChatEngine,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | BaseQueryEngine | BaseChatEngine | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> GuardedQueryEngine | GuardedChatEngine:
    """Return an engine that lets an answer through only once it is verified.

        safe_engine = guard(index.as_query_engine(), domain="medical", fallback="Ask a nurse.")

    Args:
        engine: A query engine or a chat engine.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": ask the model again with
            the claims that failed, then block; "repair": correct or leave out the sentences,
            items or rows that failed, verify again, else block; "flag": deliver, with the
            decision. The policy's, which is "block" unless it says otherwise, if not given.
        fallback: What a blocked caller gets: a text in the place of the answer, or an engine of
            the same kind that is asked instead; what it says is not verified. Not with "flag".
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: Called with the claims that failed before the models are asked again; what
            it returns (strings, nodes, Passages; a coroutine function for asynchronous calls) is
            sent along and is evidence. Only with "regenerate".
        on_report: Called with the report of each call's last attempt.
        sinks: Where records go; one log line for each call by default.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.

    Raises:
        ConfigError: If a setting cannot be used, or the engine is one that a guard cannot
            protect; the message names what to use instead.
    """
    settings = Settings.of(
        course_policy(domain, on_fail, repairs=True),
        fallback=fallback,
        max_attempts=max_attempts,
        more_context=more_context,
        on_report=on_report,
        sinks=sinks,
        scorer=scorer,
        judge=judge,
    )
    given: Any = engine
    if isinstance(given, BaseQueryEngine):
        return GuardedQueryEngine(given, settings)
    if isinstance(given, BaseChatEngine):
        return GuardedChatEngine(given, settings)
    raise ConfigError(
        f"`engine` is of type {type(given).__name__}: pass a query engine or a chat engine "
        f"({_remedy(given)})"
    )


def _remedy(given: Any) -> str:
    """Return what somebody may have meant who passes something else."""
    if hasattr(given, "as_query_engine"):
        return "guard(index.as_query_engine()), guard(index.as_chat_engine())"
    if hasattr(given, "retrieve"):
        return "guard(RetrieverQueryEngine.from_args(retriever))"
    if hasattr(given, "ainvoke"):
        return "for LangChain: from faithguard_langchain import guard"
    return "for an agent, guard the query engines that its tools ask"
