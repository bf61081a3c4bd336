"""What a context gives to what: whether a claim puts a thing in the place of another.

In: a scene and a thing that the claim names, with the places where the context holds it and those
where it holds another of its kind. Out: the other, if every holder of the thing stands beside
words that the claim does not use of it, and the other beside those that it does.

    "Basic costs $9 and has 5 projects. Plus costs $19 and has 25." - "Basic has 25 projects."
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from faithguard._verbs import base_of, is_past
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._reading import Clause, Reading, Token, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = [
    "Slot",
    "anchors",
    "counted",
    "displaced",
    "is_listed",
    "misbound",
    "says_same",
    "segment",
    "shared",
]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the context where a thing stands."""

    near: Near
    clause: Clause
    at: int
    """Its place in the sentence."""
    text: str
    """The thing, as it is written there."""


_FEW = 3
_OPENING = frozenset("under in on at by with for within according".split())
_NEGATED = frozenset("without not no except excluding n't cannot never".split())

Anchor = str | int
"""A word, or the number of a value of the claim, beside the thing."""


def displaced(
    scene: Scene,
    start: int,
    own: Sequence[Slot],
    rivals: Sequence[Slot],
    *,
    ignored: Collection[str] = (),
) -> Slot | None:
    """Return the rival whose place the claim gives to a thing; None if its own place fits.

    Args:
        scene: The claim and its context.
        start: Where the thing stands in the claim.
        own: Where the context holds it.
        rivals: Where the context holds others of its kind.
        ignored: Words that tell nothing here, such as what the thing counts.
    """
    clause = scene.reading.clause_at(start)
    if clause is None or not own or not rivals:
        return None
    near, wide = anchors(scene, clause, start, ignored)
    best: Slot | None = None
    for holder in own:
        found = [
            (gain, rival)
            for rival in rivals
            if not _denied(rival)
            if (gain := _gain(scene, near, wide, holder, rival)) is not None
        ]
        if not found:
            return None
        best = best or max(found, key=lambda pair: pair[0])[1]
    return best


def is_listed(reading: Reading) -> bool:
    """Whether a claim is a row of a table, told cell by cell: "Plan: Basic; Price: 9"."""
    return reading.text.count(": ") > 1 and "; " in reading.text


def says_same(slot: Slot) -> bool:
    """Whether a sentence says that what holds of another thing holds of this one too."""
    return any(token.lower in _SAME for token in slot.near.reading.tokens)


_SAME = frozenset("same identical likewise dasselbe dieselben mismo mismos stesso mesmo".split())


def _denied(slot: Slot) -> bool:
    """Whether a thing stands right after a negation: "trade without dividend from 16 May"."""
    words = [token for token in slot.near.reading.words(slot.clause) if token.end <= slot.at]
    return any(token.lower in _NEGATED for token in words[-5:])


def anchors(
    scene: Scene, clause: Clause, start: int, ignored: Collection[str]
) -> tuple[frozenset[Anchor], frozenset[Anchor]]:
    """Return what stands beside a thing in its clause, and with the subject of the sentence."""
    reading = scene.reading
    subject = reading.clauses[0]
    if not clause.keys - set(ignored):  # "..., though no more than 20,000"
        at = reading.clauses.index(clause)
        subject = reading.clauses[max(0, at - 1)]
    keys = _subordinate(reading, clause, start) or clause.keys
    near: set[Anchor] = {key for key in keys if key not in ignored}
    near.update(
        n for n in clause.values if not reading.values[n].start <= start < reading.values[n].end
    )
    if keys != clause.keys:
        return frozenset(near), frozenset(near)
    wide = near | {key for key in subject.keys if key not in ignored}
    if is_listed(reading):
        wide |= reading.clauses[1].keys - set(ignored)
    # "Under section 3, traders must ...": what is said of it comes after
    opens = reading.tokens[clause.first].lower in _OPENING
    if opens and clause == subject and len(near) < _FEW and len(reading.clauses) > 1:
        wide |= reading.clauses[1].keys - set(ignored)
    return frozenset(near), frozenset(wide)


def _subordinate(reading: Reading, clause: Clause, start: int) -> frozenset[str]:
    """Return the words between a thing and the "after" or "before" that its deed follows."""
    words = [token for token in reading.words(clause) if token.end <= start]
    at = max((n for n, token in enumerate(words) if token.lower in _THEN), default=0)
    return frozenset(token.key for token in words[at:] if token.key) if at else frozenset()


_THEN = frozenset(("after", "before"))


def _gain(
    scene: Scene,
    near: frozenset[Anchor],
    wide: frozenset[Anchor],
    own: Slot,
    rival: Slot,
) -> float | None:
    """Return how much better the rival's place fits; None unless it clearly does."""
    if own.near.number == rival.near.number:
        if own.clause == rival.clause or _points_back(own, rival):
            return None
        mine = _held(scene, near, own.near.reading, own.clause) | _leading(near, own)
        mine |= _explained(near, own)
        theirs = _held(scene, near, own.near.reading, rival.clause) | _leading(near, rival)
        common = _common(own, rival) | _title(own.near.reading) | _shared_values(own, rival, scene)
        gained, lost = theirs - mine - common, mine - theirs - common
        gained -= _elided(own, rival, scene)
        if _contrasts(own, rival, gained, near):
            lost = frozenset[Anchor]()
    else:
        wanted = near | wide
        row = own.near.reading.row and rival.near.reading.row
        mine = _held(scene, wanted, own.near.reading, own.clause if row else None)
        theirs = _held(scene, wanted, rival.near.reading, rival.clause if row else None)
        mine |= _inherited(scene, wanted, own.near.number)
        theirs |= _inherited(scene, wanted, rival.near.number)
        gained, lost = theirs - mine, mine - theirs
        if not (row or _fits(near, theirs, rival)):
            return None
    lost -= _LIGHT
    if _all_there(scene, near, mine, theirs):
        return None
    if not gained or (lost and not _outweighs(scene, gained, lost)):
        return None
    return _weight(scene, gained)


def _all_there(
    scene: Scene, near: frozenset[Anchor], mine: frozenset[Anchor], theirs: frozenset[Anchor]
) -> bool:
    """Whether all that a clause says of a thing, as far as the context has it, is at its place."""
    words = {one for one in near if not isinstance(one, str) or scene.known(one)}
    return len(words) > 1 and words <= mine and not words <= theirs


def _leading(wanted: frozenset[Anchor], slot: Slot) -> frozenset[Anchor]:
    """Return the subject of a clause such as "and 4 million", which is that of the one before."""
    reading, clause = slot.near.reading, slot.clause
    if reading.row or clause.first == 0:
        return frozenset()
    if reading.tokens[clause.first - 1].lower not in _ANDS:
        return frozenset()
    if any(t.key for t in reading.words(clause) if t.end <= slot.at):
        return frozenset()
    before = next((c for c in reading.clauses if c.last == clause.first - 1), None)
    words = reading.words(before) if before is not None else ()
    first = next((t.start for t in words if t.value >= 0), 0)
    return wanted & frozenset(t.key for t in words if t.key and t.end <= first)


_BESIDE = 3
"""Words before a parenthesis that it tells something of."""
_ANDS = frozenset("and und et y e sowie plus".split())


def _explained(wanted: frozenset[Anchor], slot: Slot) -> frozenset[Anchor]:
    """Return the words before a parenthesis in which a thing stands."""
    reading, clause = slot.near.reading, slot.clause
    if not clause.first or reading.tokens[clause.first - 1].lower != "(":
        return frozenset()
    before = [t.key for t in reading.tokens[: clause.first - 1] if t.key]
    return wanted & frozenset(before[-_BESIDE:])


def _title(reading: Reading) -> frozenset[str]:
    """Return the words before the only colon of a sentence, which are said of all behind it."""
    colons = [n for n, token in enumerate(reading.tokens) if token.lower == ":"]
    if len(colons) != 1 or colons[0] > _TITLE or reading.row:
        return frozenset()
    return frozenset(t.key for t in reading.tokens[: colons[0]] if t.key)


_TITLE = 6
"""Words; what stands before a colon and is longer is no title."""


def _shared_values(own: Slot, rival: Slot, scene: Scene) -> frozenset[Anchor]:
    """Return the values of a claim that stand before both places: those of the subject."""
    reading = own.near.reading
    first = min(own.at, rival.at)
    here = [v for n in own.clause.values if (v := reading.values[n]).start != own.at]
    values = [
        value
        for value in reading.values
        if value.end <= first and not any(value.comparable(other) for other in here)
    ]
    return (
        frozenset(
            n
            for n, mine in enumerate(scene.reading.values)
            if any(mine.agrees(value) for value in values)
        )
        if values
        else frozenset()
    )


def _points_back(own: Slot, rival: Slot) -> bool:
    """Whether the own clause says again of what stands before: "and keep it there for an hour"."""
    words = {token.lower for token in own.near.reading.words(own.clause)}
    return own.clause.first > rival.clause.first and not words.isdisjoint(_BACK)


_BACK = ("it", "there", "them", "then")


def _inherited(scene: Scene, wanted: frozenset[Anchor], number: int) -> frozenset[Anchor]:
    """Return what a sentence such as "Above that, ..." takes from the one before."""
    subject = scene.pages.inherited(number)
    if not subject:
        return frozenset()
    before = _held(scene, wanted, scene.all[number - 1], None)
    return before | (wanted & subject)


def _fits(near: frozenset[Anchor], theirs: frozenset[Anchor], rival: Slot) -> bool:
    """Whether another sentence says enough of the clause that its value can be meant."""
    if rival.near.reading.is_field:
        label = rival.near.reading.clauses[0].keys
        return bool(label) and label <= near
    return len(theirs) > 1 and len(near & theirs) * 3 >= len(near)


def _common(own: Slot, rival: Slot) -> frozenset[str]:
    """Return the words that the first of two clauses holds for both.

    "The pass costs 5 euros for juniors and 9 for seniors": what stands before the first value, and
    all but the last phrase behind it; "adults pay 5 for a ride, children 9": what stands behind.
    """
    first, second = sorted((own, rival), key=lambda slot: slot.clause.first)
    reading = own.near.reading
    if reading.row:
        return frozenset()
    words = reading.words(first.clause)
    leading = any(t.key for t in reading.words(second.clause) if t.end <= second.at)
    trailing = any(t.key for t in reading.words(second.clause) if t.start > second.at)
    if leading and trailing:
        return frozenset()
    if leading:
        return frozenset(t.key for t in words if t.key and t.start > first.at)
    last = max((n for n, token in enumerate(words) if token.lower in _PREPOSITIONS), default=0)
    end = words[last].start if words[last].start > first.at else first.at
    return frozenset(token.key for token in words if token.key and token.end <= end)


def _elided(own: Slot, rival: Slot, scene: Scene) -> frozenset[str]:
    """Return the words of an earlier clause that a later one may leave out: its verb.

    "Tents cost 9 euros, cabins 30": of the words before the value only the first is its own.
    """
    if rival.clause.first > own.clause.first or rival.near.reading.row:
        return frozenset()
    words = rival.near.reading.words(rival.clause)
    leading = [t.key for t in words if t.key and t.end <= rival.at]
    return frozenset(leading[1:]) - scene.reading.hard


def _contrasts(own: Slot, rival: Slot, gained: frozenset[Anchor], near: frozenset[Anchor]) -> bool:
    """Whether the own clause has another word where the rival's has what the claim says.

    "The north lift runs until 5, the south lift until 7": north and south.
    """
    reading = own.near.reading

    def leading(slot: Slot) -> frozenset[str]:
        return frozenset(t.key for t in reading.words(slot.clause) if t.key and t.end <= slot.at)

    mine, theirs = leading(own), leading(rival)
    return bool(mine & theirs and gained & theirs and mine - theirs - near)


_PREPOSITIONS = frozenset("for in on at with to from during among by über für im bei".split())


def _outweighs(scene: Scene, gained: frozenset[Anchor], lost: frozenset[Anchor]) -> bool:
    """Whether names and values speak for the rival, and only common words for the own place."""
    hard = scene.reading.hard

    def firm(anchors: frozenset[Anchor]) -> bool:
        return any(not isinstance(anchor, str) or anchor in hard for anchor in anchors)

    return firm(gained) and not firm(lost) and _weight(scene, gained) > 1.5 * _weight(scene, lost)


def _weight(scene: Scene, anchors: frozenset[Anchor]) -> float:
    words = [anchor for anchor in anchors if isinstance(anchor, str)]
    return scene.weight(words) + 2.0 * (len(anchors) - len(words))


def _held(
    scene: Scene, wanted: frozenset[Anchor], reading: Reading, clause: Clause | None
) -> frozenset[Anchor]:
    """Return which anchors a sentence, or one clause of it, holds."""
    keys = clause.keys | _label_of(reading, clause) if clause else reading.keys
    numbers = clause.values if clause else range(len(reading.values))
    if reading.row and clause:  # the values of the first cell name the row
        numbers = (*reading.clauses[0].values, *numbers)
    values = [reading.values[n] for n in numbers]
    return frozenset(
        anchor
        for anchor in wanted
        if (
            anchor in keys
            if isinstance(anchor, str)
            else any(scene.reading.values[anchor].agrees(value) for value in values)
        )
    )


# -- what stands around a thing ----------------------------------------------------------------


def misbound(
    scene: Scene,
    start: int,
    like: Sequence[int],
    own: Sequence[Slot],
    rivals: Sequence[Slot],
    *,
    ignored: Collection[str],
    kin: Callable[[Near], Sequence[int]],
    enough: float = 0.0,
) -> Slot | None:
    """Return the rival around which the words stand that the claim has around a thing.

    Args:
        scene: The claim and its context.
        start: Where the thing stands in the claim.
        like: Where others of its kind stand in the claim.
        own: Where the context holds it.
        rivals: Where the context holds others of its kind.
        ignored: Words that tell nothing here.
        kin: Returns where a sentence holds things of the kind.
        enough: Share of what the claim has around it that must speak for the rival.
    """
    if not own or not rivals or is_listed(scene.reading):
        return None
    clause = scene.reading.clause_at(start)
    deed = _subordinate(scene.reading, clause, start) if clause else frozenset[str]()
    beside = (deed or _around(scene.reading, start, like)) - frozenset(ignored)
    wanted = frozenset(anchor for anchor in beside if _tells(anchor, scene))
    places = {slot.near.number: kin(slot.near) for slot in (*own, *rivals)}

    def cell(slot: Slot) -> frozenset[Anchor]:
        near = slot.near
        found = _around(near.reading, slot.at, places[near.number])
        if _ANAPHOR.match(near.reading.text, slot.at + len(slot.text)):
            found |= _before(near.reading, slot.at)  # "nine cooks, four of them"
        words = {one for one in found if isinstance(one, str)} | scene.pages.inherited(near.number)
        values = [near.reading.values[one] for one in found if isinstance(one, int)]
        words_wanted = frozenset(one for one in wanted if isinstance(one, str))
        return shared(words_wanted, frozenset(words), scene.reading.text) | {
            one
            for one in wanted
            if isinstance(one, int)
            and any(scene.reading.values[one].agrees(value) for value in values)
        }

    def first_of(slot: Slot) -> int:
        return min(places[slot.near.number])

    if clause and not deed and _at_home(scene, clause.keys - set(ignored), own, rivals):
        return None
    cells = [(rival, cell(rival)) for rival in rivals if not _denied(rival)]
    whole = _weight(scene, wanted)
    best: Slot | None = None
    for holder in own:
        mine = cell(holder)
        better = [
            (gain, rival)
            for rival, theirs in cells
            if (
                gain := _weight(
                    scene, theirs - mine - _subject_of_both(holder, rival, first_of(rival))
                )
            )
            > 2.0
            * _weight(scene, gone := _lost(scene, holder, rival, mine - theirs, first_of(holder)))
            and _dated(gone) <= _dated(theirs - mine)
            and gain >= (enough if rival.near.number == holder.near.number else 0.5) * whole
            and (
                not enough
                or len(theirs - mine) > 1
                or len(beside) == 1
                or _firm(scene, theirs - mine)
            )
            # what stands before the first of several may be said of all
            and not (gone and rival.at == first_of(rival) and rival.at < holder.at)
        ]
        if not better:
            return None
        best = best or max(better, key=lambda pair: pair[0])[1]
    return best


def _lost(
    scene: Scene, holder: Slot, rival: Slot, rest: frozenset[Anchor], first: int
) -> frozenset[Anchor]:
    """Return which anchors of the holder alone speak against the rival.

    "60 euros abroad, or 90 if it is urgent": what stands before the first is said of both.
    """
    if _goes_on(holder, rival):
        return frozenset()
    if holder.near.number == rival.near.number and rival.at > holder.at:
        if holder.at == first:
            rest -= _before(holder.near.reading, holder.at)
        if _has_no_verb(rival):
            rest &= scene.reading.hard
    return rest - _LIGHT


def _subject_of_both(holder: Slot, rival: Slot, first: int) -> frozenset[Anchor]:
    """Return the words before the first value: "8 to 4 in winter and until 7 in summer"."""
    same = holder.near.number == rival.near.number and holder.at > rival.at
    if same and _has_no_subject(holder):
        return _before(holder.near.reading, first)
    return frozenset()


def _at_home(
    scene: Scene, keys: frozenset[str], own: Sequence[Slot], rivals: Sequence[Slot]
) -> bool:
    """Whether one clause that holds a thing has all words of the claim's, and a rival's has not."""
    wanted = frozenset[Anchor](keys)
    return any(
        _all_there(
            scene, wanted, frozenset[Anchor](slot.clause.keys), frozenset[Anchor](rival.clause.keys)
        )
        for slot in own
        for rival in rivals
        if slot.clause != rival.clause
    )


_ANAPHOR = re.compile(r"(?:\s+[^\W\d_]+)?,?\s+of\s+(?:them|these|those|which|whom)\b", re.I)
_LIGHT = keys_of_all("cost pay last hold contain measure weigh run amount total".split())
"""Words that only say that something has a value."""


def _tells(anchor: Anchor, scene: Scene) -> bool:
    """Whether a word is one that the context has, and whether a value says when."""
    if isinstance(anchor, str):
        return " " in anchor or scene.known(anchor) or language(scene.reading.text) != "en"
    value = scene.reading.values[anchor]
    return value.family in ("date", "days") or (
        value.family == "number" and value.text.isdigit() and len(value.text) == _YEAR
    )


_YEAR = 4
"""Digits."""


def _dated(anchors: frozenset[Anchor]) -> bool:
    return any(not isinstance(one, str) for one in anchors)


def _has_no_subject(slot: Slot) -> bool:
    """Whether only such words as "until" stand between a value and the "and" before it."""
    reading, first = slot.near.reading, slot.clause.first
    words = [token for token in reading.words(slot.clause) if token.end <= slot.at]
    joined = first > 0 and reading.tokens[first - 1].lower in _ANDS
    return joined and bool(words) and not any(t.key or t.value >= 0 for t in words)


def _firm(scene: Scene, anchors: frozenset[Anchor]) -> bool:
    """Whether a name or a value is among anchors."""
    return any(not isinstance(one, str) or one in scene.reading.hard for one in anchors)


def _has_no_verb(slot: Slot) -> bool:
    """Whether a clause leaves its verb out: "two doctors work by day, one at night"."""
    words = slot.near.reading.words(slot.clause)
    return not any(base_of(t.lower) or t.lower in _AUXILIARIES for t in words)


_AUXILIARIES = frozenset("is are was were be has have had can may must will".split())


def _before(reading: Reading, at: int) -> frozenset[Anchor]:
    return frozenset(t.key for t in reading.tokens if t.key and t.end <= at)


def _goes_on(holder: Slot, rival: Slot) -> bool:
    """Whether a value follows another one with nothing but a conjunction in front of it."""
    if holder.near.number != rival.near.number or rival.at < holder.at:
        return False
    words = [t for t in holder.near.reading.tokens if holder.at < t.start < rival.at]
    last = max((n for n, t in enumerate(words) if t.lower in _COMMAS), default=-1)
    return last >= 0 and not any(t.key for t in words[last:]) and words[last].lower != ","


def _around(reading: Reading, at: int, like: Sequence[int]) -> frozenset[Anchor]:
    """Return the words that belong to the thing at a place rather than to others of its kind.

    They stand before it ("power: 4410, water: 4401") unless each of the kind is followed by what
    it is for ("4410 for power and 4401 for water"). Nothing reaches over a semicolon or a stop.
    """
    tokens = reading.tokens
    if reading.row:
        clause = reading.clause_at(at)
        return clause.keys if clause else frozenset()
    place = next((n for n, token in enumerate(tokens) if token.end > at), len(tokens) - 1)
    first = max((n + 1 for n in range(place) if tokens[n].lower in _WALLS), default=0)
    last = next((n for n in range(place, len(tokens)) if tokens[n].lower in _WALLS), len(tokens))
    others = [
        n
        for n in _places_of(tokens, like)
        if first <= n < last
        # the other end of "7 to 11" is no rival of it
        and any(t.key for t in tokens[min(n, place) + 1 : max(n, place)])
    ]
    if not others:
        return _anchors_in(tokens[first:last], tokens[place])
    colon = max((n + 1 for n in range(first, place) if tokens[n].lower == ":"), default=first)
    if any(n >= colon for n in others):
        first = colon  # what stands before it is said of all
    before = max((n for n in others if n < place), default=None)
    after = min((n for n in others if n > place), default=None)
    if all(n + 1 < last and tokens[n + 1].lower in _LEADS for n in (*others, place)):
        end = last if after is None else after
        part = tokens[place + 1 : end]
        if before is None:
            part = (*tokens[first:place], *part)
        return _anchors_in(part, tokens[place])
    begin = first if before is None else _behind_list(tokens, before + 1, place)
    end = last
    if after is not None:
        end = next((n for n in range(place + 1, after) if tokens[n].lower in _COMMAS), place + 1)
    return _anchors_in(tokens[begin:end], tokens[place])


def _places_of(tokens: Sequence[Token], offsets: Sequence[int]) -> list[int]:
    """Return the numbers of the tokens in which offsets lie, in order."""
    starts = [token.start for token in tokens]
    found = {(bisect_right(starts, at) - 1, at) for at in offsets}
    return sorted({n for n, at in found if n >= 0 and at < tokens[n].end})


def _behind_list(tokens: Sequence[Token], begin: int, place: int) -> int:
    """Return where the words of a thing begin; behind a comma that ends another amount."""
    ends = (tokens[begin - 1].value, tokens[place].value, -1)
    others = [n for n in range(begin, place) if tokens[n].value not in ends]
    commas = [
        n + 1 for n in range(others[-1] if others else place, place) if tokens[n].lower == ","
    ]
    return commas[-1] if commas else begin


def _anchors_in(tokens: Sequence[Token], thing: Token) -> frozenset[Anchor]:
    """Return the words and values of a stretch, but for the thing itself."""
    values = {t.value for t in tokens if t.value >= 0 and t.value != thing.value}
    numbered = {
        f"{a.key} {b.lower}"
        for a, b in pairwise(tokens)
        if a.key and a.capital and b.value in values and b.lower.isdigit()
    }
    return frozenset(t.key for t in tokens if t.key) | values | numbered


def shared(wanted: frozenset[str], found: frozenset[str], text: str) -> frozenset[str]:
    """Return which words are held; but in English also by words that begin like them."""
    exact = wanted & found
    if language(text) == "en":
        return exact
    heads = {key[:_HEAD] for key in found if len(key) >= _HEAD}
    return exact | {key for key in wanted if key[:_HEAD] in heads}


_HEAD = 5
"""Letters that two forms of a word, or a word and its compound, share in other languages."""


def segment(slot: Slot) -> tuple[int, int]:
    """Return where the stretch between two semicolons or stops begins and ends, as offsets."""
    tokens = slot.near.reading.tokens
    before = [t.end for t in tokens if t.end <= slot.at and t.lower in _WALLS]
    after = [t.start for t in tokens if t.start > slot.at and t.lower in _WALLS]
    return before[-1] if before else 0, after[0] if after else len(slot.near.reading.text)


_WALLS = frozenset(".;!?|。；！？\n")
_COMMAS = frozenset(",、，") | frozenset("plus and und et y e or".split())
_LEADS = frozenset("for in on to of if when for für pour para per (".split())


def _label_of(reading: Reading, clause: Clause) -> frozenset[str]:
    """Return what stands before a colon that a clause follows: "Card replacement: CHF 20"."""
    at = clause.first - 1
    while at >= 0 and reading.tokens[at].lower not in _WALLS | {":"}:
        at -= 1
    if at < 0 or reading.tokens[at].lower != ":":
        return frozenset()
    before = next((c for c in reading.clauses if c.last == at), None)
    return before.keys if before is not None else frozenset()


_OF_ALL = frozenset("the all its their our these those".split())


def counted(reading: Reading, start: int, end: int) -> Iterator[str]:
    """Yield what a number counts: the word after it, and what follows "per"."""
    tokens = reading.tokens
    at = next((n for n, token in enumerate(tokens) if token.start >= end), len(tokens))
    if at + 1 < len(tokens) and tokens[at].lower == "of":  # "35 of the 80 guests"
        at += 1
        while at < len(tokens) and (tokens[at].lower in _OF_ALL or tokens[at].value >= 0):
            at += 1
    for token in tokens[at : at + 2]:
        if is_past(token.lower):
            break  # "31 voted" counts nothing by name
        if token.key:
            yield token.key
            break
        if not token.lower.isalpha() or token.lower not in ("more", "or", "different"):
            break
    for number in range(at, min(at + 4, len(tokens) - 1)):
        if tokens[number].lower in ("per", "/") and (key := tokens[number + 1].key):
            yield key
