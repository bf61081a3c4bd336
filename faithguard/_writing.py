"""What models wrote in a run -> which parts, words and values of an output are theirs.

In: what models wrote, and what was brought from elsewhere. Out: of a text, a word or a value in
an output, whether it is a model's, so that it must be verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from faithguard._provenance import SHORTEST_CJK, Said, unescaped

__all__ = ["Writing"]

_STATING = 3
"""Words from which a string in JSON can state anything; its keys have fewer, and names, too."""
_STRING = re.compile(r'"([^"\n]{8,400})"')
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_VALUE = r"(?:-?\d[\d.]*(?:e[+-]?\d+)?[\w%:/-]{0,6}|true|false|yes|no)"
_VALUES = rf"\b\W{{1,6}}({_VALUE}(?:\s*,\s*{_VALUE}){{0,50}})"
"""What stands behind a name in JSON, in YAML, in a call, in a tag; perhaps several."""
_WORD = r"(?:\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|[\w'-]{1,80})"
_BETWEEN = re.compile(r"\s*(?:,|\n\s*[-*]\s)\s*")
_WORDS = rf"\b\W{{1,6}}({_WORD}(?:{_BETWEEN.pattern}{_WORD}){{0,50}})"
"""The same of words."""
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


class Writing:
    """What models wrote in a run, and what that had from elsewhere."""

    def __init__(self, wrote: Iterable[str], brought: Iterable[str]) -> None:
        raw = list(wrote)
        self._texts = [unescaped(text) for text in raw]
        # in what a model wrote as JSON, each string stands for itself, like a sentence
        strings = (match[1] for text in self._texts for match in _STRING.finditer(text))
        apart = (string for string in strings if len(string.split()) >= _STATING)
        self._wrote = Said([*raw, *apart])
        self._brought = Said(brought)

    def parts(self, text: str) -> list[str]:
        """Return the parts of a text that a model wrote and that were not brought."""
        wrote = [text[p.start : p.stop] for p in self._wrote.stretches(text) if p.said]
        return [part for part in wrote if not all(p.said for p in self._brought.stretches(part))]

    def holds_short(self, text: str, *, words: int = 2) -> bool:
        """Say whether a text of fewer than six words stands in what a model wrote.

        Args:
            text: A whole one: a field of an output.
            words: That it must have: a single one may be anybody's.
        """
        enough = len(text.split()) >= words or (not text.isascii() and len(text) >= SHORTEST_CJK)
        return enough and self._wrote.hold_all(text)

    def holds_value(self, name: str, value: object) -> bool:
        """Say whether a model wrote a number or a truth value under a name."""
        wanted = _plain_value(value)
        named = re.compile(rf"\b{re.escape(name)}{_VALUES}", re.IGNORECASE)
        held = (match[1].split(",") for text in self._texts for match in named.finditer(text))
        return any(_plain_value(one) == wanted for values in held for one in values)

    def holds_word(self, name: str, word: str) -> bool:
        """Say whether a model wrote a word under a name, or as a string of what it wrote as JSON.

        Elsewhere a single word may be anybody's.
        """
        named = re.compile(rf"\b{re.escape(name)}{_WORDS}", re.IGNORECASE)
        string = re.compile(rf'[:\[,]\s*"{re.escape(word)}"\s*[,\]}}]')
        return any(
            string.search(text) is not None
            or any(word in map(_bare, _BETWEEN.split(match[1])) for match in named.finditer(text))
            for text in self._texts
        )

    def holds_number(self, value: float | str) -> bool:
        """Say whether a number stands in what a model wrote, and in nothing that was brought."""
        wanted = _plain_value(value)
        held = (number for text in self._texts for number in _NUMBER.findall(text))
        written = next((number for number in held if _plain_value(number) == wanted), None)
        return written is not None and not self._brought.hold_all(written)


def _bare(item: str) -> str:
    return item.strip(" \"'")


def _plain_value(value: object) -> object:
    """Return a number or a truth value in the form in which it can be compared."""
    told = str(value).strip().casefold()
    if told in _TRUTHS:
        return _TRUTHS[told]
    try:
        return abs(float(told.replace(",", "")))
    except ValueError:
        return told
