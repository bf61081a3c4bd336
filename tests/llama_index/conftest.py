"""What the watcher's tests share: each leaves LlamaIndex as it found it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tokens import remember_tokens

remember_tokens()


@pytest.fixture
def unwatched() -> Iterator[None]:
    """Unwatch after a test, and check that the dispatcher's handlers are what they were."""
    from llama_index_instrumentation import get_dispatcher

    from faithguard_llama_index import _tap, unwatch

    root = get_dispatcher()
    before = [*root.event_handlers], [*root.span_handlers]
    yield
    assert _tap.open_scopes() == ()
    unwatch()
    after = root.event_handlers, root.span_handlers
    for old, new in zip(before, after, strict=True):
        assert [id(handler) for handler in old] == [id(handler) for handler in new]
