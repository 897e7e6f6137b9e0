"""Whatever goes wrong in the hook is a denial, or exit code 2: nothing else stops a call."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from support.hooked import Machine, decision, ended, event, until_asked

from sayso import Outcome
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import a_response
from sayso.testing.builders import PATIENCE_SECONDS


async def _question(backend: Backend) -> str:
    """The id of the open question, as soon as there is one."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (waiting := await backend.store.list_requests()):
            await asyncio.sleep(0.02)
    return waiting[0].request.question_id


async def _outcome(backend: Backend, question: str) -> Outcome | None:
    record = await backend.store.get(question)
    assert record is not None
    return None if record.ending is None else record.ending.outcome


async def test_a_policy_answers_without_anybody(machine: Machine) -> None:
    allowed, denied = await asyncio.gather(machine.hook(event("read")), machine.hook(event("rm")))

    assert (allowed.code, decision(allowed)[0]) == (0, "allow")
    assert (denied.code, decision(denied)[0]) == (0, "deny")
    assert "deny rule 1" in decision(denied)[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_withdraws_the_question_and_is_a_denial(
    machine: Machine, store: Backend, number: signal.Signals
) -> None:
    async with machine.started("hook", "claude-code") as process:
        assert process.stdin is not None
        process.stdin.write(event("write"))
        process.stdin.close()
        question = await _question(store)
        process.send_signal(number)
        done = await ended(process)

    assert (done.code, decision(done)[0]) == (0, "deny")
    assert await _outcome(store, question) is Outcome.CANCELLED


async def test_a_call_is_asked_about_once_however_often_its_hook_is_started(
    machine: Machine, store: Backend
) -> None:
    first = asyncio.create_task(machine.hook(event("write", "toolu_7", path="a")))
    question = await _question(store)
    record = await store.store.get(question)
    assert record is not None
    assert isinstance(record.request, PermissionRequestEvent)
    await store.store.settle(question, a_response(record.request))
    done = await first
    again = await machine.hook(event("write", "toolu_7", path="a"))
    other = await machine.hook(event("write", "toolu_7", path="b"))

    assert (decision(done)[0], decision(again)[0]) == ("allow", "allow")
    assert decision(other)[0] == "deny"
    assert await store.store.list_requests() == []


async def test_a_kept_approval_answers_no_call_of_the_same_id_in_another_folder(
    machine: Machine, store: Backend
) -> None:
    here = event("write", text="x")
    for given in (here, here.replace(b"/work/shop", b"/work/bank")):
        async with machine.started("hook", "claude-code") as process:
            assert process.stdin is not None
            process.stdin.write(given)
            process.stdin.close()
            request = await until_asked(store)
            await store.store.settle(request.question_id, a_response(request))
            assert decision(await ended(process))[0] == "allow"

    assert len({entry.question_id for entry in await store.audit.read(50)}) == 2


async def test_an_answer_that_nobody_reads_any_more_withdraws_the_question(
    machine: Machine, store: Backend
) -> None:
    reader, writer = os.pipe()
    async with machine.started("hook", "claude-code", stdout=writer) as process:
        os.close(writer)
        assert process.stdin is not None
        process.stdin.write(event("write"))
        process.stdin.close()
        question = await _question(store)
        os.close(reader)
        async with asyncio.timeout(PATIENCE_SECONDS):
            code = await process.wait()

    assert code == 2
    assert await _outcome(store, question) is Outcome.CANCELLED


async def test_an_answer_that_cannot_be_written_is_exit_code_2(machine: Machine) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    async with machine.started("hook", "claude-code", stdout=full) as process:
        os.close(full)
        done = await ended(process, event("read"))

    assert done.code == 2


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", event("read")[:-9], b"[]"])
async def test_what_is_no_event_is_exit_code_2(machine: Machine, text: bytes) -> None:
    done = await machine.hook(text)

    assert (done.code, done.out) == (2, "")
    assert "not an event of a tool call" in done.err


@pytest.mark.parametrize(
    "options",
    [
        ("--config", "sayso.toml"),
        ("--config", "/no/such/file.toml"),
        ("--store", "memory://"),
        ("--timeout", "soon"),
        ("--patience", "-1"),
        ("--no-such-option",),
        ("--timeout",),
        ("more",),
    ],
    ids=str,
)
async def test_wrong_options_and_settings_are_a_denial(
    machine: Machine, options: tuple[str, ...]
) -> None:
    done = await machine.hook(event("read"), *options)

    assert (done.code, decision(done)[0]) == (0, "deny")


async def test_settings_that_are_broken_are_a_denial_that_says_where(machine: Machine) -> None:
    (machine.folder / "sayso.toml").write_text("[[policy]]\nallow = 7\n")

    done = await machine.hook(event("read"))

    assert decision(done)[0] == "deny"
    assert "allow" in decision(done)[1]


async def test_a_store_that_is_away_is_a_denial_after_its_patience(machine: Machine) -> None:
    nowhere = ("--store", "redis://127.0.0.1:1", "--patience", "100ms")

    done = await machine.hook(event("read"), *nowhere)

    assert decision(done)[0] == "deny"
    assert "127.0.0.1:1" in decision(done)[1]


async def test_a_question_ends_before_the_time_that_claude_code_gives(machine: Machine) -> None:
    done = await machine.hook(event("write"), "--timeout", "3s")

    assert decision(done)[0] == "deny"
    assert "in time" in decision(done)[1]


async def test_what_our_code_prints_is_no_part_of_the_answer(
    machine: Machine, tmp_path: Path
) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "redis.py").write_text("print('hello')\nraise ImportError('not here')\n")

    done = await machine.hook(event("read"), PYTHONPATH=str(extra))

    assert decision(done)[0] == "deny"
    assert "hello" in done.err


@pytest.mark.parametrize(
    "raised", ["RuntimeError('no')", "MemoryError", "SystemExit(0)", "KeyboardInterrupt"]
)
async def test_whatever_our_code_raises_is_a_denial(
    machine: Machine, tmp_path: Path, raised: str
) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "pydantic.py").write_text(f"raise {raised}\n")

    done = await machine.hook(event("read"), PYTHONPATH=str(extra))

    assert (done.code, decision(done)[0]) == (0, "deny")


async def test_codex_is_answered_in_its_own_form(machine: Machine) -> None:
    yes = await machine.run("hook", "codex", text=event("read"))
    no = await machine.run("hook", "codex", text=event("rm"))
    broken = await machine.run("hook", "codex", text=b"{")

    assert (yes.code, yes.out) == (0, "{}\n")
    assert (no.code, no.out) == (2, "")
    assert "deny rule 1" in no.err
    assert (broken.code, broken.out, bool(broken.err)) == (2, "", True)
