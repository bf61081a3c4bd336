"""Agents and graphs with a guard inside. In: a model, settings, a checkpointer. Out: a graph.

`create_agent` with `FaithfulnessMiddleware`, and graphs of the user's own with `verify_node`.
Without settings the same graph is built with no guard in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from .agent_scene import RULES, TOOLS, AgentModel, Plan, Reply, tools_of
from .chains import PROMPT, joined
from .chains import RULES as CHAIN_RULES
from .scene import PoolRetriever, Script

Options = Mapping[str, Any]
"""Settings of a guard."""
Build = Callable[[AgentModel, Options | None, Any], Any]
"""From model, settings (None: no guard) and checkpointer (None: none) to a compiled graph."""


def asked(question: str) -> dict[str, Any]:
    """Ask in the way of agents: with a message."""
    return {"messages": [HumanMessage(question)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way to build an agent or a graph."""

    name: str
    build: Build
    plan: Plan = ()
    form: Literal["text", "tool", "json"] = "text"
    ask: Callable[[str], dict[str, Any]] = field(default=asked)

    def model(self, script: Script, **fields: Any) -> AgentModel:
        """Make the model of this shape."""
        return AgentModel(script=script, plan=self.plan, form=self.form, **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A shape with its model, guarded or not: what a way of calling calls."""

    shape: Shape
    model: AgentModel
    options: Options | None = None

    def graph(self, saver: Any = None) -> Any:
        """Compile the graph."""
        return self.shape.build(self.model, self.options, saver)

    def nested(self, saver: Any = None) -> Any:
        """Compile a graph whose only node is the graph."""
        builder = StateGraph(Visit)
        builder.add_node("desk", self.graph())
        builder.add_edge(START, "desk")
        builder.add_edge("desk", END)
        return builder.compile(checkpointer=saver)


# Agents


def others(before: int, after: int) -> tuple[list[Any], list[Any]]:
    """Make up to two of other people's middleware for either side of the guard."""
    from langchain.agents.middleware import ModelCallLimitMiddleware, PIIMiddleware

    from .agent_middleware import Clerk, Narrator, Porter

    outer = [Narrator(), ModelCallLimitMiddleware(run_limit=20)]
    inner = [Clerk(), Porter()] if after != 1 else [Porter()]
    if before == 3:
        return [PIIMiddleware("email", apply_to_output=True)], inner[:after]
    return outer[:before], inner[:after]


def agent(
    model: AgentModel,
    options: Options | None,
    saver: Any,
    *,
    before: int = 0,
    after: int = 0,
    behind: Sequence[str] = (),
    watching: Literal["no", "outside", "inside"] = "no",
    tools: Sequence[str] | None = None,
) -> Any:
    """Make an agent with some middleware before and after the guard; `behind` names more.

    A second guard, of another policy, may stand `watching` on either side and only flag.
    """
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ProviderStrategy, ToolStrategy

    from . import agent_middleware

    guards: list[Any] = []
    if options is not None:
        from faithguard_langchain import FaithfulnessMiddleware

        examined = FaithfulnessMiddleware(**options)
        flagging = FaithfulnessMiddleware(domain="educational", on_fail="flag")
        guards = {
            "no": [examined],
            "outside": [flagging, examined],
            "inside": [examined, flagging],
        }[watching]
    outer, inner = others(before, after)
    inner += [getattr(agent_middleware, name)() for name in behind]
    planned = [name for names in model.plan for name in names]
    return create_agent(
        model,
        tools_of(planned if tools is None else tools, TOOLS),
        system_prompt=RULES,
        middleware=[*outer, *guards, *inner],
        response_format={
            "text": None,
            "tool": ToolStrategy(Reply),
            "json": ProviderStrategy(Reply),
        }[model.form],
        checkpointer=saver,
    )


NO_TOOL = Shape(name="agent, no tool", build=partial(agent, behind=("Librarian",)))
ONE_TOOL = Shape(name="agent, one tool", build=agent, plan=(("look_up",),))
DOCUMENTS = Shape(name="agent, tool with documents", build=agent, plan=(("look_up_documents",),))
TWO_HOPS = Shape(name="agent, two hops", build=agent, plan=(("hours",), ("prices",)))
PARALLEL = Shape(name="agent, parallel tools", build=agent, plan=(("hours", "prices"),))
BY_TOOL = Shape(name="agent, ToolStrategy", build=agent, plan=(("look_up",),), form="tool")
BY_PROVIDER = Shape(name="agent, ProviderStrategy", build=agent, plan=(("look_up",),), form="json")
NARRATED = Shape(
    name="agent, narrated", build=partial(agent, before=1), plan=(("hours",), ("prices",))
)

AGENTS = (NO_TOOL, ONE_TOOL, DOCUMENTS, TWO_HOPS, PARALLEL)
STRUCTURED = (BY_TOOL, BY_PROVIDER)
PLACED = tuple(
    Shape(
        name=f"agent, {before if before < 3 else 'PII'} before and {after} after",
        build=partial(agent, before=before, after=after),
        plan=plan,
    )
    for plan in ((("look_up",),), (("hours",), ("prices",)))
    for before, after in ((0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 2), (3, 0))
    if len(plan) == 1 or before == after
)
"""With other middleware on either side of the guard."""

DOUBLED = tuple(
    Shape(
        name=f"agent, a second policy {watching}",
        build=partial(agent, watching=watching),
        plan=(("look_up",),),
    )
    for watching in ("outside", "inside")
)
"""With a second guard that flags, on either side of the one that is examined."""


# Graphs of the user's own


class Visit(TypedDict, total=False):
    """The state: a question, what was found, and the answer as text and as a message."""

    question: str
    context: list[Document]
    answer: str
    messages: Annotated[list[BaseMessage], add_messages]


Node = Callable[[AgentModel], Any]
"""From a model to a node that answers."""


def in_fields(question: str) -> dict[str, Any]:
    """Ask in a key of the state."""
    return {"question": question}


def prompt(state: Visit, documents: Sequence[Document]) -> list[BaseMessage]:
    """Write the prompt with the whole conversation."""
    rules = SystemMessage(CHAIN_RULES.format(context=joined(documents)))
    return [rules, *state["messages"]]


def talking(model: AgentModel) -> Any:
    """Make a function node that retrieves, answers and adds a message."""

    def answer(state: Visit) -> Visit:
        found = PoolRetriever().invoke(state["messages"][-1].text)
        return {"messages": [model.invoke(prompt(state, found))]}

    return answer


def atalking(model: AgentModel) -> Any:
    """Make the same of a coroutine function."""

    async def answer(state: Visit) -> Visit:
        found = await PoolRetriever().ainvoke(state["messages"][-1].text)
        return {"messages": [await model.ainvoke(prompt(state, found))]}

    return answer


def streaming(model: AgentModel) -> Any:
    """Make a function node that streams the model and adds the chunks up."""

    def answer(state: Visit) -> Visit:
        found = PoolRetriever().invoke(state["messages"][-1].text)
        said = "".join(chunk.text for chunk in model.stream(prompt(state, found)))
        return {"messages": [AIMessage(said)]}

    return answer


def filling(model: AgentModel) -> Any:
    """Make a function node that answers from the documents of the state, into a key."""

    def answer(state: Visit) -> Visit:
        fields = {"question": state["question"], "context": joined(state["context"])}
        return {"answer": model.invoke(PROMPT.invoke(fields)).text}

    return answer


def afilling(model: AgentModel) -> Any:
    """Make the same of a coroutine function."""

    async def answer(state: Visit) -> Visit:
        fields = {"question": state["question"], "context": joined(state["context"])}
        return {"answer": (await model.ainvoke(PROMPT.invoke(fields))).text}

    return answer


def both_ways(said: BaseMessage) -> Visit:
    """Write an answer into the state as text and as a message."""
    return {"answer": said.text, "messages": [said]}


def chained(model: AgentModel) -> Any:
    """Make a node of a chain that retrieves and answers."""
    fields = RunnablePassthrough.assign(context=itemgetter("question") | PoolRetriever() | joined)
    return fields | PROMPT | model | RunnableLambda(both_ways)


def chained_on(model: AgentModel) -> Any:
    """Make a node of a chain that answers from the documents of the state."""
    fields = RunnablePassthrough.assign(context=itemgetter("context") | RunnableLambda(joined))
    return fields | PROMPT | model | RunnableLambda(both_ways)


def calling(model: AgentModel) -> Any:
    """Make a function node that may call tools, as the model of a hand-made agent."""

    def answer(state: Visit) -> Visit:
        bound = model.bind_tools(tools_of(["look_up"], TOOLS))
        return {"messages": [bound.invoke([SystemMessage(RULES), *state["messages"]])]}

    return answer


def verified(node: Any, options: Options | None) -> Any:
    """Put the guard around a node; the package's name is looked up only here."""
    if options is None:
        return node
    from faithguard_langchain import verify_node

    return verify_node(node, **options)


def one_node(make: Node, model: AgentModel, options: Options | None, saver: Any) -> Any:
    """Compile a graph of one node."""
    builder = StateGraph(Visit)
    builder.add_node("answer", verified(make(model), options))
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def fetch(state: Visit) -> Visit:
    """Retrieve into the state."""
    return {"context": PoolRetriever().invoke(state["question"])}


def two_nodes(make: Node, model: AgentModel, options: Options | None, saver: Any) -> Any:
    """Compile a graph that retrieves in one node and answers in the next."""
    builder = StateGraph(Visit)
    builder.add_node("fetch", fetch)
    builder.add_node("answer", verified(make(model), options))
    builder.add_edge(START, "fetch")
    builder.add_edge("fetch", "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def hand_made(make: Node, model: AgentModel, options: Options | None, saver: Any) -> Any:
    """Compile a loop of a model that calls tools and a node that runs them."""
    from langgraph.prebuilt import ToolNode, tools_condition

    builder = StateGraph(Visit)
    builder.add_node("answer", verified(make(model), options))
    builder.add_node("tools", ToolNode(tools_of(["look_up"], TOOLS)))
    builder.add_edge(START, "answer")
    builder.add_conditional_edges("answer", tools_condition)
    builder.add_edge("tools", "answer")
    return builder.compile(checkpointer=saver)


MESSAGES_NODE = Shape(name="node, messages", build=partial(one_node, talking))
ASYNC_NODE = Shape(name="async node, messages", build=partial(one_node, atalking))
STREAMING_NODE = Shape(name="node that streams", build=partial(one_node, streaming))
FIELD_NODE = Shape(
    name="node, documents of another", build=partial(two_nodes, filling), ask=in_fields
)
ASYNC_FIELD_NODE = Shape(
    name="async node, documents of another", build=partial(two_nodes, afilling), ask=in_fields
)
CHAIN_NODE = Shape(name="Runnable node", build=partial(one_node, chained), ask=in_fields)
CHAIN_ON_NODE = Shape(
    name="Runnable node, documents of another", build=partial(two_nodes, chained_on), ask=in_fields
)
TOOL_NODE = Shape(
    name="node in a loop with tools", build=partial(hand_made, calling), plan=(("look_up",),)
)

NODES = (MESSAGES_NODE, STREAMING_NODE, FIELD_NODE, CHAIN_NODE, CHAIN_ON_NODE, TOOL_NODE)
ASYNC_NODES = (ASYNC_NODE, ASYNC_FIELD_NODE)
"""These run under `ainvoke` and its like alone."""
