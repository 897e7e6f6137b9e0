"""A batch that is asked about and run: side by side, and each result says what became of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sayso import Gate, Rule, RulePolicy, RunRef, ToolCall
from sayso.errors import StoreUnreachableError
from sayso.rules.rule_set import RuleBook
from sayso.testing import Prompt, Stage
from sayso.testing.builders import PATIENCE_SECONDS

RUN = RunRef("deploy-bot", "s-1")
ONE, TWO, THREE = (ToolCall("bash", {"command": c}, c) for c in ("one", "two", "three"))


async def test_approved_calls_run_at_once_and_the_denied_one_says_why() -> None:
    together = asyncio.Barrier(2)

    async def bash(command: str) -> str:
        """Run a command."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await together.wait()
        return f"ran {command}"

    async with Stage(answers={"bash": ["allow", "deny", "allow"]}) as stage:
        results = await stage.gate.run_batch([ONE, TWO, THREE], {"bash": bash})

    assert [result.content for result in results] == [
        "ran one",
        "The call of bash was denied by a person. It did not run.",
        "ran three",
    ]
    assert [result.ran for result in results] == [True, False, True]
    assert stage.prompts[0].description == "Run a command."


async def test_a_tool_that_raises_yields_its_error_and_the_others_go_on() -> None:
    async def bash(command: str) -> str:
        if command == "one":
            raise OSError("disk full")
        if command == "two":
            raise asyncio.CancelledError
        await asyncio.sleep(0)
        return f"ran {command}"

    async with Stage(policy=RulePolicy(default="allow")) as stage:
        results = await stage.gate.run_batch([ONE, TWO, THREE], {"bash": bash})

    assert results[0].content == "The call of bash failed with OSError: disk full"
    assert isinstance(results[0].error, OSError)
    assert "it cancelled itself" in results[1].content
    assert results[2].content == "ran three"


async def test_a_call_id_that_stands_twice_in_a_batch_runs_once() -> None:
    ran: list[str] = []

    async def bash(command: str) -> str:
        ran.append(command)
        return f"ran {command}"

    policy = RulePolicy(allow_once=[Rule("bash")])
    async with Stage(policy=policy) as stage:
        results = await stage.gate.run_batch([ONE, ONE], {"bash": bash})

    assert ran == ["one"]
    assert results[0].content == "ran one"
    assert "appears twice" in results[1].content


async def test_calls_that_cannot_be_asked_about_yield_results_and_the_others_go_on() -> None:
    async def bash(command: str) -> str:
        return f"ran {command}"

    calls = [ToolCall("bash", {"command": object()}), ToolCall("nothing"), ONE]
    async with Stage(answers={"bash": "allow"}) as stage:
        results = await stage.gate.run_batch(calls, {"bash": bash})

    assert "cannot be written as JSON" in results[0].content
    assert "no tool has this name" in results[1].content
    assert results[2].content == "ran one"
    assert len(stage.prompts) == 1


async def test_what_was_approved_runs_whatever_becomes_of_the_arguments_that_were_handed_in() -> (
    None
):
    ran: list[object] = []

    async def bash(command: object) -> None:
        ran.append(command)

    arguments = {"command": ["ls"]}

    def answer(prompt: Prompt) -> str:
        if len(stage.prompts) == 2:
            arguments["command"][:] = ["rm"]
        return "allow"

    stage = Stage(answers=answer)
    async with stage:
        results = await stage.gate.run_batch(
            [ToolCall("bash", arguments, "one"), TWO], {"bash": bash}
        )

    assert all(result.ran for result in results)
    assert ran == [["ls"], "two"]


async def test_a_cancelled_batch_runs_nothing_and_withdraws_its_question() -> None:
    ran: list[str] = []

    async def bash(command: str) -> None:
        ran.append(command)

    async with Stage() as stage:
        asked = asyncio.Event()
        async with Gate.open(stage.backend, run=RUN, observe=lambda _: asked.set()) as gate:
            stage.hold()
            running = asyncio.create_task(gate.run_batch([ONE, TWO], {"bash": bash}))
            await asked.wait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        assert await stage.backend.store.list_requests() == []
    assert ran == []


async def test_a_batch_without_a_store_runs_nothing() -> None:
    class Away:
        async def book(self, run: RunRef) -> RuleBook:
            raise StoreUnreachableError("away")

    ran: list[str] = []

    async def bash(command: str) -> None:
        ran.append(command)

    async with Stage() as stage:
        away = replace(stage.backend, rules=Away())  # type: ignore[arg-type]
        async with Gate.open(away, run=RUN, policy=RulePolicy(default="allow")) as gate:
            with pytest.raises(StoreUnreachableError):
                await gate.run_batch([ONE], {"bash": bash})

    assert ran == []
