"""The clauses of a sentence with what each denies.

In: a reading. Out: its clauses, each with its words under a negation, in ten languages.
Source: the scope of a negation up to the end of its clause, after NegEx, Chapman et al. (2001).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._reading import Clause, Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = [
    "CJK",
    "CLOSE",
    "DENYING",
    "MANY",
    "MISSING",
    "NEGATORS",
    "NO_NEGATION",
    "ONLY",
    "Part",
    "SAME_STATEMENT",
    "denied_in",
    "denies",
    "known_parts",
    "negates",
    "parts_of",
    "text_of",
]

SAME_STATEMENT = 0.7
"""Share of a clause's words that another must hold before the two can contradict."""
MISSING = 34
"""Per cent of a denied clause's words that the other statement may lack."""
MANY = 3
CLOSE = 0.5
"""The same where an opposite stands in the place of a word."""

NEGATORS = frozenset(
    "not no never none nobody nothing neither nor cannot n't hardly nicht kein keine keinen"
    " keinem keiner keines nie niemals weder nunca ningún ninguna ninguno tampoco pas jamais"
    " aucun aucune non nessun nessuna nessuno não nenhum nenhuma नहीं न"
    " मत لا لم لن ليس ليست غير بدون".split()
)
DENYING = frozenset("fail lack refu unabl exclud forbid prohibit impossibl".split())
"""Stems of words that deny what stands beside them; left out where the other has them too."""
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_CJK_NEGATION = re.compile(
    "ません|ない(?!と)|なかった|なく|不(?!仅|僅|但|同|过|過)|没有|沒有|未(?!来|來)|無い|无(?!论)|非(?=会)|禁止"
)
_CONTRACTED = re.compile(r"(?:ca|wo|[a-z]+)n['’]t$")
# "not only X but also Y" says X
NO_NEGATION = re.compile(
    r"(?:not\s+(?:only|just|merely|necessarily)|no\s+(?:matter|doubt|later|more\s+than|less\s+than"
    r"|fewer|longer\s+than)|not\s+(?:more|less|fewer|exceed|\w+ing)|no\.\s*\d)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A clause with what it denies."""

    near: Near | None
    reading: Reading
    clause: Clause
    denied: frozenset[str]
    """Its words under a negation; all of them in a script without spaces."""

    @property
    def keys(self) -> frozenset[str]:
        return self.clause.keys


def parts_of(reading: Reading, near: Near | None) -> Iterator[Part]:
    for clause in reading.clauses:
        if clause.keys:
            yield Part(near, reading, clause, denied_in(reading, clause))


def known_parts(near: Near, scene: Scene) -> tuple[Part, ...]:
    """Return the parts of a sentence of the context, read once."""
    key = "polarity", near.number
    found: tuple[Part, ...] | None = scene.pages.notes.get(key)
    if found is None:
        found = scene.pages.notes[key] = tuple(parts_of(near.reading, near))
    return found


_TAIL = re.compile("[\u3040-\u309f]*")


def denied_in(reading: Reading, clause: Clause) -> frozenset[str]:
    """Return the words of a clause under a negation."""
    tokens = reading.words(clause)
    text = reading.text[tokens[0].start : tokens[-1].end]
    if CJK.search(text):
        tail = _TAIL.match(reading.text, tokens[-1].end)  # the endings of its verb
        text += tail[0] if tail else ""
        return clause.keys if _CJK_NEGATION.search(text) else frozenset()
    found: set[str] = set()
    under = False
    for token in tokens:
        if negates(token, reading.text):
            under = True
        elif under and token.key:
            found.add(token.key)
    if under and not found:  # "they are eligible: not", and languages that deny at the end
        return clause.keys
    if under and language(reading.text) != "en":
        return clause.keys  # the verb may stand before its negation, or far behind it
    return frozenset(found)


def negates(token: Token, text: str) -> bool:
    word = token.lower
    if word in NEGATORS or (word.endswith("n't") and _CONTRACTED.match(word) is not None):
        return NO_NEGATION.match(text, token.start) is None
    return word.startswith("non-")


def denies(reading: Reading) -> bool:
    """Whether any word of a text negates; found once for each reading."""
    found: bool | None = reading.notes.get("denies")
    if found is None:
        found = any(negates(token, reading.text) for token in reading.tokens)
        reading.notes["denies"] = found
    return found


ONLY = re.compile(
    r"\b(?:only|nur|ausschließlich|solo|sólo|únicamente|seulement|uniquement|apenas|somente|soltanto"
    r"|unicamente|exclusively|solely)\b|只|だけ|のみ",
    re.I,
)


def text_of(part: Part) -> str:
    tokens = part.reading.words(part.clause)
    return part.reading.text[tokens[0].start : tokens[-1].end]
