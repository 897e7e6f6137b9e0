"""Several calls as one Slack message: the whole way with the desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from support.live import is_live
from support.slack_room import Slack, SlackRoom

from sayso import Gate, Outcome, ToolCall
from sayso.stores.backend import Backend
from sayso.worker.worker import WorkerOptions
from sayso_playground import Playground, SlackMessage


@pytest.fixture
async def gate(slack: Slack, backend: Backend) -> AsyncIterator[Gate]:
    options = WorkerOptions(bundle_window=timedelta(milliseconds=200))
    async with SlackRoom.in_slack(slack, backend, ("alice", "bob"), options) as room:
        yield room.gate


CALLS = [ToolCall(tool, {"command": f"make {tool}"}) for tool in ("build", "test", "deploy")]


async def asked(
    gate: Gate, playground: Playground, calls: list[ToolCall] = CALLS
) -> tuple[asyncio.Task[Any], SlackMessage]:
    waiting = asyncio.create_task(gate.check_batch(calls, together=True))
    title = f"{len(calls)} calls are waiting"
    return waiting, await playground.slack.message_where(lambda m: title in m.all_text)


async def test_a_batch_is_one_message_that_is_decided_line_by_line(
    gate: Gate, playground: Playground
) -> None:
    waiting, message = await asked(gate, playground)

    first = await playground.slack.press(message, "Deny 2", by="bob")
    left = await playground.slack.message_where(lambda m: "2 of 3 calls are waiting" in m.all_text)
    assert list(left.buttons) == [
        "Allow 1", "Deny 1", "More… 1", "Details 2", "Allow 3", "Deny 3", "More… 3",
        "Allow all", "Deny all",
    ]  # fmt: skip
    await playground.slack.press(left, "Allow 1", by="alice")
    left = await playground.slack.message_where(lambda m: "1 of 3 calls is waiting" in m.all_text)
    assert list(left.buttons) == ["Details 1", "Details 2", "Allow 3", "Deny 3", "More… 3"]
    await playground.slack.press(left, "Allow 3", by="bob")

    assert first.error is None
    assert [verdict.outcome for verdict in await waiting] == [
        Outcome.APPROVED,
        Outcome.DENIED,
        Outcome.APPROVED,
    ]
    shown = await playground.slack.message_where(lambda m: "calls are decided" in m.all_text)
    assert "Denied by bob" in shown.all_text
    assert not is_live(shown.buttons)


async def test_allow_all_lets_all_of_them_run(gate: Gate, playground: Playground) -> None:
    waiting, message = await asked(gate, playground)

    delivery = await playground.slack.press(message, "Allow all", by="alice")

    assert delivery.error is None
    assert all(verdict.approved for verdict in await waiting)
    await playground.slack.message_where(lambda m: m.all_text.count("Approved by alice") == 3)


async def test_who_was_too_late_for_a_part_is_told_privately(
    gate: Gate, playground: Playground
) -> None:
    waiting, message = await asked(gate, playground)
    await playground.slack.press(message, "Deny 1", by="bob")

    await playground.slack.press(message, "Allow all", by="alice")

    told = await playground.slack.ephemeral_where("alice")
    assert "2 approved, 1 was already denied by bob" in told.text
    assert [verdict.approved for verdict in await waiting] == [False, True, True]


async def test_a_stranger_is_told_and_nothing_is_decided(
    gate: Gate, playground: Playground
) -> None:
    waiting, message = await asked(gate, playground)

    await playground.slack.press(message, "Allow all", by="mallory")

    assert "may not decide" in (await playground.slack.ephemeral_where("mallory")).text
    await playground.slack.press(message, "Deny all", by="bob")
    assert not any(verdict.approved for verdict in await waiting)


async def test_a_long_call_is_seen_in_full_before_all_are_allowed(
    gate: Gate, playground: Playground
) -> None:
    calls = [CALLS[0], ToolCall("write", {"text": "y" * 9_000 + "END"})]
    waiting, message = await asked(gate, playground, calls)
    assert "Allow all" not in message.buttons

    await playground.slack.press(message, "Show all 2", by="alice")
    assert "yEND" in str((await playground.slack.view_for("alice")).view)
    seen = await playground.slack.message_where(lambda m: "Allow all" in m.buttons)
    await playground.slack.press(seen, "Allow all", by="alice")

    assert all(verdict.approved for verdict in await waiting)


async def test_always_of_one_line_takes_a_second_step_on_that_line(
    gate: Gate, playground: Playground
) -> None:
    waiting, message = await asked(gate, playground)

    await playground.slack.press(message, "More… 1", by="alice")
    opened = await playground.slack.message_where(lambda m: "Back 1" in m.buttons)
    await playground.slack.press(opened, "Always", by="alice")
    step = await playground.slack.message_where(lambda m: "Yes, Always" in m.buttons)
    assert {"Allow 2", "Deny 2", "Allow 3", "Deny 3", "Allow all"} <= set(step.buttons)
    await playground.slack.press(step, "Yes, Always", by="alice")
    rest = await playground.slack.message_where(lambda m: "2 of 3 calls are waiting" in m.all_text)
    await playground.slack.press(rest, "Deny all", by="alice")

    assert [verdict.approved for verdict in await waiting] == [True, False, False]
    assert (await gate.check(replace(CALLS[0], call_id="another"))).approved


async def test_a_denial_of_one_line_can_have_a_reason(gate: Gate, playground: Playground) -> None:
    waiting, message = await asked(gate, playground)

    await playground.slack.press(message, "More… 1", by="alice")
    opened = await playground.slack.message_where(lambda m: "Back 1" in m.buttons)
    await playground.slack.press(opened, "Deny with a reason…", by="alice")
    view = await playground.slack.view_for("alice")
    assert "Call 1 of 3 · build · " in str(view.view)
    assert "make build" in str(view.view)
    await playground.slack.submit(view, {"Reason": "not on a Friday"}, by="alice")
    rest = await playground.slack.message_where(lambda m: "2 of 3 calls are waiting" in m.all_text)
    assert "not on a Friday" in rest.all_text
    await playground.slack.press(rest, "Allow all", by="alice")

    verdicts = await waiting
    assert [verdict.approved for verdict in verdicts] == [False, True, True]
    assert verdicts[0].reason == "not on a Friday"
