"""Commands that are copies of a process are what they are when they are started afresh."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.forked import command

from sayso.testing.builders import PATIENCE_SECONDS

PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
TESTS = Path(__file__).parent
OWN = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
ENV = {**OWN, "HOME": "/nonexistent", "USER": "tester", "SAYSO_HELPER": "off"}

CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}

Start = Callable[..., Awaitable[asyncio.subprocess.Process]]


async def afresh(
    *words: str, env: Mapping[str, str], cwd: Path, **streams: Any
) -> asyncio.subprocess.Process:
    words = ("-P", "-m", "sayso_bots", *words)
    return await asyncio.create_subprocess_exec(sys.executable, *words, env=env, cwd=cwd, **streams)


@pytest.fixture(params=[command, afresh])
def start(request: pytest.FixtureRequest) -> Start:
    found: Start = request.param
    return found


async def done(process: asyncio.subprocess.Process, text: bytes | None = None) -> tuple[Any, ...]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, err = await process.communicate(text)
    return process.returncode, out, err


async def test_words_folder_and_environment_are_those_of_the_command(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "here.toml").write_text("[store]\nurl = 3\n")
    env = {**ENV, "SAYSO_CONFIG": "here.toml"}
    code, out, err = await done(
        await start("check", env=env, cwd=tmp_path, stdout=PIPE, stderr=PIPE)
    )

    assert code != 0
    assert b"here.toml" in out + err
    code, out, err = await done(
        await start("check", env=ENV, cwd=tmp_path, stdout=PIPE, stderr=PIPE)
    )
    assert b"here.toml" not in out + err


async def test_words_that_are_no_text_are_told(start: Start, tmp_path: Path) -> None:
    words = ("ask", os.fsdecode(b"\xff"))
    process = await start(*words, env=ENV, cwd=tmp_path, stdout=PIPE, stderr=PIPE)

    assert await done(process) == (2, b"", b"sayso: the command line is not valid UTF-8\n")


async def test_it_reads_what_it_is_given(start: Start, tmp_path: Path) -> None:
    words = ("ask", "x", "--arguments", "-")
    given = await start(*words, env=ENV, cwd=tmp_path, stdin=PIPE, stdout=PIPE, stderr=STDOUT)
    nothing = await start(*words, env=ENV, cwd=tmp_path, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)

    code, out, err = await done(given, b"no JSON")
    assert (code, b"is not JSON" in out, err) == (2, True, None)
    code, out, err = await done(nothing)
    assert (code, out, b"stdin was empty" in err) == (2, b"", True)


async def test_a_file_is_written(start: Start, tmp_path: Path) -> None:
    with (tmp_path / "written").open("wb") as written:
        process = await start("--version", env=ENV, cwd=tmp_path, stdout=written, stderr=STDOUT)
        assert await done(process) == (0, None, None)

    assert (tmp_path / "written").read_text().startswith("sayso ")


async def test_nobody_reads_what_it_says(start: Start, tmp_path: Path) -> None:
    words = ("api", "token", "ci", "--json")
    reads, writes = os.pipe()
    os.close(reads)
    process = await start(*words, env=ENV, cwd=tmp_path, stdout=writes, stderr=PIPE)
    os.close(writes)

    assert await done(process) == (1, None, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_signals_reach_it(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    words = ("acp", "--", "cat")
    process = await start(*words, env=ENV, cwd=tmp_path, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    message = b'{"jsonrpc":"2.0","method":"x"}\n'
    process.stdin.write(message)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await process.stdout.readline() == message
    assert process.returncode is None
    assert os.getpgid(process.pid) == os.getpgid(0)
    process.send_signal(number)

    code, _, err = await done(process)
    assert (code, err) == (CODES[number], b"")


async def test_ctrl_c_ends_it_as_soon_as_it_is_there(tmp_path: Path) -> None:
    process = await command("acp", "--", "cat", env=ENV, cwd=tmp_path, stdin=PIPE, stderr=DEVNULL)
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await process.wait() != 0


async def test_two_commands_share_nothing(tmp_path: Path) -> None:
    one, other = [
        await command("--version", env=ENV, cwd=tmp_path, stdin=PIPE, stdout=PIPE) for _ in "ab"
    ]

    assert one.pid != other.pid
    assert (await done(one))[0] == (await done(other))[0] == 0


async def test_other_code_is_loaded_by_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "sayso_bots").mkdir()
    for name, text in (("__init__", ""), ("__main__", "print('another one')")):
        (tmp_path / "sayso_bots" / f"{name}.py").write_text(text)
    env = {**ENV, "PYTHONPATH": str(tmp_path)}
    process = await command("--version", env=env, cwd=tmp_path, stdout=PIPE)

    assert await done(process) == (0, b"another one\n", None)


def test_the_warm_process_ends_with_those_who_can_ask_however_they_end() -> None:
    code = "import os; from support.forked import warm; warm(); os.kill(os.getpid(), 9)"
    # Its stderr is that of who started it: that ends when both have ended.
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (-9, b"")
