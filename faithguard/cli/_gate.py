"""`faithguard gate`: two files of records -> whether the later answers are less faithful."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, cast

import typer

from faithguard.cli._console import FAILED, NOT_PASSED, print_text, rendered
from faithguard.cli._files import write_private
from faithguard.errors import ConfigError, FaithguardError

if TYPE_CHECKING:
    from faithguard.stats import PairBy

__all__ = ["gate"]


def gate(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="Records of the earlier answers.")
    ],
    current: Annotated[
        str, typer.Argument(metavar="CURRENT", help="Records of answers to the same questions.")
    ],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What pairs them: id or question, if not what pairs more."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Of comparisons without a change that pass.")
    ] = 0.95,
    markdown: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Takes the same for the comment of a pull request."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> int:
    """Say whether answers got less faithful by more than chance.

    Both files hold records, as `faithguard score` and JSON lines sinks write them. Exit 0: they
    did not; 1: they did; 2: the files cannot be compared, or what is missing could hide a drop.
    `--markdown` is written each time: where nothing can be compared, with the reason.
    """
    from faithguard._render._comparison import (
        comparison_markdown,
        comparison_page,
        failed_markdown,
    )
    from faithguard.files import read_records
    from faithguard.stats import compare
    from faithguard.types import to_json

    try:
        if os.path.realpath(baseline) == os.path.realpath(current):
            raise ConfigError(f"{baseline!r} is both files: a file is never worse than itself")
        found = compare(
            read_records(baseline),
            read_records(current),
            by=cast("PairBy | None", by),
            confidence=confidence,
        )
    except FaithguardError as error:
        if markdown is not None:
            with suppress(ConfigError):  # what went wrong first is what is said
                write_private(markdown, [failed_markdown(str(error))], read=(baseline, current))
        raise
    if markdown is not None:
        write_private(markdown, [comparison_markdown(found)], read=(baseline, current))
    print_text(to_json(found) + "\n" if as_json else rendered(comparison_page(found)))
    return {"held": 0, "worse": NOT_PASSED, "unknown": FAILED}[found.verdict]
