"""``sayso check``: look at everything that could be wrong before the first question."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

from sayso.clock import utc_now
from sayso.errors import ConfigError, StoreUnreachableError
from sayso.platforms.bot import Bot, Finding
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.text.visible import on_one_line
from sayso.toml_file import SettingsError
from sayso_bots.cli.arguments import add_config, add_json
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import START_BOTS
from sayso_bots.config.settings import Settings, read_settings
from sayso_bots.config.source import find_settings_file
from sayso_bots.hook.http_hook import http_hook_findings
from sayso_bots.process.terminal import colour_word, wants_colour
from sayso_bots.server.checks import (
    api_findings,
    approver_findings,
    kind_findings,
    look_at_accounts,
    look_at_groups,
    look_at_places,
    look_at_platform,
    look_at_store,
    look_into_store,
    policy_findings,
    unrouted_findings,
)


def add_arguments(parser: Parser) -> None:
    """Add the settings."""
    parser.description = f"{parser.description} Prints a line for each; exit code 1 if one fails."
    add_config(parser)
    add_json(parser, "one JSON object a line")
    # Its first finding says them.
    parser.set_defaults(run=check_command, says_settings=False)


def check_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Print a line for each thing that was looked at; 1 if one failed."""
    colour = wants_colour(sys.stdout, env)
    hook_failed = _check_hooks(env, colour=colour, as_json=args.json)
    try:
        settings = read_settings(args.config, env)
    except SettingsError as error:
        file = Path(find_settings_file(args.config, env)).absolute()
        _print(Finding("info", "settings", f"in {file}"), colour=colour, as_json=args.json)
        for text in error.problems:
            _print(Finding("failed", "settings", text), colour=colour, as_json=args.json)
        return 1
    failed = asyncio.run(_check(settings, colour=colour, as_json=args.json))
    return 1 if failed or hook_failed else 0


def _check_hooks(env: Mapping[str, str], *, colour: bool, as_json: bool) -> bool:
    """Look at the hooks of this user, who may be no operator; return True if one failed."""
    findings = list(http_hook_findings(env, Path.cwd()))
    for finding in findings:
        _print(finding, colour=colour, as_json=as_json)
    return any(finding.level == "failed" for finding in findings)


async def _check(settings: Settings, *, colour: bool, as_json: bool) -> bool:
    failed = False
    # Closed also where nobody reads the lines any more, as with `| head`.
    async with aclosing(_findings(settings)) as findings:
        async for finding in findings:
            failed = failed or finding.level == "failed"
            _print(finding, colour=colour, as_json=as_json)
    return failed


async def _findings(settings: Settings) -> AsyncGenerator[Finding, None]:
    yield Finding("ok", "settings", f"read from {settings.source}")
    for finding in policy_findings(settings.policies):
        yield finding
    for finding in kind_findings(settings.questions.types):
        yield finding
    try:
        async with open_store(settings.store.url) as backend:
            found = await look_at_store(backend, settings.store)
            yield found
            if found.level == "ok":
                for finding in await look_into_store(backend):
                    yield finding
                yield await _look_at_bots(backend)
    except ConfigError as error:
        yield Finding("failed", "store", f"{settings.store.name}: {error}")
    async with AsyncExitStack() as stack:
        there: dict[str, Bot] = {}
        for name, configured in settings.platforms.items():
            # Nothing is asked here, so nothing is drafted.
            bot = await stack.enter_async_context(configured.open(MemoryKeyValue(utc_now)))
            finding = await look_at_platform(configured, bot)
            yield finding
            if finding.level != "failed":
                there[name] = bot
        for bot in there.values():
            for finding in await bot.look():
                yield finding
        for finding in (await look_at_places(there, settings.routes)).values():
            yield finding
        for finding in unrouted_findings(settings):
            yield finding
        for finding in approver_findings(settings):
            yield finding
        for finding in await look_at_accounts(there, settings.routes):
            yield finding
        for finding in await look_at_groups(there, settings.routes):
            yield finding
    for finding in api_findings(settings):
        yield finding


async def _look_at_bots(backend: Backend) -> Finding:
    """Look for bots on the store; before the first start there is no failure in none."""
    try:
        if await backend.outbox.count_workers():
            return Finding("ok", "bots", "bots are running on this store")
    except StoreUnreachableError as error:
        return Finding("failed", "bots", str(error), passing=True)
    return Finding("info", "bots", START_BOTS)


def _print(finding: Finding, *, colour: bool, as_json: bool) -> None:
    if as_json:
        shown = {"level": finding.level, "subject": finding.subject, "text": finding.text}
        print(json.dumps(shown), flush=True)
        return
    word = colour_word(finding.level, colour=colour)
    subject, text = on_one_line(finding.subject), on_one_line(finding.text)
    print(f"{word}{' ' * (8 - len(finding.level))} {subject:10} {text}", flush=True)
