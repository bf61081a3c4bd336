"""`faithguard demo --framework llama-index`: a real index over a small library's leaflets.

In: a folder of texts, the bundled one by default. Out, on the terminal: the query engine
watched, then guarded with block and with regenerate (`faithguard.demo`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.schema import TextNode

from faithguard.demo import FALLBACK, QUESTIONS, leaflets, reply, show
from faithguard_llama_index import guard, unwatch, watch
from faithguard_llama_index.testing import ScriptedLLM, WordEmbedding

__all__ = ["main"]


def main(corpus: Path | None = None) -> None:
    """Run the demo.

    Args:
        corpus: A folder of `.md` or `.txt` files to retrieve from; the bundled one by default.

    Raises:
        ConfigError: If the folder holds no such files.
    """
    engine = _engine(corpus)
    watcher = watch(domain="support", sinks=[])
    for question in QUESTIONS:
        engine.query(question)
    watcher.wait()
    unwatch()
    blocking = guard(engine, domain="support", fallback=FALLBACK, sinks=[])
    asking = guard(engine, domain="support", on_fail="regenerate", fallback=FALLBACK, sinks=[])
    show(
        ("watch(); engine.query(question)", watcher.reports),
        {
            "guard(engine, fallback=...)": blocking.with_report().query,
            "guard(engine, on_fail='regenerate')": asking.with_report().query,
        },
    )


def _engine(corpus: Path | None) -> BaseQueryEngine:
    """An engine as in any tutorial: an index, its retriever, a model."""
    nodes = [TextNode(text=passage.text) for passage in leaflets(corpus)]
    index: Any = VectorStoreIndex(nodes, embed_model=WordEmbedding())
    engine: BaseQueryEngine = index.as_query_engine(
        llm=ScriptedLLM(reply=_reply), similarity_top_k=2
    )
    return engine


def _reply(messages: Sequence[ChatMessage]) -> str:
    return reply(
        [message.content or "" for message in messages if message.role == MessageRole.USER]
    )
