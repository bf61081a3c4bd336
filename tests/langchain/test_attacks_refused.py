"""What a guard cannot protect is refused, and handlers hear no text before it is verified."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    BaseCallbackHandler,
    CallbackManager,
    UsageMetadataCallbackHandler,
    adispatch_custom_event,
    dispatch_custom_event,
    get_usage_metadata_callback,
)
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
)
from langchain_core.output_parsers import (
    StrOutputParser,
)
from langchain_core.outputs import ChatResult
from langchain_core.runnables import (
    ConfigurableField,
    RunnableGenerator,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import StructuredTool
from langchain_core.tracers.base import BaseTracer
from langgraph.checkpoint.memory import InMemorySaver

from faithguard import ConfigError
from faithguard_langchain.testing import ScriptedChatModel

from .attack_scene import (
    guarded,
    leaks,
    one_node,
    tool_graph,
)
from .scene import (
    BAD,
    FALLBACK,
    QUESTION,
    TRUE,
    WAYS,
    Chain,
    Script,
    Turns,
    message_chain,
    says,
    text_chain,
)
from .test_watcher import agent

# -- what is refused --------------------------------------------------------------------------


class Tokens(BaseCallbackHandler):
    """A handler as a page has one: it takes tokens."""

    def __init__(self) -> None:
        self.got: list[Any] = []

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.got.append(token)


def remembered() -> Any:
    """A chain with a memory of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        history = InMemoryChatMessageHistory()
        return RunnableWithMessageHistory(says(BAD), lambda _: history)


def checkpointed() -> Any:
    """A graph that stores each step."""
    return one_node(lambda state: {"answer": BAD}, checkpointer=InMemorySaver())


def overheard() -> Any:
    """A model that tells a page each token."""
    return ScriptedChatModel(reply=Script(BAD), callbacks=[Tokens()])


def ordinary() -> Any:
    """A chain that nothing speaks against."""
    return text_chain(says(TRUE))


FORBIDDEN = [remembered, checkpointed, overheard]


class Desk:
    """An application's object that holds a chain."""

    def __init__(self, chain: Any) -> None:
        self.chain = chain

    def ask(self, question: str) -> Any:
        """Ask the chain."""
        return self.chain.invoke(question)

    async def aask(self, question: str) -> Any:
        """Ask the chain, awaiting."""
        return await self.chain.ainvoke(question)

    def __call__(self, question: str) -> Any:
        """Ask the chain."""
        return self.chain.invoke(question)


IN_MODULE: Any = None
"""What `ask_module` and the others find in their module."""


def ask_module(question: str) -> Any:
    """Ask what the module holds."""
    return IN_MODULE.invoke(question)


def ask_module_nested(question: str) -> Any:
    """Ask it in a function inside."""

    def ask() -> Any:
        return IN_MODULE.invoke(question)

    return ask()


def ask_by_another(question: str) -> Any:
    """Ask it by another function of the module."""
    return ask_module(question)


def ask_given(question: str, chain: Any) -> Any:
    """Ask what is given."""
    return chain.invoke(question)


def _closure(chain: Any) -> Any:
    return RunnableLambda(lambda question: chain.invoke(question))


def _closed_in_dict(chain: Any) -> Any:
    held_ = {"desk": {"main": chain}}
    return RunnableLambda(lambda question: held_["desk"]["main"].invoke(question))


def _closed_in_list(chain: Any) -> Any:
    held_ = [1, (chain,)]
    return RunnableLambda(lambda question: held_[1][0].invoke(question))


def _closed_in_object(chain: Any) -> Any:
    desk = Desk(chain)
    return RunnableLambda(lambda question: desk.chain.invoke(question))


def _closed_deep(chain: Any) -> Any:
    def outer(question: str) -> Any:
        def inner() -> Any:
            return (RunnablePassthrough() | chain).invoke(question)

        return inner()

    def outermost(question: str) -> Any:
        return outer(question)

    return RunnableLambda(outermost)


def _default(chain: Any) -> Any:
    def ask(question: str, chain: Any = chain) -> Any:
        return chain.invoke(question)

    return RunnableLambda(ask)


def _keyword_default(chain: Any) -> Any:
    def ask(question: str, *, chain: Any = chain) -> Any:
        return chain.invoke(question)

    return RunnableLambda(ask)


def _generator(chain: Any) -> Any:
    def write(questions: Iterator[str]) -> Iterator[Any]:
        for question in questions:
            yield chain.invoke(question)

    return RunnableGenerator(write)


def _in_module(function: Any) -> Callable[[Any], Any]:
    def place(chain: Any) -> Any:
        setattr(sys.modules[__name__], "IN_MODULE", chain)  # noqa: B010
        return RunnableLambda(function)

    return place


def _tool_function(chain: Any) -> Any:
    def ask(question: str) -> str:
        """Ask the desk."""
        return str(chain.invoke(question))

    return StructuredTool.from_function(ask) | RunnableLambda(str)


def _tool_in_agent(chain: Any) -> Any:
    return agent(Turns(turns=[AIMessage(TRUE)], done=[]), [_tool_function(chain).first])


def _node_function(chain: Any) -> Any:
    return one_node(lambda state: {"answer": chain.invoke(state["question"])})


def _node(chain: Any) -> Any:
    return one_node(RunnableLambda(lambda state: state["question"]) | chain)


def _node_method(chain: Any) -> Any:
    return one_node(Desk(chain).ask)


def _tool_node(chain: Any) -> Any:
    return tool_graph([AIMessage(TRUE)], [_tool_function(chain).first])


def _alternative(chain: Any) -> Any:
    return ordinary().configurable_alternatives(
        ConfigurableField(id="desk"), default_key="day", night=chain
    )


def _alternative_made(chain: Any) -> Any:
    return ordinary().configurable_alternatives(
        ConfigurableField(id="desk"), default_key="day", night=lambda: chain
    )


PLACES: Mapping[str, Callable[[Any], Any]] = {
    "bound method": lambda chain: RunnableLambda(Desk(chain).ask),
    "bound method, awaiting": lambda chain: RunnableLambda(Desk(chain).aask),
    "callable object": lambda chain: RunnableLambda(Desk(chain)),
    "partial": lambda chain: RunnableLambda(partial(ask_given, chain=chain)),
    "partial of a method": lambda chain: RunnableLambda(partial(Desk(chain).ask)),
    "closure": _closure,
    "closure, dict": _closed_in_dict,
    "closure, list": _closed_in_list,
    "closure, object": _closed_in_object,
    "closure, deep": _closed_deep,
    "default": _default,
    "keyword default": _keyword_default,
    "module": _in_module(ask_module),
    "module, function inside": _in_module(ask_module_nested),
    "module, by another": _in_module(ask_by_another),
    "generator": _generator,
    "tool function": _tool_function,
    "agent's tool": _tool_in_agent,
    "node's function": _node_function,
    "node": _node,
    "node's method": _node_method,
    "tool node": _tool_node,
    "alternative": _alternative,
    "alternative, made": _alternative_made,
    "fallback": lambda chain: ordinary().with_fallbacks([chain]),
}


@pytest.fixture
def _module() -> Iterator[None]:
    """Clear what a place has put into the module."""
    yield
    setattr(sys.modules[__name__], "IN_MODULE", None)  # noqa: B010


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize("hidden", FORBIDDEN)
@pytest.mark.parametrize("place", PLACES)
def test_what_a_guard_cannot_protect_is_found_wherever_it_is(place: str, hidden: Any) -> None:
    """A memory, a checkpointer or a token handler is refused at construction."""
    with pytest.raises(ConfigError):
        guarded(PLACES[place](hidden()))


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize("place", PLACES)
def test_an_ordinary_chain_is_refused_nowhere(place: str) -> None:
    """The same constructions around a chain that nothing speaks against are accepted."""
    guarded(PLACES[place](ordinary()))


# -- handlers ---------------------------------------------------------------------------------


class Chatty(ScriptedChatModel):
    """A model that tells its tokens whenever it is called."""

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        result = super()._generate(messages, stop, None, **kwargs)
        for word in result.generations[0].text.split():
            if run_manager:
                run_manager.on_llm_new_token(word)
        return result


@dataclass
class Heard:
    """What a handler was told."""

    text: list[Any] = field(default_factory=list[Any])
    events: list[str] = field(default_factory=list[str])

    def token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.text.append(token)


class Page(BaseCallbackHandler):
    """A handler that notes which runs start and end."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain start")

    def on_chain_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain end")

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm start")

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm end")


class TokenPage(Page):
    """One whose class takes tokens."""

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.heard.text.append(token)


class InlinePage(TokenPage):
    """One that runs inline."""

    run_inline = True


class EventPage(Page):
    """One that takes events of the chain's own."""

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Take an event."""
        self.heard.text.append(data)


class AsyncPage(AsyncCallbackHandler):
    """One that awaits."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard

    async def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain start")

    async def on_chain_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("chain end")

    async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm start")

    async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        """Note it."""
        self.heard.events.append("llm end")

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Take a token."""
        self.heard.text.append(token)

    async def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Take an event."""
        self.heard.text.append(data)


class TracerPage(BaseTracer):
    """A user's own tracer that passes tokens on."""

    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self.heard = heard

    def _persist_run(self, run: Any) -> None:
        """Keep nothing."""

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> Any:
        """Take a token."""
        self.heard.text.append(token)
        return super().on_llm_new_token(token, **kwargs)

    def _on_chain_start(self, run: Any) -> None:
        self.heard.events.append("chain start")

    def _on_chain_end(self, run: Any) -> None:
        self.heard.events.append("chain end")

    def _on_llm_start(self, run: Any) -> None:
        self.heard.events.append("llm start")

    def _on_llm_end(self, run: Any) -> None:
        self.heard.events.append("llm end")


def _on_instance(heard: Heard) -> Any:
    page: Any = Page(heard)
    page.on_llm_new_token = heard.token
    return page


def _event_on_instance(heard: Heard) -> Any:
    page: Any = Page(heard)
    page.on_custom_event = lambda name, data, **kwargs: heard.text.append(data)
    return page


PAGES: Mapping[str, Callable[[Heard], Any]] = {
    "class": TokenPage,
    "instance": _on_instance,
    "inline": InlinePage,
    "tracer": TracerPage,
    "event": EventPage,
    "event on the instance": _event_on_instance,
    "async": AsyncPage,
}


def talkative(text: str) -> Chain:
    """A chain that tells its answer by tokens and by an event before it is verified."""

    def tell(said: str) -> str:
        dispatch_custom_event("draft", {"text": said})
        return said

    async def atell(said: str) -> str:
        await adispatch_custom_event("draft", {"text": said})
        return said

    return text_chain(Chatty(reply=Script(text))) | RunnableLambda(tell, atell)


@pytest.mark.parametrize("passed", ["list", "manager", "with_config"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PAGES)
def test_handlers_get_no_text_before_it_is_verified(name: str, way: str, passed: str) -> None:
    """Tokens and the chain's own events are held back; starts and ends are told."""
    heard = Heard()
    page = PAGES[name](heard)
    chain: Any = guarded(talkative(BAD), fallback=FALLBACK)
    config: Any = {"callbacks": [page]}
    if passed == "manager":
        config = {"callbacks": CallbackManager([page], inheritable_handlers=[page])}
    if passed == "with_config":
        chain, config = chain.with_config(callbacks=[page]), {}
    WAYS[way](chain, QUESTION, config)
    assert heard.text == []
    assert {"chain start", "chain end", "llm start", "llm end"} <= {*heard.events}
    assert heard.events.count("llm end") == 1


@pytest.mark.parametrize("name", ["class", "tracer", "event"])
def test_the_talkative_chain_does_talk(name: str) -> None:
    """Without a guard these handlers get the text: the test above is not empty."""
    heard = Heard()
    talkative(BAD).invoke(QUESTION, {"callbacks": [PAGES[name](heard)]})
    assert leaks(heard.text)


@pytest.mark.parametrize("name", PAGES)
def test_a_guard_inside_a_chain_holds_back_as_well(name: str) -> None:
    """A handler on the chain around gets nothing either."""
    heard = Heard()
    chain = RunnablePassthrough() | guarded(talkative(BAD), fallback=FALLBACK) | StrOutputParser()
    assert chain.invoke(QUESTION, {"callbacks": [PAGES[name](heard)]}) == FALLBACK
    assert heard.text == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
def test_usage_is_counted_once(way: str) -> None:
    """Counters see the model call of a guarded chain as they do without a guard."""

    def chain() -> Chain:
        message = AIMessage(TRUE, response_metadata={"model_name": "vesper-1"})
        message.usage_metadata = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
        return message_chain(Turns(turns=[message], done=[]))

    def counted(chain: Chain) -> list[int]:
        own = UsageMetadataCallbackHandler()
        page = TokenPage(Heard())
        with get_usage_metadata_callback() as around:
            WAYS[way](chain, QUESTION, {"callbacks": [own, page]})
        assert page.heard.events.count("llm end") == 1
        return [u.usage_metadata["vesper-1"]["total_tokens"] for u in (own, around)]

    assert counted(guarded(chain())) == counted(chain()) == [12, 12]
