"""Sentence -> kind.

In: the words of one sentence. Out: what it is.

Only a `fact` is checked, so every other kind is a way past the checker. Hence the patterns are
closed and match a whole sentence; what they leave open may hold no number and no name; what
is in doubt is a fact.
"""

from __future__ import annotations

import re
from functools import lru_cache

from faithguard._polar import asks_what, sentences_of
from faithguard.claims._content import tells
from faithguard.claims._phrases import (
    ABOUT,
    ABSENCE,
    ABSTENTION,
    ACTION,
    ASKED_ELSEWHERE,
    ASKED_WORD,
    ASKING,
    COURTESY,
    DENYING,
    DENYING_VALUE,
    HEDGE,
    INTRODUCTION,
    KNOWING,
    META,
    OPINION,
    QUIET_ABSENCE,
    TAG,
    WANTING,
)
from faithguard.claims._service import holds_address, is_set_phrase
from faithguard.claims._verbs import has_verb, verb_at
from faithguard.types import Kind

# What follows these is said in full: the sentence is what the rest of it is.
_MOST_PEELS = 4
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"'})
_EDGE = "\\s.!。！…،,，、;:*_~|>।\"'—–\\-\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff"
_EDGES = re.compile(f"^[{_EDGE}¿¡]+|[{_EDGE}]+$")
# "I would be happy to confirm that the fee is waived": more than a courtesy.
_SAYS = re.compile(
    r"^(?!.{0,20}\bhope\b).+\b(?:that|because|since|which)\b.*\b(?:is|are|was|were|has|have|will|"
    r"can|must|costs?)\b",
    re.IGNORECASE,
)
# "No fee other than the 20 EUR": a denial that says something.
_SAVE = re.compile(
    r"\b(?:other than|except|apart from|besides|beyond|more than|less than|only|why)\b.*\d|"
    r"\([^()]*\d[^()]*[^\W\d_]{2}[^()]*\)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？؟][\s!?？؟)\]\"'”’»」*_\W]*$")
_CALLED = re.compile(r"\s*(?:[?？؟]+\s?[!！]|[!！]\s?[?？؟])[\s!?！？؟)\]\"'”’»」*_\W]*$")
_LATIN = re.compile(r"[A-Za-z]")
_STOP = re.compile(
    r"[,;:.!–—-]\s+|\s(?=(?:and|but|so) (?:is|are|do|does|did|would|will|can|could|should|shall|"
    r"may|"
    r"what|how|which|when|where|who)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:if|when|once|before|after|unless|wenn|falls|bevor|si|se|als|cuando|quando|quand)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_FEWEST = 3
"""Words that a statement has."""
_GROUND = re.compile(
    r"\b(?:because|since|given that|now that|considering|although|even though|, (?:which|who) "
    r"(?:is|are|was|were|costs?|has|have))\b.*\d",
    re.IGNORECASE | re.DOTALL,
)
_NUMBERED_ANY = re.compile(r"any \w+ (?!in\b|on\b|of\b|for\b|about\b)[a-z]+s .*\d", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:you|your|yours|i|me|my|we|us)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:and |but |so )?(?:the|these|those|they|he|she|there|all|every|each|no|its|their|his|"
    r"her)\b",
    re.IGNORECASE,
)
# What only leads to a question: "By the way, do you ...?".
_OPENS = re.compile(
    r"(?:by the way|in|on|at|for|to|with|regarding|about|concerning|as|of|from|just|so (?:that )?"
    r"(?:i|we)|out of|apart from|besides|zu|zum|zur|para|pour|per|voor|om|um)\b",
    re.IGNORECASE,
)
# A capital in the middle of an announcement: a name.
_NAMED = re.compile(r"(?:here|below)\b.*\b(?!I\b|AI\b|FAQ)[A-Z]\w*", re.DOTALL)
_NAME = re.compile(r"(?<=\w )(?!I\b)[A-Z]")
# What is longer is no set phrase. It also bounds the time that the patterns can take.
_LONGEST = 600
_END = 60


@lru_cache(maxsize=4_096)  # an answer that grows is read again and again
def kind_of(words: str) -> Kind:
    """Return the kind of a sentence, given without markup."""
    kind = form_of(words)
    if kind in ("fact", "question", "hedge"):
        return kind
    bare = _bare(words.translate(_QUOTES))
    return "fact" if tells(bare, kind) and not is_set_phrase(bare) else kind


@lru_cache(maxsize=4_096)
def form_of(words: str) -> Kind:
    """Return the kind that a sentence has by its form; it may hold a statement all the same."""
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


def is_formula(words: str) -> bool:
    """Say whether a sentence is a set phrase as a whole: no part of it is a statement."""
    return is_set_phrase(_bare(words.translate(_QUOTES)))


def states(title: str) -> bool:
    """Say whether a title says something rather than naming what comes under it."""
    if len(title.split()) < _FEWEST or ASKING.match(title):
        return False
    return kind_of(title) == "fact" and has_verb(title)


def _states(question: str) -> bool:
    """Say whether what ends like a question states something: "It costs 5 EUR, any questions?"."""
    if len(question) > _LONGEST or KNOWING.search(question):
        return True
    if _says_called(question):
        return True
    tag = TAG.search(question)
    if tag is not None:
        head = question[: tag.start()].rstrip()
        inverted = ASKING.match(head) and not ASKED_WORD.match(head)
        return _states(f"{head}?") if inverted else kind_of(head) == "fact"
    figure = _NUMBER.search(question) is not None
    if _denies(question, figure=figure):
        return True
    if not _LATIN.search(question):
        return figure and ASKED_ELSEWHERE.search(question) is None
    stops = [stop.end() for stop in _STOP.finditer(question)]
    first = next((stop for stop in stops if ASKING.match(question[stop:])), None)
    if ASKING.match(question):
        if _GROUND.search(question):
            return True
        # "What you pay is 90 EUR, any questions?"
        if first is None or not ASKED_WORD.match(question):
            return _NUMBERED_ANY.match(question) is not None
    if first is None and not stops:
        return figure or _declares(question)
    head = question[: stops[-1] if first is None else first].rstrip(" ,;:.!–—-")
    if first is None and len(head.split()) <= 2 and not _NUMBER.search(head):
        return _states(question[stops[-1] :])
    return _tells(head)


def _says_called(question: str) -> bool:
    """Say whether what ends in "?!" is a statement: "Towels are free?!", and no "Really?!"."""
    called = _CALLED.search(question)
    if called is None or ASKING.match(question):
        return False
    said = f"{question[: called.start()]}."
    told = has_verb(said) or (len(said.split()) >= _FEWEST and not _PERSON.search(said))
    return told and kind_of(said) == "fact"


def _tells(head: str) -> bool:
    """Say whether what stands before a question says something."""
    figure = _NUMBER.search(head) is not None
    if _CONDITION.match(head):
        _, _, rest = head.partition(", ")
        return bool(rest) and (has_verb(rest) or bool(_NUMBER.search(rest))) and _tells(rest)
    if figure:
        return kind_of(head) == "fact"
    if len(head.split()) <= 2 or _OPENS.match(head) or ASKED_WORD.match(head):
        return False
    return kind_of(head) == "fact"


def is_polar(question: str, *, said: bool = False) -> bool:
    """Say whether a question can be answered by a yes or a no.

    Args:
        question: With or without its mark: "tell me whether it is free".
        said: Whether the answer begins with one, so that any question that asks for nothing else
            is meant.
    """
    last = sentences_of(question)[-1]
    if asks_what(last):
        return False
    if _INDIRECT.search(last) or (last.endswith(("?", "？", "؟")) and not said):
        return True
    if not said or _OF_YOU.search(last):
        return False
    opens = last.endswith(("?", "？", "؟")) or ASKING.match(last) is not None
    return opens or (len(last.split()) <= _FEW_WORDS and not last.endswith((".", "!")))


_FEW_WORDS = 6
"""Of a question without its mark: "pets allowed"."""
_OF_YOU = re.compile(
    r"(?i)\byou (?:\w+ly |also |ever |really |guys )*(?:like|love|enjoy|know|remember|think|want|"
    r"prefer|watch|feel|agree|believe|see|seen|hear|heard|mean|read|play|guess|care)\b|"
    r"\banything else\b"
)
"""A question for company: a yes to it is none to a question of facts."""
_INDIRECT = re.compile(
    r"(?i)\b(?:whether|(?:me|us|know|wonder\w*|confirm|ask|out|check) (?:if|that))\b"
)


def _denies(question: str, *, figure: bool) -> bool:
    """Say whether a question holds that its answer is yes: "Isn't the fee 90 EUR?"."""
    if WANTING.search(question):
        return False
    if figure and DENYING_VALUE.search(question):
        return ASKED_WORD.match(question) is None
    match = DENYING.match(question)
    if match is None or figure:
        return match is not None
    if _PERSON.search(match["rest"]):
        return False
    words = match["rest"].rstrip("?？ ").split(None, 1)
    if len(words) < 2 or words[0].lower() == "there":
        return False
    if words[0].lower() not in ("it", "this", "that", "they", "he", "she"):
        return True
    return kind_of(f"{words[0]} {match['aux']} {words[1]}") == "fact"


def _declares(question: str) -> bool:
    """Say whether a question without figures has the order of a statement."""
    verb = verb_at(question)
    if verb is None or not _SUBJECT.match(question) or _PERSON.search(question):
        return False
    return any(map(str.isalnum, question[verb.end() :]))


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
    if is_set_phrase(text):
        return "courtesy"
    if _NUMBER.search(text) or _SAYS.search(text) or holds_address(text):
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
