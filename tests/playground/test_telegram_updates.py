import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from playground.listener import Listener
from support.clock import Clock
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest, Conflict

from sayso_playground import DeliverTwice, Playground, TelegramMessage

OPS = -1001234567890
FORUM = -1002222222222
KEYS = InlineKeyboardMarkup([[InlineKeyboardButton("Allow", callback_data="p1:abc:a")]])


@pytest.fixture
async def card(playground: Playground, telegram: Bot) -> TelegramMessage:
    await telegram.send_message(OPS, "May I?", reply_markup=KEYS)
    return await playground.telegram.message_where(lambda m: bool(m.rows))


def answering(telegram: Bot, *, alert: bool = False) -> Callable[[Any], Awaitable[web.Response]]:
    async def answer(update: dict[str, Any]) -> web.Response:
        query_id = update["callback_query"]["id"]
        await telegram.answer_callback_query(query_id, "Noted", show_alert=alert)
        return web.Response()

    return answer


async def noted(update: dict[str, Any]) -> web.Response:
    query_id = update["callback_query"]["id"]
    body = {"method": "answerCallbackQuery", "callback_query_id": query_id, "text": "Noted"}
    return web.json_response(body)


def failing(*statuses: int, **headers: str) -> Callable[[Any], Awaitable[web.Response]]:
    left = list(statuses)

    async def answer(update: dict[str, Any]) -> web.Response:
        return web.Response(status=left.pop(0), headers=headers) if left else await noted(update)

    return answer


async def test_a_press_reaches_the_webhook_with_its_secret(
    playground: Playground, listener: Listener, telegram: Bot, card: TelegramMessage
) -> None:
    await telegram.set_webhook(listener.url, secret_token="s3cret-_")
    listener.answer = answering(telegram, alert=True)

    delivery = await playground.telegram.press(card, "Allow", by="alice")

    (heard,) = listener.heard
    query = heard.payload["callback_query"]
    assert heard.headers["x-telegram-bot-api-secret-token"] == "s3cret-_"
    assert (query["from"]["id"], query["data"]) == (4242, "p1:abc:a")
    assert query["message"]["message_id"] == card.id
    assert query["message"]["reply_markup"]["inline_keyboard"][0][0]["text"] == "Allow"
    assert (delivery.status, delivery.answered) == (200, True)
    assert (delivery.toast, delivery.alert, delivery.error) == ("Noted", True, None)


async def test_a_press_without_an_answer_keeps_spinning(
    playground: Playground, listener: Listener, card: TelegramMessage
) -> None:
    playground.telegram.deliver_to(listener.url)

    delivery = await playground.telegram.press(card, "Allow", by="alice", timeout=0.5)

    assert (delivery.status, delivery.answered) == (200, False)
    assert "spinning" in (delivery.error or "")


async def test_a_failed_press_is_tried_again_until_it_is_taken(
    playground: Playground, listener: Listener, card: TelegramMessage, clock: Clock
) -> None:
    playground.telegram.deliver_to(listener.url)
    listener.answer = failing(500, 503, 502)

    delivery = await playground.telegram.press(card, "Allow", by="alice")

    assert delivery.statuses == (500, 503, 502, 200)
    assert clock.slept == [0, 2, 4]
    assert len({heard.body for heard in listener.heard}) == 1


async def test_a_retry_after_header_is_honoured(
    playground: Playground, listener: Listener, card: TelegramMessage, clock: Clock
) -> None:
    playground.telegram.deliver_to(listener.url)
    listener.answer = failing(503, **{"Retry-After": "7"})

    await playground.telegram.press(card, "Allow", by="alice")

    assert clock.slept == [7]


async def test_a_press_is_given_up_after_150_seconds(
    playground: Playground, listener: Listener, card: TelegramMessage, clock: Clock
) -> None:
    playground.telegram.deliver_to(listener.url)
    listener.answer = failing(*[500] * 50)

    delivery = await playground.telegram.press(card, "Allow", by="alice")

    assert clock.slept == [0, 2, 4, 8, 16, 32, 60]
    assert delivery.error == "the bot did not take the press"
    assert playground.telegram.updates.webhook_info()["pending_update_count"] == 0
    assert "500" in playground.telegram.updates.webhook_info()["last_error_message"]


async def test_a_press_can_be_delivered_twice(
    playground: Playground, listener: Listener, card: TelegramMessage
) -> None:
    playground.telegram.deliver_to(listener.url)
    playground.telegram.misbehave("callback", DeliverTwice())
    listener.answer = noted

    await playground.telegram.press(card, "Allow", by="alice")

    first, second = listener.heard
    assert first.body == second.body


async def test_an_answer_that_is_a_method_is_performed(
    playground: Playground, listener: Listener, card: TelegramMessage
) -> None:
    playground.telegram.deliver_to(listener.url)
    listener.answer = noted

    delivery = await playground.telegram.press(card, "Allow", by="alice")

    assert delivery.toast == "Noted"


async def test_an_answer_that_comes_too_late_is_refused(
    playground: Playground, listener: Listener, telegram: Bot, card: TelegramMessage, clock: Clock
) -> None:
    playground.telegram.deliver_to(listener.url)
    await playground.telegram.press(card, "Allow", by="alice", timeout=0.05)
    await playground.telegram.until(lambda: bool(listener.heard))
    query_id = listener.heard[0].payload["callback_query"]["id"]
    clock.pass_by(16)

    with pytest.raises(BadRequest, match="Query is too old"):
        await telegram.answer_callback_query(query_id)


async def test_any_data_can_be_sent_for_any_message(
    playground: Playground, listener: Listener, card: TelegramMessage
) -> None:
    playground.telegram.deliver_to(listener.url)
    listener.answer = noted

    await playground.telegram.press_data(card, "forged", by="mallory", inaccessible=True)

    query = listener.heard[0].payload["callback_query"]
    assert query["data"] == "forged"
    assert query["message"] == {
        "chat": query["message"]["chat"],
        "message_id": card.id,
        "date": 0,
    }


async def test_updates_are_polled_with_an_offset(
    playground: Playground, telegram: Bot, card: TelegramMessage
) -> None:
    press = asyncio.create_task(playground.telegram.press(card, "Allow", by="bob"))
    (update,) = await telegram.get_updates(timeout=5)
    (again,) = await telegram.get_updates()
    none = await telegram.get_updates(offset=update.update_id + 1)
    assert update.callback_query
    await telegram.answer_callback_query(update.callback_query.id, "ok")

    assert (again.update_id, none) == (update.update_id, ())
    assert (await press).toast == "ok"


async def test_polling_conflicts_with_a_webhook_and_with_another_poll(
    playground: Playground, telegram: Bot, listener: Listener
) -> None:
    first = asyncio.create_task(telegram.get_updates(timeout=5))
    await playground.telegram.until(lambda: playground.telegram.updates.is_polled)
    async with Bot(telegram.token, base_url=f"{playground.telegram_api_url}/bot") as rival:
        second = asyncio.create_task(rival.get_updates(timeout=5))
        with pytest.raises(Conflict, match=r"[Tt]erminated by other getUpdates request"):
            await first
        playground.telegram.say(OPS, "hello", by="alice")
        updates = await second

    assert [update.message.text for update in updates if update.message] == ["hello"]
    await telegram.set_webhook(listener.url)
    with pytest.raises(Conflict, match="webhook is active"):
        await telegram.get_updates()


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        ({"url": "http://bot.example"}, "An HTTPS URL must be provided"),
        ({"url": "https://bot.example:9000"}, "only on ports 80, 88, 443 or 8443"),
        ({"url": "https://bot.example", "secret_token": "no spaces"}, "unallowed characters"),
        ({"url": "https://bot.example", "secret_token": "x" * 257}, "is too long"),
    ],
)
async def test_a_webhook_that_breaks_a_rule_is_refused(
    telegram: Bot, arguments: dict[str, Any], refused: str
) -> None:
    with pytest.raises(BadRequest, match=f"(?i){refused}"):
        await telegram.set_webhook(**arguments)


async def test_only_allowed_updates_come_and_the_list_is_kept(
    playground: Playground, telegram: Bot, listener: Listener
) -> None:
    await telegram.set_webhook(listener.url, allowed_updates=["callback_query"])
    await telegram.delete_webhook()
    playground.telegram.say(OPS, "hello", by="alice")

    assert await telegram.get_updates() == ()
    info = await telegram.get_webhook_info()
    assert (info.url, info.allowed_updates) == ("", ("callback_query",))


async def test_the_secret_of_a_webhook_is_not_recorded(
    playground: Playground, telegram: Bot, listener: Listener
) -> None:
    await telegram.set_webhook(listener.url, secret_token="hidden")

    assert "hidden" not in str(playground.telegram.calls)


async def test_people_write_reply_edit_and_stay_anonymous(
    playground: Playground, telegram: Bot
) -> None:
    question = await telegram.send_message(FORUM, "Why?", message_thread_id=17)
    asked = playground.telegram.messages(FORUM)[0]
    said = playground.telegram.say(FORUM, "because", by="bob", reply_to=asked)
    playground.telegram.correct(said, "no reason")
    playground.telegram.say(OPS, "hidden", by="alice", anonymous=True)

    reply, edit, hidden = await telegram.get_updates()
    assert reply.message
    assert reply.message.reply_to_message
    assert reply.message.reply_to_message.message_id == question.message_id
    assert reply.message.message_thread_id == 17
    assert edit.edited_message
    assert edit.edited_message.text == "no reason"
    assert hidden.message
    assert hidden.message.from_user
    assert hidden.message.sender_chat == hidden.message.chat
    assert hidden.message.from_user.username == "GroupAnonymousBot"


async def test_blocking_and_migrating_are_told(playground: Playground, telegram: Bot) -> None:
    playground.telegram.block("bob")
    new = playground.telegram.migrate_group(-300)

    blocked, moved, arrived = await telegram.get_updates()
    assert blocked.my_chat_member
    assert blocked.my_chat_member.new_chat_member.status == "kicked"
    assert moved.message
    assert arrived.message
    assert moved.message.migrate_to_chat_id == arrived.message.chat.id == new
    assert arrived.message.migrate_from_chat_id == -300


async def test_whoever_starts_the_bot_again_can_be_written_to(
    playground: Playground, telegram: Bot
) -> None:
    bob = playground.config.member("bob").telegram_id
    playground.telegram.block("bob")
    playground.telegram.unblock("bob")

    _, again = await telegram.get_updates()
    message = await telegram.send_message(bob, "welcome back")

    assert again.my_chat_member
    assert again.my_chat_member.new_chat_member.status == "member"
    assert message.text == "welcome back"
