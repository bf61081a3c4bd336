"""Claims written for training -> rows that `faithguard train --data` takes.

    python -m tests.train.written OUT

In: `tests/data/written.txt`, `answers.txt` and `short.txt`. Out: JSON lines with `context`,
`question`, `claim`, `label`, and `dataset`, the name of the file. `answers_held.txt` and
`short_held.txt` are left to measure on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.bench._common import ROOT

WRITTEN = ROOT / "tests" / "data" / "written.txt"
ANSWERS = ROOT / "tests" / "data" / "answers.txt"
SHORT = ROOT / "tests" / "data" / "short.txt"
HELD = ROOT / "tests" / "data" / "answers_held.txt"
SHORT_HELD = ROOT / "tests" / "data" / "short_held.txt"
TRAINED = (WRITTEN, ANSWERS, SHORT)


def main(argv: Sequence[str]) -> None:
    """Write the rows."""
    if len(argv) != 1:
        print("name one file to write", file=sys.stderr)
        raise SystemExit(2)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for path in TRAINED for row in rows(path)]
    Path(argv[0]).write_text("".join(lines), "utf-8")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the claims in their order.

    Raises:
        ValueError: If a line begins with no known sign or a claim has no passage.
    """
    context: list[str] = []
    question, told = "", False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        sign, text = line[:1], line[1:].strip()
        if not line.strip():
            continue
        if sign == ">":
            context = [text] if told else [*context, text]
            told = False
        elif sign == "?":
            question = text
        elif sign in "+-" and context:
            told = True
            yield {
                "dataset": path.stem,
                "lang": "en",
                "context": context,
                "question": question,
                "claim": text,
                "label": int(sign == "+"),
            }
        else:
            raise ValueError(f"line {number} of {path.name} is no passage, question or claim")


if __name__ == "__main__":
    main(sys.argv[1:])
