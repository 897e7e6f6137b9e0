"""``sayso demo``: everything on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from sayso_bots.cli.parser import Parser


def add_arguments(parser: Parser) -> None:
    """Add the page's port, and who plays."""
    parser.description = (
        f"{parser.description} An agent asks, and you press the buttons on a page that plays "
        "two chat platforms."
    )
    parser.add_argument("--port", type=_port, default=0, help="of the page (default: a free one)")
    playing = parser.add_mutually_exclusive_group()
    playing.add_argument(
        "--headless", action="store_true", help="play it without a person, and check the outcomes"
    )
    playing.add_argument(
        "--store",
        metavar="URL",
        help="show what agents of your own ask on this store, in place of the demo's agent",
    )
    parser.set_defaults(run=demo_command)


def demo_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Play until Ctrl-C, or headless to the end."""
    # Not for --help: it loads the bots, both platforms and their doubles.
    from sayso_bots.demo import run_demo

    return run_demo(args)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)
