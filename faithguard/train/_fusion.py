"""A model that is exported, and rows held apart -> the weights of its fusion.

In: a folder that serves, and rows with their contexts. Out: `fusion.json` in it: how much the
model, words and values count in one probability (`faithguard.verifiers.nli`). Each row is read
as serving reads it, as it is and among passages of other rows. Sets of puzzles are among them:
without them shared words alone would carry a claim that the model doubts. So are claims that keep
to the wording of their context, as answers do: without them what the model doubts would not be
carried by words at all; and claims beside contexts that are silent on them: without them a claim
would need few of its words there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from faithguard.train._calibration import Logistic, fit
from faithguard.train._examples import Composer
from faithguard.train._rows import Row
from faithguard.types import Passage
from faithguard.verifiers import Context
from faithguard.verifiers.nli import Model, read, served

__all__ = ["fuse"]

_MOST = 2_000
"""Rows; a logistic regression over a dozen features needs no more."""

_KEPT = 0.4
"""For each row, claims that keep to the wording."""

_MOVED = 0.2
"""For each row, claims beside another context."""

_AMONG = (3, 12)
"""Passages of other rows that a context stands among."""


def fuse(folder: Path, rows: Sequence[Row], *, seed: int) -> Logistic | None:
    """Write `fusion.json`, and return what is in it; None where the rows do not allow any.

    Args:
        folder: Of the model to serve.
        rows: That training has not seen.
        seed: Of which rows are taken, and what they stand among.
    """
    rng = random.Random(seed)  # noqa: S311
    chosen = rng.sample(rows, len(rows))[:_MOST]
    composer = Composer(rows, seed=seed)
    chosen += [
        Row(context=(pair.premise,), claim=pair.claim, target=pair.target, dataset=pair.dataset)
        for pair in (
            *composer.kept(round(_KEPT * len(chosen))),
            *composer.moved(round(_MOVED * len(chosen))),
        )
    ]
    model = Model(served(folder))
    pairs = [
        (reading.features, row.target == "e")
        for row, context in _contexts(chosen, rng)
        if (reading := read([row.claim], context, model)[0]).scores
    ]
    if len({supported for _, supported in pairs}) < 2:
        return None
    found = fit(pairs)
    text = {"weights": dict(found.weights), "intercept": found.intercept, "rows": len(pairs)}
    (folder / "fusion.json").write_text(json.dumps(text, indent=2) + "\n", "utf-8")
    return found


def _contexts(rows: Sequence[Row], rng: random.Random) -> Iterator[tuple[Row, Context]]:
    for number, row in enumerate(rows):
        texts = list(row.context)
        if number % 2:
            others = rng.sample(rows, min(len(rows), rng.randint(*_AMONG)))
            texts += [text for other in others for text in other.context if text not in texts]
            rng.shuffle(texts)
        yield row, Context([Passage(text=text) for text in texts])
