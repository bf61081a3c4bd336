"""What goes to a chat model and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Completion", "Message"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model said."""

    text: str
    """Its answer, without what it reasoned on the way where that came apart."""
    finish_reason: str | None = None
    """ "stop", "length" (cut off), "content_filter", or whatever the server says."""
    refusal: str | None = None
    """What it said instead of an answer, where it declined."""
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def declined(self) -> bool:
        """Whether the model, or a filter behind it, would not answer."""
        return bool(self.refusal) or self.finish_reason in ("content_filter", "refusal")

    @property
    def cut(self) -> bool:
        """Whether the reply ends where the budget of tokens did."""
        return self.finish_reason in ("length", "max_tokens", "MAX_TOKENS")
