"""``sayso demo``: an agent, the bots and both platforms in one process, without any account.

The agent, its questions and the stage they play on belong here. How the platforms behave is the
playground's business; nothing that runs in earnest imports this.
"""

from __future__ import annotations

import argparse
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


def run_demo(args: argparse.Namespace) -> int:
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

    return play_demo(args)
