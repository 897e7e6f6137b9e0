"""The adapter against Telegram's double: what stands in the chat, and what each refusal means."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from sayso.cards.card import Card, Ended
from sayso.chats.places import MessageRef, Place, Press
from sayso.clock import utc_now
from sayso.errors import ChannelMigratedError, DeliveryError
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_playground import (
    DropConnection,
    Member,
    Playground,
    PlaygroundConfig,
    RateLimited,
    ServerError,
)
from sayso_telegram import BotIdentity, TelegramAdapter, TelegramConfig

TOKEN = "4000000000:PLAYGROUND-token"
GROUP = Place("telegram", "-1001234567890")
TOPIC = Place("telegram", "-1002222222222", "17")
ENDED = Ended("approved", datetime(2026, 11, 21, 12, tzinfo=UTC), by="alice")
CardMaker = Callable[..., Card]


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    stranger = Member("Stranger", "U0STRANGER", 999, telegram_started=False)
    members = (*PlaygroundConfig().members, stranger)
    config = PlaygroundConfig(telegram_bot_token=TOKEN, members=members)
    async with Playground(config) as playground:
        yield playground


@pytest.fixture
async def adapter(playground: Playground) -> AsyncIterator[TelegramAdapter]:
    async with an_adapter(playground.telegram_api_url) as adapter:
        yield adapter


class LookedAt(MemoryKeyValue):
    """Knows what Telegram was called for before anybody looked for forms."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(utc_now)
        self._playground = playground
        self.after: list[list[str]] = []

    async def get(self, key: str) -> str | None:
        self.after.append([call.method for call in self._playground.telegram.calls])
        return await super().get(key)


def an_adapter(
    api_url: str, token: str = TOKEN, drafts: MemoryKeyValue | None = None
) -> TelegramAdapter:
    config = TelegramConfig(token, ("secret",), api_url)
    return TelegramAdapter(config, drafts or MemoryKeyValue(utc_now))


def a_press(ref: MessageRef) -> Press:
    return Press("HANDLEHANDLEHANDLE1234", "show", "telegram:4242", ref, ticket="q")


async def refusal(work: Any) -> DeliveryError:
    with pytest.raises(DeliveryError) as raised:
        await work
    return raised.value


async def test_entering_needs_no_network(a_card: CardMaker) -> None:
    async with an_adapter("http://127.0.0.1:9") as adapter:
        assert (adapter.platform, adapter.limits.content) == ("telegram", 1_000)
        assert adapter.limits.reveal == 1_000_000

        error = await refusal(adapter.show([a_card()], GROUP))

    assert not error.permanent
    assert error.retry_after is None


async def test_a_card_stands_in_its_chat_with_its_buttons(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    ref = await adapter.show([a_card()], GROUP)

    (message,) = playground.telegram.messages(-1001234567890)
    assert ref == MessageRef(GROUP, str(message.id))
    assert list(message.buttons) == ["Allow", "Always", "Deny", "More…"]
    looks = {entity["type"] for entity in message.entities}
    assert looks == {"bold", "code", "pre", "date_time"}
    (call,) = playground.telegram.calls
    assert call.arguments["link_preview_options"] == {"is_disabled": True}
    assert "parse_mode" not in call.arguments


async def test_a_card_stands_in_its_topic(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    ref = await adapter.show([a_card()], TOPIC)

    (message,) = playground.telegram.messages(-1002222222222)
    assert (message.thread_id, ref.place) == (17, TOPIC)


async def test_an_update_changes_the_card_and_its_buttons(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    card = a_card()
    ref = await adapter.show([card], GROUP)

    await adapter.update(ref, [card.confirming(card.body.choices[1])])

    (message,) = playground.telegram.messages(-1001234567890)
    assert list(message.buttons) == ["Yes, Always", "Back"]


async def test_an_ended_card_loses_its_buttons_and_says_what_it_was(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    ref = await adapter.show([a_card()], GROUP)

    await adapter.update(ref, [a_card(state=ENDED)])

    (message,) = playground.telegram.messages(-1001234567890)
    assert list(message.buttons) == ["Details"]
    assert message.text.startswith("✅ Approved by alice")
    assert "command: rm -r build" in message.text


@pytest.mark.parametrize("refused", [False, True])
async def test_an_ended_card_waits_for_no_form_and_forms_are_looked_for_whatever_becomes_of_it(
    playground: Playground, a_card: CardMaker, refused: bool
) -> None:
    drafts = LookedAt(playground)
    async with an_adapter(playground.telegram_api_url, drafts=drafts) as adapter:
        ref = await adapter.show([a_card()], GROUP)
        if refused:
            playground.telegram.misbehave("editMessageText", RateLimited(7))

        with pytest.raises(DeliveryError) if refused else nullcontext():
            await adapter.update(ref, [a_card(state=ENDED)])

    assert drafts.after == [["sendMessage", "editMessageText"]]


async def test_repeating_an_update_changes_nothing(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    ref = await adapter.show([a_card()], GROUP)

    await adapter.update(ref, [a_card(state=ENDED)])
    await adapter.update(ref, [a_card(state=ENDED)])

    assert "message is not modified" in (playground.telegram.calls[-1].error or "")


@pytest.mark.parametrize("place", [GROUP, TOPIC])
async def test_everything_is_sent_as_a_file_in_reply_to_the_card(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker, place: Place
) -> None:
    card = a_card(content="Zeile mit ü und 💩\n" * 1_000)
    ref = await adapter.show([card], place)

    await adapter.reveal(a_press(ref), card)

    shown, sent = playground.telegram.messages(int(place.address))
    assert (sent.reply_to, sent.thread_id) == (shown.id, shown.thread_id)
    assert sent.document is not None
    assert sent.document.content.decode() == card.everything
    assert sent.document.name == "complete.txt"


async def test_a_file_is_sent_even_when_the_card_is_gone(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    await adapter.reveal(a_press(MessageRef(GROUP, "1")), a_card())

    assert len(playground.telegram.messages(-1001234567890)) == 1


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place("telegram", "999"), "press Start"),
        (Place("telegram", "5"), "chat not found: add the bot to the chat"),
        (Place("telegram", "-1002222222222", "99"), "no such topic"),
        (Place("telegram", "-1002222222222", "1"), "leave General out"),
        (Place("telegram", "@group"), "use its number"),
        (Place("telegram", "-5", "x"), "use its number"),
    ],
)
async def test_a_place_that_cannot_be_reached_is_final_and_names_the_fix(
    adapter: TelegramAdapter, a_card: CardMaker, place: Place, words: str
) -> None:
    error = await refusal(adapter.show([a_card()], place))

    assert error.permanent
    assert words.lower() in error.reason.lower()


async def test_a_bot_that_was_blocked_or_removed_is_told_so(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    playground.telegram.block("alice")
    playground.telegram.kick(-1001234567890)

    blocked = await refusal(adapter.show([a_card()], Place("telegram", "4242")))
    kicked = await refusal(adapter.show([a_card()], GROUP))

    assert (blocked.permanent, kicked.permanent) == (True, True)
    assert "unblock the bot" in blocked.reason
    assert "add the bot to the chat again" in kicked.reason


async def test_a_group_that_became_a_supergroup_is_followed(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    ref = await adapter.show([a_card()], Place("telegram", "-300"))
    new = playground.telegram.migrate_group(-300)

    with pytest.raises(ChannelMigratedError) as moved:
        await adapter.show([a_card()], Place("telegram", "-300"))
    left_behind = await refusal(adapter.update(ref, [a_card(state=ENDED)]))

    assert moved.value.address == str(new)
    # The old message cannot be reached any more: trying again is of no use.
    assert left_behind.permanent


async def test_a_rate_limit_says_how_long_to_wait(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    playground.telegram.misbehave("sendMessage", RateLimited(7))

    error = await refusal(adapter.show([a_card()], GROUP))

    assert (error.retry_after, error.permanent) == (7, False)
    assert len(playground.telegram.calls) == 1


@pytest.mark.parametrize("fault", [ServerError(500), ServerError(502), DropConnection()])
async def test_an_outage_may_pass_and_is_not_retried_here(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker, fault: Any
) -> None:
    playground.telegram.misbehave("sendMessage", fault)

    error = await refusal(adapter.show([a_card()], GROUP))

    assert not error.permanent
    assert len(playground.telegram.calls) == 1


async def test_a_message_that_is_gone_is_final(
    playground: Playground, adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    said = playground.telegram.say(-1001234567890, "hello", by="alice")

    gone = await refusal(adapter.update(MessageRef(GROUP, "1"), [a_card()]))
    foreign = await refusal(adapter.update(MessageRef(GROUP, str(said.id)), [a_card()]))
    odd = await refusal(adapter.update(MessageRef(GROUP, "x"), [a_card()]))

    assert (gone.permanent, foreign.permanent, odd.permanent) == (True, True, True)


async def test_a_card_telegram_could_not_take_is_final(
    adapter: TelegramAdapter, a_card: CardMaker
) -> None:
    assert (await refusal(adapter.show([a_card(limit=5_000)], GROUP))).permanent
    assert (await refusal(adapter.show([replace(a_card(), handle="h" * 60)], GROUP))).permanent


async def test_telegram_has_no_user_groups(adapter: TelegramAdapter) -> None:
    error = await refusal(adapter.members("oncall"))

    assert error.permanent
    assert "telegram:@oncall" in error.reason


async def test_a_presser_is_told_and_a_late_answer_is_ignored(
    playground: Playground, adapter: TelegramAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    await adapter.toast("nobody-asked", "Approved.", alert=False)

    assert "query is too old" in (playground.telegram.calls[-1].error or "")
    assert caplog.text == ""


async def test_a_toast_never_raises(
    playground: Playground, adapter: TelegramAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    playground.telegram.misbehave("answerCallbackQuery", ServerError(500))

    await adapter.toast("q", "w" * 1_000, alert=True)

    assert "a press was not answered: Internal Server Error" in caplog.text
    assert len(playground.telegram.calls[-1].arguments["text"]) == 200


async def test_the_bot_says_who_it_is(adapter: TelegramAdapter) -> None:
    assert await adapter.identity() == BotIdentity(4000000000, "sayso_bot")


async def test_a_wrong_token_is_named_and_never_quoted(
    playground: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "4000000000:this-one-is-not-valid-anymore"

    async with an_adapter(playground.telegram_api_url, wrong) as adapter:
        error = await refusal(adapter.identity())
        polled = await refusal(adapter.updates(0, 0))
        await adapter.toast("q", "x", alert=False)

    assert (error.permanent, polled.permanent) == (True, True)
    assert "TELEGRAM_BOT_TOKEN is not valid" in error.reason
    ours = [record for record in caplog.records if record.name.startswith(("sayso", "http"))]
    for text in (str(error), *(record.getMessage() for record in ours)):
        assert wrong not in text


@pytest.mark.parametrize("name", ["", "aiohttp", "httpx", "httpcore", "telegram", "telegram.Bot"])
async def test_the_token_is_in_no_log_however_verbose(
    playground: Playground, a_card: CardMaker, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, name)

    async with an_adapter(playground.telegram_api_url) as adapter:
        await adapter.show([a_card()], GROUP)
        await adapter.updates(0, 0)

    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (GROUP, None),
        (TOPIC, None),
        (Place("telegram", "4242"), None),
        (Place("telegram", "5"), "telegram:5 — Chat not found"),
        (Place("telegram", "1001234567890"), "; ids of groups begin with a minus"),
        (Place("telegram", "-1001234567890", "17"), "the chat has no topics"),
        (Place("telegram", "x"), "use its number"),
    ],
)
async def test_can_post_says_what_is_in_the_way(
    adapter: TelegramAdapter, place: Place, problem: str | None
) -> None:
    found = await adapter.can_post(place)

    assert problem in found if isinstance(found, str) and problem else found is problem
