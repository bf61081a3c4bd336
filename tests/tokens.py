"""LlamaIndex's tokenizer -> the same, which remembers the tokens of what it was shown.

In: nothing. Out: LlamaIndex counts as ever, once for each text. Its splitters count every piece of
every passage for each prompt; the same few passages come in hundreds of tests.
"""

from __future__ import annotations

from functools import cache, lru_cache

from llama_index.core.utils import get_tokenizer, set_global_tokenizer


@cache
def remember_tokens() -> None:
    """Let LlamaIndex remember tokens, from now on in this process."""
    set_global_tokenizer(lru_cache(maxsize=20_000)(get_tokenizer()))
