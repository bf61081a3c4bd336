"""Nothing -> an invented notice, and a claim about it.

In: a source of chance. Out: `Notice`: prices, times, doses and rules of things that do not exist,
as sentences, a list or a table, and a claim with its target: said as it stands, said shorter, said
in other words, with the value of another thing, with a value of none, without the condition it
holds under, or about what the notice does not mention. Labelled data has little of this, and what
a guard is asked about is mostly this.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from faithguard.train._rows import Target
from faithguard.verifiers._values import find_values

__all__ = ["Notice", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A text and a claim about it."""

    text: str
    claim: str
    target: Target


_THINGS = """
    day pass, night ticket, locker, small boat, large boat, garden tour, family room, deluxe
    cabin, pottery class, evening course, winter tyre set, phone plan, spare key, desk lamp, oak
    table, tomato soup, fish plate, lunch menu, coffee, bread basket, gym card, sauna visit,
    violin lesson, piano lesson, language course, yoga class, storage box, moving van, city
    bike, cargo bike, tent site, caravan site, tasting, boat trip, museum card, audio guide,
    map, helmet, sleeping bag, basic licence, team licence, annual plan, monthly plan, starter
    kit, filter, pump, heater, dental check, blood test, eye test, vaccination, massage,
    haircut, oil change, brake service, passport photo, parcel, express letter, registered
    letter, copy, scan, booking, visa, permit, deposit, late fee, service call, repair,
    inspection, software update, backup
"""
_PLACES = """
    library, pool, archive, main office, workshop, tool room, north gate, south gate, canteen,
    museum, bakery, ticket desk, post room, clinic, pharmacy, laboratory, car park, garden,
    gallery, cinema, climbing hall, help desk, reading room, kitchen, harbour office, ferry,
    night bus, tram, shuttle, lost property desk, playground, tower, observatory, market hall,
    ice rink, gym, cloakroom
"""
_PEOPLE = """
    members, guests, students, teachers, visitors, residents, nurses, drivers, tenants,
    customers, apprentices, volunteers, pilots, managers, pensioners, employees, subscribers,
    trainees
"""
_REMEDIES = """
    the drops, the syrup, the powder, the tablets, the ointment, the spray, the capsules, the
    solution
"""
_WORDS: Mapping[str, Sequence[str]] = {
    name: [" ".join(entry.split()) for entry in text.split(",")]
    for name, text in (
        ("thing", _THINGS),
        ("place", _PLACES),
        ("people", _PEOPLE),
        ("remedy", _REMEDIES),
    )
}
_Maker: TypeAlias = Callable[[random.Random], str]


def _money(rng: random.Random) -> str:
    number = rng.choice((rng.randint(2, 30), rng.randint(5, 40) * 5, rng.randint(2, 40) * 10))
    text = f"{number}.{rng.choice((50, 90, 25))}" if rng.random() < 0.2 else str(number)
    return rng.choice((f"{text} euros", f"{text} euros", f"${text}", f"€{text}", f"£{text}"))


def _time(rng: random.Random) -> str:
    hour = rng.randint(6, 22)
    if rng.random() < 0.5:
        return f"{hour}:{rng.choice(('00', '00', '30', '15', '45'))}"
    return f"{hour if hour < 13 else hour - 12} {'am' if hour < 12 else 'pm'}"


def _span(rng: random.Random) -> str:
    return f"{rng.randint(2, 30)} {rng.choice(('days', 'weeks', 'months', 'hours', 'minutes'))}"


def _dose(rng: random.Random) -> str:
    amount = rng.choice((1, 2, 3, 4, 5, 10, 15, 20, 25, 40, 50, 75, 100, 200, 250))
    return f"{amount} {rng.choice(('mg', 'ml', 'g'))}"


def _times(rng: random.Random) -> str:
    ways = ("once a day", "twice a day", "three times a day", "every 6 hours", "at night")
    return rng.choice(ways)


def _date(rng: random.Random) -> str:
    months = "January March April June July August October November December".split()
    return f"{rng.randint(1, 28)} {rng.choice(months)}"


def _number(rng: random.Random) -> str:
    return str(rng.choice((rng.randint(2, 30), rng.randint(4, 90) * 5, rng.randint(11, 99) * 100)))


_FIRST = "Anna Ben Clara Dario Edda Felix Greta Hugo Ines Jonas Karin Leo Mira Nils Olga".split()
_LAST = "Abel Brand Costa Dahl Engel Fuchs Gray Holm Ibsen Jung Kern Lund Moser Novak Ost".split()


def _person(rng: random.Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def _day(rng: random.Random) -> str:
    return rng.choice("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())


_VALUES: Mapping[str, _Maker] = {
    "money": _money,
    "time": _time,
    "span": _span,
    "dose": _dose,
    "times": _times,
    "date": _date,
    "number": _number,
    "person": _person,
    "day": _day,
}

# One line holds ways to say the same of a subject and a value; [] may be left out, <> may not.
_SAYINGS = """
    The {thing} costs {money}[ at the desk][, tax included]. | \
The price of the {thing} is {money}. | You pay {money} for the {thing}.
    The {thing} costs {money}< if it is booked a week ahead>.
    A {thing} is {money}[ per person][, drinks and a towel included].
    Members get the {thing} for {money}[ all year round][, as the board decided last spring].
    The {thing} is free< for children under the age of six>.
    Until the end of the season the {thing} is {money}< except on public holidays>.
    The {place} opens at {time}[ in summer and in winter][, with guards at the door]. | \
Opening time of the {place}: {time}.
    The {place} closes at {time}< on Fridays>.
    The {place}[, which was rebuilt lately,] closes at {time}. | \
Closing time of the {place} is {time}.
    The {place} can be used until {time}< unless a concert is on>.
    The {place} has room for {number} people[ and a small stage][, lifts included]. | \
Up to {number} people fit into the {place}.
    The {place}[, next to the old mill,] was opened on {date}[ by the mayor].
    The {place} stays closed from {date}[ for repairs][, the staff said].
    {people} get a reply within {span}[, by letter or by mail]. | \
{people} wait at most {span} for a reply.
    {people} may cancel within {span}[ of the order][, free of charge].
    {people} may cancel within {span}< as long as the seal is unbroken>.
    {people} may borrow up to {number} books[, films or games][ at a time].
    {people} must register by {date}[ at the front desk or online].
    {people} receive {money}[ a month][, paid on the last working day].
    {people} receive {money}< provided that they apply in writing>.
    {people} need {number} points[ to pass][, half of them in the written part].
    Grown-ups take {dose} of {remedy} {times}[, after a meal][, for a week at most].
    Take {dose} of {remedy} {times}[, best with a glass of milk][ and stay out of the sun].
    Take {dose} of {remedy} {times}< unless you are pregnant>.
    Children get {dose} of {remedy} {times}[ in some juice].
    Doctors stop {remedy} after {span}[, and look at the skin again].
    The guarantee of the {thing} lasts {span}[ from the day of delivery][, batteries included].
    The {thing} may be returned within {span}[ with the receipt and in its box].
    The {thing} is sent within {span}[ by post][, and you get a message].
    The {thing} takes {span}[ from start to end][, breaks included]. | The {thing} lasts {span}.
    The {thing} starts at {time}[ in the yard behind the house]. | Start of the {thing}: {time}.
    The {thing} starts at {time}< if at least six people come>.
    From {date} on the {thing} costs {money}[, as it did two years ago].
    {number} people booked the {thing}[ last year][, most of them online].
"""
_LINES: Sequence[Sequence[str]] = [
    [saying.strip() for saying in line.split("|")]
    for line in _SAYINGS.replace("\\\n", "").strip().splitlines()
]
_FREE = re.compile(r"\[([^\[\]]*)\]")
_HELD = re.compile(r"<([^<>]*)>")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    ways: Sequence[str]
    words: Mapping[str, str]

    def said(self, way: str, *, free: float, rng: random.Random) -> str:
        """Write it, each part that is free with a chance; what it depends on always."""
        text = _FREE.sub(lambda m: m[1] if rng.random() < free else "", way)
        return _written(_HELD.sub(r"\1", text), self.words)

    def changed(self, **words: str) -> _Statement:
        return _Statement(ways=self.ways, words={**self.words, **words})

    @property
    def kinds(self) -> list[str]:
        """The kinds of its values."""
        return [name for name in self.words if name in _VALUES]


def _same(one: str, other: str) -> bool:
    """Say whether two values are one, as 17:00 and 5 pm are."""
    held, theirs = find_values(one), find_values(other)
    return one == other or bool(held and theirs and held[0].agrees(theirs[0]))


def _written(text: str, words: Mapping[str, str]) -> str:
    text = _SLOT.sub(lambda m: words[m[1]], text)
    return text[0].upper() + text[1:]


def notice(rng: random.Random) -> Notice:
    """Return a notice and a claim about it."""
    return _table(rng) if rng.random() < 0.45 else _sentences(rng)


# -- sentences --------------------------------------------------------------------------------


def _stated(ways: Sequence[str], rng: random.Random) -> _Statement:
    words = {
        name: _VALUES[name](rng) if name in _VALUES else rng.choice(_WORDS[name])
        for name in _SLOT.findall(ways[0])
    }
    return _Statement(ways=ways, words=words)


def _others(main: _Statement, rng: random.Random) -> list[_Statement]:
    """Return statements beside one: the same of other subjects, and others."""
    found: list[_Statement] = []
    for _ in range(rng.randint(1, 3)):
        other = _stated(main.ways if rng.random() < 0.6 else rng.choice(_LINES), rng)
        if not _subjects(main) & _subjects(other):
            found.append(other)
    return found


def _subjects(statement: _Statement) -> set[str]:
    return {word for name, word in statement.words.items() if name in _WORDS}


def _sentences(rng: random.Random) -> Notice:
    main = _stated(rng.choice(_LINES), rng)
    others = _others(main, rng)
    way = rng.choice(main.ways)
    texts = [main.said(way, free=0.8, rng=rng)]
    texts += [other.said(rng.choice(other.ways), free=0.5, rng=rng) for other in others]
    claim, target = _claimed(main, way, others, texts, rng)
    return Notice(text=" ".join(rng.sample(texts, len(texts))), claim=claim, target=target)


def _claimed(
    main: _Statement,
    way: str,
    others: Sequence[_Statement],
    texts: Sequence[str],
    rng: random.Random,
) -> tuple[str, Target]:
    chance = rng.random()
    said = rng.choice((way, rng.choice(main.ways)))
    if chance < 0.2:
        return texts[0], "e"
    if chance < 0.5:
        # without its parts that are free, for which the text may not have room either
        return main.said(said, free=0.0, rng=rng), "e"
    if _HELD.search(way) and chance < 0.75:
        return _written(_HELD.sub("", _FREE.sub("", way)), main.words), "nc"
    kinds = main.kinds
    if not kinds or (chance > 0.92 and others):
        foreign = _stated(main.ways, rng)
        if not _subjects(foreign) & {s for o in (main, *others) for s in _subjects(o)}:
            return foreign.said(foreign.ways[0], free=0.0, rng=rng), "n"
        return texts[0], "e"
    kind = rng.choice(kinds)
    beside = [other.words[kind] for other in others if kind in other.words]
    value = rng.choice(beside) if beside and rng.random() < 0.7 else _VALUES[kind](rng)
    if _same(value, main.words[kind]):
        return texts[0], "e"
    free = rng.choice((0.0, 0.8))
    return main.changed(**{kind: value}).said(said, free=free, rng=rng), "c"


# -- tables, lists and enumerations -----------------------------------------------------------

_COLUMNS: Sequence[tuple[str, str, str]] = (
    ("price", "money", "costs {value}"),
    ("starts", "time", "starts at {value}"),
    ("ends", "time", "ends at {value}"),
    ("duration", "span", "takes {value}"),
    ("guarantee", "span", "has a guarantee of {value}"),
    ("places", "number", "has {value} places"),
    ("next date", "date", "is next offered on {value}"),
    ("day", "day", "is on {value}"),
    ("contact", "person", "is run by {value}"),
)
_HEADS = ("item", "offer", "kind", "name", "service", "what")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Rows with cells, as a table, a list or sentences will have them."""

    head: str
    rows: Sequence[str]
    columns: Sequence[tuple[str, str, str]]
    cells: Mapping[tuple[str, str], str]

    def line(self, row: str, cells: Mapping[str, str]) -> str:
        """Return a row as an answer's table gives it to a guard."""
        named = [(self.head, _capital(row)), *cells.items()]
        return "; ".join(f"{_capital(name)}: {value}" for name, value in named)

    def sentence(self, row: str, cells: Mapping[str, str]) -> str:
        """Return the row in words."""
        said = [way.format(value=cells[name]) for name, _, way in self.columns if name in cells]
        many = ", ".join(said[:-1]) + " and " + said[-1] if len(said) > 1 else said[0]
        return f"The {row} {many}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _table(rng: random.Random) -> Notice:
    columns = rng.sample(_COLUMNS, rng.choice((1, 1, 2, 3)))
    rows = rng.sample(_WORDS["thing"], rng.randint(2, 5))
    cells = {(row, c[0]): _VALUES[c[1]](rng) for row in rows for c in columns}
    grid = _Grid(head=rng.choice(_HEADS), rows=rows, columns=columns, cells=cells)
    row = rng.choice(rows)
    told = columns if rng.random() < 0.5 else [rng.choice(columns)]
    right = {c[0]: cells[row, c[0]] for c in told}
    said = dict(right)
    if rng.random() < 0.55:
        name, kind, _ = rng.choice(told)
        others = [cells[other, name] for other in rows]
        said[name] = rng.choice(others) if rng.random() < 0.75 else _VALUES[kind](rng)
    write = grid.line if rng.random() < 0.55 else grid.sentence
    target: Target = "e" if all(_same(said[name], right[name]) for name in right) else "c"
    return Notice(text=_laid_out(grid, rng), claim=write(row, said), target=target)


def _laid_out(grid: _Grid, rng: random.Random) -> str:
    names = [column[0] for column in grid.columns]
    way = rng.random()
    if way < 0.35:
        lines = [[grid.head, *names], ["---"] * (len(names) + 1)]
        lines += [[row, *(grid.cells[row, name] for name in names)] for row in grid.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if len(names) > 1:
        told = ({name: grid.cells[row, name] for name in names} for row in grid.rows)
        return " ".join(map(grid.sentence, grid.rows, told))
    name, _, phrase = grid.columns[0]
    pairs = [(row, grid.cells[row, name]) for row in grid.rows]
    if way < 0.55:
        head, joint = rng.choice((("- ", ": "), ("* ", " - "), ("", ": "), ("- ", ", ")))
        lines_ = [f"{head}{_capital(row)}{joint}{value}" for row, value in pairs]
        return "\n".join([f"{_capital(name)}:", *lines_])
    listed = [f"{row} {value}" for row, value in pairs]
    if way < 0.75:
        return f"{_capital(name)}: {', '.join(listed[:-1])} and {listed[-1]}."
    first = f"The {pairs[0][0]} {phrase.format(value=pairs[0][1])}"
    rest = [f"the {row} {value}" for row, value in pairs[1:]]
    return f"{', '.join([first, *rest[:-1]])} and {rest[-1]}."
