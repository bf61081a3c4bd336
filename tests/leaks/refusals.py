"""What a guard must not accept, and what it must not deliver."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from langchain_core._api import LangChainDeprecationWarning
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver

from faithguard import CaptureError, ConfigError
from faithguard_langchain import FaithfulnessCallback, guard

from . import graphs, ways
from .chains import HISTORY, RETRIEVAL_CHAIN, TEXT, Shape
from .scene import QUESTION, faithful, leaks, unfaithful


def refused(construct: Callable[[], Any], *words: str) -> Iterator[str]:
    """Check that a construction raises `ConfigError` whose message holds one of the words."""
    try:
        construct()
    except ConfigError as error:
        if not any(word in str(error).lower() for word in words):
            yield f"none of {words!r} in {error!s}"
    except Exception as error:
        yield f"{error!r} instead of ConfigError"
    else:
        yield "accepted"


def text_chain() -> Runnable[Any, Any]:
    """Build the plain chain."""
    return TEXT.build(TEXT.model(faithful))


def checkpointed_graph() -> Runnable[Any, Any]:
    """Build a graph that stores what its nodes write, before a guard around it could look."""
    return graphs.graph(graphs.function, text_chain(), InMemorySaver())


def remembering() -> Runnable[Any, Any]:
    """Build a message history that stores the answer before a guard around it could look."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        return RunnableWithMessageHistory(
            HISTORY.build(HISTORY.model(faithful)),
            InMemoryChatMessageHistory,
            input_messages_key="input",
            history_messages_key="history",
            history_factory_config=[],
        )


def as_it_is(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Hide nothing."""
    return chain


def in_sequence(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Put the chain in the middle of a sequence."""
    return RunnablePassthrough() | chain | RunnablePassthrough()


def behind_config(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Put the chain behind a binding."""
    return chain.with_config(tags=["pool"])


def behind_both(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Put the chain behind a binding, in a sequence, behind another."""
    return behind_config(in_sequence(behind_config(chain)))


def in_branch(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Put the chain into one branch of a parallel step."""
    return {"answer": chain, "question": RunnablePassthrough()} | RunnablePassthrough()


def in_assignment(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Assign the output of the chain to a key."""
    return RunnablePassthrough.assign(answer=chain)


def as_fallback(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Let the chain step in for another."""
    return RunnableLambda(itemgetter("input")).with_fallbacks([chain])


def retried(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Run the chain again when it fails."""
    return chain.with_retry(stop_after_attempt=2)


REMEDIES = ("node", "middleware")
"""What to use instead around a graph that stores its state."""

HIDDEN = (
    as_it_is,
    in_sequence,
    behind_config,
    behind_both,
    in_branch,
    in_assignment,
    as_fallback,
    retried,
)


def plain_graph() -> Iterator[str]:
    """Check that a graph without a checkpointer may be guarded."""
    try:
        guard(graphs.graph(graphs.function, text_chain()))
    except Exception as error:
        yield f"refused with {error!r}"


@dataclass(frozen=True, slots=True)
class Slip:
    """A piece of paper: an output in which a guard knows no answer."""

    note: str


def on_paper(text: str) -> Slip:
    """Write the answer on a slip."""
    return Slip(text)


NO_ANSWER: Mapping[str, tuple[Shape, Callable[[Any], Any] | None, Mapping[str, str]]] = {
    "an unknown object": (TEXT, on_paper, {}),
    "a number": (TEXT, len, {}),
    "nothing": (TEXT, lambda text: None, {}),
    "a dict without the named key": (RETRIEVAL_CHAIN, None, {"answer_key": "reply"}),
    "an object under the named key": (TEXT, lambda t: {"reply": Slip(t)}, {"answer_key": "reply"}),
}


def not_found(kind: str, way: ways.Way) -> Iterator[str]:
    """Check that an output without a findable answer ends in `CaptureError`, true or not."""
    shape, last, keys = NO_ANSWER[kind]
    for script in (faithful, unfaithful):
        chain = shape.build(shape.model(script))
        chain = chain | RunnableLambda(last) if last else chain
        received = way.receive(guard(chain, **keys), shape.ask(QUESTION))
        if markers := leaks(received.text):
            yield f"{', '.join(markers)} reached the caller"
        if [type(error) for error in received.errors] != [CaptureError]:
            yield f"{received.errors!r} instead of CaptureError"
        if any(isinstance(piece, Slip | int) for piece in received.pieces):
            yield "the output was delivered"


CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        f"refused: graph with a checkpointer, {hide.__name__}": (
            lambda hide=hide: refused(
                lambda: guard(hide(checkpointed_graph())), "node", "middlewar"
            )
        )
        for hide in HIDDEN
    },
    **{
        f"refused: message history inside, {hide.__name__}": (
            lambda hide=hide: refused(lambda: guard(hide(remembering())), "inside")
        )
        for hide in HIDDEN
    },
    "refused: a callback that is to block": lambda: refused(
        lambda: FaithfulnessCallback(on_fail="block"), "guard"
    ),
    "refused: an unknown on_fail": lambda: refused(
        lambda: guard(text_chain(), on_fail="shrug"),  # type: ignore[arg-type]
        "regenerate",
    ),
    "refused: an unknown domain": lambda: refused(
        lambda: guard(text_chain(), domain="medcial"), "medical"
    ),
    "accepted: a graph without a checkpointer": plain_graph,
    **{
        f"no answer found: {kind}, {way.name}": (lambda kind=kind, way=way: not_found(kind, way))
        for kind in NO_ANSWER
        for way in ways.CORE
    },
}
