"""What a hook says in the end is its answer machine, by itself, whatever else happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from support.commands import Done
from support.hooked import Machine, decision, event, until

_FAILS = """
import os, sys
from sayso_bots.cli.hooked import hooked
from sayso_bots.hook.agents import HookAgent

class Fails(HookAgent):
    def reply(self, answer):
        raise RuntimeError

agent = Fails("claude-code", "an agent", ("PreToolUse",), "", {})
sys.exit(hooked(agent, (), os.environ))
"""


async def test_what_is_said_with_stderr_closed_is_no_part_of_the_answer(
    machine: Machine, tmp_path: Path
) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "redis.py").write_text(
        "import os\nfor n in (1, 2): os.write(n, b'hello')\nraise OSError"
    )
    words = f"exec {sys.executable} -P -m sayso_bots hook claude-code 2>&-"
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", words),
        env={
            **machine.env,
            "PYTHONPATH": f"{extra}{os.pathsep}{machine.env.get('PYTHONPATH', '')}",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate(event("read"))

    assert decision(Done(0, out.decode(), ""))[0] == "deny"


async def test_a_signal_that_comes_while_the_last_words_are_said_changes_nothing(
    machine: Machine,
) -> None:
    reader, writer = os.pipe()
    with contextlib.suppress(BlockingIOError):
        os.set_blocking(writer, False)
        while True:
            os.write(writer, b"-" * 4096)
    os.set_blocking(writer, True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _FAILS),
        env=machine.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=writer,
    )
    os.close(writer)
    assert process.stdin is not None
    process.stdin.write(event("read"))
    process.stdin.close()
    await until(lambda: _ignores(process.pid, signal.SIGTERM))
    process.send_signal(signal.SIGTERM)
    while os.read(reader, 1 << 20):
        pass
    os.close(reader)

    assert await process.wait() == 2


def _ignores(process: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    (ignored,) = (line for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(ignored.split()[1], 16) & 1 << number - 1)
