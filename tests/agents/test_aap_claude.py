"""The protocol's hooks for the Claude Agent SDK, with the real command, against ``sayso serve``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.aap_clients import Agent, Scene, agent, scene_on
from support.certificates import self_signed
from support.claude_model import Model, calls, model_served, says

from sayso.calls import new_id

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]


@dataclass
class Claude:
    """The SDK in a process, its model, and a project to work in."""

    client: Agent
    model: Model
    scene: Scene
    home: Path

    async def begin(self, how: str) -> tuple[Path, str]:
        """Begin a run whose model wants one command; the file that it makes, and the call's id."""
        call_id, project = f"toolu_{new_id()}", self.home / new_id()
        project.mkdir()
        command = calls("Bash", call_id, command="echo paid >> ran", description="pay")
        self.model.plays([says("I pay the invoice."), command])
        await self.client.begin(how, self.scene, project=str(project), env=self._env())
        return project / "ran", call_id

    def _env(self) -> dict[str, Any]:
        return {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "of-a-model-of-ours",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def claude(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Claude]:
    """All of it, for all tests of this file."""
    folder = tmp_path_factory.mktemp("claude")
    separator = "&" if "?" in redis_url else "?"
    url = f"{redis_url}{separator}namespace=claude-{new_id()}"
    async with (
        scene_on(url, folder, self_signed(folder, "IP:127.0.0.1")) as scene,
        model_served() as model,
        agent("", "claude_agent", folder) as client,
    ):
        yield Claude(client, model, scene, folder)


async def test_allow_runs_the_command_once(claude: Claude) -> None:
    ran, call_id = await claude.begin("waiting")
    await claude.scene.card()
    await claude.scene.slack.press("Allow")
    await claude.client.until("done")

    assert ran.read_text().splitlines() == ["paid"]
    assert call_id in claude.model.results


async def test_a_denial_stops_the_command_and_its_reason_reaches_the_model(claude: Claude) -> None:
    ran, call_id = await claude.begin("waiting")
    await claude.scene.card()
    await claude.scene.slack.fill_in("Deny with a reason…", {"Reason": "Invoice 7 is a fake"})
    await claude.client.until("done")

    assert not ran.exists()
    assert "Invoice 7 is a fake" in claude.model.results[call_id]


async def test_a_restart_of_the_bots_in_the_middle_asks_once(claude: Claude) -> None:
    before = claude.scene.cards
    ran, _ = await claude.begin("waiting")
    await claude.scene.card()
    assert await claude.scene.serves.stop() == 0
    await claude.scene.serves.start()
    await claude.scene.slack.press("Allow")
    await claude.client.until("done")

    assert ran.read_text().splitlines() == ["paid"]
    assert claude.scene.cards == before + 1


async def test_a_webhook_wakes_a_session_that_was_left(claude: Claude) -> None:
    ran, call_id = await claude.begin("paused")
    await claude.client.until("paused")
    assert not ran.exists()
    await claude.scene.card()
    await claude.scene.slack.press("Allow")
    await claude.client.until("done")

    assert ran.read_text().splitlines() == ["paid"]
    assert call_id in claude.model.results
    assert [one["status"] for one in claude.client.all("webhook")] == [200, 204]
