"""The whole way in one process: an agent asks, somebody presses in Slack, the agent goes on."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.denials import always_deny
from support.live import is_live
from support.slack_room import Slack, SlackRoom

from sayso import Gate, Outcome, ToolCall
from sayso.stores.memory import memory_backend
from sayso_playground import Playground

CALL = ToolCall("bash", {"command": "terraform apply"})


@pytest.fixture
async def gate(slack: Slack) -> AsyncIterator[Gate]:
    approvers = ("alice", "slack:@oncall")
    async with (
        memory_backend() as backend,
        SlackRoom.in_slack(slack, backend, approvers) as room,
    ):
        yield room.gate


async def test_allow_in_slack_lets_the_call_run(gate: Gate, playground: Playground) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    message = await playground.slack.message_where(lambda m: "terraform apply" in m.all_text)

    delivery = await playground.slack.press(message, "Allow", by="alice")

    assert delivery.error is None
    assert (await waiting).approved
    ended = await playground.slack.message_where(lambda m: "Approved by alice" in m.all_text)
    assert list(ended.buttons) == ["Details"]


async def test_a_stranger_is_told_privately_and_the_card_stays_open(
    gate: Gate, playground: Playground
) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    message = await playground.slack.message_where(lambda m: is_live(m.buttons))

    await playground.slack.press(message, "Allow", by="mallory")
    told = await playground.slack.ephemeral_where("mallory")
    assert "may not decide" in told.text
    await playground.slack.press(message, "Deny", by="alice")

    assert (await waiting).outcome is Outcome.DENIED


async def test_always_in_slack_is_not_asked_again(gate: Gate, playground: Playground) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    message = await playground.slack.message_where(lambda m: is_live(m.buttons))

    await playground.slack.press(message, "Always", by="alice")

    assert (await waiting).approved
    await playground.slack.message_where(lambda m: "Remembered" in m.all_text)
    assert (await gate.check(CALL)).approved


async def test_a_long_call_is_allowed_after_it_was_seen_in_full(
    gate: Gate, playground: Playground
) -> None:
    waiting = asyncio.create_task(gate.check(ToolCall("write", {"text": "y" * 9_000 + "END"})))
    message = await playground.slack.message_where(lambda m: is_live(m.buttons))
    assert "Allow" not in message.buttons

    await playground.slack.press(message, "Show all", by="alice")
    view = await playground.slack.view_for("alice")
    assert "yEND" in str(view.view)
    seen = await playground.slack.message_where(lambda m: "Allow" in m.buttons)
    await playground.slack.press(seen, "Allow", by="alice")

    assert (await waiting).approved


async def test_a_press_that_comes_too_late_is_told_how_it_ended(
    gate: Gate, playground: Playground
) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    message = await playground.slack.message_where(lambda m: is_live(m.buttons))
    await playground.slack.press(message, "Deny", by="alice")

    delivery = await playground.slack.press(message, "Allow", by="alice")

    assert delivery.status == 200
    told = await playground.slack.ephemeral_where("alice")
    assert "already denied by alice" in told.text
    assert not (await waiting).approved


async def test_whoever_asked_is_told_privately_that_somebody_else_approves_it(
    gate: Gate, playground: Playground
) -> None:
    waiting = asyncio.create_task(gate.check(CALL, requested_by="slack:U0ALICE"))
    message = await playground.slack.message_where(lambda m: is_live(m.buttons))

    for button in ("Allow", "Always"):
        await playground.slack.press(message, button, by="alice")
        told = await playground.slack.ephemeral_where("alice")
        assert told.text.startswith("You asked for this, so somebody else has to approve it.")
    await playground.slack.press(message, "Deny", by="alice")

    assert (await waiting).outcome is Outcome.DENIED


async def test_allowing_what_is_always_denied_is_told_privately_and_the_card_says_denied(
    gate: Gate, playground: Playground
) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    message = await playground.slack.message_where(lambda m: "terraform apply" in m.all_text)
    await always_deny(gate.backend, CALL, gate.run)

    await playground.slack.press(message, "Allow", by="alice")

    told = await playground.slack.ephemeral_where("alice")
    assert "Not approved: denied by an Always of slack:U0BOB" in told.text
    assert (await waiting).outcome is Outcome.DENIED
    ended = await playground.slack.message_where(lambda m: "could not allow it" in m.all_text)
    assert "Approved" not in ended.all_text
