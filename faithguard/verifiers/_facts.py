"""Sentence -> the facts that it tells side by side, and whether a statement mixes two of them.

In: sentences of the context and the words of a statement. Out: facts. "The gym closes at 9 pm and
the pool at 8 pm" tells two: what holds of the one supports nothing of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from faithguard._verbs import base_of, is_participle
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers._terms import analyse
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._words import language

__all__ = ["Fact", "facts_of", "has_verb", "in_parts", "mixed", "nearest", "words_in"]

# "in lot B. Lot A is" is no initial
_WALL = re.compile(
    r"[;；]\s*|(?-i:(?<=[a-z] [A-Z])\.\s+(?=[A-Z]))|,?\s+(?:while|whereas|whilst|but|however|aber|"
    r"sondern|mais|pero|sino|ma|mas|maar)\s+",
    re.IGNORECASE,
)
_SEAM = re.compile(r",\s+(?:(?:and|or)\s+)?|\s+and\s+|[、，]", re.IGNORECASE)
_PREPOSITIONS = frozenset(
    "of in on at to from by for with about into onto over between through during under without"
    " within per as than until till before after since".split()
)
_WORD = re.compile(r"[^\W_]+")
_FEWEST = 2
"""Words and values that a fact has."""
_LONGEST = 250
"""Characters; a comma in what is longer seldom parts two facts."""
_TITLE = re.compile(r"\s*(?:#|\*\*[^*]{1,80}\*\*\s*$|[^.!?]{1,80}:\s*$)")
_MOST_CARRIED = 4
"""Sentences back to which a pronoun may point."""
_PRONOUN = re.compile(
    r"\W*(?:(?:since|in|by|from|until|after|before|on|at|for|today|now)\b[^,.]{0,30}?,? )?"
    r"(?:he|she|it|they|this|that|these|those|his|her|its|their|both|er|sie|es|il|elle|ils|"
    r"elles|él|ella|lui|lei|ele|ela|hij|zij)\b|.*\b(?:it|them|him)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """What a sentence, or a part of it, tells."""

    text: str
    words: frozenset[str]
    values: tuple[Value, ...]
    carried: frozenset[str] = frozenset()
    """Words of what stands before, which it speaks of as well."""

    def holds(self, value: Value) -> bool:
        """Say whether it tells of a value."""
        return any(value.agrees(other) for other in self.values)


def in_parts(text: str) -> list[str]:
    """Return the parts of a sentence that words such as "while" set against each other."""
    return _WALL.split(text)


@lru_cache(maxsize=2_048)
def _facts_in(text: str) -> tuple[Fact, ...]:
    return tuple(
        _fact(part)
        for piece in in_parts(text)
        for whole in _apposed(piece)
        for part in _parted(whole)
    )


_APPOSED = re.compile(
    r"(?P<subject>[^,]{1,60}), (?P<inside>[^,]{1,160}), (?P<rest>(?P<verb>[^\W\d_]+)\b.*)",
    re.DOTALL,
)


def _apposed(piece: str) -> Iterator[str]:
    """Yield what a sentence says, and what it says beside that of its subject."""
    match = _APPOSED.fullmatch(piece)
    if match is None or not _is_verb(match["verb"].casefold()):
        yield piece
        return
    yield f"{match['subject']} {match['rest']}"
    yield f"{match['subject']} {match['inside']}"


def words_in(text: str) -> frozenset[str]:
    """Return the keys of a text, the letters that tell one of a kind ("lot A"), and May."""
    return frozenset((*analyse(text).words, *_LETTER.findall(text)))


# "may" is no month
_LETTER = re.compile(r"(?<=[^\W\d_][ -])(?:(?!I\b)[A-Z]\b(?!\.\s?[A-Z])|May\b)")


def _fact(text: str) -> Fact:
    return Fact(text, words_in(text), analyse(text).distinct)


def _parted(piece: str) -> Iterator[str]:
    """Yield the parts between commas and "and" that are facts beside each other."""
    start = 0
    for seam in _SEAM.finditer(piece) if len(piece) <= _LONGEST else ():
        left, right = piece[start : seam.start()], piece[seam.end() :]
        following = _SEAM.search(right)
        if following is not None and not _beside(left, right):
            right = right[: following.start()]
        if _beside(left, right):
            yield left
            start = seam.end()
    yield piece[start:]


def _beside(left: str, right: str) -> bool:
    """Whether two parts tell of two things in one manner: "the gym at 9", "the pool at 8"."""
    first = _WORD.search(right)
    if first is None:
        return False
    if first[0].casefold() in _PREPOSITIONS:
        return _distributed(left, right)
    one, two = _fact(left), _fact(right)
    if min(len(f.words) + len(f.values) for f in (one, two)) < _FEWEST:
        return False
    if any(mine.comparable(other) for mine in one.values for other in two.values):
        return True
    if _carries_on(first[0].casefold()):
        return False
    mine, theirs = ([w.casefold() for w in _WORD.findall(part)] for part in (left, right))
    shared = set(mine) & set(theirs)
    if not _is_english(left) or not _is_english(right):
        return False
    told = any(word in _VERBS or base_of(word) for word in shared)
    ends_alike = not shared.isdisjoint(_PREPOSITIONS & set(mine[-_TAIL:]))
    named = first[0][0].isupper() and _tells_of_a_name(left) and _tells_of_a_name(right)
    of_a_thing = any(word in _SMALL for word in theirs)
    return told or ends_alike or (named and of_a_thing)


def _is_english(text: str) -> bool:
    return _FOREIGN.search(text) is None and language(text) == "en"


_FOREIGN = re.compile(r"[\u0250-\u1fff\u3000-\uffff]")
_VERBS = frozenset("is are was were has have had can may must will do does did".split())
_SMALL = _PREPOSITIONS | _VERBS | {"the", "a", "an"}
_TAIL = 3
"""Words at the end of a part in which it says where, when or for whom."""


def _distributed(left: str, right: str) -> bool:
    """Whether two parts say two things each in one order: "in Turku in May", "in Oulu in June"."""
    mine, theirs = (
        [w.casefold() for w in _WORD.findall(part) if w.casefold() in _PREPOSITIONS]
        for part in (left, right)
    )
    return len(theirs) > 1 and mine[-len(theirs) :] == theirs


def _carries_on(word: str) -> bool:
    """Whether what begins with a word goes on with what was said before it."""
    return is_participle(word) or base_of(word) not in (None, word)


def _tells_of_a_name(text: str) -> bool:
    """Whether a part says something of a name, and is no list of names."""
    words = _WORD.findall(text)
    return any(word[0].isupper() for word in words) and any(
        word.islower() and analyse(word).words for word in words
    )


def facts_of(sentence: Sentence, context: Context) -> tuple[Fact, ...]:
    """Return the facts of a sentence; with the words before it that a pronoun stands for."""
    found = _facts_in(sentence.words)
    carried = _carried(sentence, context)
    if not carried:
        return found
    return tuple(Fact(one.text, one.words, one.values, carried) for one in found)


def _carried(sentence: Sentence, context: Context) -> frozenset[str]:
    """Return what a pronoun stands for, its title, and what its passage opens with."""
    words: frozenset[str] = frozenset()
    first, goes_on = sentence, _MOST_CARRIED
    before = context.before(sentence)
    while before is not None:
        goes_on = goes_on - 1 if goes_on and _PRONOUN.match(first.text) else 0
        if goes_on:
            words |= words_in(before.words)
        if _TITLE.match(before.text):
            return words | words_in(before.words)
        first, before = before, context.before(before)
    return words | _topic(first.words) if first is not sentence else words


@lru_cache(maxsize=256)
def _topic(opening: str) -> frozenset[str]:
    """Return the words that stand before the first verb of the sentence that opens a passage."""
    words = opening.split()
    end = next((n for n, word in enumerate(words) if _is_verb(word.casefold().strip(",;:"))), 0)
    return words_in(" ".join(words[:end]))


def has_verb(text: str) -> bool:
    """Say whether a text holds a form of a verb that cannot well be anything else."""
    words = [word.casefold() for word in _WORD.findall(text)]
    plain = (
        base_of(word) == word and (before.endswith("s") or before in _WE)
        for before, word in pairwise(words)
    )
    return any(map(_is_verb, words)) or any(plain)


_WE = frozenset("i you we they".split())


def _is_verb(word: str) -> bool:
    return word in _VERBS or base_of(word) not in (None, word)


def nearest(
    words: frozenset[str], values: Sequence[Value], facts: Sequence[Fact]
) -> Sequence[Fact]:
    """Return the facts that hold most of some words and values."""
    held = [
        len(words & (fact.words | fact.carried)) + sum(map(fact.holds, values)) for fact in facts
    ]
    most = max(held, default=0)
    return [fact for fact, count in zip(facts, held, strict=True) if count == most > 0]


def mixed(
    words: frozenset[str], values: Sequence[Value], near: Fact, facts: Sequence[Fact]
) -> bool:
    """Say whether what a fact lacks of a statement stands in another, and it is of another thing.

    Args:
        words: Of the statement.
        values: Of the statement.
        near: The fact.
        facts: All that bear on the statement.
    """
    own = near.words | near.carried
    strange = bool(near.words - words) or not all(
        any(mine.agrees(value) for mine in values) for value in near.values
    )
    return strange and any(
        far is not near
        and (
            (words & far.words) - own
            or any(far.holds(value) and not near.holds(value) for value in values)
        )
        for far in facts
    )
