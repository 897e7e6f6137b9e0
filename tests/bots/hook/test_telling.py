"""How a call went that a person was asked about is told; of no other is anything sent."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.codex import codex_event
from support.hooked import Install, Machine, ended, event, until, until_asked

from sayso.calls import RunRef, new_id
from sayso.clock import utc_now
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Use
from sayso.testing import a_request
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.hook import noted
from sayso_bots.hook.agents import CLAUDE_CODE, CODEX
from sayso_bots.hook.asking import report_run
from sayso_bots.hook.events import Ran, read_ran
from sayso_bots.strict_json import MalformedMessageError

ANSWER = "an answer that is nobody's business"


def after(name: str = "PostToolUse", call_id: str = "toolu_1", **more: Any) -> bytes:
    """A call after it ran, as Claude Code tells of it."""
    said = json.loads(event("write", call_id, text="x")) | {"hook_event_name": name, **more}
    return json.dumps({**said, "tool_response": {"stdout": ANSWER}, "error": ANSWER}).encode()


async def used(backend: Backend, question_id: str) -> Use | None:
    record = await backend.store.get(question_id)
    assert record is not None
    return record.use


async def until_told(backend: Backend, question_id: str) -> Use:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (use := await used(backend, question_id)) is None or use.report is None:
            await asyncio.sleep(0.01)
    return use


async def approved(machine: Machine, store: Backend, hook: str = "claude-code") -> str:
    """A call that somebody was asked about and may run; the id of the question."""
    text = event("write", text="x") if hook == "claude-code" else codex_event(command="make")
    async with machine.started("hook", hook) as process:
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.close()
        request = await until_asked(store)
        await store.store.settle(request.question_id, request.approve(by="slack:U0ALICE"))
        assert (await ended(process)).code == 0
    return request.question_id


async def test_a_call_that_was_asked_about_is_told_of_once_it_ran(
    machine: Machine, store: Backend
) -> None:
    question_id = await approved(machine, store)

    done = await machine.hook(after())

    assert (done.code, done.out, done.err) == (0, "", "")
    use = await until_told(store, question_id)
    assert use.report is not None
    assert (use.report.went, use.report.note) == ("succeeded", "")
    entries = await store.audit.read(50)
    assert ANSWER not in str(entries)


async def test_an_approval_lets_no_call_run_after_the_one_that_ran(
    machine: Machine, store: Backend
) -> None:
    question_id = await approved(machine, store)
    again = await machine.hook(event("write", text="x"))
    await machine.hook(after())
    await until_told(store, question_id)

    for name in ("PreToolUse", "PermissionRequest"):
        said = json.loads(event("write", text="x")) | {"hook_event_name": name}
        done = await machine.hook(json.dumps(said).encode())
        assert "deny" in done.out
        assert "ran already" in done.out

    # Until it ran, the agent may ask as often as it likes.
    assert '"allow"' in again.out
    assert await store.store.list_requests() == []


async def test_a_call_that_failed_is_told_of_as_failed(machine: Machine, store: Backend) -> None:
    question_id = await approved(machine, store)

    await machine.hook(after("PostToolUseFailure"))

    use = await until_told(store, question_id)
    assert use.report is not None
    assert use.report.went == "failed"


async def test_codex_tells_of_a_call_that_ran(machine: Machine, store: Backend) -> None:
    question_id = await approved(machine, store, "codex")
    said = json.loads(codex_event(command="make")) | {"hook_event_name": "PostToolUse"}

    done = await machine.run("hook", "codex", text=json.dumps(said).encode())

    assert (done.code, done.out, done.err) == (0, "", "")
    assert (await until_told(store, question_id)).report is not None


@pytest.mark.parametrize("name", CLAUDE_CODE.outcomes)
async def test_of_a_call_that_needed_nobody_nothing_is_sent(machine: Machine, name: str) -> None:
    came: list[str] = []

    async def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append("somebody")
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        options = ("--store", f"redis://127.0.0.1:{port}")
        await machine.hook(event("read", text="x"))
        # Started afresh: a copy of a warm process cannot be told from others by its words.
        done = await machine.hook(after(name), *options, PYTHONUNBUFFERED="1")
        await until(lambda: not _working(port))

        assert (done.code, done.out, done.err) == (0, "", "")
        assert came == []
        # Of one that somebody was asked about it would have been seen here.
        noted.note(machine.env, "claude-code", "s-1", "toolu_1", "a-key")
        await machine.hook(after(name), *options)
        await until(lambda: came)


def _working(port: int) -> bool:
    """Whether a process works that was started with this port, whoever waits for it."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if f":{port}".encode() in (process / "cmdline").read_bytes():
                return True
    return False


async def test_a_store_that_is_away_holds_up_nobody_and_nobody_hears_of_it(
    machine: Machine, store: Backend
) -> None:
    await approved(machine, store)

    done = await machine.hook(after(), "--store", "redis://127.0.0.1:1")

    assert (done.code, done.out, done.err) == (0, "", "")


async def test_a_denied_call_leaves_no_note(machine: Machine, store: Backend) -> None:
    async with machine.started("hook", "claude-code") as process:
        assert process.stdin is not None
        process.stdin.write(event("write", text="x"))
        process.stdin.close()
        request = await until_asked(store)
        await store.store.settle(request.question_id, request.deny(by="slack:U0ALICE"))
        await ended(process)

    assert list((machine.folder / "sayso").glob("asked/*")) == []


async def test_only_an_approval_of_this_call_is_told_of() -> None:
    async with memory_backend() as backend:
        run = RunRef("claude-code", "s-1")
        for key, approves in (("toolu_1", True), ("toolu_2", False)):
            request = a_request(run=run).model_copy(update={"permission_id": new_id()})
            await backend.store.open(request, seconds=30, inbox="", book=None, key=key)
            answer = request.approve if approves else request.deny
            await backend.store.settle(request.question_id, answer(by="slack:U0ALICE"))

        for session, key in (("s-2", "toolu_1"), ("s-1", "toolu_2"), ("s-1", "toolu_9")):
            await report_run(Ran(session, key, "succeeded"), "claude-code", key, backend)
        await report_run(Ran("s-1", "toolu_1", "failed"), "somebody-else", "toolu_1", backend)
        found = await backend.store.get_by_key(run, "toolu_1")
        assert found is not None
        assert found.use is None

        await report_run(Ran("s-1", "toolu_1", "failed"), "claude-code", "toolu_1", backend)
        await report_run(Ran("s-1", "toolu_1", "succeeded"), "claude-code", "toolu_1", backend)

        use = await used(backend, found.request.question_id)
        assert use is not None
        assert use.at is not None
        assert use.at <= utc_now()
        assert use.report is not None
        assert use.report.went == "failed", "the first report counts"


def test_a_note_is_of_one_call_and_counts_once(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    noted.note(env, "claude-code", "s-1", "toolu_1", "a-key")

    assert not noted.take(env, "codex", "s-1", "toolu_1")
    assert not noted.take(env, "claude-code", "s-1", "toolu_2")
    assert noted.take(env, "claude-code", "s-1", "toolu_1") == "a-key"
    assert not noted.take(env, "claude-code", "s-1", "toolu_1")
    noted.note(env, "claude-code", "s-1", "", "a-key")
    assert not noted.take(env, "claude-code", "s-1", "")


def test_notes_say_nothing_are_the_users_own_and_do_not_pile_up(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    for number in range(noted.MOST + 20):
        noted.note(env, "claude-code", "a-session", f"toolu_{number}", "0" * 64)
    files = list(Path(tmp_path, "sayso", "asked").iterdir())

    assert len(files) == noted.MOST
    assert noted.take(env, "claude-code", "a-session", f"toolu_{noted.MOST + 19}")
    assert {file.read_text() for file in files if file.exists()} == {"0" * 64}
    assert not any("session" in file.name for file in files)
    assert files[0].parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("agent", [CLAUDE_CODE, CODEX])
def test_an_event_before_a_call_is_never_taken_for_one_after_it(agent: Any) -> None:
    for name in agent.events:
        assert read_ran(json.dumps({"hook_event_name": name}), agent) is None
    assert not {*agent.events} & {*agent.outcomes}
    with pytest.raises(MalformedMessageError):
        read_ran(json.dumps({"hook_event_name": "PostToolUse", "session_id": "s"}), agent)


def test_installing_writes_the_hooks_for_afterwards_and_undo_takes_them_out(
    install: Install, file: Path
) -> None:
    install("--store", "redis://there", "--matcher", "Bash|Edit")
    hooks = json.loads(file.read_text())["hooks"]

    assert list(hooks) == ["PreToolUse", "PostToolUse", "PostToolUseFailure"]
    for name in CLAUDE_CODE.outcomes:
        ((entry,),) = (hooks[name],)
        (hook,) = entry["hooks"]
        assert entry["matcher"] == "Bash|Edit"
        assert hook["command"].endswith(" || true")
        assert hook["timeout"] == 10
    assert install("--store", "redis://there", "--matcher", "Bash|Edit").out.endswith("already\n")
    install("--undo")
    assert json.loads(file.read_text()) == {}


def test_where_the_agent_asks_by_itself_nothing_is_written_for_afterwards(
    install: Install, file: Path
) -> None:
    install("--store", "redis://there", "--event", "PermissionRequest")

    assert list(json.loads(file.read_text())["hooks"]) == ["PermissionRequest"]
