"""Leaving out a part of a sentence: of "It opens at 9 and costs 12 euros." the price.

In: a sentence, and which of its claims are unsupported. Out: edits that leave their clauses out,
where the others are joined by no more than "and" and can stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from faithguard.repair._antecedents import leans
from faithguard.repair._edits import Edit
from faithguard.repair._layout import Layout, Unit
from faithguard.types import Claim

__all__ = ["clause_cut"]

_END = re.compile(r"[.!?。！？]*(?:[\"”»)\]*_]|</\w+>)*\s*$")
_JOINED = re.compile(r"[\s,;]*(?P<word>(?:and|und|et|y|e|en)\s)?\s*", re.IGNORECASE)


def clause_cut(
    layout: Layout, unit: Unit, wrong: Sequence[Claim], good: Sequence[Claim]
) -> tuple[Edit, ...] | None:
    """Return the edits that leave the unsupported clauses of a sentence out.

    None where clauses overlap, where what joins them is more than "and", or where the subject of
    the rest cannot be told.
    """
    if unit.kind != "prose" or not wrong or not good:
        return None
    order = sorted([*wrong, *good], key=lambda claim: claim.span)
    joints = [(a.span[1], b.span[0]) for a, b in pairwise(order)]
    if any(start > end or not _is_joint(layout, start, end) for start, end in joints):
        return None
    places = [place for place, claim in enumerate(order) if claim not in wrong]
    edits: list[Edit] = []
    if places[0]:
        begun = _begun(layout, unit, order[places[0]])
        if begun is None:
            return None
        edits.append(begun)
    for one, two in pairwise(places):
        if two > one + 1:
            edits.append(Edit(order[one].span[1], order[two - 1].span[1], ""))
    last = places[-1]
    if last + 1 < len(order):
        end = _END.search(layout.text(unit))
        edits.append(Edit(order[last].span[1], unit.start + (end.start() if end else 0), ""))
        # of "A, B and C" stays "A and B"
        before, after = joints[last - 1] if last else (0, 0), joints[last]
        if len(places) > 1 and _word(layout, *after) and not _word(layout, *before):
            edits.append(Edit(*before, layout.answer[slice(*joints[-1])]))
    return tuple(edits)


def _is_joint(layout: Layout, start: int, end: int) -> bool:
    return _JOINED.fullmatch(layout.answer, start, end) is not None


def _word(layout: Layout, start: int, end: int) -> bool:
    match = _JOINED.fullmatch(layout.answer, start, end)
    return match is not None and match["word"] is not None


def _begun(layout: Layout, unit: Unit, claim: Claim) -> Edit | None:
    """Return the edit that makes a clause the beginning of its sentence.

    It keeps its own subject, or takes the one that it shares with what goes.
    """
    start, source = claim.span[0], layout.answer[slice(*claim.span)]
    words = source.split(None, 1)
    if leans(source):
        return None
    if words and words[0].casefold() in claim.text.casefold().split(None, 1)[:1]:
        return Edit(unit.start, start + 1, source[:1].upper())
    subject = claim.text.removesuffix(source)
    if subject == claim.text or not layout.text(unit).startswith(subject.rstrip()):
        return None
    return Edit(unit.start, start, subject)
