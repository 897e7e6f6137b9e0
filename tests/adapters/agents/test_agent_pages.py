"""The pages about agents: their programs do as they say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from support import agent_framework_doors, openai_agents_doors, pydantic_ai_doors
from support.agent_pages import ANSWERS, DENIED, all_do_as_was_said, begun, programs
from support.doors import Work
from support.langchain_doors import Model

from sayso import ToolCall

WORK = Work([[ToolCall("deploy", {"release": 42}, "call_1")]])
# Each deploys release 42, and then says what came of it, again and again.
MODELS: dict[str, Callable[[], object]] = {
    "agent-framework": agent_framework_doors.repeating,
    "langchain": lambda: Model(work=WORK, repeats=True),
    "openai-agents": openai_agents_doors.repeating,
    "pydantic-ai": pydantic_ai_doors.repeating,
}


@pytest.fixture
async def scene(store_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asked]:
    monkeypatch.setenv("SAYSO_STORE_URL", store_url)
    async with asked(store_url) as opened:
        yield opened


@pytest.mark.parametrize(("button", "printed"), ANSWERS)
@pytest.mark.parametrize("page", MODELS)
async def test_every_program_about_a_framework_asks_and_does_as_was_said(
    scene: Asked,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    button: str,
    printed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    await all_do_as_was_said(page, MODELS[page](), scene, capsys, button, printed)


@pytest.mark.parametrize(("button", "result"), [("Allow", "deployed 42"), ("Deny", DENIED)])
async def test_the_hook_of_any_other_framework_runs_what_was_allowed(
    scene: Asked, button: str, result: str
) -> None:
    async def deploy(release: int) -> str:
        return f"deployed {release}"

    names: dict[str, Any] = {}
    (program,) = (one for one in programs("README") if "run_tool" in one)
    begun(program, names)
    hooked = names["run_tool"]("deploy", {"release": 42}, "call_1", "customer-7", deploy)
    running = scene.ask(hooked)

    await SlackHands(scene.playground).press(button)

    assert await running == result
    names["sayso"].close()
