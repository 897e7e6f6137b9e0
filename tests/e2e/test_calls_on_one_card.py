"""Several calls of one run on one card: decided at one platform, shown by the cards of both."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from e2e.asked import Asked, asked
from e2e.hands import Hands, SlackHands, TelegramHands, both_cards, hands_at

from sayso import Outcome, ToolCall

CALLS = [ToolCall(tool, {"command": f"make {tool}"}) for tool in ("build", "test", "deploy")]
YES, NO = Outcome.APPROVED, Outcome.DENIED


@pytest.fixture
async def scene(store_url: str) -> AsyncIterator[Asked]:
    async with asked(store_url, together="0.2s") as opened:
        yield opened


async def open_cards(scene: Asked) -> str:
    """What the open cards of both platforms say."""
    cards = [await hands_at(name, scene.playground).card() for name in ("slack", "telegram")]
    return "\n".join(cards)


async def test_each_call_is_decided_on_its_own(scene: Asked, hands: Hands) -> None:
    waiting = scene.ask(scene.gate.check_batch(CALLS, together=True))
    assert (await open_cards(scene)).count("3 calls are waiting") == 2

    await hands.press("Deny 2")
    await hands.press("Allow 1", by="bob")
    await hands.press("Allow 3")

    verdicts = await waiting
    assert [verdict.outcome for verdict in verdicts] == [YES, NO, YES]
    assert [verdict.decided_by for verdict in verdicts] == [
        hands.actor("bob"),
        hands.actor("alice"),
        hands.actor("alice"),
    ]
    for text in await both_cards(scene, "calls are decided"):
        assert text.count("Approved by alice") == text.count("Approved by bob") == 1
        assert text.count("Denied by alice") == 1


@pytest.mark.parametrize(("button", "outcome"), [("Allow all", YES), ("Deny all", NO)])
async def test_all_calls_are_decided_at_once(
    scene: Asked, hands: Hands, button: str, outcome: Outcome
) -> None:
    waiting = scene.ask(scene.gate.check_batch(CALLS, together=True))

    await hands.press(button)

    assert [verdict.outcome for verdict in await waiting] == [outcome] * 3
    for text in await both_cards(scene, "calls are decided"):
        assert text.count(f"{outcome.value.capitalize()} by alice") == 3


async def test_what_is_left_of_them_is_decided_at_the_other_platform(
    scene: Asked, slack: SlackHands, telegram: TelegramHands
) -> None:
    waiting = scene.ask(scene.gate.check_batch(CALLS, together=True))

    await slack.press("Deny 1")
    await telegram.telegram.message_where(
        lambda message: "2 of 3 calls are waiting" in message.text
    )
    await telegram.press("Allow all")

    verdicts = await waiting
    assert [verdict.outcome for verdict in verdicts] == [NO, YES, YES]
    assert [verdict.decided_by for verdict in verdicts] == ["slack:U0ALICE", *["telegram:4242"] * 2]
    for text in await both_cards(scene, "calls are decided"):
        assert "Denied by alice" in text
        assert text.count("Approved by alice") == 2
