"""LangChain's chains, repaired and released claim by claim. In: shapes of `chains`. Out: rows.

The shapes and the ways are those of the table of `langchain`, where an answer is only ever held
back or written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faithguard_langchain import guard

from . import chains, ways
from .cells import Column
from .chains import Shape
from .outcomes import CLAIMS, REPAIRING, Named, Outcome, Play, Row, of_received
from .scene import QUESTION, Script
from .ways import Way


def play(shape: Shape, way: Way) -> Play:
    """Ask a chain once."""

    def played(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        model = shape.model(script)
        chain = shape.build(model)
        called = chain if options is None else guard(chain, **options, **shape.keys)
        received = way.receive(called, shape.ask(QUESTION))
        return of_received(received, asked=len(model.calls))

    return played


def rows(
    shapes: Sequence[Shape], some: Sequence[Way], columns: Sequence[Column]
) -> tuple[Row, ...]:
    """Make a row of each shape and way."""
    return tuple(
        Row(
            way=Named(way.name),
            shape=Named(shape.name),
            play=play(shape, way),
            columns=columns,
            talks_on=False,
        )
        for shape in shapes
        for way in some
    )


def named(*names: str) -> tuple[Way, ...]:
    """Find ways by their names."""
    known = {way.name: way for way in (*ways.OTHER, *ways.LARGER)}
    return tuple(known[name] for name in names)


PIECE_BY_PIECE = (ways.STREAM, ways.ASTREAM, ways.ASTREAM_EVENTS)
TRANSFORMED = named("transform", "atransform", "astream_events v1")
PASSED_ON = named(
    "before a passthrough: stream",
    "before a passthrough: astream",
    "before a passthrough: astream_events",
)
REMEMBERED = tuple(way for way in ways.REMEMBERING if way.name.endswith("stream"))

ROWS = (
    *rows(chains.SHAPES, ways.CORE, REPAIRING),
    *rows((chains.TEXT,), TRANSFORMED, REPAIRING),
    *rows((chains.HISTORY,), ways.REMEMBERING, REPAIRING),
    *rows(
        (
            chains.TEXT,
            chains.MESSAGE,
            chains.STREAMING,
            chains.RETRIEVAL_CHAIN,
            chains.ASSIGN,
        ),
        PIECE_BY_PIECE,
        CLAIMS,
    ),
    *rows((chains.TEXT,), (*TRANSFORMED, *PASSED_ON), CLAIMS),
    *rows((chains.HISTORY,), REMEMBERED, CLAIMS),
)

LEFT_OUT: Mapping[str, str] = {
    "RetrievalQA and plain functions, claim by claim": "they do not stream",
}
"""What the table has no cell for, and why; printed under it."""
