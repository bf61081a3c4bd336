"""Leaving out a half of a sentence: of "It opens at 9 and costs 12 euros." the price.

In: a sentence, and which of its claims are unsupported. Out: the edit that leaves the first or
the last of its clauses out, where the other half can stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from faithguard.repair._edits import Edit
from faithguard.repair._layout import Layout, Unit
from faithguard.types import Claim

__all__ = ["clause_cut"]

_END = re.compile(r"[.!?。！？]*[\"”»)\]*_]*\s*$")
_JOINED = re.compile(r"[\s,;]*(?:(?:and|und|et|y|e|en)\s)?[\s,;]*$", re.IGNORECASE)


def clause_cut(
    layout: Layout, unit: Unit, wrong: Sequence[Claim], good: Sequence[Claim]
) -> Edit | None:
    """Return the edit that leaves the unsupported end or beginning of a sentence out.

    None where the supported claims do not stand on one side of the others, where what joins
    them is more than "and", or where the rest would lack its subject.
    """
    if unit.kind != "prose" or not wrong or not good:
        return None
    first, last = min(c.span[0] for c in good), max(c.span[1] for c in good)
    if all(claim.span[0] >= last for claim in wrong):
        begin = min(claim.span[0] for claim in wrong)
        if _JOINED.fullmatch(layout.answer, last, begin) is None:
            return None
        text = layout.text(unit)
        end = _END.search(text)
        stop = unit.start + (end.start() if end else len(text))
        return Edit(last, stop, "") if stop > last else None
    if all(claim.span[1] <= first for claim in wrong):
        stop = max(claim.span[1] for claim in wrong)
        starter = min(good, key=lambda claim: claim.span[0])
        own = layout.answer[slice(*starter.span)]
        if _JOINED.fullmatch(layout.answer, stop, first) is None or not _has_subject(starter, own):
            return None
        return Edit(unit.start, first + 1, own[:1].upper())
    return None


def _has_subject(claim: Claim, source: str) -> bool:
    """Say whether a clause begins with its own subject, not with one that is put before it."""
    words = source.split(None, 1)
    return bool(words) and words[0].casefold() in claim.text.casefold().split(None, 1)[0:1]
