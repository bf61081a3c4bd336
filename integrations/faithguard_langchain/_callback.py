"""The watcher: one callback that reports on every answer of a chain.

In: a chain's events. Out: reports and records, made off the chain's path. It never raises into
the chain and holds nothing back; `guard` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from faithguard import ConfigError, Judge, Policy, Report, Scorer
from faithguard.capture import Assembler, RunKind, Trace
from faithguard.sinks import AnySink
from faithguard.watch import Watch
from faithguard_langchain._capture import Capture
from faithguard_langchain._values import answer_of, context_of

__all__ = ["FaithfulnessCallback"]


class FaithfulnessCallback(Capture):
    """Report which claims of a chain's answers its context does not support.

        watcher = FaithfulnessCallback(domain="support")
        chain.invoke(question, config={"callbacks": [watcher]})
        watcher.wait()
        print(watcher.reports[-1])

    It sees every way of calling, never raises into the chain, and checks off its path. An answer
    is delivered whatever is found; to hold one back, wrap the chain: `guard`.

    One instance serves any number of runs, threads and tasks at once. A run may name a domain
    of its own: `config={"metadata": {"faithguard_domain": "medical"}}`.

    Args:
        domain: The domain, or a policy, whose thresholds decide.
        sinks: Where records go: objects with `write(record)`, or functions; one log line for
            each answer by default. The store that FAITHGUARD_STORE names gets them, too, but with
            an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        answer_key: Where the answer stands in a dict that the chain returns, if it is not a
            usual place.
        keep: Reports that `reports` keeps.
        sample: The share of runs whose answers are checked, from 0 to 1, chosen by a hash of the
            run's id; all of them by default.
        on_fail: Only "flag": a callback cannot hold an answer back.

    Raises:
        ConfigError: If the domain is unknown, another setting cannot be used, or it is asked to
            block.
    """

    def __init__(
        self,
        domain: str | Policy | None = None,
        *,
        sinks: Sequence[AnySink] | None = None,
        scorer: Scorer | None = None,
        judge: Judge | None = None,
        answer_key: str | None = None,
        keep: int = 100,
        sample: float | None = None,
        on_fail: str = "flag",
    ) -> None:
        if on_fail != "flag":
            raise ConfigError(
                f"a callback cannot do {on_fail!r}: LangChain delivers the answer whatever it "
                "raises; wrap the chain with faithguard_langchain.guard(chain, ...)"
            )
        super().__init__(Assembler())
        self._watch = Watch(
            domain, sinks=sinks, scorer=scorer, judge=judge, keep=keep, sample=sample
        )
        self._answer_key = answer_key

    @property
    def reports(self) -> tuple[Report, ...]:
        """The last reports, oldest first; `wait` for those that are still being made."""
        return self._watch.reports

    @property
    def dropped(self) -> int:
        """Answers that were not checked because too many were waiting."""
        return self._watch.dropped

    @property
    def open_runs(self) -> int:
        """Entries held for runs that are going on; 0 when nothing runs."""
        return len(self._assembler)

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until every answer so far is reported; return whether it was in time (seconds)."""
        return self._watch.wait(timeout)

    def _start(self, run: UUID, parent: UUID | None, kind: RunKind, inputs: Any, kw: Any) -> Trace:
        trace = super()._start(run, parent, kind, inputs, kw)
        if trace.root is not None:
            self._watch.follow(trace.root)
        return trace

    def _ended(self, trace: Trace, outputs: Any) -> None:
        answer = answer_of(outputs, self._answer_key)
        if answer is None:
            answer = trace.answer
        if answer is None or not (trace.models or trace.fetched):
            return  # no answer was written here
        if not self._watch.checks(trace.root):
            return
        text = answer
        if not trace.fetched:
            # documents that were fetched without a retriever run, but are handed out
            trace.retrieved("", context_of(outputs, None))
        self._watch.submit(lambda: trace.exchange(text), trace.root)
