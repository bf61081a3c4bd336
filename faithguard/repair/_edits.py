"""Changes of a text, and where its places are afterwards.

In: an answer and changes that do not overlap. Out: the text with them, and a map of places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithguard.types import Evidence, Span

__all__ = ["Edit", "Edited", "edited"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of an answer, and what stands there afterwards."""

    start: int
    end: int
    new: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with changes."""

    text: str
    edits: tuple[Edit, ...]
    """In their order."""

    def place(self, at: int, *, after: bool = False) -> int:
        """Return where a place of the old text is in the new one.

        Args:
            at: In the old text; what is gone is where it stood.
            after: Whether what was put in at that very place stands before it.
        """
        shift = 0
        for edit in self.edits:
            if edit.end < at or (edit.end == at and (after or edit.start < at)):
                shift += len(edit.new) - (edit.end - edit.start)
            elif edit.start < at:
                return edit.start + shift + (len(edit.new) if after else 0)
        return at + shift

    def span(self, old: Span) -> Span:
        """Return where a stretch is now, with what stands in the place of parts of it."""
        return self.place(old[0]), self.place(old[1], after=True)


def edited(text: str, edits: Iterable[Edit]) -> Edited | None:
    """Return a text with changes; None if they overlap."""
    order: Sequence[Edit] = sorted(edits, key=lambda edit: (edit.start, edit.end))
    parts: list[str] = []
    at = 0
    for edit in order:
        if edit.start < at:
            return None
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return Edited("".join([*parts, text[at:]]), tuple(order))
