"""Options that several commands take."""

from __future__ import annotations

import argparse


def add_config(parser: argparse.ArgumentParser) -> None:
    """``--config`` of an operator's command, which says which settings it reads."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="settings (default: $SAYSO_CONFIG, ./sayso.toml or ~/.config/sayso/sayso.toml)",
    )
    parser.set_defaults(says_settings=True)


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--config`` and ``--store``: where the store is."""
    add_config(parser)
    _add_address(parser)


def add_asking_store(parser: argparse.ArgumentParser) -> None:
    """The same for a command that asks for an agent: no settings are looked for in its folder."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="settings (default: $SAYSO_CONFIG or ~/.config/sayso/sayso.toml)",
    )
    _add_address(parser)


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store", metavar="URL", help="the store (default: $SAYSO_STORE_URL, else settings)"
    )


def add_json(parser: argparse.ArgumentParser, text: str = "JSON instead of text") -> None:
    """``--json``: for programs to read."""
    parser.add_argument("--json", action="store_true", help=text)
