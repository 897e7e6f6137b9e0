"""What rules decide without a person: a line in the log, and in the audit by a setting."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from support.outbox import next_request

from sayso import Chain, Gate, Policy, Rule, RulePolicy, RunRef, ToolCall
from sayso.agent.tools.wrap import LocalGate
from sayso.clock import utc_now
from sayso.digests import arguments_digest, short_digest
from sayso.errors import StoreUnreachableError
from sayso.stores.audit import Facts
from sayso.stores.backend import Backend
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.records import Records
from sayso.testing import a_request, a_response, a_rule

RUN = RunRef("deploy-bot", "s-1")
SECRET = "what nobody is to read"
CALL = ToolCall("bash", {"command": SECRET}, call_id="c-1")
DIGEST = arguments_digest(CALL.arguments)
RULES = RulePolicy(
    allow=[Rule("bash")], deny=[Rule("format_disk")], denied_call_ids={"c-9": "stopped"}
)


@asynccontextmanager
async def a_gate(
    backend: Backend, policy: Policy = RULES, *, audit_rules: bool = False
) -> AsyncIterator[Gate]:
    async with Gate.open(
        backend, run=RUN, policy=policy, timeout=20, audit_rules=audit_rules
    ) as gate:
        yield gate


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "sayso.agent.unasked" and record.levelno == logging.INFO
    ]


async def test_what_rules_decide_is_logged_on_one_line_with_the_digest_and_no_value(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with a_gate(backend) as gate:
            await gate.check(CALL)
            await gate.check(ToolCall("format_disk", {"disk": SECRET}))
            await gate.check(replace(CALL, call_id="c-9"))

    told = lines(caplog)
    assert told[0] == (
        "bash is allowed by allow rule 1 (agent deploy-bot, session s-1, "
        f"digest {short_digest(DIGEST)})"
    )
    assert [line.partition(" (")[0] for line in told] == [
        "bash is allowed by allow rule 1",
        "format_disk is denied by deny rule 1",
        "bash is denied by denied call id",
    ]
    assert SECRET not in caplog.text
    assert all("\n" not in line for line in told)


async def test_a_name_of_a_tool_cannot_write_a_line_of_its_own_into_the_log(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with a_gate(backend, RulePolicy(default="allow")) as gate:
            await gate.check(ToolCall("x\nformat_disk is allowed by alice\x1b[31m" + "y" * 999))

    (line,) = lines(caplog)
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 400


async def test_what_a_person_decides_is_not_logged_as_decided_by_rules(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with a_gate(backend, RulePolicy()) as gate:
            waiting = asyncio.create_task(gate.check(CALL))
            request = await next_request(backend)
            await backend.store.settle(request.permission_id, request.deny(by="app:eve"))
            assert not (await waiting).approved

    assert lines(caplog) == []


async def test_a_denial_that_comes_after_a_persons_yes_is_logged_too(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with a_gate(backend, RulePolicy()) as gate:
            waiting = asyncio.create_task(gate.check(CALL))
            request = await next_request(backend)
            gate.deny_call("c-1", reason="stopped")
            await backend.store.settle(request.permission_id, request.approve(by="app:eve"))
            assert not (await waiting).approved

    assert [line.partition(" (")[0] for line in lines(caplog)] == [
        "bash is denied by denied call id"
    ]


async def test_by_setting_what_rules_decide_is_audited_with_the_digest(backend: Backend) -> None:
    async with a_gate(backend, audit_rules=True) as gate:
        await gate.check(CALL)
        await gate.submit(ToolCall("format_disk", {"disk": SECRET}))
        await gate.check_batch([replace(CALL, call_id="c-9")])

    entries = await backend.audit.read(9)
    assert [(one.kind, one.subject, one.reason) for one in entries] == [
        ("rule_allowed", "bash", "allow rule 1"),
        ("rule_denied", "format_disk", "deny rule 1"),
        ("rule_denied", "bash", "denied call id"),
    ]
    assert entries[0].digest == DIGEST
    assert {(one.agent_id, one.session_id) for one in entries} == {("deploy-bot", "s-1")}
    assert SECRET not in str(entries)


async def test_the_use_of_a_remembered_rule_is_audited_once_whatever_the_setting(
    backend: Backend,
) -> None:
    request, rule = a_request(tool="ls", run=RUN), replace(a_rule(), rule=Rule("ls"))
    await backend.store.open(request, seconds=20, inbox="", book=None)
    await backend.store.settle(request.permission_id, a_response(request), remember=rule)

    async with a_gate(backend, RulePolicy(), audit_rules=True) as gate:
        verdict = await gate.check(ToolCall("ls"))

    assert verdict.rule_id == rule.rule_id
    used = [one.kind for one in await backend.audit.read(9)][-2:]
    assert used == ["rule_stored", "rule_used"]


async def test_what_is_emitted_and_denied_is_logged_too(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with a_gate(backend) as gate:
            await gate.emit(a_request(tool="format_disk", run=RUN))

    assert [line.partition(" (")[0] for line in lines(caplog)] == [
        "format_disk is denied by deny rule 1"
    ]


async def test_without_the_setting_what_rules_decide_is_not_audited(backend: Backend) -> None:
    async with a_gate(backend) as gate:
        await gate.check(CALL)

    assert await backend.audit.read(9) == []


async def test_what_is_changed_and_allowed_is_audited_as_it_runs(backend: Backend) -> None:
    def rewrites(call: ToolCall, context: object) -> dict[str, str]:
        return {"command": "ls"}

    async with a_gate(backend, Chain(rewrites, RULES), audit_rules=True) as gate:
        await gate.check(CALL)

    (entry,) = await backend.audit.read(9)
    assert entry.digest == arguments_digest({"command": "ls"})


class AwayAudit(MemoryAudit):
    """An audit that cannot be written."""

    async def note(self, facts: Facts) -> None:
        raise StoreUnreachableError("away")


async def test_what_must_be_audited_and_cannot_be_is_not_allowed_and_a_denial_stays_one(
    backend: Backend,
) -> None:
    async with a_gate(
        replace(backend, audit=AwayAudit(Records(utc_now), utc_now)), audit_rules=True
    ) as gate:
        with pytest.raises(StoreUnreachableError):
            await gate.check(CALL)
        assert not (await gate.check(ToolCall("format_disk"))).approved


async def test_what_a_policy_decides_without_a_gate_is_logged_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        assert (await LocalGate(RulePolicy(default="allow")).check(CALL)).approved

    assert [line.partition(" (")[0] for line in lines(caplog)] == ["bash is allowed by default"]
