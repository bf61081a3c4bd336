"""WordNet's files -> the word lists of `faithguard/verifiers/rules/_lexicon`.

    python -m tests.verifiers.rules.lexicon DICT

In: the folder `dict` of WordNet 3.0 (`data.*`, `cntlist.rev`). Out: `groups.txt` (stems of the
common senses that say nearly the same, the most frequent first), `opposites.txt` (pairs) and
`sisters.txt` (nouns of one kind), written over those in the package.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from faithguard.verifiers._terms import stem
from tests.bench._common import ROOT

OUT = ROOT / "faithguard" / "verifiers" / "rules" / "_lexicon"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
TYPES = {"n": "1", "v": "2", "a": "3", "r": "4", "s": "5"}
COMMON = 2
"""Senses of a word that are taken: the first ones, as WordNet counts them."""
MOST = 60
"""Words of a kind; a kind of more says nothing."""

Place: TypeAlias = tuple[str, str]
"""Part of speech and offset."""


@dataclass(frozen=True, slots=True)
class Sense:
    """A set of synonyms: its words with their lexical ids, and where it points to.

    A pointer is a sign, a place, the number of the word here that it is of (0: of all), and there.
    """

    kind: str
    file: str
    words: tuple[tuple[str, int], ...]
    pointers: tuple[tuple[str, Place, int, int], ...]


class WordNet:
    """Senses by place, and how common each is."""

    def __init__(self, folder: Path) -> None:
        self.senses = {place: sense for place, sense in _senses(folder)}
        self._counts: dict[str, tuple[int, int]] = {}
        for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
            key, number, count = line.split()
            start = ":".join(key.split(":")[:3]) + ":"
            if int(count) > self._counts.get(start, (0, 0))[1]:
                self._counts[start] = (int(number), int(count))
        self.frequency: Counter[str] = Counter()
        for sense in self.senses.values():
            for word, number in sense.words:
                self.frequency[word] += self.count(sense, word, number)[1]

    def count(self, sense: Sense, word: str, number: int) -> tuple[int, int]:
        """Return which sense of a word this is, and how often it was met."""
        start = f"{word}%{TYPES[sense.kind]}:{sense.file}:{number:02d}:"
        return self._counts.get(start, (99, 0))

    def common(self, sense: Sense, most: int) -> dict[int, tuple[str, int]]:
        """Return the words of which this is a common sense, by their number, with its count."""
        found: dict[int, tuple[str, int]] = {}
        for place, (word, number) in enumerate(sense.words, start=1):
            rank, count = self.count(sense, word, number)
            if _plain(word) and count >= 1 and rank <= most:
                found[place] = (word, count)
        return found

    def target(self, place: Place, number: int) -> str:
        """Return the word that a pointer leads to."""
        return self.senses[place].words[number - 1][0]


def main(argv: Sequence[str]) -> None:
    """Write the lists."""
    if len(argv) != 1:
        print("name the folder `dict` of WordNet 3.0", file=sys.stderr)
        raise SystemExit(2)
    net = WordNet(Path(argv[0]))
    lists = {
        "groups.txt": list(dict.fromkeys(groups(net))),
        "opposites.txt": sorted(set(opposites(net))),
        "sisters.txt": sorted(sisters(net)),
    }
    for name, lines in lists.items():
        (OUT / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        print(f"{name}: {len(lines):,} lines")


def groups(net: WordNet) -> Iterator[str]:
    """Yield words that say nearly the same, or are made of one another, the most frequent first."""
    found: list[tuple[int, list[str]]] = []
    for sense in net.senses.values():
        members = net.common(sense, COMMON)
        words = {word for word, _ in members.values()}
        for sign, place, own, other in sense.pointers:
            if sign in ("+", "\\") and own in members:
                made = net.target(place, other)
                words |= {made} if _plain(made) and net.frequency[made] else set()
        if len({stem(word) for word in words}) > 1:
            found.append((sum(count for _, count in members.values()), sorted(words)))
    for _, words_of in sorted(found, reverse=True):
        yield " ".join(sorted({stem(word) for word in words_of}))


def opposites(net: WordNet) -> Iterator[str]:
    """Yield pairs of words that say the opposite."""
    for sense in net.senses.values():
        members = net.common(sense, COMMON)
        for sign, place, own, other in sense.pointers:
            if sign != "!" or own not in members:
                continue
            one, opposite = members[own][0], net.target(place, other)
            pair = sorted((stem(one), stem(opposite)))
            if _plain(opposite) and net.frequency[opposite] and pair[0] != pair[1]:
                yield " ".join(pair)


def sisters(net: WordNet) -> Iterator[str]:
    """Yield nouns whose first sense is of the same kind."""
    kinds: dict[Place, set[str]] = defaultdict(set)
    for sense in net.senses.values():
        if sense.kind != "n":
            continue
        words = {word for word, _ in net.common(sense, 1).values()}
        for sign, place, _, _ in sense.pointers:
            if sign == "@":
                kinds[place] |= words
    for words in kinds.values():
        stems = sorted({stem(word) for word in words})
        if 2 <= len(stems) <= MOST:
            yield " ".join(stems)


def _senses(folder: Path) -> Iterator[tuple[Place, Sense]]:
    for part, name in FILES.items():
        text = (folder / f"data.{name}").read_text("utf-8", errors="replace")
        for line in text.splitlines():
            if not line.startswith(" "):  # the licence is set in
                yield _sense(part, line.split("|")[0].split())


def _sense(part: str, fields: Sequence[str]) -> tuple[Place, Sense]:
    count = int(fields[3], 16)
    words = tuple(
        (re.sub(r"\(.*\)", "", fields[at]).lower(), int(fields[at + 1], 16))
        for at in range(4, 4 + 2 * count, 2)
    )
    start = 4 + 2 * count
    pointers = tuple(
        (
            fields[at],
            (fields[at + 2].replace("s", "a"), fields[at + 1]),
            int(fields[at + 3][:2], 16),
            int(fields[at + 3][2:], 16),
        )
        for at in range(start + 1, start + 1 + 4 * int(fields[start]), 4)
    )
    return (part, fields[0]), Sense(fields[2], fields[1], words, pointers)


def _plain(word: str) -> bool:
    return word.isalpha() and word.isascii() and len(word) > 2


if __name__ == "__main__":
    main(sys.argv[1:])
