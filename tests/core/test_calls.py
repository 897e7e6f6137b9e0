"""Arguments and their digest: what was shown is what runs."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest

from sayso import Gate, RunRef
from sayso.calls import MAX_ARGUMENTS_BYTES, ToolCall, arguments_digest, new_id, shown_and_digest
from sayso.errors import InvalidCallError
from sayso.stores.memory import memory_backend


def test_the_order_of_keys_does_not_matter() -> None:
    assert arguments_digest({"a": 1, "b": {"c": 2, "d": 3}}) == arguments_digest(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": None}, {}),
        ({"a": [1, 2]}, {"a": "1,2"}),
        ({"a": "x "}, {"a": "x"}),
        ({"a": "é"}, {"a": "e\u0301"}),
    ],
)
def test_different_arguments_have_different_digests(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert arguments_digest(one) != arguments_digest(other)


def test_python_values_are_shown_as_json() -> None:
    plain, _ = shown_and_digest({"when": dt.date(2026, 1, 2), "where": Path("/tmp/x")})

    assert plain == {"when": "2026-01-02", "where": "/tmp/x"}


@pytest.mark.parametrize("value", [object(), "\ud800", b"\xff\xfe", lambda: None])
def test_a_value_without_json_form_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidCallError, match="'odd'"):
        arguments_digest({"odd": value})


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_json_has_not_is_refused_by_its_place(value: float) -> None:
    with pytest.raises(InvalidCallError) as caught:
        shown_and_digest({"fine": 1, "odd": [{"deep": value}]})

    assert str(caught.value) == (
        "the arguments ('fine', 'odd') cannot be written as JSON: "
        "odd[0].deep is no finite number; pass a text or None instead"
    )


async def test_a_gate_refuses_a_number_that_json_has_not() -> None:
    async with memory_backend() as backend, Gate.open(backend, run=RunRef("a", "s")) as gate:
        with pytest.raises(InvalidCallError, match="amount is no finite number"):
            await gate.submit(ToolCall("pay", {"amount": float("inf")}))

        assert not await backend.watch.pending()


def test_names_that_json_would_merge_are_refused() -> None:
    with pytest.raises(InvalidCallError, match="no text but int"):
        arguments_digest({"x": {1: "rm -rf /", "1": "ls"}})


def test_arguments_that_are_too_large_are_refused_with_both_numbers() -> None:
    with pytest.raises(InvalidCallError, match=str(MAX_ARGUMENTS_BYTES)):
        arguments_digest({"text": "x" * MAX_ARGUMENTS_BYTES})


def test_a_loop_in_the_arguments_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop

    with pytest.raises(InvalidCallError):
        arguments_digest(loop)


def test_call_ids_are_random_and_long() -> None:
    ids = {ToolCall("t").call_id for _ in range(100)}

    assert len(ids) == 100
    assert all(len(call_id) >= 22 for call_id in ids)


def test_an_id_is_never_an_option_of_a_command() -> None:
    made = {new_id() for _ in range(2_000)}

    assert len(made) == 2_000
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{22}", one) for one in made)
