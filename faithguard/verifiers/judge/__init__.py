"""Claims + context -> verdicts of an LLM.

In: the open claims of an answer. Out: a `Verdict` or a `Failure` of each. All claims are asked in
one call, with the passages that bear on them; the logic is in `_plan`, which makes no calls.

What keeps the verdicts honest, and what it cannot do:

- Orders in a passage, a claim or the question are data: they stand as JSON in the user's message,
  between marks that are new for each call, with nothing in them that could end it.
- Two control claims are mixed in, one known to be supported and one known not to be. A model that
  says yes to all, no to all, or obeys an order about all claims, gets one wrong, and its batch is
  void.
- A quote must stand word for word in a passage, be about the claim, and be no order. That catches
  an order about a single claim whose only "evidence" is the order itself, and evidence that a
  model makes up. It does not catch an order that has a model cite a real sentence which says
  something else, nor one that has it call a supported claim `not_mentioned`; and where a passage
  states a falsehood plainly, that falsehood is what the context says.
- An order about the statements at certain places may by luck spare the controls that are false.
  An answer of one claim, and one of up to three beside a text that speaks of labels, has each
  claim at two places, and two verdicts that differ are void.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from random import Random, SystemRandom
from typing import Any, Literal, TypeAlias

from faithguard._offload import all_of, offload
from faithguard.chat import ChatModel, Completion, OpenAIChat
from faithguard.errors import ConfigError, JudgeError
from faithguard.prompts import VERSION, Rubric, rubric_of
from faithguard.types import Claim
from faithguard.verifiers import Context, Finding
from faithguard.verifiers.judge._plan import Ask, Budget, JudgePlan, Settings

__all__ = ["Claims", "Judge", "OpenAIJudge"]

Claims: TypeAlias = Literal["local", "extracted", "together"]
"""Whose claims are judged: those of the local splitter (one call for an answer), those that the
model extracts first (two), or those that it extracts and judges at once (one)."""


class Judge:
    """Verify claims by a chat model, all open claims of an answer in one call.

        Scorer(judge=Judge(model))                 # for what the local verifiers leave open
        Scorer(verifiers=[Judge(model)])           # for every claim

    Args:
        chat: The model.
        claims: Whose claims are judged; see `Claims`. Read by `Scorer(judge=...)`.
        timeout: Seconds for all calls of one answer together, retries included.
        max_tokens: Of one reply; more claims than fit into it are asked in several calls.
        votes: How often each claim is asked; the majority decides, and the share of votes is its
            probability.
        splits: How often the model splits the answer where it does (`claims="extracted"`); the
            claims are those of the median split, and `Report.splits` has the spread.
        max_calls: For one answer; what would exceed it is a `Failure` of kind "budget".
        max_total_tokens: The same for tokens, as estimated before each call.
        rubric: What else counts in a field: the name of one of `faithguard.prompts.RUBRICS`
            (medical, legal, financial, customer_support), or a sentence or two of your own:
            "Amounts within 1% of the passage's are supported."
        random: Chance, for ids, marks, control claims and their places.
        clock: Seconds, as the model's deadlines are told.

    Raises:
        ConfigError: If a setting cannot be used.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        claims: Claims = "local",
        timeout: float = 60.0,
        max_tokens: int = 4_096,
        votes: int = 1,
        splits: int = 1,
        max_calls: int | None = None,
        max_total_tokens: int | None = None,
        rubric: str | None = None,
        random: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        _check(chat, claims, timeout)
        _check_whole(max_tokens=max_tokens, votes=votes, splits=splits)
        if splits > 1 and claims != "extracted":
            raise ConfigError(
                f"`splits` is {splits!r}, but claims={claims!r}: only 'extracted' splits by itself"
            )
        _check_whole(max_calls=max_calls, max_total_tokens=max_total_tokens)
        if votes > 1 and claims == "together":
            raise ConfigError(
                f"`votes` is {votes!r}, but claims='together' has other claims in each call: use "
                "'extracted' or 'local'"
            )
        self.chat = chat
        self.claims: Claims = claims
        self.timeout = timeout
        self.splits = splits
        added = None if rubric is None else rubric_of(rubric)
        self.settings = Settings(
            name=_name(chat.name, votes, added),
            max_tokens=max_tokens,
            votes=votes,
            budget=Budget(calls=max_calls, tokens=max_total_tokens),
            rubric=added,
            random=random or SystemRandom(),
        )
        self.clock = clock

    @property
    def name(self) -> str:
        """`judge@version:model`, with whatever else changes its verdicts."""
        return self.settings.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, claims={self.claims!r})"

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return a verdict or a failure of each claim, in order; None of each without context."""
        if not claims or not context.passages:
            return [None] * len(claims)
        plan, deadline = self._plan(claims, context), self.clock() + self.timeout
        while asks := plan.todo():
            for ask in asks:
                plan.settle(ask, self._said(ask, deadline))
        return plan.findings()

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Do the same without blocking the event loop; batches are asked at once."""
        if not claims or not context.passages:
            return [None] * len(claims)
        plan, deadline = self._plan(claims, context), self.clock() + self.timeout
        # what to read for the claims, and whether it holds what is quoted, keeps a core busy
        while asks := await offload(plan.todo):
            said = await all_of(*(self._asaid(ask, deadline) for ask in asks))
            await offload(plan.settle_all, asks, said)
        return plan.findings()

    def _plan(self, claims: Sequence[Claim], context: Context) -> JudgePlan:
        return JudgePlan(claims, context, self.settings)

    def _said(self, ask: Ask, deadline: float) -> Completion | JudgeError:
        try:
            return self.chat.complete(
                ask.messages, schema=ask.schema, max_tokens=ask.max_tokens, deadline=deadline
            )
        except JudgeError as error:
            return error

    async def _asaid(self, ask: Ask, deadline: float) -> Completion | JudgeError:
        try:
            return await self.chat.acomplete(
                ask.messages, schema=ask.schema, max_tokens=ask.max_tokens, deadline=deadline
            )
        except JudgeError as error:
            return error


class OpenAIJudge(Judge):
    """A judge behind any server that speaks OpenAI's protocol.

        judge = OpenAIJudge("gpt-4.1-mini")
        judge = OpenAIJudge("qwen3", base_url="http://localhost:8000/v1")
        report = check(answer, context, judge=judge)

    Args:
        model: Its name on the server.
        base_url: As in `OpenAIChat`, with the next six.
        api_key: The key; `OPENAI_API_KEY` if it is not given.
        client: An `openai.OpenAI` or `AzureOpenAI` of yours.
        async_client: An `openai.AsyncOpenAI` or `AsyncAzureOpenAI` of yours.
        max_in_flight: Calls at once, over all threads and tasks.
        retries: How often a server that is down or busy is asked again.
        parameters: Of each request.
        settings: All others, as in `Judge`: `claims`, `timeout`, `max_tokens`, `votes`,
            `splits`, `max_calls`, `max_total_tokens`, `rubric`.

    Raises:
        MissingExtraError: If `openai` is not installed.
        ConfigError: If a setting cannot be used, or there is no key.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        client: Any = None,
        async_client: Any = None,
        max_in_flight: int = 8,
        retries: int = 3,
        parameters: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        chat = OpenAIChat(
            model,
            base_url,
            api_key,
            client=client,
            async_client=async_client,
            max_in_flight=max_in_flight,
            retries=retries,
            parameters=parameters,
        )
        super().__init__(chat, **settings)


def _name(model: str, votes: int, rubric: Rubric | None) -> str:
    """Return the name: two judges with the same one say the same, as far as models do."""
    added = f"+votes={votes}" if votes > 1 else ""
    if rubric:
        added += f"+rubric={rubric.name}"
    return f"judge@{VERSION}:{'-'.join(model.split())}{added}"


def _check(chat: object, claims: object, timeout: object) -> None:
    if isinstance(chat, str):
        raise ConfigError(f"`chat` is {chat!r}: a model by its name is OpenAIJudge({chat!r})")
    if not all(hasattr(chat, part) for part in ("name", "complete", "acomplete")):
        raise ConfigError(
            f"`chat` is of type {type(chat).__name__}: pass a ChatModel, or the adapter of a "
            "framework's model: faithguard_langchain.LangChainJudge(model), "
            "faithguard_llama_index.LlamaIndexJudge(llm)"
        )
    if claims not in ("local", "extracted", "together"):
        raise ConfigError(f"`claims` is {claims!r}: use 'local', 'extracted' or 'together'")
    if not isinstance(timeout, int | float) or not 0.0 < timeout < math.inf:
        raise ConfigError(f"`timeout` is {timeout!r}: name the seconds for one answer")


def _check_whole(**values: object) -> None:
    for name, value in values.items():
        if value is None and name.startswith("max_") and name != "max_tokens":
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"`{name}` is {value!r}: it must be a whole number, 1 or more")
