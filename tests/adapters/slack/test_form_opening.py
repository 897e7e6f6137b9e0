"""The dialog of a form opens for whoever pressed, or it is said why not."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from support.clock import Clock
from support.slack_forms import FILL_IN, WHERE, metadata
from support.slack_kit import a_card

from sayso.cards.card import Card
from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import DeliveryError
from sayso_playground import Playground, SlackMessage, Slow
from sayso_slack import SlackAdapter


def pressed(playground: Playground, card: Card, ref: MessageRef) -> Press:
    message: SlackMessage = playground.slack.messages()[-1]
    payload = playground.slack.block_actions(message, "Order", by="alice")
    return Press(card.handle, "order", "slack:U0ALICE", ref, ticket=payload["trigger_id"])


async def test_asking_opens_the_dialog_for_whoever_pressed(
    adapter: SlackAdapter, playground: Playground
) -> None:
    card = a_card(choices=(FILL_IN,))
    ref = await adapter.show([card], Place("slack", "C0OPS"))

    await adapter.ask(pressed(playground, card, ref), card, FILL_IN)

    view = playground.slack.view("alice")
    assert view
    assert view.callback_id == "sayso:form"
    assert metadata(view.view)["message"] == ref.message_id
    assert playground.slack.view("bob") is None


async def test_a_form_that_comes_too_late_says_to_press_again(
    adapter: SlackAdapter, playground: Playground, clock: Clock
) -> None:
    card = a_card(choices=(FILL_IN,))
    press = pressed(playground, card, await adapter.show([card], Place("slack", "C0OPS")))
    clock.pass_by(4)

    with pytest.raises(DeliveryError, match="press again"):
        await adapter.ask(press, card, FILL_IN)


async def test_a_form_that_takes_longer_than_its_press_is_given_up_in_time(
    adapter: SlackAdapter, playground: Playground
) -> None:
    card = a_card(choices=(FILL_IN,))
    ref = await adapter.show([card], Place("slack", "C0OPS"))
    playground.slack.misbehave("views.open", Slow(30))

    async with asyncio.timeout(2.9):
        with pytest.raises(DeliveryError, match="it took too long"):
            await adapter.ask(pressed(playground, card, ref), card, FILL_IN)


async def test_a_form_needs_the_ticket_of_its_press(adapter: SlackAdapter) -> None:
    with pytest.raises(DeliveryError, match="without a trigger_id"):
        await adapter.ask(Press("h", "order", "slack:U0ALICE", WHERE), a_card(), FILL_IN)


async def test_a_choice_without_a_form_asks_for_nothing(adapter: SlackAdapter) -> None:
    with pytest.raises(DeliveryError, match="has no form"):
        await adapter.ask(
            Press("h", "order", "slack:U0ALICE", WHERE), a_card(), replace(FILL_IN, form=None)
        )
