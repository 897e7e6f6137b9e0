"""One event of a hook, answered or reported by this process. It loads slowly."""

from __future__ import annotations

import argparse
import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS
from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso_bots.asking.service import AskService, Requester, Warn
from sayso_bots.cli.named import named_settings, seconds_of, with_login
from sayso_bots.cli.parser import sayso_parser
from sayso_bots.config.store_settings import AskSettings
from sayso_bots.hook.agents import AGENTS, DEFAULT_SECONDS, SIGNALS, Answered
from sayso_bots.hook.asking import answer_event, failed, report_run
from sayso_bots.hook.events import HookEvent, Ran, read_event
from sayso_bots.process.signals import is_gone, run_stoppable

# How often a wait looks whether anybody still wants the answer.
_LOOK_SECONDS = 0.5


def answered_here(
    words: Sequence[str],
    env: Mapping[str, str],
    text: str,
    *,
    ends_at: float,
    reader: int,
    warn: Warn,
) -> Answered:
    """The answer to an event, by this process; ``reader`` is the file it will be written to.

    ``warn`` is told what somebody should know before the answer.

    Raises:
        StoppedError: a signal came; the question is withdrawn.
        BrokenPipeError: nobody reads the answer; the question is withdrawn.
    """
    event = read_event(text, AGENTS[words[1]])
    try:
        settings, asker = hook_setup(words, env)
    except ConfigError as error:
        return Answered(failed(event.name, str(error)))
    left = max(min(asker.max_seconds, ends_at - time.monotonic()), 0.01)
    asker = replace(asker, max_seconds=left)
    # What the gate logs while it tries again ends in a denial that says it better.
    logging.getLogger("sayso").setLevel(logging.ERROR)
    return run_stoppable(_answered(event, settings, asker, reader, warn), SIGNALS)


async def _answered(
    event: HookEvent, settings: AskSettings, asker: Requester, reader: int, warn: Warn
) -> Answered:
    async with open_store(settings.store.url) as backend:
        service = AskService(backend, settings, asker, "hook")
        work = asyncio.create_task(answer_event(event, service, warn))
        try:
            while not work.done():
                if is_gone(reader):
                    raise BrokenPipeError
                await asyncio.wait({work}, timeout=_LOOK_SECONDS)
        finally:
            work.cancel()
            await asyncio.wait({work})
        return work.result()


def told_here(words: Sequence[str], env: Mapping[str, str], ran: Ran, key: str) -> None:
    """Tell the store how a call went, by this process; whatever is in the way, nobody hears of it.

    Raises:
        SaysoError: it could not be told.
    """
    settings, asker = hook_setup(words, env)
    logging.getLogger("sayso").setLevel(logging.CRITICAL)
    asyncio.run(_told(ran, key, settings, asker))


async def _told(ran: Ran, key: str, settings: AskSettings, asker: Requester) -> None:
    async with open_store(settings.store.url) as backend:
        await report_run(ran, asker.agent, key, backend)


def hook_setup(words: Sequence[str], env: Mapping[str, str]) -> tuple[AskSettings, Requester]:
    """What the command line of a hook says, with the settings.

    Raises:
        ConfigError: one of them is wrong.
    """
    return setup_of(sayso_parser().parse_args(words), env, words[1])


def setup_of(
    args: argparse.Namespace, env: Mapping[str, str], name: str
) -> tuple[AskSettings, Requester]:
    """What the arguments say, with the settings; the agent is called ``name`` unless told.

    Raises:
        ConfigError: one of them is wrong.
    """
    settings = named_settings(args.config, with_login(args.store, env), env)
    seconds = seconds_of(args.timeout, "--timeout") or DEFAULT_SECONDS
    patience = seconds_of(args.patience, "--patience") or DEFAULT_PATIENCE_SECONDS
    return settings, Requester(args.agent or env.get("SAYSO_AGENT") or name, seconds, patience)
