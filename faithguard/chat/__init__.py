"""Messages -> what a chat model said: what a judge and an extractor talk to.

In: messages, the JSON schema of the wanted reply, and when it must be there. Out: a `Completion`,
or a `JudgeError` whose `kind` says why there is none.

To bring a model, write a class with a `name` and the two methods of `ChatModel`, and hand it to
`Judge(model)`. `OpenAIChat` speaks to every server that speaks OpenAI's protocol; `BorrowedChat`
makes one of two functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from faithguard.chat._borrowed import BorrowedChat
from faithguard.chat._data import as_data, find_quote, plain, visible
from faithguard.chat._meter import Meter, metered, spend
from faithguard.chat._openai import OpenAIChat
from faithguard.chat._reading import objects_in
from faithguard.chat._types import Completion, Message

__all__ = [
    "BorrowedChat",
    "ChatModel",
    "Completion",
    "Message",
    "Meter",
    "OpenAIChat",
    "as_data",
    "find_quote",
    "metered",
    "objects_in",
    "plain",
    "spend",
    "visible",
]


class ChatModel(Protocol):
    """Answer messages."""

    @property
    def name(self) -> str:
        """The model and whatever else changes what it says: part of cache keys and reports."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Completion:
        """Return what the model says, blocking.

        Args:
            messages: A system message and what the user says.
            schema: The JSON schema that the reply is to follow, for a server that can see to it;
                the messages describe the form as well.
            max_tokens: Of the reply.
            deadline: When the reply must be there, in seconds of `time.monotonic`, whatever is
                tried in the meantime.

        Raises:
            JudgeError: If there is no reply; holds no text of the messages.
        """
        ...

    async def acomplete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Completion:
        """Do the same without blocking the event loop."""
        ...
