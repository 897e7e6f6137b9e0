"""The way in: the playground is a distribution of its own, which production does not install."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib.util import find_spec

from sayso.errors import ConfigError


def run_demo(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Play the demo, if the playground is there to play on.

    Raises:
        ConfigError: the playground is not installed.
    """
    if find_spec("sayso_playground") is None:
        raise ConfigError(
            "the demo needs sayso-playground, which is not installed: in Sayso's source tree "
            "`pip install ./playground`, elsewhere install Sayso with its extra `demo`"
        )
    from sayso_bots.demo.command import play_demo

    return play_demo(args, env)
