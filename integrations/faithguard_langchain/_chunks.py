"""A chain's chunks -> the text in them, and chunks for what of it is released.

In: what a guarded chain streams: strings, chunks of messages, or dicts with one of them as the
answer. Out: chunks of the same form, each a sentence, item or row; what came beside the answer,
once it cannot be a model's; at the end of a message its metadata, with what was decided. Anything
else, such as what a JSON parser has read so far, is held until it is the whole output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import AddableDict

from faithguard import CaptureError, Exchange, Record
from faithguard.guard import note_of
from faithguard.streaming import Again, StreamCourse
from faithguard_langchain._call import Call
from faithguard_langchain._outputs import spoken
from faithguard_langchain._values import ANSWER_KEYS, Whole, answer_of, text_of

__all__ = ["Chunks", "HeldError"]


class HeldError(Exception):
    """Nothing of a stream can be released claim by claim: its output is held, and there."""


class Chunks:
    """The chunks of one guarded stream.

    Args:
        call: The call.
        key: Where the answer stands in a dict, if not in a usual place.
    """

    def __init__(self, call: Call, key: str | None) -> None:
        self._call = call
        self._key = key
        self._begin()

    def _begin(self) -> None:
        self._place: str | None = None
        """Under which name the answer comes in dicts."""
        self._message = Whole[AIMessage]()
        self._beside: dict[str, Whole[Any]] = {}
        """What came beside the answer and is not delivered yet, by its name."""
        self._held = Whole[Any]()
        """What the stream adds up to, if that is no text."""
        self._spoke = False
        """Whether there was a text."""
        self._empty = True

    # -- what the chain streams ---------------------------------------------------------------

    def begin(self, course: StreamCourse, again: Again | None) -> None:
        """Begin an attempt."""
        if again is not None:
            self._begin()
            self._call.again_stream(*again, course.report)

    def take(self, chunk: Any) -> str:
        """Return the text of the answer in a chunk; what is no text is held.

        Raises:
            CaptureError: If a chunk is not of a kind that can be released claim by claim, and
                others were.
        """
        if self.is_held:
            self._held.add(chunk)
            return ""
        if not isinstance(chunk, AddableDict):
            return self._text(chunk, chunk)
        fields = dict(chunk)
        names = ANSWER_KEYS if self._key is None else (self._key,)
        if self._place is None:
            self._place = next((n for n in names if _is_answer(fields.get(n))), None)
        empty = self._place is None and all(fields.get(name) is None for name in names)
        answer = "" if empty else fields.pop(self._place, "") if self._place is not None else None
        if answer is not None and fields:
            self._call.hands_out(fields)
            for name, value in fields.items():
                self._beside.setdefault(name, Whole[Any]()).add(value)
        return self._text(answer, chunk)

    def _text(self, answer: Any, chunk: Any) -> str:
        if isinstance(answer, str):
            self._spoke = self._spoke or bool(answer)
            return str(answer)
        if isinstance(answer, AIMessage):
            self._message.add(answer)
            return text_of(answer)
        if self._speaks:
            raise CaptureError(
                f"the chain streams an object of type {type(chunk).__name__} after a text, of "
                "which no part can be released claim by claim: end it in a string, a message, or "
                "a dict with an answer, or leave stream='claims' out"
            )
        if self._beside:
            self._held.add(AddableDict(self._besides()))
        self._held.add(chunk)
        return ""

    @property
    def _speaks(self) -> bool:
        return self._spoke or not self._message.empty

    def _besides(self) -> dict[str, Any]:
        return {name: whole.value for name, whole in self._beside.items()}

    @property
    def output(self) -> Any:
        """The output of a stream of which nothing can be released claim by claim."""
        return self._held.value

    @property
    def is_held(self) -> bool:
        """Whether nothing of the stream can be released claim by claim."""
        return not self._held.empty

    def raise_if_held(self) -> None:
        """Raise at the end of a stream whose output is held.

        Raises:
            HeldError: So that it is verified as a whole.
        """
        if self.is_held:
            raise HeldError

    def check(self) -> None:
        """Check, once the chain has ended, that a model wrote nothing beside the answer.

        Raises:
            CaptureError: If it did: nothing has verified that.
        """
        if self._beside and self._place is None and not self._speaks:
            self._held.add(self._besides())  # no answer has come under its name
        if self.is_held:
            return
        written = self._call.view(self._besides()).written()
        if not self._message.empty:
            written += [text for text in list(spoken(self._message.value))[1:] if text.strip()]
        if written:
            raise CaptureError(
                "with stream='claims' only the answer is released, and a model of the chain wrote "
                "something beside it (another text, or a call of a tool): leave `stream` out, so "
                "that all of it is held and verified"
            )

    def exchange(self, text: str) -> Exchange:
        """Return the exchange that a part of the answer makes with what was seen so far."""
        return self._call.exchange_so_far(text)

    def fault(self, error: BaseException, course: StreamCourse) -> CaptureError | None:
        """Return what to raise instead of an error that carries what a model wrote."""
        return self._call.stream_fault(error, course.written)

    # -- what is released ---------------------------------------------------------------------

    def released(self, text: str, *, blocked: bool) -> Iterator[Any]:
        """Yield what to deliver when a text is released.

        Args:
            text: A part of the answer, or a blocked stream's fallback.
            blocked: Whether it is the latter.
        """
        if not blocked:
            for name in list(self._beside):
                if self._call.view(self._beside[name].value).stays(name):
                    yield {name: self._beside.pop(name).value}
        self._empty = False
        yield self._formed(text)

    def _formed(self, text: str) -> Any:
        """Return a text in the form in which the chain streams its answer."""
        value: Any = text
        if not self._message.empty:
            value = AIMessageChunk(content=text, id=self._message.value.id)
        return value if self._place is None else {self._place: value}

    def fallback(self, output: Any, before: str) -> Iterator[Any]:
        """Yield the output of a fallback that is a Runnable.

        Args:
            output: What it returned.
            before: What was released before it.
        """
        self._empty = False
        if before.strip():
            yield self._formed("\n\n" + (answer_of(output, self._key) or ""))
        elif isinstance(output, AIMessage):
            yield self._formed(text_of(output))
        else:
            yield output

    def end(self, record: Record) -> Iterator[Any]:
        """Yield what comes after the answer: what was held beside it, and a message's metadata."""
        if record.decision.passed:
            yield from ({name: whole.value} for name, whole in self._beside.items())
        if self._empty and self._message.empty:
            yield self._formed("")
        if self._message.empty:
            return
        whole = self._message.value
        as_written = record.decision.passed and not record.repairs
        # what a provider tells of an answer that was changed may quote it
        told = whole.response_metadata if as_written else {}
        last = AIMessageChunk(
            content="",
            id=whole.id,
            usage_metadata=whole.usage_metadata,
            response_metadata={**told, "faithguard": note_of(record)},
            chunk_position="last",
        )
        yield last if self._place is None else {self._place: last}


def _is_answer(value: Any) -> bool:
    return isinstance(value, str | AIMessage)
