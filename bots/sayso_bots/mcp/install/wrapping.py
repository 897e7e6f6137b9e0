"""Servers in a client's settings file: each behind the proxy, or as it was; the rest untouched."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sayso.errors import ConfigError
from sayso_bots.mcp.install import jsonc, tables
from sayso_bots.mcp.install.clients import McpClient
from sayso_bots.mcp.install.jsonc import Span
from sayso_bots.process.files import replace_file
from sayso_bots.strict_json import MalformedMessageError

Command = tuple[str, ...]
"""The words that start a server."""

Place = tuple[str, ...]
"""The names under which a server stands in a file; the last one is its own."""

Proxy = Callable[[str], Command]
"""The words that stand before the command of a server, by its name."""

_OURS = "mcp-proxy"
_BEFORE = ("sayso_bots", "sayso")


@dataclass(frozen=True, slots=True)
class Server:
    """A server in a file; ``command`` is None where it is not started by one."""

    place: Place
    command: Command | None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.place[-1]

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


@dataclass(frozen=True)
class SettingsText:
    """The text of a client's settings file, which may be long: it is read once."""

    client: McpClient
    text: str

    @cached_property
    def data(self) -> Any:
        """What it says, not to be changed.

        Raises:
            MalformedMessageError: its client would not read it, or not clearly.
        """
        if not self.text.strip("\ufeff \t\r\n"):
            return {}
        return (tables if self.client.is_toml else jsonc).read(self.text)

    def servers(self) -> list[Server]:
        """The servers.

        Raises:
            MalformedMessageError: they do not stand where they should.
        """
        data = self.data
        return [
            Server((*place, name), _command(entry))
            for place in _places(self.client, data)
            for name, entry in _objects(data, place).items()
        ]

    def with_commands(self, commands: Mapping[Place, Command]) -> SettingsText:
        """The text with other commands for these servers.

        Raises:
            MalformedMessageError: nobody could be sure that nothing else changes by it.
        """
        changed = self._replaced(
            {
                place: (json.dumps(command[0]), json.dumps(list(command[1:])))
                for place, command in commands.items()
            }
        )
        expected = copy.deepcopy(self.data)
        for place, command in commands.items():
            _objects(expected, place).update(command=command[0], args=list(command[1:]))
        if changed.data != expected:
            raise MalformedMessageError("the servers are written in a way that is not known here")
        return changed

    def with_texts_of(self, before: SettingsText, places: Sequence[Place]) -> SettingsText:
        """The text with the commands of these servers as they are written in another text."""
        texts = {
            place: {field: before.text[start:end] for field, (start, end) in spans.items()}
            for place, spans in before._spans(places).items()
        }
        return self._replaced(
            {place: (found["command"], found.get("args")) for place, found in texts.items()}
        )

    def _replaced(self, words: Mapping[Place, tuple[str, str | None]]) -> SettingsText:
        """The text with other commands and arguments, as they are to be written."""
        edits: list[tuple[Span, str]] = []
        for place, spans in self._spans(words).items():
            command, args = words[place]
            edits.append((spans["command"], command))
            if "args" in spans:
                edits.append((spans["args"], "[]" if args is None else args))
            elif args is not None:
                end = spans["command"][1]
                written = f"\nargs = {args}" if self.client.is_toml else f', "args": {args}'
                edits.append(((end, end), written))
        text = self.text
        for (start, end), new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return SettingsText(self.client, text)

    def _spans(self, places: Iterable[Place]) -> dict[Place, dict[str, Span]]:
        """Where the fields of servers stand.

        Raises:
            MalformedMessageError: one has no command.
        """
        objects: dict[Place, dict[str, Span]] = {}

        def inside(place: Place) -> dict[str, Span]:
            if place not in objects:
                at = inside(place[:-1])[place[-1]][0] if place else 0
                objects[place] = jsonc.members(self.text, at)
            return objects[place]

        found = {}
        for place in places:
            spans = (
                tables.entry(self.text, self.client.key, place[-1])
                if self.client.is_toml
                else inside(place)
            )
            if "command" not in spans:
                raise MalformedMessageError(f"the command of {place[-1]} is not found")
            found[place] = spans
        return found


def _places(client: McpClient, data: Any) -> Iterator[Place]:
    """Where servers stand: in the file itself, and in each project that has a part of it.

    Raises:
        MalformedMessageError: something else stands there.
    """
    yield (client.key,)
    if client.projects:
        for project in _objects(data, (client.projects,)):
            yield (client.projects, project, client.key)


def _objects(data: Any, place: Place) -> dict[str, Any]:
    """The object at a place, itself to be changed; empty where there is none.

    Raises:
        MalformedMessageError: something else stands there, or on the way.
    """
    for at in range(len(place) + 1):
        if not isinstance(data, dict):
            raise MalformedMessageError(f"{'.'.join(place[:at]) or 'the file'} is not an object")
        if at < len(place):
            data = data.get(place[at], {})
    found: dict[str, Any] = data
    return found


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
        MalformedMessageError: there is no such server, or the text is not clear.
    """
    servers = settings.servers()
    there = {server.name for server in servers}
    if missing := [name for name in names if name not in there]:
        raise MalformedMessageError(f"there is no server {missing[0]!r:.40}")
    chosen = [server for server in servers if not names or server.name in names]
    commands = {
        one.place: (*proxy(one.name), *(unwrapped(one.command) or one.command))
        for one in chosen
        if one.command is not None
    }
    left = [_called(one.place) for one in chosen if one.command is None]
    return settings.with_commands(commands), [_called(place) for place in commands], left


def without(settings: SettingsText, before: SettingsText | None) -> tuple[SettingsText, list[str]]:
    """The text without the proxy, and the servers that it stood before.

    What was written before is taken from there, as far as it still means the same.

    Raises:
        MalformedMessageError: a text is not clear.
    """
    ours = {
        server.place: unwrapped(server.command)
        for server in settings.servers()
        if server.command is not None and server.is_wrapped
    }
    commands = {place: command for place, command in ours.items() if command}
    names = [_called(place) for place in commands]
    plain = settings.with_commands(commands)
    if before is None or not commands:
        return plain, names
    known = {server.place: server.command for server in before.servers()}
    same = [place for place, command in commands.items() if known.get(place) == command]
    exact = plain.with_texts_of(before, same)
    if _alike(exact, before):
        return before, names
    return exact if _alike(exact, plain) else plain, names


def _alike(one: SettingsText, other: SettingsText) -> bool:
    """Whether two files say the same, where no arguments and an empty list of them are alike."""

    def plain(settings: SettingsText) -> Any:
        found = copy.deepcopy(settings.data)
        for server in settings.servers():
            if server.command is not None and len(server.command) == 1:
                _objects(found, server.place).pop("args", None)
        return found

    return bool(plain(one) == plain(other))


def _called(place: Place) -> str:
    """What people read for a server: its name, and its project where it is of one."""
    *_, project, _, name = ("", *place)
    return f"{name} in {project}" if project else name


_BESIDE = ".before-sayso"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A client's file."""

    client: McpClient
    at: Path

    @property
    def beside(self) -> Path:
        """The path of the copy of the file without us."""
        return self.at.with_name(f"{self.at.name}{_BESIDE}")

    def install(self, names: list[str], proxy_before: Proxy) -> tuple[list[str], list[str], bool]:
        """Put the proxy before servers: before which, before which not, whether that is new.

        Raises:
            ConfigError: the file is not understood; nothing was changed.
        """
        try:
            now = self._read(self.at)
            if now is None:
                raise ConfigError(
                    f"there is no {self.at}: {self.client.title} has no servers there"
                )
            plain, _ = without(now, self._read(self.beside))
            new, done, left = wrapped(now, names, proxy_before)
        except MalformedMessageError as error:
            raise ConfigError(f"{self.at}: {error}; nothing was changed") from None
        if new.text == now.text:
            return done, left, False
        replace_file(self.beside, plain.text.encode(), like=self.at)
        replace_file(self.at, new.text.encode())
        return done, left, True

    def undo(self) -> list[str]:
        """Take the proxy out; the servers that it stood before.

        Raises:
            ConfigError: the file is not understood; nothing was changed.
        """
        try:
            now = self._read(self.at)
            if now is None:
                return []
            plain, names = without(now, self._read(self.beside))
        except MalformedMessageError as error:
            raise ConfigError(f"{self.at}: {error}; nothing was changed") from None
        if plain.text != now.text:
            replace_file(self.at, plain.text.encode())
        with suppress(FileNotFoundError):
            self.beside.unlink()
        return names

    def _read(self, at: Path) -> SettingsText | None:
        try:
            return SettingsText(self.client, at.read_bytes().decode())
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{at} cannot be read: {error}; nothing was changed") from None
