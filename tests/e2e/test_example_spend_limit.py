"""A kind of question from an example appears on both platforms, and no adapter knows it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.commands import ROUTES, env_of, served
from support.live import is_live
from support.playing import a_playground

from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground

EXAMPLE = Path(__file__).parents[2] / "examples" / "spend_limit"


@pytest.fixture
async def playground(store_url: str, tmp_path: Path) -> AsyncIterator[Playground]:
    """Both platforms, and bots that were told of the example's kind of question."""
    config = tmp_path / "sayso.toml"
    config.write_text(f'{ROUTES}\n[questions]\ntypes = ["spend_questions"]\n')
    async with a_playground() as opened:
        env = env_of(opened, SAYSO_STORE_URL=store_url, PYTHONPATH=str(EXAMPLE))
        async with served(opened, config, env):
            yield opened


@asynccontextmanager
async def agent(store_url: str, *command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The example's agent, asking unless told otherwise."""
    started = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLE / "main.py"),
        *command,
        env={"PATH": os.environ["PATH"], "SAYSO_STORE_URL": store_url},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


async def said(started: asyncio.subprocess.Process) -> tuple[int | None, str]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, _ = await started.communicate()
    return started.returncode, out.decode()


async def test_a_kind_of_question_of_ones_own_is_answered_in_slack(
    playground: Playground, store_url: str
) -> None:
    slack = playground.slack
    async with agent(store_url) as asking:
        card = await slack.message_where(lambda message: "Spend 500" in message.all_text)
        assert "Two more months" in card.all_text
        await slack.press(card, "Grant less…", by="alice")
        view = await slack.view_for("alice")
        await slack.submit(view, {"Euros": "500"}, by="alice")
        assert "less than 500" in str(slack.view("alice"))
        view = await slack.view_for("alice")
        await slack.submit(view, {"Euros": "120", "Note for the agent": "one month"}, by="alice")
        done = await said(asking)

    assert done == (0, "approved by slack:U0ALICE: 120 euros (one month)\n")
    other = await playground.telegram.message_where(lambda message: "120 €" in message.text)
    assert not is_live(other.buttons)


async def test_a_kind_of_question_of_ones_own_is_answered_in_telegram(
    playground: Playground, store_url: str
) -> None:
    telegram = playground.telegram
    async with agent(store_url) as asking:
        card = await telegram.message_where(lambda message: "Spend 500" in message.text)
        await telegram.press(card, "Grant 500 €", by="alice")
        done = await said(asking)

    assert done == (0, "approved by telegram:4242: 500 euros\n")


async def test_a_question_of_ones_own_is_submitted_here_and_resumed_there(
    playground: Playground, store_url: str
) -> None:
    telegram = playground.telegram
    async with agent(store_url, "submit") as submitting:
        code, question_id = await said(submitting)
    async with agent(store_url, "resume", question_id.strip()) as resuming:
        card = await telegram.message_where(lambda message: "Spend 500" in message.text)
        await telegram.press(card, "Refuse", by="alice")
        done = await said(resuming)

    assert code == 0
    assert done == (1, "denied by telegram:4242: 0 euros\n")
