"""What the agents' table cannot hold: notes, names, evidence, tools that end a turn, a crowd.

Every check yields what is wrong, and nothing where all is well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from faithguard import Report, UnfaithfulAnswerError

from . import agent_ways as ways
from . import agents
from .agent_cells import FLAG, REPAIR
from .agents import Desk, Shape, agent, asked
from .cells import BLOCK, BLOCK_WITH_FALLBACK, REGENERATE, Column
from .cells import COLUMNS as WHOLE
from .checks import CROWD, THREADS, not_their_own
from .graphs import THREAD
from .observers import AsyncTokens, Tokens
from .outcomes import NOTE
from .refusals import refused
from .scene import (
    FALLBACK,
    LIE,
    QUESTION,
    Script,
    faithful,
    half_borrowed,
    half_improving,
    improving,
    lane_question,
    leaks,
    unfaithful,
)
from .ways import written

Ask = Callable[[Any, str], Any]
"""From a graph and a question to the state."""


def ask(graph: Any, question: str, **config: Any) -> Any:
    """Ask."""
    return graph.invoke(asked(question), {**THREAD, **config})


def aask(graph: Any, question: str, **config: Any) -> Any:
    """Ask, awaiting."""
    return asyncio.run(graph.ainvoke(asked(question), {**THREAD, **config}))


ASKS: Mapping[str, Ask] = {"invoke": ask, "ainvoke": aask}


def desk(shape: Shape, script: Script, options: agents.Options | None, **fields: Any) -> Desk:
    """Make a desk."""
    return Desk(shape=shape, model=shape.model(script, **fields), options=options)


def caught(call: Ask, graph: Any, question: str = QUESTION) -> Any:
    """Ask; return the state, or the guard's exception."""
    try:
        return call(graph, question)
    except UnfaithfulAnswerError as error:
        return error


# What is written into the state


def noted(call: Ask, column: Column) -> Iterator[str]:
    """Check that state and message hold the note of the decision, and of no other turn."""
    model = agents.TWO_HOPS.model(column.script)
    state = call(agent(model, column.options, None), QUESTION)
    due = column.script is improving
    for where, note in (
        ("state", state.get("faithguard")),
        ("message", state["messages"][-1].response_metadata.get("faithguard")),
    ):
        if not isinstance(note, Mapping) or not set(note) >= NOTE:
            yield f"the note in the {where} is {note!r}"
        elif note["attempts"] != column.attempts or (due and not note["passed"]):
            yield f"the note in the {where} says {note!r}"
    if column is not FLAG and leaks(written(state)):
        yield f"{', '.join(leaks(written(state)))} in the state"


def kinds(column: Column) -> Iterator[str]:
    """Check that the messages of a turn are those of an agent without a guard."""
    guarded, bare = (
        ask(agent(agents.TWO_HOPS.model(script), options, None), QUESTION)
        for script, options in ((column.script, column.options), (faithful, None))
    )
    got, plain = ([type(m).__name__ for m in state["messages"]] for state in (guarded, bare))
    if got != plain:
        yield f"{got!r} instead of {plain!r}"
    if guarded["messages"][-1].tool_calls:
        yield "the last message calls a tool"


def reported(call: Ask, column: Column) -> Iterator[str]:
    """Check that `on_report` gets the last report, whether or not the answer is delivered."""
    reports: list[Report] = []
    options = {**column.options, "on_report": reports.append}
    caught(call, desk(agents.TWO_HOPS, column.script, options).graph())
    if len(reports) != 1 or not isinstance(reports[0], Report):
        yield f"the reports are {reports!r}"


def bounded_attempts(call: Ask, shape: Shape) -> Iterator[str]:
    """Check that `max_attempts` counts all attempts for an answer, and no hop."""
    for most in (1, 3):
        here = desk(shape, unfaithful, {"on_fail": "regenerate", "max_attempts": most})
        caught(call, here.graph())
        if (count := len(here.model.calls)) != most + len(shape.plan):
            yield f"{count} calls with max_attempts={most}"


def counted_anew(call: Ask) -> Iterator[str]:
    """Check that each turn has all its attempts."""
    here = desk(agents.ONE_TOOL, improving, {**REGENERATE.options, "fallback": FALLBACK})
    graph = here.graph(ways.store())
    for turn in range(3):
        state = call(graph, QUESTION)
        if leaks(written(state)) or state["faithguard"]["attempts"] != 2:
            yield f"turn {turn} ended with {state['messages'][-1].text!r}"
        if not isinstance(state["messages"][-1], AIMessage) or not state["faithguard"]["passed"]:
            yield f"turn {turn} did not pass: {state['faithguard']!r}"


# Two guards, and what they are called


def middleware(**options: Any) -> Any:
    """Make a guard; the package's name is looked up only here."""
    from faithguard_langchain import FaithfulnessMiddleware

    return FaithfulnessMiddleware(**options)


def names() -> Iterator[str]:
    """Check that two policies have two names, and a name may be given."""
    guards = [
        middleware(),
        middleware(domain="medical"),
        middleware(on_fail="flag"),
        middleware(domain="medical", on_fail="flag"),
        middleware(name="mine"),
    ]
    if len({guard.name for guard in guards}) != len(guards) or guards[-1].name != "mine":
        yield f"the names are {[guard.name for guard in guards]!r}"
    if middleware(domain="medical").name != guards[1].name:
        yield "one policy has two names"


def refusals() -> Iterator[str]:
    """Check that a mistaken setting is refused when the guard is made."""
    yield from refused(lambda: middleware(domain="medcial"), "medical")
    yield from refused(lambda: middleware(on_fail="shrug"), "regenerate")
    yield from refused(lambda: middleware(on_fail="block", max_attempts=3), "regenerate")


# What is evidence, and what is not


def told_by_user(call: Ask) -> Iterator[str]:
    """Check that a user's own words are no evidence."""
    here = desk(agents.ONE_TOOL, unfaithful, BLOCK.options, questions=(f"{QUESTION} {LIE}",))
    got = caught(call, here.graph(), f"{QUESTION} {LIE}")
    if not isinstance(got, UnfaithfulAnswerError):
        yield f"{got['messages'][-1].text!r} was delivered"


def unseen(call: Ask) -> Iterator[str]:
    """Check that what another middleware hid from the model is no evidence."""
    from langchain.agents import create_agent

    from .agent_middleware import Censor
    from .agent_scene import RULES, TOOLS, tools_of

    model = agents.ONE_TOOL.model(faithful)
    guarded = create_agent(
        model,
        tools_of(["look_up"], TOOLS),
        system_prompt=RULES,
        middleware=[Censor(), middleware()],
    )
    got = caught(call, guarded)
    if not isinstance(got, UnfaithfulAnswerError):
        yield f"{got['messages'][-1].text!r} was delivered"


def without_context(call: Ask) -> Iterator[str]:
    """Check that an answer without any evidence is held back."""
    shape = Shape(name="agent, nothing", build=agent)
    got = caught(call, desk(shape, faithful, BLOCK.options).graph())
    if not isinstance(got, UnfaithfulAnswerError):
        yield f"{got['messages'][-1].text!r} was delivered"


def direct(call: Ask, column: Column) -> Iterator[str]:
    """Check that a tool that ends the turn is heard as it is."""
    shape = Shape(name="agent, return_direct", build=agent, plan=(("announce",),))
    here = desk(shape, faithful, column.options)
    got = caught(call, here.graph(ways.store()))
    last = got["messages"][-1] if isinstance(got, dict) else got
    if not isinstance(last, ToolMessage) or last.text != LIE:
        yield f"{last!r} instead of the tool's own words"
    if len(here.model.calls) != 1:
        yield f"the model was asked {len(here.model.calls)} times"


# What watches


def watched(call: Callable[..., Any], column: Column) -> Iterator[str]:
    """Check that a handler that passes tokens on passes on no lie; without a guard it does."""
    for shape in (agents.ONE_TOOL, agents.MESSAGES_NODE):
        for handler in (Tokens(), AsyncTokens()):
            for options in (None, column.options):
                here = desk(shape, column.script, options, streaming=True)
                handler.sent.clear()
                with suppress(UnfaithfulAnswerError):
                    call(here.graph(ways.store()), QUESTION, callbacks=[handler])
                if bool(leaks("".join(handler.sent))) is not (options is None):
                    who = f"{type(handler).__name__}, {shape.name}"
                    yield f"{who}, settings {options!r}: {''.join(handler.sent)!r}"


class Slip(Exception):
    """The model's own error."""


def own_errors(call: Ask, shape: Shape) -> Iterator[str]:
    """Check that the model's own error arrives as it is, and no fallback in its place."""

    def slipping(question: str, feedback: bool) -> str:
        raise Slip(question)

    graph = desk(shape, slipping, BLOCK_WITH_FALLBACK.options).graph()
    try:
        yield f"{call(graph, QUESTION)!r} was delivered"
    except Slip:
        return


# Many callers

LANES = Shape(name="agent, lanes", build=partial(agent), plan=(("lanes",),))


def crowd(shape: Shape, column: Column) -> Iterator[str]:
    """Check that each of many callers of one graph gets the outcome of its question."""
    script = half_improving if column.script is improving else half_borrowed
    graph = desk(shape, script, column.options).graph(ways.store())
    visits = [
        ({"messages": [HumanMessage(lane_question(lane))]}, thread)
        for lane, thread in enumerate(ways.visitors(CROWD))
    ]
    aoutputs = asyncio.run(_tasks(graph, visits))
    yield from not_their_own(aoutputs, column.due)

    others = desk(shape, script, column.options).graph(ways.store())

    def call(visit: Any) -> Any:
        try:
            return others.invoke(*visit)["messages"][-1].text
        except UnfaithfulAnswerError as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        yield from not_their_own(list(pool.map(call, visits)), column.due)


async def _tasks(graph: Any, visits: Sequence[Any]) -> Sequence[Any]:
    got = await asyncio.gather(*(graph.ainvoke(*visit) for visit in visits), return_exceptions=True)
    return [
        state if isinstance(state, BaseException) else state["messages"][-1].text for state in got
    ]


NOTED = (BLOCK_WITH_FALLBACK, REGENERATE, FLAG)

CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        f"{name}: {how}": (lambda check=check, call=call: check(call))
        for name, check in {
            "every turn has its attempts": counted_anew,
            "no evidence: a user's own words": told_by_user,
            "no evidence: what was hidden": unseen,
            "no evidence: nothing": without_context,
        }.items()
        for how, call in ASKS.items()
    },
    **{
        f"{name}: {column.name}, {how}": (
            lambda check=check, call=call, column=column: check(call, column)
        )
        for name, check, columns in (
            ("note", noted, NOTED),
            ("reports", reported, WHOLE),
            ("return_direct", direct, (BLOCK, BLOCK_WITH_FALLBACK, REGENERATE)),
            ("token handlers", watched, WHOLE),
        )
        for column in columns
        for how, call in ASKS.items()
    },
    **{f"kinds of messages: {column.name}": partial(kinds, column) for column in NOTED},
    "repair: note": partial(noted, ask, REPAIR),
    "repair: kinds of messages": partial(kinds, REPAIR),
    **{
        f"{name}: {shape.name}, {how}": partial(check, call, shape)
        for name, check in (("max_attempts", bounded_attempts), ("own errors", own_errors))
        for shape in (agents.TWO_HOPS, agents.MESSAGES_NODE)
        for how, call in ASKS.items()
    },
    "names": names,
    "refused: settings": refusals,
    **{
        f"crowd: {column.name}, {shape.name}": partial(crowd, shape, column)
        for column in WHOLE
        for shape in (LANES, agents.MESSAGES_NODE)
    },
}
