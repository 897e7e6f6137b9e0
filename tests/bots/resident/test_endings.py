"""How long a helper lives, and when another one takes its place."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.hooked import until

from sayso_bots.resident.client import ask_helper
from sayso_bots.resident.place import folder_of, identity
from sayso_bots.resident.server import Helper, Say, only_one


async def test_it_ends_when_nobody_asks_for_a_while(runtime: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(runtime)}

    async def answer(_said: Mapping[str, Any], _say: Say) -> None:
        return None

    with only_one(str(folder_of(env)), "me") as at:
        assert at is not None
        await Helper("me", answer).serve(at, idle_seconds=0.05)

    assert not Path(at).exists()


async def test_it_ends_when_its_folder_is_gone_and_nobody_waits(runtime: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(runtime)}
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(_said: Mapping[str, Any], _say: Say) -> Mapping[str, Any]:
        asked.set()
        await may_answer.wait()
        return {"code": 0}

    folder = str(folder_of(env))
    with only_one(folder, who := identity(env)) as at:
        assert at is not None
        serving = asyncio.create_task(Helper(who, answer).serve(at, look_seconds=0.01))
        await until(Path(at).exists)
        asking = asyncio.create_task(asyncio.to_thread(ask_helper, ("ask",), env, seconds=5))
        await asked.wait()
        shutil.rmtree(folder)
        with only_one(str(folder_of(env)), who) as another:
            assert another == at
            Path(at).touch()
            ended, _ = await asyncio.wait({serving}, timeout=0.1)
            assert not ended
            may_answer.set()
            assert await asking == {"code": 0}
            await serving
            assert Path(at).exists()


def test_the_end_of_one_takes_nothing_from_the_next_one_in_its_place(runtime: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(runtime)}

    with only_one(str(folder_of(env)), "me") as first:
        assert first is not None
        shutil.rmtree(Path(first).parent)
        second = only_one(str(folder_of(env)), "me")
        assert second.__enter__() == first
        Path(first).touch()

    assert Path(first).exists()
    second.__exit__(None, None, None)
    assert not Path(first).exists()


async def test_a_helper_is_not_asked_once_a_package_was_installed(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    code = "import os; from sayso_bots.resident.place import identity; print(identity(os.environ))"

    async def said() -> bytes:
        path = os.pathsep.join((*filter(None, [os.environ.get("PYTHONPATH")]), str(packages)))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", code),
            env={"PYTHONPATH": path},
            stdout=asyncio.subprocess.PIPE,
        )
        return (await process.communicate())[0]

    before, again = await said(), await said()
    (packages / "redis-99.dist-info").mkdir()

    assert before == again != b""
    assert await said() != before


def test_there_is_one_at_a_time(runtime: Path) -> None:
    folder = str(folder_of({"XDG_RUNTIME_DIR": str(runtime)}))

    with only_one(folder, "me") as first, only_one(folder, "me") as second:
        assert first is not None
        assert second is None
    with only_one(folder, "me") as third:
        assert third == first
