"""Two hundred labelled rows about ferries and museums that do not exist.

In: a seed. Out: rows as a user's file has them; each context with claims that it supports, denies
or does not mention, so that a small encoder has something to learn.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

PLACES = ("Tarn", "Ulvo", "Brenna", "Sorrel", "Kettil", "Ostra", "Nyhem", "Vale", "Marrow", "Pell")
KINDS = ("ferry", "museum", "library", "tram", "market")
VERBS = ("opens", "starts", "begins")


def fact_rows(count: int = 200, seed: int = 5) -> list[dict[str, Any]]:
    """Return labelled rows, in equal parts entailed, contradicted, not mentioned and unknown."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    while len(rows) < count:
        place, kind = rng.choice(PLACES), rng.choice(KINDS)
        hour, price = rng.randint(6, 11), rng.randint(2, 60)
        context = [
            f"The {place} {kind} {rng.choice(VERBS)} at {hour}:00 on weekdays.",
            f"A ticket costs {price} euros, and children under {rng.randint(3, 9)} travel free.",
        ]
        other = next(name for name in PLACES if name != place)
        rows += [
            {"context": context, "claim": f"A ticket costs {price} euros.", "nli": "e"},
            {"context": context, "claim": f"A ticket costs {price + 7} euros.", "nli": "c"},
            {"context": context, "claim": f"The {other} {kind} was built in 1904.", "nli": "n"},
            {"context": context, "claim": f"The {place} {kind} never opens.", "label": 0},
        ]
    return rows[:count]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
