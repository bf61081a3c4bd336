"""The numbered lists of a text that is read line by line.

In: lines. Out: for each number of an item in one, its list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faithguard.claims._plain import ORDINAL
from faithguard.repair._layout import PREFIX

__all__ = ["MEANT", "Numbered", "Numbers", "key_of", "places_in"]

_NUMBER_MEANT = r"\b(?:steps?|points?|items?|schritte?|punkte?|étapes?|pasos?) (\d{1,3})\b"
MEANT = re.compile(_NUMBER_MEANT, re.IGNORECASE)
"""A text that means an item by its number: it would mean another one once they close up."""


_BLANK = re.compile(r"(?:\r\n?|\n)[ \t>]*(?:\r\n?|\n)[ \t>]*\Z")
_HEADING = re.compile(r"[ \t>]*#{1,6}\s")
_GOES_ON = re.compile(
    r"(?:(?<=[.!?:;…。)\]\"”’*_])|\A)(?P<quote>[ \t]+)(?P<indent>)(?P<open>\(?)(?P<number>\d{1,2})"
    rf"(?P<close>[.)])[ \t]+(?=\w|\*\*)(?!{ORDINAL.pattern})"
)
"""The number of an item behind another one in a line."""


def key_of(match: re.Match[str]) -> tuple[str, int, str]:
    """Return what the items of one numbered list have in common."""
    return match["quote"].strip(), len(match["indent"]), match["open"] + match["close"]


def places_in(text: str, start: int, end: int, *, fresh: bool) -> Iterator[re.Match[str]]:
    """Yield the matches of what may be the numbers of items in a line.

    Args:
        text: That holds the line.
        start: Where the line begins.
        end: Where it ends.
        fresh: Whether it begins there; else that is where it goes on.
    """
    first = PREFIX.match(text, start, end) if fresh else None
    if first is not None and first["number"]:
        yield first
        start = first.end()
    yield from _GOES_ON.finditer(text, start, end)


@dataclass(eq=False, slots=True)
class Numbered:
    """One numbered list."""

    key: tuple[str, int, str]
    """Its marks of quotation, its margin, and what stands around its numbers."""
    first: int
    """The number of its first item."""
    last: int
    """The number of the last one that was read."""
    apart: bool = False
    """Whether text that is no part of it came after that: a jump begins another list then."""


class Numbers:
    """The numbered lists that are open at the end of what was read."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int, str], Numbered] = {}
        self._line: Numbered | None = None
        """The list that goes on in the line that was read last."""

    def line(
        self, text: str, start: int, end: int, *, fresh: bool = True
    ) -> Iterator[tuple[Numbered, re.Match[str]]]:
        """Read a line; yield the list of each item in it, and the match of its number.

        Args:
            text: That holds the line.
            start: Where the line begins.
            end: Where it ends.
            fresh: Whether it begins there; else it goes on there.
        """
        if fresh:
            found = self._read(text, start, end)
            self._line = None if found is None else found[0]
            if found is not None:
                yield found
        for match in places_in(text, start, end, fresh=fresh):
            if match.re is PREFIX:
                continue
            number = int(match["number"])
            if self._line is not None and number == self._line.last + 1:
                self._line.last = number
            elif number == 1:
                self._line = Numbered(key_of(match), number, number)
            else:
                continue
            yield self._line, match

    def _read(self, text: str, start: int, end: int) -> tuple[Numbered, re.Match[str]] | None:
        """Read a line of a text; return the list of the item that begins with it.

        Args:
            text: That holds the line.
            start: Where the line begins.
            end: Where it ends.

        Returns:
            The list, and the match whose group "number" is that of the item; None if there is no
            numbered item.
        """
        match = PREFIX.match(text, start, end)
        if not text[start:end].strip(" \t>"):
            return None
        if (match is None or not (match["number"] or match["bullet"] or match["indent"])) and (
            _HEADING.match(text, start, end) or _BLANK.search(text, 0, start)
        ):
            for one in self._open.values():
                one.apart = True
        if match is None:
            return None
        margin = len(match["indent"])
        # an item ends the lists that lie deeper
        if match["number"] or match["bullet"] or not text[start:end][:1].isspace():
            for key in [key for key in self._open if key[1] > margin]:
                del self._open[key]
        if match["number"] is None:
            return None
        number = int(match["number"])
        key = key_of(match)
        known = self._open.get(key)
        if known is None or not (
            known.last + 1 == number or (known.last < number and not known.apart)
        ):
            known = self._followed(key, number)
        if known is None:
            known = self._open[key] = Numbered(key, number, number)
        known.last, known.apart = number, False
        return known, match

    def _followed(self, key: tuple[str, int, str], number: int) -> Numbered | None:
        """Return the list that a number goes on, although it is written in another way.

        The next number after an item's begins no list: its margin, or the sign behind it, differs.
        """
        if number == 1:
            return None
        others = [
            known
            for other, known in self._open.items()
            if other[0] == key[0] and known.last + 1 == number
        ]
        return others[-1] if others else None
