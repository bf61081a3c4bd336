"""Markdown -> words.

In: a piece of an answer, as it stands there. Out: its words without markup and citations.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from itertools import islice

from faithguard._alike import in_latin
from faithguard.claims._disguised import undisguised
from faithguard.claims._verbs import FINITE

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
_ORDINAL = (
    r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*\b|Jahr|Klasse|Etage|Stock|Stufe|"
    r"Platz|Quartal|Halb|Liga|Auflage|Weltkrieg|Grad|Tag|Woche|Monat|Kapitel|Person"
)
ORDINAL = re.compile(_ORDINAL)
"""What a number with a stop counts in German: "3. Mai"."""
_PLACE = r"\(?(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{2,5}|[a-z](?=\)))[.)]:?"
_ASKED = r"Q\d{1,2}[.:]\s+(?=[^?？]+[?？]\W*\Z)"
# A number in bold type, or at the beginning of a label in it, is a place in a list; so is that of
# a question.
_PLACED = re.compile(
    rf"\A\s*(?:(?P<mark>\*{{1,3}}|_{{1,3}}|<(?:b|strong|em|i)>)(?:{_PLACE}\s+|{_ASKED})|"
    rf"(?P<bold>\*\*|__){_PLACE}(?P=bold)\s+|\d\ufe0f?\u20e3\s*|{_ASKED})"
    rf"(?=[^\W\d]|[*_(\"'“`])(?!{_ORDINAL})"
)
# What a reader does not see inside a word.
_INVISIBLE = (
    "\u00ad\u034f\u180b-\u180d\ufe00-\ufe0f\U000e0000-\U000e0fff"
    "\u0335\u0336\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
)
_LETTER = r"[\da-zA-ZÀ-ɏͰ-ӿ]"
_JOINED = rf"(?<={_LETTER})[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?={_LETTER})"
# Titles and descriptions that hold a figure say something.
_TITLE = re.compile(r"\s[\"']((?=[^\"']*\d)[^\"']{3,500})[\"']\s*\)$")
_SAID = re.compile(r"(?:alt|title)\s*=\s*[\"]([^\"]*\d[^\"]*)[\"]", re.IGNORECASE)


def _link(match: re.Match[str]) -> str:
    title = _TITLE.search(match[0])
    return f"{match[1]} ({title[1]})" if title else match[1]


def _target(match: re.Match[str]) -> str:
    title = _TITLE.search(match[0])
    return f" ({title[1]})" if title else ""


def _tag(match: re.Match[str]) -> str:
    said = " ".join(_SAID.findall(match[0]))
    return f" {said} " if said else ""


def _break(match: re.Match[str]) -> str:
    return _tag(match) or " "


_STEPS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"<!--[^\w<>]*-->"), ""),
    (re.compile(r"(?<=\w)<!--([^<>]{1,500})-->(\w+)"), r"\2 \1"),
    (re.compile(r"<!--|-->"), " "),
    (re.compile(r"\[( |x|X)\](?=\s)"), ""),
    (re.compile(r"!?\[([^\[\]]{1,500})\]\((?:[^()]|\([^()]{0,200}\)){0,1000}\)"), _link),
    # a link whose text is several sentences, of which this is the last, or the first
    (re.compile(r"(?<=\S)\]\((?:[^()]|\([^()]{0,200}\)){0,1000}\)"), _target),
    (re.compile(r"\A\s*!?\[(?=[^\[\]]*\Z)"), ""),
    (re.compile(r"(?<=\d)<sup>(?=[\d-])", re.IGNORECASE), "^"),
    (re.compile(r"<sup>\s?\[?\d{1,3}\]?\s?</sup>", re.IGNORECASE), ""),
    (re.compile(r"<(?:br|p|div|li|td|tr)\b[^<>]{0,300}>", re.IGNORECASE), _break),
    (re.compile(rf"</?(?:{_TAGS}|sup)\b[^<>]{{0,300}}>", re.IGNORECASE), _tag),
    (re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,500})>"), r"\1"),
    (re.compile(r"\*\*\*(?=\S)([^*]{1,2000})(?<=\S)\*\*\*"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*]{1,2000})(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]{1,2000})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^_]{1,2000})(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"~~(?=\S)([^~]{1,2000})(?<=\S)~~"), r"\1"),  # all of it was struck
    (re.compile(r"``\s?([^`]{1,2000}?)\s?``"), r"\1"),
    (re.compile(r"`([^`]{1,2000})`"), r"\1"),
    (re.compile(r"(?<!\w)\*\*|\*\*(?!\w)|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
    (re.compile(r"[\x00-\x08\x0e-\x1b\x7f]"), ""),
)
_BRACKETED = re.compile(r"[\[【](\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,20})[\]】]")
_UNIT = re.compile(
    r"\s?(?:[%‰°€$£¥₹]|[天日年月週周元円個个人時分秒歳岁回次名]|小时|分钟|時間|-(?=[a-z])|"
    r"(?:business |working |calendar |full |more )?(?:seconds?|minutes?|hours?|days?|weeks?|"
    r"months?|years?|percent|per cent|mg|g|kg|km|m|cm|mm|ml|l|mcg|µg|eur|euros?|usd|gbp|chf|"
    r"dollars?|pounds?|cents?|kb|mb|gb|tb|kwh|kw|w|v|mhz|ghz|tablets?|pills?|capsules?|doses?|"
    r"times|people|persons?|guests?|users?|members?|employees?|miles?|metres?|meters?|feet|"
    r"degrees?|points?|pages?|items?|units?|million|billion|thousand|nights?|"
    r"tage?n?|stunden?|wochen?|monaten?|monate|jahren?|jahre|prozent|jours?|heures?|semaines?|"
    r"mois|ans?|d[ií]as?|horas?|semanas?|mes(?:es)?|años?|anos?|giorni|giorno|ore|settimane|mesi|"
    r"anni|dagen|dag|uur|weken|maanden|jaar|gün|saat|hafta|ay|yıl|يوم|أيام|दिन)\b)",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"[€$£¥₹#]\s?$|\b(?:EUR|USD|GBP|CHF|Rs\.?)\s$")
_COPULA = re.compile(
    r"\b(?:is|are|was|were|be|costs?|equals|takes?|lasts?|of|ist|sind|beträgt|es|est|è|é)\s$", re.I
)
_TAKES_NUMBER = re.compile(
    r"\b(?:is|are|was|were|be|costs?|takes?|lasts?|pays?|charges?|within|after|up to|over|under|"
    r"least|most|than|about|around|exactly|only|every|of|has|have|for|per|the|a|an|ist|sind|"
    r"beträgt|kostet|nach|innerhalb von|bis zu|es|son|es de|cuesta|est|sont|coûte|de|è|sono|costa|"
    r"di|é|são|custa|is|zijn|kost|van|first|last|next|takes|receives?|gets?|employs|owns|contains|"
    r"includes|allows)\s$",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"\s?([^\W\d_]+)")
_ENDS = re.compile(r"[\s.!?*_)]*$|[.!?](?:\s|$)")
_FUNCTION = frozenset(
    "the a an and or but nor so yet of in on at by for with from to as than that which who whom "
    "whose where when while if because since though although is are was were be been being has "
    "have had do does did can could may might must shall should will would cannot not also it its "
    "they their them he she his her we our you your this these those there then however both all "
    "each every no only just per via under over after before during between into about within "
    "without until unless i und oder aber der die das den dem des ein eine einen ist sind war "
    "waren hat haben wird werden kann auf mit von zu für im am y o pero el la los las un una es "
    "son fue en con por para de del que et ou mais le les une est sont dans avec pour par sur du "
    "des qui e ma il lo gli i è sono di da per che é são em com um uma os as não en het een van "
    "op met voor zijn wordt dat ve bir ile "
    "show suggest state say report find indicate explain describe mention note use sell".split()
)
# Without these there is no markup; most sentences have none.
_MARKUP = re.compile(r"[\[\]<>*_~`\\【\x00-\x1f\x7f]|\s\s|&#?\w{1,31};")
_HIDDEN = re.compile(f"[{_INVISIBLE}]|{_JOINED}")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_SPACE = re.compile(r"\s+")
# What remains of "[^1]: ".
_DEFINES = re.compile(r"^[:：]\s*")
_SPACE_BEFORE_STOP = re.compile(r" (?=[.,;:!?](?:\s|$))")


def _plain_letters() -> dict[int, str]:
    """Return the letters and digits in rings, boxes, full width and mathematical alphabets."""
    ranges = (
        (0x2460, 0x24FF),
        (0x2100, 0x214F),
        (0xFF10, 0xFF5A),
        (0x1D400, 0x1D7FF),
        (0x1F100, 0x1F16F),
        (0x1FBF0, 0x1FBF9),
    )
    table: dict[int, str] = {}
    for low, high in ranges:
        for code in range(low, high + 1):
            plain = unicodedata.normalize("NFKC", chr(code)).strip("()., ")
            if len(plain) == 1 and plain.isalnum() and plain != chr(code):
                table[code] = plain
    for first in (0x1F130, 0x1F150, 0x1F170):  # in boxes, some without a plain form in Unicode
        table |= {first + index: chr(ord("A") + index) for index in range(26)}
    return table


_PLAIN_LETTERS = _plain_letters()


_TURNED = re.compile("\u202e([^\u202c\u2066-\u2069\n]*)")


def in_plain_letters(text: str) -> str:
    """Return a text of the same length as its reader sees it.

    Fancy letters and digits are plain ones, and what an override of direction turns around is
    turned around: "\u202e12" is shown as 21.
    """
    if text.isascii():
        return text
    text = in_latin(text.translate(_PLAIN_LETTERS))
    return _TURNED.sub(lambda m: m[0][0] + m[1][::-1], text)


def has_words(text: str) -> bool:
    """Say whether the text holds a letter or digit."""
    return any(map(str.isalnum, text))


def visible(source: str) -> str:
    """Return a text without characters that no reader sees, and marks that make no letter."""
    if source.isascii():
        return source
    return _MARKED.sub(_unmarked, _HIDDEN.sub("", source))


# "n" with a line under it is an n; "e" with an accent is a letter of its own.
_COMBINING = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_MARKED = re.compile(f"([\\dA-Za-z\u00c0-\u024f]){_COMBINING}+")


def _unmarked(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[0])[0]


def _without_citations(source: str) -> tuple[str, int]:
    """Return a text without its citations; a number in brackets that the sentence needs stays."""
    if "[" not in source and "【" not in source:
        return source, 0
    parts: list[str] = []
    at = cited = 0
    for match in CITATION.finditer(source):
        number = _BRACKETED.fullmatch(match[0])
        kept = _content_number(source, match, number) if number else ""
        cited += not kept
        parts.extend((source[at : match.start()], kept or " "))
        at = match.end()
    return "".join([*parts, source[at:]]), cited


def _content_number(source: str, match: re.Match[str], number: re.Match[str]) -> str:
    """Return a bracketed number as the sentence says it; empty if it is a citation."""
    before = source[max(0, match.start() - 40) : match.start()]
    after = source[match.end() : match.end() + 40]
    if _UNIT.match(after) or _CURRENCY.search(before):
        return number[1]
    if _TAKES_NUMBER.search(before):
        word = _NEXT_WORD.match(after)
        if word is not None and word[1].casefold() not in _FUNCTION and word[1] not in FINITE:
            return number[1]
        if _COPULA.search(before) and _ENDS.match(after):
            return number[1]
    word = _NEXT_WORD.match(after)
    if word is None or not word[1].islower() or not before.strip(" *_"):
        return ""
    return "" if word[1] in _FUNCTION or word[1] in FINITE else match[0]


_NUMBERS = re.compile(r"(\d{1,4})(?:\s?[–-]\s?(\d{1,4}))?")
_MOST_CITED = 20


def citations(source: str) -> tuple[tuple[str, int], ...]:
    """Return the passages that a piece of an answer cites, each with the words before its mark."""
    if "[" not in source and "【" not in source:
        return ()
    found: list[tuple[str, int]] = []
    at, words = 0, ""
    for match in CITATION.finditer(source):
        number = _BRACKETED.fullmatch(match[0])
        if "^" in match[0] or (number and _content_number(source, match, number)):
            continue
        words = words_of(source[at : match.start()]).strip(" ,;.") or words
        at = match.end()
        inside = match[0].split("](")[0].split("†")[0].split(":")[0]
        for first, last in _NUMBERS.findall(inside):
            numbers = range(int(first), int(last or first) + 1)[:_MOST_CITED]
            found += [(words, one) for one in numbers]
    rest = words_of(source[at:]) if found and not found[0][0] else ""
    return tuple((words or rest, number) for words, number in found if has_words(words or rest))


_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,300})\1(?!`)")


def code_in(source: str) -> tuple[str, ...]:
    """Return what stands between backticks in a piece of markdown."""
    return tuple(match[2].strip() for match in _CODE.finditer(source)) if "`" in source else ()


def words_of(source: str) -> str:
    """Return the words of a piece of markdown, without emphasis, links, tags and citations.

    The place in a list with which it begins is none of them: "**2. Price:**".
    """
    source = visible(_PLACED.sub(lambda match: match["mark"] or "", source, count=1))
    if _MARKUP.search(source) is None:
        return _without_halves(undisguised(source.strip()))
    text, cited = _without_citations(source)
    for pattern, into in _STEPS:
        text = pattern.sub(into, text)
    if "&" in text:
        text = visible(in_plain_letters(_ENTITY.sub(lambda m: html.unescape(m[0]), text)))
    text = undisguised(_SPACE.sub(" ", text).strip())
    if cited:
        text = _SPACE_BEFORE_STOP.sub("", text)
        text = _DEFINES.sub("", text)
    return _without_halves(text)


_HALF = re.compile(r"[\"“”„«»()（）「」『』]|(?<!\w)['‘‚](?=[A-Z])|['’‘](?!\w)")
_CLOSED = re.compile(r"(?<=[.!?…。！？])[\"“”«»)）」』'’‘][.!?]?\Z")


def _without_halves(text: str) -> str:
    """Return a sentence without a mark at its edge whose partner stands in another one."""
    marks = [match.start() for match in islice(_HALF.finditer(text), 2)]
    if len(marks) != 1:
        return text
    if not marks[0]:
        return text[1:].lstrip()
    return _CLOSED.sub("", text)
