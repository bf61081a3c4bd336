"""Markdown -> words.

In: a piece of an answer, as it stands there. Out: its words without markup and citations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# [1], [2, 3], [^1], [doc 1], 【1†source】; a link "[1](...)" is one too.
CITATION = re.compile(
    r"\[(?:\^\w{1,20}|(?:(?:doc|document|source|ref|passage|context)s?\.?\s?#?)?"
    r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20})\](?:\([^()\s]{1,500}\))?|"
    r"【(?:(?:source|doc|document|ref|"
    r"reference)s?[ :#]{0,3})?(?:\d{1,4}(?:\s?[:,;–-]\s?\d{1,4}){0,20})?"
    r"(?:†[^】]{0,60})?】",
    re.IGNORECASE,
)
_TAGS = (
    "a|abbr|b|blockquote|br|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|"
    "mark|ol|p|pre|s|section|small|span|strong|sub|summary|table|tbody|td|th|thead|tr|u|ul"
)
# What a reader does not see inside a word.
_INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_LETTER = r"[\da-zA-ZÀ-ɏͰ-ӿ]"
_JOINED = rf"(?<={_LETTER})[\u200c\u200d]+|[\u200c\u200d]+(?={_LETTER})"
# Titles and descriptions that hold a figure say something.
_TITLE = re.compile(r"\s[\"']((?=[^\"']*\d)[^\"']{3,500})[\"']\s*\)$")
_SAID = re.compile(r"(?:alt|title)\s*=\s*[\"]([^\"]*\d[^\"]*)[\"]", re.IGNORECASE)


def _link(match: re.Match[str]) -> str:
    title = _TITLE.search(match[0])
    return f"{match[1]} ({title[1]})" if title else match[1]


def _tag(match: re.Match[str]) -> str:
    said = " ".join(_SAID.findall(match[0]))
    return f" {said} " if said else ""


def _break(match: re.Match[str]) -> str:
    return _tag(match) or " "


_STEPS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"<!--|-->\s*$"), " "),
    (re.compile(r"\[( |x|X)\](?=\s)"), ""),
    (re.compile(r"!?\[([^\[\]]{1,500})\]\((?:[^()]|\([^()]{0,200}\)){0,1000}\)"), _link),
    (re.compile(r"(?<=\d)<sup>(?=[\d-])", re.IGNORECASE), "^"),
    (re.compile(r"<sup>\s?\[?\d{1,3}\]?\s?</sup>", re.IGNORECASE), ""),
    (re.compile(r"<(?:br|p|div|li|td|tr)\b[^<>]{0,300}>", re.IGNORECASE), _break),
    (re.compile(rf"</?(?:{_TAGS}|sup)\b[^<>]{{0,300}}>", re.IGNORECASE), _tag),
    (re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,500})>"), r"\1"),
    (re.compile(r"\*\*\*(?=\S)([^*]{1,2000})(?<=\S)\*\*\*"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*]{1,2000})(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]{1,2000})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^_]{1,2000})(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"~~(?=\S)([^~]{1,2000})(?<=\S)~~"), r"\1"),
    (re.compile(r"``\s?([^`]{1,2000}?)\s?``"), r"\1"),
    (re.compile(r"`([^`]{1,2000})`"), r"\1"),
    (re.compile(r"(?<!\w)\*\*|\*\*(?!\w)|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
    (re.compile(r"[\x00-\x08\x0e-\x1b\x7f]"), ""),
)
# Without these there is no markup; most sentences have none.
_MARKUP = re.compile(r"[\[\]<>*_~`\\【\x00-\x1f\x7f]|\s\s")
_HIDDEN = re.compile(f"[{_INVISIBLE}]|{_JOINED}")
_SPACE = re.compile(r"\s+")
# What remains of "[^1]: ".
_DEFINES = re.compile(r"^[:：]\s*")
_SPACE_BEFORE_STOP = re.compile(r" (?=[.,;:!?](?:\s|$))")


def has_words(text: str) -> bool:
    """Say whether the text holds a letter or digit."""
    return any(map(str.isalnum, text))


def visible(source: str) -> str:
    """Return a text without characters that no reader sees, such as soft hyphens."""
    return source if source.isascii() else _HIDDEN.sub("", source)


def words_of(source: str) -> str:
    """Return the words of a piece of markdown, without emphasis, links, tags and citations."""
    source = visible(source)
    if _MARKUP.search(source) is None:
        return source.strip()
    text, cited = CITATION.subn(" ", source)
    for pattern, into in _STEPS:
        text = pattern.sub(into, text)
    text = _SPACE.sub(" ", text).strip()
    if cited:
        text = _SPACE_BEFORE_STOP.sub("", text)
        text = _DEFINES.sub("", text)
    return text
