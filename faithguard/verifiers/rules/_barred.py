"""A thing of which the context says, in a clause of its own, that it is not so.

In: a scene. Out: a veto where the claim says that it is so, by a verb of its own ("runs on Windows"
beside "Windows is not supported"), as an item under what it is said to be, with a tick, or as
hours of a day on which it is closed; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faithguard._denied import is_negative
from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._measures import holding
from faithguard.verifiers.rules._parts import ONLY
from faithguard.verifiers.rules._reading import Reading, Token, keys_of_all, read
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, grant
from faithguard.verifiers.rules._small_words import BOUNDS, PREPOSITIONS
from faithguard.verifiers.rules._told import deeds_in, joined, known_deeds, told

__all__ = ["barred", "is_closed", "on_closed_days"]


_FAMILIES = [
    keys_of_all(words.split())
    for words in (
        "support supported compatible run work available install operate",
        "available offer provide include have get come sell stock",
        "accept pay",
        "include cover contain have come",
        "allow permit welcome bring admit accept",
        "return refund",
    )
]
_REFUSED = {
    "unavailable": "available",
    "unsupported": "supported",
    "excluded": "included",
    "prohibited": "allowed",
    "forbidden": "allowed",
    "banned": "allowed",
    "disallowed": "allowed",
    "incompatible": "compatible",
}
"""Words that deny what another says."""
_AT = frozenset(("on", "with", "under", "in", "of"))
_SOME = frozenset("some most many few several certain other others all every both".split())
_LIMITED = re.compile(r"\b(?:except|unless|apart\s+from|other\s+than|if|when|not|no|never)\b", re.I)
_TICK = re.compile("[✅✔✓☑👍]")


@dataclass(frozen=True, slots=True)
class _Bar:
    """What a clause says is not so, and of what."""

    near: Near
    keys: frozenset[str]
    kin: frozenset[str]
    """The verbs that say of it that it is so."""


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a list, with the words of what is said of it; none where a sign says it."""

    keys: frozenset[str]
    said: frozenset[str]


def barred(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context denies of a thing, in whatever words."""
    items = list(_items_of(scene.claim.text))
    for bar in _bars(scene):
        if items:
            meant = any(_meets(item, bar) for item in items)
        else:
            meant = any(_says(deed, scene.reading, bar) for deed in told(scene))
            meant = meant and _of_this(scene, bar)
        if meant and not _affirmed(scene, bar):
            return contradiction(scene, name, "the context denies it of this", bar.near)
    said = _SAID_OF.fullmatch(scene.claim.text)
    return _listed(scene, name, items or list(_items_of(f"{said[2]}: {said[1]}") if said else ()))


_SAID_OF = re.compile(
    r"([^,;:.]{1,60}) (?:is|are) (supported|included|covered|accepted|offered|available)\."
)
"""What a title over a list says of an item, as a sentence."""


def _listed(scene: Scene, name: str, items: list[_Item]) -> Verdict | None:
    """Grant "Supported systems: Linux" where "it runs on Linux"."""
    nears: list[Near] = []
    for item in items:
        kin = _kin(item.said)
        if not kin or len(item.said - kin) > _MOST_OTHER:
            return None
        bar = _Bar(scene.near[0], item.keys, kin) if scene.near else None
        near = _sayer(scene, bar) if bar else None
        if near is None:
            return None
        nears.append(near)
    if not nears or scene.reading.values:
        return None
    return grant(scene, name, "the context says it of this", nears)


_MOST_OTHER = 1
"""Words of a lead-in besides what it says of its items: "platforms"."""


def _items_of(text: str) -> Iterator[_Item]:
    """Yield the things that a claim without a verb only names, after what is said of them."""
    if len(text) > _LONGEST:
        return
    before, item = _split(_TICK.sub(" ", text).strip(" \ufe0f"))
    reading = read(item)
    # most claims have a verb, and their deeds are known already
    if not reading.keys or deeds_in(item):
        return
    if is_negative(before) or is_negative(item) or ONLY.search(text):
        return
    said = read(before).keys
    for part in joined(reading.tokens):
        if keys := frozenset(token.key for token in part if token.key):
            yield _Item(keys, said)


def _split(text: str) -> tuple[str, str]:
    """Return a lead-in, or a question, and what stands behind it."""
    found = list(_LEAD.finditer(text))
    if not found or ";" in text:
        return "", text
    return text[: found[-1].start()], text[found[-1].end() :]


_LEAD = re.compile(r"[:?]\s")
_LONGEST = 300
"""Characters of a claim that names a thing."""


def _meets(item: _Item, bar: _Bar) -> bool:
    if item.keys != bar.keys:
        return False
    # a name alone is no denial of "the lift is not grey"
    return not bar.kin.isdisjoint(item.said) if item.said else len(bar.kin) > 1


def _kin(verbs: frozenset[str]) -> frozenset[str]:
    """Return the verbs that say the same of a thing as one of some."""
    return frozenset(key for family in _FAMILIES if family & verbs for key in family)


def _bars(scene: Scene) -> Iterator[_Bar]:
    """Yield what the sentences near a claim say is not so, of a thing alone."""
    for near in scene.near:
        for deed in known_deeds(scene, near):
            refused = _REFUSED.get(deed.word, "")
            denied = deed.denied != bool(refused)
            if not denied or deed.conditional or not deed.subject or deed.pronoun:
                continue
            if not (deed.passive or deed.adjective):
                continue
            tokens = near.reading.tokens[deed.start : deed.end]
            if any(t.value >= 0 or t.lower in _SOME for t in tokens):
                continue
            if not (deed.sides - deed.subject) <= scene.reading.keys or _behind(near, deed):
                continue
            verbs = keys_of_all(refused.split()) if refused else frozenset((deed.verb,))
            yield _Bar(near, deed.subject, _kin(verbs) | verbs)


def _behind(near: Near, deed: Deed) -> bool:
    """Whether a condition follows a deed: "is not supported if", "not supported yet"."""
    rest = near.reading.text[near.reading.tokens[deed.at].end :]
    return _HANGS.match(rest) is not None


_HANGS = re.compile(
    r"\s*,?\s*(?:yet\b|if\b|unless\b|except|when\b|until\b|before\b|without\b|outside\b|apart\b|for\b)",
    re.I,
)


def _says(deed: Deed, reading: Reading, bar: _Bar) -> bool:
    """Whether a deed says that the thing is so."""
    if deed.denied or deed.conditional or deed.only or deed.verb not in bar.kin:
        return False
    tokens = reading.tokens
    start = next((n for n in range(deed.at, 0, -1) if tokens[n - 1].lower in _WALLS), 0)
    end = next((n for n in range(deed.at, len(tokens)) if tokens[n].lower in _WALLS), len(tokens))
    clause = reading.text[tokens[start].start : tokens[end - 1].end]
    if ONLY.search(clause) or _LIMITED.search(clause):
        return False
    if deed.passive or deed.adjective:
        before = reading.tokens[deed.start : deed.at]
        if any(_set(part) == bar.keys for part in joined(before)):
            return True
    return any(_set(part) == bar.keys for part in _objects(reading, deed))


_WALLS = frozenset(".;!?")


def _objects(reading: Reading, deed: Deed) -> Iterator[Sequence[Token]]:
    """Yield the nouns behind a verb, those that "and" joins apart: "on Linux and Windows"."""
    phrase: list[Token] = []
    link = ""
    tail = [t for t in reading.tokens if t.start > reading.tokens[deed.at].start]
    for token in tail:
        if token.lower in BOUNDS:
            break
        if token.lower in PREPOSITIONS:
            if not link or link in _AT:
                yield from joined(phrase)
            phrase, link = [], token.lower
        else:
            phrase.append(token)
    if not link or link in _AT:
        yield from joined(phrase)


def _set(part: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.key for token in part if token.key)


def _of_this(scene: Scene, bar: _Bar) -> bool:
    """Whether the passage of a denial speaks of what the claim is about."""
    passage = bar.near.sentence.passage
    about = frozenset(key for deed in told(scene) for key in deed.subject) - bar.keys
    return all(
        any(scene.pages.sentences[n].passage == passage for n in scene.pages.holders(key))
        for key in about
    )


def _affirmed(scene: Scene, bar: _Bar) -> bool:
    """Whether another sentence says that the thing is so."""
    near = _sayer(scene, bar)
    return near is not None and near.number != bar.near.number


def _sayer(scene: Scene, bar: _Bar) -> Near | None:
    """Return the first sentence that says that the thing is so."""
    said = (
        near
        for near in scene.near
        if any(_says(deed, near.reading, bar) for deed in known_deeds(scene, near))
    )
    return next(said, None)


# -- days on which it is closed ------------------------------------------------------------------

_CLOSED = re.compile(r"\b(?:closed|shut)\b", re.I)
_CLOSED_KEYS = keys_of_all("closed shut".split())
_WE = frozenset(("we", "they", "it"))


def on_closed_days(scene: Scene, name: str) -> Verdict | None:
    """Veto hours of a day of which the context says that it is closed; grant that it is."""
    text = scene.reading.text
    days = [value for value in scene.reading.values if value.family == "days"]
    if not days or _LIMITED.search(text) or ONLY.search(text):
        return None
    if _CLOSED.search(text):
        return _granted(scene, name, days)
    timed = any(value.family == "clock" for value in scene.reading.values)
    if not timed and not any(deed.verb in _OPEN for deed in told(scene)):
        return None
    for value in days:
        near = _closed_on(scene, value)
        if near is not None:
            return contradiction(scene, name, f"the context says closed: {value.text!r}", near)
    return None


def _granted(scene: Scene, name: str, days: list[Value]) -> Verdict | None:
    """Say that it is closed on days on which "we are closed", where nothing else is said."""
    if len(days) < len(scene.reading.values):
        return None
    nears = [_closed_on(scene, value) for value in days]
    if any(near is None or not _WE & {near.reading.tokens[0].lower} for near in nears):
        return None
    here = {near.sentence.passage for near in nears if near is not None}
    for key in scene.reading.keys - _CLOSED_KEYS:
        if not any(scene.pages.sentences[n].passage in here for n in scene.pages.holders(key)):
            return None
    found = [near for near in nears if near is not None]
    return grant(scene, name, "the context says that it is closed then", found)


def is_closed(scene: Scene, value: Value) -> bool:
    """Whether a claim and the context say of a day that it is closed then."""
    return _CLOSED.search(scene.reading.text) is not None and _closed_on(scene, value) is not None


_OPEN = keys_of_all("open available reach call contact answer work serve".split())


def _closed_on(scene: Scene, value: Value) -> Near | None:
    """Return the sentence that says of a day that what the claim is about is closed then."""
    found: Near | None = None
    numbers = {near.number for near, _ in holding(scene, value)}
    for key in sorted(_CLOSED_KEYS):
        numbers.update(scene.pages.holders(key))
    for number in sorted(numbers):
        reading = scene.all[number]
        for day in (v for v in reading.values if v.family == "days" and _within(v, value)):
            clause = reading.clause_at(day.start)
            if clause is None or reading.row:
                continue
            words = reading.words(clause)
            if not _CLOSED.search(" ".join(token.lower for token in words)):
                return None  # said to be open, or of something else
            others = clause.keys - _CLOSED_KEYS - scene.reading.keys
            if words[0].lower in _WE and _timed_apart(scene, number):
                return None
            if words[0].lower in _WE or not others:
                found = found or scene.at(number)
    return found


def _timed_apart(scene: Scene, number: int) -> bool:
    """Whether another sentence gives times of what a claim is about: "the lines are staffed"."""
    about = scene.pages.inherited(number) | scene.all[number].keys
    if not about.isdisjoint(scene.reading.keys):
        return False
    return any(
        value.family in ("clock", "days")
        for near in scene.near
        if near.number != number
        for value in near.reading.values
    )


def _within(day: Value, other: Value) -> bool:
    """Whether all days of one are days of the other."""
    return any(
        isinstance(a, frozenset) and isinstance(b, frozenset) and a <= b
        for a in day.readings
        for b in other.readings
    )
