"""Letters that look like Latin ones -> Latin ones.

In: any text. Out: the same, of the same length, as its reader takes it: small capitals, raised and
other fancy letters are plain, and letters of other scripts are where they stand among Latin ones.
A word that is Cyrillic, Greek or Armenian stays what it is.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["ALIKE", "in_latin"]

_OTHERS = "аеорсухіјѕԁһԛԝѵӏүҽткмнвАЕОРСУХІЈЅԌТКМНВԜѴοαενικορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսօցհգʋɑɡı"
_LATIN = "aeopcyxijsdhqwvlyetkmhbAEOPCYXIJSGTKMHBWVoaevikoptuxABEZHIKMNOPTYXnuoghgvagi"
_CHEROKEE = "ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏎᏚᏞᏢᏤᏦᏩᏳᏴᏟᏔ"
_AS_CHEROKEE = "DRTAJEWMHGZ4SLPVKGGBCW"


def _fancy() -> dict[str, str]:
    """Return the small capitals, raised letters and the like with what they are plainly."""
    found: dict[str, str] = {}
    ranges = ((0x0250, 0x02FF), (0x1D00, 0x1DBF), (0x2070, 0x209F), (0xA720, 0xA7FF))
    for low, high in (*ranges, (0x0180, 0x024F)):
        for code in range(low, high + 1):
            character = chr(code)
            name = unicodedata.name(character, "")
            plain = unicodedata.normalize("NFKC", character)
            small = re.fullmatch(r"LATIN LETTER SMALL CAPITAL ([A-Z])", name)
            if small is not None:
                found[character] = small[1].lower()
            elif len(plain) == 1 and plain.isascii() and plain.isalpha():
                found[character] = plain
    return found


_FANCY = _fancy()
ALIKE = str.maketrans({**dict(zip(_OTHERS, _LATIN, strict=True)), **_FANCY})
"""Letters of other scripts, small capitals and raised letters, with what they look like."""

_TABLE = str.maketrans(_FANCY)
# A raised letter may be an exponent.
_RAISED = re.compile("(?<=[^\\W_])[ⁿˣᵏⁱ](?![\u02b0-\u02ff\u1d2c-\u1dbf\u2070-\u209f])")
_FOREIGN = str.maketrans(
    {
        letter: plain
        for letter, plain in zip(_OTHERS + _CHEROKEE, _LATIN + _AS_CHEROKEE, strict=True)
        if letter != "ı"  # Turkish has it
    }
)
# Marks and what nobody sees stand between the letters of a word.
_WORD = re.compile(
    "[^\\W\\d_](?:[^\\W\\d_]|[\u00ad\u0300-\u036f\u200b-\u200d\u2060\ufeff\ufe00-\ufe0f])*"
)
_GREEK = re.compile("[\u0370-\u03ff]")
_PLAIN = re.compile("[A-Za-z]")
_LETTERS = re.compile(r"[^\W\d_]")
# A letter of a formula stands at the end of a word, or beside a capital: "TNFα", "IFNγ".
_FORMULA = re.compile(
    "(?<![a-z])[\u03b1-\u03c9]|[\u03b1-\u03bd\u03c0-\u03c9](?![a-z])|[A-Z][\u03b1-\u03c9]"
)


def in_latin(text: str) -> str:
    """Return a text in which what looks like a Latin word is one."""
    if text.isascii():
        return text
    pieces = _RAISED.split(text)
    exponents = [*_RAISED.findall(text), ""]
    text = "".join(
        piece.translate(_TABLE) + exponent
        for piece, exponent in zip(pieces, exponents, strict=True)
    )
    if not any(ord(character) in _FOREIGN for character in set(text)):
        return text
    foreign = _speaks_another(text)

    def latin(match: re.Match[str]) -> str:
        word = match[0]
        if word.isascii():
            return word
        seen = word.translate(_FOREIGN)
        letters = _LETTERS.findall(seen)
        if not all(letter < "\u0250" for letter in letters):
            return word  # a letter in it looks like no Latin one
        if _PLAIN.search(word) is None:
            return word if foreign or _GREEK.search(word) else seen
        return word if _FORMULA.search(word) else seen

    return _WORD.sub(latin, text)


def _speaks_another(text: str) -> bool:
    """Say whether a word of another script stands in a text that is not made of look-alikes."""
    return any(
        not (character < "\u0250" or ord(character) in _FOREIGN)
        and unicodedata.name(character, "").startswith(
            ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
        )
        for character in set(text)
    )
