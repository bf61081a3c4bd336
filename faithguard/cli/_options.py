"""What several commands may be told: an option, once, for all of them."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["JudgeModel", "JudgeUrl", "PolicyFile"]

PolicyFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="A TOML file with thresholds of your own.")
]
JudgeModel = Annotated[
    str | None,
    typer.Option(metavar="MODEL", help="An LLM for what is in doubt; OPENAI_API_KEY has its key."),
]
JudgeUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="The judge's server, if it is not OpenAI's.")
]
