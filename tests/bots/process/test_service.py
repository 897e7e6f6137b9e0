"""`sayso serve` under a service manager: it says when it serves and when it stops."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import ROUTES, env_of, process, served

from sayso.calls import new_id
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_playground import Playground


@contextmanager
def service_manager(address: str) -> Iterator[socket.socket]:
    """A socket as systemd binds it for a unit; ``@`` stands for the zero byte."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        manager.setblocking(False)
        yield manager


async def next_state(manager: socket.socket) -> str:
    """The next state that the manager is told."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return (await asyncio.get_running_loop().sock_recv(manager, 4096)).decode()


@pytest.mark.parametrize("kind", ["path", "abstract"])
async def test_it_says_that_it_serves_once_it_does_and_that_it_stops(
    kind: str, playground: Playground, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    address = str(tmp_path / "notify") if kind == "path" else f"@sayso-test-{new_id()}"
    env = env_of(playground, SAYSO_STORE_URL="memory://", NOTIFY_SOCKET=address)
    with service_manager(address) as manager:
        async with served(playground, config, env) as working:
            ready = await next_state(manager)
            working.process.send_signal(signal.SIGTERM)
            stopping = await next_state(manager)
            done = await working.ended()

    assert (ready, stopping, done.code) == ("READY=1", "STOPPING=1", 0)


async def test_it_says_nothing_before_it_serves(playground: Playground, tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    address = str(tmp_path / "notify")
    nowhere = f"redis://127.0.0.1:1/0?namespace={new_id()}"
    env = env_of(playground, SAYSO_STORE_URL=nowhere, NOTIFY_SOCKET=address)
    with service_manager(address) as manager:
        async with process("serve", "--config", str(config), env=env) as waiting:
            await waiting.line_with("waiting for it")
            waiting.process.send_signal(signal.SIGTERM)
            await waiting.ended()
        with pytest.raises(BlockingIOError):
            manager.recv(4096)


async def test_a_service_manager_that_is_gone_is_a_warning(
    playground: Playground, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    gone = os.fspath(tmp_path / "gone")
    env = env_of(playground, SAYSO_STORE_URL="memory://", NOTIFY_SOCKET=gone)
    async with served(playground, config, env) as working:
        line = await working.line_with("service manager")

    assert "cannot be told READY=1: No such file or directory" in line
