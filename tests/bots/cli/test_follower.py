"""What `sayso ask` shows of a question while it waits."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from support.chat_double import ChatDouble, press_on, working
from support.commands import ROUTES, Run, env_of, process, served

from sayso import CheckResult, Gate, RunRef, ToolCall
from sayso.chats.places import Place
from sayso.stores.backend import Backend
from sayso.stores.memory.backend import memory_backend
from sayso.testing import until
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker
from sayso_bots.cli.ask_progress import (
    Asked,
    Bots,
    Pressed,
    Routed,
    Screen,
    Stands,
    as_json,
    following,
    in_words,
)
from sayso_playground import Playground

RUN = RunRef("deploy-bot", "s-1")
OPS, PHONE = Place("slack", "C0OPS"), Place("telegram", "-1001")
DESK_ROUTES = Routes(
    [Route((OPS, PHONE), approvers=("alice",))], {"alice": frozenset({"slack:U0ALICE"})}
)
CALL = ToolCall("bash", {"command": "ls", "text": "y" * 5_000})


def named(actor: str) -> str:
    return f"Alice ({actor})" if actor == "slack:U0ALICE" else actor


@dataclass
class Waiting:
    """A question that waits, and what is shown of it."""

    backend: Backend
    stream: io.StringIO
    verdict: asyncio.Task[CheckResult]

    async def shows(self, text: str) -> None:
        async def is_there() -> bool:
            return text in self.stream.getvalue()

        await until(is_there)

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@asynccontextmanager
async def waiting(*, json_lines: bool = False, live: bool = False) -> AsyncIterator[Waiting]:
    stream = io.StringIO()
    screen = Screen(stream, name=named, json_lines=json_lines, live=live)
    async with (
        memory_backend() as backend,
        following(backend, RUN, screen) as observe,
        Gate.open(backend, run=RUN, observe=observe, timeout=timedelta(minutes=10)) as gate,
    ):
        verdict = asyncio.create_task(gate.check(CALL))
        yield Waiting(backend, stream, verdict)
        verdict.cancel()
        await asyncio.gather(verdict, return_exceptions=True)


async def test_the_way_of_a_question_is_told_line_by_line() -> None:
    chat = ChatDouble()
    async with waiting() as one:
        await one.shows("no bots are running on this store; `sayso serve` starts them")
        async with working(
            ApprovalWorker(one.backend, [chat, ChatDouble("telegram")], DESK_ROUTES)
        ) as desk:
            ref, card = await chat.card_where()
            await one.shows("the card stands in telegram:-1001")
            for choice, by in (
                ("deny", "slack:U0MALLORY"),
                ("deny", "slack:U0MALLORY"),
                ("show", "slack:U0ALICE"),
                ("deny-reason", "slack:U0ALICE"),
            ):
                await desk.press(press_on(ref, card, choice, by=by))
            await one.shows("filling in a form")
            await one.shows("bots are running now")

    assert one.lines[0].startswith("sayso: asked as ")
    assert one.lines[0].endswith(", open for 10m")
    assert sorted(one.lines[2:]) == [
        "sayso: Alice (slack:U0ALICE) is filling in a form for Deny with a reason… in slack:C0OPS",
        "sayso: Alice (slack:U0ALICE) is looking at all of it in slack:C0OPS",
        "sayso: alice may answer",
        "sayso: bots are running now",
        "sayso: slack:U0MALLORY pressed Deny in slack:C0OPS and may not answer",
        "sayso: the card stands in slack:C0OPS",
        "sayso: the card stands in telegram:-1001",
    ]


async def test_a_terminal_has_one_live_line_that_says_where_it_stands() -> None:
    chat = ChatDouble()
    async with (
        waiting(live=True) as one,
        working(ApprovalWorker(one.backend, [chat, ChatDouble("telegram")], DESK_ROUTES)),
    ):
        await one.shows("left · in slack:C0OPS, telegram:-1001 · alice may answer")

    shown = one.stream.getvalue()
    assert "the card stands" not in shown
    assert "Ctrl-C withdraws it" in shown
    assert shown.endswith("\r\x1b[K")


def test_the_live_line_shows_what_is_invisible() -> None:
    stream = io.StringIO()
    screen = Screen(stream, name=named, live=True)

    screen.show(Stands("terminal:\x1b[2Jhere\nthere"))
    screen.tick(60)

    assert stream.getvalue() == "\r\x1b[K1m left · in terminal:⟨U+001B⟩[2Jhere⏎there"


async def test_with_json_each_line_is_an_object() -> None:
    async with waiting(json_lines=True, live=True) as one:
        await one.shows("bots")

    events = [json.loads(line) for line in one.lines]
    assert [event["event"] for event in events] == ["asked", "bots"]
    assert set(events[0]) == {"event", "requestId", "secondsLeft"}
    assert events[1] == {"event": "bots", "running": False}


class BrokenStream(io.StringIO):
    """A terminal that is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


async def test_a_screen_that_is_gone_does_not_keep_a_question_from_being_answered() -> None:
    chat = ChatDouble()
    screen = Screen(BrokenStream(), name=named, live=True)
    async with (
        memory_backend() as backend,
        working(ApprovalWorker(backend, [chat, ChatDouble("telegram")], DESK_ROUTES)) as desk,
        following(backend, RUN, screen) as observe,
        Gate.open(backend, run=RUN, observe=observe) as gate,
    ):
        verdict = asyncio.create_task(gate.check(CALL))
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "deny", by="slack:U0ALICE"))

        assert not (await verdict).approved


def test_words_and_json_of_each_thing_that_happens() -> None:
    pressed = Pressed("refused", "slack:U\u202e", "slack:C0OPS", "Allow\n")

    assert in_words(pressed, named) == (
        "slack:U⟨U+202E⟩ pressed Allow⏎ in slack:C0OPS and may not answer"
    )
    assert in_words(Routed(("slack:C0OPS",), ()), named) == "NOBODY may answer"
    assert [as_json(one)["event"] for one in (
        Asked("q-1", 2.0), Bots(running=True), Routed((), ()), Stands("slack:C0OPS"), pressed,
    )] == ["asked", "bots", "routed", "card_stands", "refused"]  # fmt: skip


async def test_a_question_from_a_script_says_where_it_stands(
    playground: Playground, store_url: str, tmp_path: Path
) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(ROUTES)
    env = {**env_of(playground), "SAYSO_STORE_URL": store_url, "SAYSO_CONFIG": str(config)}

    async with process("ask", "bash", "--arg", "command=ls", env=env) as asking:
        await asking.line_with("no bots are running on this store")
        async with served(playground, config, env):
            await asking.line_with("the card stands in")
            await asking.line_with("the card stands in")
            card = playground.slack.messages()[-1]
            await playground.slack.press(card, "Allow", by="mallory")
            await asking.line_with("slack:U0MALLORY pressed Allow in slack:C0OPS and may not")
            await playground.slack.press(card, "Allow", by="alice")
            done = await asking.ended()

    assert (done.code, done.out) == (0, "approved by alice (slack:U0ALICE)\n")


def _terminal(store_url: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "SAYSO_STORE_URL": store_url, "TERM": "xterm"}


async def test_a_terminal_is_left_as_it_was(
    store_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    screen, tty = pty.openpty()
    env = _terminal(store_url)
    asking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sayso_bots", "ask", "bash", "--timeout", "1.5s"),
        env=env,
        cwd=tmp_path,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=tty,
    )
    os.close(tty)
    out, _ = await asking.communicate()
    shown = _all_of(lambda: os.read(screen, 4096))
    os.close(screen)

    assert (asking.returncode, out) == (3, b"expired\n")
    assert "1s left" in shown
    *_, last = shown.split("\x1b[K")
    assert last == "sayso: expired: nobody answered in time\r\n"


async def test_a_terminal_is_told_once_that_nobody_answered(store_url: str, tmp_path: Path) -> None:
    screen, tty = pty.openpty()
    env = _terminal(store_url)
    asking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sayso_bots", "ask", "bash", "--timeout", "0.2s"),
        env=env,
        cwd=tmp_path,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=tty,
        stderr=tty,
    )
    os.close(tty)
    await asking.wait()
    shown = _all_of(lambda: os.read(screen, 4096))
    os.close(screen)

    assert asking.returncode == 3
    assert shown.endswith("\x1b[Ksayso: expired: nobody answered in time\r\n")
    assert shown.count("expired") == 1


def _all_of(read: Callable[[], bytes]) -> str:
    seen = b""
    try:
        while more := read():
            seen += more
    except OSError:  # nobody has the other end any more
        pass
    return seen.decode()


def test_quiet_says_the_verdict_and_why_nobody_could_answer(run: Run, store_url: str) -> None:
    env = {"SAYSO_STORE_URL": store_url}

    done = run("ask", "x", "--timeout", "0.2s", "--quiet", env=env)

    assert (done.code, done.out) == (3, "expired\n")
    assert done.err == (
        "sayso: no bots are running on this store; `sayso serve` starts them\n"
        "sayso: expired: nobody answered in time\n"
    )


def test_what_a_rule_decides_says_nothing_of_bots(run: Run, store_url: str) -> None:
    toml, env = '[policy]\ndefault = "allow"\n', {"SAYSO_STORE_URL": store_url}

    done = run("ask", "x", toml=toml, env=env)

    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_pending_and_show_say_that_no_bots_run(
    extra: tuple[str, ...], run: Run, store_url: str
) -> None:
    env = {"SAYSO_STORE_URL": store_url}

    done = run("pending", *extra, env=env)

    assert done.code == 0
    assert done.err == "sayso: no bots are running on this store; `sayso serve` starts them\n"
