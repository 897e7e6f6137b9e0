"""Tools behind a handler: an approval in time, asked for once, or nothing runs."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable
from typing import Any

import pytest

from sayso.agent.gate import Gate
from sayso.agent.tools.wrap import LocalGate, wrap
from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError, ToolBlocked
from sayso.events import Outcome
from sayso.policy.decision import Decision, PolicyContext
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.rule import Rule

CALL = ToolCall("bash", {"command": "ls"})


def asks(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ASK


async def yes(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    return True


async def bash(command: str) -> str:
    return f"ran {command}"


async def no(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    return False


async def test_tools_that_are_wrapped_to_raise_raise_tool_blocked_for_a_denial() -> None:
    by_handler = wrap([bash], asks, handler=no, raises=True)
    by_gate = wrap({"bash": bash}, gate=LocalGate(RulePolicy(deny=[Rule("bash")])), raises=True)
    allowed = wrap([bash], asks, handler=yes, raises=True)

    with pytest.raises(ToolBlocked, match="the handler said no") as blocked:
        await by_handler["bash"]("ls")
    with pytest.raises(ToolBlocked, match="denied by deny rule 1"):
        await by_gate["bash"]("ls")

    assert (blocked.value.tool, blocked.value.outcome) == ("bash", "denied")
    assert await allowed["bash"]("ls") == "ran ls"


async def test_a_yes_after_the_deadline_is_none() -> None:
    async def stubborn(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True
        return False

    verdict = await LocalGate(asks, stubborn, timeout=0.01).check(CALL)

    assert verdict.outcome is Outcome.EXPIRED


async def test_an_error_after_the_deadline_is_reported_as_the_deadline() -> None:
    async def stubborn(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("no terminal")

    verdict = await LocalGate(asks, stubborn, timeout=0.01).check(CALL)

    assert verdict.outcome is Outcome.EXPIRED


async def test_a_handler_that_cancels_itself_denies_and_leaves_its_caller_alone() -> None:
    async def gives_up(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        raise asyncio.CancelledError

    verdict = await LocalGate(asks, gives_up).check(CALL)

    assert verdict.outcome is Outcome.DENIED
    assert "cancelled itself" in verdict.reason


async def test_a_caller_that_is_cancelled_while_the_handler_is_asked_ends() -> None:
    asked = asyncio.Event()

    async def silent(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        asked.set()
        await asyncio.Event().wait()
        return True

    task = asyncio.create_task(LocalGate(asks, silent).check(CALL))
    await asked.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_caller_that_is_cancelled_has_no_yes_of_a_handler_that_ignores_it() -> None:
    asked = asyncio.Event()

    async def stubborn(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        asked.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return True

    task = asyncio.create_task(LocalGate(asks, stubborn).check(CALL))
    await asked.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_task_that_was_cancelled_before_can_still_ask_while_it_tidies_up() -> None:
    async def works() -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return (await LocalGate(asks, yes).check(CALL)).approved
        return False

    task = asyncio.create_task(works())
    await asyncio.sleep(0)
    task.cancel()

    assert await task


async def test_wrapped_tools_wait_for_the_handler_as_long_as_they_are_told() -> None:
    async def silent(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        await asyncio.Event().wait()
        return True

    tools = wrap([bash], asks, handler=silent, timeout=0.01)

    assert "in time" in await tools["bash"]("ls")


def sync(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    return True


class Handler:
    async def __call__(self, tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        return True

    async def ask(self, tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        return True


@pytest.mark.parametrize("handler", [sync, lambda *asked: True, True, functools.partial(sync)])
def test_a_handler_that_is_not_async_is_refused_before_anything_is_asked(handler: Any) -> None:
    with pytest.raises(ConfigError, match="the handler must be async"):
        wrap([bash], asks, handler=handler)
    with pytest.raises(ConfigError, match="the handler must be async"):
        LocalGate(asks, handler)


@functools.wraps(yes)
def decorated(*asked: Any) -> Any:
    return yes(*asked)


@pytest.mark.parametrize(
    "handler", [yes, decorated, functools.partial(yes), Handler(), Handler().ask]
)
async def test_every_async_handler_is_taken(handler: Any) -> None:
    assert await wrap([bash], asks, handler=handler)["bash"]("ls") == "ran ls"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_wait_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises((ConfigError, ValueError)):
        wrap([bash], asks, handler=yes, timeout=seconds)


async def test_tools_are_wrapped_once() -> None:
    once = wrap([bash], RulePolicy(default="allow"))

    async with Gate.open("memory://", run=RunRef("a", "s")) as gate:
        again: list[Callable[[], object]] = [
            lambda: wrap(once, asks),
            lambda: wrap(once.values(), gate=gate),
            lambda: wrap({"other": functools.wraps(once["bash"])(lambda: None)}, asks),
        ]
        for wrapping in again:
            with pytest.raises(ConfigError, match="guarded already"):
                wrapping()
        with pytest.raises(ConfigError, match="timeout"):
            wrap([bash], gate=gate, timeout=5)

    assert await once["bash"]("ls") == "ran ls"
