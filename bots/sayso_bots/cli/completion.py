"""``sayso completion``: a script that completes commands and options, made from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import dropwhile

from sayso.errors import ConfigError
from sayso_bots.cli.parser import Parser, load_all, sayso_parser

SHELLS = {
    "bash": 'eval "$(sayso completion bash)"         # in ~/.bashrc',
    "zsh": 'eval "$(sayso completion zsh)"          # in ~/.zshrc, after compinit',
    "fish": "sayso completion fish | source           # in ~/.config/fish/config.fish",
}


def add_arguments(parser: Parser) -> None:
    """For which shell."""
    lines = "\n".join(f"  {line}" for line in SHELLS.values())
    parser.description = f"{parser.description} Put one of these lines where it says:\n\n{lines}\n"
    parser.add_argument("shell", choices=tuple(SHELLS), metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(run=completion_command)


def completion_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Print the script."""
    try:
        import shtab
    except ModuleNotFoundError:
        raise ConfigError(
            "completion needs shtab: install Sayso with its extra `completion`, "
            "from where you got it"
        ) from None
    parser = load_all(sayso_parser())
    for option in parser.options():
        if option.metavar == "FILE":
            option.complete = shtab.FILE  # type: ignore[attr-defined]  # as shtab wants it
    print(_without_advice(shtab.complete(parser, args.shell)))
    return 0


def _without_advice(script: str) -> str:
    """The script without the comments at its head, which advise another way to install it."""
    lines = script.splitlines()
    kept = dropwhile(lambda line: not line.strip() or _is_comment(line), lines)
    # zsh knows a completion by its first line.
    return "\n".join((*(line for line in lines[:1] if line.startswith("#compdef")), *kept))


def _is_comment(line: str) -> bool:
    return line.startswith("#")
