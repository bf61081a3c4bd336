"""One run of a guarded agent of LlamaIndex, without calls of its own.

In: what tools returned, and what the agent's models wrote. Out: what to verify, and the record
of how an answer was decided on. `Held` stands in for the context of a run: what a step of the
agent writes to the stream and the store waits there until its answer is verified.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from llama_index.core.agent.workflow.workflow_events import AgentInput, AgentStream
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from workflows.errors import WorkflowCancelledByUser

from faithguard import CaptureError, Exchange, Passage, Record
from faithguard.capture import Message, Trace, handed_in, new_id, time_now
from faithguard.guard import Course, Settings, with_passages
from faithguard.policy import BROKE_OFF, LEFT
from faithguard.watch import Outbox
from faithguard_llama_index._tap import Scope
from faithguard_llama_index._values import (
    finish_reason_of,
    given_in,
    passages_of,
    snapshots,
    strings_in,
)

__all__ = ["Handle", "Held", "Records", "ToolRun", "Turn"]

_MOST_FOUND = 100
"""Results of tools that are kept for later runs of a memory."""
_MOST_UNREAD = 10
"""Answers in one step of an agent that cannot be read as thought, action or answer."""


class Found(NamedTuple):
    """What a tool brought in a run."""

    run: str
    said: str
    """Its result, as a model is shown it."""
    asked: tuple[str, ...]
    passages: tuple[Passage, ...]


_FOUND: dict[int, deque[Found]] = {}


def found_with(memory: object) -> deque[Found]:
    """Return what tools brought in the runs of a memory, the last of it, as long as it lives.

    A memory holds what a tool said, and not whether a model wrote it.
    """
    key = id(memory)
    if key not in _FOUND:
        _FOUND[key] = deque(maxlen=_MOST_FOUND)
        weakref.finalize(memory, _FOUND.pop, key, None)
    return _FOUND[key]


class Turn:
    """What is known of one run: its evidence and the attempts at its answer.

    Args:
        question: The user's.
    """

    def __init__(self, question: str) -> None:
        self.trace = Trace(inputs=question, started_at=time_now())
        self.run = new_id()
        self.note: dict[str, Any] | None = None
        """Of the last decision."""
        self.asked_again = 0
        """How often the model was asked again for an answer."""
        self._course: Course | None = None
        self._recalled: list[Found] = []
        self._unread = 0

    def wrote(self, output: Any) -> str:
        """Take what the agent's model wrote, and return it; beside calls of tools it is no answer.

        A reasoning agent's text repeats what it hands to the tool, often the user's own words.
        """
        said = getattr(output, "response", None) or output.message
        calls = getattr(output, "tool_calls", None) or ()
        if not calls:
            self.trace.wrote(said.content or "", finish_reason_of(output))
        self.trace.passed(text for call in calls for text in strings_in(call.tool_kwargs))
        for call in calls:
            self.trace.gave(handed_in(call.tool_name, call.tool_kwargs), said=said.content or "")
        return said.content or ""

    def recall(self, messages: Sequence[ChatMessage], memory: object) -> None:
        """Take what tools brought in earlier runs as far as messages show it to a model again."""
        for message in messages:
            self.trace.gave(given_in(message))
        shown = {m.content for m in messages if m.role == MessageRole.TOOL}
        for one in found_with(memory) if shown else ():
            if one.run != self.run and one.said in shown and one not in self._recalled:
                self._recalled.append(one)
                self.took(one)

    def took(self, found: Found) -> None:
        """Take what a tool brought, less what it gives back of what it was asked."""
        run = new_id()
        self.trace.asked(run, found.asked)
        self.trace.passed(found.asked)
        self.trace.gave(found.asked)
        self.trace.retrieved(run, found.passages)

    def exchange(self, text: str) -> Exchange:
        """Return what to verify of an answer."""
        return self.trace.exchange(text)

    def course(self, settings: Settings) -> Course:
        """Return the course of the answer; attempts are counted over the whole run."""
        if self._course is None:
            self._course = settings.course()
        return self._course

    def again(self, feedback: str, passages: tuple[Passage, ...]) -> str:
        """Return what to tell the model that is asked again.

        Args:
            feedback: What failed.
            passages: What was found since for the claims that failed.
        """
        self.asked_again += 1
        self.trace.added(feedback)
        self.trace.found_since(passages)
        return with_passages(feedback, passages)

    def unread(self, told: str) -> str:
        """Return what the host tells a model whose answer it cannot read.

        Raises:
            CaptureError: If that happens over and over.
        """
        self._unread += 1
        if self._unread > _MOST_UNREAD:
            raise CaptureError(
                f"the agent could not read what its model wrote, {_MOST_UNREAD} times"
            )
        self.trace.added(told)
        return told

    def close(self, course: Course) -> Record:
        """Return the record of the attempts; a further answer in this run is another one."""
        self._course, self.asked_again = None, 0
        return course.record()


class Records:
    """The records of one run, told once its memory has the answers that they are of.

    Args:
        at_once: Whether nobody says so.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        self._at_once = at_once
        self._told = ""
        """What is to be said of an answer that the memory does not get."""
        self._waiting: list[tuple[Record, Outbox]] = []

    def take(self, record: Record, outbox: Outbox) -> None:
        """Take the record of an answer, and who is to be told."""
        self._waiting.append((record, outbox))
        if self._at_once:
            self.stored()

    def stored(self) -> None:
        """Tell what waits."""
        waiting, self._waiting = self._waiting, []
        for record, outbox in waiting:
            reason = record.decision.reason + self._told
            outbox.tell(replace(record, decision=replace(record.decision, reason=reason)))

    def over(self, run: Any) -> None:
        """Take that the run is over: what waits did not reach the memory.

        Args:
            run: A task or future that is done.
        """
        error = None if run.cancelled() else run.exception()
        if run.cancelled() or isinstance(error, WorkflowCancelledByUser):
            self._told = LEFT
        elif error is not None:
            self._told = BROKE_OFF
        self._at_once = True
        self.stored()


class Handle(str):
    """The name of a turn, as the store of a run holds it; the turn itself stays in the process.

    A plain string to whoever stores or prints the state.
    """

    turn: Turn

    @classmethod
    def of(cls, turn: Turn) -> Handle:
        """Return a new handle of a turn."""
        handle = cls(turn.run)
        handle.turn = turn
        return handle

    def __deepcopy__(self, memo: object) -> Handle:
        # the store copies what it holds when a tool edits the state
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Be a string without a turn wherever it is taken."""
        return str, (str(self),)


class ToolRun:
    """One call of a tool: what of its result is evidence, and what a model wrote.

    Attributes:
        scope: To be open while the tool runs.
    """

    def __init__(self, turn: Turn, tool: Any, given: Mapping[str, Any]) -> None:
        self.scope = Scope(Trace())
        self._turn = turn
        self._name = str(tool.metadata.name)
        self._asked = list(handed_in(self._name, given))

    def note(self, result: Any, memory: object) -> None:
        """Take the result: of a tool in which a model wrote, only what was retrieved for it.

        Args:
            result: Of the tool.
            memory: What later runs show it from, if they do.
        """
        self.scope.closed = True
        # an error often quotes what was asked, and never says what is so
        passages = () if result.is_error else tuple(self._passages(result))
        found = Found(self._turn.run, result.content or "", tuple(self._asked), passages)
        self._turn.took(found)
        found_with(memory).append(found)

    def texts(self, result: Any) -> list[str]:
        """Return what a model wrote of a result that is the answer of the run."""
        text = result.content or ""
        if self.scope.trace.told or _nodes_of(result):
            return [text] if text.strip() else []
        # no evidence of itself: what the agent's model handed over and the tool gives back
        return self._turn.trace.writing().parts(text)

    def _passages(self, result: Any) -> list[Passage]:
        trace, text = self.scope.trace, result.content or ""
        nodes = _nodes_of(result)
        if not trace.told and not nodes:
            return [Passage(text=text, source=self._name, origin="tool")]
        if not trace.fetched:
            # fetched without a retriever's events, but handed out
            trace.handed_out(passages_of(snapshots(nodes)))
        if trace.told:
            # what the tool says is what the agent's model sees
            trace.prompted([Message("tool", text)])
        return [p for p in trace.exchange(text).passages if p.seen and p.origin != "prompt"]


def _nodes_of(result: Any) -> Sequence[Any]:
    """Return the nodes that a query engine answered from."""
    return getattr(result.raw_output, "source_nodes", None) or ()


class Held:
    """The context of a run as a step of its agent sees it: what it writes waits for `release`.

    Args:
        ctx: The run's own.
        again: Whether this is not the first attempt of the step.
        heard: Told of what the model streams.
    """

    def __init__(
        self, ctx: Any, *, again: bool, heard: Callable[[AgentStream], object] | None = None
    ) -> None:
        self._ctx = ctx
        self._again = again
        self._heard = heard
        self.store = _Store(ctx.store)
        self.events: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def write_event_to_stream(self, event: Any) -> None:
        """Hold an event; what a model is asked with is shown at once, and once."""
        if not isinstance(event, AgentInput):
            self.events.append(event)
        elif not self._again:
            self._ctx.write_event_to_stream(event)
        if isinstance(event, AgentStream) and self._heard is not None:
            self._heard(event)

    @property
    def streams(self) -> list[AgentStream]:
        """What the model has streamed so far; can be set."""
        return [event for event in self.events if isinstance(event, AgentStream)]

    @streams.setter
    def streams(self, events: Sequence[AgentStream]) -> None:
        others = [event for event in self.events if not isinstance(event, AgentStream)]
        self.events = [*others, *events]

    @property
    def streamed(self) -> str:
        """The text that the model has streamed so far."""
        return self.streams[-1].response if self.streams else ""

    def instead(self, text: str, agent: str) -> None:
        """Let a text be all that was streamed, if anything was."""
        if self.streams:
            self.events = [AgentStream(delta=text, response=text, current_agent_name=agent)]

    async def release(self) -> None:
        """Write what was held."""
        for path, value in self.store.changed.items():
            await self._ctx.store.set(path, value)
        for event in self.events:
            self._ctx.write_event_to_stream(event)


class _Store:
    """A store that keeps what is set apart from the real one."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.changed: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, path: str, *default: Any, **named: Any) -> Any:
        """Return what was set here, else what the real store holds; of a list a copy."""
        if path in self.changed:
            return self.changed[path]
        value: Any = await self._store.get(path, *default, **named)
        return list(cast("list[Any]", value)) if isinstance(value, list) else value

    async def set(self, path: str, value: Any) -> None:
        """Keep a value here."""
        self.changed[path] = value
