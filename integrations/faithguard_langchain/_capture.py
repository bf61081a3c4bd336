"""LangChain's callback events -> the events of `faithguard.capture`.

In: `on_*` calls, from any thread, in any run mode. Out: calls on a `Trace`. Nothing raises into
the chain, and nothing is changed. A plain handler, neither async (whose work is lost under a
sync call) nor inline (which takes `on_llm_start` from the other handlers under an async one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from faithguard import Passage
from faithguard.capture import Assembler, Message, RunKind, Trace, handed_in
from faithguard.watch import never_raise
from faithguard_langchain._alone import is_unheard
from faithguard_langchain._values import (
    answers_in,
    arguments_in,
    documents_of,
    finish_reason_of,
    given_in,
    is_error,
    plain_input,
    prompt_in,
    text_of,
)

__all__ = ["Capture", "tool_passages"]


class Capture(BaseCallbackHandler):
    """Tell an assembler what happens; a subclass says what the end of a root means."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__()
        self._assembler = assembler

    # A judge's calls are none of the chain's: LangChain asks for these before it tells a handler.

    @property
    def ignore_chain(self) -> bool:
        """Whether chains are none of ours now."""
        return is_unheard()

    @property
    def ignore_llm(self) -> bool:
        """Whether models are none of ours now."""
        return is_unheard()

    @property
    def ignore_chat_model(self) -> bool:
        """Whether chat models are none of ours now."""
        return is_unheard()

    @property
    def ignore_retriever(self) -> bool:
        """Whether retrievers are none of ours now."""
        return is_unheard()

    @property
    def ignore_agent(self) -> bool:
        """Whether tools are none of ours now."""
        return is_unheard()

    # What follows is said once for every kind of run.

    def _start(self, run: UUID, parent: UUID | None, kind: RunKind, inputs: Any, kw: Any) -> Trace:
        trace = self._assembler.start(str(run), str(parent) if parent else None, kind)
        if trace.inputs is None and self._assembler.is_root(str(run)):
            trace.inputs = plain_input(inputs)
            trace.tags = tuple(kw.get("tags") or ())
            metadata: Mapping[str, Any] = kw.get("metadata") or {}
            domain = metadata.get("faithguard_domain")
            trace.domain = str(domain) if domain else None
        return trace

    def _end(self, run: UUID, outputs: Any) -> None:
        if (trace := self._assembler.end(str(run))) is not None:
            self._ended(trace, outputs)

    def _ended(self, trace: Trace, outputs: Any) -> None:
        """Take the trace of a root that ended well."""

    # -- runs ---------------------------------------------------------------------------------

    @never_raise
    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a chain."""
        # a stream starts with an empty input; the real one comes at its end
        given = cast("dict[str, Any]", inputs) if isinstance(inputs, dict) else {}
        empty = len(given) == 1 and isinstance(given.get("input"), str) and not given["input"]
        self._start(run_id, parent_run_id, "chain", None if empty else inputs, kwargs)

    @never_raise
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Take the end of a chain, and of the tree if it is the root."""
        if self._assembler.is_root(str(run_id)):
            trace = self._assembler.trace(str(run_id))
            if trace is not None and trace.inputs is None and "inputs" in kwargs:
                trace.inputs = plain_input(kwargs["inputs"])
            self._end(run_id, outputs)

    @never_raise
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a tree whose root failed or was cancelled."""
        self._assembler.end(str(run_id))

    @never_raise
    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a retrieval and its query."""
        trace = self._start(run_id, parent_run_id, "retriever", None, kwargs)
        trace.query = trace.query or str(query)

    @never_raise
    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Take what was retrieved."""
        if (trace := self._assembler.trace(str(run_id))) is not None:
            # text and metadata as they are now; passages are made off the chain's path
            now = [(d.page_content, d.metadata) for d in documents]
            trace.retrieved(
                str(run_id),
                (
                    passage
                    for text, metadata in now
                    for passage in documents_of(
                        Document(page_content=text, metadata=metadata), origin="retriever"
                    )
                ),
            )
        self._assembler.end(str(run_id))

    @never_raise
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a tree that was only this."""
        self._assembler.end(str(run_id))

    @never_raise
    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a tool call."""
        trace = self._start(run_id, parent_run_id, "tool", None, kwargs)
        trace.asked(str(run_id), list(handed_in(None, kwargs.get("inputs") or input_str)))

    @never_raise
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Take what a tool returned: its text, and the documents that it attached."""
        if (trace := self._assembler.trace(str(run_id))) is not None:
            trace.retrieved(str(run_id), tool_passages(output, str(kwargs.get("name") or "tool")))
        self._assembler.end(str(run_id))

    @never_raise
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a tree that was only this."""
        self._assembler.end(str(run_id))

    @never_raise
    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Take the exact messages that a model gets."""
        sent = [message for batch in messages for message in batch]
        trace = self._start(run_id, parent_run_id, "model", sent, kwargs)
        for message, given in prompt_in(sent):
            trace.prompted([message])
            trace.gave(given, said=message.text if given else "")

    @never_raise
    def on_llm_start(
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Take the exact text that a completion model gets."""
        trace = self._start(run_id, parent_run_id, "model", list(prompts), kwargs)
        trace.prompted(Message("user", prompt) for prompt in prompts)

    @never_raise
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Take what a model wrote."""
        if (trace := self._assembler.trace(str(run_id))) is not None:
            trace.wrote(*finish_reason_of(response))
            trace.passed(arguments_in(response))
            for message in answers_in(response):
                if given := given_in(message):
                    trace.gave(given, said=text_of(message))
        self._end(run_id, None)

    @never_raise
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a tree that was only this."""
        self._assembler.end(str(run_id))


def tool_passages(output: Any, name: str) -> list[Passage]:
    """Return what a tool brought: the documents that it attached, and its text."""
    if type(output).__name__ == "Command":  # how a LangGraph tool hands over messages
        update: Any = output.update
        handed: Any = cast(Any, update).get("messages") if isinstance(update, Mapping) else None
        messages = cast("list[Any]", handed if isinstance(handed, list) else [handed])
        return [
            passage
            for message in messages
            if isinstance(message, ToolMessage)
            for passage in tool_passages(message, name)
        ]
    if isinstance(output, ToolMessage) and is_error(output):
        return []  # it often quotes what was asked, and never says what is so
    artifact = output.artifact if isinstance(output, ToolMessage) else None
    text = text_of(output) if isinstance(output, str | BaseMessage) else _as_text(output)
    passages = list(documents_of(artifact, origin="tool"))
    if text.strip():
        passages.append(Passage(text=text, source=name, origin="tool"))
    return passages


def _as_text(output: Any) -> str:
    if isinstance(output, Mapping | list | tuple | int | float):
        return str(cast(object, output))
    return ""
