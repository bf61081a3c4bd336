"""One cell for calls of any kind. In: a row that can be played, and a column. Out: what is wrong.

The same three runs as in `cells`. A row is played with a script for its model, with a guard or
without one, and gives an `Outcome`: all that the caller, its events, its memory and the next turn
of the talk can show. The columns know `repair` and streams that release claim by claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from faithguard import UnfaithfulAnswerError

from .cells import BLOCK, BLOCK_WITH_FALLBACK, REGENERATE, REGENERATE_IN_VAIN, Column
from .llama_ways import texts_in
from .scene import BAD, FALLBACK, GOOD, LIE, TRUE, Script, faithful, improving, leaks, unfaithful
from .ways import Kept, Received

PRICE = GOOD.removeprefix(f"{TRUE} ")
WRONG_PRICE = PRICE.replace("6", "9")
"""No passage knows a price of 9 euros."""
LIE_FIRST = f"{LIE} {TRUE}"
LIE_BETWEEN = f"{TRUE} {LIE} {PRICE}"
OVERPRICED = f"{TRUE} {WRONG_PRICE}"


def lying_first(question: str, feedback: bool) -> str:
    """Begin with the invented sentence, and be faithful once told so."""
    return GOOD if feedback else LIE_FIRST


def lying_between(question: str, feedback: bool) -> str:
    """Put the invented sentence between two true ones."""
    return LIE_BETWEEN


def lying_only(question: str, feedback: bool) -> str:
    """Say the invented sentence and nothing else."""
    return LIE


def overpriced(question: str, feedback: bool) -> str:
    """Name a wrong price after a true sentence."""
    return OVERPRICED


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Column):
    """A column whose answer may come in more than one form."""

    before: str = ""
    """What was released before the bad claim, and stays."""
    or_else: str | None = None
    """Another text that is as good as `due`."""


REPAIR = Case(name="repair", options={"on_fail": "repair"}, due=TRUE, attempts=1)
REPAIR_BETWEEN = Case(
    name="repair, between",
    options={"on_fail": "repair"},
    script=lying_between,
    due=GOOD,
    attempts=1,
)
REPAIR_PRICE = Case(
    name="repair, price",
    options={"on_fail": "repair"},
    script=overpriced,
    due=GOOD,
    or_else=TRUE,
    attempts=1,
)
REPAIR_IN_VAIN = Case(
    name="repair in vain",
    options={"on_fail": "repair", "fallback": FALLBACK},
    script=lying_only,
    due=FALLBACK,
    attempts=1,
)
BLOCKING = (BLOCK, BLOCK_WITH_FALLBACK)
WHOLE = (*BLOCKING, REGENERATE, REGENERATE_IN_VAIN)
REPAIRING = (REPAIR, REPAIR_BETWEEN, REPAIR_PRICE, REPAIR_IN_VAIN)
ANSWERS = (*WHOLE, *REPAIRING)
"""The columns of a guard that holds the whole answer."""


def by_claim(name: str, **fields: Any) -> Case:
    """Make a column of a stream that is released claim by claim."""
    options = {"stream": "claims", **fields.pop("options")}
    return Case(
        name=f"claims: {name}", options=options, attempts=fields.pop("attempts", 1), **fields
    )


CLAIMS = (
    by_claim("block", options={"on_fail": "block"}, before=TRUE, due=None),
    by_claim(
        "block, fallback",
        options={"on_fail": "block", "fallback": FALLBACK},
        before=TRUE,
        due=FALLBACK,
    ),
    by_claim(
        "regenerate",
        options={"on_fail": "regenerate", "max_attempts": 2},
        script=lying_first,
        due=GOOD,
        attempts=2,
    ),
    by_claim(
        "regenerate, too late",
        options={"on_fail": "regenerate", "max_attempts": 2, "fallback": FALLBACK},
        script=improving,
        before=TRUE,
        due=FALLBACK,
    ),
    by_claim("repair", options={"on_fail": "repair"}, due=TRUE),
    by_claim("repair, between", options={"on_fail": "repair"}, script=lying_between, due=GOOD),
    by_claim(
        "repair, price",
        options={"on_fail": "repair"},
        script=overpriced,
        due=GOOD,
        or_else=TRUE,
    ),
)
"""The columns of a guard that releases claim by claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that came of one question, and of the one after it."""

    pieces: tuple[Any, ...] = ()
    """Everything in the caller's hands after the question, exceptions included."""
    answers: tuple[str, ...] = ()
    kept: tuple[Any, ...] = ()
    """What stays behind: memory, context, store."""
    asked: int = 0
    """How often the model was asked for the question."""
    later: tuple[str, ...] = ()
    """What the model was sent on the next turn."""
    next_answers: tuple[str, ...] = ()
    streamed: str = ""
    """What events streamed beside the answer."""

    @property
    def errors(self) -> tuple[Exception, ...]:
        """The exceptions among the pieces."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Exception))

    @property
    def text(self) -> str:
        """Everything in the caller's hands, written out."""
        return "\n".join((*map(shown, self.pieces), *self.answers, self.streamed))


def of_received(received: Received, **fields: Any) -> Outcome:
    """Make an outcome of what a way of calling received; what is kept is looked at apart."""
    return Outcome(
        pieces=tuple(piece for piece in received.pieces if not isinstance(piece, Kept)),
        answers=received.answers,
        kept=received.kept,
        **fields,
    )


def shown(piece: Any) -> str:
    """Write out all that can be read in a piece."""
    return f"{' '.join(texts_in(piece))} {piece!r}"


def spoilt(text: str) -> tuple[str, ...]:
    """Return what of the bad answers stands in a text, written or as JSON."""
    price = ("9 euros",) if re.search(r"\b9 euros", text) else ()
    return (*leaks(text), *price)


NOTE = {
    "passed",
    "action",
    "level",
    "domain",
    "attempts",
    "score",
    "supported",
    "total",
    "reason",
}
"""The keys of the note of a decision."""


@dataclass(frozen=True, slots=True)
class Named:
    """A way or a shape, for the table."""

    name: str


Play = Callable[[Script, Mapping[str, Any] | None], Outcome]
"""From the script of the model and the settings of the guard (None: no guard) to what came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A way of calling, and how to play it."""

    way: Named
    shape: Named
    play: Play
    columns: Sequence[Column] = field(default=ANSWERS, hash=False)
    talks_on: bool = True
    """Whether a bad answer shows in what the model is sent on a next turn."""
    by_piece: bool = True
    """Whether the caller reads a stream piece by piece, and keeps what came before an error."""
    one_call: bool = True
    """Whether the host asks the model once more, and not more often, for each new attempt."""

    @property
    def name(self) -> str:
        """Name way and shape."""
        return f"{self.way.name} | {self.shape.name}"


@cache
def unguarded(row: Row, script: Script) -> Outcome:
    """Play a row without a guard; the same for every column."""
    return row.play(script, None)


def columns_of(row: Row) -> Sequence[Column]:
    """Return the columns that apply to a row."""
    return row.columns


def wrong(row: Row, column: Column) -> Iterator[str]:
    """Say what is wrong with a cell, run by run; a good cell yields nothing."""
    yield from (f"unguarded: {fault}" for fault in shows(row, column.script))
    yield from (f"bad answer: {fault}" for fault in leaked(row, column))
    yield from (f"faithful answer: {fault}" for fault in changed(row, column))


def blind(row: Row) -> Iterator[str]:
    """Check that this way of calling shows each bad answer when nobody guards it."""
    for script in dict.fromkeys((unfaithful, improving, *(c.script for c in row.columns))):
        yield from (f"{script.__name__}: {fault}" for fault in shows(row, script))
    plain = unguarded(row, faithful)
    if plain.errors or set(plain.answers) != {GOOD} or spoilt(plain.text):
        yield f"no faithful answer without a guard: {plain.answers!r} {plain.errors!r}"


def shows(row: Row, script: Script) -> Iterator[str]:
    """Check that a bad answer gets everywhere without a guard."""
    plain = unguarded(row, script)
    if plain.errors:
        yield f"raised {plain.errors[0]!r}"
    if not spoilt(plain.text):
        yield "the marker is in nothing the caller received"
    if not any(map(spoilt, plain.answers)):
        yield f"the marker is not in the answers {plain.answers!r}"
    if not all(spoilt(shown(kept)) for kept in plain.kept):
        yield "the marker is not in what stays behind"
    if row.talks_on and not any(map(spoilt, plain.later)):
        yield "the marker is in nothing that the model is sent on the next turn"


def leaked(row: Row, column: Column) -> Iterator[str]:
    """Check that no part of a bad answer gets out, and that what is due comes."""
    got, plain = row.play(column.script, column.options), unguarded(row, column.script)
    if markers := spoilt(got.text):
        places = dict.fromkeys(type(p).__name__ for p in got.pieces if spoilt(shown(p)))
        yield f"{', '.join(markers)} reached the caller in {', '.join(places)}"
    for kept in got.kept:
        if markers := spoilt(shown(kept)):
            yield f"{', '.join(markers)} stayed behind in {type(kept).__name__}"
    for sent in got.later:
        if markers := spoilt(sent):
            yield f"{', '.join(markers)} was sent to the model on the next turn"
    yield from _not_due(row, column, got)
    if got.next_answers != plain.next_answers:
        yield f"the next turn gave {got.next_answers!r}, not {plain.next_answers!r}"
    most = plain.asked + column.attempts - 1
    if row.one_call and got.asked != most:
        yield f"the model was asked {got.asked} times, not {most}"
    if column.attempts > 1 and got.asked <= plain.asked:
        yield f"the model was not asked again: {got.asked} times"


def _not_due(row: Row, column: Column, got: Outcome) -> Iterator[str]:
    before = column.before if isinstance(column, Case) else ""
    if column.due is None:
        if not got.errors:
            yield "no exception reached the caller"
        for error in got.errors:
            if not isinstance(error, UnfaithfulAnswerError):
                yield f"{error!r} instead of UnfaithfulAnswerError"
        if set(map(_even, got.answers)) - {"", before}:
            yield f"beside the exception came {got.answers!r}, not {before!r}"
        if before and row.by_piece and before not in map(_even, got.answers):
            yield f"{before!r} had passed and was not released: {got.answers!r}"
        return
    if got.errors:
        yield f"raised {got.errors[0]!r}"
    other = column.or_else if isinstance(column, Case) else None
    plain = unguarded(row, column.script).answers
    if len(got.answers) != len(plain):
        yield f"{len(got.answers)} answers, not {len(plain)}: {got.answers!r}"
    for answer, bad in zip(got.answers, plain, strict=False):
        wanted = {_even(f"{before} {due}") for due in (column.due, other) if due}
        if _even(answer) not in (wanted if spoilt(bad) else {GOOD}):
            yield f"due was one of {wanted!r}, not {answer!r}"


def _even(text: str) -> str:
    """Make all white space alike; how a repaired text is spaced is examined elsewhere."""
    return " ".join(text.split())


def changed(row: Row, column: Column) -> Iterator[str]:
    """Check that a faithful answer arrives byte for byte, at the same cost."""
    got, plain = row.play(faithful, column.options), unguarded(row, faithful)
    if got.errors:
        yield f"raised {got.errors[0]!r}"
    for what in ("answers", "streamed", "next_answers", "asked", "later"):
        if getattr(got, what) != getattr(plain, what):
            yield f"{what}: {getattr(got, what)!r} instead of {getattr(plain, what)!r}"


assert all(map(spoilt, (BAD, LIE_FIRST, LIE_BETWEEN, LIE, OVERPRICED)))
assert not any(map(spoilt, (GOOD, TRUE, FALLBACK)))
