"""A short answer to a yes/no question -> whether it says yes or no.

In: words. Out: yes, no, or neither, by closed lists. The splitter makes a claim of such an answer
and its question; the verifiers read that claim.
"""

from __future__ import annotations

import re

__all__ = ["agrees", "asked_and_said", "denies"]

_BEFORE = (
    r"(?:(?:oh|well|ah|so|sorry|unfortunately|sadly|regrettably|i['’]m afraid|i am afraid|"
    r"i['’]m sorry|leider|malheureusement|lamentablemente|purtroppo|infelizmente|"
    r"helaas)[,.!:…]*\s)*"
)
_HOW = r"(?:absolutely|definitely|certainly|clearly|surely|of course|generally|usually|simply|just)"
_ECHOED = (
    r"(?:it|they|he|she|you|we|i|there|this|that|these|those) (?:is|are|was|were|does|do|did|"
    r"has|have|"
    r"had|can|could|will|would|may|must|should|am)"
)
_YES = (
    r"(?:yes|yep|yup|yeah|aye|sure(?: thing)?|of course|certainly|absolutely|definitely|indeed|"
    r"correct|"
    r"true|right|exactly|ok|okay|affirmative|naturally|by all means|that['’]s (?:right|correct|"
    r"true|so)|"
    r"that is (?:right|correct|true|so)|ja|jawohl|klar|nat[üu]rlich|selbstverst[äa]ndlich|genau|"
    r"stimmt|"
    r"s[ií]|claro(?: que s[ií])?|por supuesto|correcto|oui|bien s[ûu]r|certo|certamente|sim|"
    r"com certeza|"
    r"natuurlijk|zeker|evet|tabii|はい|そうです|是的?|对|對|当然|當然|可以|نعم|أجل|हाँ|हां|जी हाँ|да)"
)
_NO = (
    r"(?:no|nope|nah|no way|never|not at all|by no means|under no circumstances|negative|false|"
    r"incorrect|wrong|not (?:really|yet|currently|now|any ?more|true|so)|none at all|"
    r"that['’]s (?:not (?:right|correct|true|so|the case)|false|wrong|incorrect)|"
    r"that is (?:not (?:right|correct|true|so|the case)|false|wrong|incorrect)|"
    rf"(?:{_HOW}|unfortunately|sadly|regrettably|i['’]m afraid|i am afraid|apparently) not|"
    r"nein|niemals|nie|keineswegs|auf keinen fall|(?:leider|bestimmt|sicher|gar|überhaupt) nicht|"
    r"nunca|jamás|claro que no|de ninguna manera|non|jamais|pas du tout|absolument pas|mai|"
    r"assolutamente no|n[ãa]o|nee|nooit|zeker niet|hayır|asla|いいえ|違います|"
    r"不是|不|不行|不可以|没有|"
    r"沒有|从不|否|لا|كلا|أبدا|नहीं|जी नहीं|нет|никогда)"
)
_END = r"[\s.,!:;…。！，、]*"
_AGREES = re.compile(
    rf"{_BEFORE}{_YES}(?:[,.!]?\s(?:{_YES}|{_HOW}|{_ECHOED}|please))*{_END}", re.IGNORECASE
)
_DENIES = re.compile(
    rf"{_BEFORE}(?:{_NO}|{_ECHOED}(?:n['’]t| not))"
    rf"(?:[,.!]?\s(?:{_NO}|sorry|unfortunately|{_ECHOED}(?:n['’]t| not)))*{_END}",
    re.IGNORECASE,
)
_LONGEST = 80
"""Characters of a bare yes or no."""

_ASKED = re.compile(r"(?s)(?P<asked>.*[?？؟])\s+(?P<said>[^?？؟]+)")


def agrees(text: str) -> bool:
    """Say whether words say yes, and nothing else: "Yes.", "Of course!", "Yes, it is."."""
    bare = text.strip()
    return len(bare) <= _LONGEST and _AGREES.fullmatch(bare) is not None


def denies(text: str) -> bool:
    """Say whether words say no, and nothing else: "No.", "Definitely not.", "It isn't."."""
    bare = text.strip()
    return len(bare) <= _LONGEST and _DENIES.fullmatch(bare) is not None


def asked_and_said(claim: str) -> tuple[str, str] | None:
    """Return the question and the answer of a claim that is made of both; None if it is not."""
    match = _ASKED.fullmatch(claim)
    return None if match is None else (match["asked"], match["said"])
