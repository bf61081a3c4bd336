"""Asking again only whoever wrote what did not pass.

In: what the models, retrievers and tools of one guarded call returned, each under a key; and,
after an attempt that did not pass, its answer, the stretches that failed and the feedback. Out:
for each call of the next attempt, whether what is kept is to be given back, or what to add to
its prompt. So tools do not act twice, retrieval stays what it was, and no cache can return the
same answer. Frameworks' guards put this between a chain and its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Key", "Replay", "Turn"]

Key = tuple[int, str]
"""The number of a part, and all that it was asked with."""

Turn = tuple[str, str]
"""What a model wrote, and what it is told of it."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """One attempt that did not pass."""

    answer: str
    texts: Mapping[Key, str]
    feedback: str


@dataclass(slots=True)
class Replay:
    """What the parts of a chain returned in one guarded call, and what to say to its models."""

    _kept: dict[Key, Any] = field(default_factory=dict[Key, Any])
    _texts: dict[Key, str] = field(default_factory=dict[Key, str])
    """The text of each model call's output, in the order in which they ended."""
    _again: frozenset[Key] = frozenset()
    """The model calls to make again."""
    _failed: list[_Failed] = field(default_factory=list[_Failed])

    def keep(self, key: Key, output: Any, text: str | None = None) -> Any:
        """Take what a part returned, and the text of it if the part is a model; return it."""
        self._kept[key] = output
        if text is not None:
            self._texts.pop(key, None)
            self._texts[key] = text
        return output

    def keep_part(self, key: Key, text: str) -> None:
        """Take what a model wrote before its stream was closed; it is not given back."""
        self._texts.pop(key, None)
        self._texts[key] = text

    def kept(self, key: Key) -> Any:
        """Return what was kept of a call for which `turns` says None."""
        return self._kept[key]

    def turns(self, key: Key, *, model: bool) -> list[Turn] | None:
        """Return what to add to the prompt of a call; None if what is kept is to be given back.

        A model call that was not made before, since its prompt holds what is being written
        again, is told as well.
        """
        if not self._failed:
            return []
        if key in self._kept and not (model and key in self._again):
            return None
        if not model:
            return []
        return [(said.texts.get(key, said.answer), said.feedback) for said in self._failed]

    def ask_again(self, answer: str, wrong: Sequence[str], feedback: str) -> None:
        """Have the next attempt ask those again who wrote what failed.

        Args:
            answer: What did not pass.
            wrong: The stretches of it that failed.
            feedback: What to tell the models.
        """
        wrote = self._texts.items()
        wrong = [text for text in wrong if text.strip()]
        found = [key for key, text in wrote if any(part in text for part in wrong)]
        if not found:
            # an answer that a parser has changed: the last whose text is in it, else the last
            close = [key for key, text in wrote if text and (text in answer or answer in text)]
            found = (close or list(self._texts))[-1:]
        self._again = frozenset(found)
        self._failed.append(_Failed(answer, {key: self._texts[key] for key in found}, feedback))
