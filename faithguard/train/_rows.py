"""A file of labelled pairs -> `Row`s, in three parts that share no context.

In: JSON lines, plain or gzipped: `context` (a text or a list of them), `claim`, and `nli`
("e", "n", "c") or `label` (1 supported, 0 not); `question`, `dataset` and `lang` if known.
Out: `Row`s for training, for choosing the model, and for calibration.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from faithguard.errors import ConfigError

__all__ = ["CAPS", "REPEATS", "Parts", "Row", "Target", "digest", "epoch", "read_rows", "split"]

Target: TypeAlias = Literal["e", "n", "c", "nc"]
"""What a label allows: entailment, neutral, contradiction; "nc" is only known not to be "e"."""

CAPS: Mapping[str, int] = {
    "snli": 4_000,
    "entbank": 3_000,
    "cad_nli": 2_500,
    "med": 1_500,
    "conjnli": 1_500,
}
"""Most rows of a data set in one epoch: large sets of short puzzles would decide alone, and the
labels of ConjNLI's automatic part can be guessed from the claim. Other epochs take others."""

REPEATS: Mapping[str, int] = {
    "answers": 3,
    "begin_v1": 2,
    "cg2c_doc": 2,
    "clapnq": 2,
    "faithdial_audit": 2,
    "fm2": 2,
    "q2_wow": 2,
    "short": 5,
    "summedits_news": 2,
    "summedits_podcast": 2,
    "summedits_qmsumm": 2,
    "summedits_samsum": 2,
    "summedits_scitldr": 2,
}
"""How often an epoch shows a data set, each time among other passages: the few that are like
grounded answers count for more."""

_FRAGMENT = 5
"""Words; a shorter answer says something only together with its question."""

_CHOOSING, _CALIBRATION = 0.02, 0.03
"""Shares of the contexts that are held apart."""

_FEWEST = 50
"""Rows; with fewer, a part that is held apart says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A claim, the passages that it is checked against, and what is known of the pair."""

    context: tuple[str, ...]
    claim: str
    target: Target
    dataset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The rows by use; no two parts share a context."""

    training: tuple[Row, ...]
    choosing: tuple[Row, ...]
    calibration: tuple[Row, ...]


def read_rows(path: Path, languages: Sequence[str] = ("en",)) -> list[Row]:
    """Read the rows of the languages that the encoder knows; rows without a language are taken.

    Raises:
        ConfigError: If the file cannot be read or a row lacks what it must have.
    """
    rows = [
        _row(fields, place)
        for place, fields in _lines(path)
        if not languages or fields.get("lang", languages[0]) in languages
    ]
    if not rows:
        raise ConfigError(
            f"{str(path)!r} holds no rows in the languages {', '.join(languages)}; "
            "name others with --lang, or other data"
        )
    return rows


def split(rows: Iterable[Row]) -> Parts:
    """Hold two parts of the rows apart, by a hash of the longest passage of their context.

    With so few rows that a part would say nothing, a fifth of the contexts is held apart, and
    serves for both purposes.
    """
    by_part: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_part[_part(row)].append(row)
    if min(len(by_part["choosing"]), len(by_part["calibration"])) >= _FEWEST:
        return Parts(
            training=tuple(by_part["training"]),
            choosing=tuple(by_part["choosing"]),
            calibration=tuple(by_part["calibration"]),
        )
    every = [row for part in by_part.values() for row in part]
    apart = tuple(row for row in every if _place(row) < 0.2)
    return Parts(
        training=tuple(row for row in every if _place(row) >= 0.2),
        choosing=apart,
        calibration=apart,
    )


def epoch(rows: Sequence[Row], number: int, seed: int) -> list[Row]:
    """Return the rows of an epoch, counted from 0, in their order: capped, repeated, shuffled."""
    by_set: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_set[row.dataset].append(row)
    chosen: list[Row] = []
    for name, group in sorted(by_set.items()):
        order = list(group)
        random.Random(f"{seed}:{name}").shuffle(order)  # noqa: S311
        most = min(len(order), CAPS.get(name, len(order)))
        start = number * most
        chosen += [order[(start + n) % len(order)] for n in range(most)] * REPEATS.get(name, 1)
    random.Random(f"{seed}:{number}").shuffle(chosen)  # noqa: S311
    return chosen


def digest(rows: Iterable[Row]) -> str:
    """Return what tells these rows from others, so that no run goes on with other data."""
    state = hashlib.sha256()
    for row in rows:
        state.update(repr((row.context, row.claim, row.target, row.dataset)).encode())
    return state.hexdigest()[:16]


def _part(row: Row) -> str:
    place = _place(row)
    if place < _CHOOSING:
        return "choosing"
    return "calibration" if place < _CHOOSING + _CALIBRATION else "training"


def _place(row: Row) -> float:
    """Return where a context lies in [0, 1), the same for all of its rows."""
    longest = max(row.context, key=lambda text: (len(text), text))
    whole = hashlib.blake2b(longest.encode(), digest_size=8).digest()
    return int.from_bytes(whole, "big") / 2**64


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file with what an error calls their place."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                place = f"line {number} of {str(path)!r}"
                try:
                    fields: object = json.loads(line)
                except ValueError:
                    raise ConfigError(f"{place} is not JSON; write one object a line") from None
                if not isinstance(fields, dict):
                    raise ConfigError(f"{place} is not an object; write one object a line")
                yield place, cast("dict[str, Any]", fields)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(
            f"{str(path)!r} cannot be read ({reason}); name a file of JSON lines"
        ) from error


def _row(fields: Mapping[str, Any], place: str) -> Row:
    context, claim = fields.get("context"), fields.get("claim")
    passages = [context] if isinstance(context, str) else context
    if not isinstance(passages, list) or not passages:
        raise ConfigError(f"{place} has no 'context'; give a text or a list of texts")
    texts = cast("list[object]", passages)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ConfigError(f"{place} has an empty passage in 'context'; leave it out")
    if not isinstance(claim, str) or not claim.strip():
        raise ConfigError(f"{place} has no 'claim'; give the sentence to check")
    return Row(
        context=tuple(str(text) for text in texts),
        claim=_statement(claim, fields.get("question")),
        target=_target(fields, place),
        dataset=str(fields.get("dataset") or "yours"),
    )


def _target(fields: Mapping[str, Any], place: str) -> Target:
    nli, label = fields.get("nli"), fields.get("label")
    if nli in ("e", "n", "c"):
        return cast("Target", nli)
    if nli is None and label in (0, 1):
        return "e" if label == 1 else "nc"
    raise ConfigError(
        f"{place} has nli {nli!r} and label {label!r}; nli is one of 'e', 'n', 'c', or leave it "
        "out and label is 1 (supported) or 0 (not)"
    )


def _statement(claim: str, question: object) -> str:
    """Return a claim that says something: a fragment takes its question, as claims do."""
    if isinstance(question, str) and question.strip() and len(claim.split()) < _FRAGMENT:
        return f"{question.strip()} {claim.strip()}"
    return claim.strip()
