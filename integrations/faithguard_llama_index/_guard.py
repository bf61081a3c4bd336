"""The guard: an engine around an engine, or an agent like another one.

In: a query engine, a chat engine or an agent, and settings. Out: one of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine

from faithguard import ConfigError, Judge, Policy, Report, Scorer
from faithguard.guard import MoreContext, OnFail, Stream
from faithguard.guard import Settings as TextSettings
from faithguard.sinks import AnySink
from faithguard_llama_index._agents import guarded_agent
from faithguard_llama_index._chat import GuardedChatEngine
from faithguard_llama_index._query import GuardedQueryEngine
from faithguard_llama_index._settings import Settings

__all__ = ["guard"]

_Agent = TypeVar("_Agent", FunctionAgent, ReActAgent, AgentWorkflow)


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
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
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
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> GuardedChatEngine: ...
@overload
def guard(
    engine: _Agent,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> _Agent: ...
def guard(
    engine: BaseQueryEngine | BaseChatEngine | FunctionAgent | ReActAgent | AgentWorkflow,
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
    sample: float | None = None,
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> GuardedQueryEngine | GuardedChatEngine | FunctionAgent | ReActAgent | AgentWorkflow:
    """Return an engine or an agent that lets an answer through only once it is verified.

        safe_engine = guard(index.as_query_engine(), domain="medical", fallback="Ask a nurse.")
        safe_agent = guard(FunctionAgent(tools=tools, llm=llm), domain="support")

    A guarded agent is one of the same kind. Evidence is what its tools brought in the run: the
    source nodes of a query engine, the text of another tool, less what the model itself handed
    to it. Calls of tools go on unverified; the answer reaches the stream of events, the memory
    and the result once it has passed. The result carries the decision under `"faithguard"`.

        safe_engine = guard(index.as_query_engine(streaming=True), stream="claims")
        safe_engine.query(question).print_response_stream()

    With `stream="claims"` responses and events come while the model writes on, in LlamaIndex's
    own types; the note of the decision is in a response's metadata once its stream has ended.

    Args:
        engine: A query engine or a chat engine; a FunctionAgent, a ReActAgent or an AgentWorkflow
            of these.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": ask the model again with
            the claims that failed, then block; "repair": correct or leave out the sentences,
            items or rows that failed, verify again, else block; "flag": deliver, with the
            decision. The policy's, which is "block" unless it says otherwise, if not given.
        fallback: What a blocked caller gets: a text in the place of the answer, or, of an engine,
            one of the same kind that is asked instead; what it says is not verified. Not with
            "flag".
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: Called with the claims that failed before the models are asked again; what
            it returns (strings, nodes, Passages; a coroutine function for asynchronous calls) is
            sent along and is evidence. Only with "regenerate".
        on_report: Called with the report of each call's last attempt.
        sinks: Where records go; one log line for each call by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of calls (of runs, of an agent) that are checked, from 0 to 1; the others
            pass as they are, but for those of `with_report`. Only with "flag"; all by default.
        stream: "answer": hold the whole answer; "claims": of what streams, hold each sentence,
            item or row until all of its claims are supported. One that is not ends the stream
            with the fallback, or is repaired or left out with "repair"; "regenerate" works until
            something was delivered; not with "flag". What does not stream is held whole.
        max_hold_chars: With "claims": characters without the end of a sentence, item or row
            that are held; more block the stream unless the policy fails open. 4000 by default.
        max_hold_seconds: With "claims": seconds to wait for that end, 60 by default.

    Raises:
        ConfigError: If a setting cannot be used, or the engine is one that a guard cannot
            protect; the message names what to use instead.
    """
    given: Any = engine
    told: dict[str, Any] = {
        "domain": domain,
        "on_fail": on_fail,
        "fallback": fallback,
        "max_attempts": max_attempts,
        "more_context": more_context,
        "on_report": on_report,
        "sinks": sinks,
        "scorer": scorer,
        "judge": judge,
        "sample": sample,
        "stream": stream,
        "max_hold_chars": max_hold_chars,
        "max_hold_seconds": max_hold_seconds,
    }
    if isinstance(given, BaseWorkflowAgent | AgentWorkflow):
        agent = guarded_agent(cast(Any, given), TextSettings.of(**told))
        return cast("FunctionAgent | ReActAgent | AgentWorkflow", agent)
    if isinstance(given, BaseQueryEngine):
        return GuardedQueryEngine(
            given, Settings.of(**told, fallbacks={"a query engine": BaseQueryEngine})
        )
    if isinstance(given, BaseChatEngine):
        return GuardedChatEngine(
            given, Settings.of(**told, fallbacks={"a chat engine": BaseChatEngine})
        )
    raise ConfigError(
        f"`engine` is of type {type(given).__name__}: pass a query engine or a chat engine, "
        f"or an agent ({_remedy(given)})"
    )


def _remedy(given: Any) -> str:
    """Return what somebody may have meant who passes something else."""
    if hasattr(given, "as_query_engine"):
        return "guard(index.as_query_engine()), guard(index.as_chat_engine())"
    if hasattr(given, "retrieve"):
        return "guard(RetrieverQueryEngine.from_args(retriever))"
    if hasattr(given, "ainvoke"):
        return "for LangChain: from faithguard_langchain import guard"
    return "FunctionAgent, ReActAgent, AgentWorkflow"
