"""Numbers that are spelled out, in ten languages.

In: words. Out: the number. English is read word by word; of the others, whose numbers up to 99
are one word or a fixed phrase, a table is made. They count only in a text of their language:
"once" is eleven in Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

__all__ = [
    "CJK_NUMBER",
    "ENGLISH",
    "FOREIGN",
    "ONES",
    "FIRST_TWO",
    "ORDINALS",
    "PARTS",
    "SCALES",
    "language",
    "language_of",
    "may_be",
    "read_cjk",
    "read_english",
]

SCALES = {
    "hundred": 100, "thousand": 10**3, "k": 10**3, "million": 10**6, "mn": 10**6, "mio": 10**6,
    "billion": 10**9, "bn": 10**9, "trillion": 10**12, "lakh": 10**5, "lakhs": 10**5,
    "crore": 10**7, "crores": 10**7,
    "tausend": 10**3, "millionen": 10**6, "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9,
    "mille": 10**3, "millions": 10**6, "milliard": 10**9, "milliards": 10**9,
    "mil": 10**3, "millón": 10**6, "millones": 10**6, "mila": 10**3, "milione": 10**6,
    "milioni": 10**6, "miliardo": 10**9, "miliardi": 10**9, "milhão": 10**6, "milhões": 10**6,
    "bilhão": 10**9, "bilhões": 10**9, "ألف": 10**3, "آلاف": 10**3, "مليون": 10**6, "ملايين": 10**6,
    "مليار": 10**9, "हज़ार": 10**3, "हजार": 10**3, "लाख": 10**5, "करोड़": 10**7,
    "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12, "千": 10**3, "百": 100,
    "百万": 10**6, "千万": 10**7,
}  # fmt: skip
_SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen
    """.split()
ONES = {word: number for number, word in enumerate(_SMALL)}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
ENGLISH = ONES | _TENS | {"dozen": 12}
ORDINALS = {
    word: number
    for number, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=3
    )
}
FIRST_TWO = {"first": 1, "second": 2}
PARTS = {
    "half": Fraction(1, 2), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4),
    **{f"{word}{s}": Fraction(1, n) for word, n in ORDINALS.items() for s in ("", "s")},
}  # fmt: skip


def read_english(words: list[str]) -> int:
    """Return the number that words such as "two hundred and five" say."""
    total = current = 0
    for word in words:
        if word in ("a", "and"):
            current += word == "a"
        elif word == "dozen":
            current = max(current, 1) * 12
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in SCALES:
            total, current = total + max(current, 1) * SCALES[word], 0
        else:
            current += ENGLISH[word]
    return total + current


def _german() -> dict[str, int]:
    ones = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn".split()
    ones += "vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
    tens = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
    table = {word: n for n, word in enumerate(ones) if n != 1}
    for n, ten in enumerate(tens, 2):
        table[ten] = 10 * n
        for one, word in enumerate(ones[1:10], 1):
            table[f"{'ein' if one == 1 else word}und{ten}"] = 10 * n + one
    return table | {"hundert": 100, "dutzend": 12, "anderthalb": 1}


def _joined(ones: str, tens: str, joint: str) -> dict[str, int]:
    """Return the numbers of a language that says tens, a joint, ones."""
    small, large = ones.split(), tens.split()
    table = {word: n for n, word in enumerate(small) if n != 1}
    for n, ten in enumerate(large, 2):
        table[ten] = 10 * n
        for one, word in enumerate(small[1:10], 1):
            table[f"{ten}{joint}{word}"] = 10 * n + one
    return table


def _french() -> dict[str, int]:
    small = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze"
    small += " quinze seize dix-sept dix-huit dix-neuf"
    table = _joined(small, "vingt trente quarante cinquante soixante", "-")
    words = small.split()
    for n in range(10, 20):
        table[f"soixante-{words[n]}"] = 60 + n
        table[f"quatre-vingt-{words[n]}"] = 80 + n
    for n in range(1, 10):
        table[f"quatre-vingt-{words[n]}"] = 80 + n
    for n, ten in enumerate("vingt trente quarante cinquante soixante".split(), 2):
        table[f"{ten} et un"] = 10 * n + 1
    return table | {"quatre-vingts": 80, "cent": 100}


def _italian() -> dict[str, int]:
    small = "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
    small += " quattordici quindici sedici diciassette diciotto diciannove"
    tens = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"
    table = _joined(small, tens, "")
    for n, ten in enumerate(tens.split(), 2):
        table[f"{ten[:-1]}uno"] = 10 * n + 1
        table[f"{ten[:-1]}otto"] = 10 * n + 8
    return table | {"cento": 100}


_SPANISH = _joined(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    " y ",
) | {"cien": 100, "veinticuatro": 24, "veintiuno": 21, "veinticinco": 25, "veintiún": 21}
_PORTUGUESE = _joined(
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze "
    "dezesseis dezessete dezoito dezenove",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    " e ",
) | {"duas": 2, "cem": 100, "quatorze": 14}
_ARABIC_ONES = {
    word: number
    for number, words in {
        3: "ثلاث ثلاثة", 4: "أربع أربعة", 5: "خمس خمسة", 6: "ست ستة", 7: "سبع سبعة",
        8: "ثماني ثمانية ثمان", 9: "تسع تسعة", 10: "عشر عشرة", 20: "عشرون عشرين",
        30: "ثلاثون ثلاثين", 40: "أربعون أربعين", 50: "خمسون خمسين",
        60: "ستون ستين", 100: "مئة مائة",
    }.items()
    for word in words.split()
}  # fmt: skip
_ARABIC = (
    _ARABIC_ONES
    | {f"{one} عشر{end}": n + 10 for one, n in _ARABIC_ONES.items() if n < 10 for end in ("", "ة")}
    | {"أحد عشر": 11, "اثنا عشر": 12, "اثني عشر": 12}
)
_HINDI = {
    word: number
    for number, word in enumerate(
        (
            "शून्य एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह"
            " तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस"
        ).split()
    )
    if number != 1
} | {"पाँच": 5, "छः": 6, "पच्चीस": 25, "तीस": 30, "चालीस": 40, "पचास": 50, "साठ": 60, "सौ": 100}


def _parts(half: str, third: str, thirds: str, quarter: str, quarters: str) -> dict[str, Fraction]:
    """Return shares; each argument names one, in several writings with bars between them."""
    shares = (Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(1, 4), Fraction(3, 4))
    names = (half, third, thirds, quarter, quarters)
    return {n: share for part, share in zip(names, shares, strict=True) for n in part.split("|")}


FOREIGN: dict[str, dict[str, int | Fraction]] = {
    "de": {
        **_german(),
        **_parts("hälfte", "ein drittel", "zwei drittel", "ein viertel", "drei viertel"),
        "anderthalb": Fraction(3, 2),
    },
    "fr": {**_french(), **_parts("moitié", "un tiers", "deux tiers", "un quart", "trois quarts")},
    "es": {
        **_SPANISH,
        **_parts(
            "mitad", "un tercio|tercera parte", "dos tercios|dos terceras partes",
            "un cuarto|cuarta parte", "tres cuartos|tres cuartas partes",
        ),
    },
    "it": {**_italian(), **_parts("metà", "un terzo", "due terzi", "un quarto", "tre quarti")},
    "pt": {
        **_PORTUGUESE,
        **_parts("metade", "um terço", "dois terços", "um quarto", "três quartos"),
    },
    "ar": {
        **_ARABIC,
        **_parts(
            "نصف|نصفها|نصفهم", "ثلث|ثلثها|ثلثهم", "ثلثا|ثلثي|ثلثيها", "ربع|ربعها|ربعهم",
            "ثلاثة أرباع|ثلاثة أرباعها|ثلاثة أرباعهم",
        ),
    },
    "hi": {
        **_HINDI,
        **_parts("आधा|आधे|आधी", "एक तिहाई", "दो तिहाई", "एक चौथाई", "तीन चौथाई"),
        "सवा": Fraction(5, 4), "डेढ़": Fraction(3, 2), "ढाई": Fraction(5, 2),
    },
}  # fmt: skip
"""Language -> its number words; "one" is left out, being an article as often."""

_TELLING = {
    "de": "der das und ist nicht mit für von ein eine wird werden kann auf im zu bei dem beträgt"
    " den des einem einer eines keine keinen sind aber nur unter über oder wer sie dürfen hat"
    " haben bis zum zur vom an am ab nach vor kein auch wenn jeder jede",
    "fr": "le les des et est une dans pour du que sont au avec sur ne ou il elle peut"
    " aux pas par cette ce qui à été ont chaque sauf sans",
    "es": "el los las es en que una con para se su puede debe dura del al por y sin más cada"
    " como son está",
    "it": "il di è che una della sono gli dei nel si alla dura impiega del delle con per non ogni"
    " dopo al ha dal le",
    "pt": "os é em que uma não com um dos na são ao pode custa da do das nos nas pelo pela foi por"
    " sem cada",
}
_MARKS = {name: frozenset(words.split()) for name, words in _TELLING.items()}
_ELSEWHERE = frozenset[str]().union(*_MARKS.values())
_ENGLISH_MARKS = frozenset(
    "the and is of to in with for was are that by at from or it be an has have not no this as on"
    " which its will can may you must".split()
)
_FIRST = re.compile(r"[^\W\d_]+")
_ARABIC_LETTER = re.compile("[\u0620-\u064a]")
_HINDI_LETTER = re.compile("[\u0904-\u0939]")


@lru_cache(maxsize=8_192)
def language(text: str) -> str:
    """Return the language whose small words a text holds most of; English in doubt."""
    return language_of(frozenset(_FIRST.findall(text[:400].lower())), text)


def may_be(words: Iterable[str], tongue: str) -> bool:
    """Return whether a text of some words, or a part of it, may be taken for one in a language."""
    return not _MARKS[tongue].isdisjoint(words)


def language_of(words: frozenset[str], text: str) -> str:
    """Return the language of a text whose words are known."""
    if not text.isascii():
        if _ARABIC_LETTER.search(text):
            return "ar"
        if _HINDI_LETTER.search(text):
            return "hi"
    if words.isdisjoint(_ELSEWHERE):
        return "en"
    best, most = "en", len(words & _ENGLISH_MARKS)
    for name, marks in _MARKS.items():
        count = len(words & marks)
        if count > most:
            best, most = name, count
    return best


_CJK_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_CJK_PLACES = {"十": 10, "百": 100, "千": 1000}
_CJK_MYRIADS = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
_CJK_NUMERALS = "零〇一二三四五六七八九两兩十百千"
CJK_NUMBER = (
    f"(?<![{_CJK_NUMERALS}万萬億亿兆])[{_CJK_NUMERALS}]{{1,12}}"
    f"(?:[万萬億亿兆][{_CJK_NUMERALS}]{{0,12}}){{0,3}}"
)


def read_cjk(text: str) -> int:
    """Return the number that Han numerals write: 二十五, 三百万, 二〇二四."""
    if all(character in _CJK_DIGITS for character in text):
        return int("".join(str(_CJK_DIGITS[character]) for character in text))
    total = section = digit = 0
    for character in text:
        if character in _CJK_DIGITS:
            digit = _CJK_DIGITS[character]
        elif character in _CJK_PLACES:
            section, digit = section + max(digit, 1) * _CJK_PLACES[character], 0
        else:
            total, section, digit = (
                total + max(section + digit, 1) * _CJK_MYRIADS[character],
                0,
                0,
            )
    return total + section + digit
