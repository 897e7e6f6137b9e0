"""The settings once more, after somebody changed a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.toml_file import SettingsError
from sayso_bots.config.settings import Settings, build_settings
from sayso_bots.config.source import find_settings_file, read_source

Fingerprint = tuple[tuple[int, int, int] | None, ...]
"""The files as they stand there, each by inode, time and size; None for one that is not there."""

# Their changes count without a restart.
_LIVE = "policy"


@dataclass(frozen=True, slots=True)
class Reread:
    """The settings as they are by now, and which sections count only after a restart."""

    settings: Settings
    need_restart: Sequence[str]


class Rereading:
    """Reads the settings, and again whenever somebody asks.

    ``seen`` is how the files stood there when they were read last.
    """

    def __init__(self, config: str | None, env: Mapping[str, str]) -> None:
        self._config = config
        self._env = env
        self._files: tuple[Path, ...] = (Path(find_settings_file(config, env)),)
        self._first: Mapping[str, Any] | None = None
        self.seen: Fingerprint = ()

    def read(self) -> Reread:
        """Read all settings, and say what of them differs from the first time.

        Raises:
            SettingsError: something is wrong; a line for each problem.
        """
        while True:
            # Looked at before they are read, so that no change goes unseen.
            files, self.seen = self._files, self.look()
            try:
                reread = self._read()
            except SettingsError:
                if self._files == files:
                    raise
            else:
                if self._files == files:
                    return reread

    def _read(self) -> Reread:
        source = read_source(self._config, self._env)
        written = deepcopy(source.data)
        try:
            settings = build_settings(source)
        finally:
            self._files = (self._files[0], *source.files)
        now = {name: table for name, table in written.items() if name != _LIVE}
        if self._first is None:
            self._first = now
        names = {*now, *self._first}
        changed = [name for name in names if now.get(name) != self._first.get(name)]
        return Reread(settings, sorted(changed))

    def look(self) -> Fingerprint:
        """Return the files as they stand there now; a link is followed."""
        return tuple(map(_look, self._files))


def _look(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
