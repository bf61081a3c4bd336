"""One step of an agent whose answer comes out claim by claim.

In: how to take the step, and what it writes to the run's stream. Out: the pieces of its answer
on that stream once they hold, and what became of it. Whether a step has an answer is known for
certain at its end: what a model writes before it calls a tool looks the same. So a sentence that
does not hold ends a step only then, and not where a tool is called.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NamedTuple, cast

from llama_index.core.agent.workflow.workflow_events import AgentStream

from faithguard import CaptureError, Record, UnfaithfulAnswerError
from faithguard.guard import Settings, withheld
from faithguard.streaming import Again, StreamCourse, areleased
from faithguard.watch import Outbox
from faithguard_llama_index._turn import Held, Turn

__all__ = ["Form", "StreamedStep", "thought_holds"]

_NOBODY = Outbox([])
"""Who is told of a step before it is known whether it has an answer."""


class Form(NamedTuple):
    """How an agent puts its answer into what its model writes."""

    answer: Callable[[str], str | None]
    """From all that was streamed to the answer so far; None if it cannot be told yet."""
    certain: bool = False
    """Whether a step has an answer where that is not None."""
    lead: str = ""
    """What may stand before an answer in the place of what its model wrote there."""
    stated: Callable[[str], str] = str
    """From what a model wrote before its answer to what it says by it."""


class _CallsTools(Exception):
    """The step has no answer."""


class StreamedStep:
    """One step of an agent.

    Args:
        settings: Of the guard.
        turn: Which the step is part of.
        ctx: Of the run.
        name: Of the agent.
        form: Of its answers.
        ask: Takes the step, with what was written before and what is said of that.
        read: Returns the answer in an output; None if there is none.
        tell: Takes the record of the answer, and who is to be told.
    """

    def __init__(
        self,
        settings: Settings,
        turn: Turn,
        ctx: Any,
        name: str,
        form: Form,
        ask: Callable[[Held, Sequence[tuple[str, str]]], Awaitable[Any]],
        read: Callable[[Any], str | None],
        tell: Callable[[Record, Outbox], None],
    ) -> None:
        self._settings = settings
        self._tell = tell
        self._turn = turn
        self._ctx = ctx
        self._name = name
        self._form = form
        self._ask = ask
        self._read = read
        self._turns: list[tuple[str, str]] = []
        left = settings.max_attempts - turn.asked_again
        self._course = StreamCourse(
            replace(settings, outbox=_NOBODY, max_attempts=max(left, 1)), turn.exchange
        )
        self._task: asyncio.Task[Any] | None = None
        self._certain = False
        """Whether it has an answer."""
        self.held = Held(ctx, again=False)
        """What the last attempt writes."""
        self.output: Any = None
        """Of the last attempt; None if it was not to be taken to its end."""
        self.seen = ""
        """What was shown of the answer, the fallback included."""
        self._before = ""
        """What the model wrote before its answer."""
        self._lead = ""
        """What was shown of that, or in its place."""

    @property
    def instead(self) -> str | None:
        """What stands in the place of what the model wrote; None if that stays; at the end."""
        stays = self._as_written and self._lead == self._before
        return None if stays else self.seen.strip()

    @property
    def _as_written(self) -> bool:
        return not self._course.blocked and not self._course.record.repairs

    async def settle(self) -> Record | None:
        """Take the step; return the record of its answer, None if it has none."""
        try:
            last = await self._released()
            if self._course.blocked and not self._certain:
                await self._ended()
        except _CallsTools:
            self._show_call()
            return None
        except BaseException as error:
            if (left := self._course.left(error)) is not None:
                self._settings.outbox.tell(left)
            raise
        finally:
            if self.output is None:
                await self._cut()
        record = self._course.record
        self._turn.asked_again = 0
        self._tell(record, self._settings.outbox)
        if last is not None:
            if not self.seen:
                self._lead = self._form.lead
            self._show(last)
        self._show_end()
        return record

    def raise_if_blocked(self) -> None:
        """Raise where a blocked caller gets nothing else.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        self._course.raise_if_blocked()

    async def _released(self) -> str | None:
        """Show what is released of an answer; return what is to be shown instead of the rest."""
        try:
            async with aclosing(areleased(self._course, self._pieces)) as texts:
                async for text in texts:
                    if self._course.blocked:
                        return text
                    if not self.seen:
                        self._lead = await self._shown_before()
                    self._show(text)
        except UnfaithfulAnswerError:
            if not self._course.blocked:
                raise
        return None

    # -- what is written ------------------------------------------------------------------------

    async def _pieces(self, again: Again | None) -> AsyncGenerator[str, None]:
        """Yield the answer as it is written."""
        if again is not None:
            said = await (self._cut() if self._certain else self._ended())
            self._turns.append((said, self._turn.again(again.feedback, again.passages)))
        while True:
            written = sent = ""
            events = self._begin()
            while (event := await events.get()) is not None and not event.tool_calls:
                written += event.delta
                if answer := self._form.answer(written):
                    self._certain = self._form.certain
                    self._before = self._before or written.removesuffix(answer)
                    yield answer[len(sent) :]
                    sent = answer
            said = await self._ended()
            if unread := getattr(self.output, "retry_messages", None):
                # the host would show it, and send the question twice
                self._turns.append((said, self._turn.unread(unread[-1].content or "")))
                continue
            answer = self._read(self.output) or ""
            if not sent:
                self._before = written.rstrip().removesuffix(answer.rstrip())
            yield _rest(answer, sent)
            return

    def _begin(self) -> asyncio.Queue[AgentStream | None]:
        """Begin an attempt; return what it writes to the stream, and None at the end."""
        events: asyncio.Queue[AgentStream | None] = asyncio.Queue()
        self.output, self._certain, self._before = None, False, ""
        self.held = Held(self._ctx, again=bool(self._turns), heard=events.put_nowait)
        self._task = asyncio.ensure_future(self._ask(self.held, self._turns))
        self._task.add_done_callback(lambda _: events.put_nowait(None))
        return events

    async def _ended(self) -> str:
        """Wait for the end of an attempt; return what was written in it.

        Raises:
            _CallsTools: If it has no answer.
        """
        fault = None
        try:
            self.output = await asyncio.shield(cast("asyncio.Task[Any]", self._task))
        except BaseException as error:
            self._turn.trace.wrote(self.held.streamed)
            if (fault := withheld(error, self._turn.trace)) is None:
                raise
        if fault is not None:  # raised here, where nothing of the error hangs on to it
            raise fault
        said = self._turn.wrote(self.output)
        if getattr(self.output, "tool_calls", None):
            raise _CallsTools
        return said

    async def _cut(self) -> str:
        """Leave nothing running; return what was written."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.exception()  # nobody waits for it any more
        self._turn.trace.wrote(self.held.streamed)
        return self.held.streamed

    # -- what is shown --------------------------------------------------------------------------

    async def _shown_before(self) -> str:
        """Return what is shown before an answer: what its model wrote there, if that holds."""
        holds = await thought_holds(self._settings, self._turn, self._form.stated(self._before))
        return self._before if holds else self._form.lead

    def _show(self, text: str) -> None:
        delta = text if self.seen else self._lead + text
        self.seen += text
        self._ctx.write_event_to_stream(self._event(delta))

    def _event(self, delta: str, **fields: Any) -> AgentStream:
        shown = self._lead + self.seen
        return AgentStream(delta=delta, response=shown, current_agent_name=self._name, **fields)

    def _show_end(self) -> None:
        """Leave of what was held what the model told beside an answer that is as it wrote it."""
        events = self.held.streams
        self.held.streams = []
        thought = "".join(event.thinking_delta or "" for event in events)
        told = events and (thought or events[-1].raw is not None)
        if self.instead is None and told:
            end = self._event("", raw=events[-1].raw, thinking_delta=thought or None)
            self.held.streams = [end]

    def _show_call(self) -> None:
        """Leave of what was held what was not shown yet: beside a call of a tool it is no answer.

        Nothing more is shown of a text of which a part was left out.
        """
        shown, written = self._course.text, "".join(e.delta for e in self.held.streams)
        left = len(shown if written.startswith(shown) else written)
        rest: list[AgentStream] = []
        for event in self.held.streams:
            delta, left = event.delta[left:], max(left - len(event.delta), 0)
            if delta or event.tool_calls or event.thinking_delta:
                rest.append(event.model_copy(update={"delta": delta}))
        self.held.streams = rest


async def thought_holds(settings: Settings, turn: Turn, stated: str) -> bool:
    """Say whether what a model wrote before its answer may be shown."""
    if not stated.strip():
        return True
    report = await settings.scorer.ascore(turn.exchange(stated))
    return report.outcome in ("scored", "abstained", "no_claims") and not report.unsupported


def _rest(answer: str, sent: str) -> str:
    """Return what is left of an answer.

    Raises:
        CaptureError: If another text was streamed.
    """
    if answer.startswith(sent):
        return answer[len(sent) :]
    if "".join(answer.split()) != "".join(sent.split()):  # whose ends and blocks may be cut off
        raise CaptureError(
            "what the agent streamed is not the answer that it returned: use stream='answer', "
            "which verifies what it returns"
        )
    return ""
