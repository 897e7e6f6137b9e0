"""How cards get to their places, and what happens when they do not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, Outcome, RunRef, ToolCall
from sayso.cards.card import Card, Ended
from sayso.chats.places import Answered, MessageRef, Place
from sayso.errors import ChannelMigratedError, DeliveryError
from sayso.stores.backend import Backend
from sayso.stores.chat_moves import find_chat
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import Record
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker as Worker

OPS = Place("slack", "C0OPS")
PHONE = Place("telegram", "-1001")
CALL = ToolCall("bash", {"command": "ls"})
BOTH = Routes([Route((OPS, PHONE), approvers=("slack:U0ALICE",))])


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
def slack() -> ChatDouble:
    return ChatDouble("slack")


@pytest.fixture
def telegram() -> ChatDouble:
    return ChatDouble("telegram")


@asynccontextmanager
async def gate_on(backend: Backend) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=20) as gate:
        yield gate


def refused(reason: str) -> DeliveryError:
    return DeliveryError("slack", reason, permanent=True)


async def test_both_chats_show_it_and_both_say_how_it_ended(
    backend: Backend, slack: ChatDouble, telegram: ChatDouble
) -> None:
    async with gate_on(backend) as gate, working(Worker(backend, [slack, telegram], BOTH)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await slack.card_where()
        await telegram.card_where()
        await desk.press(press_on(ref, card, "allow"))
        await waiting

        on_phone = await telegram.ended_card()

    assert isinstance(on_phone.state, Ended)
    assert on_phone.state.by == "slack:U0ALICE"


async def test_a_request_without_a_route_is_undeliverable_at_once(backend: Backend) -> None:
    routes = Routes([Route((OPS,), agent="other-*")])
    async with gate_on(backend) as gate, working(Worker(backend, [ChatDouble()], routes)):
        verdict = await gate.check(CALL)

    assert verdict.outcome is Outcome.UNDELIVERABLE
    assert "add a [[route]]" in verdict.reason
    assert not verdict.approved


async def test_a_card_that_no_place_takes_is_undeliverable_with_every_reason(
    backend: Backend, slack: ChatDouble, telegram: ChatDouble
) -> None:
    slack.fail("show", refused("not_in_channel"))
    telegram.fail("show", refused("bot was blocked"))
    async with gate_on(backend) as gate, working(Worker(backend, [slack, telegram], BOTH)):
        verdict = await gate.check(CALL)

    assert verdict.outcome is Outcome.UNDELIVERABLE
    assert "not_in_channel" in verdict.reason
    assert "bot was blocked" in verdict.reason


async def test_a_form_that_a_platform_cannot_ask_for_is_shown_where_it_can_be_or_nowhere(
    backend: Backend, slack: ChatDouble, telegram: ChatDouble
) -> None:
    slack.limits = replace(slack.limits, options=2)
    schema = {
        "type": "object",
        "properties": {"which": {"enum": ["a", "b", "c"]}},
        "required": ["which"],
    }
    async with gate_on(backend) as gate, working(Worker(backend, [slack, telegram], BOTH)) as desk:
        waiting = asyncio.create_task(gate.collect(schema, text="Which one?"))
        ref, card = await telegram.card_where()
        await desk.press(press_on(ref, card, "decline"))
        await waiting
        telegram.limits = slack.limits
        nowhere = await gate.collect(schema, text="Which one?")

    assert slack.cards == {}
    assert nowhere.outcome is Outcome.UNDELIVERABLE
    assert "slack cannot ask this: 'Fill in…' cannot be asked for" in nowhere.reason
    assert "has 3 options, and 2 fit" in nowhere.reason


async def test_one_place_that_works_is_enough(
    backend: Backend, slack: ChatDouble, telegram: ChatDouble
) -> None:
    slack.fail("show", refused("not_in_channel"))
    async with gate_on(backend) as gate, working(Worker(backend, [slack, telegram], BOTH)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await telegram.card_where()
        await desk.press(press_on(ref, card, "deny"))

        assert (await waiting).outcome is Outcome.DENIED
    assert slack.cards == {}


async def test_a_platform_that_asks_for_patience_holds_up_no_other_place(
    backend: Backend, slack: ChatDouble, telegram: ChatDouble
) -> None:
    slack.fail("show", DeliveryError("slack", "ratelimited", retry_after=3_600))
    routes = Routes([Route((OPS, PHONE), approvers=("telegram:42",))])
    async with (
        gate_on(backend) as gate,
        working(Worker(backend, [slack, telegram], routes)) as desk,
    ):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await telegram.card_where()
        await desk.press(press_on(ref, card, "allow", by="telegram:42"))

        assert (await waiting).approved
    assert slack.cards == {}


async def test_a_passing_failure_is_tried_again(backend: Backend, slack: ChatDouble) -> None:
    slack.fail("show", DeliveryError("slack", "internal_error"))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [slack], routes)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await slack.card_where()
        await desk.press(press_on(ref, card, "allow"))

        assert (await waiting).approved


async def test_a_card_that_was_posted_without_an_answer_works_as_well(backend: Backend) -> None:
    class Forgetful(ChatDouble):
        """Posts the first card and loses the answer on the way."""

        lost = False

        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            ref = await super().show(cards, place)
            if not self.lost:
                self.lost = True
                raise DeliveryError("slack", "the connection dropped")
            return ref

    chat = Forgetful()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [chat], routes)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        await chat.card_where(lambda _: len(chat.cards) == 2)
        first = next(iter(chat.cards))
        answer = await desk.press(press_on(first, chat.cards[first], "allow"))

        assert answer.kind is Answered.RECORDED
        assert (await waiting).approved
        await chat.card_where(
            lambda _: all(isinstance(card.state, Ended) for card in chat.cards.values())
        )


async def test_the_desk_does_not_need_the_right_time(backend: Backend, slack: ChatDouble) -> None:
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    ahead = Worker(backend, [slack], routes, clock=lambda: datetime.now(UTC) + timedelta(hours=1))
    async with gate_on(backend) as gate, working(ahead) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await slack.card_where()
        await desk.press(press_on(ref, card, "allow"))

        assert (await waiting).approved


async def test_a_pause_of_nothing_is_still_a_pause(backend: Backend, slack: ChatDouble) -> None:
    patient = [DeliveryError("slack", "ratelimited", retry_after=wait) for wait in (0, -1)]
    slack.fail("show", *patient, *(DeliveryError("slack", "x", retry_after=0) for _ in range(50)))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [slack], routes)):
        await gate.check(CALL, timeout=0.6)

    assert len(slack.failures["show"]) > 40


async def test_a_message_on_its_way_arrives_before_the_desk_stops(backend: Backend) -> None:
    class Slow(ChatDouble):
        def __init__(self) -> None:
            super().__init__()
            self.posting = asyncio.Event()

        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            self.posting.set()
            for _ in range(20):
                await asyncio.sleep(0)
            return await super().show(cards, place)

    chat = Slow()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate:
        async with working(Worker(backend, [chat], routes)):
            permission_id = await gate.submit(CALL)
            await chat.posting.wait()
        assert isinstance(permission_id, str)
        record = await backend.store.get(permission_id)

    assert record is not None
    assert [copy.message_id for copy in record.copies] == ["1"]


async def test_a_chat_that_moved_is_followed(backend: Backend, telegram: ChatDouble) -> None:
    telegram.fail("show", ChannelMigratedError("telegram", "-1002"))
    routes = Routes([Route((PHONE,), approvers=("telegram:42",))])
    async with gate_on(backend) as gate, working(Worker(backend, [telegram], routes)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await telegram.card_where()
        await desk.press(press_on(ref, card, "allow", by="telegram:42"))
        verdict = await waiting

    assert ref.place == Place("telegram", "-1002")
    assert verdict.approved
    assert await find_chat(backend.key_value, PHONE) == Place("telegram", "-1002")


async def test_open_cards_are_posted_again_where_their_chat_moved(
    backend: Backend, telegram: ChatDouble
) -> None:
    routes = Routes([Route((PHONE,), approvers=("telegram:42",))])
    async with gate_on(backend) as gate, working(Worker(backend, [telegram], routes)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        await telegram.card_where()

        new = Place("telegram", "-1002")
        await desk.moved(PHONE, new)
        ref, card = await second_card(telegram, new)
        await desk.press(press_on(ref, card, "allow", by="telegram:42"))

        assert (await waiting).approved


async def second_card(chat: ChatDouble, place: Place) -> tuple[MessageRef, Card]:
    first = set(chat.cards)
    if not any(ref.place == place for ref in first):
        await chat.card_where(lambda card: any(ref.place == place for ref in chat.cards))
    return next((ref, card) for ref, card in chat.cards.items() if ref.place == place)


async def test_what_ended_on_its_way_is_shown_as_ended(backend: Backend) -> None:
    class Slow(ChatDouble):
        """Posts, but its answer comes only when told to."""

        def __init__(self) -> None:
            super().__init__()
            self.posted = asyncio.Event()
            self.answer = asyncio.Event()

        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            self.posted.set()
            await self.answer.wait()
            return await super().show(cards, place)

    chat = Slow()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [chat], routes)):
        permission_id = await gate.submit(CALL)
        assert isinstance(permission_id, str)
        await chat.posted.wait()
        await gate.cancel(permission_id, reason="changed my mind")
        chat.answer.set()

        ended = await chat.ended_card()

    assert isinstance(ended.state, Ended)
    assert ended.state.outcome == "cancelled"
    assert ended.state.reason == "changed my mind"


async def test_an_expired_request_takes_the_buttons_off_its_card(
    backend: Backend, slack: ChatDouble
) -> None:
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [slack], routes)):
        verdict = await gate.check(CALL, timeout=0.3)
        card = await slack.ended_card()

    assert verdict.outcome is Outcome.EXPIRED
    assert isinstance(card.state, Ended)
    assert card.state.outcome == "expired"


async def test_nobody_needs_to_wait_for_a_request_to_expire(
    backend: Backend, slack: ChatDouble
) -> None:
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [slack], routes)):
        await gate.submit(CALL, timeout=0.2)

        card = await slack.ended_card()

    assert isinstance(card.state, Ended)


async def test_a_route_shortens_the_life_of_a_request(backend: Backend, slack: ChatDouble) -> None:
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",), seconds=0.2)])
    async with gate_on(backend) as gate, working(Worker(backend, [slack], routes)):
        verdict = await gate.check(CALL, timeout=3_600)

    assert verdict.outcome is Outcome.EXPIRED


async def test_an_update_that_fails_is_tried_again(backend: Backend, slack: ChatDouble) -> None:
    slack.fail("update", DeliveryError("slack", "internal_error"))
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate, working(Worker(backend, [slack], routes)) as desk:
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await slack.card_where()
        await desk.press(press_on(ref, card, "allow"))
        await waiting

        assert [one.key for one in (await slack.ended_card()).choices] == ["details"]


async def test_a_desk_that_takes_over_does_not_post_what_stands_already(
    backend: Backend, slack: ChatDouble
) -> None:
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with gate_on(backend) as gate:
        async with working(Worker(backend, [slack], routes)):
            permission_id = await gate.submit(CALL)
            await slack.card_where()
        assert isinstance(permission_id, str)
        record = await backend.store.get(permission_id)
        assert isinstance(record, Record)
        # The first desk died before it could say that the job is done.
        await Worker(backend, [slack], routes)._jobs._ask(record)

    assert len(slack.cards) == 1


async def test_a_bug_in_showing_ends_as_undeliverable_not_as_silence(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(ChatDouble):
        async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
            raise RuntimeError("a bug")

    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    with caplog.at_level(logging.CRITICAL):
        async with gate_on(backend) as gate, working(Worker(backend, [Broken()], routes)):
            verdict = await gate.check(CALL)

    assert verdict.outcome is Outcome.UNDELIVERABLE


async def test_observers_hear_of_the_request_and_its_end(
    backend: Backend, slack: ChatDouble
) -> None:
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with (
        gate_on(backend) as gate,
        gate.events() as events,
        working(Worker(backend, [slack], routes)) as desk,
    ):
        waiting = asyncio.create_task(gate.check(CALL))
        ref, card = await slack.card_where()
        await desk.press(press_on(ref, card, "allow"))
        await waiting

        seen = [type(await anext(events)).__name__ for _ in range(2)]

    assert seen == ["PermissionRequestEvent", "PermissionApprovedEvent"]
