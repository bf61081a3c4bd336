"""What a forked child must not inherit: locks that another thread held, and its duties.

In: objects with an `after_fork` method. Out: that method, called in every forked child.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

__all__ = ["reset_in_child"]


class _Forkable(Protocol):
    def after_fork(self) -> None: ...


_known: weakref.WeakSet[_Forkable] = weakref.WeakSet()


def reset_in_child(subject: _Forkable) -> None:
    """Have `subject.after_fork()` called in a forked child, as long as it lives."""
    _known.add(subject)


def _reset() -> None:
    for subject in list(_known):
        subject.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_reset)
