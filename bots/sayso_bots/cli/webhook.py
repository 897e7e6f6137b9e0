"""``sayso webhook``: register the webhook at a platform, look at it, delete it."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping

from sayso.platforms.platform import Registered
from sayso.text.visible import on_one_line
from sayso_bots.cli.arguments import add_config, add_json
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.store import json_time
from sayso_bots.config.settings import read_registration


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    actions = parser.add_group("ACTION")
    register = parser.add_action(
        actions,
        "set",
        set_command,
        "register the webhook, its secret and the kinds of callback that it is for",
    )
    register.add_argument(
        "url", metavar="URL", help="where the platform reaches the bots, with the path it posts to"
    )
    show = parser.add_action(actions, "show", show_command, "show what is registered")
    text = "delete the webhook; callbacks that wait stay"
    delete = parser.add_action(actions, "delete", delete_command, text)
    for action in (register, show, delete):
        action.add_argument(
            "--platform", metavar="NAME", help="needed where several platforms register webhooks"
        )
        add_json(action)
        add_config(action)


def set_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Register the webhook with its secret and the callbacks that are needed."""
    registration, settings = read_registration(args.config, env, args.platform)
    registered = asyncio.run(registration.set(settings, args.url))
    _print(registered, as_json=args.json)
    _remark(registered)
    return 0


def show_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Show what the platform has registered; 1 when it is not what the settings need."""
    registration, settings = read_registration(args.config, env, args.platform)
    registered = asyncio.run(registration.show(settings))
    _print(registered, as_json=args.json)
    _remark(registered)
    return 0 if registered.is_as_needed else 1


def delete_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Delete the webhook; callbacks that wait stay."""
    registration, settings = read_registration(args.config, env, args.platform)
    _print(asyncio.run(registration.delete(settings)), as_json=args.json)
    return 0


def _remark(registered: Registered) -> None:
    if registered.remark:
        print(f"sayso: {on_one_line(registered.remark)}", file=sys.stderr)


def _print(registered: Registered, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_shown(registered)))
        return
    if not registered.url:
        print("no webhook is registered")
        return
    print(f"webhook:  {on_one_line(registered.url)}")
    print(f"kinds:    {on_one_line(', '.join(registered.kinds)) or 'the usual ones'}")
    print(f"waiting:  {registered.waiting}")
    if registered.last_error:
        at = registered.last_error_at
        when = f" at {at:%Y-%m-%d %H:%M:%S} UTC" if at else ""
        print(f"error:    {on_one_line(registered.last_error)}{when}")


def _shown(registered: Registered) -> Mapping[str, object]:
    at = registered.last_error_at
    return {
        "url": registered.url or None,
        "waiting": registered.waiting,
        "lastError": registered.last_error or None,
        "lastErrorAt": json_time(at),
        "kinds": list(registered.kinds),
    }
