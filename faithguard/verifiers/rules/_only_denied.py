"""Two sentences that differ only by a negation, in languages other than English.

In: a scene. Out: a veto where a sentence, or a clause, of the context has the very words of the
claim and one negation more, or less; else None. In the languages of the closed lists below, also
where words are not parted by spaces or where the ending of a verb denies it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from faithguard.types import Verdict
from faithguard.verifiers._values._words import language, may_be
from faithguard.verifiers.rules._reading import key_of
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["only_denied"]

_NEGATORS = frozenset(
    "niet geen nooit nicht kein keine keinen keinem keiner keines nie niemals ne pas"
    " jamais non não nunca не нет ни нельзя никогда ikke inte ei değil değildir"
    " không chẳng tidak bukan לא אינו אינה δεν δε μην eivät nem nejsou není"
    " नहीं न मत لا لم لن ليس ليست غير".split()
)
_SPANISH_NEGATORS = _NEGATORS | {"no"}
"""In Portuguese it says where."""
_PLAIN = {"нельзя": "можно", "нет": "есть", "yok": "var", "yoktur": "vardır"}
"""What a word that denies says without its denial."""
_SMALL = frozenset(
    "a een de het der die das ein eine einen einem einer un une uno una le la les el los las"
    " lo gli o os as um uma du des di del d n y en".split()
)
_FEWEST = 2
_WORD = re.compile(r"[^\W_]+(?:[\u0900-\u0903\u093a-\u094f\u0962\u0963\u064b-\u0652]+[^\W_]*)*")
_DIVIDES = re.compile(r"[.,;:!?()–—。、，；：！？।؟،؛]+(?!\d)")
_THAI = re.compile("[\u0e00-\u0e7f]")
_THAI_DIVIDES = re.compile(r"\s+")

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_DENIALS = re.compile("ไม่|มิได้|没|沒|不|未|非|勿|無|无")
_JAPANESE = (
    (re.compile("(?:では|じゃ)(?:ありません|ない)"), "だ"),
    (re.compile("ませんでした"), "ました"),
    (re.compile("ません"), "ます"),
    (re.compile("です(?=$)"), "だ"),
)
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KOREAN_NO = re.compile("않|없|아니|아닙|못")
_TURKISH = re.compile(
    r"(?P<root>\w{3,}?)(?:(?P<no>m[ae]z(?:lar|ler)?|m[ıiuü]yor\w*|m[ae]d[ıi]\w*)|[aeıiuü]r(?:lar|ler)?|"
    r"[ıiuü]yor\w*|[dt][ıiuü]\w*)"
)
"""A verb and its ending, which may deny it."""


def only_denied(scene: Scene, name: str) -> Verdict | None:
    """Veto the words of the context with one negation more or less."""
    if not (_may_deny(scene.claim.text) or any(_may_deny(n.sentence.words) for n in scene.near)):
        return None
    mine = dict(_form(scene.claim.text))
    found: Near | None = None
    for near in scene.near if mine else ():
        if near.sentence.denied or near.sentence.header:
            continue
        for key, odd in _forms(near.sentence.words):
            if key in mine and mine[key] == odd:
                return None  # it says the claim as well
            if key in mine:
                found = near
    if found is None:
        return None
    return contradiction(scene, name, "the context differs by a negation", found)


@lru_cache(maxsize=512)
def _may_deny(text: str) -> bool:
    """Whether a text may hold a denial; much cheaper than its forms."""
    lower = text.lower()
    if not text.isascii() or _MAY_BE_TURKISH.search(lower) is not None:
        return True
    words = _WORD.findall(lower)
    if "no" in words and may_be(words, "es"):
        return True
    return not _DENYING.isdisjoint(words)


_DENYING = _NEGATORS | frozenset(_PLAIN)
_MAY_BE_TURKISH = re.compile("m[ae]z|miyor|muyor|m[ae]di")


@lru_cache(maxsize=512)
def _forms(text: str) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """Return the words of a text, and of its clauses, without negations; whether these are odd."""
    divides = _THAI_DIVIDES if _THAI.search(text) else _DIVIDES
    parts = [part for part in divides.split(text) if part.strip()]
    return tuple(form for part in (text, *parts) for form in _form(part))


def _form(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    if _UNSPACED.search(text):
        yield _unspaced(text)
        return
    words = _WORD.findall(text.lower())
    if len(words) < _FEWEST:
        return
    if _HANGUL.search(text):
        yield _korean(words)
        return
    found = _spaced(words, language(text))
    if found is not None:
        yield found
    verb = _TURKISH.fullmatch(words[-1])
    if verb is not None:
        yield ("tr", *words[:-1], verb["root"]), verb["no"] is not None


def _spaced(words: list[str], spoken: str) -> tuple[tuple[str, ...], bool] | None:
    denials = _SPANISH_NEGATORS if spoken == "es" else _NEGATORS
    denied = [word for word in words if word in denials or word in _PLAIN]
    if "ne" in denied and not _WITH_NE.isdisjoint(denied):
        denied.remove("ne")  # "ne ... pas" denies once
    kept = [
        _PLAIN.get(word, word)
        for word in words
        if word in _PLAIN or not (word in denials or word in _SMALL)
    ]
    if len(kept) < _FEWEST:
        return None
    return tuple(map(_stem, kept)), len(denied) % 2 == 1


_WITH_NE = frozenset(("pas", "jamais"))


def _stem(word: str) -> str:
    """Return a word without its ending, which may change with a negation."""
    if word.isascii():
        return key_of(word) or word
    return word[: max(_SHORTEST, len(word) - 2)]


_SHORTEST = 4


def _unspaced(text: str) -> tuple[tuple[str, ...], bool]:
    plain = "".join(char for char in text if char.isalnum() or "\u0e00" <= char <= "\u0e7f")
    count = 0
    for pattern, said in _JAPANESE:
        plain, number = pattern.subn(said, plain)
        count += number if said != "だ" or pattern.pattern != "です(?=$)" else 0
    plain, number = _DENIALS.subn("", plain)
    return (plain,), (count + number) % 2 == 1


def _korean(words: list[str]) -> tuple[tuple[str, ...], bool]:
    """Return words up to the first syllable of the verb, which is all that a negation keeps."""
    denied = _KOREAN_NO.search(words[-1]) is not None
    if denied and words[-1][0] in "않아못" and len(words) > 1:
        words = words[:-1]
    last = "있" if words[-1][0] == "없" else words[-1][0]
    return (*words[:-1], last), denied
