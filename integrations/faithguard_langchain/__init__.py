"""faithguard for LangChain: a watcher, and guards for chains, agents and nodes of graphs.

`FaithfulnessCallback` goes into `config={"callbacks": [...]}` and reports on every answer of a
chain. `guard(chain)` is a Runnable that lets an answer through only once it is verified;
`FaithfulnessMiddleware` (extra `langchain-agents`) does the same inside `create_agent`,
`verify_node` inside a graph of your own.
"""

from typing import TYPE_CHECKING, Any

from faithguard.errors import require

require("langchain_core", extra="langchain")

# E402: these come after `require`, so that what is told without LangChain is the extra's name
from faithguard_langchain._callback import FaithfulnessCallback  # noqa: E402
from faithguard_langchain._guard import Guarded, Reported, guard  # noqa: E402
from faithguard_langchain._judge import LangChainJudge  # noqa: E402
from faithguard_langchain._node import verify_node  # noqa: E402

if TYPE_CHECKING:
    from faithguard_langchain._agents import FaithfulnessMiddleware

__all__ = [
    "FaithfulnessCallback",
    "FaithfulnessMiddleware",
    "Guarded",
    "LangChainJudge",
    "Reported",
    "guard",
    "verify_node",
]


def __getattr__(name: str) -> Any:
    """Load what needs `langchain` itself when it is first used."""
    if name != "FaithfulnessMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("langchain", extra="langchain-agents")
    from faithguard_langchain._agents import FaithfulnessMiddleware

    return FaithfulnessMiddleware
