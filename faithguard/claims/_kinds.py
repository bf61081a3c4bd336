"""Sentence -> kind.

In: the words of one sentence. Out: what it is.

Only a `fact` is checked, so every other kind is a way past the checker. Hence the patterns are
closed and match a whole sentence; what they leave open may hold no number and no name; what
is in doubt is a fact.
"""

from __future__ import annotations

import re

from faithguard.claims._phrases import (
    ABOUT,
    ABSENCE,
    ABSTENTION,
    ACTION,
    ASKING,
    COURTESY,
    HEDGE,
    INTRODUCTION,
    META,
    OPINION,
    QUIET_ABSENCE,
    TAG_QUESTION,
)
from faithguard.types import Kind

# What follows these is said in full: the sentence is what the rest of it is.
_MOST_PEELS = 4
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"'})
_EDGE = "\\s.!。！…،,，、;:*_~|>।\"'—–\\-\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff"
_EDGES = re.compile(f"^[{_EDGE}¿¡]+|[{_EDGE}]+$")
# "I would be happy to confirm that the fee is waived": more than a courtesy.
_SAYS = re.compile(
    r"^(?!.{0,20}\bhope\b).*\b(?:that|because|since|which)\b.*\b(?:is|are|was|were|has|have|will|"
    r"can|must|costs?)\b",
    re.IGNORECASE,
)
# "No fee other than the 20 EUR": a denial that says something.
_SAVE = re.compile(
    r"\b(?:other than|except|apart from|besides|beyond|more than|less than|only)\b.*\d",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？؟][\s!?？؟)\]\"'”’»」*_\W]*$")
_LATIN = re.compile(r"[A-Za-z]")
_STOP = re.compile(r"[,;:.!–—-]\s+")
_CONDITION = re.compile(r"(?:if|when|once|before|wenn|falls|si|se|als)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
# A capital in the middle of an announcement: a name.
_NAMED = re.compile(r"(?:here|below)\b.*\b(?!I\b|AI\b|FAQ)[A-Z]\w*", re.DOTALL)
_NAME = re.compile(r"(?<=\w )(?!I\b)[A-Z]")
# What is longer is no set phrase. It also bounds the time that the patterns can take.
_LONGEST = 600
_END = 60


def kind_of(words: str) -> Kind:
    """Return the kind of a sentence, given without markup."""
    if _QUESTION.search(words[-_END:]):
        return "fact" if _states(words) else "question"
    if len(words) > _LONGEST:
        return "fact"
    bare = _bare(words.translate(_QUOTES))
    last: Kind = "fact"
    for _ in range(_MOST_PEELS):
        whole = _whole(bare)
        if whole is not None:
            return whole
        for kind, pattern in INTRODUCTION:
            match = pattern.match(bare)
            if match is not None and match.end() > 0:
                last = kind
                bare = bare[match.end() :].lstrip(" ,;:.!-–—、，。！")
                break
        else:
            return "fact"
        if not bare:
            return last
    return _whole(bare) or "fact"


def _states(question: str) -> bool:
    """Say whether what ends like a question states something: "It costs 5 EUR, any questions?"."""
    if TAG_QUESTION.search(question[:_END] + question[-_END:]):
        return True
    if ASKING.match(question) or not _LATIN.search(question):
        return False
    stops = [stop.end() for stop in _STOP.finditer(question[:_LONGEST])]
    asked = next((stop for stop in stops if ASKING.match(question[stop:])), None)
    if asked is None and not stops:
        return _NUMBER.search(question) is not None
    head = question[: stops[-1] if asked is None else asked].rstrip(" ,;:.!–—-")
    if len(head.split()) <= 2 or _CONDITION.match(head):
        return False
    return kind_of(head) == "fact"


def is_absence(words: str) -> bool:
    """Say whether a sentence says that the documents do not tell something."""
    return len(words) <= _LONGEST and _absence(_bare(words.translate(_QUOTES))) is not None


def _bare(text: str) -> str:
    return _EDGES.sub("", text)


def _whole(text: str) -> Kind | None:
    """Return the kind that the whole text matches, or None."""
    denial = "abstention" if ABSTENTION.fullmatch(text) else _absence(text)
    if denial is not None:
        return "fact" if _SAVE.search(text) else denial
    if ACTION.fullmatch(text):
        return "action"
    # A section has a number; elsewhere a number or a name is something to check.
    if META.fullmatch(text):
        return "meta"
    if _NUMBER.search(text) or _SAYS.search(text):
        return None
    if ABOUT.fullmatch(text) and not _NAME.search(text):
        return "meta"
    if COURTESY.fullmatch(text) and not _NAMED.match(text[:1].lower() + text[1:]):
        return "courtesy"
    if HEDGE.fullmatch(text):
        return "hedge"
    if OPINION.fullmatch(text):
        return "opinion"
    return None


def _absence(text: str) -> Kind | None:
    """Tell "the documents do not say it" from talk about what a document is about."""
    match = ABSENCE.fullmatch(text)
    if match is None:
        return None
    return "meta" if QUIET_ABSENCE.search(text) else "abstention"
