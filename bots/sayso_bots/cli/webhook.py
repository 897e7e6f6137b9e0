"""``sayso webhook``: register Telegram's webhook, look at it, delete it."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

from sayso_bots.cli.arguments import add_config, add_json
from sayso_bots.cli.parser import Parser
from sayso_bots.server.platforms import telegram_config
from sayso_bots.settings.settings import read_telegram
from sayso_telegram import (
    TelegramConfig,
    WebhookState,
    delete_webhook,
    set_webhook,
    show_webhook,
)


def add_arguments(parser: Parser) -> None:
    """What to do with the webhook."""
    actions = parser.add_group("ACTION")
    register = parser.add_action(
        actions, "set", set_command, "register the webhook, its secret and the wanted updates"
    )
    register.add_argument(
        "url", metavar="URL", help="such as https://sayso.example.com/telegram/webhook"
    )
    show = parser.add_action(actions, "show", show_command, "show what is registered")
    text = "delete the webhook; waiting updates stay"
    delete = parser.add_action(actions, "delete", delete_command, text)
    for action in (register, show, delete):
        add_json(action)
        add_config(action)


def set_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Register the webhook with its secret and the updates that are needed."""
    state = asyncio.run(set_webhook(_config(args, env), args.url))
    return _print(state, as_json=args.json)


def show_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Show what Telegram has registered; 1 when it is nothing."""
    state = asyncio.run(show_webhook(_config(args, env)))
    return _print(state, as_json=args.json) or (0 if state.url else 1)


def delete_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Delete the webhook; updates that wait stay."""
    state = asyncio.run(delete_webhook(_config(args, env)))
    return _print(state, as_json=args.json)


def _config(args: argparse.Namespace, env: Mapping[str, str]) -> TelegramConfig:
    # Only registering needs the secret, and checks for it itself.
    return telegram_config(replace(read_telegram(args.config, env), mode="polling"))


def _print(state: WebhookState, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(_shown(state)))
        return 0
    if not state.url:
        print("no webhook is registered")
        return 0
    print(f"webhook:  {state.url}")
    print(f"updates:  {', '.join(state.allowed_updates) or 'the default ones'}")
    print(f"waiting:  {state.pending_update_count}")
    if state.last_error_message:
        at = f" at {state.last_error_at:%Y-%m-%d %H:%M:%S} UTC" if state.last_error_at else ""
        print(f"error:    {state.last_error_message}{at}")
    return 0


def _shown(state: WebhookState) -> Mapping[str, object]:
    return {
        "url": state.url,
        "pendingUpdateCount": state.pending_update_count,
        "lastErrorMessage": state.last_error_message,
        "lastErrorAt": state.last_error_at.isoformat() if state.last_error_at else None,
        "allowedUpdates": list(state.allowed_updates),
    }
