"""Powers behind a number, and a point before it: "2e3", "10⁶", "3 × 10^4", ".5".

In: a text and where digits stand in it, with what they may mean. Out: what they mean with their
power or point, and where that begins and ends.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

__all__ = ["powered"]

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_E = re.compile(r"[eE]([+-]?\d{1,2})(?![\w.])")
_TIMES_TEN = re.compile(
    rf"\s?[×x*·]\s?10(?:(?:\^|\*\*)\s?([+−-]?\d{{1,2}})(?![\d.,]*\d)|([{_RAISED}]{{1,3}}))"
)
_OF = re.compile(rf"(?:\^|\*\*)\s?([+−-]?\d{{1,2}})(?![\d.,]*\d)|([{_RAISED}]{{1,3}})")
_SIGNED = re.compile(r"[+-]?\d{1,2}")
_LARGEST = 30
_LONGEST = 15
"""Digits of a number that is raised to a power."""
_POINT = re.compile(r"(?:^|[\s(\[=:<>≤≥~±€$£¥+−-])\.$")


def powered(
    text: str, start: int, end: int, readings: set[Fraction]
) -> tuple[set[Fraction], int, int]:
    """Return the readings of a number with what stands around it, and where it begins and ends."""
    pointed = start and text[start - 1] == "." and text[start:end].isdecimal()
    if pointed and _POINT.search(text[max(0, start - 2) : start]):
        readings = {reading / 10 ** (end - start) for reading in readings}
        start -= 1
    if text[end : end + 1] in ("e", "E") and (match := _E.match(text, end)):
        ten = _ten_to(match[1])
        return {reading * ten for reading in readings}, start, match.end()
    if match := _TIMES_TEN.match(text, end):
        ten = _ten_to(match[1] or match[2])
        return {reading * ten for reading in readings}, start, match.end()
    if (match := _OF.match(text, end)) and end - start <= _LONGEST:
        power = _whole(match[1] or match[2])
        if abs(power) <= _LARGEST and (power >= 0 or 0 not in readings):
            return {reading**power for reading in readings}, start, match.end()
    return readings, start, end


def _whole(digits: str) -> int:
    plain = unicodedata.normalize("NFKC", digits).replace("−", "-")
    return int(plain) if _SIGNED.fullmatch(plain) else 1


def _ten_to(digits: str) -> Fraction:
    return Fraction(10) ** max(-_LARGEST, min(_LARGEST, _whole(digits)))
