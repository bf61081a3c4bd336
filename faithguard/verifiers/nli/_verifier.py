"""The verifier: evidence, premises, the model and fusion put together.

In: claims and their context. Out: a verdict for each claim, with the sentences that it leans on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from faithguard._offload import offload
from faithguard.errors import ConfigError
from faithguard.types import Claim, Failure, FailureKind, Verdict
from faithguard.verifiers._asked import ELSEWHERE, NOT_OF_THIS, elsewhere, put
from faithguard.verifiers._context import Context, Selection
from faithguard.verifiers._facts import has_verb
from faithguard.verifiers._lexical import Lexical, lack, rival_in
from faithguard.verifiers._records import in_record
from faithguard.verifiers._terms import Terms, analyse
from faithguard.verifiers.nli._fusion import Fusion, features, says_plainly
from faithguard.verifiers.nli._language import is_english
from faithguard.verifiers.nli._model import Model, Scores
from faithguard.verifiers.nli._premises import Premise, premises
from faithguard.verifiers.nli._served import Served, served

__all__ = ["SHIPPED", "Nli", "Reading", "read"]

_CONTRADICTS = 0.8
"""Probability of contradiction from which an unsupported claim is said to be contradicted."""
_HARDLY = 0.1
"""Probability of support below which it may be: of 64 claims of other data that a model and no
rule called contradicted from 0.5 on, whatever their support, 21 were; of 19 by both bounds, 14."""

_NOTHING = 0.15
"""Probability of a claim that shares no word with the context: seldom supported, and a judge, who
knows that "under 12" are children, must still be asked."""

_SAME_THING = 0.4
"""Share of a claim that a sentence must hold to be able to contradict it: what is of something else
does not, whatever the model says of the pair."""

SHIPPED = Path(__file__).resolve().parent / "shipped"
"""Trained by `faithguard train`; its CARD.md says on what, and how well it does."""

_ITSELF = Scores(0.99, 0.005, 0.005)
"""What is said of a claim beside the same sentence."""

_DOUBTFUL = 0.3
"""Probability of an unsupported claim from which another premise may yet carry it: of 522 claims of
other data none that lay lower was, and what is supported stays so."""

_FEWEST = 4
"""Words of a statement that is read without the title before it."""
_NAMING = re.compile(r"\d|(?<=\s)[^\W\d_a-z]|[^\x00-\x7f]")
"""A figure, a name behind the first word, or what is not English."""

_FIELD = re.compile(r"(?:[^\W\d_]+ ){0,3}[^\W\d_]+: [\d.,]+")
"""A number by its name, "length cm: 90": no sentence, so the model has never read the like."""

_READING = 4
"""The version of what is put to a model, and of how it is taken."""

_LONGEST = 250
"""Words of a claim that the model can read beside a premise."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found out about one claim."""

    claim: str
    terms: Terms
    selection: Selection
    scores: Sequence[Scores]
    """Of each premise; none where nothing bears on the claim."""
    unread: bool
    """Whether every premise was too long for the model."""

    @property
    def features(self) -> dict[str, float]:
        """See `features`; only where there are scores."""
        return features(self.claim, self.terms, self.selection, self.scores)


def read(
    claims: Sequence[str],
    context: Context,
    model: Model,
    *,
    doubted: Callable[[Reading], bool] | None = None,
) -> list[Reading]:
    """Have the model read each claim beside its premises, all in one go.

    A claim that stands in the context is not put to it: models are unsure of some, above all
    of what denies something, although nothing follows more surely.

    Args:
        claims: Their texts.
        context: Of their exchange.
        model: What reads.
        doubted: Whether a claim's late premises are read as well, in a second go, by what came of
            the others; all are read at once by default.
    """
    selections = [context.select(text) for text in claims]
    found = [
        [] if _stands(text, selection, context) else premises(text, selection, context)
        for text, selection in zip(claims, selections, strict=True)
    ]
    first = [[p for p in group if doubted is None or not p.late] for group in found]
    readings = [
        Reading(
            text,
            analyse(text),
            selection,
            said if group or not selection.sentences else [_ITSELF],
            unread=bool(group) and not said,
        )
        for text, selection, group, said in zip(
            claims, selections, first, _said(claims, first, model), strict=True
        )
    ]
    late = [
        [p for p in group if p.late and doubted is not None and r.scores and doubted(r)]
        for group, r in zip(found, readings, strict=True)
    ]
    return [
        replace(reading, scores=[*reading.scores, *said]) if said else reading
        for reading, said in zip(readings, _said(claims, late, model), strict=True)
    ]


def _said(
    claims: Sequence[str], found: Sequence[Sequence[Premise]], model: Model
) -> list[list[Scores]]:
    """Return what is said of each claim beside its premises; less of those that are too long."""
    pairs = [(p.text, _heard(c)) for c, group in zip(claims, found, strict=True) for p in group]
    scores = iter(model.read(pairs))
    return [[s for _ in group if (s := next(scores)) is not None] for group in found]


def _heard(claim: str) -> str:
    """Return a claim as the model reads it: a statement without a mere title before it.

    "The pool in short: It opens at 9." is no sentence that anybody wrote. A title that could say
    when, where or of whom (a name, a figure, a verb) stays.
    """
    title, mark, rest = claim.partition(": ")
    plain = mark and not has_verb(title) and not _NAMING.search(title)
    return rest if plain and len(rest.split()) >= _FEWEST and has_verb(rest) else claim


def _stands(claim: str, selection: Selection, context: Context) -> bool:
    """Say whether a claim stands in the context: as a statement, or as what a record holds."""
    if context.stands(claim) or in_record(claim, context) == claim:
        return True
    return any(_bare(sentence.text) == _bare(claim) for sentence in selection.sentences[:1])


def _bare(text: str) -> str:
    return text.strip(" .!").casefold()


class Nli:
    """Support by a cross-encoder, words and values.

        Scorer(verifiers=[*(rule() for rule in RULES), Nli("model/onnx")])

    Args:
        model: The `onnx` folder that `faithguard train` wrote; or the folder, or the id on a hub
            ("owner/name"), of any NLI model with its weights in ONNX or safetensors. The shipped
            model by default.
        revision: The commit that a hub's model is pinned to, 40 hex digits.
        labels: What the labels of such a model mean, where its config does not say it:
            {"LABEL_0": "contradiction", ...}.
        languages: Codes of the languages that it reads, where it does not say it itself; claims
            in others are failures. Only "en" alone can be told from the rest.
        threads: Pairs that are read at once; one for each core by default.
        words: Judge claims that the model cannot read, for their language, length or number, by
            their words alone; otherwise they are failures.
        most: Different claims of one answer that are read: each costs a few hundredths of a
            second, and an answer may be of any length.

    Raises:
        ConfigError: If there is no such model, it is not pinned, or its labels are not known.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        revision: str | None = None,
        labels: Mapping[str, str] | None = None,
        languages: Sequence[str] | None = None,
        threads: int | None = None,
        words: bool = False,
        most: int = 100,
    ) -> None:
        if most < 1:
            raise ConfigError(f"`most` is {most!r}: give 1 or more")
        about = served(SHIPPED if model is None else model, revision=revision, labels=labels)
        self._languages = languages if languages is not None else about.languages
        # another's model has no weights for words and values: what it says stands alone
        ours = (about.folder / "model.json").is_file()
        self._fusion = Fusion.read(about.folder / "fusion.json") if ours else None
        self._model = _model(about, threads)
        self._most = most
        self._words = Lexical() if words else None
        self.name = f"nli@{_READING}.{about.digest}" + (
            f"+{self._words.name}" if self._words else ""
        )

    def verify(
        self, claims: Sequence[Claim], context: Context
    ) -> Sequence[Verdict | Failure | None]:
        """Return what is said of each claim, in order; blocking."""
        readings = [put(claim, context) for claim in claims]
        found = iter(self._found([piece for one in readings for piece in one.pieces], context))
        return [one.verdict([next(found) for _ in one.pieces]) for one in readings]

    def _found(self, claims: Sequence[Claim], context: Context) -> Sequence[Verdict | Failure]:
        known = dict.fromkeys(c.text for c in claims if self._reads(c, context))
        texts = [*known][: self._most]
        readings = read(texts, context, self._model, doubted=self._doubts)
        found = dict(zip(texts, readings, strict=True))
        return [
            self._unread(claim, context)
            if claim.text not in found or found[claim.text].unread
            else self._verdict(claim, found[claim.text], context)
            for claim in claims
        ]

    async def averify(
        self, claims: Sequence[Claim], context: Context
    ) -> Sequence[Verdict | Failure | None]:
        """Do the same off the event loop."""
        return await offload(self.verify, claims, context)

    def _reads(self, claim: Claim, context: Context) -> bool:
        return self._knows(claim, context) and len(claim.text.split()) <= _LONGEST

    def _knows(self, claim: Claim, context: Context) -> bool:
        """Say whether the model was trained on the language, as far as it can be told.

        Names and numbers are of no language: what a short claim rests on tells.
        """
        if self._languages is None or [*self._languages] != ["en"]:
            return True
        best = context.select(claim.text).sentences[:1]
        return is_english(claim.text) and all(is_english(sentence.text) for sentence in best)

    def _unread(self, claim: Claim, context: Context) -> Verdict | Failure:
        if self._words is not None:
            return self._words.verdict(claim, context)
        if self._knows(claim, context):
            kind: FailureKind = "budget"
            told = (
                "the claim, or what bears on it, is longer than the local model can read, or the "
                f"answer has more than {self._most} different claims"
            )
        else:
            kind, told = "language", "the local model reads English only; a judge reads others"
        return Failure(kind=kind, stage=self.name, message=told, claim=claim.id)

    def _doubts(self, reading: Reading) -> bool:
        return _DOUBTFUL <= self._probability(reading) < 0.5

    def _probability(self, reading: Reading) -> float:
        if self._fusion is None:
            return max(score.entailment for score in reading.scores)
        return self._fusion.probability(reading.features)

    def _verdict(self, claim: Claim, reading: Reading, context: Context) -> Verdict:
        p = self._probability(reading) if reading.scores else _NOTHING
        if p < 0.5 and self._words is not None and _known_to_words(reading):
            p = max(p, self._words.probability(reading.terms, reading.selection))
        other = p >= 0.5 and elsewhere(claim.text, context)
        if other:
            p = min(p, ELSEWHERE)
        evidence = tuple(sentence.evidence() for sentence in reading.selection.sentences)
        if p >= 0.5:
            rival = rival_in(reading.terms, reading.selection, context)
            return Verdict(
                claim=claim.id,
                label="conflicting" if rival else "supported",
                p_supported=p,
                verifier=self.name,
                reason="passages disagree on it" if rival else "the context says it",
                evidence=evidence + ((rival,) if rival else ()),
            )
        against = max((s.contradiction for s in reading.scores), default=0.0)
        sure = against >= _CONTRADICTS and p < _HARDLY
        if sure and reading.selection.best >= _SAME_THING:
            return Verdict(
                claim=claim.id,
                label="contradicted",
                p_supported=p,
                verifier=self.name,
                reason="the context says otherwise",
                evidence=evidence[:1],
            )
        return Verdict(
            claim=claim.id,
            label="not_mentioned",
            p_supported=p,
            verifier=self.name,
            reason=NOT_OF_THIS if other else lack(claim.text, reading.terms, reading.selection),
            evidence=evidence[:1],
        )


def _known_to_words(reading: Reading) -> bool:
    """Whether words know more of a claim than the model does."""
    if _FIELD.fullmatch(reading.claim) is not None:
        return True
    return says_plainly(reading.claim, reading.selection)


@cache
def _model(about: Served, threads: int | None) -> Model:
    """One model for a process, however many verifiers use it."""
    return Model(about, threads=threads)
