"""A sentence -> a shorter one: what it entails, or what says more than it does.

In: a sentence and a source of chance. Out: the shorter sentence and its target, or None where
nothing can be left out. Answers keep to the wording of their context and leave parts of it out; an
aside, an apposition, a place or a member of a list may go, a condition, a negation, a doubt
and what someone else only says may not. Where it cannot be told, nothing is made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from faithguard.claims import LocalClaims
from faithguard.train._rows import Target

__all__ = ["shorter"]

_Cut: TypeAlias = Callable[[str, random.Random], str | None]

_FEWEST = 4
"""Words of what is left."""

# With one of these in a sentence, a part that looks free may bear its truth.
_BOUND = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n't|few|fewer|little|"
    r"hardly|rarely|seldom|only|just|all|every|each|any|both|always|most|if|unless|except|"
    r"excluding|until|provided|whether|when|whenever|where|wherever|whose|would|could|may|might|"
    r"should|must|than|as|like|or|between|together|respectively|total|how|what|why|but|although|"
    r"though|however|instead|because|so|said|says|according|claims?|claimed|believed?s?|thinks?|"
    r"thought|first|last|second|third|\w+est)\b|[\"“”?!:;]|``|''",
    re.IGNORECASE,
)
_BEARS = re.compile(
    r"\b(?:if|unless|except|excluding|until|provided|only|not|no|never|when|whether|otherwise|"
    r"but|than|as|or|that|said|says|told|according|respectively)\b|n't\b",
    re.IGNORECASE,
)


_STRANGE = re.compile(r"[\"“”#`|]|http|\.\.\.|''|^\W")


def shorter(sentence: str, rng: random.Random, *, true: bool) -> tuple[str, Target] | None:
    """Return a shorter sentence that the sentence entails, or one that it does not.

    Args:
        sentence: Whole, with its stop.
        rng: What is left to chance.
        true: Whether it is to be entailed.
    """
    if _STRANGE.search(sentence) or not sentence.endswith("."):
        return None
    cuts = _SAFE if true else _UNSAFE
    target: Target = "e" if true else "nc"
    for cut in rng.sample(cuts, len(cuts)):
        left = cut(sentence, rng)
        if left is not None and len(left.split()) >= _FEWEST and left != sentence:
            return _tidy(left), target
    return None


def _tidy(text: str) -> str:
    """Return a sentence with its capital and its stop."""
    text = re.sub(r"\s+([,.;])", r"\1", " ".join(text.split())).strip(" ,;")
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!")) else f"{text}."


# -- what may go ------------------------------------------------------------------------------

_ASIDES = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
_APPOSITION = re.compile(
    r"(?<=[a-z]), (?:an?|the|which|who|also known as|born|located|founded|named) "
    r"[^,.;:()]{3,90}, (?=(?:is|are|was|were|has|had|have|[a-z]+ed|"
    r"[a-z]+s (?:the|an?|in|at|to|on|its|his|her))\b)"
)
_LEADING = re.compile(
    r"^(?:In|On|At|During|After|Before|By|From|Since|Throughout|Following|Near|For) [^,;:]{3,60}, "
    r"(?=(?:[A-Z]|the |an? |it |he |she |they |its |his |her |their ))"
)
_CLAUSE = re.compile(
    r"(?<=\w),? (?:which|who|where|while|including|with|making|leading|causing|allowing|resulting|"
    r"followed by|starring|directed by|written by|located|based|known for|named after|along with|"
    r"after|before|during|since|alongside|such as)\b[^;:?!]{3,150}[.]$"
)
_AFTER_COMMA = re.compile(r"(?<=\w), [^;:?!,]{6,150}[.]$")
_PLACE = re.compile(
    r"(?<=[a-z\d]) (?:in|on|at|near|by|with|during|from|for|after|under|through|against|alongside|"
    r"within|across|into|over) "
    r"(?:[\w’'$€£%.-]+ ){0,5}[\w’'$€£%-]+[.]$"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|had|have|will|can|does|did|do|became|made|won|took|went|began|met|"
    r"[a-z]{3,}ed|gives?|takes?|costs?|opens?|closes?|runs?|holds?|serves?|lasts?|includes?|stars?|"
    r"lies|stands|plays?|works?|lives?|needs?|uses?|provides?|offers?|keeps?|led|left|held|built|"
    r"wrote|sold|bought|gave|got|came|fell|rose|grew|ran|set|cut|put)\b"
)
_NAMED = r"[A-Z][\w’'-]*(?: (?:[A-Z]\.|(?:of|de|van|der) )? ?[A-Z][\w’'-]*)*"
_NAMES = re.compile(rf"({_NAMED}), ({_NAMED}),? and ({_NAMED})(?=[.]$| (?:in|at|on|for|to|as)\b)")


def _free(sentence: str) -> bool:
    return _BOUND.search(sentence) is None


def _whole(left: str) -> str | None:
    """Return what is left if it still has a verb, and does not end in the middle."""
    words = left.rstrip(" .,").split()
    if not words or _FINITE.search(left) is None or words[-1].lower() in _OPEN:
        return None
    return left


_OPEN = frozenset(
    "the a an of in on at to for by with and or from is are was were be been being his her its "
    "their that this which who as into has had have not than called named known made".split()
)


def _aside(sentence: str, _: random.Random) -> str | None:
    found = _ASIDES.findall(sentence)
    if not found or _BEARS.search(" ".join(found)):
        return None
    return _whole(_ASIDES.sub("", sentence))


def _apposition(sentence: str, _: random.Random) -> str | None:
    match = _APPOSITION.search(sentence)
    if match is None or _BEARS.search(match[0]):
        return None
    return f"{sentence[: match.start()]} {sentence[match.end() :]}"


def _leading(sentence: str, _: random.Random) -> str | None:
    match = _LEADING.match(sentence)
    if match is None or not _free(sentence) or _PRESENT.search(sentence):
        return None
    return _whole(sentence[match.end() :])


def _clause(sentence: str, rng: random.Random) -> str | None:
    """Leave out what is added at the end, behind a comma or not."""
    found = [m for p in (_CLAUSE, _AFTER_COMMA) for m in p.finditer(sentence)]
    found = [m for m in found if not _BEARS.search(m[0])]
    if not found or _BEARS.search(sentence[: found[0].start()]):
        return None
    match = rng.choice(found)
    left = sentence[: match.start()]
    if match[0][0] != "," and (not _free(sentence) or _PRESENT.search(sentence) or _cut(left)):
        return None  # it restricts or completes what stands before it
    if _listed(left) or ("," in left and _FINITE.match(match[0].lstrip(", "))):
        return None
    return _whole(left)


def _place(sentence: str, rng: random.Random) -> str | None:
    """Leave out where, when or with whom something once was, at the end of its sentence."""
    match = _PLACE.search(sentence)
    if match is None or not _free(sentence) or _PRESENT.search(sentence):
        return None
    left = sentence[: match.start()]
    if rng.random() < 0.3 and (again := _PLACE.search(f"{left}.")) is not None:
        left = left[: again.start()]
    verb = _FINITE.search(left)
    # something must stand behind the verb, or the verb may have lost what it needs
    more = verb is not None and len(left[verb.end() :].split()) >= 2
    return _whole(left) if more and not _cut(left) else None


_PRESENT = re.compile(r"\b(?:on|at|during) (?:\w+days|weekdays|weekends|holidays|nights?)\b")


def _cut(left: str) -> bool:
    """Say whether what is left ends in a participle that waits for what went."""
    words = left.split()
    return words[-1].endswith(("ed", "ing")) and not {"was", "were", "been"} & {*words[-3:-1]}


def _listed(left: str) -> bool:
    """Say whether what is left may be the head of a list that went."""
    return left.count(",") > 0 and left.rsplit(",", 1)[1].count(" ") < 4


def _member(sentence: str, rng: random.Random) -> str | None:
    """Leave names of a list out."""
    match = _NAMES.search(sentence)
    if match is None or match.start() == 0 or not _free(sentence):
        return None
    kept = sorted(rng.sample((1, 2, 3), rng.choice((1, 2))))
    said = " and ".join(match[n] for n in kept)
    return f"{sentence[: match.start()]}{said}{sentence[match.end() :]}"


_SPLITTER = LocalClaims()


def _one_clause(sentence: str, rng: random.Random) -> str | None:
    """Take one of the claims that a guard would find in the sentence."""
    if not _free(sentence.replace(" but ", " and ")):
        return None
    parts = [claim.text for claim in _SPLITTER.extract(sentence) if claim.kind == "fact"]
    if len(parts) < 2:
        return None
    part = rng.choice(parts)
    return part if len(part) < len(sentence) else None


_SAFE: Sequence[_Cut] = (
    _aside,
    _apposition,
    _leading,
    _clause,
    _clause,
    _place,
    _member,
    _one_clause,
    _one_clause,
)


# -- what may not -----------------------------------------------------------------------------

_CONDITION = re.compile(
    r",? (?:if|unless|except|provided that|as long as|only if|only when|only for|only on|"
    r"but only|but not|apart from|excluding|assuming)\b[^.;]{3,}[.]$",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:wonder|determin|ask|know|see|decid|check|as|so|even|what|but)\w*$")
_CONDITION_FIRST = re.compile(r"^(?:If|Unless|Except|Provided that|Assuming) [^,;]{3,120}, ")
_DOUBT = re.compile(
    r"\b(?:may|might|could) (?:also )?(?:have been|be)\b|"
    r"\b(?:is|are|was|were) (?:not|never|thought to be|believed to be|said to be|rumou?red to be|"
    r"expected to be|supposed to be|likely to be|alleged to be|nearly|almost)\b"
)
_MODALS = ("may", "might", "could")
_SOME = re.compile(
    r"^(?:Some|Few|Many|Most|Several|A few|Not all) "
    r"(?!of|have|has|are|were|is|was|had|do|can)(?=[a-z])"
)
_SAYS = re.compile(
    r"^[^,;]{3,60}\b(?:claim|believe|think|suspect|allege|hope|argue|fear|deny|doubt|suggest)"
    r"(?:s|d|ed|ies|ied)? that "
)


def _condition(sentence: str, _: random.Random) -> str | None:
    match = _CONDITION.search(sentence)
    left = "" if match is None else sentence[: match.start()]
    return None if _ASKS.search(left) else _whole(left)


def _condition_first(sentence: str, _: random.Random) -> str | None:
    match = _CONDITION_FIRST.match(sentence)
    return None if match is None else _whole(sentence[match.end() :])


def _doubt(sentence: str, _: random.Random) -> str | None:
    """Make sure what the sentence leaves open, or denies."""
    match = _DOUBT.search(sentence)
    if match is None:
        return None
    words = match[0].split()
    plain = {"been": "was", "be": "is"}[words[-1]] if words[0] in _MODALS else words[0]
    return f"{sentence[: match.start()]}{plain}{sentence[match.end() :]}"


def _some(sentence: str, rng: random.Random) -> str | None:
    """Let what holds of some hold of them."""
    match = _SOME.match(sentence)
    if match is None:
        return None
    rest = sentence[match.end() :]
    return rng.choice((rest, f"All {rest}"))


def _said(sentence: str, _: random.Random) -> str | None:
    """State what somebody only believes."""
    match = _SAYS.match(sentence)
    return None if match is None else _whole(sentence[match.end() :])


_UNSAFE: Sequence[_Cut] = (_condition, _condition_first, _doubt, _some, _said)
