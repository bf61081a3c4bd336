"""Claim + what the context says instead -> its source with the context's value, day or name.

In: a claim that the context does not support, where it stands, and the passages. Out: ways to
correct it, the likeliest first, each with the sentence of a passage that says so. They are
guesses: whoever uses one has it verified.

    values       a number, time or date of which the context has another
    alignment    words in the same place of a sentence that is alike
    names        in a table, a name that stands near the row's own words
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import islice, pairwise, takewhile

from faithguard.claims._plain import CITATION, has_words
from faithguard.claims._verbs import has_verb, verb_at
from faithguard.repair._antecedents import leans
from faithguard.repair._edits import Edit
from faithguard.repair._layout import Unit
from faithguard.types import Claim, Evidence, Span
from faithguard.verifiers import Context
from faithguard.verifiers._context import Sentence
from faithguard.verifiers._terms import analyse, stem
from faithguard.verifiers._values import Value, find_values

__all__ = ["Correction", "corrections"]

_MOST = 2
"""Ways to correct one claim."""

_MOST_SENTENCES = 8
_ALIKE = 0.5
"""Share of a claim's words that a sentence must hold to be aligned with it."""

_LONGEST_RUN = 3
"""Words that may stand in the place of others: longer runs rarely have the same part in both."""

_WRITTEN_ALIKE = 0.75
"""Likeness, in [0, 1], of "1420" and "1240"."""

_CLEARLY = 1.2
"""How much better than the next the best must be: a guess is worse than a gap."""

_TOLD = 0.6

_SHORT = 2
"""Letters; what is no longer may be a unit."""

_COUNTING = frozenset({"", "person", "times"})
_CURRENCY = re.compile("[A-Z]{3}|krone|krona|crown")
_AMOUNT = re.compile(r"(?P<before>[^\d\s]*\s?)(?P<n>\d(?:[\d.,]*\d)?)(?P<after>\s?[^\d\s]*)")
"""An amount of money, its number and what stands beside it."""
_HOUR = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minutes>\d\d))?(?P<gap>\s?)(?P<half>[aApP]\.?[mM]\.?)?"
)
_NOON, _LAST_HOUR = 12, 23
_MEASURES = frozenset(
    map(stem, "height altitude elevation length width depth distance weight size price".split())
)
"""Names of what a value measures: a sentence mostly says it by the unit alone."""

_MARK_UP = re.compile(r"[\[\](){}<>|*_`#]")

_CELL = re.compile(r"(?<!\\)\|")
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:[.,:'’-][^\W_]+)*|[^\w\s]")
_NAME = re.compile(
    r"[^\W\d_a-z][\w'’-]*(?:[ ](?:(?:de|van|von|der|of|da|di) )?[^\W\d_a-z][\w'’-]*)*"
)
_NOUN_BEFORE = re.compile(r"\bthe (?:[a-z]+ )?[a-z]{3,} \Z", re.IGNORECASE)
_BREAK = re.compile(r"[,;&]|(?<=[^\W\d_])/(?=[^\W\d_]{3})|\b(?:and|or|und|oder|et|ou|y|o|e|en)\b")
_LABEL = re.compile(r"^.*:\s", re.DOTALL)
_PIECE = re.compile(r"[,;]\s")
_CLAUSE_END = re.compile(rf"[.!?](?=\s)|{_BREAK.pattern}")


@dataclass(frozen=True, slots=True)
class Correction:
    """One way to correct a claim."""

    edits: tuple[Edit, ...]


def corrections(
    claim: Claim, unit: Unit, answer: str, span: Span, context: Context
) -> list[Correction]:
    """Return ways to correct a claim, the likeliest first.

    Args:
        claim: As a report has it.
        unit: Where it stands.
        answer: The whole answer.
        span: The part of the unit that is the claim's.
        context: What it was checked against.
    """
    case = _Case(claim, unit, answer, span, context)
    found: dict[tuple[tuple[int, int, str], ...], Correction] = {}
    for correction in (*case.by_value(), *case.by_alignment(), *case.by_name()):
        key = tuple((edit.start, edit.end, edit.new) for edit in correction.edits)
        # what is not written otherwise is no correction
        if any(answer[start:end] != new for start, end, new in key) and case.settles(correction):
            found.setdefault(key, correction)
    return list(islice(found.values(), _MOST))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a claim's source: all of it, or a cell."""

    start: int
    """In the answer."""
    text: str
    beside: tuple[tuple[str, float], ...] = ()
    """Texts that tell what it is about, with what they weigh: a row's first cell, a header."""
    key: str = ""
    """What its row is about: the first cell, or of that one the others."""
    header: str = ""


class _Case:
    """One claim, with the sentences of the context that may say otherwise."""

    def __init__(self, claim: Claim, unit: Unit, answer: str, span: Span, context: Context) -> None:
        self._claim = claim
        self._answer = answer
        self._row = unit.kind == "row" and "|" in answer[slice(*span)]
        self._parts = list(_parts(unit, answer, span))
        self._context = context
        self._quoted = [s for e in claim.evidence for s in _holding(context, e)]
        selected = context.select(claim.text).sentences
        self._near = list(dict.fromkeys([*self._quoted, *selected]))[:_MOST_SENTENCES]
        self._elsewhere = find_values(answer[: span[0]] + " \n " + answer[span[1] :])

    def settles(self, correction: Correction) -> bool:
        """Say whether a correction leaves no other value beside it that the context does not give.

        Of "costs 5 euros in 1987" the price is not put right for a year that nobody names. What
        stands in its clause must be given with it, or be asked for.
        """
        if self._row:
            return True
        part = self._parts[0]
        stays = [
            value
            for value in _values_of(part)
            if not any(
                edit.start < part.start + value.start + len(value.text)
                and part.start + value.start < edit.end
                for edit in correction.edits
            )
        ]
        changed = [edit for edit in correction.edits if find_values(edit.new)]
        return all(
            self._is_given(value, sentences)
            for edit in changed
            for value in stays
            for sentences in [self._beside(edit)]
            if _clause(part.text, value) == self._clause_at(part, edit)
        )

    def _beside(self, edit: Edit) -> list[Sentence]:
        """Return the sentences that an edit comes from, and those that they take up."""
        own = [one for one in self._context.sentences if one.evidence() in edit.evidence]
        before = [self._context.before(one) for one in own if leans(one.text)]
        return [*own, *(one for one in before if one is not None)]

    def _is_given(self, value: Value, sentences: Iterable[Sentence]) -> bool:
        """Say whether a value stands in sentences, or in the question; "one" may be an article."""
        texts = [*(one.words for one in sentences), self._context.question or ""]
        return not any(map(str.isdigit, value.text)) or any(
            value.agrees(other) for text in texts for other in find_values(text)
        )

    @staticmethod
    def _clause_at(part: _Part, edit: Edit) -> str:
        at = edit.start - part.start
        before = [match.end() for match in _CLAUSE_END.finditer(part.text, 0, at)]
        after = _CLAUSE_END.search(part.text, edit.end - part.start)
        return part.text[before[-1] if before else 0 : after.start() if after else None]

    # -- values -------------------------------------------------------------------------------

    def by_value(self) -> Iterator[Correction]:
        """Yield corrections of the values that the context does not have."""
        mine = [(part, value) for part in self._parts for value in _values_of(part)]
        near = [(sentence, find_values(sentence.words)) for sentence in self._near]
        wrong = [
            (part, value)
            for part, value in mine
            if not any(value.agrees(other) for _, values in near for other in values)
        ]
        if not wrong and self._claim.label == "contradicted":
            # it stands in the context, but not there
            home = [find_values(sentence.words) for sentence in self._quoted[:1] or self._near[:1]]
            wrong = [
                (part, value)
                for part, value in mine
                if not any(value.agrees(other) for values in home for other in values)
            ]
        own = [value for _, value in mine]
        found = [self._rival(part, value, own) for part, value in wrong]
        # what stands clearly in the place of one does not stand in that of another
        taken = [value for edit in found if edit for value in find_values(edit.new)]
        if taken:
            found = [
                edit or self._rival(part, value, [*own, *taken])
                for edit, (part, value) in zip(found, wrong, strict=True)
            ]
        edits = [edit for edit in found if edit is not None]
        if not self._row:
            # a clause of which another value stays wrong would make another claim of this one
            left = {
                _clause(mine[0].text, mine[1])
                for mine, edit in zip(wrong, found, strict=True)
                if not edit
            }
            if left & {
                _clause(mine[0].text, mine[1])
                for mine, edit in zip(wrong, found, strict=True)
                if edit
            }:
                return
        # two values cannot both be the same one of the context
        if edits and len({edit.new for edit in edits}) == len(edits):
            yield Correction(tuple(edits))

    def _rival(self, part: _Part, value: Value, own: Sequence[Value]) -> Edit | None:
        """Return what stands in the place of a value in the context, if that can be told."""
        scores: dict[object, tuple[float, Sentence, Value]] = {}
        for sentence, rival in self._comparable(value, own, [*self._near, *self._beside_near()]):
            score = self._nearness(part, value, sentence, rival)
            if score > scores.get(rival.meaning, (0.0,))[0]:
                scores[rival.meaning] = score, sentence, rival
        ranked = sorted(scores.values(), key=lambda entry: -entry[0])
        if not ranked:
            # where nothing tells which one is meant: the one that is written alike, and that
            # nothing else in the answer says
            ranked = [
                (0.0, sentence, rival)
                for sentence, rival in self._comparable(value, own, self._context.sentences)
                if _alike(value.text, rival.text) >= _WRITTEN_ALIKE and not self._is_told(rival)
            ]
            if len({rival.meaning for _, _, rival in ranked}) != 1:
                return None
        elif len(ranked) > 1 and ranked[0][0] < _CLEARLY * ranked[1][0]:
            return None
        _, sentence, rival = ranked[0]
        if not self._is_of(part, sentence, value, rival):
            return None
        new = _in_style(value, rival)
        if value.family == "clock" and any(one.text != value.text for one in own):
            new = _hour_in_style(value.text, rival.text)  # as the other hours beside it
        if rival.start == 0 and rival.family in ("number", "clock") and new[1:2].islower():
            new = new[:1].lower() + new[1:]  # "Fifteen", at the beginning of a sentence
        return self._edit(part, value.start, value.text, sentence, rival.start, new)

    def _is_of(self, part: _Part, sentence: Sentence, value: Value, rival: Value) -> bool:
        """Say whether a sentence gives a rival of what a value is given of.

        A price of adults is none of children: each word of the value's clause, or of its row's
        key, must stand in the sentence, or in the one before it that it takes up.
        """
        if self._row:
            if _words(part.key) <= _MEASURES and sorted(value.text) == sorted(rival.text):
                return True  # "Height | 1420 metres", of what "stands at 1240 metres"
            return self._names_key(part, sentence) and self._is_in_column(part, sentence, rival)
        words = _words(_clause(part.text, value)) - set(analyse(value.text).words)
        if not words <= self._held(sentence):
            return False
        return self._is_of_all(_joined(part.text, value), sentence, rival)

    def _is_of_all(self, joined: Iterable[str], sentence: Sentence, rival: Value) -> bool:
        """Say whether the context gives a value of each of what is joined."""
        near = dict.fromkeys([sentence, *self._near])
        keys = [_words(text) | analyse(text).hidden for text in joined]
        return all(any(_gives(other, words, rival) for other in near) for words in keys if words)

    def _held(self, sentence: Sentence) -> set[str]:
        """Return the keys of what a sentence is about."""
        held = {*sentence.terms.words, *sentence.terms.labels, *sentence.terms.hidden}
        if leans(sentence.text) and (before := self._context.before(sentence)) is not None:
            held |= {*before.terms.words}
        return held

    def _names_key(self, part: _Part, sentence: Sentence) -> bool:
        """Say whether a sentence names all of what a row is about."""
        key, held = analyse(part.key), self._held(sentence)
        before = self._context.before(sentence)
        said = {*before.terms.words} if before is not None else set[str]()
        there = find_values(sentence.words)
        return all(
            word in held or (word in said and _takes_up(word, held)) for word in set(key.words)
        ) and all(any(value.agrees(other) for other in there) for value in key.values)

    def _is_in_column(self, part: _Part, sentence: Sentence, rival: Value) -> bool:
        """Say whether a sentence gives a value under a column's name, or says no more of it.

        "Rye costs 4 francs" is a price; "Infants must not take 9 mg of caffeine" is no dose.
        """
        header = _words(part.header)
        if header & {*sentence.terms.words, *sentence.terms.labels}:
            return True
        own = header.union(_words(part.key), *(_words(other.text) for other in self._parts))
        clause = _LABEL.sub("", _clause(sentence.text, rival))
        more = {
            word
            for word in _words(clause) - own - set(analyse(rival.text).words)
            if not any(_takes_up(key, {word}) for key in own)
        }
        return len(more) <= 1

    def _is_told(self, value: Value) -> bool:
        """Say whether the answer says a value elsewhere."""
        return any(value.agrees(other) for other in self._elsewhere)

    def _comparable(
        self, value: Value, own: Sequence[Value], sentences: Sequence[Sentence]
    ) -> Iterator[tuple[Sentence, Value]]:
        for sentence in dict.fromkeys(sentences):
            for rival in find_values(sentence.text):
                usable = rival.text.isprintable() and _same_measure(value, rival)
                if usable and not any(one.agrees(rival) for one in own):
                    yield sentence, rival

    def _beside_near(self) -> Iterator[Sentence]:
        """Yield the sentences beside the best ones: "It costs 60 euros" after its subject."""
        places = {sentence: place for place, sentence in enumerate(self._context.sentences)}
        for sentence in self._near[:2]:
            for place in (places[sentence] + 1, places[sentence] - 1):
                if 0 <= place < len(self._context.sentences):
                    other = self._context.sentences[place]
                    if other.passage == sentence.passage:
                        yield other

    def _nearness(self, part: _Part, value: Value, sentence: Sentence, rival: Value) -> float:
        """Return how much of what stands around a value stands around its rival."""
        weights = dict[str, float]()
        for key, distance in _around(part.text, value.start, value.start + len(value.text)):
            weights[key] = max(weights.get(key, 0.0), 1.0 / (1 + abs(distance)))
        for text, weight in part.beside:
            weights |= {key: max(weights.get(key, 0.0), weight) for key in analyse(text).words}
        for key in analyse(self._claim.text).words:
            weights.setdefault(key, 0.1)
        score = 0.3 if sentence in self._quoted else 0.0
        seen = set[str]()
        close = sorted(
            _around(sentence.text, rival.start, rival.start + len(rival.text)),
            key=lambda entry: abs(entry[1]),
        )
        for key, distance in close:
            if key in weights and key not in seen:
                seen.add(key)
                # what a value belongs to mostly stands before it
                score += weights[key] / (1 + abs(distance) * (1.0 if distance < 0 else 1.5))
        score += 0.02 * _alike(value.text, rival.text)
        # a value that the answer has elsewhere mostly belongs there
        return score * (_TOLD if self._is_told(rival) else 1.0)

    # -- alignment ----------------------------------------------------------------------------

    def by_alignment(self) -> Iterator[Correction]:
        """Yield corrections by sentences that say the same but for a few words."""
        if self._row:
            return
        part = self._parts[0]
        scored = [
            (correction, share)
            for sentence in self._near
            if (found := self._aligned(part, sentence)) is not None
            for correction, share in [found]
        ]
        for correction, _ in sorted(scored, key=lambda entry: -entry[1]):
            yield correction

    def _aligned(self, part: _Part, sentence: Sentence) -> tuple[Correction, float] | None:
        mine = list(_TOKEN.finditer(part.text))
        theirs = list(_TOKEN.finditer(sentence.text))
        matcher = SequenceMatcher(
            None,
            [match[0].casefold() for match in mine],
            [match[0].casefold() for match in theirs],
            autojunk=False,
        )
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        words = sum(has_words(match[0]) for match in mine)
        held = sum(has_words(match[0]) for b in blocks for match in mine[b.a : b.a + b.size])
        if not words or held / words < _ALIKE:
            return None
        edits = self._exchanged(part, sentence, mine, theirs, blocks)
        return (Correction(tuple(edits)), held / words) if edits else None

    def _exchanged(
        self,
        part: _Part,
        sentence: Sentence,
        mine: list[re.Match[str]],
        theirs: list[re.Match[str]],
        blocks: Sequence[Match],
    ) -> list[Edit]:
        """Return what puts the sentence's words in the place of the claim's, where they differ.

        Nothing if the claim says more than the sentence does.
        """
        edits: list[Edit] = []
        ends = [(0, 0, 0), *blocks, (len(mine), len(theirs), 0)]
        for number, ((a, b, size), (c, d, _)) in enumerate(pairwise(ends)):
            own, other = mine[a + size : c], theirs[b + size : d]
            if number == 0 and len(other) > len(own):
                other = other[len(other) - len(own) :]  # it starts in the middle of theirs
            if number == len(ends) - 2:
                own, other = _without_marks(own), _until_mark(other)
            old = part.text[own[0].start() : own[-1].end()] if own else ""
            if not _says_something(old):
                continue
            new = sentence.text[other[0].start() : other[-1].end()] if other else ""
            most = max(len(own), len(other))
            if _is_subject(part.text, own[0].start(), old):
                return []
            if most > _LONGEST_RUN or _MARK_UP.search(old) or not _can_stand(new):
                return []
            if not self._may_exchange(part, own[0].start(), old, sentence, other[0].start(), new):
                return []
            edits.append(self._edit(part, own[0].start(), old, sentence, other[0].start(), new))
        return edits

    def _may_exchange(
        self, part: _Part, at: int, old: str, sentence: Sentence, start: int, new: str
    ) -> bool:
        """Say whether a value in words that are exchanged is said of all that it was said of."""
        values = [value for value in _values_of(part) if at <= value.start < at + len(old)]
        rivals = [
            value for value in find_values(sentence.text) if start <= value.start < start + len(new)
        ]
        joined = [text for value in values for text in _joined(part.text, value)]
        return all(self._is_of_all(joined, sentence, rival) for rival in rivals)

    def _edit(
        self, part: _Part, at: int, old: str, sentence: Sentence, start: int, new: str
    ) -> Edit:
        """Return the edit that puts words of a sentence into a part, in the case of their place."""
        if start == 0 and old[:1].islower():
            new = new[:1].lower() + new[1:]
        elif at == 0 and old[:1].isupper():
            new = new[:1].upper() + new[1:]
        if new[:1] in ",;:":
            blank = len(part.text[:at]) - len(part.text[:at].rstrip())
            at, old = at - blank, part.text[at - blank : at] + old  # no space before a comma
        # the stop of "8 pm." may be that of the sentence, too
        after = part.text[at + len(old) :]
        if old.endswith(".") and not new.endswith(".") and not after.strip():
            old = old[:-1]
        elif new.endswith(".") and after.startswith("."):
            new = new[:-1]
        return Edit(part.start + at, part.start + at + len(old), new, (sentence.evidence(),))

    # -- names --------------------------------------------------------------------------------

    def by_name(self) -> Iterator[Correction]:
        """Yield corrections of a cell's name by names that stand near the row's own words."""
        if not self._row:
            return
        said = " ".join(sentence.text for sentence in self._near).casefold()
        for part in self._parts:
            text = part.text.strip()
            if not part.beside or not _NAME.fullmatch(text) or text.casefold() in said:
                continue
            if not set(analyse(part.beside[0][0]).words) & set(analyse(said).words):
                continue  # nothing is said of what the row is about
            at = part.start + part.text.index(text)
            named = [entry for entry in self._names(part, text) if self._names_key(part, entry[2])]
            ranked = sorted(named, reverse=True, key=lambda entry: entry[0])
            if not ranked or (len(ranked) > 1 and ranked[0][0] < _CLEARLY * ranked[1][0]):
                continue
            _, name, sentence = ranked[0]
            yield Correction((Edit(at, at + len(text), name, (sentence.evidence(),)),))

    def _names(self, part: _Part, text: str) -> Iterator[tuple[float, str, Sentence]]:
        keys = {key: weight for words, weight in part.beside for key in analyse(words).words}
        for sentence in self._near:
            for match in _NAME.finditer(sentence.text):
                if match[0] in self._answer:
                    continue
                score = sum(
                    keys.get(key, 0.0) / (1 + abs(distance))
                    for key, distance in _around(sentence.text, *match.span())
                )
                same = len(match[0].split()) == len(text.split())
                yield score + 0.5 * same, match[0], sentence


def _parts(unit: Unit, answer: str, span: Span) -> Iterator[_Part]:
    source = answer[slice(*span)]
    if unit.kind != "row" or "|" not in source:
        yield _Part(span[0], source)
        return
    cells: list[tuple[int, str]] = []
    at = 0
    for match in [*_CELL.finditer(source), None]:
        end = match.start() if match else len(source)
        if at or source[at:end].strip():
            cells.append((span[0] + at, source[at:end]))
        at = match.end() if match else end
    for column, (start, text) in enumerate(cells):
        if not has_words(text):
            continue
        header = unit.header[column] if column < len(unit.header) else ""
        beside = ((cells[0][1], 1.0), (header, 0.6)) if column else ()
        key = cells[0][1] if column else " ".join(cell for _, cell in cells[1:])
        yield _Part(start, text, beside, key, header)


def _words(text: str) -> set[str]:
    return {key for key in analyse(text).words if len(key) > _SHORT}


def _takes_up(word: str, held: set[str]) -> bool:
    """Say whether a sentence takes a compound up by its last part: "Der Kurs"."""
    return any(len(other) > _SHORT and word.endswith(other) for other in held)


def _clause(text: str, value: Value) -> str:
    """Return what stands around a value in a text, from one comma or "and" to the next."""
    before = [match.end() for match in _CLAUSE_END.finditer(text, 0, value.start)]
    after = _CLAUSE_END.search(text, value.start + len(value.text))
    return text[before[-1] if before else 0 : after.start() if after else len(text)]


def _joined(text: str, value: Value, *, sure: bool = False) -> list[str]:
    """Return what is joined to a value's clause and has no verb or amount of its own.

    Of "Towels and robes cost 9 euros" the towels: what is said there is said of them too. What is
    `sure` does not stand between two values.
    """
    ends = [match.span() for match in _CLAUSE_END.finditer(text)]
    before = [span for span in ends if span[1] <= value.start]
    after = [span for span in ends if span[0] >= value.start + len(value.text)]
    found: list[str] = []
    for run in (
        [text[a[1] : b[0]] for a, b in pairwise([(0, 0), *before])][::-1],
        [text[a[1] : b[0]] for a, b in pairwise([*after, (len(text), len(text))])],
    ):
        own = list(takewhile(_is_bare, run))
        between = len(own) < len(run) and _amounts(run[len(own)])
        found += [] if sure and between else own
    return found


def _is_bare(piece: str) -> bool:
    return not (has_verb(piece) or leans(piece) or _amounts(piece))


def _amounts(text: str) -> bool:
    return any(value.family != "days" for value in find_values(text))


def _gives(sentence: Sentence, words: set[str], value: Value) -> bool:
    """Say whether a sentence gives a value of something, by its words."""
    text = sentence.words
    pieces = [text] if _has_one(text, value) else _PIECE.split(text)
    said = [piece for piece in pieces if _has_one(piece, value)]
    if not _has_one(text, value):
        said += [
            " ".join([_clause(text, other), *_joined(text, other, sure=True)])
            for other in _like(text, value)
            if value.agrees(other)
        ]
    return any(words <= _words(piece) | analyse(piece).hidden for piece in said)


def _has_one(text: str, value: Value) -> bool:
    """Say whether a value is the only one of its measure in a text."""
    like = _like(text, value)
    return bool(like) and all(value.agrees(other) for other in like)


def _like(text: str, value: Value) -> list[Value]:
    """Return the values of a text that could stand in the place of one."""
    return [other for other in find_values(text) if _same_measure(value, other)]


def _values_of(part: _Part) -> tuple[Value, ...]:
    """Return the values of a part; the number of a citation is none."""
    return find_values(CITATION.sub(lambda match: " " * len(match[0]), part.text))


def _same_measure(one: Value, other: Value) -> bool:
    """Say whether a value can stand in the place of another: 15 EUR for 25 CHF, but not 9 cm."""
    if one.family != "number" or other.family != "number":
        return one.comparable(other)
    units = {one.unit, other.unit}
    return len(units) == 1 or units <= _COUNTING or all(map(_CURRENCY.fullmatch, units))


def _in_style(value: Value, rival: Value) -> str:
    """Return how a rival is written where a value stands: "129 euros" as "€129" in place of "€149".

    Only of one currency, with its sign or code on one side: what is counted has its own plural.
    """
    if value.unit != rival.unit or not _CURRENCY.fullmatch(value.unit):
        return rival.text
    mine, theirs = _AMOUNT.fullmatch(value.text), _AMOUNT.fullmatch(rival.text)
    if mine is None or theirs is None:
        return rival.text
    signs = [match["before"] + match["after"] for match in (mine, theirs)]
    if all(map(_is_word, signs)) or (_is_word(signs[0]) and "1" in (mine["n"], theirs["n"])):
        return rival.text
    return f"{mine['before']}{theirs['n']}{mine['after']}"


def _hour_in_style(mine: str, theirs: str) -> str:
    """Return an hour of a passage as the answer writes its own: "13:00" for "3 pm" as "1 pm"."""
    own, other = _HOUR.fullmatch(mine), _HOUR.fullmatch(theirs)
    if own is None or other is None or bool(own["half"]) == bool(other["half"]):
        return theirs
    hour, minutes = int(other["hour"]), other["minutes"] or "00"
    if own["half"]:
        if not other["minutes"] or hour > _LAST_HOUR:
            return theirs
        half = "p" if hour >= _NOON else "a"
        letter = half.upper() if own["half"][0].isupper() else half
        said = str(hour % _NOON or _NOON) + ("" if minutes == "00" else f":{minutes}")
        return said + own["gap"] + letter + own["half"][1:]
    if not own["minutes"] or hour > _NOON:
        return theirs
    hour = hour % _NOON + (_NOON if other["half"][0] in "pP" else 0)
    return f"{hour:02}:{minutes}" if own["hour"].startswith("0") else f"{hour}:{minutes}"


def _is_word(sign: str) -> bool:
    """Whether a currency is written out: "euros", and neither "€" nor "EUR"."""
    return sign.strip().isalpha() and not sign.strip().isupper()


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _holding(context: Context, evidence: Evidence) -> Iterator[Sentence]:
    """Yield the sentences in which an evidence stands."""
    for sentence in context.sentences:
        if (
            sentence.passage == evidence.passage
            and sentence.start < evidence.end
            and evidence.start < sentence.end
        ):
            yield sentence


def _around(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the keys of a text's words with how many words they are from a stretch of it.

    Words before it have negative distances; what divides a list is as far as three words.
    """
    terms = analyse(text)
    for key, at in zip(terms.words, terms.starts, strict=True):
        if start <= at < end:
            continue
        between = text[at:start] if at < start else text[end:at]
        words = len(between.split()) if between.strip() else 0
        distance = max(1, words) + 3 * len(_BREAK.findall(between))
        yield key, -distance if at < start else distance


def _is_subject(text: str, at: int, run: str) -> bool:
    """Say whether words name what a sentence is about: they stand before its verb or colon.

    A price of parking is no price of the pets that the sentence speaks of. A value there is none,
    nor the name behind what it is: of "the band Iron Pony plays" the band.
    """
    verb, label = verb_at(text), _LABEL.match(text)
    ends = [found for found in (verb and verb.start(), label and label.end()) if found is not None]
    values = {key for value in find_values(run) for key in analyse(value.text).words}
    if not ends or at >= min(ends) or set(analyse(run).words) <= values:
        return False
    apposed = _NAME.fullmatch(run) and _NOUN_BEFORE.search(text, 0, at)
    return not (apposed and verb and not text[at + len(run) : verb.start()].strip())


def _says_something(run: str) -> bool:
    """Say whether a run of words is more than "it" and "the"."""
    terms = analyse(run)
    return bool(terms.words or terms.values)


def _can_stand(run: str) -> bool:
    """Say whether a run of a passage's words can be put into an answer."""
    return _says_something(run) and run.isprintable() and not _MARK_UP.search(run)


def _without_marks(run: list[re.Match[str]]) -> list[re.Match[str]]:
    while run and not has_words(run[-1][0]):
        run = run[:-1]
    return run


def _until_mark(run: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return a run up to where its clause ends."""
    for place, match in enumerate(run):
        if not has_words(match[0]) or _BREAK.fullmatch(match[0]):
            return run[:place]
    return run
