"""What is known of a model -> its card.

In: data sets with their rows and licences, settings, figures, versions. Out: `CARD.md` for
people, `model.json` for the code that serves the model.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

from faithguard.errors import ConfigError
from faithguard.train._calibration import Bin, Logistic
from faithguard.train._export import Agreement
from faithguard.train._rows import CAPS, REPEATS, Row
from faithguard.train._settings import Settings

__all__ = ["Card", "licences", "sets_of", "versions"]

_FORMAT = 1
_PACKAGES = ("faithguard", "torch", "transformers", "onnx", "onnxruntime", "tokenizers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All that a card says.

    Attributes:
        labels: The names of the outputs, in order.
        base: What the model was started from: a name and a digest of its weights.
        file, digest: The ONNX file to serve, and the SHA-256 of it.
        sets: Rows for training by data set.
        licences: For each data set its licence and class, as far as they were given.
        choosing: Figures of the rows held apart that chose the model.
        agreement: int8 against float32.
        calibration: What makes a probability of the model's.
        reliability: What the calibrated probabilities mean, on the rows that chose the model.
        trained: Steps, word pieces and seconds of the run.
    """

    labels: Sequence[str]
    base: str
    file: str
    digest: str
    settings: Settings
    sets: Mapping[str, int]
    licences: Mapping[str, str]
    choosing: Mapping[str, float | None]
    agreement: Agreement | None
    calibration: Logistic | None
    reliability: Sequence[Bin]
    trained: Mapping[str, float]
    versions: Mapping[str, str]

    def write(self, folder: Path) -> None:
        """Write both files."""
        (folder / "CARD.md").write_text(self.markdown(), "utf-8")
        (folder / "model.json").write_text(json.dumps(self.fields(), indent=2) + "\n", "utf-8")

    def fields(self) -> dict[str, Any]:
        """Return what serving must know, and by what the model can be told from others."""
        return {
            "format": _FORMAT,
            "file": self.file,
            "sha256": self.digest,
            "labels": list(self.labels),
            "longest": self.settings.longest,
            "languages": list(self.settings.languages),
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "versions": dict(self.versions),
        }

    def markdown(self) -> str:
        """Return the card as a page."""
        rows = sum(self.sets.values())
        parts = [
            "# Model card\n",
            f"A cross-encoder that reads a premise and a claim and says {', '.join(self.labels)}. "
            f"Trained by `faithguard train` from {self.base} on {rows:,} labelled pairs in "
            f"{', '.join(self.settings.languages)}; SHA-256 of `{self.file}`: `{self.digest}`.\n",
            "## Data\n",
            _table(
                ("data set", "rows", "licence and class"),
                [(n, f"{k:,}", self.licences.get(n, "not given")) for n, k in self.sets.items()],
            ),
            _mixture(self.sets),
            "## Recipe\n",
            _table(("what", "value"), self._recipe()),
            "## Figures\n",
            "Of pairs held apart from training, those among them that were made included. They "
            "chose the model, so a set that took no part in it will show a little less.\n",
            _table(
                ("what", "value"),
                [
                    (name, f"{value:.3f}")
                    for name, value in self.choosing.items()
                    if value is not None
                ],
            ),
            self._quantised(),
            self._calibrated(),
            "## Limits\n",
            "It judges by one short premise: at most "
            f"{self.settings.longest} word pieces with the claim. What evidence selection does not "
            "find, it does not see. It knows the languages above and no others, and text of kinds "
            "that the data sets do not hold only by chance. Values and negations in particular are "
            "for rules to check as well.\n",
            "## Versions\n",
            _table(("package", "version"), list(self.versions.items())),
        ]
        return "\n".join(part for part in parts if part)

    def _recipe(self) -> list[tuple[str, str]]:
        settings = self.settings
        kept = [("share of the model that it began from", f"{settings.keep:g}")]
        return [
            *(kept if settings.keep else []),
            ("seed", str(settings.seed)),
            ("highest learning rate", f"{settings.rate:g}"),
            ("word pieces of a batch", f"{settings.budget:,}"),
            ("steps", f"{self.trained.get('steps', 0):,.0f}"),
            ("epochs", f"{self.trained.get('epochs', 0):.2f}"),
            ("word pieces seen", f"{self.trained.get('tokens', 0):,.0f}"),
            ("minutes", f"{self.trained.get('seconds', 0) / 60:.0f}"),
        ]

    def _quantised(self) -> str:
        if self.agreement is None:
            return ""
        one = self.agreement
        return (
            f"int8 against float32 on {one.pairs:,} pairs: the same label on {one.labels:.1%}, the "
            f"same side of 0.5 on {one.decisions:.1%}; probabilities differ by {one.mean:.3f} in "
            f"the mean and by {one.largest:.2f} at most.\n"
        )

    def _calibrated(self) -> str:
        if self.calibration is None:
            return ""
        weights = ", ".join(f"{n} {w:+.3f}" for n, w in self.calibration.weights.items())
        rows = [
            (f"{b.low:.1f} to {b.high:.1f}", str(b.pairs), f"{b.said:.2f}", f"{b.found:.2f}")
            for b in self.reliability
        ]
        return (
            f"Calibration, fitted on another part held apart: {weights}, intercept "
            f"{self.calibration.intercept:+.3f}. Both labels weigh the same in it, so 0.5 decides "
            "and shares below follow that of the supported pairs.\n\n"
            + _table(("probability", "pairs", "mean", "supported"), rows)
        )


def sets_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows each data set has, the largest first."""
    return dict(Counter(row.dataset for row in rows).most_common())


def licences(path: Path | None, names: Sequence[str]) -> dict[str, str]:
    """Read licence and class of data sets from a JSON object: name -> {licence, class}.

    A set that is one of several of a kind ("summedits_news") may stand under the kind's name.

    Raises:
        ConfigError: If the file cannot be read or is no such object.
    """
    if path is None:
        return {}
    try:
        known: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"licences {str(path)!r} cannot be read ({type(error).__name__}); name a JSON file"
        ) from error
    if not isinstance(known, dict):
        raise ConfigError(f"licences {str(path)!r} is no JSON object; map names to licences")
    entries = cast("dict[str, object]", known)
    found: dict[str, str] = {}
    for name in names:
        entry = entries.get(name, entries.get(name.split("_")[0]))
        if isinstance(entry, dict):
            about = cast("dict[str, object]", entry)
            found[name] = f"{about.get('licence', 'not given')} ({about.get('class', '?')})"
    return found


def versions() -> dict[str, str]:
    """Return the versions of what made the model."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _mixture(sets: Mapping[str, int]) -> str:
    """Say which sets an epoch shows in part or more than once."""
    capped = [f"{name} {CAPS[name]:,}" for name in sets if name in CAPS]
    repeated = [f"{name} {REPEATS[name]}" for name in sets if name in REPEATS]
    lines: list[str] = []
    if capped:
        lines.append(f"An epoch takes at most: {', '.join(capped)}.")
    if repeated:
        lines.append(f"It shows more than once, among other passages: {', '.join(repeated)}.")
    return " ".join(lines) + "\n" if lines else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
