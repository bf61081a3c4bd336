"""What every test run shares. In: nothing. Out: tests that are collected and run in less time.

All tests, and the frameworks that they try, are loaded before the first test runs, and stay to the
end. The collector need not look at them again and again: a full round over them takes as long as
dozens of tests, and tests that count what is left behind ask for many rounds. No example of a
property has a deadline: the first check of a process loads what checks.
"""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("faithguard", deadline=None)
settings.load_profile("faithguard")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the collector rest while tests are found, and leave what is there then alone."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()  # what was only needed to find them is not to stay
        gc.freeze()
