"""Policies of any shape, chains of them, and tools behind them without any bot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from sayso.agent.gate import Gate
from sayso.agent.tools.wrap import LocalGate, wrap
from sayso.calls import RunRef, ToolCall
from sayso.errors import ConfigError, ToolBlocked
from sayso.events import Outcome
from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.declarations import requires_permission
from sayso.rules.rule import Rule

CALL = ToolCall("bash", {"command": "ls"})
CONTEXT = PolicyContext(RunRef("a", "s"))
OTHER = {"command": "ls -l"}


class Sync:
    def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.because("yes")


class Async:
    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        return Decision.ALLOW.because("yes")


def plain(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW.because("yes")


async def awaited(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW.because("yes")


def silent(call: ToolCall, context: PolicyContext) -> None:
    return None


def asks(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ASK.because("risky")


def changes(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
    return dict(OTHER)


def asks_with_others(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ASK.because("changed").with_arguments(OTHER)


def blocks(call: ToolCall, context: PolicyContext) -> Decision:
    raise ToolBlocked(call.name, "not on Fridays")


def fails(call: ToolCall, context: PolicyContext) -> Decision:
    raise RuntimeError(f"secret {call.arguments}")


@pytest.mark.parametrize("policy", [Sync(), Async(), plain, awaited])
async def test_a_policy_is_a_class_with_decide_or_a_function_async_or_not(policy: Policy) -> None:
    decision = await evaluate(policy, CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.ALLOW
    assert decision.line.startswith("policy ")


async def test_plain_arguments_allow_the_call_with_those() -> None:
    decision = await evaluate(changes, CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.ALLOW
    assert decision.applied_to(CALL).arguments == OTHER


async def test_tool_blocked_denies_with_its_reason() -> None:
    decision = await evaluate(blocks, CALL, CONTEXT)

    assert decision == Decision.DENY.because("not on Fridays", line="blocked by blocks")


async def test_none_is_no_opinion() -> None:
    assert await evaluate(silent, CALL, CONTEXT) is None


async def test_a_policy_that_fails_denies_and_is_logged_without_its_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        decision = await evaluate(fails, CALL, CONTEXT)

    assert decision is not None
    assert decision.ruling is Ruling.DENY
    assert "policy fails raised RuntimeError" in decision.reason
    assert "fails" in caplog.text
    assert "secret {'" not in caplog.text


@pytest.mark.parametrize("answer", [True, "allow", 1, [], Ruling.ALLOW, {1: 2}, Decision])
async def test_any_other_answer_denies(answer: object) -> None:
    decision = await evaluate(lambda call, context: answer, CALL, CONTEXT)  # type: ignore[arg-type, return-value]  # the test is about wrong answers

    assert decision is not None
    assert decision.ruling is Ruling.DENY


async def test_what_is_no_policy_denies() -> None:
    decision = await evaluate("allow", CALL, CONTEXT)  # type: ignore[arg-type]  # on purpose

    assert decision is not None
    assert decision.ruling is Ruling.DENY


class Ran:
    """A tool that notes what it was called with."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    async def __call__(self, command: str, cwd: str = "/") -> str:
        """Run a command."""
        self.calls.append({"command": command, "cwd": cwd})
        return f"ran {command}"


async def yes(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    return True


async def no(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    return False


async def test_ask_without_any_way_to_ask_is_denied_with_a_reason_that_says_so() -> None:
    ran = Ran()

    result = await wrap({"bash": ran}, asks)["bash"]("ls")

    assert result == (
        "The call of bash was denied: risky, and there is no way to ask. It did not run."
    )
    assert ran.calls == []


async def test_a_handler_stands_in_for_the_gate() -> None:
    ran, seen = Ran(), list[tuple[str, dict[str, Any], str]]()

    async def handler(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        seen.append((tool_name, arguments, reason))
        return True

    result = await wrap({"bash": ran}, asks, handler=handler)["bash"]("ls")

    assert result == "ran ls"
    assert seen == [("bash", {"command": "ls", "cwd": "/"}, "risky")]


async def truthy(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    return "yes"  # type: ignore[return-value]  # on purpose


async def broken(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
    raise OSError("no terminal")


@pytest.mark.parametrize("handler", [no, truthy, broken])
async def test_a_handler_that_does_not_say_true_denies(handler: Any) -> None:
    ran = Ran()

    result = await wrap({"bash": ran}, asks, handler=handler)["bash"]("ls")

    assert "was denied" in result
    assert ran.calls == []


async def test_a_handler_that_is_silent_denies() -> None:
    async def silence(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        await asyncio.Event().wait()
        return True

    verdict = await LocalGate(asks, silence, timeout=0.01).check(CALL)

    assert verdict.outcome is Outcome.EXPIRED


async def test_modified_arguments_are_what_runs() -> None:
    ran = Ran()

    await wrap({"bash": ran}, changes)["bash"]("rm -rf /", "/tmp")

    assert ran.calls == [{"command": "ls -l", "cwd": "/"}]


async def test_modified_arguments_of_ask_are_shown_and_run_once_approved() -> None:
    ran, seen = Ran(), list[dict[str, Any]]()

    async def handler(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        seen.append(arguments)
        return True

    await wrap({"bash": ran}, asks_with_others, handler=handler)["bash"]("rm -rf /")

    assert seen == [OTHER]
    assert ran.calls == [{"command": "ls -l", "cwd": "/"}]


async def test_arguments_that_change_while_the_handler_is_asked_do_not_run() -> None:
    files = ["a"]

    async def handler(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        arguments["files"].append("shown only")
        files.append("/etc/passwd")
        return True

    verdict = await LocalGate(asks, handler).check(ToolCall("rm", {"files": files}))

    assert not verdict.approved
    assert "changed" in verdict.reason


async def test_a_call_denied_while_the_handler_was_asked_does_not_run() -> None:
    rules = RulePolicy()

    async def handler(tool_name: str, arguments: dict[str, Any], reason: str) -> bool:
        rules.deny_call_id(CALL.call_id)
        return True

    direct = await LocalGate(rules, handler).check(CALL)

    assert not direct.approved
    assert direct.line == "denied call id"


async def test_modified_arguments_that_do_not_fit_run_nothing() -> None:
    ran = Ran()

    def unfit(call: ToolCall, context: PolicyContext) -> dict[str, Any]:
        return {"command": "ls", "shell": True}

    result = await wrap({"bash": ran}, unfit)["bash"]("ls")

    assert "it takes no 'shell'" in result
    assert ran.calls == []


async def test_a_set_of_functions_is_wrapped_by_their_names() -> None:
    def add(a: int, /, *more: int, sign: int = 1, **options: int) -> int:
        return sign * (a + sum(more) + sum(options.values()))

    async def greet(name: str) -> str:
        return f"hello {name}"

    tools = wrap([add, greet], RulePolicy(default="allow", deny=[Rule("greet", {"name": "x"})]))

    assert await tools["add"](1, 2, 3, sign=-1, b=4) == -10
    assert await tools["greet"]("you") == "hello you"
    assert "denied by deny rule 1" in await tools["greet"]("x")


async def test_wrapped_tools_keep_what_they_declare() -> None:
    @requires_permission
    def deploy() -> str:
        return "done"

    tools = wrap([deploy], RulePolicy(default="allow"))

    assert "there is no way to ask" in await tools["deploy"]()


async def test_a_gate_can_stand_behind_wrapped_tools() -> None:
    ran = Ran()

    @requires_permission
    def deploy() -> str:
        return "done"

    policy = RulePolicy(default="allow", deny=[Rule("bash", {"command": "rm*"})])
    async with Gate.open("memory://", run=RunRef("a", "s"), policy=policy, timeout=0.05) as gate:
        both: dict[str, Callable[..., Any]] = {"bash": ran, "deploy": deploy}
        tools = wrap(both, gate=gate)
        results = [await tools["bash"]("ls"), await tools["bash"]("rm x"), await tools["deploy"]()]

    assert results[0] == "ran ls"
    assert "denied by deny rule 1" in results[1]
    assert "nobody answered in time" in results[2]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: wrap([]),
        lambda: wrap([], plain, gate=LocalGate(plain)),
        lambda: wrap([], gate=LocalGate(plain), handler=yes),
        lambda: wrap([yes, yes], plain),
        lambda: wrap([lambda: None], plain),
    ],
)
def test_wrappings_that_make_no_sense_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(ConfigError):
        wrong()
