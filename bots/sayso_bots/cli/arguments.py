"""Options that several commands take, and a call as the command line describes it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any, NoReturn

from sayso.calls import ToolCall
from sayso.errors import ConfigError
from sayso.text.agents import shown
from sayso.text.secrets import holds_secret
from sayso_bots.strict_json import refuse_duplicates


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


_SHORT = 60


def add_call(parser: argparse.ArgumentParser) -> None:
    """Add Add Add ``TOOL``, ``--arg`` and ``--arguments``: the call."""
    parser.add_argument("tool", metavar="TOOL", help="the tool's name")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the call; NAME:=JSON for a value that is not a string",
    )
    parser.add_argument(
        "--arguments", metavar="JSON", help="all arguments as one JSON object; - reads them"
    )


def call_of(args: argparse.Namespace) -> ToolCall:
    """Return the call; what is wrong with its arguments is a ``ConfigError``."""
    arguments = _object(args.arguments) if args.arguments is not None else {}
    in_object = frozenset(arguments)
    for written in args.arg:
        name, value = _argument(written)
        if name in arguments:
            where = "in --arguments and with --arg" if name in in_object else "twice with --arg"
            raise ConfigError(f"the argument {shown(name)} is given {where}; give it once")
        arguments[name] = value
    if not args.tool.strip():
        raise ConfigError("TOOL is empty; name the tool that is asked about")
    return ToolCall(args.tool, arguments)


def instead(args: argparse.Namespace, extra: str) -> str:
    """Return the fix for a word too many that may be an argument of the call, or nothing."""
    name, equals, value = extra.partition("=")
    if not equals and args.arg and "=" not in args.arg[-1]:
        name, value = args.arg[-1], extra
    elif not equals:
        return ""
    pair = f"{name}={value}"
    return f"--arg {shlex.quote(pair)}" if _is_fit_to_show(pair) else "--arg NAME=VALUE"


def _argument(written: str) -> tuple[str, Any]:
    name, equals, value = written.partition("=")
    if not equals or not name.rstrip(":"):
        raise ConfigError(f"--arg {written!r:.80}: write NAME=VALUE, or NAME:=JSON")
    if not name.endswith(":"):
        return name, value
    name = name[:-1]
    if value.startswith(tuple('[{"')):
        return name, _json(value, f"--arg {name}")
    try:
        return name, _parse(value)
    except ValueError:
        fits = _is_fit_to_show(value)
        what, text = (value or "nothing", value) if fits else ("the value", "…")
        fix = f"write {name}={text} for text, {name}:=… for JSON"
        raise ConfigError(f"--arg {name}: {what} is not JSON; {fix}") from None


def _object(written: str) -> dict[str, Any]:
    if written == "-":
        written = sys.stdin.read()
        if not written.strip():
            raise ConfigError("--arguments -: stdin was empty; write a JSON object to it")
    value = _json(written, "--arguments")
    if not isinstance(value, dict):
        raise ConfigError('--arguments: write a JSON object such as {"command": "ls"}')
    return value


def _is_fit_to_show(text: str) -> bool:
    return len(text) <= _SHORT and text.isprintable() and not holds_secret(text)


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=refuse_duplicates)


def _json(text: str, what: str) -> Any:
    try:
        return _parse(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{what} is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
