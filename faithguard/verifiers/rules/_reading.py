"""Text -> tokens and clauses, the form in which the rules compare two statements.

In: a sentence of the answer or of the context. Out: a `Reading`: its tokens, each with the key
that other wordings of it share, its clauses, and the values and names in them. A cell of a table
row is a clause that also holds the words of its column and of the first cell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from faithguard.verifiers._context import Sentence
from faithguard.verifiers._function_words import FUNCTION_WORDS
from faithguard.verifiers._terms import stem, unspaced_keys
from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers.rules._identifiers_in import Identifier, find_identifiers
from faithguard.verifiers.rules._synonyms import SYNONYMS

__all__ = [
    "UNSURE",
    "Clause",
    "Reading",
    "Token",
    "capital_keys",
    "identifiers_of",
    "key_of",
    "keys_of",
    "keys_of_all",
    "read",
    "read_sentence",
]

_MARKS = "\u0900-\u0903\u093a-\u094f\u0962\u0963\u064b-\u0652"
"""Vowel signs of Devanagari and Arabic, which are parts of words."""
_LETTERS = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
_WORD = re.compile(rf"{_LETTERS}(?:['’\-_.&+/@](?=[^\W_]){_LETTERS})*|n['’]t\b|[^\w\s]", re.UNICODE)
_FIELD = re.compile(r"[\s*•-]{0,6}[^\W\d][^:.!?]{0,60}:(?!\d)\s?\S.{0,200}$")
_DIVIDERS = frozenset(",;:.!?()–—、。，；|")
_CONJUNCTIONS = frozenset(
    "and but while whereas although though because since if unless when which who or so however"
    " against und oder aber während sondern mais et ou pero y sino ma e mas".split()
)


class Token(NamedTuple):
    """A word or a mark."""

    lower: str
    key: str | None
    """What it shares with other forms of it and with its synonyms; None if it only links."""
    start: int
    end: int
    capital: bool
    value: int = -1
    """The number of the value that it is part of, or -1."""


@dataclass(frozen=True, slots=True)
class Clause:
    """What stands between two commas, conjunctions or cell walls."""

    first: int
    last: int
    """Its tokens are those in [first, last)."""
    keys: frozenset[str]
    values: tuple[int, ...]
    """Numbers of the values in it."""
    ids: tuple[int, ...] = ()
    """Numbers of the identifiers in it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence, read."""

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    values: tuple[Value, ...]
    identifiers: tuple[Identifier, ...]
    keys: frozenset[str]
    names: tuple[tuple[int, int], ...]
    """Runs of capitalised words inside a sentence, as pairs of token numbers."""
    row: bool = False
    """Whether it is a row of a table."""
    columns: tuple[tuple[frozenset[str], tuple[Value, ...]], ...] = ()
    """The words and the values in the header of each column of a row."""
    notes: dict[str, Any] = field(
        init=False, default_factory=dict[str, Any], repr=False, compare=False
    )
    """What rules have found out about it alone, by a name of their own: found once."""

    @property
    def is_field(self) -> bool:
        """Whether it is a line such as "Weight: 6 kg"."""
        return not self.row and _FIELD.match(self.text) is not None

    @property
    def hard(self) -> frozenset[str]:
        """The keys of its names and identifiers."""
        named = {token.key for first, last in self.names for token in self.tokens[first:last]}
        return frozenset(key for key in self.keys if key in named or key[0] == "#")

    def clause_at(self, start: int) -> Clause | None:
        """Return the clause in which an offset lies."""
        for clause in self.clauses:
            if clause.first < clause.last and start < self.tokens[clause.last - 1].end:
                return clause
        return self.clauses[-1] if self.clauses else None

    def words(self, clause: Clause) -> tuple[Token, ...]:
        """Return the tokens of a clause."""
        return self.tokens[clause.first : clause.last]

    def name(self, run: tuple[int, int]) -> str:
        """Return a name as it is written."""
        return self.text[self.tokens[run[0]].start : self.tokens[run[1] - 1].end]


def read_sentence(sentence: Sentence) -> Reading:
    """Return the reading of a sentence of the context, of a row with its header."""
    if sentence.header:
        return _read_row(sentence.text, sentence.header, sentence.mark)
    return read(sentence.words)


def keys_of(sentence: Sentence, values: Sequence[Value]) -> set[str]:
    """Return the keys that the reading of a sentence can have, identifiers apart; much cheaper.

    Args:
        sentence: To read.
        values: Those in its words.
    """
    keys: set[str] = set()
    text = sentence.words
    behind = 0
    for value in values:
        keys |= _keys_in(text[behind : value.start])
        behind = value.end
    return keys | _keys_in(text[behind:])


def _keys_in(text: str) -> set[str]:
    keys: set[str] = set()
    for word in _WORD.findall(text):
        if not word.isascii() and _UNSPACED.search(word):
            keys.update(key for key, _ in unspaced_keys(_undenied(word)))
        elif word[0].isalnum():
            if key := key_of(word):
                keys.add(key)
            if len(word) == 1 and word.isupper():
                keys.add(word)
    return keys


def capital_keys(sentence: Sentence) -> set[str]:
    """Return the keys of the words of a sentence that have a capital: cheaper than to read it.

    `UNSURE` is among them where a word with a capital may be read in parts.
    """
    keys: set[str] = set()
    for word in _WORD.findall(sentence.text if sentence.header else sentence.words):
        if word != word.lower():
            keys.add((key_of(word) or word) if word.isalpha() else UNSURE)
            if len(word) == 1:
                keys.add(word)
    return keys


UNSURE = ""
"""No key: a word whose keys are not known before it is read."""


def identifiers_of(sentence: Sentence) -> list[Identifier]:
    """Return the identifiers of a sentence, those that its reading has."""
    row = bool(sentence.header)
    return find_identifiers(sentence.text.replace(sentence.mark, "|") if row else sentence.text)


@lru_cache(maxsize=1_024)
def read(text: str) -> Reading:
    """Return the reading of a text; linear in its length."""
    identifiers = tuple(find_identifiers(text))
    values = tuple(_outside(find_values(text), identifiers))
    tokens = tuple(_tokens(text, values, identifiers))
    clauses = tuple(_clauses(text, tokens, values, identifiers))
    keys = frozenset(token.key for token in tokens if token.key)
    return Reading(text, tokens, clauses, values, identifiers, keys, tuple(_names(tokens, text)))


def _outside(values: tuple[Value, ...], identifiers: tuple[Identifier, ...]) -> Iterator[Value]:
    """Yield the values that are no part of an identifier."""
    at = 0
    for value in values:
        while at < len(identifiers) and identifiers[at].end <= value.start:
            at += 1
        if at == len(identifiers) or identifiers[at].start >= value.end:
            yield value


@lru_cache(maxsize=512)
def _read_row(text: str, header: str, mark: str) -> Reading:
    """Read a row cell by cell, each with its column and the first cell."""
    columns = [
        read(part.strip().replace("_", " ")) for part in header.strip(mark + " ").split(mark)
    ]
    text = text.replace(mark, "|")
    plain = read(text)
    clauses: list[Clause] = []
    first: frozenset[str] = frozenset()
    for number, (start, end) in enumerate(_cells(text)):
        inside = [n for n, token in enumerate(plain.tokens) if start <= token.start < end]
        if not inside:
            continue
        own = frozenset(key for n in inside if (key := plain.tokens[n].key))
        column = columns[number].keys if number < len(columns) else frozenset[str]()
        clauses.append(
            Clause(
                inside[0],
                inside[-1] + 1,
                own | column | first,
                tuple(n for n, v in enumerate(plain.values) if start <= v.start < end),
                tuple(n for n, i in enumerate(plain.identifiers) if start <= i.start < end),
            )
        )
        if number == 0:
            first = own
    keys = plain.keys.union(*(column.keys for column in columns))
    return Reading(
        text,
        plain.tokens,
        tuple(clauses),
        plain.values,
        plain.identifiers,
        keys,
        plain.names,
        True,
        tuple((column.keys, column.values) for column in columns),
    )


def _cells(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the cells of a row stand."""
    start = 1 if text.startswith("|") else 0
    while start < len(text):
        end = text.find("|", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _tokens(
    text: str, values: tuple[Value, ...], identifiers: tuple[Identifier, ...]
) -> Iterator[Token]:
    """Yield words and marks; an identifier is one word."""
    at = 0
    number = place = 0
    unspaced = not text.isascii() and _UNSPACED.search(text) is not None
    while match := _WORD.search(text, place):
        start, place = match.span()
        while number < len(identifiers) and identifiers[number].end <= start:
            number += 1
        if number < len(identifiers) and identifiers[number].start < place:
            one = identifiers[number]
            if one.start <= start:
                place = one.end
                yield Token(one.text.lower(), f"#{one.plain}", one.start, one.end, capital=False)
                continue
            place = one.start  # 编号DT-3047
        while at < len(values) and values[at].end <= start:
            at += 1
        inside = at < len(values) and values[at].start <= start
        word = text[start:place]
        if unspaced and _UNSPACED.search(word):
            yield from _unspaced(word, start, values)
            continue
        capital = word[0].isupper()
        key = None
        if not inside and word[0].isalnum():
            letter = capital and len(word) == 1 and (word not in "AI" or _names_one(text, start))
            key = word if letter else key_of(word)
        lower = word.lower()
        if "’" in lower:
            lower = lower.replace("’", "'")
        yield Token(lower, key, start, place, capital, at if inside else -1)


def _names_one(text: str, start: int) -> bool:
    """Whether a letter tells one of a kind from the others: "list A", "vitamin C"."""
    return start > 1 and text[start - 1] in " -" and text[start - 2].isalpha()


_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


_DENIALS = re.compile("禁止|允许|允許|可以|[不没沒未]")


def _unspaced(word: str, at: int, values: tuple[Value, ...]) -> Iterator[Token]:
    """Yield the pairs of characters of a script without spaces, and the values among them."""
    end = at + len(word)
    place = at
    for number in range(bisect_right(values, at, key=lambda value: value.end), len(values)):
        value = values[number]
        if value.start >= end:
            break
        yield from _pairs(word[place - at : max(place, value.start) - at], place)
        begin = max(at, value.start)
        stop = min(end, value.end)
        yield Token(word[begin - at : stop - at], None, begin, stop, capital=False, value=number)
        place = stop
    yield from _pairs(word[place - at :], place)


def _undenied(text: str) -> str:
    return _DENIALS.sub(lambda match: "的" * len(match[0]), text)


def _pairs(piece: str, at: int) -> Iterator[Token]:
    # a denial is no part of a word: its place is taken by a mark that no key has
    for key, offset in unspaced_keys(_undenied(piece)):
        yield Token(key, key, at + offset, at + offset + len(key), capital=False)


@lru_cache(maxsize=16_384)
def key_of(word: str) -> str | None:
    """Return what a word shares with its other forms and its synonyms."""
    plain = word.lower().replace("’", "'")
    plain = re.sub(r"'(?:s|re|ve|ll|d|m)$|^[ldjmnstc]'(?=\w{2})", "", plain)
    if plain in FUNCTION_WORDS or plain in _LINKS:
        return None
    if not (plain.isascii() and plain.isalpha()):
        return plain
    if (two := _TWO_SIDES.fullmatch(plain)) is not None:
        return two[1]
    key = stem(plain)
    return SYNONYMS.get(key, key)


def keys_of_all(words: Iterable[str]) -> frozenset[str]:
    """Return the keys of those words that have one."""
    return frozenset(filter(None, map(key_of, words)))


_TWO_SIDES = re.compile(
    r"((?:employ|train|licens|franchis|leas|mortgag|mentor|interview|address|nomin|consign)(?:er|or|ee))s?"
)
"""Who does it and to whom it is done: one stem, and not one thing."""


_LINKS = frozenset(
    "not no never only also already still yet whereas whether being once upon under above below"
    " within without before after until till least most more less than every all many few several"
    " none some any cannot n't nor neither either even use used using uses make makes"
    " take takes".split()
)


def _clauses(
    text: str,
    tokens: tuple[Token, ...],
    values: tuple[Value, ...],
    identifiers: tuple[Identifier, ...],
) -> Iterator[Clause]:
    first = 0
    for number, token in enumerate(tokens):
        inside = token.value >= 0 and token.start > values[token.value].start
        inside = inside or _joins_values(tokens, number)
        if token.lower in _CONJUNCTIONS or token.lower in _DIVIDERS:
            if not inside and number > first:
                yield _clause(tokens, first, number, identifiers)
                first = number + 1
            elif not inside:
                first = number + 1
    if first < len(tokens):
        yield _clause(tokens, first, len(tokens), identifiers)


def _joins_values(tokens: tuple[Token, ...], number: int) -> bool:
    """Whether an "and" stands between two values: "between 9 am and 6 pm", "on P3 and the P4"."""
    if tokens[number].lower not in _JOINTS or not 0 < number < len(tokens) - 1:
        return False
    after = number + 1 + (tokens[number + 1].lower == "the" and number + 2 < len(tokens))
    return _is_thing(tokens[number - 1]) and _is_thing(tokens[after])


def _is_thing(token: Token) -> bool:
    return token.value >= 0 or (token.key or "").startswith("#")


_JOINTS = frozenset("and or – und et y e".split())


def _clause(
    tokens: tuple[Token, ...], first: int, last: int, identifiers: tuple[Identifier, ...]
) -> Clause:
    part = tokens[first:last]
    start, end = part[0].start, part[-1].end
    return Clause(
        first,
        last,
        frozenset(token.key for token in part if token.key),
        tuple(dict.fromkeys(token.value for token in part if token.value >= 0)),
        tuple(n for n, one in enumerate(identifiers) if start <= one.start < end),
    )


def _names(tokens: tuple[Token, ...], text: str) -> Iterator[tuple[int, int]]:
    """Yield runs of capitalised words; the first word of a sentence only if it goes on so."""
    number = 0
    while number < len(tokens):
        end = number
        while end < len(tokens) and tokens[end].capital and tokens[end].value < 0:
            end += 1
        if end > number:
            opens = number == 0 or tokens[number - 1].lower in ".!?:|"
            start = number
            if opens and (tokens[start].lower in FUNCTION_WORDS or tokens[start].lower in _LINKS):
                start += 1
            if end > start:
                yield start, end
        number = max(end, number + 1)
