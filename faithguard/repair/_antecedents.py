"""What a kept sentence means by "it", or by "there", once the sentence before it is gone.

In: a layout, the units that go, and the claims. Out: for each kept sentence that leans on what
goes, whether it may stay as it is, the subject that the evidence names in the place of its
pronoun, or that it cannot stand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from faithguard.repair._edits import Edit
from faithguard.repair._layout import Layout, Unit
from faithguard.types import Claim, Evidence

__all__ = ["is_replaceable", "leaning", "leans"]

_PERSONAL_WORDS = (
    "it they he she|er sie|il elle ils elles|él ella ellos ellas|egli lui essa essi|ele ela eles "
    "elas|hij zij ze"
)
_POSSESSIVE_WORDS = "its their his her|sein seine ihr ihre|son sa ses leur leurs|su sus"
_POINTING_WORDS = (
    "this that these those such both neither|dies diese dieser dieses beide|cela ceci ce cet cette "
    "ces|esto eso este esta estos estas|questo questa questi queste|isto este esta|dit deze"
)
_SO_WORDS = (
    "therefore thus hence consequently otherwise so|daher deshalb deswegen somit sonst|donc ainsi "
    "sinon|entonces por eso|quindi perciò|portanto|daarom dus"
)
_THEN_WORDS = (
    "then afterwards thereafter|dann danach|alors ensuite|después luego|allora poi dopo|"
    "então|daarna"
)


def _opening(words: str) -> re.Pattern[str]:
    forms = "|".join(sorted(re.split(r"[ |]", words), key=len, reverse=True))
    return re.compile(rf"(?:{forms})(?![\w'’-])", re.IGNORECASE)


_PERSONAL = _opening(_PERSONAL_WORDS)
_DEPENDENT = re.compile(
    "|".join(
        _opening(words).pattern
        for words in (_POSSESSIVE_WORDS, _POINTING_WORDS, _SO_WORDS, _THEN_WORDS)
    ),
    re.IGNORECASE,
)
# "It is possible to", "Es gibt", "Il y a": nobody is meant
_NOBODY = re.compile(
    r"it(?: is|'s|’s| was) (?:also )?(?:\w+ly )?(?:possible|necessary|important|recommended|best|"
    r"likely|worth|raining|clear|true)\b|il (?:y a|est|faut)\b",
    re.IGNORECASE,
)
# "There is a pool" points to no place, "such as" and "both A and B" to what comes behind them
_POINTERS = re.compile(
    r"\b(?:(?P<alone>(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )"
    r"there(?! (?:is|are|was|were|will|would|can|may|might|must|should|has|have|had|exists?)\b|"
    r"['’])|this(?! (?:year|month|week|morning|afternoon|evening|time|summer|winter|spring|autumn|"
    r"means)\b)|"
    r"such(?! (?:as|an? \w+ that)\b)|(?:do|does|did|doing|done) so(?! (?:that|much|many|far)\b)|"
    r"dort|dorthin|solche[mnrs]?|là|allí|ahí)|"
    r"these|those(?! (?:who|with|without|under|over|aged|that|of|in|on|from|\w+(?:ing|ed))\b)|"
    r"both(?! (?:\S+ ){1,6}and\b)|then|the (?:latter|former)|beides|letztere[mnrs]?)(?![\w'’-])",
    re.IGNORECASE,
)
"""What points back from within a sentence; two words joined by "and" are not meant by some."""
_OWN = re.compile(
    r"[,;:]|\s[–—-]\s|\b(?:if|unless|when|whenever|where|wherever|while|because|since|although|"
    r"though|once|until|after|before|who|which|that|wenn|falls|wo|weil|si|quand|où|cuando|donde)\b",
    re.IGNORECASE,
)
"""What stands between a clause and another one of the same sentence, that may be meant."""
_ASKS = re.compile(r"[?？]\W*\Z")
_JOINED = re.compile(r"\b(?:and|or|und|oder|et|ou|y|e|en)\b", re.IGNORECASE)
_MARKS = re.compile(r"[\s*_`\"“”'(\[]*")
_WORD = re.compile(r"[\w'’-]+")
_BETWEEN = re.compile(
    r"(?:also|too|even|still|auch|aussi|également|también|anche|também|ook)$", re.I
)
_LONGEST_SUBJECT = 8
"""In words."""


def leans(text: str) -> bool:
    """Say whether a text begins with a word that means something said before it, or points back."""
    at = _end(_MARKS, text)
    begins = _PERSONAL.match(text, at) or _DEPENDENT.match(text, at)
    return (begins is not None and not _NOBODY.match(text, at)) or _points(text, at)


def is_replaceable(text: str) -> bool:
    """Say whether all that leans in a text is a pronoun at its beginning: a name can replace it."""
    at = _end(_MARKS, text)
    personal = _PERSONAL.match(text, at)
    return personal is not None and not _points(text, personal.end())


def _points(text: str, at: int) -> bool:
    """Say whether a sentence points back to another one: "Flowers are not allowed there."."""
    pointer = None if _ASKS.search(text) else _POINTERS.search(text, at)
    if pointer is None or _OWN.search(text, at, pointer.start()):
        return False
    return pointer["alone"] is not None or not _JOINED.search(text, at, pointer.start())


def leaning(
    layout: Layout,
    gone: Collection[int],
    claims: Mapping[int, Sequence[Claim]],
) -> Iterator[tuple[Unit, Unit, Edit | None]]:
    """Yield the kept units that lean on one that goes, and cannot stay as they are.

    Args:
        layout: Of the answer.
        gone: The indices of the units that go.
        claims: The claims of each unit, by its index.

    Yields:
        The unit, the one that it leans on, and what is to stand in the place of its pronoun;
        None where it cannot stand.
    """
    for unit in layout.units[1:]:
        before = layout.units[unit.index - 1]
        if unit.index in gone or before.index not in gone or not _follows(unit, before):
            continue
        if not leans(layout.text(unit)):
            continue
        at = unit.start + _end(_MARKS, layout.text(unit))
        personal = _PERSONAL.match(layout.answer, at, unit.end)
        if personal is None or not is_replaceable(layout.text(unit)):
            yield unit, before, None
            continue
        own = claims.get(unit.index, ())
        earlier = _kept_before(layout, unit, gone)
        if earlier is not None and _same_source(own, claims.get(earlier.index, ())):
            continue  # now it means what the evidence of both is about
        subject = _subject(layout.answer[personal.end() : unit.end], own)
        edit = None if subject is None else Edit(personal.start(), personal.end(), *subject)
        yield unit, before, edit


def _end(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0


def _follows(unit: Unit, before: Unit) -> bool:
    """Say whether a unit is the next sentence of the same text."""
    if unit.kind != "prose" or before.kind != "prose" or unit.level != before.level:
        return False
    return unit.block == before.block or not (unit.item or before.item)


def _kept_before(layout: Layout, unit: Unit, gone: Collection[int]) -> Unit | None:
    """Return the nearest kept sentence before a unit, in the same text."""
    for number in range(unit.index - 1, -1, -1):
        other, following = layout.units[number], layout.units[number + 1]
        if not _follows(following, other):
            return None
        if number not in gone:
            return other
    return None


def _same_source(one: Sequence[Claim], other: Sequence[Claim]) -> bool:
    """Say whether two sentences rest on one passage."""
    passages = [
        {e.passage for claim in claims for e in claim.evidence[:1]} for claims in (one, other)
    ]
    return bool(passages[0] & passages[1])


def _subject(rest: str, claims: Sequence[Claim]) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return what stands before the verb of a sentence in its evidence."""
    verb = next((m[0] for m in _WORD.finditer(rest) if not _BETWEEN.match(m[0])), None)
    if verb is None:
        return None
    for claim in claims:
        for evidence in claim.evidence:
            words = list(_WORD.finditer(evidence.quote))
            for place, match in enumerate(words[: _LONGEST_SUBJECT + 1]):
                if match[0].casefold() != verb.casefold():
                    continue
                subject = evidence.quote[: match.start()].strip()
                named = place and not _PERSONAL.match(subject) and not _DEPENDENT.match(subject)
                if named and _WORD.fullmatch(subject.replace(" ", "")):
                    return subject, (evidence,)
                break
    return None
