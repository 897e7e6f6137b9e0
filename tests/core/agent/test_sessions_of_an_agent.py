"""One bot in several sessions: each with its own questions, rules and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from sayso import (
    ConfigError,
    Gate,
    Orchestrator,
    Outcome,
    RequestNotFoundError,
    Rule,
    RulePolicy,
    RunRef,
    ToolCall,
)
from sayso.events import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import soon

MORNING, EVENING = RunRef("bot", "morning"), RunRef("bot", "evening")
CALL = ToolCall("bash", {"command": "ls"})


@pytest.fixture
async def orchestrator(backend: Backend) -> AsyncIterator[Orchestrator]:
    async with Orchestrator.open(backend) as orchestrator:
        yield orchestrator


async def submitted(gate: Gate) -> str:
    question_id = await gate.submit(CALL)
    assert isinstance(question_id, str)
    return question_id


@pytest.mark.parametrize(
    "run", [RunRef("bot", "evening"), RunRef("other", "morning"), RunRef("other", "evening")]
)
async def test_cancel_withdraws_only_questions_of_its_own_session(
    backend: Backend, run: RunRef
) -> None:
    async with Gate.open(backend, run=MORNING) as mine, Gate.open(backend, run=run) as theirs:
        question_id = await submitted(mine)

        with pytest.raises(RequestNotFoundError) as refused:
            await theirs.cancel(question_id)
        with pytest.raises(RequestNotFoundError) as unknown:
            await theirs.resume(question_id)

        assert str(refused.value) == str(unknown.value)
        record = await backend.store.get(question_id)
        assert record is not None
        assert record.ending is None


async def test_any_gate_of_the_session_withdraws_its_questions(backend: Backend) -> None:
    on_a_branch = RunRef("bot", "morning", "experiment")
    async with (
        Gate.open(backend, run=MORNING) as mine,
        Gate.open(backend, run=on_a_branch) as another,
    ):
        ending = await another.cancel(await submitted(mine), reason="not needed")

    assert (ending.outcome, ending.reason) == (Outcome.CANCELLED, "not needed")


async def test_one_orchestrator_holds_one_bot_in_several_sessions(
    orchestrator: Orchestrator,
) -> None:
    gates = [orchestrator.add(run) for run in (MORNING, EVENING)]
    events = orchestrator.events()
    waiting = [asyncio.create_task(gate.check(CALL)) for gate in gates]
    for _ in gates:
        agent_id, event = await soon(events)
        assert agent_id == "bot"
        assert isinstance(event, PermissionRequestEvent)
        in_the_morning = event.run.session_id == "morning"
        await orchestrator.resolve(event.permission_id, approved=in_the_morning, by="app:eve")

    assert [(await one).approved for one in waiting] == [True, False]


async def test_a_branch_of_a_session_is_there_once(orchestrator: Orchestrator) -> None:
    orchestrator.add(MORNING)
    orchestrator.add(RunRef("bot", "morning", "experiment"))

    with pytest.raises(ConfigError, match="'bot' has been added already on branch 'main'"):
        orchestrator.add(RunRef("bot", "morning"))


async def test_an_agent_is_named_by_its_id_in_all_sessions_or_by_a_run_in_one(
    orchestrator: Orchestrator,
) -> None:
    morning, evening = orchestrator.add(MORNING), orchestrator.add(EVENING)
    orchestrator.update_permissions("bot", deny=[Rule("bash")])
    assert [(await gate.check(CALL)).approved for gate in (morning, evening)] == [False, False]

    orchestrator.update_permissions(EVENING, allow=[Rule("bash")], deny=[])
    assert (await evening.check(CALL)).line == "updated allow rule 1"
    assert (await morning.check(CALL)).line == "updated deny rule 1"
    assert orchestrator.permissions_of(MORNING).deny == (Rule("bash"),)
    with pytest.raises(ConfigError, match="different permissions"):
        orchestrator.permissions_of("bot")

    await orchestrator.remove(EVENING)
    assert orchestrator.permissions_of("bot").deny == (Rule("bash"),)
    with pytest.raises(RequestNotFoundError):
        orchestrator.permissions_of(EVENING)
    await orchestrator.remove("bot")
    with pytest.raises(RequestNotFoundError):
        orchestrator.permissions_of("bot")


async def test_a_session_that_was_removed_is_answered_here_no_more(
    orchestrator: Orchestrator,
) -> None:
    gates = {run: orchestrator.add(run) for run in (MORNING, EVENING)}
    asked = {run: await submitted(gate) for run, gate in gates.items()}
    await orchestrator.remove(EVENING)

    with pytest.raises(RequestNotFoundError):
        await orchestrator.resolve(asked[EVENING], approved=True, by="app:eve")
    await orchestrator.resolve(asked[MORNING], approved=True, by="app:eve")


async def test_update_permissions_knows_allow_once(orchestrator: Orchestrator) -> None:
    gate = orchestrator.add(MORNING)
    orchestrator.update_permissions("bot", allow_once=[Rule("bash")])

    first = await gate.check(CALL)
    assert first.line == "updated allow-once rule 1"
    assert orchestrator.permissions_of("bot").allow_once == ()
    assert (await gate.check(CALL, timeout=0.2)).outcome is Outcome.EXPIRED

    # Given again, it may be used again.
    orchestrator.update_permissions("bot", allow_once=[Rule("bash")])
    assert (await gate.check(CALL)).approved


async def test_of_many_checks_at_once_one_has_what_an_update_allows_once(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(MORNING)
    orchestrator.update_permissions("bot", allow_once=[Rule("bash")])

    verdicts = await asyncio.gather(*(gate.check(CALL, timeout=0.5) for _ in range(9)))

    assert [verdict.approved for verdict in verdicts].count(True) == 1


async def test_an_updated_allow_once_never_comes_before_a_denial(
    orchestrator: Orchestrator,
) -> None:
    gate = orchestrator.add(MORNING, policy=RulePolicy(deny=[Rule("bash", {"command": "rm *"})]))
    orchestrator.update_permissions("bot", allow_once=[Rule("bash")])

    assert not (await gate.check(ToolCall("bash", {"command": "rm x"}))).approved
    assert (await gate.check(CALL)).approved


async def test_the_permissions_of_an_agent_begin_with_what_it_was_given(
    orchestrator: Orchestrator,
) -> None:
    given = RulePolicy(
        allow=[Rule("read")],
        allow_once=[Rule("deploy")],
        deny=[Rule("format_disk")],
        denied_call_ids={"c-1": "stopped"},
    )
    gate = orchestrator.add(MORNING, policy=given)

    now = orchestrator.permissions_of("bot")
    assert now.allow == (Rule("read"),)
    assert now.allow_once == (Rule("deploy"),)
    assert now.deny == (Rule("format_disk"),)
    assert now.denied_call_ids == {"c-1": "stopped"}

    # Extended by what is read: nothing is there twice, and nothing that was given is lost.
    orchestrator.update_permissions(
        "bot", allow=[*now.allow, Rule("list")], allow_once=now.allow_once, deny=()
    )
    later = orchestrator.permissions_of("bot")
    assert later.allow == (Rule("read"), Rule("list"))
    assert later.deny == (Rule("format_disk"),)
    assert (await gate.check(ToolCall("deploy"))).line == "allow-once rule 1"
    assert orchestrator.permissions_of("bot").allow_once == ()
    assert (await gate.check(ToolCall("deploy"), timeout=0.2)).outcome is Outcome.EXPIRED
