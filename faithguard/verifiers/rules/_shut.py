"""What is closed can neither be used nor visited, and is part of nothing.

In: a scene. Out: a veto where a claim says of a thing that one can use it, or that it is open,
included or free, and all that the context says of it is that it is closed or out of order; else
None. English.
"""

from __future__ import annotations

import re

from faithguard.types import Verdict
from faithguard.verifiers.rules._reading import read
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["shut"]

_THING = r"(?:(?:the|a|an|our|your|its) )?(?P<thing>[a-z][\w'’-]*(?: [\w'’-]+){0,3}?)"
_NOW = r"(?:(?:also|now|currently|still|always|fully) )?"
_STATE = r"(?:open|available|accessible|usable|included|free|offered|in (?:use|service))"
_SAYS = tuple(
    re.compile(rf"(?i)(?:.*[?!.] )?{form}[.!]?")
    for form in (
        rf"(?:you|we|guests|visitors|members|everyone) (?:can|may|could) {_NOW}(?:use|visit|enter|"
        rf"access|enjoy)(?:\s?:)? {_THING}",
        rf"{_THING} (?:is|are) {_NOW}{_STATE}(?: (?:today|now|for (?:guests|visitors|members)|in the "
        r"(?:price|rate|fee)))?",
        rf"{_STATE}\s?: {_THING}",
    )
)
_SHUT = re.compile(
    rf"(?i){_THING} (?:is|are|has been|have been|remains?|stays?) (?:(?:currently|now|temporarily|"
    r"permanently|still) )?(?:closed|shut(?: down)?|out of (?:order|service|use)|unavailable|not "
    r"(?:currently )?(?:available|open|in (?:use|service))|broken)"
    r"(?: (?:today|now|at present|at the moment|for (?:repairs?|renovation|maintenance)))?[.!]?"
)


def shut(scene: Scene, name: str) -> Verdict | None:
    """Veto that a thing can be used, is open or included where it is closed."""
    text = scene.reading.text.strip()
    said = next((found for form in _SAYS if (found := form.fullmatch(text))), None)
    thing = read(said["thing"]).keys if said is not None else frozenset[str]()
    if not thing:
        return None
    numbers = frozenset.intersection(*(frozenset(scene.pages.holders(key)) for key in thing))
    against: Near | None = None
    for number in sorted(numbers):
        closed = _SHUT.fullmatch(scene.all[number].text.strip())
        if closed is None or read(closed["thing"]).keys != thing:
            return None  # more is said of it
        against = against or scene.at(number)
    if against is None:
        return None
    return contradiction(scene, name, "the context says that it is closed", against)
