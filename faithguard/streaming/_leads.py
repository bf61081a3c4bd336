"""What leads to a unit that was left out, and may lead to the next one, too.

In: titles, lead-ins and heads of tables, and the next unit as it is read where it was written.
Out: those of them that go before it, so that it is read in what is released as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from faithguard.claims._growing import Unit
from faithguard.claims._plain import words_of
from faithguard.claims._sentences import MARKER
from faithguard.streaming._numbering import Mark

__all__ = ["Lead", "choices", "narrowed", "wider"]

_HEADING = re.compile(r"[ \t>]*(#{1,6})\s")
_BOLD = re.compile(r"[ \t>]*(\*\*|__)(?=\S)[^\r\n]+(?<![:：])\1[ \t]*")
_BELOW_HEADINGS = 7
_MOST = 4
"""Lead-ins that are tried; nobody nests more lists."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A title, a lead-in or the head of a table."""

    text: str
    """Without the white space before it."""
    own: int
    """Where it was written, with the white space before it."""
    gap: str
    """That white space."""
    space: str
    """The same, as it would be released."""
    marks: tuple[Mark, ...] = ()
    """Its numbers, if it is an item of a list itself."""

    @property
    def end(self) -> int:
        """Where it ends in what was written."""
        return self.own + len(self.gap) + len(self.text)


def choices(leads: Sequence[Lead], unit: Unit, under: Sequence[str] = ()) -> Iterator[list[Lead]]:
    """Yield which of some leads may go before a unit, the likeliest first.

    Titles do as long as they are in force, and lead-ins as long as their own line goes on; else
    as few of them as it takes to read the unit as it was written. What it stands under is among
    them, also where what was released ends under the same words.

    Args:
        leads: What leads to what was left out.
        unit: The next one.
        under: The words of the lead-ins that it stands under where it was written.
    """
    own = next((rank for lead in _leads_of(unit) if (rank := _rank(lead))), 0)
    titles = [lead for lead in leads if (rank := _rank(lead.text)) and not 0 < own <= rank]
    others = [lead for lead in leads if not _rank(lead.text)][-_MOST:]
    some = [list(few) for size in range(len(others) + 1) for few in combinations(others, size)]
    if not unit.leads and "\n" not in unit.text.rstrip():
        some.sort(key=lambda few: few[-1:] != others[-1:])
    own_leads = [
        next((lead for lead in reversed(others) if _says(lead, words)), None) for words in under
    ]
    some.sort(key=lambda few: not all(lead is None or lead in few for lead in own_leads))
    for few in some:
        yield sorted([*titles, *few], key=lambda lead: lead.own)


def narrowed(leads: Sequence[Lead], chosen: Sequence[Lead], gap: str) -> tuple[list[Lead], str]:
    """Return the leads that were chosen of some; around those that go the wider space stays.

    Args:
        leads: All of them.
        chosen: Those that stay.
        gap: The white space after the last.

    Returns:
        Those that stay, and the white space after them.
    """
    kept: list[Lead] = []
    before = ""
    for lead in leads:
        before = wider(lead.space, before)
        if lead in chosen:
            kept.append(replace(lead, space=before))
            before = ""
    return kept, wider(gap, before)


def wider(one: str, other: str) -> str:
    """Return the white space of two that has more lines, before what stands behind the first.

    The margin stays the first one's: what was left out may have lain deeper in a list.
    """
    if other.count("\n") <= one.count("\n"):
        return one
    _, end, margin = one.rpartition("\n")
    return other[: other.rfind("\n") + 1] + margin if end else other


def _says(lead: Lead, words: str) -> bool:
    marker = MARKER.match(lead.text)
    return words_of(lead.text[marker.end() if marker else 0 :]).endswith(words)


def _leads_of(unit: Unit) -> Iterator[str]:
    start = 0
    for end in unit.leads:
        yield unit.text[start:end].lstrip()
        start = end


def _rank(lead: str) -> int:
    """Return how high a title stands, 1 the highest; 0 if it is none."""
    heading = _HEADING.match(lead)
    if heading is not None:
        return len(heading[1])
    return _BELOW_HEADINGS if _BOLD.fullmatch(lead) else 0
