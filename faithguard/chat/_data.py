"""Texts of strangers -> data in a message, and quotes from it back to where they stand.

In: any text. Out: JSON in which nothing can end the data, begin a message or hide from a reader
of the text; and, for a quote that a model copied from there, its exact place in the text as it
was. Both sides leave out the same, so that a passage need not be changed to be safe.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator

from faithguard._alike import ALIKE

__all__ = ["Quotable", "as_data", "find_quote", "forms_of", "plain", "visible"]

# What chat templates, tools and our own frame are made of; in a JSON string an escape is the same
# text to a reader, and no token of a template to a tokenizer.
_TOKENS = re.compile(r"<(?=[A-Za-z/|!<｜▁])|(?<=[|｜])>|\[(?=/?[A-Z_]{3,}\])|`(?=``)")

# Characters that Unicode lets no reader see, though they count as letters or marks.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_FOLDED = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d", "-"),
}
_MARGIN = " \"'.…"

# What joins digits to one number, or gives it a sign or a bound: "2/5", "1'5", "-5", "<5".
_IN_NUMBERS = ".,:;/\u2044\u2215·•'\u066b\u066c_-+±~×*^<>≤≥≈"
_BOUNDS = "-+±~×^<>≤≥≈/\u2044\u2215·'."
_SHARES = "%‰°"


def visible(text: str) -> str:
    """Return a text without what no reader sees: format, control and variation characters.

    Control characters that part words are spaces: what they part stays apart.
    """
    return text if text.isascii() and text.isprintable() else "".join(_seen(text))


def plain(text: str) -> str:
    """Return a text as a reader takes it, in small letters: what a defence looks at.

    Nothing that cannot be seen is in it; full-width and other forms of letters are plain ones,
    and so are the letters of other scripts that look most like Latin ones.
    """
    if text.isascii():
        return visible(text).casefold()
    latin = unicodedata.normalize("NFKC", visible(text)).translate(ALIKE)
    return latin.casefold().translate(ALIKE)


def _seen(text: str) -> Iterator[str]:
    for character in text:
        if character in "\n\t":
            yield character
        elif character.isspace() and unicodedata.category(character) == "Cc":
            yield " "
        elif not _hidden(character):
            yield character


def _hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    return category in ("Cf", "Cc", "Co", "Cs") or _UNSEEN.match(character) is not None


def as_data(value: object) -> str:
    """Return JSON that holds no token of a template, on one line."""
    return _TOKENS.sub(lambda m: f"\\u{ord(m.group()):04x}", json.dumps(value, ensure_ascii=False))


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, or None.

    What may differ is white space, the form of quotation marks, apostrophes and dashes, how
    accents are written, the case of the first letter, and what stands around a quote: marks and
    dots. Words and numbers stand there whole: "50" is not quoted from "150", "2/50" or "-50".
    """
    return Quotable(text).find(forms_of(quote))


def forms_of(quote: str) -> list[str]:
    """Return what to look for, in `Quotable.find`."""
    wanted = _folded(quote)[0].strip()
    forms = dict.fromkeys((wanted, wanted.strip(_MARGIN)))
    return [v for form in forms for v in dict.fromkeys((form, form[:1].swapcase() + form[1:]))]


class Quotable:
    """A text to look for quotes in: read once, however many there are."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._whole, self._places = _folded(text)

    def find(self, forms: Iterable[str]) -> tuple[int, int] | None:
        """Return where the first form that stands in the text does; see `find_quote`."""
        for form in forms:
            if (found := self._standing(form)) is not None:
                return self._places[found][0], self._places[found + len(form) - 1][1]
        return None

    def _standing(self, wanted: str) -> int | None:
        if not any(map(str.isalnum, wanted)):
            return None
        at = self._whole.find(wanted)
        while at >= 0:
            if not (self._joined(at, left=True) or self._joined(at + len(wanted), left=False)):
                return at
            at = self._whole.find(wanted, at + 1)
        return None

    def _joined(self, at: int, *, left: bool) -> bool:
        """Say whether a cut here goes through a word or a number.

        Args:
            at: Where it is.
            left: Whether a quote begins here; else one ends.
        """
        whole = self._whole
        if not 0 < at < len(whole):
            return False
        before, after = whole[at - 1], whole[at]
        if unicodedata.category(after)[0] == "M":
            return True
        if before.isalnum() and after.isalnum():
            return before < "\u2e80" and after < "\u2e80"  # later scripts have no spaces
        if left and before in _BOUNDS and _is_number(after):
            return before != "." or not whole[max(0, at - 2)].isalpha()
        if not left and after in _SHARES and _is_number(before):
            return True
        return self._in_number(at)

    def _in_number(self, at: int) -> bool:
        """Say whether digits stand on both sides, and between them what joins them."""
        whole = self._whole
        for mark in (at - 1, at):
            if not 0 < mark < len(whole) - 1:
                continue
            if not (_is_number(whole[mark - 1]) and _is_number(whole[mark + 1])):
                continue
            if whole[mark] in _IN_NUMBERS:
                return True
            if whole[mark] == " " and "\n" not in self._text[slice(*self._gap(mark))]:
                return True  # "1 500"
        return False

    def _gap(self, mark: int) -> tuple[int, int]:
        """Return where the white space is that one space stands for."""
        return self._places[mark - 1][1], self._places[mark + 1][0]


def _is_number(character: str) -> bool:
    return unicodedata.category(character)[0] == "N"


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text in one form of marks, spaces and accents, and where each character stood."""
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    for start, end, cluster in _clusters(text):
        if cluster.isspace():
            if folded and folded[-1] == " ":
                continue
            cluster = " "
        elif not cluster.isascii():
            cluster = unicodedata.normalize("NFC", cluster)
        for character in cluster:
            folded.append(_FOLDED.get(character, character))
            places.append((start, end))
    return "".join(folded), places


def _clusters(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield characters with the accents that follow them, and where they stand."""
    start, end, cluster = 0, 0, ""
    for place, character in enumerate(text):
        if not character.isspace() and _hidden(character):
            continue
        if cluster and (unicodedata.combining(character) or "\u1161" <= character <= "\u11ff"):
            cluster, end = cluster + character, place + 1
            continue
        if cluster:
            yield start, end, cluster
        start, end, cluster = place, place + 1, character
    if cluster:
        yield start, end, cluster
