"""Ids: random, long, and never taken for something else."""

from __future__ import annotations

import re

from sayso.calls import ToolCall, new_id


def test_call_ids_are_random_and_long() -> None:
    ids = {ToolCall("t").call_id for _ in range(100)}

    assert len(ids) == 100
    assert all(len(call_id) >= 22 for call_id in ids)


def test_an_id_is_never_an_option_of_a_command() -> None:
    made = {new_id() for _ in range(2_000)}

    assert len(made) == 2_000
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{22}", one) for one in made)
