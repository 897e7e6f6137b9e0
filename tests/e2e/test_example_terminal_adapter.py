"""A platform from outside: the example's adapter, served by the bots as they are."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from support.live import is_live

from sayso import Gate, RunRef, ToolCall
from sayso.errors import SaysoError
from sayso.stores.connect import open_store

EXAMPLE = Path(__file__).parents[2] / "examples" / "terminal_adapter"
SETTINGS = """
platforms = ["terminal_adapter"]

[terminal]
user = "alice"

[[route]]
to = ["terminal:screen"]
approvers = ["terminal:alice"]
"""
RUN = RunRef("an-agent", "a-session")


class Terminal:
    """A terminal that ``sayso serve`` runs in: what it shows, and a keyboard."""

    def __init__(self, shown: asyncio.StreamReader, keyboard: int) -> None:
        self._shown = shown
        self._keyboard = keyboard
        self.text = ""

    async def shows(self, text: str) -> str:
        """Everything that was shown, as soon as this is in it."""
        async with asyncio.timeout(20):
            while text not in self.text:
                chunk = await self._shown.read(65_536)
                if not chunk:
                    raise AssertionError(f"no {text!r} in {self.text}")
                self.text += chunk.decode()
        return self.text

    def type(self, line: str) -> None:
        os.write(self._keyboard, f"{line}\n".encode())


@asynccontextmanager
async def terminal(folder: Path, store_url: str) -> AsyncIterator[Terminal]:
    (folder / "sayso.toml").write_text(SETTINGS)
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(EXAMPLE),
        "SAYSO_STORE_URL": store_url,
        "SAYSO_PORT": "0",
    }
    keyboard, stdin = pty.openpty()
    command = (sys.executable, "-m", "sayso_bots", "serve")
    try:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=folder, env=env, stdin=stdin, stdout=PIPE, stderr=PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            async with asyncio.timeout(20):
                while b"routes" not in (line := await process.stderr.readline()):
                    assert line, "the bots ended"
            yield Terminal(process.stdout, keyboard)
            process.send_signal(signal.SIGTERM)
            _, said = await asyncio.wait_for(process.communicate(), 20)
            assert (process.returncode, b"Traceback" in said) == (0, False), said.decode()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    finally:
        os.close(keyboard)
        os.close(stdin)


async def test_a_question_is_answered_on_a_terminal_by_bots_that_know_no_terminal(
    tmp_path: Path, store_url: str
) -> None:
    async with (
        terminal(tmp_path, store_url) as screen,
        open_store(store_url) as backend,
        Gate.open(backend, run=RUN) as gate,
    ):
        asking = asyncio.create_task(gate.check(ToolCall("deploy", {"to": "production"})))
        shown = await screen.shows("[1a] Allow")
        screen.type("1a")
        verdict = await asking
        ended = await screen.shows("Approved by terminal:alice")

    assert "an-agent" in shown
    assert "production" in shown
    assert (verdict.approved, verdict.decided_by) == (True, "terminal:alice")
    offered = re.findall(r"\[1\w\] (.*)", ended.rpartition("=== 1 ===")[2])
    assert not is_live(label.strip() for label in offered)


async def test_always_takes_its_second_step_and_a_reason_is_typed(
    tmp_path: Path, store_url: str
) -> None:
    call = ToolCall("deploy", {"to": "staging"})
    async with (
        terminal(tmp_path, store_url) as screen,
        open_store(store_url) as backend,
        Gate.open(backend, run=RUN) as gate,
    ):
        asking = asyncio.create_task(gate.check(call))
        shown = await screen.shows("=== 1 ===")
        shown = await screen.shows("Always")
        screen.type(key_of(shown, "Always"))
        shown = await screen.shows("] Yes, Always")
        screen.type(key_of(shown, "Yes, Always"))
        remembered, again = await asking, await gate.check(call)

        asking = asyncio.create_task(gate.check(ToolCall("deploy", {"to": "production"})))
        shown = await screen.shows("=== 2 ===")
        shown = await screen.shows("[2b]")
        screen.type(key_of(await screen.shows("More…\n"), "More…", "2"))
        shown = await screen.shows("Deny with a reason")
        screen.type(key_of(shown, "Deny with a reason", "2"))
        await screen.shows("full stop leaves the form")
        screen.type("Not on a Friday.")
        denied = await asking

    assert remembered.approved
    assert (again.approved, again.permission_id) == (True, None)
    assert (denied.approved, denied.reason) == (False, "Not on a Friday.")


def key_of(shown: str, label: str, message: str = "1") -> str:
    """The newest key with this label on a message."""
    lines = [line.strip() for line in shown.splitlines() if line.strip().startswith(f"[{message}")]
    found = [line for line in lines if line.partition("] ")[2].startswith(label)]
    if not found:
        raise SaysoError(f"no key for {label!r} among {lines}")
    return found[-1][1:].partition("]")[0]
