"""Markdown -> words.

In: a piece of an answer, as it stands there. Out: its words without markup and citations.
"""

from __future__ import annotations

import re

# [1], [2, 3], [^1], [doc 1], 【1†source】; a link "[1](...)" is one too.
CITATION = re.compile(
    r"\[(?:\^\w{1,20}|(?:(?:doc|document|source|ref|passage|context)s?\.?\s?#?)?"
    r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20})\](?:\([^()\s]{1,500}\))?|【[^】]{1,60}】",
    re.IGNORECASE,
)
_TAGS = (
    "a|abbr|b|blockquote|br|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|"
    "mark|ol|p|pre|s|section|small|span|strong|sub|summary|table|tbody|td|th|thead|tr|u|ul"
)
_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[( |x|X)\](?=\s)"), ""),
    (re.compile(r"!?\[([^\[\]]{1,500})\]\((?:[^()]|\([^()]{0,200}\)){0,1000}\)"), r"\1"),
    (re.compile(r"(?<=\d)<sup>(?=[\d-])", re.IGNORECASE), "^"),
    (re.compile(r"<sup>\s?\[?\d{1,3}\]?\s?</sup>", re.IGNORECASE), ""),
    (re.compile(r"<(?:br|p|div|li|td|tr)\b[^<>]{0,300}>", re.IGNORECASE), " "),
    (re.compile(rf"</?(?:{_TAGS}|sup)\b[^<>]{{0,300}}>", re.IGNORECASE), ""),
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
    (re.compile(r"[\x00-\x08\x0e-\x1b\x7f\u200b\ufeff]"), ""),
)
# Without these there is no markup; most sentences have none.
_MARKUP = re.compile(r"[\[\]<*_~`\\【\x00-\x1f\x7f\u200b\ufeff]|\s\s")
_SPACE = re.compile(r"\s+")
_SPACE_BEFORE_STOP = re.compile(r" (?=[.,;:!?](?:\s|$))")


def has_words(text: str) -> bool:
    """Say whether the text holds a letter or digit."""
    return any(map(str.isalnum, text))


def words_of(source: str) -> str:
    """Return the words of a piece of markdown, without emphasis, links, tags and citations."""
    if _MARKUP.search(source) is None:
        return source.strip()
    text, cited = CITATION.subn(" ", source)
    for pattern, into in _STEPS:
        text = pattern.sub(into, text)
    text = _SPACE.sub(" ", text).strip()
    if cited:
        text = _SPACE_BEFORE_STOP.sub("", text)
    return text
