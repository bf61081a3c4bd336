"""Label over a list, and an item -> the sentence that both make.

In: a lead-in or a question, and the words of one item. Out: the statement, without the words that
only say "these": who lists "Linux" under "Supported platforms:" says that Linux is supported, and
who lists it under "No longer supported:" that it no longer is.
Nothing where the label is no such, or the item more than a name of something.
"""

from __future__ import annotations

import re

from faithguard._denied import denies_items
from faithguard.claims._verbs import has_verb

__all__ = ["is_predicate", "statement_of"]

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
_ALONE = re.compile(
    rf"(?P<verb>(?:(?:not|no longer|never|currently|temporarily|now|still|always|also|partly|fully|"
    rf"yet) )*(?:{_STATE}|(?:un)?available|open|closed|shut|free|offered|provided|sold out|"
    r"out of (?:order|service|stock|use)|in (?:use|stock|service)|broken|cancelled|missing|"
    r"accessible|usable|working|safe|banned|disallowed|recommended|extra|refunded|insured|"
    r"reimbursed)(?: (?:today|now|here|at present|at the moment|yet|any ?more|any longer|"
    r"in the (?:price|fee|rate|fare)|to (?:guests|visitors|members|everyone|all|the public)))?)"
    r"\s?[:：]",
    re.IGNORECASE,
)
"""A label that is no more than what is said of each item: "Not open:"."""
_DAYS = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|daily|holidays?|nights?|"
    r"mornings?|evenings?|afternoons?|january|february|march|april|may|june|july|august|september|"
    r"october|november|december|summer|winter|spring|autumn|christmas|easter|noon|midnight)\b",
    re.IGNORECASE,
)
"""When, and not what."""
_UNSAID = re.compile(
    r"(?:none|all|both|any|each|every|no|neither|nothing|yes|not|the (?:same|following|others?)|"
    r"only|except)\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[,;:?!–—()]|\d")
_PLURAL = re.compile(r"(?:[a-z]{2}(?<!s)s|\band\b.*)$")
_MOST = 6
"""Words of an item."""


def is_predicate(label: str) -> bool:
    """Say whether a label says something of each of its items: "No longer available:"."""
    return _ALONE.fullmatch(label) is not None


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
    elif (found := _ALONE.fullmatch(label)) is not None:
        if denies_items(label) or _DAYS.search(name):
            return None
        verb = f"are {found['verb'].lower()}"
    else:
        found = _FOLLOWING.fullmatch(label) or _WHICH.fullmatch(label)
        if found is None:
            return None
        verb = found["verb"].strip()
    first, _, rest = verb.partition(" ")
    if first.lower() in ("is", "are"):
        first = "are" if many else "is"
    return f"{name} {first} {rest}."
