"""Values that an answer says it worked out, in up to two steps, from what the context says.

In: a value that stands nowhere, the values of the sentences about the same things and those of the
claim. Out: whether sums, differences, products and shares of them lead to it. Looser than
`_derived`, and asked only where the claim says that something is worked out: "altogether", "12
less", "for a family of four", "which makes".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import AMBIGUOUS, CURRENCIES, IMPERIAL
from faithguard.verifiers.rules._derived_times import Lines, lengths_of_time, numbers_of
from faithguard.verifiers.rules._measures import is_year
from faithguard.verifiers.rules._reading import Reading

__all__ = ["says_worked_out", "shown", "workable"]

_MOST_AMOUNTS = 12
_MOST_FACTORS = 16
_MOST_TERMS = 4
"""Amounts that are added up."""
_LONGER = 7
"""Amounts; of so many or more no more than two are added up, unless they stand side by side."""

_WORKED = re.compile(
    r"\b(?:total\w*|altogether|together|combined|between\s+(?:them|the\s+two)|in\s+all|sum|add(?:s|ing)?\s+up|"
    r"com(?:es?|ing)\s+to|works?\s+out|amount(?:s|ing)?\s+to|making|i\.\s?e|that\s+is|that['’]s|which\s+(?:is|means|makes)|so\s+that|"
    r"hence|therefore|meaning|equivalent|equals?|average|each|apiece|per|every|difference|more|fewer|less|"
    r"longer|shorter|later|earlier|older|younger|higher|lower|cheaper|dearer|than|extra|additional|further|remaining|remainder|rest|"
    r"left|saves?|saved|saving|gap|margin|lead|surplus|deficit|profit|net|twice|double[sd]?|tripled?|halve[sd]?|half|thirds?|"
    r"quarters?|fifths?|times|fold|would|could|if|someone|somebody|anyone|a\s+(?:couple|family|household|pair|child|person|customer|member|patient|student|user|buyer|guest|visitor|team|group)|"
    r"including|plus|on\s+top|before|after|took|takes?|taking|lasts?|lasted|lasting|over\s+the|by\s+the\s+time|"
    r"when\s+(?:he|she|they)|aged?|share|proportion|percent(?:age)?|out\s+of|compared|against|versus|instead|rose|fell|grew|up|down|gained|lost|increase[sd]?|decrease[sd]?|drop(?:ped)?|"
    r"both|all\s+(?:\w+\s+)?(?:two|three|four|five|six)|the\s+(?:two|three|four|five|six)|"
    # German
    r"insgesamt|zusammen|gesamt\w*|summe|macht|ergibt|das\s+sind|das\s+heißt|also|somit|pro|je|jede[rsnm]?|durchschnitt\w*|mehr|weniger|länger|kürzer|"
    r"später|früher|höher|niedriger|teurer|billiger|günstiger|rest\w*|übrig\w*|spart|differenz|unterschied|doppelt\w*|hälfte|halb\w*|drittel|viertel|mal|wenn|wer|"
    r"jährlich\w*|monatlich\w*|täglich\w*|wöchentlich\w*|"
    # French
    r"au\s+total|ensemble|en\s+tout|somme|soit|c['’]est-à-dire|donc|chaque|chacune?|par|moyenne|plus|moins|reste|restante?s?|économise\w*|différence|"
    r"double|moitié|tiers|quart|fois|si|couple|famille|revient|"
    # Spanish, Italian, Portuguese
    r"en\s+total|juntos|suma|es\s+decir|o\s+sea|cada|por|promedio|media|más|menos|resto|restantes?|ahorra\w*|diferencia|doble|mitad|tercio|veces|quien|"
    r"familia|pareja|in\s+tutto|in\s+totale|totale|insieme|cioè|ossia|ogni|ciascun\w*|più|meno|risparmi\w*|differenza|doppio|metà|terzo|volte|chi|famiglia|coppia|"
    r"ao\s+todo|no\s+total|juntas?|soma|ou\s+seja|isto\s+é|média|mais|restantes?|economiza\w*|diferença|dobro|metade|terço|vezes|quem|família|casal)\b"
    r"|总共|一共|合计|共|总计|即|也就是|每|平均|多|少|比|其余|剩|节省|差|倍|一半|分之|如果|如|合計|全部で|計|つまり|毎|ずつ|より|残り|差|半分|場合|すれば|合わせて"
    r"|إجمالي|مجموع|معا|أي|كل|متوسط|أكثر|أقل|الفرق|ضعف|نصف|ثلث|ربع|إذا|أسرة|عائلة|باقي"
    r"|कुल|मिलाकर|यानी|प्रति|हर|औसत|अधिक|ज़्यादा|ज्यादा|कम|बाकी|शेष|अंतर|दोगुन|आधा|तिहाई|चौथाई|अगर|यदि|परिवार",
    re.I,
)


def says_worked_out(reading: Reading, value: Value, others: Sequence[Reading]) -> bool:
    """Say whether a claim has a word of those with which what is worked out is told.

    Args:
        reading: The claim.
        value: What may be worked out; the words of it tell nothing.
        others: The sentences that say the same: a word that they have too tells nothing.
    """
    words = {
        " ".join(match[0].lower().split())
        for match in _WORKED.finditer(reading.text)
        if match.end() <= value.start or match.start() >= value.end
    }
    return bool(words) and not all(
        any(_has(other.text.lower(), word) for other in others) for word in words
    )


def _has(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        end += text[end : end + 1] == "s"
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        if not word.isascii() or not (before.isalnum() or after.isalnum()):
            return True
        at = text.find(word, at + 1)
    return False


def shown(value: Value, claim: Reading) -> bool:
    """Say whether a share is what two numbers of the same claim make: "9 of 23, or 39%"."""
    if value.unit != "%" and not _is_share(value):
        return False
    own = [one for one in claim.values if one.unit in _COUNTING and not one.agrees(value)]
    ratios = (
        (100.0 if value.unit == "%" else 1.0) * float(a / b)
        for one, two in permutations(own, 2)
        for a in numbers_of(one)
        for b in numbers_of(two)
        if 0 < a < b
    )
    numbers = [float(r) for r in numbers_of(value)]
    return any(_near(value, number, ratio) for ratio in ratios for number in numbers)


def is_the_rest(value: Value, lines: Lines, texts: Sequence[str]) -> bool:
    """Say whether a share is what others leave of the whole, where the context tells of a rest.

    Args:
        value: What the answer states.
        lines: The values of the sentences that speak of the same things, line by line.
        texts: Sentences about the same things.
    """
    if value.unit != "%" and not _is_share(value):
        return False
    if not any(_REST.search(text) for text in texts):
        return False
    whole = 100.0 if value.unit == "%" else 1.0
    numbers = [float(r) for r in numbers_of(value)]
    for line in lines:
        parts = [p for one in line for p in _part_of_whole(one, whole)]
        runs = (parts[at : at + n] for n in range(1, _LONGER) for at in range(len(parts) - n + 1))
        if any(_near(value, number, whole - sum(run)) for run in runs for number in numbers):
            return True
    return False


_REST = re.compile(
    r"\b(?:rest|remain\w*|balance|others?|the\s+other|übrige\w*|restlich\w*|reste|autres|restante?s?|resto|otros|altri|outros|"
    r"demais|rimanent\w*)\b|其余|剩|残り|باقي|البقية|शेष|बाकी",
    re.I,
)


def workable(value: Value, lines: Lines, claim: Reading) -> bool:
    """Say whether up to two steps lead to a value.

    Args:
        value: What the answer states.
        lines: The values of the sentences that speak of the same things, line by line.
        claim: Where it stands, with values that it may be worked out by.
    """
    if value.family != "number":
        return False
    own = [one for one in claim.values if not one.agrees(value) and not value.agrees(one)]
    known = _distinct([*own, *(one for line in lines for one in line)])
    wanted = [float(r) for r in numbers_of(value) if r]
    if not wanted or any(_miswritten(value, one) for one in known):
        return False
    if value.unit in ("%", "percentage point") or _is_share(value) or value.unit == "times":
        return any(
            _near(value, number, found) for number in wanted for found in _shares(value, known)
        )
    amounts = [a for one in known for a in _in_unit(value.unit, one)]
    if value.unit in ("second", "month"):
        amounts += [float(a) for unit, a in lengths_of_time(known) if unit == value.unit]
    amounts = list(dict.fromkeys(a for a in amounts if a))[:_MOST_AMOUNTS]
    factors = list(dict.fromkeys(f for one in known for f in _factors_of(one, value.unit)))
    factors = [*_ALWAYS, *factors[:_MOST_FACTORS], *_rates(known, value.unit)]
    found = list(_reached(amounts, factors))
    return any(_hits(value, number, found) for number in wanted)


def _miswritten(value: Value, one: Value) -> bool:
    """Whether the context has the very figure in another unit: 7.5 km, and 7.5 miles."""
    return (
        bool(value.unit and one.unit and value.bare & one.bare)
        and value.comparable(one)
        and (value.unit != one.unit or value.readings != one.readings)
    )


_ALWAYS = (2.0, 12.0, 7.0)
"""Factors that need not be said: of both, of a year, of a week."""


def _reached(amounts: Sequence[float], factors: Sequence[float]) -> Iterator[float]:
    """Yield what one or two steps make of amounts."""
    most = _MOST_TERMS if len(amounts) < _LONGER else 2
    for size in range(2, most + 1):
        yield from (sum(some) for some in combinations(amounts, size))
    for size in (3, 4, 5):
        yield from (sum(amounts[at : at + size]) for at in range(len(amounts) - size + 1))
    products = [x for a in amounts for f in factors for x in (a * f, a / f)]
    yield from products
    differences = [abs(a - b) for a, b in combinations(amounts, 2)]
    yield from differences
    yield from (x for d in differences for f in factors for x in (d * f, d / f))
    yield from (
        x for a, b in combinations(amounts, 2) for f in factors for x in ((a + b) * f, (a + b) / f)
    )
    yield from (abs(a + sign * p) for a in amounts for p in products for sign in (1, -1))
    counts = [f for f in factors if f in _SMALL_COUNTS]
    for a, b in combinations(amounts, 2):
        yield from (m * a + n * b for m in counts for n in counts)


_SMALL_COUNTS = frozenset(map(float, range(1, 7)))


def _distinct(values: Sequence[Value]) -> list[Value]:
    return list({(v.family, v.unit, v.readings): v for v in values}.values())


def _is_share(value: Value) -> bool:
    return not value.unit and all(isinstance(r, Fraction) and r < 1 for r in value.readings)


def _in_unit(unit: str, one: Value) -> Iterator[float]:
    """Yield the readings of a value in another unit of the same kind."""
    if one.family != "number" or (is_year(one) and unit):
        return
    numbers = [float(r) for r in numbers_of(one)]
    same = one.unit == unit or (unit in _COUNTING and one.unit in _COUNTING)
    if same or one.unit in AMBIGUOUS.get(unit, ()) or unit in AMBIGUOUS.get(one.unit, ()):
        yield from numbers
    elif unit in CURRENCIES and one.unit in CURRENCIES and "cent" in (unit, one.unit):
        yield from (n / 100 if one.unit == "cent" else n * 100 for n in numbers)
    elif one.unit in IMPERIAL and IMPERIAL[one.unit][0] == unit and not IMPERIAL[one.unit][2]:
        yield from (n * float(IMPERIAL[one.unit][1]) for n in numbers)
    elif unit in IMPERIAL and IMPERIAL[unit][0] == one.unit and not IMPERIAL[unit][2]:
        yield from (n / float(IMPERIAL[unit][1]) for n in numbers)


_COUNTING = ("", "person", "times")


def _factors_of(one: Value, unit: str) -> Iterator[float]:
    """Yield what a value may multiply by: a count, a share and what is left of it."""
    if one.family != "number" or is_year(one):
        return
    for bare in one.bare or one.readings:
        if not isinstance(bare, Fraction) or not bare:
            continue
        if one.unit in ("%", "percentage point"):
            yield from (float(s) for s in (bare / 100, 1 - bare / 100, 1 + bare / 100) if s)
        elif not one.unit and bare < 1:
            yield from (float(s) for s in (bare, 1 - bare))
        elif bare != 1 and (one.unit != unit or one.counts):
            yield float(bare)


def _rates(known: Sequence[Value], unit: str) -> Iterator[float]:
    """Yield how often one amount goes into another of its kind: 100 ml hold 20 times 5 ml."""
    kinds = {one.unit for one in known if one.family == "number" and one.unit not in ("", unit)}
    for kind in kinds - {"%", "percentage point"}:
        amounts = [float(r) for one in known if one.unit == kind for r in numbers_of(one)][:4]
        yield from (a / b for a in amounts for b in amounts if a and b and a != b)


def _shares(value: Value, known: Sequence[Value]) -> Iterator[float]:
    """Yield the shares, as they are written, that amounts make of each other."""
    whole = 100.0 if value.unit in ("%", "percentage point") else 1.0
    parts = [p for one in known for p in _part_of_whole(one, whole)]
    for size in (1, 2, 3, 4):
        for some in combinations(parts[:_LONGER], size):
            yield whole - sum(some)
            if size > 1:
                yield sum(some)
    yield from (abs(a - b) for a, b in combinations(parts, 2))
    numbers = [one for one in known if one.family == "number" and not is_year(one)]
    for one, two in combinations(numbers[:_MOST_FACTORS], 2):
        alike = one.unit == two.unit or {one.unit, two.unit} <= set(_COUNTING)
        for a in numbers_of(one) if alike else ():
            for b in numbers_of(two):
                x, y = float(a), float(b)
                if x > 0 < y:
                    yield from (whole * x / y, whole * y / x)
                    yield from (whole * abs(x - y) / x, whole * abs(x - y) / y)
                    yield from (whole * x / (x + y), whole * y / (x + y))
    totals = [float(r) for one in numbers if not one.unit for r in numbers_of(one) if r >= 1]
    if 2 < len(totals) <= _LONGER:
        yield from (whole * a / sum(totals) for a in totals)


def _part_of_whole(one: Value, whole: float) -> Iterator[float]:
    for number in numbers_of(one):
        if one.unit in ("%", "percentage point"):
            yield float(number) * whole / 100
        elif not one.unit and number < 1:
            yield float(number) * whole


def _hits(value: Value, number: float, found: Sequence[float]) -> bool:
    """Whether one of some numbers is the one that is stated."""
    reach = abs(number) * 0.09 + 1e-9
    low, high = number - reach, number + reach
    return any(low <= one <= high and _near(value, number, one) for one in found)


def _near(value: Value, number: float, found: float) -> bool:
    """Whether a number is what is stated, as exactly as it is stated."""
    apart = abs(number - found)
    if apart <= 1e-6 * abs(number):
        return True
    if value.approximate and apart <= 0.05 * abs(found):
        return True
    if value.approximate:
        exact = Fraction(found).limit_denominator(10**6)
        return value.rounds(Fraction(number).limit_denominator(10**6), exact)
    decimals = re.search(r"[.,](\d+)", value.text)
    if value.unit in ("%", "percentage point", "times"):
        return apart <= _HALF / float(10 ** len(decimals[1] if decimals else ""))
    if _is_share(value):
        return apart <= 0.05 * abs(found)
    if decimals is None or not number:
        return False
    bare = next((float(b) for b in value.bare if isinstance(b, Fraction) and b), number)
    place = abs(number / bare) * float(value.scale) / float(10 ** len(decimals[1]))
    return apart <= _HALF * place


_HALF = 0.51
"""Of the last place that is written, a little more than what rounding takes."""
