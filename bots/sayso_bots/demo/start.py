"""The way in: the playground is a distribution of its own, which production does not install."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib.util import find_spec

from sayso.errors import ConfigError

# Module by module, the packages of the playground and of the platforms that it plays.
_NEEDED = {
    "sayso_playground": "sayso-playground",
    "aiohttp": "aiohttp",
    "slack_bolt": "slack-bolt",
    "telegram": "python-telegram-bot",
    "jsonschema_rs": "jsonschema-rs",
}


def run_demo(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Play the demo, if all that it plays with is there.

    Raises:
        ConfigError: some of it is not installed.
    """
    if absent := [name for module, name in _NEEDED.items() if find_spec(module) is None]:
        raise ConfigError(
            f"the demo needs what is not installed here ({', '.join(absent)}): in Sayso's source "
            "tree `pip install '.[bots]' ./playground`, elsewhere install Sayso with its "
            "extra `demo`"
        )
    from sayso_bots.demo.command import play_demo

    return play_demo(args, env)
