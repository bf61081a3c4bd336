"""Passages -> the few sentences of them that bear on a claim.

In: the passages of an exchange, and claims one after the other. Out: `Selection`s: sentences
of the passages with their offsets, the best first. An inverted index is built once for an
exchange; a claim costs what its words cost, however many passages there are.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentencex import get_sentence_boundaries

from faithguard._denied import (
    Boxes,
    all_denied,
    boxes_of,
    denies_items,
    lists_faults,
    retracts,
    signed_no,
    statements_denied,
    struck,
    unstruck,
)
from faithguard._html_tables import html_rows, without_rows
from faithguard._lazy import lazy
from faithguard._polar import denies
from faithguard.types import Evidence, Passage, Span
from faithguard.verifiers._orders import gives_order
from faithguard.verifiers._terms import Terms, analyse, keys_in
from faithguard.verifiers._values import Value, find_values
from faithguard.verifiers._values._names import MONTH_OF

__all__ = ["Context", "Selection", "Sentence"]

_MOST_SENTENCES = 3
"""A claim that needs more than three sentences of context is rarely one claim."""

_MOST_CANDIDATES = 64
_MOST_SELECTIONS = 256
"""Selections that are kept: several verifiers ask for the same."""

_NOT_RULE = re.compile(r"[^\s:|-]")
_WORD = re.compile(r"[^\W_]")
_CJK_STOP = re.compile("[。！？]+[」』”）]*")
_COMMON = 512
"""Sentences; a word that more of them hold finds no evidence where rarer ones can."""

_ENDS = ".!?;:。！？；：\n|•"
_MARKS = str.maketrans("", "", "`*_\"'“”‘’")
_SHORTEST = 12
"""Characters; a shorter text stands in others by chance."""

_LONGEST = 2_000
"""Characters; what has no stop for longer than this is cut at a space."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, table row or list item of a passage."""

    passage: int
    start: int
    end: int
    text: str
    header: str = ""
    """The header row of its table, so that a cell is known by its column."""
    said: str = ""
    """What it says, where a part of it is struck through."""
    denied: tuple[str, ...] = ()
    """The statements that it says are not so; then it supports nothing."""

    @property
    def words(self) -> str:
        """The sentence with its header; marks that could be parts of a number parted from it."""
        if not self.header:
            return self.said or self.text
        return f"{self.header} {self.text}".replace(self.mark, " | " if self.mark == "|" else "|")

    @property
    def mark(self) -> str:
        """What divides the cells of its table."""
        return "|" if "|" in self.header else _fields(self.header)[0]

    @property
    def terms(self) -> Terms:
        """Its terms."""
        return analyse(self.words)

    def evidence(self) -> Evidence:
        """Return the sentence as a verbatim piece of its passage."""
        return Evidence(passage=self.passage, start=self.start, end=self.end, quote=self.text)


@dataclass(frozen=True, slots=True)
class Selection:
    """The sentences that bear on a claim, and how much of it they hold."""

    sentences: tuple[Sentence, ...]
    coverage: float
    """Share in [0, 1] of the claim's content, rare words weighing more, that they hold."""
    best: float
    """The same of the first sentence alone."""
    missing: tuple[str, ...]
    """Keys of the claim's words that the sentences lack."""


class Context:
    """The passages of one exchange, indexed once and lazily.

    Args:
        passages: What may serve as evidence, in the order of the exchange.
        question: The question that was asked, if known.
        numbers: The index of each passage in the exchange, if it is not its place in `passages`.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        question: str | None = None,
        *,
        numbers: Sequence[int] | None = None,
    ) -> None:
        self.passages = tuple(passages)
        self.question = question
        self.numbers = tuple(numbers) if numbers is not None else tuple(range(len(passages)))

    @lazy
    def version(self) -> str:
        """A digest of all that a verdict can depend on; part of cache keys."""
        digest = hashlib.sha256()
        for number, passage in zip(self.numbers, self.passages, strict=True):
            text = passage.text.encode()
            digest.update(b"%d:%d:" % (number, len(text)))
            digest.update(text)
        digest.update((self.question or "").encode())
        return digest.hexdigest()

    @lazy
    def memo(self) -> dict[str, Any]:
        """What verifiers read in the passages once and keep from claim to claim, by their name."""
        return {}

    @lazy
    def sentences(self) -> tuple[Sentence, ...]:
        """Every sentence, row and item of every passage, in order."""
        return tuple(
            sentence
            for number, passage in zip(self.numbers, self.passages, strict=True)
            for sentence in _answered(list(_sentences(number, passage.text)))
        )

    @lazy
    def denied(self) -> tuple[Sentence, ...]:
        """The sentences that deny a statement as a whole: they support nothing that it says."""
        return tuple(sentence for sentence in self.sentences if sentence.denied)

    @lazy
    def asserted(self) -> tuple[str, ...]:
        """The texts of the passages, of the same length, without what they deny."""
        texts = {n: p.text for n, p in zip(self.numbers, self.passages, strict=True)}
        for one in self.denied:
            text = texts[one.passage]
            gone = " " * (one.end - one.start)
            texts[one.passage] = f"{text[: one.start]}{gone}{text[one.end :]}"
        return tuple(texts[number] for number in self.numbers)

    @lazy
    def _index(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = defaultdict(list)
        for number, sentence in enumerate(self.sentences):
            for key in keys_in(sentence.words):
                index[key].append(number)
        return dict(index)

    @lazy
    def _orders(self) -> dict[int, bool]:
        return {}

    @lazy
    def values(self) -> tuple[tuple[Value, ...], ...]:
        """The values in the words of each sentence: read once, whoever asks."""
        return tuple(find_values(sentence.words) for sentence in self.sentences)

    @lazy
    def _valued(self) -> dict[object, list[tuple[Value, set[int]]]]:
        """The different values of the context with the sentences that hold them, by mark."""
        holders: dict[object, tuple[Value, set[int]]] = {}
        for number, values in enumerate(self.values):
            for value in values:
                holders.setdefault(value.meaning, (value, set()))[1].add(number)
        index: dict[object, list[tuple[Value, set[int]]]] = defaultdict(list)
        for entry in holders.values():
            for mark in entry[0].marks:
                index[mark].append(entry)
        return index

    def holders(self, value: Value) -> frozenset[int]:
        """Return the numbers of the sentences that hold a value, however they write it."""
        found = self._held.get(value)
        if found is None:
            if len(self._held) >= _MOST_SELECTIONS:
                self._held.clear()
            found = self._held[value] = frozenset(
                number
                for mark in value.sought
                for other, numbers in self._valued.get(mark, ())
                if value.agrees(other)
                for number in numbers
            )
        return found

    @lazy
    def _held(self) -> dict[Value, frozenset[int]]:
        return {}

    def weight(self, key: str) -> float:
        """How much a word tells: rare in the context is more. Source: the idf of BM25."""
        found = len(self._index.get(key, ()))
        total = len(self.sentences)
        return 1.0 + math.log(1.0 + (total - found + 0.5) / (found + 0.5)) / 2.0

    def select(self, text: str, *, most: int = _MOST_SENTENCES, denied: bool = False) -> Selection:
        """Return the sentences that together hold most of a statement, the best first.

        Args:
            text: The statement.
            most: Sentences.
            denied: Whether those that deny a statement are among them, for who reads them himself.
        """
        asked = text, most, denied
        known = self._selected.get(asked)
        if known is None:
            known = self._selection(*asked)
            if len(self._selected) >= _MOST_SELECTIONS:
                self._selected.clear()
            self._selected[asked] = known
        return known

    @lazy
    def _selected(self) -> dict[tuple[str, int, bool], Selection]:
        return {}

    def _selection(self, text: str, most: int, denied: bool) -> Selection:
        terms = analyse(text)
        needs = self._needs(terms)
        whole = math.fsum(weight for weight, _ in needs.values())
        if not whole:
            return Selection((), 0.0, 0.0, ())
        scores: dict[int, float] = defaultdict(float)
        rare = [need for need in needs.values() if len(need[1]) <= _COMMON]
        for weight, holders in rare if any(h for _, h in rare) else needs.values():
            for number in holders:
                if denied or not self.sentences[number].denied:
                    scores[number] += weight
        order = [n for n, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]
        chosen, covered = self._cover(order[:_MOST_CANDIDATES], needs, most)
        return Selection(
            sentences=tuple(self.sentences[number] for number in chosen),
            coverage=math.fsum(needs[name][0] for name in covered) / whole,
            best=math.fsum(w for w, holders in needs.values() if chosen[0] in holders) / whole
            if chosen
            else 0.0,
            missing=tuple(name for name in needs if name not in covered and name[0] != "\0"),
        )

    def stands(self, text: str) -> bool:
        """Say whether a text is a sentence of the context, or what stands between two of its ends.

        "Dogs are allowed" does not stand in "No dogs are allowed", nor in "Dogs are allowed on a
        lead", nor in what a passage denies.
        """
        sought = _plain(text).rstrip(_ENDS + " ")
        if len(sought) < _SHORTEST:
            return False
        for held in self._plain:
            at = held.find(sought)
            while at >= 0:
                before, after = held[:at].rstrip(" "), held[at + len(sought) :].lstrip(" ")
                if (not before or before[-1] in _ENDS) and (not after or after[0] in _ENDS):
                    return True
                at = held.find(sought, at + 1)
        return False

    @lazy
    def _plain(self) -> tuple[str, ...]:
        return tuple(map(_plain, self.asserted))

    def before(self, sentence: Sentence) -> Sentence | None:
        """Return the sentence before another one in the same passage."""
        place = self._places[sentence.passage, sentence.start]
        other = self.sentences[place - 1] if place else None
        return other if other is not None and other.passage == sentence.passage else None

    @lazy
    def _places(self) -> dict[tuple[int, int], int]:
        return {(s.passage, s.start): place for place, s in enumerate(self.sentences)}

    def rank(self, text: str) -> list[int]:
        """Return the numbers of the passages that share words with a text, the best first."""
        scores: dict[int, float] = defaultdict(float)
        for weight, holders in self._needs(analyse(text)).values():
            for passage in {self.sentences[number].passage for number in holders}:
                scores[passage] += weight
        return sorted(scores, key=lambda passage: (-scores[passage], passage))

    def mentions(self, text: str) -> bool:
        """Say whether anything here is about the subject of a statement.

        It is if its first content word, one of its names, or a third of its content is here.
        """
        terms = analyse(text)
        if any(key in self._index for key in {*terms.words[:1], *terms.names}):
            return True
        needs = self._needs(terms).values()
        whole = math.fsum(weight for weight, _ in needs)
        return 3 * math.fsum(weight for weight, holders in needs if holders) >= whole > 0.0

    def holding(self, keys: frozenset[str], *, most: int) -> list[Sentence]:
        """Return sentences that hold two thirds of some words or more, in order."""
        held = Counter(number for key in keys for number in self._index.get(key, ()))
        chosen = [
            number
            for number in sorted(held)
            if 3 * held[number] >= 2 * len(keys) and not self.sentences[number].denied
        ]
        return [self.sentences[number] for number in chosen[:most]]

    def alike(self, terms: Terms) -> Iterator[Sentence]:
        """Yield the sentences that hold most words of a statement, in order."""
        held: dict[int, int] = defaultdict(int)
        words = set(terms.words)
        for key in words:
            for number in self._index.get(key, ()):
                held[number] += 1
        for number in sorted(held):
            if 2 * held[number] > len(words) and not self.sentences[number].denied:
                yield self.sentences[number]

    def _needs(self, terms: Terms) -> dict[str, tuple[float, frozenset[int]]]:
        """What a statement needs: its words and values, each with weight and holders."""
        needs = {
            key: (self.weight(key), frozenset(self._index.get(key, ())))
            for key in dict.fromkeys(terms.words)
            # the name of a column is asserted by nobody unless the context has it too
            if key not in terms.labels or key in self._index
        }
        for place, value in enumerate(terms.distinct):
            # a value is the part of a statement that is least often said by chance
            needs[f"\0{place}"] = (2.0, self.holders(value))
        return needs

    def _cover(
        self, order: list[int], needs: dict[str, tuple[float, frozenset[int]]], most: int
    ) -> tuple[list[int], set[str]]:
        """Choose sentences greedily, each for what the earlier ones lack."""
        chosen: list[int] = []
        covered: set[str] = set()
        rank = {number: place for place, number in enumerate(order)}
        brings = {number: set[str]() for number in order}
        for name, (_, holders) in needs.items():
            for number in holders & rank.keys():
                brings[number].add(name)
        while rank and len(chosen) < most:
            home = self.sentences[chosen[0]].passage if chosen else None
            # on equal gain stay in the passage of the best sentence, then in order
            gain, _, _, number = max(
                (
                    math.fsum(needs[name][0] for name in brings[n] - covered),
                    self.sentences[n].passage == home,
                    -place,
                    n,
                )
                for n, place in rank.items()
            )
            if gain <= 0.0:
                break
            del rank[number]
            if not self._gives_order(number):
                chosen.append(number)
                covered |= brings[number]
        return chosen, covered

    def _gives_order(self, number: int) -> bool:
        """Say whether a sentence tells a checker what to find, which is no evidence of it."""
        if number not in self._orders:
            text = self.sentences[number].text
            self._orders[number] = gives_order(text, 0, len(text))
        return self._orders[number]


def _plain(text: str) -> str:
    """Return a text with single spaces, without markup and case; a blank line ends a sentence."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return "\n".join(parts).translate(_MARKS).casefold()


def _answered(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences of a passage; one that the next says no to is denied."""
    for place, one in enumerate(sentences):
        behind = sentences[place + 1].text if place + 1 < len(sentences) else ""
        asked = one.text.endswith("?") and (denies(behind) or _SAYS_NO.match(behind))
        if not one.denied and (asked or retracts(behind)):
            one = replace(one, denied=(_ASKED.sub("", one.text).rstrip("? "),))
        yield one


_SAYS_NO = re.compile(r"(?i)\W*(?:(?:a|answer)\s?[:.]\W*)?(?:no|nope|nein)[,.!–—]")
_ASKED = re.compile(r"(?i)^\W*(?:(?:q|question)\s?\d{0,2}[:.)]\s*)?")


def _sentences(number: int, text: str) -> Iterable[Sentence]:
    """Cut a passage into sentences; a row of a table of HTML is one too."""
    rows = html_rows(text)
    if not rows:
        return _in_lines(number, text)
    found = [
        Sentence(number, row.start, row.end, text[row.start : row.end], said=row.plain)
        for row in rows
    ]
    found = [one for one in found if _WORD.search(one.said)]
    return sorted([*found, *_in_lines(number, without_rows(text))], key=lambda one: one.start)


def _in_lines(number: int, text: str) -> Iterator[Sentence]:
    """Cut a passage into sentences; each line of a table or list stands for itself."""
    header = title = ""
    lines = list(_lines(text))
    strokes, signs = struck(text), boxes_of(text)
    for place, (start, line) in enumerate(lines):
        if _is_rule(line):
            continue
        item = _ITEM.match(line)
        if item is None:
            title = line if denies_items(line.strip()) or lists_faults(line) else ""
        following = lines[place + 1][1] if place + 1 < len(lines) else ""
        is_row = line.count("|") >= 2
        if is_row and _is_rule(following):
            header = line
            continue
        is_field_row = bool(header) and "|" not in header and _fields(line) == _fields(header)
        if not (is_row or is_field_row) and _opens_fields(line, following):
            header = line
            continue
        header = header if is_row or is_field_row else ""
        if is_row or is_field_row:
            yield from _pieces(number, text, start, start + len(line), header)
            continue
        pieces = [
            piece
            for at, part in _stops(line)
            for begin, end in _boundaries(part)
            for piece in _pieces(number, text, start + at + begin, start + at + end, "")
        ]
        told = [_unstruck(piece, text, strokes) for piece in pieces]
        yield from _denying(told, line, start, title if item else "", signs)


_ITEM = re.compile(r"\s*(?:[-*•▪●◦‣+–—✗✘❌🚫⛔]|\(?\d{1,2}[.)]|[a-z]\))\ufe0f?\s+(?=\S)")
_MARKER = re.compile(rf"{_ITEM.pattern}|[^\w(\"'“]+")


_NO_STROKES = {0x335: None, 0x336: None}


def _unstruck(piece: Sentence, text: str, strokes: Sequence[Span]) -> Sentence:
    """Return a sentence without what is struck through, or as one that is denied."""
    left, gone = unstruck(text, piece.start, piece.end, strokes)
    if left == piece.text:
        return piece
    left = left.translate(_NO_STROKES).strip()
    return replace(piece, denied=(left,)) if gone else replace(piece, said=" ".join(left.split()))


def _denying(
    pieces: Sequence[Sentence], line: str, start: int, title: str, signs: Boxes
) -> Iterator[Sentence]:
    """Yield the sentences of a line, those that are not so with what they deny.

    Args:
        pieces: The sentences.
        line: Where they stand.
        start: Where it stands in their passage.
        title: That denies what stands under it; empty if none does.
        signs: What boxes mean in the passage.
    """
    places = [(piece.start - start, piece.end - start) for piece in pieces]
    signed = signed_no(line, places, signs)
    for place, (piece, crossed) in enumerate(zip(pieces, signed, strict=True)):
        words = _MARKER.sub("", piece.text, count=1) if _MARKER.match(piece.text) else piece.text
        denied = piece.denied or all_denied(words)
        if not denied and title and place == 0:
            denied = statements_denied(title.strip(), words)
        if crossed and not denied and not lists_faults(title):
            denied = (words,)
        yield replace(piece, denied=denied) if denied else piece


_ORDINAL_END = re.compile(r"(?:^|\s)\d{1,2}\.\s*$")


def _boundaries(part: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a line; "am 3. Mai" goes on after its stop."""
    begin = 0
    found = [(b["start_index"], b["end_index"]) for b in get_sentence_boundaries("en", part)]
    for place, (_, end) in enumerate(found):
        following = part[end : found[place + 1][1]] if place + 1 < len(found) else ""
        word = _FIRST_WORD.match(following)
        month = word is not None and word[1].lower() in MONTH_OF
        if month and _ORDINAL_END.search(part[max(begin, end - 8) : end]):
            continue
        yield begin, end
        begin = end


_FIRST_WORD = re.compile(r"\s*([^\W\d_]+)")


_SOFT_BREAK = re.compile(r"(?<![.!?:;,。！？|])\n(?=[a-zà-ÿ])(?![\w.-]{1,40}\s?[:=])")


_FEWEST_FIELDS = 3
_WORD_IN_FIELD = re.compile(r"[^,;\t]*\s[^,;\t]*\s[^,;\t]*\s")


def _fields(line: str) -> tuple[str, int]:
    """Return the mark that divides the fields of a line, and how often it stands there."""
    return max(((mark, line.count(mark)) for mark in ";\t,"), key=lambda pair: pair[1])


def _opens_fields(line: str, following: str) -> bool:
    """Whether a line is the header of lines such as "K-118;hex bolt;14"."""
    mark, count = _fields(line)
    return (
        count + 1 >= _FEWEST_FIELDS
        and len(line) < _LONGEST
        and _fields(following) == (mark, count)
        and f"{mark} " not in line
        and not any(character.isdigit() for character in line.split(mark)[0])
        and line[-1:] not in ".!?。"
        and _WORD_IN_FIELD.search(line) is None
    )


def _is_rule(line: str) -> bool:
    """Whether a line divides the header of a table from its rows."""
    return (
        "|" in line
        and any(mark in line for mark in ("--", ":-", "-:"))
        and not _NOT_RULE.search(line)
    )


def _stops(line: str) -> Iterator[tuple[int, str]]:
    """Yield a line cut at stops that need no space; the splitter is slow on many of them."""
    start = 0
    for match in _CJK_STOP.finditer(line):
        yield start, line[start : match.end()]
        start = match.end()
    if start < len(line):
        yield start, line[start:]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their offsets; a line that goes on in lower case is one with the next."""
    joined = _SOFT_BREAK.sub(" ", text)  # one character for one: offsets stay
    start = 0
    for line in re.split(r"[\n\r\u2028\u2029]", joined):
        if line.strip():
            yield start, line
        start += len(line) + 1


def _pieces(number: int, text: str, start: int, end: int, header: str) -> Iterator[Sentence]:
    """Yield a stretch of a passage without its margins, cut where it is too long."""
    while start < end:
        stop = end
        if end - start > _LONGEST:
            space = text.rfind(" ", start + 1, start + _LONGEST)
            stop = space if space > start else start + _LONGEST
        piece = text[start:stop]
        left = start + len(piece) - len(piece.lstrip())
        right = start + len(piece.rstrip())
        if left < right and _WORD.search(text, left, right):
            yield Sentence(number, left, right, text[left:right], header)
        start = stop
