"""The numbers of a list's items, closed up behind what was left out.

In: what a model wrote, part by part. Out: the numbers in it that change where it is released.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from faithguard.repair._numbers import MEANT, Numbered, Numbers, key_of, places_in

__all__ = ["Mark", "Numbering"]

_LINE = re.compile(r"[^\r\n]+")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] |\d{1,3}[.)] )?[ \t]*(`{3,}|~{3,})")


class Mark(NamedTuple):
    """The number of an item."""

    start: int
    """Where it stands in its part."""
    end: int
    number: int
    before: int
    """The number of the item before it; one less than its own if it is the first."""
    key: tuple[str, int, str]
    """How its line begins, but for the number."""
    of: Numbered

    def moved(self, by: int) -> Mark:
        """Return the same of a text that begins elsewhere."""
        return self._replace(start=self.start + by, end=self.end + by)


class Numbering:
    """The numbered lists of one attempt, as they were written and as they were released."""

    def __init__(self) -> None:
        self._numbers = Numbers()
        self._fence = ""
        """What closes the code in which the end of what was written lies."""
        self._last: dict[Numbered, int] = {}
        """The last number of each list that was released; the one before its first if none was."""
        self._written: dict[Numbered, int] = {}
        """The last number of each list that was written."""
        self._as_written: set[Numbered] = set()
        """Lists whose numbers stay, since a text means one of them."""

    def read(self, text: str, *, fresh: bool) -> list[Mark]:
        """Take the next part of what was written; return the numbers of items in it.

        Args:
            text: The part.
            fresh: Whether it begins a line.
        """
        found: list[Mark] = []
        for line in _LINE.finditer(text):
            begins = fresh or line.start() > 0
            fence = _FENCE.match(line[0]) if begins else None
            if fence is not None and (not self._fence or fence[1].startswith(self._fence)):
                self._fence = "" if self._fence else fence[1]
            elif not self._fence:
                for of, match in self._numbers.line(text, *line.span(), fresh=begins):
                    self._last.setdefault(of, of.first - 1)
                    before = self._written.get(of, of.first - 1)
                    self._written[of] = of.last
                    found.append(Mark(*match.span("number"), of.last, before, key_of(match), of))
        return found

    def closed_up(self, marks: Sequence[Mark], said: str) -> Iterator[str]:
        """Yield for each number what stands in its place if its part is what is released next.

        Args:
            marks: Of that.
            said: What is released with it, and was before.
        """
        last = dict(self._last)
        for mark in marks:
            of = mark.of
            # a list may jump: where nothing was left out it stays as it is
            number = mark.number if last[of] == mark.before else last[of] + 1
            if number != mark.number and _means(said, of):
                self._as_written.add(of)
            last[of] = mark.number if of in self._as_written else number
            yield str(last[of])

    def released(self, text: str, marks: Iterable[Mark]) -> None:
        """Take what of a part was released, mended or not.

        Args:
            text: What was released.
            marks: Of what that was made of, in its order.
        """
        left = list(marks)
        places = (
            match
            for line in (_LINE.finditer(text) if left else ())
            for match in places_in(text, *line.span(), fresh=True)
        )
        for match in places:
            key = key_of(match)
            same = [mark for mark in left if mark.key == key]
            # the first of all lost its margin
            same += [mark for mark in left if mark.key[2] == key[2]]
            if same:
                self._last[same[0].of] = int(match["number"])
                del left[: left.index(same[0]) + 1]

    def misleads(self, text: str, said: str) -> bool:
        """Say whether a text means an item by a number that is another one's, or nobody's.

        Args:
            text: What is written next.
            said: What was released; what means items by their numbers there keeps them.
        """
        for of, last in self._last.items():
            if last != of.last and of not in self._as_written:
                if _means(said, of):
                    self._as_written.add(of)
                elif _means(text, of):
                    return True
        return False


def _means(text: str, of: Numbered) -> bool:
    return any(int(match[1]) >= of.first for match in MEANT.finditer(text))
