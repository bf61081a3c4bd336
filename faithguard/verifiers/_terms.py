"""Text -> terms: what two wordings of one statement have in common.

In: a sentence. Out: `Terms`: stems of its content words in order (pairs of characters where a
script has no spaces), its values, the names in it, and which words stand under a negation.
English stems by Snowball; the function words and negations of seven languages are closed lists.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from threading import local

import Stemmer

from faithguard._alike import in_latin
from faithguard.verifiers._function_words import FUNCTION_WORDS
from faithguard.verifiers._values import Value, find_values

__all__ = ["VALUE", "Terms", "analyse", "keys_in", "stem", "unspaced_keys"]

_NEGATIONS = frozenset(
    """
    not no never none nobody nothing neither nor without cannot n't hardly nicht kein keine
    keinen keinem keiner keines nie niemals ohne weder nunca ningún ninguna ninguno sin jamás
    tampoco ni pas jamais aucun aucune sans rien non nessun nessuna nessuno mai senza não nunca
    sem nenhum nenhuma niet geen nooit zonder
    """.split()
)
_NEGATIVE_CHARACTERS = re.compile(
    "ません|ない(?!と)|なく|不(?!仅|僅|但|同)|没有|沒有|未(?!来|来)|無い|无需|禁止"
)
_SCOPE_ENDS = frozenset(
    """
    but however although though except unless because aber sondern pero mais ma mas maar
    """.split()
)
# "not only X but also Y" says X
_NO_NEGATION = re.compile(
    r"\bnot\s+(?:only|just|merely)\b|\bno\s+(?:matter|doubt)\b|\bno\.\s*\d", re.I
)

_WORD = re.compile(r"[^\W_]+(?:['’\-.&+/](?=[^\W_])[^\W_]+)*[+#]{0,2}|[^\w\s]", re.UNICODE)
# Runs of one script: a kana or Thai run is a word or an ending, Han characters go in pairs.
_UNSPACED_PARTS = re.compile(
    "(?P<han>[\u3400-\u9fff\uf900-\ufaff々]+)|(?P<hiragana>[\u3040-\u309f]+)|(?P<katakana>[\u30a0-\u30ff]+)"
    "|(?P<other>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
)
_HAN_FUNCTION = re.compile("[的了是在和与及也都就把被将会這这那個个]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_CLAUSE_MARKS = frozenset(",;:.!?()–—、。，；")
_CONTRACTED = re.compile(r"^(?:ca|wo|[a-z]+)n['’]t$")

_CONJUNCTIONS = frozenset("and or but while und oder et ou y e o en".split())
_ANSWERED_NO = re.compile(
    r"[?？]\s*(?:no|nein|non|nee|não|いいえ|不|false|incorrect|wrong|falsch|faux|falso|untrue)[.!,。]?\s*$",
    re.I,
)

VALUE = "\0"
"""Stands for a value among keys."""

_stemmers = local()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a sentence says, as far as words go.

    Attributes:
        words: Keys of the content words in order, repeats kept.
        negated: Keys that stand under a negation; `VALUE` if a value does.
        values: Numbers, times, days and dates.
        names: Keys of capitalised words inside the sentence, acronyms and words with digits.
        labels: Keys that only name a column or a field ("Price: 9; Size: 5").
        hidden: Keys of words that are part of a date or a day: "January" in "31 January".
        sequence: Words and, as `VALUE`, values, in order.
        parts: What stands between commas and conjunctions: the words and the values of each.
        starts: For each of `words`, where it stands.
    """

    words: tuple[str, ...]
    negated: frozenset[str]
    values: tuple[Value, ...]
    names: frozenset[str]
    labels: frozenset[str]
    hidden: frozenset[str]
    sequence: tuple[str, ...]
    parts: tuple[tuple[frozenset[str], tuple[Value, ...]], ...]
    starts: tuple[int, ...]

    @property
    def distinct(self) -> tuple[Value, ...]:
        """The values that differ in meaning, in order."""
        return tuple({value.meaning: value for value in reversed(self.values)}.values())[::-1]


def stem(word: str) -> str:
    """Return the stem of an English word in lower case."""
    stemmer: Stemmer.Stemmer | None = getattr(_stemmers, "english", None)
    if stemmer is None:  # a Stemmer is not thread-safe
        stemmer = _stemmers.english = Stemmer.Stemmer("english", 0)
    # one pass leaves "container" and "containerization" apart
    return stemmer.stemWord(stemmer.stemWord(word))


def _key(word: str) -> str | None:
    """Return the key of a word, or None for a function word."""
    plain = in_latin(unicodedata.normalize("NFKC", word)).casefold().replace("’", "'")
    plain = re.sub(r"'(?:s|re|ve|ll|d|m)$|^[ldjmnstc]'(?=\w{2})", "", plain)
    if plain in FUNCTION_WORDS or not plain:
        return None
    if plain.isascii() and plain.isalpha():
        return stem(plain)
    return plain.rstrip(".")


@dataclass(frozen=True, slots=True)
class _Token:
    """What a token is, wherever it stands."""

    keys: tuple[tuple[str, int], ...] = ()
    """Its keys, with their offsets in it."""
    negates: bool = False
    negative: bool = False
    """Whether it denies itself: "non-members"."""
    ends_scope: bool = False
    ends_sentence: bool = False
    named: bool = False
    """Whether it is a name even as the first word of a sentence."""
    capital: bool = False
    """Whether it is a name unless it is the first word."""
    word: bool = True
    divides: bool = False
    """Whether it stands between things of one kind: "and", a comma."""


@lru_cache(maxsize=16_384)
def _token(raw: str) -> _Token:
    if not raw[0].isalnum():
        return _Token(
            word=False,
            ends_scope=raw in _CLAUSE_MARKS,
            ends_sentence=raw in ".!?:",
            divides=raw in ",;、，；",
        )
    lower = raw.casefold()
    capitals = sum(character.isupper() for character in raw)
    return _Token(
        keys=tuple(_keys_of(raw)),
        negates=lower in _NEGATIONS or _CONTRACTED.match(lower) is not None,
        negative=lower.startswith("non-"),
        ends_scope=lower in _SCOPE_ENDS,
        divides=lower in _CONJUNCTIONS,
        named=capitals > 1 or any(character.isdigit() for character in raw),
        capital=raw[0].isupper(),
    )


def keys_in(text: str) -> set[str]:
    """Return the keys of a text, those of its values included; much cheaper than its terms."""
    return {key for raw in _WORD.findall(text) for key, _ in _token(raw).keys}


@lru_cache(maxsize=1_024)
def analyse(text: str) -> Terms:
    """Return the terms of a sentence; linear in its length."""
    return _Reading(text).terms()


class _Reading:
    """A sentence, read word by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values = find_values(text)
        self._words: list[str] = []
        self._starts: list[int] = []
        self._sequence: list[str] = []
        self._negated: set[str] = set()
        self._names: set[str] = set()
        self._hidden: set[str] = set()
        self._parts: list[tuple[set[str], list[Value]]] = [(set(), [])]

    def terms(self) -> Terms:
        """Read the sentence."""
        text = self._text
        inside = _Spans(self._values)
        # "Are dogs allowed? No." denies what it was asked
        under = answers_no = _ANSWERED_NO.search(text) is not None
        first = True
        for match in _WORD.finditer(text):
            token, at = _token(match[0]), match.start()
            if token.ends_scope:
                under = answers_no
            if token.divides and inside.holding(at) is None:
                self._parts.append((set(), []))
            if not token.word:
                first = first or token.ends_sentence
            elif token.negates:
                under = under or _NO_NEGATION.match(text, at) is None
                first = False
            elif (value := inside.holding(at)) is not None:
                self._take_value(value, token, new=inside.entered, under=under)
            else:
                self._take_word(token, at, first=first, under=under)
                first = False
        if not text.isascii() and _NEGATIVE_CHARACTERS.search(text):
            self._negated.update(key for key in self._words if _UNSPACED.match(key))
        return Terms(
            words=tuple(self._words),
            negated=frozenset(self._negated),
            values=self._values,
            names=frozenset(self._names),
            labels=_labels(text) if text.count(": ") > 1 and "; " in text else frozenset(),
            hidden=frozenset(self._hidden),
            sequence=tuple(self._sequence),
            parts=tuple((frozenset(words), tuple(values)) for words, values in self._parts),
            starts=tuple(self._starts),
        )

    def _take_value(self, value: Value, token: _Token, *, new: bool, under: bool) -> None:
        if value.family in ("date", "days"):
            self._hidden.update(key for key, _ in token.keys)
        if new:
            self._parts[-1][1].append(value)
            self._sequence.append(VALUE)
            if under:
                self._negated.add(VALUE)

    def _take_word(self, token: _Token, at: int, *, first: bool, under: bool) -> None:
        for key, offset in token.keys:
            self._parts[-1][0].add(key)
            self._words.append(key)
            self._sequence.append(key)
            self._starts.append(at + offset)
            if under or token.negative:
                self._negated.add(key)
            if token.named or (token.capital and not first):
                self._names.add(key)


def _labels(text: str) -> frozenset[str]:
    parts = [part.split(": ", 1)[0] for part in text.split("; ") if ": " in part]
    return frozenset(key for part in parts for key in analyse(part).words)


def _keys_of(raw: str) -> list[tuple[str, int]]:
    """Return the keys of a token: a stem, the parts of a compound, or pieces of a run."""
    if _UNSPACED.search(raw):
        spaced = [(k, 0) for part in _UNSPACED.split(raw) if part and (k := _key(part))]
        return unspaced_keys(raw) + spaced
    if "-" in raw or "/" in raw:
        parts = re.split(r"[-/]", raw)
        return [(k, 0) for part in parts if part.casefold() != "non" and (k := _key(part))]
    key = _key(raw)
    return [] if key is None else [(key, 0)]


def unspaced_keys(raw: str) -> list[tuple[str, int]]:
    """Return the keys of a word in a script without spaces, with their offsets."""
    keys: list[tuple[str, int]] = []
    for run in _UNSPACED_PARTS.finditer(raw):
        if run["katakana"]:
            keys.append((run[0], run.start()))
        elif run["han"]:
            for part in re.finditer(r"[^\0]+", _HAN_FUNCTION.sub("\0", run[0])):
                keys += _pairs(part[0], run.start() + part.start())
        elif run["other"]:
            keys += _pairs(run[0], run.start())
        # hiragana are endings and particles, as function words are
    return keys


def _pairs(text: str, at: int) -> list[tuple[str, int]]:
    return [(text[i : i + 2], at + i) for i in range(max(1, len(text) - 1))]


class _Spans:
    """In which of some sorted values an offset lies, asked in ascending order."""

    def __init__(self, values: tuple[Value, ...]) -> None:
        self._values = values
        self._next = 0
        self._last: Value | None = None
        self.entered = False
        """Whether the last offset that was asked for is the first one in its value."""

    def holding(self, at: int) -> Value | None:
        while self._next < len(self._values) and self._values[self._next].end <= at:
            self._next += 1
        value = self._values[self._next] if self._next < len(self._values) else None
        if value is None or value.start > at:
            return None
        self.entered, self._last = value is not self._last, value
        return value
