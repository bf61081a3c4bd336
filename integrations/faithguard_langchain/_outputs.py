"""What of a chain's output a model wrote, and what is left of it when that is held back.

In: an output, and what was given and fetched in the call. Out: every text in it that must be
verified, the answer first; or an output of the same form in which another text stands in the
place of the answer and nothing else is left that a model may have written.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol, cast

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import BaseModel
from pydantic.errors import PydanticUserError

from faithguard import CaptureError, contents
from faithguard.contents import parts_of
from faithguard_langchain._scalars import (
    Scalar,
    as_said,
    is_id,
    is_meta,
    is_scalar,
    listed_in,
    numbers_in,
    stated,
)
from faithguard_langchain._values import (
    ANSWER_KEYS,
    answer_of,
    arguments_of,
    fields_of,
    text_of,
    texts_in,
)

__all__ = ["Output", "spoken"]


class _Writing(Protocol):
    """What models wrote in a call, and no retriever brought."""

    def parts(self, text: str) -> list[str]: ...
    def holds_short(self, text: str, *, words: int = 2) -> bool: ...
    def holds_word(self, name: str, word: str) -> bool: ...
    def holds_value(self, name: str, value: object) -> bool: ...
    def holds_number(self, value: float | str) -> bool: ...


_KEY_WORDS = 3
"""Words from which a name can state anything."""


class Output:
    """An output of a guarded chain.

    Args:
        value: What the chain returned.
        key: Where the answer stands in a dict or an object, if it is not a usual place.
        given: The chain's input; what it handed through is the caller's own.
        fetched: The texts that retrievers returned in this call.
        quotes: Says whether a text holds something that a model wrote in this call.
        writing: Returns what models wrote; None where no model was observed, and any text
            outside the context may be one's.
        listed: What a schema lists for a model to choose from: its author's words.
        context_keys: Where the context stands in a dict, if no model was observed.
    """

    def __init__(
        self,
        value: Any,
        *,
        key: str | None,
        given: Any,
        fetched: frozenset[str],
        quotes: Callable[[str], bool],
        writing: Callable[[], _Writing] | None,
        listed: Iterable[str] = (),
        context_keys: Container[object] = (),
    ) -> None:
        self.value = value
        self._key = key
        self._given = given
        self._own = frozenset(texts_in(given, messages=True))
        self._fetched = fetched
        self._quotes = quotes
        self._writing = writing
        self._chosen = {*listed, *_chosen_in(value)}
        self._context_keys = () if writing else context_keys
        self._unobserved = writing is None

    def texts(self) -> list[str] | None:
        """Return the texts to verify, the answer first; None if no answer is to be found."""
        answer = answer_of(self.value, self._key)
        if answer is None:
            return None
        found = [answer, *self._written(self.value)]
        return list(dict.fromkeys(text for text in found if text.strip())) or [answer]

    def stays(self, name: str) -> bool:
        """Say whether all of the value came in with the call, or is what a retriever returned.

        Args:
            name: Under which it stands in the chain's output.
        """
        return self._stays(self.value, name)

    def written(self) -> list[str]:
        """Return the texts of the value that may be a model's."""
        return [text for text in self._written(self.value) if text.strip()]

    def keeps_form(self) -> bool:
        """Say whether `with_answer` returns an output of the same form: an object has none."""
        return self._keeps_form(self.value, self._key)

    def _keeps_form(self, value: Any, key: str | None) -> bool:
        if isinstance(value, Mapping):
            mapping = cast(Mapping[str, Any], value)
            return self._keeps_form(mapping[_place(mapping, key)], None)
        return isinstance(value, str | BaseMessage | list)

    def with_answer(self, text: str) -> Any:
        """Return an output of the same form that holds `text` and nothing of a model's."""
        return self._replaced(self.value, text, self._key, self._given)

    # -- what was written ---------------------------------------------------------------------

    def _written(self, value: Any, name: str = "", depth: int = 8) -> Iterator[str]:
        """Yield the texts of a value that may be a model's."""
        if not depth or value is None:
            return
        value = as_said(value)
        if name and is_scalar(value):
            yield from self._stated(name, value)
        elif isinstance(value, str):
            yield from self._said(value, name)
        elif isinstance(value, BaseMessage):
            if not self._was_given(value):
                yield from spoken(value)
        elif isinstance(value, Document):
            if not self._unobserved:
                for text in (value.page_content, *contents.texts_in(value.metadata)):
                    yield from self._written(text, depth=depth - 1)
        elif isinstance(value, list | tuple | set | frozenset):
            yield from self._listed(list(cast("list[Any]", value)), name, depth)
        else:
            yield from self._held(value, name, depth)

    def _said(self, text: str, name: str) -> Iterator[str]:
        """Yield the parts of a text that may be a model's; a word only if it wrote it so."""
        if text in self._own or text in self._fetched or text in self._chosen:
            return
        if self._writing is None or not name or len(text.split()) != 1:
            yield from self._parts(text)
        # a source, or where something stands in it, states nothing
        elif not (is_meta(name, text) or is_id(name)) and (
            self._writing().holds_word(name, text.strip())
        ):
            yield text

    def _parts(self, text: str, *, words: int = 2) -> list[str]:
        """Return the parts of a text that a model wrote; a short one is, or is not, as a whole."""
        if self._writing is None:
            return [text] if text else []
        written = self._writing()
        return [text] if written.holds_short(text, words=words) else written.parts(text)

    def _stated(self, name: str, value: Scalar) -> Iterator[str]:
        """Yield what a number or a truth value says, if it is a model's."""
        if self._writing is None or is_meta(name, value) or not self._is_models(name, value):
            return
        brought = [*self._own, *self._fetched]
        if not is_id(name) or not any(str(value) in numbers_in(text) for text in brought):
            yield stated(name, value)

    def _is_models(self, name: str, value: Scalar) -> bool:
        """Whether a model wrote a number or a truth value: under its name, or beside the answer."""
        if self._writing is None:
            return True
        if (fields_of(self._given) or {}).get(name) == value:
            return False
        written = self._writing()
        return written.holds_value(name, value) or (
            not isinstance(value, bool)
            and written.holds_number(value)
            and not any(
                str(value) in numbers_in(text)
                for text in (answer_of(self.value, self._key) or "", *self._own)
            )
        )

    def _held(self, value: Any, own: str, depth: int) -> Iterator[str]:
        """Yield the texts of what a value holds, and names that are more than a name."""
        try:
            parts = parts_of(value)
        except CaptureError:  # it can be read only once, by whoever handed it in
            if self._was_given(value):
                return
            raise
        for name, item in parts:
            if name in self._context_keys:
                continue
            yield from self._written(item, own if name is None else str(name), depth - 1)
            if not isinstance(name, str):
                yield from self._written(name, depth=depth - 1)
            elif name in self._own:
                continue
            elif not self._unobserved:
                yield from self._parts(name, words=_KEY_WORDS)  # a model may choose it
            elif " " in name.strip():
                yield name

    def _listed(self, items: list[Any], name: str, depth: int) -> Iterator[str]:
        answered = {m.tool_call_id for m in items if isinstance(m, ToolMessage)}
        for place, item in enumerate(items):
            if isinstance(item, ToolMessage):
                # a tool's result is context, unless it is the last word and a model's
                if place == len(items) - 1 and text_of(item) not in self._fetched:
                    yield text_of(item)
            elif isinstance(item, AIMessage) and not self._was_given(item):
                yield from spoken(item, answered)
            else:
                yield from self._written(item, name, depth - 1)

    # -- what is left -------------------------------------------------------------------------

    def _replaced(self, value: Any, text: str, key: str | None, given: Any) -> Any:
        if isinstance(value, BaseMessage):
            # a message of its own: an id that a stream knows already would not be shown again
            return (AIMessageChunk if isinstance(value, AIMessageChunk) else AIMessage)(
                content=text
            )
        if isinstance(value, list):
            items = cast(list[Any], value)
            return [item for item in items if self._was_given(item)] + [AIMessage(content=text)]
        if isinstance(value, Mapping):
            mapping = cast(Mapping[str, Any], value)
            inputs = fields_of(given) or {}
            place = _place(mapping, key)
            kept = {
                name: item
                for name, item in mapping.items()
                if name != place
                and self._stays(item, str(name))
                and (self._unobserved or not self._parts(str(name), words=_KEY_WORDS))
            }
            # a graph's state often holds the answer twice; who streams messages must see it, too
            said = "messages" in mapping and answer_of(mapping["messages"]) is not None
            places = dict.fromkeys([place, "messages"] if said else [place])
            return kept | {
                name: self._replaced(mapping[name], text, None, inputs.get(name)) for name in places
            }
        return text

    def _stays(self, value: Any, name: str) -> bool:
        """Whether a value came in with the call, or is what a retriever returned."""
        if isinstance(value, Document):
            return self._was_fetched(value)
        if isinstance(value, list | tuple):
            return all(self._stays(item, name) for item in cast("list[Any]", value))
        if isinstance(value, str):
            return value in self._own
        if isinstance(value, bool | int | float):
            return not self._is_models(name, value)
        return value is None or self._was_given(value)

    def _was_given(self, value: Any) -> bool:
        if isinstance(value, HumanMessage | SystemMessage):
            return text_of(value) in self._own
        given = self._given
        if isinstance(given, Mapping):
            held = list(cast(Mapping[Any, Any], given).values())
        else:
            held = [given]
        flat = [i for h in held for i in (cast("list[Any]", h) if isinstance(h, list) else [h])]
        return any(value is item for item in [*held, *flat]) or (
            isinstance(value, BaseMessage) and any(_same(value, item) for item in flat)
        )

    def _was_fetched(self, document: Document) -> bool:
        return document.page_content in self._fetched and not self._quotes(
            " ".join(contents.texts_in(document.metadata))
        )


def _chosen_in(value: Any) -> Iterator[str]:
    """Yield the words among which the class of an object lets a model choose."""
    if isinstance(value, BaseModel):
        with suppress(PydanticUserError):  # not every class has a JSON schema
            yield from (word for word in listed_in(type(value)) if isinstance(word, str))


def _place(mapping: Mapping[str, Any], key: str | None) -> str:
    """Return the name under which the answer stands."""
    names = (key,) if key is not None else ANSWER_KEYS
    return next(name for name in names if answer_of(mapping.get(name)) is not None)


def _same(message: BaseMessage, other: Any) -> bool:
    """LangGraph gives messages ids; what else they hold stays."""
    return (
        isinstance(other, BaseMessage)
        and message.type == other.type
        and message.content == other.content
    )


def spoken(message: BaseMessage, answered: Container[object] = ()) -> Iterator[str]:
    """Yield a message's text, and whatever else in it says something that nothing has answered."""
    yield text_of(message)
    if isinstance(message, AIMessage):
        yield from arguments_of(message, answered)
        known = {call.get("id") for call in message.tool_calls}
        for block in message.content:
            fields = fields_of(block) or {} if not isinstance(block, str) else {}
            if fields.get("type") in ("tool_use", "tool_call") and fields.get("id") not in known:
                yield " ".join(texts_in(fields.get("input") or fields.get("args")))
        for name, part in _OTHER_PLACES.items():
            value: Any = message.additional_kwargs.get(name)
            yield " ".join(texts_in((fields_of(value) or {}).get(part, value)))


# Where providers put words beside the content of a message, and under which name in there.
_OTHER_PLACES = {"refusal": "refusal", "audio": "transcript", "function_call": "arguments"}
