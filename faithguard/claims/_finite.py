"""Title or label -> whether it states something by a verb that no closed list of claims knows.

In: the words of a heading, a bold line or a lead-in. Out: whether a subject, a finite verb and
what the verb needs stand in it: "Codeine kills adults" does, "Codeine side effects" and "Student
loans guide" do not. English; where a form is as often a noun, the title is one of a topic.
"""

from __future__ import annotations

import re
from itertools import islice

from faithguard._verbs import base_of

__all__ = ["names_page", "states_by_verb"]

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,]*|[,;:–—|/&+()]")
_MOST = 30
"""Words of a title that are read."""
_ASKS = frozenset(
    "how what why when where who whom whose which that whether if to while because as than".split()
)
"""Behind these a verb is none of the title itself."""
_PREPOSITIONS = frozenset(
    "of in on at by for with from to as than into about between under over after before during "
    "without within through per via against and or & nor but vs versus".split()
)
_NO_NOUN = _PREPOSITIONS | frozenset(
    "the a an this these those its their our your his her my some any every each no all most many "
    "more very not be been being is are was were".split()
)
_DETERMINERS = frozenset(
    "the a an this these those its their our your his her my some any every each no all most many "
    "several both half nobody everyone everybody everything anyone nothing it them him us you me "
    "two three four five six seven eight nine ten".split()
)
# Plural nouns that stand before another noun: "Student loans guide".
_BEFORE_NOUNS = frozenset(
    "returns sales benefits needs claims records accounts rewards awards plans parts results "
    "sports services operations rates costs charges works grants loans drinks drugs refunds "
    "orders reports points forms links notes answers questions tests tasks shows views faces "
    "reviews features uses terms limits changes updates details tours walks visits trips "
    "classes courses supplies "
    "payments repairs transfers savings goods arms customs news roles rights requests releases "
    "exports imports stocks fines rents deposits credits files logs keys locks models units "
    "events fees prices rules steps".split()
)
# What a list or a page is called.
_PAGES = frozenset(
    "policy policies guide guides overview list lists table tables schedule schedules form forms "
    "page pages office desk team department centre center map maps summary comparison process "
    "procedure procedures rules info information calculator chart charts faq section details "
    "options checklist report reports manual handbook plan plans programme program page system "
    "management history area types tips basics timeline hours times prices".split()
)
_WITH = re.compile(
    r"(?i)\b[^\W\d_]+ (?:(?:leads?|belongs?|contributes?|amounts?|adheres?|corresponds?) to|"
    r"(?:depends?|relies|rely|acts?) on|consists? of|"
    r"(?:interferes?|interacts?|complies|comply|copes?|deals?) with|"
    r"(?:dies?|suffers?|recovers?|benefits?|differs?|stems?) from) (?=\w)"
)
_PLURALS = frozenset("children men women people infants persons mice teeth feet police".split())
_TALE = frozenset(
    "gave took began went wrote chose broke spoke drove grew knew flew ate drank sang swam threw "
    "became forbade arose forgot shook stole wore tore swore froze hid undertook withdrew".split()
)
"""Forms that tell of the past and are nothing else."""
_PARTICIPLES = frozenset("sold made built bought published received lost".split())
_NO_VERBS_HERE = frozenset(
    "complete abstract clear correct direct open clean empty secure separate moderate alternate "
    "approximate lower live present own free last past near like welcome exempt".split()
)
"""Bases that are adjectives."""


def states_by_verb(title: str) -> bool:
    """Say whether a title has a subject and a finite verb with what belongs to it."""
    words = [match[0] for match in islice(_WORD.finditer(title), _MOST)]
    low = [word.replace("’", "'").casefold() for word in words]
    if not low or low[0] in _ASKS or title.rstrip().endswith(("?", "？")):
        return False
    if (found := _WITH.search(title)) is not None and not _asks(title[: found.start()]):
        return True
    for at in range(1, len(low) - 1):
        if low[at] in _ASKS:
            return False
        if _is_noun(low[at - 1]) and _is_verb(low, at):
            return True
    return False


def names_page(word: str, rest: str) -> bool:
    """Say whether a word that may be a verb is part of a name: "returns policy", "sold at the"."""
    after = rest.casefold().split()
    if word.casefold() in _BEFORE_NOUNS:
        return after[-1].strip(".:") in _PAGES and after[0] not in _DETERMINERS
    return word.casefold() in _PARTICIPLES and after[0] in _PREPOSITIONS


def _asks(before: str) -> bool:
    return not _ASKS.isdisjoint(before.casefold().split())


def _is_noun(word: str) -> bool:
    """Say whether a word may be the subject right before a verb."""
    return word[:1].isalpha() and word not in _NO_NOUN and not word.endswith("ly")


def _is_verb(words: list[str], at: int) -> bool:
    """Say whether a word of a title is its verb, by its form and what stands beside it."""
    word, before, after = words[at], words[at - 1], words[at + 1]
    if not after[:1].isalnum() or after in _PREPOSITIONS or _base(word) is None:
        return False
    if word in _TALE:
        return True
    if word.endswith("ed"):
        return after in _DETERMINERS
    if word.endswith("s") and not word.endswith("ss"):
        plural = before.endswith("s") and not before.endswith("ss")
        page = words[-1] in _PAGES and after not in _DETERMINERS
        return not (plural or page or word in _BEFORE_NOUNS or before in _PLURALS)
    many = before in _PLURALS or (before.endswith("s") and not before.endswith("ss"))
    return many and word not in _NO_VERBS_HERE and (_base(word) == word) and _takes(words, at)


def _takes(words: list[str], at: int) -> bool:
    """Say whether a base form behind a plural is its verb: it is the last but an object."""
    return words[-1] not in _PAGES and not words[at].endswith(("ing", "er"))


def _base(word: str) -> str | None:
    return base_of(word.replace("iz", "is") if word.endswith(("izes", "ized", "ize")) else word)
