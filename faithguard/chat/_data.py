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

__all__ = ["Quotable", "as_data", "find_quote", "forms_of", "visible"]

# What chat templates, tools and our own frame are made of; in a JSON string an escape is the same
# text to a reader, and no token of a template to a tokenizer.
_TOKENS = re.compile(r"<(?=[A-Za-z/|!<｜▁])|(?<=[|｜])>|\[(?=/?[A-Z_]{3,}\])|`(?=``)")

_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FOLDED = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d", "-"),
}
_MARGIN = " \"'.…"


def visible(text: str) -> str:
    """Return a text without what no reader sees: format, control and variation characters."""
    return text if text.isascii() and text.isprintable() else "".join(_seen(text))


def _seen(text: str) -> Iterator[str]:
    return (character for character in text if not _hidden(character))


def _hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    return category in ("Cf", "Cc", "Co", "Cs") or _VARIATION.match(character) is not None


def as_data(value: object) -> str:
    """Return JSON that holds no token of a template, on one line."""
    return _TOKENS.sub(lambda m: f"\\u{ord(m.group()):04x}", json.dumps(value, ensure_ascii=False))


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, or None.

    What may differ is white space, the form of quotation marks, apostrophes and dashes, the case
    of the first letter, and what stands around a quote: marks and dots. Words and numbers stand
    there whole: "50" is not quoted from "150".
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
        self._whole, self._places = _folded(text)

    def find(self, forms: Iterable[str]) -> tuple[int, int] | None:
        """Return where the first form that stands in the text does; see `find_quote`."""
        for form in forms:
            if (found := _standing(form, self._whole)) is not None:
                return self._places[found], self._places[found + len(form) - 1] + 1
        return None


def _standing(wanted: str, whole: str) -> int | None:
    if not any(map(str.isalnum, wanted)):
        return None
    at = whole.find(wanted)
    while at >= 0:
        if not (_joined(whole, at) or _joined(whole, at + len(wanted))):
            return at
        at = whole.find(wanted, at + 1)
    return None


def _joined(whole: str, at: int) -> bool:
    """Say whether a cut here goes through a word or a number."""
    if not 0 < at < len(whole):
        return False
    before, after = whole[at - 1], whole[at]
    if before.isalnum() and after.isalnum():
        return before < "\u2e80" and after < "\u2e80"  # later scripts have no spaces
    number = whole[max(0, at - 2) : at + 2]
    return len(number) > 2 and re.search(r"\d[.,:]\d", number) is not None


def _folded(text: str) -> tuple[str, list[int]]:
    """Return a text in one form of its marks and spaces, and where each character stood."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if folded and folded[-1] == " ":
                continue
            character = " "
        elif _hidden(character):
            continue
        folded.append(_FOLDED.get(character, character))
        places.append(place)
    return "".join(folded), places
