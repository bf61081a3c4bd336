"""Quantities: counts, shares, ratios and years.

In: a claim and its context. Out: a veto where a number stands nowhere or belongs to something
else, where a bound is turned ("up to 30", "at least 30"), a rate has another period, or "rose by"
became "rose to"; else silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._values import Value
from faithguard.verifiers._values._units import unit_of
from faithguard.verifiers.rules._crossed import crossed, turned_round
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._hours import hours_given
from faithguard.verifiers.rules._keyed import keyed_elsewhere
from faithguard.verifiers.rules._marks import marked_otherwise
from faithguard.verifiers.rules._measures import distinct, every_holding, holding, keys_between
from faithguard.verifiers.rules._parts import negates
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, scene_of
from faithguard.verifiers.rules._spans import is_same_stretch
from faithguard.verifiers.rules._stated import stated

__all__ = ["Quantities"]

_UNITS = ("", "%", "permille", "percentage point", "ratio", "person", "times")
_SAME_STATEMENT = 0.35
"""Share of a claim's content that a sentence must hold before its bound can contradict."""

_ONLY_ONE = 0.2
"""The same where no other sentence holds the value."""

_MOST = re.compile(
    r"(?:\b(?:up\s+to|at\s+most|at\s+maximum|no\s+(?:more|larger|greater|higher|bigger|heavier|older|taller|wider|further)\s+than|not\s+(?:exceed|more\s+than)|(?:a\s+)?maximum"
    r"(?:\s+of)?|max\.?|less\s+than|fewer\s+than|under|below|within|no\s+(?:later|longer)\s+than|not\s+(?:later|longer)\s+than|not\s+exceed(?:ing)?"
    r"|höchstens|maximal|bis\s+zu|weniger\s+als|unter|au\s+(?:plus|maximum)|jusqu['’]à|moins\s+de"
    r"|como\s+máximo|hasta|menos\s+de|al\s+massimo|fino\s+a|meno\s+di|no\s+máximo|até|menos\s+de"
    r"|अधिकतम)|(?:最多|至多|不超过|不超過|最大)[\u4e00-\u9fff]{0,2}|(?:على\s+الأكثر|بحد\s+أقصى))\s*(?:an?\s+|the\s+)?$",
    re.I,
)
_LEAST = re.compile(
    r"(?:\b(?:at\s+least|no\s+(?:less|fewer|smaller|lower|lighter|younger)\s+than|not\s+less\s+than|(?:a\s+)?minimum(?:\s+of)?|min\.?"
    r"|more\s+than|over|above|exceed(?:s|ing)?|mindestens|wenigstens|mehr\s+als|über|au\s+(?:moins|minimum)|plus\s+de"
    r"|al\s+menos|por\s+lo\s+menos|como\s+mínimo|más\s+de|almeno|più\s+di|oltre|pelo\s+menos"
    r"|no\s+mínimo|mais\s+de|कम\s+से\s+कम)|(?:至少|最少|超过)[\u4e00-\u9fff]{0,2}|(?:على\s+الأقل|لا\s+يقل\s+عن))\s*(?:an?\s+|the\s+)?$",
    re.I,
)
_AFTER_MOST = re.compile(
    r"\s*(?:or\s+(?:less|fewer|under)|at\s+(?:the\s+)?most|maximum|以下|以内|まで|までに|未満|से\s+कम|तक)",
    re.I,
)
_AFTER_LEAST = re.compile(
    r"\s*(?:or\s+(?:more|over|older)|and\s+(?:over|above)|at\s+least|minimum|以上|से\s+(?:अधिक|ज़्यादा|ज्यादा))",
    re.I,
)
_STRICT = re.compile(r"(?:less|fewer|under|below|unter|weniger|moins|menos|meno)\b", re.I)
"""What says "at least" once it is denied."""
_NEVER_GOES = re.compile(
    r"\b(?:never|no|not|cannot|n['’]t)\s+(?:be\s+|goes?\s+|falls?\s+|drops?\s+|dips?\s+|sinks?\s+|fallen\s+)*$",
    re.I,
)
_DENIED = re.compile(
    r"\b(?:no|not|never|cannot|nobody|none|\w+n['’]t|nicht|keine?r?|ne|no|non|nunca|não)\s(?:\s?(?!provided|if|when|unless|that|who|which)[^\W\d]+){0,8}\s*$",
    re.I,
)
_RELATIVE = re.compile(r"\s*(?:before|after|prior|in\s+advance|ahead|apart|earlier|later)\b", re.I)
_PERIOD = re.compile(
    r"\W{0,2}(?:[^\W\d_]+\s){0,3}?(?:(?:per|an?|each|every|pro|je|im|am|in\s+der|par|por|al|ao|a\s+la|à\s+la|alla|y)\s+|/\s?|all['’])"
    r"((?:second|other)\s+(?:day|week|month|year)|second|minute|hour|day|week|month|quarter|year|night|sekunde|stunde|tag|woche|monat|jahr"
    r"|jour|semaine|mois|an\b|día|semana|mes|año|giorno|settimana|mese|anno|dia|mês|ano)",
    re.I,
)
_MEASURE = re.compile(
    r"\W{0,2}(?:(?:per|pro|por|par|an?|each)\s|/\s?)"
    r"((?:square|cubic)[\s-][^\W\d_]+|[^\W\d_]{1,14}[²³]?)(?!\w)",
    re.I,
)
_EVERY_CJK = re.compile("(?:每[个個]?|毎)([天日周週月年]|小时|小時|時間)[^，。,]{0,6}$")
_LY = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year",
       "annually": "year", "annual": "year"}  # fmt: skip
_CHANGE = re.compile(
    r"\b(?:rose|rise[sn]?|rising|grew|grow[sn]?|increase[sd]?|climb(?:s|ed)?|jump(?:s|ed)?|fell|fall(?:s|en)?"
    r"|drop(?:s|ped)?|decline[sd]?|decrease[sd]?|reduced?|widen(?:s|ed)?|narrow(?:s|ed)?|cut|shrank"
    r"|improve[sd]?|gained|lost|slipped|down|up|went\s+up|went\s+down)\s+(?:[^\W\d_]+\s+){0,4}?"
    r"(?:from\s+\S+\s+(?:[^\W\d_]+\s+)?)?(by|to)\s+(?:about\s+|around\s+|roughly\s+|just\s+|only\s+|nearly\s+)?$",
    re.I,
)
_ORDER = re.compile(r"\b(before|after)\s+(?:the\s+)?$", re.I)
_FROM = re.compile(
    r"\b(?:down|up|rose|fell|grew|dropped|increased|decreased|cut|raised|lowered|reduced)\s+from\s+$",
    re.I,
)
_FROM_TO = re.compile(r"\bfrom\s+\S+(?:\s+[^\W\d_]+)?\s+to\s+$", re.I)


class Quantities(Family):
    """Veto a number that the context does not hold, or holds of something else."""

    name = "quantities@8"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every number is held."""
        scene = scene_of(claim, context)
        ranked = _ranked_otherwise(scene, self.name) or _other_rank(scene, self.name)
        if ranked is not None:
            return ranked
        if not scene.reading.values:
            return None
        if (hours := hours_given(scene, self.name)) is not None:
            return hours
        return (
            stated(scene, self.name, _counts)
            or crossed(scene, self.name, _counts)
            or turned_round(scene, self.name)
            or _turned(scene, self.name)
            or _other_sign(scene, self.name)
            or _other_end(scene, self.name)
            or marked_otherwise(scene, self.name)
            or keyed_elsewhere(scene, self.name)
        )


def _counts(value: Value) -> bool:
    return value.family == "number" and value.unit in _UNITS


_TO = re.compile(r"\s*(?:-|–|—|to|and|bis|à|a|e|y|et|und)\s*", re.I)


def _other_end(scene: Scene, name: str) -> Verdict | None:
    """Veto "from 19 to 39" where the context says "from 19 to 29"."""
    for low, high in _ranges(scene.reading):
        if is_same_stretch(scene, low):
            continue
        for near in scene.near:
            if near.share < _SAME_STATEMENT:
                break
            pairs = list(_ranges(near.reading))
            if any(low.agrees(a) and high.agrees(b) for a, b in pairs):
                break
            for a, b in pairs:
                alike = a.comparable(low) and b.comparable(high)
                if alike and low.agrees(a) != high.agrees(b):
                    theirs = near.reading.text[a.start : b.end]
                    mine = scene.reading.text[low.start : high.end]
                    reason = f"the context says {theirs!r}, the answer {mine!r}"
                    return contradiction(scene, name, reason, near)
    return None


def _ranges(reading: Reading) -> Iterator[tuple[Value, Value]]:
    for low, high in pairwise(reading.values):
        if low.family == high.family and _TO.fullmatch(reading.text, low.end, high.start):
            gap = reading.text[low.end : high.start].strip().lower()
            before = reading.text[: low.start].rstrip().lower()
            if gap not in _ANDS or before.endswith(("between", "zwischen", "entre", "tra")):
                yield low, high


_ANDS = frozenset("and a e y et und".split())


_RANK = re.compile(
    r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|final|\d{1,2}(?:st|nd|rd|th))\s+"
    r"(quarter|half|week|month|year|day|monday|tuesday|wednesday|thursday|friday|saturday|sunday|floor|term"
    r"|semester|stage|round|place|prize|edition|chapter|row|grade|lap|act|phase|attempt|class|season)s?\b",
    re.I,
)


def _ranked_otherwise(scene: Scene, name: str) -> Verdict | None:
    """Veto "the third quarter" where the sentence that says the rest has the first."""
    for match in _RANK.finditer(scene.reading.text):
        rank, noun = (match[n].lower() for n in (1, 2))
        rank = _RANKS.get(rank, rank)
        for near in scene.near:
            if near.share < _SAME_SENTENCE:
                break
            ranks = [
                _RANKS.get(other[1].lower(), other[1].lower())
                for other in _RANK.finditer(near.reading.text)
                if other[2].lower() == noun
            ]
            if rank in ranks or re.search(rf"\b{rank}\b", near.reading.text, re.I):
                break
            if len(ranks) == 1:
                reason = f"the context says the {ranks[0]} {noun}, the answer the {rank}"
                return contradiction(scene, name, reason, near)
    return None


_BEST = re.compile(
    r"\b(?:the\s+|its\s+|their\s+)?(second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)[\s-]+"
    r"(best|worst|most|least|[a-z]{2,10}est)\b",
    re.I,
)


def _other_rank(scene: Scene, name: str) -> Verdict | None:
    """Veto "the second-largest" where the sentence that says the rest has the third-largest."""
    for match in _BEST.finditer(scene.reading.text):
        rank, quality = match[1].lower(), match[2].lower()
        for near in scene.near:
            if near.share < _SAME_STATEMENT:
                break
            others = [o[1].lower() for o in _BEST.finditer(near.reading.text)]
            if rank in others:
                break
            same = [o for o in _BEST.finditer(near.reading.text) if o[2].lower() == quality]
            if len(same) == len(others) == 1:
                reason = f"the context says {same[0][0]!r}, the answer {match[0]!r}"
                return contradiction(scene, name, reason, near)
    return None


_SAME_SENTENCE = 0.6
_RANKS = {
    "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth",
    "6th": "sixth", "7th": "seventh", "8th": "eighth", "9th": "ninth", "10th": "tenth",
    "final": "last",
}  # fmt: skip


def _turned(scene: Scene, name: str) -> Verdict | None:
    """Veto a value that the context states with another bound, period or direction."""
    for value in distinct(scene.reading):
        if value.family not in ("number", "date", "clock"):
            continue
        mine = _manner(scene.reading, value)
        if not any(mine) or _of_the_rest(scene, value):
            continue
        against: list[tuple[Near, str, str]] = []
        holders = list(every_holding(scene, value))
        enough = _SAME_STATEMENT if len({near.number for near, _ in holders}) > 1 else _ONLY_ONE
        for near, other in holders:
            theirs = _manner(near.reading, other)
            clash = next((pair for pair in zip(mine, theirs, strict=True) if _clash(*pair)), None)
            if clash is None or near.share < enough:
                break
            if clash[0] in _BOUNDS and _denies(scene.reading, value) != _denies(
                near.reading, other
            ):
                break  # "not after noon" is "before noon"
            if clash[0] in _BOUNDS and _BEYOND.search(near.reading.text, other.end):
                break  # it tells of what lies beyond, too: "up to 35, anything above is declined"
            against.append((near, *clash))
        else:
            if against:
                near, own, theirs_said = against[0]
                reason = f"of {value.text!r} the context says {theirs_said!r}, the answer {own!r}"
                return contradiction(scene, name, reason, near)
    return None


_BEYOND = re.compile(
    r"\b(?:above|beyond|more|higher|longer|larger|greater|older|heavier|less|lower|below|shorter|younger"
    r"|smaller|lighter|otherwise|else)\b(?!\s+(?:than|average|\d))",
    re.I,
)
_MORE = re.compile(
    r"\s*(?:[^\W\d]+\s+)?(?:(?P<more>more|higher|above|longer|a\s+mais|más|acima|de\s+plus|mehr|höher|in\s+più|अधिक|ज़्यादा)"
    r"|(?P<less>less|fewer|lower|below|shorter|a\s+menos|menos|abaixo|de\s+moins|weniger|niedriger|in\s+meno|कम))"
    r"\s+(?:than|than\s+in|do\s+que|que|als|di|de|que\s+en)\b",
    re.I,
)


def _other_sign(scene: Scene, name: str) -> Verdict | None:
    """Veto "12% more than in May" where the sentence that says the rest has 12% less."""
    for value in distinct(scene.reading):
        mine = _MORE.match(scene.reading.text, value.end)
        if mine is None:
            continue
        for near, other in holding(scene, value):
            theirs = _MORE.match(near.reading.text, other.end)
            if theirs is None or near.share < _SAME_STATEMENT:
                return None
            before = keys_between(near.reading, 0, other.start)
            after = keys_between(near.reading, theirs.end(), len(near.reading.text))
            own = keys_between(scene.reading, 0, value.start)
            if (mine["more"] is None) == (theirs["more"] is None) or own & (after - before):
                return None  # "members pay 5 less", "guests pay 5 more than members"
            if own & before:
                said = near.reading.text[other.start : theirs.end()]
                return contradiction(scene, name, f"the context says {said!r}", near)
    return None


def _of_the_rest(scene: Scene, value: Value) -> bool:
    """Whether a claim gives a share that the context does not: that of the others."""
    return any(
        other is not value
        and other.family == "number"
        and not scene.context.holders(other)
        and (
            other.unit == "%" or any(isinstance(r, Fraction) and 0 < r < 1 for r in other.readings)
        )
        for other in scene.reading.values
    )


_BOUNDS = frozenset(("at most", "at least", "before", "after"))


def _denies(reading: Reading, value: Value) -> bool:
    """Whether a sentence denies what it says up to a bound, and not only the bound."""
    before = reading.text[max(0, value.start - 60) : value.start]
    match = _MOST.search(before) or _LEAST.search(before)
    start = value.start - len(before) + match.start() if match else value.start
    if match and (_NEVER_GOES.search(before[: match.start()]) or _DENIED.search(before)):
        return False
    clause = reading.clause_at(value.start)
    return any(
        negates(token, reading.text)
        for token in (reading.words(clause) if clause else ())
        if not start <= token.start < value.end
    )


def _clash(mine: str, theirs: str) -> bool:
    return bool(mine) and bool(theirs) and mine != theirs


_Manner = tuple[str, str, str, str]


def _manner(reading: Reading, value: Value) -> _Manner:
    """Return how a value is stated: its bound, its period, and "by" or "to" of a change."""
    key = f"manner {value.start}"
    found: _Manner | None = reading.notes.get(key)
    if found is None:
        found = reading.notes[key] = _manner_in(reading, value)
    return found


def _manner_in(reading: Reading, value: Value) -> _Manner:
    before = reading.text[max(0, value.start - 60) : value.start]
    after = reading.text[value.end : value.end + 50]
    bound = ""
    if _RELATIVE.match(after):
        pass  # "at least 8 weeks before" is "no later than 8 weeks before"
    elif _AFTER_MOST.match(after):
        bound = "at most"
    elif most := _MOST.search(before):
        never = _STRICT.match(most[0]) and _NEVER_GOES.search(before[: most.start()])
        bound = "at least" if never else "at most"
    elif (least := _LEAST.search(before)) or _AFTER_LEAST.match(after):
        bound = "at most" if _is_denied(before, least) else "at least"
    # "four times daily for a week": the nearer of two periods is its own
    word = re.match(r"\s*([a-z]+ly|annual)\b", after, re.I)
    said = _LY.get(word[1].lower(), "") if word else ""
    if not said and (period := _PERIOD.match(after)):
        said = " ".join(period[1].lower().split())
    if not said and (measure := _MEASURE.match(after)) and (unit := unit_of(measure[1])):
        said = _PERIODS.get(unit) or f"{unit[1]} {unit[0]}"
    if not said and (every := _EVERY_CJK.search(before)):
        said = every[1]
    change = _CHANGE.search(before)
    way = change[1].lower() if change else "to" if _FROM_TO.search(before) else ""
    if not way and _FROM.search(before):
        way = "from"
    order = _ORDER.search(before)
    said_order = order[1].lower() if order and value.family in ("clock", "date") else ""
    return bound, _per(said), way, said_order


def _is_denied(before: str, least: re.Match[str] | None) -> bool:
    """Whether a text denies "at least" or "more than", and not what lasts so long.

    "If you cannot work for at least six months" keeps its bound.
    """
    if least is None:
        return _DENIED.search(before) is not None
    head = before[: least.start()]
    lasts = _LASTING.search(head) and least[0].lower().startswith("at least")
    return not lasts and _DENIED.search(head) is not None


_LASTING = re.compile(r"\bfor\s+$", re.I)


def _per(said: str) -> str:
    """Return a period in one form: "per minute", "/min" and "pro Minute" are one."""
    if not said:
        return ""
    unit = None if said[:1].isdigit() else unit_of(said)
    if unit is None:
        return f"per {said}".replace("per other", "per second")  # "every other week"
    return f"per {_PERIODS.get(unit) or f'{unit[1]} {unit[0]}'}"


_PERIODS = {
    ("second", Fraction(1)): "second", ("second", Fraction(60)): "minute",
    ("second", Fraction(3_600)): "hour", ("second", Fraction(86_400)): "day",
    ("second", Fraction(604_800)): "week", ("month", Fraction(1)): "month",
    ("month", Fraction(3)): "quarter", ("month", Fraction(12)): "year",
}  # fmt: skip
"""What a period is called, whatever the language of a text."""
