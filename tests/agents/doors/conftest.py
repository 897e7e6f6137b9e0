"""Tests of doors whose frameworks cannot live beside our tools: in environments of their own.

tests/agents/test_doors.py starts them there; here they are left alone.
"""

from __future__ import annotations

import os

import pytest

collect_ignore_glob = [] if "SAYSO_TEST_FRAMEWORK" in os.environ else ["test_*.py"]

pytest.register_assert_rewrite("support.conformance", "support.fail_closed")
