"""A verified node of a LangGraph graph of the user's own.

In: a node, as `add_node` takes it. Out: a node of the same kind. What it writes reaches the
state, and with it the checkpointer and every stream, only once it is verified.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.utils import is_async_callable

from faithguard import (
    CaptureError,
    ConfigError,
    Exchange,
    Judge,
    Passage,
    Policy,
    Record,
    Report,
    Scorer,
)
from faithguard.capture import passages_of
from faithguard.guard import MoreContext, OnFail, Settings
from faithguard.sampling import takes
from faithguard.sinks import AnySink
from faithguard_langchain._call import Call, Keys, is_marked, marked, run_of
from faithguard_langchain._guard import Guarded
from faithguard_langchain._isolation import nowhere, silenced
from faithguard_langchain._turn import Notes, answer_texts
from faithguard_langchain._values import (
    CONTEXT_KEYS,
    answer_of,
    context_of,
    fields_of,
    plain_input,
    texts_in,
)

__all__ = ["verify_node"]


def verify_node(
    node: Callable[..., Any] | Runnable[Any, Any],
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | Runnable[Any, Any] | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    answer_key: str | None = None,
    context_key: str | None = None,
    question_key: str | None = None,
    feedback_key: str | None = None,
) -> Any:
    """Return a node of a LangGraph graph whose update is verified before it reaches the state.

        builder.add_node("answer", verify_node(answer, domain="support", fallback="Please call."))

    Evidence is what retrievers and tools bring inside the node, the documents in the state, and
    what tools brought in this turn. A message that only asks for tools goes on as it is.

    Args:
        node: A function from the state to an update, or a coroutine function, or a Runnable.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: As in `guard`.
        fallback: What a blocked graph gets: a text in the place of the answer, or a Runnable
            that is called with the state and returns the update, which is not verified.
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: As in `guard`.
        on_report: Called with the report of each call's last attempt.
        sinks: Where records go; one log line for each call by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of runs that are checked, from 0 to 1, chosen by a hash of the run's id;
            the others pass as they are. Only with "flag"; all of them by default.
        answer_key: The key of the update that holds the answer, if it is not a usual one.
        context_key: The key of the state that holds the documents, if it is not a usual one
            ("context", "source_documents", "documents", "docs").
        question_key: The key of the state that holds the question, if it is not a usual one.
        feedback_key: The key under which the node finds the feedback in its state, for a model
            that the guard cannot ask again by itself.

    Returns:
        What `add_node` takes: a function for a function, a Runnable for a Runnable.

    Raises:
        ConfigError: If a setting cannot be used, or the node is one that cannot be verified.
    """
    runs = isinstance(node, Runnable)
    chain = cast(Any, node) if runs else RunnableLambda(_checked(node))
    settings = Settings.of(
        domain=domain,
        on_fail=on_fail,
        fallback=fallback,
        max_attempts=max_attempts,
        more_context=more_context,
        on_report=on_report,
        sinks=sinks,
        scorer=scorer,
        judge=judge,
        sample=sample,
        fallbacks={"a Runnable": Runnable},
    )
    safe = Guarded[Any, Any](
        chain,
        settings if runs else dataclasses.replace(settings, share=1.0),
        Keys(answer_key, context_key, question_key, feedback_key),
        _NodeCall,
    )
    return safe if isinstance(node, Runnable) else _as_function(node, safe, settings.share)


def _checked(node: object) -> Any:
    if not callable(node) or isinstance(node, type):
        raise ConfigError(
            f"`node` is of type {type(node).__name__}: pass a function from the state to an "
            "update, or a Runnable"
        )
    if inspect.isgeneratorfunction(node) or inspect.isasyncgenfunction(node):
        raise ConfigError("`node` is a generator: return the update as a whole")
    return node


def _as_function(
    node: Callable[..., Any], safe: Guarded[Any, Any], share: float
) -> Callable[..., Any]:
    """Return a function with the signature of the node's: LangGraph passes what that asks for."""

    def given(kwargs: dict[str, Any]) -> dict[str, Any]:
        # what is written to LangGraph's custom stream is not verified
        held = {"writer": nowhere, "runtime": silenced(kwargs.get("runtime"))}
        return {name: held.get(name, value) for name, value in kwargs.items()}

    @functools.wraps(node)
    def verified(state: Any, **kwargs: Any) -> Any:
        config = kwargs.pop("config", None)
        if not takes(share, run_of(config)):
            return safe.chain.invoke(state, config, **kwargs)
        return safe.invoke(state, config, **given(kwargs))

    @functools.wraps(node)
    async def averified(state: Any, **kwargs: Any) -> Any:
        config = kwargs.pop("config", None)
        if not takes(share, run_of(config)):
            return await safe.chain.ainvoke(state, config, **kwargs)
        return await safe.ainvoke(state, config, **given(kwargs))

    return averified if is_async_callable(node) else verified


class _NodeCall(Call):
    """One call of a node: evidence stands in the state, too, and the output is an update."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._state = self._known = fields_of(self._given) or {}
        Notes(self._trace).take(self._state.get("messages"))
        self._trace.retrieved("", self._documents(self._state))

    def _documents(self, held: Mapping[Any, Any]) -> tuple[Passage, ...]:
        key = self._keys.context
        values = (held.get(name) for name in (CONTEXT_KEYS if key is None else (key,)))
        return tuple(p for value in values if value for p in passages_of(value))

    def exchange(self, output: Any) -> Exchange | None:
        """Return what to verify of an update; None if it holds no answer and needs none."""
        update = _update(output)
        if not update or self._only_asks(update):
            return None
        key = self._keys.context
        if key is not None and key not in self._state and key not in update:
            raise CaptureError(
                f"`context_key` is {key!r}, which neither the state nor the update has"
            )
        if not self._trace.fetched or (key is not None and key in update):
            self._trace.retrieved("", context_of(update, key))
        self._check_sends(output)
        return self._exchange(update)

    def _only_asks(self, update: Mapping[str, Any]) -> bool:
        """Whether an update is a model's wish to call tools, and says nothing beside it."""
        new = _messages(update)
        rest = {name: value for name, value in update.items() if name != "messages"}
        return (
            any(isinstance(m, AIMessage) for m in new)
            and answer_texts(new) is None
            and answer_of(rest, self._keys.answer) is None
            and not self._trace.quoted_in(" ".join(texts_in(plain_input(rest))))
        )

    def _check_sends(self, output: Any) -> None:
        """Raise if a command hands another node something that nothing verifies."""
        goto = getattr(output, "goto", ())
        for target in cast("Sequence[Any]", goto if isinstance(goto, list | tuple) else [goto]):
            told = " ".join(texts_in(plain_input(getattr(target, "arg", None))))
            if self._trace.quoted_in(told):
                raise CaptureError(
                    "the node sends another one a text that a model wrote and nothing has "
                    "verified: write it into the state, and send from the next node"
                )

    def _replaced(self, output: Any, text: str) -> Any:
        return _with_update(output, super()._replaced(_update(output), text))

    def _marked(self, output: Any, record: Record) -> Any:
        update = _update(output)
        messages = update.get("messages")
        if isinstance(messages, list):
            given = cast("list[Any]", self._state.get("messages") or [])
            new = [
                m if is_marked(m) or any(m is old for old in given) else marked(m, record)
                for m in cast("list[Any]", messages)
            ]
        else:
            new = messages if is_marked(messages) else marked(messages, record)
        return output if new is None else _with_update(output, {**update, "messages": new})


def _messages(update: Mapping[str, Any]) -> list[BaseMessage]:
    value = update.get("messages")
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    return [m for m in items if isinstance(m, BaseMessage)]


def _update(output: Any) -> Any:
    """Return what an output writes into the state."""
    if type(output).__name__ == "Command":
        output = output.update
    if output is None or isinstance(output, Mapping):
        return cast("Mapping[str, Any]", output or {})
    if (fields := fields_of(output)) is not None and not isinstance(output, BaseMessage):
        return {name: value for name, value in fields.items() if value is not None}
    raise CaptureError(
        f"a node that returns a {type(output).__name__} cannot be verified: return a dict, or a "
        "Command whose update is one"
    )


def _with_update(output: Any, update: Mapping[str, Any]) -> Any:
    if type(output).__name__ == "Command":
        return dataclasses.replace(output, update=update)
    return update
