"""Options that several commands take."""

from __future__ import annotations

import argparse


def add_config(parser: argparse.ArgumentParser) -> None:
    """``--config``: where the settings are."""
    parser.add_argument(
        "--config", metavar="FILE", help="settings (default: $SAYSO_CONFIG, else ./sayso.toml)"
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--config`` and ``--store``: where the store is."""
    add_config(parser)
    _add_address(parser)


def add_named_store(parser: argparse.ArgumentParser) -> None:
    """The same for a command that works in an agent's folder, where no settings are looked for."""
    parser.add_argument(
        "--config", metavar="FILE", help="settings, by their whole path (default: $SAYSO_CONFIG)"
    )
    _add_address(parser)


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store", metavar="URL", help="the store (default: $SAYSO_STORE_URL, else settings)"
    )


def add_json(parser: argparse.ArgumentParser, text: str = "JSON instead of text") -> None:
    """``--json``: for programs to read."""
    parser.add_argument("--json", action="store_true", help=text)
