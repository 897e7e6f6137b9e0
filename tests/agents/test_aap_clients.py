"""Clients of the Agent Approval Protocol that others keep, unmodified, against ``sayso serve``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from support.aap_clients import MARK, Agent, Scene, agent, scene_on
from support.certificates import self_signed
from support.ports import free_port

from sayso.calls import new_id

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

PAUSING = {
    "gate": "aap",
    "langgraph_agent": "aap",
    "pydantic_ai_agent": "aap",
    "openai_agent": "aap",
    "adk_agent": "aap",
}
CLIENTS = {**PAUSING, "crewai_agent": "crewai"}
IN_A_THREAD = [name for name in PAUSING if name != "adk_agent"]
# Their keys come back when a run is begun again; those of the others name that run.
ASKING_ONCE = ["gate", "pydantic_ai_agent", "openai_agent"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """``sayso serve`` on Redis."""
    folder = tmp_path_factory.mktemp("clients")
    separator = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{separator}namespace=clients-{new_id()}"
    async with scene_on(url, folder, self_signed(folder, "IP:127.0.0.1")) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Agent]:
    """A client in a process of its own, for all tests of it."""
    name: str = request.param
    async with agent(CLIENTS[name], name, tmp_path_factory.mktemp("home")) as started:
        yield started


def of(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("client", names, indirect=True, scope="module")


async def allowed(scene: Scene) -> None:
    await scene.card()
    await scene.slack.press("Allow")


def ran_once(client: Agent) -> None:
    ran = [
        {name: value for name, value in one.items() if name != "is"} for one in client.all("ran")
    ]
    assert ran == [{"to": MARK, "amount": 1250.1, "cents": 125010}]


@of(CLIENTS)
async def test_allow_runs_the_tool_once_and_the_card_says_that_it_ran(
    client: Agent, scene: Scene
) -> None:
    await client.begin("waiting", scene)
    await allowed(scene)

    assert f"paid {MARK}" in await client.ended()
    ran_once(client)
    assert "ran" in (await scene.ended("ran")).lower()


@of(IN_A_THREAD)
async def test_allow_runs_the_tool_once_where_a_thread_waits(client: Agent, scene: Scene) -> None:
    await client.begin("waiting_in_a_thread", scene)
    await allowed(scene)

    assert f"paid {MARK}" in await client.ended()
    ran_once(client)


@of(CLIENTS)
async def test_a_denial_stops_the_tool_and_its_reason_reaches_the_model(
    client: Agent, scene: Scene
) -> None:
    await client.begin("waiting", scene)
    await scene.card()
    await scene.slack.fill_in("Deny with a reason…", {"Reason": "Invoice 7 is a fake"})

    assert "Invoice 7 is a fake" in await client.ended()
    assert client.all("ran") == []


@of(CLIENTS)
async def test_a_restart_of_the_bots_in_the_middle_asks_once(client: Agent, scene: Scene) -> None:
    before = scene.cards
    await client.begin("waiting", scene)
    await scene.card()

    assert await scene.serves.stop() == 0
    await scene.serves.start()
    await allowed(scene)

    assert f"paid {MARK}" in await client.ended()
    ran_once(client)
    assert scene.cards == before + 1


@of(PAUSING)
async def test_a_webhook_wakes_a_paused_run(client: Agent, scene: Scene) -> None:
    await client.begin("paused", scene)
    await client.until("paused")
    await allowed(scene)

    assert f"paid {MARK}" in await client.ended()
    ran_once(client)
    assert [one["status"] for one in client.all("webhook")] == [200, 204]


@pytest.mark.parametrize("name", ASKING_ONCE)
async def test_an_agent_that_dies_while_it_waits_and_is_started_again_asks_once(
    name: str, scene: Scene, tmp_path: Path
) -> None:
    before, thread = scene.cards, f"thread-{new_id()}"
    async with agent(CLIENTS[name], name, tmp_path) as first:
        await first.begin("waiting", scene, thread=thread)
        await scene.card()
    async with agent(CLIENTS[name], name, tmp_path) as second:
        await second.begin("waiting", scene, thread=thread)
        await allowed(scene)

        assert f"paid {MARK}" in await second.ended()
        ran_once(second)
        # What was used is not used again, whoever comes back with it.
        await second.begin("waiting", scene, thread=thread)
        assert "already attempted" in await second.ended()
        assert second.all("ran") == []
    assert scene.cards == before + 1


@of(CLIENTS)
async def test_nothing_runs_where_the_provider_refuses_the_token_or_is_not_there(
    client: Agent, scene: Scene
) -> None:
    """The last test of each client: some end with an error."""
    before = scene.cards
    await client.begin("waiting", scene, token="sayso_nobodys")
    with suppress(AssertionError):  # it ended
        await client.until("done")
    assert client.all("ran") == []
    if client.process.returncode is None and client.all("done"):
        await client.begin("waiting", scene, url=f"http://127.0.0.1:{free_port()}/aap")
        with suppress(AssertionError, TimeoutError):
            async with asyncio.timeout(1):
                await client.until("ran")
        assert client.all("ran") == []
    assert scene.cards == before
