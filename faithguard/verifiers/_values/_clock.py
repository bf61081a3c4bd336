"""Times of the day.

In: a text. Out: values of the family "clock", in minutes after midnight; both halves of the day
where it does not say which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.verifiers._values._value import Value
from faithguard.verifiers._values._words import ENGLISH, ONES, read_cjk

__all__ = ["clocks"]

_HOUR_WORD = "|".join(word for word, n in ONES.items() if 1 <= n <= 12)
_HAN_HOUR = "[一二三四五六七八九十两]{1,3}"
_PART_OF_DAY = (
    r"in\s+the\s+(?:morning|afternoon|evening)|at\s+night"
    r"|the\s+(?:morning|afternoon|evening|night)\s+before"
)
_PRONOUN = r"(?<!at )(?<!by )(?<!till )(?<!until )(?<!past )(?<!to )(?<!from )one\s+at\b"
"""The "one" of "by day, and one at night"."""
_CLOCK = re.compile(
    r"(?<![\d.,:])(?P<h>\d{1,2})(?:[:.h](?P<m>[0-5]\d))?\s*(?P<ap>[ap])\.?\s?m\b\.?"
    r"|(?<![\d.,:])(?P<h24>[01]?\d|2[0-4])[:](?P<m24>[0-5]\d)(?::[0-5]\d)?(?!\d)(?!\s*[ap]\.?m)"
    rf"|(?<![\d.,:])\b(?!{_PRONOUN})(?P<hw>{_HOUR_WORD}|\d{{1,2}})(?:[:.](?P<mw>[0-5]\d))?(?:\s+o['’]?clock)?"
    rf"\s+(?P<part>{_PART_OF_DAY})\b"
    rf"|\b(?P<ho>{_HOUR_WORD}|\d{{1,2}})\s+o['’]?clock\b"
    r"|(?<![\d.,:])(?P<hu>[01]?\d|2[0-4])(?:[:.](?P<mu>[0-5]\d))?\s*Uhr\b"
    r"|(?<![\d.,:])(?P<hf>[01]?\d|2[0-4])\s?h\s?(?P<mf>[0-5]\d)\b(?!\s?min)"
    r"|(?P<hi>सुबह|दोपहर|शाम|रात)?\s?(?<!\d)(?P<hb>\d{1,2})\s?बजे"
    r"|(?<!\d)(?P<har>\d{1,2})\s(?P<ar>صباحا|صباحًا|مساء|مساءً|ظهرا|ظهرًا)"
    rf"|(?P<ja>午前|午後|上午|下午|晚上|早上)?\s?(?P<hj>\d{{1,2}}|(?<=[午上]){_HAN_HOUR}|{_HAN_HOUR}(?=[点點时時][到至半钟鐘]))\s?[時时点點]"
    r"(?!間|间|区)(?:\s?(?P<mj>\d{1,2})\s?分|(?P<half>半))?"
    r"|(?:(?<![\d.,:])\b12\s+)?\b(?P<named>noon|midday|midnight|mittags|mitternacht|mezzogiorno|mezzanotte|minuit"
    r"|medianoche)\b",
    re.I,
)
_MINUTES = "|".join([r"twenty[\s-]five", *sorted(ENGLISH, key=len, reverse=True)])
_SAID = re.compile(
    rf"\b(?P<amount>(?:a\s+)?quarter|half|{_MINUTES}|\d{{1,2}})(?P<said>\s+minutes)?\s+(?P<way>past|to)\s+"
    rf"(?P<hour>{_HOUR_WORD}|noon|midday|midnight|\d{{1,2}})(?![\d:%]|\.\d)\b"
    rf"(?:\s+(?P<part>{_PART_OF_DAY}|[ap]\.?m\b))?",
    re.I,
)
_CLOCK_RANGE = re.compile(
    r"(?<![\d.,:])(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))?\s*(?:to|-|–|—|and|until|till)\s*"
    r"(?=\d{1,2}(?:[:.][0-5]\d)?\s*[ap]\.?\s?m\b)",
    re.I,
)
_LATER = ("午後", "下午", "晚上")


_HALF = re.compile(r"[ap]\.?\s?m\b", re.I)
_FIGURES = re.compile(r"\d:[0-5]\d")
_TELLING = frozenset(
    "morning afternoon evening night clock oclock uhr h noon midday midnight mittags mitternacht"
    " mezzogiorno mezzanotte minuit medianoche".split()
)
"""Without one of these words, figures or halves of the day a text has no time that is written."""


def clocks(text: str, words: frozenset[str], *, said: bool) -> Iterator[Value]:
    """Yield the times of a text.

    Args:
        text: To read.
        words: Its words in lower case: they say which patterns can match at all.
        said: Whether it may hold times in words: "half past six".
    """
    for match in _SAID.finditer(text) if said else ():
        if readings := _said(match):
            yield _value(readings, *match.span(), text)
    half = _HALF.search(text) is not None
    for match in _CLOCK_RANGE.finditer(text) if half else ():
        hour, minute = int(match["h"]), int(match["m"] or 0)
        if 1 <= hour <= 12:  # "5 to 7 pm", "9 to 5 pm": which half of the day is not said
            morning = hour % 12 * 60 + minute
            yield _value(
                {morning, morning + 720},
                match.start("h"),
                match.end("m" if match["m"] else "h"),
                text,
            )
    telling = half or not words.isdisjoint(_TELLING) or not text.isascii()
    for match in _CLOCK.finditer(text) if telling or _FIGURES.search(text) else ():
        if readings := _minutes(match):
            yield _value(readings, *match.span(), text)


def _said(match: re.Match[str]) -> set[int]:
    """Read "half past six" and "ten to nine"; "5 to 7" alone is a range."""
    amount, to = match["amount"].lower(), match["way"].lower() == "to"
    named = {"half": 30}.get(amount, 15 if "quarter" in amount else None)
    if (amount == "half" and to) or (
        named is None
        and not match["said"]
        and not _FULL.fullmatch(match["hour"])
        and (to or not amount.replace("-", "").replace(" ", "").isalpha())
        and not (match["part"] and amount in _SPOKEN and match["hour"].isalpha())
    ):
        return set()
    words = re.split(r"[\s-]+", amount)
    minutes = named or (int(amount) if amount.isdigit() else sum(map(ENGLISH.__getitem__, words)))
    named_hour = match["hour"].lower()
    if named_hour in ("noon", "midday", "midnight"):
        middle = 0 if named_hour == "midnight" else 720
        return {(middle + (-minutes if to else minutes)) % 1440}
    hour = _hour_of(match["hour"])
    if not 1 <= hour <= 12 or minutes > 59:
        return set()
    at = (hour % 12 * 60 + (-minutes if to else minutes)) % 720
    part = (match["part"] or "").lower()
    if not part:
        return {at, at + 720}
    return {at if "morning" in part or (part.startswith("a") and "m" in part[:3]) else at + 720}


_SPOKEN = ("five", "ten", "twenty", "twenty-five", "twenty five")
"""Minutes that are told with "to": "five to seven in the evening"; "six to seven" is a range."""
_FULL = re.compile("noon|midday|midnight", re.I)


def _minutes(match: re.Match[str]) -> set[int]:
    part = match.groupdict()
    if part["named"]:
        midnight = part["named"].lower() in (
            "midnight", "mitternacht", "mezzanotte", "minuit", "medianoche",
        )  # fmt: skip
        return {0} if midnight else {720}
    if part["h"]:
        hour, minute = int(part["h"]), int(part["m"] or 0)
        if not 1 <= hour <= 12:
            return set()
        return {(hour % 12 + (12 if part["ap"].lower() == "p" else 0)) * 60 + minute}
    if part["part"]:
        hour = _hour_of(part["hw"])
        later = "morning" not in part["part"].lower()
        hour = hour % 12 + 12 if later and hour < 12 else hour
        return {hour % 24 * 60 + int(part["mw"] or 0)}
    if part["ho"]:
        hour = _hour_of(part["ho"])
        return {hour * 60, (hour + 12) % 24 * 60}
    if part["hb"] or part["har"]:
        hour = int(part["hb"] or part["har"])
        said = part["hi"] or part["ar"]
        if hour > 24:
            return set()
        if said is None:
            return {hour % 24 * 60, (hour + 12) % 24 * 60}
        later = not said.startswith(("सुबह", "صباح"))
        return {(hour + 12 if later and hour < 12 else hour) % 24 * 60}
    if part["hj"]:
        hour = int(part["hj"]) if part["hj"].isdigit() else read_cjk(part["hj"])
        minute = 30 if part["half"] else int(part["mj"] or 0)
        if hour > 24 or minute > 59:
            return set()
        if part["ja"] is None and hour < 12:
            return {hour * 60 + minute, (hour + 12) * 60 + minute}
        return {(hour + (12 if part["ja"] in _LATER and hour < 12 else 0)) * 60 + minute}
    hour = int(part["h24"] or part["hu"] or part["hf"])
    return {(hour * 60 + int(part["m24"] or part["mu"] or part["mf"] or 0)) % 1440}


def _hour_of(word: str) -> int:
    return int(word) if word.isdigit() else ONES[word.lower()]


def _value(readings: set[int], start: int, end: int, text: str) -> Value:
    return Value("clock", "", frozenset(readings), start, end, text[start:end])
