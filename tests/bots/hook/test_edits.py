"""Arguments that somebody changed run as they were approved, or not at all."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest
from support.hooked import event, until_asked

from sayso.stores.memory import memory_backend
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_bots.asking.service import AskService, Requester
from sayso_bots.config.store_settings import read_ask_settings
from sayso_bots.hook.agents import CLAUDE_CODE, Answer
from sayso_bots.hook.asking import answer_event
from sayso_bots.hook.events import read_event


async def edited(called: dict[str, Any], approved: dict[str, Any]) -> Answer:
    """What the hook says where a person approves the call with other arguments."""
    settings = read_ask_settings(os.devnull, {})
    said = read_event(event("pay", **called).decode(), CLAUDE_CODE)
    async with memory_backend() as backend, asyncio.timeout(PATIENCE_SECONDS):
        service = AskService(backend, settings, Requester("claude-code", 30, 1), "hook")
        asking = asyncio.create_task(answer_event(said, service, lambda _: None))
        request = await until_asked(backend)
        response = request.approve(by="slack:U0ALICE", modified_arguments=approved)
        await backend.store.settle(request.question_id, response)
        said_so = await asking
    assert said_so.was_asked
    return dict(said_so.answer["hookSpecificOutput"])


@pytest.mark.parametrize("number", [2**53 + 1, -(2**60), 12345678901234567890])
async def test_an_edit_with_a_number_that_javascript_reads_as_another_one_runs_nothing(
    number: int,
) -> None:
    said = await edited({"amount": 1}, {"to": {"account": [number]}})

    assert said["permissionDecision"] == "deny"
    assert "updatedInput" not in said
    assert "too many digits" in said["permissionDecisionReason"]
    assert json.dumps({"to": {"account": [number]}}) in said["permissionDecisionReason"]


async def test_a_number_that_the_call_had_already_is_written_anew_by_an_edit_beside_it() -> None:
    said = await edited({"account": 2**60 + 1, "amount": 1}, {"account": 2**60 + 1, "amount": 2})

    assert said["permissionDecision"] == "deny"


@pytest.mark.parametrize("number", [2**53, 10**20, 0.1, -3, 1e300])
async def test_an_edit_with_any_other_number_runs(number: float) -> None:
    said = await edited({"amount": 1}, {"amount": number})

    assert said["permissionDecision"] == "allow"
    assert said["updatedInput"] == {"amount": number}


@pytest.mark.parametrize(("levels", "decision"), [(100, "allow"), (101, "deny")])
async def test_an_edit_that_is_nested_deeper_than_codex_reads_runs_nothing(
    levels: int, decision: str
) -> None:
    deep: dict[str, Any] = {}
    for _ in range(levels - 1):
        deep = {"a": deep}

    said = await edited({"amount": 1}, deep)

    assert said["permissionDecision"] == decision
