"""`faithguard demo`: a framework's name -> its own small RAG chain, watched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithguard.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["demo"]

_DEMOS = "faithguard.demos"


def demo(
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of text files to ask about, instead of ours."),
    ] = None,
    framework: Annotated[
        str, typer.Option(metavar="NAME", help="The framework to show.")
    ] = "langchain",
) -> int:
    """Run a small RAG chain and watch what faithguard says of its answers."""
    if corpus is not None and not corpus.is_dir():
        raise ConfigError(f"--corpus {str(corpus)!r} is not a folder; name one with text files")
    entry = _demo(framework)
    try:
        code = entry.load()(corpus=corpus)
    except ModuleNotFoundError as error:
        package = framework.replace("-", "_")
        if (error.name or "").partition(".")[0] in (package, f"{package}_core"):
            raise MissingExtraError(framework) from error
        raise
    return code if isinstance(code, int) else 0


def _demo(framework: str) -> EntryPoint:
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=_DEMOS)}
    if framework not in found:
        known = ", ".join(sorted(found)) or "none; reinstall faithguard"
        raise ConfigError(f"no demo for the framework {framework!r}; known: {known}")
    return found[framework]
