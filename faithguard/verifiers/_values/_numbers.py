"""Numbers with what stands around them: scale, unit, currency, and how exact they claim to be.

In: a text. Out: values of the family "number" in base units.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from faithguard.verifiers._function_words import FUNCTION_WORDS
from faithguard.verifiers._values._powers import powered
from faithguard.verifiers._values._units import (
    CURRENCIES,
    CURRENCY_NAMES,
    CURRENCY_PREFIX,
    CURRENCY_SIGNS,
    UNIT,
    unit_of,
)
from faithguard.verifiers._values._value import Value
from faithguard.verifiers._values._words import (
    CJK_NUMBER,
    ENGLISH,
    FIRST_TWO,
    FOREIGN,
    ONES,
    ORDINALS,
    PARTS,
    SCALES,
    read_cjk,
    read_english,
)

__all__ = ["VULGAR", "joined", "numbers"]

_LONGEST = 40
"""Characters; a longer row of digits is a code, not an amount."""

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_VULGAR_OF = {
    character: Fraction(unicodedata.numeric(character)).limit_denominator(10)
    for character in VULGAR
}
_NUMBER_WORD = "|".join(sorted(ENGLISH, key=len, reverse=True))
_DIGITS = re.compile(
    r"(?P<sign>(?<![\w)])[-−+])?"
    r"(?P<num>\d{1,3}(?:[ \u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?(?![\d])|\d[\d.,'’٫٬]*\d|\d)"
    rf"(?P<frac>[{VULGAR}])?"
    rf"|(?P<onlyfrac>[{VULGAR}])"
)
_RATIO = re.compile(r"(?<![\d/.,])(\d{1,2})/(\d{1,2})(?![\d/])")
_TO_ONE = re.compile(
    rf"(?<![\d.,:/])(\d{{1,3}}):(\d{{1,3}})(?![\d:])|\b(\d{{1,3}}|{_NUMBER_WORD}) to one\b", re.I
)
_MAY_BE_RATIO = re.compile(r"\d:\d| to one\b", re.I)
_SPELLED = re.compile(
    rf"\b(?:(?:{_NUMBER_WORD}|a(?=\s+(?:dozen|hundred|thousand|million|billion)\b))"
    rf"(?:[\s-]+(?:(?<=hundred )and\s+|(?<=thousand )and\s+|(?<=million )and\s+)?"
    rf"(?:{_NUMBER_WORD}|hundred|thousand|million|billion)\b)*)\b",
    re.I,
)
_PART_WORD = "|".join(sorted(PARTS, key=len, reverse=True))
# "the third quarter" is no share: a share stands before "of" or an article, or is joined
_PART = re.compile(
    rf"(?<!\band )\b(?:(?P<n>one|two|three|four|five|a)(?P<joint>[\s-]+))?(?P<p>{_PART_WORD})\b"
    r"(?=(?P<rest>[\s-]+(?:of\b|(?:of\s+)?(?P<article>an?|the)\b)|\W|$))",
    re.I,
)
_A_UNIT = re.compile(
    r"\b(?P<a>an?|one)\s+(?:minute|hour|day|week|month|year|kilo|litre|liter|metre|meter|mile|tonne?)"
    r"(?=\s+(?:and\s+a\s+(?:half|quarter)|(?:and\s+)?\d+|(?:and\s+)?"
    rf"(?:{_NUMBER_WORD}))\b)",
    re.I,
)
_FOR_A_UNIT = re.compile(
    r"\b(?:for|within|takes?|took|lasts?|lasted)\s+(?:just\s+)?(?:about\s+|around\s+|over\s+|under\s+|nearly\s+|almost\s+)?(?P<a>an?(?:\s+(?:full|whole))?)"
    r"(?=\s+(?:minute|hour|day|week|month|year)\b(?!\s+(?:or|and|later|ago|before|after|off)))",
    re.I,
)
_MILLION = re.compile(r"\s?m\b(?!\.\w)", re.I)
"""After an amount of money: "€40m"."""
# "four in ten", "1 in 20", "three out of five"
_ONE_IN = re.compile(
    rf"(?<![\d.,])\b(?:(?P<n>\d{{1,3}}(?:\.\d+)?|{'|'.join(ONES)})\s+(?:in|out\s+of(?:\s+every)?)"
    r"|(?P<part>\d{1,3}\.\d+)\s+of)\s+(?:every\s+)?"
    rf"(?P<m>\d{{1,2}}|1,?000|100|{'|'.join(ONES)}|twenty|a\s+hundred)(?![\d.,:%]*\d)(?=\s+[^\W\d_]|\W|$)",
    re.I,
)
_TIMES_OF = {"once": 1, "twice": 2, "thrice": 3}
# "once" is a count only before a period; "once you register" is a condition
_TIMES = re.compile(
    r"\b(twice|thrice|once(?=\s+(?:an?|per|every|each|daily|weekly|monthly|yearly|more|only)\b))\b",
    re.I,
)
_ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b", re.I)
_RANK = re.compile(
    r"\b(first|second)(?=\s+(?:floor|storey|story|edition|chapter|row|prize|grade|semester|platform|"
    r"deck|street|avenue)\b)",
    re.I,
)
"""Elsewhere "first" is an adverb, and "second" a time."""
_AND_PART = re.compile(
    r"\s+(?:and\s+(?:a\s+|one\s+)?(half|quarter)|et\s+demie?|y\s+medi[oa]|e\s+mezz[oa]|e\s+mei[oa]"
    r"|(?P<fourth>et\s+quart|y\s+cuarto|e\s+un\s+quarto|e\s+um\s+quarto))\b",
    re.I,
)
_WHOLE_DAY = re.compile(r"\b(?:around|round)\s+the\s+clock\b|\brund\s+um\s+die\s+Uhr\b", re.I)
_A_UNIT_ELSEWHERE = re.compile(
    r"\b(?P<a>une?|una?|uno|eine[mnr]?|uma?)\s+(?:heure|hora|ora|stunde|tag|jour|día|dia|giorno|woche"
    r"|semaine|semana|settimana|monat|mois|mes|mese|mês|jahr|an|année|año|anno|ano)\b",
    re.I,
)
_SCALE = re.compile(
    r"(?:[\s-]*(?P<latin>"
    + "|".join(sorted((s for s in SCALES if not re.match("[\u3000-\u9fff]", s)), key=len)[::-1])
    + r")(?![\w\u0900-\u0963])|\s?(?P<cjk>百万|千万|[万萬億亿兆千]))",
    re.I,
)
_PER_CENT_WORDS = re.compile(r"per\s+cent\b|percentage[\s-]+points?\b", re.I)
_BUSINESS = re.compile(r"(?:business|working)\s+days?\b", re.I)
_BEFORE = re.compile(rf"({CURRENCY_PREFIX})\s*$")
_FOLLOWING = re.compile(r"\s+([^\W\d_]{3,24})")
_ENDS = re.compile(r"(?<![\d.,:])\d{1,2}\s*(?:to|-|–|until|till)\s*\d{1,2}(?![\d.,:]*\d)", re.I)
_ROUGHLY = (
    "about|around|approximately|approx|approx.|roughly|nearly|almost|some|circa|ca.|over|more than"
    "|close to|close on|just under|just below|just above|just short of|upwards of|an estimated"
    "|slightly under|slightly less than|a little under|a little less than|a bit under|not quite"
    "|in the region of|in the order of|approaching|virtually|practically|an estimated"
    "|rund|etwa|ungefähr|knapp|fast|gut|zirka|annähernd|nahezu|beinahe|etwas mehr als"
    "|etwas weniger als|environ|près de|à peu près|quelque|plus de|presque|un peu moins de"
    "|autour de|cerca de|aproximadamente|alrededor de|unos|unas|casi|más de|en torno a"
    "|poco menos de|quasi|oltre|più di|poco meno di|all'incirca|attorno a|intorno a|uns|umas|quase"
    "|mais de|em torno de|por volta de|pouco menos de"
    "|حوالي|نحو|قرابة|ما يقارب|लगभग|करीब|तकरीबन"
).split("|")
_ROUGHLY_ENDS = frozenset(phrase[-2:] for phrase in _ROUGHLY)
_ROUGHLY_UNSPACED = ("约", "約", "およそ", "近", "ほぼ", "大概", "将近")
_ROUGH_AFTER = re.compile(
    r"\s?(?:(?:or\s+so|or\s+thereabouts|give\s+or\s+take|approximately|approx|environ|circa|تقريبا)\b"
    r"|左右|程度|ほど|くらい|ぐらい)",
    re.I,
)
"""What stands after a number that may be rounded."""
_BETWEEN_ENDS = re.compile("[-–]|to|til", re.I)
_PHRASES = "|".join(re.escape(phrase).replace("\\ ", r"\s+") for phrase in _ROUGHLY)
_ABOUT = re.compile(rf"\b(?:{_PHRASES})\s+$", re.I)
_VERSION = re.compile(r"(?!\d{1,3}(?:\.\d{3})+$)\d+(?:\.\d+){2,}")


def numbers(text: str, words: frozenset[str], tongue: str, *, digits: bool) -> Iterator[Value]:
    """Yield the numbers of a text, those in figures first.

    Args:
        text: To read.
        words: Its words in lower case: they say which patterns can match at all.
        tongue: The language that it seems to be in.
        digits: Whether it holds any digit.
    """
    if " to one" in text or (":" in text and _MAY_BE_RATIO.search(text)):
        yield from _ratios(text)
    if (" in " in text or " of " in text) and (digits or not words.isdisjoint(ONES)):
        yield from _one_in(text)
    if "分" in text:
        yield from _parts_in_han(text)
    if tongue in _OUT_OF:
        yield from _out_of(text, tongue)
    if digits:
        yield from _in_figures(text, tongue)
    if not words.isdisjoint(_WORDS):
        yield from _spelled(text, words)
    if tongue != "en":
        yield from _foreign(text, tongue)
    if not text.isascii():
        yield from _han(text)
    for match in _WHOLE_DAY.finditer(text) if words & {"clock", "uhr"} else ():
        day = frozenset({Fraction(86_400)})
        yield Value(
            "number", "second", day, *match.span(), match[0], bare=frozenset({Fraction(24)})
        )


_WORDS = frozenset([*ENGLISH, *SCALES, *ORDINALS, *FIRST_TWO, *PARTS, *_TIMES_OF, "a", "an", "one"])


def _ratios(text: str) -> Iterator[Value]:
    """Yield "2:1" and "two to one"."""
    for match in _TO_ONE.finditer(text):
        if match[3]:
            word = match[3].lower()
            ratio = Fraction(int(word) if word.isdigit() else ENGLISH[word])
        elif int(match[2]) == 0:
            continue
        else:
            ratio = Fraction(int(match[1]), int(match[2]))
        yield Value("number", "ratio", frozenset({ratio}), *match.span(), match[0])


def _one_in(text: str) -> Iterator[Value]:
    """Yield "one in five" and "9 out of 10" as the shares that they are."""
    for match in _ONE_IN.finditer(text):
        part, whole = _small(match["n"] or match["part"]), _small(match["m"])
        following = UNIT.match(text, match.end())
        unit = unit_of(following["name"]) if following is not None else None
        if not 0 < part < whole or (unit is not None and unit[0] != "person"):
            continue
        share = frozenset({part / whole})
        yield Value("number", "", share, *match.span(), match[0], bare=share)


def _small(word: str) -> Fraction:
    plain = word.lower().replace(",", "")
    if plain[0].isdigit():
        return Fraction(plain)
    return Fraction(100 if plain.startswith("a") else ENGLISH[plain])


def _in_figures(text: str, tongue: str) -> Iterator[Value]:
    for match in _RATIO.finditer(text) if "/" in text else ():
        over, under = int(match[1]), int(match[2])
        if 0 < over < under <= 12 and not _part_of_a_word(text, *match.span()):
            yield _number({Fraction(over, under)}, match.start(), match.end(), text)
    for match in _figures(text):
        if not _part_of_a_word(text, match.start(), match.end()) and len(match[0]) <= _LONGEST:
            readings = _read_digits(match, tongue)
            decimals = _decimals(match["num"] or "")
            readings, start, end = powered(text, match.start(), match.end(), readings)
            yield _number(readings, start, end, text, decimals=decimals)


def _figures(text: str) -> Iterator[re.Match[str]]:
    """Yield what `_DIGITS.finditer` would; it is slow, and digits are quick to find."""
    behind = 0
    for figure in _FIGURE.finditer(text):
        start = figure.start()
        if start < behind:
            continue
        signed = start > behind and text[start - 1] in "-−+"
        match = (_DIGITS.match(text, start - 1) if signed else None) or _DIGITS.match(text, start)
        if match is not None:
            behind = match.end()
            yield match


_FIGURE = re.compile(rf"[\d{VULGAR}]")


_PERIODS = frozenset("minute hour day week month year".split())
_UNITS = _PERIODS | set("kilo litre liter metre meter mile tonn tonne".split())
_COUNTS = frozenset(ENGLISH) | set("hundred thousand million billion".split())


def _spelled(text: str, words: frozenset[str]) -> Iterator[Value]:
    # each pattern is slow, and its words are quick to look up
    for match in _PART.finditer(text) if not words.isdisjoint(PARTS) else ():
        if (measured := _part_of_unit(match, text)) is not None:
            yield measured
            continue
        share = match["rest"].strip("- ") and (match["article"] or "of" in match["rest"])
        if not share and not match["n"]:
            continue  # "the third", "quarter"
        if match["p"].lower() in ORDINALS and match["article"] and match["n"] is None:
            continue  # "the third a year"
        if match["n"] and not share and not _joins(match):
            continue
        count = ONES.get((match["n"] or "one").lower(), 1)
        # "half an hour": the article stands between the number and its unit
        article = (
            match["article"] and match["article"].lower() != "the" and "of" not in match["rest"]
        )
        end = match.end("article") if article else None
        part = count * PARTS[match["p"].lower()]
        yield _number({part}, match.start(), end or match.end("p"), text)
    for match in _SPELLED.finditer(text) if not words.isdisjoint(_COUNTS) else ():
        said = re.findall(r"[a-z]+", match[0].lower())
        if said != ["one"]:  # more often a pronoun than a count
            yield _number({Fraction(read_english(said))}, match.start(), match.end(), text)
    for match in _FOR_A_UNIT.finditer(text) if not words.isdisjoint(_PERIODS) else ():
        yield _number({Fraction(1)}, match.start("a"), match.end("a"), text)
    for match in _A_UNIT.finditer(text) if not words.isdisjoint(_UNITS) else ():
        yield _number({Fraction(1)}, match.start(), match.start() + len(match["a"]), text)
    for match in _TIMES.finditer(text) if not words.isdisjoint(_TIMES_OF) else ():
        times = frozenset({Fraction(_TIMES_OF[match[1].lower()])})
        yield Value("number", "times", times, *match.span(1), match[1], bare=times)
    for match in _ORDINAL.finditer(text) if not words.isdisjoint(ORDINALS) else ():
        readings = {Fraction(ORDINALS[match[0].lower()])}
        yield _number(readings, match.start(), match.end(), text, ordinal=True)
    yield from _first_two(text) if not words.isdisjoint(FIRST_TWO) else ()


def _first_two(text: str) -> Iterator[Value]:
    for match in _RANK.finditer(text):
        readings = {Fraction(FIRST_TWO[match[0].lower()])}
        yield _number(readings, match.start(), match.end(), text, ordinal=True)


_OF_A = re.compile(r"(?:\s+of)?\s+an?\s+|-", re.I)
_EACH = re.compile(r"\b(?:every|each|per)\s+$", re.I)
_EACH_LONG = 8
_SPACES = re.compile(r"\s+")


def _part_of_unit(match: re.Match[str], text: str) -> Value | None:
    """Return "three quarters of an hour", "half-litre", "every half hour" as amounts."""
    gap = _OF_A.match(text, match.end("p"))
    if gap is None and _EACH.search(text, max(0, match.start() - _EACH_LONG), match.start()):
        gap = _SPACES.match(text, match.end("p"))
    if gap is None or (match["p"].lower() in ORDINALS and match["n"] is None):
        return None
    word = _WORD_AFTER.match(text, gap.end())
    base = unit_of(word[0]) if word and len(word[0]) > 1 else None
    if word is None or base is None or base[0] in ("person", "times", "%"):
        return None
    number = ONES.get((match["n"] or "one").lower(), 1) * PARTS[match["p"].lower()]
    return Value(
        "number", base[0], frozenset({number * base[1]}), match.start(), word.end(),
        text[match.start() : word.end()], bare=frozenset({number}),
        approximate=_is_rough(text[max(0, match.start() - 24) : match.start()]),
    )  # fmt: skip


_WORD_AFTER = re.compile(r"[^\W\d_]+")


def _joins(match: re.Match[str]) -> bool:
    """Whether count and part are one share: "one-third", "two thirds", "a fifth"."""
    return "-" in match["joint"] or match["p"].lower().endswith("s") or match["n"].lower() == "a"


def _foreign(text: str, tongue: str) -> Iterator[Value]:
    """Yield the spelled numbers of another language than English."""
    table = FOREIGN[tongue]
    for match in _A_UNIT_ELSEWHERE.finditer(text):
        yield _number({Fraction(1)}, match.start(), match.end("a"), text)
    for match in _PATTERNS[tongue].finditer(text):
        readings = {Fraction(table[match[0].lower()])}
        yield _number(readings, match.start(), match.end(), text)


_OUT_OF = {"de": "von|aus", "fr": "sur", "es": "de cada", "it": "su", "pt": "em cada"}


def _out_of(text: str, tongue: str) -> Iterator[Value]:
    """Yield "drei von vier", "tre richieste su quattro" as the shares that they are."""
    for match in _SHARES_ELSEWHERE[tongue].finditer(text):
        table = FOREIGN[tongue]
        part, whole = (
            Fraction(int(word) if word.isdigit() else table[word.lower()])
            for word in match.groups()
        )
        if 0 < part < whole:
            share = frozenset({part / whole})
            yield Value("number", "", share, *match.span(), match[0], bare=share)


_SHARES_ELSEWHERE = {
    tongue: re.compile(
        rf"\b(\d|{small})\s+(?:[^\W\d]+\s+){{0,{0 if tongue == 'de' else 3}}}"
        rf"(?:{words})\s+(\d{{1,2}}|{small})\b(?![.,]\d)",
        re.I,
    )
    for tongue, words in _OUT_OF.items()
    for small in ["|".join(word for word, n in FOREIGN[tongue].items() if 1 < n <= 20)]
}

_CJK_PART = re.compile(rf"(\d{{1,3}}|{CJK_NUMBER})分[之の](\d{{1,3}}|{CJK_NUMBER})")


def _parts_in_han(text: str) -> Iterator[Value]:
    """Yield 三分之一 and 3分の1."""
    for match in _CJK_PART.finditer(text):
        under, over = (
            int(part) if part.isdigit() and part.isascii() else read_cjk(part)
            for part in match.groups()
        )
        if under == _PERCENT and match[1] == "百":
            percent = frozenset({Fraction(over)})
            yield Value("number", "%", percent, *match.span(), match[0], bare=percent)
        elif 0 < over < under:
            share = frozenset({Fraction(over, under)})
            yield Value("number", "", share, *match.span(), match[0], bare=share)


_PERCENT = 100

_PATTERNS = {
    tongue: re.compile(
        r"(?<![\w\u0900-\u0963-])(?:"
        + "|".join(sorted(map(re.escape, table), key=len, reverse=True))
        + r")(?![\w\u0900-\u0963-])",
        re.I,
    )
    for tongue, table in FOREIGN.items()
}
# Han numerals are parts of many words: they count before a unit or a counter.
_HAN = re.compile(
    rf"(?P<share>百分之)?(?P<num>{CJK_NUMBER})(?P<half>半)?"
    r"(?=个?月|か月|ヶ月|年|天|日|週|周|星期|小时|時間|分(?!之)|秒|元|円|人|名|次|回|倍|位|割|公里|米|%|(?<=万))"
)


def _han(text: str) -> Iterator[Value]:
    for match in _HAN.finditer(text):
        number = Fraction(read_cjk(match["num"]))
        if match["share"]:
            readings = frozenset({number})
            yield Value("number", "%", readings, *match.span(), match[0], bare=readings)
        elif not text[match.start() - 1 : match.start()].isdigit():
            yield _number({number}, match.start(), match.end(), text)


def _part_of_a_word(text: str, start: int, end: int) -> bool:
    """B12, v2, covid19 and 3.11.2 are names, not amounts."""
    before = text[start - 1] if start else " "
    if before == "و" and text[start - 2 : start - 1] in ("", " "):
        return False  # "and 15"
    if before == "_" or (before.isalpha() and _is_spaced(before)):
        return True
    if before in "-‑" and start > 1 and text[start - 2].isalpha():
        return _MEASURE_BEFORE.search(text[max(0, start - 16) : start]) is None  # Uranium-235
    written = text[start:end]
    if len(written) == _SHORT_DECADE and written[1] == "0" and _DECADES.match(text, end):
        return True  # the 80s
    if len(written) == _DECADE and _DECADES.match(text, end):
        return True  # the 1950s
    if end - start == 2 and _YEAR_BEFORE.search(text[max(0, start - 5) : start]):
        return True  # the season 2018-19
    return _VERSION.fullmatch(written) is not None


# "200 mg-900 mg" is a range.
_MEASURE_BEFORE = re.compile(r"(?<![\w.,])\d[\d.,]*\s?(?:[kmµcd]?g|mcg|[mcd]?l|[kcm]?m)[-‑]$", re.I)
_DECADE, _SHORT_DECADE = 4, 2
_DECADES = re.compile(r"['’]?s\b")
_YEAR_BEFORE = re.compile(r"\d{4}[-–/]$")


def _is_spaced(letter: str) -> bool:
    return ord(letter) < 0x2E80 or 0xAC00 <= ord(letter) < 0xD7B0


_DECIMALS = re.compile(r"[.,]\d{1,2}$")


def _decimals(digits: str) -> int:
    """Return how many places after the decimal point are written, as far as that is sure."""
    tail = _DECIMALS.search(digits)
    return len(tail[0]) - 1 if tail else 0


_ZERO, _ONE = Fraction(0), Fraction(1)
_SEPARATORS = re.compile(r"['’ \u00a0\u202f\u2009٬]")


def _read_digits(match: re.Match[str], tongue: str) -> set[Fraction]:
    extra = _ZERO
    if fraction := match["frac"] or match["onlyfrac"]:
        extra = _VULGAR_OF[fraction]
    digits = match["num"]
    if not digits:
        return {extra}
    if not (digits.isascii() and digits.isdigit()):
        digits = _SEPARATORS.sub("", digits).replace("٫", ".")
    sign = -1 if match["sign"] in ("-", "−") else 1
    readings = _readings(digits, tongue)
    if sign > 0 and extra is _ZERO:
        return readings
    return {sign * (reading + extra) for reading in readings}


def _readings(digits: str, tongue: str) -> set[Fraction]:
    """Read digits with separators; a lone separator before three digits has two readings.

    A comma there is no decimal one in English, Chinese, Japanese, Arabic and Hindi.
    """
    points, commas = digits.count("."), digits.count(",")
    if points and commas:
        decimal = max(digits.rfind("."), digits.rfind(","))
        return {_fraction(digits[:decimal], digits[decimal + 1 :])}
    if not points and not commas:
        return {Fraction(int(digits))}
    separator = "." if points else ","
    head, *rest = digits.split(separator)
    grouped = _fraction("".join([head, *rest]), "")
    if len(rest) > 1:
        return {grouped}
    if len(rest[0]) != 3 or head in ("", "0"):
        return {_fraction(head, rest[0])}
    if commas and tongue not in _DECIMAL_COMMA:
        return {grouped}
    return {grouped, _fraction(head, rest[0])}


_DECIMAL_COMMA = ("de", "fr", "es", "it", "pt")


def _fraction(whole: str, decimals: str) -> Fraction:
    whole = whole.replace(".", "").replace(",", "") or "0"
    decimals = decimals.replace(".", "").replace(",", "")
    return Fraction(int(whole + decimals), 10 ** len(decimals))


def _number(
    readings: set[Fraction],
    start: int,
    end: int,
    text: str,
    *,
    decimals: int = 0,
    ordinal: bool = False,
) -> Value:
    """Add the scale and the unit that stand around a number."""
    stop = end
    if part := _AND_PART.match(text, stop):  # two and a half
        readings = {reading + _part_of(part) for reading in readings}
        stop = part.end()
    scale, stop = _scale_at(text, stop)
    if scale is not _ONE and text[stop : stop + 1].isdigit():  # 1兆2,500億
        rest = _DIGITS.match(text, stop)
        if rest is not None and len(rest[0]) <= _LONGEST:
            low, stop = _scale_at(text, rest.end())
            readings = {r + s * low / scale for r in readings for s in _read_digits(rest, "ja")}
    factor = scale
    before = text[max(0, start - 24) : start]
    unit = ""
    if currency := _currency_in(before):
        unit = CURRENCY_NAMES[currency[1].lower().rstrip(".")]
        start -= len(currency[0])
        before = before[: currency.start()]
        if scale == 1 and (million := _MILLION.match(text, stop)):
            scale, stop = Fraction(10**6), million.end()
            factor = scale
    elif not ordinal:
        unit, step, stop = _unit_at(text, stop)
        factor = step if scale is _ONE else scale * step
        if (unit, step) == _FOOT and (inches := _INCHES.match(text, stop)):
            readings = {reading + Fraction(int(inches[1]), 12) for reading in readings}
            stop = inches.end()
    if unit and (part := _AND_PART.match(text, stop)):  # an hour and a half
        readings = {reading + _part_of(part) for reading in readings}
        stop = part.end()
    if unit and text.startswith("半", stop):  # 2時間半
        readings = {reading + Fraction(1, 2) for reading in readings}
        stop += 1
    bare = _times(readings, scale)
    return Value(
        family="number",
        unit=unit,
        readings=bare if factor == scale else _times(readings, factor),
        bare=bare,
        start=start,
        end=stop,
        text=text[start:stop],
        counts=not unit and _counted(text, stop),
        ranged=not unit and _is_end_of_range(text, start),
        approximate=_is_rough(before) or _ROUGH_AFTER.match(text, stop) is not None,
        step=factor / 10**decimals if decimals and scale >= 1000 else _ZERO,
        scale=scale,
    )


_FOOT = ("inch", Fraction(12))
_INCHES = re.compile(r"\s?(\d{1,2})\s?(?:in\b|inch(?:es)?\b|[\"″])")


def _part_of(match: re.Match[str]) -> Fraction:
    """Return what "and a half" or "et quart" adds."""
    return PARTS["quarter" if match["fourth"] else (match[1] or "half").lower()]


def _currency_in(before: str) -> re.Match[str] | None:
    """Return the currency at the end of what stands before a number."""
    end = before.rstrip()[-2:]
    may = end[-1:] in CURRENCY_SIGNS or end[-1:].isupper() or end[-1:] == "." or end == "Rs"
    return _BEFORE.search(before) if may else None


def _is_rough(before: str) -> bool:
    """Whether what stands before a number says that it may be rounded."""
    if before.endswith(_ROUGHLY_UNSPACED):
        return True
    return before.rstrip()[-2:].lower() in _ROUGHLY_ENDS and _ABOUT.search(before) is not None


def _times(readings: set[Fraction], factor: Fraction) -> frozenset[Fraction]:
    return frozenset(readings if factor is _ONE else (reading * factor for reading in readings))


def _scale_at(text: str, at: int) -> tuple[Fraction, int]:
    """Return the product of the scale words that stand at a place, and where they end."""
    scale = _ONE
    while match := _SCALE.match(text, at):
        word = (match["latin"] or match["cjk"]).lower()
        if word == "k" and text[at : at + 1].isspace():
            break
        scale *= SCALES[word]
        at = match.end()
        if scale > 10**12:
            break
    return scale, at


def _counted(text: str, at: int) -> bool:
    following = _FOLLOWING.match(text, at)
    return following is not None and following[1].lower() not in _UNCOUNTED


_UNCOUNTED = FUNCTION_WORDS | frozenset(
    "instead rather against versus compared statt anstatt gegenüber contre lieu lugar vez invece"
    " anziché".split()
)
"""Words that no number counts."""


def _is_end_of_range(text: str, at: int) -> bool:
    if text[at : at + 1].isalpha():
        return False
    begin = max(0, at - 16)
    near = text[begin : at + 16]
    if not _BETWEEN_ENDS.search(near):
        return False
    return any(match.start() <= at - begin < match.end() for match in _ENDS.finditer(near))


_GAP = re.compile(r"[\s-]*")


_KIND_OF_TIME = re.compile(
    r"\s+(?:working|teaching|full|whole|consecutive|additional|further|extra)"
    r"(?=\s+(?:minutes?|hours?|days?|weeks?|months?|years?)\b)"
)


_KINDS = frozenset("wtfcae")
"""Their first letters, which are quick to look up."""


def _unit_at(text: str, stop: int) -> tuple[str, Fraction, int]:
    gap = _GAP.match(text, stop)
    at = gap.end() if gap else stop
    first = text[at : at + 1]
    if first in ("p", "P") and (match := _PER_CENT_WORDS.match(text, at)):
        points = "point" in match[0].lower()
        return ("percentage point" if points else "%"), _ONE, match.end()
    if first in ("b", "B", "w", "W") and (match := _BUSINESS.match(text, at)):
        return "business day", _ONE, match.end()
    kind = _KIND_OF_TIME.match(text, stop) if first in _KINDS else None
    if match := UNIT.match(text, kind.end() if kind else stop):
        base = unit_of(match["name"])
        if base is not None:
            return base[0], base[1], match.end()
    return "", _ONE, stop


_OTHER_RANGE = re.compile(r"\d\s*(?:to|-|–)\s*$", re.I)
"""Before a number that ends a range of its own: "from 2 to 5 and 10 ml from 6 to 12"."""
_BETWEEN = re.compile(r"\s*(?:,\s*)?(?:(?:and|und|et|y|e)\s+)?")
_MEASURED = ("second", "month", "inch", "ounce", "gram", "metre")
_TIMED = ("second", "month")
_RANGE = re.compile(
    r"\s*(?:-|–|—|to|x|×|by|or|and|bis|und|oder|à|a|até|et|ou|y|o|e|~|〜|至|到"
    r"|instead\s+of|rather\s+than|against|versus|vs\.?|statt|anstatt|auf|au\s+lieu\s+de|contre"
    r"|en\s+lugar\s+de|en\s+vez\s+de|invece\s+di|anziché|em\s+vez\s+de)\s*",
    re.I,
)
_FARTHEST = 16
"""Characters between two numbers of which the first takes the unit of the second."""


def _with_units(values: list[Value], text: str) -> list[Value]:
    """Give the first of two numbers the unit that stands after the second only."""
    out: list[Value] = []
    for value in reversed(values):
        after = out[-1] if out else None
        if (
            after is not None
            and value.family == after.family == "number"
            and not value.unit
            and after.unit not in ("", "times", "ratio")
            and after.bare
            and after.start - value.end < _FARTHEST
            and _RANGE.fullmatch(text, value.end, after.start)
            and not _OTHER_RANGE.search(text, max(0, value.start - 8), value.start)
            and not _BEFORE.match(text[after.start :])
            and (factor := _unit_size(after))
        ):
            readings = frozenset(r * factor for r in value.readings if isinstance(r, Fraction))
            out.append(replace(value, unit=after.unit, readings=readings, bare=value.readings))
        else:
            out.append(value)
    return out[::-1]


def joined(values: list[Value], text: str) -> list[Value]:
    """Join "1 hour 53 minutes" to one length of time; give both ends of "4 to 6 kg" the unit."""
    out: list[Value] = []
    for value in _with_units(values, text):
        last = out[-1] if out else None
        cents = last is not None and _is_in_cents(last, value, text)
        if last is not None and (cents or _goes_on(last, value, text)):
            part = Fraction(1, 100) if cents else Fraction(1)
            out[-1] = Value(
                family="number",
                unit=last.unit,
                readings=frozenset(_sum(last.readings, value.readings, part)),
                bare=frozenset(_sum(last.bare, value.bare, part)),
                start=last.start,
                end=value.end,
                text=text[last.start : value.end],
                approximate=last.approximate,
            )
        else:
            out.append(value)
    return out


def _is_in_cents(last: Value, value: Value, text: str) -> bool:
    """Whether a number in words is what "two euros fifty" ends in."""
    return (
        last.unit in CURRENCIES
        and last.unit != "cent"
        and not value.unit
        and not value.counts
        and text[last.end : value.start] == " "
        and value.text.replace("-", "").isalpha()
        and all(isinstance(r, Fraction) and 1 < r < 100 for r in value.readings)
    )


def _goes_on(last: Value, value: Value, text: str) -> bool:
    gap = text[last.end : value.start]
    if last.unit != value.unit or value.unit not in _MEASURED or len(gap) > 6:
        return False
    if value.unit not in _TIMED and gap.strip():
        return False  # "a shelf of 2 m and one of 60 cm"
    if _BETWEEN.fullmatch(gap) is None or len(last.readings) != 1 or len(value.readings) != 1:
        return False
    return _unit_size(last) > _unit_size(value) and ("," not in gap)


def _unit_size(value: Value) -> Fraction:
    """Return the factor of the unit that a value is written in."""
    whole = max((r for r in value.readings if isinstance(r, Fraction)), default=Fraction(0))
    bare = max((r for r in value.bare if isinstance(r, Fraction)), default=Fraction(0))
    return whole / bare if bare else Fraction(0)


def _sum(one: frozenset[object], two: frozenset[object], part: Fraction) -> set[Fraction]:
    return {
        a + b * part
        for a in one
        for b in two
        if isinstance(a, Fraction) and isinstance(b, Fraction)
    }
