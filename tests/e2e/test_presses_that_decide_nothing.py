"""On the card of every kind of question: a stranger's press, and one that comes too late."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from e2e.asked import Asked
from e2e.hands import Hands, SlackHands, TelegramHands, both_cards

from sayso import Gate, ToolCall
from sayso_playground import SlackMessage, TelegramMessage

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NOT_YOURS = "You may not decide this one. It stays open."

Ask = Callable[[Gate], Coroutine[Any, Any, Any]]
KINDS: dict[str, tuple[Ask, str, str]] = {
    "clarification": (lambda gate: gate.clarify("Where?", options=("eu", "us")), "eu", "answered"),
    "own answer": (lambda gate: gate.clarify("Where?"), "Answer…", "denied"),
    "text": (lambda gate: gate.approve_text("We deploy."), "Approve", "approved"),
    "data": (lambda gate: gate.collect(NAME, text="Who?"), "Fill in…", "denied"),
    "continuation": (lambda gate: gate.may_continue(9, 9), "Continue (+5)", "approved"),
    "call": (lambda gate: gate.check(ToolCall("deploy", {"to": "live"})), "Allow", "approved"),
}


async def shown(hands: Hands) -> SlackMessage | TelegramMessage:
    """The open card, as a client that does not refresh goes on showing it."""
    assert isinstance(hands, SlackHands | TelegramHands)
    return await hands.message()


async def told(
    hands: Hands, card: SlackMessage | TelegramMessage, button: str, by: str
) -> tuple[str, bool]:
    """What somebody who presses a button there is told, and whether nobody else is."""
    if isinstance(hands, SlackHands) and isinstance(card, SlackMessage):
        await hands.slack.press(card, button, by=by)
        return (await hands.slack.ephemeral_where(by)).all_text, True
    assert isinstance(hands, TelegramHands)
    assert isinstance(card, TelegramMessage)
    pressed = await hands.telegram.press(card, button, by=by)
    return pressed.toast or "", pressed.alert


@pytest.mark.parametrize("kind", KINDS)
async def test_neither_a_strangers_press_nor_a_late_one_decides_anything(
    scene: Asked, hands: Hands, kind: str
) -> None:
    ask, button, outcome = KINDS[kind]
    waiting = scene.ask(ask(scene.gate))
    card = await shown(hands)

    assert await told(hands, card, button, by="mallory") == (NOT_YOURS, True)
    assert await told(hands, card, button, by="carol") == (NOT_YOURS, True)
    assert not waiting.done()
    await hands.press("Don't answer" if outcome == "denied" else button, by="bob")
    assert (await waiting).outcome.value == outcome

    late = f"Too late: this was already {outcome} by bob ({hands.actor('bob')})."
    assert await told(hands, card, button, by="alice") == (late, True)
    await both_cards(scene, f"{outcome.capitalize()} by bob")
