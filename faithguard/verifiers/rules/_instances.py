"""Values of an instance to which a bound of the context applies.

In: a scene and a value of its claim that the context does not hold. Out: whether the claim only
tells of one instance ("a parcel of 18 kg is too heavy", "with 70 credits") and the context bounds
values of that kind ("up to 15 kg", "from 80 credits"), so that nothing has to say the value. What
follows from the bound is left to a model. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.types import Verdict
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._measures import is_year, size_of
from faithguard.verifiers.rules._parts import denies
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["is_bounded", "is_instance", "out_of_bounds"]

_SHORT = 24
"""Sentences; of so few any may hold the bound."""
_REACH = 64
"""Characters before and behind a value that say what it is."""

_CLAIMED = re.compile(
    r"\b(?:at\s+(?:most|least)|up\s+to|more\s+than|less\s+than|fewer\s+than|over|above|below|under|until|till|within|exceed\w*"
    r"|(?:maximum|minimum|limit|cap|ceiling|threshold|total|average|max\.?|min\.?)(?:\s+(?:of|is|are|at))?|(?:no|not)\s+\w+\s+than"
    r"|\w+er\s+than|only\s+(?:from|after)|(?:is|are|was|be|to)\s+(?:set|limited|raised|lowered)\s+(?:at|to))\s+(?:\w+\s+)?\W?$",
    re.I,
)
"""What makes a value of a claim a bound itself."""
_WORDS = (
    r"(?:(?!(?:maximum|minimum|limit|total|average|fee|fine|price|deposit|advance|discount|rate|charge|surcharge|rent|tax"
    r"|the|for|to|by|is|are|was|were|has|have|must|may|can|of|in|and|or|but)\b)[\w'’-]*[^\Ws]\s+)"
)
_IN_ONE = re.compile(
    rf"\b(?:an?|any|one|another|his|her|their|our|your|my)\s+{_WORDS}{{1,4}}"
    r"(?:of|at|from|with|(?:that|which)(?:['’]s|\s+(?:is|was|weighs|costs|measures))|(?:\w+ed|made|given|sent|bought|born|got)\s+on|worth|weighing|aged|costing|measuring)\s+(?:only\s+|just\s+|about\s+)?\W?$",
    re.I,
)
"""What makes it that of one instance: "a parcel of", "a demand received on"."""
_DONE_ON = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbeen )"
    r"(?<=\w\s)(?:\w{2,}ed|made|given|sent|bought|got)\s+on\s+$",
    re.I,
)
"""What is of those of a day: "goods ordered on"."""
_OF_ONE = re.compile(
    r"\b(?:an?|any|another|his|her|their|our|your|my)\s+(?:[\w'’-]*[^\Ws]\s+)?\W?$", re.I
)
_NOUN = re.compile(
    r"[-\s](?!(?:of|at|in|on|for|to|a|an|per|each|every|is|are|and|or|before|after|more|less|if|when|from|by|than|with)\b)[a-z]{3,}",
    re.I,
)
"""What they are of: "a 6 mm needle"."""
_PAST = re.compile(r"\b(?:was|were|had|did|\w{2,}ed|got|came|went|made|took)\b", re.I)
_OPENS_WITH = re.compile(
    r"(?:^|[,;:]\s)(?:even\s+|already\s+)?(?:(?:at|with|after|of|given|on)\s+(?:\w+\s+){0,4}?|for\s+(?:\w+\s+){1,4}?)\W?$",
    re.I,
)
_OPENS_SO = re.compile(
    r"\s*(?:if|someone|somebody|anyone|anybody|when|where|for\s+an?|[A-Z][a-z]+s\s+(?:bought|made|given|received|sent|ordered))\b[^,;:.]*$",
    re.I,
)
_DOING = re.compile(
    r"\s*[A-Z][a-z]+ing\s(?:(?!(?:should|must|may|can|will|is|are|was|were|has|have|had|got|takes?|costs?|lasts?|needs?|requires?|means?)\b)[^,;:.])*(?<![^\Ws]s\s)$"
)
"""What is done to one: "Paying a volunteer"."""
_TOO = re.compile(
    r"\b(?:too\s+\w+|enough|insufficient|suffic\w+|beyond|exceeds?|(?:meets?|stays?\s+(?:under|below|within)))\b",
    re.I,
)
_AGO = re.compile(r"\s+(?:ago|earlier)\b", re.I)
_INDEFINITE = re.compile(r"\b(?:an?|if|someone|somebody|anyone)\b", re.I)

_BOUND_BEFORE = re.compile(
    r"\b(?:under|below|less\s+than|fewer\s+than|up\s+to|at\s+(?:most|least)|before|until|till|by|within|over|above|more\s+than|from|after"
    r"|exceed\w*|beyond|max(?:imum|\.)?|min(?:imum|\.)?|(?:maximum|minimum|limit)\b[^.;:]{0,40}:|limit(?:ed)?|to|\w{2,}er\s+than|only(?:\s+\w+)?|requires?(?:\s+\w+)?|between(?:\s+\S+\s+and)?"
    r"|last|for|ahead|(?:may|can|must|cannot)\s[^.;]{0,40}\bwith|in\s+the\s+(?:first|last)|(?:load|limit|capacity|maximum|minimum|allowance)(?:\s+\w+)?)"
    r"\s*:?\s+(?:the\s+age\s+of\s+|an?\s+|the\s+|about\s+|of\s+)?\W?$",
    re.I,
)
_BOUND_AFTER = re.compile(
    r"(?:th\s+birthday|s\b|\+|\s*(?:[\w'’²³]+\s+){0,2}?(?:or\s+(?:more|over|older|above|less|fewer|later|earlier|lower|higher|longer|under|below|up)"
    r"|and\s+(?:over|above|older|more|up|below|under)|at\s+(?:least|most|the\s+latest)|maximum|minimum|max\b|min\b|only|for\s+(?:free|nothing)|long|old))\b",
    re.I,
)
_AGES = re.compile(
    r"\b(?:under|over|from|below|above|until|aged?|ages|older\s+than|younger\s+than|children|age\s+of|adults|minors)[\s-]+(?:the\s+age\s+of\s+)?\d{1,2}\b"
    r"|\b\d{1,2}(?:\s+years?)?\s+(?:or|and)\s+(?:over|older|above|under)|\b(?:adults|minors)\b",
    re.I,
)


def is_instance(scene: Scene, value: Value) -> bool:
    """Whether a value is that of an instance, of a kind that the context bounds."""
    text = scene.reading.text
    if _OLD.match(text, value.end):
        return any(_AGES.search(near.reading.text) for near in _near(scene))
    if not _told_of_one(text, value):
        return False
    return any(
        is_bounded(near.reading.text, other)
        for near in _near(scene)
        for other in near.reading.values
        if _of_one_kind(value, other) and _keeps(text, value, near.reading.text, other)
    )


def _keeps(claim: str, value: Value, text: str, bound: Value) -> bool:
    """Whether a date keeps one that is given as a bound, "until 9 May", or is said not to."""
    if _TOO.search(claim, value.end):
        return True
    days, bounds = ([r[1:] for r in v.readings if isinstance(r, tuple)] for v in (value, bound))
    if not days or not bounds:
        return True
    if _LAST_DAY.search(text, 0, bound.start):
        return min(days) <= max(bounds)
    return max(days) >= min(bounds) or _FIRST_DAY.search(text, 0, bound.start) is None


_LAST_DAY = re.compile(r"(?:\b(?:and|until|till|to|by|before)\s+(?:the\s+)?|[-–—]\s?)$", re.I)
_FIRST_DAY = re.compile(r"\b(?:from|since|after|between)\s+(?:the\s+)?$", re.I)
_OLD = re.compile(r"[-\s]olds?\b", re.I)


def _told_of_one(text: str, value: Value) -> bool:
    """Whether the words around a value say that it is of an instance, not of all."""
    before = text[max(0, value.start - _REACH) : value.start]
    if _TOO.search(text, value.end):
        return True
    if _CLAIMED.search(before):
        return False
    if (
        _OPENS_SO.match(text, 0, value.start)
        or _OPENS_WITH.search(before)
        or _DOING.match(text, 0, value.start)
    ):
        return True
    if value.family == "date" and _DONE_ON.search(before):
        return True
    if _AGO.match(text, value.end):
        return _INDEFINITE.search(before) is not None
    one = _IN_ONE.search(before) or (_OF_ONE.search(before) and _NOUN.match(text, value.end))
    return bool(one) and (
        _IN_ONE.match(before) is not None or not _PAST.search(text, 0, value.start)
    )


_UPWARD = frozenset(
    "heavy long fast much many old late large big high far wide tall hot warm strong deep".split()
)
_DOWNWARD = frozenset(
    "light short slow little few young early small low near close narrow cold cool weak".split()
)
_TOO_MUCH = re.compile(r"\btoo\s+(\w+)", re.I)


def out_of_bounds(scene: Scene, name: str, value: Value) -> Verdict | None:
    """Veto "120 kg is too heavy" where every bound of that kind lies higher: up to 125 kg."""
    match = _TOO_MUCH.search(scene.reading.text, value.end)
    word = match[1].lower() if match else ""
    if word not in _UPWARD | _DOWNWARD or not value.unit:
        return None
    if denies(scene.reading):
        return None
    bounds = [
        (near, other)
        for near in _near(scene)
        for other in near.reading.values
        if value.unit == other.unit
        and value.comparable(other)
        and is_bounded(near.reading.text, other)
    ]
    sizes = [size_of(r) for _, other in bounds for r in other.readings]
    own = [size_of(r) for r in value.readings]
    if not sizes:
        return None
    if max(own) <= min(sizes) if word in _UPWARD else min(own) >= max(sizes):
        near, other = bounds[0]
        reason = f"the context gives {other.text!r} as a bound, which {value.text!r} keeps"
        return contradiction(scene, name, reason, near)
    return None


def _near(scene: Scene) -> Iterator[Near]:
    if len(scene.all) <= _SHORT:
        yield from map(scene.at, range(len(scene.all)))
    else:
        yield from scene.near


def _of_one_kind(value: Value, other: Value) -> bool:
    if value.family == "clock" and other.ranged and not other.unit:
        return True
    if value.family == "number" and is_year(value) != is_year(other):
        return False
    return value.comparable(other) or (
        value.family == other.family == "number" and "" in (value.unit, other.unit)
    )


def is_bounded(text: str, value: Value) -> bool:
    """Whether a sentence gives a value as a bound: "up to 15 kg", "limit: 15 kg"."""
    before = text[max(0, value.start - _REACH) : value.start]
    return (
        value.ranged
        or _BOUND_BEFORE.search(before) is not None
        or _BOUND_AFTER.match(text, value.end) is not None
    )
