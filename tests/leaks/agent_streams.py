"""LangChain's agents and nodes, released claim by claim. In: desks of `agents`. Out: rows.

Only who reads messages gets pieces; what stands in the state at the end is what was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import agent_ways as ways
from . import agents
from .agent_ways import Way
from .agents import Desk, Shape
from .outcomes import CLAIMS, Named, Outcome, Play, Row, of_received
from .scene import Script


def play(shape: Shape, way: Way) -> Play:
    """Ask once, or go on to a second turn."""

    def played(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        desk = Desk(shape=shape, model=shape.model(script), options=options)
        received = way.receive(desk)
        return of_received(received, asked=len(desk.model.calls))

    return played


BY_MESSAGES = tuple(
    way
    for way in (*ways.ONE_MODE, *ways.TOGETHER, *ways.NUMBERED)
    if way.name.endswith(("messages", "messages and custom")) and "updates" not in way.name
)
TO_THE_END = (ways.INVOKE, ways.AINVOKE, ways.STREAM, ways.ASTREAM, ways.ASTREAM_EVENTS)
"""Their reader takes the last state, which is there only where the run came to its end."""

SHAPES = (agents.ONE_TOOL, agents.TWO_HOPS, agents.PLACED[1], agents.PLACED[4])
NODES = (agents.MESSAGES_NODE,)

ROWS = tuple(
    Row(
        way=Named(way.name),
        shape=Named(shape.name),
        play=play(shape, way),
        columns=CLAIMS,
        talks_on=False,
        by_piece=way in BY_MESSAGES,
    )
    for shape in (*SHAPES, *NODES)
    for way in (*BY_MESSAGES, *TO_THE_END)
)

LEFT_OUT: Mapping[str, str] = {
    "structured answers, claim by claim": "no text to release; the whole answer is held",
}
"""What the table has no cell for, and why; printed under it."""
