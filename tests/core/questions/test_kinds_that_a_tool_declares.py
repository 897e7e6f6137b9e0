"""A tool of one's own says of what kind the text of an argument is: it counts before a guess."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso import Gate, RulePolicy, RunRef, ToolAnnotations, ToolCall, requires_permission
from sayso.errors import ConfigError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode, encode
from sayso.rules.declarations import Requirements
from sayso.text.kind import KINDS

ARGUMENTS = {"statement": "VACUUM orders", "body": "SELECT a FROM b;", "plain": "5"}


def a_request(**changes: Any) -> PermissionRequestEvent:
    fields: dict[str, Any] = {
        "permission_id": "p-1",
        "function_name": "run_statement",
        "call_id": "c-1",
        "arguments": ARGUMENTS,
        "source_name": "shop-bot",
        "run": RunRef("shop-bot", "s-1"),
        "expires_at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=10),
    }
    return PermissionRequestEvent(**{**fields, **changes})


def kinds_on(request: PermissionRequestEvent) -> dict[str, str]:
    return {value.name: value.kind for value in request.card().values}


def test_without_a_word_of_the_tool_a_card_guesses() -> None:
    assert kinds_on(a_request()) == {"statement": "text", "body": "sql", "plain": "text"}


def test_a_declared_kind_beats_the_guess_in_both_directions() -> None:
    request = a_request(kinds={"statement": "sql", "body": "text"})

    assert kinds_on(request) == {"statement": "sql", "body": "text", "plain": "text"}


def test_a_declared_kind_beats_the_table_of_well_known_tools() -> None:
    changes = {"function_name": "Bash", "arguments": {"command": "ls", "x": "1"}}

    assert kinds_on(a_request(**changes))["command"] == "shell"
    assert kinds_on(a_request(**changes, kinds={"command": "code"}))["command"] == "code"


@pytest.mark.parametrize("kind", ["text", "list", "json"])
def test_a_text_that_looks_like_a_number_stays_one_that_is_quoted(kind: str) -> None:
    shown = {value.name: value.text for value in a_request(kinds={"plain": kind}).card().values}

    assert shown["plain"] == '"5"'


async def test_what_a_tool_declares_travels_with_the_request() -> None:
    @requires_permission(kinds={"statement": "sql"})
    async def run_statement(**_: str) -> None: ...

    declared = Requirements([run_statement])
    run = RunRef("shop-bot", "s-1")
    async with Gate.open("memory://", run=run, policy=RulePolicy(requirements=declared)) as gate:
        permission_id = await gate.submit(ToolCall("run_statement", ARGUMENTS))
        assert isinstance(permission_id, str)
        record = await gate.backend.store.get(permission_id)

    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    assert kinds_on(record.request)["statement"] == "sql"
    assert decode(encode(record.request)) == record.request


def test_a_request_without_kinds_is_written_as_before_there_were_any() -> None:
    assert b"kinds" not in encode(a_request())


@pytest.mark.parametrize("wrong", [{"statement": "mysql"}, {"statement": ""}, {"statement": None}])
def test_another_word_is_refused_and_the_known_ones_are_named(wrong: Any) -> None:
    with pytest.raises(ConfigError) as told:
        ToolAnnotations(kinds=wrong)
    with pytest.raises(ConfigError):
        Requirements().declare("run_statement", kinds=wrong)

    assert "'statement'" in str(told.value)
    assert all(kind in str(told.value) for kind in KINDS)


def test_kinds_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(ConfigError, match="name of an argument"):
        ToolAnnotations(kinds=["sql"])  # type: ignore[arg-type]
