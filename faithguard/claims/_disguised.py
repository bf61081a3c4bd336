"""Words written letter by letter -> words.

In: the words of a sentence, without markup. Out: the same where what turns a sentence around is
one word however its letters are kept apart: "n-o-t", "n o t", "n0t" are "not", "un-safe" is
"unsafe". What is written so for its own sake, "U.S.A." or "a.m.", stays.
"""

from __future__ import annotations

import re

__all__ = ["undisguised"]

_TURNING = frozenset(
    "not non never none neither nor without nobody nothing cannot only except unless unsafe "
    "false wrong untrue forbidden banned prohibited excluded nicht kein keine nie ohne jamais "
    "nunca".split()
)
"""Words that turn a sentence around."""
_APART = re.compile(
    r"(?<![^\W_])(?:[^\W\d_](?P<mark>[-._*/·•‧∙|~+^'’\"])(?:[^\W\d_](?P=mark)){1,12}[^\W\d_]|"
    r"(?:[^\W\d_] ){2,12}[^\W\d_])(?![^\W_])"
)
_CUT = re.compile(r"(?<![^\W_])[^\W\d_]{1,8}(?:[-._*/·•‧∙|~+][^\W\d_]{1,8}){1,3}(?![^\W_])")
_MIXED = re.compile(
    r"(?<![^\W_])(?=[013457@$]*[A-Za-z])[A-Za-z]*[013457@$][A-Za-z013457@$]*(?![^\W_])"
)
_DIGITS = str.maketrans("013457@$", "oleastas")
_UN = re.compile(r"\b(un)-(?=[a-z]{3})", re.IGNORECASE)
_SIGNS = re.compile(r"[^\W\d_][-._*/·•‧∙|~+^'’\" ][^\W\d_]|[A-Za-z][013457@$]|[013457@$][A-Za-z]")


def undisguised(words: str) -> str:
    """Return words in which none is hidden between marks, spaces or digits."""
    if _SIGNS.search(words) is None:
        return words
    words = _APART.sub(_joined, words)
    words = _CUT.sub(_joined, words)
    words = _MIXED.sub(_lettered, words)
    return _UN.sub(lambda match: match[0] if match[1].isupper() else match[1], words)


def _joined(match: re.Match[str]) -> str:
    word = "".join(filter(str.isalpha, match[0]))
    return word if word.casefold() in _TURNING else match[0]


def _lettered(match: re.Match[str]) -> str:
    word = match[0].translate(_DIGITS)
    return word if word.casefold() in _TURNING else match[0]
