"""``sayso hook install``: writes a hook into the settings of an agent, or takes it out again."""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from sayso.errors import ConfigError
from sayso.text.secrets import has_login
from sayso_bots.asking.service import Requester
from sayso_bots.cli.hook_event import hook_setup
from sayso_bots.cli.named import (
    LOOPBACK,
    options_of,
    parse_address,
    say_login,
    seconds_of,
    written_address,
    written_config,
)
from sayso_bots.cli.store import explain_unattended
from sayso_bots.config.source import STORE_VARIABLE
from sayso_bots.config.store_settings import StoreSettings
from sayso_bots.hook.agents import (
    AGENTS,
    CLAUDE_CODE,
    CODEX,
    DEFAULT_SECONDS,
    SPARE_SECONDS,
    TELLING_SECONDS,
    HookAgent,
)
from sayso_bots.hook.http_hook import DECIDE_PATH, REPORT_PATH, explain_version, read_version
from sayso_bots.hook.settings_file import (
    TOKEN_VARIABLE,
    Hook,
    HttpHook,
    add_hooks,
    remove_hook,
    settings_file,
    this_command,
)


def install(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Write the hook into the settings, or take it out."""
    agent = AGENTS[args.for_agent]
    if args.event not in agent.events:
        raise ConfigError(f"{args.event} is not tried with {agent.title}: leave --event out")
    at = settings_file(agent, args.scope, env, Path.cwd())
    if args.undo:
        changed = remove_hook(at)
        _tell(args, at, f"taken out of {at}" if changed else f"{at} has no hook of Sayso", changed)
        return 0
    if args.http and _takes_http(agent, args.scope, env):
        return _install_http(args, at, env)
    words, store, asker = _read_options(args, env)
    why = explain_unattended(store)
    command = " ".join(map(shlex.quote, (*this_command(), "hook", agent.key, *words)))
    # A command that is missing or killed would let the tool run, and so would any code but 2.
    limit = math.ceil(asker.max_seconds) + SPARE_SECONDS
    hook = Hook(args.event, args.matcher, f"{command} {agent.otherwise}", limit)
    changed = add_hooks(at, [hook, *_afterwards(args, agent, command)])
    said = f"written into {at}" if changed else f"{at} has it already"
    _tell(args, at, said, changed, command=hook.command, seconds=hook.seconds)
    say_login(store, agent.title)
    if store.is_default:
        print(_NO_STORE.format(store=store.url), file=sys.stderr)
    if why:
        print(f"sayso: {why}", file=sys.stderr)
    if agent is CODEX:
        print(_NEEDS_TRUST, file=sys.stderr)
    return 0


def _takes_http(agent: HookAgent, scope: str, env: Mapping[str, str]) -> bool:
    """Return True if the agent stops a call when its HTTP hook fails; say so where it does not.

    Raises:
        ConfigError: it has no such hook, or others would share it whose agent may be older.
    """
    if agent is not CLAUDE_CODE:
        raise ConfigError(f"{agent.title} has no HTTP hook: leave --http out")
    if scope == "project":
        raise ConfigError(
            "--http with --scope project: the Claude Code of a colleague may be older, and would "
            "run every call; take --scope user, or leave --http out"
        )
    why = explain_version(read_version(env))
    if why:
        print(f"sayso: {why}: the command hook is written instead", file=sys.stderr)
    return not why


def _install_http(args: argparse.Namespace, at: Path, env: Mapping[str, str]) -> int:
    named = {"--config": args.config, "--store": args.store, "--agent": args.agent}
    if given := [name for name, value in {**named, "--patience": args.patience}.items() if value]:
        raise ConfigError(f"{given[0]} is for `sayso hook serve`, which answers the HTTP hook")
    host, port = parse_address(args.listen)
    if host not in LOOPBACK or not port:
        raise ConfigError(f"--listen {args.listen!r:.40}: write the port of `sayso hook serve`")
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    limit = math.ceil(seconds_of(args.timeout, "--timeout") or DEFAULT_SECONDS) + SPARE_SECONDS
    hooks = [HttpHook(args.event, args.matcher, f"{base}{DECIDE_PATH}", limit)]
    if args.event == CLAUDE_CODE.events[0]:
        for event in CLAUDE_CODE.outcomes:
            url, seconds = f"{base}{REPORT_PATH}", TELLING_SECONDS
            hooks.append(HttpHook(event, args.matcher, url, seconds, blocks=False))
    changed = add_hooks(at, hooks)
    said = f"written into {at}" if changed else f"{at} has it already"
    _tell(args, at, said, changed, url=hooks[0].url, seconds=limit)
    if not env.get(TOKEN_VARIABLE):
        print(_NEEDS_TOKEN, file=sys.stderr)
    return 0


def _afterwards(args: argparse.Namespace, agent: HookAgent, command: str) -> Iterator[Hook]:
    """The hooks by which a card says how its call went: nothing that they do stops anything.

    Where the agent asks by itself, it does not say which call it asked about.
    """
    if args.event == CLAUDE_CODE.events[0]:
        for event in agent.outcomes:
            yield Hook(event, args.matcher, f"{command} || true", TELLING_SECONDS)


def _tell(args: argparse.Namespace, at: Path, said: str, changed: bool, **more: object) -> None:
    facts = {"file": str(at), "changed": changed, "seconds": None, **more}
    print(json.dumps(facts) if args.json else said)


_NO_STORE = f"sayso: no store was named, so it is {{store}}: set {STORE_VARIABLE} for another one"
_NEEDS_TOKEN = (
    f"sayso: set {TOKEN_VARIABLE}, such as by `openssl rand -hex 32`, where Claude Code and "
    "`sayso hook serve` are started: without it no call runs"
)
_NEEDS_TRUST = "sayso: Codex runs no hook that you have not trusted: start it, and say /hooks"


def _read_options(
    args: argparse.Namespace, env: Mapping[str, str]
) -> tuple[list[str], StoreSettings, Requester]:
    """The options that are written: what may be asked by them, as whom, and where.

    All that decides is written, since the agent hands on what a project puts into the
    environment. A password is not: it is taken from there for this very store alone.
    """
    if args.store and has_login(args.store):
        raise ConfigError("--store holds a password, which would stand in a file; leave it out")
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
    return words, settings.store, asker
