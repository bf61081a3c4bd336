"""Code fence -> the commands in it.

In: the lines between two fences, and the word after the first. Out: the commands that a reader is
to type, each on one line, and where it stands. What everybody types anywhere, such as `cd`, and
what a program prints, is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Typed", "typed_in"]

_SHELLS = frozenset(
    "bash sh zsh fish shell shell-session shellsession console terminal powershell ps1 bat cmd "
    "ksh pwsh".split()
)
_PROMPT = re.compile(r"[ \t>]*(?:\([\w.-]+\) )?(?:[\w.@~:/-]{0,40}[$%] )(?=\S)")
_TYPED = re.compile(
    r"[ \t>]*(?P<command>(?:sudo (?:-\w+ )*)?(?:\./|[a-z~/])[\w./+-]*(?<![.:])(?:[ \t]+\S.*)?)$"
)
_EVERYDAY = frozenset(
    "cd ls ll pwd cat less more head tail echo printf mkdir touch clear exit which whoami man "
    "history env export set unset alias source true false sleep date top ps df du uname if then "
    "else elif fi for do done while until case esac function return in local".split()
)
_GOES_ON = re.compile(r"(?:^|\s)\\$")
_CHAIN = re.compile(r"&&|\|\||;|\|")
_COMMENT = re.compile(r"\s+#\s.*$")
_LONGEST = 10_000
"""Characters of a command."""
_FEWEST = 2
"""Words: a program alone is only a name."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A command to be typed."""

    line: int
    start: int
    """In its first line."""
    last: int
    """The line in which it ends."""
    end: int
    text: str
    """On one line, without the prompt."""


def typed_in(lines: list[str], info: str) -> list[Typed]:
    """Return the commands of a fence: those behind a prompt, or else all of a shell's lines."""
    prompted = [_PROMPT.match(line[:_LONGEST]) for line in lines]
    behind = any(prompted)
    words = info.lower().replace("{", " ").split()
    if not behind and (not words or words[0].lstrip(".") not in _SHELLS):
        return []
    found: list[Typed] = []
    number = 0
    while number < len(lines):
        first = number
        prompt = prompted[first]
        start = prompt.end() if prompt is not None else 0
        parts = [lines[first][start:]]
        while _GOES_ON.search(parts[-1].rstrip()) and number + 1 < len(lines):
            number += 1
            parts.append(lines[number])
        number += 1
        if behind and prompt is None:
            continue  # what a program prints
        text = " ".join(part.strip(" \t>").removesuffix("\\").strip() for part in parts)
        typed = _TYPED.match(_COMMENT.sub("", text[:_LONGEST]))
        if typed is None or not _is_told(typed["command"]):
            continue
        start += len(lines[first][start:]) - len(lines[first][start:].lstrip(" \t>"))
        end = len(lines[number - 1].rstrip())
        found.append(Typed(first, start, number - 1, end, typed["command"].strip()))
    return found


def _is_told(command: str) -> bool:
    """Say whether a command is worth a look: no everyday one, and no sentence."""
    words = command.removeprefix("sudo ").split()
    if len(words) < _FEWEST or words[0] in _EVERYDAY or words[1] in ("=", ":"):
        return any(map(_is_told, filter(str.strip, _CHAIN.split(command)[1:])))
    return not command.rstrip().endswith((".", "!", "?", ":"))
