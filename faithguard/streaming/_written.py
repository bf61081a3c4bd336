"""What a model wrote, beside what of it was released.

In: units as they were written, their claims, and what was changed, with places in what was
released. Out: the same with places in what was written: what a record's attempt and repairs need.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from faithguard.types import Claim, Evidence, Repair, Span

__all__ = ["Stand", "Written"]


class Stand(NamedTuple):
    """How much there was at a time."""

    text: str
    claims: int
    repairs: Sequence[Repair]
    changes: int
    """How many of the repairs were there."""


class Written:
    """All that a model wrote in one attempt."""

    def __init__(self) -> None:
        self.text = ""
        self.claims: list[Claim] = []
        self._repairs: list[Repair] = []
        self._released = [0]
        """Where pieces begin in what was released; in order."""
        self._own = [0]
        """Where the same begin in what was written."""

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was changed, in the order of the answer; changes that touch are one."""
        joined: list[Repair] = []
        for repair in sorted(self._repairs, key=lambda repair: repair.span):
            last = joined[-1] if joined else None
            if last is not None and last.span[1] == repair.span[0]:
                joined[-1] = Repair(
                    span=(last.span[0], repair.span[1]),
                    before=last.before + repair.before,
                    after=last.after + repair.after,
                    evidence=tuple(dict.fromkeys((*last.evidence, *repair.evidence))),
                )
            else:
                joined.append(repair)
        return tuple(joined)

    def stand(self) -> Stand:
        """Return what `back` goes back to."""
        return Stand(self.text, len(self.claims), self._repairs, len(self._repairs))

    def back(self, stand: Stand) -> None:
        """Forget what came since; after that only reports can be made of it."""
        self.text = stand.text
        self.claims = self.claims[: stand.claims]
        self._repairs = list(stand.repairs[: stand.changes])

    def wrote(self, text: str) -> int:
        """Take a unit; return where it begins."""
        begin = len(self.text)
        self.text += text
        return begin

    def follows(self, released: int, own: int) -> None:
        """Say where a piece begins, or would, in what was released.

        Args:
            released: The place there; what was said of later ones no longer holds.
            own: Where the piece begins in what was written.
        """
        keep = bisect_right(self._released, released - 1)
        self._released[keep:] = [released]
        self._own[keep:] = [own]

    def place(self, released: int) -> int:
        """Return where in what was written a place of what was released is."""
        number = max(bisect_right(self._released, released) - 1, 0)
        return min(self._own[number] + released - self._released[number], len(self.text))

    def found(self, claims: Iterable[Claim]) -> None:
        """Take the claims of a unit as it was written."""
        for claim in claims:
            start, end = map(self.place, claim.span)
            self.claims.append(replace(claim, span=(start, max(start, end))))

    def left_out(self, start: int, end: int, evidence: Sequence[Evidence] = ()) -> None:
        """Note that a part of what was written was not released."""
        if start < end:
            before = self.text[start:end]
            span = (start, end)
            self._repairs.append(
                Repair(span=span, before=before, after="", evidence=tuple(evidence))
            )

    def keeps_end(self, size: int) -> bool:
        """Take back that the last characters were left out; return whether they were, with more.

        Args:
            size: How many.
        """
        last = self._repairs[-1] if self._repairs else None
        begin = len(self.text) - size
        if last is None or last.span[1] != len(self.text) or last.span[0] >= begin or last.after:
            return False
        span = (last.span[0], begin)
        self._repairs[-1] = replace(last, span=span, before=last.before[:-size])
        return True

    def changed_to(self, begin: int, old: str, new: str) -> None:
        """Note what was released in the place of what was written; nothing if that is the same."""
        if old != new:
            span = (begin, begin + len(old))
            self._repairs.append(Repair(span=span, before=old, after=new))

    def changed(self, repairs: Iterable[Repair], begin: int, text: str) -> None:
        """Note what was changed in the last unit.

        Args:
            repairs: The changes, with places in what would have been released.
            begin: Where, of what was written, the part begins that was released with them.
            text: What was released in the place of all from there on.
        """
        moved = [
            replace(repair, span=(at := self.place(repair.span[0]), at + len(repair.before)))
            for repair in repairs
        ]
        known = [repair for repair in self._repairs if repair.span[0] >= begin]
        if all(self.text[slice(*repair.span)] == repair.before for repair in moved) and not any(
            _meet(one.span, other.span) for one in moved for other in known
        ):
            self._repairs += moved
            return
        # a change reaches over what was left out before
        self._repairs = [repair for repair in self._repairs if repair.span[0] < begin]
        evidence = tuple(e for repair in moved for e in repair.evidence)
        before = self.text[begin:]
        span = (begin, len(self.text))
        self._repairs.append(Repair(span=span, before=before, after=text, evidence=evidence))


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
