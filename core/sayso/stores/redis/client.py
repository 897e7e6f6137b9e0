"""Commands to the store, and its scripts."""

from __future__ import annotations

import asyncio
import re
import secrets
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from itertools import count
from typing import Any

from sayso.errors import StoreUnreachableError
from sayso.stores.home import Home
from sayso.stores.redis.link import LINK_ERRORS, explain, is_denied
from sayso.stores.redis.pipeline import Pipeline
from sayso.stores.redis.url import StoreUrl
from sayso.stores.redis.wire import ReplyError, packed

MOST_ORDERS = 100_000
MOST_BYTES = 128 * 1024 * 1024
_CLOSING_SECONDS = 0.5
# Read at once with this module: once another version of the package is installed, one of its
# scripts would take what this process says for something else.
_LUA = {
    one.name.removesuffix(".lua"): one.read_text("utf-8")
    for one in (files("sayso.stores.redis") / "scripts").iterdir()
    if one.name.endswith(".lua")
}
_FUNCTION = re.compile(r"^local function (\w+)", re.MULTILINE)
_CALLED = re.compile(r"(\w+)\(")
_COMMAND = re.compile(r"redis\.call\(\s*'([A-Z]+)'")
# These change nothing. A script with one other command is never half done.
_READING = {"EXISTS", "GET", "HGET", "HGETALL", "HKEYS", "HMGET", "PEXPIRETIME", "PTTL", "TIME"}
_READING |= {"XINFO", "XPENDING", "XRANGE", "ZCOUNT", "ZRANGE", "ZRANGEBYSCORE", "ZSCAN", "ZSCORE"}
# Those of a subcommand cannot be tried out without it, and what is published is by its channel.
_UNTRIED = frozenset({"PUBLISH", "XGROUP", "XINFO"})

Argument = bytes | str | int


class Script:
    """A Lua script of this package, after those of the common functions that it needs.

    It is put together when it is used: few processes use them all.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def text(self) -> str:
        """What the server runs, after a look whether its user may do all that it changes."""
        own = _LUA[self._name]
        commands = set(_COMMAND.findall("\n".join([*_needed_by(own), own])))
        if len(commands - _READING) > 1:
            tried = ", ".join(f"'{command}'" for command in sorted(commands - _UNTRIED))
            own = f"need_all({{{tried}}})\n\n{own}"
        return "\n\n".join([*_needed_by(own), own])

    @cached_property
    def sha(self) -> str:
        """By which the server knows it; nothing is secured by it."""
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()


def _needed_by(own: str) -> list[str]:
    """The parts of common.lua for a script: with each run, the server makes every function anew."""
    called = set(_CALLED.findall(own))
    needed: list[str] = []
    # What a function calls stands before it.
    for name, calls, part in reversed(_common_parts()):
        if not name or name in called:
            called |= calls
            needed.insert(0, part)
    return needed


@cache
def _common_parts() -> list[tuple[str, set[str], str]]:
    """Each part of common.lua: which function it is, if it is one, what it calls, and its text."""
    parts = _LUA["common"].strip().split("\n\n")
    return [("".join(_FUNCTION.findall(one)), set(_CALLED.findall(one)), one) for one in parts]


class Client:
    """Runs commands and scripts over one connection.

    Where the server answers nothing any more, a call ends within twice the URL's
    timeout, of which the time is not counted in which something else holds up our
    event loop. How commands share the connection, what is sent again and how much
    may wait: see Pipeline.
    """

    def __init__(
        self, url: StoreUrl, *, most: int = MOST_ORDERS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.url = url
        self.keys = url.keys
        self._script_keys: tuple[Argument, ...] = (1, self.keys.prefix)
        self.home = Home()
        self._pipeline = Pipeline(url, most=most, most_bytes=most_bytes)
        self._own = secrets.token_urlsafe(9)
        self._numbers = count(1)

    def token(self) -> str:
        """A name for one call, so that its repetition is known as such."""
        return f"{self._own}{next(self._numbers)}"

    async def run(self, script: Script, *arguments: Argument) -> Any:
        """The result of a script; its first key is the prefix of all keys.

        Raises:
            StoreUnreachableError: no answer, an error, or too much waits already.
        """
        keys = self._script_keys
        try:
            try:
                return await self._reply(("EVALSHA", script.sha, *keys, *arguments))
            except ReplyError as error:
                if error.code != "NOSCRIPT":
                    raise
                return await self._reply(("EVAL", script.text, *keys, *arguments))
        except LINK_ERRORS as error:
            raise self._unusable(error) from error

    async def command(self, *arguments: Argument, repeatable: bool = True) -> Any:
        """The reply to one command.

        Raises:
            StoreUnreachableError: no answer, an error, or too much waits already.
        """
        try:
            return await self._reply(arguments, repeatable=repeatable)
        except LINK_ERRORS as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StoreUnreachableError:
        said = StoreUnreachableError(explain(self.url, error))
        said.is_denied = is_denied(error)
        return said

    async def aclose(self) -> None:
        """Wait a moment for what is under way, then close the connection."""
        await self._pipeline.aclose(_CLOSING_SECONDS)

    def _reply(
        self, arguments: tuple[Argument, ...], *, repeatable: bool = True
    ) -> asyncio.Future[Any]:
        self.home.check()
        return self._pipeline.send(packed(arguments), repeatable=repeatable)
