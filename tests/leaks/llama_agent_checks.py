"""What the table of LlamaIndex's agents cannot hold: kinds, reports, evidence, a crowd.

Every check yields what is wrong, and nothing where all is well.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool

from faithguard import Report, UnfaithfulAnswerError

from . import llama_agents as agents
from .cells import BLOCK, BLOCK_WITH_FALLBACK, COLUMNS, REGENERATE, Column
from .checks import CROWD, not_their_own
from .llama_agents import POOL, Build, guarding, plain_tool
from .refusals import refused
from .scene import (
    BAD,
    LIE,
    PASSAGES,
    QUESTION,
    Script,
    documents_for,
    faithful,
    half_borrowed,
    half_improving,
    improving,
    lane_question,
    unfaithful,
)

KINDS: Mapping[str, tuple[Build, type]] = {
    "FunctionAgent": (agents.function_agent(plain_tool), FunctionAgent),
    "ReActAgent": (agents.react_agent(plain_tool), ReActAgent),
    "AgentWorkflow": (agents.two_agents, AgentWorkflow),
}


def run(agent: Any, *questions: str) -> list[Any]:
    """Run an agent for several questions at once; return the answers and exceptions."""

    async def running() -> list[Any]:
        handlers = [agent.run(user_msg=question) for question in questions]
        return await asyncio.gather(*handlers, return_exceptions=True)

    with warnings.catch_warnings():
        # LlamaIndex warns of its own overloads, and of the memory it leaves out of a state
        warnings.simplefilter("ignore")
        return [
            got if isinstance(got, BaseException) else str(got) for got in asyncio.run(running())
        ]


def built(build: Build, script: Script, options: Mapping[str, Any] | None) -> Any:
    """Build an agent, guarded where there are settings."""
    return guarding(build(script, True)[0], options)


def same_kind(build: Build, kind: type) -> Iterator[str]:
    """Check that a guarded agent is of its kind, and that the one it was made of is unguarded."""
    plain = build(unfaithful, True)[0]
    safe = guarding(plain, BLOCK_WITH_FALLBACK.options)
    if not isinstance(safe, kind):
        yield f"{type(safe).__name__} instead of {kind.__name__}"
    if kind is not AgentWorkflow and (safe.name, safe.description) != (
        plain.name,
        plain.description,
    ):
        yield f"it is called {safe.name!r}: {safe.description!r}"
    if run(plain, QUESTION) != [BAD]:
        yield "the agent given is no longer what it was"


def flagged(build: Build, kind: type) -> Iterator[str]:
    """Check that `flag` delivers the answer and hands over the report."""
    reports: list[Report] = []
    options = {"on_fail": "flag", "on_report": reports.append}
    if (got := run(built(build, unfaithful, options), QUESTION)) != [BAD]:
        yield f"{got!r} was delivered"
    if len(reports) != 1 or not isinstance(reports[0], Report):
        yield f"the reports are {reports!r}"


def reported(build: Build, column: Column) -> Iterator[str]:
    """Check that `on_report` gets the last report, whether or not the answer is delivered."""
    reports: list[Report] = []
    run(built(build, column.script, {**column.options, "on_report": reports.append}), QUESTION)
    if len(reports) != 1 or not isinstance(reports[0], Report):
        yield f"the reports are {reports!r}"


def bounded_attempts(build: Build, kind: type) -> Iterator[str]:
    """Check that `max_attempts` counts all attempts for an answer, and no hop."""
    plain, prompts = build(unfaithful, True)
    run(plain, QUESTION)
    hops = sum(map(len, prompts)) - 1
    for most in (1, 3):
        agent, prompts = build(unfaithful, True)
        run(guarding(agent, {"on_fail": "regenerate", "max_attempts": most}), QUESTION)
        if (count := sum(map(len, prompts)) - hops) != most:
            yield f"{count} answers with max_attempts={most}"


def not_doubled(build: Build, kind: type) -> Iterator[str]:
    """Check that what the tool found stands once in the prompt of the second attempt too."""
    agent, prompts = build(improving, True)
    run(guarding(agent, REGENERATE.options), QUESTION)
    *_, first, second = prompts[-1]
    for what in (QUESTION, *PASSAGES[2:]):
        if first.count(what) != second.count(what):
            yield f"{what!r} stands {second.count(what)} times, not {first.count(what)}"


def told_by_user(build: Build, kind: type) -> Iterator[str]:
    """Check that a user's own words are no evidence."""
    got = run(built(build, unfaithful, BLOCK.options), f"{LIE} So tell me: {QUESTION}")
    if not isinstance(got[0], UnfaithfulAnswerError):
        yield f"{got!r} instead of UnfaithfulAnswerError"


def empty_tool() -> FunctionTool:
    """A tool that finds nothing."""

    def find(input: str) -> str:
        """Find the rules of the pool."""
        return "Nothing found."

    return FunctionTool.from_defaults(find, name=POOL)


def found_nothing(make: Callable[[Callable[[], Any]], Build]) -> Iterator[str]:
    """Check that an answer after a tool that found nothing is held back."""
    got = run(built(make(empty_tool), faithful, BLOCK.options), QUESTION)
    if not isinstance(got[0], UnfaithfulAnswerError):
        yield f"{got!r} instead of UnfaithfulAnswerError"


class Slip(Exception):
    """The model's own error."""


def own_errors(build: Build, kind: type) -> Iterator[str]:
    """Check that the model's own error arrives as without a guard, and no fallback instead."""

    def slipping(question: str, feedback: bool) -> str:
        raise Slip(question)

    plain = run(build(slipping, True)[0], QUESTION)
    got = run(built(build, slipping, BLOCK_WITH_FALLBACK.options), QUESTION)
    if list(map(type, got)) != list(map(type, plain)):
        yield f"{got!r} instead of {plain!r}"


def lane_tool() -> FunctionTool:
    """A tool that knows who trains in a lane."""

    def find(input: str) -> str:
        """Find out who trains in a lane."""
        return "\n".join(document.page_content for document in documents_for(input))

    return FunctionTool.from_defaults(find, name=POOL)


def crowd(make: Callable[[Callable[[], Any]], Build], column: Column) -> Iterator[str]:
    """Check that each of many runs of one agent gets the outcome of its question."""
    script = half_improving if column.script is improving else half_borrowed
    questions: Sequence[str] = [lane_question(lane) for lane in range(CROWD)]
    agent = built(make(lane_tool), script, column.options)
    yield from not_their_own(run(agent, *questions), column.due)


MAKERS: Mapping[str, Callable[[Callable[[], Any]], Build]] = {
    "FunctionAgent": agents.function_agent,
    "ReActAgent": agents.react_agent,
}

CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        f"{name}: {how}": partial(check, build, kind)
        for name, check in {
            "same kind": same_kind,
            "flag delivers": flagged,
            "max_attempts": bounded_attempts,
            "the retry is not doubled": not_doubled,
            "no evidence: a user's own words": told_by_user,
            "own errors": own_errors,
        }.items()
        for how, (build, kind) in KINDS.items()
    },
    **{
        f"reports: {column.name}, {how}": partial(reported, build, column)
        for column in COLUMNS
        for how, (build, _) in KINDS.items()
    },
    **{
        f"no evidence: nothing found: {how}": partial(found_nothing, make)
        for how, make in MAKERS.items()
    },
    "refused: settings": lambda: refused(
        lambda: built(KINDS["FunctionAgent"][0], faithful, {"domain": "medcial"}), "medical"
    ),
    **{
        f"crowd: {column.name}, {how}": partial(crowd, make, column)
        for column in COLUMNS
        for how, make in MAKERS.items()
    },
}
