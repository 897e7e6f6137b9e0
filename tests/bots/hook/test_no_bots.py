"""A question that nobody can see, since no bots run, says so: early, at its end, and at install."""

from __future__ import annotations

import asyncio
import os

from support.hooked import Install, Machine, decision, ended, event, until_asked

from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.testing import a_response
from sayso.testing.builders import PATIENCE_SECONDS
from sayso.worker.worker import attending
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.config.store_settings import read_ask_settings
from sayso_bots.hook.agents import CLAUDE_CODE
from sayso_bots.hook.asking import answer_event
from sayso_bots.hook.events import read_event

NOBODY = "no bots are running on this store"


async def test_a_hook_says_while_it_waits_that_nobody_can_see_its_question(
    machine: Machine, store: Backend
) -> None:
    async with machine.started("hook", "claude-code") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(event("write"))
        process.stdin.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            early = (await process.stderr.readline()).decode()
        request = await until_asked(store)
        await store.store.settle(request.question_id, a_response(request))
        done = await ended(process)

    assert early.startswith("Sayso: ")
    assert NOBODY in early
    assert (decision(done)[0], done.err) == ("allow", "")


async def denial(backend: Backend) -> tuple[str, list[str]]:
    """Why the call may not run where its time is over, and what was said before."""
    settings = read_ask_settings(os.devnull, {})
    said = read_event(event("write").decode(), CLAUDE_CODE)
    early: list[str] = []
    last = await answer_event(
        said, AskService(backend, settings, Requester("agent", 1.5, 1), "hook"), early.append
    )
    assert not last.was_asked
    output = last.answer["hookSpecificOutput"]
    assert output["permissionDecision"] == "deny"
    return str(output["permissionDecisionReason"]), early


async def test_the_denial_after_its_time_says_that_nobody_could_see_the_question() -> None:
    async with (
        memory_backend() as empty,
        memory_backend() as attended,
        attending(attended.outbox, "a desk"),
    ):
        (unseen, early), (seen, before) = await asyncio.gather(denial(empty), denial(attended))

    assert f"nobody answered in time. It did not run. {NOBODY.capitalize()}" in unseen
    assert len(early) == 1
    assert NOBODY not in seen.lower()
    assert before == []


async def test_ask_says_so_at_its_end_where_it_was_told_to_be_quiet(machine: Machine) -> None:
    done = await machine.run("ask", "write", "--timeout", "1s", "--quiet")

    assert done.code == 3
    assert NOBODY in done.err


async def test_whoever_installs_a_hook_is_told_that_no_bots_run_or_that_the_store_is_away(
    install: Install, store: Backend, store_url: str
) -> None:
    unseen = await asyncio.to_thread(install, SAYSO_STORE_URL=store_url)
    async with attending(store.outbox, "a desk"):
        seen = await asyncio.to_thread(install, SAYSO_STORE_URL=store_url)
    away = await asyncio.to_thread(install, "--store", "redis://127.0.0.1:1")

    assert [done.code for done in (unseen, seen, away)] == [0, 0, 0]
    assert NOBODY in unseen.err
    assert NOBODY not in seen.err
    assert "127.0.0.1:1" in away.err
