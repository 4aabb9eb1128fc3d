"""Fixtures for all tests: each test restores its thread's contexts and the renderer."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("support")

# Tests compare standard error, without the backtraces of panics.
os.environ.pop("RUST_BACKTRACE", None)

from passdock import PassContext, _passdock


@pytest.fixture(autouse=True)
def no_context_left_entered() -> Iterator[None]:
    """Checks that no test leaves a context entered, or an instrument in the thread's own."""
    default = PassContext.current()
    yield
    left = PassContext.current()
    default.override_instruments(None)
    _passdock.override_renderer(None)
    assert left == default, "the test left a context entered"
