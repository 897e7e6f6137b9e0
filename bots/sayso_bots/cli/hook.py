"""``sayso hook``: an agent's own hook asks here; `install` writes it into the agent's settings."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import math
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sayso.agent.timeouts import DEFAULT_PATIENCE_SECONDS
from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso.text.secrets import has_login
from sayso_bots.cli.arguments import add_asking_store, add_json
from sayso_bots.cli.call import UsageError
from sayso_bots.cli.named import (
    named_settings,
    options_of,
    seconds_of,
    with_login,
    written_address,
    written_config,
)
from sayso_bots.cli.parser import Parser, sayso_parser
from sayso_bots.cli.store import unattended
from sayso_bots.config.ask_settings import AskSettings
from sayso_bots.config.source import STORE_VARIABLE
from sayso_bots.config.store_settings import StoreSettings
from sayso_bots.hook.agents import AGENTS, CLAUDE_CODE, CODEX, Answered, HookAgent
from sayso_bots.hook.asking import Asker, answered, failed
from sayso_bots.hook.events import HookEvent, Ran, read_event
from sayso_bots.hook.limits import (
    DEFAULT_SECONDS,
    NO_HELPER,
    SIGNALS,
    SPARE_SECONDS,
    TELLING_SECONDS,
)
from sayso_bots.hook.settings_file import (
    SCOPES,
    Hook,
    add_hooks,
    remove_hook,
    settings_file,
    this_command,
)
from sayso_bots.hook.telling import tell
from sayso_bots.hook.unseen import Say
from sayso_bots.hook.words import HOOK_WORDS
from sayso_bots.process.reader import ReaderGoneError, is_gone
from sayso_bots.process.signals import run_stoppable
from sayso_bots.resident.place import is_off

# How often a wait looks whether anybody still wants the answer.
_LOOK_SECONDS = 0.5
_MORE = """

The answer is on stdout, as {title} wants it. Whatever goes wrong is a denial, or exit code 2,
which stops the call as well. Settings in the folder it works in are not read: name them
with --config or $SAYSO_CONFIG, by their whole path.
"""


def add_arguments(parser: Parser) -> None:
    """Which agent's hook, or into which settings to write it."""
    actions = parser.add_group("ACTION")
    for agent in AGENTS.values():
        text = f"answer one event of a hook of {agent.title}"
        event = parser.add_action(actions, agent.key, by_hand, text)
        event.description = f"{event.description}{_MORE.format(title=agent.title)}"
        event.help_code = 2
        event.set_defaults(hooks=agent.key)
        _add_asking(event)
        add_asking_store(event)
    text = "write the hook into an agent's settings, or take it out again"
    install = parser.add_action(actions, "install", install_command, text)
    install.add_argument(
        "for_agent", choices=tuple(AGENTS), metavar="AGENT", help=" or ".join(AGENTS)
    )
    install.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        metavar="SCOPE",
        help="user (in your home), project (in this folder) or local (.claude/settings.local.json)",
    )
    install.add_argument(
        "--event",
        choices=CLAUDE_CODE.events,
        default=CLAUDE_CODE.events[0],
        metavar="EVENT",
        help="PreToolUse for every call, PermissionRequest where the agent would ask itself",
    )
    install.add_argument(
        "--matcher", default="*", metavar="TOOLS", help="the tools, such as 'Bash|Edit' (all)"
    )
    install.add_argument("--undo", action="store_true", help="take out what was written")
    add_json(install)
    _add_asking(install)
    add_asking_store(install)


def _add_asking(parser: Parser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: its own name)")
    parser.add_argument(
        "--timeout", metavar="10m", help="how long to wait at most (default: 9m, or 10m installed)"
    )
    parser.add_argument(
        "--patience", metavar="10s", help="how long a store that is away is waited for (10s)"
    )
    parser.add_argument(
        NO_HELPER, action="store_true", help="let no helper answer, as SAYSO_HELPER=off does"
    )


def by_hand(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Say who starts this: a terminal is at its input."""
    agent = AGENTS[args.hooks]
    print(HOOK_WORDS.started_by_hand.format(agent=agent.title, key=agent.key), file=sys.stderr)
    return 2


def answered_here(
    words: Sequence[str],
    env: Mapping[str, str],
    text: str,
    *,
    ends_at: float,
    reader: int,
    say: Say,
) -> Answered:
    """The answer to an event, by this process; ``reader`` is the file it will be written to.

    ``say`` is told what somebody should know before the answer.

    Raises:
        StoppedError: a signal came; the question is withdrawn.
        ReaderGoneError: nobody reads the answer; the question is withdrawn.
    """
    event = read_event(text, AGENTS[words[1]])
    try:
        settings, asker = hook_setup(words, env)
    except ConfigError as error:
        return Answered(failed(event.name, str(error)))
    asker = replace(asker, seconds=max(min(asker.seconds, ends_at - time.monotonic()), 0.01))
    # What the gate logs while it tries again ends in a denial that says it better.
    logging.getLogger("sayso").setLevel(logging.ERROR)
    return run_stoppable(_answered(event, settings, asker, reader, say), SIGNALS)


async def _answered(
    event: HookEvent, settings: AskSettings, asker: Asker, reader: int, say: Say
) -> Answered:
    async with open_store(settings.store.url) as backend:
        work = asyncio.create_task(answered(event, settings, asker, backend, say))
        try:
            while not work.done():
                if is_gone(reader):
                    raise ReaderGoneError
                await asyncio.wait({work}, timeout=_LOOK_SECONDS)
        finally:
            work.cancel()
            await asyncio.wait({work})
        return work.result()


def told_here(words: Sequence[str], env: Mapping[str, str], ran: Ran) -> None:
    """Tell the store how a call went, by this process; whatever is in the way, nobody hears of it.

    Raises:
        SaysoError: it could not be told.
    """
    settings, asker = hook_setup(words, env)
    logging.getLogger("sayso").setLevel(logging.CRITICAL)
    asyncio.run(_told(ran, settings, asker))


async def _told(ran: Ran, settings: AskSettings, asker: Asker) -> None:
    async with open_store(settings.store.url) as backend:
        await tell(ran, asker.agent, backend)


def hook_setup(words: Sequence[str], env: Mapping[str, str]) -> tuple[AskSettings, Asker]:
    """What the command line of a hook says, with the settings.

    Raises:
        ConfigError: one of them is wrong.
    """
    args = sayso_parser().parse_args(words)
    settings = named_settings(args.config, with_login(args.store, env), env)
    seconds = seconds_of(args.timeout, "--timeout") or DEFAULT_SECONDS
    patience = seconds_of(args.patience, "--patience") or DEFAULT_PATIENCE_SECONDS
    agent = args.agent or env.get("SAYSO_AGENT") or words[1]
    return settings, Asker(agent, seconds, patience)


def install_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Write the hook into the settings, or take it out."""
    agent = AGENTS[args.for_agent]
    if args.event not in agent.events:
        raise UsageError(f"{args.event} is not tried with {agent.title}: leave --event out")
    at = settings_file(agent, args.scope, env, Path.cwd())
    if args.undo:
        changed = remove_hook(at)
        _tell(args, at, f"taken out of {at}" if changed else f"{at} has no hook of Sayso", changed)
        return 0
    words, store, asker = _installed(args, env)
    why = unattended(store)
    command = " ".join(map(shlex.quote, (*this_command(), "hook", agent.key, *words)))
    # A command that is missing or killed would let the tool run, and so would any code but 2.
    limit = math.ceil(asker.seconds) + SPARE_SECONDS
    hook = Hook(args.event, args.matcher, f"{command} {agent.otherwise}", limit)
    changed = add_hooks(at, [hook, *_afterwards(args, agent, command)])
    said = f"written into {at}" if changed else f"{at} has it already"
    _tell(args, at, said, changed, command=hook.command, seconds=hook.seconds)
    if has_login(store.url):
        print(_NEEDS_LOGIN.format(title=agent.title), file=sys.stderr)
    elif store.is_default:
        print(_NO_STORE.format(store=store.url), file=sys.stderr)
    if why:
        print(f"sayso: {why}", file=sys.stderr)
    if agent is CODEX:
        print(_NEEDS_TRUST, file=sys.stderr)
    return 0


def _afterwards(args: argparse.Namespace, agent: HookAgent, command: str) -> Iterator[Hook]:
    """The hooks by which a card says how its call went: nothing that they do stops anything.

    Where the agent asks by itself, it does not say which call it asked about.
    """
    if args.event == CLAUDE_CODE.events[0]:
        for event in agent.outcomes:
            yield Hook(event, args.matcher, f"{command} || true", TELLING_SECONDS)


def _tell(args: argparse.Namespace, at: Path, said: str, changed: bool, **more: object) -> None:
    facts = {"file": str(at), "changed": changed, "command": None, "seconds": None, **more}
    print(json.dumps(facts) if args.json else said)


_NEEDS_LOGIN = (
    f"sayso: the password of the store is not written down: {STORE_VARIABLE} must be set, as it is "
    "now, where {title} is started"
)
_NO_STORE = f"sayso: no store was named, so it is {{store}}: set {STORE_VARIABLE} for another one"
_NEEDS_TRUST = "sayso: Codex runs no hook that you have not trusted: start it, and say /hooks"


def _installed(
    args: argparse.Namespace, env: Mapping[str, str]
) -> tuple[list[str], StoreSettings, Asker]:
    """The options that are written: what may be asked by them, as whom, and where.

    All that decides is written, since the agent hands on what a project puts into the
    environment. A password is not: it is taken from there for this very store alone.
    """
    if args.store and has_login(args.store):
        raise UsageError("--store holds a password, which would stand in a file; leave it out")
    given = {
        "--config": written_config(args.config, env),
        "--timeout": args.timeout or "10m",
        "--patience": args.patience,
        "--store": args.store,
        "--agent": args.agent,
    }
    settings, asker = hook_setup(("hook", args.for_agent, *options_of(given)), env)
    address = written_address(settings.store)
    words = options_of({**given, "--store": address, "--agent": asker.agent})
    if args.no_helper or is_off(env):
        words.append(NO_HELPER)
    return words, settings.store, asker
