"""What a table says by the order of its values: which row has the most, and what rose.

In: a scene, a table, and the rows that the claim names. Out: a veto where another row has the
most or the least of what the claim says that this one has, or where a column fell between two rows
and the claim says that it rose; else None. English.
"""

from __future__ import annotations

import re
from fractions import Fraction

from faithguard.types import Verdict
from faithguard.verifiers._values._units import CURRENCIES
from faithguard.verifiers.rules._reading import Reading, key_of, keys_of_all
from faithguard.verifiers.rules._scene import Scene, contradiction
from faithguard.verifiers.rules._tables import Table

__all__ = ["not_the_extreme", "other_trend"]

_MOST = frozenset(
    "highest largest biggest greatest longest tallest heaviest oldest fastest dearest priciest most"
    " widest deepest steepest maximum strongest".split()
)
_LEAST = frozenset(
    "lowest smallest least shortest lightest youngest slowest cheapest fewest narrowest minimum"
    " weakest".split()
)
_PRICED = frozenset(("dearest", "priciest", "cheapest", "expensive"))
_FOR = {
    "longest": ("second", "month", "metre"), "shortest": ("second", "month", "metre"),
    "heaviest": ("gram",), "lightest": ("gram",), "tallest": ("metre",),
}  # fmt: skip
_CALLED = {
    word: key_of(noun)
    for noun, words in {
        "length": "longest shortest", "weight": "heaviest lightest", "height": "tallest highest",
        "age": "oldest youngest", "depth": "deepest shallowest", "width": "widest narrowest",
        "speed": "fastest slowest", "price": "dearest cheapest priciest",
    }.items()
    for word in words.split()
}  # fmt: skip
_NOT = re.compile(
    r"\b(?:not|no|never|second|third|next|one\s+of|among|than|except)\b|n['’]t\b", re.I
)
_MOST_ROWS = 60


def not_the_extreme(scene: Scene, name: str, table: Table, named: list[int]) -> Verdict | None:
    """Veto "the red line is the longest" where another row of the table has more."""
    claim = scene.reading
    words = {token.lower for token in claim.tokens}
    most, least = words & _MOST, words & _LEAST
    if len(named) != 1 or bool(most) == bool(least) or _NOT.search(claim.text):
        return None
    if "expensive" not in words and most == {"most"} and "the most" not in claim.text.lower():
        return None  # "most courses"
    column = _column(table, claim, words)
    if column is None:
        return None
    numbers = _numbers(table, column)
    if numbers is None or len(numbers) > _MOST_ROWS:
        return None
    best = max(numbers) if most else min(numbers)
    if numbers[named[0]] == best:
        return None
    place = numbers.index(best)
    row = table.rows[place]
    word = min(most or least)
    reason = f"by the table {row[1][0].text!r} has the {word}: {row[1][column].text!r}"
    return contradiction(scene, name, reason, scene.at(row[0]))


def _column(table: Table, claim: Reading, words: set[str]) -> int | None:
    """Return the one column of numbers that a claim speaks of."""
    columns = [n for n in range(1, len(table.header)) if _numbers(table, n) is not None]
    said = [n for n in columns if (keys := _label(table, n)) and keys & claim.keys]
    if len(said) == 1:
        return said[0]
    if said:
        return None
    units = {n: {v.unit for c in table.column(n) for v in c.reading.values} for n in columns}
    if words & _PRICED:
        priced = [n for n in columns if units[n] & CURRENCIES or _label(table, n) & _PRICES]
        return priced[0] if len(priced) == 1 else None
    named = [n for n in columns if _label(table, n) & {_CALLED.get(word) for word in words}]
    if len(named) == 1:
        return named[0]
    for word in words & _FOR.keys():
        fitting = [n for n in columns if units[n] & set(_FOR[word])]
        return fitting[0] if len(fitting) == 1 else None
    return None


_PRICES = keys_of_all("price cost fee rate".split())


def _label(table: Table, column: int) -> frozenset[str]:
    return frozenset(key for key in table.header[column].keys if len(key) > 1)


def _numbers(table: Table, column: int) -> list[Fraction] | None:
    """Return the numbers of a column; None unless each cell has one, in one unit."""
    found: list[Fraction] = []
    units: set[str] = set()
    for cell in table.column(column):
        values = [v for v in cell.reading.values if v.family == "number"]
        readings = [r for v in values for r in v.readings if isinstance(r, Fraction)]
        if len(values) != 1 or len(readings) != 1:
            return None
        found.append(readings[0])
        units.add(values[0].unit)
    return found if len(units) == 1 and len(found) == len(table.rows) > 1 else None


_ROSE = keys_of_all("increase rise grow climb".split())
_FELL = keys_of_all("decrease fall drop decline shrink".split())
_BETWEEN = re.compile(
    r"\b(?:from|between)\s+(?P<one>.{1,40}?)\s+(?:to|and)\s+(?P<two>[^,.;]{1,40})", re.I
)


def other_trend(scene: Scene, name: str, table: Table) -> Verdict | None:
    """Veto "sales rose from May to June" where the table has less in June."""
    claim = scene.reading
    rose, fell = claim.keys & _ROSE, claim.keys & _FELL
    match = _BETWEEN.search(claim.text)
    if match is None or bool(rose) == bool(fell) or _NOT.search(claim.text):
        return None
    across = _across(scene, name, table, match, bool(rose))
    if across is not None:
        return across
    rows = [_row_of(table, match[part]) for part in ("one", "two")]
    columns = [
        n
        for n in range(1, len(table.header))
        if (keys := _label(table, n)) and keys & claim.keys and _numbers(table, n) is not None
    ]
    if None in rows or rows[0] == rows[1] or len(columns) != 1:
        return None
    numbers = _numbers(table, columns[0]) or []
    before, after = (numbers[row] for row in rows if row is not None)
    if (after > before and rose) or (after < before and fell):
        return None
    number, cells = table.rows[rows[1] or 0]
    reason = f"by the table it went from {before} to {after}" if before != after else "it stayed"
    return contradiction(scene, name, f"{reason} ({cells[0].text})", scene.at(number))


def _across(
    scene: Scene, name: str, table: Table, match: re.Match[str], rose: bool
) -> Verdict | None:
    """Compare two columns of one row: "Corby grew from 2019 to 2021"."""
    row = _row_of(table, scene.reading.text[: match.start()])
    columns = [
        [n for n, head in enumerate(table.header) if n and head.text in match[part].split()]
        for part in ("one", "two")
    ]
    if row is None or any(len(found) != 1 for found in columns):
        return None
    number, cells = table.rows[row]
    amounts = [_amount(cells[found[0]].reading) for found in columns if found[0] < len(cells)]
    if len(amounts) < 2 or amounts[0] is None or amounts[1] is None:
        return None
    if (amounts[1] > amounts[0]) if rose else (amounts[1] < amounts[0]):
        return None
    reason = f"by the table it went from {amounts[0]} to {amounts[1]}"
    return contradiction(scene, name, reason, scene.at(number))


def _amount(cell: Reading) -> Fraction | None:
    """Return the one number of a cell."""
    readings = [r for v in cell.values for r in v.readings if isinstance(r, Fraction)]
    return readings[0] if len(readings) == 1 else None


def _row_of(table: Table, text: str) -> int | None:
    """Return the one row whose first cell stands in a text."""
    plain = text.lower()
    found = [
        n
        for n, (_, cells) in enumerate(table.rows)
        if cells and cells[0].text and cells[0].text.lower() in plain
    ]
    return found[0] if len(found) == 1 else None
