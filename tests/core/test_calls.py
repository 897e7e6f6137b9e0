"""Ids: random, long, and never taken for something else."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from sayso import Gate
from sayso.calls import RunRef, ToolCall, new_id


def test_call_ids_are_random_and_long() -> None:
    ids = {ToolCall("t").call_id for _ in range(100)}

    assert len(ids) == 100
    assert all(len(call_id) >= 22 for call_id in ids)


def test_an_id_is_never_an_option_of_a_command() -> None:
    made = {new_id() for _ in range(2_000)}

    assert len(made) == 2_000
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{22}", one) for one in made)


@pytest.mark.parametrize("place", range(4))
def test_a_run_is_named_in_unicode(place: int) -> None:
    names = ["agent", "session", "branch", "run"]
    names[place] = "x\ud800"

    with pytest.raises(ValidationError, match="unicode"):
        RunRef(names[0], names[1], names[2], names[3])


async def test_a_call_with_half_of_a_surrogate_pair_is_asked_on_no_store(store: str) -> None:
    async with Gate.open(store, run=RunRef("a", "s")) as gate:
        for call, description in (("x\ud800", ""), ("x", "\udc00")):
            with pytest.raises(ValueError, match="unicode"):
                await gate.check(ToolCall(call), description=description, timeout=1)
