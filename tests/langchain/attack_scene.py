"""Chains whose model writes something false, and what is left of it where a guard stands.

In: what a model says. Out: a chain, what a guard makes of it, and whether words of it show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import pytest
from langchain_core.messages import (
    AIMessage,
)
from langchain_core.runnables import (
    Runnable,
    RunnableLambda,
)
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from faithguard import Report, UnfaithfulAnswerError
from faithguard_langchain import guard

from .scene import (
    PRICE,
    QUESTION,
    Chain,
    Turns,
    message_chain,
    says,
)

SHORT = "At 02:30."
"""A whole answer of two words, which is not true."""


def guarded(chain: Runnable[Any, Any], **settings: Any) -> Any:
    """Return a guard that logs nothing."""
    return guard(chain, **{"sinks": [], **settings})


def writes(said: str | AIMessage, shape: Callable[[AIMessage], Any] | None = None) -> Chain:
    """A chain that retrieves, whose model says something, and whose last step gives it a form."""
    model = says(said) if isinstance(said, str) else Turns(turns=[said], done=[])
    chain = message_chain(model)
    return chain if shape is None else chain | RunnableLambda(shape)


def held(chain: Chain, given: Any = QUESTION, **settings: Any) -> Report:
    """Check that an answer is held back for what it says, and return the report."""
    with pytest.raises(UnfaithfulAnswerError) as caught:
        guarded(chain, **settings).invoke(given)
    return caught.value.report


def leaks(value: Any, word: str = "quillfeather") -> bool:
    """Say whether what someone holds shows the lie, in whatever case."""
    return word in repr(value).casefold()


@tool
def look_up(topic: str) -> str:
    """Look something up in the tariff."""
    return PRICE


def tool_graph(
    turns: Sequence[AIMessage], tools: Sequence[BaseTool], *, direct: bool = False
) -> Any:
    """A LangGraph tool loop; `direct` ends it after the tools, as `return_direct` does."""
    model = Turns(turns=list(turns), done=[])

    def write(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def onward(state: MessagesState) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    builder = StateGraph(MessagesState)
    builder.add_node("write", write)
    builder.add_node("tools", ToolNode(list(tools)))
    builder.add_edge(START, "write")
    builder.add_conditional_edges("write", onward)
    builder.add_edge("tools", END if direct else "write")
    return builder.compile()


ASKED = {"messages": [("user", QUESTION)]}


class Visit(TypedDict, total=False):
    """The state of the graphs below."""

    question: str
    answer: str


def one_node(node: Any, **settings: Any) -> Any:
    """A graph of one node."""
    builder = StateGraph(Visit)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile(**settings)
