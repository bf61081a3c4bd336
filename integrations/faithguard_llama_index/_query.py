"""A query engine that lets an answer through only once it is verified.

In: a query. Out: the response of the guarded engine, of the same type, or what `on_fail` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from faithguard import Policy
from faithguard_llama_index._drive import (
    areported,
    arun,
    receipt,
    reported,
    reporting,
    retrieved,
    run,
)
from faithguard_llama_index._settings import Call, Reported, Settings

__all__ = ["GuardedQueryEngine", "ReportingQueryEngine"]


class GuardedQueryEngine(BaseQueryEngine):
    """A guarded query engine; made by `guard`.

        safe_engine = guard(index.as_query_engine(), domain="medical")
        response = safe_engine.query(question)
        response, record = safe_engine.with_report().query(question)

    A query engine like the one inside, also as a tool's or as a part of another engine. A
    response says in `metadata["faithguard"]` how it was decided on. An answer that does not pass
    becomes what `on_fail` says: the fallback, an `UnfaithfulAnswerError` (a block; it carries
    `decision`, `report` and `record`), or the answer, flagged. A streaming engine's answer is
    held back and comes in one piece, or, with `stream="claims"`, sentence by sentence while the
    model writes on; source nodes that a model wrote into are left out then. Records reach the
    sinks a little later: `wait`.

    Attributes:
        engine: What is guarded.
    """

    def __init__(self, engine: BaseQueryEngine, settings: Settings) -> None:
        super().__init__(callback_manager=getattr(engine, "callback_manager", None))
        settings.check(engine)
        self.engine = engine
        self._settings = settings

    @property
    def policy(self) -> Policy:
        """What decides: its domain, thresholds and `on_fail`."""
        return self._settings.policy

    def with_report(self) -> ReportingQueryEngine:
        """Return the same guard, which returns a `Reported`: what the caller gets, and why."""
        return ReportingQueryEngine(self)

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until all records are in the sinks; return whether it was in time (seconds)."""
        return self._settings.outbox.queue.wait(timeout)

    def __repr__(self) -> str:
        return (
            f"guard({type(self.engine).__name__}(...), domain={self.policy.domain!r}, "
            f"on_fail={self.policy.on_fail!r})"
        )

    # The prompts are those of the engine, under the names that they have there.

    def _get_prompt_modules(self) -> PromptMixinType:
        return self.engine._get_prompt_modules()

    def _get_prompts(self) -> PromptDictType:
        return self.engine._get_prompts()

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self.engine._update_prompts(prompts)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if not self._checks():
            return self.engine.query(query_bundle)

        def ask(engine: BaseQueryEngine) -> RESPONSE_TYPE:
            return engine.query(query_bundle)

        return run(self._call(query_bundle), ask)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if not self._checks():
            return await self.engine.aquery(query_bundle)
        return await arun(self._call(query_bundle), lambda engine: engine.aquery(query_bundle))

    # Engines around this one may ask for the two halves of a query.

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return what the engine retrieves, but for nodes that a model wrote something into."""
        return retrieved(self._call(query_bundle), lambda: self.engine.retrieve(query_bundle))

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Have the engine answer from these nodes, and return a verified answer."""
        if not self._checks():
            return self.engine.synthesize(query_bundle, nodes, additional_source_nodes)

        def ask(engine: BaseQueryEngine) -> RESPONSE_TYPE:
            return engine.synthesize(query_bundle, nodes, additional_source_nodes)

        return run(self._call(query_bundle), ask)

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Do the same, awaiting."""
        if not self._checks():
            return await self.engine.asynthesize(query_bundle, nodes, additional_source_nodes)
        return await arun(
            self._call(query_bundle),
            lambda engine: engine.asynthesize(query_bundle, nodes, additional_source_nodes),
        )

    def _checks(self) -> bool:
        return reporting() or self._settings.checks()

    def _call(self, query_bundle: QueryBundle) -> Call:
        return Call(self._settings, self.engine, query_bundle.query_str)


class ReportingQueryEngine:
    """A guarded query engine that returns, with each response, the record of how it came about."""

    def __init__(self, guarded: GuardedQueryEngine) -> None:
        self._guarded = guarded

    def query(self, str_or_query_bundle: QueryType) -> Reported:
        """Return the response and its record."""
        with receipt() as records:
            return reported(self._guarded.query(str_or_query_bundle), records)

    async def aquery(self, str_or_query_bundle: QueryType) -> Reported:
        """Do the same, awaiting."""
        with receipt() as records:
            return await areported(await self._guarded.aquery(str_or_query_bundle), records)
