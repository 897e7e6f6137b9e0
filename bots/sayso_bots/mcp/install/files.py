"""The settings file of a client and the one beside it that says how it was without us."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sayso.errors import ConfigError
from sayso_bots.mcp.install.clients import McpClient
from sayso_bots.mcp.install.wrapping import Proxy, SettingsText, without, wrapped
from sayso_bots.process.files import replace_file
from sayso_bots.strict_json import MalformedMessageError

_BESIDE = ".before-sayso"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A client's file."""

    client: McpClient
    at: Path

    @property
    def beside(self) -> Path:
        """Where it is kept how the file was without us."""
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
