"""The policy follows its files: what is changed there counts without a restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.policy.server_policy import ServerPolicy
from sayso.text.agents import printable
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import Settings, build_settings
from sayso_bots.config.source import find_settings_file, read_source

_log = logging.getLogger(__name__)

_SECONDS = 2.0
# Whoever says that a file is written may say so while it is being written.
_AT_REST_SECONDS = 0.3


class Reloading:
    """Reads the settings again when a file of theirs changed, or when somebody says so.

    The policy is replaced as a whole. Where anything in the settings is wrong,
    the old one stays, and the log says what is wrong, once. ``problem`` says it
    as long as that is so.
    """

    def __init__(
        self,
        rereading: Rereading,
        policy: ServerPolicy,
        changed: Callable[[], None],
        *,
        seconds: float = _SECONDS,
        at_rest_seconds: float = _AT_REST_SECONDS,
    ) -> None:
        self.problem = ""
        self._rereading = rereading
        self._policy = policy
        self._changed = changed
        self._seconds = seconds
        self._at_rest_seconds = at_rest_seconds
        self._asked = asyncio.Event()
        self._need_restart: Sequence[str] = ()

    def now(self) -> None:
        """Read the settings again soon, whether or not a file changed."""
        self._asked.set()

    async def run(self) -> None:
        """Look at the files every few seconds, for ever."""
        before = self._rereading.seen
        while True:
            is_asked = await self._next()
            seen = await asyncio.to_thread(self._rereading.look)
            # A file that is being written is looked at once more before it is read.
            if is_asked:
                seen = await self._at_rest(seen)
            if is_asked or (seen == before and seen != self._rereading.seen):
                await self._reload()
            before = seen

    async def _at_rest(self, seen: Fingerprint) -> Fingerprint:
        """The files once they stay as they are for a moment."""
        while True:
            await asyncio.sleep(self._at_rest_seconds)
            before, seen = seen, await asyncio.to_thread(self._rereading.look)
            if seen == before:
                return seen

    async def _next(self) -> bool:
        try:
            async with asyncio.timeout(self._seconds):
                await self._asked.wait()
        except TimeoutError:
            return False
        self._asked.clear()
        return True

    async def _reload(self) -> None:
        try:
            reread = await asyncio.to_thread(self._rereading.read)
        except SettingsError as error:
            self._tell(error.problems)
        except Exception as error:  # the bots go on, whatever a module that it names does
            self._tell([f"the settings could not be read: {type(error).__name__}"])
        else:
            self._take(reread)

    def _tell(self, problems: Sequence[str]) -> None:
        self.problem = f"the policy stays as it was: {printable(problems[0])}"
        for problem in problems:
            _log.error("the policy stays as it was: %s", printable(problem))

    def _take(self, reread: Reread) -> None:
        self.problem = ""
        sections = reread.settings.policies.sections
        self._policy.replace(sections)
        self._changed()
        _log.info("the policy was read again; its sections: %d", len(sections))
        if reread.need_restart and reread.need_restart != self._need_restart:
            named = ", ".join(f"[{name}]" for name in reread.need_restart)
            _log.warning("changed in the settings, but needs a restart: %s", named)
        self._need_restart = reread.need_restart


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
