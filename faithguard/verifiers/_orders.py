"""Whether a text speaks to whoever judges it.

In: texts of strangers. Out: whether one speaks of labels, and whether a stretch of one is an order
to a checker. Both look at what a reader sees: no character that hides, no other form of a letter,
and no look-alike of another script keeps a word from being found. Orders are known by their usual
words in English, German, French and Spanish; in other words, spelt out by letters or in other
languages they are not, and then it is up to the control claims.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from faithguard.chat import plain

__all__ = ["gives_order", "of_labels"]

_LABELS = re.compile(
    r"supported|contradicted|not[\s_-]*mentioned|verdict|"
    r"gestutzt|belegt|bestatigt|widerlegt|widersproch|urteil|"
    r"etaye|soutenue?s?\b|appuye|confirme|contredit|"
    r"respaldad|sustentad|confirmad|contradich|veredicto"
)

# Words come without accents. A plain "claims must be supported by receipts" is no order.
_RIGHT = (
    r"(?:supported|contradicted|true|correct|faithful|grounded|verified|"
    r"gestutzt|unterstutzt|belegt|bestatigt|widerlegt|wahr|richtig|korrekt|"
    r"etaye|soutenu|appuye|confirme|contredit|vraie?s?\b|"
    r"respaldad|sustentad|confirmad|contradich|verdader|apoyad)"
)
_ACT = (
    r"(?:mark|label|rate|judge|treat|consider|count|accept|report|classify|return|answer|respond|"
    r"reply|output|say|"
    r"markier|bewert|beurteil|kennzeichn|betracht|werte|stuf|behandl|klassifizier|akzeptier|"
    r"antwort|melde|gib|gebe|"
    r"marqu|jug|etiquet|consider|trait|class|repond|indiqu|accept|evalu|"
    r"marc|califi|juzg|clasifi|respond|trat|report|acept|indi[cq])"
)
_WHAT = (
    r"(?:(?:statement|claim|answer|verdict|everything|all|it|them|this)s?|"
    r"aussagen?|behauptung(?:en)?|antwort(?:en)?|urteile?|alles?|"
    r"affirmations?|declarations?|enonces?|reponses?|tou(?:t|te|s|tes)|ceci|cela|"
    r"afirmacion(?:es)?|declaracion(?:es)?|enunciados?|respuestas?|tod[oa]s?|esto|eso)"
)
_ORDER = re.compile(
    r"not_mentioned|[\"'](?:label|verdicts?|evidence|quote)[\"']\s*:|"
    r"\b(?:ignor|disregard|forget|overrid|missacht|vergiss|vergesst|oubli|olvid)\w*\b.{0,40}"
    r"\b(?:instruc|instruk|rule|regel|regle|regla|prompt|passage|context|kontext|contexto|"
    r"anweisung|consigne|above|previous)|"
    rf"\b{_ACT}\w*\b.{{0,60}}\b{_WHAT}\b.{{0,60}}\b{_RIGHT}|"
    rf"\b{_ACT}\w*\b.{{0,80}}\b(?:as|als|comme|como)\b\W{{0,3}}"
    r"(?:(?:un)?supported|contradicted|grounded|faithful|not.mentioned|"
    r"gestutzt|unterstutzt|belegt|etaye|soutenu|respaldad|sustentad)|"
    r"\b(?:statement|claim|answer|verdict|aussage|behauptung|antwort|affirmation|afirmacion|"
    r"respuesta|reponse)\w*\b.{0,60}\b(?:must|should|shall|is|are|has|have|muss|mussen|soll|"
    r"sollen|ist|sind|als|doit|doivent|est|sont|debe|deben|es|son)\b.{0,30}"
    rf"(?:\b{_ACT}\w*\b.{{0,30}}\b{_RIGHT}|\b{_RIGHT}\w*\b.{{0,12}}\b{_ACT})|"
    r"\b(?:statement|claim)s?\b.{0,80}\b(?:is|are)\s+\W?(?:(?:un)?supported|contradicted)\b(?!\s+by\b)",
    re.DOTALL,
)
_BREAK = re.compile(r"[.!?](?=\s)|[。！？\n]")
_FARTHEST = 300


def of_labels(texts: Iterable[str]) -> bool:
    """Say whether a text speaks of labels, as an order does."""
    return any(_LABELS.search(_bare(text)) for text in texts)


def gives_order(text: str, start: int, end: int) -> bool:
    """Say whether a stretch of a text is an order to a checker, or a part of one.

    What stands in the same sentence is looked at as well: half of an order is no evidence either.
    """
    left, right = text[max(0, start - _FARTHEST) : start], text[end : end + _FARTHEST]
    ends = [match.end() for match in _BREAK.finditer(left)]
    stop = _BREAK.search(right) if not _BREAK.match(text[end - 1 : end + 1]) else None
    before = _bare(left[ends[-1] if ends else 0 :])
    inside = _bare(text[start:end])
    after = "" if _BREAK.match(text[end - 1 : end + 1]) else right[: stop.end() if stop else None]
    whole = before + inside + _bare(after)
    own = len(before), len(before) + len(inside)
    return any(m.start() < own[1] and m.end() > own[0] for m in _ORDER.finditer(whole))


def _bare(text: str) -> str:
    """Return a text as a reader takes it, without accents."""
    seen = plain(text)
    if seen.isascii():
        return seen
    apart = unicodedata.normalize("NFKD", seen)
    return "".join(character for character in apart if not unicodedata.combining(character))
