"""A text -> the same without what a model thought before it wrote it.

In: an answer or a passage. Out: a text of the same length, blanks for the blocks of reasoning
(`<think>`, `<thinking>`, `<reasoning>`, `<reflection>`), so that places in it stay. In an answer a
block begins where nothing but others stands before it; what looks like one further on is checked.
"""

from __future__ import annotations

import re

__all__ = ["without_reasoning", "without_thoughts"]

_NAMES = "think|thinking|reasoning|reflection"
_FLAGS = re.IGNORECASE | re.DOTALL
_BLOCK = re.compile(rf"\s*<({_NAMES})>.*?(?:</\1\s*>|\Z)", _FLAGS)
_CLOSED = re.compile(rf"<({_NAMES})>(?:(?!<(?:{_NAMES})>).)*?</\1\s*>", _FLAGS)
"""Up to the next one that opens, so that all are found in one go."""
_SIGN = re.compile(r"\S")


def without_reasoning(text: str) -> str:
    """Return a text with blanks in the place of the reasoning at its head.

    A block that nothing closes goes on to the end.
    """
    end = 0
    while (block := _BLOCK.match(text, end)) is not None:
        end = block.end()
    return _SIGN.sub(" ", text[:end]) + text[end:] if end else text


def without_thoughts(text: str) -> str:
    """Return a passage with blanks in the place of all reasoning, wherever it stands."""
    if "<" not in text:
        return text
    return _CLOSED.sub(lambda block: _SIGN.sub(" ", block[0]), without_reasoning(text))
