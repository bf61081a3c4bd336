"""faithguard for LlamaIndex: a watcher, a guard and an evaluator.

`watch()` reports on every answer of every engine of the process. `guard(engine)` is an engine
that lets an answer through only once it is verified. `FaithfulnessEvaluator` takes the place of
LlamaIndex's own. The names load late: LlamaIndex itself takes seconds to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from faithguard.errors import require

require("llama_index_instrumentation", extra="llama-index")

if TYPE_CHECKING:
    from faithguard_llama_index._chat import GuardedChatEngine
    from faithguard_llama_index._evaluator import FaithfulnessEvaluator
    from faithguard_llama_index._guard import guard
    from faithguard_llama_index._judge import LlamaIndexJudge
    from faithguard_llama_index._query import GuardedQueryEngine
    from faithguard_llama_index._settings import Reported
    from faithguard_llama_index._watch import Watcher, unwatch, watch

__all__ = [
    "FaithfulnessEvaluator",
    "GuardedChatEngine",
    "GuardedQueryEngine",
    "LlamaIndexJudge",
    "Reported",
    "Watcher",
    "guard",
    "unwatch",
    "watch",
]

_HOMES = {
    "FaithfulnessEvaluator": "_evaluator",
    "GuardedChatEngine": "_chat",
    "GuardedQueryEngine": "_query",
    "LlamaIndexJudge": "_judge",
    "Reported": "_settings",
    "Watcher": "_watch",
    "guard": "_guard",
    "unwatch": "_watch",
    "watch": "_watch",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'faithguard_llama_index' has no attribute {name!r}")
    value = getattr(import_module(f"faithguard_llama_index.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
