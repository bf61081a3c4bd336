"""faithguard for LangChain: a watcher and a guard.

`FaithfulnessCallback` goes into `config={"callbacks": [...]}` and reports on every answer of a
chain. `guard(chain)` is a Runnable that lets an answer through only once it is verified.
"""

from faithguard.errors import require

require("langchain_core", extra="langchain")

# E402: these come after `require`, so that what is told without LangChain is the extra's name
from faithguard_langchain._callback import FaithfulnessCallback  # noqa: E402
from faithguard_langchain._guard import Guarded, Reported, guard  # noqa: E402
from faithguard_langchain._judge import LangChainJudge  # noqa: E402

__all__ = ["FaithfulnessCallback", "Guarded", "LangChainJudge", "Reported", "guard"]
