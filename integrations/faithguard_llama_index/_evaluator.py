"""The evaluator: LlamaIndex's own interface, with claims, counts and reasons behind it.

In: an answer and its contexts, or a response of a query engine. Out: an `EvaluationResult` for
`BatchEvalRunner`, retry engines and evaluating tools, which carries the whole report. No model
is called unless one is passed as `judge`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, TypeAlias, cast

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.types import TokenAsyncGen
from pydantic import Field

from faithguard import (
    CaptureError,
    Claim,
    ConfigError,
    Decision,
    Judge,
    Passage,
    Policy,
    Report,
    Scorer,
    UnfaithfulAnswerError,
    acheck,
    check,
)
from faithguard.capture import passages_of
from faithguard.policy import resolve
from faithguard.scorer import chosen_scorer

__all__ = ["AnyResponse", "FaithfulnessEvaluator", "FaithfulnessResult"]

AnyResponse: TypeAlias = (
    Response
    | PydanticResponse
    | StreamingResponse
    | AsyncStreamingResponse
    | AgentChatResponse
    | StreamingAgentChatResponse
)
"""What query engines and chat engines return."""

_MOST_NAMED = 20
"""Claims named in one feedback, which retry engines put into the next question."""

_WORDS = {
    "not_mentioned": "not mentioned",
    "conflicting": "passages conflict",
    "not_checked": "not checked",
    "failed": "no verdict",
}


class FaithfulnessResult(EvaluationResult):
    """What LlamaIndex reads of an evaluation, and what it was made from."""

    report: Report = Field(exclude=True, repr=False)
    """Every claim with its verdict, evidence, reason and cause."""
    decision: Decision = Field(exclude=True, repr=False)
    """What the policy made of the report."""


class FaithfulnessEvaluator(BaseEvaluator):
    """Evaluate whether an answer says only what its contexts say.

        evaluator = FaithfulnessEvaluator(domain="support")
        result = evaluator.evaluate_response(query, engine.query(query))
        print(result.passing, result.score, result.feedback)

    It stands wherever LlamaIndex's own of the same name does. Of a result:

    - `passing`: whether the answer passes by the domain's policy, as a guard decides. An answer
      that abstains ("Empty Response" does, too) or states nothing passes; facts without any
      context do not, nor do failed checks unless the policy says `on_failure="open"`.
    - `score`: supported claims over all fact claims; None where that is undefined (LlamaIndex's
      `get_results_df` counts that as 0: take means over `passing`, or over the scores there are).
    - `feedback`: the decision in words and the claims that are not supported, each with the
      reason. It quotes the answer: it is for developers and for the model's next attempt.
    - `invalid_result`: whether verdicts are missing because a verifier failed (`invalid_reason`
      says how), so that evaluating again may tell more. No context is a valid result.
    - `report`, `decision`: all the rest, left out by `model_dump`.

    Args:
        llm: Only so that LlamaIndex's calls go on working; it is not called. For a model that
            decides, pass `judge`.
        raise_error: Raise a ValueError where an answer does not pass; its `__cause__` has the
            report.
        eval_template: Not used, as `llm`.
        refine_template: Not used, as `llm`.
        domain: The domain, or a policy, whose thresholds decide.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.

    Raises:
        ConfigError: If the domain is unknown, or stands where LlamaIndex has the model.
    """

    def __init__(
        self,
        llm: LLM | None = None,
        raise_error: bool = False,
        eval_template: str | BasePromptTemplate | None = None,
        refine_template: str | BasePromptTemplate | None = None,
        *,
        domain: str | Policy | None = None,
        scorer: Scorer | None = None,
        judge: Judge | None = None,
    ) -> None:
        _refuse_domain(llm)
        unused = {"llm": llm, "eval_template": eval_template, "refine_template": refine_template}
        _say_unused([name for name, value in unused.items() if value is not None])
        self._policy = resolve(domain)
        self._domain = domain if isinstance(domain, str) else None
        self._scorer = chosen_scorer(scorer, judge)
        self._raise_error = raise_error

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> FaithfulnessResult:
        """Evaluate an answer by its contexts.

        Args:
            query: The question; an answer of one word is checked together with it.
            response: The answer.
            contexts: What it was to be written from; [] for nothing.
            sleep_time_in_seconds: How long to wait first.
            kwargs: What other evaluators of a batch need.

        Raises:
            ValueError: If the answer or the contexts are missing, or, with `raise_error`, if the
                answer does not pass.
            CaptureError: If the answer is no text or a context has none.
        """
        text, passages = _given(response, contexts)
        time.sleep(sleep_time_in_seconds)
        return self._result(
            query,
            check(text, passages, question=query, domain=self._domain, scorer=self._scorer),
        )

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> FaithfulnessResult:
        """Do what `evaluate` does without blocking the event loop."""
        text, passages = _given(response, contexts)
        await asyncio.sleep(sleep_time_in_seconds)
        return self._result(
            query,
            await acheck(text, passages, question=query, domain=self._domain, scorer=self._scorer),
        )

    def evaluate_response(
        self, query: str | None = None, response: AnyResponse | None = None, **kwargs: Any
    ) -> FaithfulnessResult:
        """Evaluate a response by its source nodes, as the model saw them: with their metadata.

        A stream is read to its end here, and can still be read afterwards.

        Args:
            query: The question.
            response: What an engine returned.
            kwargs: As in `evaluate`.

        Raises:
            ValueError: As in `evaluate`.
            CaptureError: If a stream was read before, so that its text is gone, or can only be
                read by `aevaluate_response`.
        """
        if response is None:
            return self.evaluate(query, **kwargs)
        if isinstance(response, AsyncStreamingResponse):
            raise CaptureError(
                "the response is an AsyncStreamingResponse, which only async code can read: "
                "await evaluator.aevaluate_response(...)"
            )
        text = _read(response) if isinstance(response, StreamingResponse) else _text_of(response)
        return self.evaluate(query, text, _seen(response), **kwargs)

    async def aevaluate_response(
        self, query: str | None = None, response: AnyResponse | None = None, **kwargs: Any
    ) -> FaithfulnessResult:
        """Do what `evaluate_response` does without blocking the event loop."""
        if response is None:
            return await self.aevaluate(query, **kwargs)
        if isinstance(response, AsyncStreamingResponse):
            text = await _aread(response)
        elif isinstance(response, StreamingResponse):
            text = await asyncio.to_thread(_read, response)
        else:
            text = _text_of(response)
        return await self.aevaluate(query, text, _seen(response), **kwargs)

    def _result(self, query: str | None, report: Report) -> FaithfulnessResult:
        decision = report.decide(self._policy)
        if self._raise_error and not decision.passed:
            held = UnfaithfulAnswerError(decision, report)
            raise ValueError(f"The response is invalid: {decision.reason}") from held
        invalid = report.outcome in ("failed", "incomplete")
        return FaithfulnessResult(
            query=query,
            response=report.exchange.answer,
            contexts=[passage.text for passage in report.exchange.passages],
            passing=decision.passed,
            feedback=_feedback(report, decision),
            score=report.score,
            invalid_result=invalid,
            invalid_reason=_failures(report, decision) if invalid else None,
            report=report,
            decision=decision,
        )

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        _say_unused(list(prompts_dict), stacklevel=4)


def _refuse_domain(llm: object) -> None:
    """Refuse a domain in the place of the model: it would be ignored, and a laxer one decide."""
    if isinstance(llm, str | Policy):
        shown = repr(llm) if isinstance(llm, str) else "a Policy"
        raise ConfigError(
            f"`llm` is {shown}: the first argument is LlamaIndex's model; name the domain, "
            "FaithfulnessEvaluator(domain=...)"
        )


def _say_unused(names: Sequence[str], *, stacklevel: int = 3) -> None:
    if names:
        named = ", ".join(f"`{name}`" for name in names)
        warnings.warn(
            f"FaithfulnessEvaluator does not use {named}: its own scorer decides and no model is "
            "called; leave it out, or pass judge=LlamaIndexJudge(llm)",
            UserWarning,
            stacklevel=stacklevel,
        )


# What is evaluated ----------------------------------------------------------------------------


def _given(response: Any, contexts: Any) -> tuple[Any, tuple[Passage, ...]]:
    """Return an answer and its passages; as LlamaIndex does, raise a ValueError for none."""
    missing = [n for n, v in (("response", response), ("contexts", contexts)) if v is None]
    if missing:
        raise ValueError(
            f"`{'` and `'.join(missing)}` must be provided; for an answer that was written from "
            "nothing, pass contexts=[]"
        )
    return response, passages_of(contexts)


def _seen(response: AnyResponse) -> Any:
    """Return the source nodes with the text that LlamaIndex puts into prompts."""
    nodes: list[NodeWithScore] = response.source_nodes
    return [
        replace(passage, text=node.get_content(metadata_mode=MetadataMode.LLM))
        for node, passage in zip(nodes, passages_of(nodes, origin="retriever"), strict=True)
    ]


def _text_of(response: Any) -> str:
    """Return the text of a response that is no stream of a query engine; "" if it has none."""
    if isinstance(response, PydanticResponse):
        return "" if response.response is None else response.response.model_dump_json()
    if isinstance(response, StreamingAgentChatResponse) and not (
        response.response or response.is_done
    ):
        raise CaptureError(
            "the chat response is still being written: read its stream to the end, then evaluate"
        )
    if not isinstance(response, Response | AgentChatResponse | StreamingAgentChatResponse):
        raise CaptureError(
            f"`response` is of type {type(response).__name__}: pass what a query engine returned, "
            "or a text to evaluate(response=..., contexts=...)"
        )
    return response.response or ""


def _read(response: StreamingResponse) -> str:
    """Read a stream to its end and put one in its place that says the same."""
    # on the response itself: others may evaluate it at the same time
    lock = cast(Lock, vars(response).setdefault("_faithguard_lock", Lock()))
    with lock:
        if response.response_txt is None:
            _refuse_begun(response.response_gen)
            tokens = list(response.response_gen or ())
            response.response_txt = "".join(tokens)
            response.response_gen = _again(tokens)
        return response.response_txt


async def _aread(response: AsyncStreamingResponse) -> str:
    """Do what `_read` does."""
    lock = cast(asyncio.Lock, vars(response).setdefault("_faithguard_lock", asyncio.Lock()))
    async with lock:
        if response.response_txt is not None:
            # whole, or still being read by the host: this waits for the end
            return (await response.get_response()).response or ""
        _refuse_begun(response.response_gen)
        try:
            tokens = [token or "" async for token in response.async_response_gen()]
        except BaseException:
            response.response_txt = None  # a part of an answer is not to be taken for it
            raise
        response.response_gen = _aagain(tokens)
        return "".join(tokens)


def _refuse_begun(stream: object) -> None:
    """Refuse a stream of which a part or all was read: what is left is not the answer.

    Of an async one, this Python tells only whether it was read to its end.
    """
    if inspect.isgenerator(stream):
        begun = inspect.getgeneratorstate(stream) != inspect.GEN_CREATED
    else:
        begun = inspect.isasyncgen(stream) and getattr(stream, "ag_frame", None) is None
    if begun:
        raise CaptureError(
            "the response's stream has been read from, and its text is gone: evaluate before it "
            "is read, read it with print_response_stream() or str(response), or pass the text to "
            "evaluate(response=..., contexts=...)"
        )


def _again(tokens: Sequence[str]) -> Generator[str, None, None]:
    yield from tokens


async def _aagain(tokens: Sequence[str]) -> TokenAsyncGen:
    for token in tokens:
        yield token


# What is told ---------------------------------------------------------------------------------


def _feedback(report: Report, decision: Decision) -> str:
    """Return the decision in words, and what is wrong with which claims."""
    wrong = [c for c in report.facts if not c.supported or c.label == "conflicting"]
    lines = [decision.reason, *map(_line, wrong[:_MOST_NAMED])]
    if len(wrong) > _MOST_NAMED:
        lines.append(f"- and {len(wrong) - _MOST_NAMED} more")
    return "\n".join(lines)


def _line(claim: Claim) -> str:
    text = " ".join(claim.text.split())
    reason = f" ({claim.reason})" if claim.reason else ""
    return f"- {_WORDS.get(claim.label, claim.label)}: {text}{reason}"


def _failures(report: Report, decision: Decision) -> str:
    told = dict.fromkeys(f"{failure.stage}: {failure.message}" for failure in report.failures)
    return "; ".join(told) or decision.reason
