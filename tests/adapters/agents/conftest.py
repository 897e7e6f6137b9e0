"""The doors for agent frameworks share their tests."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("support.conformance", "support.fail_closed")
