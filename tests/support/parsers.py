"""The parsers of all commands, as tests look at them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from sayso_bots.cli.parser import sayso_parser


def load_parsers() -> Mapping[str, argparse.ArgumentParser]:
    """Load the parser of each command, and of each action such as ``webhook set``."""
    return dict(_below(sayso_parser()))


def actions_below(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the commands right below this one; none where it is run itself."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {**action.choices}
    return {}


def _below(
    parser: argparse.ArgumentParser, prefix: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name, child in actions_below(parser).items():
        if (load := getattr(child, "load", None)) is not None:
            load()
        yield f"{prefix}{name}", child
        yield from _below(child, f"{prefix}{name} ")
