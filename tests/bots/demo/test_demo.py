"""`sayso demo`: everything in one process, played by itself or by a person at its page."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest
from support.commands import ROUTES, Process, env_of, process, served

from sayso.testing import until
from sayso.text.secrets import without_login
from sayso_playground import Playground


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


async def test_an_agent_of_ones_own_is_answered_on_its_page(store_url: str) -> None:
    env = {"SAYSO_STORE_URL": store_url}
    async with process("demo", "--store", store_url, env={}) as demo:
        url = (await _line(demo, "http://")).strip()
        shown = await _line(demo, "Questions of agents on")
        async with (
            process("ask", "deploy", "--timeout", "30s", env=env) as asking,
            aiohttp.ClientSession() as session,
        ):
            press = await _press_allow(session, url)
            asked = await asking.ended()
        demo.process.send_signal(signal.SIGINT)
        done = await demo.ended()

    assert press == 200
    assert (asked.code, asked.out) == (0, "approved by telegram:4242\n")
    assert (done.code, done.err) == (0, "")
    # The demo's own agent does not play.
    assert "[agent]" not in done.out
    assert without_login(store_url) in shown


async def test_it_does_not_answer_for_bots_that_serve(
    playground: Playground, tmp_path: Path, store_url: str
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    async with (
        served(playground, config, env_of(playground, SAYSO_STORE_URL=store_url)),
        process("demo", "--store", store_url, env={}) as demo,
    ):
        done = await demo.ended()

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sayso: --store: bots serve redis://")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("store", "code", "said"),
    [
        ("memory://", 2, "--store: memory:// serves one process"),
        ("localhost:6379", 2, "--store is not the address of a store"),
        ("redis://127.0.0.1:1/0", 4, "no Redis answers at 127.0.0.1:1"),
    ],
)
async def test_a_store_that_does_not_work_is_one_line(store: str, code: int, said: str) -> None:
    async with process("demo", "--store", store, env={}) as demo:
        done = await demo.ended()

    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1


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


async def _press_allow(page: aiohttp.ClientSession, url: str) -> int:
    """Press Allow in Telegram as Alice, as soon as a card offers it; the status of the press."""
    presses: list[dict[str, object]] = []

    async def is_offered() -> bool:
        picture = await (await page.get(f"{url}/api/state")).json()
        for message in picture["telegram"]["messages"]:
            for key in (key for row in message["rows"] for key in row):
                if key["text"] == "Allow":
                    place = {"chat": message["chat"], "message_id": message["id"]}
                    presses.append({**place, "data": key["callback_data"], "by": "alice"})
        return bool(presses)

    await until(is_offered)
    async with page.post(f"{url}/api/telegram/press", json=presses[0]) as answer:
        return answer.status


async def _line(demo: Process, text: str) -> str:
    assert demo.process.stdout is not None
    while line := (await demo.process.stdout.readline()).decode():
        if text in line:
            return line
    raise AssertionError(f"the demo never said {text!r}")
