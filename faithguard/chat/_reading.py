"""What a model wrote -> the JSON objects in it.

In: a reply, as models write them: in fences, after their thoughts, with words around it, with
trailing commas, more than one. Out: every value that is an object or a list at its outermost
level, in order. What was a thought is none of it, and nor is an object that says two things under
one name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["objects_in"]

_THOUGHT = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning|reflection)>|◁(/?)think▷", re.IGNORECASE
)
# a string that never ends is one up to the end: else each of its marks would be tried anew
_STRING_OR_COMMA = re.compile(
    r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|,(?=\s*[}\]])',
    re.DOTALL,
)
_BEGIN = re.compile(r"[{\[]")
_LONGEST = 1_000_000
_MOST_TRIES = 400
_MOST_READ = 4_000_000
"""Characters, over all tries; where one bracket is in another, each is read anew."""


class _Ambiguous(ValueError):
    """An object has one name twice, with different values."""


def objects_in(text: str) -> list[Any]:
    """Return the objects and lists of a reply."""
    if len(text) > _LONGEST:
        return []
    text = _decoded(_without_thoughts(text))
    # no JSON has a comma before a closing bracket, so nothing that is well is changed
    return list(_values(_STRING_OR_COMMA.sub(_without_comma, text)))


def _without_thoughts(text: str) -> str:
    """Drop thoughts; of one that does not begin or end here, all before or after the mark."""
    kept: list[str] = []
    place, inside = 0, False
    for mark in _THOUGHT.finditer(text):
        if not (mark[1] or mark[2]):
            if not inside:
                kept.append(text[place : mark.start()])
            inside = True
            continue
        if not inside:
            kept.clear()
        place, inside = mark.end(), False
    return " ".join(kept if inside else [*kept, text[place:]])


def _decoded(text: str) -> str:
    """Return the text that a JSON string holds, where a reply is one and nothing else."""
    try:
        value = json.loads(text) if text.lstrip().startswith('"') else None
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _without_comma(match: re.Match[str]) -> str:
    return match.group() if match.group().startswith('"') else ""


def _values(text: str) -> Iterator[Any]:
    """Yield what can be read from each opening bracket on, outermost first."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_object)
    place, left = 0, _MOST_READ
    for _ in range(_MOST_TRIES):
        begin = _BEGIN.search(text, place)
        if begin is None or left < 0:
            return
        try:
            value, place = decoder.raw_decode(text, begin.start())
        except _Ambiguous:
            return
        except (ValueError, RecursionError) as error:
            place = begin.end()
            left -= error.pos - place if isinstance(error, json.JSONDecodeError) else 0
            continue
        yield value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in pairs:
        folded = name.strip().casefold()
        if folded in held and held[folded] != value:
            raise _Ambiguous
        held[folded] = value
    return held
