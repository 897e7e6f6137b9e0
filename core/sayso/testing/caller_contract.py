"""What every platform promises that can call people, whichever it is."""

# ruff: noqa: D102, S101  a test's name is its sentence, and it asserts

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from sayso.cards.called import Call, Called
from sayso.cards.card import Card, CardBody
from sayso.chats.adapter import Adapter
from sayso.chats.caller import Caller, Waiting
from sayso.chats.places import MessageRef, Place
from sayso.errors import DeliveryError
from sayso.testing.adapter_contract import ALLOW, DENY, TRICKY
from sayso.values import one_value


@dataclass(frozen=True, slots=True)
class Said:
    """A message as people see it: whom it mentions, and the number of what it replies to."""

    text: str
    mentions: Collection[str]
    buttons: Sequence[str]
    reply_to: str
    makes_sound: bool = True


class CallerStage(ABC):
    """A platform with a caller, and a person's eyes.

    ``place`` takes cards, ``nowhere`` never does. ``actor`` is somebody whom the bot may write to.
    """

    adapter: Adapter
    caller: Caller
    place: Place
    nowhere: Place
    actor: str

    @abstractmethod
    async def said(self) -> Sequence[Said]:
        """All messages in the place, oldest first."""

    @abstractmethod
    async def letters(self) -> Sequence[Said]:
        """All messages that ``actor`` alone sees, oldest first."""


class CallerContract:
    """What every caller promises. Subclasses provide the ``stage`` fixture."""

    async def test_a_card_mentions_whom_it_calls_and_nobody_that_an_agent_names(
        self, stage: CallerStage
    ) -> None:
        body = CardBody(TRICKY, TRICKY, values=one_value(_forged(stage)), choices=(ALLOW, DENY))
        called = Call(people=await _there(stage), lead="For")
        await stage.adapter.show([replace(_card(stage), body=body, call=called)], stage.place)

        (said,) = await stage.said()
        assert set(said.mentions) == {stage.actor}
        assert "For" in said.text

    async def test_a_card_that_calls_nobody_mentions_nobody(self, stage: CallerStage) -> None:
        call = Call(quietly=True, note="Quiet hours until 07:00.")
        await stage.adapter.show([replace(_card(stage), call=call)], stage.place)

        (said,) = await stage.said()
        assert not said.mentions
        assert "Quiet hours until 07:00." in said.text

    async def test_one_question_is_told_of_again_in_reply_to_its_card(
        self, stage: CallerStage
    ) -> None:
        card = await stage.adapter.show([_card(stage)], stage.place)
        await stage.caller.remind(stage.place, [_waiting(card)], await _there(stage))

        shown, told = await stage.said()
        assert told.reply_to == card.message_id
        assert set(told.mentions) == {stage.actor}
        assert "deploy" in told.text
        assert shown.buttons
        assert not told.buttons

    async def test_several_questions_are_told_of_in_one_message_without_buttons(
        self, stage: CallerStage
    ) -> None:
        cards = [await stage.adapter.show([_card(stage)], stage.place) for _ in range(10)]
        before = len(await stage.said())
        waiting = [replace(_waiting(card), title=f"t{n} {TRICKY}") for n, card in enumerate(cards)]
        await stage.caller.remind(stage.place, waiting, await _there(stage))

        (told,) = (await stage.said())[before:]
        assert all(f"t{number} " in told.text for number in range(10))
        assert set(told.mentions) == {stage.actor}
        assert not told.buttons

    async def test_a_person_is_written_to_alone(self, stage: CallerStage) -> None:
        card = await stage.adapter.show([_card(stage)], stage.place)
        link = await stage.caller.link(card)
        await stage.caller.write(stage.actor, [replace(_waiting(card), link=link)])

        (letter,) = await stage.letters()
        assert "deploy" in letter.text
        assert not letter.buttons
        assert len(await stage.said()) == 1

    async def test_a_link_is_an_address_or_nothing(self, stage: CallerStage) -> None:
        card = await stage.adapter.show([_card(stage)], stage.place)

        link = await stage.caller.link(card)
        assert link == "" or link.startswith("https://")

    async def test_a_group_that_is_not_there_is_not_called(self, stage: CallerStage) -> None:
        group = Called(f"{stage.caller.platform}:@no-such-group")

        assert await stage.caller.reachable([group, Called(stage.actor)]) == [Called(stage.actor)]

    async def test_a_place_that_is_not_there_is_refused_for_good(self, stage: CallerStage) -> None:
        with pytest.raises(DeliveryError) as caught:
            await stage.caller.remind(stage.nowhere, [_waiting(None), _waiting(None)], ())

        assert caught.value.permanent
        assert caught.value.platform == stage.caller.platform == stage.adapter.platform


async def _there(stage: CallerStage) -> tuple[Called, ...]:
    return tuple(await stage.caller.reachable([Called(stage.actor, "alice")]))


def _forged(stage: CallerStage) -> str:
    account = stage.actor.partition(":")[2]
    return f"<@{account}> <!subteam^S0ONCALL> <!here> @alice tg://user?id={account}"


def _waiting(card: MessageRef | None) -> Waiting:
    return Waiting("deploy", "a-bot", datetime.now(UTC) + timedelta(minutes=5), card)


def _card(stage: CallerStage) -> Card:
    return Card(
        handle="AAAAAAAAAAAAAAAAAAAAAA",
        body=CardBody("deploy", values=one_value("service: shop"), choices=(ALLOW, DENY)),
        asker="a-bot",
        expires_at=datetime.now(UTC) + timedelta(minutes=10),
        limit=stage.adapter.limits.content,
        reveal_limit=stage.adapter.limits.reveal,
    )
