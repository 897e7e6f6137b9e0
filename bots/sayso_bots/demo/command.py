"""The command itself: for a person at the page, or headless."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

from sayso_bots.config.store_settings import StoreSettings
from sayso_bots.demo.agent import work_for_ever
from sayso_bots.demo.headless import play
from sayso_bots.demo.stage import Stage, stage, store_of_argument
from sayso_bots.process.signals import StoppedError, run_stoppable

_INVITATION = """
    {url}

Open this page: Slack and Telegram side by side, and you may be anybody there.
An agent called deploy-bot works, and asks before it uses a tool; then it asks in
words, for a text, for data, and for three calls on one card. Alice may answer in
either chat, Bob in Slack, Mallory nowhere. Ctrl-C ends the demo. An agent of your
own is asked about here with: sayso demo --store redis://127.0.0.1:6379/0
"""

_INVITATION_TO_AGENTS = """
    {url}

Open this page: Slack and Telegram side by side, and you may be anybody there.
Questions of agents on {store} are shown there: start yours.
Alice may answer in either chat, Bob in Slack, Mallory nowhere. Ctrl-C ends the demo.
"""


def play_demo(args: argparse.Namespace) -> int:
    """Play until Ctrl-C, or headless to the end: 0 when all went as it should."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    try:
        if args.store:
            return run_stoppable(_with_other_agents(args.port, store_of_argument(args.store)))
        return run_stoppable(_headless(args.port) if args.headless else _with_a_person(args.port))
    except (KeyboardInterrupt, StoppedError):
        _say("\nThe demo has ended.")
        return 0


async def _with_a_person(port: int) -> int:
    async with stage(port) as scene:
        _say(_INVITATION.format(url=scene.playground.url))
        await _until_broken(scene)
    return 0


async def _with_other_agents(port: int, store: StoreSettings) -> int:
    async with stage(port, store=store) as scene:
        _say(_INVITATION_TO_AGENTS.format(url=scene.playground.url, store=store.shown))
        await scene.bots.broken
    return 0


async def _until_broken(scene: Stage) -> None:
    working = asyncio.create_task(work_for_ever(scene.gate, _say))
    ends: set[asyncio.Future[None]] = {working, scene.bots.broken}
    try:
        done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    for ended in done:
        ended.result()


async def _headless(port: int) -> int:
    async with stage(port) as scene:
        _say(f"The page would be at {scene.playground.url}; this plays by itself.")
        wrong = await play(scene, _say)
    _say("All outcomes are as they should be." if not wrong else f"{wrong} outcomes are wrong.")
    return 1 if wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
