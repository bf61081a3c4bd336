"""Polarity: negation, antonyms, quantifiers, modality, conditions, superlatives.

In: a claim and its context. Out: a veto where a clause of the context says the same as one of the
claim but denies it, says the opposite word, says it of fewer, only allows it, or ties it to a
condition that the claim drops; else silence. Negation in ten languages, the rest in English.
Source: the scope of a negation up to the end of its clause, after NegEx, Chapman et al. (2001).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._antonyms import opposed, opposite
from faithguard.verifiers.rules._conditions import condition_dropped
from faithguard.verifiers.rules._denials import collide, relation, said_by
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._reading import Clause, Reading, Token, key_of
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of, unmentioned
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = ["Polarity"]

_SAME_STATEMENT = 0.7
"""Share of a clause's words that another must hold before the two can contradict."""
_MISSING = 34
"""Per cent of a denied clause's words that the other statement may lack."""
_MANY = 3
_CLOSE = 0.5
"""The same where an opposite stands in the place of a word."""

_NEGATORS = frozenset(
    "not no never none nobody nothing neither nor cannot n't hardly nicht kein keine keinen"
    " keinem keiner keines nie niemals weder nunca ningún ninguna ninguno tampoco pas jamais"
    " aucun aucune non nessun nessuna nessuno não nenhum nenhuma नहीं न"
    " मत لا لم لن ليس ليست غير بدون".split()
)
_DENYING = frozenset("fail lack refu unabl exclud forbid prohibit impossibl".split())
"""Stems of words that deny what stands beside them; left out where the other has them too."""
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_CJK_NEGATION = re.compile(
    "ません|ない(?!と)|なかった|なく|不(?!仅|僅|但|同|过|過)|没有|沒有|未(?!来|來)|無い|无(?!论)|非(?=会)|禁止"
)
_CONTRACTED = re.compile(r"(?:ca|wo|[a-z]+)n['’]t$")
# "not only X but also Y" says X
_NO_NEGATION = re.compile(
    r"(?:not\s+(?:only|just|merely|necessarily)|no\s+(?:matter|doubt|later|more\s+than|less\s+than"
    r"|fewer|longer\s+than)|not\s+(?:more|less|fewer|exceed|\w+ing)|no\.\s*\d)\b",
    re.I,
)


class Polarity(Family):
    """Veto a claim that the context denies, or states more weakly."""

    name = "polarity@2"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where polarity agrees or is not clear."""
        scene = scene_of(claim, context)
        for check in (
            _gainsaid,
            _denied,
            _none_such,
            _excepted,
            _waived,
            _superlative,
            _other_way_round,
            _opposed,
            _counted_otherwise,
            _stronger,
            _demanded_instead,
            _unbound,
            _tied,
            _first_of_some,
        ):
            verdict = check(scene, self.name)
            if verdict is not None:
                return verdict
        return None


# -- negation ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause with what it denies."""

    near: Near | None
    reading: Reading
    clause: Clause
    denied: frozenset[str]
    """Its words under a negation; all of them in a script without spaces."""

    @property
    def keys(self) -> frozenset[str]:
        return self.clause.keys


def _parts(reading: Reading, near: Near | None) -> Iterator[_Part]:
    for clause in reading.clauses:
        if clause.keys:
            yield _Part(near, reading, clause, _under(reading, clause))


def _known_parts(near: Near, scene: Scene) -> tuple[_Part, ...]:
    """Return the parts of a sentence of the context, read once."""
    key = "polarity", near.number
    found: tuple[_Part, ...] | None = scene.pages.notes.get(key)
    if found is None:
        found = scene.pages.notes[key] = tuple(_parts(near.reading, near))
    return found


def _under(reading: Reading, clause: Clause) -> frozenset[str]:
    """Return the words of a clause under a negation."""
    tokens = reading.words(clause)
    text = reading.text[tokens[0].start : tokens[-1].end]
    if _CJK.search(text):
        return clause.keys if _CJK_NEGATION.search(text) else frozenset()
    found: set[str] = set()
    under = False
    for token in tokens:
        if _negates(token, reading.text):
            under = True
        elif under and token.key:
            found.add(token.key)
    if under and not found:  # "they are eligible: not", and languages that deny at the end
        return clause.keys
    if under and language(reading.text) != "en":
        return clause.keys  # the verb may stand before its negation, or far behind it
    return frozenset(found)


def _negates(token: Token, text: str) -> bool:
    contracted = token.lower.endswith("n't") and _CONTRACTED.match(token.lower) is not None
    if token.lower in _NEGATORS or contracted:
        return _NO_NEGATION.match(text, token.start) is None
    return token.lower.startswith("non-")


def _gainsaid(scene: Scene, name: str) -> Verdict | None:
    """Veto a deed that the context denies, and says nowhere."""
    for mine in told(scene):
        against: Near | None = None
        best = for_it = 0.0
        for near in scene.near:
            for theirs in known_deeds(scene, near):
                kind = relation(mine, theirs)
                said = said_by(mine, theirs, scene) if kind else 0.0
                if kind > 0:
                    for_it = max(for_it, said)
                elif (
                    kind < 0
                    and said > best
                    and collide(mine, theirs, scene, near)
                    and not _hedged(scene, near)
                ):
                    against, best = near, said
        if against is not None and best > for_it:
            return contradiction(
                scene, name, "the context denies it, or says the opposite", against
            )
    return None


def _hedged(scene: Scene, near: Near) -> bool:
    """Whether both sentences tie what they say to something: "unless it is full", "if not full"."""
    if _OR_NOT.search(near.reading.text):
        return True
    return bool(_TIED.search(scene.reading.text) and _TIED.search(near.reading.text))


_OR_NOT = re.compile(r"\bor\s+(?:\w+\s+)?not\b", re.I)


_TIED = re.compile(
    r"\b(?:if|unless|only|except|provided|when|until|as\s+long\s+as|apart\s+from|or\s+\w+\s+not)\b",
    re.I,
)


def _denied(scene: Scene, name: str) -> Verdict | None:
    """Veto where one of two clauses that say the same is under a negation."""
    if told(scene):
        return None
    claim = list(_parts(scene.reading, None))
    for near in scene.near:
        context = _known_parts(near, scene)
        for mine in claim:
            for theirs in context:
                if _flipped(mine, theirs, scene, near) and not _said(mine, theirs, scene):
                    denies = "the context denies it" if theirs.denied else _WITHOUT
                    return contradiction(scene, name, denies, near)
    return None


_WITHOUT = "the context says it without the negation"


def _flipped(mine: _Part, theirs: _Part, scene: Scene, near: Near) -> bool:
    """Whether exactly one of two clauses denies what both say."""
    if bool(mine.denied) == bool(theirs.denied) or mine.keys.isdisjoint(theirs.keys):
        return False
    denied, plain = (mine, theirs) if mine.denied else (theirs, mine)
    if not denied.denied or plain.denied:
        return False
    shared = denied.keys & plain.keys
    unspaced = _CJK.search(_text(denied)) is not None
    subjects = plain.reading.keys if unspaced else plain.keys
    if len(shared) < 2 and not (len(denied.keys) == 1 and shared):
        return False
    if not denied.denied & shared or _ONLY.search(_text(plain)):
        return False
    if (
        _alternative(plain) != _alternative(denied)
        or _elliptic(denied)
        or _opposite_instead(plain, denied)
    ):
        return False
    if next((t.key for t in denied.reading.words(denied.clause) if t.key), "") not in subjects:
        return False  # of another subject
    rest = denied.keys - plain.keys
    other = near.reading if denied is mine else scene.reading
    if len(rest - other.keys) * 100 > _MISSING * len(denied.keys):
        return False
    # what the negation governs must be what the other says
    if len(denied.denied & plain.keys) * 100 < (50 if unspaced else 66) * len(denied.denied):
        return False
    held = plain.keys & denied.reading.keys
    return len(held) >= _SAME_STATEMENT * len(plain.keys) or len(shared) >= _MANY


# "may go without giving a reason" and "need not give a reason" are one rule
_ALTERNATIVE = re.compile(r"\b(?:without|ohne|sans|sin|senza|sem)\b", re.I)


def _alternative(part: _Part) -> bool:
    return _ALTERNATIVE.search(_text(part)) is not None


def _elliptic(part: _Part) -> bool:
    """Whether a clause opens with its negation: "but not at the Alba" leaves out what is denied."""
    first = part.reading.words(part.clause)[0]
    return language(part.reading.text) == "en" and first.lower == "not"


def _opposite_instead(plain: _Part, denied: _Part) -> bool:
    """Whether "closed" says without a negation what "cannot be used" says with one."""
    return any(
        opposite(token.lower)
        for token in plain.reading.words(plain.clause)
        if token.key and token.key not in denied.reading.keys
    )


_ONLY = re.compile(
    r"\b(?:only|nur|ausschließlich|solo|sólo|únicamente|seulement|uniquement|apenas|somente|soltanto"
    r"|unicamente|exclusively|solely)\b|只|だけ|のみ",
    re.I,
)


def _text(part: _Part) -> str:
    tokens = part.reading.words(part.clause)
    return part.reading.text[tokens[0].start : tokens[-1].end]


def _said(mine: _Part, against: _Part, scene: Scene) -> bool:
    """Whether another clause says it the way the claim does."""
    if _DENYING & (mine.keys ^ against.keys):
        return True
    for near in scene.near:
        for part in _known_parts(near, scene):
            if part.clause is against.clause:
                continue
            shared = len(part.keys & mine.keys)
            if bool(part.denied) == bool(mine.denied) and shared >= len(against.keys & mine.keys):
                return True
    return False


_WITHOUT_IT = frozenset("free without lack lacks lacking absent absence zero".split())


def _none_such(scene: Scene, name: str) -> Verdict | None:
    """Veto "it gets new features" where the context says that there are no new features."""
    own = {token.lower for token in scene.reading.tokens}
    if own & _WITHOUT_IT or any(_negates(t, scene.reading.text) for t in scene.reading.tokens):
        return None
    for near in scene.near:
        tokens = near.reading.tokens
        for number, token in enumerate(tokens[:-2]):
            noun = [t for t in tokens[number + 1 : number + 3] if t.key]
            if (
                token.lower != "no"
                or len(noun) < 2
                or _NO_NEGATION.match(near.reading.text, token.start)
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


# -- exceptions and requirements --------------------------------------------------------------

_EXCEPT = re.compile(
    r"\b(?:except(?:\s+for|ing|ed)?|other\s+than|apart\s+from|with\s+the\s+exception\s+of|excluding|save\s+for"
    r"|außer|ausgenommen|sauf|excepté|hormis|salvo|excepto|tranne|eccetto|exceto)\b",
    re.I,
)
_PHRASE_ENDS = re.compile(r"[,.;:!?()]|\s(?:and|but|und|aber|et|mais|y|pero|ma|mas)\s")


def _phrase_after(reading: Reading, at: int) -> tuple[frozenset[str], list[int]]:
    """Return the words and the numbers of the values from a place to the end of the phrase."""
    stop = _PHRASE_ENDS.search(reading.text, at)
    end = stop.start() if stop else len(reading.text)
    inside = [t for t in reading.tokens if at <= t.start < end]
    values = dict.fromkeys(t.value for t in inside if t.value >= 0)
    return frozenset(t.key for t in inside if t.key), list(values)


_SCOPE = 8
"""Words within which one bears on another."""


def _excepted(scene: Scene, name: str) -> Verdict | None:
    """Veto what is said of the very thing that the context excepts from it."""
    if _EXCEPT.search(scene.reading.text) or _ONLY.search(scene.reading.text):
        return None  # "not except in the yard" says "only in the yard"
    for near in scene.near[:_FEW_NEAR]:
        match = _EXCEPT.search(near.reading.text)
        if match is None:
            continue
        keys, values = _phrase_after(near.reading, match.end())
        if not (keys or values) or not _holds_all(scene.reading, keys, near.reading, values):
            continue
        before = [
            c for c in near.reading.clauses if near.reading.tokens[c.first].start < match.start()
        ]
        rule = max(before, key=lambda c: len(c.keys & scene.reading.keys), default=None)
        if rule is None:
            continue
        said = rule.keys - keys
        own = next((c for c in scene.reading.clauses if c.keys & said), None)
        if own is None or 2 * len(said & scene.reading.keys) < len(said):
            continue
        same = bool(_under(scene.reading, own)) == bool(_under(near.reading, rule))
        if same and not _denying(scene.reading, rule):
            reason = f"the context excepts it: {near.reading.text[match.start() :][:60]!r}"
            return contradiction(scene, name, reason, near)
    return None


def _is_excepted(scene: Scene, near: Near) -> bool:
    """Whether a claim speaks of what a sentence excepts: "open daily except Tuesdays"."""
    match = _EXCEPT.search(near.reading.text)
    if match is None:
        return False
    keys, values = _phrase_after(near.reading, match.end())
    return bool(keys or values) and _holds_all(scene.reading, keys, near.reading, values)


_FEW_NEAR = 4


def _denying(reading: Reading, clause: Clause) -> bool:
    """Whether a text says the opposite of a word of a clause."""
    return any(
        opposed(key, other) or other in _words_against(token.lower)
        for token in reading.tokens
        if (key := token.key)
        for other in clause.keys
    )


def _words_against(word: str) -> frozenset[str]:
    return frozenset(filter(None, map(key_of, opposite(word))))


def _holds_all(mine: Reading, keys: frozenset[str], theirs: Reading, values: list[int]) -> bool:
    agreed = all(any(v.agrees(theirs.values[n]) for v in mine.values) for n in values)
    return agreed and keys <= mine.keys


_WAIVER = re.compile(
    r"\b(?:without(?!\s+(?:exception|doubt))|whether\s+or\s+not|regardless\s+of(?:\s+whether)?|irrespective\s+of"
    r"|even\s+(?:if|when|without))\b",
    re.I,
)
_REQUIRED = re.compile(
    r"\b(?:only\s+(?:with|under|in|if|when|after|by|on|to|for)|provided(?:\s+that)?|as\s+long\s+as|must|requires?"
    r"|required|need(?:s|ed)?|necessary|mandatory|compulsory|on\s+condition|subject\s+to|(?:no|not|cannot|\w+n['’]t)\s[^.;,]{0,60}\bwithout|unless)\b",
    re.I,
)


_IS_REQUIRED = re.compile(
    r"\b(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:required|needed|necessary|mandatory|compulsory)$",
    re.I,
)


def _waived(scene: Scene, name: str) -> Verdict | None:
    """Veto "without consent" where the context says "only with consent"."""
    waivers = list(_WAIVER.finditer(scene.reading.text))
    if not waivers or any(
        _negates(t, scene.reading.text)
        for t in scene.reading.tokens
        if not any(match.start() <= t.start < match.end() for match in waivers)
    ):
        return None
    for match in waivers:
        verdict = _demanded(scene, name, _phrase_after(scene.reading, match.end())[0])
        if verdict is not None:
            return verdict
    return None


def _demanded(scene: Scene, name: str, keys: frozenset[str]) -> Verdict | None:
    """Veto the waiver of what the context demands."""
    rest = scene.reading.keys - keys
    for near in scene.near[:_FEW_NEAR] if keys else ():
        asked = _REQUIRED.search(near.reading.text)
        if asked is None or _WAIVER.search(near.reading.text[: asked.start()]):
            continue
        before = [t for t in near.reading.tokens if t.start < asked.start()][-_SCOPE:]
        if any(_negates(t, near.reading.text) for t in before):
            continue  # "not required"
        at = 0 if _IS_REQUIRED.search(near.reading.text[: asked.end()]) else asked.start()
        wanted = frozenset(t.key for t in near.reading.tokens if t.key and t.start >= at)
        held = scene.weight(keys & wanted) >= _SAME_STATEMENT * scene.weight(keys)
        known = rest & (near.reading.keys | scene.pages.inherited(near.number))
        if held and 3 * len(known) >= len(rest):
            return contradiction(scene, name, f"the context demands it: {asked[0]!r}", near)
    return None


# -- superlatives -----------------------------------------------------------------------------

_IS_THE = re.compile(
    r"\b(?:is|are|was|were|became|remains?|as)\s+(?:\w+\s+)?the\s+(first|only|sole|best|worst|\w{3,}est"
    r"|(?:most|least)\s+\w+)\b(?!\s+(?:of\s+)?(?:month|day|week|year|time)s?\b)",
    re.I,
)
_UTMOST = re.compile(
    r"\b(?:\w{3,}est|most|least|first|only|sole|solely|alone|best|worst|top|record|unique|leading|no\s+other"
    r"|never\s+before|inaugural|original|last|\w+er\s+than\s+any|unrivalled|maiden|debut|pioneer\w*)\b",
    re.I,
)


def _superlative(scene: Scene, name: str) -> Verdict | None:
    """Veto "was the first" where the sentence that says the rest speaks of no first."""
    match = _IS_THE.search(scene.reading.text)
    if match is None or not scene.near or scene.near[0].share < _SAME_STATEMENT:
        return None
    if any(near.reading.row or near.reading.is_field for near in scene.near):
        return None  # the writer may compare what a table lists
    if any(_UTMOST.search(near.reading.text) for near in scene.near if near.share >= _CLOSE):
        return None
    return unmentioned(scene, name, f"the context does not say 'the {match[1]}'")


# -- comparisons ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is compared, in what, and which is more of it: "X is older than Y"."""

    left: frozenset[str]
    right: frozenset[str]
    what: str
    less: bool


def _comparisons(reading: Reading) -> Iterator[_Comparison]:
    """Yield the comparisons of a text; the right side is empty where it is left out."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        before = tokens[number - 1].lower if number else ""
        if token.key is None:
            continue
        if before in ("more", "less"):
            what = token.key
        elif token.lower.endswith("er") and (opposite(token.lower) or _than(tokens, number)):
            what = token.lower
        else:
            continue
        than = _than(tokens, number)
        first = max((n + 1 for n in range(number) if tokens[n].lower in _STOPS), default=0)
        end = next((n for n in range(than, len(tokens)) if tokens[n].lower in _STOPS), len(tokens))
        left = _designated(tokens, first, number)
        right = _designated(tokens, than + 1, end) if than else frozenset[str]()
        if left:
            yield _Comparison(left - right, right - left, what, before == "less")


_STOPS = frozenset(".;:,!?()") | frozenset("but while whereas because which who although".split())
_FAR = 6


def _than(tokens: tuple[Token, ...], number: int) -> int:
    """Return where "than" follows a comparative; 0 if it does not."""
    return next(
        (
            n
            for n in range(number + 1, min(number + _FAR, len(tokens)))
            if tokens[n].lower == "than"
        ),
        0,
    )


def _designated(tokens: tuple[Token, ...], first: int, last: int) -> frozenset[str]:
    """Return the words of a stretch; "unit 2" is one of them."""
    found: set[str] = set()
    for number in range(first, last):
        token = tokens[number]
        if token.key:
            found.add(token.key)
        elif token.value >= 0 and number and (key := tokens[number - 1].key):
            found.add(f"{key} {token.lower}")
    return frozenset(found)


def _other_way_round(scene: Scene, name: str) -> Verdict | None:
    """Veto "A is older than B" where the context says that B is."""
    for mine in _comparisons(scene.reading):
        for near in scene.near if mine.right else ():
            for theirs in _comparisons(near.reading):
                turned = _turned_round(mine, theirs, near.reading)
                if turned is None:
                    continue
                if not turned:
                    return None
                reason = "the context compares them the other way round"
                return contradiction(scene, name, reason, near)
    return None


def _turned_round(mine: _Comparison, theirs: _Comparison, reading: Reading) -> bool | None:
    """Return whether two comparisons clash; None where they do not compare the same."""
    if mine.what == theirs.what:
        less = mine.less != theirs.less
    elif theirs.what in opposite(mine.what):
        less = mine.less == theirs.less
    else:
        return None
    straight = mine.left & theirs.left and (mine.right & theirs.right or not theirs.right)
    crossed = mine.right & theirs.left and (
        mine.left & theirs.right or (not theirs.right and mine.left & reading.keys)
    )
    if bool(straight) == bool(crossed):
        return None
    return bool(straight) == less


# -- opposite words ---------------------------------------------------------------------------


def _opposed(scene: Scene, name: str) -> Verdict | None:
    """Veto where the opposite of a word stands in its place."""
    compared = list(_comparisons(scene.reading))
    left = [
        near
        for near in scene.near
        if not (_is_excepted(scene, near) or _compared_alike(compared, near))
    ]
    for mine in _parts(scene.reading, None) if left else ():
        for near in left:
            for theirs in _known_parts(near, scene):
                pair = _opposites(mine, theirs, scene, near)
                if pair is not None:
                    reason = f"the context says {pair[1]!r}, the answer {pair[0]!r}"
                    return contradiction(scene, name, reason, near)
    return None


def _compared_alike(compared: Sequence[_Comparison], near: Near) -> bool:
    """Whether both compare two things, and agree: "A is weaker than B", "B is stronger than A"."""
    return any(
        _turned_round(mine, theirs, near.reading) is False
        for mine in compared
        for theirs in _comparisons(near.reading)
    )


def _opposites(mine: _Part, theirs: _Part, scene: Scene, near: Near) -> tuple[str, str] | None:
    if bool(mine.denied) != bool(theirs.denied):
        return None
    shared = mine.keys & theirs.keys
    if not shared or len(shared) < _CLOSE * (len(mine.keys) - 1):
        return None
    said = _places(near, scene)
    own = {token.lower for token in scene.reading.tokens}
    known = near.reading.keys
    for number in range(mine.clause.first, mine.clause.last):
        token = scene.reading.tokens[number]
        word = token.lower
        if word in ("more", "less", "fewer") and _than(scene.reading.tokens, number):
            continue  # see above
        for other in opposite(word) & said.keys() - own if token.key not in known else ():
            if _degree(word) != _degree(other):
                continue  # "late January" and "earlier in the year"
            beside = _beside(scene.reading, number) & _beside(near.reading, said[other])
            if beside and not _elsewhere(token, beside, scene):
                return word, other
    return None


def _degree(word: str) -> str:
    if word in ("lower", "over", "under", "upper", "outer", "inner"):
        return ""
    return word[-3:] if word.endswith("est") else word[-2:] if word.endswith("er") else ""


def _places(near: Near, scene: Scene) -> dict[str, int]:
    """Return the words of a sentence of the context with their places."""
    key = "places", near.number
    found: dict[str, int] | None = scene.pages.notes.get(key)
    if found is None:
        words = enumerate(near.reading.tokens)
        found = scene.pages.notes[key] = {token.lower: number for number, token in words}
    return found


def _beside(reading: Reading, number: int) -> set[str]:
    """Return the nearest content words on both sides of a word."""
    before = [t.key for t in reading.tokens[max(0, number - 5) : number] if t.key]
    after = [t.key for t in reading.tokens[number + 1 : number + 6] if t.key]
    return {*before[-1:], *after[:1]}


def _elsewhere(word: Token, beside: set[str], scene: Scene) -> bool:
    """Whether another sentence of the context says it with the claim's word."""
    return any(
        (word.key in near.reading.keys or any(t.lower == word.lower for t in near.reading.tokens))
        and beside & (near.reading.keys | scene.pages.inherited(near.number))
        for near in scene.near
    )


# -- how many ---------------------------------------------------------------------------------

_QUANTIFIERS = {
    "all": 4, "every": 4, "each": 4, "any": 4, "everyone": 4, "always": 4, "most": 3,
    "majority": 3, "usually": 3, "many": 2, "often": 2, "some": 1, "sometimes": 1, "several": 1,
    "few": 0, "rarely": 0, "seldom": 0, "hardly": 0, "none": -1, "no": -1, "never": -1,
}  # fmt: skip
_CLASH = frozenset(
    {(4, 3), (4, 2), (4, 1), (4, 0), (4, -1), (3, 1), (3, 0), (3, -1), (2, 0), (2, -1), (1, -1),
     (0, 2), (0, 3), (0, 4), (-1, 0), (-1, 1), (-1, 2), (-1, 3), (-1, 4)}
)  # fmt: skip
"""(what the answer says, what the context says) of one thing that cannot both be meant."""


_LIMITING = _NEGATORS | frozenset(
    "fail failed fails without if refuse refused unable lacks".split()
)
_NEARLY = ("hardly", "almost", "barely", "scarcely", "virtually", "practically")
_NEARLY_NONE = ("any", "no", "none", "never", "nobody", "ever")


def _quantified(reading: Reading) -> Iterator[tuple[str, int, frozenset[str]]]:
    """Yield quantifiers with the words after them: what they speak of."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        strength = _QUANTIFIERS.get(token.lower)
        before = [other.lower for other in tokens[max(0, number - _SCOPE) : number]]
        if before[-1:] and before[-1] in _NEARLY and token.lower in _NEARLY_NONE:
            strength = 0
        elif token.lower == "any" and (
            not _LIMITING.isdisjoint(before) or any(w.endswith("n't") for w in before)
        ):
            continue  # "failed to win any" says none
        if strength is None or (
            number and tokens[number - 1].lower in ("at", "the", "than", "not")
        ):
            continue
        keys = [t.key for t in tokens[number + 1 : number + 6] if t.key][:2]
        if keys:
            yield token.lower, strength, frozenset(keys)


def _counted_otherwise(scene: Scene, name: str) -> Verdict | None:
    """Veto "all teams" where the context says "most teams"."""
    mine = list(_quantified(scene.reading))
    for near in scene.near if mine else ():
        if "without" in near.reading.text:  # "no passenger without a passport": each needs one
            continue
        theirs = list(_quantified(near.reading))
        for word, strength, noun in mine:
            same = [(w, s) for w, s, other in theirs if other & noun]
            if not same or near.share < _CLOSE or any(s == strength for _, s in same):
                continue
            if all((strength, s) in _CLASH for _, s in same):
                reason = f"the context says {same[0][0]!r} of it, the answer {word!r}"
                return contradiction(scene, name, reason, near)
    return None


# -- how sure ---------------------------------------------------------------------------------

_MODALS = {
    "may": "can", "might": "can", "can": "can", "could": "can", "must": "must", "shall": "must",
    "required": "must", "obliged": "must", "mandatory": "must", "will": "will",
    "should": "should", "recommended": "should", "optional": "can",
}  # fmt: skip
_TO_BE_DONE = re.compile(r"\b(?:has|have|need|needs)\s+to\s+$", re.I)


def _modal_verbs(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Yield modals with the verb that they govern: its key."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        kind = _MODALS.get(token.lower)
        if token.lower == "to" and _TO_BE_DONE.search(reading.text[: token.start + 3][-12:]):
            kind = "must"
        if kind is None or (token.lower == "may" and token.capital and number):
            continue
        after = tokens[number + 1 : number + 6]
        if _BOUND.search(reading.text, token.end, token.end + 60) or any(
            _negates(t, reading.text) for t in after[:1]
        ):
            continue
        verb = next((t.key for t in after if t.key), None)
        if verb is not None:
            yield token.lower, kind, verb


# "may weigh up to 5 kg" and "must weigh no more than 5 kg" are one rule
_BOUND = re.compile(
    r"\b(?:up\s+to|at\s+most|no\s+(?:more|later|longer)|not\s+exceed|at\s+least|only)\b", re.I
)
_WEAKER = frozenset({("can", "must"), ("will", "can"), ("must", "can"), ("must", "should")})
"""(what the answer says, what the context says) that are not the same."""


_GENERAL = frozenset(
    filter(None, map(key_of, "consider carry offer perform do undertake conduct give".split()))
)
"""Verbs that say little more than that something is done."""


def _demanded_instead(scene: Scene, name: str) -> Verdict | None:
    """Veto "imaging must be done" where the context says "imaging may be considered"."""
    for mine in told(scene):
        if mine.modal != "must" or not mine.passive or mine.verb not in _GENERAL or mine.denied:
            continue
        for near in scene.near[:_FEW_NEAR]:
            for theirs in known_deeds(scene, near):
                milder = theirs.modal in ("can", "should") and not theirs.denied
                if milder and theirs.verb in _GENERAL and mine.subject & theirs.subject:
                    reason = f"the context says {theirs.modal!r}, the answer 'must'"
                    return contradiction(scene, name, reason, near)
    return None


def _stronger(scene: Scene, name: str) -> Verdict | None:
    """Veto "must" where the context says "may", and "will" where it says "might"."""
    mine = list(_modal_verbs(scene.reading))
    for near in scene.near if mine else ():
        if near.share < _CLOSE * 0.8:
            break
        theirs = list(_modal_verbs(near.reading))
        for word, kind, verb in mine:
            same = [(w, k) for w, k, other in theirs if other == verb]
            if same and all((kind, k) in _WEAKER for _, k in same):
                reason = f"the context says {same[0][0]!r}, the answer {word!r}"
                if kind == "will":
                    return unmentioned(scene, name, reason)
                return contradiction(scene, name, reason, near)
    return None


# -- conditions -------------------------------------------------------------------------------

_UNIVERSAL = re.compile(
    r"\b(?:in\s+(?:every|any|all)\s+cases?|(?:on|at)\s+(?:any|every)\s+(?:day|time|hour)|every\s+day"
    r"|of\s+(?:all|any)\s+kinds?|at\s+all\s+times|in\s+all\s+circumstances|always|regardless|anyone|everyone"
    r"|everybody|alike|whoever|without\s+(?:exception|restriction|condition)s?|unconditionally"
    r"|at\s+any\s+time|in\s+general|no\s+matter)\b",
    re.I,
)
_RESTRICTED = re.compile(
    r"\b(?:only|except|unless|excluded|provided\s+that|not\s+all|limited\s+to|exclusively|solely)\b",
    re.I,
)


def _unbound(scene: Scene, name: str) -> Verdict | None:
    """Veto what is said of every case where the context ties it to one."""
    if not _UNIVERSAL.search(scene.reading.text) or _RESTRICTED.search(scene.reading.text):
        return _modifier_dropped(scene, name)
    for near in _about(scene, _UNIVERSAL):
        restricted = _RESTRICTED.search(near.reading.text)
        universal = _UNIVERSAL.search(near.reading.text)
        if restricted and not universal:
            reason = f"the context limits it: {restricted[0]!r}"
            return contradiction(scene, name, reason, near)
    return None


def _tied(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says on a condition alone."""
    dropped = condition_dropped(scene)
    if dropped is None:
        return None
    return unmentioned(scene, name, f"the context ties it to a condition: {dropped[0]!r}")


def _about(scene: Scene, pattern: re.Pattern[str]) -> Iterator[Near]:
    """Yield the sentence that says most of each clause in which a pattern stands."""
    for part in _parts(scene.reading, None):
        if pattern.search(_text(part)) and scene.near:
            near = max(scene.near, key=lambda near: len(part.keys & near.reading.keys))
            if 5 * len(part.keys & near.reading.keys) >= 2 * len(part.keys):
                yield near


def _modifier_dropped(scene: Scene, name: str) -> Verdict | None:
    """Veto "customers get it" where premium customers do and "other customers" do not."""
    tokens = scene.reading.tokens
    if not tokens or not tokens[0].key or not tokens[0].lower.endswith("s"):
        return None
    noun = tokens[0].key
    holders = [near for near in scene.near if noun in near.reading.keys]
    if not holders or holders[0].share < _CLOSE:
        return None
    first = holders[0]
    kinds = {near.number: _kind_of(near.reading, noun) for near in holders}
    kind = kinds.pop(first.number)
    if not kind or kind in scene.reading.keys:
        return None
    if any(other and other != kind for other in kinds.values()):
        reason = f"the context says it only of some: {kind!r}"
        return contradiction(scene, name, reason, first)
    return None


def _kind_of(reading: Reading, noun: str) -> str | None:
    """Return the word right before a noun that opens a sentence: "premium customers"."""
    if len(reading.tokens) < 2 or reading.tokens[1].key != noun:
        return None
    word = reading.tokens[0]
    return word.key or (word.lower if word.lower in ("other", "most", "some") else None)


# -- the first, the only ----------------------------------------------------------------------

_ONE_OF = re.compile(r"\b(?:one\s+of|among|some\s+of)\s+the\s+((?:most\s+|least\s+)?\w+)\b", re.I)
_THE = re.compile(
    r"\bthe\s+(first|last|only|sole|best|worst|\w{3,}est|(?:most|least)\s+\w+)\b", re.I
)


def _first_of_some(scene: Scene, name: str) -> Verdict | None:
    """Veto "the first" where the context says "one of the first"."""
    if _ONE_OF.search(scene.reading.text):
        return None
    said = {match[1].lower() for match in _THE.finditer(scene.reading.text)}
    for near in scene.near if said else ():
        if near.share < _CLOSE * 0.8:
            break
        shared = {match[1].lower() for match in _ONE_OF.finditer(near.reading.text)} & said
        if shared:
            word = min(shared)
            reason = f"the context says 'one of the {word}', the answer 'the {word}'"
            return unmentioned(scene, name, reason)
    return None
