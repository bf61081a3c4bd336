"""A claim that is a question and a short answer to it, read as one statement.

In: such a claim and its context. Out: for a yes or no, what is to be looked up and how the findings
are to be taken; for another answer, whether the context says of something else what was asked.
The words of the question alone support no answer, and where a reading is not sure nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from faithguard._denied import denied_in, negated
from faithguard._polar import agrees, asked_and_said, asks_what, denies, echoes, led, wavers
from faithguard.types import Claim, Failure, Verdict
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers._facts import Fact, facts_of, has_verb, in_parts, mixed, words_in
from faithguard.verifiers._measured import Measured, measured
from faithguard.verifiers._placed import without_place
from faithguard.verifiers._records import in_record
from faithguard.verifiers._statement import NEGATIVE, Stated, chosen, stated
from faithguard.verifiers._terms import analyse
from faithguard.verifiers._values import Value
from faithguard.verifiers._withheld import DENIED, withheld

__all__ = ["ELSEWHERE", "NOT_OF_THIS", "Put", "elsewhere", "put", "refers_back", "settled"]

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


_AGAINST = 0.1
"""What a yes is believed whose statement the context denies, as far as words tell."""

_SAYS_BOTH = "its sentence says the opposite of its yes or no"

_HALF = 0.66
"""Share of a statement's words that a sentence must hold that says what is so instead."""

_ONE_OF = re.compile(r"\b(?:is|are|was|were|be|been)\b", re.IGNORECASE)

_OTHERS = re.compile(r"\b(?:for|on|with|and|also|too|or)\s(?=[^.]*$)", re.IGNORECASE)

Answer = Literal["plain", "yes", "no", "unsure"]


def settled(
    claim: Claim, look: Callable[[Claim], Verdict | None], context: Context
) -> Verdict | None:
    """Return what a verifier finds of a claim; of a yes or a no by what was asked.

    Args:
        claim: The claim.
        look: What the verifier finds of a claim that is to be taken as it stands.
        context: Of its exchange.
    """
    reading = put(claim, context)
    found = reading.verdict([look(piece) for piece in reading.pieces])
    return None if isinstance(found, Failure) else found


@dataclass(frozen=True, slots=True)
class Put:
    """A claim as it is to be looked up, and how what is found is to be taken."""

    pieces: tuple[Claim, ...]
    """What to look up; the sentence beside a yes or a no comes last."""
    context: Context
    answer: Answer = "plain"
    about: Stated | None = None
    measures: tuple[Measured | None, ...] = ()
    """Of each statement of the question."""
    beside: str = ""
    """What else the answer says."""
    sentence: bool = False
    """Whether that is a sentence, and the last piece."""
    not_so: bool = False
    """Whether what is claimed is that all of it is not so."""
    opposite: bool = False
    """Whether the last piece is what is claimed, in a sentence that denies."""

    def verdict(self, found: Sequence[Verdict | Failure | None]) -> Verdict | Failure | None:
        """Return what is so of the claim.

        Args:
            found: What a verifier found of each piece, in order.
        """
        so = self._so(found)
        if not self.not_so or not isinstance(so, Verdict):
            return so
        if so.label == "contradicted" and self._by_model_alone(so):
            own = found[-1] if self.opposite else None
            plain = isinstance(own, Verdict) and own.label == "supported" and self._denied_plainly()
            return own if plain else _open(so, NOT_OF_THIS)
        return _turned(so)

    def _denied_plainly(self) -> bool:
        """Whether a sentence that denies something has all the words of what is denied."""
        text = self.pieces[-1].text
        words = {*analyse(NEGATIVE.sub(" ", text)).words}
        return any(
            words <= {*sentence.terms.words} and NEGATIVE.search(sentence.text)
            for sentence in self.context.select(text).sentences
        )

    def _by_model_alone(self, found: Verdict) -> bool:
        """Whether only a model's guess speaks against what is said to be no more than a thing.

        A model takes "Gym" as denied by whatever sentence denies something.
        """
        guess = found.verifier.startswith("nli")
        return guess and (self.opposite or not has_verb(self.pieces[0].text))

    def _so(self, found: Sequence[Verdict | Failure | None]) -> Verdict | Failure | None:
        first = found[0]
        if self.answer == "plain" or isinstance(first, Failure):
            return first
        if self.answer == "unsure":
            return None if first is None else _open(first, NOT_OF_THIS)
        failed = next((one for one in found if isinstance(one, Failure)), None)
        if failed is not None:
            return failed
        verdicts = [one for one in found if not isinstance(one, Failure)]
        if self.sentence:
            return self._with_sentence(verdicts)
        base = self._base(verdicts)
        if base is not None and base.label == "supported" and self.answer == "no":
            near = self.context.select(self.beside).sentences[:1] if self.beside else ()
            words = frozenset(analyse(self.beside).words)
            if not all(words <= frozenset(one.terms.words) for one in near):
                return _open(base, NOT_OF_THIS)
        return base

    def _base(self, found: Sequence[Verdict | None]) -> Verdict | None:
        """Return what is so of the yes, or of the no, alone."""
        said = _of_all([self._granted(n, one) for n, one in enumerate(found[: len(self.measures)])])
        if said is None or self.answer == "yes":
            return said
        if said.label == "contradicted" and said.verifier.startswith("roles"):
            # that one does it to the other does not say that the other does not
            return _open(said, NOT_OF_THIS)
        return _turned(said)

    def _with_sentence(self, found: Sequence[Verdict | None]) -> Verdict | None:
        """Return what is so of a yes or a no that a sentence goes with."""
        base, own = self._base(found), found[-1]
        says = _restates(self.pieces, self.beside)
        if says is not None:
            if says == (self.answer == "yes"):
                return own
            return None if own is None else _open(own, _SAYS_BOTH)
        if base is None or own is None:
            return base
        if base.label == "supported" and own.label != "supported":
            return own
        if self.answer == "yes" or base.label != "not_mentioned":
            return base
        return own if own.label == "supported" and self._instead() else base

    def _instead(self) -> bool:
        """Whether the sentence beside a no says what is so instead: "it is made of steel"."""
        text = self.pieces[0].text
        asked, own = frozenset(analyse(text).words), frozenset(analyse(self.beside).words)
        missing = asked - own
        at = min((text.casefold().find(key[:4]) for key in missing), default=-1)
        return (
            len(self.measures) == 1
            and at > 0
            and len(asked & own) >= _HALF * len(asked)
            and bool(_ONE_OF.search(text) and _ONE_OF.search(self.beside))
            and _OTHERS.search(text[:at].rstrip()[-4:] + " ") is None
        )

    def _granted(self, number: int, found: Verdict | None) -> Verdict | None:
        """Return what is so of one statement of the question."""
        if found is None:
            return None
        measure = self.measures[number]
        if found.label in ("supported", "conflicting") and self.about is not None:
            alone = self.about if len(self.measures) == 1 else Stated((), verb="", subject="")
            text = self.pieces[number].text
            by_words = found.verifier.startswith("lexical")
            reason = withheld(text, alone, self.context, by_words=by_words)
            if reason == DENIED:
                return replace(
                    found, label="contradicted", p_supported=_AGAINST, reason=reason,
                    evidence=found.evidence[:1],
                )  # fmt: skip
            if reason is not None:
                return _open(found, reason)
            if measure is not None and measure.true is False:
                reason = f"the context says {self.pieces[number].text!r}"
                return replace(found, label="contradicted", p_supported=_AGAINST, reason=reason)
        if measure is not None and measure.true is None:
            return _open(found, NOT_OF_THIS)
        if measure is not None and found.label == "contradicted":
            return _open(found, found.reason)
        return found


def put(claim: Claim, context: Context) -> Put:
    """Return a claim as it is to be looked up: read once, whichever verifiers ask; see `_put`."""
    kept: dict[Claim, Put] = context.memo.setdefault("put", {})
    found = kept.get(claim)
    if found is None:
        if len(kept) >= _MOST_READ:
            kept.clear()
        found = kept[claim] = _put(claim, context)
    return found


_MOST_READ = 256
"""Claims whose readings are kept for the verifiers that ask one after the other."""


def _put(claim: Claim, context: Context) -> Put:
    """Return a claim as it is to be looked up.

    A yes is the statement that was asked about; a no is its opposite, and so is what says of a
    statement that it is not true.
    """
    text = without_place(claim.text, context)
    claim = claim if text == claim.text else replace(claim, text=text)
    whole = _denied(claim, context) or _field(claim, context)
    if whole is not None:
        return whole
    parts = asked_and_said(claim.text)
    if parts is None or asks_what(parts[0]):
        recorded = in_record(claim.text, context) if parts is None else None
        return Put((replace(claim, text=recorded) if recorded else claim,), context)
    question, said = parts
    beside, polar = "", said
    echo = echoes(question, said)
    if not (agrees(said) or denies(said) or wavers(said) or echo):
        both = led(said)
        if both is None:
            side = chosen(question, said, context)
            return Put((claim if side is None else replace(claim, text=side),), context)
        polar, beside = both.polar, both.rest
    about = stated(question, context)
    yes, no = agrees(polar) or echo == "yes", denies(polar) or echo == "no"
    answer: Answer = "yes" if yes else "no" if no else "unsure"
    if answer == "unsure" or not about.clear:
        return Put((claim,), context, "unsure")
    sentence = bool(beside) and (_is_sentence(beside) or _says_again(beside, about.parts))
    texts = about.parts
    if beside and not sentence:
        if answer == "yes" and len(texts) == 1:
            texts = (f"{texts[0].rstrip('.')} {beside.rstrip(' .!')}.",)
        elif answer == "no" and (instead := _in_its_place(beside, texts)):
            beside, sentence = (instead, True) if instead != texts[-1] else ("", False)
        elif answer == "no" and _limits(beside, texts):
            return Put((claim,), context, "unsure")
    records = [text for text in (in_record(text, context) for text in texts) if text is not None]
    bound = len(records) == len(texts)
    texts = tuple(records) if bound else texts
    measures = tuple(measured(text, context) for text in texts)
    pieces = [
        replace(claim, text=text if measure is None else measure.text)
        for text, measure in zip(texts, measures, strict=True)
    ]
    if sentence:
        pieces.append(replace(claim, text=in_record(beside, context) or beside))
    # a record is of one thing, and has each of its values under its own name
    around = None if bound else about
    return Put(tuple(pieces), context, answer, around, measures, beside, sentence)


_FIELD = re.compile(
    r"(?P<key>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,7})\s?[:=]\s?(?:(?P<yes>yes|true)|no|false)[.!]?",
    re.IGNORECASE,
)
"""A thing and a yes or no: "Dogs in the hall: no"."""
_DONE = re.compile(
    r"\b(?:allowed|permitted|included|available|required|accepted|provided|offered|possible|"
    r"covered|refundable|supported|open|closed|free)\b",
    re.IGNORECASE,
)


def _field(claim: Claim, context: Context) -> Put | None:
    """Return how to look up a yes or a no to a thing, by what the context says of that thing.

    "Dogs in the hall: no" denies that they are allowed where the context speaks of that.
    """
    parts = asked_and_said(claim.text)
    if parts is not None and not asks_what(parts[0]):
        return None
    match = _FIELD.fullmatch(claim.text if parts is None else parts[1].strip())
    if match is None or NEGATIVE.search(match["key"]):
        return None
    key = match["key"]
    inside = _DONE.search(key)
    if inside is not None:
        head, done, tail = key[: inside.start()].strip(), inside[0], key[inside.end() :]
    else:
        words = {*analyse(key).words}
        told = next(
            (
                spoken
                for sentence in context.select(key).sentences[:1]
                if words
                and words <= {*sentence.terms.words}
                and (spoken := _DONE.search(sentence.text)) is not None
            ),
            None,
        )
        if told is None or has_verb(key):
            return None
        head, done, tail = key, told[0], ""
    if not head or _ONE_OF.search(key):
        return None
    link = "are" if head.split()[0].endswith("s") or head.endswith("s") else "is"
    pieces = [replace(claim, text=f"{head} {link} {done}{tail}.")]
    if match["yes"]:
        return Put(tuple(pieces), context)
    pieces.append(replace(claim, text=f"{head} {link} not {done}{tail}."))
    return Put(tuple(pieces), context, not_so=True, opposite=True)


def _denied(claim: Claim, context: Context) -> Put | None:
    """Return how to look up what is said not to be so."""
    denied = denied_in(claim.text)
    if denied is None:
        return None
    reading = put(replace(claim, text=denied), context)
    own = negated(claim.text)
    if own is None or reading.answer != "plain" or len(reading.pieces) > 1:
        return replace(reading, not_so=not reading.not_so)
    both = (*reading.pieces, replace(claim, text=own))
    return replace(reading, not_so=not reading.not_so, pieces=both, opposite=True)


_HANGING = re.compile(
    r"(?:but |and |though )?(?:(?:only|just|not(?! (?:one|a single|any|all|every\w*) )|if|unless|"
    r"when|provided|providing|as long as|except|for|on|in|at|with|without|during|under|from|to|"
    r"by|of|until|before|after|within)\b|$)",
    re.IGNORECASE,
)


def _is_sentence(text: str) -> bool:
    """Whether what stands beside a yes or a no says something of its own."""
    return not text.isascii() or (_HANGING.match(text) is None and has_verb(text))


def _says_again(beside: str, statements: Sequence[str]) -> bool:
    """Whether it repeats the words of a statement: "Yes, your ticket cost 9 euros."."""
    own = {*analyse(beside).words}
    return any({*words} <= own for one in statements if (words := analyse(one).words))


def _in_its_place(beside: str, statements: Sequence[str]) -> str:
    """Return a statement with what stands beside a no: "it is taught in English"."""
    link, _, rest = beside.strip(" .!").partition(" ")
    head, found, _ = statements[-1].rpartition(f" {link} ")
    return f"{head}{found}{rest}." if rest and found else ""


def _limits(beside: str, statements: Sequence[str]) -> bool:
    """Whether a no holds of some of what was asked only: "not on Mondays"."""
    asked = {key for text in statements for key in analyse(text).words}
    terms = analyse(beside)
    return _HANGING.match(beside) is not None and not set(terms.words) <= asked


def _restates(pieces: Sequence[Claim], beside: str) -> bool | None:
    """Return whether a sentence says, or denies, all that was asked; None if it does neither."""
    said = analyse(beside)
    own = frozenset(said.words)
    terms = [analyse(piece.text) for piece in pieces[:-1]]
    asked = frozenset(key for one in terms for key in one.words)
    missing = asked - own - _LIGHT
    if missing & _NEEDS and own & _NEEDS:
        missing -= _NEEDS
    if missing & _LATE and _AT_NIGHT.search(beside):
        missing -= _LATE
    if not asked & own or missing:
        return None
    mine = [(value.family, value.readings) for value in said.distinct]
    if any((value.family, value.readings) not in mine for one in terms for value in one.distinct):
        return None
    return NEGATIVE.search(beside) is None


_LIGHT = frozenset({"under"})
_NEEDS = frozenset("need requir necessari mandatori compulsori obligatori".split())
_LATE = frozenset("late even evening night".split())
_AT_NIGHT = re.compile(
    r"\b(?:[6-9]|1[01])(?:[:.]\d\d)?\s?p\.?m\b|\b(?:1[89]|2[0-3])[:.]\d\d\b", re.IGNORECASE
)
"""An hour of the evening: "until 9 pm" says that it is open late."""


def _open(found: Verdict, reason: str) -> Verdict:
    """Return a verdict that supports nothing and denies nothing."""
    return replace(
        found,
        label="not_mentioned",
        p_supported=min(found.p_supported, ELSEWHERE),
        reason=reason,
        evidence=found.evidence[:1],
    )


def _of_all(found: Sequence[Verdict | None]) -> Verdict | None:
    """Return what is so of statements all of which are claimed."""
    said = [one for one in found if one is not None]
    against = next((one for one in said if one.label == "contradicted"), None)
    if against is not None:
        return against
    least = min(said, key=lambda one: one.p_supported, default=None)
    if least is None or len(said) == len(found) or least.label == "not_mentioned":
        return least
    return None


def _turned(found: Verdict) -> Verdict | None:
    """Return what is so of "no" if that is so of "yes"."""
    if found.label in ("supported", "conflicting"):
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
    if (agrees(said) or denies(said)) and not asks_what(question):
        return False
    if _of_the_other(question, said, context):
        return True
    asked = words_in(question)
    own = words_in(f" {said}") - asked
    home = context.select(question).sentences[:1]
    if not home:
        return False
    if not own:
        count = _COUNT.fullmatch(said)
        return count is not None and count["count"].casefold() not in home[0].text.casefold()
    whole = _bare(said)
    if any(_bare(sentence.text) == whole for sentence in context.holding(own, most=_MOST)):
        return False  # a sentence of the context answers whatever it is put to
    if _no_longer(question, own, context):
        return True
    near = [
        # a pronoun stands for what was asked about in a sentence that says something of it
        fact.words | (fact.carried if fact.words & asked else frozenset[str]())
        for sentence in context.holding(own, most=_MOST)
        for fact in facts_of(sentence, context)
    ]
    far = [
        part for sentence in home if not _means(sentence, own, context) for part in _parts(sentence)
    ]
    return _most(asked, [part for part in far if not _holds(part, own)]) > _most(
        asked, [part for part in near if _holds(part, own)]
    )


_FORMER = re.compile(
    r"\b(?:until (?:\w+ )?\d{4}|used to|formerly|former|previously|no longer|in the past)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|until|used to|former\w*|previous\w*|in the past|in \d{4})\b",
    re.IGNORECASE,
)


def _no_longer(question: str, own: frozenset[str], context: Context) -> bool:
    """Whether what is asked of today is said of the answer as of the past only."""
    if _PAST.search(question):
        return False
    found = context.holding(own, most=_MOST)
    return bool(found) and all(_FORMER.search(sentence.text) for sentence in found)


def _of_the_other(question: str, said: str, context: Context) -> bool:
    """Whether a sentence that holds an answer gives it to one thing, and what was asked to another.

    "The gym closes at 9 pm and the pool at 8 pm": "When does the pool close?", "9 pm.".
    """
    asks, says = analyse(question), analyse(said)
    asked, values = words_in(question), (*asks.distinct, *says.distinct)
    own = words_in(said) - asked
    words = asked | own
    literal = said.strip(" .!")
    wrong = False
    for sentence in context.select(f"{question} {said}").sentences:
        facts = facts_of(sentence, context)
        near = [
            fact
            for fact in facts
            if (own <= fact.words and all(map(fact.holds, says.distinct)))
            and (own or says.distinct or f" {literal}" in fact.text)
        ]
        if near and len(facts) > 1:
            if not all(
                mixed(words, values, fact, facts) or _rivalled(asked, says.distinct, fact, facts)
                for fact in near
            ):
                return False
            wrong = True
    return wrong


def _rivalled(
    asked: frozenset[str], values: Sequence[Value], near: Fact, facts: Sequence[Fact]
) -> bool:
    """Whether what was asked goes with a like value further on: "9 for adults, 6 for children"."""
    return any(
        (asked & far.words) - near.words - near.carried
        and any(mine.comparable(other) for mine in values for other in far.values)
        for far in facts[facts.index(near) + 1 :]
    )


def _bare(text: str) -> str:
    return text.strip(" \t\n.!*_-").casefold()


def _parts(sentence: Sentence) -> list[frozenset[str]]:
    """Return the words of each part of a sentence that says something of its own."""
    return [words_in(part) for part in in_parts(sentence.words)]


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
