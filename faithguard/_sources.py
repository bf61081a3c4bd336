"""An entry of an answer's list of sources -> whether a passage is that source.

In: the entry, the numbers that it cites, and the passages that the model saw. Out: whether it names
one of them, or names nothing that could be looked up in what is known of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from faithguard.types import Passage

__all__ = ["is_known", "is_source"]

_PREFIXES = ("Source: ", "See: ")
_ADDRESS = re.compile(r"https?://[^\s)\]>]+[^\s)\]>.,;/]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_GENERIC = frozenset(
    "the and for from page pages section chapter source sources document documents passage context "
    "http https www html pdf com org provided given above".split()
)
_LONGEST = 300
_LARGEST = 99
"""A larger number is no citation."""
_HALF, _MOST = 0.5, 0.8


def _named(text: str) -> str | None:
    """Return the entry that a claim of the local splitter names as a source or points to."""
    prefix = next(filter(text.startswith, _PREFIXES), None)
    return None if prefix is None else text.removeprefix(prefix)


def is_known(text: str, numbers: Sequence[int], passages: Sequence[Passage]) -> bool:
    """Say whether what a claim names as a source or points to is known, or cannot be looked up."""
    entry = _named(text)
    if entry is None:
        return True
    if not text.startswith(_PREFIXES[0]):
        # a page to go on with need not be a passage, but its address is no one's guess
        held = [held for p in passages for held in (p.text, *_names(p))]
        return all(any(url in one for one in held) for url in _ADDRESS.findall(entry))
    return is_source(entry, numbers, passages)


def is_source(entry: str, numbers: Sequence[int], passages: Sequence[Passage]) -> bool:
    """Say whether an entry names a passage, or nothing that can be looked up.

    Args:
        entry: Its words.
        numbers: Those that it cites, from 1.
        passages: What the model saw, in order.
    """
    if not passages:
        return True
    cited = [number for number in numbers if number <= _LARGEST]
    if not all(1 <= number <= len(passages) for number in cited):
        return False
    if (address := _ADDRESS.search(entry)) is not None:
        known = [url for p in passages for name in _names(p) for url in _ADDRESS.findall(name)]
        return not known or any(address[0] in url or url in address[0] for url in known)
    words = _words(entry)
    if not words:
        return True
    names = [_words(name) for passage in passages for name in _names(passage)]
    held = max(len(words & name) / len(words) for name in [frozenset[str](), *names])
    said = max(len(words & _words(passage.text)) / len(words) for passage in passages)
    if _TELLS.search(entry):
        return max(held, said) >= _MOST
    return bool(cited) or not any(names) or max(held, said) >= _HALF


_TELLS = re.compile(r"[A-ZÀ-Þ][\w'’-]*(?: (?!(?:and|or|of|for|to|in|on|by)\b)[a-zà-ÿ'’-]+){2,}")
"""It may be a sentence, whose verb no list knows: "Iodine cures colds"."""


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _GENERIC


def _names(passage: Passage) -> Iterator[str]:
    """Yield what a passage is called."""
    yield from _texts(passage.source)
    yield from _texts(passage.metadata)


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str) and len(value) <= _LONGEST:
        yield value
    elif isinstance(value, Mapping) and depth < 3:
        for held in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(held, depth + 1)  # pyright: ignore[reportUnknownArgumentType]
