"""What a server or an agent, started by a command of ours, can read of that command."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from support.hook_server import TOKEN, until_it_answers

from sayso.testing.builders import PATIENCE_SECONDS

STORE = "redis://:geheim@127.0.0.1:1/0"

# As root, a command would have CAP_SYS_PTRACE, and its child with it. So all is loaded that
# another user may not read, and the command goes on as nobody, whom others may look at.
AS_NOBODY = """
import ctypes, os, sys
import sayso_bots.cli.acp, sayso_bots.cli.hook_serving
import sayso_bots.cli.mcp_proxy, sayso_bots.cli.mcp_serving
import sayso.stores.redis, asyncio.unix_events, encodings.idna
from sayso_bots.cli.main import main
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
assert ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) == 0
sys.exit(main(sys.argv[1:]))
"""
KEPT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
READS = "cat /proc/$PPID/environ >&2; cat /proc/$PPID/mem >/dev/null; cat"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps an environment to a process")
@pytest.mark.parametrize("command", ["mcp-proxy", "acp"])
async def test_what_a_command_starts_cannot_read_the_password_of_the_store(command: str) -> None:
    own = {name: os.environ[name] for name in KEPT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", AS_NOBODY, command, "--", "sh", "-c", READS),
        env={**own, "SAYSO_STORE_URL": STORE},
        cwd="/",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        _, said = await process.communicate(b"")

    assert b"geheim" not in said
    assert b"/environ: Permission denied" in said
    assert b"/mem: Permission denied" in said


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps an environment to a process")
async def test_a_program_of_the_same_user_cannot_read_the_environment_of_the_hook_server() -> None:
    own = {name: os.environ[name] for name in KEPT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", AS_NOBODY, "hook", "serve", "--listen", "127.0.0.1:0"),
        env={**own, "SAYSO_STORE_URL": STORE, "SAYSO_HOOK_TOKEN": TOKEN},
        cwd="/",
        stderr=asyncio.subprocess.PIPE,
    )
    server = await until_it_answers(process)
    owner = Path(f"/proc/{process.pid}/environ").stat().st_uid
    await server.stop()

    # Root's, and not of the user that it was started by.
    assert owner == 0


@pytest.mark.parametrize("command", ["mcp-proxy", "acp"])
async def test_a_password_on_the_command_line_starts_nothing(command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "sayso_bots", command, "--store", STORE, "--", "cat"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        _, said = await process.communicate(b"")

    assert process.returncode == 2
    assert b"--store holds a password" in said
    assert b"geheim" not in said
