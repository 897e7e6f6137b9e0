"""The Lua scripts of this package."""

from __future__ import annotations

import re
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files

# Read at once with this module: once another version of the package is installed, one of its
# scripts would take what this process says for something else.
_LUA = {
    path.name.removesuffix(".lua"): path.read_text("utf-8")
    for path in (files("sayso.stores.redis") / "scripts").iterdir()
    if path.name.endswith(".lua")
}
_FUNCTION = re.compile(r"^local function (\w+)", re.MULTILINE)
_CALLED = re.compile(r"(\w+)\(")
_COMMAND = re.compile(r"redis\.call\(\s*'([A-Z]+)'")
# These change nothing. A script with one other command is never half done.
_READING = {"EXISTS", "GET", "HGET", "HGETALL", "HKEYS", "HMGET", "PEXPIRETIME", "PTTL", "TIME"}
_READING |= {"XINFO", "XPENDING", "XRANGE", "ZCOUNT", "ZRANGE", "ZRANGEBYSCORE", "ZSCAN", "ZSCORE"}
# Those of a subcommand cannot be tried out without it, and what is published is by its channel.
_UNTRIED = frozenset({"PUBLISH", "XGROUP", "XINFO"})


class Script:
    """A Lua script of this package, after those of the common functions that it needs.

    It is put together when it is used: few processes use them all.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def text(self) -> str:
        """The source that the server runs; it first checks that its user may do all of it."""
        own = _LUA[self._name]
        commands = set(_COMMAND.findall("\n".join([*_needed_by(own), own])))
        if len(commands - _READING) > 1:
            tried = ", ".join(f"'{command}'" for command in sorted(commands - _UNTRIED))
            own = f"need_all({{{tried}}})\n\n{own}"
        return "\n\n".join([*_needed_by(own), own])

    @cached_property
    def sha(self) -> str:
        """The name that the server knows it by; nothing is secured by it."""
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()


def _needed_by(own: str) -> list[str]:
    """The parts of common.lua for a script: with each run, the server makes every function anew."""
    called = set(_CALLED.findall(own))
    needed: list[str] = []
    # A function stands after those that it calls.
    for name, calls, part in reversed(_common_parts()):
        if not name or name in called:
            called |= calls
            needed.insert(0, part)
    return needed


@cache
def _common_parts() -> list[tuple[str, set[str], str]]:
    """Each part of common.lua: its function's name, if it is one, the calls in it, and its text."""
    parts = _LUA["common"].strip().split("\n\n")
    return [("".join(_FUNCTION.findall(part)), set(_CALLED.findall(part)), part) for part in parts]
