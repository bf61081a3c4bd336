"""Where the time of a check goes: splitting, reading, each family of rules, each step of the model.

In: a check to run. Out: the seconds of each part, without those of the parts inside it, by the wall
clock and by the CPU of the calling thread; the session has threads of its own, so only its wall
tells. The clocks stand around functions of the product while a check runs, and cost it about 1%.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from faithguard.claims import LocalClaims
from faithguard.verifiers import Context
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers._lexical import Lexical
from faithguard.verifiers.nli import Nli, _verifier
from faithguard.verifiers.nli._model import _Loaded
from faithguard.verifiers.rules import _scene

__all__ = ["AROUND", "CONTEXT", "SESSION", "Clock", "clocked"]

REST = "plan, matching, report"
SPLIT = "splitting the answer"
CONTEXT = "the context: sentences, index, values"
RULES = "rules: "
SESSION = "model: the session"
_SELECTION = "model: selection, language"
_PREMISES = "model: premises"
_PIECES = "model: tokenising"
_FUSION = "model: features and fusion"
_WORDS = "model: by words alone"
_VERDICTS = "model: verdicts and what else"
AROUND = (_SELECTION, _PREMISES, _PIECES, _FUSION, _WORDS, _VERDICTS)
"""What the model's verifier does around its session."""

_FIELDS = vars(Context)
_PLACES: tuple[tuple[Any, str, str], ...] = (
    (LocalClaims, "extract", SPLIT),
    *((_FIELDS[name], "_make", CONTEXT) for name in ("sentences", "_index", "values", "_valued")),
    (_scene._Pages, "__init__", CONTEXT),
    (Nli, "verify", _VERDICTS),
    (Nli, "_reads", _SELECTION),
    (Context, "select", _SELECTION),
    (_verifier, "premises", _PREMISES),
    (_Loaded, "encode", _PIECES),
    (_Loaded, "said", SESSION),
    (Nli, "_probability", _FUSION),
    (Lexical, "probability", _WORDS),
)
"""Owners and names of functions, and the part that each is."""


class Clock:
    """The seconds of each part."""

    def __init__(self) -> None:
        self.wall: Counter[str] = Counter()
        self.cpu: Counter[str] = Counter()
        self._within = [REST]
        self._since = time.perf_counter(), time.thread_time()

    def _passed(self) -> None:
        now = time.perf_counter(), time.thread_time()
        self.wall[self._within[-1]] += now[0] - self._since[0]
        self.cpu[self._within[-1]] += now[1] - self._since[1]
        self._since = now

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what runs inside as a part; a rule that asks for a selection is still a rule."""
        if name == _SELECTION and self._within[-1].startswith(RULES):
            name = self._within[-1]
        self._passed()
        self._within.append(name)
        try:
            yield
        finally:
            self._passed()
            self._within.pop()

    def start(self) -> None:
        """Leave out what has passed since the last part."""
        self._since = time.perf_counter(), time.thread_time()


@contextmanager
def clocked(clock: Clock) -> Iterator[None]:
    """Have a clock stand around the parts of every check that runs inside."""

    def timed(inner: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        with clock.part(name):
            return inner(*args, **kwargs)

    def families(verifier: Any, claims: Sequence[Any], context: Context) -> Any:
        with clock.part(f"{RULES}{verifier.name.partition('@')[0]}"):
            return _VERIFY(verifier, claims, context)

    with ExitStack() as put_back:
        for owner, name, part in _PLACES:
            inner = getattr(owner, name)
            put_back.callback(setattr, owner, name, inner)
            # a function, not a partial: it may be a method
            setattr(owner, name, _method(partial(timed, inner, part)))
        put_back.callback(setattr, EachClaim, "verify", _VERIFY)
        EachClaim.verify = families  # type: ignore[method-assign]
        clock.start()
        yield
        clock._passed()


_VERIFY = EachClaim.verify


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: function(*args, **kwargs)
