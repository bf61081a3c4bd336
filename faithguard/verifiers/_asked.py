"""A claim that is a question and a short answer to it, read as one statement.

In: such a claim and its context. Out: for a yes or no, what is to be looked up and how the finding
is to be taken; for another answer, whether the context says of something else what was asked.
The words of the question alone support no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from faithguard._denied import denied_in
from faithguard._polar import agrees, asked_and_said, denies
from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers._terms import analyse

__all__ = ["ELSEWHERE", "NOT_OF_THIS", "as_stated", "elsewhere", "refers_back", "settled", "turned"]

_NEGATIVE = re.compile(
    r"(?i)\b(?:not|no|never|none|without|nicht|kein\w*|nie|pas|jamais|non|nunca|n[ãa]o|niet|"
    r"geen)\b|"
    r"n['’]t\b|不|没|沒|ない|ません|لا|नहीं|не"
)
"""In a question it leaves open what a yes or a no means."""

_SENTENCES = re.compile(r"(?<=[.!?])\s+")

_INVERTED = re.compile(
    r"\W*(?:(?:and|so|but|or|then|please|hi|hello),? )?(?P<verb>is|are|was|were|am|do|does|did|has|"
    r"have|"
    r"had|can|could|will|would|shall|should|must|may|might) (?P<rest>\S+ .*?)[?\s]*",
    re.IGNORECASE,
)
"""A question that begins with its verb, in English."""

_HELPING = frozenset({"do", "does", "did"})

_ARTICLES = frozenset("a an the this that these those my your our their his her its".split())

_PART = re.compile(r"[;；]\s*|,?\s+(?:while|whereas|whilst|but|however)\s+", re.IGNORECASE)

_PRONOUN = re.compile(
    r"\W*(?:he|she|it|they|this|that|these|those|his|her|its|their|both|er|sie|es|il|elle|ils|"
    r"elles|"
    r"él|ella|lui|lei|ele|ela|hij|zij)\b",
    re.IGNORECASE,
)

_COUNT = re.compile(
    r"\W*(?P<count>both|neither|either|none|all|nobody|no one|nothing|everybody|everyone|"
    r"everything|any|"
    r"each|some|beide|keine[rs]?|alle|niemand|nichts|ambos|ninguno|todos|nadie|les deux|"
    r"aucun\w*|tous|"
    r"personne|rien|entrambi|nessuno|tutti|ambas|nenhum\w*|ninguém)\b[^\w]*",
    re.IGNORECASE,
)
"""An answer that is no more than a count of what the question names."""

ELSEWHERE = 0.3
"""The most that an answer is believed which the context says of something else."""

NOT_OF_THIS = "the context does not say it of what was asked"

_MOST = 200
"""Sentences that hold an answer's words which are looked at."""


def settled(
    claim: Claim, look: Callable[[Claim], Verdict | None], context: Context
) -> Verdict | None:
    """Return what a verifier finds of a claim; of a yes or a no by what was asked.

    Args:
        claim: The claim.
        look: What the verifier finds of a claim that is to be taken as it stands.
        context: Of its exchange.
    """
    stated, no = as_stated(claim, context)
    found = look(stated)
    return turned(found) if no and found is not None else found


def as_stated(claim: Claim, context: Context) -> tuple[Claim, bool]:
    """Return a claim as it is to be looked up, and whether the opposite is claimed.

    A yes is the statement that was asked about; a no is its opposite (`turned`), and so is what
    says of a statement that it is not true.
    """
    denied = denied_in(claim.text)
    if denied is not None:
        stated, no = as_stated(replace(claim, text=denied), context)
        return stated, not no
    parts = asked_and_said(claim.text)
    if parts is None or _NEGATIVE.search(parts[0]):
        return claim, False
    question, said = parts
    no = denies(said)
    if not no and not agrees(said):
        return claim, False
    return replace(claim, text=_stated(question, context)), no


def _stated(question: str, context: Context) -> str:
    """Return what a yes says, as a statement where that can be told: rules read its order.

    "Is the east gate open on Mondays?" has the longest beginning that the context names as its
    subject: "the east gate is open on Mondays".
    """
    *before, last = _SENTENCES.split(question.strip())
    match = _INVERTED.fullmatch(last)
    if match is None:
        return f"{question} Yes."
    words = match["rest"].split()
    held = [sentence.text.casefold() for sentence in context.select(question, most=8).sentences]
    most = max(
        (n for n in range(1, len(words)) if any(" ".join(words[:n]).casefold() in t for t in held)),
        default=2 if words[0].casefold() in _ARTICLES else 1,
    )
    verb = "" if match["verb"].casefold() in _HELPING else f"{match['verb'].lower()} "
    stated = f"{' '.join(words[:most])} {verb}{' '.join(words[most:])}.".strip()
    return " ".join([*before, stated[:1].upper() + stated[1:]])


def turned(found: Verdict) -> Verdict | None:
    """Return what is so of "no" if that is so of "yes"."""
    if found.label == "supported":
        return replace(
            found,
            label="contradicted",
            p_supported=1.0 - found.p_supported,
            reason="the context says that it is so",
        )
    if found.label == "contradicted":
        if not found.evidence:
            return None
        return replace(
            found,
            label="supported",
            p_supported=1.0 - found.p_supported,
            reason=f"it is not so: {found.reason}",
        )
    return found


def elsewhere(text: str, context: Context) -> bool:
    """Say whether the context does not say of an answer what was asked, or says it of another.

    "Which dome has a lift? The north dome." has all its words in "the south dome has a lift; the
    north dome has stairs", and is wrong: the part that holds most of the question lacks the answer.

    Args:
        text: Of a claim.
        context: Of its exchange.
    """
    parts = asked_and_said(text)
    if parts is None:
        return False
    question, said = parts
    if agrees(said) or denies(said):
        # "Isn't it safe?": what a yes or a no to it means cannot be told
        return _NEGATIVE.search(question) is not None
    asked, terms = frozenset(analyse(question).words), analyse(said)
    own = frozenset(terms.words) - asked
    home = context.select(question).sentences[:1]
    if not home:
        return False
    if not own:
        count = _COUNT.fullmatch(said)
        return count is not None and count["count"].casefold() not in home[0].text.casefold()
    whole = _bare(said)
    if any(_bare(sentence.text) == whole for sentence in context.holding(own, most=_MOST)):
        return False  # a sentence of the context answers whatever it is put to
    near = [part for sentence in context.holding(own, most=_MOST) for part in _parts(sentence)]
    far = [
        part for sentence in home if not _means(sentence, own, context) for part in _parts(sentence)
    ]
    return _most(asked, [part for part in far if not _holds(part, own)]) > _most(
        asked, [part for part in near if _holds(part, own)]
    )


def _bare(text: str) -> str:
    return text.strip(" \t\n.!*_-").casefold()


def _parts(sentence: Sentence) -> list[frozenset[str]]:
    """Return the words of each part of a sentence that says something of its own."""
    return [frozenset(analyse(part).words) for part in _PART.split(sentence.words)]


def _holds(part: frozenset[str], own: frozenset[str]) -> bool:
    return 3 * len(own & part) >= 2 * len(own)


def refers_back(sentence: Sentence) -> bool:
    """Say whether a sentence begins with a word for what the one before it names."""
    return _PRONOUN.match(sentence.text) is not None


def _means(sentence: Sentence, own: frozenset[str], context: Context) -> bool:
    """Say whether what a sentence's first word stands for is the answer."""
    before = context.before(sentence) if refers_back(sentence) else None
    return before is not None and _holds(frozenset(before.terms.words), own)


def _most(asked: frozenset[str], parts: Sequence[frozenset[str]]) -> int:
    return max((len(asked & part) for part in parts), default=0)
