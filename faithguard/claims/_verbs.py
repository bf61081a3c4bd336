"""Closed lists of verbs, and what they tell.

In: words. Out: whether and where a finite verb stands among them. The lists are short on
purpose: an unknown verb only means that nothing is split.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MODALS = "can could may might must shall should will would cannot"
_BE = "is are was were has have had does did do"
_NEGATED = (
    "isn't aren't wasn't weren't hasn't haven't hadn't doesn't didn't don't can't couldn't won't "
    "wouldn't shouldn't mustn't"
)
_THIRD = (
    "includes requires provides contains allows enables became becomes employs owns belongs "
    "consists remains lies lives features depends applies ensures holds lasts serves receives "
    "produces creates offers supports costs covers runs uses needs works charges starts ends "
    "plays helps gives takes makes gets keeps shows means stands begins opens closes comes goes "
    "weighs measures reaches expires exceeds differs returns sends stores accepts grants handles"
)
_PAST = (
    "won wrote founded opened closed received joined moved led began grew died made introduced "
    "launched acquired released published lost served became ran sold bought built discovered"
)
_PLURAL = "include require provide contain allow cost last apply"
MODALS = frozenset(_MODALS.split())
FINITE = frozenset(f"{_MODALS} {_BE} {_THIRD} {_PAST} {_PLURAL}".split())
"""Verbs that may open the second part of "X ... and has ..."."""
# Forms that are nouns, base forms or participles as well: they need a plain object after them.
UNSURE = frozenset(
    "features covers offers supports costs runs uses needs works charges starts ends plays helps "
    "gets shows means stands returns stores grants handles measures holds opens closes have do "
    f"founded serves lies lives begins exceeds lasts {_PLURAL} {_PAST}".split()
) - {"became", "won", "wrote", "began", "grew"}
_OTHERS = (
    "'s 're says said states stated mentions describes explains go goes went rose fell increased "
    "decreased won became happened exist exists need want lets let lies eat eats drink drinks "
    # de, nl
    "ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können muss müssen "
    "soll darf gibt kostet beträgt gilt gelten liegt enthält umfasst bietet dauert heißt weiß "
    "werd zijn heeft hebben kan moet kost duurt bevat biedt wordt "
    # fr, it, es, pt
    "est sont était étaient sera a ont avait peut peuvent doit doivent coûte comprend contient "
    "dure è sono era erano ha hanno può possono deve costa comprende contiene dura es son fue "
    "fueron está están tiene tienen puede pueden debe cuesta incluye contiene hay ofrece é são "
    "foi foram tem têm pode podem custa inclui contém oferece "
    # tr
    "var yok vardır edilir değildir olur içerir sunar "
    # ar, hi
    "كان كانت هو هي يبلغ تبلغ هي है हैं था थे थी होता"
)
_ANY = frozenset(f"{_MODALS} {_BE} {_NEGATED} {_THIRD} {_PAST} {_PLURAL} {_OTHERS}".split())
# Prepositions and articles of one language that are verbs of another.
_WEAK = frozenset({"a", "era", "son", "war", "last", "cost", "dure", "made", "founded", "let"})
_PRONOUNS = frozenset({"it", "he", "she", "that", "there", "they", "we", "you", "what", "here"})
# Vowel signs are no \\w, and yet part of a word.
_LETTER = r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f])"
_WORD = re.compile(rf"{_LETTER}+(?:['’]{_LETTER}+)?|'(?:s|re)\b")
_UNSPACED = re.compile(
    r"です|ます|ました|でした|である|だった|した[。]?$|いる|ある|ない|は.+が|是|有|在|为|為|"
    r"可以|需要|包括|不|了|will"
)


@lru_cache(maxsize=4_096)
def has_verb(text: str) -> bool:
    """Say whether a verb of the closed lists stands in the text."""
    return verb_at(text) is not None or _UNSPACED.search(text) is not None


def verb_at(text: str) -> re.Match[str] | None:
    """Return the first verb of the closed lists, in the first 2000 characters."""
    for match in _WORD.finditer(text[:2000]):
        word = match[0].replace("’", "'").casefold()
        if word in _WEAK or match[0] == "May":  # the month
            continue
        short = word.endswith(("'s", "'re")) and word.split("'")[0] in _PRONOUNS
        if short or word in _ANY:
            return match
    return None
