"""Tools that are not async: they pass the same checks and run as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from sayso import Gate, Outcome, RulePolicy, RunRef, ToolCall
from sayso.testing import Stage

RUN = RunRef("bot", "s-1")
ALLOW = RulePolicy(default="allow")
ONE, TWO = (ToolCall("bash", {"command": c}, c) for c in ("one", "two"))


async def test_a_batch_runs_a_tool_that_is_not_async_and_gives_its_result() -> None:
    ran: list[str] = []

    def bash(command: str) -> str:
        """Run a command."""
        ran.append(command)
        return f"ran {command}"

    async with Stage(answers={"bash": ["allow", "deny"]}) as stage:
        results = await stage.gate.run_batch([ONE, TWO], {"bash": bash})

    assert ran == ["one"]
    assert [result.ran for result in results] == [True, False]
    assert results[0].content == "ran one"
    assert results[0].error is None
    assert stage.prompts[0].description == "Run a command."


async def test_a_batch_awaits_what_a_function_that_is_not_async_gives_back() -> None:
    async def later(command: str) -> str:
        return f"ran {command}"

    def bash(command: str) -> Awaitable[str]:
        return asyncio.ensure_future(later(command))

    async with Gate.open("memory://", run=RUN, policy=ALLOW) as gate:
        (result,) = await gate.run_batch([ONE], {"bash": bash})

    assert result.content == "ran one"


@pytest.mark.parametrize("error", [OSError("disk full"), StopIteration("disk full")])
async def test_a_tool_that_is_not_async_and_raises_yields_its_error(error: Exception) -> None:
    def bash(command: str) -> str:
        if command == "one":
            raise error
        return f"ran {command}"

    async with Gate.open("memory://", run=RUN, policy=ALLOW) as gate:
        failed, ran = await gate.run_batch([ONE, TWO], {"bash": bash})

    assert failed.error is error
    assert not failed.ran
    assert ran.content == "ran two"


async def test_a_guarded_function_that_is_not_async_runs_once_it_is_approved() -> None:
    ran: list[str] = []
    async with Stage(answers={"bash": ["allow", "deny"]}) as stage:

        @stage.gate.guard
        def bash(command: str) -> str:
            ran.append(command)
            return f"ran {command}"

        said = await bash("one")
        denied = await bash("two")

    assert said == "ran one"
    assert "was denied" in denied
    assert ran == ["one"]
    assert stage.verdicts[1].outcome is Outcome.DENIED


async def test_a_guarded_function_awaits_what_it_gives_back() -> None:
    async def later(command: str) -> str:
        return f"ran {command}"

    async with Gate.open("memory://", run=RUN, policy=ALLOW) as gate:

        @gate.guard
        def bash(command: str) -> Awaitable[str]:
            return asyncio.ensure_future(later(command))

        assert await bash("one") == "ran one"
