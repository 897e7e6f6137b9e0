"""`sayso demo`: everything in one process, played by itself or by a person at its page."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import aiohttp
from support.commands import Process, process


async def test_it_plays_by_itself_and_all_outcomes_are_right() -> None:
    async with process("demo", "--headless", env={}) as demo:
        done = await demo.ended()

    assert (done.code, done.err) == (0, ""), done.out
    assert "WRONG" not in done.out
    assert done.out.count("\n  ok ") > 20
    assert done.out.splitlines()[-1] == "All outcomes are as they should be."


async def test_a_person_presses_on_its_page_and_ends_it_with_ctrl_c() -> None:
    async with process("demo", env={}) as demo, aiohttp.ClientSession() as session:
        url = (await _line(demo, "http://")).strip()
        asked = await _line(demo, "may I use read_file?")
        page = await session.get(url)
        picture = await (await session.get(f"{url}/api/state")).json()
        demo.process.send_signal(signal.SIGINT)
        done = await demo.ended()

    assert asked.startswith("[agent]")
    assert page.status == 200
    assert picture
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("The demo has ended.\n")


async def test_a_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        async with process("demo", "--headless", "--port", port, env={}) as demo:
            done = await demo.ended()

    assert (done.code, done.out) == (2, "")
    assert done.err == f"sayso: port {port} is in use; choose another one with --port\n"


def test_all_that_is_not_installed_is_named_at_once() -> None:
    code = (
        "import sys; sys.modules['slack_bolt'] = sys.modules['telegram'] = None; "
        "from sayso_bots.cli.main import main; sys.exit(main(['demo'], {}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sayso: the demo needs what is not installed here (slack-bolt, python-telegram-bot): "
        "in Sayso's source tree `pip install '.[bots]' ./playground`, elsewhere install Sayso "
        "with its extra `demo`\n"
    )


async def _line(demo: Process, text: str) -> str:
    assert demo.process.stdout is not None
    while line := (await demo.process.stdout.readline()).decode():
        if text in line:
            return line
    raise AssertionError(f"the demo never said {text!r}")
