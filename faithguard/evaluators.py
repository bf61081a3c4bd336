"""An item of somebody's experiment -> scores of its answer, as the runner expects them.

In: what Langfuse's and LangSmith's experiment runners call an evaluator with. Out: `faithfulness`,
the score, where there is one, and `faithfulness_passed`, 1 or 0, both with the decision in words.

The answer is the output of the task, or stands in it under a usual name; context and question
stand beside it, in the item's input, or in its metadata. Names are those of
`faithguard.exchanges`. An item without an answer, or without a context anywhere, is an error: it
would otherwise look like an unfaithful one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from faithguard.capture import passages_of
from faithguard.errors import CaptureError, require
from faithguard.exchanges import CONTEXT, QUESTION, read_exchange
from faithguard.policy import Policy, decide, resolve
from faithguard.scorer import Scorer, chosen_scorer
from faithguard.types import Decision, Exchange, Report
from faithguard.verifiers.judge import Judge

__all__ = ["langfuse_evaluator", "langsmith_evaluator"]

_Scores: TypeAlias = list[tuple[str, float]]

_CONTEXT = ("retrieval_context", *CONTEXT)
"""What the model saw comes before what it should have seen."""


def langfuse_evaluator(
    domain: str | Policy | None = None,
    *,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> Callable[..., Awaitable[list[Any]]]:
    """Return an evaluator for `langfuse.run_experiment(..., evaluators=[...])`.

    Args:
        domain: The domain, or a policy, whose thresholds decide.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.

    Raises:
        ConfigError: If the domain is unknown, or both a scorer and a judge are given.
        MissingExtraError: If `langfuse` is not installed.
    """
    evaluation: Callable[..., Any] = require("langfuse", extra="langfuse").Evaluation
    policy, chosen = resolve(domain), chosen_scorer(scorer, judge)

    async def faithfulness(
        *, input: Any, output: Any, metadata: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[Any]:
        report = await chosen.ascore(_exchange(output, input, metadata))
        decision = decide(report, policy)
        return [
            evaluation(
                name=name,
                value=value,
                comment=decision.reason,
                data_type="BOOLEAN" if name.endswith("passed") else "NUMERIC",
            )
            for name, value in _scores(report, decision)
        ]

    return faithfulness


def langsmith_evaluator(
    domain: str | Policy | None = None,
    *,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]:
    """Return an evaluator for `langsmith.evaluate(..., evaluators=[...])`, and for `aevaluate`.

    Args:
        domain: The domain, or a policy, whose thresholds decide.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.

    Raises:
        ConfigError: If the domain is unknown, or both a scorer and a judge are given.
    """
    policy, chosen = resolve(domain), chosen_scorer(scorer, judge)

    def faithfulness(inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        report = chosen.score(_exchange(_only(outputs), inputs, None))
        decision = decide(report, policy)
        return {
            "results": [
                {"key": name, "score": value, "comment": decision.reason}
                for name, value in _scores(report, decision)
            ]
        }

    return faithfulness


def _scores(report: Report, decision: Decision) -> _Scores:
    scores = [("faithfulness_passed", float(decision.passed))]
    return scores if report.score is None else [*scores, ("faithfulness", report.score)]


def _only(outputs: Mapping[str, Any]) -> Any:
    """Return the output of a task that is a text, which LangSmith puts under `output`."""
    return outputs["output"] if set(outputs) == {"output"} else outputs


def _exchange(output: Any, *beside: Any) -> Exchange:
    """Return what an item holds; beside the output no answer is looked for but a right one."""
    found = dict(cast("Mapping[str, Any]", output)) if isinstance(output, Mapping) else {}
    if not isinstance(output, Mapping):
        found["answer"] = output
    for part in beside:
        if isinstance(part, str):
            part = {"question": part}
        for names in (QUESTION, _CONTEXT):
            if isinstance(part, Mapping) and not found.keys() & {*names}:
                given = cast("Mapping[str, Any]", part)
                found |= {name: given[name] for name in names if name in given}
    context = next((found[name] for name in _CONTEXT if found.get(name) is not None), None)
    if context is None:
        raise CaptureError(
            "there is no context: return it from the task beside the answer, or put it into the "
            f"item's input, as one of {', '.join(CONTEXT)}"
        )
    rest = {name: value for name, value in found.items() if name not in CONTEXT}
    passages = passages_of(context)  # also documents and nodes, which no file holds
    return replace(
        read_exchange(rest),
        passages=passages,
        context_source="caller" if passages else "none",
    )
