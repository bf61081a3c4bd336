"""A sentence and what a model made of it -> whether the same is claimed.

In: a claim of the local splitter and statements about it. Out: whether they say it, all of it and
nothing else. A statement may leave out parts of its sentence (others say them) and may name what a
pronoun stands for; what is left must stand in the order of the sentence, so that nobody swaps
places, and with the negation of its clause. What words in order cannot tell, such as which of two
things a pronoun means, is not seen here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from faithguard.chat import plain
from faithguard.claims._content import has_own_clause

__all__ = ["says_the_same"]

_NOT = "\0"
"""Stands for a negation among words."""

# In the order of their places: what denies, numbers, words.
_TOKEN = re.compile(
    r"(?P<no>\b(?:not?|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|nicht|"
    r"kein\w*|nie|niemals|ohne|ni|nunca|ning[uú]n\w*|sin|ne|pas|jamais|aucune?|sans|non|nessun\w*|"
    r"senza|n[aã]o|niet|geen)\b|\bn['’](?=\w)|ない|ません|不|没|沒|未|無)|"
    r"(?P<number>\d+(?:[.,:]\d+)*)|(?P<word>(?:(?!ない|ません|[不没沒未無])[^\W\d_])+)"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")

# Articles, forms of "to be" and "to have", pronouns and joints: a statement may do without them.
_EMPTY = frozenset(
    """
    a an the and or of to in on at for with from by as is are was were be been being am has have
    had having do does did it its it's he his him she her hers they their them theirs we our us
    you your who whom whose which that this these those there here also too so then while whereas
    but however yet although though aber sondern mais pero sino ma maar während tandis mientras
    der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird
    werden wurde wurden hat haben hatte hatten er sie es ihr ihre ihren seine sein von zu zum zur
    in im am an auf mit bei auch sich dass
    el la los las lo un una unos unas y o de del al en con por es son era eran fue fueron ha han su
    sus se que esto esta este también
    le les des du au aux et ou est sont était étaient dans avec par il elle ils elles son sa ses
    leur leurs qui que dont ce cet cette ces aussi
    il i gli uno e ed di della dei delle da è sono era erano che anche os as um uma são foi
    het een van te en is zijn was waren door ook dat
    """.split()
)

# Words that say when, how many, or whether it must be: none may be added.
_TELLING = frozenset(
    """
    all every each only some most many few any no always often sometimes usually rarely both half
    can could may might must shall should would need than before after until over under above
    below between during since because if unless except up down off same another
    kann können darf dürfen muss müssen soll sollen wenn vor nach über unter als alle nur immer
    puede pueden debe deben si todos solo siempre peut peuvent doit doivent tous seulement toujours
    """.split()
)

_PRONOUN = re.compile(
    r"\W*(?:it|they|he|she|this|that|these|those|we|you|er|es|sie|dies\w*|ell[oa]s?|él|ils?|elles?)\b"
)
_BUT = "but|however|yet|aber|sondern|mais|pero|sino|ma|maar"
_AND = "and|or|while|whereas|although|though|und|oder|während|et|ou|tandis|y|o|mientras"
_JOIN = re.compile(rf"[;；]|[,，]?\s*\b(?P<but>{_BUT})\b|[,，]\s*(?:(?:{_AND})\s)?|\s(?:{_AND})\s")
_SHORT = 3
_LONGEST = 1_000
"""Words of a sentence, characters of a statement: what is longer is no sentence."""


@dataclass(frozen=True, slots=True)
class _Clause:
    own: bool
    """Whether it has a subject of its own, that no pronoun stands for."""


@dataclass(frozen=True, slots=True)
class _Word:
    key: str
    clause: int


_Places: TypeAlias = list[int]


def says_the_same(source: str, meant: str, statements: Sequence[str]) -> bool:
    """Say whether statements together claim what a sentence does.

    Args:
        source: The sentence, as it stands in the answer.
        meant: What the local splitter makes of it: words that are not in there (marks of a list,
            an address behind a link) need not be said.
        statements: What the model makes of it.
    """
    words, clauses = _read(source)
    if max(len(words), *map(len, statements)) > _LONGEST:
        return False
    covered: set[int] = set()
    for statement in statements:
        ways = _ways(words, _keys(statement), clauses)
        if not ways:
            return False
        covered.update(place for way in ways for place in way)
    needed = set(_keys(meant))
    return all(
        n in covered or not any(_alike(word.key, key) for key in needed)
        for n, word in enumerate(words)
    )


def _ways(words: Sequence[_Word], said: Sequence[str], clauses: Sequence[_Clause]) -> list[_Places]:
    """Return how a statement can be laid on its sentence: as early as it can be, and as late."""
    own = [key for key in said if any(_alike(word.key, key) for word in words)]
    added = [key for key in said if not any(_alike(word.key, key) for word in words)]
    if not own or any(key == _NOT or key in _TELLING for key in added):
        return []
    forth = _laid([word.key for word in words], own)
    back = _laid([word.key for word in reversed(words)], own[::-1])
    ways = [forth, [len(words) - 1 - place for place in reversed(back or [])]]
    return [way for way in ways if way and _holds(way, words, clauses)]


def _laid(words: Sequence[str], said: Sequence[str]) -> _Places | None:
    """Return the first places of keys, in their order; None if they do not stand in it."""
    places: _Places = []
    at = 0
    for key in said:
        while at < len(words) and not _alike(words[at], key):
            at += 1
        if at == len(words):
            return None
        places.append(at)
        at += 1
    return places


def _holds(way: _Places, words: Sequence[_Word], clauses: Sequence[_Clause]) -> bool:
    """Say whether each clause that is spoken of is denied where the sentence denies it."""
    taken = set(way)
    touched = sorted({words[place].clause for place in way})
    last = touched[-1]
    for clause in touched:
        places = [n for n, word in enumerate(words) if word.clause == clause]
        whole = taken.issuperset(places)
        denials = [n for n in places if words[n].key == _NOT]
        if clause == last or whole:
            if not taken.issuperset(denials):
                return False
            continue
        # words of a clause before it name what the last one is about
        if any(clauses[n].own for n in range(clause + 1, last + 1)):
            return False
        if denials and any(place > denials[0] for place in way if words[place].clause == clause):
            return False
        if taken.intersection(denials):
            return False
    return True


def _read(source: str) -> tuple[list[_Word], list[_Clause]]:
    """Return the words of a sentence and its clauses."""
    text = plain(source)
    starts, clauses = [0], [_Clause(own=True)]
    for join in _JOIN.finditer(text):
        rest = text[join.end() : join.end() + 300]
        own = has_own_clause(rest)
        if own or join["but"] or join[0][0] in ";；":
            starts.append(join.end())
            clauses.append(_Clause(own=own and _PRONOUN.match(rest) is None))
    words: list[_Word] = []
    for number, (start, end) in enumerate(pairwise([*starts, len(text)])):
        words += [_Word(key, number) for key in _keys(text[start:end])]
    return words, clauses


def _keys(text: str) -> list[str]:
    """Return what a text is made of, in order: negations, numbers, words, pairs of characters."""
    keys: list[str] = []
    for token in _TOKEN.finditer(plain(text)):
        word = token[0]
        if token["no"]:
            keys.append(_NOT)
        elif token["number"]:
            keys.append(word)
        elif runs := _UNSPACED.findall(word):
            keys += [run[n : n + 2] for run in runs for n in range(len(run) - 1)]
        elif len(word) > 1 and word not in _EMPTY:
            keys.append(word)
    return keys


def _alike(one: str, other: str) -> bool:
    """Say whether two keys are forms of one word."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if not short[:1].isalpha() or one.endswith("est") is not other.endswith("est"):
        return False
    if len(short) <= _SHORT:
        return long in (f"{short}s", f"{short}es")
    shared = next(
        (n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    return shared >= max(4, len(short) - 2) and len(long) - shared <= 4
