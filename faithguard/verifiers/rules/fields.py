"""Fields: what an object that a tool returned says of itself, and a claim says otherwise.

In: a claim and its context. Out: where a passage is JSON, a printed dict or lines of "key: value":
a veto of what a true or false field denies, of a state that excludes the one that is given, of an
amount in another currency, and of a number of another field or object; the verdict that it is
supported where a claim denies what a false field denies; else silence. English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from faithguard._lazy import lazy
from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._statement import NEGATIVE
from faithguard.verifiers._terms import analyse, keys_in, stem
from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._objects import Field, Thing, things_of
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, grant, scene_of
from faithguard.verifiers.rules._states import STATE, excludes, still_to_come

__all__ = ["Fields", "is_of_field", "is_title"]

_MEMO = "objects"
_OPENING = re.compile(r"(?i)^\W*(?:(?:yes|no|unfortunately|sorry|good news)[,:.!–—]\s*)+")
_CLAUSES = re.compile(
    r"[,;:]\s|\s[–—-]\s|\b(?:and|but|while|although|though|because|since|so|whereas)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:if|unless|whether|when|once|until|till|can|could|may|might|would|should|will|must|need|"
    r"needs|please|expected|scheduled|supposed|due|soon|before|after|used\s+to|previously|formerly|"
    r"originally|earlier|yesterday|ago|last|tomorrow|next|usually|often|sometimes|only|except|"
    r"about\s+to|to\s+be|going\s+to)\b|['’]ll\b|['’]d\b|\?",
    re.IGNORECASE,
)
"""What makes a statement one of another time, or of a condition."""
_VERB = re.compile(
    r"(?:\b(?:is|are|was|were|be|been|has|have|had|isn|aren|wasn|weren|hasn|haven|do|does|did|don|"
    r"doesn|didn)\b|(?<=\w)['’](?:s|re|ve)\b)",
    re.IGNORECASE,
)
_LEADS = frozenset("is has was are have can allows includes".split())
_TURNED = re.compile(r"\b(?:out\s+of|without|lacks?|sold\s+out|unavailable)\b", re.IGNORECASE)
_UN = ("un", "non", "in", "dis")
_STOCK = re.compile(r"\b(?:in\s+stock|out\s+of\s+stock|sold\s+out|(?:un)?available)\b", re.I)
_ABOUT = frozenset(
    stem(word)
    for word in (
        "item product article thing currently right now moment present time still yet already "
        "include come get feature allow permit offer provide accept support enable ask request "
        "choose select opt want order customer unfortunately presently today available been mark "
        "longer actually indeed status list purchase package parcel shipment request case issue "
        "ticket task job account subscription plan application booking reservation delivery way"
    ).split()
)
"""Words beside what a field says that add nothing to it."""
_COSTS = keys_in("cost price total amount fee charge sum")
_COUNTING = frozenset("count num number total no avg average qty quantity of amount".split())
_BOUND = re.compile(
    r"\b(?:over|than|least|most|up\s+to|about|around|nearly|almost|approximately|roughly|under|"
    r"below|above|of\s+the|out\s+of|from|to|by|another|further|other|first|last|top)\s*$|[~<>≥≤+/-]\s*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?P<noun>[^\W\d_]+)\s*(?:(?:is|are|was|were|of|at|stands\s+at|as|equals)\s+|[=:]\s*)?$",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"\s+(?:[^\W\d_]+\s+)?(?P<noun>[^\W\d_]+)")
_NEXT = re.compile(r"\s+(?P<noun>[^\W\d_]+)")
_COSTING = re.compile(r"\b(?:costs?|priced\s+at|cost)\s+$", re.IGNORECASE)


class Fields(Family):
    """Veto what the fields of an object deny."""

    name = "fields@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a verdict, or None where no object is clear about it."""
        data = _data(context)
        if not data.things:
            return None
        scene = scene_of(claim, context)
        return (
            _flagged(scene, data, self.name)
            or _in_other_state(scene, data, self.name)
            or _in_other_currency(scene, data, self.name)
            or _of_other_object(scene, data, self.name)
            or _of_other_field(scene, data, self.name)
        )


@dataclass(eq=False)
class _Data:
    things: list[Thing]
    """The outermost objects."""
    prose: str
    """All passages that are no data."""

    @lazy
    def all(self) -> list[Thing]:
        return [inner for thing in self.things for inner in thing.whole()]

    @lazy
    def fields(self) -> list[tuple[Thing, Field]]:
        return [(thing, field) for thing in self.all for field in thing.fields]

    @lazy
    def told(self) -> frozenset[str]:
        """Stems of the other passages."""
        return frozenset(keys_in(self.prose))

    @lazy
    def numbers(self) -> tuple[Value, ...]:
        """What the other passages measure."""
        return tuple(find_values(self.prose))

    @lazy
    def known(self) -> frozenset[str]:
        """Stems of texts and of keys that say which object it is."""
        texts = (f.words | f.keys if f in t.titles else f.words for t, f in self.fields)
        return frozenset(word for words in texts for word in words)

    def untitled(self, text: str) -> str:
        """Return a text without what says in it which object is meant."""
        held = {str(f.value) for thing in _named_in(text, self) for f in thing.titles}
        for title in sorted(held, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(title)}(?!\w)", " ", text, flags=re.IGNORECASE)
        return text

    @lazy
    def titles(self) -> frozenset[str]:
        """Stems of the keys that give an object another part."""
        keys = {key for t, f in self.fields if f not in t.titles for key in f.keys}
        return frozenset(keys.union(*(thing.path for thing in self.all)))


def _data(context: Context) -> _Data:
    if _MEMO not in context.memo:
        texts = [passage.text for passage in context.passages]
        things = things_of(texts)
        read = {thing.passage for thing in things}
        prose = "\n".join(text for number, text in enumerate(texts) if number not in read)
        context.memo[_MEMO] = _Data(things, prose)
    data: _Data = context.memo[_MEMO]
    return data


def _said(thing: Thing, text: str, own: frozenset[str]) -> bool:
    """Whether a text says the name or the number of an object."""
    return any(
        (f.words and not f.values and f.words <= own)
        or re.search(rf"(?<!\w){re.escape(str(f.value))}(?!\w)", text, re.IGNORECASE)
        for f in thing.titles
    )


def _named_in(text: str, data: _Data) -> list[Thing]:
    """Return the objects that a text names."""
    own = frozenset(keys_in(text))
    return [thing for thing in data.all if _said(thing, text, own)]


def _meant(
    held: Sequence[tuple[Thing, Field]], data: _Data, text: str
) -> Sequence[tuple[Thing, Field]]:
    """Return those fields, of some alike, that a claim can mean; none if it is of another thing."""
    own = frozenset(keys_in(text))
    named = _named_in(text, data)
    ours = [(t, f) for t, f in held if t in named]
    if ours:
        return ours
    above = [(t, f) for t, f in held if t.above is None]
    if any(thing.above is not None for thing in named):
        return []
    if above:
        return above
    return [(t, f) for t, f in held if t.path & own]


# -- true or false ------------------------------------------------------------------------------


def _flagged(scene: Scene, data: _Data, name: str) -> Verdict | None:
    text = _OPENING.sub("", scene.reading.text)
    if _OPEN.search(text):
        return None
    flags: dict[str, list[tuple[Thing, Field]]] = {}
    for thing, field in data.fields:
        if isinstance(field.value, bool):
            flags.setdefault(field.name, []).append((thing, field))
    clauses = [part for part in _CLAUSES.split(text) if part.strip()]
    agreed: dict[int, bool] = {}
    for title, held in flags.items():
        words = [word for word in title.split() if word not in _LEADS]
        for place, clause in enumerate(clauses):
            found = _polarity(clause, words, data)
            if found is None or (not _VERB.search(clause) and _denied_in(clauses[:place])):
                continue
            said, sure = found
            meant = _truths(held, data, clauses, place, said=said)
            if meant == {said}:
                if sure:
                    agreed[place] = said
            elif meant:
                reason = f"the context says {' '.join(words)!r}: {'no' if said else 'yes'}"
                return contradiction(scene, name, reason, _where(scene))
    if len(agreed) < len(clauses) or all(agreed.values()):
        return None  # what is so is found by others, too
    return grant(scene, name, "the context denies the same", scene.near[:1])


def _where(scene: Scene) -> Near | None:
    return scene.near[0] if scene.near else None


def _denied_in(clauses: Sequence[str]) -> bool:
    return any(NEGATIVE.search(clause) for clause in clauses)


def _truths(
    held: Sequence[tuple[Thing, Field]],
    data: _Data,
    clauses: Sequence[str],
    place: int,
    *,
    said: bool,
) -> set[bool]:
    """Return what the flags are that a clause can mean; nothing where that is not clear."""
    before = clauses[:place]
    named = _named_in(clauses[place], data)
    listed = bool(before and named) and not any(map(_VERB.search, before))
    text = clauses[place] if named and not listed else " ".join(clauses)
    found = {bool(f.value) for _, f in _meant(held, data, text)}
    return found if len(found) == 1 or (listed and said) else set()


def _polarity(clause: str, words: list[str], data: _Data) -> tuple[bool, bool] | None:
    """Return whether a clause affirms what a key names, and whether it names no other subject.

    None where it does not speak of it, or says more.
    """
    key = keys_in(" ".join(words))
    plain = data.untitled(clause).replace("-", " ")
    if not key or key <= data.told or find_values(plain):
        return None
    stock = " ".join(words) in ("in stock", "available", "stock available")
    words_said = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", _TURNED.sub(" ", plain))
    own = [word.lower() for word in words_said if not NEGATIVE.search(word)]
    turned = len(_TURNED.findall(plain))
    said = set[str]()
    for word in own:
        if (stock and word in ("available", "stock")) or keys_in(word) <= key:
            said |= keys_in(word) & key
            continue
        bare = next((word[len(u) :] for u in _UN if word.startswith(u) and len(word) > 4), "")
        if bare and keys_in(bare) and keys_in(bare) <= key:
            said |= keys_in(bare)
            turned += 1
        elif len(key) == 1 and any(keys_in(other) == key for other in opposite(word)):
            said |= key
            turned += 1
        else:
            said |= keys_in(word)
    if stock:
        if not _STOCK.search(plain):
            return None
        said |= key
    elif (
        len(words) > len(key)
        and not re.search(rf"\b(?:{words[0]}|out\s+of)\s", plain, re.IGNORECASE)
        and words[0] in ("in", "on", "at", "out")
    ):
        return None
    if not key <= said:
        return None
    verb = _VERB.search(plain)
    before = NEGATIVE.sub(" ", plain[: verb.start()]) if verb else ""
    subject = keys_in(before) - key
    if key & keys_in(before) and not subject <= data.known | _ABOUT:
        return None  # "a refundable deposit is ..."
    rest = said - key - subject
    if not rest <= data.known | _ABOUT or subject & (data.titles - data.known):
        return None
    turned += len(NEGATIVE.findall(plain))
    return turned % 2 == 0, subject <= data.known | _ABOUT


# -- states -------------------------------------------------------------------------------------


def _in_other_state(scene: Scene, data: _Data, name: str) -> Verdict | None:
    text = _OPENING.sub("", scene.reading.text)
    if _OPEN.search(text):
        return None
    held = [(t, f) for t, f in data.fields if f.is_state]
    if not held:
        return None
    meant = _meant(held, data, text)
    states = {re.sub(r"[\W_]+", " ", str(f.value)).strip().lower() for _, f in meant}
    if len(states) != 1 or len({f.name for _, f in meant}) != 1:
        return None
    state = states.pop()
    ours = frozenset(word for _, f in meant for word in f.keys)
    for clause in _CLAUSES.split(text):
        verb = _VERB.search(clause)
        if verb is None:
            continue
        if not keys_in(clause[: verb.start()]) <= data.known | _ABOUT | ours:
            continue
        for match in STATE.finditer(clause, verb.start()):
            said = match[0].lower()
            if _told_elsewhere(said, data, meant):
                continue
            wrong = still_to_come(said, state) if NEGATIVE.search(clause) else excludes(said, state)
            if wrong:
                reason = f"the context says {state!r} of this, the answer {match[0]!r}"
                return contradiction(scene, name, reason, _where(scene))
    return None


def _told_elsewhere(said: str, data: _Data, meant: Sequence[tuple[Thing, Field]]) -> bool:
    """Whether another field, or another passage, says a state."""
    words = keys_in(said)
    ours = [field for _, field in meant]
    return words <= data.told or any(
        words <= f.words | f.keys for _, f in data.fields if f.value is not None and f not in ours
    )


# -- numbers ------------------------------------------------------------------------------------


def _same(value: Value, other: Value) -> bool:
    if value.family != "number" or other.family != "number":
        return value.agrees(other)
    return value.agrees(other) or bool(
        (value.bare or value.readings) & (other.bare or other.readings)
    )


def _holds(field: Field, value: Value) -> bool:
    return any(_same(value, other) for other in field.values)


def _is_money(value: Value) -> bool:
    return value.family == "number" and (value.unit in CURRENCIES or value.unit == "dollar")


def _in_other_currency(scene: Scene, data: _Data, name: str) -> Verdict | None:
    """Veto "30 dollars" where the object that has the 30 counts in another currency."""
    for value in scene.reading.values:
        if not _is_money(value) or any(_same(value, other) for other in data.numbers):
            continue
        held = [f for _, f in data.fields if _holds(f, value)]
        if any(v.unit == value.unit or value.agrees(v) for f in held for v in f.values if v.unit):
            continue
        money = [v for f in held for v in f.values if _is_money(v) and _same(value, v)]
        if money and not isinstance(held[0].value, str):
            reason = f"the context says {money[0].text!r}, the answer {value.text!r}"
            return contradiction(scene, name, reason, _where(scene))
    return None


def _of_other_object(scene: Scene, data: _Data, name: str) -> Verdict | None:
    """Veto a number of one object that a claim gives to another one beside it."""
    rows: dict[tuple[int, frozenset[str]], list[Thing]] = {}
    for thing in data.all:
        if thing.titles:
            rows.setdefault((id(thing.above), thing.path), []).append(thing)
    text = scene.reading.text
    if NEGATIVE.search(text):
        return None
    for alike in rows.values():
        for segment in _CLAUSES.split(text) if len(alike) > 1 else ():
            named = _named(alike, segment)
            for value in find_values(segment) if named is not None else ():
                if named is None or value.text.lower() in ("one", "first", "once"):
                    continue
                if _BOUND.search(segment[: value.start]) or value.approximate:
                    continue
                other = _owner(value, named, alike, data)
                if other is not None:
                    reason = f"the context says {value.text!r} of another object"
                    return contradiction(scene, name, reason, _where(scene))
    return None


def _named(alike: Sequence[Thing], segment: str) -> Thing | None:
    """Return the one of some objects that a text names, if it says no word of the others."""
    own = frozenset(keys_in(segment))
    found = [thing for thing in alike if _said(thing, segment, own)]
    if len(found) != 1:
        return None
    words = {word for f in found[0].titles for word in f.words}
    rest = {word for t in alike for f in t.titles for word in f.words} - words
    return None if rest & own else found[0]


def _owner(value: Value, named: Thing, alike: Sequence[Thing], data: _Data) -> Thing | None:
    """Return whose number it is, where it stands in objects beside the named one alone."""
    others = {id(inner) for t in alike if t is not named for inner in t.whole()}
    if any(_holds(f, value) for t, f in data.fields if id(t) not in others):
        return None
    if any(_same(value, other) for other in data.numbers):
        return None
    return next(
        (
            t
            for t, f in data.fields
            if not isinstance(f.value, str) and f not in t.titles and _holds(f, value)
        ),
        None,
    )


def _head(field: Field) -> str:
    """Return the stem of what a field counts or measures."""
    words = [word for word in field.name.split() if word not in _COUNTING]
    return stem(words[-1]) if words else ""


def _measured(text: str, value: Value, data: _Data) -> tuple[list[Field], bool]:
    """Return the fields of which a claim says a number: "12 reviews", "a rating of 12".

    And whether it says so directly.
    """
    if _COSTING.search(text[: value.start]):
        return [f for _, f in data.fields if f.keys & _COSTS], False
    before = _BEFORE.search(text[: value.start])
    beside = [m["noun"] for m in (_NEXT.match(text, value.end), before) if m]
    found = _counting(beside, data)
    if found:
        return found, True
    behind = _BEHIND.match(text, value.end)
    return _counting([behind["noun"]] if behind else [], data), False


def _counting(nouns: Sequence[str], data: _Data) -> list[Field]:
    stems = {stem(noun.lower()) for noun in nouns}
    return [f for _, f in data.fields if f.values and _head(f) in stems]


def _of_other_field(scene: Scene, data: _Data, name: str) -> Verdict | None:
    """Veto a number of one field that a claim gives to another: "12 reviews" of a price of 12."""
    text = scene.reading.text
    if NEGATIVE.search(text):
        return None
    own = frozenset(analyse(text).words)
    for value in scene.reading.values:
        if value.family != "number" or value.approximate or _BOUND.search(text[: value.start]):
            continue
        sought, direct = _measured(text, value, data)
        held = [f for _, f in data.fields if _holds(f, value)]
        if not sought or not held or any(_same(value, other) for other in data.numbers):
            continue
        if any(isinstance(f.value, str) for f in sought) or any(_holds(f, value) for f in sought):
            continue
        if any((f.keys & own and not direct) or isinstance(f.value, str) for f in held):
            continue
        reason = f"the context says {value.text!r} of {held[0].name!r}"
        return contradiction(scene, name, reason, _where(scene))
    return None


def is_of_field(value: Value, scene: Scene) -> bool:
    """Whether a claim says a number of the field under which data have it."""
    data = _data(scene.context)
    if not data.things:
        return False
    text = scene.reading.text
    measured, _ = _measured(text, value, data)
    if measured:
        return any(_holds(f, value) for f in measured)
    own = frozenset(keys_in(text))
    return any(
        (
            (f.keys | (t.path if f in t.titles else frozenset[str]())) & own
            or _said(t, text, own - f.words)
        )
        and _holds(f, value)
        for t, f in data.fields
    )


def is_title(text: str, scene: Scene) -> bool:
    """Whether a text is what says of the one object that a claim names which one it is."""
    data = _data(scene.context)
    named = _named_in(scene.reading.text, data) if data.things else []
    return len(named) == 1 and any(
        str(f.value).casefold() == text.casefold() for f in named[0].titles
    )
