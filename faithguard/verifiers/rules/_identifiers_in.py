"""Text -> the identifiers in it, each in the form in which two writings of it are equal.

In: a sentence. Out: phone numbers, addresses, links, versions, codes, names of files and
variables. They are compared exactly after what is safe for their kind: the spaces of a phone
number or an IBAN, the code of a country, the case of a host, the scheme of a link, the "v" of a
version, the hyphens of a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

__all__ = ["Identifier", "find_identifiers"]

Kind = Literal["mail", "link", "phone", "iban", "version", "file", "variable", "code", "section"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier in a text."""

    kind: Kind
    plain: str
    """Its form for comparison."""
    start: int
    end: int
    text: str

    @property
    def shape(self) -> str:
        """Letters and digits as classes: what can stand in one place have like shapes."""
        return self.kind if self.kind != "code" else _shape(self.plain)


@lru_cache(maxsize=4_096)
def _shape(plain: str) -> str:
    letters = len(plain) - len(plain.lstrip(_LETTERS))
    return "a" * min(letters, 3) + re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", plain[letters:]))


# Each kind with what a text must hold, which is cheap to look for, and its pattern; the first that
# takes a place keeps it.
_PATTERNS: tuple[tuple[Kind, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "mail",
        re.compile("@"),
        re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}", re.A),
    ),
    (
        "link",
        re.compile(r"/|w\.|W\."),
        re.compile(
            r"(?<![\w@./-])(?:[a-z][a-z0-9]{1,9}://[^\s<>()\"'`,;]{3,300}"
            r"|10\.\d{4,9}/[^\s<>()\"'`,;]{2,100}"
            r"|(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,12}/[^\s<>()\"'`,;]{1,300}"
            r"|www\.[^\s<>()\"'`,;]{3,300})",
            re.I | re.A,
        ),
    ),
    (
        "iban",
        re.compile(r"[A-Z]{2}\d\d"),
        re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b", re.A),
    ),
    (
        "file",
        re.compile(r"\.[a-z7]"),
        re.compile(
            r"(?<![\w.])(?:[\w.-]{0,64}/){0,12}[\w-]{1,64}\.(?:[a-z]{1,5}|mp3|mp4|7z)\b(?![\w/(])"
        ),
    ),
    (
        "file",
        re.compile("/"),
        re.compile(r"(?<![\w./])/(?:[\w.-]{1,64}/){1,12}[\w.-]{1,64}"),
    ),
    (
        "phone",
        re.compile(r"\+\d|\b00[1-9]"),
        re.compile(
            r"(?<![\w+])(?:\+|00(?=[1-9]))\d{1,3}(?:[ ./-]?\(\d{1,5}\))?"
            r"(?:[ ./-]{0,2}\d){5,14}(?!\w)",
            re.A,
        ),
    ),
    (
        "phone",
        re.compile(r"\d\)?[ /-]\d\d"),
        re.compile(
            r"(?<![\w+.,/-])(?:\(0\d{1,4}\)|0\d{1,4})(?:[ /-]\d{2,8}){1,5}(?![\w.,-]\d)", re.A
        ),
    ),
    (
        "phone",
        re.compile(r"\d-\d{3}-"),
        re.compile(r"(?<![\w+.,-])(?:\d-)?\d{3}-\d{3}-\d{4}(?![\w-])", re.A),
    ),
    (
        "version",
        re.compile(r"\d\.\d{1,5}\.\d"),
        re.compile(
            r"(?<![\w.,])v?\d{1,5}(?:\.\d{1,5}){2,4}(?:[-+][\w.]{1,32})?(?!\w)", re.I | re.A
        ),
    ),
    (
        "version",
        re.compile(r"[vV]\d"),
        re.compile(r"(?<![\w.,])v\d{1,5}(?:\.\d{1,5}){0,4}(?!\w)", re.I | re.A),
    ),
    (
        "section",
        re.compile(r"[nseh.§NSEH]\s?\d"),
        re.compile(
            r"\b(?=[sapc§])(?:sections?|sec\.|s\.|art(?:icles?|\.)|§+|paragraphs?|para\.|clauses?)\s?(?=\d)(\d{1,4}[a-z]?(?:\(\w{1,4}\)){0,4}(?:\.\d{1,3}){0,3})",
            re.I,
        ),
    ),
    (
        "variable",
        re.compile("_"),
        re.compile(r"(?<![\w-])(?:[A-Za-z0-9]{1,40}_){1,8}[A-Za-z0-9]{1,40}(?![\w])"),
    ),
    (
        "variable",
        re.compile("-"),
        re.compile(r"(?<![\w-])--?[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,5}(?![\w-])"),
    ),
    (
        "code",
        re.compile(r"[A-Z0-9]-[A-Z0-9]"),
        re.compile(
            r"\b(?:(?=\d{0,8}[A-Z])[A-Z0-9]{1,8}|\d{2,6})(?:-[A-Z0-9]{1,8}){1,5}\b(?!-)", re.A
        ),
    ),
    (
        "code",
        re.compile(r"-\w{1,40}-"),
        re.compile(
            r"(?<![\w./-])(?=[a-z-]{0,60}\d)[a-z][a-z0-9]{0,20}(?:-[a-z0-9]{1,20}){2,8}(?![\w-])",
            re.A,
        ),
    ),
    (
        "code",
        re.compile(r"[A-Z]{2} \d\d"),
        re.compile(r"\b(?!(?:[A-Z]{2,3}) (?:1\d{3}|20\d\d)\b)[A-Z]{2} \d{2,4}\b", re.A),
    ),
    (
        "code",
        re.compile(r"[A-Z]\d|\d[A-Z]"),
        re.compile(r"\b(?=\w{0,11}\d)(?=\w{0,11}[A-Z])[A-Z0-9]{2,12}(?:\.\d{1,2})?\b", re.A),
    ),
)
_YEARS = re.compile(
    r"\d{4}-\d{2,4}|\d{1,2}-\d{1,2}|\d{4}-\d\d-\d\d|\d\d?-\d\d?-\d{4}|\d\d?[./]\d\d?[./]\d{4}"
)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d|\d\dT\d\d$|\d\dZ$")
_MEASURED = re.compile(
    r"\d+(?:K|M|G|T|B|W|V|A|MB|GB|TB|KB|KW|MW|GW|PM|AM|H|L|ML|MG|KG|KM|CM|MM|HZ|GHZ|MHZ|S)"
)


def find_identifiers(text: str) -> list[Identifier]:
    """Return the identifiers of a text in order, without overlaps; linear in its length."""
    if not _MAY_HOLD.search(text):
        return []
    found: list[Identifier] = []
    taken = bytearray(len(text))
    for one in _candidates(text):
        if not any(taken[one.start : one.end]):
            found.append(one)
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
    return sorted(found, key=lambda one: one.start)


_MAY_HOLD = re.compile(r"[\d@/_]|\w\.[a-z]|--\w")


def _candidates(text: str) -> Iterator[Identifier]:
    for kind, needed, pattern in _PATTERNS:
        for match in pattern.finditer(text) if needed.search(text) else ():
            written = match[0].rstrip(".,;:!?")
            if kind in ("code", "version", "phone") and (
                _YEARS.fullmatch(written) or _MEASURED.fullmatch(written)
            ):
                continue
            if kind == "code" and _TIMESTAMP.match(written):
                continue
            if kind == "file" and not _is_file(written):
                continue
            plain = _plain(kind, match[1] if kind == "section" else written)
            yield Identifier(kind, plain, match.start(), match.start() + len(written), written)


def _is_file(written: str) -> bool:
    """Whether a dotted word is a file's name: "e.g" and "St.Louis" are none."""
    stem, _, ending = written.rpartition(".")
    if "/" in written:
        return any(map(str.isalpha, written))
    return len(stem) > 1 and "." not in stem and ending in _ENDINGS


_ENDINGS = frozenset(
    "txt csv tsv json jsonl yaml yml toml ini cfg conf xml html htm md rst pdf doc docx xls xlsx"
    " ppt pptx log py js ts java go rs c h cpp sh bat ps exe zip tar gz jpg jpeg png gif svg mp3"
    " mp4 sql db env lock pem key so dll jar".split()
)


_OWN_DIGITS = 9
"""Digits of a phone number that are its own, wherever one calls from."""


def _plain(kind: Kind, written: str) -> str:
    """Return the form in which two writings of one identifier are equal."""
    if kind == "mail":
        user, _, host = written.partition("@")
        return f"{user.lower()}@{host.lower()}"
    if kind == "link":
        bare = re.sub(r"^\w+://", "", written, flags=re.I).removeprefix("www.").rstrip("/")
        host, slash, path = bare.partition("/")
        return host.lower() + slash + path
    if kind == "iban":
        return written.replace(" ", "")
    if kind == "phone":  # the code of the country, or the zero in its place, may be left out
        return re.sub(r"\D", "", written)[-_OWN_DIGITS:]
    if kind == "version":
        return written.lower().removeprefix("v")
    if kind == "code":
        return re.sub(r"[^a-z0-9]", "", written.lower())
    if kind == "section":
        return written.lower()
    return written
