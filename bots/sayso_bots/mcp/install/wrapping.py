"""Servers in a settings file: each behind the proxy, or as it was, and all else as it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayso_bots.mcp.install import jsonc, tables
from sayso_bots.mcp.install.clients import McpClient
from sayso_bots.mcp.install.jsonc import NotUnderstoodError, Span

Command = tuple[str, ...]
"""The words that start a server."""

Proxy = Callable[[str], Command]
"""The words that stand before the command of a server, by its name."""

_OURS = "mcp-proxy"
_BEFORE = ("sayso_bots", "sayso")


@dataclass(frozen=True, slots=True)
class Server:
    """A server in a file; ``command`` is None where it is not started by one."""

    name: str
    command: Command | None

    @property
    def is_wrapped(self) -> bool:
        """Whether our proxy stands before it."""
        return self.command is not None and unwrapped(self.command) is not None


def unwrapped(command: Command) -> Command | None:
    """The command of the server behind our proxy; None where it is not there."""
    for at, word in enumerate(command[1:], 1):
        before = command[at - 1].rpartition("/")[2]
        if word == _OURS and before in _BEFORE and "--" in command[at:]:
            return command[command.index("--", at) + 1 :]
    return None


@dataclass(frozen=True, slots=True)
class SettingsText:
    """The text of a client's settings file."""

    client: McpClient
    text: str

    @property
    def data(self) -> Any:
        """What it says.

        Raises:
            NotUnderstoodError: its client would not read it, or not clearly.
        """
        if not self.text.strip("\ufeff \t\r\n"):
            return {}
        return (tables if self.client.is_toml else jsonc).read(self.text)

    def servers(self) -> list[Server]:
        """The servers.

        Raises:
            NotUnderstoodError: they do not stand where they should.
        """
        data = self.data
        if not isinstance(data, dict) or not isinstance(data.get(self.client.key, {}), dict):
            raise NotUnderstoodError(f"{self.client.key} is not what it should be")
        found = data.get(self.client.key, {}).items()
        return [Server(name, _command(entry)) for name, entry in found]

    def with_commands(self, commands: Mapping[str, Command]) -> SettingsText:
        """The text with other commands for these servers.

        Raises:
            NotUnderstoodError: nobody could be sure that nothing else changes by it.
        """
        changed = self
        for name, command in commands.items():
            first, rest = json.dumps(command[0]), json.dumps(list(command[1:]))
            changed = changed._replaced(name, first, rest)
        expected = copy.deepcopy(self.data)
        for name, command in commands.items():
            expected[self.client.key][name] |= {"command": command[0], "args": list(command[1:])}
        if changed.data != expected:
            raise NotUnderstoodError("the servers are written in a way that is not known here")
        return changed

    def with_texts_of(self, before: SettingsText, names: Sequence[str]) -> SettingsText:
        """The text with the commands of these servers as they are written in another text."""
        changed = self
        for name in names:
            spans = before._spans(name)
            texts = {field: before.text[start:end] for field, (start, end) in spans.items()}
            changed = changed._replaced(name, texts["command"], texts.get("args"))
        return changed

    def _replaced(self, name: str, command: str, args: str | None) -> SettingsText:
        spans, text = self._spans(name), self.text
        edits: list[tuple[Span, str]] = [(spans["command"], command)]
        if "args" in spans:
            edits.append((spans["args"], "[]" if args is None else args))
        elif args is not None:
            end = spans["command"][1]
            written = f"\nargs = {args}" if self.client.is_toml else f', "args": {args}'
            edits.append(((end, end), written))
        for (start, end), new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return SettingsText(self.client, text)

    def _spans(self, name: str) -> dict[str, Span]:
        if self.client.is_toml:
            spans = tables.entry(self.text, self.client.key, name)
        else:
            servers = jsonc.members(self.text)[self.client.key]
            entry = jsonc.members(self.text, servers[0])[name]
            spans = jsonc.members(self.text, entry[0])
        if "command" not in spans:
            raise NotUnderstoodError(f"the command of {name} is not found")
        return spans


def _command(entry: object) -> Command | None:
    if not isinstance(entry, dict) or not isinstance(command := entry.get("command"), str):
        return None
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return None
    return (command, *args)


def wrapped(
    settings: SettingsText, names: Sequence[str], proxy: Proxy
) -> tuple[SettingsText, list[str], list[str]]:
    """The text with the proxy before its servers; those that it is before now, and those it is not.

    ``proxy`` gives the words that stand before a server's own. Without names, all are meant.

    Raises:
        NotUnderstoodError: there is no such server, or the text is not clear.
    """
    servers = {server.name: server for server in settings.servers()}
    if missing := [name for name in names if name not in servers]:
        raise NotUnderstoodError(f"there is no server {missing[0]!r:.40}")
    chosen = [servers[name] for name in names or servers]
    commands = {
        one.name: (*proxy(one.name), *(unwrapped(one.command) or one.command))
        for one in chosen
        if one.command is not None
    }
    left = [one.name for one in chosen if one.command is None]
    return settings.with_commands(commands), list(commands), left


def without(settings: SettingsText, before: SettingsText | None) -> tuple[SettingsText, list[str]]:
    """The text without the proxy, and the servers that it stood before.

    What was written before is taken from there, as far as it still means the same.

    Raises:
        NotUnderstoodError: a text is not clear.
    """
    ours = {
        server.name: unwrapped(server.command)
        for server in settings.servers()
        if server.command is not None and server.is_wrapped
    }
    commands = {name: command for name, command in ours.items() if command}
    plain = settings.with_commands(commands)
    if before is None or not commands:
        return plain, list(commands)
    known = {server.name: server.command for server in before.servers()}
    same = [name for name, command in commands.items() if known.get(name) == command]
    exact = plain.with_texts_of(before, same)
    if _alike(exact.data, before.data, settings.client.key):
        return before, list(commands)
    is_exact = _alike(exact.data, plain.data, settings.client.key)
    return exact if is_exact else plain, list(commands)


def _alike(one: Any, other: Any, key: str) -> bool:
    """Whether two files say the same, where no arguments and an empty list of them are alike."""

    def plain(data: Any) -> Any:
        found = copy.deepcopy(data)
        for entry in found.get(key, {}).values():
            if isinstance(entry, dict) and entry.get("args") == []:
                del entry["args"]
        return found

    return bool(plain(one) == plain(other))
