"""An entailed pair -> a pair that is not, or a twin that still is.

In: a premise, a claim that it entails, a foreign text, and a source of chance. Out: `Made`: a
premise and a claim with their target, or None where a change has nothing to hold on to. Every
change that makes a claim false has twins of the same look that leave it true, and values also
change in the premise instead of the claim, so that a claim alone tells nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from faithguard.train._rows import Target
from faithguard.verifiers._function_words import FUNCTION_WORDS
from faithguard.verifiers._values import Value, find_values

__all__ = ["Made", "beside", "names_in", "true_twin", "untrue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A pair that was made from another."""

    premise: str
    claim: str
    target: Target


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    premise: str
    claim: str
    foreign: str
    rng: random.Random

    def claiming(self, claim: str, target: Target) -> Made:
        return Made(premise=self.premise, claim=claim, target=target)


_Change: TypeAlias = Callable[[_Pair], Made | None]


def untrue(premise: str, claim: str, foreign: str, rng: random.Random) -> Made | None:
    """Return a pair that is not entailed, made from one that is."""
    pair = _Pair(premise=premise, claim=claim, foreign=foreign, rng=rng)
    return _framed(_first(_UNTRUE, pair), rng)


def true_twin(premise: str, claim: str, foreign: str, rng: random.Random) -> Made | None:
    """Return a pair that is entailed still, with the look of one that was changed."""
    pair = _Pair(premise=premise, claim=claim, foreign=foreign, rng=rng)
    return _framed(_first(_TWINS, pair), rng)


def _first(changes: Sequence[_Change], pair: _Pair) -> Made | None:
    """Return what the first change in a random order makes, if any can."""
    for change in pair.rng.sample(changes, len(changes)):
        made = change(pair)
        if made is not None and (made.claim, made.premise) != (pair.claim, pair.premise):
            return made
    return None


_FRAMES = (
    "According to the document, {}",
    "The text says that {}",
    "It is stated that {}",
    "The context mentions that {}",
    "As described, {}",
    "Summary: {}",
    "Steps: {}",
    "Key facts: {}",
    "Good to know: {}",
)


def _framed(made: Made | None, rng: random.Random) -> Made | None:
    """Say, for some pairs of either kind, who says it."""
    if made is None or rng.random() > 0.1 or "?" in made.claim:
        return made
    head, _, rest = made.claim.partition(" ")
    small = head.lower() if head in _PLAIN and head != "I" else head
    claim = rng.choice(_FRAMES).format(f"{small} {rest}")
    return Made(premise=made.premise, claim=claim, target=made.target)


# -- values -----------------------------------------------------------------------------------


def _other_value(pair: _Pair) -> Made | None:
    """Replace a value that both hold, in the claim or wherever the premise says it."""
    there = find_values(pair.premise)
    shared = [
        (mine, same)
        for mine in find_values(pair.claim)
        if (same := [value for value in there if mine.agrees(value)])
    ]
    if not shared:
        return None
    mine, same = pair.rng.choice(shared)
    others = [value.text for value in there if mine.comparable(value) and not mine.agrees(value)]
    text = _changed(mine, pair.rng)
    if others and pair.rng.random() < 0.5:
        text = pair.rng.choice(others)
    elif text is None:
        return None
    if pair.rng.random() < 0.5 and text not in others:
        premise = pair.premise
        for value in reversed(same):
            premise = premise[: value.start] + text + premise[value.end :]
        return Made(premise=premise, claim=pair.claim, target="c")
    return pair.claiming(pair.claim[: mine.start] + text + pair.claim[mine.end :], "c")


def beside(premise: str, claim: str, foreign: str, rng: random.Random) -> Made | None:
    """Return the claim, or the claim with a value that the foreign text holds, beside that text.

    What stands there belongs to something else, so it neither harms the claim nor bears it out.
    None where the foreign text holds no value of a kind that the claim has.
    """
    there, around = find_values(premise), find_values(foreign)
    pairs = [
        (mine, other)
        for mine in find_values(claim)
        if any(mine.agrees(value) for value in there)
        for other in around
        if mine.comparable(other) and not any(other.agrees(value) for value in there)
    ]
    if not pairs:
        return None
    texts = [premise, foreign]
    rng.shuffle(texts)
    whole = " ".join(texts)
    if rng.random() < 0.45:
        return Made(premise=whole, claim=claim, target="e")
    mine, other = rng.choice(pairs)
    wrong = claim[: mine.start] + other.text + claim[mine.end :]
    return Made(premise=whole, claim=wrong, target="c")


_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORDS: Sequence[str] = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _changed(value: Value, rng: random.Random) -> str | None:
    """Return the text of another value of the same form."""
    numbers = list(_DIGITS.finditer(value.text))
    if numbers and rng.random() < 0.9:
        found = rng.choice(numbers)
        other = _other_number(found[0], rng)
        return value.text[: found.start()] + other + value.text[found.end() :]
    for series in (_MONTHS, _DAYS, _WORDS[1:]):
        for word in re.findall(r"[A-Za-z]+", value.text):
            known = word if word in series else word.lower()
            if known in series:
                other = rng.choice([entry for entry in series if entry != known])
                return value.text.replace(word, other.title() if word[0].isupper() else other, 1)
    return None


def _other_number(text: str, rng: random.Random) -> str:
    """Return another number, written as this one is; a year stays near."""
    plain = text.replace(",", "")
    whole, _, places = plain.partition(".")
    number = int(whole)
    if len(whole) == 4 and "," not in text and not places:
        other = number + rng.choice((-1, 1)) * rng.randint(1, 12)
    elif number < 10:
        other = rng.choice([n for n in range(1, 13) if n != number])
    else:
        way = rng.random()
        if way < 0.2:
            other = number * 10
        elif way < 0.5:
            other = number + rng.choice((-1, 1)) * rng.randint(1, 9)
        else:
            other = round(number * rng.choice((0.5, 0.75, 0.8, 1.2, 1.25, 1.5, 2, 3)))
    other = other + 1 if other == number else max(other, 1)
    written = f"{other:,}" if "," in text else str(other)
    return f"{written}.{places}" if places else written


_UNITS = (
    "seconds minutes hours days weeks months years",
    "km kilometres kilometers miles metres meters feet inches centimetres centimeters",
    "kg kilograms pounds grams tonnes tons ounces",
    "thousand million billion trillion",
    "dollars euros pounds yen rupees",
    "second minute hour day week month year",
)
_UNIT = re.compile(
    rf"(?<=\d )(?:{'|'.join(sorted({u for line in _UNITS for u in line.split()}))})\b"
)
_SIGNS = re.compile(r"[$€£](?=\d)")


def _other_unit(pair: _Pair) -> Made | None:
    """Replace a unit, a magnitude or a currency behind or before a number."""
    found = [m for m in (*_UNIT.finditer(pair.claim), *_SIGNS.finditer(pair.claim))]
    if not found:
        return None
    match = pair.rng.choice(found)
    if match[0] in "$€£":
        others = [sign for sign in "$€£" if sign != match[0]]
    else:
        line = next(line.split() for line in _UNITS if match[0] in line.split())
        others = [unit for unit in line if unit[:4] != match[0][:4]]
    return pair.claiming(_replaced(pair.claim, match, pair.rng.choice(others)), "c")


# -- names ------------------------------------------------------------------------------------

_NAME = re.compile(r"\b[A-Z][\w’'-]*(?:(?: (?:of|de|van|der|the|al|bin))? [A-Z][\w’'-]*)*")
_PLAIN = frozenset(
    "A An The This That These Those It He She They We I You In On At Of For From By With And But "
    "Or If When While After Before There Here His Her Its Their Our My Your As To No Not Yes All "
    "Some Many Most What Who Which How Why Where Is Are Was Were Do Does Did Can".split()
)


def names_in(text: str) -> list[str]:
    """Return the names of a text: capitalised runs that do not only begin a sentence."""
    found: list[str] = []
    for match in _NAME.finditer(text):
        name = match[0].split(" ", 1)[-1] if match[0].split(" ")[0] in _PLAIN else match[0]
        begins = match.start() == 0 or text[: match.start()].rstrip().endswith((".", "!", "?"))
        if name in _PLAIN or name in _MONTHS or name in _DAYS or (begins and " " not in name):
            continue
        found.append(name)
    return list(dict.fromkeys(found))


def _other_name(pair: _Pair) -> Made | None:
    """Replace a name by another of the premise or of the foreign text; or in the premise."""
    known = names_in(pair.premise)
    mine = [name for name in known if name in pair.claim] or names_in(pair.claim)
    if not mine:
        return None
    name = pair.rng.choice(mine)
    near = [n for n in known if n not in pair.claim and name not in n and n not in name]
    far = [n for n in names_in(pair.foreign) if n not in pair.premise and n not in pair.claim]
    if far and name in pair.premise and pair.rng.random() < 0.4:
        premise = pair.premise.replace(name, pair.rng.choice(far))
        return Made(premise=premise, claim=pair.claim, target="nc")
    others = near if near and (not far or pair.rng.random() < 0.7) else far
    if not others:
        return None
    return pair.claiming(pair.claim.replace(name, pair.rng.choice(others)), "nc")


_SYMMETRIC = re.compile(r"\b(?:and|or|with|between|both|versus|vs)\b|[,;&]")


def _exchanged_roles(pair: _Pair) -> Made | None:
    """Let two names of a claim change places, unless what joins them reads both ways."""
    names = [name for name in names_in(pair.premise) if pair.claim.count(name) == 1]
    order = sorted(names, key=pair.claim.index)
    couples = [
        (a, b)
        for a, b in pairwise(order)
        if pair.claim.index(a) + len(a) < pair.claim.index(b)
        and a not in b
        and b not in a
        and _between(pair.claim, a, b).strip()
        and not _SYMMETRIC.search(_between(pair.claim, a, b))
    ]
    if not couples:
        return None
    a, b = pair.rng.choice(couples)
    return pair.claiming(pair.claim.replace(a, "\0").replace(b, a).replace("\0", b), "nc")


def _between(text: str, a: str, b: str) -> str:
    return text[text.index(a) + len(a) : text.index(b)]


# -- words ------------------------------------------------------------------------------------

_OPPOSITES = """
    increase decrease|increased decreased|increases decreases|rise fall|rose fell|risen fallen|
    more less|more fewer|before after|first last|highest lowest|higher lower|above below|
    north south|east west|northern southern|eastern western|win lose|won lost|wins loses|
    male female|man woman|men women|boy girl|father mother|son daughter|brother sister|
    husband wife|open closed|opened closed|allowed forbidden|required optional|
    include exclude|includes excludes|included excluded|accept reject|accepted rejected|
    always never|with without|largest smallest|larger smaller|biggest smallest|oldest youngest|
    older younger|early late|earlier later|minimum maximum|best worst|better worse|success failure|
    successful unsuccessful|possible impossible|legal illegal|public private|alive dead|born died|
    began ended|begin end|started finished|buy sell|bought sold|import export|short long|
    hot cold|warm cold|young old|near far|inside outside|left right|same different|
    common rare|safe dangerous|cheap expensive|strong weak|fast slow|full empty|
    support oppose|supported opposed|agreed refused|agree disagree|remember forget|
    positive negative|former current|ancient modern|major minor|upper lower|summer winter
"""
_OPPOSITE: dict[str, list[str]] = {}
for _one, _two in (entry.split() for entry in _OPPOSITES.split("|")):
    _OPPOSITE.setdefault(_one, []).append(_two)
    _OPPOSITE.setdefault(_two, []).append(_one)

_STRONGER: Mapping[str, Sequence[str]] = {
    "some": ("all", "most", "no"),
    "many": ("all", "most", "few"),
    "most": ("all", "few"),
    "several": ("all", "most", "no"),
    "few": ("many", "all"),
    "often": ("always", "never", "rarely"),
    "sometimes": ("always", "never"),
    "usually": ("always", "never"),
    "rarely": ("often", "always"),
    "may": ("must", "will always"),
    "might": ("will",),
    "could": ("will",),
    "can": ("cannot", "must"),
    "partly": ("entirely",),
    "nearly": ("more than",),
    "almost": ("more than",),
    "over": ("under",),
    "about": ("less than half of",),
    "all": ("only some", "none of", "few"),
    "every": ("only one",),
}

_AUXILIARY = re.compile(
    r"\b(?:is|was|are|were|has been|have been|had been|can|will|does|did|would|could|should|must)\b"
    r"(?! not\b|n't|\?)"
)
_DENIED = re.compile(
    r"\b(is|was|are|were|can|could|did|does|do|would|should|has|have|had)(?: not|n't)\b"
)


def _denied(pair: _Pair) -> Made | None:
    """Put a negation in, or take it out; in the claim, or where the premise says the same."""
    if (match := _DENIED.search(pair.claim)) is not None:
        return pair.claiming(_replaced(pair.claim, match, match[1]), "c")
    found = list(_AUXILIARY.finditer(pair.claim))
    if not found or "?" in pair.claim:
        return None
    match = found[0]
    words = match[0].split()
    wrong = " ".join([words[0], pair.rng.choice(("not", "not", "never")), *words[1:]])
    if words[0] == "can" and pair.rng.random() < 0.5:
        wrong = "cannot"
    return pair.claiming(_replaced(pair.claim, match, wrong), "c")


def _opposite(pair: _Pair) -> Made | None:
    """Replace a word by its opposite, in the claim or in the premise if both hold it once."""
    found = [m for m in re.finditer(r"[a-z]+", pair.claim) if m[0] in _OPPOSITE]
    if not found:
        return None
    match = pair.rng.choice(found)
    other = pair.rng.choice(_OPPOSITE[match[0]])
    there = list(re.finditer(rf"\b{match[0]}\b", pair.premise))
    if len(there) == 1 and pair.rng.random() < 0.5:
        premise = _replaced(pair.premise, there[0], other)
        return Made(premise=premise, claim=pair.claim, target="nc")
    return pair.claiming(_replaced(pair.claim, match, other), "nc")


def _stronger(pair: _Pair) -> Made | None:
    """Replace a quantifier or a modal by one that claims more, or the other way."""
    found = [m for m in re.finditer(r"[A-Za-z]+", pair.claim) if m[0].lower() in _STRONGER]
    if not found:
        return None
    match = pair.rng.choice(found)
    other = pair.rng.choice(_STRONGER[match[0].lower()])
    other = other[0].upper() + other[1:] if match[0][0].isupper() else other
    return pair.claiming(_replaced(pair.claim, match, other), "nc")


def _added(pair: _Pair) -> Made | None:
    """Add to the claim what a foreign sentence begins with."""
    words = pair.foreign.split()
    if len(words) < 5 or pair.rng.random() < 0.6:  # it always fits, and others must have a turn
        return None
    most = len(words) if len(words) <= 14 else pair.rng.randint(5, 10)
    head, *rest = words[:most]
    head = head.lower() if head in _PLAIN and head != "I" else head
    clause = " ".join([head, *rest]).rstrip(".,;:")
    joint = pair.rng.choice((", and", " and", " because", ", while"))
    return pair.claiming(f"{pair.claim.rstrip('.')}{joint} {clause}.", "n")


_CONTENT = re.compile(r"(?<![\w'’-])[a-z]{4,}(?![\w'’-])")
_ENDS = ("ing", "ed", "ly", "s")


def _alike(text: str) -> dict[str, list[str]]:
    """Return the plain words of a text by how they end, which tells most verbs from nouns."""
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(_CONTENT.findall(text)):
        if word not in FUNCTION_WORDS:
            found.setdefault(next((e for e in _ENDS if word.endswith(e)), ""), []).append(word)
    return found


def _exchange(pair: _Pair) -> tuple[str, str] | None:
    """Return a word of the claim, and a foreign one that ends like it and stands in neither."""
    mine, others = _alike(pair.claim), _alike(pair.foreign)
    known = f"{pair.premise} {pair.claim}".lower()
    pairs = [
        (word, other)
        for end, words in mine.items()
        for word in words
        for other in others.get(end, ())
        if other[:4] not in known
    ]
    return pair.rng.choice(pairs) if pairs else None


def _with_word(text: str, word: str, other: str) -> str:
    return re.sub(rf"(?<![\w'’-]){word}(?![\w'’-])", other, text)


def _other_word(pair: _Pair) -> Made | None:
    """Replace a word of the claim by one that has nothing to do with it; or in the premise.

    Whoever reads half of a sentence and takes the rest for granted must be wrong sometimes.
    """
    exchange = _exchange(pair)
    if exchange is None:
        return None
    premise = _with_word(pair.premise, *exchange)
    if premise != pair.premise and pair.rng.random() < 0.3:
        return Made(premise=premise, claim=pair.claim, target="nc")
    return pair.claiming(_with_word(pair.claim, *exchange), "nc")


def _other_end(pair: _Pair) -> Made | None:
    """Let the claim end as a foreign sentence does."""
    mine, other = pair.claim.rstrip(".!").split(), pair.foreign.rstrip(".!").split()
    if len(mine) < 6 or len(other) < 6 or pair.rng.random() < 0.5:
        return None
    comma = next((n for n, word in enumerate(mine, 1) if word.endswith(",") and n > 2), 0)
    head = mine[: comma or pair.rng.randint(len(mine) // 3, 2 * len(mine) // 3)]
    tail = other[-pair.rng.randint(3, 8) :]
    return pair.claiming(f"{' '.join([*head, *tail])}.", "n")


# -- twins ------------------------------------------------------------------------------------

_SPELLED = re.compile(rf"\b(?:{'|'.join(_WORDS[2:])})\b", re.IGNORECASE)
_SMALL = re.compile(r"(?<![\d.,$€£:/-])\b(?:[2-9]|1\d|20)\b(?![\d.,:/%-]\d|%|th|st|nd|rd)")
_LARGE = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,])")
_PERCENT = re.compile(r"(?<=\d)(?:%| percent\b| per cent\b)")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)})(?:,? (\d{{4}}))?\b")
_MONTH_FIRST = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}})(?:, (\d{{4}}))?\b(?!,? \d)")
_EXACT = {
    "hours": (60, "minutes"),
    "weeks": (7, "days"),
    "years": (12, "months"),
    "minutes": (60, "seconds"),
    "days": (24, "hours"),
    "km": (1_000, "metres"),
    "kg": (1_000, "grams"),
}
_EXACTLY = re.compile(rf"\b([2-9]|[1-4]\d) ({'|'.join(_EXACT)})\b(?! old)")


_WRITINGS: Sequence[tuple[re.Pattern[str], Callable[[str], str]]] = (
    (_LARGE, lambda text: text.replace(",", "")),
    (_PERCENT, lambda text: " percent" if text == "%" else "%"),
    (_SMALL, lambda text: _WORDS[int(text)]),
    (_SPELLED, lambda text: str(_WORDS.index(text.lower()))),
)


def _same_number(pair: _Pair) -> Made | None:
    """Write a number another way: in words, in digits, without its separators."""
    for pattern, written in _WRITINGS:
        if (match := pattern.search(pair.claim)) is not None:
            return pair.claiming(_replaced(pair.claim, match, written(match[0])), "e")
    return None


def _same_date(pair: _Pair) -> Made | None:
    """Write a date in another order, or its month short."""
    if (match := _DAY_FIRST.search(pair.claim)) is not None:
        year = f", {match[3]}" if match[3] else ""
        return pair.claiming(_replaced(pair.claim, match, f"{match[2]} {match[1]}{year}"), "e")
    if (match := _MONTH_FIRST.search(pair.claim)) is not None:
        month = match[1] if pair.rng.random() < 0.6 else match[1][:3]
        year = f" {match[3]}" if match[3] else ""
        return pair.claiming(_replaced(pair.claim, match, f"{match[2]} {month}{year}"), "e")
    return None


def _same_unit(pair: _Pair) -> Made | None:
    """Write a quantity in a smaller unit."""
    if (match := _EXACTLY.search(pair.claim)) is None:
        return None
    factor, unit = _EXACT[match[2]]
    return pair.claiming(_replaced(pair.claim, match, f"{int(match[1]) * factor} {unit}"), "e")


_ASIDE = re.compile(r" \([^()]*\)")


def _without_aside(pair: _Pair) -> Made | None:
    """Leave out what stands in brackets."""
    claim = _ASIDE.sub("", pair.claim)
    return pair.claiming(claim, "e") if claim != pair.claim and len(claim.split()) > 3 else None


def _contracted(pair: _Pair) -> Made | None:
    """Write a negation short or long."""
    if (match := _DENIED.search(pair.claim)) is None or match[1] in ("can", "will"):
        return None
    short = match[0].endswith("n't")
    return pair.claiming(
        _replaced(pair.claim, match, f"{match[1]} not" if short else f"{match[1]}n't"), "e"
    )


def _surname(pair: _Pair) -> Made | None:
    """Call a person or thing by the last word of a name that the premise has in full."""
    full = [n for n in names_in(pair.premise) if n.count(" ") == 1 and n in pair.claim]
    if not full:
        return None
    name = pair.rng.choice(full)
    return pair.claiming(pair.claim.replace(name, name.split()[-1]), "e")


def _same_other_word(pair: _Pair) -> Made | None:
    """Replace a word that both hold by one that has nothing to do with them, in both."""
    exchange = _exchange(pair)
    if exchange is None:
        return None
    premise = _with_word(pair.premise, *exchange)
    if premise == pair.premise:
        return None
    return Made(premise=premise, claim=_with_word(pair.claim, *exchange), target="e")


def _cased(pair: _Pair) -> Made | None:
    """Leave the full stop out, or write one."""
    claim = pair.claim
    return pair.claiming(claim[:-1] if claim.endswith(".") else f"{claim}.", "e")


def _replaced(text: str, match: re.Match[str], other: str) -> str:
    return text[: match.start()] + other + text[match.end() :]


_UNTRUE: Sequence[_Change] = (
    _other_value,
    _other_value,  # the fault that answers have most often
    _other_unit,
    _other_name,
    _exchanged_roles,
    _denied,
    _opposite,
    _stronger,
    _added,
    _other_word,
    _other_word,  # it shows that a claim must be borne out word by word
    _other_end,
)

_TWINS: Sequence[_Change] = (
    _same_number,
    _same_date,
    _same_unit,
    _without_aside,
    _contracted,
    _surname,
    _same_other_word,
    _cased,
)
