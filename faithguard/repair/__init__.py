"""A report of an answer that does not pass -> the answer with what failed corrected or left out.

In: the report, and then the reports of what `Mending` proposes. Out: calls to make (an exchange
to verify, or one question to a judge's model), and in the end the changes that hold, or nothing.
No I/O happens here.

    _layout       the units: sentences, items, rows
    _corrections  what the context says instead
    _rewrite      what a judge's model would write instead
    _clauses      a sentence without the claims in it that are unsupported
    _parts        the same of a sentence that is one claim
    _cuts         what is left where a unit goes
    _tags         the tags of HTML around that
    _numbers      the numbered lists, whose numbers then close up
    _antecedents  what a kept "it" then means

Only units that hold an unsupported claim change. A correction comes from the evidence, else from
the judge, where there is one; what cannot be corrected is left out, unless something supported
would go with it. Whatever comes out is verified once more as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from faithguard.chat import Completion
from faithguard.claims._json import leaves
from faithguard.claims._plain import has_words
from faithguard.errors import JudgeError
from faithguard.repair._antecedents import leaning
from faithguard.repair._clauses import clause_cut
from faithguard.repair._corrections import corrections
from faithguard.repair._cuts import balanced, cuts
from faithguard.repair._edits import Edit, Edited, edited
from faithguard.repair._layout import Layout, Unit, layout_of
from faithguard.repair._parts import held_throughout, is_held, is_long, part_cut
from faithguard.repair._rewrite import Rewrite, rewrite_of, texts_in
from faithguard.repair._tags import tags_in_pairs
from faithguard.types import Claim, Evidence, Exchange, Repair, Report
from faithguard.verifiers import Context
from faithguard.verifiers._terms import keys_in
from faithguard.verifiers.judge import Judge

__all__ = ["Mending", "Rewrite", "wrong_claims"]

_MOST_CHECKS = 4
"""Verifications of one mended answer."""

_MOST_ALONE = 20
"""Units that are looked at one by one for what keeps them from going."""

_LONGEST = 2_000
"""Characters of a unit that is corrected: each of its values is weighed against all others."""

_LIKELY = 0.35
"""Share of a claim that the context must hold to say something else instead of it."""

_HEADLESS = re.compile(
    r"(?i)\W*(?:(?:is|are|was|were|has|had|can|could|will|would|may|might|must|shall|should|does|did)"
    r"(?:n['’]t)?|cannot|ist|sind|war|waren|hat|wird|werden|kann|können|muss|müssen|darf|dürfen|"
    r"est|sont|peut|peuvent|doit|doivent)\b(?!.*[?？])"
)
"""What begins with a verb that needs a subject, and asks nothing."""

_KEPT = 0.8
"""Share of the words of a supported claim that a text must hold which replaces it."""


def wrong_claims(report: Report, *, conflicting: bool) -> tuple[Claim, ...]:
    """Return the claims that a mended answer must not hold.

    Args:
        report: Of the answer.
        conflicting: Whether a claim counts among them about which passages disagree.
    """
    return tuple(
        claim
        for claim in report.facts
        if not claim.supported or (conflicting and claim.label == "conflicting")
    )


@dataclass(frozen=True, slots=True)
class _Option:
    """One thing to do about a unit: change it, ask for it, or leave it out."""

    edits: tuple[Edit, ...] = ()
    ask: bool = False
    drop: bool = False


@dataclass(slots=True)
class _Patient:
    """A unit that holds unsupported claims."""

    unit: Unit
    wrong: list[Claim]
    good: list[Claim]
    options: list[_Option] = field(default_factory=list[_Option])
    """What is left to try; the first is what is being tried."""


class Mending:
    """The mending of one answer, without I/O.

        mending = Mending(report)
        while (call := mending.todo()) is not None: ...

    Args:
        report: Of an answer that does not pass.
        upto: Where the part of the exchange's answer ends that is delivered; all of it by
            default.
        judge: Whose model may be asked once.
        conflicting: Whether claims about which passages disagree must go, too.
    """

    def __init__(
        self,
        report: Report,
        *,
        upto: int | None = None,
        judge: Judge | None = None,
        conflicting: bool = False,
    ) -> None:
        self._report = report
        self._conflicting = conflicting
        self._judge = judge
        self._answer = report.exchange.answer[:upto]
        self._layout: Layout = layout_of(self._answer)
        self._context = _context(report.exchange)
        self._checks = 0
        self._asked = judge is None
        self._edited = Edited(self._answer, ())
        self._holds = False
        self._because: dict[int, int] = {}
        """Which unit's going changed another one."""
        self._lost = False
        self._done = False
        self._patients = self._diagnosed()

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was changed, once it holds; in the order of the answer."""
        if not self._holds:
            return ()
        return tuple(
            Repair(
                span=(edit.start, edit.end),
                before=self._answer[edit.start : edit.end],
                after=edit.new,
                evidence=edit.evidence,
            )
            for edit in self._edited.edits
        )

    # -- what is wrong, and what could be done ------------------------------------------------

    def _diagnosed(self) -> dict[int, _Patient]:
        end = len(self._answer)
        wrong = wrong_claims(self._report, conflicting=self._conflicting)
        ids = {claim.id for claim in wrong}
        patients: dict[int, _Patient] = {}
        for claim in wrong:
            if claim.span[0] >= end:
                continue  # in what is not delivered
            touched = self._layout.touched(claim.span)
            self._lost |= claim.label == "failed" or not touched
            for unit in touched:
                patients.setdefault(unit.index, _Patient(unit, [], [])).wrong.append(claim)
        self._good = [
            claim for claim in self._report.facts if claim.id not in ids and claim.span[1] <= end
        ]
        for claim in self._good:
            for unit in self._layout.touched(claim.span):
                if unit.index in patients:
                    patients[unit.index].good.append(claim)
        for patient in patients.values():
            patient.options = list(self._options(patient))
        return patients

    def _options(self, patient: _Patient) -> Iterator[_Option]:
        contradicted = any(claim.label == "contradicted" for claim in patient.wrong)
        for edits in self._corrected(patient):
            held = held_throughout(self._layout, patient.unit, edits, self._context)
            if held is not None and self._keeps_form(patient.unit, held):
                yield _Option(held)
        if contradicted and not self._asked:
            yield _Option(ask=True)
        cut = clause_cut(self._layout, patient.unit, patient.wrong, patient.good)
        if cut is not None and not all(map(self._is_held, patient.good)):
            cut = None
        if cut is None:
            cut = part_cut(self._layout, patient.unit, self._context)
        if cut is not None and self._keeps_form(patient.unit, cut):
            yield _Option(cut)
        if not patient.good:
            yield _Option(drop=True)
        if not contradicted and not self._asked:
            yield _Option(ask=True)

    def _is_held(self, claim: Claim) -> bool:
        """Say whether the context holds each part of a claim that is kept without its sentence."""
        return is_held(self._answer[slice(*claim.span)], self._context)

    def _corrected(self, patient: _Patient) -> Iterator[tuple[Edit, ...]]:
        """Yield ways to correct all that is wrong in a unit; none where it is too long for that."""
        if is_long(self._layout.text(patient.unit)) and patient.unit.kind == "prose":
            return
        if len(self._layout.text(patient.unit)) > _LONGEST:
            return
        found: list[list[tuple[Edit, ...]]] = []
        for claim in patient.wrong:
            unit = patient.unit
            if claim.label == "conflicting":
                return  # the context has no one answer
            if claim.label != "contradicted" and not self._likely(claim, unit):
                return
            span = max(unit.start, claim.span[0]), min(unit.end, claim.span[1])
            ways = corrections(claim, unit, self._answer, span, self._context)
            if not ways:
                return
            found.append([way.edits for way in ways])
        for turn in range(max(map(len, found), default=0)):
            edits = {
                (edit.start, edit.end): edit
                for ways in found
                for edit in ways[min(turn, len(ways) - 1)]
            }
            yield tuple(edits.values())

    def _keeps_form(self, unit: Unit, edits: Sequence[Edit]) -> bool:
        """Say whether changes leave a unit its marks in pairs, and its subject."""
        changed = edited(self._answer, edits)
        if changed is not None and balanced(self._layout.text(unit)):
            start, end = changed.span((unit.start, unit.end))
            if not balanced(changed.text[start:end]):
                return False
        elif not all(balanced(self._answer[e.start : e.end]) == balanced(e.new) for e in edits):
            return False
        return self._keeps_subject(unit, edits)

    def _keeps_subject(self, unit: Unit, edits: Sequence[Edit]) -> bool:
        """Say whether changes leave a sentence its subject: no "Can reach us by email."."""
        changed = edited(self._answer, edits)
        if changed is None or unit.kind == "row":
            return True
        start, end = changed.span((unit.start, unit.end))
        headless = _HEADLESS.match(changed.text[start:end]) is not None
        return not headless or _HEADLESS.match(self._layout.text(unit)) is not None

    def _likely(self, claim: Claim, unit: Unit) -> bool:
        """Say whether the context may say something else; of a row's cells one may be known."""
        return unit.kind == "row" or self._context.select(claim.text).coverage >= _LIKELY

    # -- the way ------------------------------------------------------------------------------

    def todo(self) -> Exchange | Rewrite | None:
        """Return what to do next: verify an exchange, ask a model; None at the end.

        At the end `repairs` says what was changed; nothing if no mending holds.
        """
        while not self._done:
            asked = [p for p in self._patients.values() if p.options[:1] and p.options[0].ask]
            if asked and not self._asked:
                self._asked = True
                call = self._rewrite(asked)
                if call is not None:
                    return call
            for patient in asked:
                patient.options.pop(0)
            if asked:
                continue
            if self._lost or self._checks == _MOST_CHECKS:
                break
            if any(not patient.options for patient in self._patients.values()):
                break
            if self._propose():
                self._checks += 1
                return replace(self._report.exchange, answer=self._edited.text)
        self._done = True
        return None

    def _rewrite(self, asked: Sequence[_Patient]) -> Rewrite | None:
        if self._judge is None:
            return None
        exchange = replace(self._report.exchange, answer=self._answer)
        wanted = [(patient.unit, patient.wrong) for patient in asked]
        return rewrite_of(self._judge, exchange, self._context, wanted)

    def rewritten(self, call: Rewrite, reply: Completion | JudgeError) -> None:
        """Take what a model wrote for the units that it was asked for."""
        texts = {} if isinstance(reply, JudgeError) else texts_in(call, reply, self._answer)
        for unit in call.units.values():
            patient = self._patients[unit.index]
            patient.options.pop(0)
            text = texts.get(unit.index, "")
            if text and _keeps(text, patient.good, self._answer):
                patient.options.insert(0, _Option((Edit(unit.start, unit.end, text),)))

    def _propose(self) -> bool:
        """Make the text of the options that are tried; say whether there is one to verify."""
        current = [(patient, patient.options[0]) for patient in self._patients.values()]
        dropped = [patient for patient, option in current if option.drop]
        gone = {patient.unit.index for patient in dropped}
        if not any(unit for unit in self._kept_units(gone)):
            self._lost = True  # no claim would be left
            return False
        stay = {unit.index for claim in self._good for unit in self._layout.touched(claim.span)}
        edits = cuts(self._layout, gone, stay)
        if edits is None:
            few = dropped[:_MOST_ALONE]
            alone = [p for p in few if cuts(self._layout, {p.unit.index}, stay) is None]
            self._next(alone or dropped)
            return False
        edits = [self._with_reason(edit, dropped) for edit in edits]
        self._because = {}
        for unit, before, edit in leaning(self._layout, gone, self._by_unit()):
            if edit is None:
                self._next([self._patients[before.index]] if before.index in gone else dropped)
                return False
            self._because[unit.index] = before.index
            edits.append(edit)
        edits += [edit for _, option in current for edit in option.edits]
        made = edited(self._answer, tags_in_pairs(self._answer, edits))
        if made is not None:
            self._edited = made
        broken = made is not None and self._layout.is_json and leaves(made.text) is None
        if made is None or broken or self._says_twice():
            self._next([patient for patient, option in current if option.edits] or dropped)
            return False
        return True

    def _by_unit(self) -> dict[int, list[Claim]]:
        """Return the claims whose evidence tells what each unit is about."""
        found: dict[int, list[Claim]] = {}
        for claim in self._good:
            for unit in self._layout.touched(claim.span):
                found.setdefault(unit.index, []).append(claim)
        for number, patient in self._patients.items():
            found.setdefault(number, []).extend(patient.wrong)
        return found

    def _kept_units(self, gone: set[int]) -> Iterator[Unit]:
        for claim in self._good:
            yield from self._layout.touched(claim.span)
        yield from (p.unit for p in self._patients.values() if p.unit.index not in gone)

    def _with_reason(self, edit: Edit, dropped: Sequence[_Patient]) -> Edit:
        """Add what contradicts the claims that go with an edit."""
        evidence = [
            found
            for patient in dropped
            if edit.start < patient.unit.end and patient.unit.start < edit.end
            for claim in patient.wrong
            for found in claim.evidence
            if claim.label == "contradicted"
        ]
        return replace(edit, evidence=tuple(dict.fromkeys(evidence)))

    def _says_twice(self) -> bool:
        """Say whether a changed unit now says what another one says."""
        texts = {
            unit.index: self._edited.text[slice(*self._edited.span((unit.start, unit.end)))]
            for unit in self._layout.units
            if unit.kind != "code"
        }
        changed = {p.unit.index for p in self._patients.values() if p.options[0].edits}
        said = [text.casefold() for number, text in texts.items() if number not in changed]
        return any(has_words(texts[n]) and texts[n].casefold() in said for n in changed)

    def _next(self, patients: Sequence[_Patient]) -> None:
        """Try something else for some units."""
        if not patients:
            self._lost = True
        for patient in patients:
            patient.options.pop(0)

    # -- what came of it ----------------------------------------------------------------------

    def verified(self, report: Report) -> bool:
        """Take the report of what was proposed; say whether the mending holds."""
        wrong = wrong_claims(report, conflicting=self._conflicting)
        if any(claim.label == "failed" for claim in wrong) or report.outcome != "scored":
            self._lost = True
            return False
        worse: dict[int, _Patient] = {}
        for claim in wrong:
            unit = self._changed_at(claim)
            if unit is None:
                self._lost = True
                return False
            worse[unit.unit.index] = unit
        held = [claim for claim in report.facts if claim not in wrong]
        for claim in self._good:
            start, end = self._edited.span(claim.span)
            if not any(c.span[0] < end and start < c.span[1] for c in held):
                patients = [
                    self._patients[unit.index]
                    for unit in self._layout.touched(claim.span)
                    if unit.index in self._patients
                ]
                if not patients:
                    self._lost = True
                    return False
                worse |= {patient.unit.index: patient for patient in patients}
        if worse:
            self._next(list(worse.values()))
            return False
        self._done = self._holds = True
        self._edited = replace(
            self._edited, edits=tuple(self._proved(edit, held) for edit in self._edited.edits)
        )
        return True

    def _changed_at(self, claim: Claim) -> _Patient | None:
        """Return the unit whose change a claim of the new text is due to."""
        for unit in self._layout.units:
            start, end = self._edited.span((unit.start, unit.end))
            if start < claim.span[1] and claim.span[0] < end:
                number = self._because.get(unit.index, unit.index)
                if number in self._patients:
                    return self._patients[number]
        return None

    def _proved(self, edit: Edit, held: Sequence[Claim]) -> Edit:
        """Add what the new claims rest on to an edit that a model made."""
        if edit.evidence or not has_words(edit.new):
            return edit
        start, end = self._edited.span((edit.start, edit.end))
        found: list[Evidence] = [
            evidence
            for claim in held
            if claim.span[0] < end and start < claim.span[1]
            for evidence in claim.evidence
        ]
        return replace(edit, evidence=tuple(dict.fromkeys(found)))


def _context(exchange: Exchange) -> Context:
    """Return the passages that a correction may come from: those that the model saw."""
    numbered = [
        (number, passage)
        for number, passage in enumerate(exchange.passages)
        if passage.seen and passage.text.strip()
    ]
    return Context(
        [passage for _, passage in numbered],
        exchange.question,
        numbers=[number for number, _ in numbered],
    )


def _keeps(text: str, good: Sequence[Claim], answer: str) -> bool:
    """Say whether a text still holds the words of the supported claims that it replaces."""
    keys = keys_in(text)
    for claim in good:
        own = keys_in(answer[slice(*claim.span)])
        if own and len(own & keys) < _KEPT * len(own):
            return False
    return True
