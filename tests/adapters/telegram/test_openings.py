"""Forms that come too late, or to nobody: what was posted is taken away again, all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from support.clock import Clock
from support.telegram_conversation import GROUP, PICK, TOKEN, BrokenDrafts, Chat

from sayso.cards.card import Card, Ended
from sayso.chats.places import MessageRef, Place
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso_playground import Playground, PlaygroundConfig, Slow


class SlowDrafts(BrokenDrafts):
    """Keeps one of the next things only when the test lets it."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.holds_in = 0
        self.held, self.let_go = asyncio.Event(), asyncio.Event()

    async def set(self, key: str, text: str, *, seconds: float) -> None:
        self.holds_in -= 1
        if self.holds_in == 0:
            self.held.set()
            await self.let_go.wait()
        await super().set(key, text, seconds=seconds)


class SlowChat(Chat):
    """A chat with a store that a test can hold up, and an adapter that it closes."""

    def __init__(self, playground: Playground, card: Callable[..., Card]) -> None:
        super().__init__(playground, card)
        self.drafts: SlowDrafts = SlowDrafts(self.clock)
        self.closing = AsyncExitStack()

    async def start(self, open_seconds: float) -> None:
        await self.open(self.closing, open_seconds=open_seconds)

    async def close(self) -> None:
        """Let everything go on, and close the adapter, which leaves nothing under way."""
        self.drafts.let_go.set()
        await self.closing.aclose()

    def taken_away(self) -> int:
        return sum(call.method == "deleteMessage" for call in self.telegram.calls)


@pytest.fixture
def open_seconds() -> float:
    return 5.0


@pytest.fixture
async def slow(a_card: Callable[..., Card], open_seconds: float) -> AsyncIterator[SlowChat]:
    async with Playground(PlaygroundConfig(telegram_bot_token=TOKEN)) as playground:
        chat = SlowChat(playground, a_card)
        await chat.start(open_seconds)
        yield chat
        await chat.close()


@pytest.mark.parametrize("open_seconds", [0.2])
async def test_a_board_that_takes_too_long_is_taken_back_once_it_is_there(
    slow: SlowChat,
) -> None:
    await slow.ask(PICK)
    before = slow.telegram.messages()
    slow.telegram.misbehave("sendMessage", Slow(0.4))

    with pytest.raises(DeliveryError, match="it took too long"):
        await slow.ask_again(PICK)
    await slow.close()

    assert slow.taken_away() == 1
    assert len(slow.telegram.messages()) == len(before)


async def test_a_form_that_takes_too_long_is_taken_back_whole(slow: SlowChat) -> None:
    await slow.ask()
    before = len(slow.telegram.messages()) - 1  # the question of the form that is begun again
    slow.drafts.holds_in = 1
    asking = asyncio.create_task(slow.ask_again())
    await slow.drafts.held.wait()

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await slow.close()

    assert slow.taken_away() == 3
    assert len(slow.telegram.messages()) == before
    assert not any(message.forces_reply for message in slow.telegram.messages())


async def test_a_form_that_was_given_up_takes_no_answer_while_it_is_still_there(
    slow: SlowChat,
) -> None:
    await slow.ask(PICK)
    slow.drafts.holds_in = 3
    asking = asyncio.create_task(slow.ask_again(PICK))
    await slow.drafts.held.wait()
    board = slow.board
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    taken = await slow.press("A", on=board)

    assert taken.toast is not None
    assert taken.toast.alert
    assert not slow.desk.presses


async def test_a_store_that_goes_away_while_a_form_is_posted_leaves_no_board(
    slow: SlowChat,
) -> None:
    await slow.ask()
    before = slow.telegram.messages()
    slow.drafts.away = True

    with pytest.raises(StoreUnreachableError):
        await slow.ask_again()

    assert slow.telegram.messages() == before


async def test_a_form_whose_process_died_with_the_desks_answer_is_closed_by_its_next_press(
    slow: SlowChat,
) -> None:
    await slow.ask(PICK)
    board = slow.board
    slow.desk.answers = [StoreUnreachableError("away")]
    await slow.press("A")
    ended = Ended("denied", slow.clock(), by="telegram:4343", by_name="bob")
    await slow.adapter.update(slow.ref, [replace(slow.card, state=ended)])
    assert slow.board.buttons

    taken = await slow.press("A")

    assert taken.toast is not None
    assert "already denied by bob" in taken.toast.text
    assert not slow.desk.presses[1:]
    assert not slow.telegram.state.messages[GROUP, board.id].buttons


async def test_a_form_that_went_on_after_the_desk_failed_is_closed_with_its_card(
    slow: SlowChat,
) -> None:
    await slow.reply(await slow.ask(), "one")
    slow.desk.answers = [StoreUnreachableError("away")]
    await slow.reply(slow.newest, "two")
    board = slow.board

    await slow.press("« Back")
    ended = Ended("denied", slow.clock(), by="telegram:4343", by_name="bob")
    await slow.adapter.update(slow.ref, [replace(slow.card, state=ended)])

    assert "already denied by bob" in slow.telegram.state.messages[GROUP, board.id].text


async def test_what_was_answered_is_not_kept_after_the_end(slow: SlowChat) -> None:
    prompt = await slow.ask()
    store = slow.adapter.conversations.store
    asked = await store.find(MessageRef(Place("telegram", str(GROUP)), str(prompt.id)))
    assert asked is not None
    await slow.reply(prompt, "the first secret")
    await slow.reply(slow.newest, "the other")

    kept = await store.read(asked.conversation_id)

    assert kept is not None
    assert kept.ended
    assert kept.values == {}
