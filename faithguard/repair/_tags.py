"""Tags of HTML around what is left out: they go, or stay, in pairs.

In: an answer, and the edits that leave parts of it out. Out: the same edits, but for tags: an
element that still holds words keeps both of its tags, one whose words all go loses both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from faithguard.claims._plain import has_words
from faithguard.repair._edits import Edit
from faithguard.types import Span

__all__ = ["tags_in_pairs"]

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


def tags_in_pairs(answer: str, edits: Sequence[Edit]) -> list[Edit]:
    """Return edits that leave no tag without its partner; a tag that never had one goes as told."""
    cuts = [edit for edit in edits if not edit.new]
    if not cuts or "</" not in answer:
        return list(edits)
    spans = [(cut.start, cut.end) for cut in cuts]
    was = _TAG.sub(lambda tag: " " * len(tag[0]), answer)
    left = was
    for start, end in spans:
        left = left[:start] + " " * (end - start) + left[end:]
    kept: list[Span] = []
    more: list[Edit] = []
    for pair in _pairs(answer):
        begin, end = pair[0][1], pair[1][0]
        inside = [tag for tag in pair if _is_in(tag, spans)]
        if has_words(left[begin:end]):
            kept += inside
        elif has_words(was[begin:end]) or len(inside) == 1:
            more += [Edit(*_with_line(answer, tag), "") for tag in pair if tag not in inside]
    pieces = [piece for cut in cuts for piece in _without(cut, sorted(kept))]
    return [*(edit for edit in edits if edit.new), *_merged([*pieces, *more])]


def _pairs(answer: str) -> Iterator[tuple[Span, Span]]:
    """Yield where the two tags of each element stand, inner ones first."""
    opened: list[tuple[str, Span]] = []
    for tag in _TAG.finditer(answer):
        name = tag["name"].lower()
        if name in _VOID or tag[0].endswith("/>"):
            continue
        if not tag["close"]:
            opened.append((name, tag.span()))
            continue
        place = next((n for n in reversed(range(len(opened))) if opened[n][0] == name), None)
        if place is not None:
            yield opened[place][1], tag.span()
            del opened[place:]


def _is_in(tag: Span, spans: Sequence[Span]) -> bool:
    return any(start <= tag[0] and tag[1] <= end for start, end in spans)


def _with_line(answer: str, tag: Span) -> Span:
    """Return where a tag stands, with its line where it is all of that."""
    start = answer.rfind("\n", 0, tag[0]) + 1
    end = answer.find("\n", tag[1]) + 1 or len(answer)
    return (start, end) if answer[start:end].strip() == answer[slice(*tag)] else tag


def _without(cut: Edit, kept: Sequence[Span]) -> Iterator[Edit]:
    """Yield what a cut still takes out around tags that stay."""
    at = cut.start
    for start, end in kept:
        if cut.start <= start and end <= cut.end:
            if at < start:
                yield Edit(at, start, "", cut.evidence)
            at = end
    if at < cut.end:
        yield Edit(at, cut.end, "", cut.evidence)


def _merged(cuts: Sequence[Edit]) -> list[Edit]:
    """Return cuts of which none meets another one."""
    merged: list[Edit] = []
    for cut in sorted(cuts, key=lambda cut: cut.start):
        last = merged[-1] if merged else None
        if last is not None and cut.start <= last.end:
            evidence = tuple(dict.fromkeys((*last.evidence, *cut.evidence)))
            merged[-1] = Edit(last.start, max(last.end, cut.end), "", evidence)
        else:
            merged.append(cut)
    return merged
