"""The cells of an answer's table that say yes or no.

In: the scene of a claim such as "Plan: Basic; SSO: no; Backup: ✓". Out: a veto where a table of the
context, or a sentence, says the other of that row and column, or where nothing speaks of both; else
silence. What a table says by its place, "SSO" and "no" in the row of "Basic", is in no word of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from faithguard._denied import is_negative
from faithguard.types import Verdict
from faithguard.verifiers.rules._reading import Reading, read
from faithguard.verifiers.rules._scene import Scene, contradiction, unmentioned
from faithguard.verifiers.rules._small_words import EACH
from faithguard.verifiers.rules._tables import Cell, Table

__all__ = ["Ticked", "ticked", "wrongly_ticked"]

_ABSENT = frozenset(("–", "-", "—"))
"""What may also stand where nothing is known."""
_EITHER = frozenset(("x", ""))
"""A tick to some, a cross to others."""
_OTHERWISE = frozenset("unlike instead except whereas".split())
_MOST = 400
"""Sentences that are looked at."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a cell says."""

    row: frozenset[str]
    column: Reading
    cell: Cell
    said: bool


def wrongly_ticked(scene: Scene, name: str) -> Verdict | None:
    """Veto a yes or a no that the context contradicts, or of which it says nothing."""
    for one in ticked(scene.claim.text):
        told = dict(_told(scene, one))
        if one.said in told:
            continue
        if told:
            reason = f"the context says {'no' if one.said else 'yes'} to {one.column.text!r} there"
            return contradiction(scene, name, reason, scene.at(told[not one.said]))
        if one.cell.text not in _ABSENT:
            reason = f"the context does not say whether {one.column.text!r} is so there"
            return unmentioned(scene, name, reason)
    return None


def ticked(text: str) -> Iterator[Ticked]:
    """Yield what a row, or a field, says yes or no to: the cells of a claim's text.

    The first cell of a row names it; of "Basic: SSO: no" the first word does, of "SSO: no" nothing.
    """
    parts = [part.rpartition(": ") for part in text.rstrip(".").split("; ")]
    if "?" in text or not all(mark for _, mark, _ in parts):
        return
    if len(parts) == 1:
        label, _, column = parts[0][0].rpartition(": ")
        parts = [(column, ": ", parts[0][2])]
    else:
        label = parts.pop(0)[2]
        if not _names_row(label):
            return
    row = read(label)
    for column, _, value in parts:
        cell = Cell(value.strip(), read(value))
        head = read(column)
        if cell.truth is not None and cell.text.lower() not in _EITHER and head.keys:
            yield Ticked(row.keys, head, cell, cell.truth)


def _names_row(label: str) -> bool:
    """Whether the first cell of a row names it, and says neither yes nor no."""
    row = read(label)
    return bool(row.keys) and Cell(label, row).truth is None


def _told(scene: Scene, one: Ticked) -> Iterator[tuple[bool, int]]:
    """Yield what the context says of the row and the column, with the sentence that does."""
    for table in scene.pages.tables:
        yield from _in_table(table, one)
    holders = {n for key in one.column.keys for n in scene.pages.holders(key)}
    for number in sorted(holders)[:_MOST]:
        reading = scene.all[number]
        keys = reading.keys | scene.pages.inherited(number)
        if reading.row or not one.column.keys <= keys:
            continue
        words = {token.lower for token in reading.tokens}
        here = one.row <= keys
        if "only" in words and not here:
            yield False, number
        elif here or not words.isdisjoint(EACH):
            said = _polarity(reading, one, words)
            if said is not None:
                yield said, number


def _in_table(table: Table, one: Ticked) -> Iterator[tuple[bool, int]]:
    heads = table.header
    for number, cells in table.rows:
        for place in range(1, min(len(cells), len(heads))):
            label, head = cells[0].reading.keys, heads[place].keys
            straight = _is(label, one.row) and _is(head, one.column.keys)
            turned = _is(label, one.column.keys) and _is(head, one.row)
            if straight or turned:
                said = cells[place].truth
                yield one.said if said is None else said, number


def _is(label: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether one of two labels says all of the other."""
    return bool(label) and (label <= wanted or wanted <= label)


def _polarity(reading: Reading, one: Ticked, words: set[str]) -> bool | None:
    """Return whether a sentence says it of the row; None if that is not plain."""
    if not words.isdisjoint(_OTHERWISE):
        return None
    if reading.is_field:
        truth = Cell(value := reading.text.partition(":")[2].strip(" ."), read(value)).truth
        if truth is not None:
            return truth
    bearing = [c for c in reading.clauses if c.keys & one.column.keys or c.keys & one.row]
    return not any(is_negative(t.lower) for clause in bearing for t in reading.words(clause))
