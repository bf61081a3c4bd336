"""What the context says only under a condition, or not of everything, and the claim says of all.

In: a scene. Out: a veto where the claim waives a condition of the context ("without", "even if"),
says it of the very thing that is excepted, says it of all, or says the same and drops the
condition; else None. Words that say nearly the same count as one. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._exceptions import ELSE, TOO, is_excepted
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._measures import keys_between
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._told import told

__all__ = ["limit_ignored"]

_CONDITION = (
    r"(?:only\s+)?(?:if(?!\s+(?:not|so|any|possible|necessary|needed|desired)\b)|once|(?:as|so)\s+long\s+as"
    r"|provided(?:\s+that)?|providing(?:\s+that)?|on\s+(?:the\s+)?condition\s+that|subject\s+to)"
)
_MARK = re.compile(
    rf"\b(?:(?P<condition>{_CONDITION}"
    r"|(?:restricted|limited|confined)\s+to|reserved\s+for|when(?=\s+\w+ed\b)"
    r"|only\s+(?:when|with|after|for|to|in|on|at|by|from|through|during|under))"
    r"|(?P<unless>unless)"
    r"|(?P<exception>except(?:\s+(?:for|that|when|in|on|at|if|during))?|other\s+than|apart\s+from|excluding"
    r"|with\s+the\s+exception\s+of|save\s+for|(?:but|though|although|yet)\s+not(?!\s+(?:only|just|more|less|fewer|longer|later|earlier))"
    r"|everything\s+but|all\s+but|rather\s+than|instead\s+of|as\s+opposed\s+to)"
    r"|(?P<needs>(?:must|requires?|needs?)\s+(?:the\s+|a\s+|an\s+|to\s+(?:be|have)\s+)?)"
    r"|(?P<permitting>\w+\s+permitting)"
    r"|(?P<without>(?:no|not|never|nobody|none|cannot|neither|\w+n['’]t)\b[^.;:,]{0,60}?\bwithout))\b",
    re.I,
)
_ENDS = re.compile(r"[,;.:!?()–—]|\s(?:but|while|whereas|although|though|because|since)\s", re.I)
_STATEMENT = re.compile(r"[;.:!?]|,?\s(?:but|while|whereas|although|though)\s", re.I)
_BEFORE = re.compile(rf"{_STATEMENT.pattern}|,\s(?:and|or|so|yet)\s", re.I)
_WAIVED = re.compile(
    r"\b(?:without(?:\s+(?:needing|having|requiring|any|first))?(?:\s+to)?|even\s+(?:if|when|though|without|after|before)|whether\s+or\s+not"
    r"|regardless\s+of(?:\s+(?:whether|how|when|what))?|irrespective\s+of|no\s+matter(?:\s+(?:whether|how|when|what|which|who))?"
    r"|whatever(?:\s+the)?|whichever|as\s+well\s+as|including|whether|also\s+(?:if|when|without))\b",
    re.I,
)
_KEPT = re.compile(
    r"\b(?:except\w*|unless|other\s+than|apart\s+from|not|no|never|none|nobody|neither|cannot|excluding|excluded|only|rather"
    r"|instead|but|save|off\s+limits|unlike|without|if|\w+n['’]t|forbidden|prohibited|banned)\b",
    re.I,
)
_DEMANDS = re.compile(r"\b(?:must|ha(?:s|ve)\s+to|needs?\s+to)\b", re.I)
"""What is demanded may be what a permission excepts."""
_NEGATIVE = re.compile(r"\b(?:no|not|cannot|nobody|never|without|none|\w+n['’]t)\b", re.I)
_NEGATED = re.compile(r"(?:\bnot|\bnever|n['’]t|\bno\s+longer)\s+$", re.I)
_ALL_THE_SAME = re.compile(
    r"even|whether|regardless|irrespective|no\s+matter|whatever|whichever", re.I
)
"""What is so in any case is so in each: only "only if" goes against it."""
_ALSO = re.compile(r"(?:also|even)\s", re.I)
_NO_CASE = re.compile(r"including|as\s+well\s+as", re.I)
_ONLY_IF = re.compile(
    r"only|provid|(?:as|so)\s+long|on\s|subject|must|need|requir|restrict|limit", re.I
)
_OTHERS = re.compile(r"\b(?:other\s+than|apart\s+from|except|besides)\b", re.I)
_INSTEAD = re.compile(r"(?:instead|rather)\b", re.I)
_FORMER = re.compile(
    r"\b(?:until|till|before|previously|formerly|originally|so\s+far|used\s+to|had|was|were)\b",
    re.I,
)
"""What held before is what something else is now "instead of"."""
_BARS = re.compile(
    r"\b(?:no|not|never|nobody|none|cannot|forbidden|prohibited|banned|barred|\w+n['’]t)\b", re.I
)
_BY_HOW_MUCH = re.compile(r"\b(?:more|less|extra|additional(?:ly)?|surcharge)\b", re.I)
_ROW = re.compile(r":\s[^:;]+;[^:;]+:\s")
"""A row of a table, told: a dash in it says no."""
_LIGHT = frozenset("do made make take thing case".split())
_FEWEST = 2
_BEHIND = 60
_HEAD = 0.5
"""Share of a limited statement that a claim must say."""
_SAME = 0.5
"""Share of a waived, or excepted, thing that must be the one of the context."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """What limits a statement, and what it limits."""

    kind: str
    keys: frozenset[str]
    values: tuple[Value, ...]
    head: frozenset[str]
    text: str
    negative: bool
    """"if it has not arrived": "without its arrival" says the same."""
    before: str
    """The text of the statement that it limits, up to it."""


def limit_ignored(scene: Scene, name: str) -> Verdict | None:
    """Veto what waives a condition, or says it of what is excepted."""
    mine = scene.reading
    if language(mine.text) != "en":
        return None
    waivers = [] if TOO.search(mine.text) else list(_waivers(mine))
    conditions = [
        limit
        for limit in _limits(mine)
        if limit.kind not in ("exception", "unless", "without")
        and not any(alike(keys, limit.keys) for _, keys in waivers)
    ]
    for near in scene.near:
        if near.reading.row:
            continue
        for at, keys in _waivers(near.reading) if conditions else ():
            if _NEGATIVE.search(near.reading.text, max(0, at - _BEHIND), at):
                continue  # "no one without a pass"
            rest = near.reading.keys - keys
            said = alike(rest, mine.keys)
            if scene.weight(said) >= _HEAD * scene.weight(rest) and any(
                _is(keys, limit, scene) and _gainsays(near.reading.text, at, limit, mine.text)
                for limit in conditions
            ):
                return contradiction(scene, name, "the context says that it needs no such", near)
        for limit in _known(scene, near):
            said = alike(limit.head, mine.keys)
            if scene.weight(said) < _HEAD * scene.weight(limit.head):
                said = alike(limit.keys, mine.keys) if limit.kind == "condition" else said
                if len(said) < _FEWEST or not waivers:
                    continue
            waived = not limit.negative and any(
                _is(keys, limit, scene)
                and not _denied_before(scene, at)
                and (limit.kind != "needs" or mine.text[at : at + 7].lower() == "without")
                for at, keys in waivers
            )
            if waived and (_rightly(scene, near, waivers) or _told_both_ways(near, limit)):
                continue
            excepted = (
                limit.kind == "exception"
                and not waivers
                and _all_said(limit, mine, scene)
                and not (_DEMANDS.search(mine.text) and not _DEMANDS.search(near.reading.text))
                and not _keeps(mine.text)
                and not _of_the_rest(limit, mine.text)
            )
            if waived or excepted:
                reason = f"the context limits it: {limit.text[:60]!r}"
                return contradiction(scene, name, reason, near)
    return None


def _rightly(scene: Scene, near: Near, waivers: list[tuple[int, frozenset[str]]]) -> bool:
    """Whether a claim waives a condition of what is excepted, or one that the context waives."""
    if is_excepted(scene, near) or _OTHERS.search(scene.reading.text):
        return True
    return any(
        alike(keys, own)
        and (
            _ALSO.match(near.reading.text, at)
            or _goes_without(scene.reading, place, near.reading, at)
        )
        for place, keys in waivers
        for at, own in _waivers(near.reading)
    )


def _goes_without(mine: Reading, place: int, theirs: Reading, at: int) -> bool:
    """Whether both say what it is without: "a refund without a receipt needs his approval"."""
    places = ((mine, place), (theirs, at))
    barred = {
        _BARS.search(reading.text, max(0, start - _BEHIND), start) is not None
        for reading, start in places
    }
    return len(barred) == 1 and all(_WITHOUT.match(r.text, start) for r, start in places)


_WITHOUT = re.compile(r"without\b", re.I)


def _told_both_ways(near: Near, limit: _Limit) -> bool:
    """Whether a sentence also says what holds without its condition: "otherwise two years"."""
    text = near.reading.text
    return ELSE.search(text, text.find(limit.text) + len(limit.text)) is not None


def _gainsays(text: str, at: int, limit: _Limit, claim: str) -> bool:
    """Whether what a text waives at an offset goes against a condition of the claim."""
    if _NO_CASE.match(text, at):
        return False
    if _ALL_THE_SAME.match(text, at):
        return bool(_ONLY_IF.match(limit.text) or _BARS.search(claim))
    return not limit.negative  # "if it has none" and "without one" are one case


def _of_the_rest(limit: _Limit, text: str) -> bool:
    """Whether a claim says of what is excepted that which the rule does not say of it."""
    if _BARS.search(limit.before):
        return True  # "banned, except for the boats of the wardens": these may
    if _BY_HOW_MUCH.search(limit.before) and not _BY_HOW_MUCH.search(text):
        return True
    return bool(_INSTEAD.match(limit.text) and _FORMER.search(text))


def _keeps(text: str) -> bool:
    """Whether a claim tells of an exception, or of a no, itself."""
    return _KEPT.search(_WAIVED.sub(" ", text)) is not None or _ROW.search(text) is not None


def _denied_before(scene: Scene, at: int) -> bool:
    """Whether what a waiver is of is denied: the deed before it, or the first behind it."""
    deeds = told(scene)
    starts = [scene.reading.tokens[deed.at].start for deed in deeds]
    before = [deed for deed, start in zip(deeds, starts, strict=True) if start < at]
    return (before or deeds)[-1 if before else 0].denied if deeds else True


def _waivers(reading: Reading) -> Iterator[tuple[int, frozenset[str]]]:
    for match in _WAIVED.finditer(reading.text):
        stop = _WAIVER_ENDS.search(reading.text, match.end())
        keys = keys_between(reading, match.end(), stop.start() if stop else len(reading.text))
        if keys:
            yield match.start(), keys


_WAIVER_ENDS = re.compile(rf"{_ENDS.pattern}|\s(?:unless|if|when|until|except)\s", re.I)


def _is(waiver: frozenset[str], limit: _Limit, scene: Scene) -> bool:
    same = alike(waiver, limit.keys)
    return bool(same) and scene.weight(same) >= _SAME * scene.weight(waiver)


def _all_said(limit: _Limit, mine: Reading, scene: Scene) -> bool:
    """Whether a claim speaks of what is excepted."""
    if not all(any(v.agrees(o) for o in mine.values) for v in limit.values):
        return False
    keys = limit.keys - _LIGHT
    said = alike(keys, mine.keys)
    return bool(keys or limit.values) and scene.weight(said) >= _SAME * scene.weight(keys)


def _known(scene: Scene, near: Near) -> tuple[_Limit, ...]:
    key = "limits", near.number
    found: tuple[_Limit, ...] | None = scene.pages.notes.get(key)
    if found is None:
        found = scene.pages.notes[key] = tuple(_limits(near.reading))
    return found


def _limits(reading: Reading) -> Iterator[_Limit]:
    text = reading.text
    for match in _MARK.finditer(text):
        stop = _ENDS.search(text, match.end())
        end = stop.start() if stop else len(text)
        begins = [0, *(m.end() for m in _BEFORE.finditer(text, 0, match.start()))]
        after = _BEFORE.search(text, end)
        low, high = begins[-1], after.start() if after else len(text)
        inside = match.start() if match["permitting"] else match.end()
        keys = keys_between(reading, inside, end)
        behind = match.end() if match["without"] else match.start()
        head = keys_between(reading, low, behind) | keys_between(reading, end, high)
        values = tuple(v for v in reading.values if match.end() <= v.start < end)
        if head and (keys or values):
            kind = match.lastgroup or ""
            negative = _NEGATIVE.search(text, match.end(), end) is not None
            if kind == "needs" and _NEGATED.search(text[: match.start()]):
                continue  # "does not need cooking"
            limit = text[match.start() : end]
            before = text[low : match.start()]
            yield _Limit(kind, keys, values, head - keys, limit, negative, before)
