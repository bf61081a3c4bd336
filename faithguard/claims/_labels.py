"""Label over a list, and an item -> the sentence that both make.

In: a lead-in or a question, and the words of one item. Out: the statement, without the words that
only say "these": who lists "Linux" under "Supported platforms:" says that Linux is supported.
Nothing where the label is no such, or the item more than a name of something.
"""

from __future__ import annotations

import re

from faithguard.claims._verbs import has_verb

__all__ = ["statement_of"]

_CATEGORY = (
    r"(?:(?:operating )?systems?|platforms?|items?|things?|products?|goods|articles?|options?|"
    r"browsers?|devices?)"
)
_STATE = (
    r"(?:(?:not |fully |currently )?(?:un)?(?:supported|returnable|refundable|accepted|excluded|"
    r"included|covered|available|allowed|permitted|prohibited|forbidden|required|exchangeable)|"
    r"non-?(?:returnable|refundable|exchangeable))"
)
_FOLLOWING = re.compile(
    rf"(?:the following|these|following)(?: {_CATEGORY})? "
    r"(?P<verb>(?:are|is|can|cannot|can't|may|must|will)\b[^,;:?]{0,60}?)\s?[:：]?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"(?:(?:the|our|all) )?(?:(?P<before>{_STATE}) {_CATEGORY}|{_CATEGORY} (?P<after>{_STATE}))"
    r"\s?[:：]?",
    re.IGNORECASE,
)
_WHICH = re.compile(
    rf"(?:which|what) {_CATEGORY} (?P<verb>(?:are|is|can be|may be) (?:not )?{_STATE})\s?\?",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"(?:none|all|both|any|each|every|no|neither|nothing|yes|not|the (?:same|following|others?)|"
    r"only|except)\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[,;:?!–—()]|\d")
_PLURAL = re.compile(r"(?:[a-z]{2}(?<!s)s|\band\b.*)$")
_MOST = 6
"""Words of an item."""


def statement_of(label: str, item: str) -> str | None:
    """Return what a label says of an item as a sentence: "Linux is supported."; None if unsure."""
    name = item.strip(" .")
    bad = _UNSAID.match(name) or _MARKS.search(name) or has_verb(name)
    if not name or bad or len(name.split()) > _MOST:
        return None
    many = _PLURAL.search(name) is not None
    found = _LABEL.fullmatch(label)
    if found is not None:
        verb = f"are {(found['before'] or found['after']).lower()}"
    else:
        found = _FOLLOWING.fullmatch(label) or _WHICH.fullmatch(label)
        if found is None:
            return None
        verb = found["verb"].strip()
    first, _, rest = verb.partition(" ")
    if first.lower() in ("is", "are"):
        first = "are" if many else "is"
    return f"{name} {first} {rest}."
