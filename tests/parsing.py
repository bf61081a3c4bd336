"""A module's file -> its syntax tree, made once.

In: a path. Out: its tree. The collector rests meanwhile: what it ends while CPython 3.11 makes a
tree can run code of other tests, and the tree's maker then fails with a SystemError.
"""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """Return the tree of a module."""
    rested = not gc.isenabled()  # so it is while tests are found
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        if not rested:
            gc.enable()
