"""Guarded functions: what was approved is what runs, with those arguments and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sayso import Decision, Gate, PolicyContext, RunRef, ToolCall
from sayso.agent.tools.wrap import wrap
from sayso.errors import ConfigError
from sayso.events import Event, PermissionRequestEvent, UserInputRequest
from sayso.rules.declarations import requires_permission

RUN = RunRef("bot", "s-1")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


class Change:
    """A policy that allows every call with other arguments."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.with_arguments(dict(self._arguments))


async def run_with(arguments: Mapping[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """The result of a guarded call whose arguments were changed into these, and what ran."""
    ran: list[dict[str, Any]] = []
    async with Gate.open("memory://", run=RUN, policy=Change(arguments)) as gate:

        @gate.guard
        async def delete(path: str, *, force: bool = False, **more: Any) -> str:
            ran.append({"path": path, "force": force, **more})
            return "done"

        return await delete("/srv/a", force=True, depth=3), ran


async def test_an_argument_that_was_taken_out_does_not_run() -> None:
    result, ran = await run_with({"path": "/srv/a"})

    assert (result, ran) == ("done", [{"path": "/srv/a", "force": False}])


async def test_an_argument_that_was_put_in_runs() -> None:
    result, ran = await run_with({"path": "/srv/b", "force": True, "depth": 1, "dry": True})

    assert (result, ran) == ("done", [{"path": "/srv/b", "force": True, "depth": 1, "dry": True}])


async def test_arguments_that_the_function_cannot_take_do_not_run_it() -> None:
    result, ran = await run_with({"force": True})

    assert result == (
        "The call of delete did not run: it cannot be called as approved: 'path' is missing."
    )
    assert ran == []


@pytest.mark.parametrize("schema", [SCHEMA, None])
async def test_a_tool_that_declares_its_schema_asks_with_it(schema: dict[str, Any] | None) -> None:
    asked: list[Event] = []
    async with Gate.open("memory://", run=RUN, observe=asked.append, timeout=0.05) as gate:

        @gate.guard
        @requires_permission(arguments_schema=schema)
        async def read(path: str) -> str:
            return path

        await read("/srv/a")

    request = next(event for event in asked if isinstance(event, UserInputRequest))
    assert isinstance(request, PermissionRequestEvent)
    assert request.arguments_schema == schema


async def test_a_schema_as_long_as_a_book_is_refused() -> None:
    async with Gate.open("memory://", run=RUN, timeout=0.05) as gate:

        @gate.guard
        @requires_permission(arguments_schema={"description": "x" * 70_000})
        async def read(path: str) -> str:
            return path

        with pytest.raises(ValueError, match="a schema must have at most 65536 characters"):
            await read("/srv/a")


async def test_a_function_is_guarded_once() -> None:
    async def read(path: str) -> str:
        return path

    async with Gate.open("memory://", run=RUN) as gate:
        guarded = gate.guard(read)
        with pytest.raises(ConfigError, match="read is guarded already"):
            gate.guard(guarded)
        with pytest.raises(ConfigError, match="read is guarded already"):
            wrap([guarded], gate=gate)
        with pytest.raises(ConfigError, match="read is guarded already"):
            gate.guard(wrap([read], gate=gate)["read"])
