"""The command itself: for a person at the page, or headless."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Mapping

from sayso_bots.demo.agent import work_for_ever
from sayso_bots.demo.headless import play
from sayso_bots.demo.stage import Stage, stage
from sayso_bots.process.signals import StoppedError, run_stoppable

_INVITATION = """
    {url}

Open this page: Slack and Telegram side by side, and you may be anybody there.
An agent called deploy-bot works, and asks before it uses a tool; then it asks in
words, for a text, for data, and for three calls on one card. Alice may answer in
either chat, Bob in Slack, Mallory nowhere. Ctrl-C ends the demo.
"""


def play_demo(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001  as every command
    """Play until Ctrl-C, or headless to the end: 0 when all went as it should."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    try:
        return run_stoppable(_headless(args.port) if args.headless else _with_a_person(args.port))
    except (KeyboardInterrupt, StoppedError):
        _say("\nThe demo has ended.")
        return 0


async def _with_a_person(port: int) -> int:
    async with stage(port) as scene:
        _say(_INVITATION.format(url=scene.playground.url))
        await _until_broken(scene)
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
