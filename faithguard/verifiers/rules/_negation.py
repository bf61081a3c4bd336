"""What the context denies and the answer says, and the other way round.

In: a scene. Out: a veto where one of two statements of one thing is denied; else None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from faithguard.types import Verdict
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._denials import collide, relation, said_by
from faithguard.verifiers.rules._exceptions import is_excepted
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._measures import keys_between
from faithguard.verifiers.rules._parts import (
    CJK,
    DENYING,
    MANY,
    MISSING,
    NEGATORS,
    NO_NEGATION,
    ONLY,
    SAME_STATEMENT,
    Part,
    denies,
    known_parts,
    parts_of,
    text_of,
)
from faithguard.verifiers.rules._reading import Reading, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._told import known_deeds, told, values_of

__all__ = [
    "UNLIKE",
    "apart",
    "denied_or_not",
    "gainsaid",
    "hedged",
    "none_such",
    "of_others",
    "only_planned",
]


def gainsaid(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context denies, and says nowhere."""
    for mine in told(scene):
        against: Near | None = None
        best = for_it = 0.0
        for near in scene.near:
            for theirs in known_deeds(scene, near):
                kind = relation(mine, theirs)
                if kind and only_planned(theirs, near.reading):
                    continue
                said = said_by(mine, theirs, scene) if kind else 0.0
                if kind > 0:
                    for_it = max(for_it, said)
                elif (
                    kind < 0
                    and said > best
                    and collide(mine, theirs, scene, near)
                    and not of_others(mine, theirs, scene, near)
                    and not hedged(scene, near)
                    and not apart(mine, theirs, scene, near)
                ):
                    against, best = near, said
        if against is not None and best > for_it:
            return contradiction(
                scene, name, "the context denies it, or says the opposite", against
            )
    return None


def of_others(mine: Deed, theirs: Deed, scene: Scene, near: Near) -> bool:
    """Whether a plain deed is told of some only, or of others than the denied one is."""
    if not mine.denied and not theirs.denied and mine.verb != theirs.verb:
        # "free for 5 hours, then 19 cents": that it costs 19 cents is no denial
        return any(v.agrees(o) for v in scene.reading.values for o in near.reading.values)
    denied, plain = (mine, theirs) if mine.denied else (theirs, mine)
    reading = scene.reading if plain is mine else near.reading
    other = near.reading if plain is mine else scene.reading
    words = {t.lower for t in reading.tokens[plain.start : plain.at]}
    if words & _SOME and not _NONE & {t.lower for t in other.tokens[denied.start : denied.at]}:
        return True
    contrast = UNLIKE.search(reading.text)
    if contrast is None or not denied.subject:
        return False
    inside = {t.key for t in reading.tokens if contrast.start() <= t.start < contrast.end()}
    return denied.subject <= inside


def _of_two_turns(one: str, other: str) -> bool:
    """Whether both tell which of some they speak of, and not of one: "the second week"."""
    mine, theirs = (set(_TURN.findall(text.lower())) for text in (one, other))
    counted = {noun for _, noun in mine & theirs}
    nouns = {noun for _, noun in mine} & {noun for _, noun in theirs}
    return bool(nouns - counted)


_TURN = re.compile(
    r"\b(first|second|third|fourth|fifth|last|1st|2nd|3rd|4th)\s"
    r"(week|month|year|day|half|quarter|floor|night|hour|time|round|year|term)\b"
)
_SOME = frozenset("some most many few several certain".split())
_NONE = frozenset("no none nobody neither any".split())
UNLIKE = re.compile(r"\b(?:unlike|in\s+contrast\s+to|as\s+opposed\s+to)\s[^,.;]{1,60}", re.I)


def hedged(scene: Scene, near: Near) -> bool:
    """Whether both sentences tie what they say to something: "unless it is full", "if not full"."""
    if _OR_NOT.search(near.reading.text):
        return True
    if _ONLY_THEN.search(scene.reading.text) and _NOT_BEFORE.search(near.reading.text):
        return True
    tied = _TIED.search(near.reading.text)
    if tied and _WITHOUT_THAT.search(scene.reading.text):
        return True
    return bool(tied and _TIED.search(scene.reading.text))


_WITHOUT_THAT = re.compile(r"\b(?:without|otherwise|else)\b", re.I)


def only_planned(deed: Deed, reading: Reading) -> bool:
    """Whether a deed is what a plan was for: "withdrew its plan to cut cabins"."""
    return _PLAN.search(reading.text[: reading.tokens[deed.at].start]) is not None


_PLAN = re.compile(
    r"\b(?:plans?|proposals?|motions?|bids?|intentions?|ideas?|attempts?|threats?|requests?|wish(?:es)?"
    r"|reluctan(?:t|ce)|ambitions?)\s(?:[^\s,.;:]+\s){0,5}to\s(?:\w+ly\s)?$",
    re.I,
)


def apart(mine: Deed, theirs: Deed, scene: Scene, near: Near) -> bool:
    """Whether a denial and a statement are of two cases, so that both may hold."""
    if _of_two_turns(scene.reading.text, near.reading.text):
        return True
    if mine.denied == theirs.denied:
        return False
    own, other = (scene.reading, mine), (near.reading, theirs)
    (denied, deed), (plain, done) = (own, other) if mine.denied else (other, own)
    if _turned_twice(denied, plain, deed) or _NOT_ALL.search(denied.text):
        return True
    if _of_a_bound(denied, deed, plain) or _of_two_times(denied, deed, plain, done):
        return True
    if _BUT_SO.search(denied.text) and _BUT_SO_TOO.search(plain.text):
        return True
    if _HARDLY.search(denied.text) and _A_LITTLE.search(plain.text):
        return True
    if not mine.denied:
        return (
            _of_other_values(mine, theirs, scene, near)
            or _in_a_case(denied, deed, plain)
            or _denies_the_same(denied, deed, plain)
            or is_excepted(scene, near)
        )
    return (
        _BY_NOBODY.search(plain.text) is not None
        or (_YET.search(denied.text) is not None and theirs.modal == "will")
        or _bounded(denied, plain)
        or _goes_without(mine, plain)
        or _kept_elsewhere(denied, plain, theirs)
        or _not_excepted(scene, near)
    )


def _denies_the_same(denied: Reading, deed: Deed, plain: Reading) -> bool:
    """Whether what a sentence denies the claim denies, too: "by hand, not by a machine"."""
    said = _right_behind(denied, denied.tokens[deed.start].start)
    return bool((said - {deed.verb}) & _right_behind(plain, 0))


def _right_behind(reading: Reading, start: int) -> frozenset[str]:
    """Return the words right behind those that deny, from a place on."""
    places = [m.end() for m in _DENYING_THAT.finditer(reading.text, max(0, start - _NEAR_BY))]
    return frozenset(
        key
        for place in places
        for key in [t.key for t in reading.tokens if t.start >= place and t.key][:_FEW_BEHIND]
    )


_NEAR_BY = 12
_FEW_BEHIND = 2
_DENYING_THAT = re.compile(
    r"(?:\b(?:not|no|never|(?:rather|other)\s+than|instead\s+of)\b|n['’]t\b)"
    r"(?!\s+(?:only|even|just|merely)\b)",
    re.I,
)
_BY_NOBODY = re.compile(r"\bby\s+(?:nobody|no\s+one|none)\b", re.I)
_YET = re.compile(r"\byet\b", re.I)


def _of_a_bound(denied: Reading, deed: Deed, plain: Reading) -> bool:
    """Whether a denial is of more than a bound: "take no more than 3", "not later than May"."""
    text = denied.text[denied.tokens[deed.start].start :]
    return _MORE_THAN.search(text) is not None and " than " not in plain.text


_MORE_THAN = re.compile(r"\b(?:more|less|\w{2,}er)\s+than\b", re.I)


def _of_two_times(denied: Reading, deed: Deed, plain: Reading, done: Deed) -> bool:
    """Whether one of the two holds up to a time, and the other from one: "not after the cut"."""
    one, other = _statement(denied, deed), _statement(plain, done)
    return bool(
        (_FROM_THEN.search(one) and _UP_TO_THEN.search(other) and not _FROM_THEN.search(other))
        or (_UP_TO_THEN.search(one) and _FROM_THEN.search(other) and not _FROM_THEN.search(one))
    )


def _statement(reading: Reading, deed: Deed) -> str:
    at = reading.tokens[deed.at].start
    low = reading.text.rfind(";", 0, at) + 1
    return reading.text[low : reading.text.find(";", at) % (len(reading.text) + 1)]


_FROM_THEN = re.compile(
    r"\b(?:after|once|from\s+(?:the\s+)?(?:next|tomorrow|then|now)|later|following)\b",
    re.I,
)
_UP_TO_THEN = re.compile(
    r"\b(?:until|till|before|today|tonight|(?:in|for|during|within)\s+(?:the\s+first\s+)?\w+\s+(?:minute|hour|day|week|month|year)s?"
    r"|(?:in|for|during|within)\s+the\s+first)\b",
    re.I,
)
_BUT_SO = re.compile(
    r"(?:\bnot|n['’]t)\b[^.;]*\bbut\s+(?:by|in|on|at|to|for|from|with|as|per)\b", re.I
)
_BUT_SO_TOO = re.compile(r"\b(?:and|but)?\s*not\b", re.I)
"""They deny the other way: "in steps and not at once", "not at once but in steps"."""
_HARDLY = re.compile(r"\b(?:hardly|barely|scarcely|rarely|seldom)\b", re.I)
_A_LITTLE = re.compile(r"\b(?:little|slight(?:ly)?|barely|hardly|somewhat|few)\b", re.I)


def _of_other_values(mine: Deed, theirs: Deed, scene: Scene, near: Near) -> bool:
    """Whether both are tied to values of their own: a rule and what is left out of it."""
    own, other = values_of(scene.reading, mine), values_of(near.reading, theirs)
    return bool(own and other) and not any(v.agrees(o) for v in own for o in other)


def _in_a_case(denied: Reading, deed: Deed, plain: Reading) -> bool:
    """Whether a denial is tied to a case that the other does not speak of: "do not, if ill"."""
    at = denied.tokens[deed.at].start
    found = _IN_CASE.search(denied.text, at)
    end = denied.text.find(";", at) % (len(denied.text) + 1)
    return found is not None and not (keys_between(denied, found.end(), end) & plain.keys)


_IN_CASE = re.compile(r"\b(?:if|in\s+case)\b(?!\s+not)", re.I)


def _goes_without(mine: Deed, plain: Reading) -> bool:
    """Whether "without the lamp" says that the lamp does not: it is what the claim denies."""
    found = _WITHOUT_THE.search(plain.text)
    return found is not None and bool(
        mine.subject & keys_between(plain, found.end(), len(plain.text))
    )


_WITHOUT_THE = re.compile(r"\bwithout\s+(?:the|its|their)\b", re.I)


def _bounded(denied: Reading, plain: Reading) -> bool:
    """Whether a denial ends, or begins, with a time: "never before" beside "for the first time"."""
    return _BEFORE.search(denied.text) is not None and _FIRST.search(plain.text) is not None


_NOT_ALL = re.compile(r"\bnot\s+(?:all|every|each|always|necessarily)\b", re.I)
_BEFORE = re.compile(r"\b(?:before|until|till|earlier|previously|yet|after|since|again)\b", re.I)
_FIRST = re.compile(r"\b(?:first|last|debut|maiden)\b", re.I)


def _kept_elsewhere(denied: Reading, plain: Reading, deed: Deed) -> bool:
    """Whether what is said holds only of a case that the denial does not speak of."""
    if _AT_ALL.search(denied.text):
        return False
    at = plain.tokens[deed.at].start
    low = plain.text.rfind(";", 0, at) + 1
    high = plain.text.find(";", at) % (len(plain.text) + 1)
    kept = [(start, end) for start, end in _only_of(plain) if low <= start < high]
    if not denied.values:
        inside = frozenset[str]().union(*(keys_between(plain, *span) for span in kept))
        if denied.keys <= alike(denied.keys, plain.keys - inside):
            return False  # it is denied of every case
    return any(not _speaks_of(denied, plain, start, end) for start, end in kept)


_AT_ALL = re.compile(r"\b(?:at\s+all|any\s*more|no\s+longer|ever)\b", re.I)


def _only_of(reading: Reading) -> Iterator[tuple[int, int]]:
    """Yield where that stands to which a sentence keeps what it says: "only if ordered"."""
    for found in _ONLY_OF.finditer(reading.text):
        yield found.span("after" if found["after"] else "before")


_ONLY_OF = re.compile(
    r"\b(?:only\s(?=\w)|(?=if\s|provided\s|as\s+long\s+as\s))(?P<after>(?:if|provided|as\s+long\s+as|when|where|with|for|to|in|on|at|by|from|during|after|once|under|within)"
    r"\s(?:(?!\s(?:and|or|but)\s)[^.;:,])+)|(?P<before>\b(?:if|when|with|for|to|in|on|at|by|from|during|after|under|within)"
    r"\s[^.;:,]{2,40}?)\sonly(?=[.;:,]|$)",
    re.I,
)


def _speaks_of(mine: Reading, theirs: Reading, start: int, end: int) -> bool:
    """Whether a text holds all words and values of a stretch of another."""
    keys = keys_between(theirs, start, end)
    values = [value for value in theirs.values if start <= value.start < end]
    return keys <= alike(keys, mine.keys) and all(
        any(value.agrees(own) for own in mine.values) for value in values
    )


def _turned_twice(denied: Reading, plain: Reading, deed: Deed) -> bool:
    """Whether an opposite word takes a denial back: "not the same one", "a new one"."""
    under = {token.lower for token in denied.tokens[deed.start :]}
    words = {token.lower for token in plain.tokens}
    return any(
        bool(under & one) != bool(under & other)
        and bool(words & one) != bool(words & other)
        and bool(under & one) != bool(words & one)
        for one, other in _TURNS
    )


_TURNS = (
    (frozenset("same used old reused".split()), frozenset("new fresh different another".split())),
    (
        frozenset("alone unaccompanied unattended unsupervised unaided without".split()),
        frozenset("with accompanied attended supervised supervision together".split()),
    ),
)


def _not_excepted(scene: Scene, near: Near) -> bool:
    """Whether a claim may speak of what a sentence excepts, in words of its own."""
    found = _EXCEPTED.search(near.reading.text)
    if found is None:
        return False
    rule = near.reading.keys - keys_between(near.reading, found.end(), len(near.reading.text))
    return not scene.reading.keys <= alike(scene.reading.keys, rule) or bool(scene.reading.values)


_EXCEPTED = re.compile(
    r"\b(?:except(?:\s+for|ing|ed)?|other\s+than|apart\s+from|with\s+the\s+exception\s+of|excluding"
    r"|save\s+for|unless|(?:but\s+)?not\s+(?:between|on|in|during|at|from|before|after|if|when))\b",
    re.I,
)


_ONLY_THEN = re.compile(r"\bonly\s+(?:once|after|when|if|with|from)\b", re.I)
_NOT_BEFORE = re.compile(r"\b(?:before|until|unless|without)\b", re.I)
_OR_NOT = re.compile(r"\bor\s+(?:\w+\s+)?not\b", re.I)


_TIED = re.compile(
    r"\b(?:if|unless|only|except|provided|when|until|as\s+long\s+as|apart\s+from|or\s+\w+\s+not)\b",
    re.I,
)


def denied_or_not(scene: Scene, name: str) -> Verdict | None:
    """Veto where one of two clauses that say the same is under a negation."""
    if told(scene):
        return None
    claim = list(parts_of(scene.reading, None))
    for near in scene.near:
        context = known_parts(near, scene)
        for mine in claim:
            for theirs in context:
                if _flipped(mine, theirs, scene, near) and not _said(mine, theirs, scene):
                    reason = "the context denies it" if theirs.denied else _WITHOUT
                    return contradiction(scene, name, reason, near)
    return None


def _of_other_clauses(mine: Part, theirs: Part) -> bool:
    """Whether two clauses have values, and none in common."""
    own = [mine.reading.values[n] for n in mine.clause.values]
    other = [theirs.reading.values[n] for n in theirs.clause.values]
    return bool(own) and not any(v.agrees(o) for v in own for o in other)


_NONE_AFTER = re.compile(r"[,:]\s*(?:none|nil)\b", re.I)
_ALSO = re.compile(r"\b(?:also|too|likewise)\b", re.I)
_WITHOUT = "the context says it without the negation"
_NEGATOR_KEYS = keys_of_all(NEGATORS)


def _flipped(mine: Part, theirs: Part, scene: Scene, near: Near) -> bool:
    """Whether exactly one of two clauses denies what both say."""
    if bool(mine.denied) == bool(theirs.denied) or mine.keys.isdisjoint(theirs.keys):
        return False
    denied, plain = (mine, theirs) if mine.denied else (theirs, mine)
    if not denied.denied or plain.denied:
        return False
    denied = replace(denied, clause=replace(denied.clause, keys=denied.keys - _NEGATOR_KEYS))
    shared = denied.keys & plain.keys
    unspaced = CJK.search(text_of(denied)) is not None
    subjects = plain.reading.keys if unspaced else plain.keys
    if len(shared) < 2 and not (len(denied.keys) == 1 and shared):
        return False
    if not denied.denied & shared or ONLY.search(text_of(plain)):
        return False
    at = plain.reading.tokens[plain.clause.first].start
    if _NONE_AFTER.search(plain.reading.text, at) or _ALSO.search(text_of(plain)):
        return False  # "Lift: none", "closed on Sundays; the bar also on Mondays"
    if mine.denied and plain.clause.values and _of_other_clauses(mine, theirs):
        return False
    if (
        _alternative(plain) != _alternative(denied)
        or _elliptic(denied)
        or _opposite_instead(plain, denied)
    ):
        return False
    if (
        next(
            (
                t.key
                for t in denied.reading.words(denied.clause)
                if t.key and t.key not in _NEGATOR_KEYS
            ),
            "",
        )
        not in subjects
    ):
        return False  # of another subject
    rest = denied.keys - plain.keys
    other = near.reading if mine.denied else scene.reading
    if len(rest - other.keys) * 100 > MISSING * len(denied.keys):
        return False
    # what the negation governs must be what the other says
    if len(denied.denied & plain.keys) * 100 < (50 if unspaced else 66) * len(
        denied.denied - _NEGATOR_KEYS
    ):
        return False
    held = plain.keys & denied.reading.keys
    return len(held) >= SAME_STATEMENT * len(plain.keys) or len(shared) >= MANY


# "may go without giving a reason" and "need not give a reason" are one rule
_ALTERNATIVE = re.compile(r"\b(?:without|ohne|sans|sin|senza|sem)\b", re.I)


def _alternative(part: Part) -> bool:
    return _ALTERNATIVE.search(text_of(part)) is not None


def _elliptic(part: Part) -> bool:
    """Whether a clause opens with its negation: "but not at the Alba" leaves out what is denied."""
    first = part.reading.words(part.clause)[0]
    return language(part.reading.text) == "en" and first.lower == "not"


def _opposite_instead(plain: Part, denied: Part) -> bool:
    """Whether "closed" says without a negation what "cannot be used" says with one."""
    return any(
        opposite(token.lower)
        for token in plain.reading.words(plain.clause)
        if token.key and token.key not in denied.reading.keys
    )


def _said(mine: Part, against: Part, scene: Scene) -> bool:
    """Whether another clause says it the way the claim does."""
    if DENYING & (mine.keys ^ against.keys):
        return True
    for near in scene.near:
        for part in known_parts(near, scene):
            if part.clause is against.clause:
                continue
            shared = len(part.keys & mine.keys)
            if bool(part.denied) == bool(mine.denied) and shared >= len(against.keys & mine.keys):
                return True
    return False


_WITHOUT_IT = frozenset("free without lack lacks lacking absent absence zero".split())


_NO = re.compile(r"\bno\b", re.I)


def none_such(scene: Scene, name: str) -> Verdict | None:
    """Veto "it gets new features" where the context says that there are no new features."""
    own = {token.lower for token in scene.reading.tokens}
    if own & _WITHOUT_IT or denies(scene.reading):
        return None
    for near in scene.near:
        tokens = near.reading.tokens if _NO.search(near.reading.text) else ()
        for number, token in enumerate(tokens[:-2]):
            noun = [t for t in tokens[number + 1 : number + 3] if t.key]
            if (
                token.lower != "no"
                or len(noun) < 2
                or NO_NEGATION.match(near.reading.text, token.start)
            ):
                continue
            keys = frozenset(t.key for t in noun if t.key)
            said = frozenset(key for deed in known_deeds(scene, near) for key in (deed.verb,))
            rest = near.reading.keys - keys - said
            others = (o for o in scene.near if o is not near and keys <= o.reading.keys)
            if keys <= scene.reading.keys and rest <= scene.reading.keys and not any(others):
                written = near.reading.text[token.start : noun[-1].end]
                return contradiction(scene, name, f"the context says {written!r}", near)
    return None
