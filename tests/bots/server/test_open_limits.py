"""`[limits]`: so many open requests of an agent and of a token, and no card for those beyond."""

from __future__ import annotations

import asyncio

import pytest
from support.api_world import API, ROUTE, TOKENS, world_on
from support.playing import a_playground
from support.settings_text import ROUTE as TO_SLACK
from support.settings_text import problems, read

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import OpenLimits
from sayso.testing import until

ALONE = '[questions]\ntogether = "off"\n'
LIMITS = "[limits]\nopen_per_agent = 3\nopen_per_token = 4\n"


def test_the_settings_allow_fifty_of_an_agent_and_two_hundred_of_a_token() -> None:
    assert read(TO_SLACK).limits == OpenLimits(per_agent=50, per_token=200)
    assert read(f"{LIMITS}{TO_SLACK}").limits == OpenLimits(3, 4)
    assert read(f'[limits]\nopen_per_agent = "off"\n{TO_SLACK}').limits == OpenLimits(0, 200)


@pytest.mark.parametrize("written", ["0", "-1", "true", '"many"', "1.5"])
def test_a_limit_that_is_none_is_refused_with_an_example(written: str) -> None:
    (problem,) = problems(f"[limits]\nopen_per_agent = {written}\n{TO_SLACK}")

    assert "open_per_agent" in problem
    assert 'from 1 to 1000000, such as 50, or "off"' in problem


async def test_beyond_its_limit_an_agent_is_refused_in_every_way_and_no_card_is_posted() -> None:
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml=f"{ALONE}{LIMITS}{ROUTE}{API}{TOKENS}") as world,
        Gate.open(backend, run=RunRef("deploy-bot", "s-gate"), timeout=20) as gate,
    ):
        waiting = [
            asyncio.create_task(gate.check(ToolCall("bash", {"command": f"ls {number}"})))
            for number in range(3)
        ]

        async def all_posted() -> bool:
            return len(playground.slack.messages()) == 3

        await until(all_posted)
        verdict = await gate.check(ToolCall("bash", {"command": "one more"}))
        refused = await world.ask(arguments={"command": "one more over HTTP"})

        assert verdict.outcome is Outcome.UNDELIVERABLE
        assert (refused.status, refused.json["code"]) == (429, "TooManyOpen")
        assert (
            "'deploy-bot' has as many open requests as the server allows, 3"
            in (refused.json["detail"])
        )
        assert refused.headers["Retry-After"] == "5"
        assert len(playground.slack.messages()) == 3
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_beyond_its_limit_a_token_is_refused_for_every_agent_it_speaks_for() -> None:
    async with (
        a_playground() as playground,
        memory_backend() as backend,
        world_on(playground, backend, toml=f"{LIMITS}{ROUTE}{API}{TOKENS}") as world,
    ):
        replies = []
        for agent in ("deploy-a", "deploy-b", "deploy-c"):
            branch = f"/agents/{agent}/sessions/s-1/branches/main"
            replies += [await world.ask(branch=branch) for _ in range(2)]

    assert [reply.status for reply in replies] == [201, 201, 201, 201, 429, 429]
    assert (
        "token 'api:ci' has as many open requests as the server allows, 4"
        in (replies[-1].json["detail"])
    )
