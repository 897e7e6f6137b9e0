"""Who decides, and where: clicks that must not count, through real servers at both platforms."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from e2e.asked import RUN, Asked, asked
from e2e.hands import Hands, SlackHands, TelegramHands, both_cards, hands_at

from sayso import Gate, Outcome, Rule, RulePolicy, ToolCall
from sayso.events import PermissionRequestEvent
from sayso.stores.audit import AuditEntry
from sayso.testing.builders import PATIENCE_SECONDS

CALL = ToolCall("deploy", {"environment": "staging"})
CALLS = [ToolCall(tool, {"command": f"make {tool}"}) for tool in ("build", "test")]
LONG = ToolCall("run", {"script": "\n".join(f"UPDATE prices SET a = {n};" for n in range(400))})
ALICE = "slack:U0ALICE"
YES = Outcome.APPROVED


async def rejected(scene: Asked) -> list[tuple[str, str]]:
    """Why each rejected click was rejected, and whose it was, once the audit has any."""

    async def read() -> list[AuditEntry]:
        entries = await scene.backend.audit.read(50)
        return [entry for entry in entries if entry.kind == "press_refused"]

    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := await read()):
            await asyncio.sleep(0)
    return [(entry.refusal, entry.by) for entry in found]


async def test_nobody_approves_their_own_request_with_any_account(
    scene: Asked, hands: Hands
) -> None:
    waiting = scene.ask(scene.gate.check(CALL, requested_by=ALICE))

    await hands.press("Allow", by="alice")

    assert await rejected(scene) == [("own_request", hands.actor("alice"))]
    assert not waiting.done()
    await hands.press("Allow", by="bob")
    result = await waiting
    assert (result.outcome, result.decided_by) == (YES, hands.actor("bob"))
    await both_cards(scene, "Approved by bob")


@pytest.mark.parametrize("platform", ["slack", "telegram"])
async def test_allow_all_leaves_out_what_the_presser_requested(
    store_url: str, platform: str
) -> None:
    async with asked(store_url, together="0.2s") as scene:
        hands = hands_at(platform, scene.playground)
        waiting = scene.ask(scene.gate.check_batch(CALLS, together=True, requested_by=ALICE))

        await hands.press("Allow all", by="alice")

        assert set(await rejected(scene)) == {("own_request", hands.actor("alice"))}
        assert not waiting.done()
        await hands.press("Allow all", by="bob")
        assert {result.decided_by for result in await waiting} == {hands.actor("bob")}


async def press_allow_all_unseen(hands: Hands) -> None:
    """Press *Deny all* with a callback that says *Allow all*, which the card does not offer."""
    if isinstance(hands, SlackHands):

        def allow_all(payload: dict[str, Any]) -> None:
            action = payload["actions"][0]
            action["action_id"] = action["action_id"].replace("deny-all", "allow-all")

        card = await hands.message()
        assert "Allow all" not in card.buttons
        await hands.slack.press(card, "Deny all", by="alice", alter=allow_all)
        return
    assert isinstance(hands, TelegramHands)

    def with_allow_all(query: dict[str, Any]) -> None:
        query["data"] = query["data"].replace("deny-all", "allow-all")

    shown = await hands.message()
    assert "Allow all" not in shown.buttons
    await hands.telegram.press(shown, "Deny all", by="alice", alter=with_allow_all)


@pytest.mark.parametrize("platform", ["slack", "telegram"])
async def test_allow_all_leaves_out_what_nobody_has_seen_in_full(
    store_url: str, platform: str
) -> None:
    async with asked(store_url, together="0.2s") as scene:
        hands = hands_at(platform, scene.playground)
        waiting = scene.ask(scene.gate.check_batch([LONG, *CALLS], together=True))

        await press_allow_all_unseen(hands)

        assert not waiting.done()
        pending = await scene.backend.store.list_requests()
        requests = [one.request for one in pending]
        assert LONG.name in {
            one.function_name for one in requests if isinstance(one, PermissionRequestEvent)
        }


async def test_a_strangers_click_is_in_the_audit(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.check(CALL))

    await hands.press("Allow", by="mallory")

    assert await rejected(scene) == [("not_approver", hands.actor("mallory"))]
    assert not waiting.done()


async def press_elsewhere(hands: Hands) -> None:
    """Press *Allow* of the open card with a callback that says another channel."""
    if isinstance(hands, SlackHands):

        def in_random(payload: dict[str, Any]) -> None:
            payload["channel"]["id"] = payload["container"]["channel_id"] = "C0RANDOM"

        await hands.slack.press(await hands.message(), "Allow", by="alice", alter=in_random)
        return
    assert isinstance(hands, TelegramHands)

    def in_another_group(query: dict[str, Any]) -> None:
        query["message"]["chat"]["id"] = -1009876543210

    await hands.telegram.press(await hands.message(), "Allow", by="alice", alter=in_another_group)


async def test_a_button_counts_in_the_channel_of_its_card_alone(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.check(CALL))

    await press_elsewhere(hands)

    assert await rejected(scene) == [("foreign", hands.actor("alice"))]
    assert not waiting.done()


async def test_a_call_cannot_be_edited_into_what_the_policy_of_the_agent_denies(
    scene: Asked, hands: Hands
) -> None:
    policy = RulePolicy(deny=[Rule("deploy", {"environment": "production"})])
    async with (
        scene.process() as backend,
        Gate.open(backend, run=RUN, timeout=30, policy=policy) as gate,
    ):
        waiting = scene.ask(gate.check(CALL))

        await hands.fill_in("Edit arguments…", {"Arguments": "environment = production"})

        assert (await waiting).outcome is Outcome.DENIED
        entries = await scene.backend.audit.read(50)
        assert [entry.kind for entry in entries if entry.kind in ("approved", "denied")] == [
            "denied"
        ]
