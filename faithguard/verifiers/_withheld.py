"""Whether the context says plainly what a yes to a question says.

In: the statement that a yes makes, and its context. Out: None, or in words why what the context
says is less: of some only, under a condition, of another time, as somebody's word, of two things
one half each. Closed lists, in English; a denial in other languages too. In doubt it is less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from faithguard._verbs import base_of, is_participle, is_past, past_of
from faithguard.verifiers._context import Context
from faithguard.verifiers._facts import Fact, facts_of, mixed, nearest, words_in
from faithguard.verifiers._statement import NEGATIVE, Stated
from faithguard.verifiers._terms import analyse, stem
from faithguard.verifiers._values._words import language

__all__ = ["DENIED", "withheld"]

DENIED = "the context denies it"

_CONDITION = re.compile(
    r"\b(?:only|solely|exclusively|except\w*|excluding|unless|if|provided|providing|as long as|"
    r"subject to|on condition|depending|depends|when|whenever|apart from|other than|"
    r"(?:on|with|upon|by|under|after|through) (?:[\w'’]+ ){0,3}(?:advice|request|prescription|"
    r"condition|presentation|proof|approval|application|recommendation|orders?|consent|permission|invitation|"
    r"referral|supervision|appointment|arrangement|agreement|notice))\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:may|might|could|(?:plan|intend|hope|aim|want|wish|propose|consider|expect)(?:s|ed|ing)?"
    r"(?= (?:to|that|a|the|\w+ing)\b)|(?:is|are) (?:due|likely|scheduled|supposed|said|thought|"
    r"believed|rumoured|rumored|reported|alleged)|perhaps|possibly|probably|maybe|sometimes|rarely|"
    r"seldom|hardly|barely|occasionally|often|usually|reportedly|allegedly)\b",
    re.IGNORECASE,
)
_POSSIBLE = re.compile(r"\b(?:can|could|may|might)\b", re.IGNORECASE)
_TOLD = re.compile(
    r"\b(?:rumou?r\w*|alleg\w+|claim(?:s|ed)?|believ\w+|suspect\w*|fear(?:s|ed)?|argu\w+|doubt\w*|"
    r"den(?:y|ies|ied)|suggest\w*|speculat\w+|critics?|opponents?|"
    r"(?:people|some|they|he|she|neighbours|fans|users|customers) (?:say|says|said))\b",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\b(?:used to|formerly|previously|no longer|not any more|once (?:was|were)|in the past|"
    r"at one time|originally|former|ex-\w+)\b",
    re.IGNORECASE,
)
_SOME = r"some|few|several|many|most|certain|selected|half|part|not all|not every|only|nearly all"
_OF_SOME = re.compile(rf"(?:^|[,;:]\s)\W*(?:a\s)?(?P<some>{_SOME})\b", re.IGNORECASE)
_UNDER = re.compile(
    r"(?:^|[.;:]\s)\W*(?:with|without|for|during|under|upon|in case of|on request|after|before)\s"
    r"(?P<what>[^,.;]{1,80}),\s",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"\b(?P<link>for|with|without|during|within|under)\s(?P<what>[^,.;]{1,80})", re.IGNORECASE
)
_WITHOUT = re.compile(r"\b(?:without|free|even if)\b", re.IGNORECASE)
_SCOPED = frozenset(
    "cover insure protect refund reimburse accept allow permit treat exempt waive cancel".split()
)
_PERMITTED = re.compile(
    r"\b(?:is|are|be) (?:allowed|permitted|accepted|covered|insured|refunded|reimbursed|protected|"
    r"exempt|waived|free|forbidden|banned)\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\b(?P<link>for|with|without|during|within|under|from|in|on|at|by|against|over|above|after|"
    r"before)\s(?P<what>[^,.;]{1,80})",
    re.IGNORECASE,
)
"""What a permission or a cover is often bound to."""
_SLOT = re.compile(
    r"\b(?P<link>by|to|from|than|against|into)\s(?P<what>(?:(?!by\b|to\b|from\b|than\b|in\b|on\b|at\b|"
    r"for\b|and\b|or\b)[^\s,.;]+\s?){1,5})",
    re.IGNORECASE,
)
_TARIFF = re.compile(
    r"\b(?:in|with|under|on) (?:the |an? )?(?!room |ticket |standard )"
    r"(?P<what>[^\W\d_][\w-]* (?:rate|plan|package|fare|tariff|subscription|edition|tier|"
    r"membership))\b",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:all|every\w*|any\w*|each|free|the whole|no matter)\b", re.IGNORECASE)
_FEE = re.compile(r"\b(?:fees?|charges?|costs?|price|payment)\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:all|every\w*|always|each|must|never|guaranteed)\b", re.IGNORECASE)
_SURELY = re.compile(
    r"\b(?:all|every\w*|always|each|any\w*|must|never|guaranteed?|have to|has to|required?|"
    r"requires|needs?|mandatory|obliged|obligatory|compulsory|shall|no|none)\b",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|am|be|been|'s|'re)\b", re.IGNORECASE)
_NO_DENIAL = re.compile(
    r"\b(?:not\s+(?:only|just|merely|more|less|fewer|exceed\w*)|no\s+(?:matter|doubt|later|more|less|"
    r"fewer|longer)\s*(?:than)?|no\.\s*\d)",
    re.IGNORECASE,
)

_TENSES = {
    **dict.fromkeys("is are am do does 's 're".split(), "present"),
    **dict.fromkeys("was were did had".split(), "past"),
    **dict.fromkeys("will shall 'll won't".split(), "future"),
    **dict.fromkeys("has have".split(), "perfect"),
    **dict.fromkeys("can may must should might could would cannot".split(), "modal"),
}
_TENSED = re.compile(
    r"(?i)\b(?:is|are|am|do|does|was|were|did|had|will|shall|has|have|can|may|must|should|might|"
    r"could|would|cannot)(?=\b|n['’]t)|['’](?:s|re|ll)\b"
)
_OTHER_TIME = {
    "present": ({"past"}, {"future"}),
    "future": ({"past"},),
    "past": ({"future"}, {"present"}),
    "perfect": ({"future"},),
    "modal": ({"past"},),
}
"""What a question is about -> what an answer to it is not about."""

_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_BEING = frozenset("is are was were be been being".split())
_LINKS = frozenset("to from in on at for with of by and or".split())
_PEOPLE = ("people", "children", "men", "women", "staff")
_MOST_OTHER = 1


_SAID_BY_ITSELF = frozenset(
    analyse(
        "have include offer provide get take use need allow possible available there exist give"
        " make work contain come go find see able sell buy serve run keep hold way option any"
    ).words
)
"""Words that a question may hold and its answer need not."""


def withheld(
    statement: str, about: Stated, context: Context, *, by_words: bool = False
) -> str | None:
    """Return why the context does not plainly say a statement; None if it may well.

    Args:
        statement: What a yes says.
        about: Of its question.
        context: What may say it.
        by_words: Whether it is thought to say it for its words alone, so that it has to hold them.
    """
    terms = analyse(statement)
    words, values = words_in(statement), terms.distinct
    facts = [
        (fact, sentence.text)
        for sentence in context.select(statement).sentences
        for fact in _without_deeds(facts_of(sentence, context), about)
    ]
    told = [fact for fact, _ in facts]
    reasons: list[str | None] = []
    letters = {key for key in words if len(key) == 1 and key.isupper()}
    for near in nearest(words, values, told):
        if mixed(words, values, near, told) or not letters <= near.words | near.carried:
            reasons.append("the context says it of another")
            continue
        if _THAN.search(statement) and not words <= near.words:
            reasons.append("the context compares others")
            continue
        if by_words and not all(any(fact.holds(value) for fact in told) for value in values):
            reasons.append("the context lacks one of its values")
            continue
        held = near.words.union(near.carried, *(fact.words for fact in told))
        lacking = words - held - _SAID_BY_ITSELF - letters - _in_other_forms(statement, near.text)
        if by_words and lacking:
            reasons.append(f"the context lacks {min(lacking)!r}")
            continue
        whole = next(text for fact, text in facts if fact is near)
        whole = whole if sum(text == whole for _, text in facts) == 1 else near.text
        reasons.append(_less(statement, words, near, whole, about))
    return None if None in reasons else next(iter(reasons), None)


def _in_other_forms(statement: str, text: str) -> frozenset[str]:
    """Return the keys that a sentence has in another form, "wear" for "worn", or another word."""
    bases = {base_of(word.casefold()) for word in _WORD.findall(text)} - {None}
    return frozenset(
        key
        for word in _WORD.findall(statement)
        if base_of(word.casefold()) in bases
        for key in analyse(word.casefold()).words
    ) | _said_alike(text)


_ALIKE = [
    frozenset(words.split())
    for words in (
        "mandatory required requires require obligatory compulsory necessary must obliged needed",
        "allowed permitted permit permits allow allows may can welcome",
        "forbidden prohibited banned",
        "buy bought purchase purchased",
        "cost costs price fee charge charged",
        "start starts begin begins started began",
        "end ends finish finishes",
        "close closes closed shut shuts",
        "ship ships deliver delivers send sends sent",
        "big large",
        "child children kid kids",
        "staff employee employees workers",
        "fix fixed repair repaired",
        "refund refunded reimburse reimbursed",
        "get gets receive receives obtain",
        "complimentary free",
    )
]


def _said_alike(text: str) -> frozenset[str]:
    """Return the keys of words that say the same as some of a text."""
    own = {word.casefold() for word in _WORD.findall(text)}
    found = (word for group in _ALIKE if group & own for word in group)
    return frozenset(key for word in found for key in analyse(word).words)


def _without_deeds(facts: Sequence[Fact], about: Stated) -> list[Fact]:
    """Return facts that do not speak of a verb only because the sentence before does."""
    done = {word for word in (about.verb, past_of(about.verb)) if word}
    keys = frozenset(key for word in done for key in analyse(word).words)
    return [replace(fact, carried=fact.carried - keys) for fact in facts]


def _less(
    statement: str, words: frozenset[str], near: Fact, whole: str, about: Stated
) -> str | None:
    denied = [NEGATIVE.search(_NO_DENIAL.sub("", text)) is not None for text in (statement, whole)]
    if denied[0] != denied[1]:
        more = 0 if language(whole) == "en" and whole.isascii() else _MOST_OTHER
        alike = words <= near.words and len(near.words - words) <= more
        hedged = any(p.search(whole) for p in (_CONDITION, _UNSURE, _EVERY, _TOLD, _OF_SOME))
        return DENIED if alike and not hedged else "the context does not say it plainly"
    return next(iter(_limits(statement, words, near, whole, about)), None)


def _limits(
    statement: str, words: frozenset[str], near: Fact, whole: str, about: Stated
) -> Iterator[str]:
    """Yield what of a sentence says less than a statement."""
    yield from _hedges(statement, whole)
    under = _UNDER.search(whole)
    cases = [*_TARIFF.finditer(near.text), *([under] if under is not None else [])]
    if about.verb in _SCOPED or _PERMITTED.search(statement):
        cases += _WHERE.finditer(near.text)
    elif _IS.search(statement):
        cases += _FOR.finditer(near.text)
    for case in cases:
        if _narrows(case["what"], words | near.carried):
            yield f"the context says it of a case: {case[0]!r}"
    if _of_another_time(statement, near.text, about):
        yield "the context says it of another time"
    if _of_a_kind(about, words, near.text):
        yield "the context says it of a kind only"
    if _in_another_slot(statement, near.text):
        yield "the context says it in another order"
    if about.verb and _crossed(about, words, near.text):
        yield "the context says it the other way round"


def _hedges(statement: str, whole: str) -> Iterator[str]:
    """Yield the words of a sentence that make less of it."""
    for pattern in (_CONDITION, _UNSURE, _TOLD, _FORMER):
        for found in pattern.finditer(whole):
            possible = _POSSIBLE.fullmatch(found[0]) and _POSSIBLE.search(statement)
            if not possible and not _also(found[0], statement):
                yield f"the context says {found[0]!r}"
    some = _OF_SOME.search(whole)
    if some is not None and not _also(some["some"], statement):
        yield f"the context says it of {some['some']!r}"
    every = _EVERY.search(statement)
    if every is not None and not _SURELY.search(whole):
        yield f"the context does not say {every[0]!r}"
    if _WITHOUT.search(statement) and not (_WITHOUT.search(whole) or NEGATIVE.search(whole)):
        yield "the context does not say that it is so without"


def _also(word: str, statement: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", statement, re.IGNORECASE) is not None


def _narrows(phrase: str, words: frozenset[str]) -> bool:
    """Whether a phrase names a case that a statement does not."""
    terms = analyse(phrase)
    free = _ALL.search(phrase) or _FEE.search(phrase)
    return bool(terms.words) and not words & set(terms.words) and not free


def _of_another_time(statement: str, text: str, about: Stated) -> bool:
    if language(text) != "en":
        return False
    mine = _tenses(statement)
    theirs = _tenses(text)
    if about.verb:
        tokens = [word.casefold() for word in _WORD.findall(text)]
        forms = {t for t in tokens if base_of(t) == about.verb}
        past = bool(forms) and all(is_past(t) and t != about.verb for t in forms)
        asked_past = is_past(_verb_in(statement, about))
        if _verb_in(statement, about) in forms:
            return False
        if not theirs and forms:
            return past != asked_past and _verb_in(statement, about) not in forms
    own = next(iter(mine), None)
    if own is None:
        own = "past" if about.verb and is_past(_verb_in(statement, about)) else "present"
    return bool(theirs) and any(set(theirs) <= other for other in _OTHER_TIME[own])


def _verb_in(statement: str, about: Stated) -> str:
    return next(
        (w for w in map(str.casefold, _WORD.findall(statement)) if base_of(w) == about.verb),
        about.verb,
    )


def _tenses(text: str) -> list[str]:
    found = (match[0].lower().replace("’", "'") for match in _TENSED.finditer(text))
    return [_TENSES[word] for word in found]


def _of_a_kind(about: Stated, words: frozenset[str], text: str) -> bool:
    """Whether a sentence speaks of "premium members" where a statement speaks of "members"."""
    noun = about.subject.rpartition(" ")[2]
    plural = (noun.endswith("s") and not noun.endswith("ss")) or noun.casefold() in _PEOPLE
    if not about.generic or not plural:
        return False
    found = list(re.finditer(rf"(?:([^\W\d_][\w-]*)\s)?\b{re.escape(noun)}\b", text, re.IGNORECASE))
    kinds = [match[1] for match in found]
    return bool(kinds) and all(
        kind
        and (keys := analyse(kind.casefold()).words)
        and not words & set(keys)
        and not _ALL.fullmatch(kind)
        and base_of(kind.casefold()) is None
        for kind in kinds
    )


def _in_another_slot(statement: str, text: str) -> bool:
    """Whether what stands after a preposition stands elsewhere in a sentence that has it too."""
    theirs: dict[str, set[str]] = {}
    for slot in _SLOT.finditer(text):
        theirs.setdefault(slot["link"].lower(), set()).update(analyse(slot["what"]).words)
    held = set(analyse(text).words)
    return any(
        (own := set(analyse(slot["what"]).words) & held)
        and (other := theirs.get(slot["link"].lower()))
        and not own & other
        for slot in _SLOT.finditer(statement)
    )


def _crossed(about: Stated, words: frozenset[str], text: str) -> bool:
    """Whether what does it stands behind the verb, and that to which it is done before it."""
    tokens = [word.casefold() for word in _WORD.findall(text)]
    keys = [stem(token) if token.isascii() else token for token in tokens]
    verb = stem(about.verb)
    at = next((n for n, t in enumerate(tokens) if keys[n] == verb or base_of(t) == about.verb), 0)
    if not at:
        return False
    doers = set(analyse(about.subject).words)
    others = words - doers - {verb}
    behind = {n for n, key in enumerate(keys) if key in doers}
    passive = is_participle(tokens[at]) and not _BEING.isdisjoint(tokens[max(0, at - 2) : at])
    by = next((n for n in range(at, min(at + 4, len(tokens))) if tokens[n] == "by"), 0)
    if passive and by and behind:
        end = next((n for n in range(by + 1, len(tokens)) if tokens[n] in _LINKS), len(tokens))
        return behind.isdisjoint(range(by, end))
    before = any(key in others for key in keys[:at])
    return bool(behind) and min(behind) > at and before
