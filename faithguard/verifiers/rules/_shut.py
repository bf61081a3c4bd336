"""What is closed can neither be used nor visited, and what nothing denies is not denied.

In: a scene. Out: a veto where a claim says of a thing that one can use it, or that it is open,
included or free, and all that the context says of it is that it is closed or out of order; where a
claim says that it is not, a grant by the same words, and a veto where no sentence about it denies,
bars or prices anything. Else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from faithguard.types import Verdict
from faithguard.verifiers._statement import NEGATIVE
from faithguard.verifiers.rules._reading import read
from faithguard.verifiers.rules._scene import Scene, contradiction, grant, unmentioned

__all__ = ["shut"]

_THING = r"(?:(?:the|a|an|our|your|its) )?(?P<thing>[a-z][\w'’-]*(?: [\w'’-]+){0,3}?)"
_NOW = r"(?:(?:also|now|currently|still|always|fully) )?"
_OPEN = r"(?:open|available|accessible|usable|in (?:use|service))"
_STATE = rf"(?:{_OPEN}|included|free|offered|provided)"
_WE = r"(?:you|we|guests|visitors|members|everyone)"
_USE = r"(?:use|visit|enter|access|enjoy)(?:\s?:)?"
_OF_IT = re.compile(r"(?i)\b(?:included|free|offered|provided)\b")
"""What may be said of a thing that is closed too, but not for that."""
_WHEN = r"(?: (?:today|now|for (?:guests|visitors|members)|in the (?:price|rate|fee)))?"
_SAYS = tuple(
    re.compile(rf"(?i)(?:.*[?!.] )?{form}[.!]?")
    for form in (
        rf"{_WE} (?:can|may|could) {_NOW}{_USE} {_THING}",
        rf"{_THING} (?:is|are) {_NOW}{_STATE}{_WHEN}",
        rf"{_STATE}\s?: {_THING}",
    )
)
_DENIES = re.compile(
    rf"(?i){_THING} (?:(?:is|are) {_NOW}(?:not|no longer) {_NOW}(?:(?P<shut>{_OPEN})|{_STATE})|"
    rf"(?:isn|aren)['’]t {_NOW}(?:(?P<closed>{_OPEN})|{_STATE})){_WHEN}[.!]?"
)
_SHUT = re.compile(
    rf"(?i){_THING} (?:is|are|has been|have been|remains?|stays?) (?:(?:currently|now|temporarily|"
    r"permanently|still) )?(?:closed|shut(?: down)?|out of (?:order|service|use)|unavailable|not "
    r"(?:currently )?(?:available|open|in (?:use|service))|broken)"
    r"(?: (?:today|now|at present|at the moment|for (?:repairs?|renovation|maintenance)))?[.!]?"
)
_BARS = re.compile(
    r"(?i)\b(?:clos\w+|shut\w*|out of|un\w+|broken|bann?\w*|forb\w+|prohib\w+|exclu\w+|except\w*|"
    r"without|extra|cost\w*|fees?|charg\w+|pay\w*|paid|pric\w+|add\w*|only|until|former\w*|used to|"
    r"end\w*|stop\w*|discontinu\w+|remov\w+|cancel\w*|refus\w+|lack\w*|lost|miss\w+|replac\w+|"
    r"require\w*|separate\w*|optional|from|earlier|previous\w*)\b|\d|[€$£]"
)
"""What may say that a thing is not there, or not for nothing."""
_STANDS_FOR = re.compile(r"(?i)\W*(?:it|they|this|that|these|those|both|all|none|each|such|here)\b")


def shut(scene: Scene, name: str) -> Verdict | None:
    """Settle whether a thing can be used, is open or included, by what says that it is closed."""
    text = scene.reading.text.strip()
    denial = _DENIES.fullmatch(text)
    said = denial or next((found for form in _SAYS if (found := form.fullmatch(text))), None)
    thing = read(said["thing"]).keys if said is not None else frozenset[str]()
    if not thing:
        return None
    numbers = sorted(
        frozenset[int].intersection(*(frozenset(scene.pages.holders(key)) for key in thing))
    )
    closed = all(_is_shut(scene.all[number].text, thing) for number in numbers)
    if denial is None:
        if not numbers or not closed:
            return None  # nothing, or more, is said of it
        if _OF_IT.search(text):
            return unmentioned(scene, name, "the context says no more of it than that it is closed")
        near = scene.at(numbers[0])
        return contradiction(scene, name, "the context says that it is closed", near)
    if numbers and closed and (denial["shut"] or denial["closed"]):
        return grant(scene, name, "the context says that it is closed", [scene.at(numbers[0])])
    if scene.stands or _barred(scene, thing):
        return None
    return unmentioned(scene, name, "the context denies nothing of it")


def _is_shut(text: str, thing: frozenset[str]) -> bool:
    found = _SHUT.fullmatch(text.strip())
    return found is not None and read(found["thing"]).keys == thing


def _barred(scene: Scene, thing: frozenset[str]) -> bool:
    """Whether a sentence about a thing, or one that goes on from it, may say that it is not so."""
    about = {number for key in thing for number in scene.pages.holders(key)}
    return not about or any(_may_bar(scene, number, about) for number in about)


def _may_bar(scene: Scene, number: int, about: set[int]) -> bool:
    texts: Sequence[str] = [scene.all[number].text]
    if number + 1 < len(scene.all) and number + 1 not in about:
        after = scene.all[number + 1].text
        texts = [*texts, after] if _STANDS_FOR.match(after) else texts
    return any(NEGATIVE.search(text) or _BARS.search(text) for text in texts)
