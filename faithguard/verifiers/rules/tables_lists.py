"""Tables and lists: the cell that an answer reads, and the items that it adds to a list.

In: a claim and its context. Out: a veto where the claim names a row and a column of a table
(markdown, CSV) or a key of "key: value" lines and gives it what stands in another, and where one
item of its list is nowhere in a context that holds the others; else silence.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from faithguard._verbs import base_of
from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._cells import ticked, wrongly_ticked
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._reading import Clause, Reading, Token, read
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of, unmentioned
from faithguard.verifiers.rules._table_order import not_the_extreme, other_trend
from faithguard.verifiers.rules._tables import Group, Table

__all__ = ["TablesLists"]

_MOST_ROWS = 12
_MOST_TABLES = 8
"""Tables that are all looked at; of more only those with a row near to the claim."""
_MOST_GROUPS = 60
"""Lists; among more of them one item stands in another by chance."""
_FEWEST_ITEMS = 3
_LONGEST_ITEM = 8
"""Words."""
_ADDING = frozenset("as for because chiefly mainly mostly partly largely".split())
_OPENING = frozenset(
    "when if before after while once as since unless until at in on for with".split()
)
"""What opens a phrase that a comma ends, and no list."""
_ASKING = frozenset("which what who whether".split())
_NO_ITEM = frozenset(
    "is are was were be been has have had do does did can could may might must will would shall"
    " should gets became made from with in by to at on than either both because".split()
)


class TablesLists(Family):
    """Veto a value from another cell, and an item that the list has not."""

    name = "tables_lists@5"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where the table or list agrees or is not clear."""
        scene = scene_of(claim, context)
        return (
            wrongly_ticked(scene, self.name)
            or _wrong_row(scene, self.name)
            or _wrong_cell(scene, self.name)
            or _wrong_group(scene, self.name)
            or _unticked(scene, self.name)
            or _wrong_key(scene, self.name)
            or _added(scene, self.name)
        )


# -- rows -------------------------------------------------------------------------------------

_DENIED = frozenset(
    "not no never without neither nor none except unlike instead lacks lack than only different"
    " nicht kein keine keinen ohne außer pas ne sans sauf aucun sin ningún ninguna non senza sem"
    " não 不 没有 無 なし ない".split()
)
_ALL = frozenset("all every each both alle tous toutes todos todas tutti tutte".split())
_NEVER = "不没無无ない"


def _denies(reading: Reading) -> bool:
    return _text_denies(reading.text)


@lru_cache(maxsize=4_096)
def _text_denies(text: str) -> bool:
    reading = read(text)
    return any(
        token.lower in _DENIED or token.lower.endswith("n't") for token in reading.tokens
    ) or any(mark in reading.text for mark in _NEVER)


def _said(cell: Reading, claim: Reading) -> bool:
    """Whether a claim says all that a cell holds."""
    # of a plain cell the keys of its tokens are all its keys
    if not cell.keys <= claim.keys or not (cell.keys or cell.values):
        return False
    if _denies(cell) and not _denies(claim):
        return False
    if cell.keys and not cell.values:
        words = {token.lower for token in cell.tokens if token.key}
        if len(words) == 1 and not any(token.lower in words for token in claim.tokens):
            return False  # "closed" and "closes at 8"
    return all(any(v.agrees(o) or _in_scale(v, o) for v in claim.values) for o in cell.values)


def _in_scale(value: Value, cell: Value) -> bool:
    """Whether a cell leaves out the "million" that its column says."""
    if value.scale <= 1 or cell.scale != 1 or cell.unit:
        return False
    plain = {r / value.scale for r in value.bare if isinstance(r, Fraction)}
    return bool(plain & cell.readings)


def _wrong_row(scene: Scene, name: str) -> Verdict | None:
    held = {near.number for near in scene.near}
    for table in scene.pages.tables:
        many = len(scene.pages.tables) > _MOST_TABLES
        if many and held.isdisjoint(number for number, _ in table.rows):
            continue
        claim = scene.reading
        named = _named_rows(table, claim)
        verdict = (
            not_the_extreme(scene, name, table, named)
            or other_trend(scene, name, table)
            or _of_other_row(scene, name, table, named)
            or _ticked(scene, name, table, named)
            or _not_of_all(scene, name, table, named)
        )
        if verdict is not None:
            return verdict
    return None


def _named_rows(table: Table, claim: Reading) -> list[int]:
    """Return the places of the rows that a claim names: by their first cell, or a cell of theirs.

    Of "Fibre" and "Fibre L" the one that says more is meant.
    """
    width = max(len(cells) for _, cells in table.rows)
    for column in range(min(width, _LABELS)):
        texts = [cells[column].text for _, cells in table.rows if column < len(cells)]
        if len(set(texts)) < len(texts):
            continue
        found = [
            n
            for n, (_, cells) in enumerate(table.rows)
            if column < len(cells) and _said(cells[column].reading, claim)
        ]
        if found:
            keys = {n: table.rows[n][1][column].reading.keys for n in found}
            return [n for n in found if not any(keys[n] < keys[other] for other in found)]
    return _half_named(table, claim)


def _half_named(table: Table, claim: Reading) -> list[int]:
    """Return the row whose first cell alone has a word of the claim: "Daly" of "Sean Daly"."""
    named = [cells[0].reading for _, cells in table.rows]
    words = [r.keys if r.names else frozenset[str]() for r in named]
    found = [
        n
        for n, keys in enumerate(words)
        if any(key in claim.keys and sum(key in other for other in words) == 1 for key in keys)
    ]
    return found if len(found) == 1 else []


_LABELS = 2
"""Columns whose cells may name a row."""


def _of_other_row(scene: Scene, name: str, table: Table, named: list[int]) -> Verdict | None:
    """Veto what stands in a column, but not in the row that the claim names."""
    if not named or _denies(scene.reading):
        return None
    claim = scene.reading
    together = len(named) > 1 and _listed_together(table, named, claim)
    if len(named) > 1 and not together:
        return _of_no_row(scene, name, table, named)
    labels = frozenset(key for n in named for key in table.rows[n][1][0].reading.keys)
    held = {n for n in named for cell in table.rows[n][1] if _said(cell.reading, claim)}
    for column in range(1, len(table.header)):
        if table.asks(column):
            continue
        own = {
            n for n in named
            if column < len(table.rows[n][1]) and (
                _said(table.rows[n][1][column].reading, claim)
                or (together and table.rows[n][1][column].truth is not None)
            )
        }  # fmt: skip
        if own and not (together and len(own) < len(named)):
            continue
        for number, (_, cells) in enumerate(table.rows):
            other = number not in named and column < len(cells)
            if not (other and _telling(cells[column].reading)) and number not in own:
                continue
            cell = cells[column].reading
            label = cells[0].reading
            if number not in named and _half_said(label, claim, labels):
                continue
            if not _said(cell, claim) or _elsewhere(table, named, column, cell, own):
                continue
            if together and _added_up(table, named, column, cell):
                continue
            missing = next(n for n in named if n not in own)
            near = scene.at(table.rows[missing][0])
            row = table.rows[missing][1]
            written = row[column].text if column < len(row) else ""
            reason = f"the table has {written!r} there, and {cell.text!r} in another row"
            return contradiction(scene, name, reason, near) if held else None
    return None


def _of_no_row(scene: Scene, name: str, table: Table, named: list[int]) -> Verdict | None:
    """Veto a value that stands in none of the rows that the claim names, but in another."""
    here = [cell.reading for n in named for cell in table.rows[n][1]]
    for value in scene.reading.values:
        if any(value.agrees(v) for r in (*here, *table.header) for v in r.values):
            continue
        for number, (_, cells) in enumerate(table.rows):
            held = any(
                _telling(c.reading) and value.agrees(v) for c in cells for v in c.reading.values
            )
            if held and number not in named:
                reason = f"{value.text!r} stands in another row of the table"
                return contradiction(scene, name, reason, scene.at(table.rows[named[0]][0]))
    return None


def _half_said(label: Reading, claim: Reading, named: frozenset[str]) -> bool:
    """Whether a claim may mean a row without saying all of its label: "7.4" of "7.4 LTS".

    What the labels of the rows that it does name hold too tells nothing: "lamp" of "desk lamp".
    """
    held = any(v.agrees(o) for o in label.values for v in claim.values)
    return held or bool(({t.key for t in label.tokens if t.key} & claim.keys) - named)


def _telling(cell: Reading) -> bool:
    """Whether a cell is said by chance seldom: more than a small number."""
    if any(token.key for token in cell.tokens):
        return True
    return any(v.unit or len(v.text) > 1 for v in cell.values)


def _elsewhere(table: Table, named: list[int], column: int, cell: Reading, own: set[int]) -> bool:
    """Whether a named row holds the same in another column, or its header says it."""
    if any(_said(head, cell) for head in table.header if head.keys):
        return True
    if cell.keys and any(cell.keys <= head.keys for head in table.header):
        return True
    return not own and any(
        _said(cell, other.reading)
        for n in named
        for place, other in enumerate(table.rows[n][1])
        if place != column
    )


def _added_up(table: Table, named: list[int], column: int, cell: Reading) -> bool:
    """Whether what several rows have in a column makes together what a cell has."""
    cells = [table.rows[n][1][column].reading for n in named if column < len(table.rows[n][1])]
    numbers = [next((r for v in c.values for r in v.readings), None) for c in cells]
    total = sum((n for n in numbers if isinstance(n, Fraction)), Fraction(0))
    return len(cells) > 1 and any(total in value.readings for value in cell.values)


def _listed_together(table: Table, named: list[int], claim: Reading) -> bool:
    """Whether a claim lists rows side by side: "Ann, Bo and Cy"."""
    keys = {key for n in named for key in table.rows[n][1][0].reading.keys}
    places = [n for n, token in enumerate(claim.tokens) if token.key in keys]
    return bool(places) and all(
        token.key in keys or token.key is None for token in claim.tokens[places[0] : places[-1]]
    )


def _ticked(scene: Scene, name: str, table: Table, named: list[int]) -> Verdict | None:
    """Veto "has a pool" where the column of pools says no in that row, and the other way round."""
    if len(named) != 1 or any(ticked(scene.claim.text)):
        return None
    sentence, cells = table.rows[named[0]]
    label = {key for cell in cells[:1] for key in cell.reading.keys}
    for column in range(1, min(len(table.header), len(cells))):
        truth, asked = cells[column].truth, table.header[column].keys - label
        if truth is None or not asked or not table.asks(column):
            continue
        if not asked <= scene.reading.keys:
            continue
        if truth == _denied_there(scene.reading, asked):
            said = cells[column].text or "nothing"
            reason = f"the table has {said!r} under {table.header[column].text!r}"
            return contradiction(scene, name, reason, scene.at(sentence))
    return None


def _denied_there(reading: Reading, keys: frozenset[str]) -> bool:
    """Whether the clause that holds words denies them."""
    clause = next((c for c in reading.clauses if keys & c.keys), None)
    if clause is None:
        return False
    words = [t.lower for t in reading.words(clause)]
    return any(w in _DENIED - {"only", "than"} or w.endswith("n't") for w in words)


def _not_of_all(scene: Scene, name: str, table: Table, named: list[int]) -> Verdict | None:
    """Veto "all plans have it" where one row says no, or something else."""
    claim = scene.reading
    if named or _denies(claim) or not _speaks_of_all(table, claim):
        return None
    meant = _meant(table, claim)
    for column in range(1, len(table.header)):
        cells = table.column(column)
        asked = table.header[column].keys
        if asked and asked <= claim.keys and table.asks(column):
            wrong = [n for n, cell in enumerate(cells) if not cell.truth]
        else:
            said = [_said(cell.reading, claim) for cell in cells]
            wrong = [n for n, ok in enumerate(said) if not ok] if any(said) else []
            wrong = [n for n in wrong if asked & claim.keys]
        wrong = [n for n in wrong if n in meant]
        if wrong:
            number, row = table.rows[wrong[0]]
            reason = f"the table has {row[column].text!r} for {row[0].text!r}"
            return contradiction(scene, name, reason, scene.at(number))
    return None


def _meant(table: Table, claim: Reading) -> set[int]:
    """Return the rows that a claim about all can mean: "all pottery courses"; else every one."""
    found = {
        n
        for n, (_, cells) in enumerate(table.rows)
        if cells and cells[0].reading.keys and cells[0].reading.keys <= claim.keys
    }
    return found or set(range(len(table.rows)))


def _speaks_of_all(table: Table, claim: Reading) -> bool:
    label = frozenset(key for head in table.header[:_LABELS] for key in head.keys)
    for number, token in enumerate(claim.tokens):
        if token.lower in _ALL:
            after = {t.key for t in claim.tokens[number + 1 : number + 5] if t.key}
            if label & after:
                return True
    return False


# -- groups of items --------------------------------------------------------------------------


def _wrong_group(scene: Scene, name: str) -> Verdict | None:
    """Veto an item in a list to which it does not belong."""
    claim = scene.reading
    if _denies(claim) or len(scene.pages.groups) > _MOST_GROUPS:
        return None
    said = [
        (group, [item for item in group.items if item.keys and item.keys <= claim.keys])
        for group in scene.pages.groups
    ]
    for group, items in said:
        labelled = _labelled(group, claim)
        if not labelled and len(items) < _FEWEST_ITEMS - 1:
            continue
        own = frozenset(key for item in group.items for key in item.keys) | group.label.keys
        for other, strays in said:
            if other is group or _overlaps(group, other) or _labelled(other, claim):
                continue
            if not labelled and len(strays) >= len(items):
                continue
            for item in strays if len(other.items) > 1 else ():
                sibling = labelled and not items and _are_siblings(group.label, other.label)
                beside = any(_beside(claim, i.keys, item.keys) for i in items if i is not item)
                if not _values_said(item, claim) or _told_there(scene, group, other, item):
                    continue
                if not item.keys & own and (beside or sibling) and not _in_all(item, said, other):
                    reason = f"{item.text!r} stands under {other.label.text!r}"
                    return contradiction(scene, name, reason, _line_of(scene, item))
    return None


def _are_siblings(one: Reading, other: Reading) -> bool:
    """Whether two labels name two of a kind: "Class B" and "Class C", "Included", "Not included".

    "Card" and "Protection with the card" are of two things.
    """
    if not one.keys & other.keys:
        return False
    return _denies(one) != _denies(other) or not (one.keys < other.keys or other.keys < one.keys)


def _values_said(item: Reading, claim: Reading) -> bool:
    """Whether a claim has the values of an item, but for how much of it there is."""
    return all(not v.start or any(v.agrees(o) for o in claim.values) for v in item.values)


def _told_there(scene: Scene, group: Group, other: Group, item: Reading) -> bool:
    """Whether a sentence beside the lists says an item of what the claim says it of."""
    label = group.label.keys - other.label.keys
    return bool(label) and any(
        label | item.keys <= near.reading.keys and not near.reading.is_field for near in scene.near
    )


_WHEN = frozenset(("before", "after", "during"))


def _labelled(group: Group, claim: Reading) -> bool:
    """Whether a claim says the label of a list, and not that of its counterpart."""
    when = _WHEN & {token.lower for token in group.label.tokens}
    return _said(group.label, claim) and when <= {token.lower for token in claim.tokens}


def _beside(claim: Reading, one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a claim lists two things side by side, with nothing but things between them."""
    places = [n for n, token in enumerate(claim.tokens) if token.key in one | other]
    mine = [n for n in places if claim.tokens[n].key in one]
    theirs = [n for n in places if claim.tokens[n].key in other]
    if not mine or not theirs:
        return False
    first, last = (mine[-1], theirs[0]) if mine[-1] < theirs[0] else (theirs[-1], mine[0])
    between = claim.tokens[first + 1 : last]
    return first < last and not any(
        t.lower in _NO_ITEM | _TURNS or (t.lower.endswith(_OF_VERBS) and base_of(t.lower))
        for t in between
        if t.key not in one | other
    )


_OF_VERBS = ("s", "ing")
"""How a word ends that is a verb for sure, if it can be one: "contains", "costing"."""
_TURNS = frozenset("while but whereas who which ; : . you they it".split())


def _overlaps(one: Group, two: Group) -> bool:
    """Whether one list is a part of the other."""
    texts = {item.text for item in one.items} & {item.text for item in two.items}
    return bool(texts)


def _in_all(item: Reading, said: list[tuple[Group, list[Reading]]], other: Group) -> bool:
    """Whether a list that the claim names holds the item too."""
    return any(
        item.text in {i.text for i in group.items}
        for group, _ in said
        if group is not other and not _overlaps(group, other)
    )


def _line_of(scene: Scene, item: Reading) -> Near | None:
    return next((near for near in scene.near if item.keys <= near.reading.keys), None)


_BOX = ("[ ]", "☐")
_TICKED = ("[x]", "[X]", "☑", "☒")


def _unticked(scene: Scene, name: str) -> Verdict | None:
    """Veto as done what a box of the context leaves open, and the other way round."""
    for near in scene.near:
        text = near.reading.text.lstrip("-* ")
        done = text.startswith(_TICKED)
        if not done and not text.startswith(_BOX):
            continue
        keys = frozenset(key for key in near.reading.keys if len(key) > 1)
        clause = max(scene.reading.clauses, key=lambda c: len(keys & c.keys))
        if (
            keys
            and keys <= scene.reading.keys
            and done == _denied_there(scene.reading, clause.keys)
        ):
            return contradiction(scene, name, f"the context has {text[:60]!r}", near)
    return None


# -- cells ------------------------------------------------------------------------------------


def _wrong_cell(scene: Scene, name: str) -> Verdict | None:
    rows = [near for near in scene.near if near.reading.row]
    if not rows:
        return None
    for clause in scene.reading.clauses:
        row = _row_of(scene, clause, rows)
        if row is None:
            continue
        for number in clause.values:
            value = scene.reading.values[number]
            verdict = _misread(scene, name, clause, value, row, rows)
            if verdict is not None:
                return verdict
    return None


def _row_of(scene: Scene, clause: Clause, rows: list[Near]) -> Near | None:
    """Return the one row that a clause, or the subject of its sentence, names."""
    for wanted in (clause, scene.reading.clauses[0]):
        found: dict[int, list[Near]] = defaultdict(list)
        for near in rows[:_MOST_ROWS]:
            named = sum(_names(scene, wanted, near.reading, cell) for cell in _labels(near.reading))
            found[named].append(near)
        best = max(found)
        if best and len(found[best]) == 1:
            return found[best][0]
    return None


def _labels(row: Reading) -> Iterator[Clause]:
    """Yield the cells that name a row: the first, and those without a value."""
    for number, cell in enumerate(row.clauses):
        if number == 0 or not cell.values:
            yield cell


def _names(scene: Scene, clause: Clause, row: Reading, cell: Clause) -> bool:
    """Whether a clause of the claim says all that a cell holds."""
    own = {token.key for token in row.words(cell) if token.key}
    held = [row.values[n] for n in cell.values]
    mine = [scene.reading.values[n] for n in clause.values]
    if own and not own <= clause.keys:
        return False
    return bool(own or held) and all(any(v.agrees(other) for v in mine) for other in held)


_TOGETHER = re.compile(r"\b(?:together|altogether|in total|in all|combined|both)\b", re.I)


def _sum_of_two(value: Value, cell: Clause, row: Near, rows: list[Near]) -> bool:
    """Whether a cell and that of another row in its column make a value together."""
    place = row.reading.clauses.index(cell)
    sums = {
        a + b
        for near in rows
        if near is not row and place < len(near.reading.clauses)
        for n in cell.values
        for m in near.reading.clauses[place].values
        for a in row.reading.values[n].readings
        for b in near.reading.values[m].readings
        if isinstance(a, Fraction) and isinstance(b, Fraction)
    }
    return not sums.isdisjoint(value.readings)


def _misread(
    scene: Scene, name: str, clause: Clause, value: Value, row: Near, rows: list[Near]
) -> Verdict | None:
    """Veto a value whose column the claim names while another cell of the row or table has it."""
    reading = row.reading
    columns = (
        list(_dated(scene.reading, clause, value, reading))
        or list(_named(_phrase(scene.reading, clause, value, reading), reading))
        or list(_measured(value, reading))
    )
    if len(columns) != 1:
        return None
    cell = reading.clauses[columns[0]]
    if not any(value.comparable(reading.values[n]) for n in cell.values) and (
        value.text.isalpha() or any(_holds(reading, other, value) for other in reading.clauses)
    ):
        return None  # "20 minutes in room A3", "of the four funds"
    if _holds(reading, cell, value) or _label_has(reading, value):
        return None
    elsewhere = any(
        _holds(near.reading, other, value) for near in rows for other in near.reading.clauses
    )
    if not elsewhere or (
        _TOGETHER.search(scene.reading.text) and _sum_of_two(value, cell, row, rows)
    ):
        return None
    start, end = reading.tokens[cell.first].start, reading.tokens[cell.last - 1].end
    written = reading.text[start:end]
    reason = f"the table has {written!r} in that cell, the answer {value.text!r}"
    return contradiction(scene, name, reason, row)


def _dated(claim: Reading, clause: Clause, value: Value, row: Reading) -> Iterator[int]:
    """Yield the columns whose header holds another value of the clause: "exports 2022"."""
    others = [v for v in (claim.values[n] for n in clause.values) if v is not value]
    for number, (_, values) in enumerate(row.columns[: len(row.clauses)]):
        if number and any(one.agrees(other) for one in others for other in values):
            yield number


def _named(words: frozenset[str], row: Reading) -> Iterator[int]:
    """Yield the columns that words name."""
    for number, (keys, _) in enumerate(row.columns[: len(row.clauses)]):
        label = row.clauses[0].keys
        if number and keys and 2 * len(keys & words) >= len(keys) and not keys <= label:
            yield number


def _measured(value: Value, row: Reading) -> Iterator[int]:
    """Yield the columns that hold values in the unit of a value."""
    for number, cell in enumerate(row.clauses):
        if number and value.unit and any(row.values[n].unit == value.unit for n in cell.values):
            yield number


def _phrase(reading: Reading, clause: Clause, value: Value, row: Reading) -> frozenset[str]:
    """Return the words of a clause that are nearer to a value than to its neighbours."""
    tokens = reading.words(clause)
    places = [(n, t.value) for n, t in enumerate(tokens) if t.value >= 0]
    mine = [n for n, v in places if reading.values[v] is value]
    others = [
        n
        for n, v in places
        if reading.values[v] is not value and not _label_has(row, reading.values[v])
    ]
    if not mine:
        return frozenset()
    return frozenset(
        token.key
        for n, token in enumerate(tokens)
        if token.key and all(min(abs(n - m) for m in mine) <= abs(n - other) for other in others)
    )


def _holds(reading: Reading, cell: Clause, value: Value) -> bool:
    plain = {r / value.scale for r in value.bare if isinstance(r, Fraction)}
    return any(
        value.agrees(other) or (value.scale > 1 and not other.unit and bool(plain & other.readings))
        for other in (reading.values[n] for n in cell.values)
    )


def _label_has(reading: Reading, value: Value) -> bool:
    return bool(reading.clauses) and _holds(reading, reading.clauses[0], value)


# -- keys -------------------------------------------------------------------------------------


def _wrong_key(scene: Scene, name: str) -> Verdict | None:
    """Veto a name that "key: value" lines give to another key: "Chair: Ann", "Clerk: Bo"."""
    if _denies(scene.reading):
        return None
    fields = [near for near in scene.near if near.reading.is_field]
    labels = [_label(near.reading) for near in fields]
    for near in fields:
        label, held = _label(near.reading), _content(near.reading)
        if not label or not held or labels.count(label) > 1:
            continue  # of one record among several: see above
        for clause in scene.reading.clauses:
            if not label <= clause.keys or held & scene.reading.keys:
                continue
            other = _held_elsewhere(scene, clause, label, near)
            if other is not None:
                written = near.sentence.text
                reason = f"the context says {written!r}, the answer {other!r}"
                return contradiction(scene, name, reason, near)
    return None


def _label(reading: Reading) -> frozenset[str]:
    return reading.clauses[0].keys if len(reading.clauses) > 1 else frozenset()


def _content(reading: Reading) -> frozenset[str]:
    return frozenset(key for clause in reading.clauses[1:] for key in clause.keys)


_TURN = re.compile(r":\s+[A-Z].*[.!?]\W*$", re.S)
"""What somebody says, behind the name."""


def _of_other_key(scene: Scene, clause: Clause, label: frozenset[str]) -> str | None:
    """Return the words of the clause that only another field holds: "Boris: travel"."""
    rest = frozenset(key for key in clause.keys - label if scene.known(key))
    if not rest or any(rest & reading.keys and label & reading.keys for reading in scene.all):
        return None
    for reading in scene.all:
        if not reading.is_field or _label(reading) <= clause.keys or _TURN.search(reading.text):
            continue
        if rest <= _content(reading):
            words = scene.reading.words(clause)
            return " ".join(scene.reading.text[t.start : t.end] for t in words if t.key in rest)
    return None


def _held_elsewhere(scene: Scene, clause: Clause, label: frozenset[str], field: Near) -> str | None:
    """Return a name of the clause that another field holds."""
    for first, last in scene.reading.names:
        if not clause.first <= first < clause.last:
            continue
        keys = {t.key for t in scene.reading.tokens[first:last] if t.key}
        if keys <= _label(field.reading):  # the key itself, or who speaks: "Ann: It was cold."
            spoken = _TURN.search(field.reading.text)
            if not spoken and (words := _of_other_key(scene, clause, label)):
                return words
            continue
        opens = first == 0 and last == 1 and not any(map(scene.pages.proper, keys))
        if opens or all(len(key) == 1 for key in keys):
            continue  # a word that only opens the sentence, "type A"
        for number, reading in enumerate(scene.all):
            other = number != field.number and reading.is_field
            if other and label <= reading.keys:
                continue  # which says something of the key itself
            if other and keys and keys <= _content(reading) and not _label(reading) <= clause.keys:
                return scene.reading.name((first, last))
    return None


# -- lists ------------------------------------------------------------------------------------


def _added(scene: Scene, name: str) -> Verdict | None:
    """Veto the one item of a list that no sentence of the context holds."""
    items = list(_items(scene.reading))
    if len(items) < _FEWEST_ITEMS:
        return None
    asked = frozenset((scene.context.question or "").lower().split())
    foreign: list[tuple[list[Token], list[Token]]] = []
    for item in items:
        lacking = [token for token in item if token.key and not scene.known(token.key)]
        lacking = [token for token in lacking if token.lower not in asked]
        if lacking:
            foreign.append((item, lacking))
    if len(foreign) != 1 or not _listed(scene, items, foreign[0][0]):
        return None
    item, lacking = foreign[0]
    if lacking[-1] is not [token for token in item if token.key][-1]:
        return None  # an adjective of the writer's
    written = scene.reading.text[item[0].start : item[-1].end]
    return unmentioned(scene, name, f"the list of the context has no {written!r}")


def _listed(scene: Scene, items: list[list[Token]], foreign: list[Token]) -> bool:
    """Whether the context lists the other items: in one sentence, or line by line."""
    others = [{t.key for t in item if t.key} for item in items if item is not foreign]
    lines = [reading for reading in scene.all if len(reading.tokens) <= 2 * _LONGEST_ITEM]
    one = any(sum(keys <= r.keys for keys in others) >= len(others) for r in scene.all)
    each = all(any(keys <= r.keys for r in lines) for keys in others)
    return one or each


def _items(reading: Reading) -> Iterator[list[Token]]:
    """Yield the items of a list "A, B, C and D"; nothing if there is none."""
    tokens = list(reading.tokens)
    commas = [n for n, token in enumerate(tokens) if token.lower == ","]
    last = max((n for n, t in enumerate(tokens) if t.lower in ("and", "or")), default=-1)
    if not commas or last < commas[0] or last - commas[-1] > _LONGEST_ITEM + 1:
        return
    cuts = [n for n in commas if n < last] + [last]
    if last - 1 == commas[-1]:
        cuts.remove(last - 1)
    end = next((n for n in range(last + 1, len(tokens)) if tokens[n].lower in ".;,:"), len(tokens))
    for start, stop in zip(cuts, [*cuts[1:], end], strict=True):
        item = tokens[start + 1 : stop]
        if not any(token.key for token in item) or len(item) > _LONGEST_ITEM:
            return
        if item[0].lower in _ADDING or tokens[0].lower in _ASKING:
            return  # "..., as a gift for Ann and Bo", "Which came first, the hen or the egg"
        if any(token.lower in _NO_ITEM or token.value >= 0 for token in item):
            return  # clauses, not things
        yield item
    before = [token for token in tokens[max(0, commas[0] - 4) : commas[0]] if token.key]
    if before and cuts[0] == commas[0] and tokens[0].lower not in _OPENING:
        yield before[-1:]
