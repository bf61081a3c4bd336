"""LlamaIndex's engines, repaired and released claim by claim. In: `llama_engines`. Out: rows.

The engines and the ways are those of the table of `llama-index`, where an answer is only ever
held back or written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import llama_engines as engines
from . import llama_ways as ways
from .cells import Column
from .llama_cells import guarding
from .llama_engines import Shape
from .llama_scene import NEXT_QUESTION, as_it_is
from .llama_ways import Way
from .outcomes import CLAIMS, REPAIRING, Named, Outcome, Play, Row, of_received
from .scene import QUESTION, Script


def play(shape: Shape, way: Way) -> Play:
    """Play two turns with one engine."""

    def played(script: Script, options: Mapping[str, Any] | None) -> Outcome:
        bench = shape.bench(script, as_it_is if options is None else guarding(options))
        received = way.receive(bench.engine, QUESTION)
        asked = len(bench.talk.prompts)
        following = way.receive(bench.engine, NEXT_QUESTION)
        return of_received(
            received,
            asked=asked,
            later=tuple(bench.talk.prompts[asked:]),
            next_answers=following.answers,
        )

    return played


PIECE_BY_PIECE = (
    *ways.QUERY_STREAMS,
    *ways.CHAT_STREAMS,
    *(way for way in ways.OTHER_QUERY_STREAMS if way.name.endswith("response_gen")),
)
"""The ways whose reader gets one piece after the other; the others read to the end."""


def rows(
    shapes: tuple[Shape, ...],
    some: tuple[Way, ...],
    columns: Sequence[Column],
    *,
    talks_on: bool = False,
) -> tuple[Row, ...]:
    """Make a row of each shape and way."""
    return tuple(
        Row(
            way=Named(way.name),
            shape=Named(shape.name),
            play=play(shape, way),
            columns=columns,
            talks_on=talks_on,
            by_piece=way in PIECE_BY_PIECE,
            one_call=False,
        )
        for shape in shapes
        for way in some
    )


CONTEXT_CHATS = tuple(
    shape
    for shape in (*engines.CHATS, *engines.CHATS_IN_MEMORY)
    if not shape.name.startswith("SimpleChatEngine")
)
OTHER_CHAT_STREAMS = tuple(way for way in ways.OTHER_CHAT_WAYS if "stream_chat" in way.name)

ONE_ANSWER = tuple(shape for shape in engines.MODES if "accumulate" not in shape.name)

ROWS = (
    *rows(ONE_ANSWER, ways.QUERIES, REPAIRING),
    *rows(engines.STREAMED, ways.QUERY_STREAMS, REPAIRING),
    *rows(CONTEXT_CHATS, ways.CHAT_WAYS, REPAIRING, talks_on=True),
    *rows(engines.STREAMING_MODES, ways.QUERY_STREAMS, CLAIMS),
    *rows(engines.STREAMED, ways.OTHER_QUERY_STREAMS, CLAIMS),
    *rows(CONTEXT_CHATS, (*ways.CHAT_STREAMS, *OTHER_CHAT_STREAMS), CLAIMS, talks_on=True),
)

LEFT_OUT: Mapping[str, str] = {
    "SimpleChatEngine": "it has no context, so that no claim of it can be released",
    "CitationQueryEngine": "its sentences end in numbers of sources, which a repair may drop",
    "accumulating modes": "they put several answers under headings of their own into one",
    "engines that return whole answers, claim by claim": "they do not stream",
}
"""What the table has no cell for, and why; printed under it."""
