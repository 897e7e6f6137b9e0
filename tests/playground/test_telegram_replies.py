"""Questions that open a reply in Telegram's double, and what people may do about them."""

from typing import Any

import aiohttp
import pytest
from telegram import Bot, ForceReply, MessageEntity, User
from telegram.error import BadRequest

from sayso_playground import Playground, PlaygroundConfig, TelegramChat, TelegramMessage

OPS, CHANNEL = -1001234567890, -1003333333333


def a_mention(user_id: int = 4343, length: int = 3) -> MessageEntity:
    return MessageEntity("text_mention", 0, length, user=User(user_id, "Bob", is_bot=False))


async def asked(playground: Playground, telegram: Bot, **how: Any) -> TelegramMessage:
    sent = await telegram.send_message(OPS, "Bob, why?", **how)
    return playground.telegram.state.messages[OPS, sent.message_id]


async def test_a_selective_question_asks_whom_it_mentions(
    playground: Playground, telegram: Bot
) -> None:
    markup = ForceReply(selective=True, input_field_placeholder="Why")
    question = await asked(playground, telegram, reply_markup=markup, entities=[a_mention()])

    state = playground.telegram.state
    assert [state.asks(question, person) for person in (4242, 4343, 6666)] == [False, True, False]


async def test_a_selective_question_asks_whom_it_replies_to(
    playground: Playground, telegram: Bot
) -> None:
    said = playground.telegram.say(OPS, "me", by="mallory")
    question = await asked(
        playground,
        telegram,
        reply_markup=ForceReply(selective=True),
        reply_to_message_id=said.id,
    )

    state = playground.telegram.state
    assert [state.asks(question, person) for person in (4242, 6666)] == [False, True]


async def test_any_other_question_asks_everybody(playground: Playground, telegram: Bot) -> None:
    question = await asked(playground, telegram, reply_markup=ForceReply())
    plain = await asked(playground, telegram)

    assert playground.telegram.state.asks(question, 4242)
    assert not playground.telegram.state.asks(plain, 4242)


@pytest.mark.parametrize(
    ("markup", "refused"),
    [
        ({"force_reply": False}, "force_reply must be true"),
        ({"force_reply": True, "selective": "yes"}, "selective must be a boolean"),
        ({"force_reply": True, "input_field_placeholder": ""}, "1-64 characters"),
        ({"force_reply": True, "input_field_placeholder": "x" * 65}, "1-64 characters"),
        ({"force_reply": True, "input_field_placeholder": 7}, "1-64 characters"),
    ],
)
async def test_a_force_reply_that_breaks_a_rule_is_refused(
    telegram: Bot, markup: dict[str, Any], refused: str
) -> None:
    arguments = {"chat_id": OPS, "text": "Why?", "reply_markup": markup}

    with pytest.raises(BadRequest, match=refused):
        await telegram.do_api_request("sendmessage", arguments)


async def test_a_mention_without_its_user_is_refused(telegram: Bot) -> None:
    with pytest.raises(BadRequest, match="which user"):
        await telegram.send_message(OPS, "Bob", entities=[MessageEntity("text_mention", 0, 3)])


async def test_nobody_is_asked_to_reply_in_a_channel() -> None:
    channel = TelegramChat(CHANNEL, "channel", "News")
    config = PlaygroundConfig(telegram_chats=(channel,))
    async with (
        Playground(config) as playground,
        Bot(config.telegram_bot_token, base_url=f"{playground.telegram_api_url}/bot") as bot,
    ):
        with pytest.raises(BadRequest, match="nline keyboard expected"):
            await bot.send_message(CHANNEL, "Why?", reply_markup=ForceReply())


async def test_a_question_can_be_deleted_and_not_edited(
    playground: Playground, telegram: Bot
) -> None:
    question = await asked(playground, telegram, reply_markup=ForceReply())

    with pytest.raises(BadRequest, match="can't be edited"):
        await telegram.edit_message_text("Never mind", OPS, question.id)
    assert await telegram.delete_message(OPS, question.id)
    assert playground.telegram.messages() == []
    with pytest.raises(LookupError, match="was deleted"):
        playground.telegram.reply(question, "because", by="bob")


async def test_what_others_wrote_in_a_group_is_not_the_bots_to_delete(
    playground: Playground, telegram: Bot
) -> None:
    said = playground.telegram.say(OPS, "mine", by="bob")

    with pytest.raises(BadRequest, match="can't be deleted"):
        await telegram.delete_message(OPS, said.id)


async def test_people_reply_and_edit_their_own_messages_only(
    playground: Playground, telegram: Bot
) -> None:
    question = await asked(playground, telegram, reply_markup=ForceReply())
    said = playground.telegram.reply(question, "because", by="bob")
    await telegram.delete_message(OPS, question.id)
    playground.telegram.correct(said, "no reason")

    with pytest.raises(ValueError, match="their own"):
        playground.telegram.correct(await asked(playground, telegram), "mine")
    reply, edit = await telegram.get_updates()
    assert reply.message
    assert reply.message.reply_to_message
    assert edit.edited_message
    assert edit.edited_message.message_id == said.id
    # Telegram leaves out what it replies to once that is gone.
    assert edit.edited_message.reply_to_message is None


async def test_a_sticker_has_no_text(playground: Playground, telegram: Bot) -> None:
    playground.telegram.say(OPS, "", by="bob", attached={"dice": {"emoji": "🎲", "value": 4}})

    (update,) = await telegram.get_updates()
    assert update.message
    assert update.message.text is None
    assert update.message.dice


async def test_the_page_edits_what_its_visitor_wrote(playground: Playground) -> None:
    said = playground.telegram.say(OPS, "because", by="bob")
    body = {"chat": OPS, "message_id": said.id, "text": "no reason"}
    async with aiohttp.ClientSession(playground.url) as visitor:
        async with visitor.post("/api/telegram/correct", json={**body, "by": "Alice"}) as refused:
            assert refused.status == 400
        async with visitor.post("/api/telegram/correct", json={**body, "by": "Bob"}) as answer:
            assert answer.status == 200

    assert playground.telegram.messages()[0].text == "no reason"
