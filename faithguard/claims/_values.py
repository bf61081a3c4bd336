"""Code fence -> the values in it.

In: the lines between two fences, and the word after the first. Out: the leaves of JSON, YAML
and CSV with the keys that lead to them, and where they stand; none if it is something else.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass

from faithguard.claims._fences import is_source
from faithguard.claims._json import read_leaves

_JSON = frozenset({"json", "jsonc", "json5", "jsonl", "ndjson"})
_YAML = frozenset({"yaml", "yml"})
_CSV = frozenset({"csv", "tsv"})
_PAIR = re.compile(
    r"(?P<indent>[ \t]*)(?P<item>- +)?(?P<key>[\"']?[^\W\d_][\w .()/-]{0,60}?[\"']?)\s?:"
    r"(?:\s+(?P<value>\S.*))?$"
)
_ITEM = re.compile(r"(?P<indent>[ \t]*)- +(?P<value>\S.*)$")
_QUOTE = re.compile(r"[ \t]*(?:> ?)+")
_COMMENT = re.compile(r"\s*(?:#|//)")
# A value that nobody takes for a setting: "900 mg", "not in pregnancy".
_TELLING = re.compile(r"\d[\d.,]*\s?(?:[€$£%]|[^\W\d_]{1,})|[^\W\d_]{2,} [^\W\d_]{2,}")
_LONGEST_LINE = 2000
_MOST_NESTED = 4
_MOST_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a fence."""

    line: int
    start: int
    """In its line."""
    end: int
    said: str
    """The value after the keys that lead to it."""


def read_values(lines: list[str], info: str) -> list[Value]:
    """Return the values of a fence that holds data; empty if it holds something else."""
    label = info.split(None, 1)[0] if info else ""
    if is_source(label):
        return []
    found = _in_json(lines)
    if found is not None:
        return found
    if label in _CSV:
        return _in_csv(lines, "\t" if label == "tsv" else ",")
    if label in _JSON or label in _YAML:
        return _in_pairs(lines, every=True)
    told = [line for line in lines if _has_words(line)]
    pairs = [match for line in told if (match := _PAIR.match(line[:_LONGEST_LINE]))]
    if len(pairs) < len(told) or any(match["key"][:1].isupper() for match in pairs):
        return []  # not like settings: plain lines
    nested = any(match["value"] is None or match["indent"] for match in pairs)
    return _in_pairs(lines, every=not nested)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _in_json(lines: list[str]) -> list[Value] | None:
    """Return the leaves of JSON; None if it is none."""
    marks = [len(match[0]) if (match := _QUOTE.match(line)) else 0 for line in lines]
    source = "\n".join(" " * mark + line[mark:] for mark, line in zip(marks, lines, strict=True))
    body = source.strip()
    if body[:1] + body[-1:] not in ("{}", "[]"):
        return None
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return None
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[Value] = []
    at = 0
    for leaf in read_leaves(source):
        start, end = leaf.places[0], leaf.places[-1]
        while starts[at + 1] <= start:
            at += 1
        if _has_words(source[start:end]):
            said = ": ".join([*filter(_has_words, leaf.keys), " ".join(leaf.text.split())])
            found.append(Value(at, start - starts[at], end - starts[at], said))
    return found


def _in_csv(lines: list[str], comma: str) -> list[Value]:
    """Return the rows of a table, each field after the name of its column."""
    told = [index for index, line in enumerate(lines) if _has_words(line)]
    header = _fields(lines[told[0]], comma) if len(told) > 1 else []
    found: list[Value] = []
    for index in told[1:] or told:
        fields = _fields(lines[index], comma)
        parts = [
            f"{header[place]}: {field}" if place < len(header) and header[place] else field
            for place, field in enumerate(fields)
            if field
        ]
        found.append(_of_line(lines, index, "; ".join(parts)))
    return found


def _fields(line: str, comma: str) -> list[str]:
    try:
        rows = list(csv.reader([line.strip()[:_LONGEST_LINE].replace("\0", " ")], delimiter=comma))
    except csv.Error:
        return [line.strip()]
    return [field.strip() for field in rows[0][:_MOST_FIELDS]] if rows else []


def _in_pairs(lines: list[str], *, every: bool) -> list[Value]:
    """Return the values of lines such as "dose: 900 mg", after the keys that they lie under."""
    found: list[Value] = []
    keys: list[tuple[int, str]] = []
    for index, line in enumerate(lines):
        if not _has_words(line) or _COMMENT.match(line):
            continue
        quoted = _QUOTE.match(line)
        rest = line[quoted.end() if quoted else 0 :][:_LONGEST_LINE]
        match = _PAIR.match(rest) or _ITEM.match(rest)
        key = (match.groupdict().get("key") or "") if match else ""
        value = match["value"] if match else rest
        indent = len(match["indent"]) if match else len(rest) - len(rest.lstrip())
        if key:
            while keys and keys[-1][0] >= indent:
                keys.pop()
        key = key.strip("\"' ").replace("_", " ")
        value = (value or "").strip().rstrip(",").strip("\"' ")
        if _has_words(value) and (every or _TELLING.search(value)):
            names = [name for _, name in keys[-_MOST_NESTED:]]
            said = ": ".join([*names, *([key] if key else []), value])
            found.append(_of_line(lines, index, said))
        elif key and not _has_words(value):
            keys.append((indent, key))
    return found


def _of_line(lines: list[str], index: int, said: str) -> Value:
    line = lines[index]
    return Value(index, len(line) - len(line.lstrip(" \t>")), len(line.rstrip()), said)
