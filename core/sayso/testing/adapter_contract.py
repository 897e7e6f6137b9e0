"""What every adapter promises, whichever platform it speaks to."""

# ruff: noqa: D102, S101  a test's name is its sentence, and it asserts

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from sayso.calls import new_id
from sayso.cards.card import Card, CardBody, Choice, Ended, Open
from sayso.chats.adapter import Adapter
from sayso.chats.places import Answer, Answered, MessageRef, Place, Press
from sayso.errors import ChannelMigratedError, DeliveryError
from sayso.forms.form import Form, FormField
from sayso.testing.press_recorder import PressRecorder
from sayso.values import one_value

ALLOW = Choice("allow", "Allow", "primary", needs_sight=True)
DENY = Choice("deny", "Deny", "danger")
ALWAYS = Choice("always", "Always", stores="deploy with exactly these arguments", needs_sight=True)
NOTE = Choice(
    "note",
    "Note…",
    form=Form("A note", (FormField("note", "Your note"), FormField("count", "How many"))),
)
Ability = Literal["outages", "repeated presses", "moving places"]
_UNDECIDED = "play it, or say in `lacks` that the platform has no such thing"
TRICKY = "*bold* _x_ `code` <b>tag</b> <!channel> @here & [link](https://example.com) :tada:"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person sees of a message: its text, and the labels of its buttons in order."""

    text: str
    buttons: Sequence[str]


class AdapterStage(ABC):
    """An adapter between a desk and its platform, with a person's hands and eyes.

    ``place`` takes cards, ``nowhere`` never does. ``actor`` is who presses. What
    a platform may be without is said in ``lacks``, or else played.
    """

    adapter: Adapter
    desk: PressRecorder
    place: Place
    nowhere: Place
    actor: str

    @abstractmethod
    async def shown(self, ref: MessageRef) -> Shown:
        """What stands there now."""

    @abstractmethod
    async def press(self, ref: MessageRef, label: str) -> str:
        """Press the button with this label; what the presser alone is told, if anything."""

    @abstractmethod
    async def revealed(self) -> str:
        """What *Show all* showed last."""

    @abstractmethod
    async def fill(self, answers: Mapping[str, str]) -> None:
        """Fill in the form that is open, by the labels of its fields, and send it."""

    @abstractmethod
    async def forge(self, ref: MessageRef, label: str) -> None:
        """Send what looks like a press of this button, but not from the platform or person."""

    lacks: Collection[str] = ()
    """What this platform does not have, of ``Ability``; the promises about it are skipped."""

    def outage(self) -> AbstractContextManager[None]:
        """The platform is away while the block runs."""
        raise NotImplementedError(_UNDECIDED)

    def repeating(self) -> AbstractContextManager[None]:
        """The platform sends every press twice while the block runs, byte for byte the same."""
        raise NotImplementedError(_UNDECIDED)

    async def move(self) -> tuple[Place, Place]:
        """Give a chat a new address; the old place and the new one."""
        raise NotImplementedError(_UNDECIDED)


class AdapterContract:
    """What every adapter promises. Subclasses provide the ``stage`` fixture."""

    async def test_a_card_says_what_is_asked_by_whom_and_offers_its_choices(
        self, stage: AdapterStage
    ) -> None:
        ref = await stage.adapter.show([a_card(stage)], stage.place)

        shown = await stage.shown(ref)
        for text in ("deploy", "service: shop", "a-bot", "To fix the shop"):
            assert text in shown.text
        assert list(shown.buttons)[:2] == ["Allow", "Deny"]

    async def test_the_digest_is_to_be_seen_a_level_down(self, stage: AdapterStage) -> None:
        card = a_card(stage)
        ref = await stage.adapter.show([card], stage.place)
        await stage.adapter.update(ref, [replace(card, state=Open(more=True))])

        assert "0123456789ab" in (await stage.shown(ref)).text

    async def test_several_cards_share_a_message_each_with_its_own_buttons(
        self, stage: AdapterStage
    ) -> None:
        first, second = several(stage)
        ref = await stage.adapter.show([first, second], stage.place)

        shown = await stage.shown(ref)
        assert "first thing" in shown.text
        assert "second thing" in shown.text
        assert len(shown.buttons) >= 2 * 2

        ended = replace(second, state=an_ending(stage))
        await stage.adapter.update(ref, [first, ended])
        after = await stage.shown(ref)
        assert 2 <= len(after.buttons) < len(shown.buttons)

    async def test_what_has_ended_says_how_and_by_whom_and_decides_nothing(
        self, stage: AdapterStage
    ) -> None:
        card = a_card(stage)
        ref = await stage.adapter.show([card], stage.place)
        await stage.adapter.update(ref, [replace(card, state=an_ending(stage))])

        shown = await stage.shown(ref)
        assert "approved" in shown.text.lower()
        assert stage.actor.partition(":")[2] in shown.text
        assert list(shown.buttons) == ["Details"]

    async def test_an_update_that_is_repeated_changes_nothing(self, stage: AdapterStage) -> None:
        card = a_card(stage)
        ended = replace(card, state=an_ending(stage))
        ref = await stage.adapter.show([card], stage.place)
        await stage.adapter.update(ref, [ended])
        before = await stage.shown(ref)
        await stage.adapter.update(ref, [ended])

        assert await stage.shown(ref) == before

    async def test_an_agents_text_is_data_and_never_markup(self, stage: AdapterStage) -> None:
        card = a_card(stage, content=TRICKY, description=TRICKY)
        ref = await stage.adapter.show([card], stage.place)

        assert (await stage.shown(ref)).text.count(TRICKY) >= 2

    @pytest.mark.parametrize("wide", ["x", "<", "&", "💩"])
    async def test_a_card_of_any_length_fits(self, stage: AdapterStage, wide: str) -> None:
        content = wide * (stage.adapter.limits.content + 10)
        card = a_card(stage, content=content, description=wide * 5_000, title=wide * 200)
        ref = await stage.adapter.show([card], stage.place)

        shown = await stage.shown(ref)
        assert "Allow" not in shown.buttons
        assert "Deny" in shown.buttons

    async def test_the_room_for_several_is_the_same_for_ever(self, stage: AdapterStage) -> None:
        body = a_card(stage).body

        assert stage.adapter.room(body, 2) == stage.adapter.room(body, 2)

    async def test_a_press_comes_back_with_its_card_choice_presser_and_message(
        self, stage: AdapterStage
    ) -> None:
        other, card = a_card(stage), a_card(stage)
        await stage.adapter.show([other], stage.place)
        ref = await stage.adapter.show([card], stage.place)
        await stage.press(ref, "Deny")

        (press,) = stage.desk.presses
        assert (press.handle, press.choice, press.actor) == (card.handle, "deny", stage.actor)
        assert press.message == ref
        assert press.inputs is None

    async def test_a_press_that_is_sent_twice_is_the_same_press(self, stage: AdapterStage) -> None:
        needs(stage, "repeated presses")
        card = a_card(stage)
        ref = await stage.adapter.show([card], stage.place)
        with stage.repeating():
            await stage.press(ref, "Deny")

        first, *again = stage.desk.presses
        assert (first.handle, first.choice, first.actor) == (card.handle, "deny", stage.actor)
        assert again in ([], [first])

    async def test_labels_are_shown_whole_up_to_the_limit(self, stage: AdapterStage) -> None:
        limits = stage.adapter.limits
        wide = Choice("wide", "W" * limits.button)
        noted = replace(NOTE, label="N" * limits.button)
        card = a_card(stage, choices=(ALLOW, wide, noted, DENY))
        assert limits.problem(card.body) == ""
        ref = await stage.adapter.show([card], stage.place)

        buttons = (await stage.shown(ref)).buttons
        assert wide.label in buttons
        assert any(button.startswith(noted.label) for button in buttons)

    async def test_what_would_be_stored_is_shown_whole_up_to_the_limit(
        self, stage: AdapterStage
    ) -> None:
        limits = stage.adapter.limits
        always = replace(ALWAYS, stores="s" * limits.stores)
        body = limits.fitted(a_card(stage, choices=(ALLOW, always, DENY)).body)
        assert body.choices == (ALLOW, always, DENY)
        card = replace(a_card(stage), body=body)
        ref = await stage.adapter.show([card], stage.place)
        await stage.adapter.update(ref, [card.confirming(always)])

        assert always.stores in (await stage.shown(ref)).text
        await stage.press(ref, "Yes, Always")
        assert [(press.choice, press.confirmed) for press in stage.desk.presses] == [
            ("always", True)
        ]

    async def test_the_second_step_of_a_choice_says_what_it_stores_and_is_confirmed(
        self, stage: AdapterStage
    ) -> None:
        card = a_card(stage, choices=(ALLOW, ALWAYS, DENY))
        ref = await stage.adapter.show([card], stage.place)
        await stage.adapter.update(ref, [card.confirming(ALWAYS)])

        shown = await stage.shown(ref)
        assert ALWAYS.stores in shown.text
        assert "Allow" not in shown.buttons
        await stage.press(ref, "Yes, Always")
        (press,) = stage.desk.presses
        assert (press.choice, press.confirmed) == ("always", True)

    async def test_a_refusal_is_told_to_the_presser(self, stage: AdapterStage) -> None:
        stage.desk.answer = Answer(Answered.REFUSED, "You may not answer this.")
        ref = await stage.adapter.show([a_card(stage)], stage.place)
        before = await stage.shown(ref)

        assert "You may not answer this." in await stage.press(ref, "Allow")
        assert await stage.shown(ref) == before

    async def test_a_press_that_is_not_what_it_claims_never_reaches_the_desk(
        self, stage: AdapterStage
    ) -> None:
        ref = await stage.adapter.show([a_card(stage)], stage.place)
        await stage.forge(ref, "Allow")

        assert stage.desk.presses == []

    async def test_show_all_shows_everything_to_the_last_character(
        self, stage: AdapterStage
    ) -> None:
        content = "x" * stage.adapter.limits.content + "\nthe last line"
        card = a_card(stage, content=content)

        async def reveal(press: Press) -> None:
            await stage.adapter.reveal(press, card)

        stage.desk.meanwhile = reveal
        stage.desk.answer = Answer(Answered.SHOWN, "")
        ref = await stage.adapter.show([card], stage.place)
        await stage.press(ref, "Show all")

        assert [press.choice for press in stage.desk.presses] == ["show"]
        assert "the last line" in await stage.revealed()

    async def test_a_form_that_is_filled_in_is_a_press_with_inputs(
        self, stage: AdapterStage
    ) -> None:
        card = a_card(stage, choices=(NOTE, DENY))

        async def ask(press: Press) -> None:
            if press.inputs is None:
                await stage.adapter.ask(press, card, NOTE)

        stage.desk.meanwhile = ask
        stage.desk.answer = Answer(Answered.ASKED, "")
        ref = await stage.adapter.show([card], stage.place)
        await stage.press(ref, NOTE.label)
        stage.desk.answer = Answer(Answered.RECORDED, "Answered.")
        await stage.fill({"Your note": "*not* <b>bold</b>", "How many": "3"})

        asked, filled = stage.desk.presses
        assert (asked.choice, asked.inputs) == ("note", None)
        assert (filled.handle, filled.choice, filled.actor) == (card.handle, "note", stage.actor)
        assert NOTE.form is not None
        assert NOTE.form.read(filled.inputs or {}) == {"note": "*not* <b>bold</b>", "count": "3"}

    async def test_a_choice_without_a_form_cannot_be_asked_for(self, stage: AdapterStage) -> None:
        card = a_card(stage)
        ref = await stage.adapter.show([card], stage.place)
        press = Press(card.handle, "allow", stage.actor, ref)

        with pytest.raises(DeliveryError) as caught:
            await stage.adapter.ask(press, card, ALLOW)
        assert caught.value.permanent

    async def test_a_place_that_is_not_there_is_refused_for_good(self, stage: AdapterStage) -> None:
        with pytest.raises(DeliveryError) as caught:
            await stage.adapter.show([a_card(stage)], stage.nowhere)

        assert caught.value.permanent
        assert caught.value.platform == stage.adapter.platform == stage.place.platform

    async def test_a_place_that_moved_is_not_found_but_says_where_it_is(
        self, stage: AdapterStage
    ) -> None:
        needs(stage, "moving places")
        old, new = await stage.move()
        with pytest.raises(ChannelMigratedError) as caught:
            await stage.adapter.show([a_card(stage)], old)

        assert (caught.value.platform, caught.value.address) == (new.platform, new.address)
        ref = await stage.adapter.show([a_card(stage)], new)
        assert ref.place == new
        assert "Allow" in (await stage.shown(ref)).buttons

    async def test_nobody_is_in_a_group_that_is_not_there(self, stage: AdapterStage) -> None:
        with pytest.raises(DeliveryError):
            await stage.adapter.members("no-such-group")

    async def test_nobody_knows_a_stranger_well_enough_to_count_in_a_group(
        self, stage: AdapterStage
    ) -> None:
        try:
            counts = await stage.adapter.counts_in_groups(f"{stage.adapter.platform}:NOBODY0")
        except DeliveryError:
            counts = False

        assert not counts

    async def test_a_platform_that_is_away_is_tried_again(self, stage: AdapterStage) -> None:
        needs(stage, "outages")
        with stage.outage(), pytest.raises(DeliveryError) as caught:
            await stage.adapter.show([a_card(stage)], stage.place)
        assert not caught.value.permanent

        ref = await stage.adapter.show([a_card(stage)], stage.place)
        assert "Allow" in (await stage.shown(ref)).buttons


def needs(stage: AdapterStage, ability: Ability) -> None:
    """Go on only where the platform has this."""
    if ability in stage.lacks:
        pytest.skip(f"this platform has no {ability}")


def a_card(
    stage: AdapterStage,
    *,
    title: str = "deploy",
    content: str = "service: shop",
    description: str = "To fix the shop",
    choices: tuple[Choice, ...] = (ALLOW, DENY),
) -> Card:
    """A card that the adapter can show; name what the test is about."""
    body = CardBody(
        title=title,
        description=description,
        values=one_value(content),
        question="May this run?",
        digest="0123456789ab",
        facts=(("Source", "shell"),),
        choices=choices,
    )
    return Card(
        handle=new_id(),
        body=body,
        asker="a-bot",
        expires_at=datetime.now(UTC) + timedelta(minutes=10),
        limit=stage.adapter.limits.content,
        reveal_limit=stage.adapter.limits.reveal,
    )


def several(stage: AdapterStage) -> tuple[Card, Card]:
    """Two cards that share a message."""
    cards = []
    for number, name in enumerate(("first", "second"), 1):
        card = a_card(stage, title=f"{name} thing")
        room = stage.adapter.room(card.body, 2)
        if room is None:
            pytest.skip("on this platform each card stands alone")
        here = replace(card, limit=room.content, description_limit=room.description)
        cards.append(replace(here, number=number, count=2))
    return cards[0], cards[1]


def an_ending(stage: AdapterStage) -> Ended:
    """Approved by the stage's person."""
    return Ended(outcome="approved", at=datetime.now(UTC), by=stage.actor)
