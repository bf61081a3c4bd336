"""Code fence -> the prose in it.

In: the lines between two fences, and the word after the first. Out: which of them are read, and
what of the others: statements in a comment or between tags, and lines of prose between those of a
program. A string of a program is part of it, and what is typed is read by `_shell`. Real code gives
none; a statement does not vanish because it stands in a fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.claims._comments import STOP, UNSPACED, Place, comments_in, states_fact
from faithguard.claims._verbs import has_verb
from faithguard.types import Span

_SOURCE_WORDS = (
    "python py python3 pycon ipython javascript js jsx typescript ts tsx java kotlin kt swift "
    "scala c h cpp c++ cc cxx csharp cs c# objc go golang rust rs sql mysql psql postgresql "
    "sqlite bash sh zsh fish shell shell-session console terminal powershell ps1 bat cmd html "
    "htm css scss sass less xml svg xhtml dockerfile docker ini toml cfg conf config "
    "properties env nginx php ruby rb perl pl r lua haskell hs elixir ex erlang clojure dart "
    "julia matlab diff patch makefile make cmake graphql proto protobuf regex latex tex vue "
    "svelte terraform hcl http"
)
_SOURCE = frozenset(_SOURCE_WORDS.split())
"""Labels of programs and settings."""
_COMMANDS = (
    "import from def class return if elif else for while try except with raise assert print pass "
    "const let var function export public private static void package use include echo cd ls sudo "
    "apt apt-get pip pip3 npm npx yarn pnpm git docker kubectl helm curl wget cp mv rm mkdir chmod "
    "chown export source brew cat grep sed awk make go cargo python python3 node bash sh ssh scp "
    "systemctl service tar kill set unset select insert update delete create alter drop where and "
    "or order group join values limit end do done then fi esac case server listen location user"
)
_COMMAND = re.compile(rf"\s*(?:{'|'.join(map(re.escape, _COMMANDS.split()))})\b")
_SQL = re.compile(
    r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|FROM|WHERE|GROUP BY|ORDER BY|JOIN|LEFT|"
    r"INNER|OUTER|VALUES|LIMIT|AND|OR|SET|WITH|HAVING|UNION|RUN|COPY|ENV|CMD|EXPOSE)\b"
)
_CODE = re.compile(
    r"^\s*[\w.\[\]]+ [-+*/:]?= |[{};\\]\s*$|^\s*[}\])]|[{}]|\w\((?!e?s\)|n\)|en\))|\w[=!<>]?=|"
    r"[=!<>]=|</?\w+[^<>]*>|->|=>|::|"
    r"&&|\|\||^\s*(?:\$ |>>>|#!|#\w|//|/\*|\*/|@\w|--\w|<[!?/\w])|^\s*(?:- )?[a-z][\w.-]*:(?:\s|$)|"
    r"\b[a-z]+_[a-z]\w*|\"\w+\":|^\S+(?: \S+){0,3} --?[a-z][\w-]*\b|^\s*\[[\w.-]+\]\s*$"
)
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|--|<!--|;|%|\"\"\"|''')")
_DOCSTRING = re.compile(r"\"\"\"|'''|/\*|\*/")
_WORD = re.compile(r"[^\W\d_]{2,}|\d[\d.,]*")
_OPENERS = (
    "the a an it its they you your we our he she this these that those there all each every no "
    "not please in on at for by most some many only der die das ein eine es sie ihr el la los las "
    "un una le les une il lo i gli o os as um uma de het een"
)
_OPENER = re.compile(rf"(?:{'|'.join(_OPENERS.split())})\b")
_FIGURE = re.compile(r"\d")
_VALUE = re.compile(r"[^\W\d]{0,3}\s?\d[\d.,]*\s?(?:[€$£%]|[^\W\d]\w*)(?: \w+){0,6}[.!]?")
_FEWEST_WORDS = 3
_NAMED = re.compile(r"[A-ZÀ-Þ][\w ]{1,30}: \S*\d")


def read_lines(lines: list[str], info: str, *, closed: bool = True) -> list[Span]:
    """Return the runs of a fence's lines that are read, as first and last + 1."""
    told = [line for line in lines if any(map(str.isalnum, line))]
    code = sum(map(_is_code_or_comment, told))
    prose = [index for index, line in enumerate(lines) if _is_prose(line)]
    if code == 0 and prose and len(prose) == len(told):
        return [(0, len(lines))]
    if is_source(info):
        # A fence that nobody closed does not hide the rest of the answer.
        return [] if closed else _runs(_outside_comments(lines, prose))
    if code == 0:
        return [(0, len(lines))] if any(map(_is_something, told)) else []
    prose = _outside_comments(lines, prose)
    if closed and len(prose) < code and 2 * code >= len(told):
        # A statement with a figure may not hide between lines of code.
        prose = [index for index in prose if _told(lines[index])]
    values = [index for index, line in enumerate(lines) if _is_value(line)]
    return _runs(sorted({*prose, *_outside_comments(lines, values)}))


def hidden_in(lines: list[str]) -> Iterator[list[Place]]:
    """Yield where comments, and texts among lines of a program, stand that may be statements."""
    return comments_in(lines, [*map(_is_code, lines)])


def states(text: str) -> bool:
    """Say whether a sentence among lines of a program states a fact."""
    text = " ".join(text.split())
    return states_fact(text, is_code=_CODE.search(text[:500]) is not None)


def is_source(info: str) -> bool:
    """Say whether a label tells that a fence holds a program or settings."""
    words = info.lower().replace("{", " ").replace(",", " ").split()
    return bool(words) and words[0].lstrip(".") in _SOURCE


def _runs(chosen: list[int]) -> list[Span]:
    runs: list[Span] = []
    for index in chosen:
        if runs and runs[-1][1] == index:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs


def _is_code_or_comment(line: str) -> bool:
    return _is_code(line) or _COMMENT.match(line) is not None


def _is_value(line: str) -> bool:
    """Say whether a line between lines of code is a value: "900 mg daily"."""
    return _VALUE.match(line[:500].strip()) is not None and not _is_code_or_comment(line)


def _is_something(line: str) -> bool:
    """Say whether a line that is no code says something: a figure, a name, a few words."""
    line = line[:500].strip().lstrip("-*•> \t")
    if _FIGURE.search(line) or not line.isascii():
        return True
    return len(line.split()) >= _FEWEST_WORDS or (line[:1].isupper() and len(line) > 1)


def is_prose(text: str) -> bool:
    """Say whether a line says something rather than being code."""
    return _is_prose(text)


def _told(line: str) -> bool:
    return _FIGURE.search(line) is not None and STOP.search(line.rstrip()) is not None


def _is_code(line: str) -> bool:
    line = line[:500]
    if _CODE.search(line) or _SQL.match(line):
        return True
    return _COMMAND.match(line) is not None and STOP.search(line.rstrip()) is None


def _is_prose(line: str) -> bool:
    line = line[:500].strip().lstrip("-*•> \t")
    if UNSPACED.search(line):
        return not _is_code(line)
    if len(_WORD.findall(line)) < 3 or _is_code(line) or _COMMENT.match(line):
        return False
    if _NAMED.match(line):
        return True
    stopped = STOP.search(line) is not None
    if line[:1].islower() and not _OPENER.match(line):
        return stopped and len(line.split()) > 3
    return stopped or has_verb(line) or (line[:1].isupper() and len(line.split()) > 4)


def _outside_comments(lines: list[str], chosen: list[int]) -> list[int]:
    """Return the chosen lines that lie in no docstring or comment of several lines."""
    inside, outside = False, set[int]()
    for index, line in enumerate(lines):
        marks = len(_DOCSTRING.findall(line))
        if not inside and not marks:
            outside.add(index)
        inside ^= marks % 2 == 1
    return [index for index in chosen if index in outside]
