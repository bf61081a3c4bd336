"""An answer that is JSON -> its leaves.

In: an answer. Out: the texts and numbers in it, each with the keys that lead to it and the
place of each of its characters in the answer; None if the answer is no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from faithguard.claims._plain import CITATION

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity', re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u.{4}|.)", re.S)
_FENCED = re.compile(r"\s*(```+|~~~+)[ \t]*(?:json)?[ \t]*\n(.*?)\n[ \t]*\1\s*", re.S | re.I)
_ANSWER_KEYS = "answer response result final_answer output text message content reply summary"
ANSWER_KEYS = frozenset(_ANSWER_KEYS.split())
"""Keys that say nothing about what they hold."""
_MOST_KEYS = 4
_FEWEST_WORDS = 3
"""Of a key that says something even of nothing."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text or a number of a JSON answer."""

    keys: tuple[str, ...]
    text: str
    places: tuple[int, ...] | range
    """Where each character of the text starts in the answer, and where the text ends."""


def leaves(answer: str) -> list[Leaf] | None:
    """Return the leaves of a JSON answer in their order; None if it is none."""
    offset, source = 0, answer
    fenced = _FENCED.fullmatch(answer) if answer.lstrip()[:3] in ("```", "~~~") else None
    if fenced is not None:
        offset, source = fenced.start(2), fenced[2]
    body = source.strip()
    if body[:1] + body[-1:] not in ("{}", "[]") or CITATION.fullmatch(body):
        return None
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if fenced is not None and not (
        isinstance(value, dict) and ANSWER_KEYS & {str(key).lower() for key in value}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    ):
        return None  # code that is shown, not an answer
    return list(_leaves(source, offset))


def read_leaves(source: str) -> Iterator[Leaf]:
    """Yield the leaves of valid JSON."""
    return _leaves(source, 0)


def _leaves(source: str, offset: int) -> Iterator[Leaf]:
    """Walk over the tokens of valid JSON."""
    keys: list[str] = []  # of each open object and array, the key it is at
    objects: list[bool] = []
    expects_key = False
    for match in _TOKEN.finditer(source):
        mark = match[0]
        if mark in ("{", "["):
            keys.append("")
            objects.append(mark == "{")
            expects_key = objects[-1]
        elif mark in ("}", "]"):
            keys.pop()
            objects.pop()
        elif mark == ",":
            expects_key = objects[-1]
        elif mark == ":":
            expects_key = False
        elif mark.startswith('"'):
            text, places = _decoded(mark, offset + match.start())
            if expects_key:
                keys[-1] = text.replace("_", " ").strip()
            else:
                yield Leaf(_named(keys), text, places)
        elif mark != "null" or len(keys[-1].split()) >= _FEWEST_WORDS:
            start = offset + match.start()
            yield Leaf(_named(keys), mark, range(start, start + len(mark) + 1))


def _named(keys: list[str]) -> tuple[str, ...]:
    return tuple(key for key in keys[-_MOST_KEYS:] if key)


def _decoded(mark: str, start: int) -> tuple[str, tuple[int, ...] | range]:
    """Return the text of a JSON string, and where each of its characters stands."""
    inner, start = mark[1:-1], start + 1
    if "\\" not in inner:
        return inner, range(start, start + len(inner) + 1)
    chars: list[str] = []
    places: list[int] = []
    at = 0
    for match in _ESCAPE.finditer(inner):
        chars.extend(inner[at : match.start()])
        places.extend(range(start + at, start + match.start()))
        chars.append(json.loads(f'"{match[0]}"'))
        places.append(start + match.start())
        at = match.end()
    chars.extend(inner[at:])
    places.extend(range(start + at, start + len(inner) + 1))
    return "".join(chars), tuple(places)
