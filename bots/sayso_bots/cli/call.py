"""The call that ``sayso ask`` asks about, as the command line describes it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, NoReturn

from sayso.calls import ToolCall
from sayso.errors import ConfigError


class UsageError(ConfigError):
    """The command line does not say what was meant."""


def call_of(args: argparse.Namespace) -> ToolCall:
    """The call; what is wrong with its arguments is a ``UsageError``."""
    arguments = _object(args.arguments) if args.arguments is not None else {}
    for written in args.arg:
        name, value = _argument(written)
        arguments[name] = value
    if not args.tool.strip():
        raise UsageError("TOOL is empty; name the tool that is asked about")
    return ToolCall(args.tool, arguments)


def _argument(written: str) -> tuple[str, Any]:
    name, equals, value = written.partition("=")
    if not equals or not name.rstrip(":"):
        raise UsageError(f"--arg {written!r:.80}: write NAME=VALUE, or NAME:=JSON")
    if not name.endswith(":"):
        return name, value
    return name[:-1], _json(value, f"--arg {name[:-1]}")


def _object(written: str) -> dict[str, Any]:
    if written == "-":
        written = sys.stdin.read()
    value = _json(written, "--arguments")
    if not isinstance(value, dict):
        raise UsageError('--arguments: write a JSON object such as {"command": "ls"}')
    return value


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what} is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python takes the last of two equal names, other readers the first.
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a name is given twice")
    return dict(pairs)
