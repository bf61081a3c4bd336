"""Lines of a program -> the statements in them.

In: the lines between two fences. Out: what their comments, their docstrings and the texts between
tags hold, each as the runs of lines that belong together, and whether a sentence of one states a
fact. What speaks of the program itself states none; a string of a program is part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard._verbs import base_of
from faithguard.claims._content import STRONG
from faithguard.claims._finite import states_by_verb
from faithguard.claims._verbs import has_verb, verb_at

__all__ = ["STOP", "UNSPACED", "Place", "comments_in", "states_fact"]

Place = tuple[int, int, int]
"""A line, and where in it something stands."""

_LONGEST_LINE = 2_000
_LINE = re.compile(
    r"(?:^|(?<=[\s;}]))(?P<mark>#+|//+|--+(?=\s)|%+|;+(?=\s)|rem\b)\s*(?P<note>[^\s#/*-].*?)\s*$",
    re.IGNORECASE,
)
_ECHO = re.compile(r"^[\s>]*(?:\$ )?echo\s+[\"']?(?P<note>[^\"'>|$&;]{8,})")
_OPENS = re.compile(r"/\*+|<!--|\"\"\"|'''|--\[\[|\{-|^=begin\b")
_CLOSERS = {"/*": "*/", "<!--": "-->", '"""': '"""', "'''": "'''", "--[[": "]]", "{-": "-}",
            "=begin": "=end"}  # fmt: skip
_EDGE = re.compile(r"[\s>]*(?:\*(?!\*)\s*)?")
_TAGGED = re.compile(r">(?P<text>[^<>]{8,500})<")


def comments_in(lines: list[str], code: list[bool]) -> Iterator[list[Place]]:
    """Yield where comments stand, those of several lines as one.

    Args:
        lines: Of a fence.
        code: Which of them are a program's; the others are yielded, too.
    """
    run: list[Place] = []
    mark = closer = ""
    for index, line in enumerate(lines):
        line = line[:_LONGEST_LINE]
        if closer:
            end = line.find(closer)
            run += _content(line, 0, len(line) if end < 0 else end, index)
            if end >= 0:
                closer = ""
            continue
        opens, note = _OPENS.search(line), _LINE.search(line)
        if opens is not None and (note is None or opens.start() <= note.start()):
            if run:
                yield run
            mark, closer = "", _closer_of(opens[0])
            end = line.find(closer, opens.end())
            run = list(_content(line, opens.end(), len(line) if end < 0 else end, index))
            if end >= 0:
                yield run
                run, closer = [], ""
            continue
        alone = note is not None and not line[: note.start()].strip(" \t>")
        if run and not (alone and note is not None and note["mark"][:1] == mark):
            yield run
            run = []
        if note is not None:
            run.append((index, *note.span("note")))
            mark = note["mark"][:1] if alone else "no mark"
        else:
            yield from ([place] for place in _others(line, index, is_code=code[index]))
    if run:
        yield run


def _closer_of(opener: str) -> str:
    return _CLOSERS["/*" if opener.startswith("/*") else opener]


def _content(line: str, start: int, end: int, index: int) -> Iterator[Place]:
    edge = _EDGE.match(line, start, end)
    start = edge.end() if edge else start
    end = len(line[:end].rstrip())
    if start < end:
        yield index, start, end


def _others(line: str, index: int, *, is_code: bool) -> Iterator[Place]:
    """Yield where a line without a comment holds words: what it prints, all of it, its texts."""
    told = _ECHO.match(line)
    if told is not None:
        yield index, *told.span("note")
    elif not is_code:
        start = len(line) - len(line.lstrip())
        yield index, start, len(line.rstrip().rstrip("\"'"))
    else:
        for match in _TAGGED.finditer(line):
            yield index, *match.span("text")


UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]{4,}")
STOP = re.compile(r"[^\W_]{1,40}[)\"'”»*_%€$]{0,3}[.!?。！？][)\"'”»*_]*$")
_FIGURE = re.compile(r"\d")
_SPEAKS_OF_CODE = re.compile(
    r"(?i)\b(?:functions?|methods?|class(?:es)?|variables?|loops?|iterat\w+|arrays?|lists?|files?|"
    r"scripts?|commands?|lines?|arguments?|parameters?|returns?|modules?|imports?|objects?|"
    r"strings?|ind(?:ex|ices)|prints?|outputs?|inputs?|config\w*|servers?|databases?|tables?|"
    r"columns?|rows?|values?|keys?|code|this|here|we|todo|fixme|note|run|install\w*|call\w*)\b"
)
_MEASURED = re.compile(
    r"(?i)[€$£¥]\s?\d|\d\s?(?:%|€|\$|£|(?:mg|mcg|µg|g|kg|ml|l|km|m|cm|mm|euros?|eur|usd|gbp|"
    r"dollars?|pounds?|percent|days?|hours?|weeks?|months?|years?|minutes?|people|persons?|"
    r"nights?|guests?|users?|tablets?|pills?|doses?|times)\b)"
)
_FEWEST = 4
"""Words of a statement; three where its verb is plain."""
_ASKS = re.compile(r"(?i)\b(?:if|when|until|once|that|which|whether|to|unless|how|what|where)\b")
_PRONOUN = re.compile(r"(?i)(?:it|they|he|she|you|i|there|these|those)\b")
_PLAIN = re.compile(r"[^\W\d_]{2,}")


def states_fact(text: str, *, is_code: bool) -> bool:
    """Say whether a comment, a text or a line between lines of code is a statement.

    Args:
        text: A sentence of it.
        is_code: Whether it reads like a line of a program.
    """
    if UNSPACED.search(text):
        return _FIGURE.search(text) is not None
    by_verb = states_by_verb(text)
    if is_code or len(text.split()) < _FEWEST - by_verb or not (by_verb or has_verb(text)):
        return False
    if STRONG.search(text) or _MEASURED.search(text):
        return True
    if _SPEAKS_OF_CODE.search(text):
        return False
    stopped = STOP.search(text.rstrip()) is not None
    if _FIGURE.search(text) is not None or (stopped and text[:1].isupper()):
        return True
    return _tells_of_something(text, by_verb=by_verb)


def _tells_of_something(text: str, *, by_verb: bool) -> bool:
    """Say whether a comment has a subject that is a thing: no order to do something."""
    if _PRONOUN.match(text):
        return False
    first = _PLAIN.match(text)
    verb = verb_at(text)
    if first is None or (verb is not None and verb.start() == 0):
        return False
    before = text[: verb.start()] if verb is not None else ""
    second = verb is not None and not text[first.end() : verb.start()].strip()
    order = base_of(first[0].casefold()) == first[0].casefold()
    return not _ASKS.search(before) and (by_verb or verb is not None) and (second or not order)
