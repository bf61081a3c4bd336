"""Lead-in -> what it states itself.

In: a lead-in, as it stands in the answer and in words, and whether names are listed under it. Out:
where the statement in it ends; 0 where it only announces what comes. "Tea cures colds for two
reasons:" states that tea cures colds; "The steps are:" and "There are three plans:" state nothing
without their items.
"""

from __future__ import annotations

import re

from faithguard._denied import denies_items
from faithguard.claims._empty import sense_of
from faithguard.claims._finite import states_by_verb
from faithguard.claims._kinds import kind_of
from faithguard.claims._plain import words_of
from faithguard.claims._verbs import MODALS, verb_at

__all__ = ["stated_end"]

_MARKS = r"[\s:：*_,;~`–—-]*$"
_SOME = (
    r"(?:(?:these|those|this|some|several|many|various|different|certain|other|following|a|few|"
    r"number|of|couple|range|variety|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"\d{1,2}) )+"
)
_ALL = r"(?:(?:the|any|all|both|main|key|important) )+"
_NOUNS = (
    r"(?:reasons?|ways?|steps?|options?|benefits?|features?|rules?|conditions?|requirements?|"
    r"points?|things?|items?|types?|kinds?|parts?|categor(?:y|ies)|factors?|exceptions?|cases?|"
    r"examples?|details?|documents?|methods?|facts?|means|areas?|aspects?|causes?|effects?|forms?|"
    r"terms?|topics?|questions?|answers?|tips?|advantages|disadvantages|situations?|circumstances|"
    r"differences?|limits?|changes?|instructions?|commands?|notes?|stages?|levels?|groups?|order)"
)
_JOINS = (
    r"(?:and |but )?(?:also|remember|note(?: that)?|namely|including|such as|e\.g\.|i\.e\.|"
    r"for (?:example|instance)|especially|in particular|as follows|as in|like (?:this|so|these)|"
    r"(?:as )?(?:shown |listed |described )?below|in short|here|because|since|if|when|and|or|but|"
    r"with|by|that is)"
)
_BY = r"(?:(?:by )?(?:doing|do|run|running|use|using|follow|following|taking|take) )?"
_OF = r"(?:(?:for|in|on|by|with|through|via|under|between|from|to|at|of|due to|because of) )?"
_TAIL = re.compile(
    rf"(?i)(?:^|[\s,;(]+)(?:{_JOINS}|{_BY}{_OF}(?:(?:{_ALL})?{_SOME}(?:[a-z-]+ ){{0,2}}"
    rf"(?:{_NOUNS}|[a-z-]+s)|{_ALL}(?:[a-z-]+ )?{_NOUNS}|(?:the )?following|this|these)){_MARKS}"
)
_MOST_TAILS = 4
_ANNOUNCED = re.compile(
    r"(?i)(?:here|below|the following|these|those|there (?:are|were|'re|will be|can be|may be)|"
    r"(?:this|that|it) is (?:the|a|an|our|your|how|what|why|where|when)|"
    rf"(?:the |some |my |your |our )?(?:[\w-]+ ){{0,2}}{_NOUNS}\b(?! that))"
)
_ASKS = re.compile(
    r"(?i)(?:how|what|where|who|whose|which|why|whether|to|let)\b|"
    r"(?:if|when|unless|once|before|after|while|until|whenever)\b(?P<rest>[^,]*,)?"
)
_OPEN = re.compile(
    r"(?i)\W*(?:(?:been|be|also|usually|often|always|not) )*(?:what|how|why|where|when|who|which|"
    r"as follows|the following|this|these|those|"
    r"(?:listed|shown|given|described|outlined|summari[sz]ed|detailed|found|set out)\b)"
)
_VARIES = re.compile(
    r"(?i)\b(?:depends?|var(?:y|ies)|differs?|ranges?|works? (?:as|like)|means?|says?|states?|"
    r"reads?|mentions?|lists?|notes?|explains?|describes?|shows?|need to|want to|have to|"
    r"(?:everything|all|anything|what) (?:that )?you)\b"
)
_WORD = re.compile(r"[^\W\d_]{2,}|\d")
_EMPTY = frozenset(
    "the a an and or of to in on at by for with it its they them their you your we our us he she "
    "there here that this these those also very be been not only following".split()
)
_PLURAL = re.compile(r"[a-z]{2,}(?<!s)s\W*$")
_BE = re.compile(r"(?i)\b(?:is|are|was|were)\b")
_FEWEST = 3
"""Words of a statement."""


def stated_end(source: str, words: str, *, lists: bool) -> int:
    """Return where in a lead-in its own statement ends; 0 if there is none.

    Args:
        source: The lead-in, as it stands in the answer.
        words: The same without markup.
        lists: Whether names stand under it, no statements: then a plural announces them.
    """
    if kind_of(words) != "fact" or denies_items(words) or sense_of(words) != words:
        return 0
    end = len(source)
    for _ in range(_MOST_TAILS):
        tail = _TAIL.search(source[max(0, end - _LONGEST_TAIL) : end])
        if tail is None:
            break
        end = max(0, end - _LONGEST_TAIL) + tail.start()
    stripped = end < len(source)
    bare = re.sub(_MARKS, "", source[:end])
    text = words_of(bare)
    if lists and not stripped and _PLURAL.search(text) and _BE.search(text) is None:
        return 0
    return len(bare) if _states(text) else 0


_LONGEST_TAIL = 80
"""Characters."""


def _states(text: str) -> bool:
    """Say whether words are a statement: a subject, a verb and what the verb needs."""
    if len(text.split()) < _FEWEST or _ANNOUNCED.match(text) or _VARIES.search(text):
        return False
    asks = _ASKS.match(text)
    if asks is not None:
        return asks["rest"] is not None and _states(text[asks.end() :].strip())
    if states_by_verb(text):
        return True
    verb = verb_at(text)
    if verb is None or verb.start() == 0 or _OPEN.match(text, verb.end()):
        return False
    needed = 2 if verb[0].casefold() in MODALS else 1
    said = [w for w in _WORD.findall(text[verb.end() :]) if w.casefold() not in _EMPTY]
    return len(said) >= needed
