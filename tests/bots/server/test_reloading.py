"""The policy follows its files without a restart; a broken one keeps the old, and says so once."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.settings_text import ROUTE, SLACK

from sayso import RunRef, ToolCall
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.tasks import Background
from sayso.testing import until
from sayso_bots.config.settings import Settings
from sayso_bots.server.reloading import Fingerprint, Reloading, Rereading


class Written(Rereading):
    """Settings that somebody writes piece by piece, one at each look."""

    def __init__(self, config: Path, pieces: list[str]) -> None:
        super().__init__(str(config), SLACK)
        self._config_file = config
        self._pieces = pieces
        self._looks = 0

    def look(self) -> Fingerprint:
        """The files, of which a piece more is written."""
        self._looks += 1
        if self._looks > 1 and self._pieces:
            self._config_file.write_text(self._pieces.pop(0))
        return super().look()


ASKS = f"{ROUTE}[[policy]]\n"
DENIES = f'{ROUTE}[[policy]]\ndeny = [{{ tool = "bash" }}]\n'


@dataclass
class Room:
    settings: Settings
    reloading: Reloading
    config: Path
    changes: list[None]

    async def ruling(self) -> Ruling:
        call, context = ToolCall("bash"), PolicyContext(RunRef("a", "s"))
        decision = await evaluate(self.settings.policies, call, context)
        assert decision is not None
        return decision.ruling

    async def denies(self) -> bool:
        return await self.ruling() is Ruling.DENY

    async def asks(self) -> bool:
        return await self.ruling() is Ruling.ASK

    def replace(self, text: str, name: str = "sayso.toml") -> None:
        """As editors do it: a new file takes the place of the old one."""
        new = self.config.with_name("new")
        new.write_text(text)
        new.rename(self.config.with_name(name))


@asynccontextmanager
async def room(config: Path, *, seconds: float = 0.005) -> AsyncIterator[Room]:
    rereading = Rereading(str(config), SLACK)
    settings, changes = rereading.read().settings, list[None]()
    reloading = Reloading(
        rereading,
        settings.policies,
        lambda: changes.append(None),
        seconds=seconds,
        at_rest_seconds=0.005,
    )
    async with Background("reloading").during(reloading.run()):
        yield Room(settings, reloading, config, changes)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sayso.toml"
    path.write_text(ASKS)
    return path


async def test_a_changed_file_counts_without_a_restart(config: Path) -> None:
    async with room(config) as working:
        assert await working.asks()

        config.write_text(DENIES)
        await until(working.denies)
        working.replace(ASKS)
        await until(working.asks)

        assert len(working.changes) == 2
        assert working.reloading.problem == ""


async def test_a_file_that_a_section_names_is_followed_too(config: Path) -> None:
    (config.parent / "policy.toml").write_text("")
    config.write_text(f'{ASKS}file = "policy.toml"\n')
    async with room(config) as working:
        working.replace('deny = [{ tool = "bash" }]\n', "policy.toml")

        await until(working.denies)


async def test_a_file_that_is_named_later_is_followed_from_then_on(config: Path) -> None:
    (config.parent / "policy.toml").write_text('deny = [{ tool = "bash" }]\n')
    async with room(config) as working:
        config.write_text(f'{ASKS}file = "policy.toml"\n')
        await until(working.denies)

        working.replace("", "policy.toml")
        await until(working.asks)


async def test_a_folder_that_a_link_is_turned_to_is_a_change(tmp_path: Path) -> None:
    for name, text in (("1", ASKS), ("2", DENIES)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sayso.toml").write_text(text)
    (tmp_path / "..data").symlink_to("1")
    config = tmp_path / "sayso.toml"
    config.symlink_to("..data/sayso.toml")
    async with room(config) as working:
        (tmp_path / "..new").symlink_to("2")
        (tmp_path / "..new").rename(tmp_path / "..data")

        await until(working.denies)


async def test_a_broken_file_keeps_the_old_policy_and_says_so_once_with_the_line(
    config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config.write_text(DENIES)
    looks = 0
    async with room(config) as working:
        config.write_text(f'{ASKS}deny = [{{ tol = "bash" }}]\n')

        async def said() -> bool:
            return bool(working.reloading.problem)

        async def looked_again() -> bool:
            nonlocal looks
            looks += 1
            return looks > 20

        with caplog.at_level(logging.ERROR):
            await until(said)
            await until(looked_again)

        line = config.read_text()[: config.read_text().index("deny")].count("\n") + 1
        told = [one for one in caplog.messages if f"line {line}: policy 1.deny 1.tol" in one]
        assert len(told) == 1
        assert await working.denies()
        assert working.changes == []

        working.replace(ASKS)
        await until(working.asks)
        assert working.reloading.problem == ""


async def test_a_file_that_is_gone_keeps_the_old_policy(config: Path) -> None:
    config.write_text(DENIES)
    async with room(config) as working:
        config.unlink()

        async def said() -> bool:
            return "no such file" in working.reloading.problem

        await until(said)
        assert await working.denies()


async def test_whoever_asks_has_it_read_at_once(config: Path) -> None:
    async with room(config, seconds=3600) as working:
        before = config.stat()
        config.write_text(DENIES)
        os.utime(config, ns=(before.st_atime_ns, before.st_mtime_ns))
        working.reloading.now()

        await until(working.denies)


async def test_a_file_that_is_still_being_written_when_somebody_asks_is_read_when_it_is_whole(
    config: Path,
) -> None:
    rereading = Written(config, [DENIES[:-20], DENIES[:-10], DENIES])
    settings, changes = rereading.read().settings, list[None]()
    reloading = Reloading(
        rereading,
        settings.policies,
        lambda: changes.append(None),
        seconds=3600,
        at_rest_seconds=0.001,
    )
    async with Background("reloading").during(reloading.run()):
        working = Room(settings, reloading, config, changes)
        reloading.now()

        await until(working.denies)

    assert reloading.problem == ""
    assert len(changes) == 1


async def test_what_else_changed_is_said_to_need_a_restart(
    config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with room(config) as working:
        with caplog.at_level(logging.WARNING):
            config.write_text(f'{DENIES}[server]\nport = 9\n[always]\nremember = "1h"\n')
            await until(working.denies)

        assert any("needs a restart: [always], [server]" in one for one in caplog.messages)
        assert working.settings.server.port == 8080


async def test_a_change_between_the_first_look_and_the_start_is_seen(config: Path) -> None:
    rereading = Rereading(str(config), SLACK)
    settings = rereading.read().settings
    config.write_text(DENIES)
    reloading = Reloading(rereading, settings.policies, lambda: None, seconds=0.005)
    async with Background("reloading").during(reloading.run()):
        working = Room(settings, reloading, config, [])

        await until(working.denies)
