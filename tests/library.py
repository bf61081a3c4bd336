"""A few hundred real passages: what the standard library says of its own functions.

In: Python's own modules. Out: passages, one for each documented function, and questions about
some of them.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import itertools
import pathlib
import re
import shutil
import statistics
import string
import subprocess
import tempfile
import textwrap
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from faithguard import Passage

_MODULES = (
    ast,
    collections,
    functools,
    inspect,
    itertools,
    pathlib,
    re,
    shutil,
    statistics,
    string,
    subprocess,
    tempfile,
    textwrap,
    threading,
)


def _documented(module: Any) -> Iterator[tuple[str, Any]]:
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or inspect.ismodule(value):
            continue
        yield f"{module.__name__}.{name}", value
        if inspect.isclass(value):
            for inner, member in sorted(vars(value).items()):
                if not inner.startswith("_") and callable(member):
                    yield f"{module.__name__}.{name}.{inner}", member


@functools.cache
def library() -> tuple[Passage, ...]:
    """Return what the standard library says of its own functions, one passage for each."""
    found: dict[str, Passage] = {}
    for module in _MODULES:
        for name, value in _documented(module):
            text = inspect.getdoc(value)
            if text and len(text) > 60 and text not in found:
                found[text] = Passage(text=f"{name}: {text}", source=name)
    return tuple(found.values())


def sentence(name: str) -> str:
    """Return the first sentence of a passage, as a model quotes it."""
    passage = next(p for p in library() if p.source == name)
    text = passage.text.partition(": ")[2]
    return " ".join(re.split(r"(?<=[.])\s", text)[0].split())


ASKED = (
    "textwrap.dedent",
    "shutil.copyfileobj",
    "statistics.median",
    "functools.lru_cache",
    "tempfile.mkdtemp",
    "inspect.getdoc",
    "pathlib.Path.rename",
    "subprocess.check_output",
)


def question(name: str) -> str:
    """Ask about one function."""
    return f"What does {name} do? {sentence(name)[:40]}"


def asked_about(messages: Sequence[dict[str, Any]]) -> str:
    """Return the function that a request asks about."""
    text = next(str(m["content"]) for m in messages if m["role"] == "user")
    return next(name for name in ASKED if f"does {name} do" in text)
