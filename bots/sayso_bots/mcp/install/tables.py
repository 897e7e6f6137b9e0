"""TOML as Codex has it: where the command and the arguments of a server are written."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from sayso_bots.mcp.install.jsonc import Span
from sayso_bots.strict_json import MalformedMessageError

_HEADER = re.compile(r"^[ \t]*\[[^\r\n]*$", re.MULTILINE)
_STRING = r'"(?:[^"\\\r\n]|\\.)*"|\'[^\'\r\n]*\''
_COMMAND = re.compile(rf"^[ \t]*command[ \t]*=[ \t]*({_STRING})", re.MULTILINE)
_ARGS = re.compile(
    rf"^[ \t]*args[ \t]*=[ \t]*(\[(?:{_STRING}|#[^\r\n]*|[^\]\"'#])*\])", re.MULTILINE
)


def read(text: str) -> dict[str, Any]:
    """What the text says.

    Raises:
        MalformedMessageError: it is not TOML.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise MalformedMessageError(str(error)) from None


def entry(text: str, key: str, name: str) -> dict[str, Span]:
    """Where the command and the arguments of a server stand.

    Raises:
        MalformedMessageError: the server has no table of its own, or more than one.
    """
    plain = rf"{re.escape(name)}|{re.escape(json.dumps(name))}|'{re.escape(name)}'"
    header = re.compile(
        rf"^[ \t]*\[[ \t]*{re.escape(key)}[ \t]*\.[ \t]*(?:{plain})[ \t]*\]"
        r"[ \t]*(?:#[^\r\n]*)?\r?$",
        re.MULTILINE,
    )
    found = list(header.finditer(text))
    if len(found) != 1:
        raise MalformedMessageError(f"there is no table [{key}.{name}] of its own")
    after = _HEADER.search(text, found[0].end())
    ends = len(text) if after is None else after.start()
    spans = {}
    for field, pattern in (("command", _COMMAND), ("args", _ARGS)):
        if match := pattern.search(text, found[0].end(), ends):
            spans[field] = match.span(1)
    return spans
